/* The scope changes under a running crawl: what the queue has considered again (docs/SCOPE.md). */
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue_fixture.h"
#include "tests/unit/queue_suites.h"

#define URI "http://example.org/"

static void
done_by(struct bench *bench, const struct job *job, uint64_t scope)
{
    const struct completion completion = {.key = job->key, .scope = scope};
    complete(bench, "w", 1, &completion, job->attempt);
}

static void
set_scope(struct bench *bench, uint64_t version)
{
    broker_set_scope(bench->broker, version);
    bench_work(bench);
}

/* Takes the one job of extract, which must be of that URI. */
static struct job
only_extract(struct bench *bench, const char *uri)
{
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 1);
    assert_true(slice_is(bench->jobs[0].uri, uri));
    return bench->jobs[0];
}

static uint64_t
waiting(struct bench *bench, enum stage stage)
{
    return stats(bench).stages[stage].ready + stats(bench).stages[stage].leased;
}

static void
test_jobs_go_out_with_the_version_in_force(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 0);
    assert_int_equal(bench->scope, 0);
    broker_set_scope(bench->broker, 5);
    put_uri(bench, STAGE_FETCH, URI, 0); /* the same round */
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_int_equal(bench->scope, 5);
    assert_int_equal(waiting(bench, STAGE_EXTRACT), 0); /* there were no documents before */
}

static void
test_a_change_begins_one_sweep(void **state)
{
    struct bench *bench = *state;
    set_scope(bench, 5);
    put_uri(bench, STAGE_FETCH, URI, 0);
    set_scope(bench, 6);
    set_scope(bench, 6);
    bench_close(bench);
    bench_open(bench);
    set_scope(bench, 6); /* as it was before the restart */
    touch(bench, "w", 1, NULL, 0);
    const struct job sweep = only_extract(bench, JOB_SWEEP_URI);
    assert_int_equal(sweep.generation, 6);
    done_by(bench, &sweep, 6);
    assert_int_equal(waiting(bench, STAGE_EXTRACT), 0);
}

static void
test_what_was_filtered_before_is_considered_again(void **state)
{
    struct bench *bench = *state;
    set_scope(bench, 5);
    put_uri(bench, STAGE_EXTRACT, URI, 3);
    const struct job job = only_extract(bench, URI);
    set_scope(bench, 6);
    done_by(bench, &job, 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 2); /* beside the sweep */
    const struct job again = bench->jobs[1];
    assert_true(slice_is(again.uri, URI));
    assert_int_equal(again.flags, JOB_REVISIT | JOB_REFILTER);
    assert_int_equal(again.depth, 3);
    done_by(bench, &again, 6);
    done_by(bench, &bench->jobs[0], 6);
    assert_int_equal(waiting(bench, STAGE_EXTRACT), 0);
}

static void
test_an_end_in_the_round_of_the_change_is_outdated(void **state)
{
    struct bench *bench = *state;
    set_scope(bench, 5);
    put_uri(bench, STAGE_FETCH, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    broker_set_scope(bench->broker, 6);
    done_by(bench, &bench->jobs[0], 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 2);
    assert_true(slice_is(bench->jobs[1].uri, URI));
}

/* The smallest depth that anything led to it at, though its metadata still say more. */
static void
test_a_swept_document_has_its_depth(void **state)
{
    struct bench *bench = *state;
    struct job put = a_job(STAGE_FETCH, URI);
    put_uri(bench, STAGE_FETCH, URI, 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    put_uri(bench, STAGE_FETCH, URI, 2);
    done(bench, "w", &bench->jobs[0]);
    put.flags = JOB_REFILTER;
    put.depth = 5;
    assert_int_equal(put_jobs(bench, &put, 1), STATUS_OK);
    const struct job job = only_extract(bench, URI);
    assert_int_equal(job.flags, JOB_REVISIT | JOB_REFILTER);
    assert_int_equal(job.depth, 2);
    done(bench, "w", &job);
    assert_int_equal(waiting(bench, STAGE_FETCH), 0);
    /* it is no revisit at a smaller depth: nothing of it is remembered */
    put_uri(bench, STAGE_EXTRACT, URI, 5);
    assert_int_equal(only_extract(bench, URI).depth, 5);
}

struct disk {
    bool full;
};

static int
no_room(void *context, enum store_point point)
{
    const struct disk *disk = context;
    return point == STORE_BEFORE_COMMIT && disk->full ? 28 : 0;
}

static void
test_a_failed_commit_leaves_the_version(void **state)
{
    struct bench *bench = *state;
    struct disk disk = {false};
    bench_close(bench);
    bench->options.store.fault = no_room;
    bench->options.store.fault_context = &disk;
    bench_open(bench);
    put_uri(bench, STAGE_FETCH, URI, 0);
    disk.full = true;
    set_scope(bench, 7);
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 0);
    assert_int_equal(bench->scope, 0);
    disk.full = false;
    clock_move(1100);
    bench_work(bench);
    (void)only_extract(bench, JOB_SWEEP_URI);
    assert_int_equal(bench->scope, 7);
}

int
queue_scope_run(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_CASE(test_jobs_go_out_with_the_version_in_force),
        BENCH_CASE(test_a_change_begins_one_sweep),
        BENCH_CASE(test_what_was_filtered_before_is_considered_again),
        BENCH_CASE(test_an_end_in_the_round_of_the_change_is_outdated),
        BENCH_CASE(test_a_swept_document_has_its_depth),
        BENCH_CASE(test_a_failed_commit_leaves_the_version),
    };
    return cmocka_run_group_tests_name("queue scope", tests, NULL, NULL);
}
