#include "stages/stage_private.h"

const struct opt stage_option_table[] = {
    {"stage.batch", OPT_INTEGER, "64", 1, 100000, NULL,
     "Most jobs that end together: one sync, one metadata message, one queue transaction."},
    {"stage.batch_delay", OPT_DURATION, "0.1", 0, 60, NULL,
     "Longest time that an ended job waits for others while an earlier batch is under way."},
    {"stage.batch_gather", OPT_DURATION, "0.1", 0, 60, NULL,
     "Longest time that it waits when none is under way, but most jobs in hand have not ended."},
    {"stage.jobs_per_process", OPT_INTEGER, "1000000", 0, 0, NULL,
     "A stage process retires after this many jobs and is started afresh; 0 for never."},
    {"stage.job_memory", OPT_SIZE, "64M", 65536, 0, NULL,
     "Most memory that the records of one job may take in a stage process."},
    {"stage.watchdog", OPT_DURATION, "300", 0, 86400, NULL,
     "A stage process that does not come back to its loop for so long ends itself and is started "
     "again; what it waits for (another process or node, a lock, the disk) does not count. 0 for "
     "never."},
    {"stage.stop_timeout", OPT_DURATION, "10", 0, 3600, NULL,
     "How long jobs in flight may take to end after SIGTERM; the rest go back to the queue."},
    {"stage.poll", OPT_DURATION, "1", 0.01, 60, NULL,
     "How long the queue daemon may hold a request for jobs until one is due."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
