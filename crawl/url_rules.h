/* The operator's rules for one spelling of URIs, beyond crawl keys (docs/URLS.md): parameters that
 * are dropped (urls.drop), and what a file of rules rewrites (urls.rules). Applied wherever a crawl
 * key is made of a seed, a link, a redirect or a sitemap's entry, so that all of them meet.
 * Applying them twice is the same as once. One thread. */
#ifndef CRAWL_URL_RULES_H
#define CRAWL_URL_RULES_H

#include "base/buf.h"
#include "base/options/opt.h"
#include "base/slice.h"
#include "base/status.h"
#include "crawl/url_rewrite.h"

extern const struct opt urls_options[];

struct url_rules {
    const char *const *drop; /* names, perhaps with a final "*"; live as long as the options */
    size_t drop_count;
    struct url_rewrite *rewrite; /* NULL: nothing */
};
enum status url_rules_open(struct url_rules *rules, const struct opt_set *options,
                           struct reason *why);
void url_rules_close(struct url_rules *rules);

/* url_crawl_key and then the rules; what was rewritten is made a crawl key again, until nothing
 * changes. LIMIT: the rules do not come to an end. */
enum status url_rules_key(const struct url_rules *rules, struct slice input, struct slice base,
                          struct buf *out, struct reason *why);

#endif
