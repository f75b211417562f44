/* Names of elements and attributes as IRIs, each made once per document.
 *
 * libxml2 keeps one copy of every name and namespace in a document's dictionary, so a pair
 * of pointers is the key of a name.
 */
#ifndef RDF_RDFXML_XML_NAMES_H
#define RDF_RDFXML_XML_NAMES_H

#include <libxml/xmlstring.h>

#include "base/arena.h"
#include "base/map.h"

/* The names of the RDF namespace that have a meaning in the grammar. */
enum xml_term {
    XML_TERM_OTHER,
    XML_TERM_RDF,
    XML_TERM_DESCRIPTION,
    XML_TERM_LI,
    XML_TERM_TYPE,
    XML_TERM_ABOUT,
    XML_TERM_ID,
    XML_TERM_NODE_ID,
    XML_TERM_RESOURCE,
    XML_TERM_DATATYPE,
    XML_TERM_PARSE_TYPE,
    XML_TERM_ABOUT_EACH,
    XML_TERM_ABOUT_EACH_PREFIX,
    XML_TERM_BAG_ID,
    XML_TERM_COUNT
};

/* Places where a name may stand (sections 7.2.5 to 7.2.7 of the grammar). */
enum { XML_NAME_NODE = 1, XML_NAME_PROPERTY = 2, XML_NAME_ATTRIBUTE = 4 };

struct xml_name {
    const xmlChar *space, *local; /* the key */
    struct slice iri;             /* at NULL: not a valid absolute IRI */
    enum xml_term term;
    unsigned places;
};

struct xml_names {
    struct xml_name *items;
    size_t count, capacity;
    struct map places; /* of items, by their pointers: base/map.h */
    struct arena arena;
};

void xml_names_init(struct xml_names *names, size_t maximum);
void xml_names_release(struct xml_names *names);
/* space may be NULL. NULL past the maximum. Lives until the next call. */
const struct xml_name *xml_names_get(struct xml_names *names, const xmlChar *space,
                                     const xmlChar *local);

#endif
