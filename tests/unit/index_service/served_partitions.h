/* Partitions with their services and a writer that carries out changes, and a client of them all:
 * shared by the tests of what clients do to an index. */
#ifndef TESTS_UNIT_INDEX_SERVICE_SERVED_PARTITIONS_H
#define TESTS_UNIT_INDEX_SERVICE_SERVED_PARTITIONS_H

#include "tests/unit/index/index_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include "index/client/index_client.h"
#include "index/serve/index_service.h"

enum { SERVED_MOST = 3, SERVED_URI = 64, SERVED_ANSWER = 1 << 26 };

struct served {
    size_t count;
    struct partition *partitions[SERVED_MOST];
    struct service *services[SERVED_MOST];
    char names[SERVED_MOST][128];
    const char *endpoints[SERVED_MOST];
    struct index_client *client;
    pthread_t writer;
    atomic_bool stopping;
};

/* The folders are made in `folder`, where no others of as many partitions may be. */
void served_start(struct served *served, const char *folder, size_t count);
void served_stop(struct served *served);
/* The n-th name of a graph that is the partition's. */
const char *served_graph(const struct served *served, size_t partition, unsigned n,
                         char uri[SERVED_URI]);
/* Commits as many graphs, each to its partition, with the quads that `put` appends. uri: the
 * graph's.
 */
typedef void served_put(void *context, unsigned graph, const char *uri, struct buf *quads);
void served_fill(struct served *served, unsigned graphs, served_put *put, void *context);
/* All quads, sorted; out is emptied before. */
void served_dump(const struct served *served, struct buf *out);
/* Commits of all partitions. */
uint64_t served_batches(const struct served *served);

#endif
