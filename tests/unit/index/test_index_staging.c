/* Imported quads that wait on the disk: brought into the trees they make the index that the same
 * quads make one batch after the other, whatever was there, however they are spread over runs, and
 * whatever is written before and after. test_index_faults kills them at every write. Then the
 * same again with trees that are built anew. */
#include "index/write/staging.h"
#include "tests/unit/brief.h"
#include "tests/unit/index/index_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "index/maintenance/backup.h"
#include "index/write/packed_quads.h"
#include "index/write/partition_state.h"
#include "index/write/patch.h"

enum { DOCUMENTS = 60, QUADS = 40, ROUNDS = 12, CACHE = 4 << 20, SECONDS = 60, HOUR = 3600 };
static const size_t usual = 64 << 20;

static char base[SCRATCH_SIZE];
static size_t build_from; /* 1: trees are built anew */

static struct partition *
open_with(const char *name, uint32_t pause_s, char folder[96])
{
    struct partition_options options;
    struct partition *partition;
    struct reason why = {""};
    snprintf(folder, 96, "%s/%s", base, name);
    fixture_options(&options, folder);
    options.cache_bytes = CACHE;
    options.checkpoint_bytes = 1 << 20;
    options.pause_s = pause_s;
    options.build_from = build_from;
    must(partition_open(&partition, &options, &why), &why);
    return partition;
}

/* Nothing comes in by itself. */
static struct partition *
open_at(const char *name, char folder[96])
{
    return open_with(name, HOUR, folder);
}

/* Quads to be added to the graph of a document. */
static void
add_patch(struct index_batch *batch, unsigned document, const struct buf *nquads)
{
    char uri[64];
    struct reason why = {""};
    const struct quad_sink sink = {index_batch_quad, batch};
    fixture_uri(document, uri);
    index_batch_begin_patch(batch, slice_string(uri));
    must(nquads_parse(buf_slice(nquads), NULL, &sink, &why), &why);
    (void)index_batch_end(batch);
}

static void
assert_same_dump(struct partition *left, struct partition *right)
{
    struct buf dumps[2];
    buf_init(&dumps[0], 1 << 28);
    buf_init(&dumps[1], 1 << 28);
    fixture_dump(left, base, &dumps[0]);
    fixture_dump(right, base, &dumps[1]);
    assert_true(slice_equal(buf_slice(&dumps[0]), buf_slice(&dumps[1])));
    buf_release(&dumps[0]);
    buf_release(&dumps[1]);
}

static uint64_t
added_by(const struct index_batch *batch)
{
    uint64_t added = 0;
    for (size_t i = 0; i < index_batch_documents(batch); i++) {
        added += index_batch_result(batch, i)->added;
    }
    return added;
}

static void
quads_that_wait_make_the_same_index(void **state)
{
    (void)state;
    char folders[2][96];
    struct reason why = {""};
    struct partition *plain = open_at("plain", folders[0]);
    struct partition *staging = open_at("waiting", folders[1]);
    struct index_batch *batches[2] = {index_batch_new(plain), index_batch_new(staging)};
    struct buf nquads;
    buf_init(&nquads, 1 << 20);
    uint64_t expected = 0, sum = 0;
    for (int round = 0; round < (int)brief(ROUNDS, 8); round++) {
        index_batch_reset(batches[0]);
        index_batch_reset(batches[1]);
        const bool replacing = round % 4 == 3; /* whole documents: after what waits */
        for (unsigned i = 0; i < DOCUMENTS / 3; i++) {
            const unsigned document = (unsigned)(random_number() % DOCUMENTS);
            buf_reset(&nquads);
            fixture_document(document, (unsigned)(random_number() % QUADS), &nquads);
            for (int k = 0; k < 2; k++) {
                if (replacing) {
                    fixture_add(batches[k], document, (uint64_t)round, &nquads);
                } else {
                    add_patch(batches[k], document, &nquads);
                }
            }
        }
        must(index_batch_commit(batches[0], &why), &why);
        if (replacing) {
            must(index_batch_commit(batches[1], &why), &why);
            continue;
        }
        expected += added_by(batches[0]);
        must(index_batch_stage(batches[1], usual, &why), &why);
        if (round % 5 == 4) {
            uint64_t added;
            must(partition_merge_staged(staging, &added, &why), &why);
            sum += added;
            assert_same_dump(plain, staging);
        } else if (round == 5) { /* they are there after a start */
            index_batch_free(batches[1]);
            partition_close(staging);
            staging = open_at("waiting", folders[1]);
            batches[1] = index_batch_new(staging);
        }
    }
    uint64_t added;
    must(partition_merge_staged(staging, &added, &why), &why);
    assert_int_equal(sum + added, expected);
    fixture_verify(plain, folders[0]);
    fixture_verify(staging, folders[1]);
    assert_same_dump(plain, staging);
    index_batch_free(batches[0]);
    index_batch_free(batches[1]);
    partition_close(plain);
    partition_close(staging);
    buf_release(&nquads);
}

/* Quads first .. end-1 of one graph, two to a subject. */
static void
add_large(struct index_batch *batch, unsigned first, unsigned end)
{
    struct buf nquads;
    buf_init(&nquads, 1 << 28);
    for (unsigned i = first; i < end; i++) {
        (void)buf_printf(&nquads, "<http://s.example/%u> <http://p.example/%u> \"%u\" .\n", i / 2,
                         i % 2, i % 1000);
    }
    add_patch(batch, 1, &nquads);
    buf_release(&nquads);
}

static uint64_t
quads_of(struct partition *partition)
{
    struct partition_stats stats;
    partition_stats(partition, &stats);
    return stats.totals.quads;
}

static void
a_graph_of_many_quads_is_taken_in_parts(void **state)
{
    (void)state;
    const unsigned all = (unsigned)brief(200000, 90000);
    char folder[96];
    struct reason why = {""};
    struct partition *partition = open_at("large", folder);
    struct index_batch *batch = index_batch_new(partition);
    const unsigned ends[][2] = {{0, 70001}, {50000, all - 9999}, {all - 20000, all}, {7, 9}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        index_batch_reset(batch);
        add_large(batch, ends[i][0], ends[i][1]);
        must(index_batch_stage(batch, usual, &why), &why);
    }
    assert_int_equal(quads_of(partition), 0);
    must(partition_merge_staged(partition, NULL, &why), &why);
    assert_int_equal(quads_of(partition), all);
    fixture_verify(partition, folder);
    index_batch_free(batch);
    partition_close(partition);
}

/* A run that finds no room is taken back, and comes when there is room again. */
static void
a_run_without_room_comes_later(void **state)
{
    (void)state;
    char folder[96];
    struct reason why = {""};
    struct partition *partition = open_at("no-room", folder);
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned i = 0; i < 4; i++) {
        index_batch_reset(batch);
        add_large(batch, 100 * (i / 2), 100 * (i / 2) + 100);
        environment_fault(i % 2 == 0 ? FAULT_FULL : FAULT_NONE, 1);
        const enum status status = index_batch_stage(batch, usual, &why);
        environment_fault(FAULT_NONE, 0);
        if (status != (i % 2 == 0 ? STATUS_FULL : STATUS_OK)) {
            fail_msg("%s: %s", status_name(status), why.text);
        }
        assert_true(i % 2 == 1 || partition_waits(partition, status));
    }
    must(partition_merge_staged(partition, NULL, &why), &why);
    assert_int_equal(quads_of(partition), 200);
    fixture_verify(partition, folder);
    index_batch_free(batch);
    partition_close(partition);
}

/* Removals come before what is added, and in patches alone; what was begun and not ended is not
 * there. */
static void
removals_have_their_place(void **state)
{
    (void)state;
    char folder[96];
    struct reason why = {""};
    struct partition *partition = open_at("removals", folder);
    struct index_batch *batch = index_batch_new(partition);
    const struct term iri = term_iri(SLICE("a:x"));
    const struct quad quad = {.subject = iri, .predicate = iri, .object = iri};
    index_batch_begin_patch(batch, SLICE("http://a.example/"));
    must(index_batch_removal(batch, &quad, &why), &why);
    must(index_batch_quad(batch, &quad, &why), &why);
    assert_int_equal(index_batch_removal(batch, &quad, &why), STATUS_MISUSE);
    index_batch_begin(batch, &(struct index_document){.uri = SLICE("http://b.example/")});
    assert_int_equal(index_batch_quads(batch), 0);
    assert_int_equal(index_batch_removal(batch, &quad, &why), STATUS_MISUSE);
    must(index_batch_quad(batch, &quad, &why), &why);
    (void)index_batch_end(batch);
    must(index_batch_commit(batch, &why), &why);
    assert_int_equal(quads_of(partition), 1);
    fixture_verify(partition, folder);
    index_batch_free(batch);
    partition_close(partition);
}

/* Documents whose URIs are longer than what is kept of them at a time: each counts for its host. */
static void
long_names_count_for_their_hosts(void **state)
{
    (void)state;
    enum { NAMES = 6, LONG = (1 << 20) + 100 };
    char folder[96];
    struct reason why = {""};
    struct partition *partition = open_at("long", folder);
    struct index_batch *batch = index_batch_new(partition);
    const struct quad_sink sink = {index_batch_quad, batch};
    const struct slice nquads = SLICE("<a:s> <a:p> <a:o> .\n");
    char *uri = memory_alloc(LONG + 1);
    memset(uri, 'x', LONG);
    for (unsigned i = 0; i < NAMES; i++) {
        char origin[] = "http://host0.example/0";
        origin[11] = (char)('0' + i % 3);
        origin[21] = (char)('0' + i);
        memcpy(uri, origin, sizeof origin - 1);
        index_batch_begin_patch(batch, slice_of(uri, LONG));
        must(nquads_parse(nquads, NULL, &sink, &why), &why);
        (void)index_batch_end(batch);
    }
    free(uri);
    must(index_batch_stage(batch, usual, &why), &why);
    must(partition_merge_staged(partition, NULL, &why), &why);
    assert_int_equal(quads_of(partition), NAMES);
    fixture_verify(partition, folder);
    index_batch_free(batch);
    partition_close(partition);
}

static void
memory_and_runs_are_bounded(void **state)
{
    (void)state;
    enum { RUNS = 150, EACH = 100 };
    char folder[96];
    struct reason why = {""};
    struct partition *partition = open_at("bounded", folder);
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned i = 0; i < RUNS; i++) {
        index_batch_reset(batch);
        add_large(batch, i * EACH, (i + 1) * EACH);
        must(index_batch_stage(batch, usual, &why), &why);
    }
    assert_int_equal(quads_of(partition), 128 * EACH); /* 64 runs, twice */
    index_batch_reset(batch);
    add_large(batch, RUNS * EACH, (RUNS + 1) * EACH);
    must(index_batch_stage(batch, 1, &why), &why); /* no memory for more than what comes */
    assert_int_equal(quads_of(partition), RUNS * EACH);
    fixture_verify(partition, folder);
    assert_int_equal(quads_of(partition), (RUNS + 1) * EACH);
    index_batch_free(batch);
    partition_close(partition);
}

static void
what_nobody_brings_in_comes_by_itself(void **state)
{
    (void)state;
    char folder[96];
    struct reason why = {""};
    struct partition *partition = open_with("alone", 1, folder);
    struct index_batch *batch = index_batch_new(partition);
    add_large(batch, 0, 100);
    must(index_batch_stage(batch, usual, &why), &why);
    for (int i = 0; i < 10 * SECONDS && quads_of(partition) == 0; i++) {
        usleep(100000);
    }
    assert_int_equal(quads_of(partition), 100);
    index_batch_free(batch);
    partition_close(partition);
}

static enum status
receive(void *context, struct slice piece, struct reason *why)
{
    return backup_receive(context, piece, why);
}

static void
a_backup_has_what_waited(void **state)
{
    (void)state;
    char folder[96], target[SCRATCH_SIZE + 64];
    struct reason why = {""};
    struct partition *partition = open_at("saved-from", folder);
    struct index_batch *batch = index_batch_new(partition);
    add_large(batch, 0, 1000);
    must(index_batch_stage(batch, usual, &why), &why);
    snprintf(target, sizeof target, "%s/copy", base);
    struct backup_receiver *receiver = backup_receiver_new(target, "saved", NULL);
    must(partition_backup(partition, receive, receiver, &why), &why);
    must(backup_receiver_end(receiver, NULL, &why), &why);
    backup_receiver_free(receiver);
    struct partition *copy = fixture_open(target, CACHE);
    assert_int_equal(quads_of(copy), 1000);
    fixture_verify(copy, target);
    assert_same_dump(partition, copy);
    partition_close(copy);
    index_batch_free(batch);
    partition_close(partition);
}

/* Nothing of them is taken, verifying says so, and all else goes on. */
static void
a_damaged_run_is_found(void **state)
{
    (void)state;
    char folder[96], path[128];
    struct reason why = {""};
    struct partition *partition = open_at("damaged", folder);
    struct index_batch *batch = index_batch_new(partition);
    struct buf report;
    const atomic_bool cancel = false;
    add_large(batch, 0, 100);
    must(index_batch_commit(batch, &why), &why);
    index_batch_reset(batch);
    add_large(batch, 100, 5000);
    must(index_batch_stage(batch, usual, &why), &why);
    snprintf(path, sizeof path, "%s/waiting", folder);
    const int file = open(path, O_WRONLY);
    assert_int_equal(pwrite(file, "\xff", 1, 3000), 1);
    close(file);
    assert_int_equal(partition_merge_staged(partition, NULL, &why), STATUS_CORRUPT);
    assert_true(partition_waits(partition, STATUS_CORRUPT));
    assert_int_equal(quads_of(partition), 100);
    buf_init(&report, 1 << 20);
    assert_int_equal(
        partition_verify(partition, base, 1 << 20, &cancel, fixture_append, &report, &why),
        STATUS_CORRUPT);
    assert_non_null(strstr(report.data, "quads that wait"));
    buf_reset(&report);
    fixture_dump(partition, base, &report);
    assert_true(report.length > 0);
    buf_release(&report);
    index_batch_free(batch);
    partition_close(partition);
}

/* One quad whose literal has so many bytes. */
static void
request_many(struct buf *request, char letter, size_t bytes)
{
    char *text = memory_alloc(bytes);
    memset(text, letter, bytes);
    const struct term iri = term_iri(SLICE("http://example.org/large"));
    const struct term literal = term_literal(slice_of(text, bytes));
    struct term_set terms;
    term_set_init(&terms);
    const uint32_t name = term_set_add(&terms, &iri), object = term_set_add(&terms, &literal);
    struct packed_quad quad = {name, name, object, name};
    buf_init(request, 1 << 22);
    codec_put_u8(request, PATCH_MANY);
    packed_quads_write(request, &terms, &quad, 1);
    term_set_release(&terms);
    free(text);
}

/* This comes to a queue when its worker waits for more. */
static struct {
    struct patch_queue *queue; /* NULL: nothing */
    struct rpc_request request;
} to_come;

int __real_poll(struct pollfd *polled, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *polled, nfds_t count, int timeout_ms);

int
__wrap_poll(struct pollfd *polled, nfds_t count, int timeout_ms)
{
    if (to_come.queue != NULL && count == 1 &&
        polled->fd == patch_queue_descriptor(to_come.queue) && timeout_ms > 0) {
        patch_queue_add(to_come.queue, &to_come.request);
        to_come.queue = NULL;
    }
    return __real_poll(polled, count, timeout_ms);
}

/* How many of two requests, the second of which comes when more is waited for, are done when the
 * queue was worked on once. */
static unsigned
done_together(struct partition *partition, size_t first_bytes)
{
    struct buf requests[2];
    struct reason why = {""};
    unsigned count = 0;
    request_many(&requests[0], 'a', first_bytes);
    request_many(&requests[1], 'b', 1);
    const int event = eventfd(0, EFD_NONBLOCK);
    struct patch_queue *queue = patch_queue_new(event);
    const struct rpc_request first = {.payload = buf_slice(&requests[0])};
    patch_queue_add(queue, &first);
    uint64_t added;
    assert_int_equal(read(patch_queue_descriptor(queue), &added, sizeof added), sizeof added);
    to_come.queue = queue;
    to_come.request = (struct rpc_request){.payload = buf_slice(&requests[1])};
    must(patch_queue_work(queue, partition, usual, &why), &why);
    to_come.queue = NULL;
    for (struct patch *patch = patch_queue_take(queue), *next; patch != NULL; patch = next) {
        next = patch->next;
        must(patch->status, &patch->why);
        count++;
        free(patch);
    }
    patch_queue_free(queue);
    close(event);
    buf_release(&requests[0]);
    buf_release(&requests[1]);
    return count;
}

static void
large_requests_are_gathered(void **state)
{
    (void)state;
    char folder[96];
    struct reason why = {""};
    struct partition *partition = open_at("gathered", folder);
    assert_int_equal(done_together(partition, 1), 1);
    assert_int_equal(staging_runs(partition->staging), 1);
    assert_int_equal(done_together(partition, 2 << 20), 2);
    assert_int_equal(staging_runs(partition->staging), 2);
    uint64_t added;
    must(partition_merge_staged(partition, &added, &why), &why);
    assert_int_equal(added, 3);
    fixture_verify(partition, folder);
    partition_close(partition);
}

/* A batch that is handed over when it is full comes in with all that waits. */
static void
a_full_batch_is_brought_in_with_what_waits(void **state)
{
    (void)state;
    enum { MEMORY = 1 << 20, EACH = 20 };
    char folder[96];
    struct reason why = {""};
    struct partition *partition = open_at("full", folder);
    struct index_batch *batch = index_batch_new(partition);
    unsigned quads = 0;
    for (int i = 0; i < 2; i++, quads += 4000) {
        add_large(batch, quads, quads + 4000);
        assert_false(index_batch_is_full(batch, MEMORY));
        must(index_batch_stage(batch, MEMORY, &why), &why);
        index_batch_reset(batch);
    }
    while (!index_batch_is_full(batch, MEMORY)) {
        add_large(batch, quads, quads + EACH);
        quads += EACH;
    }
    assert_true(index_batch_staged_bytes(batch) < MEMORY);
    must(index_batch_stage(batch, MEMORY, &why), &why);
    assert_int_equal(quads_of(partition), 0);
    index_batch_reset(batch);
    assert_false(index_batch_is_full(batch, MEMORY)); /* something has to go into it */
    add_large(batch, quads, quads + 1000);
    must(index_batch_stage(batch, MEMORY, &why), &why);
    assert_int_equal(quads_of(partition), quads);
    index_batch_free(batch);
    partition_close(partition);
}

/* ---- trees anew ---- */

static bool
has_file(const char *folder, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void
merge_some(struct partition *partition, unsigned first, unsigned end)
{
    struct reason why = {""};
    struct index_batch *batch = index_batch_new(partition);
    add_large(batch, first, end);
    must(index_batch_stage(batch, usual, &why), &why);
    must(partition_merge_staged(partition, NULL, &why), &why);
    index_batch_free(batch);
}

struct dumping {
    struct partition *partition;
    atomic_bool end;
    unsigned dumps;
};

/* Sees 2,000 quads or 6,000, and never fewer than before. */
static void *
keep_dumping(void *context)
{
    struct dumping *dumping = context;
    struct buf dump;
    size_t before = 0;
    buf_init(&dump, 1 << 28);
    for (bool end = false; !end; dumping->dumps++) {
        end = atomic_load(&dumping->end);
        size_t lines = 0;
        buf_reset(&dump);
        fixture_dump(dumping->partition, base, &dump);
        for (size_t i = 0; i < dump.length; i++) {
            lines += dump.data[i] == '\n';
        }
        if ((lines != 2000 && lines != 6000) || lines < before) {
            fprintf(stderr, "%zu quads seen\n", lines);
            abort();
        }
        before = lines;
    }
    buf_release(&dump);
    return NULL;
}

static void
a_tree_is_built_anew_beside_its_readers(void **state)
{
    (void)state;
    char folder[96];
    pthread_t thread;
    struct partition *partition = open_at("anew", folder);
    merge_some(partition, 0, 2000);
    assert_true(has_file(folder, build_from ? "quads-spoc.1.db" : "quads-spoc.db"));
    assert_true(has_file(folder, build_from ? "terms.1.db" : "terms.db"));
    struct dumping dumping = {.partition = partition};
    assert_int_equal(pthread_create(&thread, NULL, keep_dumping, &dumping), 0);
    merge_some(partition, 0, 6000);
    atomic_store(&dumping.end, true);
    pthread_join(thread, NULL);
    assert_true(dumping.dumps > 0);
    assert_int_equal(quads_of(partition), 6000);
    /* Few changes at one place go into their blocks. */
    assert_true(has_file(folder, build_from ? "quads-pocs.2.db" : "quads-pocs.db"));
    merge_some(partition, 0, 6002);
    assert_true(has_file(folder, build_from ? "quads-pocs.2.db" : "quads-pocs.db"));
    partition_close(partition);
    /* What a crash leaves is removed, and nothing else. */
    fixture_run("cp %s/waiting %s/quads-pocs.77.db", folder, folder);
    fixture_run("cp %s/waiting %s/quads-pocs-77.db", folder, folder);
    partition = open_at("anew", folder);
    assert_false(has_file(folder, "quads-pocs.77.db"));
    assert_true(has_file(folder, "quads-pocs-77.db"));
    assert_int_equal(quads_of(partition), 6002);
    fixture_verify(partition, folder);
    partition_close(partition);
}

/* Is killed in the end, with all of it in the log alone. */
static _Noreturn void
child_changes(const char *name, unsigned rounds)
{
    char folder[96];
    struct buf nquads;
    struct reason why = {""};
    struct partition *partition = open_at(name, folder);
    buf_init(&nquads, 1 << 20);
    for (unsigned i = 0; i < rounds; i++) {
        struct index_batch *batch = index_batch_new(partition);
        merge_some(partition, 0, 1000 * (i + 1));
        for (unsigned document = 2; document < 12; document++) {
            buf_reset(&nquads);
            fixture_document(document, 10 * i + document, &nquads);
            fixture_add(batch, document, i, &nquads);
        }
        must(index_batch_commit(batch, &why), &why);
        index_batch_free(batch);
    }
    raise(SIGKILL);
    _exit(1);
}

/* Trees built anew, then changed in their places, then built anew, and nothing but the log to have
 * it from: also of files that are not there any more. */
static void
a_crash_after_trees_were_built_anew_loses_nothing(void **state)
{
    (void)state;
    struct partition *partitions[2];
    char folders[2][96];
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? "crashed-once" : "crashed-often";
        for (unsigned rounds = 3; rounds <= (i == 0 ? 3 : 5); rounds++) {
            int result;
            const pid_t child = fork();
            if (child == 0) {
                child_changes(name, i == 0 ? 5 : rounds);
            }
            assert_int_equal(waitpid(child, &result, 0), child);
            assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL);
        }
    }
    for (int i = 0; i < 2; i++) { /* no process is forked while they have threads */
        partitions[i] = open_at(i == 0 ? "crashed-once" : "crashed-often", folders[i]);
        fixture_verify(partitions[i], folders[i]);
    }
    assert_same_dump(partitions[0], partitions[1]);
    partition_close(partitions[0]);
    partition_close(partitions[1]);
}

static int
make_folder(void **state)
{
    (void)state;
    return scratch_folder(base, "test_index_waiting") ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    fixture_run("rm -r %s%s", base, "");
    return 0;
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    staging_close(NULL);
    staging_reader_close(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quads_that_wait_make_the_same_index),
        cmocka_unit_test(a_graph_of_many_quads_is_taken_in_parts),
        cmocka_unit_test(a_run_without_room_comes_later),
        cmocka_unit_test(removals_have_their_place),
        cmocka_unit_test(long_names_count_for_their_hosts),
        cmocka_unit_test(memory_and_runs_are_bounded),
        cmocka_unit_test(what_nobody_brings_in_comes_by_itself),
        cmocka_unit_test(a_backup_has_what_waited),
        cmocka_unit_test(a_damaged_run_is_found),
        cmocka_unit_test(large_requests_are_gathered),
        cmocka_unit_test(a_full_batch_is_brought_in_with_what_waits),
        cmocka_unit_test(a_tree_is_built_anew_beside_its_readers),
        cmocka_unit_test(a_crash_after_trees_were_built_anew_loses_nothing),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    const int failed = cmocka_run_group_tests(tests, make_folder, remove_folder);
    build_from = 1;
    return failed + cmocka_run_group_tests(tests, make_folder, remove_folder);
}
