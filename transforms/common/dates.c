#include "transforms/common/dates.h"

#include "base/ascii.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct moment {
    int year, month, day, hour, minute, second;
    int offset; /* minutes east of UTC */
    bool has_time;
};

struct cursor {
    const char *at, *end;
};

/* Reads at most `most` digits; -1: there are none. */
static int
number(struct cursor *cursor, int most)
{
    int value = 0, digits = 0;
    while (cursor->at < cursor->end && ascii_is_digit(*cursor->at) && digits < most) {
        value = value * 10 + (*cursor->at++ - '0');
        digits++;
    }
    return digits > 0 ? value : -1;
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

static void
skip(struct cursor *cursor, const char *set)
{
    while (cursor->at < cursor->end && strchr(set, *cursor->at) && *cursor->at) {
        cursor->at++;
    }
}

static struct slice
word(struct cursor *cursor)
{
    const char *from = cursor->at;
    while (cursor->at < cursor->end && ascii_is_letter(*cursor->at)) {
        cursor->at++;
    }
    return slice_of(from, (size_t)(cursor->at - from));
}

static int
month_of(struct slice name)
{
    static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    for (int i = 0; name.length >= 3 && i < 12; i++) {
        if (strncasecmp(months + i * 3, name.at, 3) == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* "+0100", "+01:00", "Z", "GMT", "EST" and nothing. */
static bool
zone(struct cursor *cursor, struct moment *moment)
{
    static const struct {
        const char *name;
        int hours;
    } zones[] = {{"Z", 0},    {"UT", 0},   {"UTC", 0},  {"GMT", 0},  {"EST", -5}, {"EDT", -4},
                 {"CST", -6}, {"CDT", -5}, {"MST", -7}, {"MDT", -6}, {"PST", -8}, {"PDT", -7},
                 {"CET", 1},  {"CEST", 2}, {"BST", 1},  {"JST", 9}};
    skip(cursor, " ");
    if (cursor->at < cursor->end && (*cursor->at == '+' || *cursor->at == '-')) {
        const int sign = *cursor->at++ == '-' ? -1 : 1;
        const int hours = number(cursor, 2);
        literal(cursor, ':');
        const int minutes = number(cursor, 2);
        if (hours < 0 || hours > 14 || minutes > 59) {
            return false;
        }
        moment->offset = sign * (hours * 60 + (minutes < 0 ? 0 : minutes));
        return true;
    }
    const struct slice name = word(cursor);
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        if (slice_equal_nocase(name, slice_string(zones[i].name))) {
            moment->offset = zones[i].hours * 60;
        }
    }
    return true;
}

/* "hh:mm[:ss[.fraction]]" */
static bool
clock_time(struct cursor *cursor, struct moment *moment)
{
    moment->hour = number(cursor, 2);
    if (moment->hour < 0 || !literal(cursor, ':')) {
        return false;
    }
    moment->minute = number(cursor, 2);
    if (moment->minute < 0) {
        return false;
    }
    if (literal(cursor, ':')) {
        moment->second = number(cursor, 2);
        if (literal(cursor, '.') || literal(cursor, ',')) {
            number(cursor, 9);
        }
    }
    moment->has_time = true;
    return moment->second >= 0;
}

static bool
parse_iso(struct cursor *cursor, struct moment *moment)
{
    moment->year = number(cursor, 4);
    const bool dashes = literal(cursor, '-');
    moment->month = number(cursor, 2);
    if (dashes) {
        literal(cursor, '-');
    }
    moment->day = number(cursor, 2);
    if (moment->year < 1000 || moment->month < 0) {
        return false;
    }
    moment->day = moment->day < 0 ? 1 : moment->day;
    if (literal(cursor, 'T') || literal(cursor, 't') || literal(cursor, ' ')) {
        skip(cursor, " ");
        if (cursor->at < cursor->end && ascii_is_digit(*cursor->at)) {
            return clock_time(cursor, moment) && zone(cursor, moment);
        }
    }
    return true;
}

/* After the name of the day, if any: "07 Sep 2002 00:00:01 GMT", "07-Sep-02 ...". */
static bool
parse_mail(struct cursor *cursor, struct moment *moment)
{
    moment->day = number(cursor, 2);
    skip(cursor, " -");
    moment->month = month_of(word(cursor));
    skip(cursor, " -.,");
    const char *from = cursor->at;
    moment->year = number(cursor, 4);
    if (moment->day < 1 || moment->month == 0 || moment->year < 0) {
        return false;
    }
    if (cursor->at - from <= 2) {
        moment->year += moment->year < 70 ? 2000 : 1900;
    }
    skip(cursor, " ,");
    if (cursor->at < cursor->end && ascii_is_digit(*cursor->at)) {
        return clock_time(cursor, moment) && zone(cursor, moment);
    }
    return true;
}

/* "Sep  7 00:00:01 2002", "September 7, 2002". */
static bool
parse_asctime(struct cursor *cursor, struct slice month, struct moment *moment)
{
    moment->month = month_of(month);
    skip(cursor, " .");
    moment->day = number(cursor, 2);
    skip(cursor, " ,");
    struct cursor clock = *cursor;
    if (clock_time(&clock, moment)) {
        *cursor = clock;
        skip(cursor, " ");
        const char *from = cursor->at;
        word(cursor);
        if (cursor->at > from) {
            skip(cursor, " ");
        }
    } else {
        moment->has_time = false;
        moment->hour = moment->minute = moment->second = 0;
    }
    moment->year = number(cursor, 4);
    return moment->month > 0 && moment->day > 0 && moment->year >= 1000;
}

static bool
is_valid(const struct moment *moment)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return moment->year > 0 && moment->month >= 1 && moment->month <= 12 && moment->day >= 1 &&
           moment->day <= days[moment->month - 1] && moment->hour <= 24 && moment->minute < 60 &&
           moment->second <= 60;
}

static unsigned
two(int value)
{
    return (unsigned)value % 100;
}

bool
date_parse(struct slice text, char result[DATE_TEXT_SIZE], bool *has_time)
{
    text = slice_trim(text);
    struct cursor cursor = {text.at, text.at + text.length};
    struct moment moment = {0};
    bool good;
    if (text.length >= 4 && ascii_is_digit(text.at[0]) && ascii_is_digit(text.at[1]) &&
        ascii_is_digit(text.at[2]) && ascii_is_digit(text.at[3])) {
        good = parse_iso(&cursor, &moment);
    } else {
        struct slice name = word(&cursor);
        skip(&cursor, " ,.");
        if (name.length > 0 && cursor.at < cursor.end && ascii_is_letter(*cursor.at)) {
            name = word(&cursor); /* asctime: the month follows the day's name */
            skip(&cursor, " ");
        }
        good = month_of(name) > 0 && !slice_equal_nocase(name, SLICE("monday"))
                   ? parse_asctime(&cursor, name, &moment)
                   : parse_mail(&cursor, &moment);
    }
    if (!good || !is_valid(&moment)) {
        return false;
    }
    *has_time = moment.has_time;
    if (!moment.has_time) {
        snprintf(result, DATE_TEXT_SIZE, "%04u-%02u-%02u", (unsigned)moment.year % 10000,
                 two(moment.month), two(moment.day));
        return true;
    }
    const int offset = moment.offset < 0 ? -moment.offset : moment.offset;
    char suffix[8] = "Z";
    if (offset > 0) {
        snprintf(suffix, sizeof suffix, "%c%02u:%02u", moment.offset < 0 ? '-' : '+',
                 two(offset / 60), two(offset % 60));
    }
    snprintf(result, DATE_TEXT_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u%s",
             (unsigned)moment.year % 10000, two(moment.month), two(moment.day), two(moment.hour),
             two(moment.minute), two(moment.second > 59 ? 59 : moment.second), suffix);
    return true;
}
