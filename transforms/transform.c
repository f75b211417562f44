#include "transforms/transform.h"

#include <stdlib.h>

#include "base/memory.h"
#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "rdf/jsonld/jsonld_link.h"
#include "transforms/common/contexts.h"
#include "transforms/common/unpack.h"
#include "transforms/core/builtins.h"
#include "transforms/core/transformation.h"
#include "transforms/html/profile.h"
#include "transforms/xml/xml.h"
#include "transforms/xml/xml_peek.h"
#include "transforms/xslt/grddl.h"

enum { PEEK_BYTES = 64 << 10 };

struct transformer {
    struct registry *registry;
    struct transformation transformation;
    struct buf peek_memory;
};

/* ---- preparing ---- */

static enum status
prepare(struct transform *transform, struct reason *why)
{
    if (transform->kind == TRANSFORM_XSLT && !transform->prepared) {
        return stylesheet_open(transform->argument, &transform->prepared, why);
    }
    if (transform->kind == TRANSFORM_BUILTIN && !builtin_exists(transform->argument)) {
        return status_fail(why, STATUS_MISUSE, "transform %s: no builtin is called %s",
                           transform->name, transform->argument);
    }
    return STATUS_OK;
}

/* Loads from the folder of the registry that comes with the program. */
static enum status
load_beside(const struct registry *registry, const char *name,
            enum status load(const char *path, struct reason *why), struct reason *why)
{
    struct buf path;
    if (!registry_folder(registry)) {
        return STATUS_OK;
    }
    buf_init(&path, 4096);
    buf_printf(&path, "%s/%s", registry_folder(registry), name);
    const enum status status = load(path.data, why);
    buf_release(&path);
    return status;
}

enum status
transformer_new(struct transformer **transformer, struct registry *registry,
                const struct transform_limits *limits, struct reason *why)
{
    xml_prepare();
    builtin_pdf_prepare();
    stylesheets_prepare();
    TRY(load_beside(registry, "contexts", contexts_load, why));
    TRY(load_beside(registry, "grddl-allowed", grddl_allow, why));
    for (size_t i = 0; i < registry_count(registry); i++) {
        struct transform *transform = registry_transform(registry, i);
        if (!transform->off) {
            TRY(prepare(transform, why));
        }
    }
    *transformer = memory_new(sizeof **transformer);
    (*transformer)->registry = registry;
    transformation_init(&(*transformer)->transformation, limits);
    buf_init(&(*transformer)->peek_memory, 64 << 10);
    return STATUS_OK;
}

void
transformer_free(struct transformer *transformer)
{
    if (!transformer) {
        return;
    }
    for (size_t i = 0; i < registry_count(transformer->registry); i++) {
        struct transform *transform = registry_transform(transformer->registry, i);
        stylesheet_close(transform->prepared);
        transform->prepared = NULL;
    }
    transformation_release(&transformer->transformation);
    buf_release(&transformer->peek_memory);
    free(transformer);
}

/* ---- running ---- */

size_t
transform_chain(struct registry *registry, const struct transform_request *request,
                struct buf *memory, struct transform *chain[REGISTRY_CHAIN])
{
    struct registry_subject subject = {.type = request->type};
    if (jsonld_is_plain_json(request->type) &&
        jsonld_links(request->link_header).context.length > 0) {
        subject.type = SLICE("application/ld+json");
    }
    if (request->link_header.length > 0) {
        subject.header = SLICE("link");
    }
    struct xml_peek peek;
    struct slice head = {request->bytes.at, request->bytes.length < PEEK_BYTES
                                                ? request->bytes.length
                                                : (size_t)PEEK_BYTES};
    struct buf unpacked;
    bool damaged;
    buf_init(&unpacked, PEEK_BYTES);
    const char *coding = unpack_coding_inside(request->bytes, request->type);
    if (coding && unpack_head(coding, head, &unpacked, &damaged)) {
        head = buf_slice(&unpacked);
    }
    if (xml_peek(head, memory, &peek)) {
        subject.root = peek.root;
        subject.namespace = peek.namespace;
    }
    struct arena arena;
    arena_init(&arena, PEEK_BYTES);
    if ((slice_is(subject.type, "text/html") || slice_is(subject.type, "application/xhtml+xml")) &&
        registry_wants_profile(registry)) {
        subject.profile = html_profile(head, &arena);
    }
    const size_t count = registry_match(registry, &subject, chain);
    arena_release(&arena);
    buf_release(&unpacked);
    return count;
}

static enum status
run_one(struct transformation *transformation, struct transform *transform, struct reason *why)
{
    transformation->transform = transform;
    switch (transform->kind) {
    case TRANSFORM_BUILTIN:
        return builtin_run(transformation, transform->argument, why);
    case TRANSFORM_RDF:
        return rdf_run(transformation, transform->argument, why);
    case TRANSFORM_XSLT:
        return stylesheet_run(transformation, transform->prepared, why);
    case TRANSFORM_PROGRAM:
        return program_run(transformation, transform->argument, why);
    }
    return STATUS_OK;
}

static enum status
run_chain(struct transformation *transformation, struct transform **chain, size_t count,
          struct transform_result *result, struct reason *why)
{
    for (size_t i = 0; i < count; i++) {
        struct reason problem;
        transformation->source = (uint16_t)(i + 1);
        if (i > 0) {
            transformation_scope(transformation);
        }
        const enum status status = run_one(transformation, chain[i], &problem);
        if (status == STATUS_BAD_INPUT) {
            transformation_problem(transformation, 0, problem.text);
        } else if (status != STATUS_OK) {
            return status_fail(why, status, "%s: %s", chain[i]->name, problem.text);
        }
        buf_printf(&result->names, "%s%s/%s", i > 0 ? " " : "", chain[i]->name, chain[i]->version);
    }
    return STATUS_OK;
}

/* ---- what is said of the result ---- */

/* The graph is sorted; quads said twice are still there twice. */
static void
account(struct transformation *transformation, struct transform **chain, size_t count,
        struct transform_result *result)
{
    struct graph *graph = &transformation->graph;
    uint64_t quads[REGISTRY_CHAIN + 1] = {0};
    for (size_t i = 0; i < graph->count; i++) {
        const struct quad *quad = &graph->quads[i], *before = i > 0 ? quad - 1 : NULL;
        if (!before || before->source != quad->source || quad_compare(before, quad) != 0) {
            quads[quad->source]++;
        }
        if (transformation->request->explain) {
            const struct transform *transform = chain[quad->source - 1];
            buf_printf(&result->explanation, "%s/%s\t%u\t", transform->name, transform->version,
                       (unsigned)quad->line);
            nquads_write(&result->explanation, quad);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (quads[i + 1] > 0) {
            buf_printf(&result->counts, "%s%s %llu", result->counts.length > 0 ? " " : "",
                       chain[i]->name, (unsigned long long)quads[i + 1]);
        }
    }
    for (size_t i = 0; i < transformation->repair_count; i++) {
        buf_printf(
            &result->repairs, "%s: %s: %llu\n", chain[transformation->repairs[i].source - 1]->name,
            transformation->repairs[i].what, (unsigned long long)transformation->repairs[i].count);
    }
}

static enum status
write_graph(struct transformation *transformation, struct transform **chain, size_t count,
            struct transform_result *result, struct reason *why)
{
    struct graph *graph = &transformation->graph;
    TRY(graph_relabel(graph, buf_slice(&transformation->iri), transformation->limits.canonical_work,
                      &result->canonical, why));
    graph_sort(graph);
    account(transformation, chain, count, result);
    graph_unique(graph);
    for (size_t i = 0; i < graph->count && !result->graph.overflowed; i++) {
        nquads_write(&result->graph, &graph->quads[i]);
    }
    if (result->graph.overflowed) {
        return status_fail(why, STATUS_LIMIT, "the graph passes %zu bytes of N-Quads",
                           result->graph.maximum);
    }
    result->quads = graph->count;
    return STATUS_OK;
}

enum status
transform_run(struct transformer *transformer, const struct transform_request *request,
              struct transform_result *result, struct reason *why)
{
    struct transform *chain[REGISTRY_CHAIN];
    struct transformation *transformation = &transformer->transformation;
    buf_reset(&result->graph);
    buf_reset(&result->names);
    buf_reset(&result->problems);
    buf_reset(&result->counts);
    buf_reset(&result->repairs);
    buf_reset(&result->advice);
    buf_reset(&result->needs);
    buf_reset(&result->explanation);
    result->state = TRANSFORM_NONE;
    result->quads = result->problem_count = 0;
    result->canonical = true;
    const size_t count =
        transform_chain(transformer->registry, request, &transformer->peek_memory, chain);
    if (count == 0) {
        return STATUS_OK;
    }
    enum status status = transformation_begin(transformation, request, result, why);
    if (status == STATUS_OK) {
        status = transformation_unpack(transformation, why);
    }
    if (status == STATUS_OK) {
        status = run_chain(transformation, chain, count, result, why);
    }
    if (status == STATUS_OK) {
        status = transformation_waits(transformation)
                     ? STATUS_OK
                     : write_graph(transformation, chain, count, result, why);
    }
    result->state = transformation_waits(transformation) ? TRANSFORM_WAITING
                    : result->problem_count == 0         ? TRANSFORM_WHOLE
                    : result->quads > 0                  ? TRANSFORM_PART
                                                         : TRANSFORM_BROKEN;
    transformation_end(transformation);
    return status;
}
