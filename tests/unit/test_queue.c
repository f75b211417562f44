/* The broker's rules, one by one, without sockets. */
#include "base/clock.h"
#include "base/log.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue_fixture.h"
#include "tests/unit/queue_suites.h"

#define URI "http://example.org/"

static int
setup(void **state)
{
    *state = bench_new(NULL, NULL);
    return 0;
}

static int
teardown(void **state)
{
    bench_free(*state);
    return 0;
}

static void
restart(struct bench *bench)
{
    bench_close(bench);
    bench_open(bench);
}

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
    restart(bench);
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
    restart(bench);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].delayed, 1);
    clock_move(600000);
    touch(bench, "w", 1, NULL, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].delayed, 0);
}

static bool
note_buried(void *context, struct slice reason, struct slice reproducer, const struct job *job)
{
    char *text = context;
    snprintf(text, 1024, "%.*s|%.*s|%.*s", SLICE_PRINT(job->uri), SLICE_PRINT(reason),
             SLICE_PRINT(reproducer));
    return true;
}

static size_t
peek(struct bench *bench, enum stage stage, const char *which, char *text)
{
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, (uint8_t)stage);
    codec_put_slice(payload, slice_string(which));
    codec_put_varint(payload, 100);
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_PEEK, 0);
    assert_int_equal(answer->status, STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    const uint32_t n = codec_get_u32(&reader);
    for (uint32_t i = 0; i < n; i++) {
        struct job job;
        assert_true(job_key_decode(&reader, &job.key));
        assert_true(job_decode(&reader, &job));
        const struct slice reason = codec_get_slice(&reader);
        note_buried(text, reason, codec_get_slice(&reader), &job);
    }
    assert_true(codec_at_end(&reader));
    return n;
}

static uint64_t
kick(struct bench *bench, enum stage stage, const char *uri)
{
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, (uint8_t)stage);
    codec_put_slice(payload, slice_string(uri));
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_KICK, 0);
    bench_work(bench);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    return codec_get_varint(&reader);
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
    restart(bench);
    assert_int_equal(peek(bench, STAGE_TRANSFORM, "buried", text), 1);
    assert_string_equal(text, URI "|a bomb|quadrille transform x");
    assert_int_equal(kick(bench, STAGE_TRANSFORM, URI), 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_TRANSFORM, 1), 1);
}

static struct queue_look
look(struct bench *bench, const char *uri)
{
    struct queue_look look;
    codec_put_slice(bench_payload(bench), slice_string(uri));
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_LOOK, 0);
    assert_int_equal(answer->status, STATUS_OK);
    assert_true(message_get_look(buf_slice(&answer->payload), &look));
    return look;
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
    const struct completion completion = {.key = bench->jobs[0].key, .lane_delay_ms = 60000};
    complete(bench, "w", 1, &completion, 1);
    assert_int_equal(look(bench, URI).eased, 0);
    assert_true(look(bench, URI).due_ms > clock_wall_ms());
}

/* ---- leases ---- */

static void
test_reserve_again_gets_the_same_jobs(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI "a", 0);
    put_uri(bench, STAGE_DETECT, URI "b", 0);
    put_uri(bench, STAGE_DETECT, URI "c", 0);
    for (int i = 0; i < 2; i++) {
        const struct answer *answer = submit_reserve(bench, "w", 1, STAGE_DETECT, 2, 0, 0, 1000);
        bench_work(bench);
        read_answer(bench, answer);
        assert_int_equal(bench->job_count, 2);
    }
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 2);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 2), 1);
}

static void
test_repeated_waiting_reserve_replaces_the_first(void **state)
{
    struct bench *bench = *state;
    const struct answer *first = submit_reserve(bench, "w", 1, STAGE_DETECT, 2, 10000, 0, 1000);
    const struct answer *second = submit_reserve(bench, "w", 1, STAGE_DETECT, 2, 10000, 0, 1000);
    bench_work(bench);
    assert_true(first->given);
    assert_int_equal(first->status, STATUS_CANCELLED);
    assert_false(second->given);
    put_uri(bench, STAGE_DETECT, URI, 0);
    read_answer(bench, second);
    assert_int_equal(bench->job_count, 1);
}

static void
test_waiting_reserve_ends_empty(void **state)
{
    struct bench *bench = *state;
    const struct answer *answer = submit_reserve(bench, "w", 1, STAGE_DETECT, 2, 30000, 0, 0);
    bench_work(bench);
    assert_false(answer->given);
    clock_move(29900);
    assert_true(broker_wait_ms(bench->broker) <= 100);
    clock_move(100);
    bench_work(bench);
    read_answer(bench, answer);
    assert_int_equal(bench->job_count, 0);
}

static void
test_new_incarnation_gives_back(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI "a", 0);
    put_uri(bench, STAGE_DETECT, URI "b", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 2), 2);
    assert_int_equal(reserve(bench, "w", 2, STAGE_DETECT, 2), 2);
    assert_int_equal(bench->jobs[0].deaths, 1);
    assert_int_equal(bench->jobs[0].attempt, 1); /* it was not alone */
    /* the dead one's last words come late */
    const struct job job = bench->jobs[0];
    const struct answer *answer = submit_reserve(bench, "w", 1, STAGE_DETECT, 2, 0, 0, 0);
    bench_work(bench);
    read_answer(bench, answer);
    assert_int_equal(bench->job_count, 0);
    pass_on(bench, "w", &job);
    assert_int_equal(stats(bench).stages[STAGE_TRANSFORM].ready, 1);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 1);
}

static void
test_stalled_worker_loses_its_jobs(void **state)
{
    struct bench *bench = *state;
    bench_close(bench);
    bench->options.lease_ms = 600000;
    bench_open(bench);
    put_uri(bench, STAGE_FETCH, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 2), 1);
    const struct job job = bench->jobs[0];
    clock_move(700000);
    touch(bench, "w", 1, &job, 1); /* in time before the round looks */
    assert_int_equal(reserve(bench, "v", 1, STAGE_FETCH, 2), 0);
    clock_move(1200000);
    bench_work(bench);
    clock_move(1100); /* the host rests */
    assert_int_equal(reserve(bench, "v", 1, STAGE_FETCH, 2), 1);
    assert_int_equal(bench->jobs[0].attempt, 2);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].dead, 1);
    done(bench, "w", &job); /* first wins, also without a lease */
    done(bench, "v", &job);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].done, 1);
}

/* A job that kills its worker is found, and its neighbours are not blamed. */
static void
test_culprit_is_found(void **state)
{
    enum { JOBS = 100, BATCH = 60 };
    struct bench *bench = *state;
    char uri[64];
    char text[1024] = "";
    for (int i = 0; i < JOBS; i++) {
        snprintf(uri, sizeof uri, URI "%d", i);
        put_uri(bench, STAGE_DETECT, uri, 0);
    }
    uint64_t incarnation = 1;
    int ended = 0;
    int deaths = 0;
    for (size_t n = 1; n > 0 && deaths < 20;) {
        n = reserve(bench, "w", incarnation, STAGE_DETECT, BATCH);
        struct buf *payload = bench_payload(bench);
        bool dies = false;
        codec_put_varint(payload, n);
        for (size_t i = 0; i < n; i++) {
            const struct completion completion = {.key = bench->jobs[i].key};
            dies |= slice_is(bench->jobs[i].uri, URI "37");
            message_put_completion(payload, &completion, bench->jobs[i].attempt);
        }
        if (dies) { /* with all it holds */
            buf_reset(payload);
            incarnation++;
            deaths++;
            continue;
        }
        ended += (int)n;
        (void)bench_submit(bench, "w", incarnation, QUEUE_COMPLETE, 0);
        bench_work(bench);
    }
    assert_int_equal(ended, JOBS - 1);
    assert_int_equal(deaths, 6); /* among 60, 16, 4, then alone three times */
    assert_int_equal(peek(bench, STAGE_DETECT, "buried", text), 1);
    assert_non_null(strstr(text, URI "37|worker died or stalled 6 times|quadrille detect"));
}

static void
test_company_of_suspects(void **state)
{
    struct bench *bench = *state;
    char uri[64];
    for (int i = 0; i < 40; i++) {
        snprintf(uri, sizeof uri, URI "%d", i);
        put_uri(bench, STAGE_DETECT, uri, 0);
    }
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 40), 40);
    assert_int_equal(reserve(bench, "w", 2, STAGE_DETECT, 40), 16);
    assert_int_equal(reserve(bench, "w", 2, STAGE_DETECT, 40), 0);
    assert_int_equal(reserve(bench, "w", 3, STAGE_DETECT, 40), 4);
    assert_int_equal(reserve(bench, "w", 4, STAGE_DETECT, 40), 1);
    assert_int_equal(bench->jobs[0].attempt, 1);
    assert_int_equal(reserve(bench, "w", 5, STAGE_DETECT, 40), 1);
    assert_int_equal(bench->jobs[0].attempt, 2);
    assert_int_equal(reserve(bench, "w", 6, STAGE_DETECT, 40), 1);
    assert_int_equal(bench->jobs[0].attempt, 3);
    assert_int_equal(reserve(bench, "w", 7, STAGE_DETECT, 40), 1);
    assert_int_equal(bench->jobs[0].attempt, 1); /* another one: the first is buried */
    assert_int_equal(stats(bench).stages[STAGE_DETECT].buried, 1);
    done(bench, "w", &bench->jobs[0]);
    /* another worker goes on in company meanwhile */
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 40), 1);
}

static void
test_restart_waits_for_announcements(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI "a", 0);
    put_uri(bench, STAGE_DETECT, URI "b", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    const struct job job = bench->jobs[0];
    restart(bench);
    /* nobody has said anything: nothing goes out */
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 2), 0);
    touch(bench, "w", 1, &job, 1);
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 2), 1);
    assert_true(slice_is(bench->jobs[0].uri, URI "b"));
    done(bench, "w", &job);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 1);
}

static void
test_restart_without_announcement(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI "a", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    bench->options.grace_ms = 600000;
    restart(bench);
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 2), 0);
    clock_move(600000);
    bench_work(bench);
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 2), 1);
}

static void
test_reserve_from_before_the_restart_is_answered_empty(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI "a", 0);
    const struct answer *answer =
        submit_reserve(bench, "w", 1, STAGE_DETECT, 1, 10000, INCARNATION + 1, 0);
    read_answer(bench, answer);
    assert_int_equal(bench->job_count, 0);
}

/* ---- lanes ---- */

static void
test_lane_lets_out_one_at_a_time(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    put_uri(bench, STAGE_FETCH, "http://example.com/", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 2);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
    assert_int_equal(stats(bench).lanes_busy, 2);
}

static void
test_lane_rests_also_over_a_restart(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    const struct completion completion = {
        .key = bench->jobs[0].key, .lane_delay_ms = 60000, .group = 5};
    complete(bench, "w", 1, &completion, 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
    restart(bench);
    touch(bench, "w", 1, NULL, 0);
    put_uri(bench, STAGE_FETCH, "http://example.com/", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    assert_true(slice_is(bench->jobs[0].uri, "http://example.com/"));
}

static void
test_priority_orders_a_lane(void **state)
{
    struct bench *bench = *state;
    struct job jobs[3] = {a_job(STAGE_FETCH, URI "a"), a_job(STAGE_FETCH, URI "b"),
                          a_job(STAGE_FETCH, URI "c")};
    jobs[1].priority = 1;
    assert_int_equal(put_jobs(bench, jobs, 3), STATUS_OK);
    static const char *const order[] = {URI "b", URI "a", URI "c"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
        assert_true(slice_is(bench->jobs[0].uri, order[i]));
        done(bench, "w", &bench->jobs[0]);
    }
}

/* Three of four jobs are a sitemap's, more urgent ones go before, and both kinds are used up. */
static void
test_share_divides_a_lane(void **state)
{
    struct bench *bench = *state;
    static const char *const order[] = {"r", "s1", "s2", "s3", "l1", "s4", "s5", "l2", "l3", "l4"};
    static const char *const uris[] = {URI "l1", URI "l2", URI "l3", URI "l4", URI "s1",
                                       URI "s2", URI "s3", URI "s4", URI "s5", URI "r"};
    struct job jobs[10];
    put_uri(bench, STAGE_FETCH, URI "first", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    const struct completion completion = {.key = bench->jobs[0].key, .share = 192};
    complete(bench, "w", 1, &completion, 1);
    for (int i = 0; i < 10; i++) {
        jobs[i] = a_job(STAGE_FETCH, uris[i]);
        jobs[i].flags = i >= 4 ? JOB_SITEMAP : 0;
        jobs[i].priority = i == 9 ? 1 : 130;
    }
    jobs[9].flags = 0;
    restart(bench); /* the share is stored */
    touch(bench, "w", 1, NULL, 0);
    assert_int_equal(put_jobs(bench, jobs, 10), STATUS_OK);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
        assert_string_equal(bench->jobs[0].uri.at + strlen(URI), order[i]);
        done(bench, "w", &bench->jobs[0]);
    }
}

/* ---- seen ---- */

static void
test_put_again_is_nothing(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI, 3);
    put_uri(bench, STAGE_FETCH, URI, 3);
    put_uri(bench, STAGE_FETCH, URI, 4);
    restart(bench);
    put_uri(bench, STAGE_FETCH, URI, 3);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].put, 1);
    assert_int_equal(stats(bench).seen, 1);
}

static void
test_smaller_depth_before_the_fetch_is_done(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI, 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    const struct job job = bench->jobs[0];
    assert_int_equal(job.depth, 5);
    put_uri(bench, STAGE_FETCH, URI, 2);
    assert_int_equal(stats(bench).stages[STAGE_EXTRACT].ready, 0);
    pass_on(bench, "w", &job);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    assert_int_equal(bench->jobs[0].depth, 2);
}

static void
test_smaller_depth_after_the_fetch(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI, 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    pass_on(bench, "w", &bench->jobs[0]);
    put_uri(bench, STAGE_FETCH, URI, 2); /* while it waits for detect */
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 1);
    assert_int_equal(bench->jobs[0].flags, JOB_REVISIT);
    assert_int_equal(bench->jobs[0].depth, 2);
    done(bench, "w", &bench->jobs[0]);
    /* the ordinary extract job comes later and has the small depth */
    put_uri(bench, STAGE_EXTRACT, URI, 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 1);
    assert_int_equal(bench->jobs[0].depth, 2);
}

static void
test_depths_in_one_round(void **state)
{
    struct bench *bench = *state;
    struct job jobs[3] = {a_job(STAGE_FETCH, URI), a_job(STAGE_FETCH, URI),
                          a_job(STAGE_FETCH, URI)};
    jobs[0].depth = 5;
    jobs[1].depth = 3;
    jobs[2].depth = 4;
    assert_int_equal(put_jobs(bench, jobs, 3), STATUS_OK);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    pass_on(bench, "w", &bench->jobs[0]);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 10), 1);
    assert_int_equal(bench->jobs[0].depth, 3);
}

/* A document out of a dump goes to the index in its order among fetches of the same URI. */
static void
test_slices_take_the_next_generation(void **state)
{
    struct bench *bench = *state;
    struct job slice = a_job(STAGE_FETCH, URI);
    slice.flags = JOB_SLICE;
    slice.depth = 7;
    slice.data = SLICE("where its quads are");
    assert_int_equal(put_jobs(bench, &slice, 1), STATUS_OK);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 10), 1);
    assert_int_equal(bench->jobs[0].generation, 1);
    assert_int_equal(bench->jobs[0].depth, 7);
    assert_true(slice_is(bench->jobs[0].data, "where its quads are"));
    done(bench, "w", &bench->jobs[0]);
    put_uri(bench, STAGE_FETCH, URI, 7); /* known, and fetched in a way */
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);

    /* A fetch that began before the slice came is older than it. */
    struct job again = a_job(STAGE_FETCH, URI);
    again.flags = JOB_RECRAWL;
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    assert_int_equal(bench->jobs[0].generation, 2);
    const struct job fetch = bench->jobs[0];
    assert_int_equal(put_jobs(bench, &slice, 1), STATUS_OK);
    done(bench, "w", &fetch);
    assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 10), 1);
    assert_int_equal(bench->jobs[0].generation, 3);
    done(bench, "w", &bench->jobs[0]);

    /* The URI is free to be fetched again. */
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    assert_int_equal(bench->jobs[0].generation, 4);
}

/* A page that waits, since a link led to it before its slice came, is not fetched any more. */
static void
test_slices_spare_the_fetch_that_waits(void **state)
{
    struct bench *bench = *state;
    struct job slice = a_job(STAGE_FETCH, URI);
    slice.flags = JOB_SLICE;
    slice.depth = 7;
    put_uri(bench, STAGE_FETCH, URI, 2);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 1);
    assert_int_equal(put_jobs(bench, &slice, 1), STATUS_OK);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 0);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].done, 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 10), 1);
    assert_int_equal(bench->jobs[0].generation, 2);
    assert_int_equal(bench->jobs[0].depth, 2);
    assert_int_equal(put_jobs(bench, &slice, 1), STATUS_OK); /* a repetition */
    assert_int_equal(stats(bench).stages[STAGE_FETCH].done, 1);
    /* The same when a sitemap lists it, also after a restart; links do not move that one. */
    struct job listed = a_job(STAGE_FETCH, "http://host/listed");
    listed.flags = JOB_SITEMAP;
    listed.priority = 140;
    assert_int_equal(put_jobs(bench, &listed, 1), STATUS_OK);
    struct job link = a_job(STAGE_FETCH, "http://host/listed");
    for (int i = 0; i < 8; i++) {
        char via[64];
        snprintf(via, sizeof via, "http://www.domain%d.example/", i);
        link.via = slice_string(via);
        assert_int_equal(put_jobs(bench, &link, 1), STATUS_OK);
    }
    bench_close(bench);
    bench_open(bench);
    touch(bench, "w", 1, NULL, 0);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 1);
    slice.uri = listed.uri;
    assert_int_equal(put_jobs(bench, &slice, 1), STATUS_OK);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
}

static void
test_recrawl(void **state)
{
    struct bench *bench = *state;
    struct job again = a_job(STAGE_FETCH, URI);
    again.flags = JOB_RECRAWL;
    put_uri(bench, STAGE_FETCH, URI, 0);
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK); /* one is on its way */
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    pass_on(bench, "w", &bench->jobs[0]);
    again.due_ms = clock_wall_ms() + 100000;
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK); /* a repetition */
    assert_int_equal(stats(bench).stages[STAGE_FETCH].scheduled, 1);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].delayed, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 0);
    char text[1024] = "";
    assert_int_equal(peek(bench, STAGE_FETCH, "scheduled", text), 1);
    assert_int_equal(peek(bench, STAGE_FETCH, "delayed", text), 0);
}

static void
test_recrawl_has_a_larger_generation(void **state)
{
    struct bench *bench = *state;
    struct job again = a_job(STAGE_FETCH, URI);
    again.flags = JOB_RECRAWL;
    put_uri(bench, STAGE_FETCH, URI, 0);
    for (uint64_t generation = 1; generation < 5; generation++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
        assert_int_equal(bench->jobs[0].generation, generation);
        const struct completion completion = {
            .key = bench->jobs[0].key, .outputs = &again, .output_count = 1};
        complete(bench, "w", 1, &completion, 1);
    }
}

/* A depth that was once known is not forgotten by a visit that was asked for from further away. */
static void
test_recrawl_keeps_the_smaller_depth(void **state)
{
    struct bench *bench = *state;
    struct job again = a_job(STAGE_FETCH, URI);
    again.flags = JOB_RECRAWL;
    again.depth = 9;
    put_uri(bench, STAGE_FETCH, URI, 2);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    done(bench, "w", &bench->jobs[0]);
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
    assert_int_equal(bench->jobs[0].depth, 2);
}

/* The daemon was restarted and has not heard who holds what. */
static void
test_recrawl_ends_without_a_lease(void **state)
{
    struct bench *bench = *state;
    struct job again = a_job(STAGE_FETCH, URI);
    again.flags = JOB_RECRAWL;
    put_uri(bench, STAGE_FETCH, URI, 0);
    for (uint64_t generation = 1; generation < 4; generation++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 10), 1);
        assert_int_equal(bench->jobs[0].generation, generation);
        const struct job job = bench->jobs[0];
        restart(bench);
        done(bench, "w", &job);
        touch(bench, "w", 1, NULL, 0);
        assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    }
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
test_maximum_and_disk_refuse_puts(void **state)
{
    struct bench *bench = *state;
    struct job job = a_job(STAGE_FETCH, URI);
    put_uri(bench, STAGE_DETECT, URI, 0);
    bench_close(bench);
    bench->options.maximum = 1;
    bench_open(bench);
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_FULL);
    bench_close(bench);
    bench->options.maximum = 0;
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
    assert_non_null(strstr(why.text, "belongs to another running daemon"));
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
    log_open("test_queue", LOG_LEVEL_ERROR, false);
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_job_goes_through_all_stages),
        CASE(test_lane_name_is_the_origin),
        CASE(test_done_twice_has_no_second_effect),
        CASE(test_done_twice_in_one_round),
        CASE(test_outcomes_count_once),
        CASE(test_order_of_arrival),
        CASE(test_release_comes_back_first_and_counts),
        CASE(test_release_with_delay),
        CASE(test_too_many_attempts_bury),
        CASE(test_bury_keeps_the_job),
        CASE(test_lane_is_eased_by_jobs_without_rest),
        CASE(test_reserve_again_gets_the_same_jobs),
        CASE(test_repeated_waiting_reserve_replaces_the_first),
        CASE(test_waiting_reserve_ends_empty),
        CASE(test_new_incarnation_gives_back),
        CASE(test_stalled_worker_loses_its_jobs),
        CASE(test_culprit_is_found),
        CASE(test_company_of_suspects),
        CASE(test_restart_waits_for_announcements),
        CASE(test_restart_without_announcement),
        CASE(test_reserve_from_before_the_restart_is_answered_empty),
        CASE(test_lane_lets_out_one_at_a_time),
        CASE(test_lane_rests_also_over_a_restart),
        CASE(test_priority_orders_a_lane),
        CASE(test_share_divides_a_lane),
        CASE(test_put_again_is_nothing),
        CASE(test_smaller_depth_before_the_fetch_is_done),
        CASE(test_smaller_depth_after_the_fetch),
        CASE(test_depths_in_one_round),
        CASE(test_slices_take_the_next_generation),
        CASE(test_slices_spare_the_fetch_that_waits),
        CASE(test_recrawl),
        CASE(test_recrawl_has_a_larger_generation),
        CASE(test_recrawl_keeps_the_smaller_depth),
        CASE(test_recrawl_ends_without_a_lease),
        CASE(test_full_next_stage_holds_back),
        CASE(test_maximum_and_disk_refuse_puts),
        CASE(test_failed_commit_has_no_effect),
        CASE(test_malformed_requests_are_refused),
        CASE(test_second_daemon_is_kept_out),
        CASE(test_watch_answers_only_strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + queue_model_run() + queue_fetch_model_run() +
           queue_nodes_run();
}
