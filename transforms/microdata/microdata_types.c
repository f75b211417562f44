/* Datatypes that microdata values show by their form. */
#include "rdf/core/vocabulary.h"
#include "transforms/microdata/microdata.h"

struct cursor {
    const char *at, *end;
};

static bool
take(struct cursor *cursor, char c)
{
    const bool found = cursor->at < cursor->end && *cursor->at == c;
    cursor->at += found;
    return found;
}

/* Digits, at least `least`, at most `most`; how many, 0: too few or too many. */
static size_t
digits(struct cursor *cursor, size_t least, size_t most)
{
    const char *from = cursor->at;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
        cursor->at++;
    }
    const size_t count = (size_t)(cursor->at - from);
    return count >= least && count <= most ? count : 0;
}

/* Two digits in a range. */
static bool
two(struct cursor *cursor, int from, int to)
{
    if (digits(cursor, 2, 2) == 0) {
        return false;
    }
    const int value = (cursor->at[-2] - '0') * 10 + cursor->at[-1] - '0';
    return value >= from && value <= to;
}

static bool
at_end(const struct cursor *cursor)
{
    return cursor->at == cursor->end;
}

/* An offset, or nothing; then the end. */
static bool
zone_and_end(struct cursor *cursor)
{
    if (at_end(cursor) || take(cursor, 'Z')) {
        return at_end(cursor);
    }
    return (take(cursor, '+') || take(cursor, '-')) && two(cursor, 0, 14) && take(cursor, ':') &&
           two(cursor, 0, 59) && at_end(cursor);
}

static bool
clock_and_end(struct cursor *cursor)
{
    if (!two(cursor, 0, 24) || !take(cursor, ':') || !two(cursor, 0, 59) || !take(cursor, ':') ||
        !two(cursor, 0, 59)) {
        return false;
    }
    return (!take(cursor, '.') || digits(cursor, 1, SIZE_MAX) > 0) && zone_and_end(cursor);
}

static const char *
type_of_date(struct cursor cursor)
{
    take(&cursor, '-');
    if (digits(&cursor, 4, 18) == 0) {
        return NULL;
    }
    struct cursor zone = cursor;
    if (zone_and_end(&zone)) {
        return XSD_NAMESPACE "gYear";
    }
    if (!take(&cursor, '-') || !two(&cursor, 1, 12)) {
        return NULL;
    }
    zone = cursor;
    if (zone_and_end(&zone)) {
        return XSD_NAMESPACE "gYearMonth";
    }
    if (!take(&cursor, '-') || !two(&cursor, 1, 31)) {
        return NULL;
    }
    zone = cursor;
    if (zone_and_end(&zone)) {
        return XSD_NAMESPACE "date";
    }
    return take(&cursor, 'T') && clock_and_end(&cursor) ? XSD_NAMESPACE "dateTime" : NULL;
}

/* Components of a duration in order; each at most once. */
static bool
duration_parts(struct cursor *cursor, const char *units, bool fraction, bool *any)
{
    while (!at_end(cursor) && *cursor->at != 'T') {
        if (digits(cursor, 1, SIZE_MAX) == 0) {
            return false;
        }
        const bool seconds = fraction && take(cursor, '.');
        if (seconds && digits(cursor, 1, SIZE_MAX) == 0) {
            return false;
        }
        while (*units != '\0' && (at_end(cursor) || *units != *cursor->at)) {
            units++;
        }
        if (*units == '\0' || (seconds && *units != 'S')) {
            return false;
        }
        units++;
        cursor->at++;
        *any = true;
    }
    return true;
}

static bool
is_duration(struct cursor cursor)
{
    bool date = false, time = false;
    take(&cursor, '-');
    if (!take(&cursor, 'P') || !duration_parts(&cursor, "YMD", false, &date)) {
        return false;
    }
    if (at_end(&cursor)) {
        return date;
    }
    return take(&cursor, 'T') && duration_parts(&cursor, "HMS", true, &time) && time &&
           at_end(&cursor);
}

const char *
microdata_time_type(struct slice text)
{
    const struct cursor cursor = {text.at, text.at + text.length};
    if (text.length < 2) {
        return NULL;
    }
    if (text.at[0] == 'P' || text.at[1] == 'P') {
        return is_duration(cursor) ? XSD_NAMESPACE "duration" : NULL;
    }
    struct cursor clock = cursor;
    if (clock_and_end(&clock)) {
        return XSD_NAMESPACE "time";
    }
    return type_of_date(cursor);
}

const char *
microdata_number_type(struct slice text)
{
    struct cursor cursor = {text.at, text.at + text.length};
    take(&cursor, '-');
    const size_t whole = digits(&cursor, 1, SIZE_MAX);
    if (whole > 0 && at_end(&cursor)) {
        return XSD_INTEGER;
    }
    if (take(&cursor, '.') ? digits(&cursor, 1, SIZE_MAX) == 0 : whole == 0) {
        return NULL;
    }
    if (take(&cursor, 'e') || take(&cursor, 'E')) {
        if (!take(&cursor, '-')) {
            take(&cursor, '+');
        }
        if (digits(&cursor, 1, SIZE_MAX) == 0) {
            return NULL;
        }
    }
    return at_end(&cursor) ? XSD_DOUBLE : NULL;
}
