/* Snapshots that clients keep over several requests, so that all scans of one query see one
 * version of the partition. A client names its session by a random number; the first request of a
 * session begins it, however often that request comes. One thread, which is the service's. */
#ifndef INDEX_SERVE_SESSIONS_H
#define INDEX_SERVE_SESSIONS_H

#include "index/write/partition.h"

struct sessions;
struct sessions *sessions_new(struct partition *partition, size_t most);
void sessions_free(struct sessions *sessions);

/* A reader of the session's version, to be closed by the caller. begin: makes the session unless
 * it is there. STALE when there is none, as after a restart; LIMIT. */
enum status sessions_reader(struct sessions *sessions, uint64_t id, bool begin,
                            struct partition_reader **reader, struct reason *why);
void sessions_end(struct sessions *sessions, uint64_t id);
/* Drops those that nobody asked for in five minutes. */
void sessions_tend(struct sessions *sessions, uint64_t now_ms);

#endif
