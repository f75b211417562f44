/* A web that is nowhere: every host, page, link, size and fault is computed from (seed, host,
 * page), so that server, list and checker agree and nothing is kept. Hosts are called
 * hN.web.example. The address of a host is in 127.1.0.0/16 to 127.2.255.255; some share one.
 * Numbers of pages and the popularity of hosts as targets of links follow power laws. Not
 * thread-safe, no state but a buffer of filling text. */
#ifndef TESTS_WEB_MODEL_H
#define TESTS_WEB_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct web {
    uint64_t seed;
    uint32_t hosts, pages, most_pages; /* pages: the smallest host's; most_pages: the largest's */
    uint32_t faults;                   /* pages of thousand that are not plainly good */
    uint16_t port;
    uint32_t body_most; /* the longest text of a page, in bytes, at most WEB_BODY_MOST */
    uint32_t change_s;  /* the shortest time between two changes of a page; 0: none changes */
};

/* Lengths of texts follow a power law up to body_most. */
enum { WEB_BODY_USUAL = 60000, WEB_BODY_MOST = 1000000 };

/* A page that changes has versions 0 to WEB_VERSIONS - 1 in turn, so what is ever said has a bound.
 * The times between changes are even over the logarithm, from the shortest to WEB_PERIODS times it.
 */
enum { WEB_VERSIONS = 8, WEB_PERIODS = 256, WEB_VERSION_GONE = 5 };
struct web_change {
    uint32_t period_s, phase_s; /* version: (time + phase) / period mod WEB_VERSIONS */
    bool goes;                  /* version WEB_VERSION_GONE is that it is not there */
};

enum robots_kind {
    ROBOTS_RULES,
    ROBOTS_DELAY,
    ROBOTS_MISSING,
    ROBOTS_EMPTY,
    ROBOTS_BROKEN, /* 500: nothing of the host may be fetched */
    ROBOTS_MOVED,  /* to a path of another host */
    ROBOTS_LONG,   /* longer than anyone must read; the rules stand first */
    ROBOTS_GARBAGE,
    ROBOTS_SLOW,
};

struct web_host {
    uint32_t number, pages;
    uint32_t address; /* IPv4, host byte order */
    enum robots_kind robots;
    uint32_t crawl_delay_ms;
    bool forbids; /* its robots.txt forbids /private/ */
    bool traps;   /* calendar, session ids, endless queries and paths */
};

/* How the bytes of an answer are sent. */
enum delivery {
    SEND_WHOLE,
    SEND_SLOWLY,  /* in ten parts, 60 ms apart */
    SEND_RESET,   /* half, then RST */
    SEND_SHORT,   /* all there is, less than Content-Length says, then FIN */
    SEND_MUTE,    /* nothing, until the client leaves */
    SEND_ENDLESS, /* a few bytes every 60 ms for ever */
};

struct web_answer {
    unsigned status; /* for the log; 0: no response at all */
    enum delivery delivery;
    bool close;
    bool refusal;     /* the same will be answered when it is asked for often enough */
    struct buf bytes; /* header and body */
};

void web_open(const struct web *web);
void web_close(void);
struct web_host web_host(const struct web *web, uint32_t number);
/* false: not the name of a host. */
bool web_host_number(const struct web *web, struct slice name, uint32_t *number);
struct web_request {
    struct slice path, validator; /* validator: If-None-Match */
    uint64_t now_s;               /* since 1970: what version a page has */
    uint32_t refused;             /* how often this path was refused since it was last answered */
};
/* answer->bytes is initialised by the caller and empty. */
void web_answer(const struct web *web, const struct web_host *host,
                const struct web_request *request, struct web_answer *answer);

/* The paths of a host that a crawler should know of, root first; what each is, and how a fetch of
 * it ends as docs/FETCH.md has it. */
struct web_page {
    char path[48];
    const char *kind, *end;
};
uint32_t web_page_count(const struct web_host *host); /* with the one robots.txt forbids */
struct web_page web_page(const struct web *web, const struct web_host *host, uint32_t number);
/* Says how a page whose kind is "good" changes; period 0: it stays as it is. */
struct web_change web_change(const struct web *web, const struct web_host *host, uint32_t number);

#endif
