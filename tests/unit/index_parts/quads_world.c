#include "tests/unit/index_parts/quads_world.h"

#include "base/memory.h"
#include "tests/unit/stand_in.h"

struct block blocks[ORDER_COUNT][QUADS];
size_t block_counts[ORDER_COUNT];
static max_align_t trees[ORDER_COUNT];
struct quad_oids universe[QUADS];
bool states[STATES][QUADS]; /* what snapshots see */
struct snapshots *snapshots;
bool latched;
size_t open_cursors, block_reads;
size_t current;
unsigned call, failing;
double positions[2];
unsigned asked_positions;
struct reason why;
uint64_t chance;
bool wide_values;

uint64_t
next_chance(uint64_t below)
{
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (chance >> 33) % below;
}

static int
compare_rows(const void *a, const void *b)
{
    return row_compare(a, b);
}

enum status
may_fail(struct reason *reason)
{
    return ++call == failing ? status_fail(reason, STATUS_SYSTEM, "call %u", call) : STATUS_OK;
}

/* ---- the trees ---- */

STAND_IN(struct tree *, quads_tree, (const struct quads *quads, enum quad_order order))
{
    (void)quads;
    return (struct tree *)&trees[order];
}

STAND_IN(const char *, quads_tree_name, (const struct quads *quads, enum quad_order order))
{
    static const char *const names[] = {"spoc", "pocs", "ocsp", "cspo", "cpos", "ospc"};
    (void)quads;
    return names[order];
}

/* Trees have latches of their own; the snapshots' is none of them. */
STAND_IN(struct latch *, tree_latch, (struct tree * tree))
{
    return (struct latch *)tree;
}

static bool
is_of_tree(const struct latch *latch)
{
    return (const max_align_t *)latch >= trees && (const max_align_t *)latch < trees + ORDER_COUNT;
}

void __real_latch_enter_reading(struct latch *latch);
STAND_IN(void, latch_enter_reading, (struct latch * latch))
{
    if (is_of_tree(latch)) {
        assert_false(latched);
        latched = true;
    } else {
        __real_latch_enter_reading(latch);
    }
}

void __real_latch_leave(struct latch *latch);
STAND_IN(void, latch_leave, (struct latch * latch))
{
    if (is_of_tree(latch)) {
        assert_true(latched);
        latched = false;
    } else {
        __real_latch_leave(latch);
    }
}

STAND_IN(void, fence_open,
         (struct fence_cursor * cursor, struct tree *tree, struct transaction *transaction))
{
    memset(cursor, 0xee, sizeof *cursor);
    cursor->tree = tree;
    cursor->transaction = transaction;
}

STAND_IN(void, fence_close, (struct fence_cursor * cursor))
{
    (void)cursor;
    open_cursors = 0;
}

size_t
tree_of(const struct tree *tree)
{
    assert_true((const max_align_t *)tree >= trees &&
                (const max_align_t *)tree < trees + ORDER_COUNT);
    return (size_t)((const max_align_t *)tree - trees);
}

/* Behind the last block there is an empty one. */
static enum status
show(struct fence_cursor *cursor, size_t at, struct reason *reason)
{
    const size_t order = tree_of(cursor->tree);
    TRY(may_fail(reason));
    current = at;
    cursor->stored = at < block_counts[order];
    cursor->block_length = 0;
    memcpy(cursor->fence, FENCE_LAST.at, FENCE_LAST.length);
    cursor->fence_length = FENCE_LAST.length;
    if (cursor->stored) {
        const struct block *block = &blocks[order][at];
        cursor->block_length = block->length;
        memcpy(cursor->block, block->bytes, block->length);
        memcpy(cursor->fence, block->fence, block->fence_length);
        cursor->fence_length = block->fence_length;
    }
    block_reads++;
    return STATUS_OK;
}

STAND_IN(enum status, fence_seek,
         (struct fence_cursor * cursor, struct slice key, struct reason *reason))
{
    const size_t order = tree_of(cursor->tree);
    size_t at = 0;
    assert_in_range(key.length, 0, ROW_KEY_SIZE);
    open_cursors = 1; /* there is never more than one, and it may be closed at any time */
    while (at < block_counts[order] && slice_compare(slice_of((const char *)blocks[order][at].fence,
                                                              blocks[order][at].fence_length),
                                                     key) < 0) {
        at++;
    }
    return show(cursor, at, reason);
}

STAND_IN(enum status, fence_next, (struct fence_cursor * cursor, struct reason *reason))
{
    const size_t order = tree_of(cursor->tree);
    return current + 1 < block_counts[order] ? show(cursor, current + 1, reason) : STATUS_END;
}

STAND_IN(bool, fence_is_last, (const struct fence_cursor *cursor))
{
    return cursor->fence_length == 1 && cursor->fence[0] == 0xff;
}

STAND_IN(enum status, tree_position,
         (struct tree * tree, struct slice key, double *position, struct reason *reason))
{
    (void)tree;
    assert_int_equal(key.length, ROW_KEY_SIZE);
    TRY(may_fail(reason));
    *position = positions[asked_positions++ % 2];
    return STATUS_OK;
}

void
build(enum quad_order order, const bool *state, size_t rows_most)
{
    struct row rows[QUADS];
    size_t count = 0;
    for (size_t i = 0; i < QUADS; i++) {
        if (state[i]) {
            rows[count++] = row_of(&universe[i], order);
        }
    }
    qsort(rows, count, sizeof rows[0], compare_rows);
    block_counts[order] = 0;
    for (size_t at = 0; at < count;) {
        struct block *block = &blocks[order][block_counts[order]++];
        struct rows_writer writer;
        const size_t n = 1 + next_chance(rows_most);
        rows_begin(&writer, order, block->bytes, BLOCK_MAXIMUM);
        const size_t end = at + n < count ? at + n : count;
        for (; at < end; at++) {
            assert_true(rows_add(&writer, &rows[at]));
        }
        block->length = rows_end(&writer);
        block->fence[0] = 0xff;
        block->fence_length = at < count ? row_fence(&rows[at - 1], &rows[at], block->fence) : 1;
    }
}

/* ---- the model ---- */

oid
value(unsigned place, size_t number)
{
    const oid wide = (oid)(place + 1) << OID_INLINE_BITS |
                     ((number + 1) * UINT64_C(0x9e3779b97f4a7c15) & OID_INLINE_MASK);
    return wide_values
               ? wide
               : oid_stored(10 * (place + 1) + number, place == 2 ? OID_KIND_STRING : OID_KIND_IRI);
}

void
fill_universe(void)
{
    for (size_t i = 0; i < QUADS; i++) {
        universe[i] = (struct quad_oids){value(0, i % VALUES), value(1, i / VALUES % VALUES),
                                         value(2, i / VALUES / VALUES % VALUES),
                                         value(3, i / VALUES / VALUES / VALUES)};
    }
}

int
begin_quads(void **state)
{
    (void)state;
    fill_universe();
    snapshots = snapshots_new(1 << 20);
    latched = false;
    open_cursors = 0;
    call = failing = asked_positions = 0;
    chance = 1;
    return 0;
}

int
end_quads(void **state)
{
    (void)state;
    snapshots_free(snapshots);
    assert_int_equal(open_cursors, 0);
    assert_false(latched);
    return 0;
}

static int
compare_changes(const void *a, const void *b)
{
    const struct row left = row_of(&((const struct quad_change *)a)->quad, ORDER_CSPO);
    const struct row right = row_of(&((const struct quad_change *)b)->quad, ORDER_CSPO);
    return row_compare(&left, &right);
}

struct change_set *
difference(const bool *old, const bool *new)
{
    struct quad_change *changes = memory_zero(QUADS, sizeof *changes);
    size_t count = 0;
    for (size_t i = 0; i < QUADS; i++) {
        if (old[i] != new[i]) {
            changes[count++] = (struct quad_change){universe[i], old[i]};
        }
    }
    qsort(changes, count, sizeof *changes, compare_changes);
    return change_set_new(changes, count);
}

static bool
matches(const struct quad_oids *pattern, const struct quad_oids *quad)
{
    return (pattern->subject == OID_NONE || pattern->subject == quad->subject) &&
           (pattern->predicate == OID_NONE || pattern->predicate == quad->predicate) &&
           (pattern->object == OID_NONE || pattern->object == quad->object) &&
           (pattern->graph == OID_NONE || pattern->graph == quad->graph);
}

size_t
expected_rows(const bool *state, enum quad_order order, const struct quad_oids *pattern,
              const struct row *from, const struct row *to, struct row *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < QUADS; i++) {
        const struct row row = row_of(&universe[i], order);
        if (state[i] && matches(pattern, &universe[i]) &&
            (from == NULL || row_compare(&row, from) >= 0) &&
            (to == NULL || row_compare(&row, to) < 0)) {
            rows[count++] = row;
        }
    }
    qsort(rows, count, sizeof rows[0], compare_rows);
    return count;
}

struct quad_oids
some_pattern(void)
{
    struct quad_oids pattern = universe[next_chance(QUADS)];
    const uint64_t bound = next_chance(16);
    pattern.subject = bound & 1 ? pattern.subject : OID_NONE;
    pattern.predicate = bound & 2 ? pattern.predicate : OID_NONE;
    pattern.object = bound & 4 ? pattern.object : OID_NONE;
    pattern.graph = bound & 8 ? pattern.graph : OID_NONE;
    if (next_chance(20) == 0) {
        pattern.object = value(2, VALUES);
    }
    return pattern;
}
