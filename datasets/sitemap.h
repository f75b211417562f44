/* Sitemaps: what a site says it has. https://www.sitemaps.org/protocol.html, and the feeds and
 * lists that the protocol also allows. No I/O.
 *
 * Reads sitemaps, sitemap indexes, RSS 0.9x/1.0/2.0, Atom and plain lists of URLs, each perhaps
 * in gzip; the kind is found from the bytes, never from the Content-Type. Lenient as crawlers
 * have to be: any namespace or none, unescaped "&", white space around values, files that end
 * early. DTDs and entities of a document are never read; nothing is ever fetched.
 */
#ifndef DATASETS_SITEMAP_H
#define DATASETS_SITEMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

enum {
    SITEMAP_BYTES_MAXIMUM = 50 << 20, /* unpacked */
    SITEMAP_ENTRIES_MAXIMUM = 50000,
    SITEMAP_SNIFF_BYTES = 4096,
    SITEMAP_LINES_MAXIMUM = 16 << 10 /* bytes of an entry's alternates, of its facts */
};

enum sitemap_kind {
    SITEMAP_NONE,
    SITEMAP_URLSET,
    SITEMAP_INDEX, /* entries are sitemaps */
    SITEMAP_TEXT,
    SITEMAP_RSS,
    SITEMAP_ATOM
};

struct sitemap_entry {
    struct slice location;         /* as written, trimmed; may be relative in feeds */
    uint64_t modified_ms;          /* wall time; 0: not said */
    struct slice change_frequency; /* "daily", ...; empty: not said */
    uint8_t priority;              /* 0..100; 50: not said */
    /* Lines of what the extensions say: translations as "language URL" (rel=alternate with
     * hreflang; the URL as written); what is said of images, videos and news as "image URL", "news
     * title TEXT".
     */
    struct slice alternates, facts;
};

/* Slices live until it returns; false stops the parse. */
typedef bool sitemap_visit(void *context, const struct sitemap_entry *entry);

struct sitemap_result {
    enum sitemap_kind kind;
    unsigned entries;
    bool incomplete; /* the file was cut off or damaged; what could be read was visited */
    bool limited;    /* more than 50,000 entries: the rest was left out */
    bool too_large;  /* more than 50 MB: the same */
};
/* Returns a text for people that says what was left out; it is empty when nothing was. */
const char *sitemap_truncation(const struct sitemap_result *result);

/* Returns whether the first SITEMAP_SNIFF_BYTES have a sitemap's root element, under any prefix.
 * Cheap; of the formats those that are nothing else. */
bool sitemap_is_likely(struct slice bytes);

/* bytes: content-decoded. BAD_INPUT when it is no sitemap of any kind. */
enum status sitemap_parse(struct slice bytes, sitemap_visit *visit, void *context,
                          struct sitemap_result *result, struct reason *why);

/* The protocol's rule of places: a sitemap in a folder lists what lies below that folder, with the
 * same scheme, host and port. Both are crawl keys. */
bool sitemap_is_below(struct slice sitemap, struct slice uri);

/* The next line of an entry's alternates. False: there is none. */
bool sitemap_next_alternate(struct slice *rest, struct slice *language, struct slice *location);

/* W3C date and time, or RFC 822 as in RSS; 0 when it is neither. */
uint64_t sitemap_date(struct slice text);

/* The latest time that a lastmod may mean: a date without a time is that whole day. */
uint64_t sitemap_latest(uint64_t modified_ms);

const char *
sitemap_kind_name(enum sitemap_kind kind); /* "urlset", "index", ...; "error" for NONE */

#endif
