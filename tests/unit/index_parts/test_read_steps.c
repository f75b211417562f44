/* What is read of a whole partition (index/read/): counts, dumps and quads as lines, and positions
 * in its changes as text. The linker puts the functions below in the place of the index's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <inttypes.h>

#include "base/memory.h"
#include "index/read/dump.h"
#include "index/read/quad_text.h"
#include "index/write/partition_state.h"
#include "store/line_sort.h"
#include "tests/unit/stand_in.h"

enum { TEXT_MOST = 1 << 22, PIECE = 32 << 10, DUMP_PIECE = 256 << 10 };

static struct partition partition;
static max_align_t latch, reader_place, nodes_place;
static unsigned call, failing, first_piece;
static struct buf text;
static struct reason why;
static bool latched;
static size_t readers, pieces;
static size_t quads;   /* of the walk */
static size_t written; /* quads that could be written; SIZE_MAX: all */
static size_t predicates, long_name;
static unsigned renewals; /* until there is a position */
static size_t least;      /* bytes of a piece but the last */

static int
begin(void **state)
{
    (void)state;
    memset(&partition, 0, sizeof partition);
    buf_init(&text, TEXT_MOST);
    failing = call = 0;
    quads = 3;
    written = SIZE_MAX;
    predicates = 2;
    long_name = 0;
    renewals = 0;
    return 0;
}

static int
end(void **state)
{
    (void)state;
    buf_release(&text);
    assert_int_equal(readers, 0);
    return 0;
}

static enum status
may_fail(struct reason *reason)
{
    return ++call == failing ? status_fail(reason, STATUS_CORRUPT, "call %u", call) : STATUS_OK;
}

static enum status
take_piece(void *context, struct slice bytes, struct reason *reason)
{
    assert_ptr_equal(context, &text);
    assert_false(latched);
    assert_true(bytes.length == 0 || bytes.at[bytes.length - 1] == '\n');
    TRY(may_fail(reason));
    first_piece = pieces++ == 0 ? call : first_piece;
    return buf_append_slice(&text, bytes);
}

static void
expect_text(const char *expected)
{
    (void)buf_append_char(&text, '\0');
    assert_string_equal(text.data, expected);
    buf_reset(&text);
}

/* ---- the index ---- */

STAND_IN(struct latch *, tree_latch, (struct tree * tree))
{
    assert_null(tree);
    return (struct latch *)&latch;
}

STAND_IN(void, latch_enter_reading, (struct latch * of))
{
    assert_ptr_equal(of, &latch);
    assert_false(latched);
    latched = true;
}

STAND_IN(void, latch_leave, (struct latch * of))
{
    assert_ptr_equal(of, &latch);
    assert_true(latched);
    latched = false;
}

STAND_IN(struct totals, partition_totals, (struct partition * of))
{
    assert_ptr_equal(of, &partition);
    return (struct totals){.terms = 77, .quads = 999};
}

STAND_IN(enum status, statistics_totals,
         (struct tree * statistics, struct totals *totals, struct reason *reason))
{
    assert_null(statistics);
    assert_true(latched);
    *totals = (struct totals){.quads = 12, .documents = 3, .literals = 4};
    return may_fail(reason);
}

STAND_IN(enum status, statistics_next,
         (struct tree * statistics, enum statistic kind, oid *id, struct statistic_count *count,
          struct reason *reason))
{
    assert_null(statistics);
    assert_true(latched);
    TRY(may_fail(reason));
    if (*id == (kind == STATISTIC_PREDICATE ? predicates : 1)) {
        return STATUS_END;
    }
    ++*id;
    *count = (struct statistic_count){.quads = 10 * *id, .subjects = *id + 1};
    return STATUS_OK;
}

STAND_IN(enum status, statistics_next_host,
         (struct tree * statistics, bool first, struct host_entry *entry, struct reason *reason))
{
    static const char *const hosts[] = {"", "a.example", "b.example"};
    assert_null(statistics);
    assert_true(latched);
    TRY(may_fail(reason));
    assert_int_equal(first, entry->quads == 0);
    const uint64_t at = entry->quads;
    if (at == sizeof hosts / sizeof hosts[0]) {
        return STATUS_END;
    }
    entry->length = strlen(hosts[at]);
    memcpy(entry->name, hosts[at], entry->length);
    entry->quads = at + 1;
    entry->documents = 5;
    return STATUS_OK;
}

STAND_IN(void, characteristic_sets_totals,
         (struct characteristic_sets * sets, struct characteristic_totals *totals))
{
    assert_null(sets);
    *totals = (struct characteristic_totals){.sets = 2, .subjects = 8, .large = 1, .other = 6};
}

STAND_IN(void, characteristic_sets_copy,
         (struct characteristic_sets * sets, struct predicate_sets *copy))
{
    static const oid of_two[] = {1, 2};
    assert_null(sets);
    assert_true(latched);
    *copy = (struct predicate_sets){0};
    struct predicate_set *set = predicate_sets_add(copy, of_two, 2);
    set->subjects = 4;
    copy->rows[set->first] = 5;
    copy->rows[set->first + 1] = 6;
    set = predicate_sets_add(copy, of_two + 1, 1);
    set->subjects = -1;
    copy->rows[set->first] = 7;
}

STAND_IN(struct nodes *, lexicon_nodes, (struct lexicon * lexicon))
{
    assert_null(lexicon);
    return NULL;
}

STAND_IN(struct nodes_reader *, nodes_reader_new, (struct nodes * nodes))
{
    assert_null(nodes);
    readers++;
    return (struct nodes_reader *)&nodes_place;
}

STAND_IN(void, nodes_reader_free, (struct nodes_reader * reader))
{
    assert_ptr_equal(reader, &nodes_place);
    readers--;
}

STAND_IN(enum status, nodes_resolve,
         (struct nodes_reader * reader, oid id, struct arena *arena, struct term *term,
          struct reason *reason))
{
    assert_ptr_equal(reader, &nodes_place);
    assert_false(latched);
    *term = term_iri(arena_printf(arena, "http://p.example/%0*" PRIu64, (int)long_name + 1, id));
    return may_fail(reason);
}

STAND_IN(enum status, partition_reader_open,
         (struct partition_reader * *reader, struct partition *of, struct reason *reason))
{
    assert_ptr_equal(of, &partition);
    TRY(may_fail(reason));
    *reader = (struct partition_reader *)&reader_place;
    readers++;
    return STATUS_OK;
}

STAND_IN(void, partition_reader_close, (struct partition_reader * reader))
{
    assert_ptr_equal(reader, &reader_place);
    readers--;
}

STAND_IN(enum status, partition_reader_position,
         (const struct partition_reader *reader, struct change_position *position))
{
    assert_ptr_equal(reader, &reader_place);
    *position = (struct change_position){.batch = 12, .stamp = 0xab};
    return renewals == 0 ? STATUS_OK : STATUS_STALE;
}

STAND_IN(void, partition_reader_renew, (struct partition_reader * reader))
{
    assert_ptr_equal(reader, &reader_place);
    renewals--;
}

STAND_IN(const struct quad_source *, partition_reader_source, (struct partition_reader * reader))
{
    assert_ptr_equal(reader, &reader_place);
    return NULL;
}

/* Quads whose numbers go down. */
STAND_IN(enum status, quad_walk,
         (const struct quad_source *source, const struct quad_oids *pattern, enum quad_order order,
          const struct quad_sink *sink, struct reason *reason))
{
    assert_null(source);
    assert_int_equal(order, ORDER_CSPO);
    assert_int_equal(pattern->predicate, 0);
    TRY(may_fail(reason));
    for (size_t i = quads; i > 0; i--) {
        char name[64];
        snprintf(name, sizeof name, "urn:%05zu", i);
        const struct term term = term_iri(slice_string(name));
        const enum status status =
            sink->quad(sink->context, &(struct quad){term, term, term, term, 0, 0}, reason);
        if (status != STATUS_OK) {
            return status == STATUS_END ? STATUS_OK : status;
        }
    }
    return STATUS_OK;
}

enum status __real_nquads_write(struct buf *buf, const struct quad *quad);
STAND_IN(enum status, nquads_write, (struct buf * buf, const struct quad *quad))
{
    if (written == 0) {
        return STATUS_LIMIT;
    }
    written--;
    return __real_nquads_write(buf, quad);
}

/* ---- sorting, which may fail ---- */

enum status __real_line_sort_add(struct line_sort *sort, struct slice line, struct reason *reason);
STAND_IN(enum status, line_sort_add,
         (struct line_sort * sort, struct slice line, struct reason *reason))
{
    TRY(may_fail(reason));
    return __real_line_sort_add(sort, line, reason);
}

enum status __real_line_sort_finish(struct line_sort *sort, struct reason *reason);
STAND_IN(enum status, line_sort_finish, (struct line_sort * sort, struct reason *reason))
{
    assert_int_equal(readers, 0); /* nothing is kept from the writer while this sorts */
    TRY(may_fail(reason));
    return __real_line_sort_finish(sort, reason);
}

enum status __real_line_sort_next(struct line_sort *sort, struct slice *line,
                                  struct reason *reason);
STAND_IN(enum status, line_sort_next,
         (struct line_sort * sort, struct slice *line, struct reason *reason))
{
    TRY(may_fail(reason));
    return __real_line_sort_next(sort, line, reason);
}

/* Whatever fails comes back, and nothing is left open. */
static void each_call_can_fail(enum status (*does)(void))
{
    failing = call = 0;
    buf_reset(&text);
    assert_int_equal(does(), STATUS_OK);
    const unsigned all = call;
    for (failing = 1; failing <= all; failing++) {
        char expected[32];
        buf_reset(&text);
        call = 0;
        assert_int_equal(does(), STATUS_CORRUPT);
        snprintf(expected, sizeof expected, "call %u", failing);
        assert_string_equal(why.text, expected);
        assert_int_equal(call, failing);
        assert_false(latched);
        assert_int_equal(readers, 0);
    }
    failing = 0;
    buf_reset(&text);
}

/* ---- counts ---- */

static enum status
count(void)
{
    return partition_counts(&partition, false, take_piece, &text, &why);
}

static enum status
count_sets(void)
{
    return partition_counts(&partition, true, take_piece, &text, &why);
}

#define TOTALS                                                                                     \
    "T\t12\tquads\nT\t3\tdocuments\nT\t77\tterms\nT\t4\tliterals\nT\t8\tsubjects\n"                \
    "T\t1\tsubjects-large\nT\t6\tsubjects-other\nH\t1 5\t\nH\t2 5\ta.example\nH\t3 5\tb.example\n" \
    "P\t10 2\t<http://p.example/1>\nP\t20 3\t<http://p.example/2>\nC\t10\t<http://p.example/1>\n"

static void
counts_are_lines(void **state)
{
    (void)state;
    assert_int_equal(count(), STATUS_OK);
    expect_text(TOTALS);
    assert_int_equal(count_sets(), STATUS_OK);
    expect_text(TOTALS "S\t4 5 6\t<http://p.example/1> <http://p.example/2>\n"
                       "S\t-1 7\t<http://p.example/2>\n");
    each_call_can_fail(count);
    each_call_can_fail(count_sets);
}

static enum status
take_large_piece(void *context, struct slice bytes, struct reason *reason)
{
    assert_true(pieces == 0 || least >= PIECE);
    least = bytes.length;
    assert_in_range(bytes.length, 0, PIECE + 200);
    return take_piece(context, bytes, reason);
}

static void
many_counts_leave_in_pieces(void **state)
{
    (void)state;
    predicates = 3000;
    long_name = 30;
    pieces = 0;
    assert_int_equal(partition_counts(&partition, false, take_large_piece, &text, &why), STATUS_OK);
    assert_int_equal(pieces, text.length / PIECE + 1);
    size_t lines = 0;
    for (size_t i = 0; i < text.length; i++) {
        lines += text.data[i] == '\n';
    }
    assert_int_equal(lines, 7 + 3 + predicates + 1);
    /* One that is not taken ends it. */
    failing = first_piece;
    call = 0;
    assert_int_equal(count(), STATUS_CORRUPT);
    assert_int_equal(call, failing);
}

/* ---- lines of quads ---- */

static void
quads_are_lines(void **state)
{
    (void)state;
    static const char *const lines = "<urn:00003> <urn:00003> <urn:00003> <urn:00003> .\n"
                                     "<urn:00002> <urn:00002> <urn:00002> <urn:00002> .\n"
                                     "<urn:00001> <urn:00001> <urn:00001> <urn:00001> .\n";
    const size_t length = strlen(lines) / 3;
    const struct quad_oids all = {0};
    for (uint64_t limit = 0; limit < 5; limit++) {
        char expected[256];
        const size_t count = limit > 0 && limit < 3 ? (size_t)limit : 3;
        snprintf(expected, sizeof expected, "%.*s", (int)(count * length), lines);
        assert_int_equal(quad_lines(NULL, &all, ORDER_CSPO, limit, take_piece, &text, &why),
                         STATUS_OK);
        expect_text(expected);
    }
    call = 0;
    for (failing = 1; failing <= 4; failing++) { /* the walk, and each line */
        call = 0;
        assert_int_equal(quad_lines(NULL, &all, ORDER_CSPO, 0, take_piece, &text, &why),
                         STATUS_CORRUPT);
        assert_int_equal(call, failing);
    }
    failing = 0;
    buf_reset(&text);
    written = 1;
    assert_int_equal(quad_lines(NULL, &all, ORDER_CSPO, 0, take_piece, &text, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "a quad of more than 1073741824 bytes");
    assert_int_equal(text.length, length);
}

/* ---- dumps ---- */

static enum status
dump(void)
{
    return partition_dump(&partition, false, "/tmp", 1 << 20, take_piece, &text, &why);
}

static enum status
dump_with_position(void)
{
    return partition_dump(&partition, true, "/tmp", 1 << 20, take_piece, &text, &why);
}

static void
a_dump_is_sorted(void **state)
{
    (void)state;
    static const char lines[] = "position\t12.ab\n"
                                "<urn:00001> <urn:00001> <urn:00001> <urn:00001> .\n"
                                "<urn:00002> <urn:00002> <urn:00002> <urn:00002> .\n"
                                "<urn:00003> <urn:00003> <urn:00003> <urn:00003> .\n";
    pieces = 0;
    assert_int_equal(dump(), STATUS_OK);
    expect_text(strchr(lines, '\n') + 1);
    assert_int_equal(pieces, 1);
    /* It begins at a position, for which it may have to wait. */
    renewals = 3;
    assert_int_equal(dump_with_position(), STATUS_OK);
    expect_text(lines);
    assert_int_equal(renewals, 0);
    each_call_can_fail(dump);
    each_call_can_fail(dump_with_position);
    quads = 0;
    pieces = 0;
    assert_int_equal(dump(), STATUS_OK);
    expect_text("");
    assert_int_equal(pieces, 0);
}

static enum status
take_dump_piece(void *context, struct slice bytes, struct reason *reason)
{
    assert_true(pieces == 0 || least >= DUMP_PIECE);
    least = bytes.length;
    assert_in_range(bytes.length, 1, DUMP_PIECE + 200);
    return take_piece(context, bytes, reason);
}

static void
a_large_dump_leaves_in_pieces(void **state)
{
    (void)state;
    quads = 20000;
    pieces = 0;
    assert_int_equal(
        partition_dump(&partition, false, "/tmp", 1 << 20, take_dump_piece, &text, &why),
        STATUS_OK);
    assert_int_equal(text.length,
                     quads * strlen("<urn:00001> <urn:00001> <urn:00001> <urn:00001> .\n"));
    assert_int_equal(pieces, text.length / DUMP_PIECE + 1);
}

/* ---- positions ---- */

static void
positions_are_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t batch, stamp;
        const char *written; /* NULL: it is none */
    } cases[] = {
        {"0.0", 0, 0, "0.0"},
        {"12.ab", 12, 0xab, "12.ab"},
        {"9.9f0", 9, 0x9f0, "9.9f0"},
        {"007.00a", 7, 10, "7.a"},
        {"18446744073709551615.ffffffffffffffff", UINT64_MAX, UINT64_MAX,
         "18446744073709551615.ffffffffffffffff"},
        {"18446744073709551616.0", 0, 0, NULL},
        {"18446744073709551620.0", 0, 0, NULL},
        {"99999999999999999999.0", 0, 0, NULL},
        {"0.10000000000000000", 0, 0, NULL},
        {"", 0, 0, NULL},
        {".", 0, 0, NULL},
        {"1", 0, 0, NULL},
        {"1.", 0, 0, NULL},
        {".1", 0, 0, NULL},
        {"a.1", 0, 0, NULL},
        {"1.g", 0, 0, NULL},
        {"1.A", 0, 0, NULL},
        {"1.1 ", 0, 0, NULL},
        {" 1.1", 0, 0, NULL},
        {"1,1", 0, 0, NULL},
        {"1./", 0, 0, NULL},
        {"1.:", 0, 0, NULL},
        {"1.`", 0, 0, NULL},
        {"-1.1", 0, 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct change_position position = {7, 7};
        const bool right = change_position_get(slice_string(cases[i].text), &position);
        assert_int_equal(right, cases[i].written != NULL);
        if (right) {
            assert_true(position.batch == cases[i].batch && position.stamp == cases[i].stamp);
            change_position_put(&text, &position);
            expect_text(cases[i].written);
        }
    }
}

static void
positions_of_many_partitions(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "0:1.2",       "0:1.2,",     "0:1.2,1:",     "0:1.2,1:3",   "0:1.2,0:3.4", "1:1.2,0:3.4",
        "0:1.2,2:3.4", "0:1.21:3.4", ",0:1.2,1:3.4", "0.1.2,1:3.4", "a:1.2,1:3.4", "0:x.2,1:3.4"};
    struct change_position positions[3] = {{0, 0}};
    assert_int_equal(change_positions_get(SLICE("0:1.2,1:3.f"), positions, 2, &why), STATUS_OK);
    assert_true(positions[0].batch == 1 && positions[0].stamp == 2);
    assert_true(positions[1].batch == 3 && positions[1].stamp == 15);
    change_positions_put(&text, positions, 2);
    expect_text("0:1.2,1:3.f");
    change_positions_put(&text, positions, 1);
    expect_text("0:1.2");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char expected[128];
        assert_int_equal(change_positions_get(slice_string(wrong[i]), positions, 2, &why),
                         STATUS_MISUSE);
        snprintf(expected, sizeof expected, "not a position of 2 partitions: %s", wrong[i]);
        assert_string_equal(why.text, expected);
    }
    assert_int_equal(change_positions_get(SLICE(""), positions, 2, &why), STATUS_MISUSE);
    static const char *const more[] = {"0:1.2,1:3.4,2:5.6", "0:1.2,1:3.4 ", "0:1.2,1:3.4,"};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        assert_int_equal(change_positions_get(slice_string(more[i]), positions, 2, &why),
                         STATUS_MISUSE);
        assert_string_equal(why.text, "the position is of more than 2 partitions");
    }
    assert_int_equal(change_positions_get(SLICE(""), positions, 0, &why), STATUS_OK);
    /* Of a long text its beginning is told. */
    char longer[300];
    for (size_t length = 199; length <= 202; length++) {
        memset(longer, 'x', sizeof longer);
        longer[length] = '\0';
        assert_int_equal(change_positions_get(slice_string(longer), positions, 1, &why),
                         STATUS_MISUSE);
        assert_int_equal(strlen(why.text) - strlen("not a position of 1 partitions: "),
                         length < 200 ? length : 200);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(counts_are_lines),
        CASE(many_counts_leave_in_pieces),
        CASE(quads_are_lines),
        CASE(a_dump_is_sorted),
        CASE(a_large_dump_leaves_in_pieces),
        CASE(positions_are_text),
        CASE(positions_of_many_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
