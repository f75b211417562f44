#include "rdf/sketch.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"

enum { WORDS = 4, TERMS = 3 };
static const uint64_t SEED = 0x9e3779b97f4a7c15u, PRIME = 0xff51afd7ed558ccdu;

/* ---- hashing ---- */

static uint64_t
mix(uint64_t hash)
{
    hash ^= hash >> 33;
    hash *= PRIME;
    hash ^= hash >> 33;
    hash *= 0xc4ceb9fe1a85ec53u;
    return hash ^ (hash >> 33);
}

static uint64_t
hash_bytes(uint64_t hash, const char *at, size_t length)
{
    uint64_t word;
    for (; length >= sizeof word; at += sizeof word, length -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = mix(hash ^ word);
    }
    word = 0;
    memcpy(&word, at, length);
    return mix(hash ^ word ^ ((uint64_t)length << 56));
}

static void
add_shingle(struct sketch *sketch, uint64_t hash)
{
    const uint32_t value =
        (uint32_t)(hash >> 32) & 0x7fffffff; /* the top bit marks borrowed ones */
    uint32_t *place = &sketch->places[hash % SKETCH_PLACES];
    *place = value < *place ? value : *place;
}

/* ---- lines ---- */

/* The term at the beginning of *rest, with what belongs to a literal; at blanks it ends. */
static struct slice
next_term(struct slice *rest)
{
    size_t n = 0;
    while (rest->length > 0 && rest->at[0] == ' ') {
        *rest = slice_of(rest->at + 1, rest->length - 1);
    }
    if (rest->length > 0 && rest->at[0] == '"') {
        for (n = 1; n < rest->length && rest->at[n] != '"'; n++) {
            n += rest->at[n] == '\\' && n + 1 < rest->length;
        }
    }
    while (n < rest->length && rest->at[n] != ' ') {
        n++;
    }
    const struct slice term = slice_of(rest->at, n);
    *rest = slice_of(rest->at + n, rest->length - n);
    return term;
}

static uint64_t
hash_term(uint64_t hash, struct slice term, struct slice document)
{
    if (term.length > 1 && term.at[0] == '_') {
        return mix(hash + 1);
    }
    if (term.length > document.length && term.at[0] == '<' &&
        memcmp(term.at + 1, document.at, document.length) == 0) {
        term = slice_of(term.at + 1 + document.length, term.length - 1 - document.length);
        hash = mix(hash + 2);
    }
    return hash_bytes(hash, term.at, term.length);
}

/* Each four words that follow each other. */
static void
add_words(struct sketch *sketch, struct slice text)
{
    uint64_t words[WORDS] = {0};
    size_t count = 0, start = 0;
    for (size_t i = 0; i <= text.length; i++) {
        const bool inside =
            i < text.length && ((unsigned char)text.at[i] >= 128 || ascii_is_letter(text.at[i]) ||
                                ascii_is_digit(text.at[i]));
        if (inside) {
            continue;
        }
        if (i > start) {
            words[count++ % WORDS] = hash_bytes(SEED, text.at + start, i - start);
        }
        if (i > start && count >= WORDS) {
            uint64_t hash = SEED;
            for (size_t k = 0; k < WORDS; k++) {
                hash = mix(hash ^ words[(count + k) % WORDS]);
            }
            add_shingle(sketch, hash);
        }
        start = i + 1;
    }
}

static bool
add_line(struct sketch *sketch, struct slice line, struct slice document)
{
    uint64_t hash = SEED;
    struct slice term = {0};
    for (int i = 0; i < TERMS; i++) {
        term = next_term(&line);
        if (term.length == 0) {
            return false;
        }
        hash = hash_term(hash, term, document);
    }
    add_shingle(sketch, hash);
    if (term.at[0] == '"') {
        add_words(sketch, term);
    }
    return true;
}

/* An empty place takes what the next one has that is not, changed so that the two stay apart. */
static void
fill(struct sketch *sketch)
{
    struct sketch full = *sketch;
    for (unsigned i = 0; i < SKETCH_PLACES; i++) {
        unsigned step = 0;
        while (step < SKETCH_PLACES && sketch->places[(i + step) % SKETCH_PLACES] == UINT32_MAX) {
            step++;
        }
        if (step > 0 && step < SKETCH_PLACES) {
            const uint64_t from = sketch->places[(i + step) % SKETCH_PLACES];
            full.places[i] = (uint32_t)mix(from + ((uint64_t)step << 40)) | 0x80000000u;
        }
    }
    *sketch = full;
}

bool
sketch_of(struct slice nquads, struct slice document, struct sketch *sketch)
{
    bool any = false;
    memset(sketch, 0xff, sizeof *sketch);
    while (nquads.length > 0) {
        const size_t end = slice_find(nquads, '\n');
        const size_t step = end < nquads.length ? end + 1 : end;
        any |= add_line(sketch, slice_of(nquads.at, end), document);
        nquads = slice_of(nquads.at + step, nquads.length - step);
    }
    fill(sketch);
    return any;
}

/* ---- comparing ---- */

unsigned
sketch_agreement(const struct sketch *a, const struct sketch *b)
{
    unsigned same = 0;
    for (int i = 0; i < SKETCH_PLACES; i++) {
        same += a->places[i] == b->places[i];
    }
    return same;
}

uint64_t
sketch_band(const struct sketch *sketch, unsigned band)
{
    enum { EACH = SKETCH_PLACES / SKETCH_BANDS };
    return hash_bytes(SEED + band, (const char *)&sketch->places[band * EACH],
                      EACH * sizeof sketch->places[0]);
}

void
sketch_write(const struct sketch *sketch, char text[SKETCH_TEXT])
{
    for (int i = 0; i < SKETCH_PLACES; i++) {
        snprintf(text + i * 8, 9, "%08x", sketch->places[i]);
    }
}

bool
sketch_read(struct slice text, struct sketch *sketch)
{
    static const char digits[] = "0123456789abcdef";
    if (text.length != SKETCH_TEXT - 1) {
        return false;
    }
    memset(sketch, 0, sizeof *sketch);
    for (size_t i = 0; i < text.length; i++) {
        const char *digit = memchr(digits, text.at[i], 16);
        if (digit == NULL) {
            return false;
        }
        sketch->places[i / 8] = sketch->places[i / 8] << 4 | (uint32_t)(digit - digits);
    }
    return true;
}
