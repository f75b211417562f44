#include "transforms/media/media.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <zlib.h>

#include "rdf/core/lexical.h"

/* ---- bytes ---- */

uint8_t
media_u8(struct slice bytes, size_t at)
{
    return at < bytes.length ? (uint8_t)bytes.at[at] : 0;
}

static uint64_t
number_at(struct slice bytes, size_t at, size_t length, enum byte_order order)
{
    uint64_t value = 0;
    if (at > bytes.length || bytes.length - at < length) {
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        const size_t from = order == BIG_ENDIAN_BYTES ? i : length - 1 - i;
        value = value << 8 | (uint8_t)bytes.at[at + from];
    }
    return value;
}

uint16_t
media_u16(struct slice bytes, size_t at, enum byte_order order)
{
    return (uint16_t)number_at(bytes, at, 2, order);
}

uint32_t
media_u24(struct slice bytes, size_t at, enum byte_order order)
{
    return (uint32_t)number_at(bytes, at, 3, order);
}

uint32_t
media_u32(struct slice bytes, size_t at, enum byte_order order)
{
    return (uint32_t)number_at(bytes, at, 4, order);
}

uint64_t
media_u64(struct slice bytes, size_t at, enum byte_order order)
{
    return number_at(bytes, at, 8, order);
}

struct slice
media_part(struct slice bytes, size_t at, size_t length)
{
    if (at >= bytes.length) {
        return slice_of(bytes.at, 0);
    }
    return slice_of(bytes.at + at, length < bytes.length - at ? length : bytes.length - at);
}

struct slice
media_string(struct slice bytes, struct slice *rest)
{
    const size_t end = slice_find(bytes, '\0');
    if (rest) {
        *rest = media_part(bytes, end + 1, SIZE_MAX);
    }
    return slice_of(bytes.at, end);
}

struct slice
media_inflate(struct media *media, struct slice packed)
{
    struct slice plain = {0};
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed.at,
                       .avail_in = packed.length < UINT32_MAX ? (uInt)packed.length : UINT32_MAX};
    if (media->unpacked++ >= MEDIA_UNPACK_PARTS || inflateInit(&stream) != Z_OK) {
        return plain;
    }
    char *room = arena_alloc(&media->transformation->arena, MEDIA_PACKET);
    if (room) {
        stream.next_out = (Bytef *)room;
        stream.avail_out = MEDIA_PACKET;
        const int code = inflate(&stream, Z_FINISH);
        if (code == Z_STREAM_END || code == Z_BUF_ERROR || code == Z_OK) {
            plain = slice_of(room, MEDIA_PACKET - stream.avail_out);
        }
    }
    inflateEnd(&stream);
    return plain;
}

/* ---- the reader ---- */

void
media_begin(struct media *media, struct transformation *transformation, struct reason *why)
{
    *media =
        (struct media){.transformation = transformation, .bytes = transformation->request->bytes};
    media->emitter = transformation_emitter(transformation, &media->sink, why);
    text_init(&media->text);
    buf_init(&media->memory, 16 << 20);
}

enum status
media_end(struct media *media)
{
    text_release(&media->text);
    buf_release(&media->memory);
    return media->emitter.status;
}

void
media_problem(struct media *media, const char *format, ...)
{
    char text[PROBLEM_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    transformation_problem(media->transformation, 0, text);
}

/* ---- statements ---- */

static void
emit_statement(struct media *media, const char *predicate, const struct term *object)
{
    if (media->statements++ < MEDIA_STATEMENTS) {
        emit(&media->emitter, &media->emitter.document, predicate, object);
    }
}

static void
say_typed(struct media *media, const char *predicate, const char *form, struct slice datatype)
{
    struct term object = term_literal(slice_string(form));
    object.datatype = datatype;
    emit_statement(media, predicate, &object);
}

void
media_class(struct media *media, const char *class)
{
    const struct term object = term_iri(slice_string(class));
    emit_statement(media, VOCABULARY_RDF "type", &object);
}

void
media_format(struct media *media)
{
    const struct term object = term_literal(media->transformation->request->type);
    emit_statement(media, VOCABULARY_DCTERMS "format", &object);
}

/* Texts end at a NUL in most containers, and are cut before they are looked at. */
static struct slice
text_bytes(struct slice bytes)
{
    return media_part(bytes, 0, 4 * MEDIA_TEXT);
}

void
media_tagged_text(struct media *media, const char *predicate, struct slice bytes,
                  struct slice language)
{
    struct term object = {.kind = TERM_LITERAL};
    bytes = text_bytes(bytes);
    if (bytes.length == 4 * MEDIA_TEXT) { /* cut: perhaps within a character */
        const size_t whole = lexical_utf8_prefix(bytes.at, bytes.length);
        bytes.length = bytes.length - whole < 4 ? whole : bytes.length;
    }
    if (!lexical_utf8_valid(bytes.at, bytes.length)) {
        media_text_encoded(media, predicate, bytes, "windows-1252");
        return;
    }
    object.value = text_of(&media->text, bytes, MEDIA_TEXT);
    object.language = lexical_language_valid(language) ? language : (struct slice){0};
    if (object.value.length > 0) {
        emit_statement(media, predicate, &object);
    }
}

void
media_text(struct media *media, const char *predicate, struct slice bytes)
{
    media_tagged_text(media, predicate, bytes, (struct slice){0});
}

void
media_text_encoded(struct media *media, const char *predicate, struct slice bytes,
                   const char *encoding)
{
    struct slice text;
    struct reason problem;
    if (encoding_convert(media->transformation->encodings, encoding, text_bytes(bytes),
                         &media->memory, &text, &problem) == STATUS_OK) {
        struct term object = term_literal(text_of(&media->text, text, MEDIA_TEXT));
        if (object.value.length > 0) {
            emit_statement(media, predicate, &object);
        }
    }
}

void
media_integer(struct media *media, const char *predicate, int64_t value)
{
    char form[32];
    snprintf(form, sizeof form, "%lld", (long long)value);
    say_typed(media, predicate, form, SLICE(VOCABULARY_XSD "integer"));
}

void
media_decimal(struct media *media, const char *predicate, double value)
{
    char form[48];
    if (!isfinite(value) || fabs(value) > 1e15) {
        return;
    }
    size_t length = (size_t)snprintf(form, sizeof form, "%.9f", value);
    while (form[length - 1] == '0' && form[length - 2] != '.') {
        form[--length] = '\0';
    }
    say_typed(media, predicate, strcmp(form, "-0.0") == 0 ? "0.0" : form,
              SLICE(VOCABULARY_XSD "decimal"));
}

void
media_size(struct media *media, uint32_t width, uint32_t height)
{
    if (width > 0 && height > 0) {
        media_integer(media, VOCABULARY_EXIF "width", width);
        media_integer(media, VOCABULARY_EXIF "height", height);
    }
}

void
media_link(struct media *media, const char *predicate, struct slice reference)
{
    struct buf *memory = &media->memory;
    struct url url;
    struct reason problem;
    buf_reset(memory);
    reference = slice_trim(reference);
    if (reference.length == 0 || reference.length > URL_MAXIMUM ||
        !lexical_utf8_valid(reference.at, reference.length) || !lexical_has_scheme(reference)) {
        return;
    }
    struct buf iri;
    buf_init(&iri, 64 << 10);
    if (url_parse(reference, NULL, memory, &url, &problem) == STATUS_OK &&
        document_iri(url.href, &iri)) {
        const struct term object = term_iri(buf_slice(&iri));
        if (!slice_is(url.scheme, "javascript") && !slice_is(url.scheme, "data")) {
            emit_statement(media, predicate, &object);
        }
    }
    buf_release(&iri);
}

/* ---- dates ---- */

struct date_cursor {
    const char *at, *end;
};

/* Exactly n digits, or -1 and nothing is read. */
static int
digits(struct date_cursor *cursor, int n)
{
    int value = 0;
    if (cursor->end - cursor->at < n) {
        return -1;
    }
    for (int i = 0; i < n; i++) {
        if (cursor->at[i] < '0' || cursor->at[i] > '9') {
            return -1;
        }
        value = value * 10 + (cursor->at[i] - '0');
    }
    cursor->at += n;
    return value;
}

static bool
one_of(struct date_cursor *cursor, const char *set)
{
    if (cursor->at < cursor->end && *cursor->at && strchr(set, *cursor->at)) {
        cursor->at++;
        return true;
    }
    return false;
}

/* "Z", "+01:00", "+0100", "+01'00'", nothing: as xsd has it. */
static bool
read_zone(struct date_cursor *cursor, char zone[8])
{
    zone[0] = '\0';
    one_of(cursor, " ");
    if (one_of(cursor, "Zz")) {
        strcpy(zone, "Z");
        return true;
    }
    if (cursor->at == cursor->end) {
        return true;
    }
    const char sign = *cursor->at;
    if (!one_of(cursor, "+-")) {
        return false;
    }
    const int hours = digits(cursor, 2);
    one_of(cursor, ":'");
    int minutes = digits(cursor, 2);
    minutes = minutes < 0 ? 0 : minutes;
    if (hours < 0 || hours > 14 || minutes > 59 || (hours == 14 && minutes > 0)) {
        return false;
    }
    snprintf(zone, 8, "%c%02d:%02d", sign, hours, minutes);
    return true;
}

static bool
day_exists(int year, int month, int day)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] &&
           (month != 2 || day < 29 || leap);
}

static bool
read_time(struct date_cursor *cursor, int year, int month, int day, char form[40])
{
    char zone[8];
    const int hour = digits(cursor, 2);
    one_of(cursor, ":");
    const int minute = digits(cursor, 2);
    one_of(cursor, ":");
    int second = digits(cursor, 2);
    second = second < 0 ? 0 : second;
    if (one_of(cursor, ".,")) {
        while (digits(cursor, 1) >= 0) {
        }
    }
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second > 59 ||
        !read_zone(cursor, zone)) {
        return false;
    }
    snprintf(form, 40, "%04u-%02u-%02uT%02u:%02u:%02u%s", (unsigned)year % 10000,
             (unsigned)month % 100, (unsigned)day % 100, (unsigned)hour % 100,
             (unsigned)minute % 100, (unsigned)second % 100, zone);
    return true;
}

bool
media_date_form(struct slice text, char form[40], const char **datatype)
{
    text = slice_trim(text);
    if (slice_starts(text, SLICE("D:"))) {
        text = slice_of(text.at + 2, text.length - 2);
    }
    struct date_cursor cursor = {text.at, text.at + text.length};
    const int year = digits(&cursor, 4);
    one_of(&cursor, "-:/");
    const int month = year > 0 ? digits(&cursor, 2) : -1;
    one_of(&cursor, "-:/");
    const int day = month > 0 ? digits(&cursor, 2) : -1;
    if (year <= 0 || (month >= 0 && !day_exists(year, month, day < 0 ? 1 : day))) {
        return false;
    }
    const bool ended = cursor.at == cursor.end;
    if (month < 0) {
        *datatype = VOCABULARY_XSD "gYear";
        snprintf(form, 40, "%04d", year);
    } else if (day < 0) {
        *datatype = VOCABULARY_XSD "gYearMonth";
        snprintf(form, 40, "%04d-%02d", year, month);
    } else if (ended) {
        *datatype = VOCABULARY_XSD "date";
        snprintf(form, 40, "%04d-%02d-%02d", year, month, day);
    } else {
        *datatype = VOCABULARY_XSD "dateTime";
        one_of(&cursor, "T ");
        return read_time(&cursor, year, month, day, form);
    }
    return ended;
}

void
media_date(struct media *media, const char *predicate, struct slice text)
{
    char form[40];
    const char *datatype;
    text = slice_trim(media_string(text, NULL));
    if (media_date_form(text, form, &datatype)) {
        say_typed(media, predicate, form, slice_string(datatype));
    } else if (text.length > 0 && !slice_starts(text, SLICE("0000"))) {
        media_text(media, predicate, text);
    }
}
