#include "datasets/sitemap.h"

struct cursor {
    const char *at, *end;
};

/* Exactly n digits, or with n == 0 as many as there are, up to 9. */
static bool
digits(struct cursor *cursor, unsigned n, int64_t *value)
{
    unsigned found = 0;
    *value = 0;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9' &&
           found < (n > 0 ? n : 9)) {
        *value = *value * 10 + (*cursor->at++ - '0');
        found++;
    }
    return found > 0 && (n == 0 || found == n);
}

static bool
literal(struct cursor *cursor, char c)
{
    if (cursor->at < cursor->end && *cursor->at == c) {
        cursor->at++;
        return true;
    }
    return false;
}

/* Days since 1970-01-01 of the proleptic Gregorian calendar; years begin in March here, so that
 * the leap day is the last. */
static int64_t
days_of(int64_t year, int64_t month, int64_t day)
{
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t m = month <= 2 ? month + 9 : month - 3;
    return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

struct moment {
    int64_t year, month, day, hour, minute, second, ms, offset; /* offset: minutes east */
};

static uint64_t
to_ms(const struct moment *moment)
{
    if (moment->year < 1970 || moment->year > 9999 || moment->month < 1 || moment->month > 12 ||
        moment->day < 1 || moment->day > 31 || moment->hour > 24 || moment->minute > 59 ||
        moment->second > 60) {
        return 0;
    }
    const int64_t minutes =
        (days_of(moment->year, moment->month, moment->day) * 24 + moment->hour) * 60 +
        moment->minute - moment->offset;
    const int64_t ms = (minutes * 60 + moment->second) * 1000 + moment->ms;
    return ms > 0 ? (uint64_t)ms : 0;
}

/* "Z", "+hh:mm", "+hhmm". */
static bool
offset(struct cursor *cursor, int64_t *minutes)
{
    int64_t hour;
    int64_t minute;
    *minutes = 0;
    if (literal(cursor, 'Z')) {
        return true;
    }
    const bool west = cursor->at < cursor->end && *cursor->at == '-';
    if (!west && !(cursor->at < cursor->end && *cursor->at == '+')) {
        return false;
    }
    cursor->at++;
    if (!digits(cursor, 2, &hour)) {
        return false;
    }
    (void)literal(cursor, ':');
    if (!digits(cursor, 2, &minute)) {
        return false;
    }
    *minutes = (hour * 60 + minute) * (west ? -1 : 1);
    return true;
}

static bool
clock_time(struct cursor *cursor, struct moment *moment)
{
    if (!digits(cursor, 2, &moment->hour) || !literal(cursor, ':') ||
        !digits(cursor, 2, &moment->minute)) {
        return false;
    }
    if (literal(cursor, ':') && !digits(cursor, 2, &moment->second)) {
        return false;
    }
    if (literal(cursor, '.')) {
        int64_t unit = 100;
        while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
            moment->ms += (*cursor->at++ - '0') * unit;
            unit /= 10;
        }
    }
    return true;
}

static uint64_t
w3c(struct cursor cursor)
{
    struct moment moment = {.month = 1, .day = 1};
    if (!digits(&cursor, 4, &moment.year)) {
        return 0;
    }
    if (literal(&cursor, '-') && !digits(&cursor, 2, &moment.month)) {
        return 0;
    }
    if (literal(&cursor, '-') && !digits(&cursor, 2, &moment.day)) {
        return 0;
    }
    if (literal(&cursor, 'T') || literal(&cursor, ' ')) {
        if (!clock_time(&cursor, &moment)) {
            return 0;
        }
        (void)offset(&cursor, &moment.offset);
    }
    return cursor.at == cursor.end ? to_ms(&moment) : 0;
}

static bool
month_name(struct cursor *cursor, int64_t *month)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int64_t i = 0; i < 12 && cursor->end - cursor->at >= 3; i++) {
        if (slice_equal_nocase(slice_of(cursor->at, 3), slice_of(names + i * 3, 3))) {
            cursor->at += 3;
            *month = i + 1;
            return true;
        }
    }
    return false;
}

static uint64_t
rfc822(struct cursor cursor)
{
    struct moment moment = {0};
    const char *comma = memchr(cursor.at, ',', (size_t)(cursor.end - cursor.at));
    if (comma != NULL) {
        cursor.at = comma + 1;
        (void)literal(&cursor, ' ');
    }
    if (!digits(&cursor, 0, &moment.day) || !literal(&cursor, ' ') ||
        !month_name(&cursor, &moment.month) || !literal(&cursor, ' ') ||
        !digits(&cursor, 0, &moment.year) || !literal(&cursor, ' ') ||
        !clock_time(&cursor, &moment)) {
        return 0;
    }
    if (moment.year < 100) {
        moment.year += moment.year < 70 ? 2000 : 1900;
    }
    if (literal(&cursor, ' ')) {
        (void)offset(&cursor, &moment.offset); /* names of zones are read as GMT */
    }
    return to_ms(&moment);
}

uint64_t
sitemap_date(struct slice text)
{
    text = slice_trim(text);
    if (text.length == 0) {
        return 0;
    }
    const struct cursor cursor = {text.at, text.at + text.length};
    const uint64_t ms = w3c(cursor);
    return ms > 0 ? ms : rfc822(cursor);
}

uint64_t
sitemap_latest(uint64_t modified_ms)
{
    enum { MINUTE_MS = 60000, DAY_MS = 86400000 };
    return modified_ms + (modified_ms % DAY_MS == 0 ? (uint64_t)DAY_MS : (uint64_t)MINUTE_MS);
}
