#include "tests/messages/mutate.h"

#include <string.h>

uint64_t
chance_next(struct chance *chance)
{
    uint64_t z = chance->state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

uint64_t
chance_below(struct chance *chance, uint64_t below)
{
    return below > 0 ? chance_next(chance) % below : 0;
}

/* Takes `length` bytes at `at` away and puts others there. */
static void
replace(struct buf *bytes, size_t at, size_t length, struct slice by)
{
    struct buf tail;
    buf_init(&tail, SIZE_MAX / 2);
    (void)buf_append(&tail, bytes->data + at + length, bytes->length - at - length);
    bytes->length = at;
    (void)buf_append_slice(bytes, by);
    (void)buf_append_slice(bytes, buf_slice(&tail));
    buf_release(&tail);
}

static void
mutate_once(struct chance *chance, struct buf *bytes, struct slice other)
{
    static const unsigned char edges[] = {0, 1, 0x7F, 0x80, 0xFF, '&', '%', '\n', '"'};
    static const char much[] = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01";
    char random[32];
    const size_t at = (size_t)chance_below(chance, bytes->length);
    const size_t length = (size_t)chance_below(chance, bytes->length - at + 1);
    for (size_t i = 0; i < sizeof random; i++) {
        random[i] = (char)chance_next(chance);
    }
    switch (chance_below(chance, 8)) {
    case 0:
        bytes->data[at] = (char)(bytes->data[at] ^ 1 << chance_below(chance, 8));
        break;
    case 1:
        bytes->data[at] = (char)edges[chance_below(chance, sizeof edges)];
        break;
    case 2:
        replace(bytes, at, 0, slice_of(random, 1 + (size_t)chance_below(chance, sizeof random)));
        break;
    case 3:
        replace(bytes, at, length < 16 ? length : 16, slice_of(NULL, 0));
        break;
    case 4:
        bytes->length = at;
        break;
    case 5: { /* some of it once more */
        struct buf again;
        buf_init(&again, SIZE_MAX / 2);
        (void)buf_append(&again, bytes->data + at, length);
        replace(bytes, (size_t)chance_below(chance, bytes->length + 1), 0, buf_slice(&again));
        buf_release(&again);
        break;
    }
    case 6: /* a number too large */
        replace(bytes, at, length < 4 ? length : 4,
                slice_of(much, 1 + (size_t)chance_below(chance, sizeof much - 1)));
        break;
    default:
        if (other.length > 0) {
            const size_t from = (size_t)chance_below(chance, other.length);
            replace(bytes, at, length, slice_of(other.at + from, other.length - from));
        }
        break;
    }
}

void
mutate(struct chance *chance, struct buf *bytes, struct slice other)
{
    enum { LONGEST = 1 << 16 };
    for (uint64_t times = 1 + chance_below(chance, 4); times > 0; times--) {
        if (bytes->length == 0) {
            (void)buf_append_char(bytes, (char)chance_next(chance));
        }
        mutate_once(chance, bytes, other);
        bytes->length = bytes->length < LONGEST ? bytes->length : LONGEST;
    }
}
