/* A broker whose clock stands until a test moves it, and that sets a host aside by one failure:
 * shared by broker_corners.c and broker_faults.c. */
#ifndef TESTS_UNIT_QUEUE_PARTS_STILL_BROKER_H
#define TESTS_UNIT_QUEUE_PARTS_STILL_BROKER_H

#include "base/system/clock.h"
#include "queue/storage/store_batch.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"
#include "tests/unit/queue/told_frontier.h"

#define HOST "http://example.org"
#define URI HOST "/"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

static const struct trouble_rules one_failure = {
    .failures = 1, .probe_ms = HOUR, .probe_most_ms = 24 * HOUR, .outage_hosts = 9};

static inline int
setup(void **state)
{
    struct bench *bench = bench_new(NULL, NULL);
    told_frontier_reset();
    clock_stop();
    bench_close(bench);
    bench->options.grace_ms = 0;
    bench->options.troubles = one_failure;
    bench_open(bench);
    *state = bench;
    return 0;
}

static inline int
teardown(void **state)
{
    told_frontier_reset();
    bench_free(*state);
    clock_go();
    return 0;
}

static inline struct job
take_one(struct bench *bench, enum stage stage)
{
    assert_int_equal(reserve(bench, "w", 1, stage, 1), 1);
    return bench->jobs[0];
}

/* How a job of fetch ends; the broker is asked to work by somebody else. */
static inline void
submit_end(struct bench *bench, const struct job *job, uint8_t words, uint64_t rest_ms)
{
    const struct completion completion = {
        .key = job->key,
        .verdict = words & HOST_FAILED ? VERDICT_RELEASE : VERDICT_DONE,
        .no_attempt = true,
        .report = REPORT(.words = words, .rest_ms = rest_ms, .cause = SLICE("refused"))};
    submit_complete(bench, "w", 1, &completion, job->attempt);
}

static inline void
end_in_scope(struct bench *bench, struct job job, uint64_t scope)
{
    const struct completion completion = {.key = job.key, .scope = scope};
    complete(bench, "w", 1, &completion, job.attempt);
}

static inline void
submit_put(struct bench *bench, const struct job *job)
{
    struct buf *payload = bench_payload(bench);
    codec_put_varint(payload, 1);
    message_put_new(payload, job);
    (void)bench_submit(bench, "test", 1, QUEUE_PUT, 0);
}

static inline struct job
a_seed(const char *uri)
{
    struct job seed = a_job(STAGE_FETCH, uri);
    seed.flags = JOB_SEED;
    return seed;
}

/* Sets the only host aside. */
static inline void
set_aside(struct bench *bench)
{
    put_uri(bench, STAGE_FETCH, URI, 0);
    const struct job job = take_one(bench, STAGE_FETCH);
    submit_end(bench, &job, HOST_FAILED, SECOND);
    bench_work(bench);
    assert_int_equal(stats(bench).hosts_aside, 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
