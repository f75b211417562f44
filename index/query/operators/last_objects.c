/* The last objects of a predicate, found without reading the others: the identifiers of their type
 * are halved again and again, and behind the middle a few rows are read. */
#include "index/query/operators/operator.h"

enum { ROWS = 64, ENOUGH = 4, OBJECTS_MOST = 1024 };

struct tail {
    size_t objects; /* different ones that were seen */
    oid least;      /* of them */
    bool whole;     /* there are no others */
};

/* The objects from `from` to last, ENOUGH times `most` of them at most. */
static enum status
look_at(const struct run *run, oid predicate, oid from, oid last, size_t most, struct tail *tail,
        struct reason *why)
{
    const struct quad_source *source = run->source;
    const struct quad_oids pattern = {.predicate = predicate};
    const struct quad_oids begin = {.predicate = predicate, .object = from};
    struct quad_oids quads[ROWS];
    struct quad_scan *scan;
    oid object = OID_NONE;
    *tail = (struct tail){0};
    TRY(source->scan(source->context, &pattern, ORDER_POCS, &scan, why));
    source->scan_skip(scan, &begin);
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !tail->whole && tail->objects < ENOUGH * most) {
        size_t n;
        status = source->scan_next(scan, quads, ROWS, &n, why);
        tail->whole = n == 0;
        for (size_t i = 0; status == STATUS_OK && i < n && !tail->whole; i++) {
            tail->whole = quads[i].object > last;
            if (!tail->whole && quads[i].object != object) {
                object = quads[i].object;
                tail->least = tail->objects++ == 0 ? object : tail->least;
            }
        }
        /* One object may have any number of rows. */
        const struct quad_oids next = {.predicate = predicate, .object = object + 1};
        source->scan_skip(scan, &next);
    }
    source->scan_close(scan);
    return status;
}

enum status
last_objects(const struct run *run, oid predicate, const struct oid_span *span, uint64_t most,
             oid *from, struct reason *why)
{
    oid low = span->first, high = span->last;
    struct tail tail = {0};
    *from = OID_NONE;
    while (most <= OBJECTS_MOST && low < high && !(tail.whole && tail.objects >= most)) {
        const oid middle = low + (high - low) / 2;
        TRY(run_check(run, why));
        TRY(look_at(run, predicate, middle, span->last, (size_t)most, &tail, why));
        if (tail.objects < most) {
            high = middle;
        } else {
            *from = tail.least;
            low = tail.least > middle ? tail.least : middle + 1;
        }
    }
    return STATUS_OK;
}
