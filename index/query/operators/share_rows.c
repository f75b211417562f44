/* Rows that the partitions of a source give for a part of the query
 * (index/query/plan/share_parts.h). */
#include "index/query/operators/operator.h"

struct share {
    struct operator operator;
    struct share_request request;
    const uint32_t *columns;
    struct share_scan *open;
    oid *rows;
    bool done;
};

static void
share_stop(struct share *share)
{
    if (share->open) {
        share->operator.run->source->share_close(share->open);
        share->open = NULL;
    }
}

static enum status
share_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct share *share = (struct share *)operator;
    struct run *run = operator->run;
    const struct quad_source *source = run->source;
    const size_t columns = share->request.columns;
    size_t count;
    TRY(operator_batch(operator, batch, why));
    TRY(run_check(run, why));
    if (share->done) {
        return STATUS_OK;
    }
    if (!share->rows) {
        share->rows = arena_alloc(&run->arena, (operator->batch_rows * columns + 1) * sizeof(oid));
        if (!share->rows) {
            return status_fail(why, STATUS_LIMIT, "too many columns");
        }
    }
    if (!share->open) {
        run->report.scans++;
        TRY(source->share(source->context, &share->request, &share->open, why));
    }
    TRY(source->share_next(share->open, share->rows, operator->batch_rows, &count, why));
    run->report.scanned += count;
    for (size_t i = 0; i < count; i++) {
        oid *row = batch_row(run, *batch, i);
        row_copy(run, row, run->base_row);
        for (size_t k = 0; k < columns; k++) {
            row[share->columns[k]] = share->rows[i * columns + k];
        }
    }
    (*batch)->count = count;
    share->done = count == 0;
    if (share->done) {
        share_stop(share);
    }
    return STATUS_OK;
}

static void share_reset(struct operator* operator)
{
    struct share *share = (struct share *)operator;
    share_stop(share);
    share->done = false;
}

static void share_close(struct operator* operator)
{
    share_stop((struct share *)operator);
}

struct operator* share_new(struct run *run, const struct share_request *request,
                           const uint32_t *columns, size_t batch_rows)
{
    static const struct operator_kind kind = {"partitions", sizeof(struct share), share_next,
                                              share_reset, share_close};
    struct share *share = (struct share *)operator_new(run, &kind, NULL, batch_rows);
    if (!share) {
        return NULL;
    }
    share->request = *request;
    share->columns = columns;
    return &share->operator;
}
