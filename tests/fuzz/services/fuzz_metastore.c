/* Hostile bytes as records, updates, requests and stored values. What must hold: no crash, a merged
 * record is valid, and merging the same update again changes nothing; what a stored value holds can
 * be stored again. First byte: which of them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/log.h"
#include "metastore/metastore_service.h"
#include "metastore/pack.h"
#include "metastore/protocol.h"
#include "metastore/record.h"
#include "metastore/record_rdf.h"

enum { STORED_VALUE = 255 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In place of metastore/store.c: one record in memory, for what the service does with requests. */
struct meta_store {
    struct buf value;
    struct buf key;
};

enum status
meta_store_get(struct meta_store *store, const struct slice *keys, size_t n,
               meta_store_visit *visit, void *context, struct reason *why)
{
    (void)why;
    for (size_t i = 0; i < n; i++) {
        if (slice_equal(keys[i], buf_slice(&store->key)) &&
            !visit(context, i, keys[i], buf_slice(&store->value))) {
            break;
        }
    }
    return STATUS_OK;
}

enum status
meta_store_put(struct meta_store *store, const struct meta_pair *pairs, size_t n,
               struct reason *why)
{
    (void)why;
    for (size_t i = 0; i < n; i++) {
        buf_reset(&store->key);
        buf_reset(&store->value);
        (void)buf_append_slice(&store->key, pairs[i].key);
        (void)buf_append_slice(&store->value, pairs[i].value);
    }
    return STATUS_OK;
}

enum status
meta_store_scan(struct meta_store *store, struct slice prefix, struct slice after,
                meta_store_visit *visit, void *context, struct reason *why)
{
    (void)after;
    (void)why;
    if (slice_starts(buf_slice(&store->key), prefix)) {
        (void)visit(context, 0, buf_slice(&store->key), buf_slice(&store->value));
    }
    return STATUS_OK;
}

void
meta_store_stats(struct meta_store *store, struct meta_store_stats *stats)
{
    (void)store;
    memset(stats, 0, sizeof *stats);
}

bool
meta_store_broken(const struct meta_store *store)
{
    (void)store;
    return false;
}

static void
check(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* The first bytes of the input are the record, the rest the update. */
static void
merge(struct slice input)
{
    struct buf once;
    struct buf twice;
    buf_init(&once, 1 << 20);
    buf_init(&twice, 1 << 20);
    const size_t half = input.length > 0 ? (uint8_t)input.at[0] % input.length : 0;
    const struct slice record = slice_of(input.at, half);
    const struct slice update = slice_of(input.at + half, input.length - half);
    if (meta_merge(record, update, &once) == META_MERGED) {
        check(meta_record_valid(buf_slice(&once)));
        check(meta_merge(buf_slice(&once), update, &twice) == META_UNCHANGED);
        struct reason why;
        buf_reset(&twice);
        (void)meta_turtle(SLICE("uhttp://a.example/"), buf_slice(&once), &twice, &why);
    }
    buf_release(&once);
    buf_release(&twice);
}

static void
request(uint8_t verb, struct slice payload)
{
    struct meta_store store;
    buf_init(&store.key, 1 << 20);
    buf_init(&store.value, 32 << 20);
    struct meta_service *service;
    struct reason why;
    check(meta_service_open(&service, &store, NULL, &why) == STATUS_OK);
    struct reason each;
    enum status status;
    struct buf reply;
    buf_init(&reply, METASTORE_REPLY_MAXIMUM);
    if (verb == METASTORE_PUT) {
        (void)meta_service_write(service, &payload, 1, &status, &each, &why);
    } else {
        (void)meta_service_read(service, verb, payload, &reply, &why);
    }
    buf_release(&reply);
    meta_service_free(service);
    buf_release(&store.key);
    buf_release(&store.value);
}

/* The input is a stored value, packed or not, perhaps damaged. */
static void
stored(struct slice value)
{
    struct packer *packer = packer_new();
    struct buf memory;
    struct buf again;
    struct slice record;
    buf_init(&memory, PACK_RECORD_MAXIMUM + 1);
    buf_init(&again, PACK_RECORD_MAXIMUM + 16);
    check(packer_add(packer, SLICE("User-Agent: Quadrille/0.1\r\nAccept: text/turtle\r\n")));
    if (packer_unpack(packer, value, &memory, &record)) {
        packer_pack(packer, record, &again);
        struct buf twice;
        struct slice same;
        buf_init(&twice, PACK_RECORD_MAXIMUM + 1);
        check(packer_unpack(packer, buf_slice(&again), &twice, &same));
        check(slice_equal(same, record));
        buf_release(&twice);
    }
    buf_release(&memory);
    buf_release(&again);
    packer_free(packer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    /* A copy of its own, so that reading past its end is seen. */
    char *copy = memory_alloc(size);
    memcpy(copy, data + 1, size - 1);
    const struct slice input = slice_of(copy, size - 1);
    if (data[0] == STORED_VALUE) {
        stored(input);
    } else if (data[0] % 5 == 0) {
        merge(input);
    } else {
        request(data[0] % 5, input);
    }
    free(copy);
    return 0;
}
