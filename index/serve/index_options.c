#include "index/serve/index_service.h"

const struct opt index_options[] = {
    {"index.partitions", OPT_INTEGER, "1", 1, 1024, NULL,
     "Index partitions on this node, one quadrille-index process each. Documents go to partitions "
     "by their URI; the number must not change once documents are indexed."},
    {"index.memory", OPT_SIZE, "1G", 16 << 20, 1e15, NULL,
     "Memory of each partition, beside that of queries: a quarter for database pages, one for the "
     "words of new literals, one for changes that running queries must not see yet (when it is "
     "full the oldest queries end with an error), and a sixteenth each for terms met lately, terms "
     "that queries resolved, answers to lookups, which are kept until the next commit, a batch of "
     "documents and the sorting of a dump. A checkpoint is "
     "written after a quarter of it in log, 256M at most. Beside it, changes "
     "of documents that are gathered take up to a quarter, and an import as much again while it "
     "runs. More "
     "makes an index faster that does not fit."},
    {"index.changes", OPT_SIZE, "16M", 0, 1e15, NULL,
     "Bytes of the latest changes kept for those who follow them (quadrille changes), per "
     "partition; "
     "0 keeps none."},
    {"index.publish", OPT_STRING, "", 0, 0, NULL,
     "An address such as tcp://*:7410 where partition 0 also publishes its changes to ZeroMQ SUB "
     "sockets; partition K uses the port plus K. Other machines need the keys of cluster.conf. On "
     "this machine changes are always published at DIR/run/changes-K.sock."},
    {"index.disk_reserve", OPT_SIZE, "64M", 0, 1e15, NULL,
     "No batch is written when less disk than this is free."},
    {"index.query_threads", OPT_INTEGER, "2", 1, 1024, NULL,
     "The number of queries that run at a time in a partition. Further ones take turns with them "
     "of some milliseconds: those that have run least come first, and each client has its part. A "
     "turn that nobody waits for helps with a long query."},
    {"index.query_timeout", OPT_DURATION, "60s", 0, 0, NULL,
     "The longest time a query may run; 0 for no limit."},
    {"index.query_memory", OPT_SIZE, "512M", 1 << 18, 1e12, NULL,
     "The memory for the joins, groups and sorting of one query. A query that needs more uses "
     "temporary files in DIR/tmp, of sixteen times as many bytes at most, and then ends with an "
     "error. All queries under way have index.query_threads times as much together, so that the "
     "later ones of many get less of it."},
    {"index.silence", OPT_DURATION, "10s", 0.1, 3600, NULL,
     "An index partition that is asked and sends nothing for this time counts as down. One that "
     "works on a query sends a sign of life several times a second, however long the query takes. "
     "Set it longer where nodes are far apart."},
    {"extract.queries", OPT_STRING, "", 0, 0, NULL,
     "A file of SPARQL SELECT queries, separated by blank lines, whose variable ?uri is a new URI "
     "in a document's graph. The line `policy linked-data` adds every http IRI of documents in "
     "RDF syntaxes, and `policy vocabularies` all properties and classes. Without a file, links "
     "of pages and feeds, rdfs:seeAlso, owl:sameAs and the like are followed, together with "
     "`policy vocabularies`."},
    {.name = NULL}};

enum {
    CURSORS = 64, /* answers under way at a time: twice what the web service asks at once */
    CHECKPOINT_MOST = 256 << 20, /* bytes of log, which a start after a crash reads */
    QUERY_DISK_FACTOR = 16,      /* a query's temporary files against its memory */
};
static const uint64_t ANSWER_BYTES = (uint64_t)4 << 30; /* longer ones end with an error */

void
service_options_from(struct service_options *options, const struct opt_set *set)
{
    options->query_threads = (unsigned)opt_integer(set, "index.query_threads");
    options->cursors = CURSORS;
    options->query_timeout_ms = opt_duration_ms(set, "index.query_timeout");
    options->query_memory = (uint64_t)opt_integer(set, "index.query_memory");
    options->query_disk = QUERY_DISK_FACTOR * options->query_memory;
    options->answer_bytes = ANSWER_BYTES;
    options->sort_memory = (uint64_t)opt_integer(set, "index.memory") / 16;
    options->answer_memory = (uint64_t)opt_integer(set, "index.memory") / 16;
}

void
partition_options_from(struct partition_options *options, const char *folder,
                       const struct opt_set *set)
{
    const uint64_t memory = (uint64_t)opt_integer(set, "index.memory");
    partition_options_default(options, folder);
    options->cache_bytes = memory / 4;
    options->term_memory = memory / 16;
    options->block_memory = memory / 16;
    options->words_memory = memory / 4;
    options->snapshot_memory = memory / 4;
    options->count_memory = memory / 8;
    options->checkpoint_bytes = memory / 4 < CHECKPOINT_MOST ? memory / 4 : CHECKPOINT_MOST;
    options->change_bytes = (uint64_t)opt_integer(set, "index.changes");
    options->disk_reserve = (uint64_t)opt_integer(set, "index.disk_reserve");
}
