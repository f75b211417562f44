#include "index/word_memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/varint.h"

enum {
    BLOCK = 256 << 10,
    FIRST_SLOTS = 1 << 12,
    STARTS = 1 << 16, /* words by their first two bytes */
    FIRST_CHUNK = 8,
    CHUNK_MOST = 240
};

/* Codes of gaps, one after the other; a code is never 0, so a 0 where one would begin, like the
 * end, says that the next chunk goes on. */
struct memory_chunk {
    struct memory_chunk *next;
    uint32_t size;
    uint8_t bytes[];
};

struct memory_list {
    struct memory_list *next; /* of a greater class */
    struct memory_chunk *first, *last;
    uint64_t number; /* the last one */
    uint32_t count;
    uint16_t used; /* of the last chunk */
    uint8_t class;
};

struct memory_word {
    struct memory_word *start; /* next with the same two bytes */
    struct memory_list *lists;
    struct memory_word *stem;
    uint64_t classes;
    uint32_t literals;
    uint32_t times; /* in the literal under way */
    uint32_t hash;
    int8_t stem_language;
    uint8_t length;
    char text[];
};

struct block {
    struct block *next;
    max_align_t bytes[BLOCK / sizeof(max_align_t)];
};

struct slot {
    uint32_t hash;
    struct memory_word *word;
};

struct word_memory {
    atomic_uint references;
    struct block *blocks;
    size_t block_used;
    size_t bytes;
    uint64_t literals, words;
    struct slot *slots;
    size_t slot_count, used;
    struct memory_word **starts;
    struct memory_word **counted; /* for the literal under way */
    size_t counted_count, counted_capacity;
};

struct word_memory *
word_memory_new(void)
{
    struct word_memory *memory = memory_zero(1, sizeof(*memory));
    atomic_init(&memory->references, 1);
    memory->slot_count = FIRST_SLOTS;
    memory->slots = memory_zero(memory->slot_count, sizeof(*memory->slots));
    memory->starts = memory_zero(STARTS, sizeof(*memory->starts));
    memory->block_used = BLOCK;
    return memory;
}

struct word_memory *
word_memory_share(struct word_memory *memory)
{
    if (memory != NULL) {
        atomic_fetch_add(&memory->references, 1);
    }
    return memory;
}

void
word_memory_free(struct word_memory *memory)
{
    if (memory == NULL || atomic_fetch_sub(&memory->references, 1) > 1) {
        return;
    }
    while (memory->blocks != NULL) {
        struct block *next = memory->blocks->next;
        free(memory->blocks);
        memory->blocks = next;
    }
    free(memory->slots);
    free(memory->starts);
    free(memory->counted);
    free(memory);
}

size_t
word_memory_bytes(const struct word_memory *memory)
{
    return memory->bytes + memory->slot_count * sizeof(*memory->slots);
}

uint64_t
word_memory_literals(const struct word_memory *memory)
{
    return memory->literals;
}

uint64_t
word_memory_words(const struct word_memory *memory)
{
    return memory->words;
}

/* Never moves, zeroed. */
static void *
allocate(struct word_memory *memory, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if (memory->block_used + size > BLOCK) {
        struct block *block = memory_zero(1, sizeof(*block));
        block->next = memory->blocks;
        memory->blocks = block;
        memory->block_used = 0;
        memory->bytes += sizeof(*block);
    }
    void *at = (char *)memory->blocks->bytes + memory->block_used;
    memory->block_used += size;
    return at;
}

/* ---- words ---- */

static uint32_t
hash_of(struct slice word)
{
    uint64_t hash = word.length * 0x9e3779b97f4a7c15;
    size_t at = 0;
    for (; at + 8 <= word.length; at += 8) {
        uint64_t part;
        memcpy(&part, word.at + at, 8);
        hash = (hash ^ part) * 0xff51afd7ed558ccd;
        hash ^= hash >> 32;
    }
    uint64_t part = 0;
    memcpy(&part, word.at + at, word.length - at);
    hash = (hash ^ part) * 0xc4ceb9fe1a85ec53;
    return (uint32_t)(hash ^ hash >> 29 ^ hash >> 43);
}

static size_t
start_of(struct slice word)
{
    return (size_t)(uint8_t)word.at[0] << 8 | (word.length > 1 ? (uint8_t)word.at[1] : 0);
}

static struct slice
text_of(const struct memory_word *word)
{
    return slice_of(word->text, word->length);
}

/* The slot of the word, or the free one where it belongs. */
static struct slot *
find(const struct word_memory *memory, struct slice word, uint32_t hash)
{
    size_t at = hash & (memory->slot_count - 1);
    while (memory->slots[at].word != NULL && (memory->slots[at].hash != hash ||
                                              !slice_equal(text_of(memory->slots[at].word), word))) {
        at = (at + 1) & (memory->slot_count - 1);
    }
    return &memory->slots[at];
}

static void
grow(struct word_memory *memory)
{
    struct slot *old = memory->slots;
    const size_t old_count = memory->slot_count;
    memory->slot_count *= 2;
    memory->slots = memory_zero(memory->slot_count, sizeof(*memory->slots));
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].word != NULL) {
            size_t at = old[i].hash & (memory->slot_count - 1);
            while (memory->slots[at].word != NULL) {
                at = (at + 1) & (memory->slot_count - 1);
            }
            memory->slots[at] = old[i];
        }
    }
    free(old);
}

void
word_memory_count_again(struct word_memory *memory, struct memory_word *word)
{
    if (word->times++ > 0) {
        return;
    }
    if (memory->counted_count == memory->counted_capacity) {
        memory->counted_capacity = memory->counted_capacity ? 2 * memory->counted_capacity : 256;
        memory->counted = memory_resize(memory->counted, memory->counted_capacity,
                                        sizeof(struct memory_word *));
    }
    memory->counted[memory->counted_count++] = word;
}

struct memory_word *
word_memory_count(struct word_memory *memory, struct slice word)
{
    const uint32_t hash = hash_of(word);
    struct slot *slot = find(memory, word, hash);
    if (slot->word == NULL) {
        struct memory_word *entry = allocate(memory, sizeof(*entry) + word.length);
        entry->hash = hash;
        entry->stem_language = -1;
        entry->length = (uint8_t)word.length;
        memcpy(entry->text, word.at, word.length);
        struct memory_word **start = &memory->starts[start_of(word)];
        entry->start = *start;
        *start = entry;
        *slot = (struct slot){hash, entry};
        if (++memory->used > memory->slot_count / 2) {
            grow(memory);
        }
        word_memory_count_again(memory, entry);
        return entry;
    }
    word_memory_count_again(memory, slot->word);
    return slot->word;
}

struct memory_word *
memory_word_stem(const struct memory_word *word, int language)
{
    return word->stem_language == language ? word->stem : NULL;
}

void
memory_word_keep_stem(struct memory_word *word, int language, struct memory_word *stem)
{
    word->stem_language = (int8_t)language;
    word->stem = stem;
}

/* ---- postings ---- */

static struct memory_chunk *
new_chunk(struct word_memory *memory, uint32_t size)
{
    struct memory_chunk *chunk = allocate(memory, sizeof(*chunk) + size);
    chunk->size = size;
    return chunk;
}

static struct memory_list *
list_of(struct word_memory *memory, struct memory_word *word, unsigned class)
{
    struct memory_list **link = &word->lists;
    while (*link != NULL && (*link)->class < class) {
        link = &(*link)->next;
    }
    if (*link == NULL || (*link)->class != class) {
        struct memory_list *list = allocate(memory, sizeof(*list));
        list->class = (uint8_t)class;
        list->first = list->last = new_chunk(memory, FIRST_CHUNK);
        list->next = *link;
        *link = list;
        word->classes |= (uint64_t)1 << class;
    }
    return *link;
}

static void
add_posting(struct word_memory *memory, struct memory_list *list, uint64_t number, bool tagged)
{
    const uint64_t code = (number - list->number) << 1 | tagged;
    const unsigned size = varint_size(code);
    if (list->used + size > list->last->size) {
        const uint32_t twice = 2 * list->last->size;
        list->last->next = new_chunk(memory, twice < CHUNK_MOST ? twice : CHUNK_MOST);
        list->last = list->last->next;
        list->used = 0;
    }
    (void)varint_put(list->last->bytes + list->used, code);
    list->used = (uint16_t)(list->used + size);
    list->number = number;
    list->count++;
}

void
word_memory_end_literal(struct word_memory *memory, uint64_t number, bool tagged, uint64_t length)
{
    for (size_t i = 0; i < memory->counted_count; i++) {
        struct memory_word *word = memory->counted[i];
        add_posting(memory, list_of(memory, word, word_class(length, word->times)), number, tagged);
        word->literals++;
        word->times = 0;
    }
    memory->counted_count = 0;
    memory->literals++;
    memory->words += length;
}

/* ---- looking up ---- */

static struct memory_head
head_of(const struct memory_word *word)
{
    return (struct memory_head){text_of(word), word->literals, word->classes, word};
}

bool
word_memory_find(const struct word_memory *memory, struct slice word, struct memory_head *head)
{
    const struct slot *slot = find(memory, word, hash_of(word));
    if (slot->word == NULL) {
        return false;
    }
    *head = head_of(slot->word);
    return true;
}

void
word_memory_prefix(const struct word_memory *memory, struct slice prefix, word_memory_visit *visit,
                   void *context)
{
    const size_t first = start_of(prefix);
    const size_t count = prefix.length > 1 ? 1 : 256;
    for (size_t i = first; i < first + count; i++) {
        for (const struct memory_word *word = memory->starts[i]; word != NULL; word = word->start) {
            const struct memory_head head = head_of(word);
            if (slice_starts(head.word, prefix) && !visit(context, &head)) {
                return;
            }
        }
    }
}

void
memory_postings_open(struct memory_postings *postings, const struct memory_word *word,
                     unsigned class)
{
    const struct memory_list *list = word->lists;
    while (list != NULL && list->class < class) {
        list = list->next;
    }
    *postings = (struct memory_postings){0};
    if (list != NULL && list->class == class) {
        postings->chunk = list->first;
        postings->at = list->first->bytes;
        postings->end = postings->at + list->first->size;
        postings->left = list->count;
    }
}

bool
memory_postings_next(struct memory_postings *postings)
{
    if (postings->left == 0) {
        return false;
    }
    if (postings->at == postings->end || *postings->at == 0) {
        postings->chunk = postings->chunk->next;
        postings->at = postings->chunk->bytes;
        postings->end = postings->at + postings->chunk->size;
    }
    uint64_t code;
    postings->at = varint_get(postings->at, postings->end, &code);
    postings->number += code >> 1;
    postings->tagged = code & 1;
    postings->left--;
    return true;
}

/* ---- writing out ---- */

static int
compare_heads(const void *a, const void *b)
{
    const struct memory_head *left = a;
    const struct memory_head *right = b;
    return slice_compare(left->word, right->word);
}

struct memory_head *
word_memory_sorted(const struct word_memory *memory, size_t *count)
{
    struct memory_head *heads = memory_alloc((memory->used + 1) * sizeof(*heads));
    size_t n = 0;
    /* Where they start puts them in order already, but for what comes after two bytes. */
    for (size_t i = 0; i < STARTS; i++) {
        const size_t first = n;
        for (const struct memory_word *word = memory->starts[i]; word != NULL; word = word->start) {
            heads[n++] = head_of(word);
        }
        qsort(heads + first, n - first, sizeof(*heads), compare_heads);
    }
    *count = n;
    return heads;
}
