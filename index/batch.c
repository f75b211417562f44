/* The commit of a batch of documents (gathered by batch_gather.c). Its steps, all in one
 * transaction:
 *
 *   1. look the documents' URIs up and read what is known of them; drop what is older than the
 *      index, repeated in the batch, or unchanged by digest;
 *   2. give identifiers to the terms of those that are left (lexicon.h);
 *   3. compare each with its old rows; the differences of all, in order of graphs, are the
 *      batch's change set;
 *   4. publish the set for readers, bring it into the six trees, append it to the change log, write
 *      documents and counts;
 *   5. commit, and let new readers see it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "index/differences.h"
#include "rdf/vocabulary.h"

/* ---- step 1: which documents change ---- */

/* Of documents with the same URI the latest generation stays, of equal ones the last. */
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

static void
want_terms(struct index_batch *batch, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        batch->terms.terms[batch->quads[i].subject].unwanted = false;
        batch->terms.terms[batch->quads[i].predicate].unwanted = false;
        batch->terms.terms[batch->quads[i].object].unwanted = false;
    }
}

static void
want_no_terms(struct index_batch *batch)
{
    for (size_t i = 0; i < batch->terms.count; i++) {
        batch->terms.terms[i].unwanted = true;
    }
}

/* Of quads to be removed terms are looked up; only those of quads to be added get identifiers. */
static enum status
choose_documents(struct index_batch *batch, struct reason *why)
{
    want_no_terms(batch);
    for (size_t i = 0; i < batch->terms.count; i++) {
        batch->terms.terms[i].id = OID_NONE;
    }
    drop_superseded(batch);
    for (size_t i = 0; i < batch->count; i++) {
        const struct batch_document *d = &batch->documents[i];
        batch->terms.terms[d->graph].unwanted = false;
        want_terms(batch, d->first, d->first + d->removals);
    }
    TRY(lexicon_find_all(batch->partition->lexicon, &batch->terms, why));
    want_no_terms(batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_document *d = &batch->documents[i];
        d->graph_id = batch->terms.terms[d->graph].id;
        if (d->wanted && d->graph_id != OID_NONE) {
            TRY(compare_with_old(batch, d, why));
        }
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct batch_document *d = &batch->documents[i];
        if (d->wanted && d->result.outcome == DOCUMENT_CHANGED) {
            batch->terms.terms[d->graph].unwanted = false;
            want_terms(batch, d->first + d->removals, d->first + d->count);
        }
    }
    return STATUS_OK;
}

static int
compare_documents(const void *a, const void *b)
{
    const struct batch_document *const *left = a;
    const struct batch_document *const *right = b;
    if ((*left)->graph_id != (*right)->graph_id) {
        return (*left)->graph_id < (*right)->graph_id ? -1 : 1;
    }
    return *left < *right ? -1 : *left > *right; /* patches of a graph, as they came */
}

/* ---- steps 2, 4, 5 ---- */

struct commit {
    struct index_batch *batch;
    struct transaction *transaction;
    struct batch_document **documents; /* to be written, by graph */
    size_t count;
    struct totals totals;
    struct change_set *set;
    struct census census;
    bool published;
};

static void
count_literals(struct commit *commit, uint64_t added)
{
    const struct term_set *terms = &commit->batch->terms;
    for (size_t i = 0; i < terms->count && added > 0; i++) {
        const enum oid_kind kind = oid_kind(terms->terms[i].id);
        if (!terms->terms[i].unwanted && oid_number(terms->terms[i].id) > commit->totals.terms &&
            (kind == OID_KIND_STRING || kind == OID_KIND_LANGUAGE)) {
            commit->totals.literals++;
        }
    }
    commit->totals.terms += added;
}

/* The next n documents have the same graph: they are patches, and the first stands for all. */
static size_t
same_graph(const struct commit *commit, size_t from)
{
    size_t end = from + 1;
    while (end < commit->count &&
           commit->documents[end]->graph_id == commit->documents[from]->graph_id) {
        end++;
    }
    return end - from;
}

static enum status
find_difference(struct commit *commit, struct differences *differences, size_t from, size_t n,
                struct reason *why)
{
    struct batch_document *d = commit->documents[from];
    if (d->result.outcome != DOCUMENT_CHANGED) {
        return STATUS_OK;
    }
    const size_t before = differences->count;
    TRY(differences_add(differences, commit->documents + from, n, why));
    uint64_t added = 0, removed = 0;
    for (size_t i = from; i < from + n; i++) {
        added += commit->documents[i]->result.added;
        removed += commit->documents[i]->result.removed;
    }
    commit->totals.quads += added - removed;
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

/* Which documents come and go, for those who count them while batches go on. */
static void
note_documents(struct commit *commit)
{
    struct change_set *set = commit->set;
    set->documents = memory_alloc((commit->count + 1) * sizeof(*set->documents));
    for (size_t i = 0; i < commit->count; i++) {
        const struct batch_document *d = commit->documents[i];
        if (document_step(d) != 0) {
            set->documents[set->document_count++] =
                (struct document_change){d->graph_id, document_step(d)};
        }
    }
}

static enum status
find_differences(struct commit *commit, struct reason *why)
{
    struct index_batch *batch = commit->batch;
    uint64_t added;
    struct differences differences;
    differences_init(&differences, batch, &commit->census, commit->totals.terms);
    TRY(lexicon_assign(batch->partition->lexicon, commit->transaction, &batch->terms, &added, why));
    count_literals(commit, added);
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_document *d = &batch->documents[i];
        if (d->wanted) {
            d->graph_id = batch->terms.terms[d->graph].id;
            commit->documents[commit->count++] = d;
        }
    }
    qsort(commit->documents, commit->count, sizeof(struct batch_document *), compare_documents);
    enum status status = STATUS_OK;
    size_t kept = 0;
    for (size_t i = 0, n; i < commit->count && status == STATUS_OK; i += n) {
        n = same_graph(commit, i);
        status = find_difference(commit, &differences, i, n, why);
        if (commit->documents[i]->wanted) {
            commit->documents[kept++] = commit->documents[i];
        }
    }
    commit->count = kept;
    differences_release(&differences);
    commit->set = change_set_new(differences.changes, differences.count);
    note_documents(commit);
    return status;
}

static enum status
write_document(struct commit *commit, const struct batch_document *d, uint64_t now,
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
    commit->totals.documents += (uint64_t)documents;
    census_document(&commit->census, commit->batch->terms.terms[d->graph].term.value, documents,
                    (int64_t)(d->result.quads - (d->known ? d->old.quads : 0)));
    return documents_put(commit->batch->partition->documents, commit->transaction, d->graph_id,
                         &entry, why);
}

static enum status
write_documents(struct commit *commit, struct reason *why)
{
    struct partition *partition = commit->batch->partition;
    struct gate *documents = tree_gate(partition->documents);
    const uint64_t now = clock_wall_ms();
    enum status status = STATUS_OK;
    for (size_t i = 0; i < commit->count && status == STATUS_OK;) {
        gate_enter_writing(documents);
        const size_t end = i + 8 * GATE_BLOCKS;
        for (; i < commit->count && i < end && status == STATUS_OK; i++) {
            status = write_document(commit, commit->documents[i], now, why);
        }
        gate_leave(documents);
    }
    TRY(status);
    const struct term type_term = term_iri(SLICE(RDF_TYPE));
    oid type;
    TRY(lexicon_find(partition->lexicon, &type_term, &type, why));
    commit->totals.batches++;
    census_finish(&commit->census);
    const struct statistics_change change = {
        .set = commit->set, .census = &commit->census, .type = type, .totals = &commit->totals};
    gate_enter_writing(tree_gate(partition->statistics));
    status =
        statistics_apply(partition->statistics, partition->sets, commit->transaction, &change, why);
    gate_leave(tree_gate(partition->statistics));
    return status;
}

static enum status
log_changes(struct commit *commit, struct reason *why)
{
    struct graph_generation *generations = memory_alloc((commit->count + 1) * sizeof(*generations));
    for (size_t i = 0; i < commit->count; i++) {
        generations[i] = (struct graph_generation){commit->documents[i]->graph_id,
                                                   commit->documents[i]->generation};
    }
    const enum status status =
        change_log_append(commit->batch->partition->change_log, commit->transaction, commit->set,
                          generations, commit->count, why);
    free(generations);
    return status;
}

static enum status
write_all(struct commit *commit, struct reason *why)
{
    struct partition *partition = commit->batch->partition;
    TRY(find_differences(commit, why));
    snapshots_publish(partition->snapshots, commit->set);
    commit->published = true;
    TRY(quads_apply(partition->quads, commit->transaction, commit->set, why));
    TRY(log_changes(commit, why));
    return write_documents(commit, why);
}

static enum status
finish(struct commit *commit, enum status status, struct reason *why)
{
    struct partition *partition = commit->batch->partition;
    if (status == STATUS_OK) {
        status = transaction_commit(commit->transaction, why);
    } else {
        environment_close_gates(partition->environment);
        transaction_abort(commit->transaction);
        (void)characteristic_sets_reload(partition->sets, NULL);
        environment_open_gates(partition->environment);
        (void)lexicon_forget(partition->lexicon, NULL);
    }
    if (commit->published) {
        snapshots_end(partition->snapshots, status == STATUS_OK);
    } else {
        change_set_free(commit->set);
    }
    snapshots_tidy(partition->snapshots);
    if (status == STATUS_OK) {
        change_log_committed(partition->change_log);
        partition_committed(partition, &commit->totals);
    }
    return status;
}

enum { QUAD_LOG_BYTES = 4096 };

/* About: what is new takes twice its memory, in trees and log; what is there is rewritten in
 * blocks, and the log has each as it was and as it is, but no more blocks than there are. */
static uint64_t
bytes_to_write(const struct index_batch *batch)
{
    const uint64_t scattered = (uint64_t)index_batch_quads(batch) * QUAD_LOG_BYTES;
    const uint64_t all = 2 * environment_bytes(batch->partition->environment);
    return (scattered < all ? scattered : all) + 2 * (uint64_t)index_batch_bytes(batch);
}

enum status
index_batch_commit(struct index_batch *batch, struct reason *why)
{
    struct partition *partition = batch->partition;
    pthread_mutex_lock(&partition->writer);
    struct commit commit = {.batch = batch, .totals = partition->totals};
    enum status status = partition_health(partition, why);
    if (status == STATUS_OK) {
        status = choose_documents(batch, why);
    }
    bool any = false;
    for (size_t i = 0; i < batch->count; i++) {
        any = any || batch->documents[i].wanted;
    }
    if (status == STATUS_OK && any) {
        status = transaction_begin(&commit.transaction, partition->environment,
                                   bytes_to_write(batch), why);
    }
    if (status == STATUS_OK && any) {
        census_init(&commit.census);
        commit.documents = memory_alloc(batch->count * sizeof(struct batch_document *));
        status = finish(&commit, write_all(&commit, why), why);
        free(commit.documents);
        census_release(&commit.census);
    }
    atomic_store(&partition->writes, status);
    pthread_mutex_unlock(&partition->writer);
    return status;
}
