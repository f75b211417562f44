#include "crawl/robots_tags.h"

#include <string.h>

#include "base/ascii.h"
#include "datasets/sitemap.h"

enum { AGENT_MAXIMUM = 64, TAG_MAXIMUM = 4096 }; /* a quote that never ends costs no more */

void
robots_tags_init(struct robots_tags *tags, struct slice token, uint64_t fetched_ms)
{
    *tags = (struct robots_tags){.token = token, .now_ms = fetched_ms};
    buf_init(&tags->said, ROBOTS_TAGS_TEXT);
}

void
robots_tags_release(struct robots_tags *tags)
{
    buf_release(&tags->said);
}

static struct slice
rest_of(struct slice text, size_t from)
{
    return from < text.length ? slice_of(text.at + from, text.length - from) : SLICE("");
}

static void
note(struct robots_tags *tags, const char *source, struct slice value)
{
    if (tags->said.length + strlen(source) + value.length + 3 <= ROBOTS_TAGS_TEXT) {
        buf_printf(&tags->said, "%s: %.*s\n", source, SLICE_PRINT(value));
    }
}

/* ---- directives ---- */

static void
take_directive(struct robots_tags *tags, struct slice word)
{
    const bool none = slice_equal_nocase(word, SLICE("none"));
    tags->noindex = tags->noindex || none || slice_equal_nocase(word, SLICE("noindex"));
    tags->nofollow = tags->nofollow || none || slice_equal_nocase(word, SLICE("nofollow"));
}

/* The date may have a comma in it, so it takes the rest of the value. */
static void
take_directives(struct robots_tags *tags, struct slice value)
{
    const struct slice until = SLICE("unavailable_after");
    while (value.length > 0) {
        const struct slice word = slice_trim(slice_of(value.at, slice_find(value, ',')));
        if (slice_starts_nocase(word, until)) {
            const struct slice all = slice_trim(value);
            const size_t colon = slice_find(all, ':');
            const uint64_t time_ms = sitemap_date(slice_trim(rest_of(all, colon + 1)));
            tags->noindex = tags->noindex || (time_ms > 0 && time_ms < tags->now_ms);
            return;
        }
        take_directive(tags, word);
        value = rest_of(value, slice_find(value, ',') + 1);
    }
}

/* The name before the first colon, when there is one that is no directive. */
static struct slice
agent_of(struct slice value)
{
    static const char *const directives[] = {"unavailable_after", "max-snippet",
                                             "max-image-preview", "max-video-preview"};
    const size_t colon = slice_find(value, ':');
    const struct slice name = slice_trim(slice_of(value.at, colon));
    if (colon == value.length || name.length == 0 || name.length > AGENT_MAXIMUM ||
        slice_find(name, ',') < name.length) {
        return (struct slice){0};
    }
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
        if (slice_equal_nocase(name, slice_string(directives[i]))) {
            return (struct slice){0};
        }
    }
    return name;
}

static void
take_tag(struct robots_tags *tags, struct slice value)
{
    const struct slice agent = agent_of(value);
    if (agent.length == 0) {
        take_directives(tags, value);
    } else if (slice_equal_nocase(agent, tags->token)) {
        take_directives(tags, rest_of(value, slice_find(value, ':') + 1));
    } else {
        return;
    }
    note(tags, "X-Robots-Tag", value);
}

/* ---- signals ---- */

/* Tells whether a Content-Signal or Content-Usage value says that search is not wanted. It may
 * begin with a path, for which it is meant; others than those that path_query begins with say
 * nothing. */
static bool
signal_reserves(struct slice value, struct slice path_query)
{
    value = slice_trim(value);
    if (value.length > 0 && value.at[0] == '/') {
        const struct slice path = slice_of(value.at, slice_find(value, ' '));
        if (!slice_starts(path_query, path)) {
            return false;
        }
        value = rest_of(value, path.length);
    }
    while (value.length > 0) {
        const size_t end = slice_find(value, ',');
        const struct slice item = slice_of(value.at, end);
        const size_t equals = slice_find(item, '=');
        const struct slice name = slice_trim(slice_of(item.at, equals));
        const struct slice said = slice_trim(rest_of(item, equals + 1));
        if (slice_equal_nocase(name, SLICE("search")) &&
            (slice_equal_nocase(said, SLICE("no")) || slice_equal_nocase(said, SLICE("n")))) {
            return true;
        }
        value = rest_of(value, end + 1);
    }
    return false;
}

bool
signals_reserve(struct slice lines, struct slice path_query)
{
    bool reserves = false;
    while (lines.length > 0 && !reserves) {
        const size_t end = slice_find(lines, '\n');
        const struct slice line = slice_of(lines.at, end);
        const struct slice value = slice_trim(rest_of(line, slice_find(line, ':') + 1));
        reserves = slice_starts(line, SLICE("TDM-Reservation:"))
                       ? slice_is(value, "1")
                       : signal_reserves(value, path_query);
        lines = rest_of(lines, end + 1);
    }
    return reserves;
}

static void
take_field(struct robots_tags *tags, struct slice name, struct slice value)
{
    if (slice_equal_nocase(name, SLICE("X-Robots-Tag"))) {
        take_tag(tags, value);
    } else if (slice_equal_nocase(name, SLICE("TDM-Reservation"))) {
        tags->reserved = tags->reserved || slice_is(value, "1");
        note(tags, "TDM-Reservation", value);
    } else if (slice_equal_nocase(name, SLICE("Content-Signal")) ||
               slice_equal_nocase(name, SLICE("Content-Usage"))) {
        tags->reserved = tags->reserved || signal_reserves(value, SLICE(""));
        note(tags, name.at[8] == 'S' || name.at[8] == 's' ? "Content-Signal" : "Content-Usage",
             value);
    }
}

void
robots_tags_header(struct robots_tags *tags, struct slice header)
{
    while (header.length > 0) {
        const size_t end = slice_find(header, '\n');
        const struct slice line = slice_of(header.at, end);
        const size_t colon = slice_find(line, ':');
        take_field(tags, slice_of(line.at, colon), slice_trim(rest_of(line, colon + 1)));
        header = rest_of(header, end + 1);
    }
}

/* ---- pages ---- */

/* One attribute of a tag; the rest stays in *tag. False at the tag's end. */
static bool
next_attribute(struct slice *tag, struct slice *name, struct slice *value)
{
    size_t i = 0;
    while (i < tag->length && (ascii_is_space(tag->at[i]) || tag->at[i] == '/')) {
        i++;
    }
    const size_t start = i;
    while (i < tag->length && !ascii_is_space(tag->at[i]) && tag->at[i] != '=' &&
           tag->at[i] != '>' && tag->at[i] != '/') {
        i++;
    }
    *name = slice_of(tag->at + start, i - start);
    *value = SLICE("");
    while (i < tag->length && ascii_is_space(tag->at[i])) {
        i++;
    }
    if (i < tag->length && tag->at[i] == '=') {
        i++;
        while (i < tag->length && ascii_is_space(tag->at[i])) {
            i++;
        }
        const char quote = i < tag->length ? tag->at[i] : '\0';
        const bool quoted = quote == '"' || quote == '\'';
        i += quoted;
        const size_t from = i;
        while (i < tag->length &&
               (quoted ? tag->at[i] != quote : !ascii_is_space(tag->at[i]) && tag->at[i] != '>')) {
            i++;
        }
        *value = slice_of(tag->at + from, i - from);
        i += quoted && i < tag->length;
    } else if (name->length == 0) {
        return false;
    }
    *tag = rest_of(*tag, i);
    return true;
}

static void
take_meta(struct robots_tags *tags, struct slice tag)
{
    struct slice name, value;
    struct slice said = {0}, content = {0};
    while (next_attribute(&tag, &name, &value)) {
        if (slice_equal_nocase(name, SLICE("name")) && said.length == 0) {
            said = slice_trim(value);
        } else if (slice_equal_nocase(name, SLICE("content")) && content.length == 0) {
            content = slice_trim(value);
        }
    }
    if (content.length > 0 &&
        (slice_equal_nocase(said, SLICE("robots")) || slice_equal_nocase(said, tags->token))) {
        take_directives(tags, content);
        note(tags, "meta", content);
    } else if (slice_equal_nocase(said, SLICE("tdm-reservation"))) {
        tags->reserved = tags->reserved || slice_is(content, "1");
        note(tags, "TDM-Reservation", content);
    }
}

/* Bytes up to behind the end of what the page has no elements in; 0: elements may begin. */
static size_t
opaque_length(struct slice text)
{
    static const struct {
        const char *start, *end;
    } parts[] = {{"<!--", "-->"},
                 {"<script", "</script"},
                 {"<style", "</style"},
                 {"<title", "</title"},
                 {"<noscript", "</noscript"}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct slice end = slice_string(parts[i].end);
        if (!slice_starts_nocase(text, slice_string(parts[i].start))) {
            continue;
        }
        for (size_t at = strlen(parts[i].start); at < text.length; at++) {
            if (slice_starts_nocase(rest_of(text, at), end)) {
                return at + end.length;
            }
        }
        return text.length;
    }
    return 0;
}

void
robots_tags_page(struct robots_tags *tags, struct slice page)
{
    page.length = page.length < ROBOTS_TAGS_PAGE ? page.length : (size_t)ROBOTS_TAGS_PAGE;
    while (page.length > 0) {
        page = rest_of(page, slice_find(page, '<'));
        const size_t opaque = opaque_length(page);
        if (opaque > 0) {
            page = rest_of(page, opaque);
        } else if (slice_starts_nocase(page, SLICE("<body"))) {
            return;
        } else if (slice_starts_nocase(page, SLICE("<meta")) && page.length > 5 &&
                   (ascii_is_space(page.at[5]) || page.at[5] == '/')) {
            page = rest_of(page, 5);
            take_meta(tags, slice_of(page.at, page.length < TAG_MAXIMUM ? page.length
                                                                        : (size_t)TAG_MAXIMUM));
        } else {
            page = rest_of(page, 1);
        }
    }
}
