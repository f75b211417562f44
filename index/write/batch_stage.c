/* A batch that only adds may wait on the disk: its terms get identifiers, its rows are written as a
 * run, in a commit of its own. For each quad this needs 12 bytes of memory besides the terms, so
 * batches are large, and the tree of terms is gone through seldom. Whatever else is written goes
 * after what waits, so that the order of changes is kept. */
#include <stdlib.h>

#include "base/memory.h"
#include "index/write/graph_differences.h"
#include "index/write/staging_merge.h"

enum {
    ROW_BYTES = 16, /* on the disk, while they wait, about */
    ROW_MEMORY =    /* when what waits is merged */
    sizeof(struct quad_change) + ORDER_COUNT * sizeof(uint32_t) + 2 * sizeof(struct sort_item)
};

static enum status
write_run(struct index_batch *batch, struct transaction *transaction, uint64_t terms,
          struct reason *why)
{
    struct staging *staging = batch->partition->staging;
    struct batch_document **documents =
        memory_alloc(batch->count * sizeof(struct batch_document *));
    for (size_t i = 0; i < batch->count; i++) {
        documents[i] = &batch->documents[i];
        documents[i]->graph_id = batch->terms.terms[documents[i]->graph].id;
    }
    qsort(documents, batch->count, sizeof(struct batch_document *), batch_compare_documents);
    struct differences sorting;
    differences_init(&sorting, batch->partition, batch, NULL, 0);
    staging_begin(staging);
    enum status status = STATUS_OK;
    for (size_t i = 0, n; i < batch->count && status == STATUS_OK; i += n) {
        size_t count;
        n = batch_same_graph(documents, batch->count, i);
        const struct row *rows = differences_sort(&sorting, documents + i, n, &count);
        for (size_t k = 0; k < count && status == STATUS_OK; k++) {
            status = staging_add(staging, &rows[k], why);
        }
    }
    differences_release(&sorting);
    free(documents);
    return status == STATUS_OK ? staging_end(staging, transaction, terms, why) : status;
}

static enum status
store_and_write(struct index_batch *batch, struct transaction *transaction, struct totals *totals,
                struct reason *why)
{
    struct partition *partition = batch->partition;
    const uint64_t terms = totals->terms;
    uint64_t added;
    TRY(lexicon_assign(partition->lexicon, transaction, &batch->terms, partition->build_from,
                       &added, why));
    batch_count_literals(&batch->terms, added, totals);
    TRY(write_run(batch, transaction, terms, why));
    latch_enter_writing(tree_latch(partition->statistics));
    const enum status status =
        statistics_put_totals(partition->statistics, transaction, totals, why);
    latch_leave(tree_latch(partition->statistics));
    return status;
}

static enum status
wait_on_disk(struct index_batch *batch, struct reason *why)
{
    struct partition *partition = batch->partition;
    struct totals totals = partition->totals;
    struct transaction *transaction;
    TRY(transaction_begin(&transaction, partition->environment,
                          2 * (uint64_t)index_batch_staged_bytes(batch) +
                              (uint64_t)index_batch_quads(batch) * ROW_BYTES +
                              lexicon_bytes(partition->lexicon), /* it may be built anew */
                          why));
    batch_want_no_terms(batch);
    for (size_t i = 0; i < batch->count; i++) {
        const struct batch_document *d = &batch->documents[i];
        batch->terms.terms[d->graph].unwanted = false;
        batch_want_terms(batch, d->first, d->first + d->count);
    }
    enum status status = store_and_write(batch, transaction, &totals, why);
    if (status != STATUS_OK) {
        environment_close_latches(partition->environment);
        transaction_abort(transaction);
        environment_open_latches(partition->environment);
        (void)lexicon_forget(partition->lexicon, NULL);
        return status;
    }
    TRY(transaction_commit(transaction, why));
    staging_committed(partition->staging);
    partition_committed(partition, &totals);
    return STATUS_OK;
}

bool
index_batch_is_full(const struct index_batch *batch, size_t memory)
{
    const uint64_t rows = staging_rows(batch->partition->staging) + index_batch_quads(batch);
    const size_t next = memory / 64; /* what is added at once, about */
    return index_batch_staged_bytes(batch) >= memory ||
           (index_batch_quads(batch) > 0 && rows * ROW_MEMORY >= memory - next);
}

enum status
index_batch_stage(struct index_batch *batch, size_t memory, struct reason *why)
{
    struct partition *partition = batch->partition;
    partition_lock_writer(partition);
    const bool held = partition->staged.held > 0;
    enum status status = partition_health(partition, why);
    if (status == STATUS_OK && !held) {
        const uint64_t rows = staging_rows(partition->staging) + index_batch_quads(batch);
        if (rows * ROW_MEMORY > memory || staging_runs(partition->staging) == WAITING_RUNS_MOST) {
            status = merge_staged(partition, why);
        }
    }
    if (status == STATUS_OK && !held) {
        status = wait_on_disk(batch, why);
    }
    atomic_store(&partition->writes, status);
    pthread_mutex_unlock(&partition->writer);
    return held && status == STATUS_OK ? index_batch_commit(batch, why) : status;
}
