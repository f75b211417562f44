/* An execution is what a crawl does with a dataset: the dumps that are downloaded, the samples that
 * prove them, and what may become of them. A plan makes it, the metadata store keeps it as
 * META_EXECUTION under the dataset's job, whoever slices reads it.
 *
 * Text, a line each: a word, a blank, a value; of unknown words nothing is thought.
 *
 *   dataset URI, label TEXT, description URI    whence it is
 *   way WORD, why TEXT                          as planned
 *   dump URI                                    crawl keys
 *   endpoint yes                                the dump is a SPARQL endpoint
 *   graphs yes                                  the dataset is in its named graphs, in all of them
 *   sample URI
 *   space METHOD IRI                            resources that are described; METHOD - : not said
 *   own IRI                                     documents must begin with one of these
 *   other IRI                                   and with none of these, which others own
 *   authority IRI
 *   depth N                                     of the documents
 *   provisional yes                             what is covered and not in the dumps is fetched
 */
#ifndef DATASETS_EXECUTION_H
#define DATASETS_EXECUTION_H

#include "base/arena.h"
#include "base/buf.h"
#include "dumps/slicing.h"

/* Ends the URI of a dataset's job: its host's origin, "/#slice=", 16 hexadecimal digits. */
#define EXECUTION_FRAGMENT "/#slice="
#define DUMP_FRAGMENT "#dump"
#define PLAN_FRAGMENT "/#plan"
/* Ends the URI of an endpoint of which one graph is asked for (SPARQL 1.1 Protocol, 2.1.4). */
#define ENDPOINT_GRAPH "default-graph-uri="

/* Priorities of jobs: docs/DATASETS.md, "From a description to documents". */
enum {
    SITEMAP_PRIORITY = 96, /* before pages: they tell of many */
    PLAN_PRIORITY = 97,
    SAMPLE_PRIORITY = 98,
    DUMP_PRIORITY = 99,
    SLICE_PRIORITY = 100,
    PAGE_PRIORITY = 128
};
/* The words that a job is given when all is asked for anew: docs/DATASETS.md, "Again". */
#define PLAN_AGAIN "again" /* ask for the dumps of known datasets with conditions */
#define DUMP_AGAIN "again" /* with conditions; about: the dataset's job */
#define DUMP_PAGES "pages" /* of an endpoint; the same; link header: where it stands */
#define DUMP_PAGES_AGAIN "pages-again"
#define DUMP_WHOLE "whole"        /* without; the same */
#define DATASET_CHANGED "changed" /* one of its dumps has */
#define DATASET_SAMPLES "samples" /* and the samples are being fetched again */

enum { EXECUTION_DUMPS = 1000, EXECUTION_SAMPLES = 5, EXECUTION_SPACES = 1000 };

struct slices {
    struct slice *items;
    size_t count;
};

struct execution {
    struct slice dataset, label, description, way, why, authority;
    struct slices dumps, samples, own, other;
    struct slice_space *spaces; /* without replacements */
    size_t space_count;
    unsigned depth;
    bool provisional, endpoint, graphs;
    struct slice owner; /* origin of the host whose plan has it done; not written */
};

/* Grows by doubling in the arena; false past its maximum. */
bool slices_add(struct slices *slices, struct slice slice, struct arena *arena);
/* Adds a URI space; a prefix with white space is left out. */
bool execution_add_space(struct execution *execution, struct slice prefix, enum slicing slicing,
                         struct arena *arena);

void execution_encode(const struct execution *execution, struct buf *text);
/* Slices point into text. False past the arena's maximum. */
bool execution_decode(struct slice text, struct arena *arena, struct execution *execution);
/* Returns whether the document may be cut out of the dumps: rule 4 of docs/DATASETS.md. */
bool execution_owns(const struct execution *execution, struct slice document);
/* Name of a dump's file in DIR/dumps: its fingerprint, and the end of the URI's path, which tells
 * the syntax. uri: without fragment. */
void execution_file_name(struct slice uri, struct buf *name);
/* The next line without its end; false at the end. */
bool execution_line(struct slice *rest, struct slice *line);

#endif
