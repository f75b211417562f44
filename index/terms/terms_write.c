#include "index/terms/terms_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

enum status
terms_damaged(const struct tree *terms, struct reason *why)
{
    return status_fail(why, STATUS_CORRUPT, "tree %s: a block is malformed", tree_name(terms));
}

/* ---- in their blocks ---- */

enum { KEY_BYTES = TERM_ENTRY_MOST * TERM_KEY_MAXIMUM };

struct insertion {
    struct wanted_term *const *wanted; /* new ones, sorted */
    size_t count;
    const struct term_set *set;
    struct fence_cursor cursor;
    struct term_entry *merged;
    size_t merged_count, merged_capacity;
    bool appended;
    uint8_t piece[BLOCK_MAXIMUM + TERM_ENTRY_BYTES];
    uint8_t old_keys[KEY_BYTES];
};

static void
merged_add(struct insertion *n, const uint8_t *key, size_t length, oid id)
{
    n->merged = array_grow(n->merged, n->merged_count, &n->merged_capacity, sizeof(*n->merged));
    n->merged[n->merged_count++] = (struct term_entry){key, length, id};
}

static void
merged_add_new(struct insertion *n, size_t i)
{
    const struct wanted_term *wanted = n->wanted[i];
    merged_add(n, (const uint8_t *)wanted->key.at, wanted->key.length,
               n->set->terms[wanted->index].id);
}

/* Merges the block under the cursor with wanted [first, last). */
static enum status
merge_block(struct insertion *n, size_t first, size_t last, struct reason *why)
{
    struct term_block_reader reader;
    term_block_open(&reader, n->cursor.block, n->cursor.block_length);
    uint8_t *keys = n->old_keys;
    n->merged_count = 0;
    n->appended = true;
    while (term_block_next(&reader)) {
        const struct slice old = term_key_slice(&reader.key);
        while (first < last && slice_compare(n->wanted[first]->key, old) < 0) {
            n->appended = false;
            merged_add_new(n, first++);
        }
        memcpy(keys, reader.key.bytes, reader.key.length);
        merged_add(n, keys, reader.key.length, reader.id);
        keys += reader.key.length;
    }
    while (first < last) {
        merged_add_new(n, first++);
    }
    return reader.bad ? terms_damaged(n->cursor.tree, why) : STATUS_OK;
}

static size_t
encoded_size(struct insertion *n)
{
    struct term_block_writer writer;
    size_t size = 0;
    term_block_begin(&writer, n->piece, BLOCK_MAXIMUM);
    for (size_t i = 0; i < n->merged_count; i++) {
        if (!term_block_add(&writer, &n->merged[i])) {
            size += term_block_end(&writer);
            term_block_begin(&writer, n->piece, BLOCK_MAXIMUM);
            (void)term_block_add(&writer, &n->merged[i]);
        }
    }
    return size + term_block_end(&writer);
}

/* Returns how much goes into a block, as in index/quads/quads.c: full blocks where keys came at the
 * end, else even ones. */
static size_t
piece_size(struct insertion *n)
{
    enum { SLACK = 60 };
    if (n->appended) {
        return BLOCK_MAXIMUM;
    }
    const size_t size = encoded_size(n);
    const size_t pieces = (size + BLOCK_MAXIMUM - 1) / BLOCK_MAXIMUM;
    const size_t even = size / pieces + SLACK;
    return even < BLOCK_MAXIMUM ? even : BLOCK_MAXIMUM;
}

/* Writes further blocks, as in index/quads/quads.c. */
static enum status
write_more(struct insertion *n, struct term_block_writer *writer, size_t i, size_t size,
           struct reason *why)
{
    for (; i < n->merged_count; i++) {
        if (term_block_add(writer, &n->merged[i])) {
            continue;
        }
        const struct slice fence =
            term_fence(term_entry_key(&n->merged[i - 1]), term_entry_key(&n->merged[i]));
        const size_t length = term_block_end(writer);
        TRY(fence_emit(&n->cursor, fence, slice_of((char *)n->piece, length), why));
        term_block_begin(writer, n->piece, size);
        (void)term_block_add(writer, &n->merged[i]);
    }
    const size_t length = n->merged_count > 0 ? term_block_end(writer) : 0;
    return fence_finish(&n->cursor, slice_of((char *)n->piece, length), why);
}

static enum status
write_pieces(struct insertion *n, struct reason *why)
{
    struct term_block_writer writer;
    size_t i = 0, size = BLOCK_MAXIMUM;
    term_block_begin(&writer, n->piece, size);
    while (i < n->merged_count && term_block_add(&writer, &n->merged[i])) {
        i++;
    }
    if (i < n->merged_count) {
        size = piece_size(n);
        term_block_begin(&writer, n->piece, size);
        i = 0;
    }
    return write_more(n, &writer, i, size, why);
}

static enum status
insert_one_block(struct insertion *n, size_t *next, struct reason *why)
{
    enum { MOST = 4096 };
    TRY(fence_seek(&n->cursor, n->wanted[*next]->key, why));
    const struct slice fence = slice_of((char *)n->cursor.fence, n->cursor.fence_length);
    size_t last = *next;
    while (last < n->count && last - *next < MOST &&
           slice_compare(n->wanted[last]->key, fence) <= 0) {
        last++;
    }
    TRY(merge_block(n, *next, last, why));
    *next = last;
    return write_pieces(n, why);
}

/* Block by block. */
static enum status
insert(struct tree *terms, struct transaction *transaction, struct wanted_term *const *wanted,
       size_t count, const struct term_set *set, struct reason *why)
{
    struct insertion *n = memory_alloc(sizeof(*n));
    n->wanted = wanted;
    n->count = count;
    n->set = set;
    n->merged = NULL;
    n->merged_capacity = 0;
    fence_open(&n->cursor, terms, transaction);
    enum status status = STATUS_OK;
    size_t next = 0;
    while (next < count && status == STATUS_OK) {
        latch_enter_writing(tree_latch(terms));
        for (int i = 0; next < count && i < LATCH_BLOCKS && status == STATUS_OK; i++) {
            status = insert_one_block(n, &next, why);
        }
        fence_close(&n->cursor);
        latch_leave(tree_latch(terms));
    }
    free(n->merged);
    free(n);
    return status;
}

/* ---- the tree anew ---- */

struct building {
    struct wanted_term *const *wanted;
    size_t count, next;
    const struct term_set *set;
    struct tree_build *build;
    struct term_block_writer writer;
    struct slice last;         /* key written */
    struct term_key copies[2]; /* of old keys: the last one and the one that is written */
    unsigned copy;
    uint8_t piece[BLOCK_MAXIMUM + TERM_ENTRY_BYTES];
};

static enum status
write_entry(struct building *b, struct slice key, oid id, struct reason *why)
{
    const struct term_entry entry = {(const uint8_t *)key.at, key.length, id};
    if (!term_block_add(&b->writer, &entry)) {
        const size_t length = term_block_end(&b->writer);
        TRY(tree_build_add(b->build, term_fence(b->last, key), slice_of((char *)b->piece, length),
                           why));
        term_block_begin(&b->writer, b->piece, BLOCK_MAXIMUM);
        (void)term_block_add(&b->writer, &entry);
    }
    b->last = key;
    return STATUS_OK;
}

/* Those before the key, or all that are left. */
static enum status
write_wanted(struct building *b, const struct slice *until, struct reason *why)
{
    for (; b->next < b->count; b->next++) {
        const struct wanted_term *wanted = b->wanted[b->next];
        if (until != NULL && slice_compare(wanted->key, *until) > 0) {
            break;
        }
        TRY(write_entry(b, wanted->key, b->set->terms[wanted->index].id, why));
    }
    return STATUS_OK;
}

static enum status
write_block(void *context, const struct fence_cursor *old, struct reason *why)
{
    struct building *b = context;
    struct term_block_reader reader;
    term_block_open(&reader, old->block, old->block_length);
    while (term_block_next(&reader)) {
        struct term_key *copy = &b->copies[b->copy ^= 1];
        copy->length = reader.key.length;
        memcpy(copy->bytes, reader.key.bytes, reader.key.length);
        const struct slice key = term_key_slice(copy);
        TRY(write_wanted(b, &key, why));
        TRY(write_entry(b, key, reader.id, why));
    }
    return reader.bad ? terms_damaged(old->tree, why) : STATUS_OK;
}

static enum status
write_rest(void *context, struct reason *why)
{
    struct building *b = context;
    TRY(write_wanted(b, NULL, why));
    return b->writer.count > 0
               ? tree_build_add(b->build, FENCE_LAST,
                                slice_of((char *)b->piece, term_block_end(&b->writer)), why)
               : STATUS_OK;
}

static enum status
build(struct tree *terms, struct transaction *transaction, struct wanted_term *const *wanted,
      size_t count, const struct term_set *set, struct reason *why)
{
    struct building *b = memory_new(sizeof(*b));
    b->wanted = wanted;
    b->count = count;
    b->set = set;
    term_block_begin(&b->writer, b->piece, BLOCK_MAXIMUM);
    const enum status status =
        fence_build(terms, transaction, &b->build, write_block, write_rest, b, why);
    free(b);
    return status;
}

/* ---- either ---- */

struct wanted_terms {
    struct wanted_term *const *wanted;
    size_t count;
};

static enum status
pass_block(void *context, struct fence_cursor *cursor, size_t *next, struct reason *why)
{
    const struct wanted_terms *w = context;
    TRY(fence_seek(cursor, w->wanted[*next]->key, why));
    const struct slice fence = slice_of((const char *)cursor->fence, cursor->fence_length);
    while (*next < w->count && slice_compare(w->wanted[*next]->key, fence) <= 0) {
        ++*next;
    }
    return STATUS_OK;
}

enum status
terms_write(struct tree *terms, struct transaction *transaction, struct wanted_term *const *wanted,
            size_t count, const struct term_set *set, size_t build_from, struct reason *why)
{
    struct wanted_terms all = {wanted, count};
    bool pays = build_from > 0 && count >= build_from;
    if (pays) {
        TRY(fence_build_pays(terms, count, pass_block, &all, &pays, why));
    }
    return pays ? build(terms, transaction, wanted, count, set, why)
                : insert(terms, transaction, wanted, count, set, why);
}
