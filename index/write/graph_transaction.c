#include "index/write/graph_transaction.h"

#include "index/write/gathering.h"
#include "rdf/core/vocabulary.h"

enum status
commit_quads(struct commit *commit, const struct graph_generation *generations, size_t count,
             struct reason *why)
{
    struct partition *partition = commit->partition;
    TRY(gathering_apply(commit, why));
    return change_log_append(partition->change_log, commit->transaction, commit->set, generations,
                             count, why);
}

enum status
commit_statistics(struct commit *commit, struct reason *why)
{
    struct partition *partition = commit->partition;
    const struct term type_term = term_iri(SLICE(RDF_TYPE));
    oid type;
    TRY(lexicon_find(partition->lexicon, &type_term, &type, why));
    commit->totals.batches++;
    census_finish(&commit->census);
    const struct statistics_change change = {
        .set = commit->set, .census = &commit->census, .type = type, .totals = &commit->totals};
    latch_enter_writing(tree_latch(partition->statistics));
    enum status status =
        characteristic_sets_apply(partition->sets, commit->transaction, &commit->census.sets, why);
    if (status == STATUS_OK) {
        status = statistics_apply(partition->statistics, commit->transaction, &change, why);
    }
    latch_leave(tree_latch(partition->statistics));
    return status;
}

enum status
commit_end(struct commit *commit, enum status status, struct reason *why)
{
    struct partition *partition = commit->partition;
    if (status == STATUS_OK) {
        status = transaction_commit(commit->transaction, why);
    } else {
        environment_close_latches(partition->environment);
        transaction_abort(commit->transaction);
        (void)characteristic_sets_reload(partition->sets, NULL);
        environment_open_latches(partition->environment);
        (void)lexicon_forget(partition->lexicon, NULL);
    }
    if (commit->published) {
        gathering_end(commit, status == STATUS_OK);
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
