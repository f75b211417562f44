/* A call over several partitions: its end, its wait, and the partitions that it goes on without. */
#include "index/client/partitions/client_calls.h"

#include <poll.h>

#include "base/system/clock.h"

enum { WAIT_MS = 200 /* between looks at the clock and whether to go on */ };

/* ---- what comes in ---- */

size_t
index_client_descriptors(struct index_client *client, int *descriptors, size_t most)
{
    size_t n = 0;
    while (n < client->count && n < most) {
        descriptors[n] = rpc_client_descriptor(client->partitions[n].rpc);
        n++;
    }
    return n;
}

void
index_client_process(struct index_client *client)
{
    for (size_t i = 0; i < client->count; i++) {
        client_links_post(client, i);
        rpc_client_process(client->partitions[i].rpc);
        client_links_post(client, i); /* what an answer left out */
    }
}

int
index_client_wait_ms(const struct index_client *client)
{
    int least = -1;
    for (size_t i = 0; i < client->count; i++) {
        const int wait =
            client->partitions[i].links != NULL ? 0 : rpc_client_wait_ms(client->partitions[i].rpc);
        least = wait >= 0 && (least < 0 || wait < least) ? wait : least;
    }
    return least;
}

/* ---- the call ---- */

void
client_begin(struct index_client *client, enum index_partial partial, uint64_t timeout_ms,
             const atomic_bool *cancel)
{
    client->partial = partial;
    client->cancel = cancel;
    client->deadline_ms = timeout_ms > 0 ? clock_monotonic_ms() + timeout_ms : 0;
    for (size_t i = 0; i < client->count; i++) {
        client->partitions[i].missing = false;
    }
}

bool
client_ended(const struct index_client *client)
{
    return (client->cancel != NULL && atomic_load(client->cancel)) ||
           (client->deadline_ms > 0 && clock_monotonic_ms() >= client->deadline_ms);
}

enum status
client_wait(struct index_client *client, struct reason *why)
{
    if (client->cancel != NULL && atomic_load(client->cancel)) {
        return status_fail(why, STATUS_CANCELLED, "cancelled");
    }
    if (client_ended(client)) {
        return status_fail(why, STATUS_TIMEOUT, "the query took longer than it may");
    }
    int wait = WAIT_MS;
    for (size_t i = 0; i < client->count; i++) {
        struct rpc_client *rpc = client->partitions[i].rpc;
        const int due = rpc_client_wait_ms(rpc);
        wait = due >= 0 && due < wait ? due : wait;
        client->descriptors[i] =
            (struct pollfd){.fd = rpc_client_descriptor(rpc), .events = POLLIN};
    }
    (void)poll(client->descriptors, client->count, wait);
    index_client_process(client);
    return STATUS_OK;
}

enum status
client_fail(const struct index_client *client, size_t partition, enum status status,
            const struct reason *what, struct reason *why)
{
    const bool gone =
        status == STATUS_NOT_FOUND || status == STATUS_STALE || status == STATUS_CANCELLED;
    return status_fail(why, gone ? STATUS_AGAIN : status, "index partition %zu (%s): %s", partition,
                       client->partitions[partition].endpoint, what->text);
}

enum status
client_miss(struct index_client *client, size_t partition, enum status status,
            const struct reason *what, struct reason *why)
{
    struct partition_client *missing = &client->partitions[partition];
    const bool asked_wrongly = status == STATUS_BAD_INPUT || status == STATUS_LIMIT ||
                               status == STATUS_UNSUPPORTED || status == STATUS_MISUSE;
    size_t left = 0;
    for (size_t i = 0; i < client->count; i++) {
        left += i != partition && !client->partitions[i].missing;
    }
    if (client->partial == INDEX_PARTIAL_WARN && !asked_wrongly && left > 0) {
        missing->missing = true;
        (void)status_fail(&missing->why, status, "%s", what->text);
        return STATUS_OK;
    }
    return client_fail(client, partition, status, what, why);
}
