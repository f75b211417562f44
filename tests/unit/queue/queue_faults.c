/* The broker when its store fails or has damaged rows: each read and write that fails must be told
 * of, whichever it is, and damage is named, never passed on. And the edges of single rules: limits,
 * refusals, and who may say what. */
#include "base/system/clock.h"
#include "queue/storage/store_batch.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"
#include "tests/unit/queue/told_frontier.h"

#define URI "http://example.org/"

static int
setup(void **state)
{
    struct bench *bench = bench_new(NULL, NULL);
    told_frontier_reset();
    bench_close(bench);
    bench_open(bench);
    *state = bench;
    return 0;
}

static int
teardown(void **state)
{
    told_frontier_reset();
    bench_free(*state);
    return 0;
}

static void
restart(struct bench *bench)
{
    bench_close(bench);
    bench_open(bench);
    touch(bench, "w", 1, NULL, 0);
}

/* Something in every tree: jobs of all stages, delayed, buried, leased; lanes; a revisit. */
static void
fill(struct bench *bench)
{
    touch(bench, "w", 1, NULL, 0);
    put_uri(bench, STAGE_FETCH, URI "fetched", 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    const struct completion rests = {.key = bench->jobs[0].key,
                                     .report = REPORT(.rest_ms = 1, .address = 3)};
    complete(bench, "w", 1, &rests, 1);
    put_uri(bench, STAGE_FETCH, URI "fetched", 2); /* so it is visited again */
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        put_uri(bench, (enum stage)stage, URI "ready", 1);
    }
    put_uri(bench, STAGE_DETECT, URI "delayed", 1);
    put_uri(bench, STAGE_DETECT, URI "buried", 1);
    put_uri(bench, STAGE_DETECT, URI "out", 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 4), 4);
    struct job jobs[4];
    memcpy(jobs, bench->jobs, sizeof jobs);
    give_back(bench, "w", &jobs[0], 0, true);
    give_back(bench, "w", &jobs[1], 50000, true);
    const struct completion buried = {
        .key = jobs[2].key, .verdict = VERDICT_BURY, .reason = SLICE("bad")};
    complete(bench, "w", 1, &buried, 1);
}

/* Every read of a start may fail; then there is no broker, and the reason is the store's. */
static void
test_a_start_tells_of_every_failed_read(void **state)
{
    struct bench *bench = *state;
    fill(bench);
    bench_close(bench);
    int failed = 0;
    for (int at = 0;; at++) {
        struct reason why = {""};
        struct broker *broker;
        told_frontier.calls = at;
        told_frontier.status = STATUS_SYSTEM;
        const enum status status = broker_open(&broker, &bench->options, bench_answer, bench, &why);
        if (status == STATUS_OK) {
            told_frontier.calls = -1;
            broker_close(broker);
            break;
        }
        failed++;
        assert_int_equal(status, STATUS_SYSTEM);
        assert_null(broker);
        assert_string_equal(why.text, "a fault");
    }
    assert_true(failed > 10);
    bench_open(bench);
}

/* A round with one of everything. */
static void
submit_everything(struct bench *bench)
{
    const struct job_key out = {.stage = STAGE_DETECT, .id = 9};
    const struct completion released = {.key = out, .verdict = VERDICT_RELEASE, .delay_ms = 1};
    struct job job = a_job(STAGE_FETCH, URI "new");
    struct buf *payload = bench_payload(bench);
    codec_put_varint(payload, 1);
    message_put_new(payload, &job);
    (void)bench_submit(bench, "test", 1, QUEUE_PUT, 0);
    submit_complete(bench, "w", 1, &released, 1);
    payload = bench_payload(bench);
    codec_put_u8(payload, STAGE_DETECT);
    codec_put_slice(payload, SLICE(""));
    (void)bench_submit(bench, "test", 1, QUEUE_KICK, 0);
    (void)submit_reserve(bench, "w", 1, STAGE_FETCH, 4, 0, 0, 0);
    (void)submit_reserve(bench, "w", 1, STAGE_TRANSFORM, 4, 0, 0, 0);
}

/* Every call of a round may fail; the broker says so, and has to be started anew. */
static void
test_a_round_tells_of_every_failed_call(void **state)
{
    struct bench *bench = *state;
    fill(bench);
    int failed = 0;
    for (int at = 0;; at++) {
        struct reason why = {""};
        restart(bench);
        bench_forget(bench);
        told_frontier.status = STATUS_SYSTEM;
        clock_move(60000); /* what is delayed is due */
        submit_everything(bench);
        told_frontier.calls = at;
        const enum status status = broker_work(bench->broker, &why);
        const bool struck = told_frontier.calls < 0;
        told_frontier.calls = -1;
        if (!struck) {
            assert_int_equal(status, STATUS_OK);
            break;
        }
        assert_int_equal(status, STATUS_SYSTEM);
        assert_string_equal(why.text, "a fault");
        failed++;
    }
    assert_true(failed > 5);
}

/* ---- rows that are not as they were written ---- */

static void
write_row(struct bench *bench, enum store_tree tree, struct slice key, struct slice value)
{
    struct reason why = {""};
    struct frontier *frontier;
    struct store_batch batch;
    assert_int_equal(frontier_open(&frontier, &bench->options.store, &why), STATUS_OK);
    store_batch_init(&batch);
    store_batch_put(&batch, tree, key, value);
    store_batch_sort(&batch);
    assert_int_equal(__real_frontier_apply(frontier,
                                           (const struct store_operation *const *)batch.operations,
                                           batch.count, &why),
                     STATUS_OK);
    store_batch_release(&batch);
    frontier_close(frontier);
}

static struct slice
zeros(size_t length)
{
    static const char bytes[1024];
    return slice_of(bytes, length);
}

static void
test_damage_is_named_at_the_start(void **state)
{
    struct bench *bench = *state;
    enum { NUMBERS = COUNTERS_NUMBERS * 8 };
    static const struct {
        const char *key;
        struct slice value;
        enum status status;
        const char *text;
    } cases[] = {
        {"counters", {NULL, NUMBERS - 8}, STATUS_CORRUPT, "the counters have"},
        {"counters", {NULL, NUMBERS + 8}, STATUS_CORRUPT, "the counters have"},
        {"counters", {NULL, NUMBERS - 1}, STATUS_CORRUPT, "the counters have"},
        {"counters", {NULL, NUMBERS}, STATUS_OK, ""},
        {"identity", {"\4OOOOOOOO", 9}, STATUS_UNSUPPORTED, "another version"},
        {"identity", {"\3OOOOOOO", 8}, STATUS_UNSUPPORTED, "another version"},
        {"identity", {"\2OOOOOOOO", 9}, STATUS_UNSUPPORTED, "another version"},
        {"identity", {"\3OOOOOOOO", 9}, STATUS_OK, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reason why = {""};
        struct broker *broker;
        const struct slice value =
            cases[i].value.at != NULL ? cases[i].value : zeros(cases[i].value.length);
        if (bench->broker != NULL) {
            bench_close(bench);
        }
        write_row(bench, TREE_ABOUT, slice_string(cases[i].key), value);
        assert_int_equal(broker_open(&broker, &bench->options, bench_answer, bench, &why),
                         cases[i].status);
        assert_non_null(strstr(why.text, cases[i].text));
        bench->broker = broker;
    }
}

static void
test_damage_is_named_in_a_round(void **state)
{
    struct bench *bench = *state;
    uint8_t later[8 + JOB_KEY_SIZE] = {0};
    uint8_t fingerprint[FINGERPRINT_SIZE], job[JOB_KEY_SIZE];
    const struct job_key key = {.stage = STAGE_DETECT, .id = 77};
    job_key_write(&key, job);
    fingerprint_of(SLICE(URI), fingerprint);
    memset(later, 0, sizeof later);
    later[7] = 1; /* due long ago */
    later[8] = STAGE_COUNT;
    const struct {
        enum store_tree tree;
        struct slice key, value;
        const char *text;
    } cases[] = {
        {TREE_LATER, {(const char *)later, sizeof later}, SLICE("x"), "a delayed job is damaged"},
        {TREE_LATER, {(const char *)later, 8}, SLICE("x"), "a delayed job is damaged"},
        {TREE_SEEN,
         {(const char *)fingerprint, sizeof fingerprint},
         SLICE("\1"),
         "a record of seen"},
        {TREE_JOBS, {(const char *)job, sizeof job}, SLICE("x"), "the record of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench *own = bench_new(NULL, NULL);
        struct reason why = {""};
        const struct completion ending = {.key = key};
        put_uri(own, STAGE_DETECT, URI "a", 0);
        bench_close(own);
        write_row(own, cases[i].tree, cases[i].key, cases[i].value);
        bench_open(own);
        struct buf *payload = bench_payload(own);
        const struct job put = a_job(STAGE_FETCH, URI);
        codec_put_varint(payload, 1);
        message_put_new(payload, &put);
        (void)bench_submit(own, "test", 1, QUEUE_PUT, 0);
        (void)submit_reserve(own, "w", 1, STAGE_DETECT, 5, 0, 0, 0);
        assert_int_equal(broker_work(own->broker, &why), STATUS_CORRUPT);
        assert_non_null(strstr(why.text, cases[i].text));
        if (cases[i].tree == TREE_JOBS) {
            submit_complete(own, "w", 1, &ending, 1);
            assert_int_equal(own->answers[own->tokens - 1].status, STATUS_CORRUPT);
        }
        bench_free(own);
    }
    (void)bench;
}

/* ---- room on the disk ---- */

/* Intake closes below the least, and opens when a sixteenth more is there, looked at each second.
 */
static void
test_intake_opens_with_more_room_than_it_closed_with(void **state)
{
    struct bench *bench = *state;
    static const struct {
        uint64_t free;
        bool stopped;
    } steps[] = {{1600, false}, {1599, true},  {1600, true}, {1699, true},
                 {1700, false}, {1600, false}, {1599, true}};
    bench_close(bench);
    bench->options.min_free = 1600;
    bench_open(bench);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        told_frontier.free = steps[i].free;
        clock_move(1000);
        bench_work(bench);
        assert_int_equal(stats(bench).intake_stopped, steps[i].stopped);
        assert_int_equal(stats(bench).disk_free, steps[i].free);
    }
    told_frontier.free = 5000;
    bench_work(bench); /* not yet a second later, and nothing was asked for */
    assert_true(stats(bench).intake_stopped);
}

/* ---- who may say what ---- */

static void
test_ending_names_the_whole_key(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_INDEX, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 1), 1);
    const struct job job = bench->jobs[0];
    for (int field = 0; field < 4; field++) {
        struct completion other = {.key = job.key};
        other.key.stage = (uint8_t)(other.key.stage + (field == 0));
        other.key.lane += field == 1;
        other.key.rank += field == 2;
        other.key.id += field == 3;
        complete(bench, "w", 1, &other, 1);
        assert_int_equal(stats(bench).stages[STAGE_INDEX].leased, 1);
        assert_int_equal(stats(bench).stages[STAGE_INDEX].done, 0);
    }
    done(bench, "w", &job);
    assert_int_equal(stats(bench).stages[STAGE_INDEX].done, 1);
}

static void
test_only_the_holder_gives_back(void **state)
{
    struct bench *bench = *state;
    touch(bench, "v", 1, NULL, 0);
    put_uri(bench, STAGE_DETECT, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    const struct job job = bench->jobs[0];
    give_back(bench, "v", &job, 0, false);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].released, 0);
    struct job earlier = job;
    earlier.attempt++;
    give_back(bench, "w", &earlier, 0, false);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].released, 0);
    give_back(bench, "w", &job, 0, false);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].released, 1);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].ready, 1);
}

static uint64_t
renewed_lost(struct bench *bench, const char *worker, const struct job *job)
{
    touch(bench, worker, 1, job, 1);
    const struct answer *answer = &bench->answers[bench->tokens - 1];
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    return codec_get_varint(&reader);
}

/* What a worker says it holds and does not is counted, so that it drops it. */
static void
test_touch_says_what_is_lost(void **state)
{
    struct bench *bench = *state;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    const struct job job = bench->jobs[0];
    assert_int_equal(renewed_lost(bench, "w", &job), 0);
    assert_int_equal(renewed_lost(bench, "v", &job), 1);
    struct job ended = job;
    ended.key.id = 99;
    assert_int_equal(renewed_lost(bench, "w", &ended), 0);
    bench_close(bench);
    bench_open(bench);
    struct job other = job;
    other.attempt = 7;
    assert_int_equal(renewed_lost(bench, "w", &other), 1);
    assert_int_equal(renewed_lost(bench, "w", &job), 0);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].leased, 1);
    assert_int_equal(stats(bench).lanes_busy, 1);
}

static void
test_older_process_is_told_so(void **state)
{
    struct bench *bench = *state;
    touch(bench, "w", 1, NULL, 0);
    const struct answer *waits = submit_reserve(bench, "w", 1, STAGE_DETECT, 1, 30000, 0, 0);
    bench_work(bench);
    assert_false(waits->given);
    touch(bench, "w", 2, NULL, 0);
    assert_true(waits->given); /* nobody waits for it any more */
    assert_int_equal(waits->status, STATUS_CANCELLED);
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, 0);
    codec_put_varint(payload, 0);
    assert_int_equal(bench_submit(bench, "w", 1, QUEUE_TOUCH, 0)->status, STATUS_STALE);
}

/* ---- workers that are gone ---- */

static void
test_silent_workers_are_forgotten(void **state)
{
    struct bench *bench = *state;
    touch(bench, "idle", 1, NULL, 0);
    touch(bench, "w", 1, NULL, 0);
    put_uri(bench, STAGE_DETECT, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, 1), 1);
    assert_int_equal(stats(bench).workers, 2);
    clock_move(590000); /* w has a job, and keeps it */
    touch(bench, "w", 1, bench->jobs, 1);
    assert_int_equal(stats(bench).workers, 2);
    clock_move(20000);
    bench_work(bench);
    assert_int_equal(stats(bench).workers, 1);
    bench_close(bench); /* and its row is gone: only w is waited for */
    bench_open(bench);
    assert_int_equal(stats(bench).workers, 1);
    clock_move(60000); /* the grace is over, and w said nothing */
    bench_work(bench);
    bench_work(bench);
    assert_int_equal(stats(bench).workers, 0);
}

/* ---- limits ---- */

static void
test_many_delayed_jobs_come_in_several_rounds(void **state)
{
    enum { MOVES = 5000, MANY = MOVES + 3 };
    struct bench *bench = *state;
    char uris[8][32];
    struct job *jobs = memory_zero(MANY, sizeof *jobs);
    const uint64_t due = clock_wall_ms() + 100000;
    for (size_t i = 0; i < MANY; i++) {
        snprintf(uris[i % 8], sizeof uris[0], URI "%zu", i % 8);
        jobs[i] = a_job(STAGE_DETECT, uris[i % 8]);
        jobs[i].due_ms = due;
    }
    assert_int_equal(put_jobs(bench, jobs, MANY), STATUS_OK);
    free(jobs);
    clock_move(100000);
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].ready, MOVES);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].delayed, MANY - MOVES);
    assert_int_equal(broker_wait_ms(bench->broker), 0);
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].ready, MANY);
}

/* An answer ends with the job that makes it long. */
static void
test_answers_have_an_end(void **state)
{
    enum { JOBS = 300 };
    struct bench *bench = *state;
    char *data = memory_zero(JOB_DATA_MAXIMUM, 1);
    struct job job = a_job(STAGE_DETECT, URI);
    job.data = slice_of(data, JOB_DATA_MAXIMUM);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
    }
    const size_t expected = MESSAGE_REPLY_ENOUGH / JOB_DATA_MAXIMUM; /* and a little each */
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, STAGE_DETECT);
    codec_put_slice(payload, SLICE("ready"));
    codec_put_varint(payload, JOBS);
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_PEEK, 0);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    assert_int_equal(codec_get_u32(&reader), expected);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, JOBS), expected);
    assert_int_equal(reserve(bench, "w", 1, STAGE_DETECT, JOBS), JOBS - expected);
    free(data);
}

static void
test_peek_and_stats_refuse_what_makes_no_sense(void **state)
{
    struct bench *bench = *state;
    static const struct {
        uint8_t stage;
        const char *what;
        uint64_t most;
        enum status status;
        uint32_t count;
    } cases[] = {
        {STAGE_DETECT, "ready", 0, STATUS_OK, 0},
        {STAGE_DETECT, "ready", 1, STATUS_OK, 1},
        {STAGE_DETECT, "ready", 2, STATUS_OK, 2},
        {STAGE_DETECT, "ready", UINT64_MAX, STATUS_OK, 2},
        {STAGE_TRANSFORM, "ready", 5, STATUS_OK, 1},
        {STAGE_FETCH, "jobs", 5, STATUS_OK, 1},
        {STAGE_INDEX, "ready", 5, STATUS_OK, 0},
        {STAGE_COUNT, "ready", 5, STATUS_BAD_INPUT, 0},
        {STAGE_DETECT, "read", 5, STATUS_BAD_INPUT, 0},
    };
    put_uri(bench, STAGE_FETCH, URI, 0);
    put_uri(bench, STAGE_DETECT, URI "a", 0);
    put_uri(bench, STAGE_DETECT, URI "b", 0);
    put_uri(bench, STAGE_TRANSFORM, URI "c", 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf *payload = bench_payload(bench);
        codec_put_u8(payload, cases[i].stage);
        codec_put_slice(payload, slice_string(cases[i].what));
        codec_put_varint(payload, cases[i].most);
        const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_PEEK, 0);
        assert_int_equal(answer->status, cases[i].status);
        if (answer->status == STATUS_OK) {
            struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
            assert_int_equal(codec_get_u32(&reader), cases[i].count);
        }
    }
    codec_put_u8(bench_payload(bench), 0);
    assert_int_equal(bench_submit(bench, "test", 1, QUEUE_STATS, 0)->status, STATUS_BAD_INPUT);
    codec_put_u8(bench_payload(bench), 0);
    assert_int_equal(bench_submit(bench, "test", 1, QUEUE_WATCH, 0)->status, STATUS_BAD_INPUT);
    codec_put_slice(bench_payload(bench), SLICE("http:///no-host"));
    assert_int_equal(bench_submit(bench, "test", 1, QUEUE_LOOK, 0)->status, STATUS_BAD_INPUT);
}

/* What a person can do with a buried job is a command that a shell takes as it is. */
static void
test_reproducers_of_all_stages(void **state)
{
    struct bench *bench = *state;
    static const char *const expected[STAGE_COUNT] = {
        "quadrille queue --dir '/' --stage fetch kick 'http://example.org/it'\\''s'",
        "quadrille detect --dir '/' --uri 'http://example.org/it'\\''s'",
        "quadrille transform --dir '/' --uri 'http://example.org/it'\\''s'",
        "quadrille queue --dir '/' --stage index kick 'http://example.org/it'\\''s'",
        "quadrille queue --dir '/' --stage extract kick 'http://example.org/it'\\''s'",
    };
    bench_close(bench);
    bench->options.directory = "/.";
    bench_open(bench);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        put_uri(bench, (enum stage)stage, URI "it's", 0);
        assert_int_equal(reserve(bench, "w", 1, (enum stage)stage, 1), 1);
        const struct completion buried = {.key = bench->jobs[0].key, .verdict = VERDICT_BURY};
        complete(bench, "w", 1, &buried, 1);
        struct buf *payload = bench_payload(bench);
        codec_put_u8(payload, (uint8_t)stage);
        codec_put_slice(payload, SLICE("buried"));
        codec_put_varint(payload, 5);
        const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_PEEK, 0);
        struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
        struct job job;
        assert_int_equal(codec_get_u32(&reader), 1);
        assert_true(job_key_decode(&reader, &job.key));
        assert_true(job_decode(&reader, &job));
        (void)codec_get_slice(&reader);
        const struct slice reproducer = codec_get_slice(&reader);
        assert_int_equal(reproducer.length, strlen(expected[stage]));
        assert_memory_equal(reproducer.at, expected[stage], reproducer.length);
    }
}

/* A lane has few jobs in memory, and a start passes over the rest of a long one. */
static void
test_long_lanes_are_found_at_the_start(void **state)
{
    enum { LANES = 5, LONG = 70 };
    struct bench *bench = *state;
    struct job jobs[LANES * LONG];
    char uris[LANES * LONG][48];
    for (int i = 0; i < LANES * LONG; i++) {
        snprintf(uris[i], sizeof uris[i], "http://h%d.example/%d", i % LANES, i);
        jobs[i] = a_job(STAGE_FETCH, uris[i]);
    }
    assert_int_equal(put_jobs(bench, jobs, LANES * LONG), STATUS_OK);
    restart(bench);
    assert_int_equal(stats(bench).lanes, LANES);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 100), LANES);
}

/* A look-up finds what is known of one URI far down a lane. */
static void
test_look_ends_in_a_long_lane(void **state)
{
    enum { MOST = 20000, JOBS = MOST + 3 };
    struct bench *bench = *state;
    struct job *jobs = memory_zero(JOBS, sizeof *jobs);
    char(*uris)[32] = memory_zero(JOBS, sizeof *uris);
    for (int i = 0; i < JOBS; i++) {
        snprintf(uris[i], sizeof uris[i], URI "%d", i);
        jobs[i] = a_job(STAGE_FETCH, uris[i]);
    }
    assert_int_equal(put_jobs(bench, jobs, JOBS), STATUS_OK);
    for (int i = MOST - 1; i < JOBS; i++) {
        struct queue_explanation look;
        codec_put_slice(bench_payload(bench), slice_string(uris[i]));
        const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_LOOK, 0);
        assert_true(message_get_explanation(buf_slice(&answer->payload), &look));
        assert_int_equal(look.found, i < MOST);
        assert_int_equal(look.behind, i >= MOST);
        assert_int_equal(look.ahead, i < MOST ? MOST - 1 : MOST);
    }
    free(jobs);
    free(uris);
}

int
queue_faults_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_a_start_tells_of_every_failed_read),
        CASE(test_a_round_tells_of_every_failed_call),
        CASE(test_damage_is_named_at_the_start),
        CASE(test_damage_is_named_in_a_round),
        CASE(test_intake_opens_with_more_room_than_it_closed_with),
        CASE(test_ending_names_the_whole_key),
        CASE(test_only_the_holder_gives_back),
        CASE(test_touch_says_what_is_lost),
        CASE(test_older_process_is_told_so),
        CASE(test_silent_workers_are_forgotten),
        CASE(test_many_delayed_jobs_come_in_several_rounds),
        CASE(test_answers_have_an_end),
        CASE(test_peek_and_stats_refuse_what_makes_no_sense),
        CASE(test_reproducers_of_all_stages),
        CASE(test_long_lanes_are_found_at_the_start),
        CASE(test_look_ends_in_a_long_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
