#include "transforms/common/encoding.h"

#include <errno.h>
#include <iconv.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/memory.h"
#include "rdf/core/lexical.h"
#include "transforms/common/encoding_labels.h"
#include "transforms/html/names.h"

/* The standard's prescan looks at 1024 bytes; a parser that meets a meta element later starts
 * again with what it says, which looking further beforehand comes to as well. */
enum { PRESCAN_BYTES = 1024, LATE_BYTES = 64 << 10 };

const char *
encoding_of_label(struct slice label)
{
    const struct encoding_entry *entry = encoding_entry_of(label);
    return entry ? entry->name : NULL;
}

const char *
encoding_of_mark(struct slice bytes, size_t *length)
{
    const uint8_t *at = (const uint8_t *)bytes.at;
    *length = 0;
    if (bytes.length >= 3 && at[0] == 0xEF && at[1] == 0xBB && at[2] == 0xBF) {
        *length = 3;
        return "utf-8";
    }
    if (bytes.length >= 2 && at[0] == 0xFE && at[1] == 0xFF) {
        *length = 2;
        return "utf-16be";
    }
    if (bytes.length >= 2 && at[0] == 0xFF && at[1] == 0xFE) {
        *length = 2;
        return "utf-16le";
    }
    return NULL;
}

/* ---- UTF-8 ---- */

/* Bytes of the valid sequence at `at`; 0: none. */
static size_t
sequence_length(const uint8_t *at, size_t left)
{
    static const uint8_t low[] = {0x80, 0xA0, 0x80, 0x90, 0x80};
    static const uint8_t high[] = {0xBF, 0xBF, 0x9F, 0xBF, 0x8F};
    const uint8_t lead = at[0];
    if (lead < 0x80) {
        return 1;
    }
    const size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                          : lead >= 0xE0 && lead < 0xF0 ? 3
                          : lead >= 0xF0 && lead < 0xF5 ? 4
                                                        : 0;
    if (length == 0 || left < length) {
        return 0;
    }
    const int range = lead == 0xE0 ? 1 : lead == 0xED ? 2 : lead == 0xF0 ? 3 : lead == 0xF4 ? 4 : 0;
    if (at[1] < low[range] || at[1] > high[range]) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

/* The first byte that is not ASCII; the length when all are. */
static size_t
ascii_prefix(struct slice bytes)
{
    enum { WORDS = 8 };
    static const uint64_t high_bits = 0x8080808080808080u;
    uint64_t words[WORDS];
    size_t i = 0;
    for (; i + sizeof words <= bytes.length; i += sizeof words) {
        uint64_t all = 0;
        memcpy(words, bytes.at + i, sizeof words);
        for (size_t k = 0; k < WORDS; k++) {
            all |= words[k];
        }
        if (all & high_bits) {
            break;
        }
    }
    for (; i + sizeof *words <= bytes.length; i += sizeof *words) {
        memcpy(words, bytes.at + i, sizeof *words);
        if (*words & high_bits) {
            break;
        }
    }
    while (i < bytes.length && (uint8_t)bytes.at[i] < 0x80) {
        i++;
    }
    return i;
}

static bool
is_ascii(struct slice bytes)
{
    return ascii_prefix(bytes) == bytes.length;
}

/* The first byte that is not valid UTF-8; the length when all are. */
static size_t
valid_prefix(struct slice bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.at;
    size_t i = 0;
    while (i < bytes.length) {
        const size_t n = at[i] < 0x80 ? ascii_prefix(slice_of(bytes.at + i, bytes.length - i))
                                      : sequence_length(at + i, bytes.length - i);
        if (n == 0) {
            break;
        }
        i += n;
    }
    return i;
}

bool
encoding_is_utf8(struct slice bytes)
{
    return valid_prefix(bytes) == bytes.length;
}

/* ---- prescan ---- */

struct scan {
    const char *at, *end;
};

/* "Get an attribute" of the standard. False: no more. */
static bool
scan_attribute(struct scan *scan, struct slice *name, struct slice *value)
{
    const char *at = scan->at, *const end = scan->end;
    while (at < end && (ascii_is_space(*at) || *at == '/')) {
        at++;
    }
    scan->at = at;
    if (at >= end || *at == '>') {
        return false;
    }
    const char *from = at++;
    while (at < end && *at != '=' && !ascii_is_space(*at) && *at != '/' && *at != '>') {
        at++;
    }
    *name = slice_of(from, (size_t)(at - from));
    *value = slice_of(at, 0);
    while (at < end && ascii_is_space(*at)) {
        at++;
    }
    if (at >= end || *at != '=') {
        scan->at = at;
        return true;
    }
    at++;
    while (at < end && ascii_is_space(*at)) {
        at++;
    }
    if (at < end && (*at == '"' || *at == '\'')) {
        const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        scan->at = close ? close + 1 : end;
        if (!close) {
            return false;
        }
        *value = slice_of(at + 1, (size_t)(close - at - 1));
        return true;
    }
    from = at;
    while (at < end && !ascii_is_space(*at) && *at != '>') {
        at++;
    }
    *value = slice_of(from, (size_t)(at - from));
    scan->at = at;
    return true;
}

/* "Extracting a character encoding from a meta element". */
static struct slice
charset_of_content(struct slice content)
{
    const char *at = content.at, *const end = content.at + content.length;
    for (;; at++) {
        while (end - at >= 7 && strncasecmp(at, "charset", 7) != 0) {
            at++;
        }
        if (end - at < 7) {
            return (struct slice){0};
        }
        const char *next = at + 7;
        while (next < end && ascii_is_space(*next)) {
            next++;
        }
        if (next < end && *next == '=') {
            at = next + 1;
            break;
        }
    }
    while (at < end && ascii_is_space(*at)) {
        at++;
    }
    if (at < end && (*at == '"' || *at == '\'')) {
        const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        return close ? slice_of(at + 1, (size_t)(close - at - 1)) : (struct slice){0};
    }
    const char *from = at;
    while (at < end && !ascii_is_space(*at) && *at != ';') {
        at++;
    }
    return slice_of(from, (size_t)(at - from));
}

/* at stands after "<meta". NULL: this one says nothing. */
static const char *
scan_meta(struct scan *scan)
{
    struct slice name, value, charset = {0};
    bool got_pragma = false, from_content = false;
    while (scan_attribute(scan, &name, &value)) {
        if (slice_equal_nocase(name, SLICE("http-equiv"))) {
            got_pragma |= slice_equal_nocase(value, SLICE("content-type"));
        } else if (slice_equal_nocase(name, SLICE("content")) && !charset.at) {
            charset = charset_of_content(value);
            from_content = charset.at != NULL;
        } else if (slice_equal_nocase(name, SLICE("charset"))) {
            charset = value;
            from_content = false;
        }
    }
    const bool cut_off = scan->at >= scan->end; /* no tag then */
    if (cut_off || !charset.at || (from_content && !got_pragma)) {
        return NULL;
    }
    const char *found = encoding_of_label(charset);
    if (found && strncmp(found, "utf-16", 6) == 0) {
        return "utf-8"; /* it could not have been read as ASCII */
    }
    return found && strcmp(found, "x-user-defined") == 0 ? "windows-1252" : found;
}

/* After the start tag of an element whose content is text: past its end tag. */
static void
skip_raw(struct scan *scan, struct slice name)
{
    const uint32_t rules = html_element_rules(html_element_of(name));
    if (!(rules & (RULE_RAW | RULE_RCDATA))) {
        return;
    }
    for (;; scan->at++) {
        scan->at = memchr(scan->at, '<', (size_t)(scan->end - scan->at));
        if (!scan->at) {
            scan->at = scan->end;
            return;
        }
        const size_t left = (size_t)(scan->end - scan->at);
        if (left > name.length + 2 && scan->at[1] == '/' &&
            strncasecmp(scan->at + 2, name.at, name.length) == 0) {
            return;
        }
    }
}

/* The standard's prescan; deep: scripts and their like are passed over. */
static const char *
prescan(struct slice bytes, bool deep)
{
    struct scan scan = {bytes.at, bytes.at + bytes.length};
    while ((scan.at = memchr(scan.at, '<', (size_t)(scan.end - scan.at))) != NULL) {
        const size_t left = (size_t)(scan.end - scan.at);
        if (left >= 4 && memcmp(scan.at, "<!--", 4) == 0) {
            const char *close = memmem(scan.at + 2, left - 2, "-->", 3);
            if (!close) {
                return NULL;
            }
            scan.at = close + 3;
        } else if (left >= 6 && strncasecmp(scan.at, "<meta", 5) == 0 &&
                   (ascii_is_space(scan.at[5]) || scan.at[5] == '/')) {
            scan.at += 5;
            const char *found = scan_meta(&scan);
            if (found) {
                return found;
            }
        } else if (left >= 3 && (ascii_is_letter(scan.at[1]) ||
                                 (scan.at[1] == '/' && ascii_is_letter(scan.at[2])))) {
            struct slice name, value;
            const char *from = scan.at + 1;
            while (scan.at < scan.end && !ascii_is_space(*scan.at) && *scan.at != '>') {
                scan.at++;
            }
            const struct slice tag = {from, (size_t)(scan.at - from)};
            while (scan_attribute(&scan, &name, &value)) {
            }
            if (deep) {
                skip_raw(&scan, tag);
            }
        } else if (left >= 2 && (scan.at[1] == '!' || scan.at[1] == '/' || scan.at[1] == '?')) {
            const char *close = memchr(scan.at, '>', left);
            if (!close) {
                return NULL;
            }
            scan.at = close + 1;
        } else {
            scan.at++;
        }
        if (scan.at >= scan.end) {
            break;
        }
    }
    return NULL;
}

/* Only meta elements declare an encoding. */
static bool
has_meta(struct slice bytes)
{
    const char *at = bytes.at, *const end = bytes.at + bytes.length;
    while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if (end - at >= 6 && (at[1] | 0x20) == 'm' && strncasecmp(at, "<meta", 5) == 0) {
            return true;
        }
        at++;
    }
    return false;
}

const char *
encoding_prescan(struct slice bytes)
{
    if (!has_meta(slice_of(bytes.at, bytes.length < LATE_BYTES ? bytes.length : LATE_BYTES))) {
        return NULL;
    }
    const struct slice head = {bytes.at,
                               bytes.length < PRESCAN_BYTES ? bytes.length : PRESCAN_BYTES};
    const char *found = prescan(head, false);
    if (!found && bytes.length > PRESCAN_BYTES) {
        const size_t length = bytes.length < LATE_BYTES ? bytes.length : LATE_BYTES;
        found = prescan(slice_of(bytes.at, length), true);
    }
    return found;
}

/* XML's own declaration counts in HTML too, as browsers do. */
static const char *
xml_declaration(struct slice bytes)
{
    if (!slice_starts(bytes, SLICE("<?xml"))) {
        return NULL;
    }
    const size_t close = slice_find(bytes, '>');
    const char *at = memmem(bytes.at, close, "encoding", 8);
    if (!at) {
        return NULL;
    }
    const char *const end = bytes.at + close;
    at += 8;
    while (at < end && (ascii_is_space(*at) || *at == '=')) {
        at++;
    }
    if (at >= end || (*at != '"' && *at != '\'')) {
        return NULL;
    }
    const char *quote = memchr(at + 1, *at, (size_t)(end - at - 1));
    const char *found =
        quote ? encoding_of_label(slice_of(at + 1, (size_t)(quote - at - 1))) : NULL;
    return found && strncmp(found, "utf-16", 6) == 0 ? "utf-8" : found;
}

/* Text without a mark whose every other byte is zero. */
const char *
encoding_of_zeros(struct slice bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.at;
    if (bytes.length < 4 || (at[0] && at[1]) || (at[2] && at[3])) {
        return NULL;
    }
    if (at[0] && !at[1] && at[2] && !at[3]) {
        return "utf-16le";
    }
    return !at[0] && at[1] && !at[2] && at[3] ? "utf-16be" : NULL;
}

const char *
encoding_of_xml(struct slice bytes, struct slice http)
{
    size_t mark;
    const char *found = encoding_of_mark(bytes, &mark);
    found = found ? found : encoding_of_zeros(bytes);
    if (!found && http.length > 0) {
        const bool quoted =
            http.length > 2 && http.at[0] == '\'' && http.at[http.length - 1] == '\'';
        found = encoding_of_label(quoted ? slice_of(http.at + 1, http.length - 2) : http);
    }
    const struct slice head = {bytes.at,
                               bytes.length < PRESCAN_BYTES ? bytes.length : PRESCAN_BYTES};
    found = found ? found : xml_declaration(head);
    if (found && strcmp(found, "utf-8") != 0) {
        return found;
    }
    return encoding_is_utf8(bytes) || found ? "utf-8" : "windows-1252";
}

const char *
encoding_of_html(struct slice bytes, struct slice http, enum encoding_source *source)
{
    enum encoding_source unused = ENCODING_BY_BOM;
    source = source ? source : &unused;
    size_t mark;
    const char *found = encoding_of_mark(bytes, &mark);
    *source = ENCODING_BY_BOM;
    if (found) {
        return found;
    }
    found = encoding_of_zeros(bytes);
    *source = ENCODING_BY_CONTENT;
    if (found) {
        return found;
    }
    *source = ENCODING_BY_HTTP;
    found = http.length > 0 ? encoding_of_label(http) : NULL;
    if (found) {
        return found;
    }
    *source = ENCODING_BY_META;
    const struct slice head = {bytes.at,
                               bytes.length < PRESCAN_BYTES ? bytes.length : PRESCAN_BYTES};
    found = bytes.length > 0 ? encoding_prescan(bytes) : NULL;
    found = found ? found : xml_declaration(head);
    if (found) {
        return found;
    }
    *source = ENCODING_BY_CONTENT;
    if (!is_ascii(bytes) && encoding_is_utf8(bytes)) {
        return "utf-8";
    }
    *source = ENCODING_BY_DEFAULT;
    return "windows-1252";
}

/* ---- conversion ---- */

struct encodings {
    iconv_t *converters; /* parallel to encoding_entries; (iconv_t)-1: none */
};

struct encodings *
encodings_open(void)
{
    struct encodings *encodings = memory_new(sizeof *encodings);
    encodings->converters = memory_zero(encoding_entry_count, sizeof *encodings->converters);
    for (size_t i = 0; i < encoding_entry_count; i++) {
        const char *name = encoding_entries[i].iconv;
        encodings->converters[i] = name ? iconv_open("UTF-8", name) : (iconv_t)-1;
    }
    return encodings;
}

void
encodings_close(struct encodings *encodings)
{
    if (!encodings) {
        return;
    }
    for (size_t i = 0; i < encoding_entry_count; i++) {
        if (encodings->converters[i] != (iconv_t)-1) {
            iconv_close(encodings->converters[i]);
        }
    }
    free(encodings->converters);
    free(encodings);
}

static const char replacement[] = "\xEF\xBF\xBD";

void
encoding_repair(struct slice bytes, struct buf *out)
{
    while (bytes.length > 0) {
        const size_t good = valid_prefix(bytes);
        buf_append(out, bytes.at, good);
        bytes = slice_of(bytes.at + good, bytes.length - good);
        if (bytes.length > 0) {
            buf_append(out, replacement, 3);
            bytes = slice_of(bytes.at + 1, bytes.length - 1);
            while (bytes.length > 0 && ((uint8_t)bytes.at[0] & 0xC0) == 0x80) {
                bytes = slice_of(bytes.at + 1, bytes.length - 1);
            }
        }
    }
}

/* windows-1252's 0x80..0x9F. */
static const uint16_t upper_1252[32] = {
    0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021, 0x2C6,  0x2030, 0x160,
    0x2039, 0x152,  0x8D,   0x17D,  0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};

/* Encodings of one byte a character; user_defined: 0x80.. is U+F780.. */
static void
convert_bytes(struct slice bytes, bool user_defined, struct buf *out)
{
    for (size_t i = 0; i < bytes.length; i++) {
        uint32_t code = (uint8_t)bytes.at[i];
        if (code >= 0x80) {
            code = user_defined ? 0xF700 + code : code < 0xA0 ? upper_1252[code - 0x80] : code;
        }
        char *room = buf_reserve(out, 4);
        if (!room) {
            return;
        }
        buf_commit(out, (size_t)lexical_encode(code, room));
    }
}

static void
convert_iconv(iconv_t converter, struct slice bytes, struct buf *out)
{
    iconv(converter, NULL, NULL, NULL, NULL);
    char *in = (char *)(uintptr_t)bytes.at;
    size_t left = bytes.length;
    while (left > 0) {
        enum { ROOM = 4096 };
        char *room = buf_reserve(out, ROOM);
        if (!room) {
            return;
        }
        size_t free_bytes = ROOM;
        errno = 0;
        const size_t result = iconv(converter, &in, &left, &room, &free_bytes);
        const int error = errno;
        buf_commit(out, ROOM - free_bytes);
        if (result == (size_t)-1 && error != E2BIG) {
            buf_append(out, replacement, 3);
            in++;
            left--;
            if (error == EINVAL) {
                return;
            }
        }
    }
}

enum status
encoding_convert(struct encodings *encodings, const char *name, struct slice bytes, struct buf *out,
                 struct slice *text, struct reason *why)
{
    size_t mark;
    const char *marked = encoding_of_mark(bytes, &mark);
    buf_reset(out);
    if (marked && strcmp(marked, name) == 0) {
        bytes = slice_of(bytes.at + mark, bytes.length - mark);
    }
    const bool utf8 = strcmp(name, "utf-8") == 0;
    if (utf8 ? encoding_is_utf8(bytes)
             : strncmp(name, "utf-16", 6) != 0 && strcmp(name, "iso-2022-jp") != 0 &&
                   strcmp(name, "replacement") != 0 && is_ascii(bytes)) {
        *text = bytes;
        return STATUS_OK;
    }
    if (utf8) {
        encoding_repair(bytes, out);
    } else if (strcmp(name, "replacement") == 0) {
        buf_append(out, replacement, 3);
    } else {
        const struct encoding_entry *entry = encoding_entry_of(slice_string(name));
        const iconv_t converter =
            entry ? encodings->converters[entry - encoding_entries] : (iconv_t)-1;
        if (converter == (iconv_t)-1) {
            convert_bytes(bytes, strcmp(name, "x-user-defined") == 0, out);
        } else {
            convert_iconv(converter, bytes, out);
        }
    }
    *text = buf_slice(out);
    if (out->overflowed) {
        return status_fail(why, STATUS_LIMIT, "text in %s passes %zu bytes in UTF-8", name,
                           out->maximum);
    }
    return STATUS_OK;
}
