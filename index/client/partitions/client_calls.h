/* The partitions of an index client and one call over several of them: who is asked, who is
 * missing, streams of their answers. For index/client/ and its folders only. */
#ifndef INDEX_CLIENT_PARTITIONS_CLIENT_CALLS_H
#define INDEX_CLIENT_PARTITIONS_CLIENT_CALLS_H

#include <stdatomic.h>

#include "base/digest.h"
#include "base/rpc/rpc.h"
#include "index/client/partitions/index_links.h"
#include "index/protocol/answer.h"
#include "index/protocol/service_protocol.h"

struct links_request;
struct repeated_cache;
struct node_keys;
struct value_cache;
struct metastore_client_options;

struct partition_client {
    struct rpc_client *rpc;
    struct links_request *links; /* to be posted; NULL: none */
    char *endpoint;
    bool missing; /* the present call goes on without it, because: */
    struct reason why;
};

struct index_client {
    struct partition_client *partitions;
    size_t count;
    struct pollfd *descriptors;
    uint16_t *owners;                /* of virtual partitions; NULL: spread evenly */
    uint32_t timeout_ms;             /* of a change */
    uint32_t silence_ms;             /* a partition that says nothing for so long counts as down */
    uint64_t last_session;           /* counts on from a random number */
    struct repeated_cache *repeated; /* triples that several partitions have; NULL: none yet */
    struct value_cache *values;      /* values of patterns by their digests; NULL: none yet */
    struct node_keys *keys[KEY_PLACES];         /* nodes that several have; NULL: none yet */
    struct metastore_client_options *metastore; /* NULL: none */
    /* These belong to the present call. */
    enum index_partial partial;
    uint64_t deadline_ms; /* monotonic; 0: none */
    const atomic_bool *cancel;
};

/* ---- a call over several partitions ---- */

/* Nothing is missing yet; timeout_ms 0: none. */
void client_begin(struct index_client *client, enum index_partial partial, uint64_t timeout_ms,
                  const atomic_bool *cancel);
/* Waits until something comes in, for a bounded time. CANCELLED, TIMEOUT: the call's end. */
enum status client_wait(struct index_client *client, struct reason *why);
/* Returns whether the call itself is to end: cancelled, or its time is over. */
bool client_ended(const struct index_client *client);
/* The call's status and reason when the partition failed with status and what: names it. */
enum status client_fail(const struct index_client *client, size_t partition, enum status status,
                        const struct reason *what, struct reason *why);
/* The partition failed as above. OK when the call goes on without it; otherwise the
 * call's status, with the partition's name in the reason. */
enum status client_miss(struct index_client *client, size_t partition, enum status status,
                        const struct reason *what, struct reason *why);
/* The partition of a graph. */
static inline size_t
client_owner(const struct index_client *client, struct slice graph)
{
    const size_t virtual = partition_of(graph);
    return client->owners != NULL ? client->owners[virtual] : virtual * client->count / PARTITIONS;
}

/* ---- links ---- */

/* Posts what is asked for. */
void client_links_post(struct index_client *client, size_t partition);
/* Ends CANCELLED what was not posted. */
void client_links_cancel(struct index_client *client, size_t partition);

/* ---- streams ---- */

/* Asks for the next piece while the present one is being read. */
struct index_stream_reader {
    struct index_client *client;
    size_t partition;
    struct stream_call *call;     /* what is awaited; NULL: nothing */
    struct buf incoming, current; /* replies */
    uint64_t cursor, offset, pieces;
    bool opened, ended, taken; /* taken: nothing is in incoming */
    enum status status;        /* of incoming */
    struct reason why;
};

/* request: kind of stream and its arguments. Does not wait. */
void stream_start(struct index_stream_reader *stream, struct index_client *client, size_t partition,
                  struct slice request);
/* Something is awaited. */
static inline bool
stream_waits(const struct index_stream_reader *stream)
{
    return stream->call != NULL;
}
/* The next bytes if they are there, living until the next call; END. AGAIN while the stream waits;
 * when it does not, AGAIN is how the service failed. */
enum status stream_take(struct index_stream_reader *stream, struct slice *bytes,
                        struct reason *why);
/* Waits for the next bytes; END. */
enum status stream_next(struct index_stream_reader *stream, struct slice *bytes,
                        struct reason *why);
/* Does what stream_next does; where the call may go on without the partition its stream just ends.
 */
enum status client_next_bytes(struct index_stream_reader *stream, struct slice *bytes,
                              struct reason *why);
/* Tells the service when the stream has not ended; does not wait. */
void stream_close(struct index_stream_reader *stream);

/* All bytes of one partition's stream to piece. */
enum status stream_pass_on(struct index_client *client, size_t partition, struct slice request,
                           index_piece *piece, void *context, struct reason *why);

#endif
