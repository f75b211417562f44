#include "metastore/options.h"

const struct opt metastore_options[] = {
    {.name = "metastore.cache",
     .type = OPT_SIZE,
     .default_value = "128M",
     .minimum = 1 << 20,
     .maximum = (double)(1ULL << 40),
     .help = "Memory for pages of the metadata store. More of it than the records take makes "
             "every lookup a lookup in memory."},
    {.name = "metastore.checkpoint",
     .type = OPT_SIZE,
     .default_value = "128M",
     .minimum = 1 << 20,
     .maximum = (double)(1ULL << 40),
     .help = "A checkpoint is written after this much log. A start after a crash reads at most "
             "about twice as much."},
    {.name = "metastore.checkpoint_interval",
     .type = OPT_DURATION,
     .default_value = "60",
     .minimum = 1,
     .maximum = 86400,
     .help = "The longest time between two checkpoints while there are writes."},
    {.name = "metastore.disk_reserve",
     .type = OPT_SIZE,
     .default_value = "128M",
     .minimum = 0,
     .maximum = (double)(1ULL << 50),
     .help = "When less disk than this is free, the metadata store refuses to write and says so; "
             "what it holds can still be read."},
    {.name = "metastore.sync",
     .type = OPT_BOOL,
     .default_value = "yes",
     .help = "Wait for the disk before a write is confirmed. Without it the promise holds for "
             "killed processes, no longer for a machine that loses power."},
    {.name = NULL},
};
