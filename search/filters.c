#include "search/filters.h"

#include "base/ascii.h"
#include "base/url/url.h"
#include "rdf/turtle/turtle_writer.h"

enum { WORDS_MOST = 1 << 20 };

static const char *const kinds[FILTER_KINDS] = {"class", "predicate", "domain", "lang", "date"};

void
find_filters_init(struct find_filters *filters)
{
    filters->count = 0;
    buf_init(&filters->words, WORDS_MOST);
    (void)buf_append_string(&filters->words, "");
}

void
find_filters_release(struct find_filters *filters)
{
    buf_release(&filters->words);
}

/* ---- parts of IRIs ---- */

struct slice
find_iri(struct slice name, struct buf *memory)
{
    const size_t colon = slice_find(name, ':');
    const bool hierarchic = name.length > colon + 2 && memcmp(name.at + colon, "://", 3) == 0;
    buf_reset(memory);
    for (const struct turtle_prefix *row = turtle_prefixes; row->prefix != NULL && !hierarchic;
         row++) {
        if (slice_is(slice_of(name.at, colon), row->prefix) && colon < name.length) {
            (void)buf_printf(memory, "%s%.*s", row->iri,
                             SLICE_PRINT(slice_of(name.at + colon + 1, name.length - colon - 1)));
            return buf_slice(memory);
        }
    }
    if (name.length > 2 && name.at[0] == '<' && name.at[name.length - 1] == '>') {
        name = slice_of(name.at + 1, name.length - 2);
    }
    return iri_is_absolute(name) ? name : slice_of(NULL, 0);
}

struct slice
find_host(struct slice iri)
{
    const size_t scheme = slice_find_slice(iri, SLICE("://"));
    if (scheme == iri.length) {
        return slice_of(NULL, 0);
    }
    struct slice host = slice_of(iri.at + scheme + 3, iri.length - scheme - 3);
    size_t end = 0;
    while (end < host.length && strchr("/?#", host.at[end]) == NULL) {
        end++;
    }
    host.length = end;
    const size_t user = slice_find(host, '@');
    if (user < host.length) {
        host = slice_of(host.at + user + 1, host.length - user - 1);
    }
    const size_t name = host.length > 0 && host.at[0] == '[' ? slice_find(host, ']') : 0;
    return slice_of(host.at, name + slice_find(slice_of(host.at + name, host.length - name), ':'));
}

struct slice
find_local_name(struct slice iri)
{
    size_t start = iri.length;
    while (start > 0 && iri.at[start - 1] != '#' && iri.at[start - 1] != '/') {
        start--;
    }
    return slice_of(iri.at + start, iri.length - start);
}

/* ---- reading ---- */

struct slice
find_next_word(struct slice *text)
{
    size_t start = 0;
    bool quoted = false;
    while (start < text->length && ascii_is_space(text->at[start])) {
        start++;
    }
    size_t end = start;
    for (; end < text->length && (quoted || !ascii_is_space(text->at[end])); end++) {
        quoted ^= text->at[end] == '"';
    }
    const struct slice word = slice_of(text->at + start, end - start);
    *text = slice_of(text->at + end, text->length - end);
    return word;
}

/* YYYY, YYYY-MM, YYYY-MM-DD, or that with a time behind it. */
static bool
is_date(struct slice text)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    if (text.length != 4 && text.length != 7 && text.length != 10 && text.length != 16 &&
        text.length != 19 && text.length != 20) {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        if (form[i] == 'd' ? !ascii_is_digit(text.at[i]) : text.at[i] != form[i]) {
            return false;
        }
    }
    const struct slice month = slice_of(text.at + 5, text.length > 4 ? 2 : 0);
    const struct slice day = slice_of(text.at + 8, text.length > 7 ? 2 : 0);
    return (month.length == 0 || (slice_number(month) >= 1 && slice_number(month) <= 12)) &&
           (day.length == 0 || (slice_number(day) >= 1 && slice_number(day) <= 31));
}

static bool
read_period(struct find_filter *filter)
{
    const struct slice value = filter->value;
    const size_t dots = slice_find_slice(value, SLICE(".."));
    if (dots == value.length) {
        filter->from = filter->to = value;
        return is_date(value);
    }
    filter->from = slice_of(value.at, dots);
    filter->to = slice_of(value.at + dots + 2, value.length - dots - 2);
    return filter->from.length + filter->to.length > 0 &&
           (filter->from.length == 0 || is_date(filter->from)) &&
           (filter->to.length == 0 || is_date(filter->to));
}

static bool
read_value(struct find_filter *filter, struct slice value, struct arena *arena)
{
    struct buf memory;
    if (value.length >= 2 && value.at[0] == '"' && value.at[value.length - 1] == '"') {
        value = slice_of(value.at + 1, value.length - 2);
    }
    buf_init(&memory, URL_MAXIMUM);
    if (filter->kind == FILTER_CLASS || filter->kind == FILTER_PREDICATE) {
        const struct slice iri = find_iri(value, &memory);
        filter->is_iri = iri.length > 0;
        value = filter->is_iri ? iri : value;
    }
    filter->value = arena_copy(arena, value);
    buf_release(&memory);
    return filter->value.length > 0 && (filter->kind != FILTER_DATE || read_period(filter));
}

/* The kind that a word names by what stands before its colon; FILTER_KINDS: none. */
static enum find_filter_kind
kind_of(struct slice word)
{
    const size_t colon = slice_find(word, ':');
    unsigned kind = 0;
    while (kind < FILTER_KINDS &&
           (colon == word.length || !slice_is(slice_of(word.at, colon), kinds[kind]))) {
        kind++;
    }
    return (enum find_filter_kind)kind;
}

enum status
find_filters_read(struct find_filters *filters, struct slice text, bool beside, struct arena *arena,
                  struct reason *why)
{
    for (;;) {
        const struct slice word = find_next_word(&text);
        if (word.length == 0) {
            return STATUS_OK;
        }
        const bool without = word.length > 1 && word.at[0] == '-';
        struct slice bare = slice_of(word.at + without, word.length - without);
        const enum find_filter_kind kind = kind_of(bare);
        if ((unsigned)kind == FILTER_KINDS || (kind == FILTER_LANGUAGE && !beside)) {
            if (beside) {
                return status_fail(why, STATUS_BAD_INPUT,
                                   "%.*s: filters are class:, predicate:, domain:, lang:, date:",
                                   SLICE_PRINT(word));
            }
            (void)buf_append_string(&filters->words, filters->words.length > 0 ? " " : "");
            (void)buf_append_slice(&filters->words, word);
            continue;
        }
        if (filters->count == FILTERS_MOST) {
            return status_fail(why, STATUS_BAD_INPUT, "there are more than %d filters",
                               FILTERS_MOST);
        }
        struct find_filter *filter = &filters->all[filters->count++];
        *filter = (struct find_filter){.kind = kind, .without = without};
        (void)slice_take(&bare, ':');
        if (!read_value(filter, bare, arena)) {
            return status_fail(why, STATUS_BAD_INPUT, "%.*s: %s", SLICE_PRINT(word),
                               kind == FILTER_DATE
                                   ? "a date is 2026, 2026-11, 2026-11-23 or FROM..TO"
                                   : "there is no value behind the colon");
        }
    }
}

/* ---- comparing ---- */

bool
find_filters_have(const struct find_filters *filters, enum find_filter_kind kind)
{
    for (size_t i = 0; i < filters->count; i++) {
        if (filters->all[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static bool
is_below(struct slice host, struct slice domain)
{
    return slice_equal_nocase(host, domain) ||
           (host.length > domain.length && host.at[host.length - domain.length - 1] == '.' &&
            slice_equal_nocase(slice_of(host.at + host.length - domain.length, domain.length),
                               domain));
}

static bool
has_language(struct slice tag, struct slice wanted)
{
    return slice_starts_nocase(tag, wanted) &&
           (tag.length == wanted.length || tag.at[wanted.length] == '-');
}

/* A time is within a day when it is not before its beginning and begins no later than it ends. */
static bool
is_within(struct slice time, const struct find_filter *filter)
{
    const size_t most = time.length < filter->to.length ? time.length : filter->to.length;
    return time.length > 0 && slice_compare(time, filter->from) >= 0 &&
           (filter->to.length == 0 || slice_compare(slice_of(time.at, most), filter->to) <= 0);
}

static bool
is_wanted(const struct find_filter *filter, struct slice value)
{
    switch (filter->kind) {
    case FILTER_CLASS:
    case FILTER_PREDICATE:
        return filter->is_iri ? slice_equal(value, filter->value)
                              : slice_equal_nocase(find_local_name(value), filter->value);
    case FILTER_DOMAIN:
        return is_below(value, filter->value);
    case FILTER_LANGUAGE:
        return has_language(value, filter->value);
    case FILTER_DATE:
        return is_within(value, filter);
    }
    return false;
}

bool
find_filters_pass(const struct find_filters *filters, enum find_filter_kind kind,
                  const struct slice *values, size_t count)
{
    bool asked = false, found = false;
    for (size_t i = 0; i < filters->count; i++) {
        const struct find_filter *filter = &filters->all[i];
        if (filter->kind != kind) {
            continue;
        }
        bool holds = false;
        for (size_t k = 0; k < count && !holds; k++) {
            holds = is_wanted(filter, values[k]);
        }
        if (filter->without && holds) {
            return false;
        }
        asked |= !filter->without;
        found |= !filter->without && holds;
    }
    return found || !asked;
}
