/* Jobs between nodes, without sockets: brokers whose messages the test carries, loses, repeats and
 * delays, with commits that fail and restarts of either side. Each job must reach the queue of its
 * owner exactly once, in the order in which it was put, and the counts of both sides must agree. */
#include <errno.h>

#include "tests/unit/brief.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

enum { NODES = 2, URIS = 120, ROUNDS = 6, STEPS = 400 };

static const char cluster_text[] = "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
                                   "node b queue=tcp://127.0.0.1:3 metastore=tcp://127.0.0.1:4\n";

/* A message that one node has sent and the other has not answered. */
struct flight {
    bool under_way;
    size_t length;
    char *bytes;
    uint64_t last;
};

struct pair {
    struct bench *benches[NODES];
    struct flight flights[NODES]; /* from this node to the other */
    uint32_t random;
    int failing[NODES];
    size_t put;                /* URIs so far */
    size_t sent[NODES];        /* jobs put at this node that belong to the other */
    size_t taken[NODES][URIS]; /* times handed out by this node */
};

static uint32_t
pick(struct pair *pair, uint32_t below)
{
    pair->random = pair->random * 1664525u + 1013904223u;
    return (pair->random >> 8) % below;
}

static int
fail_commit(void *context, enum store_point point)
{
    int *failing = context;
    return point == STORE_BEFORE_COMMIT && *failing > 0 && (*failing)-- > 0 ? ENOSPC : 0;
}

static void
open_pair(struct pair *pair, uint32_t seed)
{
    static const char *const names[NODES] = {"a", "b"};
    pair->random = seed;
    for (size_t i = 0; i < NODES; i++) {
        struct bench *bench = bench_new(cluster_text, names[i]);
        bench_close(bench);
        bench->options.store.fault = fail_commit;
        bench->options.store.fault_context = &pair->failing[i];
        bench_open(bench);
        pair->benches[i] = bench;
    }
}

static void
close_pair(struct pair *pair)
{
    for (size_t i = 0; i < NODES; i++) {
        bench_free(pair->benches[i]);
        free(pair->flights[i].bytes);
        pair->flights[i].bytes = NULL;
    }
}

static void
restart(struct pair *pair, size_t at)
{
    pair->failing[at] = 0;
    bench_close(pair->benches[at]);
    bench_open(pair->benches[at]);
    pair->flights[at].under_way = false; /* nobody waits for its answer any more */
}

static void
uri_of(char uri[64], size_t number)
{
    snprintf(uri, 64, "http://h.example/%zu", number);
}

static size_t
owner_of(const struct pair *pair, enum stage stage, const char *uri)
{
    return cluster_owner(pair->benches[0]->cluster, stage, slice_string(uri));
}

static uint64_t
outbox_of(struct pair *pair, size_t at, enum stage stage)
{
    return stats(pair->benches[at]).stages[stage].outbox;
}

/* ---- the test carries messages ---- */

static bool
send(struct pair *pair, size_t from)
{
    struct flight *flight = &pair->flights[from];
    struct buf *payload = bench_payload(pair->benches[from]);
    if (!broker_outgoing(pair->benches[from]->broker, 1 - from, payload)) {
        return false;
    }
    if (payload->length > 0) { /* else one is under way */
        free(flight->bytes);
        flight->bytes = memory_alloc(payload->length);
        memcpy(flight->bytes, payload->data, payload->length);
        flight->length = payload->length;
        flight->under_way = true;
        buf_reset(payload);
    }
    return true;
}

static enum status
arrive(struct pair *pair, size_t from, uint64_t *last)
{
    struct bench *to = pair->benches[1 - from];
    buf_append(bench_payload(to), pair->flights[from].bytes, pair->flights[from].length);
    const struct answer *answer =
        bench_submit(to, from == 0 ? "queue@a" : "queue@b", 1, QUEUE_TRANSFER, 0);
    bench_work(to);
    assert_true(answer->given);
    if (answer->status == STATUS_OK) {
        assert_int_equal(answer->payload.length, 8);
        *last = codec_read_u64((const uint8_t *)answer->payload.data);
    }
    return answer->status;
}

static void
confirm(struct pair *pair, size_t from, enum status status, uint64_t last)
{
    pair->flights[from].under_way = false;
    broker_delivered(pair->benches[from]->broker, 1 - from, status, last);
}

/* ---- steps ---- */

static void
step_put(struct pair *pair)
{
    char uri[64];
    const size_t at = pick(pair, NODES);
    if (pair->put == URIS) {
        return;
    }
    const enum stage stage = pick(pair, 2) > 0 ? STAGE_INDEX : STAGE_EXTRACT;
    uri_of(uri, pair->put);
    const struct job job = a_job(stage, uri);
    if (put_jobs(pair->benches[at], &job, 1) == STATUS_OK) {
        pair->put++;
        pair->sent[at] += owner_of(pair, stage, uri) != at;
    } else {
        restart(pair, at); /* else it pauses for a second */
    }
}

static void
step_carry(struct pair *pair)
{
    const size_t from = pick(pair, NODES);
    uint64_t last = 0;
    if (!pair->flights[from].under_way && !send(pair, from)) {
        return;
    }
    if (!pair->flights[from].under_way) {
        return; /* it was lost with its answer; a restart sends it again */
    }
    switch (pick(pair, 5)) {
    case 0: /* the message is lost; its sender is told so */
        confirm(pair, from, STATUS_AGAIN, 0);
        break;
    case 1: /* it arrives, and its answer is lost */
        if (arrive(pair, from, &last) == STATUS_FULL) {
            restart(pair, 1 - from);
        }
        restart(pair, from);
        break;
    case 2: { /* it arrives twice */
        const enum status first = arrive(pair, from, &last);
        if (first == STATUS_FULL) {
            restart(pair, 1 - from);
        }
        const enum status second = arrive(pair, from, &last);
        assert_int_equal(second, STATUS_OK);
        confirm(pair, from, second, last);
        break;
    }
    default: {
        const enum status status = arrive(pair, from, &last);
        if (status == STATUS_FULL) {
            restart(pair, 1 - from);
        }
        confirm(pair, from, status, last);
    }
    }
}

static void
step_work(struct pair *pair)
{
    const size_t at = pick(pair, NODES);
    bench_work(pair->benches[at]);
    if (pair->failing[at] == 0 && stats(pair->benches[at]).intake_stopped) {
        restart(pair, at);
    }
}

static void
step_restart(struct pair *pair)
{
    restart(pair, pick(pair, NODES));
}

static void
step_fail(struct pair *pair)
{
    pair->failing[pick(pair, NODES)] = 1;
}

/* All that is in the outboxes arrives. */
static void
drain(struct pair *pair)
{
    for (size_t from = 0; from < NODES; from++) {
        restart(pair, from);
        restart(pair, 1 - from);
        while (send(pair, from)) {
            uint64_t last = 0;
            assert_int_equal(arrive(pair, from, &last), STATUS_OK);
            confirm(pair, from, STATUS_OK, last);
            bench_work(pair->benches[from]);
        }
    }
}

static void
take_all(struct pair *pair, size_t at)
{
    for (int stage = STAGE_INDEX; stage <= STAGE_EXTRACT; stage++) {
        size_t before = 0;
        for (;;) {
            const size_t n = reserve(pair->benches[at], "w", 1, (enum stage)stage, 7);
            for (size_t i = 0; i < n; i++) {
                char uri[80];
                snprintf(uri, sizeof uri, "%.*s", SLICE_PRINT(pair->benches[at]->jobs[i].uri));
                const size_t number = (size_t)atoi(strrchr(uri, '/') + 1);
                assert_int_equal(owner_of(pair, (enum stage)stage, uri), at);
                pair->taken[at][number]++;
                before++;
            }
            if (n == 0) {
                break;
            }
        }
        assert_int_equal(stats(pair->benches[at]).stages[stage].leased, before);
    }
}

typedef void pair_step(struct pair *pair);

static void
test_jobs_between_nodes_exactly_once(void **state)
{
    static pair_step *const steps[] = {step_put,   step_put,  step_put,     step_carry, step_carry,
                                       step_carry, step_work, step_restart, step_fail};
    (void)state;
    for (uint32_t seed = 1; seed <= (uint32_t)brief(ROUNDS, 2); seed++) {
        struct pair *pair = memory_new(sizeof *pair);
        open_pair(pair, seed);
        for (int i = 0; i < STEPS; i++) {
            steps[pick(pair, sizeof steps / sizeof steps[0])](pair);
        }
        drain(pair);
        for (size_t at = 0; at < NODES; at++) {
            const struct queue_stats here = stats(pair->benches[at]);
            const struct queue_stats there = stats(pair->benches[1 - at]);
            assert_int_equal(here.sent, pair->sent[at]);
            assert_int_equal(there.received, pair->sent[at]);
            assert_int_equal(outbox_of(pair, at, STAGE_INDEX), 0);
            assert_int_equal(outbox_of(pair, at, STAGE_EXTRACT), 0);
            take_all(pair, at);
        }
        for (size_t number = 0; number < pair->put; number++) {
            assert_int_equal(pair->taken[0][number] + pair->taken[1][number], 1);
        }
        close_pair(pair);
        free(pair);
    }
}

/* ---- single rules ---- */

/* Puts n jobs at node 0 that belong to node 1. */
static void
put_foreign(struct pair *pair, enum stage stage, size_t n)
{
    char uri[64];
    for (size_t number = 0; n > 0; number++) {
        uri_of(uri, number);
        if (owner_of(pair, stage, uri) == 1) {
            put_uri(pair->benches[0], stage, uri, 0);
            n--;
        }
    }
}

static size_t
peek_outbox(struct pair *pair, enum stage stage)
{
    struct buf *payload = bench_payload(pair->benches[0]);
    codec_put_u8(payload, (uint8_t)stage);
    codec_put_slice(payload, SLICE("outbox"));
    codec_put_varint(payload, 100);
    const struct answer *answer = bench_submit(pair->benches[0], "test", 1, QUEUE_PEEK, 0);
    assert_int_equal(answer->status, STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    return codec_get_u32(&reader);
}

static void
test_outbox_is_counted_by_stage(void **state)
{
    struct pair pair = {0};
    uint64_t last = 0;
    (void)state;
    open_pair(&pair, 1);
    put_foreign(&pair, STAGE_INDEX, 3);
    put_foreign(&pair, STAGE_EXTRACT, 2);
    for (int again = 0; again < 2; again++) { /* also after a restart */
        assert_int_equal(outbox_of(&pair, 0, STAGE_INDEX), 3);
        assert_int_equal(outbox_of(&pair, 0, STAGE_EXTRACT), 2);
        assert_int_equal(peek_outbox(&pair, STAGE_INDEX), 3);
        assert_int_equal(peek_outbox(&pair, STAGE_EXTRACT), 2);
        restart(&pair, 0);
    }
    assert_true(send(&pair, 0));
    assert_int_equal(arrive(&pair, 0, &last), STATUS_OK);
    assert_int_equal(last, 5);
    assert_int_equal(outbox_of(&pair, 0, STAGE_INDEX), 3); /* until this node has written it */
    confirm(&pair, 0, STATUS_OK, last);
    bench_work(pair.benches[0]);
    assert_int_equal(outbox_of(&pair, 0, STAGE_INDEX), 0);
    assert_int_equal(peek_outbox(&pair, STAGE_INDEX), 0);
    assert_int_equal(stats(pair.benches[0]).sent, 5);
    assert_int_equal(stats(pair.benches[1]).received, 5);
    assert_int_equal(stats(pair.benches[1]).stages[STAGE_INDEX].ready, 3);
    assert_int_equal(stats(pair.benches[1]).stages[STAGE_EXTRACT].ready, 2);
    close_pair(&pair);
}

/* What the other node has taken is deleted with the next commit, and by itself only in the end. */
static void
test_deletion_waits_for_another_commit(void **state)
{
    enum { LINGER_MS = 100000 };
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        struct pair pair = {0};
        uint64_t last = 0;
        open_pair(&pair, 1);
        pair.benches[0]->options.outbox_linger_ms = LINGER_MS;
        restart(&pair, 0);
        clock_stop();
        put_foreign(&pair, STAGE_INDEX, 1);
        assert_true(send(&pair, 0));
        assert_int_equal(arrive(&pair, 0, &last), STATUS_OK);
        confirm(&pair, 0, STATUS_OK, last);
        clock_move(LINGER_MS - 1);
        bench_work(pair.benches[0]);
        assert_int_equal(outbox_of(&pair, 0, STAGE_INDEX), 1);
        assert_int_equal(broker_wait_ms(pair.benches[0]->broker), 1);
        assert_false(send(&pair, 0)); /* nor is anything sent meanwhile */
        if (alone > 0) {
            clock_move(1);
            bench_work(pair.benches[0]);
            assert_int_equal(outbox_of(&pair, 0, STAGE_INDEX), 0);
        } else {
            put_foreign(&pair, STAGE_INDEX, 1);
            assert_int_equal(outbox_of(&pair, 0, STAGE_INDEX), 1); /* the new one */
            assert_true(send(&pair, 0));
        }
        assert_int_equal(stats(pair.benches[0]).sent, 1);
        clock_go();
        close_pair(&pair);
    }
}

/* Sequences go on over restarts, so that the other node does not take new jobs for old ones. */
static void
test_sequences_go_on_after_a_restart(void **state)
{
    struct pair pair = {0};
    uint64_t last = 0;
    (void)state;
    open_pair(&pair, 1);
    put_foreign(&pair, STAGE_INDEX, 4);
    assert_true(send(&pair, 0));
    assert_int_equal(arrive(&pair, 0, &last), STATUS_OK);
    confirm(&pair, 0, STATUS_OK, last);
    bench_work(pair.benches[0]);
    assert_false(send(&pair, 0));
    restart(&pair, 0);
    assert_false(send(&pair, 0));
    put_foreign(&pair, STAGE_EXTRACT, 2);
    assert_true(send(&pair, 0));
    assert_int_equal(arrive(&pair, 0, &last), STATUS_OK);
    assert_int_equal(last, 6);
    assert_int_equal(stats(pair.benches[1]).stages[STAGE_EXTRACT].ready, 2);
    close_pair(&pair);
}

/* A commit of the receiver that failed leaves no trace of the jobs nor of their sequence. */
static void
test_failed_commit_of_the_receiver(void **state)
{
    struct pair pair = {0};
    uint64_t last = 0;
    (void)state;
    open_pair(&pair, 1);
    put_foreign(&pair, STAGE_INDEX, 4);
    assert_true(send(&pair, 0));
    pair.failing[1] = 1;
    assert_int_equal(arrive(&pair, 0, &last), STATUS_FULL);
    assert_int_equal(stats(pair.benches[1]).received, 0);
    clock_move(1100); /* its pause after a failure; no restart, which would read everything anew */
    bench_work(pair.benches[1]);
    assert_int_equal(arrive(&pair, 0, &last), STATUS_OK);
    assert_int_equal(last, 4);
    assert_int_equal(stats(pair.benches[1]).received, 4);
    assert_int_equal(stats(pair.benches[1]).stages[STAGE_INDEX].ready, 4);
    close_pair(&pair);
}

/* A failed commit of the sender gives its sequence numbers back. */
static void
test_failed_commit_of_the_sender(void **state)
{
    struct pair pair = {0};
    char uri[64];
    uint64_t last = 0;
    size_t number = 0;
    (void)state;
    open_pair(&pair, 1);
    do {
        uri_of(uri, number++);
    } while (owner_of(&pair, STAGE_INDEX, uri) != 1);
    pair.failing[0] = 1;
    const struct job job = a_job(STAGE_INDEX, uri);
    assert_int_equal(put_jobs(pair.benches[0], &job, 1), STATUS_FULL);
    assert_int_equal(outbox_of(&pair, 0, STAGE_INDEX), 0);
    assert_false(send(&pair, 0));
    clock_move(1100);
    bench_work(pair.benches[0]);
    assert_int_equal(put_jobs(pair.benches[0], &job, 1), STATUS_OK);
    assert_true(send(&pair, 0));
    assert_int_equal(arrive(&pair, 0, &last), STATUS_OK);
    assert_int_equal(last, 1);
    close_pair(&pair);
}

/* A process that was thought dead speaks for an ownership that is over. */
static void
test_earlier_epoch_is_refused(void **state)
{
    struct pair pair = {0};
    uint64_t last = 0;
    (void)state;
    open_pair(&pair, 1);
    put_foreign(&pair, STAGE_INDEX, 1);
    assert_true(send(&pair, 0));
    struct flight before = pair.flights[0];
    pair.flights[0] = (struct flight){0};
    restart(&pair, 0); /* a new epoch */
    assert_true(send(&pair, 0));
    assert_int_equal(arrive(&pair, 0, &last), STATUS_OK);
    free(pair.flights[0].bytes);
    pair.flights[0] = before;
    assert_int_equal(arrive(&pair, 0, &last), STATUS_STALE);
    restart(&pair, 1); /* the epoch is stored */
    assert_int_equal(arrive(&pair, 0, &last), STATUS_STALE);
    assert_int_equal(stats(pair.benches[1]).received, 1);
    close_pair(&pair);
}

static void
test_full_node_takes_no_jobs_of_others(void **state)
{
    struct pair pair = {0};
    uint64_t last = 0;
    (void)state;
    open_pair(&pair, 1);
    bench_close(pair.benches[1]);
    pair.benches[1]->options.high_water = 1;
    bench_open(pair.benches[1]);
    put_foreign(&pair, STAGE_INDEX, 3);
    assert_true(send(&pair, 0));
    assert_int_equal(arrive(&pair, 0, &last), STATUS_OK);
    confirm(&pair, 0, STATUS_OK, last);
    bench_work(pair.benches[0]);
    put_foreign(&pair, STAGE_EXTRACT, 1);
    put_foreign(&pair, STAGE_INDEX, 1);
    assert_true(send(&pair, 0));
    assert_int_equal(arrive(&pair, 0, &last), STATUS_AGAIN); /* twice the high water waits there */
    confirm(&pair, 0, STATUS_AGAIN, 0);
    assert_false(send(&pair, 0)); /* not at once again */
    assert_int_equal(outbox_of(&pair, 0, STAGE_INDEX), 1);
    assert_int_equal(stats(pair.benches[1]).received, 3);
    close_pair(&pair);
}

/* A node that has lost what it had taken says so, until a person accepts the loss. */
static void
test_loss_is_refused_until_it_is_accepted(void **state)
{
    struct pair pair = {0};
    uint64_t last = 0;
    struct bench *receiver;
    (void)state;
    open_pair(&pair, 1);
    put_foreign(&pair, STAGE_INDEX, 1);
    assert_true(send(&pair, 0));
    assert_int_equal(arrive(&pair, 0, &last), STATUS_OK);
    confirm(&pair, 0, STATUS_OK, last);
    receiver = pair.benches[1];
    bench_free(receiver); /* its disk is gone */
    receiver = pair.benches[1] = bench_new(cluster_text, "b");
    put_foreign(&pair, STAGE_INDEX, 1);
    assert_true(send(&pair, 0));
    for (int again = 0; again < 2; again++) {
        assert_int_equal(arrive(&pair, 0, &last), STATUS_CORRUPT);
        assert_int_equal(stats(receiver).received, 0);
    }
    codec_put_slice(bench_payload(receiver), SLICE("a"));
    const struct answer *answer = bench_submit(receiver, "cli", 1, QUEUE_FORGET, 0);
    bench_work(receiver);
    assert_int_equal(answer->status, STATUS_OK);
    assert_int_equal(arrive(&pair, 0, &last), STATUS_OK);
    assert_int_equal(stats(receiver).received, 1);
    close_pair(&pair);
}

int
queue_nodes_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs_between_nodes_exactly_once),
        cmocka_unit_test(test_outbox_is_counted_by_stage),
        cmocka_unit_test(test_deletion_waits_for_another_commit),
        cmocka_unit_test(test_sequences_go_on_after_a_restart),
        cmocka_unit_test(test_failed_commit_of_the_receiver),
        cmocka_unit_test(test_failed_commit_of_the_sender),
        cmocka_unit_test(test_earlier_epoch_is_refused),
        cmocka_unit_test(test_full_node_takes_no_jobs_of_others),
        cmocka_unit_test(test_loss_is_refused_until_it_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
