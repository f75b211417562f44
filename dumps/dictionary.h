/* Triples in fewer bytes: the beginnings of IRIs, up to their last "/" or "#", and whole predicates
 * by number. First come, first numbered, as many as memory is given to; the rest is written out.
 * Thread-safe. */
#ifndef DUMPS_DICTIONARY_H
#define DUMPS_DICTIONARY_H

#include "base/buf.h"
#include "rdf/term.h"

enum { DICTIONARY_SLACK = 32 };

struct dictionary;
struct dictionary *dictionary_new(void);
void dictionary_free(struct dictionary *dictionary);

/* Appends the triple. false past the buffer's maximum. */
bool dictionary_pack(struct dictionary *dictionary, const struct quad *triple, struct buf *packed);
/* A triple that is a line of canonical N-Triples. */
struct triple_line;
bool dictionary_pack_line(struct dictionary *dictionary, const struct triple_line *line,
                          struct buf *packed);
/* Behind packed, DICTIONARY_SLACK bytes may be read, of whatever content.
 * Appends the line in canonical N-Triples; lengths of its subject and object tell where these are.
 * false: this is no packed triple. */
struct unpacked {
    size_t subject, object, line; /* lengths; the object stands before the last three bytes */
};
bool dictionary_unpack(const struct dictionary *dictionary, struct slice packed, struct buf *lines,
                       struct unpacked *unpacked);

#endif
