/* URIs that look like those of a space without end. Pure functions of the URI (and of the year), so
 * that what is refused does not depend on the order of discovery; and a budget, which does.
 *
 * No trap is proved by its URI; the tests are made so that pages of real sites pass. A refusal is a
 * constant string that begins with the option which turns it off. */
#ifndef CRAWL_TRAPS_H
#define CRAWL_TRAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options/opt.h"
#include "base/slice.h"

extern const struct opt traps_options[];

struct trap_rules {
    uint32_t depth;    /* most segments of a path; 0: any number */
    uint32_t cycles;   /* a sequence of segments or a parameter that comes so often; 0: any */
    uint32_t calendar; /* years from now that a calendar goes on; 0: for ever */
    uint32_t year;     /* now */
    bool sessions;
};
void trap_rules_from(struct trap_rules *rules, const struct opt_set *options);

/* NULL: no trap. crawl_key: as url_crawl_key gives it. */
const char *trap_refusal(const struct trap_rules *rules, struct slice crawl_key);

/* ---- budget of query strings ---- */

/* Counts how many URIs that differ in their query only were let in. By path and its host, in a
 * fixed number of places: who comes later takes a place over and begins anew. One thread. */
struct trap_budget;
struct trap_budget *trap_budget_new(uint32_t most); /* 0: without limit */
void trap_budget_free(struct trap_budget *budget);  /* NULL is allowed */
/* Counts one; each URI once. False: the budget of its path is used up. */
bool trap_budget_take(struct trap_budget *budget, struct slice crawl_key);

#endif
