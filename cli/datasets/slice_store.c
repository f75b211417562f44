#include "cli/datasets/slice_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"
#include "stages/skeleton/document.h"
#include "warc/warc.h"

enum {
    BATCH_DOCUMENTS = 1000,
    GRAPH_BYTES = 256 << 20,
    PATH_BYTES = 4096,
    FULL_WAIT_MS = 1000,
    FULL_TRIES = 600
};

struct slice_store {
    struct slice_store_options options;
    struct queue_client *queue;
    struct metastore_client *metastore;
    struct warc_writer *warc;
    const char *node;
    pthread_mutex_t lock;
    struct graph *graphs; /* one for each thread */
    struct buf *texts;
    /* the batch */
    struct arena arena;
    struct job *jobs;
    struct meta_put *puts;
    size_t count, removed; /* removed: of count */
    struct slice_store_counts counts;
    uint64_t *taken; /* fingerprints of documents */
    size_t taken_count;
    bool sorted;
};

/* ---- life ---- */

static enum status
open_archive(struct slice_store *store, struct cli *cli, struct reason *why)
{
    char folder[PATH_BYTES], process[32];
    struct warc_writer_options settings = {0};
    snprintf(folder, sizeof folder, "%s/warc", cli->directory);
    snprintf(process, sizeof process, "slice.%d", (int)getpid());
    warc_writer_options_from(&settings, cli->options);
    settings.node = store->node;
    settings.process = process;
    return warc_writer_open(&store->warc, folder, &settings, why);
}

enum status
slice_store_open(struct slice_store **result, struct cli *cli,
                 const struct slice_store_options *options, struct reason *why)
{
    struct slice_store *store = memory_new(sizeof *store);
    store->options = *options;
    store->node = cluster_node(cli->cluster, cluster_self(cli->cluster))->name;
    store->graphs = memory_zero(options->threads, sizeof *store->graphs);
    store->texts = memory_zero(options->threads, sizeof *store->texts);
    store->jobs = memory_zero(BATCH_DOCUMENTS, sizeof *store->jobs);
    store->puts = memory_zero(BATCH_DOCUMENTS, sizeof *store->puts);
    pthread_mutex_init(&store->lock, NULL);
    arena_init(&store->arena, 0);
    for (unsigned i = 0; i < options->threads; i++) {
        graph_init(&store->graphs[i], GRAPH_BYTES);
        buf_init(&store->texts[i], GRAPH_BYTES);
    }
    enum status status = cli_queue(cli, &store->queue, why);
    if (status == STATUS_OK) {
        status = cli_metastore(cli, &store->metastore, why);
    }
    if (status == STATUS_OK) {
        status = open_archive(store, cli, why);
    }
    if (status != STATUS_OK) {
        slice_store_close(store);
        store = NULL;
    }
    *result = store;
    return status;
}

void
slice_store_close(struct slice_store *store)
{
    if (store == NULL) {
        return;
    }
    queue_client_close(store->queue);
    metastore_client_close(store->metastore);
    (void)warc_writer_close(store->warc, NULL);
    for (unsigned i = 0; i < store->options.threads; i++) {
        graph_release(&store->graphs[i]);
        buf_release(&store->texts[i]);
    }
    arena_release(&store->arena);
    pthread_mutex_destroy(&store->lock);
    free(store->graphs);
    free(store->texts);
    free(store->jobs);
    free(store->puts);
    free(store->taken);
    free(store);
}

void
slice_store_counted(const struct slice_store *store, struct slice_store_counts *counts)
{
    *counts = store->counts;
}

/* ---- making it durable ---- */

/* While the queue takes nothing in, this waits: a dump is not lost because a disk is nearly full.
 */
static enum status
put_jobs(struct slice_store *store, struct reason *why)
{
    enum status status = STATUS_FULL;
    for (unsigned tries = 0; status == STATUS_FULL && tries < FULL_TRIES; tries++) {
        if (tries > 0) {
            usleep(FULL_WAIT_MS * 1000);
        }
        status = cli_put_and_wait(store->queue, store->jobs, store->count, why);
    }
    return status;
}

static enum status
flush(struct slice_store *store, struct reason *why)
{
    if (store->count == 0) {
        return STATUS_OK;
    }
    TRY(warc_sync(store->warc, why));
    TRY(cli_note_and_wait(store->metastore, store->puts, store->count, why));
    TRY(put_jobs(store, why));
    store->counts.documents += store->count - store->removed;
    store->counts.removed += store->removed;
    store->count = store->removed = 0;
    arena_reset(&store->arena);
    return STATUS_OK;
}

enum status
slice_store_flush(struct slice_store *store, struct reason *why)
{
    pthread_mutex_lock(&store->lock);
    const enum status status = flush(store, why);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* ---- one document ---- */

enum status
sliced_quads(struct graph *graph, const struct sliced_document *document, struct buf *text,
             struct reason *why)
{
    const struct quad_sink sink = graph_sink(graph);
    graph_reset(graph);
    buf_reset(text);
    TRY(ntriples_parse(document->lines, NULL, &sink, why));
    for (size_t i = 0; i < graph->count; i++) {
        graph->quads[i].graph = term_iri(document->uri);
    }
    TRY(graph_relabel(graph, document->uri, 0, NULL, why));
    graph_sort_unique(graph);
    for (size_t i = 0; i < graph->count; i++) {
        TRY(nquads_write(text, &graph->quads[i]));
    }
    return STATUS_OK;
}

static struct slice
fields_of(struct slice_store *store, const struct document *document, struct slice quads)
{
    struct meta_update update;
    uint8_t digest[DIGEST_SHA256_SIZE];
    char hex[2 * DIGEST_SHA256_SIZE + 1];
    meta_update_init(&update);
    digest_sha256(quads, digest);
    digest_hex(digest, DIGEST_SHA256_SIZE, hex);
    meta_set_text(&update, META_STATE, SLICE("sliced"));
    meta_set_text(&update, META_DUMP, store->options.dump);
    meta_set_text(&update, META_SLICING, store->options.slicing);
    if (store->options.authority.length > 0) {
        meta_set_text(&update, META_PUBLISHER, store->options.authority);
    }
    meta_set_number(&update, META_FETCHED, store->options.fetched_ms);
    meta_set_text(&update, META_VIA, store->options.dump);
    meta_set_number(&update, META_DEPTH, store->options.depth);
    meta_set_number(&update, META_TRANSFORMED, clock_wall_ms());
    meta_set_number(&update, META_QUADS, document->quads);
    meta_set_text(&update, META_CONVERSION_NODE, document->conversion.node);
    meta_set_text(&update, META_CONVERSION_FILE, document->conversion.file);
    meta_set_number(&update, META_CONVERSION_OFFSET, document->conversion.offset);
    meta_set_number(&update, META_CONVERSION_LENGTH, document->conversion.length);
    meta_set_text(&update, META_CONVERSION_RECORD_ID, document->conversion.id);
    const struct slice fields = arena_copy(&store->arena, meta_update_fields(&update));
    meta_update_release(&update);
    return fields;
}

static enum status
put(struct slice_store *store, struct slice uri, const struct document *document,
    struct slice fields, struct reason *why)
{
    struct buf data;
    buf_init(&data, JOB_DATA_MAXIMUM);
    document_encode(&data, document);
    store->jobs[store->count] = (struct job){
        .key.stage = STAGE_FETCH,
        .uri = uri,
        .lane_name = url_origin(uri),
        .via = store->options.dump,
        .priority = 128,
        .flags = JOB_SLICE,
        .depth = (uint16_t)(store->options.depth < UINT16_MAX ? store->options.depth : UINT16_MAX),
        .data = arena_copy(&store->arena, buf_slice(&data))};
    store->puts[store->count] = (struct meta_put){
        .key = arena_printf(&store->arena, "u%.*s", SLICE_PRINT(uri)), .fields = fields};
    buf_release(&data);
    return ++store->count == BATCH_DOCUMENTS ? flush(store, why) : STATUS_OK;
}

static void
remember(struct slice_store *store, struct slice uri)
{
    if ((store->taken_count & (store->taken_count - 1)) == 0) {
        store->taken =
            memory_resize(store->taken, 2 * store->taken_count + 1, sizeof *store->taken);
    }
    store->taken[store->taken_count++] = fingerprint64(uri);
    store->sorted = false;
}

static enum status
add(struct slice_store *store, struct slice key, struct slice quads, uint64_t count,
    struct reason *why)
{
    struct warc_location location;
    const struct warc_conversion conversion = {.uri = key,
                                               .refers_to = store->options.refers_to,
                                               .content_type = SLICE("application/n-quads"),
                                               .body = quads,
                                               .date_ms = clock_wall_ms()};
    TRY(warc_write_conversion(store->warc, &conversion, &location, why));
    const struct document document = {.http_status = 200,
                                      .type = SLICE("application/n-quads"),
                                      .fetched_ms = store->options.fetched_ms,
                                      .quads = count,
                                      .conversion = {.node = slice_string(store->node),
                                                     .file = slice_string(location.file),
                                                     .offset = location.offset,
                                                     .length = location.length,
                                                     .id = slice_string(location.id)}};
    const struct slice uri = arena_copy(&store->arena, key);
    store->counts.quads += count;
    if (store->options.remember) {
        remember(store, uri);
    }
    return put(store, uri, &document, fields_of(store, &document, quads), why);
}

static int
compare_fingerprints(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

bool
slice_store_has(struct slice_store *store, struct slice uri)
{
    const uint64_t fingerprint = fingerprint64(uri);
    if (!store->sorted && store->taken_count > 0) {
        qsort(store->taken, store->taken_count, sizeof fingerprint, compare_fingerprints);
    }
    store->sorted = true;
    return store->taken_count > 0 && bsearch(&fingerprint, store->taken, store->taken_count,
                                             sizeof fingerprint, compare_fingerprints) != NULL;
}

enum status
slice_store_remove(struct slice_store *store, struct slice uri, struct reason *why)
{
    const struct document document = {.removed = true, .fetched_ms = store->options.fetched_ms};
    struct meta_update update;
    meta_update_init(&update);
    meta_set_text(&update, META_STATE, SLICE("gone"));
    meta_set_text(&update, META_REASON, SLICE("its dump has it no more"));
    meta_set_number(&update, META_FETCHED, store->options.fetched_ms);
    meta_set_number(&update, META_QUADS, 0);
    const struct slice fields = arena_copy(&store->arena, meta_update_fields(&update));
    meta_update_release(&update);
    store->removed++;
    return put(store, arena_copy(&store->arena, uri), &document, fields, why);
}

enum status
slice_store_take(void *context, unsigned thread, const struct sliced_document *document,
                 struct reason *why)
{
    struct slice_store *store = context;
    struct graph *graph = &store->graphs[thread];
    struct sliced_document named = *document;
    struct buf key;
    buf_init(&key, URL_MAXIMUM);
    /* Documents have crawl keys; what cannot be crawled is no document. */
    enum status status = url_crawl_key(document->uri, (struct slice){0}, &key, why);
    if (status == STATUS_OK) {
        named.uri = buf_slice(&key);
        status = sliced_quads(graph, &named, &store->texts[thread], why);
    }
    pthread_mutex_lock(&store->lock);
    if (status == STATUS_OK) {
        status = add(store, named.uri, buf_slice(&store->texts[thread]), graph->count, why);
    } else if (status == STATUS_LIMIT || status == STATUS_UNSUPPORTED ||
               status == STATUS_BAD_INPUT) {
        store->counts.refused++;
        status = STATUS_OK;
    }
    pthread_mutex_unlock(&store->lock);
    buf_release(&key);
    return status;
}
