#include "metastore/metastore_options.h"

const struct opt metastore_options[] = {
    {.name = "metastore.cache",
     .type = OPT_SIZE,
     .default_value = "128M",
     .minimum = 1 << 20,
     .maximum = (double)(1ULL << 40),
     .help = "The memory for pages of the metadata store. With more of it than the records take, "
             "every lookup is one in memory. A checkpoint is written after as much log, 128M at "
             "most."},
    {.name = "metastore.disk_reserve",
     .type = OPT_SIZE,
     .default_value = "128M",
     .minimum = 0,
     .maximum = (double)(1ULL << 50),
     .help = "When less disk than this is free, the metadata store refuses to write and says so; "
             "what it holds can still be read."},
    {.name = NULL},
};
