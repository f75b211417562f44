#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/write/partition_state.h"

struct partition_reader {
    struct partition *partition;
    struct snapshot *snapshot;
    struct recent_blocks *recent;
    struct nodes_reader *nodes;
    uint64_t total; /* quads when the snapshot was taken */
    struct quad_source source;
};

struct text_scan {
    struct partition_reader *reader;
    struct literals_search *search;
    bool any;      /* whether or not a quad has it */
    uint32_t left; /* to be given */
};

/* The source's scan is the trees' scan. */
static struct quads_scan *
inner(struct quad_scan *scan)
{
    return (struct quads_scan *)scan;
}

static enum status
source_lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    struct partition_reader *reader = context;
    return lexicon_find(reader->partition->lexicon, term, id, why);
}

static enum status
source_resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    struct partition_reader *reader = context;
    return nodes_resolve(reader->nodes, id, arena, term, why);
}

static enum status
source_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
            struct quad_scan **scan, struct reason *why)
{
    struct partition_reader *reader = context;
    struct quads_scan *opened;
    const enum status status =
        quads_scan_open(&opened, reader->partition->quads, reader->snapshot, pattern, order, why);
    if (status == STATUS_OK) {
        quads_scan_remember(opened, reader->recent);
    }
    *scan = (struct quad_scan *)opened;
    return status;
}

static enum status
source_scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
                 struct reason *why)
{
    return quads_scan_next(inner(scan), rows, most, n, why);
}

void
partition_scan_again(struct quad_scan *scan, const struct quad_oids *pattern)
{
    quads_scan_again(inner(scan), pattern);
}

static void
source_scan_close(struct quad_scan *scan)
{
    quads_scan_close(inner(scan));
}

static void
source_scan_skip(struct quad_scan *scan, const struct quad_oids *quad)
{
    quads_scan_skip(inner(scan), quad);
}

static void
source_scan_until(struct quad_scan *scan, const struct quad_oids *quad)
{
    quads_scan_until(inner(scan), quad);
}

static enum status
source_divide(void *context, const struct quad_oids *pattern, enum quad_order order,
              struct quad_cuts *cuts, struct reason *why)
{
    struct partition_reader *reader = context;
    return quads_divide(reader->partition->quads, pattern, order, cuts, why);
}

static enum status
source_estimate(void *context, const struct quad_oids *pattern, uint64_t *rows, struct reason *why)
{
    struct partition_reader *reader = context;
    struct partition *partition = reader->partition;
    if (pattern->predicate != OID_NONE && pattern->subject == OID_NONE &&
        pattern->object == OID_NONE && pattern->graph == OID_NONE) {
        struct statistic_count count = {0};
        latch_enter_reading(tree_latch(partition->statistics));
        const enum status status = statistics_count(partition->statistics, STATISTIC_PREDICATE,
                                                    pattern->predicate, &count, why);
        latch_leave(tree_latch(partition->statistics));
        *rows = count.quads;
        return status;
    }
    return quads_estimate(partition->quads, reader->snapshot, pattern, reader->total, rows, why);
}

static enum status
source_estimate_star(void *context, const oid *predicates, size_t count, double *subjects,
                     double *rows, struct reason *why)
{
    struct partition_reader *reader = context;
    struct partition *partition = reader->partition;
    latch_enter_reading(tree_latch(partition->statistics));
    const enum status status =
        characteristic_sets_estimate(partition->sets, predicates, count, subjects, rows, why);
    latch_leave(tree_latch(partition->statistics));
    return status;
}

static enum status
source_count_triples(void *context, const struct count_request *request,
                     struct triple_count **counts, size_t *count, struct reason *why)
{
    struct partition_reader *reader = context;
    return triple_counts_cached(reader->partition->triple_counts,
                                snapshot_version(reader->snapshot), &reader->source, request,
                                counts, count, why);
}

static size_t
source_recall_lists(void *context, struct list_recall *recall)
{
    struct partition_reader *reader = context;
    return node_lists_recall(reader->partition->node_lists, snapshot_version(reader->snapshot),
                             recall);
}

static void
source_keep_list(void *context, const struct node_listing *listing, oid node,
                 const struct triple_count *counts, size_t count)
{
    struct partition_reader *reader = context;
    node_lists_keep(reader->partition->node_lists, snapshot_version(reader->snapshot), listing,
                    node, counts, count);
}

static enum status
source_search(void *context, struct slice words, uint32_t most, struct text_scan **scan,
              struct reason *why)
{
    struct partition_reader *reader = context;
    *scan = NULL;
    struct text_scan *opened = memory_alloc(sizeof(*opened));
    opened->reader = reader;
    opened->search = NULL;
    opened->any = false;
    opened->left = most;
    const enum status status =
        literals_search_open(&opened->search, reader->partition->literals,
                             lexicon_nodes(reader->partition->lexicon), words, most, why);
    if (status != STATUS_OK) {
        free(opened);
        return status;
    }
    *scan = opened;
    return STATUS_OK;
}

enum status
partition_reader_search(struct partition_reader *reader, struct slice words, uint32_t most,
                        struct text_scan **scan, struct reason *why)
{
    TRY(source_search(reader, words, most, scan, why));
    (*scan)->any = true;
    (*scan)->left = UINT32_MAX;
    return STATUS_OK;
}

void
partition_need_words(struct partition_needs *needs, const struct text_scan *scan)
{
    (void)buf_append_slice(&needs->words, literals_search_needs(scan->search));
}

/* Tells whether some quad has the literal as its object, in the reader's snapshot. */
static enum status
is_live(struct partition_reader *reader, oid literal, bool *live, struct reason *why)
{
    const struct quad_oids pattern = {.object = literal};
    struct quads_scan *scan;
    TRY(quads_scan_open(&scan, reader->partition->quads, reader->snapshot, &pattern, ORDER_COUNT,
                        why));
    struct quad_oids row;
    size_t n = 0;
    const enum status status = quads_scan_next(scan, &row, 1, &n, why);
    quads_scan_close(scan);
    *live = n > 0;
    return status;
}

static enum status
source_search_next(struct text_scan *scan, oid *literal, double *score, bool *end,
                   struct reason *why)
{
    *end = false;
    bool live = false;
    while (!live) {
        const enum status status =
            scan->left > 0 ? literals_search_next(scan->search, literal, score, why) : STATUS_END;
        if (status == STATUS_END) {
            *end = true;
            return STATUS_OK;
        }
        TRY(status);
        if (scan->any) {
            return STATUS_OK;
        }
        TRY(is_live(scan->reader, *literal, &live, why));
    }
    scan->left--;
    return STATUS_OK;
}

static void
source_search_close(struct text_scan *scan)
{
    if (scan != NULL) {
        literals_search_close(scan->search);
        free(scan);
    }
}

static struct partition_reader *
reader_new(struct partition *partition)
{
    struct partition_reader *reader = memory_new(sizeof(*reader));
    reader->partition = partition;
    reader->recent = recent_blocks_new();
    reader->nodes = nodes_reader_new(lexicon_nodes(partition->lexicon));
    reader->source = (struct quad_source){.context = reader,
                                          .lookup = source_lookup,
                                          .resolve = source_resolve,
                                          .scan = source_scan,
                                          .scan_next = source_scan_next,
                                          .scan_close = source_scan_close,
                                          .scan_skip = source_scan_skip,
                                          .scan_until = source_scan_until,
                                          .divide = source_divide,
                                          .before = oid_inline_before,
                                          .span = oid_inline_span,
                                          .value = oid_inline_value,
                                          .integer = oid_inline_integer,
                                          .kind = oid_term_kind,
                                          .datatype = oid_datatype,
                                          .count_triples = source_count_triples,
                                          .release_counts = triple_counts_release,
                                          .recall_lists = source_recall_lists,
                                          .keep_list = source_keep_list,
                                          .estimate = source_estimate,
                                          .estimate_star = source_estimate_star,
                                          .search = source_search,
                                          .search_next = source_search_next,
                                          .search_close = source_search_close};
    return reader;
}

enum status
partition_reader_open(struct partition_reader **result, struct partition *partition,
                      struct reason *why)
{
    (void)why;
    *result = reader_new(partition);
    partition_reader_renew(*result);
    return STATUS_OK;
}

struct partition_reader *
partition_reader_share(const struct partition_reader *other)
{
    struct partition_reader *reader = reader_new(other->partition);
    reader->snapshot = snapshot_share(other->snapshot);
    reader->total = other->total;
    return reader;
}

void
partition_reader_close(struct partition_reader *reader)
{
    if (reader != NULL) {
        snapshot_close(reader->snapshot);
        recent_blocks_free(reader->recent);
        nodes_reader_free(reader->nodes);
        free(reader);
    }
}

void
partition_reader_renew(struct partition_reader *reader)
{
    snapshot_close(reader->snapshot);
    reader->snapshot = snapshot_open(reader->partition->snapshots);
    reader->total = partition_totals(reader->partition).quads;
}

enum status
partition_reader_position(const struct partition_reader *reader, struct change_position *position)
{
    const struct partition *partition = reader->partition;
    change_log_state(partition->change_log, position, NULL);
    return position->batch == partition->first_batches + snapshot_version(reader->snapshot)
               ? STATUS_OK
               : STATUS_AGAIN;
}

void
partition_reader_version(const struct partition_reader *reader, uint64_t version[2])
{
    version[0] = reader->partition->incarnation;
    version[1] = snapshot_version(reader->snapshot);
}

enum status
partition_reader_digest(struct partition_reader *reader, oid id, struct arena *arena,
                        struct term_digest *digest, struct reason *why)
{
    return term_digests_find(reader->partition->digests, &reader->source, id, arena, digest, why);
}

const struct quad_source *
partition_reader_source(struct partition_reader *reader)
{
    return &reader->source;
}

enum status
partition_reader_document(struct partition_reader *reader, oid *graph, struct document_entry *entry,
                          struct reason *why)
{
    struct latch *latch = tree_latch(reader->partition->documents);
    latch_enter_reading(latch);
    const enum status status = documents_next(reader->partition->documents, graph, entry, why);
    latch_leave(latch);
    return status;
}

void
partition_reader_hold(struct partition_reader *reader)
{
    snapshot_close(reader->snapshot);
    reader->snapshot = snapshot_hold(reader->partition->snapshots);
}

struct snapshot *
partition_reader_snapshot(const struct partition_reader *reader)
{
    return reader->snapshot;
}
