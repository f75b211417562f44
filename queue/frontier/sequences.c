#include "queue/frontier/sequences.h"

#include <stdlib.h>

#include "base/heap.h"
#include "base/memory.h"

struct sequence {
    struct job_key cursor;
    uint64_t *returned; /* a heap of ids, smallest first */
    size_t count, capacity;
};

struct sequences {
    struct sequence *lanes[STAGE_COUNT];
    uint32_t counts[STAGE_COUNT];
};

struct sequences *
sequences_new(uint32_t index_partitions)
{
    struct sequences *sequences = memory_new(sizeof *sequences);
    for (int stage = STAGE_DETECT; stage < STAGE_COUNT; stage++) {
        const uint32_t count = stage == STAGE_INDEX ? index_partitions : 1;
        sequences->counts[stage] = count;
        sequences->lanes[stage] = memory_zero(count, sizeof(struct sequence));
        for (uint32_t lane = 0; lane < count; lane++) {
            sequences->lanes[stage][lane].cursor =
                (struct job_key){.stage = (uint8_t)stage, .lane = lane};
        }
    }
    return sequences;
}

void
sequences_free(struct sequences *sequences)
{
    for (int stage = 0; sequences != NULL && stage < STAGE_COUNT; stage++) {
        for (uint32_t lane = 0; lane < sequences->counts[stage]; lane++) {
            free(sequences->lanes[stage][lane].returned);
        }
        free(sequences->lanes[stage]);
    }
    free(sequences);
}

struct sequence *
sequences_find(struct sequences *sequences, uint8_t stage, uint64_t lane)
{
    return lane < sequences->counts[stage] ? &sequences->lanes[stage][lane] : NULL;
}

struct job_key
sequence_cursor(const struct sequence *sequence)
{
    return sequence->cursor;
}

void
sequence_reach(struct sequence *sequence, const struct job_key *key)
{
    sequence->cursor = *key;
}

static bool
is_smaller(const void *heap, size_t a, size_t b)
{
    const uint64_t *ids = heap;
    return ids[a] < ids[b];
}

static void
swap_ids(void *heap, size_t a, size_t b)
{
    uint64_t *ids = heap;
    const uint64_t id = ids[a];
    ids[a] = ids[b];
    ids[b] = id;
}

void
sequence_ready(struct sequence *sequence, uint64_t id)
{
    if (id > sequence->cursor.id) {
        return; /* it is met when the sequence comes there */
    }
    if (sequence->count == sequence->capacity) {
        sequence->capacity = sequence->capacity == 0 ? 16 : 2 * sequence->capacity;
        sequence->returned =
            memory_resize(sequence->returned, sequence->capacity, sizeof *sequence->returned);
    }
    sequence->returned[sequence->count] = id;
    heap_rise(sequence->returned, sequence->count++, is_smaller, swap_ids);
}

bool
sequence_returned(const struct sequence *sequence, struct job_key *key)
{
    *key = sequence->cursor;
    key->id = sequence->count > 0 ? sequence->returned[0] : 0;
    return sequence->count > 0;
}

void
sequence_pop_returned(struct sequence *sequence)
{
    sequence->returned[0] = sequence->returned[--sequence->count];
    heap_sink(sequence->returned, sequence->count, 0, is_smaller, swap_ids);
}
