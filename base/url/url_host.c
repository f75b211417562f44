/* Hosts of URLs: the URL standard's section 3. Names become A-labels by UTS #46, non-transitional,
 * without checks of hyphens and lengths, which libidn2 cannot leave out; hence ICU (docs/URLS.md).
 */
#include <unicode/uidna.h>
#include <unicode/utf8.h>

#include "base/url/url_host.h"

#include "base/ascii.h"
#include "base/url/url_percent.h"

enum { DOMAIN_MAXIMUM = 2048 };

static const UIDNA *
idna(void)
{
    static UIDNA *opened;
    UIDNA *known = __atomic_load_n(&opened, __ATOMIC_ACQUIRE);
    if (known == NULL) {
        UErrorCode error = U_ZERO_ERROR;
        UIDNA *fresh = uidna_openUTS46(
            UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII, &error);
        if (U_FAILURE(error)) {
            return NULL;
        }
        if (__atomic_compare_exchange_n(&opened, &known, fresh, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            return fresh;
        }
        uidna_close(fresh);
    }
    return known;
}

static enum status
fail(struct reason *why, const char *what, struct slice host)
{
    return status_fail(why, STATUS_BAD_INPUT, "%s in host \"%.*s\"", what,
                       (int)(host.length < 200 ? host.length : 200), host.at);
}

static bool
is_forbidden_host_character(unsigned char c)
{
    return c == 0 || c == '\t' || c == '\n' || c == '\r' || strchr(" #/:<>?@[\\]^|", c) != NULL;
}

static bool
is_forbidden_domain_character(unsigned char c)
{
    return is_forbidden_host_character(c) || c <= 0x1f || c == '%' || c == 0x7f;
}

/* ---- IPv4 ---- */

/* Decimal, octal or hexadecimal; false when it is no number. Saturates past 32 bits. */
static bool
ipv4_number(struct slice text, uint64_t *number)
{
    unsigned radix = 10;
    *number = 0;
    if (text.length == 0) {
        return false;
    }
    if (text.length >= 2 && text.at[0] == '0') {
        const bool hexadecimal = (text.at[1] | 0x20) == 'x';
        radix = hexadecimal ? 16 : 8;
        text = slice_of(text.at + (hexadecimal ? 2 : 1), text.length - (hexadecimal ? 2 : 1));
    }
    for (size_t i = 0; i < text.length; i++) {
        const int digit = ascii_hex_value(text.at[i]);
        if (digit < 0 || (unsigned)digit >= radix) {
            return false;
        }
        *number = *number * radix + (unsigned)digit;
        if (*number > UINT32_MAX) {
            *number = (uint64_t)UINT32_MAX + 1;
        }
    }
    return true;
}

/* Takes the part before the next dot off *rest; false when nothing is left. */
static bool
next_label(struct slice *rest, struct slice *label)
{
    if (rest->at == NULL) {
        return false;
    }
    const size_t dot = slice_find(*rest, '.');
    *label = slice_of(rest->at, dot);
    *rest = dot == rest->length ? (struct slice){0}
                                : slice_of(rest->at + dot + 1, rest->length - dot - 1);
    return true;
}

static struct slice
without_final_dot(struct slice host)
{
    return host.length > 0 && host.at[host.length - 1] == '.' ? slice_of(host.at, host.length - 1)
                                                              : host;
}

static bool
ends_in_number(struct slice host)
{
    uint64_t number = 0;
    host = without_final_dot(host);
    size_t start = host.length;
    while (start > 0 && host.at[start - 1] != '.') {
        start--;
    }
    const struct slice last = slice_of(host.at + start, host.length - start);
    if (last.length == 0 || !ascii_is_digit(last.at[0])) {
        return false; /* 0x1f begins with a digit, too */
    }
    bool digits = true;
    for (size_t i = 0; i < last.length; i++) {
        digits = digits && ascii_is_digit(last.at[i]);
    }
    return digits || ipv4_number(last, &number);
}

static enum status
ipv4_parse(struct slice host, struct buf *out, struct reason *why)
{
    uint64_t numbers[4];
    size_t n = 0;
    struct slice rest = without_final_dot(host);
    struct slice label;
    while (next_label(&rest, &label)) {
        if (n == 4 || !ipv4_number(label, &numbers[n])) {
            return fail(why, "no IPv4 address", host);
        }
        n++;
    }
    for (size_t i = 0; i + 1 < n; i++) {
        if (numbers[i] > 255) {
            return fail(why, "IPv4 address out of range", host);
        }
    }
    if (n == 0 || numbers[n - 1] >= (uint64_t)1 << (8 * (5 - n))) {
        return fail(why, "IPv4 address out of range", host);
    }
    uint64_t address = numbers[n - 1];
    for (size_t i = 0; i + 1 < n; i++) {
        address |= numbers[i] << (8 * (3 - i));
    }
    return buf_printf(out, "%u.%u.%u.%u", (unsigned)(address >> 24) & 255,
                      (unsigned)(address >> 16) & 255, (unsigned)(address >> 8) & 255,
                      (unsigned)address & 255);
}

/* ---- IPv6 ---- */

/* The dotted quad at the end of an address into two pieces. */
static bool
ipv6_tail(struct slice text, uint16_t pieces[2])
{
    struct slice label;
    unsigned parts[4];
    size_t n = 0;
    while (next_label(&text, &label)) {
        unsigned value = 0;
        if (n == 4 || label.length == 0 || label.length > 3 ||
            (label.length > 1 && label.at[0] == '0')) {
            return false;
        }
        for (size_t i = 0; i < label.length; i++) {
            if (label.at[i] < '0' || label.at[i] > '9') {
                return false;
            }
            value = value * 10 + (unsigned)(label.at[i] - '0');
        }
        if (value > 255) {
            return false;
        }
        parts[n++] = value;
    }
    if (n != 4) {
        return false;
    }
    pieces[0] = (uint16_t)(parts[0] << 8 | parts[1]);
    pieces[1] = (uint16_t)(parts[2] << 8 | parts[3]);
    return true;
}

/* Pieces from text up to its end; -1 when malformed, else how many. *compress is the place of
 * "::", or stays as it was. */
static int
ipv6_pieces(struct slice text, uint16_t pieces[8], int *compress)
{
    size_t i = 0;
    int n = 0;
    if (slice_starts(text, SLICE("::"))) {
        i = 2;
        *compress = 0;
    } else if (text.length == 0 || text.at[0] == ':') {
        return -1;
    }
    while (i < text.length) {
        unsigned value = 0;
        size_t digits = 0;
        const size_t start = i;
        if (n == 8) {
            return -1;
        }
        if (text.at[i] == ':') {
            if (*compress >= 0) {
                return -1;
            }
            *compress = n;
            i++;
            continue;
        }
        while (i < text.length && digits < 4 && ascii_hex_value(text.at[i]) >= 0) {
            value = value << 4 | (unsigned)ascii_hex_value(text.at[i++]);
            digits++;
        }
        if (i < text.length && text.at[i] == '.') {
            const struct slice tail = slice_of(text.at + start, text.length - start);
            return digits > 0 && n <= 6 && ipv6_tail(tail, pieces + n) ? n + 2 : -1;
        }
        if (digits == 0 || (i < text.length && text.at[i] != ':')) {
            return -1;
        }
        pieces[n++] = (uint16_t)value;
        if (i < text.length && ++i == text.length) {
            return -1;
        }
    }
    return n;
}

static void
ipv6_serialise(const uint16_t pieces[8], struct buf *out)
{
    int best = -1;
    int best_length = 1;
    for (int i = 0; i < 8; i++) {
        int n = 0;
        while (i + n < 8 && pieces[i + n] == 0) {
            n++;
        }
        if (n > best_length) {
            best = i;
            best_length = n;
        }
    }
    buf_append_char(out, '[');
    for (int i = 0; i < 8; i++) {
        if (i == best) {
            buf_append_string(out, i == 0 ? "::" : ":");
            i += best_length - 1;
            continue;
        }
        buf_printf(out, "%x", (unsigned)pieces[i]);
        if (i < 7) {
            buf_append_char(out, ':');
        }
    }
    buf_append_char(out, ']');
}

static enum status
ipv6_parse(struct slice text, struct buf *out, struct reason *why)
{
    uint16_t found[8] = {0};
    uint16_t pieces[8] = {0};
    int compress = -1;
    const int n = ipv6_pieces(text, found, &compress);
    if (n < 0 || (compress < 0 && n != 8) || (compress >= 0 && n == 8)) {
        return fail(why, "no IPv6 address", text);
    }
    const int head = compress < 0 ? 8 : compress;
    for (int i = 0; i < n; i++) {
        pieces[i < head ? i : 8 - n + i] = found[i];
    }
    ipv6_serialise(pieces, out);
    return STATUS_OK;
}

/* ---- names ---- */

static bool
is_ascii(struct slice domain)
{
    for (size_t i = 0; i < domain.length; i++) {
        if ((unsigned char)domain.at[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

static void
percent_decode(struct slice text, struct buf *out)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.at[i];
        if (c == '%' && i + 2 < text.length && ascii_hex_value(text.at[i + 1]) >= 0 &&
            ascii_hex_value(text.at[i + 2]) >= 0) {
            c = (char)(ascii_hex_value(text.at[i + 1]) << 4 | ascii_hex_value(text.at[i + 2]));
            i += 2;
        }
        buf_append_char(out, c);
    }
}

/* What UTS #46 of Unicode 16 maps or ignores and that of Unicode 15.0 (ICU 72) does not: applied
 * first, it is no change to a newer ICU. to: code point of `first`, the others follow; 0: ignored.
 */
static const struct {
    uint32_t first, last, to;
} newer_mappings[] = {
    {0x04c0, 0x04c0, 0x04cf},   {0x10a0, 0x10c5, 0x2d00},   {0x115f, 0x1160, 0},
    {0x17b4, 0x17b5, 0},        {0x180e, 0x180e, 0},        {0x1e9e, 0x1e9e, 0x00df},
    {0x2061, 0x2063, 0},        {0x206a, 0x206f, 0},        {0x2132, 0x2132, 0x214e},
    {0x2183, 0x2183, 0x2184},   {0x3164, 0x3164, 0},        {0xffa0, 0xffa0, 0},
    {0x1d173, 0x1d17a, 0},      {0x2f868, 0x2f868, 0x36fc}, {0x2f874, 0x2f874, 0x5f33},
    {0x2f91f, 0x2f91f, 0x43ab}, {0x2f95f, 0x2f95f, 0x7aee}, {0x2f9bf, 0x2f9bf, 0x4d57},
};

static void
append_newer_mapping(struct buf *out, uint32_t c, struct slice bytes)
{
    for (size_t i = 0; i < sizeof newer_mappings / sizeof newer_mappings[0]; i++) {
        if (c >= newer_mappings[i].first && c <= newer_mappings[i].last) {
            uint8_t text[4];
            int32_t n = 0;
            if (newer_mappings[i].to != 0) {
                const uint32_t to = newer_mappings[i].to + (c - newer_mappings[i].first);
                U8_APPEND_UNSAFE(text, n, to);
            }
            buf_append(out, text, (size_t)n);
            return;
        }
    }
    buf_append_slice(out, bytes);
}

static void
append_newer_mappings(struct buf *out, struct slice domain)
{
    int32_t i = 0;
    while ((size_t)i < domain.length) {
        const int32_t start = i;
        UChar32 c = 0;
        U8_NEXT(domain.at, i, (int32_t)domain.length, c);
        append_newer_mapping(out, c < 0 ? 0 : (uint32_t)c,
                             slice_of(domain.at + start, (size_t)(i - start)));
    }
}

static enum status
unicode_to_ascii(struct slice domain, struct buf *out, struct reason *why)
{
    enum {
        TOLERATED = UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG |
                    UIDNA_ERROR_DOMAIN_NAME_TOO_LONG | UIDNA_ERROR_LEADING_HYPHEN |
                    UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4
    };
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    UErrorCode error = U_ZERO_ERROR;
    const int32_t room = DOMAIN_MAXIMUM * 4;
    char *at = buf_reserve(out, (size_t)room);
    const UIDNA *tables = idna();
    if (at == NULL || tables == NULL) {
        return status_fail(why, STATUS_SYSTEM, "cannot map an internationalised host name");
    }
    const int32_t length =
        uidna_nameToASCII_UTF8(tables, domain.at, (int32_t)domain.length, at, room, &info, &error);
    if (U_FAILURE(error) || length < 0 || length > room ||
        (info.errors & ~(uint32_t)TOLERATED) != 0) {
        return fail(why, "no internationalised name (UTS 46)", domain);
    }
    buf_commit(out, (size_t)length);
    return STATUS_OK;
}

/* Names in ASCII are never refused for their labels, as browsers do. */
static enum status
domain_to_ascii(struct slice domain, struct buf *out, struct reason *why)
{
    if (is_ascii(domain)) {
        for (size_t i = 0; i < domain.length; i++) {
            const char c = domain.at[i];
            buf_append_char(out, ascii_lower(c));
        }
        return STATUS_OK;
    }
    struct buf mapped;
    buf_init(&mapped, (size_t)DOMAIN_MAXIMUM * 2);
    append_newer_mappings(&mapped, domain);
    const struct slice name = mapped.length > 0 ? buf_slice(&mapped) : SLICE("");
    const enum status status = unicode_to_ascii(name, out, why);
    buf_release(&mapped);
    return status;
}

/* Tells whether the name can be written as it stands, as most names can. */
static bool
is_plain_name(struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        if (!(c >= 'a' && c <= 'z') && !ascii_is_digit(c) && c != '.' && c != '-') {
            return false;
        }
    }
    return text.length > 0 && text.length <= DOMAIN_MAXIMUM && !ends_in_number(text);
}

static enum status
domain_parse(struct slice text, struct buf *out, struct reason *why)
{
    if (is_plain_name(text)) {
        return buf_append_slice(out, text);
    }
    struct buf decoded;
    struct buf ascii;
    buf_init(&decoded, DOMAIN_MAXIMUM);
    buf_init(&ascii, (size_t)DOMAIN_MAXIMUM * 4 + 1);
    if (slice_find(text, '%') < text.length) {
        percent_decode(text, &decoded);
        text = buf_slice(&decoded);
    }
    enum status status = decoded.overflowed || text.length > DOMAIN_MAXIMUM
                             ? fail(why, "too many bytes", slice_of(text.at, 40))
                             : domain_to_ascii(text, &ascii, why);
    const struct slice host = buf_slice(&ascii);
    if (status == STATUS_OK && host.length == 0) {
        status = fail(why, "nothing", text);
    }
    for (size_t i = 0; status == STATUS_OK && i < host.length; i++) {
        if (is_forbidden_domain_character((unsigned char)host.at[i])) {
            status = fail(why, "a forbidden character", text);
        }
    }
    if (status == STATUS_OK) {
        status = ends_in_number(host) ? ipv4_parse(host, out, why) : buf_append_slice(out, host);
    }
    buf_release(&ascii);
    buf_release(&decoded);
    return status;
}

static enum status
opaque_parse(struct slice text, struct buf *out, struct reason *why)
{
    for (size_t i = 0; i < text.length; i++) {
        if (is_forbidden_host_character((unsigned char)text.at[i])) {
            return fail(why, "a forbidden character", text);
        }
    }
    url_append_encoded(out, text, ENCODE_CONTROL);
    return STATUS_OK;
}

enum status
url_host_parse(struct slice text, bool special, struct buf *out, struct reason *why)
{
    if (text.length > 0 && text.at[0] == '[') {
        if (text.at[text.length - 1] != ']') {
            return fail(why, "an unclosed bracket", text);
        }
        return ipv6_parse(slice_of(text.at + 1, text.length - 2), out, why);
    }
    return special ? domain_parse(text, out, why) : opaque_parse(text, out, why);
}
