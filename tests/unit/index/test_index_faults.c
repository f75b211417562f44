/* What test_index_kill does to batches of documents is done here to everything else that writes:
 * changes by updates and imports, the keyword index, the change log that is cut, checkpoints, and
 * the recovery after each. The process is killed at every write in turn, whole and torn, the disk
 * gets full, and each write or sync fails once. Afterwards the index holds what was before or what
 * would have been after, verifies clean (counters and keyword index against what they are of), and
 * the same again ends with what is after. Then pages are damaged, and only what needs them fails.
 *
 * `make check` tries some writes of each; QUADRILLE_KILL_STEP=1 tries all. */
#include "tests/unit/index/index_fixture.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/system/log.h"
#include "index/maintenance/backup.h"
#include "index/trees/environment.h"
#include "index/write/packed_quads.h"
#include "index/write/patch.h"
#include "tests/unit/brief.h"

enum {
    DOCUMENTS = 40,
    CACHE = 4 << 20,
    TRIES = 3, /* of each kind of fault, without QUADRILLE_KILL_STEP; */
    TRIES_LEAST = 2,
    PATCH_BYTES = 1 << 22
};

static char base[SCRATCH_SIZE];
static struct buf documents[2][DOCUMENTS];
static struct buf before, after;

/* ---- what is done ---- */

typedef enum status deed(struct partition *partition, struct reason *why);

static enum status
put_all(struct partition *partition, unsigned version, struct reason *why)
{
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        fixture_add(batch, i, version + 1, &documents[version][i]);
    }
    const enum status status = index_batch_commit(batch, why);
    index_batch_free(batch);
    return status;
}

static enum status
change(struct partition *partition, const struct buf *request, struct reason *why)
{
    const struct rpc_request as_received = {.payload = buf_slice(request)};
    const int event = eventfd(0, EFD_NONBLOCK);
    struct patch_queue *queue = patch_queue_new(event);
    patch_queue_add(queue, &as_received);
    enum status status = patch_queue_work(queue, partition, PATCH_BYTES, why);
    struct patch *patch = patch_queue_take(queue);
    if (patch != NULL && status == STATUS_OK) {
        status = patch->status;
        *why = patch->why;
    }
    free(patch);
    patch_queue_free(queue);
    close(event);
    return status;
}

/* In every second document what is there goes, and something else comes. */
static enum status
update(struct partition *partition, struct reason *why)
{
    struct buf request;
    buf_init(&request, PATCH_BYTES);
    codec_put_u8(&request, PATCH_QUADS);
    codec_put_varint(&request, DOCUMENTS / 2);
    for (unsigned i = 0; i < DOCUMENTS; i += 2) {
        char uri[64];
        fixture_uri(i, uri);
        codec_put_slice(&request, slice_string(uri));
        codec_put_slice(&request, buf_slice(&documents[0][i]));
        codec_put_slice(&request, buf_slice(&documents[1][i]));
    }
    const enum status status = change(partition, &request, why);
    buf_release(&request);
    return status;
}

static enum status
clear_some(struct partition *partition, struct reason *why)
{
    struct buf request;
    buf_init(&request, PATCH_BYTES);
    codec_put_u8(&request, PATCH_CLEAR);
    codec_put_varint(&request, 2);
    for (unsigned i = 0; i < 2; i++) {
        char uri[64];
        fixture_uri(i, uri);
        codec_put_slice(&request, slice_string(uri));
    }
    const enum status status = change(partition, &request, why);
    buf_release(&request);
    return status;
}

static enum status
clear_all(struct partition *partition, struct reason *why)
{
    char uri[64];
    struct buf request;
    buf_init(&request, PATCH_BYTES);
    codec_put_u8(&request, PATCH_CLEAR_ALL_BUT);
    fixture_uri(5, uri);
    codec_put_slice(&request, slice_string(uri));
    const enum status status = change(partition, &request, why);
    buf_release(&request);
    return status;
}

struct packing {
    struct term_set terms;
    struct packed_quad quads[4096];
    size_t count;
};

static enum status
pack(void *context, const struct quad *quad, struct reason *why)
{
    struct packing *packing = context;
    (void)why;
    packing->quads[packing->count++] = (struct packed_quad){
        term_set_add(&packing->terms, &quad->subject),
        term_set_add(&packing->terms, &quad->predicate),
        term_set_add(&packing->terms, &quad->object), term_set_add(&packing->terms, &quad->graph)};
    return STATUS_OK;
}

static enum status
import_some(struct partition *partition, enum patch_kind kind, unsigned first, unsigned end,
            struct reason *why)
{
    struct buf request;
    struct packing *packing = calloc(1, sizeof *packing);
    const struct quad_sink sink = {pack, packing};
    term_set_init(&packing->terms);
    for (unsigned i = first; i < end; i++) {
        must(nquads_parse(buf_slice(&documents[1][i]), NULL, &sink, why), why);
    }
    buf_init(&request, PATCH_BYTES);
    codec_put_u8(&request, (uint8_t)kind);
    packed_quads_write(&request, &packing->terms, packing->quads, packing->count);
    const enum status status = change(partition, &request, why);
    buf_release(&request);
    term_set_release(&packing->terms);
    free(packing);
    return status;
}

static enum status
import(struct partition *partition, struct reason *why)
{
    return import_some(partition, PATCH_PACKED, 0, DOCUMENTS, why);
}

static enum status
merge_staged(struct partition *partition, struct reason *why)
{
    struct buf request;
    buf_init(&request, 1);
    codec_put_u8(&request, PATCH_BRING_IN);
    const enum status status = change(partition, &request, why);
    buf_release(&request);
    return status;
}

static enum status
import_many(struct partition *partition, struct reason *why)
{
    TRY(import_some(partition, PATCH_MANY, 0, DOCUMENTS, why));
    return merge_staged(partition, why);
}

/* Several runs, with graphs and quads in common. */
static enum status
wait_on_disk(struct partition *partition, struct reason *why)
{
    TRY(import_some(partition, PATCH_MANY, DOCUMENTS / 2, DOCUMENTS, why));
    TRY(import_some(partition, PATCH_MANY, 0, DOCUMENTS - 3, why));
    return import_some(partition, PATCH_MANY, 7, 9, why);
}

static enum status
replace(struct partition *partition, struct reason *why)
{
    return put_all(partition, 1, why);
}

/* verify writes the words that wait in memory first. */
static enum status
write_words(struct partition *partition, struct reason *why)
{
    struct buf report;
    const atomic_bool cancel = false;
    buf_init(&report, 1 << 20);
    const enum status status =
        partition_verify(partition, base, 1 << 20, &cancel, fixture_append, &report, why);
    buf_release(&report);
    return status;
}

static const struct operation {
    const char *name;
    deed *first; /* before the fault is set; NULL: nothing */
    deed *act;
    uint64_t change_bytes; /* 0: the usual */
    size_t build_from;     /* 1: trees are built anew */
} operations[] = {{"update", NULL, update, 0, 0},
                  {"import", NULL, import, 0, 0},
                  {"import of many", NULL, import_many, 0, 0},
                  {"import of many, trees anew", NULL, import_many, 0, 1},
                  {"bring in", wait_on_disk, merge_staged, 0, 0},
                  {"bring in, trees anew", wait_on_disk, merge_staged, 0, 1},
                  {"clear some", NULL, clear_some, 0, 0},
                  {"clear all but one", NULL, clear_all, 0, 0},
                  {"cut the change log", NULL, replace, 6 << 10, 0},
                  {"write words", replace, write_words, 0, 0},
                  {"checkpoint and close", replace, NULL, 0, 0}};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* ---- trying ---- */

static struct partition *
open_partition(const char *folder, const struct operation *operation)
{
    struct partition_options options;
    struct partition *partition;
    struct reason why = {""};
    fixture_options(&options, folder);
    options.cache_bytes = CACHE;
    options.checkpoint_bytes = 32 << 10;
    options.change_bytes =
        operation->change_bytes > 0 ? operation->change_bytes : options.change_bytes;
    options.build_from = operation->build_from;
    if (partition_open(&partition, &options, &why) != STATUS_OK) {
        print_message("%s\n", why.text);
    }
    return partition;
}

/* All of it. 0: done. in_opening: the fault is to strike while the index opens, or later. */
static int
perform(const char *folder, const struct operation *operation, enum fault_action action,
        uint64_t at, bool in_opening)
{
    struct reason why = {""};
    environment_fault(in_opening ? action : FAULT_NONE, at);
    struct partition *partition = open_partition(folder, operation);
    if (partition == NULL ||
        (operation->first != NULL && operation->first(partition, &why) != STATUS_OK)) {
        return EXIT_SYSTEM;
    }
    if (!in_opening) {
        environment_fault(action, at);
    }
    if (operation->act != NULL && operation->act(partition, &why) != STATUS_OK) {
        return EXIT_SYSTEM;
    }
    partition_close(partition);
    return 0;
}

static int
run_child(const char *folder, const struct operation *operation, enum fault_action action,
          uint64_t at, bool in_opening)
{
    int result;
    const pid_t child = fork();
    if (child == 0) {
        log_open("test", LOG_LEVEL_ERROR, false);
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(9);
        }
        _exit(perform(folder, operation, action, at, in_opening));
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    /* SIGABRT: Berkeley DB 5.3 frees what is not its own when a commit cannot be written. */
    assert_true(WIFEXITED(result) || WTERMSIG(result) == SIGKILL ||
                (action >= FAULT_FULL && WTERMSIG(result) == SIGABRT));
    return result;
}

static bool
dump_is(const char *folder, const struct operation *operation, const struct buf *expected)
{
    struct buf dump;
    buf_init(&dump, 1 << 26);
    struct partition *partition = open_partition(folder, operation);
    assert_non_null(partition);
    fixture_verify(partition, folder);
    fixture_dump(partition, folder, &dump);
    partition_close(partition);
    const bool same = slice_equal(buf_slice(&dump), buf_slice(expected));
    buf_release(&dump);
    return same;
}

struct tally {
    unsigned tries, old, new;
};

/* crash_at > 0: after a kill there, the recovery. */
static void
try(const struct operation *operation, enum fault_action action, uint64_t at, uint64_t crash_at,
    struct tally *tally)
{
    char folder[SCRATCH_SIZE + 32];
    fixture_copy(folder, base);
    if (crash_at > 0) {
        (void)run_child(folder, operation, FAULT_KILL, crash_at, false);
    }
    const int result = run_child(folder, operation, action, at, crash_at > 0);
    const bool done = WIFEXITED(result) && WEXITSTATUS(result) == 0;
    const bool new = dump_is(folder, operation, &after);
    if (!new && (done || operation->first != NULL || !dump_is(folder, operation, &before))) {
        fail_msg("%s: fault %d at write %lu, after a kill at %lu, leaves something else",
                 operation->name, action, (unsigned long)at, (unsigned long)crash_at);
    }
    tally->tries++;
    tally->old += !new;
    tally->new += new;
    assert_int_equal(run_child(folder, operation, FAULT_NONE, 0, false), 0);
    assert_true(dump_is(folder, operation, &after));
}

/* The dump without faults; how many writes there are. */
static uint64_t
perform_in_peace(const struct operation *operation)
{
    char folder[SCRATCH_SIZE + 32];
    fixture_copy(folder, base);
    assert_int_equal(perform(folder, operation, FAULT_NONE, 0, false), 0);
    const uint64_t writes = environment_writes();
    struct partition *partition = open_partition(folder, operation);
    fixture_dump(partition, folder, &after);
    assert_false(slice_equal(buf_slice(&after), buf_slice(&before)));
    partition_close(partition);
    return writes;
}

static void
each_write(const struct operation *operation, enum fault_action action, uint64_t writes,
           bool recovery, struct tally *tally)
{
    const char *text = getenv("QUADRILLE_KILL_STEP");
    const uint64_t step =
        text != NULL ? strtoull(text, NULL, 10) : 1 + writes / brief(TRIES, TRIES_LEAST);
    if (recovery) {
        for (uint64_t crash = 1; crash <= writes; crash += step) {
            try(operation, action, 1 + crash % 7, crash, tally);
        }
        return;
    }
    for (uint64_t at = 1; at <= writes; at += step) {
        try(operation, action, at, 0, tally);
    }
}

static void
faults_leave_all_or_nothing(void **state)
{
    (void)state;
    struct tally sum = {0};
    for (size_t i = 0; i < OPERATIONS; i++) {
        const struct operation *operation = &operations[i];
        if (brief_leaves_out(i, 2)) {
            continue;
        }
        const uint64_t writes = perform_in_peace(operation);
        struct tally tally = {0};
        for (enum fault_action action = FAULT_KILL; action <= FAULT_ONCE; action++) {
            if (action == FAULT_KILL || (action + i) % brief(1, 3) == 0) {
                each_write(operation, action, writes, false, &tally);
            }
        }
        each_write(operation, FAULT_KILL, writes, true, &tally);
        print_message("%s: %lu writes, %u faults, %u times before, %u times after\n",
                      operation->name, (unsigned long)writes, tally.tries, tally.old, tally.new);
        assert_true(operation->first != NULL ? tally.old == 0 : tally.old > 0);
        assert_true(tally.new > 0);
        sum.tries += tally.tries;
    }
    print_message("%u faults\n", sum.tries);
}

/* ---- backup ---- */

struct cut {
    struct backup_receiver *receiver;
    uint64_t left; /* pieces until the receiver fails; 0: never */
};

static enum status
receive_some(void *context, struct slice piece, struct reason *why)
{
    struct cut *cut = context;
    if (cut->left > 0 && --cut->left == 0) {
        return status_fail(why, STATUS_FULL, "no room for the copy");
    }
    return backup_receive(cut->receiver, piece, why);
}

/* 0: the copy is whole. Exit code 1: it is not, and is not taken for one. */
static int
back_up(const char *folder, const char *target, enum fault_action action, uint64_t at, uint64_t cut)
{
    struct reason why = {""};
    struct partition *partition = fixture_open(folder, CACHE);
    struct cut receiver = {backup_receiver_new(target, "saved", NULL), cut};
    environment_fault(action, at);
    const enum status status = partition_backup(partition, receive_some, &receiver, &why);
    const enum status whole = backup_receiver_end(receiver.receiver, NULL, &why);
    return status == STATUS_OK && whole == STATUS_OK   ? 0
           : status != STATUS_OK && whole != STATUS_OK ? 1
                                                       : 2;
}

static bool
try_backup(enum fault_action action, uint64_t at, uint64_t cut)
{
    char folder[SCRATCH_SIZE + 32], target[SCRATCH_SIZE + 64];
    int result;
    fixture_copy(folder, base);
    snprintf(target, sizeof target, "%s/saved", base);
    fixture_run("rm -rf %s%s", target, "");
    const pid_t child = fork();
    if (child == 0) {
        log_open("test", LOG_LEVEL_ERROR, false);
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(9);
        }
        _exit(back_up(folder, target, action, at, cut));
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result) || WEXITSTATUS(result) < 2);
    assert_true(dump_is(folder, &operations[0], &before));
    const bool whole = WIFEXITED(result) && WEXITSTATUS(result) == 0;
    if (whole) {
        assert_true(dump_is(target, &operations[0], &before));
    }
    return !whole;
}

static void
a_backup_that_fails_is_none_and_hurts_nothing(void **state)
{
    (void)state;
    for (enum fault_action action = FAULT_KILL; action <= FAULT_ONCE; action++) {
        uint64_t at = 1;
        while (try_backup(action, at, 0)) {
            at += brief(2, 20);
        }
        assert_true(at > 1); /* the checkpoint's writes */
    }
    unsigned cuts = 1;
    while (try_backup(FAULT_NONE, 0, cuts)) {
        cuts += getenv("QUADRILLE_KILL_STEP") != NULL ? 1 : (unsigned)brief(9, 41);
    }
    print_message("cut short at up to %u pieces\n", cuts);
    assert_true(cuts > 20);
}

/* ---- damaged pages ---- */

enum { PAGE = 4096, AT = 2000 };

static void
flip(const char *folder, const char *tree, long page)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s.db", folder, tree);
    FILE *file = fopen(path, "r+e");
    assert_non_null(file);
    assert_int_equal(fseek(file, page * PAGE + AT, SEEK_SET), 0);
    const int c = fgetc(file);
    assert_int_equal(fseek(file, page * PAGE + AT, SEEK_SET), 0);
    fputc(c ^ 0x5a, file);
    fclose(file);
}

static enum status
dump_of(struct partition *partition, const char *folder, struct reason *why)
{
    struct buf dump;
    buf_init(&dump, 1 << 26);
    const enum status status =
        partition_dump(partition, false, folder, 1 << 20, fixture_append, &dump, why);
    buf_release(&dump);
    return status;
}

/* Every reading that needs the page names it, again and again; others go on; the page mended, the
 * process goes on writing as if nothing had been. */
static void
a_damaged_page_is_named_and_the_rest_is_readable(void **state)
{
    (void)state;
    static const struct {
        const char *tree;
        long page; /* that opening has no need of */
        bool dump_needs_it, batch_needs_it;
    } cases[] = {
        {"quads-cspo", 2, true, true}, {"quads-ospc", 2, false, true}, {"nodes", 2, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char folder[SCRATCH_SIZE + 32], named[64];
        struct reason why = {""};
        fixture_copy(folder, base);
        flip(folder, cases[i].tree, cases[i].page);
        snprintf(named, sizeof named, "%s.db: page %ld is damaged", cases[i].tree, cases[i].page);
        struct partition *partition = open_partition(folder, &operations[0]);
        assert_non_null(partition);
        for (int again = 0; again < 3; again++) {
            const enum status dumped = dump_of(partition, folder, &why);
            assert_int_equal(dumped, cases[i].dump_needs_it ? STATUS_CORRUPT : STATUS_OK);
            assert_true(dumped == STATUS_OK || strstr(why.text, named) != NULL);
            if (cases[i].batch_needs_it) {
                assert_int_equal(put_all(partition, 1, &why), STATUS_CORRUPT);
                assert_non_null(strstr(why.text, named));
                assert_true(partition_waits(partition, STATUS_CORRUPT));
            }
        }
        flip(folder, cases[i].tree, cases[i].page);
        must(put_all(partition, 1, &why), &why);
        partition_close(partition);
        struct buf expected;
        buf_init(&expected, 1 << 26);
        fixture_canonical(documents[1], DOCUMENTS, &expected);
        assert_true(dump_is(folder, &operations[0], &expected));
        buf_release(&expected);
    }
}

/* Words are those of the lexicon: they are read again. */
static void
a_removed_keyword_index_is_made_anew(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE + 32];
    fixture_copy(folder, base);
    fixture_run("rm %s/words.db%s", folder, "");
    assert_true(dump_is(folder, &operations[0], &before));
}

/* ---- room ---- */

static void
without_room_nothing_is_written_and_reading_goes_on(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE + 32];
    struct partition_options options;
    struct partition_stats stats;
    struct partition *partition;
    struct reason why = {""};
    fixture_copy(folder, base);
    fixture_options(&options, folder);
    options.disk_reserve = UINT64_MAX / 2;
    must(partition_open(&partition, &options, &why), &why);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(put_all(partition, 1, &why), STATUS_FULL);
        assert_non_null(strstr(why.text, "index.disk_reserve"));
        assert_true(partition_waits(partition, STATUS_FULL));
        must(dump_of(partition, folder, &why), &why);
    }
    partition_stats(partition, &stats);
    assert_int_equal(stats.writes, STATUS_FULL);
    partition_close(partition);
    assert_true(dump_is(folder, &operations[0], &before));
}

static int
make_base(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE + 32];
    struct reason why = {""};
    assert_true(scratch_folder(base, "test_index_faults"));
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_init(&documents[0][i], 1 << 20);
        buf_init(&documents[1][i], 1 << 20);
        fixture_document(i, 40, &documents[0][i]);
        fixture_document(i, 30, &documents[1][i]);
    }
    buf_init(&before, 1 << 26);
    buf_init(&after, 1 << 26);
    fixture_run("mkdir %s/index%s", base, "");
    snprintf(folder, sizeof folder, "%s/index", base);
    struct partition *partition = open_partition(folder, &operations[0]);
    assert_non_null(partition);
    must(put_all(partition, 0, &why), &why);
    fixture_dump(partition, folder, &before);
    partition_close(partition);
    return 0;
}

static int
remove_base(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_release(&documents[0][i]);
        buf_release(&documents[1][i]);
    }
    buf_release(&before);
    buf_release(&after);
    fixture_run("rm -r %s%s", base, "");
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_leave_all_or_nothing),
        cmocka_unit_test(a_backup_that_fails_is_none_and_hurts_nothing),
        cmocka_unit_test(a_damaged_page_is_named_and_the_rest_is_readable),
        cmocka_unit_test(a_removed_keyword_index_is_made_anew),
        cmocka_unit_test(without_room_nothing_is_written_and_reading_goes_on),
    };
    log_open("test", LOG_LEVEL_ERROR, false);
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
