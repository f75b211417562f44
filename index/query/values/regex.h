/* REGEX and REPLACE by PCRE2 with limits on its work, the last few patterns kept compiled.
 * Flags: s, m, i, x, q of https://www.w3.org/TR/xpath-functions/#flags.
 */
#ifndef INDEX_QUERY_VALUES_REGEX_H
#define INDEX_QUERY_VALUES_REGEX_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

enum { REGEX_CACHE = 8 };

struct regex_cache {
    struct {
        char *key; /* flags, blank, pattern */
        size_t length;
        void *code;
    } entries[REGEX_CACHE];
    unsigned next;
    void *match, *limits;
};

void regex_cache_init(struct regex_cache *cache);
void regex_cache_release(struct regex_cache *cache);
/* 1, 0, or -1 for a bad pattern, bad flags or too much work. */
int regex_match(struct regex_cache *cache, struct slice text, struct slice pattern,
                struct slice flags);
/* fn:replace: every match becomes the replacement with its $N and \$ \\. False as -1 above, also
 * when the pattern matches the empty string. */
bool regex_replace(struct regex_cache *cache, struct slice text, struct slice pattern,
                   struct slice replacement, struct slice flags, struct buf *out);

#endif
