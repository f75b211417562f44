/* The fetch program between real daemons and a web of ill-behaved hosts: every end of a job that
 * docs/FETCH.md names, robots.txt asked for once by two processes, sitemaps, recrawls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stages/skeleton/document.h"
#include "tests/unit/stages/fetching.h"
#include "warc/warc.h"

static void
a_page_goes_to_detect_with_its_place_in_the_archive(void **state)
{
    char warc[100];
    struct buf memory;
    struct warc_record record;
    struct document document;
    struct reason why = {""};
    (void)state;
    fetching_put("http://plain.example/a", JOB_SEED);
    fetching_put("http://plain.example/moved", JOB_SEED);
    fetching_wait();
    fetching_check("uhttp://plain.example/a", META_STATE, "fetched");
    fetching_check("uhttp://plain.example/a", META_PAYLOAD_DIGEST, "sha256:");
    fetching_check("uhttp://plain.example/moved", META_STATE, "redirected");
    fetching_check("uhttp://plain.example/moved", META_REDIRECT_TO, "http://plain.example/a");
    struct found_jobs found = fetching_look(STAGE_DETECT, "ready", "http://plain.example/a");
    assert_int_equal(found.n, 1);
    assert_true(document_decode(buf_slice(&found.data), &document));
    assert_int_equal(document.http_status, 200);
    assert_true(slice_is(document.charset, "latin1"));
    assert_true(slice_is(document.link_header, "</b>; rel=x, </c>"));
    snprintf(warc, sizeof warc, "%s/warc", fetching_directory);
    buf_init(&memory, 1 << 20);
    struct warc_reader *reader = warc_reader_open(warc, NULL);
    const enum status status = warc_read(reader, document.response.file, document.response.offset,
                                         document.response.length, &memory, &record, &why);
    assert_string_equal(why.text, "");
    assert_int_equal(status, STATUS_OK);
    assert_true(slice_is(record.body, "<p>a</p>"));
    assert_true(slice_equal(record.id, document.response.id));
    warc_reader_close(reader);
    buf_release(&memory);
    buf_release(&found.data);
    buf_release(&found.reason);
    assert_int_equal(fetch_web_count("plain.example/a"), 1);
    assert_int_equal(fetch_web_count("plain.example/robots.txt"), 1);
}

struct expectation {
    const char *uri, *state, *reason;
    unsigned requests; /* 0: not checked */
};

static void
every_end_has_its_state(void **state)
{
    static const struct expectation expectations[] = {
        {"plain.example/empty", "fetched", "the response has no body", 1},
        {"plain.example/gone", "gone", "", 1},
        {"plain.example/missing", "gone", "", 1},
        {"plain.example/no", "failed", "the server answered 403", 1},
        {"plain.example/late", "fetched", "", 2},
        {"plain.example/never", "failed", "the server answered 500", 3},
        {"plain.example/closes", "failed", "", 0},
        {"plain.example/self", "failed", "redirects to itself", 1},
        {"plain.example/nowhere", "failed", "redirect without a target", 1},
        {"plain.example/outside", "redirected", "", 1},
        {"plain.example/loop", "redirected", "", 1},
        {"plain.example/loop2", "redirected", "", 1},
        {"plain.example/chain0", "redirected", "", 1},
        {"plain.example/chain10", "failed", "more redirects", 1},
        {"plain.example/endless", "fetched", "", 1},
        {"plain.example/header", "failed", "response header larger", 1},
    };
    const size_t n = sizeof expectations / sizeof expectations[0];
    char uri[200];
    (void)state;
    for (size_t i = 0; i < n; i++) {
        snprintf(uri, sizeof uri, "http://%s", expectations[i].uri);
        if (strcmp(expectations[i].uri, "plain.example/loop2") != 0 &&
            strcmp(expectations[i].uri, "plain.example/chain10") != 0) {
            fetching_put(uri, JOB_SEED);
        }
    }
    fetching_wait();
    for (size_t i = 0; i < n; i++) {
        snprintf(uri, sizeof uri, "uhttp://%s", expectations[i].uri);
        fetching_check(uri, META_STATE, expectations[i].state);
        if (expectations[i].reason[0] != '\0') {
            fetching_check(uri, META_REASON, expectations[i].reason);
        }
        if (expectations[i].requests > 0) {
            assert_int_equal(fetch_web_count(expectations[i].uri), expectations[i].requests);
        }
    }
    assert_int_equal(fetching_count_jobs(STAGE_DETECT, "ready", "http://plain.example/endless"), 1);
    assert_int_equal(fetching_count_jobs(STAGE_FETCH, "buried", "http://plain.example/header"), 1);
    assert_int_equal(fetching_count_jobs(STAGE_DETECT, "ready", "http://plain.example/late"), 1);
    assert_int_equal(fetching_count_jobs(STAGE_DETECT, "ready", "http://plain.example/empty"), 0);
    fetching_check("uhttp://plain.example/endless", META_TRUNCATED, "length");
    assert_int_equal(fetch_web_count("outside.test/"), 0);
    assert_int_equal(fetch_web_count("plain.example/robots.txt"), 1);
}

static void
robots_rules_are_obeyed_and_sitemaps_followed(void **state)
{
    (void)state;
    fetching_put("http://rules.example/secret/1", JOB_SEED);
    fetching_put("http://rules.example/open", JOB_SEED);
    fetching_put("http://hop.example/secret", JOB_SEED);
    fetching_put("http://down.example/x", JOB_SEED);
    fetching_put("http://fails.example/x", JOB_SEED);
    fetching_put("http://elsewhere.example/x", JOB_SEED);
    fetching_wait();
    fetching_check("uhttp://rules.example/secret/1", META_STATE, "denied");
    fetching_check("uhttp://rules.example/open", META_STATE, "fetched");
    fetching_check("uhttp://hop.example/secret", META_STATE, "denied");
    fetching_check("uhttp://down.example/x", META_STATE, "");
    fetching_check_aside("http://down.example", 1, "robots.txt: the server answered 503");
    assert_int_equal(fetching_count_jobs(STAGE_FETCH, "aside", "http://down.example/x"), 1);
    assert_int_equal(fetch_web_count("down.example/robots.txt"), 3);
    fetching_check_aside("http://fails.example", 1, "robots.txt: the server answered 500");
    assert_int_equal(fetch_web_count("fails.example/robots.txt"), 3);
    assert_int_equal(fetching_explain("http://fails.example/").troubles, 3);
    fetching_check_aside("http://elsewhere.example", 1, "robots.txt: the server answered 500");
    assert_int_equal(fetching_explain("http://elsewhere.example/").troubles, 3);
    assert_int_equal(fetch_web_count("rules.example/secret/1"), 0);
    assert_int_equal(fetch_web_count("down.example/x"), 0);
    fetching_check("hhttp://rules.example", META_SITEMAPS, "http://maps.example/map.xml\n");
    fetching_check("uhttp://rules.example/from-map", META_STATE, "fetched");
    fetching_check("uhttp://rules.example/from-map", META_VIA, "http://maps.example/1.xml");
    fetching_check("uhttp://rules.example/from-list", META_STATE, "fetched");
    fetching_check("uhttp://foreign.example/x", META_STATE, "");
    /* hop.example has the same robots.txt, so it names the sitemap, too; perhaps later. */
    const unsigned maps = fetch_web_count("maps.example/map.xml");
    assert_true(maps == 1 || maps == 2);
    /* Once for its own sake, once for hop.example. */
    assert_int_equal(fetch_web_count("rules.example/robots.txt"), 2);
}

/* Without limits these have no end: indexes are no deeper than what lists them. */
static void
indexes_of_sitemaps_end_at_their_limits(void **state)
{
    (void)state;
    fetching_put("http://nest.example/a", JOB_SEED);
    fetching_put("http://wide.example/a", JOB_SEED);
    fetching_put("http://names.example/a", JOB_SEED);
    fetching_wait();
    assert_int_equal(fetch_web_count("nest.example/nest3"), 1);
    assert_int_equal(fetch_web_count("nest.example/nest4"), 0);
    fetching_check("uhttp://nest.example/nest2", META_SITEMAP_TRUNCATED, "");
    fetching_check("uhttp://nest.example/nest3", META_SITEMAP_TRUNCATED,
                   "more indexes above a sitemap than are followed");
    assert_int_equal(fetch_web_count("wide.example/5"), 1);
    assert_int_equal(fetch_web_count("wide.example/6"), 0);
    fetching_check("uhttp://wide.example/wide", META_SITEMAP_TRUNCATED,
                   "more sitemaps of the host than sitemaps.files");
    assert_int_equal(fetching_number("hhttp://wide.example", META_SITEMAP_FILES), 5);
    /* Sitemaps that another host names are fetched again, and so are those that they list. */
    assert_in_range(fetch_web_count("ring.example/1"), 1, 6);
    assert_in_range(fetch_web_count("ring.example/2"), 1, 6);
}

static void
sitemaps_are_followed_again_at_a_smaller_depth(void **state)
{
    (void)state;
    fetching_put_at("http://deep.example/x", 0, 5);
    fetching_wait();
    assert_int_equal(fetch_web_count("deep.example/map.xml"), 1);
    fetching_check("uhttp://deep.example/entry", META_STATE, "fetched");
    assert_int_equal(fetching_depth("hhttp://deep.example"), 5);
    assert_int_equal(fetching_depth("uhttp://deep.example/entry"), 6);
    fetching_put_at("http://deep.example/y", 0, 7);
    fetching_wait();
    assert_int_equal(fetch_web_count("deep.example/map.xml"), 1);
    fetching_put_at("http://deep.example/z", 0, 1);
    fetching_wait();
    assert_int_equal(fetch_web_count("deep.example/map.xml"), 2);
    assert_int_equal(fetch_web_count("deep.example/entry"), 1);
    assert_int_equal(fetching_depth("hhttp://deep.example"), 1);
    assert_int_equal(fetching_count_jobs(STAGE_EXTRACT, "ready", "http://deep.example/entry"), 1);
}

/* After the first good page, once; where it is one, again at a smaller depth. */
static void
a_sitemap_that_nobody_names_is_looked_for(void **state)
{
    (void)state;
    fetching_put_at("http://unnamed.example/missing", 0, 4);
    fetching_wait();
    assert_int_equal(fetch_web_count("unnamed.example/sitemap.xml"), 0);
    fetching_put_at("http://unnamed.example/a", 0, 4);
    fetching_put("http://away.example/a", JOB_SEED);
    fetching_put("http://page.example/a", JOB_SEED);
    fetching_put("http://shut.example/a", JOB_SEED);
    fetching_wait();
    fetching_check("hhttp://unnamed.example", META_SITEMAP_GUESS, "found");
    fetching_check("uhttp://unnamed.example/sitemap.xml", META_VIA,
                   "http://unnamed.example/robots.txt");
    fetching_check("uhttp://unnamed.example/entry", META_STATE, "fetched");
    assert_int_equal(fetching_depth("uhttp://unnamed.example/entry"), 5);
    fetching_put_at("http://unnamed.example/b", 0, 6);
    fetching_wait();
    assert_int_equal(fetch_web_count("unnamed.example/sitemap.xml"), 1);
    fetching_put_at("http://unnamed.example/c", 0, 1);
    fetching_wait();
    assert_int_equal(fetch_web_count("unnamed.example/sitemap.xml"), 2);
    assert_int_equal(fetching_number("hhttp://unnamed.example", META_SITEMAP_GUESS_DEPTH), 1);
    assert_int_equal(fetching_count_jobs(STAGE_EXTRACT, "ready", "http://unnamed.example/entry"),
                     1);
    fetching_check("hhttp://away.example", META_SITEMAP_GUESS, "found");
    fetching_check("uhttp://away.example/entry", META_VIA, "http://away.example/maps/all.xml");
    /* What is there may be a page. */
    fetching_check("hhttp://page.example", META_SITEMAP_GUESS, "what is there is none");
    fetching_check("uhttp://page.example/sitemap.xml", META_STATE, "fetched");
    assert_int_equal(fetch_web_count("page.example/b"), 0);
    fetching_check("hhttp://shut.example", META_SITEMAP_GUESS, "robots.txt of the host");
    assert_int_equal(fetch_web_count("shut.example/sitemap.xml"), 0);
    /* No document: it has no state that a report would count. */
    fetching_check("hhttp://plain.example", META_SITEMAP_GUESS, "gone");
    fetching_check("uhttp://plain.example/sitemap.xml", META_STATE, "");
    assert_int_equal(fetch_web_count("plain.example/sitemap.xml"), 1);
    assert_int_equal(fetch_web_count("rules.example/sitemap.xml"), 0);
}

/* One document's 503 makes the whole host rest; a good answer ends that. */
static void
trouble_slows_the_whole_host(void **state)
{
    (void)state;
    fetching_put("http://busy.example/a", JOB_SEED);
    fetching_wait_for_request("busy.example/a");
    fetching_put("http://busy.example/b", JOB_SEED);
    fetching_put("http://busy.example/c", JOB_SEED);
    fetching_wait_for_request("busy.example/b");
    /* The server notes a request before it answers it, so the rest begins later than that. */
    assert_true(fetch_web_moment("busy.example/b") - fetch_web_moment("busy.example/a") >= 300);
    fetching_wait();
    fetching_check("uhttp://busy.example/a", META_STATE, "fetched");
    fetching_check("uhttp://busy.example/c", META_STATE, "fetched");
    assert_int_equal(fetching_explain("http://busy.example/").troubles, 0);
    assert_in_range(fetching_explain("http://busy.example/").response_ms, 1, 9999);
}

/* Only those of its own host are taken. */
static void
late_robots_and_sitemaps_hold_up_no_pages(void **state)
{
    static const char *const late[] = {"late.example/robots.txt", "late.example/map.xml"};
    static const char *const pages_meanwhile[] = {"rules.example/meanwhile", "rules.example/also"};
    char uri[64];
    (void)state;
    fetching_put("http://late.example/a", JOB_SEED);
    for (size_t i = 0; i < 2; i++) {
        fetching_wait_for_request(late[i]);
        snprintf(uri, sizeof uri, "http://%s", pages_meanwhile[i]);
        fetching_put(uri, JOB_SEED);
        fetching_wait_for_request(pages_meanwhile[i]);
        assert_int_equal(fetch_web_count(i == 0 ? "late.example/a" : "late.example/entry"), 0);
        fetch_web_answer_late();
    }
    fetching_wait();
    fetching_check("uhttp://late.example/a", META_STATE, "fetched");
    assert_int_equal(fetch_web_count("late.example/entry"), 1);
}

static void
a_recrawl_is_conditional_and_empties_what_is_gone(void **state)
{
    (void)state;
    fetching_put("http://plain.example/a", JOB_SEED | JOB_RECRAWL);
    fetching_put("http://plain.example/gone", JOB_SEED | JOB_RECRAWL);
    fetching_wait();
    assert_int_equal(fetch_web_count("plain.example/a if"), 1);
    assert_int_equal(fetching_number("uhttp://plain.example/a", META_HTTP_STATUS), 304);
    fetching_check("uhttp://plain.example/a", META_STATE, "fetched"); /* of what detect has */
    fetching_check("uhttp://plain.example/a", META_REASON, "");
    fetching_check("uhttp://plain.example/a", META_ETAG, "\"1\"");
    assert_int_equal(fetching_count_jobs(STAGE_DETECT, "ready", "http://plain.example/a"), 1);
    struct document document;
    struct found_jobs found = fetching_look(STAGE_INDEX, "ready", "http://plain.example/gone");
    assert_int_equal(found.n, 1);
    assert_true(document_decode(buf_slice(&found.data), &document));
    assert_true(document.removed);
    buf_release(&found.data);
    buf_release(&found.reason);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_goes_to_detect_with_its_place_in_the_archive),
        cmocka_unit_test(every_end_has_its_state),
        cmocka_unit_test(robots_rules_are_obeyed_and_sitemaps_followed),
        cmocka_unit_test(indexes_of_sitemaps_end_at_their_limits),
        cmocka_unit_test(sitemaps_are_followed_again_at_a_smaller_depth),
        cmocka_unit_test(a_sitemap_that_nobody_names_is_looked_for),
        cmocka_unit_test(trouble_slows_the_whole_host),
        cmocka_unit_test(late_robots_and_sitemaps_hold_up_no_pages),
        cmocka_unit_test(a_recrawl_is_conditional_and_empties_what_is_gone),
    };
    if (!fetching_find_programs()) {
        puts("the programs are not built: make all");
        return 77;
    }
    return cmocka_run_group_tests_name("fetch_stage", tests, fetching_start, fetching_stop);
}
