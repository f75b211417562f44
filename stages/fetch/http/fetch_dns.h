/* Addresses of hosts by DNS, with c-ares in the owner's loop: no lookup blocks, so many are under
 * way at a time as dns_limits says, and what was learnt is kept as long as the records say within
 * its bounds. The cache is a table of fixed size. One thread.
 *
 * Hostile input: answers of name servers, read by c-ares. */
#ifndef STAGES_FETCH_HTTP_FETCH_DNS_H
#define STAGES_FETCH_HTTP_FETCH_DNS_H

#include <netinet/in.h>

#include "stages/fetch/http/fetch_http.h"

struct dns;

/* Limits that dns_open takes; tests change them. */
struct dns_limits {
    size_t parallel;            /* names that are looked up at a time */
    size_t hosts;               /* whose addresses are kept */
    int timeout_ms;             /* for the first answer; it is asked three times, doubling this */
    uint64_t least_ms, most_ms; /* addresses are kept, whatever their records say */
    uint64_t negative_ms;       /* how long it is believed that there are none */
};
extern struct dns_limits dns_limits;

enum { DNS_ADDRESSES = 6 }; /* of a host; more are left out */

struct dns_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } socket; /* port 0 */
};

struct dns_answer {
    struct dns_address addresses[DNS_ADDRESSES]; /* best first */
    size_t count;
    const char *problem; /* when there are none */
    bool none;           /* a name server said that there are none */
};
typedef void dns_done(void *context, const struct dns_answer *answer);

/* loop's descriptors come back to dns_ready, its timer to dns_tick. */
enum status dns_open(struct dns **dns, const struct opt_set *options, const struct fetch_loop *loop,
                     struct reason *why);
void dns_close(struct dns *dns); /* NULL is allowed; nobody is called back */
/* host: as in a crawl key. Calls back at once when addresses are known; else later. */
void dns_ask(struct dns *dns, struct slice host, dns_done *done, void *context);
/* The host could not be reached at the first of its addresses: another one is first from now on. */
void dns_unreachable(struct dns *dns, struct slice host);
void dns_ready(struct dns *dns, int descriptor, uint32_t epoll_events);
void dns_tick(struct dns *dns);

#endif
