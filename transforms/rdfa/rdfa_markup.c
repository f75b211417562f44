/* Content as markup, for rdf:XMLLiteral and rdf:HTML.
 *
 * Each of the outermost elements of an XMLLiteral declares all namespaces and prefixes in scope
 * (those of prefix too, as CURIEs in it may use them), after its attributes and sorted, so that it
 * can be read by itself. Elements inside declare what they did in the document.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "transforms/rdfa/rdfa_processor.h"

struct writer {
    struct rdfa *rdfa;
    struct buf *out;
    uint32_t root; /* what stands inside it is written */
    bool html;
};

static const char *const space_names[] = {
    [HTML_SPACE_HTML] = "http://www.w3.org/1999/xhtml",
    [HTML_SPACE_SVG] = "http://www.w3.org/2000/svg",
    [HTML_SPACE_MATH] = "http://www.w3.org/1998/Math/MathML",
};

static bool
is_xml_tree(const struct rdfa *rdfa)
{
    return strcmp(rdfa->tree->parser, "xhtml") == 0;
}

/* ---- text ---- */

static void
write_escaped(struct writer *writer, struct slice text, bool in_attribute)
{
    size_t start = 0;
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        const char *escape = NULL;
        switch (c) {
        case '&':
            escape = "&amp;";
            break;
        case '<':
            escape = writer->html && in_attribute ? NULL : "&lt;";
            break;
        case '>':
            escape = in_attribute ? NULL : "&gt;";
            break;
        case '"':
            escape = in_attribute ? "&quot;" : NULL;
            break;
        case '\r':
            escape = writer->html ? NULL : "&#xD;";
            break;
        default:
            break;
        }
        if (escape) {
            buf_append(writer->out, text.at + start, i - start);
            buf_append_string(writer->out, escape);
            start = i + 1;
        }
    }
    buf_append(writer->out, text.at + start, text.length - start);
}

/* ---- names ---- */

/* A pessimistic Name of XML: what HTML allows beyond it is left out. */
static bool
is_name(struct slice name)
{
    for (size_t i = 0; i < name.length; i++) {
        const uint8_t c = (uint8_t)name.at[i];
        const bool letter =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || c >= 0x80;
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-' || c == '.'))) {
            return false;
        }
    }
    return name.length > 0;
}

static int
compare_mappings(const void *left, const void *right)
{
    const struct rdfa_mapping *a = *(const struct rdfa_mapping *const *)left;
    const struct rdfa_mapping *b = *(const struct rdfa_mapping *const *)right;
    const int order = slice_compare(a->prefix, b->prefix);
    return order != 0 ? order : (a > b) - (a < b);
}

/* Sorts the prefixes in scope; of each the one that was declared last counts. Kept while the scope
 * is the same. */
static void
sort_mappings(struct rdfa *rdfa)
{
    const size_t count = rdfa->mapping_count;
    if (rdfa->sorted && rdfa->sorted_scope == rdfa->scope && rdfa->sorted_of == count) {
        return;
    }
    const struct rdfa_mapping **sorted = memory_resize(rdfa->sorted, count + 1, sizeof *sorted);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &rdfa->mappings[i];
    }
    if (count > 0) {
        qsort(sorted, count, sizeof *sorted, compare_mappings);
    }
    for (size_t i = 0; i < count; i++) {
        const bool is_last =
            i + 1 == count || !slice_equal(sorted[i]->prefix, sorted[i + 1]->prefix);
        if (is_last && is_name(sorted[i]->prefix)) {
            sorted[kept++] = sorted[i];
        }
    }
    rdfa->sorted = sorted;
    rdfa->sorted_count = kept;
    rdfa->sorted_of = count;
    rdfa->sorted_scope = rdfa->scope;
}

static void
write_declaration(struct writer *writer, struct slice prefix, struct slice iri)
{
    buf_append_string(writer->out, prefix.length > 0 ? " xmlns:" : " xmlns");
    buf_append_slice(writer->out, prefix);
    buf_append_string(writer->out, "=\"");
    write_escaped(writer, iri, true);
    buf_append_char(writer->out, '"');
}

/* ---- namespaces ---- */

/* The default namespace that holds at the node. */
static struct slice
default_namespace(const struct rdfa *rdfa, uint32_t node)
{
    struct slice value;
    if (!is_xml_tree(rdfa)) {
        return slice_string(space_names[rdfa->tree->nodes[node].space]);
    }
    for (uint32_t at = node; at != 0; at = rdfa->tree->nodes[at].parent) {
        if (html_attribute(rdfa->tree, at, "xmlns", &value)) {
            return value;
        }
    }
    return (struct slice){0};
}

static bool
declares(const struct rdfa *rdfa, uint32_t node, struct slice prefix)
{
    const struct html_node *at = &rdfa->tree->nodes[node];
    for (uint32_t i = 0; i < at->attribute_count; i++) {
        const struct slice name = rdfa->tree->attributes[at->attribute + i].name;
        if (slice_starts(name, SLICE("xmlns:")) && name.length == prefix.length + 6 &&
            memcmp(name.at + 6, prefix.at, prefix.length) == 0) {
            return true;
        }
    }
    return false;
}

static void
write_own_declarations(struct writer *writer, uint32_t node)
{
    const struct html_tree *tree = writer->rdfa->tree;
    const struct html_node *at = &tree->nodes[node];
    for (uint32_t i = 0; i < at->attribute_count; i++) {
        const struct html_attribute *attribute = &tree->attributes[at->attribute + i];
        if (slice_starts(attribute->name, SLICE("xmlns:")) && is_name(attribute->name)) {
            write_declaration(writer, slice_of(attribute->name.at + 6, attribute->name.length - 6),
                              attribute->value);
        }
    }
}

static void
write_namespaces(struct writer *writer, uint32_t node)
{
    const struct rdfa *rdfa = writer->rdfa;
    const struct html_node *nodes = rdfa->tree->nodes;
    const bool outermost = nodes[node].parent == writer->root;
    struct slice value;
    if (outermost) {
        const struct slice space = default_namespace(rdfa, node);
        if (space.length > 0) {
            write_declaration(writer, SLICE(""), space);
        }
    } else if (is_xml_tree(rdfa)) {
        if (html_attribute(rdfa->tree, node, "xmlns", &value)) {
            write_declaration(writer, SLICE(""), value);
        }
    } else if (nodes[node].space != nodes[nodes[node].parent].space) {
        write_declaration(writer, SLICE(""), default_namespace(rdfa, node));
    }
    for (size_t i = 0; outermost && i < rdfa->sorted_count; i++) {
        const struct rdfa_mapping *mapping = rdfa->sorted[i];
        if (!declares(rdfa, node, mapping->prefix)) {
            write_declaration(writer, mapping->prefix, mapping->iri);
        }
    }
    write_own_declarations(writer, node);
}

/* ---- elements ---- */

static void
write_start(struct writer *writer, uint32_t node)
{
    const struct html_tree *tree = writer->rdfa->tree;
    const struct html_node *at = &tree->nodes[node];
    buf_append_char(writer->out, '<');
    buf_append_slice(writer->out, at->text);
    for (uint32_t i = 0; i < at->attribute_count; i++) {
        const struct html_attribute *attribute = &tree->attributes[at->attribute + i];
        const bool declaration = slice_starts(attribute->name, SLICE("xmlns"));
        if (!writer->html && (declaration || !is_name(attribute->name))) {
            continue;
        }
        buf_append_char(writer->out, ' ');
        buf_append_slice(writer->out, attribute->name);
        buf_append_string(writer->out, "=\"");
        write_escaped(writer, attribute->value, true);
        buf_append_char(writer->out, '"');
    }
    if (!writer->html) {
        write_namespaces(writer, node);
    }
    buf_append_char(writer->out, '>');
}

static bool
is_void(const struct html_node *node)
{
    return node->space == HTML_SPACE_HTML && (html_element_rules(node->element) & RULE_VOID) != 0;
}

static void
write_end(struct writer *writer, uint32_t node)
{
    const struct html_node *at = &writer->rdfa->tree->nodes[node];
    if (writer->html && is_void(at)) {
        return;
    }
    buf_append_string(writer->out, "</");
    buf_append_slice(writer->out, at->text);
    buf_append_char(writer->out, '>');
}

static void
write_text(struct writer *writer, uint32_t node)
{
    const struct html_node *nodes = writer->rdfa->tree->nodes;
    const struct html_node *parent = &nodes[nodes[node].parent];
    if (writer->html && parent->space == HTML_SPACE_HTML &&
        (html_element_rules(parent->element) & RULE_RAW)) {
        buf_append_slice(writer->out, nodes[node].text);
    } else {
        write_escaped(writer, nodes[node].text, false);
    }
}

/* Elements whose name XML cannot have are left out, what is in them stays. */
static bool
is_shown(const struct writer *writer, uint32_t node)
{
    return writer->html || is_name(writer->rdfa->tree->nodes[node].text);
}

static void
write_inside(struct writer *writer)
{
    const struct html_node *nodes = writer->rdfa->tree->nodes;
    for (uint32_t i = writer->root + 1; i < nodes[writer->root].end; i++) {
        uint32_t at = i;
        if (nodes[i].kind == HTML_TEXT) {
            write_text(writer, i);
            at = nodes[i].parent;
        } else if (is_shown(writer, i)) {
            write_start(writer, i);
        }
        for (; at != writer->root && nodes[at].end == i + 1; at = nodes[at].parent) {
            if (is_shown(writer, at)) {
                write_end(writer, at);
            }
        }
    }
}

void
rdfa_write_xml(struct rdfa *rdfa, uint32_t node)
{
    struct writer writer = {.rdfa = rdfa, .out = &rdfa->text, .root = node};
    buf_reset(writer.out);
    sort_mappings(rdfa);
    write_inside(&writer);
}

void
rdfa_write_html(struct rdfa *rdfa, uint32_t node)
{
    struct writer writer = {.rdfa = rdfa, .out = &rdfa->text, .root = node, .html = true};
    buf_reset(writer.out);
    write_inside(&writer);
}
