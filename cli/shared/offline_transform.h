/* Transforming outside of the stage: one document by hand, or many again. The same sandboxed
 * workers, and the other documents that a document needs from files or from a crawl's archive;
 * nothing is fetched. */
#ifndef CLI_SHARED_OFFLINE_TRANSFORM_H
#define CLI_SHARED_OFFLINE_TRANSFORM_H

#include "cli/shared/cli.h"
#include "stages/parsing/document_worker.h"

struct offline_transform;

struct offline_settings {
    const struct opt_set *options;
    const char *directory; /* its registry and contexts; NULL: none */
    /* Its archive has the resources; NULL: none. Its metadata store is asked when there is need,
     * and started for that when it does not run. */
    struct cli *cli;
    const struct flag_list *contexts; /* "URL=FILE"; NULL: none */
};
/* Fails when a context of settings cannot be read. All of settings must live as long. */
enum status offline_transform_open(struct offline_transform **hand,
                                   const struct offline_settings *settings, struct reason *why);
void offline_transform_close(struct offline_transform *hand); /* NULL is allowed */

/* request's resources are filled in here; its type must be known. *outcome lives until the next
 * call. */
enum status offline_transform_run(struct offline_transform *hand,
                                  const struct transform_request *request,
                                  struct document_outcome *outcome, bool *died, struct reason *why);

#endif
