#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "datasets/claims.h"
#include "datasets/semantic_sitemap.h"

#define SITEMAP(namespace, inside)                                                          \
    "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" " \
    "xmlns:sc=\"" namespace "\">" inside "</urlset>"

static struct arena arena;

static int
set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 24);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct description *
parse(const char *uri, const char *text)
{
    struct description *description = arena_zero(&arena, sizeof *description);
    struct reason why = {""};
    assert_int_equal(
        semantic_sitemap_parse(slice_string(text), slice_string(uri), &arena, description, &why),
        STATUS_OK);
    return description;
}

static void
assert_slice(struct slice found, const char *expected)
{
    assert_non_null(found.at);
    assert_int_equal(found.length, strlen(expected));
    assert_memory_equal(found.at, expected, found.length);
}

static void
assert_access(const struct dataset *dataset, size_t at, enum access_kind kind, const char *uri,
              enum slicing slicing)
{
    assert_true(at < dataset->access_count);
    assert_int_equal(dataset->accesses[at].kind, kind);
    assert_slice(dataset->accesses[at].uri, uri);
    assert_int_equal(dataset->accesses[at].slicing, slicing);
}

static const char paper[] =
    SITEMAP(SEMANTIC_SITEMAP_NAMESPACE,
            "<url><loc>http://shop.example/</loc><lastmod>2005-01-01</lastmod></url>\n"
            "<sc:authority>http://shop.example/about#us</sc:authority>"
            "<sc:dataset>\n<sc:datasetLabel>\n  Goods of the shop </sc:datasetLabel>"
            "<sc:datasetURI>http://shop.example/goods.rdf#all</sc:datasetURI>"
            "<sc:linkedDataPrefix "
            "sc:slicing='subject-object'>http://shop.example/goods/</sc:linkedDataPrefix>"
            "<sc:sampleURI>http://shop.example/goods/1</sc:sampleURI>"
            "<sc:sparqlEndpoint sc:slicing='cbd'>http://shop.example/sparql</sc:sparqlEndpoint>"
            "<sc:sparqlGraphName>*</sc:sparqlGraphName>"
            "<sc:dataDump>http://shop.example/dumps/goods.rdf.gz</sc:dataDump>"
            "<sc:dataDump>http://elsewhere.example/old.nt.bz2</sc:dataDump>"
            "<lastmod>2008-02-03</lastmod><changefreq>weekly</changefreq></sc:dataset>");

static void
test_tags_of_the_paper(void **state)
{
    (void)state;
    const struct description *description = parse("http://shop.example/sitemap.xml", paper);
    assert_int_equal(description->dataset_count, 1);
    assert_int_equal(description->note_count, 0);
    assert_slice(description->authority, "http://shop.example/about#us");
    assert_slice(description->space, "http://shop.example/");
    const struct dataset *dataset = description->datasets;
    assert_slice(dataset->label, "Goods of the shop");
    assert_slice(dataset->uri, "http://shop.example/goods.rdf#all");
    assert_slice(dataset->graph, "*");
    assert_slice(dataset->change_frequency, "weekly");
    assert_true(dataset->modified_ms > 0);
    assert_int_equal(dataset->access_count, 5);
    assert_access(dataset, 0, ACCESS_LINKED_DATA, "http://shop.example/goods/",
                  SLICING_SUBJECT_OBJECT);
    assert_access(dataset, 1, ACCESS_SAMPLE, "http://shop.example/goods/1", SLICING_NONE);
    assert_access(dataset, 2, ACCESS_SPARQL, "http://shop.example/sparql", SLICING_CBD);
    assert_access(dataset, 3, ACCESS_DUMP, "http://shop.example/dumps/goods.rdf.gz", SLICING_NONE);
    assert_access(dataset, 4, ACCESS_DUMP, "http://elsewhere.example/old.nt.bz2", SLICING_NONE);
}

static void
test_tags_of_the_specification(void **state)
{
    (void)state;
    const struct description *description = parse(
        "http://a.example/sitemap.xml",
        SITEMAP(SEMANTIC_SITEMAP_SCHEMA,
                "<sc:dataset><sc:linkedDataPrefix "
                "slicing='scbd'>http://a.example/r/</sc:linkedDataPrefix>"
                "<sc:sparqlEndpointLocation "
                "slicing='msg'>http://a.example/q</sc:sparqlEndpointLocation>"
                "<sc:dataDumpLocation>ftp://a.example/d.nt</sc:dataDumpLocation>"
                "<sc:dataFragmentDumpLocation>http://a.example/f.zip</sc:dataFragmentDumpLocation>"
                "</sc:dataset><sc:dataset><sc:dataDumpLocation>http://a.example/two.nq"
                "</sc:dataDumpLocation></sc:dataset>"));
    assert_int_equal(description->note_count, 0);
    assert_int_equal(description->dataset_count, 2);
    const struct dataset *dataset = description->datasets;
    assert_access(dataset, 0, ACCESS_LINKED_DATA, "http://a.example/r/", SLICING_SCBD);
    assert_access(dataset, 1, ACCESS_SPARQL, "http://a.example/q", SLICING_MSG);
    assert_access(dataset, 2, ACCESS_DUMP, "ftp://a.example/d.nt", SLICING_NONE);
    assert_access(dataset, 3, ACCESS_FRAGMENT_DUMP, "http://a.example/f.zip", SLICING_NONE);
    assert_access(&description->datasets[1], 0, ACCESS_DUMP, "http://a.example/two.nq",
                  SLICING_NONE);
}

/* Each is understood, and each is told. */
static void
test_quirks(void **state)
{
    (void)state;
    static const struct {
        const char *inside, *note;
        size_t notes;
        enum slicing slicing;
    } cases[] = {
        {"<sc:DataSet><sc:datadump>http://a.example/d.nt</sc:datadump></sc:DataSet>", "should be",
         2},
        {"<dataset><dataDump>http://a.example/d.nt</dataDump></dataset>", "namespace", 1},
        {"<sc:dataset><sc:dataDump>/d.nt</sc:dataDump></sc:dataset>", "no absolute URI", 1},
        {"<sc:dataset><sc:dataDump>http://a.example/x/../d.nt</sc:dataDump></sc:dataset>",
         "no absolute URI", 1},
        {"<sc:dataset><sc:dataDump "
         "sc:slicing='cbd'>http://a.example/d.nt</sc:dataDump></sc:dataset>",
         "slicing belongs", 1, SLICING_CBD},
        {"<sc:dataset><sc:dataDump>http://a.example/d.nt</sc:dataDump>"
         "<sc:dataDump> http://a.example/d.nt </sc:dataDump></sc:dataset>",
         "twice", 1},
        {"<sc:dataset><sc:dataDump>http://a.example/d.nt</sc:dataDump>"
         "<changefreq>often</changefreq></sc:dataset>",
         "seven values", 1},
        {"<sc:dataset><sc:sparqlGraphName>http://a.example/g</sc:sparqlGraphName>"
         "<sc:dataDump>http://a.example/d.nt</sc:dataDump></sc:dataset>",
         "without an endpoint", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096];
        snprintf(text, sizeof text, SITEMAP(SEMANTIC_SITEMAP_NAMESPACE, "%s"), cases[i].inside);
        const struct description *description = parse("http://a.example/sitemap.xml", text);
        assert_int_equal(description->dataset_count, 1);
        assert_access(description->datasets, 0, ACCESS_DUMP, "http://a.example/d.nt",
                      cases[i].slicing);
        assert_int_equal(description->note_count, cases[i].notes);
        assert_non_null(strstr(description->notes[0].text.at, cases[i].note));
    }
}

static void
test_what_is_no_sitemap_is_refused(void **state)
{
    (void)state;
    struct description description;
    struct reason why = {""};
    assert_int_equal(semantic_sitemap_parse(SLICE("<html><body/></html>"),
                                            SLICE("http://a.example/x"), &arena, &description,
                                            &why),
                     STATUS_BAD_INPUT);
    assert_non_null(strstr(why.text, "http://a.example/x"));
}

static const struct dataset_access *
judge(struct description **descriptions, size_t count, size_t which, size_t access)
{
    const struct claims claims = {descriptions, count, &arena};
    claims_judge(&claims);
    return &descriptions[which]->datasets[0].accesses[access];
}

static void
test_spaces_and_delegation(void **state)
{
    (void)state;
    struct description *root =
        parse("http://a.example/sitemap.xml",
              SITEMAP(SEMANTIC_SITEMAP_NAMESPACE,
                      "<sc:authority>http://b.example/me</sc:authority><sc:dataset>"
                      "<sc:linkedDataPrefix>http://a.example/things/</sc:linkedDataPrefix>"
                      "<sc:linkedDataPrefix>http://b.example/things/</sc:linkedDataPrefix>"
                      "<sc:linkedDataPrefix>http://a.example/~alice/x/</sc:linkedDataPrefix>"
                      "<sc:dataDump>http://b.example/d.nt</sc:dataDump></sc:dataset>"));
    struct description *alice = parse(
        "http://a.example/~alice/sitemap.xml",
        SITEMAP(
            SEMANTIC_SITEMAP_NAMESPACE,
            "<sc:dataset><sc:linkedDataPrefix>http://a.example/~alice/x/</sc:linkedDataPrefix>"
            "<sc:linkedDataPrefix>http://a.example/things/</sc:linkedDataPrefix></sc:dataset>"));
    struct description *both[] = {root, alice};
    assert_int_equal(judge(both, 2, 0, 0)->refused.length, 0);
    assert_non_null(strstr(judge(both, 2, 0, 1)->refused.at, "outside of http://a.example/"));
    assert_non_null(strstr(judge(both, 2, 0, 2)->refused.at, "delegated"));
    assert_int_equal(judge(both, 2, 0, 3)->refused.length, 0);
    assert_int_equal(judge(both, 2, 1, 0)->refused.length, 0);
    assert_non_null(
        strstr(judge(both, 2, 1, 1)->refused.at, "outside of http://a.example/~alice/"));
    assert_int_equal(root->authority.length, 0);
    /* Without alice's sitemap her folder is the root's. */
    assert_int_equal(judge(both, 1, 0, 2)->refused.length, 0);
}

static void
test_joining_takes_both_sides(void **state)
{
    (void)state;
    struct description *parent = parse(
        "http://a.example/sitemap.xml",
        SITEMAP(SEMANTIC_SITEMAP_NAMESPACE,
                "<sc:subSitemap>http://b.example/sitemap.xml</sc:subSitemap>"
                "<sc:subSitemap>http://c.example/sitemap.xml</sc:subSitemap><sc:dataset>"
                "<sc:linkedDataPrefix>http://b.example/r/</sc:linkedDataPrefix>"
                "<sc:linkedDataPrefix>http://c.example/r/</sc:linkedDataPrefix></sc:dataset>"));
    struct description *sub = parse(
        "http://b.example/sitemap.xml",
        SITEMAP(SEMANTIC_SITEMAP_NAMESPACE,
                "<sc:parentSitemap>http://a.example/sitemap.xml</sc:parentSitemap><sc:dataset>"
                "<sc:linkedDataPrefix>http://a.example/r/</sc:linkedDataPrefix></sc:dataset>"));
    struct description *stranger =
        parse("http://c.example/sitemap.xml", SITEMAP(SEMANTIC_SITEMAP_NAMESPACE, ""));
    struct description *all[] = {parent, sub, stranger};
    struct slice *missing;
    const struct claims alone = {all, 1, &arena};
    assert_int_equal(claims_missing(&alone, &missing), 2);
    assert_slice(missing[0], "http://b.example/sitemap.xml");
    assert_non_null(strstr(judge(all, 1, 0, 0)->refused.at, "could not be read"));
    assert_int_equal(judge(all, 3, 0, 0)->refused.length, 0);
    assert_non_null(strstr(judge(all, 3, 0, 1)->refused.at, "does not name this one"));
    /* To be joined to a parent gives no right to the parent's own space. */
    assert_true(judge(all, 3, 1, 0)->refused.length > 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tags_of_the_paper, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tags_of_the_specification, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_quirks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_sitemap_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spaces_and_delegation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_joining_takes_both_sides, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
