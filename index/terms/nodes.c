#include "index/terms/nodes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/codec.h"
#include "base/memory.h"
#include "base/varint.h"
#include "index/terms/block_packing.h"
#include "index/terms/node_cache.h"
#include "index/terms/term_cache.h"

enum {
    CODEC_PLAIN = 0,
    CODEC_ZSTD = 1,
    CODEC_DICTIONARY = 2,
    KEY_SIZE = 8,
    BLOCK_GOAL = 955, /* four fill a page of 4 KiB */
    BLOCK_MOST = 985, /* a longer value leaves its page for pages of its own */
    FIRST_TARGET = 2400,
    TARGET_LEAST = 900,
    TARGET_MOST = 12000,
    HEADER_MOST = 1 + 4 * VARINT_MAXIMUM,
    IDLE_MOST = 16,              /* readers kept for the next */
    IDLE_BLOCK_BYTES = 64 << 10, /* a reader's block that is larger is not kept */
    NEAR = 4096,                 /* numbers between terms that are read one after the other */
    RUN_LEAST = 4,               /* blocks in order after which a reader is going through all */
    RUN_SHARE = 3,               /* what it keeps: this part of the room for terms */
};

struct nodes {
    struct tree *tree;
    uint64_t next;
    size_t target; /* raw bytes that lately packed into BLOCK_GOAL */
    struct packing *packing;
    ZSTD_DCtx *unpacker; /* the writer's */
    struct node_cache *cache;
    struct term_cache *terms;
    _Atomic uint64_t committed; /* numbers below it are stored for good */
    pthread_mutex_t mutex;      /* guards what follows */
    struct nodes_reader *idle;
    unsigned idle_count;
};

static enum status
unpack(const struct nodes *nodes, ZSTD_DCtx *unpacker, struct node_block *block,
       struct slice packed, struct reason *why)
{
    struct codec_reader reader = codec_reader_of(packed);
    const uint8_t codec = codec_get_u8(&reader);
    const uint64_t dictionary = codec == CODEC_DICTIONARY ? codec_get_varint(&reader) : 0;
    block->first = codec_get_varint(&reader);
    block->count = codec_get_varint(&reader);
    const uint64_t length = codec_get_varint(&reader);
    buf_reset(&block->raw);
    char *target = reader.bad || length > NODE_BLOCK_MOST || block->count > length
                       ? NULL
                       : buf_reserve(&block->raw, length + 1);
    const size_t rest = (size_t)(reader.end - reader.at);
    bool good = target != NULL;
    if (good && codec == CODEC_PLAIN) {
        good = rest == length;
        memcpy(target, reader.at, good ? rest : 0);
    } else if (good) {
        good = codec <= CODEC_DICTIONARY &&
               packing_unpack(nodes->packing, unpacker, dictionary, target, length,
                              slice_of((const char *)reader.at, rest));
    }
    if (!good) {
        block->first = 0;
        return status_fail(why, STATUS_CORRUPT, "a block of terms cannot be unpacked");
    }
    buf_commit(&block->raw, length);
    return node_block_index(block, why);
}

/* A block as it is stored. */
struct packed {
    uint8_t usual[4096];
    uint8_t *bytes; /* usual, or malloc'd */
    size_t length;
};

/* Inside the latch. */
static enum status
copy_block(struct nodes *nodes, uint64_t number, struct packed *packed, struct reason *why)
{
    uint8_t key[KEY_SIZE];
    size_t key_length = KEY_SIZE;
    codec_write_u64(key, number);
    struct tree_cursor *cursor;
    TRY(tree_cursor_open(&cursor, nodes->tree, NULL, why));
    const enum tree_move move = number == 0 ? TREE_LAST : TREE_AT_OR_AFTER;
    enum status status =
        tree_cursor_move(cursor, move, key, sizeof(key), &key_length, packed->usual,
                         sizeof(packed->usual), &packed->length, why);
    if (status == STATUS_LIMIT) {
        const size_t size = packed->length;
        packed->bytes = memory_alloc(size);
        codec_write_u64(key, number);
        status = tree_cursor_move(cursor, move, key, sizeof(key), &key_length, packed->bytes, size,
                                  &packed->length, why);
    }
    tree_cursor_close(cursor);
    return status;
}

/* Reads the block that holds `number` (or the first after it; the last of all for 0). END when
 * there is none. Enters the latch for the copy alone. */
static enum status
fetch(struct nodes *nodes, ZSTD_DCtx *unpacker, uint64_t number, struct node_block *block,
      struct reason *why)
{
    struct latch *latch = tree_latch(nodes->tree);
    struct packed packed;
    packed.bytes = packed.usual;
    latch_enter_reading(latch);
    enum status status = copy_block(nodes, number, &packed, why);
    latch_leave(latch);
    if (status == STATUS_OK) {
        const struct slice bytes = slice_of((const char *)packed.bytes, packed.length);
        status = unpack(nodes, unpacker, block, bytes, why);
    }
    if (packed.bytes != packed.usual) {
        free(packed.bytes);
    }
    return status;
}

/* ---- readers ---- */

struct nodes_reader {
    struct nodes *nodes;
    ZSTD_DCtx *unpacker;
    struct node_block own; /* the latest that is not for the cache */
    uint64_t latest;       /* number whose block was read last */
    unsigned run;          /* blocks that were read in order of their numbers, up to that one */
    size_t kept;           /* bytes of the terms that it has found in the cache and put there */
    struct nodes_reader *next;
};

/* A reader that has ended is kept for the next: most answers are short, and to get the 94 KiB of an
 * unpacker and give them back takes 20 of their 120 microseconds. */
struct nodes_reader *
nodes_reader_new(struct nodes *nodes)
{
    pthread_mutex_lock(&nodes->mutex);
    struct nodes_reader *reader = nodes->idle;
    if (reader != NULL) {
        nodes->idle = reader->next;
        nodes->idle_count--;
    }
    pthread_mutex_unlock(&nodes->mutex);
    if (reader == NULL) {
        reader = memory_new(sizeof(*reader));
        reader->nodes = nodes;
        reader->unpacker = ZSTD_createDCtx();
        node_block_init(&reader->own);
    }
    return reader;
}

static void
reader_release(struct nodes_reader *reader)
{
    node_block_release(&reader->own);
    ZSTD_freeDCtx(reader->unpacker);
    free(reader);
}

void
nodes_reader_free(struct nodes_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    struct nodes *nodes = reader->nodes;
    reader->own.first = 0;
    reader->run = 0;
    reader->kept = 0;
    pthread_mutex_lock(&nodes->mutex);
    const bool keep = nodes->idle_count < IDLE_MOST && reader->own.raw.capacity <= IDLE_BLOCK_BYTES;
    if (keep) {
        reader->next = nodes->idle;
        nodes->idle = reader;
        nodes->idle_count++;
    }
    pthread_mutex_unlock(&nodes->mutex);
    if (!keep) {
        reader_release(reader);
    }
}

/* ---- opening ---- */

enum status
nodes_open(struct nodes **result, struct environment *environment, size_t memory,
           struct reason *why)
{
    *result = NULL;
    struct nodes *nodes = memory_new(sizeof(*nodes));
    nodes->target = FIRST_TARGET;
    nodes->unpacker = ZSTD_createDCtx();
    /* Half for terms that are asked for from everywhere, half for neighbours. */
    nodes->cache = node_cache_new(memory / 2);
    nodes->terms = term_cache_new(memory / 2);
    pthread_mutex_init(&nodes->mutex, NULL);
    enum status status = tree_open(&nodes->tree, environment, "nodes", why);
    if (status == STATUS_OK) {
        status = packing_open(&nodes->packing, environment, why);
    }
    if (status == STATUS_OK) {
        status = nodes_reload(nodes, why);
    }
    if (status != STATUS_OK) {
        nodes_close(nodes);
        return status;
    }
    nodes_committed(nodes);
    *result = nodes;
    return STATUS_OK;
}

void
nodes_close(struct nodes *nodes)
{
    if (nodes != NULL) {
        tree_close(nodes->tree);
        packing_close(nodes->packing);
        ZSTD_freeDCtx(nodes->unpacker);
        node_cache_free(nodes->cache);
        term_cache_free(nodes->terms);
        while (nodes->idle != NULL) {
            struct nodes_reader *next = nodes->idle->next;
            reader_release(nodes->idle);
            nodes->idle = next;
        }
        pthread_mutex_destroy(&nodes->mutex);
        free(nodes);
    }
}

enum status
nodes_reload(struct nodes *nodes, struct reason *why)
{
    struct node_block last;
    TRY(packing_reload(nodes->packing, why));
    node_block_init(&last);
    const enum status status = fetch(nodes, nodes->unpacker, 0, &last, why);
    nodes->next = status == STATUS_OK ? last.first + last.count : 1;
    node_block_release(&last);
    return status == STATUS_END ? STATUS_OK : status;
}

void
nodes_committed(struct nodes *nodes)
{
    atomic_store(&nodes->committed, nodes->next);
}

uint64_t
nodes_next(const struct nodes *nodes)
{
    return nodes->next;
}

/* ---- appending ---- */

struct appending {
    struct nodes *nodes;
    struct transaction *transaction;
    struct buf raw; /* entries that wait */
    uint32_t *ends; /* where each waiting entry ends in raw */
    size_t count, capacity;
    uint64_t first; /* number of the first waiting entry */
    size_t taken;   /* so many of the first are those of the last block, which still stands */
    struct buf packed;
};

static void
add_waiting(struct appending *a, const struct term *term)
{
    node_block_put(&a->raw, term);
    a->ends = array_grow(a->ends, a->count, &a->capacity, sizeof(*a->ends));
    a->ends[a->count++] = (uint32_t)a->raw.length;
}

static void
put_header(struct appending *a, uint8_t codec, size_t n, size_t length)
{
    buf_reset(&a->packed);
    codec_put_u8(&a->packed, codec);
    if (codec == CODEC_DICTIONARY) {
        codec_put_varint(&a->packed, packing_dictionary(a->nodes->packing));
    }
    codec_put_varint(&a->packed, a->first);
    codec_put_varint(&a->packed, n);
    codec_put_varint(&a->packed, length);
}

/* Packs the first n waiting entries. */
static void
pack(struct appending *a, size_t n)
{
    struct packing *packing = a->nodes->packing;
    const size_t length = a->ends[n - 1];
    put_header(a, packing_dictionary(packing) > 0 ? CODEC_DICTIONARY : CODEC_ZSTD, n, length);
    char *target = buf_reserve(&a->packed, ZSTD_compressBound(length));
    const size_t packed = packing_pack(packing, target, slice_of(a->raw.data, length));
    if (packed > 0) {
        buf_commit(&a->packed, packed);
        return;
    }
    put_header(a, CODEC_PLAIN, n, length);
    (void)buf_append(&a->packed, a->raw.data, length);
}

/* Puts the block of the first n in its place, and away the one that it takes over: within one
 * latch, since readers look for the terms of both. */
static enum status
put_block(struct appending *a, size_t n, struct reason *why)
{
    uint8_t key[KEY_SIZE];
    struct tree *tree = a->nodes->tree;
    enum status status = STATUS_OK;
    latch_enter_writing(tree_latch(tree));
    if (a->taken > 0) {
        codec_write_u64(key, a->first + a->taken - 1);
        status = tree_delete(tree, a->transaction, slice_of((char *)key, sizeof(key)), why);
    }
    if (status == STATUS_OK) {
        codec_write_u64(key, a->first + n - 1);
        status = tree_append(tree, a->transaction, slice_of((char *)key, sizeof(key)),
                             buf_slice(&a->packed), why);
    }
    latch_leave(tree_latch(tree));
    a->taken = 0;
    return status;
}

/* Writes one block from the front of what waits, all that is taken in it; packed before the latch
 * is entered. */
static enum status
write_block(struct appending *a, struct reason *why)
{
    const size_t least = a->taken > 0 ? a->taken : 1;
    size_t n = least;
    while (n < a->count && a->ends[n] <= a->nodes->target) {
        n++;
    }
    pack(a, n);
    while (a->packed.length > BLOCK_MOST && n > least) {
        n = n * BLOCK_GOAL / a->packed.length;
        n = n > least ? n : least;
        pack(a, n);
    }
    const size_t length = a->ends[n - 1];
    if (length >= TARGET_LEAST && n > 1) {
        const size_t ideal = length * BLOCK_GOAL / a->packed.length;
        const size_t target = (3 * a->nodes->target + ideal) / 4;
        a->nodes->target = target < TARGET_LEAST  ? TARGET_LEAST
                           : target > TARGET_MOST ? TARGET_MOST
                                                  : target;
    }
    TRY(put_block(a, n, why));
    memmove(a->raw.data, a->raw.data + length, a->raw.length - length);
    a->raw.length -= length;
    for (size_t i = n; i < a->count; i++) {
        a->ends[i - n] = a->ends[i] - (uint32_t)length;
    }
    a->count -= n;
    a->first += n;
    return STATUS_OK;
}

/* A small last block is filled up. */
static enum status
take_last(struct appending *a, struct reason *why)
{
    struct node_block last;
    node_block_init(&last);
    enum status status = fetch(a->nodes, a->nodes->unpacker, 0, &last, why);
    if (status == STATUS_OK && last.raw.length < a->nodes->target / 2) {
        a->first = last.first;
        struct codec_reader reader = codec_reader_of(buf_slice(&last.raw));
        for (size_t i = 0; i < last.count; i++) {
            enum oid_kind kind;
            struct term term;
            (void)node_block_get(&reader, &kind, &term);
            add_waiting(a, &term);
        }
        a->taken = last.count;
    }
    node_block_release(&last);
    return status == STATUS_END ? STATUS_OK : status;
}

/* Runs of neighbours among the terms to be added are the samples of a dictionary. */
static void
train(struct nodes *nodes, nodes_term_at *term_at, void *context, size_t count)
{
    enum { RUN = 16, RUNS_LEAST = 64 };
    const uint64_t terms = nodes->next + count - 1;
    const size_t runs = count / RUN;
    if (runs < RUNS_LEAST || !packing_is_due(nodes->packing, terms)) {
        return;
    }
    struct buf samples;
    size_t *sizes = memory_alloc(runs * sizeof(*sizes));
    unsigned n = 0;
    buf_init(&samples, SIZE_MAX / 2);
    /* 7919 is a prime: with this step all runs would be met once, from everywhere. */
    for (size_t i = 0; i < runs && samples.length < PACKING_SAMPLE_BYTES; i++) {
        const size_t from = i * 7919 % runs * RUN, before = samples.length;
        for (size_t k = 0; k < RUN && samples.length - before < TARGET_MOST; k++) {
            node_block_put(&samples, term_at(context, from + k));
        }
        sizes[n++] = samples.length - before;
    }
    packing_train(nodes->packing, terms, samples.data, sizes, n);
    buf_release(&samples);
    free(sizes);
}

enum status
nodes_append(struct nodes *nodes, struct transaction *transaction, nodes_term_at *term_at,
             void *context, size_t count, struct reason *why)
{
    if (count == 0) {
        return STATUS_OK;
    }
    struct appending a = {.nodes = nodes, .transaction = transaction, .first = nodes->next};
    buf_init(&a.raw, SIZE_MAX / 2);
    buf_init(&a.packed, SIZE_MAX / 2);
    train(nodes, term_at, context, count);
    enum status status = packing_store(nodes->packing, transaction, why);
    if (status == STATUS_OK) {
        status = take_last(&a, why);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        add_waiting(&a, term_at(context, i));
        while (a.raw.length > 2 * nodes->target && status == STATUS_OK) {
            status = write_block(&a, why);
        }
    }
    while (a.count > 0 && status == STATUS_OK) {
        status = write_block(&a, why);
    }
    if (status == STATUS_OK) {
        nodes->next += count;
    }
    buf_release(&a.raw);
    buf_release(&a.packed);
    free(a.ends);
    return status;
}

/* ---- reading ---- */

/* The block that has the number, from the tree. */
static enum status
fetch_own(struct nodes_reader *reader, uint64_t number, struct reason *why)
{
    struct node_block *own = &reader->own;
    own->first = 0;
    const enum status status = fetch(reader->nodes, reader->unpacker, number, own, why);
    if (status == STATUS_END || (status == STATUS_OK && !node_block_has(own, number))) {
        own->first = 0;
        return status_fail(why, STATUS_CORRUPT, "no term has the number %llu",
                           (unsigned long long)number);
    }
    if (status != STATUS_OK) {
        own->first = 0;
    }
    return status;
}

/* A reader that goes through blocks in order may go through more than the caches hold, again and
 * again: would each block and term take another's place, all would be read anew each time. So
 * blocks take places that are free, and of terms the first are kept, one by one. */
static bool
goes_through(const struct nodes_reader *reader)
{
    return reader->run == RUN_LEAST;
}

static void
note_block(struct nodes_reader *reader, uint64_t number)
{
    const bool near = number > reader->latest && number - reader->latest < NEAR;
    reader->run = !near ? 0 : reader->run < RUN_LEAST ? reader->run + 1 : RUN_LEAST;
    reader->latest = number;
}

static void
keep_some(struct nodes_reader *reader, uint64_t number, bool is_new)
{
    const struct nodes *nodes = reader->nodes;
    const struct slice entry = node_block_entry(&reader->own, number);
    if (reader->kept < term_cache_room(nodes->terms) / RUN_SHARE &&
        term_cache_put(nodes->terms, number, entry)) {
        reader->kept += entry.length;
    }
    if (is_new && node_cache_has_room(nodes->cache, number)) {
        node_cache_put(nodes->cache, number, &reader->own);
    }
}

static enum status
resolve_stored(struct nodes_reader *reader, oid id, struct arena *arena, struct term *term,
               struct reason *why)
{
    const uint64_t number = oid_number(id);
    struct nodes *nodes = reader->nodes;
    struct node_block *own = &reader->own;
    bool is_new = false;
    if (!node_block_has(own, number)) {
        enum status status = term_cache_find(nodes->terms, number, oid_kind(id), arena, term, why);
        reader->kept += status == STATUS_OK ? term->value.length : 0;
        if (status == STATUS_NOT_FOUND) {
            status = node_cache_find(nodes->cache, number, oid_kind(id), arena, term, why);
        }
        if (status != STATUS_NOT_FOUND) {
            return status;
        }
        note_block(reader, number);
        TRY(fetch_own(reader, number, why));
        is_new = true;
    }
    TRY(node_block_copy(own, number, oid_kind(id), arena, term, why));
    /* Nodes that a transaction which is under way has added may yet be taken back. */
    if (own->first + own->count <= atomic_load(&nodes->committed)) {
        if (goes_through(reader)) {
            keep_some(reader, number, is_new);
        } else if (is_new) {
            (void)term_cache_put(nodes->terms, number, node_block_entry(own, number));
            node_cache_put(nodes->cache, number, own);
        }
    }
    return STATUS_OK;
}

enum status
nodes_resolve(struct nodes_reader *reader, oid id, struct arena *arena, struct term *term,
              struct reason *why)
{
    struct term found;
    char text[OID_INLINE_TEXT];
    if (oid_is_stored(id)) {
        return resolve_stored(reader, id, arena, term, why);
    }
    if (!oid_inline_term(id, text, &found)) {
        return status_fail(why, STATUS_CORRUPT, "%llx is no identifier", (unsigned long long)id);
    }
    return term_copy(arena, &found, term)
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "a term of %zu bytes does not fit in memory",
                             found.value.length);
}

enum status
nodes_walk(struct nodes *nodes, uint64_t first, nodes_visit *visit, void *context,
           struct reason *why)
{
    struct node_block block;
    ZSTD_DCtx *unpacker = ZSTD_createDCtx();
    node_block_init(&block);
    enum status status = STATUS_OK;
    uint64_t number = first > 0 ? first : 1;
    while (status == STATUS_OK) {
        status = fetch(nodes, unpacker, number, &block, why);
        if (status == STATUS_OK && number < block.first && number != first) {
            status = status_fail(why, STATUS_CORRUPT, "no term has the number %llu",
                                 (unsigned long long)number);
        }
        struct codec_reader reader = codec_reader_of(buf_slice(&block.raw));
        for (size_t i = 0; i < block.count && status == STATUS_OK; i++) {
            enum oid_kind kind;
            struct term term;
            (void)node_block_get(&reader, &kind, &term);
            if (block.first + i >= number) {
                status = visit(context, oid_stored(block.first + i, kind), &term, why);
            }
        }
        number = block.first + block.count;
    }
    ZSTD_freeDCtx(unpacker);
    node_block_release(&block);
    return status == STATUS_END ? STATUS_OK : status;
}
