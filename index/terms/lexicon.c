#include "index/terms/lexicon.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "index/sort/key_sort.h"
#include "index/terms/terms_write.h"

struct lexicon {
    struct tree *terms;
    struct nodes *nodes;
    /* Recent terms, two generations: when the young one is half the memory it becomes the old
     * one. Used by the writer only. */
    struct term_set young, old;
    size_t memory;
};

/* ---- opening ---- */

enum status
lexicon_open(struct lexicon **result, struct environment *environment, size_t memory, size_t blocks,
             struct reason *why)
{
    struct lexicon *lexicon = memory_new(sizeof(*lexicon));
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

struct tree *
lexicon_terms(struct lexicon *lexicon)
{
    return lexicon->terms;
}

uint64_t
lexicon_bytes(struct lexicon *lexicon)
{
    return tree_bytes(lexicon->terms);
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

/* Looks keys [*next, n) up that lie in the block under the cursor. found(i, id) is called for
 * the ones that are there. */
static enum status
match_block(struct lexicon *lexicon, const struct fence_cursor *cursor,
            struct wanted_term *const *wanted, size_t n, size_t *next, struct term_set *set,
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
        while (more && (order = slice_compare(term_key_slice(&reader.key), key)) < 0) {
            more = term_block_next(&reader);
        }
        if (more && order == 0) {
            set->terms[wanted[*next]->index].id = reader.id;
        }
    }
    return reader.bad ? terms_damaged(lexicon->terms, why) : STATUS_OK;
}

/* Fills in the identifiers of wanted terms that are stored. */
static enum status
look_up(struct lexicon *lexicon, struct transaction *transaction, struct wanted_term *const *wanted,
        size_t n, struct term_set *set, struct reason *why)
{
    struct fence_cursor *cursor = memory_alloc(sizeof(*cursor));
    fence_open(cursor, lexicon->terms, transaction);
    enum status status = STATUS_OK;
    size_t next = 0;
    while (next < n && status == STATUS_OK) {
        latch_enter_reading(tree_latch(lexicon->terms));
        for (int i = 0; next < n && i < LATCH_BLOCKS && status == STATUS_OK; i++) {
            status = fence_seek(cursor, wanted[next]->key, why);
            if (status == STATUS_OK) {
                status = match_block(lexicon, cursor, wanted, n, &next, set, why);
            }
        }
        fence_close(cursor);
        latch_leave(tree_latch(lexicon->terms));
    }
    free(cursor);
    return status;
}

/* ---- a batch ---- */

struct batch {
    struct wanted_term *wanted;
    struct wanted_term **sorted; /* by key */
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
    batch->sorted = memory_alloc(count * sizeof(struct wanted_term *));
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
                (struct wanted_term){slice_of(NULL, key.length), (uint32_t)i};
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
          struct term_set *set, size_t build_from, uint64_t *added, struct reason *why)
{
    uint32_t *indexes = memory_alloc(batch->count * sizeof(*indexes));
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
        status =
            terms_write(lexicon->terms, transaction, batch->sorted, kept, set, build_from, why);
    }
    free(indexes);
    *added = count;
    return status;
}

/* Gives identifiers. When memory cannot hold the batch, only terms are remembered that were met
 * before, since those come again. */
enum status
lexicon_assign(struct lexicon *lexicon, struct transaction *transaction, struct term_set *set,
               size_t build_from, uint64_t *added, struct reason *why)
{
    struct batch batch;
    const uint64_t first = nodes_next(lexicon->nodes);
    collect(lexicon, set, true, &batch);
    *added = 0;
    enum status status = look_up(lexicon, transaction, batch.sorted, batch.count, set, why);
    if (status == STATUS_OK) {
        status = store_new(lexicon, transaction, &batch, set, build_from, added, why);
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
    struct wanted_term wanted = {term_key_slice(&key), 0}, *pointer = &wanted;
    struct set_term one = {.term = normal};
    struct term_set set = {.terms = &one, .count = 1};
    const enum status status = look_up(lexicon, NULL, &pointer, 1, &set, why);
    *id = one.id;
    return status;
}

/* Inside the latch: the keys after `after` in a few blocks; END past the last. */
static enum status
walk_blocks(struct lexicon *lexicon, struct fence_cursor *cursor, struct slice after,
            lexicon_visit *visit, void *context, struct reason *why)
{
    enum status status = fence_seek(cursor, after, why);
    for (int i = 0; status == STATUS_OK && cursor->stored; i++) {
        struct term_block_reader reader;
        term_block_open(&reader, cursor->block, cursor->block_length);
        while (status == STATUS_OK && term_block_next(&reader)) {
            if (slice_compare(term_key_slice(&reader.key), after) > 0) {
                status = visit(context, term_key_slice(&reader.key), reader.id, why);
            }
        }
        if (status == STATUS_OK && reader.bad) {
            status = terms_damaged(lexicon->terms, why);
        }
        if (i + 1 == LATCH_BLOCKS || status != STATUS_OK) {
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
        latch_enter_reading(tree_latch(lexicon->terms));
        status = walk_blocks(lexicon, cursor, slice_of((char *)after, length), visit, context, why);
        fence_close(cursor);
        latch_leave(tree_latch(lexicon->terms));
        memcpy(after, cursor->fence, length = cursor->fence_length);
    }
    free(cursor);
    return status == STATUS_END ? STATUS_OK : status;
}
