/* The scope changes under a running crawl: what the queue has considered again (docs/SCOPE.md). */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "config/scope_change.h"
#include "config/scope_file.h"
#include "queue/daemon/daemon_scope.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

#define URI "http://example.org/"

static void
done_by(struct bench *bench, const struct job *job, uint64_t scope)
{
    const struct completion completion = {.key = job->key, .scope = scope};
    complete(bench, "w", 1, &completion, job->attempt);
}

static void
set_scope(struct bench *bench, uint64_t version)
{
    broker_set_scope(bench->broker, version, (struct slice){"", 0});
    bench_work(bench);
}

/* Takes the one job of extract, which must be of that URI. */
static struct job
only_extract(struct bench *bench, const char *uri)
{
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 1);
    assert_true(slice_is(bench->jobs[0].uri, uri));
    return bench->jobs[0];
}

static uint64_t
waiting(struct bench *bench, enum stage stage)
{
    return stats(bench).stages[stage].ready + stats(bench).stages[stage].leased;
}

static void
test_jobs_go_out_with_the_version_in_force(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 0);
    assert_int_equal(bench->scope, 0);
    broker_set_scope(bench->broker, 5, (struct slice){"", 0});
    put_uri(bench, STAGE_FETCH, URI, 0); /* the same round */
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    assert_int_equal(bench->scope, 5);
    assert_int_equal(waiting(bench, STAGE_EXTRACT), 0); /* there were no documents before */
}

static void
test_a_change_begins_one_sweep(void **state)
{
    struct bench *bench = *state;
    set_scope(bench, 5);
    put_uri(bench, STAGE_FETCH, URI, 0);
    set_scope(bench, 6);
    set_scope(bench, 6);
    bench_close(bench);
    bench_open(bench);
    set_scope(bench, 6); /* as it was before the restart */
    touch(bench, "w", 1, NULL, 0);
    const struct job sweep = only_extract(bench, JOB_SWEEP_URI);
    assert_int_equal(sweep.generation, 6);
    done_by(bench, &sweep, 6);
    assert_int_equal(waiting(bench, STAGE_EXTRACT), 0);
}

static void
test_what_was_filtered_before_is_considered_again(void **state)
{
    struct bench *bench = *state;
    set_scope(bench, 5);
    put_uri(bench, STAGE_EXTRACT, URI, 3);
    const struct job job = only_extract(bench, URI);
    set_scope(bench, 6);
    done_by(bench, &job, 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 2); /* beside the sweep */
    const struct job again = bench->jobs[1];
    assert_true(slice_is(again.uri, URI));
    assert_int_equal(again.flags, JOB_REVISIT | JOB_REFILTER);
    assert_int_equal(again.depth, 3);
    done_by(bench, &again, 6);
    done_by(bench, &bench->jobs[0], 6);
    assert_int_equal(waiting(bench, STAGE_EXTRACT), 0);
}

static void
test_an_end_in_the_round_of_the_change_is_outdated(void **state)
{
    struct bench *bench = *state;
    set_scope(bench, 5);
    put_uri(bench, STAGE_FETCH, URI, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    broker_set_scope(bench->broker, 6, (struct slice){"", 0});
    done_by(bench, &bench->jobs[0], 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 2);
    assert_true(slice_is(bench->jobs[1].uri, URI));
}

/* The smallest depth that anything led to it at, though its metadata still say more. */
static void
test_a_swept_document_has_its_depth(void **state)
{
    struct bench *bench = *state;
    struct job put = a_job(STAGE_FETCH, URI);
    put_uri(bench, STAGE_FETCH, URI, 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
    put_uri(bench, STAGE_FETCH, URI, 2);
    done(bench, "w", &bench->jobs[0]);
    put.flags = JOB_REFILTER;
    put.depth = 5;
    assert_int_equal(put_jobs(bench, &put, 1), STATUS_OK);
    const struct job job = only_extract(bench, URI);
    assert_int_equal(job.flags, JOB_REVISIT | JOB_REFILTER);
    assert_int_equal(job.depth, 2);
    done(bench, "w", &job);
    assert_int_equal(waiting(bench, STAGE_FETCH), 0);
    /* it is no revisit at a smaller depth: nothing of it is remembered */
    put_uri(bench, STAGE_EXTRACT, URI, 5);
    assert_int_equal(only_extract(bench, URI).depth, 5);
}

struct disk {
    bool full;
};

static int
no_room(void *context, enum store_point point)
{
    const struct disk *disk = context;
    return point == STORE_BEFORE_COMMIT && disk->full ? 28 : 0;
}

static void
test_a_failed_commit_leaves_the_version(void **state)
{
    struct bench *bench = *state;
    struct disk disk = {false};
    bench_close(bench);
    bench->options.store.fault = no_room;
    bench->options.store.fault_context = &disk;
    bench_open(bench);
    put_uri(bench, STAGE_FETCH, URI, 0);
    disk.full = true;
    set_scope(bench, 7);
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 10), 0);
    assert_int_equal(bench->scope, 0);
    disk.full = false;
    clock_move(1100);
    bench_work(bench);
    (void)only_extract(bench, JOB_SWEEP_URI);
    assert_int_equal(bench->scope, 7);
}

/* ---- between nodes ---- */

static const char cluster_text[] = "node a queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
                                   "node b queue=tcp://127.0.0.1:3 metastore=tcp://127.0.0.1:4\n";
enum { NODE_A, NODE_B };

/* Holds what a node was told of the scope, and what its files then have. */
struct told {
    enum status status;
    unsigned times;
    uint64_t version;
    struct buf change;
};

static enum status
take(void *context, struct slice change, struct reason *why)
{
    struct told *told = context;
    if (told->status != STATUS_OK) {
        return status_fail(why, told->status, "not now");
    }
    told->times++;
    buf_reset(&told->change);
    buf_append_slice(&told->change, change);
    return STATUS_OK;
}

static struct bench *
open_node(const char *name, struct told *told)
{
    struct bench *bench = bench_new(cluster_text, name);
    bench_close(bench);
    *told = (struct told){0};
    buf_init(&told->change, 1 << 20);
    bench->options.take_scope = take;
    bench->options.take_scope_context = told;
    bench_open(bench);
    return bench;
}

static void
close_node(struct bench *bench, struct told *told)
{
    bench_free(bench);
    buf_release(&told->change);
}

/* The next message of one node to the other, as the other answers it. version: what the other's
 * files have when it was taken. NOT_FOUND: there is none. */
static enum status
carry(struct bench *from, size_t to_node, struct bench *to, uint64_t version)
{
    struct buf *sent = bench_payload(from);
    struct buf *payload = bench_payload(to);
    if (!broker_outgoing(from->broker, to_node, sent)) {
        return STATUS_NOT_FOUND;
    }
    buf_append_slice(payload, buf_slice(sent));
    buf_reset(sent);
    const struct answer *answer = bench_submit(to, "node", 1, QUEUE_TRANSFER, 0);
    broker_set_scope(to->broker, version, (struct slice){"", 0});
    bench_work(to);
    broker_delivered(
        from->broker, to_node, answer->status,
        answer->status == STATUS_OK ? codec_read_u64((const uint8_t *)answer->payload.data) : 0);
    bench_work(from);
    clock_move(1000); /* what was refused is sent again */
    return answer->status;
}

static const char *
uri_of_node(const struct bench *bench, size_t node, char uri[64])
{
    for (int i = 0;; i++) {
        snprintf(uri, 64, "http://h%d.example/", i);
        if (cluster_owner(bench->cluster, STAGE_FETCH, slice_string(uri)) == node) {
            return uri;
        }
    }
}

static void
change_scope(struct bench *bench, uint64_t version, const char *change)
{
    broker_set_scope(bench->broker, version, slice_string(change));
    bench_work(bench);
}

/* The other node has the scope before the seed that came with it; and has neither before it could
 * write the scope down. */
static void
test_the_scope_goes_before_the_seeds(void **state)
{
    struct told told_a, told_b;
    struct bench *a = open_node("a", &told_a), *b = open_node("b", &told_b);
    char uri[64];
    (void)state;
    change_scope(a, 5, "+scope.hosts=x\n");
    put_uri(a, STAGE_FETCH, uri_of_node(a, NODE_B, uri), 0);
    told_b.status = STATUS_AGAIN;
    assert_int_equal(carry(a, NODE_B, b, 0), STATUS_AGAIN);
    assert_int_equal(reserve(b, "w", 1, STAGE_FETCH, 10), 0);
    told_b.status = STATUS_OK;
    assert_int_equal(carry(a, NODE_B, b, 77), STATUS_OK);
    assert_int_equal(told_b.times, 1);
    assert_true(slice_is(buf_slice(&told_b.change), "+scope.hosts=x\n"));
    assert_int_equal(reserve(b, "w", 1, STAGE_FETCH, 10), 1);
    assert_int_equal(b->scope, 77); /* its own version */
    assert_int_equal(stats(a).stages[STAGE_EXTRACT].outbox, 0);
    assert_int_equal(carry(b, NODE_A, a, 5), STATUS_NOT_FOUND); /* it had nothing to consider */
    close_node(a, &told_a);
    close_node(b, &told_b);
}

/* Each node considers again what any of them filtered before, after that one has the new scope. */
static void
test_nodes_sweep_when_another_has_the_scope(void **state)
{
    struct told told_a, told_b;
    struct bench *a = open_node("a", &told_a), *b = open_node("b", &told_b);
    char uri[64];
    (void)state;
    change_scope(a, 5, "");
    put_uri(a, STAGE_FETCH, uri_of_node(a, NODE_A, uri), 0);
    put_uri(b, STAGE_FETCH, uri_of_node(a, NODE_B, uri), 0);
    change_scope(a, 6, "+scope.hosts=x\n");
    const struct job own = only_extract(a, JOB_SWEEP_URI);
    assert_int_equal(own.generation, 6);
    assert_int_equal(own.data.length, 0);
    done_by(a, &own, 6);
    assert_int_equal(carry(a, NODE_B, b, 70), STATUS_OK);
    const struct job sweep = only_extract(b, JOB_SWEEP_URI);
    assert_int_equal(sweep.generation, 70);
    assert_int_equal(sweep.data.length, 0);
    done_by(b, &sweep, 70);
    assert_int_equal(carry(b, NODE_A, a, 6), STATUS_OK);
    const struct job again = only_extract(a, JOB_SWEEP_URI);
    assert_int_equal(again.generation, 6);
    done_by(a, &again, 6);
    assert_int_equal(told_a.times, 0); /* there was nothing to take */
    assert_int_equal(carry(a, NODE_B, b, 70), STATUS_NOT_FOUND);
    assert_int_equal(carry(b, NODE_A, a, 6), STATUS_NOT_FOUND);
    assert_int_equal(waiting(a, STAGE_EXTRACT) + waiting(b, STAGE_EXTRACT), 0);
    close_node(a, &told_a);
    close_node(b, &told_b);
}

/* Whatever its length; and what arrives a second time is not taken again. */
static void
test_a_long_change_is_many_words(void **state)
{
    enum { LINES = 5, LINE = 30000 };
    struct told told_a, told_b;
    struct bench *a = open_node("a", &told_a), *b = open_node("b", &told_b);
    struct buf change, again;
    (void)state;
    buf_init(&change, 1 << 20);
    buf_init(&again, 1 << 20);
    for (int i = 0; i < LINES; i++) {
        buf_append_string(&change, "+scope.hosts=");
        for (int n = 0; n < LINE; n++) {
            buf_append_char(&change, (char)('a' + i));
        }
        buf_append_char(&change, '\n');
    }
    broker_set_scope(a->broker, 5, buf_slice(&change));
    bench_work(a);
    assert_int_equal(stats(a).stages[STAGE_EXTRACT].outbox, 3);
    struct buf *sent = bench_payload(a);
    assert_true(broker_outgoing(a->broker, NODE_B, sent));
    buf_append_slice(&again, buf_slice(sent));
    buf_reset(sent);
    for (unsigned time = 1; time <= 2; time++) {
        buf_append_slice(bench_payload(b), buf_slice(&again));
        const struct answer *answer = bench_submit(b, "node", 1, QUEUE_TRANSFER, 0);
        bench_work(b);
        assert_int_equal(answer->status, STATUS_OK);
        assert_int_equal(told_b.times, 1);
        assert_true(slice_equal(buf_slice(&told_b.change), buf_slice(&change)));
    }
    buf_release(&change);
    buf_release(&again);
    close_node(a, &told_a);
    close_node(b, &told_b);
}

/* What no job can hold is left out, and what stands around it is told; so is a last line without
 * its end. */
static void
test_a_line_that_no_job_holds_is_left_out(void **state)
{
    static const struct {
        const char *before, *after, *told;
        size_t bytes; /* of the long line, with its end */
        uint64_t words;
    } cases[] = {
        {"+scope.hosts=x\n", "+scope.hosts=y\n", "+scope.hosts=x\n+scope.hosts=y\n",
         JOB_DATA_MAXIMUM + 1, 2},
        {"", "+scope.hosts=y", "+scope.hosts=y", JOB_DATA_MAXIMUM + 1, 2},
        {"+scope.hosts=x\n", "", "+scope.hosts=x\n", 2 * JOB_DATA_MAXIMUM, 1},
        {"", "+", "+", 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct told told_a, told_b;
        struct bench *a = open_node("a", &told_a), *b = open_node("b", &told_b);
        struct buf change;
        buf_init(&change, 1 << 20);
        buf_append_string(&change, cases[i].before);
        for (size_t n = 1; n < cases[i].bytes; n++) {
            buf_append_char(&change, 'z');
        }
        buf_append_string(&change, cases[i].bytes > 0 ? "\n" : "");
        buf_append_string(&change, cases[i].after);
        broker_set_scope(a->broker, 5, buf_slice(&change));
        bench_work(a);
        assert_int_equal(stats(a).stages[STAGE_EXTRACT].outbox, cases[i].words);
        assert_int_equal(carry(a, NODE_B, b, 0), STATUS_OK);
        assert_true(slice_is(buf_slice(&told_b.change), cases[i].told));
        buf_release(&change);
        close_node(a, &told_a);
        close_node(b, &told_b);
    }
}

/* ---- the files of the data directory ---- */

static void
write_scope(const char *folder, const char *text)
{
    struct reason why = {""};
    int lock;
    assert_int_equal(scope_file_lock(folder, &lock, &why), STATUS_OK);
    assert_int_equal(scope_file_replace(folder, SCOPE_RULES_FILE, slice_string(text), &why),
                     STATUS_OK);
    assert_int_equal(scope_file_settle(folder, NULL, &why), STATUS_OK);
    close(lock);
}

/* As an editor does that is not done. */
static void
begin_to_write(const char *folder, const char *text)
{
    const time_t later = (time_t)(clock_wall_ms() / 1000 + 3600);
    const struct timespec times[2] = {{.tv_sec = later}, {.tv_sec = later}};
    struct reason why = {""};
    struct buf path;
    buf_init(&path, 4096);
    buf_printf(&path, "%s/" SCOPE_RULES_FILE, folder);
    assert_int_equal(scope_file_replace(folder, SCOPE_RULES_FILE, slice_string(text), &why),
                     STATUS_OK);
    assert_int_equal(utimensat(AT_FDCWD, path.data, times, 0), 0);
    buf_release(&path);
}

static void
expect_told(const char *folder, const char *expected)
{
    struct reason why = {""};
    struct buf text;
    buf_init(&text, 4096);
    assert_int_equal(scope_told_read(folder, &text, &why), STATUS_OK);
    assert_true(slice_is(buf_slice(&text), expected));
    buf_release(&text);
}

/* What other nodes are told is noted when it is committed, and is what changed since. */
static void
test_files_are_told_when_committed(void **state)
{
    struct told told;
    struct disk disk = {true};
    struct bench *bench = open_node("a", &told);
    struct daemon_scope scope;
    (void)state;
    bench_close(bench);
    bench->options.directory = bench->folder;
    bench->options.store.fault = no_room;
    bench->options.store.fault_context = &disk;
    bench_open(bench);
    daemon_scope_open(&scope, &bench->options, NULL);
    write_scope(bench->folder, "scope.hosts=a\n");
    daemon_scope_look(&scope, bench->broker);
    bench_work(bench);
    daemon_scope_settle(&scope, bench->broker);
    expect_told(bench->folder, "");
    disk.full = false;
    clock_move(1100);
    bench_work(bench);
    daemon_scope_settle(&scope, bench->broker);
    expect_told(bench->folder, "scope.hosts=a\n");
    assert_int_equal(stats(bench).stages[STAGE_EXTRACT].outbox, 1);
    const uint64_t version = broker_scope(bench->broker);

    write_scope(bench->folder, "scope.hosts=a,b\n");
    begin_to_write(bench->folder, "scope.ho");
    daemon_scope_look(&scope, bench->broker);
    bench_work(bench);
    assert_int_equal(broker_scope(bench->broker), version);
    write_scope(bench->folder, "scope.hosts=a,b,c\n");
    daemon_scope_look(&scope, bench->broker);
    bench_work(bench);
    daemon_scope_settle(&scope, bench->broker);
    assert_true(broker_scope(bench->broker) > version);
    expect_told(bench->folder, "scope.hosts=a,b,c\n");
    struct buf *sent = bench_payload(bench);
    assert_true(broker_outgoing(bench->broker, NODE_B, sent));
    const struct slice said = SLICE("+scope.hosts=b,c\n");
    assert_true(slice_find_slice(buf_slice(sent), said) < sent->length);
    buf_reset(sent);
    daemon_scope_close(&scope);
    close_node(bench, &told);
}

int
queue_scope_run(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_CASE(test_jobs_go_out_with_the_version_in_force),
        BENCH_CASE(test_a_change_begins_one_sweep),
        BENCH_CASE(test_what_was_filtered_before_is_considered_again),
        BENCH_CASE(test_an_end_in_the_round_of_the_change_is_outdated),
        BENCH_CASE(test_a_swept_document_has_its_depth),
        BENCH_CASE(test_a_failed_commit_leaves_the_version),
        cmocka_unit_test(test_the_scope_goes_before_the_seeds),
        cmocka_unit_test(test_nodes_sweep_when_another_has_the_scope),
        cmocka_unit_test(test_a_long_change_is_many_words),
        cmocka_unit_test(test_a_line_that_no_job_holds_is_left_out),
        cmocka_unit_test(test_files_are_told_when_committed),
    };
    return cmocka_run_group_tests_name("queue scope", tests, NULL, NULL);
}
