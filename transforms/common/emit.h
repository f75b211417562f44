/* The writer of extractors: quads of one document's graph. The first failure of the
 * sink sticks, so an extractor checks once, at its end. */
#ifndef TRANSFORMS_COMMON_EMIT_H
#define TRANSFORMS_COMMON_EMIT_H

#include "base/buf.h"
#include "rdf/core/term.h"

struct emitter {
    const struct quad_sink *sink;
    struct term document; /* subject of most statements and graph of all */
    uint32_t line;        /* 1-based, of what is being read; 0: unknown */
    enum status status;
    struct reason *why;
};

void emit(struct emitter *emitter, const struct term *subject, const char *predicate,
          const struct term *object);
/* About the document; an empty object says nothing. */
void emit_iri(struct emitter *emitter, const char *predicate, struct slice iri);
void emit_text(struct emitter *emitter, const char *predicate, struct slice text,
               struct slice language);

/* Text gathered from pieces: white space and control characters become single blanks, none
 * at the ends; at most `most` bytes, cut between characters. */
struct text {
    struct buf buf;
    size_t most;
    bool blank; /* a blank is due before the next word */
};
void text_init(struct text *text);
void text_release(struct text *text);
void text_begin(struct text *text, size_t most);
void text_add(struct text *text, struct slice piece);
void text_break(struct text *text);             /* a word ends here */
struct slice text_end(const struct text *text); /* until text_begin */
bool text_is_full(const struct text *text);

/* One piece: text_begin, text_add, text_end. */
struct slice text_of(struct text *text, struct slice piece, size_t most);

#endif
