/* Judges and prints what a host says of its datasets. Neither is thread-safe. */
#ifndef CLI_DATASETS_SURVEY_PRINT_H
#define CLI_DATASETS_SURVEY_PRINT_H

#include "cli/datasets/host_survey.h"

struct survey_printing {
    bool json;          /* one object for each dataset */
    const char *prefer; /* the way that is gone if it can be, or NULL (datasets.prefer) */
};

/* Surveys the host of the crawl key, and prints what each way to each of its datasets costs, and
 * which is gone. */
enum status survey_print_plans(struct survey *survey, struct web_client *client, struct slice key,
                               const struct survey_printing *printing, struct reason *why);
/* Surveys the sitemap and those that it names, and prints what its publisher should mend. Fails
 * with BAD_INPUT when there is anything. The printing is not asked. */
enum status survey_print_faults(struct survey *survey, struct web_client *client, struct slice key,
                                const struct survey_printing *printing, struct reason *why);

#endif
