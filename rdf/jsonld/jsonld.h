/* JSON-LD 1.1 to quads: https://www.w3.org/TR/json-ld11-api/
 *
 * Contexts that a document refers to come from a loader; nothing is fetched here. Errors have
 * the specification's code as their text: "line 3: invalid term definition: name".
 *
 * Lenient: the JSON is mended where it means one thing only (rdf/json/json.h); a malformed term,
 * entry or value is a problem and is skipped; a context that cannot be had costs the object that
 * asks for it. Numbers: integers keep all digits below 1e21; others are as IEEE doubles print.
 */
#ifndef RDF_JSONLD_JSONLD_H
#define RDF_JSONLD_JSONLD_H

#include "base/buf.h"
#include "rdf/core/parse.h"

struct jsonld_remote {
    struct slice document_uri; /* where redirects led; empty: as asked for */
    struct slice bytes; /* JSON; must live until the parse ends, fixed: as long as the cache */
    bool fixed;         /* always these bytes: what is made of them may be kept */
};

/* The context document at an absolute IRI. OK; NOT_FOUND: it cannot be had, *why says why;
 * AGAIN: not at hand now. Then the parse asks for the other contexts that it can see and ends
 * with AGAIN. Another status ends the parse at once. */
struct jsonld_loader {
    enum status (*load)(void *context, struct slice url, struct jsonld_remote *remote,
                        struct reason *why);
    void *context;
};

/* Fixed contexts, processed, for one document after another. One thread. */
struct jsonld_contexts;
struct jsonld_contexts *jsonld_contexts_new(void);
void jsonld_contexts_free(struct jsonld_contexts *contexts);

enum jsonld_direction {
    JSONLD_DIRECTION_NONE, /* the base direction of text is left out */
    JSONLD_DIRECTION_I18N,
    JSONLD_DIRECTION_COMPOUND
};

enum {
    JSONLD_WORK = 100000000, /* values, entries and term definitions looked at: default */
    JSONLD_REMOTES = 100     /* context documents loaded for one document: default */
};
#define JSONLD_MEMORY ((size_t)1 << 30) /* of all trees: default */

/* Everything 0 is the default. */
struct jsonld_options {
    struct parse_options parse;
    struct jsonld_loader loader;      /* .load NULL: no context can be had */
    struct jsonld_contexts *contexts; /* NULL: nothing is kept */
    struct slice expand_context;      /* JSON: a context before the document's own */
    struct slice expand_context_url;  /* base of relative IRIs in it */
    struct slice context_url;         /* context of a JSON document, from a Link header */
    bool mode_1_0;                    /* processingMode json-ld-1.0 */
    bool generalized;                 /* blank nodes as predicates */
    enum jsonld_direction direction;
    bool part;     /* one of several texts that make up one document */
    uint32_t line; /* of the first line; 0: 1 */
    uint64_t work;
    uint32_t remotes;
    size_t memory;
    uint64_t
        *labels; /* number of blank node labels made up so far: to parse parts of one document */
    uint64_t *repairs; /* JSON_REPAIR_COUNT counters to be added to (rdf/json/json.h) */
};

/* Reads a document as rdf/core/parse.h says; may also return AGAIN. quad.line is always filled. */
enum status jsonld_read(struct slice bytes, const struct jsonld_options *options,
                        const struct quad_sink *sink, struct reason *why);
/* Parses without a loader of contexts. */
parse_function jsonld_parse;

#endif
