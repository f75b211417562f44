/* A cache of what a fetch process knows of hosts. Anything may be forgotten at any time, since the
 * metadata store has it all. It is bounded by its number of places and by bytes. One thread. */
#ifndef STAGES_FETCH_HOSTS_FETCH_HOSTS_H
#define STAGES_FETCH_HOSTS_FETCH_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "crawl/robots.h"
#include "stages/fetch/hosts/queue_balance.h"

enum host_access {
    HOST_BY_RULES,   /* robots decides */
    HOST_OPEN,       /* there is no robots.txt */
    HOST_UNREACHABLE /* robots.txt could not be had: nothing may be fetched for now */
};

enum { HOST_REASON_SIZE = 256 };

/* New URLs that its sitemaps submitted. */
struct submissions {
    uint64_t period_ms; /* wall time since which they are counted; 0: not known here */
    uint64_t submitted, excess;
    uint64_t files; /* sitemaps that indexes of the host had fetched, ever */
};

struct host {
    char *origin;    /* NULL: an empty place */
    uint64_t looked; /* when it was looked for: for the cache itself */
    enum host_access access;
    struct robots *robots;     /* HOST_BY_RULES; else NULL */
    uint64_t expires_ms;       /* wall time */
    uint32_t sitemaps_depth;   /* smallest depth at which its sitemaps were queued */
    uint32_t guess_depth;      /* the same of /sitemap.xml, which nobody names */
    bool guess_found;          /* and it is a sitemap */
    bool void_asked;           /* its /.well-known/void was queued by this process */
    char *cover, *authorities; /* META_COVER, META_AUTHORITIES; NULL: none */
    struct submissions submissions;
    struct balance *balance;       /* of its two queues; NULL: nothing was fetched yet */
    uint64_t cover_read_ms;        /* wall time at which these were read */
    unsigned cover_calm;           /* readings in a row that brought nothing new, up to the most */
    char reason[HOST_REASON_SIZE]; /* HOST_UNREACHABLE: why */
};

enum { COVER_CALM_MOST = 3 };

struct hosts;

struct hosts *hosts_new(size_t places);
void hosts_free(struct hosts *hosts); /* NULL is allowed */

/* NULL when it is not known, or expired by now_ms. Valid until the next hosts_put. */
struct host *hosts_find(struct hosts *hosts, struct slice origin, uint64_t now_ms);
/* Takes robots over (NULL unless HOST_BY_RULES). reason may be NULL. */
struct host *hosts_put(struct hosts *hosts, struct slice origin, enum host_access access,
                       struct robots *robots, uint64_t expires_ms, const char *reason);

/* Copies. Empty slices: there is none. */
void host_set_cover(struct host *host, struct slice cover, struct slice authorities,
                    uint64_t now_ms);
/* The dataset whose dumps have the document; empty: none. Points into the host. */
struct slice host_covering(const struct host *host, struct slice url);
/* dc:publisher of the document; empty: not known. */
struct slice host_authority(const struct host *host, struct slice url);

/* Returns whether the host's rules, when it has any, allow the URL. */
bool host_allows(const struct host *host, struct slice url);

#endif
