#include "queue/daemon/node_links.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "queue/client/message.h"

enum {
    TRANSFER_PAYLOAD_MAXIMUM = 8 << 20,
    FOR_EVER_MS = 0, /* the transport repeats it, at once when the connection comes back */
    SIGN_LEAST_MS = 1000,
    SIGN_MOST_MS = 5000,
    SIGN_EACH_MS = 250, /* for each node: a large cluster would ask for nothing but signs of life */
    SIGNS_MISSED = 5,   /* until a node is down */
    RESEND_MS = 4000,   /* over a connection that lives: the other takes its time, twice */
    PACE_MS = 500,      /* between two messages to a node, */
    PACE_BYTES = 256 << 10 /* unless there is so much */
};

struct link {
    struct node_links *links;
    size_t node;
    struct rpc_client *client; /* NULL: this node */
    bool asked;
    uint64_t ask_ms, heard_ms; /* monotonic */
    uint64_t send_ms;          /* monotonic: not before */
    bool looked_at;
    uint64_t down_since_ms; /* wall; 0: it answers */
    struct reason trouble;  /* why it took nothing; empty: it did */
};

struct node_links {
    const struct cluster *cluster;
    struct broker *broker;
    struct link *links;
    size_t count;
    uint64_t sign_ms;    /* between two signs of life of a node that says nothing else */
    uint64_t silence_ms; /* of a node that is down */
};

static const char *
name_of(const struct link *link)
{
    return cluster_node(link->links->cluster, link->node)->name;
}

static void
tell_broker(const struct link *link)
{
    broker_tell_node(link->links->broker, link->node, link->down_since_ms,
                     slice_string(link->trouble.text));
}

static void
hear(struct link *link)
{
    link->heard_ms = clock_monotonic_ms();
    link->ask_ms = link->heard_ms + link->links->sign_ms;
    if (link->down_since_ms != 0) {
        log_info("node_back", "node=%s", name_of(link));
        link->down_since_ms = 0;
        tell_broker(link);
    }
}

static void
signed_life(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct link *link = context;
    (void)payload;
    (void)why;
    link->asked = false;
    if (status != STATUS_CANCELLED) { /* else we are closing */
        hear(link);
    }
}

static void
ask_for_sign(struct link *link, uint64_t now)
{
    struct buf payload;
    buf_init(&payload, 16);
    codec_put_u64(&payload, 0); /* nobody's incarnation: answered at once */
    link->asked = true;
    link->ask_ms = now + link->links->sign_ms;
    rpc_client_post(link->client, QUEUE_WATCH, buf_slice(&payload), FOR_EVER_MS, signed_life, link);
    buf_release(&payload);
}

static void
look_at(struct link *link, uint64_t now)
{
    if (!link->asked && now >= link->ask_ms) {
        ask_for_sign(link, now);
    }
    if (link->down_since_ms == 0 && now >= link->heard_ms + link->links->silence_ms) {
        link->down_since_ms = clock_wall_ms() - (now - link->heard_ms);
        log_warning("node_down", "node=%s silent_ms=%lu", name_of(link),
                    (unsigned long)(now - link->heard_ms));
        tell_broker(link);
    }
}

/* Asking a link takes several calls of the kernel, so only when there is something. */
void
node_links_process(struct node_links *links, const struct pollfd *polls)
{
    const uint64_t now = clock_monotonic_ms();
    for (size_t i = 0; i < links->count; i++) {
        struct link *link = &links->links[i];
        if (link->client == NULL) {
            continue;
        }
        if (!link->looked_at || polls->revents != 0 || rpc_client_wait_ms(link->client) == 0) {
            rpc_client_process(link->client);
            link->looked_at = true;
        }
        look_at(link, now);
        polls++;
    }
}

/* ---- jobs ---- */

static void
note_trouble(struct link *link, enum status status, const struct reason *why)
{
    const bool refused = status != STATUS_OK && status != STATUS_AGAIN;
    const char *text = refused ? why->text : "";
    if (strcmp(link->trouble.text, text) == 0) {
        return;
    }
    (void)snprintf(link->trouble.text, sizeof link->trouble.text, "%s", text);
    tell_broker(link);
    if (refused) {
        log_warning("transfer_refused", "node=%s reason=%s", name_of(link), text);
    } else {
        log_info("transfer_goes_on", "node=%s", name_of(link));
    }
}

static void
transferred(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct link *link = context;
    struct codec_reader reader = codec_reader_of(payload);
    const uint64_t last = status == STATUS_OK ? codec_get_u64(&reader) : 0;
    if (status == STATUS_CANCELLED) {
        return; /* we are closing */
    }
    hear(link);
    note_trouble(link, status, why);
    broker_delivered(link->links->broker, link->node, status, last);
}

void
node_links_send(struct node_links *links)
{
    struct buf payload;
    buf_init(&payload, TRANSFER_PAYLOAD_MAXIMUM);
    const uint64_t now = clock_monotonic_ms();
    for (size_t i = 0; i < links->count; i++) {
        struct link *link = &links->links[i];
        buf_reset(&payload);
        if (link->client != NULL && now >= link->send_ms &&
            broker_outgoing(links->broker, link->node, &payload)) {
            link->send_ms = now + (payload.length < PACE_BYTES ? PACE_MS : 0);
            rpc_client_post(link->client, QUEUE_TRANSFER, buf_slice(&payload), FOR_EVER_MS,
                            transferred, link);
        }
    }
    buf_release(&payload);
}

/* ---- life ---- */

static enum status
open_link(struct link *link, const struct cluster *cluster, struct reason *why)
{
    char name[128];
    (void)snprintf(name, sizeof name, "queue@%s",
                   cluster_node(cluster, cluster_self(cluster))->name);
    const struct rpc_client_options options = {
        .endpoint = cluster_node(cluster, link->node)->queue,
        .name = name,
        .keys = cluster_keys(cluster),
        .resend_ms = RESEND_MS,
    };
    link->heard_ms = clock_monotonic_ms();
    return rpc_client_open(&link->client, &options, why);
}

static uint64_t
sign_ms_of(size_t nodes)
{
    const uint64_t ms = SIGN_EACH_MS * nodes;
    return ms < SIGN_LEAST_MS ? SIGN_LEAST_MS : ms > SIGN_MOST_MS ? SIGN_MOST_MS : ms;
}

enum status
node_links_open(struct node_links **opened, const struct cluster *cluster, struct broker *broker,
                struct reason *why)
{
    struct node_links *links = memory_new(sizeof *links);
    *opened = links;
    links->cluster = cluster;
    links->broker = broker;
    links->count = cluster_node_count(cluster);
    links->sign_ms = sign_ms_of(links->count);
    links->silence_ms = SIGNS_MISSED * links->sign_ms;
    links->links = memory_zero(links->count, sizeof *links->links);
    for (size_t i = 0; i < links->count; i++) {
        links->links[i] = (struct link){.links = links, .node = i};
        if (i != cluster_self(cluster)) {
            TRY(open_link(&links->links[i], cluster, why));
        }
    }
    return STATUS_OK;
}

void
node_links_close(struct node_links *links)
{
    if (links == NULL) {
        return;
    }
    for (size_t i = 0; i < links->count; i++) {
        rpc_client_close(links->links[i].client);
    }
    free(links->links);
    free(links);
}

size_t
node_links_polls(const struct node_links *links, struct pollfd *polls)
{
    size_t n = 0;
    for (size_t i = 0; i < links->count; i++) {
        if (links->links[i].client != NULL) {
            polls[n++] = (struct pollfd){.fd = rpc_client_descriptor(links->links[i].client),
                                         .events = POLLIN};
        }
    }
    return n;
}

uint64_t
node_links_wait_ms(const struct node_links *links)
{
    const uint64_t now = clock_monotonic_ms();
    uint64_t wait = UINT64_MAX;
    for (size_t i = 0; i < links->count; i++) {
        const struct link *link = &links->links[i];
        if (link->client == NULL) {
            continue;
        }
        const int own = rpc_client_wait_ms(link->client);
        wait = own >= 0 && (uint64_t)own < wait ? (uint64_t)own : wait;
        if (!link->asked) {
            clock_wait_until(&wait, link->ask_ms, now);
        }
        if (link->send_ms > now) {
            clock_wait_until(&wait, link->send_ms, now);
        }
        if (link->down_since_ms == 0) {
            clock_wait_until(&wait, link->heard_ms + links->silence_ms, now);
        }
    }
    return wait;
}
