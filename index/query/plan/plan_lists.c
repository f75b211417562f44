/* Patterns that ask for what is listed of nodes, and filters that such lists apply. */
#include "index/query/plan/plan.h"

struct kind_filter
plan_kind_filter(const struct plan_item *item, struct pending *pending)
{
    static const struct {
        const char *name;
        enum term_kind kind;
    } functions[] = {{"ISIRI", TERM_IRI},
                     {"ISURI", TERM_IRI},
                     {"ISBLANK", TERM_BLANK},
                     {"ISLITERAL", TERM_LITERAL}};
    for (; pending && item->pattern; pending = pending->outer) {
        for (size_t i = 0; i < pending->count * (sizeof functions / sizeof *functions); i++) {
            const size_t at = i % pending->count, function = i / pending->count;
            const struct expression *filter = pending->filters[at];
            if (!pending->done[at] && filter->kind == EXPRESSION_CALL &&
                filter->function == function_find(slice_string(functions[function].name)) &&
                filter->arguments[0]->kind == EXPRESSION_VARIABLE &&
                slots_have(&item->slots, filter->arguments[0]->number)) {
                return (struct kind_filter){.kind = functions[function].kind,
                                            .slot = filter->arguments[0]->number,
                                            .done = &pending->done[at]};
            }
        }
    }
    return (struct kind_filter){.done = NULL};
}

/* Tells whether the pattern asks a node of the rows so far for its predicates, with their numbers,
 * or for what a predicate leads to; *spec. */
static bool
asks_list(const struct planner *planner, const struct pattern *pattern,
          const struct kind_filter *kind, const struct known *known, struct lists_spec *spec)
{
    const struct quad_source *source = planner->run->source;
    const struct place subject = pattern->subject, predicate = pattern->predicate,
                       object = pattern->object;
    if (planner->key != NUMBER_NONE || planner->first || planner->batch_rows < BATCH_ROWS ||
        !source->recall_lists || pattern->path || planner->graph.kind == PLACE_SLOT ||
        planner->graphs.kind != GRAPHS_ALL || subject.kind != PLACE_SLOT ||
        object.kind != PLACE_SLOT || subject.number == object.number) {
        return false;
    }
    const bool by_subject = slots_have(&known->certain, subject.number);
    const uint32_t node = by_subject ? subject.number : object.number;
    const uint32_t other = by_subject ? object.number : subject.number;
    if (!slots_have(&known->certain, node) || slots_have(&known->maybe, other)) {
        return false;
    }
    const bool filtered = kind->done && kind->slot == other && source->kind;
    const bool other_needed =
        !planner->weighted || slots_have(filtered ? &kind->needed : &planner->needed, other);
    *spec = (struct lists_spec){.listing = {.place = by_subject ? TRIPLE_SUBJECT : TRIPLE_OBJECT,
                                            .predicate = plan_constant(planner->run, predicate),
                                            .other = filtered ? kind->kind : TERM_NONE},
                                .node = node,
                                .listed = predicate.kind == PLACE_SLOT ? predicate.number
                                          : other_needed               ? other
                                                                       : NUMBER_NONE,
                                .weight = planner->weighted ? planner->weight : NUMBER_NONE};
    return predicate.kind == PLACE_SLOT ? !other_needed && predicate.number != subject.number &&
                                              predicate.number != object.number &&
                                              !slots_have(&known->maybe, predicate.number)
                                        : spec->listing.predicate < OID_LOCAL;
}

enum status
plan_lists(struct planner *planner, const struct pattern *pattern, bool rooted,
           const struct kind_filter *kind, const struct known *before, struct operator** pipeline,
           const struct known *known)
{
    struct run *run = planner->run;
    struct lists_spec spec;
    if (!asks_list(planner, pattern, kind, before, &spec)) {
        return STATUS_OK;
    }
    uint32_t *above = arena_alloc(&run->arena, SLOTS_MAXIMUM * sizeof *above);
    if (!above) {
        return plan_too_large(planner);
    }
    for (uint32_t slot = slots_next(&planner->above, 0); slot < SLOTS_MAXIMUM;
         slot = slots_next(&planner->above, slot + 1)) {
        above[spec.above_count++] = slot;
    }
    spec.adds_up = rooted && planner->weighted;
    spec.above = above;
    if (spec.listing.other != TERM_NONE) {
        *kind->done = true;
    }
    return plan_set(planner, lists_new(run, *pipeline, &spec, planner->batch_rows), pipeline, known,
                    "of ?%.*s", SLICE_PRINT(run->query->slot_names[spec.node]));
}
