/* Extracts what the elements of an HTML page say: docs/HTML.md lists the statements.
 * One walk over the tree's array for title, meta, links, images and e-mail addresses. */
#ifndef TRANSFORMS_PAGE_PAGE_EXTRACT_H
#define TRANSFORMS_PAGE_PAGE_EXTRACT_H

#include "transforms/common/emit.h"
#include "transforms/common/links.h"
#include "transforms/html/html.h"

enum { HTML_MEDIA_KINDS = 3, HTML_SCHEMAS = 16 };

/* Kept between documents for its memory. */
struct html_extractor {
    struct links links;
    struct text text;
    struct buf name; /* predicates and addresses being built */
    struct buf datatype;
    struct buf media[HTML_MEDIA_KINDS]; /* the picture, film, sound that Open Graph named last */
    /* <link rel="schema.DC" href="..."> of the present page */
    struct {
        struct slice prefix, namespace;
    } schemas[HTML_SCHEMAS];
    size_t schema_count;
    bool lines; /* tell the line of each statement; costs counting them */
};
void html_extractor_init(struct html_extractor *extractor);
void html_extractor_release(struct html_extractor *extractor);

/* base: the URL that relative ones are resolved against unless the page names another;
 * emitter->document is the document's IRI. */
enum status html_extract(struct html_extractor *extractor, const struct html_tree *tree,
                         struct slice base, struct emitter *emitter);

/* <base href>: the first one counts, for the whole document. After links_begin. */
void html_rebase(const struct html_tree *tree, struct links *links);

/* ---- parts, for html_extract alone ---- */

struct html_walk {
    struct html_extractor *extractor;
    const struct html_tree *tree;
    struct emitter *emitter;
    uint32_t node;
    bool has_title;
};
void html_walk_meta(struct html_walk *walk);
void html_walk_link(struct html_walk *walk);   /* link */
void html_walk_anchor(struct html_walk *walk); /* a, area */
void html_walk_source(struct html_walk *walk); /* frame, iframe */
void html_walk_image(struct html_walk *walk);
void html_walk_emails(struct html_walk *walk, struct slice text);
/* The language of a node: its own or its ancestors' lang; empty when none or malformed. */
struct slice html_walk_language(struct html_walk *walk, uint32_t node, char text[36]);
/* Returns whether a link element declares a prefix, and which. */
bool html_is_schema(const struct html_tree *tree, uint32_t node, struct slice *prefix);
/* The next word of a list; false: no more. */
bool html_next_word(struct slice *list, struct slice *word);
/* Returns whether a word of property, rel or rev is one that RDFa makes a statement with. */
bool html_is_rdfa_name(const struct html_tree *tree, uint32_t node, struct slice word);

#endif
