#include "web/server.h"

#include "web/stream.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/log.h"
#include "base/memory.h"

enum { HEADER_MEMORY = 64 << 10, REPLY_MAXIMUM = 64 << 20, PATH_LOGGED = 512 };

struct web_server {
    struct MHD_Daemon *daemon;
    struct web_server_options options;
    atomic_uint busy; /* handlers at work */
};

/* One request while its body arrives. */
struct exchange {
    struct buf body;
    struct buf form;
    bool too_long;
};

/* ---- what handlers ask ---- */

/* name=value pairs of the form, NUL-terminated strings one after the other. */
static const char *
form_value(const struct buf *form, const char *name, size_t *count)
{
    const char *found = NULL;
    for (size_t at = 0; at < form->length;) {
        const char *key = form->data + at;
        const char *value = key + strlen(key) + 1;
        if (strcmp(key, name) == 0) {
            found = found != NULL ? found : value;
            ++*count;
        }
        at = (size_t)(value + strlen(value) + 1 - form->data);
    }
    return found;
}

struct lookup {
    const char *name, *value;
    size_t count;
};

static enum MHD_Result
lookup_visit(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    (void)kind;
    struct lookup *lookup = context;
    if (strcmp(key, lookup->name) == 0) {
        lookup->value = lookup->value != NULL ? lookup->value : value != NULL ? value : "";
        lookup->count++;
    }
    return MHD_YES;
}

const char *
web_parameter(const struct web_request *request, const char *name, size_t *count)
{
    struct lookup lookup = {.name = name};
    (void)MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, lookup_visit,
                                    &lookup);
    const char *posted = form_value(request->form, name, &lookup.count);
    if (count != NULL) {
        *count = lookup.count;
    }
    return lookup.value != NULL ? lookup.value : posted;
}

static int
socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info != NULL ? info->connect_fd : -1;
}

struct visiting {
    const char *name;
    web_visit *visit;
    void *context;
};

static enum MHD_Result
visit_one(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    (void)kind;
    const struct visiting *visiting = context;
    if (strcmp(key, visiting->name) == 0) {
        visiting->visit(visiting->context, value != NULL ? value : "");
    }
    return MHD_YES;
}

void
web_parameters(const struct web_request *request, const char *name, web_visit *visit, void *context)
{
    struct visiting visiting = {name, visit, context};
    (void)MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, visit_one,
                                    &visiting);
    for (size_t at = 0; at < request->form->length;) {
        const char *key = request->form->data + at;
        const char *value = key + strlen(key) + 1;
        (void)visit_one(&visiting, MHD_POSTDATA_KIND, key, value);
        at = (size_t)(value + strlen(value) + 1 - request->form->data);
    }
}

int
web_socket(const struct web_request *request)
{
    return socket_of(request->connection);
}

bool
web_is_local(const struct web_request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info == NULL || info->client_addr == NULL) {
        return false;
    }
    if (info->client_addr->sa_family == AF_INET) {
        const struct sockaddr_in *address = (const void *)info->client_addr;
        return ntohl(address->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *address = (const void *)info->client_addr;
    return info->client_addr->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&address->sin6_addr);
}

const char *
web_header(const struct web_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

void
web_reply_header(struct web_reply *reply, const char *name, const char *format, ...)
{
    if (reply->header_count < WEB_HEADERS_MAXIMUM) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(reply->headers[reply->header_count].value, sizeof reply->headers[0].value,
                        format, arguments);
        va_end(arguments);
        reply->headers[reply->header_count++].name = name;
    }
}

void
web_reply_error(struct web_reply *reply, unsigned status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buf_reset(&reply->body);
    (void)buf_vprintf(&reply->body, format, arguments);
    va_end(arguments);
    (void)buf_append_char(&reply->body, '\n');
    reply->status = status;
    reply->content_type = "text/plain; charset=utf-8";
}

/* ---- forms ---- */

/* application/x-www-form-urlencoded; a NUL inside a value ends it. */
static void
decode_form(struct slice body, struct buf *form)
{
    bool in_name = true;
    for (size_t i = 0; i < body.length; i++) {
        char c = body.at[i];
        if (c == '&' || (c == '=' && in_name)) {
            (void)buf_append_char(form, '\0');
            if (c == '&' && in_name) {
                (void)buf_append_char(form, '\0');
            }
            in_name = c == '&';
            continue;
        }
        if (c == '+') {
            c = ' ';
        } else if (c == '%' && i + 2 < body.length && ascii_hex_value(body.at[i + 1]) >= 0 &&
                   ascii_hex_value(body.at[i + 2]) >= 0) {
            c = (char)(ascii_hex_value(body.at[i + 1]) * 16 + ascii_hex_value(body.at[i + 2]));
            i += 2;
        }
        if (c != '\0') {
            (void)buf_append_char(form, c);
        }
    }
    (void)buf_append_char(form, '\0');
    if (in_name) {
        (void)buf_append_char(form, '\0');
    }
}

static bool
is_form(const struct web_request *request)
{
    static const char form_type[] = "application/x-www-form-urlencoded";
    const char *type = web_header(request, "Content-Type");
    return type != NULL && strncasecmp(type, form_type, sizeof form_type - 1) == 0;
}

/* ---- replies ---- */

/* A reply that is made while it is sent counts as busy. */
struct sending {
    struct web_server *server;
    struct web_stream *stream;
    int socket;
};

static ssize_t
read_stream(void *context, uint64_t position, char *bytes, size_t most)
{
    (void)position;
    const struct sending *sending = context;
    size_t n;
    switch (web_stream_read(sending->stream, sending->socket, bytes, most, &n)) {
    case STATUS_OK:
        return (ssize_t)n;
    case STATUS_END:
        return MHD_CONTENT_READER_END_OF_STREAM;
    default: /* the connection is closed without the end of the reply: the client sees that */
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
}

static void
end_stream(void *context)
{
    struct sending *sending = context;
    web_stream_close(sending->stream);
    (void)atomic_fetch_sub(&sending->server->busy, 1);
    free(sending);
}

static struct MHD_Response *
stream_response(struct web_server *server, struct MHD_Connection *connection,
                struct web_reply *reply)
{
    enum { BLOCK = 64 << 10 };
    struct sending *sending = memory_zero(1, sizeof *sending);
    *sending = (struct sending){server, reply->stream, socket_of(connection)};
    (void)atomic_fetch_add(&server->busy, 1);
    reply->stream = NULL;
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK, read_stream, sending, end_stream);
    if (response == NULL) {
        end_stream(sending);
    }
    return response;
}

static enum MHD_Result
send_reply(struct web_server *server, struct MHD_Connection *connection, struct web_reply *reply)
{
    struct MHD_Response *response;
    if (reply->stream != NULL) {
        response = stream_response(server, connection, reply);
    } else if (reply->descriptor >= 0) {
        response = MHD_create_response_from_fd_at_offset64(reply->length, reply->descriptor,
                                                           reply->offset);
        if (response == NULL) {
            (void)close(reply->descriptor);
        }
    } else {
        const bool empty = reply->body.length == 0;
        response = MHD_create_response_from_buffer(
            reply->body.length, empty ? (void *)"" : reply->body.data,
            empty ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
        if (response != NULL && !empty) {
            reply->body.data = NULL; /* now libmicrohttpd's */
            reply->body.length = 0;
        }
    }
    if (response == NULL) {
        return MHD_NO;
    }
    (void)MHD_add_response_header(response, "Content-Type", reply->content_type);
    (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    (void)MHD_add_response_header(response, "Content-Security-Policy",
                                  "default-src 'none'; style-src 'unsafe-inline'; "
                                  "form-action 'self'; frame-ancestors 'none'");
    const char *origin = server->options.allow_origin;
    if (origin != NULL && origin[0] != '\0') {
        (void)MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
        (void)MHD_add_response_header(response, "Access-Control-Expose-Headers",
                                      "Quadrille-Partial");
    }
    for (size_t i = 0; i < reply->header_count; i++) {
        (void)MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
    }
    const enum MHD_Result result = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}

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

static enum MHD_Result
answer(struct web_server *server, struct MHD_Connection *connection, const char *path,
       const char *method, struct exchange *exchange)
{
    const bool is_post = strcmp(method, "POST") == 0;
    struct web_request request = {.method = is_post ? WEB_POST : WEB_GET,
                                  .path = path,
                                  .body = buf_slice(&exchange->body),
                                  .connection = connection,
                                  .form = &exchange->form};
    struct web_reply reply = {
        .status = MHD_HTTP_OK, .content_type = "text/html; charset=utf-8", .descriptor = -1};
    buf_init(&reply.body, REPLY_MAXIMUM);
    const struct web_route *route = route_of(server->options.routes, path);
    const bool known = is_post || strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    const char *origin = server->options.allow_origin;
    if (strcmp(method, "OPTIONS") == 0 && origin != NULL && origin[0] != '\0') {
        reply.status = MHD_HTTP_NO_CONTENT;
        web_reply_header(&reply, "Access-Control-Allow-Methods", "GET, HEAD, POST");
        web_reply_header(&reply, "Access-Control-Allow-Headers", "Accept, Content-Type");
    } else if (exchange->too_long) {
        web_reply_error(&reply, MHD_HTTP_CONTENT_TOO_LARGE, "The request is longer than %d bytes.",
                        WEB_BODY_MAXIMUM);
    } else if (route == NULL) {
        web_reply_error(&reply, MHD_HTTP_NOT_FOUND, "There is nothing at this address.");
    } else if (!known || (route->methods & request.method) == 0) {
        web_reply_error(&reply, MHD_HTTP_METHOD_NOT_ALLOWED, "Not by %.20s.", method);
        web_reply_header(&reply, "Allow", "%s",
                         (route->methods & WEB_POST) != 0 ? "GET, HEAD, POST" : "GET, HEAD");
    } else {
        if (is_post && is_form(&request)) {
            decode_form(request.body, &exchange->form);
        }
        (void)atomic_fetch_add(&server->busy, 1);
        route->handle(server->options.service, &request, &reply);
        (void)atomic_fetch_sub(&server->busy, 1);
    }
    log_debug("answered", "method=%.10s path=%.*s status=%u", method, PATH_LOGGED, path,
              reply.status);
    const enum MHD_Result result = send_reply(server, connection, &reply);
    buf_release(&reply.body);
    return result;
}

/* ---- libmicrohttpd's calls ---- */

static enum MHD_Result
on_request(void *context, struct MHD_Connection *connection, const char *path, const char *method,
           const char *version, const char *upload, size_t *upload_size, void **state)
{
    (void)version;
    struct exchange *exchange = *state;
    if (exchange == NULL) { /* headers have come */
        exchange = memory_zero(1, sizeof *exchange);
        buf_init(&exchange->body, WEB_BODY_MAXIMUM);
        buf_init(&exchange->form, WEB_BODY_MAXIMUM + 2);
        *state = exchange;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        exchange->too_long =
            buf_append(&exchange->body, upload, *upload_size) != STATUS_OK || exchange->too_long;
        *upload_size = 0;
        return MHD_YES;
    }
    return answer(context, connection, path, method, exchange);
}

static void
on_completed(void *context, struct MHD_Connection *connection, void **state,
             enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)connection;
    (void)code;
    struct exchange *exchange = *state;
    if (exchange != NULL) {
        buf_release(&exchange->body);
        buf_release(&exchange->form);
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

enum status
web_server_open(struct web_server **opened, const struct web_server_options *options,
                struct reason *why)
{
    *opened = NULL;
    struct addrinfo *address;
    TRY(resolve(options->listen, &address, why));
    struct web_server *server = memory_zero(1, sizeof *server);
    server->options = *options;
    const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                           MHD_USE_POLL | (address->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, server, MHD_OPTION_SOCK_ADDR, address->ai_addr,
        MHD_OPTION_CONNECTION_LIMIT, options->connections, MHD_OPTION_CONNECTION_TIMEOUT,
        options->idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_MEMORY,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U,
        MHD_OPTION_END);
    freeaddrinfo(address);
    if (server->daemon == NULL) {
        free(server);
        return status_fail_errno(why, "cannot listen on %s", options->listen);
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
    free(server);
    return true;
}
