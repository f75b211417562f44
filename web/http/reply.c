#include "web/http/reply.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "web/http/accept.h"
#include "web/http/compress.h"
#include "web/http/stream.h"

enum {
    BLOCK = 64 << 10,
    PACKED_LEAST = 1024, /* below, packing saves no packet */
    PACKED_MAXIMUM = (64 << 20) + 4096
};

/* A reply that is made while it is sent counts as busy. */
struct sending {
    atomic_uint *busy;
    struct web_stream *stream;
    struct web_gzip *gzip; /* NULL: as it is */
    struct buf packed;     /* with gzip: not sent yet, from at on */
    size_t at;
    bool ended;
    int socket;
};

static ssize_t
read_plain(const struct sending *sending, char *bytes, size_t most)
{
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

static ssize_t
read_packed(struct sending *sending, char *bytes, size_t most)
{
    char plain[16 << 10];
    while (sending->at == sending->packed.length) {
        if (sending->ended) {
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
        const ssize_t n = read_plain(sending, plain, sizeof plain);
        if (n == MHD_CONTENT_READER_END_WITH_ERROR) {
            return n;
        }
        sending->ended = n < 0;
        buf_reset(&sending->packed);
        sending->at = 0;
        if (!web_gzip_pack(sending->gzip, slice_of(plain, n > 0 ? (size_t)n : 0), sending->ended,
                           &sending->packed)) {
            return MHD_CONTENT_READER_END_WITH_ERROR;
        }
    }
    const size_t left = sending->packed.length - sending->at;
    const size_t n = left < most ? left : most;
    memcpy(bytes, sending->packed.data + sending->at, n);
    sending->at += n;
    return (ssize_t)n;
}

static ssize_t
read_stream(void *context, uint64_t position, char *bytes, size_t most)
{
    (void)position;
    struct sending *sending = context;
    return sending->gzip != NULL ? read_packed(sending, bytes, most)
                                 : read_plain(sending, bytes, most);
}

static void
end_stream(void *context)
{
    struct sending *sending = context;
    web_stream_close(sending->stream);
    web_gzip_close(sending->gzip);
    buf_release(&sending->packed);
    (void)atomic_fetch_sub(sending->busy, 1);
    free(sending);
}

static struct MHD_Response *
stream_response(atomic_uint *busy, const struct web_request *request, bool packed,
                struct web_reply *reply)
{
    struct sending *sending = memory_new(sizeof *sending);
    sending->busy = busy;
    sending->stream = reply->stream;
    sending->socket = web_socket(request);
    buf_init(&sending->packed, PACKED_MAXIMUM);
    if (packed && (sending->gzip = web_gzip_open()) != NULL) {
        web_reply_header(reply, "Content-Encoding", "gzip");
    }
    (void)atomic_fetch_add(busy, 1);
    reply->stream = NULL;
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK, read_stream, sending, end_stream);
    if (response == NULL) {
        end_stream(sending);
    }
    return response;
}

/* Nothing changes when it does not get shorter. */
static void
pack_body(struct web_reply *reply)
{
    struct buf packed;
    struct web_gzip *gzip = web_gzip_open();
    buf_init(&packed, PACKED_MAXIMUM);
    if (gzip != NULL && web_gzip_pack(gzip, buf_slice(&reply->body), true, &packed) &&
        packed.length < reply->body.length) {
        const struct buf whole = reply->body;
        reply->body = packed;
        packed = whole;
        web_reply_header(reply, "Content-Encoding", "gzip");
    }
    web_gzip_close(gzip);
    buf_release(&packed);
}

static struct MHD_Response *
response_of(atomic_uint *busy, const struct web_request *request, struct web_reply *reply)
{
    const bool packed = web_gzip_is_wanted(web_header(request, "Accept-Encoding"));
    if (reply->stream != NULL) {
        return stream_response(busy, request, packed, reply);
    }
    if (reply->descriptor >= 0) {
        struct MHD_Response *response = MHD_create_response_from_fd_at_offset64(
            reply->length, reply->descriptor, reply->offset);
        if (response == NULL) {
            (void)close(reply->descriptor);
        }
        return response;
    }
    if (packed && reply->body.length >= PACKED_LEAST) {
        pack_body(reply);
    }
    const bool empty = reply->body.length == 0;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(reply->body.length, empty ? (void *)"" : reply->body.data,
                                        empty ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (response != NULL && !empty) {
        reply->body.data = NULL; /* now libmicrohttpd's */
        reply->body.length = 0;
    }
    return response;
}

/* RFC 9457, or the page for who prefers one. */
static void
tell_problem(const struct web_server_options *options, const struct web_request *request,
             struct web_reply *reply)
{
    static const char *const types[] = {"application/problem+json", "application/json",
                                        "text/html"};
    const char *title = MHD_get_reason_phrase_for(reply->status);
    const char *accept = web_header(request, "Accept");
    buf_reset(&reply->body);
    if (options->problem_page != NULL && accept != NULL &&
        web_accept_choose(accept, types, 3) == 2) {
        reply->content_type = "text/html; charset=utf-8";
        options->problem_page(reply, title);
        return;
    }
    reply->content_type = types[0];
    (void)buf_printf(&reply->body,
                     "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%u,\"detail\":\"",
                     title, reply->status);
    (void)buf_append_json(&reply->body, slice_string(reply->problem));
    (void)buf_append_string(&reply->body, "\"}\n");
}

bool
web_reply_send(const struct web_server_options *options, atomic_uint *busy,
               struct MHD_Connection *connection, struct web_reply *reply)
{
    static const char *const fixed[][2] = {{"Vary", "Accept, Accept-Encoding"},
                                           {"X-Content-Type-Options", "nosniff"},
                                           {"Referrer-Policy", "same-origin"}};
    char policy[512];
    const struct web_request request = {.connection = connection};
    if (reply->problem[0] != '\0') {
        tell_problem(options, &request, reply);
    }
    struct MHD_Response *response = response_of(busy, &request, reply);
    if (response == NULL) {
        return false;
    }
    (void)MHD_add_response_header(response, "Content-Type", reply->content_type);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        (void)MHD_add_response_header(response, fixed[i][0], fixed[i][1]);
    }
    const char *origin = options->allow_origin;
    const bool readable = origin != NULL && origin[0] != '\0';
    (void)snprintf(policy, sizeof policy,
                   "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                   "connect-src 'self'; form-action 'self'; base-uri 'none'; "
                   "frame-ancestors %.256s",
                   reply->framed && readable ? origin : "'none'");
    (void)MHD_add_response_header(response, "Content-Security-Policy", policy);
    if (readable) {
        (void)MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
        (void)MHD_add_response_header(response, "Access-Control-Expose-Headers",
                                      "Quadrille-Partial, Location, Link");
    }
    for (size_t i = 0; i < reply->header_count; i++) {
        (void)MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
    }
    const enum MHD_Result result = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return result == MHD_YES;
}
