/* SHA-1 of a block and of its second part in one go (FIPS 180-4, section 6.1.2), by the processor's
 * instructions for it. Each of them waits for the one before, and half of the time the processor
 * does nothing: two digests beside each other take little more time than one. */
#include "base/digest.h"

#include <string.h>

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

enum { BLOCK = 64, LENGTH_AT = 56, SHA_BIT = 29 };

#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

struct lane {
    __m128i abcd, e;
    __m128i before;   /* abcd before the latest four rounds */
    __m128i words[4]; /* the latest 16 of the schedule */
};

WITH_SHA static inline __attribute__((always_inline)) __m128i
swap_bytes(__m128i bytes)
{
    return _mm_shuffle_epi8(bytes, _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f));
}

WITH_SHA static void
lane_begin(struct lane *lane)
{
    *lane = (struct lane){
        .abcd = _mm_set_epi32(0x67452301, (int)0xefcdab89, (int)0x98badcfe, 0x10325476),
        .e = _mm_set_epi32((int)0xc3d2e1f0, 0, 0, 0),
    };
}

/* Rounds 4 * n to 4 * n + 3; constants and functions change each 20 rounds. */
#define ROUNDS(n)                                                                                 \
    WITH_SHA static inline                                                                        \
        __attribute__((always_inline)) void rounds_##n(struct lane *lane, const char *block)      \
    {                                                                                             \
        __m128i *const words = lane->words, *const word = &words[(n) % 4];                        \
        if ((n) < 4) {                                                                            \
            *word = swap_bytes(_mm_loadu_si128((const __m128i *)(const void *)block + (n)));      \
        } else {                                                                                  \
            *word =                                                                               \
                _mm_sha1msg2_epu32(_mm_xor_si128(_mm_sha1msg1_epu32(*word, words[((n) + 1) % 4]), \
                                                 words[((n) + 2) % 4]),                           \
                                   words[((n) + 3) % 4]);                                         \
        }                                                                                         \
        const __m128i e =                                                                         \
            (n) == 0 ? _mm_add_epi32(lane->e, *word) : _mm_sha1nexte_epu32(lane->before, *word);  \
        lane->before = lane->abcd;                                                                \
        lane->abcd = _mm_sha1rnds4_epu32(lane->abcd, e, (n) / 5);                                 \
    }
/* clang-format off */
#define EACH(DO)                        \
    DO(0) DO(1) DO(2) DO(3) DO(4)       \
    DO(5) DO(6) DO(7) DO(8) DO(9)       \
    DO(10) DO(11) DO(12) DO(13) DO(14)  \
    DO(15) DO(16) DO(17) DO(18) DO(19)
/* clang-format on */
EACH(ROUNDS)

WITH_SHA static inline __attribute__((always_inline)) void
lane_add(struct lane *lane, __m128i abcd, __m128i e)
{
    lane->e = _mm_sha1nexte_epu32(lane->before, e);
    lane->abcd = _mm_add_epi32(lane->abcd, abcd);
}

WITH_SHA static void
take_blocks(struct lane *lane, const char *at, size_t blocks)
{
    for (; blocks > 0; blocks--, at += BLOCK) {
        const __m128i abcd = lane->abcd, e = lane->e;
#define DO(n) rounds_##n(lane, at);
        EACH(DO)
#undef DO
        lane_add(lane, abcd, e);
    }
}

WITH_SHA static void
take_pairs(struct lane lanes[2], const char *first, const char *second, size_t blocks)
{
    struct lane a = lanes[0], b = lanes[1];
    for (; blocks > 0; blocks--, first += BLOCK, second += BLOCK) {
        const __m128i abcd_a = a.abcd, e_a = a.e, abcd_b = b.abcd, e_b = b.e;
#define DO(n) rounds_##n(&a, first), rounds_##n(&b, second);
        EACH(DO)
#undef DO
        lane_add(&a, abcd_a, e_a);
        lane_add(&b, abcd_b, e_b);
    }
    lanes[0] = a;
    lanes[1] = b;
}

/* rest: less than a block, after it all of the message is there. */
WITH_SHA static void
lane_end(struct lane *lane, struct slice rest, uint64_t length, uint8_t digest[DIGEST_SHA1_SIZE])
{
    char tail[2 * BLOCK] = {0};
    const size_t blocks = rest.length < LENGTH_AT ? 1 : 2;
    if (rest.length > 0) {
        memcpy(tail, rest.at, rest.length);
    }
    tail[rest.length] = (char)0x80;
    for (size_t i = 0; i < sizeof length; i++) {
        tail[blocks * BLOCK - 1 - i] = (char)(length * 8 >> 8 * i);
    }
    take_blocks(lane, tail, blocks);
    const __m128i abcd = swap_bytes(lane->abcd);
    const uint32_t e = __builtin_bswap32((uint32_t)_mm_extract_epi32(lane->e, 3));
    memcpy(digest, &abcd, sizeof abcd);
    memcpy(digest + sizeof abcd, &e, sizeof e);
}

WITH_SHA static void
digest_both(struct slice first, struct slice second, uint8_t both[DIGEST_SHA1_SIZE],
            uint8_t alone[DIGEST_SHA1_SIZE])
{
    struct lane lanes[2];
    char across[BLOCK] = {0}; /* the block with the end of the first and the begin of the second */
    const size_t whole = first.length / BLOCK, over = first.length % BLOCK;
    const size_t room = over > 0 ? BLOCK - over : 0;
    const size_t taken = second.length < room ? second.length : room;
    lane_begin(&lanes[0]);
    lane_begin(&lanes[1]);
    take_blocks(&lanes[0], first.at, whole);
    struct slice rest = slice_of(across, over + taken);
    if (over > 0) {
        memcpy(across, first.at + whole * BLOCK, over);
    }
    if (taken > 0) {
        memcpy(across + over, second.at, taken);
    }
    size_t pairs = 0;
    if (rest.length == BLOCK || over == 0) {
        take_blocks(&lanes[0], across, rest.length / BLOCK);
        pairs = (second.length - taken) / BLOCK;
        take_pairs(lanes, second.at + taken, second.at, pairs);
        rest = slice_of(second.at + taken + pairs * BLOCK, (second.length - taken) % BLOCK);
    }
    const size_t left = second.length - pairs * BLOCK;
    take_blocks(&lanes[1], second.at + pairs * BLOCK, left / BLOCK);
    lane_end(&lanes[0], rest, first.length + second.length, both);
    lane_end(&lanes[1], slice_of(second.at + second.length - left % BLOCK, left % BLOCK),
             second.length, alone);
}

static bool
processor_has_sha(void)
{
    static int known; /* 1: yes, -1: no; whoever finds out finds the same */
    unsigned a = 0, b = 0, c = 0, d = 0;
    const int before = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (before != 0) {
        return before > 0;
    }
    const bool has = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> SHA_BIT & 1) != 0;
    __atomic_store_n(&known, has ? 1 : -1, __ATOMIC_RELAXED);
    return has;
}

#endif

void
digest_sha1_pair(struct slice first, struct slice second, uint8_t both[DIGEST_SHA1_SIZE],
                 uint8_t alone[DIGEST_SHA1_SIZE])
{
#if defined(__x86_64__)
    if (processor_has_sha() && second.length > 0) {
        digest_both(first, second, both, alone);
        return;
    }
#endif
    digest_sha1_parts(first, second, both);
    digest_sha1_parts(second, SLICE(""), alone);
}
