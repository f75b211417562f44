/* The operator's rules for one spelling of URIs, beyond crawl keys (docs/URLS.md): parameters that
 * are dropped (urls.drop). Applied wherever a crawl key is made of a link, a redirect or a
 * sitemap's entry, so that all of them meet. Applying them twice is the same as once. Read-only
 * after opening. */
#ifndef STAGES_URL_RULES_H
#define STAGES_URL_RULES_H

#include "base/buf.h"
#include "base/opt.h"
#include "base/slice.h"
#include "base/status.h"

extern const struct opt urls_options[];

struct url_rules {
    const char *const *drop; /* names, perhaps with a final "*"; live as long as the options */
    size_t drop_count;
};
void url_rules_from(struct url_rules *rules, const struct opt_set *options);

/* url_crawl_key and then the rules. */
enum status url_rules_key(const struct url_rules *rules, struct slice input, struct slice base,
                          struct buf *out, struct reason *why);

#endif
