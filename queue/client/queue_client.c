/* The queue's client: requests become messages, held jobs are remembered and renewed.
 *
 * A WATCH is always outstanding: the daemon answers it only when its incarnation is not the one
 * we know, and the transport sends it again as soon as a connection comes back. So we learn of
 * a restart at once, and say what we hold before anything else is asked.
 */
#include "queue/client/queue_client.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "queue/client/message.h"

/* Twice what a message may have: the transport refuses what is too long, and says so. */
enum {
    PAYLOAD_MAXIMUM = 2 * RPC_PAYLOAD_MAXIMUM,
    LEASE_PARTS = 3,
    TOUCH_MOST = 100000,
    LEASE_DEFAULT_MS = 60000,
    RESEND_MS = 250,
    TIMEOUT_MS = 30000 /* of a question that people wait for */
};

/* Holds what a completion that gives a job back must say of it. */
struct held {
    struct job_key key;
    uint16_t attempt;
    bool used;
    bool ending; /* its completion is under way */
    uint32_t next_free;
};

struct queue_client {
    struct rpc_client *rpc;
    uint64_t known; /* incarnation of the daemon that knows what we hold; 0: none yet */
    uint64_t lease_ms, renew_ms; /* renew_ms: monotonic, the next time */
    uint64_t scope;              /* version in force, as told last */
    bool watching, touching, closing;
    struct held *held;
    uint32_t held_used, held_capacity, held_free, held_count;
    struct map by_id;
    struct buf payload;
};

/* ---- held jobs ---- */

static void
hold(struct queue_client *client, const struct job *job)
{
    uint32_t at = map_get(&client->by_id, job->key.id);
    if (at == (uint32_t)MAP_NONE) {
        at = client->held_free;
        if (at != (uint32_t)MAP_NONE) {
            client->held_free = client->held[at].next_free;
        } else {
            if (client->held_used == client->held_capacity) {
                client->held_capacity = client->held_capacity == 0 ? 64 : 2 * client->held_capacity;
                client->held =
                    memory_resize(client->held, client->held_capacity, sizeof *client->held);
            }
            at = client->held_used++;
        }
        map_set(&client->by_id, job->key.id, at);
        client->held_count++;
    }
    client->held[at] = (struct held){.key = job->key, .attempt = job->attempt, .used = true};
}

static void
drop(struct queue_client *client, uint64_t id)
{
    const uint32_t at = map_get(&client->by_id, id);
    if (at != (uint32_t)MAP_NONE) {
        map_remove(&client->by_id, id);
        client->held[at] = (struct held){.next_free = client->held_free};
        client->held_free = at;
        client->held_count--;
    }
}

/* ---- renewal ---- */

static void
touched(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct queue_client *client = context;
    struct codec_reader reader = codec_reader_of(payload);
    client->touching = false;
    if (status != STATUS_OK) {
        if (status == STATUS_CANCELLED) {
            return;
        }
        log_warning("leases_not_renewed", "reason=%s", why != NULL ? why->text : "");
        return;
    }
    const uint64_t lost = codec_get_varint(&reader);
    if (lost > 0) {
        log_warning("leases_lost", "jobs=%lu", (unsigned long)lost);
    }
}

/* The queue may have heard already of a job whose completion is under way, and given it to nobody:
 * its lease is renewed while there is one, and no new one made. A daemon that was restarted hears
 * of it as of any other, so that it does not hand it out before the completion comes again. */
static void
touch(struct queue_client *client, bool announce)
{
    uint32_t count = 0;
    buf_reset(&client->payload);
    codec_put_u8(&client->payload, announce ? TOUCH_ANNOUNCE : 0);
    codec_put_varint(&client->payload,
                     client->held_count < TOUCH_MOST ? client->held_count : TOUCH_MOST);
    for (uint32_t i = 0; i < client->held_used && count < TOUCH_MOST; i++) {
        if (client->held[i].used) {
            job_key_encode(&client->payload, &client->held[i].key);
            codec_put_varint(&client->payload, client->held[i].ending && !announce
                                                   ? TOUCH_ENDING
                                                   : client->held[i].attempt);
            count++;
        }
    }
    client->touching = true;
    client->renew_ms = clock_monotonic_ms() + client->lease_ms / LEASE_PARTS;
    rpc_client_post(client->rpc, QUEUE_TOUCH, buf_slice(&client->payload), 0, touched, client);
}

/* Called before a reply brings jobs, and when those that it ends are held no more. */
static void
notice_restart(struct queue_client *client)
{
    const uint64_t now = rpc_client_peer_incarnation(client->rpc);
    if (now == 0 || now == client->known || client->closing) {
        return;
    }
    if (client->known != 0) {
        log_info("queue_restarted", "held=%u", client->held_count);
        touch(client, true);
    }
    client->known = now;
}

static void
watched(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct queue_client *client = context;
    (void)status;
    (void)payload;
    (void)why;
    client->watching = false;
    notice_restart(client);
}

static void
watch(struct queue_client *client)
{
    uint8_t bytes[8];
    codec_write_u64(bytes, client->known);
    client->watching = true;
    rpc_client_post(client->rpc, QUEUE_WATCH, slice_of((char *)bytes, sizeof bytes), 0, watched,
                    client);
}

/* ---- opening ---- */

struct reserve_head {
    uint64_t lease_ms, scope;
};

static bool
read_jobs(struct slice payload, struct reserve_head *head, struct job **jobs, size_t *count)
{
    enum { JOB_LEAST = JOB_KEY_SIZE + 14 };
    struct codec_reader reader = codec_reader_of(payload);
    head->lease_ms = codec_get_varint(&reader);
    head->scope = codec_get_varint(&reader);
    const uint32_t n = codec_get_u32(&reader);
    *jobs = NULL;
    *count = 0;
    if (reader.bad || (uint64_t)n * JOB_LEAST > (size_t)(reader.end - reader.at)) {
        return false;
    }
    *jobs = memory_zero(n + 1, sizeof **jobs);
    for (uint32_t i = 0; i < n; i++) {
        (void)job_key_decode(&reader, &(*jobs)[i].key);
        (void)job_decode(&reader, &(*jobs)[i]);
        (*jobs)[i].pace = codec_get_slice(&reader);
    }
    if (!codec_at_end(&reader)) {
        free(*jobs);
        *jobs = NULL;
        return false;
    }
    *count = n;
    return true;
}

static void
ignore(void *context, enum status status, struct slice payload, const struct reason *why)
{
    (void)context;
    (void)status;
    (void)payload;
    (void)why;
}

/* A reserve that was answered twice, by two daemons: jobs that we do not hold go back. */
static void
late(void *context, uint8_t verb, enum status status, struct slice payload)
{
    struct queue_client *client = context;
    struct job *jobs;
    size_t n;
    struct reserve_head head;
    if (verb != QUEUE_RESERVE || status != STATUS_OK || !read_jobs(payload, &head, &jobs, &n)) {
        return;
    }
    size_t strange = 0;
    for (size_t i = 0; i < n; i++) {
        strange += map_get(&client->by_id, jobs[i].key.id) == (uint32_t)MAP_NONE;
    }
    if (strange > 0) {
        buf_reset(&client->payload);
        codec_put_varint(&client->payload, strange);
        for (size_t i = 0; i < n; i++) {
            if (map_get(&client->by_id, jobs[i].key.id) == (uint32_t)MAP_NONE) {
                const struct completion completion = {
                    .key = jobs[i].key, .verdict = VERDICT_RELEASE, .no_attempt = true};
                message_put_completion(&client->payload, &completion, jobs[i].attempt);
            }
        }
        rpc_client_post(client->rpc, QUEUE_COMPLETE, buf_slice(&client->payload), 0, ignore,
                        client);
    }
    free(jobs);
}

enum status
queue_client_open(struct queue_client **client_out, const struct queue_client_options *options,
                  struct reason *why)
{
    struct queue_client *client = memory_new(sizeof *client);
    const struct rpc_client_options rpc = {
        .endpoint = options->endpoint,
        .name = options->name,
        .resend_ms = RESEND_MS,
        .keys = options->keys,
        .late = late,
        .late_context = client,
    };
    client->lease_ms = LEASE_DEFAULT_MS;
    client->held_free = (uint32_t)MAP_NONE;
    map_init(&client->by_id);
    buf_init(&client->payload, PAYLOAD_MAXIMUM);
    const enum status status = rpc_client_open(&client->rpc, &rpc, why);
    if (status != STATUS_OK) {
        queue_client_close(client);
        client = NULL;
    }
    *client_out = client;
    return status;
}

void
queue_client_close(struct queue_client *client)
{
    if (client != NULL) {
        client->closing = true;
        if (client->rpc != NULL) {
            rpc_client_close(client->rpc);
        }
        map_release(&client->by_id);
        buf_release(&client->payload);
        free(client->held);
        free(client);
    }
}

int
queue_client_descriptor(struct queue_client *client)
{
    return rpc_client_descriptor(client->rpc);
}

void
queue_client_process(struct queue_client *client)
{
    rpc_client_process(client->rpc);
    notice_restart(client);
    if (!client->watching && client->known != 0) {
        watch(client);
    }
    if (client->held_count > 0 && !client->touching && clock_monotonic_ms() >= client->renew_ms) {
        touch(client, false);
    }
}

int
queue_client_wait_ms(const struct queue_client *client)
{
    const int rpc = rpc_client_wait_ms(client->rpc);
    if (client->held_count == 0 || client->touching) {
        return rpc;
    }
    const uint64_t now = clock_monotonic_ms();
    const int renew = client->renew_ms > now ? (int)(client->renew_ms - now) : 0;
    return rpc < 0 || renew < rpc ? renew : rpc;
}

/* ---- reserve ---- */

uint64_t
queue_client_scope(const struct queue_client *client)
{
    return client->scope;
}

struct reserve {
    struct queue_client *client;
    queue_reserved *done;
    void *context;
};

static void
reserved(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct reserve *reserve = context;
    struct queue_client *client = reserve->client;
    struct reason text = {""};
    struct job *jobs = NULL;
    size_t n = 0;
    struct reserve_head head = {client->lease_ms, client->scope};
    if (status == STATUS_OK) {
        notice_restart(client);
        if (!read_jobs(payload, &head, &jobs, &n)) {
            status = status_fail(&text, STATUS_PROTOCOL, "the queue's answer was not understood");
            why = &text;
        }
    }
    if (n > 0 && client->held_count == 0) {
        client->renew_ms = clock_monotonic_ms() + head.lease_ms / LEASE_PARTS;
    }
    client->lease_ms = head.lease_ms > 0 ? head.lease_ms : client->lease_ms;
    client->scope = head.scope;
    for (size_t i = 0; i < n; i++) {
        hold(client, &jobs[i]);
    }
    reserve->done(reserve->context, status, jobs, n, why);
    free(jobs);
    free(reserve);
}

void
queue_reserve(struct queue_client *client, enum stage stage, uint64_t lane, uint32_t most,
              uint32_t wait_ms, queue_reserved *done, void *context)
{
    struct reserve *reserve = memory_new(sizeof *reserve);
    *reserve = (struct reserve){.client = client, .done = done, .context = context};
    buf_reset(&client->payload);
    codec_put_u8(&client->payload, (uint8_t)stage);
    codec_put_u64(&client->payload, lane);
    codec_put_varint(&client->payload, most);
    codec_put_varint(&client->payload, wait_ms);
    codec_put_u64(&client->payload, client->known);
    rpc_client_post(client->rpc, QUEUE_RESERVE, buf_slice(&client->payload), 0, reserved, reserve);
}

/* ---- complete and put ---- */

struct completing {
    struct queue_client *client;
    queue_completed *done;
    void *context;
    size_t count;
    uint64_t ids[];
};

/* It may be held again by now: the queue gave it back to us before this answer came. */
static void
ended(struct queue_client *client, uint64_t id, bool accepted)
{
    const uint32_t at = map_get(&client->by_id, id);
    if (at != (uint32_t)MAP_NONE && client->held[at].ending) {
        client->held[at].ending = false;
        if (accepted) {
            drop(client, id);
        }
    }
}

static void
completed(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct completing *completing = context;
    (void)payload;
    for (size_t i = 0; i < completing->count; i++) {
        ended(completing->client, completing->ids[i], status == STATUS_OK);
    }
    notice_restart(completing->client);
    completing->done(completing->context, status, why);
    free(completing);
}

static struct completing *
completing_new(struct queue_client *client, size_t n, queue_completed *done, void *context)
{
    struct completing *completing =
        memory_alloc(sizeof *completing + n * sizeof completing->ids[0]);
    *completing = (struct completing){client, done, context, n};
    return completing;
}

void
queue_complete(struct queue_client *client, const struct completion *completions, size_t n,
               queue_completed *done, void *context)
{
    struct completing *completing = completing_new(client, n, done, context);
    buf_reset(&client->payload);
    codec_put_varint(&client->payload, n);
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = map_get(&client->by_id, completions[i].key.id);
        message_put_completion(&client->payload, &completions[i],
                               at == (uint32_t)MAP_NONE ? 0 : client->held[at].attempt);
        if (at != (uint32_t)MAP_NONE) {
            client->held[at].ending = true;
        }
        completing->ids[i] = completions[i].key.id;
    }
    rpc_client_post(client->rpc, QUEUE_COMPLETE, buf_slice(&client->payload), 0, completed,
                    completing);
}

void
queue_put(struct queue_client *client, const struct job *jobs, size_t n, queue_completed *done,
          void *context)
{
    struct completing *completing = completing_new(client, 0, done, context);
    buf_reset(&client->payload);
    codec_put_varint(&client->payload, n);
    for (size_t i = 0; i < n; i++) {
        message_put_new(&client->payload, &jobs[i]);
    }
    rpc_client_post(client->rpc, QUEUE_PUT, buf_slice(&client->payload), 0, completed, completing);
}

/* ---- for people ---- */

enum status
queue_stats_get(struct queue_client *client, struct queue_stats *stats, uint32_t timeout_ms,
                struct reason *why)
{
    struct buf reply;
    buf_init(&reply, 1 << 16);
    enum status status =
        rpc_call(client->rpc, QUEUE_STATS, (struct slice){NULL, 0}, timeout_ms, &reply, why);
    if (status == STATUS_OK && !message_get_stats(buf_slice(&reply), stats)) {
        status = status_fail(why, STATUS_PROTOCOL, "the queue's stats were not understood");
    }
    buf_release(&reply);
    return status;
}

static enum status
show_jobs(struct slice reply, struct slice state, queue_visit *visit, void *context,
          struct reason *why)
{
    struct codec_reader reader = codec_reader_of(reply);
    const uint32_t n = codec_get_u32(&reader);
    for (uint32_t i = 0; i < n && !reader.bad; i++) {
        struct job job = {0};
        (void)job_key_decode(&reader, &job.key);
        (void)job_decode(&reader, &job);
        const struct slice reason = codec_get_slice(&reader);
        const struct slice reproducer = codec_get_slice(&reader);
        if (!reader.bad && !visit(context, &job, state, reason, reproducer)) {
            return STATUS_OK;
        }
    }
    return codec_at_end(&reader)
               ? STATUS_OK
               : status_fail(why, STATUS_PROTOCOL, "the queue's answer was not understood");
}

enum status
queue_peek(struct queue_client *client, enum stage stage, const char *state, uint32_t most,
           queue_visit *visit, void *context, struct reason *why)
{
    struct buf reply;
    buf_init(&reply, PAYLOAD_MAXIMUM);
    buf_reset(&client->payload);
    codec_put_u8(&client->payload, (uint8_t)stage);
    codec_put_slice(&client->payload, slice_string(state));
    codec_put_varint(&client->payload, most);
    enum status status =
        rpc_call(client->rpc, QUEUE_PEEK, buf_slice(&client->payload), TIMEOUT_MS, &reply, why);
    if (status == STATUS_OK) {
        status = show_jobs(buf_slice(&reply), slice_string(state), visit, context, why);
    }
    buf_release(&reply);
    return status;
}

enum status
queue_explanation(struct queue_client *client, struct slice uri, struct queue_explanation *look,
                  struct reason *why)
{
    struct buf reply;
    buf_init(&reply, 1 << 16);
    buf_reset(&client->payload);
    codec_put_slice(&client->payload, uri);
    enum status status =
        rpc_call(client->rpc, QUEUE_LOOK, buf_slice(&client->payload), TIMEOUT_MS, &reply, why);
    if (status == STATUS_OK && !message_get_explanation(buf_slice(&reply), look)) {
        status = status_fail(why, STATUS_PROTOCOL, "the queue's answer was not understood");
    }
    buf_release(&reply);
    return status;
}

enum status
queue_kick(struct queue_client *client, enum stage stage, struct slice uri, uint64_t *kicked,
           struct reason *why)
{
    struct buf reply;
    uint64_t now = MESSAGE_KICK_MOST;
    enum status status = STATUS_OK;
    *kicked = 0;
    buf_init(&reply, 64);
    while (status == STATUS_OK && now >= MESSAGE_KICK_MOST) {
        buf_reset(&client->payload);
        buf_reset(&reply);
        codec_put_u8(&client->payload, (uint8_t)stage);
        codec_put_slice(&client->payload, uri);
        status =
            rpc_call(client->rpc, QUEUE_KICK, buf_slice(&client->payload), TIMEOUT_MS, &reply, why);
        struct codec_reader reader = codec_reader_of(buf_slice(&reply));
        now = status == STATUS_OK ? codec_get_varint(&reader) : 0;
        *kicked += now;
    }
    buf_release(&reply);
    return status;
}

/* Shows what one answer has; *next: the lane to go on with, 0: that was all. */
static enum status
show_hosts(struct slice reply, queue_host_visit *visit, void *context, uint64_t *next,
           struct reason *why)
{
    struct codec_reader reader = codec_reader_of(reply);
    const uint32_t n = codec_get_u32(&reader);
    struct queue_host host = {0};
    *next = 0;
    for (uint32_t i = 0; i < n && message_get_host(&reader, &host); i++) {
        if (!visit(context, &host)) {
            return STATUS_OK;
        }
    }
    if (!codec_at_end(&reader)) {
        return status_fail(why, STATUS_PROTOCOL, "the queue's answer was not understood");
    }
    *next = n == MESSAGE_HOSTS_MOST ? host.lane + 1 : 0;
    return STATUS_OK;
}

enum status
queue_hosts(struct queue_client *client, struct slice origin, bool aside_only,
            queue_host_visit *visit, void *context, struct reason *why)
{
    struct buf reply;
    uint64_t next = 0;
    enum status status;
    buf_init(&reply, PAYLOAD_MAXIMUM);
    do {
        buf_reset(&client->payload);
        buf_reset(&reply);
        codec_put_u64(&client->payload, next);
        codec_put_slice(&client->payload, origin);
        codec_put_u8(&client->payload, aside_only ? HOSTS_ASIDE : 0);
        codec_put_varint(&client->payload, MESSAGE_HOSTS_MOST);
        status = rpc_call(client->rpc, QUEUE_HOSTS, buf_slice(&client->payload), TIMEOUT_MS, &reply,
                          why);
        if (status == STATUS_OK) {
            status = show_hosts(buf_slice(&reply), visit, context, &next, why);
        }
    } while (status == STATUS_OK && next != 0);
    buf_release(&reply);
    return status;
}

enum status
queue_retry(struct queue_client *client, struct slice uri, uint64_t *hosts, uint64_t *jobs,
            struct reason *why)
{
    struct buf reply;
    uint64_t now = MESSAGE_KICK_MOST, all_jobs = 0;
    enum status status = STATUS_OK;
    *hosts = 0;
    buf_init(&reply, 64);
    while (status == STATUS_OK && now >= MESSAGE_KICK_MOST) {
        buf_reset(&client->payload);
        buf_reset(&reply);
        codec_put_slice(&client->payload, uri);
        status = rpc_call(client->rpc, QUEUE_RETRY, buf_slice(&client->payload), TIMEOUT_MS, &reply,
                          why);
        struct codec_reader reader = codec_reader_of(buf_slice(&reply));
        now = status == STATUS_OK ? codec_get_varint(&reader) : 0;
        *hosts += now;
        all_jobs += status == STATUS_OK ? codec_get_varint(&reader) : 0;
    }
    if (jobs != NULL) {
        *jobs = all_jobs;
    }
    buf_release(&reply);
    return status;
}

/* ---- other nodes ---- */

enum status
queue_nodes(struct queue_client *client, queue_node_visit *visit, void *context,
            uint32_t timeout_ms, struct reason *why)
{
    struct buf reply;
    buf_init(&reply, PAYLOAD_MAXIMUM);
    enum status status =
        rpc_call(client->rpc, QUEUE_NODES, (struct slice){NULL, 0}, timeout_ms, &reply, why);
    if (status == STATUS_OK) {
        struct codec_reader reader = codec_reader_of(buf_slice(&reply));
        const uint32_t n = codec_get_u32(&reader);
        struct queue_node node;
        for (uint32_t i = 0; i < n && message_get_node(&reader, &node); i++) {
            visit(context, &node);
        }
        if (!codec_at_end(&reader)) {
            status = status_fail(why, STATUS_PROTOCOL, "the queue's answer was not understood");
        }
    }
    buf_release(&reply);
    return status;
}

enum status
queue_forget(struct queue_client *client, struct slice name, uint64_t *moved, uint64_t *dropped,
             struct reason *why)
{
    struct buf reply;
    uint64_t left = 1;
    enum status status = STATUS_OK;
    *moved = *dropped = 0;
    buf_init(&reply, 64);
    while (status == STATUS_OK && left > 0) {
        buf_reset(&client->payload);
        buf_reset(&reply);
        codec_put_slice(&client->payload, name);
        status = rpc_call(client->rpc, QUEUE_FORGET, buf_slice(&client->payload), TIMEOUT_MS,
                          &reply, why);
        struct codec_reader reader = codec_reader_of(buf_slice(&reply));
        if (status == STATUS_OK) {
            *moved += codec_get_varint(&reader);
            *dropped += codec_get_varint(&reader);
            left = codec_get_varint(&reader);
        }
    }
    buf_release(&reply);
    return status;
}
