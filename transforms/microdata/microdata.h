/* Microdata to RDF: https://www.w3.org/TR/microdata-rdf/ (second edition) over the shared HTML
 * tree.
 *
 * Items are walked without recursion; itemref is followed with an index of ids that is built only
 * when the page has one, and under a bound that grows with the page, so the work stays linear.
 * docs/EMBEDDED.md says where we go on when the specification gives up. */
#ifndef TRANSFORMS_MICRODATA_MICRODATA_H
#define TRANSFORMS_MICRODATA_MICRODATA_H

#include "transforms/common/emit.h"
#include "transforms/common/links.h"
#include "transforms/html/html.h"

/* The vocabulary registry: what types begin with is their vocabulary, and what else one of its
 * properties says (subPropertyOf, equivalentProperty). */
struct microdata_expansion {
    struct slice property; /* name in the vocabulary */
    struct slice also;     /* IRI */
};
struct microdata_vocabulary {
    struct slice prefix;
    const struct microdata_expansion *expansions;
    size_t expansion_count;
};
struct microdata_registry {
    const struct microdata_vocabulary *vocabularies;
    size_t count;
};
/* http://www.w3.org/ns/md */
extern const struct microdata_registry microdata_registry;

struct microdata_options {
    const struct microdata_registry *registry; /* NULL: microdata_registry */
    bool lines;                                /* fill the line of each quad */
    struct problem_sink problems;              /* what was lost; .problem may be NULL */
    struct problem_sink advice;                /* what is wrong, but was read all the same */
};

/* links: begun with the document's base. Statuses: the sink's, or LIMIT when the tree's arena is
 * full. */
enum status microdata_extract(const struct html_tree *tree, struct links *links,
                              const struct microdata_options *options, struct emitter *emitter);

/* ---- parts, for microdata_extract alone ---- */

/* The datatype that the lexical form of a time element's value has; NULL: none. */
const char *microdata_time_type(struct slice text);
/* Returns the datatype of the value of a data or meter element: xsd:integer or xsd:double; NULL
 * when it is neither. */
const char *microdata_number_type(struct slice text);

#endif
