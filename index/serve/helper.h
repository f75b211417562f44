/* The second thread of a query: it runs as long as one of the turns is spare, over the same version
 * of the index. One query's at a time has one. */
#ifndef INDEX_SERVE_HELPER_H
#define INDEX_SERVE_HELPER_H

#include <pthread.h>

#include "index/query/query.h"
#include "index/serve/turns.h"
#include "index/write/partition.h"

struct helper {
    struct query_helper functions; /* of which this is the context */
    struct turn *turn;
    struct partition_reader *reader; /* of the query, */
    struct partition_reader *own;    /* and of its version */
    pthread_t thread;
    query_help *help;
    void *argument;
};

/* Nothing begins, and nothing need be released. */
void helper_init(struct helper *helper, struct turn *turn, struct partition_reader *reader);

#endif
