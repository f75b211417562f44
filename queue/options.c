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
    {"queue.host_failures", OPT_INTEGER, "5", 1, 1000000, NULL,
     "A host (scheme, name and port) that failed so often in a row is set aside with all its URIs: "
     "no address, no connection, no TLS, no answer, no robots.txt; HTTP statuses of documents do "
     "not count. With the rests of fetch.backoff five failures take half a minute, which a "
     "moment's overload does not last."},
    {"queue.host_patience", OPT_DURATION, "4m", 0, 0, NULL,
     "A host that has answered before is set aside after so long at the soonest: a machine that is "
     "started anew, or a service that is being replaced, is back within it."},
    {"queue.host_patience_new", OPT_DURATION, "30", 0, 0, NULL,
     "The same for a host that has never answered: most of them are gone for good, and a crawl's "
     "end waits for them. As long as three attempts of a document take."},
    {"queue.host_probe", OPT_DURATION, "5m", 0.01, 0, NULL,
     "A host that is set aside is asked again after this time by one request, then after twice as "
     "long, and so on. When it answers, all its URIs go on."},
    {"queue.host_probe_maximum", OPT_DURATION, "24h", 0.01, 0, NULL,
     "Longest time between two of these requests: a dead host costs one a day, and one that comes "
     "back is noticed within a day."},
    {"queue.outage_hosts", OPT_INTEGER, "5", 1, 1000000, NULL,
     "When so many hosts are silent at a time, and no other host answers, it may be this machine's "
     "own network: then none is set aside for silence until queue.outage_patience is over. Fewer "
     "cannot be told from dead hosts."},
    {"queue.outage_patience", OPT_DURATION, "1h", 0, 0, NULL,
     "How long silence of all hosts is taken for an outage of this machine's own network, which "
     "jobs wait out; 0: not at all. An hour, because a crawl that ends meanwhile has to be begun "
     "again by hand."},
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
