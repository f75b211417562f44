#include "index/words/posting_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/codec.h"
#include "base/heap.h"
#include "base/memory.h"

/* ---- the view ---- */

void
words_view_open(struct words_view *view, struct literals *literals)
{
    view->literals = literals;
    latch_enter_reading(&literals->memory_latch);
    view->next = literals->state.next;
    view->memory[0] = posting_memtable_share(literals->writing);
    view->memory[1] = posting_memtable_share(literals->active);
    view->stems = literals->stems;
    view->count = literals->state.literals;
    uint64_t words = literals->state.words;
    for (int i = 0; i < 2; i++) {
        if (view->memory[i] != NULL) {
            view->count += posting_memtable_literals(view->memory[i]);
            words += posting_memtable_words(view->memory[i]);
        }
    }
    latch_leave(&literals->memory_latch);
    view->length = view->count > 0 && words > 0 ? (double)words / (double)view->count : 1;
    fence_open(&view->cursor, literals->tree, NULL);
}

void
words_view_close(struct words_view *view)
{
    posting_memtable_free(view->memory[0]);
    posting_memtable_free(view->memory[1]);
}

/* The block where the key would be, or the one after it, in the view's cursor. END. */
static enum status
seek_block(struct words_view *view, struct slice key, bool after, struct reason *why)
{
    latch_enter_reading(tree_latch(view->literals->tree));
    enum status status = fence_seek(&view->cursor, key, why);
    if (status == STATUS_OK && after) {
        status = fence_next(&view->cursor, why);
    }
    fence_close(&view->cursor);
    latch_leave(tree_latch(view->literals->tree));
    return status == STATUS_OK && !view->cursor.stored ? STATUS_END : status;
}

static void
keep_block(const struct words_view *view, struct words_block *block)
{
    block->fence_length = view->cursor.fence_length;
    block->length = view->cursor.block_length;
    memcpy(block->fence, view->cursor.fence, block->fence_length);
    memcpy(block->bytes, view->cursor.block, block->length);
}

/* ---- words ---- */

static void
add_memory(struct words_view *view, struct words_key *key)
{
    latch_enter_reading(&view->literals->memory_latch);
    for (int i = 0; i < 2; i++) {
        struct memory_head head;
        if (view->memory[i] != NULL && posting_memtable_find(view->memory[i], key->word, &head)) {
            key->memory[i] = head;
            key->literals += head.literals;
            key->classes |= head.classes;
        }
    }
    latch_leave(&view->literals->memory_latch);
}

enum status
words_find(struct words_view *view, struct slice word, struct arena *arena, struct words_key **key,
           struct reason *why)
{
    struct words_key *found = arena_zero(arena, sizeof(*found));
    uint8_t bytes[WORD_KEY_MAXIMUM];
    *key = NULL;
    found->word = arena_copy(arena, word);
    const size_t length = word_key(word, true, 0, 0, bytes);
    const enum status status = seek_block(view, slice_of((const char *)bytes, length), false, why);
    if (status == STATUS_OK) {
        struct posting_block_reader reader;
        posting_block_open(&reader, view->cursor.block, view->cursor.block_length);
        while (posting_block_next(&reader)) {
            if (reader.run.head && slice_equal(reader.run.word, word)) {
                found->literals = reader.run.literals;
                found->classes = found->tree_classes = reader.run.classes;
                found->block = arena_alloc(arena, sizeof(*found->block));
                keep_block(view, found->block);
                break;
            }
        }
        if (reader.bad) {
            return literals_damaged(why, "a block is malformed");
        }
    } else if (status != STATUS_END) {
        return status;
    }
    add_memory(view, found);
    *key = found->classes != 0 ? found : NULL;
    return STATUS_OK;
}

struct expansion {
    struct words_view *view;
    struct arena *arena;
    struct words_key **keys;
    size_t count, capacity;
    int memory;
};

static struct words_key *
expand(struct expansion *e, struct slice word)
{
    struct words_key *key = arena_zero(e->arena, sizeof(*key));
    key->word = arena_copy(e->arena, word);
    e->keys = array_grow(e->keys, e->count, &e->capacity, sizeof(struct words_key *));
    e->keys[e->count++] = key;
    return key;
}

static bool
expand_memory(void *context, const struct memory_head *head)
{
    struct expansion *e = context;
    struct words_key *key = expand(e, head->word);
    key->literals = head->literals;
    key->classes = head->classes;
    key->memory[e->memory] = *head;
    return true;
}

/* Heads of words with the prefix; the postings between them are passed over. */
static enum status
expand_tree(struct expansion *e, struct slice prefix, struct reason *why)
{
    uint8_t bytes[WORD_KEY_MAXIMUM];
    memcpy(bytes, prefix.at, prefix.length);
    struct slice from = slice_of((const char *)bytes, prefix.length);
    bool after = false;
    for (;;) {
        const enum status status = seek_block(e->view, from, after, why);
        if (status != STATUS_OK) {
            return status == STATUS_END ? STATUS_OK : status;
        }
        struct words_block *block = NULL;
        struct posting_block_reader reader;
        posting_block_open(&reader, e->view->cursor.block, e->view->cursor.block_length);
        while (posting_block_next(&reader)) {
            if (!slice_starts(reader.run.word, prefix)) {
                if (slice_compare(reader.run.word, prefix) > 0) {
                    return STATUS_OK;
                }
                continue;
            }
            if (!reader.run.head) {
                continue;
            }
            if (block == NULL) {
                block = arena_alloc(e->arena, sizeof(*block));
                keep_block(e->view, block);
            }
            struct words_key *key = expand(e, reader.run.word);
            key->literals = reader.run.literals;
            key->classes = key->tree_classes = reader.run.classes;
            key->block = block;
        }
        if (reader.bad || reader.word_length == 0) {
            return literals_damaged(why, "a block is malformed");
        }
        /* On after the last word's postings; if they all are here, that is the next block. */
        const struct slice fence =
            slice_of((const char *)e->view->cursor.fence, e->view->cursor.fence_length);
        if (fence_is_last(&e->view->cursor)) {
            return STATUS_OK;
        }
        const size_t length = word_key(slice_of((char *)reader.word, reader.word_length), false,
                                       WORD_CLASSES, UINT64_MAX, bytes);
        const struct slice end = slice_of((const char *)bytes, length);
        after = slice_compare(end, fence) <= 0;
        if (after) {
            memcpy(bytes, fence.at, fence.length);
            from = slice_of((const char *)bytes, fence.length);
        } else {
            from = end;
        }
    }
}

static int
compare_words(const void *a, const void *b)
{
    const struct words_key *const *left = a;
    const struct words_key *const *right = b;
    return slice_compare((*left)->word, (*right)->word);
}

static int
compare_frequency(const void *a, const void *b)
{
    const struct words_key *const *left = a;
    const struct words_key *const *right = b;
    return (*left)->literals != (*right)->literals
               ? ((*left)->literals < (*right)->literals ? 1 : -1)
               : slice_compare((*left)->word, (*right)->word);
}

/* Joins keys: the same word from the tree and from memory is one key. */
static void
join_keys(struct expansion *e)
{
    size_t kept = 0;
    qsort(e->keys, e->count, sizeof(struct words_key *), compare_words);
    for (size_t i = 0; i < e->count; i++) {
        struct words_key *key = e->keys[i];
        struct words_key *last = kept > 0 ? e->keys[kept - 1] : NULL;
        if (last == NULL || !slice_equal(last->word, key->word)) {
            e->keys[kept++] = key;
            continue;
        }
        last->literals += key->literals;
        last->classes |= key->classes;
        last->tree_classes |= key->tree_classes;
        last->block = last->block ? last->block : key->block;
        for (int m = 0; m < 2; m++) {
            last->memory[m] = key->memory[m].postings ? key->memory[m] : last->memory[m];
        }
    }
    e->count = kept;
}

enum status
words_find_prefix(struct words_view *view, struct slice prefix, size_t most, struct arena *arena,
                  struct words_key ***keys, size_t *count, struct reason *why)
{
    struct expansion e = {.view = view, .arena = arena};
    const enum status status = expand_tree(&e, prefix, why);
    latch_enter_reading(&view->literals->memory_latch);
    for (e.memory = 0; e.memory < 2; e.memory++) {
        if (view->memory[e.memory] != NULL) {
            posting_memtable_prefix(view->memory[e.memory], prefix, expand_memory, &e);
        }
    }
    latch_leave(&view->literals->memory_latch);
    if (e.count > 0) {
        join_keys(&e);
    }
    if (e.count > most) {
        qsort(e.keys, e.count, sizeof(struct words_key *), compare_frequency);
        e.count = most;
    }
    *keys = e.keys;
    *count = e.count;
    return status;
}

/* ---- one list ---- */

/* The greatest number of the list that would lie in a block with this fence. */
static uint64_t
bound_of(const struct words_list *list, const struct words_block *block)
{
    uint8_t key[WORD_KEY_MAXIMUM];
    const size_t front = word_key(list->key->word, false, list->class, 0, key) - 7;
    const size_t length = block->fence_length;
    const size_t common = front < length ? front : length;
    const int comparison = memcmp(block->fence, key, common);
    if (comparison != 0 || length < front) {
        return comparison > 0 ? UINT64_MAX : 0;
    }
    uint8_t number[8] = {0};
    const size_t digits = length - front < 7 ? length - front : 7;
    memcpy(number + 1, block->fence + front, digits);
    const uint64_t bound = codec_read_u64(number);
    return digits == 7 || bound == 0 ? bound : bound - 1;
}

static bool
find_run(struct words_list *list, const struct words_block *block)
{
    struct posting_block_reader reader;
    posting_block_open(&reader, block->bytes, block->length);
    while (posting_block_next(&reader)) {
        if (!reader.run.head && reader.run.class == list->class &&
            slice_equal(reader.run.word, list->key->word)) {
            posting_reader_open(&list->postings, &reader.run);
            list->number = list->postings.number;
            list->tagged = list->postings.tagged;
            list->bound = bound_of(list, block);
            return true;
        }
    }
    return false;
}

static const struct memory_postings *
memory_postings(struct words_key *key, int memory, struct arena *arena)
{
    if (key->postings[memory] == NULL) {
        const struct memory_head *head = &key->memory[memory];
        struct memory_postings *postings = arena_alloc(arena, sizeof(*postings));
        postings->codes = arena_alloc(arena, head->literals * sizeof(*postings->codes));
        memory_postings_read(postings, head);
        key->postings[memory] = postings;
    }
    return key->postings[memory];
}

static bool
next_code(struct words_list *list)
{
    if (list->code == list->code_end) {
        return false;
    }
    list->number = *list->code >> 1;
    list->tagged = *list->code++ & 1;
    return true;
}

static void
next_stage(struct words_union *all, struct words_list *list)
{
    do {
        list->stage++;
        if (list->stage == LIST_END) {
            list->number = UINT64_MAX;
            return;
        }
        const int memory = list->stage - LIST_WRITING;
        list->code = list->code_end = NULL;
        if (list->key->memory[memory].classes >> list->class & 1) {
            size_t count;
            list->code = memory_postings_of(memory_postings(list->key, memory, all->arena),
                                            list->class, &count);
            list->code_end = list->code + count;
        }
    } while (!next_code(list));
}

/* To the block with the first number not before this one. */
static enum status
load_block(struct words_union *all, struct words_list *list, uint64_t number, struct reason *why)
{
    uint8_t bytes[WORD_KEY_MAXIMUM];
    const size_t length = word_key(list->key->word, false, list->class, number, bytes);
    const struct slice key = slice_of((const char *)bytes, length);
    if (!list->own_block) {
        list->block = memory_alloc(sizeof(*list->block));
        list->own_block = true;
    }
    bool found = false;
    for (int i = 0; i < 2 && !found; i++) {
        const enum status status = seek_block(all->view, key, i > 0, why);
        if (status == STATUS_END) {
            break;
        }
        TRY(status);
        keep_block(all->view, list->block);
        found = find_run(list, list->block);
        while (found && list->number < number) {
            found = posting_next(&list->postings);
            list->number = list->postings.number;
            list->tagged = list->postings.tagged;
        }
    }
    list->number = found ? list->number : UINT64_MAX;
    if (list->number >= all->view->next) {
        next_stage(all, list);
    }
    return STATUS_OK;
}

static enum status
list_next(struct words_union *all, struct words_list *list, struct reason *why)
{
    if (list->stage == LIST_TREE) {
        if (!posting_next(&list->postings)) {
            if (list->bound == UINT64_MAX) {
                next_stage(all, list);
                return STATUS_OK;
            }
            return load_block(all, list, list->number + 1, why);
        }
        list->number = list->postings.number;
        list->tagged = list->postings.tagged;
        if (list->number >= all->view->next) {
            next_stage(all, list);
        }
    } else if (!next_code(list)) {
        next_stage(all, list);
    }
    return STATUS_OK;
}

static enum status
list_seek(struct words_union *all, struct words_list *list, uint64_t number, struct reason *why)
{
    if (list->stage == LIST_TREE && number > list->bound) {
        TRY(load_block(all, list, number, why));
    }
    while (list->number < number) {
        TRY(list_next(all, list, why));
    }
    return STATUS_OK;
}

static enum status
list_open(struct words_union *all, struct words_list *list, struct reason *why)
{
    list->stage = LIST_TREE;
    if (!(list->key->tree_classes >> list->class & 1)) {
        next_stage(all, list);
        return STATUS_OK;
    }
    list->block = list->key->block;
    if (!find_run(list, list->block)) {
        return load_block(all, list, 0, why);
    }
    if (list->number >= all->view->next) {
        next_stage(all, list);
    }
    return STATUS_OK;
}

/* ---- unions ---- */

void
words_union_init(struct words_union *all, struct words_view *view, struct arena *arena)
{
    *all = (struct words_union){.view = view, .arena = arena};
}

static void
list_free(struct words_list *list)
{
    if (list->own_block) {
        free(list->block);
    }
    free(list);
}

void
words_union_reset(struct words_union *all)
{
    for (size_t i = 0; i < all->count; i++) {
        list_free(all->heap[i]);
    }
    all->count = 0;
}

void
words_union_release(struct words_union *all)
{
    words_union_reset(all);
    free(all->heap);
}

static bool
is_before(const void *heap, size_t a, size_t b)
{
    const struct words_union *all = heap;
    return all->heap[a]->number < all->heap[b]->number;
}

static void
swap(void *heap, size_t a, size_t b)
{
    struct words_union *all = heap;
    struct words_list *list = all->heap[a];
    all->heap[a] = all->heap[b];
    all->heap[b] = list;
}

enum status
words_union_add(struct words_union *all, struct words_key *key, unsigned class, double score,
                struct reason *why)
{
    struct words_list *list = memory_new(sizeof(*list));
    list->key = key;
    list->class = class;
    list->score = score;
    const enum status status = list_open(all, list, why);
    if (status != STATUS_OK || list->stage == LIST_END) {
        list_free(list);
        return status;
    }
    all->heap = array_grow(all->heap, all->count, &all->capacity, sizeof(struct words_list *));
    all->heap[all->count] = list;
    heap_rise(all, all->count++, is_before, swap);
    return STATUS_OK;
}

/* The first list goes on to the number. */
static enum status
move_first(struct words_union *all, uint64_t number, struct reason *why)
{
    TRY(list_seek(all, all->heap[0], number, why));
    if (all->heap[0]->stage == LIST_END) {
        list_free(all->heap[0]);
        all->heap[0] = all->heap[--all->count];
    }
    heap_sink(all, all->count, 0, is_before, swap);
    return STATUS_OK;
}

enum status
words_union_seek(struct words_union *all, uint64_t number, const struct words_list **first,
                 struct reason *why)
{
    while (all->count > 0 && all->heap[0]->number < number) {
        TRY(move_first(all, number, why));
    }
    *first = all->count > 0 ? all->heap[0] : NULL;
    return STATUS_OK;
}

enum status
words_union_pass(struct words_union *all, const struct words_list **first, struct reason *why)
{
    TRY(move_first(all, all->heap[0]->number + 1, why));
    *first = all->count > 0 ? all->heap[0] : NULL;
    return STATUS_OK;
}
