/* These tests are of what a job does by the rules that are known of its host, and takes of it:
 * sitemaps, what comes out of dumps (stages/fetch/rules.c). rules_steps.h stands in for the others.
 */
#include "tests/unit/stages_fetch/rules_steps.h"

/* ---- what is known ---- */

static void
known_rules_decide_at_once(void **state)
{
    (void)state;
    (void)put_host("User-agent: *\nDisallow: /dir\n");
    task_check_rules(&task);
    assert_trace("done denied: robots.txt of the host\n");
    (void)put_host(NULL);
    make_task();
    task_check_rules(&task);
    assert_trace("get\n");
    assert_int_equal(crawl_delay_ms, 0);
    make_task();
    job.job.deaths = 1; /* it was asked by a process that died */
    task_check_rules(&task);
    assert_trace("rest by 0\nget\n");
    job.job.deaths = 0;
    (void)put_host("User-agent: *\nCrawl-delay: 2\nContent-Signal: ai-train=no\n");
    make_task();
    task_check_rules(&task);
    assert_trace("get\n");
    assert_int_equal(crawl_delay_ms, 2000);
    fetch.robots.signals = true;
    (void)put_host("User-agent: *\nTDM-Reservation: 1\n");
    make_task();
    task_check_rules(&task);
    assert_trace("done denied: robots.txt of the host reserves its use: fetch.robots_signals\n");
    assert_int_equal(task.end.counts_as, OUTCOME_DENIED);
    fetch.robots.signals = false;
    make_task();
    task_check_rules(&task);
    assert_trace("get\n");
}

static void
hosts_without_rules_are_waited_for(void **state)
{
    (void)state;
    (void)hosts_put(fetch.hosts, SLICE(HOST), HOST_UNREACHABLE, NULL, now_ms + 300, "it is away");
    task_check_rules(&task);
    assert_trace("wait for host: it is away\n");
    assert_int_equal(task.report.rest_ms, 300);
    assert_int_equal(crawl_delay_ms, -2); /* what was known before stands */
    make_task();
    task.report.asked = true; /* it is told of its rest otherwise */
    task_check_rules(&task);
    assert_trace("wait for host: it is away\n");
    assert_int_equal(task.report.rest_ms, 0);
}

static void
records_stand_for_requests(void **state)
{
    static const struct {
        uint64_t expires_ms, status;
        const char *failure, *body, *trace;
    } cases[] = {
        {0, 200, "", "User-agent: *\nDisallow: /dir\n", "ask " ROBOTS "\n"},
        {1, 200, "", "User-agent: *\nDisallow: /dir\n", "done denied: robots.txt of the host\n"},
        {1, 299, "", "User-agent: *\nDisallow: /dir\n", "done denied: robots.txt of the host\n"},
        {1, 199, "", "User-agent: *\nDisallow: /dir\n", "get\n"},
        {1, 300, "", "User-agent: *\nDisallow: /dir\n", "get\n"},
        {1, 404, "", "", "get\n"},
        {1, 200, "", "", "get\n"},
        {700, 500, "it is away", "", "wait for host: it is away\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[256];
        forget_hosts();
        clear_records();
        make_task();
        set_number(0, META_ROBOTS_EXPIRES, now_ms + cases[i].expires_ms);
        set_number(0, META_ROBOTS_STATUS, cases[i].status);
        set_text(0, META_ROBOTS_FAILURE, cases[i].failure);
        set_text(0, META_ROBOTS_BODY, cases[i].body);
        task_check_rules(&task);
        answer_records(1);
        snprintf(wanted, sizeof wanted, "look for h" HOST "\nvisit 100\n%s", cases[i].trace);
        assert_trace(wanted);
        assert_int_equal(task.report.rest_ms, cases[i].expires_ms == 700 ? 700 : 0);
    }
}

static void
records_that_do_not_come_put_off(void **state)
{
    const struct reason why = {"it does not answer"};
    (void)state;
    task_check_rules(&task);
    got(got_context, STATUS_UNAVAILABLE, NULL, 0, &why);
    assert_trace("look for h" HOST "\nput off: it does not answer\n");
    assert_true(freed);
}

/* Who does not obey robots.txt asks for no rules, and reads only what a second visit needs. */
static void
without_robots_documents_are_asked_for(void **state)
{
    (void)state;
    fetch.robots.obeyed = false;
    task_check_rules(&task);
    assert_trace("get\n");
    make_task();
    job.job.generation = 2;
    task_check_rules(&task);
    answer_records(2);
    assert_trace("look for h" HOST " u" PAGE "\nvisit 000\nget\n");
}

static void
second_visits_know_of_the_first(void **state)
{
    static const struct {
        uint8_t flags;
        uint64_t generation;
        bool recrawl;
        const char *keys;
    } cases[] = {{0, 1, true, "h" HOST},
                 {JOB_RECRAWL, 1, false, "h" HOST " u" PAGE},
                 {0, 2, false, "h" HOST " u" PAGE},
                 {0, 2, true, "h" HOST " u" PAGE " s" PAGE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[256];
        const size_t n = i == 0 ? 1 : cases[i].recrawl ? 3 : 2;
        forget_hosts();
        if (i > 0) {
            (void)put_host(NULL); /* is not enough then */
        }
        clear_records();
        set_number(0, META_ROBOTS_EXPIRES, now_ms + HOUR_MS);
        set_text(0, META_DESCRIPTIONS, HOST "/other\n" PAGE "\n");
        set_text(1, META_ETAG, "\"e\"");
        set_text(1, META_LAST_MODIFIED, "yesterday");
        set_text(2, META_STATE, "x");
        fetch.recrawl.on = cases[i].recrawl;
        job.job.flags = cases[i].flags;
        job.job.generation = cases[i].generation;
        make_task();
        task_check_rules(&task);
        answer_records(n);
        snprintf(wanted, sizeof wanted, "look for %s\nvisit 1%d%d\nget\n", cases[i].keys, n > 1,
                 n > 2);
        assert_trace(wanted);
        assert_int_equal(task.before.known, n > 1);
        assert_int_equal(task.before.describes, n > 1);
        assert_true(slice_is(task.before.etag, n > 1 ? "\"e\"" : ""));
        assert_true(slice_is(task.before.last_modified, n > 1 ? "yesterday" : ""));
    }
    buf_reset(&records[0]);
    set_text(0, META_DESCRIPTIONS, HOST "/other\n");
    make_task();
    task_check_rules(&task);
    answer_records(2);
    assert_false(task.before.describes);
    buf_reset(&trace);
    make_task();
    spares = true;
    task_check_rules(&task);
    answer_records(2);
    assert_trace("look for h" HOST " u" PAGE " s" PAGE "\nvisit 110\ndone as it is: nothing\n");
    assert_int_equal(task.end.visit, VISIT_PUT_OFF);
    make_task();
    superseded = true;
    task_check_rules(&task);
    answer_records(2);
    assert_trace("look for h" HOST " u" PAGE " s" PAGE "\nnothing to do\n");
    assert_true(freed);
    make_task();
    job.job.generation = 1;
    job.job.flags = 0;
    forget_hosts();
    task_check_rules(&task);
    answer_records(1); /* of a first visit nothing can supersede */
    assert_trace("look for h" HOST "\nvisit 100\ndone as it is: nothing\n");
}

/* ---- sitemaps ---- */

#define MAPS "Sitemap: " HOST "/a.xml\nSitemap: " HOST "/b.xml\nSchemamap: " HOST "/c.xml\n"

static void
sitemaps_of_the_host_go_with_its_first_job(void **state)
{
    struct host *host = put_host(MAPS);
    (void)state;
    fetch.sitemaps.followed = true;
    task_check_rules(&task);
    assert_trace("look for h" HOST "\n"); /* another process may have queued them */
    answer_records(1);
    assert_trace("visit 000\nget\n");
    assert_int_equal(task.sitemaps.count, 3);
    assert_true(slice_is(task.sitemaps.urls[0], HOST "/a.xml"));
    assert_true(slice_is(task.sitemaps.urls[1], HOST "/b.xml"));
    assert_true(slice_is(task.sitemaps.urls[2], HOST "/c.xml"));
    assert_true(task.sitemaps.mapped);
    assert_false(task.sitemaps.again);
    assert_false(task.sitemaps.guess);
    fetch.sitemaps.files = 2;
    make_task();
    host->sitemaps_depth = 3; /* deeper than this job */
    task_check_rules(&task);
    answer_records(1);
    assert_int_equal(task.sitemaps.count, 2);
    assert_true(task.sitemaps.again);
    buf_reset(&trace);
    make_task();
    host->sitemaps_depth = 2;
    task_check_rules(&task);
    assert_trace("get\n");
    assert_int_equal(task.sitemaps.count, 0);
    assert_true(task.sitemaps.mapped);
    host->sitemaps_depth = UINT32_MAX;
    make_task();
    set_number(0, META_DEPTH, 2); /* as another process says */
    task_check_rules(&task);
    answer_records(1);
    assert_int_equal(task.sitemaps.count, 0);
    assert_int_equal(host->sitemaps_depth, 2);
    buf_reset(&trace);
    host->sitemaps_depth = UINT32_MAX;
    make_task();
    task.resource = true; /* of another document */
    task_check_rules(&task);
    assert_trace("get\n");
    assert_int_equal(task.sitemaps.count, 0);
    fetch.sitemaps.followed = false;
    make_task();
    task_check_rules(&task);
    assert_trace("get\n");
    assert_false(task.sitemaps.mapped);
}

static void
a_sitemap_is_guessed_where_none_is_named(void **state)
{
    static const struct {
        uint32_t depth;
        bool found, guesses, again, looks;
    } cases[] = {{UINT32_MAX, false, true, false, true},
                 {3, true, true, true, true},
                 {2, true, false, false, false},
                 {3, false, false, false, true},
                 {2, false, false, false, false}};
    struct host *host = put_host(NULL);
    (void)state;
    fetch.sitemaps.followed = fetch.sitemaps.guessed = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        host->guess_depth = cases[i].depth;
        host->guess_found = cases[i].found;
        make_task();
        task_check_rules(&task);
        assert_trace(cases[i].looks ? "look for h" HOST "\n" : "get\n");
        if (cases[i].looks) {
            answer_records(1);
            assert_trace("visit 000\nget\n");
        }
        assert_int_equal(task.sitemaps.guess, cases[i].guesses);
        assert_int_equal(task.sitemaps.count, cases[i].guesses ? 1 : 0);
        assert_int_equal(task.sitemaps.again, cases[i].again);
        assert_int_equal(task.sitemaps.mapped, cases[i].found);
        if (cases[i].guesses) {
            assert_true(slice_is(task.sitemaps.urls[0], "/sitemap.xml"));
        }
    }
    host->guess_depth = UINT32_MAX;
    make_task();
    job.document.type = SLICE(SITEMAP_TYPE); /* is one itself */
    task_check_rules(&task);
    assert_trace("get\n");
    job.document.type = (struct slice){0};
    fetch.sitemaps.guessed = false;
    make_task();
    task_check_rules(&task);
    assert_trace("get\n");
    fetch.sitemaps.guessed = true;
    (void)hosts_put(fetch.hosts, SLICE(HOST), HOST_UNREACHABLE, NULL, now_ms + 5, "away");
    make_task();
    task_check_rules(&task);
    assert_trace("wait for host: away\n");
    assert_int_equal(task.report.rest_ms, 5);
    assert_int_equal(task.sitemaps.count, 0);
}

static void
what_others_know_of_guesses_is_taken(void **state)
{
    static const struct {
        const char *outcome;
        uint64_t depth;
        bool found;
        uint32_t then;
    } cases[] = {{NULL, 4, false, 4},
                 {GUESS_FOUND, 4, true, 4},
                 {"it is none", 4, false, 0},
                 {GUESS_FOUND, 9, true, 9}};
    (void)state;
    fetch.sitemaps.followed = fetch.sitemaps.guessed = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forget_hosts();
        clear_records();
        set_number(0, META_ROBOTS_EXPIRES, now_ms + HOUR_MS);
        set_number(0, META_SITEMAP_GUESS_DEPTH, cases[i].depth);
        if (cases[i].outcome != NULL) {
            set_text(0, META_SITEMAP_GUESS, cases[i].outcome);
        }
        make_task();
        task_check_rules(&task);
        answer_records(1);
        buf_reset(&trace);
        const struct host *host = hosts_find(fetch.hosts, SLICE(HOST), now_ms);
        assert_int_equal(host->guess_found, cases[i].found);
        assert_int_equal(host->guess_depth, cases[i].then);
        assert_int_equal(task.sitemaps.guess, cases[i].found);
    }
}

static void
jobs_for_refused_sitemaps_take_all(void **state)
{
    struct host *host = put_host(MAPS);
    (void)state;
    job.job.uri = SLICE(HOST "/#sitemaps");
    host->sitemaps_depth = 0;
    fetch.sitemaps.followed = true;
    make_task();
    task_check_rules(&task);
    answer_records(1);
    assert_trace("look for h" HOST "\nvisit 000\nrefused sitemaps\n");
    assert_int_equal(task.sitemaps.count, 3);
    assert_false(task.sitemaps.again);
    (void)put_host("User-agent: *\nDisallow: /\n"); /* says nothing of who asks for nothing */
    make_task();
    task_check_rules(&task);
    assert_trace("refused sitemaps\n");
    assert_int_equal(task.sitemaps.count, 0);
    fetch.sitemaps.guessed = true;
    make_task();
    task_check_rules(&task);
    answer_records(1);
    assert_trace("look for h" HOST "\nvisit 000\nrefused sitemaps\n");
    assert_int_equal(task.sitemaps.count, 1);
    assert_true(task.sitemaps.guess);
}

/* What another node knows of a sitemap is asked for first. */
static void
sitemaps_wait_for_the_node_that_knows_them(void **state)
{
    const struct reason why = {"it does not answer"};
    (void)state;
    (void)put_host(NULL);
    job.document.type = SLICE(SITEMAP_TYPE);
    elsewhere = true;
    task_check_rules(&task);
    assert_trace("look for u" PAGE "\n");
    got(got_context, STATUS_OK, NULL, 0, NULL);
    assert_trace("get\n");
    assert_true(task.robots.readable);
    make_task();
    task_check_rules(&task);
    got(got_context, STATUS_UNAVAILABLE, NULL, 0, &why);
    assert_trace("look for u" PAGE "\nput off: it does not answer\n");
    assert_true(freed);
    elsewhere = false;
    make_task();
    task_check_rules(&task);
    assert_trace("get\n");
    /* One that is read again for its entries is needed whole; a visit of its own is not. */
    set_text(1, META_ETAG, "\"e\"");
    job.job.generation = 2;
    for (uint64_t due_ms = 0; due_ms < 2; due_ms++) {
        job.job.due_ms = due_ms;
        make_task();
        task_check_rules(&task);
        answer_records(2);
        assert_int_equal(task.before.known, due_ms > 0);
        assert_int_equal(task.before.etag.length, due_ms > 0 ? 3 : 0);
    }
}

/* ---- dumps ---- */

static void
covered_documents_come_out_of_dumps(void **state)
{
    struct host *host = put_host(NULL);
    (void)state;
    host_set_cover(host, SLICE(HOST "/dir/ " HOST "/data\n"), SLICE(HOST "/ Somebody\n"), now_ms);
    task_check_rules(&task);
    assert_trace("done covered: comes out of dumps: " HOST "/data\n");
    assert_true(task.end.handed_on);
    assert_true(slice_is(task.end.authority, "Somebody"));
    make_task();
    task.resource = true;
    task_check_rules(&task);
    assert_trace("get\n");
    assert_false(task.end.handed_on);
    static const char *const types[] = {SITEMAP_TYPE, GUESS_TYPE, SAMPLE_TYPE};
    for (size_t i = 0; i < 3; i++) {
        job.document.type = slice_string(types[i]);
        make_task();
        task_check_rules(&task);
        assert_trace("get\n");
    }
    job.document.type = (struct slice){0};
    job.job.uri = SLICE(HOST "/elsewhere");
    make_task();
    task_check_rules(&task);
    assert_trace("get\n");
}

/* What is covered is looked up again: the less came of it, the later. */
static void
covers_are_looked_up_again(void **state)
{
    static const struct {
        const char *rules, *cover;
        unsigned calm;
        uint64_t age_ms;
    } cases[] = {{MAPS, "", 0, 5000},
                 {MAPS, "", 3, 40000},
                 {NULL, HOST "/none/ d\n", 1, 10000},
                 {NULL, "", 0, 60000},
                 {NULL, "", 3, 60000}};
    (void)state;
    fetch.datasets.plan = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint64_t more = 0; more < 2; more++) {
            forget_hosts();
            struct host *host = put_host(cases[i].rules);
            host_set_cover(host, slice_string(cases[i].cover), (struct slice){0},
                           now_ms - cases[i].age_ms - more);
            host->cover_calm = cases[i].calm;
            make_task();
            task_check_rules(&task);
            assert_trace(more == 1 ? "look for h" HOST "\n" : "get\n");
            make_task();
            task.resource = true;
            task_check_rules(&task);
            assert_trace("get\n");
        }
    }
    fetch.datasets.plan = false;
    make_task();
    task_check_rules(&task);
    assert_trace("get\n");
    fetch.datasets.plan = true;
    make_task();
    set_text(0, META_COVER, HOST "/dir/ " HOST "/data\n");
    task_check_rules(&task);
    answer_records(1);
    assert_trace("look for h" HOST "\nvisit 100\ndone covered: comes out of dumps: " HOST
                 "/data\n");
}

/* In the place of the program's, of which this is a part. */
int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(known_rules_decide_at_once),
        CASE(hosts_without_rules_are_waited_for),
        CASE(records_stand_for_requests),
        CASE(records_that_do_not_come_put_off),
        CASE(without_robots_documents_are_asked_for),
        CASE(second_visits_know_of_the_first),
        CASE(sitemaps_of_the_host_go_with_its_first_job),
        CASE(a_sitemap_is_guessed_where_none_is_named),
        CASE(what_others_know_of_guesses_is_taken),
        CASE(jobs_for_refused_sitemaps_take_all),
        CASE(sitemaps_wait_for_the_node_that_knows_them),
        CASE(covered_documents_come_out_of_dumps),
        CASE(covers_are_looked_up_again),
    };
    return cmocka_run_group_tests_name("known_rules", tests, NULL, NULL);
}
