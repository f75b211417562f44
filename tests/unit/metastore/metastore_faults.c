/* The metadata store when Berkeley DB fails or the disk fills: each call of the library fails once,
 * with each kind of error; the store says what it is, keeps what it confirmed, and knows whether it
 * can go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <db.h>
#include <errno.h>

#include "base/codec.h"
#include "base/memory.h"
#include "metastore/metastore_service.h"
#include "metastore/protocol.h"
#include "metastore/record.h"
#include "tests/unit/metastore/failing_database.h"
#include "tests/unit/metastore/metastore_model.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/scratch.h"

enum { MARGIN = 32 << 20, CHECKPOINT_MS = 600000, CHECKPOINT_BYTES = 7 << 20, OVERHEAD = 64 };

/* ---- the store ---- */

struct place {
    char folder[SCRATCH_SIZE];
    struct meta_store *store;
    uint64_t reserve, lock_wait_ms;
};

static enum status
open_store(struct place *place, struct reason *why)
{
    const struct meta_store_options options = {.folder = place->folder,
                                               .cache_bytes = 1 << 20,
                                               .checkpoint_bytes = CHECKPOINT_BYTES,
                                               .checkpoint_ms = CHECKPOINT_MS,
                                               .lock_wait_ms = place->lock_wait_ms,
                                               .disk_reserve = place->reserve};
    return meta_store_open(&place->store, &options, why);
}

static int
setup(void **state)
{
    static struct place place;
    place = (struct place){.reserve = 0};
    failing_database.calls = -1;
    failing_database.free = 0;
    assert_true(scratch_folder(place.folder, "test_metastore"));
    assert_int_equal(open_store(&place, NULL), STATUS_OK);
    *state = &place;
    return 0;
}

static int
teardown(void **state)
{
    struct place *place = *state;
    char command[SCRATCH_SIZE + 32];
    failing_database.calls = -1;
    failing_database.free = 0;
    if (place->store != NULL) {
        meta_store_close(place->store);
    }
    snprintf(command, sizeof command, "rm -rf %s", place->folder);
    assert_int_equal(system(command), 0);
    return 0;
}

static void
reopen(struct place *place)
{
    meta_store_close(place->store);
    assert_int_equal(open_store(place, NULL), STATUS_OK);
}

static enum status
put_value(struct place *place, const char *value, struct reason *why)
{
    const struct meta_pair pair = {SLICE("ua"), slice_string(value)};
    return meta_store_put(place->store, &pair, 1, why);
}

static bool
copy_value(void *context, size_t index, struct slice key, struct slice value)
{
    char *text = context;
    (void)index;
    (void)key;
    snprintf(text, 16, "%.*s", SLICE_PRINT(value));
    return true;
}

static enum status
get_value(struct place *place, char text[16], struct reason *why)
{
    const struct slice key = SLICE("ua");
    text[0] = '\0';
    return meta_store_get(place->store, &key, 1, copy_value, text, why);
}

static enum status
scan_value(struct place *place, char text[16], struct reason *why)
{
    text[0] = '\0';
    return meta_store_scan(place->store, SLICE("u"), (struct slice){NULL, 0}, copy_value, text,
                           why);
}

static void
test_a_start_tells_of_every_failed_call(void **state)
{
    struct place *place = *state;
    int failed = 0;
    assert_int_equal(put_value(place, "1", NULL), STATUS_OK);
    meta_store_close(place->store);
    failing_database.error = EIO;
    for (int at = 0;; at++) {
        struct reason why = {""};
        failing_database.calls = at;
        const enum status status = open_store(place, &why);
        if (status == STATUS_OK) {
            break;
        }
        assert_int_equal(status, STATUS_SYSTEM);
        assert_null(place->store);
        assert_non_null(strstr(why.text, ": cannot "));
        failed++;
    }
    failing_database.calls = -1;
    assert_true(failed >= 8);
    char text[16];
    assert_int_equal(get_value(place, text, NULL), STATUS_OK);
    assert_string_equal(text, "1");
}

/* Who has the lock is waited for, and so is nobody else. */
static void
test_locks_are_waited_for(void **state)
{
    static const struct {
        int error;
        unsigned times;
        uint64_t wait_ms;
        enum status status;
        const char *text;
    } cases[] = {{EIO, 1, 60000, STATUS_SYSTEM, "cannot lock"},
                 {EINTR, 2, 60000, STATUS_OK, ""},
                 {EWOULDBLOCK, 2, 60000, STATUS_OK, ""},
                 {EWOULDBLOCK, 1, 0, STATUS_DENIED, "is in use by another process"}};
    struct place *place = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reason why = {""};
        meta_store_close(place->store);
        failing_database.lock_error = cases[i].error;
        failing_database.locks_fail = cases[i].times;
        place->lock_wait_ms = cases[i].wait_ms;
        assert_int_equal(open_store(place, &why), cases[i].status);
        assert_non_null(strstr(why.text, cases[i].text));
        assert_int_equal(failing_database.locks_fail, 0);
    }
    place->lock_wait_ms = 0;
    assert_int_equal(open_store(place, NULL), STATUS_OK);
}

/* A put that fails has not happened. After a commit that fails only a new start tells. */
static void
test_a_put_tells_of_every_failed_call(void **state)
{
    struct place *place = *state;
    char text[16];
    int failed = 0;
    bool broken = false;
    assert_int_equal(put_value(place, "old", NULL), STATUS_OK);
    failing_database.error = EIO;
    for (int at = 0;; at++) {
        struct reason why = {""};
        failing_database.calls = at;
        const enum status status = put_value(place, "new", &why);
        failing_database.calls = -1;
        if (status == STATUS_OK) {
            break;
        }
        assert_int_equal(status, STATUS_SYSTEM);
        assert_non_null(strstr(why.text, ": cannot "));
        assert_false(broken);
        broken = meta_store_broken(place->store);
        assert_int_equal(get_value(place, text, NULL), STATUS_OK);
        assert_string_equal(text, "old");
        failed++;
        if (broken) {
            reopen(place);
        }
    }
    assert_int_equal(failed, 3); /* begin, put, commit */
    assert_true(broken);
    assert_int_equal(get_value(place, text, NULL), STATUS_OK);
    assert_string_equal(text, "new");
}

static void
test_errors_are_told_apart(void **state)
{
    struct place *place = *state;
    static const struct {
        int error;
        uint64_t free;
        enum status status;
        bool broken;
        const char *text;
    } cases[] = {
        {EIO, 0, STATUS_SYSTEM, false, "Input/output error"},
        {EINVAL, 0, STATUS_CORRUPT, false, "is damaged"},
        {DB_PAGE_NOTFOUND, 0, STATUS_CORRUPT, false, "is damaged"},
        {DB_VERIFY_BAD, 0, STATUS_CORRUPT, false, "is damaged"},
        {DB_CHKSUM_FAIL, 0, STATUS_CORRUPT, false, "is damaged"},
        {DB_RUNRECOVERY, MARGIN / 2, STATUS_CORRUPT, true, "is damaged"},
        {DB_RUNRECOVERY, MARGIN / 2 - 1, STATUS_FULL, true, "the disk is full"},
        {ENOSPC, 0, STATUS_FULL, true, "the disk is full"},
        {EDQUOT, 0, STATUS_FULL, true, "the disk is full"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int at = 0; at < 4; at++) { /* two calls of a get, two of a scan */
            char text[16];
            struct reason why = {""};
            failing_database.error = cases[i].error;
            failing_database.free = cases[i].free;
            failing_database.calls = at % 2;
            assert_int_equal(at < 2 ? get_value(place, text, &why) : scan_value(place, text, &why),
                             cases[i].status);
            assert_non_null(strstr(why.text, cases[i].text));
            assert_int_equal(meta_store_broken(place->store), cases[i].broken);
            failing_database.calls = -1;
            failing_database.free = 0;
            reopen(place);
        }
    }
}

/* ---- puts of any size ---- */

enum { MANY = 3000, LONGEST = 3000, HUGE = 3 << 20, KEY = 8 };

static size_t
length_of(size_t number)
{
    return number == MANY / 2 ? HUGE : number * 7919 % (LONGEST + 1);
}

static bool
check_value(void *context, size_t index, struct slice key, struct slice value)
{
    size_t *next = context;
    char expected[KEY + 1];
    assert_int_equal(index, *next);
    snprintf(expected, sizeof expected, "u%07zu", *next);
    assert_true(slice_is(key, expected));
    assert_int_equal(value.length, length_of(*next));
    for (size_t i = 0; i < value.length; i++) {
        assert_int_equal((uint8_t)value.at[i], (uint8_t)(i + *next));
    }
    ++*next;
    return true;
}

/* Whatever the pairs of one put are, all of them are there, in few calls of the library. */
static void
test_puts_of_any_size(void **state)
{
    struct place *place = *state;
    struct reason why = {""};
    struct meta_pair *pairs = memory_zero(MANY, sizeof *pairs);
    char(*keys)[KEY + 1] = memory_zero(MANY, sizeof *keys);
    uint8_t *bytes = memory_alloc(HUGE + 256);
    size_t next = 0;
    for (size_t i = 0; i < HUGE + 256; i++) {
        bytes[i] = (uint8_t)i;
    }
    for (size_t i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "u%07zu", i);
        pairs[i] = (struct meta_pair){slice_string(keys[i]),
                                      slice_of((char *)bytes + i % 256, length_of(i))};
    }
    if (meta_store_put(place->store, pairs, MANY, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    assert_int_equal(meta_store_scan(place->store, SLICE("u"), (struct slice){NULL, 0}, check_value,
                                     &next, &why),
                     STATUS_OK);
    assert_int_equal(next, MANY);
    free(bytes);
    free(keys);
    free(pairs);
}

static void
test_damaged_numbers_of_its_own(void **state)
{
    struct place *place = *state;
    static const struct {
        struct meta_pair pair;
        enum status status;
        const char *text;
    } cases[] = {
        {{{"mepoch", 6}, {"\0\0\0", 3}}, STATUS_CORRUPT, "the number mepoch is damaged"},
        {{{"mepoch", 6}, {"\0\0\0\0\0\0\0\7", 8}}, STATUS_OK, ""},
        {{{"mformat", 7}, {"\0\0\0\0\0\0\0\3", 8}}, STATUS_UNSUPPORTED, "has format 3"},
        {{{"mformat", 7}, {"\0\0\0\0\0\0\0\1", 8}}, STATUS_UNSUPPORTED, "has format 1"},
        {{{"mformat", 7}, {"\0\0\0\0\0\0\0\2", 8}}, STATUS_OK, ""},
        {{{"mformat", 7}, {"\0\0\0\0\0\0\0\0", 8}}, STATUS_UNSUPPORTED, "has format 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char command[SCRATCH_SIZE + 32];
        struct reason why = {""};
        assert_int_equal(meta_store_put(place->store, &cases[i].pair, 1, NULL), STATUS_OK);
        meta_store_close(place->store);
        assert_int_equal(open_store(place, &why), cases[i].status);
        assert_non_null(strstr(why.text, cases[i].text));
        if (place->store == NULL) {
            snprintf(command, sizeof command, "rm -rf %s/*", place->folder);
            assert_int_equal(system(command), 0);
            assert_int_equal(open_store(place, NULL), STATUS_OK);
        }
    }
}

/* What must stay free: the reserve, the margin, and four times what is written. */
static void
test_room_is_kept_to_the_byte(void **state)
{
    struct place *place = *state;
    struct reason why = {""};
    const uint64_t bytes = strlen("ua") + strlen("1") + OVERHEAD;
    place->reserve = 100 << 20;
    reopen(place);
    const uint64_t least = place->reserve + MARGIN + 4 * bytes;
    failing_database.free = least;
    assert_int_equal(put_value(place, "1", &why), STATUS_OK);
    failing_database.free = least - 1;
    assert_int_equal(put_value(place, "2", &why), STATUS_FULL);
    assert_non_null(strstr(why.text, "only 132 MB are free; 32 MB and metastore.disk_reserve "
                                     "(100 MB) must stay"));
    assert_false(meta_store_broken(place->store));
    failing_database.free = least;
    assert_int_equal(put_value(place, "3", &why), STATUS_OK); /* looked at again at once */
}

static uint64_t
told_free(struct place *place)
{
    struct meta_store_stats now;
    meta_store_stats(place->store, &now);
    return now.disk_free;
}

/* A disk with much room is looked at once a second; what is written meanwhile is reckoned. */
static void
test_disk_is_seldom_looked_at(void **state)
{
    struct place *place = *state;
    const uint64_t bytes = strlen("ua") + strlen("1") + OVERHEAD;
    place->reserve = 100 << 20;
    reopen(place);
    const uint64_t much = 2 * place->reserve + 4 * (uint64_t)MARGIN;
    failing_database.free = much + 2 * bytes;
    failing_database.looks = 0;
    assert_int_equal(put_value(place, "1", NULL), STATUS_OK);
    assert_int_equal(failing_database.looks, 1);
    failing_database.free = 5 * much;
    assert_int_equal(told_free(place), much);
    assert_int_equal(failing_database.looks, 1);
    assert_int_equal(put_value(place, "2", NULL), STATUS_OK);
    assert_int_equal(failing_database.looks, 1);
    assert_int_equal(told_free(place), 5 * much); /* less than much: looked at */
    assert_int_equal(failing_database.looks, 2);
    failing_database.free = 4 * much;
    clock_move(1000);
    assert_int_equal(told_free(place), 4 * much);
    assert_int_equal(failing_database.looks, 3);
}

static void
test_checkpoints_when_they_are_due(void **state)
{
    struct place *place = *state;
    struct reason why = {""};
    int wait_ms = 0;
    failing_database.checkpoints = 0;
    assert_int_equal(meta_store_tick(place->store, &wait_ms, &why), STATUS_OK);
    assert_true(wait_ms > 0 && wait_ms <= CHECKPOINT_MS);
    assert_int_equal(failing_database.checkpoints, 1);
    assert_int_equal(failing_database.kilobytes, CHECKPOINT_BYTES >> 10);
    clock_move(CHECKPOINT_MS);
    failing_database.calls = 0;
    failing_database.error = EIO;
    assert_int_equal(meta_store_tick(place->store, &wait_ms, &why), STATUS_SYSTEM);
    assert_int_equal(meta_store_tick(place->store, &wait_ms, &why), STATUS_OK); /* still due */
    assert_int_equal(failing_database.kilobytes, 0);
    assert_int_equal(wait_ms, -1);
    assert_int_equal(failing_database.checkpoints, 3);
    assert_int_equal(meta_store_tick(place->store, &wait_ms, &why), STATUS_OK);
    assert_int_equal(failing_database.checkpoints, 3); /* nothing was written since */
    assert_int_equal(wait_ms, -1);
    assert_int_equal(put_value(place, "1", NULL), STATUS_OK);
    assert_int_equal(meta_store_tick(place->store, &wait_ms, &why), STATUS_OK);
    assert_int_equal(failing_database.checkpoints, 4);
    assert_true(wait_ms > 0 && wait_ms <= CHECKPOINT_MS);
}

/* ---- the service over it ---- */

/* A value that is no record is named to whoever asks, and to the one whose put it is; others go on.
 */
static void
test_damaged_records_are_named(void **state)
{
    struct place *place = *state;
    struct reason why = {""}, reasons[2] = {{""}, {""}};
    enum status statuses[2];
    struct meta_service *service;
    struct buf reply;
    const struct slice puts[2] = {SLICE("\x01\x02ua\x02\x10\x01"), SLICE("\x01\x02uz\x02\x10\x01")};
    buf_init(&reply, METASTORE_REPLY_MAXIMUM);
    assert_int_equal(put_value(place, "\xff no record", NULL), STATUS_OK);
    assert_int_equal(meta_service_open(&service, place->store, NULL, &why), STATUS_OK);
    assert_int_equal(meta_service_read(service, METASTORE_GET, SLICE("\x01\x02ua"), &reply, &why),
                     STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "the record of ua is damaged"));
    assert_int_equal(
        meta_service_read(service, METASTORE_SCAN, SLICE("\x01u\x00\x05"), &reply, &why),
        STATUS_CORRUPT);
    assert_int_equal(meta_service_write(service, puts, 2, statuses, reasons, &why), STATUS_OK);
    assert_int_equal(statuses[0], STATUS_CORRUPT);
    assert_int_equal(statuses[1], STATUS_OK);
    assert_non_null(strstr(reasons[0].text, "the record of ua is damaged"));
    assert_int_equal(meta_service_read(service, METASTORE_GET, SLICE("\x01\x02uz"), &reply, &why),
                     STATUS_OK);
    assert_int_equal(meta_service_read(service, METASTORE_ARCHIVE, SLICE(""), &reply, &why),
                     STATUS_NOT_FOUND);
    meta_service_free(service);
    buf_release(&reply);
}

/* What the store cannot read is nobody's empty answer. */
static void
test_failed_reads_are_told(void **state)
{
    struct place *place = *state;
    struct reason why = {""}, reason = {""};
    enum status status;
    struct meta_service *service;
    struct buf reply;
    const struct slice put = SLICE("\x01\x02ua\x02\x10\x01");
    buf_init(&reply, METASTORE_REPLY_MAXIMUM);
    failing_database.error = EIO;
    failing_database.calls = 0;
    assert_int_equal(meta_service_open(&service, place->store, NULL, &why), STATUS_SYSTEM);
    assert_null(service);
    assert_int_equal(meta_service_open(&service, place->store, NULL, &why), STATUS_OK);
    for (int at = 0; at < 2; at++) {
        failing_database.calls = at;
        assert_int_equal(
            meta_service_read(service, METASTORE_GET, SLICE("\x01\x02ua"), &reply, &why),
            STATUS_SYSTEM);
        failing_database.calls = at;
        assert_int_equal(
            meta_service_read(service, METASTORE_SCAN, SLICE("\x01u\x00\x05"), &reply, &why),
            STATUS_SYSTEM);
        failing_database.calls = at;
        assert_int_equal(meta_service_write(service, &put, 1, &status, &reason, &why),
                         STATUS_SYSTEM);
        assert_int_equal(status, STATUS_SYSTEM);
        assert_non_null(strstr(reason.text, "cannot read"));
    }
    meta_service_free(service);
    buf_release(&reply);
}

int
metastore_faults_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_a_start_tells_of_every_failed_call),
        CASE(test_locks_are_waited_for),
        CASE(test_a_put_tells_of_every_failed_call),
        CASE(test_errors_are_told_apart),
        CASE(test_puts_of_any_size),
        CASE(test_damaged_numbers_of_its_own),
        CASE(test_room_is_kept_to_the_byte),
        CASE(test_disk_is_seldom_looked_at),
        CASE(test_checkpoints_when_they_are_due),
        CASE(test_damaged_records_are_named),
        CASE(test_failed_reads_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
