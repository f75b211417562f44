#include "rdf/jsonld/jsonld.h"

#include "rdf/jsonld/jsonld_processor.h"

enum { CACHE_MEMORY = 64 << 20 };

/* ---- the whole ---- */

static void
jsonld_init(struct jsonld *jsonld, const struct jsonld_options *options,
            const struct quad_sink *sink, struct reason *why)
{
    *jsonld = (struct jsonld){
        .options = options,
        .sink = sink,
        .why = why,
        .base = options->parse.base,
        .contexts = options->contexts,
        .step_limit = options->work > 0 ? options->work : JSONLD_WORK,
        .memory_limit = options->memory > 0 ? options->memory : JSONLD_MEMORY,
        .depth_limit = options->parse.depth > 0 ? options->parse.depth : PARSE_DEPTH,
        .made = options->labels != NULL ? *options->labels : 0,
    };
    if (jsonld->depth_limit > PARSE_DEPTH_MAXIMUM) {
        jsonld->depth_limit = PARSE_DEPTH_MAXIMUM;
    }
    problems_init(&jsonld->problems, &options->parse);
    arena_init(&jsonld->memory, 0);
    arena_init(&jsonld->expanded, 0);
    buf_init(&jsonld->work, SIZE_MAX / 2);
    jsonld->tree.arena = &jsonld->memory;
    jsonld->nodes.arena = jsonld->strings = &jsonld->expanded;
    if (jsonld->contexts != NULL && jsonld->contexts->arena.used > CACHE_MEMORY) {
        arena_reset(&jsonld->contexts->arena);
        jsonld->contexts->pool.left = 0;
        jsonld->contexts->loads = NULL;
    }
}

static void
jsonld_release(struct jsonld *jsonld)
{
    if (jsonld->options->labels != NULL) {
        *jsonld->options->labels = jsonld->made;
    }
    arena_release(&jsonld->memory);
    arena_release(&jsonld->expanded);
    buf_release(&jsonld->work);
}

/* The context that is there before the document's own. */
static enum status
begin_context(struct jsonld *jsonld, const struct jsonld_context **active)
{
    const struct jsonld_options *options = jsonld->options;
    struct jsonld_context *context = arena_zero(&jsonld->memory, sizeof *context);
    context->base = jsonld->base.length > 0 ? jsonld->base : (struct slice){NULL, 0};
    *active = context;
    if (options->expand_context.length > 0) {
        struct json *tree;
        TRY(jsonld_read_json(jsonld, options->expand_context, 0, &jsonld->tree, NULL, &tree));
        const struct json *inner = json_get(tree, SLICE("@context"));
        const struct slice base =
            options->expand_context_url.length > 0 ? options->expand_context_url : jsonld->base;
        TRY(jsonld_process(jsonld, *active, inner != NULL ? inner : tree, base,
                           (struct context_flags){0}, active));
    }
    if (options->context_url.length > 0) {
        const struct json *url = json_as_text(&jsonld->tree, options->context_url, 0);
        TRY(jsonld_process(jsonld, *active, url, jsonld->base, (struct context_flags){0}, active));
    }
    return STATUS_OK;
}

/* A single object of nothing but a graph is that graph. */
static struct json *
unwrap(struct json *expanded)
{
    if (expanded->kind == JSON_OBJECT && expanded->count == 1 &&
        expanded->first->tag == KEYWORD_GRAPH) {
        return expanded->first;
    }
    return expanded;
}

static enum status
take_one(struct jsonld *jsonld, const struct jsonld_context *active, const struct json *item,
         bool alone, jsonld_take_function *take, void *context)
{
    struct json *expanded = NULL;
    const struct property none = {.top = true};
    TRY(jsonld_recover(jsonld, jsonld_expand_value(jsonld, active, none, item, false, &expanded)));
    if (expanded != NULL) {
        TRY(take(jsonld, context, alone ? unwrap(expanded) : expanded));
    }
    arena_reset(&jsonld->expanded);
    jsonld->nodes.left = 0;
    return STATUS_OK;
}

/* The @graph of an object that has nothing else but a context: the usual form of large documents,
 * so its items are taken one by one. NULL: it has more. */
static enum status
find_bare_graph(struct jsonld *jsonld, const struct json *tree,
                const struct jsonld_context **active, const struct json **graph)
{
    const struct json *local = json_get(tree, SLICE("@context"));
    *graph = NULL;
    if (tree->kind != JSON_OBJECT || tree->count != (local != NULL ? 2 : 1)) {
        return STATUS_OK;
    }
    const struct json *other = tree->first == local ? tree->first->next : tree->first;
    struct slice iri;
    if (other->kind != JSON_ARRAY) {
        return STATUS_OK;
    }
    if (local != NULL) {
        TRY(jsonld_process(jsonld, *active, local, jsonld->base, (struct context_flags){0},
                           active));
    }
    TRY(jsonld_iri(jsonld, *active, NULL, other->key, IRI_VOCAB, &iri));
    if (jsonld_keyword(iri) == KEYWORD_GRAPH) {
        *graph = other;
    }
    return STATUS_OK;
}

static enum status
take_items(struct jsonld *jsonld, const struct jsonld_context *active, const struct json *array,
           jsonld_take_function *take, void *context)
{
    for (const struct json *item = array->first; item != NULL; item = item->next) {
        TRY(take_one(jsonld, active, item, false, take, context));
    }
    return STATUS_OK;
}

static enum status
run(struct jsonld *jsonld, struct slice bytes, jsonld_take_function *take, void *context)
{
    const struct jsonld_options *options = jsonld->options;
    struct json *tree;
    const struct jsonld_context *active;
    TRY(jsonld_read_json(jsonld, bytes, options->line, &jsonld->tree, options->repairs, &tree));
    jsonld->document = tree;
    TRY(begin_context(jsonld, &active));
    if (tree->kind == JSON_ARRAY) {
        return take_items(jsonld, active, tree, take, context);
    }
    const struct jsonld_context *inner = active;
    const struct json *graph = NULL;
    if (!options->part) {
        const enum status status = find_bare_graph(jsonld, tree, &inner, &graph);
        if (status != STATUS_OK) {
            return jsonld_recover(jsonld, status);
        }
    }
    return graph != NULL ? take_items(jsonld, inner, graph, take, context)
                         : take_one(jsonld, active, tree, !options->part, take, context);
}

enum status
jsonld_take(struct slice bytes, const struct jsonld_options *options, const struct quad_sink *sink,
            jsonld_take_function *take, void *context, struct reason *why)
{
    struct jsonld jsonld;
    struct reason own;
    jsonld_init(&jsonld, options, sink, why != NULL ? why : &own);
    const enum status status = run(&jsonld, bytes, take, context);
    jsonld_release(&jsonld);
    return status;
}

static enum status
take_quads(struct jsonld *jsonld, void *context, struct json *expanded)
{
    (void)context;
    return jsonld_emit(jsonld, expanded);
}

enum status
jsonld_read(struct slice bytes, const struct jsonld_options *options, const struct quad_sink *sink,
            struct reason *why)
{
    return jsonld_take(bytes, options, sink, take_quads, NULL, why);
}

enum status
jsonld_parse(struct slice bytes, const struct parse_options *options, const struct quad_sink *sink,
             struct reason *why)
{
    const struct jsonld_options own = {
        .parse = options != NULL ? *options : (struct parse_options){.depth = 0}};
    return jsonld_read(bytes, &own, sink, why);
}
