#include "index/query/operators/scan_range.h"

enum { PLACE_OBJECT = 2, PLACE_GRAPH = 3 };

/* The order in which the duplicates of a union of graphs are easiest to drop. */
static enum quad_order
union_order(const struct quad_oids *pattern, enum duplicates_kind *kind)
{
    *kind = DUPLICATES_SIDE_BY_SIDE;
    if (pattern->predicate && !pattern->subject) {
        *kind = DUPLICATES_BY_SUBJECT;
        return ORDER_POCS;
    }
    return pattern->object && !pattern->predicate ? ORDER_OSPC : ORDER_SPOC;
}

enum duplicates_kind
scan_order(const struct scan_spec *spec, struct quad_oids *pattern, enum quad_order *order)
{
    enum duplicates_kind duplicates = DUPLICATES_NONE;
    *order = ORDER_COUNT;
    if (spec->graph.kind != PLACE_SLOT && spec->graphs.kind != GRAPHS_ALL) {
        duplicates = spec->graphs.count > 1 ? DUPLICATES_ANYWHERE : DUPLICATES_NONE;
    } else if (spec->graph.kind != PLACE_SLOT && !spec->duplicates) {
        *order = union_order(pattern, &duplicates);
        if (spec->order != ORDER_COUNT && spec->order != ORDER_POCS) {
            duplicates = DUPLICATES_SIDE_BY_SIDE;
        }
    }
    if (spec->order != ORDER_COUNT) {
        *order = spec->order;
        pattern->predicate = spec->any_predicate ? OID_NONE : pattern->predicate;
    }
    return duplicates;
}

static oid *
place_in(struct quad_oids *quad, unsigned place)
{
    oid *const places[] = {&quad->subject, &quad->predicate, &quad->object, &quad->graph};
    return places[place];
}

void
scan_keep_range(const struct quad_source *source, struct quad_scan *open,
                const struct quad_oids *pattern, const struct scan_range *range)
{
    struct quad_oids quad = *pattern;
    if (range->from) {
        *place_in(&quad, range->place) = range->from;
        source->scan_skip(open, &quad);
    }
    if (range->to) {
        *place_in(&quad, range->place) = range->to;
        source->scan_until(open, &quad);
    }
}

/* Whether duplicates of a triple are all of one range. */
static bool
keeps_duplicates(enum duplicates_kind duplicates, unsigned place)
{
    return duplicates == DUPLICATES_NONE ||
           (duplicates == DUPLICATES_SIDE_BY_SIDE && place != PLACE_GRAPH) ||
           (duplicates == DUPLICATES_BY_SUBJECT && place == PLACE_OBJECT);
}

static oid
constant_of(const struct run *run, struct place place)
{
    return place.kind == PLACE_CONSTANT ? run->constants[place.number] : OID_NONE;
}

enum status
scan_divide(const struct operator* scan, struct quad_cuts *cuts, uint32_t *slot, struct reason *why)
{
    const struct run *run = scan->run;
    const struct scan_spec *spec = scan_first(scan);
    const size_t most = cuts->count;
    cuts->count = 0;
    if (!spec || !run->source->divide || spec->key != SCAN_KEY_NONE ||
        (spec->graph.kind != PLACE_SLOT && spec->graphs.kind != GRAPHS_ALL &&
         spec->graphs.kind != GRAPHS_ONE)) {
        return STATUS_OK;
    }
    const bool one = spec->graph.kind != PLACE_SLOT && spec->graphs.kind == GRAPHS_ONE;
    const struct place places[] = {spec->pattern.subject, spec->pattern.predicate,
                                   spec->pattern.object, spec->graph};
    struct quad_oids pattern = {constant_of(run, places[0]), constant_of(run, places[1]),
                                constant_of(run, places[2]),
                                one ? spec->graphs.ids[0] : constant_of(run, places[3])};
    if (!quad_is_of_source(&pattern)) {
        return STATUS_OK;
    }
    enum quad_order order;
    const enum duplicates_kind duplicates = scan_order(spec, &pattern, &order);
    cuts->count = most;
    const enum status status =
        run->source->divide(run->source->context, &pattern, order, cuts, why);
    if (status != STATUS_OK || !keeps_duplicates(duplicates, cuts->place)) {
        cuts->count = 0;
        return status == STATUS_UNSUPPORTED ? STATUS_OK : status;
    }
    *slot = places[cuts->place].kind == PLACE_SLOT ? places[cuts->place].number : NUMBER_NONE;
    return STATUS_OK;
}

size_t
scan_pick_objects(const struct triple_count *objects, size_t count, size_t *at,
                  struct quad_oids *quads, size_t quad_count)
{
    size_t kept = 0;
    for (size_t i = 0; i < quad_count; i++) {
        const struct quad_oids quad = quads[i];
        while (*at < count && objects[*at].value < quad.object) {
            ++*at;
        }
        quads[kept] = quad;
        kept += *at < count && objects[*at].value == quad.object;
    }
    return kept;
}
