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

struct walk {
    const struct quad_source *source;
    struct arena arena, graph_arena;
    oid graph;
    struct quad quad;
};

/* Rows of one graph come one after the other: its term is resolved once. */
static enum status
resolve_row(struct walk *w, const struct quad_oids *ids, struct reason *why)
{
    const struct quad_source *source = w->source;
    arena_reset(&w->arena);
    if (ids->graph != w->graph) {
        arena_reset(&w->graph_arena);
        TRY(source->resolve(source->context, ids->graph, &w->graph_arena, &w->quad.graph, why));
        w->graph = ids->graph;
    }
    TRY(source->resolve(source->context, ids->subject, &w->arena, &w->quad.subject, why));
    TRY(source->resolve(source->context, ids->predicate, &w->arena, &w->quad.predicate, why));
    return source->resolve(source->context, ids->object, &w->arena, &w->quad.object, why);
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
    struct walk w = {.source = source, .graph = OID_NONE};
    arena_init(&w.arena, 0);
    arena_init(&w.graph_arena, 0);
    const enum status status = walk_rows(&w, scan, sink, why);
    source->scan_close(scan);
    arena_release(&w.arena);
    arena_release(&w.graph_arena);
    return status == STATUS_END ? STATUS_OK : status;
}
