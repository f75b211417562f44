/* All that waits as runs on the disk goes into the trees at once: merge the runs; compare each
 * graph's rows with what is there; write its document's record; then graph_transaction.h for all
 * changes together. For each quad this needs memory of ROW_MEMORY in batch_stage.c, and no terms.
 */
#include "index/write/staging_merge.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/watchdog.h"
#include "index/write/graph_differences.h"
#include "index/write/graph_transaction.h"

enum {
    URI_BYTES = 1 << 20,
    ROWS_AT_ONCE = 1 << 16, /* of a graph, then to the end of a subject */
    TREE_BYTES = 400,       /* in trees and log, about, */
    SCATTERED_BYTES = 4096  /* and of blocks that are there */
};

struct bringing {
    struct commit commit;
    struct differences differences;
    struct staging_reader *rows;
    struct nodes_reader *nodes;
    struct arena uris;
    uint64_t now;
    struct row_vector some; /* of a graph */
    struct graph_generation *generations;
    struct document_change *steps; /* documents that come */
    size_t count, capacity, step_count;
};

static void
note_graph(struct bringing *b, const struct batch_document *d, bool comes)
{
    if (b->count == b->capacity) {
        b->capacity = b->capacity ? 2 * b->capacity : 4096;
        b->generations = memory_resize(b->generations, b->capacity, sizeof(*b->generations));
        b->steps = memory_resize(b->steps, b->capacity, sizeof(*b->steps));
    }
    b->generations[b->count++] = (struct graph_generation){d->graph_id, d->generation};
    if (comes) {
        b->steps[b->step_count++] = (struct document_change){d->graph_id, 1};
    }
}

/* Its record, and what the census has to know. */
static enum status
write_document(struct bringing *b, const struct batch_document *d, uint64_t added,
               struct reason *why)
{
    struct partition *partition = b->commit.partition;
    const bool comes = !d->known || d->old.removed;
    struct term uri;
    if (b->uris.used > URI_BYTES) {
        arena_reset(&b->uris);
        b->commit.census.last_uri = slice_of(NULL, 0);
    }
    TRY(nodes_resolve(b->nodes, d->graph_id, &b->uris, &uri, why));
    const struct document_entry entry = {.generation = d->old.generation,
                                         .quads = d->old.quads + added,
                                         .indexed_ms = b->now,
                                         .linked_data = d->old.linked_data,
                                         .patched = true};
    note_graph(b, d, comes);
    b->commit.totals.documents += comes;
    b->commit.totals.quads += added;
    census_document(&b->commit.census, uri.value, comes, (int64_t)added);
    struct latch *documents = tree_latch(partition->documents);
    latch_enter_writing(documents);
    const enum status status =
        documents_put(partition->documents, b->commit.transaction, d->graph_id, &entry, why);
    latch_leave(documents);
    return status;
}

static enum status
begin_graph(struct bringing *b, struct batch_document *d, oid graph, struct reason *why)
{
    *d = (struct batch_document){.graph_id = graph, .patch = true};
    const enum status status = documents_get(b->commit.partition->documents, graph, &d->old, why);
    d->known = status == STATUS_OK;
    d->generation = d->old.generation;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* The rows of the graph that *row begins, some at a time; *row: the first of the next. */
static enum status
take_graph(struct bringing *b, struct row *row, bool *end, struct reason *why)
{
    struct batch_document d;
    struct row_vector *some = &b->some;
    const size_t before = b->differences.count;
    const oid graph = row->place[0];
    TRY(begin_graph(b, &d, graph, why));
    while (!*end && row->place[0] == graph) {
        some->count = 0;
        do {
            row_vector_reserve(some, some->count + 1);
            some->rows[some->count++] = *row;
            const enum status status = staging_reader_next(b->rows, row, why);
            *end = status == STATUS_END;
            if (!*end) {
                TRY(status);
            }
        } while (
            !*end && row->place[0] == graph &&
            (some->count < ROWS_AT_ONCE || row->place[1] == some->rows[some->count - 1].place[1]));
        TRY(differences_add_rows(&b->differences, &d, some->rows, some->count, why));
    }
    const uint64_t added = b->differences.count - before;
    return added > 0 || !d.known ? write_document(b, &d, added, why) : STATUS_OK;
}

static enum status
take_all(struct bringing *b, struct reason *why)
{
    struct partition *partition = b->commit.partition;
    struct row row;
    TRY(staging_reader_open(&b->rows, partition->staging, why));
    enum status status = staging_reader_next(b->rows, &row, why);
    bool end = status == STATUS_END;
    while (!end && status == STATUS_OK) {
        status = take_graph(b, &row, &end, why);
        watchdog_feed(); /* an import's rows take as long as there are */
    }
    return status == STATUS_END ? STATUS_OK : status;
}

static enum status
write_all(struct bringing *b, struct reason *why)
{
    const enum status status = take_all(b, why);
    b->commit.set = change_set_new(b->differences.changes, b->differences.count);
    b->commit.set->documents = b->steps;
    b->commit.set->document_count = b->step_count;
    TRY(status);
    TRY(commit_quads(&b->commit, b->generations, b->count, why));
    TRY(commit_statistics(&b->commit, why));
    return staging_forget(b->commit.partition->staging, b->commit.transaction, why);
}

/* Returns how many bytes are to be written, as in batch_commit.c: blocks that are there are written
 * again, in their places or in new trees, but no more of them than there are. */
static uint64_t
bytes_to_write(const struct partition *partition, uint64_t rows)
{
    const uint64_t all = 2 * environment_bytes(partition->environment);
    const uint64_t scattered = rows * SCATTERED_BYTES;
    return (scattered < all ? scattered : all) + rows * TREE_BYTES;
}

enum status
merge_staged(struct partition *partition, struct reason *why)
{
    const uint64_t rows = staging_rows(partition->staging);
    if (staging_runs(partition->staging) == 0) {
        return STATUS_OK;
    }
    struct transaction *transaction;
    TRY(transaction_begin(&transaction, partition->environment, bytes_to_write(partition, rows),
                          why));
    struct bringing *b = memory_new(sizeof(*b));
    b->commit = (struct commit){.partition = partition,
                                .transaction = transaction,
                                .totals = partition->totals,
                                .build_from = partition->build_from};
    b->now = clock_wall_ms();
    census_init(&b->commit.census);
    differences_init(&b->differences, partition, NULL, &b->commit.census,
                     staging_terms(partition->staging));
    differences_reserve(&b->differences, rows);
    b->nodes = nodes_reader_new(lexicon_nodes(partition->lexicon));
    arena_init(&b->uris, 0);
    const enum status status = commit_end(&b->commit, write_all(b, why), why);
    if (status == STATUS_OK) {
        partition->staged.merged += b->differences.count;
        staging_forgotten(partition->staging);
    }
    staging_reader_close(b->rows);
    nodes_reader_free(b->nodes);
    differences_release(&b->differences);
    census_release(&b->commit.census);
    arena_release(&b->uris);
    row_vector_release(&b->some);
    free(b->generations);
    free(b);
    return status;
}

/* ---- from outside ---- */

enum status
partition_merge_staged(struct partition *partition, uint64_t *added, struct reason *why)
{
    partition_lock_writer(partition);
    enum status status = partition_health(partition, why);
    if (status == STATUS_OK) {
        status = merge_staged(partition, why);
        atomic_store(&partition->writes, status);
    }
    if (added != NULL && status == STATUS_OK) {
        *added = partition->staged.merged;
        partition->staged.merged = 0;
    }
    pthread_mutex_unlock(&partition->writer);
    return status;
}

enum status
partition_hold_staging(struct partition *partition, struct reason *why)
{
    partition_lock_writer(partition);
    const enum status status = merge_staged(partition, why);
    partition->staged.held += status == STATUS_OK;
    pthread_mutex_unlock(&partition->writer);
    return status;
}

void
partition_release_staging(struct partition *partition)
{
    partition_lock_writer(partition);
    partition->staged.held--;
    pthread_mutex_unlock(&partition->writer);
}
