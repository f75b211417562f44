/* URLs that were pinged become jobs of the fetch queue. */
#include <poll.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/outcome.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "queue/client/queue_client.h"
#include "stages/skeleton/document.h"
#include "web/ping/ping.h"

enum {
    PUT_BATCH = 1000,
    PRIORITY = 100, /* before what else waits of the host: a publisher looks for his page */
    POLL_MS = 100
};

static enum status
open_queue(struct web_service *service, size_t node, struct queue_client **queue,
           struct reason *why)
{
    TRY(web_check_part(service, "queue", why));
    const struct queue_client_options options = {
        .endpoint = service->queues.endpoints[node], .name = "web", .keys = service->queues.keys};
    return queue_client_open(queue, &options, why);
}

static enum status
put_and_wait(struct queue_client *queue, const struct job *jobs, size_t n, struct outcome *outcome,
             struct reason *why)
{
    const uint64_t until_ms = clock_monotonic_ms() + PING_ANSWER_MS;
    queue_put(queue, jobs, n, outcome_take, outcome);
    while (!outcome->given) {
        struct pollfd descriptor = {.fd = queue_client_descriptor(queue), .events = POLLIN};
        const int wait = queue_client_wait_ms(queue);
        (void)poll(&descriptor, 1, wait < 0 || wait > POLL_MS ? POLL_MS : wait);
        queue_client_process(queue);
        if (!outcome->given && clock_monotonic_ms() > until_ms) {
            return status_fail(why, STATUS_AGAIN, "the queue does not answer");
        }
    }
    const enum status status = outcome_status(outcome, why);
    return status == STATUS_FULL ? STATUS_AGAIN : status;
}

static enum status
put_to(struct web_service *service, size_t node, const struct job *jobs, size_t n,
       struct reason *why)
{
    struct queue_client *queue;
    struct outcome outcome = {0}; /* closing the client gives it when the queue has not */
    TRY(open_queue(service, node, &queue, why));
    const enum status status = put_and_wait(queue, jobs, n, &outcome, why);
    queue_client_close(queue);
    return status;
}

/* To the shares that have the hosts, which a receipt asks: no outbox of ours brings them there. One
 * that does not answer fails the ping, of which others may have their part then; told again, these
 * have nothing to do. */
static enum status
put_to_owners(struct web_service *service, const struct job *jobs, size_t n, struct reason *why)
{
    const struct cluster *cluster = service->cluster;
    enum status status = STATUS_OK;
    struct job *part = memory_zero(n, sizeof *part);
    size_t *owners = memory_zero(n, sizeof *owners);
    for (size_t i = 0; i < n; i++) {
        owners[i] = cluster_owner(cluster, STAGE_FETCH, jobs[i].uri);
    }
    for (size_t node = 0; node < cluster_node_count(cluster) && status == STATUS_OK; node++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            if (owners[i] == node) {
                part[count++] = jobs[i];
            }
        }
        if (count > 0) {
            status = put_to(service, node, part, count, why);
        }
    }
    free(part);
    free(owners);
    return status;
}

enum status
ping_put_jobs(struct web_service *service, const struct job *jobs, size_t n, struct reason *why)
{
    return cluster_is_client(service->cluster)
               ? put_to_owners(service, jobs, n, why)
               : put_to(service, cluster_self(service->cluster), jobs, n, why);
}

enum status
ping_put(struct web_service *service, struct slice uris, bool proved, struct reason *why)
{
    const struct document stranger = {.unverified = true};
    struct job *jobs = memory_zero(PUT_BATCH, sizeof *jobs);
    struct buf data; /* what fetch is told of them: nothing of those whose sender is known */
    enum status status = STATUS_OK;
    buf_init(&data, JOB_DATA_MAXIMUM);
    if (!proved) {
        document_encode(&data, &stranger);
    }
    while (uris.length > 0 && status == STATUS_OK) {
        size_t n = 0;
        for (; n < PUT_BATCH && uris.length > 0; n++) {
            const struct slice uri = slice_take(&uris, '\n');
            jobs[n] = (struct job){.key.stage = STAGE_FETCH,
                                   .uri = uri,
                                   .lane_name = url_origin(uri),
                                   .priority = PRIORITY,
                                   .flags = JOB_RECRAWL,
                                   .data = buf_slice(&data)};
        }
        status = ping_put_jobs(service, jobs, n, why);
    }
    free(jobs);
    buf_release(&data);
    return status;
}
