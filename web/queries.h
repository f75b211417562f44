/* The queries that the web service has under way: at most so many, and nobody's long ones keep
 * others out. When all places are taken, the client that has most of them loses the youngest that
 * has been under way for WEB_QUERY_LONG_MS; what it asked ends with an error that says so. */
#ifndef WEB_QUERIES_H
#define WEB_QUERIES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { WEB_QUERY_LONG_MS = 1000 };

struct web_query {
    uint64_t client;
    uint64_t since_ms;
    atomic_bool cancelled; /* for whoever works on it: to end soon */
    atomic_bool cut;       /* that is why */
    bool used;             /* private */
};

struct web_queries;
struct web_queries *web_queries_new(size_t most);
void web_queries_free(struct web_queries *queries);

/* A place, to be given back. NULL: all are taken, by queries that have not been long under way. */
struct web_query *web_queries_take(struct web_queries *queries, uint64_t client, uint64_t now_ms);
void web_queries_give(struct web_queries *queries, struct web_query *query);
/* CANCELLED of a query that was cut off becomes AGAIN, with the reason. */
enum status web_query_status(const struct web_query *query, enum status status, struct reason *why);

#endif
