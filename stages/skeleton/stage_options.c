#include "stages/skeleton/stage_run.h"

const struct opt stage_option_table[] = {
    {"stage.watchdog", OPT_DURATION, "300", 0, 86400, NULL,
     "A stage process that does not come back to its loop for this time ends itself and is "
     "started again. Time in which it waits for another process or node, a lock or the disk does "
     "not count. 0 for never."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
