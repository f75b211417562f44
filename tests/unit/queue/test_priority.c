/* Where fetching pays: patterns, ranks, budgets, and what the queue makes of them. */
#include "base/codec.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

#include <math.h>

#include "base/system/clock.h"
#include "queue/frontier/estimate_table.h"
#include "queue/frontier/priority.h"
#include "queue/frontier/seen.h"
#include "queue/politeness/lanes.h"

static struct job
job_of(const char *uri, uint16_t depth)
{
    struct job job = a_job(STAGE_FETCH, uri);
    job.depth = depth;
    return job;
}

static void
test_patterns(void **state)
{
    static const char *const cases[][2] = {
        {"http://a.example/", "http://a.example/*"},
        {"http://a.example/people/tim", "http://a.example/people/*"},
        {"http://a.example/2024/05/17/news-123.html", "http://a.example/0/*.html"},
        {"http://a.example/page.php?id=12&lang=en", "http://a.example/*.php?id&lang"},
        {"http://a.example/data/x.mp3?y", "http://a.example/data/*.mp0?y"},
        {"http://a.example:81/v2/", "http://a.example:81/v0/*"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf pattern;
        buf_init(&pattern, URL_MAXIMUM);
        priority_pattern(slice_string(cases[i][0]), &pattern);
        assert_string_equal(pattern.data, cases[i][1]);
        buf_release(&pattern);
    }
}

/* Nothing known: by depth only. Then by what was found under a pattern; what is known of a host
 * counts for its other patterns, and little of one fetch. */
static void
test_ranks(void **state)
{
    struct priorities *priorities = priority_new(0, 1);
    const struct job shallow = job_of("http://a.example/x/1", 1);
    const struct job deep = job_of("http://a.example/x/2", 5);
    const struct job rich = job_of("http://a.example/rich/9", 5);
    const struct job poor = job_of("http://a.example/poor/9", 1);
    const struct job other = job_of("http://b.example/rich/9", 5);
    (void)state;
    assert_true(priority_rank(priorities, &shallow, 0) < priority_rank(priorities, &deep, 0));
    assert_true(priority_rank(priorities, &deep, 3) < priority_rank(priorities, &deep, 1));
    assert_true(priority_rank(priorities, &deep, 1) < priority_rank(priorities, &deep, 0));
    assert_int_equal(priority_rank(priorities, &rich, 0), priority_rank(priorities, &other, 0));
    priority_yielded(priorities, SLICE("http://a.example/poor/1"), 0);
    priority_yielded(priorities, SLICE("http://a.example/rich/1"), 200);
    assert_in_range(priority_rank(priorities, &deep, 0) - priority_rank(priorities, &rich, 0), 1,
                    8);
    for (int i = 0; i < 50; i++) {
        priority_yielded(priorities, SLICE("http://a.example/poor/1"), 0);
        priority_yielded(priorities, SLICE("http://a.example/rich/1"), 200);
        priority_yielded(priorities, SLICE("http://b.example/bad/1"), 0);
    }
    assert_true(priority_rank(priorities, &rich, 0) < priority_rank(priorities, &poor, 0));
    assert_true(priority_rank(priorities, &rich, 0) < priority_rank(priorities, &deep, 0));
    assert_true(priority_rank(priorities, &deep, 0) < priority_rank(priorities, &other, 0));
    struct job late = poor;
    late.priority = 255;
    assert_int_equal(priority_rank(priorities, &late, 0), 255);
    priority_free(priorities);
}

/* Its hosts are slowed by degrees, and sooner or later are as fast as before. */
static void
test_budget_leaks(void **state)
{
    enum { BUDGET = 100 };
    const uint64_t period_ms = 1000000;
    struct priorities *priorities = priority_new(BUDGET, period_ms);
    uint64_t now_ms = 5000000000;
    char uri[64];
    (void)state;
    for (int i = 0; i < 8 * BUDGET; i++) {
        const int speed = i < BUDGET ? 0 : i < 2 * BUDGET ? 1 : i < 4 * BUDGET ? 2 : 3;
        snprintf(uri, sizeof uri, "http://host%d.spam.example/", i);
        assert_int_equal(priority_speed(priorities, slice_string(uri), now_ms), speed);
        priority_spend(priorities, slice_string(uri), now_ms);
    }
    assert_int_equal(priority_speed(priorities, SLICE("http://other.example/"), now_ms), 0);
    now_ms += 4 * period_ms + 1000;
    assert_int_equal(priority_speed(priorities, SLICE("http://new.spam.example/"), now_ms), 2);
    for (int i = 0; i < 4000; i++) { /* twice as much leaks as comes */
        now_ms += 500;
        if (i % 40 == 0) {
            priority_spend(priorities, SLICE("http://new.spam.example/"), now_ms);
        }
    }
    assert_int_equal(priority_speed(priorities, SLICE("http://new.spam.example/"), now_ms), 2);
    now_ms += 4 * period_ms;
    assert_int_equal(priority_speed(priorities, SLICE("http://new.spam.example/"), now_ms), 0);
    priority_free(priorities);
}

/* A table forgets what weighs least, and comes back from its rows as it was. */
static void
test_estimates(void **state)
{
    enum { COUNT = 256, MUCH = 64 };
    struct estimates *estimates = estimates_new(COUNT, 't');
    struct estimates *copy = estimates_new(COUNT, 't');
    struct store_batch batch;
    (void)state;
    for (uint64_t i = 1; i <= MUCH; i++) {
        struct estimate *estimate = estimates_change(estimates, i * 4);
        estimate->weight = 1000 + (uint32_t)i;
        estimate->value = (uint32_t)i;
    }
    for (uint64_t i = 0; i < 10000; i++) {
        estimates_change(estimates, 1000000 + i)->weight = 1;
    }
    for (uint64_t i = 1; i <= MUCH; i++) {
        assert_non_null(estimates_find(estimates, i * 4));
        assert_int_equal(estimates_find(estimates, i * 4)->value, i);
    }
    store_batch_init(&batch);
    estimates_write(estimates, &batch, 3);
    assert_int_equal(batch.count, 3);
    estimates_write(estimates, &batch, 100);
    assert_int_equal(batch.count, COUNT / ESTIMATES_ROW);
    for (size_t i = 0; i < batch.count; i++) {
        const struct store_operation *row = batch.operations[i];
        struct slice key = slice_of((const char *)row->key, row->key_length);
        assert_true(estimates_read(copy, key, row->value));
        assert_false(estimates_read(copy, key, slice_of(row->value.at, row->value.length - 1)));
        key.length--;
        assert_false(estimates_read(copy, key, row->value));
        uint8_t other[5];
        memcpy(other, row->key, sizeof other);
        codec_write_u32(other + 1, COUNT / ESTIMATES_ROW); /* behind the last row */
        key = slice_of((const char *)other, sizeof other);
        assert_false(estimates_read(copy, key, row->value));
        codec_write_u32(other + 1, 0);
        other[0] = 'u'; /* another table's */
        assert_false(estimates_read(copy, key, row->value));
    }
    for (uint64_t i = 1; i <= MUCH; i++) {
        assert_int_equal(estimates_find(copy, i * 4)->weight, 1000 + i);
    }
    store_batch_release(&batch);
    store_batch_init(&batch);
    estimates_write(copy, &batch, UINT32_MAX);
    assert_int_equal(batch.count, 0); /* nothing has changed */
    for (uint64_t i = 0; i < COUNT; i += ESTIMATES_ROW) {
        estimates_change(copy, COUNT * 1000 + i)->weight = 1;
    }
    estimates_write(copy, &batch, UINT32_MAX);
    assert_int_equal(batch.count, COUNT / ESTIMATES_ROW); /* each row by one call */
    store_batch_release(&batch);
    estimates_free(estimates);
    estimates_free(copy);
}

/* Other domains only, each once, by the registrable domain; what is noted comes back. */
static void
test_links_are_counted_by_domain(void **state)
{
    const struct slice uri = SLICE("http://www.a.example/x");
    struct priorities *priorities = priority_new(0, 1);
    const struct seen_entry entries[] = {
        {.depth = 3, .generation = 1, .flags = SEEN_WAITING, .rank = 176, .job = 1ull << 40},
        {.depth = 3, .generation = 9, .flags = SEEN_FETCHED, .domains = 0x8001},
        {.flags = SEEN_WAITING | SEEN_FETCHED, .rank = 255, .job = 7, .domains = 0xffff},
    };
    (void)state;
    assert_int_equal(priority_link(priorities, uri, SLICE("")), 0);
    assert_int_equal(priority_link(priorities, uri, SLICE("http:///")), 0);
    assert_int_equal(priority_link(priorities, uri, SLICE("http://www.a.example/y")), 0);
    assert_int_equal(priority_link(priorities, uri, SLICE("http://other.a.example/y")), 0);
    const uint16_t bit = priority_link(priorities, uri, SLICE("http://one.b.example/"));
    assert_int_equal(__builtin_popcount(bit), 1);
    assert_int_equal(priority_link(priorities, uri, SLICE("http://two.b.example/z")), bit);
    assert_int_equal(
        priority_link(priorities, SLICE("http://other-b.example/"), SLICE("http://b.example/")),
        bit);
    priority_free(priorities);
    assert_int_equal(priority_linking(0), 0);
    assert_int_equal(priority_linking(bit), 1);
    assert_in_range(priority_linking(0x00ff), 10, 12);
    assert_in_range(priority_linking(0xffff), 30, 100);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct seen_entry again = {.rank = 1, .domains = 1};
        struct buf bytes;
        buf_init(&bytes, 64);
        seen_entry_encode(&bytes, &entries[i]);
        assert_true(seen_entry_decode(buf_slice(&bytes), &again));
        assert_int_equal(again.flags, entries[i].flags);
        assert_int_equal(again.domains, entries[i].domains);
        assert_int_equal(again.rank, entries[i].rank);
        assert_int_equal(again.job, entries[i].job);
        bytes.length--;
        assert_false(seen_entry_decode(buf_slice(&bytes), &again));
        buf_release(&bytes);
    }
}

/* ---- the queue ---- */

static void
link_to(struct bench *bench, const char *uri, const char *via)
{
    struct job job = a_job(STAGE_FETCH, uri);
    job.via = slice_string(via);
    job.depth = 2;
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
}

static void
link_from_domains(struct bench *bench, const char *uri, int n)
{
    for (int i = 0; i < n; i++) {
        char via[64];
        snprintf(via, sizeof via, "http://www.domain%d.example/", i);
        link_to(bench, uri, via);
    }
}

/* A job moves at the first and second domain that link to it, and not at the third. */
static void
test_jobs_move_at_powers_of_two(void **state)
{
    static const struct {
        int first, second;  /* domains that link to the first job, then to the second */
        const char *before; /* who goes out first */
    } cases[] = {{0, 0, "0"}, {0, 1, "2"}, {1, 2, "2"}, {2, 3, "1"}};
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct bench *bench = bench_new(NULL, NULL);
        char uri[64];
        for (int i = 0; i < 3; i++) {
            snprintf(uri, sizeof uri, "http://a.example/%d", i);
            link_to(bench, uri, "http://a.example/");
        }
        link_from_domains(bench, "http://a.example/1", cases[n].first);
        link_from_domains(bench, "http://a.example/2", cases[n].second);
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
        snprintf(uri, sizeof uri, "http://a.example/%s", cases[n].before);
        assert_true(slice_is(bench->jobs[0].uri, uri));
        bench_free(bench);
    }
}

/* A job that moves leaves its place in memory, and no other's: all go out, each once. */
static void
test_moved_jobs_hide_no_other(void **state)
{
    enum { EACH = 12 };
    struct bench *bench = bench_new(NULL, NULL);
    bool out[EACH] = {false};
    char uri[64];
    (void)state;
    for (int i = 0; i < EACH; i++) {
        snprintf(uri, sizeof uri, "http://a.example/%d", i);
        link_to(bench, uri, "http://a.example/");
    }
    for (int turn = 0; turn < EACH; turn++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
        const struct slice taken = bench->jobs[0].uri;
        const int number = atoi(taken.at + sizeof "http://a.example/" - 1);
        assert_in_range(number, 0, EACH - 1);
        assert_false(out[number]);
        out[number] = true;
        if (turn < 4) { /* those behind, of the rank of many */
            snprintf(uri, sizeof uri, "http://a.example/%d", EACH - 1 - turn);
            link_from_domains(bench, uri, 2);
        }
        done(bench, "w", &bench->jobs[0]);
    }
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 0);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 0);
    bench_free(bench);
}

/* Links of other domains bring a job forward that waits, and of one domain however many only as
 * one; each job goes out once. What is out, and what may be out after a restart, stays. */
static void
test_links_bring_jobs_forward(void **state)
{
    enum { EACH = 20 };
    struct bench *bench = bench_new(NULL, NULL);
    char uri[64];
    (void)state;
    for (int i = 0; i < EACH; i++) {
        snprintf(uri, sizeof uri, "http://a.example/%d", i);
        link_to(bench, uri, "http://a.example/");
    }
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    const struct job_key key = bench->jobs[0].key;
    assert_true(slice_is(bench->jobs[0].uri, "http://a.example/0"));
    link_from_domains(bench, "http://a.example/0", 10); /* is out */
    for (int i = 0; i < 50; i++) {
        link_to(bench, "http://a.example/18", "http://spam.example/");
    }
    link_from_domains(bench, "http://a.example/19", 10);
    const struct completion completion = {.key = key};
    complete(bench, "w", 1, &completion, 1);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, EACH - 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_true(slice_is(bench->jobs[0].uri, "http://a.example/19"));
    bench_close(bench);
    bench_open(bench);
    link_from_domains(bench, "http://a.example/19", 16); /* w may still have it */
    link_from_domains(bench, "http://a.example/5", 16);
    touch(bench, "w", 1, bench->jobs, 1);
    assert_int_equal(reserve(bench, "v", 1, STAGE_FETCH, 1), 0); /* it has, and the lane with it */
    link_from_domains(bench, "http://a.example/6", 16);
    done(bench, "w", &bench->jobs[0]);
    const char *const order[] = {"6", "18"};
    for (int i = 0; i < EACH - 2; i++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
        if (i < 2) {
            snprintf(uri, sizeof uri, "http://a.example/%s", order[i]);
            assert_true(slice_is(bench->jobs[0].uri, uri));
        }
        done(bench, "w", &bench->jobs[0]);
    }
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 0);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 0);
    assert_int_equal(stats(bench).seen, EACH);
    bench_free(bench);
}

static void
tell_yield(struct bench *bench, const char *uri, uint8_t quads)
{
    struct job job = a_job(STAGE_FETCH, uri);
    const char data[1] = {(char)quads};
    job.flags = JOB_YIELD;
    job.data = slice_of(data, sizeof data);
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
}

/* What is told is what the job goes by: rank, place, the lane's state and rest. */
static void
test_look(void **state)
{
    struct bench *bench = bench_new(NULL, NULL);
    struct queue_explanation at;
    (void)state;
    at = look(bench, "http://a.example/0");
    assert_false(at.known || at.found || at.node);
    assert_int_equal(at.lane_state, LANE_NOT_HERE);
    for (int i = 0; i < 50; i++) {
        tell_yield(bench, "http://b.example/", 0);
        tell_yield(bench, "http://a.example/0", 100);
    }
    link_to(bench, "http://a.example/0", "http://a.example/");
    link_to(bench, "http://a.example/1", "http://a.example/");
    struct job listed = a_job(STAGE_FETCH, "http://a.example/listed");
    listed.flags = JOB_SITEMAP;
    listed.priority = 140;
    assert_int_equal(put_jobs(bench, &listed, 1), STATUS_OK);
    link_from_domains(bench, "http://a.example/1", 10);
    at = look(bench, "http://a.example/0");
    assert_true(at.known && at.waiting && at.found && !at.leased);
    assert_int_equal(at.ahead, 1);
    assert_int_equal(at.depth, 2);
    assert_int_equal(at.linking, 0);
    assert_int_equal(at.depth_cost, 4000);
    assert_int_equal(at.fetches_pattern, 50);
    assert_in_range(at.mean_pattern, at.mean_host, 6700);
    assert_true(at.mean_host > at.mean_all);
    assert_int_equal(at.rank, lround((double)at.weight / 1000));
    assert_int_equal(at.weight, 128000 + 48000 + 4000 - at.yield_gain);
    assert_int_equal(at.lane_state, LANE_WAITS);
    const struct queue_explanation linked = look(bench, "http://a.example/1");
    assert_in_range(linked.linking, 6, 16);
    assert_int_equal(linked.ahead, 0);
    assert_int_equal(linked.weight, at.weight - linked.links_gain);
    at = look(bench, "http://a.example/listed");
    assert_int_equal(at.rank, RANK_SITEMAP + 140);
    assert_int_equal(at.ahead, 0);
    assert_true(at.listed);
    assert_true((int64_t)look(bench, "http://b.example/x").yield_gain < 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_true(slice_is(bench->jobs[0].uri, "http://a.example/1"));
    at = look(bench, "http://a.example/1");
    assert_true(at.found && at.leased);
    assert_int_equal(at.lane_state, LANE_OUT);
    assert_int_equal(at.jobs_out, 1);
    assert_int_equal(look(bench, "http://a.example/0").ahead, 0);
    const struct completion completion = {
        .key = bench->jobs[0].key, .report = REPORT(.rest_ms = 60000, .address = 7), .share = 200};
    complete(bench, "w", 1, &completion, 1);
    at = look(bench, "http://a.example/1");
    assert_true(at.known && at.fetched && !at.waiting && !at.found);
    assert_int_equal(at.share, 200);
    assert_int_equal(at.group, 7);
    assert_true(at.due_ms > clock_wall_ms() + 30000);
    bench_close(bench);
    bench_open(bench);
    assert_true(look(bench, "http://a.example/0").due_ms > clock_wall_ms() + 30000);
    codec_put_slice(bench_payload(bench), SLICE("nonsense"));
    assert_int_equal(bench_submit(bench, "test", 1, QUEUE_LOOK, 0)->status, STATUS_BAD_INPUT);
    bench_free(bench);
}

/* Whatever moves while jobs come and go, each goes out once. */
static void
test_moving_jobs_go_out_once(void **state)
{
    enum { URIS = 300, STEPS = 6000 };
    struct bench *bench = bench_new(NULL, NULL);
    uint8_t went[URIS] = {0};
    bool put[URIS] = {0};
    char uri[64], via[64];
    srandom(5);
    (void)state;
    for (int step = 0; step < STEPS || reserve(bench, "w", 1, STAGE_FETCH, 2) > 0; step++) {
        if (step < STEPS && random() % 4 != 0) {
            const long number = random() % URIS;
            put[number] = true;
            snprintf(uri, sizeof uri, "http://host%ld.example/%ld", number % 4, number);
            snprintf(via, sizeof via, "http://domain%ld.example/", random() % 30);
            link_to(bench, uri, via);
            continue;
        }
        if (step < STEPS && reserve(bench, "w", 1, STAGE_FETCH, 2) == 0) {
            continue;
        }
        struct job held[2];
        char names[2][64];
        const size_t n = bench->job_count;
        for (size_t i = 0; i < n; i++) {
            held[i] = bench->jobs[i];
            snprintf(names[i], sizeof names[i], "%.*s", SLICE_PRINT(held[i].uri));
            const char *slash = strrchr(names[i], '/');
            went[atoi(slash + 1)]++;
        }
        link_to(bench, "http://host0.example/0", "http://domain0.example/");
        put[0] = true;
        for (size_t i = 0; i < n; i++) {
            done(bench, "w", &held[i]);
        }
    }
    for (int i = 0; i < URIS; i++) {
        assert_int_equal(went[i], put[i]);
    }
    bench_free(bench);
}

/* Word of a yield is no job and makes no URI known. It changes the order of what comes, also after
 * a restart. */
static void
test_yield_changes_order(void **state)
{
    struct bench *bench = bench_new(NULL, NULL);
    (void)state;
    for (int i = 0; i < 100; i++) {
        tell_yield(bench, "http://a.example/rich/0", 100);
        tell_yield(bench, "http://a.example/poor/0", 0);
    }
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 0);
    bench_close(bench);
    bench_open(bench);
    put_uri(bench, STAGE_FETCH, "http://a.example/poor/0", 1);
    put_uri(bench, STAGE_FETCH, "http://a.example/rich/0", 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 5), 1);
    assert_true(slice_is(bench->jobs[0].uri, "http://a.example/rich/0"));
    done(bench, "w", &bench->jobs[0]);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 5), 1);
    assert_true(slice_is(bench->jobs[0].uri, "http://a.example/poor/0"));
    done(bench, "w", &bench->jobs[0]);
    bench_free(bench);
}

/* The hosts of a domain that has had its budget wait for those of others, those that come only then
 * too; each is fetched in the end, also after a restart. */
static void
test_budget_spills(void **state)
{
    enum { BUDGET = 10, HOSTS = 60, OTHERS = 20 };
    struct bench *bench = bench_new(NULL, NULL);
    char uri[64];
    int spam = 0;
    int others = 0;
    int spam_before = 0; /* the last of the others */
    (void)state;
    bench_close(bench);
    bench->options.domain_budget = BUDGET;
    bench->options.domain_period_ms = 1000000000;
    bench_open(bench);
    for (int i = 0; i < HOSTS; i++) {
        snprintf(uri, sizeof uri, "http://host%d.spam.example/", i);
        put_uri(bench, STAGE_FETCH, uri, 1);
    }
    for (; spam < 4 * BUDGET; spam++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
        done(bench, "w", &bench->jobs[0]);
    }
    for (int i = 0; i < OTHERS; i++) {
        snprintf(uri, sizeof uri, "http://other%d.example/", i);
        put_uri(bench, STAGE_FETCH, uri, 1);
    }
    bench_close(bench);
    bench_open(bench);
    for (int i = HOSTS; i < HOSTS + BUDGET; i++) {
        snprintf(uri, sizeof uri, "http://host%d.spam.example/", i);
        put_uri(bench, STAGE_FETCH, uri, 1);
    }
    while (reserve(bench, "w", 1, STAGE_FETCH, 1) == 1) {
        const bool of_others = slice_starts(bench->jobs[0].uri, SLICE("http://other"));
        others += of_others;
        spam += !of_others;
        spam_before = of_others ? spam - 4 * BUDGET : spam_before;
        done(bench, "w", &bench->jobs[0]);
    }
    assert_int_equal(others, OTHERS);
    assert_int_equal(spam, HOSTS + BUDGET);
    assert_in_range(spam_before, 0, 3);
    bench_free(bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_budget_leaks),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_links_are_counted_by_domain),
        cmocka_unit_test(test_links_bring_jobs_forward),
        cmocka_unit_test(test_jobs_move_at_powers_of_two),
        cmocka_unit_test(test_moved_jobs_hide_no_other),
        cmocka_unit_test(test_look),
        cmocka_unit_test(test_moving_jobs_go_out_once),
        cmocka_unit_test(test_yield_changes_order),
        cmocka_unit_test(test_budget_spills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + rank_parts_run();
}
