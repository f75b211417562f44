/* Rules of the operator's that rewrite URIs, from a file: lines of a Perl-compatible regular
 * expression and, after white space, what stands for each place it fits ($1 is its first group;
 * nothing: the place goes). Empty lines and lines that begin with # say nothing. The rules are
 * applied in their order. One thread.
 *
 * Hostile input: URIs. Matching is bounded, as is what comes of it. */
#ifndef CRAWL_URL_REWRITE_H
#define CRAWL_URL_REWRITE_H

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

struct url_rewrite;

/* An empty path: NULL, no rules. BAD_INPUT names the line. */
enum status url_rewrite_open(struct url_rewrite **rewrite, const char *path, struct reason *why);
void url_rewrite_close(struct url_rewrite *rewrite); /* NULL is allowed */
/* Appends what all rules make of the URI. */
enum status url_rewrite_apply(const struct url_rewrite *rewrite, struct slice uri, struct buf *out,
                              struct reason *why);

#endif
