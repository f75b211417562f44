#include "queue/daemon/queue_daemon.h"
#include "base/system/file.h"
#include "queue/cluster/daemon_main.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "queue/client/message.h"
#include "queue/daemon/daemon_scope.h"
#include "queue/daemon/metadata_intake.h"
#include "queue/daemon/node_links.h"

enum {
    BIND_PATIENCE_MS = 5000, /* a dying daemon may let go of its lock before its socket */
    BIND_PAUSE_MS = 20
};

struct daemon {
    const struct queue_daemon_options *options;
    struct broker *broker;
    struct rpc_server *server;
    struct node_links *links;
    struct metadata_intake *metadata;
    struct pollfd *polls;
    nfds_t poll_links; /* those from here on are the links' */
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

static void
submit(struct daemon *daemon, struct rpc_request *request)
{
    const struct broker_request submitted = {
        .verb = request->verb,
        .id = request->id,
        .incarnation = request->incarnation,
        .client = request->client,
        .payload = request->payload,
        .token = request,
    };
    broker_submit(daemon->broker, &submitted);
}

/* The sender of what is refused sends it again. */
static void
metadata_answered(void *context, struct rpc_request *request, enum status status,
                  const struct reason *why)
{
    struct daemon *daemon = context;
    if (status == STATUS_OK) {
        submit(daemon, request);
    } else {
        answer(daemon, request, status, (struct slice){NULL, 0}, why);
    }
}

static void
take(struct daemon *daemon, struct rpc_request *request)
{
    struct reason why;
    const uint8_t verb = request->verb;
    if (verb == QUEUE_FORGET && metadata_intake_holds(daemon->metadata, verb)) {
        (void)status_fail(&why, STATUS_AGAIN, "another command has this node forget one");
        answer(daemon, request, STATUS_AGAIN, (struct slice){NULL, 0}, &why);
    } else if (verb == QUEUE_TRANSFER || verb == QUEUE_FORGET) {
        metadata_intake_hold(daemon->metadata, daemon->broker, request);
    } else {
        submit(daemon, request);
    }
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
        take(daemon, kept);
        any = true;
    }
    return any;
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
    const int store = metadata_intake_wait_ms(daemon->metadata);
    const uint64_t links = node_links_wait_ms(daemon->links);
    wait = store >= 0 && (uint64_t)store < wait ? (uint64_t)store : wait;
    wait = links < wait ? links : wait;
    daemon->polls[n++] =
        (struct pollfd){.fd = metadata_intake_descriptor(daemon->metadata), .events = POLLIN};
    daemon->poll_links = n;
    n += node_links_polls(daemon->links, daemon->polls + n);
    if (poll(daemon->polls, n, (int)wait) > 0 && daemon->polls[0].revents != 0) {
        struct signalfd_siginfo info;
        daemon->stopping |= read(daemon->signals, &info, sizeof info) == (ssize_t)sizeof info;
    }
}

static enum status
loop(struct daemon *daemon, struct reason *why)
{
    while (!daemon->stopping) {
        node_links_process(daemon->links, daemon->polls + daemon->poll_links);
        metadata_intake_process(daemon->metadata, daemon->broker);
        const bool busy = receive(daemon);
        daemon_scope_look(&daemon->scope, daemon->broker);
        TRY(broker_work(daemon->broker, why));
        daemon_scope_settle(&daemon->scope, daemon->broker);
        node_links_send(daemon->links);
        wait_for_work(daemon, busy);
    }
    return STATUS_OK;
}

static void
close_daemon(struct daemon *daemon)
{
    node_links_close(daemon->links);
    metadata_intake_free(daemon->metadata);
    broker_close(daemon->broker);
    if (daemon->server != NULL) {
        rpc_server_close(daemon->server);
    }
    file_close(daemon->signals);
    daemon_scope_close(&daemon->scope);
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
        const struct cluster *cluster = broker.cluster;
        daemon.polls = memory_zero(cluster_node_count(cluster) + 3, sizeof *daemon.polls);
        daemon.metadata = metadata_intake_new(options->metastore, metadata_answered, &daemon);
        status = node_links_open(&daemon.links, cluster, daemon.broker, why);
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
