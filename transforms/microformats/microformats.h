/* Microformats, both generations, as items over the shared HTML tree; and items to RDF.
 * Sources: https://microformats.org/wiki/microformats2-parsing, /value-class-pattern,
 * /include-pattern, and the lists of classic class names there.
 *
 * The parser gives what the parsing specification calls canonical: types, properties, values in
 * order. Classic roots and properties appear under their microformats2 names. Everything lies in
 * the tree's arena or points into the document. Work is bounded by the page's size: what nests
 * values in values again and again is cut off and told.
 */
#ifndef TRANSFORMS_MICROFORMATS_MICROFORMATS_H
#define TRANSFORMS_MICROFORMATS_MICROFORMATS_H

#include "transforms/common/emit.h"
#include "transforms/common/links.h"
#include "transforms/html/html.h"

enum microformat_kind { MICROFORMAT_TEXT, MICROFORMAT_URL, MICROFORMAT_DATE, MICROFORMAT_MARKUP };

enum {
    MICROFORMAT_TYPES = 8,       /* of one item; more are not seen */
    MICROFORMAT_PROPERTIES = 256 /* names of one item */
};

struct microformat_item;

struct microformat_value {
    enum microformat_kind kind;
    bool has_alt, has_html;
    uint32_t node;                 /* where it stands */
    struct slice text;             /* URLs: absolute where the base allows */
    struct slice alt;              /* of an image */
    struct slice html;             /* MARKUP */
    struct microformat_item *item; /* NULL: none */
    struct microformat_value *next;
};

struct microformat_property {
    struct slice name; /* without prefix */
    struct microformat_value *first, *last;
    struct microformat_property *next;
};

struct microformat_item {
    bool classic;
    bool has_text, has_url, has_nested; /* what keeps properties from being implied */
    uint32_t node;
    size_t type_count, property_count;
    struct slice types[MICROFORMAT_TYPES]; /* "h-card"; sorted, each once */
    struct slice id;
    struct microformat_property *properties, *last_property;
    struct microformat_item *children, *last_child; /* items that are no property's value */
    struct microformat_item *next;
};

/* One element with rel and href. */
struct microformat_relation {
    uint32_t node;
    struct slice url, rels; /* rels: as written */
    struct microformat_relation *next;
};

struct microformats {
    struct microformat_item *items, *last_item;
    struct microformat_relation *relations, *last_relation;
    bool cut; /* the page asked for too much work: something is missing */
};

/* base: absolute URL that relative ones are resolved against (RFC 3986), `base href` applied.
 * LIMIT when the tree's arena is full. */
enum status microformats_parse(const struct html_tree *tree, struct slice base, bool relations,
                               struct microformats *found, struct reason *why);

struct microformats_options {
    bool lines;
    struct problem_sink problems, advice; /* .problem may be NULL */
};

/* Statements of all items and XFN relations: docs/EMBEDDED.md has the table. links: begun with
 * the document's base. */
enum status microformats_emit(const struct html_tree *tree, const struct microformats *found,
                              struct links *links, const struct microformats_options *options,
                              struct emitter *emitter);

#endif
