/* Parts of the RDFa processor, for this folder alone. */
#ifndef TRANSFORMS_RDFA_RDFA_PROCESSOR_H
#define TRANSFORMS_RDFA_RDFA_PROCESSOR_H

#include "base/buf.h"
#include "transforms/common/vocabulary.h"
#include "transforms/rdfa/rdfa.h"

#define RDFA_NAMESPACE "http://www.w3.org/ns/rdfa#"

/* More of these is malformed, or hostile; the rest is left out and reported. */
enum {
    RDFA_MAPPINGS = 1024,  /* prefixes in scope */
    RDFA_TOKENS = 256,     /* of one attribute */
    RDFA_INCOMPLETE = 256, /* incomplete triples of one element */
    RDFA_LISTS = 256       /* lists begun under one subject */
};

enum rdfa_attribute {
    RDFA_ABOUT,
    RDFA_CONTENT,
    RDFA_DATATYPE,
    RDFA_DATETIME,
    RDFA_HREF,
    RDFA_ID,
    RDFA_INLIST,
    RDFA_LANG,
    RDFA_PREFIX,
    RDFA_PROPERTY,
    RDFA_REL,
    RDFA_RESOURCE,
    RDFA_REV,
    RDFA_ROLE,
    RDFA_SRC,
    RDFA_TYPEOF,
    RDFA_VOCAB,
    RDFA_XML_BASE,
    RDFA_XML_LANG,
    RDFA_XMLNS, /* at least one xmlns or xmlns:p */
    RDFA_ATTRIBUTES
};

#define RDFA_BIT(attribute) (1u << RDFA_##attribute)

/* The attributes of one element that matter here. */
struct rdfa_element {
    uint32_t node;
    unsigned present; /* RDFA_BIT */
    struct slice values[RDFA_ATTRIBUTES];
};

struct rdfa_mapping {
    struct slice prefix, iri;
};

struct rdfa_item {
    struct term value;
    struct rdfa_item *next;
};
struct rdfa_list {
    struct slice predicate;
    uint32_t line;
    struct rdfa_item *first, *last;
    struct rdfa_list *next;
};
/* A list mapping; contexts below share it until the subject changes. */
struct rdfa_lists {
    struct rdfa_list *first, *last;
    unsigned count;
};

enum rdfa_direction { RDFA_FORWARD, RDFA_REVERSE, RDFA_INTO_LIST };

struct rdfa_incomplete {
    enum rdfa_direction direction;
    struct slice predicate;
    struct rdfa_list *list;
    struct rdfa_incomplete *next;
};

/* The evaluation context of what stands inside an element (section 7.1). */
struct rdfa_context {
    uint32_t end; /* of the element's descendants */
    struct term parent_subject, parent_object;
    struct rdfa_incomplete *incomplete;
    struct rdfa_lists *lists; /* of parent_object */
    /* The lists that were begun at this element, to be written when it ends: of its subject, and of
     * its object where that is the parent object of what is inside. */
    struct {
        struct rdfa_lists *lists;
        struct term subject; /* NONE: no lists */
    } own[2];
    struct slice language, vocabulary, base;
    size_t mapping_count; /* of rdfa->mappings: those in scope */
};

struct rdfa_cached {
    struct slice token, iri;
    size_t mapping_count;
    uint64_t scope;
};
enum { RDFA_CACHE = 64 };

struct rdfa {
    const struct html_tree *tree;
    const struct rdfa_options *options;
    enum rdfa_host host;
    struct arena arena;
    struct quad *quads, *reports; /* terms lie in the arena, the tree, or are constants */
    size_t quad_count, quad_capacity, report_count, report_capacity;
    struct rdfa_context *contexts;
    size_t depth, context_capacity;
    struct rdfa_mapping *mappings;
    size_t mapping_count, mapping_capacity;
    uint64_t scope; /* changes whenever a mapping does */
    struct buf work, text;
    struct slice base;   /* what the document's base is, xml:base apart */
    uint32_t node, line; /* of the element at hand; line: when it is told of all quads */
    uint32_t blanks;     /* how many were made up */
    bool copies;         /* something is rdfa:copied */
    bool full;           /* memory has run out */
    struct slice *vocabularies;
    size_t vocabulary_count;
    struct rdfa_cached cache[RDFA_CACHE];
    const struct rdfa_mapping **sorted; /* those in scope for markup, as of sorted_scope */
    size_t sorted_count, sorted_of;
    uint64_t sorted_scope;
};

/* ---- rdfa_output.c ---- */

void rdfa_add(struct rdfa *rdfa, const struct term *subject, struct slice predicate,
              const struct term *object);
struct slice rdfa_keep(struct rdfa *rdfa, struct slice bytes);
struct term rdfa_blank(struct rdfa *rdfa);
__attribute__((format(printf, 3, 4))) void rdfa_tell(struct rdfa *rdfa, enum rdfa_report report,
                                                     const char *format, ...);

/* For "%.*s" in a report: as much as a message bears, whole characters. */
static inline int
rdfa_shown(struct slice text)
{
    size_t length = text.length < 100 ? text.length : 100;
    while (length > 0 && length < text.length && (text.at[length] & 0xC0) == 0x80) {
        length--;
    }
    return (int)length;
}

/* ---- rdfa_attributes.c ---- */

/* false: nothing that RDFa could see. */
bool rdfa_read_element(const struct rdfa *rdfa, uint32_t node, struct rdfa_element *element);
static inline bool
rdfa_has(const struct rdfa_element *element, unsigned bits)
{
    return (element->present & bits) != 0;
}

/* ---- rdfa_names.c ---- */

/* Declares the element's xmlns:p and prefix. */
void rdfa_declare(struct rdfa *rdfa, const struct rdfa_context *context,
                  const struct rdfa_element *element);
/* An IRI reference; what an IRI must not have is percent-encoded. {NULL, 0}: none. */
struct slice rdfa_resolve(struct rdfa *rdfa, struct slice base, struct slice reference);
/* about, resource: SafeCURIEorCURIEorIRI. NONE: the attribute counts as absent. */
struct term rdfa_resource(struct rdfa *rdfa, const struct rdfa_context *context,
                          struct slice value);
/* href, src. */
struct term rdfa_link(struct rdfa *rdfa, const struct rdfa_context *context, struct slice value);
/* property, typeof, datatype, rel, rev: TERMorCURIEorAbsIRI. Blank nodes only where `blank`. */
enum rdfa_use { RDFA_USE_PROPERTY, RDFA_USE_TYPE, RDFA_USE_DATATYPE, RDFA_USE_RELATION };
struct term rdfa_name(struct rdfa *rdfa, const struct rdfa_context *context, struct slice token,
                      enum rdfa_use use);

/* ---- rdfa_initial.c: initial contexts ---- */

struct slice rdfa_initial_prefix(struct slice prefix); /* {NULL, 0}: none */
/* relation: rel or rev, the only places for terms in RDFa 1.0. */
struct slice rdfa_initial_term(enum rdfa_host host, struct slice term, bool relation);

/* ---- rdfa_value.c: literals ---- */

/* The literal of an element with property. *is_xml: it became an XMLLiteral. */
struct term rdfa_literal(struct rdfa *rdfa, const struct rdfa_context *context,
                         const struct rdfa_element *element, bool *is_xml);
/* ---- rdfa_markup.c ---- */
/* Writes the content of the node as XML or HTML to rdfa->text. */
void rdfa_write_xml(struct rdfa *rdfa, uint32_t node);
void rdfa_write_html(struct rdfa *rdfa, uint32_t node);

/* ---- rdfa_rules.c ---- */

/* rdfa:copy (HTML+RDFa section 3.5). */
void rdfa_copy_patterns(struct rdfa *rdfa);
/* Vocabulary expansion (RDFa Core section 10.2). */
void rdfa_expand(struct rdfa *rdfa, const struct graph *vocabulary);

#endif
