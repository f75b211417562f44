#include "index/terms/block_packing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zdict.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/varint.h"

enum {
    RECORD_VERSION = 1,
    KEY_SIZE = 4,
    DICTIONARY_BYTES = 32 << 10,
    RECORD_BYTES = DICTIONARY_BYTES + 1 + VARINT_MAXIMUM,
    DICTIONARIES_MOST = 32,
    LEVEL = 1,
    GROWTH = 8,
    FIRST_TERMS = 4096
};

struct packing {
    struct tree *tree;
    ZSTD_CCtx *packer;
    ZSTD_CDict *dictionary; /* the last, if any */
    uint64_t due;           /* terms */
    uint8_t *record;        /* RECORD_BYTES, for one at a time */
    struct slice trained;   /* in the record, to be stored */
    ZSTD_DDict **retired;   /* of transactions that were aborted: somebody may be using them */
    size_t retired_count;
    pthread_mutex_t mutex; /* guards what follows */
    unsigned count;
    ZSTD_DDict *dictionaries[DICTIONARIES_MOST]; /* of number 1 on */
};

static struct slice
number_key(unsigned number, uint8_t key[KEY_SIZE])
{
    codec_write_u32(key, number);
    return slice_of((char *)key, KEY_SIZE);
}

/* ---- life ---- */

/* For packing from now on. */
static void
use(struct packing *packing, uint64_t terms, struct slice bytes)
{
    ZSTD_CCtx_refCDict(packing->packer, NULL);
    ZSTD_freeCDict(packing->dictionary);
    packing->dictionary = bytes.length > 0 ? ZSTD_createCDict(bytes.at, bytes.length, LEVEL) : NULL;
    ZSTD_CCtx_refCDict(packing->packer, packing->dictionary);
    packing->due = terms > 0 ? terms * GROWTH : FIRST_TERMS;
}

static void
add(struct packing *packing, struct slice bytes)
{
    ZSTD_DDict *dictionary = ZSTD_createDDict(bytes.at, bytes.length);
    pthread_mutex_lock(&packing->mutex);
    packing->dictionaries[packing->count++] = dictionary;
    pthread_mutex_unlock(&packing->mutex);
}

static void
retire_last(struct packing *packing)
{
    packing->retired =
        memory_resize(packing->retired, packing->retired_count + 1, sizeof(ZSTD_DDict *));
    pthread_mutex_lock(&packing->mutex);
    packing->retired[packing->retired_count++] = packing->dictionaries[--packing->count];
    pthread_mutex_unlock(&packing->mutex);
}

/* NOT_FOUND when none has the number. *bytes lies in packing->record. */
static enum status
read_record(struct packing *packing, unsigned number, uint64_t *terms, struct slice *bytes,
            struct reason *why)
{
    uint8_t key[KEY_SIZE];
    size_t length = RECORD_BYTES;
    uint8_t *record = packing->record;
    TRY(tree_get(packing->tree, NULL, number_key(number, key), record, &length, why));
    const uint8_t *at = length > 0 && record[0] == RECORD_VERSION
                            ? varint_get(record + 1, record + length, terms)
                            : NULL;
    if (at == NULL) {
        return status_fail(why, STATUS_CORRUPT, "dictionary %u is malformed", number);
    }
    *bytes = slice_of((const char *)at, (size_t)(record + length - at));
    return STATUS_OK;
}

enum status
packing_reload(struct packing *packing, struct reason *why)
{
    struct slice bytes = {NULL, 0};
    uint64_t terms = 0;
    packing->trained.length = 0;
    enum status status = STATUS_NOT_FOUND;
    while (packing->count > 0 && (status = read_record(packing, packing->count, &terms, &bytes,
                                                       why)) == STATUS_NOT_FOUND) {
        retire_last(packing);
    }
    while ((status == STATUS_OK || packing->count == 0) && packing->count < DICTIONARIES_MOST &&
           (status = read_record(packing, packing->count + 1, &terms, &bytes, why)) == STATUS_OK) {
        add(packing, bytes);
    }
    if (status == STATUS_OK || status == STATUS_NOT_FOUND) {
        use(packing, terms, bytes);
        status = STATUS_OK;
    }
    return status;
}

enum status
packing_open(struct packing **result, struct environment *environment, struct reason *why)
{
    struct packing *packing = memory_new(sizeof(*packing));
    pthread_mutex_init(&packing->mutex, NULL);
    packing->record = memory_alloc(RECORD_BYTES);
    packing->packer = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(packing->packer, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(packing->packer, ZSTD_c_contentSizeFlag, 0);
    ZSTD_CCtx_setParameter(packing->packer, ZSTD_c_dictIDFlag, 0);
    enum status status = tree_open(&packing->tree, environment, "dictionaries", why);
    if (status == STATUS_OK) {
        status = packing_reload(packing, why);
    }
    if (status != STATUS_OK) {
        packing_close(packing);
        packing = NULL;
    }
    *result = packing;
    return status;
}

void
packing_close(struct packing *packing)
{
    if (packing != NULL) {
        while (packing->count > 0) {
            retire_last(packing);
        }
        for (size_t i = 0; i < packing->retired_count; i++) {
            ZSTD_freeDDict(packing->retired[i]);
        }
        free(packing->retired);
        ZSTD_freeCCtx(packing->packer);
        ZSTD_freeCDict(packing->dictionary);
        tree_close(packing->tree);
        free(packing->record);
        pthread_mutex_destroy(&packing->mutex);
        free(packing);
    }
}

/* ---- packing ---- */

bool
packing_is_due(const struct packing *packing, uint64_t terms)
{
    return terms >= packing->due && packing->count < DICTIONARIES_MOST;
}

void
packing_train(struct packing *packing, uint64_t terms, const char *samples, const size_t *sizes,
              unsigned count)
{
    packing->record[0] = RECORD_VERSION;
    uint8_t *bytes = varint_put(packing->record + 1, terms);
    const size_t length = ZDICT_trainFromBuffer(bytes, DICTIONARY_BYTES, samples, sizes, count);
    packing->due = terms * GROWTH;
    packing->trained =
        ZDICT_isError(length) ? slice_of(NULL, 0) : slice_of((const char *)bytes, length);
}

enum status
packing_store(struct packing *packing, struct transaction *transaction, struct reason *why)
{
    uint8_t key[KEY_SIZE];
    const struct slice bytes = packing->trained;
    if (bytes.length == 0) {
        return STATUS_OK;
    }
    packing->trained.length = 0;
    const char *record = (const char *)packing->record;
    TRY(tree_put(packing->tree, transaction, number_key(packing->count + 1, key),
                 slice_of(record, (size_t)(bytes.at + bytes.length - record)), why));
    add(packing, bytes);
    use(packing, packing->due / GROWTH, bytes);
    return STATUS_OK;
}

unsigned
packing_dictionary(const struct packing *packing)
{
    return packing->count;
}

size_t
packing_pack(struct packing *packing, char *target, struct slice raw)
{
    const size_t packed =
        ZSTD_compress2(packing->packer, target, ZSTD_compressBound(raw.length), raw.at, raw.length);
    return ZSTD_isError(packed) || packed >= raw.length ? 0 : packed;
}

bool
packing_unpack(struct packing *packing, ZSTD_DCtx *context, uint64_t dictionary, char *target,
               size_t length, struct slice packed)
{
    const ZSTD_DDict *with = NULL;
    pthread_mutex_lock(&packing->mutex);
    const bool known = dictionary <= packing->count;
    if (known && dictionary > 0) {
        with = packing->dictionaries[dictionary - 1];
    }
    pthread_mutex_unlock(&packing->mutex);
    return known && ZSTD_decompress_usingDDict(context, target, length, packed.at, packed.length,
                                               with) == length;
}
