#include "transforms/embedded/jsonld_builtin.h"

#include "base/url/url.h"
#include "rdf/json/json.h"
#include "rdf/jsonld/jsonld.h"
#include "rdf/jsonld/jsonld_link.h"
#include "transforms/common/contexts.h"
#include "transforms/core/builtins.h"

enum { BASE_MAXIMUM = 64 << 10 };

/* ---- pages ---- */

/* Tidy and XML may cut a script's text into pieces. */
static struct slice
script_text(const struct html_tree *tree, uint32_t element)
{
    const uint32_t end = tree->nodes[element].end;
    size_t length = 0;
    if (element + 1 == end) {
        return SLICE("");
    }
    if (element + 2 == end) {
        return tree->nodes[element + 1].text;
    }
    for (uint32_t i = element + 1; i < end; i++) {
        length += tree->nodes[i].kind == HTML_TEXT ? tree->nodes[i].text.length : 0;
    }
    char *joined = arena_alloc(tree->arena, length + 1), *at = joined;
    for (uint32_t i = element + 1; joined != NULL && i < end; i++) {
        if (tree->nodes[i].kind == HTML_TEXT && tree->nodes[i].text.length > 0) {
            memcpy(at, tree->nodes[i].text.at, tree->nodes[i].text.length);
            at += tree->nodes[i].text.length;
        }
    }
    return joined != NULL ? slice_of(joined, length) : SLICE("");
}

uint32_t
jsonld_script(const struct html_tree *tree, uint32_t from, struct slice *text)
{
    for (uint32_t i = from; i < tree->node_count; i++) {
        struct slice type;
        if (tree->nodes[i].kind == HTML_ELEMENT && tree->nodes[i].element == HTML_SCRIPT &&
            html_attribute(tree, i, "type", &type) && jsonld_is_json_ld(type)) {
            *text = script_text(tree, i);
            return i;
        }
    }
    return UINT32_MAX;
}

struct slice
jsonld_page_base(const struct html_tree *tree, struct slice document, struct buf *memory)
{
    for (uint32_t i = 0; i < tree->node_count; i++) {
        struct slice href;
        if (tree->nodes[i].kind == HTML_ELEMENT && tree->nodes[i].element == HTML_BASE &&
            html_attribute(tree, i, "href", &href)) {
            buf_reset(memory);
            return iri_resolve(document, slice_trim(href), memory, NULL) == STATUS_OK
                       ? buf_slice(memory)
                       : document;
        }
    }
    return document;
}

/* ---- contexts ---- */

struct reading {
    struct transformation *transformation;
    struct quad_sink sink; /* the graph's */
    bool sink_failed;      /* its limit, not one of the text's */
    struct buf memory;     /* for a resolved URI */
};

/* Takes what a resource holds, in the end. */
static enum status
take_resource(struct reading *reading, struct slice url, struct jsonld_remote *remote,
              const struct transform_resource **found, struct reason *why)
{
    if (contexts_pinned(url, &remote->bytes)) {
        remote->fixed = true;
        return STATUS_OK;
    }
    *found = transformation_resource(reading->transformation, url);
    if (*found == NULL) {
        return transformation_waits(reading->transformation)
                   ? status_fail(why, STATUS_AGAIN, "waiting for %.*s", SLICE_PRINT(url))
                   : status_fail(why, STATUS_NOT_FOUND, "it is not at hand");
    }
    if ((*found)->failure.length > 0) {
        return status_fail(why, STATUS_NOT_FOUND, "%.*s", SLICE_PRINT((*found)->failure));
    }
    remote->bytes = (*found)->bytes;
    remote->document_uri = (*found)->document_uri;
    return STATUS_OK;
}

/* "schema.org" and "http//schema.org" are relative and mean what they say all the same: their last
 * part is a pinned context's IRI without its scheme. */
static bool
is_pinned_without_scheme(struct reading *reading, struct slice url, struct jsonld_remote *remote)
{
    while (url.length > 0 && url.at[url.length - 1] == '/') {
        url.length--;
    }
    const char *slash = memrchr(url.at, '/', url.length);
    if (slash == NULL || slash == url.at || slash[-1] == '/') {
        return false;
    }
    const struct slice last = slice_of(slash + 1, (size_t)(url.at + url.length - slash - 1));
    if (slice_find(last, '.') == last.length || !contexts_pinned(last, &remote->bytes)) {
        return false;
    }
    transformation_repair(reading->transformation, "context's IRI without a scheme", 1);
    return true;
}

static bool
is_json(struct slice content_type)
{
    return jsonld_is_json_ld(content_type) || jsonld_is_plain_json(content_type);
}

/* A context document. A page may say where its context is, as schema.org does. */
static enum status
load(void *context, struct slice url, struct jsonld_remote *remote, struct reason *why)
{
    struct reading *reading = context;
    const struct transform_resource *resource = NULL;
    if (is_pinned_without_scheme(reading, url, remote)) {
        return STATUS_OK;
    }
    TRY(take_resource(reading, url, remote, &resource, why));
    if (resource == NULL || is_json(resource->content_type)) {
        return STATUS_OK;
    }
    const struct slice alternate = jsonld_links(resource->link_header).alternate;
    const struct slice base =
        resource->document_uri.length > 0 ? resource->document_uri : resource->uri;
    buf_reset(&reading->memory);
    if (alternate.length == 0 ||
        iri_resolve(base, alternate, &reading->memory, NULL) != STATUS_OK) {
        return STATUS_OK; /* served with another type than it has */
    }
    const struct slice other = buf_slice(&reading->memory);
    TRY(take_resource(reading, other, remote, &resource, why));
    if (remote->document_uri.length == 0) {
        remote->document_uri = arena_copy(&reading->transformation->arena, other);
    }
    return STATUS_OK;
}

/* ---- one text ---- */

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct reading *reading = context;
    const enum status status = reading->sink.quad(reading->sink.context, quad, why);
    reading->sink_failed = status != STATUS_OK;
    return status;
}

static void
report_repairs(struct transformation *transformation, const uint64_t repairs[JSON_REPAIR_COUNT])
{
    for (int i = 0; i < JSON_REPAIR_COUNT; i++) {
        transformation_repair(transformation, json_repair_text((enum json_repair)i), repairs[i]);
    }
}

/* A text of JSON-LD. What is wrong with it costs only itself: *good false. */
static enum status
read_text(struct reading *reading, struct slice text, struct jsonld_options *options, bool *good,
          struct reason *why)
{
    struct transformation *transformation = reading->transformation;
    uint64_t repairs[JSON_REPAIR_COUNT] = {0};
    struct reason problem;
    const struct quad_sink sink = {.quad = take_quad, .context = reading};
    if (transformation->jsonld == NULL) {
        transformation->jsonld = jsonld_contexts_new();
    }
    options->parse.lenient = true;
    options->parse.problems = transformation_problems(transformation);
    options->loader = (struct jsonld_loader){.load = load, .context = reading};
    options->contexts = transformation->jsonld;
    options->memory = transformation->limits.memory;
    options->repairs = repairs;
    const enum status status = jsonld_read(text, options, &sink, &problem);
    report_repairs(transformation, repairs);
    *good = status == STATUS_OK || status == STATUS_AGAIN;
    if (*good) {
        return STATUS_OK;
    }
    if (reading->sink_failed || (status != STATUS_BAD_INPUT && status != STATUS_LIMIT)) {
        return status_fail(why, status, "%s", problem.text);
    }
    transformation_problem(transformation, 0, problem.text);
    return STATUS_OK;
}

/* ---- documents ---- */

static enum status
read_scripts(struct reading *reading, struct reason *why)
{
    struct transformation *transformation = reading->transformation;
    const struct html_tree *tree = &transformation->tree;
    struct slice text;
    struct buf base;
    uint64_t labels = 0;
    enum status status = STATUS_OK;
    buf_init(&base, BASE_MAXIMUM);
    struct jsonld_options options = {.labels = &labels};
    options.parse.base = jsonld_page_base(tree, buf_slice(&transformation->iri), &base);
    for (uint32_t node = jsonld_script(tree, 0, &text); node != UINT32_MAX && status == STATUS_OK;
         node = jsonld_script(tree, node + 1, &text)) {
        bool good;
        const uint32_t inside = node + 1 < tree->nodes[node].end ? node + 1 : node;
        options.line = html_line(tree, inside);
        if (slice_trim(text).length == 0) {
            transformation_problem(transformation, options.line,
                                   "the script element of JSON-LD is empty");
            continue;
        }
        status = read_text(reading, text, &options, &good, why);
    }
    buf_release(&base);
    return status;
}

/* The JSON-LD that the page's header says is the same. */
static enum status
read_alternate(struct reading *reading, struct reason *why)
{
    struct transformation *transformation = reading->transformation;
    const struct slice alternate = jsonld_links(transformation->request->link_header).alternate;
    struct buf url;
    struct reason problem;
    enum status status = STATUS_OK;
    buf_init(&url, BASE_MAXIMUM);
    if (alternate.length > 0 &&
        iri_resolve(buf_slice(&transformation->iri), alternate, &url, NULL) == STATUS_OK &&
        !slice_equal(buf_slice(&url), buf_slice(&transformation->iri))) {
        const struct transform_resource *resource = NULL;
        struct jsonld_remote remote = {.fixed = false};
        status = take_resource(reading, buf_slice(&url), &remote, &resource, &problem);
        if (status == STATUS_OK) {
            bool good;
            struct jsonld_options options = {.parse = {.base = buf_slice(&url)}};
            if (remote.document_uri.length > 0) {
                options.parse.base = remote.document_uri;
            }
            status = read_text(reading, remote.bytes, &options, &good, why);
        } else if (status == STATUS_NOT_FOUND) {
            struct reason what;
            status_fail(&what, status, "alternate %.300s: %.150s", url.data, problem.text);
            transformation_problem(transformation, 0, what.text);
        }
    }
    buf_release(&url);
    return status == STATUS_AGAIN || status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status
read_page(struct reading *reading, struct reason *why)
{
    struct transformation *transformation = reading->transformation;
    TRY(read_alternate(reading, why));
    TRY(transformation_html(transformation, why));
    return transformation_html_features(transformation) & HTML_HAS_JSON_LD
               ? read_scripts(reading, why)
               : STATUS_OK;
}

static enum status
read_document(struct reading *reading, struct reason *why)
{
    struct transformation *transformation = reading->transformation;
    struct jsonld_options options = {.parse = {.base = buf_slice(&transformation->iri)}};
    struct slice text;
    struct buf url;
    bool good = true;
    TRY(transformation_text(transformation, TEXT_UTF8, &text, why));
    buf_init(&url, BASE_MAXIMUM);
    if (!jsonld_is_json_ld(transformation->request->type)) {
        const struct jsonld_links links = jsonld_links(transformation->request->link_header);
        if (links.several_contexts) {
            transformation_problem(transformation, 0, "multiple context link headers: one is used");
        }
        if (links.context.length > 0 &&
            iri_resolve(options.parse.base, links.context, &url, NULL) == STATUS_OK) {
            options.context_url = buf_slice(&url);
        }
    }
    const enum status status = read_text(reading, text, &options, &good, why);
    buf_release(&url);
    return status == STATUS_OK && !good
               ? status_fail(why, STATUS_BAD_INPUT, "nothing could be read as JSON-LD")
               : status;
}

enum status
builtin_jsonld(struct transformation *transformation, struct reason *why)
{
    const struct slice type = transformation->request->type;
    struct reading reading = {.transformation = transformation,
                              .sink = transformation_sink(transformation)};
    buf_init(&reading.memory, BASE_MAXIMUM);
    const enum status status =
        slice_is(type, "text/html") || slice_is(type, "application/xhtml+xml")
            ? read_page(&reading, why)
            : read_document(&reading, why);
    buf_release(&reading.memory);
    return status;
}
