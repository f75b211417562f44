#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "datasets/claims.h"
#include "datasets/rdf_description.h"
#include "rdf/format.h"

#define PREFIXES                                                                               \
    "@prefix void: <http://rdfs.org/ns/void#> . @prefix dcat: <http://www.w3.org/ns/dcat#> . " \
    "@prefix dct: <http://purl.org/dc/terms/> . @prefix s: <https://schema.org/> . "

static struct arena arena;
static struct graph graph;

static int
set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 24);
    graph_init(&graph, 1 << 24);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    graph_release(&graph);
    return 0;
}

static struct description
read_turtle(const char *uri, const char *text)
{
    const struct parse_options options = {.base = slice_string(uri)};
    const struct quad_sink sink = graph_sink(&graph);
    struct description description;
    struct reason why = {""};
    assert_int_equal(rdf_parse(RDF_FORMAT_TURTLE, slice_string(text), &options, &sink, &why),
                     STATUS_OK);
    rdf_description_read(&graph, slice_string(uri), &arena, &description);
    return description;
}

/* Which accesses there are, in any order: "dump URI\n...". */
static void
assert_accesses(const struct dataset *dataset, size_t count, const char *const *expected)
{
    assert_int_equal(dataset->access_count, count);
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t k = 0; k < count; k++) {
            const struct slice line =
                arena_printf(&arena, "%s %.*s", access_kind_name(dataset->accesses[k].kind),
                             SLICE_PRINT(dataset->accesses[k].uri));
            found |= slice_is(line, expected[i]);
        }
        if (!found) {
            fail_msg("no %s", expected[i]);
        }
    }
}

static void
test_void(void **state)
{
    (void)state;
    const struct description description = read_turtle(
        "http://a.example/.well-known/void",
        PREFIXES "<#all> a void:Dataset ; dct:title \"All\" ; void:triples 1200 ;"
                 " void:documents 100 ; void:entities 90 ; void:uriSpace \"http://a.example/r/\" ;"
                 " void:dataDump <http://a.example/d1.nt.gz> , <http://a.example/d2.nt.gz> ;"
                 " void:sparqlEndpoint <http://a.example/q> ; dct:modified \"2020-02-03\" ;"
                 " void:exampleResource <http://a.example/r/1> ; void:subset <#part> ."
                 "<#part> a void:Dataset ; void:dataDump <http://a.example/part.ttl> .");
    assert_true(slice_is(description.space, "http://a.example/"));
    assert_int_equal(description.dataset_count, 2);
    const struct dataset *all = &description.datasets[0];
    assert_true(slice_is(all->label, "All"));
    assert_true(slice_is(all->uri, "http://a.example/.well-known/void#all"));
    assert_int_equal(all->triples, 1200);
    assert_int_equal(all->documents, 100);
    assert_true(all->modified_ms > 0);
    assert_accesses(
        all, 5,
        (const char *const[]){"dump http://a.example/d1.nt.gz", "dump http://a.example/d2.nt.gz",
                              "endpoint http://a.example/q", "linked data http://a.example/r/",
                              "sample http://a.example/r/1"});
    assert_accesses(&description.datasets[1], 1,
                    (const char *const[]){"dump http://a.example/part.ttl"});
}

static void
test_distributions_only_of_rdf(void **state)
{
    (void)state;
    const struct description description = read_turtle(
        "http://a.example/data/catalog.ttl", PREFIXES
        "<c> a dcat:Dataset ; dct:title \"C\" ; dcat:distribution"
        " [ dcat:downloadURL <http://a.example/c.csv> ; dcat:mediaType"
        "   <https://www.iana.org/assignments/media-types/text/csv> ] ,"
        " [ dcat:downloadURL <http://a.example/c> ; dcat:mediaType"
        "   <https://www.iana.org/assignments/media-types/text/turtle> ] ,"
        " [ dcat:downloadURL <http://a.example/c.nq.bz2> ] ;"
        " dct:accrualPeriodicity "
        "<http://publications.europa.eu/resource/authority/frequency/WEEKLY> ."
        "<service> a dcat:DataService ; dcat:servesDataset <c> ; dcat:endpointURL "
        "<http://a.example/q> ;"
        " dct:conformsTo <http://www.w3.org/TR/sparql11-protocol/> ."
        "<s> a s:Dataset ; s:name \"S\" ; s:distribution [ s:contentUrl <http://a.example/s.rdf> ;"
        " s:encodingFormat \"application/rdf+xml\" ] , [ s:contentUrl <http://a.example/s.xls> ;"
        " s:encodingFormat \"application/vnd.ms-excel\" ] .");
    assert_true(slice_is(description.space, "http://a.example/data/"));
    assert_int_equal(description.dataset_count, 2);
    assert_accesses(&description.datasets[0], 3,
                    (const char *const[]){"dump http://a.example/c",
                                          "dump http://a.example/c.nq.bz2",
                                          "endpoint http://a.example/q"});
    assert_true(slice_is(description.datasets[0].change_frequency, "weekly"));
    assert_int_equal(description.datasets[0].vocabulary, DESCRIPTION_DCAT);
    assert_accesses(&description.datasets[1], 1,
                    (const char *const[]){"dump http://a.example/s.rdf"});
    assert_int_equal(description.datasets[1].vocabulary, DESCRIPTION_SCHEMA);
}

/* A pattern is used when it says no more than a prefix does. */
static void
test_patterns_that_are_prefixes(void **state)
{
    static const struct {
        const char *pattern, *prefix;
    } cases[] = {
        {"^http://a\\\\.example/id/", "http://a.example/id/"},
        {"^http://a.example/id/.+", "http://a.example/id/"},
        {"http://a\\\\.example/id/.*$", "http://a.example/id/"},
        {"^http://a\\\\.example/(id|doc)/", NULL},
        {"^http://a\\\\.example/id/[0-9]+$", NULL},
        {"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graph_reset(&graph);
        const struct description description = read_turtle(
            "http://a.example/.well-known/void",
            arena_printf(&arena, PREFIXES "<#it> a void:Dataset ; void:uriRegexPattern \"%s\" .%c",
                         cases[i].pattern, '\0')
                .at);
        const struct dataset *dataset = &description.datasets[0];
        assert_int_equal(dataset->access_count, cases[i].prefix != NULL ? 1 : 0);
        if (cases[i].prefix != NULL) {
            assert_true(slice_is(dataset->accesses[0].uri, cases[i].prefix));
        } else {
            assert_int_equal(description.note_count, 1);
        }
    }
}

/* A page in a deeper folder takes nothing from the sitemap above it, and owns its folder only. */
static void
test_a_description_owns_its_folder_and_delegates_nothing(void **state)
{
    struct description sitemap = {.uri = SLICE("http://a.example/sitemap.xml"),
                                  .space = SLICE("http://a.example/")},
                       page = {.uri = SLICE("http://a.example/bob/x.html"),
                               .space = SLICE("http://a.example/bob/"),
                               .rdf = true},
                       deeper = {.uri = SLICE("http://a.example/bob/al/sitemap.xml"),
                                 .space = SLICE("http://a.example/bob/al/")};
    struct description *all[] = {&sitemap, &page, &deeper};
    const struct claims claims = {all, 3, &arena};
    (void)state;
    assert_true(claims_own(&claims, &sitemap, SLICE("http://a.example/bob/1")));
    assert_true(claims_own(&claims, &page, SLICE("http://a.example/bob/1")));
    assert_false(claims_own(&claims, &page, SLICE("http://a.example/1")));
    assert_false(claims_own(&claims, &page, SLICE("http://a.example/bob/al/1")));
    assert_false(claims_own(&claims, &sitemap, SLICE("http://a.example/bob/al/1")));
}

static void
test_what_is_worth_a_plan(void **state)
{
    (void)state;
    const struct description dump =
        read_turtle("http://a.example/v", PREFIXES "<#it> a void:Dataset ; void:dataDump <d.nt> .");
    assert_true(rdf_description_offers(&dump));
    graph_reset(&graph);
    const struct description nothing =
        read_turtle("http://a.example/v",
                    PREFIXES "<#it> a void:Dataset ; void:uriSpace \"http://a.example/\" .");
    assert_false(rdf_description_offers(&nothing));
    assert_true(rdf_description_likely(SLICE("<a> <http://rdfs.org/ns/void#dataDump> <b> .")));
    assert_false(rdf_description_likely(SLICE("<a> <http://schema.org/name> \"b\" .")));
    assert_false(rdf_description_likely(SLICE("")));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_void, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_distributions_only_of_rdf, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_patterns_that_are_prefixes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_description_owns_its_folder_and_delegates_nothing,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_worth_a_plan, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
