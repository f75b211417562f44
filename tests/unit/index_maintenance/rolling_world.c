#include "tests/unit/index_maintenance/rolling_world.h"

#include <inttypes.h>

#include "base/memory.h"
#include "rdf/core/vocabulary.h"
#include "tests/unit/stand_in.h"

struct quad_oids universe[QUADS];
bool here[QUADS], written[QUADS];
size_t first_batch, batch_count, late;
struct partition partition;
size_t readers, scans, locks, behind;
enum failing failing;
uint64_t chance;

static struct change_set batches[BATCHES_MOST];

uint64_t
next_chance(uint64_t below)
{
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (chance >> 33) % below;
}

static enum status
failed(struct reason *reason)
{
    return status_fail(reason, STATUS_CORRUPT, "failure %d", (int)failing);
}

/* ---- the index ---- */

void
write_batch(size_t changes)
{
    assert_true(batch_count < BATCHES_MOST);
    bool turned[QUADS] = {false};
    int before[GRAPHS] = {0}, after[GRAPHS] = {0};
    struct change_set *set = &batches[batch_count++];
    *set = (struct change_set){.changes = memory_zero(QUADS, sizeof *set->changes),
                               .documents = memory_zero(GRAPHS, sizeof *set->documents)};
    for (size_t i = 0; i < changes; i++) {
        turned[next_chance(QUADS)] = true;
    }
    for (size_t i = 0; i < QUADS; i++) {
        const size_t graph = universe[i].graph - 1;
        before[graph] += written[i];
        if (turned[i]) {
            set->changes[set->count++] = (struct quad_change){universe[i], written[i]};
            written[i] = !written[i];
        }
        after[graph] += written[i];
    }
    for (size_t i = 0; i < GRAPHS; i++) {
        if ((before[i] > 0) != (after[i] > 0)) {
            set->documents[set->document_count++] =
                (struct document_change){i + 1, after[i] > 0 ? 1 : -1};
        }
    }
}

STAND_IN(const struct change_set *, snapshot_next, (const struct snapshot *held))
{
    assert_ptr_equal(held, &here);
    return first_batch < batch_count ? &batches[first_batch] : NULL;
}

void
go_on(void)
{
    struct change_set *set = &batches[first_batch++];
    for (size_t i = 0; i < set->count; i++) {
        size_t k = 0;
        while (memcmp(&universe[k], &set->changes[i].quad, sizeof universe[k]) != 0) {
            k++;
        }
        assert_int_equal(here[k], set->changes[i].removed);
        here[k] = !here[k];
    }
    free(set->changes);
    free(set->documents);
    if (first_batch == batch_count) {
        first_batch = batch_count = 0;
    }
}

STAND_IN(void, snapshot_go_on, (struct snapshot * held))
{
    assert_ptr_equal(held, &here);
    go_on();
}

STAND_IN(enum status, partition_reader_open,
         (struct partition_reader * *reader, struct partition *of, struct reason *reason))
{
    assert_ptr_equal(of, &partition);
    if (failing == OPEN) {
        return failed(reason);
    }
    *reader = (struct partition_reader *)&here;
    readers++;
    return STATUS_OK;
}

STAND_IN(void, partition_reader_hold, (struct partition_reader * reader))
{
    assert_ptr_equal(reader, &here);
}

STAND_IN(void, partition_reader_close, (struct partition_reader * reader))
{
    readers -= reader != NULL;
}

STAND_IN(struct snapshot *, partition_reader_snapshot, (const struct partition_reader *reader))
{
    assert_ptr_equal(reader, &here);
    return (struct snapshot *)&here;
}

STAND_IN(void, partition_lock_writer, (struct partition * of))
{
    assert_ptr_equal(of, &partition);
    locks++;
    behind = batch_count - first_batch;
    while (late > 0) {
        late--;
        write_batch(3);
    }
    assert_int_equal(pthread_mutex_trylock(&of->writer), 0);
}

/* rdf:type is stored with the first quad that has it. */
STAND_IN(enum status, lexicon_find,
         (struct lexicon * lexicon, const struct term *term, oid *id, struct reason *reason))
{
    assert_null(lexicon);
    assert_true(term->kind == TERM_IRI && slice_is(term->value, RDF_TYPE));
    if (failing == FIND) {
        return failed(reason);
    }
    *id = OID_NONE;
    for (size_t i = 0; i < QUADS; i++) {
        *id = written[i] && universe[i].predicate == TYPE ? TYPE : *id;
    }
    return STATUS_OK;
}

static int
compare_rows(const void *a, const void *b)
{
    return row_compare(a, b);
}

/* Some rows from `next` on. */
STAND_IN(enum status, quads_check,
         (struct quads * quads, enum quad_order order, struct snapshot *snapshot, struct row *next,
          struct row_vector *rows, struct reason *reason))
{
    struct row sorted[QUADS];
    size_t count = 0;
    assert_null(quads);
    assert_ptr_equal(snapshot, &here);
    if (failing == CHECK) {
        return failed(reason);
    }
    for (size_t i = 0; i < QUADS; i++) {
        const struct row row = row_of(&universe[i], order);
        if (here[i] && row_compare(&row, next) >= 0) {
            sorted[count++] = row;
        }
    }
    qsort(sorted, count, sizeof sorted[0], compare_rows);
    const size_t taken = count < ROWS_AT_ONCE ? count : ROWS_AT_ONCE;
    rows->count = 0;
    row_vector_reserve(rows, taken);
    for (size_t i = 0; i < taken; i++) {
        rows->rows[i] = sorted[i];
    }
    rows->count = taken;
    if (count > taken) {
        *next = sorted[taken];
    } else {
        *next = (struct row){.place = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    }
    return STATUS_OK;
}

/* ---- its reader's source ---- */

struct quad_scan {
    struct quad_oids pattern;
    size_t at;
};

static enum status
resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *reason)
{
    assert_ptr_equal(context, &here);
    if (failing == RESOLVE) {
        return failed(reason);
    }
    *term =
        term_iri(arena_printf(arena, "http://www.host%u.example/%" PRIu64, (unsigned)(id % 4), id));
    return STATUS_OK;
}

static enum status
scan(void *context, const struct quad_oids *pattern, enum quad_order order, struct quad_scan **scan,
     struct reason *reason)
{
    assert_ptr_equal(context, &here);
    assert_int_equal(order, ORDER_CSPO);
    if (failing == SCAN) {
        return failed(reason);
    }
    *scan = memory_new(sizeof **scan);
    (*scan)->pattern = *pattern;
    scans++;
    return STATUS_OK;
}

static enum status
scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
          struct reason *reason)
{
    *n = 0;
    if (failing == READ) {
        return failed(reason);
    }
    assert_true(most >= 3);
    for (; scan->at < QUADS && *n < 3; scan->at++) { /* not all at once */
        const struct quad_oids *quad = &universe[scan->at], *wanted = &scan->pattern;
        if (here[scan->at] && quad->graph == wanted->graph &&
            (wanted->subject == OID_NONE || wanted->subject == quad->subject)) {
            rows[(*n)++] = *quad;
        }
    }
    return STATUS_OK;
}

static void
scan_close(struct quad_scan *scan)
{
    scans--;
    free(scan);
}

STAND_IN(const struct quad_source *, partition_reader_source, (struct partition_reader * reader))
{
    static const struct quad_source source = {.context = &here,
                                              .resolve = resolve,
                                              .scan = scan,
                                              .scan_next = scan_next,
                                              .scan_close = scan_close};
    assert_ptr_equal(reader, &here);
    return &source;
}
