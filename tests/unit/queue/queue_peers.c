/* These tests are of what a node sends to others, and when: each transfer's first job and how many,
 * what is told once only, pauses, limits, rows that are damaged, and three nodes. Carrying messages
 * both ways is tried in queue_nodes.c. */
#include "base/system/clock.h"
#include "queue/storage/store_batch.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"
#include "tests/unit/queue/told_frontier.h"

#include <errno.h>
#include <unistd.h>

static const char three_nodes[] = "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
                                  "node b queue=tcp://127.0.0.1:3 metastore=tcp://127.0.0.1:4\n"
                                  "node c queue=tcp://127.0.0.1:5 metastore=tcp://127.0.0.1:6\n";
enum { A, B, C, NODES, TRANSFER_ROWS = 2000, TRANSFER_BYTES = 1 << 20, RETRY_MS = 200 };

static int commits_that_fail;

static int
fail_commit(void *context, enum store_point point)
{
    (void)context;
    return point == STORE_BEFORE_COMMIT && commits_that_fail > 0 && commits_that_fail-- > 0 ? ENOSPC
                                                                                            : 0;
}

static int
setup(void **state)
{
    struct bench *bench = bench_new(three_nodes, "a");
    commits_that_fail = 0;
    told_frontier.scans_fail = false;
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
    told_frontier.scans_fail = false;
    bench_free(*state);
    clock_go();
    return 0;
}

/* The n-th URI, of hosts of their own, that belongs to the node. */
static const char *
uri_of(const struct bench *bench, enum stage stage, size_t node, unsigned n)
{
    static char uri[64];
    for (unsigned i = 0;; i++) {
        snprintf(uri, sizeof uri, "http://h%06u.example/", i);
        if (cluster_owner(bench->cluster, stage, slice_string(uri)) == node && n-- == 0) {
            return uri;
        }
    }
}

static uint64_t
outbox(struct bench *bench, enum stage stage)
{
    return stats(bench).stages[stage].outbox;
}

struct sent {
    uint64_t origin, epoch, first, count;
    char uri[64]; /* of the first */
};

/* False: nothing goes to the node. */
static bool
goes_to(struct bench *bench, size_t node, struct sent *sent)
{
    struct buf payload;
    buf_init(&payload, 64 << 20);
    const bool sends = broker_outgoing(bench->broker, node, &payload);
    *sent = (struct sent){0};
    if (sends) {
        struct codec_reader reader = codec_reader_of(buf_slice(&payload));
        struct job job = {0};
        sent->origin = codec_get_u64(&reader);
        sent->epoch = codec_get_u64(&reader);
        sent->first = codec_get_u64(&reader);
        sent->count = codec_get_varint(&reader);
        for (uint64_t i = 0; i < sent->count; i++) {
            assert_true(message_get_new(&reader, &job));
            if (i == 0) {
                snprintf(sent->uri, sizeof sent->uri, "%.*s", SLICE_PRINT(job.uri));
            }
        }
        assert_true(codec_at_end(&reader));
    }
    buf_release(&payload);
    return sends;
}

static void
took(struct bench *bench, size_t node, uint64_t last)
{
    broker_delivered(bench->broker, node, STATUS_OK, last);
    bench_work(bench);
}

static void
put_for(struct bench *bench, size_t node, unsigned n)
{
    put_uri(bench, STAGE_INDEX, uri_of(bench, STAGE_INDEX, node, n), 0);
}

/* ---- who gets what ---- */

static void
test_each_node_gets_its_own(void **state)
{
    struct bench *bench = *state;
    struct sent sent;
    for (unsigned i = 0; i < 3; i++) {
        put_for(bench, B, i);
    }
    for (unsigned i = 0; i < 5; i++) {
        put_for(bench, C, i);
    }
    for (int start = 0; start < 2; start++) {
        assert_false(goes_to(bench, A, &sent));
        assert_true(goes_to(bench, B, &sent));
        assert_int_equal(sent.first, 1);
        assert_int_equal(sent.count, 3);
        assert_true(goes_to(bench, C, &sent));
        assert_int_equal(sent.first, 1);
        assert_int_equal(sent.count, 5);
        bench_restart(bench);
    }
}

/* Who asks about a URI of another node is told which. */
static void
test_a_look_names_the_node(void **state)
{
    struct bench *bench = *state;
    for (size_t node = A; node <= C; node++) {
        const struct queue_explanation found = look(bench, uri_of(bench, STAGE_FETCH, node, 0));
        assert_int_equal(found.node, node == A ? 0 : node + 1);
        assert_int_equal(found.known, 0);
    }
}

/* Whichever of them nothing waits for at a start, it gets what comes later, from the next on. */
static void
test_a_node_without_jobs_gets_later_ones(void **state)
{
    struct bench *bench = *state;
    struct sent sent;
    for (size_t node = B; node <= C; node++) {
        const size_t other = node == B ? C : B;
        for (unsigned i = 0; i < 3; i++) {
            put_for(bench, other, i);
        }
        bench_restart(bench);
        put_for(bench, node, 0);
        assert_true(goes_to(bench, node, &sent));
        assert_int_equal(sent.count, 1);
        assert_string_equal(sent.uri, uri_of(bench, STAGE_INDEX, node, 0));
        took(bench, node, sent.first);
        assert_true(goes_to(bench, other, &sent));
        assert_int_equal(sent.count, 3);
        took(bench, other, sent.first + 2);
        assert_int_equal(outbox(bench, STAGE_INDEX), 0);
    }
}

/* ---- nodes that are away, or gone ---- */

struct seen_nodes {
    size_t n;
    struct queue_node nodes[NODES];
};

static void
see_nodes(struct bench *bench, struct seen_nodes *seen)
{
    (void)bench_payload(bench);
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_NODES, 0);
    assert_int_equal(answer->status, STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    seen->n = codec_get_u32(&reader);
    assert_true(seen->n <= NODES);
    for (size_t i = 0; i < seen->n; i++) {
        assert_true(message_get_node(&reader, &seen->nodes[i]));
    }
    assert_true(codec_at_end(&reader));
}

static struct answer *
forget(struct bench *bench, const char *name)
{
    codec_put_slice(bench_payload(bench), slice_string(name));
    struct answer *answer = bench_submit(bench, "test", 1, QUEUE_FORGET, 0);
    bench_work(bench);
    return answer;
}

static void
reopen_as(struct bench *bench, const char *cluster, const char *self)
{
    struct reason why = {""};
    bench_close(bench);
    cluster_close(bench->cluster);
    assert_int_equal(cluster_parse(&bench->cluster, slice_string(cluster), self, "/", &why),
                     STATUS_OK);
    bench->options.cluster = bench->cluster;
    bench_open(bench);
}

/* What waits for a node that cluster.conf does not name any more stops nothing, is told, and goes
 * to whoever has its part now when a person says so, in whole. */
/* A document lies in the archive of the node that fetched it. */
static void
test_content_is_worked_on_where_it_lies(void **state)
{
    struct bench *bench = *state;
    struct sent sent;
    put_uri(bench, STAGE_DETECT, uri_of(bench, STAGE_DETECT, B, 0), 0);
    put_uri(bench, STAGE_TRANSFORM, uri_of(bench, STAGE_TRANSFORM, C, 0), 0);
    assert_false(goes_to(bench, B, &sent));
    assert_false(goes_to(bench, C, &sent));
    assert_int_equal(stats(bench).stages[STAGE_DETECT].ready, 1);
    assert_int_equal(stats(bench).stages[STAGE_TRANSFORM].ready, 1);
    put_uri(bench, STAGE_INDEX, uri_of(bench, STAGE_INDEX, B, 0), 0);
    assert_true(goes_to(bench, B, &sent));
}

static void
test_a_node_that_is_named_no_more_is_forgotten(void **state)
{
    enum { JOBS = 2500 }; /* more than one request moves */
    static const char two_nodes[] = "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
                                    "node c queue=tcp://127.0.0.1:5 metastore=tcp://127.0.0.1:6\n";
    struct bench *bench = *state;
    struct seen_nodes seen;
    uint64_t moved = 0, dropped = 0, left = 1;
    for (unsigned i = 0, n = 0; n < JOBS; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "http://n%06u.example/", i);
        if (cluster_owner(bench->cluster, STAGE_INDEX, slice_string(uri)) == B) {
            put_uri(bench, STAGE_INDEX, uri, 0);
            n++;
        }
    }
    assert_int_equal(forget(bench, "b")->status, STATUS_MISUSE);
    assert_int_equal(forget(bench, "x")->status, STATUS_NOT_FOUND);
    reopen_as(bench, two_nodes, "a");
    see_nodes(bench, &seen);
    assert_int_equal(seen.n, 2);
    assert_true(slice_is(seen.nodes[1].name, "b") && seen.nodes[1].unknown);
    assert_int_equal(seen.nodes[1].jobs, JOBS);
    while (left > 0) {
        const struct answer *answer = forget(bench, "b");
        assert_int_equal(answer->status, STATUS_OK);
        struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
        moved += codec_get_varint(&reader);
        dropped += codec_get_varint(&reader);
        left = codec_get_varint(&reader);
    }
    assert_int_equal(moved, JOBS);
    assert_int_equal(dropped, 0);
    const struct queue_stats now = stats(bench);
    assert_true(now.stages[STAGE_INDEX].ready > 0 && now.stages[STAGE_INDEX].outbox > 0);
    assert_int_equal(now.stages[STAGE_INDEX].ready + now.stages[STAGE_INDEX].outbox, JOBS);
    see_nodes(bench, &seen);
    assert_int_equal(seen.n, 1);
    bench_restart(bench);
    assert_int_equal(forget(bench, "b")->status, STATUS_NOT_FOUND);
}

/* Documents that a new node would own have their graphs elsewhere. Before the first job it may
 * come, and one that was taken out may come back. */
static void
test_a_node_that_comes_in_the_middle_is_refused(void **state)
{
    static const char more[] = "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
                               "node b queue=tcp://127.0.0.1:3 metastore=tcp://127.0.0.1:4\n"
                               "node c queue=tcp://127.0.0.1:5 metastore=tcp://127.0.0.1:6\n"
                               "node d queue=tcp://127.0.0.1:7 metastore=tcp://127.0.0.1:8\n";
    const char *less = strchr(more, '\n') + 1;
    struct bench *bench = *state;
    struct reason why = {""};
    reopen_as(bench, more, "a");
    reopen_as(bench, less, "c");
    put_for(bench, 0, 0);
    bench_restart(bench);
    bench_close(bench);
    cluster_close(bench->cluster);
    assert_int_equal(cluster_parse(&bench->cluster, slice_string(more), "c", "/", &why), STATUS_OK);
    bench->options.cluster = bench->cluster;
    assert_int_equal(broker_open(&bench->broker, &bench->options, bench_answer, bench, &why),
                     STATUS_MISUSE);
    assert_non_null(strstr(why.text, "names node a, which was not there"));
    cluster_close(bench->cluster);
    assert_int_equal(cluster_parse(&bench->cluster, slice_string(less), "c", "/", &why), STATUS_OK);
    bench->options.cluster = bench->cluster;
    bench_open(bench);
}

/* What is restored alone sends as an origin that nobody knows: of the old one others have sequences
 * that it gives to other jobs. */
static void
test_a_queue_that_was_restored_is_another_origin(void **state)
{
    struct bench *bench = *state;
    struct sent before, after, again;
    char path[256];
    put_for(bench, B, 0);
    assert_true(goes_to(bench, B, &before));
    bench_restart(bench);
    assert_true(goes_to(bench, B, &after));
    assert_int_equal(after.origin, before.origin);
    snprintf(path, sizeof path, "%s/" QUEUE_RESTORED, bench->options.store.folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    bench_restart(bench);
    assert_true(goes_to(bench, B, &after));
    assert_int_not_equal(after.origin, before.origin);
    assert_int_equal(after.count, 1);
    assert_int_equal(access(path, F_OK), -1);
    bench_restart(bench);
    assert_true(goes_to(bench, B, &again));
    assert_int_equal(again.origin, after.origin);
}

/* Jobs for a node that is down hold no stage back; for one that answers they do, and when there is
 * no room on the disk. */
static void
test_a_node_that_is_down_holds_nothing_back(void **state)
{
    struct bench *bench = *state;
    struct seen_nodes seen;
    bench->options.high_water = 10;
    bench_restart(bench);
    for (unsigned i = 0; i < 20; i++) {
        put_for(bench, B, i);
    }
    assert_true(stats(bench).stages[STAGE_TRANSFORM].throttled);
    for (int start = 0; start < 2; start++) {
        broker_tell_node(bench->broker, B, 1234, SLICE(""));
        assert_false(stats(bench).stages[STAGE_TRANSFORM].throttled);
        see_nodes(bench, &seen);
        assert_int_equal(seen.n, 2);
        assert_true(seen.nodes[0].down && !seen.nodes[1].down);
        assert_int_equal(seen.nodes[0].since_ms, 1234);
        assert_int_equal(seen.nodes[0].jobs, 20);
        bench_restart(bench);
    }
    broker_tell_node(bench->broker, B, 0, SLICE("no room"));
    assert_true(stats(bench).stages[STAGE_TRANSFORM].throttled);
    see_nodes(bench, &seen);
    assert_true(slice_is(seen.nodes[0].trouble, "no room"));
}

/* ---- metadata that other nodes keep ---- */

static struct job
metadata_for(const struct bench *bench, size_t node, struct buf *data)
{
    char key[80];
    struct job job = a_job(STAGE_FETCH, JOB_METADATA_URI);
    for (unsigned i = 0;; i++) {
        snprintf(key, sizeof key, "uhttp://m%06u.example/", i);
        if (cluster_key_owner(bench->cluster, slice_string(key)) == node) {
            break;
        }
    }
    buf_init(data, 1 << 10);
    codec_put_slice(data, slice_string(key));
    codec_put_slice(data, SLICE("fields"));
    job.data = buf_slice(data);
    return job;
}

/* They leave with the completion, whatever its verdict, and before the jobs that follow. */
static void
test_metadata_leave_with_the_completion(void **state)
{
    static const enum verdict verdicts[] = {VERDICT_DONE, VERDICT_RELEASE, VERDICT_BURY};
    for (size_t i = 0; i < 3; i++) {
        struct bench *bench = *state;
        struct buf data;
        struct sent sent;
        put_for(bench, A, (unsigned)i);
        assert_int_equal(reserve(bench, "w", 1, STAGE_INDEX, 1), 1);
        struct job outputs[2] = {metadata_for(bench, B, &data),
                                 a_job(STAGE_EXTRACT, uri_of(bench, STAGE_EXTRACT, B, 0))};
        const struct completion completion = {.key = bench->jobs[0].key,
                                              .verdict = verdicts[i],
                                              .delay_ms = 1000000,
                                              .no_attempt = true,
                                              .outputs = outputs,
                                              .output_count = 2};
        complete(bench, "w", 1, &completion, bench->jobs[0].attempt);
        assert_true(goes_to(bench, B, &sent));
        assert_string_equal(sent.uri, JOB_METADATA_URI);
        assert_int_equal(sent.count, verdicts[i] == VERDICT_DONE ? 2 : 1);
        took(bench, B, sent.first + sent.count - 1);
        buf_release(&data);
    }
}

/* Metadata that waited for a node that is gone are found when they are this node's now. */
static void
test_metadata_are_found_in_what_is_forgotten(void **state)
{
    enum { KEYS = 12 };
    static const char two_nodes[] = "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
                                    "node c queue=tcp://127.0.0.1:5 metastore=tcp://127.0.0.1:6\n";
    struct bench *bench = *state;
    struct buf data[KEYS], payload, bytes;
    struct broker_metadata *list;
    struct job outputs[KEYS + 1];
    char keys[KEYS][80];
    size_t found = 0, own = 0;
    for (unsigned i = 0, n = 0; n < KEYS; i++) {
        snprintf(keys[n], sizeof keys[n], "uhttp://m%06u.example/", i);
        if (cluster_key_owner(bench->cluster, slice_string(keys[n])) == B) {
            buf_init(&data[n], 1 << 10);
            codec_put_slice(&data[n], slice_string(keys[n]));
            codec_put_slice(&data[n], slice_string(keys[n] + 1));
            outputs[n] = a_job(STAGE_FETCH, JOB_METADATA_URI);
            outputs[n].data = buf_slice(&data[n]);
            n++;
        }
    }
    outputs[KEYS] = a_job(STAGE_EXTRACT, uri_of(bench, STAGE_EXTRACT, B, 0));
    put_uri(bench, STAGE_FETCH, uri_of(bench, STAGE_FETCH, A, 0), 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    const struct completion completion = {
        .key = bench->jobs[0].key, .outputs = outputs, .output_count = KEYS + 1};
    complete(bench, "w", 1, &completion, bench->jobs[0].attempt);
    reopen_as(bench, two_nodes, "a");
    buf_init(&payload, 1 << 10);
    buf_init(&bytes, 16 << 20);
    codec_put_slice(&payload, SLICE("x"));
    assert_int_equal(
        broker_metadata_of(bench->broker, QUEUE_FORGET, buf_slice(&payload), &list, &bytes), 0);
    assert_null(list);
    buf_reset(&payload);
    codec_put_slice(&payload, SLICE("b"));
    assert_int_equal(
        broker_metadata_of(bench->broker, QUEUE_PUT, buf_slice(&payload), &list, &bytes), 0);
    assert_null(list);
    const size_t n =
        broker_metadata_of(bench->broker, QUEUE_FORGET, buf_slice(&payload), &list, &bytes);
    for (size_t i = 0; i < KEYS; i++) {
        const bool here = cluster_key_owner(bench->cluster, slice_string(keys[i])) ==
                          cluster_self(bench->cluster);
        own += here;
        for (size_t k = 0; here && k < n; k++) {
            if (slice_is(list[k].key, keys[i])) {
                assert_true(slice_is(list[k].fields, keys[i] + 1));
                found++;
            }
        }
    }
    assert_in_range(own, 1, KEYS - 1);
    assert_int_equal(found, own);
    assert_int_equal(n, own);
    free(list);
    for (size_t i = 0; i < KEYS; i++) {
        buf_release(&data[i]);
    }
    buf_release(&payload);
    buf_release(&bytes);
}

/* Their receiver finds them, once, before it is asked to commit what came with them. */
static void
test_metadata_are_found_in_what_comes(void **state)
{
    struct bench *bench = *state;
    struct buf data, payload, bytes;
    struct broker_metadata *list;
    const struct job job = metadata_for(bench, A, &data);
    buf_init(&payload, 1 << 12);
    buf_init(&bytes, 1 << 12);
    codec_put_u64(&payload, 77);
    codec_put_u64(&payload, 1);
    codec_put_u64(&payload, 1);
    codec_put_varint(&payload, 1);
    message_put_new(&payload, &job);
    assert_int_equal(
        broker_metadata_of(bench->broker, QUEUE_TRANSFER, buf_slice(&payload), &list, &bytes), 1);
    assert_true(slice_is(list[0].fields, "fields"));
    free(list);
    buf_append_slice(bench_payload(bench), buf_slice(&payload));
    const struct answer *answer = bench_submit(bench, "queue@b", 1, QUEUE_TRANSFER, 0);
    bench_work(bench);
    assert_int_equal(answer->status, STATUS_OK);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].put, 0);
    assert_int_equal(
        broker_metadata_of(bench->broker, QUEUE_TRANSFER, buf_slice(&payload), &list, &bytes), 0);
    free(list);
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_BAD_INPUT); /* its own store is this node's */
    buf_release(&data);
    buf_release(&payload);
    buf_release(&bytes);
}

/* ---- once only ---- */

/* Links that other nodes were told of are not told again, but nearer ones and what is asked for. */
static void
test_links_are_told_once(void **state)
{
    static const struct {
        uint16_t depth;
        uint8_t flags, hops;
        uint64_t delay_ms;
        bool told;
    } cases[] = {
        {3, 0, 0, 0, true},          {3, 0, 0, 0, false},           {4, 0, 0, 0, false},
        {2, 0, 0, 0, true},          {3, 0, 0, 0, false},           {2, 0, 0, 0, false},
        {5, JOB_SEED, 0, 0, true},   {2, 0, 0, 0, false},           {5, JOB_RECRAWL, 0, 0, true},
        {5, JOB_SLICE, 0, 0, true},  {5, JOB_YIELD, 0, 0, true},    {5, JOB_REFILTER, 0, 0, true},
        {2, 0, 0, 0, false},         {9, JOB_SEED, 1, 0, true},     {9, JOB_SEED, 1, 0, false},
        {9, JOB_SEED, 0, 99, false}, {9, JOB_SITEMAP, 0, 0, false},
    };
    struct bench *bench = *state;
    struct job job = a_job(STAGE_FETCH, uri_of(bench, STAGE_FETCH, B, 0));
    uint64_t expected = 0;
    job.data = SLICE("\1");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        job.depth = cases[i].depth;
        job.flags = cases[i].flags;
        job.hops = cases[i].hops;
        job.due_ms = cases[i].delay_ms == 0 ? 0 : clock_wall_ms() + cases[i].delay_ms;
        assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
        expected += cases[i].told;
        if (outbox(bench, STAGE_FETCH) != expected) {
            fail_msg("case %zu", i);
        }
    }
    struct job detect = a_job(STAGE_INDEX, uri_of(bench, STAGE_INDEX, B, 0));
    for (uint64_t i = 1; i < 4; i++) {
        assert_int_equal(put_jobs(bench, &detect, 1), STATUS_OK);
        assert_int_equal(outbox(bench, STAGE_INDEX), i);
    }
    assert_int_equal(stats(bench).seen, 0); /* it is the other's to know */
}

static void
test_what_was_not_committed_was_not_told(void **state)
{
    struct bench *bench = *state;
    const struct job job = a_job(STAGE_FETCH, uri_of(bench, STAGE_FETCH, B, 0));
    commits_that_fail = 1;
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_FULL);
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_FULL); /* it pauses */
    clock_move(1000);
    bench_work(bench);
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
    assert_int_equal(outbox(bench, STAGE_FETCH), 1);
}

/* A URI that is found nearer after it was fetched here: its document's links are considered again
 * where these are. */
static void
test_revisits_go_to_the_documents_node(void **state)
{
    struct bench *bench = *state;
    for (unsigned n = 0;; n++) {
        const char *uri = uri_of(bench, STAGE_FETCH, A, n);
        if (cluster_owner(bench->cluster, STAGE_EXTRACT, slice_string(uri)) != B) {
            continue;
        }
        put_uri(bench, STAGE_FETCH, uri, 5);
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
        done(bench, "w", &bench->jobs[0]);
        put_uri(bench, STAGE_FETCH, uri, 2);
        assert_int_equal(outbox(bench, STAGE_EXTRACT), 1);
        assert_int_equal(stats(bench).stages[STAGE_EXTRACT].put, 0);
        break;
    }
}

/* ---- transfers ---- */

static void
test_transfers_have_limits(void **state)
{
    enum { DATA = 60000, LARGE = 30 };
    struct bench *bench = *state;
    struct job *jobs = memory_zero(TRANSFER_ROWS + 1, sizeof *jobs);
    char *data = memory_zero(DATA, 1);
    struct sent sent;
    struct buf row;
    struct job job = a_job(STAGE_INDEX, uri_of(bench, STAGE_INDEX, B, 0));
    for (size_t i = 0; i <= TRANSFER_ROWS; i++) {
        jobs[i] = job;
    }
    assert_int_equal(put_jobs(bench, jobs, TRANSFER_ROWS + 1), STATUS_OK);
    assert_true(goes_to(bench, B, &sent));
    assert_int_equal(sent.count, TRANSFER_ROWS);
    took(bench, B, TRANSFER_ROWS);
    assert_true(goes_to(bench, B, &sent));
    assert_int_equal(sent.first, TRANSFER_ROWS + 1);
    assert_int_equal(sent.count, 1);
    took(bench, B, TRANSFER_ROWS + 1);
    job.data = slice_of(data, DATA);
    for (size_t i = 0; i < LARGE; i++) {
        jobs[i] = job;
    }
    buf_init(&row, 1 << 20);
    message_put_new(&row, &job);
    assert_int_equal(put_jobs(bench, jobs, LARGE), STATUS_OK);
    assert_true(goes_to(bench, B, &sent));
    assert_int_equal(sent.count, (TRANSFER_BYTES + row.length - 1) / row.length);
    buf_release(&row);
    free(data);
    free(jobs);
}

static void
test_a_transfer_that_failed_is_sent_again_after_a_while(void **state)
{
    struct bench *bench = *state;
    struct sent sent;
    put_for(bench, B, 0);
    put_for(bench, B, 1);
    broker_delivered(bench->broker, B, STATUS_OK, 9); /* nobody has sent anything */
    assert_true(goes_to(bench, B, &sent));
    const uint64_t epoch = sent.epoch;
    for (int i = 0; i < 2; i++) { /* no answer, or one that knows of less */
        broker_delivered(bench->broker, B, i == 0 ? STATUS_AGAIN : STATUS_OK, i == 0 ? 2 : 1);
        bench_work(bench);
        assert_int_equal(outbox(bench, STAGE_INDEX), 2);
        clock_move(RETRY_MS - 1);
        assert_false(goes_to(bench, B, &sent));
        clock_move(1);
        assert_true(goes_to(bench, B, &sent));
        assert_int_equal(sent.first, 1);
        assert_int_equal(sent.count, 2);
        assert_int_equal(sent.epoch, epoch);
    }
    took(bench, B, 7); /* it may know of more than was sent */
    assert_int_equal(outbox(bench, STAGE_INDEX), 0);
    assert_int_equal(stats(bench).sent, 2);
    broker_delivered(bench->broker, B, STATUS_OK, 9);
    put_for(bench, B, 2);
    assert_int_equal(outbox(bench, STAGE_INDEX), 1);
    assert_true(goes_to(bench, B, &sent));
    assert_int_equal(sent.first, 3);
}

/* A commit of something else that fails changes nothing of what is under way or was taken. */
static void
test_failed_commits_forget_no_transfer(void **state)
{
    struct bench *bench = *state;
    struct sent sent;
    const struct job other = a_job(STAGE_INDEX, uri_of(bench, STAGE_INDEX, A, 0));
    put_for(bench, B, 0);
    put_for(bench, B, 1);
    assert_true(goes_to(bench, B, &sent));
    commits_that_fail = 1;
    assert_int_equal(put_jobs(bench, &other, 1), STATUS_FULL);
    clock_move(1000);
    bench_work(bench);
    broker_delivered(bench->broker, B, STATUS_OK, 2);
    commits_that_fail = 1;
    bench_work(bench); /* it would delete what was taken */
    assert_int_equal(commits_that_fail, 0);
    assert_int_equal(outbox(bench, STAGE_INDEX), 2);
    assert_int_equal(stats(bench).sent, 0);
    clock_move(1000);
    bench_work(bench);
    assert_int_equal(outbox(bench, STAGE_INDEX), 0);
    assert_int_equal(stats(bench).sent, 2);
    assert_false(goes_to(bench, B, &sent));
    bench_restart(bench);
    assert_false(goes_to(bench, B, &sent));
}

static void
test_outbox_that_cannot_be_read_waits(void **state)
{
    struct bench *bench = *state;
    struct sent sent;
    put_for(bench, B, 0);
    told_frontier.scans_fail = true;
    assert_false(goes_to(bench, B, &sent));
    told_frontier.scans_fail = false;
    assert_true(goes_to(bench, B, &sent));
    assert_int_equal(sent.count, 1);
}

/* ---- damage ---- */

/* Changes rows behind the broker's back: value NULL removes. */
static void
change_row(struct bench *bench, enum store_tree tree, struct slice key, struct slice value)
{
    struct reason why = {""};
    struct frontier *frontier;
    struct store_batch batch;
    bench_close(bench);
    assert_int_equal(frontier_open(&frontier, &bench->options.store, &why), STATUS_OK);
    store_batch_init(&batch);
    if (value.at == NULL) {
        store_batch_remove(&batch, tree, key);
    } else {
        store_batch_put(&batch, tree, key, value);
    }
    store_batch_sort(&batch);
    assert_int_equal(frontier_apply(frontier,
                                    (const struct store_operation *const *)batch.operations,
                                    batch.count, &why),
                     STATUS_OK);
    store_batch_release(&batch);
    frontier_close(frontier);
}

static void
test_transfers_end_before_what_is_missing_or_damaged(void **state)
{
    struct bench *bench = *state;
    struct sent sent;
    uint8_t key[16];
    const struct slice row = {(const char *)key, sizeof key};
    for (unsigned i = 0; i < 6; i++) {
        put_for(bench, B, i);
    }
    codec_write_u64(key, fingerprint64(SLICE("b")));
    codec_write_u64(key + 8, 5);
    change_row(bench, TREE_OUTBOX, row, (struct slice){NULL, 0});
    bench_open(bench);
    assert_true(goes_to(bench, B, &sent));
    assert_int_equal(sent.count, 4);
    for (int i = 0; i < 2; i++) {
        codec_write_u64(key + 8, 3);
        change_row(bench, TREE_OUTBOX, row, i == 0 ? SLICE("") : SLICE("\x05 of no stage"));
        bench_open(bench);
        assert_true(goes_to(bench, B, &sent));
        assert_int_equal(sent.count, 2);
    }
}

static void
test_damaged_rows_of_nodes(void **state)
{
    struct bench *bench = *state;
    struct reason why = {""};
    struct broker *broker;
    struct sent sent;
    uint8_t key[8];
    put_for(bench, B, 0);
    codec_write_u64(key, fingerprint64(SLICE("b")));
    const struct slice row = {(const char *)key, sizeof key};
    change_row(bench, TREE_PEERS, row, SLICE("1234567"));
    assert_int_equal(broker_open(&broker, &bench->options, bench_answer, bench, &why),
                     STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "the row of node b is damaged"));
    bench->broker = NULL;
    change_row(bench, TREE_PEERS, row, SLICE("\0\0\0\0\0\0\0\2"));
    bench_open(bench);
    assert_true(goes_to(bench, B, &sent));
    assert_int_equal(sent.count, 1);
}

int
queue_peers_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_each_node_gets_its_own),
        CASE(test_a_look_names_the_node),
        CASE(test_a_node_without_jobs_gets_later_ones),
        CASE(test_content_is_worked_on_where_it_lies),
        CASE(test_a_node_that_is_named_no_more_is_forgotten),
        CASE(test_a_node_that_comes_in_the_middle_is_refused),
        CASE(test_a_queue_that_was_restored_is_another_origin),
        CASE(test_a_node_that_is_down_holds_nothing_back),
        CASE(test_metadata_leave_with_the_completion),
        CASE(test_metadata_are_found_in_what_comes),
        CASE(test_metadata_are_found_in_what_is_forgotten),
        CASE(test_links_are_told_once),
        CASE(test_what_was_not_committed_was_not_told),
        CASE(test_revisits_go_to_the_documents_node),
        CASE(test_transfers_have_limits),
        CASE(test_a_transfer_that_failed_is_sent_again_after_a_while),
        CASE(test_failed_commits_forget_no_transfer),
        CASE(test_outbox_that_cannot_be_read_waits),
        CASE(test_transfers_end_before_what_is_missing_or_damaged),
        CASE(test_damaged_rows_of_nodes),
    };
    return cmocka_run_group_tests_name("queue peers", tests, NULL, NULL);
}
