/* Answers that leave in pieces (index/serve/cursor.c): what producers write is what readers read,
 * however either cuts it; and how answers end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "index/serve/cursor.h"
#include "tests/unit/index_answers/direct_answers.h"

enum { WINDOW = 1 << 16, ALL = 1 << 20, PIECE = 1000, FILLING = 5 * PIECE, WAIT_MS = 60000 };

/* ---- a producer of the test ---- */

static struct {
    size_t length;     /* of the whole answer */
    size_t piece;      /* bytes of one write; 0: by turns other ones */
    bool last;         /* the last piece is written as such */
    enum status ends;  /* how it ends when all is written */
    atomic_bool held;  /* it does not begin yet */
    atomic_uint begun; /* writes */
    atomic_int released;
    enum status written; /* of the last write */
} job;

static char
byte_at(size_t offset)
{
    return (char)(offset * 2654435761u >> 13);
}

static enum status
produce(void *context, struct cursor *cursor, struct reason *why)
{
    static char bytes[8192];
    assert_ptr_equal(context, &job);
    while (atomic_load(&job.held)) {
        (void)poll(NULL, 0, 1);
    }
    for (size_t at = 0, n; at < job.length; at += n) {
        n = job.piece > 0 ? job.piece : 1 + at * 7919 % 5000;
        n = n < job.length - at ? n : job.length - at;
        for (size_t i = 0; i < n; i++) {
            bytes[i] = byte_at(at + i);
        }
        atomic_fetch_add(&job.begun, 1);
        job.written = (job.last && at + n == job.length ? cursor_write_last : cursor_write)(
            cursor, slice_of(bytes, n), why);
        if (job.written != STATUS_OK) {
            return job.written;
        }
    }
    return job.ends == STATUS_OK || job.ends == STATUS_END
               ? job.ends
               : status_fail(why, job.ends, "it went wrong");
}

static void
release(void *context)
{
    assert_ptr_equal(context, &job);
    atomic_fetch_add(&job.released, 1);
}

static struct turns *turns;
static struct threads *threads;
static struct cursor_settings settings;
static struct cursor *cursor;

static void
start(void)
{
    struct reason why = {""};
    assert_int_equal(cursor_open(&cursor, 4711, &settings, produce, release, &job, &why),
                     STATUS_OK);
    assert_int_equal(cursor_id(cursor), 4711);
}

static int
set_up(void **state)
{
    (void)state;
    memset(&job, 0, sizeof job);
    job.piece = PIECE;
    turns = turns_new(2, 1 << 20);
    threads = threads_new(1, 0);
    settings = (struct cursor_settings){.threads = threads,
                                        .turns = turns,
                                        .client = 1,
                                        .event = eventfd(0, EFD_NONBLOCK),
                                        .window = WINDOW};
    assert_true(settings.event >= 0);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    cursor_close(cursor);
    cursor_close(NULL);
    assert_int_equal(atomic_load(&job.released), 1);
    turns_free(turns);
    threads_free(threads);
    close(settings.event);
    return 0;
}

/* Waits for the event; returns how often it was written since. */
static uint64_t
wait_for_event(void)
{
    struct pollfd wait = {.fd = settings.event, .events = POLLIN};
    uint64_t count = 0;
    assert_int_equal(poll(&wait, 1, WAIT_MS), 1);
    assert_int_equal(read(settings.event, &count, sizeof count), sizeof count);
    return count;
}

static void
wait_for_end(void)
{
    for (int i = 0; i < WAIT_MS && !cursor_ended(cursor); i++) {
        (void)poll(NULL, 0, 1);
    }
    assert_true(cursor_ended(cursor));
}

/* Reads a piece when there is one. */
static enum status
read_piece(uint64_t offset, size_t most, struct buf *out, bool *end, struct reason *why)
{
    enum status status;
    buf_reset(out);
    while ((status = cursor_read(cursor, offset, most, out, end, why)) == STATUS_AGAIN) {
        assert_int_equal(out->length, 0);
        assert_false(*end);
        (void)wait_for_event();
    }
    return status;
}

/* ---- tests ---- */

static void
test_readers_read_what_is_written(void **state)
{
    static const size_t lengths[] = {0, 1, 4095, 4096, 4097, ALL};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct buf out, again;
        struct reason why = {""};
        bool end = false;
        size_t at = 0, longest = 0;
        buf_init(&out, ALL);
        buf_init(&again, ALL);
        job.length = lengths[i];
        job.piece = 0;
        job.last = i % 2 == 0;
        job.ends = i % 2 == 0 ? STATUS_OK : STATUS_END;
        start();
        for (size_t k = 0; !end; k++) {
            const size_t most = k % 5 == 0 ? SIZE_MAX : 1 + k * 7919 % 20000;
            assert_int_equal(read_piece(at, most, &out, &end, &why), STATUS_OK);
            assert_true(out.length <= most);
            assert_true(out.length > 0 || end);
            for (size_t b = 0; b < out.length; b++) {
                assert_true(out.data[b] == byte_at(at + b));
            }
            if (k % 3 == 0) { /* it was lost on its way, and is asked for again */
                bool ended;
                buf_reset(&again);
                assert_int_equal(cursor_read(cursor, at, out.length, &again, &ended, &why),
                                 STATUS_OK);
                assert_true(slice_equal(buf_slice(&again), buf_slice(&out)));
            }
            at += out.length;
            longest = out.length > longest ? out.length : longest;
            assert_int_equal(end, at == job.length && end);
        }
        assert_int_equal(at, job.length);
        assert_true(longest < WINDOW + 5000); /* and what one write may be longer than the room */
        wait_for_end();
        cursor_close(cursor);
        cursor = NULL;
        buf_release(&out);
        buf_release(&again);
    }
    assert_int_equal(atomic_exchange(&job.released, 1), sizeof lengths / sizeof *lengths);
}

static void
test_offsets_that_are_not_there(void **state)
{
    struct buf out;
    struct reason why = {""};
    bool end;
    (void)state;
    buf_init(&out, ALL);
    job.length = 3 * PIECE;
    start();
    wait_for_end();
    assert_int_equal(cursor_read(cursor, 3 * PIECE + 1, ALL, &out, &end, &why), STATUS_NOT_FOUND);
    assert_int_equal(cursor_read(cursor, 10, 5, &out, &end, &why), STATUS_OK);
    assert_false(end);
    assert_int_equal(cursor_read(cursor, 9, 5, &out, &end, &why), STATUS_NOT_FOUND);
    assert_int_equal(out.length, 5);
    assert_int_equal(cursor_read(cursor, 10, 3 * PIECE - 11, &out, &end, &why), STATUS_OK);
    assert_false(end);
    assert_int_equal(cursor_read(cursor, 10, 3 * PIECE - 10, &out, &end, &why), STATUS_OK);
    assert_true(end);
    buf_reset(&out);
    assert_int_equal(cursor_read(cursor, 3 * PIECE, ALL, &out, &end, &why), STATUS_OK);
    assert_true(end && out.length == 0);
    buf_release(&out);
}

static void
test_an_answer_that_is_not_there_yet(void **state)
{
    struct buf out;
    struct reason why = {""};
    bool end = true;
    (void)state;
    buf_init(&out, ALL);
    atomic_store(&job.held, true);
    job.length = 10;
    start();
    assert_int_equal(cursor_read(cursor, 0, ALL, &out, &end, &why), STATUS_AGAIN);
    assert_false(end);
    assert_false(cursor_ended(cursor));
    assert_false(atomic_load(cursor_cancelled(cursor)));
    assert_true(cursor_memory(cursor) > 0);
    assert_int_equal(cursor_memory(cursor), cursor_turn(cursor)->memory);
    atomic_store(&job.held, false);
    assert_int_equal(read_piece(0, ALL, &out, &end, &why), STATUS_OK);
    assert_int_equal(out.length, 10);
    buf_release(&out);
}

/* The beginning of an answer is told when it fills the first room, and the end; the last piece only
 * with the end. */
static void
test_events(void **state)
{
    static const struct {
        size_t length;
        bool last;
        uint64_t events;
    } cases[] = {{0, false, 1},
                 {PIECE, false, 1},
                 {FILLING, false, 2},
                 {PIECE, true, 1},
                 {FILLING, true, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        job.length = cases[i].length;
        job.last = cases[i].last;
        start();
        wait_for_end();
        uint64_t count = wait_for_event();
        while (count < cases[i].events) {
            count += wait_for_event();
        }
        cursor_close(cursor);
        cursor = NULL;
        struct pollfd wait = {.fd = settings.event, .events = POLLIN};
        assert_int_equal(count, cases[i].events);
        assert_int_equal(poll(&wait, 1, 0), 0);
    }
    assert_int_equal(atomic_exchange(&job.released, 1), sizeof cases / sizeof *cases);
}

/* What follows the beginning is told however short it is. */
static void
test_events_of_what_follows(void **state)
{
    struct buf out;
    struct reason why = {""};
    bool end;
    (void)state;
    buf_init(&out, ALL);
    job.length = FILLING + PIECE;
    start();
    assert_int_equal(wait_for_event(), 1);
    assert_int_equal(cursor_read(cursor, 0, SIZE_MAX, &out, &end, &why), STATUS_OK);
    assert_int_equal(out.length, FILLING);
    assert_int_equal(cursor_read(cursor, FILLING, SIZE_MAX, &out, &end, &why), STATUS_AGAIN);
    wait_for_end();
    uint64_t count = 0;
    while (count < 2) {
        count += wait_for_event();
    }
    assert_int_equal(count, 2);
    buf_release(&out);
}

/* The window has little room at first, and four times as much with each read, up to its size. */
static void
test_room_of_the_window(void **state)
{
    static const size_t rooms[] = {4096, 4 * 4096, WINDOW, WINDOW, WINDOW};
    struct buf out;
    struct reason why = {""};
    bool end;
    size_t at = 0;
    (void)state;
    buf_init(&out, ALL);
    job.length = ALL;
    start();
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        const size_t expected = (rooms[i] + PIECE - 1) / PIECE * PIECE;
        buf_reset(&out);
        for (int k = 0; k < WAIT_MS && out.length < expected;
             k++) { /* nothing is dropped by that */
            buf_reset(&out);
            const enum status status = cursor_read(cursor, at, SIZE_MAX, &out, &end, &why);
            assert_true(status == STATUS_OK || status == STATUS_AGAIN);
            (void)poll(NULL, 0, 1);
        }
        assert_int_equal(out.length, expected);
        (void)poll(NULL, 0, 5);
        buf_reset(&out);
        assert_int_equal(cursor_read(cursor, at, SIZE_MAX, &out, &end, &why), STATUS_OK);
        assert_int_equal(out.length, expected); /* no more comes until it is read */
        at += out.length;
    }
    buf_release(&out);
}

static void
test_answers_that_are_too_long(void **state)
{
    (void)state;
    for (size_t over = 0; over < 2; over++) {
        struct buf out;
        struct reason why = {""};
        bool end = false;
        buf_init(&out, ALL);
        settings.bytes_most = 3 * PIECE;
        job.length = 3 * PIECE + over;
        start();
        wait_for_end();
        assert_int_equal(cursor_read(cursor, 0, ALL, &out, &end, &why), STATUS_OK);
        assert_int_equal(out.length, 3 * PIECE); /* what fits comes first */
        assert_int_equal(end, over == 0);
        assert_int_equal(cursor_read(cursor, 3 * PIECE, ALL, &out, &end, &why),
                         over == 0 ? STATUS_OK : STATUS_LIMIT);
        assert_int_equal(strstr(why.text, "3000") != NULL, over == 1);
        cursor_close(cursor);
        cursor = NULL;
        buf_release(&out);
    }
    atomic_store(&job.released, 1);
}

static void
test_a_producer_that_fails(void **state)
{
    struct buf out;
    struct reason why = {""};
    bool end = true;
    (void)state;
    buf_init(&out, ALL);
    job.length = PIECE;
    job.ends = STATUS_SYSTEM;
    start();
    wait_for_end();
    assert_int_equal(cursor_read(cursor, 0, PIECE, &out, &end, &why), STATUS_OK);
    assert_false(end);
    assert_int_equal(out.length, PIECE);
    assert_int_equal(cursor_read(cursor, PIECE, PIECE, &out, &end, &why), STATUS_SYSTEM);
    assert_false(end);
    assert_string_equal(why.text, "it went wrong");
    buf_release(&out);
}

static void
test_answers_that_are_no_longer_wanted(void **state)
{
    (void)state;
    job.length = ALL;
    start();
    while (atomic_load(&job.begun) < 6) { /* it waits for room, or is about to */
        (void)poll(NULL, 0, 1);
    }
    assert_false(cursor_ended(cursor));
    cursor_cancel(cursor);
    wait_for_end();
    assert_int_equal(job.written, STATUS_CANCELLED);
    assert_true(atomic_load(cursor_cancelled(cursor)));
    struct buf out;
    struct reason why = {""};
    bool end;
    buf_init(&out, ALL);
    assert_int_equal(cursor_read(cursor, 0, ALL, &out, &end, &why), STATUS_OK);
    assert_false(end);
    assert_int_equal(cursor_read(cursor, out.length, ALL, &out, &end, &why), STATUS_CANCELLED);
    buf_release(&out);
}

/* A producer that waits for room leaves its turn to others. */
static void
test_who_waits_for_room_has_no_turn(void **state)
{
    struct turn other;
    atomic_bool cancelled = false;
    (void)state;
    turns_free(turns);
    settings.turns = turns = turns_new(1, 1 << 20);
    job.length = ALL;
    start();
    while (atomic_load(&job.begun) < 6) {
        (void)poll(NULL, 0, 1);
    }
    turn_open(&other, turns, 2, &cancelled);
    turn_take(&other); /* does not wait for the reader */
    turn_give(&other);
    turn_close(&other);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_readers_read_what_is_written),
        CASE(test_offsets_that_are_not_there),
        CASE(test_an_answer_that_is_not_there_yet),
        CASE(test_events),
        CASE(test_events_of_what_follows),
        CASE(test_room_of_the_window),
        CASE(test_answers_that_are_too_long),
        CASE(test_a_producer_that_fails),
        CASE(test_answers_that_are_no_longer_wanted),
        CASE(test_who_waits_for_room_has_no_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + direct_answers_run();
}
