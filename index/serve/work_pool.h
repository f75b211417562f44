/* Threads that answer small questions to a partition, each with a reader of its own. */
#ifndef INDEX_SERVE_WORK_POOL_H
#define INDEX_SERVE_WORK_POOL_H

#include "index/serve/index_service.h"

struct work {
    struct rpc_request request;
    struct buf reply;
    enum status status;
    struct reason why;
    struct work *next;
};

struct work_pool;
/* event: an eventfd that is written when work is done. */
enum status work_pool_start(struct work_pool **pool, struct partition *partition,
                            const struct service_options *options, int event, struct reason *why);
/* Ends the threads. Requests that were not answered are dropped. */
void work_pool_stop(struct work_pool *pool);
/* Takes the request. */
void work_pool_add(struct work_pool *pool, const struct rpc_request *request);
/* A list of answered work; the caller replies and frees it with work_free. NULL: none. */
struct work *work_pool_take(struct work_pool *pool);
void work_free(struct work *work);

#endif
