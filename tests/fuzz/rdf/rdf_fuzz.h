/* Every fuzzed parser must keep this: quads are well-formed, and written as N-Quads they read back
 * as the same quads. */
#ifndef TESTS_FUZZ_RDF_RDF_FUZZ_H
#define TESTS_FUZZ_RDF_RDF_FUZZ_H

#include <stdlib.h>

#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"

enum { RDF_FUZZ_GRAPH = 8 << 20, RDF_FUZZ_WORK = 2000 };

static inline void
rdf_fuzz_require(bool true_always)
{
    if (!true_always) {
        abort();
    }
}

static inline void
rdf_fuzz_problem(void *context, const struct parse_problem *problem)
{
    (void)context;
    rdf_fuzz_require(problem->text != NULL);
}

/* Writes the graph, reads it, compares; then gives it canonical labels. */
static inline void
rdf_fuzz_check_graph(struct graph *graph)
{
    struct graph again;
    struct buf text;
    struct reason why;
    buf_init(&text, SIZE_MAX / 2);
    graph_init(&again, 0);
    for (size_t i = 0; i < graph->count; i++) {
        rdf_fuzz_require(nquads_write(&text, &graph->quads[i]) == STATUS_OK);
    }
    const struct quad_sink sink = graph_sink(&again);
    rdf_fuzz_require(nquads_parse(buf_slice(&text), NULL, &sink, &why) == STATUS_OK);
    rdf_fuzz_require(again.count == graph->count);
    for (size_t i = 0; i < graph->count; i++) {
        rdf_fuzz_require(quad_compare(&graph->quads[i], &again.quads[i]) == 0);
    }
    const enum status status = graph_relabel(graph, SLICE("a:document"), RDF_FUZZ_WORK, NULL, &why);
    rdf_fuzz_require(status == STATUS_OK || status == STATUS_LIMIT);
    graph_release(&again);
    buf_release(&text);
}

static inline void
rdf_fuzz_run(parse_function *parse, const uint8_t *data, size_t size)
{
    for (int lenient = 0; lenient < 2; lenient++) {
        struct graph graph;
        struct reason why;
        const struct parse_options options = {
            .base = SLICE("http://a.example/b/c"),
            .lenient = lenient,
            .problems = {.problem = rdf_fuzz_problem},
            .term_size = 1 << 20,
        };
        graph_init(&graph, RDF_FUZZ_GRAPH);
        const struct quad_sink sink = graph_sink(&graph);
        parse(slice_of((const char *)data, size), &options, &sink, &why);
        rdf_fuzz_check_graph(&graph);
        graph_release(&graph);
    }
}

#endif
