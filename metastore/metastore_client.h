/* The metadata store as stages see it: batched, asynchronous; callbacks run inside
 * metastore_process(). Every call may be repeated. With several nodes the client is routed:
 * keys by cluster_key_partition; the caller does not see it. */
#ifndef METASTORE_METASTORE_CLIENT_H
#define METASTORE_METASTORE_CLIENT_H

#include "base/rpc/rpc.h"
#include "metastore/protocol.h"
#include "metastore/record.h"
#include "warc/warc.h"

struct metastore_client;
struct metastore_client_options {
    const char *const *endpoints; /* one per node, node order of cluster.conf; count below */
    size_t endpoint_count;
    const uint16_t *owner_of_partition; /* PARTITIONS entries: index into endpoints; NULL: all 0 */
    const char *name;
    const struct rpc_keys *keys;
    /* A node, not this one (ipc), that says nothing for so long is away: gets of its keys end
     * UNAVAILABLE, at once, until it answers. 0: they wait for ever. */
    uint32_t silence_ms;
};
/* A copy, keys aside, which must live as long; to be freed by free(). */
struct metastore_client_options *
metastore_client_options_copy(const struct metastore_client_options *options);
enum status metastore_client_open(struct metastore_client **client,
                                  const struct metastore_client_options *options,
                                  struct reason *why);
void metastore_client_close(struct metastore_client *client); /* NULL is allowed */
/* Descriptors for poll: up to `most` are written, the number returned. */
size_t metastore_descriptors(struct metastore_client *client, int *descriptors, size_t most);
void metastore_process(struct metastore_client *client);
int metastore_wait_ms(const struct metastore_client *client);
/* Waits so long at most for something to do, then does it; for callers that do nothing else
 * meanwhile. */
void metastore_wait(struct metastore_client *client, int most_ms);

struct meta_put {
    struct slice key;    /* "uhttp://..." or "hhttp://host" */
    struct slice fields; /* meta_update.fields */
};
typedef void metastore_put_done(void *context, enum status status, const struct reason *why);
/* Durable when the callback says OK. */
void metastore_put(struct metastore_client *client, const struct meta_put *puts, size_t n,
                   metastore_put_done *done, void *context);

/* records[i] empty: nothing known of keys[i]. Live until the callback returns. */
typedef void metastore_got(void *context, enum status status, const struct slice *records, size_t n,
                           const struct reason *why);
void metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                   metastore_got *done, void *context);

/* Has a WARC record (warc_pack_conversion; METASTORE_KEEP_MAXIMUM bytes at most) archived by the
 * node of an endpoint, and waits for it as long as it takes. location: OK only; until the callback
 * returns. */
typedef void metastore_kept(void *context, enum status status, const struct warc_location *location,
                            const struct reason *why);
void metastore_keep(struct metastore_client *client, size_t endpoint, const char *id,
                    struct slice member, metastore_kept *done, void *context);

/* Blocking, for command lines. NOT_FOUND when nothing is known; *record is initialised. */
enum status metastore_get_wait(struct metastore_client *client, struct slice key,
                               struct buf *record, uint32_t timeout_ms, struct reason *why);
/* Keys after `after` with the prefix, ascending, at most `most`; visit false stops. */
typedef bool metastore_visit(void *context, struct slice key, struct slice record);
enum status metastore_scan(struct metastore_client *client, struct slice prefix, struct slice after,
                           uint32_t most, metastore_visit *visit, void *context,
                           uint32_t timeout_ms, struct reason *why);
/* The counters of one node's daemon as lines "name value"; END past the last endpoint. */
enum status metastore_stats(struct metastore_client *client, size_t endpoint, struct buf *lines,
                            uint32_t timeout_ms, struct reason *why);

#endif
