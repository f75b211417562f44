#include "rdf/canonical/blank_index.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

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

/* numbers: of labels, by hash. */
static uint32_t
number_of(struct blank_index *index, struct map *numbers, struct slice label)
{
    uint64_t hash = hash_label(label);
    uint32_t number;
    for (; (number = map_get(numbers, hash)) != (uint32_t)MAP_NONE; hash++) {
        if (slice_equal(index->labels[number], label)) {
            return number;
        }
    }
    number = (uint32_t)index->count++;
    map_set(numbers, hash, number);
    if ((number & (number - 1)) == 0) { /* as many as a power of two */
        index->labels = memory_resize(index->labels, number == 0 ? 1 : 2 * (size_t)number,
                                      sizeof *index->labels);
    }
    index->labels[number] = label;
    return number;
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
    struct map numbers = {0};
    index->places = memory_zero(graph->count, sizeof *index->places);
    for (size_t i = 0; i < graph->count; i++) {
        for (int place = 0; place < BLANK_PLACES; place++) {
            const struct term *term = blank_place(&graph->quads[i], place);
            index->places[i][place] =
                term->kind == TERM_BLANK ? number_of(index, &numbers, term->value) : BLANK_NONE;
        }
    }
    map_release(&numbers);
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
