/* The window of an answer that leaves in pieces (index/serve/cursor.c): when its producer waits,
 * and when its reader is told; what is read, dropped and refused. The linker puts the functions
 * below in the place of threads, locks and turns: the producer runs when the test says, and when it
 * would wait, the reader goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "index/serve/cursor.h"
#include "tests/unit/index_answers/told_locks.h"

enum { EVENT = 4711, FIRST_ROOM = 4096, GROWTH = 4, CLIENT = 9, ID = 77, MEMORY = 1234 };

static max_align_t places[4];
static struct threads *const the_threads = (struct threads *)(void *)&places[0];
static struct thread *const the_thread = (struct thread *)(void *)&places[1];
static struct turns *const the_turns = (struct turns *)(void *)&places[2];
static bool no_thread;
static void (*work)(void *argument); /* of the thread, that has not run */
static void *work_argument;
static char turns[1 << 16]; /* a letter for each use of the turn */
static unsigned wakes, releases;
static void (*on_wait)(void); /* the reader's part */

/* ---- in the place of others ---- */

struct thread *__wrap_threads_start(struct threads *threads, void (*to_do)(void *argument),
                                    void *argument);
struct thread *
__wrap_threads_start(struct threads *threads, void (*to_do)(void *argument), void *argument)
{
    assert_ptr_equal(threads, the_threads);
    work = to_do;
    work_argument = argument;
    return no_thread ? NULL : the_thread;
}

static void
run(void)
{
    void (*const to_do)(void *argument) = work;
    work = NULL;
    to_do(work_argument);
}

void __wrap_threads_join(struct thread *thread);
void
__wrap_threads_join(struct thread *thread)
{
    assert_ptr_equal(thread, the_thread);
    if (work != NULL) {
        run();
    }
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int
__wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)condition, (void)mutex;
    assert_int_equal(told_held_locks--, 1);
    assert_non_null(on_wait);
    on_wait();
    told_held_locks++;
    return 0;
}

ssize_t __wrap_write(int fd, const void *from, size_t count);
ssize_t
__wrap_write(int fd, const void *from, size_t count)
{
    uint64_t one;
    assert_int_equal(fd, EVENT);
    assert_int_equal(count, sizeof one);
    memcpy(&one, from, sizeof one);
    assert_int_equal(one, 1);
    wakes++;
    return (ssize_t)count;
}

static void
note(const struct turn *turn, const char *letter)
{
    assert_ptr_equal(turn->turns, the_turns);
    assert_true(strlen(turns) + 2 < sizeof turns);
    strcat(turns, letter);
}

void __wrap_turn_open(struct turn *turn, struct turns *of, uint64_t client,
                      const atomic_bool *cancelled);
void
__wrap_turn_open(struct turn *turn, struct turns *of, uint64_t client, const atomic_bool *cancelled)
{
    assert_ptr_equal(of, the_turns);
    assert_int_equal(client, CLIENT);
    assert_false(atomic_load(cancelled));
    *turn = (struct turn){.turns = of, .memory = MEMORY, .cancelled = cancelled};
    note(turn, "o");
}

#define NOTED(name, letter)                                    \
    void __wrap_turn_##name(struct turn *turn);                \
    void __wrap_turn_##name(struct turn *turn)                 \
    {                                                          \
        assert_true(told_held_locks == 0 || *(letter) == 'g'); \
        note(turn, letter);                                    \
    }
NOTED(close, "c")
NOTED(take, "t")
NOTED(give, "g")
NOTED(step, "s")

void __wrap_turns_wake(struct turns *of);
void
__wrap_turns_wake(struct turns *of)
{
    assert_ptr_equal(of, the_turns);
    strcat(turns, "w");
}

/* ---- the test's cursor ---- */

static struct cursor *cursor;
static struct reason why;
static struct buf got;

static void
release(void *job)
{
    assert_ptr_equal(job, &got);
    releases++;
}

static enum status
open_cursor(cursor_produce *produce, size_t window, uint64_t most)
{
    const struct cursor_settings settings = {.threads = the_threads,
                                             .turns = the_turns,
                                             .client = CLIENT,
                                             .event = EVENT,
                                             .window = window,
                                             .bytes_most = most};
    turns[0] = '\0';
    wakes = releases = 0;
    buf_reset(&got);
    return cursor_open(&cursor, ID, &settings, produce, release, &got, &why);
}

/* Reads from an offset on; "!" and the status where it fails. */
static enum status
read_at(uint64_t offset, size_t most, bool *end)
{
    struct buf piece;
    buf_init(&piece, 1 << 20);
    const enum status status = cursor_read(cursor, offset, most, &piece, end, &why);
    (void)buf_append_slice(&got, buf_slice(&piece));
    buf_release(&piece);
    return status;
}

static void
expect_read(uint64_t offset, size_t most, const char *text, bool ends)
{
    bool end = !ends;
    buf_reset(&got);
    assert_int_equal(read_at(offset, most, &end), STATUS_OK);
    assert_true(slice_is(buf_slice(&got), text));
    assert_int_equal(end, ends);
}

static void
expect_failure(uint64_t offset, enum status status, const char *text)
{
    bool end = true;
    buf_reset(&got);
    assert_int_equal(read_at(offset, 100, &end), status);
    assert_int_equal(got.length, 0);
    assert_false(end);
    assert_true(text == NULL || strcmp(why.text, text) == 0);
}

static int
set_up(void **state)
{
    (void)state;
    buf_init(&got, 1 << 22);
    no_thread = false;
    on_wait = NULL;
    work = NULL;
    cursor = NULL;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    cursor_close(cursor);
    buf_release(&got);
    return told_made_locks != 0 || told_held_locks != 0;
}

/* ---- producers ---- */

static enum status produced; /* what the producer ends with */
static size_t sizes[20];     /* of what it writes, up to the first of 0 */
static size_t last;          /* which of them is told to be the last */
static unsigned told_wakes[20];
static size_t written;

static enum status
write_all(void *job, struct cursor *of, struct reason *reason)
{
    static const char letters[] = "abcdefghijklmnopqrst";
    assert_ptr_equal(job, &got);
    assert_ptr_equal(of, cursor);
    for (written = 0; sizes[written] > 0; written++) {
        char *bytes = malloc(sizes[written]);
        assert_non_null(bytes);
        memset(bytes, letters[written], sizes[written]);
        const struct slice slice = slice_of(bytes, sizes[written]);
        const enum status status = written == last ? cursor_write_last(of, slice, reason)
                                                   : cursor_write(of, slice, reason);
        free(bytes);
        told_wakes[written] = wakes;
        TRY(status);
    }
    return produced == STATUS_OK ? STATUS_OK : status_fail(reason, produced, "it went wrong");
}

static void
produce_sizes(const size_t *of, size_t last_one, enum status end)
{
    memset(sizes, 0, sizeof sizes);
    for (size_t i = 0; of[i] > 0; i++) {
        sizes[i] = of[i];
    }
    last = last_one;
    produced = end;
}

/* ---- tests ---- */

static void
a_short_answer_is_read_whole(void **state)
{
    static const size_t short_ones[] = {3, 2, 0};
    (void)state;
    produce_sizes(short_ones, SIZE_MAX, STATUS_OK);
    assert_int_equal(open_cursor(write_all, 1 << 16, 0), STATUS_OK);
    assert_int_equal(cursor_id(cursor), ID);
    assert_int_equal(cursor_memory(cursor), MEMORY);
    assert_ptr_equal(cursor_threads(cursor), the_threads);
    assert_false(atomic_load(cursor_cancelled(cursor)));
    assert_ptr_equal(cursor_turn(cursor)->cancelled, cursor_cancelled(cursor));
    assert_false(cursor_ended(cursor));
    expect_failure(0, STATUS_AGAIN, NULL);
    expect_failure(1, STATUS_NOT_FOUND, "the answer has no piece at 1");
    run();
    assert_string_equal(turns, "otssg");
    assert_int_equal(wakes, 1);
    assert_int_equal(told_wakes[1], 0);
    assert_true(cursor_ended(cursor));
    expect_read(0, 100, "aaabb", true);
    expect_read(0, 5, "aaabb", true);
    expect_read(0, 4, "aaab", false);
    expect_read(2, 2, "ab", false);
    expect_failure(1, STATUS_NOT_FOUND, "the answer has no piece at 1");
    expect_failure(6, STATUS_NOT_FOUND, "the answer has no piece at 6");
    expect_read(5, 100, "", true);
    expect_read(5, 100, "", true);
    expect_failure(4, STATUS_NOT_FOUND, "the answer has no piece at 4");
    cursor_step(cursor);
    assert_string_equal(turns, "otssgs");
    assert_int_equal(releases, 0);
    cursor_close(cursor);
    cursor = NULL;
    assert_string_equal(turns, "otssgswc");
    assert_int_equal(releases, 1);
    cursor_close(NULL);
}

static void
what_a_producer_ends_with_comes_after_its_bytes(void **state)
{
    static const size_t some[] = {3, 0};
    (void)state;
    produce_sizes(some, SIZE_MAX, STATUS_CORRUPT);
    assert_int_equal(open_cursor(write_all, 1 << 16, 0), STATUS_OK);
    run();
    expect_read(0, 100, "aaa", false);
    expect_failure(3, STATUS_CORRUPT, "it went wrong");
    cursor_close(cursor);
    produce_sizes(some, SIZE_MAX, STATUS_END); /* which is no failure */
    assert_int_equal(open_cursor(write_all, 1 << 16, 0), STATUS_OK);
    run();
    expect_read(0, 100, "aaa", true);
}

/* The reader is told when there is something worth reading: 4 KiB, or any more bytes after those
 * that it has read; and not by the last bytes, which the end follows. */
static void
the_reader_is_told_once(void **state)
{
    static const struct {
        size_t sizes[5], last;
        unsigned wakes[5];
    } cases[] = {{{FIRST_ROOM - 1, 0}, SIZE_MAX, {0}}, {{FIRST_ROOM - 1, 1, 0}, SIZE_MAX, {0, 1}},
                 {{FIRST_ROOM, 0}, SIZE_MAX, {1}},     {{FIRST_ROOM, 0}, 0, {0}},
                 {{10, FIRST_ROOM, 0}, 1, {0, 0}},     {{10, FIRST_ROOM, 0}, SIZE_MAX, {0, 1}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        produce_sizes(cases[i].sizes, cases[i].last, STATUS_OK);
        assert_int_equal(open_cursor(write_all, 1 << 16, 0), STATUS_OK);
        run();
        for (size_t k = 0; k < written; k++) {
            assert_int_equal(told_wakes[k], cases[i].wakes[k]);
        }
        cursor_close(cursor);
        cursor = NULL;
    }
}

static uint64_t read_from;
static char waits[200]; /* how many bytes there were each time the producer waited */

static void
read_what_is_there(void)
{
    bool end;
    const size_t before = got.length;
    assert_int_equal(read_at(read_from, SIZE_MAX, &end), STATUS_OK);
    assert_false(end);
    snprintf(waits + strlen(waits), sizeof waits - strlen(waits), "%zu ", got.length - before);
    read_from += got.length - before;
    /* The bytes are dropped when later ones are asked for. */
    assert_int_equal(read_at(read_from, 1, &end), STATUS_AGAIN);
}

/* The window grows with each piece that is asked for. */
static void
a_producer_waits_while_the_window_is_full(void **state)
{
    static const size_t many[] = {4000, 95,   1,    1,    16383, 1,    1,     20000,
                                  9999, 2000, 1000, 1000, 1000,  1000, 16000, 0};
    (void)state;
    produce_sizes(many, SIZE_MAX, STATUS_OK);
    assert_int_equal(open_cursor(write_all, 18000, 0), STATUS_OK);
    on_wait = read_what_is_there;
    read_from = 0;
    waits[0] = '\0';
    const unsigned signals_before = told_signals;
    run();
    assert_string_equal(waits, "4096 16384 20002 ");
    assert_int_equal(told_signals - signals_before, 3);
    assert_string_equal(turns, "otssssgtssgtsssgtssssssg");
}

static void
an_answer_may_have_so_many_bytes(void **state)
{
    static const size_t sizes_of[] = {10, 15, 1, 0};
    (void)state;
    for (uint64_t most = 24; most <= 26; most++) {
        char expected[60];
        produce_sizes(sizes_of, SIZE_MAX, STATUS_OK);
        assert_int_equal(open_cursor(write_all, 1 << 16, most), STATUS_OK);
        run();
        assert_int_equal(written, most - 23);
        snprintf(expected, sizeof expected, "the answer is longer than %u bytes", (unsigned)most);
        expect_read(0, 10, "aaaaaaaaaa", false);
        if (most > 24) {
            expect_read(10, 100, most == 25 ? "bbbbbbbbbbbbbbb" : "bbbbbbbbbbbbbbbc", most == 26);
        }
        if (most < 26) {
            expect_failure(most == 24 ? 10 : 25, STATUS_LIMIT, expected);
        }
        cursor_close(cursor);
        cursor = NULL;
    }
}

static void
cancel_it(void)
{
    cursor_cancel(cursor);
}

static void
what_is_cancelled_ends_soon(void **state)
{
    static const size_t many[] = {FIRST_ROOM, 1, 1, 0};
    (void)state;
    produce_sizes(many, SIZE_MAX, STATUS_OK);
    assert_int_equal(open_cursor(write_all, 1 << 16, 0), STATUS_OK);
    const unsigned signals_before = told_signals;
    cursor_cancel(cursor);
    assert_int_equal(told_signals, signals_before + 1);
    assert_true(atomic_load(cursor_cancelled(cursor)));
    assert_string_equal(turns, "ow");
    run();
    assert_string_equal(turns, "owtg"); /* it did not begin */
    expect_failure(0, STATUS_CANCELLED, "cancelled");
    cursor_close(cursor);
    assert_int_equal(open_cursor(write_all, 1 << 16, 0), STATUS_OK);
    on_wait = cancel_it;
    run();
    assert_int_equal(written, 1);
    assert_string_equal(turns, "otssgwtg");
    bool end;
    assert_int_equal(read_at(0, SIZE_MAX, &end), STATUS_OK);
    assert_int_equal(got.length, FIRST_ROOM);
    expect_failure(FIRST_ROOM, STATUS_CANCELLED, "cancelled");
}

static void
a_cursor_without_a_thread_is_none(void **state)
{
    (void)state;
    no_thread = true;
    cursor = (struct cursor *)(void *)places;
    assert_int_equal(open_cursor(write_all, 1 << 16, 0), STATUS_SYSTEM);
    assert_string_equal(why.text, "cannot start a thread");
    assert_null(cursor);
    assert_int_equal(releases, 1);
    assert_string_equal(turns, "owc");
    assert_int_equal(told_made_locks, 0);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_short_answer_is_read_whole),
        CASE(what_a_producer_ends_with_comes_after_its_bytes),
        CASE(the_reader_is_told_once),
        CASE(a_producer_waits_while_the_window_is_full),
        CASE(an_answer_may_have_so_many_bytes),
        CASE(what_is_cancelled_ends_soon),
        CASE(a_cursor_without_a_thread_is_none),
    };
    return cmocka_run_group_tests_name("cursor_window", tests, NULL, NULL);
}
