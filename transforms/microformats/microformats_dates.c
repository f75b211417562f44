/* Dates and times in pieces: https://microformats.org/wiki/value-class-pattern#Date_and_time_values
 */
#include <stdio.h>

#include "transforms/microformats/microformats_parser.h"

static size_t
digits(struct slice text, size_t from)
{
    size_t end = from;
    while (end < text.length && text.at[end] >= '0' && text.at[end] <= '9') {
        end++;
    }
    return end - from;
}

static bool
at(struct slice text, size_t i, char c)
{
    return i < text.length && text.at[i] == c;
}

struct slice
microformat_date_of(struct slice text)
{
    size_t length = 0;
    if (digits(text, 0) != 4 || !at(text, 4, '-')) {
        return (struct slice){0};
    }
    if (digits(text, 5) == 3) {
        length = 8; /* the day of the year */
    } else if (digits(text, 5) == 2 && at(text, 7, '-') && digits(text, 8) == 2) {
        length = 10;
    }
    return slice_of(text.at, length);
}

/* Z, +1, +01, +0100, +01:00; 0: none. */
static size_t
zone_length(struct slice text, size_t from)
{
    if (at(text, from, 'Z') || at(text, from, 'z')) {
        return 1;
    }
    if (!at(text, from, '+') && !at(text, from, '-')) {
        return 0;
    }
    const size_t hours = digits(text, from + 1);
    if (hours == 4 || hours == 3) {
        return 1 + hours;
    }
    if (hours != 1 && hours != 2) {
        return 0;
    }
    const size_t colon = from + 1 + hours;
    return at(text, colon, ':') && digits(text, colon + 1) == 2 ? hours + 4 : hours + 1;
}

/* am, pm, a.m., P.M. at `from`: its length, 0: none. */
static size_t
half_length(struct slice text, size_t from, bool *afternoon)
{
    size_t i = from;
    if (i >= text.length) {
        return 0;
    }
    const char letter = (char)(text.at[i] | 0x20);
    if (letter != 'a' && letter != 'p') {
        return 0;
    }
    *afternoon = letter == 'p';
    i += 1 + at(text, i + 1, '.');
    if (i >= text.length || (text.at[i] | 0x20) != 'm') {
        return 0;
    }
    i += 1 + at(text, i + 1, '.');
    return i - from;
}

/* A time of day at `from`, normalised to hours of the day. Its length, 0: none. */
static size_t
read_time(struct slice text, size_t from, char result[PART_TIME])
{
    size_t i = from;
    const size_t hour_digits = digits(text, i);
    if (hour_digits != 1 && hour_digits != 2) {
        return 0;
    }
    unsigned hour = (unsigned)(text.at[i] - '0');
    if (hour_digits == 2) {
        hour = hour * 10 + (unsigned)(text.at[i + 1] - '0');
    }
    i += hour_digits;
    const size_t rest = i;
    for (int part = 0; part < 2 && at(text, i, ':') && digits(text, i + 1) == 2; part++) {
        i += 3;
    }
    if (i == rest + 6 && at(text, i, '.')) {
        const size_t fraction = digits(text, i + 1);
        i += fraction > 0 && fraction < 10 ? 1 + fraction : 0;
    }
    const struct slice minutes = {text.at + rest, i - rest};
    size_t half = i;
    bool afternoon = false;
    while (at(text, half, ' ')) {
        half++;
    }
    const size_t length = half_length(text, half, &afternoon);
    if ((minutes.length == 0 && length == 0) || hour > 24) {
        return 0;
    }
    if (length > 0) {
        hour = hour % 12 + (afternoon ? 12 : 0);
        i = half + length;
    }
    snprintf(result, PART_TIME, "%02u%.*s", hour, minutes.length > 0 ? (int)minutes.length : 3,
             minutes.length > 0 ? minutes.at : ":00");
    return i - from;
}

static void
set_part(char *part, size_t size, struct slice text)
{
    if (part[0] == '\0' && text.length > 0 && text.length < size) {
        memcpy(part, text.at, text.length);
        part[text.length] = '\0';
    }
}

/* Offsets lose their colon when they are put together with a date. */
static void
set_zone(struct microformat_moment *moment, struct slice zone, bool whole)
{
    char text[PART_ZONE];
    size_t length = 0;
    for (size_t i = 0; i < zone.length && length < sizeof text; i++) {
        if (whole || zone.at[i] != ':') {
            text[length++] = zone.at[i];
        }
    }
    set_part(moment->zone, PART_ZONE, slice_of(text, length));
}

void
microformat_moment_add(struct microformat_moment *moment, struct slice piece)
{
    piece = slice_trim(piece);
    const struct slice date = microformat_date_of(piece);
    size_t i = date.length;
    char time[PART_TIME];
    if (i > 0 && i < piece.length) {
        i += piece.at[i] == 'T' || piece.at[i] == 't' || piece.at[i] == ' ';
    }
    const size_t length = read_time(piece, i, time);
    if ((date.length > 0 && moment->date[0] != '\0') || (length > 0 && moment->time[0] != '\0')) {
        return;
    }
    set_part(moment->date, PART_DATE, date);
    if (length > 0) {
        set_part(moment->time, PART_TIME, slice_string(time));
    }
    i += length;
    while (at(piece, i, ' ')) {
        i++;
    }
    const size_t zone = zone_length(piece, i);
    if (zone > 0 && i + zone == piece.length) {
        set_zone(moment, slice_of(piece.at + i, zone), date.length > 0);
    }
}

bool
microformat_is_time(struct slice text)
{
    char time[PART_TIME];
    text = slice_trim(text);
    const size_t length = read_time(text, 0, time);
    return length > 0 &&
           (length == text.length || length + zone_length(text, length) == text.length);
}
