/* Shared by fetch_http.c (the whole: handles, loop), fetch_transfer.c (one transfer) and
 * fetch_ftp.c (what is different by FTP).
 *
 * libcurl keeps idle connections in 97 lists by host, walks over all of them once a second, and
 * over all running transfers here and there: with ten thousand hosts most of its time goes there.
 * So there are several multi handles, each with the hosts whose number falls to it and about
 * SHARE connections. */
#ifndef STAGES_FETCH_HTTP_FETCH_HTTP_PRIVATE_H
#define STAGES_FETCH_HTTP_FETCH_HTTP_PRIVATE_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "stages/fetch/http/fetch_dns.h"
#include "stages/fetch/http/fetch_http.h"
#include "stages/fetch/http/fetch_proxy.h"

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

struct host_address {
    int family; /* AF_UNSPEC: none */
    uint8_t bytes[sizeof(struct in6_addr)];
};

struct transfer {
    struct fetch_http *http;
    struct multi *multi; /* that of its host */
    CURL *easy;
    struct curl_slist *headers; /* own list when the request is conditional; else NULL */
    struct curl_slist *connect; /* own address, by fetch.hosts_file or DNS; else NULL */
    struct host_address target; /* that address */
    struct host_address alias;  /* what libcurl takes for it */
    bool named;                 /* by fetch.hosts_file */
    bool proxied;
    bool resolving; /* waits for DNS: not with libcurl */
    struct buf request, header, body;
    size_t header_bytes; /* of all header lines: interim responses, the response, its trailers */
    size_t body_limit;
    bool header_complete;
    bool too_long, header_too_long, out_of_memory;
    const char *refused; /* kind of the address that was refused */
    uint64_t host;       /* digest_local */
    uint64_t address;    /* its fingerprint; 0: counted nowhere */
    uint64_t at_limit;   /* the address that has too many; 0: none */
    bool authorised;     /* the request carries credentials */
    uint64_t started_ms, started_monotonic_ms;
    uint64_t piece_ms;  /* when the last piece of the body came, by the monotonic clock */
    uint64_t joined_ms; /* monotonic: since when libcurl has it */
    char problem[CURL_ERROR_SIZE];
    bool sent;    /* the request */
    bool no_name; /* a name server said so */
    fetch_done *done;
    void *context;
    struct fetch_sink sink; /* take NULL: none */
    size_t sunk;            /* bytes that it took */
    /* By FTP: request is the dialogue, header is made of what it tells. */
    bool ftp, head;
    bool secret, quits; /* the command under way: has credentials, is the last */
    uint16_t reply;     /* the last before that; 0: none */
    uint64_t resumed_at;
    CURLcode code;
    pthread_t thread;
    struct transfer *after; /* in a list of those that wait, or have ended */
    struct transfer *next;  /* in the list of idle or of all running ones */
    struct transfer *previous;
};

/* Whose URLs connections are directed by; ftps is as ftp. */
enum fetch_scheme { SCHEME_HTTP, SCHEME_HTTPS, SCHEME_FTP, SCHEME_COUNT };

struct ftp_threads {
    pthread_mutex_t lock;   /* of ended */
    struct transfer *ended; /* threads put them there */
    struct transfer *waiting, **last;
    unsigned running;
    int descriptor; /* eventfd: something has ended, or waits */
    atomic_bool stop;
};

struct fetch_http {
    struct multi *multis;
    size_t multi_count;
    struct descriptor *descriptors;
    size_t descriptor_count;
    uint64_t timer_ms; /* what the owner's timer is set to */
    struct fetch_loop loop;
    struct address_rules *addresses;
    struct credentials *credentials;
    struct names *names;
    struct dns *dns;
    uint64_t dns_due_ms; /* monotonic; UINT64_MAX: no timer */
    struct proxy proxy;
    struct address_limit *address_limit;
    struct ftp_threads ftp;
    struct curl_slist *headers;               /* of every request */
    struct curl_slist *connect[SCHEME_COUNT]; /* CURLOPT_CONNECT_TO; NULL: none */
    char *user_agent, *ca_file;
    char *anonymous;       /* who we are to FTP servers that have no credentials of ours */
    char *accept_resource; /* the Accept header line of requests for resources */
    long timeout_ms, connect_timeout_ms, stall_seconds;
    size_t size, header_size, memory, memory_used;
    bool http2;
    struct transfer *idle, *running;
};

enum { REQUEST_MAXIMUM = 64 << 10 };

/* ---- fetch_watch.c ---- */

struct descriptor *fetch_http_descriptor(struct fetch_http *http, int number);
void fetch_http_watch(struct fetch_http *http, int number, uint32_t epoll_events);
/* Before a connection's descriptor is closed. */
void fetch_http_forget(struct fetch_http *http, int descriptor);

struct transfer *transfer_new(struct fetch_http *http);
void transfer_free(struct transfer *transfer);
/* All that libcurl must know of the request. Handles are used again with their buffers: only what
 * differs from one request to the next is set anew. */
void transfer_prepare(struct transfer *transfer, const struct fetch_request *request);
/* Returns whether the address of its host must be looked up. */
bool transfer_needs_address(const struct transfer *transfer, struct slice url);
/* Goes to the first address that is allowed; false: there is none, and problem says why. */
bool transfer_go_to(struct transfer *transfer, const struct dns_answer *answer);
/* Takes it from libcurl and calls back. */
void transfer_finish(struct transfer *transfer, CURLcode code);
/* Makes a transfer as new, but for its buffers, which stay. */
void transfer_reset(struct transfer *transfer);

/* fetch_ftp.c. A transfer by FTP is used once. */
enum status ftp_open(struct fetch_http *http, struct reason *why);
void ftp_close(struct fetch_http *http); /* waits for the threads */
void ftp_prepare(struct transfer *transfer, const struct fetch_request *request);
void ftp_start(struct transfer *transfer);
/* Something happened to ftp.descriptor; end is called of what has ended. */
void ftp_ready(struct fetch_http *http, void (*end)(struct transfer *transfer, CURLcode code));
/* The dialogue; of a reply false: it is too long. */
void ftp_command(struct transfer *transfer, struct slice line);
bool ftp_reply(struct transfer *transfer, struct slice line);
/* The body begins, or has come: writes the header; the status. */
uint16_t ftp_begin(struct transfer *transfer);
/* When it has ended: HTTP's status for it, 0: none; with a header, unless it is 0. */
uint16_t ftp_status(struct transfer *transfer, CURLcode code);

#endif
