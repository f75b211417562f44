/* Requests as they come in: checked, decoded, and their senders known. */
#include "queue/broker/broker_state.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/system/clock.h"
#include "base/system/log.h"

enum {
    NEW_LEAST = 14,
    COMPLETION_LEAST = 36,
    TOUCH_LEAST = 26,
    ROUND_REQUESTS = 4096,
    ROUND_JOBS = 50000,
    WAIT_MAXIMUM_MS = 60000
};

static void
answer(struct broker *broker, const struct broker_request *request, enum status status,
       const struct reason *why)
{
    broker->answer(broker->context, request->token, status, (struct slice){NULL, 0}, why);
}

static void
answer_no_jobs(struct broker *broker, const struct broker_request *request)
{
    buf_reset(&broker->reply);
    codec_put_varint(&broker->reply, broker->options.lease_ms);
    codec_put_varint(&broker->reply, broker_scope(broker));
    codec_put_u32(&broker->reply, 0);
    broker->answer(broker->context, request->token, STATUS_OK, buf_slice(&broker->reply), NULL);
}

/* ---- lists of the round ---- */

static struct pending *
add_pending(struct broker *broker, const struct broker_request *request)
{
    struct requests *requests = &broker->requests;
    requests->pending = array_grow(requests->pending, requests->pending_count,
                                   &requests->pending_capacity, sizeof *requests->pending);
    struct pending *pending = &requests->pending[requests->pending_count++];
    *pending = (struct pending){
        .request = *request,
        .worker = (uint32_t)WORKER_NONE,
        .first_incoming = requests->incoming_count,
        .first_ending = requests->ending_count,
    };
    requests->pending_bytes += request->payload.length;
    return pending;
}

static bool
read_new(struct broker *broker, struct codec_reader *reader, bool ours)
{
    struct requests *requests = &broker->requests;
    requests->incoming = array_grow(requests->incoming, requests->incoming_count,
                                    &requests->incoming_capacity, sizeof *requests->incoming);
    struct incoming *incoming = &requests->incoming[requests->incoming_count];
    if (!message_get_new(reader, &incoming->job)) {
        return false;
    }
    broker_prepare(broker, incoming, ours);
    if (!ours && job_is_metadata(&incoming->job) &&
        incoming->node == cluster_self(broker->options.cluster)) {
        reader->bad = true; /* its sender writes to this node's store itself */
        return false;
    }
    requests->incoming_count++;
    return true;
}

static void
read_list_of_new(struct broker *broker, struct codec_reader *reader, bool ours)
{
    const size_t n = message_get_count(reader, NEW_LEAST);
    for (size_t i = 0; i < n && read_new(broker, reader, ours); i++) {
    }
}

static enum status
read_ending(struct broker *broker, struct codec_reader *reader, struct reason *why)
{
    struct requests *requests = &broker->requests;
    requests->endings = array_grow(requests->endings, requests->ending_count,
                                   &requests->ending_capacity, sizeof *requests->endings);
    struct ending *ending = &requests->endings[requests->ending_count];
    struct host_report report;
    *ending = (struct ending){.first = requests->incoming_count};
    if (!message_get_completion(reader, &ending->completion, &ending->attempt) ||
        !host_report_decode(ending->completion.report, &report)) {
        reader->bad = true;
        return STATUS_OK;
    }
    for (size_t i = 0; i < ending->completion.output_count && read_new(broker, reader, false);
         i++) {
    }
    requests->ending_count++;
    return reader->bad ? STATUS_OK : broker_prepare_ending(broker, ending, why);
}

void
broker_clear_requests(struct broker *broker)
{
    struct requests *requests = &broker->requests;
    requests->pending_count = requests->pending_bytes = 0;
    requests->incoming_count = requests->ending_count = 0;
}

void
broker_requests_close(struct broker *broker)
{
    struct requests *requests = &broker->requests;
    for (size_t i = 0; i < requests->pending_count; i++) {
        broker_drop(broker, &requests->pending[i].request);
    }
    free(requests->pending);
    free(requests->incoming);
    free(requests->endings);
}

/* ---- requests ---- */

static enum status
read_put(struct broker *broker, struct pending *pending, struct codec_reader *reader,
         struct reason *why)
{
    const struct broker_options *options = &broker->options;
    (void)pending;
    if (!broker_takes_in(broker)) {
        return status_fail(
            why, STATUS_FULL, "the disk of %s has %llu MB left; free some, or lower queue.min_free",
            options->store.folder, (unsigned long long)broker_disk_free(broker) >> 20);
    }
    read_list_of_new(broker, reader, false);
    return STATUS_OK;
}

static enum status
read_complete(struct broker *broker, struct pending *pending, struct codec_reader *reader,
              struct reason *why)
{
    bool stale;
    pending->worker = broker_speaker(broker, &pending->request, false, &stale);
    const size_t n = message_get_count(reader, COMPLETION_LEAST);
    for (size_t i = 0; i < n && !reader->bad; i++) {
        TRY(read_ending(broker, reader, why));
    }
    return STATUS_OK;
}

static enum status
read_touch(struct broker *broker, struct pending *pending, struct codec_reader *reader,
           struct reason *why)
{
    bool stale;
    const uint64_t deadline = clock_monotonic_ms() + broker->options.lease_ms;
    pending->worker = broker_speaker(broker, &pending->request, true, &stale);
    if (stale) {
        return status_fail(why, STATUS_STALE, "a newer process has this name");
    }
    (void)codec_get_u8(reader);
    const size_t n = message_get_count(reader, TOUCH_LEAST);
    for (size_t i = 0; i < n; i++) {
        struct job_key key;
        (void)job_key_decode(reader, &key);
        if (codec_get_varint(reader) > UINT16_MAX) {
            reader->bad = true;
        }
        const uint32_t at = leases_find(broker->leases, key.id);
        if (at != (uint32_t)LEASE_NONE &&
            leases_at(broker->leases, at)->worker == pending->worker) {
            leases_at(broker->leases, at)->deadline_ms = deadline;
        }
    }
    return STATUS_OK;
}

static enum status
read_kick(struct broker *broker, struct pending *pending, struct codec_reader *reader,
          struct reason *why)
{
    (void)broker;
    (void)why;
    pending->kick_stage = codec_get_u8(reader);
    pending->kick_uri = codec_get_slice(reader);
    reader->bad |= pending->kick_stage >= STAGE_COUNT;
    return STATUS_OK;
}

static enum status
read_retry(struct broker *broker, struct pending *pending, struct codec_reader *reader,
           struct reason *why)
{
    (void)broker;
    (void)why;
    pending->kick_uri = codec_get_slice(reader);
    return STATUS_OK;
}

static enum status
read_transfer(struct broker *broker, struct pending *pending, struct codec_reader *reader,
              struct reason *why)
{
    pending->transfer.origin = codec_get_u64(reader);
    pending->transfer.epoch = codec_get_u64(reader);
    pending->transfer.first = codec_get_u64(reader);
    if (!broker_takes_in(broker)) {
        return status_fail(why, STATUS_FULL, "the disk has no room for jobs of other nodes");
    }
    read_list_of_new(broker, reader, true);
    for (size_t i = pending->first_incoming; i < broker->requests.incoming_count; i++) {
        const uint8_t stage = broker->requests.incoming[i].job.key.stage;
        if (stage != STAGE_FETCH &&
            broker->round.counters.stages[stage].jobs >= 2 * broker->options.high_water) {
            return status_fail(why, STATUS_AGAIN, "enough jobs wait for %s",
                               stage_name((enum stage)stage));
        }
    }
    pending->incoming_count = broker->requests.incoming_count - pending->first_incoming;
    const uint64_t known = broker_origin_last(broker, pending->transfer.origin);
    return reader->bad ? STATUS_OK : broker_take_scope(broker, pending, known, why);
}

static void
submit_reserve(struct broker *broker, const struct broker_request *request)
{
    struct reason why = {""};
    bool stale;
    struct codec_reader reader = codec_reader_of(request->payload);
    struct parked parked = {.request = *request, .stage = codec_get_u8(&reader)};
    parked.lane = codec_get_u64(&reader);
    const uint64_t most = codec_get_varint(&reader);
    const uint64_t wait = codec_get_varint(&reader);
    const uint64_t known = codec_get_u64(&reader);
    parked.most = most < MESSAGE_ENTRIES_MAXIMUM ? (uint32_t)most : MESSAGE_ENTRIES_MAXIMUM;
    parked.deadline_ms = clock_monotonic_ms() + (wait < WAIT_MAXIMUM_MS ? wait : WAIT_MAXIMUM_MS);
    if (!codec_at_end(&reader) || parked.stage >= STAGE_COUNT || request->client.length == 0 ||
        (parked.stage != STAGE_FETCH &&
         sequences_find(broker->sequences, parked.stage, parked.lane) == NULL)) {
        (void)status_fail(&why, STATUS_BAD_INPUT, "a reserve that makes no sense");
        answer(broker, request, STATUS_BAD_INPUT, &why);
        return;
    }
    parked.worker = broker_speaker(broker, request, true, &stale);
    if (!stale && parked.most == 0) {
        broker_recall(broker, parked.worker);
    }
    if (stale || (known != 0 && known != broker->incarnation) || parked.most == 0 ||
        !broker_may_park(broker)) {
        answer_no_jobs(broker, request);
        return;
    }
    leases_worker(broker->leases, parked.worker)->announced = true;
    broker_park(broker, &parked);
}

static void
submit_watch(struct broker *broker, const struct broker_request *request)
{
    struct reason why = {""};
    struct codec_reader reader = codec_reader_of(request->payload);
    const uint64_t known = codec_get_u64(&reader);
    const uint32_t worker = leases_worker_find(broker->leases, request->client);
    if (!codec_at_end(&reader)) {
        (void)status_fail(&why, STATUS_BAD_INPUT, "a watch of %zu bytes", request->payload.length);
        answer(broker, request, STATUS_BAD_INPUT, &why);
        return;
    }
    if (worker != (uint32_t)WORKER_NONE) {
        leases_worker(broker->leases, worker)->heard_ms = clock_monotonic_ms();
    }
    answer(broker, request, known == broker->incarnation ? STATUS_CANCELLED : STATUS_OK, NULL);
}

typedef enum status reader_of_request(struct broker *broker, struct pending *pending,
                                      struct codec_reader *reader, struct reason *why);

/* Those that wait for the round. */
static reader_of_request *const readers[] = {
    [QUEUE_PUT] = read_put,
    [QUEUE_COMPLETE] = read_complete,
    [QUEUE_TOUCH] = read_touch,
    [QUEUE_KICK] = read_kick,
    [QUEUE_TRANSFER] = read_transfer,
    [QUEUE_RETRY] = read_retry,
    [QUEUE_FORGET] = broker_read_forget,
};

static void
submit_for_round(struct broker *broker, const struct broker_request *request)
{
    struct requests *requests = &broker->requests;
    struct reason why = {""};
    struct pending *pending = add_pending(broker, request);
    struct codec_reader reader = codec_reader_of(request->payload);
    enum status status = readers[request->verb](broker, pending, &reader, &why);
    if (status == STATUS_OK && !codec_at_end(&reader)) {
        status = status_fail(&why, STATUS_BAD_INPUT, "a request of %zu bytes was not understood",
                             request->payload.length);
        requests->malformed++;
        if ((requests->malformed & (requests->malformed - 1)) == 0) { /* must not fill the log */
            log_warning("bad_request", "client=%.*s verb=%d bytes=%zu total=%lu",
                        SLICE_PRINT(request->client), request->verb, request->payload.length,
                        (unsigned long)requests->malformed);
        }
    }
    if (status != STATUS_OK) {
        requests->incoming_count = pending->first_incoming;
        requests->ending_count = pending->first_ending;
        requests->pending_bytes -= request->payload.length;
        requests->pending_count--;
        answer(broker, request, status, &why);
        return;
    }
    pending->incoming_count = requests->incoming_count - pending->first_incoming;
    pending->ending_count = requests->ending_count - pending->first_ending;
}

bool
broker_has_room(const struct broker *broker)
{
    const struct requests *requests = &broker->requests;
    return requests->pending_count < ROUND_REQUESTS && requests->pending_bytes < ROUND_BYTES &&
           requests->incoming_count < ROUND_JOBS && requests->ending_count < ROUND_JOBS;
}

void
broker_submit(struct broker *broker, const struct broker_request *request)
{
    struct reason why = {""};
    if (request->verb == QUEUE_RESERVE) {
        submit_reserve(broker, request);
    } else if (request->verb == QUEUE_WATCH) {
        submit_watch(broker, request);
    } else if (request->verb == QUEUE_STATS || request->verb == QUEUE_PEEK ||
               request->verb == QUEUE_LOOK || request->verb == QUEUE_HOSTS ||
               request->verb == QUEUE_NODES) {
        broker_view(broker, request);
    } else if (request->verb < sizeof readers / sizeof readers[0] &&
               readers[request->verb] != NULL) {
        submit_for_round(broker, request);
    } else {
        (void)status_fail(&why, STATUS_PROTOCOL, "no request %u", request->verb);
        answer(broker, request, STATUS_PROTOCOL, &why);
    }
}
