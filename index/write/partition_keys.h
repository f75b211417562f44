/* The nodes of a partition, so that others can tell which of them they have too (SEVERAL.md, "Keys
 * of several partitions"). A partition logs each node once, in the order in which it came, from the
 * first asking on: until it is closed the log only grows, so a place in it is a name for the node.
 * What was removed stays. Any thread may ask. */
#ifndef INDEX_WRITE_PARTITION_KEYS_H
#define INDEX_WRITE_PARTITION_KEYS_H

#include "base/buf.h"
#include "index/oid_set.h"
#include "index/quads/change_set.h"
#include "index/write/partition.h"

enum { PARTITION_KEYS_MOST = 1 << 22 };

struct partition_keys;
struct partition_keys *partition_keys_new(void);
void partition_keys_free(struct partition_keys *keys);
/* Notes the nodes of quads that are about to be seen, when a log has begun. By the writer. */
void partition_keys_note(struct partition_keys *keys, const struct change_set *set);

struct keys_request {
    enum key_places places;
    uint64_t epoch; /* of the log that is known */
    uint64_t from;  /* nodes known of it */
    enum status (*check)(const void *context, struct reason *why);
    const void *check_context;
};
/* Appends to out: u64 epoch, v place of the first, the hashes as u32. They are at least those of
 * the nodes that any reader sees which was opened before. LIMIT: there are too many. */
enum status partition_keys_read(struct partition *partition, const struct keys_request *request,
                                struct buf *out, struct reason *why);
/* Fills the set with the nodes at some places: u64 epoch, v number, v each place less that before.
 * STALE when the log is another one, PROTOCOL when it has no such place. */
enum status partition_keys_set(struct partition *partition, enum key_places places,
                               struct slice list, struct oid_set *set, struct reason *why);

#endif
