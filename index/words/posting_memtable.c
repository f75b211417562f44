#include "index/words/posting_memtable.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/varint.h"

enum {
    BLOCK = 256 << 10,
    FIRST_SLOTS = 1 << 12,
    STARTS = 1 << 16, /* words by their first two bytes */
    FIRST_CHUNK = 16,
    CHUNK_MOST = 240
};

/* For each posting a varint (gap * 2, + 1 if it has a language) and the class + 1; where a class
 * would stand before it, a 0, like the end, says that the next chunk goes on. */
struct memory_chunk {
    struct memory_chunk *next;
    uint32_t size;
    uint8_t bytes[];
};

struct memtable_word {
    struct memtable_word *start; /* next with the same two bytes */
    struct memory_chunk *first, *last;
    uint64_t number; /* of the last posting */
    uint64_t classes;
    uint32_t literals;
    uint32_t times; /* in the literal under way */
    uint16_t used;  /* of the last chunk */
    uint8_t length;
    int8_t stem_language;
    struct memtable_word *stem;
    char text[];
};

struct block {
    struct block *next;
    max_align_t bytes[BLOCK / sizeof(max_align_t)];
};

struct slot {
    uint32_t hash;
    struct memtable_word *word;
};

struct posting_memtable {
    atomic_uint references;
    struct block *blocks;
    size_t block_used;
    size_t bytes;
    uint64_t literals, words;
    struct slot *slots;
    size_t slot_count, used;
    struct memtable_word **starts;
    struct memtable_word **counted; /* for the literal under way */
    size_t counted_count, counted_capacity;
};

struct posting_memtable *
posting_memtable_new(void)
{
    struct posting_memtable *memory = memory_new(sizeof(*memory));
    atomic_init(&memory->references, 1);
    memory->slot_count = FIRST_SLOTS;
    memory->slots = memory_zero(memory->slot_count, sizeof(*memory->slots));
    memory->starts = memory_zero(STARTS, sizeof(*memory->starts));
    memory->block_used = BLOCK;
    return memory;
}

struct posting_memtable *
posting_memtable_share(struct posting_memtable *memory)
{
    if (memory != NULL) {
        atomic_fetch_add(&memory->references, 1);
    }
    return memory;
}

void
posting_memtable_free(struct posting_memtable *memory)
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
posting_memtable_bytes(const struct posting_memtable *memory)
{
    return memory->bytes + memory->slot_count * sizeof(*memory->slots);
}

uint64_t
posting_memtable_literals(const struct posting_memtable *memory)
{
    return memory->literals;
}

uint64_t
posting_memtable_words(const struct posting_memtable *memory)
{
    return memory->words;
}

/* Never moves, zeroed. */
static void *
allocate(struct posting_memtable *memory, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if (memory->block_used + size > BLOCK) {
        struct block *block = memory_new(sizeof(*block));
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
text_of(const struct memtable_word *word)
{
    return slice_of(word->text, word->length);
}

/* The slot of the word, or the free one where it belongs. */
static struct slot *
find(const struct posting_memtable *memory, struct slice word, uint32_t hash)
{
    size_t at = hash & (memory->slot_count - 1);
    while (
        memory->slots[at].word != NULL &&
        (memory->slots[at].hash != hash || !slice_equal(text_of(memory->slots[at].word), word))) {
        at = (at + 1) & (memory->slot_count - 1);
    }
    return &memory->slots[at];
}

static void
grow(struct posting_memtable *memory)
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
posting_memtable_count_again(struct posting_memtable *memory, struct memtable_word *word)
{
    if (word->times++ > 0) {
        return;
    }
    if (word->last != NULL) {
        __builtin_prefetch(word->last->bytes + word->used, 1);
    }
    memory->counted = array_grow(memory->counted, memory->counted_count, &memory->counted_capacity,
                                 sizeof(struct memtable_word *));
    memory->counted[memory->counted_count++] = word;
}

uint32_t
posting_memtable_expect(const struct posting_memtable *memory, struct slice word)
{
    const uint32_t hash = hash_of(word);
    __builtin_prefetch(&memory->slots[hash & (memory->slot_count - 1)]);
    return hash;
}

void
posting_memtable_expect_word(const struct posting_memtable *memory, uint32_t hash)
{
    const struct memtable_word *word = memory->slots[hash & (memory->slot_count - 1)].word;
    if (word != NULL) {
        __builtin_prefetch(word, 1);
        __builtin_prefetch(word->text);
    }
}

struct memtable_word *
posting_memtable_count(struct posting_memtable *memory, struct slice word, uint32_t hash)
{
    struct slot *slot = find(memory, word, hash);
    if (slot->word == NULL) {
        struct memtable_word *entry = allocate(memory, sizeof(*entry) + word.length);
        entry->stem_language = -1;
        entry->length = (uint8_t)word.length;
        memcpy(entry->text, word.at, word.length);
        struct memtable_word **start = &memory->starts[start_of(word)];
        entry->start = *start;
        *start = entry;
        *slot = (struct slot){hash, entry};
        if (++memory->used > memory->slot_count / 2) {
            grow(memory);
        }
        posting_memtable_count_again(memory, entry);
        return entry;
    }
    posting_memtable_count_again(memory, slot->word);
    return slot->word;
}

struct memtable_word *
memtable_word_stem(const struct memtable_word *word, int language)
{
    return word->stem_language == language ? word->stem : NULL;
}

void
memtable_word_keep_stem(struct memtable_word *word, int language, struct memtable_word *stem)
{
    word->stem_language = (int8_t)language;
    word->stem = stem;
}

/* ---- postings ---- */

static void
add_chunk(struct posting_memtable *memory, struct memtable_word *word, uint32_t size)
{
    struct memory_chunk *chunk = allocate(memory, sizeof(*chunk) + size);
    chunk->size = size;
    if (word->last != NULL) {
        word->last->next = chunk;
    } else {
        word->first = chunk;
    }
    word->last = chunk;
    word->used = 0;
}

static void
add_posting(struct posting_memtable *memory, struct memtable_word *word, unsigned class,
            uint64_t number, bool tagged)
{
    const uint64_t code = (number - word->number) << 1 | tagged;
    const unsigned size = 1 + varint_size(code);
    if (word->last == NULL || word->used + size > word->last->size) {
        const uint32_t twice = word->last ? 2 * word->last->size : FIRST_CHUNK;
        add_chunk(memory, word, twice < CHUNK_MOST ? twice : CHUNK_MOST);
    }
    uint8_t *at = word->last->bytes + word->used;
    *at = (uint8_t)(1 + class);
    (void)varint_put(at + 1, code);
    word->used = (uint16_t)(word->used + size);
    word->number = number;
    word->classes |= UINT64_C(1) << class;
    word->literals++;
}

void
posting_memtable_counted(const struct posting_memtable *memory,
                         void (*visit)(void *context, struct slice word), void *context)
{
    for (size_t i = 0; i < memory->counted_count; i++) {
        visit(context, text_of(memory->counted[i]));
    }
}

void
posting_memtable_end_literal(struct posting_memtable *memory, uint64_t number, bool tagged,
                             uint64_t length)
{
    for (size_t i = 0; i < memory->counted_count; i++) {
        struct memtable_word *word = memory->counted[i];
        add_posting(memory, word, word_class(length, word->times), number, tagged);
        word->times = 0;
    }
    memory->counted_count = 0;
    memory->literals++;
    memory->words += length;
}

/* ---- looking up ---- */

static struct memory_head
head_of(const struct memtable_word *word)
{
    return (struct memory_head){text_of(word), word->literals, word->classes, word->first};
}

bool
posting_memtable_find(const struct posting_memtable *memory, struct slice word,
                      struct memory_head *head)
{
    const struct slot *slot = find(memory, word, hash_of(word));
    if (slot->word == NULL || slot->word->literals == 0) {
        return false;
    }
    *head = head_of(slot->word);
    return true;
}

void
posting_memtable_prefix(const struct posting_memtable *memory, struct slice prefix,
                        posting_memtable_visit *visit, void *context)
{
    const size_t first = start_of(prefix);
    const size_t count = prefix.length > 1 ? 1 : 256;
    for (size_t i = first; i < first + count; i++) {
        for (const struct memtable_word *word = memory->starts[i]; word != NULL;
             word = word->start) {
            const struct memory_head head = head_of(word);
            if (word->literals > 0 && slice_starts(head.word, prefix) && !visit(context, &head)) {
                return;
            }
        }
    }
}

struct chunk_reader {
    const struct memory_chunk *chunk;
    const uint8_t *at, *end;
    uint64_t number;
    bool tagged;
    unsigned class;
};

static void
chunk_reader_open(struct chunk_reader *reader, const struct memory_head *head)
{
    reader->chunk = head->postings;
    reader->at = reader->chunk->bytes;
    reader->end = reader->at + reader->chunk->size;
    reader->number = 0;
}

/* Not past the last posting. */
static void
chunk_reader_next(struct chunk_reader *reader)
{
    if (reader->at == reader->end || *reader->at == 0) {
        reader->chunk = reader->chunk->next;
        reader->at = reader->chunk->bytes;
        reader->end = reader->at + reader->chunk->size;
    }
    uint64_t code = 0;
    reader->class = *reader->at - 1U;
    reader->at = varint_get(reader->at + 1, reader->end, &code);
    reader->number += code >> 1;
    reader->tagged = code & 1;
}

static unsigned
place_of(uint64_t classes, unsigned class)
{
    return (unsigned)__builtin_popcountll(classes & ((UINT64_C(1) << class) - 1));
}

void
memory_postings_read(struct memory_postings *postings, const struct memory_head *head)
{
    struct chunk_reader reader;
    uint32_t next[WORD_CLASSES];
    const unsigned count = (unsigned)__builtin_popcountll(head->classes);
    postings->classes = head->classes;
    memset(postings->ends, 0, count * sizeof(postings->ends[0]));
    chunk_reader_open(&reader, head);
    for (uint64_t i = 0; i < head->literals; i++) {
        chunk_reader_next(&reader);
        postings->ends[place_of(head->classes, reader.class)]++;
    }
    for (unsigned i = 0, start = 0; i < count; i++) {
        next[i] = start;
        start += postings->ends[i];
        postings->ends[i] = start;
    }
    chunk_reader_open(&reader, head);
    for (uint64_t i = 0; i < head->literals; i++) {
        chunk_reader_next(&reader);
        postings->codes[next[place_of(head->classes, reader.class)]++] =
            reader.number << 1 | reader.tagged;
    }
}

const uint64_t *
memory_postings_of(const struct memory_postings *postings, unsigned class, size_t *count)
{
    const unsigned place = place_of(postings->classes, class);
    const uint32_t start = place > 0 ? postings->ends[place - 1] : 0;
    *count = postings->ends[place] - start;
    return postings->codes + start;
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
posting_memtable_sorted(const struct posting_memtable *memory, size_t *count)
{
    struct memory_head *heads = memory_alloc(memory->used * sizeof(*heads));
    size_t n = 0;
    /* Where they start puts them in order already, but for what comes after two bytes. */
    for (size_t i = 0; i < STARTS; i++) {
        const size_t first = n;
        for (const struct memtable_word *word = memory->starts[i]; word != NULL;
             word = word->start) {
            heads[n++] = head_of(word);
        }
        qsort(heads + first, n - first, sizeof(*heads), compare_heads);
    }
    *count = n;
    return heads;
}
