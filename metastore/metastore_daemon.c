#include "metastore/metastore_daemon.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/system/file.h"
#include "base/system/log.h"
#include "metastore/metastore_service.h"
#include "queue/cluster/daemon_main.h"

struct daemon {
    struct meta_store *store;
    struct rpc_server *server;
    struct meta_service *service;
    struct archive_keep *keep;
    int signals;
};

static enum status
daemon_loop(struct daemon *daemon, struct reason *why)
{
    struct pollfd polls[] = {{.fd = rpc_server_descriptor(daemon->server), .events = POLLIN},
                             {.fd = daemon->signals, .events = POLLIN}};
    for (;;) {
        bool more;
        int wait_ms;
        TRY(meta_service_turn(daemon->service, &more, why));
        TRY(meta_store_tick(daemon->store, &wait_ms, why));
        if (poll(polls, 2, more ? 0 : wait_ms) < 0 && errno != EINTR) {
            return status_fail_errno(why, "cannot poll");
        }
        if ((polls[1].revents & POLLIN) != 0) {
            return STATUS_OK;
        }
    }
}

static enum status
take_signals(int *descriptor, struct reason *why)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 ||
        (*descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0) {
        return status_fail_errno(why, "cannot take signals");
    }
    return STATUS_OK;
}

enum status
meta_daemon_run(const struct meta_daemon_options *options, struct reason *why)
{
    struct daemon daemon = {.signals = -1};
    /* The lock is waited for with signals as they were, so that the wait can be ended. */
    enum status status = meta_store_open(&daemon.store, &options->store, why);
    if (status == STATUS_OK) {
        status = take_signals(&daemon.signals, why);
    }
    if (status == STATUS_OK) {
        status = rpc_server_open(&daemon.server, options->endpoints, options->keys, why);
    }
    if (status == STATUS_OK) {
        status = meta_service_open(&daemon.service, daemon.store, daemon.server, why);
    }
    if (status == STATUS_OK) {
        daemon.keep = archive_keep_new(options->archive, &options->keep);
        meta_service_serve_archive(daemon.service, options->archive, daemon.keep);
        log_info("ready", "endpoint=%s epoch=%lu", options->endpoints[0],
                 (unsigned long)meta_store_epoch(daemon.store));
        daemon_tell_ready(options->ready_descriptor);
        status = daemon_loop(&daemon, why);
        log_info("stopping", "status=%s", status_name(status));
    }
    meta_service_free(daemon.service);
    archive_keep_free(daemon.keep);
    rpc_server_close(daemon.server);
    meta_store_close(daemon.store);
    file_close(daemon.signals);
    return status;
}
