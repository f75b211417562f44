/* Any page: what comes out is RDF that can be written, and the work is bounded. */
#include "tests/fuzz/documents/page.h"
#include "transforms/microformats/microformats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
extract(const struct html_tree *tree, struct links *links, const struct problem_sink *problems,
        struct emitter *emitter)
{
    const struct microformats_options options = {
        .lines = true, .problems = *problems, .advice = *problems};
    struct microformats found;
    struct reason why;
    if (microformats_parse(tree, SLICE(PAGE_URI), true, &found, &why) == STATUS_OK) {
        microformats_emit(tree, &found, links, &options, emitter);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    page_run(data, size, extract);
    return 0;
}
