/* A fuzzer's input as a page for one extractor: what comes out is RDF that can be written, and
 * every problem has a text. */
#ifndef TESTS_FUZZ_DOCUMENTS_PAGE_H
#define TESTS_FUZZ_DOCUMENTS_PAGE_H

#include <stdlib.h>

#include "transforms/page/page_extract.h"

#define PAGE_URI "http://h.example/d"

typedef void page_extract(const struct html_tree *tree, struct links *links,
                          const struct problem_sink *problems, struct emitter *emitter);

static inline void
page_take_problem(void *context, const struct parse_problem *problem)
{
    (void)context;
    if (problem->text[0] == '\0') {
        abort();
    }
}

static inline enum status
page_take_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)context, (void)why;
    if (quad->predicate.kind != TERM_IRI || quad->subject.kind == TERM_LITERAL) {
        abort();
    }
    return STATUS_OK;
}

static inline void
page_run(const uint8_t *data, size_t size, page_extract *extract)
{
    struct reason why;
    struct arena arena;
    struct html_tree tree;
    struct links links;
    const struct slice base = SLICE(PAGE_URI);
    const struct quad_sink sink = {page_take_quad, NULL};
    const struct problem_sink problems = {page_take_problem, NULL};
    struct emitter emitter = {.sink = &sink, .document = term_iri(base), .why = &why};
    arena_init(&arena, 32 << 20);
    html_tree_init(&tree, &arena);
    links_init(&links);
    links_begin(&links, base);
    if (html_parse(&tree, slice_of((const char *)data, size), &why) == STATUS_OK) {
        html_rebase(&tree, &links);
        extract(&tree, &links, &problems, &emitter);
    }
    links_release(&links);
    html_tree_release(&tree);
    arena_release(&arena);
}

#endif
