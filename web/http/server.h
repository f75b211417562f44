/* HTTP service: connections are libmicrohttpd's, one thread each and bounded in number; what
 * is answered is in the handlers. Whatever a client sends is bounded: 64 KiB of request line
 * and headers, 1 MiB of body, idle time, the time to a whole request, connections of one address
 * (places.h). On loopback only names of loopback and those configured are answered (host.h). */
#ifndef WEB_HTTP_SERVER_H
#define WEB_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"
#include "web/http/places.h"

struct web_form;
struct web_stream;

enum { WEB_BODY_MAXIMUM = 1 << 20, WEB_HEADERS_MAXIMUM = 6, WEB_PROBLEM_BYTES = 600 };

/* HEAD is GET whose body is not sent. */
enum web_method { WEB_GET = 1, WEB_POST = 2, WEB_PUT = 4, WEB_DELETE = 8 };

struct web_request {
    enum web_method method;
    const char *path;      /* percent-decoded */
    struct slice body;     /* of a POST or PUT */
    void *connection;      /* private */
    struct web_form *form; /* private: the fields of a form POST */
};

/* A parameter of the query string or of a form POST; NULL when absent. *count (may be NULL):
 * how often it is given. Lives as long as the request. */
const char *web_parameter(const struct web_request *request, const char *name, size_t *count);
const char *web_header(const struct web_request *request, const char *name); /* NULL: absent */

/* The socket of the connection, to see when the client goes away; -1: unknown. */
int web_socket(const struct web_request *request);
/* A number for whoever is at the other end, not 0; addresses that web/http/places.h holds for one
 * have the same. */
uint64_t web_client(const struct web_request *request);
/* The address at the other end, as text; empty: unknown. */
void web_address(const struct web_request *request, char *text, size_t size);
/* The other end is this machine. */
bool web_is_local(const struct web_request *request);
/* Calls visit for each parameter of this name, in order. */
typedef void web_visit(void *context, const char *value);
void web_parameters(const struct web_request *request, const char *name, web_visit *visit,
                    void *context);

struct web_reply {
    unsigned status;          /* 200 at first */
    const char *content_type; /* a constant */
    struct buf body;          /* unless descriptor >= 0 */
    int descriptor;           /* sent from offset on, then closed */
    uint64_t offset, length;
    struct web_stream *stream; /* instead of both: sent as it is made (web/http/stream.h) */
    struct {
        const char *name; /* a constant */
        char value[256];
    } headers[WEB_HEADERS_MAXIMUM];
    size_t header_count;
    bool framed;                     /* pages of the origin that may read may show it in a frame */
    char problem[WEB_PROBLEM_BYTES]; /* what failed, in place of all of them; empty: nothing did */
};
void web_reply_header(struct web_reply *reply, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Problem details (RFC 9457), or a page for who prefers one. */
void web_reply_error(struct web_reply *reply, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct web_service; /* what handlers work with: web/web_service.h */
typedef void web_handle(struct web_service *service, const struct web_request *request,
                        struct web_reply *reply);

/* A parameter of a route. What is no such value is answered 400 before the handler is called. */
enum web_value {
    WEB_VALUE_TEXT,
    WEB_VALUE_IRI,   /* told apart for the description only: handlers check it */
    WEB_VALUE_NUMBER /* decimal, at most `most` */
};
struct web_parameter_row {
    const char *name;
    enum web_value value;
    bool required;
    uint64_t most;
    const char *text; /* for the description of the service */
};

/* One row for each address: what answers it, what it takes, and what is said of it in the
 * description of the service. */
struct web_route {
    const char *path; /* ending in "/": a prefix */
    unsigned methods; /* enum web_method, or'ed */
    web_handle *handle;
    const char *tag, *summary;                  /* tag: under which heading it is described */
    const struct web_parameter_row *parameters; /* ended by name NULL; NULL: none */
    const char *types;                          /* of its answers, separated by blanks */
    const char *body_types;                     /* of POST and PUT; NULL: a form */
};

struct web_server;
struct web_server_options {
    const char *listen; /* "127.0.0.1:8033", "[::1]:0" */
    struct web_places_limits places;
    const char *const *nodes; /* URLs of the crawl's other nodes, ended by NULL; NULL: none */
    unsigned idle_seconds;
    const char *hosts;              /* names it is asked by on loopback beside those of loopback */
    const char *own_url;            /* whose host is one more; NULL: none */
    const char *allow_origin;       /* CORS: "*" or an origin; empty or NULL: none */
    const struct web_route *routes; /* ended by path NULL */
    struct web_service *service;
    /* Fills a reply's body with a page that says what failed. */
    void (*problem_page)(struct web_reply *reply, const char *title);
};
enum status web_server_open(struct web_server **server, const struct web_server_options *options,
                            struct reason *why);
/* Requests that were answered, by the hundred of the status: [0] 2xx, [1] 3xx, [2] 4xx, [3] 5xx. */
enum { WEB_STATUS_CLASSES = 4 };
void web_answered(uint64_t counts[WEB_STATUS_CLASSES]);
uint16_t web_server_port(const struct web_server *server);
/* Takes no more connections and waits up to wait_ms for the present ones. True: all ended and
 * everything is freed. False: some are still busy; the process should end. */
bool web_server_close(struct web_server *server, unsigned wait_ms);

#endif
