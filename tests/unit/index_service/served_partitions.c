#include "tests/unit/index_service/served_partitions.h"

#include <poll.h>

#include "index/write/patch.h"

enum { WRITER_MEMORY = 8 << 20, LOOK_MS = 50 };

/* Does what the index stage does between two batches, for all partitions. */
static void *
carry_out(void *context)
{
    struct served *served = context;
    while (!atomic_load(&served->stopping)) {
        struct pollfd wanted[SERVED_MOST];
        for (size_t i = 0; i < served->count; i++) {
            wanted[i] = (struct pollfd){
                patch_queue_descriptor(service_patches(served->services[i])), POLLIN, 0};
        }
        (void)poll(wanted, (nfds_t)served->count, LOOK_MS);
        for (size_t i = 0; i < served->count; i++) {
            struct reason why = {""};
            struct patch_queue *queue = service_patches(served->services[i]);
            if (patch_queue_work(queue, served->partitions[i], WRITER_MEMORY, &why) != STATUS_OK) {
                fprintf(stderr, "the writer of partition %zu: %s\n", i, why.text);
                abort();
            }
        }
    }
    return NULL;
}

void
served_start(struct served *served, const char *folder, size_t count)
{
    struct reason why = {""};
    *served = (struct served){.count = count};
    for (size_t i = 0; i < count; i++) {
        char name[96];
        snprintf(name, sizeof(name), "%s/%u-%u", folder, (unsigned)count, (unsigned)i);
        snprintf(served->names[i], sizeof(served->names[i]), "ipc://%s.sock", name);
        served->endpoints[i] = served->names[i];
        served->partitions[i] = fixture_open(name, 4 << 20);
        const char *const own[] = {served->names[i], NULL};
        const struct service_options options = {.endpoints = own,
                                                .scratch_folder = folder,
                                                .query_threads = 2,
                                                .cursors = 64,
                                                .query_timeout_ms = 60000,
                                                .query_memory = 64 << 20,
                                                .answer_bytes = SERVED_ANSWER,
                                                .sort_memory = 1 << 20,
                                                .answer_memory = 4 << 20};
        must(service_start(&served->services[i], served->partitions[i], &options, &why), &why);
    }
    const struct index_client_options options = {
        .endpoints = served->endpoints, .count = count, .name = "test"};
    must(index_client_open(&served->client, &options, &why), &why);
    assert_int_equal(pthread_create(&served->writer, NULL, carry_out, served), 0);
}

void
served_stop(struct served *served)
{
    index_client_close(served->client);
    atomic_store(&served->stopping, true);
    pthread_join(served->writer, NULL);
    for (size_t i = 0; i < served->count; i++) {
        service_stop(served->services[i]);
        partition_close(served->partitions[i]);
    }
}

const char *
served_graph(const struct served *served, size_t partition, unsigned n, char uri[SERVED_URI])
{
    for (unsigned i = 0;; i++) {
        snprintf(uri, SERVED_URI, "http://g%u.example/", i);
        const size_t owner = (size_t)partition_of(slice_string(uri)) * served->count / PARTITIONS;
        if (owner == partition && n-- == 0) {
            return uri;
        }
    }
}

void
served_fill(struct served *served, unsigned graphs, served_put *put, void *context)
{
    struct reason why = {""};
    for (size_t p = 0; p < served->count; p++) {
        struct index_batch *batch = index_batch_new(served->partitions[p]);
        for (unsigned g = 0; g < graphs; g++) {
            char uri[SERVED_URI];
            struct buf quads;
            fixture_uri(g, uri);
            if ((size_t)partition_of(slice_string(uri)) * served->count / PARTITIONS != p) {
                continue;
            }
            buf_init(&quads, 1 << 20);
            put(context, g, uri, &quads);
            fixture_add(batch, g, 1, &quads);
            buf_release(&quads);
        }
        must(index_batch_commit(batch, &why), &why);
        must(partition_settle(served->partitions[p], &why), &why);
        index_batch_free(batch);
    }
}

void
served_dump(const struct served *served, struct buf *out)
{
    struct reason why = {""};
    buf_reset(out);
    must(index_dump(served->client, NULL, fixture_append, out, &why), &why);
    (void)buf_append_string(out, "");
}

uint64_t
served_batches(const struct served *served)
{
    struct index_stats stats;
    struct reason why = {""};
    must(index_stats_get(served->client, &stats, &why), &why);
    return stats.batches;
}
