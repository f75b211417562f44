/* Versions that clients keep (index/serve/sessions.c), the answer about a partition's nodes
 * (index/serve/answer_keys.c) and what a service's options become (index/serve/index_options.c).
 * The linker puts the functions below in the place of the partition, of the cursor and the clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/options/opt.h"
#include "index/protocol/triples_request.h"
#include "index/serve/answer_keys.h"
#include "index/serve/index_service.h"
#include "index/serve/sessions.h"
#include "index/write/partition_keys.h"

enum { SESSIONS = 3, IDLE_MS = 300000 };

static max_align_t places[2];
static struct partition *const the_partition = (struct partition *)(void *)&places[0];
static struct cursor *const the_cursor = (struct cursor *)(void *)&places[1];
static struct reason why;
static uint64_t now_ms;

uint64_t __wrap_clock_monotonic_ms(void);
uint64_t
__wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

/* ---- readers: versions that count on ---- */

struct partition_reader {
    unsigned version, open; /* open: it, and those that share its version */
};
static struct partition_reader versions[100];
static unsigned version_count, open_readers;
static enum status reader_status;

enum status __wrap_partition_reader_open(struct partition_reader **reader,
                                         struct partition *partition, struct reason *reason);
enum status
__wrap_partition_reader_open(struct partition_reader **reader, struct partition *partition,
                             struct reason *reason)
{
    assert_ptr_equal(partition, the_partition);
    if (reader_status != STATUS_OK) {
        return status_fail(reason, reader_status, "no reader");
    }
    *reader = &versions[version_count];
    **reader = (struct partition_reader){version_count++, 1};
    open_readers++;
    return STATUS_OK;
}

struct partition_reader *__wrap_partition_reader_share(const struct partition_reader *other);
struct partition_reader *
__wrap_partition_reader_share(const struct partition_reader *other)
{
    assert_true(other->open > 0);
    versions[other->version].open++;
    open_readers++;
    return &versions[other->version];
}

void __wrap_partition_reader_close(struct partition_reader *reader);
void
__wrap_partition_reader_close(struct partition_reader *reader)
{
    if (reader != NULL) {
        assert_true(reader->open > 0);
        reader->open--;
        open_readers--;
    }
}

/* ---- sessions ---- */

static struct sessions *sessions;

static int
set_up(void **state)
{
    (void)state;
    now_ms = 1000000;
    version_count = open_readers = 0;
    reader_status = STATUS_OK;
    sessions = sessions_new(the_partition, SESSIONS);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    sessions_free(sessions);
    return open_readers > 0;
}

static void
expect_session(uint64_t id, bool begin, unsigned version)
{
    struct partition_reader *reader = NULL;
    assert_int_equal(sessions_reader(sessions, id, begin, &reader, &why), STATUS_OK);
    assert_int_equal(reader->version, version);
    __wrap_partition_reader_close(reader);
}

static void
expect_none(uint64_t id, bool begin, enum status status, const char *text)
{
    struct partition_reader *reader = NULL;
    assert_int_equal(sessions_reader(sessions, id, begin, &reader, &why), status);
    assert_string_equal(why.text, text);
    assert_null(reader);
}

static const char *const restarted = "it was restarted, or the query waited too long; ask again";
static const char *const too_many = "too many queries are under way; try again";

static void
a_session_keeps_its_version(void **state)
{
    (void)state;
    expect_none(7, false, STATUS_STALE, restarted);
    expect_session(7, true, 0);
    expect_session(8, true, 1);
    expect_session(0, true, 2); /* any number may be one */
    for (int i = 0; i < 2; i++) {
        expect_session(7, i == 0, 0);
        expect_session(8, i == 0, 1);
        expect_session(0, i == 0, 2);
    }
    expect_none(9, true, STATUS_LIMIT, too_many);
    expect_none(9, false, STATUS_STALE, restarted);
    assert_int_equal(open_readers, SESSIONS);
    sessions_end(sessions, 8);
    assert_int_equal(versions[1].open, 0);
    assert_int_equal(open_readers, SESSIONS - 1);
    sessions_end(sessions, 8);
    sessions_end(sessions, 4711);
    expect_none(8, false, STATUS_STALE, restarted);
    expect_session(9, true, 3);
    expect_session(7, false, 0);
    expect_session(0, false, 2);
    expect_none(8, true, STATUS_LIMIT, too_many);
}

static void
a_session_that_cannot_begin_takes_no_room(void **state)
{
    (void)state;
    reader_status = STATUS_SYSTEM;
    for (uint64_t id = 1; id < 3 * SESSIONS; id++) {
        expect_none(id, true, STATUS_SYSTEM, "no reader");
        expect_none(id, false, STATUS_STALE, restarted);
    }
    reader_status = STATUS_OK;
    for (unsigned id = 1; id <= SESSIONS; id++) {
        expect_session(id, true, id - 1);
    }
}

static void
sessions_that_nobody_asks_for_end(void **state)
{
    (void)state;
    expect_session(1, true, 0);
    now_ms += 10;
    expect_session(2, true, 1);
    now_ms += 10;
    expect_session(3, true, 2);
    const uint64_t began_ms = now_ms - 20;
    sessions_tend(sessions, began_ms + IDLE_MS);
    assert_int_equal(open_readers, 3);
    sessions_tend(sessions, began_ms + IDLE_MS + 1);
    assert_int_equal(open_readers, 2);
    expect_none(1, false, STATUS_STALE, restarted);
    now_ms = began_ms + 30;
    expect_session(2, false, 1); /* it counts from here on */
    sessions_tend(sessions, began_ms + IDLE_MS + 21);
    assert_int_equal(versions[1].open, 1);
    assert_int_equal(versions[2].open, 0);
    sessions_tend(sessions, began_ms + IDLE_MS + 30);
    assert_int_equal(versions[1].open, 1);
    sessions_tend(sessions, began_ms + IDLE_MS + 31);
    assert_int_equal(open_readers, 0);
    sessions_free(NULL);
}

/* ---- nodes ---- */

static struct buf written;
static enum status keys_status, write_status;
static unsigned steps;
static atomic_bool cancelled;

void __wrap_cursor_step(void *cursor);
void
__wrap_cursor_step(void *cursor)
{
    assert_ptr_equal(cursor, the_cursor);
    steps++;
}

const atomic_bool *__wrap_cursor_cancelled(const struct cursor *cursor);
const atomic_bool *
__wrap_cursor_cancelled(const struct cursor *cursor)
{
    assert_ptr_equal(cursor, the_cursor);
    return &cancelled;
}

enum status __wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *reason);
enum status
__wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *reason)
{
    assert_ptr_equal(cursor, the_cursor);
    if (write_status != STATUS_OK) {
        return status_fail(reason, write_status, "nobody reads on");
    }
    return buf_append_slice(&written, bytes);
}

enum status __wrap_partition_keys_read(struct partition *partition,
                                       const struct keys_request *request, struct buf *out,
                                       struct reason *reason);
enum status
__wrap_partition_keys_read(struct partition *partition, const struct keys_request *request,
                           struct buf *out, struct reason *reason)
{
    assert_ptr_equal(partition, the_partition);
    assert_int_equal(request->places, KEY_PLACES - 1);
    assert_int_equal(request->epoch, 4711);
    assert_int_equal(request->from, 12);
    (void)buf_append_string(out, "nodes");
    TRY(request->check(request->check_context, reason));
    return keys_status == STATUS_OK ? STATUS_OK : status_fail(reason, keys_status, "no keys");
}

static enum status
ask_keys(enum key_places at, size_t length)
{
    struct buf request;
    buf_init(&request, 100);
    buf_init(&written, 100);
    codec_put_u8(&request, (uint8_t)at);
    codec_put_u64(&request, 4711);
    codec_put_varint(&request, 12);
    codec_put_u8(&request, 0);
    steps = 0;
    const enum status status =
        answer_keys(the_partition, slice_of(request.data, length), the_cursor, &why);
    buf_release(&request);
    return status;
}

static void
nodes_are_written_or_not_known(void **state)
{
    enum { WHOLE = 10 };
    const enum key_places last = (enum key_places)(KEY_PLACES - 1);
    (void)state;
    for (size_t length = 0; length <= WHOLE + 1; length++) {
        const bool good = length == WHOLE;
        assert_int_equal(ask_keys(last, length), good ? STATUS_OK : STATUS_PROTOCOL);
        if (good) {
            assert_true(written.length == 6 && written.data[0] == TRIPLES_KNOWN);
            assert_string_equal(written.data + 1, "nodes");
            assert_int_equal(steps, 1);
        } else {
            assert_int_equal(written.length, 0);
            assert_string_equal(why.text, "a request for keys is malformed");
        }
        buf_release(&written);
    }
    assert_int_equal(ask_keys((enum key_places)KEY_PLACES, WHOLE), STATUS_PROTOCOL);
    /* Where there are too many, that is the answer. */
    keys_status = STATUS_LIMIT;
    assert_int_equal(ask_keys(last, WHOLE), STATUS_OK);
    assert_true(written.length == 1 && written.data[0] == TRIPLES_UNKNOWN);
    buf_release(&written);
    keys_status = STATUS_CORRUPT;
    assert_int_equal(ask_keys(last, WHOLE), STATUS_CORRUPT);
    assert_string_equal(why.text, "no keys");
    assert_int_equal(written.length, 0);
    keys_status = STATUS_OK;
    atomic_store(&cancelled, true);
    assert_int_equal(ask_keys(last, WHOLE), STATUS_CANCELLED);
    assert_string_equal(why.text, "cancelled");
    assert_int_equal(written.length, 0);
    atomic_store(&cancelled, false);
    write_status = STATUS_CANCELLED;
    assert_int_equal(ask_keys(last, WHOLE), STATUS_CANCELLED);
    assert_string_equal(why.text, "nobody reads on");
    write_status = STATUS_OK;
}

/* ---- options ---- */

static void
options_become_parts_of_the_memory(void **state)
{
    static const struct opt *const tables[] = {index_options, NULL};
    static const struct {
        const char *memory;
        uint64_t bytes, checkpoint;
    } cases[] = {{"index.memory=16M", 16 << 20, 4 << 20},
                 {"index.memory=1023M", UINT64_C(1023) << 20, UINT64_C(1023) << 18},
                 {"index.memory=1G", 1 << 30, 256 << 20},
                 {"index.memory=1025M", UINT64_C(1025) << 20, 256 << 20},
                 {"index.memory=64G", UINT64_C(64) << 30, 256 << 20}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct opt_set *set = opt_set_new(tables);
        struct service_options service = {.partition_number = 5};
        struct partition_options partition, usual;
        const uint64_t bytes = cases[i].bytes;
        assert_int_equal(opt_set_assign(set, cases[i].memory, &why), STATUS_OK);
        assert_int_equal(opt_set_assign(set, "index.query_threads=7", &why), STATUS_OK);
        assert_int_equal(opt_set_assign(set, "index.query_timeout=9s", &why), STATUS_OK);
        assert_int_equal(opt_set_assign(set, "index.query_memory=3M", &why), STATUS_OK);
        assert_int_equal(opt_set_assign(set, "index.changes=5M", &why), STATUS_OK);
        assert_int_equal(opt_set_assign(set, "index.disk_reserve=6M", &why), STATUS_OK);
        service_options_from(&service, set);
        assert_int_equal(service.partition_number, 5);
        assert_int_equal(service.query_threads, 7);
        assert_int_equal(service.cursors, 64);
        assert_int_equal(service.query_timeout_ms, 9000);
        assert_int_equal(service.query_memory, 3 << 20);
        assert_int_equal(service.query_disk, 48 << 20);
        assert_true(service.answer_bytes == UINT64_C(4) << 30);
        assert_true(service.sort_memory == bytes / 16);
        assert_true(service.answer_memory == bytes / 16);
        partition_options_default(&usual, "folder");
        partition_options_from(&partition, "folder", set);
        assert_string_equal(partition.folder, "folder");
        assert_int_equal(partition.build_from, usual.build_from);
        assert_int_equal(partition.pause_s, usual.pause_s);
        assert_true(partition.cache_bytes == bytes / 4);
        assert_true(partition.term_memory == bytes / 16);
        assert_true(partition.block_memory == bytes / 16);
        assert_true(partition.words_memory == bytes / 4);
        assert_true(partition.snapshot_memory == bytes / 4);
        assert_true(partition.count_memory == bytes / 8);
        assert_true(partition.checkpoint_bytes == cases[i].checkpoint);
        assert_int_equal(partition.change_bytes, 5 << 20);
        assert_int_equal(partition.disk_reserve, 6 << 20);
        opt_set_free(set);
    }
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_session_keeps_its_version),
        CASE(a_session_that_cannot_begin_takes_no_room),
        CASE(sessions_that_nobody_asks_for_end),
        cmocka_unit_test(nodes_are_written_or_not_known),
        cmocka_unit_test(options_become_parts_of_the_memory),
    };
    return cmocka_run_group_tests_name("sessions", tests, NULL, NULL);
}
