/* Decides which requests go through the operator's proxy (fetch.proxy, fetch.no_proxy), and where
 * it is. Names and exceptions are for one thread. */
#ifndef STAGES_FETCH_HTTP_FETCH_PROXY_H
#define STAGES_FETCH_HTTP_FETCH_PROXY_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/options/opt.h"
#include "base/slice.h"
#include "base/status.h"

struct addrinfo;

struct proxy {
    const char *url;               /* ""; live as long as the options */
    const char *const *exceptions; /* hosts that are asked directly */
    size_t exception_count;
    pthread_mutex_t lock;       /* of what follows */
    struct addrinfo *addresses; /* of the proxy, as last looked up; NULL: none known */
    uint64_t looked_ms;         /* monotonic; 0: never */
};

/* MISUSE when fetch.proxy is of no scheme that is known. */
enum status proxy_from(struct proxy *proxy, const struct opt_set *options, struct reason *why);
void proxy_release(struct proxy *proxy);
/* host: as in a crawl key. An exception is a host with all below it; "*" is all. */
bool proxy_takes(const struct proxy *proxy, struct slice host);

/* Returns whether that is an address of the proxy itself, with its port: what the operator trusts
 * without it being public. Looks the name up anew, which takes its time, when the address is not
 * known and the last look was a while ago. Any thread. */
bool proxy_is_at(struct proxy *proxy, const struct sockaddr *address);

#endif
