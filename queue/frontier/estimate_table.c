#include "queue/frontier/estimate_table.h"

#include <stdlib.h>

#include "base/codec.h"
#include "base/memory.h"

enum { PLACES = 4, KEY_SIZE = 5, ESTIMATE_SIZE = 16 };

struct estimates {
    struct estimate *all;
    bool *changed; /* by row */
    uint32_t count, next_row;
    uint8_t letter;
};

struct estimates *
estimates_new(uint32_t count, uint8_t letter)
{
    struct estimates *estimates = memory_new(sizeof *estimates);
    estimates->all = memory_zero(count, sizeof *estimates->all);
    estimates->changed = memory_zero(count / ESTIMATES_ROW, sizeof *estimates->changed);
    estimates->count = count;
    estimates->letter = letter;
    return estimates;
}

void
estimates_free(struct estimates *estimates)
{
    if (estimates != NULL) {
        free(estimates->all);
        free(estimates->changed);
        free(estimates);
    }
}

static struct estimate *
places_of(const struct estimates *estimates, uint64_t fingerprint)
{
    return &estimates->all[fingerprint % estimates->count / PLACES * PLACES];
}

const struct estimate *
estimates_find(const struct estimates *estimates, uint64_t fingerprint)
{
    const struct estimate *places = places_of(estimates, fingerprint);
    for (int i = 0; i < PLACES; i++) {
        if (places[i].fingerprint == fingerprint) {
            return &places[i];
        }
    }
    return NULL;
}

struct estimate *
estimates_change(struct estimates *estimates, uint64_t fingerprint)
{
    struct estimate *places = places_of(estimates, fingerprint);
    struct estimate *least = &places[0];
    estimates->changed[(places - estimates->all) / ESTIMATES_ROW] = true;
    for (int i = 0; i < PLACES; i++) {
        if (places[i].fingerprint == fingerprint) {
            return &places[i];
        }
        if (places[i].fingerprint == 0 ||
            (least->fingerprint != 0 && places[i].weight < least->weight)) {
            least = &places[i];
        }
    }
    *least = (struct estimate){.fingerprint = fingerprint};
    return least;
}

static void
write_row(const struct estimates *estimates, uint32_t row, struct store_batch *batch)
{
    uint8_t key[KEY_SIZE] = {estimates->letter};
    uint8_t bytes[ESTIMATES_ROW * ESTIMATE_SIZE];
    codec_write_u32(key + 1, row);
    for (uint32_t i = 0; i < ESTIMATES_ROW; i++) {
        const struct estimate *estimate = &estimates->all[row * ESTIMATES_ROW + i];
        uint8_t *at = bytes + (size_t)i * ESTIMATE_SIZE;
        codec_write_u64(at, estimate->fingerprint);
        codec_write_u32(at + 8, estimate->weight);
        codec_write_u32(at + 12, estimate->value);
    }
    store_batch_put(batch, TREE_ESTIMATES, slice_of((char *)key, sizeof key),
                    slice_of((char *)bytes, sizeof bytes));
}

void
estimates_write(struct estimates *estimates, struct store_batch *batch, uint32_t most)
{
    const uint32_t rows = estimates->count / ESTIMATES_ROW;
    for (uint32_t i = 0; i < rows && most > 0; i++) {
        const uint32_t row = estimates->next_row;
        estimates->next_row = (row + 1) % rows;
        if (estimates->changed[row]) {
            estimates->changed[row] = false;
            write_row(estimates, row, batch);
            most--;
        }
    }
}

bool
estimates_read(struct estimates *estimates, struct slice key, struct slice value)
{
    if (key.length != KEY_SIZE || (uint8_t)key.at[0] != estimates->letter ||
        value.length != (size_t)ESTIMATES_ROW * ESTIMATE_SIZE) {
        return false;
    }
    const uint32_t row = codec_read_u32((const uint8_t *)key.at + 1);
    if (row >= estimates->count / ESTIMATES_ROW) {
        return false;
    }
    for (uint32_t i = 0; i < ESTIMATES_ROW; i++) {
        const uint8_t *at = (const uint8_t *)value.at + (size_t)i * ESTIMATE_SIZE;
        estimates->all[row * ESTIMATES_ROW + i] =
            (struct estimate){.fingerprint = codec_read_u64(at),
                              .weight = codec_read_u32(at + 8),
                              .value = codec_read_u32(at + 12)};
    }
    return true;
}
