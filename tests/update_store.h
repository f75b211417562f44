/* An update target that is an array of quads in memory. */
#ifndef TESTS_UPDATE_STORE_H
#define TESTS_UPDATE_STORE_H

#include "index/query/update.h"
#include "rdf/core/graph.h"
#include "tests/support/memory_source.h"

struct update_store {
    struct graph quads;
    struct memory_source *source; /* the quads when an operation began */
};

static inline enum status
update_store_source(void *context, const struct quad_source **source, struct reason *why)
{
    struct update_store *store = context;
    memory_source_free(store->source);
    store->source = memory_source_new(0);
    const struct quad_sink sink = memory_source_sink(store->source);
    TRY(graph_send(&store->quads, &sink, why));
    *source = memory_source_table(store->source);
    return STATUS_OK;
}

static inline bool
update_store_holds(const struct graph *graph, const struct quad *quad)
{
    for (size_t i = 0; i < graph->count; i++) {
        if (quad_compare(&graph->quads[i], quad) == 0) {
            return true;
        }
    }
    return false;
}

static inline enum status
update_store_change(void *context, const struct graph *removed, const struct graph *added,
                    struct reason *why)
{
    struct update_store *store = context;
    size_t kept = 0;
    for (size_t i = 0; i < store->quads.count; i++) {
        if (!update_store_holds(removed, &store->quads.quads[i])) {
            store->quads.quads[kept++] = store->quads.quads[i];
        }
    }
    store->quads.count = kept;
    for (size_t i = 0; i < added->count; i++) {
        TRY(graph_add(&store->quads, &added->quads[i], why));
    }
    graph_sort_unique(&store->quads);
    return STATUS_OK;
}

static inline enum status
update_store_clear(void *context, struct slice graph, struct slice except, struct reason *why)
{
    struct update_store *store = context;
    size_t kept = 0;
    (void)why;
    for (size_t i = 0; i < store->quads.count; i++) {
        const struct slice name = store->quads.quads[i].graph.value;
        if (graph.length ? !slice_equal(name, graph) : slice_equal(name, except)) {
            store->quads.quads[kept++] = store->quads.quads[i];
        }
    }
    store->quads.count = kept;
    return STATUS_OK;
}

/* load: may be NULL. */
static inline struct update_target
update_store_target(struct update_store *store,
                    enum status (*load)(void *context, struct slice document, struct slice graph,
                                        struct reason *why))
{
    return (struct update_target){store, update_store_source, update_store_change,
                                  update_store_clear, load};
}

static inline void
update_store_release(struct update_store *store)
{
    graph_release(&store->quads);
    memory_source_free(store->source);
}

#endif
