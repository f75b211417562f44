/* What is known of a sitemap's entries says which are new, have changed or are over a budget
 * (stages/fetch/sitemap_entries.c). sitemap_steps.h stands in for the others. */
#include "tests/unit/stages_fetch/sitemap_steps.h"

/* ---- what was known ---- */

static void
what_says_nothing_new_is_not_noted(void **state)
{
    static const struct {
        uint64_t modified_ms;
        const char *frequency, *facts;
        uint8_t priority;
        bool noted;
    } cases[] = {{1000, "daily", "f\n", 50, false}, {999, "", "", 50, false},
                 {1001, "", "", 50, true},          {1000, "weekly", "", 50, true},
                 {1000, "", "g\n", 50, true},       {1000, "", "", 51, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int moved = 0; moved < 2; moved++) {
            clear_records();
            make_task(MAP, SITEMAP_TYPE);
            set_number(&records[0], META_SITEMAP_SEEN, 5);
            set_number(&records[0], META_SITEMAP_LASTMOD, 1000);
            set_number(&records[0], META_SITEMAP_PRIORITY, 50);
            set_text(&records[0], META_SITEMAP_CHANGEFREQ, "daily");
            set_text(&records[0], META_SITEMAP_FACTS, "f\n");
            set_text(&records[0], META_SITEMAP, moved != 0 ? HOST "/other.xml" : MAP);
            begin();
            list("/dir/x", cases[i].modified_ms, cases[i].frequency, cases[i].priority, "",
                 cases[i].facts);
            answer(SITEMAP_URLSET, false, "");
            answer_host();
            answer_records(1);
            assert_int_equal(strstr(trace.data, "note s") != NULL, cases[i].noted || moved != 0);
            assert_meta(META_SITEMAP_NEW, NULL, 0);
            buf_reset(&trace);
        }
    }
}

/* Who says that it has changed since, and was right of late, has it visited; unless it was. */
static void
claims_of_change_are_checked(void **state)
{
    const uint64_t changed_ms = now_ms - day_ms + 1;
    const struct {
        uint64_t known_ms, sitemap_visited_ms, visited_ms, broken;
        bool recrawl, is_new, asks, claimed;
    } cases[] = {
        {changed_ms - 1, 0, 0, 0, true, false, true, true},
        {changed_ms, 0, 0, 0, true, false, false, false},
        {changed_ms - 1, 0, 0, 0, false, false, false, false},
        {changed_ms - 1, 0, 0, 0, true, true, false, false},
        {changed_ms - 1, 0, changed_ms + minute_ms - 1, 0, true, false, true, true},
        {changed_ms - 1, 0, changed_ms + minute_ms, 0, true, false, true, false},
        {0, 0, 0, 0, true, false, false, false},
        {0, changed_ms + minute_ms - 1, 0, 0, true, false, true, true},
        {0, changed_ms + minute_ms, 0, 0, true, false, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clear_records();
        make_task(MAP, SITEMAP_TYPE);
        task.visit.visited_ms = cases[i].sitemap_visited_ms;
        fetch.recrawl.on = cases[i].recrawl;
        if (!cases[i].is_new) {
            set_number(&records[0], META_SITEMAP_SEEN, 5);
        }
        if (cases[i].known_ms > 0) {
            set_number(&records[0], META_SITEMAP_LASTMOD, cases[i].known_ms);
        }
        begin();
        list("/dir/x", changed_ms, "", 50, "", "");
        answer(SITEMAP_URLSET, false, "");
        answer_host();
        buf_reset(&trace);
        answer_records(1);
        assert_int_equal(strstr(trace.data, "look for u" HOST "/dir/x\n") != NULL, cases[i].asks);
        if (cases[i].asks) {
            buf_reset(&records[0]);
            if (cases[i].visited_ms > 0) {
                set_number(&records[0], META_VISITED, cases[i].visited_ms);
            }
            answer_records(1);
        }
        char wanted[TEXT];
        snprintf(wanted, sizeof wanted,
                 "put " HOST "/dir/x depth 5 priority 159 flags %u claims %llu \n", 32 + 1,
                 (unsigned long long)changed_ms);
        assert_int_equal(strstr(trace.data, wanted) != NULL, cases[i].claimed);
        assert_int_equal(strstr(trace.data, "flags 32\n") != NULL, !cases[i].claimed);
        buf_reset(&trace);
    }
    /* Only samples are believed of a sitemap that was mostly wrong. */
    size_t believed = 0;
    for (uint64_t generation = 1; generation <= 100; generation++) {
        clear_records();
        make_task(MAP, SITEMAP_TYPE);
        fetch.recrawl.on = true;
        job.job.generation = generation;
        set_number(&host, META_CLAIMS_HELD, 1);
        set_number(&host, META_CLAIMS_BROKEN, 500);
        set_number(&records[0], META_SITEMAP_SEEN, 5);
        set_number(&records[0], META_SITEMAP_LASTMOD, 1);
        begin();
        list("/dir/x", changed_ms, "", 50, "", "");
        answer(SITEMAP_URLSET, false, "");
        answer_host();
        buf_reset(&trace);
        answer_records(1);
        const bool asks = strstr(trace.data, "look for u") != NULL;
        believed += asks;
        if (asks) {
            answer_records(1);
        }
    }
    assert_in_range(believed, 1, 50);
    for (uint64_t generation = 1; generation <= 20; generation++) { /* it was mostly right */
        clear_records();
        make_task(MAP, SITEMAP_TYPE);
        job.job.generation = generation;
        set_number(&host, META_CLAIMS_HELD, 500);
        set_number(&host, META_CLAIMS_BROKEN, 10);
        set_number(&records[0], META_SITEMAP_SEEN, 5);
        set_number(&records[0], META_SITEMAP_LASTMOD, 1);
        begin();
        list("/dir/x", changed_ms, "", 50, "", "");
        answer(SITEMAP_URLSET, false, "");
        answer_host();
        buf_reset(&trace);
        answer_records(1);
        assert_non_null(strstr(trace.data, "look for u"));
        answer_records(1);
    }
}

static void
many_claims_are_checked_in_turn(void **state)
{
    (void)state;
    quiet = true;
    fetch.recrawl.on = true;
    begin();
    for (int i = 0; i < VISITS_CHUNK + 1; i++) {
        char uri[TEXT];
        snprintf(uri, sizeof uri, "/dir/%d", i);
        list(uri, now_ms, "", 50, "", "");
        set_number(&records[i], META_SITEMAP_SEEN, 5);
        set_number(&records[i], META_SITEMAP_LASTMOD, 6);
    }
    answer(SITEMAP_URLSET, false, "");
    answer_host();
    answer_records(VISITS_CHUNK + 1);
    clear_records();
    set_number(&records[1], META_VISITED, now_ms + day_ms); /* of the second alone, and the last */
    answer_records(VISITS_CHUNK);
    quiet = false;
    set_number(&records[0], META_VISITED, now_ms + day_ms);
    answer_records(1);
    static const struct {
        const char *name;
        unsigned flags;
    } cases[] = {{"0", 33}, {"1", 32}, {"2", 33}, {"99", 33}, {"100", 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[TEXT];
        snprintf(wanted, sizeof wanted, "put " HOST "/dir/%s depth 5 priority 159 flags %u",
                 cases[i].name, cases[i].flags);
        assert_non_null(strstr(trace.data, wanted));
    }
}

/* ---- scores and budgets ---- */

static void
scores_say_the_priority(void **state)
{
    static const struct {
        enum sitemap_score score;
        uint64_t link, stated_rank;
        unsigned priority;
    } cases[] = {
        {SCORE_PRIORITY, 1000, 1000, 128 + 63 - 19},   {SCORE_LINK, 1000, 0, 128},
        {SCORE_LINK, UINT64_MAX, 1000, 128 + 63},      {SCORE_BOTH, 0, 1000, 128},
        {SCORE_BOTH, 1000, UINT64_MAX, 128 + 63 - 19},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[TEXT];
        clear_records();
        make_task(MAP, SITEMAP_TYPE);
        fetch.sitemaps.score = cases[i].score;
        set_number(&records[0], META_SITEMAP_SEEN, 5);
        if (cases[i].link != UINT64_MAX) {
            set_number(&records[0], META_LINK_RANK, cases[i].link);
        }
        if (cases[i].stated_rank != UINT64_MAX) {
            set_number(&records[0], META_PRIORITY_RANK, cases[i].stated_rank);
        }
        begin();
        list("/dir/x", 0, "", 30, "", "");
        answer(SITEMAP_URLSET, false, "");
        answer_host();
        answer_records(1);
        snprintf(wanted, sizeof wanted, "put " HOST "/dir/x depth 5 priority %u flags 32\n",
                 cases[i].priority);
        assert_non_null(strstr(trace.data, wanted));
        buf_reset(&trace);
    }
}

/* Half of a budget of four is allowed of whom nothing is known: the third new one is held. */
static void
what_is_over_the_budget_waits(void **state)
{
    static const struct {
        uint64_t age_ms, before, excess;
        unsigned held;
    } cases[] = {{1, 0, 0, 1}, {1, 1, 5, 2}, {86400000 - 1, 2, 0, 3}, {86400000, 2, 7, 1}};
    (void)state;
    fetch.sitemaps.budget = 4;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int cached = 0; cached < 2; cached++) {
            hosts_free(fetch.hosts);
            fetch.hosts = hosts_new(4);
            clear_records();
            make_task(MAP, SITEMAP_TYPE);
            if (cached != 0) { /* what this process counted is newer than the record */
                struct host *known = hosts_put(fetch.hosts, SLICE(HOST), HOST_OPEN, NULL, 1, NULL);
                known->submissions = (struct submissions){.period_ms = now_ms - cases[i].age_ms,
                                                          .submitted = cases[i].before,
                                                          .excess = cases[i].excess,
                                                          .files = 3};
                set_number(&host, META_SITEMAP_PERIOD, now_ms - cases[i].age_ms - 1);
                set_number(&host, META_SITEMAP_SUBMITTED, 99);
            } else {
                set_number(&host, META_SITEMAP_PERIOD, now_ms - cases[i].age_ms);
                set_number(&host, META_SITEMAP_SUBMITTED, cases[i].before);
                set_number(&host, META_SITEMAP_EXCESS, cases[i].excess);
                set_number(&host, META_SITEMAP_FILES, 3);
            }
            begin();
            list("/dir/1", 0, "", 50, "", "");
            list("/dir/2", 0, "", 50, "", "");
            list("/dir/3", 0, "", 50, "", "");
            list("/dir/4", 0, "", 50, "", "");
            set_number(&records[3], META_SITEMAP_SEEN, 5); /* it is known */
            answer(SITEMAP_URLSET, false, "");
            answer_host();
            answer_records(4);
            unsigned held = 0;
            for (const char *at = trace.data; (at = strstr(at, "has submitted more")) != NULL;
                 at++) {
                held++;
            }
            assert_int_equal(held, cases[i].held);
            held = 0;
            for (const char *at = trace.data; (at = strstr(at, "priority 240")) != NULL; at++) {
                held++;
            }
            assert_int_equal(held, cases[i].held);
            char wanted[TEXT];
            const bool anew = cases[i].age_ms >= day_ms;
            snprintf(wanted, sizeof wanted, "note h" HOST " %llu %llu %llu read 3\n",
                     (unsigned long long)(anew ? now_ms : now_ms - cases[i].age_ms),
                     (unsigned long long)(anew ? 3 : cases[i].before + 3),
                     (unsigned long long)(cases[i].excess + cases[i].held));
            assert_non_null(strstr(trace.data, wanted));
            buf_reset(&trace);
        }
    }
}

/* What one process counted in a period that is over is replaced by what another has counted since;
 * of sitemaps that were named each may know more. */
static void
the_newer_count_of_a_host_counts(void **state)
{
    static const struct {
        uint64_t known_files, files, wanted;
    } cases[] = {{3, 8, 8}, {8, 3, 8}, {5, 5, 5}};
    (void)state;
    fetch.sitemaps.budget = 100;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[TEXT];
        clear_records();
        make_task(MAP, SITEMAP_TYPE);
        struct host *known = hosts_put(fetch.hosts, SLICE(HOST), HOST_OPEN, NULL, 1, NULL);
        known->submissions = (struct submissions){.period_ms = now_ms - 2 * minute_ms,
                                                  .submitted = 50,
                                                  .excess = 60,
                                                  .files = cases[i].known_files};
        set_number(&host, META_SITEMAP_PERIOD, now_ms - minute_ms);
        set_number(&host, META_SITEMAP_SUBMITTED, 7);
        set_number(&host, META_SITEMAP_EXCESS, 9);
        set_number(&host, META_SITEMAP_FILES, cases[i].files);
        begin();
        list("/dir/1", 0, "", 50, "", "");
        answer(SITEMAP_URLSET, false, "");
        answer_host();
        answer_records(1);
        snprintf(wanted, sizeof wanted, "note h" HOST " %llu 8 9 read %llu\n",
                 (unsigned long long)(now_ms - minute_ms), (unsigned long long)cases[i].wanted);
        assert_non_null(strstr(trace.data, wanted));
        assert_int_equal(known->submissions.files, cases[i].wanted);
        buf_reset(&trace);
    }
}

/* Entries whose texts fill just what the outputs of a job may hold are taken; one byte more is too
 * much, and what comes behind it is left out. */
static void
outputs_of_a_sitemap_have_a_bound(void **state)
{
    enum { FILLS = 2560, EACH = 16 << 10, BESIDE = 320, KEY = 25, FREQUENCY = 5, ROOM = 60 << 20 };
    const size_t most = EACH - BESIDE - 3 * KEY - 2 * strlen(MAP) - FREQUENCY;
    char *facts = memory_zero(most + 2, 1);
    (void)state;
    memset(facts, 'f', most);
    buf_release(&entries);
    buf_release(&reply);
    buf_init(&entries, ROOM);
    buf_init(&reply, ROOM);
    for (unsigned longer = 0; longer < 2; longer++) {
        clear_records();
        make_task(MAP, SITEMAP_TYPE);
        quiet = false;
        begin();
        quiet = true;
        for (int i = 0; i < FILLS; i++) {
            char uri[TEXT];
            snprintf(uri, sizeof uri, "/dir/%d", 1000 + i);
            facts[most] = longer > 0 && i == FILLS - 1 ? 'f' : '\0';
            list(uri, 0, "daily", 50, "", facts);
        }
        list("/dir/x", 0, "", 50, "", "");
        answer(SITEMAP_URLSET, false, "");
        answer_host();
        for (size_t left = FILLS - longer, n; left > 0; left -= n) {
            n = left < CHUNK ? left : CHUNK;
            answer_records(n);
        }
        assert_meta(META_SITEMAP_NEW, NULL, FILLS - longer);
        assert_meta(META_SITEMAP_TRUNCATED, "more than 50000 entries", 0); /* so that more come */
    }
    free(facts);
}

/* ---- indexes ---- */

static void
indexes_list_sitemaps_up_to_a_number(void **state)
{
    (void)state;
    job.document.nesting = 2;
    set_text(&naming, META_SITEMAP_FOR, "http://c.example");
    begin();
    list("/dir/1.xml", 0, "", 50, "", "");
    list("/dir/2.xml", 0, "", 50, "", "");
    list("/dir/3.xml", 0, "", 50, "", "");
    list("/dir/4.xml", 0, "", 50, "", "");
    set_number(&records[1], META_SITEMAP_SEEN, 5); /* it is no new one */
    set_text(&records[1], META_SITEMAP, MAP);
    set_number(&records[1], META_SITEMAP_PRIORITY, 50);
    answer(SITEMAP_INDEX, false, "");
    answer_host();
    buf_reset(&trace);
    answer_records(4);
    assert_null(strstr(trace.data, "note s" HOST "/dir/2.xml"));
    assert_non_null(strstr(trace.data, "note s" HOST "/dir/1.xml"));
    assert_non_null(strstr(trace.data, "'sitemap'"));
    static const char *const taken[] = {"1", "2", "3"};
    for (size_t i = 0; i < 3; i++) {
        char wanted[TEXT];
        snprintf(wanted, sizeof wanted,
                 HOST "/dir/%s.xml named by http://c.example\n\nput " HOST
                      "/dir/%s.xml depth 4 priority %d flags 0 naming " HOST " 3\n",
                 taken[i], taken[i], SITEMAP_PRIORITY);
        if (strstr(trace.data, wanted) == NULL) {
            fail_msg("%s is not in %s", wanted, trace.data);
        }
    }
    assert_null(strstr(trace.data, "4.xml"));
    assert_meta(META_SITEMAP_TRUNCATED, "more sitemaps of the host than sitemaps.files", 0);
    assert_meta(META_SITEMAP_NESTING, NULL, 2);
    assert_meta(META_SITEMAP_KIND, "index", 0);
    buf_reset(&trace);
    /* Nothing is taken of an index that is too far down, but all of a sitemap there. */
    clear_records();
    make_task(MAP, SITEMAP_TYPE);
    job.document.nesting = 3;
    begin();
    list("/dir/1.xml", 0, "", 50, "", "");
    answer(SITEMAP_INDEX, false, "");
    answer_host();
    assert_meta(META_SITEMAP_TRUNCATED, "more indexes above a sitemap than are followed", 0);
    assert_null(strstr(trace.data, "put "));
    buf_reset(&trace);
    make_task(MAP, SITEMAP_TYPE);
    job.document.nesting = 3;
    begin();
    list("/dir/1", 0, "", 50, "", "");
    answer(SITEMAP_URLSET, false, "");
    answer_host();
    answer_records(1);
    assert_non_null(strstr(trace.data, "put " HOST "/dir/1 "));
}

/* Fetched again for its entries, an index has its sitemaps fetched for theirs, and these count. */
static void
indexes_that_are_read_again_have_their_sitemaps_read(void **state)
{
    static const struct {
        const char *uri;
        uint8_t flags;
        uint64_t due_ms;
        bool again;
    } cases[] = {{MAP, JOB_RECRAWL, 0, true},
                 {MAP, 0, 0, false},
                 {MAP, JOB_RECRAWL, 5, false},
                 {MAP "#listing", JOB_RECRAWL, 0, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clear_records();
        job.job.flags = cases[i].flags;
        job.job.due_ms = cases[i].due_ms;
        make_task(cases[i].uri, SITEMAP_TYPE);
        set_number(&host, META_SITEMAP_FILES, 1);
        begin();
        for (int k = 0; k < 2; k++) {
            list(k == 0 ? "/dir/1.xml" : "/dir/2.xml", 0, "", 50, "", "");
            set_number(&records[k], META_SITEMAP_SEEN, 5);
        }
        answer(SITEMAP_INDEX, false, "");
        answer_host();
        answer_records(2);
        assert_int_equal(strstr(trace.data, "flags 1 ") != NULL, cases[i].again);
        assert_int_equal(strstr(trace.data, "put " HOST "/dir/2.xml") != NULL, !cases[i].again);
        const bool archived = i == 3; /* it was read before, and nothing is said of a reading */
        assert_int_equal(strstr(trace.data, "read") != NULL, !archived);
        assert_non_null(strstr(trace.data, archived ? "done as it is" : "done fetched"));
        assert_meta(META_SITEMAP_KIND, archived ? "" : "index", 0);
        buf_reset(&trace);
    }
    job.job.flags = 0;
    job.job.due_ms = 0;
}

static void
guesses_that_are_sitemaps_are_found(void **state)
{
    (void)state;
    make_task(MAP, GUESS_TYPE);
    begin();
    list("/dir/1", 0, "", 50, "", "");
    answer(SITEMAP_URLSET, false, "");
    answer_host();
    buf_reset(&trace);
    answer_records(1);
    assert_non_null(strstr(trace.data, "guess: found\ndone fetched: \n"));
    make_task(MAP, ""); /* nobody named it: its own host submits it */
    clear_records();
    begin();
    list("/dir/1", 0, "", 50, "", "");
    answer(SITEMAP_URLSET, false, "");
    assert_non_null(strstr(trace.data, LOOK));
    answer_host();
    answer_records(1);
    assert_null(strstr(trace.data, "guess"));
    assert_meta(META_SITEMAP_SUBMITTER, "", 0);
}

/* In the place of the program's, of which these are parts. */
int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(what_says_nothing_new_is_not_noted),
        CASE(claims_of_change_are_checked),
        CASE(many_claims_are_checked_in_turn),
        CASE(scores_say_the_priority),
        CASE(what_is_over_the_budget_waits),
        CASE(the_newer_count_of_a_host_counts),
        CASE(outputs_of_a_sitemap_have_a_bound),
        CASE(indexes_list_sitemaps_up_to_a_number),
        CASE(indexes_that_are_read_again_have_their_sitemaps_read),
        CASE(guesses_that_are_sitemaps_are_found),
    };
    return cmocka_run_group_tests_name("sitemap_entries", tests, NULL, NULL);
}
