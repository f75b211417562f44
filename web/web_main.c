/* quadrille-web: HTTP for people, for other nodes' stages, and for SPARQL clients. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/system/log.h"
#include "config/web_address.h"
#include "queue/cluster/daemon_main.h"
#include "web/html.h"
#include "web/web_service.h"

enum {
    LISTEN_BYTES = 512,
    CLOSE_MS = 2000,
    REQUEST_MS = 20000, /* for a request with its body: a megabyte at 64 KB/s takes 16 s */
    REPLY_RATE = 1024,  /* bytes a second; who takes fewer holds a connection and a query */
    IDLE_SECONDS = 30,
    CONNECTIONS = 128, /* for one more, the one that has waited longest for a request is closed */
    OF_ADDRESS = 64,   /* more than a browser or a proxy keeps open, and nobody has them all */
    OF_NODES = 32      /* beyond all others: visitors do not hold up the crawl of other nodes */
};

static const struct program program = {
    .name = "quadrille-web",
    .summary = "HTTP: status, search, SPARQL, and WARC files for other nodes",
    .description =
        "Answers GET / and /status.json (where the crawl stands), /search?q=WORDS, GET and POST "
        "/sparql (SPARQL 1.1 Protocol: docs/ENDPOINT.md), /graph?graph=URI (a document's triples), "
        "/meta?uri=URI (Turtle: what is known of a document) and "
        "/warc/FILE (with Range; stages on other nodes read content there).\n\n"
        "It listens on web.listen; nothing asks who is there, so an address that others reach "
        "shows them the archive and the index. With web.listen empty it does nothing until "
        "SIGTERM.\n\n"
        "Hostile input: everything a client sends is bounded in size, number and time. Files are "
        "served by name from DIR/warc only. Exit status: 0 after SIGTERM or SIGINT, 100 for "
        "misuse, 111 when the system failed.",
    .examples = "quadrille-web --dir crawl\n"
                "quadrille-web --dir crawl --set web.listen=127.0.0.1:0",
};

/* web= of this node; NULL: it has none, as whoever serves the shares of a cluster. */
static const char *
own_url(const struct cluster *cluster)
{
    return cluster_is_client(cluster) ? NULL : cluster_node(cluster, cluster_self(cluster))->web;
}

/* web.listen; or, when that is as it came, HOST:PORT of this node's web= URL. */
static void
listen_address(const struct opt_set *options, const struct cluster *cluster, char *listen)
{
    bool changed;
    const char *given = opt_text(options, "web.listen", &changed);
    const char *url = own_url(cluster);
    snprintf(listen, LISTEN_BYTES, "%s", given);
    if (changed || url == NULL) {
        return;
    }
    const char *host = strstr(url, "://");
    host = host != NULL ? host + 3 : url;
    const int length = (int)strcspn(host, "/");
    const char *colon = memrchr(host, ':', (size_t)length);
    const bool has_port =
        colon != NULL && memchr(colon, ']', (size_t)(host + length - colon)) == NULL;
    snprintf(listen, LISTEN_BYTES, "%.*s%s", length, host, has_port ? "" : ":80");
}

static enum status
wait_for_signal(const sigset_t *set, struct reason *why)
{
    const int descriptor = signalfd(-1, set, SFD_CLOEXEC);
    if (descriptor < 0) {
        return status_fail_errno(why, "cannot take signals");
    }
    struct signalfd_siginfo info;
    while (read(descriptor, &info, sizeof info) < 0 && errno == EINTR) {
    }
    (void)close(descriptor);
    return STATUS_OK;
}

/* Finds where they are, ended by NULL. */
static const char *const *
other_nodes(const struct cluster *cluster, const char *urls[2 * CLUSTER_NODES_MAXIMUM + 1])
{
    size_t count = 0;
    for (size_t i = 0; i < cluster_node_count(cluster); i++) {
        const struct cluster_node *node = cluster_node(cluster, i);
        if (i != cluster_self(cluster)) {
            urls[count] = node->queue;
            count += node->queue != NULL;
            urls[count] = node->web;
            count += node->web != NULL;
        }
    }
    urls[count] = NULL;
    return urls;
}

static enum status
serve(struct web_service *service, const char *listen, const sigset_t *set, int ready_descriptor,
      struct reason *why)
{
    const struct opt_set *set_options = service->options;
    const struct cluster *cluster = service->cluster;
    const char *nodes[2 * CLUSTER_NODES_MAXIMUM + 1];
    const struct web_server_options options = {.listen = listen,
                                               .places = {.connections = CONNECTIONS,
                                                          .of_address = OF_ADDRESS,
                                                          .of_nodes = OF_NODES,
                                                          .request_ms = REQUEST_MS,
                                                          .reply_rate = REPLY_RATE},
                                               .nodes = other_nodes(cluster, nodes),
                                               .hosts = opt_string(set_options, "web.hosts"),
                                               .own_url = own_url(cluster),
                                               .idle_seconds = IDLE_SECONDS,
                                               .allow_origin =
                                                   opt_string(set_options, "web.allow_origin"),
                                               .routes = service->routes,
                                               .problem_page = html_problem,
                                               .service = service};
    struct web_server *server = NULL;
    const int claim = web_address_claim(service->directory);
    if (listen[0] != 0) {
        TRY(web_server_open(&server, &options, why));
        log_info("listening", "address=%s port=%u", listen, web_server_port(server));
        web_address_tell(claim, listen, web_server_port(server));
        web_tell_missing(service);
    }
    daemon_tell_ready(ready_descriptor);
    const enum status status = wait_for_signal(set, why);
    if (server != NULL && !web_server_close(server, CLOSE_MS)) {
        log_info("stopping", "busy=%d", 1);
        quick_exit(status_exit_code(status)); /* a query still runs; nothing is lost */
    }
    return status;
}

static enum status
run(const struct daemon_setting *setting, struct reason *why)
{
    char listen[LISTEN_BYTES];
    struct web_service *service = NULL;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &set, NULL); /* threads inherit it */
    (void)signal(SIGPIPE, SIG_IGN);
    listen_address(setting->options, setting->cluster, listen);
    enum status status =
        web_service_open(&service, setting->directory, setting->options, setting->cluster, why);
    if (status == STATUS_OK) {
        service->routes = web_routes;
        service->ping = web_ping_open(service);
        service->recorder = status_recorder_open(service);
        status = serve(service, listen, &set, setting->ready_descriptor, why);
        status_recorder_close(service->recorder);
        web_ping_close(service->ping);
    }
    web_service_close(service);
    return status;
}

int
main(int argc, char **argv)
{
    return daemon_main(&program, run, argc, argv);
}
