#include "rdf/core/lexical.h"

#include "rdf/core/scan.h"

/* Short names for one table. */
enum {
    IRI = LEXICAL_IRI_STOP,
    QUO = LEXICAL_IRI_STOP | LEXICAL_STRING_STOP,
    DSH = LEXICAL_NAME,
    UND = LEXICAL_NAME | LEXICAL_NAME_START,
    DIG = LEXICAL_NAME | LEXICAL_HEX | LEXICAL_DIGIT,
    LET = LEXICAL_NAME | LEXICAL_NAME_START | LEXICAL_LETTER,
    HEX = LET | LEXICAL_HEX,
    SPC = LEXICAL_IRI_STOP | LEXICAL_SPACE,
    EOL = SPC | LEXICAL_STRING_STOP
};

/* clang-format off */
const uint8_t lexical_class[256] = {
    /* 00 */ IRI, IRI, IRI, IRI, IRI, IRI, IRI, IRI, IRI, SPC, EOL, IRI, IRI, EOL, IRI, IRI,
    /* 10 */ IRI, IRI, IRI, IRI, IRI, IRI, IRI, IRI, IRI, IRI, IRI, IRI, IRI, IRI, IRI, IRI,
    /* 20 */ SPC, 0,   QUO, 0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   DSH, 0,   0,
    /* 30 */ DIG, DIG, DIG, DIG, DIG, DIG, DIG, DIG, DIG, DIG, 0,   0,   IRI, 0,   IRI, 0,
    /* 40 */ 0,   HEX, HEX, HEX, HEX, HEX, HEX, LET, LET, LET, LET, LET, LET, LET, LET, LET,
    /* 50 */ LET, LET, LET, LET, LET, LET, LET, LET, LET, LET, LET, 0,   QUO, 0,   IRI, UND,
    /* 60 */ IRI, HEX, HEX, HEX, HEX, HEX, HEX, LET, LET, LET, LET, LET, LET, LET, LET, LET,
    /* 70 */ LET, LET, LET, LET, LET, LET, LET, LET, LET, LET, LET, IRI, IRI, IRI, 0,   0,
};
/* clang-format on */

/* Length of the well-formed sequence at `at`, which starts with a byte past ASCII; 0: none. */
static int
utf8_sequence(const unsigned char *at, size_t left)
{
    const unsigned char lead = at[0];
    const int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || left < (size_t)length) {
        return 0;
    }
    const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (at[1] < low || at[1] > high) {
        return 0;
    }
    for (int i = 2; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

size_t
lexical_utf8_prefix(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t i = 0;
    while (i < length) {
        uint64_t word;
        while (length - i >= sizeof word) {
            memcpy(&word, at + i, sizeof word);
            if (word & UINT64_C(0x8080808080808080)) {
                break;
            }
            i += sizeof word;
        }
        while (i < length && at[i] < 0x80) {
            i++;
        }
        while (i < length && at[i] >= 0x80) {
            const int sequence = utf8_sequence(at + i, length - i);
            if (sequence == 0) {
                return i;
            }
            i += (size_t)sequence;
        }
    }
    return i;
}

bool
lexical_utf8_valid(const char *at, size_t length)
{
    return lexical_utf8_prefix(at, length) == length;
}

uint32_t
lexical_decode(const char *text, int *length)
{
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80) {
        *length = 1;
        return at[0];
    }
    if (at[0] < 0xE0) {
        *length = 2;
        return (uint32_t)(at[0] & 0x1F) << 6 | (at[1] & 0x3F);
    }
    if (at[0] < 0xF0) {
        *length = 3;
        return (uint32_t)(at[0] & 0x0F) << 12 | (uint32_t)(at[1] & 0x3F) << 6 | (at[2] & 0x3F);
    }
    *length = 4;
    return (uint32_t)(at[0] & 0x07) << 18 | (uint32_t)(at[1] & 0x3F) << 12 |
           (uint32_t)(at[2] & 0x3F) << 6 | (at[3] & 0x3F);
}

int
lexical_encode(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xE0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3F));
        to[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3F));
    to[2] = (char)(0x80 | (code >> 6 & 0x3F));
    to[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

uint32_t
lexical_escape(const char *at, const char *end, int *length)
{
    if (end - at < 6 || (at[1] != 'u' && at[1] != 'U')) {
        return UINT32_MAX;
    }
    const int digits = at[1] == 'u' ? 4 : 8;
    if (end - at < 2 + digits) {
        return UINT32_MAX;
    }
    uint32_t code = 0;
    for (int i = 2; i < 2 + digits; i++) {
        if (!lexical_is(at[i], LEXICAL_HEX)) {
            return UINT32_MAX;
        }
        const uint32_t digit =
            at[i] <= '9' ? (uint32_t)(at[i] - '0') : (uint32_t)((at[i] | 0x20) - 'a' + 10);
        code = code << 4 | digit;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        return UINT32_MAX;
    }
    *length = 2 + digits;
    return code;
}

/* Returns what \c stands for in a string (t b n r f " ' \), or 0. */
static char
lexical_echar(char c)
{
    static const char meanings[128] = {['t'] = '\t', ['b'] = '\b', ['n'] = '\n',  ['r'] = '\r',
                                       ['f'] = '\f', ['"'] = '"',  ['\''] = '\'', ['\\'] = '\\'};
    return (unsigned char)c < 128 ? meanings[(unsigned char)c] : 0;
}

bool
lexical_unescape_iri(struct slice text, char *to, size_t *length)
{
    const char *at = text.at, *end = text.at + text.length;
    char *out = to;
    while (at < end) {
        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        int taken = 0;
        const uint32_t code = lexical_escape(at, end, &taken);
        if (code == UINT32_MAX || (code < 0x80 && lexical_is((char)code, LEXICAL_IRI_STOP))) {
            return false;
        }
        out += lexical_encode(code, out);
        at += taken;
    }
    *length = (size_t)(out - to);
    return true;
}

bool
lexical_unescape_string(struct slice text, char *to, size_t *length, const char **bad)
{
    const char *at = text.at, *end = text.at + text.length;
    char *out = to;
    while (at < end) {
        const char *backslash = memchr(at, '\\', (size_t)(end - at));
        const size_t plain = (size_t)((backslash ? backslash : end) - at);
        memcpy(out, at, plain);
        out += plain;
        at += plain;
        if (at == end) {
            break;
        }
        const char meaning = end - at > 1 ? lexical_echar(at[1]) : 0;
        if (meaning != 0) {
            *out++ = meaning;
            at += 2;
            continue;
        }
        int taken = 0;
        const uint32_t code = lexical_escape(at, end, &taken);
        if (code == UINT32_MAX) {
            *bad = at;
            return false;
        }
        out += lexical_encode(code, out);
        at += taken;
    }
    *length = (size_t)(out - to);
    return true;
}

/* Ranges of PN_CHARS_BASE past ASCII, in order. */
static const struct {
    uint32_t first, last;
} name_start_ranges[] = {
    {0xC0, 0xD6},     {0xD8, 0xF6},     {0xF8, 0x2FF},    {0x370, 0x37D},
    {0x37F, 0x1FFF},  {0x200C, 0x200D}, {0x2070, 0x218F}, {0x2C00, 0x2FEF},
    {0x3001, 0xD7FF}, {0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF},
};

bool
lexical_name_start(uint32_t code)
{
    if (code < 0x80) {
        return lexical_is((char)code, LEXICAL_NAME_START);
    }
    for (size_t i = 0; i < sizeof name_start_ranges / sizeof *name_start_ranges; i++) {
        if (code <= name_start_ranges[i].last) {
            return code >= name_start_ranges[i].first;
        }
    }
    return false;
}

static bool
lexical_name(uint32_t code)
{
    if (code < 0x80) {
        return lexical_is((char)code, LEXICAL_NAME);
    }
    return code == 0xB7 || (code >= 0x300 && code <= 0x36F) || code == 0x203F || code == 0x2040 ||
           lexical_name_start(code);
}

int
lexical_name_length(const char *at, const char *end)
{
    if (at >= end) {
        return 0;
    }
    if ((unsigned char)*at < 0x80) {
        return lexical_is(*at, LEXICAL_NAME);
    }
    int length = utf8_sequence((const unsigned char *)at, (size_t)(end - at));
    return length > 0 && lexical_name(lexical_decode(at, &length)) ? length : 0;
}

size_t
lexical_blank_label(const char *start, const char *end)
{
    int length = lexical_name_length(start, end);
    if (length == 0 || (!lexical_is(*start, LEXICAL_DIGIT) &&
                        !lexical_name_start(lexical_decode(start, &length)))) {
        return 0;
    }
    const char *at = start + length;
    const char *last = at; /* behind the last character that may end a label */
    while (at < end) {
        if (*at == '.') {
            at++;
            continue;
        }
        length = lexical_name_length(at, end);
        if (length == 0) {
            break;
        }
        at += length;
        last = at;
    }
    return (size_t)(last - start);
}

bool
lexical_has_scheme(struct slice iri)
{
    if (slice_starts(iri, SLICE("http:"))) {
        return true; /* nearly all */
    }
    if (iri.length == 0 || !lexical_is(iri.at[0], LEXICAL_LETTER)) {
        return false;
    }
    for (size_t i = 1; i < iri.length; i++) {
        const char c = iri.at[i];
        if (c == ':') {
            return true;
        }
        if (!lexical_is(c, LEXICAL_LETTER | LEXICAL_DIGIT) && c != '+' && c != '-' && c != '.') {
            return false;
        }
    }
    return false;
}

bool
lexical_iri_valid(struct slice iri)
{
    unsigned char any = 0;
    return scan_within(iri, LEXICAL_IRI_STOP, &any) == iri.length && lexical_has_scheme(iri) &&
           (any < 0x80 || lexical_utf8_valid(iri.at, iri.length));
}

bool
lexical_language_valid(struct slice tag)
{
    size_t start = 0;
    for (size_t i = 0; i <= tag.length; i++) {
        if (i == tag.length || tag.at[i] == '-') {
            if (i == start) {
                return false;
            }
            start = i + 1;
        } else if (!lexical_is(tag.at[i],
                               start == 0 ? LEXICAL_LETTER : LEXICAL_LETTER | LEXICAL_DIGIT)) {
            return false;
        }
    }
    return true;
}

void
lexical_lower(struct slice text, char *to)
{
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        to[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
}
