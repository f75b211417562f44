/* A pattern whose predicate is asked of a node that the input has bound, and of its triples only
 * the number: a row for each predicate of the node, without one for each triple. The source keeps
 * the lists that queries have read (quad_source.recall_predicates), so that triples are read only
 * of nodes that were not asked for before.
 *
 * Lists of input rows that are equal in all that is needed above are added up before rows are made:
 * the properties of a whole class are a row each. */
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/operators/leaps.h"

enum { QUADS = 128, RECALL_MOST = 4096, KEEP_MOST = 512, SUMS_MOST = 1024 };
static const char what[] = "counts of predicates";

struct predicates {
    struct operator operator; /* its input is the scan, which reads the real input itself */
    struct predicates_spec spec;
    struct leaps leaps; /* of subjects that are read */
    struct batch *input;
    size_t at;
    bool ended;
    /* What the source has for the input's rows before `until`. */
    oid nodes[BATCH_ROWS];
    bool known[BATCH_ROWS];
    size_t ends[BATCH_ROWS], from, until;
    struct triple_count recalled[RECALL_MOST], list[KEEP_MOST];
    /* Predicates with their numbers: of a node that is read; of the input rows that are like `row`,
     * of which the first `given` have become rows. */
    struct row_table one, sums;
    oid *row;
    size_t given;
};

/* ---- one node ---- */

static enum status
add_to(struct row_table *sums, oid predicate, uint64_t triples, struct reason *why)
{
    const oid row[2] = {predicate, triples};
    bool added;
    size_t at;
    TRY(row_table_put(sums, row, &added, &at, why));
    oid *sum = &sums->rows[2 * at + 1];
    return !added && __builtin_add_overflow(*sum, triples, sum)
               ? status_fail(why, STATUS_LIMIT, "more rows than can be counted")
               : STATUS_OK;
}

/* Quads in an order in which a triple's repetitions stand side by side. */
static enum status
count_quads(struct row_table *one, const struct quad_oids *quads, size_t count,
            struct quad_oids *last, struct reason *why)
{
    for (size_t i = 0; i < count; i++) {
        const struct quad_oids *quad = &quads[i];
        if (quad->subject != last->subject || quad->predicate != last->predicate ||
            quad->object != last->object) {
            TRY(add_to(one, quad->predicate, 1, why));
        }
        *last = *quad;
    }
    return STATUS_OK;
}

/* scan NULL: by leaps. */
static enum status
count_scan(struct predicates *p, struct quad_scan *scan, struct reason *why)
{
    struct run *run = p->operator.run;
    struct quad_oids quads[QUADS], last = {0};
    size_t n = 1;
    while (n > 0) {
        TRY(scan ? run->source->scan_next(scan, quads, QUADS, &n, why)
                 : leaps_next(&p->leaps, quads, QUADS, &n, why));
        run->report.scanned += n;
        TRY(run_check(run, why));
        TRY(count_quads(&p->one, quads, n, &last, why));
    }
    return STATUS_OK;
}

static void
keep(struct predicates *p, oid node)
{
    const struct quad_source *source = p->operator.run->source;
    for (size_t i = 0; i < p->one.count && i < KEEP_MOST; i++) {
        const oid *row = row_table_row(&p->one, i);
        p->list[i] = (struct triple_count){row[0], row[1]};
    }
    if (p->one.count <= KEEP_MOST) {
        source->keep_predicates(source->context, p->spec.place, node, p->list, p->one.count);
    }
}

static enum status
read_node(struct predicates *p, oid node, struct reason *why)
{
    struct run *run = p->operator.run;
    const bool subject = p->spec.place == TRIPLE_SUBJECT;
    const struct quad_oids pattern = {.subject = subject ? node : OID_NONE,
                                      .object = subject ? OID_NONE : node};
    struct quad_scan *scan = NULL;
    bool leaps = false;
    run->report.scans++;
    row_table_reset(&p->one);
    TRY(subject ? leaps_begin(&p->leaps, &pattern, &leaps, why) : STATUS_OK);
    TRY(leaps ? STATUS_OK
              : run->source->scan(run->source->context, &pattern, subject ? ORDER_SPOC : ORDER_OSPC,
                                  &scan, why));
    const enum status status = count_scan(p, scan, why);
    if (scan) {
        run->source->scan_close(scan);
    }
    if (status == STATUS_OK) {
        keep(p, node);
    }
    return status;
}

/* ---- input ---- */

/* Asks the source about the nodes of the present input row and those after it. */
static void
recall(struct predicates *p)
{
    const struct run *run = p->operator.run;
    const size_t left = p->input->count - p->at;
    struct predicate_recall recall = {.place = p->spec.place,
                                      .nodes = p->nodes,
                                      .count = left < BATCH_ROWS ? left : BATCH_ROWS,
                                      .most = RECALL_MOST,
                                      .known = p->known,
                                      .ends = p->ends,
                                      .counts = p->recalled};
    for (size_t i = 0; i < recall.count; i++) {
        p->nodes[i] = batch_row(run, p->input, p->at + i)[p->spec.node];
    }
    const size_t done = run->source->recall_predicates(run->source->context, &recall);
    if (done == 0) {
        p->known[0] = false;
    }
    p->from = p->at;
    p->until = p->at + (done ? done : 1);
}

/* Adds what the present input row makes. */
static enum status
add_row(struct predicates *p, const oid *row, struct reason *why)
{
    if (p->at >= p->until) {
        recall(p);
    }
    const size_t i = p->at - p->from;
    const bool known = p->known[i];
    const size_t begin = !known ? 0 : i == 0 ? 0 : p->ends[i - 1];
    if (row[p->spec.node] >= OID_LOCAL) {
        return STATUS_OK;
    }
    if (!known) {
        TRY(read_node(p, row[p->spec.node], why));
    }
    const size_t count = known ? p->ends[i] - begin : p->one.count;
    for (size_t k = 0; k < count; k++) {
        const oid *pair = known ? NULL : row_table_row(&p->one, k);
        const struct triple_count counted =
            pair ? (struct triple_count){pair[0], pair[1]} : p->recalled[begin + k];
        uint64_t triples;
        if (__builtin_mul_overflow(row_weight(row, p->spec.weight), counted.triples, &triples)) {
            return status_fail(why, STATUS_LIMIT, "more rows than can be counted");
        }
        TRY(add_to(&p->sums, counted.value, triples, why));
    }
    return STATUS_OK;
}

/* Whether the input row can be added to what the first one made. */
static bool
is_like(const struct predicates *p, const oid *row)
{
    bool like = p->spec.adds_up;
    for (size_t i = 0; i < p->spec.above_count && like; i++) {
        like = row[p->spec.above[i]] == p->row[p->spec.above[i]];
    }
    return like;
}

/* Fills sums from the next input rows that are like each other. */
static enum status
gather(struct predicates *p, struct reason *why)
{
    const struct run *run = p->operator.run;
    bool first = true;
    row_table_reset(&p->sums);
    p->given = 0;
    while (p->sums.count < SUMS_MOST) {
        if (!p->input || p->at == p->input->count) {
            TRY(operator_next(p->operator.input->input, &p->input, why));
            TRY(run_check(run, why));
            p->at = p->until = 0;
            p->ended = p->input->count == 0;
        }
        const oid *row = p->ended ? NULL : batch_row(run, p->input, p->at);
        if (!row || (!first && !is_like(p, row))) {
            return STATUS_OK;
        }
        if (first) {
            memcpy(p->row, row, run->width * sizeof *row);
            first = false;
        }
        TRY(add_row(p, row, why));
        p->at++;
    }
    return STATUS_OK;
}

static enum status
predicates_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct predicates *p = (struct predicates *)operator;
    const struct run *run = operator->run;
    TRY(operator_batch(operator, batch, why));
    if (!p->row) {
        TRY(memory_take(&p->operator.run->account, run->width * sizeof *p->row, what, why));
        p->row = memory_alloc(run->width * sizeof *p->row);
    }
    while ((*batch)->count < operator->batch_rows) {
        if (p->given == p->sums.count) {
            if (p->ended) {
                break;
            }
            TRY(gather(p, why));
            continue;
        }
        const oid *sum = row_table_row(&p->sums, p->given++);
        oid *row = batch_row(run, *batch, (*batch)->count++);
        memcpy(row, p->row, run->width * sizeof *row);
        row[p->spec.predicate] = sum[0];
        row[p->spec.weight] = sum[1];
    }
    return run_check(run, why);
}

static void predicates_reset(struct operator* operator)
{
    struct predicates *p = (struct predicates *)operator;
    leaps_end(&p->leaps);
    row_table_reset(&p->sums);
    p->input = NULL;
    p->ended = false;
    p->at = p->until = p->given = 0;
}

static void predicates_close(struct operator* operator)
{
    struct predicates *p = (struct predicates *)operator;
    leaps_end(&p->leaps);
    memory_give(&operator->run->account, p->row ? operator->run->width * sizeof *p->row : 0);
    free(p->row);
    row_table_release(&p->one);
    row_table_release(&p->sums);
}

struct operator* predicates_new(struct run *run, struct operator* scan,
                                const struct predicates_spec *spec, size_t batch_rows)
{
    static const struct operator_kind kind = {"predicates", sizeof(struct predicates),
                                              predicates_next, predicates_reset, predicates_close};
    struct predicates *p = (struct predicates *)operator_new(run, &kind, scan, batch_rows);
    if (!p) {
        return NULL;
    }
    p->spec = *spec;
    p->leaps.source = run->source;
    row_table_init(&p->one, &run->account, what, 2, 1);
    row_table_init(&p->sums, &run->account, what, 2, 1);
    return &p->operator;
}
