/* Between turtle.c (the grammar's productions) and turtle_terms.c (its terminals): private.
 *
 * Reading functions start at reader->at, leave it behind what they read, and return
 * BAD_INPUT through turtle_fail. The slices they give point into the document or into
 * `scratch`, where they live until the caller rewinds.
 */
#ifndef RDF_TURTLE_TURTLE_READER_H
#define RDF_TURTLE_TURTLE_READER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "rdf/core/problem.h"
#include "rdf/core/resolve.h"
#include "rdf/core/scratch.h"

struct turtle_namespace {
    struct slice prefix, iri;
};

struct turtle_reader {
    const char *start, *at, *end;
    bool trig, n3;
    bool lines; /* statements say their line */
    bool utf8;  /* the whole document, or piece, is UTF-8, so terms need no check */
    uint32_t depth, depth_maximum;
    size_t term_size;
    struct quad_sink sink;
    struct reason *why;
    struct problems problems;

    struct iri_base base;
    const struct turtle_namespace *recent;
    struct arena names; /* of base and namespaces */

    struct scratch scratch;
    struct buf resolved;
    uint64_t generated; /* blank nodes made up so far */

    bool in_graph; /* between { and } */
    struct term graph;
    struct buf graph_label; /* its bytes */

    const char *fault; /* of the latest BAD_INPUT */
    const char *message;
    const char *counted; /* lines up to here are counted */
    const char *line_start;
    uint64_t line, first_line; /* of counted; of start */

    struct turtle_namespace *namespaces;
    size_t namespace_count, namespace_capacity;
    struct map namespace_places; /* by a hash of their prefixes: base/map.h */
};

enum status turtle_fail(struct turtle_reader *reader, const char *at, const char *message);

/* Reports the latest failure, in lenient parsing, which is over by that. */
enum status turtle_report(struct turtle_reader *reader);
/* 1-based; sets line_start. Cheap when `at` moves forward. */
uint32_t turtle_line_at(struct turtle_reader *reader, const char *at);
/* All statements up to the end; last: of the document, not only of a piece. */
enum status turtle_read_statements(struct turtle_reader *reader, bool last);
/* Returns the line that the reader is at, or 0 when lines are not wanted. */
uint32_t turtle_line(struct turtle_reader *reader);
enum status turtle_emit(struct turtle_reader *reader, uint32_t line, const struct term *subject,
                        const struct term *predicate, const struct term *object);
struct term turtle_made_blank(struct turtle_reader *reader);

/* White space and comments. */
void turtle_skip(struct turtle_reader *reader);

/* The byte at `at`, 0 at the end. */
static inline char
turtle_peek(const struct turtle_reader *reader)
{
    return reader->at < reader->end ? *reader->at : 0;
}

/* IRIREF, resolved. */
enum status turtle_read_iriref(struct turtle_reader *reader, struct slice *iri);
/* prefix:local, expanded. */
enum status turtle_read_prefixed(struct turtle_reader *reader, struct slice *iri);
/* IRIREF or prefixed name. */
enum status turtle_read_iri(struct turtle_reader *reader, struct slice *iri);
/* PNAME_NS: prefix and colon. */
enum status turtle_read_prefix(struct turtle_reader *reader, struct slice *prefix);
/* A label that the document gave; what starts with 'g' is renamed (rdf/core/parse.h). */
enum status turtle_read_blank(struct turtle_reader *reader, struct slice *label);
/* Strings with language or datatype. */
enum status turtle_read_literal(struct turtle_reader *reader, struct term *term);
enum status turtle_read_number(struct turtle_reader *reader, struct term *term);

/* Returns whether the bare word stands here: not followed by more of a name or by a colon. */
bool turtle_at_word(const struct turtle_reader *reader, const char *word, bool any_case);

/* Declares; the slices are copied. */
enum status turtle_set_namespace(struct turtle_reader *reader, struct slice prefix,
                                 struct slice iri);
enum status turtle_set_base(struct turtle_reader *reader, struct slice iri);

/* ---- turtle_n3.c: what N3 has and Turtle has not ---- */

typedef enum status turtle_read_term(struct turtle_reader *reader, struct term *term);

/* Declares the empty prefix. */
enum status n3_begin(struct turtle_reader *reader, struct slice base);
/* False: one of the terms is no term of RDF at its place, so the statement is left out. */
bool n3_is_triple(struct turtle_reader *reader, const struct term *subject,
                  const struct term *predicate, const struct term *object);
/* A formula { … }, which is skipped, or a ?variable: TERM_NONE. */
enum status n3_read_quoted(struct turtle_reader *reader, struct term *term);
/* `!predicate` and `^predicate` behind an item. */
enum status n3_read_path(struct turtle_reader *reader, struct term *term,
                         turtle_read_term *read_item);
/* A verb, with =, =>, <=, has, and is … of (then *inverse). */
enum status n3_read_verb(struct turtle_reader *reader, struct term *verb, bool *inverse,
                         turtle_read_term *read_object);
bool n3_at_declaration(const struct turtle_reader *reader);
/* @forAll, @forSome, @keywords, up to the stop. */
enum status n3_skip_declaration(struct turtle_reader *reader);

#endif
