/* robots.txt: RFC 9309, for one product token. No I/O.
 *
 * Groups whose user-agent lines name the token (any case) are merged; without such a group those
 * of "*" apply. Among the rules that match a path the one with the longest pattern wins, allow
 * before disallow; "*" stands for any bytes and a final "$" for the end. Patterns and paths are
 * compared after percent-encoding is normalised (section 2.2.2). Everything past the first
 * 500 KiB is ignored. Beyond the RFC: Sitemap, Schemamap and Crawl-delay lines, and frequent
 * misspellings.
 */
#ifndef CRAWL_ROBOTS_H
#define CRAWL_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

enum { ROBOTS_MAXIMUM = 500 << 10, ROBOTS_SITEMAPS_MAXIMUM = 1000, ROBOTS_SIGNALS_MAXIMUM = 4096 };

struct robots;

/* Copies what it needs from body; never fails. product_token: "quadrille". */
struct robots *robots_parse(struct slice body, struct slice product_token);
void robots_free(struct robots *robots); /* NULL is allowed */

/* path_query: as url_path_query gives it. "/robots.txt" itself is always allowed. */
bool robots_allows(const struct robots *robots, struct slice path_query);
/* The rule that decides, in normal form, "Disallow: /x*"; nothing is appended when none matches. */
void robots_rule(const struct robots *robots, struct slice path_query, struct buf *line);
/* Milliseconds between requests that the token's groups ask for; -1: nothing asked. */
int64_t robots_crawl_delay_ms(const struct robots *robots);
/* The values of Sitemap lines as written, in order, each once; live as long as robots. */
size_t robots_sitemaps(const struct robots *robots, const struct slice **sitemaps);
/* Returns the URIs of Schemamap lines, which name sitemaps of schema.org feeds. */
size_t robots_schemamaps(const struct robots *robots, const struct slice **schemamaps);

/* Lines "Content-Signal: search=yes", also of Content-Usage, TDM-Reservation and TDM-Policy, that
 * stand in the token's groups or before all groups; live as long as robots. */
struct slice robots_signals(const struct robots *robots);

/* About how many bytes of memory it takes. */
size_t robots_size(const struct robots *robots);

/* Counts of what was understood, for tests and people. */
struct robots_counts {
    unsigned lines;   /* of the file, also empty ones */
    unsigned valid;   /* user-agent, allow, disallow, sitemap, schemamap, crawl-delay */
    unsigned unknown; /* other keys */
};
struct robots_counts robots_count(const struct robots *robots);

#endif
