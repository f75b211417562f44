/* Stands in the place of the messages to metadata stores, for a client that is tested alone: what
 * it posts waits for the test to answer it; calls are answered by what the test has given before.
 */
#ifndef TESTS_UNIT_METASTORE_MESSAGES_H
#define TESTS_UNIT_METASTORE_MESSAGES_H

#include "base/buf.h"
#include "base/rpc/rpc.h"

enum { NODES = 3, POSTS_MOST = 16, REPLIES_MOST = 8, TEXT_MAXIMUM = 8 << 20 };

struct post {
    size_t node;
    uint8_t verb;
    uint32_t timeout_ms;
    struct buf payload;
    rpc_done *done; /* NULL: it has ended */
    void *context;
};

extern struct post posts[POSTS_MOST];   /* what rpc_client_post was given, in its order */
extern struct post calls[REPLIES_MOST]; /* the same of rpc_call */
extern size_t posted, called;
extern size_t opened, closed; /* clients of single stores */
extern size_t open_fails_at;  /* the client that cannot be opened; SIZE_MAX: none */
extern size_t processed;      /* how often rpc_client_process was called */
extern int wait_ms[NODES];    /* what rpc_client_wait_ms returns */

/* Are run before and after each test. */
int messages_begin(void **state);
int messages_end(void **state);
/* Ends a post. */
void answer(size_t i, enum status status, struct slice payload);
/* The payload, to be filled, of the answer to the next call that has none yet. */
struct buf *reply(enum status status);

/* metastore_calls.c; returns how many failed. */
int metastore_calls_tests(void);

#endif
