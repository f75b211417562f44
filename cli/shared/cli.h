/* The parts that the subcommands of quadrille share: the data directory, options, clients. */
#ifndef CLI_SHARED_CLI_H
#define CLI_SHARED_CLI_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/arena.h"
#include "base/options/opt.h"
#include "base/outcome.h"
#include "index/client/index_client.h"
#include "metastore/metastore_client.h"
#include "queue/client/queue_client.h"
#include "queue/cluster/cluster.h"

/* Flags that every subcommand with a data directory takes. */
struct cli_common {
    const char *directory;
    bool takes_root; /* set by the command: DIR may be the ROOT of a cluster, docs/CLUSTER.md */
    struct flag_list assignments;
};
#define CLI_COMMON_FLAGS(common)                                                             \
    {"dir", 'd', FLAG_STRING, "DIR", &(common).directory, "The data directory."},            \
    {                                                                                        \
        "set", 's', FLAG_REPEATED, "NAME=VALUE", &(common).assignments,                      \
            "Sets an option of DIR/quadrille.conf for this run; @FILE: those of the file's " \
            "lines, so that "                                                                \
            "what is secret stands in no list of processes."                                 \
    }

enum { CLI_PARTS = 8 };

struct cli {
    char *directory;
    char *copy;   /* a private copy that `directory` is, of one that may only be read; NULL: none */
    bool reading; /* DIR may only be read, and the command only reads */
    struct opt_set *options;
    struct cluster *cluster;
    struct timespec cluster_time; /* of cluster.conf, before it was read */
    const struct flag_list *assignments;
    int helper;          /* process id of a supervisor of our own, 0: none */
    int helper_stays;    /* a byte from here: it stays for other commands */
    int uses[CLI_PARTS]; /* locks of the parts we use */
    size_t use_count;
};

/* Checks that DIR exists, loads its configuration. MISUSE when it may only be read, or is the ROOT
 * of a cluster and the command does not take one. */
enum status cli_open(struct cli *cli, const struct cli_common *common, struct reason *why);
/* Opens for commands that change nothing: of a directory that may only be read cli_serve makes a
 * private copy. */
enum status cli_open_reading(struct cli *cli, const struct cli_common *common, struct reason *why);
/* Closes what cli_open opened, and stops what cli_serve started unless others use it. */
void cli_close(struct cli *cli);
/* Serves commands that need no whole crawl: uses the named parts ("queue,index") until cli_close,
 * and runs them where nobody else does, so that a finished crawl can be queried without `quadrille
 * up`. In a cluster it runs nothing, since the machines do. docs/PROCESSES.md. A second call does
 * nothing. */
enum status cli_serve(struct cli *cli, const char *only, struct reason *why);

/* MISUSE unless it is a data directory. */
enum status cli_check_directory(const char *directory, struct reason *why);
/* Tells whether the operands are files that can be read, before anything is started for them; "-"
 * is standard input. */
enum status cli_check_files(char **paths, int n, struct reason *why);
/* Makes DIR and DIR/quadrille.conf where they are missing. */
enum status cli_make_directory(const char *directory, struct reason *why);

/* Tells where scope.conf lies: DIR, or every share of a cluster, which all are to say the same. */
enum { CLI_PLACE_SIZE = 4096 };
size_t cli_scope_places(const struct cli *cli);
void cli_scope_place(const struct cli *cli, size_t number, char place[CLI_PLACE_SIZE]);
/* The share that a node of a cluster's cluster.conf is: not its place there once shares have been
 * forgotten. SIZE_MAX: none. */
size_t cli_share_number(const struct cli *cli, size_t node);
/* Reads cluster.conf of a cluster again when it has changed; clients that were made of it are to be
 * made anew then. */
enum status cli_follow_cluster(struct cli *cli, bool *changed, struct reason *why);

enum { CLI_ANSWER_MS = 30000 };
/* Opens the queue; of a cluster, that of a share that answers, which passes on what others own. */
enum status cli_queue(struct cli *cli, struct queue_client **queue, struct reason *why);
/* The queue that can tell where the URI to fetch stands. */
enum status cli_queue_of(struct cli *cli, struct slice uri, struct queue_client **queue,
                         struct reason *why);
enum status cli_metastore(struct cli *cli, struct metastore_client **metastore, struct reason *why);
/* All partitions of all nodes. */
enum status cli_index(struct cli *cli, struct index_client **index, struct reason *why);

/* Turns what people type into the key that documents have: adds http:// when there is no scheme. */
enum status cli_document_key(const char *text, struct buf *key, struct reason *why);
/* Makes the key of a URL that may also be a dump by FTP. */
enum status cli_dump_key(const char *text, struct buf *key, struct reason *why);

/* The archived body of a document, Content-Encoding undone, in memory (buf_init'ed), and what
 * the server said its type was, unless content_type holds something already. */
enum status cli_archived(struct cli *cli, struct slice uri, struct buf *memory, struct slice *body,
                         struct buf *content_type, struct reason *why);

/* A term in N-Triples form, an IRI without <>, or a name with one of the usual prefixes
 * (dcterms:title); it lives in the arena. NULL: any. */
enum { CLI_TERM_MAXIMUM = 1 << 20 };
enum status cli_parse_term(const char *text, struct arena *arena, struct term *term,
                           struct reason *why);
/* Three or four of them, separated by blanks, "?" and "?name" for any, the final "." as you like.
 */
struct cli_pattern {
    struct quad quad;
    unsigned same[4]; /* the first place with the same variable; a place's own number: no other */
};
enum status cli_parse_pattern(const char *text, struct arena *arena, struct cli_pattern *pattern,
                              struct reason *why);
/* Places of the same variable are equal. */
bool cli_pattern_fits(const struct cli_pattern *pattern, const struct quad *quad);

/* index_piece that writes to the FILE * context. */
enum status cli_print_piece(void *file, struct slice bytes, struct reason *why);

/* program_parse for a subcommand that takes no operands. */
enum status cli_parse(const struct program *program, int argc, char **argv, struct reason *why);
/* Says why on stderr and gives the exit code. */
int cli_end(const struct program *program, enum status status, const struct reason *why);

/* Query and search have these exit codes besides those of all programs. */
enum { CLI_EXIT_PARTIAL = 2, CLI_EXIT_INTERRUPTED = 130 };
/* partial: error or warn; NULL: error. Ctrl-C and SIGTERM end the calls. */
enum status cli_interruptible(const char *partial, struct index_client *index, struct reason *why);
/* Ends as cli_end does, with a line for each partition that did not answer. index may be NULL. */
int cli_answered(const struct program *program, const struct index_client *index,
                 enum status status, const struct reason *why);

/* Puts jobs and waits until they are durable. */
enum status cli_put_and_wait(struct queue_client *queue, const struct job *jobs, size_t n,
                             struct reason *why);

/* The state of waiting for a queue that has not answered yet: it may be killed and started anew. */
struct cli_patience {
    /* Other than OK: wait no longer. NULL: wait for ever. */
    enum status (*look)(void *context, struct reason *why);
    void *context;
    struct outcome outcome; /* internal; the whole must live until the client is closed */
};
enum status cli_put_patiently(struct queue_client *queue, const struct job *jobs, size_t n,
                              struct cli_patience *patience, struct reason *why);

/* Puts metadata and waits until they are durable. */
enum status cli_note_and_wait(struct metastore_client *metastore, const struct meta_put *puts,
                              size_t n, struct reason *why);

/* ---- subcommands: argv[0] is the subcommand's name ---- */

#define CLI_COMMAND_MAP(X)                                                            \
    X(init, "make a data directory with a commented configuration")                   \
    X(crawl, "crawl seeds to the end, with progress")                                 \
    X(up, "start all processes of this machine and keep them running")                \
    X(down, "stop what `up` started")                                                 \
    X(cluster, "run one crawl on many machines, by shares that move")                 \
    X(status, "show every stage, or what the index holds")                            \
    X(add, "add URIs to the crawl")                                                   \
    X(meta, "print what is known of a URI, as Turtle")                                \
    X(query, "answer a SPARQL query or a quad pattern")                               \
    X(identity, "say what is the same as a resource, and why")                        \
    X(serve, "serve a crawled directory: search and queries in a browser")            \
    X(prefixes, "list the prefixes that queries need not declare")                    \
    X(update, "change the index by SPARQL Update")                                    \
    X(import, "add RDF files to the index")                                           \
    X(search, "find literals by keywords")                                            \
    X(dump, "write all documents as sorted canonical N-Quads")                        \
    X(changes, "follow what changes in the index, for mirrors")                       \
    X(verify, "check the index against itself")                                       \
    X(explain, "say which documents a statement is from")                             \
    X(backup, "copy the index while it is in use")                                    \
    X(restore, "make a data directory from a backup")                                 \
    X(compact, "give space back after many replacements")                             \
    X(queue, "look at waiting and buried jobs, give buried ones another try")         \
    X(scope, "show or change which URIs may be crawled, also while running")          \
    X(detect, "say which type a file has")                                            \
    X(transform, "turn a file into N-Quads")                                          \
    X(transforms, "list the transforms of the registry, or test them")                \
    X(datasets, "say which datasets dumps give, and what that saves; check sitemaps") \
    X(slice, "cut a dataset into the documents that describe its resources")          \
    X(retain, "remove archived files that nothing current needs")                     \
    X(replay, "transform archived documents again, without fetching")                 \
    X(report, "tell publishers what was found in their pages, and what to mend")      \
    X(inspect, "look at one document: what is found in it, and what to mend")         \
    X(validate, "say whether properties and classes are published as linked data")    \
    X(selftest, "prove that the sandbox of the workers holds")

#define X(name, summary) int command_##name(int argc, char **argv);
CLI_COMMAND_MAP(X)
#undef X

#endif
