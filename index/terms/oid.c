#include "index/terms/oid.h"

#include <stdio.h>

#include "rdf/core/vocabulary.h"

#define XSD_DATE XSD_NAMESPACE "date"
#define XSD_DATETIME XSD_NAMESPACE "dateTime"

enum { INTEGER_BIAS_BIT = 55, INTEGER_DIGITS = 16 };
/* The least integer with a digit more. */
#define INTEGER_END INT64_C(10000000000000000)
/* Fields of dates from the highest bit down; milliseconds + 1, 0: no fraction written. */
enum {
    MILLISECOND_BITS = 10,
    SECOND_SHIFT = MILLISECOND_BITS,
    MINUTE_SHIFT = SECOND_SHIFT + 6,
    HOUR_SHIFT = MINUTE_SHIFT + 6,
    DAY_SHIFT = HOUR_SHIFT + 5,
    MONTH_SHIFT = DAY_SHIFT + 5,
    YEAR_SHIFT = MONTH_SHIFT + 4
};

enum oid_kind
oid_kind_of(const struct term *term)
{
    switch (term->kind) {
    case TERM_IRI:
        return OID_KIND_IRI;
    case TERM_BLANK:
        return OID_KIND_BLANK;
    case TERM_LITERAL:
        if (term->language.length > 0) {
            return OID_KIND_LANGUAGE;
        }
        return term->datatype.length == 0 || slice_is(term->datatype, XSD_STRING) ? OID_KIND_STRING
                                                                                  : OID_KIND_TYPED;
    default:
        return OID_KIND_NONE;
    }
}

static oid
make_inline(enum oid_inline type, uint64_t value)
{
    return (oid)type << OID_INLINE_BITS | value;
}

oid
oid_inline_integer(int64_t integer)
{
    const int64_t bias = (int64_t)1 << INTEGER_BIAS_BIT;
    return integer > -INTEGER_END && integer < INTEGER_END
               ? make_inline(OID_INLINE_INTEGER, (uint64_t)(integer + bias))
               : OID_NONE;
}

static oid
inline_integer(struct slice text)
{
    const bool negative = text.length > 0 && text.at[0] == '-';
    const size_t first = negative ? 1 : 0;
    const size_t length = text.length - first;
    if (length == 0 || length > INTEGER_DIGITS || (text.at[first] == '0' && text.length > 1)) {
        return OID_NONE;
    }
    int64_t value = 0;
    for (size_t i = first; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9') {
            return OID_NONE;
        }
        value = value * 10 + (text.at[i] - '0');
    }
    return oid_inline_integer(negative ? -value : value);
}

/* Reads exactly n digits at *at. */
static bool
digits(struct slice text, size_t *at, unsigned n, uint64_t *value)
{
    if (text.length - *at < n) {
        return false;
    }
    *value = 0;
    for (unsigned i = 0; i < n; i++) {
        const char c = text.at[(*at)++];
        if (c < '0' || c > '9') {
            return false;
        }
        *value = *value * 10 + (uint64_t)(c - '0');
    }
    return true;
}

static bool
expect(struct slice text, size_t *at, char c)
{
    return *at < text.length && text.at[(*at)++] == c;
}

/* "2026-11-20" */
static bool
packed_date(struct slice text, size_t *at, uint64_t *value)
{
    uint64_t year, month, day;
    if (!digits(text, at, 4, &year) || !expect(text, at, '-') || !digits(text, at, 2, &month) ||
        !expect(text, at, '-') || !digits(text, at, 2, &day) || month > 15 || day > 31) {
        return false;
    }
    *value = year << YEAR_SHIFT | month << MONTH_SHIFT | day << DAY_SHIFT;
    return true;
}

/* "10:00:00", perhaps with exactly three digits of fraction. */
static bool
packed_time(struct slice text, size_t *at, uint64_t *value)
{
    uint64_t hour, minute, second, milliseconds = 0;
    if (!digits(text, at, 2, &hour) || !expect(text, at, ':') || !digits(text, at, 2, &minute) ||
        !expect(text, at, ':') || !digits(text, at, 2, &second) || hour > 31 || minute > 63 ||
        second > 63) {
        return false;
    }
    if (*at < text.length && text.at[*at] == '.') {
        ++*at;
        if (!digits(text, at, 3, &milliseconds)) {
            return false;
        }
        milliseconds++;
    }
    *value |= hour << HOUR_SHIFT | minute << MINUTE_SHIFT | second << SECOND_SHIFT | milliseconds;
    return true;
}

static oid
inline_date(struct slice text)
{
    size_t at = 0;
    uint64_t value;
    if (!packed_date(text, &at, &value) || at != text.length) {
        return OID_NONE;
    }
    return make_inline(OID_INLINE_DATE, value);
}

static oid
inline_datetime(struct slice text)
{
    size_t at = 0;
    uint64_t value;
    if (!packed_date(text, &at, &value) || !expect(text, &at, 'T') ||
        !packed_time(text, &at, &value)) {
        return OID_NONE;
    }
    if (at == text.length) {
        return make_inline(OID_INLINE_DATETIME, value);
    }
    return expect(text, &at, 'Z') && at == text.length ? make_inline(OID_INLINE_DATETIME_UTC, value)
                                                       : OID_NONE;
}

enum term_kind
oid_term_kind(oid id)
{
    const enum oid_kind kind = oid_kind(id);
    return kind == OID_KIND_IRI ? TERM_IRI : kind == OID_KIND_BLANK ? TERM_BLANK : TERM_LITERAL;
}

static bool
inline_datatype(enum oid_inline type, struct slice *iri)
{
    switch (type) {
    case OID_INLINE_INTEGER:
        *iri = SLICE(XSD_INTEGER);
        return true;
    case OID_INLINE_BOOLEAN:
        *iri = SLICE(XSD_BOOLEAN);
        return true;
    case OID_INLINE_DATE:
        *iri = SLICE(XSD_DATE);
        return true;
    case OID_INLINE_DATETIME:
    case OID_INLINE_DATETIME_UTC:
        *iri = SLICE(XSD_DATETIME);
        return true;
    }
    return false;
}

bool
oid_datatype(oid id, struct slice *iri)
{
    switch (oid_kind(id)) {
    case OID_KIND_STRING:
        *iri = SLICE(XSD_STRING);
        return true;
    case OID_KIND_LANGUAGE:
        *iri = SLICE(RDF_LANG_STRING);
        return true;
    case OID_KIND_NONE:
        return inline_datatype((enum oid_inline)(id >> OID_INLINE_BITS), iri);
    default:
        return false;
    }
}

oid
oid_inline_of(const struct term *term)
{
    static const struct slice xsd = {XSD_NAMESPACE, sizeof(XSD_NAMESPACE) - 1};
    if (term->kind != TERM_LITERAL || term->language.length > 0 ||
        !slice_starts(term->datatype, xsd) || term->value.length >= OID_INLINE_TEXT) {
        return OID_NONE;
    }
    if (slice_is(term->datatype, XSD_INTEGER)) {
        return inline_integer(term->value);
    }
    if (slice_is(term->datatype, XSD_BOOLEAN)) {
        return slice_is(term->value, "true")    ? make_inline(OID_INLINE_BOOLEAN, 1)
               : slice_is(term->value, "false") ? make_inline(OID_INLINE_BOOLEAN, 0)
                                                : OID_NONE;
    }
    if (slice_is(term->datatype, XSD_DATE)) {
        return inline_date(term->value);
    }
    if (slice_is(term->datatype, XSD_DATETIME)) {
        return inline_datetime(term->value);
    }
    return OID_NONE;
}

static unsigned
field(uint64_t value, int shift, int bits)
{
    return (unsigned)(value >> shift & (((uint64_t)1 << bits) - 1));
}

/* ---- order of values ---- */

enum { HOURS = 24, MONTH_SPAN = 5 /* from one December to the next January in packed fields */ };

static bool
is_day(uint64_t value)
{
    static const uint8_t days[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0};
    const unsigned day = field(value, DAY_SHIFT, 5);
    return field(value, YEAR_SHIFT, 14) > 0 && day > 0 && day <= days[field(value, MONTH_SHIFT, 4)];
}

/* Tells whether the fields are those of one moment only, but for its milliseconds. */
static bool
is_plain(oid id)
{
    const uint64_t value = id & OID_INLINE_MASK;
    switch ((enum oid_inline)(id >> OID_INLINE_BITS)) {
    case OID_INLINE_INTEGER:
        return true;
    case OID_INLINE_DATE:
        return is_day(value);
    case OID_INLINE_DATETIME:
    case OID_INLINE_DATETIME_UTC:
        return is_day(value) && field(value, HOUR_SHIFT, 5) < HOURS &&
               field(value, MINUTE_SHIFT, 6) < 60 && field(value, SECOND_SHIFT, 6) < 60;
    default:
        return false;
    }
}

bool
oid_inline_value(oid id, struct oid_value *value)
{
    const uint64_t bits = id & OID_INLINE_MASK;
    if ((id & (OID_STORED | OID_LOCAL)) || !is_plain(id)) {
        return false;
    }
    const enum oid_inline type = (enum oid_inline)(id >> OID_INLINE_BITS);
    const unsigned milliseconds = field(bits, 0, MILLISECOND_BITS);
    *value = (struct oid_value){.kind = type == OID_INLINE_INTEGER ? OID_VALUE_INTEGER
                                        : type == OID_INLINE_DATE  ? OID_VALUE_DATE
                                                                   : OID_VALUE_DATE_TIME,
                                .integer = (int64_t)bits - ((int64_t)1 << INTEGER_BIAS_BIT),
                                .year = (int)field(bits, YEAR_SHIFT, 14),
                                .month = (int)field(bits, MONTH_SHIFT, 4),
                                .day = (int)field(bits, DAY_SHIFT, 5),
                                .hour = (int)field(bits, HOUR_SHIFT, 5),
                                .minute = (int)field(bits, MINUTE_SHIFT, 6),
                                .milliseconds = (int)(field(bits, SECOND_SHIFT, 6) * 1000 +
                                                      (milliseconds > 0 ? milliseconds - 1 : 0)),
                                .utc = type == OID_INLINE_DATETIME_UTC};
    return true;
}

bool
oid_inline_before(oid a, oid b)
{
    const uint64_t type = a >> OID_INLINE_BITS;
    if (type != b >> OID_INLINE_BITS || a >= b) {
        return false;
    }
    /* Neighbours may be one moment written with and without milliseconds. */
    return type == OID_INLINE_INTEGER || (b - a > 1 && is_plain(a) && is_plain(b));
}

bool
oid_inline_span(oid id, struct oid_span *span)
{
    const uint64_t months = (uint64_t)MONTH_SPAN << MONTH_SHIFT;
    const oid first = id & ~OID_INLINE_MASK, last = id | OID_INLINE_MASK;
    if (!is_plain(id)) {
        return false;
    }
    /* The hour 24 is the next day's 0, which may be the next month's. */
    const enum oid_inline type = (enum oid_inline)(id >> OID_INLINE_BITS);
    const bool midnight = (type == OID_INLINE_DATETIME || type == OID_INLINE_DATETIME_UTC) &&
                          field(id, HOUR_SHIFT, 5) == 0;
    const uint64_t before = midnight ? months : 1;
    *span = (struct oid_span){.first = first,
                              .low = id - first > before ? id - before : first,
                              .high = id < last ? id + 1 : last,
                              .last = last};
    return true;
}

static int
print_datetime(uint64_t value, const char *zone, char text[OID_INLINE_TEXT])
{
    const unsigned milliseconds = field(value, 0, MILLISECOND_BITS);
    char fraction[16] = "";
    if (milliseconds > 0) {
        snprintf(fraction, sizeof(fraction), ".%03u", milliseconds - 1);
    }
    return snprintf(text, OID_INLINE_TEXT, "%04u-%02u-%02uT%02u:%02u:%02u%s%s",
                    field(value, YEAR_SHIFT, 14), field(value, MONTH_SHIFT, 4),
                    field(value, DAY_SHIFT, 5), field(value, HOUR_SHIFT, 5),
                    field(value, MINUTE_SHIFT, 6), field(value, SECOND_SHIFT, 6), fraction, zone);
}

bool
oid_inline_term(oid id, char text[OID_INLINE_TEXT], struct term *term)
{
    const uint64_t value = id & OID_INLINE_MASK;
    const enum oid_inline type = (enum oid_inline)(id >> OID_INLINE_BITS);
    struct slice datatype;
    int length;
    if ((id & (OID_STORED | OID_LOCAL)) || !inline_datatype(type, &datatype)) {
        return false;
    }
    switch (type) {
    case OID_INLINE_INTEGER:
        length = snprintf(text, OID_INLINE_TEXT, "%lld",
                          (long long)value - ((long long)1 << INTEGER_BIAS_BIT));
        break;
    case OID_INLINE_BOOLEAN:
        length = snprintf(text, OID_INLINE_TEXT, "%s", value ? "true" : "false");
        break;
    case OID_INLINE_DATE:
        length = snprintf(text, OID_INLINE_TEXT, "%04u-%02u-%02u", field(value, YEAR_SHIFT, 14),
                          field(value, MONTH_SHIFT, 4), field(value, DAY_SHIFT, 5));
        break;
    case OID_INLINE_DATETIME:
    case OID_INLINE_DATETIME_UTC:
        length = print_datetime(value, type == OID_INLINE_DATETIME_UTC ? "Z" : "", text);
        break;
    default:
        return false;
    }
    *term = (struct term){
        .kind = TERM_LITERAL, .value = slice_of(text, (size_t)length), .datatype = datatype};
    return true;
}
