/* The walk: RDFa Core 1.1, section 7.5, and what host languages add to it. */
#include "transforms/rdfa/rdfa.h"

#include <stdlib.h>

#include "base/memory.h"
#include "rdf/core/vocabulary.h"
#include "transforms/rdfa/rdfa_processor.h"
#include "transforms/rdfa/rdfa_steps.h"

/* ---- lists ---- */

static void
emit_list(struct rdfa *rdfa, const struct term *subject, const struct rdfa_list *list)
{
    const struct term nil = term_iri(SLICE(RDF_NIL));
    struct term cell = list->first ? rdfa_blank(rdfa) : nil;
    rdfa->line = list->line;
    rdfa_add(rdfa, subject, list->predicate, &cell);
    for (const struct rdfa_item *item = list->first; item; item = item->next) {
        const struct term next = item->next ? rdfa_blank(rdfa) : nil;
        rdfa_add(rdfa, &cell, SLICE(RDF_FIRST), &item->value);
        rdfa_add(rdfa, &cell, SLICE(RDF_REST), &next);
        cell = next;
    }
}

static void
pop_context(struct rdfa *rdfa)
{
    const struct rdfa_context *context = &rdfa->contexts[--rdfa->depth];
    for (size_t i = 0; i < 2; i++) {
        if (context->own[i].subject.kind != TERM_NONE) {
            const struct rdfa_list *list = context->own[i].lists->first;
            for (; list; list = list->next) {
                emit_list(rdfa, &context->own[i].subject, list);
            }
        }
    }
}

static struct rdfa_context *
push_context(struct rdfa *rdfa)
{
    if (rdfa->depth == rdfa->context_capacity) {
        rdfa->context_capacity = rdfa->context_capacity * 2 + 16;
        rdfa->contexts =
            memory_resize(rdfa->contexts, rdfa->context_capacity, sizeof *rdfa->contexts);
    }
    return &rdfa->contexts[rdfa->depth++];
}

/* ---- the walk ---- */

/* An element with nothing but a link begins a subject that matters to what is inside only. */
static bool
is_inert(const struct rdfa *rdfa, const struct rdfa_context *context,
         const struct rdfa_element *element)
{
    static const unsigned quiet = RDFA_BIT(HREF) | RDFA_BIT(SRC) | RDFA_BIT(CONTENT) |
                                  RDFA_BIT(DATETIME) | RDFA_BIT(ID) | RDFA_BIT(XMLNS) |
                                  RDFA_BIT(LANG) | RDFA_BIT(XML_LANG);
    if (context->incomplete || element->present & ~quiet) {
        return false;
    }
    const struct html_node *nodes = rdfa->tree->nodes;
    for (uint32_t i = element->node + 1; i < nodes[element->node].end; i++) {
        if (nodes[i].attribute_count > 0) {
            return false;
        }
    }
    return true;
}

static bool
is_head_or_body(const struct rdfa *rdfa, uint32_t node)
{
    const unsigned element = rdfa->tree->nodes[node].element;
    return rdfa->host != RDFA_XML && (element == HTML_HEAD || element == HTML_BODY);
}

static bool
is_skipped(const struct rdfa *rdfa, uint32_t node)
{
    return rdfa->host != RDFA_XML && rdfa->tree->nodes[node].element == HTML_TEMPLATE;
}

/* Returns the node to go on with. */
static uint32_t
walk_element(struct rdfa *rdfa, uint32_t node, bool is_root)
{
    const struct html_node *at = &rdfa->tree->nodes[node];
    struct rdfa_context outer = rdfa->contexts[rdfa->depth - 1];
    struct rdfa_element element;
    if (is_skipped(rdfa, node)) {
        return at->end;
    }
    rdfa->node = node;
    if (rdfa->options->lines) {
        rdfa->line = html_line(rdfa->tree, node);
    }
    if ((!rdfa_read_element(rdfa, node, &element) || is_inert(rdfa, &outer, &element)) &&
        !(outer.incomplete && is_head_or_body(rdfa, node))) {
        return node + 1;
    }
    struct rdfa_context inner = outer;
    inner.end = at->end;
    inner.own[0].subject = inner.own[1].subject = (struct term){0};
    rdfa_declare(rdfa, &outer, &element);
    const bool recurse =
        rdfa_process(rdfa, &outer, &element, is_root, is_head_or_body(rdfa, node), &inner);
    inner.mapping_count = rdfa->mapping_count;
    *push_context(rdfa) = inner;
    return recurse ? node + 1 : at->end;
}

static void
walk(struct rdfa *rdfa)
{
    const struct html_tree *tree = rdfa->tree;
    bool seen_root = false;
    for (uint32_t i = 1; i < tree->node_count && !rdfa->full;) {
        while (rdfa->depth > 1 && rdfa->contexts[rdfa->depth - 1].end <= i) {
            pop_context(rdfa);
            rdfa->mapping_count = rdfa->contexts[rdfa->depth - 1].mapping_count;
        }
        if (tree->nodes[i].kind != HTML_ELEMENT) {
            i++;
            continue;
        }
        i = walk_element(rdfa, i, !seen_root);
        seen_root = true;
    }
    while (rdfa->depth > 0) {
        pop_context(rdfa);
    }
}

/* ---- the document ---- */

/* <base href>, where the host language has it. */
static struct slice
find_base(struct rdfa *rdfa)
{
    const struct html_tree *tree = rdfa->tree;
    const struct slice document = rdfa_resolve(rdfa, rdfa->options->base, SLICE(""));
    struct slice href;
    for (uint32_t i = 1; rdfa->host != RDFA_XML && i < tree->node_count; i++) {
        if (tree->nodes[i].element == HTML_BASE && tree->nodes[i].space == HTML_SPACE_HTML &&
            html_attribute(tree, i, "href", &href)) {
            const struct slice base = rdfa_resolve(rdfa, document, slice_trim(href));
            return base.at ? rdfa_resolve(rdfa, base, SLICE("")) : document;
        }
    }
    return document;
}

static void
begin(struct rdfa *rdfa)
{
    rdfa->base = find_base(rdfa);
    struct rdfa_lists *lists = arena_zero(&rdfa->arena, sizeof *lists);
    if (!lists || !rdfa->base.at) {
        rdfa->full |= !lists;
        return;
    }
    const struct term base = term_iri(rdfa->base);
    *push_context(rdfa) = (struct rdfa_context){.end = rdfa->tree->node_count,
                                                .parent_subject = base,
                                                .parent_object = base,
                                                .lists = lists,
                                                .own = {{lists, base}},
                                                .base = rdfa->base};
}

static void
apply_rules(struct rdfa *rdfa)
{
    if (rdfa->copies && rdfa->host == RDFA_HTML) {
        rdfa_copy_patterns(rdfa);
    }
    if (!rdfa->options->vocabulary || rdfa->vocabulary_count == 0) {
        return;
    }
    struct graph graph;
    graph_init(&graph, rdfa->options->memory);
    for (size_t i = 0; i < rdfa->vocabulary_count; i++) {
        rdfa->options->vocabulary(rdfa->options->context, rdfa->vocabularies[i], &graph);
    }
    rdfa_expand(rdfa, &graph);
    graph_release(&graph);
}

static enum status
hand_over(const struct quad *quads, size_t count, const struct quad_sink *sink, struct reason *why)
{
    for (size_t i = 0; i < count; i++) {
        TRY(sink->quad(sink->context, &quads[i], why));
    }
    return STATUS_OK;
}

enum status
rdfa_extract(const struct html_tree *tree, const struct rdfa_options *options,
             const struct quad_sink *sink, struct reason *why)
{
    struct rdfa rdfa = {.tree = tree, .options = options, .host = options->host};
    arena_init(&rdfa.arena, options->memory);
    buf_init(&rdfa.work, options->memory ? options->memory : SIZE_MAX / 2);
    buf_init(&rdfa.text, options->memory ? options->memory : SIZE_MAX / 2);
    begin(&rdfa);
    if (rdfa.depth > 0) {
        walk(&rdfa);
    }
    rdfa.full |= rdfa.work.overflowed || rdfa.text.overflowed;
    if (!rdfa.full && !options->processor_graph) {
        apply_rules(&rdfa);
    }
    enum status status = STATUS_OK;
    if (rdfa.full) {
        status = status_fail(why, STATUS_LIMIT, "RDFa passes %zu bytes", options->memory);
    } else if (options->processor_graph) {
        status = hand_over(rdfa.reports, rdfa.report_count, sink, why);
    } else {
        status = hand_over(rdfa.quads, rdfa.quad_count, sink, why);
    }
    arena_release(&rdfa.arena);
    buf_release(&rdfa.work);
    buf_release(&rdfa.text);
    free(rdfa.quads);
    free(rdfa.reports);
    free(rdfa.contexts);
    free(rdfa.mappings);
    free(rdfa.vocabularies);
    free(rdfa.sorted);
    return status;
}
