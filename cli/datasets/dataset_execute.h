/* A dataset of a plan carried out: docs/SLICING.md. Called by the fetch stage when all
 * dumps and samples are there; private to cli/datasets/ and cli/commands/datasets.c. */
#ifndef CLI_DATASETS_DATASET_EXECUTE_H
#define CLI_DATASETS_DATASET_EXECUTE_H

#include "cli/shared/cli.h"
#include "cli/shared/dump_reader.h"
#include "datasets/execution.h"

/* A sample as it was crawled. */
struct crawled_sample {
    struct slice resource; /* as the description names it */
    struct slice document; /* its last URL */
    struct slice quads;    /* canonical N-Quads; empty: it brought none */
};

struct dataset_run {
    struct arena arena;
    struct execution execution;
    struct dump_file *dumps; /* uri: after redirects; at hand */
    size_t dump_count;
    uint64_t fetched_ms;  /* of the youngest dump */
    uint64_t dumped_ms;   /* the same when it was sliced last; 0: never */
    struct slice problem; /* why that was withdrawn; empty: it was not */
    struct crawled_sample *samples;
    size_t sample_count;
    uint64_t requests;  /* for dumps and samples, redirects among them */
    unsigned proved;    /* samples whose slices are equal */
    const char *folder; /* for temporary files */
};

/* Sets the spaces' methods and names of documents by the samples: BAD_INPUT when they contradict
 * what the dumps hold. */
enum status dataset_prove(struct dataset_run *run, struct reason *why);
/* Feeds all dumps to a sink; between two files, next_file is called with the sink's context. */
enum status dataset_read(const struct dataset_run *run, const struct quad_sink *sink,
                         void (*next_file)(void *context), struct reason *why);

/* uri: of the dataset's job. withdrawn (may be NULL): why its dumps are given up. Prints what was
 * done on stderr. */
enum status dataset_execute(struct cli *cli, struct slice uri, const char *withdrawn,
                            struct reason *why);

#endif
