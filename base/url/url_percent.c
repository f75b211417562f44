#include "base/url/url_percent.h"

/* The sets an ASCII character belongs to; controls, DEL and bytes from 0x80 are in all. */
static unsigned
sets_of(unsigned char c)
{
    enum {
        USERINFO = ENCODE_USERINFO,
        PATH = ENCODE_PATH | USERINFO,
        FRAGMENT_PATH = ENCODE_FRAGMENT | PATH,
        QUERY = ENCODE_QUERY | ENCODE_SPECIAL_QUERY | PATH,
        ALL = 63
    };
    static const unsigned char table[128] = {
        [' '] = ENCODE_FRAGMENT | QUERY,
        ['"'] = ENCODE_FRAGMENT | QUERY,
        ['<'] = ENCODE_FRAGMENT | QUERY,
        ['>'] = ENCODE_FRAGMENT | QUERY,
        ['#'] = QUERY,
        ['\''] = ENCODE_SPECIAL_QUERY,
        ['`'] = FRAGMENT_PATH,
        ['?'] = PATH,
        ['^'] = PATH,
        ['{'] = PATH,
        ['}'] = PATH,
        ['/'] = USERINFO,
        [':'] = USERINFO,
        [';'] = USERINFO,
        ['='] = USERINFO,
        ['@'] = USERINFO,
        ['['] = USERINFO,
        ['\\'] = USERINFO,
        [']'] = USERINFO,
        ['|'] = USERINFO,
    };
    return c < 0x20 || c > 0x7e ? ALL : table[c];
}

static bool
url_must_encode(unsigned char c, enum encode_set set)
{
    return (sets_of(c) & set) != 0;
}

void
url_append_percent(struct buf *out, unsigned char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char text[3] = {'%', digits[c >> 4], digits[c & 15]};
    buf_append(out, text, sizeof text);
}

/* Bytes of the UTF-8 sequence at the front, 0 when it is malformed (Unicode table 3-7);
 * *bad then gets the length of its maximal prefix, which becomes one U+FFFD. */
static size_t
sequence_length(const unsigned char *at, size_t left, size_t *bad)
{
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    size_t length = 0;
    *bad = 1;
    if (at[0] >= 0xc2 && at[0] <= 0xdf) {
        length = 2;
    } else if (at[0] >= 0xe0 && at[0] <= 0xef) {
        length = 3;
        low = at[0] == 0xe0 ? 0xa0 : low;
        high = at[0] == 0xed ? 0x9f : high;
    } else if (at[0] >= 0xf0 && at[0] <= 0xf4) {
        length = 4;
        low = at[0] == 0xf0 ? 0x90 : low;
        high = at[0] == 0xf4 ? 0x8f : high;
    }
    for (size_t i = 1; i < length; i++) {
        if (i >= left || at[i] < low || at[i] > high) {
            return 0;
        }
        *bad = i + 1;
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

void
url_append_encoded(struct buf *out, struct slice bytes, enum encode_set set)
{
    const unsigned char *at = (const unsigned char *)bytes.at;
    const size_t n = bytes.length;
    size_t plain = 0;
    size_t i = 0;
    while (i < n) {
        if (!url_must_encode(at[i], set)) {
            i++;
            continue;
        }
        buf_append(out, bytes.at + plain, i - plain);
        if (at[i] < 0x80) {
            url_append_percent(out, at[i++]);
        } else {
            size_t bad = 1;
            const size_t length = sequence_length(at + i, n - i, &bad);
            for (size_t k = 0; k < length; k++) {
                url_append_percent(out, at[i + k]);
            }
            if (length == 0) {
                buf_append_string(out, "%EF%BF%BD");
            }
            i += length > 0 ? length : bad;
        }
        plain = i;
    }
    buf_append(out, bytes.at + plain, n - plain);
}
