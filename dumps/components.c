#include "dumps/components.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "base/memory.h"

struct node {
    uint64_t id; /* 0: free */
    uint32_t parent;
};

struct components {
    struct spool_room *room;
    pthread_mutex_t lock; /* of joining */
    struct spool *edges;  /* all in part 0 */
    struct spool_writer *writer;
    struct node *nodes; /* open addressing; parents are places in it */
    size_t mask, count, most;
};

enum { EDGE_SIZE = 16, LEAST_NODES = 1024 };

struct components *
components_new(struct spool_room *room, size_t memory)
{
    struct components *components = memory_new(sizeof *components);
    size_t places = LEAST_NODES;
    while (2 * places * sizeof(struct node) <= memory && 2 * places <= UINT32_MAX) {
        places *= 2;
    }
    components->room = room;
    components->mask = places - 1;
    components->most = places / 4 * 3;
    components->edges = spool_new(room, 0);
    components->writer = spool_writer_new(components->edges);
    pthread_mutex_init(&components->lock, NULL);
    return components;
}

void
components_free(struct components *components)
{
    if (components != NULL) {
        spool_writer_free(components->writer);
        spool_free(components->edges);
        pthread_mutex_destroy(&components->lock);
        free(components->nodes);
        free(components);
    }
}

static enum status
put_edge(struct spool_writer *writer, uint64_t a, uint64_t b, struct reason *why)
{
    uint8_t edge[EDGE_SIZE];
    codec_write_u64(edge, a);
    codec_write_u64(edge + 8, b);
    return spool_add(writer, 0, slice_of((const char *)edge, sizeof edge), why);
}

enum status
components_join(struct components *components, uint64_t a, uint64_t b, struct reason *why)
{
    if (a == b) {
        return STATUS_OK;
    }
    pthread_mutex_lock(&components->lock);
    const enum status status = put_edge(components->writer, a, b, why);
    pthread_mutex_unlock(&components->lock);
    return status;
}

/* The place of the node, or the free place where it would be. Identifiers are hashes. */
static uint32_t
place_of(const struct components *components, uint64_t id)
{
    size_t at = id & components->mask;
    while (components->nodes[at].id != 0 && components->nodes[at].id != id) {
        at = (at + 1) & components->mask;
    }
    return (uint32_t)at;
}

static uint32_t
root_of(const struct components *components, uint32_t at)
{
    while (components->nodes[at].parent != at) {
        at = components->nodes[at].parent;
    }
    return at;
}

/* Adds the node when it is new; halves the path to its root. */
static uint32_t
take_node(struct components *components, uint64_t id)
{
    uint32_t at = place_of(components, id);
    struct node *nodes = components->nodes;
    if (nodes[at].id == 0) {
        nodes[at] = (struct node){id, at};
        components->count++;
    }
    while (nodes[at].parent != at) {
        nodes[at].parent = nodes[nodes[at].parent].parent;
        at = nodes[at].parent;
    }
    return at;
}

uint64_t
components_find(const struct components *components, uint64_t id)
{
    if (components->nodes == NULL) {
        return id;
    }
    const uint32_t at = place_of(components, id);
    return components->nodes[at].id == 0 ? id : components->nodes[root_of(components, at)].id;
}

/* An edge goes into the forest while there is room; later ones are rewritten through it. */
static enum status
take_edge(void *context, struct slice record, struct reason *why)
{
    struct components *components = context;
    const uint64_t a = codec_read_u64((const uint8_t *)record.at);
    const uint64_t b = codec_read_u64((const uint8_t *)record.at + 8);
    if (components->count + 2 <= components->most) {
        const uint32_t left = take_node(components, a), right = take_node(components, b);
        /* The smaller one stands for both, so that results depend on the nodes alone. */
        const bool swap = components->nodes[right].id < components->nodes[left].id;
        components->nodes[swap ? left : right].parent = swap ? right : left;
        return STATUS_OK;
    }
    return put_edge(components->writer, a, b, why);
}

static enum status
rewrite_edge(void *context, struct slice record, struct reason *why)
{
    struct components *components = context;
    return components_join(
        components, components_find(components, codec_read_u64((const uint8_t *)record.at)),
        components_find(components, codec_read_u64((const uint8_t *)record.at + 8)), why);
}

/* Begins a new spool, which takes what is put from here on. */
static void
replace_edges(struct components *components)
{
    spool_writer_free(components->writer);
    components->edges = spool_new(components->room, 0);
    components->writer = spool_writer_new(components->edges);
}

enum status
components_round(struct components *components, bool *last, struct reason *why)
{
    if (components->nodes == NULL) {
        components->nodes = memory_alloc((components->mask + 1) * sizeof *components->nodes);
    }
    memset(components->nodes, 0, (components->mask + 1) * sizeof *components->nodes);
    components->count = 0;
    TRY(spool_flush(components->writer, why));
    struct spool *edges = components->edges;
    replace_edges(components);
    enum status status = spool_walk(edges, 0, take_edge, components, why);
    spool_free(edges);
    if (status == STATUS_OK) {
        status = spool_flush(components->writer, why);
    }
    edges = components->edges;
    replace_edges(components);
    if (status == STATUS_OK) {
        status = spool_walk(edges, 0, rewrite_edge, components, why);
    }
    spool_free(edges);
    TRY(status);
    TRY(spool_flush(components->writer, why));
    *last = spool_part_bytes(components->edges, 0) == 0;
    return STATUS_OK;
}
