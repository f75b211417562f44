#include "index/patch.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/memory.h"
#include "index/partition_private.h"
#include "index/query/quad_walk.h"
#include "index/term_set.h"
#include "rdf/graph.h"
#include "rdf/nquads.h"

enum { CLEAR_DOCUMENTS = 10000 };

struct patch_queue {
    int wanted, finished;  /* eventfds */
    pthread_mutex_t mutex; /* guards what follows */
    struct patch *first, **last, *done;
};

/* What the writer needs for one patch. */
struct patching {
    struct patch_queue *queue;
    struct partition *partition;
    size_t memory; /* of one batch */
    struct partition_reader *reader;
    struct index_batch *batch;
    struct term_set uris; /* of graphs in the batch */
    struct patch *patch;
    struct graph removed, added;
};

/* ---- between the threads ---- */

struct patch_queue *
patch_queue_new(int finished)
{
    struct patch_queue *queue = memory_zero(1, sizeof(*queue));
    queue->wanted = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    queue->finished = finished;
    queue->last = &queue->first;
    pthread_mutex_init(&queue->mutex, NULL);
    return queue;
}

static void
drop(struct patch *patch)
{
    while (patch != NULL) {
        struct patch *next = patch->next;
        rpc_request_drop(&patch->request);
        free(patch);
        patch = next;
    }
}

void
patch_queue_free(struct patch_queue *queue)
{
    if (queue != NULL) {
        drop(queue->first);
        drop(queue->done);
        if (queue->wanted >= 0) {
            close(queue->wanted);
        }
        pthread_mutex_destroy(&queue->mutex);
        free(queue);
    }
}

static void
signal_event(int event)
{
    const uint64_t one = 1;
    const ssize_t written = write(event, &one, sizeof(one));
    (void)written; /* a full counter is readable already */
}

void
patch_queue_add(struct patch_queue *queue, const struct rpc_request *request)
{
    struct patch *patch = memory_zero(1, sizeof(*patch));
    patch->request = *request;
    pthread_mutex_lock(&queue->mutex);
    *queue->last = patch;
    queue->last = &patch->next;
    pthread_mutex_unlock(&queue->mutex);
    signal_event(queue->wanted);
}

struct patch *
patch_queue_take(struct patch_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    struct patch *done = queue->done;
    queue->done = NULL;
    pthread_mutex_unlock(&queue->mutex);
    return done;
}

int
patch_queue_descriptor(const struct patch_queue *queue)
{
    return queue->wanted;
}

/* ---- one graph ---- */

/* What is known of the graph: generation and kind stay. *graph is OID_NONE when there is
 * none of that name. */
static enum status
find_document(struct patching *patching, struct slice uri, struct index_document *document,
              oid *graph, struct reason *why)
{
    struct document_entry entry;
    const struct term term = term_iri(uri);
    *document = (struct index_document){.uri = uri};
    TRY(lexicon_find(patching->partition->lexicon, &term, graph, why));
    if (*graph == OID_NONE) {
        return STATUS_OK;
    }
    gate_enter_reading(&patching->partition->gate);
    const enum status status = documents_get(patching->partition->documents, *graph, &entry, why);
    gate_leave(&patching->partition->gate);
    if (status == STATUS_OK) {
        document->generation = entry.generation;
        document->linked_data = entry.linked_data;
    } else if (status == STATUS_NOT_FOUND) {
        *graph = OID_NONE;
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static bool
is_removed(const struct graph *removed, const struct quad *quad)
{
    size_t low = 0, high = removed->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = quad_compare(&removed->quads[middle], quad);
        if (order == 0) {
            return true;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return false;
}

static enum status
keep_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct patching *patching = context;
    return is_removed(&patching->removed, quad) ? STATUS_OK
                                                : index_batch_quad(patching->batch, quad, why);
}

/* The quads that the graph has and keeps. */
static enum status
keep_quads(struct patching *patching, oid graph, struct reason *why)
{
    const struct quad_oids pattern = {.graph = graph};
    const struct quad_sink sink = {keep_quad, patching};
    return quad_walk(partition_reader_source(patching->reader), &pattern, ORDER_COUNT, &sink, why);
}

struct loading {
    struct graph *graph;
    struct slice uri;
};

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct loading *loading = context;
    struct quad placed = *quad;
    placed.graph = term_iri(loading->uri);
    return graph_add(loading->graph, &placed, why);
}

static enum status
load(struct graph *graph, struct slice uri, struct slice lines, struct reason *why)
{
    struct loading loading = {graph, uri};
    const struct quad_sink sink = {take_quad, &loading};
    graph_reset(graph);
    TRY(nquads_parse(lines, NULL, &sink, why));
    graph_sort_unique(graph);
    return STATUS_OK;
}

static enum status
patch_graph(struct patching *patching, struct slice uri, struct slice removed, struct slice added,
            struct reason *why)
{
    struct index_document document;
    oid graph;
    TRY(find_document(patching, uri, &document, &graph, why));
    if (graph == OID_NONE) {
        size_t number;
        return index_batch_add(patching->batch, &document, added, &number, why);
    }
    TRY(load(&patching->removed, uri, removed, why));
    TRY(load(&patching->added, uri, added, why));
    index_batch_begin(patching->batch, &document);
    TRY(keep_quads(patching, graph, why));
    for (size_t i = 0; i < patching->added.count; i++) {
        TRY(index_batch_quad(patching->batch, &patching->added.quads[i], why));
    }
    index_batch_end(patching->batch);
    return STATUS_OK;
}

/* ---- one patch ---- */

/* Only commits end the process: nothing was written before. *broken: this one did. */
static enum status
commit(struct patching *patching, bool *broken, struct reason *why)
{
    const enum status status = index_batch_commit(patching->batch, why);
    *broken = status != STATUS_OK && status != STATUS_FULL;
    return status;
}

/* What documents first..first+count-1 of the committed batch changed. */
static void
count_changes(struct patching *patching, struct patch *patch, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        const struct index_result *result = index_batch_result(patching->batch, i);
        patch->added += result->added;
        patch->removed += result->removed;
    }
}

static enum status
commit_alone(struct patching *patching, bool *broken, struct reason *why)
{
    const enum status status = commit(patching, broken, why);
    if (status == STATUS_OK) {
        count_changes(patching, patching->patch, 0, index_batch_documents(patching->batch));
    }
    index_batch_reset(patching->batch);
    return status;
}

static bool
is_in_batch(const struct patching *patching, struct slice uri)
{
    const struct term term = term_iri(uri);
    return term_set_find(&patching->uris, &term, term_hash(&term)) != NULL;
}

/* Its graphs into the batch. AGAIN: one of them is in the batch already, and nothing was added. */
static enum status
add_graphs(struct patching *patching, struct patch *patch, struct reason *why)
{
    struct codec_reader in = codec_reader_of(patch->request.payload);
    (void)codec_get_u8(&in);
    const uint64_t graphs = codec_get_varint(&in);
    const struct codec_reader start = in;
    for (uint64_t i = 0; i < graphs && !in.bad; i++) {
        const struct slice uri = codec_get_slice(&in);
        (void)codec_get_slice(&in);
        (void)codec_get_slice(&in);
        if (!in.bad && is_in_batch(patching, uri)) {
            return STATUS_AGAIN;
        }
    }
    if (!codec_at_end(&in)) {
        return status_fail(why, STATUS_PROTOCOL, "a change is malformed");
    }
    in = start;
    for (uint64_t i = 0; i < graphs; i++) {
        const struct slice uri = codec_get_slice(&in);
        const struct slice removed = codec_get_slice(&in), added = codec_get_slice(&in);
        const struct term term = term_iri(uri);
        if (is_in_batch(patching, uri)) {
            return status_fail(why, STATUS_PROTOCOL, "a change names a graph twice");
        }
        (void)term_set_add(&patching->uris, &term);
        TRY(patch_graph(patching, uri, removed, added, why));
    }
    return STATUS_OK;
}

static enum status
clear_graph(struct patching *patching, struct slice uri, struct reason *why)
{
    struct index_document document;
    oid graph;
    TRY(find_document(patching, uri, &document, &graph, why));
    if (graph != OID_NONE) {
        document.removed = true;
        index_batch_begin(patching->batch, &document);
        index_batch_end(patching->batch);
    }
    return STATUS_OK;
}

static enum status
patch_clear(struct patching *patching, struct codec_reader *in, bool *broken, struct reason *why)
{
    const uint64_t graphs = codec_get_varint(in);
    for (uint64_t i = 0; i < graphs && !in->bad; i++) {
        TRY(clear_graph(patching, codec_get_slice(in), why));
    }
    return codec_at_end(in) ? commit_alone(patching, broken, why)
                            : status_fail(why, STATUS_PROTOCOL, "a change is malformed");
}

static enum status
clear_some(struct patching *patching, struct slice except, oid *graph, bool *end,
           struct reason *why)
{
    const struct quad_source *source = partition_reader_source(patching->reader);
    struct arena arena;
    enum status status = STATUS_OK;
    arena_init(&arena, 0);
    *end = false;
    for (int i = 0; i < CLEAR_DOCUMENTS && status == STATUS_OK; i++, ++*graph) {
        struct document_entry entry;
        struct term uri;
        status = partition_reader_document(patching->reader, graph, &entry, why);
        if (status == STATUS_END) {
            *end = true;
            status = STATUS_OK;
            break;
        }
        if (status == STATUS_OK) {
            status = source->resolve(source->context, *graph, &arena, &uri, why);
        }
        if (status == STATUS_OK && entry.quads > 0 && !slice_equal(uri.value, except)) {
            const struct index_document document = {.uri = uri.value,
                                                    .generation = entry.generation,
                                                    .removed = true,
                                                    .linked_data = entry.linked_data};
            index_batch_begin(patching->batch, &document);
            index_batch_end(patching->batch);
        }
    }
    arena_release(&arena);
    return status;
}

static enum status
patch_clear_all(struct patching *patching, struct codec_reader *in, bool *broken,
                struct reason *why)
{
    const struct slice except = codec_get_slice(in);
    oid graph = OID_NONE;
    bool end = false;
    if (!codec_at_end(in)) {
        return status_fail(why, STATUS_PROTOCOL, "a change is malformed");
    }
    while (!end) {
        TRY(clear_some(patching, except, &graph, &end, why));
        TRY(commit_alone(patching, broken, why));
        partition_reader_renew(patching->reader);
    }
    return STATUS_OK;
}

/* By itself. */
static enum status
carry_out(struct patching *patching, bool *broken, struct reason *why)
{
    struct codec_reader in = codec_reader_of(patching->patch->request.payload);
    index_batch_reset(patching->batch);
    term_set_reset(&patching->uris);
    partition_reader_renew(patching->reader);
    switch ((enum patch_kind)codec_get_u8(&in)) {
    case PATCH_QUADS:
        TRY(add_graphs(patching, patching->patch, why));
        return commit_alone(patching, broken, why);
    case PATCH_CLEAR:
        return patch_clear(patching, &in, broken, why);
    case PATCH_CLEAR_ALL_BUT:
        return patch_clear_all(patching, &in, broken, why);
    }
    return status_fail(why, STATUS_PROTOCOL, "a change is of no known kind");
}

/* ---- the writer ---- */

static struct patch *
take_wanted(struct patch_queue *queue)
{
    uint64_t count;
    const ssize_t got = read(queue->wanted, &count, sizeof(count));
    (void)got;
    pthread_mutex_lock(&queue->mutex);
    struct patch *list = queue->first;
    queue->first = NULL;
    queue->last = &queue->first;
    pthread_mutex_unlock(&queue->mutex);
    return list;
}

static void
hand_back(struct patch_queue *queue, struct patch *patch)
{
    pthread_mutex_lock(&queue->mutex);
    patch->next = queue->done;
    queue->done = patch;
    pthread_mutex_unlock(&queue->mutex);
    signal_event(queue->finished);
}

static bool
is_quads(const struct patch *patch)
{
    const struct slice payload = patch->request.payload;
    return payload.length > 0 && payload.at[0] == PATCH_QUADS;
}

static enum status
work_alone(struct patching *patching, struct patch *patch, struct reason *why)
{
    bool broken = false;
    patching->patch = patch;
    patch->status = carry_out(patching, &broken, &patch->why);
    const enum status status =
        broken ? status_fail(why, patch->status, "%s", patch->why.text) : STATUS_OK;
    hand_back(patching->queue, patch);
    return status;
}

/* Large batches are cheaper by far: as many patches as fit go into one transaction. They are taken
 * off *list. When one of them is at fault, each is tried by itself. */
static enum status
work_together(struct patching *patching, struct patch **list, struct reason *why)
{
    struct patch *first = *list, *last = NULL;
    enum status status = STATUS_OK;
    bool broken = false;
    index_batch_reset(patching->batch);
    term_set_reset(&patching->uris);
    partition_reader_renew(patching->reader);
    for (struct patch *patch = first; patch != NULL && is_quads(patch); patch = patch->next) {
        patch->first = index_batch_documents(patching->batch);
        status = index_batch_bytes(patching->batch) >= patching->memory && last != NULL
                     ? STATUS_AGAIN
                     : add_graphs(patching, patch, why);
        if (status != STATUS_OK) {
            break;
        }
        patch->count = index_batch_documents(patching->batch) - patch->first;
        last = patch;
    }
    *list = last != NULL ? last->next : first->next;
    (last != NULL ? last : first)->next = NULL;
    const bool whole = last != NULL && (status == STATUS_OK || status == STATUS_AGAIN);
    if (whole) {
        status = commit(patching, &broken, why);
        if (broken) {
            drop(first);
            return status;
        }
    }
    while (first != NULL) {
        struct patch *patch = first;
        first = patch->next;
        if (!whole) {
            TRY(work_alone(patching, patch, why));
            continue;
        }
        patch->status = status;
        if (status == STATUS_OK) {
            count_changes(patching, patch, patch->first, patch->count);
        } else {
            patch->why = *why;
        }
        hand_back(patching->queue, patch);
    }
    return STATUS_OK;
}

enum status
patch_queue_work(struct patch_queue *queue, struct partition *partition, size_t memory,
                 struct reason *why)
{
    struct patch *list = take_wanted(queue);
    struct patching patching = {.queue = queue, .partition = partition, .memory = memory};
    if (list == NULL) {
        return STATUS_OK;
    }
    enum status status = partition_reader_open(&patching.reader, partition, why);
    patching.batch = index_batch_new(partition);
    term_set_init(&patching.uris);
    graph_init(&patching.removed, 0);
    graph_init(&patching.added, 0);
    while (list != NULL && status == STATUS_OK) {
        if (is_quads(list)) {
            status = work_together(&patching, &list, why);
        } else {
            struct patch *patch = list;
            list = patch->next;
            status = work_alone(&patching, patch, why);
        }
    }
    drop(list);
    graph_release(&patching.removed);
    graph_release(&patching.added);
    term_set_release(&patching.uris);
    index_batch_free(patching.batch);
    partition_reader_close(patching.reader);
    return status;
}
