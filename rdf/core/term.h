/* RDF 1.1 terms and quads as slices: whoever produces a term owns its bytes.
 * Source: https://www.w3.org/TR/rdf11-concepts/ sections 3 and 4.
 *
 * A parser's terms live until the sink's call returns; copy with term_copy to keep them.
 */
#ifndef RDF_CORE_TERM_H
#define RDF_CORE_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"
#include "base/status.h"

enum term_kind {
    TERM_NONE = 0, /* as a graph: the default graph; in a pattern: any */
    TERM_IRI = 1,
    TERM_BLANK = 2,
    TERM_LITERAL = 3
};

struct term {
    enum term_kind kind;
    struct slice value; /* IRI; blank node label without "_:"; lexical form, unescaped UTF-8 */
    struct slice
        datatype; /* literals: IRI; empty means xsd:string, or rdf:langString with language */
    struct slice language; /* literals: BCP 47 tag, lower case; empty for none */
};

/* line and source say where the statement came from. They are no part of it: comparisons ignore
 * them, graphs keep them. */
struct quad {
    struct term subject, predicate, object, graph;
    uint32_t line;   /* 1-based, of the document; 0: unknown */
    uint16_t source; /* whose statement it is: the caller's number, 0: nobody's */
};

static inline struct term
term_iri(struct slice iri)
{
    return (struct term){.kind = TERM_IRI, .value = iri};
}

static inline struct term
term_blank(struct slice label)
{
    return (struct term){.kind = TERM_BLANK, .value = label};
}

static inline struct term
term_literal(struct slice text)
{
    return (struct term){.kind = TERM_LITERAL, .value = text};
}

bool term_equal(const struct term *a, const struct term *b);
/* Byte order of the N-Quads form: the order of canonical output. */
int term_compare(const struct term *a, const struct term *b);
int quad_compare(const struct quad *a, const struct quad *b);
/* Deep copy; false past the arena's maximum. */
bool term_copy(struct arena *arena, const struct term *from, struct term *to);
bool quad_copy(struct arena *arena, const struct quad *from, struct quad *to);

/* Where statements go. Parsers are sources, writers, canonicaliser and index are sinks.
 * A sink's status other than OK stops the parser, which returns it. */
struct quad_sink {
    enum status (*quad)(void *context, const struct quad *quad, struct reason *why);
    void *context;
};

/* Input that a parser could skip but not read. line and column count from 1; 0 is unknown. */
struct parse_problem {
    uint64_t line, column;
    const char *text;
};
struct problem_sink {
    void (*problem)(void *context, const struct parse_problem *problem);
    void *context;
};

#endif
