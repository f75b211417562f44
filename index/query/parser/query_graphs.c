/* Tells which graphs a query reads, as far as its text and dataset say. */
#include "index/query/algebra/algebra.h"
#include "index/query/query.h"

struct reading {
    const struct query *query;
    const struct query_options *options;
    query_graph_visit *visit;
    void *context;
};

static bool read_node(const struct reading *reading, const struct algebra *node, bool named);

static bool
read_constants(const struct reading *reading, const uint32_t *constants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        reading->visit(reading->context, reading->query->constants[constants[i]].value);
    }
    return true;
}

static bool
read_lines(const struct reading *reading, struct slice lines)
{
    while (lines.length > 0) {
        const size_t end = slice_find(lines, '\n');
        reading->visit(reading->context, slice_of(lines.at, end));
        const size_t used = end < lines.length ? end + 1 : end;
        lines = slice_of(lines.at + used, lines.length - used);
    }
    return true;
}

/* Visits the default graphs of a query: those that the request names, or else those of its FROM
 * clauses, or else the default graph of the options. index/query/run/query_run.c chooses the same.
 */
static bool
read_default(const struct reading *reading)
{
    const struct query_options *options = reading->options;
    const struct query *query = reading->query;
    if (options->graphs.length + options->named_graphs.length > 0) {
        return read_lines(reading, options->graphs);
    }
    if (query->has_dataset) {
        return read_constants(reading, query->from, query->from_count);
    }
    if (options->default_graph.length > 0) {
        reading->visit(reading->context, options->default_graph);
        return true;
    }
    return false;
}

static bool
read_named(const struct reading *reading, struct place graph)
{
    const struct query_options *options = reading->options;
    const struct query *query = reading->query;
    if (graph.kind == PLACE_CONSTANT) {
        return read_constants(reading, &graph.number, 1);
    }
    if (options->graphs.length + options->named_graphs.length > 0) {
        return read_lines(reading, options->named_graphs);
    }
    return query->has_dataset &&
           read_constants(reading, query->from_named, query->from_named_count);
}

static bool
read_expression(const struct reading *reading, const struct expression *expression, bool named)
{
    if (expression == NULL || !expression->exists) {
        return true;
    }
    if (expression->kind == EXPRESSION_EXISTS && !read_node(reading, expression->pattern, named)) {
        return false;
    }
    for (size_t i = 0; i < expression->count; i++) {
        if (!read_expression(reading, expression->arguments[i], named)) {
            return false;
        }
    }
    return true;
}

static bool
read_expressions(const struct reading *reading, const struct algebra *node, bool named)
{
    bool known = read_expression(reading, node->expression, named);
    for (size_t i = 0; i < node->key_count; i++) {
        known = known && read_expression(reading, node->keys[i].expression, named);
    }
    for (size_t i = 0; i < node->aggregate_count; i++) {
        known = known && read_expression(reading, node->aggregates[i].argument, named);
    }
    for (size_t i = 0; i < node->order_count; i++) {
        known = known && read_expression(reading, node->order[i].expression, named);
    }
    return known;
}

/* named: inside of a GRAPH, whose graphs were visited. Trees are at most DEPTH_MAXIMUM deep. */
static bool
read_node(const struct reading *reading, const struct algebra *node, bool named)
{
    if (node == NULL) {
        return true;
    }
    switch (node->kind) {
    case ALGEBRA_SERVICE:
        return false;
    case ALGEBRA_PATTERNS:
        if (!named && !read_default(reading)) {
            return false;
        }
        break;
    case ALGEBRA_GRAPH:
        if (!read_named(reading, node->graph)) {
            return false;
        }
        named = true;
        break;
    default:
        break;
    }
    return read_expressions(reading, node, named) && read_node(reading, node->left, named) &&
           read_node(reading, node->right, named);
}

bool
query_graphs(const struct query *query, const struct query_options *options,
             query_graph_visit *visit, void *context)
{
    const struct reading reading = {
        .query = query, .options = options, .visit = visit, .context = context};
    return query->form != QUERY_DESCRIBE && !options->only_graph.length &&
           !query_mentions(query, SLICE(QUERY_MATCHES)) &&
           !query_mentions(query, SLICE(QUERY_PROVENANCE)) &&
           !query_mentions(query, SLICE(QUERY_IDENTITY)) &&
           read_node(&reading, query->algebra, false);
}
