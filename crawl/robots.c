#include "crawl/robots.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/memory.h"

/* Places in the text buffer, which may still move while it grows. */
struct rule {
    size_t at, length; /* the normalised pattern */
    bool allow, anchored;
};

struct rule_list {
    struct rule *rules;
    size_t count, capacity;
    bool present; /* a group of this kind was seen, though perhaps empty */
    int64_t delay_ms;
    struct buf signals; /* lines "Content-Signal: search=yes" */
};

enum group { GROUP_NAMED, GROUP_ANY, GROUP_COUNT };

/* Each once; copies. */
struct uri_list {
    struct slice *items;
    size_t count;
};

struct robots {
    struct buf text; /* patterns, copied */
    struct rule_list groups[GROUP_COUNT];
    const struct rule_list *chosen;
    struct uri_list sitemaps, schemamaps;
    struct robots_counts counts;
};

struct parser {
    struct robots *robots;
    struct slice token;
    bool in_group[GROUP_COUNT]; /* the present group is of this kind */
    bool named;                 /* a user-agent line was there */
    bool rules_begun;           /* the next user-agent line opens another group */
    /* A delay is no rule and does not end a group's list of names, but belongs to the names
     * before it only. */
    bool in_delay[GROUP_COUNT];
    bool delay_begun;
};

/* ---- normal form of paths and patterns ---- */

static bool
is_unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static void
append_percent(struct buf *out, unsigned char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char text[3] = {'%', digits[c >> 4], digits[c & 15]};
    buf_append(out, text, sizeof text);
}

/* Escapes of unreserved characters are undone, hexadecimal digits are upper case, bytes outside
 * ASCII are escaped. "*" and "$" in a path are escaped too, as a pattern writes them to mean
 * themselves; in a pattern "*" stays. */
static void
append_normalised(struct buf *out, struct slice text, bool pattern)
{
    for (size_t i = 0; i < text.length; i++) {
        const unsigned char c = (unsigned char)text.at[i];
        const int high = i + 2 < text.length ? ascii_hex_value(text.at[i + 1]) : -1;
        const int low = i + 2 < text.length ? ascii_hex_value(text.at[i + 2]) : -1;
        if (c == '%' && high >= 0 && low >= 0) {
            const unsigned char decoded = (unsigned char)(high << 4 | low);
            if (is_unreserved(decoded)) {
                buf_append_char(out, (char)decoded);
            } else {
                append_percent(out, decoded);
            }
            i += 2;
        } else if (c <= ' ' || c >= 0x7f || c == '$' || (c == '*' && !pattern)) {
            append_percent(out, c);
        } else {
            buf_append_char(out, (char)c);
        }
    }
}

/* ---- rules ---- */

static void
add_rule(struct parser *parser, bool allow, struct slice value)
{
    struct robots *robots = parser->robots;
    parser->rules_begun = true;
    if (value.length == 0 || (!parser->in_group[GROUP_NAMED] && !parser->in_group[GROUP_ANY])) {
        return; /* an empty pattern matches nothing; other crawlers' rules are not kept */
    }
    struct rule rule = {.at = robots->text.length, .allow = allow};
    rule.anchored = value.at[value.length - 1] == '$';
    value.length -= rule.anchored ? 1 : 0;
    append_normalised(&robots->text, value, true);
    rule.length = robots->text.length - rule.at;
    for (int group = 0; group < GROUP_COUNT; group++) {
        struct rule_list *list = &robots->groups[group];
        if (!parser->in_group[group]) {
            continue;
        }
        if (list->count == list->capacity) {
            list->capacity = list->capacity > 0 ? list->capacity * 2 : 16;
            list->rules = memory_resize(list->rules, list->capacity, sizeof *list->rules);
        }
        list->rules[list->count++] = rule;
    }
}

/* One name of a user-agent line: a product token, perhaps with a version behind a slash. */
static void
add_name(struct parser *parser, struct slice name)
{
    const bool any = slice_is(name, "*");
    const struct slice token = slice_of(name.at, slice_find(name, '/'));
    if (any || slice_equal_nocase(token, parser->token)) {
        const enum group group = any ? GROUP_ANY : GROUP_NAMED;
        parser->in_group[group] = true;
        parser->in_delay[group] = true;
        parser->robots->groups[group].present = true;
    }
}

/* The RFC has one name a line; lists are common, and to be named in one is meant as well. */
static void
add_user_agent(struct parser *parser, struct slice value)
{
    parser->named = true;
    if (parser->rules_begun) {
        memset(parser->in_group, 0, sizeof parser->in_group);
        memset(parser->in_delay, 0, sizeof parser->in_delay);
        parser->rules_begun = false;
    }
    if (parser->delay_begun) {
        memset(parser->in_delay, 0, sizeof parser->in_delay);
        parser->delay_begun = false;
    }
    while (value.length > 0) {
        size_t n = 0;
        while (n < value.length && value.at[n] != ',' && value.at[n] != ' ' &&
               value.at[n] != '\t') {
            n++;
        }
        add_name(parser, slice_of(value.at, n));
        if (slice_find(slice_of(value.at, n), '/') < n) {
            return; /* a whole User-Agent header: what follows are comments */
        }
        n += n < value.length ? 1 : 0;
        value = slice_of(value.at + n, value.length - n);
    }
}

/* Seconds, perhaps with a fraction; anything else is no delay. */
static void
add_crawl_delay(struct parser *parser, struct slice value)
{
    uint64_t ms = 0;
    uint64_t unit = 1000;
    bool fraction = false;
    bool digits = false;
    parser->delay_begun = true;
    for (size_t i = 0; i < value.length; i++) {
        const char c = value.at[i];
        if (c == '.' && !fraction) {
            fraction = true;
        } else if (c < '0' || c > '9') {
            return;
        } else if (fraction) {
            unit /= 10;
            ms += (uint64_t)(c - '0') * unit;
            digits = true;
        } else {
            ms = ms < INT64_MAX / 1000 ? ms * 10 + (uint64_t)(c - '0') * 1000 : ms;
            digits = true;
        }
    }
    for (int group = 0; digits && group < GROUP_COUNT; group++) {
        struct rule_list *list = &parser->robots->groups[group];
        if (parser->in_delay[group] && list->delay_ms < (int64_t)ms) {
            list->delay_ms = (int64_t)ms;
        }
    }
}

static void
add_uri(struct uri_list *list, struct slice value)
{
    if (value.length == 0 || list->count == ROBOTS_SITEMAPS_MAXIMUM) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (slice_equal(list->items[i], value)) {
            return;
        }
    }
    if (list->items == NULL) {
        list->items = memory_zero(ROBOTS_SITEMAPS_MAXIMUM, sizeof *list->items);
    }
    list->items[list->count++] = slice_of(memory_string_n(value.at, value.length), value.length);
}

static void
add_sitemap(struct parser *parser, struct slice value)
{
    add_uri(&parser->robots->sitemaps, value);
}

static void
add_schemamap(struct parser *parser, struct slice value)
{
    add_uri(&parser->robots->schemamaps, value);
}

static void
add_allow(struct parser *parser, struct slice value)
{
    add_rule(parser, true, value);
}

static void
add_disallow(struct parser *parser, struct slice value)
{
    add_rule(parser, false, value);
}

/* No rule: it stands in a group, or before all of them for everybody. */
static void
take_signal(struct parser *parser, struct slice name, struct slice value)
{
    static const char *const names[] = {"Content-Signal", "Content-Usage", "TDM-Reservation",
                                        "TDM-Policy"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (int group = 0; slice_equal_nocase(name, slice_string(names[i])) && group < GROUP_COUNT;
             group++) {
            struct buf *signals = &parser->robots->groups[group].signals;
            const bool inside = parser->in_group[group] || !parser->named;
            const size_t needed = signals->length + strlen(names[i]) + value.length + 3;
            if (inside && needed <= signals->maximum) {
                buf_printf(signals, "%s: %.*s\n", names[i], SLICE_PRINT(value));
            }
        }
    }
}

/* ---- lines ---- */

struct key {
    const char *name;
    void (*add)(struct parser *parser, struct slice value);
};

/* The second half are misspellings that are common in the wild and cannot mean anything else. */
static const struct key keys[] = {
    {"user-agent", add_user_agent},
    {"disallow", add_disallow},
    {"allow", add_allow},
    {"sitemap", add_sitemap},
    {"schemamap", add_schemamap},
    {"crawl-delay", add_crawl_delay},
    {"useragent", add_user_agent},
    {"user agent", add_user_agent},
    {"useg-agent", add_user_agent},
    {"ser-agent", add_user_agent},
    {"users-agent", add_user_agent},
    {"user-agents", add_user_agent},
    {"dissallow", add_disallow},
    {"dissalow", add_disallow},
    {"disalow", add_disallow},
    {"diasllow", add_disallow},
    {"disallaw", add_disallow},
    {"desallow", add_disallow},
    {"disalllow", add_disallow},
    {"site-map", add_sitemap},
    {"schema-map", add_schemamap},
    {"crawldelay", add_crawl_delay},
    {"crawl delay", add_crawl_delay},
};

static const struct key *
find_key(struct slice name)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (slice_equal_nocase(name, slice_string(keys[i].name))) {
            return &keys[i];
        }
    }
    return NULL;
}

/* Finds where the key ends: at the colon, or at the first blank of a line without one. */
static size_t
key_length(struct slice line)
{
    const size_t colon = slice_find(line, ':');
    if (colon < line.length) {
        return colon;
    }
    size_t n = 0;
    while (n < line.length && line.at[n] != ' ' && line.at[n] != '\t') {
        n++;
    }
    return n;
}

static void
parse_line(struct parser *parser, struct slice line)
{
    struct robots_counts *counts = &parser->robots->counts;
    line = slice_trim(slice_of(line.at, slice_find(line, '#')));
    size_t n = key_length(line);
    if (n == line.length) {
        return; /* also when it is empty, or a comment */
    }
    const struct key *key = find_key(slice_trim(slice_of(line.at, n)));
    if (key == NULL && slice_find(line, ':') == n) {
        /* "Disallow /a:b": the colon belongs to the value. */
        const size_t blank = key_length(slice_of(line.at, n));
        key = blank < n ? find_key(slice_of(line.at, blank)) : NULL;
        n = key != NULL ? blank : n;
    }
    if (key == NULL) {
        counts->unknown++;
        take_signal(parser, slice_trim(slice_of(line.at, n)),
                    slice_trim(slice_of(line.at + n + 1, line.length - n - 1)));
        return;
    }
    counts->valid++;
    key->add(parser, slice_trim(slice_of(line.at + n + 1, line.length - n - 1)));
}

static void
parse_lines(struct parser *parser, struct slice body)
{
    size_t start = 0;
    for (size_t i = 0; i < body.length || start < body.length; i++) {
        if (i < body.length && body.at[i] != '\n' && body.at[i] != '\r') {
            continue;
        }
        const bool pair = i + 1 < body.length && body.at[i] == '\r' && body.at[i + 1] == '\n';
        parser->robots->counts.lines++;
        parse_line(parser, slice_of(body.at + start, i - start));
        i += pair ? 1 : 0;
        start = i + 1;
    }
}

/* UTF-16 with a byte order mark as UTF-8; lone surrogates become "?". */
static void
from_utf16(struct slice body, struct buf *text)
{
    const bool little = (unsigned char)body.at[0] == 0xff;
    for (size_t i = 2; i + 1 < body.length; i += 2) {
        const unsigned first = (unsigned char)body.at[i + (little ? 1 : 0)];
        const unsigned unit = first << 8 | (unsigned char)body.at[i + (little ? 0 : 1)];
        if (unit < 0x80) {
            buf_append_char(text, (char)unit);
        } else if (unit < 0x800) {
            const char bytes[2] = {(char)(0xc0 | unit >> 6), (char)(0x80 | (unit & 63))};
            buf_append(text, bytes, sizeof bytes);
        } else if (unit >= 0xd800 && unit < 0xe000) {
            buf_append_char(text, '?');
        } else {
            const char bytes[3] = {(char)(0xe0 | unit >> 12), (char)(0x80 | (unit >> 6 & 63)),
                                   (char)(0x80 | (unit & 63))};
            buf_append(text, bytes, sizeof bytes);
        }
    }
}

/* Without what an editor put before the first line; a mark may be cut short. */
static struct slice
without_mark(struct slice body)
{
    const struct slice mark = SLICE("\xef\xbb\xbf");
    size_t n = 0;
    while (n < mark.length && n < body.length && body.at[n] == mark.at[n]) {
        n++;
    }
    return slice_of(body.at + n, body.length - n);
}

struct robots *
robots_parse(struct slice body, struct slice product_token)
{
    struct robots *robots = memory_new(sizeof *robots);
    struct parser parser = {.robots = robots, .token = product_token};
    struct buf converted;
    buf_init(&robots->text, (size_t)ROBOTS_MAXIMUM * 6);
    buf_init(&converted, (size_t)ROBOTS_MAXIMUM * 2);
    robots->groups[GROUP_NAMED].delay_ms = -1;
    robots->groups[GROUP_ANY].delay_ms = -1;
    buf_init(&robots->groups[GROUP_NAMED].signals, ROBOTS_SIGNALS_MAXIMUM);
    buf_init(&robots->groups[GROUP_ANY].signals, ROBOTS_SIGNALS_MAXIMUM);
    if (body.length > ROBOTS_MAXIMUM) {
        /* The line that the limit cuts would say something else. */
        body.length = ROBOTS_MAXIMUM;
        while (body.length > 0 && body.at[body.length - 1] != '\n' &&
               body.at[body.length - 1] != '\r') {
            body.length--;
        }
    }
    if (slice_starts(body, SLICE("\xff\xfe")) || slice_starts(body, SLICE("\xfe\xff"))) {
        from_utf16(body, &converted);
        body = buf_slice(&converted);
    }
    parse_lines(&parser, without_mark(body));
    robots->chosen = robots->groups[GROUP_NAMED].present ? &robots->groups[GROUP_NAMED]
                                                         : &robots->groups[GROUP_ANY];
    buf_release(&converted);
    return robots;
}

static void
free_uris(struct uri_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free((char *)(uintptr_t)list->items[i].at);
    }
    free(list->items);
}

void
robots_free(struct robots *robots)
{
    if (robots == NULL) {
        return;
    }
    free_uris(&robots->sitemaps);
    free_uris(&robots->schemamaps);
    free(robots->groups[GROUP_NAMED].rules);
    free(robots->groups[GROUP_ANY].rules);
    buf_release(&robots->groups[GROUP_NAMED].signals);
    buf_release(&robots->groups[GROUP_ANY].signals);
    buf_release(&robots->text);
    free(robots);
}

/* ---- matching ---- */

/* The pieces between "*" are found one after the other, each as early as it can be, so a match
 * takes time linear in path and pattern. */
static bool
matches(struct slice pattern, bool anchored, struct slice path)
{
    bool first = true;
    for (;;) {
        const size_t star = slice_find(pattern, '*');
        const struct slice piece = slice_of(pattern.at, star);
        const bool last = star == pattern.length;
        if (last && anchored) {
            /* The piece must end the path; without a star before it, it must be all of it. */
            return piece.length <= path.length && (!first || piece.length == path.length) &&
                   slice_equal(piece, slice_of(path.at + path.length - piece.length, piece.length));
        }
        const size_t at = first ? 0 : slice_find_slice(path, piece);
        if (first ? !slice_starts(path, piece) : at + piece.length > path.length) {
            return false;
        }
        if (last) {
            return true;
        }
        path = slice_of(path.at + at + piece.length, path.length - at - piece.length);
        pattern = slice_of(pattern.at + star + 1, pattern.length - star - 1);
        first = false;
    }
}

/* The rule that decides; NULL: none matches. */
static const struct rule *
decide(const struct robots *robots, struct slice path_query)
{
    struct buf path;
    size_t best = 0;
    const struct rule *chosen = NULL;
    bool allowed = true;
    if (robots->chosen->count == 0 || slice_is(path_query, "/robots.txt")) {
        return NULL;
    }
    buf_init(&path, path_query.length * 3 + 1);
    if (path_query.length == 0 || path_query.at[0] != '/') {
        buf_append_char(&path, '/');
    }
    append_normalised(&path, path_query, false);
    for (size_t i = 0; i < robots->chosen->count; i++) {
        const struct rule *rule = &robots->chosen->rules[i];
        const size_t weight = rule->length + (rule->anchored ? 1 : 0);
        const bool better = weight > best || (weight == best && rule->allow && !allowed);
        if (better && matches(slice_of(robots->text.data + rule->at, rule->length), rule->anchored,
                              buf_slice(&path))) {
            best = weight;
            allowed = rule->allow;
            chosen = rule;
        }
    }
    buf_release(&path);
    return chosen;
}

bool
robots_allows(const struct robots *robots, struct slice path_query)
{
    const struct rule *rule = decide(robots, path_query);
    return rule == NULL || rule->allow;
}

void
robots_rule(const struct robots *robots, struct slice path_query, struct buf *line)
{
    const struct rule *rule = decide(robots, path_query);
    if (rule != NULL) {
        buf_printf(line, "%s: %.*s%s", rule->allow ? "Allow" : "Disallow", (int)rule->length,
                   robots->text.data + rule->at, rule->anchored ? "$" : "");
    }
}

int64_t
robots_crawl_delay_ms(const struct robots *robots)
{
    return robots->chosen->delay_ms;
}

size_t
robots_sitemaps(const struct robots *robots, const struct slice **sitemaps)
{
    *sitemaps = robots->sitemaps.items;
    return robots->sitemaps.count;
}

size_t
robots_schemamaps(const struct robots *robots, const struct slice **schemamaps)
{
    *schemamaps = robots->schemamaps.items;
    return robots->schemamaps.count;
}

struct slice
robots_signals(const struct robots *robots)
{
    return buf_slice(&robots->chosen->signals);
}

size_t
robots_size(const struct robots *robots)
{
    return sizeof *robots + robots->text.capacity + robots->groups[GROUP_NAMED].signals.capacity +
           robots->groups[GROUP_ANY].signals.capacity +
           (robots->groups[GROUP_NAMED].capacity + robots->groups[GROUP_ANY].capacity) *
               sizeof(struct rule) +
           ((robots->sitemaps.items != NULL) + (robots->schemamaps.items != NULL)) *
               ROBOTS_SITEMAPS_MAXIMUM * sizeof(struct slice);
}

struct robots_counts
robots_count(const struct robots *robots)
{
    return robots->counts;
}
