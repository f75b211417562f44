#include "crawl/url_rules.h"

#include <string.h>

#include "base/url/url.h"

const struct opt urls_options[] = {
    {"urls.drop", OPT_LIST, "", 0, 0, NULL,
     "Names of parameters that are removed from URIs before they are crawled, in any case, such "
     "as utm_* jsessionid PHPSESSID; a final * stands for any ending. Both ?name=value and "
     ";name=value are meant. A change holds for URIs that are found after it."},
    {"urls.rules", OPT_STRING, "", 0, 0, NULL,
     "A file of rules that rewrite URIs before they are crawled. Each line has a regular "
     "expression (PCRE2) and, after white space, what replaces each match, with $1 for its "
     "groups. The rules are applied in their order, until nothing changes."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};

enum { ROUNDS = 5 };

enum status
url_rules_open(struct url_rules *rules, const struct opt_set *options, struct reason *why)
{
    rules->drop_count = opt_list(options, "urls.drop", &rules->drop);
    return url_rewrite_open(&rules->rewrite, opt_string(options, "urls.rules"), why);
}

void
url_rules_close(struct url_rules *rules)
{
    url_rewrite_close(rules->rewrite);
    rules->rewrite = NULL;
}

static bool
is_dropped(const struct url_rules *rules, struct slice parameter)
{
    const struct slice name = slice_of(parameter.at, slice_find(parameter, '='));
    for (size_t i = 0; i < rules->drop_count; i++) {
        const struct slice pattern = slice_string(rules->drop[i]);
        const bool open = pattern.length > 0 && pattern.at[pattern.length - 1] == '*';
        if (open ? slice_starts_nocase(name, slice_of(pattern.at, pattern.length - 1))
                 : slice_equal_nocase(name, pattern)) {
            return true;
        }
    }
    return false;
}

/* The parts between separators; the first one stays when `first` says so, the others unless they
 * are dropped. before: what stands before the first that stays. */
static void
append_kept(const struct url_rules *rules, struct slice text, char separator, bool first,
            struct buf *out, char before)
{
    while (text.length > 0) {
        const size_t end = slice_find(text, separator);
        const struct slice part = slice_of(text.at, end);
        if (first || !is_dropped(rules, part)) {
            if (before != '\0') {
                buf_append_char(out, before);
            }
            buf_append_slice(out, part);
            before = separator;
        }
        first = false;
        const size_t step = end < text.length ? end + 1 : end;
        text = slice_of(text.at + step, text.length - step);
    }
}

static void
append_path(const struct url_rules *rules, struct slice path, struct buf *out)
{
    while (path.length > 0) {
        const size_t end = slice_find(path, '/');
        append_kept(rules, slice_of(path.at, end), ';', true, out, '\0');
        if (end < path.length) {
            buf_append_char(out, '/');
        }
        const size_t step = end < path.length ? end + 1 : end;
        path = slice_of(path.at + step, path.length - step);
    }
}

static enum status
key_without_dropped(const struct url_rules *rules, struct slice input, struct slice base,
                    struct buf *out, struct reason *why)
{
    struct buf whole;
    if (rules->drop_count == 0) {
        return url_crawl_key(input, base, out, why);
    }
    buf_init(&whole, 2 * URL_MAXIMUM);
    const enum status status = url_crawl_key(input, base, &whole, why);
    if (status == STATUS_OK) {
        const struct slice key = buf_slice(&whole);
        const struct slice origin = url_origin(key);
        const struct slice rest = url_path_query(key);
        const size_t mark = slice_find(rest, '?');
        buf_append_slice(out, origin);
        append_path(rules, slice_of(rest.at, mark), out);
        if (mark + 1 < rest.length) {
            append_kept(rules, slice_of(rest.at + mark + 1, rest.length - mark - 1), '&', false,
                        out, '?');
        } else if (mark < rest.length) {
            buf_append_char(out, '?');
        }
    }
    buf_release(&whole);
    return status;
}

enum status
url_rules_key(const struct url_rules *rules, struct slice input, struct slice base, struct buf *out,
              struct reason *why)
{
    struct buf before;
    struct buf rewritten;
    if (rules->rewrite == NULL) {
        return key_without_dropped(rules, input, base, out, why);
    }
    buf_init(&before, 2 * URL_MAXIMUM);
    buf_init(&rewritten, 2 * URL_MAXIMUM);
    enum status status = key_without_dropped(rules, input, base, &before, why);
    for (unsigned round = 0; status == STATUS_OK; round++) {
        buf_reset(&rewritten);
        status = url_rewrite_apply(rules->rewrite, buf_slice(&before), &rewritten, why);
        if (status != STATUS_OK || slice_equal(buf_slice(&rewritten), buf_slice(&before))) {
            break;
        }
        if (round == ROUNDS) {
            status = status_fail(why, STATUS_LIMIT, "urls.rules do not come to an end");
        } else {
            buf_reset(&before);
            status =
                key_without_dropped(rules, buf_slice(&rewritten), (struct slice){0}, &before, why);
        }
    }
    if (status == STATUS_OK) {
        status = buf_append_slice(out, buf_slice(&before));
    }
    buf_release(&before);
    buf_release(&rewritten);
    return status;
}
