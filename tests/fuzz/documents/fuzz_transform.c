/* Any document through any transform of the registry: the first byte chooses the type. */
#include "tests/fuzz/documents/typed_document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {
    "application/rss+xml", "application/atom+xml", "application/rdf+xml", "text/turtle",
    "application/trig",    "application/n-quads",  "text/html",           "application/xhtml+xml"};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    typed_document_run(types, 7, data, size);
    return 0;
}
