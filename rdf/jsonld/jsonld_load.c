/* Documents and the contexts that they name: asked for, read, kept. */
#include "rdf/jsonld/jsonld_processor.h"

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

enum status
jsonld_read_json(struct jsonld *jsonld, struct slice bytes, uint32_t line, struct json_pool *pool,
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
    const enum status status = jsonld_read_json(jsonld, remote->bytes, 1, pool, NULL, &tree);
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
