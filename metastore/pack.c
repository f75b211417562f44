#include "metastore/pack.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "base/memory.h"

enum {
    VERSION_PLAIN = 1,
    VERSION_PACKED = 2,
    PACK_LEAST = 96, /* bytes of a record that is worth the work */
    HEADER_MOST = 2 + 10,
    ACCELERATION = 1,
    /* Learning goes by windows of so many packed records. */
    WINDOW_FIRST = 256,
    WINDOW = 4096,
    SAMPLE_EVERY = 16, /* of the records in a window */
    SAMPLE_MOST = 4 << 10,
    WORSE_PER_CENT = 125 /* of the best window with a dictionary: time for another */
};

struct dictionary {
    char *bytes;
    size_t length;
};

struct packer {
    struct dictionary all[PACK_DICTIONARIES_MAXIMUM];
    size_t count;
    LZ4_stream_t *ready, *work;      /* with the latest loaded; its copy for one record */
    uint64_t records, plain, packed; /* of this window */
    uint64_t best;    /* packed bytes in 1,000 of the latest's best window; 0: none */
    uint64_t windows; /* since the latest */
    struct buf sample;
    bool wanted;
};

struct packer *
packer_new(void)
{
    struct packer *packer = memory_new(sizeof *packer);
    packer->ready = memory_alloc(sizeof *packer->ready);
    packer->work = memory_alloc(sizeof *packer->work);
    (void)LZ4_initStream(packer->ready, sizeof *packer->ready);
    buf_init(&packer->sample, PACK_DICTIONARY_BYTES);
    return packer;
}

void
packer_free(struct packer *packer)
{
    if (packer != NULL) {
        for (size_t i = 0; i < packer->count; i++) {
            free(packer->all[i].bytes);
        }
        free(packer->ready);
        free(packer->work);
        buf_release(&packer->sample);
        free(packer);
    }
}

size_t
packer_count(const struct packer *packer)
{
    return packer->count;
}

static void
begin_window(struct packer *packer)
{
    packer->records = packer->plain = packer->packed = 0;
    packer->wanted = false;
    buf_reset(&packer->sample);
}

bool
packer_add(struct packer *packer, struct slice dictionary)
{
    if (packer->count == PACK_DICTIONARIES_MAXIMUM || dictionary.length == 0 ||
        dictionary.length > PACK_DICTIONARY_BYTES) {
        return false;
    }
    struct dictionary *added = &packer->all[packer->count++];
    added->bytes = memory_alloc(dictionary.length);
    added->length = dictionary.length;
    memcpy(added->bytes, dictionary.at, dictionary.length);
    (void)LZ4_loadDict(packer->ready, added->bytes, (int)added->length);
    packer->best = packer->windows = 0;
    begin_window(packer);
    return true;
}

/* ---- learning ---- */

static uint64_t
window_of(const struct packer *packer)
{
    return packer->count == 0 ? WINDOW_FIRST : WINDOW;
}

/* The more there are, the longer it takes until another is learned: so the number suffices for
 * ever, and what changes back and forth is not followed. */
static void
end_window(struct packer *packer)
{
    const uint64_t rate = packer->packed * 1000 / packer->plain + 1;
    packer->windows++;
    packer->wanted =
        packer->count < PACK_DICTIONARIES_MAXIMUM && packer->sample.length > 0 &&
        (packer->count == 0 || (packer->windows >= packer->count && packer->best != 0 &&
                                rate * 100 > packer->best * WORSE_PER_CENT));
    if (packer->wanted) {
        return;
    }
    packer->best = packer->best == 0 || rate < packer->best ? rate : packer->best;
    begin_window(packer);
}

static void
watch(struct packer *packer, struct slice record, size_t packed)
{
    if (packer->wanted) {
        return;
    }
    if (packer->records % SAMPLE_EVERY == 0 && record.length <= SAMPLE_MOST) {
        (void)buf_append_slice(&packer->sample, record); /* nothing when it is full */
    }
    packer->records++;
    packer->plain += record.length;
    packer->packed += packed;
    if (packer->records == window_of(packer)) {
        end_window(packer);
    }
}

struct slice
packer_learned(const struct packer *packer)
{
    return packer->wanted ? buf_slice(&packer->sample) : slice_of(NULL, 0);
}

/* ---- values ---- */

/* Bytes of the packed record, appended to value; 0: it does not become shorter. */
static size_t
compress(struct packer *packer, struct slice record, struct buf *value)
{
    if (packer->count == 0 || record.length > PACK_RECORD_MAXIMUM) {
        return 0;
    }
    char *at = buf_reserve(value, record.length);
    if (at == NULL) {
        return 0;
    }
    memcpy(packer->work, packer->ready, sizeof *packer->work);
    const int packed = LZ4_compress_fast_continue(packer->work, record.at, at, (int)record.length,
                                                  (int)record.length - HEADER_MOST, ACCELERATION);
    if (packed <= 0) {
        return 0;
    }
    buf_commit(value, (size_t)packed);
    return (size_t)packed;
}

void
packer_pack(struct packer *packer, struct slice record, struct buf *value)
{
    const size_t before = value->length;
    size_t packed = 0;
    if (record.length >= PACK_LEAST) {
        codec_put_u8(value, VERSION_PACKED);
        codec_put_u8(value, (uint8_t)packer->count);
        codec_put_varint(value, record.length);
        packed = compress(packer, record, value);
        watch(packer, record, packed > 0 ? packed : record.length);
    }
    if (packed == 0) {
        value->length = before;
        codec_put_u8(value, VERSION_PLAIN);
        (void)buf_append_slice(value, record);
    }
}

bool
packer_unpack(const struct packer *packer, struct slice value, struct buf *memory,
              struct slice *record)
{
    struct codec_reader reader = codec_reader_of(value);
    const uint8_t version = codec_get_u8(&reader);
    if (version == VERSION_PLAIN && !reader.bad) {
        *record = slice_of(value.at + 1, value.length - 1);
        return true;
    }
    const uint8_t number = codec_get_u8(&reader);
    const uint64_t length = codec_get_varint(&reader);
    if (reader.bad || version != VERSION_PACKED || number == 0 || number > packer->count ||
        length > PACK_RECORD_MAXIMUM) {
        return false;
    }
    const struct dictionary *dictionary = &packer->all[number - 1];
    buf_reset(memory);
    char *at = buf_reserve(memory, (size_t)length);
    if (at == NULL || LZ4_decompress_safe_usingDict(
                          (const char *)reader.at, at, (int)(reader.end - reader.at), (int)length,
                          dictionary->bytes, (int)dictionary->length) != (int)length) {
        return false;
    }
    buf_commit(memory, (size_t)length);
    *record = buf_slice(memory);
    return true;
}
