/* Estimates what things cost: rows of patterns, rows for each row of input, ways to join.
 *
 * The source estimates a pattern's rows from its constants. How many rows of a pattern there are
 * for a subject that other patterns have found is known from joint statistics where the source has
 * them (estimate_star); the rest are guesses of how often a subject or an object occurs.
 */
#include <math.h>

#include "index/query/plan/plan.h"

bool
plan_is_property(const struct planner *planner, const struct pattern *pattern, const char *iri)
{
    return pattern->predicate.kind == PLACE_CONSTANT &&
           slice_is(planner->run->query->constants[pattern->predicate.number].value, iri);
}

oid
plan_constant(const struct run *run, struct place place)
{
    return place.kind == PLACE_CONSTANT ? run->constants[place.number] : OID_NONE;
}

enum status
plan_estimate_pattern(struct planner *planner, const struct pattern *pattern, double *rows)
{
    struct run *run = planner->run;
    struct quad_oids quad = {plan_constant(run, pattern->subject),
                             plan_constant(run, pattern->predicate),
                             plan_constant(run, pattern->object), OID_NONE};
    if (planner->graph.kind != PLACE_SLOT && planner->graphs.kind != GRAPHS_ALL &&
        planner->graphs.count == 1) {
        quad.graph = planner->graphs.ids[0];
    }
    *rows = 0;
    if (pattern->path) {
        quad.predicate = OID_NONE;
    }
    if (!quad_is_of_source(&quad)) {
        return STATUS_OK;
    }
    uint64_t count;
    TRY(run->source->estimate(run->source->context, &quad, &count, planner->why));
    *rows = pattern->path ? (double)count * 2 + 1 : (double)count;
    return STATUS_OK;
}

static bool
is_slot(struct place place, uint32_t slot)
{
    return place.kind == PLACE_SLOT && place.number == slot;
}

static bool
is_bound(struct place place, const struct slots *bound)
{
    return place.kind == PLACE_SLOT && slots_have(bound, place.number);
}

enum { STAR_PREDICATES = 16 };

/* Remembers what the source has said of subjects with all these predicates; it looks through all
 * its sets, and planning asks the same many times. */
struct star_estimate {
    struct star_estimate *following;
    oid predicates[STAR_PREDICATES]; /* ascending */
    size_t count;
    bool known;
    double subjects, rows;
};

static void
insert_sorted(oid *predicates, size_t count, oid predicate)
{
    for (; count > 0 && predicates[count - 1] > predicate; count--) {
        predicates[count] = predicates[count - 1];
    }
    predicates[count] = predicate;
}

/* predicates ascend. NULL: it is not known. */
static const struct star_estimate *
star_estimate(const struct planner *planner, const oid *predicates, size_t count)
{
    struct run *run = planner->run;
    struct star_estimate *star = run->stars;
    while (star && (star->count != count ||
                    memcmp(star->predicates, predicates, count * sizeof *predicates) != 0)) {
        star = star->following;
    }
    if (!star) {
        star = arena_zero(&run->arena, sizeof *star);
        if (!star) {
            return NULL;
        }
        memcpy(star->predicates, predicates, count * sizeof *predicates);
        star->count = count;
        star->known = run->source->estimate_star(run->source->context, predicates, count,
                                                 &star->subjects, &star->rows, NULL) == STATUS_OK;
        star->following = run->stars;
        run->stars = star;
    }
    return star->known ? star : NULL;
}

/* Rows of `?s predicate ?o` for each subject that has the predicates of the patterns that were
 * joined; negative when it is not known. */
static double
star_fan_out(const struct planner *planner, const struct plan_items *items,
             const struct plan_item *item)
{
    const struct pattern *pattern = item->pattern;
    oid predicates[STAR_PREDICATES];
    size_t count = 0;
    if (!planner->run->source->estimate_star || pattern->path ||
        pattern->predicate.kind != PLACE_CONSTANT) {
        return -1;
    }
    for (size_t i = 0; items && i < items->count && count < STAR_PREDICATES - 1; i++) {
        const struct plan_item *other = &items->list[i];
        if (other->done && other->pattern && !other->search && !other->pattern->path &&
            other->pattern->subject.kind == pattern->subject.kind &&
            other->pattern->subject.number == pattern->subject.number &&
            other->pattern->predicate.kind == PLACE_CONSTANT) {
            insert_sorted(predicates, count++,
                          plan_constant(planner->run, other->pattern->predicate));
        }
    }
    const struct star_estimate *before = count ? star_estimate(planner, predicates, count) : NULL;
    if (count && (!before || before->rows <= 0)) {
        return -1;
    }
    insert_sorted(predicates, count++, plan_constant(planner->run, pattern->predicate));
    const struct star_estimate *after = star_estimate(planner, predicates, count);
    return !after                ? -1
           : before              ? after->rows / before->rows
           : after->subjects > 0 ? after->rows / after->subjects
                                 : 0;
}

/* The part of a predicate's rows that have the pattern's object. */
static double
object_share(struct planner *planner, const struct plan_item *item)
{
    struct pattern any = *item->pattern;
    double rows;
    if (any.object.kind != PLACE_CONSTANT) {
        return 1;
    }
    any.object = (struct place){0};
    return plan_estimate_pattern(planner, &any, &rows) == STATUS_OK && rows > 0
               ? fmin(1, item->rows / rows)
               : 1;
}

double
plan_fan_out(struct planner *planner, const struct plan_items *items, const struct plan_item *item,
             const struct slots *bound)
{
    double rows = item->rows;
    if (!item->pattern) {
        double inside = rows;
        if (!slots_meet(&item->slots, bound)) {
            return rows;
        }
        if (item->node->kind == ALGEBRA_VALUES && slots_within(&item->slots, bound)) {
            return fmin(rows, 0.5);
        }
        return item->node->kind == ALGEBRA_GRAPH &&
                       plan_estimate(planner, item->node, bound, &inside) == STATUS_OK
                   ? fmin(sqrt(rows), inside)
                   : sqrt(rows);
    }
    if (item->search) {
        return is_bound(item->pattern->subject, bound) ? 0.1 : rows;
    }
    const bool subject = is_bound(item->pattern->subject, bound);
    const bool object = is_bound(item->pattern->object, bound);
    const bool predicate = item->pattern->predicate.kind == PLACE_CONSTANT;
    if (subject) {
        const double star = star_fan_out(planner, items, item);
        rows = star >= 0 ? fmin(rows, star * object_share(planner, item))
                         : fmin(rows, predicate ? 1.5 : 8);
    }
    if (object) {
        rows = subject ? fmin(rows, 0.5) : fmin(rows, predicate ? fmax(2, pow(rows, 0.4)) : 10);
    }
    if (is_bound(item->pattern->predicate, bound)) {
        rows = subject ? fmin(rows, 1.5) : pow(rows, 0.7);
    }
    if (item->pattern->path) {
        rows *= 4;
    }
    if (is_bound(planner->graph, bound)) {
        rows = fmin(rows, fmax(1, rows * 0.5));
    }
    return rows;
}

enum status
plan_estimate(struct planner *planner, const struct algebra *node, const struct slots *bound,
              double *rows)
{
    double left = 1, right = 1;
    *rows = 1;
    if (node->kind == ALGEBRA_VALUES) {
        *rows = (double)node->row_count;
        return STATUS_OK;
    }
    if (node->kind == ALGEBRA_PATTERNS) {
        for (size_t i = 0; i < node->pattern_count; i++) {
            struct plan_item item = {.pattern = &node->patterns[i]};
            item.search = plan_is_property(planner, item.pattern, QUERY_MATCHES);
            item.rows = 100;
            if (!item.search) {
                TRY(plan_estimate_pattern(planner, item.pattern, &item.rows));
            }
            const double fan = plan_fan_out(planner, NULL, &item, bound);
            *rows = i == 0 || fan < *rows ? fan : *rows;
        }
        return STATUS_OK;
    }
    if (node->kind == ALGEBRA_GRAPH && node->graph.kind == PLACE_CONSTANT) {
        struct planner inside = *planner;
        inside.graph = (struct place){0};
        inside.graphs =
            (struct graphs){GRAPHS_ONE, &planner->run->constants[node->graph.number], 1};
        return plan_estimate(&inside, node->left, bound, rows);
    }
    if (node->left) {
        TRY(plan_estimate(planner, node->left, bound, &left));
    }
    if (node->right) {
        TRY(plan_estimate(planner, node->right, bound, &right));
    }
    switch (node->kind) {
    case ALGEBRA_JOIN:
        *rows = fmin(left, right);
        break;
    case ALGEBRA_UNION:
        *rows = left + right;
        break;
    case ALGEBRA_FILTER:
        *rows = left * 0.5;
        break;
    case ALGEBRA_GROUP:
        *rows = node->key_count ? left / 10 + 1 : 1;
        break;
    case ALGEBRA_SLICE:
        *rows = fmin(left, (double)node->limit);
        break;
    default:
        *rows = left;
    }
    return STATUS_OK;
}

/* ---- orders ---- */

bool
plan_sorted_scan(const struct planner *planner, const struct plan_item *item, uint32_t slot,
                 struct plan_sorted *sorted)
{
    const struct pattern *pattern = item->pattern;
    const bool all = planner->graphs.kind == GRAPHS_ALL;
    if (!pattern || pattern->path || item->search || planner->graph.kind == PLACE_SLOT ||
        scans_many(planner->run->source, planner->graph, &planner->graphs) ||
        (!all && planner->graphs.kind != GRAPHS_ONE)) {
        return false;
    }
    const bool subject = is_slot(pattern->subject, slot), object = is_slot(pattern->object, slot);
    const bool predicate = pattern->predicate.kind == PLACE_CONSTANT;
    *sorted = (struct plan_sorted){.rows = item->rows};
    if (subject == object || is_slot(pattern->predicate, slot)) {
        return false;
    }
    if (object && predicate) {
        const bool whole = pattern->subject.kind != PLACE_CONSTANT;
        sorted->order = all ? (whole ? ORDER_POCS : ORDER_SPOC) : whole ? ORDER_CPOS : ORDER_CSPO;
        return true;
    }
    if (subject && pattern->object.kind == PLACE_CONSTANT) {
        /* OSPC without the predicate: what has the object is read whole. */
        struct pattern any = *pattern;
        any.predicate = (struct place){0};
        sorted->order = all ? ORDER_OSPC : predicate ? ORDER_CPOS : ORDER_OCSP;
        sorted->any_predicate = all && predicate;
        return !sorted->any_predicate ||
               plan_estimate_pattern((struct planner *)planner, &any, &sorted->rows) == STATUS_OK;
    }
    return false;
}

/* ---- ways to join, in units of a row read ---- */

enum { BUILD = 6, PROBE = 3, STEP = 2, LOOKUP = 80, FEW = 64 };

uint64_t
plan_lookups_first(const struct planner *planner, double rows)
{
    return planner->first ? (uint64_t)((1 + BUILD) * rows / LOOKUP) + 1 : 0;
}

bool
plan_table_pays(double input, double rows)
{
    return input > FEW && (1 + BUILD) * rows + PROBE * input < LOOKUP * input;
}

double
plan_score(struct planner *planner, const struct plan_items *items, const struct plan_item *item,
           const struct slots *bound, bool *joined)
{
    *joined = slots_meet(&item->slots, bound);
    if (*joined || !item->node || item->node->kind != ALGEBRA_VALUES) {
        return plan_fan_out(planner, items, item, bound);
    }
    const struct slots all = slots_union(bound, &item->slots);
    double least = INFINITY;
    for (size_t i = 0; i < items->count; i++) {
        const struct plan_item *other = &items->list[i];
        if (other == item || other->done || !slots_meet(&other->slots, &item->slots)) {
            continue;
        }
        const bool meets = slots_meet(&other->slots, bound);
        const double rows = plan_fan_out(planner, items, other, &all);
        if ((meets && !*joined) || (meets == *joined && rows < least)) {
            least = rows;
            *joined = meets;
        }
    }
    return item->rows * (least == INFINITY ? 1 : *joined ? least : fmax(1, least / LOOKUP));
}

enum join_method
plan_join_method(const struct planner *planner, const struct plan_item *item, double input,
                 bool rooted, double merge)
{
    const double rows = item->rows;
    /* Where the first rows are wanted, the input is not read whole, nor two lists side by side. */
    const bool whole = !planner->first;
    const double cost[] = {[JOIN_LOOKUP] = LOOKUP * input,
                           [JOIN_HASH] = (1 + BUILD) * rows + PROBE * input,
                           [JOIN_HASH_INPUT] =
                               whole && rooted ? BUILD * input + (1 + PROBE) * rows : INFINITY,
                           [JOIN_MERGE] = whole ? merge + STEP * input : INFINITY};
    enum join_method best = JOIN_LOOKUP;
    /* Where only the first rows are wanted, or few are expected, nothing is read ahead. */
    if (planner->batch_rows < BATCH_ROWS || input <= FEW) {
        return best;
    }
    for (enum join_method method = JOIN_HASH; method <= JOIN_MERGE; method++) {
        best = cost[method] < cost[best] ? method : best;
    }
    return best;
}
