/* Shared by fetch_http.c (the whole: handles, loop) and fetch_transfer.c (one transfer).
 *
 * libcurl keeps idle connections in 97 lists by host, walks over all of them once a second, and
 * over all running transfers here and there: with ten thousand hosts most of its time goes there.
 * So there are several multi handles, each with the hosts whose number falls to it and about
 * SHARE connections. */
#ifndef STAGES_FETCH_HTTP_PRIVATE_H
#define STAGES_FETCH_HTTP_PRIVATE_H

#include <curl/curl.h>

#include "stages/fetch_dns.h"
#include "stages/fetch_http.h"
#include "stages/fetch_proxy.h"

struct multi {
    struct fetch_http *http;
    CURLM *handle;
    uint64_t due_ms; /* monotonic; UINT64_MAX: no timer */
};

struct transfer {
    struct fetch_http *http;
    struct multi *multi; /* that of its host */
    CURL *easy;
    struct curl_slist *headers; /* own list when the request is conditional; else NULL */
    struct curl_slist *connect; /* own address, by fetch.hosts_file or DNS; else NULL */
    bool named;                 /* by fetch.hosts_file */
    bool proxied;
    bool resolving; /* waits for DNS: not with libcurl */
    struct buf request, header, body;
    size_t body_limit;
    bool header_complete;
    bool too_long, header_too_long, out_of_memory;
    const char *refused; /* kind of the address that was refused */
    uint64_t host;       /* digest_local */
    uint64_t address;    /* its fingerprint; 0: counted nowhere */
    bool crowded;
    bool authorised; /* the request carries credentials */
    uint64_t started_ms, started_monotonic_ms;
    uint64_t joined_ms; /* monotonic: since when libcurl has it */
    char problem[CURL_ERROR_SIZE];
    fetch_done *done;
    void *context;
    struct fetch_sink sink; /* take NULL: none */
    size_t sunk;            /* bytes that it took */
    struct transfer *next;  /* in the list of idle or of all running ones */
    struct transfer *previous;
};

struct fetch_http {
    struct multi *multis;
    size_t multi_count;
    struct multi **owners; /* of descriptors */
    size_t owner_count;
    uint64_t timer_ms; /* what the owner's timer is set to */
    struct fetch_loop loop;
    struct address_rules *addresses;
    struct credentials *credentials;
    struct names *names;
    struct dns *dns;
    uint64_t dns_due_ms; /* monotonic; UINT64_MAX: no timer */
    struct proxy proxy;
    struct crowd *crowd;
    struct curl_slist *headers;                      /* of every request */
    struct curl_slist *connect_http, *connect_https; /* CURLOPT_CONNECT_TO; NULL: none */
    char *user_agent, *ca_file;
    char *accept_resource; /* the Accept header line of requests for resources */
    long timeout_ms, connect_timeout_ms, stall_seconds;
    size_t size, header_size, memory, memory_used;
    bool http2;
    struct transfer *idle, *running;
};

enum { REQUEST_MAXIMUM = 64 << 10 };

struct transfer *transfer_new(struct fetch_http *http);
void transfer_free(struct transfer *transfer);
/* All that libcurl must know of the request. Handles are used again with their buffers: only what
 * differs from one request to the next is set anew. */
void transfer_prepare(struct transfer *transfer, const struct fetch_request *request);
/* Whether the address of its host must be looked up. */
bool transfer_needs_address(const struct transfer *transfer, struct slice url);
/* Goes to the first address that is allowed; false: there is none, and problem says why. */
bool transfer_go_to(struct transfer *transfer, const struct dns_answer *answer);
/* Takes it from libcurl and calls back. */
void transfer_finish(struct transfer *transfer, CURLcode code);
/* As new, but for its buffers. */
void transfer_reset(struct transfer *transfer);

#endif
