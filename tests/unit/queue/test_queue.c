/* The broker's rules, one by one, without sockets. What is of one part of them has files of its own
 * (queue_suites.h). */
#include "base/system/clock.h"
#include "base/system/log.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

#define URI "http://example.org/"

/* ---- the life of a job ---- */

static void
test_job_goes_through_all_stages(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    for (int stage = STAGE_FETCH; stage < STAGE_EXTRACT; stage++) {
        assert_int_equal(reserve(bench, "w", 1, (enum stage)stage, 10), 1);
        assert_true(slice_is(bench->jobs[0].uri, URI "a"));
        assert_int_equal(bench->jobs[0].attempt, 1);
        assert_int_equal(bench->jobs[0].generation, 1);
        pass_on(bench, "w", &bench->jobs[0]);
    }
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 1);
    done(bench, "w", &bench->jobs[0]);
    const struct queue_stats now = stats(bench);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        assert_int_equal(now.stages[stage].ready + now.stages[stage].leased, 0);
        assert_int_equal(now.stages[stage].done, 1);
    }
    assert_int_equal(now.seen, 1);
}

static void
test_lane_name_is_the_origin(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, "http://example.org:81/x?y", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_true(slice_is(bench->jobs[0].lane_name, "http://example.org:81"));
    assert_int_equal(bench->jobs[0].key.lane, fingerprint64(SLICE("http://example.org:81")));
}

static void
test_done_twice_has_no_second_effect(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    const struct job job = bench->jobs[0];
    pass_on(bench, "w", &job);
    pass_on(bench, "w", &job);
    assert_int_equal(stats(bench).stages[STAGE_TRANSFORM].ready, 1);
}

static void
test_done_twice_in_one_round(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    const struct job job = bench->jobs[0];
    const struct job output = a_job(STAGE_TRANSFORM, URI);
    const struct completion completion = {.key = job.key, .outputs = &output, .output_count = 1};
    submit_complete(bench, "w", 1, &completion, 1);
    submit_complete(bench, "w", 1, &completion, 1);
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_TRANSFORM].ready, 1);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].done, 1);
}

/* Each job counts once: not again when its completion is repeated, in another round or after a
 * restart, not when it is given back; and what was counted stays. */
static void
test_outcomes_count_once(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    struct completion completion = {.key = bench->jobs[0].key, .outcome = OUTCOME_GONE};
    submit_complete(bench, "w", 1, &completion, 1);
    submit_complete(bench, "w", 1, &completion, 1);
    bench_work(bench);
    assert_int_equal(stats(bench).outcomes[OUTCOME_GONE], 1);
    bench_restart(bench);
    submit_complete(bench, "w", 1, &completion, 1);
    bench_work(bench);
    assert_int_equal(reserve(bench, "w", 2, STAGE_FETCH, 1), 1);
    completion = (struct completion){
        .key = bench->jobs[0].key, .verdict = VERDICT_RELEASE, .outcome = OUTCOME_FETCHED};
    submit_complete(bench, "w", 2, &completion, 1);
    bench_work(bench);
    assert_int_equal(stats(bench).outcomes[OUTCOME_GONE], 1);
    assert_int_equal(stats(bench).outcomes[OUTCOME_FETCHED], 0);
    assert_int_equal(stats(bench).outcomes[OUTCOME_NONE], 0);
}

static void
test_order_of_arrival(void **state)
{
    struct bench *bench = *state;
    char uri[64];
    for (int i = 0; i < 50; i++) {
        snprintf(uri, sizeof uri, URI "%02d", i);
        put_uri(bench, STAGE_INDEX, uri, 0);
    }
    for (int i = 0; i < 50; i += 10) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 10), 10);
        for (int n = 0; n < 10; n++) {
            snprintf(uri, sizeof uri, URI "%02d", i + n);
            assert_true(slice_is(bench->jobs[n].uri, uri));
        }
    }
    assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 10), 0);
}

static void
test_release_comes_back_first_and_counts(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI "a", 0);
    put_uri(bench, STAGE_DETECT, URI "b", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    const struct job job = bench->jobs[0];
    give_back(bench, "w", &job, 0, false);
    give_back(bench, "w", &job, 0, false); /* a repetition: attempt 1 is over */
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 2), 2);
    assert_true(slice_is(bench->jobs[0].uri, URI "a"));
    assert_int_equal(bench->jobs[0].attempt, 2);
    give_back(bench, "w", &bench->jobs[0], 0, true);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 2), 1);
    assert_int_equal(bench->jobs[0].attempt, 2);
}

static void
test_release_with_delay(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    give_back(bench, "w", &bench->jobs[0], 600000, false);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].delayed, 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 0);
    bench_restart(bench);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].delayed, 1);
    clock_move(600000);
    touch(bench, "w", 1, NULL, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].delayed, 0);
}

static void
test_too_many_attempts_bury(void **state)
{
    struct bench *bench = *state;
    char text[1024] = "";
    put_uri(bench, STAGE_FETCH, URI, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
        give_back(bench, "w", &bench->jobs[0], 0, false);
    }
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 0);
    assert_int_equal(peek(bench, STAGE_FETCH, "buried", text), 1);
    assert_ptr_equal(strstr(text, URI "|it failed|quadrille "), text); /* a command to go on */
    assert_int_equal(kick(bench, STAGE_FETCH, "http://other/"), 0);
    assert_int_equal(kick(bench, STAGE_FETCH, ""), 1);
    assert_int_equal(kick(bench, STAGE_FETCH, ""), 0);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].buried, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_int_equal(bench->jobs[0].attempt, 1);
}

static void
test_bury_keeps_the_job(void **state)
{
    struct bench *bench = *state;
    char text[1024] = "";
    put_uri(bench, STAGE_TRANSFORM, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_TRANSFORM, 1), 1);
    const struct completion completion = {.key = bench->jobs[0].key,
                                          .verdict = VERDICT_BURY,
                                          .reason = SLICE("a bomb"),
                                          .reproducer = SLICE("quadrille transform x")};
    complete(bench, "w", 1, &completion, 1);
    bench_restart(bench);
    assert_int_equal(peek(bench, STAGE_TRANSFORM, "buried", text), 1);
    assert_string_equal(text, URI "|a bomb|quadrille transform x");
    assert_int_equal(kick(bench, STAGE_TRANSFORM, URI), 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_TRANSFORM, 1), 1);
}

static void
test_all_that_is_buried_is_kicked(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_TRANSFORM, URI "a", 0);
    put_uri(bench, STAGE_TRANSFORM, URI "b", 0);
    put_uri(bench, STAGE_TRANSFORM, URI "c", 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_TRANSFORM, 1), 1);
        const struct completion completion = {
            .key = bench->jobs[0].key, .verdict = VERDICT_BURY, .reason = SLICE("a bomb")};
        complete(bench, "w", 1, &completion, 1);
    }
    assert_int_equal(kick(bench, STAGE_TRANSFORM, URI "c"), 1);
    assert_int_equal(kick(bench, STAGE_TRANSFORM, ""), 2);
    assert_int_equal(stats(bench).stages[STAGE_TRANSFORM].buried, 0);
}

/* A lane whose last job asked for no rest may hand out several at a time; one that did may not. */
static void
test_lane_is_eased_by_jobs_without_rest(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    put_uri(bench, STAGE_FETCH, URI "c", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    done(bench, "w", &bench->jobs[0]);
    assert_int_equal(look(bench, URI).eased, 1);
    assert_int_equal(look(bench, URI).due_ms, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    const struct completion completion = {.key = bench->jobs[0].key,
                                          .report = REPORT(.rest_ms = 60000)};
    complete(bench, "w", 1, &completion, 1);
    assert_int_equal(look(bench, URI).eased, 0);
    assert_true(look(bench, URI).due_ms > clock_wall_ms());
}
/* ---- back-pressure and refusals ---- */

static void
test_full_next_stage_holds_back(void **state)
{
    struct bench *bench = *state;
    char uri[64];
    bench_close(bench);
    bench->options.high_water = 10;
    bench_open(bench);
    for (int i = 0; i < 11; i++) {
        snprintf(uri, sizeof uri, URI "%d", i);
        put_uri(bench, STAGE_TRANSFORM, uri, 0);
    }
    put_uri(bench, STAGE_DETECT, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 0);
    assert_true(stats(bench).stages[STAGE_DETECT].throttled);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_TRANSFORM, 1), 1);
        assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 1), 0);
        touch(bench, "w", 1, NULL, 0);
        const struct job job = {.key = {.stage = STAGE_TRANSFORM, .id = (uint64_t)i + 1}};
        done(bench, "w", &job);
    }
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 1), 1);
}

static void
test_a_full_disk_refuses_puts(void **state)
{
    struct bench *bench = *state;
    struct job job = a_job(STAGE_FETCH, URI);
    put_uri(bench, STAGE_DETECT, URI, 0);
    bench_close(bench);
    bench->options.min_free = UINT64_MAX;
    bench_open(bench);
    bench_work(bench);
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_FULL);
    assert_true(stats(bench).intake_stopped);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    pass_on(bench, "w", &bench->jobs[0]); /* what is under way goes on */
}

struct full_disk {
    int left; /* commits that fail */
};

static int
no_room(void *context, enum store_point point)
{
    struct full_disk *disk = context;
    return point == STORE_BEFORE_COMMIT && disk->left > 0 && disk->left-- > 0 ? 28 : 0;
}

static void
test_failed_commit_has_no_effect(void **state)
{
    struct bench *bench = *state;
    struct full_disk disk = {0};
    const struct job output = a_job(STAGE_TRANSFORM, URI);
    const struct job more = a_job(STAGE_FETCH, URI);
    bench_close(bench);
    bench->options.store.fault = no_room;
    bench->options.store.fault_context = &disk;
    bench_open(bench);
    put_uri(bench, STAGE_DETECT, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    const struct completion completion = {
        .key = bench->jobs[0].key, .outputs = &output, .output_count = 1};
    const struct queue_stats before = stats(bench);
    disk.left = 1;
    submit_complete(bench, "w", 1, &completion, 1);
    const struct answer *completed = &bench->answers[bench->tokens - 1];
    assert_int_equal(put_jobs(bench, &more, 1), STATUS_FULL);
    assert_int_equal(completed->status, STATUS_CANCELLED); /* it will be sent again */
    assert_int_equal(put_jobs(bench, &more, 1), STATUS_FULL);
    const struct queue_stats after = stats(bench);
    assert_memory_equal(&before.stages, &after.stages, sizeof before.stages);
    assert_int_equal(before.seen, after.seen);
    clock_move(1100);
    bench_work(bench);
    complete(bench, "w", 1, &completion, 1);
    assert_int_equal(put_jobs(bench, &more, 1), STATUS_OK);
    assert_int_equal(stats(bench).stages[STAGE_TRANSFORM].ready, 1);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 1);
}

static void
test_malformed_requests_are_refused(void **state)
{
    struct bench *bench = *state;
    struct job job = a_job(STAGE_FETCH, URI);
    struct buf whole;
    buf_init(&whole, 4096);
    codec_put_varint(&whole, 1);
    message_put_new(&whole, &job);
    for (size_t cut = 0; cut < whole.length; cut++) {
        buf_append(bench_payload(bench), whole.data, cut);
        const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_PUT, 0);
        assert_true(answer->given);
        assert_int_equal(answer->status, STATUS_BAD_INPUT);
    }
    buf_append_slice(bench_payload(bench), buf_slice(&whole));
    buf_append_char(bench_payload(bench), 'x');
    assert_int_equal(bench_submit(bench, "test", 1, QUEUE_PUT, 0)->status, STATUS_BAD_INPUT);
    job.uri = SLICE("mailto:somebody");
    buf_reset(&whole);
    codec_put_varint(&whole, 1);
    message_put_new(&whole, &job);
    buf_append_slice(bench_payload(bench), buf_slice(&whole));
    assert_int_equal(bench_submit(bench, "test", 1, QUEUE_PUT, 0)->status, STATUS_BAD_INPUT);
    (void)bench_payload(bench);
    assert_int_equal(bench_submit(bench, "test", 1, 99, 0)->status, STATUS_PROTOCOL);
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].put, 0);
    buf_release(&whole);
}

static void
test_second_daemon_is_kept_out(void **state)
{
    struct bench *bench = *state;
    struct reason why = {""};
    struct broker *other;
    bench->options.store.lock_wait_ms = 50;
    assert_int_equal(broker_open(&other, &bench->options, bench_answer, bench, &why),
                     STATUS_DENIED);
    assert_non_null(strstr(why.text, "is in use by another process"));
}

static void
test_watch_answers_only_strangers(void **state)
{
    struct bench *bench = *state;
    codec_put_u64(bench_payload(bench), INCARNATION);
    assert_int_equal(bench_submit(bench, "w", 1, QUEUE_WATCH, 0)->status, STATUS_CANCELLED);
    codec_put_u64(bench_payload(bench), INCARNATION + 1);
    assert_int_equal(bench_submit(bench, "w", 1, QUEUE_WATCH, 0)->status, STATUS_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_CASE(test_job_goes_through_all_stages),
        BENCH_CASE(test_lane_name_is_the_origin),
        BENCH_CASE(test_done_twice_has_no_second_effect),
        BENCH_CASE(test_done_twice_in_one_round),
        BENCH_CASE(test_outcomes_count_once),
        BENCH_CASE(test_order_of_arrival),
        BENCH_CASE(test_release_comes_back_first_and_counts),
        BENCH_CASE(test_release_with_delay),
        BENCH_CASE(test_too_many_attempts_bury),
        BENCH_CASE(test_bury_keeps_the_job),
        BENCH_CASE(test_all_that_is_buried_is_kicked),
        BENCH_CASE(test_lane_is_eased_by_jobs_without_rest),
        BENCH_CASE(test_full_next_stage_holds_back),
        BENCH_CASE(test_a_full_disk_refuses_puts),
        BENCH_CASE(test_failed_commit_has_no_effect),
        BENCH_CASE(test_malformed_requests_are_refused),
        BENCH_CASE(test_second_daemon_is_kept_out),
        BENCH_CASE(test_watch_answers_only_strangers),
    };
    log_open("test_queue", LOG_LEVEL_ERROR, false);
    return cmocka_run_group_tests_name("queue", tests, NULL, NULL) + queue_leases_run() +
           queue_lanes_run() + queue_seen_run() + queue_faults_run() + queue_model_run() +
           queue_fetch_model_run() + queue_nodes_run() + queue_peers_run() + queue_scope_run() +
           queue_troubles_run() + queue_bursts_run() + queue_rounds_run() + queue_requests_run() +
           queue_answers_run() + broker_corners_run() + broker_faults_run() + strangers_run();
}
