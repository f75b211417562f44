#include "base/system/clock.h"

#include <time.h>

static uint64_t
clock_us(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t
clock_wall_ms(void)
{
    return clock_us(CLOCK_REALTIME) / 1000;
}

uint64_t
clock_monotonic_ms(void)
{
    return clock_us(CLOCK_MONOTONIC) / 1000;
}

uint64_t
clock_monotonic_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

/* Year, month 1..12 and day 1..31 of the proleptic Gregorian calendar. Computed here because
 * gmtime_r may read the zone file, which a sandboxed worker must not. Years begin in March, so
 * that the leap day is the last of its year. */
static void
civil_date(uint64_t days_since_1970, unsigned *year, unsigned *month, unsigned *day)
{
    enum { DAYS_TO_1970 = 719468, DAYS_OF_400_YEARS = 146097, DAYS_OF_4_YEARS = 1461 };
    const uint64_t days = days_since_1970 + DAYS_TO_1970; /* since 0000-03-01 */
    const unsigned era_day = (unsigned)(days % DAYS_OF_400_YEARS);
    const unsigned era_year =
        (era_day - era_day / (DAYS_OF_4_YEARS - 1) + era_day / 36524 - era_day / 146096) / 365;
    const unsigned year_day = era_day - (365 * era_year + era_year / 4 - era_year / 100);
    const unsigned march_month = (5 * year_day + 2) / 153;
    *day = year_day - (153 * march_month + 2) / 5 + 1;
    *month = march_month < 10 ? march_month + 3 : march_month - 9;
    *year = (unsigned)(days / DAYS_OF_400_YEARS) * 400 + era_year + (*month <= 2);
}

/* So many last digits. */
static char *
put_digits(char *at, unsigned number, int digits)
{
    for (int i = digits; i > 0; i--) {
        at[i - 1] = (char)('0' + number % 10);
        number /= 10;
    }
    return at + digits;
}

void
clock_text(uint64_t wall_ms, int with_ms, char text[CLOCK_TEXT_SIZE])
{
    const uint64_t last_ms = UINT64_C(253402300799999); /* 9999-12-31T23:59:59.999Z */
    const uint64_t bounded = wall_ms < last_ms ? wall_ms : last_ms;
    const unsigned second = (unsigned)(bounded / 1000 % 86400);
    unsigned year, month, day;
    civil_date(bounded / 86400000, &year, &month, &day);
    const struct {
        unsigned number;
        int digits;
        char end;
    } parts[] = {
        {year, 4, '-'},
        {month, 2, '-'},
        {day, 2, 'T'},
        {second / 3600, 2, ':'},
        {second / 60 % 60, 2, ':'},
        {second % 60, 2, with_ms ? '.' : 'Z'},
        {(unsigned)(bounded % 1000), 3, 'Z'},
    };
    const size_t count = sizeof parts / sizeof *parts - (with_ms ? 0 : 1);
    for (size_t i = 0; i < count; i++) {
        text = put_digits(text, parts[i].number, parts[i].digits);
        *text++ = parts[i].end;
    }
    *text = '\0';
}

void
clock_wait_until(uint64_t *wait_ms, uint64_t due_ms, uint64_t now_ms)
{
    const uint64_t until = due_ms > now_ms ? due_ms - now_ms : 0;
    *wait_ms = until < *wait_ms ? until : *wait_ms;
}
