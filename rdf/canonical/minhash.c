#include "rdf/canonical/minhash.h"

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
add_shingle(struct minhash *minhash, uint64_t hash)
{
    const uint32_t value =
        (uint32_t)(hash >> 32) & 0x7fffffff; /* the top bit marks borrowed ones */
    uint32_t *place = &minhash->places[hash % MINHASH_PLACES];
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
add_words(struct minhash *minhash, struct slice text)
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
            add_shingle(minhash, hash);
        }
        start = i + 1;
    }
}

static bool
add_line(struct minhash *minhash, struct slice line, struct slice document)
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
    add_shingle(minhash, hash);
    if (term.at[0] == '"') {
        add_words(minhash, term);
    }
    return true;
}

/* An empty place takes what the next one has that is not, changed so that the two stay apart. */
static void
fill(struct minhash *minhash)
{
    struct minhash full = *minhash;
    for (unsigned i = 0; i < MINHASH_PLACES; i++) {
        unsigned step = 0;
        while (step < MINHASH_PLACES &&
               minhash->places[(i + step) % MINHASH_PLACES] == UINT32_MAX) {
            step++;
        }
        if (step > 0 && step < MINHASH_PLACES) {
            const uint64_t from = minhash->places[(i + step) % MINHASH_PLACES];
            full.places[i] = (uint32_t)mix(from + ((uint64_t)step << 40)) | 0x80000000u;
        }
    }
    *minhash = full;
}

bool
minhash_of(struct slice nquads, struct slice document, struct minhash *minhash)
{
    bool any = false;
    memset(minhash, 0xff, sizeof *minhash);
    while (nquads.length > 0) {
        const size_t end = slice_find(nquads, '\n');
        const size_t step = end < nquads.length ? end + 1 : end;
        any |= add_line(minhash, slice_of(nquads.at, end), document);
        nquads = slice_of(nquads.at + step, nquads.length - step);
    }
    fill(minhash);
    return any;
}

/* ---- comparing ---- */

unsigned
minhash_agreement(const struct minhash *a, const struct minhash *b)
{
    unsigned same = 0;
    for (int i = 0; i < MINHASH_PLACES; i++) {
        same += a->places[i] == b->places[i];
    }
    return same;
}

uint64_t
minhash_band(const struct minhash *minhash, unsigned band)
{
    enum { EACH = MINHASH_PLACES / MINHASH_BANDS };
    return hash_bytes(SEED + band, (const char *)&minhash->places[band * EACH],
                      EACH * sizeof minhash->places[0]);
}

void
minhash_write(const struct minhash *minhash, char text[MINHASH_TEXT])
{
    for (int i = 0; i < MINHASH_PLACES; i++) {
        snprintf(text + i * 8, 9, "%08x", minhash->places[i]);
    }
}

bool
minhash_read(struct slice text, struct minhash *minhash)
{
    static const char digits[] = "0123456789abcdef";
    if (text.length != MINHASH_TEXT - 1) {
        return false;
    }
    memset(minhash, 0, sizeof *minhash);
    for (size_t i = 0; i < text.length; i++) {
        const char *digit = memchr(digits, text.at[i], 16);
        if (digit == NULL) {
            return false;
        }
        minhash->places[i / 8] = minhash->places[i / 8] << 4 | (uint32_t)(digit - digits);
    }
    return true;
}
