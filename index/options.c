#include "index/service.h"

const struct opt index_options[] = {
    {"index.partitions", OPT_INTEGER, "1", 1, 1024, NULL,
     "Index partitions on this node, one quadrille-index process each. Documents go to partitions "
     "by their URI; the number must not change once documents are indexed."},
    {"index.cache", OPT_SIZE, "256M", 1 << 20, 1e15, NULL,
     "Memory for pages of the index, per partition."},
    {"index.term_memory", OPT_SIZE, "64M", 1 << 20, 1e12, NULL,
     "Memory for recently used terms, which are then not looked up when a batch is written."},
    {"index.block_memory", OPT_SIZE, "64M", 1 << 16, 1e12, NULL,
     "Memory for terms that queries have resolved, half of it for whole blocks, per partition."},
    {"index.words_memory", OPT_SIZE, "256M", 1 << 20, 1e12, NULL,
     "Memory for the words of new literals, found from there until they are written. After a crash "
     "they are read from the lexicon again. More makes writing many literals cheaper."},
    {"index.snapshot_memory", OPT_SIZE, "256M", 1 << 20, 1e12, NULL,
     "Memory for changes kept so that running queries see the index as it was when they began. "
     "When more is needed the oldest queries end with an error."},
    {"index.sort_memory", OPT_SIZE, "64M", 1 << 20, 1e12, NULL,
     "Memory for sorting a dump; more is sorted in temporary files in DIR/tmp."},
    {"index.checkpoint", OPT_SIZE, "256M", 1 << 20, 1e12, NULL,
     "Bytes of log between checkpoints: what a start after a crash has to read again at most."},
    {"index.changes", OPT_SIZE, "16M", 0, 1e15, NULL,
     "Bytes of the latest changes kept for those who follow them (quadrille changes), per "
     "partition; "
     "0 keeps none."},
    {"index.publish", OPT_STRING, "", 0, 0, NULL,
     "Address such as tcp://*:7410 where partition 0 also publishes its changes to ZeroMQ SUB "
     "sockets, partition K at the port plus K; other machines need the keys of cluster.conf. On "
     "this machine they are always at DIR/run/changes-K.sock."},
    {"index.disk_reserve", OPT_SIZE, "64M", 0, 1e15, NULL,
     "No batch is written when less than this is free on the disk."},
    {"index.sync", OPT_BOOL, "yes", 0, 0, NULL,
     "Whether a batch is on the disk before it counts as done. With no, a crash of the machine may "
     "lose the last batches; a killed process loses nothing either way."},
    {"index.batch", OPT_INTEGER, "2000", 1, 1000000, NULL,
     "Documents that are written in one transaction at most. Large batches are faster."},
    {"index.gather", OPT_DURATION, "0.5", 0, 60, NULL,
     "Longest time after a batch in which documents gather for the next, unless that is full; it "
     "is 4 "
     "ms for each document of the batch, so that they wait only while they come at some hundreds a "
     "second."},
    {"index.batch_memory", OPT_SIZE, "64M", 1 << 16, 1e12, NULL,
     "Memory of the terms and quads of one batch; when it is reached no document is added."},
    {"index.import_memory", OPT_SIZE, "1G", 1 << 20, 1e12, NULL,
     "Memory for imported quads, per partition and during imports alone: for the terms of one "
     "batch, then for all that wait to be brought into the trees together, some 100 bytes for "
     "each. More is faster for imports that do not fit."},
    {"index.query_threads", OPT_INTEGER, "2", 1, 1024, NULL,
     "Queries that run at a time in a partition. Others are under way, too: they take turns of "
     "some "
     "milliseconds, first those that have run least, and each client has its part."},
    {"index.query_timeout", OPT_DURATION, "60s", 0, 0, NULL,
     "The longest time a query may run; 0 for no limit."},
    {"index.query_memory", OPT_SIZE, "512M", 1 << 18, 1e12, NULL,
     "Memory for the joins, groups and sorting of one query; what needs more goes on in temporary "
     "files in DIR/tmp. Queries under way together have index.query_threads times as much: the "
     "later "
     "ones of many get less of it."},
    {"index.query_disk", OPT_SIZE, "8G", 0, 1e15, NULL,
     "Bytes of temporary files of one query at most; when it needs more it ends with an error."},
    {"index.document", OPT_SIZE, "256M", 1 << 16, 1e12, NULL,
     "The longest N-Quads of one document; a longer one is buried."},
    {"index.answer", OPT_SIZE, "4G", 1 << 16, 1e15, NULL,
     "The longest answer to one query; what is longer ends with an error."},
    {"index.silence", OPT_DURATION, "10s", 0.1, 3600, NULL,
     "An index partition that is asked and says nothing for so long counts as down. One that works "
     "on a query says so several times a second, however long the query takes."},
    {"index.partial", OPT_CHOICE, "error", 0, 0, "error|warn",
     "What a query or search does when a partition is down, or fails in the middle of its answer. "
     "With error it fails, since an answer that lacks something looks like one that does not; with "
     "warn it gives what the others have and names what is missing."},
    {"index.cursors", OPT_INTEGER, "64", 1, 10000, NULL,
     "Answers that are under way at a time in a partition."},
    {"extract.queries", OPT_STRING, "", 0, 0, NULL,
     "File of SPARQL SELECT queries with the variable ?uri that find new URIs in a document's "
     "graph, parted by blank lines; the line `policy linked-data` adds every http IRI of documents "
     "in RDF syntaxes. Empty: links of pages and feeds, rdfs:seeAlso, owl:sameAs and the like, and "
     "that policy."},
    {.name = NULL}};

void
service_options_from(struct service_options *options, const struct opt_set *set)
{
    options->query_threads = (unsigned)opt_integer(set, "index.query_threads");
    options->cursors = (unsigned)opt_integer(set, "index.cursors");
    options->query_timeout_ms = opt_duration_ms(set, "index.query_timeout");
    options->query_memory = (uint64_t)opt_integer(set, "index.query_memory");
    options->query_disk = (uint64_t)opt_integer(set, "index.query_disk");
    options->answer_bytes = (uint64_t)opt_integer(set, "index.answer");
    options->sort_memory = (uint64_t)opt_integer(set, "index.sort_memory");
}

void
partition_options_from(struct partition_options *options, const char *folder,
                       const struct opt_set *set)
{
    partition_options_default(options, folder);
    options->cache_bytes = (uint64_t)opt_integer(set, "index.cache");
    options->term_memory = (uint64_t)opt_integer(set, "index.term_memory");
    options->block_memory = (uint64_t)opt_integer(set, "index.block_memory");
    options->words_memory = (uint64_t)opt_integer(set, "index.words_memory");
    options->snapshot_memory = (uint64_t)opt_integer(set, "index.snapshot_memory");
    options->checkpoint_bytes = (uint64_t)opt_integer(set, "index.checkpoint");
    options->change_bytes = (uint64_t)opt_integer(set, "index.changes");
    options->disk_reserve = (uint64_t)opt_integer(set, "index.disk_reserve");
    options->no_sync = !opt_bool(set, "index.sync");
}
