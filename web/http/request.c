/* Functions by which handlers ask of a request and answer it: server.h. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/digest.h"
#include "web/http/form.h"
#include "web/http/server.h"

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
    for (size_t i = 0; i < request->form->count; i++) {
        const struct web_field *field = &request->form->fields[i];
        (void)visit_one(&visiting, MHD_POSTDATA_KIND, field->name, field->value);
    }
}

struct lookup {
    const char *value;
    size_t count;
};

static void
note_first(void *context, const char *value)
{
    struct lookup *lookup = context;
    lookup->value = lookup->value != NULL ? lookup->value : value;
    lookup->count++;
}

const char *
web_parameter(const struct web_request *request, const char *name, size_t *count)
{
    struct lookup lookup = {NULL, 0};
    web_parameters(request, name, note_first, &lookup);
    if (count != NULL) {
        *count = lookup.count;
    }
    return lookup.value;
}

int
web_socket(const struct web_request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info != NULL ? info->connect_fd : -1;
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

uint64_t
web_client(const struct web_request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    unsigned char key[WEB_ADDRESS_KEY] = {0};
    if (info != NULL && info->client_addr != NULL) {
        web_address_key(info->client_addr, key);
    }
    return digest_local(slice_of((const char *)key, sizeof key)) | 1;
}

void
web_address(const struct web_request *request, char *text, size_t size)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info != NULL ? info->client_addr : NULL;
    const socklen_t length = address != NULL && address->sa_family == AF_INET6
                                 ? sizeof(struct sockaddr_in6)
                                 : sizeof(struct sockaddr_in);
    text[0] = '\0';
    if (address != NULL &&
        getnameinfo(address, length, text, (socklen_t)size, NULL, 0, NI_NUMERICHOST) != 0) {
        text[0] = '\0';
    }
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
    (void)vsnprintf(reply->problem, sizeof reply->problem, format, arguments);
    va_end(arguments);
    reply->status = status;
}
