/* A host's plan (stages/fetch/datasets/plan_read.c, plan_decide.c): which descriptions are read,
 * what is waited for, and what is put. */
#include "tests/unit/stages_fetch/host_plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"

/* ---- cases ---- */

static void
fragments_tell_the_kinds(void **state)
{
    static const struct {
        const char *uri;
        enum task_kind kind;
    } cases[] = {
        {ORIGIN "/a", TASK_PAGE},
        {ORIGIN "/a#dump", TASK_DUMP},
        {ORIGIN "/a#dumps", TASK_PAGE},
        {ORIGIN "/a" LISTING_FRAGMENT, TASK_LISTING},
        {ORIGIN SITEMAPS_FRAGMENT, TASK_SITEMAPS},
        {ORIGIN PLAN_FRAGMENT, TASK_PLAN},
        {ORIGIN JOINED_PLAN, TASK_PLAN},
        {ORIGIN EXECUTION_FRAGMENT "0123456789abcdef", TASK_SLICE},
        {ORIGIN "/a" RESOURCE_FRAGMENT, TASK_PAGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(task_kind(slice_string(cases[i].uri)), cases[i].kind);
    }
}

static void
a_host_without_descriptions(void **state)
{
    (void)state;
    assert_plan("meta h" ORIGIN "\ncovered 0 0\ndone planned: \n");
    no_host = true;
    assert_plan("meta h" ORIGIN "\ndone planned: \n");
}

#define GOODS                                                                                 \
    SET("<sc:datasetLabel>Goods</sc:datasetLabel>" PREFIX(ORIGIN "/id/") DUMP(ORIGIN "/a.nt") \
            DUMP(OTHER "/b.nt") DUMP(ORIGIN "/a.nt") SAMPLE_OF(ORIGIN "/id/1"))
#define GOODS_EXECUTION                                                            \
    "meta u" ORIGIN "/#slice\n  execution:\n    label Goods\n    description " MAP \
    "\n    way dump\n" FEWEST "    dump " ORIGIN "/a.nt\n    dump " OTHER          \
    "/b.nt\n    sample " ORIGIN "/id/1\n    own " ORIGIN "/\n    space - " ORIGIN  \
    "/id/\n    depth 5\n"
#define GOODS_JOBS                                                                            \
    "output " ORIGIN "/id/1 98 sample\noutput " ORIGIN "/#slice 100 resource\noutput " ORIGIN \
    "/a.nt#dump 99 resource\noutput " OTHER "/b.nt#dump 99 resource\n"
#define GOODS_COVER ID_COVER "    =" ORIGIN "/id/1\n"

static void
a_dump_is_sliced(void **state)
{
    char key[128];
    (void)state;
    know_map(SITEMAP(GOODS));
    assert_plan(GOODS_EXECUTION GOODS_JOBS HOST GOODS_COVER SLICED_HERE "covered 1 0\n" DONE);
    snprintf(key, sizeof key, "u" ORIGIN EXECUTION_FRAGMENT "%016llx",
             (unsigned long long)fingerprint64(SLICE(ORIGIN "/a.nt")));
    assert_string_equal(last_key, key);
    assert_true(was_said("<> Goods: dump, all of it in the fewest requests\n"));
    fetch.datasets.execute = false;
    assert_plan(HOST "covered 0 0\n" DONE);
    assert_true(was_said("<> Goods: dump, all of it in the fewest requests\n"));
}

/* Only the dumps of what was done before are asked for, with conditions, and only when told so. */
static void
what_was_done_is_done_again_as_told(void **state)
{
    (void)state;
    know_map(SITEMAP(GOODS));
    plan(ORIGIN PLAN_FRAGMENT, PLAN_AGAIN);
    assert_trace(GOODS_EXECUTION GOODS_JOBS HOST GOODS_COVER SLICED_HERE "covered 1 0\n" DONE);
    know((struct had){.key = "slice", .state = "sliced"});
    assert_plan(GOODS_EXECUTION GOODS_JOBS HOST GOODS_COVER SLICED_HERE "covered 1 0\n" DONE);
    plan(ORIGIN PLAN_FRAGMENT, PLAN_AGAIN);
    assert_trace(GOODS_EXECUTION "put " ORIGIN "/a.nt#dump 99 again " ORIGIN "/#slice\nput " OTHER
                                 "/b.nt#dump 99 again " ORIGIN
                                 "/#slice\n" HOST GOODS_COVER SLICED_HERE "covered 1 0\n" DONE);
    had[had_count - 1].state = "withdrawn";
    assert_plan(GOODS_EXECUTION GOODS_JOBS HOST SLICED_HERE "covered 0 0\n" DONE);
}

#define ENDPOINT_EXECUTION                                                                 \
    "meta u" ORIGIN "/#slice\n  execution:\n    description " MAP                          \
    "\n    way endpoint\n    why all of it, and no dump is to be had\n    endpoint yes\n"  \
    "    graphs yes\n    dump " ORIGIN "/sparql\n    own " ORIGIN "/\n    space - " ORIGIN \
    "/id/\n    depth 5\n"

static void
an_endpoint_is_harvested(void **state)
{
    (void)state;
    know_map(SITEMAP(SET(PREFIX(ORIGIN "/id/") QUERIED(ORIGIN "/sparql") QUERIED(
        ORIGIN "/more") "<sc:sparqlGraphName>*</sc:sparqlGraphName>")));
    assert_plan(ENDPOINT_EXECUTION "output " ORIGIN "/#slice 100 resource\nfirst " ORIGIN
                                   "/sparql#dump 99 pages " ORIGIN
                                   "/#slice\n" HOST ID_COVER SLICED_HERE "covered 1 0\n" DONE);
    know((struct had){.key = "slice", .state = "sliced"});
    plan(ORIGIN PLAN_FRAGMENT, PLAN_AGAIN);
    assert_trace(ENDPOINT_EXECUTION "put " ORIGIN "/sparql#dump 99 pages-again " ORIGIN
                                    "/#slice\n" HOST ID_COVER SLICED_HERE "covered 1 0\n" DONE);
    forget();
    know_map(SITEMAP(SET(PREFIX(ORIGIN "/id/") QUERIED("http://stranger.test/sparql"))));
    assert_plan(HOST "covered 0 0\n" DONE);
    assert_true(was_said("  refused: "));
}

static void
datasets_with_one_dump_are_sliced_together(void **state)
{
    (void)state;
    know_map(SITEMAP(SET("<sc:datasetLabel>First</sc:datasetLabel>" PREFIX(ORIGIN "/id/")
                             DUMP(ORIGIN "/z.nt") DUMP(ORIGIN "/a.nt"))
                         SET("<sc:datasetLabel>Second</sc:datasetLabel>" PREFIX(ORIGIN "/no/") DUMP(
                             ORIGIN "/a.nt")) SET(PREFIX(ORIGIN "/to/") DUMP(ORIGIN "/c.nt"))));
    plan(ORIGIN PLAN_FRAGMENT, "");
    assert_non_null(strstr(trace.data, "  cover:\n    " ORIGIN "/id/ " ORIGIN "/#slice\n    " ORIGIN
                                       "/no/ " ORIGIN "/#slice\n    " ORIGIN "/to/ " ORIGIN
                                       "/#slice\n  datasets:\n    " ORIGIN "/#slice\n    " ORIGIN
                                       "/#slice\ncovered 1 0\n"));
    assert_non_null(strstr(trace.data, "    label First\n")); /* the first that has it */
    assert_null(strstr(trace.data, "    label Second\n"));
    buf_reset(&trace);
}

/* What nobody had anything of is not read; nor is what was no answer, or is no description. */
static void
what_is_no_description_is_passed_over(void **state)
{
    (void)state;
    know((struct had){.key = "h" ORIGIN, .descriptions = MAP "\n"});
    assert_plan(HOST "covered 0 0\n" DONE);
    know((struct had){.key = "u" MAP, .state = "gone"});
    assert_plan(HOST "covered 0 0\n" DONE);
    had[1].response = "no description";
    assert_plan(HOST "covered 0 0\n" DONE);
    had[1].response = SITEMAP(GOODS);
    had[1].http_status = 404;
    assert_plan(HOST "covered 0 0\n" DONE);
    had[1].http_status = 0;
    had[1].status = STATUS_NOT_FOUND;
    assert_plan(HOST "covered 0 0\n" DONE);
    had[1].status = STATUS_OK;
    assert_plan(GOODS_EXECUTION GOODS_JOBS HOST GOODS_COVER SLICED_HERE "covered 1 0\n" DONE);
    had[1].key = "u" MAP RESOURCE_FRAGMENT;
    assert_plan(GOODS_EXECUTION GOODS_JOBS HOST GOODS_COVER SLICED_HERE "covered 1 0\n" DONE);
}

#define VOID_EXECUTION(subject, description)                                                       \
    "meta u" ORIGIN "/#slice\n  execution:\n    dataset " subject "\n    description " description \
    "\n    way dump\n" FEWEST "    dump " ORIGIN "/a.nt\n    own " ORIGIN "/\n    space - " ORIGIN \
    "/id/\n    depth 5\n    provisional yes\n"
#define VOID_SPACE        \
    VOID_NAME("dataDump") \
    " <" ORIGIN "/a.nt> ; " VOID_NAME("uriSpace") " \"" ORIGIN "/id/\""
#define VOID_JOBS "output " ORIGIN "/#slice 100 resource\noutput " ORIGIN "/a.nt#dump 99 resource\n"

static void
void_without_a_space_has_its_dumps_fetched_as_documents(void **state)
{
    (void)state;
    know((struct had){.key = "h" ORIGIN, .descriptions = VOID_URI "\n"});
    know((struct had){.key = "u" VOID_URI, .state = "indexed", .response = "<p>"});
    had[1].conversion = VOID_FILE(
        VOID_URI "#it", VOID_NAME("dataDump") " <" ORIGIN "/a.nt> , <" OTHER "/outside.nt>");
    assert_plan("page " ORIGIN "/a.nt 128 depth 5\n" HOST "covered 0 0\n" DONE);
    assert_true(was_said("taken as documents: no void:uriSpace says what they hold\n"));
    had[1].conversion =
        VOID_FILE(VOID_URI "#it", VOID_NAME("dataDump") " <ftp://data.example/b.nt>");
    assert_plan(HOST "covered 0 0\n" DONE);
    assert_true(was_said("and by FTP no documents are fetched\n"));
    had[1].conversion = VOID_FILE(VOID_URI "#it", VOID_NAME("triples") " 3");
    assert_plan(HOST "covered 0 0\n" DONE);
    assert_false(was_said("it"));
    job.job.depth = UINT16_MAX;
    had[1].conversion = VOID_FILE(VOID_URI "#it", VOID_NAME("dataDump") " <" ORIGIN "/a.nt>");
    assert_plan("page " ORIGIN "/a.nt 128 depth 65535\n" HOST "covered 0 0\n" DONE);
}

/* What is covered provisionally is so until it was sliced. */
static void
void_with_a_space_is_sliced(void **state)
{
    (void)state;
    know((struct had){.key = "h" ORIGIN, .descriptions = VOID_URI "\n"});
    know((struct had){.key = "u" VOID_URI, .state = "indexed", .response = "<p>"});
    had[1].conversion = VOID_FILE(VOID_URI "#it", VOID_SPACE);
    assert_plan(VOID_EXECUTION(VOID_URI "#it", VOID_URI) VOID_JOBS HOST ID_COVER SLICED_HERE
                "covered 1 0\n" DONE);
    know((struct had){.key = "slice", .state = "fetched"});
    assert_plan(VOID_EXECUTION(VOID_URI "#it", VOID_URI) VOID_JOBS HOST ID_COVER SLICED_HERE
                "covered 1 0\n" DONE);
    had[2].state = "sliced";
    assert_plan(VOID_EXECUTION(VOID_URI "#it", VOID_URI) VOID_JOBS HOST SLICED_HERE
                "covered 0 0\n" DONE);
}

#define OTHER_VOID OTHER "/void.ttl"

/* A description on another host speaks for this one if /.well-known/void redirects there. */
static void
void_of_another_host_speaks_where_it_is_redirected_to(void **state)
{
    (void)state;
    know((struct had){.key = "h" ORIGIN, .descriptions = OTHER_VOID "\n"});
    know((struct had){.key = "u" OTHER_VOID, .state = "indexed", .response = "<p>"});
    had[1].conversion = VOID_FILE(OTHER_VOID "#it", VOID_SPACE);
    assert_plan(HOST "covered 0 0\n" DONE);
    know((struct had){.key = "u" ORIGIN WELL_KNOWN_VOID, .state = "redirected", .to = OTHER_VOID});
    assert_plan(VOID_EXECUTION(OTHER_VOID "#it", OTHER_VOID) VOID_JOBS HOST ID_COVER SLICED_HERE
                "covered 1 0\n" DONE);
}

#define JOINING                                                                       \
    SITEMAP("<sc:authority>" ORIGIN "/me</sc:authority><sc:subSitemap>" OTHER         \
            "/map.xml</sc:subSitemap>" SET(PREFIX(ORIGIN "/id/") PREFIX(OTHER "/id/") \
                                               DUMP(ORIGIN "/a.nt")))
#define JOINING_EXECUTION(own, space)                                                       \
    "meta u" ORIGIN "/#slice\n  execution:\n    description " MAP "\n    way dump\n" FEWEST \
    "    authority " ORIGIN "/me\n    dump " ORIGIN "/a.nt\n    own " ORIGIN "/\n" own      \
    "    space - " ORIGIN "/id/\n" space "    depth 5\n"
#define AUTHORITIES "  authorities:\n    " ORIGIN "/ " ORIGIN "/me\n"

static void
sitemaps_that_join_are_fetched_first(void **state)
{
    (void)state;
    know_map(JOINING);
    assert_plan("output " OTHER "/map.xml#resource 96 resource\nput " ORIGIN
                "/#plan=joined 97 \ndone planned: sitemaps that join are fetched first\n");
    plan(ORIGIN JOINED_PLAN, "");
    assert_trace("wait: sitemaps that join have not come yet\n");
    now_ms = QUEUED_MS + PATIENCE_MS - 1;
    plan(ORIGIN JOINED_PLAN, "");
    assert_trace("wait: sitemaps that join have not come yet\n");
    now_ms++;
    plan(ORIGIN JOINED_PLAN, "");
    assert_trace(JOINING_EXECUTION("", "") VOID_JOBS HOST ID_COVER AUTHORITIES SLICED_HERE
                 "covered 1 1\n" DONE);
    assert_true(was_said("could not be read\n"));
    now_ms = QUEUED_MS;
    know((struct had){.key = "u" OTHER "/map.xml" RESOURCE_FRAGMENT,
                      .state = "fetched",
                      .response = SITEMAP("<sc:parentSitemap>" MAP "</sc:parentSitemap>")});
    assert_plan(JOINING_EXECUTION("    own " OTHER "/\n", "    space - " OTHER "/id/\n") VOID_JOBS
                "meta h" OTHER "\n  descriptions:\n    " MAP "\nput " OTHER
                "/#plan 97 \n" HOST ID_COVER AUTHORITIES SLICED_HERE "covered 1 1\n" DONE);
    plan(ORIGIN PLAN_FRAGMENT, PLAN_AGAIN);
    assert_non_null(strstr(trace.data, "put " OTHER "/#plan 97 again\n"));
    buf_reset(&trace);
}

static void
without_a_prefix_the_space_is_that_of_the_sitemap(void **state)
{
    (void)state;
    know((struct had){.key = "h" ORIGIN, .descriptions = ORIGIN "/folder/map.xml\n"});
    know((struct had){.key = "u" ORIGIN "/folder/map.xml",
                      .state = "fetched",
                      .response = SITEMAP(SET(DUMP(ORIGIN "/a.nt")))});
    plan(ORIGIN PLAN_FRAGMENT, "");
    assert_non_null(strstr(trace.data, "    space - " ORIGIN "/folder/\n"));
    assert_non_null(strstr(trace.data, "  cover:\n    " ORIGIN "/folder/ " ORIGIN "/#slice\n"));
    buf_reset(&trace);
}

static void
each_description_goes_by_its_own_uri(void **state)
{
    (void)state;
    know((struct had){.key = "h" ORIGIN,
                      .descriptions = ORIGIN "/1.xml\n" ORIGIN "/2.xml\n" ORIGIN "/3.xml\n"});
#define SITEMAP_OF(number)                   \
    ((struct had){                           \
        .key = "u" ORIGIN "/" number ".xml", \
        .state = "fetched",                  \
        .response = SITEMAP(SET(PREFIX(ORIGIN "/id" number "/") DUMP(ORIGIN "/" number ".nt")))})
    know(SITEMAP_OF("1"));
    know(SITEMAP_OF("2"));
    know(SITEMAP_OF("3"));
    plan(ORIGIN PLAN_FRAGMENT, "");
#define TOLD_BY(number)                                                                   \
    "    description " ORIGIN "/" number ".xml\n    way dump\n" FEWEST "    dump " ORIGIN \
    "/" number ".nt\n"
    assert_non_null(strstr(trace.data, TOLD_BY("1")));
    assert_non_null(strstr(trace.data, TOLD_BY("2")));
    assert_non_null(strstr(trace.data, TOLD_BY("3")));
    buf_reset(&trace);
}

/* Of whose prefix is somebody else's no document is known that the dump has, so it is not asked
 * for. */
static void
a_dump_without_a_space_is_not_taken(void **state)
{
    (void)state;
    know_map(SITEMAP(SET(PREFIX("http://stranger.test/id/") DUMP(ORIGIN "/a.nt"))));
    assert_plan(HOST "covered 0 0\n" DONE);
}

/* When more sitemaps join than other hosts are asked for, the first are fetched. */
static void
so_many_sitemaps_join(void **state)
{
    struct buf map;
    (void)state;
    buf_init(&map, TRACE);
    buf_append_string(&map, "<?xml version=\"1.0\"?><urlset xmlns:sc=\"" SEMANTIC_SITEMAP_NAMESPACE
                            "\">");
    for (size_t i = 0; i < 25; i++) {
        buf_printf(&map, "<sc:subSitemap>" OTHER "/%zu.xml</sc:subSitemap>", i);
    }
    buf_append_string(&map, SET(DUMP(ORIGIN "/a.nt")) "</urlset>");
    know_map(map.data);
    plan(ORIGIN PLAN_FRAGMENT, "");
    assert_non_null(strstr(trace.data, "output " OTHER "/19.xml#resource 96 resource\nput "));
    assert_null(strstr(trace.data, "/20.xml"));
    buf_reset(&trace);
    buf_release(&map);
}

/* So many dumps of other hosts are taken; the twenty-first has the dataset not taken at all. */
static void
other_hosts_are_asked_so_often(void **state)
{
    enum { MOST = 20 };
    (void)state;
    for (size_t count = MOST; count <= MOST + 1; count++) {
        struct buf map;
        buf_init(&map, TRACE);
        buf_append_string(&map, "<?xml version=\"1.0\"?><urlset xmlns:sc=\"" //
                          SEMANTIC_SITEMAP_NAMESPACE "\"><sc:dataset>" PREFIX(ORIGIN "/id/"));
        for (size_t i = 0; i < count; i++) {
            buf_printf(&map, DUMP(OTHER "/%zu.nt"), i);
        }
        buf_append_string(&map, "</sc:dataset></urlset>");
        know_map(map.data);
        plan(ORIGIN PLAN_FRAGMENT, "");
        assert_int_equal(strstr(trace.data, "/19.nt#dump") != NULL, count == MOST);
        assert_int_equal(strstr(trace.data, "covered 1") != NULL, count == MOST);
        assert_int_equal(was_said("not taken, more than 20 of other hosts\n"), count > MOST);
        forget();
        buf_release(&map);
    }
    new_task(ORIGIN PLAN_FRAGMENT, "");
    struct planning planning = {.task = task};
    for (size_t i = 0; i < MOST + 3; i++) {
        assert_true(planning_may_ask(&planning, SLICE(ORIGIN "/a")));
        assert_int_equal(planning_may_ask(&planning, SLICE(OTHER "/a")), i < MOST);
    }
}

static void
what_does_not_answer_is_waited_for(void **state)
{
    (void)state;
    know_map(SITEMAP(GOODS));
    for (failing_get = 1; failing_get <= 3; failing_get++) {
        assert_plan("wait: nobody answers\n");
    }
    failing_get = 0;
    had[1].status = STATUS_UNAVAILABLE;
    assert_plan("wait: a node that has a description does not answer\n");
    no_content = true;
    fetch.content = NULL;
    assert_plan("bury: no archive\n");
}

/* Whichever reading ends first, the descriptions have their order; and of those that end with the
 * process nothing is put. */
static void
the_order_of_answers_does_not_matter(void **state)
{
    char *trace_in_order = NULL;
    (void)state;
    know((struct had){.key = "h" ORIGIN, .descriptions = MAP "\n" ORIGIN "/b.xml\n"});
    know((struct had){.key = "u" MAP, .state = "fetched", .response = SITEMAP(GOODS)});
    know((struct had){.key = "u" ORIGIN "/b.xml",
                      .state = "fetched",
                      .response = SITEMAP(SET(PREFIX(ORIGIN "/to/") DUMP(ORIGIN "/c.nt")))});
    hold = true;
    for (unsigned backwards = 0; backwards < 2; backwards++) {
        held_count = 0;
        plan(ORIGIN PLAN_FRAGMENT, "");
        assert_int_equal(held_count, 2);
        for (size_t i = 0; i < 2; i++) {
            const size_t at = backwards == 1 ? 1 - i : i;
            assert_int_equal(trace.length, 0);
            held[at].done(held[at].context, STATUS_OK, slice_string(held[at].bytes),
                          &(struct reason){""});
            free(held[at].bytes);
        }
        if (backwards == 0) {
            trace_in_order = strdup(trace.data);
            buf_reset(&trace);
        }
    }
    assert_trace(trace_in_order);
    free(trace_in_order);
    held_count = 0;
    plan(ORIGIN PLAN_FRAGMENT, "");
    struct planning *planning = ((struct reading *)held[0].context)->planning;
    for (size_t i = 0; i < held_count; i++) {
        held[i].done(held[i].context, STATUS_CANCELLED, (struct slice){0}, &(struct reason){""});
        free(held[i].bytes);
    }
    assert_trace("");
    planning_free(planning);
}

static void
a_description_has_the_plan_made(void **state)
{
    (void)state;
    new_task(MAP, "");
    task->url = SLICE(MAP);
    task_describe(task);
    assert_trace("meta h" ORIGIN "\n  descriptions:\n    " MAP "\nput " ORIGIN "/#plan 97 \n");
    task->before.known = true;
    task_put_plan(task);
    assert_trace("put " ORIGIN "/#plan 97 again\n");
    task_put_sample(task, SLICE(ORIGIN "/id/1"), JOB_RECRAWL);
    assert_trace("output " ORIGIN "/id/1 98 again sample\n");
    assert_false(task_is_sample(task));
    job.document.type = SLICE(SAMPLE_TYPE);
    assert_true(task_is_sample(task));
}

/* Once for each host, as far as the scope goes. */
static void
void_is_asked_for_once(void **state)
{
    (void)state;
    new_task(ORIGIN "/a", "");
    task_ask_void(task);
    assert_trace("output " ORIGIN WELL_KNOWN_VOID " 96 \n");
    task_ask_void(task);
    assert_trace("");
    no_host = true;
    task_ask_void(task);
    assert_trace("output " ORIGIN WELL_KNOWN_VOID " 96 \n");
    task->origin = SLICE("http://outside.example");
    task_ask_void(task);
    assert_trace("refused 1\n");
}

static void
void_is_known_by_its_path(void **state)
{
    static const struct {
        const char *url, *via;
        unsigned hops;
        bool is;
    } cases[] = {
        {ORIGIN WELL_KNOWN_VOID, "", 0, true},
        {ORIGIN WELL_KNOWN_VOID "?a", "", 0, false},
        {OTHER_VOID, ORIGIN WELL_KNOWN_VOID, 1, true},
        {OTHER_VOID, ORIGIN WELL_KNOWN_VOID, 0, false},
        {OTHER_VOID, ORIGIN "/", 1, false},
        {OTHER_VOID, "", 1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        new_task(cases[i].url, "");
        task->url = slice_string(cases[i].url);
        job.job.via = slice_string(cases[i].via);
        job.job.hops = (uint8_t)cases[i].hops;
        assert_int_equal(task_is_void(task), cases[i].is);
        task_free(task);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fragments_tell_the_kinds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_host_without_descriptions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dump_is_sliced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_done_is_done_again_as_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_endpoint_is_harvested, set_up, tear_down),
        cmocka_unit_test_setup_teardown(datasets_with_one_dump_are_sliced_together, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_description_is_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(void_without_a_space_has_its_dumps_fetched_as_documents,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(void_with_a_space_is_sliced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(void_of_another_host_speaks_where_it_is_redirected_to,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(sitemaps_that_join_are_fetched_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_description_goes_by_its_own_uri, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dump_without_a_space_is_not_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_prefix_the_space_is_that_of_the_sitemap, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(so_many_sitemaps_join, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_hosts_are_asked_so_often, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_answer_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_order_of_answers_does_not_matter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_description_has_the_plan_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(void_is_asked_for_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(void_is_known_by_its_path, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("host_plan", tests, NULL, NULL);
}
