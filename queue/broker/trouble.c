/* Hosts in trouble: ORDER.md, "Hosts in trouble". What completions say of hosts becomes changes
 * of this round, which reach the table and the lanes when they are committed. */
#include "queue/broker/broker_state.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/log.h"
#include "base/url/url.h"

enum { COUNT_MOST = 2000, LANE_PREFIX_SIZE = 9 /* of a job's key: stage, lane */ };

static struct slice
lane_key(uint8_t bytes[8], uint64_t lane)
{
    codec_write_u64(bytes, lane);
    return slice_of((const char *)bytes, 8);
}

/* ---- changes of this round ---- */

void
round_troubles_init(struct round_troubles *round)
{
    map_init(&round->by_lane);
}

void
round_troubles_release(struct round_troubles *round)
{
    free(round->changes);
    map_release(&round->by_lane);
}

struct trouble
broker_trouble(const struct broker *broker, uint64_t lane)
{
    const struct round_troubles *round = &broker->round_troubles;
    const uint32_t at = map_get(&round->by_lane, lane);
    const struct trouble *stored = troubles_find(broker->troubles, lane);
    return at != (uint32_t)MAP_NONE ? round->changes[at].trouble
           : stored != NULL         ? *stored
                                    : (struct trouble){.lane = lane};
}

static struct trouble_change *
change_of(struct broker *broker, uint64_t lane)
{
    struct round_troubles *round = &broker->round_troubles;
    uint32_t at = map_get(&round->by_lane, lane);
    if (at == (uint32_t)MAP_NONE) {
        if (round->count == round->capacity) {
            round->capacity = round->capacity == 0 ? 16 : 2 * round->capacity;
            round->changes = memory_resize(round->changes, round->capacity, sizeof *round->changes);
        }
        at = (uint32_t)round->count++;
        map_set(&round->by_lane, lane, at);
        round->changes[at] = (struct trouble_change){.trouble.lane = lane};
    }
    return &round->changes[at];
}

/* origin, cause: not needed when it is out of trouble. */
static void
change(struct broker *broker, const struct trouble *trouble, struct slice origin,
       struct slice cause)
{
    uint8_t key[8];
    change_of(broker, trouble->lane)->trouble = *trouble;
    if (trouble->failures == 0) {
        store_batch_remove(&broker->round.batch, TREE_TROUBLES, lane_key(key, trouble->lane));
        return;
    }
    buf_reset(&broker->scratch);
    trouble_encode(&broker->scratch, trouble, origin, cause);
    store_batch_put(&broker->round.batch, TREE_TROUBLES, lane_key(key, trouble->lane),
                    buf_slice(&broker->scratch));
}

/* ---- what completions say ---- */

static void
log_change(const struct trouble *before, const struct trouble *after, struct slice origin,
           struct slice cause)
{
    const bool was_aside = before->flags & TROUBLE_ASIDE;
    if (!was_aside && after->flags & TROUBLE_ASIDE) {
        log_warning("host_set_aside", "host=%.*s failures=%u since_ms=%lu reason=%.*s",
                    SLICE_PRINT(origin), after->failures, (unsigned long)after->since_ms,
                    SLICE_PRINT(cause));
    } else if (was_aside && after->failures == 0) {
        log_info("host_is_back", "lane=%lx", (unsigned long)after->lane);
    }
}

static struct trouble_failure
failure_of(const struct broker *broker, const struct host_report *report, uint64_t rest_ms,
           const struct trouble *trouble)
{
    const struct troubles_totals totals = troubles_totals(broker->troubles);
    const bool counted = trouble->failures > 0 &&
                         (trouble->flags & (TROUBLE_ASIDE | TROUBLE_SILENT)) == TROUBLE_SILENT;
    return (struct trouble_failure){
        .now_ms = broker->round.now_ms,
        .rest_ms = rest_ms,
        .silent = report->words & HOST_SILENT,
        .forbids = report->words & HOST_FORBIDS,
        .answered_before = lanes_answered(broker->lanes, trouble->lane),
        .network_ms = broker->round.counters.network_ms,
        .silent_hosts = totals.silent > 0 && counted ? totals.silent - 1 : totals.silent,
    };
}

enum status
broker_note_host(struct broker *broker, const struct job_key *key, const struct host_report *report,
                 uint64_t rest_ms, struct reason *why)
{
    const uint8_t word = report->words;
    const uint64_t lane = key->lane;
    const struct trouble before = broker_trouble(broker, lane);
    struct trouble trouble = before;
    struct slice origin = {NULL, 0};
    struct job job;
    if (broker->options.troubles.failures == 0) {
        return STATUS_OK;
    }
    if (word & (HOST_ANSWERED | HOST_RULES) || (word & HOST_FAILED && !(word & HOST_SILENT))) {
        broker->round.counters.network_ms = broker->round.now_ms;
    }
    if (word & HOST_ANSWERED || (word & HOST_RULES && !(word & HOST_FAILED))) {
        trouble = (struct trouble){.lane = lane};
    } else if (word & HOST_RULES) {
        trouble_doubt(&trouble);
    }
    if (word & HOST_FAILED) {
        const enum status status = broker_record(broker, key, &job, why);
        if (status == STATUS_NOT_FOUND) {
            return STATUS_OK;
        }
        TRY(status);
        origin = job.lane_name;
        const struct trouble_failure failure = failure_of(broker, report, rest_ms, &trouble);
        trouble_fail(&trouble, &broker->options.troubles, &failure);
    }
    if (trouble.failures > 0 ? word & HOST_FAILED : before.failures > 0) {
        change(broker, &trouble, origin, report->cause);
        log_change(&before, &trouble, origin, report->cause);
    }
    return STATUS_OK;
}

/* ---- people ask ---- */

void
broker_try_host(struct broker *broker, uint64_t lane)
{
    const struct trouble trouble = broker_trouble(broker, lane);
    if (trouble.flags & TROUBLE_ASIDE) {
        *change_of(broker, lane) = (struct trouble_change){.trouble = trouble, .tried = true};
    }
}

void
broker_retry(struct broker *broker, struct pending *pending)
{
    uint64_t hosts = 0, jobs = 0;
    const uint64_t only = fingerprint64(url_origin(pending->kick_uri));
    const struct trouble *trouble;
    for (size_t i = 0; (trouble = troubles_at(broker->troubles, i)) != NULL; i++) {
        if (trouble->flags & TROUBLE_ASIDE && hosts < MESSAGE_KICK_MOST &&
            (pending->kick_uri.length == 0 || trouble->lane == only)) {
            broker_try_host(broker, trouble->lane);
            hosts++;
            jobs += trouble->jobs;
        }
    }
    pending->number = hosts;
    pending->jobs = jobs;
}

/* The row of the lane says no more that it rests. */
static enum status
store_hastened(struct broker *broker, uint64_t lane, struct reason *why)
{
    struct lane_row row;
    TRY(broker_stored_lane(broker, lane, &row, why));
    TRY(broker_pace(broker, lane, &row.pace, why));
    row.due_ms = broker->round.now_ms;
    broker_store_lane(broker, lane, &row);
    return STATUS_OK;
}

static enum status
write_tried(struct broker *broker, struct trouble_change *tried, struct reason *why)
{
    uint8_t key[8];
    struct slice value, origin, cause;
    struct trouble stored = {0}, trouble = tried->trouble;
    const uint64_t lane = trouble.lane;
    const enum status status =
        frontier_get(broker->frontier, TREE_TROUBLES, lane_key(key, lane), &value, why);
    if (status == STATUS_NOT_FOUND || !(trouble.flags & TROUBLE_ASIDE)) {
        tried->tried = false; /* set aside in this very round, or answered */
        return STATUS_OK;
    }
    TRY(status);
    if (!trouble_decode(value, &stored, &origin, &cause)) {
        return status_fail(why, STATUS_CORRUPT, "what is known of a host in trouble is damaged");
    }
    trouble_try(&trouble, broker->round.now_ms);
    change(broker, &trouble, origin, cause);
    return store_hastened(broker, lane, why);
}

enum status
broker_troubles_write(struct broker *broker, struct reason *why)
{
    struct round_troubles *round = &broker->round_troubles;
    for (size_t i = 0; i < round->count; i++) {
        if (round->changes[i].tried) {
            TRY(write_tried(broker, &round->changes[i], why));
        }
    }
    return STATUS_OK;
}

/* ---- after the commit ---- */

void
broker_troubles_settle(struct broker *broker, bool committed)
{
    struct round_troubles *round = &broker->round_troubles;
    for (size_t i = 0; committed && i < round->count; i++) {
        const struct trouble_change *one = &round->changes[i];
        troubles_set(broker->troubles, &one->trouble);
        if (one->tried) {
            lanes_hasten(broker->lanes, one->trouble.lane, broker->round.now_ms);
        }
    }
    round->count = 0;
    map_clear(&round->by_lane);
}

struct count {
    struct broker *broker;
    struct job_key next;
    uint64_t visited, jobs;
};

static bool
count_job(void *context, struct slice key_bytes, struct slice record)
{
    struct count *count = context;
    struct job_key key;
    (void)record;
    if (count->visited++ == COUNT_MOST) {
        return false;
    }
    job_key_read((const uint8_t *)key_bytes.at, &key);
    count->jobs += leases_find(count->broker->leases, key.id) == (uint32_t)LEASE_NONE;
    count->next = key;
    count->next.id++;
    return true;
}

enum status
broker_count_aside(struct broker *broker, struct reason *why)
{
    struct count count = {.broker = broker};
    uint8_t bytes[JOB_KEY_SIZE];
    if (!troubles_uncounted(broker->troubles, &count.next)) {
        return STATUS_OK;
    }
    TRY(frontier_scan_within(broker->frontier, TREE_FETCH, broker_key(bytes, &count.next),
                             LANE_PREFIX_SIZE, count_job, &count, why));
    troubles_count(broker->troubles, &count.next, count.jobs, count.visited <= COUNT_MOST);
    return STATUS_OK;
}

/* ---- opening, looking ---- */

static bool
read_trouble(void *context, struct slice key, struct slice value)
{
    struct broker *broker = context;
    struct trouble trouble = {0};
    struct slice origin, cause;
    trouble.lane = codec_read_u64((const uint8_t *)key.at);
    if (trouble_decode(value, &trouble, &origin, &cause)) {
        troubles_set(broker->troubles, &trouble);
    }
    return true;
}

enum status
broker_troubles_load(struct broker *broker, struct reason *why)
{
    return frontier_scan(broker->frontier, TREE_TROUBLES, (struct slice){"", 0}, read_trouble,
                         broker, why);
}

struct hosts_view {
    struct broker *broker;
    uint64_t only; /* lane */
    bool one, aside_only;
    uint32_t most, count;
};

static bool
show_host(void *context, struct slice key, struct slice value)
{
    struct hosts_view *view = context;
    struct trouble trouble = {.lane = codec_read_u64((const uint8_t *)key.at)};
    struct slice origin, cause;
    if ((view->one && trouble.lane != view->only) || view->count == view->most) {
        return false;
    }
    if (!trouble_decode(value, &trouble, &origin, &cause) ||
        (view->aside_only && !(trouble.flags & TROUBLE_ASIDE))) {
        return true;
    }
    const struct trouble *counted = troubles_find(view->broker->troubles, trouble.lane);
    const struct queue_host host = {
        .lane = trouble.lane,
        .origin = origin,
        .cause = cause,
        .aside = trouble.flags & TROUBLE_ASIDE,
        .silent = trouble.flags & TROUBLE_SILENT,
        .doubted = trouble.flags & TROUBLE_DOUBTED,
        .counted = counted != NULL && counted->counted,
        .jobs = counted != NULL && trouble.flags & TROUBLE_ASIDE
                    ? counted->jobs + lanes_view(view->broker->lanes, trouble.lane).out
                    : 0,
        .failures = trouble.failures,
        .probes = trouble.probes,
        .since_ms = trouble.since_ms,
        .last_ms = trouble.last_ms,
        .aside_ms = trouble.aside_ms,
        .next_ms = trouble.next_ms,
    };
    message_put_host(&view->broker->reply, &host);
    view->count++;
    return true;
}

enum status
broker_view_hosts(struct broker *broker, struct slice payload, struct reason *why)
{
    struct codec_reader reader = codec_reader_of(payload);
    uint8_t key[8];
    uint64_t from = codec_get_u64(&reader);
    const struct slice uri = codec_get_slice(&reader);
    const uint8_t flags = codec_get_u8(&reader);
    const uint64_t most = codec_get_varint(&reader);
    struct hosts_view view = {
        .broker = broker,
        .only = fingerprint64(url_origin(uri)),
        .one = uri.length > 0,
        .aside_only = flags & HOSTS_ASIDE,
        .most = most < MESSAGE_HOSTS_MOST ? (uint32_t)most : MESSAGE_HOSTS_MOST,
    };
    if (!codec_at_end(&reader)) {
        return status_fail(why, STATUS_BAD_INPUT, "a look at hosts that makes no sense");
    }
    from = view.one && from <= view.only ? view.only : from;
    codec_put_u32(&broker->reply, 0);
    TRY(frontier_scan(broker->frontier, TREE_TROUBLES, lane_key(key, from), show_host, &view, why));
    codec_write_u32((uint8_t *)broker->reply.data, view.count);
    return STATUS_OK;
}
