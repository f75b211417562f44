#include "transforms/transform.h"

const struct opt transforms_options[] = {
    {"transform.registry", OPT_STRING, "", 0, 0, NULL,
     "A registry of transforms that is read after the one that comes with the program and after "
     "DIR/transforms/registry."},
    {"transform.landlock", OPT_CHOICE, "required", 0, 0, "required|optional",
     "Where the kernel has no Landlock, external programs of a registry could read whatever the "
     "user "
     "can. With required they are not started there, and documents that need one are buried; with "
     "optional they are, in what is left of their sandbox."},
    {"transform.memory", OPT_SIZE, "512M", 16 << 20, 64e9, NULL,
     "The memory that one document may take in its worker process. A worker that needs more is "
     "ended and its document buried. Workers that parse sitemaps may take twice as much. Tidy, "
     "where a registry says repair=tidy, may take an eighth of it; our own parser reads a page "
     "that needs more."},
    {"transform.input", OPT_SIZE, "64M", 1024, 2e9, NULL,
     "The largest number of bytes of a document that is transformed. A longer document is buried, "
     "as is one that would become more than twice as many bytes of N-Quads (at least 128M). "
     "Contexts and stylesheets that it needs may have a quarter of it (at least 16M) together."},
    {"transform.wait", OPT_DURATION, "600", 0, 86400, NULL,
     "The longest time that a document waits for JSON-LD contexts and stylesheets that it needs "
     "to be fetched. After that, or at once with 0, it is transformed without them."},
    {"transform.cpu", OPT_DURATION, "20", 0.1, 3600, NULL,
     "The processor time that one document may take. By the clock it is six times as much (at "
     "least 5 s), without the time for which its worker waits for a processor, so that a busy "
     "machine does not decide which documents are buried. An external program may take half of "
     "that by the clock. Sitemaps "
     "have the same limit, and Tidy, where a registry says repair=tidy, a tenth of it."},
    {NULL, OPT_BOOL, NULL, 0, 0, NULL, NULL}};

static size_t
larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* RDF in a terse syntax doubles in N-Quads; small inputs may still be all data. */
size_t
transform_output_maximum(const struct opt_set *options)
{
    return larger(128 << 20, 2 * (size_t)opt_integer(options, "transform.input"));
}

size_t
transform_resources_maximum(const struct opt_set *options)
{
    return larger(16 << 20, (size_t)opt_integer(options, "transform.input") / 4);
}
