/* Lookups: the statements that have words or match patterns, and what little is said of each of
 * many resources; without text and with each term once, for services that are asked often. */
#ifndef INDEX_CLIENT_CLIENT_LOOKUP_H
#define INDEX_CLIENT_CLIENT_LOOKUP_H

#include "base/arena.h"
#include "index/client/index_client.h"

/* Says what is to be found: by words (index_search), or, when there are none, by patterns. */
struct index_find {
    struct slice words;
    const struct quad *patterns; /* TERM_NONE places are any */
    size_t pattern_count;
    uint32_t limit;      /* statements of all words together, of each pattern */
    uint32_t timeout_ms; /* 0: none */
};
struct index_statement {
    struct quad quad; /* its terms live in the arena */
    double score;     /* of words, as index_search has it */
    size_t pattern;   /* which one found it */
};
typedef enum status index_statement_take(void *context, const struct index_statement *statement,
                                         struct reason *why);
/* The best first, or pattern by pattern; with a greater limit the first ones are the same. LIMIT
 * also when the terms do not fit the arena, TIMEOUT when the answers were not there in time. */
enum status index_find(struct index_client *client, const struct index_find *find,
                       struct arena *arena, index_statement_take *take, void *context,
                       struct reason *why);

/* A resource in a document; and an object that it has there by a predicate, each by its number. */
struct index_resource {
    struct term subject, graph;
};
typedef void index_object_take(void *context, size_t resource, size_t predicate,
                               const struct term *object);
/* Calls take with one object of each predicate that a resource has: the first that the partition
 * has it by. At most INDEX_DESCRIBED_PREDICATES (index/protocol/service_protocol.h). TIMEOUT after
 * timeout_ms, 0: never. */
enum status index_describe(struct index_client *client, const struct index_resource *resources,
                           size_t count, const struct slice *predicates, size_t predicate_count,
                           uint32_t timeout_ms, struct arena *arena, index_object_take *take,
                           void *context, struct reason *why);

#endif
