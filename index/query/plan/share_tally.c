/* Counts over several partitions that need no term: COUNT of one pattern's different values, and of
 * joins whose patterns have one variable in common and no other. Then the number of solutions is,
 * over the values of that variable, the sum of the products of how many triples of each pattern
 * have it; so partitions tell values by their digests, with numbers, instead of rows. These are
 * asked for when the query is planned: only then is known whether they can be told. */
#include <math.h>
#include <stdlib.h>

#include "index/query/plan/plan.h"

enum { PATTERNS_MOST = 8, PLACES = 3, MEMORY_SHARE = 16, MEMORY_MOST = 64 << 20 };
/* Where one pattern has so many times another's rows, it is better looked up for these; unless all
 * its rows are few. */
enum { UNEVEN = 64, ROWS_FEW = 4096 };

struct tally {
    const struct pattern *patterns[PATTERNS_MOST];
    enum triple_place by[PATTERNS_MOST];
    size_t count;
    uint32_t slot; /* that they have in common, or whose values are asked */
    bool different;
    struct value_count *lists[PATTERNS_MOST];
    size_t lengths[PATTERNS_MOST];
    int64_t rows, values; /* the answer */
};

/* ---- which groups ---- */

static bool
collect(const struct query *query, const struct algebra *node, struct tally *tally)
{
    if (node->kind == ALGEBRA_JOIN || (node->kind == ALGEBRA_LEFT_JOIN && !node->expression)) {
        return collect(query, node->left, tally) && collect(query, node->right, tally);
    }
    if (node->kind != ALGEBRA_PATTERNS || share_searches(query, node) ||
        tally->count + node->pattern_count > PATTERNS_MOST) {
        return false;
    }
    for (size_t i = 0; i < node->pattern_count; i++) {
        if (node->patterns[i].path) {
            return false;
        }
        tally->patterns[tally->count++] = &node->patterns[i];
    }
    return true;
}

/* Whether COUNT of the variable leaves out what OPTIONAL found nothing for: then it counts the
 * solutions of the join. */
static bool
counts_matches(const struct algebra *left_join, const struct aggregate *aggregate)
{
    const struct expression *argument = aggregate->argument;
    return !aggregate->distinct && argument && argument->kind == EXPRESSION_VARIABLE &&
           slots_have(&left_join->right->certain, argument->number) &&
           !slots_have(&left_join->left->maybe, argument->number);
}

/* OPTIONAL stands above all else or nowhere. */
static bool
has_left_join(const struct algebra *node)
{
    return node && (node->kind == ALGEBRA_LEFT_JOIN || has_left_join(node->left) ||
                    has_left_join(node->right));
}

static bool
optionals_fit(const struct algebra *group)
{
    const struct algebra *node = group->left;
    if (!has_left_join(node)) {
        return true;
    }
    bool fit = node->kind == ALGEBRA_LEFT_JOIN && !has_left_join(node->left) &&
               !has_left_join(node->right);
    for (size_t i = 0; i < group->aggregate_count && fit; i++) {
        fit = counts_matches(node, &group->aggregates[i]);
    }
    return fit;
}

/* Finds the variable that is in several patterns, else the one whose different values are asked.
 * False: there is none, or more than one. */
static bool
find_slot(const struct algebra *group, struct tally *tally)
{
    struct slots seen = {0};
    tally->slot = NUMBER_NONE;
    for (size_t i = 0; i < tally->count; i++) {
        const struct place places[PLACES] = {
            tally->patterns[i]->subject, tally->patterns[i]->predicate, tally->patterns[i]->object};
        for (int k = 0; k < PLACES; k++) {
            if (places[k].kind != PLACE_SLOT) {
                continue;
            }
            if (slots_have(&seen, places[k].number)) {
                if (tally->slot != NUMBER_NONE && tally->slot != places[k].number) {
                    return false;
                }
                tally->slot = places[k].number;
            }
            slots_add(&seen, places[k].number);
        }
    }
    for (size_t i = 0; i < group->aggregate_count && tally->slot == NUMBER_NONE; i++) {
        const struct aggregate *aggregate = &group->aggregates[i];
        if (aggregate->distinct && aggregate->argument &&
            aggregate->argument->kind == EXPRESSION_VARIABLE) {
            tally->slot = aggregate->argument->number;
        }
    }
    return tally->slot != NUMBER_NONE;
}

/* Each pattern has the variable once. */
static bool
find_places(struct tally *tally)
{
    for (size_t i = 0; i < tally->count; i++) {
        const struct place places[PLACES] = {
            tally->patterns[i]->subject, tally->patterns[i]->predicate, tally->patterns[i]->object};
        size_t times = 0;
        for (int k = 0; k < PLACES; k++) {
            if (places[k].kind == PLACE_SLOT && places[k].number == tally->slot) {
                tally->by[i] = (enum triple_place)k;
                times++;
            }
        }
        if (times != 1) {
            return false;
        }
    }
    return tally->count > 0;
}

static bool
aggregates_fit(const struct algebra *group, struct tally *tally)
{
    tally->different = true;
    for (size_t i = 0; i < group->aggregate_count; i++) {
        const struct aggregate *aggregate = &group->aggregates[i];
        const struct expression *argument = aggregate->argument;
        const bool variable = argument && argument->kind == EXPRESSION_VARIABLE;
        if (aggregate->kind != AGGREGATE_COUNT || aggregate->weight ||
            (aggregate->distinct && (!variable || argument->number != tally->slot)) ||
            (argument && (!variable || !slots_have(&group->left->maybe, argument->number)))) {
            return false;
        }
        tally->different = tally->different && aggregate->distinct;
    }
    return group->aggregate_count > 0 && (tally->count > 1 || tally->different);
}

/* Whether lists of all values are worth it: the answers are kept, but no query may pay for much
 * that it has no use of. */
static enum status
is_even(struct planner *planner, const struct tally *tally, bool *even)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < tally->count; i++) {
        double rows;
        TRY(plan_estimate_pattern(planner, tally->patterns[i], &rows));
        least = rows < least ? rows : least;
        most = rows > most ? rows : most;
    }
    *even = most <= ROWS_FEW || most <= least * UNEVEN;
    return STATUS_OK;
}

/* ---- counting ---- */

static enum status
check(const void *context, struct reason *why)
{
    return run_check(context, why);
}

static enum status
ask(struct planner *planner, struct tally *tally, size_t memory, struct reason *why)
{
    struct run *run = planner->run;
    for (size_t i = 0; i < tally->count; i++) {
        const struct pattern *pattern = tally->patterns[i];
        const struct count_request request = {
            .pattern = {.subject = plan_constant(run, pattern->subject),
                        .predicate = plan_constant(run, pattern->predicate),
                        .object = plan_constant(run, pattern->object)},
            .by = tally->by[i],
            .memory = memory / tally->count,
            .check = check,
            .check_context = run};
        run->report.scans++;
        TRY(run->source->count_values(run->source->context, &request, tally->different,
                                      &tally->lists[i], &tally->lengths[i], why));
    }
    return STATUS_OK;
}

/* Multiplies what the lists have of the value; 0: one of them has it not. */
static bool
multiply(const struct tally *tally, const struct term_digest *value, size_t *at, int64_t *rows)
{
    *rows = 1;
    for (size_t i = 0; i < tally->count; i++) {
        const struct value_count *list = tally->lists[i];
        while (at[i] < tally->lengths[i] && term_digest_compare(&list[at[i]].value, value) < 0) {
            at[i]++;
        }
        if (at[i] == tally->lengths[i] || term_digest_compare(&list[at[i]].value, value) != 0) {
            *rows = 0;
            return true;
        }
        if (__builtin_mul_overflow(*rows, list[at[i]].triples, rows)) {
            return false;
        }
    }
    return true;
}

static enum status
add_up(struct tally *tally, struct reason *why)
{
    size_t at[PATTERNS_MOST] = {0};
    for (size_t i = 0; i < tally->lengths[0]; i++) {
        int64_t rows;
        if (!multiply(tally, &tally->lists[0][i].value, at, &rows) ||
            __builtin_add_overflow(tally->rows, rows, &tally->rows)) {
            return status_fail(why, STATUS_LIMIT, "a count has more than 63 bits");
        }
        tally->values += rows > 0;
    }
    return STATUS_OK;
}

static enum status
count(struct planner *planner, struct tally *tally, struct reason *why)
{
    struct run *run = planner->run;
    const size_t share = run->account.maximum / MEMORY_SHARE;
    const size_t memory = share < MEMORY_MOST ? share : MEMORY_MOST;
    TRY(memory_take(&run->account, memory, "counts", why));
    enum status status = ask(planner, tally, memory, why);
    status = status == STATUS_OK ? add_up(tally, why) : status;
    memory_give(&run->account, memory);
    for (size_t i = 0; i < tally->count; i++) {
        free(tally->lists[i]);
    }
    return status;
}

static enum status
set(struct planner *planner, const struct algebra *group, const struct tally *tally,
    struct operator** pipeline, struct known *known)
{
    struct arena *arena = &planner->run->arena;
    const size_t count = group->aggregate_count;
    uint32_t *slots = arena_alloc(arena, count * sizeof *slots);
    int64_t *numbers = arena_alloc(arena, count * sizeof *numbers);
    if (!slots || !numbers) {
        return plan_too_large(planner);
    }
    for (size_t i = 0; i < count; i++) {
        slots[i] = group->aggregates[i].slot;
        numbers[i] = group->aggregates[i].distinct ? tally->values : tally->rows;
    }
    *known = (struct known){.maybe = group->maybe, .certain = group->certain, .rows = 1};
    return plan_set(planner, tally_new(planner->run, *pipeline, slots, numbers, count), pipeline,
                    known, "values of %zu patterns in all partitions", tally->count);
}

enum status
plan_tally(struct planner *planner, const struct algebra *group, struct operator** pipeline,
           struct known *known, bool *tallied)
{
    const struct query *query = planner->run->query;
    struct tally tally = {.count = 0};
    bool even;
    *tallied = false;
    if (!planner->run->source->count_values || planner->graphs.kind != GRAPHS_ALL ||
        group->key_count > 0 || group->partial || !plan_may_share(planner, *pipeline, known) ||
        !optionals_fit(group) || !collect(query, group->left, &tally) ||
        !find_slot(group, &tally) || !find_places(&tally) || !aggregates_fit(group, &tally)) {
        return STATUS_OK;
    }
    TRY(is_even(planner, &tally, &even));
    if (!even) {
        return STATUS_OK;
    }
    const enum status status = count(planner, &tally, planner->why);
    *tallied = status == STATUS_OK;
    return status == STATUS_OK ? set(planner, group, &tally, pipeline, known)
           : status == STATUS_LIMIT || status == STATUS_UNSUPPORTED ? STATUS_OK
                                                                    : status;
}
