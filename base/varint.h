/* LEB128 in place, for blocks that are coded and read many times a second. The caller of
 * varint_put guarantees VARINT_MAXIMUM bytes of room; varint_get never reads at or past end. */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

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

/* Seven bits of each byte, together. */
static inline uint64_t
varint_gather(uint64_t word)
{
    word &= UINT64_C(0x7f7f7f7f7f7f7f7f);
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* NULL when the varint is cut off or too long. */
static inline const uint8_t *
varint_get(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    /* Eight bytes at once: how long one is cannot be foretold, and a wrong guess costs more. */
    if (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        word = le64toh(word);
        const uint64_t stops = ~word & UINT64_C(0x8080808080808080);
        if (stops != 0) {
            *value = varint_gather(word & (stops ^ (stops - 1)));
            return at + (__builtin_ctzll(stops) + 1) / 8;
        }
    }
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
