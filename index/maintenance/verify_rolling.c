#include "index/maintenance/verify_rolling.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/memory.h"
#include "rdf/core/vocabulary.h"

/* ---- tallies ---- */

__extension__ typedef unsigned __int128 wide;

static uint64_t
mix(uint64_t a, uint64_t b)
{
    const wide product = (wide)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0x8ebc6af09c88c6e3u);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static void
tally_add(struct tally *tally, oid id, int64_t step)
{
    uint32_t at = map_get(&tally->places, id);
    if (at == (uint32_t)MAP_NONE) {
        at = (uint32_t)tally->places.count;
        map_set(&tally->places, id, at);
        tally->counts = array_grow(tally->counts, at, &tally->capacity, sizeof(*tally->counts));
        tally->counts[at] = 0;
    }
    tally->counts[at] += step;
}

int64_t
tally_count(const struct tally *tally, oid id)
{
    const uint32_t at = map_get(&tally->places, id);
    return at != (uint32_t)MAP_NONE ? tally->counts[at] : 0;
}

static void
tally_release(struct tally *tally)
{
    map_release(&tally->places);
    free(tally->counts);
}

/* ---- one row more or less ---- */

/* A sum of these does not depend on the order, and two different sets have the same one by no
 * accident. */
static void
add_to_tree(struct rolling_tree *tree, const struct quad_oids *quad, int64_t step)
{
    const uint64_t first = mix(mix(quad->subject, 0xa0761d6478bd642fu), quad->predicate);
    const uint64_t second = mix(mix(quad->object, 0xe7037ed1a0b428dbu), quad->graph);
    tree->count += (uint64_t)step;
    tree->sums[0] += (uint64_t)step * mix(first, second);
    tree->sums[1] += (uint64_t)step * mix(second ^ 0x589965cc75374cc3u, first);
}

static void
add_row(struct rolling *r, enum quad_order order, const struct quad_oids *quad, int64_t step)
{
    add_to_tree(&r->trees[order], quad, step);
    if (order == ORDER_POCS) {
        tally_add(&r->predicates, quad->predicate, step);
        if (quad->predicate == r->type) {
            tally_add(&r->classes, quad->object, step);
        }
    }
}

static void
add_changes(struct rolling *r, const struct change_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct quad_oids *quad = &set->changes[i].quad;
        const int64_t step = set->changes[i].removed ? -1 : 1;
        for (int order = 0; order < ORDER_COUNT; order++) {
            const struct row row = row_of(quad, (enum quad_order)order);
            if (row_compare(&row, &r->trees[order].next) < 0) {
                add_row(r, (enum quad_order)order, quad, step);
            }
        }
        r->document_quads += quad->graph < r->next_graph ? (uint64_t)step : 0;
    }
    for (size_t i = 0; i < set->document_count; i++) {
        const struct document_change *change = &set->documents[i];
        r->documents += change->graph < r->next_graph ? (uint64_t)(int64_t)change->step : 0;
    }
}

/* ---- hosts and subjects ---- */

static enum status
add_to_host(struct rolling *r, oid graph, int64_t documents, int64_t quads, struct reason *why)
{
    const struct quad_source *source = partition_reader_source(r->reader);
    struct term uri;
    TRY(source->resolve(source->context, graph, &r->arena, &uri, why));
    census_document(&r->census, uri.value, documents, quads);
    r->census.last_uri = slice_of(NULL, 0);
    arena_reset(&r->arena);
    return STATUS_OK;
}

/* r->rows = those of the graph, or of one subject in it. */
static enum status
read_rows(struct rolling *r, const struct quad_oids *pattern, struct reason *why)
{
    enum { AT_ONCE = 1024 };
    const struct quad_source *source = partition_reader_source(r->reader);
    struct quad_oids rows[AT_ONCE];
    struct quad_scan *scan;
    TRY(source->scan(source->context, pattern, ORDER_CSPO, &scan, why));
    enum status status = STATUS_OK;
    r->rows.count = 0;
    for (size_t n = 1; n > 0 && status == STATUS_OK;) {
        status = source->scan_next(scan, rows, AT_ONCE, &n, why);
        row_vector_reserve(&r->rows, r->rows.count + n);
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            r->rows.rows[r->rows.count++] = row_of(&rows[i], ORDER_CSPO);
        }
    }
    source->scan_close(scan);
    return status;
}

/* The first change after `first` of another graph, or subject. */
static size_t
run_end(const struct quad_change *changes, size_t first, size_t count, bool subjects)
{
    size_t end = first + 1;
    while (end < count && changes[end].quad.graph == changes[first].quad.graph &&
           (!subjects || changes[end].quad.subject == changes[first].quad.subject)) {
        end++;
    }
    return end;
}

/* Adds to the census what a batch does to documents that are counted; the snapshot is still the one
 * before it. */
static enum status
add_to_census(struct rolling *r, const struct change_set *set, struct reason *why)
{
    const struct quad_change *changes = set->changes;
    size_t end;
    for (size_t i = 0; i < set->count && changes[i].quad.graph < r->next_graph; i = end) {
        int64_t quads = 0;
        end = run_end(changes, i, set->count, false);
        for (size_t k = i; k < end; k++) {
            quads += changes[k].removed ? -1 : 1;
        }
        TRY(add_to_host(r, changes[i].quad.graph, 0, quads, why));
    }
    for (size_t i = 0; i < set->document_count && set->documents[i].graph < r->next_graph; i++) {
        TRY(add_to_host(r, set->documents[i].graph, set->documents[i].step, 0, why));
    }
    for (size_t i = 0; i < set->count && changes[i].quad.graph < r->next_graph; i = end) {
        const struct quad_oids pattern = {.subject = changes[i].quad.subject,
                                          .graph = changes[i].quad.graph};
        end = run_end(changes, i, set->count, true);
        TRY(read_rows(r, &pattern, why));
        census_subject(&r->census, r->rows.rows, r->rows.count, changes + i, end - i);
    }
    return STATUS_OK;
}

enum status
rolling_document(struct rolling *rolling, oid graph, const struct document_entry *entry,
                 struct reason *why)
{
    rolling->next_graph = graph + 1;
    rolling->documents += !entry->removed;
    rolling->document_quads += entry->quads;
    return add_to_host(rolling, graph, !entry->removed, (int64_t)entry->quads, why);
}

enum status
rolling_subjects(struct rolling *rolling, oid graph, struct reason *why)
{
    const struct quad_oids pattern = {.graph = graph};
    TRY(read_rows(rolling, &pattern, why));
    const size_t count = rolling->rows.count;
    if (count > rolling->change_capacity) {
        rolling->change_capacity = 2 * count;
        rolling->changes =
            memory_resize(rolling->changes, rolling->change_capacity, sizeof(*rolling->changes));
    }
    for (size_t i = 0; i < count; i++) {
        rolling->changes[i] =
            (struct quad_change){row_quad(&rolling->rows.rows[i], ORDER_CSPO), false};
    }
    for (size_t i = 0, end; i < count; i = end) {
        end = run_end(rolling->changes, i, count, true);
        census_subject(&rolling->census, NULL, 0, rolling->changes + i, end - i);
    }
    return STATUS_OK;
}

/* ---- steps ---- */

enum status
rolling_open(struct rolling *rolling, struct partition *partition, struct reason *why)
{
    *rolling = (struct rolling){.partition = partition};
    census_init(&rolling->census);
    arena_init(&rolling->arena, 0);
    TRY(partition_reader_open(&rolling->reader, partition, why));
    partition_reader_hold(rolling->reader);
    return STATUS_OK;
}

void
rolling_close(struct rolling *rolling)
{
    partition_reader_close(rolling->reader);
    census_release(&rolling->census);
    arena_release(&rolling->arena);
    tally_release(&rolling->predicates);
    tally_release(&rolling->classes);
    free(rolling->changes);
    row_vector_release(&rolling->rows);
}

/* To the next commit; END when there is none yet. */
static enum status
move_to_next_commit(struct rolling *rolling, struct reason *why)
{
    const struct change_set *set = snapshot_next(partition_reader_snapshot(rolling->reader));
    if (rolling->type == OID_NONE) {
        const struct term type = term_iri(SLICE(RDF_TYPE));
        TRY(lexicon_find(rolling->partition->lexicon, &type, &rolling->type, why));
    }
    if (set == NULL) {
        return STATUS_END;
    }
    add_changes(rolling, set);
    TRY(add_to_census(rolling, set, why));
    snapshot_go_on(partition_reader_snapshot(rolling->reader));
    return STATUS_OK;
}

/* Writing may be faster than taking in what was written. Then the writer waits, or the changes that
 * are kept would grow without end. */
enum { BEHIND_MOST = 4 };

enum status
rolling_lock(struct rolling *rolling, struct reason *why)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < BEHIND_MOST && status == STATUS_OK; i++) {
        status = move_to_next_commit(rolling, why);
    }
    partition_lock_writer(rolling->partition);
    while (status == STATUS_OK || (status == STATUS_END && snapshot_next(partition_reader_snapshot(
                                                               rolling->reader)) != NULL)) {
        status = move_to_next_commit(rolling, why);
    }
    return status == STATUS_END ? STATUS_OK : status;
}

/* Goes on to the newest commit. The writer waits only when it is faster than this. */
static enum status
rolling_renew(struct rolling *rolling, struct reason *why)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < BEHIND_MOST && status == STATUS_OK; i++) {
        status = move_to_next_commit(rolling, why);
    }
    if (status == STATUS_OK) {
        status = rolling_lock(rolling, why);
        pthread_mutex_unlock(&rolling->partition->writer);
    }
    return status == STATUS_END ? STATUS_OK : status;
}

enum status
rolling_step(struct rolling *rolling, enum quad_order order, bool *end, struct reason *why)
{
    struct row next = rolling->trees[order].next;
    TRY(rolling_renew(rolling, why));
    TRY(quads_check(rolling->partition->quads, order, partition_reader_snapshot(rolling->reader),
                    &next, &rolling->rows, why));
    for (size_t i = 0; i < rolling->rows.count; i++) {
        const struct quad_oids quad = row_quad(&rolling->rows.rows[i], order);
        add_row(rolling, order, &quad, 1);
    }
    rolling->trees[order].next = next;
    *end = next.place[0] == UINT64_MAX;
    return STATUS_OK;
}
