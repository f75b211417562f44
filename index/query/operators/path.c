/* Property paths of any length: section 18.4. Sequences, inverses and alternatives at the top were
 * made patterns and unions by the parser; what remains is ?, *, + and negated sets.
 *
 * Nodes reached are kept in a table in the order of discovery, which is at once the queue of the
 * breadth-first search and the set of what was visited. From a bound end the search goes
 * forwards or backwards; with none bound it starts at every node of the graph, one after the
 * other, so that only what one start reaches is held.
 */
#include "index/query/operators/leaps.h"
#include "index/query/operators/operator.h"

struct path_join {
    struct operator operator;
    struct scan_spec spec;
    struct batch *input;
    size_t at;
    bool searched;
    oid graph;              /* of the present row; OID_NONE: spec.graphs */
    struct row_table found; /* subject, object for the present row, or one of its starts */
    size_t given;
    struct row_table reached; /* from the present start */
    struct leaps leaps;       /* among nodes that edges leave */
    struct row_table starts;  /* neither end is bound: where to begin */
    size_t start;
};

/* ---- reading edges ---- */

struct edge_reader {
    struct path_join *join;
    struct quad_oids pattern;
    struct quad_scan *scan;
    bool leaping; /* instead of scan */
    size_t graph;
    struct quad_oids quads[64];
    size_t at, count;
};

static void
edges_close(struct edge_reader *reader)
{
    if (reader->scan) {
        reader->join->operator.run->source->scan_close(reader->scan);
        reader->scan = NULL;
    }
}

/* Opens the next scan; *end when there is none. */
static enum status
edges_scan(struct edge_reader *reader, bool *end, struct reason *why)
{
    struct run *run = reader->join->operator.run;
    const struct graphs *graphs = &reader->join->spec.graphs;
    struct quad_oids pattern = reader->pattern;
    const bool one = reader->join->graph != OID_NONE || graphs->kind == GRAPHS_ALL;
    *end = reader->graph >= (one ? 1 : graphs->count) || !quad_is_of_source(&pattern);
    if (*end) {
        return STATUS_OK;
    }
    pattern.graph = one ? reader->join->graph : graphs->ids[reader->graph];
    reader->graph++;
    TRY(run_check(run, why));
    if (pattern.graph >= OID_LOCAL) {
        return STATUS_OK;
    }
    TRY(leaps_begin(&reader->join->leaps, &pattern, &reader->leaping, why));
    if (reader->leaping) {
        return STATUS_OK;
    }
    run->report.scans++;
    return run->source->scan(run->source->context, &pattern, ORDER_COUNT, &reader->scan, why);
}

/* Begins to read edges; one that is in several graphs may come several times. */
static void
edges_open(struct edge_reader *reader, struct path_join *join, oid subject, oid predicate,
           oid object)
{
    reader->join = join;
    reader->pattern = (struct quad_oids){subject, predicate, object, OID_NONE};
    reader->scan = NULL;
    reader->leaping = false;
    reader->graph = reader->at = reader->count = 0;
}

static enum status
edges_next(struct edge_reader *reader, struct quad_oids *quad, bool *end, struct reason *why)
{
    struct run *run = reader->join->operator.run;
    for (;;) {
        if (reader->at < reader->count) {
            *quad = reader->quads[reader->at++];
            *end = false;
            return STATUS_OK;
        }
        if (!reader->scan && !reader->leaping) {
            TRY(edges_scan(reader, end, why));
            if (*end) {
                return STATUS_OK;
            }
            continue;
        }
        TRY(reader->leaping
                ? leaps_next(&reader->join->leaps, reader->quads, 64, &reader->count, why)
                : run->source->scan_next(reader->scan, reader->quads, 64, &reader->count, why));
        reader->at = 0;
        run->report.scanned += reader->count;
        if (!reader->count && !reader->leaping) {
            run->source->scan_close(reader->scan);
            reader->scan = NULL;
        }
        reader->leaping = reader->leaping && reader->count > 0;
        TRY(run_check(run, why));
    }
}

/* ---- steps ---- */

static enum status step(struct path_join *join, const struct path *path, oid node, bool forward,
                        struct row_table *out, struct reason *why);

static enum status
put(struct row_table *out, oid node, struct reason *why)
{
    bool added;
    size_t at;
    return row_table_put(out, &node, &added, &at, why);
}

static bool
excluded(const struct run *run, const uint32_t *constants, size_t count, oid predicate)
{
    for (size_t i = 0; i < count; i++) {
        if (run->constants[constants[i]] == predicate) {
            return true;
        }
    }
    return false;
}

/* Nodes across edges that leave node (or arrive, when not forward). path NULL: by predicate. */
static enum status
step_edges(struct path_join *join, const struct path *path, oid node, bool forward,
           bool of_backward_set, struct row_table *out, struct reason *why)
{
    const struct run *run = join->operator.run;
    const oid predicate = path->kind == PATH_LINK ? run->constants[path->constant] : OID_NONE;
    struct edge_reader reader;
    struct quad_oids quad;
    bool end;
    edges_open(&reader, join, forward ? node : OID_NONE, predicate, forward ? OID_NONE : node);
    enum status status;
    for (;;) {
        status = edges_next(&reader, &quad, &end, why);
        if (status != STATUS_OK || end) {
            break;
        }
        if (path->kind == PATH_NEGATED &&
            (of_backward_set ? excluded(run, path->backward, path->backward_count, quad.predicate)
                             : excluded(run, path->forward, path->forward_count, quad.predicate))) {
            continue;
        }
        status = put(out, forward ? quad.object : quad.subject, why);
        if (status != STATUS_OK) {
            break;
        }
    }
    edges_close(&reader);
    return status;
}

static enum status
step_sequence(struct path_join *join, const struct path *path, oid node, bool forward,
              struct row_table *out, struct reason *why)
{
    struct row_table middle;
    row_table_init(&middle, &join->operator.run->account, "property paths", 1, 1);
    enum status status =
        step(join, forward ? path->left : path->right, node, forward, &middle, why);
    for (size_t i = 0; status == STATUS_OK && i < middle.count; i++) {
        status = step(join, forward ? path->right : path->left, *row_table_row(&middle, i), forward,
                      out, why);
    }
    row_table_release(&middle);
    return status;
}

/* All nodes at any number of steps, at least one unless zero. */
static enum status
step_closure(struct path_join *join, const struct path *path, oid node, bool forward, bool zero,
             struct row_table *out, struct reason *why)
{
    struct row_table visited;
    row_table_init(&visited, &join->operator.run->account, "property paths", 1, 1);
    enum status status =
        zero ? put(&visited, node, why) : step(join, path->left, node, forward, &visited, why);
    for (size_t i = 0; status == STATUS_OK && i < visited.count; i++) {
        status = step(join, path->left, *row_table_row(&visited, i), forward, &visited, why);
    }
    for (size_t i = 0; status == STATUS_OK && i < visited.count; i++) {
        status = put(out, *row_table_row(&visited, i), why);
    }
    row_table_release(&visited);
    return status;
}

static enum status
step(struct path_join *join, const struct path *path, oid node, bool forward, struct row_table *out,
     struct reason *why)
{
    switch (path->kind) {
    case PATH_LINK:
        return step_edges(join, path, node, forward, false, out, why);
    case PATH_INVERSE:
        return step(join, path->left, node, !forward, out, why);
    case PATH_SEQUENCE:
        return step_sequence(join, path, node, forward, out, why);
    case PATH_ALTERNATIVE:
        TRY(step(join, path->left, node, forward, out, why));
        return step(join, path->right, node, forward, out, why);
    case PATH_NEGATED:
        if (path_negates(path, true)) {
            TRY(step_edges(join, path, node, forward, false, out, why));
        }
        return path_negates(path, false) ? step_edges(join, path, node, !forward, true, out, why)
                                         : STATUS_OK;
    case PATH_ZERO_OR_ONE:
        TRY(put(out, node, why));
        return step(join, path->left, node, forward, out, why);
    default:
        return step_closure(join, path, node, forward, path->kind == PATH_ZERO_OR_MORE, out, why);
    }
}

/* ---- rows ---- */

/* From one node; other: the only node that counts at the far end, OID_NONE: any. */
static enum status
search_from(struct path_join *join, oid node, oid other, bool forward, struct reason *why)
{
    struct row_table *reached = &join->reached;
    row_table_reset(reached);
    TRY(step(join, join->spec.pattern.path, node, forward, reached, why));
    for (size_t i = 0; i < reached->count; i++) {
        const oid far = *row_table_row(reached, i);
        if (other == OID_NONE || far == other) {
            const oid pair[2] = {forward ? node : far, forward ? far : node};
            TRY(row_table_add(&join->found, pair, why));
        }
    }
    return STATUS_OK;
}

/* Every node that the path could start at. */
static enum status
find_starts(struct path_join *join, struct reason *why)
{
    const struct run *run = join->operator.run;
    const struct path *path = join->spec.pattern.path;
    const bool link = path->kind == PATH_ONE_OR_MORE && path->left->kind == PATH_LINK;
    struct edge_reader reader;
    struct quad_oids quad;
    bool end = false;
    edges_open(&reader, join, OID_NONE, link ? run->constants[path->left->constant] : OID_NONE,
               OID_NONE);
    enum status status;
    for (;;) {
        status = edges_next(&reader, &quad, &end, why);
        if (status != STATUS_OK || end) {
            break;
        }
        status = put(&join->starts, quad.subject, why);
        if (status == STATUS_OK && !link) {
            status = put(&join->starts, quad.object, why);
        }
        if (status != STATUS_OK) {
            break;
        }
    }
    edges_close(&reader);
    return status;
}

static oid
place_id(const struct run *run, struct place place, const oid *row)
{
    return place.kind == PLACE_SLOT ? row[place.number] : run->constants[place.number];
}

static enum status
search(struct path_join *join, const oid *row, struct reason *why)
{
    const struct run *run = join->operator.run;
    const oid subject = place_id(run, join->spec.pattern.subject, row);
    const oid object = place_id(run, join->spec.pattern.object, row);
    row_table_reset(&join->found);
    row_table_reset(&join->starts);
    join->given = join->start = 0;
    join->graph = join->spec.graph.kind == PLACE_SLOT ? row[join->spec.graph.number] : OID_NONE;
    if (subject) {
        return search_from(join, subject, object, true, why);
    }
    return object ? search_from(join, object, OID_NONE, false, why) : find_starts(join, why);
}

static bool
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

static enum status
path_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct path_join *join = (struct path_join *)operator;
    const struct run *run = operator->run;
    TRY(operator_batch(operator, batch, why));
    while ((*batch)->count < operator->batch_rows) {
        if (!join->input || join->at == join->input->count) {
            TRY(operator_next(operator->input, &join->input, why));
            join->at = 0;
            join->searched = false;
            if (join->input->count == 0) {
                join->input = NULL;
                return STATUS_OK;
            }
        }
        const oid *from = batch_row(run, join->input, join->at);
        if (!join->searched) {
            TRY(search(join, from, why));
            join->searched = true;
        }
        if (join->given == join->found.count && join->start < join->starts.count) {
            row_table_reset(&join->found);
            join->given = 0;
            TRY(search_from(join, *row_table_row(&join->starts, join->start++), OID_NONE, true,
                            why));
            continue;
        }
        if (join->given == join->found.count) {
            join->at++;
            join->searched = false;
            continue;
        }
        const oid *pair = row_table_row(&join->found, join->given++);
        oid *row = batch_row(run, *batch, (*batch)->count);
        row_copy(run, row, from);
        (*batch)->count += bind(row, join->spec.pattern.subject, pair[0]) &&
                           bind(row, join->spec.pattern.object, pair[1]);
    }
    return run_check(run, why);
}

static void path_reset(struct operator* operator)
{
    struct path_join *join = (struct path_join *)operator;
    join->input = NULL;
    leaps_end(&join->leaps);
}

static void path_close(struct operator* operator)
{
    struct path_join *join = (struct path_join *)operator;
    leaps_end(&join->leaps);
    row_table_release(&join->found);
    row_table_release(&join->starts);
    row_table_release(&join->reached);
}

struct operator* path_new(struct run *run, struct operator* input, const struct scan_spec *spec,
                          size_t batch_rows)
{
    static const struct operator_kind kind = {"path", sizeof(struct path_join), path_next,
                                              path_reset, path_close};
    struct path_join *join = (struct path_join *)operator_new(run, &kind, input, batch_rows);
    if (!join) {
        return NULL;
    }
    join->spec = *spec;
    row_table_init(&join->found, &run->account, "property paths", 2, 2);
    join->leaps.source = run->source;
    row_table_init(&join->reached, &run->account, "property paths", 1, 1);
    row_table_init(&join->starts, &run->account, "property paths", 1, 1);
    return &join->operator;
}
