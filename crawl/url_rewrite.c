#include "crawl/url_rewrite.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/file.h"
#include "base/url/url.h"

enum { FILE_MAXIMUM = 1 << 20, MATCH_LIMIT = 100000, HEAP_KIBIBYTES = 1024, GROUPS = 20 };

struct rule {
    pcre2_code *code;
    char *replacement;
};

struct url_rewrite {
    struct rule *rules;
    size_t count;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

/* ---- reading ---- */

static enum status
add_rule(struct url_rewrite *rewrite, struct slice pattern, struct slice replacement,
         struct reason *why)
{
    int error;
    size_t offset;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern.at, pattern.length,
                                     PCRE2_NEVER_BACKSLASH_C, &error, &offset, NULL);
    if (code == NULL) {
        PCRE2_UCHAR text[200] = "";
        pcre2_get_error_message(error, text, sizeof text);
        return status_fail(why, STATUS_BAD_INPUT, "%s, at character %zu", (const char *)text,
                           offset + 1);
    }
    rewrite->rules = memory_resize(rewrite->rules, rewrite->count + 1, sizeof *rewrite->rules);
    rewrite->rules[rewrite->count++] =
        (struct rule){code, memory_string_n(replacement.at, replacement.length)};
    return STATUS_OK;
}

static enum status
read_line(struct url_rewrite *rewrite, struct slice line, struct reason *why)
{
    size_t end = 0;
    line = slice_trim(line);
    if (line.length == 0 || line.at[0] == '#') {
        return STATUS_OK;
    }
    while (end < line.length && line.at[end] != ' ' && line.at[end] != '\t') {
        end++;
    }
    return add_rule(rewrite, slice_of(line.at, end),
                    slice_trim(slice_of(line.at + end, line.length - end)), why);
}

enum status
url_rewrite_open(struct url_rewrite **result, const char *path, struct reason *why)
{
    struct buf text;
    *result = NULL;
    if (path[0] == '\0') {
        return STATUS_OK;
    }
    struct url_rewrite *rewrite = memory_new(sizeof *rewrite);
    *result = rewrite;
    rewrite->match = pcre2_match_data_create(GROUPS, NULL);
    rewrite->limits = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(rewrite->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(rewrite->limits, HEAP_KIBIBYTES);
    buf_init(&text, FILE_MAXIMUM);
    enum status status = file_read(path, &text, why);
    struct slice rest = buf_slice(&text);
    for (size_t number = 1; status == STATUS_OK && rest.length > 0; number++) {
        const size_t end = slice_find(rest, '\n');
        status = read_line(rewrite, slice_of(rest.at, end), why);
        if (status != STATUS_OK) {
            status_prefix(why, status, "%s:%zu", path, number);
        }
        const size_t taken = end < rest.length ? end + 1 : end;
        rest = slice_of(rest.at + taken, rest.length - taken);
    }
    buf_release(&text);
    return status;
}

void
url_rewrite_close(struct url_rewrite *rewrite)
{
    if (rewrite == NULL) {
        return;
    }
    for (size_t i = 0; i < rewrite->count; i++) {
        pcre2_code_free(rewrite->rules[i].code);
        free(rewrite->rules[i].replacement);
    }
    pcre2_match_data_free(rewrite->match);
    pcre2_match_context_free(rewrite->limits);
    free(rewrite->rules);
    free(rewrite);
}

/* ---- applying ---- */

enum status
url_rewrite_apply(const struct url_rewrite *rewrite, struct slice uri, struct buf *out,
                  struct reason *why)
{
    char places[2][URL_MAXIMUM + 1]; /* each rule reads one and writes the other */
    for (size_t i = 0; i < rewrite->count; i++) {
        char *place = places[i % 2];
        size_t length = sizeof places[0];
        const int found = pcre2_substitute(
            rewrite->rules[i].code, (PCRE2_SPTR)uri.at, uri.length, 0, PCRE2_SUBSTITUTE_GLOBAL,
            rewrite->match, rewrite->limits, (PCRE2_SPTR)rewrite->rules[i].replacement,
            PCRE2_ZERO_TERMINATED, (PCRE2_UCHAR *)place, &length);
        if (found < 0) {
            PCRE2_UCHAR text[200] = "";
            pcre2_get_error_message(found, text, sizeof text);
            return status_fail(why, STATUS_LIMIT, "urls.rules: %s", (const char *)text);
        }
        if (found > 0) {
            uri = slice_of(place, length);
        } else { /* the next rule may write where this one could have */
            uri = slice_of(memmove(place, uri.at, uri.length), uri.length);
        }
    }
    return buf_append_slice(out, uri);
}
