/* The process is killed at every write of a batch in turn, whole and torn, the disk gets full at
 * every write, and each write or sync fails once; recovery is killed, too. After a new start the
 * index holds what was before the batch or all of it, and verifies clean. With a roomy cache what
 * is written is the log, the commit, the checkpoint and the keyword index; with a tiny one pages of
 * the unfinished transaction go to disk, too, in thousands of writes of which some are tried.
 * QUADRILLE_KILL_STEP sets the step of the former. */
#include "tests/unit/index/index_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/log.h"
#include "index/serve/change_lines.h"
#include "index/trees/environment.h"
#include "tests/unit/brief.h"
#include "tests/unit/index/index_mirror.h"

enum { DOCUMENTS = 60, ROOMY = 8 << 20, TINY = 512 << 10, WRITES_MOST = 100000 };

static uint64_t cache = ROOMY;
static uint64_t writes_of_batch; /* at least about: as the first test finds */
static bool in_opening;
static uint64_t crash_at; /* a write at which a child was killed before; 0: none */
static char base[SCRATCH_SIZE];
static struct buf before[DOCUMENTS], after[DOCUMENTS];
static struct buf before_dump, after_dump;

static void
put_all(struct partition *partition, const struct buf *documents, uint64_t generation,
        struct reason *why, enum status *status)
{
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        fixture_add(batch, i, generation, &documents[i]);
    }
    *status = index_batch_commit(batch, why);
    index_batch_free(batch);
}

static void
setup(void)
{
    assert_true(scratch_folder(base, "test_index_kill"));
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_init(&before[i], 1 << 20);
        buf_init(&after[i], 1 << 20);
        fixture_document(i, 40, &before[i]);
        if (i % 2) {
            fixture_document(i, 45, &after[i]);
        } else {
            (void)buf_append_slice(&after[i], buf_slice(&before[i]));
            fixture_document(i, 3, &after[i]);
        }
    }
    buf_init(&before_dump, 1 << 26);
    buf_init(&after_dump, 1 << 26);
    fixture_canonical(before, DOCUMENTS, &before_dump);
    fixture_canonical(after, DOCUMENTS, &after_dump);
    fixture_run("mkdir %s/index%s", base, "");
    char folder[SCRATCH_SIZE + 32];
    snprintf(folder, sizeof(folder), "%s/index", base);
    struct partition *partition = fixture_open(folder, cache);
    struct reason why = {""};
    enum status status;
    put_all(partition, before, 1, &why, &status);
    must(status, &why);
    must(partition_settle(partition, &why), &why);
    partition_close(partition);
}

/* The child: replaces all documents with a fault at write `at`. 0: done. */
static int
replace_with_fault(const char *folder, enum fault_action action, uint64_t at)
{
    /* What opening writes comes first when the fault is to strike there. */
    environment_fault(in_opening ? action : FAULT_NONE, at);
    struct partition_options options;
    struct partition *partition;
    struct reason why = {""};
    fixture_options(&options, folder);
    options.cache_bytes = cache;
    options.checkpoint_bytes = 64 << 10;
    if (partition_open(&partition, &options, &why) != STATUS_OK) {
        return EXIT_SYSTEM;
    }
    if (!in_opening) {
        environment_fault(action, at);
    }
    enum status status;
    put_all(partition, after, 2, &why, &status);
    if (status != STATUS_OK || partition_settle(partition, &why) != STATUS_OK) {
        return EXIT_SYSTEM;
    }
    partition_close(partition);
    return 0;
}

/* The change log has as many batches as the index, and makes of nothing what the index holds. */
static void
check_change_log(struct partition *partition, const struct buf *dump, uint64_t batches)
{
    struct reason why = {""};
    struct change_request request = {.since = {0, 0}};
    struct mirror mirror;
    struct buf text;
    mirror_init(&mirror);
    buf_init(&text, MIRROR_MAXIMUM);
    must(partition_changes(partition, &request, fixture_append, &text, &why), &why);
    for (struct slice rest = buf_slice(&text); rest.length > 0;) {
        rest = apply_batch(&mirror, rest);
    }
    assert_int_equal(mirror.position.batch, batches);
    assert_true(slice_equal(buf_slice(&mirror.lines), buf_slice(dump)));
    buf_release(&text);
    mirror_release(&mirror);
}

static int
run_child(const char *folder, enum fault_action action, uint64_t at)
{
    const pid_t child = fork();
    if (child == 0) {
        log_open("test", LOG_LEVEL_ERROR, false);
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(9);
        }
        _exit(replace_with_fault(folder, action, at));
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    return result;
}

/* Runs the child on a copy; false when it came to its end without a fault. */
static bool
try(enum fault_action action, uint64_t at, unsigned *old, unsigned *new)
{
    char folder[SCRATCH_SIZE + 32];
    fixture_copy(folder, base);
    if (crash_at > 0) {
        in_opening = false;
        const int result = run_child(folder, FAULT_KILL, crash_at);
        assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL);
        in_opening = true;
    }
    const int result = run_child(folder, action, at);
    /* SIGABRT: Berkeley DB 5.3 frees what is not its own when a commit cannot be written. */
    const bool killed =
        WIFSIGNALED(result) &&
        (WTERMSIG(result) == SIGKILL || (action >= FAULT_FULL && WTERMSIG(result) == SIGABRT));
    assert_true(killed || WIFEXITED(result));

    struct partition *partition = fixture_open(folder, cache);
    struct buf dump;
    buf_init(&dump, 1 << 26);
    fixture_dump(partition, folder, &dump);
    const bool is_old = slice_equal(buf_slice(&dump), buf_slice(&before_dump));
    const bool is_new = slice_equal(buf_slice(&dump), buf_slice(&after_dump));
    if (!is_old && !is_new) {
        fail_msg("fault %d at write %lu leaves a mixture", action, (unsigned long)at);
    }
    *old += is_old;
    *new += is_new;
    check_change_log(partition, &dump, is_old ? 1 : 2);
    if (WIFEXITED(result) && WEXITSTATUS(result) == 0) {
        assert_true(is_new);
    }
    fixture_verify(partition, folder);
    enum status status;
    struct reason why = {""};
    put_all(partition, after, 2, &why, &status);
    must(status, &why);
    fixture_dump(partition, folder, &dump);
    assert_true(slice_equal(buf_slice(&dump), buf_slice(&after_dump)));
    fixture_verify(partition, folder);
    partition_close(partition);
    buf_release(&dump);
    return killed || WEXITSTATUS(result) != 0;
}

static void
each_write(enum fault_action action, uint64_t cache_bytes, uint64_t step)
{
    const char *text = getenv("QUADRILLE_KILL_STEP");
    cache = cache_bytes;
    if (text != NULL && cache_bytes == ROOMY && !in_opening) {
        step = strtoull(text, NULL, 10);
    }
    unsigned old = 0;
    unsigned new = 0;
    /* Some writes may fail, or find no room, and are made again: the end is no sign of the last. */
    const bool may_succeed = action == FAULT_FULL || action == FAULT_ONCE;
    const uint64_t most = may_succeed ? writes_of_batch : WRITES_MOST;
    uint64_t at = 1;
    while (at < most && (try(action, at, &old, &new) || may_succeed)) {
        at = brief_next(at, step);
    }
    if (action == FAULT_KILL && cache == ROOMY && !in_opening) {
        writes_of_batch = at;
    }
    print_message("%lu writes; %u times before the batch, %u times after\n", (unsigned long)at, old,
                  new);
    assert_true(at < WRITES_MOST);
    assert_true(crash_at > 0 ? old + new > 0 : old > 0 && new > 0);
}

static void
a_kill_at_any_write_leaves_all_or_nothing(void **state)
{
    (void)state;
    each_write(FAULT_KILL, ROOMY, brief(3, 61));
}

static void
a_torn_write_leaves_all_or_nothing(void **state)
{
    (void)state;
    each_write(FAULT_KILL_TORN, ROOMY, brief(5, 79));
}

static void
a_kill_while_opening_leaves_all_or_nothing(void **state)
{
    (void)state;
    in_opening = true;
    each_write(FAULT_KILL, ROOMY, 499);
    in_opening = false;
}

/* Recovery after a kill in the middle of a batch is killed itself. */
static void
a_kill_while_recovering_leaves_all_or_nothing(void **state)
{
    (void)state;
    in_opening = true;
    crash_at = 40;
    each_write(FAULT_KILL, TINY, 499);
    crash_at = 0;
    in_opening = false;
}

static void
a_failed_write_or_sync_leaves_all_or_nothing(void **state)
{
    (void)state;
    each_write(FAULT_ONCE, ROOMY, brief(5, 79));
}

static void
a_kill_while_pages_are_evicted_leaves_all_or_nothing(void **state)
{
    (void)state;
    each_write(FAULT_KILL, TINY, 41);
}

static void
a_full_disk_leaves_all_or_nothing(void **state)
{
    (void)state;
    each_write(FAULT_FULL, ROOMY, brief(5, 79));
}

static int
make_base(void **state)
{
    (void)state;
    setup();
    return 0;
}

static int
remove_base(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_release(&before[i]);
        buf_release(&after[i]);
    }
    buf_release(&before_dump);
    buf_release(&after_dump);
    fixture_run("rm -r %s%s", base, "");
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_at_any_write_leaves_all_or_nothing),
        cmocka_unit_test(a_torn_write_leaves_all_or_nothing),
        cmocka_unit_test(a_kill_while_opening_leaves_all_or_nothing),
        cmocka_unit_test(a_kill_while_recovering_leaves_all_or_nothing),
        cmocka_unit_test(a_failed_write_or_sync_leaves_all_or_nothing),
        cmocka_unit_test(a_kill_while_pages_are_evicted_leaves_all_or_nothing),
        cmocka_unit_test(a_full_disk_leaves_all_or_nothing),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
