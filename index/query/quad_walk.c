#include "index/query/quad_walk.h"

enum { ROWS = 1024 };

enum status
quad_resolve(const struct quad_source *source, const struct quad_oids *ids, struct arena *arena,
             struct quad *quad, struct reason *why)
{
    TRY(source->resolve(source->context, ids->subject, arena, &quad->subject, why));
    TRY(source->resolve(source->context, ids->predicate, arena, &quad->predicate, why));
    TRY(source->resolve(source->context, ids->object, arena, &quad->object, why));
    return source->resolve(source->context, ids->graph, arena, &quad->graph, why);
}

enum { PLACES = 4 };

struct walk {
    const struct quad_source *source;
    struct quad quad;
    struct {
        oid id; /* whose term stands in quad */
        struct arena arena;
    } places[PLACES];
};

/* Rows come sorted, so most have one or two terms of the row before: those stay. */
static enum status
resolve_row(struct walk *w, const struct quad_oids *ids, struct reason *why)
{
    const oid found[PLACES] = {ids->subject, ids->predicate, ids->object, ids->graph};
    struct term *const terms[PLACES] = {&w->quad.subject, &w->quad.predicate, &w->quad.object,
                                        &w->quad.graph};
    for (int i = 0; i < PLACES; i++) {
        if (found[i] != w->places[i].id) {
            arena_reset(&w->places[i].arena);
            w->places[i].id = OID_NONE;
            TRY(w->source->resolve(w->source->context, found[i], &w->places[i].arena, terms[i],
                                   why));
            w->places[i].id = found[i];
        }
    }
    return STATUS_OK;
}

static enum status
walk_rows(struct walk *w, struct quad_scan *scan, const struct quad_sink *sink, struct reason *why)
{
    struct quad_oids rows[ROWS];
    for (size_t n = 1; n > 0;) {
        TRY(w->source->scan_next(scan, rows, ROWS, &n, why));
        for (size_t i = 0; i < n; i++) {
            TRY(resolve_row(w, &rows[i], why));
            TRY(sink->quad(sink->context, &w->quad, why));
        }
    }
    return STATUS_OK;
}

enum status
quad_walk(const struct quad_source *source, const struct quad_oids *pattern, enum quad_order order,
          const struct quad_sink *sink, struct reason *why)
{
    struct quad_scan *scan;
    TRY(source->scan(source->context, pattern, order, &scan, why));
    struct walk w = {.source = source};
    for (int i = 0; i < PLACES; i++) {
        arena_init(&w.places[i].arena, 0);
    }
    const enum status status = walk_rows(&w, scan, sink, why);
    source->scan_close(scan);
    for (int i = 0; i < PLACES; i++) {
        arena_release(&w.places[i].arena);
    }
    return status == STATUS_END ? STATUS_OK : status;
}
