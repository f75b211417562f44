/* These tests are of what a host's rules make of a job (stages/fetch/rules.c): robots.txt from the
 * cache, the metadata store or the host, and what is noted of it. The rest of the fetch program,
 * the skeleton, the metadata store and the parsers are stood in for, and tell what was asked of
 * them as lines of a trace. */
#include "tests/unit/stages_fetch/rules_steps.h"

/* ---- robots.txt ---- */

static void
rules_are_fetched_and_noted(void **state)
{
    struct fetch_result result = good;
    (void)state;
    result.body = SLICE("User-agent: *\nDisallow: /dir\nCrawl-delay: 3\nSitemap: " HOST
                        "/a.xml\nSitemap: " HOST "/b.xml\nSchemamap: " HOST "/c.xml\n"
                        "Content-Signal: search=yes\n");
    ask_robots();
    task.asking.ip = SLICE("192.0.2.1");
    finish(&result);
    assert_trace("ended\narchive " ROBOTS " 200\nnote\ndone denied: robots.txt of the host\n");
    assert_int_equal(task.end.counts_as, OUTCOME_DENIED);
    assert_int_equal(noted_number(META_ROBOTS_FETCHED), now_ms);
    assert_int_equal(noted_number(META_ROBOTS_STATUS), 200);
    assert_int_equal(noted_number(META_ROBOTS_EXPIRES), now_ms + DAY_MS);
    assert_int_equal(noted_number(META_CRAWL_DELAY_MS), 3000);

    assert_noted(META_SITEMAPS, HOST "/a.xml\n" HOST "/b.xml\n");
    assert_noted(META_SCHEMAMAPS, HOST "/c.xml\n");
    assert_noted(META_ROBOTS_FAILURE, "");
    assert_noted(META_HOST_IP, "192.0.2.1");
    struct slice text = {0};
    assert_true(meta_record_text(buf_slice(&noted), META_ROBOTS_BODY, &text));
    assert_true(slice_equal(text, result.body));
    const struct host *host = hosts_find(fetch.hosts, SLICE(HOST), now_ms);
    assert_non_null(host);
    assert_int_equal(host->access, HOST_BY_RULES);
    assert_int_equal(host->expires_ms, now_ms + DAY_MS);
    /* What is allowed rests first, now that the delay is known. */
    ask_robots();
    result.body = SLICE("User-agent: *\nDisallow: /other\nCrawl-delay: 4\n");
    finish(&result);
    assert_trace("ended\narchive " ROBOTS " 200\nnote\nrest by 4000\nget\n");
    ask_robots();
    result.body = SLICE("");
    finish(&result);
    assert_trace("ended\narchive " ROBOTS " 200\nnote\nrest by -1\nget\n");
    assert_int_equal(noted_number(META_CRAWL_DELAY_MS), UINT64_MAX);
    assert_noted(META_SITEMAPS, "");
}

static void
statuses_tell_whether_there_are_rules(void **state)
{
    static const struct {
        uint16_t status;
        enum host_access access;
    } cases[] = {{199, HOST_UNREACHABLE}, {200, HOST_BY_RULES},   {299, HOST_BY_RULES},
                 {300, HOST_OPEN},        {399, HOST_OPEN},       {400, HOST_OPEN},
                 {404, HOST_OPEN},        {428, HOST_OPEN},       {429, HOST_UNREACHABLE},
                 {430, HOST_OPEN},        {499, HOST_OPEN},       {500, HOST_UNREACHABLE},
                 {503, HOST_UNREACHABLE}, {599, HOST_UNREACHABLE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fetch_result result = good;
        char wanted[256];
        result.status = cases[i].status;
        ask_robots();
        finish(&result);
        const int n =
            snprintf(wanted, sizeof wanted, "ended\narchive " ROBOTS " %u\n", result.status);
        switch (cases[i].access) {
        case HOST_BY_RULES:
            snprintf(wanted + n, sizeof wanted - (size_t)n,
                     "note\ndone denied: robots.txt of the host\n");
            break;
        case HOST_OPEN:
            snprintf(wanted + n, sizeof wanted - (size_t)n, "note\nrest by 0\nget\n");
            break;
        case HOST_UNREACHABLE:
            snprintf(wanted + n, sizeof wanted - (size_t)n,
                     "note\nwait for host: robots.txt: the server answered %u\n", result.status);
            break;
        }
        assert_trace(wanted);
        const struct host *host = hosts_find(fetch.hosts, SLICE(HOST), now_ms);
        assert_non_null(host);
        assert_int_equal(host->access, cases[i].access);
        assert_int_equal(noted_number(META_ROBOTS_STATUS), result.status);
        assert_int_equal(noted_number(META_ROBOTS_EXPIRES),
                         now_ms + (cases[i].access == HOST_UNREACHABLE ? DELAY_MS : DAY_MS));
        assert_int_equal(no_rules.told, cases[i].access == HOST_UNREACHABLE);
        assert_false(no_rules.told && (no_rules.silent || no_rules.status != result.status));
    }
}

static void
requests_that_fail_are_told_apart(void **state)
{
    static const struct {
        enum fetch_end end;
        const char *trace;
    } cases[] = {
        {FETCH_CROWDED, "ended\nturn back 9\n"},
        {FETCH_NO_MEMORY, "ended\nrelease 1000\n"},
        {FETCH_REFUSED_ADDRESS, "ended\ndone denied: a problem\n"},
        {FETCH_FAILED, "ended\nnote\nwait for host: robots.txt: a problem\n"},
        {FETCH_CUT_TIME, "ended\nnote\nwait for host: robots.txt: a problem\n"},
        {FETCH_CUT_CONNECTION, "ended\nnote\nwait for host: robots.txt: a problem\n"},
        {FETCH_REFUSED_HEADER, "ended\nnote\nwait for host: robots.txt: a problem\n"},
        {FETCH_CUT_LENGTH, "ended\narchive " ROBOTS
                           " 200 cut by length\nnote\ndone denied: robots.txt of the host\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fetch_result result = good;
        result.end = cases[i].end;
        result.problem = "a problem";
        result.silent = i % 2 == 0;
        ask_robots();
        finish(&result);
        assert_trace(cases[i].trace);
        assert_int_equal(freed, result.end == FETCH_NO_MEMORY);
        if (strstr(cases[i].trace, "wait for") != NULL) {
            assert_true(no_rules.told);
            assert_int_equal(no_rules.silent, result.silent);
            assert_int_equal(no_rules.status, 0);
            assert_string_equal(no_rules.reason, "robots.txt: a problem");
            assert_int_equal(noted_number(META_ROBOTS_STATUS), 0);
            assert_noted(META_ROBOTS_FAILURE, "robots.txt: a problem");
        }
    }
    archive_full = true;
    ask_robots();
    finish(&good);
    assert_trace("ended\narchive " ROBOTS " 200\n"); /* the job was released */
}

#define TO(target) "HTTP/1.1 301 x\r\nLocation: " target "\r\n\r\n"

static void
rules_are_followed_five_times(void **state)
{
    struct fetch_result result = good;
    (void)state;
    result.status = 301;
    ask_robots();
    for (int hop = 1; hop <= 5; hop++) {
        result.response_header = SLICE(TO("next.txt"));
        finish(&result);
        assert_trace(hop == 1 ? "ended\narchive " ROBOTS " 301\nask " HOST "/next.txt\n"
                              : "ended\narchive " HOST "/next.txt 301\nask " HOST "/next.txt\n");
    }
    finish(&result);
    assert_trace("ended\narchive " HOST "/next.txt 301\nnote\nrest by 0\nget\n");
    assert_int_equal(hosts_find(fetch.hosts, SLICE(HOST), now_ms)->access, HOST_OPEN);
    /* Nowhere, or to what is no URL. */
    static const struct slice headers[] = {LITERAL("HTTP/1.1 301 x\r\n\r\n"),
                                           LITERAL(TO("mailto:a"))};
    for (size_t i = 0; i < 2; i++) {
        ask_robots();
        result.response_header = headers[i];
        finish(&result);
        assert_trace("ended\narchive " ROBOTS " 301\nnote\nrest by 0\nget\n");
    }
    /* Another host has them, and is in trouble. */
    ask_robots();
    result.response_header = SLICE(TO("http://b.example/r"));
    finish(&result);
    assert_trace("ended\narchive " ROBOTS " 301\nask http://b.example/r\n");
    result.status = 500;
    finish(&result);
    assert_trace("ended\narchive http://b.example/r 500\nnote\nwait for host: robots.txt: the "
                 "server answered 500\n");
}

static void
packed_rules_are_unpacked_elsewhere(void **state)
{
    struct fetch_result result = good;
    struct reason why = {"it is no gzip"};
    (void)state;
    result.response_header = SLICE("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n");
    result.status = 203;
    ask_robots();
    finish(&result);
    assert_trace("ended\narchive " ROBOTS " 203\ndecode gzip 29\n");
    parsed(parsed_context, STATUS_OK, SLICE("User-agent: *\nDisallow: /dir\n"), NULL);
    assert_trace("note\ndone denied: robots.txt of the host\n");
    assert_int_equal(noted_number(META_ROBOTS_STATUS), 203);
    ask_robots();
    finish(&result);
    parsed(parsed_context, STATUS_OK, (struct slice){0}, NULL); /* nothing is in it */
    assert_trace("ended\narchive " ROBOTS " 203\ndecode gzip 29\nnote\nrest by -1\nget\n");
    ask_robots();
    finish(&result);
    parsed(parsed_context, STATUS_BAD_INPUT, (struct slice){0}, &why);
    assert_trace("ended\narchive " ROBOTS " 203\ndecode gzip 29\nnote\n"
                 "wait for host: robots.txt: it is no gzip\n");
    assert_true(no_rules.told && !no_rules.silent);
    ask_robots();
    finish(&result);
    parsed(parsed_context, STATUS_CANCELLED, (struct slice){0}, &why);
    assert_trace("ended\narchive " ROBOTS " 203\ndecode gzip 29\n");
}

/* Another job of the host has brought them meanwhile. */
static void
rules_that_came_are_used(void **state)
{
    const struct fetch_result needless = {.end = FETCH_NEEDLESS, .problem = ""};
    (void)state;
    ask_robots();
    (void)put_host("User-agent: *\nDisallow: /dir\n");
    finish(&needless);
    assert_trace("done denied: robots.txt of the host\n");
}

/* In the place of the program's, of which this is a part. */
int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(rules_are_fetched_and_noted),         CASE(statuses_tell_whether_there_are_rules),
        CASE(requests_that_fail_are_told_apart),   CASE(rules_are_followed_five_times),
        CASE(packed_rules_are_unpacked_elsewhere), CASE(rules_that_came_are_used),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
