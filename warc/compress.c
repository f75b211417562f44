/* Deflate's Huffman codes are made for each block by all compressors but the fastest, whose codes
 * are fixed beforehand. Records of a crawl resemble each other, so codes made for some of them fit
 * the next nearly as well: every SAMPLE_EVERYth record is counted, and codes are made anew each
 * time the number of samples is a power of two, at MOST_SAMPLES of which the older ones weigh half.
 * Every symbol has a code, so whatever comes can be written; each member carries the codes it uses.
 */
#include "warc/compress.h"

#include <isa-l.h>
#include <libdeflate.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    SAMPLE_EVERY = 16, /* but of the first each */
    SAMPLE_BYTES = 64 << 10,
    MOST_SAMPLES = 128,
    LEARNT_LEVEL = 1,
    HEADER_BYTES = 10, /* of a gzip member */
    TRAILER_BYTES = 8,
    STORED_MOST = 65535, /* bytes of a stored block */
    STORED_HEADER = 5,
    ISAL_ROOM = 4096, /* what ISA-L may write beyond its input: codes and ends of blocks */
    PACKED_SAMPLE = 512,
    PACKED_TEXT = 64
};
static const size_t ISAL_MOST = 1 << 30; /* it counts in 32 bits */

struct learnt {
    struct isal_huff_histogram seen;
    struct isal_hufftables codes;
    unsigned records; /* up to SAMPLE_EVERY, in turns */
    unsigned samples;
    bool known;
};

struct compressor {
    int level;
    struct libdeflate_compressor *libdeflate;
    struct isal_zstream stream;
    struct learnt learnt[COMPRESSOR_KINDS];
};

struct compressor *
compressor_open(int level)
{
    struct compressor *compressor = memory_new(sizeof *compressor);
    compressor->level = level;
    compressor->libdeflate = libdeflate_alloc_compressor(level);
    if (compressor->libdeflate == NULL) {
        free(compressor);
        return NULL;
    }
    return compressor;
}

void
compressor_close(struct compressor *compressor)
{
    if (compressor != NULL) {
        libdeflate_free_compressor(compressor->libdeflate);
        free(compressor);
    }
}

static size_t
stored_blocks(size_t length)
{
    return length / STORED_MOST + 1;
}

size_t
compressor_bound(struct compressor *compressor, size_t length)
{
    const size_t learnt =
        HEADER_BYTES + length + STORED_HEADER * stored_blocks(length) + ISAL_ROOM + TRAILER_BYTES;
    const size_t other = libdeflate_gzip_compress_bound(compressor->libdeflate, length);
    return learnt > other ? learnt : other;
}

bool
compressor_is_packed(struct slice bytes)
{
    unsigned counts[256] = {0};
    size_t squares = 0;
    if (bytes.length < PACKED_SAMPLE) {
        return false;
    }
    /* The sample is from the middle: formats begin with words. Nothing packed has 64 bytes in a row
     * of text. */
    const char *middle = bytes.at + (bytes.length - PACKED_SAMPLE) / 2;
    size_t text = 0;
    while (text < PACKED_TEXT && middle[text] >= '\t' && middle[text] < 0x7f) {
        text++;
    }
    if (text == PACKED_TEXT) {
        return false;
    }
    for (size_t i = 0; i < PACKED_SAMPLE; i++) {
        counts[(unsigned char)middle[i]]++;
    }
    for (size_t i = 0; i < 256; i++) {
        squares += counts[i] * counts[i];
    }
    /* Two bytes of the sample are the same once in 256 times when all values are as frequent; text
     * has 1 in 25. The line is drawn at 1 in 200. */
    return squares - PACKED_SAMPLE < (size_t)PACKED_SAMPLE * PACKED_SAMPLE / 200;
}

/* ---- codes ---- */

static void
forget_half(struct isal_huff_histogram *seen)
{
    for (size_t i = 0; i < ISAL_DEF_LIT_LEN_SYMBOLS; i++) {
        seen->lit_len_histogram[i] /= 2;
    }
    for (size_t i = 0; i < ISAL_DEF_DIST_SYMBOLS; i++) {
        seen->dist_histogram[i] /= 2;
    }
}

static void
learn(struct learnt *learnt, struct slice text)
{
    const bool first = learnt->samples < SAMPLE_EVERY;
    if (learnt->records++ % SAMPLE_EVERY != 0 && !first) {
        return;
    }
    const size_t length = text.length < SAMPLE_BYTES ? text.length : SAMPLE_BYTES;
    isal_update_histogram((uint8_t *)(uintptr_t)text.at, (int)length, &learnt->seen);
    learnt->samples++;
    if ((learnt->samples & (learnt->samples - 1)) == 0) {
        learnt->known = isal_create_hufftables(&learnt->codes, &learnt->seen) == 0;
    }
    if (learnt->samples == MOST_SAMPLES) {
        forget_half(&learnt->seen);
        learnt->samples /= 2;
    }
}

/* ---- members ---- */

/* Blocks of ISA-L, which end at a whole byte. Returns their bytes, 0 for failure. */
static size_t
put_compressed(struct compressor *compressor, const struct learnt *learnt, struct slice text,
               bool last, char *room)
{
    struct isal_zstream *stream = &compressor->stream;
    isal_deflate_stateless_init(stream);
    if (learnt->known) {
        stream->hufftables = (struct isal_hufftables *)(uintptr_t)&learnt->codes;
    }
    stream->end_of_stream = last;
    stream->flush = last ? NO_FLUSH : FULL_FLUSH;
    stream->next_in = (uint8_t *)(uintptr_t)text.at;
    stream->avail_in = (uint32_t)text.length;
    stream->next_out = (uint8_t *)room;
    stream->avail_out =
        (uint32_t)(text.length + STORED_HEADER * stored_blocks(text.length) + ISAL_ROOM);
    return isal_deflate_stateless(stream) == COMP_OK && stream->avail_in == 0 ? stream->total_out
                                                                              : 0;
}

static size_t
put_stored(struct slice bytes, char *room)
{
    char *at = room;
    while (bytes.length > 0) {
        const size_t n = bytes.length < STORED_MOST ? bytes.length : STORED_MOST;
        *at++ = n == bytes.length; /* the last block; of type 0 */
        *at++ = (char)(n & 0xff);
        *at++ = (char)(n >> 8);
        *at++ = (char)(~n & 0xff);
        *at++ = (char)(~n >> 8 & 0xff);
        memcpy(at, bytes.at, n);
        at += n;
        bytes = slice_of(bytes.at + n, bytes.length - n);
    }
    return (size_t)(at - room);
}

static char *
put_u32(char *at, uint32_t number)
{
    for (int shift = 0; shift < 32; shift += 8) {
        *at++ = (char)(number >> shift & 0xff);
    }
    return at;
}

static size_t
learnt_member(struct compressor *compressor, struct learnt *learnt, struct slice record,
              size_t packed_at, char *room)
{
    static const char header[HEADER_BYTES] = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 4, '\xff'};
    const struct slice text = slice_of(record.at, packed_at);
    const struct slice packed = slice_of(record.at + packed_at, record.length - packed_at);
    char *at = room;
    learn(learnt, text);
    memcpy(at, header, sizeof header);
    at += sizeof header;
    const size_t n = put_compressed(compressor, learnt, text, packed.length == 0, at);
    if (n == 0) {
        return 0;
    }
    at += n;
    at += put_stored(packed, at);
    at = put_u32(at, libdeflate_crc32(0, record.at, record.length));
    at = put_u32(at, (uint32_t)record.length);
    return (size_t)(at - room);
}

size_t
compressor_member(struct compressor *compressor, enum compressor_kind kind, struct slice record,
                  size_t packed_at, char *room)
{
    if (compressor->level != LEARNT_LEVEL || packed_at > ISAL_MOST) {
        return libdeflate_gzip_compress(compressor->libdeflate, record.at, record.length, room,
                                        compressor_bound(compressor, record.length));
    }
    return learnt_member(compressor, &compressor->learnt[kind], record, packed_at, room);
}
