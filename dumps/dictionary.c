/* A packed term: a number, then
 *   0       the term as in N-Triples, after its length in four bytes
 *   n       an IRI: entry n, which is all of a predicate, and the beginning of others; the rest
 *           follows after its length
 * Looking up takes no lock: entries never change, and appear in both tables when they are whole. */
#include "dumps/dictionary.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "dumps/closure.h"
#include "rdf/writer.h"

enum { ENTRIES = 1 << 16, PLACES = 4 * ENTRIES, TEXT_MAXIMUM = 250, VARINT_SIZE = 10 };

struct entry {
    uint64_t hash;
    uint32_t number;
    uint8_t length;
    char text[];
};

struct dictionary {
    pthread_mutex_t lock; /* of adding */
    uint32_t count;
    _Atomic(struct entry *) places[PLACES]; /* open addressing */
    _Atomic(struct entry *) entries[ENTRIES];
};

struct dictionary *
dictionary_new(void)
{
    struct dictionary *dictionary = memory_zero(1, sizeof *dictionary);
    pthread_mutex_init(&dictionary->lock, NULL);
    return dictionary;
}

void
dictionary_free(struct dictionary *dictionary)
{
    if (dictionary != NULL) {
        for (uint32_t i = 0; i < dictionary->count; i++) {
            free(atomic_load(&dictionary->entries[i]));
        }
        pthread_mutex_destroy(&dictionary->lock);
        free(dictionary);
    }
}

/* ---- numbers ---- */

/* The place of the text, or a free one. There are always free ones. */
static uint32_t
place_of(const struct dictionary *dictionary, uint64_t hash, struct slice text)
{
    for (uint32_t at = (uint32_t)hash % PLACES;; at = (at + 1) % PLACES) {
        const struct entry *entry =
            atomic_load_explicit(&dictionary->places[at], memory_order_acquire);
        if (entry == NULL || (entry->hash == hash && entry->length == text.length &&
                              memcmp(entry->text, text.at, text.length) == 0)) {
            return at;
        }
    }
}

static uint32_t
add(struct dictionary *dictionary, uint64_t hash, struct slice text)
{
    uint32_t number = 0;
    pthread_mutex_lock(&dictionary->lock);
    const uint32_t at = place_of(dictionary, hash, text);
    const struct entry *there = atomic_load(&dictionary->places[at]);
    if (there != NULL) {
        number = there->number;
    } else if (dictionary->count < ENTRIES) {
        struct entry *entry = memory_zero(1, sizeof *entry + text.length + DICTIONARY_SLACK);
        number = ++dictionary->count;
        entry->hash = hash;
        entry->number = number;
        entry->length = (uint8_t)text.length;
        memcpy(entry->text, text.at, text.length);
        atomic_store_explicit(&dictionary->entries[number - 1], entry, memory_order_release);
        atomic_store_explicit(&dictionary->places[at], entry, memory_order_release);
    }
    pthread_mutex_unlock(&dictionary->lock);
    return number;
}

/* 0: it has none, and gets none any more. */
static uint32_t
number_of(struct dictionary *dictionary, struct slice text)
{
    if (text.length > TEXT_MAXIMUM) {
        return 0;
    }
    const uint64_t hash = XXH3_64bits(text.at, text.length);
    const struct entry *entry = atomic_load_explicit(
        &dictionary->places[place_of(dictionary, hash, text)], memory_order_acquire);
    return entry != NULL ? entry->number : add(dictionary, hash, text);
}

/* ---- packing ---- */

static char *
put_number(char *at, uint64_t value)
{
    for (; value > 0x7f; value >>= 7) {
        *at++ = (char)((value & 0x7f) | 0x80);
    }
    *at++ = (char)value;
    return at;
}

/* Length of what comes before the local name. */
static size_t
beginning_of(struct slice iri)
{
    size_t length = iri.length;
    while (length > 0 && iri.at[length - 1] != '/' && iri.at[length - 1] != '#') {
        length--;
    }
    return length;
}

static bool
pack_iri(struct dictionary *dictionary, struct slice iri, bool whole, struct buf *packed)
{
    const size_t length = whole ? iri.length : beginning_of(iri);
    const uint32_t number = number_of(dictionary, slice_of(iri.at, length));
    char *start = buf_reserve(packed, iri.length + (size_t)2 * VARINT_SIZE), *at = start;
    if (start == NULL) {
        return false;
    }
    at = put_number(at, number);
    if (number == 0) {
        const uint32_t size = (uint32_t)iri.length + 2;
        memcpy(at, &size, sizeof size);
        at += sizeof size;
        *at++ = '<';
        memcpy(at, iri.at, iri.length);
        at += iri.length;
        *at++ = '>';
    } else if (!whole) {
        at = put_number(at, iri.length - length);
        memcpy(at, iri.at + length, iri.length - length);
        at += iri.length - length;
    }
    buf_commit(packed, (size_t)(at - start));
    return true;
}

static bool
pack_term(struct dictionary *dictionary, const struct term *term, struct buf *packed)
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
dictionary_pack(struct dictionary *dictionary, const struct quad *triple, struct buf *packed)
{
    return pack_term(dictionary, &triple->subject, packed) &&
           pack_iri(dictionary, triple->predicate.value, true, packed) &&
           pack_term(dictionary, &triple->object, packed);
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
                     struct buf *packed)
{
    return pack_token(dictionary, line->subject, false, packed) &&
           pack_token(dictionary, line->predicate, true, packed) &&
           pack_token(dictionary, line->object, false, packed);
}

/* ---- unpacking ---- */

struct unpacking {
    const char *at, *end;
    char *to;
};

static bool
get_number(struct unpacking *unpacking, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && unpacking->at < unpacking->end; shift += 7) {
        const uint8_t byte = (uint8_t)*unpacking->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return true;
        }
    }
    return false;
}

/* By whole pieces, since most are short: what is too much is overwritten. */
static inline char *
copy(char *to, const char *from, size_t length)
{
    memcpy(to, from, DICTIONARY_SLACK);
    if (length > DICTIONARY_SLACK) {
        memcpy(to + DICTIONARY_SLACK, from + DICTIONARY_SLACK, length - DICTIONARY_SLACK);
    }
    return to + length;
}

static bool
get_text(struct unpacking *unpacking, size_t length)
{
    if (length > (size_t)(unpacking->end - unpacking->at)) {
        return false;
    }
    unpacking->to = copy(unpacking->to, unpacking->at, length);
    unpacking->at += length;
    return true;
}

static bool
unpack_term(const struct dictionary *dictionary, struct unpacking *unpacking, bool whole)
{
    uint64_t number, length = 0;
    if (!get_number(unpacking, &number) || number > ENTRIES) {
        return false;
    }
    if (number == 0) {
        uint32_t size;
        if ((size_t)(unpacking->end - unpacking->at) < sizeof size) {
            return false;
        }
        memcpy(&size, unpacking->at, sizeof size);
        unpacking->at += sizeof size;
        return get_text(unpacking, size);
    }
    const struct entry *entry =
        atomic_load_explicit(&dictionary->entries[number - 1], memory_order_acquire);
    if (entry == NULL || (!whole && !get_number(unpacking, &length))) {
        return false;
    }
    *unpacking->to++ = '<';
    unpacking->to = copy(unpacking->to, entry->text, entry->length);
    if (!get_text(unpacking, length)) {
        return false;
    }
    *unpacking->to++ = '>';
    return true;
}

bool
dictionary_unpack(const struct dictionary *dictionary, struct slice packed, struct buf *lines,
                  struct unpacked *unpacked)
{
    char *start =
        buf_reserve(lines, packed.length + (size_t)3 * (TEXT_MAXIMUM + 3) + DICTIONARY_SLACK);
    struct unpacking unpacking = {packed.at, packed.at + packed.length, start};
    if (start == NULL || !unpack_term(dictionary, &unpacking, false)) {
        return false;
    }
    unpacked->subject = (size_t)(unpacking.to - start);
    *unpacking.to++ = ' ';
    if (!unpack_term(dictionary, &unpacking, true)) {
        return false;
    }
    *unpacking.to++ = ' ';
    const char *object = unpacking.to;
    if (!unpack_term(dictionary, &unpacking, false) || unpacking.at != unpacking.end) {
        return false;
    }
    unpacked->object = (size_t)(unpacking.to - object);
    memcpy(unpacking.to, " .\n", 3);
    unpacking.to += 3;
    unpacked->line = (size_t)(unpacking.to - start);
    buf_commit(lines, unpacked->line);
    return true;
}
