/* Functions on strings: section 17.4.3. Positions and lengths count characters. */
#include <math.h>
#include <stdatomic.h>

#include <unicode/ucasemap.h>

#include "index/query/functions/functions.h"
#include "rdf/core/lexical.h"

enum { TEXT_MAXIMUM = 64 << 20 };

static size_t
characters(struct slice text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++) {
        count += ((unsigned char)text.at[i] & 0xC0) != 0x80;
    }
    return count;
}

/* Offset of the character with this number, or the length. */
static size_t
offset_of(struct slice text, size_t number)
{
    size_t at = 0;
    while (at < text.length) {
        if (((unsigned char)text.at[at] & 0xC0) != 0x80 && number-- == 0) {
            return at;
        }
        at++;
    }
    return at;
}

/* text with the language that `like` has. */
static struct value
text_like(const struct value *like, struct slice text)
{
    struct value value = value_string(text);
    value.kind = like->kind;
    value.term.language = like->term.language;
    return value;
}

/* Section 17.4.3.1.2: the second is simple, or both have the same language. */
static bool
compatible(const struct value *a, const struct value *b)
{
    return value_is_text(a) && value_is_text(b) &&
           (b->kind == VALUE_STRING ||
            (a->kind == VALUE_LANGUAGE && slice_equal_nocase(a->term.language, b->term.language)));
}

bool
apply_strlen(struct evaluation *evaluation, const struct value *arguments, size_t count,
             struct value *out)
{
    (void)evaluation, (void)count;
    if (!value_is_text(&arguments[0])) {
        return false;
    }
    *out = value_integer((int64_t)characters(arguments[0].term.value));
    return true;
}

bool
apply_substr(struct evaluation *evaluation, const struct value *arguments, size_t count,
             struct value *out)
{
    (void)evaluation;
    if (!value_is_text(&arguments[0]) || !value_is_number(&arguments[1]) ||
        (count == 3 && !value_is_number(&arguments[2]))) {
        return false;
    }
    /* fn:substring: characters at positions p with round(start) <= p < round(start) +
     * round(length), the first position being 1. */
    const struct slice text = arguments[0].term.value;
    const double start = floor(value_number(&arguments[1]) + 0.5);
    const double end = count == 3 ? start + floor(value_number(&arguments[2]) + 0.5) : INFINITY;
    const double last = (double)characters(text) + 1;
    const double from = start > 1 ? start : 1;
    const double to = end > last ? last : end;
    if (!(start < to && from < to)) { /* nor any of a start or a length that is no number */
        *out = text_like(&arguments[0], SLICE(""));
        return true;
    }
    const size_t first = offset_of(text, (size_t)from - 1);
    const size_t after = offset_of(text, (size_t)to - 1);
    *out = text_like(&arguments[0], slice_of(text.at + first, after - first));
    return true;
}

/* Full case mapping of no particular language (fn:upper-case, fn:lower-case): it may give several
 * characters for one. */
static const UCaseMap *
case_map(void)
{
    static _Atomic(UCaseMap *) shared;
    UCaseMap *map = atomic_load(&shared);
    if (!map) {
        UErrorCode error = U_ZERO_ERROR;
        UCaseMap *none = NULL;
        map = ucasemap_open("", 0, &error);
        if (map && !atomic_compare_exchange_strong(&shared, &none, map)) {
            ucasemap_close(map);
            map = none;
        }
    }
    return map;
}

static bool
change_case(struct evaluation *evaluation, const struct value *text, bool upper, struct value *out)
{
    const UCaseMap *map = case_map();
    if (!value_is_text(text) || !map || text->term.value.length > TEXT_MAXIMUM) {
        return false;
    }
    /* No character takes more than three times its bytes. */
    const struct slice from = text->term.value;
    const int32_t room = (int32_t)from.length * 3 + 4;
    char *to = arena_alloc(&evaluation->scratch, (size_t)room);
    UErrorCode error = U_ZERO_ERROR;
    if (!to) {
        return false;
    }
    const int32_t length =
        upper ? ucasemap_utf8ToUpper(map, to, room, from.at, (int32_t)from.length, &error)
              : ucasemap_utf8ToLower(map, to, room, from.at, (int32_t)from.length, &error);
    if (U_FAILURE(error)) {
        return false;
    }
    *out = text_like(text, slice_of(to, (size_t)length));
    return true;
}

bool
apply_ucase(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    (void)count;
    return change_case(evaluation, &arguments[0], true, out);
}

bool
apply_lcase(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    (void)count;
    return change_case(evaluation, &arguments[0], false, out);
}

bool
apply_strstarts(struct evaluation *evaluation, const struct value *arguments, size_t count,
                struct value *out)
{
    (void)evaluation, (void)count;
    *out = value_boolean(false);
    if (!compatible(&arguments[0], &arguments[1])) {
        return false;
    }
    out->boolean = slice_starts(arguments[0].term.value, arguments[1].term.value);
    return true;
}

bool
apply_strends(struct evaluation *evaluation, const struct value *arguments, size_t count,
              struct value *out)
{
    (void)evaluation, (void)count;
    if (!compatible(&arguments[0], &arguments[1])) {
        return false;
    }
    const struct slice text = arguments[0].term.value, end = arguments[1].term.value;
    *out =
        value_boolean(text.length >= end.length &&
                      slice_equal(slice_of(text.at + text.length - end.length, end.length), end));
    return true;
}

bool
apply_contains(struct evaluation *evaluation, const struct value *arguments, size_t count,
               struct value *out)
{
    (void)evaluation, (void)count;
    if (!compatible(&arguments[0], &arguments[1])) {
        return false;
    }
    const struct slice text = arguments[0].term.value, part = arguments[1].term.value;
    *out = value_boolean(part.length == 0 || slice_find_slice(text, part) < text.length);
    return true;
}

static bool
part_around(const struct value *arguments, bool before, struct value *out)
{
    if (!compatible(&arguments[0], &arguments[1])) {
        return false;
    }
    const struct slice text = arguments[0].term.value, mark = arguments[1].term.value;
    const size_t at = mark.length ? slice_find_slice(text, mark) : 0;
    if (mark.length && at == text.length) {
        *out = value_string(SLICE(""));
    } else if (before) {
        *out = text_like(&arguments[0], slice_of(text.at, at));
    } else {
        const size_t from = at + mark.length;
        *out = text_like(&arguments[0], slice_of(text.at + from, text.length - from));
    }
    return true;
}

bool
apply_strbefore(struct evaluation *evaluation, const struct value *arguments, size_t count,
                struct value *out)
{
    (void)evaluation, (void)count;
    return part_around(arguments, true, out);
}

bool
apply_strafter(struct evaluation *evaluation, const struct value *arguments, size_t count,
               struct value *out)
{
    (void)evaluation, (void)count;
    return part_around(arguments, false, out);
}

bool
apply_encode_for_uri(struct evaluation *evaluation, const struct value *arguments, size_t count,
                     struct value *out)
{
    static const char digits[] = "0123456789ABCDEF";
    (void)count;
    if (!value_is_text(&arguments[0])) {
        return false;
    }
    const struct slice text = arguments[0].term.value;
    char *to = arena_alloc(&evaluation->scratch, text.length * 3 + 1);
    if (!to) {
        return false;
    }
    size_t length = 0;
    for (size_t i = 0; i < text.length; i++) {
        const unsigned char c = (unsigned char)text.at[i];
        if (lexical_is((char)c, LEXICAL_LETTER | LEXICAL_DIGIT) || (c && strchr("-_.~", c))) {
            to[length++] = (char)c;
        } else {
            to[length++] = '%';
            to[length++] = digits[c >> 4];
            to[length++] = digits[c & 15];
        }
    }
    *out = value_string(slice_of(to, length));
    return true;
}

bool
apply_concat(struct evaluation *evaluation, const struct value *arguments, size_t count,
             struct value *out)
{
    size_t length = 0;
    bool same = count > 0;
    for (size_t i = 0; i < count; i++) {
        if (!value_is_text(&arguments[i])) {
            return false;
        }
        length += arguments[i].term.value.length;
        same = same && arguments[i].kind == arguments[0].kind &&
               slice_equal(arguments[i].term.language, arguments[0].term.language);
    }
    char *to = length <= TEXT_MAXIMUM ? arena_alloc(&evaluation->scratch, length + 1) : NULL;
    if (!to) {
        return false;
    }
    length = 0;
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].term.value.length) {
            memcpy(to + length, arguments[i].term.value.at, arguments[i].term.value.length);
        }
        length += arguments[i].term.value.length;
    }
    *out =
        same ? text_like(&arguments[0], slice_of(to, length)) : value_string(slice_of(to, length));
    return true;
}

bool
apply_regex(struct evaluation *evaluation, const struct value *arguments, size_t count,
            struct value *out)
{
    const struct slice flags = count == 3 ? arguments[2].term.value : SLICE("");
    if (!value_is_text(&arguments[0]) || arguments[1].kind != VALUE_STRING ||
        (count == 3 && arguments[2].kind != VALUE_STRING)) {
        return false;
    }
    const int found =
        regex_match(&evaluation->regexes, arguments[0].term.value, arguments[1].term.value, flags);
    *out = value_boolean(found == 1);
    return found >= 0;
}

bool
apply_replace(struct evaluation *evaluation, const struct value *arguments, size_t count,
              struct value *out)
{
    const struct slice flags = count == 4 ? arguments[3].term.value : SLICE("");
    if (!value_is_text(&arguments[0]) || arguments[1].kind != VALUE_STRING ||
        arguments[2].kind != VALUE_STRING || (count == 4 && arguments[3].kind != VALUE_STRING)) {
        return false;
    }
    struct buf buf;
    buf_init(&buf, TEXT_MAXIMUM);
    bool done = regex_replace(&evaluation->regexes, arguments[0].term.value,
                              arguments[1].term.value, arguments[2].term.value, flags, &buf);
    if (done) {
        const struct slice text = arena_copy(&evaluation->scratch, buf_slice(&buf));
        *out = text_like(&arguments[0], text);
        done = text.at != NULL || buf.length == 0;
    }
    buf_release(&buf);
    return done;
}
