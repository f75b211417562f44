#include "web/queries.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"

struct web_queries {
    size_t most;
    pthread_mutex_t mutex; /* guards what follows */
    struct web_query *queries;
    size_t count; /* twice as many: those cut off take their time to end */
};

struct web_queries *
web_queries_new(size_t most)
{
    struct web_queries *queries = memory_new(sizeof *queries);
    queries->most = most;
    queries->count = 2 * most;
    queries->queries = memory_zero(queries->count, sizeof *queries->queries);
    (void)pthread_mutex_init(&queries->mutex, NULL);
    return queries;
}

void
web_queries_free(struct web_queries *queries)
{
    if (queries != NULL) {
        (void)pthread_mutex_destroy(&queries->mutex);
        free(queries->queries);
        free(queries);
    }
}

/* Returns how many places a client has, or (0) all together. */
static size_t
places_of(const struct web_queries *queries, uint64_t client)
{
    size_t places = 0;
    for (size_t i = 0; i < queries->count; i++) {
        const struct web_query *query = &queries->queries[i];
        places +=
            query->used && !atomic_load(&query->cut) && (client == 0 || query->client == client);
    }
    return places;
}

static bool
cut_one(struct web_queries *queries, uint64_t now_ms)
{
    struct web_query *found = NULL;
    size_t most = 0;
    for (size_t i = 0; i < queries->count; i++) {
        struct web_query *query = &queries->queries[i];
        if (!query->used || atomic_load(&query->cut) ||
            query->since_ms + WEB_QUERY_LONG_MS > now_ms) {
            continue;
        }
        const size_t places = places_of(queries, query->client);
        if (places > most || (places == most && query->since_ms > found->since_ms)) {
            found = query;
            most = places;
        }
    }
    if (found != NULL) {
        atomic_store(&found->cut, true);
        atomic_store(&found->cancelled, true);
    }
    return found != NULL;
}

struct web_query *
web_queries_take(struct web_queries *queries, uint64_t client, uint64_t now_ms)
{
    struct web_query *found = NULL;
    (void)pthread_mutex_lock(&queries->mutex);
    for (size_t i = 0; i < queries->count && found == NULL; i++) {
        found = queries->queries[i].used ? NULL : &queries->queries[i];
    }
    if (found != NULL && places_of(queries, 0) >= queries->most && !cut_one(queries, now_ms)) {
        found = NULL;
    }
    if (found != NULL) {
        found->client = client;
        found->since_ms = now_ms;
        atomic_store(&found->cancelled, false);
        atomic_store(&found->cut, false);
        found->used = true;
    }
    (void)pthread_mutex_unlock(&queries->mutex);
    return found;
}

void
web_queries_give(struct web_queries *queries, struct web_query *query)
{
    (void)pthread_mutex_lock(&queries->mutex);
    query->used = false;
    (void)pthread_mutex_unlock(&queries->mutex);
}

enum status
web_query_status(const struct web_query *query, enum status status, struct reason *why)
{
    if (status == STATUS_OK || !atomic_load(&query->cut)) {
        return status;
    }
    return status_fail(why, STATUS_AGAIN,
                       "The query was cut off, so that others are answered: all places for queries "
                       "were taken, most of them by this client.");
}
