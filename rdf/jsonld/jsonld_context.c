/* Context processing: https://www.w3.org/TR/json-ld11-api/#context-processing-algorithm */
#include "rdf/jsonld/jsonld_processor.h"

enum { PROCESSED_SLOTS = 1024, REMOTE_CHAIN_LONGEST = 20, STATES_AT_HAND = 64 };

/* One that was made before. */
struct processed_context {
    const struct jsonld_context *active;
    const struct json *local;
    struct slice base_url;
    struct context_flags flags;
    uint64_t hash;
    const struct jsonld_context *result;
    struct processed_context *next;
};

static struct term_table *
own_table(struct jsonld *jsonld, struct context_build *build)
{
    if (!build->owns_table) {
        build->context->terms = jsonld_new_table(jsonld, build->arena, build->context->terms);
        build->owns_table = true;
    }
    return build->context->terms;
}

static enum status
nullify(struct jsonld *jsonld, struct context_build *build, const struct json *local)
{
    if (!build->override_protected && jsonld_has_protected(build->context)) {
        return jsonld_error(jsonld, local->line, "invalid context nullification",
                            SLICE("protected terms cannot be removed"));
    }
    struct jsonld_context *context = build->context;
    const struct jsonld_context *previous = context->previous;
    *context = (struct jsonld_context){.base = jsonld->base,
                                       .previous = build->propagate ? NULL : previous};
    build->owns_table = false;
    return STATUS_OK;
}

/* ---- remote contexts ---- */

static bool
chain_has(const struct remote_chain *chain, struct slice url)
{
    while (chain != NULL && !slice_equal(chain->url, url)) {
        chain = chain->before;
    }
    return chain != NULL;
}

static bool
is_bare(const struct jsonld_context *context)
{
    return context->terms == NULL && context->vocab.at == NULL && context->language.at == NULL &&
           context->direction.at == NULL;
}

/* Processes a fixed context from an empty one into the cache, once. It may turn out to depend on
 * the document; then load->uses_base remains. */
static enum status
process_shared(struct jsonld *jsonld, struct jsonld_load *load)
{
    struct arena *arena = &jsonld->contexts->arena;
    const struct remote_chain chain = {.url = load->url, .length = 1};
    struct arena *strings = jsonld->strings;
    const bool used_base = jsonld->used_base, used_loose = jsonld->used_loose;
    struct jsonld_context *context = arena_zero(arena, sizeof *context);
    struct context_build build = {.context = context,
                                  .arena = arena,
                                  .base_url = load->document_uri,
                                  .remotes = &chain,
                                  .propagate = true};
    jsonld->used_base = jsonld->used_loose = false;
    jsonld->strings = arena;
    jsonld->mute++;
    load->busy = true;
    const enum status status = jsonld_build(jsonld, &build, load->tree);
    load->busy = false;
    jsonld->mute--;
    jsonld->strings = strings;
    if (status == STATUS_OK && !jsonld->used_base && !jsonld->used_loose) {
        load->processed = context;
    }
    load->uses_base = load->processed == NULL;
    jsonld->used_base |= used_base;
    jsonld->used_loose |= used_loose;
    return status == STATUS_BAD_INPUT ? STATUS_OK : status;
}

static enum status
take_remote(struct jsonld *jsonld, struct context_build *build, const struct json *local)
{
    struct slice url = local->text;
    if (!jsonld_is_iri(url)) {
        url = jsonld_resolve(jsonld, build->base_url, url);
        if (!jsonld_is_iri(url)) {
            return jsonld_error(jsonld, local->line, "loading document failed", url);
        }
    }
    if (build->skips_known && chain_has(build->remotes, url)) {
        return STATUS_OK;
    }
    const struct remote_chain chain = {.url = url,
                                       .before = build->remotes,
                                       .length =
                                           build->remotes != NULL ? build->remotes->length + 1 : 1};
    if (chain.length > REMOTE_CHAIN_LONGEST) {
        return jsonld_error(jsonld, local->line, "context overflow", url);
    }
    struct jsonld_load *load;
    TRY(jsonld_load_context(jsonld, url, local->line, &load));
    jsonld->used_loose |= !load->fixed;
    struct jsonld_context *context = build->context;
    if (load->fixed && jsonld->contexts != NULL && !load->busy && !load->uses_base &&
        is_bare(context) && !jsonld->options->mode_1_0) {
        if (load->processed == NULL) {
            TRY(process_shared(jsonld, load));
        }
        if (load->processed != NULL) {
            const struct jsonld_context own = *context;
            *context = *load->processed;
            context->base = own.base;
            context->previous = own.previous;
            build->owns_table = false;
            return STATUS_OK;
        }
    }
    struct context_build inner = *build;
    inner.base_url = load->document_uri;
    inner.remotes = &chain;
    inner.is_protected = false;
    TRY(jsonld_build(jsonld, &inner, load->tree));
    build->owns_table = inner.owns_table;
    return STATUS_OK;
}

/* ---- entries of a context definition ---- */

/* The definition with the entries of the one it imports before its own. */
static enum status
import(struct jsonld *jsonld, struct context_build *build, const struct json **local)
{
    const struct json *entry = json_get(*local, SLICE("@import"));
    if (entry == NULL) {
        return STATUS_OK;
    }
    if (jsonld->options->mode_1_0) {
        return jsonld_error(jsonld, entry->line, "invalid context entry", entry->key);
    }
    if (entry->kind != JSON_STRING) {
        return jsonld_error(jsonld, entry->line, "invalid @import value",
                            SLICE("it must be the IRI of a context"));
    }
    struct jsonld_load *load;
    const struct slice url = jsonld_resolve(jsonld, build->base_url, entry->text);
    TRY(jsonld_load_context(jsonld, url, entry->line, &load));
    jsonld->used_loose |= !load->fixed;
    if (load->tree->kind != JSON_OBJECT) {
        return jsonld_error(jsonld, entry->line, "invalid remote context", url);
    }
    if (json_get(load->tree, SLICE("@import")) != NULL) {
        return jsonld_error(jsonld, entry->line, "invalid context entry",
                            SLICE("an imported context cannot import"));
    }
    struct json_pool pool = {.arena = build->arena};
    struct json *merged = json_new(&pool, JSON_OBJECT, (*local)->line);
    const struct json *sources[] = {load->tree, *local};
    for (int i = 0; i < 2; i++) {
        for (const struct json *from = sources[i]->first; from != NULL; from = from->next) {
            struct json *copy = json_new(&pool, from->kind, from->line);
            *copy = *from;
            json_add(&pool, merged, copy);
        }
    }
    *local = merged;
    return STATUS_OK;
}

static enum status
take_version(struct jsonld *jsonld, struct context_build *build, const struct json *entry)
{
    (void)build;
    if (entry->kind != JSON_NUMBER || !slice_equal(entry->text, SLICE("1.1"))) {
        return jsonld_error(jsonld, entry->line, "invalid @version value", SLICE("only 1.1 is"));
    }
    return jsonld->options->mode_1_0
               ? jsonld_error(jsonld, entry->line, "processing mode conflict", SLICE("1.1"))
               : STATUS_OK;
}

static enum status
take_base(struct jsonld *jsonld, struct context_build *build, const struct json *entry)
{
    if (build->remotes != NULL) {
        return STATUS_OK;
    }
    struct jsonld_context *context = build->context;
    if (entry->kind == JSON_NULL) {
        context->base = (struct slice){NULL, 0};
    } else if (entry->kind == JSON_STRING && jsonld_is_iri(entry->text)) {
        context->base = entry->text;
    } else if (entry->kind == JSON_STRING && context->base.length > 0) {
        context->base = jsonld_resolve(jsonld, context->base, entry->text);
    } else {
        return jsonld_error(jsonld, entry->line, "invalid base IRI", entry->key);
    }
    return STATUS_OK;
}

static enum status
take_vocab(struct jsonld *jsonld, struct context_build *build, const struct json *entry)
{
    struct jsonld_context *context = build->context;
    if (entry->kind == JSON_NULL) {
        context->vocab = (struct slice){NULL, 0};
        return STATUS_OK;
    }
    if (entry->kind != JSON_STRING || (jsonld->options->mode_1_0 && !jsonld_is_iri(entry->text) &&
                                       !jsonld_is_blank(entry->text))) {
        return jsonld_error(jsonld, entry->line, "invalid vocab mapping",
                            SLICE("@vocab must be an IRI"));
    }
    struct slice vocab;
    TRY(jsonld_iri(jsonld, context, NULL, entry->text, IRI_VOCAB | IRI_DOCUMENT, &vocab));
    if (vocab.at == NULL || jsonld_keyword(vocab) != KEYWORD_NOT) {
        return jsonld_error(jsonld, entry->line, "invalid vocab mapping", entry->text);
    }
    context->vocab = vocab;
    return STATUS_OK;
}

static enum status
take_language(struct jsonld *jsonld, struct context_build *build, const struct json *entry)
{
    if (entry->kind != JSON_NULL && entry->kind != JSON_STRING) {
        return jsonld_error(jsonld, entry->line, "invalid default language",
                            SLICE("@language must be a string or null"));
    }
    build->context->language = entry->kind == JSON_STRING ? entry->text : (struct slice){NULL, 0};
    return STATUS_OK;
}

static enum status
take_direction(struct jsonld *jsonld, struct context_build *build, const struct json *entry)
{
    if (jsonld->options->mode_1_0) {
        return jsonld_error(jsonld, entry->line, "invalid context entry", entry->key);
    }
    if (entry->kind != JSON_NULL &&
        (entry->kind != JSON_STRING ||
         (!slice_is(entry->text, "ltr") && !slice_is(entry->text, "rtl")))) {
        return jsonld_error(jsonld, entry->line, "invalid base direction",
                            SLICE("@direction must be \"ltr\", \"rtl\" or null"));
    }
    build->context->direction = entry->kind == JSON_STRING ? entry->text : (struct slice){NULL, 0};
    return STATUS_OK;
}

static enum status
take_propagate(struct jsonld *jsonld, struct context_build *build, const struct json *entry)
{
    (void)build;
    if (jsonld->options->mode_1_0) {
        return jsonld_error(jsonld, entry->line, "invalid context entry", entry->key);
    }
    return entry->kind == JSON_TRUE || entry->kind == JSON_FALSE
               ? STATUS_OK
               : jsonld_error(jsonld, entry->line, "invalid @propagate value",
                              SLICE("it must be true or false"));
}

static enum status
take_protected(struct jsonld *jsonld, struct context_build *build, const struct json *entry)
{
    if (entry->kind != JSON_TRUE && entry->kind != JSON_FALSE) {
        return jsonld_error(jsonld, entry->line, "invalid @protected value",
                            SLICE("it must be true or false"));
    }
    build->is_protected = entry->kind == JSON_TRUE;
    return STATUS_OK;
}

/* In the order of the algorithm. */
static const struct {
    const char *key;
    enum status (*take)(struct jsonld *, struct context_build *, const struct json *);
} entries[] = {{"@version", take_version},     {"@base", take_base},
               {"@vocab", take_vocab},         {"@language", take_language},
               {"@direction", take_direction}, {"@propagate", take_propagate},
               {"@protected", take_protected}};

static bool
is_context_keyword(struct slice key)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (slice_is(key, entries[i].key)) {
            return true;
        }
    }
    return slice_is(key, "@import");
}

static enum status
take_terms(struct jsonld *jsonld, struct context_build *build)
{
    own_table(jsonld, build);
    for (const struct json *entry = build->local->first; entry != NULL; entry = entry->next) {
        const bool keyword =
            entry->key.length > 0 && entry->key.at[0] == '@' && is_context_keyword(entry->key);
        if (!keyword) {
            TRY(jsonld_recover(jsonld, jsonld_define(jsonld, build, entry)));
        }
    }
    return STATUS_OK;
}

static enum status
take_definition(struct jsonld *jsonld, struct context_build *build, const struct json *local)
{
    const struct context_build outer = *build;
    TRY(import(jsonld, build, &local));
    build->is_protected = false;
    build->local = local;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const struct json *entry = json_get(local, slice_string(entries[i].key));
        if (entry != NULL) {
            TRY(jsonld_recover(jsonld, entries[i].take(jsonld, build, entry)));
        }
    }
    uint8_t at_hand[STATES_AT_HAND] = {0};
    build->states =
        local->count <= STATES_AT_HAND ? at_hand : arena_zero(build->arena, local->count);
    const enum status status = take_terms(jsonld, build);
    build->is_protected = outer.is_protected;
    build->local = outer.local;
    build->states = outer.states;
    return status;
}

enum status
jsonld_build(struct jsonld *jsonld, struct context_build *build, const struct json *local)
{
    const struct json *item = local->kind == JSON_ARRAY ? local->first : local;
    while (item != NULL) {
        TRY(jsonld_step(jsonld));
        switch (item->kind) {
        case JSON_NULL:
            TRY(nullify(jsonld, build, item));
            break;
        case JSON_STRING:
            TRY(take_remote(jsonld, build, item));
            break;
        case JSON_OBJECT:
            TRY(take_definition(jsonld, build, item));
            break;
        default:
            return jsonld_error(jsonld, item->line, "invalid local context",
                                SLICE("a context is an object, an IRI or null"));
        }
        item = local->kind == JSON_ARRAY ? item->next : NULL;
    }
    return STATUS_OK;
}

/* ---- from expansion ---- */

/* Finds where it is, or where it is to be put: then *found is false. */
static struct processed_context **
find_processed(struct jsonld *jsonld, const struct processed_context *key, bool *found)
{
    *found = true;
    if (jsonld->processed == NULL) {
        jsonld->processed =
            arena_zero(&jsonld->memory, PROCESSED_SLOTS * sizeof *jsonld->processed);
    }
    struct processed_context **at = &jsonld->processed[key->hash % PROCESSED_SLOTS];
    for (unsigned tried = 0; *at != NULL && tried < 16; at = &(*at)->next, tried++) {
        const struct processed_context *old = *at;
        if (old->hash == key->hash && old->active == key->active &&
            old->flags.override_protected == key->flags.override_protected &&
            old->flags.no_propagation == key->flags.no_propagation &&
            slice_equal(old->base_url, key->base_url) &&
            (old->local == key->local || json_same(old->local, key->local))) {
            return at;
        }
    }
    *found = false;
    return at;
}

/* @propagate of the local context, else the caller's wish. */
static bool
propagates(const struct json *local, struct context_flags flags)
{
    const struct json *entry = json_get(local, SLICE("@propagate"));
    return entry != NULL ? entry->kind != JSON_FALSE : !flags.no_propagation;
}

enum status
jsonld_process(struct jsonld *jsonld, const struct jsonld_context *active, const struct json *local,
               struct slice base_url, struct context_flags flags,
               const struct jsonld_context **result)
{
    struct processed_context key = {
        .active = active, .local = local, .base_url = base_url, .flags = flags};
    key.hash = json_hash(local) ^ (uintptr_t)active >> 4;
    TRY(jsonld_step(jsonld));
    bool found;
    struct processed_context **at = find_processed(jsonld, &key, &found);
    if (found) {
        *result = (*at)->result;
        return STATUS_OK;
    }
    struct jsonld_context *context = arena_alloc(&jsonld->memory, sizeof *context);
    *context = *active;
    const bool propagate = propagates(local, flags);
    if (!propagate && context->previous == NULL) {
        context->previous = active;
    }
    struct context_build build = {.context = context,
                                  .arena = &jsonld->memory,
                                  .base_url = base_url,
                                  .override_protected = flags.override_protected,
                                  .propagate = propagate};
    struct arena *strings = jsonld->strings;
    jsonld->strings = &jsonld->memory;
    const enum status status = jsonld_build(jsonld, &build, local);
    jsonld->strings = strings;
    if (status != STATUS_OK) {
        return status;
    }
    struct processed_context *entry = arena_alloc(&jsonld->memory, sizeof *entry);
    *entry = key;
    entry->result = *result = context;
    entry->next = *at;
    *at = entry;
    return STATUS_OK;
}
