#include "transforms/page/page_extract.h"

#include "transforms/common/dates.h"
#include "transforms/common/relations.h"
#include "transforms/common/vocabulary.h"

enum { TITLE_MAXIMUM = 4096, NAME_MAXIMUM = 4096 };

void
html_extractor_init(struct html_extractor *extractor)
{
    links_init(&extractor->links);
    text_init(&extractor->text);
    buf_init(&extractor->name, NAME_MAXIMUM);
    buf_init(&extractor->datatype, NAME_MAXIMUM);
    for (size_t i = 0; i < HTML_MEDIA_KINDS; i++) {
        buf_init(&extractor->media[i], LINK_MAXIMUM);
    }
}

void
html_extractor_release(struct html_extractor *extractor)
{
    links_release(&extractor->links);
    text_release(&extractor->text);
    buf_release(&extractor->name);
    buf_release(&extractor->datatype);
    for (size_t i = 0; i < HTML_MEDIA_KINDS; i++) {
        buf_release(&extractor->media[i]);
    }
}

static void
walk_title(struct html_walk *walk)
{
    if (walk->has_title) {
        return;
    }
    struct text *text = &walk->extractor->text;
    const struct html_node *nodes = walk->tree->nodes;
    char language[36];
    text_begin(text, TITLE_MAXIMUM);
    for (uint32_t i = walk->node + 1; i < nodes[walk->node].end; i++) {
        if (nodes[i].kind == HTML_TEXT) {
            text_add(text, nodes[i].text);
        }
    }
    const struct slice title = text_end(text);
    walk->has_title = title.length > 0;
    emit_text(walk->emitter, VOCABULARY_DCTERMS "title", title,
              html_walk_language(walk, walk->node, language));
}

void
html_rebase(const struct html_tree *tree, struct links *links)
{
    for (uint32_t i = 1; i < tree->node_count; i++) {
        struct slice href;
        if (tree->nodes[i].element == HTML_BASE && tree->nodes[i].space == HTML_SPACE_HTML &&
            html_attribute(tree, i, "href", &href)) {
            links_rebase(links, href);
            return;
        }
    }
}

/* Declarations of prefixes for names of meta elements, wherever they stand (DCMI, "Expressing
 * Dublin Core metadata using HTML"). */
static void
find_schemas(struct html_walk *walk)
{
    struct html_extractor *extractor = walk->extractor;
    const struct html_tree *tree = walk->tree;
    extractor->schema_count = 0;
    for (uint32_t i = 1; i < tree->node_count && extractor->schema_count < HTML_SCHEMAS; i++) {
        struct slice prefix, href;
        if (tree->nodes[i].element == HTML_LINK && html_is_schema(tree, i, &prefix) &&
            html_attribute(tree, i, "href", &href)) {
            extractor->schemas[extractor->schema_count].prefix = prefix;
            extractor->schemas[extractor->schema_count++].namespace = slice_trim(href);
        }
    }
}

static void
walk_language_of_page(struct html_walk *walk)
{
    char language[36];
    if (walk->tree->node_count > 1) {
        emit_text(walk->emitter, VOCABULARY_DCTERMS "language",
                  html_walk_language(walk, 1, language), (struct slice){0});
    }
}

/* Dates that the page marks as such; the one that says when it was published apart. */
static void
walk_time(struct html_walk *walk)
{
    struct slice written, pubdate;
    char text[DATE_TEXT_SIZE];
    bool has_time;
    if (!html_attribute(walk->tree, walk->node, "datetime", &written) ||
        !date_parse(slice_trim(written), text, &has_time)) {
        return;
    }
    struct term object = term_literal(slice_string(text));
    const size_t dash = slice_find(object.value, '-');
    if (has_time) {
        object.datatype = SLICE(VOCABULARY_XSD "dateTime");
    } else if (object.value.length - dash == 6) {
        object.datatype = SLICE(VOCABULARY_XSD "date");
    }
    emit(walk->emitter, &walk->emitter->document,
         html_attribute(walk->tree, walk->node, "pubdate", &pubdate) ? VOCABULARY_DCTERMS "issued"
                                                                     : VOCABULARY_QUADRILLE "time",
         &object);
}

/* Returns the node to go on with. */
static uint32_t
walk_element(struct html_walk *walk)
{
    const struct html_node *node = &walk->tree->nodes[walk->node];
    const uint32_t next = walk->node + 1;
    if (node->space != HTML_SPACE_HTML) {
        if (node->element == HTML_A) {
            html_walk_anchor(walk);
        }
        return next;
    }
    switch (node->element) {
    case HTML_TITLE:
        walk_title(walk);
        return node->end;
    case HTML_META:
        html_walk_meta(walk);
        return next;
    case HTML_LINK:
        html_walk_link(walk);
        return next;
    case HTML_A:
    case HTML_AREA:
        html_walk_anchor(walk);
        return next;
    case HTML_FRAME:
        html_walk_source(walk);
        return next;
    case HTML_IFRAME:
        html_walk_source(walk);
        return node->end;
    case HTML_IMG:
        html_walk_image(walk);
        return next;
    case HTML_TIME:
        walk_time(walk);
        return next;
    case HTML_SCRIPT:
    case HTML_STYLE:
    case HTML_TEMPLATE:
    case HTML_NOEMBED:
    case HTML_NOFRAMES:
        return node->end;
    default:
        return next;
    }
}

enum status
html_extract(struct html_extractor *extractor, const struct html_tree *tree, struct slice base,
             struct emitter *emitter)
{
    struct html_walk walk = {.extractor = extractor, .tree = tree, .emitter = emitter};
    links_begin(&extractor->links, base);
    for (size_t i = 0; i < HTML_MEDIA_KINDS; i++) {
        buf_reset(&extractor->media[i]);
    }
    html_rebase(tree, &extractor->links);
    find_schemas(&walk);
    if (extractor->lines) {
        emitter->line = tree->node_count > 1 ? html_line(tree, 1) : 1;
    }
    emit_iri(emitter, VOCABULARY_RDF "type", SLICE(VOCABULARY_FOAF "Document"));
    walk_language_of_page(&walk);
    for (uint32_t i = 1; i < tree->node_count && emitter->status == STATUS_OK;) {
        walk.node = i;
        emitter->line = extractor->lines ? html_line(tree, i) : 0;
        if (tree->nodes[i].kind == HTML_TEXT) {
            html_walk_emails(&walk, tree->nodes[i].text);
            i++;
        } else {
            i = walk_element(&walk);
        }
    }
    return emitter->status;
}
