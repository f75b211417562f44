/* Joins: which pattern comes first, and how each is joined to what came before.
 *
 * Greedy: of the items that share a variable with the rows so far (or all, when none does) the one
 * that should give the fewest rows is next. It is looked up for each row, or read once and joined
 * by hash, from either side, or merged when both sides can be read in the order of the shared
 * variable, whichever is cheapest (cost.c).
 */
#include <math.h>

#include "index/query/plan/plan.h"

/* Rows of an object for each of them with the pattern's predicate, at most. */
#define NEARLY_ALL 1.25
/* Triples of a pattern whose counts, once they are kept, serve for less than all of them, at most.
 */
enum { COUNTED_MOST = 1 << 20 };

/* ---- collecting ---- */

static size_t
count_items(const struct algebra *node)
{
    return node->kind == ALGEBRA_JOIN       ? count_items(node->left) + count_items(node->right)
           : node->kind == ALGEBRA_PATTERNS ? node->pattern_count
                                            : 1;
}

static enum status
collect(struct planner *planner, const struct algebra *node, struct plan_items *items)
{
    if (node->kind == ALGEBRA_JOIN) {
        TRY(collect(planner, node->left, items));
        return collect(planner, node->right, items);
    }
    if (node->kind != ALGEBRA_PATTERNS) {
        struct plan_item *item = &items->list[items->count++];
        const struct slots none = {0};
        *item = (struct plan_item){.node = node, .slots = node->maybe};
        return plan_estimate(planner, node, &none, &item->rows);
    }
    for (size_t i = 0; i < node->pattern_count; i++) {
        struct plan_item *item = &items->list[items->count++];
        *item = (struct plan_item){.pattern = &node->patterns[i], .score = NUMBER_NONE};
        slots_add_pattern(&item->slots, item->pattern);
        item->search = plan_is_property(planner, item->pattern, QUERY_MATCHES);
        item->rows = 100;
        if (!item->search) {
            TRY(plan_estimate_pattern(planner, item->pattern, &item->rows));
        }
    }
    return STATUS_OK;
}

/* Gives each q:score to the q:matches with the same subject. */
static enum status
attach_scores(struct planner *planner, struct plan_items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        struct plan_item *score = &items->list[i];
        if (!score->pattern || !plan_is_property(planner, score->pattern, QUERY_SCORE)) {
            continue;
        }
        const struct place literal = score->pattern->subject;
        for (size_t k = 0; k < items->count && !score->done; k++) {
            struct plan_item *search = &items->list[k];
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
plan_search(struct planner *planner, const struct plan_item *item, struct operator** pipeline,
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
                               .duplicates = planner->duplicates,
                               .order = ORDER_COUNT,
                               .weight = planner->weighted ? planner->weight : NUMBER_NONE,
                               .needed = planner->needed};
    if (planner->key != NUMBER_NONE) {
        const bool subject =
            pattern->subject.kind == PLACE_SLOT && pattern->subject.number == planner->key;
        const bool object =
            pattern->object.kind == PLACE_SLOT && pattern->object.number == planner->key;
        spec->key = subject ? SCAN_KEY_SUBJECT : object ? SCAN_KEY_OBJECT : SCAN_KEY_NONE;
        spec->shared = planner->shared;
        spec->places = planner->places;
    }
}

/* The rows so far, as far as orders go. */
struct joined {
    struct operator* scan;         /* that begins the pipeline and may still get an order, */
    const struct plan_item *first; /* of this pattern */
    uint32_t sorted;               /* the variable whose order the rows have, NUMBER_NONE */
    bool rooted;                   /* the pipeline needs no other rows */
    bool alone;                    /* one pattern is all there is to join */
    bool last;                     /* nothing is to be joined after the present one */
    struct kind_filter kind;       /* of the present one */
};

/* The cheapest merge with a pattern. */
struct merging {
    uint32_t slot;
    struct plan_sorted left, right;
    bool reorder; /* the first scan gets its order */
    double rows;  /* read more than without it; INFINITY: there is none */
};

static enum status
plan_scan(struct planner *planner, const struct plan_item *item, const struct plan_sorted *sorted,
          struct operator** pipeline, struct known *known)
{
    struct run *run = planner->run;
    struct scan_spec spec;
    fill_spec(planner, item->pattern, &spec);
    spec.objects = item->objects;
    if (sorted) {
        spec.order = sorted->order;
        spec.any_predicate = sorted->any_predicate;
    }
    const struct slice note =
        planner->notes ? plan_pattern_text(planner, item->pattern) : SLICE("");
    if (item->pattern->path) {
        return plan_set(planner, path_new(run, *pipeline, &spec, planner->batch_rows), pipeline,
                        known, "%.*s", SLICE_PRINT(note));
    }
    return plan_set(planner, scan_new(run, *pipeline, &spec, planner->batch_rows), pipeline, known,
                    "%.*s", SLICE_PRINT(note));
}

/* Tells whether the source has the order. */
static bool
order_works(const struct planner *planner, const struct plan_item *item,
            const struct plan_sorted *sorted)
{
    const struct run *run = planner->run;
    struct quad_scan *scan;
    const struct pattern *pattern = item->pattern;
    const struct quad_oids quad = {
        .subject = plan_constant(run, pattern->subject),
        .predicate = sorted->any_predicate ? OID_NONE : plan_constant(run, pattern->predicate),
        .object = plan_constant(run, pattern->object),
        .graph = planner->graphs.kind == GRAPHS_ONE ? planner->graphs.ids[0] : OID_NONE};
    if (!quad_is_of_source(&quad) ||
        run->source->scan(run->source->context, &quad, sorted->order, &scan, NULL) != STATUS_OK) {
        return false;
    }
    run->source->scan_close(scan);
    return true;
}

/* An object's rows in the order of their subjects, where nearly all have the predicate: then a
 * triple of several graphs comes side by side, and nothing is remembered to leave it out. False: it
 * is read by predicate. */
static bool
reads_by_subject(const struct planner *planner, const struct plan_item *item,
                 struct plan_sorted *sorted)
{
    const struct pattern *pattern = item->pattern;
    return !planner->duplicates && pattern->subject.kind == PLACE_SLOT &&
           pattern->object.kind == PLACE_CONSTANT &&
           plan_sorted_scan(planner, item, pattern->subject.number, sorted) &&
           sorted->any_predicate && sorted->rows <= item->rows * NEARLY_ALL &&
           order_works(planner, item, sorted);
}

/* A pipeline that is one scan. */
static enum status
plan_scan_alone(struct planner *planner, const struct plan_item *item,
                const struct plan_sorted *sorted, struct operator** scan, struct known *known)
{
    *known = (struct known){.maybe = item->slots, .certain = item->slots, .rows = item->rows};
    *scan = NULL;
    TRY(plan_set(planner, unit_new(planner->run), scan, known, NULL));
    struct plan_sorted by_subject;
    sorted = !sorted && reads_by_subject(planner, item, &by_subject) ? &by_subject : sorted;
    return plan_scan(planner, item, sorted, scan, known);
}

static void
find_merge(const struct planner *planner, const struct joined *joined, const struct plan_item *item,
           const struct known *known, struct merging *best)
{
    best->rows = INFINITY;
    for (uint32_t slot = slots_next(&item->slots, 0); slot < SLOTS_MAXIMUM;
         slot = slots_next(&item->slots, slot + 1)) {
        struct merging merging = {.slot = slot, .reorder = joined->sorted != slot};
        if (!slots_have(&known->certain, slot) ||
            !plan_sorted_scan(planner, item, slot, &merging.right)) {
            continue;
        }
        merging.rows = merging.right.rows;
        if (merging.reorder) {
            if (!joined->scan || !plan_sorted_scan(planner, joined->first, slot, &merging.left)) {
                continue;
            }
            merging.rows += merging.left.rows - joined->first->rows;
        }
        if (merging.rows < best->rows) {
            *best = merging;
        }
    }
}

/* Lets the source answer in place of the scan on top of the pipeline, where it keeps the counts. */
static enum status
plan_kept_counts(struct planner *planner, const struct plan_item *item, bool last,
                 struct operator** pipeline, const struct known *known)
{
    return item->objects.first ? STATUS_OK
                               : plan_counts(planner, item, true, last, NULL, pipeline, known);
}

/* Lets the source count what the scan on top of the pipeline, of the only pattern, would give. */
static enum status
plan_only_counts(struct planner *planner, const struct plan_item *item,
                 const struct kind_filter *kind, struct operator** pipeline,
                 const struct known *known)
{
    struct operator* const scan = * pipeline;
    const bool ranged = item->objects.first != OID_NONE;
    if (kind->done) {
        struct planner unfiltered = *planner;
        unfiltered.needed = kind->needed;
        TRY(plan_counts(&unfiltered, item, false, true, kind, pipeline, known));
    }
    if (*pipeline == scan) {
        TRY(plan_counts(planner, item, ranged, true, NULL, pipeline, known));
    }
    /* Subjects pay only where the answer is kept. */
    return *pipeline == scan && item->rows <= COUNTED_MOST
               ? plan_kept_counts(planner, item, false, pipeline, known)
               : STATUS_OK;
}

static enum status
plan_merge(struct planner *planner, const struct merging *merging, const struct plan_item *item,
           struct joined *joined, struct operator** pipeline, struct known *known)
{
    struct operator* right;
    struct known alone;
    const struct slice name = planner->run->query->slot_names[merging->slot];
    if (merging->reorder) {
        scan_set_order(joined->scan, merging->left.order, merging->left.any_predicate);
    }
    /* Counts that are kept come in the order of their values, too. */
    if (joined->scan && joined->scan == *pipeline) {
        TRY(plan_kept_counts(planner, joined->first, false, pipeline, known));
    }
    joined->scan = NULL;
    joined->sorted = merging->slot;
    TRY(plan_scan_alone(planner, item, &merging->right, &right, &alone));
    TRY(plan_kept_counts(planner, item, false, &right, &alone));
    return plan_set(planner,
                    merge_join_new(planner->run, *pipeline, right, &item->slots, merging->slot,
                                   planner->weighted ? planner->weight : NUMBER_NONE,
                                   planner->batch_rows),
                    pipeline, known, "by ?%.*s", SLICE_PRINT(name));
}

/* first: of the scan that the pipeline is, NULL: it is something else. */
static enum status
plan_hash_item(struct planner *planner, const struct plan_item *item, const struct plan_item *first,
               bool swapped, bool last, struct operator** pipeline, struct known *known)
{
    struct operator* scan;
    struct known alone;
    TRY(plan_scan_alone(planner, item, NULL, &scan, &alone));
    TRY(plan_kept_counts(planner, item, last, &scan, &alone));
    if (first) {
        TRY(plan_kept_counts(planner, first, last, pipeline, known));
    }
    if (!swapped) {
        return plan_hash(planner, HASH_JOIN, scan, &alone, NULL, pipeline, known);
    }
    TRY(plan_hash(planner, HASH_JOIN, *pipeline, known, NULL, &scan, &alone));
    *pipeline = scan;
    *known = alone;
    return STATUS_OK;
}

/* A hash join that begins with lookups. */
static enum status
plan_lookup_first(struct planner *planner, const struct plan_item *item, uint64_t most,
                  struct operator** pipeline, struct known *known)
{
    struct run *run = planner->run;
    struct operator* ways[2] = {seed_new(run), seed_new(run)};
    struct operator* const seeds[2] = {ways[0], ways[1]};
    struct known looked_up = *known;
    if (!seeds[0] || !seeds[1]) {
        return plan_too_large(planner);
    }
    TRY(plan_scan(planner, item, NULL, &ways[0], &looked_up));
    TRY(plan_hash_item(planner, item, NULL, false, false, &ways[1], known));
    return plan_set(planner, lookup_first_new(run, *pipeline, ways, seeds, most), pipeline, known,
                    "%llu rows looked up", (unsigned long long)most);
}

static enum join_method
choose_method(const struct planner *planner, const struct plan_item *item,
              const struct joined *joined, const struct known *known, struct merging *merging)
{
    merging->rows = INFINITY;
    if (known->unit || item->pattern->path) {
        return JOIN_LOOKUP;
    }
    if (!slots_meet(&item->slots, &known->maybe)) {
        return known->rows > 4 ? JOIN_HASH : JOIN_LOOKUP;
    }
    if (!slots_meet(&item->slots, &known->certain)) {
        return JOIN_LOOKUP;
    }
    find_merge(planner, joined, item, known, merging);
    if (merging->rows < INFINITY &&
        (!order_works(planner, item, &merging->right) ||
         (merging->reorder && !order_works(planner, joined->first, &merging->left)))) {
        merging->rows = INFINITY;
    }
    return plan_join_method(planner, item, known->rows, joined->rooted, merging->rows);
}

/* A pattern that is not a keyword search. rows: of the join. */
static enum status
plan_pattern(struct planner *planner, struct plan_item *item, double rows, struct joined *joined,
             struct operator** pipeline, struct known *known)
{
    struct merging merging;
    const bool first = known->unit;
    const enum join_method method = choose_method(planner, item, joined, known, &merging);
    if (method == JOIN_HASH || method == JOIN_HASH_INPUT) {
        const struct plan_item *alone = joined->scan == *pipeline ? joined->first : NULL;
        joined->scan = NULL;
        joined->sorted = NUMBER_NONE;
        const uint64_t most = method == JOIN_HASH ? plan_lookups_first(planner, item->rows) : 0;
        TRY(most ? plan_lookup_first(planner, item, most, pipeline, known)
                 : plan_hash_item(planner, item, alone, method == JOIN_HASH_INPUT, joined->last,
                                  pipeline, known));
        known->rows = (*pipeline)->estimate = rows;
        return STATUS_OK;
    }
    const struct known before = *known;
    known->maybe = slots_union(&known->maybe, &item->slots);
    known->certain = slots_union(&known->certain, &item->slots);
    known->unit = false;
    known->rows = rows;
    if (method == JOIN_MERGE) {
        return plan_merge(planner, &merging, item, joined, pipeline, known);
    }
    struct plan_sorted by_subject;
    const bool sorted = first && reads_by_subject(planner, item, &by_subject);
    TRY(plan_scan(planner, item, sorted ? &by_subject : NULL, pipeline, known));
    /* A scan goes over what a filter leaves out; that is read as well where the answer is kept. */
    if (first && joined->alone && !(item->objects.first && item->rows > COUNTED_MOST)) {
        return plan_only_counts(planner, item, &joined->kind, pipeline, known);
    }
    if (first && !item->pattern->path) {
        joined->scan = *pipeline;
        joined->first = item;
        joined->sorted = sorted ? item->pattern->subject.number : joined->sorted;
    }
    return plan_lists(planner, item->pattern, joined->rooted, &joined->kind, &before, pipeline,
                      known);
}

static enum status
plan_item(struct planner *planner, const struct plan_items *items, struct plan_item *item,
          struct joined *joined, struct operator** pipeline, struct known *known,
          struct pending *pending)
{
    const double rows =
        item->pattern ? known->rows * plan_fan_out(planner, items, item, &known->maybe) : 0;
    item->done = true;
    if (item->pattern && !item->search) {
        item->objects = item->pattern->object.kind == PLACE_SLOT
                            ? plan_range(planner, item->pattern->object.number, pending)
                            : item->objects;
        if (planner->graph.kind == PLACE_SLOT &&
            planner->graph.number < planner->run->query->slot_count) {
            slots_add(&item->slots, planner->graph.number);
        }
        return plan_pattern(planner, item, rows, joined, pipeline, known);
    }
    joined->scan = NULL;
    joined->sorted = NUMBER_NONE;
    if (item->pattern) {
        known->maybe = slots_union(&known->maybe, &item->slots);
        known->certain = slots_union(&known->certain, &item->slots);
        known->unit = false;
        known->rows = rows;
        return plan_search(planner, item, pipeline, known);
    }
    if (item->node->kind == ALGEBRA_VALUES && !known->unit && item->rows > 16) {
        struct operator* built;
        struct known right;
        TRY(plan_built(planner, item->node, &built, &right));
        return plan_hash(planner, HASH_JOIN, built, &right, NULL, pipeline, known);
    }
    return plan_joined(planner, item->node, pipeline, known, pending);
}

static struct plan_item *
cheapest(struct planner *planner, const struct plan_items *items, const struct known *known)
{
    struct plan_item *best = NULL;
    double best_rows = 0;
    bool best_joined = false;
    for (size_t i = 0; i < items->count; i++) {
        struct plan_item *item = &items->list[i];
        if (item->done) {
            continue;
        }
        bool joined;
        const double rows = plan_score(planner, items, item, &known->maybe, &joined);
        if (!best || (joined && !best_joined) || (joined == best_joined && rows < best_rows)) {
            best = item;
            best_rows = rows;
            best_joined = joined;
        }
    }
    return best;
}

/* The item that options.join_order has at this place, if it is for a join of so many. */
static struct plan_item *
ordered(const struct planner *planner, const struct plan_items *items, size_t at)
{
    const char *order = planner->run->options->join_order;
    if (!order || strlen(order) != items->count || at >= items->count) {
        return NULL;
    }
    const size_t number = (size_t)(order[at] - 'a');
    return number < items->count && !items->list[number].done ? &items->list[number] : NULL;
}

/* For the item: what it shares with the rows so far, and what is mentioned elsewhere. */
static struct planner
plan_beside(const struct planner *planner, const struct plan_items *items,
            const struct plan_item *item, const struct known *known, const struct pending *pending)
{
    const struct slots own = item->node ? algebra_mentioned(item->node) : item->slots;
    const struct slots shared = slots_both(&known->maybe, &own);
    struct slots others = {0};
    for (size_t i = 0; i < items->count; i++) {
        const struct plan_item *other = &items->list[i];
        if (other != item && !other->done) {
            const struct slots mentioned =
                other->node ? algebra_mentioned(other->node) : other->slots;
            others = slots_union(&others, &mentioned);
        }
    }
    for (; pending; pending = pending->outer) {
        for (size_t i = 0; i < pending->count; i++) {
            if (!pending->done[i]) {
                others = slots_union(&others, &pending->filters[i]->slots);
            }
        }
    }
    struct planner inside = plan_needing(planner, &others);
    inside.above = inside.needed;
    return plan_needing(&inside, &shared);
}

enum status
plan_join(struct planner *planner, const struct algebra *node, struct operator** pipeline,
          struct known *known, struct pending *pending)
{
    struct plan_items items = {0};
    struct joined joined = {.sorted = NUMBER_NONE, .rooted = known->unit};
    items.list = arena_alloc(&planner->run->arena, count_items(node) * sizeof *items.list);
    if (!items.list) {
        return plan_too_large(planner);
    }
    TRY(collect(planner, node, &items));
    TRY(attach_scores(planner, &items));
    joined.alone = items.count == 1;
    for (size_t at = 0;; at++) {
        struct plan_item *item = ordered(planner, &items, at);
        item = item ? item : cheapest(planner, &items, known);
        if (!item) {
            return STATUS_OK;
        }
        joined.last = at + 1 == items.count;
        joined.kind = plan_kind_filter(item, pending);
        if (joined.kind.done) {
            *joined.kind.done = true;
            joined.kind.needed = plan_beside(planner, &items, item, known, pending).needed;
            *joined.kind.done = false;
        }
        struct planner beside = plan_beside(planner, &items, item, known, pending);
        TRY(plan_item(&beside, &items, item, &joined, pipeline, known, pending));
        TRY(plan_filters(planner, pipeline, known, pending));
    }
}
