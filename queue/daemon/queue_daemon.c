#include "queue/daemon/queue_daemon.h"
#include "queue/cluster/daemon_main.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "queue/client/message.h"
#include "queue/daemon/daemon_scope.h"

enum {
    BIND_PATIENCE_MS = 5000, /* a dying daemon may let go of its lock before its socket */
    BIND_PAUSE_MS = 20,
    TRANSFER_PAYLOAD_MAXIMUM = 8 << 20,
    TRANSFER_TIMEOUT_MS = 0 /* for ever: the transport repeats it */
};

struct daemon;
struct link {
    struct daemon *daemon;
    size_t node;
    struct rpc_client *client; /* NULL: this node */
};

struct daemon {
    const struct queue_daemon_options *options;
    struct broker *broker;
    struct rpc_server *server;
    struct link *links;
    size_t link_count;
    struct pollfd *polls;
    int signals;
    bool stopping;
    struct daemon_scope scope;
};

/* ---- requests ---- */

static void
answer(void *context, void *token, enum status status, struct slice payload,
       const struct reason *why)
{
    struct daemon *daemon = context;
    struct rpc_request *request = token;
    if (status == STATUS_CANCELLED) {
        rpc_request_drop(request);
    } else {
        rpc_reply(daemon->server, request, status, payload, why);
    }
    free(request);
}

static bool
receive(struct daemon *daemon)
{
    struct rpc_request request;
    bool any = false;
    while (broker_has_room(daemon->broker) &&
           rpc_server_receive(daemon->server, &request) == STATUS_OK) {
        struct rpc_request *kept = memory_alloc(sizeof *kept);
        *kept = request;
        const struct broker_request submitted = {
            .verb = request.verb,
            .id = request.id,
            .incarnation = request.incarnation,
            .client = request.client,
            .payload = request.payload,
            .token = kept,
        };
        broker_submit(daemon->broker, &submitted);
        any = true;
    }
    return any;
}

/* ---- other nodes ---- */

static void
transferred(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct link *link = context;
    struct codec_reader reader = codec_reader_of(payload);
    const uint64_t last = status == STATUS_OK ? codec_get_u64(&reader) : 0;
    if (status == STATUS_CANCELLED) {
        return; /* we are closing */
    }
    if (status != STATUS_OK) {
        log_warning("transfer_refused", "node=%s reason=%s",
                    cluster_node(link->daemon->options->broker.cluster, link->node)->name,
                    why != NULL ? why->text : "");
    }
    broker_delivered(link->daemon->broker, link->node, status, last);
}

static void
transfer(struct daemon *daemon)
{
    struct buf payload;
    buf_init(&payload, TRANSFER_PAYLOAD_MAXIMUM);
    for (size_t i = 0; i < daemon->link_count; i++) {
        struct link *link = &daemon->links[i];
        buf_reset(&payload);
        if (link->client != NULL && broker_outgoing(daemon->broker, link->node, &payload)) {
            rpc_client_post(link->client, QUEUE_TRANSFER, buf_slice(&payload), TRANSFER_TIMEOUT_MS,
                            transferred, link);
        }
    }
    buf_release(&payload);
}

static enum status
open_links(struct daemon *daemon, struct reason *why)
{
    const struct cluster *cluster = daemon->options->broker.cluster;
    const size_t self = cluster_self(cluster);
    daemon->link_count = cluster_node_count(cluster);
    daemon->links = memory_zero(daemon->link_count, sizeof *daemon->links);
    daemon->polls = memory_zero(daemon->link_count + 2, sizeof *daemon->polls);
    for (size_t i = 0; i < daemon->link_count; i++) {
        char name[128];
        daemon->links[i] = (struct link){.daemon = daemon, .node = i};
        if (i == self) {
            continue;
        }
        (void)snprintf(name, sizeof name, "queue@%s", cluster_node(cluster, self)->name);
        const struct rpc_client_options options = {
            .endpoint = cluster_node(cluster, i)->queue,
            .name = name,
            .keys = cluster_keys(cluster),
        };
        TRY(rpc_client_open(&daemon->links[i].client, &options, why));
    }
    return STATUS_OK;
}

/* ---- life ---- */

static enum status
take_signals(struct daemon *daemon, struct reason *why)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) {
        return status_fail_errno(why, "cannot block signals");
    }
    daemon->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return daemon->signals >= 0 ? STATUS_OK : status_fail_errno(why, "cannot wait for signals");
}

static enum status
bind_server(struct daemon *daemon, struct reason *why)
{
    const struct timespec pause = {0, BIND_PAUSE_MS * 1000000L};
    const uint64_t deadline = clock_monotonic_ms() + BIND_PATIENCE_MS;
    for (;;) {
        const enum status status =
            rpc_server_open(&daemon->server, daemon->options->endpoints,
                            cluster_keys(daemon->options->broker.cluster), why);
        if (status != STATUS_DENIED || clock_monotonic_ms() >= deadline) {
            return status;
        }
        (void)nanosleep(&pause, NULL);
    }
}

static void
say_ready(const struct daemon *daemon)
{
    const struct counters *counters = broker_counters(daemon->broker);
    log_info("ready", "endpoint=%s fetch=%lu detect=%lu transform=%lu index=%lu extract=%lu",
             daemon->options->endpoints[0], (unsigned long)counters->stages[STAGE_FETCH].jobs,
             (unsigned long)counters->stages[STAGE_DETECT].jobs,
             (unsigned long)counters->stages[STAGE_TRANSFORM].jobs,
             (unsigned long)counters->stages[STAGE_INDEX].jobs,
             (unsigned long)counters->stages[STAGE_EXTRACT].jobs);
    daemon_tell_ready(daemon->options->ready_descriptor);
}

static void
wait_for_work(struct daemon *daemon, bool busy)
{
    uint64_t wait = busy ? 0 : broker_wait_ms(daemon->broker);
    nfds_t n = 0;
    daemon->polls[n++] = (struct pollfd){.fd = daemon->signals, .events = POLLIN};
    daemon->polls[n++] =
        (struct pollfd){.fd = rpc_server_descriptor(daemon->server), .events = POLLIN};
    for (size_t i = 0; i < daemon->link_count; i++) {
        struct rpc_client *client = daemon->links[i].client;
        if (client != NULL) {
            const int own = rpc_client_wait_ms(client);
            wait = own >= 0 && (uint64_t)own < wait ? (uint64_t)own : wait;
            daemon->polls[n++] =
                (struct pollfd){.fd = rpc_client_descriptor(client), .events = POLLIN};
        }
    }
    if (poll(daemon->polls, n, (int)wait) > 0 && daemon->polls[0].revents != 0) {
        struct signalfd_siginfo info;
        daemon->stopping |= read(daemon->signals, &info, sizeof info) == (ssize_t)sizeof info;
    }
}

static enum status
loop(struct daemon *daemon, struct reason *why)
{
    while (!daemon->stopping) {
        for (size_t i = 0; i < daemon->link_count; i++) {
            if (daemon->links[i].client != NULL) {
                rpc_client_process(daemon->links[i].client);
            }
        }
        const bool busy = receive(daemon);
        daemon_scope_look(&daemon->scope, daemon->broker);
        TRY(broker_work(daemon->broker, why));
        daemon_scope_settle(&daemon->scope, daemon->broker);
        transfer(daemon);
        wait_for_work(daemon, busy);
    }
    return STATUS_OK;
}

static void
close_daemon(struct daemon *daemon)
{
    for (size_t i = 0; i < daemon->link_count; i++) {
        if (daemon->links[i].client != NULL) {
            rpc_client_close(daemon->links[i].client);
        }
    }
    broker_close(daemon->broker);
    if (daemon->server != NULL) {
        rpc_server_close(daemon->server);
    }
    if (daemon->signals >= 0) {
        (void)close(daemon->signals);
    }
    daemon_scope_close(&daemon->scope);
    free(daemon->links);
    free(daemon->polls);
}

enum status
queue_daemon_run(const struct queue_daemon_options *options, struct reason *why)
{
    struct daemon daemon = {.options = options, .signals = -1};
    struct broker_options broker = options->broker;
    enum status status = take_signals(&daemon, why);
    daemon_scope_open(&daemon.scope, &broker, options->configured);
    broker.take_scope = daemon_scope_take;
    broker.take_scope_context = &daemon.scope;
    if (status == STATUS_OK) {
        status = broker_open(&daemon.broker, &broker, answer, &daemon, why);
    }
    if (status == STATUS_OK) {
        status = bind_server(&daemon, why);
    }
    if (status == STATUS_OK) {
        status = open_links(&daemon, why);
    }
    if (status == STATUS_OK) {
        broker_serve_as(daemon.broker, rpc_server_incarnation(daemon.server));
        daemon_scope_look(&daemon.scope, daemon.broker);
        status = broker_work(daemon.broker, why); /* nobody hears that there is nothing to do */
    }
    if (status == STATUS_OK) {
        say_ready(&daemon);
        status = loop(&daemon, why);
    }
    close_daemon(&daemon);
    log_info("stopped", "status=%s", status_name(status));
    return status;
}
