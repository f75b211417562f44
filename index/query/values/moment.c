#include "index/query/values/moment.h"

#include <math.h>

/* Reads exactly count digits. */
static bool
digits(struct slice *text, size_t count, int *number)
{
    if (text->length < count) {
        return false;
    }
    *number = 0;
    for (size_t i = 0; i < count; i++) {
        if (text->at[i] < '0' || text->at[i] > '9') {
            return false;
        }
        *number = *number * 10 + text->at[i] - '0';
    }
    *text = slice_of(text->at + count, text->length - count);
    return true;
}

static bool
take(struct slice *text, char c)
{
    if (!text->length || *text->at != c) {
        return false;
    }
    *text = slice_of(text->at + 1, text->length - 1);
    return true;
}

static bool
parse_year(struct slice *text, int64_t *year)
{
    const bool negative = take(text, '-');
    size_t count = 0;
    *year = 0;
    while (count < text->length && text->at[count] >= '0' && text->at[count] <= '9') {
        if (count == 12) {
            return false;
        }
        *year = *year * 10 + text->at[count++] - '0';
    }
    if (count < 4 || (count > 4 && text->at[0] == '0')) {
        return false;
    }
    *text = slice_of(text->at + count, text->length - count);
    *year = negative ? -*year : *year;
    return true;
}

static int
days_of_month(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool
parse_date(struct slice *text, struct moment *out)
{
    return parse_year(text, &out->year) && take(text, '-') && digits(text, 2, &out->month) &&
           take(text, '-') && digits(text, 2, &out->day) && out->month >= 1 && out->month <= 12 &&
           out->day >= 1 && out->day <= days_of_month(out->year, out->month);
}

static bool
parse_time(struct slice *text, struct moment *out)
{
    if (!digits(text, 2, &out->hour) || !take(text, ':') || !digits(text, 2, &out->minute) ||
        !take(text, ':') || text->length < 2) {
        return false;
    }
    size_t count = 2;
    if (text->length > 3 && text->at[2] == '.') {
        for (count = 3; count < text->length && text->at[count] >= '0' && text->at[count] <= '9';) {
            count++;
        }
        if (count == 3) {
            return false;
        }
    }
    if (text->at[0] < '0' || text->at[0] > '5' ||
        !decimal_parse(slice_of(text->at, count), &out->second)) {
        return false;
    }
    *text = slice_of(text->at + count, text->length - count);
    const bool midnight = out->hour == 24 && out->minute == 0 && out->second.digits == 0;
    return (out->hour < 24 || midnight) && out->minute < 60;
}

static bool
parse_zone(struct slice *text, struct moment *out)
{
    if (!text->length) {
        return true;
    }
    out->has_zone = true;
    if (take(text, 'Z')) {
        return !text->length;
    }
    const bool west = *text->at == '-';
    int hours, minutes;
    if ((!take(text, '-') && !take(text, '+')) || !digits(text, 2, &hours) || !take(text, ':') ||
        !digits(text, 2, &minutes) || text->length || minutes > 59 ||
        hours * 60 + minutes > 14 * 60) {
        return false;
    }
    out->zone = (hours * 60 + minutes) * (west ? -1 : 1);
    return true;
}

/* The end of a day is the beginning of the next. */
static void
end_day(struct moment *moment, enum moment_kind kind)
{
    moment->hour = 0;
    if (kind == MOMENT_TIME) {
        return;
    }
    moment->day++;
    if (moment->day > days_of_month(moment->year, moment->month)) {
        moment->day = 1;
        moment->month++;
    }
    if (moment->month > 12) {
        moment->month = 1;
        moment->year++;
    }
}

bool
moment_parse(struct slice text, enum moment_kind kind, struct moment *out)
{
    *out = (struct moment){.year = 1972, .month = 12, .day = 31};
    if (kind != MOMENT_TIME && !parse_date(&text, out)) {
        return false;
    }
    if (kind == MOMENT_DATE_TIME && !take(&text, 'T')) {
        return false;
    }
    if (kind != MOMENT_DATE && !parse_time(&text, out)) {
        return false;
    }
    if (out->hour == 24) {
        end_day(out, kind);
    }
    return parse_zone(&text, out);
}

/* Days since 0000-03-01 of the proleptic Gregorian calendar. */
static int64_t
day_number(int64_t year, int month, int day)
{
    if (month < 3) {
        year--;
        month += 12;
    }
    const int64_t era = (year >= 0 ? year : year - 399) / 400;
    const int64_t of_era = year - era * 400;
    const int64_t of_year = (153 * (month - 3) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
}

static int64_t
minutes_at(const struct moment *moment, int zone)
{
    const int64_t days = day_number(moment->year, moment->month, moment->day);
    return (days * 24 + moment->hour) * 60 + moment->minute - zone;
}

double
moment_seconds(const struct moment *moment)
{
    return moment->has_zone
               ? (double)minutes_at(moment, moment->zone) * 60 + decimal_double(moment->second)
               : NAN;
}

/* Compares as if the zones were these. */
static int
compare_at(const struct moment *a, int zone_a, const struct moment *b, int zone_b)
{
    const int64_t minutes_a = minutes_at(a, zone_a), minutes_b = minutes_at(b, zone_b);
    if (minutes_a != minutes_b) {
        return minutes_a < minutes_b ? -1 : 1;
    }
    return decimal_compare(a->second, b->second);
}

int
moment_compare(const struct moment *a, const struct moment *b)
{
    enum { WIDEST = 14 * 60 };
    if (a->has_zone == b->has_zone) {
        return compare_at(a, a->zone, b, b->zone);
    }
    if (a->has_zone) {
        const int early = compare_at(a, a->zone, b, WIDEST),
                  late = compare_at(a, a->zone, b, -WIDEST);
        return early == late ? early : 2;
    }
    const int early = compare_at(a, WIDEST, b, b->zone), late = compare_at(a, -WIDEST, b, b->zone);
    return early == late ? early : 2;
}

/* One "<number><letter>" of a duration, when it is there. */
static bool
component(struct slice *text, char letter, bool fraction, struct decimal *number)
{
    size_t count = 0;
    while (count < text->length && ((text->at[count] >= '0' && text->at[count] <= '9') ||
                                    (fraction && text->at[count] == '.'))) {
        count++;
    }
    if (!count || count == text->length || text->at[count] != letter || count > 18 ||
        text->at[0] == '.' || text->at[count - 1] == '.' ||
        !decimal_parse(slice_of(text->at, count), number)) {
        return false;
    }
    *text = slice_of(text->at + count + 1, text->length - count - 1);
    return true;
}

bool
duration_parse(struct slice text, struct duration *out)
{
    static const struct {
        char letter;
        int64_t months, seconds;
        bool time;
    } parts[] = {{'Y', 12, 0, false},  {'M', 1, 0, false}, {'D', 0, 86400, false},
                 {'H', 0, 3600, true}, {'M', 0, 60, true}, {'S', 0, 1, true}};
    const bool negative = take(&text, '-');
    bool any = false, time = false, time_any = false;
    *out = (struct duration){0, {0, 0}};
    if (!take(&text, 'P')) {
        return false;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct decimal number, scaled;
        if (parts[i].time && !time) {
            time = take(&text, 'T');
        }
        if (parts[i].time && !time) {
            break;
        }
        if (!component(&text, parts[i].letter, parts[i].letter == 'S', &number)) {
            continue;
        }
        any = true;
        time_any = time_any || parts[i].time;
        if (parts[i].months) {
            out->months += (int64_t)number.digits * parts[i].months;
        } else if (!decimal_multiply(number, decimal_of(parts[i].seconds), &scaled) ||
                   !decimal_add(out->seconds, scaled, &out->seconds)) {
            return false;
        }
    }
    if (negative) {
        out->months = -out->months;
        out->seconds.digits = -out->seconds.digits;
    }
    return any && time == time_any && !text.length;
}
