/* Decides who should run which share: a pure function of what one machine sees. Machines that see
 * the same plan the same; those that do not yet may pass a share on in vain, but never run one
 * together, which is the business of claims. */
#ifndef SHARES_SHARE_PLAN_H
#define SHARES_SHARE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "shares/share_records.h"

enum { NOBODY = -1 };

/* A machine that lives and does not drain. */
struct plan_machine {
    const char *name; /* also tells apart who is first: they come sorted */
    unsigned weight;
    const bool *only; /* the shares that it runs; NULL: whichever */
};
struct plan_share {
    int owner;       /* number of the machine that runs it now, NOBODY when none of them does */
    int wanted;      /* the machine that people moved it to; NOBODY: any */
    bool for_nobody; /* it was given up, or lies on a disk that is away */
};

/* Fills who should run each share: NOBODY when there is no machine for it. As few shares as can be
 * change hands; the others are as many for each machine as its weight says, to within one. */
void share_plan(const struct plan_machine *machines, size_t machine_count,
                const struct plan_share *shares, size_t share_count, int *should);

#endif
