/* Turtle, TriG and RDF/XML in pieces of any size give what they give at once. */
#include "rdf/rdfxml/rdfxml.h"
#include "rdf/turtle/turtle.h"
#include "tests/fuzz/rdf/rdf_fuzz.h"

struct pieces {
    struct slice rest;
    size_t size;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum status
next_piece(void *context, char *bytes, size_t size, size_t *length, struct reason *why)
{
    struct pieces *pieces = context;
    (void)why;
    size = size < pieces->size ? size : pieces->size;
    *length = size < pieces->rest.length ? size : pieces->rest.length;
    memcpy(bytes, pieces->rest.at, *length);
    pieces->rest = slice_of(pieces->rest.at + *length, pieces->rest.length - *length);
    return STATUS_OK;
}

static void
compare(struct slice text, size_t piece, parse_function *parse, rdf_read_function *read)
{
    struct graph whole, parts;
    struct reason why = {""};
    struct pieces pieces = {text, piece};
    const struct rdf_source source = {next_piece, &pieces};
    const struct parse_options options = {.base = SLICE("http://a.example/b/c"),
                                          .term_size = 1 << 20};
    graph_init(&whole, RDF_FUZZ_GRAPH);
    graph_init(&parts, RDF_FUZZ_GRAPH);
    const struct quad_sink sink = graph_sink(&whole), part_sink = graph_sink(&parts);
    const enum status expected = parse(text, &options, &sink, &why);
    const enum status found = read(&source, &options, &part_sink, &why);
    rdf_fuzz_require((expected == STATUS_OK) == (found == STATUS_OK));
    if (expected == STATUS_OK) {
        rdf_fuzz_require(whole.count == parts.count);
        for (size_t i = 0; i < whole.count; i++) {
            rdf_fuzz_require(quad_compare(&whole.quads[i], &parts.quads[i]) == 0);
        }
    }
    graph_release(&whole);
    graph_release(&parts);
}

/* The first byte says how long pieces are. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    const struct slice text = slice_of((const char *)data + 1, size - 1);
    const size_t piece = 1 + data[0] % 64;
    compare(text, piece, turtle_parse, turtle_read);
    compare(text, piece, trig_parse, trig_read);
    compare(text, piece, rdfxml_parse, rdfxml_read);
    return 0;
}
