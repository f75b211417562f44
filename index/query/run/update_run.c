#include "index/query/update.h"

#include <stdio.h>

#include "index/query/algebra/update_operations.h"
#include "index/query/quad_walk.h"

enum { CHANGES_MEMORY = 1 << 30 };

/* One operation under way. */
struct execution {
    const struct update_target *target;
    const struct update_options *options;
    const struct quad_source *source;
    struct slice default_graph;
    bool all_are_default; /* the default graph of patterns is the union of all */
    struct graph removed, added;
};

/* ---- collecting ---- */

/* Removed from every graph that has it. */
static enum status
remove_everywhere(struct execution *execution, const struct quad *quad, struct reason *why)
{
    const struct quad_source *source = execution->source;
    const struct term *const terms[] = {&quad->subject, &quad->predicate, &quad->object};
    struct quad_oids pattern = {0};
    oid *const ids[] = {&pattern.subject, &pattern.predicate, &pattern.object};
    for (int i = 0; i < 3; i++) {
        TRY(source->lookup(source->context, terms[i], ids[i], why));
        if (*ids[i] == OID_NONE) {
            return STATUS_OK;
        }
    }
    const struct quad_sink sink = graph_sink(&execution->removed);
    return quad_walk(source, &pattern, ORDER_COUNT, &sink, why);
}

static enum status
take_change(void *context, const struct quad *quad, bool removal, struct reason *why)
{
    struct execution *execution = context;
    struct quad placed = *quad;
    if (placed.graph.kind == TERM_NONE) {
        if (removal && execution->all_are_default) {
            return remove_everywhere(execution, quad, why);
        }
        placed.graph = term_iri(execution->default_graph);
    }
    return graph_add(removal ? &execution->removed : &execution->added, &placed, why);
}

/* ---- operations ---- */

static enum status
open_source(struct execution *execution, struct reason *why)
{
    graph_reset(&execution->removed);
    graph_reset(&execution->added);
    return execution->target->source(execution->target->context, &execution->source, why);
}

static enum status
apply(struct execution *execution, struct update_report *report, struct reason *why)
{
    graph_sort_unique(&execution->removed);
    graph_sort_unique(&execution->added);
    report->removed += execution->removed.count;
    report->added += execution->added.count;
    if (execution->removed.count + execution->added.count == 0) {
        return STATUS_OK;
    }
    return execution->target->change(execution->target->context, &execution->removed,
                                     &execution->added, why);
}

static enum status
modify(struct execution *execution, const struct update_operation *operation, size_t number,
       struct update_report *report, struct reason *why)
{
    char prefix[48];
    struct query_options options = execution->options->query;
    const struct query_sink sink = {.context = execution, .change = take_change};
    snprintf(prefix, sizeof prefix, "u%.*so%zux",
             (int)(execution->options->blank_prefix.length < 24
                       ? execution->options->blank_prefix.length
                       : 24),
             execution->options->blank_prefix.at, number);
    options.blank_prefix = slice_string(prefix);
    options.rows = 0;
    TRY(open_source(execution, why));
    TRY(query_run(&operation->query, execution->source, &options, &sink, NULL, why));
    return apply(execution, report, why);
}

static struct slice
graph_of(const struct execution *execution, const struct graph_reference *reference)
{
    return reference->kind == REFERENCE_DEFAULT ? execution->default_graph : reference->iri;
}

struct renaming {
    struct graph *graph;
    struct slice name;
};

static enum status
take_renamed(void *context, const struct quad *quad, struct reason *why)
{
    struct renaming *renaming = context;
    struct quad renamed = *quad;
    renamed.graph = term_iri(renaming->name);
    return graph_add(renaming->graph, &renamed, why);
}

/* Every quad of the graph `from`, with the name `to`. */
static enum status
read_graph(struct execution *execution, struct slice from, struct slice to, struct graph *into,
           struct reason *why)
{
    const struct quad_source *source = execution->source;
    const struct term graph = term_iri(from);
    struct quad_oids pattern = {0};
    struct renaming renaming = {into, to};
    const struct quad_sink sink = {take_renamed, &renaming};
    TRY(source->lookup(source->context, &graph, &pattern.graph, why));
    return pattern.graph != OID_NONE ? quad_walk(source, &pattern, ORDER_COUNT, &sink, why)
                                     : STATUS_OK;
}

/* ADD, MOVE, COPY: all in one change. */
static enum status
transfer(struct execution *execution, const struct update_operation *operation,
         struct update_report *report, struct reason *why)
{
    const struct slice from = graph_of(execution, &operation->source);
    const struct slice to = graph_of(execution, &operation->target);
    if (slice_equal(from, to)) {
        return STATUS_OK;
    }
    TRY(open_source(execution, why));
    TRY(read_graph(execution, from, to, &execution->added, why));
    if (execution->added.count == 0 && operation->source.kind != REFERENCE_DEFAULT) {
        return status_fail(why, STATUS_NOT_FOUND, "the graph <%.*s> does not exist",
                           SLICE_PRINT(from));
    }
    if (operation->kind == UPDATE_MOVE) {
        struct renaming renaming = {&execution->removed, from};
        const struct quad_sink sink = {take_renamed, &renaming};
        TRY(graph_send(&execution->added, &sink, why));
    }
    if (operation->kind != UPDATE_ADD) {
        TRY(read_graph(execution, to, to, &execution->removed, why));
    }
    return apply(execution, report, why);
}

static enum status
clear(struct execution *execution, const struct update_operation *operation, struct reason *why)
{
    const struct update_target *target = execution->target;
    const struct slice none = {0};
    switch (operation->target.kind) {
    case REFERENCE_ALL:
        return target->clear(target->context, none, none, why);
    case REFERENCE_NAMED:
        return target->clear(target->context, none, execution->default_graph, why);
    default:
        return target->clear(target->context, graph_of(execution, &operation->target), none, why);
    }
}

static enum status
create(struct execution *execution, const struct update_operation *operation, struct reason *why)
{
    struct quad_oids pattern = {0};
    uint64_t rows = 0;
    const struct term graph = term_iri(operation->target.iri);
    TRY(open_source(execution, why));
    const struct quad_source *source = execution->source;
    TRY(source->lookup(source->context, &graph, &pattern.graph, why));
    if (pattern.graph != OID_NONE) {
        TRY(source->estimate(source->context, &pattern, &rows, why));
    }
    return rows == 0 ? STATUS_OK
                     : status_fail(why, STATUS_BAD_INPUT, "the graph <%.*s> exists already",
                                   SLICE_PRINT(operation->target.iri));
}

static enum status
load(struct execution *execution, const struct update_operation *operation, struct reason *why)
{
    const struct update_target *target = execution->target;
    return target->load
               ? target->load(target->context, operation->document,
                              operation->into ? operation->target.iri : (struct slice){0}, why)
               : status_fail(why, STATUS_UNSUPPORTED, "LOAD is not possible here");
}

static enum status
execute(struct execution *execution, const struct update_operation *operation, size_t number,
        struct update_report *report, struct reason *why)
{
    switch (operation->kind) {
    case UPDATE_MODIFY:
        return modify(execution, operation, number, report, why);
    case UPDATE_LOAD:
        return load(execution, operation, why);
    case UPDATE_CLEAR:
        return clear(execution, operation, why);
    case UPDATE_CREATE:
        return create(execution, operation, why);
    default:
        return transfer(execution, operation, report, why);
    }
}

static enum status
check_dataset(const struct update *update, const struct query_options *options, struct reason *why)
{
    bool own = false;
    for (size_t i = 0; i < update->count; i++) {
        const struct update_operation *operation = &update->operations[i];
        own = own || (operation->kind == UPDATE_MODIFY &&
                      (operation->query.has_dataset || operation->query.has_with));
    }
    return own && options->graphs.length + options->named_graphs.length > 0
               ? status_fail(why, STATUS_BAD_INPUT,
                             "USING and WITH are not allowed beside a dataset given for the update")
               : STATUS_OK;
}

enum status
update_run(const struct update *update, const struct update_target *target,
           const struct update_options *options, struct update_report *report, struct reason *why)
{
    struct update_report counts = {0};
    TRY(check_dataset(update, &options->query, why));
    const struct slice chosen = options->query.default_graph;
    struct execution execution = {.target = target,
                                  .options = options,
                                  .default_graph =
                                      chosen.length ? chosen : SLICE(UPDATE_DEFAULT_GRAPH),
                                  .all_are_default = chosen.length == 0};
    const size_t memory = options->query.memory ? options->query.memory : (size_t)CHANGES_MEMORY;
    graph_init(&execution.removed, memory);
    graph_init(&execution.added, memory);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < update->count && status == STATUS_OK; i++) {
        const struct update_operation *operation = &update->operations[i];
        struct reason problem;
        status = execute(&execution, operation, i, &counts, &problem);
        if (status != STATUS_OK && !operation->silent) {
            status_fail(why, status, "operation %zu: %s", i + 1, problem.text);
        } else {
            status = STATUS_OK;
            counts.operations++;
        }
    }
    graph_release(&execution.removed);
    graph_release(&execution.added);
    if (report) {
        *report = counts;
    }
    return status;
}
