#include "index/write/patch.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/file.h"
#include "index/write/packed_quads.h"
#include "index/write/partition_state.h"
#include "rdf/nquads/nquads.h"

enum {
    CLEAR_DOCUMENTS = 10000,
    /* Large requests of quads that may wait are followed by more: these are awaited, up to half of
     * what clients have under way. */
    LINGER_LEAST = 1 << 20,
    LINGER_MOST = 128 << 20,
    LINGER_MS = 200
};

struct patch_queue {
    int wanted, finished;  /* eventfds */
    pthread_mutex_t mutex; /* guards what follows */
    struct patch *first, **last, *done;
};

/* Holds what the writer needs for one patch. */
struct patching {
    struct patch_queue *queue;
    struct partition *partition;
    size_t memory;                   /* of one batch */
    struct partition_reader *reader; /* of patch_clear_all */
    struct index_batch *batch;
    struct patch *patch;
};

/* ---- between the threads ---- */

struct patch_queue *
patch_queue_new(int finished)
{
    struct patch_queue *queue = memory_new(sizeof(*queue));
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
        file_close(queue->wanted);
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
    struct patch *patch = memory_new(sizeof(*patch));
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

/* Finds what is known of the graph, whose generation and kind stay. *graph is OID_NONE when there
 * is none of that name. */
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
    latch_enter_reading(tree_latch(patching->partition->documents));
    const enum status status = documents_get(patching->partition->documents, *graph, &entry, why);
    latch_leave(tree_latch(patching->partition->documents));
    if (status == STATUS_OK) {
        document->generation = entry.generation;
        document->linked_data = entry.linked_data;
    } else if (status == STATUS_NOT_FOUND) {
        *graph = OID_NONE;
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* ---- one patch ---- */

/* Only commits end the process, and not those that may be tried again. *broken: this one did. */
static enum status
commit(struct patching *patching, bool many, bool *broken, struct reason *why)
{
    const enum status status = many ? index_batch_stage(patching->batch, patching->memory, why)
                                    : index_batch_commit(patching->batch, why);
    *broken = status != STATUS_OK && !partition_waits(patching->partition, status);
    return status;
}

/* Counts what documents first..first+count-1 of the committed batch changed. */
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
    const enum status status = commit(patching, false, broken, why);
    if (status == STATUS_OK) {
        count_changes(patching, patching->patch, 0, index_batch_documents(patching->batch));
    }
    index_batch_reset(patching->batch);
    return status;
}

static enum status
add_graph(struct index_batch *batch, struct codec_reader *in, struct reason *why)
{
    const struct slice uri = codec_get_slice(in), removed = codec_get_slice(in);
    const struct slice added = codec_get_slice(in);
    const struct quad_sink removals = {index_batch_removal, batch};
    const struct quad_sink additions = {index_batch_quad, batch};
    if (in->bad) {
        return status_fail(why, STATUS_PROTOCOL, "a change is malformed");
    }
    index_batch_begin_patch(batch, uri);
    TRY(nquads_parse(removed, NULL, &removals, why));
    TRY(nquads_parse(added, NULL, &additions, why));
    index_batch_end(batch);
    return STATUS_OK;
}

/* Its quads into the batch; after a failure nothing of it is there. */
static enum status
add_quads(struct index_batch *batch, const struct patch *patch, struct reason *why)
{
    struct codec_reader in = codec_reader_of(patch->request.payload);
    const size_t before = index_batch_documents(batch);
    enum status status = STATUS_OK;
    if (codec_get_u8(&in) != PATCH_QUADS) {
        status = packed_quads_read(&in, batch, why);
    } else {
        for (uint64_t n = codec_get_varint(&in); n > 0 && status == STATUS_OK; n--) {
            status = add_graph(batch, &in, why);
        }
        if (status == STATUS_OK && !codec_at_end(&in)) {
            status = status_fail(why, STATUS_PROTOCOL, "a change is malformed");
        }
    }
    if (status != STATUS_OK) {
        index_batch_truncate(batch, before);
    }
    return status;
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
    enum status status = partition_reader_open(&patching->reader, patching->partition, why);
    while (!end && status == STATUS_OK) {
        status = clear_some(patching, except, &graph, &end, why);
        if (status == STATUS_OK) {
            status = commit_alone(patching, broken, why);
        }
        partition_reader_renew(patching->reader);
    }
    partition_reader_close(patching->reader);
    return status;
}

static enum status
patch_merge(struct patching *patching, const struct codec_reader *in, bool *broken,
            struct reason *why)
{
    if (!codec_at_end(in)) {
        return status_fail(why, STATUS_PROTOCOL, "a change is malformed");
    }
    enum status status = partition_merge_staged(patching->partition, &patching->patch->added, why);
    if (status == STATUS_OK) {
        status = partition_write_words(patching->partition, why);
    }
    *broken = status != STATUS_OK && !partition_waits(patching->partition, status);
    return status;
}

/* By itself. */
static enum status
carry_out(struct patching *patching, bool *broken, struct reason *why)
{
    struct codec_reader in = codec_reader_of(patching->patch->request.payload);
    index_batch_reset(patching->batch);
    switch ((enum patch_kind)codec_get_u8(&in)) {
    case PATCH_QUADS:
    case PATCH_PACKED:
    case PATCH_MANY:
        break; /* see work_together */
    case PATCH_BRING_IN:
        return patch_merge(patching, &in, broken, why);
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

void
patch_queue_refuse(struct patch_queue *queue, enum status status, const struct reason *why)
{
    struct patch *list = take_wanted(queue);
    while (list != NULL) {
        struct patch *patch = list;
        list = patch->next;
        patch->status = status;
        patch->why = *why;
        hand_back(queue, patch);
    }
}

static enum patch_kind
kind_of(const struct patch *patch)
{
    const struct slice payload = patch->request.payload;
    return payload.length > 0 ? (enum patch_kind)payload.at[0] : (enum patch_kind)0;
}

static bool
is_quads(const struct patch *patch)
{
    const enum patch_kind kind = kind_of(patch);
    return kind == PATCH_QUADS || kind == PATCH_PACKED || kind == PATCH_MANY;
}

/* Into a transaction with others. */
static bool
goes_with(const struct patch *patch)
{
    return patch != NULL && is_quads(patch) && kind_of(patch) != PATCH_MANY;
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

/* Tells whether another patch that may wait is there, or comes soon after one of so many bytes. */
static bool
another_comes(struct patching *patching, struct patch **next, size_t last, size_t gathered)
{
    if (*next == NULL && last >= LINGER_LEAST && gathered < LINGER_MOST) {
        struct pollfd wanted = {patching->queue->wanted, POLLIN, 0};
        if (poll(&wanted, 1, LINGER_MS) > 0) {
            *next = take_wanted(patching->queue);
        }
    }
    return *next != NULL && kind_of(*next) == PATCH_MANY;
}

static bool
is_full(const struct patching *patching, bool many)
{
    return many ? index_batch_is_full(patching->batch, patching->memory)
                : index_batch_bytes(patching->batch) >= patching->memory;
}

/* Large batches are cheaper by far: as many patches as fit go into one transaction, and one however
 * large it is, also where the memory that an emptied batch keeps is all there may be. They are
 * taken off *list. One that is at fault fails by itself. */
static enum status
work_together(struct patching *patching, struct patch **list, struct reason *why)
{
    struct patch *first = *list, **next = list;
    const bool many = kind_of(first) == PATCH_MANY;
    size_t length = 0, gathered = 0;
    bool broken = false;
    index_batch_reset(patching->batch);
    keeper_expect(patching->partition, many);
    while ((next == list || !is_full(patching, many)) &&
           (many ? another_comes(patching, next, length, gathered) : goes_with(*next))) {
        struct patch *patch = *next;
        length = patch->request.payload.length;
        gathered += length;
        patch->first = index_batch_documents(patching->batch);
        patch->status = add_quads(patching->batch, patch, &patch->why);
        patch->count = index_batch_documents(patching->batch) - patch->first;
        next = &patch->next;
    }
    *list = *next;
    *next = NULL;
    const enum status status = commit(patching, many, &broken, why);
    keeper_expect(patching->partition, false);
    if (broken) {
        drop(first);
        return status;
    }
    while (first != NULL) {
        struct patch *patch = first;
        first = patch->next;
        if (patch->status == STATUS_OK && status == STATUS_OK && !many) {
            count_changes(patching, patch, patch->first, patch->count);
        } else if (patch->status == STATUS_OK && status != STATUS_OK) {
            patch->status = status;
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
    enum status status = STATUS_OK;
    patching.batch = index_batch_new(partition);
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
    index_batch_free(patching.batch);
    return status;
}
