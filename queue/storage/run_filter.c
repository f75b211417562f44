#include "queue/storage/run_filter.h"

#include "base/codec.h"

/* A different odd multiplier for each word of a block. */
static const uint32_t salts[8] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                  0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

/* Keys begin with fingerprints, or stage and fingerprint: spreading them again makes no more of a
 * difference than the multiplications do. */
uint64_t
run_filter_hash(const uint8_t *key, size_t length)
{
    uint64_t hash = length;
    while (length > 0) {
        uint8_t word[8] = {0};
        const size_t n = length < sizeof word ? length : sizeof word;
        for (size_t i = 0; i < n; i++) {
            word[i] = key[i];
        }
        hash = (hash ^ codec_read_u64(word)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
        key += n;
        length -= n;
    }
    return hash * 0x9e3779b97f4a7c15u;
}

uint64_t
run_filter_blocks(uint64_t prefixes)
{
    enum { BITS = 10 }; /* for each prefix */
    return prefixes * BITS / (8 * sizeof(struct filter_block)) + 1;
}

static struct filter_block *
block_of(const struct run_filter *filter, uint64_t hash)
{
    return &filter->blocks[((hash >> 32) * filter->count) >> 32];
}

void
run_filter_add(struct run_filter *filter, uint64_t hash)
{
    struct filter_block *block = block_of(filter, hash);
    for (int i = 0; i < 8; i++) {
        block->words[i] |= 1u << (((uint32_t)hash * salts[i]) >> 27);
    }
}

bool
run_filter_has(const struct run_filter *filter, uint64_t hash)
{
    const struct filter_block *block = block_of(filter, hash);
    uint32_t missing = 0;
    for (int i = 0; i < 8; i++) {
        missing |= ~block->words[i] & 1u << (((uint32_t)hash * salts[i]) >> 27);
    }
    return missing == 0;
}
