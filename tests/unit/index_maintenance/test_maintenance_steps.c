/* Backups and compaction (index/maintenance/) step by step, over an environment that does as it is
 * told: what is held is let go of whatever fails, and each failure comes back. The linker puts the
 * functions below in the place of the environment's and of the system's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/codec.h"
#include "index/maintenance/backup.h"
#include "index/write/partition_state.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/scratch.h"
#include "tests/unit/stand_in.h"

enum { TEXT_MOST = 1 << 20, PATH = SCRATCH_SIZE + 64, TREES = 2 };

static char folder[SCRATCH_SIZE];
static struct partition partition;
static struct buf calls; /* noted, one a line; "!" where one fails */
static unsigned call, failing;
static enum status failure;
static struct reason why;
static atomic_bool cancel;
static unsigned cancel_at; /* the checkpoint after which it is cancelled */
static int read_error;
static bool held, staging, latched, locked;
static max_align_t trees[TREES], transaction_place;

static int
begin(void **state)
{
    (void)state;
    assert_true(scratch_folder(folder, "maintenance_steps"));
    memset(&partition, 0, sizeof partition);
    partition.folder = folder;
    assert_int_equal(pthread_mutex_init(&partition.writer, NULL), 0);
    assert_int_equal(pthread_mutex_init(&partition.maintenance, NULL), 0);
    buf_init(&calls, TEXT_MOST);
    failing = 0;
    failure = STATUS_SYSTEM;
    cancel_at = 0;
    read_error = 0;
    atomic_store(&cancel, false);
    return 0;
}

static int
end(void **state)
{
    char command[PATH];
    (void)state;
    buf_release(&calls);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Notes a call, and fails when its turn has come. */
static enum status
noted(struct reason *reason, const char *name)
{
    (void)buf_append_string(&calls, name);
    if (++call == failing) {
        (void)buf_append_string(&calls, "!\n");
        return status_fail(reason, failure, "%s failed", name);
    }
    (void)buf_append_char(&calls, '\n');
    return STATUS_OK;
}

static void
make_file(const char *name, const char *text)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* ---- the environment ---- */

STAND_IN(struct tree *, environment_tree,
         (const struct environment *environment, const struct tree *after))
{
    assert_null(environment);
    return after == NULL                       ? (struct tree *)&trees[0]
           : after == (struct tree *)&trees[0] ? (struct tree *)&trees[1]
                                               : NULL;
}

STAND_IN(const char *, tree_name, (const struct tree *tree))
{
    return tree == (struct tree *)&trees[0] ? "one" : "two";
}

STAND_IN(void, tree_file, (const struct tree *tree, char file[TREE_FILE_SIZE]))
{
    snprintf(file, TREE_FILE_SIZE, "%s.7.db", tree == (struct tree *)&trees[0] ? "one" : "two");
}

/* The first tree has three pieces, the second one. */
STAND_IN(enum status, tree_copy_pages,
         (struct tree * tree, uint32_t *page, uint8_t *bytes, size_t most, size_t *length,
          bool *end, struct reason *reason))
{
    assert_true(held && staging && most >= 4096);
    assert_int_equal(*length, 0);
    TRY(noted(reason, "pages"));
    *length = (size_t)snprintf((char *)bytes, most, "page%u", *page);
    *page += 1;
    *end = *page == (tree == (struct tree *)&trees[0] ? 3 : 1);
    return STATUS_OK;
}

STAND_IN(enum status, environment_log_files,
         (struct environment * environment, environment_log_file *visit, void *context,
          struct reason *reason))
{
    assert_null(environment);
    assert_true(held);
    TRY(visit(context, "log.1", reason));
    TRY(visit(context, "log.2", reason));
    return noted(reason, "log files");
}

STAND_IN(enum status, environment_hold_log,
         (struct environment * environment, struct reason *reason))
{
    assert_null(environment);
    TRY(noted(reason, "hold log"));
    held = true;
    return STATUS_OK;
}

STAND_IN(void, environment_release_log, (struct environment * environment))
{
    assert_null(environment);
    assert_true(held);
    held = false;
}

STAND_IN(enum status, partition_hold_staging, (struct partition * of, struct reason *reason))
{
    assert_ptr_equal(of, &partition);
    assert_int_equal(pthread_mutex_trylock(&partition.maintenance), EBUSY);
    TRY(noted(reason, "hold staging"));
    staging = true;
    return STATUS_OK;
}

STAND_IN(void, partition_release_staging, (struct partition * of))
{
    assert_ptr_equal(of, &partition);
    assert_true(staging && !held);
    staging = false;
}

STAND_IN(void, partition_lock_writer, (struct partition * of))
{
    assert_ptr_equal(of, &partition);
    assert_int_equal(pthread_mutex_trylock(&partition.writer), 0);
    locked = true;
}

STAND_IN(enum status, partition_health, (struct partition * of, struct reason *reason))
{
    assert_ptr_equal(of, &partition);
    assert_true(locked);
    return noted(reason, "health");
}

STAND_IN(enum status, transaction_begin,
         (struct transaction * *transaction, struct environment *environment, uint64_t bytes,
          struct reason *reason))
{
    assert_null(environment);
    assert_int_equal(bytes, 0);
    assert_true(locked && !latched);
    *transaction = (struct transaction *)&transaction_place;
    return noted(reason, "begin");
}

STAND_IN(void, transaction_abort, (struct transaction * transaction))
{
    assert_ptr_equal(transaction, &transaction_place);
    assert_true(locked && latched);
    (void)buf_append_string(&calls, "abort\n");
}

STAND_IN(enum status, transaction_commit, (struct transaction * transaction, struct reason *reason))
{
    assert_ptr_equal(transaction, &transaction_place);
    assert_true(locked && !latched);
    return noted(reason, "commit");
}

STAND_IN(void, environment_close_latches, (struct environment * environment))
{
    assert_null(environment);
    assert_true(locked && !latched);
    latched = true;
}

STAND_IN(void, environment_open_latches, (struct environment * environment))
{
    assert_null(environment);
    assert_true(locked && latched);
    latched = false;
}

STAND_IN(enum status, environment_checkpoint,
         (struct environment * environment, bool force, struct reason *reason))
{
    assert_null(environment);
    assert_int_equal(pthread_mutex_trylock(&partition.writer), 0);
    assert_int_equal(pthread_mutex_unlock(&partition.writer), 0);
    if (cancel_at > 0 && --cancel_at == 0) {
        atomic_store(&cancel, true);
    }
    return noted(reason, force ? "checkpoint all" : "checkpoint");
}

STAND_IN(uint64_t, environment_bytes, (const struct environment *environment))
{
    assert_null(environment);
    return 1000 - call;
}

STAND_IN(struct latch *, tree_latch, (struct tree * tree))
{
    return (struct latch *)tree;
}

static struct latch *reading;

STAND_IN(void, latch_enter_reading, (struct latch * latch))
{
    assert_null(reading);
    reading = latch;
}

STAND_IN(void, latch_leave, (struct latch * latch))
{
    assert_ptr_equal(latch, reading);
    reading = NULL;
}

/* Two steps, the second from where the first came to. */
static enum status
step(const char *name, uint8_t *key, size_t *length, bool *end, struct reason *reason)
{
    assert_true(latched && locked);
    assert_int_equal(*length, *length == 0 ? 0 : 4);
    assert_true(*length == 0 || memcmp(key, "here", 4) == 0);
    TRY(noted(reason, name));
    *end = *length > 0;
    memcpy(key, "here", 4);
    *length = 4;
    return STATUS_OK;
}

STAND_IN(enum status, quads_merge_step,
         (struct quads * quads, enum quad_order order, struct transaction *transaction,
          uint8_t key[TREE_KEY_MAXIMUM], size_t *length, bool *end, struct reason *reason))
{
    static const char *const names[] = {"blocks 0", "blocks 1", "blocks 2",
                                        "blocks 3", "blocks 4", "blocks 5"};
    assert_null(quads);
    assert_ptr_equal(transaction, &transaction_place);
    return step(names[order], key, length, end, reason);
}

STAND_IN(enum status, tree_compact_step,
         (struct tree * tree, struct transaction *transaction, uint8_t key[TREE_KEY_MAXIMUM],
          size_t *length, bool *end, struct reason *reason))
{
    assert_ptr_equal(transaction, &transaction_place);
    const bool first = tree == (struct tree *)&trees[0];
    TRY(step(first ? "pages of one" : "pages of two", key, length, end, reason));
    if (first && *end) {
        make_file("one.7.db", "less");
    }
    return STATUS_OK;
}

/* ---- the system ---- */

ssize_t __real_read(int file, void *bytes, size_t most);
STAND_IN(ssize_t, read, (int file, void *bytes, size_t most))
{
    if (read_error != 0) {
        errno = read_error;
        return -1;
    }
    return __real_read(file, bytes, most < 4 ? most : 4);
}

STAND_IN(int, usleep, (useconds_t microseconds))
{
    assert_in_range(microseconds, 1, 1000000);
    (void)buf_append_string(&calls, "pause\n");
    return 0;
}

/* ---- backups ---- */

/* Appends the frames of a piece: "F name", "B bytes", "E", "W". */
static enum status
take_piece(void *context, struct slice bytes, struct reason *reason)
{
    struct codec_reader in = codec_reader_of(bytes);
    assert_ptr_equal(context, &partition);
    const uint8_t kind = codec_get_u8(&in);
    const bool has_bytes = kind == BACKUP_FILE || kind == BACKUP_BYTES;
    const struct slice argument = has_bytes ? codec_get_slice(&in) : SLICE("");
    assert_true(codec_at_end(&in));
    char name[64];
    snprintf(name, sizeof name, "%c%s%.*s", "?FBEW"[kind], has_bytes ? " " : "",
             SLICE_PRINT(argument));
    return noted(reason, name);
}

static enum status
back_up(void)
{
    buf_reset(&calls);
    call = 0;
    why.text[0] = '\0';
    const size_t before = open_descriptors();
    const enum status status = partition_backup(&partition, take_piece, &partition, &why);
    (void)buf_append_char(&calls, '\0');
    assert_false(held || staging);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(pthread_mutex_trylock(&partition.maintenance), 0);
    assert_int_equal(pthread_mutex_unlock(&partition.maintenance), 0);
    return status;
}

static void
a_backup_has_trees_then_the_log(void **state)
{
    (void)state;
    make_file("log.1", "first log");
    make_file("log.2", "");
    assert_int_equal(back_up(), STATUS_OK);
    assert_string_equal(calls.data, "hold staging\nhold log\nF one.7.db\npages\nB page0\npages\n"
                                    "B page1\npages\nB page2\nE\nF two.7.db\npages\nB page0\nE\n"
                                    "F log.1\nB firs\nB t lo\nB g\nE\nF log.2\nE\nlog files\nW\n");
    /* Whatever fails, what was held is let go of, and nothing comes after it. */
    const unsigned all = call;
    for (failing = 1; failing <= all; failing++) {
        failure = failing % 2 == 0 ? STATUS_FULL : STATUS_CORRUPT;
        assert_int_equal(back_up(), failure);
        assert_int_equal(call, failing);
        const size_t length = strlen(why.text);
        assert_true(length > 7 && strcmp(why.text + length - 7, " failed") == 0);
    }
    failing = 0;
    assert_int_equal(pthread_mutex_lock(&partition.maintenance), 0);
    assert_int_equal(partition_backup(&partition, take_piece, &partition, &why), STATUS_AGAIN);
    assert_non_null(strstr(why.text, "another backup or compact is under way"));
    assert_int_equal(pthread_mutex_unlock(&partition.maintenance), 0);
}

static void
a_log_that_cannot_be_read(void **state)
{
    char text[PATH + 64];
    (void)state;
    make_file("log.1", "log");
    assert_int_equal(back_up(), STATUS_SYSTEM);
    snprintf(text, sizeof text, "cannot read %s/log.2: No such file or directory", folder);
    assert_string_equal(why.text, text);
    assert_non_null(strstr(calls.data, "F log.1\nB log\nE\n"));
    read_error = EIO;
    assert_int_equal(back_up(), STATUS_SYSTEM);
    snprintf(text, sizeof text, "cannot read %s/log.1: Input/output error", folder);
    assert_string_equal(why.text, text);
    const size_t length = strlen(calls.data);
    assert_string_equal(calls.data + length - 8, "F log.1\n");
}

/* ---- compaction ---- */

static enum status
take_line(void *context, struct slice line, struct reason *reason)
{
    char text[128];
    assert_ptr_equal(context, &partition);
    assert_int_equal(line.at[line.length - 1], '\n');
    snprintf(text, sizeof text, "%.*s", (int)line.length - 1, line.at);
    return noted(reason, text);
}

static enum status
compact(void)
{
    buf_reset(&calls);
    call = 0;
    why.text[0] = '\0';
    make_file("one.7.db", "a longer one");
    const enum status status = partition_compact(&partition, &cancel, take_line, &partition, &why);
    (void)buf_append_char(&calls, '\0');
    assert_false(latched);
    assert_null(reading);
    assert_int_equal(pthread_mutex_trylock(&partition.maintenance), 0);
    assert_int_equal(pthread_mutex_unlock(&partition.maintenance), 0);
    assert_int_equal(pthread_mutex_trylock(&partition.writer), 0);
    assert_int_equal(pthread_mutex_unlock(&partition.writer), 0);
    return status;
}

static void
put_steps(struct buf *text, const char *name)
{
    for (int i = 0; i < 2; i++) {
        (void)buf_printf(text, "health\nbegin\n%s\ncommit\ncheckpoint\npause\n", name);
    }
}

static void
compaction_goes_from_blocks_to_pages_to_the_log(void **state)
{
    (void)state;
    struct buf expected;
    buf_init(&expected, TEXT_MOST);
    for (int order = 0; order < ORDER_COUNT; order++) {
        char name[16];
        snprintf(name, sizeof name, "blocks %d", order);
        put_steps(&expected, name);
    }
    put_steps(&expected, "pages of one");
    (void)buf_append_string(&expected, "one.db: 12 bytes before, 4 after\n");
    put_steps(&expected, "pages of two");
    (void)buf_append_string(&expected, "two.db: 0 bytes before, 0 after\ncheckpoint all\n"
                                       "all files: 1000 bytes before, 917 after\n");
    (void)buf_append_char(&expected, '\0');
    assert_int_equal(compact(), STATUS_OK);
    assert_string_equal(calls.data, expected.data);
    buf_release(&expected);
    /* Whatever fails, the writer, the readers and the next one are let in again. */
    const unsigned all = call;
    for (failing = 1; failing <= all; failing++) {
        failure = failing % 2 == 0 ? STATUS_FULL : STATUS_CORRUPT;
        assert_int_equal(compact(), failure);
        assert_int_equal(call, failing);
        const char *end = calls.data + strlen(calls.data);
        const bool aborted = strstr(calls.data, "abort\n") != NULL;
        assert_int_equal(aborted,
                         strncmp(why.text, "blocks", 6) == 0 || strncmp(why.text, "pages", 5) == 0);
        assert_string_equal(end - (aborted ? 8 : 2), aborted ? "!\nabort\n" : "!\n");
    }
    failing = 0;
    assert_int_equal(pthread_mutex_lock(&partition.maintenance), 0);
    assert_int_equal(partition_compact(&partition, &cancel, take_line, &partition, &why),
                     STATUS_AGAIN);
    assert_non_null(strstr(why.text, "another backup or compact is under way"));
    assert_int_equal(pthread_mutex_unlock(&partition.maintenance), 0);
}

static void
compaction_can_be_ended_between_steps(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 16; i++) {
        atomic_store(&cancel, false);
        cancel_at = i;
        assert_int_equal(compact(), i < 16 ? STATUS_CANCELLED : STATUS_OK);
        assert_true(i == 16 || strcmp(why.text, "compacting was ended") == 0);
    }
    atomic_store(&cancel, true);
    assert_int_equal(compact(), STATUS_CANCELLED);
    assert_string_equal(calls.data, "");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_backup_has_trees_then_the_log),
        CASE(a_log_that_cannot_be_read),
        CASE(compaction_goes_from_blocks_to_pages_to_the_log),
        CASE(compaction_can_be_ended_between_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
