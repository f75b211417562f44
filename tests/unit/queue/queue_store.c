/* Berkeley DB behind the queue (queue/storage/store.c): how it is opened, each call of the library
 * that fails once, with each kind of error, when it writes checkpoints, and what room it tells of.
 */
#include <errno.h>

#include "base/codec.h"
#include "queue/storage/store.h"
#include "queue/storage/store_batch.h"
#include "tests/unit/metastore/failing_database.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

#include <db.h>
#include <sys/stat.h>

enum {
    CHECKPOINT_MS = 5000,
    PAUSE_MS = 1000, /* after a checkpoint that failed */
    RECOVERY_WANTS = 16 << 20,
    CACHE = 1 << 20,
    MANY = 1 << 30 /* bytes of log between checkpoints: never so much */
};

struct place {
    char folder[SCRATCH_SIZE];
    struct store_options options;
    struct store *store;
    enum store_point strikes_at;
    int strike; /* errno; 0: none */
};

static int
strike(void *context, enum store_point point)
{
    const struct place *place = context;
    return point == place->strikes_at ? place->strike : 0;
}

static void
open_place(struct place *place)
{
    struct reason why = {""};
    if (store_open(&place->store, &place->options, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

static void
close_place(struct place *place)
{
    store_close(place->store);
    place->store = NULL;
}

static void
empty_place(struct place *place)
{
    char command[SCRATCH_SIZE + 32];
    snprintf(command, sizeof command, "rm -rf %s/*", place->folder);
    assert_int_equal(system(command), 0);
}

static int
setup(void **state)
{
    static struct place place;
    place = (struct place){.strike = 0};
    assert_true(scratch_folder(place.folder, "test_queue"));
    place.options = (struct store_options){.folder = place.folder,
                                           .cache_bytes = CACHE,
                                           .checkpoint_bytes = MANY,
                                           .checkpoint_ms = CHECKPOINT_MS,
                                           .fault = strike,
                                           .fault_context = &place};
    failing_database = (struct failing_database){.calls = -1};
    clock_stop();
    *state = &place;
    return 0;
}

static int
teardown(void **state)
{
    struct place *place = *state;
    failing_database = (struct failing_database){.calls = -1};
    store_close(place->store);
    empty_place(place);
    clock_go();
    return rmdir(place->folder);
}

/* ---- what is put and read ---- */

/* "+key=value" puts, "-key" removes. */
static enum status
apply(struct place *place, const char *const *changes, size_t n, struct reason *why)
{
    struct store_batch batch;
    store_batch_init(&batch);
    for (size_t i = 0; i < n; i++) {
        const char *text = changes[i] + 1;
        const struct slice whole = slice_string(text);
        const size_t key = slice_find(whole, '=');
        if (changes[i][0] == '-') {
            store_batch_remove(&batch, TREE_PEERS, whole);
        } else {
            store_batch_put(&batch, TREE_PEERS, slice_of(text, key),
                            slice_of(text + key + 1, whole.length - key - 1));
        }
    }
    store_batch_sort(&batch);
    const enum status status = store_apply(
        place->store, (const struct store_operation *const *)batch.operations, batch.count, why);
    store_batch_release(&batch);
    return status;
}

static enum status
put(struct place *place, const char *change, struct reason *why)
{
    return apply(place, &change, 1, why);
}

static enum status
get(struct place *place, const char *key, char text[16], struct reason *why)
{
    struct slice value = {"", 0};
    const enum status status = store_get(place->store, TREE_PEERS, slice_string(key), &value, why);
    snprintf(text, 16, "%.*s", SLICE_PRINT(value));
    return status;
}

static bool
append_row(void *context, struct slice key, struct slice value)
{
    struct buf *text = context;
    buf_printf(text, "%.*s=%.*s ", SLICE_PRINT(key), SLICE_PRINT(value));
    return !slice_is(value, "last");
}

static enum status
scan(struct place *place, const char *from, size_t within, struct buf *text, struct reason *why)
{
    buf_reset(text);
    const enum status status = store_scan_within(place->store, TREE_PEERS, slice_string(from),
                                                 within, append_row, text, why);
    buf_append_char(text, '\0');
    return status;
}

static void
check_rows(struct place *place, const char *expected)
{
    struct buf text;
    buf_init(&text, 1000);
    assert_int_equal(scan(place, "", 0, &text, NULL), STATUS_OK);
    assert_string_equal(text.data, expected);
    buf_release(&text);
}

static void
test_scans_begin_and_end_where_they_are_told(void **state)
{
    static const char *const rows[] = {"+a=1", "+ab=2", "+abc=3", "+ac=4", "+b=last", "+c=6"};
    static const struct {
        const char *from;
        size_t within;
        const char *expected;
    } cases[] = {
        {"", 0, "a=1 ab=2 abc=3 ac=4 b=last "},
        {"ab", 0, "ab=2 abc=3 ac=4 b=last "},
        {"aba", 0, "abc=3 ac=4 b=last "},
        {"ab", 1, "ab=2 abc=3 ac=4 "},
        {"ab", 2, "ab=2 abc=3 "},
        {"abc", 3, "abc=3 "},
        {"abd", 3, ""},
        {"c", 1, "c=6 "},
        {"d", 0, ""},
    };
    struct place *place = *state;
    struct buf text;
    buf_init(&text, 1000);
    open_place(place);
    assert_int_equal(apply(place, rows, 6, NULL), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(scan(place, cases[i].from, cases[i].within, &text, NULL), STATUS_OK);
        assert_string_equal(text.data, cases[i].expected);
    }
    buf_release(&text);
}

static void
test_removing_what_is_not_there_is_nothing(void **state)
{
    static const char *const changes[] = {"+a=2", "-b", "-c"};
    struct place *place = *state;
    open_place(place);
    assert_int_equal(apply(place, (const char *const[]){"+a=1", "+b=1"}, 2, NULL), STATUS_OK);
    assert_int_equal(apply(place, changes, 3, NULL), STATUS_OK);
    check_rows(place, "a=2 ");
}

/* ---- opening ---- */

static void
test_it_is_opened_as_its_options_say(void **state)
{
    enum { MIB = 1 << 20 };
    static const struct {
        uint64_t checkpoint_bytes;
        uint32_t log_file;
    } cases[] = {{0, MIB},
                 {4 * MIB, MIB},
                 {4 * MIB + 64, MIB + 16},
                 {16 * MIB - 64, 4 * MIB - 16},
                 {16 * MIB, 4 * MIB},
                 {20 * MIB, 4 * MIB}};
    struct place *place = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        place->options.checkpoint_bytes = cases[i].checkpoint_bytes;
        place->options.cache_bytes = ((uint64_t)5 << 30) + 3 * MIB;
        place->options.sync = i % 2 == 0;
        failing_database.error = EIO; /* of opening itself: there is no need for so much memory */
        failing_database.calls = 1;
        assert_int_equal(store_open(&place->store, &place->options, NULL), STATUS_SYSTEM);
        assert_int_equal(failing_database.cache_bytes, place->options.cache_bytes);
        assert_int_equal(failing_database.log_file_bytes, cases[i].log_file);
        assert_int_equal(failing_database.log_buffer_bytes, cases[i].log_file / 16);
        assert_int_equal(failing_database.writes_without_sync, !place->options.sync);
        assert_true(failing_database.removes_logs);
    }
    place->options.cache_bytes = CACHE;
    open_place(place);
    assert_int_equal(failing_database.page_bytes, 4096);
}

static void
test_a_start_tells_of_every_failed_call(void **state)
{
    struct place *place = *state;
    int failed = 0;
    open_place(place);
    assert_int_equal(put(place, "+a=1", NULL), STATUS_OK);
    close_place(place);
    failing_database.error = EIO;
    for (int at = 0;; at++) {
        struct reason why = {""};
        failing_database.calls = at;
        const enum status status = store_open(&place->store, &place->options, &why);
        if (status == STATUS_OK) {
            break;
        }
        assert_int_equal(status, STATUS_SYSTEM);
        assert_null(place->store);
        assert_non_null(strstr(why.text, place->folder));
        assert_non_null(strstr(why.text, "Input/output error"));
        failed++;
    }
    failing_database.calls = -1;
    assert_int_equal(failed, 2 + 2 * TREE_COUNT + 2); /* the environment, trees, the epoch */
    check_rows(place, "a=1 ");
}

/* A disk with little room is the likely reason why recovery fails. */
static void
test_recovery_that_fails_names_a_full_disk(void **state)
{
    struct place *place = *state;
    for (int lacking = 0; lacking < 2; lacking++) {
        struct reason why = {""};
        failing_database.error = DB_RUNRECOVERY;
        failing_database.calls = 1;
        failing_database.free = (uint64_t)RECOVERY_WANTS - (uint64_t)lacking;
        assert_int_equal(store_open(&place->store, &place->options, &why),
                         lacking ? STATUS_FULL : STATUS_CORRUPT);
        assert_non_null(strstr(why.text, lacking ? "the disk has only 16383 KB left" : "damaged"));
    }
    failing_database.no_disk = true;
    failing_database.calls = 1;
    assert_int_equal(store_open(&place->store, &place->options, NULL), STATUS_CORRUPT);
}

static void
test_a_lock_that_cannot_be_opened_is_named(void **state)
{
    struct place *place = *state;
    struct reason why = {""};
    char path[SCRATCH_SIZE + 8];
    snprintf(path, sizeof path, "%s/lock", place->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(store_open(&place->store, &place->options, &why), STATUS_SYSTEM);
    assert_null(place->store);
    assert_non_null(strstr(why.text, path));
}

/* Who has the lock is waited for, and so is nobody else. */
static void
test_locks_are_waited_for(void **state)
{
    static const struct {
        int error;
        unsigned times;
        uint32_t wait_ms;
        enum status status;
        const char *text;
    } cases[] = {{EIO, 1, 5, STATUS_SYSTEM, "cannot lock"},
                 {EINTR, 2, 5, STATUS_OK, ""},
                 {EWOULDBLOCK, 2, 5, STATUS_OK, ""},
                 {EWOULDBLOCK, 1, 0, STATUS_DENIED, "is in use by another process"}};
    struct place *place = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reason why = {""};
        failing_database.lock_error = cases[i].error;
        failing_database.locks_fail = cases[i].times;
        place->options.lock_wait_ms = cases[i].wait_ms;
        assert_int_equal(store_open(&place->store, &place->options, &why), cases[i].status);
        assert_non_null(strstr(why.text, cases[i].text));
        assert_int_equal(failing_database.locks_fail, 0);
        close_place(place);
    }
}

static void
test_epochs_only_grow(void **state)
{
    struct place *place = *state;
    const struct store_operation none = {.tree = TREE_PEERS};
    const struct store_operation *const operations[] = {&none};
    struct reason why = {""};
    for (uint64_t epoch = 1; epoch < 4; epoch++) {
        open_place(place);
        assert_int_equal(store_epoch(place->store), epoch);
        assert_int_equal(store_apply(place->store, operations, 0, &why), STATUS_OK);
        close_place(place);
    }
}

/* ---- errors ---- */

static void
test_errors_are_told_apart(void **state)
{
    static const struct {
        int error;
        enum status status;
        bool broken;
        const char *text;
    } cases[] = {
        {EIO, STATUS_SYSTEM, false, "Input/output error"},
        {EINVAL, STATUS_CORRUPT, false, "is damaged"},
        {DB_PAGE_NOTFOUND, STATUS_CORRUPT, false, "is damaged"},
        {DB_VERIFY_BAD, STATUS_CORRUPT, false, "is damaged"},
        {DB_CHKSUM_FAIL, STATUS_CORRUPT, false, "is damaged"},
        {DB_RUNRECOVERY, STATUS_CORRUPT, true, "is damaged"},
        {ENOSPC, STATUS_FULL, false, "no room on the disk"},
    };
    struct place *place = *state;
    struct buf text;
    char value[16];
    buf_init(&text, 1000);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open_place(place);
        assert_int_equal(put(place, "+a=1", NULL), STATUS_OK);
        for (int at = 0; at < 5; at++) { /* of a get, and of a scan with its end and its close */
            struct reason why = {""};
            failing_database.error = cases[i].error;
            failing_database.calls = at == 0 ? 0 : at - 1;
            assert_int_equal(at == 0 ? get(place, "a", value, &why)
                                     : scan(place, "", 0, &text, &why),
                             cases[i].status);
            assert_non_null(strstr(why.text, cases[i].text));
            assert_non_null(strstr(why.text, place->folder));
            failing_database.calls = -1;
        }
        assert_int_equal(store_broken(place->store), cases[i].broken);
        const unsigned checkpoints = failing_database.checkpoints;
        close_place(place);
        assert_int_equal(failing_database.checkpoints, checkpoints + !cases[i].broken);
    }
    buf_release(&text);
}

/* What fails has not happened, and the next goes on; but after a commit that failed, or could not
 * be undone, only a new start tells, and nothing is written before. */
static void
test_a_write_tells_of_every_failed_call(void **state)
{
    static const char *const changes[] = {"+a=new", "-b"};
    struct place *place = *state;
    int failed = 0;
    open_place(place);
    assert_int_equal(apply(place, (const char *const[]){"+a=old", "+b=old"}, 2, NULL), STATUS_OK);
    failing_database.error = EIO;
    for (int at = 0; at < 8; at++) {
        struct reason why = {""};
        const bool undoes = at < 4;
        failing_database.aborts_fail = !undoes;
        failing_database.calls = at % 4; /* begin, put, remove, commit */
        const enum status status = apply(place, changes, 2, &why);
        failing_database.calls = -1;
        failing_database.aborts_fail = false;
        const bool broken = at % 4 == 3 || (!undoes && at % 4 > 0);
        assert_int_equal(status,
                         !undoes && at % 4 > 0 && at % 4 < 3 ? STATUS_CORRUPT : STATUS_SYSTEM);
        assert_int_equal(store_broken(place->store), broken);
        assert_non_null(strstr(why.text, "cannot write"));
        if (broken) {
            assert_int_equal(put(place, "+c=1", &why), STATUS_CORRUPT);
            close_place(place);
            open_place(place);
        }
        check_rows(place, "a=old b=old ");
        failed++;
    }
    assert_int_equal(failed, 8);
    assert_int_equal(apply(place, changes, 2, NULL), STATUS_OK);
    check_rows(place, "a=new ");
}

static void
test_faults_strike_before_and_after_a_commit(void **state)
{
    struct place *place = *state;
    struct reason why = {""};
    open_place(place);
    place->strikes_at = STORE_BEFORE_COMMIT;
    place->strike = ENOSPC;
    assert_int_equal(put(place, "+a=1", &why), STATUS_FULL);
    assert_non_null(strstr(why.text, "no room on the disk"));
    check_rows(place, "");
    place->strikes_at = STORE_AFTER_COMMIT;
    assert_int_equal(put(place, "+a=2", &why), STATUS_FULL);
    check_rows(place, "a=2 ");
    assert_false(store_broken(place->store));
}

/* ---- checkpoints and room ---- */

static uint64_t
told_room(struct place *place)
{
    uint64_t bytes = 0;
    assert_int_equal(store_room(place->store, &bytes, NULL), STATUS_OK);
    return bytes;
}

static enum status
tick(struct place *place, uint64_t *wait_ms)
{
    return store_tick(place->store, wait_ms, NULL);
}

/* Room is what the disk has, less what was written since the last checkpoint, the cache at most. */
static void
test_room_is_less_what_is_promised(void **state)
{
    enum { FREE = 100 << 20 };
    struct place *place = *state;
    struct reason why = {""};
    uint64_t room;
    failing_database.free = FREE;
    open_place(place);
    assert_int_equal(told_room(place), FREE);
    assert_int_equal(put(place, "+a=1", NULL), STATUS_OK);
    const uint64_t once = FREE - told_room(place);
    assert_in_range(once, 1, 4096);
    assert_int_equal(put(place, "+b=1", NULL), STATUS_OK);
    const uint64_t written = FREE - told_room(place);
    assert_in_range(written, once + 1, 2 * once);
    failing_database.free = written + 1;
    assert_int_equal(told_room(place), 1);
    failing_database.free = written - 1;
    assert_int_equal(told_room(place), 0);
    failing_database.no_disk = true;
    assert_int_equal(store_room(place->store, &room, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot ask for the room on the disk of "));
    failing_database.no_disk = false;
    failing_database.free = FREE;
    clock_move(CHECKPOINT_MS);
    assert_int_equal(tick(place, &room), STATUS_OK);
    assert_int_equal(told_room(place), FREE); /* it is written */
    assert_int_equal(put(place, "+c=1", NULL), STATUS_OK);
    close_place(place);
    place->options.cache_bytes = 100; /* the library takes more */
    open_place(place);
    assert_int_equal(put(place, "+d=1", NULL), STATUS_OK);
    assert_int_equal(told_room(place), FREE - 100);
}

static void
test_checkpoints_come_by_time(void **state)
{
    struct place *place = *state;
    uint64_t wait_ms = 0;
    open_place(place);
    failing_database.checkpoints = 0;
    clock_move(2 * CHECKPOINT_MS);
    assert_int_equal(tick(place, &wait_ms), STATUS_OK);
    assert_int_equal(failing_database.checkpoints, 0); /* nothing was written */
    assert_int_equal(wait_ms, CHECKPOINT_MS);
    assert_int_equal(put(place, "+a=1", NULL), STATUS_OK);
    assert_int_equal(tick(place, &wait_ms), STATUS_OK);
    assert_int_equal(failing_database.checkpoints, 1);
    assert_int_equal(put(place, "+a=2", NULL), STATUS_OK);
    clock_move(CHECKPOINT_MS - 1);
    assert_int_equal(tick(place, &wait_ms), STATUS_OK);
    assert_int_equal(failing_database.checkpoints, 1);
    assert_int_equal(wait_ms, 1);
    clock_move(1);
    failing_database.error = EIO;
    failing_database.calls = 0;
    assert_int_equal(tick(place, &wait_ms), STATUS_SYSTEM);
    assert_int_equal(failing_database.checkpoints, 2);
    assert_int_equal(tick(place, &wait_ms), STATUS_OK); /* not at once again */
    assert_int_equal(failing_database.checkpoints, 2);
    assert_int_equal(wait_ms, CHECKPOINT_MS);
    clock_move(CHECKPOINT_MS);
    assert_int_equal(tick(place, &wait_ms), STATUS_OK);
    assert_int_equal(failing_database.checkpoints, 3);
    clock_move(CHECKPOINT_MS);
    assert_int_equal(tick(place, &wait_ms), STATUS_OK);
    assert_int_equal(failing_database.checkpoints, 3); /* nothing was written since */
}

/* And by bytes of log: `written` of them after one put, as the room that is told says. */
static void
test_checkpoints_come_by_bytes(void **state)
{
    struct place *place = *state;
    uint64_t wait_ms = 0;
    failing_database.free = 1 << 30;
    open_place(place);
    assert_int_equal(put(place, "+a=1", NULL), STATUS_OK);
    const uint64_t written = (1 << 30) - told_room(place);
    for (uint64_t more = 0; more < 2; more++) {
        close_place(place);
        empty_place(place);
        place->options.checkpoint_bytes = written + more;
        open_place(place);
        failing_database.checkpoints = 0;
        assert_int_equal(put(place, "+a=1", NULL), STATUS_OK);
        assert_int_equal((1 << 30) - told_room(place), written);
        assert_int_equal(tick(place, &wait_ms), STATUS_OK);
        assert_int_equal(failing_database.checkpoints, 1 - more);
    }
    assert_int_equal(put(place, "+a=2", NULL), STATUS_OK);
    place->strikes_at = STORE_CHECKPOINT;
    place->strike = ENOSPC;
    assert_int_equal(tick(place, &wait_ms), STATUS_FULL);
    place->strike = 0;
    assert_int_equal(tick(place, &wait_ms), STATUS_OK);
    assert_int_equal(wait_ms, PAUSE_MS); /* not at once again */
    clock_move(PAUSE_MS - 1);
    assert_int_equal(tick(place, &wait_ms), STATUS_OK);
    assert_int_equal(failing_database.checkpoints, 0);
    clock_move(1);
    assert_int_equal(tick(place, &wait_ms), STATUS_OK);
    assert_int_equal(failing_database.checkpoints, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(put(place, "+a=3", NULL), STATUS_OK);
    }
    assert_int_equal(tick(place, &wait_ms), STATUS_OK);
    assert_int_equal(failing_database.checkpoints, 2); /* the failure is forgotten */
}

int
queue_store_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_scans_begin_and_end_where_they_are_told),
        CASE(test_removing_what_is_not_there_is_nothing),
        CASE(test_it_is_opened_as_its_options_say),
        CASE(test_a_start_tells_of_every_failed_call),
        CASE(test_recovery_that_fails_names_a_full_disk),
        CASE(test_a_lock_that_cannot_be_opened_is_named),
        CASE(test_locks_are_waited_for),
        CASE(test_epochs_only_grow),
        CASE(test_errors_are_told_apart),
        CASE(test_a_write_tells_of_every_failed_call),
        CASE(test_faults_strike_before_and_after_a_commit),
        CASE(test_room_is_less_what_is_promised),
        CASE(test_checkpoints_come_by_time),
        CASE(test_checkpoints_come_by_bytes),
    };
    return cmocka_run_group_tests_name("queue store", tests, NULL, NULL);
}
