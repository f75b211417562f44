/* Metadata of images, recordings and PDF: the first byte chooses the type, which only names the
 * transform, since the readers go by the contents. */
#include "tests/fuzz/documents/typed_document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {"image/jpeg", "audio/mpeg", "video/mp4", "application/pdf"};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    typed_document_run(types, 3, data, size);
    return 0;
}
