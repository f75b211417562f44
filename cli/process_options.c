#include "cli/supervisor/supervisor.h"

const struct opt process_options[] = {
    {"processes.fetch", OPT_INTEGER, "1", 0, 256, NULL, "Fetch processes on this machine."},
    {"processes.detect", OPT_INTEGER, "1", 0, 256, NULL, "Detect processes on this machine."},
    {"processes.transform", OPT_INTEGER, "1", 0, 256, NULL,
     "Transform processes on this machine; each has a sandboxed child that does the work."},
    {"processes.extract", OPT_INTEGER, "1", 0, 256, NULL, "Extract processes on this machine."},
    {"processes.web", OPT_INTEGER, "1", 0, 1, NULL,
     "Whether to run the HTTP service; index processes are as many as index.partitions."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
