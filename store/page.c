#include "store/page.h"

#include <string.h>

/* Berkeley DB's layout of a page, in the machine's byte order. Its checksum, taken as 0 where it
 * stands itself, is over the page, of a meta page over the first 512 bytes. */
enum {
    NUMBER_AT = 8,
    MAGIC_AT = 12,
    SIZE_AT = 20,
    TYPE_AT = 25,
    CHECKSUM_AT = 28,
    META_TYPE = 9, /* of a B+tree */
    META_CHECKSUM_AT = 492,
    META_SIZE = 512,
    CHECKSUM_SIZE = 4,
    TREE_MAGIC = 0x053162
};

static uint32_t
number_at(const uint8_t *bytes, size_t at)
{
    uint32_t number;
    memcpy(&number, bytes + at, sizeof number);
    return number;
}

static uint32_t
add_to_checksum(uint32_t sum, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        sum = sum * 33 + bytes[i];
    }
    return sum;
}

bool
page_is_sound(const uint8_t *bytes, size_t size, uint32_t page)
{
    static const uint8_t zeros[CHECKSUM_SIZE];
    const bool meta = bytes[TYPE_AT] == META_TYPE;
    const size_t at = meta ? META_CHECKSUM_AT : CHECKSUM_AT;
    uint32_t sum = add_to_checksum(0, bytes, at);
    sum = add_to_checksum(sum, zeros, sizeof zeros);
    const size_t after = at + CHECKSUM_SIZE;
    sum = add_to_checksum(sum, bytes + after, (meta ? META_SIZE : size) - after);
    if (sum == number_at(bytes, at) && number_at(bytes, NUMBER_AT) == page) {
        return true;
    }
    /* never written */
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

size_t
page_size_told(const uint8_t *bytes)
{
    const size_t size = number_at(bytes, SIZE_AT);
    const bool fits = size >= PAGE_LEAST && size <= PAGE_MOST && (size & (size - 1)) == 0;
    return number_at(bytes, MAGIC_AT) == TREE_MAGIC && fits ? size : 0;
}
