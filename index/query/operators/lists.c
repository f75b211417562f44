/* A pattern that asks of a node which the input has bound for its predicates, or for what one
 * predicate leads to: a row for each that is listed, with a number, and none for each triple. The
 * source keeps the lists that queries have read (quad_source.recall_lists), so that triples are
 * read only of nodes that were not asked for before.
 *
 * Input rows that are equal in all that is needed above are put together before rows are made: the
 * lists of each node are gone through once, and added up. So the properties of a whole class are a
 * row each. */
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/operators/leaps.h"

enum { QUADS = 128, RECALL_MOST = 4096, KEEP_MOST = 512, SUMS_MOST = 1024, NODES_MOST = 8192 };
enum {
    LIST_MOST = 2048 /* of what a predicate leads to; longer lists become rows as they are read */
};
static const char what[] = "lists of nodes";

struct lists {
    struct operator operator; /* its input is the scan, which reads the real input itself */
    struct lists_spec spec;
    struct leaps leaps; /* of subjects that are read */
    struct batch *input;
    size_t at;
    bool ended;
    /* The nodes of the input rows that are like `row`, each with the number of rows; those before
     * next_node have been looked at. */
    struct row_table nodes;
    size_t next_node;
    oid *row;
    /* The lists that the source has for the nodes from `from` to before `until`. */
    oid asked[BATCH_ROWS];
    bool known[BATCH_ROWS];
    size_t ends[BATCH_ROWS], from, until;
    struct triple_count recalled[RECALL_MOST], list[KEEP_MOST];
    struct row_table one;  /* what is listed of a node that is read, with numbers */
    struct row_table sums; /* of several nodes, */
    size_t given;          /* of which so many have become rows */
    struct row_table
        long_ones; /* nodes with long lists, where only their numbers are asked; kept */
    /* A long list that becomes rows as it is read; after the sums. */
    struct quad_scan *open;
    uint64_t open_rows; /* input rows of the node */
    struct quad_oids quads[QUADS], last;
    size_t quad, quad_count;
};

/* ---- one node ---- */

static enum status
add_to(struct row_table *sums, oid listed, uint64_t triples, struct reason *why)
{
    const oid row[2] = {listed, triples};
    bool added;
    size_t at;
    TRY(row_table_put(sums, row, &added, &at, why));
    oid *sum = &sums->rows[2 * at + 1];
    return !added && __builtin_add_overflow(*sum, triples, sum)
               ? status_fail(why, STATUS_LIMIT, "more rows than can be counted")
               : STATUS_OK;
}

/* Returns what the quad lists; OID_NONE: nothing, or the same as the one before it. */
static inline oid
listed_by(const struct lists *lists, const struct quad_oids *quad, struct quad_oids *last)
{
    const struct quad_source *source = lists->operator.run->source;
    const struct node_listing *listing = &lists->spec.listing;
    const oid other = listing->place == TRIPLE_SUBJECT ? quad->object : quad->subject;
    const bool again = quad->subject == last->subject && quad->predicate == last->predicate &&
                       quad->object == last->object;
    *last = *quad;
    if (again || (listing->other != TERM_NONE && source->kind(other) != listing->other)) {
        return OID_NONE;
    }
    if (listing->predicate == OID_NONE) {
        return quad->predicate;
    }
    return quad->predicate == listing->predicate ? other : OID_NONE;
}

/* Quads of one node. Those of no predicate come in an order in which a triple's repetitions stand
 * side by side. */
static enum status
list_quads(struct lists *lists, const struct quad_oids *quads, size_t count, struct quad_oids *last,
           struct reason *why)
{
    for (size_t i = 0; i < count; i++) {
        const oid row[2] = {listed_by(lists, &quads[i], last), 1};
        bool added;
        size_t at;
        if (row[0] == OID_NONE) {
            continue;
        }
        TRY(lists->spec.listing.predicate != OID_NONE
                ? row_table_put(&lists->one, row, &added, &at, why)
                : add_to(&lists->one, row[0], 1, why));
    }
    return STATUS_OK;
}

static bool
is_long(const struct lists *lists)
{
    return lists->spec.listing.predicate != OID_NONE && lists->one.count > LIST_MOST;
}

/* Until the list is long. scan NULL: by leaps. */
static enum status
list_scan(struct lists *lists, struct quad_scan *scan, struct reason *why)
{
    struct run *run = lists->operator.run;
    struct quad_oids quads[QUADS], last = {0};
    size_t n = 1;
    while (n > 0 && !is_long(lists)) {
        TRY(scan ? run->source->scan_next(scan, quads, QUADS, &n, why)
                 : leaps_next(&lists->leaps, quads, QUADS, &n, why));
        run->report.scanned += n;
        TRY(run_check(run, why));
        TRY(list_quads(lists, quads, n, &last, why));
    }
    return STATUS_OK;
}

static void
keep(struct lists *lists, oid node)
{
    const struct quad_source *source = lists->operator.run->source;
    for (size_t i = 0; i < lists->one.count && i < KEEP_MOST; i++) {
        const oid *row = row_table_row(&lists->one, i);
        lists->list[i] = (struct triple_count){row[0], row[1]};
    }
    if (lists->one.count <= KEEP_MOST) {
        source->keep_list(source->context, &lists->spec.listing, node, lists->list,
                          lists->one.count);
    }
}

/* Begins to read what is listed in an order in which repetitions stand side by side. */
static enum status
open_long(struct lists *lists, oid node, uint64_t rows, struct reason *why)
{
    const struct quad_source *source = lists->operator.run->source;
    const bool subject = lists->spec.listing.place == TRIPLE_SUBJECT;
    const struct quad_oids pattern = {.subject = subject ? node : OID_NONE,
                                      .predicate =
                                          subject ? lists->spec.listing.predicate : OID_NONE,
                                      .object = subject ? OID_NONE : node};
    leaps_end(&lists->leaps);
    row_table_reset(&lists->one);
    lists->open_rows = rows;
    lists->quad = lists->quad_count = 0;
    lists->last = (struct quad_oids){0};
    return source->scan(source->context, &pattern, subject ? ORDER_SPOC : ORDER_OSPC, &lists->open,
                        why);
}

static void
close_long(struct lists *lists)
{
    if (lists->open) {
        lists->operator.run->source->scan_close(lists->open);
        lists->open = NULL;
    }
}

/* Reads the next piece of the long list, or ends it. */
static enum status
read_long(struct lists *lists, struct reason *why)
{
    struct run *run = lists->operator.run;
    lists->quad = 0;
    TRY(run->source->scan_next(lists->open, lists->quads, QUADS, &lists->quad_count, why));
    run->report.scanned += lists->quad_count;
    TRY(run_check(run, why));
    if (lists->quad_count == 0) {
        close_long(lists);
    }
    return STATUS_OK;
}

/* Counts how much is listed of the node, and puts the number among the long ones. */
static enum status
count_long(struct lists *lists, oid node, struct triple_count *all, struct reason *why)
{
    uint64_t count = 0;
    TRY(open_long(lists, node, 0, why));
    while (lists->open) {
        TRY(read_long(lists, why));
        for (; lists->quad < lists->quad_count; lists->quad++) {
            count += listed_by(lists, &lists->quads[lists->quad], &lists->last) != OID_NONE;
        }
    }
    *all = (struct triple_count){OID_NONE, count};
    return add_to(&lists->long_ones, node, count, why);
}

static enum status
read_node(struct lists *lists, oid node, struct reason *why)
{
    struct run *run = lists->operator.run;
    const struct node_listing *listing = &lists->spec.listing;
    const bool subject = listing->place == TRIPLE_SUBJECT;
    const struct quad_oids pattern = {.subject = subject ? node : OID_NONE,
                                      .predicate = listing->predicate,
                                      .object = subject ? OID_NONE : node};
    const enum quad_order order = listing->predicate != OID_NONE ? ORDER_COUNT
                                  : subject                      ? ORDER_SPOC
                                                                 : ORDER_OSPC;
    struct quad_scan *scan = NULL;
    bool leaps = false;
    run->report.scans++;
    row_table_reset(&lists->one);
    TRY(subject ? leaps_begin(&lists->leaps, &pattern, &leaps, why) : STATUS_OK);
    TRY(leaps ? STATUS_OK : run->source->scan(run->source->context, &pattern, order, &scan, why));
    const enum status status = list_scan(lists, scan, why);
    if (scan) {
        run->source->scan_close(scan);
    }
    if (status == STATUS_OK && !is_long(lists)) {
        keep(lists, node);
    }
    return status;
}

/* ---- all nodes of rows that are like each other ---- */

/* Asks the source about the next node and those after it. */
static void
recall(struct lists *lists)
{
    const struct run *run = lists->operator.run;
    const size_t left = lists->nodes.count - lists->next_node;
    struct list_recall recall = {.listing = lists->spec.listing,
                                 .nodes = lists->asked,
                                 .count = left < BATCH_ROWS ? left : BATCH_ROWS,
                                 .most = RECALL_MOST,
                                 .known = lists->known,
                                 .ends = lists->ends,
                                 .counts = lists->recalled};
    for (size_t i = 0; i < recall.count; i++) {
        lists->asked[i] = row_table_row(&lists->nodes, lists->next_node + i)[0];
    }
    const size_t done = run->source->recall_lists(run->source->context, &recall);
    if (done == 0) {
        lists->known[0] = false;
    }
    lists->from = lists->next_node;
    lists->until = lists->next_node + (done ? done : 1);
}

/* Adds what is listed with a number, for so many rows. */
static enum status
add_times(struct lists *lists, const struct triple_count *listed, uint64_t rows, struct reason *why)
{
    uint64_t triples;
    if (__builtin_mul_overflow(rows, listed->triples, &triples)) {
        return status_fail(why, STATUS_LIMIT, "more rows than can be counted");
    }
    return add_to(&lists->sums, lists->spec.listed == NUMBER_NONE ? OID_NONE : listed->value,
                  triples, why);
}

/* Finds how much is listed of a node whose long list was counted; false: it was not, or more than
 * the number is asked. */
static bool
find_long(const struct lists *lists, oid node, struct triple_count *all)
{
    const size_t at =
        lists->spec.listed == NUMBER_NONE ? row_table_find(&lists->long_ones, &node) : SIZE_MAX;
    if (at != SIZE_MAX) {
        *all = (struct triple_count){OID_NONE, row_table_row(&lists->long_ones, at)[1]};
    }
    return at != SIZE_MAX;
}

/* Adds what is listed of the next node. */
static enum status
add_node(struct lists *lists, struct reason *why)
{
    if (lists->next_node >= lists->until) {
        recall(lists);
    }
    const oid *node = row_table_row(&lists->nodes, lists->next_node);
    const size_t i = lists->next_node++ - lists->from;
    const bool known = lists->known[i];
    const size_t begin = !known || i == 0 ? 0 : lists->ends[i - 1];
    struct triple_count all;
    bool counted = !known && find_long(lists, node[0], &all);
    if (!known && !counted) {
        TRY(read_node(lists, node[0], why));
        if (is_long(lists) && lists->spec.listed != NUMBER_NONE) {
            return open_long(lists, node[0], node[1], why);
        }
        counted = is_long(lists);
        TRY(counted ? count_long(lists, node[0], &all, why) : STATUS_OK);
    }
    if (counted) {
        return add_times(lists, &all, node[1], why);
    }
    const size_t count = known ? lists->ends[i] - begin : lists->one.count;
    for (size_t k = 0; k < count; k++) {
        const oid *pair = known ? NULL : row_table_row(&lists->one, k);
        const struct triple_count listed =
            pair ? (struct triple_count){pair[0], pair[1]} : lists->recalled[begin + k];
        TRY(add_times(lists, &listed, node[1], why));
    }
    return STATUS_OK;
}

/* Fills sums from the nodes that are left. */
static enum status
add_nodes(struct lists *lists, struct reason *why)
{
    row_table_reset(&lists->sums);
    lists->given = 0;
    while (lists->next_node < lists->nodes.count && lists->sums.count < SUMS_MOST && !lists->open) {
        TRY(add_node(lists, why));
        if (lists->next_node % BATCH_ROWS == 0) {
            TRY(run_check(lists->operator.run, why));
        }
    }
    return STATUS_OK;
}

/* ---- input ---- */

/* Tells whether the input row can be put together with the first one. */
static bool
is_like(const struct lists *lists, const oid *row)
{
    bool like = lists->spec.adds_up;
    for (size_t i = 0; i < lists->spec.above_count && like; i++) {
        like = row[lists->spec.above[i]] == lists->row[lists->spec.above[i]];
    }
    return like;
}

/* Takes the nodes of the next input rows that are like each other. */
static enum status
gather(struct lists *lists, struct reason *why)
{
    const struct run *run = lists->operator.run;
    bool first = true;
    row_table_reset(&lists->nodes);
    lists->next_node = lists->from = lists->until = 0;
    while (lists->nodes.count < NODES_MOST) {
        if (!lists->input || lists->at == lists->input->count) {
            TRY(operator_next(lists->operator.input->input, &lists->input, why));
            TRY(run_check(run, why));
            lists->at = 0;
            lists->ended = lists->input->count == 0;
        }
        const oid *row = lists->ended ? NULL : batch_row(run, lists->input, lists->at);
        if (!row || (!first && !is_like(lists, row))) {
            return STATUS_OK;
        }
        if (first) {
            row_copy(run, lists->row, row);
            first = false;
        }
        if (row[lists->spec.node] < OID_LOCAL) {
            TRY(add_to(&lists->nodes, row[lists->spec.node], row_weight(row, lists->spec.weight),
                       why));
        }
        lists->at++;
    }
    return STATUS_OK;
}

static void
add_listed(const struct lists *lists, oid listed, uint64_t rows, struct batch *batch)
{
    const struct run *run = lists->operator.run;
    oid *row = batch_row(run, batch, batch->count++);
    row_copy(run, row, lists->row);
    if (lists->spec.listed != NUMBER_NONE) {
        row[lists->spec.listed] = listed;
    }
    if (lists->spec.weight != NUMBER_NONE) {
        row[lists->spec.weight] = rows;
    }
}

/* The next piece of a long list; ends it. */
static enum status
go_on_long(struct lists *lists, struct batch *batch, struct reason *why)
{
    if (lists->quad == lists->quad_count) {
        TRY(read_long(lists, why));
    }
    while (lists->quad < lists->quad_count && batch->count < lists->operator.batch_rows) {
        const oid listed = listed_by(lists, &lists->quads[lists->quad++], &lists->last);
        if (listed != OID_NONE) {
            add_listed(lists, listed, lists->open_rows, batch);
        }
    }
    return STATUS_OK;
}

static enum status
lists_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct lists *lists = (struct lists *)operator;
    const struct run *run = operator->run;
    TRY(operator_batch(operator, batch, why));
    if (!lists->row) {
        TRY(memory_take(&lists->operator.run->account, run->width * sizeof *lists->row, what, why));
        lists->row = memory_alloc(run->width * sizeof *lists->row);
    }
    while ((*batch)->count < operator->batch_rows) {
        if (lists->given < lists->sums.count) {
            const oid *sum = row_table_row(&lists->sums, lists->given++);
            add_listed(lists, sum[0], sum[1], *batch);
        } else if (lists->open) {
            TRY(go_on_long(lists, *batch, why));
        } else if (lists->next_node < lists->nodes.count) {
            TRY(add_nodes(lists, why));
        } else if (!lists->ended) {
            TRY(gather(lists, why));
        } else {
            break;
        }
    }
    return run_check(run, why);
}

static void lists_reset(struct operator* operator)
{
    struct lists *lists = (struct lists *)operator;
    leaps_end(&lists->leaps);
    close_long(lists);
    row_table_reset(&lists->nodes);
    row_table_reset(&lists->sums);
    lists->input = NULL;
    lists->ended = false;
    lists->at = lists->next_node = lists->given = 0;
}

static void lists_close(struct operator* operator)
{
    struct lists *lists = (struct lists *)operator;
    leaps_end(&lists->leaps);
    close_long(lists);
    memory_give(&operator->run->account, lists->row ? operator->run->width * sizeof *lists->row : 0);
    free(lists->row);
    row_table_release(&lists->one);
    row_table_release(&lists->nodes);
    row_table_release(&lists->sums);
    row_table_release(&lists->long_ones);
}

struct operator* lists_new(struct run *run, struct operator* scan, const struct lists_spec *spec,
                           size_t batch_rows)
{
    static const struct operator_kind kinds[] = {
        {"predicates", sizeof(struct lists), lists_next, lists_reset, lists_close},
        {"listed", sizeof(struct lists), lists_next, lists_reset, lists_close}};
    const bool predicates = spec->listing.predicate == OID_NONE;
    struct lists *lists =
        (struct lists *)operator_new(run, &kinds[predicates ? 0 : 1], scan, batch_rows);
    if (!lists) {
        return NULL;
    }
    lists->spec = *spec;
    lists->leaps.source = run->source;
    row_table_init(&lists->one, &run->account, what, 2, 1);
    row_table_init(&lists->nodes, &run->account, what, 2, 1);
    row_table_init(&lists->sums, &run->account, what, 2, 1);
    row_table_init(&lists->long_ones, &run->account, what, 2, 1);
    return &lists->operator;
}
