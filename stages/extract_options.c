#include "base/opt.h"
#include "stages/extract.h"

const struct opt extract_options[] = {
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
