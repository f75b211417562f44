#include "rdf/rdfxml/rdfxml.h"

#include "tests/fuzz/rdf/rdf_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rdf_fuzz_run(rdfxml_parse, data, size);
    return 0;
}
