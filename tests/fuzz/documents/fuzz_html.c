/* A page through our parsers: the tree holds together, and
 * its quads are written. The first byte says how the text begins: as HTML or XHTML. */
#include <stdlib.h>

#include "rdf/core/graph.h"
#include "rdf/core/writer.h"
#include "transforms/common/encoding.h"
#include "transforms/page/page_extract.h"
#include "transforms/xml/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static struct arena arena;
static struct html_tree tree;
static struct html_extractor extractor;
static struct encodings *encodings;
static struct graph graph;
static struct buf text_memory, lines;

/* Children lie inside their parents, in order; attributes are where they are said to be. */
static void
check_tree(void)
{
    for (uint32_t i = 0; i < tree.node_count; i++) {
        const struct html_node *node = &tree.nodes[i];
        const struct html_node *parent = &tree.nodes[node->parent];
        if (node->end <= i || node->end > tree.node_count ||
            (i > 0 &&
             (node->parent >= i || parent->end < node->end || parent->kind == HTML_TEXT)) ||
            node->attribute + node->attribute_count > tree.attribute_count) {
            abort();
        }
    }
}

static void
extract(void)
{
    struct reason why;
    const struct quad_sink sink = graph_sink(&graph);
    struct emitter emitter = {
        .sink = &sink, .document = term_iri(SLICE("http://h.example/d")), .why = &why};
    graph_reset(&graph);
    buf_reset(&lines);
    if (html_extract(&extractor, &tree, SLICE("http://h.example/d"), &emitter) != STATUS_OK) {
        return;
    }
    graph_sort_unique(&graph);
    for (size_t i = 0; i < graph.count; i++) {
        if (nquads_write(&lines, &graph.quads[i]) != STATUS_OK) {
            abort();
        }
    }
    if (!encoding_is_utf8(buf_slice(&lines))) {
        abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reason why;
    struct slice text;
    if (!encodings) {
        xml_prepare();
        arena_init(&arena, 64 << 20);
        html_tree_init(&tree, &arena);
        html_extractor_init(&extractor);
        encodings = encodings_open();
        graph_init(&graph, 64 << 20);
        buf_init(&text_memory, 64 << 20);
        buf_init(&lines, 64 << 20);
    }
    if (size == 0) {
        return 0;
    }
    const struct slice bytes = {(const char *)data + 1, size - 1};
    const char *encoding = encoding_of_html(bytes, (struct slice){0}, NULL);
    if (encoding_convert(encodings, encoding, bytes, &text_memory, &text, &why) != STATUS_OK) {
        return 0;
    }
    arena_reset(&arena);
    if ((data[0] & 1) && xhtml_parse(&tree, text, &why) == STATUS_OK) {
        check_tree();
        extract();
    }
    arena_reset(&arena);
    if (html_parse(&tree, text, &why) != STATUS_OK) {
        return 0;
    }
    check_tree();
    extract();
    return 0;
}
