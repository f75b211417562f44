/* The commit of a batch of documents (gathered by batch_gather.c). Quads of imports that wait are
 * brought in before (staging_merge.c). Its steps, all in one transaction:
 *
 *   1. look the documents' URIs up and read what is known of them; drop what is older than the
 *      index, repeated in the batch, or unchanged by digest;
 *   2. give identifiers to the terms of those that are left (index/terms/lexicon.h);
 *   3. compare each with its old rows; the differences of all, in order of graphs, are the
 *      batch's change set;
 *   4. publish the set for readers, bring it into the six trees, append it to the change log, write
 *      documents and counts;
 *   5. commit, and let new readers see it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "index/write/graph_differences.h"
#include "index/write/graph_transaction.h"
#include "index/write/staging_merge.h"

/* ---- step 1: which documents change ---- */

/* Keeps the latest generation of documents with the same URI, and of equal ones the last. */
static void
drop_superseded(struct index_batch *batch)
{
    uint32_t *latest = memory_zero(batch->terms.count + 1, sizeof(*latest));
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_document *d = &batch->documents[i];
        d->wanted = true;
        d->known = false;
        if (d->patch) {
            continue;
        }
        struct batch_document *other =
            latest[d->graph] ? &batch->documents[latest[d->graph] - 1] : NULL;
        if (other != NULL && other->generation > d->generation) {
            other = d;
        } else {
            latest[d->graph] = (uint32_t)i + 1;
        }
        if (other != NULL) {
            other->wanted = false;
            other->result.outcome = DOCUMENT_SUPERSEDED;
        }
    }
    free(latest);
}

static enum status
compare_with_old(struct index_batch *batch, struct batch_document *d, struct reason *why)
{
    const enum status status =
        documents_get(batch->partition->documents, d->graph_id, &d->old, why);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    TRY(status);
    d->known = true;
    if (d->patch) {
        d->generation = d->old.generation;
        d->linked_data = d->old.linked_data;
    } else if (d->old.generation > d->generation) {
        d->wanted = false;
        d->result.outcome = DOCUMENT_STALE;
    } else if (d->old.removed == d->removed && !d->old.patched &&
               memcmp(d->old.digest, d->result.digest, DIGEST_SHA256_SIZE) == 0) {
        d->result.outcome = DOCUMENT_UNCHANGED;
        /* Its generation is kept all the same; that is a small write to one tree. */
        d->wanted = d->old.generation != d->generation || d->old.linked_data != d->linked_data;
    }
    return STATUS_OK;
}

void
batch_want_terms(struct index_batch *batch, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        batch->terms.terms[batch->quads[i].subject].unwanted = false;
        batch->terms.terms[batch->quads[i].predicate].unwanted = false;
        batch->terms.terms[batch->quads[i].object].unwanted = false;
    }
}

void
batch_want_no_terms(struct index_batch *batch)
{
    for (size_t i = 0; i < batch->terms.count; i++) {
        batch->terms.terms[i].unwanted = true;
    }
}

/* Looks up the terms of quads to be removed; only those of quads to be added get identifiers. */
static enum status
choose_documents(struct index_batch *batch, struct reason *why)
{
    batch_want_no_terms(batch);
    for (size_t i = 0; i < batch->terms.count; i++) {
        batch->terms.terms[i].id = OID_NONE;
    }
    drop_superseded(batch);
    for (size_t i = 0; i < batch->count; i++) {
        const struct batch_document *d = &batch->documents[i];
        batch->terms.terms[d->graph].unwanted = false;
        batch_want_terms(batch, d->first, d->first + d->removals);
    }
    TRY(lexicon_find_all(batch->partition->lexicon, &batch->terms, why));
    batch_want_no_terms(batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_document *d = &batch->documents[i];
        d->graph_id = batch->terms.terms[d->graph].id;
        if (d->wanted && d->graph_id != OID_NONE) {
            TRY(compare_with_old(batch, d, why));
        }
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct batch_document *d = &batch->documents[i];
        if (d->result.outcome == DOCUMENT_CHANGED) {
            batch->terms.terms[d->graph].unwanted = false;
            batch_want_terms(batch, d->first + d->removals, d->first + d->count);
        }
    }
    return STATUS_OK;
}

int
batch_compare_documents(const void *a, const void *b)
{
    const struct batch_document *const *left = a;
    const struct batch_document *const *right = b;
    if ((*left)->graph_id != (*right)->graph_id) {
        return (*left)->graph_id < (*right)->graph_id ? -1 : 1;
    }
    return *left < *right ? -1 : *left > *right; /* patches of a graph, as they came */
}

/* ---- steps 2, 4, 5 ---- */

struct batch_commit {
    struct commit commit;
    struct index_batch *batch;
    struct batch_document **documents; /* to be written, by graph */
    size_t count;
};

void
batch_count_literals(const struct term_set *terms, uint64_t added, struct totals *totals)
{
    for (size_t i = 0; i < terms->count && added > 0; i++) {
        const enum oid_kind kind = oid_kind(terms->terms[i].id);
        if (!terms->terms[i].unwanted && oid_number(terms->terms[i].id) > totals->terms &&
            (kind == OID_KIND_STRING || kind == OID_KIND_LANGUAGE)) {
            totals->literals++;
        }
    }
    totals->terms += added;
}

size_t
batch_same_graph(struct batch_document *const *documents, size_t count, size_t from)
{
    size_t end = from + 1;
    while (end < count && documents[end]->graph_id == documents[from]->graph_id) {
        end++;
    }
    return end - from;
}

static enum status
find_difference(struct batch_commit *b, struct differences *differences, size_t from, size_t n,
                struct reason *why)
{
    struct batch_document *d = b->documents[from];
    if (d->result.outcome != DOCUMENT_CHANGED) {
        return STATUS_OK;
    }
    const size_t before = differences->count;
    TRY(differences_add(differences, b->documents + from, n, why));
    uint64_t added = 0, removed = 0;
    for (size_t i = from; i < from + n; i++) {
        added += b->documents[i]->result.added;
        removed += b->documents[i]->result.removed;
    }
    b->commit.totals.quads += added - removed;
    if (d->patch) {
        d->result.quads = (d->known ? d->old.quads : 0) + added - removed;
        if (d->known && differences->count == before) {
            d->result.outcome = DOCUMENT_UNCHANGED;
            d->wanted = false;
        }
    }
    return STATUS_OK;
}

static int
document_step(const struct batch_document *d)
{
    return (d->removed ? 0 : 1) - (d->known && !d->old.removed ? 1 : 0);
}

/* Notes which documents come and go, for those who count them while batches go on. */
static void
note_documents(struct batch_commit *b)
{
    struct change_set *set = b->commit.set;
    set->documents = memory_alloc(b->count * sizeof(*set->documents));
    for (size_t i = 0; i < b->count; i++) {
        const struct batch_document *d = b->documents[i];
        if (document_step(d) != 0) {
            set->documents[set->document_count++] =
                (struct document_change){d->graph_id, document_step(d)};
        }
    }
}

static enum status
find_differences(struct batch_commit *b, struct reason *why)
{
    struct index_batch *batch = b->batch;
    uint64_t added;
    struct differences differences;
    differences_init(&differences, batch->partition, batch, &b->commit.census,
                     b->commit.totals.terms);
    TRY(lexicon_assign(batch->partition->lexicon, b->commit.transaction, &batch->terms, 0, &added,
                       why));
    batch_count_literals(&batch->terms, added, &b->commit.totals);
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_document *d = &batch->documents[i];
        if (d->wanted) {
            d->graph_id = batch->terms.terms[d->graph].id;
            b->documents[b->count++] = d;
        }
    }
    qsort(b->documents, b->count, sizeof(struct batch_document *), batch_compare_documents);
    enum status status = STATUS_OK;
    size_t kept = 0;
    for (size_t i = 0, n; i < b->count && status == STATUS_OK; i += n) {
        n = batch_same_graph(b->documents, b->count, i);
        status = find_difference(b, &differences, i, n, why);
        if (b->documents[i]->wanted) {
            b->documents[kept++] = b->documents[i];
        }
    }
    b->count = kept;
    differences_release(&differences);
    b->commit.set = change_set_new(differences.changes, differences.count);
    note_documents(b);
    return status;
}

static enum status
write_document(struct batch_commit *b, const struct batch_document *d, uint64_t now,
               struct reason *why)
{
    struct document_entry entry = {.generation = d->generation,
                                   .quads = d->result.quads,
                                   .indexed_ms = now,
                                   .removed = d->removed,
                                   .linked_data = d->linked_data,
                                   .patched = d->patch};
    if (d->result.outcome == DOCUMENT_UNCHANGED) {
        entry.indexed_ms = d->old.indexed_ms;
    }
    memcpy(entry.digest, d->result.digest, sizeof(entry.digest));
    const int documents = document_step(d);
    b->commit.totals.documents += (uint64_t)documents;
    census_document(&b->commit.census, b->batch->terms.terms[d->graph].term.value, documents,
                    (int64_t)(d->result.quads - (d->known ? d->old.quads : 0)));
    return documents_put(b->batch->partition->documents, b->commit.transaction, d->graph_id, &entry,
                         why);
}

static enum status
write_documents(struct batch_commit *b, struct reason *why)
{
    struct latch *documents = tree_latch(b->commit.partition->documents);
    const uint64_t now = clock_wall_ms();
    enum status status = STATUS_OK;
    for (size_t i = 0; i < b->count && status == STATUS_OK;) {
        latch_enter_writing(documents);
        const size_t end = i + 8 * LATCH_BLOCKS;
        for (; i < b->count && i < end && status == STATUS_OK; i++) {
            status = write_document(b, b->documents[i], now, why);
        }
        latch_leave(documents);
    }
    return status;
}

static enum status
write_quads(struct batch_commit *b, struct reason *why)
{
    struct graph_generation *generations = memory_alloc(b->count * sizeof(*generations));
    for (size_t i = 0; i < b->count; i++) {
        generations[i] =
            (struct graph_generation){b->documents[i]->graph_id, b->documents[i]->generation};
    }
    const enum status status = commit_quads(&b->commit, generations, b->count, why);
    free(generations);
    return status;
}

static enum status
write_all(struct batch_commit *b, struct reason *why)
{
    TRY(find_differences(b, why));
    TRY(write_quads(b, why));
    TRY(write_documents(b, why));
    return commit_statistics(&b->commit, why);
}

enum { QUAD_LOG_BYTES = 12 << 10 };

/* About: what is new takes twice its memory, in trees and log; what is there is rewritten in
 * blocks, and the log has each as it was and as it is, but no more blocks than there are. */
static uint64_t
bytes_to_write(const struct index_batch *batch)
{
    const uint64_t scattered = (uint64_t)index_batch_quads(batch) * QUAD_LOG_BYTES;
    const uint64_t all = 2 * environment_bytes(batch->partition->environment);
    return (scattered < all ? scattered : all) + 2 * (uint64_t)index_batch_bytes(batch);
}

static enum status
commit_batch(struct index_batch *batch, struct reason *why)
{
    struct partition *partition = batch->partition;
    struct batch_commit b = {
        .commit = {.partition = partition, .totals = partition->totals, .gathers = true},
        .batch = batch};
    TRY(choose_documents(batch, why));
    bool any = false;
    for (size_t i = 0; i < batch->count; i++) {
        any = any || batch->documents[i].wanted;
    }
    if (!any) {
        return STATUS_OK;
    }
    TRY(transaction_begin(&b.commit.transaction, partition->environment, bytes_to_write(batch),
                          why));
    census_init(&b.commit.census);
    b.documents = memory_alloc(batch->count * sizeof(struct batch_document *));
    const enum status status = commit_end(&b.commit, write_all(&b, why), why);
    free(b.documents);
    census_release(&b.commit.census);
    return status;
}

enum status
index_batch_commit(struct index_batch *batch, struct reason *why)
{
    struct partition *partition = batch->partition;
    partition_lock_writer(partition);
    enum status status = partition_health(partition, why);
    if (status == STATUS_OK) {
        status = merge_staged(partition, why);
    }
    if (status == STATUS_OK) {
        status = commit_batch(batch, why);
    }
    atomic_store(&partition->writes, status);
    pthread_mutex_unlock(&partition->writer);
    return status;
}
