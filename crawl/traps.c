#include "crawl/traps.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"

const struct opt traps_options[] = {
    {"traps.depth", OPT_INTEGER, "32", 0, 1000, NULL,
     "A path of more segments than this is taken for a trap; 0 for no limit."},
    {"traps.cycles", OPT_INTEGER, "3", 0, 1000, NULL,
     "A URI is taken for a trap when a sequence of segments stands this many times in a row in "
     "its path (a/b/a/b/a/b), or the same parameter and value in its query, or when one segment "
     "stands in the path more often than this, wherever. 0 for never."},
    {"traps.calendar", OPT_INTEGER, "5", 0, 1000, NULL,
     "A path or query is taken for a trap when it has a date this many years in the future, or "
     "when it is a calendar's and has a date as long ago; 0 for never."},
    {"traps.sessions", OPT_BOOL, "yes", 0, 0, NULL,
     "Whether URIs with the number of a session (;jsessionid=, ?PHPSESSID=) are taken for traps. "
     "As an alternative, urls.drop removes that number."},
    {"traps.queries", OPT_INTEGER, "100000", 0, 1000000000, NULL,
     "The largest number of URIs of one path of one host, differing in their query only, that a "
     "fetch process asks for; 0 for no limit. Which ones these are depends on the order of "
     "discovery."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};

enum { SEGMENTS_MAXIMUM = 256, BUDGET_PLACES = 1 << 16, LEAST_SESSION = 16 };

void
trap_rules_from(struct trap_rules *rules, const struct opt_set *options)
{
    char now[CLOCK_TEXT_SIZE];
    clock_text(clock_wall_ms(), 0, now);
    *rules = (struct trap_rules){
        .depth = (uint32_t)opt_integer(options, "traps.depth"),
        .cycles = (uint32_t)opt_integer(options, "traps.cycles"),
        .calendar = (uint32_t)opt_integer(options, "traps.calendar"),
        .year = (uint32_t)strtoul(now, NULL, 10),
        .sessions = opt_bool(options, "traps.sessions"),
    };
}

/* ---- parts ---- */

struct parts {
    struct slice path, query;
    struct slice segments[SEGMENTS_MAXIMUM];
    size_t count;
    bool more; /* segments than there is room for */
};

static struct slice
rest_of(struct slice text, size_t from)
{
    return from < text.length ? slice_of(text.at + from, text.length - from) : SLICE("");
}

/* Up to the separator; the rest stays in *text. */
static struct slice
take_until(struct slice *text, char separator)
{
    const size_t end = slice_find(*text, separator);
    const struct slice part = slice_of(text->at, end);
    *text = rest_of(*text, end + 1);
    return part;
}

static void
split(struct slice key, struct parts *parts)
{
    struct slice rest = url_path_query(key);
    *parts = (struct parts){.path = take_until(&rest, '?')};
    parts->query = rest;
    rest = parts->path;
    while (rest.length > 0 && !parts->more) {
        const struct slice segment = take_until(&rest, '/');
        parts->more = segment.length > 0 && parts->count == SEGMENTS_MAXIMUM;
        if (segment.length > 0 && !parts->more) {
            parts->segments[parts->count++] = segment;
        }
    }
}

/* ---- cycles ---- */

/* Tells whether some sequence of at least two segments comes `most` times in a row; a single
 * segment is counted in scope.c. */
static bool
path_cycles(const struct parts *parts, size_t most)
{
    for (size_t length = 2; length * most <= parts->count; length++) {
        size_t same = 0;
        for (size_t i = length; i < parts->count; i++) {
            same = slice_equal(parts->segments[i], parts->segments[i - length]) ? same + 1 : 0;
            if (same >= length * (most - 1)) {
                return true;
            }
        }
    }
    return false;
}

static bool
query_cycles(struct slice query, size_t most)
{
    struct slice pairs[SEGMENTS_MAXIMUM];
    size_t count = 0;
    while (query.length > 0 && count < SEGMENTS_MAXIMUM) {
        const struct slice pair = take_until(&query, '&');
        size_t same = 1;
        for (size_t i = 0; pair.length > 0 && i < count; i++) {
            same += slice_equal(pairs[i], pair);
        }
        if (same >= most) {
            return pair.length > 0;
        }
        pairs[count++] = pair;
    }
    return query.length > 0; /* nobody means so many parameters */
}

/* ---- calendars ---- */

/* A number of exactly so many digits; 0: none. */
static uint32_t
digits(struct slice text, size_t count)
{
    uint32_t number = 0;
    for (size_t i = 0; i < count; i++) {
        if (i >= text.length || !ascii_is_digit(text.at[i])) {
            return 0;
        }
        number = number * 10 + (uint32_t)(text.at[i] - '0');
    }
    return count < text.length && ascii_is_digit(text.at[count]) ? 0 : number;
}

/* "2031-07", "2031-07-30", and, where it must be a date, "20310730"; 0: no month in a year. */
static uint32_t
year_of_date(struct slice text, bool compact)
{
    const uint32_t year = digits(slice_of(text.at, text.length < 5 ? text.length : 5), 4);
    if (year != 0 && text.length >= 7 && text.at[4] == '-') {
        const uint32_t month = digits(rest_of(text, 5), 2);
        return month >= 1 && month <= 12 ? year : 0;
    }
    const uint32_t whole = compact && text.length == 8 ? digits(text, 8) : 0;
    const uint32_t month = whole / 100 % 100;
    const uint32_t day = whole % 100;
    return month >= 1 && month <= 12 && day >= 1 && day <= 31 ? whole / 10000 : 0;
}

static bool
has_word(struct slice text, const char *const *words)
{
    for (; *words != NULL; words++) {
        const struct slice word = slice_string(*words);
        for (size_t i = 0; i + word.length <= text.length; i++) {
            if (slice_starts_nocase(rest_of(text, i), word)) {
                return true;
            }
        }
    }
    return false;
}

static bool
is_calendar(struct slice path, struct slice query)
{
    static const char *const words[] = {"calend", "kalend", "agenda", "tribe-bar-date", NULL};
    return has_word(path, words) || has_word(query, words);
}

static bool
is_named(struct slice name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (slice_equal_nocase(name, slice_string(*names))) {
            return true;
        }
    }
    return false;
}

/* The year of a query: a date as a value, or a parameter year beside one for the month. */
static uint32_t
year_of_query(struct slice query, bool compact)
{
    static const char *const years[] = {"year", "yr", "y", "jahr", "annee", NULL};
    static const char *const months[] = {"month", "mo", "m", "monat", "mois", "mon", NULL};
    uint32_t year = 0;
    bool month = false;
    while (query.length > 0) {
        struct slice value = take_until(&query, '&');
        const struct slice name = take_until(&value, '=');
        const uint32_t dated = year_of_date(value, compact);
        if (dated != 0) {
            return dated;
        }
        year = value.length == 4 && is_named(name, years) ? digits(value, 4) : year;
        month = month || (value.length <= 2 && value.length > 0 && is_named(name, months));
    }
    return month ? year : 0;
}

/* 2031/07, or one segment with the date; and what of the path stands before it. */
static uint32_t
year_of_path(const struct parts *parts, bool compact, struct slice *before)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct slice segment = parts->segments[i];
        *before = slice_of(parts->path.at, (size_t)(segment.at - parts->path.at));
        const uint32_t dated = year_of_date(segment, compact);
        if (dated != 0) {
            return dated;
        }
        if (segment.length == 4 && i + 1 < parts->count) {
            const struct slice next = parts->segments[i + 1];
            const uint32_t month = next.length == 2   ? digits(next, 2)
                                   : next.length == 1 ? digits(next, 1)
                                                      : 0;
            if (digits(segment, 4) != 0 && month >= 1 && month <= 12) {
                return digits(segment, 4);
            }
        }
    }
    return 0;
}

static bool
is_endless_date(const struct trap_rules *rules, const struct parts *parts)
{
    struct slice before = parts->path;
    const bool calendar = is_calendar(parts->path, parts->query);
    const uint32_t in_query = year_of_query(parts->query, calendar);
    const uint32_t year = in_query != 0 ? in_query : year_of_path(parts, calendar, &before);
    if (year == 0) {
        return false;
    }
    /* Documents of the past are many; only a calendar goes back without end, and
     * the calendar of an event has its date before it. What lies many
     * centuries ahead is a number that looks like a year. */
    const bool ahead =
        year > rules->year + rules->calendar && (calendar || year < rules->year + 200);
    return ahead || (year + rules->calendar < rules->year && is_calendar(before, parts->query));
}

/* ---- sessions ---- */

/* Tells whether the name of a parameter is one of those that carry a session ("PHPSESSID",
 * "sid"). */
static bool
trap_session_name(struct slice name)
{
    static const char *const names[] = {"jsessionid", "phpsessid",    "sessionid", "session_id",
                                        "sid",        "aspsessionid", "cfid",      "cftoken",
                                        "zenid",      "oscsid",       "sessid",    "session-id",
                                        NULL};
    return is_named(name, names);
}

/* A long value of hexadecimal digits, or of letters and digits mixed: no word, no small number. */
static bool
is_random(struct slice value)
{
    size_t number = 0;
    size_t letters = 0;
    for (size_t i = 0; i < value.length; i++) {
        number += ascii_is_digit(value.at[i]);
        letters += ascii_is_letter(value.at[i]);
    }
    return value.length >= LEAST_SESSION && number >= 4 && number + letters + 4 >= value.length;
}

static bool
has_session(const struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct slice parameters = parts->segments[i];
        (void)take_until(&parameters, ';');
        while (parameters.length > 0) {
            struct slice value = take_until(&parameters, ';');
            const struct slice name = take_until(&value, '=');
            if (trap_session_name(name) && is_random(value)) {
                return true;
            }
        }
        /* ASP.NET without cookies: /(S(lit3py55t21z5v55vlm25s55))/ */
        if (slice_starts_nocase(parts->segments[i], SLICE("(s(")) &&
            parts->segments[i].length >= LEAST_SESSION) {
            return true;
        }
    }
    struct slice query = parts->query;
    while (query.length > 0) {
        struct slice value = take_until(&query, '&');
        const struct slice name = take_until(&value, '=');
        if (trap_session_name(name) && is_random(value)) {
            return true;
        }
    }
    return false;
}

const char *
trap_refusal(const struct trap_rules *rules, struct slice key)
{
    struct parts parts;
    split(key, &parts);
    if (rules->depth > 0 && (parts.count > rules->depth || parts.more)) {
        return "traps.depth: the path has too many segments";
    }
    if (rules->cycles > 1 && path_cycles(&parts, rules->cycles)) {
        return "traps.cycles: a sequence of segments repeats itself";
    }
    if (rules->cycles > 1 && query_cycles(parts.query, rules->cycles)) {
        return "traps.cycles: a parameter repeats itself";
    }
    if (rules->sessions && has_session(&parts)) {
        return "traps.sessions: the number of a session";
    }
    if (rules->calendar > 0 && is_endless_date(rules, &parts)) {
        return "traps.calendar: a date far away";
    }
    return NULL;
}

/* ---- budget ---- */

struct trap_budget {
    uint32_t most;
    struct {
        uint64_t path;
        uint32_t count;
    } places[BUDGET_PLACES];
};

struct trap_budget *
trap_budget_new(uint32_t most)
{
    struct trap_budget *budget = memory_new(sizeof *budget);
    budget->most = most;
    return budget;
}

void
trap_budget_free(struct trap_budget *budget)
{
    free(budget);
}

bool
trap_budget_take(struct trap_budget *budget, struct slice key)
{
    const size_t end = slice_find(key, '?');
    if (budget->most == 0 || end == key.length) {
        return true;
    }
    const uint64_t path = fingerprint64(slice_of(key.at, end));
    const size_t at = path % BUDGET_PLACES;
    if (budget->places[at].path != path) {
        budget->places[at].path = path;
        budget->places[at].count = 0;
    }
    if (budget->places[at].count >= budget->most) {
        return false;
    }
    budget->places[at].count++;
    return true;
}
