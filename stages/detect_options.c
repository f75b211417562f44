#include "base/opt.h"
#include "stages/detect.h"

const struct opt detect_options[] = {{"detect.window", OPT_INTEGER, "256", 1, 10000, NULL,
                                      "Documents that a detect process has in hand at a time."},
                                     {"detect.batch", OPT_INTEGER, "256", 1, 10000, NULL,
                                      "Documents whose ends are told to the queue together."},
                                     {.name = NULL}};
