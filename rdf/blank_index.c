#include "rdf/blank_index.h"

#include <stdlib.h>

#include "base/memory.h"

struct table {
    uint32_t *slots; /* number + 1, 0: free */
    size_t size;     /* power of two */
};

static uint64_t
hash_label(struct slice label)
{
    uint64_t hash = label.length;
    for (size_t i = 0; i < label.length; i++) {
        hash = (hash ^ (unsigned char)label.at[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return hash;
}

static size_t
find_slot(const struct blank_index *index, const struct table *table, struct slice label)
{
    size_t slot = (size_t)hash_label(label) & (table->size - 1);
    while (table->slots[slot] != 0 && !slice_equal(index->labels[table->slots[slot] - 1], label)) {
        slot = (slot + 1) & (table->size - 1);
    }
    return slot;
}

static void
grow(struct blank_index *index, struct table *table)
{
    free(table->slots);
    table->size = table->size == 0 ? 64 : table->size * 2;
    table->slots = memory_zero(table->size, sizeof *table->slots);
    index->labels = memory_resize(index->labels, table->size / 2, sizeof *index->labels);
    for (size_t i = 0; i < index->count; i++) {
        table->slots[find_slot(index, table, index->labels[i])] = (uint32_t)i + 1;
    }
}

static uint32_t
number_of(struct blank_index *index, struct table *table, struct slice label)
{
    if (index->count * 2 >= table->size) {
        grow(index, table);
    }
    const size_t slot = find_slot(index, table, label);
    if (table->slots[slot] == 0) {
        index->labels[index->count++] = label;
        table->slots[slot] = (uint32_t)index->count;
    }
    return table->slots[slot] - 1;
}

static bool
has_blank(const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct quad *quad = &graph->quads[i];
        if (quad->subject.kind == TERM_BLANK || quad->object.kind == TERM_BLANK ||
            quad->graph.kind == TERM_BLANK) {
            return true;
        }
    }
    return false;
}

void
blank_index_build(struct blank_index *index, const struct graph *graph)
{
    *index = (struct blank_index){0};
    if (!has_blank(graph)) {
        return;
    }
    struct table table = {0};
    index->places = memory_zero(graph->count, sizeof *index->places);
    for (size_t i = 0; i < graph->count; i++) {
        for (int place = 0; place < BLANK_PLACES; place++) {
            const struct term *term = blank_place(&graph->quads[i], place);
            index->places[i][place] =
                term->kind == TERM_BLANK ? number_of(index, &table, term->value) : BLANK_NONE;
        }
    }
    free(table.slots);
}

void
blank_index_release(struct blank_index *index)
{
    free(index->labels);
    free(index->places);
    *index = (struct blank_index){0};
}

void
blank_index_rename(const struct blank_index *index, struct graph *graph, const struct slice *labels)
{
    for (size_t i = 0; index->count > 0 && i < graph->count; i++) {
        for (int place = 0; place < BLANK_PLACES; place++) {
            if (index->places[i][place] != BLANK_NONE) {
                blank_place(&graph->quads[i], place)->value = labels[index->places[i][place]];
            }
        }
    }
}
