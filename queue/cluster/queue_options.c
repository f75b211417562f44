#include "queue/cluster/queue_options.h"

const struct opt queue_options[] = {
    {"queue.high_water", OPT_INTEGER, "10000", 1, 0, NULL,
     "A stage gets no more jobs while this many wait for the next stage. It goes on at 80 % of "
     "them. Extract is never held back."},
    {"queue.min_free", OPT_SIZE, "256M", 0, 0, NULL,
     "Additions from outside and from other nodes are refused while the disk has less room than "
     "this; what is under way uses the rest."},
    {"queue.group_parallel", OPT_INTEGER, "16", 0, 1000000, NULL,
     "The number of hosts of one address that are fetched from at a time; 0 for no limit."},
    {"queue.group_delay", OPT_DURATION, "0", 0, 3600, NULL,
     "The shortest time between two fetches from one address, whatever the host."},
    {"queue.host_failures", OPT_INTEGER, "5", 1, 1000000, NULL,
     "A host (scheme, name and port) that failed this many times in a row is set aside with all "
     "its URIs. Failures are: no address, no connection, no TLS, no answer, no robots.txt. HTTP "
     "statuses of documents do not count. With the delays of fetch.backoff five failures take "
     "half a minute, which is longer than a moment's overload."},
    {"queue.host_patience", OPT_DURATION, "4m", 0, 0, NULL,
     "A host that has answered before is set aside no sooner than after this time: a machine that "
     "is started anew, or a service that is being replaced, is back within it. One that never did "
     "is set aside when queue.host_failures are reached: most of them are gone for good, and a "
     "crawl's end waits for them."},
    {"queue.host_probe", OPT_DURATION, "5m", 0.01, 0, NULL,
     "A host that is set aside is asked again after this time by one request, then after twice as "
     "long, and so on. When it answers, all its URIs go on."},
    {"queue.host_probe_maximum", OPT_DURATION, "24h", 0.01, 0, NULL,
     "The longest time between two of these requests. By default a dead host costs one request a "
     "day, and one that comes back is noticed within a day."},
    {"queue.cache", OPT_SIZE, "128M", 1048576, 0, NULL,
     "The memory for database pages. In proportion to it the daemon also has memory for what is "
     "not yet written to disk and for the next jobs of hosts, half as much each, and for the URIs "
     "met most often, an eighth; and it writes twice as much of log between two checkpoints, 256M "
     "at most. More of it makes crawls of many millions of URIs faster."},
    {"queue.domain_budget", OPT_INTEGER, "100000", 0, 4000000, NULL,
     "The number of fetches a day from all hosts of a registrable domain. Further ones wait until "
     "others do not, except for a few, and nothing is dropped. 0 for no limit."},
    {"cluster.node", OPT_STRING, "", 0, 0, NULL,
     "The node of cluster.conf that this machine is. It may be empty when there is only one."},
    {"cluster.copy", OPT_STRING, "rsync -a --delete --fsync --exclude=/run {from}/ {address}:{to}/",
     0, 0, NULL,
     "The command by which a share that lies on the disk of a machine is copied to that of another "
     "one, run where it lies: twice, while the share runs and after its processes have ended. "
     "{from} and {to} are the folders, {address} the other machine without its port, {machine} its "
     "name. It must leave in {to} just the files of {from}; run/ does not matter. Its words are "
     "separated by blanks, and neither quoted nor seen by a shell. What it prints goes to the log "
     "of "
     "the machine; when it does not end with 0 the share stays. By default it is rsync over ssh, "
     "for which the user of the machines needs a key without a password."},
    {"cluster.copy_timeout", OPT_DURATION, "12h", 1, 0, NULL,
     "A share that could not be copied to another machine within this time, all passes and the "
     "check together, stays where it is, and is tried again later."},
    {"cluster.balance", OPT_BOOL, "yes", 0, 0, NULL,
     "Says whether a machine that comes gets shares that lie on the disks of others, one after the "
     "other from each. No: shares are copied only when people have said so, by cluster move and "
     "drain, because copying large ones takes disks and network that the crawl needs, too."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
