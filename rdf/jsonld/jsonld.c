#include "rdf/jsonld/jsonld.h"

#include "rdf/jsonld/jsonld_processor.h"

enum { CACHE_MEMORY = 64 << 20 };

/* ---- for the other files ---- */

enum status
jsonld_error(struct jsonld *jsonld, uint32_t line, const char *code, struct slice detail)
{
    struct reason text;
    status_fail(&text, STATUS_BAD_INPUT, "%s: %.*s", code, SLICE_PRINT(detail));
    if (jsonld->mute > 0 || !jsonld->problems.lenient) {
        return status_fail(jsonld->why, STATUS_BAD_INPUT, "line %u: %s", line, text.text);
    }
    problem_report(&jsonld->problems, line, 0, text.text, jsonld->why);
    return STATUS_BAD_INPUT;
}

enum status
jsonld_step(struct jsonld *jsonld)
{
    if (++jsonld->steps > jsonld->step_limit) {
        return status_fail(jsonld->why, STATUS_LIMIT,
                           "JSON-LD takes more than %llu steps to expand",
                           (unsigned long long)jsonld->step_limit);
    }
    const size_t used = jsonld->memory.used + jsonld->expanded.used;
    return used > jsonld->memory_limit
               ? status_fail(jsonld->why, STATUS_LIMIT, "JSON-LD takes more than %zu bytes",
                             jsonld->memory_limit)
               : STATUS_OK;
}

struct slice
jsonld_join(struct jsonld *jsonld, struct slice a, struct slice b)
{
    char *at = arena_alloc(jsonld->strings, a.length + b.length);
    if (a.length > 0) {
        memcpy(at, a.at, a.length);
    }
    if (b.length > 0) {
        memcpy(at + a.length, b.at, b.length);
    }
    return slice_of(at, a.length + b.length);
}

/* ---- remote contexts ---- */

static struct jsonld_load *
find_load(struct jsonld_load *load, struct slice url)
{
    while (load != NULL && !slice_equal(load->url, url)) {
        load = load->next;
    }
    return load;
}

static void
ask_for_one(struct jsonld *jsonld, const struct json *context)
{
    const struct json *import = json_get(context, SLICE("@import"));
    context = import != NULL ? import : context;
    const uint32_t most = jsonld->options->remotes;
    if (context->kind != JSON_STRING || jsonld->load_count >= (most > 0 ? most : JSONLD_REMOTES)) {
        return;
    }
    struct jsonld_remote remote = {.fixed = false};
    const struct slice url = jsonld_resolve(jsonld, jsonld->base, context->text);
    if (jsonld_is_iri(url) && find_load(jsonld->loads, url) == NULL) {
        struct reason ignored;
        jsonld->load_count++;
        jsonld->options->loader.load(jsonld->options->loader.context, url, &remote, &ignored);
    }
}

/* Lets the loader know of all contexts that the document names. */
static void
ask_for_all(struct jsonld *jsonld, const struct json *node)
{
    if (node->kind < JSON_ARRAY) {
        return;
    }
    for (const struct json *child = node->first; child != NULL; child = child->next) {
        if (node->kind == JSON_OBJECT && slice_is(child->key, "@context")) {
            const struct json *context = child->kind == JSON_ARRAY ? child->first : child;
            while (context != NULL) {
                ask_for_one(jsonld, context);
                context = child->kind == JSON_ARRAY ? context->next : NULL;
            }
        }
        ask_for_all(jsonld, child);
    }
}

static enum status
read_json(struct jsonld *jsonld, struct slice bytes, uint32_t line, struct json_pool *pool,
          uint64_t *repairs, struct json **tree)
{
    struct json_options options = {.line = line,
                                   .depth = jsonld->depth_limit,
                                   .memory = pool->arena->used + jsonld->memory_limit};
    enum status status = json_read(bytes, &options, pool, tree, jsonld->why);
    if (status == STATUS_BAD_INPUT && jsonld->problems.lenient) {
        uint64_t made[JSON_REPAIR_COUNT] = {0};
        options.lenient = true;
        options.repairs = made;
        status = json_read(bytes, &options, pool, tree, jsonld->why);
        for (int i = 0; status == STATUS_OK && repairs != NULL && i < JSON_REPAIR_COUNT; i++) {
            repairs[i] += made[i];
        }
    }
    return status;
}

/* The reason that *why holds becomes the detail. */
static enum status
load_failed(struct jsonld *jsonld, uint32_t line, struct slice url)
{
    struct reason detail;
    status_fail(&detail, STATUS_NOT_FOUND, "%.*s: %.200s", SLICE_PRINT(url), jsonld->why->text);
    return jsonld_error(jsonld, line, "loading remote context failed", slice_string(detail.text));
}

static enum status
read_context(struct jsonld *jsonld, const struct jsonld_remote *remote, struct slice url,
             uint32_t line, struct jsonld_load *load, bool shared)
{
    struct json_pool *pool = shared ? &jsonld->contexts->pool : &jsonld->tree;
    struct json *tree;
    const enum status status = read_json(jsonld, remote->bytes, 1, pool, NULL, &tree);
    if (status != STATUS_OK) {
        return status == STATUS_BAD_INPUT ? load_failed(jsonld, line, url) : status;
    }
    load->tree = json_get(tree, SLICE("@context"));
    return load->tree != NULL ? STATUS_OK
                              : jsonld_error(jsonld, line, "invalid remote context", url);
}

static enum status
fetch_context(struct jsonld *jsonld, struct slice url, uint32_t line, struct jsonld_load **result)
{
    const struct jsonld_loader *loader = &jsonld->options->loader;
    const uint32_t most = jsonld->options->remotes;
    struct jsonld_remote remote = {.fixed = false};
    if (++jsonld->load_count > (most > 0 ? most : JSONLD_REMOTES)) {
        return jsonld_error(jsonld, line, "context overflow", url);
    }
    status_fail(jsonld->why, STATUS_NOT_FOUND, "contexts are not loaded");
    const enum status status = loader->load != NULL
                                   ? loader->load(loader->context, url, &remote, jsonld->why)
                                   : STATUS_NOT_FOUND;
    if (status == STATUS_AGAIN && !jsonld->asks) {
        jsonld->asks = true;
        jsonld->load_count = 0;
        ask_for_all(jsonld, jsonld->document);
        return status_fail(jsonld->why, status, "waiting for %.*s", SLICE_PRINT(url));
    }
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? load_failed(jsonld, line, url) : status;
    }
    const bool shared = remote.fixed && jsonld->contexts != NULL;
    struct arena *arena = shared ? &jsonld->contexts->arena : &jsonld->memory;
    struct jsonld_load *load = arena_zero(arena, sizeof *load);
    TRY(read_context(jsonld, &remote, url, line, load, shared));
    load->url = arena_copy(arena, url);
    load->document_uri =
        remote.document_uri.length > 0 ? arena_copy(arena, remote.document_uri) : load->url;
    load->fixed = remote.fixed;
    struct jsonld_load **list = shared ? &jsonld->contexts->loads : &jsonld->loads;
    load->next = *list;
    *list = *result = load;
    return STATUS_OK;
}

enum status
jsonld_load_context(struct jsonld *jsonld, struct slice url, uint32_t line,
                    struct jsonld_load **load)
{
    *load = find_load(jsonld->loads, url);
    if (*load == NULL && jsonld->contexts != NULL) {
        *load = find_load(jsonld->contexts->loads, url);
    }
    return *load != NULL ? STATUS_OK : fetch_context(jsonld, url, line, load);
}

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
        TRY(read_json(jsonld, options->expand_context, 0, &jsonld->tree, NULL, &tree));
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

typedef enum status take_function(struct jsonld *jsonld, void *context, struct json *expanded);

static enum status
take_one(struct jsonld *jsonld, const struct jsonld_context *active, const struct json *item,
         bool alone, take_function *take, void *context)
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
           take_function *take, void *context)
{
    for (const struct json *item = array->first; item != NULL; item = item->next) {
        TRY(take_one(jsonld, active, item, false, take, context));
    }
    return STATUS_OK;
}

static enum status
run(struct jsonld *jsonld, struct slice bytes, take_function *take, void *context)
{
    const struct jsonld_options *options = jsonld->options;
    struct json *tree;
    const struct jsonld_context *active;
    TRY(read_json(jsonld, bytes, options->line, &jsonld->tree, options->repairs, &tree));
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
    struct jsonld jsonld;
    struct reason own;
    jsonld_init(&jsonld, options, sink, why != NULL ? why : &own);
    const enum status status = run(&jsonld, bytes, take_quads, NULL);
    jsonld_release(&jsonld);
    return status;
}

static enum status
take_text(struct jsonld *jsonld, void *context, struct json *expanded)
{
    struct buf *text = context;
    (void)jsonld;
    const bool many = expanded->kind == JSON_ARRAY;
    for (const struct json *item = many ? expanded->first : expanded; item != NULL;
         item = many ? item->next : NULL) {
        buf_append_char(text, text->length == 0 ? '[' : ',');
        TRY(json_write(text, item));
    }
    return STATUS_OK;
}

enum status
jsonld_expand(struct slice bytes, const struct jsonld_options *options, struct buf *text,
              struct reason *why)
{
    struct jsonld jsonld;
    struct reason own;
    buf_reset(text);
    jsonld_init(&jsonld, options, NULL, why != NULL ? why : &own);
    enum status status = run(&jsonld, bytes, take_text, text);
    jsonld_release(&jsonld);
    if (status == STATUS_OK) {
        status = buf_append_string(text, text->length == 0 ? "[]" : "]");
    }
    return status;
}

enum status
jsonld_parse(struct slice bytes, const struct parse_options *options, const struct quad_sink *sink,
             struct reason *why)
{
    const struct jsonld_options own = {
        .parse = options != NULL ? *options : (struct parse_options){.depth = 0}};
    return jsonld_read(bytes, &own, sink, why);
}
