#include "rdf/core/graph.h"

#include <stdlib.h>

#include <nettle/sha2.h>

#include "base/buf.h"
#include "base/memory.h"
#include "rdf/core/writer.h"

void
graph_init(struct graph *graph, size_t maximum)
{
    memset(graph, 0, sizeof *graph);
    graph->maximum = maximum;
    arena_init(&graph->arena, maximum);
}

void
graph_reset(struct graph *graph)
{
    arena_reset(&graph->arena);
    memset(graph->cache, 0, sizeof graph->cache);
    graph->count = 0;
}

void
graph_release(struct graph *graph)
{
    arena_release(&graph->arena);
    free(graph->quads);
    graph_init(graph, graph->maximum);
}

static size_t
cache_slot(struct slice slice)
{
    /* The ends of strings differ most; a collision costs a copy, no more. */
    uint64_t mixed = slice.length;
    if (slice.length >= 8) {
        uint64_t tail, middle;
        memcpy(&tail, slice.at + slice.length - 8, sizeof tail);
        memcpy(&middle, slice.at + slice.length / 2 - 4, sizeof middle);
        mixed ^= tail * UINT64_C(0x9E3779B97F4A7C15) ^ middle * UINT64_C(0xC2B2AE3D27D4EB4F);
    } else {
        for (size_t i = 0; i < slice.length; i++) {
            mixed = mixed * 257 + (unsigned char)slice.at[i];
        }
        mixed *= UINT64_C(0x9E3779B97F4A7C15);
    }
    return (size_t)(mixed >> 56) % GRAPH_CACHE;
}

static bool
keep(struct graph *graph, struct slice from, struct slice *to)
{
    if (from.length == 0) {
        *to = (struct slice){NULL, 0};
        return true;
    }
    struct slice *cached = &graph->cache[cache_slot(from)];
    if (!slice_equal(*cached, from)) {
        const struct slice copy = arena_copy(&graph->arena, from);
        if (copy.at == NULL) {
            return false;
        }
        *cached = copy;
    }
    *to = *cached;
    return true;
}

static bool
keep_term(struct graph *graph, const struct term *from, struct term *to)
{
    to->kind = from->kind;
    return keep(graph, from->value, &to->value) && keep(graph, from->datatype, &to->datatype) &&
           keep(graph, from->language, &to->language);
}

enum status
graph_add(struct graph *graph, const struct quad *quad, struct reason *why)
{
    if (graph->count == graph->capacity) {
        const size_t capacity = graph->capacity == 0 ? 64 : graph->capacity * 2;
        graph->quads = memory_resize(graph->quads, capacity, sizeof *graph->quads);
        graph->capacity = capacity;
    }
    struct quad *to = &graph->quads[graph->count];
    const size_t quads_size = (graph->count + 1) * sizeof *graph->quads;
    if (!keep_term(graph, &quad->subject, &to->subject) ||
        !keep_term(graph, &quad->predicate, &to->predicate) ||
        !keep_term(graph, &quad->object, &to->object) ||
        !keep_term(graph, &quad->graph, &to->graph) ||
        (graph->maximum > 0 && graph->arena.used + quads_size > graph->maximum)) {
        return status_fail(why, STATUS_LIMIT, "graph is larger than %zu bytes", graph->maximum);
    }
    to->line = quad->line;
    to->source = quad->source;
    graph->count++;
    return STATUS_OK;
}

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    return graph_add(context, quad, why);
}

struct quad_sink
graph_sink(struct graph *graph)
{
    return (struct quad_sink){.quad = take_quad, .context = graph};
}

enum status
graph_send(const struct graph *graph, const struct quad_sink *sink, struct reason *why)
{
    for (size_t i = 0; i < graph->count; i++) {
        TRY(sink->quad(sink->context, &graph->quads[i], why));
    }
    return STATUS_OK;
}

static int
compare(const void *a, const void *b)
{
    const struct quad *first = a, *second = b;
    const int order = quad_compare(first, second);
    if (order != 0) {
        return order;
    }
    if (first->source != second->source) {
        return first->source < second->source ? -1 : 1;
    }
    return (first->line > second->line) - (first->line < second->line);
}

void
graph_sort(struct graph *graph)
{
    if (graph->count > 1) {
        qsort(graph->quads, graph->count, sizeof *graph->quads, compare);
    }
}

void
graph_unique(struct graph *graph)
{
    if (graph->count < 2) {
        return;
    }
    size_t kept = 1;
    for (size_t i = 1; i < graph->count; i++) {
        if (quad_compare(&graph->quads[kept - 1], &graph->quads[i]) != 0) {
            graph->quads[kept++] = graph->quads[i];
        }
    }
    graph->count = kept;
}

void
graph_sort_unique(struct graph *graph)
{
    graph_sort(graph);
    graph_unique(graph);
}

void
graph_digest(const struct graph *graph, uint8_t digest[DIGEST_SHA256_SIZE])
{
    struct sha256_ctx context;
    struct buf line;
    sha256_init(&context);
    buf_init(&line, SIZE_MAX / 2);
    for (size_t i = 0; i < graph->count; i++) {
        nquads_write(&line, &graph->quads[i]);
        if (line.length > (32 << 10) || i + 1 == graph->count) {
            sha256_update(&context, line.length, (const uint8_t *)line.data);
            buf_reset(&line);
        }
    }
    sha256_digest(&context, DIGEST_SHA256_SIZE, digest);
    buf_release(&line);
}
