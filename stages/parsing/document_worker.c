#include "stages/parsing/document_worker.h"
#include "transforms/transform.h"

#include <magic.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/log.h"
#include "stages/sandbox/landlock.h"
#include "transforms/common/contexts.h"
#include "transforms/xslt/grddl.h"

enum { VERB_MAGIC = 1, VERB_TRANSFORM = 2, PATH_BYTES = 4096, MAGIC_HEAD = 16 << 10 };
enum {
    WORKER_JOBS = 10000, /* then it is replaced by a fresh one, whatever it has leaked */
    WALL_FACTOR = 6,     /* of transform.cpu */
    WALL_LEAST_MS = 5000,
    /* No page of the test web needs more than 5 MB and 0.2 s, and some of 150 bytes would take all.
     */
    TIDY_MEMORY_SHARE = 8,  /* of transform.memory */
    TIDY_CPU_SHARE = 10,    /* of transform.cpu */
    CANONICAL_WORK = 100000 /* steps; past it labels follow the order of appearance */
};

/* ---- in fork server and workers ---- */

struct settings {
    struct slice directory, registry;
    struct transform_limits limits;
    unsigned work;
};

struct prepared {
    struct registry *registry;
    struct transformer *transformer;
    struct transform_result result;
    magic_t magic;
};

/* How long a document may take by the clock. */
static uint64_t
wall_ms(const struct opt_set *options)
{
    const uint64_t ms = WALL_FACTOR * opt_duration_ms(options, "transform.cpu");
    return ms > WALL_LEAST_MS ? ms : WALL_LEAST_MS;
}

static void
encode_settings(struct buf *out, const struct opt_set *options, const char *directory,
                unsigned work)
{
    codec_put_slice(out, slice_string(directory ? directory : ""));
    codec_put_slice(out, slice_string(opt_string(options, "transform.registry")));
    codec_put_u64(out, (uint64_t)opt_integer(options, "transform.memory"));
    codec_put_u64(out, transform_output_maximum(options));
    codec_put_u64(out, CANONICAL_WORK);
    codec_put_u64(out, opt_duration_ms(options, "transform.cpu"));
    codec_put_u64(out, wall_ms(options) / 2);
    codec_put_u64(out, (uint64_t)opt_integer(options, "transform.memory") / TIDY_MEMORY_SHARE);
    codec_put_u64(out, opt_duration_ms(options, "transform.cpu") / TIDY_CPU_SHARE);
    codec_put_u8(out, (uint8_t)work);
}

static enum status
decode_settings(struct slice bytes, struct settings *settings, struct reason *why)
{
    struct codec_reader reader = codec_reader_of(bytes);
    settings->directory = codec_get_slice(&reader);
    settings->registry = codec_get_slice(&reader);
    settings->limits.memory = codec_get_u64(&reader);
    settings->limits.output = codec_get_u64(&reader);
    settings->limits.canonical_work = codec_get_u64(&reader);
    settings->limits.program_cpu_ms = codec_get_u64(&reader);
    settings->limits.program_ms = codec_get_u64(&reader);
    settings->limits.tidy.memory = codec_get_u64(&reader);
    settings->limits.tidy.cpu_ms = codec_get_u64(&reader);
    settings->limits.enter_cage = sandbox_enter_program;
    settings->work = codec_get_u8(&reader);
    return codec_at_end(&reader)
               ? STATUS_OK
               : status_fail(why, STATUS_PROTOCOL, "the workers' settings are malformed");
}

static enum status
read_registries(struct registry *registry, struct slice directory, struct slice extra,
                struct reason *why)
{
    char path[PATH_BYTES];
    TRY(registry_read_default(registry, why));
    if (directory.length > 0) {
        snprintf(path, sizeof path, "%.*s/transforms/registry", SLICE_PRINT(directory));
        if (access(path, F_OK) == 0) {
            TRY(registry_read(registry, path, why));
        }
    }
    if (extra.length > 0) {
        snprintf(path, sizeof path, "%.*s", SLICE_PRINT(extra));
        TRY(registry_read(registry, path, why));
    }
    return STATUS_OK;
}

/* After those that come with the program, which they may replace. */
static enum status
load_own_contexts(struct slice directory, struct reason *why)
{
    char path[PATH_BYTES];
    if (directory.length == 0) {
        return STATUS_OK;
    }
    snprintf(path, sizeof path, "%.*s/transforms/grddl-allowed", SLICE_PRINT(directory));
    TRY(grddl_allow(path, why));
    snprintf(path, sizeof path, "%.*s/transforms/contexts", SLICE_PRINT(directory));
    return contexts_load(path, why);
}

static enum status
prepare_magic(struct prepared *prepared, struct reason *why)
{
    prepared->magic = magic_open(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_TAR |
                                 MAGIC_NO_CHECK_CDF | MAGIC_NO_CHECK_ELF);
    if (!prepared->magic || magic_load(prepared->magic, NULL) != 0) {
        return status_fail(why, STATUS_SYSTEM, "libmagic cannot load its rules: %s",
                           prepared->magic ? magic_error(prepared->magic) : "no memory");
    }
    return STATUS_OK;
}

static enum status
prepare(struct slice configuration, void **context, struct reason *why)
{
    struct settings settings;
    TRY(decode_settings(configuration, &settings, why));
    struct prepared *prepared = memory_new(sizeof *prepared);
    if (settings.work & DOCUMENT_DETECTION) {
        TRY(prepare_magic(prepared, why));
    }
    if (settings.work & DOCUMENT_TRANSFORM) {
        prepared->registry = registry_new();
        TRY(read_registries(prepared->registry, settings.directory, settings.registry, why));
        TRY(transformer_new(&prepared->transformer, prepared->registry, &settings.limits, why));
        TRY(load_own_contexts(settings.directory, why));
        transform_result_init(&prepared->result, settings.limits.output);
    }
    *context = prepared;
    return STATUS_OK;
}

static size_t
decode_resources(struct codec_reader *reader,
                 struct transform_resource resources[TRANSFORM_RESOURCES])
{
    const uint64_t count = codec_get_varint(reader);
    reader->bad |= count > TRANSFORM_RESOURCES;
    for (uint64_t i = 0; i < count && !reader->bad; i++) {
        struct transform_resource *resource = &resources[i];
        resource->uri = codec_get_slice(reader);
        resource->document_uri = codec_get_slice(reader);
        resource->content_type = codec_get_slice(reader);
        resource->link_header = codec_get_slice(reader);
        resource->bytes = codec_get_slice(reader);
        resource->failure = codec_get_slice(reader);
    }
    return reader->bad ? 0 : (size_t)count;
}

/* Returns what malloc has from the system. */
static uint64_t
memory_taken(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.arena + info.hblkhd;
}

static void
encode_result(const struct transform_result *result, struct buf *reply)
{
    codec_put_u8(reply, (uint8_t)result->state);
    codec_put_u8(reply, result->canonical);
    codec_put_varint(reply, result->quads);
    codec_put_varint(reply, result->problem_count);
    codec_put_varint(reply, memory_taken());
    codec_put_slice(reply, buf_slice(&result->names));
    codec_put_slice(reply, buf_slice(&result->problems));
    codec_put_slice(reply, buf_slice(&result->counts));
    codec_put_slice(reply, buf_slice(&result->repairs));
    codec_put_slice(reply, buf_slice(&result->advice));
    codec_put_slice(reply, buf_slice(&result->needs));
    codec_put_slice(reply, buf_slice(&result->explanation));
    codec_put_slice(reply, buf_slice(&result->graph));
}

static enum status
handle_transform(struct prepared *prepared, struct slice bytes, struct buf *reply,
                 struct reason *why)
{
    struct codec_reader reader = codec_reader_of(bytes);
    struct transform_resource resources[TRANSFORM_RESOURCES];
    struct transform_request request = {.resources = resources};
    struct transform_result *result = &prepared->result;
    request.careful = codec_get_u8(&reader);
    request.uri = codec_get_slice(&reader);
    request.type = codec_get_slice(&reader);
    request.charset = codec_get_slice(&reader);
    request.link_header = codec_get_slice(&reader);
    request.can_wait = codec_get_u8(&reader);
    request.explain = codec_get_u8(&reader);
    request.resource_count = decode_resources(&reader, resources);
    if (reader.bad || !prepared->transformer) {
        return status_fail(why, STATUS_PROTOCOL, "the request is malformed");
    }
    request.bytes = slice_of((const char *)reader.at, (size_t)(reader.end - reader.at));
    TRY(transform_run(prepared->transformer, &request, result, why));
    encode_result(result, reply);
    return reply->overflowed ? status_fail(why, STATUS_LIMIT, "the graph is too large") : STATUS_OK;
}

static enum status
handle(void *context, uint8_t verb, struct slice request, struct buf *reply, struct reason *why)
{
    struct prepared *prepared = context;
    if (verb == VERB_MAGIC && prepared->magic) {
        const char *type = magic_buffer(prepared->magic, request.at, request.length);
        buf_append_string(reply, type ? type : "");
        return STATUS_OK;
    }
    if (verb == VERB_TRANSFORM) {
        return handle_transform(prepared, request, reply, why);
    }
    return status_fail(why, STATUS_PROTOCOL, "the worker knows no request %u", verb);
}

const struct worker_program document_worker_program = {
    .name = "quadrille-work", .prepare = prepare, .handle = handle};

/* ---- in stages ---- */

struct document_workers {
    struct worker_pool *pool;
    struct registry *registry; /* NULL: it has neither external programs nor repair=tidy */
    bool programs;             /* it has external programs */
    bool uncaged;              /* programs cannot be run here as transform.landlock wants it */
    struct buf peek_memory;
    size_t input; /* most bytes of a document */
};

struct worker_pool *
document_workers_pool(const struct document_workers *workers)
{
    return workers->pool;
}

/* Holds what a document's transforms ask of the worker that runs them. */
struct needs {
    bool program, tidy;
};

static void
add_needs(struct needs *needs, const struct transform *transform)
{
    needs->program |= transform->kind == TRANSFORM_PROGRAM;
    needs->tidy |= transform->tidy;
}

static struct needs
needs_of_registry(struct registry *registry)
{
    struct needs needs = {false, false};
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct transform *transform = registry_transform(registry, i);
        if (!transform->off) {
            add_needs(&needs, transform);
        }
    }
    return needs;
}

static enum status
open_pool(struct document_workers *workers, struct fork_server *fork_server,
          const struct opt_set *options, const char *directory, unsigned work, struct reason *why)
{
    struct buf settings;
    buf_init(&settings, 32 << 10);
    encode_settings(&settings, options, directory, work);
    const bool transforms = work & DOCUMENT_TRANSFORM;
    const size_t input = (size_t)opt_integer(options, "transform.input");
    workers->input = input;
    const struct worker_limits limits = {
        .workers = 1,
        .program_workers = workers->programs ? 1 : 0,
        .request =
            (transforms ? input + transform_resources_maximum(options) : (size_t)MAGIC_HEAD) +
            (512 << 10),
        .reply = (transforms ? 2 * transform_output_maximum(options) : 0) + (512 << 10),
        .memory = (size_t)opt_integer(options, "transform.memory"),
        .cpu_ms = opt_duration_ms(options, "transform.cpu"),
        .wall_ms = wall_ms(options),
        .jobs = WORKER_JOBS};
    const enum status status =
        settings.overflowed
            ? status_fail(why, STATUS_LIMIT, "paths of directory and registry are too long")
            : worker_pool_open(&workers->pool, fork_server, &limits, buf_slice(&settings), why);
    buf_release(&settings);
    return status;
}

/* Says what of the programs' cage this kernel does not have. */
static void
look_at_cage(struct document_workers *workers, const struct opt_set *options)
{
    const int version = landlock_version();
    workers->uncaged = version == LANDLOCK_NONE &&
                       strcmp(opt_string(options, "transform.landlock"), "required") == 0;
    if (version == LANDLOCK_NONE) {
        log_warning("no_landlock", "effect=%s option=%s",
                    workers->uncaged ? "external programs are not started"
                                     : "external programs can read what this user can",
                    "transform.landlock");
    } else if (version < LANDLOCK_SCOPES) {
        log_info("landlock", "version=%d effect=%s", version,
                 "truncating, TCP or signals are stopped by seccomp alone");
    }
}

enum status
document_workers_open(struct document_workers **result, struct fork_server *fork_server,
                      const struct opt_set *options, const char *directory, unsigned work,
                      struct reason *why)
{
    struct document_workers *workers = memory_new(sizeof *workers);
    enum status status = STATUS_OK;
    buf_init(&workers->peek_memory, 64 << 10);
    if (work & DOCUMENT_TRANSFORM) {
        status = document_registry_open(&workers->registry, options, directory, why);
    }
    if (status == STATUS_OK && workers->registry) {
        const struct needs needs = needs_of_registry(workers->registry);
        workers->programs = needs.program;
        if (!needs.program && !needs.tidy) {
            registry_free(workers->registry);
            workers->registry = NULL;
        }
    }
    if (status == STATUS_OK && workers->programs) {
        look_at_cage(workers, options);
    }
    if (status == STATUS_OK) {
        status = open_pool(workers, fork_server, options, directory, work, why);
    }
    if (status != STATUS_OK) {
        document_workers_close(workers);
        workers = NULL;
    }
    *result = workers;
    return status;
}

void
document_workers_close(struct document_workers *workers)
{
    if (!workers) {
        return;
    }
    worker_pool_close(workers->pool);
    registry_free(workers->registry);
    buf_release(&workers->peek_memory);
    free(workers);
}

static struct needs
needs_of_document(struct document_workers *workers, const struct transform_request *request)
{
    struct transform *chain[REGISTRY_CHAIN];
    struct needs needs = {false, false};
    const size_t count = workers->registry ? transform_chain(workers->registry, request,
                                                             &workers->peek_memory, chain)
                                           : 0;
    for (size_t i = 0; i < count; i++) {
        add_needs(&needs, chain[i]);
    }
    return needs;
}

enum status
document_registry_open(struct registry **registry, const struct opt_set *options,
                       const char *directory, struct reason *why)
{
    *registry = registry_new();
    return read_registries(*registry, slice_string(directory ? directory : ""),
                           slice_string(opt_string(options, "transform.registry")), why);
}

void
document_submit_magic(struct document_workers *workers, struct slice head, worker_done *done,
                      void *context)
{
    head.length = head.length < MAGIC_HEAD ? head.length : MAGIC_HEAD;
    worker_submit(workers->pool, SANDBOX_PARSER, VERB_MAGIC, &head, 1, done, context);
}

static void
encode_request(const struct transform_request *request, struct buf *header)
{
    buf_reset(header);
    codec_put_u8(header, request->careful); /* first: see make_careful */
    codec_put_slice(header, request->uri);
    codec_put_slice(header, request->type);
    codec_put_slice(header, request->charset);
    codec_put_slice(header, request->link_header);
    codec_put_u8(header, request->can_wait);
    codec_put_u8(header, request->explain);
    codec_put_varint(header, request->resource_count);
    for (size_t i = 0; i < request->resource_count; i++) {
        const struct transform_resource *resource = &request->resources[i];
        codec_put_slice(header, resource->uri);
        codec_put_slice(header, resource->document_uri);
        codec_put_slice(header, resource->content_type);
        codec_put_slice(header, resource->link_header);
        codec_put_slice(header, resource->bytes);
        codec_put_slice(header, resource->failure);
    }
}

/* A document on its way to a worker. */
struct errand {
    struct document_workers *workers;
    struct buf *header;
    struct slice bytes;
    enum sandbox_policy policy;
    bool tidy; /* it may be Tidy's fault when the worker dies: then once more without */
    worker_done *done;
    void *context;
};

/* Tells whether the request can be worked on, and how. The pool's limit of length has room for
 * resources too. */
static enum status
admit(struct document_workers *workers, const struct transform_request *request,
      struct errand *errand, struct reason *why)
{
    if (request->bytes.length > workers->input) {
        return status_fail(why, STATUS_LIMIT,
                           "%zu bytes are more than the limit of %zu (transform.input)",
                           request->bytes.length, workers->input);
    }
    const struct needs needs = needs_of_document(workers, request);
    errand->workers = workers;
    errand->bytes = request->bytes;
    errand->policy = needs.program ? SANDBOX_PROGRAM : SANDBOX_PARSER;
    errand->tidy = needs.tidy && !request->careful;
    return needs.program && workers->uncaged
               ? status_fail(why, STATUS_UNSUPPORTED,
                             "this kernel has no Landlock, without which no external program is "
                             "started: see transform.landlock")
               : STATUS_OK;
}

static void
submit(const struct errand *errand, worker_done *done, void *context)
{
    const struct slice pieces[] = {buf_slice(errand->header), errand->bytes};
    worker_submit(errand->workers->pool, errand->policy, VERB_TRANSFORM, pieces, 2, done, context);
}

/* Makes the encoded request careful. */
static void
make_careful(const struct errand *errand, const struct reason *why)
{
    log_warning("tidy_died", "error=%s effect=%s", why->text, "the page is read by our own parser");
    errand->header->data[0] = 1;
}

static void
take_first_answer(void *context, const struct worker_answer *answer)
{
    struct errand *errand = context;
    if (answer->died) {
        make_careful(errand, answer->why);
        submit(errand, errand->done, errand->context);
    } else {
        errand->done(errand->context, answer);
    }
    free(errand);
}

void
document_submit_transform(struct document_workers *workers, const struct transform_request *request,
                          struct buf *header, worker_done *done, void *context)
{
    struct reason why;
    struct errand errand = {.header = header, .done = done, .context = context};
    const struct worker_answer answer = {.status = admit(workers, request, &errand, &why),
                                         .why = &why};
    if (answer.status != STATUS_OK) {
        done(context, &answer);
        return;
    }
    encode_request(request, header);
    if (errand.tidy) {
        struct errand *kept = memory_alloc(sizeof *kept);
        *kept = errand;
        submit(kept, take_first_answer, kept);
    } else {
        submit(&errand, done, context);
    }
}

bool
document_outcome_decode(struct slice reply, struct document_outcome *outcome)
{
    struct codec_reader reader = codec_reader_of(reply);
    const uint8_t state = codec_get_u8(&reader);
    outcome->canonical = codec_get_u8(&reader);
    outcome->quads = codec_get_varint(&reader);
    outcome->problem_count = codec_get_varint(&reader);
    outcome->memory = codec_get_varint(&reader);
    outcome->names = codec_get_slice(&reader);
    outcome->problems = codec_get_slice(&reader);
    outcome->counts = codec_get_slice(&reader);
    outcome->repairs = codec_get_slice(&reader);
    outcome->advice = codec_get_slice(&reader);
    outcome->needs = codec_get_slice(&reader);
    outcome->explanation = codec_get_slice(&reader);
    outcome->graph = codec_get_slice(&reader);
    outcome->state = (enum transform_state)state;
    return codec_at_end(&reader) && state <= TRANSFORM_WAITING;
}

/* ---- by hand ---- */

enum status
detect_bytes(const struct opt_set *options, const struct detect_input *input,
             struct detection *detection, struct reason *why)
{
    struct detector detector;
    detector_init(&detector);
    detect(&detector, input, detection);
    detector_release(&detector);
    if (!detection->undecided) {
        return STATUS_OK;
    }
    struct fork_server *fork_server = fork_server_start(&document_worker_program);
    struct document_workers *workers = NULL;
    struct buf reply;
    buf_init(&reply, 64 << 10);
    enum status status =
        document_workers_open(&workers, fork_server, options, NULL, DOCUMENT_DETECTION, why);
    if (status == STATUS_OK) {
        struct slice head = input->bytes;
        head.length = head.length < MAGIC_HEAD ? head.length : MAGIC_HEAD;
        status =
            worker_call(workers->pool, SANDBOX_PARSER, VERB_MAGIC, &head, 1, &reply, NULL, why);
    }
    if (status == STATUS_OK) {
        detect_settle(buf_slice(&reply), detection);
    }
    document_workers_close(workers);
    fork_server_close(fork_server);
    buf_release(&reply);
    return status;
}

static enum status
call(const struct errand *errand, struct buf *reply, bool *died, struct reason *why)
{
    const struct slice pieces[] = {buf_slice(errand->header), errand->bytes};
    buf_reset(reply);
    return worker_call(errand->workers->pool, errand->policy, VERB_TRANSFORM, pieces, 2, reply,
                       died, why);
}

enum status
document_transform(struct document_workers *workers, const struct transform_request *request,
                   struct buf *reply, struct document_outcome *outcome, bool *died,
                   struct reason *why)
{
    struct buf header;
    size_t resources = 0;
    struct errand errand = {.header = &header};
    bool dead = false;
    TRY(admit(workers, request, &errand, why));
    for (size_t i = 0; i < request->resource_count; i++) {
        resources += request->resources[i].bytes.length;
    }
    buf_init(&header, resources + (512 << 10));
    encode_request(request, &header);
    enum status status = call(&errand, reply, &dead, why);
    if (dead && errand.tidy) {
        make_careful(&errand, why);
        status = call(&errand, reply, &dead, why);
    }
    if (status == STATUS_OK && !document_outcome_decode(buf_slice(reply), outcome)) {
        status = status_fail(why, STATUS_PROTOCOL, "the worker's answer is malformed");
    }
    *died = dead;
    buf_release(&header);
    return status;
}
