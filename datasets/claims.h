/* Decides what of a host's descriptions is believed: docs/DATASETS.md, "What a description may
 * claim". */
#ifndef DATASETS_CLAIMS_H
#define DATASETS_CLAIMS_H

#include "datasets/description.h"

/* Descriptions that belong together: of one host as its robots.txt names them, and those of other
 * hosts that sub and parent links lead to. */
struct claims {
    struct description **descriptions;
    size_t count;
    struct arena *arena;
};

/* Fills `refused` of every access, clears authorities outside of their spaces (noted). May be
 * called again when another description has been fetched. */
void claims_judge(const struct claims *claims);
/* Refuses endpoints that are not asked on this author's word: docs/DATASETS.md, "Endpoints". After
 * claims_judge. */
void claims_judge_endpoints(const struct claims *claims, const struct description *description,
                            struct dataset *dataset);
/* Returns whether the description's author may speak of the URI: it begins with its own space or a
 * joined one, and with no other description's deeper space. */
bool claims_own(const struct claims *claims, const struct description *description,
                struct slice uri);
/* Sub- and parent sitemaps that are named and not among the descriptions: to be fetched.
 * Appends to *missing in the arena. */
size_t claims_missing(const struct claims *claims, struct slice **missing);

#endif
