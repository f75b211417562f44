#include "base/html_text.h"

/* The length of the UTF-8 character at text, or 0. */
static size_t
character(struct slice text)
{
    const unsigned char first = (unsigned char)text.at[0];
    const size_t length = first < 0x80    ? 1
                          : first < 0xC2  ? 0
                          : first < 0xE0  ? 2
                          : first < 0xF0  ? 3
                          : first <= 0xF4 ? 4
                                          : 0;
    if (length > text.length) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)text.at[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

static const char *
reference(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void
html_text(struct buf *out, struct slice text)
{
    while (text.length > 0) {
        const size_t length = character(text);
        const char c = text.at[0];
        const char *escaped = reference(c);
        if (length == 0) {
            (void)buf_append_string(out, "\xEF\xBF\xBD");
        } else if (escaped != NULL) {
            (void)buf_append_string(out, escaped);
        } else if (length > 1 || (unsigned char)c >= ' ' || c == '\n' || c == '\t') {
            (void)buf_append(out, text.at, length);
        }
        const size_t step = length > 0 ? length : 1;
        text = slice_of(text.at + step, text.length - step);
    }
}

struct slice
html_text_start(struct slice text, size_t most)
{
    size_t length = text.length < most ? text.length : most;
    while (length > 0 && length < text.length && ((unsigned char)text.at[length] & 0xC0) == 0x80) {
        length--;
    }
    return slice_of(text.at, length);
}

void
html_iri(struct buf *out, struct slice iri)
{
    const bool link = slice_starts(iri, SLICE("http://")) || slice_starts(iri, SLICE("https://"));
    if (link) {
        (void)buf_append_string(out, "<a rel=\"noreferrer\" href=\"");
        html_text(out, iri);
        (void)buf_append_string(out, "\">");
    }
    html_text(out, iri);
    if (link) {
        (void)buf_append_string(out, "</a>");
    }
}
