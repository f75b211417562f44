/* The Link headers that matter to JSON-LD.
 * Sources: https://www.w3.org/TR/json-ld11/#interpreting-json-as-json-ld; for the grammar
 * https://www.rfc-editor.org/rfc/rfc8288
 */
#ifndef RDF_JSONLD_JSONLD_LINK_H
#define RDF_JSONLD_JSONLD_LINK_H

#include <stdbool.h>

#include "base/slice.h"

#define JSONLD_CONTEXT_RELATION "http://www.w3.org/ns/json-ld#context"

struct jsonld_links {
    struct slice context;   /* of the context relation; empty: none */
    bool several_contexts;  /* more than one: an error for JSON documents */
    struct slice alternate; /* alternate of type application/ld+json; empty: none */
};

/* header: values of all Link headers joined by commas. URIs are as written, perhaps relative. */
struct jsonld_links jsonld_links(struct slice header);

/* application/json or a type ending in +json, but not JSON-LD itself; parameters may be there. */
bool jsonld_is_plain_json(struct slice content_type);
bool jsonld_is_json_ld(struct slice content_type);

#endif
