/* Content lines, the syntax that iCalendar and vCard share: folded lines of
 * [group.]name;parameter=value,"value";...:value
 * Sources: RFC 5545 section 3.1, RFC 6350 section 3.3, vCard 2.1 and vCalendar 1.0 (bare
 * parameters, quoted-printable, CHARSET). Lenient: lines may end in LF or CR, quotes may be
 * missing.
 */
#ifndef TRANSFORMS_TEXT_CONTENT_LINE_H
#define TRANSFORMS_TEXT_CONTENT_LINE_H

#include "transforms/common/emit.h"
#include "transforms/core/transformation.h"

enum {
    CONTENT_PARAMETERS = 24, /* of one line; more are ignored */
    CONTENT_LINE = 4 << 20,  /* bytes of an unfolded line; the rest is dropped */
    CONTENT_LABEL = 24
};

struct content_parameter {
    struct slice name, value; /* quotes off; a bare parameter is a TYPE or ENCODING */
};

/* Points into the text and the reader's memory; until the next one is read. */
struct content_line {
    uint32_t line;      /* 1-based, where it begins */
    struct slice group; /* vCard: before the point */
    struct slice name;  /* empty: malformed, value holds the line */
    struct slice value; /* quoted-printable and CHARSET undone, backslashes not */
    struct content_parameter parameters[CONTENT_PARAMETERS];
    size_t parameter_count;
};

struct content_reader {
    struct encodings *encodings;
    struct slice left;
    uint32_t line;
    struct buf unfolded, plain, converted;
};

/* *text: the document in valid UTF-8. */
enum status content_text(struct transformation *transformation, struct slice *text,
                         struct reason *why);
void content_reader_init(struct content_reader *reader, struct transformation *transformation,
                         struct slice text);
void content_reader_release(struct content_reader *reader);
/* False: the end. Empty lines are passed over. */
bool content_next(struct content_reader *reader, struct content_line *line);

bool content_is(const struct content_line *line, const char *name); /* letter case is no matter */
/* The first of that name, or empty. */
struct slice content_parameter(const struct content_line *line, const char *name);
bool content_is_binary(const struct content_line *line);

/* The piece up to an unescaped separator; *rest: behind it, at == NULL when that was the last. */
struct slice content_piece(struct slice value, char separator, struct slice *rest);
/* Appends with \n \, \; \\ undone. */
void content_unescape(struct slice value, struct buf *out);

/* ---- what both say ---- */

/* The node that stands for an object: a urn: UID is its IRI, another UID becomes a fragment of
 * the document's IRI, none a blank node. suffix may be empty. name: buf_init'ed, holds it. */
struct term content_subject(struct emitter *emitter, struct slice uid, struct slice suffix,
                            unsigned *blanks, struct buf *name);
struct term content_blank(unsigned *blanks, char label[CONTENT_LABEL]);
/* An IRI as it is meant, when it is one: absolute and of valid characters (spaces and the like
 * encoded). Into out (reset); false: it is none. */
bool content_iri(struct slice value, struct buf *out);

#endif
