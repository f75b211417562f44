/* Reads what publishers say of single documents in X-Robots-Tag, <meta name="robots"> and the
 * signals of rights that came later (Content-Signal, Content-Usage, TDM-Reservation). No I/O.
 *
 * Of the directives only those count that can mean something for an index of statements: noindex,
 * nofollow, none (both), unavailable_after, which is noindex when the time is over. Without a name
 * before them, or with our product token, they are for us; all that are for us count together.
 * Hostile input: pages and headers. */
#ifndef CRAWL_ROBOTS_TAGS_H
#define CRAWL_ROBOTS_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

enum { ROBOTS_TAGS_TEXT = 4096, ROBOTS_TAGS_PAGE = 256 << 10 };

struct robots_tags {
    bool noindex, nofollow;
    bool reserved;      /* a signal of the header reserves searching or mining */
    struct buf said;    /* lines "X-Robots-Tag: noindex" of what was said to us; bounded */
    struct slice token; /* "quadrille" */
    uint64_t now_ms;    /* the time of the fetch, so that a repetition decides alike */
};
void robots_tags_init(struct robots_tags *tags, struct slice token, uint64_t fetched_ms);
void robots_tags_release(struct robots_tags *tags);

/* header: an HTTP status line and headers. */
void robots_tags_header(struct robots_tags *tags, struct slice header);
/* <meta> elements of the first ROBOTS_TAGS_PAGE bytes of an HTML or XHTML page, up to <body>. */
void robots_tags_page(struct robots_tags *tags, struct slice page);

/* Returns whether one of the lines that robots_signals gives does, or reserves mining. */
bool signals_reserve(struct slice lines, struct slice path_query);

#endif
