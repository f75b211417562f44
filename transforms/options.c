#include "transforms/transform.h"

const struct opt transforms_options[] = {
    {"transform.registry", OPT_STRING, "", 0, 0, NULL,
     "A registry of transforms to read after the one that comes with the program and after "
     "DIR/transforms/registry."},
    {"transform.landlock", OPT_CHOICE, "required", 0, 0, "required|optional",
     "Where the kernel has no Landlock, external programs of a registry could read whatever the "
     "user "
     "can. With required they are not started there, and documents that need one are buried; with "
     "optional they are, in what is left of their sandbox."},
    {"transform.memory", OPT_SIZE, "512M", 16 << 20, 64e9, NULL,
     "Memory that one document may take in its worker process. A worker that needs more is ended "
     "and its document buried."},
    {"transform.input", OPT_SIZE, "64M", 1024, 2e9, NULL,
     "Bytes of a document that are looked at. A longer document is buried."},
    {"transform.resources", OPT_SIZE, "16M", 1024, 1e9, NULL,
     "Bytes of other documents (JSON-LD contexts, stylesheets) that one document may be "
     "transformed with. What does not fit is done without."},
    {"transform.wait", OPT_DURATION, "600", 0, 86400, NULL,
     "How long a document waits for others that it needs, JSON-LD contexts and stylesheets, to be "
     "fetched. After that, or at once with 0, it is transformed without them."},
    {"transform.resource_age", OPT_DURATION, "2592000", 0, 1e9, NULL,
     "A resource (transform.wait) older than this is fetched again when a document needs it; the "
     "document does not wait for that. 0: never."},
    {"transform.output", OPT_SIZE, "128M", 1024, 2e9, NULL,
     "Bytes of N-Quads that one document may become. A document that would become more is buried."},
    {"transform.cpu", OPT_DURATION, "20", 0.1, 3600, NULL,
     "Processor time that one document may take."},
    {"transform.timeout", OPT_DURATION, "120", 1, 36000, NULL,
     "Time by the clock that one document may take. Longer than transform.cpu, so that a busy "
     "machine does not decide which documents are buried."},
    {"transform.tidy_memory", OPT_SIZE, "64M", 1 << 20, 64e9, NULL,
     "Memory that Tidy may take for one page, where a registry has stylesheets with repair=tidy. "
     "No page of the test web needs more than 5 MB, and some of 150 bytes would take all there is. "
     "A page that needs more is reported and read by our own parser."},
    {"transform.tidy_cpu", OPT_DURATION, "2", 0.01, 3600, NULL,
     "Processor time that Tidy may take for one page; less than transform.cpu, which ends the "
     "worker. No page of the test web needs more than 0.2 s. A page that needs more is reported "
     "and read by our own parser."},
    {"transform.canonical_work", OPT_INTEGER, "100000", 1, 1e12, NULL,
     "Steps that canonical labelling of one document's blank nodes may take. Past it labels "
     "follow the order of appearance."},
    {"transform.window", OPT_INTEGER, "64", 1, 10000, NULL,
     "Documents that a transform process has in hand at a time."},
    {"transform.batch", OPT_INTEGER, "64", 1, 10000, NULL,
     "Documents whose ends are told to the queue together."},
    {"transform.workers", OPT_INTEGER, "1", 1, 64, NULL,
     "Worker processes of each transform process."},
    {"transform.worker_jobs", OPT_INTEGER, "10000", 1, 1e9, NULL,
     "Documents after which a worker process is replaced by a fresh one."},
    {"transform.test_hooks", OPT_BOOL, "no", 0, 0, NULL,
     "For tests: documents of the type application/x-quadrille-hook crash, loop or eat memory in "
     "their worker."},
    {NULL, OPT_BOOL, NULL, 0, 0, NULL, NULL}};
