/* Many HTTP transfers at a time, over libcurl's multi interface. Knows no queue and no stage.
 *
 * One GET per request; redirects are answers like any other. Headers and bodies are kept as they
 * came (transfer coding undone, content coding kept), for the archive. Everything is bounded: the
 * time of a transfer and of a silence, bytes of header and body, bytes of all transfers together.
 * The address that is really connected to is checked against private ranges at the moment of
 * connecting, whatever names, redirects or DNS said before.
 *
 * FTP is spoken in HTTP's terms (docs/FTP.md): a file's size and time are its header and its
 * entity tag, replies are statuses, REST is Range. Conditions are not: who has an entity tag asks
 * by head first.
 *
 * Hostile input: servers. One thread; but sinks of transfers by FTP are called in another one,
 * until they are done.
 */
#ifndef STAGES_FETCH_HTTP_FETCH_HTTP_H
#define STAGES_FETCH_HTTP_FETCH_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/options/opt.h"
#include "base/slice.h"
#include "base/status.h"

extern const struct opt fetch_options[];

enum { REDIRECTS_MOST = 10 }; /* in a chain */

/* So many requests that take long do not count for fetch.window: half as many as it has, 512 at
 * least. */
size_t fetch_slow_places(const struct opt_set *options);

struct fetch_http;

/* Tells how the wrapper asks its owner for events. watch: events are those of epoll, 0 forgets the
 * descriptor. timer: call fetch_http_tick after delay_ms; UINT64_MAX: no call is needed. */
struct fetch_loop {
    void (*watch)(void *context, int descriptor, uint32_t epoll_events);
    void (*timer)(void *context, uint64_t delay_ms);
    void *context;
};

enum status fetch_http_open(struct fetch_http **http, const struct opt_set *options,
                            const struct fetch_loop *loop, struct reason *why);
/* Transfers under way end without a callback. NULL is allowed. */
void fetch_http_close(struct fetch_http *http);

/* Is called by the owner of the loop when the loop says that the descriptor is ready. Finished
 * transfers call back from inside. */
void fetch_http_ready(struct fetch_http *http, int descriptor, uint32_t epoll_events);
void fetch_http_tick(struct fetch_http *http);

enum fetch_end {
    FETCH_ANSWERED,        /* a whole response */
    FETCH_CUT_LENGTH,      /* header is there; the body passed its limit */
    FETCH_CUT_TIME,        /* header is there; the body took too long or fell silent */
    FETCH_CUT_CONNECTION,  /* header is there; the connection broke in the body */
    FETCH_FAILED,          /* no response: name, connection, TLS, protocol, time */
    FETCH_REFUSED_HEADER,  /* the response's header is larger than allowed */
    FETCH_REFUSED_ADDRESS, /* only private addresses, which are not allowed */
    FETCH_CROWDED,         /* as many transfers as allowed are under way at the address */
    FETCH_NO_MEMORY,       /* all transfers together hold too much: try again later */
    FETCH_NEEDLESS         /* never begun, since what it was for came meanwhile: for whoever waits
                              to begin one */
};

struct fetch_result {
    enum fetch_end end;
    uint16_t status;              /* HTTP; 0: none */
    uint16_t reply;               /* FTP's last; status is what it is in HTTP's terms. HTTP: 0 */
    struct slice request;         /* request line and headers as sent; FTP: the dialogue */
    struct slice response_header; /* status line and headers as received; FTP: as if so */
    struct slice body;
    struct slice ip;         /* of the peer */
    struct slice protocol;   /* "h2"; empty for HTTP/1.x */
    uint64_t started_ms;     /* wall time */
    uint32_t milliseconds;   /* from start to end */
    uint64_t retry_after_ms; /* 0: not said */
    uint64_t address;        /* fingerprint of ip, by which hosts are grouped; 0: not known, or in
                                fetch.allow_address and not in fetch.hosts_file, or every
                                connection is directed by fetch.connect_to */
    const char *problem;     /* for people; "" when there is none */
    bool flowing;            /* FETCH_CUT_TIME: bytes came also in its second half */
    /* FETCH_FAILED: */
    bool unsent; /* the server was not asked: name, connection, TLS */
    bool silent; /* nobody refused: name server, host or proxy said nothing, or there is no way */
};

/* Both say whether to go on. begin: once, before the first piece. */
struct fetch_sink {
    bool (*begin)(void *context, uint16_t status, struct slice header);
    bool (*take)(void *context, struct slice bytes);
    void *context;
};

/* For people: "the server answered 503", by FTP "the server replied 421". */
enum { FETCH_WORDS_SIZE = 40 };
void fetch_answer_words(uint16_t status, uint16_t reply, char words[FETCH_WORDS_SIZE]);

/* result and its slices live until the callback returns. */
typedef void fetch_done(void *context, const struct fetch_result *result);

struct fetch_request {
    struct slice url;           /* a crawl key, or that of a dump by FTP */
    struct slice etag;          /* If-None-Match; empty: none */
    struct slice last_modified; /* If-Modified-Since; empty: none */
    size_t size;                /* most bytes of body; 0: fetch.size */
    bool head;                  /* a HEAD request: no body */
    struct slice accept;        /* Accept; empty: as configured */
    struct slice form;          /* sent by POST; empty: it is a GET */
    bool resource;              /* asks for what a document needs: JSON-LD, stylesheets */
    uint64_t address;           /* of the host when last asked, fingerprint; 0: not known */
    fetch_done *done;
    void *context;
    /* A body that is too large for memory: it goes there piece by piece, as it is on the server
     * (no content coding is asked for), in any time as long as it flows. The result's body is
     * empty. NULL: none. */
    const struct fetch_sink *sink;
    uint64_t range_from;   /* with a sink: bytes that are at hand; 0: all are wanted */
    struct slice if_range; /* their ETag or Last-Modified */
};

/* Returns whether as many transfers as may be are under way at the address (a fingerprint; 0: not
 * known). */
bool fetch_http_at_limit(const struct fetch_http *http, uint64_t address);
/* Bytes that the owner keeps of bodies count with those in flight, until it lets go of them. */
void fetch_http_hold(struct fetch_http *http, size_t bytes);
void fetch_http_let_go(struct fetch_http *http, size_t bytes);
struct transfer;
/* Copies what it needs. The callback comes later, never from inside this call. The transfer lives
 * until then. */
struct transfer *fetch_http_start(struct fetch_http *http, const struct fetch_request *request);
/* For how long the server has been silent since it has the request; 0: it has not, or its answer
 * has begun, or it is one by FTP, which has limits of its own. */
uint64_t fetch_http_silent_ms(const struct transfer *transfer);
/* Ends as FETCH_FAILED, or cut; calls back from inside. */
void fetch_http_give_up(struct fetch_http *http, struct transfer *transfer, const char *problem);
/* How much of its body has come. */
uint64_t fetch_http_body_bytes(const struct transfer *transfer);

#endif
