/* Rounds of the broker (queue/broker/round.c): what one writes, what one that failed leaves, who
 * is told what, when the daemon wakes, and what it takes in. Time stands still but when the test
 * moves it.
 */
#include <errno.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "config/process_state.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"
#include "tests/unit/queue/told_frontier.h"

#define URI "http://example.org/"

enum { PAUSE_MS = 1000, STALL_CHECK_MS = 500, ROOM_CHECK_MS = 1000 };

static struct bench *
new_bench(void)
{
    struct bench *bench = bench_new(NULL, NULL);
    bench_close(bench);
    bench->options.grace_ms = 0;
    bench_open(bench);
    return bench;
}

static int
setup(void **state)
{
    told_frontier_reset();
    clock_stop();
    *state = new_bench();
    return 0;
}

static int
teardown(void **state)
{
    told_frontier_reset();
    bench_free(*state);
    clock_go();
    return 0;
}

static void
expect_written(const char *trees)
{
    assert_string_equal(told_frontier.wrote, trees);
    told_frontier.wrote[0] = '\0';
}

static void
end_with(struct bench *bench, const struct job *job, enum verdict verdict, uint64_t delay_ms,
         uint64_t lane_delay_ms)
{
    const struct completion completion = {.key = job->key,
                                          .verdict = verdict,
                                          .reason = SLICE("so it is"),
                                          .delay_ms = delay_ms,
                                          .report = REPORT(.rest_ms = lane_delay_ms)};
    complete(bench, "w", 1, &completion, job->attempt);
}

static struct job
take_one(struct bench *bench, enum stage stage)
{
    assert_int_equal(reserve(bench, "w", 1, stage, 1), 1);
    return bench->jobs[0];
}

/* ---- what is written ---- */

/* Rows that changed and the counters; when nothing changed, nothing at all. */
static void
test_a_round_writes_what_changed_and_no_more(void **state)
{
    struct bench *bench = *state;
    struct job job;
    touch(bench, "w", 1, NULL, 0);
    expect_written("workers+ about+ about+ about+ "); /* who we are is written once */
    touch(bench, "w", 1, NULL, 0);
    bench_work(bench);
    expect_written("");
    put_uri(bench, STAGE_DETECT, URI, 0);
    expect_written("jobs+ about+ ");
    job = take_one(bench, STAGE_DETECT);
    expect_written("");
    end_with(bench, &job, VERDICT_RELEASE, 5000, 0);
    expect_written("jobs- later+ about+ ");
    clock_move(5000);
    bench_work(bench);
    expect_written("jobs+ later- about+ ");
    job = take_one(bench, STAGE_DETECT);
    end_with(bench, &job, VERDICT_RELEASE, 0, 0);
    expect_written("jobs+ about+ ");
    job = take_one(bench, STAGE_DETECT);
    end_with(bench, &job, VERDICT_BURY, 0, 0);
    expect_written("jobs- buried+ about+ ");
    assert_int_equal(kick(bench, STAGE_DETECT, ""), 1);
    expect_written("jobs+ buried- about+ ");
    job = take_one(bench, STAGE_DETECT);
    pass_on(bench, "w", &job);
    expect_written("jobs- jobs+ about+ ");
    done(bench, "w", &job); /* a repetition */
    expect_written("");
    put_uri(bench, STAGE_FETCH, URI, 3);
    expect_written("seen+ about+ fetch+ ");
    put_uri(bench, STAGE_FETCH, URI, 3);
    expect_written("");
    put_uri(bench, STAGE_FETCH, URI, 2); /* nearer */
    expect_written("seen+ about+ ");
    job = take_one(bench, STAGE_FETCH);
    expect_written("");
    end_with(bench, &job, VERDICT_DONE, 0, 0); /* it asks for no rest */
    expect_written("seen+ about+ fetch- ");
    for (int i = 0; i < 2; i++) {
        put_uri(bench, STAGE_FETCH, i == 0 ? URI "a" : URI "b", 3);
        job = take_one(bench, STAGE_FETCH);
        end_with(bench, &job, VERDICT_DONE, 0, i == 0 ? 1000 : 0);
        expect_written(i == 0 ? "seen+ lanes+ about+ fetch- " : "seen+ about+ fetch- ");
        clock_move(1000);
    }
    static const uint16_t depths[] = {3, 3, 4, 2, 2};
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) { /* the smallest is kept */
        struct job again = a_job(STAGE_EXTRACT, URI "a");
        again.flags = JOB_REVISIT;
        again.depth = depths[i];
        assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
        expect_written(i == 0 || i == 3 ? "jobs+ revisits+ about+ " : "jobs+ about+ ");
    }
    (void)reserve(bench, "v", 1, STAGE_INDEX, 1);
    expect_written("workers+ about+ ");
    bench_work(bench);
    expect_written("");
}

/* ---- what fails ---- */

/* A job with one of each thing that may happen to it; where it is now. */
struct everything {
    struct job out, due; /* leased of detect; the delayed one */
};

static void
fill(struct bench *bench, struct everything *all)
{
    touch(bench, "w", 1, NULL, 0);
    for (int i = 0; i < 3; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, URI "%d", i);
        put_uri(bench, STAGE_DETECT, uri, 1);
    }
    const struct job buried = take_one(bench, STAGE_DETECT);
    end_with(bench, &buried, VERDICT_BURY, 0, 0);
    all->due = take_one(bench, STAGE_DETECT);
    end_with(bench, &all->due, VERDICT_RELEASE, 500, 0);
    put_uri(bench, STAGE_FETCH, URI "page", 4);
    all->out = take_one(bench, STAGE_DETECT);
    clock_move(500);
}

static void
submit_everything(struct bench *bench, const struct everything *all,
                  const struct answer *answers[4])
{
    struct job job = a_job(STAGE_FETCH, URI "page");
    job.depth = 2;
    struct buf *payload = bench_payload(bench);
    codec_put_varint(payload, 2);
    message_put_new(payload, &job);
    job.uri = SLICE(URI "other");
    message_put_new(payload, &job);
    answers[0] = bench_submit(bench, "test", 1, QUEUE_PUT, 0);
    const struct job output = a_job(STAGE_TRANSFORM, URI "2");
    const struct completion completion = {
        .key = all->out.key, .outputs = &output, .output_count = 1, .outcome = OUTCOME_FETCHED};
    submit_complete(bench, "w", 1, &completion, 1);
    answers[1] = &bench->answers[bench->tokens - 1];
    payload = bench_payload(bench);
    codec_put_u8(payload, STAGE_DETECT);
    codec_put_slice(payload, SLICE(""));
    answers[2] = bench_submit(bench, "test", 1, QUEUE_KICK, 0);
    payload = bench_payload(bench);
    codec_put_slice(payload, SLICE(""));
    answers[3] = bench_submit(bench, "test", 1, QUEUE_RETRY, 0);
}

/* All that can be seen of it, but how old its jobs are. */
static void
describe(struct bench *bench, struct buf *text)
{
    static const char *const states[] = {"jobs", "delayed", "buried"};
    struct queue_stats now = stats(bench);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        const struct queue_stage_stats *of = &now.stages[stage];
        buf_printf(text, "%d: %lu %lu %lu %lu %lu %lu;", stage, (unsigned long)of->ready,
                   (unsigned long)of->leased, (unsigned long)of->delayed, (unsigned long)of->put,
                   (unsigned long)of->done, (unsigned long)of->released);
        for (size_t i = 0; i < 3; i++) {
            struct buf *payload = bench_payload(bench);
            codec_put_u8(payload, (uint8_t)stage);
            codec_put_slice(payload, slice_string(states[i]));
            codec_put_varint(payload, 100);
            const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_PEEK, 0);
            struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
            for (uint32_t n = codec_get_u32(&reader); n > 0; n--) {
                struct job job;
                assert_true(job_key_decode(&reader, &job.key));
                assert_true(job_decode(&reader, &job));
                (void)codec_get_slice(&reader);
                (void)codec_get_slice(&reader);
                buf_printf(text, " %s %lu %.*s %u %u", states[i], (unsigned long)job.key.id,
                           SLICE_PRINT(job.uri), job.depth, job.attempt);
            }
        }
    }
    buf_printf(text, " seen %lu outcomes %lu lanes %lu\n", (unsigned long)now.seen,
               (unsigned long)now.outcomes[OUTCOME_FETCHED], (unsigned long)now.lanes);
    bench_forget(bench);
}

/* A round that fails leaves nothing; the same again is as if it had not failed. */
static void
test_a_failed_round_has_not_happened(void **state)
{
    struct bench *benches[2] = {*state, new_bench()};
    struct buf texts[2], before;
    struct everything all[2];
    buf_init(&before, 1 << 20);
    for (int b = 0; b < 2; b++) {
        const struct answer *answers[4];
        buf_init(&texts[b], 1 << 20);
        fill(benches[b], &all[b]);
        if (b == 1) {
            describe(benches[b], &before);
            told_frontier.apply = STATUS_FULL;
            submit_everything(benches[b], &all[b], answers);
            bench_work(benches[b]);
            describe(benches[b], &texts[b]);
            assert_string_equal(texts[b].data, before.data);
            told_frontier.apply = STATUS_OK;
            submit_everything(benches[b], &all[b], answers); /* it pauses */
            bench_work(benches[b]);
            buf_reset(&texts[b]);
            describe(benches[b], &texts[b]);
            assert_string_equal(texts[b].data, before.data);
            buf_reset(&texts[b]);
            clock_move(PAUSE_MS);
            bench_work(benches[b]); /* who has room now takes requests again */
        }
        submit_everything(benches[b], &all[b], answers);
        bench_work(benches[b]);
        for (int i = 0; i < 4; i++) {
            assert_true(answers[i]->given);
            assert_int_equal(answers[i]->status, STATUS_OK);
        }
        describe(benches[b], &texts[b]);
        bench_restart(benches[b]);
        touch(benches[b], "w", 1, NULL, 0);
        describe(benches[b], &texts[b]);
    }
    assert_string_equal(texts[0].data, texts[1].data);
    for (int b = 0; b < 2; b++) {
        buf_release(&texts[b]);
    }
    buf_release(&before);
    bench_free(benches[1]);
}

/* Whoever asked for something is told FULL; whoever tells what happened hears nothing and tells it
 * again, and whoever waits for jobs goes on to wait. */
static void
test_who_is_told_when_a_commit_fails(void **state)
{
    static const struct {
        uint8_t verb;
        enum status status;
    } cases[] = {{QUEUE_PUT, STATUS_FULL},        {QUEUE_COMPLETE, STATUS_CANCELLED},
                 {QUEUE_TOUCH, STATUS_CANCELLED}, {QUEUE_KICK, STATUS_FULL},
                 {QUEUE_RETRY, STATUS_FULL},      {QUEUE_TRANSFER, STATUS_FULL}};
    enum { CASES = sizeof cases / sizeof cases[0] };
    struct bench *bench = *state;
    touch(bench, "w", 1, NULL, 0);
    for (int round = 0; round < 3; round++) { /* it fails; it pauses; it goes on */
        const struct answer *answers[CASES];
        const struct answer *waits = submit_reserve(bench, "w", 1, STAGE_DETECT, 1, 60000, 0, 0);
        for (size_t i = 0; i < CASES; i++) {
            struct buf *payload = bench_payload(bench);
            if (cases[i].verb == QUEUE_KICK || cases[i].verb == QUEUE_TOUCH) {
                codec_put_u8(payload, 0);
            } else if (cases[i].verb == QUEUE_TRANSFER) {
                codec_put_u64(payload, 77);
                codec_put_u64(payload, 1);
                codec_put_u64(payload, 1);
            }
            codec_put_varint(payload, 0); /* of nothing */
            /* A name that is new has a row to be written. */
            answers[i] = bench_submit(bench, cases[i].verb == QUEUE_TOUCH ? "new" : "w", 1,
                                      cases[i].verb, 0);
            /* What would come in is refused before it is read. */
            assert_int_equal(answers[i]->given, round == 1 && (cases[i].verb == QUEUE_PUT ||
                                                               cases[i].verb == QUEUE_TRANSFER));
        }
        told_frontier.apply = round == 0 ? STATUS_FULL : STATUS_OK;
        bench_work(bench);
        for (size_t i = 0; i < CASES; i++) {
            assert_true(answers[i]->given);
            assert_int_equal(answers[i]->status, round == 2 ? STATUS_OK : cases[i].status);
            assert_true(round > 0 || strcmp(answers[i]->why, "apply failed") == 0);
            assert_true(round == 2 || answers[i]->why[0] != '\0');
        }
        assert_false(waits->given);
        assert_int_equal(stats(bench).intake_stopped, round < 2);
        if (round == 1) {
            clock_move(PAUSE_MS);
            bench_work(bench);
        }
    }
}

/* Anything but a lack of room, or a store that is broken, ends the daemon. */
static void
test_what_no_pause_mends_ends_the_daemon(void **state)
{
    struct bench *bench = *state;
    const struct job job = a_job(STAGE_DETECT, URI);
    for (int i = 0; i < 6; i++) {
        struct reason why = {""};
        enum status *const fails = i % 2 == 0 ? &told_frontier.apply : &told_frontier.tick;
        struct buf *payload = bench_payload(bench);
        codec_put_varint(payload, 1);
        message_put_new(payload, &job);
        (void)bench_submit(bench, "test", 1, QUEUE_PUT, 0);
        *fails = i / 2 == 0 ? STATUS_SYSTEM : STATUS_FULL;
        told_frontier.broken = i / 2 == 1;
        const enum status status = broker_work(bench->broker, &why);
        assert_int_equal(status, i / 2 == 0 ? STATUS_SYSTEM : i / 2 == 1 ? STATUS_FULL : STATUS_OK);
        assert_true(i / 2 == 2 ||
                    strstr(why.text, i % 2 == 0 ? "apply failed" : "tick failed") != NULL);
        *fails = STATUS_OK;
        told_frontier.broken = false;
        bench_restart(bench);
        bench_forget(bench);
    }
}

/* Housekeeping that lacks room has everybody pause, too. */
static void
test_a_tick_without_room_pauses(void **state)
{
    struct bench *bench = *state;
    const struct job job = a_job(STAGE_DETECT, URI);
    told_frontier.tick = STATUS_FULL;
    bench_work(bench);
    told_frontier.tick = STATUS_OK;
    assert_true(stats(bench).intake_stopped);
    clock_move(PAUSE_MS - 1);
    bench_work(bench);
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_FULL);
    clock_move(1);
    bench_work(bench);
    assert_false(stats(bench).intake_stopped);
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
}

/* What is due comes, though the round that would have moved it failed. */
static void
test_what_was_due_comes_after_a_failure(void **state)
{
    struct bench *bench = *state;
    struct everything all;
    fill(bench, &all);
    told_frontier.apply = STATUS_FULL;
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].delayed, 1);
    told_frontier.apply = STATUS_OK;
    clock_move(PAUSE_MS);
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].delayed, 0);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].ready, 1);
}

/* ---- room ---- */

static enum process_phase
told_phase(struct bench *bench)
{
    struct process_state now = {.phase = PROCESS_PHASES};
    assert_true(process_state_read(bench->folder, "queue", &now));
    return now.phase;
}

/* The disk is looked at each second, and at once when something is asked for; who looks at this
 * process is told that it waits. */
static void
test_room_is_looked_at_when_it_matters(void **state)
{
    struct bench *bench = *state;
    const struct job job = a_job(STAGE_DETECT, URI);
    char run[SCRATCH_SIZE + 8];
    snprintf(run, sizeof run, "%s/run", bench->folder);
    assert_int_equal(mkdir(run, 0700), 0);
    process_state_open(bench->folder, "queue");
    process_state_ready();
    bench_close(bench);
    bench->options.min_free = 1600;
    told_frontier.free = 1600;
    bench_open(bench);
    bench_work(bench);
    assert_false(stats(bench).intake_stopped);
    told_frontier.free = 1599;
    clock_move(ROOM_CHECK_MS - 1);
    bench_work(bench);
    assert_false(stats(bench).intake_stopped);
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK); /* it was submitted before the look */
    assert_true(stats(bench).intake_stopped);
    assert_int_equal(told_phase(bench), PROCESS_WAITING);
    told_frontier.room = STATUS_SYSTEM; /* who cannot look changes nothing */
    told_frontier.free = 5000;
    clock_move(ROOM_CHECK_MS);
    bench_work(bench);
    assert_true(stats(bench).intake_stopped);
    told_frontier.room = STATUS_OK;
    clock_move(ROOM_CHECK_MS - 1);
    bench_work(bench);
    assert_true(stats(bench).intake_stopped);
    clock_move(1);
    bench_work(bench);
    assert_false(stats(bench).intake_stopped);
    assert_int_equal(told_phase(bench), PROCESS_READY);
    told_frontier.apply = STATUS_FULL;
    (void)put_jobs(bench, &job, 1);
    assert_int_equal(told_phase(bench), PROCESS_WAITING);
    told_frontier.apply = STATUS_OK;
    (void)submit_reserve(bench, "w", 1, STAGE_DETECT, 1, 0, 0, 0);
    bench_work(bench);
    assert_true(stats(bench).intake_stopped); /* there is room, but the pause is not over */
    clock_move(PAUSE_MS);
    bench_work(bench);
    assert_int_equal(told_phase(bench), PROCESS_READY);
}

/* ---- when the daemon wakes ---- */

static void
expect_wait(struct bench *bench, uint64_t ms)
{
    assert_int_equal(broker_wait_ms(bench->broker), ms);
}

static void
test_the_daemon_wakes_in_time(void **state)
{
    struct bench *bench = *state;
    struct job job = a_job(STAGE_DETECT, URI);
    bench_work(bench);
    expect_wait(bench, STALL_CHECK_MS);
    clock_move(STALL_CHECK_MS - 1);
    expect_wait(bench, 1);
    clock_move(1);
    expect_wait(bench, 0);
    told_frontier.wait_ms = 70; /* the store's */
    bench_work(bench);
    expect_wait(bench, 70);
    told_frontier.wait_ms = 5000;
    bench_work(bench);
    expect_wait(bench, STALL_CHECK_MS);
    job.due_ms = clock_wall_ms() + 300;
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
    expect_wait(bench, 300);
    clock_move(299);
    expect_wait(bench, 1);
    clock_move(1);
    expect_wait(bench, 0);
    bench_work(bench);
    expect_wait(bench, STALL_CHECK_MS - 300);
    (void)submit_reserve(bench, "w", 1, STAGE_INDEX, 1, 120, 0, 0); /* who waits is answered */
    bench_work(bench);
    expect_wait(bench, 120);
    clock_move(120);
    bench_work(bench);
    expect_wait(bench, 80);
    codec_put_varint(bench_payload(bench), 0);
    (void)bench_submit(bench, "test", 1, QUEUE_PUT, 0);
    expect_wait(bench, 0);
    bench_work(bench);
    expect_wait(bench, 80);
}

static void
test_the_daemon_wakes_for_hosts_that_somebody_waits_for(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    const struct job job = take_one(bench, STAGE_FETCH);
    end_with(bench, &job, VERDICT_DONE, 0, 200);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 0);
    expect_wait(bench, STALL_CHECK_MS); /* nobody waits for it */
    (void)submit_reserve(bench, "v", 1, STAGE_INDEX, 1, 60000, 0, 0);
    bench_work(bench);
    expect_wait(bench, STALL_CHECK_MS);
    const struct answer *waits = submit_reserve(bench, "w", 1, STAGE_FETCH, 1, 60000, 0, 0);
    bench_work(bench);
    expect_wait(bench, 200);
    clock_move(199);
    expect_wait(bench, 1);
    bench_work(bench);
    assert_false(waits->given);
    clock_move(1);
    expect_wait(bench, 0);
    bench_work(bench);
    read_answer(bench, waits);
    assert_int_equal(bench->job_count, 1);
}

/* While it pauses after a failure nothing that is due is waited for; the end of the grace is. */
static void
test_pauses_and_graces_are_waited_for(void **state)
{
    struct bench *bench = *state;
    struct everything all;
    fill(bench, &all);
    told_frontier.apply = STATUS_FULL;
    bench_work(bench);
    told_frontier.apply = STATUS_OK;
    expect_wait(bench, PAUSE_MS);
    clock_move(PAUSE_MS - 1);
    bench_work(bench);
    expect_wait(bench, 1); /* it does not spin until then */
    clock_move(1);
    expect_wait(bench, 0);
    bench_close(bench);
    bench->options.grace_ms = 250;
    bench_open(bench);
    bench_work(bench);
    expect_wait(bench, 250);
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 5), 0);
    clock_move(249);
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 5), 0);
    clock_move(1);
    expect_wait(bench, 0);
    bench_work(bench);
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 5), 2);
}

/* ---- the end ---- */

static void
test_who_waits_is_told_of_the_end(void **state)
{
    struct bench *bench = *state;
    const struct answer *waits = submit_reserve(bench, "w", 1, STAGE_DETECT, 1, 60000, 0, 0);
    const struct answer *other = submit_reserve(bench, "v", 1, STAGE_DETECT, 1, 60000, 0, 0);
    codec_put_varint(bench_payload(bench), 0);
    const struct answer *put = bench_submit(bench, "test", 1, QUEUE_PUT, 0);
    bench_close(bench);
    assert_true(waits->given && other->given && put->given);
    assert_int_equal(waits->status, STATUS_CANCELLED);
    assert_int_equal(other->status, STATUS_CANCELLED);
    assert_int_equal(put->status, STATUS_CANCELLED);
    bench_open(bench);
    broker_close(NULL);
}

/* Partitions cannot become fewer while jobs wait for those that would go. */
static void
test_partitions_that_jobs_wait_for_must_stay(void **state)
{
    enum { PARTS = 4 };
    struct bench *bench = *state;
    struct reason why = {""};
    uint64_t last = 0;
    bench_close(bench);
    bench->options.index_partitions = PARTS;
    bench_open(bench);
    for (int i = 0; i < 20; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, URI "%d", i);
        put_uri(bench, STAGE_INDEX, uri, 0);
        const uint64_t partition = (uint64_t)partition_of(slice_string(uri)) * PARTS / PARTITIONS;
        last = partition > last ? partition : last;
    }
    put_uri(bench, STAGE_EXTRACT, URI, 0); /* which comes behind, and has no partitions */
    bench_close(bench);
    for (uint32_t parts = 1; parts <= PARTS; parts++) {
        const bool enough = parts > last;
        bench->options.index_partitions = parts;
        assert_int_equal(broker_open(&bench->broker, &bench->options, bench_answer, bench, &why),
                         enough ? STATUS_OK : STATUS_MISUSE);
        assert_true(enough || strstr(why.text, "but jobs wait for partition") != NULL);
        broker_close(bench->broker);
        bench->broker = NULL;
    }
    bench_open(bench);
}

int
queue_rounds_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_a_round_writes_what_changed_and_no_more),
        CASE(test_a_failed_round_has_not_happened),
        CASE(test_who_is_told_when_a_commit_fails),
        CASE(test_what_no_pause_mends_ends_the_daemon),
        CASE(test_a_tick_without_room_pauses),
        CASE(test_what_was_due_comes_after_a_failure),
        CASE(test_room_is_looked_at_when_it_matters),
        CASE(test_the_daemon_wakes_in_time),
        CASE(test_the_daemon_wakes_for_hosts_that_somebody_waits_for),
        CASE(test_pauses_and_graces_are_waited_for),
        CASE(test_who_waits_is_told_of_the_end),
        CASE(test_partitions_that_jobs_wait_for_must_stay),
    };
    return cmocka_run_group_tests_name("queue rounds", tests, NULL, NULL);
}
