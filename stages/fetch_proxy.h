/* Which requests go through the operator's proxy: fetch.proxy, fetch.no_proxy. One thread. */
#ifndef STAGES_FETCH_PROXY_H
#define STAGES_FETCH_PROXY_H

#include <stdbool.h>

#include "base/opt.h"
#include "base/slice.h"
#include "base/status.h"

struct proxy {
    const char *url;               /* ""; live as long as the options */
    const char *const *exceptions; /* hosts that are asked directly */
    size_t exception_count;
};

/* MISUSE when fetch.proxy is of no scheme that is known. */
enum status proxy_from(struct proxy *proxy, const struct opt_set *options, struct reason *why);
/* host: as in a crawl key. An exception is a host with all below it; "*" is all. */
bool proxy_takes(const struct proxy *proxy, struct slice host);

#endif
