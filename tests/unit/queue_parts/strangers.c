/* Nodes that cluster.conf names no more, two of them: what waits for each is told, is damaged, is
 * forgotten in parts, and holds nothing back. That what waits for one goes to its heirs is tried in
 * ../queue/queue_peers.c. */
#include <errno.h>
#include <sys/stat.h>

#include "queue/storage/store_batch.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"
#include "tests/unit/queue/told_frontier.h"

static const char three_nodes[] = "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
                                  "node b queue=tcp://127.0.0.1:3 metastore=tcp://127.0.0.1:4\n"
                                  "node c queue=tcp://127.0.0.1:5 metastore=tcp://127.0.0.1:6\n";
static const char one_node[] = "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n";
enum { A, B, C, FORGOTTEN_AT_ONCE = 2000 };

static bool commits_fail;

static int
fail_commit(void *context, enum store_point point)
{
    (void)context;
    return point == STORE_BEFORE_COMMIT && commits_fail ? ENOSPC : 0;
}

static int
setup(void **state)
{
    struct bench *bench = bench_new(three_nodes, "a");
    told_frontier_reset();
    commits_fail = false;
    clock_stop();
    bench_close(bench);
    bench->options.store.fault = fail_commit;
    bench->options.grace_ms = 0;
    bench_open(bench);
    *state = bench;
    return 0;
}

static int
teardown(void **state)
{
    told_frontier_reset();
    commits_fail = false;
    bench_free(*state);
    clock_go();
    return 0;
}

/* Puts so many jobs of the stage that belong to the node. */
static void
put_for(struct bench *bench, size_t node, enum stage stage, unsigned n)
{
    struct job *jobs = memory_zero(n, sizeof *jobs);
    char *uris = memory_zero(n, 64);
    for (unsigned i = 0, found = 0; found < n; i++) {
        char *uri = uris + (size_t)64 * found;
        snprintf(uri, 64, "http://h%06u.example/", i);
        if (cluster_owner(bench->cluster, stage, slice_string(uri)) == node) {
            jobs[found++] = a_job(stage, uri);
        }
    }
    assert_int_equal(put_jobs(bench, jobs, n), STATUS_OK);
    free(jobs);
    free(uris);
}

static void
name_nodes(struct bench *bench, const char *cluster)
{
    struct reason why = {""};
    bench_close(bench);
    cluster_close(bench->cluster);
    assert_int_equal(cluster_parse(&bench->cluster, slice_string(cluster), "a", "/", &why),
                     STATUS_OK);
    bench->options.cluster = bench->cluster;
}

static void
reopen_as(struct bench *bench, const char *cluster)
{
    name_nodes(bench, cluster);
    bench_open(bench);
}

/* Jobs that wait for the node, as the list of nodes tells; 0: it is not in the list. */
static uint64_t
jobs_for(struct bench *bench, const char *name)
{
    uint64_t jobs = 0;
    (void)bench_payload(bench);
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_NODES, 0);
    assert_int_equal(answer->status, STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    for (uint32_t n = codec_get_u32(&reader); n > 0; n--) {
        struct queue_node node;
        assert_true(message_get_node(&reader, &node));
        jobs += slice_is(node.name, name) ? node.jobs : 0;
    }
    assert_true(codec_at_end(&reader));
    return jobs;
}

static struct answer *
submit_forget(struct bench *bench, const char *name)
{
    codec_put_slice(bench_payload(bench), slice_string(name));
    return bench_submit(bench, "test", 1, QUEUE_FORGET, 0);
}

static void
assert_forgot(const struct answer *answer, uint64_t moved, uint64_t dropped, uint64_t left)
{
    assert_int_equal(answer->status, STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    assert_int_equal(codec_get_varint(&reader), moved);
    assert_int_equal(codec_get_varint(&reader), dropped);
    assert_int_equal(codec_get_varint(&reader), left);
    assert_true(codec_at_end(&reader));
}

/* While there is no broker. */
static void
change_row(struct bench *bench, enum store_tree tree, struct slice key, struct slice value)
{
    struct reason why = {""};
    struct frontier *frontier;
    struct store_batch batch;
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

/* Changes the row that waits for the node as the so-manieth. */
static void
change_waiting(struct bench *bench, const char *name, uint64_t sequence, struct slice value)
{
    uint8_t key[16];
    codec_write_u64(key, fingerprint64(slice_string(name)));
    codec_write_u64(key + 8, sequence);
    bench_close(bench);
    change_row(bench, TREE_OUTBOX, slice_of((const char *)key, sizeof key), value);
    bench_open(bench);
}

/* ---- two that are gone ---- */

/* Whichever is forgotten first, what waits for the other stays. */
static void
test_each_stranger_is_forgotten_alone(void **state)
{
    static const char *const names[] = {"b", "c"};
    for (size_t first = 0; first < 2; first++) {
        struct bench *bench = *state;
        const char *gone = names[first], *stays = names[1 - first];
        reopen_as(bench, three_nodes);
        put_for(bench, B, STAGE_INDEX, 3);
        put_for(bench, B, STAGE_EXTRACT, 2);
        put_for(bench, C, STAGE_INDEX, 7);
        reopen_as(bench, one_node);
        assert_int_equal(jobs_for(bench, "b"), 5);
        assert_int_equal(jobs_for(bench, "c"), 7);
        const uint64_t before = stats(bench).stages[STAGE_INDEX].ready;
        const struct answer *answer = submit_forget(bench, gone);
        bench_work(bench);
        assert_forgot(answer, first == 0 ? 5 : 7, 0, 0);
        assert_int_equal(jobs_for(bench, gone), 0);
        assert_int_equal(jobs_for(bench, stays), first == 0 ? 7 : 5);
        assert_int_equal(stats(bench).stages[STAGE_INDEX].ready - before, first == 0 ? 3 : 7);
        bench_restart(bench);
        assert_int_equal(jobs_for(bench, gone), 0);
        assert_int_equal(jobs_for(bench, stays), first == 0 ? 7 : 5);
        answer = submit_forget(bench, stays);
        bench_work(bench);
        assert_forgot(answer, first == 0 ? 7 : 5, 0, 0);
        assert_int_equal(stats(bench).stages[STAGE_INDEX].outbox, 0);
        assert_int_equal(stats(bench).stages[STAGE_EXTRACT].outbox, 0);
    }
}

/* Of two requests in a round one moves rows; the other is told that something may be left. */
static void
test_of_two_requests_in_a_round_one_moves(void **state)
{
    struct bench *bench = *state;
    put_for(bench, B, STAGE_INDEX, 3);
    reopen_as(bench, one_node);
    const struct answer *first = submit_forget(bench, "b"), *second = submit_forget(bench, "b");
    bench_work(bench);
    assert_forgot(first, 3, 0, 0);
    assert_forgot(second, 0, 0, 1);
    assert_int_equal(stats(bench).stages[STAGE_INDEX].ready, 3);
}

/* So many rows leave in a round; at exactly as many nobody knows yet that they were all. */
static void
test_so_many_are_forgotten_at_once(void **state)
{
    for (unsigned n = FORGOTTEN_AT_ONCE - 1; n <= FORGOTTEN_AT_ONCE; n++) {
        struct bench *bench = *state;
        reopen_as(bench, three_nodes);
        put_for(bench, B, STAGE_INDEX, n);
        reopen_as(bench, one_node);
        const struct answer *answer = submit_forget(bench, "b");
        bench_work(bench);
        assert_forgot(answer, n, 0, n == FORGOTTEN_AT_ONCE);
        assert_int_equal(jobs_for(bench, "b"), 0);
        assert_int_equal(submit_forget(bench, "b")->status, STATUS_NOT_FOUND);
    }
}

/* So many bytes do, too: a round's change stays small. */
static void
test_so_many_bytes_are_forgotten_at_once(void **state)
{
    enum { BYTES = 4 << 20, JOBS = BYTES / JOB_DATA_MAXIMUM + 2 };
    struct bench *bench = *state;
    char *data = memory_zero(JOB_DATA_MAXIMUM, 1);
    struct job job = a_job(STAGE_INDEX, "");
    struct buf row;
    char uri[64];
    for (unsigned i = 0;; i++) {
        snprintf(uri, sizeof uri, "http://h%06u.example/", i);
        if (cluster_owner(bench->cluster, STAGE_INDEX, slice_string(uri)) == B) {
            break;
        }
    }
    job.uri = slice_string(uri);
    job.data = slice_of(data, JOB_DATA_MAXIMUM);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
    }
    buf_init(&row, 2 * JOB_DATA_MAXIMUM);
    message_put_new(&row, &job);
    const uint64_t first = (BYTES + row.length - 1) / row.length; /* the last passes the limit */
    reopen_as(bench, one_node);
    const struct answer *answer = submit_forget(bench, "b");
    bench_work(bench);
    assert_forgot(answer, first, 0, 1);
    answer = submit_forget(bench, "b");
    bench_work(bench);
    assert_forgot(answer, JOBS - first, 0, 0);
    buf_release(&row);
    free(data);
}

/* What is forgotten in parts is counted by what is left, also by who starts anew in between, or
 * names the node again. */
static void
test_what_is_left_is_stored(void **state)
{
    enum { LEFT = 5 };
    struct bench *bench = *state;
    put_for(bench, B, STAGE_INDEX, FORGOTTEN_AT_ONCE + LEFT);
    reopen_as(bench, one_node);
    const struct answer *answer = submit_forget(bench, "b");
    bench_work(bench);
    assert_forgot(answer, FORGOTTEN_AT_ONCE, 0, 1);
    bench_restart(bench);
    assert_int_equal(jobs_for(bench, "b"), LEFT);
    reopen_as(bench, three_nodes);
    assert_int_equal(jobs_for(bench, "b"), LEFT);
    struct buf payload;
    buf_init(&payload, 1 << 20);
    assert_true(broker_outgoing(bench->broker, B, &payload));
    assert_int_equal(codec_read_u64((const uint8_t *)payload.data + 16), FORGOTTEN_AT_ONCE + 1);
    broker_delivered(bench->broker, B, STATUS_OK, FORGOTTEN_AT_ONCE + LEFT);
    put_for(bench, B, STAGE_INDEX, 1); /* its sequence goes on behind them */
    assert_int_equal(jobs_for(bench, "b"), 1);
    buf_reset(&payload);
    assert_true(broker_outgoing(bench->broker, B, &payload));
    assert_int_equal(codec_read_u64((const uint8_t *)payload.data + 16),
                     FORGOTTEN_AT_ONCE + LEFT + 1);
    buf_release(&payload);
}

/* A commit that fails moves nothing, and it can be asked for again. */
static void
test_a_failed_commit_forgets_nothing(void **state)
{
    struct bench *bench = *state;
    put_for(bench, B, STAGE_INDEX, 3);
    reopen_as(bench, one_node);
    commits_fail = true;
    const struct answer *answer = submit_forget(bench, "b");
    bench_work(bench);
    assert_int_equal(answer->status, STATUS_FULL);
    commits_fail = false;
    clock_move(1000); /* its pause after a failure */
    bench_work(bench);
    assert_int_equal(jobs_for(bench, "b"), 3);
    assert_int_equal(stats(bench).stages[STAGE_INDEX].outbox, 3);
    answer = submit_forget(bench, "b");
    bench_work(bench);
    assert_forgot(answer, 3, 0, 0);
}

/* Whatever read or write of the round fails, what waits is here or there, and nowhere twice. */
static void
test_failed_calls_lose_nothing(void **state)
{
    enum { JOBS = 3, LEAST = 3 };
    struct bench *bench = *state;
    int calls = 0;
    put_for(bench, B, STAGE_INDEX, JOBS);
    reopen_as(bench, one_node);
    for (bool struck = true; struck; calls += struck) {
        struct reason why = {""};
        bench_forget(bench);
        const struct answer *answer = submit_forget(bench, "b");
        if (answer->given) { /* all have gone, by the round before */
            assert_int_equal(answer->status, STATUS_NOT_FOUND);
            break;
        }
        told_frontier.calls = calls;
        told_frontier.status = STATUS_SYSTEM;
        const enum status status = broker_work(bench->broker, &why);
        struck = told_frontier.calls < 0;
        told_frontier.calls = -1;
        assert_int_equal(status, struck ? STATUS_SYSTEM : STATUS_OK);
        assert_string_equal(why.text, struck ? "a fault" : "");
        bench_restart(bench);
        const struct queue_stats now = stats(bench);
        assert_true(jobs_for(bench, "b") == 0 || jobs_for(bench, "b") == JOBS);
        assert_int_equal(now.stages[STAGE_INDEX].outbox, jobs_for(bench, "b"));
        assert_int_equal(now.stages[STAGE_INDEX].ready + jobs_for(bench, "b"), JOBS);
    }
    assert_true(calls >= LEAST);
    assert_int_equal(jobs_for(bench, "b"), 0);
}

/* ---- what is damaged, or of no use ---- */

/* Rows of no stage that there is are counted for none, but go; one may have nothing but its stage.
 */
static void
test_rows_of_no_stage_are_dropped(void **state)
{
    static const struct slice rows[] = {SLICE_INIT(""), SLICE_INIT("\x05"),
                                        SLICE_INIT("\xff more")};
    enum { JOBS = 5 };
    struct bench *bench = *state;
    put_for(bench, B, STAGE_INDEX, JOBS);
    change_waiting(bench, "b", 1, SLICE("\x03"));
    for (uint64_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        change_waiting(bench, "b", JOBS + 1 + i, rows[i]); /* behind the others */
    }
    reopen_as(bench, one_node);
    assert_int_equal(jobs_for(bench, "b"), JOBS);
    const struct answer *answer = submit_forget(bench, "b");
    bench_work(bench);
    assert_forgot(answer, JOBS - 1, 1 + sizeof rows / sizeof *rows, 0);
    const struct queue_stats now = stats(bench);
    assert_int_equal(now.stages[STAGE_INDEX].ready, JOBS - 1);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        assert_int_equal(now.stages[stage].outbox, 0);
    }
    assert_int_equal(jobs_for(bench, "b"), 0);
    reopen_as(bench, one_node);
    assert_int_equal(submit_forget(bench, "b")->status, STATUS_NOT_FOUND);
}

/* A row that nobody can read, and word of the scope, which was for that node alone, are dropped. */
static void
test_what_cannot_move_is_dropped(void **state)
{
    struct bench *bench = *state;
    const struct job word = {.key.stage = STAGE_EXTRACT, .uri = SLICE(JOB_SWEEP_URI)};
    struct buf row;
    put_for(bench, B, STAGE_INDEX, 4);
    put_for(bench, B, STAGE_EXTRACT, 1);
    change_waiting(bench, "b", 2, SLICE("\x03 is of the index"));
    buf_init(&row, 1000);
    message_put_new(&row, &word);
    change_waiting(bench, "b", 5, buf_slice(&row)); /* in the place of the job of extract */
    buf_release(&row);
    reopen_as(bench, one_node);
    const struct answer *answer = submit_forget(bench, "b");
    bench_work(bench);
    assert_forgot(answer, 3, 2, 0);
    assert_int_equal(stats(bench).stages[STAGE_INDEX].ready, 3);
    assert_int_equal(stats(bench).stages[STAGE_INDEX].outbox, 0);
    assert_int_equal(stats(bench).stages[STAGE_EXTRACT].ready, 0);
    assert_int_equal(stats(bench).stages[STAGE_EXTRACT].outbox, 0);
    assert_int_equal(jobs_for(bench, "b"), 0);
}

/* Its row has one count instead of one for each stage. */
static void
test_a_damaged_row_of_a_stranger_is_named(void **state)
{
    struct bench *bench = *state;
    struct reason why = {""};
    struct broker *broker;
    struct buf row;
    uint8_t key[8];
    put_for(bench, B, STAGE_INDEX, 1);
    name_nodes(bench, one_node);
    codec_write_u64(key, fingerprint64(SLICE("b")));
    buf_init(&row, 100);
    codec_put_u64(&row, 2);
    codec_put_slice(&row, SLICE("b"));
    codec_put_varint(&row, 1);
    change_row(bench, TREE_PEERS, slice_of((const char *)key, sizeof key), buf_slice(&row));
    buf_release(&row);
    assert_int_equal(broker_open(&broker, &bench->options, bench_answer, bench, &why),
                     STATUS_CORRUPT);
    assert_string_equal(why.text, "the row of node b is damaged");
}

/* ---- what they hold back ---- */

/* Who waits for a node that is gone holds no stage back, unless the disk is full. */
static void
test_strangers_hold_nothing_back(void **state)
{
    struct bench *bench = *state;
    bench->options.high_water = 10;
    bench->options.min_free = 1000;
    told_frontier.free = 1000;
    bench_restart(bench);
    put_for(bench, B, STAGE_INDEX, 6);
    put_for(bench, C, STAGE_INDEX, 6);
    assert_true(stats(bench).stages[STAGE_TRANSFORM].throttled);
    reopen_as(bench, one_node);
    assert_false(stats(bench).stages[STAGE_TRANSFORM].throttled);
    told_frontier.free = 999;
    clock_move(1000); /* the disk is looked at each second */
    bench_work(bench);
    assert_true(stats(bench).intake_stopped);
    assert_true(stats(bench).stages[STAGE_TRANSFORM].throttled);
}

/* What waits here and what waits for other nodes are counted together, to the job. */
static void
test_jobs_of_all_nodes_hold_a_stage_back(void **state)
{
    enum { HIGH = 10 };
    struct bench *bench = *state;
    bench->options.high_water = HIGH;
    bench_restart(bench);
    put_for(bench, A, STAGE_INDEX, 4);
    put_for(bench, B, STAGE_INDEX, HIGH - 4);
    assert_false(stats(bench).stages[STAGE_TRANSFORM].throttled);
    assert_int_equal(stats(bench).stages[STAGE_INDEX].ready, 4);
    assert_int_equal(stats(bench).stages[STAGE_INDEX].outbox, HIGH - 4);
    put_for(bench, C, STAGE_INDEX, 1);
    assert_true(stats(bench).stages[STAGE_TRANSFORM].throttled);
    assert_false(stats(bench).stages[STAGE_EXTRACT].throttled);
    assert_false(stats(bench).stages[STAGE_DETECT].throttled);
}

/* ---- a queue that was restored ---- */

/* The mark of it stays until the new number is stored, and a start that cannot remove it ends. */
static void
test_restored_queues_get_their_number_first(void **state)
{
    struct bench *bench = *state;
    struct reason why = {""};
    struct broker *broker;
    char mark[256];
    put_for(bench, A, STAGE_DETECT, 1);
    bench_close(bench);
    snprintf(mark, sizeof mark, "%s/" QUEUE_RESTORED, bench->folder);
    assert_int_equal(mkdir(mark, 0700), 0); /* no file */
    assert_int_equal(broker_open(&broker, &bench->options, bench_answer, bench, &why),
                     STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot remove "));
    assert_null(broker);
    commits_fail = true;
    assert_int_equal(broker_open(&broker, &bench->options, bench_answer, bench, &why), STATUS_FULL);
    commits_fail = false;
    assert_int_equal(rmdir(mark), 0); /* it is still there */
    bench_open(bench);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].ready, 1);
}

/* ---- who sends ---- */

/* Transfers one job as the so-manieth of an outbox. */
static enum status
comes_from(struct bench *bench, const char *client, uint64_t origin, uint64_t sequence)
{
    struct job job = a_job(STAGE_DETECT, "http://example.org/");
    struct buf *payload = bench_payload(bench);
    codec_put_u64(payload, origin);
    codec_put_u64(payload, 1);
    codec_put_u64(payload, sequence);
    codec_put_varint(payload, 1);
    message_put_new(payload, &job);
    const struct answer *answer = bench_submit(bench, client, 1, QUEUE_TRANSFER, 0);
    bench_work(bench);
    if (answer->status == STATUS_OK) {
        assert_int_equal(answer->payload.length, 8);
        assert_true(codec_read_u64((const uint8_t *)answer->payload.data) >= sequence);
    }
    return answer->status;
}

/* Each outbox has its own sequence, also after a new start. */
static void
test_outboxes_are_told_apart(void **state)
{
    enum { OUTBOXES = 3 };
    struct bench *bench = *state;
    uint64_t received = 0;
    for (uint64_t sequence = 1; sequence <= 4; sequence++) {
        for (uint64_t origin = 1; origin <= OUTBOXES; origin++) {
            for (int again = 0; again < 2; again++) { /* what is known is taken, and is no job */
                assert_int_equal(comes_from(bench, "queue@b", origin, sequence), STATUS_OK);
                assert_int_equal(stats(bench).received, received + 1);
            }
            received++;
        }
        bench_restart(bench);
        bench_forget(bench);
    }
    assert_int_equal(stats(bench).stages[STAGE_DETECT].ready, received);
}

/* Of two that this node has lost something of one is accepted, by its name. */
static void
test_losses_are_told_apart(void **state)
{
    struct bench *bench = *state;
    for (uint64_t origin = 1; origin <= 2; origin++) {
        const char *client = origin == 1 ? "queue@b" : "nameless";
        assert_int_equal(comes_from(bench, client, origin, 1), STATUS_OK);
        assert_int_equal(comes_from(bench, client, origin, 4), STATUS_CORRUPT);
        assert_int_equal(comes_from(bench, client, origin, 2), STATUS_OK);
        assert_int_equal(comes_from(bench, client, origin, 4), STATUS_CORRUPT);
    }
    assert_non_null(strstr(bench->answers[bench->tokens - 1].why, "it has lost 1 jobs"));
    assert_non_null(strstr(bench->answers[bench->tokens - 1].why, "forget nameless`"));
    struct answer *answer = submit_forget(bench, "nameless");
    bench_work(bench);
    assert_forgot(answer, 0, 0, 0);
    assert_int_equal(comes_from(bench, "queue@b", 1, 4), STATUS_CORRUPT);
    assert_int_equal(comes_from(bench, "nameless", 2, 4), STATUS_OK);
    answer = submit_forget(bench, "b");
    bench_work(bench);
    assert_int_equal(answer->status, STATUS_OK);
    assert_int_equal(comes_from(bench, "queue@b", 1, 4), STATUS_OK);
    assert_int_equal(submit_forget(bench, "nameless")->status, STATUS_NOT_FOUND);
}

int
strangers_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_each_stranger_is_forgotten_alone),
        CASE(test_of_two_requests_in_a_round_one_moves),
        CASE(test_so_many_are_forgotten_at_once),
        CASE(test_so_many_bytes_are_forgotten_at_once),
        CASE(test_what_is_left_is_stored),
        CASE(test_a_failed_commit_forgets_nothing),
        CASE(test_failed_calls_lose_nothing),
        CASE(test_rows_of_no_stage_are_dropped),
        CASE(test_what_cannot_move_is_dropped),
        CASE(test_a_damaged_row_of_a_stranger_is_named),
        CASE(test_strangers_hold_nothing_back),
        CASE(test_jobs_of_all_nodes_hold_a_stage_back),
        CASE(test_restored_queues_get_their_number_first),
        CASE(test_outboxes_are_told_apart),
        CASE(test_losses_are_told_apart),
    };
    return cmocka_run_group_tests_name("strangers", tests, NULL, NULL);
}
