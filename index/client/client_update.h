/* Changes of quads in all partitions; inside of index/client/. */
#ifndef INDEX_CLIENT_CLIENT_UPDATE_H
#define INDEX_CLIENT_CLIENT_UPDATE_H

#include "index/client/index_client.h"

/* Removes and adds quads: each partition's in one request. Errors are those of index_update. */
enum status client_change(struct index_client *client, const struct graph *removed,
                          const struct graph *added, struct index_update_report *report,
                          struct reason *why);

#endif
