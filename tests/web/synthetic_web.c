/* synthetic_web: serves the web of model.h to crawlers under test, over HTTP/1.1 on all addresses
 * of 127/8 and one port, also as an HTTP proxy (absolute-form targets). One process, one epoll set,
 * thousands of connections; no state but connections, the log, and how often what answers later was
 * refused.
 *
 *   synthetic_web --serve [--log FILE]     until SIGTERM; prints "port N"
 *   synthetic_web --pages                  URI, kind, how its fetch ends
 *   synthetic_web --hosts-file             for fetch.hosts_file
 *   synthetic_web --rules                  host, address, Crawl-delay in ms, whether /private/ is
 * forbidden synthetic_web --changes                of good pages: URI, period and phase in s,
 * whether it goes common: --seed N --hosts N --pages-least N --pages-most N --faults PER-MILLE
 * --port N --change S
 * --body-most BYTES; --address A: serves also who connects to that address, which is not of 127/8
 *
 * The log has one line per request: begin and end in µs, host number, address the connection came
 * in at, status, bytes, how it ended (whole, part: as planned; left: the client went; gone: it had
 * gone before the request was read, so nobody knows when it was sent), path. Begin is read after
 * the request was received, end before the last send for which the client was still there after
 * that moment. So, however late this process is, the client sent no later than begin and was not
 * done before end: a gap from end to begin that is too short was too short for the client, too. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/options/opt.h"
#include "tests/web/model.h"

enum {
    REQUEST_MOST = 16 << 10,
    EVENTS = 256,
    TICK_MS = 20,
    PART_MS = 60,
    PARTS = 10,
    LOG_ENOUGH = 256 << 10,
    LOG_US = 500000
};

struct connection {
    int descriptor;
    uint32_t address;
    char request[REQUEST_MOST];
    size_t received;
    char path[2048];
    struct web_host host;
    struct web_answer answer;
    bool busy, close;
    size_t sent, limit; /* limit: how much may be sent by now */
    uint64_t begin_us, last_us;
    size_t slow_at; /* place in the list of slow ones; SIZE_MAX: not there */
};

struct server {
    struct web web;
    uint32_t address; /* served besides 127/8, host byte order; 0: none */
    int epoll, listener, signals, log;
    struct buf lines;
    struct map refused; /* by digest of host and path: how often, since it was last answered */
    uint64_t written_us, requests, accepted;
    struct connection **slow;
    size_t slow_count, slow_capacity;
    bool stopping;
};

static uint64_t
now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* ---- the log ---- */

static void
write_log(struct server *server)
{
    size_t at = 0;
    while (server->log >= 0 && at < server->lines.length) {
        const ssize_t n = write(server->log, server->lines.data + at, server->lines.length - at);
        if (n < 0) {
            break;
        }
        at += (size_t)n;
    }
    buf_reset(&server->lines);
    server->written_us = now_us();
}

static void
note(struct server *server, const struct connection *c, uint64_t end_us, const char *end)
{
    char text[INET_ADDRSTRLEN];
    const struct in_addr address = {.s_addr = htonl(c->address)};
    server->requests++;
    if (server->log < 0) {
        return;
    }
    inet_ntop(AF_INET, &address, text, sizeof text);
    buf_printf(&server->lines, "%" PRIu64 "\t%" PRIu64 "\t%u\t%s\t%u\t%zu\t%s\t%s\n", c->begin_us,
               end_us, c->host.number, text, c->answer.status, c->sent, end, c->path);
    if (server->lines.length > LOG_ENOUGH) {
        write_log(server);
    }
}

/* ---- connections ---- */

static void
be_slow(struct server *server, struct connection *c)
{
    if (c->slow_at != SIZE_MAX) {
        return;
    }
    if (server->slow_count == server->slow_capacity) {
        server->slow_capacity = server->slow_capacity == 0 ? 64 : 2 * server->slow_capacity;
        server->slow = memory_resize(server->slow, server->slow_capacity, sizeof *server->slow);
    }
    c->slow_at = server->slow_count;
    server->slow[server->slow_count++] = c;
}

static void
be_quick(struct server *server, struct connection *c)
{
    if (c->slow_at == SIZE_MAX) {
        return;
    }
    struct connection *last = server->slow[--server->slow_count];
    server->slow[c->slow_at] = last;
    last->slow_at = c->slow_at;
    c->slow_at = SIZE_MAX;
}

static void
end_connection(struct server *server, struct connection *c, bool reset)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = 0};
    if (reset) {
        setsockopt(c->descriptor, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    }
    be_quick(server, c);
    close(c->descriptor);
    buf_release(&c->answer.bytes);
    free(c);
}

/* The client went: the exchange was over for it no sooner than the last byte was sent. */
static void
left(struct server *server, struct connection *c)
{
    if (c->busy) {
        note(server, c, c->last_us, "left");
    }
    end_connection(server, c, false);
}

static bool serve(struct server *server, struct connection *c);

/* All that is to be sent was sent. False: the connection is no more. */
static bool
answered(struct server *server, struct connection *c)
{
    const enum delivery how = c->answer.delivery;
    if (how == SEND_ENDLESS || how == SEND_MUTE) {
        return true;
    }
    note(server, c, c->last_us, how == SEND_RESET || how == SEND_SHORT ? "part" : "whole");
    c->busy = false;
    be_quick(server, c);
    if (c->close || c->answer.close || how == SEND_RESET || how == SEND_SHORT) {
        end_connection(server, c, how == SEND_RESET);
        return false;
    }
    return serve(server, c);
}

static bool
client_is_there(const struct connection *c)
{
    char byte;
    const ssize_t n = recv(c->descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool
send_more(struct server *server, struct connection *c)
{
    while (c->sent < c->limit) {
        const uint64_t before_us = now_us(); /* the client has it no sooner */
        if (!client_is_there(c)) {
            left(server, c);
            return false;
        }
        const ssize_t n =
            send(c->descriptor, c->answer.bytes.data + c->sent, c->limit - c->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            struct epoll_event event = {EPOLLIN | EPOLLOUT | EPOLLRDHUP, {.ptr = c}};
            epoll_ctl(server->epoll, EPOLL_CTL_MOD, c->descriptor, &event);
            return true;
        }
        if (n < 0) {
            left(server, c);
            return false;
        }
        c->sent += (size_t)n;
        c->last_us = before_us;
    }
    const size_t whole =
        c->answer.delivery == SEND_RESET ? c->answer.bytes.length / 2 : c->answer.bytes.length;
    return c->sent < whole || answered(server, c);
}

/* ---- requests ---- */

static struct slice
header_of(struct slice request, const char *name)
{
    const size_t n = strlen(name);
    const char *end = request.at + request.length;
    for (const char *at = request.at; at + n + 3 < end; at++) {
        if (at[0] == '\n' && strncasecmp(at + 1, name, n) == 0 && at[n + 1] == ':') {
            const char *value = at + n + 2 + (at[n + 2] == ' ');
            const char *stop = memchr(value, '\r', (size_t)(end - value));
            return slice_of(value, stop != NULL ? (size_t)(stop - value) : 0);
        }
    }
    return slice_of("", 0);
}

/* Takes host and path out of the request; false: it is none of ours. */
static bool
understand(struct server *server, struct connection *c, struct slice request)
{
    uint32_t number;
    struct slice host = header_of(request, "Host");
    const char *target = memchr(request.at, ' ', request.length);
    if (target == NULL) {
        return false;
    }
    const size_t rest = request.length - (size_t)(++target - request.at);
    const char *end = memchr(target, ' ', rest);
    struct slice path = slice_of(target, end != NULL ? (size_t)(end - target) : 0);
    if (slice_starts(path, SLICE("http://"))) {
        host = slice_of(path.at + 7, path.length - 7);
        const size_t slash = slice_find(host, '/');
        path = slice_of(host.at + slash, host.length - slash);
    }
    const struct slice connection = header_of(request, "Connection");
    c->close = slice_is(connection, "close");
    if (!web_host_number(&server->web, host, &number)) {
        return false;
    }
    snprintf(c->path, sizeof c->path, "%.*s", SLICE_PRINT(path));
    for (char *at = c->path; *at != '\0'; at++) {
        *at = *at < ' ' ? '?' : *at;
    }
    c->host = web_host(&server->web, number);
    return true;
}

static void
answer(struct server *server, struct connection *c, struct slice validator)
{
    const struct slice path = slice_string(c->path);
    const uint64_t page = digest_local(path) ^ c->host.number;
    const uint32_t refused = map_get(&server->refused, page);
    const struct web_request request = {path, validator, (uint64_t)time(NULL),
                                        refused == (uint32_t)MAP_NONE ? 0 : refused};
    c->answer.refusal = false;
    web_answer(&server->web, &c->host, &request, &c->answer);
    if (c->answer.refusal) {
        map_set(&server->refused, page, request.refused + 1);
    } else if (request.refused > 0) {
        map_remove(&server->refused, page);
    }
}

/* Answers the next request that is there whole. False: the connection is no more. */
static bool
serve(struct server *server, struct connection *c)
{
    const char *end = memmem(c->request, c->received, "\r\n\r\n", 4);
    if (end == NULL) {
        if (c->received == REQUEST_MOST) {
            end_connection(server, c, false);
            return false;
        }
        return true;
    }
    const size_t length = (size_t)(end + 4 - c->request);
    char validator[64];
    c->begin_us = c->last_us = now_us();
    if (!understand(server, c, slice_of(c->request, length))) {
        end_connection(server, c, false);
        return false;
    }
    const struct slice tag = header_of(slice_of(c->request, length), "If-None-Match");
    snprintf(validator, sizeof validator, "%.*s", SLICE_PRINT(tag));
    memmove(c->request, c->request + length, c->received - length);
    c->received -= length;
    c->sent = 0;
    if (!client_is_there(c)) {
        c->answer.status = 0;
        note(server, c, c->begin_us, "gone");
        end_connection(server, c, false);
        return false;
    }
    c->busy = true;
    buf_reset(&c->answer.bytes);
    answer(server, c, slice_string(validator));
    const enum delivery how = c->answer.delivery;
    const size_t all = c->answer.bytes.length;
    c->limit = how == SEND_SLOWLY ? all / PARTS : how == SEND_RESET ? all / 2 : all;
    if (how == SEND_SLOWLY || how == SEND_ENDLESS) {
        be_slow(server, c);
    }
    return send_more(server, c);
}

static void
receive(struct server *server, struct connection *c, uint32_t events)
{
    while (c->received < REQUEST_MOST) {
        const ssize_t n =
            recv(c->descriptor, c->request + c->received, REQUEST_MOST - c->received, 0);
        if (n > 0) {
            c->received += (size_t)n;
            break;
        }
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            break;
        }
        left(server, c);
        return;
    }
    if (events & (EPOLLERR | EPOLLHUP)) {
        left(server, c);
    } else if (!c->busy) {
        (void)serve(server, c);
    }
}

static void
connection_ready(struct server *server, struct connection *c, uint32_t events)
{
    if (events & EPOLLOUT && c->busy) {
        struct epoll_event event = {EPOLLIN | EPOLLRDHUP, {.ptr = c}};
        epoll_ctl(server->epoll, EPOLL_CTL_MOD, c->descriptor, &event);
        if (!send_more(server, c)) {
            return;
        }
    }
    if (events & ~(uint32_t)EPOLLOUT) {
        receive(server, c, events);
    }
}

static void
accept_all(struct server *server)
{
    int descriptor;
    while ((descriptor = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >=
           0) {
        struct sockaddr_in local;
        socklen_t length = sizeof local;
        const int one = 1;
        if (getsockname(descriptor, (struct sockaddr *)&local, &length) != 0 ||
            (ntohl(local.sin_addr.s_addr) >> 24 != 127 &&
             ntohl(local.sin_addr.s_addr) != server->address)) {
            close(descriptor);
            continue;
        }
        struct connection *c = memory_new(sizeof *c);
        struct epoll_event event = {EPOLLIN | EPOLLRDHUP, {.ptr = c}};
        c->descriptor = descriptor;
        c->address = ntohl(local.sin_addr.s_addr);
        c->slow_at = SIZE_MAX;
        buf_init(&c->answer.bytes, 32 << 20);
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        epoll_ctl(server->epoll, EPOLL_CTL_ADD, descriptor, &event);
        server->accepted++;
    }
}

static void
tick(struct server *server)
{
    static const char part[] = "4\r\nmore\r\n";
    const uint64_t now = now_us();
    for (size_t i = server->slow_count; i-- > 0;) {
        struct connection *c = server->slow[i];
        if (now - c->last_us < PART_MS * 1000 || c->sent < c->limit) {
            continue;
        }
        if (c->answer.delivery == SEND_ENDLESS) {
            buf_append(&c->answer.bytes, part, sizeof part - 1);
            c->limit = c->answer.bytes.length;
        } else {
            const size_t all = c->answer.bytes.length;
            c->limit = c->limit + all / PARTS + 1 < all ? c->limit + all / PARTS + 1 : all;
        }
        (void)send_more(server, c);
    }
    if (now - server->written_us > LOG_US) {
        write_log(server);
    }
}

/* ---- life ---- */

static enum status
open_server(struct server *server, const char *log, struct reason *why)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(server->web.port)};
    socklen_t length = sizeof address;
    const int one = 1;
    sigset_t set;
    struct epoll_event event = {EPOLLIN, {.ptr = &server->listener}};
    server->log = log != NULL ? open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    buf_init(&server->lines, 4 << 20);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    server->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if ((log != NULL && server->log < 0) ||
        bind(server->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server->listener, 4096) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&address, &length) != 0 ||
        epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->listener, &event) != 0) {
        return status_fail_errno(why, "the server does not start");
    }
    event.data.ptr = &server->signals;
    epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->signals, &event);
    server->web.port = ntohs(address.sin_port);
    map_init(&server->refused);
    return STATUS_OK;
}

static int
run(struct server *server)
{
    struct epoll_event events[EVENTS];
    printf("port %u\n", server->web.port);
    fflush(stdout);
    while (!server->stopping) {
        const int n = epoll_wait(server->epoll, events, EVENTS, TICK_MS);
        for (int i = 0; i < n; i++) {
            void *what = events[i].data.ptr;
            if (what == &server->listener) {
                accept_all(server);
            } else if (what == &server->signals) {
                server->stopping = true;
            } else {
                connection_ready(server, what, events[i].events);
            }
        }
        tick(server);
    }
    write_log(server);
    map_release(&server->refused);
    printf("requests %" PRIu64 " connections %" PRIu64 "\n", server->requests, server->accepted);
    return 0;
}

/* ---- lists ---- */

static void
list(const struct web *web, bool pages, bool hosts_file, bool changes)
{
    for (uint32_t i = 0; i < web->hosts; i++) {
        const struct web_host host = web_host(web, i);
        const struct in_addr address = {.s_addr = htonl(host.address)};
        for (uint32_t p = 0; pages && p < web_page_count(&host); p++) {
            const struct web_page page = web_page(web, &host, p);
            printf("http://h%u.web.example:%u%s\t%s\t%s\n", i, web->port, page.path, page.kind,
                   page.end);
        }
        for (uint32_t p = 0; changes && host.robots != ROBOTS_BROKEN && p < host.pages; p++) {
            const struct web_page page = web_page(web, &host, p);
            const struct web_change change = web_change(web, &host, p);
            if (strcmp(page.kind, "good") == 0) {
                printf("http://h%u.web.example:%u%s\t%u\t%u\t%s\n", i, web->port, page.path,
                       change.period_s, change.phase_s, change.goes ? "goes" : "");
            }
        }
        if (hosts_file) {
            printf("%s h%u.web.example\n", inet_ntoa(address), i);
        } else if (!pages && !changes) {
            printf("%u\t%s\t%u\t%s\n", i, inet_ntoa(address), host.crawl_delay_ms,
                   host.forbids ? "forbids" : "");
        }
    }
}

int
main(int argc, char **argv)
{
    struct server server = {.log = -1};
    struct reason why = {""};
    bool serving = false;
    bool pages = false;
    bool hosts_file = false;
    bool rules = false;
    bool changes = false;
    const char *log = NULL;
    int64_t seed = 1, hosts = 200, least = 4, most = 100, faults = 150, port = 0, change = 0,
            body = WEB_BODY_USUAL;
    const char *address = "0.0.0.0";
    struct in_addr served;
    const struct flag flags[] = {
        {"serve", 0, FLAG_SWITCH, NULL, &serving, "Serve."},
        {"pages", 0, FLAG_SWITCH, NULL, &pages, "List the pages, their kinds and ends."},
        {"hosts-file", 0, FLAG_SWITCH, NULL, &hosts_file, "List addresses and names."},
        {"rules", 0, FLAG_SWITCH, NULL, &rules, "List what check_politeness must know of hosts."},
        {"changes", 0, FLAG_SWITCH, NULL, &changes, "List how good pages change."},
        {"log", 0, FLAG_STRING, "FILE", &log, "Where requests are noted."},
        {"seed", 0, FLAG_INTEGER, "N", &seed, "Another web."},
        {"hosts", 0, FLAG_INTEGER, "N", &hosts, "Hosts."},
        {"pages-least", 0, FLAG_INTEGER, "N", &least, "Pages of the smallest host."},
        {"pages-most", 0, FLAG_INTEGER, "N", &most, "Pages of the largest."},
        {"faults", 0, FLAG_INTEGER, "N", &faults, "Faulty pages of thousand."},
        {"port", 0, FLAG_INTEGER, "N", &port, "Port; 0 for any."},
        {"body-most", 0, FLAG_INTEGER, "BYTES", &body, "The longest text of a page."},
        {"address", 0, FLAG_STRING, "A", &address, "Serves this address of the machine, too."},
        {"change", 0, FLAG_INTEGER, "S", &change,
         "Shortest time between changes; 0: no page changes."},
        {0},
    };
    const struct program program = {
        .name = "synthetic_web",
        .synopsis = "--serve|--pages|--hosts-file|--rules|--changes [OPTION]...",
        .summary = "a web for crawlers under test",
        .flags = flags};
    char **operands;
    int count;
    enum status status = program_parse(&program, argc, argv, &operands, &count, &why);
    if (status == STATUS_END) {
        return 0;
    }
    if (status == STATUS_OK &&
        (count > 0 || serving + pages + hosts_file + rules + changes != 1 || hosts < 1 ||
         hosts > 65000 || least < 1 || most < least || most > 100000 || faults < 0 ||
         faults > 1000 || change < 0 || change > 1000000 || body < 1000 || body > WEB_BODY_MOST ||
         inet_pton(AF_INET, address, &served) != 1)) {
        status = status_fail(&why, STATUS_MISUSE, "see --help");
    }
    server.web = (struct web){.seed = (uint64_t)seed,
                              .hosts = (uint32_t)hosts,
                              .pages = (uint32_t)least,
                              .most_pages = (uint32_t)most,
                              .faults = (uint32_t)faults,
                              .port = (uint16_t)port,
                              .body_most = (uint32_t)body,
                              .change_s = (uint32_t)change};
    if (status == STATUS_OK && serving) {
        server.address = ntohl(served.s_addr);
        web_open(&server.web);
        status = open_server(&server, log, &why);
    }
    if (status != STATUS_OK) {
        fprintf(stderr, "synthetic_web: %s\n", why.text);
        return status_exit_code(status);
    }
    if (!serving) {
        list(&server.web, pages, hosts_file, changes);
        return 0;
    }
    const int code = run(&server);
    web_close();
    return code;
}
