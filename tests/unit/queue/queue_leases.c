/* Leases: who has which jobs, and what becomes of them when their worker dies, stalls or speaks
 * again. */
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

#define URI "http://example.org/"

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

/* Each of several that wait is replaced alone, by its worker and number: and those of a worker that
 * began anew, whose numbers begin anew too, are requests of their own. */
static void
test_each_waiting_reserve_is_replaced_alone(void **state)
{
    enum { WAITING = 4, WAIT_MS = 10000, NUMBER = 1000 };
    static const struct {
        const char *worker;
        uint64_t number;
    } who[WAITING] = {{"w", NUMBER}, {"w", NUMBER + 1}, {"v", NUMBER}, {"v", NUMBER + 2}};
    struct bench *bench = *state;
    const struct answer *waiting[WAITING];
    for (int time = 0; time < 2; time++) {
        for (size_t i = 0; i < WAITING; i++) {
            const struct answer *answer =
                submit_reserve(bench, who[i].worker, 1, STAGE_DETECT, 1, WAIT_MS, 0, who[i].number);
            bench_work(bench);
            assert_false(answer->given);
            for (size_t other = 0; time > 0 && other < WAITING; other++) {
                assert_int_equal(waiting[other]->given, other == i);
            }
            if (time > 0) {
                assert_int_equal(waiting[i]->status, STATUS_CANCELLED);
            }
            waiting[i] = answer;
        }
    }
    /* Those of the worker that began anew are dropped, and its requests are not taken for them. */
    for (uint64_t incarnation = 2; incarnation < 4; incarnation++) {
        const struct answer *before[2] = {waiting[0], waiting[1]};
        for (size_t i = 0; i < 2; i++) {
            waiting[i] =
                submit_reserve(bench, "w", incarnation, STAGE_DETECT, 1, WAIT_MS, 0, who[i].number);
            bench_work(bench);
            assert_int_equal(before[i]->status, STATUS_CANCELLED);
        }
        for (size_t i = 0; i < WAITING; i++) {
            assert_false(waiting[i]->given);
        }
    }
    for (size_t i = 0; i < WAITING; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, URI "%zu", i);
        put_uri(bench, STAGE_DETECT, uri, 0);
    }
    for (size_t i = 0; i < WAITING; i++) {
        read_answer(bench, waiting[i]);
        assert_int_equal(bench->job_count, 1);
    }
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, WAITING);
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

/* Many workers begin anew in one round: what each of them held is ready again. */
static void
test_all_who_begin_anew_give_back(void **state)
{
    enum { WORKERS = 50 };
    struct bench *bench = *state;
    char name[16], uri[64];
    for (unsigned i = 0; i < WORKERS; i++) {
        snprintf(name, sizeof name, "w%u", i);
        snprintf(uri, sizeof uri, URI "%u", i);
        put_uri(bench, STAGE_DETECT, uri, 0);
        assert_int_equal(reserve(bench, name, 1, STAGE_DETECT, 1), 1);
    }
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, WORKERS);
    bench_forget(bench);
    for (unsigned i = 0; i < WORKERS; i++) {
        struct buf *payload = bench_payload(bench);
        snprintf(name, sizeof name, "w%u", i);
        codec_put_u8(payload, TOUCH_ANNOUNCE);
        codec_put_varint(payload, 0);
        (void)bench_submit(bench, name, 2, QUEUE_TOUCH, 0);
    }
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 0);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].ready, WORKERS);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].dead, WORKERS);
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

/* What a worker says it holds and has given back meanwhile goes out at once: nobody holds it. */
static void
test_given_back_is_held_by_nobody(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    struct job job = bench->jobs[0];
    const struct completion back = {
        .key = job.key, .verdict = VERDICT_RELEASE, .no_attempt = true, .reason = SLICE("later")};
    submit_complete(bench, "w", 1, &back, job.attempt); /* both in one round */
    touch(bench, "w", 1, &job, 1);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 0);
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 1), 1);
    complete(bench, "v", 1, &back, job.attempt);
    job.attempt = TOUCH_ENDING; /* the answer to its completion is under way */
    touch(bench, "w", 1, &job, 1);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 0);
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 1), 1);
}

static void
test_restart_waits_for_announcements(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI "a", 0);
    put_uri(bench, STAGE_DETECT, URI "b", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    const struct job job = bench->jobs[0];
    bench_restart(bench);
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
    bench_restart(bench);
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

int
queue_leases_run(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_CASE(test_reserve_again_gets_the_same_jobs),
        BENCH_CASE(test_repeated_waiting_reserve_replaces_the_first),
        BENCH_CASE(test_each_waiting_reserve_is_replaced_alone),
        BENCH_CASE(test_waiting_reserve_ends_empty),
        BENCH_CASE(test_new_incarnation_gives_back),
        BENCH_CASE(test_all_who_begin_anew_give_back),
        BENCH_CASE(test_stalled_worker_loses_its_jobs),
        BENCH_CASE(test_culprit_is_found),
        BENCH_CASE(test_company_of_suspects),
        BENCH_CASE(test_given_back_is_held_by_nobody),
        BENCH_CASE(test_restart_waits_for_announcements),
        BENCH_CASE(test_restart_without_announcement),
        BENCH_CASE(test_reserve_from_before_the_restart_is_answered_empty),
    };
    return cmocka_run_group_tests_name("queue leases", tests, NULL, NULL);
}
