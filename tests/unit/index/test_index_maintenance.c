/* Backups made while batches replace all documents hold the state after one batch, whole. A
 * compaction that is killed, or finds the disk full, at any write leaves the same quads in an index
 * that verifies clean, and one that comes to its end makes the files smaller. */
#include "tests/unit/index/index_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/log.h"
#include "index/maintenance/backup.h"
#include "index/trees/environment.h"
#include "tests/unit/brief.h"

enum { DOCUMENTS = 150, CACHE = 8 << 20, BACKUPS = 4, WRITES_MOST = 100000 };

static char base[SCRATCH_SIZE];
static struct buf large[DOCUMENTS], small[DOCUMENTS];
static struct buf large_dump, small_dump;

static void
put_all(struct partition *partition, const struct buf *documents, uint64_t generation)
{
    struct reason why = {""};
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        fixture_add(batch, i, generation, &documents[i]);
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
}

static int
make_base(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE + 32];
    struct reason why = {""};
    assert_true(scratch_folder(base, "test_index_care"));
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_init(&large[i], 1 << 20);
        buf_init(&small[i], 1 << 20);
        fixture_document(i, 120, &large[i]);
        fixture_document(i, 12, &small[i]);
    }
    buf_init(&large_dump, 1 << 26);
    buf_init(&small_dump, 1 << 26);
    fixture_canonical(large, DOCUMENTS, &large_dump);
    fixture_canonical(small, DOCUMENTS, &small_dump);
    fixture_run("mkdir %s/index%s", base, "");
    snprintf(folder, sizeof folder, "%s/index", base);
    struct partition *partition = fixture_open(folder, CACHE);
    put_all(partition, large, 1);
    put_all(partition, small, 2);
    must(partition_settle(partition, &why), &why);
    partition_close(partition);
    return 0;
}

static int
remove_base(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_release(&large[i]);
        buf_release(&small[i]);
    }
    buf_release(&large_dump);
    buf_release(&small_dump);
    fixture_run("rm -rf %s%s", base, "");
    return 0;
}

/* ---- backup ---- */

struct writing {
    struct partition *partition;
    atomic_bool stop;
};

static void *
replace_again_and_again(void *context)
{
    struct writing *writing = context;
    for (uint64_t generation = 3; !atomic_load(&writing->stop); generation++) {
        put_all(writing->partition, generation % 2 ? large : small, generation);
    }
    return NULL;
}

static void
back_up(struct partition *partition, const char *folder)
{
    struct reason why = {""};
    uint64_t bytes = 0;
    FILE *manifest = fopen("/dev/null", "we");
    assert_non_null(manifest);
    struct backup_receiver *receiver = backup_receiver_new(folder, "saved", manifest);
    must(partition_backup(partition, backup_receive, receiver, &why), &why);
    must(backup_receiver_end(receiver, &bytes, &why), &why);
    assert_true(bytes > 100000);
    backup_receiver_free(receiver);
    fclose(manifest);
}

static void
a_backup_holds_one_state(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE + 32], saved[SCRATCH_SIZE + 64];
    struct buf dump;
    pthread_t writer;
    buf_init(&dump, 1 << 26);
    fixture_run("cp -r %s/index %s/busy", base, base);
    snprintf(folder, sizeof folder, "%s/busy", base);
    struct writing writing = {.partition = fixture_open(folder, CACHE)};
    assert_int_equal(pthread_create(&writer, NULL, replace_again_and_again, &writing), 0);
    for (int i = 0; i < BACKUPS; i++) {
        snprintf(saved, sizeof saved, "%s/saved%d", base, i);
        back_up(writing.partition, saved);
    }
    atomic_store(&writing.stop, true);
    pthread_join(writer, NULL);
    partition_close(writing.partition);
    for (int i = 0; i < BACKUPS; i++) {
        snprintf(saved, sizeof saved, "%s/saved%d", base, i);
        struct partition *partition = fixture_open(saved, CACHE);
        fixture_dump(partition, saved, &dump);
        assert_true(slice_equal(buf_slice(&dump), buf_slice(&large_dump)) ||
                    slice_equal(buf_slice(&dump), buf_slice(&small_dump)));
        fixture_verify(partition, saved);
        partition_close(partition);
    }
    buf_release(&dump);
}

static void
a_malformed_copy_is_refused(void **state)
{
    (void)state;
    const struct slice streams[] = {
        SLICE("\2\3abc"),    /* bytes of no file */
        SLICE("\1\4../x"),   /* a name that leads out */
        SLICE("\1\2.x"),     /* hidden */
        SLICE("\1\0"),       /* no name */
        SLICE("\1\1a\1\1b"), /* a file in a file */
        SLICE("\1\1c\4"),    /* whole before its end */
        SLICE("\4\4"),       /* more after the whole */
        SLICE("\11"),        /* no such frame */
    };
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        char folder[SCRATCH_SIZE + 32];
        struct reason why = {""};
        snprintf(folder, sizeof folder, "%s/malformed%zu", base, i);
        struct backup_receiver *receiver = backup_receiver_new(folder, "m", NULL);
        assert_int_equal(backup_receive(receiver, streams[i], &why), STATUS_PROTOCOL);
        backup_receiver_free(receiver);
    }
    struct reason why = {""};
    char folder[SCRATCH_SIZE + 32];
    snprintf(folder, sizeof folder, "%s/part", base);
    struct backup_receiver *receiver = backup_receiver_new(folder, "m", NULL);
    for (const char *c = "\1\1a\2\2xy\3"; *c != '\0'; c++) { /* byte by byte */
        must(backup_receive(receiver, slice_of(c, 1), &why), &why);
    }
    assert_int_equal(backup_receiver_end(receiver, NULL, &why), STATUS_CORRUPT);
    backup_receiver_free(receiver);
}

/* ---- compact ---- */

/* The child. 0: done. */
static int
compact_with_fault(const char *folder, enum fault_action action, uint64_t at)
{
    const atomic_bool cancel = false;
    struct buf report;
    struct reason why = {""};
    struct partition *partition = fixture_open(folder, CACHE);
    buf_init(&report, 1 << 20);
    environment_fault(action, at);
    if (partition_compact(partition, &cancel, fixture_append, &report, &why) != STATUS_OK) {
        return EXIT_SYSTEM;
    }
    partition_close(partition);
    buf_release(&report);
    return 0;
}

/* Runs the child on a copy; false when it came to its end without a fault. */
static bool
try(enum fault_action action, uint64_t at)
{
    char folder[SCRATCH_SIZE + 32];
    struct buf dump;
    int result;
    buf_init(&dump, 1 << 26);
    fixture_copy(folder, base);
    const pid_t child = fork();
    if (child == 0) {
        log_open("test", LOG_LEVEL_ERROR, false);
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(9);
        }
        _exit(compact_with_fault(folder, action, at));
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    const bool killed = WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL;
    /* Berkeley DB 5.3 frees what is not its own when a commit cannot be written; malloc ends it. */
    const bool aborted = action >= FAULT_FULL && WIFSIGNALED(result) && WTERMSIG(result) == SIGABRT;
    if (!killed && !aborted && !WIFEXITED(result)) {
        fail_msg("fault %d at write %lu ends with %x", action, (unsigned long)at, (unsigned)result);
    }
    struct partition *partition = fixture_open(folder, CACHE);
    fixture_dump(partition, folder, &dump);
    if (!slice_equal(buf_slice(&dump), buf_slice(&small_dump))) {
        fail_msg("fault %d at write %lu changes what is stored", action, (unsigned long)at);
    }
    fixture_verify(partition, folder);
    put_all(partition, large, 3);
    fixture_dump(partition, folder, &dump);
    assert_true(slice_equal(buf_slice(&dump), buf_slice(&large_dump)));
    partition_close(partition);
    buf_release(&dump);
    return killed || aborted || WEXITSTATUS(result) != 0;
}

static void
each_write(enum fault_action action, uint64_t step)
{
    static uint64_t writes; /* as found by kills */
    const char *text = getenv("QUADRILLE_KILL_STEP");
    const bool may_succeed = action == FAULT_FULL || action == FAULT_ONCE;
    const uint64_t most = may_succeed ? writes : WRITES_MOST;
    step = text != NULL ? strtoull(text, NULL, 10) : step;
    uint64_t at = 1;
    while (at < most && (try(action, at) || may_succeed)) {
        at = brief_next(at, step);
    }
    writes = at;
    print_message("%lu writes\n", (unsigned long)at);
    assert_true(at > step && at < WRITES_MOST);
}

static void
a_kill_at_any_write_of_compact_loses_nothing(void **state)
{
    (void)state;
    each_write(FAULT_KILL, brief(7, 97));
}

static void
a_torn_write_of_compact_loses_nothing(void **state)
{
    (void)state;
    each_write(FAULT_KILL_TORN, brief(11, 151));
}

static void
a_full_disk_of_compact_loses_nothing(void **state)
{
    (void)state;
    each_write(FAULT_FULL, brief(23, 151));
}

static void
a_failed_write_of_compact_loses_nothing(void **state)
{
    (void)state;
    each_write(FAULT_ONCE, brief(23, 151));
}

static uint64_t
quads_bytes(const char *folder)
{
    char command[128], text[32] = "";
    snprintf(command, sizeof command, "cat %s/quads-* | wc -c", folder);
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    assert_non_null(fgets(text, sizeof text, pipe));
    pclose(pipe);
    return strtoull(text, NULL, 10);
}

static void
compacting_makes_files_smaller(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE + 32];
    fixture_copy(folder, base);
    const uint64_t before = quads_bytes(folder);
    assert_int_equal(compact_with_fault(folder, FAULT_NONE, 0), 0);
    const uint64_t after = quads_bytes(folder);
    print_message("%lu bytes before, %lu after\n", (unsigned long)before, (unsigned long)after);
    assert_true(after * 2 < before);
}

struct told {
    struct partition *partition;
    struct buf lines;
};

/* Another compaction beside this one is turned away. */
static enum status
take_line(void *context, struct slice line, struct reason *why)
{
    struct told *told = context;
    const atomic_bool cancel = false;
    struct reason because = {""};
    assert_int_equal(
        partition_compact(told->partition, &cancel, fixture_append, &told->lines, &because),
        STATUS_AGAIN);
    (void)buf_append_slice(&told->lines, line);
    return line.at[0] == 'a' ? status_fail(why, STATUS_FULL, "the last line") : STATUS_OK;
}

static uint64_t
size_of(const char *folder, const char *name)
{
    char path[SCRATCH_SIZE + 64];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

/* The sizes that are told are those of the files. */
static void
compacting_tells_sizes(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE + 32], plain[SCRATCH_SIZE + 32];
    struct reason why = {""};
    fixture_copy(folder, base);
    snprintf(plain, sizeof plain, "%s/index", base);
    struct told told = {.partition = fixture_open(folder, CACHE)};
    buf_init(&told.lines, 1 << 16);
    atomic_bool cancel = true;
    assert_int_equal(partition_compact(told.partition, &cancel, take_line, &told, &why),
                     STATUS_CANCELLED);
    assert_int_equal(told.lines.length, 0);
    cancel = false;
    assert_int_equal(partition_compact(told.partition, &cancel, take_line, &told, &why),
                     STATUS_FULL);
    assert_string_equal(why.text, "the last line");
    (void)buf_append(&told.lines, "", 1);
    unsigned trees = 0;
    uint64_t total = 0;
    for (const char *line = told.lines.data; *line != '\0'; line = strchr(line, '\n') + 1) {
        char name[32];
        unsigned long before, after;
        assert_int_equal(
            sscanf(line, "%31[^:]: %lu bytes before, %lu after", name, &before, &after), 3);
        if (strcmp(name, "all files") == 0) {
            assert_true(before > total);
            assert_true(after < before);
            assert_int_equal(trees, 14);
            continue;
        }
        trees++;
        total += before;
        assert_int_equal(before, size_of(plain, name));
        assert_in_range(after, 1, before);
        if (strncmp(name, "quads-", 6) == 0) {
            assert_true(after * 2 < before);
        }
    }
    buf_release(&told.lines);
    partition_close(told.partition);
}

/* The linker puts this in the place of what writes checkpoints: it counts. */
static atomic_uint checkpoints;
enum status __real_environment_checkpoint(struct environment *environment, bool force,
                                          struct reason *why);
enum status __wrap_environment_checkpoint(struct environment *environment, bool force,
                                          struct reason *why);

enum status
__wrap_environment_checkpoint(struct environment *environment, bool force, struct reason *why)
{
    atomic_fetch_add(&checkpoints, 1);
    return __real_environment_checkpoint(environment, force, why);
}

/* After a batch the keeper looks whether a checkpoint is to be written, so that a new start has
 * little to bring up. */
static void
the_keeper_writes_checkpoints(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE + 32];
    struct reason why = {""};
    snprintf(folder, sizeof folder, "%s/checkpoints", base);
    struct partition *partition = fixture_open(folder, CACHE);
    must(partition_settle(partition, &why), &why);
    const unsigned before = atomic_load(&checkpoints);
    put_all(partition, large, 1);
    must(partition_settle(partition, &why), &why); /* waits for the keeper: there are new terms */
    assert_true(atomic_load(&checkpoints) > before);
    partition_close(partition);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_keeper_writes_checkpoints),
        cmocka_unit_test(a_malformed_copy_is_refused),
        cmocka_unit_test(a_backup_holds_one_state),
        cmocka_unit_test(compacting_makes_files_smaller),
        cmocka_unit_test(compacting_tells_sizes),
        cmocka_unit_test(a_kill_at_any_write_of_compact_loses_nothing),
        cmocka_unit_test(a_torn_write_of_compact_loses_nothing),
        cmocka_unit_test(a_full_disk_of_compact_loses_nothing),
        cmocka_unit_test(a_failed_write_of_compact_loses_nothing),
    };
    log_open("test", LOG_LEVEL_ERROR, false);
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
