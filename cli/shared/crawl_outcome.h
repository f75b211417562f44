/* Reports what became of a crawl: how its documents ended, what is buried and why, and which seeds
 * brought nothing. Counts are the queue's (queue/client/outcomes.h), sums over all nodes, since the
 * directory was made; of seeds the metadata tell. */
#ifndef CLI_SHARED_CRAWL_OUTCOME_H
#define CLI_SHARED_CRAWL_OUTCOME_H

#include "cli/shared/progress.h"
#include "cli/shared/seeds.h"

/* A line for each stage with its outcomes that occurred. */
void crawl_outcome_print(const struct queue_stats *stats, FILE *out);
/* Reasons of buried jobs with how many each, numbers in them left out, the most frequent first. */
void crawl_outcome_print_buried(const struct progress *progress, FILE *out);
/* Members of a JSON object, each after a comma: "outcomes", "buried". */
void crawl_outcome_put_json(const struct progress *progress, struct buf *out);

struct seed_outcome {
    const char *key;
    struct reason why;
};
struct seed_outcomes {
    struct seed_outcome *items; /* that brought nothing */
    size_t count, seeds;
};
/* Asks the metadata store, and the queue for hosts that are set aside. */
enum status crawl_outcome_of_seeds(struct cli *cli, const struct progress *progress,
                                   const struct seeds *seeds, struct seed_outcomes *outcomes,
                                   struct reason *why);
void seed_outcomes_release(struct seed_outcomes *outcomes);
void seed_outcomes_print(const struct seed_outcomes *outcomes, FILE *out);
/* The member "seeds", after a comma. */
void seed_outcomes_put_json(const struct seed_outcomes *outcomes, struct buf *out);

/* Prints in a few lines what a crawl waits for while nothing moves: hosts, why, until when. */
void crawl_outcome_print_waits(const struct progress *progress, FILE *out);

#endif
