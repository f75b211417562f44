/* A run: resolves constants and datasets, plans, pulls batches, hands terms to the sink. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "index/query/plan/plan.h"
#include "index/query/run/describe.h"
#include "index/query/run/run.h"

enum { PLAN_MAXIMUM = 256 << 20, SEARCH_MOST = 100000 };
#define MEMORY_DEFAULT ((size_t)1 << 30)

/* ---- setting up ---- */

static enum status
resolve_constants(struct run *run, struct reason *why)
{
    const struct query *query = run->query;
    run->constants = memory_zero(query->constant_count + 1, sizeof *run->constants);
    run->values = memory_zero(query->constant_count + 1, sizeof *run->values);
    for (size_t i = 0; i < query->constant_count; i++) {
        value_of_term(&query->constants[i], &run->values[i]);
        TRY(dictionary_intern(&run->dictionary, &query->constants[i], &run->constants[i], why));
    }
    return STATUS_OK;
}

static enum status
graph_id(struct run *run, struct slice iri, oid **id, struct reason *why)
{
    const struct term term = term_iri(iri);
    *id = arena_alloc(&run->arena, sizeof **id);
    return *id ? dictionary_intern(&run->dictionary, &term, *id, why)
               : status_fail(why, STATUS_LIMIT, "the query is too large");
}

static enum status
graph_set(struct run *run, const uint32_t *constants, size_t count, struct graphs *graphs,
          struct reason *why)
{
    oid *ids = arena_alloc(&run->arena, count * sizeof *ids);
    if (!ids) {
        return status_fail(why, STATUS_LIMIT, "the query is too large");
    }
    *graphs = (struct graphs){count == 1 ? GRAPHS_ONE : GRAPHS_SET, ids, 0};
    for (size_t i = 0; i < count; i++) {
        const oid id = run->constants[constants[i]];
        bool known = false;
        for (size_t k = 0; k < graphs->count; k++) {
            known = known || ids[k] == id;
        }
        if (!known) {
            ids[graphs->count++] = id;
        }
    }
    return STATUS_OK;
}

/* lines: IRIs, each ended by a newline. */
static enum status
graph_lines(struct run *run, struct slice lines, struct graphs *graphs, struct reason *why)
{
    size_t most = 0;
    for (size_t i = 0; i < lines.length; i++) {
        most += lines.at[i] == '\n';
    }
    oid *ids = arena_alloc(&run->arena, (most + 1) * sizeof *ids);
    if (!ids) {
        return status_fail(why, STATUS_LIMIT, "the query is too large");
    }
    *graphs = (struct graphs){GRAPHS_SET, ids, 0};
    while (lines.length > 0) {
        const size_t end = slice_find(lines, '\n');
        const struct term term = term_iri(slice_of(lines.at, end));
        oid id;
        bool known = false;
        TRY(dictionary_intern(&run->dictionary, &term, &id, why));
        for (size_t k = 0; k < graphs->count; k++) {
            known = known || ids[k] == id;
        }
        if (!known) {
            ids[graphs->count++] = id;
        }
        lines = end < lines.length ? slice_of(lines.at + end + 1, lines.length - end - 1)
                                   : slice_of(NULL, 0);
    }
    graphs->kind = graphs->count == 1 ? GRAPHS_ONE : GRAPHS_SET;
    return STATUS_OK;
}

static enum status
choose_graphs(struct run *run, struct reason *why)
{
    const struct query_options *options = run->options;
    const struct query *query = run->query;
    oid *id;
    run->default_graphs = run->named_graphs = (struct graphs){.kind = GRAPHS_ALL};
    if (options->only_graph.length) {
        TRY(graph_id(run, options->only_graph, &id, why));
        run->default_graphs = run->named_graphs = (struct graphs){GRAPHS_ONE, id, 1};
        return STATUS_OK;
    }
    if (options->graphs.length > 0 || options->named_graphs.length > 0) {
        TRY(graph_lines(run, options->graphs, &run->default_graphs, why));
        return graph_lines(run, options->named_graphs, &run->named_graphs, why);
    }
    if (query->has_dataset) {
        TRY(graph_set(run, query->from, query->from_count, &run->default_graphs, why));
        return graph_set(run, query->from_named, query->from_named_count, &run->named_graphs, why);
    }
    if (options->default_graph.length) {
        TRY(graph_id(run, options->default_graph, &id, why));
        run->default_graphs = (struct graphs){GRAPHS_ONE, id, 1};
        run->named_graphs = (struct graphs){GRAPHS_ALL_BUT, id, 1};
    }
    return query->has_with ? graph_set(run, &query->with, 1, &run->default_graphs, why) : STATUS_OK;
}

static enum status
exists(void *context, const struct expression *expression, const oid *row, bool *answer,
       struct reason *why)
{
    const struct run *run = context;
    struct operator* pipeline = run->exists[2 * expression->number];
    struct operator* seed = run->exists[2 * expression->number + 1];
    struct batch *found;
    oid *copy = (oid *)row;
    const struct batch one = {copy, 1};
    operator_reset(pipeline);
    TRY(seed_give(seed, &one, NUMBER_NONE, why));
    TRY(operator_next(pipeline, &found, why));
    *answer = found->count > 0;
    operator_reset(pipeline);
    return STATUS_OK;
}

enum status
query_run_prepare(struct run *run, struct reason *why)
{
    const struct query *query = run->query;
    TRY(resolve_constants(run, why));
    TRY(choose_graphs(run, why));
    evaluation_init(&run->evaluation, query, &run->dictionary, run->constants, run->values,
                    run->now_ms);
    run->evaluation.exists = exists;
    run->evaluation.exists_context = run;
    run->exists = memory_zero(2 * (size_t)query->exists_count + 1, sizeof(struct operator*));
    return STATUS_OK;
}

static enum status
run_open(struct run *run, bool notes, struct operator** root, struct reason *why)
{
    TRY(query_run_prepare(run, why));
    TRY(plan_query(run, notes, root, why));
    run->base_row = memory_zero(run->width + 1, sizeof *run->base_row);
    return STATUS_OK;
}

void
query_run_init(struct run *run, const struct query *query, const struct quad_source *source,
               const struct query_options *options)
{
    *run = (struct run){.query = query, .source = source, .options = options};
    run->account.maximum = options->memory ? options->memory : MEMORY_DEFAULT;
    deadline_begin(&run->deadline, options);
    spill_init(&run->spill, &run->account, options->scratch_folder, options->disk);
    run->spill.check = deadline_check;
    run->spill.check_context = &run->deadline;
    run->search_most = options->search_most ? options->search_most : SEARCH_MOST;
    run->now_ms = options->now_ms ? options->now_ms : clock_wall_ms();
    run->shares = source->share && !query->based && !options->only_graph.length &&
                  query->form != QUERY_CHANGE;
    run->help = &run_helping;
    run->width = query->slot_count;
    arena_init(&run->arena, PLAN_MAXIMUM);
    dictionary_init(&run->dictionary, source, &run->spill);
    arena_init(&run->evaluation.scratch, 0);
}

void
query_run_close(struct run *run)
{
    operators_close(run);
    evaluation_release(&run->evaluation);
    dictionary_release(&run->dictionary);
    spill_release(&run->spill);
    arena_release(&run->arena);
    free(run->constants);
    free(run->values);
    free(run->exists);
    free(run->base_row);
}

/* ---- the four forms ---- */

/* Ends a run by options.rows. */
static bool
is_full(struct run *run)
{
    run->report.truncated = run->options->rows && run->report.rows >= run->options->rows;
    return run->report.truncated;
}

static enum status
send_row(struct run *run, const oid *row, struct term *terms, const struct query_sink *sink,
         struct reason *why)
{
    const struct query *query = run->query;
    dictionary_trim(&run->dictionary);
    for (size_t i = 0; i < query->column_count; i++) {
        const oid id = row[query->column_slots[i]];
        terms[i] = (struct term){0};
        if (id != OID_NONE) {
            TRY(dictionary_term(&run->dictionary, id, &terms[i], why));
        }
    }
    run->report.rows++;
    return sink->row ? sink->row(sink->context, terms, query->column_count, why) : STATUS_OK;
}

static enum status
run_select(struct run *run, struct operator* root, const struct query_sink *sink,
           struct reason *why)
{
    const struct query *query = run->query;
    struct term *terms = arena_alloc(&run->arena, query->column_count * sizeof *terms);
    if (!terms) {
        return status_fail(why, STATUS_LIMIT, "too many columns");
    }
    if (sink->columns) {
        TRY(sink->columns(sink->context, query->columns, query->column_count, why));
    }
    for (;;) {
        struct batch *batch;
        TRY(operator_next(root, &batch, why));
        if (batch->count == 0) {
            return STATUS_OK;
        }
        for (size_t i = 0; i < batch->count; i++) {
            if (is_full(run)) {
                return STATUS_OK;
            }
            TRY(send_row(run, batch_row(run, batch, i), terms, sink, why));
        }
    }
}

static enum status
run_ask(struct operator* root, const struct query_sink *sink, struct reason *why)
{
    struct batch *batch;
    TRY(operator_next(root, &batch, why));
    return sink->boolean ? sink->boolean(sink->context, batch->count > 0, why) : STATUS_OK;
}

/* One place of a template for one solution. *id stays OID_NONE for a new blank node. */
static enum status
template_term(struct run *run, struct place place, const oid *row, uint64_t solution, oid *id,
              struct term *term, char label[64], struct reason *why)
{
    *id = OID_NONE;
    *term = (struct term){0};
    if (place.kind == PLACE_BLANK) {
        const struct slice start = run->options->blank_prefix;
        snprintf(label, 64, "%.*s%llux%u", SLICE_PRINT(start.length ? start : SLICE("new")),
                 (unsigned long long)solution, (unsigned)place.number);
        *term = term_blank(slice_string(label));
        return STATUS_OK;
    }
    *id = place.kind == PLACE_SLOT ? row[place.number] : run->constants[place.number];
    return *id == OID_NONE ? STATUS_OK : dictionary_term(&run->dictionary, *id, term, why);
}

/* A template's quad for one solution; *possible is false when it is none. ids: of the triple, for
 * new blank nodes OID_NONE. labels: memory for their labels. */
static enum status
template_quad(struct run *run, const struct template_quad *template, const oid *row,
              uint64_t solution, oid ids[4], char labels[4][64], struct quad *quad, bool *possible,
              struct reason *why)
{
    const struct place places[] = {template->pattern.subject, template->pattern.predicate,
                                   template->pattern.object, template->graph};
    struct term *const terms[] = {&quad->subject, &quad->predicate, &quad->object, &quad->graph};
    const bool has_graph = template->graph.kind != PLACE_NONE;
    *quad = (struct quad){0};
    for (int i = 0; i < (has_graph ? 4 : 3); i++) {
        TRY(template_term(run, places[i], row, solution, &ids[i], terms[i], labels[i], why));
    }
    *possible = (quad->subject.kind == TERM_IRI || quad->subject.kind == TERM_BLANK) &&
                quad->predicate.kind == TERM_IRI && quad->object.kind != TERM_NONE &&
                (!has_graph || quad->graph.kind == TERM_IRI);
    return STATUS_OK;
}

/* seen: the triples of CONSTRUCT so far, each is sent once; NULL for updates. */
static enum status
send_template(struct run *run, const struct template_quad *template, const oid *row,
              uint64_t solution, struct row_set *seen, const struct query_sink *sink,
              struct reason *why)
{
    char labels[4][64];
    oid ids[4];
    struct quad quad;
    bool wanted;
    TRY(template_quad(run, template, row, solution, ids, labels, &quad, &wanted, why));
    if (wanted && seen && ids[0] && ids[1] && ids[2]) {
        enum row_state state;
        TRY(row_set_put(seen, ids, NULL, &state, why));
        wanted = state == ROW_NEW;
    }
    if (!wanted) {
        return STATUS_OK;
    }
    run->report.rows++;
    if (!seen) {
        return sink->change ? sink->change(sink->context, &quad, template->removal, why)
                            : STATUS_OK;
    }
    return sink->quad ? sink->quad(sink->context, &quad, why) : STATUS_OK;
}

static enum status
send_templates(struct run *run, struct operator* root, struct row_set *seen,
               const struct query_sink *sink, struct reason *why)
{
    const struct query *query = run->query;
    uint64_t solution = 0;
    for (;;) {
        struct batch *batch;
        TRY(operator_next(root, &batch, why));
        if (batch->count == 0) {
            return STATUS_OK;
        }
        for (size_t i = 0; i < batch->count; i++, solution++) {
            for (size_t t = 0; t < query->template_count; t++) {
                if (is_full(run)) {
                    return STATUS_OK;
                }
                dictionary_trim(&run->dictionary);
                TRY(send_template(run, &query->template[t], batch_row(run, batch, i), solution,
                                  seen, sink, why));
            }
        }
    }
}

/* Triples of which it took a sort to tell that they were not sent before. */
static enum status
send_deferred(struct run *run, struct row_set *seen, const struct query_sink *sink,
              struct reason *why)
{
    for (;;) {
        const oid *ids, *payload;
        struct quad quad = {0};
        TRY(row_set_next(seen, &ids, &payload, why));
        if (!ids || is_full(run)) {
            return STATUS_OK;
        }
        dictionary_trim(&run->dictionary);
        TRY(dictionary_term(&run->dictionary, ids[0], &quad.subject, why));
        TRY(dictionary_term(&run->dictionary, ids[1], &quad.predicate, why));
        TRY(dictionary_term(&run->dictionary, ids[2], &quad.object, why));
        run->report.rows++;
        if (sink->quad) {
            TRY(sink->quad(sink->context, &quad, why));
        }
    }
}

static enum status
run_construct(struct run *run, struct operator* root, const struct query_sink *sink,
              struct reason *why)
{
    struct row_set seen;
    row_set_init(&seen, &run->spill, "CONSTRUCT", 3, 0);
    enum status status = send_templates(run, root, &seen, sink, why);
    if (status == STATUS_OK) {
        status = send_deferred(run, &seen, sink, why);
    }
    row_set_release(&seen);
    return status;
}

static enum status
evaluate(struct run *run, struct operator* root, const struct query_sink *sink, struct reason *why)
{
    switch (run->query->form) {
    case QUERY_SELECT:
        return run_select(run, root, sink, why);
    case QUERY_ASK:
        return run_ask(root, sink, why);
    case QUERY_CONSTRUCT:
        return run_construct(run, root, sink, why);
    case QUERY_CHANGE:
        return send_templates(run, root, NULL, sink, why);
    default:
        return describe(run, root, sink, why);
    }
}

enum status
query_run(const struct query *query, const struct quad_source *source,
          const struct query_options *options, const struct query_sink *sink,
          struct query_report *report, struct reason *why)
{
    struct run run;
    struct operator* root;
    query_run_init(&run, query, source, options);
    enum status status = run_open(&run, false, &root, why);
    if (status == STATUS_OK) {
        status = evaluate(&run, root, sink, why);
    }
    run.report.memory = run.account.highest;
    run.report.disk = run.spill.highest;
    if (report) {
        *report = run.report;
    }
    query_run_close(&run);
    return status == STATUS_END ? STATUS_OK : status;
}

/* ---- a part of a query ---- */

static enum status
send_shares(struct run *run, struct operator* root, const uint32_t *columns, size_t count,
            const struct share_sink *sink, struct reason *why)
{
    oid *shared = arena_alloc(&run->arena, count * sizeof *shared);
    if (!shared) {
        return status_fail(why, STATUS_LIMIT, "too many columns");
    }
    for (;;) {
        struct batch *batch;
        TRY(operator_next(root, &batch, why));
        if (batch->count == 0) {
            return sink->end(sink->context, &run->dictionary, why);
        }
        for (size_t i = 0; i < batch->count; i++) {
            const oid *row = batch_row(run, batch, i);
            for (size_t k = 0; k < count; k++) {
                shared[k] = row[columns[k]];
            }
            TRY(sink->row(sink->context, &run->dictionary, shared, count, why));
        }
    }
}

enum status
share_run(const struct query *query, const struct quad_source *source,
          const struct query_options *options, const struct share_request *request,
          const struct share_sink *sink, struct reason *why)
{
    struct run run;
    struct operator* root;
    const uint32_t *columns;
    query_run_init(&run, query, source, options);
    enum status status = query_run_prepare(&run, why);
    if (status == STATUS_OK) {
        status = plan_part(&run, request, &root, &columns, why);
    }
    if (status == STATUS_OK) {
        run.base_row = memory_zero(run.width + 1, sizeof *run.base_row);
        status = send_shares(&run, root, columns, request->columns, sink, why);
    }
    query_run_close(&run);
    return status;
}

/* ---- explaining ---- */

static bool
is_seed(const struct operator* operator)
{
    return strcmp(operator->kind->name, "unit") == 0 || strcmp(operator->kind->name, "seed") == 0;
}

static bool
is_share(const struct operator* operator)
{
    return strcmp(operator->kind->name, "partitions") == 0;
}

/* Rows, and the time without that of the operators it calls. */
static void
explain_measure(const struct operator* operator, struct buf * out)
{
    uint64_t below = operator->input ? operator->input->time_us : 0;
    for (size_t i = 0; i < operator->inner_count; i++) {
        below += operator->inner[i]->time_us;
    }
    const uint64_t own = operator->time_us> below ? operator->time_us - below : 0;
    (void)buf_printf(out, "; %llu rows, %.1f ms", (unsigned long long)operator->rows,
                     (double)own / 1000);
}

/* Explains the operators. The work of partitions is not measured. */
static void
explain(const struct operator* operator, unsigned depth, bool apart, struct buf *out)
{
    for (; operator; operator= operator->input) {
        if (is_seed(operator)) {
            continue;
        }
        (void)buf_printf(out, "%*s%s", (int)(2 * depth), "", operator->kind->name);
        if (operator->note.length) {
            (void)buf_printf(out, " %.*s", SLICE_PRINT(operator->note));
        }
        (void)buf_printf(out, " (about %.0f rows", operator->estimate);
        if (operator->run->measured && !apart) {
            explain_measure(operator, out);
        }
        (void)buf_append_string(out, ")\n");
        for (size_t i = 0; i < operator->inner_count && depth<32; i++) {
            explain(operator->inner[i], depth + 1, apart || is_share(operator), out);
        }
    }
}

static void
explain_report(const struct run *run, uint64_t time_us, struct buf *out)
{
    (void)buf_printf(out,
                     "in all %.1f ms, %llu quads read in %llu scans, %.1f MiB of memory, "
                     "%.1f MiB of files\n",
                     (double)time_us / 1000, (unsigned long long)run->report.scanned,
                     (unsigned long long)run->report.scans, (double)run->account.highest / 1048576,
                     (double)run->spill.highest / 1048576);
}

enum status
query_explain(const struct query *query, const struct quad_source *source,
              const struct query_options *options, bool measured, struct buf *out,
              struct reason *why)
{
    static const struct query_sink nowhere = {0};
    struct run run;
    struct operator* root;
    query_run_init(&run, query, source, options);
    run.measured = measured;
    const uint64_t began = clock_monotonic_us();
    enum status status = run_open(&run, true, &root, why);
    if (status == STATUS_OK && measured) {
        status = evaluate(&run, root, &nowhere, why);
    }
    if (status == STATUS_OK) {
        (void)buf_append_string(out, "last step first\n");
        explain(root, 0, false, out);
        if (measured) {
            explain_report(&run, clock_monotonic_us() - began, out);
        }
    }
    query_run_close(&run);
    return status != STATUS_OK ? status
           : out->overflowed   ? status_fail(why, STATUS_LIMIT, "the plan's text is too long")
                               : STATUS_OK;
}
