#include "index/lexicon.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "index/key_sort.h"
#include "index/term_blocks.h"

struct lexicon {
    struct tree *terms;
    struct nodes *nodes;
    /* Recent terms, two generations: when the young one is half the memory it becomes the old
     * one. Used by the writer only. */
    struct term_set young, old;
    size_t memory;
};

/* A term of the batch that memory did not know. */
struct wanted {
    struct slice key;
    uint32_t index; /* in the set */
};

/* ---- opening ---- */

enum status
lexicon_open(struct lexicon **result, struct environment *environment, size_t memory, size_t blocks,
             struct reason *why)
{
    struct lexicon *lexicon = memory_zero(1, sizeof(*lexicon));
    lexicon->memory = memory;
    term_set_init(&lexicon->young);
    term_set_init(&lexicon->old);
    enum status status = tree_open(&lexicon->terms, environment, "terms", why);
    if (status == STATUS_OK) {
        status = nodes_open(&lexicon->nodes, environment, blocks, why);
    }
    if (status != STATUS_OK) {
        lexicon_close(lexicon);
        lexicon = NULL;
    }
    *result = lexicon;
    return status;
}

void
lexicon_close(struct lexicon *lexicon)
{
    if (lexicon != NULL) {
        term_set_release(&lexicon->young);
        term_set_release(&lexicon->old);
        tree_close(lexicon->terms);
        nodes_close(lexicon->nodes);
        free(lexicon);
    }
}

struct nodes *
lexicon_nodes(struct lexicon *lexicon)
{
    return lexicon->nodes;
}

/* ---- memory of recent terms ---- */

enum { REMEMBERED_BYTES = 512 }; /* longer terms are not remembered */

static oid
recall(struct lexicon *lexicon, const struct set_term *wanted)
{
    const struct set_term *found = term_set_find(&lexicon->young, &wanted->term, wanted->hash);
    if (found != NULL) {
        return found->id;
    }
    found = term_set_find(&lexicon->old, &wanted->term, wanted->hash);
    if (found == NULL) {
        return OID_NONE;
    }
    const oid id = found->id;
    term_set_insert(&lexicon->young, &wanted->term, wanted->hash)->id = id;
    return id;
}

static void
remember(struct lexicon *lexicon, const struct set_term *term)
{
    if (term->term.value.length > REMEMBERED_BYTES) {
        return;
    }
    if (term_set_bytes(&lexicon->young) >= lexicon->memory / 2) {
        const struct term_set swap = lexicon->old;
        lexicon->old = lexicon->young;
        lexicon->young = swap;
        term_set_reset(&lexicon->young);
    }
    term_set_insert(&lexicon->young, &term->term, term->hash)->id = term->id;
}

enum status
lexicon_forget(struct lexicon *lexicon, struct reason *why)
{
    term_set_reset(&lexicon->young);
    term_set_reset(&lexicon->old);
    return nodes_reload(lexicon->nodes, why);
}

/* ---- looking up sorted keys ---- */

static struct slice
key_slice(const struct term_key *key)
{
    return slice_of((const char *)key->bytes, key->length);
}

static enum status
damaged(const struct lexicon *lexicon, struct reason *why)
{
    return status_fail(why, STATUS_CORRUPT, "tree %s: a block is malformed",
                       tree_name(lexicon->terms));
}

/* Looks keys [*next, n) up that lie in the block under the cursor. found(i, id) is called for
 * the ones that are there. */
static enum status
match_block(struct lexicon *lexicon, const struct fence_cursor *cursor,
            struct wanted *const *wanted, size_t n, size_t *next, struct term_set *set,
            struct reason *why)
{
    const struct slice fence = slice_of((const char *)cursor->fence, cursor->fence_length);
    struct term_block_reader reader;
    term_block_open(&reader, cursor->block, cursor->block_length);
    bool more = term_block_next(&reader);
    for (; *next < n; ++*next) {
        const struct slice key = wanted[*next]->key;
        if (slice_compare(key, fence) > 0) {
            break;
        }
        int order = 1;
        while (more && (order = slice_compare(key_slice(&reader.key), key)) < 0) {
            more = term_block_next(&reader);
        }
        if (more && order == 0) {
            set->terms[wanted[*next]->index].id = reader.id;
        }
    }
    return reader.bad ? damaged(lexicon, why) : STATUS_OK;
}

/* Fills in the identifiers of wanted terms that are stored. */
static enum status
look_up(struct lexicon *lexicon, struct transaction *transaction, struct wanted *const *wanted,
        size_t n, struct term_set *set, struct reason *why)
{
    struct fence_cursor *cursor = memory_alloc(sizeof(*cursor));
    fence_open(cursor, lexicon->terms, transaction);
    enum status status = STATUS_OK;
    size_t next = 0;
    while (next < n && status == STATUS_OK) {
        gate_enter_reading(tree_gate(lexicon->terms));
        for (int i = 0; next < n && i < GATE_BLOCKS && status == STATUS_OK; i++) {
            status = fence_seek(cursor, wanted[next]->key, why);
            if (status == STATUS_OK) {
                status = match_block(lexicon, cursor, wanted, n, &next, set, why);
            }
        }
        fence_close(cursor);
        gate_leave(tree_gate(lexicon->terms));
    }
    free(cursor);
    return status;
}

/* ---- storing new keys ---- */

enum { KEY_BYTES = TERM_ENTRY_MOST * TERM_KEY_MAXIMUM };

struct insertion {
    struct lexicon *lexicon;
    struct wanted *const *wanted; /* new ones, sorted */
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
    if (n->merged_count == n->merged_capacity) {
        n->merged_capacity = n->merged_capacity ? 2 * n->merged_capacity : 512;
        n->merged = memory_resize(n->merged, n->merged_capacity, sizeof(*n->merged));
    }
    n->merged[n->merged_count++] = (struct term_entry){key, length, id};
}

static void
merged_add_new(struct insertion *n, size_t i)
{
    const struct wanted *wanted = n->wanted[i];
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
        const struct slice old = key_slice(&reader.key);
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
    return reader.bad ? damaged(n->lexicon, why) : STATUS_OK;
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

/* As in quads.c: full blocks where keys came at the end, else even ones. */
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

/* As in quads.c. */
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

static enum status
insert(struct lexicon *lexicon, struct transaction *transaction, struct wanted *const *wanted,
       size_t count, const struct term_set *set, struct reason *why)
{
    struct insertion *n = memory_alloc(sizeof(*n));
    n->lexicon = lexicon;
    n->wanted = wanted;
    n->count = count;
    n->set = set;
    n->merged = NULL;
    n->merged_capacity = 0;
    fence_open(&n->cursor, lexicon->terms, transaction);
    enum status status = STATUS_OK;
    size_t next = 0;
    while (next < count && status == STATUS_OK) {
        gate_enter_writing(tree_gate(lexicon->terms));
        for (int i = 0; next < count && i < GATE_BLOCKS && status == STATUS_OK; i++) {
            status = insert_one_block(n, &next, why);
        }
        fence_close(&n->cursor);
        gate_leave(tree_gate(lexicon->terms));
    }
    free(n->merged);
    free(n);
    return status;
}

/* ---- a batch ---- */

struct batch {
    struct wanted *wanted;
    struct wanted **sorted; /* by key */
    size_t count;
    struct buf keys; /* end to end */
};

static void
sort_wanted(struct batch *batch)
{
    const size_t count = batch->count;
    struct slice *keys = memory_alloc(count * sizeof(*keys));
    uint32_t *order = memory_alloc(count * sizeof(*order));
    const char *at = batch->keys.data;
    for (size_t i = 0; i < count; i++) {
        batch->wanted[i].key.at = at;
        at += batch->wanted[i].key.length;
        keys[i] = batch->wanted[i].key;
    }
    key_sort(keys, order, count);
    batch->sorted = memory_alloc(count * sizeof(struct wanted *));
    for (size_t i = 0; i < count; i++) {
        batch->sorted[i] = &batch->wanted[order[i]];
    }
    free(keys);
    free(order);
}

/* Inline and remembered terms are done; the others are collected, sorted by key. */
static void
collect(struct lexicon *lexicon, struct term_set *set, bool recalling, struct batch *batch)
{
    enum { AHEAD = 16 };
    batch->wanted = memory_alloc(set->count * sizeof(*batch->wanted));
    batch->count = 0;
    buf_init(&batch->keys, SIZE_MAX / 2);
    for (size_t i = 0; i < set->count; i++) {
        struct set_term *term = &set->terms[i];
        if (i + AHEAD < set->count) {
            term_set_prefetch_slot(&lexicon->young, term[AHEAD].hash);
            term_set_prefetch_slot(&lexicon->old, term[AHEAD].hash);
        }
        if (term->unwanted) {
            continue;
        }
        if (term->id == OID_NONE) {
            term->id = oid_inline_of(&term->term);
        }
        if (term->id == OID_NONE && recalling) {
            term->id = recall(lexicon, term);
        }
        if (term->id == OID_NONE) {
            struct term_key key;
            term_key_of(&term->term, &key);
            (void)buf_append(&batch->keys, key.bytes, key.length);
            batch->wanted[batch->count++] =
                (struct wanted){slice_of(NULL, key.length), (uint32_t)i};
        }
    }
    sort_wanted(batch);
}

static void
batch_release(struct batch *batch)
{
    free(batch->wanted);
    free(batch->sorted);
    buf_release(&batch->keys);
}

struct fresh {
    const struct term_set *set;
    const uint32_t *indexes;
};

static const struct term *
fresh_term(void *context, size_t i)
{
    const struct fresh *fresh = context;
    return &fresh->set->terms[fresh->indexes[i]].term;
}

/* Numbers the terms that are still without identifier in the order of the set, and stores them. */
static enum status
store_new(struct lexicon *lexicon, struct transaction *transaction, struct batch *batch,
          struct term_set *set, uint64_t *added, struct reason *why)
{
    uint32_t *indexes = memory_alloc((batch->count + 1) * sizeof(*indexes));
    size_t count = 0;
    const uint64_t first = nodes_next(lexicon->nodes);
    for (size_t i = 0; i < batch->count; i++) {
        struct set_term *term = &set->terms[batch->wanted[i].index];
        if (term->id == OID_NONE) {
            term->id = oid_stored(first + count, oid_kind_of(&term->term));
            indexes[count++] = batch->wanted[i].index;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (oid_number(set->terms[batch->sorted[i]->index].id) >= first) {
            batch->sorted[kept++] = batch->sorted[i];
        }
    }
    struct fresh fresh = {set, indexes};
    enum status status = nodes_append(lexicon->nodes, transaction, fresh_term, &fresh, count, why);
    if (status == STATUS_OK) {
        status = insert(lexicon, transaction, batch->sorted, kept, set, why);
    }
    free(indexes);
    *added = count;
    return status;
}

/* Of a batch that memory cannot hold only terms are remembered that were met before: those come
 * again. */
enum status
lexicon_assign(struct lexicon *lexicon, struct transaction *transaction, struct term_set *set,
               uint64_t *added, struct reason *why)
{
    struct batch batch;
    const uint64_t first = nodes_next(lexicon->nodes);
    collect(lexicon, set, true, &batch);
    *added = 0;
    enum status status = look_up(lexicon, transaction, batch.sorted, batch.count, set, why);
    if (status == STATUS_OK) {
        status = store_new(lexicon, transaction, &batch, set, added, why);
    }
    const bool all =
        batch.keys.length + batch.count * 2 * sizeof(struct set_term) < lexicon->memory / 2;
    for (size_t i = 0; i < batch.count && status == STATUS_OK; i++) {
        const struct set_term *term = &set->terms[batch.wanted[i].index];
        if (all || oid_number(term->id) < first) {
            remember(lexicon, term);
        }
    }
    batch_release(&batch);
    return status;
}

static enum status
find_all(struct lexicon *lexicon, struct term_set *set, bool recalling, struct reason *why)
{
    struct batch batch;
    collect(lexicon, set, recalling, &batch);
    const enum status status = look_up(lexicon, NULL, batch.sorted, batch.count, set, why);
    batch_release(&batch);
    return status;
}

enum status
lexicon_find_all(struct lexicon *lexicon, struct term_set *set, struct reason *why)
{
    return find_all(lexicon, set, true, why);
}

enum status
lexicon_find_stored(struct lexicon *lexicon, struct term_set *set, struct reason *why)
{
    return find_all(lexicon, set, false, why);
}

enum status
lexicon_find(struct lexicon *lexicon, const struct term *term, oid *id, struct reason *why)
{
    const struct term normal = term_normal(term);
    *id = oid_inline_of(&normal);
    if (*id != OID_NONE || normal.kind == TERM_NONE) {
        return STATUS_OK;
    }
    struct term_key key;
    term_key_of(&normal, &key);
    struct wanted wanted = {key_slice(&key), 0}, *pointer = &wanted;
    struct set_term one = {.term = normal};
    struct term_set set = {.terms = &one, .count = 1};
    const enum status status = look_up(lexicon, NULL, &pointer, 1, &set, why);
    *id = one.id;
    return status;
}

/* Inside the gate: the keys after `after` in a few blocks; END past the last. */
static enum status
walk_blocks(struct lexicon *lexicon, struct fence_cursor *cursor, struct slice after,
            lexicon_visit *visit, void *context, struct reason *why)
{
    enum status status = fence_seek(cursor, after, why);
    for (int i = 0; status == STATUS_OK && cursor->stored; i++) {
        struct term_block_reader reader;
        term_block_open(&reader, cursor->block, cursor->block_length);
        while (status == STATUS_OK && term_block_next(&reader)) {
            if (slice_compare(key_slice(&reader.key), after) > 0) {
                status = visit(context, key_slice(&reader.key), reader.id, why);
            }
        }
        if (status == STATUS_OK && reader.bad) {
            status = damaged(lexicon, why);
        }
        if (i + 1 == GATE_BLOCKS || status != STATUS_OK) {
            break;
        }
        status = fence_next(cursor, why);
    }
    return status == STATUS_OK && (!cursor->stored || fence_is_last(cursor)) ? STATUS_END : status;
}

enum status
lexicon_walk(struct lexicon *lexicon, lexicon_visit *visit, void *context, struct reason *why)
{
    struct fence_cursor *cursor = memory_alloc(sizeof(*cursor));
    uint8_t after[FENCE_SIZE_MAXIMUM];
    size_t length = 0;
    enum status status = STATUS_OK;
    fence_open(cursor, lexicon->terms, NULL);
    while (status == STATUS_OK) {
        gate_enter_reading(tree_gate(lexicon->terms));
        status = walk_blocks(lexicon, cursor, slice_of((char *)after, length), visit, context, why);
        fence_close(cursor);
        gate_leave(tree_gate(lexicon->terms));
        memcpy(after, cursor->fence, length = cursor->fence_length);
    }
    free(cursor);
    return status == STATUS_END ? STATUS_OK : status;
}
