/* Transforming outside of the stage: one document by hand, or many again. The same sandboxed
 * workers, and the other documents that a document needs from files or from a crawl's archive;
 * nothing is fetched. */
#ifndef CLI_BY_HAND_H
#define CLI_BY_HAND_H

#include "cli/cli.h"
#include "stages/document_worker.h"

struct by_hand;

struct by_hand_settings {
    const struct opt_set *options;
    const char *directory; /* its registry and contexts; NULL: none */
    /* Its archive has the resources; NULL: none. Its metadata store is asked when there is need,
     * and started for that when it does not run. */
    struct cli *cli;
    const struct flag_list *contexts; /* "URL=FILE"; NULL: none */
};
/* Fails when a context of settings cannot be read. All of settings must live as long. */
enum status by_hand_open(struct by_hand **hand, const struct by_hand_settings *settings,
                         struct reason *why);
void by_hand_close(struct by_hand *hand); /* NULL is allowed */

/* request's resources are filled in here; its type must be known. *outcome lives until the next
 * call. */
enum status by_hand_transform(struct by_hand *hand, const struct transform_request *request,
                              struct document_outcome *outcome, bool *died, struct reason *why);

#endif
