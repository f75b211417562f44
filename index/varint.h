/* LEB128 in place, for blocks that are coded and read many times a second. The caller of
 * varint_put guarantees VARINT_MAXIMUM bytes of room; varint_get never reads at or past end. */
#ifndef INDEX_VARINT_H
#define INDEX_VARINT_H

#include <stdbool.h>
#include <stdint.h>

enum { VARINT_MAXIMUM = 10 };

static inline uint8_t *
varint_put(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

/* NULL when the varint is cut off or too long. */
static inline const uint8_t *
varint_get(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    uint64_t result = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        const uint8_t byte = *at++;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return at;
        }
    }
    return 0;
}

static inline uint64_t
zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t
unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static inline unsigned
varint_size(uint64_t value)
{
    return value == 0 ? 1 : (70U - (unsigned)__builtin_clzll(value)) / 7U;
}

#endif
