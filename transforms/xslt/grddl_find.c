/* Tells which transformations a document names. See grddl.h. */
#include <libxml/tree.h>

#include "rdf/format.h"
#include "transforms/common/links.h"
#include "transforms/xslt/grddl.h"

#define XHTML_SPACE "http://www.w3.org/1999/xhtml"

enum { WORDS_MAXIMUM = 64, RESOURCE_BYTES = 4 << 20 };

static void
add(struct transformation *transformation, struct grddl_list *list, struct slice iri)
{
    for (size_t i = 0; i < list->count; i++) {
        if (slice_equal(list->iris[i], iri)) {
            return;
        }
    }
    if (list->count == GRDDL_STYLESHEETS) {
        list->full = true;
        return;
    }
    const struct slice copy = arena_copy(&transformation->arena, iri);
    if (copy.at) {
        list->iris[list->count++] = copy;
    }
}

/* Words are references to transformations. */
static void
add_words(struct transformation *transformation, struct slice base, struct slice words,
          struct grddl_list *list)
{
    struct links *links = &transformation->extractor.links;
    struct slice word, iri;
    if (!links_begin(links, base)) {
        return;
    }
    for (size_t n = 0; n < WORDS_MAXIMUM && (word = slice_next_word(&words)).length > 0; n++) {
        if (links_resolve(links, word, &iri)) {
            add(transformation, list, iri);
        }
    }
}

/* ---- documents of profiles and namespaces ---- */

struct search {
    struct transformation *transformation;
    struct grddl_list *list;
    const char *term; /* "profileTransformation", "namespaceTransformation" */
};

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct search *search = context;
    (void)why;
    const struct slice space = SLICE(GRDDL_NAMESPACE);
    const struct slice predicate = quad->predicate.value;
    if (quad->object.kind == TERM_IRI && slice_starts(predicate, space) &&
        slice_is(slice_of(predicate.at + space.length, predicate.length - space.length),
                 search->term)) {
        add(search->transformation, search->list, quad->object.value);
    }
    return STATUS_OK;
}

/* "transformation", "grddl:profileTransformation": the prefix does not matter. */
static bool
has_relation(struct slice rel, const char *term)
{
    struct slice word;
    while ((word = slice_next_word(&rel)).length > 0) {
        const size_t colon = slice_find(word, ':');
        const size_t from = colon < word.length ? colon + 1 : 0;
        if (slice_equal_nocase(slice_of(word.at + from, word.length - from), slice_string(term))) {
            return true;
        }
    }
    return false;
}

static void
find_links(struct transformation *transformation, const struct html_tree *tree, struct slice base,
           const char *term, struct grddl_list *list)
{
    struct slice rel, href;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct html_node *node = &tree->nodes[i];
        const bool link =
            node->kind == HTML_ELEMENT &&
            (node->element == HTML_A || node->element == HTML_LINK || node->element == HTML_AREA);
        if (link && html_attribute(tree, i, "rel", &rel) && has_relation(rel, term) &&
            html_attribute(tree, i, "href", &href)) {
            add_words(transformation, base, href, list);
        }
    }
}

static void
search_resource(struct search *search, const struct transform_resource *resource)
{
    struct reason unused;
    struct slice type = resource->content_type;
    type = slice_trim(slice_of(type.at, slice_find(type, ';')));
    const enum rdf_format format = rdf_format_of_media_type(type);
    const struct slice base =
        resource->document_uri.length > 0 ? resource->document_uri : resource->uri;
    if (resource->bytes.length > RESOURCE_BYTES) {
        return;
    }
    if (format != RDF_FORMAT_NONE) {
        const struct quad_sink sink = {take_quad, search};
        const struct parse_options options = {.base = base, .lenient = true};
        rdf_parse(format, resource->bytes, &options, &sink, &unused);
        return;
    }
    struct html_tree tree;
    html_tree_init(&tree, &search->transformation->arena);
    if (encoding_is_utf8(resource->bytes) &&
        html_parse(&tree, resource->bytes, &unused) == STATUS_OK) {
        find_links(search->transformation, &tree, base, search->term, search->list);
    }
    html_tree_release(&tree);
}

/* Nothing is run that is not allowed, so where nothing is, nothing is asked for. */
static void
look_into(struct transformation *transformation, struct slice uri, const char *term,
          struct grddl_list *list)
{
    struct search search = {transformation, list, term};
    if (!list->allows_any ||
        !(slice_starts(uri, SLICE("http://")) || slice_starts(uri, SLICE("https://")))) {
        return;
    }
    const struct slice document = slice_of(uri.at, slice_find(uri, '#'));
    const struct transform_resource *resource = transformation_resource(transformation, document);
    if (resource && resource->failure.length == 0) {
        search_resource(&search, resource);
    }
}

/* ---- pages ---- */

static struct slice
page_base(struct transformation *transformation)
{
    const struct html_tree *tree = &transformation->tree;
    struct slice href, iri;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        if (tree->nodes[i].kind == HTML_ELEMENT && tree->nodes[i].element == HTML_BASE &&
            html_attribute(tree, i, "href", &href)) {
            struct links *links = &transformation->extractor.links;
            if (links_begin(links, transformation->request->uri) &&
                links_resolve(links, href, &iri)) {
                return arena_copy(&transformation->arena, iri);
            }
        }
    }
    return transformation->request->uri;
}

static void
find_in_page(struct transformation *transformation, struct grddl_list *list)
{
    const struct html_tree *tree = &transformation->tree;
    struct slice profiles = {0}, word;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        if (tree->nodes[i].kind == HTML_ELEMENT && tree->nodes[i].element == HTML_HEAD) {
            html_attribute(tree, i, "profile", &profiles);
            break;
        }
    }
    if (profiles.length == 0) {
        return;
    }
    const struct slice base = page_base(transformation);
    while ((word = slice_next_word(&profiles)).length > 0) {
        if (slice_is(word, GRDDL_PROFILE) || slice_is(word, GRDDL_NAMESPACE)) {
            find_links(transformation, tree, base, "transformation", list);
        } else {
            look_into(transformation, word, "profileTransformation", list);
        }
    }
}

/* ---- XML ---- */

static void
find_in_xml(struct transformation *transformation, struct grddl_list *list)
{
    const xmlNodePtr root = xmlDocGetRootElement(transformation->xml);
    xmlChar *named = xmlGetNsProp(root, BAD_CAST "transformation", BAD_CAST GRDDL_NAMESPACE);
    if (named) {
        xmlChar *base = xmlNodeGetBase(transformation->xml, root);
        add_words(transformation,
                  base ? slice_string((const char *)base) : transformation->request->uri,
                  slice_string((const char *)named), list);
        xmlFree(base);
    }
    xmlFree(named);
    if (root->ns && !xmlStrEqual(root->ns->href, BAD_CAST XHTML_SPACE)) {
        look_into(transformation, slice_string((const char *)root->ns->href),
                  "namespaceTransformation", list);
    }
}

enum status
grddl_find(struct transformation *transformation, struct grddl_list *list, struct reason *why)
{
    const struct slice type = transformation->request->type;
    if (slice_is(type, "text/html") || slice_is(type, "application/xhtml+xml")) {
        TRY(transformation_html(transformation, why));
        if (transformation_html_features(transformation) & HTML_HAS_GRDDL) {
            find_in_page(transformation, list);
        }
        return STATUS_OK;
    }
    struct slice text;
    TRY(transformation_text(transformation, TEXT_XML, &text, why));
    if (list->allows_any || slice_find_slice(text, SLICE(GRDDL_NAMESPACE)) < text.length) {
        TRY(transformation_xml(transformation, why));
        find_in_xml(transformation, list);
    }
    return STATUS_OK;
}
