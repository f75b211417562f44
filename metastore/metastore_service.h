/* The daemon's work between transport and store: answers gets and scans, gathers puts,
 * merges them into records, commits them together, then answers. Single-threaded. */
#ifndef METASTORE_METASTORE_SERVICE_H
#define METASTORE_METASTORE_SERVICE_H

#include "base/rpc/rpc.h"
#include "metastore/archive_keep.h"
#include "metastore/store.h"

struct meta_service;

/* Borrows store and server, which must outlive it. NULL when it fails. */
enum status meta_service_open(struct meta_service **service, struct meta_store *store,
                              struct rpc_server *server, struct reason *why);
void meta_service_free(struct meta_service *service);
/* Sets the folder of the WARC files that ARCHIVE reads, and the archive that KEEP adds to; both
 * must outlive the service. Before this call the answers are NOT_FOUND. */
void meta_service_serve_archive(struct meta_service *service, const char *folder,
                                struct archive_keep *keep);

/* Handles what has arrived, up to one batch; *more: there may be another at once.
 * A status other than OK means that the store is broken and the daemon must end; what was not
 * answered the clients send again. */
enum status meta_service_turn(struct meta_service *service, bool *more, struct reason *why);

/* Answers one GET, SCAN, STATS or ARCHIVE payload into reply; PROTOCOL for others. For tests, too.
 */
enum status meta_service_read(struct meta_service *service, uint8_t verb, struct slice payload,
                              struct buf *reply, struct reason *why);

/* Merges and commits PUT payloads; statuses[i] and reasons[i] tell how each ended. */
enum status meta_service_write(struct meta_service *service, const struct slice *payloads, size_t n,
                               enum status *statuses, struct reason *reasons, struct reason *why);

#endif
