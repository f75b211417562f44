/* Descriptions of resources within one component of blank nodes: what CBD, SCBD and MSG
 * (dumps/slicing.h) take in beyond the triples that name the resource itself.
 *
 * A component is all triples that share blank nodes, directly or through others. Ground triples
 * are not here: they belong to their resources without a closure.
 */
#ifndef DUMPS_CLOSURE_H
#define DUMPS_CLOSURE_H

#include "dumps/slicing.h"

/* A triple in canonical N-Triples. */
struct triple_line {
    struct slice line, subject, predicate, object; /* terms as written, parts of line */
};
struct triple_line triple_line_of(struct slice line);
static inline bool
token_is_blank(struct slice token)
{
    return token.at[0] == '_';
}
/* The IRI of a term as written; empty for others. */
struct slice token_iri(struct slice token);

/* A line of what this document describes. condition: not empty for what describes a reification of
 * a ground triple: the line counts only if that one is in the document. */
typedef enum status closure_emit(void *context, struct slice document, struct slice line,
                                 struct slice condition, struct reason *why);

struct closure_work; /* memory that is used again */
struct closure_work *closure_work_new(void);
void closure_work_free(struct closure_work *work);

struct closure_options {
    const struct slice_space *spaces;
    size_t count;
    uint64_t most; /* bytes of lines emitted for one component */
};
/* lines: the component's, in any order, duplicates among them. *cut: `most` was reached, and the
 * rest of its descriptions left out. */
enum status closure_of_component(struct closure_work *work, const struct closure_options *options,
                                 const struct slice *lines, size_t count, closure_emit *emit,
                                 void *context, bool *cut, struct reason *why);

#endif
