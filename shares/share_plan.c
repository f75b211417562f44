#include "shares/share_plan.h"

#include <stdint.h>

struct plan {
    const struct plan_machine *machines;
    size_t machine_count;
    const struct plan_share *shares;
    size_t share_count;
    int *should;
    size_t room[SESSIONS_MOST]; /* how many more the machine may have */
};

static bool
may_run(const struct plan *plan, int machine, size_t share)
{
    return machine >= 0 && (size_t)machine < plan->machine_count &&
           (plan->machines[machine].only == NULL || plan->machines[machine].only[share]);
}

/* Tells whether it is to go wherever there is room. */
static bool
is_open(const struct plan *plan, size_t share)
{
    return plan->should[share] == NOBODY && !plan->shares[share].for_nobody;
}

/* Shares that people gave a place: by a move, or by a machine's list. */
static void
place_chosen(struct plan *plan)
{
    for (size_t i = 0; i < plan->share_count; i++) {
        const struct plan_share *share = &plan->shares[i];
        int chosen = may_run(plan, share->wanted, i) ? share->wanted : NOBODY;
        plan->should[i] = NOBODY;
        if (share->for_nobody) {
            continue;
        }
        if (chosen == NOBODY && may_run(plan, share->owner, i) &&
            plan->machines[share->owner].only != NULL) {
            chosen = share->owner;
        }
        for (size_t m = 0; m < plan->machine_count && chosen == NOBODY; m++) {
            if (plan->machines[m].only != NULL && plan->machines[m].only[i]) {
                chosen = (int)m;
            }
        }
        plan->should[i] = chosen;
    }
}

static size_t
count_owned(const struct plan *plan, size_t machine)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->share_count; i++) {
        count += plan->should[i] == (int)machine ||
                 (is_open(plan, i) && plan->shares[i].owner == (int)machine);
    }
    return count;
}

/* Finds how many of `count` each unrestricted machine gets: proportional to its weight, the rest
 * one each, first to those that have more already, so that nothing moves for it, then to those with
 * the largest remainders (Hamilton's method), the first of equals. */
static void
make_room(struct plan *plan, size_t count)
{
    uint64_t weights = 0, remainders[SESSIONS_MOST] = {0};
    size_t given = 0;
    for (size_t m = 0; m < plan->machine_count; m++) {
        weights += plan->machines[m].only == NULL ? plan->machines[m].weight : 0;
    }
    for (size_t m = 0; m < plan->machine_count && weights > 0; m++) {
        const uint64_t part =
            plan->machines[m].only == NULL ? (uint64_t)count * plan->machines[m].weight : 0;
        plan->room[m] = (size_t)(part / weights);
        remainders[m] = part % weights;
        if (remainders[m] > 0 && count_owned(plan, m) > plan->room[m]) {
            remainders[m] += weights;
        }
        given += plan->room[m];
    }
    while (given < count && weights > 0) {
        size_t largest = 0;
        for (size_t m = 1; m < plan->machine_count; m++) {
            largest = remainders[m] > remainders[largest] ? m : largest;
        }
        plan->room[largest]++;
        remainders[largest] = 0;
        given++;
    }
}

static void
place(struct plan *plan, size_t share, size_t machine)
{
    plan->should[share] = (int)machine;
    plan->room[machine] -= plan->room[machine] > 0;
}

/* The first machine with room; if moves have filled all of it, any that runs whatever comes. */
static int
any_room(const struct plan *plan)
{
    int fallback = NOBODY;
    for (size_t m = 0; m < plan->machine_count; m++) {
        if (plan->machines[m].only == NULL && plan->room[m] > 0) {
            return (int)m;
        }
        fallback = fallback == NOBODY && plan->machines[m].only == NULL ? (int)m : fallback;
    }
    return fallback;
}

void
share_plan(const struct plan_machine *machines, size_t machine_count,
           const struct plan_share *shares, size_t share_count, int *should)
{
    struct plan plan = {.machines = machines,
                        .machine_count = machine_count,
                        .shares = shares,
                        .share_count = share_count,
                        .should = should};
    size_t count = 0;
    place_chosen(&plan);
    for (size_t i = 0; i < share_count; i++) {
        count += is_open(&plan, i) || (should[i] != NOBODY && machines[should[i]].only == NULL);
    }
    make_room(&plan, count);
    for (size_t i = 0; i < share_count; i++) {
        if (should[i] != NOBODY) {
            place(&plan, i, (size_t)should[i]);
        }
    }
    for (size_t i = 0; i < share_count; i++) { /* who has one keeps it while there is room */
        const int owner = shares[i].owner;
        if (is_open(&plan, i) && may_run(&plan, owner, i) && plan.room[owner] > 0) {
            place(&plan, i, (size_t)owner);
        }
    }
    for (size_t i = 0; i < share_count; i++) {
        const int machine = is_open(&plan, i) ? any_room(&plan) : NOBODY;
        if (machine != NOBODY) {
            place(&plan, i, (size_t)machine);
        }
    }
}
