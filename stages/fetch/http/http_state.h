/* All transfers of a process: fetch_http.c has its life and the loop, fetch_watch.c the
 * descriptors.
 *
 * libcurl keeps idle connections in 97 lists by host, walks over all of them once a second, and
 * over all running transfers here and there: with ten thousand hosts most of its time goes there.
 * So there are several multi handles, each with the hosts whose number falls to it and about
 * SHARE connections. */
#ifndef STAGES_FETCH_HTTP_HTTP_STATE_H
#define STAGES_FETCH_HTTP_HTTP_STATE_H

#include "stages/fetch/http/fetch_dns.h"
#include "stages/fetch/http/fetch_ftp.h"
#include "stages/fetch/http/fetch_proxy.h"
#include "stages/fetch/http/http_settings.h"

struct multi {
    struct fetch_http *http;
    CURLM *handle;
    uint64_t due_ms; /* monotonic; UINT64_MAX: no timer */
};

/* A descriptor of the event loop. A connection that is kept stays in the owner's loop while nobody
 * uses it: most are used again, and two calls of the kernel are saved each time. */
struct descriptor {
    struct multi *multi; /* NULL: one of DNS */
    uint32_t watched;    /* events that the loop waits for */
    bool wanted;         /* libcurl wants to hear of them */
};

struct fetch_http {
    /* Constant once it is opened; the tables have functions of their own. */
    struct fetch_loop loop;
    struct http_settings settings;
    struct address_rules *addresses;
    struct credentials *credentials;
    struct names *names;
    struct dns *dns;
    struct proxy proxy;
    struct address_limit *address_limit;
    struct multi *multis;
    size_t multi_count;

    struct ftp_threads ftp;
    struct watched_descriptors { /* of fetch_watch.c */
        struct descriptor *all;
        size_t count;
    } descriptors;

    /* Of fetch_http.c. */
    uint64_t timer_ms;   /* what the owner's timer is set to */
    uint64_t dns_due_ms; /* monotonic; UINT64_MAX: no timer */
    struct transfer *idle, *running;
    size_t memory_used; /* of all bodies: fetch_http_hold, fetch_http_let_go */
};

struct descriptor *fetch_http_descriptor(struct fetch_http *http, int number);
void fetch_http_watch(struct fetch_http *http, int number, uint32_t epoll_events);
/* Before a connection's descriptor is closed. */
void fetch_http_forget(struct fetch_http *http, int descriptor);

#endif
