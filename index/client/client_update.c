/* SPARQL Update as a client of the partitions: WHERE is evaluated here, over all of them as one
 * source; what is to be removed and added is sorted by graph, and each partition gets the graphs
 * that are its own in one request. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/digest.h"
#include "base/memory.h"
#include "index/client/client_update.h"
#include "index/client/federation/federation.h"
#include "index/client/partitions/client_calls.h"
#include "index/query/update.h"
#include "index/read/provenance.h"
#include "index/write/patch.h"
#include "rdf/core/writer.h"

enum { CHANGE_MAXIMUM = RPC_PAYLOAD_MAXIMUM - 4096 };
static const size_t terms_memory = (size_t)1 << 30;

/* Tells how far the present operation has come in a partition. */
enum progress { UNCHANGED, WANTED, UNKNOWN, CHANGED };

struct updating {
    enum progress *progress; /* of each partition */
    struct index_client *client;
    const struct index_update_options *options;
    struct federation *federation;
    struct provenance *provenance;
    struct index_update_report *report;
};

static void
forget_source(struct updating *updating)
{
    provenance_free(updating->provenance);
    federation_free(updating->federation);
}

static enum status
present_source(void *context, const struct quad_source **source, struct reason *why)
{
    struct updating *updating = context;
    (void)why;
    forget_source(updating);
    updating->federation = federation_new(updating->client, terms_memory);
    const struct provenance_settings settings = {.source = federation_source(updating->federation),
                                                 .metastore = updating->client->metastore,
                                                 .memory = terms_memory / 4,
                                                 .timeout_ms = updating->options->timeout_ms};
    updating->provenance = provenance_new(&settings);
    *source = provenance_source(updating->provenance);
    return STATUS_OK;
}

/* ---- requests ---- */

static void
list_partitions(const struct updating *updating, enum progress progress, const char *what,
                struct buf *out)
{
    const char *before = what;
    for (size_t i = 0; i < updating->client->count; i++) {
        if (updating->progress[i] == progress) {
            (void)buf_printf(out, "%s %zu", before, i);
            before = ",";
        }
    }
}

/* Says in which partitions the operation is done and in which not. */
static enum status
stop_operation(const struct updating *updating, size_t partition, enum status status,
               const struct reason *what, struct reason *why)
{
    struct buf text;
    struct reason failure;
    buf_init(&text, REASON_SIZE);
    status = client_fail(updating->client, partition, status, what, &failure);
    list_partitions(updating, CHANGED, "; it is done in partition", &text);
    list_partitions(updating, UNKNOWN, "; it may be done in partition", &text);
    list_partitions(updating, WANTED, "; it is not done in partition", &text);
    status = status_fail(why, status, "%s%.*s", failure.text, SLICE_PRINT(buf_slice(&text)));
    buf_release(&text);
    return status;
}

/* Before anything is changed: a partition that is down must not leave the others changed. */
static enum status
check_partitions(const struct updating *updating, struct reason *why)
{
    const struct index_client *client = updating->client;
    for (size_t i = 0; i < client->count; i++) {
        struct reason what = {""};
        const enum status status = updating->progress[i] == WANTED
                                       ? rpc_call(client->partitions[i].rpc, INDEX_VERB_STATS,
                                                  SLICE(""), client->silence_ms, NULL, &what)
                                       : STATUS_OK;
        if (status != STATUS_OK) {
            return stop_operation(updating, i, status, &what, why);
        }
    }
    return STATUS_OK;
}

static enum status
send_change(struct updating *updating, size_t partition, const struct buf *request,
            struct reason *why)
{
    struct buf reply;
    struct reason what = {""};
    buf_init(&reply, 4096);
    enum status status = rpc_call(updating->client->partitions[partition].rpc, INDEX_VERB_CHANGE,
                                  buf_slice(request), updating->client->timeout_ms, &reply, &what);
    if (status == STATUS_OK) {
        struct codec_reader in = codec_reader_of(buf_slice(&reply));
        updating->progress[partition] = CHANGED;
        updating->report->removed += codec_get_u64(&in);
        updating->report->added += codec_get_u64(&in);
    } else {
        updating->progress[partition] = status == STATUS_TIMEOUT ? UNKNOWN : WANTED;
        status = stop_operation(updating, partition, status, &what, why);
    }
    buf_release(&reply);
    return status;
}

/* requests: of each partition, empty for those that have nothing to do; released. */
static enum status
send_changes(struct updating *updating, struct buf *requests, struct reason *why)
{
    const size_t count = updating->client->count;
    enum status status = STATUS_OK;
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++) {
        updating->progress[i] = requests[i].length > 0 ? WANTED : UNCHANGED;
        wanted += requests[i].length > 0;
        if (requests[i].overflowed) {
            status = status_fail(why, STATUS_LIMIT,
                                 "one operation changes more than %d bytes of one partition",
                                 CHANGE_MAXIMUM);
        }
    }
    if (status == STATUS_OK && wanted > 1) {
        status = check_partitions(updating, why);
    }
    for (size_t i = 0; i < count; i++) {
        if (status == STATUS_OK && updating->progress[i] == WANTED) {
            status = send_change(updating, i, &requests[i], why);
        }
        buf_release(&requests[i]);
    }
    return status;
}

/* Quads of both kinds in order of their graphs. */
struct sorted_quad {
    const struct quad *quad;
    bool added;
};

static int
compare_graphs(const void *a, const void *b)
{
    const struct sorted_quad *left = a, *right = b;
    const int order = slice_compare(left->quad->graph.value, right->quad->graph.value);
    if (order != 0) {
        return order;
    }
    return left->added != right->added ? left->added - right->added
                                       : quad_compare(left->quad, right->quad);
}

/* Lines of one kind, from *at on while they are of this graph. */
static void
put_lines(struct buf *request, struct buf *lines, const struct sorted_quad *quads, size_t count,
          bool added, size_t *at)
{
    const struct slice graph = quads[*at < count ? *at : count - 1].quad->graph.value;
    buf_reset(lines);
    for (; *at < count && quads[*at].added == added &&
           slice_equal(quads[*at].quad->graph.value, graph);
         ++*at) {
        (void)nquads_write(lines, quads[*at].quad);
    }
    request->overflowed |= lines->overflowed;
    codec_put_slice(request, buf_slice(lines));
}

static void
put_changes(const struct updating *updating, size_t partition, const struct sorted_quad *quads,
            size_t count, struct buf *request)
{
    struct buf graphs, lines;
    uint64_t found = 0;
    buf_init(&graphs, CHANGE_MAXIMUM);
    buf_init(&lines, CHANGE_MAXIMUM);
    for (size_t at = 0; at < count;) {
        const struct slice graph = quads[at].quad->graph.value;
        if (client_owner(updating->client, graph) != partition) {
            at++;
            continue;
        }
        const size_t from = at;
        codec_put_slice(&graphs, graph);
        put_lines(&graphs, &lines, quads, count, false, &at);
        if (at < count && slice_equal(quads[at].quad->graph.value, quads[from].quad->graph.value)) {
            put_lines(&graphs, &lines, quads, count, true, &at);
        } else {
            codec_put_slice(&graphs, SLICE(""));
        }
        found++;
    }
    if (found > 0) {
        codec_put_u8(request, PATCH_QUADS);
        codec_put_varint(request, found);
        (void)buf_append_slice(request, buf_slice(&graphs));
        request->overflowed |= graphs.overflowed;
    }
    buf_release(&graphs);
    buf_release(&lines);
}

static struct buf *
new_requests(const struct updating *updating)
{
    struct buf *requests = memory_zero(updating->client->count, sizeof(*requests));
    for (size_t i = 0; i < updating->client->count; i++) {
        buf_init(&requests[i], CHANGE_MAXIMUM);
    }
    return requests;
}

static enum status
change(void *context, const struct graph *removed, const struct graph *added, struct reason *why)
{
    struct updating *updating = context;
    const size_t count = removed->count + added->count;
    struct sorted_quad *quads = memory_alloc(count * sizeof(*quads));
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        const bool is_added = i >= removed->count;
        quads[i] = (struct sorted_quad){
            is_added ? &added->quads[i - removed->count] : &removed->quads[i], is_added};
        if (slice_is(quads[i].quad->graph.value, QUERY_PROVENANCE)) {
            status = status_fail(why, STATUS_MISUSE, "<" QUERY_PROVENANCE "> cannot be changed");
        } else if (slice_is(quads[i].quad->graph.value, QUERY_IDENTITY)) {
            status = status_fail(why, STATUS_MISUSE, "<" QUERY_IDENTITY "> cannot be changed");
        }
    }
    qsort(quads, count, sizeof(*quads), compare_graphs);
    if (status == STATUS_OK) {
        struct buf *requests = new_requests(updating);
        for (size_t i = 0; i < updating->client->count; i++) {
            put_changes(updating, i, quads, count, &requests[i]);
        }
        status = send_changes(updating, requests, why);
        free(requests);
    }
    free(quads);
    return status;
}

enum status
client_change(struct index_client *client, const struct graph *removed, const struct graph *added,
              struct index_update_report *report, struct reason *why)
{
    struct updating updating = {.client = client, .report = report};
    updating.progress = memory_zero(client->count, sizeof(*updating.progress));
    client_begin(client, INDEX_PARTIAL_ERROR, 0, client->cancel);
    const enum status status = change(&updating, removed, added, why);
    free(updating.progress);
    return status;
}

static enum status
clear_graphs(void *context, struct slice graph, struct slice except, struct reason *why)
{
    struct updating *updating = context;
    struct buf *requests = new_requests(updating);
    for (size_t i = 0; i < updating->client->count; i++) {
        if (graph.length == 0) {
            codec_put_u8(&requests[i], PATCH_CLEAR_ALL_BUT);
            codec_put_slice(&requests[i], except);
        } else if (client_owner(updating->client, graph) == i) {
            codec_put_u8(&requests[i], PATCH_CLEAR);
            codec_put_varint(&requests[i], 1);
            codec_put_slice(&requests[i], graph);
        }
    }
    const enum status status = send_changes(updating, requests, why);
    free(requests);
    return status;
}

static enum status
load(void *context, struct slice document, struct slice graph, struct reason *why)
{
    struct updating *updating = context;
    return updating->options->load
               ? updating->options->load(updating->options->context, document, graph, why)
               : status_fail(why, STATUS_UNSUPPORTED, "LOAD is not possible here");
}

enum status
index_update(struct index_client *client, struct slice text,
             const struct index_update_options *options, struct index_update_report *report,
             struct reason *why)
{
    static const struct update_target functions = {NULL, present_source, change, clear_graphs,
                                                   load};
    struct index_update_report counts = {0};
    struct update_report done = {0};
    struct updating updating = {.client = client, .options = options, .report = &counts};
    struct update_target target = functions;
    struct update *update;
    char prefix[24];
    uint64_t random = 0;
    target.context = &updating;
    TRY(update_prepare(&update, text, slice_of(NULL, 0), why));
    client_begin(client, INDEX_PARTIAL_ERROR, 0, client->cancel);
    if (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
        update_free(update);
        return status_fail_errno(why, "no random bytes");
    }
    snprintf(prefix, sizeof(prefix), "%016llx", (unsigned long long)random);
    const struct update_options how = {.query = {.default_graph = options->default_graph,
                                                 .graphs = options->graphs,
                                                 .named_graphs = options->named_graphs,
                                                 .timeout_ms = options->timeout_ms,
                                                 .memory = options->memory},
                                       .blank_prefix = slice_string(prefix)};
    updating.progress = memory_zero(client->count, sizeof(*updating.progress));
    const enum status status = update_run(update, &target, &how, &done, why);
    free(updating.progress);
    forget_source(&updating);
    update_free(update);
    counts.operations = done.operations;
    if (report != NULL) {
        *report = counts;
    }
    return status;
}
