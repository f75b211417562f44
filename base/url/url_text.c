#include "base/url/url_text.h"

#include "base/ascii.h"

bool
url_ends_host(char c)
{
    return c == '/' || c == '\\' || c == '?' || c == '#';
}

size_t
url_scheme_length(struct slice text)
{
    size_t n = 0;
    while (n < text.length &&
           (ascii_is_letter(text.at[n]) ||
            (n > 0 && ((text.at[n] >= '0' && text.at[n] <= '9') || text.at[n] == '+' ||
                       text.at[n] == '-' || text.at[n] == '.')))) {
        n++;
    }
    return n < text.length && text.at[n] == ':' ? n : 0;
}

bool
url_is_drive_letter(struct slice text, bool normalised)
{
    return text.length == 2 && ascii_is_letter(text.at[0]) &&
           (text.at[1] == ':' || (!normalised && text.at[1] == '|'));
}

bool
url_starts_with_drive_letter(struct slice text)
{
    return text.length >= 2 && url_is_drive_letter(slice_of(text.at, 2), false) &&
           (text.length == 2 || url_ends_host(text.at[2]));
}

int
url_dot_count(struct slice segment)
{
    int dots = 0;
    while (segment.length > 0) {
        const bool encoded =
            segment.length >= 3 && slice_equal_nocase(slice_of(segment.at, 3), SLICE("%2e"));
        const size_t n = encoded ? 3 : 1;
        if ((!encoded && segment.at[0] != '.') || ++dots > 2) {
            return 0;
        }
        segment = slice_of(segment.at + n, segment.length - n);
    }
    return dots;
}

size_t
url_find_port(struct slice text)
{
    bool inside = false;
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == '[') {
            inside = true;
        } else if (text.at[i] == ']') {
            inside = false;
        } else if (text.at[i] == ':' && !inside) {
            return i;
        }
    }
    return text.length;
}

struct slice
url_trim(struct slice input)
{
    while (input.length > 0 && (unsigned char)input.at[0] <= ' ') {
        input = slice_of(input.at + 1, input.length - 1);
    }
    while (input.length > 0 && (unsigned char)input.at[input.length - 1] <= ' ') {
        input.length--;
    }
    return input;
}

struct slice
url_without_newlines(struct slice input, struct buf *copy_of)
{
    size_t n = 0;
    while (n < input.length &&
           ((unsigned char)input.at[n] > '\r' ||
            (input.at[n] != '\t' && input.at[n] != '\n' && input.at[n] != '\r'))) {
        n++;
    }
    if (n == input.length) {
        return input;
    }
    for (size_t i = 0; i < input.length; i++) {
        if (input.at[i] != '\t' && input.at[i] != '\n' && input.at[i] != '\r') {
            buf_append_char(copy_of, input.at[i]);
        }
    }
    return copy_of->length > 0 ? buf_slice(copy_of) : SLICE("");
}

/* A crawl has one in each link of some hosts, so it is not printed by format. */
void
url_append_port(struct buf *out, int32_t port)
{
    char text[8];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + port % 10);
        port /= 10;
    } while (port > 0);
    text[--at] = ':';
    buf_append(out, text + at, sizeof text - at);
}
