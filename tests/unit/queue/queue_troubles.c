/* Hosts in trouble (queue/ORDER.md): the rules alone, then by messages to a broker whose clock
 * is the test's own, so that hours take no time. */
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"
#include "tests/unit/queue/told_frontier.h"

#include "queue/politeness/host_troubles.h"

#define DEAD "http://dead.example"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

static const struct trouble_rules rules = {
    .failures = 5,
    .patience_ms = 4 * MINUTE,
    .probe_ms = 5 * MINUTE,
    .probe_most_ms = 24 * HOUR,
    .outage_hosts = 3,
    .outage_patience_ms = HOUR,
};

/* ---- the rules alone ---- */

/* Fails when it is due, with the back-off of fetch, until it is set aside; returns how often. */
static unsigned
fail_until_aside(struct trouble *trouble, struct trouble_failure *failure, uint64_t *now)
{
    unsigned n = 0;
    uint64_t rest_ms = 2 * SECOND;
    while (!(trouble->flags & TROUBLE_ASIDE) && n < 100) {
        failure->now_ms = *now;
        failure->rest_ms = rest_ms;
        trouble_fail(trouble, &rules, failure);
        n++;
        assert_int_equal(trouble->failures, n);
        rest_ms = 2 * rest_ms < 5 * MINUTE ? 2 * rest_ms : 5 * MINUTE;
        *now = trouble->next_ms;
    }
    return n;
}

static void
test_rules_of_new_and_of_known_hosts(void **state)
{
    uint64_t now = 1000000;
    struct trouble trouble = {.lane = 1};
    struct trouble_failure failure = {0};
    (void)state;
    assert_int_equal(fail_until_aside(&trouble, &failure, &now), 5);
    assert_int_equal(trouble.since_ms, 1000000);
    assert_int_equal(trouble.aside_ms, 1000000 + 30 * SECOND);
    assert_int_equal(trouble.next_ms, trouble.aside_ms + 5 * MINUTE);
    trouble = (struct trouble){.lane = 1};
    failure.rest_ms = 2 * SECOND; /* however short the rests are: the number counts */
    for (failure.now_ms = 0; !(trouble.flags & TROUBLE_ASIDE); failure.now_ms += 2 * SECOND) {
        trouble_fail(&trouble, &rules, &failure);
    }
    assert_int_equal(trouble.failures, 5);
    assert_int_equal(trouble.aside_ms - trouble.since_ms, 8 * SECOND);
    now = 1000000;
    trouble = (struct trouble){.lane = 1};
    failure = (struct trouble_failure){.answered_before = true};
    assert_int_equal(fail_until_aside(&trouble, &failure, &now), 8);
    assert_int_equal(trouble.aside_ms, 1000000 + 254 * SECOND);
}

/* Answers by which nothing may be fetched are enough when they are half as many, and three. */
static void
test_who_forbids_everything_is_asked_less_often(void **state)
{
    static const unsigned least[] = {[1] = 1, [2] = 2, [3] = 3, [4] = 3, [5] = 3, [6] = 3, [7] = 4};
    (void)state;
    for (uint32_t n = 1; n <= 7; n++) {
        struct trouble_rules few = rules;
        struct trouble trouble = {.lane = 1};
        struct trouble_failure failure = {.forbids = true};
        few.failures = n;
        for (; !(trouble.flags & TROUBLE_ASIDE); failure.now_ms += 2 * SECOND) {
            trouble_fail(&trouble, &few, &failure);
        }
        assert_int_equal(trouble.failures, least[n]);
        trouble = (struct trouble){.lane = 1};
        failure = (struct trouble_failure){.forbids = true, .answered_before = true};
        for (; !(trouble.flags & TROUBLE_ASIDE); failure.now_ms += 2 * SECOND) {
            trouble_fail(&trouble, &few, &failure);
        }
        assert_int_equal(trouble.aside_ms, 4 * MINUTE); /* patience is as long */
    }
}

static void
test_failures_at_a_time_are_one(void **state)
{
    struct trouble trouble = {.lane = 1};
    struct trouble_failure failure = {.now_ms = 1000000, .rest_ms = 2 * SECOND};
    (void)state;
    for (int i = 0; i < 20; i++) {
        trouble_fail(&trouble, &rules, &failure);
        failure.now_ms += 50;
    }
    assert_int_equal(trouble.failures, 1);
    failure.now_ms = 1000000 + 2 * SECOND;
    trouble_fail(&trouble, &rules, &failure);
    assert_int_equal(trouble.failures, 2);
}

static void
test_probes_come_ever_more_seldom(void **state)
{
    uint64_t now = 1000000, interval = 5 * MINUTE;
    struct trouble trouble = {.lane = 1};
    struct trouble_failure failure = {0};
    (void)state;
    (void)fail_until_aside(&trouble, &failure, &now);
    for (unsigned i = 1; i <= 40; i++) {
        assert_int_equal(trouble.next_ms, failure.now_ms + interval);
        failure.now_ms = trouble.next_ms;
        trouble_fail(&trouble, &rules, &failure);
        assert_int_equal(trouble.probes, i);
        interval = 2 * interval < 24 * HOUR ? 2 * interval : 24 * HOUR;
    }
    const uint64_t since = trouble.aside_ms;
    trouble_try(&trouble, failure.now_ms + 1);
    assert_false(trouble.flags & TROUBLE_ASIDE);
    assert_int_equal(trouble.next_ms, failure.now_ms + 1);
    failure.now_ms++;
    trouble_fail(&trouble, &rules, &failure); /* one failure is enough */
    assert_true(trouble.flags & TROUBLE_ASIDE);
    assert_int_equal(trouble.aside_ms, since);
    assert_int_equal(trouble.next_ms, failure.now_ms + 24 * HOUR);
}

static void
test_silence_of_all_may_be_our_own(void **state)
{
    uint64_t now = 1000000;
    struct trouble trouble = {.lane = 1};
    /* Somebody answered before, nobody since, two others are silent. */
    struct trouble_failure failure = {.silent = true, .network_ms = 999999, .silent_hosts = 2};
    (void)state;
    (void)fail_until_aside(&trouble, &failure, &now);
    assert_true(trouble.aside_ms >= 1000000 + HOUR);
    /* As few may just be dead; nobody ever answered; somebody did since; it is refused. */
    const struct trouble_failure sure[] = {
        {.silent = true, .network_ms = 999999, .silent_hosts = 1},
        {.silent = true, .network_ms = 0, .silent_hosts = 9},
        {.silent = true, .network_ms = 1000000, .silent_hosts = 9},
        {.silent = false, .network_ms = 999999, .silent_hosts = 9},
    };
    for (size_t i = 0; i < sizeof sure / sizeof sure[0]; i++) {
        now = 1000000;
        failure = sure[i];
        trouble = (struct trouble){.lane = 1};
        assert_int_equal(fail_until_aside(&trouble, &failure, &now), 5);
    }
}

static void
test_rows_are_read_as_written(void **state)
{
    struct buf row;
    struct slice origin, cause;
    const struct trouble given = {.lane = 7,
                                  .since_ms = 1,
                                  .last_ms = 2,
                                  .rest_ms = 3,
                                  .aside_ms = 4,
                                  .next_ms = UINT64_MAX,
                                  .failures = UINT32_MAX,
                                  .probes = 6,
                                  .flags = TROUBLE_ASIDE | TROUBLE_SILENT};
    struct trouble read = {.lane = 7};
    (void)state;
    buf_init(&row, 1000);
    trouble_encode(&row, &given, SLICE(DEAD), SLICE("refused"));
    assert_true(trouble_decode(buf_slice(&row), &read, &origin, &cause));
    assert_memory_equal(&read, &given, sizeof read);
    assert_true(slice_is(origin, DEAD));
    assert_true(slice_is(cause, "refused"));
    for (size_t n = 0; n < row.length; n++) {
        assert_false(trouble_decode(slice_of(row.data, n), &read, &origin, &cause));
    }
    buf_release(&row);
}

/* ---- a broker ---- */

static uint64_t wall_ms;

static uint64_t
wall(void)
{
    return wall_ms;
}

static int
setup(void **state)
{
    struct bench *bench = bench_new(NULL, NULL);
    bench_close(bench);
    wall_ms = 1700000000000;
    bench->options.clock = wall;
    bench->options.troubles = rules;
    bench->options.store.recent_bytes = 100000;
    bench->options.burst = 8;
    bench_open(bench);
    *state = bench;
    return 0;
}

static int
teardown(void **state)
{
    bench_free(*state);
    return 0;
}

static void
reopen(struct bench *bench)
{
    bench_close(bench);
    bench_forget(bench);
    bench->options.grace_ms = 0;
    bench_open(bench);
}

/* Rounds in which nothing comes, until all is counted. */
static void
settle(struct bench *bench)
{
    for (int i = 0; i < 1000; i++) {
        bench_work(bench);
        if (broker_wait_ms(bench->broker) > 0) {
            return;
        }
    }
}

static void
put_pages(struct bench *bench, const char *origin, unsigned first, unsigned n, uint8_t flags)
{
    struct job *jobs = memory_zero(n, sizeof *jobs);
    char *text = memory_zero(n, 64);
    for (unsigned i = 0; i < n; i++) {
        snprintf(text + (size_t)64 * i, 64, "%s/%u", origin, first + i);
        jobs[i] = a_job(STAGE_FETCH, text + (size_t)64 * i);
        jobs[i].lane_name = slice_string(origin);
        jobs[i].flags = flags;
    }
    assert_int_equal(put_jobs(bench, jobs, n), STATUS_OK);
    free(jobs);
    free(text);
}

/* The job goes back, as fetch gives it back when its host failed. */
static void
host_fails(struct bench *bench, const struct job *job, uint8_t words, uint64_t rest_ms)
{
    const struct completion completion = {
        .key = job->key,
        .verdict = VERDICT_RELEASE,
        .reason = SLICE("refused"),
        .no_attempt = true,
        .report = REPORT(.words = words, .rest_ms = rest_ms, .cause = SLICE("refused"))};
    complete(bench, "w", 1, &completion, job->attempt);
}

static void
host_answers(struct bench *bench, const struct job *job, uint64_t rest_ms)
{
    const struct completion completion = {
        .key = job->key, .report = REPORT(.words = HOST_ANSWERED, .rest_ms = rest_ms)};
    complete(bench, "w", 1, &completion, job->attempt);
}

/* Takes whatever is due of one lane, fails, until nothing is due for a minute; how often. */
static unsigned
fail_until_nothing_is_due(struct bench *bench, uint8_t words)
{
    unsigned n = 0;
    uint64_t rest_ms = 2 * SECOND;
    while (reserve(bench, "w", 1, STAGE_FETCH, 16) > 0) {
        assert_int_equal(bench->job_count, 1);
        const struct job job = bench->jobs[0];
        host_fails(bench, &job, words, rest_ms);
        wall_ms += rest_ms;
        rest_ms *= 2;
        n++;
        assert_true(n < 30);
    }
    return n;
}

struct listed {
    unsigned hosts;
    uint64_t jobs;
    struct queue_host last;
    char origin[64], cause[64];
};

static struct listed
list(struct bench *bench, const char *origin, bool aside_only)
{
    struct listed listed = {0};
    struct buf *payload = bench_payload(bench);
    codec_put_u64(payload, 0);
    codec_put_slice(payload, slice_string(origin));
    codec_put_u8(payload, aside_only ? HOSTS_ASIDE : 0);
    codec_put_varint(payload, 1000);
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_HOSTS, 0);
    assert_true(answer->given);
    assert_int_equal(answer->status, STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    const uint32_t n = codec_get_u32(&reader);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(message_get_host(&reader, &listed.last));
        listed.hosts++;
        listed.jobs += listed.last.jobs;
        snprintf(listed.origin, sizeof listed.origin, "%.*s", SLICE_PRINT(listed.last.origin));
        snprintf(listed.cause, sizeof listed.cause, "%.*s", SLICE_PRINT(listed.last.cause));
    }
    assert_true(codec_at_end(&reader));
    return listed;
}

static uint64_t retried_jobs; /* of the hosts of the last retry */

static uint64_t
retry(struct bench *bench, const char *uri)
{
    codec_put_slice(bench_payload(bench), slice_string(uri));
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_RETRY, 0);
    bench_work(bench);
    assert_int_equal(answer->status, STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    const uint64_t hosts = codec_get_varint(&reader);
    retried_jobs = codec_get_varint(&reader);
    assert_true(codec_at_end(&reader));
    return hosts;
}

static void
check_counts(struct bench *bench, uint64_t ready, uint64_t aside, uint64_t hosts)
{
    settle(bench);
    const struct queue_stats now = stats(bench);
    assert_int_equal(now.stages[STAGE_FETCH].ready, ready);
    assert_int_equal(now.stages[STAGE_FETCH].aside, aside);
    assert_int_equal(now.hosts_aside, hosts);
}

static void
test_a_host_is_set_aside_in_one_step(void **state)
{
    enum { PAGES = 20000 };
    struct bench *bench = *state;
    put_pages(bench, DEAD, 0, PAGES, 0);
    put_pages(bench, DEAD ":81", 0, 3, 0);
    put_pages(bench, "https://dead.example", 0, 3, 0);
    for (unsigned i = 0; i < 2; i++) { /* other ports and schemes are other hosts: bursts of them */
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 16), i == 0 ? 3 : 4);
        struct job jobs[4];
        memcpy(jobs, bench->jobs, bench->job_count * sizeof *jobs);
        for (size_t k = bench->job_count; k-- > 0;) {
            if (!slice_starts(jobs[k].uri, SLICE(DEAD "/"))) {
                char uri[64];
                snprintf(uri, sizeof uri, "%.*s", SLICE_PRINT(jobs[k].uri));
                host_answers(bench, &jobs[k], 0);
            } else {
                host_fails(bench, &jobs[k], HOST_FAILED, MINUTE);
            }
        }
    }
    assert_int_equal(list(bench, "", false).hosts, 1);
    wall_ms += MINUTE;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 16), 1);
        const struct job job = bench->jobs[0];
        assert_int_equal(job.attempt, 1);
        assert_true(slice_is(job.uri, DEAD "/0"));
        told_frontier.written = 0;
        host_fails(bench, &job, HOST_FAILED, 2 * SECOND);
        wall_ms += 2 * SECOND;
    }
    assert_true(told_frontier.written > 0 &&
                told_frontier.written <= 8); /* the job, its lane, its host, what counts */
    check_counts(bench, 0, PAGES, 1);
    struct listed listed = list(bench, "", true);
    assert_int_equal(listed.hosts, 1);
    assert_int_equal(listed.jobs, PAGES);
    assert_true(listed.last.counted && listed.last.aside && !listed.last.silent);
    assert_int_equal(listed.last.failures, 5);
    assert_string_equal(listed.origin, DEAD);
    assert_string_equal(listed.cause, "refused");
    assert_int_equal(listed.last.next_ms, wall_ms - 2 * SECOND + 5 * MINUTE);
    assert_int_equal(list(bench, DEAD "/x", false).hosts, 1);
    assert_int_equal(list(bench, DEAD ":81/x", false).hosts, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 16), 0);
}

/* All of them, in their order, each once; also those that came meanwhile, and after a restart. */
static void
test_a_host_that_comes_back_gets_its_jobs(void **state)
{
    enum { PAGES = 3000, MORE = 500 };
    struct bench *bench = *state;
    put_pages(bench, DEAD, 0, PAGES, 0);
    assert_int_equal(fail_until_nothing_is_due(bench, HOST_FAILED), 5);
    check_counts(bench, 0, PAGES, 1);
    reopen(bench);
    check_counts(bench, 0, PAGES, 1);
    put_pages(bench, DEAD, PAGES, MORE, 0);
    check_counts(bench, 0, PAGES + MORE, 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 16), 0);
    const uint64_t due_ms = list(bench, DEAD, true).last.next_ms;
    wall_ms = due_ms - 1;
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 16), 0);
    wall_ms = due_ms;
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 16), 1); /* the probe */
    struct job probe = bench->jobs[0];
    assert_true(slice_is(probe.uri, DEAD "/0"));
    check_counts(bench, 0, PAGES + MORE, 1); /* nobody waits for it */
    assert_int_equal(stats(bench).stages[STAGE_FETCH].leased, 0);
    assert_int_equal(list(bench, DEAD, true).jobs, PAGES + MORE);
    reopen(bench);
    settle(bench);
    touch(bench, "w", 1, &probe, 1); /* it is still out, as its worker says */
    check_counts(bench, 0, PAGES + MORE, 1);
    assert_int_equal(reserve(bench, "v", 1, STAGE_FETCH, 16), 0);
    host_fails(bench, &probe, HOST_FAILED, 2 * SECOND);
    check_counts(bench, 0, PAGES + MORE, 1);
    reopen(bench);
    assert_int_equal(list(bench, DEAD, true).last.probes, 1);
    assert_int_equal(list(bench, DEAD, true).last.next_ms, due_ms + 10 * MINUTE);
    wall_ms = due_ms + 10 * MINUTE - 1;
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 16), 0);
    wall_ms++;
    unsigned n = 0;
    while (reserve(bench, "w", 1, STAGE_FETCH, 16) > 0) {
        struct job jobs[16];
        const size_t came = bench->job_count;
        memcpy(jobs, bench->jobs, came * sizeof *jobs);
        for (size_t i = 0; i < came; i++) {
            char uri[64];
            snprintf(uri, sizeof uri, DEAD "/%u", n++);
            assert_true(slice_is(jobs[i].uri, uri));
            assert_int_equal(jobs[i].attempt, 1);
        }
        for (size_t i = 0; i < came; i++) {
            host_answers(bench, &jobs[i], 0);
        }
        if (n == came) {
            check_counts(bench, PAGES + MORE - n, 0, 0);
        }
        bench_forget(bench);
    }
    assert_int_equal(n, PAGES + MORE);
    assert_int_equal(list(bench, "", false).hosts, 0);
}

static void
test_a_person_gives_another_chance(void **state)
{
    struct bench *bench = *state;
    put_pages(bench, DEAD, 0, 10, JOB_SEED);
    (void)fail_until_nothing_is_due(bench, HOST_FAILED);
    check_counts(bench, 0, 10, 1);
    put_pages(bench, DEAD, 10, 1, 0); /* a link, and what a seed redirects to, do not */
    struct job moved = a_job(STAGE_FETCH, DEAD "/moved");
    moved.flags = JOB_SEED;
    moved.hops = 1;
    assert_int_equal(put_jobs(bench, &moved, 1), STATUS_OK);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 16), 0);
    put_pages(bench, DEAD, 0, 1, JOB_SEED); /* known, all the same */
    check_counts(bench, 12, 0, 0);
    reopen(bench); /* what was confirmed holds */
    check_counts(bench, 12, 0, 0);
    assert_int_equal(fail_until_nothing_is_due(bench, HOST_FAILED), 1);
    check_counts(bench, 0, 12, 1);
    assert_int_equal(retry(bench, "http://other.example/"), 0);
    assert_int_equal(retried_jobs, 0);
    assert_int_equal(retry(bench, DEAD "/any"), 1);
    assert_int_equal(retried_jobs, 12);
    assert_int_equal(retry(bench, ""), 0);
    assert_int_equal(fail_until_nothing_is_due(bench, HOST_FAILED), 1);
    assert_int_equal(retry(bench, ""), 1);
    check_counts(bench, 12, 0, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 16), 1);
    host_answers(bench, &bench->jobs[0], 0);
    check_counts(bench, 11, 0, 0);
    assert_int_equal(list(bench, "", false).hosts, 0);
}

static void
test_an_answer_that_forbids_is_told_as_one(void **state)
{
    struct bench *bench = *state;
    put_pages(bench, DEAD, 0, 10, 0);
    assert_int_equal(fail_until_nothing_is_due(bench, HOST_FAILED | HOST_FORBIDS), 3);
    check_counts(bench, 0, 10, 1);
    assert_int_equal(list(bench, DEAD, true).last.failures, 3);
}

/* A host that answered is not given up so soon, also when the daemon was started anew meanwhile,
 * and its row is read only later. */
static void
test_a_host_that_answered_has_more_patience(void **state)
{
    struct bench *bench = *state;
    put_pages(bench, DEAD, 0, 10, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    host_answers(bench, &bench->jobs[0], 0);
    reopen(bench);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    struct job job = bench->jobs[0];
    reopen(bench); /* nobody has read the lane's row when the worker says what it holds */
    touch(bench, "w", 1, &job, 1);
    host_fails(bench, &job, HOST_FAILED, SECOND);
    wall_ms += SECOND;
    assert_int_equal(fail_until_nothing_is_due(bench, HOST_FAILED), 8);
    check_counts(bench, 0, 9, 1);
}

/* Whoever waits longer for its own retry comes back to the host that is set aside. */
static void
test_delayed_jobs_join(void **state)
{
    struct bench *bench = *state;
    put_pages(bench, DEAD, 0, 3, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    struct job job = bench->jobs[0];
    give_back(bench, "w", &job, 2 * MINUTE, false);
    (void)fail_until_nothing_is_due(bench, HOST_FAILED);
    settle(bench);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].delayed, 1);
    check_counts(bench, 0, 2, 1);
    wall_ms += 2 * MINUTE;
    check_counts(bench, 0, 3, 1);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].delayed, 0);
    /* The one whose failure sets the host aside waits with it, not for itself. */
    assert_int_equal(retry(bench, DEAD), 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    job = bench->jobs[0];
    const struct completion completion = {.key = job.key,
                                          .verdict = VERDICT_RELEASE,
                                          .delay_ms = HOUR,
                                          .report =
                                              REPORT(.words = HOST_FAILED, .rest_ms = SECOND)};
    complete(bench, "w", 1, &completion, job.attempt);
    check_counts(bench, 0, 3, 1);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].delayed, 0);
}

/* A document that comes out of a dump needs no fetch, also of a host that is set aside. */
static void
test_a_slice_spares_a_job_that_is_set_aside(void **state)
{
    struct bench *bench = *state;
    put_pages(bench, DEAD, 0, 3, 0);
    (void)fail_until_nothing_is_due(bench, HOST_FAILED);
    check_counts(bench, 0, 3, 1);
    put_pages(bench, DEAD, 2, 1, JOB_SLICE);
    check_counts(bench, 0, 2, 1);
    assert_int_equal(stats(bench).stages[STAGE_INDEX].ready, 1);
}

/* A host whose robots.txt is answered and nothing else is set aside, too; and when it is probed,
 * other jobs than the first have their turn. */
static void
test_rules_alone_are_no_answer(void **state)
{
    struct bench *bench = *state;
    put_pages(bench, DEAD, 0, 10, 0);
    assert_int_equal(fail_until_nothing_is_due(bench, HOST_FAILED | HOST_RULES), 5);
    check_counts(bench, 0, 10, 1);
    wall_ms = list(bench, DEAD, true).last.next_ms;
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    struct job job = bench->jobs[0];
    host_fails(bench, &job, HOST_FAILED | HOST_RULES, SECOND);
    check_counts(bench, 10, 0, 0);
    assert_int_equal(list(bench, DEAD, false).last.failures, 1);
    wall_ms += SECOND;
    (void)fail_until_nothing_is_due(bench, HOST_FAILED | HOST_SILENT);
    check_counts(bench, 0, 10, 1);
    assert_int_equal(list(bench, DEAD, true).last.probes, 1);
    wall_ms = list(bench, DEAD, true).last.next_ms;
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    job = bench->jobs[0];
    const struct completion denied = {.key = job.key, .report = REPORT(.words = HOST_RULES)};
    complete(bench, "w", 1, &denied, job.attempt);
    check_counts(bench, 9, 0, 0);
    assert_int_equal(list(bench, DEAD, false).hosts, 0);
}

/* ---- our own network ---- */

static void
test_an_outage_of_our_own_sets_nothing_aside(void **state)
{
    enum { HOSTS = 8 };
    struct bench *bench = *state;
    char origin[64];
    for (unsigned h = 0; h < HOSTS; h++) {
        snprintf(origin, sizeof origin, "http://h%u.example", h);
        put_pages(bench, origin, 0, 100, 0);
    }
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, HOSTS), HOSTS);
    struct job jobs[HOSTS];
    memcpy(jobs, bench->jobs, sizeof jobs);
    for (unsigned h = 0; h < HOSTS; h++) {
        host_answers(bench, &jobs[h], SECOND);
    }
    uint64_t rest_ms = 2 * SECOND;
    const uint64_t begin_ms = wall_ms += SECOND;
    while (wall_ms < begin_ms + HOUR - 6 * MINUTE) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, HOSTS), HOSTS);
        memcpy(jobs, bench->jobs, sizeof jobs);
        for (unsigned h = 0; h < HOSTS; h++) {
            host_fails(bench, &jobs[h], HOST_FAILED | HOST_SILENT, rest_ms);
        }
        wall_ms += rest_ms;
        rest_ms = 2 * rest_ms < 5 * MINUTE ? 2 * rest_ms : 5 * MINUTE;
        bench_forget(bench);
    }
    check_counts(bench, HOSTS * 99, 0, 0);
    assert_true(stats(bench).cut_off);
    assert_int_equal(stats(bench).hosts_failing, HOSTS);
    assert_int_equal(stats(bench).network_ms, begin_ms - SECOND);
    reopen(bench); /* it is known after a restart that somebody answered once */
    assert_true(stats(bench).cut_off);
    assert_int_equal(stats(bench).network_ms, begin_ms - SECOND);
    /* The network is back: one answers, the others are judged like any. */
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, HOSTS), HOSTS);
    memcpy(jobs, bench->jobs, sizeof jobs);
    host_answers(bench, &jobs[0], SECOND);
    assert_int_equal(list(bench, "", false).hosts, HOSTS - 1);
    for (unsigned h = 1; h < HOSTS; h++) {
        host_fails(bench, &jobs[h], HOST_FAILED | HOST_SILENT, 5 * MINUTE);
    }
    check_counts(bench, 98, (HOSTS - 1) * 99, HOSTS - 1);
    assert_false(stats(bench).cut_off);
}

/* ---- counting ---- */

static uint64_t dice_state;

static unsigned
dice(unsigned n)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(dice_state >> 33) % n;
}

/* Whatever is put, fetched, set aside, tried and started anew: what STATS says is what there is. */
static void
test_counts_are_exact(void **state)
{
    enum { HOSTS = 4, STEPS = 3000 };
    struct bench *bench = *state;
    unsigned page = 0, sets = 0, backs = 0;
    dice_state = 11;
    for (int step = 0; step < STEPS; step++) {
        char origin[64];
        snprintf(origin, sizeof origin, "http://h%u.example", dice(HOSTS));
        const unsigned what = dice(100);
        if (what < 4) {
            put_pages(bench, origin, page, 1 + dice(step < 20 ? 3000 : 30),
                      dice(3) == 0 ? JOB_SITEMAP : 0);
            page += 3000;
        } else if (what < 5) {
            reopen(bench);
        } else if (what < 7) {
            (void)retry(bench, dice(2) == 0 ? "" : origin);
        } else if (what < 30) {
            wall_ms += dice(4) == 0 ? 10 * MINUTE : 10 * SECOND;
        } else if (what < 40) {
            bench_work(bench);
        } else if (reserve(bench, "w", 1, STAGE_FETCH, 1 + dice(6)) > 0) {
            struct job jobs[8];
            const size_t n = bench->job_count;
            const bool bad = dice(4) != 0;
            memcpy(jobs, bench->jobs, n * sizeof *jobs);
            for (size_t i = 0; i < n; i++) {
                if (bad) {
                    host_fails(bench, &jobs[i], HOST_FAILED, 8 * SECOND);
                } else {
                    host_answers(bench, &jobs[i], dice(2) == 0 ? 0 : SECOND);
                }
            }
        }
        if (step % 20 == 0) {
            settle(bench);
            const struct queue_stats now = stats(bench);
            const struct listed listed = list(bench, "", true);
            assert_int_equal(now.stages[STAGE_FETCH].aside, listed.jobs);
            assert_int_equal(now.hosts_aside, listed.hosts);
            sets += listed.hosts > 0;
            backs += listed.hosts == 0;
            uint64_t found[2] = {0};
            for (int aside = 0; aside < 2; aside++) {
                struct buf *payload = bench_payload(bench);
                codec_put_u8(payload, STAGE_FETCH);
                codec_put_slice(payload, aside ? SLICE("aside") : SLICE("ready"));
                codec_put_varint(payload, 200000);
                const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_PEEK, 0);
                assert_int_equal(answer->status, STATUS_OK);
                found[aside] = codec_read_u32((const uint8_t *)answer->payload.data);
            }
            assert_int_equal(now.stages[STAGE_FETCH].ready, found[0]);
            assert_int_equal(now.stages[STAGE_FETCH].aside, found[1]);
        }
        if (bench->tokens > ANSWERS_MOST / 2) {
            bench_forget(bench);
        }
    }
    assert_true(sets > 10 && backs > 0); /* both were met */
}

/* ---- requests that make no sense ---- */

static void
test_bad_requests_are_refused(void **state)
{
    struct bench *bench = *state;
    for (uint8_t verb = QUEUE_HOSTS; verb <= QUEUE_RETRY; verb++) {
        codec_put_u8(bench_payload(bench), 200);
        const struct answer *answer = bench_submit(bench, "test", 1, verb, 0);
        bench_work(bench);
        assert_true(answer->given);
        assert_int_equal(answer->status, STATUS_BAD_INPUT);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
queue_troubles_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_of_new_and_of_known_hosts),
        cmocka_unit_test(test_who_forbids_everything_is_asked_less_often),
        cmocka_unit_test(test_failures_at_a_time_are_one),
        cmocka_unit_test(test_probes_come_ever_more_seldom),
        cmocka_unit_test(test_silence_of_all_may_be_our_own),
        cmocka_unit_test(test_rows_are_read_as_written),
        CASE(test_a_host_is_set_aside_in_one_step),
        CASE(test_a_host_that_comes_back_gets_its_jobs),
        CASE(test_a_person_gives_another_chance),
        CASE(test_a_host_that_answered_has_more_patience),
        CASE(test_delayed_jobs_join),
        CASE(test_a_slice_spares_a_job_that_is_set_aside),
        CASE(test_an_answer_that_forbids_is_told_as_one),
        CASE(test_rules_alone_are_no_answer),
        CASE(test_an_outage_of_our_own_sets_nothing_aside),
        CASE(test_counts_are_exact),
        CASE(test_bad_requests_are_refused),
    };
    return cmocka_run_group_tests_name("queue troubles", tests, NULL, NULL);
}
