/* What the broker answers, figure by figure: outcomes that count for two stages, jobs of fetch that
 * are asked for again, questions that are malformed, what waits for each of three nodes, and rows
 * that are damaged. */
#include "base/system/clock.h"
#include "queue/politeness/pace.h"
#include "queue/storage/store_batch.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

#define URI "http://example.org/"

static const char three_nodes[] = "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
                                  "node b queue=tcp://127.0.0.1:3 metastore=tcp://127.0.0.1:4\n"
                                  "node c queue=tcp://127.0.0.1:5 metastore=tcp://127.0.0.1:6\n";

/* Changes rows behind the broker's back. */
static void
put_row(struct bench *bench, enum store_tree tree, struct slice key, struct slice value)
{
    struct reason why = {""};
    struct frontier *frontier;
    struct store_batch batch;
    bench_close(bench);
    assert_int_equal(frontier_open(&frontier, &bench->options.store, &why), STATUS_OK);
    store_batch_init(&batch);
    store_batch_put(&batch, tree, key, value);
    store_batch_sort(&batch);
    assert_int_equal(frontier_apply(frontier,
                                    (const struct store_operation *const *)batch.operations,
                                    batch.count, &why),
                     STATUS_OK);
    store_batch_release(&batch);
    frontier_close(frontier);
}

/* ---- outcomes ---- */

/* A job of that stage ends so. */
static void
ends(struct bench *bench, enum stage stage, enum job_outcome outcome)
{
    put_uri(bench, stage, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, stage, 1), 1);
    const struct completion completion = {.key = bench->jobs[0].key, .outcome = outcome};
    complete(bench, "w", 1, &completion, bench->jobs[0].attempt);
}

/* Detect may transform as well: then both stages have done something. */
static void
test_outcomes_of_two_stages_count_for_both(void **state)
{
    struct bench *bench = *state;
    ends(bench, STAGE_DETECT, OUTCOME_TRANSFORMED);
    ends(bench, STAGE_DETECT, OUTCOME_BROKEN);
    ends(bench, STAGE_DETECT, OUTCOME_NOINDEX);
    ends(bench, STAGE_TRANSFORM, OUTCOME_TRANSFORMED);
    ends(bench, STAGE_DETECT, OUTCOME_NONE);
    const struct queue_stats now = stats(bench);
    assert_int_equal(now.outcomes[OUTCOME_DETECTED], 2);
    assert_int_equal(now.outcomes[OUTCOME_TRANSFORMED], 2);
    assert_int_equal(now.outcomes[OUTCOME_BROKEN], 1);
    assert_int_equal(now.outcomes[OUTCOME_NOINDEX], 1);
    assert_int_equal(now.outcomes[OUTCOME_NONE], 0);
    assert_int_equal(now.stages[STAGE_DETECT].put, 4);
    assert_int_equal(now.stages[STAGE_DETECT].done, 4);
    assert_int_equal(now.stages[STAGE_TRANSFORM].put, 3);
    assert_int_equal(now.stages[STAGE_TRANSFORM].done, 3);
    assert_int_equal(now.stages[STAGE_INDEX].put, 0);
}

/* ---- who asks again ---- */

/* Jobs of fetch come with the pace of their host, the first time and when they are asked for again.
 */
static void
test_paces_are_told_again(void **state)
{
    enum { REQUEST = 77 };
    struct bench *bench = *state;
    struct buf first;
    put_uri(bench, STAGE_FETCH, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    const struct completion slow = {.key = bench->jobs[0].key,
                                    .report = REPORT(.rest_ms = 1, .address = 3)};
    complete(bench, "w", 1, &slow, 1);
    put_uri(bench, STAGE_FETCH, URI "more", 0);
    put_uri(bench, STAGE_FETCH, "http://other.example/", 0);
    clock_move(5000);
    const struct answer *answer = submit_reserve(bench, "w", 1, STAGE_FETCH, 5, 0, 0, REQUEST);
    bench_work(bench);
    read_answer(bench, answer);
    assert_int_equal(bench->job_count, 2);
    bool told = false;
    for (size_t i = 0; i < 2; i++) {
        told |= slice_is(bench->jobs[i].uri, URI "more") && bench->jobs[i].pace.length > 0;
    }
    assert_true(told);
    buf_init(&first, 1 << 16);
    (void)buf_append_slice(&first, buf_slice(&answer->payload));
    answer = submit_reserve(bench, "w", 1, STAGE_FETCH, 5, 0, 0, REQUEST);
    bench_work(bench);
    read_answer(bench, answer);
    assert_int_equal(bench->job_count, 2);
    assert_int_equal(answer->payload.length, first.length);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].leased, 2);
    buf_release(&first);
}

/* ---- malformed questions, damaged rows ---- */

static void
test_questions_have_nothing_behind_them(void **state)
{
    static const uint8_t verbs[] = {QUEUE_NODES, QUEUE_STATS, QUEUE_LOOK, QUEUE_PEEK, QUEUE_HOSTS};
    struct bench *bench = *state;
    for (size_t i = 0; i < sizeof verbs; i++) {
        /* Zeros are an empty text, the first stage, the first lane; there is one too many. */
        for (int n = 0; n < 40; n++) {
            codec_put_u8(bench_payload(bench), 0);
        }
        const struct answer *answer = bench_submit(bench, "test", 1, verbs[i], 0);
        if (verbs[i] != QUEUE_STATS) {
            assert_int_equal(answer->status, STATUS_BAD_INPUT);
            assert_true(answer->why[0] != '\0');
        }
    }
}

static void
test_damage_of_what_is_known_of_a_uri(void **state)
{
    struct bench *bench = *state;
    uint8_t fingerprint[FINGERPRINT_SIZE];
    put_uri(bench, STAGE_FETCH, URI, 0);
    assert_int_equal(look(bench, URI).known, 1);
    fingerprint_of(SLICE(URI), fingerprint);
    put_row(bench, TREE_SEEN, slice_of((const char *)fingerprint, sizeof fingerprint), SLICE("\1"));
    bench_open(bench);
    codec_put_slice(bench_payload(bench), SLICE(URI));
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_LOOK, 0);
    assert_int_equal(answer->status, STATUS_CORRUPT);
    assert_string_equal(answer->why, "what is known of a URI is damaged");
}

static void
test_damage_of_the_scope_is_told_at_the_start(void **state)
{
    struct bench *bench = *state;
    struct reason why = {""};
    struct broker *broker;
    broker_set_scope(bench->broker, 7, SLICE(""));
    put_uri(bench, STAGE_FETCH, URI, 0);
    bench_restart(bench);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_int_equal(bench->scope, 7);
    put_row(bench, TREE_ABOUT, SLICE("scope"), SLICE("1234567"));
    assert_int_equal(broker_open(&broker, &bench->options, bench_answer, bench, &why),
                     STATUS_CORRUPT);
    assert_string_equal(why.text, "the version of the scope has 7 bytes");
    assert_null(broker);
    bench->broker = NULL;
}

static void
test_damage_of_estimates_is_told_at_the_start(void **state)
{
    struct bench *bench = *state;
    struct reason why = {""};
    struct broker *broker;
    put_row(bench, TREE_ESTIMATES, SLICE("?"), SLICE("?"));
    assert_int_equal(broker_open(&broker, &bench->options, bench_answer, bench, &why),
                     STATUS_CORRUPT);
    assert_string_equal(why.text, "a row of estimates is damaged");
    assert_null(broker);
    bench->broker = NULL;
}

/* ---- what waits for each node ---- */

static int
set_up_three(void **state)
{
    *state = bench_new(three_nodes, "a");
    return 0;
}

static void
waits(struct bench *bench, uint64_t b, uint64_t c)
{
    (void)bench_payload(bench);
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_NODES, 0);
    assert_int_equal(answer->status, STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    struct queue_node node;
    assert_int_equal(codec_get_u32(&reader), 2);
    assert_true(message_get_node(&reader, &node));
    assert_true(slice_is(node.name, "b"));
    assert_int_equal(node.jobs, b);
    assert_true(message_get_node(&reader, &node));
    assert_true(slice_is(node.name, "c"));
    assert_int_equal(node.jobs, c);
    assert_true(codec_at_end(&reader));
}

/* Rows of an older version do not say how many jobs wait: these are counted, of this node only. */
static void
test_jobs_of_old_rows_are_counted(void **state)
{
    enum { EACH = 3, MORE = 2 };
    struct bench *bench = *state;
    size_t put[3] = {0};
    for (unsigned i = 0; put[1] < EACH || put[2] < EACH + MORE; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "http://h%u.example/", i);
        const size_t owner = cluster_owner(bench->cluster, STAGE_INDEX, slice_string(uri));
        if ((owner == 1 && put[1] < EACH) || (owner == 2 && put[2] < EACH + MORE)) {
            put_uri(bench, STAGE_INDEX, uri, 0);
            put[owner]++;
        }
    }
    waits(bench, EACH, EACH + MORE);
    static const char *const names[] = {"b", "c"};
    for (size_t i = 0; i < 2; i++) { /* one of them has the smaller number */
        uint8_t key[8], next[8];
        codec_write_u64(key, fingerprint64(slice_string(names[i])));
        codec_write_u64(next, 1 + EACH + i * MORE);
        put_row(bench, TREE_PEERS, slice_of((const char *)key, sizeof key),
                slice_of((const char *)next, sizeof next));
        bench_open(bench);
        waits(bench, EACH, EACH + MORE);
        assert_int_equal(stats(bench).stages[STAGE_INDEX].outbox, 2 * EACH + MORE);
    }
}

/* Puts so many jobs that belong to the node. */
static void
put_for(struct bench *bench, size_t node, unsigned n)
{
    for (unsigned i = 0; n > 0; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "http://h%u.example/", i);
        if (cluster_owner(bench->cluster, STAGE_INDEX, slice_string(uri)) == node) {
            put_uri(bench, STAGE_INDEX, uri, 0);
            n--;
        }
    }
}

/* Takes what goes to the node, and returns how many jobs that is; the first has this number. */
static uint64_t
goes_out(struct bench *bench, size_t node, uint64_t first)
{
    struct buf payload;
    uint64_t count = 0;
    buf_init(&payload, 1 << 20);
    if (broker_outgoing(bench->broker, node, &payload)) {
        struct codec_reader reader = codec_reader_of(buf_slice(&payload));
        (void)codec_get_u64(&reader);
        (void)codec_get_u64(&reader);
        assert_int_equal(codec_get_u64(&reader), first);
        count = codec_get_varint(&reader);
        broker_delivered(bench->broker, node, STATUS_OK, first + count - 1);
    }
    bench_work(bench);
    buf_release(&payload);
    return count;
}

/* After a restart the jobs of each node are its own: one to which nothing went begins with its
 * first, though there are jobs with larger numbers for another. */
static void
test_outboxes_begin_where_they_were(void **state)
{
    enum { SENT = 4, LEFT = 2 };
    struct bench *bench = *state;
    for (size_t full = 1; full <= 2; full++) {
        const size_t other = 3 - full;
        if (full == 2) {
            assert_int_equal(bench_tear_down(state), 0);
            assert_int_equal(set_up_three(state), 0);
            bench = *state;
        }
        put_for(bench, full, SENT);
        assert_int_equal(goes_out(bench, full, 1), SENT);
        put_for(bench, full, LEFT);
        bench_restart(bench);
        bench_forget(bench);
        waits(bench, full == 1 ? LEFT : 0, full == 1 ? 0 : LEFT);
        put_for(bench, other, 1);
        assert_int_equal(goes_out(bench, other, 1), 1);
        assert_int_equal(goes_out(bench, other, 2), 0);
        assert_int_equal(goes_out(bench, full, SENT + 1), LEFT);
        put_for(bench, full, 1);
        bench_restart(bench);
        bench_forget(bench);
        assert_int_equal(goes_out(bench, other, 2), 0);
        assert_int_equal(goes_out(bench, full, SENT + LEFT + 1), 1);
        waits(bench, 0, 0);
    }
}

int
queue_answers_run(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_CASE(test_outcomes_of_two_stages_count_for_both),
        BENCH_CASE(test_paces_are_told_again),
        BENCH_CASE(test_questions_have_nothing_behind_them),
        BENCH_CASE(test_damage_of_what_is_known_of_a_uri),
        BENCH_CASE(test_damage_of_the_scope_is_told_at_the_start),
        BENCH_CASE(test_damage_of_estimates_is_told_at_the_start),
        cmocka_unit_test_setup_teardown(test_jobs_of_old_rows_are_counted, set_up_three,
                                        bench_tear_down),
        cmocka_unit_test_setup_teardown(test_outboxes_begin_where_they_were, set_up_three,
                                        bench_tear_down),
    };
    return cmocka_run_group_tests_name("queue answers", tests, NULL, NULL);
}
