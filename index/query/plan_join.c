/* Joins: which pattern comes first, and how each is joined to what came before.
 *
 * Greedy: of the items that share a variable with the rows so far (or all, when none does) the one
 * that should give the fewest rows is next. The source estimates a pattern's rows from its
 * constants; variables that are bound by then divide that by guesses of how often a subject or
 * object occurs. A pattern that would be looked up for very many rows is read once and
 * hash-joined.
 */
#include <math.h>

#include "index/query/plan.h"

struct item {
    const struct algebra *node; /* or */
    const struct pattern *pattern;
    uint32_t score; /* of a keyword search: slot of the score */
    double rows;    /* without any variable bound */
    struct slots slots;
    bool search, done;
};

struct items {
    struct item *list;
    size_t count;
};

static bool
is_property(const struct planner *planner, const struct pattern *pattern, const char *iri)
{
    return pattern->predicate.kind == PLACE_CONSTANT &&
           slice_is(planner->run->query->constants[pattern->predicate.number].value, iri);
}

/* ---- estimates ---- */

static oid
constant_id(const struct run *run, struct place place)
{
    return place.kind == PLACE_CONSTANT ? run->constants[place.number] : OID_NONE;
}

enum status
plan_estimate_pattern(struct planner *planner, const struct pattern *pattern, double *rows)
{
    struct run *run = planner->run;
    struct quad_oids quad = {constant_id(run, pattern->subject),
                             constant_id(run, pattern->predicate),
                             constant_id(run, pattern->object), OID_NONE};
    if (planner->graph.kind != PLACE_SLOT && planner->graphs.kind != GRAPHS_ALL &&
        planner->graphs.count == 1) {
        quad.graph = planner->graphs.ids[0];
    }
    *rows = 0;
    if (pattern->path) {
        quad.predicate = OID_NONE;
    }
    if (quad.subject >= OID_LOCAL || quad.predicate >= OID_LOCAL || quad.object >= OID_LOCAL ||
        quad.graph >= OID_LOCAL) {
        return STATUS_OK;
    }
    uint64_t count;
    TRY(run->source->estimate(run->source->context, &quad, &count, planner->why));
    *rows = pattern->path ? (double)count * 2 + 1 : (double)count;
    return STATUS_OK;
}

static bool
is_bound(struct place place, const struct slots *bound)
{
    return place.kind == PLACE_SLOT && slots_have(bound, place.number);
}

/* Rows for each row of input. */
static double
fan_out(const struct planner *planner, const struct item *item, const struct slots *bound)
{
    double rows = item->rows;
    if (!item->pattern) {
        return slots_meet(&item->slots, bound) ? sqrt(rows) : rows;
    }
    if (item->search) {
        return is_bound(item->pattern->subject, bound) ? 0.1 : rows;
    }
    const bool subject = is_bound(item->pattern->subject, bound);
    const bool object = is_bound(item->pattern->object, bound);
    const bool predicate = item->pattern->predicate.kind == PLACE_CONSTANT;
    if (subject) {
        rows = fmin(rows, predicate ? 1.5 : 8);
    }
    if (object) {
        rows = subject ? fmin(rows, 0.5) : fmin(rows, predicate ? fmax(2, pow(rows, 0.4)) : 10);
    }
    if (is_bound(item->pattern->predicate, bound)) {
        rows = pow(rows, 0.7);
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
            struct item item = {.pattern = &node->patterns[i]};
            item.search = is_property(planner, item.pattern, QUERY_MATCHES);
            item.rows = 100;
            if (!item.search) {
                TRY(plan_estimate_pattern(planner, item.pattern, &item.rows));
            }
            const double fan = fan_out(planner, &item, bound);
            *rows = i == 0 || fan < *rows ? fan : *rows;
        }
        return STATUS_OK;
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

/* ---- collecting ---- */

static size_t
count_items(const struct algebra *node)
{
    return node->kind == ALGEBRA_JOIN       ? count_items(node->left) + count_items(node->right)
           : node->kind == ALGEBRA_PATTERNS ? node->pattern_count
                                            : 1;
}

static enum status
collect(struct planner *planner, const struct algebra *node, struct items *items)
{
    if (node->kind == ALGEBRA_JOIN) {
        TRY(collect(planner, node->left, items));
        return collect(planner, node->right, items);
    }
    if (node->kind != ALGEBRA_PATTERNS) {
        struct item *item = &items->list[items->count++];
        const struct slots none = {0};
        *item = (struct item){.node = node, .slots = node->maybe};
        return plan_estimate(planner, node, &none, &item->rows);
    }
    for (size_t i = 0; i < node->pattern_count; i++) {
        struct item *item = &items->list[items->count++];
        *item = (struct item){.pattern = &node->patterns[i], .score = NUMBER_NONE};
        slots_add_pattern(&item->slots, item->pattern);
        item->search = is_property(planner, item->pattern, QUERY_MATCHES);
        item->rows = 100;
        if (!item->search) {
            TRY(plan_estimate_pattern(planner, item->pattern, &item->rows));
        }
    }
    return STATUS_OK;
}

/* Gives each q:score to the q:matches with the same subject. */
static enum status
attach_scores(struct planner *planner, struct items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        struct item *score = &items->list[i];
        if (!score->pattern || !is_property(planner, score->pattern, QUERY_SCORE)) {
            continue;
        }
        const struct place literal = score->pattern->subject;
        for (size_t k = 0; k < items->count && !score->done; k++) {
            struct item *search = &items->list[k];
            if (search->search && search->pattern->subject.kind == literal.kind &&
                search->pattern->subject.number == literal.number &&
                score->pattern->object.kind == PLACE_SLOT && search->score == NUMBER_NONE) {
                search->score = score->pattern->object.number;
                slots_add(&search->slots, search->score);
                score->done = true;
            }
        }
        if (!score->done) {
            return status_fail(planner->why, STATUS_BAD_INPUT,
                               "q:score needs a variable, and q:matches for the same literal in "
                               "the same group");
        }
    }
    return STATUS_OK;
}

/* ---- joining one item ---- */

static enum status
plan_search(struct planner *planner, const struct item *item, struct operator** pipeline,
            struct known *known)
{
    const struct place words = item->pattern->object;
    if (words.kind != PLACE_CONSTANT ||
        planner->run->query->constants[words.number].kind != TERM_LITERAL) {
        return status_fail(planner->why, STATUS_BAD_INPUT, "q:matches needs its words as a string");
    }
    const struct slice text = planner->run->query->constants[words.number].value;
    struct operator* search = text_new(planner->run, *pipeline, item->pattern->subject, text,
                                       item->score, planner->batch_rows);
    return plan_set(planner, search, pipeline, known, "\"%.*s\"", SLICE_PRINT(text));
}

static void
fill_spec(const struct planner *planner, const struct pattern *pattern, struct scan_spec *spec)
{
    *spec = (struct scan_spec){.pattern = *pattern,
                               .graphs = planner->graphs,
                               .graph = planner->graph,
                               .allowed = planner->run->named_graphs,
                               .doubles = planner->doubles};
}

/* Reads the pattern once and hash-joins: when it would be looked up for very many rows. */
static bool
rather_hash(const struct planner *planner, const struct item *item, const struct known *known)
{
    enum { LOOKUP_COSTS_ROWS = 16, FEW = 2000 };
    const bool first_rows = planner->batch_rows < BATCH_ROWS; /* only they are wanted */
    return known->rows > FEW && !first_rows && slots_meet(&item->slots, &known->certain) &&
           item->rows < known->rows * LOOKUP_COSTS_ROWS && item->rows < 20e6;
}

static enum status
plan_scan(struct planner *planner, const struct item *item, struct operator** pipeline,
          struct known *known)
{
    struct run *run = planner->run;
    struct scan_spec spec;
    fill_spec(planner, item->pattern, &spec);
    const struct slice note =
        planner->notes ? plan_pattern_text(planner, item->pattern) : SLICE("");
    if (item->pattern->path) {
        return plan_set(planner, path_new(run, *pipeline, &spec, planner->batch_rows), pipeline,
                        known, "%.*s", SLICE_PRINT(note));
    }
    return plan_set(planner, scan_new(run, *pipeline, &spec, planner->batch_rows), pipeline, known,
                    "%.*s", SLICE_PRINT(note));
}

static enum status
plan_scan_apart(struct planner *planner, const struct item *item, struct operator** pipeline,
                struct known *known)
{
    struct known right = {.maybe = item->slots, .certain = item->slots, .rows = item->rows};
    struct operator* built = NULL;
    TRY(plan_set(planner, unit_new(planner->run), &built, &right, NULL));
    TRY(plan_scan(planner, item, &built, &right));
    return plan_hash(planner, HASH_JOIN, built, &right, NULL, pipeline, known);
}

static enum status
plan_item(struct planner *planner, struct item *item, struct operator** pipeline,
          struct known *known, struct pending *pending)
{
    item->done = true;
    if (item->node && item->node->kind == ALGEBRA_VALUES && !known->unit && item->rows > 16) {
        struct operator* built;
        struct known right;
        TRY(plan_standalone(planner, item->node, &built, &right));
        return plan_hash(planner, HASH_JOIN, built, &right, NULL, pipeline, known);
    }
    if (item->node) {
        return plan_joined(planner, item->node, pipeline, known, pending);
    }
    const double rows = known->rows * fan_out(planner, item, &known->maybe);
    if (planner->graph.kind == PLACE_SLOT && planner->graph.number < SLOTS_MAXIMUM &&
        planner->graph.number < planner->run->query->slot_count && !item->search) {
        slots_add(&item->slots, planner->graph.number);
    }
    const bool apart = !known->unit && !item->search && !item->pattern->path &&
                       !slots_meet(&item->slots, &known->maybe) && known->rows > 4;
    if (!item->search && !item->pattern->path && (apart || rather_hash(planner, item, known))) {
        TRY(plan_scan_apart(planner, item, pipeline, known));
        known->rows = rows;
        return STATUS_OK;
    }
    known->maybe = slots_union(&known->maybe, &item->slots);
    known->certain = slots_union(&known->certain, &item->slots);
    known->unit = false;
    known->rows = rows;
    return item->search ? plan_search(planner, item, pipeline, known)
                        : plan_scan(planner, item, pipeline, known);
}

static struct item *
cheapest(const struct planner *planner, const struct items *items, const struct known *known)
{
    struct item *best = NULL;
    double best_rows = 0;
    bool best_joined = false;
    for (size_t i = 0; i < items->count; i++) {
        struct item *item = &items->list[i];
        if (item->done) {
            continue;
        }
        const double rows = fan_out(planner, item, &known->maybe);
        const bool joined = slots_meet(&item->slots, &known->maybe);
        if (!best || (joined && !best_joined) || (joined == best_joined && rows < best_rows)) {
            best = item;
            best_rows = rows;
            best_joined = joined;
        }
    }
    return best;
}

enum status
plan_join(struct planner *planner, const struct algebra *node, struct operator** pipeline,
          struct known *known, struct pending *pending)
{
    struct items items = {0};
    items.list = arena_alloc(&planner->run->arena, count_items(node) * sizeof *items.list);
    if (!items.list) {
        return status_fail(planner->why, STATUS_LIMIT, "the query's plan is too large");
    }
    TRY(collect(planner, node, &items));
    TRY(attach_scores(planner, &items));
    for (;;) {
        struct item *item = cheapest(planner, &items, known);
        if (!item) {
            return STATUS_OK;
        }
        TRY(plan_item(planner, item, pipeline, known, pending));
        TRY(plan_filters(planner, pipeline, known, pending));
    }
}
