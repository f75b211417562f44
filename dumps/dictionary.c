/* A packed term: a number, then
 *   0       the term as in N-Triples, after its length in four bytes
 *   n       an IRI: entry n, which is all of a predicate, and the beginning of others; the rest
 *           follows after its length
 * An entry's number is its place in memory, so that unpacking looks at nothing else. Looking up
 * takes no lock: entries do not change, and appear in the table when they are whole. */
#include "dumps/dictionary.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/varint.h"
#include "dumps/closure.h"
#include "rdf/core/writer.h"

enum {
    ENTRIES = 1 << 15,
    FOR_PREDICATES = ENTRIES / 8, /* kept for them: they come first, but for few */
    PLACES = 2 * ENTRIES,
    TEXT_MAXIMUM = 240,
    VARINT_SIZE = 10,
    ALIGNMENT = 8,
    ENTRY_MAXIMUM = 256 + ALIGNMENT,
    ROOM = ENTRIES * 128 /* less than all entries could take, more than they do */
};

struct entry {
    uint32_t rank;
    _Atomic bool predicate;
    bool late;      /* not for beginnings: some may have been written out already */
    uint8_t length; /* of the text in between brackets */
    char text[];
};

struct dictionary {
    pthread_mutex_t lock; /* of adding */
    _Atomic bool full, full_of_beginnings;
    uint32_t count, used;
    char *room; /* entries */
    /* Open addressing: the hash's upper half, and the entry's number. */
    _Atomic uint64_t places[PLACES];
};

struct dictionary *
dictionary_new(void)
{
    struct dictionary *dictionary = memory_new(sizeof *dictionary);
    pthread_mutex_init(&dictionary->lock, NULL);
    dictionary->room = memory_alloc(ROOM + ENTRY_MAXIMUM + DICTIONARY_SLACK);
    dictionary->used = ALIGNMENT;
    return dictionary;
}

void
dictionary_free(struct dictionary *dictionary)
{
    if (dictionary != NULL) {
        pthread_mutex_destroy(&dictionary->lock);
        free(dictionary->room);
        free(dictionary);
    }
}

/* ---- numbers ---- */

static struct entry *
entry_at(const struct dictionary *dictionary, uint64_t number)
{
    return (struct entry *)(void *)(dictionary->room + number * ALIGNMENT);
}

static uint32_t
entry_size(const struct entry *entry)
{
    const size_t size = offsetof(struct entry, text) + entry->length + 2;
    return (uint32_t)((size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

/* The number of the text; 0: it has none, and *at is a free place. There are always some. */
static uint32_t
find(const struct dictionary *dictionary, uint64_t hash, struct slice text, uint32_t *at)
{
    for (*at = (uint32_t)hash % PLACES;; *at = (*at + 1) % PLACES) {
        const uint64_t place = atomic_load_explicit(&dictionary->places[*at], memory_order_acquire);
        if (place == 0) {
            return 0;
        }
        if (place >> 32 == hash >> 32) {
            const struct entry *entry = entry_at(dictionary, (uint32_t)place);
            if (entry->length == text.length &&
                memcmp(entry->text + 1, text.at, text.length) == 0) {
                return (uint32_t)place;
            }
        }
    }
}

static bool
is_full(const struct dictionary *dictionary, bool predicate)
{
    return atomic_load(predicate ? &dictionary->full : &dictionary->full_of_beginnings);
}

static uint32_t
add(struct dictionary *dictionary, uint64_t hash, struct slice text, bool predicate)
{
    uint32_t at;
    pthread_mutex_lock(&dictionary->lock);
    uint32_t number = find(dictionary, hash, text, &at);
    if (number == 0 && !is_full(dictionary, predicate)) {
        number = dictionary->used / ALIGNMENT;
        struct entry *entry = entry_at(dictionary, number);
        *entry =
            (struct entry){.late = dictionary->full_of_beginnings, .length = (uint8_t)text.length};
        entry->text[0] = '<';
        memcpy(entry->text + 1, text.at, text.length);
        entry->text[text.length + 1] = '>';
        dictionary->used += entry_size(entry);
        dictionary->full = ++dictionary->count == ENTRIES || dictionary->used >= ROOM;
        dictionary->full_of_beginnings = dictionary->count >= ENTRIES - FOR_PREDICATES ||
                                         dictionary->used >= ROOM - ENTRY_MAXIMUM * FOR_PREDICATES;
        atomic_store_explicit(&dictionary->places[at], hash >> 32 << 32 | number,
                              memory_order_release);
    }
    pthread_mutex_unlock(&dictionary->lock);
    return number;
}

/* 0: it has none, and gets none any more. */
static uint32_t
number_of(struct dictionary *dictionary, struct slice text, bool predicate)
{
    uint32_t at;
    if (text.length > TEXT_MAXIMUM) {
        return 0;
    }
    const uint64_t hash = XXH3_64bits(text.at, text.length);
    uint32_t number = find(dictionary, hash, text, &at);
    if (number == 0 && !is_full(dictionary, predicate)) {
        number = add(dictionary, hash, text, predicate);
    }
    return number != 0 && !predicate && entry_at(dictionary, number)->late ? 0 : number;
}

/* ---- packing ---- */

/* Length of what many IRIs have in common with this one. Not up to "#": where a resource is called
 * "#it", that would be all of its document. */
static size_t
beginning_of(struct slice iri)
{
    const char *last = memrchr(iri.at, '/', iri.length);
    last = last != NULL ? last : memrchr(iri.at, ':', iri.length);
    return last != NULL ? (size_t)(last + 1 - iri.at) : 0;
}

static bool
pack_iri(struct dictionary *dictionary, struct slice iri, bool whole, struct buf *packed)
{
    const size_t length = whole ? iri.length : beginning_of(iri);
    const uint32_t number = number_of(dictionary, slice_of(iri.at, length), whole);
    char *start = buf_reserve(packed, iri.length + (size_t)2 * VARINT_SIZE), *at = start;
    if (start == NULL) {
        return false;
    }
    at = (char *)varint_put((uint8_t *)at, number);
    if (number == 0) {
        const uint32_t size = (uint32_t)iri.length + 2;
        memcpy(at, &size, sizeof size);
        at += sizeof size;
        *at++ = '<';
        memcpy(at, iri.at, iri.length);
        at += iri.length;
        *at++ = '>';
    } else if (!whole) {
        at = (char *)varint_put((uint8_t *)at, iri.length - length);
        memcpy(at, iri.at + length, iri.length - length);
        at += iri.length - length;
    } else if (!atomic_load_explicit(&entry_at(dictionary, number)->predicate,
                                     memory_order_relaxed)) {
        atomic_store(&entry_at(dictionary, number)->predicate, true);
    }
    buf_commit(packed, (size_t)(at - start));
    return true;
}

bool
dictionary_pack_term(struct dictionary *dictionary, const struct term *term, struct buf *packed)
{
    if (term->kind == TERM_IRI) {
        return pack_iri(dictionary, term->value, false, packed);
    }
    uint32_t size = 0;
    const size_t start = packed->length;
    buf_append_char(packed, 0);
    buf_append(packed, &size, sizeof size);
    if (packed->overflowed || nquads_write_term(packed, term) != STATUS_OK) {
        return false;
    }
    size = (uint32_t)(packed->length - start - 1 - sizeof size);
    memcpy(packed->data + start + 1, &size, sizeof size);
    return true;
}

bool
dictionary_pack_predicate(struct dictionary *dictionary, struct slice iri, struct buf *packed)
{
    return pack_iri(dictionary, iri, true, packed);
}

static bool
pack_token(struct dictionary *dictionary, struct slice token, bool whole, struct buf *packed)
{
    if (token.at[0] == '<') {
        return pack_iri(dictionary, slice_of(token.at + 1, token.length - 2), whole, packed);
    }
    const uint32_t size = (uint32_t)token.length;
    buf_append_char(packed, 0);
    buf_append(packed, &size, sizeof size);
    return buf_append_slice(packed, token) == STATUS_OK && !packed->overflowed;
}

bool
dictionary_pack_line(struct dictionary *dictionary, const struct triple_line *line,
                     struct buf *subject, struct buf *rest)
{
    return pack_token(dictionary, line->subject, false, subject) &&
           pack_token(dictionary, line->predicate, true, rest) &&
           pack_token(dictionary, line->object, false, rest);
}

/* ---- unpacking ---- */

static bool
get_number(struct slice *packed, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && packed->length > 0; shift += 7) {
        const uint8_t byte = (uint8_t)*packed->at++;
        packed->length--;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return true;
        }
    }
    return false;
}

static bool
get_bytes(struct slice *packed, uint64_t length, struct slice *bytes)
{
    if (length > packed->length) {
        return false;
    }
    *bytes = slice_of(packed->at, (size_t)length);
    *packed = slice_of(packed->at + length, packed->length - (size_t)length);
    return true;
}

/* *entry NULL: the term follows, as it is written. */
static bool
get_entry(const struct dictionary *dictionary, struct slice *packed, const struct entry **entry,
          struct slice *written)
{
    uint64_t number;
    uint32_t size;
    struct slice bytes;
    *entry = NULL;
    if (!get_number(packed, &number) || number >= dictionary->used / ALIGNMENT) {
        return false;
    }
    if (number == 0) {
        if (!get_bytes(packed, sizeof size, &bytes)) {
            return false;
        }
        memcpy(&size, bytes.at, sizeof size);
        return get_bytes(packed, size, written);
    }
    *entry = entry_at(dictionary, number);
    return true;
}

void
dictionary_expect(const struct dictionary *dictionary, const char *packed)
{
    struct slice start = slice_of(packed, 3);
    uint64_t number;
    if (get_number(&start, &number)) {
        __builtin_prefetch(entry_at(dictionary, number));
    }
}

bool
dictionary_unpack_term(const struct dictionary *dictionary, struct slice *packed, struct buf *text,
                       struct slice *term)
{
    const struct entry *entry;
    struct slice local;
    uint64_t length;
    if (!get_entry(dictionary, packed, &entry, term)) {
        return false;
    }
    if (entry == NULL) {
        return true;
    }
    if (!get_number(packed, &length) || !get_bytes(packed, length, &local)) {
        return false;
    }
    char *start = buf_reserve(text, TEXT_MAXIMUM + 2 + local.length + DICTIONARY_SLACK);
    if (start == NULL) {
        return false;
    }
    char *at = dictionary_copy(start, entry->text, (size_t)entry->length + 1);
    at = dictionary_copy(at, local.at, local.length);
    *at++ = '>';
    *term = slice_of(NULL, (size_t)(at - start));
    buf_commit(text, term->length);
    return true;
}

bool
dictionary_unpack_predicate(const struct dictionary *dictionary, struct slice *packed,
                            struct unpacked_predicate *predicate)
{
    const struct entry *entry;
    predicate->rank = 0;
    if (!get_entry(dictionary, packed, &entry, &predicate->token)) {
        return false;
    }
    if (entry != NULL) {
        predicate->token = slice_of(entry->text, (size_t)entry->length + 2);
        predicate->rank = entry->rank;
    }
    return true;
}

static bool
append_term(const struct dictionary *dictionary, struct slice *packed, struct buf *line)
{
    struct slice term;
    return dictionary_unpack_term(dictionary, packed, line, &term) &&
           (term.at == NULL || buf_append_slice(line, term) == STATUS_OK) &&
           buf_append_char(line, ' ') == STATUS_OK;
}

bool
dictionary_unpack_line(const struct dictionary *dictionary, struct slice packed, struct buf *lines,
                       size_t *length)
{
    const size_t from = lines->length;
    struct unpacked_predicate predicate;
    if (!append_term(dictionary, &packed, lines) ||
        !dictionary_unpack_predicate(dictionary, &packed, &predicate)) {
        return false;
    }
    buf_append_slice(lines, predicate.token);
    buf_append_char(lines, ' ');
    if (!append_term(dictionary, &packed, lines) || packed.length > 0 ||
        buf_append_string(lines, ".\n") != STATUS_OK) {
        return false;
    }
    *length = lines->length - from;
    return true;
}

/* ---- ranks ---- */

static int
compare_entries(const void *a, const void *b)
{
    const struct entry *left = *(const struct entry *const *)a;
    const struct entry *right = *(const struct entry *const *)b;
    return slice_compare(slice_of(left->text, (size_t)left->length + 2),
                         slice_of(right->text, (size_t)right->length + 2));
}

void
dictionary_rank(struct dictionary *dictionary)
{
    struct entry **predicates = memory_alloc((dictionary->count + 1) * sizeof(struct entry *));
    uint32_t count = 0;
    for (uint32_t at = ALIGNMENT; at < dictionary->used;) {
        struct entry *entry = entry_at(dictionary, at / ALIGNMENT);
        if (entry->predicate) {
            predicates[count++] = entry;
        }
        at += entry_size(entry);
    }
    qsort(predicates, count, sizeof *predicates, compare_entries);
    for (uint32_t i = 0; i < count; i++) {
        predicates[i]->rank = i + 1;
    }
    free(predicates);
}
