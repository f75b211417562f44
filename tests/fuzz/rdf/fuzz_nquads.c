/* N-Triples and N-Quads, whole and in two pieces. */
#include "tests/fuzz/rdf/rdf_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum status
count_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)quad;
    (void)why;
    ++*(size_t *)context;
    return STATUS_OK;
}

static void
check_pieces(const uint8_t *data, size_t size)
{
    size_t whole = 0, pieces = 0;
    struct reason why;
    const struct slice text = slice_of((const char *)data, size);
    const struct parse_options options = {.lenient = true};
    const struct quad_sink sink = {.quad = count_quad, .context = &whole};
    const struct quad_sink other = {.quad = count_quad, .context = &pieces};
    rdf_fuzz_require(nquads_parse(text, &options, &sink, &why) == STATUS_OK);
    struct nquads_reader *reader = nquads_reader_new(&options, false, &other);
    /* The byte order mark is looked for in the first piece only. */
    const size_t cut = size > 4 ? 4 + data[4] % (size - 4) : size;
    nquads_reader_feed(reader, slice_of(text.at, cut), &why);
    nquads_reader_feed(reader, slice_of(text.at + cut, size - cut), &why);
    nquads_reader_finish(reader, &why);
    nquads_reader_free(reader);
    rdf_fuzz_require(whole == pieces);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rdf_fuzz_run(nquads_parse, data, size);
    rdf_fuzz_run(ntriples_parse, data, size);
    check_pieces(data, size);
    return 0;
}
