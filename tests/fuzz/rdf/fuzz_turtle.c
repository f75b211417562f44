/* Turtle, TriG and N3; what is read is written as Turtle and read again. */
#include "rdf/turtle/turtle.h"

#include "rdf/turtle/turtle_writer.h"
#include "tests/fuzz/rdf/rdf_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_writer(const uint8_t *data, size_t size)
{
    struct graph graph, again;
    struct reason why;
    struct buf text;
    const struct parse_options options = {.lenient = true, .base = SLICE("http://a.example/")};
    graph_init(&graph, RDF_FUZZ_GRAPH);
    graph_init(&again, 0);
    buf_init(&text, SIZE_MAX / 2);
    const struct quad_sink sink = graph_sink(&graph), other = graph_sink(&again);
    turtle_parse(slice_of((const char *)data, size), &options, &sink, &why);
    graph_sort_unique(&graph);
    rdf_fuzz_require(turtle_write(&text, &graph, NULL, &why) == STATUS_OK);
    rdf_fuzz_require(turtle_parse(buf_slice(&text), NULL, &other, &why) == STATUS_OK);
    rdf_fuzz_require(again.count == graph.count);
    graph_release(&graph);
    graph_release(&again);
    buf_release(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rdf_fuzz_run(turtle_parse, data, size);
    rdf_fuzz_run(trig_parse, data, size);
    rdf_fuzz_run(n3_parse, data, size);
    check_writer(data, size);
    return 0;
}
