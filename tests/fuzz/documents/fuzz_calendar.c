/* iCalendar and vCard: the first byte chooses. */
#include "tests/fuzz/documents/typed_document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {"text/calendar", "text/vcard"};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    typed_document_run(types, 1, data, size);
    return 0;
}
