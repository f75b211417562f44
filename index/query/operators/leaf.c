/* Rows that come from elsewhere than quads: inline data, keyword search, names of graphs. */
#include "index/query/operators/operator.h"

/* Joins each input row with each of a list of rows; what `values` and `text` share. */
struct list {
    struct operator operator;
    const uint32_t *slots;
    size_t width, count;
    const oid *rows;
    struct batch *input;
    size_t at, row;
};

static bool
list_merge(const struct list *list, oid *row)
{
    const oid *values = list->rows + list->row * list->width;
    for (size_t column = 0; column < list->width; column++) {
        oid *place = &row[list->slots[column]];
        if (values[column] && *place && *place != values[column]) {
            return false;
        }
        if (values[column]) {
            *place = values[column];
        }
    }
    return true;
}

static enum status
list_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct list *list = (struct list *)operator;
    const struct run *run = operator->run;
    unsigned work = 0;
    TRY(operator_batch(operator, batch, why));
    while ((*batch)->count < operator->batch_rows) {
        if (!list->input || list->at == list->input->count) {
            TRY(operator_next(operator->input, &list->input, why));
            list->at = list->row = 0;
            if (list->input->count == 0) {
                list->input = NULL;
                return STATUS_OK;
            }
        }
        if (list->row == list->count) {
            list->row = 0;
            list->at++;
            continue;
        }
        oid *row = batch_row(run, *batch, (*batch)->count);
        row_copy(run, row, batch_row(run, list->input, list->at));
        (*batch)->count += list_merge(list, row);
        list->row++;
        if ((++work & 4095) == 0) {
            TRY(run_check(run, why));
        }
    }
    return STATUS_OK;
}

static void list_reset(struct operator* operator)
{
    ((struct list *)operator)->input = NULL;
}

struct operator* values_new(struct run *run, struct operator* input, const struct algebra *values,
                            size_t batch_rows)
{
    static const struct operator_kind kind = {"values", sizeof(struct list), list_next, list_reset,
                                              NULL};
    struct list *list = (struct list *)operator_new(run, &kind, input, batch_rows);
    const size_t cells = values->row_count * values->slot_count;
    oid *rows = arena_alloc(&run->arena, cells * sizeof *rows);
    if (!list || !rows) {
        return NULL;
    }
    for (size_t i = 0; i < cells; i++) {
        rows[i] =
            values->constants[i] == NUMBER_NONE ? OID_NONE : run->constants[values->constants[i]];
    }
    list->slots = values->slots;
    list->width = values->slot_count;
    list->rows = rows;
    list->count = values->row_count;
    return &list->operator;
}

/* ---- keyword search ---- */

struct text {
    struct list list;
    struct place literal;
    struct slice words;
    uint32_t score;
    uint32_t slots[2];
    struct row_table found; /* literal, score */
    bool searched;
};

static enum status
search(struct text *text, struct reason *why)
{
    struct run *run = text->list.operator.run;
    struct text_scan *scan;
    TRY(run->source->search(run->source->context, text->words, run->search_most, &scan, why));
    enum status status;
    for (unsigned work = 0;; work++) {
        oid pair[2] = {OID_NONE, OID_NONE};
        double score;
        bool end;
        /* Whether a quad has the literal is a lookup. */
        status = work % 64 == 0 ? run_check(run, why) : STATUS_OK;
        if (status != STATUS_OK) {
            break;
        }
        status = run->source->search_next(scan, &pair[0], &score, &end, why);
        if (status != STATUS_OK || end) {
            break;
        }
        if (text->literal.kind == PLACE_CONSTANT &&
            run->constants[text->literal.number] != pair[0]) {
            continue;
        }
        if (text->score != NUMBER_NONE) {
            const struct value value = value_double(score);
            evaluation_next_row(&run->evaluation);
            pair[1] = value_id(&run->evaluation, &value);
            status = evaluation_check(&run->evaluation, why);
        }
        if (status == STATUS_OK) {
            status = row_table_add(&text->found, pair, why);
        }
        if (status != STATUS_OK) {
            break;
        }
    }
    run->source->search_close(scan);
    return status;
}

/* An input row with the literal bound finds it by hash; without, it gets them all. */
static enum status
text_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct text *text = (struct text *)operator;
    struct list *list = &text->list;
    struct run *run = operator->run;
    if (!text->searched) {
        TRY(search(text, why));
        text->searched = true;
        list->rows = text->found.rows;
        list->count = text->found.count;
    }
    const bool probes = text->literal.kind == PLACE_SLOT;
    TRY(operator_batch(operator, batch, why));
    while ((*batch)->count < operator->batch_rows) {
        if (!list->input || list->at == list->input->count) {
            TRY(operator_next(operator->input, &list->input, why));
            list->at = list->row = 0;
            if (list->input->count == 0) {
                list->input = NULL;
                return STATUS_OK;
            }
        }
        const oid *from = batch_row(run, list->input, list->at);
        const bool bound = probes && from[text->literal.number];
        if (bound && list->row == 0) {
            const size_t found = row_table_find(&text->found, &from[text->literal.number]);
            list->row = found == SIZE_MAX ? list->count : found;
        }
        if (list->row >= list->count) {
            list->row = 0;
            list->at++;
            continue;
        }
        oid *row = batch_row(run, *batch, (*batch)->count);
        row_copy(run, row, from);
        (*batch)->count += list_merge(list, row);
        list->row++;
        if (bound) {
            list->row = 0;
            list->at++;
        }
    }
    return run_check(run, why);
}

static void text_close(struct operator* operator)
{
    row_table_release(&((struct text *)operator)->found);
}

struct operator* text_new(struct run *run, struct operator* input, struct place literal,
                          struct slice words, uint32_t score, size_t batch_rows)
{
    static const struct operator_kind kind = {"search", sizeof(struct text), text_next, list_reset,
                                              text_close};
    struct text *text = (struct text *)operator_new(run, &kind, input, batch_rows);
    if (!text) {
        return NULL;
    }
    text->literal = literal;
    text->words = words;
    text->score = score;
    text->slots[0] = literal.number;
    text->slots[1] = score;
    text->list.slots = text->slots;
    text->list.width = 2;
    row_table_init(&text->found, &run->account, "keyword search", 2, 1);
    if (literal.kind != PLACE_SLOT || score == NUMBER_NONE) {
        /* A column that nobody asked for goes to a hidden one. */
        const uint32_t hidden = (uint32_t)run->width++;
        if (literal.kind != PLACE_SLOT) {
            text->slots[0] = hidden;
        }
        if (score == NUMBER_NONE) {
            text->slots[1] = hidden;
        }
    }
    return &text->list.operator;
}

/* ---- names of graphs ---- */

/* All named graphs, in a table of the run's. */
static enum status
graph_list(struct run *run, struct row_table *table, struct reason *why)
{
    if (run->named_graphs.kind == GRAPHS_ONE || run->named_graphs.kind == GRAPHS_SET) {
        for (size_t i = 0; i < run->named_graphs.count; i++) {
            const struct quad_oids pattern = {.graph = run->named_graphs.ids[i]};
            uint64_t rows = 0;
            if (pattern.graph < OID_LOCAL) {
                TRY(run->source->estimate(run->source->context, &pattern, &rows, why));
            }
            bool added;
            size_t at;
            TRY(rows ? row_table_put(table, &pattern.graph, &added, &at, why) : STATUS_OK);
        }
        return STATUS_OK;
    }
    enum { QUADS = 128 };
    struct quad_oids quads[QUADS];
    const struct quad_oids any = {0};
    struct quad_scan *scan;
    size_t count = 0;
    oid last = OID_NONE;
    run->report.scans++;
    TRY(run->source->scan(run->source->context, &any, ORDER_CSPO, &scan, why));
    enum status status;
    do {
        status = run->source->scan_next(scan, quads, QUADS, &count, why);
        run->report.scanned += count;
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            bool added;
            size_t at;
            if (quads[i].graph != last && graphs_have(&run->named_graphs, quads[i].graph)) {
                status = row_table_put(table, &quads[i].graph, &added, &at, why);
            }
            last = quads[i].graph;
        }
        status = status == STATUS_OK ? run_check(run, why) : status;
    } while (status == STATUS_OK && count);
    run->source->scan_close(scan);
    return status;
}

struct graph_names {
    struct list list;
    struct place graph;
    uint32_t slot;
    struct row_table names;
    bool listed;
};

static enum status
graph_names_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct graph_names *names = (struct graph_names *)operator;
    if (!names->listed) {
        TRY(graph_list(operator->run, &names->names, why));
        names->listed = true;
        names->list.rows = names->names.rows;
        names->list.count = names->names.count;
    }
    return list_next(operator, batch, why);
}

static void graph_names_close(struct operator* operator)
{
    row_table_release(&((struct graph_names *)operator)->names);
}

struct operator*
    graph_names_new(struct run *run, struct operator* input, struct place graph, size_t batch_rows)
{
    static const struct operator_kind kind = {"graphs", sizeof(struct graph_names),
                                              graph_names_next, list_reset, graph_names_close};
    struct graph_names *names = (struct graph_names *)operator_new(run, &kind, input, batch_rows);
    if (!names) {
        return NULL;
    }
    names->graph = graph;
    names->slot = graph.number;
    names->list.slots = &names->slot;
    names->list.width = 1;
    row_table_init(&names->names, &run->account, "names of graphs", 1, 1);
    return &names->list.operator;
}

/* ---- solutions joined with the name of their graph ---- */

/* Keeps the rows whose slot is or becomes the graph: the given one, or that of the hidden column.
 */
static void
join_graph(const struct run *run, struct batch *batch, uint32_t hidden, uint32_t slot, oid given)
{
    size_t kept = 0;
    for (size_t i = 0; i < batch->count; i++) {
        oid *row = batch_row(run, batch, i);
        const oid graph = given ? given : row[hidden];
        if (!row[slot] || row[slot] == graph) {
            row[slot] = graph;
            if (kept < i) {
                row_copy(run, batch_row(run, batch, kept), row);
            }
            kept++;
        }
    }
    batch->count = kept;
}

struct graph_join {
    struct operator operator;
    uint32_t hidden, slot;
};

static enum status
graph_join_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    const struct graph_join *join = (struct graph_join *)operator;
    for (;;) {
        TRY(operator_next(operator->input, batch, why));
        const bool ended = (*batch)->count == 0;
        join_graph(operator->run, *batch, join->hidden, join->slot, OID_NONE);
        if (ended || (*batch)->count) {
            return STATUS_OK;
        }
    }
}

struct operator*
    graph_join_new(struct run *run, struct operator* input, uint32_t hidden, uint32_t slot)
{
    static const struct operator_kind kind = {"is graph", sizeof(struct graph_join),
                                              graph_join_next, NULL, NULL};
    struct graph_join *join = (struct graph_join *)operator_new(run, &kind, input, 1);
    if (!join) {
        return NULL;
    }
    join->hidden = hidden;
    join->slot = slot;
    return &join->operator;
}

/* ---- a pattern run once for each graph ---- */

struct graph_loop {
    struct operator operator;
    uint32_t hidden, slot;
    struct row_table names;
    bool listed, running;
    size_t at;
};

static enum status
graph_loop_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct graph_loop *loop = (struct graph_loop *)operator;
    struct run *run = operator->run;
    if (!loop->listed) {
        TRY(graph_list(run, &loop->names, why));
        loop->listed = true;
    }
    for (;;) {
        if (!loop->running) {
            if (loop->at == loop->names.count) {
                return operator_batch(operator, batch, why);
            }
            run->base_row[loop->hidden] = *row_table_row(&loop->names, loop->at++);
            operator_reset(operator->only);
            loop->running = true;
        }
        TRY(operator_next(operator->only, batch, why));
        loop->running = (*batch)->count > 0;
        join_graph(run, *batch, loop->hidden, loop->slot, run->base_row[loop->hidden]);
        if ((*batch)->count) {
            return STATUS_OK;
        }
    }
}

static void graph_loop_reset(struct operator* operator)
{
    ((struct graph_loop *)operator)->running = false;
    ((struct graph_loop *)operator)->at = 0;
}

static void graph_loop_close(struct operator* operator)
{
    row_table_release(&((struct graph_loop *)operator)->names);
}

struct operator*
    graph_loop_new(struct run *run, struct operator* inner, uint32_t hidden, uint32_t slot)
{
    static const struct operator_kind kind = {"each graph", sizeof(struct graph_loop),
                                              graph_loop_next, graph_loop_reset, graph_loop_close};
    struct graph_loop *loop = (struct graph_loop *)operator_new(run, &kind, NULL, 1);
    if (!loop) {
        return NULL;
    }
    operator_contain(&loop->operator, inner);
    loop->hidden = hidden;
    loop->slot = slot;
    row_table_init(&loop->names, &run->account, "names of graphs", 1, 1);
    return &loop->operator;
}
