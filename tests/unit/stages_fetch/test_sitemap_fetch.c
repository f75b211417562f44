/* These tests are of what a sitemap's entries become (stages/fetch/sitemap_entries.c,
 * sitemap_fetch.c): which of them it may list, what is new, claimed to have changed, or over a
 * budget. The rest of the fetch program, the skeleton, the scope, the metadata store and the
 * parsers are stood in for, and tell what was asked of them as lines of a trace. */
#include "tests/unit/stages_fetch/sitemap_steps.h"

/* ---- what is a sitemap ---- */

static void
only_what_may_be_one_is_parsed(void **state)
{
    static const struct {
        const char *type, *coding, *body;
        bool sitemaps, plan;
        const char *trace;
    } cases[] = {
        {SITEMAP_TYPE, "", "text", true, false, "parse '' 4 named\n"},
        {SITEMAP_TYPE, "", "text", true, true, "parse '' 4 named described\n"},
        {SITEMAP_TYPE, "", "text", false, false, "done fetched: \n"},
        {GUESS_TYPE, "", "text", true, false, "guess: what is there is none\ndone fetched: \n"},
        {GUESS_TYPE, "", "<urlset>", true, false, "parse '' 8\n"},
        {"", "", "text", true, false, "done fetched: \n"},
        {"", "", "<urlset>", true, false, "parse '' 8\n"},
        {"", "", "<urlset>", false, false, "done fetched: \n"},
        {"", "gzip", "text", true, false, "parse 'gzip' 4\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[TEXT] = "HTTP/1.1 200 OK\r\n\r\n";
        if (cases[i].coding[0] != '\0') {
            snprintf(header, sizeof header, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n",
                     cases[i].coding);
        }
        const struct fetch_result result = {.status = 200,
                                            .response_header = slice_string(header),
                                            .body = slice_string(cases[i].body)};
        make_task(MAP, cases[i].type);
        fetch.sitemaps.followed = cases[i].sitemaps;
        fetch.datasets.plan = cases[i].plan;
        task_follow_sitemap(&task, &result);
        assert_trace(cases[i].trace);
    }
    make_task(MAP "#listing", SITEMAP_TYPE);
    task_list(&task, SLICE("br"), SLICE("bytes"));
    assert_trace("parse 'br' 5 named\n");
}

static void
what_workers_say_is_told(void **state)
{
    struct reason why = {"it died"};
    (void)state;
    for (int named = 0; named < 2; named++) {
        make_task(MAP, named != 0 ? SITEMAP_TYPE : "");
        begin();
        parsed(parsed_context, STATUS_TIMEOUT, (struct slice){0}, &why);
        assert_trace(named != 0 ? "done fetched: it died\n" : "done fetched: \n");
        parsed(parsed_context, STATUS_OK, SLICE("\1nonsense"), &why);
        assert_trace(named != 0 ? "done fetched: it died\n" : "done fetched: \n");
        parsed(parsed_context, STATUS_CANCELLED, (struct slice){0}, &why);
        assert_trace(""); /* the process ends */
        parsed(parsed_context, STATUS_OK, (struct slice){"\0", 1}, &why);
        assert_trace("done fetched: \n");
    }
    make_task(MAP, GUESS_TYPE);
    begin();
    parsed(parsed_context, STATUS_OK, (struct slice){"\0", 1}, &why);
    assert_trace("guess: what is there is none\ndone fetched: \n");
    make_task(MAP "#listing", SITEMAP_TYPE);
    begin();
    parsed(parsed_context, STATUS_OK, (struct slice){"\0", 1}, &why);
    assert_trace("done as it is: \n");
}

static void
what_is_none_is_said_of_those_that_are_named(void **state)
{
    (void)state;
    begin();
    answer(SITEMAP_NONE, false, "it is a page");
    assert_trace(LOOK);
    answer_host();
    assert_trace(SUBMITTER "done fetched: \n");
    assert_meta(META_REASON, "it is a page", 0);
    assert_meta(META_SITEMAP_ENTRIES, NULL, UINT64_MAX);
    make_task(MAP, "");
    begin();
    answer(SITEMAP_NONE, false, "it is a page");
    answer_host();
    assert_meta(META_REASON, "", 0);
}

/* ---- entries ---- */

static void
entries_are_put_one_deeper(void **state)
{
    (void)state;
    fetch.recrawl.on = true;
    set_number(&host, META_SITEMAP_PERIOD, now_ms - 1);
    set_number(&host, META_SITEMAP_SUBMITTED, 7);
    set_number(&host, META_SITEMAP_EXCESS, 8);
    set_number(&host, META_SITEMAP_FILES, 9);
    begin();
    list("/dir/one", 0, "", 50, "", "");
    list("two", now_ms - day_ms, "daily", 100, "", "image x\n");
    list("/dir/one", 0, "", 80, "", ""); /* again */
    answer(SITEMAP_URLSET, true, "");
    assert_trace(LOOK);
    answer_host();
    assert_trace("look for s" HOST "/dir/one s" HOST "/dir/two\n");
    answer_records(2);
    char wanted[4096];
    snprintf(wanted, sizeof wanted,
             "note s" HOST "/dir/one '" MAP "' seen 50 listed\n"
             "note s" HOST "/dir/two '" MAP "' seen 100 %llu 'daily' 'image x\n' listed\n"
             "note h" HOST " %llu 9 8 read 9\n"
             "put " HOST "/dir/one depth 5 priority 159 flags 32\n"
             "put " HOST "/dir/two depth 5 priority 128 flags 32 claims 0 daily\n"
             "describe\ndone fetched: \n",
             (unsigned long long)(now_ms - day_ms), (unsigned long long)(now_ms - 1));
    assert_trace(wanted);
    assert_meta(META_SITEMAP_SUBMITTER, HOST, 0);
    assert_meta(META_SITEMAP_KIND, "urlset", 0);
    assert_meta(META_SITEMAP_ENTRIES, NULL, 3);
    assert_meta(META_SITEMAP_NEW, NULL, 2);
    assert_meta(META_SITEMAP_NESTING, NULL, 0);
    assert_meta(META_SITEMAP_TRUNCATED, "", 0);
}

static void
records_that_do_not_come_release(void **state)
{
    const struct reason why = {"no answer"};
    (void)state;
    for (int step = 0; step < 3; step++) {
        make_task(MAP, SITEMAP_TYPE);
        clear_records();
        fetch.recrawl.on = true;
        begin();
        list("/dir/one", now_ms, "", 50, "", "");
        answer(SITEMAP_URLSET, false, "");
        if (step > 0) {
            answer_host();
        }
        if (step > 1) {
            set_number(&records[0], META_SITEMAP_SEEN, 1);
            set_number(&records[0], META_SITEMAP_LASTMOD, 1);
            answer_records(1);
        }
        buf_reset(&trace);
        got(got_context, STATUS_UNAVAILABLE, NULL, 0, &why);
        assert_trace("release 1000: metadata could not be read: no answer\n");
        assert_true(freed);
    }
}

/* Where it lies, and who names it, says of what it may speak. */
static void
sitemaps_speak_for_their_place(void **state)
{
    static const struct {
        const char *location, *type, *submitter, *origins;
        bool obey, taken;
    } cases[] = {
        {"/dir/x", "", HOST, "", true, true},
        {"/other", "", HOST, "", true, false},
        {"/other", "", HOST, "", false, true},
        {"/other", SITEMAP_TYPE, HOST, "", true, true}, /* robots.txt names it */
        {"http://b.example/", "", HOST, "", false, false},
        {"http://b.example/", SITEMAP_TYPE, "http://b.example", "", true, true},
        {"http://b.example/", SITEMAP_TYPE, HOST, "", true, false},
        {"http://b.example/", "", HOST, "http://c.example\nhttp://b.example", true, true},
        {"http://b.example/", "", HOST, "http://c.example", true, false},
        {"/dir/out", "", HOST, "", true, false},
        {"mailto:a@b", "", HOST, "", true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clear_records();
        make_task(MAP, cases[i].type);
        job.document.content_type = slice_string(cases[i].submitter);
        fetch.sitemaps.obey_location = cases[i].obey;
        if (cases[i].origins[0] != '\0') {
            set_text(&naming, META_SITEMAP_FOR, cases[i].origins);
        }
        begin();
        list(cases[i].location, 0, "", 50, "", "");
        answer(SITEMAP_URLSET, false, "");
        answer_host();
        assert_int_equal(strstr(trace.data, "look for s") != NULL, cases[i].taken);
        assert_int_equal(strstr(trace.data, "scope refused") != NULL, i == 9);
        if (cases[i].taken) {
            answer_records(1);
        }
        assert_int_equal(strstr(trace.data, "put ") != NULL, cases[i].taken);
        assert_meta(META_SITEMAP_REFUSED, NULL, i == 4 || i == 6 || i == 8 ? 1 : 0);
        assert_meta(META_SITEMAP_OUTSIDE, NULL, i == 1 || i == 2 ? 1 : 0);
        buf_reset(&trace);
    }
    clear_records();
    make_task(MAP, SITEMAP_TYPE);
    begin();
    list("/dir/out1", 0, "", 50, "", "");
    list("/dir/out2", 0, "", 50, "", "");
    answer(SITEMAP_URLSET, false, "");
    answer_host(); /* it is noted once */
    assert_trace(LOOK "scope refused\n" SUBMITTER "done fetched: \n");
}

/* An entry's translations come behind all entries, which say more. */
static void
translations_are_entries(void **state)
{
    (void)state;
    begin();
    list("/dir/en", 0, "", 90, "de " HOST "/dir/de\nfr " HOST "/dir/fr\n", "");
    list("/dir/de", 0, "", 10, "", "");
    answer(SITEMAP_URLSET, false, "");
    answer_host();
    assert_trace(LOOK "look for s" HOST "/dir/en s" HOST "/dir/de s" HOST "/dir/fr\n");
    answer_records(3);
    assert_non_null(strstr(trace.data, "note s" HOST "/dir/de '" MAP "' seen 10 listed\n"));
    assert_non_null(strstr(trace.data, "note s" HOST "/dir/fr '" MAP "' seen 90 listed\n"));
}

static void
many_entries_are_looked_for_in_turn(void **state)
{
    (void)state;
    quiet = true;
    begin();
    for (int i = 0; i < CHUNK + 3; i++) {
        char uri[TEXT];
        snprintf(uri, sizeof uri, "/dir/%d", i);
        list(uri, 0, "", 50, "", "");
    }
    answer(SITEMAP_URLSET, false, "");
    answer_host();
    answer_records(CHUNK);
    answer_records(3);
    assert_trace("done fetched: \n");
    assert_meta(META_SITEMAP_NEW, NULL, CHUNK + 3);
    assert_meta(META_SITEMAP_ENTRIES, NULL, CHUNK + 3);
}

/* In the place of the program's, of which these are parts. */
int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(only_what_may_be_one_is_parsed),
        CASE(what_workers_say_is_told),
        CASE(what_is_none_is_said_of_those_that_are_named),
        CASE(entries_are_put_one_deeper),
        CASE(records_that_do_not_come_release),
        CASE(sitemaps_speak_for_their_place),
        CASE(translations_are_entries),
        CASE(many_entries_are_looked_for_in_turn),
    };
    return cmocka_run_group_tests_name("sitemap_fetch", tests, NULL, NULL);
}
