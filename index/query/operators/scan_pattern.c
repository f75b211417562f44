/* A pattern joined to its input: one scan of the source for each input row, with what the row
 * has bound. A source that takes many patterns at once gets those of a batch together.
 *
 * Where the input's subjects ascend, a lookup goes on from the one before (leaps.h).
 *
 * The union of graphs gives each triple once (duplicates.h). Of the quads that are read, those that
 * make no row are sifted out before rows are made of the others.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "index/oid_set.h"
#include "index/query/operators/duplicates.h"
#include "index/query/operators/leaps.h"
#include "index/query/operators/scan_range.h"

enum { QUADS = 128, MANY = 1024 /* patterns handed to a source at once */ };
enum { PIECE = 32 /* quads read at once of a few objects */ };

struct scan {
    struct operator operator;
    struct scan_spec spec;
    struct batch *input; /* being worked on */
    size_t at;           /* its row */
    struct quad_scan *open;
    struct leaps leaps;
    bool leaping;                   /* instead of open */
    size_t graph;                   /* of a set of graphs: the one being read */
    bool many;                      /* by scan_many */
    struct quad_oids *patterns;     /* handed to scan_many, */
    uint32_t *rows, numbers[QUADS]; /* the input rows they are of, the patterns quads are of */
    size_t row;                     /* input row of the present quad */
    struct quad_oids quads[QUADS];
    size_t quad, quad_count;
    struct duplicates duplicates;
    /* For weighted rows: which places make them different, and the quad of the last row of the
     * batch, which an equal one can be added to. */
    bool merges, by_subject, by_predicate, by_object, by_graph;
    bool open_row;
    struct quad_oids merged;
    const struct key_filter *filter; /* of a join above, on subjects or else objects; or NULL */
    bool filters_subjects;
    struct id_range objects; /* that may be left out: the specification's, or fewer */
    struct scan_sieve sieve; /* its function may be NULL */
    oid sieved;              /* the object that it was asked of last, and what it said */
    bool leaves_out;
    struct scan_range range;         /* of its rows, of a scan that begins a pipeline */
    const struct triple_count *only; /* objects that are read, ascending; NULL: all */
    size_t only_count, only_at;
};

static void
scan_stop(struct scan *scan)
{
    if (scan->open) {
        scan->operator.run->source->scan_close(scan->open);
        scan->open = NULL;
    }
    scan->leaping = false;
    scan->quad = scan->quad_count = 0;
}

static oid
place_id(const struct run *run, struct place place, const oid *row)
{
    return place.kind == PLACE_SLOT       ? row[place.number]
           : place.kind == PLACE_CONSTANT ? run->constants[place.number]
                                          : OID_NONE;
}

/* The pattern for the present input row and graph. False: nothing can match. */
static bool
scan_pattern(const struct scan *scan, struct quad_oids *pattern)
{
    const struct run *run = scan->operator.run;
    const struct scan_spec *spec = &scan->spec;
    const oid *row = batch_row(run, scan->input, scan->at);
    *pattern = (struct quad_oids){place_id(run, spec->pattern.subject, row),
                                  place_id(run, spec->pattern.predicate, row),
                                  place_id(run, spec->pattern.object, row), OID_NONE};
    if (spec->key != SCAN_KEY_NONE && !spec->shared) {
        oid *key = spec->key == SCAN_KEY_SUBJECT ? &pattern->subject : &pattern->object;
        *key = *key == OID_NONE ? OID_SHARED + (oid)spec->places : *key;
    }
    if (spec->graph.kind == PLACE_SLOT) {
        pattern->graph = row[spec->graph.number];
        if (pattern->graph && !graphs_have(&spec->allowed, pattern->graph)) {
            return false;
        }
    } else if (spec->graphs.kind != GRAPHS_ALL) {
        pattern->graph =
            scan->graph < spec->graphs.count ? spec->graphs.ids[scan->graph] : OID_NONE;
        if (!pattern->graph) {
            return false;
        }
    }
    return quad_is_of_source(pattern);
}

/* Opens the scan for the present input row. *match: false when nothing can match. */
static enum status
scan_start(struct scan *scan, bool *match, struct reason *why)
{
    struct run *run = scan->operator.run;
    const struct scan_spec *spec = &scan->spec;
    struct quad_oids pattern;
    enum quad_order order;
    *match = scan_pattern(scan, &pattern);
    scan->row = scan->at;
    enum duplicates_kind duplicates = scan_order(spec, &pattern, &order);
    if (!*match) {
        return STATUS_OK;
    }
    TRY(run_check(run, why));
    run->report.scans++;
    if (spec->order == ORDER_COUNT) {
        TRY(leaps_begin(&scan->leaps, &pattern, &scan->leaping, why));
    }
    if (scan->leaping) {
        duplicates_begin(&scan->duplicates, duplicates, false);
        return STATUS_OK;
    }
    enum status status = run->source->scan(run->source->context, &pattern, order, &scan->open, why);
    if (status == STATUS_UNSUPPORTED && order != ORDER_COUNT) {
        duplicates = DUPLICATES_ANYWHERE;
        status = run->source->scan(run->source->context, &pattern, ORDER_COUNT, &scan->open, why);
    }
    if (status == STATUS_OK) {
        scan_keep_range(run->source, scan->open, &pattern, &scan->range);
    }
    if (duplicates >= DUPLICATES_BY_SUBJECT && scan->graph == 0) {
        duplicates_forget(&scan->duplicates);
    }
    duplicates_begin(&scan->duplicates, duplicates, false);
    return status;
}

/* Tells whether a join above may have a match for the quad. */
static inline bool
may_match(const struct scan *scan, const struct quad_oids *quad)
{
    return key_filter_may_have(scan->filter, scan->filters_subjects ? quad->subject : quad->object);
}

/* Tells whether the node that is parted by is another partition's too. */
static inline bool
is_shared(const struct scan *scan, const struct quad_oids *quad)
{
    const struct scan_spec *spec = &scan->spec;
    return spec->key != SCAN_KEY_NONE && spec->shared &&
           oid_set_has(spec->shared, spec->key == SCAN_KEY_SUBJECT ? quad->subject : quad->object);
}

/* Tells whether the quad makes a row, but for variables that stand twice in the pattern. */
static inline enum status
passes(struct scan *scan, const struct quad_oids *quad, const struct quad_oids *next, bool *passes,
       struct reason *why)
{
    const struct run *run = scan->operator.run;
    const struct scan_spec *spec = &scan->spec;
    bool duplicate;
    *passes = false;
    if ((spec->any_predicate &&
         quad->predicate != run->constants[spec->pattern.predicate.number]) ||
        is_shared(scan, quad) || (scan->filter && !may_match(scan, quad))) {
        return STATUS_OK;
    }
    TRY(duplicates_find(&scan->duplicates, quad, next, scan->graph, &duplicate, why));
    *passes =
        !duplicate && (spec->graph.kind != PLACE_SLOT || graphs_have(&spec->allowed, quad->graph));
    return STATUS_OK;
}

/* Leaves out the quads whose objects the sieve does not want. */
static enum status
sieve_objects(struct scan *scan, struct reason *why)
{
    size_t kept = scan->quad;
    for (size_t i = scan->quad; i < scan->quad_count; i++) {
        const struct quad_oids quad = scan->quads[i];
        if (quad.object != scan->sieved) {
            TRY(scan->sieve.leaves_out(scan->sieve.context, quad.object, &scan->leaves_out, why));
            scan->sieved = quad.object;
        }
        scan->quads[kept] = quad;
        kept += !scan->leaves_out;
    }
    scan->quad_count = kept;
    return STATUS_OK;
}

/* Leaves those of the quads that make rows. */
static enum status
sift(struct scan *scan, struct reason *why)
{
    size_t kept = 0;
    TRY(scan->sieve.leaves_out ? sieve_objects(scan, why) : STATUS_OK);
    for (size_t i = scan->quad; i < scan->quad_count; i++) {
        const struct quad_oids quad = scan->quads[i];
        bool good;
        TRY(passes(scan, &quad, i + 1 < scan->quad_count ? &scan->quads[i + 1] : NULL, &good, why));
        scan->quads[kept] = quad;
        kept += good;
    }
    scan->quad = 0;
    scan->quad_count = kept;
    return STATUS_OK;
}

/* Binds or compares one place. */
static inline bool
bind(oid *row, struct place place, oid id)
{
    if (place.kind != PLACE_SLOT) {
        return true;
    }
    if (row[place.number] == OID_NONE) {
        row[place.number] = id;
    }
    return row[place.number] == id;
}

/* Tells whether the quad's row is equal to the last one of the batch in all that is needed. */
static inline bool
is_equal(const struct scan *scan, const struct quad_oids *quad)
{
    const struct quad_oids *merged = &scan->merged;
    return scan->open_row && (!scan->by_object || merged->object == quad->object) &&
           (!scan->by_subject || merged->subject == quad->subject) &&
           (!scan->by_predicate || merged->predicate == quad->predicate) &&
           (!scan->by_graph || merged->graph == quad->graph);
}

/* Makes a row of a quad that passes. */
static inline void
scan_emit(struct scan *scan, const struct quad_oids *quad, struct batch *batch)
{
    const struct run *run = scan->operator.run;
    const struct scan_spec *spec = &scan->spec;
    const oid *from = batch_row(run, scan->input, scan->row);
    if (is_equal(scan, quad)) {
        oid *last = batch_row(run, batch, batch->count - 1);
        last[spec->weight] = row_weight(last, spec->weight) + row_weight(from, spec->weight);
        return;
    }
    oid *row = batch_row(run, batch, batch->count);
    row_copy(run, row, from);
    if (bind(row, spec->pattern.subject, quad->subject) &&
        bind(row, spec->pattern.predicate, quad->predicate) &&
        bind(row, spec->pattern.object, quad->object) && bind(row, spec->graph, quad->graph)) {
        batch->count++;
        scan->open_row = scan->merges;
        scan->merged = *quad;
    }
}

/* Goes to the next graph of a set, or to the next input row. */
static void
scan_advance(struct scan *scan)
{
    const bool set = scan->spec.graph.kind != PLACE_SLOT && scan->spec.graphs.kind == GRAPHS_SET;
    if (set && scan->graph + 1 < scan->spec.graphs.count) {
        scan->graph++;
    } else {
        scan->graph = 0;
        scan->at++;
    }
}

/* Opens one scan for the rest of the input. *match as for scan_start. */
static enum status
scan_start_many(struct scan *scan, bool *match, struct reason *why)
{
    struct run *run = scan->operator.run;
    const struct scan_spec *spec = &scan->spec;
    const bool graphs = spec->graph.kind == PLACE_SLOT;
    const bool several =
        !graphs && (spec->graphs.kind == GRAPHS_ALL ? !spec->duplicates : spec->graphs.count > 1);
    size_t count = 0;
    if (scan->graph == 0) {
        scan->row = SIZE_MAX;
    }
    if (!scan->patterns) {
        scan->patterns = memory_zero(MANY, sizeof *scan->patterns);
        scan->rows = memory_zero(MANY, sizeof *scan->rows);
    }
    while (scan->at < scan->input->count && count < MANY) {
        scan->rows[count] = (uint32_t)scan->at;
        count += scan_pattern(scan, &scan->patterns[count]);
        scan_advance(scan);
    }
    *match = count > 0;
    if (!*match) {
        return STATUS_OK;
    }
    TRY(run_check(run, why));
    run->report.scans++;
    duplicates_begin(&scan->duplicates, several ? DUPLICATES_ANYWHERE : DUPLICATES_NONE, true);
    return run->source->scan_many(run->source->context, scan->patterns, count, graphs, &scan->open,
                                  why);
}

/* Rows of the next pattern may begin: what was given for another input row is no double. */
static void
scan_take_row(struct scan *scan)
{
    const size_t row = scan->rows[scan->numbers[scan->quad]];
    if (row != scan->row) {
        scan->row = row;
        scan->open_row = false;
        duplicates_forget(&scan->duplicates);
    }
}

/* Leaves the quads with objects that are read, and goes on at the next of these. True: there are
 * some. */
static bool
keep_objects(struct scan *scan)
{
    struct quad_oids next = scan->quads[scan->quad_count - 1];
    scan->quad_count = scan_pick_objects(scan->only, scan->only_count, &scan->only_at, scan->quads,
                                         scan->quad_count);
    const oid wanted =
        scan->only_at < scan->only_count ? scan->only[scan->only_at].value : OID_LOCAL - 1;
    if (wanted > next.object) {
        next = (struct quad_oids){.predicate = next.predicate, .object = wanted};
        scan->operator.run->source->scan_skip(scan->open, &next);
    }
    return scan->quad_count > 0;
}

/* Goes over objects that are out of their range, in a scan by predicate and object. True: there are
 * quads left of those read. */
static bool
skip_objects(struct scan *scan)
{
    const struct id_range *objects = &scan->objects;
    const struct quad_source *source = scan->operator.run->source;
    if (scan->only && !scan->many && scan->duplicates.kind == DUPLICATES_BY_SUBJECT) {
        return keep_objects(scan);
    }
    if (!objects->first || scan->many || scan->duplicates.kind != DUPLICATES_BY_SUBJECT) {
        return scan->quad < scan->quad_count;
    }
    for (; scan->quad < scan->quad_count; scan->quad++) {
        const struct quad_oids *quad = &scan->quads[scan->quad];
        const bool low = quad->object >= objects->first && quad->object < objects->low;
        const bool high = quad->object > objects->high && quad->object <= objects->last;
        if (!low && !high) {
            return true;
        }
        const struct quad_oids next = {.predicate = quad->predicate,
                                       .object = low ? objects->low : objects->last + 1};
        source->scan_skip(scan->open, &next);
    }
    return false;
}

/* Makes scan->quad < scan->quad_count, or *end. */
static enum status
scan_more(struct scan *scan, bool *end, struct reason *why)
{
    struct operator* operator= & scan->operator;
    struct run *run = operator->run;
    const struct quad_source *source = run->source;
    const bool many = scan->many;
    *end = false;
    for (;;) {
        if (scan->open || scan->leaping) {
            /* A first small piece: many lookups end after one row. */
            const size_t piece = scan->only ? PIECE : QUADS;
            const size_t most = operator->batch_rows<piece ? operator->batch_rows : piece;
            TRY(many ? source->scan_many_next(scan->open, scan->quads, scan->numbers, most,
                                              &scan->quad_count, why)
                : scan->leaping
                    ? leaps_next(&scan->leaps, scan->quads, most, &scan->quad_count, why)
                    : source->scan_next(scan->open, scan->quads, most, &scan->quad_count, why));
            scan->quad = 0;
            run->report.scanned += scan->quad_count;
            if (scan->quad_count) {
                TRY(run_check(run, why));
                if (!skip_objects(scan)) {
                    continue;
                }
                TRY(many ? STATUS_OK : sift(scan, why));
                if (scan->quad_count) {
                    return STATUS_OK;
                }
                continue;
            }
            scan_stop(scan);
            if (!many) {
                scan_advance(scan);
            }
        }
        scan->open_row = false;
        if (!scan->input || scan->at == scan->input->count) {
            TRY(operator_next(operator->input, &scan->input, why));
            scan->at = 0;
            *end = scan->input->count == 0;
            if (*end) {
                scan->input = NULL;
                return STATUS_OK;
            }
        }
        bool match;
        TRY(many ? scan_start_many(scan, &match, why) : scan_start(scan, &match, why));
        if (!match && !many) {
            scan_advance(scan);
        }
    }
}

static enum status
scan_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct scan *scan = (struct scan *)operator;
    TRY(operator_batch(operator, batch, why));
    scan->open_row = false;
    while ((*batch)->count < operator->batch_rows) {
        if (scan->quad == scan->quad_count) {
            bool end;
            TRY(scan_more(scan, &end, why));
            if (end) {
                return STATUS_OK;
            }
        }
        if (!scan->many) {
            scan_emit(scan, &scan->quads[scan->quad++], *batch);
            continue;
        }
        bool good;
        const struct quad_oids *quad = &scan->quads[scan->quad];
        scan_take_row(scan);
        TRY(passes(scan, quad, NULL, &good, why));
        if (good) {
            scan_emit(scan, quad, *batch);
        }
        scan->quad++;
    }
    return STATUS_OK;
}

static void scan_reset(struct operator* operator)
{
    struct scan *scan = (struct scan *)operator;
    scan_stop(scan);
    leaps_end(&scan->leaps);
    scan->input = NULL;
    scan->at = scan->graph = scan->only_at = 0;
    scan->objects = scan->spec.objects;
    scan->sieved = OID_NONE;
}

static void scan_close(struct operator* operator)
{
    struct scan *scan = (struct scan *)operator;
    scan_stop(scan);
    leaps_end(&scan->leaps);
    duplicates_release(&scan->duplicates);
    free(scan->patterns);
    free(scan->rows);
}

bool
scans_many(const struct quad_source *source, struct place graph, const struct graphs *graphs)
{
    const bool one = graph.kind != PLACE_SLOT && graphs->kind == GRAPHS_ONE;
    return source->scan_many &&
           (!source->rather_many ||
            source->rather_many(source->context, one ? graphs->ids[0] : OID_NONE));
}

void
scan_set_order(struct operator* operator, enum quad_order order, bool any_predicate)
{
    struct scan *scan = (struct scan *)operator;
    scan->spec.order = order;
    scan->spec.any_predicate = any_predicate;
}

/* A variable that stands twice in the pattern takes all of it to compare. */
static void
choose_places(struct scan *scan)
{
    const struct scan_spec *spec = &scan->spec;
    const struct place places[] = {spec->pattern.subject, spec->pattern.predicate,
                                   spec->pattern.object, spec->graph};
    bool by[4];
    for (size_t i = 0; i < 4; i++) {
        by[i] = places[i].kind == PLACE_SLOT && slots_have(&spec->needed, places[i].number);
        for (size_t k = 0; k < 4; k++) {
            by[i] = by[i] || (k != i && places[i].kind == PLACE_SLOT &&
                              places[k].kind == PLACE_SLOT && places[k].number == places[i].number);
        }
    }
    scan->merges = spec->weight != NUMBER_NONE;
    scan->by_subject = by[0];
    scan->by_predicate = by[1];
    scan->by_object = by[2];
    scan->by_graph = by[3];
}

static const struct operator_kind scan_kind = {"scan", sizeof(struct scan), scan_next, scan_reset,
                                               scan_close};

bool
scan_can_filter(const struct operator* operator, uint32_t slot)
{
    const struct scan *scan = (const struct scan *)operator;
    if (operator->kind != & scan_kind) {
        return false;
    }
    const struct pattern *pattern = &scan->spec.pattern;
    return (pattern->subject.kind == PLACE_SLOT && pattern->subject.number == slot) ||
           (pattern->object.kind == PLACE_SLOT && pattern->object.number == slot);
}

void
scan_set_filter(struct operator* operator, const struct key_filter * filter, uint32_t slot)
{
    struct scan *scan = (struct scan *)operator;
    const struct place subject = scan->spec.pattern.subject;
    scan->filter = filter;
    scan->filters_subjects = subject.kind == PLACE_SLOT && subject.number == slot;
}

bool
scan_can_narrow(const struct operator* operator, uint32_t slot)
{
    const struct scan *scan = (const struct scan *)operator;
    const struct quad_source *source = operator->run->source;
    if (operator->kind != & scan_kind || !source->span || !source->scan_skip || scan->many) {
        return false;
    }
    const struct scan_spec *spec = &scan->spec;
    return !operator->input->input && spec->graph.kind != PLACE_SLOT && !spec->duplicates &&
            spec->graphs.kind == GRAPHS_ALL && spec->order == ORDER_COUNT &&
            spec->pattern.predicate.kind == PLACE_CONSTANT &&
            spec->pattern.subject.kind == PLACE_SLOT &&
            spec->pattern.object.kind == PLACE_SLOT && spec->pattern.object.number == slot &&
            spec->pattern.subject.number != slot;
}

void
scan_narrow(struct operator* operator, const struct id_range * objects)
{
    struct id_range *kept = &((struct scan *)operator)->objects;
    if (kept->first == 0) {
        *kept = *objects;
    } else if (kept->first == objects->first) {
        kept->low = kept->low > objects->low ? kept->low : objects->low;
        kept->high = kept->high < objects->high ? kept->high : objects->high;
    }
}

void
scan_set_sieve(struct operator* operator, const struct scan_sieve * sieve)
{
    ((struct scan *)operator)->sieve = *sieve;
}

oid
scan_whole(const struct operator* operator)
{
    const struct scan *scan = (const struct scan *)operator;
    const bool whole = !scan->range.from && !scan->range.to && scan->spec.key == SCAN_KEY_NONE &&
                       !scan->spec.objects.first;
    return whole ? operator->run->constants[scan->spec.pattern.predicate.number] : OID_NONE;
}

void
scan_keep_objects(struct operator* operator, const struct triple_count * objects, size_t count)
{
    struct scan *scan = (struct scan *)operator;
    scan->only = objects;
    scan->only_count = count;
    scan->only_at = 0;
}

enum status
scan_last_objects(const struct operator* operator, const struct oid_span * span, uint64_t most,
                  oid *from, struct reason *why)
{
    const struct run *run = operator->run;
    const struct scan *scan = (const struct scan *)operator;
    return last_objects(run, run->constants[scan->spec.pattern.predicate.number], span, most, from,
                        why);
}

const struct scan_spec *
scan_spec_of(const struct operator* operator)
{
    return operator->kind == & scan_kind ? &((const struct scan *)operator)->spec : NULL;
}

const struct scan_spec *
scan_first(const struct operator* operator)
{
    const struct scan_spec *spec = scan_spec_of(operator);
    return spec && !operator->input->input && !((const struct scan *)operator)->many ? spec : NULL;
}

void
scan_set_range(struct operator* operator, const struct scan_range * range)
{
    ((struct scan *)operator)->range = *range;
}

struct operator* scan_new(struct run *run, struct operator* input, const struct scan_spec *spec,
                          size_t batch_rows)
{
    struct scan *scan = (struct scan *)operator_new(run, &scan_kind, input, batch_rows);
    if (!scan) {
        return NULL;
    }
    scan->spec = *spec;
    scan->objects = spec->objects;
    choose_places(scan);
    scan->many = scans_many(run->source, spec->graph, &spec->graphs);
    scan->leaps.source = run->source;
    duplicates_init(&scan->duplicates, run, &scan->spec.graphs);
    return &scan->operator;
}
