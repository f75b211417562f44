/* The different triples of a pattern, counted by the source by the value of one place: a row for
 * each value, with its number; or a row for each subject and object. Where the source cannot count
 * them, or not in an eighth of the query's memory, the scan does that the operator stands on. */
#include <stdlib.h>

#include "index/query/operators/operator.h"

enum { VALUES_LEAST = 1024 /* that are worth cutting */ };
enum { MEMORY_SHARE = 8, MEMORY_MOST = 64 << 20 };

struct counts {
    struct operator operator; /* its input is the scan, which reads the real input itself */
    struct counts_spec spec;
    bool counted, scans, borrowed;
    struct triple_count *list;
    size_t count, taken; /* bytes of it */
    size_t from, to;     /* what of it is given */
    struct batch *input;
    size_t at, row;
    const struct key_filter *filter; /* of a join above; or NULL */
    bool filters_objects;            /* of pairs; else on the value */
    /* Values, ascending as the own ones do, of which others are left out, and the one that was
     * looked at last; NULL: none are left out so. */
    const struct triple_count *beside;
    size_t beside_count, beside_at;
};

static enum status
check(const void *context, struct reason *why)
{
    return run_check(context, why);
}

static enum status
count(struct counts *counts, struct reason *why)
{
    struct run *run = counts->operator.run;
    const size_t share = run->account.maximum / MEMORY_SHARE;
    const struct count_request request = {.pattern = counts->spec.pattern,
                                          .by = counts->spec.by,
                                          .quads = counts->spec.quads,
                                          .of = counts->spec.of,
                                          .kind = counts->spec.kind,
                                          .again = counts->spec.again,
                                          .memory = share < MEMORY_MOST ? share : MEMORY_MOST,
                                          .check = check,
                                          .check_context = run};
    /* Who helps has too little memory to count with. */
    counts->scans = run->helps || !spill_may_take(&run->spill, request.memory);
    if (counts->scans) {
        return STATUS_OK;
    }
    TRY(memory_take(&run->account, request.memory, "counts", why));
    run->report.scans++;
    const enum status status = run->source->count_triples(run->source->context, &request,
                                                          &counts->list, &counts->count, why);
    counts->taken = counts->count * sizeof *counts->list;
    memory_give(&run->account, request.memory - counts->taken);
    counts->to = counts->count;
    counts->scans = status == STATUS_LIMIT || status == STATUS_UNSUPPORTED;
    return counts->scans ? STATUS_OK : status;
}

static enum status
count_once(struct counts *counts, struct reason *why)
{
    TRY(counts->counted ? STATUS_OK : count(counts, why));
    counts->counted = true;
    return STATUS_OK;
}

static bool
is_beside(struct counts *counts, oid value)
{
    size_t at = counts->beside_at;
    while (at < counts->beside_count && counts->beside[at].value < value) {
        at++;
    }
    counts->beside_at = at;
    return at < counts->beside_count && counts->beside[at].value == value;
}

size_t
counts_find(const struct triple_count *list, size_t from, size_t to, const struct triple_count *key,
            bool pairs)
{
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (count_is_before(&list[middle], key, pairs)) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

/* Goes over values that a filter above drops. */
static inline void
skip_outside(struct counts *counts)
{
    const struct id_range *objects = &counts->spec.objects;
    const oid value = counts->list[counts->at].value;
    if (!objects->first || value < objects->first || value > objects->last) {
        return;
    }
    if (value < objects->low || value > objects->high) {
        const struct triple_count next = {.value = value < objects->low ? objects->low
                                                                        : objects->last + 1};
        counts->at = counts_find(counts->list, counts->at, counts->to, &next, false);
    }
}

/* Tells whether a join above drops what the entry makes. */
static bool
is_dropped(struct counts *counts, const struct triple_count *one)
{
    const oid filtered = counts->filters_objects ? one->triples : one->value;
    return (counts->beside && !is_beside(counts, one->value)) ||
           (counts->filter && !key_filter_may_have(counts->filter, filtered));
}

/* Fills what one entry makes of its input row. */
static enum status
fill_row(const struct counts *counts, const struct triple_count *one, oid *row, struct reason *why)
{
    if (counts->spec.slot != NUMBER_NONE) {
        row[counts->spec.slot] = one->value;
    }
    if (counts->spec.object != NUMBER_NONE) {
        row[counts->spec.object] = one->triples;
        return STATUS_OK;
    }
    return row_multiply(row, counts->spec.weight, one->triples, why);
}

/* Gives those of the scan's rows that have a term of the kind asked for. */
static enum status
next_scanned(struct counts *counts, struct batch **batch, struct reason *why)
{
    const struct run *run = counts->operator.run;
    const struct counts_spec *spec = &counts->spec;
    size_t kept;
    do {
        TRY(operator_next(counts->operator.input, batch, why));
        if (spec->kind == TERM_NONE || (*batch)->count == 0) {
            return STATUS_OK;
        }
        kept = 0;
        for (size_t i = 0; i < (*batch)->count; i++) {
            const oid *row = batch_row(run, *batch, i);
            if (run->source->kind(row[spec->of_slot]) == spec->kind) {
                row_copy(run, batch_row(run, *batch, kept++), row);
            }
        }
        (*batch)->count = kept;
    } while (kept == 0);
    return STATUS_OK;
}

static enum status
counts_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct counts *counts = (struct counts *)operator;
    const struct run *run = operator->run;
    TRY(count_once(counts, why));
    if (counts->scans) {
        return next_scanned(counts, batch, why);
    }
    TRY(operator_batch(operator, batch, why));
    while ((*batch)->count < operator->batch_rows) {
        if (!counts->input || counts->row == counts->input->count) {
            TRY(operator_next(operator->input->input, &counts->input, why));
            counts->row = 0;
            counts->at = counts->from;
            if (counts->input->count == 0) {
                counts->input = NULL;
                break;
            }
        }
        if (counts->at < counts->to) {
            skip_outside(counts);
        }
        if (counts->at == counts->to) {
            counts->at = counts->from;
            counts->beside_at = 0;
            counts->row++;
            continue;
        }
        const struct triple_count *one = &counts->list[counts->at++];
        if (is_dropped(counts, one)) {
            continue;
        }
        oid *row = batch_row(run, *batch, (*batch)->count++);
        row_copy(run, row, batch_row(run, counts->input, counts->row));
        TRY(fill_row(counts, one, row, why));
    }
    return run_check(run, why);
}

static void counts_reset(struct operator* operator)
{
    struct counts *counts = (struct counts *)operator;
    counts->input = NULL;
    counts->beside = NULL;
    counts->row = counts->beside_at = 0;
}

static void counts_close(struct operator* operator)
{
    struct counts *counts = (struct counts *)operator;
    memory_give(&operator->run->account, counts->taken);
    if (!counts->borrowed) {
        quad_source_release_counts(operator->run->source, counts->list);
    }
}

static const struct operator_kind kind = {"counts", sizeof(struct counts), counts_next,
                                          counts_reset, counts_close};

bool
counts_can_filter(const struct operator* operator, uint32_t slot)
{
    const struct counts *counts = (const struct counts *)operator;
    return operator->kind == & kind && scan_can_filter(operator->input, slot) &&
           (counts->spec.slot == slot ||
            (counts->spec.by == TRIPLE_PAIRS && counts->spec.object == slot));
}

void
counts_set_filter(struct operator* operator, const struct key_filter * filter, uint32_t slot)
{
    struct counts *counts = (struct counts *)operator;
    counts->filter = filter;
    counts->filters_objects = counts->spec.slot != slot;
    scan_set_filter(operator->input, filter, slot);
}

bool
counts_first(const struct operator* operator, uint32_t * slot)
{
    const struct counts *counts = (const struct counts *)operator;
    const bool first = operator->kind == & kind && scan_first(operator->input) &&
                       counts->spec.slot != NUMBER_NONE && counts->spec.object == NUMBER_NONE;
    *slot = first ? counts->spec.slot : NUMBER_NONE;
    return first;
}

enum status
counts_divide(struct operator* operator, struct quad_cuts * cuts, struct reason *why)
{
    struct counts *counts = (struct counts *)operator;
    const size_t most = cuts->count;
    cuts->count = 0;
    TRY(count_once(counts, why));
    if (!counts->scans && counts->count >= VALUES_LEAST && counts->count > most) {
        for (size_t i = 1; i <= most; i++) {
            cuts->values[cuts->count++] = i * counts->count / (most + 1);
        }
    }
    return STATUS_OK;
}

enum status
counts_are_by(struct operator* operator, uint32_t slot, bool *are, struct reason *why)
{
    struct counts *counts = (struct counts *)operator;
    uint32_t by;
    *are = false;
    if (!counts_first(operator, & by) || by != slot) {
        return STATUS_OK;
    }
    TRY(count_once(counts, why));
    *are = !counts->scans;
    return STATUS_OK;
}

uint32_t
counts_object(const struct operator* operator)
{
    const struct counts *counts = (const struct counts *)operator;
    return operator->kind == & kind ? counts->spec.object : NUMBER_NONE;
}

enum status
counts_kept(struct operator* operator, uint32_t slot, const struct triple_count **list,
            size_t *count, struct reason *why)
{
    struct counts *counts = (struct counts *)operator;
    *list = NULL;
    *count = 0;
    if (operator->kind != & kind || counts->spec.slot != slot || !counts->spec.again) {
        return STATUS_OK;
    }
    TRY(count_once(counts, why));
    if (!counts->scans) {
        *list = counts->list;
        *count = counts->count;
    }
    return STATUS_OK;
}

void
counts_set_range(struct operator* operator, const struct scan_range * range)
{
    struct counts *counts = (struct counts *)operator;
    counts->from = range->from;
    counts->to = range->to ? range->to : counts->count;
}

void
counts_lend(const struct operator* operator, struct operator* to)
{
    const struct counts *counts = (const struct counts *)operator;
    struct counts *borrower = (struct counts *)to;
    borrower->list = counts->list;
    borrower->count = borrower->to = counts->count;
    borrower->counted = borrower->borrowed = true;
}

void
counts_keep_beside(struct operator* operator, const struct triple_count * list, size_t count)
{
    struct counts *counts = (struct counts *)operator;
    if (operator->kind == & kind) {
        counts->beside = list;
        counts->beside_count = count;
        counts->beside_at = 0;
    }
}

struct operator* counts_new(struct run *run, struct operator* scan, const struct counts_spec *spec,
                            size_t batch_rows)
{
    struct counts *counts = (struct counts *)operator_new(run, &kind, scan, batch_rows);
    if (counts) {
        counts->spec = *spec;
    }
    return (struct operator*)counts;
}
