#include "web/http/server.h"

#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "web/http/form.h"
#include "web/http/host.h"
#include "web/http/reply.h"

enum { HEADER_MEMORY = 64 << 10, REPLY_MAXIMUM = 64 << 20, PATH_LOGGED = 512 };

static _Atomic uint64_t answered[WEB_STATUS_CLASSES];

struct web_server {
    struct MHD_Daemon *daemon;
    struct web_server_options options;
    struct web_places *places;
    pthread_t tending; /* of the places, until stop is written */
    int stop;
    atomic_uint busy; /* handlers at work */
};

/* One request while its body arrives. */
struct exchange {
    struct buf body;
    struct web_form form;
    bool too_long;
};

/* ---- routes ---- */

static const struct web_route *
route_of(const struct web_route *routes, const char *path)
{
    for (const struct web_route *route = routes; route->path != NULL; route++) {
        const size_t length = strlen(route->path);
        const bool prefix = length > 1 && route->path[length - 1] == '/';
        if (prefix ? strncmp(path, route->path, length) == 0 : strcmp(path, route->path) == 0) {
            return route;
        }
    }
    return NULL;
}

/* ---- requests ---- */

static bool
is_form(const struct web_request *request)
{
    static const char form_type[] = "application/x-www-form-urlencoded";
    const char *type = web_header(request, "Content-Type");
    return type != NULL && strncasecmp(type, form_type, sizeof form_type - 1) == 0;
}

struct host_field {
    const char *value;
    unsigned count;
};

static enum MHD_Result
note_host(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    (void)kind;
    struct host_field *field = context;
    if (strcasecmp(key, "Host") == 0) {
        field->value = value != NULL ? value : "";
        field->count++;
    }
    return MHD_YES;
}

/* Tells whether the service may be asked by this name. Who names none is no browser. */
static bool
host_is_known(const struct web_server_options *options, const struct web_request *request)
{
    struct host_field field = {NULL, 0};
    (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, note_host, &field);
    if (field.count != 1) {
        return field.count == 0;
    }
    const struct slice host = web_host_of(slice_string(field.value));
    const struct slice own[] = {web_host_of(slice_string(options->listen)),
                                web_host_of(slice_string(options->own_url))};
    const char *listed = options->hosts != NULL ? options->hosts : "";
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (own[i].length > 0 && slice_equal_nocase(host, own[i])) {
            return true;
        }
    }
    if (web_host_is_loopback(host) || web_host_is_listed(host, listed)) {
        return true;
    }
    return !web_is_local(request) && (listed[0] == '\0' || web_host_is_address(host));
}

/* Tells whether the parameters are such values as the route takes. */
static bool
check_parameters(const struct web_route *route, const struct web_request *request,
                 struct web_reply *reply)
{
    for (const struct web_parameter_row *row = route->parameters; row != NULL && row->name != NULL;
         row++) {
        const char *value = web_parameter(request, row->name, NULL);
        if (value == NULL && row->required) {
            web_reply_error(reply, MHD_HTTP_BAD_REQUEST, "There must be a parameter %s: %s",
                            row->name, row->text);
            return false;
        }
        if (value == NULL || value[0] == '\0' || row->value != WEB_VALUE_NUMBER) {
            continue;
        }
        const size_t digits = strspn(value, "0123456789");
        if (value[digits] != '\0' || digits >= SLICE_NUMBER_MOST - 4 ||
            slice_number(slice_string(value)) > row->most) {
            web_reply_error(reply, MHD_HTTP_BAD_REQUEST, "%s is a number from 0 to %lu.", row->name,
                            (unsigned long)row->most);
            return false;
        }
    }
    return true;
}

/* Answers by the route's handler. */
static void
handle(struct web_server *server, const struct web_route *route, struct web_request *request,
       struct web_reply *reply)
{
    struct reason why = {""};
    if (request->method == WEB_POST && is_form(request) &&
        web_form_read(request->form, request->body, &why) != STATUS_OK) {
        web_reply_error(reply, MHD_HTTP_CONTENT_TOO_LARGE, "%s", why.text);
        return;
    }
    if (!check_parameters(route, request, reply)) {
        return;
    }
    (void)atomic_fetch_add(&server->busy, 1);
    route->handle(server->options.service, request, reply);
    (void)atomic_fetch_sub(&server->busy, 1);
}

static const struct {
    const char *name;
    enum web_method method;
} methods[] = {{"GET", WEB_GET},
               {"HEAD", WEB_GET},
               {"POST", WEB_POST},
               {"PUT", WEB_PUT},
               {"DELETE", WEB_DELETE}};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* 0: none that is answered. */
static unsigned
method_of(const char *name)
{
    for (size_t i = 0; i < METHODS; i++) {
        if (strcmp(name, methods[i].name) == 0) {
            return methods[i].method;
        }
    }
    return 0;
}

static void
refuse_method(const struct web_route *route, const char *method, struct web_reply *reply)
{
    char allowed[64] = "";
    for (size_t i = 0; i < METHODS; i++) {
        if ((route->methods & methods[i].method) != 0) {
            const size_t length = strlen(allowed);
            snprintf(allowed + length, sizeof allowed - length, "%s%s", length > 0 ? ", " : "",
                     methods[i].name);
        }
    }
    web_reply_error(reply, MHD_HTTP_METHOD_NOT_ALLOWED, "Not by %.20s.", method);
    web_reply_header(reply, "Allow", "%s", allowed);
}

/* Sends what a page of an origin that may read has to be told before it asks with headers of its
 * own. */
static void
allow_reading(struct web_reply *reply)
{
    reply->status = MHD_HTTP_NO_CONTENT;
    web_reply_header(reply, "Access-Control-Allow-Methods", "GET, HEAD, POST");
    web_reply_header(reply, "Access-Control-Allow-Headers",
                     "Accept, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name");
    web_reply_header(reply, "Access-Control-Max-Age", "86400");
}

static enum MHD_Result
answer(struct web_server *server, struct MHD_Connection *connection, const char *path,
       const char *method, struct exchange *exchange)
{
    const unsigned known = method_of(method);
    struct web_request request = {.method = known,
                                  .path = path,
                                  .body = buf_slice(&exchange->body),
                                  .connection = connection,
                                  .form = &exchange->form};
    struct web_reply reply = {
        .status = MHD_HTTP_OK, .content_type = "text/html; charset=utf-8", .descriptor = -1};
    buf_init(&reply.body, REPLY_MAXIMUM);
    const struct web_route *route = route_of(server->options.routes, path);
    const char *origin = server->options.allow_origin;
    if (!host_is_known(&server->options, &request)) {
        web_reply_error(&reply, MHD_HTTP_MISDIRECTED_REQUEST,
                        "This service is not asked by that name: see web.hosts.");
    } else if (strcmp(method, "OPTIONS") == 0 && origin != NULL && origin[0] != '\0') {
        allow_reading(&reply);
    } else if (exchange->too_long) {
        web_reply_error(&reply, MHD_HTTP_CONTENT_TOO_LARGE, "The request is longer than %d bytes.",
                        WEB_BODY_MAXIMUM);
    } else if (route == NULL) {
        web_reply_error(&reply, MHD_HTTP_NOT_FOUND, "There is nothing at this address.");
    } else if ((route->methods & known) == 0) {
        refuse_method(route, method, &reply);
    } else {
        handle(server, route, &request, &reply);
    }
    log_debug("answered", "method=%.10s path=%.*s status=%u", method, PATH_LOGGED, path,
              reply.status);
    if (reply.status >= 200 && reply.status < 600) {
        (void)atomic_fetch_add(&answered[reply.status / 100 - 2], 1);
    }
    const bool sent = web_reply_send(&server->options, &server->busy, connection, &reply);
    buf_release(&reply.body);
    return sent ? MHD_YES : MHD_NO;
}

void
web_answered(uint64_t counts[WEB_STATUS_CLASSES])
{
    for (size_t i = 0; i < WEB_STATUS_CLASSES; i++) {
        counts[i] = atomic_load(&answered[i]);
    }
}

/* ---- libmicrohttpd's calls ---- */

static enum MHD_Result
on_accept(void *context, const struct sockaddr *address, socklen_t length)
{
    (void)length;
    struct web_server *server = context;
    return web_places_admit(server->places, address) ? MHD_YES : MHD_NO;
}

static void
on_connection(void *context, struct MHD_Connection *connection, void **place,
              enum MHD_ConnectionNotificationCode code)
{
    struct web_server *server = context;
    const struct web_request request = {.connection = connection};
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (code == MHD_CONNECTION_NOTIFY_STARTED && info != NULL) {
        *place = web_places_enter(server->places, web_socket(&request), info->client_addr,
                                  clock_monotonic_ms());
    } else if (code == MHD_CONNECTION_NOTIFY_CLOSED && *place != NULL) {
        web_places_leave(server->places, *place);
        *place = NULL;
    }
}

static struct web_place *
place_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static void *
tend(void *argument)
{
    enum { LOOK_MS = 250 };
    struct web_server *server = argument;
    struct pollfd stop = {.fd = server->stop, .events = POLLIN};
    while (poll(&stop, 1, LOOK_MS) <= 0) {
        const unsigned ended = web_places_tend(server->places, clock_monotonic_ms());
        if (ended > 0) {
            log_info("ended", "connections=%u reason=%s", ended, "too slow");
        }
    }
    return NULL;
}

static enum MHD_Result
on_request(void *context, struct MHD_Connection *connection, const char *path, const char *method,
           const char *version, const char *upload, size_t *upload_size, void **state)
{
    (void)version;
    struct exchange *exchange = *state;
    if (exchange == NULL) { /* headers have come */
        exchange = memory_new(sizeof *exchange);
        buf_init(&exchange->body, WEB_BODY_MAXIMUM);
        *state = exchange;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        exchange->too_long =
            buf_append(&exchange->body, upload, *upload_size) != STATUS_OK || exchange->too_long;
        *upload_size = 0;
        return MHD_YES;
    }
    struct web_server *server = context;
    struct web_place *place = place_of(connection);
    if (place != NULL) {
        web_places_asked(server->places, place, clock_monotonic_ms());
    }
    return answer(server, connection, path, method, exchange);
}

static void
on_completed(void *context, struct MHD_Connection *connection, void **state,
             enum MHD_RequestTerminationCode code)
{
    (void)code;
    struct web_server *server = context;
    struct web_place *place = place_of(connection);
    if (place != NULL) {
        web_places_answered(server->places, place, clock_monotonic_ms());
    }
    struct exchange *exchange = *state;
    if (exchange != NULL) {
        buf_release(&exchange->body);
        web_form_release(&exchange->form);
        free(exchange);
        *state = NULL;
    }
}

/* ---- open and close ---- */

/* "host:port" or "[address]:port". */
static enum status
resolve(const char *listen, struct addrinfo **address, struct reason *why)
{
    char host[256];
    const char *colon = strrchr(listen, ':');
    size_t length = colon != NULL ? (size_t)(colon - listen) : 0;
    if (colon == NULL || length >= sizeof host) {
        return status_fail(why, STATUS_MISUSE, "web.listen: not HOST:PORT: %s", listen);
    }
    const char *start = listen;
    if (length >= 2 && listen[0] == '[' && listen[length - 1] == ']') {
        start++;
        length -= 2;
    }
    memcpy(host, start, length);
    host[length] = 0;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    const int error = getaddrinfo(length > 0 ? host : NULL, colon + 1, &hints, address);
    return error == 0
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE, "web.listen: %s: %s", listen, gai_strerror(error));
}

static void
stop_tending(const struct web_server *server)
{
    const uint64_t one = 1;
    if (write(server->stop, &one, sizeof one) == sizeof one) {
        (void)pthread_join(server->tending, NULL);
    }
}

static void
free_server(struct web_server *server)
{
    file_close(server->stop);
    web_places_free(server->places);
    free(server);
}

/* The thread that ends slow connections, then libmicrohttpd's. */
static enum status
start(struct web_server *server, const struct addrinfo *address, struct reason *why)
{
    const struct web_server_options *options = &server->options;
    const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                           MHD_USE_POLL | (address->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    server->stop = eventfd(0, EFD_CLOEXEC);
    if (server->stop < 0 || pthread_create(&server->tending, NULL, tend, server) != 0) {
        return status_fail(why, STATUS_SYSTEM, "cannot start a thread");
    }
    server->daemon = MHD_start_daemon(
        flags, 0, on_accept, server, on_request, server, MHD_OPTION_SOCK_ADDR, address->ai_addr,
        MHD_OPTION_CONNECTION_LIMIT, web_places_most(server->places), MHD_OPTION_CONNECTION_TIMEOUT,
        options->idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_MEMORY,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, server, MHD_OPTION_END);
    if (server->daemon == NULL) {
        const enum status status =
            status_fail_errno(why, "cannot listen on %s", server->options.listen);
        stop_tending(server);
        return status;
    }
    return STATUS_OK;
}

enum status
web_server_open(struct web_server **opened, const struct web_server_options *options,
                struct reason *why)
{
    *opened = NULL;
    struct addrinfo *address;
    TRY(resolve(options->listen, &address, why));
    struct web_server *server = memory_new(sizeof *server);
    server->options = *options;
    server->places = web_places_new(&options->places);
    for (const char *const *node = options->nodes; node != NULL && *node != NULL; node++) {
        web_places_add_node(server->places, web_host_of(slice_string(*node)));
    }
    const enum status status = start(server, address, why);
    freeaddrinfo(address);
    if (status != STATUS_OK) {
        free_server(server);
        return status;
    }
    *opened = server;
    return STATUS_OK;
}

uint16_t
web_server_port(const struct web_server *server)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info != NULL ? info->port : 0;
}

bool
web_server_close(struct web_server *server, unsigned wait_ms)
{
    enum { STEP_MS = 20 };
    const MHD_socket listening = MHD_quiesce_daemon(server->daemon);
    if (listening != MHD_INVALID_SOCKET) {
        (void)close(listening);
    }
    for (unsigned waited = 0; atomic_load(&server->busy) > 0; waited += STEP_MS) {
        if (waited >= wait_ms) {
            return false;
        }
        (void)poll(NULL, 0, STEP_MS);
    }
    MHD_stop_daemon(server->daemon);
    stop_tending(server);
    free_server(server);
    return true;
}
