#define PCRE2_CODE_UNIT_WIDTH 8
#include "index/query/values/regex.h"

#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

enum { MATCH_LIMIT = 1000000, HEAP_KIBIBYTES = 20000, PATTERN_MAXIMUM = 64 << 10 };

void
regex_cache_init(struct regex_cache *cache)
{
    *cache = (struct regex_cache){0};
}

void
regex_cache_release(struct regex_cache *cache)
{
    for (int i = 0; i < REGEX_CACHE; i++) {
        pcre2_code_free(cache->entries[i].code);
        free(cache->entries[i].key);
    }
    pcre2_match_data_free(cache->match);
    pcre2_match_context_free(cache->limits);
}

static bool
flag_options(struct slice flags, uint32_t *options)
{
    *options = PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK;
    for (size_t i = 0; i < flags.length; i++) {
        switch (flags.at[i]) {
        case 's':
            *options |= PCRE2_DOTALL;
            break;
        case 'm':
            *options |= PCRE2_MULTILINE;
            break;
        case 'i':
            *options |= PCRE2_CASELESS;
            break;
        case 'x':
            *options |= PCRE2_EXTENDED;
            break;
        case 'q':
            *options |= PCRE2_LITERAL;
            break;
        default:
            return false;
        }
    }
    if (*options & PCRE2_LITERAL) { /* which goes with few others */
        *options &= ~(uint32_t)(PCRE2_DOTALL | PCRE2_MULTILINE | PCRE2_EXTENDED | PCRE2_UCP);
    } else {
        *options |= PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
    }
    return true;
}

static pcre2_code *
compile(struct slice pattern, struct slice flags)
{
    uint32_t options;
    int error;
    size_t offset;
    if (pattern.length > PATTERN_MAXIMUM || !flag_options(flags, &options)) {
        return NULL;
    }
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)pattern.at, pattern.length, options, &error, &offset, NULL);
    if (code) {
        (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    }
    return code;
}

static pcre2_code *
find(struct regex_cache *cache, struct slice pattern, struct slice flags)
{
    const size_t length = flags.length + 1 + pattern.length;
    for (int i = 0; i < REGEX_CACHE; i++) {
        const char *key = cache->entries[i].key;
        if (key && cache->entries[i].length == length &&
            slice_equal(slice_of(key, flags.length), flags) && key[flags.length] == ' ' &&
            slice_equal(slice_of(key + flags.length + 1, pattern.length), pattern)) {
            return cache->entries[i].code;
        }
    }
    pcre2_code *code = compile(pattern, flags);
    if (!code) {
        return NULL;
    }
    char *key = memory_alloc(length + 1);
    memcpy(key, flags.at ? flags.at : "", flags.length);
    key[flags.length] = ' ';
    memcpy(key + flags.length + 1, pattern.at ? pattern.at : "", pattern.length);
    const unsigned at = cache->next++ % REGEX_CACHE;
    pcre2_code_free(cache->entries[at].code);
    free(cache->entries[at].key);
    cache->entries[at].key = key;
    cache->entries[at].length = length;
    cache->entries[at].code = code;
    if (!cache->match) {
        enum { GROUPS = 10 };
        cache->match = pcre2_match_data_create(GROUPS, NULL);
        cache->limits = pcre2_match_context_create(NULL);
        pcre2_set_match_limit(cache->limits, MATCH_LIMIT);
        pcre2_set_heap_limit(cache->limits, HEAP_KIBIBYTES);
    }
    return code;
}

/* The number of groups + 1, 0 for no match, -1 for an error. */
static int
match(struct regex_cache *cache, const pcre2_code *code, struct slice text, size_t from)
{
    const int found = pcre2_match(code, (PCRE2_SPTR)(text.at ? text.at : ""), text.length, from,
                                  PCRE2_NO_UTF_CHECK, cache->match, cache->limits);
    if (found == PCRE2_ERROR_NOMATCH) {
        return 0;
    }
    return found < 0 ? -1 : found == 0 ? 10 : found;
}

int
regex_match(struct regex_cache *cache, struct slice text, struct slice pattern, struct slice flags)
{
    const pcre2_code *code = find(cache, pattern, flags);
    if (!code) {
        return -1;
    }
    const int found = match(cache, code, text, 0);
    return found > 0 ? 1 : found;
}

/* Appends the replacement of one match. False for a $ or \ that stands alone. */
static bool
append_replacement(struct buf *out, struct slice text, struct slice replacement,
                   const size_t *groups, int count)
{
    for (size_t i = 0; i < replacement.length; i++) {
        const char c = replacement.at[i];
        if (c == '\\' || c == '$') {
            if (++i == replacement.length) {
                return false;
            }
            const char next = replacement.at[i];
            if (c == '\\' && (next == '\\' || next == '$')) {
                (void)buf_append_char(out, next);
            } else if (c == '$' && next >= '0' && next <= '9') {
                const int group = next - '0';
                if (group < count && groups[2 * group] != PCRE2_UNSET) {
                    (void)buf_append(out, text.at + groups[2 * group],
                                     groups[2 * group + 1] - groups[2 * group]);
                }
            } else {
                return false;
            }
        } else {
            (void)buf_append_char(out, c);
        }
    }
    return true;
}

bool
regex_replace(struct regex_cache *cache, struct slice text, struct slice pattern,
              struct slice replacement, struct slice flags, struct buf *out)
{
    const pcre2_code *code = find(cache, pattern, flags);
    if (!code || match(cache, code, (struct slice){"", 0}, 0) != 0) {
        return false;
    }
    const bool literal = slice_find(flags, 'q') < flags.length;
    size_t at = 0;
    for (;;) {
        const int count = match(cache, code, text, at);
        if (count < 0) {
            return false;
        }
        if (count == 0) {
            (void)buf_append(out, text.at + at, text.length - at);
            return !out->overflowed;
        }
        const size_t *groups = pcre2_get_ovector_pointer(cache->match);
        if (groups[1] == groups[0]) {
            return false;
        }
        (void)buf_append(out, text.at + at, groups[0] - at);
        if (literal) {
            (void)buf_append_slice(out, replacement);
        } else if (!append_replacement(out, text, replacement, groups, count)) {
            return false;
        }
        at = groups[1];
    }
}
