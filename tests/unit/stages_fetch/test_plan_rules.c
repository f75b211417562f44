/* What a host's plan takes of its descriptions and what it leaves out (stages/fetch/datasets/
 * plan_decide.c, plan_read.c): accesses that are none, limits, other hosts' descriptions, and
 * datasets that share dumps. How plans are made and carried out is in test_host_plan.c. */
#include "tests/unit/stages_fetch/host_plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/url/url.h"

#define NOTHING_PLANNED HOST "covered 0 0\n" DONE

/* Counts how often the trace has the text. */
static size_t
count(const char *text)
{
    size_t n = 0;
    for (const char *at = trace.data; trace.length > 0 && (at = strstr(at, text)) != NULL; at++) {
        n++;
    }
    return n;
}

static void
make_plan(void)
{
    buf_reset(&trace);
    buf_reset(&words);
    plan(ORIGIN PLAN_FRAGMENT, "");
    assert_null(task);
}

static void
assert_words(const char *text)
{
    assert_string_equal(words.length > 0 ? words.data : "", text);
    buf_reset(&words);
}

/* ---- accesses ---- */

/* Each dump and each sample is put once; what is nothing of the web is left out, as is a dataset of
 * which nothing else is left. */
static void
what_cannot_be_asked_for_is_left_out(void **state)
{
    (void)state;
    know_map(SITEMAP(
        SET(DUMP("http://data.example:99999/a") DUMP(ORIGIN "/a.nt") DUMP(ORIGIN "/b.nt")
                DUMP(ORIGIN "/a.nt") SAMPLE_OF("mailto:a@b.example") SAMPLE_OF(ORIGIN "/id/1")
                    SAMPLE_OF(ORIGIN "/id/2") SAMPLE_OF(ORIGIN "/id/1") PREFIX(ORIGIN "/id/"))));
    assert_plan("meta u" ORIGIN "/#slice\n  execution:\n    description " MAP
                "\n    way dump\n" FEWEST "    dump " ORIGIN "/a.nt\n    dump " ORIGIN
                "/b.nt\n    sample " ORIGIN "/id/1\n    sample " ORIGIN "/id/2\n    own " ORIGIN
                "/\n    space - " ORIGIN "/id/\n    depth 5\n"
                "output " ORIGIN "/id/1 98 sample\noutput " ORIGIN "/id/2 98 sample\noutput " ORIGIN
                "/#slice 100 resource\noutput " ORIGIN "/a.nt#dump 99 resource\noutput " ORIGIN
                "/b.nt#dump 99 resource\n" HOST ID_COVER "    =" ORIGIN "/id/1\n    =" ORIGIN
                "/id/2\n" SLICED_HERE "covered 1 0\n" DONE);
    forget();
    know_map(SITEMAP(SET(DUMP("http://data.example:99999/a") PREFIX(ORIGIN "/id/"))));
    assert_plan(NOTHING_PLANNED);
    forget();
    know_map(SITEMAP(SET(QUERIED("mailto:a@b.example") PREFIX(ORIGIN "/id/"))));
    assert_plan(NOTHING_PLANNED);
}

/* An endpoint whose graph has a name so long that no URI has room for it has nothing to be asked.
 */
static void
an_endpoint_without_a_uri_is_not_asked(void **state)
{
    struct buf map;
    (void)state;
    buf_init(&map, TRACE);
    buf_append_string(&map, "<?xml version=\"1.0\"?><urlset xmlns:sc=\"" //
                      SEMANTIC_SITEMAP_NAMESPACE "\"><sc:dataset>" PREFIX(ORIGIN "/id/")
                          QUERIED(ORIGIN "/sparql") "<sc:sparqlGraphName>http://g.example/");
    for (size_t i = 0; i < URL_MAXIMUM / 2; i++) {
        buf_append_char(&map, '/'); /* as three characters in a value */
    }
    buf_append_string(&map, "</sc:sparqlGraphName></sc:dataset></urlset>");
    know_map(map.data);
    assert_plan(NOTHING_PLANNED);
    assert_words("<> : endpoint, all of it, and no dump is to be had\n");
    buf_release(&map);
}

/* Wherever among the accesses it stands. */
static void
the_first_access_counts_like_all(void **state)
{
    (void)state;
    know_map(SITEMAP(SET(QUERIED(ORIGIN "/sparql") PREFIX(ORIGIN "/id/"))));
    make_plan();
    assert_int_equal(count("    dump " ORIGIN "/sparql\n"), 1);
    assert_int_equal(count("    endpoint yes\n"), 1);
    assert_int_equal(count("    graphs yes\n"), 0);
    forget();
    know_map(SITEMAP(SET(QUERIED("http://stranger.test/sparql") PREFIX(ORIGIN "/id/"))));
    make_plan();
    assert_int_equal(count("    dump "), 0);
    assert_non_null(strstr(words.data, "  refused: "));
    assert_null(strstr(strstr(words.data, "refused: ") + 1, "refused: "));
    forget();
    know((struct had){.key = "h" ORIGIN, .descriptions = VOID_URI "\n"});
    know((struct had){.key = "u" VOID_URI, .state = "indexed", .response = "<p>"});
    had[1].conversion = VOID_FILE(
        VOID_URI "#it",
        VOID_NAME("uriSpace") " \"" ORIGIN "/id/\" ; " VOID_NAME("dataDump") " <" ORIGIN "/a.nt>");
    make_plan();
    assert_int_equal(count("    dump " ORIGIN "/a.nt\n"), 1);
    assert_int_equal(count("page "), 0);
}

/* A graph that is named belongs to the endpoint, and to no dump. */
static void
all_graphs_are_those_of_an_endpoint(void **state)
{
    (void)state;
    know_map(SITEMAP(SET(PREFIX(ORIGIN "/id/")
                             DUMP(ORIGIN "/a.nt") "<sc:sparqlGraphName>*</sc:sparqlGraphName>")));
    make_plan();
    assert_int_equal(count("    dump " ORIGIN "/a.nt\n"), 1);
    assert_int_equal(count("    graphs yes\n"), 0);
    forget();
    know_map(SITEMAP(SET(PREFIX(ORIGIN "/id/") QUERIED(
        ORIGIN "/sparql") "<sc:sparqlGraphName>http://g.example/</sc:sparqlGraphName>")));
    make_plan();
    assert_int_equal(count("    dump " ORIGIN "/sparql?"), 1);
    assert_int_equal(count("    graphs yes\n"), 0);
}

static void
the_way_that_is_preferred_is_gone(void **state)
{
    static const struct {
        const char *prefer, *way, *words;
    } cases[] = {
        {"", "    way dump\n", "<> : dump, all of it in the fewest requests\n"},
        {"dump", "    way dump\n", "<> : dump, preferred\n"},
        {"endpoint", "    way endpoint\n", "<> : endpoint, preferred\n"},
        {"pages", NULL, "<> : linked data, preferred\n"},
    };
    (void)state;
    know_map(SITEMAP(SET(PREFIX(ORIGIN "/id/") DUMP(ORIGIN "/a.nt") QUERIED(ORIGIN "/sparql"))));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fetch.datasets.prefer = cases[i].prefer;
        make_plan();
        assert_int_equal(count("    way "), cases[i].way != NULL);
        assert_int_equal(count("covered 1 0\n"), cases[i].way != NULL);
        assert_true(cases[i].way == NULL || count(cases[i].way) == 1);
        assert_words(cases[i].words);
    }
}

/* Dumps in RDF that are taken as documents: one that is not, be it by FTP or out of scope, keeps no
 * other from being taken. */
static void
each_dump_that_is_a_document_is_put(void **state)
{
    (void)state;
    know((struct had){.key = "h" ORIGIN, .descriptions = VOID_URI "\n"});
    know((struct had){.key = "u" VOID_URI, .state = "indexed", .response = "<p>"});
    had[1].conversion =
        VOID_FILE(VOID_URI "#it",
                  VOID_NAME("dataDump") " <ftp://data.example/b.nt> , <" OTHER
                                        "/outside.nt> , <" ORIGIN "/a.nt> , <" ORIGIN "/c.nt>");
    make_plan();
    assert_int_equal(count("page "), 2);
    assert_int_equal(count("page " ORIGIN "/a.nt 128 depth 5\n"), 1);
    assert_int_equal(count("page " ORIGIN "/c.nt 128 depth 5\n"), 1);
}

/* ---- sharing ---- */

/* Any of its dumps that any dataset before has, too. */
static void
a_dataset_is_sliced_with_any_that_shares_a_dump(void **state)
{
    (void)state;
    know_map(SITEMAP(SET(PREFIX(ORIGIN "/id/") DUMP(ORIGIN "/a.nt")) SET(PREFIX(ORIGIN "/no/") DUMP(
        ORIGIN "/b.nt")) SET(PREFIX(ORIGIN "/to/") DUMP(ORIGIN "/c.nt") DUMP(ORIGIN "/b.nt"))));
    make_plan();
    assert_int_equal(count("  execution:\n"), 2);
    assert_int_equal(count("    dump " ORIGIN "/b.nt\n    dump " ORIGIN "/c.nt\n    own " ORIGIN
                           "/\n    space - " ORIGIN "/no/\n    space - " ORIGIN "/to/\n"),
                     1);
    assert_int_equal(count("    " ORIGIN "/#slice\n"), 2); /* as the host's datasets */
}

/* What is said in RDF speaks of its own documents only, and widens what no sitemap may speak of. */
static void
a_sitemap_has_no_part_in_what_is_said_in_rdf(void **state)
{
    (void)state;
    know((struct had){.key = "h" ORIGIN, .descriptions = ORIGIN "/m/map.xml\n" VOID_URI "\n"});
    know((struct had){.key = "u" ORIGIN "/m/map.xml",
                      .state = "fetched",
                      .response = SITEMAP(SET(PREFIX(ORIGIN "/m/id/") DUMP(ORIGIN "/m/a.nt")))});
    know((struct had){.key = "u" VOID_URI, .state = "indexed", .response = "<p>"});
    had[2].conversion = VOID_FILE(VOID_URI "#it", VOID_NAME("dataDump") " <" ORIGIN "/c.nt>");
    make_plan();
    assert_int_equal(count("    own "), 1);
    assert_int_equal(count("    other "), 0);
    assert_int_equal(count("    own " ORIGIN "/m/\n"), 1);
}

/* ---- other hosts ---- */

#define OTHER_MAP OTHER "/map.xml"

/* Another host's sitemap that a dataset of this host is in: what its dump has need not be crawled
 * here, and is done there. */
static void
what_another_host_does_is_covered(void **state)
{
    (void)state;
    know((struct had){.key = "h" ORIGIN, .descriptions = MAP "\n" OTHER_MAP "\n"});
    know((struct had){.key = "u" MAP,
                      .state = "fetched",
                      .response = SITEMAP("<sc:parentSitemap>" OTHER_MAP "</sc:parentSitemap>")});
    know((struct had){.key = "u" OTHER_MAP,
                      .state = "fetched",
                      .response = SITEMAP("<sc:subSitemap>" MAP "</sc:subSitemap>" SET(
                          PREFIX(ORIGIN "/id/") PREFIX(OTHER "/id/") DUMP(OTHER "/a.nt")))});
    assert_plan(HOST "  cover:\n    " ORIGIN "/id/ " OTHER "/#slice\ncovered 1 0\n" DONE);
}

/* Datasets of a sitemap that joins are planned by its own host. */
static void
joined_descriptions_are_not_planned_here(void **state)
{
    (void)state;
    know_map(SITEMAP("<sc:subSitemap>" OTHER_MAP "</sc:subSitemap>" SET(
        PREFIX(OTHER "/id/") PREFIX(ORIGIN "/id/") DUMP(ORIGIN "/a.nt"))));
    know((struct had){.key = "u" OTHER_MAP,
                      .state = "fetched",
                      .response = SITEMAP("<sc:parentSitemap>" MAP "</sc:parentSitemap>" SET(
                          PREFIX(OTHER "/x/") DUMP(OTHER "/x.nt")))});
    make_plan();
    assert_int_equal(count("  execution:\n"), 1);
    assert_int_equal(count("/x"), 0);
    assert_words("<> : dump, all of it in the fewest requests\n");
    assert_int_equal(count("put " OTHER "/#plan 97 \n"), 1); /* its space is the first of two */
}

/* A link to what is no sitemap leaves the others. */
static void
a_link_that_leads_nowhere_is_passed_over(void **state)
{
    (void)state;
    know_map(SITEMAP("<sc:subSitemap>mailto:a@b.example</sc:subSitemap><sc:subSitemap>" OTHER_MAP
                     "</sc:subSitemap>" SET(PREFIX(ORIGIN "/id/") DUMP(ORIGIN "/a.nt"))));
    assert_plan("output " OTHER_MAP "#resource 96 resource\nput " ORIGIN
                "/#plan=joined 97 \ndone planned: sitemaps that join are fetched first\n");
}

/* A host's own dumps are its own, however many; of other hosts all datasets together have so many.
 */
static void
only_other_hosts_are_spared(void **state)
{
    enum { MOST = 20, OWN = 2 * MOST, HALF = MOST / 2 + 1 };
    struct buf map;
    (void)state;
    buf_init(&map, TRACE);
    buf_append_string(&map, "<?xml version=\"1.0\"?><urlset xmlns:sc=\"" //
                      SEMANTIC_SITEMAP_NAMESPACE "\"><sc:dataset>" PREFIX(ORIGIN "/id/"));
    for (size_t i = 0; i < OWN; i++) {
        buf_printf(&map, DUMP(ORIGIN "/%zu.nt"), i);
    }
    for (size_t i = 0; i < HALF; i++) {
        buf_printf(&map, DUMP(OTHER "/%zu.nt"), i);
    }
    buf_append_string(&map, "</sc:dataset><sc:dataset>" PREFIX(ORIGIN "/no/"));
    for (size_t i = 0; i < HALF; i++) {
        buf_printf(&map, DUMP(OTHER "/no%zu.nt"), i);
    }
    buf_append_string(&map, "</sc:dataset></urlset>");
    know_map(map.data);
    make_plan();
    assert_int_equal(count("  execution:\n"), 1);
    assert_int_equal(count("output " ORIGIN "/"), OWN + 1); /* and its job */
    assert_int_equal(count("output " OTHER "/"), HALF);
    assert_non_null(strstr(words.data, "not taken, more than 20 of other hosts\n"));
    buf_release(&map);
}

/* Each of a host's descriptions names its own authority, also behind one that names none. */
static void
authorities_of_all_descriptions_are_kept(void **state)
{
    (void)state;
    know((struct had){.key = "h" ORIGIN,
                      .descriptions = ORIGIN "/1.xml\n" ORIGIN "/2/2.xml\n" ORIGIN "/3/3.xml\n"});
    know((struct had){.key = "u" ORIGIN "/1.xml",
                      .state = "fetched",
                      .response = SITEMAP(SET(DUMP(ORIGIN "/1.nt")))});
    know((struct had){.key = "u" ORIGIN "/2/2.xml",
                      .state = "fetched",
                      .response = SITEMAP("<sc:authority>" ORIGIN "/2/me</sc:authority>")});
    know((struct had){.key = "u" ORIGIN "/3/3.xml",
                      .state = "fetched",
                      .response = SITEMAP("<sc:authority>" ORIGIN "/3/me</sc:authority>")});
    make_plan();
    assert_int_equal(count("  authorities:\n    " ORIGIN "/2/ " ORIGIN "/2/me\n    " ORIGIN
                           "/3/ " ORIGIN "/3/me\n"),
                     1);
}

/* ---- reading ---- */

static void
end_held(size_t number, enum status status)
{
    assert_true(number < held_count);
    held[number].done(held[number].context, status, slice_string(held[number].bytes),
                      &(struct reason){""});
    free(held[number].bytes);
}

/* What the parser gives with a failure is none of it; then it is read as RDF, once. */
static void
what_the_parser_failed_at_is_no_description(void **state)
{
    (void)state;
    know_map(SITEMAP(SET(PREFIX(ORIGIN "/id/") DUMP(ORIGIN "/a.nt"))));
    had[1].conversion = VOID_FILE(MAP "#it", VOID_NAME("dataDump") " <" ORIGIN "/a.nt>");
    hold = true;
    plan(ORIGIN PLAN_FRAGMENT, "");
    assert_int_equal(held_count, 1);
    end_held(0, STATUS_BAD_INPUT);
    assert_int_equal(held_count, 2);
    assert_true(slice_starts(slice_string(held[1].bytes), SLICE("<" MAP "#it>")));
    end_held(1, STATUS_BAD_INPUT);
    assert_int_equal(held_count, 2);
    assert_trace(NOTHING_PLANNED);
    had[1].conversion = NULL;
    held_count = 0;
    plan(ORIGIN PLAN_FRAGMENT, "");
    end_held(0, STATUS_BAD_INPUT);
    assert_int_equal(held_count, 1);
    assert_trace(NOTHING_PLANNED);
}

/* Where nothing is known, nothing but the host is asked for. */
static void
so_many_descriptions_are_read(void **state)
{
    enum { OWN = DESCRIPTIONS_MAXIMUM / 2 };
    struct buf lines;
    char key[100];
    (void)state;
    assert_plan(NOTHING_PLANNED);
    assert_int_equal(gets, 1);
    buf_init(&lines, TRACE);
    for (int i = 1; i <= OWN + 1; i++) {
        buf_printf(&lines, ORIGIN "/%02d.xml\n", i);
        if (i >= OWN) {
            forget();
            know((struct had){.key = "h" ORIGIN, .descriptions = lines.data});
            assert_plan(NOTHING_PLANNED);
            assert_int_equal(gets, 2);
            snprintf(key, sizeof key, "u" ORIGIN "/%02d.xml" RESOURCE_FRAGMENT, OWN);
            assert_string_equal(last_key, key);
        }
    }
    buf_release(&lines);
}

/* So many programs slice a host's dumps; datasets past these are told and not done. */
static void
so_many_datasets_are_sliced(void **state)
{
    enum { PAST = EXECUTIONS_MAXIMUM + 2 };
    struct buf map;
    (void)state;
    fetch.datasets.execute = false;
    buf_init(&map, 1 << 20);
    buf_append_string(&map, "<?xml version=\"1.0\"?><urlset xmlns:sc=\"" SEMANTIC_SITEMAP_NAMESPACE
                            "\">");
    for (size_t i = 0; i < PAST; i++) {
        buf_printf(&map, SET(DUMP(ORIGIN "/%zu.nt")), i);
    }
    buf_append_string(&map, "</urlset>");
    know_map(map.data);
    most_keys = 0;
    make_plan();
    assert_int_equal(most_keys, EXECUTIONS_MAXIMUM);
    buf_release(&map);
}

/* A dataset has so many spaces. */
static void
so_many_spaces_are_taken(void **state)
{
    struct buf map;
    (void)state;
    buf_init(&map, 1 << 20);
    buf_append_string(&map, "<?xml version=\"1.0\"?><urlset xmlns:sc=\"" //
                      SEMANTIC_SITEMAP_NAMESPACE "\"><sc:dataset>" DUMP(ORIGIN "/a.nt"));
    for (size_t i = 0; i <= EXECUTION_SPACES; i++) {
        buf_printf(&map, PREFIX(ORIGIN "/%zu/"), i);
    }
    buf_append_string(&map, "</sc:dataset></urlset>");
    know_map(map.data);
    make_plan();
    assert_int_equal(count("    space - "), EXECUTION_SPACES);
    buf_release(&map);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_cannot_be_asked_for_is_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_endpoint_without_a_uri_is_not_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_access_counts_like_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_graphs_are_those_of_an_endpoint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_way_that_is_preferred_is_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_dump_that_is_a_document_is_put, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dataset_is_sliced_with_any_that_shares_a_dump, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_sitemap_has_no_part_in_what_is_said_in_rdf, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_another_host_does_is_covered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(joined_descriptions_are_not_planned_here, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_link_that_leads_nowhere_is_passed_over, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(only_other_hosts_are_spared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(authorities_of_all_descriptions_are_kept, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_the_parser_failed_at_is_no_description, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(so_many_descriptions_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(so_many_datasets_are_sliced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(so_many_spaces_are_taken, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("plan_rules", tests, NULL, NULL);
}
