/* Any page: what comes out is RDF that can be written, and the work is bounded. */
#include <stdlib.h>

#include "transforms/html_extract.h"
#include "transforms/microformats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
take_problem(void *context, const struct parse_problem *problem)
{
    (void)context;
    if (problem->text[0] == '\0') {
        abort();
    }
}

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)context, (void)why;
    if (quad->predicate.kind != TERM_IRI || quad->subject.kind == TERM_LITERAL) {
        abort();
    }
    return STATUS_OK;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reason why;
    struct arena arena;
    struct html_tree tree;
    struct links links;
    const struct slice base = SLICE("http://h.example/d");
    const struct quad_sink sink = {take_quad, NULL};
    const struct problem_sink problems = {take_problem, NULL};
    struct emitter emitter = {.sink = &sink, .document = term_iri(base), .why = &why};
    arena_init(&arena, 32 << 20);
    html_tree_init(&tree, &arena);
    links_init(&links);
    links_begin(&links, base);
    if (html_parse(&tree, slice_of((const char *)data, size), &why) == STATUS_OK) {
        const struct microformats_options options = {
            .lines = true, .problems = problems, .advice = problems};
        html_rebase(&tree, &links);
        struct microformats found;
        if (microformats_parse(&tree, base, true, &found, &why) == STATUS_OK) {
            microformats_emit(&tree, &found, &links, &options, &emitter);
        }
    }
    links_release(&links);
    html_tree_release(&tree);
    arena_release(&arena);
    return 0;
}
