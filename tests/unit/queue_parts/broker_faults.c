/* Reads that fail in each kind of round, and jobs whose records are gone though they are out: the
 * broker says so, and no more is lost than what is gone. */
#include "tests/unit/queue_parts/still_broker.h"

/* ---- reads that fail ---- */

/* One job of fetch and one of detect are out, others wait, and the broker was started anew. */
static struct job out[2];

static void
prepare(struct bench *bench)
{
    for (int i = 0; i < 2; i++) {
        const enum stage stage = i == 0 ? STAGE_FETCH : STAGE_DETECT;
        put_uri(bench, stage, URI "a", 5);
        put_uri(bench, stage, URI "b", 5);
        const struct job job = take_one(bench, stage);
        out[i] = (struct job){.key = job.key, .attempt = job.attempt};
    }
    put_uri(bench, STAGE_FETCH, "http://aside.example/", 0);
    const struct job job = take_one(bench, STAGE_FETCH);
    submit_end(bench, &job, HOST_FAILED, SECOND);
    bench_work(bench);
}

static void
submit_failure(struct bench *bench)
{
    submit_end(bench, &out[0], HOST_FAILED, SECOND);
}

static void
submit_success(struct bench *bench)
{
    submit_end(bench, &out[0], HOST_ANSWERED, SECOND);
}

static void
submit_touch(struct bench *bench)
{
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, TOUCH_ANNOUNCE);
    codec_put_varint(payload, 2);
    for (int i = 0; i < 2; i++) {
        job_key_encode(payload, &out[i].key);
        codec_put_varint(payload, out[i].attempt);
    }
    (void)bench_submit(bench, "w", 1, QUEUE_TOUCH, 0);
}

/* Who held them comes as a new process. */
static void
submit_death(struct bench *bench)
{
    submit_touch(bench);
    bench_work(bench);
    (void)submit_reserve(bench, "w", 2, STAGE_FETCH, 4, 0, 0, 0);
}

/* Who holds them says nothing for longer than a lease is. */
static void
submit_stall(struct bench *bench)
{
    submit_touch(bench);
    bench_work(bench);
    clock_move(bench->options.lease_ms);
}

static void
submit_reserves(struct bench *bench)
{
    (void)submit_reserve(bench, "w", 1, STAGE_FETCH, 4, 0, 0, 0);
}

/* What was answered is asked for again, and what was given back. */
static void
submit_repetition(struct bench *bench)
{
    enum { REQUEST = 77 };
    for (int i = 0; i < 2; i++) {
        (void)submit_reserve(bench, "w", 1, STAGE_FETCH, 4, 0, 0, REQUEST);
        if (i == 0) {
            bench_work(bench);
        }
    }
}

static void
submit_return(struct bench *bench)
{
    const struct job job = take_one(bench, STAGE_DETECT);
    give_back(bench, "w", &job, 0, true);
    (void)submit_reserve(bench, "w", 1, STAGE_DETECT, 4, 0, 0, 0);
}

static void
submit_try(struct bench *bench)
{
    const struct job seed = a_seed("http://aside.example/");
    submit_put(bench, &seed);
}

static void
submit_looks(struct bench *bench)
{
    codec_put_slice(bench_payload(bench), SLICE(URI "a"));
    (void)bench_submit(bench, "test", 1, QUEUE_LOOK, 0);
    struct buf *payload = bench_payload(bench);
    codec_put_u64(payload, 0);
    codec_put_slice(payload, SLICE(""));
    codec_put_u8(payload, 0);
    codec_put_varint(payload, 9);
    (void)bench_submit(bench, "test", 1, QUEUE_HOSTS, 0);
}

/* Whether any of the requests was answered that the store failed. */
static bool
any_was_told(const struct bench *bench)
{
    for (size_t i = 0; i < bench->tokens; i++) {
        if (bench->answers[i].given && bench->answers[i].status == STATUS_SYSTEM) {
            assert_string_equal(bench->answers[i].why, "a fault");
            return true;
        }
    }
    return false;
}

/* Lets one call of a round fail; false: it has no so many. */
static bool
fails_at(struct bench *bench, void (*submit)(struct bench *bench), int call)
{
    struct reason why = {""};
    bench_restart(bench);
    bench_forget(bench);
    told_frontier.status = STATUS_SYSTEM;
    if (submit == submit_looks) { /* they are answered at once */
        told_frontier.calls = call;
    }
    submit(bench);
    told_frontier.calls = submit == submit_looks ? told_frontier.calls : call;
    const enum status status = broker_work(bench->broker, &why);
    const bool struck = told_frontier.calls < 0;
    told_frontier.calls = -1;
    if (struck && !any_was_told(bench)) {
        assert_int_equal(status, STATUS_SYSTEM);
        assert_string_equal(why.text, "a fault");
    }
    return struck;
}

/* Each call of such a round fails once; the broker says so, or answers so. */
static void
test_each_kind_of_round_tells_of_failed_calls(void **state)
{
    static const struct {
        void (*submit)(struct bench *bench);
        int least; /* calls, so that none of those that are meant is left out */
    } rounds[] = {
        {submit_failure, 5}, {submit_success, 4},  {submit_touch, 3},  {submit_death, 3},
        {submit_stall, 3},   {submit_reserves, 3}, {submit_return, 2}, {submit_repetition, 2},
        {submit_try, 4},     {submit_looks, 4},
    };
    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++) {
        struct bench *bench;
        int calls = 0;
        if (i > 0) { /* with jobs that are as they were */
            assert_int_equal(teardown(state), 0);
            assert_int_equal(setup(state), 0);
        }
        bench = *state;
        prepare(bench);
        while (fails_at(bench, rounds[i].submit, calls)) {
            calls++;
        }
        if (calls < rounds[i].least) {
            fail_msg("round %zu has %d calls", i, calls);
        }
    }
}

/* Jobs of a host that was set aside are counted by a scan of their own. */
static void
test_counting_tells_of_a_failed_scan(void **state)
{
    struct bench *bench = *state;
    struct reason why = {""};
    set_aside(bench);
    bench_restart(bench); /* they are counted anew */
    told_frontier.calls = 0;
    told_frontier.status = STATUS_SYSTEM;
    assert_int_equal(broker_work(bench->broker, &why), STATUS_SYSTEM);
    told_frontier.calls = -1;
    assert_int_equal(stats(bench).stages[STAGE_FETCH].aside, 0);
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].aside, 1);
}

/* Rows of hosts that end too soon, or whose pace is none, are named by who looks. */
static void
test_damaged_rows_of_lanes_are_named(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
        enum status status;
    } rows[] = {
        {"\0\0\0\0\0\0\0\7\5\1", 10, STATUS_OK}, /* due, share, flags; of no pace */
        {"\0\0\0\0\0\0\0\7\5", 9, STATUS_CORRUPT},
        {"\0\0\0\0\0\0\0", 7, STATUS_CORRUPT},
        {"", 0, STATUS_CORRUPT},
        {"\0\0\0\0\0\0\0\7\5\1\377", 11, STATUS_CORRUPT},
    };
    uint8_t lane[8];
    codec_write_u64(lane, fingerprint64(SLICE(HOST)));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bench *bench = *state;
        struct reason why = {""};
        struct store_batch batch;
        store_batch_init(&batch);
        store_batch_put(&batch, TREE_LANES, slice_of((char *)lane, sizeof lane),
                        slice_of(rows[i].bytes, rows[i].length));
        store_batch_sort(&batch);
        assert_int_equal(
            __real_frontier_apply((struct frontier *)broker_frontier(bench->broker),
                                  (const struct store_operation *const *)batch.operations,
                                  batch.count, &why),
            STATUS_OK);
        store_batch_release(&batch);
        bench_restart(bench); /* nobody knows it but the store */
        codec_put_slice(bench_payload(bench), SLICE(URI));
        const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_LOOK, 0);
        assert_int_equal(answer->status, rows[i].status);
        assert_string_equal(answer->why,
                            rows[i].status == STATUS_OK ? "" : "what is kept of a host is damaged");
    }
}

/* ---- records that are gone, though their jobs are out ---- */

static uint8_t missing_key[JOB_KEY_SIZE];

static struct job
take_and_lose(struct bench *bench, enum stage stage)
{
    put_uri(bench, stage, URI, 0);
    const struct job job = take_one(bench, stage);
    job_key_write(&job.key, missing_key);
    told_frontier.missing = slice_of((const char *)missing_key, sizeof missing_key);
    return job;
}

static void
test_a_dead_worker_gives_back_what_is_there(void **state)
{
    struct bench *bench = *state;
    (void)take_and_lose(bench, STAGE_DETECT);
    put_uri(bench, STAGE_DETECT, URI "other", 0);
    (void)take_one(bench, STAGE_DETECT);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 2);
    touch(bench, "w", 2, NULL, 0);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 0);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].dead, 1);
}

static void
test_an_answer_is_repeated_without_what_is_gone(void **state)
{
    enum { REQUEST = 77 };
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI "a", 0);
    put_uri(bench, STAGE_DETECT, URI "b", 0);
    for (size_t expected = 2; expected >= 1; expected--) {
        const struct answer *answer = submit_reserve(bench, "w", 1, STAGE_DETECT, 5, 0, 0, REQUEST);
        bench_work(bench);
        read_answer(bench, answer);
        assert_int_equal(bench->job_count, expected);
        job_key_write(&bench->jobs[0].key, missing_key);
        told_frontier.missing = slice_of((const char *)missing_key, sizeof missing_key);
    }
}

static void
test_what_is_gone_puts_no_host_into_trouble(void **state)
{
    struct bench *bench = *state;
    const struct job job = take_and_lose(bench, STAGE_FETCH);
    const struct completion completion = {.key = job.key, .report = REPORT(.words = HOST_FAILED)};
    complete(bench, "w", 1, &completion, job.attempt);
    assert_int_equal(stats(bench).hosts_failing + stats(bench).hosts_aside, 0);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].done, 1);
}

static void
test_what_is_gone_is_not_considered_again(void **state)
{
    struct bench *bench = *state;
    broker_set_scope(bench->broker, 5, (struct slice){"", 0});
    const struct job job = take_and_lose(bench, STAGE_EXTRACT);
    broker_set_scope(bench->broker, 6, (struct slice){"", 0});
    end_in_scope(bench, job, 5);
    assert_int_equal(stats(bench).stages[STAGE_EXTRACT].done, 1);
    assert_int_equal(stats(bench).stages[STAGE_EXTRACT].ready, 1); /* the sweep alone */
}

/* A worker that has not heard the answer asks once more, and gets the same, its hosts' paces, too.
 */
static void
test_an_answer_of_fetch_is_repeated_whole(void **state)
{
    enum { REQUEST = 77 };
    struct bench *bench = *state;
    struct buf first;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    put_uri(bench, STAGE_FETCH, "http://example.com/", 0);
    const struct job job = take_one(bench, STAGE_FETCH);
    const struct completion completion = {
        .key = job.key,
        .report = REPORT(.words = HOST_ANSWERED, .rules_known = true, .crawl_delay_ms = 7000)};
    complete(bench, "w", 1, &completion, job.attempt);
    buf_init(&first, 1 << 16);
    for (int time = 0; time < 2; time++) {
        const struct answer *answer = submit_reserve(bench, "w", 1, STAGE_FETCH, 5, 0, 0, REQUEST);
        bench_work(bench);
        read_answer(bench, answer);
        assert_int_equal(bench->job_count, 2);
        size_t paced = 0;
        for (size_t i = 0; i < bench->job_count; i++) {
            paced += bench->jobs[i].pace.length > 0;
        }
        assert_int_equal(paced, 1);
        if (time == 0) {
            buf_append_slice(&first, buf_slice(&answer->payload));
        }
        assert_int_equal(answer->payload.length, first.length);
        assert_int_equal(stats(bench).stages[STAGE_FETCH].leased, 2);
    }
    buf_release(&first);
}

int
broker_faults_run(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_each_kind_of_round_tells_of_failed_calls),
        CASE(test_counting_tells_of_a_failed_scan),
        CASE(test_damaged_rows_of_lanes_are_named),
        CASE(test_a_dead_worker_gives_back_what_is_there),
        CASE(test_an_answer_is_repeated_without_what_is_gone),
        CASE(test_what_is_gone_puts_no_host_into_trouble),
        CASE(test_what_is_gone_is_not_considered_again),
        CASE(test_an_answer_of_fetch_is_repeated_whole),
    };
    return cmocka_run_group_tests_name("broker faults", tests, NULL, NULL);
}
