#include "index/import.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "index/patch.h"
#include "index/service_protocol.h"
#include "index/term_set.h"
#include "rdf/writer.h"

enum {
    REQUEST_BYTES = 8 << 20, /* gathered before a partition's graphs are sent */
    GRAPH_MAXIMUM = RPC_PAYLOAD_MAXIMUM / 2,
    LABEL_MAXIMUM = 4096,
    RESEND_MS = 30000 /* a large batch takes its time; lost requests are rare */
};
static const size_t usual_memory = (size_t)256 << 20;

/* A graph whose quads are coming in. */
struct open_graph {
    struct buf lines;
    uint64_t first; /* number of its first quad, from 0 */
};

struct outgoing; /* a request under way */

struct lane {
    struct importer *importer;
    struct rpc_client *rpc;
    struct term_set uris; /* of open graphs: index into graphs */
    struct open_graph *graphs;
    size_t capacity, latest; /* latest: the graph that took the last quad */
    size_t bytes;
    struct outgoing *outgoing;
};

struct outgoing {
    struct lane *lane;
    uint64_t first; /* least number of its quads */
    size_t bytes;
    struct outgoing *next;
};

struct importer {
    struct importer_options options;
    struct lane *lanes;
    struct pollfd *polls;
    struct buf label;
    char *graph, *prefix;
    uint64_t taken, added;
    size_t under_way; /* bytes */
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
        term_set_release(&lane->uris);
        for (size_t k = 0; k < lane->capacity; k++) {
            buf_release(&lane->graphs[k].lines);
        }
        free(lane->graphs);
    }
    buf_release(&importer->label);
    free(importer->lanes);
    free(importer->polls);
    free(importer->graph);
    free(importer->prefix);
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
    struct importer *importer = memory_zero(1, sizeof(*importer));
    importer->options = *options;
    importer->options.memory = options->memory > 0 ? options->memory : usual_memory;
    importer->options.graph = slice_string(importer->graph = copy(options->graph));
    importer->options.blank_prefix = slice_string(importer->prefix = copy(options->blank_prefix));
    importer->lanes = memory_zero(options->count, sizeof(*importer->lanes));
    importer->polls = memory_zero(options->count, sizeof(*importer->polls));
    buf_init(&importer->label, 2 * LABEL_MAXIMUM);
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
        term_set_init(&lane->uris);
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
    } else if (importer->status == STATUS_OK) {
        importer->status = status;
        importer->why = *why;
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
put_graph(struct buf *request, struct lane *lane, size_t index)
{
    codec_put_slice(request, lane->uris.terms[index].term.value);
    codec_put_slice(request, SLICE(""));
    codec_put_slice(request, buf_slice(&lane->graphs[index].lines));
}

/* All open graphs but `kept` (SIZE_MAX: all). */
static void
send_graphs(struct lane *lane, size_t kept)
{
    struct importer *importer = lane->importer;
    const size_t count = lane->uris.count - (kept < lane->uris.count);
    struct outgoing *outgoing = memory_zero(1, sizeof(*outgoing));
    struct buf request;
    buf_init(&request, RPC_PAYLOAD_MAXIMUM);
    codec_put_u8(&request, PATCH_QUADS);
    codec_put_varint(&request, count);
    *outgoing = (struct outgoing){.lane = lane, .first = UINT64_MAX, .next = lane->outgoing};
    for (size_t i = 0; i < lane->uris.count; i++) {
        if (i != kept) {
            put_graph(&request, lane, i);
            outgoing->first =
                lane->graphs[i].first < outgoing->first ? lane->graphs[i].first : outgoing->first;
        }
    }
    lane->outgoing = outgoing;
    outgoing->bytes = request.length;
    importer->under_way += request.length;
    rpc_client_post(lane->rpc, INDEX_VERB_CHANGE, buf_slice(&request), 0, take_answer, outgoing);
    buf_release(&request);
}

/* The graph that is kept becomes the only open one. */
static void
forget_graphs(struct lane *lane, size_t kept)
{
    char *uri = NULL;
    if (kept < lane->uris.count) {
        uri = copy(lane->uris.terms[kept].term.value);
    }
    if (kept > 0 && uri != NULL) {
        const struct open_graph graph = lane->graphs[0];
        lane->graphs[0] = lane->graphs[kept];
        lane->graphs[kept] = graph;
    }
    for (size_t i = uri != NULL ? 1 : 0; i < lane->uris.count; i++) {
        buf_reset(&lane->graphs[i].lines);
    }
    term_set_reset(&lane->uris);
    lane->bytes = 0;
    if (uri != NULL) {
        const struct term term = term_iri(slice_string(uri));
        (void)term_set_add(&lane->uris, &term);
        lane->bytes = lane->graphs[0].lines.length;
    }
    lane->latest = 0;
    free(uri);
}

/* The latest graph may go on, so it stays unless it is large itself. */
static void
send_lane(struct lane *lane, bool all)
{
    struct importer *importer = lane->importer;
    const size_t latest = lane->graphs[lane->latest].lines.length;
    const size_t kept = all || latest >= REQUEST_BYTES / 2 ? SIZE_MAX : lane->latest;
    if (lane->uris.count <= (kept < lane->uris.count ? 1U : 0U)) {
        return;
    }
    send_graphs(lane, kept);
    forget_graphs(lane, kept);
    while (importer->under_way > importer->options.memory && importer->status == STATUS_OK) {
        process(importer, 1000);
    }
    process(importer, 0);
}

/* ---- taking quads ---- */

static struct term
own_label(struct importer *importer, const struct term *term, struct buf *memory, size_t *from)
{
    struct term named = *term;
    if (term->kind == TERM_BLANK && importer->options.blank_prefix.length > 0) {
        *from = memory->length;
        (void)buf_append_slice(memory, importer->options.blank_prefix);
        (void)buf_append_slice(memory, term->value);
        named.value.length = memory->length - *from;
        named.value.at = NULL; /* set when the buffer does not move any more */
    }
    return named;
}

/* Blank nodes of one file are not those of another. False: a label is too long. */
static bool
name_blanks(struct importer *importer, struct quad *quad)
{
    size_t subject = 0, object = 0;
    buf_reset(&importer->label);
    quad->subject = own_label(importer, &quad->subject, &importer->label, &subject);
    quad->object = own_label(importer, &quad->object, &importer->label, &object);
    if (importer->label.overflowed) {
        return false;
    }
    if (quad->subject.kind == TERM_BLANK && quad->subject.value.at == NULL) {
        quad->subject.value.at = importer->label.data + subject;
    }
    if (quad->object.kind == TERM_BLANK && quad->object.value.at == NULL) {
        quad->object.value.at = importer->label.data + object;
    }
    return true;
}

static struct open_graph *
graph_for(struct lane *lane, const struct term *uri)
{
    if (lane->uris.count > 0 &&
        slice_equal(lane->uris.terms[lane->latest].term.value, uri->value)) {
        return &lane->graphs[lane->latest];
    }
    const size_t before = lane->uris.count;
    const size_t index = term_set_add(&lane->uris, uri);
    if (index >= lane->capacity) {
        const size_t capacity = lane->capacity ? 2 * lane->capacity : 256;
        lane->graphs = memory_resize(lane->graphs, capacity, sizeof(*lane->graphs));
        for (size_t i = lane->capacity; i < capacity; i++) {
            buf_init(&lane->graphs[i].lines, GRAPH_MAXIMUM);
        }
        lane->capacity = capacity;
    }
    if (lane->uris.count > before) {
        lane->graphs[index].first = lane->importer->taken;
    }
    lane->latest = index;
    return &lane->graphs[index];
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
    if (!name_blanks(importer, &named)) {
        return status_fail(why, STATUS_LIMIT, "a blank node's label is longer than %d bytes",
                           LABEL_MAXIMUM);
    }
    struct lane *lane = &importer->lanes[(size_t)partition_of(named.graph.value) *
                                         importer->options.count / PARTITIONS];
    struct open_graph *graph = graph_for(lane, &named.graph);
    const size_t before = graph->lines.length;
    if (nquads_write(&graph->lines, &named) != STATUS_OK) {
        return status_fail(why, STATUS_LIMIT, "a quad is longer than %d bytes", GRAPH_MAXIMUM);
    }
    lane->bytes += graph->lines.length - before;
    importer->taken++;
    if (lane->bytes >= REQUEST_BYTES) {
        send_lane(lane, false);
    }
    return STATUS_OK;
}

struct quad_sink
importer_sink(struct importer *importer)
{
    return (struct quad_sink){take, importer};
}

enum status
importer_finish(struct importer *importer, struct reason *why)
{
    for (size_t i = 0; i < importer->options.count; i++) {
        if (importer->lanes[i].uris.count > 0) {
            send_lane(&importer->lanes[i], true);
        }
    }
    while (importer->under_way > 0 && importer->status == STATUS_OK) {
        process(importer, 1000);
    }
    return importer->status == STATUS_OK
               ? STATUS_OK
               : status_fail(why, importer->status, "%s", importer->why.text);
}

void
importer_progress(const struct importer *importer, struct importer_progress *progress)
{
    *progress = (struct importer_progress){
        .taken = importer->taken, .durable = importer->taken, .added = importer->added};
    for (size_t i = 0; i < importer->options.count; i++) {
        const struct lane *lane = &importer->lanes[i];
        for (size_t k = 0; k < lane->uris.count; k++) {
            progress->durable = lane->graphs[k].first < progress->durable ? lane->graphs[k].first
                                                                          : progress->durable;
        }
        for (const struct outgoing *o = lane->outgoing; o != NULL; o = o->next) {
            progress->durable = o->first < progress->durable ? o->first : progress->durable;
        }
    }
}
