/* An HTML document as one tree that all extractors share.
 *
 * Nodes lie in document order in one array: node 0 is the document, the descendants of node n
 * are n+1 .. end-1. So a walk over the tree is a walk over the array, and "inside of" is a
 * comparison of two numbers. Only elements and text are kept.
 *
 * Who fills it:
 *   html_parse  our own, by the HTML standard's tokenizer and tree construction.
 *   xhtml_parse libxml2, for XHTML that is served and well-formed as XML.
 *
 * Input is UTF-8 (transforms/common/encoding.h). Text and attributes point into the input, or into
 * the tree's arena where references were decoded; both must outlive the tree's use.
 */
#ifndef TRANSFORMS_HTML_HTML_H
#define TRANSFORMS_HTML_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"
#include "base/status.h"
#include "transforms/html/names.h"

enum html_space { HTML_SPACE_HTML, HTML_SPACE_SVG, HTML_SPACE_MATH };
enum html_kind { HTML_DOCUMENT, HTML_ELEMENT, HTML_TEXT };

struct html_node {
    uint8_t kind;     /* enum html_kind */
    uint8_t space;    /* enum html_space */
    uint16_t element; /* enum html_element */
    uint32_t line;    /* 1-based; html_parse: see html_line */
    uint32_t parent, end;
    uint32_t attribute, attribute_count; /* first of tree->attributes, how many */
    struct slice text;                   /* TEXT: the text; ELEMENT: the name as written */
};

struct html_attribute {
    struct slice name; /* lower case (XHTML: local name as written, "xml:lang" with prefix) */
    struct slice value;
};

/* The repairs that html_parse makes. */
enum html_repair {
    HTML_REPAIR_MOVED = 1, /* misnested: nodes do not stand where their tags do */
    HTML_REPAIR_DEPTH = 2, /* more elements open, or made again, than are kept */
    HTML_REPAIR_RAW = 4    /* a title, script, ... has no end tag */
};

enum { HTML_DEPTH = 512, HTML_ATTRIBUTES = 256 /* of one element; more are dropped */ };

struct html_place {
    uint32_t offset, line;
};

struct html_tree {
    struct arena *arena;
    struct html_node *nodes;
    uint32_t node_count, node_capacity;
    struct html_attribute *attributes;
    uint32_t attribute_count, attribute_capacity;
    struct slice input;       /* html_parse: what offsets refer to */
    bool offsets;             /* node.line holds a byte offset into input */
    struct html_place *place; /* where html_line counted last */
    unsigned repair;          /* enum html_repair */
    struct slice doctype;     /* xhtml_parse: public identifier of the document type */
    const char *parser;       /* "html", "xhtml" */
};

/* arena: for decoded text; must outlive the tree. Node arrays are kept between documents. */
void html_tree_init(struct html_tree *tree, struct arena *arena);
void html_tree_reset(struct html_tree *tree);
void html_tree_release(struct html_tree *tree);

/* LIMIT when the arena is full. */
enum status html_parse(struct html_tree *tree, struct slice input, struct reason *why);
/* Any XML: BAD_INPUT when not well-formed, the tree is then empty. Elements that are not in the
 * namespaces of SVG or MathML count as HTML's space, but only XHTML's and those in none are told
 * by their names. */
enum status xhtml_parse(struct html_tree *tree, struct slice input, struct reason *why);

/* 1-based; of text: where it begins. Counted from the place that was asked for last, so ask in
 * document order, and only when lines are wanted. */
uint32_t html_line(const struct html_tree *tree, uint32_t node);
/* false: the element has no such attribute. name: lower case. */
bool html_attribute(const struct html_tree *tree, uint32_t node, const char *name,
                    struct slice *value);

/* Tells which embedded syntaxes the page may hold, by its attributes: what is not set is not there,
 * what is set may still come to nothing. One pass; extractors ask transformation_html_features,
 * which keeps the answer. */
enum html_feature {
    HTML_HAS_RDFA = 1 << 0,         /* an attribute that only RDFa has */
    HTML_HAS_REL = 1 << 1,          /* rel or rev */
    HTML_HAS_MICRODATA = 1 << 2,    /* itemscope, itemprop */
    HTML_HAS_MICROFORMATS = 1 << 3, /* a class that begins one, classic or h-* */
    HTML_HAS_XFN = 1 << 4,          /* a rel of XFN */
    HTML_HAS_JSON_LD = 1 << 5,      /* a type that begins with application/ld+json */
    HTML_HAS_GRDDL = 1 << 6         /* profile, rel=transformation, grddl:* */
};
unsigned html_features(const struct html_tree *tree);

/* ---- for parsers ---- */

/* Appends a node under parent with end still open (0). UINT32_MAX: too many (2^31). */
uint32_t html_tree_add(struct html_tree *tree, const struct html_node *node);
void html_tree_attribute(struct html_tree *tree, struct slice name, struct slice value);
void html_tree_close(struct html_tree *tree, uint32_t node);

#endif
