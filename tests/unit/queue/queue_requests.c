/* Requests as they come in (queue/broker/submit.c), and answers to who asks again: what is refused
 * whole, limits at both sides, and who is heard. Time stands still but when the test moves it. */
#include "base/system/clock.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

#define URI "http://example.org/"

enum { WAIT_MOST_MS = 60000, PARKED_MOST = 4096, FORGET_MS = 600000, ANSWERS_KEPT = 8 };

static int
setup(void **state)
{
    clock_stop();
    return bench_set_up(state);
}

static int
teardown(void **state)
{
    const int result = bench_tear_down(state);
    clock_go();
    return result;
}

static void
put_many(struct bench *bench, enum stage stage, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, URI "%zu", i);
        put_uri(bench, stage, uri, 0);
    }
}

/* ---- refused whole ---- */

/* A request that is cut anywhere, or has a byte too much, is refused at once, and nothing of it
 * stays for the round. */
static void
check_cuts(struct bench *bench, uint8_t verb, struct slice whole)
{
    const struct queue_stats before = stats(bench);
    for (size_t length = 0; length <= whole.length + 1; length++) {
        struct buf *payload = bench_payload(bench);
        buf_append(payload, whole.at, length < whole.length ? length : whole.length);
        if (length > whole.length) {
            buf_append_char(payload, '\0');
        }
        const struct answer *answer = bench_submit(bench, "w", 1, verb, 0);
        if (length == whole.length) {
            assert_false(answer->given);
            bench_work(bench);
            assert_int_equal(answer->status, STATUS_OK);
            continue;
        }
        assert_true(answer->given);
        assert_int_equal(answer->status, STATUS_BAD_INPUT);
        assert_non_null(strstr(answer->why, "was not understood"));
        if (length < whole.length) {
            bench_work(bench);
            const struct queue_stats after = stats(bench);
            for (int stage = 0; stage < STAGE_COUNT; stage++) {
                assert_int_equal(before.stages[stage].put, after.stages[stage].put);
                assert_int_equal(before.stages[stage].done, after.stages[stage].done);
                assert_int_equal(before.stages[stage].ready, after.stages[stage].ready);
            }
        }
    }
}

static void
test_what_is_cut_is_refused_whole(void **state)
{
    struct bench *bench = *state;
    struct buf whole;
    struct job jobs[2] = {a_job(STAGE_DETECT, URI "a"), a_job(STAGE_FETCH, URI "b")};
    buf_init(&whole, 1 << 16);
    touch(bench, "w", 1, NULL, 0);
    codec_put_varint(&whole, 2);
    message_put_new(&whole, &jobs[0]);
    message_put_new(&whole, &jobs[1]);
    check_cuts(bench, QUEUE_PUT, buf_slice(&whole));
    assert_int_equal(stats(bench).stages[STAGE_DETECT].put, 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    buf_reset(&whole);
    const struct completion completions[2] = {
        {.key = bench->jobs[0].key, .outputs = jobs, .output_count = 2},
        {.key = {.stage = STAGE_DETECT, .id = 99}},
    };
    codec_put_varint(&whole, 2);
    message_put_completion(&whole, &completions[0], 1);
    message_put_completion(&whole, &completions[1], 1);
    check_cuts(bench, QUEUE_COMPLETE, buf_slice(&whole));
    assert_int_equal(stats(bench).stages[STAGE_DETECT].done, 1);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].put, 2);
    buf_reset(&whole);
    codec_put_u64(&whole, 7);
    codec_put_u64(&whole, 1);
    codec_put_u64(&whole, 1);
    codec_put_varint(&whole, 2);
    message_put_new(&whole, &jobs[0]);
    message_put_new(&whole, &jobs[0]);
    check_cuts(bench, QUEUE_TRANSFER, buf_slice(&whole));
    assert_int_equal(stats(bench).received, 2);
    buf_reset(&whole);
    codec_put_u8(&whole, 0);
    codec_put_varint(&whole, 1);
    job_key_encode(&whole, &completions[1].key);
    codec_put_varint(&whole, UINT16_MAX);
    check_cuts(bench, QUEUE_TOUCH, buf_slice(&whole));
    buf_reset(&whole);
    codec_put_u8(&whole, STAGE_EXTRACT);
    codec_put_slice(&whole, SLICE("none"));
    check_cuts(bench, QUEUE_KICK, buf_slice(&whole));
    buf_reset(&whole);
    codec_put_slice(&whole, SLICE("none"));
    check_cuts(bench, QUEUE_RETRY, buf_slice(&whole));
    buf_release(&whole);
}

static enum status
touch_with_attempt(struct bench *bench, uint64_t attempt)
{
    const struct job_key key = {.stage = STAGE_DETECT, .id = 99};
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, 0);
    codec_put_varint(payload, 1);
    job_key_encode(payload, &key);
    codec_put_varint(payload, attempt);
    const struct answer *answer = bench_submit(bench, "w", 1, QUEUE_TOUCH, 0);
    bench_work(bench);
    return answer->status;
}

static enum status
kick_of_stage(struct bench *bench, uint8_t stage)
{
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, stage);
    codec_put_slice(payload, SLICE(""));
    const struct answer *answer = bench_submit(bench, "w", 1, QUEUE_KICK, 0);
    bench_work(bench);
    return answer->status;
}

static void
test_numbers_out_of_bounds_are_refused(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(touch_with_attempt(bench, UINT16_MAX), STATUS_OK);
    assert_int_equal(touch_with_attempt(bench, UINT16_MAX + 1), STATUS_BAD_INPUT);
    assert_int_equal(kick_of_stage(bench, STAGE_COUNT - 1), STATUS_OK);
    assert_int_equal(kick_of_stage(bench, STAGE_COUNT), STATUS_BAD_INPUT);
    for (int verb = 0; verb < 256; verb++) {
        if (verb >= QUEUE_PUT && verb <= QUEUE_FORGET) {
            continue;
        }
        (void)bench_payload(bench);
        const struct answer *answer = bench_submit(bench, "w", 1, (uint8_t)verb, 0);
        assert_int_equal(answer->status, STATUS_PROTOCOL);
        assert_non_null(strstr(answer->why, "no request"));
    }
}

/* Views that are of everything have nothing to be told. */
static void
test_views_of_everything_take_nothing(void **state)
{
    static const struct {
        uint8_t verb;
        const char *reason;
    } views[] = {{QUEUE_NODES, "nodes takes nothing"}, {QUEUE_STATS, "stats takes nothing"}};
    struct bench *bench = *state;
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        (void)bench_payload(bench);
        assert_int_equal(bench_submit(bench, "w", 1, views[i].verb, 0)->status, STATUS_OK);
        struct buf *payload = bench_payload(bench);
        codec_put_u8(payload, 0);
        const struct answer *answer = bench_submit(bench, "w", 1, views[i].verb, 0);
        assert_int_equal(answer->status, STATUS_BAD_INPUT);
        assert_string_equal(answer->why, views[i].reason);
    }
}

/* ---- reserves ---- */

static void
test_reserves_that_make_no_sense(void **state)
{
    static const struct {
        uint8_t stage;
        uint64_t lane;
        const char *client;
        bool more, refused;
    } cases[] = {
        {STAGE_DETECT, 0, "w", false, false},  {STAGE_DETECT, 1, "w", false, true},
        {STAGE_INDEX, 2, "w", false, false},   {STAGE_INDEX, 3, "w", false, true},
        {STAGE_EXTRACT, 0, "w", false, false}, {STAGE_COUNT, 0, "w", false, true},
        {STAGE_FETCH, 99, "w", false, false},  {STAGE_DETECT, 0, "", false, true},
        {STAGE_DETECT, 0, "w", true, true},
    };
    struct bench *bench = *state;
    bench_close(bench);
    bench->options.index_partitions = 3;
    bench_open(bench);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf *payload = bench_payload(bench);
        codec_put_u8(payload, cases[i].stage);
        codec_put_u64(payload, cases[i].lane);
        codec_put_varint(payload, 1);
        codec_put_varint(payload, 0);
        codec_put_u64(payload, 0);
        if (cases[i].more) {
            codec_put_u8(payload, 0);
        }
        const struct answer *answer = bench_submit(bench, cases[i].client, 1, QUEUE_RESERVE, 0);
        assert_int_equal(answer->given, cases[i].refused);
        bench_work(bench);
        assert_int_equal(answer->status, cases[i].refused ? STATUS_BAD_INPUT : STATUS_OK);
    }
}

static void
test_nobody_waits_longer_than_a_minute(void **state)
{
    static const struct {
        uint32_t asked_ms, waits_ms;
    } cases[] = {{1, 1},
                 {WAIT_MOST_MS - 1, WAIT_MOST_MS - 1},
                 {WAIT_MOST_MS, WAIT_MOST_MS},
                 {WAIT_MOST_MS + 1, WAIT_MOST_MS},
                 {UINT32_MAX, WAIT_MOST_MS}};
    struct bench *bench = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct answer *answer =
            submit_reserve(bench, "w", 1, STAGE_DETECT, 1, cases[i].asked_ms, 0, 0);
        bench_work(bench);
        clock_move(cases[i].waits_ms - 1);
        bench_work(bench);
        assert_false(answer->given);
        clock_move(1);
        bench_work(bench);
        read_answer(bench, answer);
        assert_int_equal(bench->job_count, 0);
    }
    /* Who asks for nothing does not wait. */
    const struct answer *answer = submit_reserve(bench, "w", 1, STAGE_DETECT, 0, 60000, 0, 0);
    read_answer(bench, answer);
    assert_int_equal(bench->job_count, 0);
}

struct counted {
    size_t ok, others;
};

static void
count_answer(void *context, void *token, enum status status, struct slice payload,
             const struct reason *why)
{
    struct counted *counted = context;
    (void)token;
    (void)payload;
    (void)why;
    counted->ok += status == STATUS_OK;
    counted->others += status != STATUS_OK;
}

static void
test_so_many_may_wait(void **state)
{
    struct bench *bench = *state;
    struct counted answers = {0};
    struct broker *broker;
    struct buf payload;
    bench_close(bench);
    buf_init(&payload, 100);
    codec_put_u8(&payload, STAGE_DETECT);
    codec_put_u64(&payload, 0);
    codec_put_varint(&payload, 1);
    codec_put_varint(&payload, WAIT_MOST_MS);
    codec_put_u64(&payload, 0);
    assert_int_equal(broker_open(&broker, &bench->options, count_answer, &answers, NULL),
                     STATUS_OK);
    for (uint64_t i = 1; i <= PARKED_MOST + 2; i++) {
        const struct broker_request request = {.verb = QUEUE_RESERVE,
                                               .id = i,
                                               .incarnation = 1,
                                               .client = SLICE("w"),
                                               .payload = buf_slice(&payload)};
        broker_submit(broker, &request);
        assert_int_equal(answers.ok, i <= PARKED_MOST ? 0 : i - PARKED_MOST);
    }
    broker_close(broker);
    assert_int_equal(answers.others, PARKED_MOST);
    buf_release(&payload);
    bench_open(bench);
}

/* ---- who asks again ---- */

/* Gets what that very request got, less what has ended meanwhile; after so many others the request
 * is not known any more. */
static void
test_a_repeated_request_gets_what_is_left_of_it(void **state)
{
    struct bench *bench = *state;
    put_many(bench, STAGE_DETECT, 0, 20);
    const struct answer *answer = submit_reserve(bench, "w", 1, STAGE_DETECT, 3, 0, 0, 1000);
    bench_work(bench);
    read_answer(bench, answer);
    assert_int_equal(bench->job_count, 3);
    const struct job second = bench->jobs[1];
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 2), 2); /* of another request */
    done(bench, "w", &second);
    answer = submit_reserve(bench, "w", 1, STAGE_DETECT, 3, 0, 0, 1000);
    bench_work(bench);
    read_answer(bench, answer);
    assert_int_equal(bench->job_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(bench->jobs[i].key.id == second.key.id - 1 ||
                    bench->jobs[i].key.id == second.key.id + 1);
    }
    answer = submit_reserve(bench, "v", 1, STAGE_DETECT, 1, 0, 0, 1000); /* another's number */
    bench_work(bench);
    read_answer(bench, answer);
    assert_int_equal(bench->job_count, 1);
    bench_forget(bench);
    for (uint64_t i = 0; i < ANSWERS_KEPT - 3; i++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    }
    for (int known = 1; known >= 0; known--) {
        answer = submit_reserve(bench, "w", 1, STAGE_DETECT, 3, 0, 0, 1000);
        bench_work(bench);
        read_answer(bench, answer);
        assert_int_equal(bench->job_count, known ? 2 : 3);
        for (uint64_t i = 0; i < ANSWERS_KEPT && known; i++) {
            assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 1), 0);
        }
    }
}

/* What came back goes out again before what is new, the oldest first. */
static void
test_what_came_back_goes_out_in_order(void **state)
{
    enum { MANY = 40 };
    struct bench *bench = *state;
    struct job jobs[MANY];
    put_many(bench, STAGE_DETECT, 0, MANY + 10);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, MANY), MANY);
    memcpy(jobs, bench->jobs, sizeof jobs);
    for (size_t i = 0; i < MANY; i++) {
        give_back(bench, "w", &jobs[i * 17 % MANY], 0, true);
        if (i % 16 == 0) {
            bench_forget(bench);
        }
    }
    uint64_t last = 0;
    for (size_t n = 0; n < MANY + 10;) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 7), n + 7 <= MANY + 10 ? 7 : 1);
        for (size_t i = 0; i < bench->job_count; i++, n++) {
            assert_true(bench->jobs[i].key.id > last);
            last = bench->jobs[i].key.id;
        }
    }
}

/* ---- who is heard ---- */

/* A worker that watches lives, though it asks for nothing. */
static void
test_who_watches_is_not_forgotten(void **state)
{
    struct bench *bench = *state;
    touch(bench, "watches", 1, NULL, 0);
    touch(bench, "silent", 1, NULL, 0);
    assert_int_equal(stats(bench).workers, 2);
    clock_move(FORGET_MS);
    codec_put_u64(bench_payload(bench), INCARNATION);
    (void)bench_submit(bench, "watches", 1, QUEUE_WATCH, 0);
    codec_put_u64(bench_payload(bench), INCARNATION);
    (void)bench_submit(bench, "stranger", 1, QUEUE_WATCH, 0);
    bench_work(bench);
    assert_int_equal(stats(bench).workers, 2);
    clock_move(1);
    bench_work(bench);
    assert_int_equal(stats(bench).workers, 1);
    clock_move(FORGET_MS - 1);
    bench_work(bench);
    assert_int_equal(stats(bench).workers, 1);
    clock_move(1);
    bench_work(bench);
    assert_int_equal(stats(bench).workers, 0);
}

/* Whoever only says that something is done is no worker. */
static void
test_endings_of_strangers_make_no_worker(void **state)
{
    struct bench *bench = *state;
    put_many(bench, STAGE_DETECT, 0, 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    const struct job job = bench->jobs[0];
    assert_int_equal(stats(bench).workers, 1);
    done(bench, "stranger", &job);
    assert_int_equal(stats(bench).workers, 1);
}

/* Long leases have long patience. */
static void
test_patience_grows_with_the_lease(void **state)
{
    enum { LEASE_MS = 100000 };
    struct bench *bench = *state;
    bench_close(bench);
    bench->options.lease_ms = LEASE_MS;
    bench_open(bench);
    touch(bench, "w", 1, NULL, 0);
    clock_move(10 * LEASE_MS);
    bench_work(bench);
    assert_int_equal(stats(bench).workers, 1);
    clock_move(1);
    bench_work(bench);
    assert_int_equal(stats(bench).workers, 0);
}

/* A worker that died while its leases ended loses each job once. */
static void
test_a_job_is_lost_once(void **state)
{
    enum { LEASE_MS = 1000 };
    struct bench *bench = *state;
    bench_close(bench);
    bench->options.lease_ms = LEASE_MS;
    bench_open(bench);
    put_many(bench, STAGE_DETECT, 0, 2);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 2), 2);
    clock_move(LEASE_MS);
    touch(bench, "w", 2, NULL, 0);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].dead, 2);
    assert_int_equal(reserve(bench, "w", 2, STAGE_DETECT, 2), 2);
    assert_int_equal(bench->jobs[0].deaths, 1);
    assert_int_equal(bench->jobs[0].attempt, 1);
}

static void
test_leases_end_to_the_millisecond(void **state)
{
    enum { LEASE_MS = 10000 };
    struct bench *bench = *state;
    bench_close(bench);
    bench->options.lease_ms = LEASE_MS;
    bench_open(bench);
    put_many(bench, STAGE_DETECT, 0, 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    const struct job job = bench->jobs[0];
    clock_move(LEASE_MS - 1);
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 1);
    touch(bench, "w", 1, &job, 1); /* renewed from now on */
    clock_move(LEASE_MS - 1);
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 1);
    clock_move(1);
    bench_work(bench); /* looked at twice a second */
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 1);
    clock_move(499);
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 0);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].dead, 1);
}

/* Who stops says so by a request for no jobs, and waits no longer; what is put in that very round
 * is for others. */
static void
test_a_request_for_no_jobs_ends_those_that_are_held(void **state)
{
    struct bench *bench = *state;
    struct job job = a_job(STAGE_DETECT, URI "late");
    const struct answer *own = submit_reserve(bench, "w", 1, STAGE_DETECT, 5, 60000, 0, 1);
    const struct answer *other = submit_reserve(bench, "x", 1, STAGE_FETCH, 5, 60000, 0, 2);
    bench_work(bench);
    assert_false(own->given);
    const struct answer *none = submit_reserve(bench, "w", 1, STAGE_DETECT, 0, 60000, 0, 3);
    put_jobs(bench, &job, 1);
    read_answer(bench, none);
    assert_int_equal(bench->job_count, 0);
    read_answer(bench, own);
    assert_int_equal(bench->job_count, 0);
    assert_false(other->given);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 5), 1);
}

/* ---- back-pressure ---- */

static void
transfer(struct bench *bench, enum stage stage, uint64_t sequence, enum status expected)
{
    char uri[64];
    snprintf(uri, sizeof uri, URI "t%lu", (unsigned long)sequence);
    const struct job job = a_job(stage, uri);
    struct buf *payload = bench_payload(bench);
    codec_put_u64(payload, 7);
    codec_put_u64(payload, 1);
    codec_put_u64(payload, sequence);
    codec_put_varint(payload, 1);
    message_put_new(payload, &job);
    const struct answer *answer = bench_submit(bench, "node", 1, QUEUE_TRANSFER, 0);
    bench_work(bench);
    assert_int_equal(answer->status, expected);
}

/* Twice the high water is enough of what other nodes send, but for fetch. */
static void
test_other_nodes_are_held_back(void **state)
{
    struct bench *bench = *state;
    uint64_t sequence = 0;
    bench_close(bench);
    bench->options.high_water = 2;
    bench_open(bench);
    for (int i = 0; i < 4; i++) {
        transfer(bench, STAGE_DETECT, ++sequence, STATUS_OK);
    }
    transfer(bench, STAGE_DETECT, sequence + 1, STATUS_AGAIN);
    transfer(bench, STAGE_TRANSFORM, ++sequence, STATUS_OK);
    for (int i = 0; i < 8; i++) {
        transfer(bench, STAGE_FETCH, ++sequence, STATUS_OK);
    }
    assert_int_equal(stats(bench).received, sequence);
}

/* A stage is held back when more wait than the high water, and goes on at four fifths of it. */
static void
test_stages_are_held_back_and_go_on(void **state)
{
    enum { HIGH = 10, RESUMES = 8 };
    struct bench *bench = *state;
    struct job jobs[HIGH + 1];
    bench_close(bench);
    bench->options.high_water = HIGH;
    bench_open(bench);
    put_many(bench, STAGE_TRANSFORM, 0, HIGH);
    assert_false(stats(bench).stages[STAGE_DETECT].throttled);
    put_many(bench, STAGE_TRANSFORM, HIGH, 1);
    assert_true(stats(bench).stages[STAGE_DETECT].throttled);
    assert_int_equal(reserve(bench, "w", 1, STAGE_TRANSFORM, HIGH + 1), HIGH + 1);
    memcpy(jobs, bench->jobs, sizeof jobs);
    for (size_t waiting = HIGH + 1; waiting > 0; waiting--) {
        assert_int_equal(stats(bench).stages[STAGE_DETECT].throttled, waiting > RESUMES);
        done(bench, "w", &jobs[waiting - 1]);
    }
    put_many(bench, STAGE_EXTRACT, 0, 3 * HIGH); /* nothing comes behind */
    assert_false(stats(bench).stages[STAGE_EXTRACT].throttled);
    assert_true(stats(bench).stages[STAGE_INDEX].throttled);
}

/* How long the next job of a host has been due. */
static void
test_fetch_tells_how_late_it_is(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    const struct completion completion = {.key = bench->jobs[0].key,
                                          .report = REPORT(.rest_ms = 1000)};
    complete(bench, "w", 1, &completion, 1);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].oldest_ms, 0);
    clock_move(1000);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].oldest_ms, 0);
    clock_move(700);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].oldest_ms, 700);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].oldest_ms, 0);
}

int
queue_requests_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_what_is_cut_is_refused_whole),
        CASE(test_numbers_out_of_bounds_are_refused),
        CASE(test_views_of_everything_take_nothing),
        CASE(test_reserves_that_make_no_sense),
        CASE(test_nobody_waits_longer_than_a_minute),
        CASE(test_so_many_may_wait),
        CASE(test_a_repeated_request_gets_what_is_left_of_it),
        CASE(test_what_came_back_goes_out_in_order),
        CASE(test_who_watches_is_not_forgotten),
        CASE(test_endings_of_strangers_make_no_worker),
        CASE(test_patience_grows_with_the_lease),
        CASE(test_a_job_is_lost_once),
        CASE(test_leases_end_to_the_millisecond),
        CASE(test_a_request_for_no_jobs_ends_those_that_are_held),
        CASE(test_other_nodes_are_held_back),
        CASE(test_stages_are_held_back_and_go_on),
        CASE(test_fetch_tells_how_late_it_is),
    };
    return cmocka_run_group_tests_name("queue requests", tests, NULL, NULL);
}
