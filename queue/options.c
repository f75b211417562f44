#include "queue/options.h"

const struct opt queue_options[] = {
    {"queue.lease", OPT_DURATION, "60", 0.2, 86400, NULL,
     "A worker that does not report for so long loses its jobs. Workers report by themselves "
     "every third of it."},
    {"queue.grace", OPT_DURATION, "1.5", 0, 60, NULL,
     "After a restart the daemon hands out nothing until the workers it knew have said what they "
     "still hold, at most for so long."},
    {"queue.attempts", OPT_INTEGER, "5", 1, 1000, NULL,
     "A job that failed so often is buried with its last reason."},
    {"queue.high_water", OPT_INTEGER, "10000", 1, 0, NULL,
     "A stage gets no more jobs while so many wait for the next stage; it goes on at 80 %. "
     "Extract is never held back."},
    {"queue.maximum", OPT_INTEGER, "0", 0, 0, NULL,
     "Additions from outside are refused while so many jobs wait for fetch; 0 for no limit."},
    {"queue.min_free", OPT_SIZE, "256M", 0, 0, NULL,
     "Additions from outside and from other nodes are refused while the disk has less room than "
     "this; what is under way uses the rest."},
    {"queue.group_parallel", OPT_INTEGER, "16", 0, 1000000, NULL,
     "Most hosts of one address that are fetched from at a time; 0 for no limit."},
    {"queue.burst", OPT_INTEGER, "32", 1, 63, NULL,
     "Most jobs of one host that are handed out at a time, when the host needs no rest "
     "(fetch.delay is 0) and no other host waits. They are still fetched one after the other."},
    {"queue.group_delay", OPT_DURATION, "0", 0, 3600, NULL,
     "Least time between two fetches from one address, whatever the host."},
    {"queue.cache", OPT_SIZE, "128M", 1048576, 0, NULL, "Database pages kept in memory."},
    {"queue.recent", OPT_SIZE, "64M", 65536, 0, NULL,
     "Memory for what was noted of URIs and hosts and for jobs of fetch until it is written to "
     "disk as "
     "sorted runs; as much again while that happens."},
    {"queue.heads", OPT_SIZE, "64M", 65536, 0, NULL,
     "Memory for the next jobs of hosts whose turn it is; beyond it they are read from disk "
     "again."},
    {"queue.domain_budget", OPT_INTEGER, "100000", 0, 4000000, NULL,
     "Fetches from all hosts of a registrable domain in queue.domain_period; those beyond wait "
     "until "
     "others do not, but for some: nothing is dropped. 0 for no limit."},
    {"queue.domain_period", OPT_DURATION, "24h", 1, 0, NULL, "The period of queue.domain_budget."},
    {"queue.seen_cache", OPT_SIZE, "16M", 4096, 0, NULL,
     "Memory for the URIs met most often, which are then known without asking the database."},
    {"queue.checkpoint_bytes", OPT_SIZE, "256M", 65536, 0, NULL,
     "Log written between two checkpoints: bounds the time to recover and the disk for logs."},
    {"queue.checkpoint_time", OPT_DURATION, "60", 1, 86400, NULL,
     "Longest time between two checkpoints."},
    {"queue.sync", OPT_BOOL, "yes", 0, 0, NULL,
     "Whether a commit waits for the disk. With no, a crash of the machine (not of a process) may "
     "lose the latest commits."},
    {"cluster.node", OPT_STRING, "", 0, 0, NULL,
     "Which node of cluster.conf this machine is; may be empty when there is only one."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
