/* Patterns of which only numbers of triples or quads are asked, which the source counts. */
#include "index/query/plan/plan.h"

/* Finds what is asked of the pattern: numbers by a place, ALL where no place is needed, or PAIRS of
 * a predicate. False: more is asked, or the triples that match cannot be counted. */
static bool
counted_place(const struct planner *planner, const struct pattern *pattern, bool last,
              struct counts_spec *spec)
{
    const struct place places[] = {pattern->subject, pattern->predicate, pattern->object};
    struct slots seen = {0};
    spec->by = TRIPLE_ALL;
    spec->slot = spec->object = NUMBER_NONE;
    for (int i = 0; i < 3; i++) {
        const uint32_t number = places[i].number;
        if (places[i].kind != PLACE_SLOT) {
            continue;
        }
        if (slots_have(&seen, number)) {
            return false;
        }
        slots_add(&seen, number);
        if (!slots_have(&planner->needed, number)) {
            continue;
        }
        /* They come by subject, which makes lookups of objects dear. */
        const bool pairs = last && spec->again && i == TRIPLE_OBJECT &&
                           spec->by == TRIPLE_SUBJECT && pattern->predicate.kind == PLACE_CONSTANT;
        if (spec->by != TRIPLE_ALL && !pairs) {
            return false;
        }
        spec->by = pairs ? TRIPLE_PAIRS : (enum triple_place)i;
        *(pairs ? &spec->object : &spec->slot) = number;
    }
    /* No order has a predicate's triples by their subjects: they pay when the answer is kept. */
    return spec->again || spec->by != TRIPLE_SUBJECT || pattern->predicate.kind != PLACE_CONSTANT;
}

/* The same within GRAPH: the quads by a place, or, where their graph is asked for, subjects with
 * graphs and nothing else. */
static bool
counted_graphs(const struct planner *planner, const struct pattern *pattern,
               struct counts_spec *spec)
{
    const struct place subject = pattern->subject, object = pattern->object;
    if (planner->run->named_graphs.kind != GRAPHS_ALL || planner->in_loop) {
        return false;
    }
    if (!slots_have(&planner->needed, planner->graph.number)) {
        spec->quads = true;
        return counted_place(planner, pattern, false, spec);
    }
    spec->by = TRIPLE_GRAPHS;
    spec->slot = subject.number;
    spec->object = planner->graph.number;
    return spec->again && pattern->predicate.kind == PLACE_CONSTANT && subject.kind == PLACE_SLOT &&
           subject.number != planner->graph.number &&
           !(object.kind == PLACE_SLOT &&
             (object.number == subject.number || object.number == planner->graph.number ||
              slots_have(&planner->needed, object.number)));
}

/* Tells whether the filter tells a place by which nothing is counted by what kind of term it has;
 * then the source may count triples of that kind. */
static bool
counts_kind(const struct planner *planner, const struct plan_item *item,
            const struct kind_filter *kind, struct counts_spec *spec)
{
    const struct place subject = item->pattern->subject, object = item->pattern->object;
    const bool is_subject = subject.kind == PLACE_SLOT && subject.number == kind->slot;
    const bool is_object = object.kind == PLACE_SLOT && object.number == kind->slot;
    spec->kind = kind->kind;
    spec->of = is_object ? TRIPLE_OBJECT : TRIPLE_SUBJECT;
    spec->of_slot = kind->slot;
    return kind->done && planner->run->source->kind && !item->objects.first &&
           planner->graph.kind != PLACE_SLOT && (is_subject || is_object) &&
           !slots_have(&kind->needed, kind->slot);
}

enum status
plan_counts(struct planner *planner, const struct plan_item *item, bool again, bool last,
            const struct kind_filter *kind, struct operator** pipeline, const struct known *known)
{
    const struct pattern *pattern = item->pattern;
    const struct run *run = planner->run;
    const struct quad_oids quad = {.subject = plan_constant(run, pattern->subject),
                                   .predicate = plan_constant(run, pattern->predicate),
                                   .object = plan_constant(run, pattern->object)};
    struct counts_spec spec = {.pattern = quad, .weight = planner->weight, .again = again};
    if (!planner->weighted || planner->key != NUMBER_NONE || !run->source->count_triples ||
        pattern->path || !quad_is_of_source(&quad) ||
        (planner->graph.kind == PLACE_SLOT ? !counted_graphs(planner, pattern, &spec)
                                           : planner->graphs.kind != GRAPHS_ALL ||
                                                 !counted_place(planner, pattern, last, &spec)) ||
        (item->objects.first && spec.by != TRIPLE_OBJECT) ||
        (kind && !counts_kind(planner, item, kind, &spec))) {
        return STATUS_OK;
    }
    if (kind) {
        *kind->done = true;
    }
    spec.objects = item->objects;
    const struct slice name =
        spec.slot == NUMBER_NONE ? SLICE("all") : run->query->slot_names[spec.slot];
    return plan_set(planner, counts_new(planner->run, *pipeline, &spec, planner->batch_rows),
                    pipeline, known, "by %s%.*s%s", spec.slot == NUMBER_NONE ? "" : "?",
                    SLICE_PRINT(name),
                    spec.quads                 ? ", quads"
                    : spec.by == TRIPLE_PAIRS  ? ", with objects"
                    : spec.by == TRIPLE_GRAPHS ? ", with graphs"
                                               : "");
}
