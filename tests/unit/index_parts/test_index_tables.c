/* These tests are of what the index keeps in memory of changes, of names that rows were sent under
 * and of sessions, beside plain arrays that do the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "index/protocol/service_protocol.h"
#include "index/quads/change_set.h"
#include "index/quads/memtable.h"
#include "index/serve/row_names.h"
#include "index/serve/sessions.h"
#include "tests/unit/brief.h"
#include "tests/unit/index_parts/index_records.h"

/* ---- sets of changes ---- */

/* Each quad of a small world is a number, whose four digits are its places, in the order CSPO. */
enum { DIGITS = 4, WORLD = DIGITS * DIGITS * DIGITS * DIGITS };

static struct quad_oids
quad_of(unsigned number)
{
    return (struct quad_oids){.graph = 1 + number / (DIGITS * DIGITS * DIGITS),
                              .subject = 1 + number / (DIGITS * DIGITS) % DIGITS,
                              .predicate = 1 + number / DIGITS % DIGITS,
                              .object = 1 + number % DIGITS};
}

static unsigned
number_of(const struct quad_oids *quad)
{
    return (unsigned)((((quad->graph - 1) * DIGITS + quad->subject - 1) * DIGITS + quad->predicate -
                       1) *
                          DIGITS +
                      quad->object - 1);
}

/* A batch does this to each quad. */
enum { NOTHING, ADDED, REMOVED };

static struct change_set *
set_of(const uint8_t what[WORLD])
{
    struct quad_change *changes = memory_zero(WORLD, sizeof *changes);
    size_t count = 0;
    for (unsigned i = 0; i < WORLD; i++) {
        if (what[i] != NOTHING) {
            changes[count++] =
                (struct quad_change){.quad = quad_of(i), .removed = what[i] == REMOVED};
        }
    }
    return change_set_new(changes, count);
}

/* One quad in `one_in` is changed. */
static void
changes_at_random(uint8_t what[WORLD], int one_in, unsigned *seed)
{
    for (unsigned i = 0; i < WORLD; i++) {
        what[i] = NOTHING;
        if (rand_r(seed) % one_in == 0) {
            what[i] = rand_r(seed) % 2 == 0 ? ADDED : REMOVED;
        }
    }
}

static void
check_set(const struct change_set *set, const uint8_t what[WORLD])
{
    size_t count = 0;
    for (unsigned i = 0; i < WORLD; i++) {
        count += what[i] != NOTHING;
    }
    assert_int_equal(set->count, count);
    assert_int_equal(change_set_bytes(set),
                     sizeof *set + count * (sizeof(struct quad_change) + 6 * sizeof(uint32_t)));
    for (int order = 0; order < ORDER_COUNT; order++) {
        bool seen[WORLD] = {false};
        for (size_t i = 0; i < count; i++) {
            const struct row row = change_row(set, (enum quad_order)order, i);
            const struct quad_oids quad = row_quad(&row, (enum quad_order)order);
            const unsigned number = number_of(&quad);
            assert_false(seen[number]);
            seen[number] = true;
            assert_int_equal(change_removed(set, (enum quad_order)order, i),
                             what[number] == REMOVED);
            assert_true(what[number] != NOTHING);
            if (i > 0) {
                const struct row before = change_row(set, (enum quad_order)order, i - 1);
                assert_true(row_compare(&before, &row) < 0);
            }
        }
    }
}

/* The places of all quads of the world, found from the beginning and from each place before. */
static void
check_finding(const struct change_set *set, enum quad_order order)
{
    for (unsigned i = 0; i < WORLD; i++) {
        const struct quad_oids quad = quad_of(i);
        const struct row row = row_of(&quad, order);
        size_t expected = 0;
        while (expected < set->count) {
            const struct row at = change_row(set, order, expected);
            if (row_compare(&at, &row) >= 0) {
                break;
            }
            expected++;
        }
        assert_int_equal(change_set_find(set, order, &row), expected);
        for (size_t from = 0; from <= expected; from++) {
            assert_int_equal(change_set_find_from(set, order, &row, from), expected);
        }
    }
}

static void
test_changes_are_sorted_and_found_in_all_orders(void **state)
{
    static const int one_in[] = {1, 2, 5, 40, 1000000};
    unsigned seed = 1;
    (void)state;
    for (size_t i = 0; i < sizeof one_in / sizeof one_in[0]; i++) {
        uint8_t what[WORLD];
        changes_at_random(what, one_in[i], &seed);
        struct change_set *set = set_of(what);
        check_set(set, what);
        for (int order = 0; order < ORDER_COUNT && one_in[i] > 2; order++) {
            check_finding(set, (enum quad_order)order);
        }
        change_set_free(set);
    }
}

static void
test_the_newer_of_two_changes_counts(void **state)
{
    static const int one_in[][2] = {{2, 2},       {3, 30},      {30, 3},
                                    {1000000, 3}, {3, 1000000}, {1000000, 1000000}};
    unsigned seed = 2;
    (void)state;
    for (size_t i = 0; i < sizeof one_in / sizeof one_in[0]; i++) {
        uint8_t older[WORLD], newer[WORLD], both[WORLD];
        changes_at_random(older, one_in[i][0], &seed);
        changes_at_random(newer, one_in[i][1], &seed);
        for (unsigned k = 0; k < WORLD; k++) {
            both[k] = newer[k] != NOTHING ? newer[k] : older[k];
        }
        struct change_set *first = set_of(older), *second = set_of(newer);
        first->batch = 5;
        second->batch = 9;
        struct change_set *joined = change_set_join(first, second);
        check_set(joined, both);
        assert_int_equal(joined->batch, 5);
        check_set(first, older);
        check_set(second, newer);
        change_set_free(joined);
        change_set_free(second);
        change_set_free(first);
    }
}

static void
test_a_set_lives_until_its_last_user_frees_it(void **state)
{
    unsigned seed = 3;
    uint8_t what[WORLD];
    (void)state;
    changes_at_random(what, 3, &seed);
    struct change_set *set = set_of(what);
    assert_ptr_equal(change_set_use(set), set);
    assert_ptr_equal(change_set_use(set), set);
    for (unsigned users = 2; users > 0; users--) {
        assert_int_equal(set->users, users);
        change_set_free(set);
        check_set(set, what);
    }
    change_set_free(set);
    change_set_free(NULL);
}

/* ---- changes that are gathered ---- */

/* The quads of the world that are there, in the order of a tree and within bounds. */
static struct row_vector
rows_of(const bool there[WORLD], enum quad_order order, const struct row *from,
        const struct row *to)
{
    struct row_vector rows = {0};
    row_vector_reserve(&rows, WORLD);
    for (unsigned i = 0; i < WORLD; i++) {
        const struct quad_oids quad = quad_of(i);
        const struct row row = row_of(&quad, order);
        if (!there[i] || row_compare(&row, from) < 0 ||
            (to != NULL && row_compare(&row, to) >= 0)) {
            continue;
        }
        size_t at = rows.count++;
        for (; at > 0 && row_compare(&rows.rows[at - 1], &row) > 0; at--) {
            rows.rows[at] = rows.rows[at - 1];
        }
        rows.rows[at] = row;
    }
    return rows;
}

static void
assert_rows_equal(const struct row_vector *rows, const struct row_vector *expected)
{
    assert_int_equal(rows->count, expected->count);
    for (size_t i = 0; i < rows->count; i++) {
        assert_int_equal(row_compare(&rows->rows[i], &expected->rows[i]), 0);
    }
}

static void
apply(bool there[WORLD], const uint8_t what[WORLD])
{
    for (unsigned i = 0; i < WORLD; i++) {
        there[i] = what[i] == NOTHING ? there[i] : what[i] == ADDED;
    }
}

static void
check_restored(const struct memtable *table, const bool tree[WORLD], const bool now[WORLD],
               unsigned *seed)
{
    for (int order = 0; order < ORDER_COUNT; order++) {
        const struct quad_oids low = quad_of((unsigned)rand_r(seed) % WORLD);
        const struct quad_oids high = quad_of((unsigned)rand_r(seed) % WORLD);
        const struct row from = row_of(&low, (enum quad_order)order);
        const struct row to = row_of(&high, (enum quad_order)order);
        const struct row *end = rand_r(seed) % 3 == 0 || row_compare(&from, &to) > 0 ? NULL : &to;
        struct row_vector rows = rows_of(tree, (enum quad_order)order, &from, end);
        /* The tree in the order CSPO has them already. */
        struct row_vector expected =
            rows_of(order == ORDER_CSPO ? tree : now, (enum quad_order)order, &from, end);
        memtable_restore(table, (enum quad_order)order, &from, end, &rows);
        assert_rows_equal(&rows, &expected);
        row_vector_release(&rows);
        row_vector_release(&expected);
    }
}

static void
test_what_is_gathered_is_brought_into_rows(void **state)
{
    enum { SETS = 4, ROUNDS = 40 };
    unsigned seed = 4;
    (void)state;
    for (uint64_t round = brief(ROUNDS, 4); round > 0; round--) {
        struct memtable table = {.count = SETS};
        bool tree[WORLD], now[WORLD];
        size_t counts[SETS + 1] = {0};
        for (unsigned i = 0; i < WORLD; i++) {
            tree[i] = now[i] = rand_r(&seed) % 2 == 0;
        }
        for (size_t i = 0; i < SETS; i++) {
            uint8_t what[WORLD];
            changes_at_random(what, i % 2 == 0 ? 4 : 30, &seed);
            table.sets[i] = set_of(what);
            apply(now, what);
            if (rand_r(&seed) % 2 == 0) { /* a tree may have some of them */
                apply(tree, what);
            }
        }
        for (size_t i = SETS; i-- > 0;) {
            counts[i] = counts[i + 1] + table.sets[i]->count;
        }
        for (size_t i = 0; i <= SETS; i++) {
            assert_int_equal(memtable_changes(&table, i), counts[i]);
        }
        check_restored(&table, tree, now, &seed);
        for (size_t i = 0; i < SETS; i++) {
            change_set_free(table.sets[i]);
        }
    }
}

/* Only what does something can be undone: what is added was not there, what is removed was. */
static void
test_changes_are_undone(void **state)
{
    unsigned seed = 5;
    bool before[WORLD], after[WORLD];
    uint8_t what[WORLD];
    const struct row first = {{0}};
    (void)state;
    changes_at_random(what, 3, &seed);
    for (unsigned i = 0; i < WORLD; i++) {
        before[i] = what[i] == REMOVED || (what[i] == NOTHING && rand_r(&seed) % 2 == 0);
    }
    memcpy(after, before, sizeof after);
    apply(after, what);
    struct change_set *set = set_of(what);
    for (int order = 0; order < ORDER_COUNT; order++) {
        struct row_vector old = rows_of(before, (enum quad_order)order, &first, NULL);
        struct row_vector new = rows_of(after, (enum quad_order)order, &first, NULL);
        struct row_vector rows = rows_of(before, (enum quad_order)order, &first, NULL);
        rows_change(set, (enum quad_order)order, 0, set->count, false, &rows);
        assert_rows_equal(&rows, &new);
        rows_change(set, (enum quad_order)order, 0, set->count, true, &rows);
        assert_rows_equal(&rows, &old);
        row_vector_release(&rows);
        row_vector_release(&new);
        row_vector_release(&old);
    }
    change_set_free(set);
}

/* ---- the names of rows ---- */

static struct buf sent;
static bool sent_last;
static enum status send_status;
static size_t term_length; /* of each term that is resolved */
static uint64_t resolved_before;

enum status __wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status
__wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    (void)cursor;
    (void)why;
    buf_reset(&sent);
    sent_last = false;
    assert_int_equal(buf_append_slice(&sent, bytes), STATUS_OK);
    return send_status;
}

enum status __wrap_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status
__wrap_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    const enum status status = __wrap_cursor_write(cursor, bytes, why);
    sent_last = true;
    return status;
}

/* The term of an identifier is text of one letter; those of a chunk are asked for in their order.
 */
static enum status
resolve(void *context, oid id, struct term *term, struct reason *why)
{
    static char text[100];
    const char *letter = context;
    (void)why;
    assert_true(id > resolved_before);
    resolved_before = id;
    memset(text, *letter, term_length);
    *term = term_literal(slice_of(text, term_length));
    return STATUS_OK;
}

static enum status
resolve_nothing(void *context, oid id, struct term *term, struct reason *why)
{
    (void)context;
    (void)id;
    (void)term;
    return status_fail(why, STATUS_SYSTEM, "nothing is resolved");
}

static oid
local(uint64_t i)
{
    return OID_LOCAL + i;
}

/* The next name: 0 for a new one, whose identifier and term are checked, else what was sent. */
static uint64_t
take_name(struct codec_reader *in, oid id, char letter)
{
    const uint64_t name = codec_get_varint(in);
    if (name != INDEX_NAME_NEW) {
        return name;
    }
    assert_int_equal(codec_get_u64(in), id);
    if (index_name_has_term(id)) {
        struct term term;
        assert_true(index_get_term(in, &term));
        assert_int_equal(term.value.length, term_length);
        for (size_t i = 0; i < term.value.length; i++) {
            assert_int_equal(term.value.at[i], letter);
        }
    }
    return INDEX_NAME_NEW;
}

/* One chunk: the identifiers twice each, in an order that is not that of their numbers. */
static void
send_chunk(struct row_names *names, const oid *ids, size_t count, char letter, struct buf *out)
{
    struct reason why = {""};
    for (size_t i = 0; i < 2 * count; i++) {
        row_names_note(names, ids[i % count]);
    }
    resolved_before = 0;
    assert_int_equal(row_names_prepare(names, resolve, &letter, &why), STATUS_OK);
    for (size_t i = 0; i < 2 * count; i++) {
        row_names_put(names, ids[i % count], out);
    }
}

static void
test_names_are_sent_once(void **state)
{
    enum { COUNT = 600, ROOM = 64 };
    oid ids[COUNT];
    struct row_names names;
    struct buf out;
    struct reason why = {""};
    size_t room = 1;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        ids[i] =
            i % 7 == 0 ? oid_stored(1 + (i * 37) % COUNT, OID_KIND_IRI) : local((i * 37) % COUNT);
    }
    ids[5] = OID_NONE;
    term_length = 9;
    send_status = STATUS_OK;
    buf_init(&sent, ROW_NAMES_PIECE);
    buf_init(&out, ROW_NAMES_PIECE);
    row_names_init(&names, NULL);
    for (size_t from = 0; from < COUNT; from += COUNT / 2) {
        const char letter = from == 0 ? 'a' : 'b';
        /* The second chunk has the first one's names, too, which are known. */
        send_chunk(&names, ids, from + COUNT / 2, letter, &out);
        const size_t expected = room < ROOM / 4 ? 4 * room : ROOM;
        assert_int_equal(row_names_send(&names, &out, NULL, from > 0, ROOM, &room, &why),
                         STATUS_OK);
        assert_int_equal(room, expected);
        assert_int_equal(sent_last, from > 0);
        assert_int_equal(out.length, 0);
        struct codec_reader in = codec_reader_of(buf_slice(&sent));
        for (size_t i = 0; i < 2 * (from + COUNT / 2); i++) {
            const size_t k = i % (from + COUNT / 2);
            assert_int_equal(take_name(&in, ids[k], letter),
                             i == k && k >= from ? INDEX_NAME_NEW : INDEX_NAME_FIRST + k);
        }
        assert_true(codec_at_end(&in));
    }
    row_names_release(&names);
    buf_release(&out);
    buf_release(&sent);
}

static void
test_chunks_grow_up_to_what_is_wanted(void **state)
{
    static const struct {
        size_t most, rooms[5];
    } cases[] = {{100, {1, 4, 16, 64, 100}}, {16, {1, 4, 16, 16, 16}}, {1, {1, 1, 1, 1, 1}}};
    struct reason why = {""};
    (void)state;
    buf_init(&sent, ROW_NAMES_PIECE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct row_names names;
        struct buf out;
        size_t room = 1;
        buf_init(&out, 3);
        row_names_init(&names, NULL);
        for (size_t k = 0; k < 5; k++) {
            assert_int_equal(room, cases[i].rooms[k]);
            send_status = k == 3 ? STATUS_CANCELLED : STATUS_OK;
            assert_int_equal(row_names_send(&names, &out, NULL, false, cases[i].most, &room, &why),
                             send_status);
        }
        /* What is too long is not sent. */
        (void)buf_append_string(&out, "abcd");
        assert_int_equal(row_names_send(&names, &out, NULL, false, 9, &room, &why), STATUS_LIMIT);
        row_names_note(&names, local(1));
        assert_int_equal(row_names_prepare(&names, resolve_nothing, NULL, &why), STATUS_SYSTEM);
        row_names_release(&names);
        buf_release(&out);
    }
    buf_release(&sent);
}

/* There are too many after the second chunk: the third begins anew. */
static void
test_names_are_forgotten_when_there_are_many(void **state)
{
    enum { MANY = 1 << 20 };
    struct row_names names;
    struct buf out;
    struct reason why = {""};
    size_t room = 1;
    uint64_t noted = 0;
    char letter = 'c';
    (void)state;
    term_length = 0;
    send_status = STATUS_OK;
    buf_init(&sent, ROW_NAMES_PIECE);
    buf_init(&out, ROW_NAMES_PIECE);
    row_names_init(&names, NULL);
    for (int chunk = 0; chunk < 3; chunk++) {
        static const uint64_t until[] = {MANY, MANY + 1, MANY + 2};
        for (; noted < until[chunk]; noted++) {
            row_names_note(&names, local(noted));
        }
        row_names_note(&names, local(0));
        resolved_before = 0;
        assert_int_equal(row_names_prepare(&names, resolve, &letter, &why), STATUS_OK);
        row_names_put(&names, local(0), &out);
        row_names_put(&names, local(noted - 1), &out);
        row_names_put(&names, local(0), &out);
        assert_int_equal(row_names_send(&names, &out, NULL, false, 1000, &room, &why), STATUS_OK);
        struct codec_reader in = codec_reader_of(buf_slice(&sent));
        if (chunk == 2) {
            assert_int_equal(codec_get_varint(&in), INDEX_NAME_FORGET);
        }
        assert_int_equal(take_name(&in, local(0), letter),
                         chunk == 1 ? INDEX_NAME_FIRST : INDEX_NAME_NEW);
        assert_int_equal(take_name(&in, local(noted - 1), letter), INDEX_NAME_NEW);
        assert_int_equal(take_name(&in, local(0), letter), INDEX_NAME_FIRST);
        assert_true(codec_at_end(&in));
    }
    row_names_release(&names);
    buf_release(&out);
    buf_release(&sent);
}

/* ---- sessions ---- */

enum { READERS = 8, IDLE_MS = 300000 };

static struct {
    int users; /* 0: closed */
} readers[READERS];
static int reader_count;
static uint64_t now_ms;
static bool open_fails;

uint64_t __wrap_clock_monotonic_ms(void);
uint64_t
__wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

enum status __wrap_partition_reader_open(struct partition_reader **reader,
                                         struct partition *partition, struct reason *why);
enum status
__wrap_partition_reader_open(struct partition_reader **reader, struct partition *partition,
                             struct reason *why)
{
    assert_ptr_equal(partition, readers);
    if (open_fails) {
        return status_fail(why, STATUS_SYSTEM, "no reader");
    }
    assert_true(reader_count < READERS);
    readers[reader_count].users = 1;
    *reader = (struct partition_reader *)&readers[reader_count++];
    return STATUS_OK;
}

struct partition_reader *__wrap_partition_reader_share(struct partition_reader *reader);
struct partition_reader *
__wrap_partition_reader_share(struct partition_reader *reader)
{
    ((int *)reader)[0]++;
    return reader;
}

void __wrap_partition_reader_close(struct partition_reader *reader);
void
__wrap_partition_reader_close(struct partition_reader *reader)
{
    if (reader != NULL) {
        assert_true(((int *)reader)[0] > 0);
        ((int *)reader)[0]--;
    }
}

/* Asks, and closes what it gets: the number of the reader, or -1. */
static int
ask(struct sessions *sessions, uint64_t id, bool begin, enum status expected)
{
    struct partition_reader *reader = NULL;
    struct reason why = {""};
    assert_int_equal(sessions_reader(sessions, id, begin, &reader, &why), expected);
    if (expected != STATUS_OK) {
        assert_null(reader);
        assert_true(why.text[0] != '\0');
        return -1;
    }
    assert_int_equal(((int *)reader)[0], 2);
    partition_reader_close(reader);
    return (int)((int *)reader - (int *)readers);
}

static void
test_sessions_keep_their_reader(void **state)
{
    (void)state;
    memset(readers, 0, sizeof readers);
    reader_count = 0;
    now_ms = 1000;
    struct sessions *sessions = sessions_new((struct partition *)readers, 2);
    ask(sessions, 7, false, STATUS_STALE);
    assert_int_equal(reader_count, 0);
    open_fails = true;
    ask(sessions, 7, true, STATUS_SYSTEM);
    open_fails = false;
    ask(sessions, 7, false, STATUS_STALE);
    assert_int_equal(ask(sessions, 7, true, STATUS_OK), 0);
    assert_int_equal(ask(sessions, 8, true, STATUS_OK), 1);
    assert_int_equal(ask(sessions, 7, true, STATUS_OK), 0);
    assert_int_equal(ask(sessions, 8, false, STATUS_OK), 1);
    ask(sessions, 9, true, STATUS_LIMIT);
    ask(sessions, 9, false, STATUS_STALE);
    sessions_end(sessions, 9);
    sessions_end(sessions, 7);
    assert_int_equal(readers[0].users, 0);
    assert_int_equal(readers[1].users, 1);
    ask(sessions, 7, false, STATUS_STALE);
    assert_int_equal(ask(sessions, 9, true, STATUS_OK), 2);
    sessions_free(sessions);
    assert_int_equal(readers[1].users, 0);
    assert_int_equal(readers[2].users, 0);
    sessions_free(NULL);
}

static void
test_sessions_that_nobody_asks_for_end(void **state)
{
    (void)state;
    memset(readers, 0, sizeof readers);
    reader_count = 0;
    now_ms = 1000;
    struct sessions *sessions = sessions_new((struct partition *)readers, 3);
    ask(sessions, 7, true, STATUS_OK);
    ask(sessions, 8, true, STATUS_OK);
    now_ms += IDLE_MS;
    ask(sessions, 8, false, STATUS_OK);
    sessions_tend(sessions, now_ms);
    assert_int_equal(readers[0].users, 1);
    sessions_tend(sessions, now_ms + 1);
    assert_int_equal(readers[0].users, 0);
    assert_int_equal(readers[1].users, 1);
    ask(sessions, 7, false, STATUS_STALE);
    assert_int_equal(ask(sessions, 8, false, STATUS_OK), 1);
    sessions_tend(sessions, now_ms + IDLE_MS + 1);
    assert_int_equal(readers[1].users, 0);
    sessions_free(sessions);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes_are_sorted_and_found_in_all_orders),
        cmocka_unit_test(test_the_newer_of_two_changes_counts),
        cmocka_unit_test(test_a_set_lives_until_its_last_user_frees_it),
        cmocka_unit_test(test_what_is_gathered_is_brought_into_rows),
        cmocka_unit_test(test_changes_are_undone),
        cmocka_unit_test(test_names_are_sent_once),
        cmocka_unit_test(test_chunks_grow_up_to_what_is_wanted),
        cmocka_unit_test(test_names_are_forgotten_when_there_are_many),
        cmocka_unit_test(test_sessions_keep_their_reader),
        cmocka_unit_test(test_sessions_that_nobody_asks_for_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + index_records_run();
}
