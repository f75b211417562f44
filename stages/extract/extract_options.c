#include "base/options/opt.h"
#include "stages/extract/extract_stage.h"

const struct opt extract_options[] = {
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
