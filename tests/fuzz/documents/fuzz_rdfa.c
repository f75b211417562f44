/* Pages and XML documents of any bytes to RDFa's triples: all of them must be quads that N-Quads
 * can hold. The first byte chooses host language and options. */
#include <stdint.h>
#include <stdlib.h>

#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"
#include "transforms/common/encoding.h"
#include "transforms/rdfa/rdfa.h"
#include "transforms/xml/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum status
write_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)why;
    nquads_write(context, quad);
    return STATUS_OK;
}

static enum status
ignore_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)context, (void)quad, (void)why;
    return STATUS_OK;
}

static void
ignore_report(void *context, enum rdfa_report report, uint32_t line, const char *text)
{
    (void)context, (void)report, (void)line, (void)text;
}

/* The document's own statements as those of the vocabulary. */
static void
give_vocabulary(void *context, struct slice iri, struct graph *into)
{
    const struct slice *input = context;
    const struct quad_sink sink = graph_sink(into);
    rdfa_read_vocabulary(SLICE("text/turtle"), *input, iri, &sink);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    xml_prepare();
    struct slice input = {(const char *)data + 1, size - 1};
    if (!encoding_is_utf8(input)) {
        return 0;
    }
    struct arena arena;
    struct html_tree tree;
    struct reason why;
    struct buf out;
    arena_init(&arena, 64 << 20);
    html_tree_init(&tree, &arena);
    buf_init(&out, 64 << 20);
    const enum rdfa_host host = data[0] % 4;
    const bool html = host == RDFA_HTML && !(data[0] & 32);
    enum status status = html ? html_parse(&tree, input, &why) : xhtml_parse(&tree, input, &why);
    const struct rdfa_options options = {.host = host,
                                         .base = SLICE("http://example.org/a/b?c"),
                                         .lines = data[0] & 4,
                                         .roles = data[0] & 8,
                                         .processor_graph = data[0] & 16,
                                         .memory = 64 << 20,
                                         .report = ignore_report,
                                         .vocabulary = data[0] & 64 ? give_vocabulary : NULL,
                                         .context = &input};
    const struct quad_sink sink = {write_quad, &out}, ignored = {ignore_quad, NULL};
    if (status == STATUS_OK && rdfa_extract(&tree, &options, &sink, &why) == STATUS_OK &&
        !out.overflowed && nquads_parse(buf_slice(&out), NULL, &ignored, &why) != STATUS_OK) {
        fprintf(stderr, "%s\n", why.text);
        abort();
    }
    buf_release(&out);
    html_tree_release(&tree);
    arena_release(&arena);
    return 0;
}
