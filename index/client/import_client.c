#include "index/client/import_client.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/protocol/service_protocol.h"
#include "index/write/packed_quads.h"
#include "index/write/patch.h"

enum {
    REQUEST_BYTES = 16 << 20, /* gathered in memory before a partition's quads are sent */
    QUAD_MAXIMUM = RPC_PAYLOAD_MAXIMUM / 4,
    RESEND_MS = 30000 /* a large batch takes its time; lost requests are rare */
};
static const size_t usual_memory = (size_t)256 << 20;

struct outgoing; /* a request under way */

struct lane {
    struct importer *importer;
    struct rpc_client *rpc;
    struct term_set terms;
    struct packed_quad *quads; /* that wait */
    size_t count, capacity;
    uint64_t first; /* number of the first of them, from 0 */
    uint32_t graph; /* of the last one */
    bool many;      /* quads were sent that may wait in the partition */
    struct outgoing *outgoing;
};

struct outgoing {
    struct lane *lane;
    uint64_t first; /* number of its first quad */
    size_t bytes;
    struct outgoing *next;
};

struct importer {
    struct importer_options options;
    struct lane *lanes, *latest; /* latest: where the last quad went */
    struct pollfd *polls;
    char *graph;
    uint64_t taken, added;
    uint64_t failed_first; /* quads before the first request that failed; UINT64_MAX: none did */
    size_t under_way;      /* bytes */
    enum status status;
    struct reason why;
};

/* ---- life ---- */

void
importer_close(struct importer *importer)
{
    if (importer == NULL) {
        return;
    }
    for (size_t i = 0; i < importer->options.count; i++) {
        struct lane *lane = &importer->lanes[i];
        rpc_client_close(lane->rpc); /* ends what is under way, which frees it */
        term_set_release(&lane->terms);
        free(lane->quads);
    }
    free(importer->lanes);
    free(importer->polls);
    free(importer->graph);
    free(importer);
}

static char *
copy(struct slice text)
{
    char *bytes = memory_alloc(text.length + 1);
    if (text.length > 0) {
        memcpy(bytes, text.at, text.length);
    }
    bytes[text.length] = '\0';
    return bytes;
}

enum status
importer_open(struct importer **result, const struct importer_options *options, struct reason *why)
{
    struct importer *importer = memory_new(sizeof(*importer));
    importer->options = *options;
    importer->failed_first = UINT64_MAX;
    importer->options.memory = options->memory > 0 ? options->memory : usual_memory;
    importer->options.graph = slice_string(importer->graph = copy(options->graph));
    importer->lanes = memory_zero(options->count, sizeof(*importer->lanes));
    importer->polls = memory_zero(options->count, sizeof(*importer->polls));
    enum status status = STATUS_OK;
    for (size_t i = 0; i < options->count; i++) {
        struct lane *lane = &importer->lanes[i];
        const char *endpoint = options->endpoints[i];
        const struct rpc_client_options rpc = {
            .endpoint = endpoint,
            .name = "import",
            .resend_ms = RESEND_MS,
            .keys = strncmp(endpoint, "ipc:", 4) == 0 ? NULL : options->keys};
        lane->importer = importer;
        term_set_init(&lane->terms);
        if (status == STATUS_OK) {
            status = rpc_client_open(&lane->rpc, &rpc, why);
        }
    }
    if (status != STATUS_OK) {
        importer_close(importer);
        importer = NULL;
    }
    *result = importer;
    return status;
}

/* ---- sending ---- */

static void
take_answer(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct outgoing *outgoing = context, **at = &outgoing->lane->outgoing;
    struct importer *importer = outgoing->lane->importer;
    if (status == STATUS_OK) {
        struct codec_reader in = codec_reader_of(payload);
        (void)codec_get_u64(&in);
        importer->added += codec_get_u64(&in);
    } else {
        importer->failed_first =
            outgoing->first < importer->failed_first ? outgoing->first : importer->failed_first;
        if (importer->status == STATUS_OK) {
            importer->status = status;
            importer->why = *why;
        }
    }
    while (*at != outgoing) {
        at = &(*at)->next;
    }
    *at = outgoing->next;
    importer->under_way -= outgoing->bytes;
    free(outgoing);
}

/* Lets answers in; waits up to `ms` for the first. */
static void
process(struct importer *importer, int ms)
{
    for (size_t i = 0; i < importer->options.count; i++) {
        struct rpc_client *rpc = importer->lanes[i].rpc;
        const int wait = rpc_client_wait_ms(rpc);
        ms = wait >= 0 && wait < ms ? wait : ms;
        importer->polls[i] = (struct pollfd){rpc_client_descriptor(rpc), POLLIN, 0};
    }
    (void)poll(importer->polls, (nfds_t)importer->options.count, ms);
    for (size_t i = 0; i < importer->options.count; i++) {
        rpc_client_process(importer->lanes[i].rpc);
    }
}

static void
post(struct lane *lane, const struct buf *request, uint64_t first)
{
    struct outgoing *outgoing = memory_new(sizeof(*outgoing));
    *outgoing = (struct outgoing){lane, first, request->length, lane->outgoing};
    lane->outgoing = outgoing;
    lane->importer->under_way += request->length;
    rpc_client_post(lane->rpc, INDEX_VERB_CHANGE, buf_slice(request), 0, take_answer, outgoing);
}

/* Quads need not wait when these are all that the partition gets. */
static void
send_lane(struct lane *lane, bool last)
{
    struct importer *importer = lane->importer;
    struct buf request;
    lane->many = lane->many || !last;
    buf_init(&request, RPC_PAYLOAD_MAXIMUM);
    codec_put_u8(&request, lane->many ? PATCH_MANY : PATCH_PACKED);
    packed_quads_write(&request, &lane->terms, lane->quads, lane->count);
    lane->count = 0;
    term_set_reset(&lane->terms);
    post(lane, &request, lane->first);
    buf_release(&request);
    while (importer->under_way > importer->options.memory && importer->status == STATUS_OK) {
        process(importer, 1000);
    }
    process(importer, 0);
}

/* ---- taking quads ---- */

static size_t
term_bytes(const struct term *term)
{
    return term->value.length + term->datatype.length + term->language.length;
}

static bool
is_latest(const struct lane *lane, const struct quad *quad)
{
    return lane != NULL && lane->count > 0 &&
           slice_equal(lane->terms.terms[lane->graph].term.value, quad->graph.value);
}

static void
push(struct lane *lane, const struct quad *quad)
{
    lane->quads = array_grow(lane->quads, lane->count, &lane->capacity, sizeof(*lane->quads));
    if (lane->count == 0) {
        lane->first = lane->importer->taken;
    }
    if (!is_latest(lane, quad)) {
        lane->graph = term_set_add(&lane->terms, &quad->graph);
    }
    const uint32_t subject = term_set_add(&lane->terms, &quad->subject);
    const uint32_t predicate = term_set_add(&lane->terms, &quad->predicate);
    const uint32_t object = term_set_add(&lane->terms, &quad->object);
    lane->quads[lane->count++] = (struct packed_quad){subject, predicate, object, lane->graph};
}

static enum status
take(void *context, const struct quad *quad, struct reason *why)
{
    struct importer *importer = context;
    if (importer->status != STATUS_OK) {
        return status_fail(why, importer->status, "%s", importer->why.text);
    }
    if (importer->taken < importer->options.skip) {
        importer->taken++;
        return STATUS_OK;
    }
    struct quad named = *quad;
    if (quad->graph.kind != TERM_IRI) {
        if (quad->graph.kind == TERM_BLANK || importer->options.graph.length == 0) {
            return status_fail(why, STATUS_BAD_INPUT, "a quad without a graph that has an IRI");
        }
        named.graph = term_iri(importer->options.graph);
    }
    if (term_bytes(&named.subject) + term_bytes(&named.predicate) + term_bytes(&named.object) +
            named.graph.value.length >
        QUAD_MAXIMUM) {
        return status_fail(why, STATUS_LIMIT, "a quad is longer than %d bytes", QUAD_MAXIMUM);
    }
    if (!is_latest(importer->latest, &named)) {
        importer->latest = &importer->lanes[(size_t)partition_of(named.graph.value) *
                                            importer->options.count / PARTITIONS];
    }
    struct lane *lane = importer->latest;
    push(lane, &named);
    importer->taken++;
    if (term_set_bytes(&lane->terms) + lane->count * sizeof(*lane->quads) >= REQUEST_BYTES) {
        send_lane(lane, false);
    }
    return STATUS_OK;
}

struct quad_sink
importer_sink(struct importer *importer)
{
    return (struct quad_sink){take, importer};
}

static enum status
wait_for_all(struct importer *importer, struct reason *why)
{
    while (importer->under_way > 0 && importer->status == STATUS_OK) {
        process(importer, 1000);
    }
    return importer->status == STATUS_OK
               ? STATUS_OK
               : status_fail(why, importer->status, "%s", importer->why.text);
}

enum status
importer_merge(struct importer *importer, struct reason *why)
{
    struct buf request;
    TRY(wait_for_all(importer, why));
    buf_init(&request, 1);
    codec_put_u8(&request, PATCH_BRING_IN);
    for (size_t i = 0; i < importer->options.count; i++) {
        struct lane *lane = &importer->lanes[i];
        if (lane->many) {
            post(lane, &request, importer->taken);
            lane->many = false;
        }
    }
    buf_release(&request);
    return wait_for_all(importer, why);
}

enum status
importer_finish(struct importer *importer, struct reason *why)
{
    for (size_t i = 0; i < importer->options.count; i++) {
        if (importer->lanes[i].count > 0) {
            send_lane(&importer->lanes[i], true);
        }
    }
    return importer_merge(importer, why);
}

void
importer_progress(const struct importer *importer, struct importer_progress *progress)
{
    *progress = (struct importer_progress){
        .taken = importer->taken, .durable = importer->taken, .added = importer->added};
    if (importer->failed_first < progress->durable) {
        progress->durable = importer->failed_first;
    }
    for (size_t i = 0; i < importer->options.count; i++) {
        const struct lane *lane = &importer->lanes[i];
        if (lane->count > 0 && lane->first < progress->durable) {
            progress->durable = lane->first;
        }
        for (const struct outgoing *o = lane->outgoing; o != NULL; o = o->next) {
            progress->durable = o->first < progress->durable ? o->first : progress->durable;
        }
    }
}
