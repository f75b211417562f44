/* Pages and what an extractor says of them, as N-Quads without their graph, and problems. */
#ifndef TESTS_UNIT_TRANSFORMS_PAGE_CASE_H
#define TESTS_UNIT_TRANSFORMS_PAGE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "rdf/format.h"
#include "transforms/page/page_extract.h"

#define PAGE_BASE "http://h.example/d"

struct page_case {
    struct arena arena;
    struct html_tree tree;
    struct links links;
    struct graph graph;
    struct quad_sink sink;
    struct emitter emitter;
    struct reason why;
    struct buf problems; /* "3: text\n" */
};

static inline void
page_take_problem(void *context, const struct parse_problem *problem)
{
    buf_printf(context, "%u: %s\n", (unsigned)problem->line, problem->text);
}

static inline struct problem_sink
page_problems(struct page_case *page)
{
    return (struct problem_sink){page_take_problem, &page->problems};
}

static inline void
page_open(struct page_case *page, const char *text)
{
    *page = (struct page_case){0};
    arena_init(&page->arena, 256 << 20);
    html_tree_init(&page->tree, &page->arena);
    links_init(&page->links);
    links_begin(&page->links, SLICE(PAGE_BASE));
    graph_init(&page->graph, 0);
    page->sink = graph_sink(&page->graph);
    page->emitter = (struct emitter){.sink = &page->sink, .why = &page->why};
    buf_init(&page->problems, 1 << 20);
    assert_int_equal(html_parse(&page->tree, slice_string(text), &page->why), STATUS_OK);
    html_rebase(&page->tree, &page->links);
}

static inline void
page_close(struct page_case *page)
{
    buf_release(&page->problems);
    graph_release(&page->graph);
    links_release(&page->links);
    html_tree_release(&page->tree);
    arena_release(&page->arena);
}

static inline void
page_lines(struct graph *graph, struct buf *lines)
{
    struct reason why;
    buf_init(lines, 64 << 20);
    assert_int_equal(graph_canonicalize(graph, CANONICAL_SHA256, 0, &why), STATUS_OK);
    buf_append_char(lines, '\n');
    for (size_t i = 0; i < graph->count; i++) {
        nquads_write(lines, &graph->quads[i]);
    }
}

/* Returns whether the page said these N-Quads: names of blank nodes do not matter. */
static inline void
page_expect(struct page_case *page, const char *quads)
{
    struct graph graph;
    struct buf have, want;
    graph_init(&graph, 0);
    const struct quad_sink sink = graph_sink(&graph);
    assert_int_equal(rdf_parse(RDF_FORMAT_NQUADS, slice_string(quads), NULL, &sink, &page->why),
                     STATUS_OK);
    page_lines(&page->graph, &have);
    page_lines(&graph, &want);
    assert_string_equal(have.data, want.data);
    buf_release(&have);
    buf_release(&want);
    graph_release(&graph);
}

#endif
