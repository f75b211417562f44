#include "rdf/rdfxml/trix.h"

#include "tests/fuzz/rdf/rdf_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rdf_fuzz_run(trix_parse, data, size);
    return 0;
}
