/* Findings come from six places of the record, worst first: how the fetch ended, the body's end,
 * its type, and what transforms called problems, repairs and advice. */
#include "cli/report/report_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detection/media_type.h"
#include "stages/skeleton/document.h"

enum { PAGE_MEMORY = 4 << 20, TYPE_MEMORY = 64 << 10 };

const char *
report_severity_name(enum report_severity severity)
{
    static const char *const names[REPORT_SEVERITIES] = {"error", "warning", "advice", "good"};
    return names[severity];
}

void
report_page_init(struct report_page *page)
{
    memset(page, 0, sizeof *page);
    arena_init(&page->arena, PAGE_MEMORY);
}

void
report_page_release(struct report_page *page)
{
    arena_release(&page->arena);
}

/* ---- words and lines ---- */

/* Returns the text before the mark and takes both away from *rest. */
static struct slice
take_until(struct slice *rest, char mark)
{
    const size_t end = slice_find(*rest, mark);
    const size_t step = end < rest->length ? end + 1 : end;
    const struct slice taken = slice_of(rest->at, end);
    *rest = slice_of(rest->at + step, rest->length - step);
    return taken;
}

static uint64_t
number_of(struct slice digits)
{
    uint64_t number = 0;
    for (size_t i = 0; i < digits.length && digits.at[i] >= '0' && digits.at[i] <= '9'; i++) {
        number = number < UINT64_MAX / 16 ? number * 10 + (uint64_t)(digits.at[i] - '0') : number;
    }
    return number;
}

/* Without control characters, which move a terminal's cursor and break rows. */
static struct slice
plain(struct report_page *page, struct slice text)
{
    size_t bad = 0;
    for (size_t i = 0; i < text.length; i++) {
        bad += (unsigned char)text.at[i] < 0x20 || text.at[i] == 0x7F;
    }
    char *copy = bad > 0 ? arena_alloc(&page->arena, text.length) : NULL;
    if (copy == NULL) {
        return bad > 0 ? slice_of(NULL, 0) : text;
    }
    for (size_t i = 0; i < text.length; i++) {
        const unsigned char c = (unsigned char)text.at[i];
        copy[i] = c < 0x20 || c == 0x7F ? ' ' : text.at[i];
    }
    return slice_of(copy, text.length);
}

/* ---- findings ---- */

static void
find(struct report_page *page, enum report_severity severity, struct slice where, uint64_t line,
     uint64_t times, struct slice text)
{
    if (page->finding_count == REPORT_FINDINGS) {
        page->finding_left++;
        return;
    }
    const struct report_finding finding = {.severity = severity,
                                           .where = where,
                                           .line = line,
                                           .times = times,
                                           .text = text,
                                           .advice = report_advice_find(where, text)};
    size_t at = page->finding_count++;
    while (at > 0 && page->findings[at - 1].severity > severity) {
        page->findings[at] = page->findings[at - 1];
        at--;
    }
    page->findings[at] = finding;
}

/* "line 3: " or "line 3, column 7: " off the begin of *text. */
static uint64_t
take_line(struct slice *text)
{
    size_t i = 5;
    if (!slice_starts(*text, SLICE("line "))) {
        return 0;
    }
    const uint64_t line = number_of(slice_of(text->at + i, text->length - i));
    const size_t colon = slice_find_slice(*text, SLICE(": "));
    for (; i < colon; i++) { /* nothing but numbers and "column" */
        if (strchr("0123456789, column", text->at[i]) == NULL) {
            return 0;
        }
    }
    if (colon == text->length) {
        return 0;
    }
    *text = slice_of(text->at + colon + 2, text->length - colon - 2);
    return line;
}

/* Lines "transform: line 3: text". Returns how many. */
static uint64_t
read_complaints(struct report_page *page, enum report_severity severity, struct slice lines)
{
    uint64_t count = 0;
    while (lines.length > 0) {
        struct slice text = take_until(&lines, '\n');
        if (text.length == 0) {
            continue;
        }
        const size_t colon = slice_find_slice(text, SLICE(": "));
        struct slice where = slice_of(text.at, 0);
        if (colon < text.length) {
            where = slice_of(text.at, colon);
            text = slice_of(text.at + colon + 2, text.length - colon - 2);
        }
        uint64_t line = take_line(&text);
        const uint64_t inner = take_line(&text); /* a fatal one names its own */
        find(page, severity, where, inner > 0 && line == 0 ? inner : line, 1, plain(page, text));
        count++;
    }
    return count;
}

/* Lines "transform: text: count". */
static void
read_repairs(struct report_page *page, struct slice lines)
{
    while (lines.length > 0) {
        struct slice text = take_until(&lines, '\n');
        const size_t colon = slice_find_slice(text, SLICE(": "));
        const char *last = text.length > 0 ? memrchr(text.at, ':', text.length) : NULL;
        if (colon == text.length || last == text.at + colon) {
            continue;
        }
        const size_t end = (size_t)(last - text.at);
        const struct slice count = slice_trim(slice_of(last + 1, text.length - end - 1));
        find(page, REPORT_WARNING, slice_of(text.at, colon), 0, number_of(count),
             plain(page, slice_of(text.at + colon + 2, end - colon - 2)));
    }
}

/* ---- how it came ---- */

static void
check_fetch(struct report_page *page)
{
    const struct slice where = SLICE("fetch");
    const struct slice reason = page->reason;
    if (slice_is(page->state, "gone")) {
        find(page, REPORT_ERROR, where, 0, 1,
             arena_printf(&page->arena, "the server answered %" PRIu64, page->http_status));
    } else if (slice_is(page->state, "failed")) {
        const bool told = slice_starts(reason, SLICE("the server answered")) ||
                          slice_starts(reason, SLICE("more redirects")) ||
                          slice_starts(reason, SLICE("redirect"));
        find(page, REPORT_ERROR, where, 0, 1,
             told ? reason
                  : arena_printf(&page->arena, "it could not be had: %.*s", SLICE_PRINT(reason)));
    } else if (slice_is(page->state, "denied")) {
        find(page, REPORT_ADVICE, where, 0, 1, reason);
    } else if (slice_starts(reason, SLICE("the response has no body"))) {
        find(page, REPORT_WARNING, where, 0, 1, reason);
    }
    if (page->truncated.length > 0) {
        find(page, REPORT_ERROR, where, 0, 1,
             arena_printf(&page->arena, "the body was cut: %.*s", SLICE_PRINT(page->truncated)));
    }
}

static bool
ends(struct slice text, const char *end)
{
    const size_t length = strlen(end);
    return text.length >= length && memcmp(text.at + text.length - length, end, length) == 0;
}

/* Tells whether what the server says is the same, or more specific than content alone can show. */
static bool
type_fits(struct slice said, struct slice found)
{
    static const char *const same[][2] = {
        {"text/xml", "application/xml"},
        {"image/jpg", "image/jpeg"},
        {"audio/mp3", "audio/mpeg"},
        {"application/x-javascript", "text/javascript"},
        {"application/javascript", "text/javascript"},
        {"text/x-vcard", "text/vcard"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (slice_is(said, same[i][0]) && slice_is(found, same[i][1])) {
            return true;
        }
    }
    return slice_equal(said, found) || slice_is(found, "application/octet-stream") ||
           (slice_is(found, "application/xml") && ends(said, "+xml")) ||
           (slice_is(found, "application/json") && ends(said, "+json")) ||
           (slice_is(found, "text/plain") && slice_starts(said, SLICE("text/")));
}

static void
check_type(struct report_page *page)
{
    struct buf memory;
    struct media_type said;
    const struct slice where = SLICE("detect");
    if (page->type.length == 0) {
        return;
    }
    buf_init(&memory, TYPE_MEMORY);
    if (page->content_type.length == 0) {
        find(page, REPORT_WARNING, where, 0, 1,
             arena_printf(&page->arena, "no Content-Type is sent; the content is %.*s",
                          SLICE_PRINT(page->type)));
    } else if (!media_type_parse(page->content_type, &memory, &said) ||
               !type_fits(said.essence, page->type)) {
        const struct slice shown =
            slice_of(page->content_type.at,
                     page->content_type.length < 100 ? page->content_type.length : 100);
        find(page, REPORT_WARNING, where, 0, 1,
             plain(page, arena_printf(&page->arena, "Content-Type says %.*s, the content is %.*s",
                                      SLICE_PRINT(shown), SLICE_PRINT(page->type))));
    }
    buf_release(&memory);
}

/* ---- what was made of it ---- */

/* "html/2 jsonld/1" and "html 12": what ran, and what of it said something. */
static void
read_transforms(struct report_page *page, struct slice names, struct slice quads)
{
    while (names.length > 0 && page->transform_count < REPORT_TRANSFORMS) {
        struct slice version = take_until(&names, ' ');
        const struct slice name = take_until(&version, '/');
        if (name.length > 0) {
            page->transforms[page->transform_count].name = name;
            page->transforms[page->transform_count].version = version;
            page->transforms[page->transform_count++].quads = 0;
        }
    }
    while (quads.length > 0) {
        const struct slice name = take_until(&quads, ' ');
        const uint64_t count = number_of(take_until(&quads, ' '));
        for (size_t i = 0; i < page->transform_count; i++) {
            if (slice_equal(page->transforms[i].name, name)) {
                page->transforms[i].quads = count;
            }
        }
        page->has_data |= count > 0 && !slice_is(name, "html") && !slice_is(name, "links");
    }
}

static void
read_fields(struct report_page *page, struct slice record)
{
    const struct {
        enum meta_field field;
        struct slice *text;
    } texts[] = {
        {META_STATE, &page->state},          {META_REASON, &page->reason},
        {META_DETECTED_TYPE, &page->type},   {META_CONTENT_TYPE, &page->content_type},
        {META_TRUNCATED, &page->truncated},  {META_VIA, &page->via},
        {META_REDIRECT_TO, &page->redirect}, {META_TRANSFORM_RESOURCES, &page->resources},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (meta_record_text(record, texts[i].field, texts[i].text) &&
            texts[i].field != META_TRANSFORM_RESOURCES) {
            *texts[i].text = plain(page, *texts[i].text);
        }
    }
    (void)meta_record_number(record, META_HTTP_STATUS, &page->http_status);
    (void)meta_record_number(record, META_TRANSFORM_MS, &page->milliseconds);
    (void)meta_record_number(record, META_LINKS_TRAPPED, &page->links_trapped);
    page->trapped = slice_starts(page->reason, SLICE("traps."));
    (void)meta_record_number(record, META_TRANSFORM_MEMORY, &page->memory_bytes);
}

static bool
has_errors(const struct report_page *page)
{
    return page->finding_count > 0 && page->findings[0].severity == REPORT_ERROR;
}

static void
check_transforms(struct report_page *page, struct slice record)
{
    struct slice names = {NULL, 0}, quads = {NULL, 0}, problems = {NULL, 0}, lines = {NULL, 0};
    uint64_t count = 0;
    page->transformed = meta_record_text(record, META_TRANSFORM, &names);
    (void)meta_record_text(record, META_TRANSFORM_QUADS, &quads);
    read_transforms(page, names, quads);
    (void)meta_record_text(record, META_TRANSFORM_PROBLEMS, &problems);
    (void)meta_record_number(record, META_TRANSFORM_PROBLEM_COUNT, &count);
    const uint64_t read = read_complaints(page, REPORT_ERROR, problems);
    if (count > read) {
        find(page, REPORT_ERROR, SLICE("report"), 0, 1,
             arena_printf(&page->arena, "%" PRIu64 " more problems, which were only counted",
                          count - read));
    }
    if (slice_is(page->state, "broken") && count == 0) {
        find(page, REPORT_ERROR, SLICE("transform"), 0, 1, page->reason);
    }
    if (meta_record_text(record, META_TRANSFORM_REPAIRS, &lines)) {
        read_repairs(page, lines);
    }
    if (meta_record_text(record, META_TRANSFORM_ADVICE, &lines)) {
        (void)read_complaints(page, REPORT_ADVICE, lines);
    }
    if (page->is_html && page->transformed && !page->has_data && !has_errors(page)) {
        find(page, REPORT_ADVICE, SLICE("report"), 0, 1, SLICE("no structured data"));
    }
}

/* Where a crawl looks for a description unbidden; who has none has nothing to mend. */
static bool
merely_asked_for(const struct report_page *page)
{
    return ends(page->uri, "/.well-known/void") &&
           (slice_is(page->state, "gone") || slice_is(page->state, "failed") ||
            slice_is(page->state, "denied"));
}

bool
report_page_read(struct report_page *page, struct slice key, struct slice record)
{
    const struct arena arena = page->arena;
    memset(page, 0, sizeof *page);
    page->arena = arena;
    arena_reset(&page->arena);
    if (key.length < 2 || key.at[0] != 'u' ||
        slice_find_slice(key, SLICE(RESOURCE_FRAGMENT)) < key.length) {
        return false;
    }
    page->uri = slice_of(key.at + 1, key.length - 1);
    read_fields(page, record);
    if (page->state.length == 0 || merely_asked_for(page)) {
        return false;
    }
    page->is_html =
        slice_is(page->type, "text/html") || slice_is(page->type, "application/xhtml+xml");
    const bool redirected = slice_is(page->state, "redirected") || slice_is(page->state, "gone");
    check_fetch(page);
    if (!redirected) {
        check_type(page);
        check_transforms(page, record);
    }
    page->severity = page->finding_count > 0 ? page->findings[0].severity : REPORT_GOOD;
    return true;
}
