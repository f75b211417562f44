/* Triples in fewer bytes: the beginnings of IRIs, up to the last "/", and whole
 * predicates by number. First come, first numbered, as many as memory is given to; the rest
 * is written out. One term has one packed form. Thread-safe. */
#ifndef DUMPS_DICTIONARY_H
#define DUMPS_DICTIONARY_H

#include "base/buf.h"
#include "rdf/core/term.h"

enum { DICTIONARY_SLACK = 32 };

/* Texts are copied by whole pieces, since most are short: DICTIONARY_SLACK bytes past the end may
 * be read and written. */
static inline char *
dictionary_copy(char *to, const char *from, size_t length)
{
    memcpy(to, from, DICTIONARY_SLACK);
    if (length > DICTIONARY_SLACK) {
        memcpy(to + DICTIONARY_SLACK, from + DICTIONARY_SLACK, length - DICTIONARY_SLACK);
    }
    return to + length;
}

struct dictionary;
struct dictionary *dictionary_new(void);
void dictionary_free(struct dictionary *dictionary);

/* These append a subject or object, a predicate, or all three of a line of canonical N-Triples.
 * They return false past the buffer's maximum. */
bool dictionary_pack_term(struct dictionary *dictionary, const struct term *term,
                          struct buf *packed);
bool dictionary_pack_predicate(struct dictionary *dictionary, struct slice iri, struct buf *packed);
struct triple_line;
bool dictionary_pack_line(struct dictionary *dictionary, const struct triple_line *line,
                          struct buf *subject, struct buf *rest);

/* Behind packed, DICTIONARY_SLACK bytes may be read, of whatever content. What is unpacked is taken
 * off its front. false: this is nothing packed. */

/* Has memory fetch what the term, of three bytes at least, begins with. */
void dictionary_expect(const struct dictionary *dictionary, const char *packed);
/* The term as in N-Triples: either a part of packed, or appended to text, which may move; then
 * term->at is NULL. */
bool dictionary_unpack_term(const struct dictionary *dictionary, struct slice *packed,
                            struct buf *text, struct slice *term);
/* rank: place in the order of bytes among the predicates that have numbers; 0: it has none, and
 * the token is a part of packed. */
struct unpacked_predicate {
    struct slice token;
    uint32_t rank;
};
bool dictionary_unpack_predicate(const struct dictionary *dictionary, struct slice *packed,
                                 struct unpacked_predicate *predicate);
/* Appends subject, predicate and object as a line, whose length goes to *length. */
bool dictionary_unpack_line(const struct dictionary *dictionary, struct slice packed,
                            struct buf *lines, size_t *length);
/* Gives predicates their ranks: after all packing, before threads unpack them. */
void dictionary_rank(struct dictionary *dictionary);

#endif
