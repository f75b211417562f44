/* Backup and compact as a client of the partitions. */
#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"

size_t
index_client_partitions(const struct index_client *client)
{
    return client->count;
}

enum status
index_backup(struct index_client *client, size_t partition, index_piece *piece, void *context,
             struct reason *why)
{
    const char request = INDEX_STREAM_BACKUP;
    return stream_pass_on(client, partition, slice_of(&request, 1), piece, context, why);
}

enum status
index_compact(struct index_client *client, index_piece *piece, void *context, struct reason *why)
{
    const char request = INDEX_STREAM_COMPACT;
    for (size_t i = 0; i < client->count; i++) {
        TRY(stream_pass_on(client, i, slice_of(&request, 1), piece, context, why));
    }
    return STATUS_OK;
}
