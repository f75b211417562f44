#include "transforms/xml/xml_mend.h"

#include <stdlib.h>

#include "rdf/core/lexical.h"
#include "transforms/html/html_entities.h"

const char *const xml_mistake_names[XML_MISTAKES] = {
    "something before the XML declaration",
    "& that should be &amp;",
    "reference to a character that XML forbids",
    "< that should be &lt;",
    "character that XML forbids",
    "malformed attribute",
    "missing or misplaced end tag",
    "-- in a comment",
    "end of the document missing",
};

enum { ATTRIBUTES_COMPARED = 64 };

struct mending {
    const char *at, *end;
    struct buf *out;
    uint64_t *mistakes;
    struct slice open[XML_MEND_DEPTH];
    size_t depth;
    bool has_subset; /* entities may be declared */
    bool has_root;
};

static bool
is_name_start(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c == ':' ||
           (unsigned char)c >= 0x80;
}

static bool
is_name(char c)
{
    return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

static size_t
left(const struct mending *mending)
{
    return (size_t)(mending->end - mending->at);
}

static bool
starts(const struct mending *mending, const char *text)
{
    const size_t length = strlen(text);
    return left(mending) >= length && memcmp(mending->at, text, length) == 0;
}

/* Where `text` ends next; the document's end, and a mistake, when it does not come. */
static const char *
find(struct mending *mending, const char *text)
{
    const char *found = memmem(mending->at, left(mending), text, strlen(text));
    if (!found) {
        mending->mistakes[XML_CUT_OFF]++;
        return mending->end;
    }
    return found + strlen(text);
}

static void
put(struct mending *mending, struct slice text)
{
    buf_append_slice(mending->out, text);
}

/* ---- text ---- */

/* One character or reference, at `at`. */
static void
put_reference(struct mending *mending)
{
    const char *at = mending->at + 1;
    char number[16];
    size_t digits = 0;
    if (at < mending->end && *at == '#') {
        const bool hex = at + 1 < mending->end && (at[1] | 0x20) == 'x';
        const char *from = at + (hex ? 2 : 1);
        while (from + digits < mending->end && digits < sizeof number - 1 &&
               (hex ? strchr("0123456789abcdefABCDEF", from[digits]) != NULL && from[digits]
                    : from[digits] >= '0' && from[digits] <= '9')) {
            number[digits] = from[digits];
            digits++;
        }
        number[digits] = 0;
        const bool closed = from + digits < mending->end && from[digits] == ';';
        const unsigned long value = strtoul(number, NULL, hex ? 16 : 10);
        const bool allowed = value == 9 || value == 10 || value == 13 ||
                             (value >= 32 && value < 0xd800) ||
                             (value > 0xdfff && value < 0x110000 && (value & 0xfffe) != 0xfffe);
        if (digits > 0) {
            mending->mistakes[XML_REFERENCE] += !allowed || !closed || at[1] == 'X';
            if (allowed) {
                buf_printf(mending->out, "&#x%lx;", value);
            }
            mending->at = from + digits + closed;
            return;
        }
    }
    while (at + digits < mending->end && digits < 64 && is_name(at[digits])) {
        digits++;
    }
    const bool closed = digits > 0 && at + digits < mending->end && at[digits] == ';';
    char text[ENTITY_TEXT_MAXIMUM + 1];
    size_t written = 0;
    const struct slice reference = {mending->at, digits + 2};
    if (closed && (mending->has_subset ||
                   entity_decode(reference, false, text, &written) == reference.length)) {
        put(mending, reference);
        mending->at += reference.length;
        return;
    }
    mending->mistakes[XML_AMPERSAND]++;
    put(mending, SLICE("&amp;"));
    mending->at++;
}

/* Characters that XML 1.0 has not become blanks. U+FFFE and U+FFFF too. */
static void
put_character(struct mending *mending)
{
    const unsigned char c = (unsigned char)*mending->at;
    if (c < 0x20 && !lexical_is((char)c, LEXICAL_SPACE)) {
        mending->mistakes[XML_CONTROL]++;
        buf_append_char(mending->out, ' ');
        mending->at++;
    } else if (c == 0xef && left(mending) > 2 && mending->at[1] == '\xbf' &&
               (mending->at[2] == '\xbe' || mending->at[2] == '\xbf')) {
        mending->mistakes[XML_CONTROL]++;
        buf_append_char(mending->out, ' ');
        mending->at += 3;
    } else {
        buf_append_char(mending->out, (char)c);
        mending->at++;
    }
}

static void
put_verbatim(struct mending *mending, const char *end)
{
    while (mending->at < end) {
        put_character(mending);
    }
}

/* ---- tags ---- */

static struct slice
take_name(struct mending *mending)
{
    const char *from = mending->at;
    while (mending->at < mending->end && is_name(*mending->at)) {
        mending->at++;
    }
    return slice_of(from, (size_t)(mending->at - from));
}

static void
skip_spaces(struct mending *mending)
{
    while (mending->at < mending->end && lexical_is(*mending->at, LEXICAL_SPACE)) {
        buf_append_char(mending->out, *mending->at++);
    }
}

static void
put_value(struct mending *mending, char quote)
{
    while (mending->at < mending->end && *mending->at != quote) {
        if (*mending->at == '&') {
            put_reference(mending);
        } else if (*mending->at == '<') {
            mending->mistakes[XML_LESS_THAN]++;
            put(mending, SLICE("&lt;"));
            mending->at++;
        } else {
            put_character(mending);
        }
    }
    if (mending->at < mending->end) {
        mending->at++;
    }
    buf_append_char(mending->out, quote);
}

static void
put_bare_value(struct mending *mending)
{
    buf_append_char(mending->out, '"');
    while (mending->at < mending->end && !lexical_is(*mending->at, LEXICAL_SPACE) &&
           *mending->at != '>' && !starts(mending, "/>")) {
        if (*mending->at == '&') {
            put_reference(mending);
        } else if (*mending->at == '<' || *mending->at == '"') {
            put(mending, *mending->at == '<' ? SLICE("&lt;") : SLICE("&quot;"));
            mending->at++;
        } else {
            put_character(mending);
        }
    }
    buf_append_char(mending->out, '"');
}

static bool
is_known(struct slice name, struct slice *names, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        if (slice_equal(names[i], name)) {
            return true;
        }
    }
    if (*count < ATTRIBUTES_COMPARED) {
        names[(*count)++] = name;
    }
    return false;
}

/* name="value" at `at`; a second one of the same name is left out. */
static void
put_attribute(struct mending *mending, struct slice *names, size_t *count)
{
    const struct slice name = take_name(mending);
    const size_t before = mending->out->length;
    const bool twice = is_known(name, names, count);
    if (before > 0 && !lexical_is(mending->out->data[before - 1], LEXICAL_SPACE)) {
        mending->mistakes[XML_ATTRIBUTE]++;
        buf_append_char(mending->out, ' ');
    }
    put(mending, name);
    while (mending->at < mending->end && lexical_is(*mending->at, LEXICAL_SPACE)) {
        mending->at++;
    }
    if (mending->at < mending->end && *mending->at == '=') {
        mending->at++;
        while (mending->at < mending->end && lexical_is(*mending->at, LEXICAL_SPACE)) {
            mending->at++;
        }
        buf_append_char(mending->out, '=');
        if (mending->at < mending->end && (*mending->at == '"' || *mending->at == '\'')) {
            const char quote = *mending->at++;
            buf_append_char(mending->out, quote);
            put_value(mending, quote);
        } else {
            mending->mistakes[XML_ATTRIBUTE]++;
            put_bare_value(mending);
        }
    } else {
        mending->mistakes[XML_ATTRIBUTE]++;
        put(mending, SLICE("=\"\" "));
    }
    if (twice && !mending->out->overflowed) {
        mending->mistakes[XML_ATTRIBUTE]++;
        mending->out->length = before;
        buf_append_char(mending->out, ' ');
    }
}

static void
put_start_tag(struct mending *mending)
{
    struct slice names[ATTRIBUTES_COMPARED];
    size_t count = 0;
    const size_t before = mending->out->length;
    mending->at++;
    const struct slice name = take_name(mending);
    buf_append_char(mending->out, '<');
    put(mending, name);
    bool empty = false;
    while (mending->at < mending->end && *mending->at != '>') {
        skip_spaces(mending);
        if (mending->at >= mending->end || *mending->at == '>') {
            break;
        }
        if (starts(mending, "/>")) {
            empty = true;
            mending->at++;
        } else if (is_name_start(*mending->at)) {
            put_attribute(mending, names, &count);
        } else if (*mending->at == '<') {
            break; /* the tag was not closed */
        } else {
            mending->mistakes[XML_ATTRIBUTE]++;
            mending->at++;
        }
    }
    if (mending->at >= mending->end) {
        mending->mistakes[XML_CUT_OFF]++;
    } else if (*mending->at == '>') {
        mending->at++;
    } else {
        mending->mistakes[XML_NESTING]++;
    }
    if (!empty && mending->depth == XML_MEND_DEPTH && !mending->out->overflowed) {
        mending->out->length = before;
        mending->mistakes[XML_NESTING]++;
        return;
    }
    put(mending, empty ? SLICE("/>") : SLICE(">"));
    if (!empty) {
        mending->open[mending->depth++] = name;
    }
    mending->has_root = true;
}

static void
put_end(struct mending *mending, struct slice name)
{
    put(mending, SLICE("</"));
    put(mending, name);
    buf_append_char(mending->out, '>');
}

/* Ends what is open inside of the element that it ends; ending nothing, it is left out. */
static void
put_end_tag(struct mending *mending)
{
    mending->at += 2;
    const struct slice name = take_name(mending);
    while (mending->at < mending->end && *mending->at != '>' && *mending->at != '<') {
        mending->at++;
    }
    mending->at += mending->at < mending->end && *mending->at == '>';
    size_t depth = mending->depth;
    while (depth > 0 && !slice_equal(mending->open[depth - 1], name)) {
        depth--;
    }
    if (depth == 0) {
        mending->mistakes[XML_NESTING]++;
        return;
    }
    while (mending->depth >= depth) {
        mending->mistakes[XML_NESTING] += mending->depth > depth;
        put_end(mending, mending->open[--mending->depth]);
    }
}

/* ---- everything else that begins with < ---- */

static void
put_comment(struct mending *mending)
{
    const char *from = mending->at;
    mending->at += 4;
    const char *end = find(mending, "-->");
    const bool closed = end[-1] == '>' && end - from >= 7;
    const char *inside = closed ? end - 3 : end;
    put(mending, SLICE("<!--"));
    while (mending->at < inside) {
        if (*mending->at == '-' && (mending->at + 1 == inside || mending->at[1] == '-')) {
            mending->mistakes[XML_COMMENT]++;
            put(mending, SLICE(" "));
            mending->at++;
        } else {
            put_character(mending);
        }
    }
    put(mending, SLICE("-->"));
    mending->at = end;
}

/* A declaration of the document's type with what is in brackets. */
static void
put_doctype(struct mending *mending)
{
    const char *from = mending->at;
    char quote = 0;
    bool inside = false;
    while (mending->at < mending->end && (quote || inside || *mending->at != '>')) {
        const char c = *mending->at++;
        if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[' || c == ']') {
            inside = c == '[';
            mending->has_subset = true;
        }
    }
    mending->at += mending->at < mending->end;
    if (!mending->has_root) {
        put(mending, slice_of(from, (size_t)(mending->at - from)));
    } else {
        mending->mistakes[XML_JUNK_BEFORE]++;
    }
}

static void
put_instruction(struct mending *mending)
{
    const char *from = mending->at;
    const bool declaration =
        left(mending) > 5 && memcmp(from, "<?xml", 5) == 0 && lexical_is(from[5], LEXICAL_SPACE);
    const char *end = find(mending, "?>");
    if (declaration && mending->out->length > 0) {
        mending->mistakes[XML_JUNK_BEFORE]++;
        for (; mending->at < end; mending->at++) {
            buf_append_char(mending->out, *mending->at == '\n' ? '\n' : ' ');
        }
    } else if (end[-1] == '>') {
        put_verbatim(mending, end);
    }
    mending->at = end;
}

static void
put_markup(struct mending *mending)
{
    if (starts(mending, "<!--")) {
        put_comment(mending);
    } else if (starts(mending, "<![CDATA[") && mending->depth > 0) {
        const char *end = find(mending, "]]>");
        put_verbatim(mending, end);
        if (!(end[-1] == '>' && end[-2] == ']')) {
            put(mending, SLICE("]]>"));
        }
    } else if (starts(mending, "<!DOCTYPE") && mending->depth == 0) {
        put_doctype(mending);
    } else if (starts(mending, "<?")) {
        put_instruction(mending);
    } else if (left(mending) > 2 && mending->at[1] == '/' && is_name_start(mending->at[2])) {
        put_end_tag(mending);
    } else if (left(mending) > 1 && is_name_start(mending->at[1]) &&
               (mending->depth > 0 || !mending->has_root)) {
        put_start_tag(mending);
    } else {
        mending->mistakes[XML_LESS_THAN]++;
        put(mending, mending->depth > 0 ? SLICE("&lt;") : SLICE(" "));
        mending->at++;
    }
}

void
xml_mend(struct slice text, struct buf *out, uint64_t mistakes[XML_MISTAKES])
{
    struct mending mending = {
        .at = text.at, .end = text.at + text.length, .out = out, .mistakes = mistakes};
    buf_reset(out);
    memset(mistakes, 0, XML_MISTAKES * sizeof *mistakes);
    while (mending.at < mending.end && !out->overflowed) {
        if (*mending.at == '<') {
            put_markup(&mending);
        } else if (mending.depth == 0) { /* only blanks may stand outside of the root */
            const bool blank = lexical_is(*mending.at, LEXICAL_SPACE);
            mistakes[XML_JUNK_BEFORE] += !blank;
            buf_append_char(out, blank ? *mending.at : ' ');
            mending.at++;
        } else if (*mending.at == '&') {
            put_reference(&mending);
        } else if (starts(&mending, "]]>")) {
            put(&mending, SLICE("]]&gt;"));
            mending.at += 3;
        } else {
            put_character(&mending);
        }
    }
    mistakes[XML_CUT_OFF] += mending.depth > 0;
    while (mending.depth > 0) {
        put_end(&mending, mending.open[--mending.depth]);
    }
}
