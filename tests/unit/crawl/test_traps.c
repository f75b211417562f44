/* Spaces without end are told from pages of real sites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "crawl/traps.h"

static const struct trap_rules rules = {
    .depth = 32, .cycles = 3, .calendar = 5, .year = 2026, .sessions = true};

struct expectation {
    const char *uri, *option; /* that refuses it; NULL: it is no trap */
};

static const struct expectation expectations[] = {
    {"http://a.example/a/b/a/b/a/b/", "traps.cycles"},
    {"http://a.example/en/shop/x/en/shop/x/en/shop/x/y", "traps.cycles"},
    {"http://a.example/?a=1&b=2&a=1&a=1", "traps.cycles"},
    {"http://a.example/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/"
     "29/30/31/32/33",
     "traps.depth"},
    {"http://a.example/x;jsessionid=1A530637289A03B07199A44E8D531427", "traps.sessions"},
    {"http://a.example/x?PHPSESSID=7b2f0c9e1d5a4b3c8e9f&p=1", "traps.sessions"},
    {"http://a.example/(S(lit3py55t21z5v55vlm25s55))/orders.aspx", "traps.sessions"},
    {"http://a.example/events/2032/07/", "traps.calendar"},
    {"http://a.example/events?date=2199-01-01", "traps.calendar"},
    {"http://a.example/calendar/1975/03", "traps.calendar"},
    {"http://a.example/?calendar=1&month=3&year=1492", "traps.calendar"},
    {"http://a.example/?cid=my-calendar&month=3&yr=2600", "traps.calendar"},
    /* what people publish */
    {"http://a.example/", NULL},
    {"http://a.example/a/b/a/b", NULL},
    {"http://a.example/2026/11/21/news.html", NULL},
    {"http://a.example/archive/1890/05/12/page1.jpg", NULL},
    {"http://a.example/events/2027/01/", NULL},
    {"http://a.example/papers/2605.01234", NULL},
    {"http://a.example/entity/Q20310730", NULL},
    {"http://a.example/isbn/9783161484100", NULL},
    {"http://a.example/doc?id=20451231", NULL},
    {"http://a.example/specs/iso/8601/12", NULL},
    {"http://a.example/list?type=a&type=b&type=c&sort=name", NULL},
    {"http://a.example/station?sid=42", NULL},
    {"http://a.example/x?sid=the-weather-in-zurich", NULL},
    {"http://a.example/commit/7b2f0c9e1d5a4b3c8e9f7b2f0c9e1d5a4b3c8e9f", NULL},
    {"http://a.example/discovery/2001/02/calendar/", NULL},
    {"http://a.example/agenda", NULL},
    {"http://a.example/calendar/2026/12", NULL},
};

/* URIs on either side of each bound that crawl/traps.c has. */
static const struct expectation bounds[] = {
    /* sequences of segments, wherever they begin, and each three times in a row */
    {"http://a.example/a/b/a/b/a", NULL},
    {"http://a.example/x/a/b/a/b/a/b", "traps.cycles"},
    {"http://a.example/a/b/a/b/c/a/b", NULL},
    {"http://a.example/a/a/a/a/a", NULL},
    {"http://a.example/a/a/a/a/a/a", "traps.cycles"},
    {"http://a.example/a/b/c/a/b/c/a/b", NULL},
    {"http://a.example/a/b/c/a/b/c/a/b/c", "traps.cycles"},
    {"http://a.example//a//b/a/b//a/b", "traps.cycles"},
    /* parameters that repeat themselves; empty ones are none */
    {"http://a.example/?a=1&a=1", NULL},
    {"http://a.example/?a=1&b=2&a=1&b=2&a=1", "traps.cycles"},
    {"http://a.example/?a=1&a=1&a=2&a=3", NULL},
    {"http://a.example/?&&&&&&a=1", NULL},
    {"http://a.example/?a=1&&a=1&&b=2", NULL},
    /* dates of a query: a year and a month of two digits, and a year that is ahead */
    {"http://a.example/?d=2032-01", "traps.calendar"},
    {"http://a.example/?d=2032-12", "traps.calendar"},
    {"http://a.example/?d=2032-13", NULL},
    {"http://a.example/?d=2032-00", NULL},
    {"http://a.example/?d=2031-12", NULL},
    {"http://a.example/?d=2225-06", "traps.calendar"},
    {"http://a.example/?d=2226-06", NULL},
    {"http://a.example/calendar?d=2226-06", "traps.calendar"},
    {"http://a.example/?d=2032-1", NULL},
    {"http://a.example/?d=2032-01x", "traps.calendar"},
    {"http://a.example/?d=2032-011", NULL},
    {"http://a.example/?d=203201", NULL},
    {"http://a.example/?d=2032/01", NULL},
    {"http://a.example/?d=2032x01", NULL},
    {"http://a.example/?d=20320-1", NULL},
    {"http://a.example/?d=x032-01", NULL},
    {"http://a.example/?d=203x-01", NULL},
    {"http://a.example/?d=2032-x1", NULL},
    {"http://a.example/?d=0000-01", NULL},
    {"http://a.example/?d=2032-01-30", "traps.calendar"},
    {"http://a.example/?from=2026-01&to=2032-01", NULL},
    {"http://a.example/?q=a&to=2032-01", "traps.calendar"},
    /* dates of eight digits, where there is a calendar */
    {"http://a.example/calendar?d=20320730", "traps.calendar"},
    {"http://a.example/?d=20320730", NULL},
    {"http://a.example/calendar?d=20320101", "traps.calendar"},
    {"http://a.example/calendar?d=20321231", "traps.calendar"},
    {"http://a.example/calendar?d=20321330", NULL},
    {"http://a.example/calendar?d=20320030", NULL},
    {"http://a.example/calendar?d=20320700", NULL},
    {"http://a.example/calendar?d=20320732", NULL},
    {"http://a.example/calendar?d=203207301", NULL},
    {"http://a.example/calendar?d=2032073", NULL},
    {"http://a.example/calendar?d=2032073x", NULL},
    /* a parameter for the year and one for the month, in either order */
    {"http://a.example/?year=2032&month=1", "traps.calendar"},
    {"http://a.example/?month=01&year=2032", "traps.calendar"},
    {"http://a.example/?yr=2032&mo=7", "traps.calendar"},
    {"http://a.example/?y=2032&m=7", "traps.calendar"},
    {"http://a.example/?jahr=2032&monat=7", "traps.calendar"},
    {"http://a.example/?Annee=2032&MOIS=7", "traps.calendar"},
    {"http://a.example/?year=2032&mon=7", "traps.calendar"},
    {"http://a.example/?year=2032", NULL},
    {"http://a.example/?month=1", NULL},
    {"http://a.example/?year=2032&month=", NULL},
    {"http://a.example/?year=2032&month=001", NULL},
    {"http://a.example/?year=20320&month=1", NULL},
    {"http://a.example/?year=203&month=1", NULL},
    {"http://a.example/?years=2032&month=7", NULL},
    {"http://a.example/?year=2032&months=7", NULL},
    {"http://a.example/?year=2032&year=x&month=2", "traps.calendar"},
    {"http://a.example/?year=2032&year=abcd&month=2", NULL},
    /* dates of a path: two segments, or one */
    {"http://a.example/2032/07", "traps.calendar"},
    {"http://a.example/2032/7", "traps.calendar"},
    {"http://a.example/2032/12/x", "traps.calendar"},
    {"http://a.example/a/2032/1", "traps.calendar"},
    {"http://a.example/2032/13", NULL},
    {"http://a.example/2032/0", NULL},
    {"http://a.example/2032/007", NULL},
    {"http://a.example/2032/x", NULL},
    {"http://a.example/2032", NULL},
    {"http://a.example/2032/", NULL},
    {"http://a.example/20322/07", NULL},
    {"http://a.example/203/07", NULL},
    {"http://a.example/20x2/07", NULL},
    {"http://a.example/2032-07-30/x", "traps.calendar"},
    {"http://a.example/2032-07.html", "traps.calendar"},
    {"http://a.example/2031/12", NULL},
    {"http://a.example/2225/12", "traps.calendar"},
    {"http://a.example/2226/01", NULL},
    {"http://a.example/calendar/2226/01", "traps.calendar"},
    {"http://a.example/2032/07?d=2026-01", NULL},
    /* the past of a calendar that stands before the date */
    {"http://a.example/calendar/2020/05", "traps.calendar"},
    {"http://a.example/calendar/2021/05", NULL},
    {"http://a.example/2020/05/calendar", NULL},
    {"http://a.example/2020/05", NULL},
    {"http://a.example/2020/05?view=calendar", "traps.calendar"},
    {"http://a.example/agenda?d=2020-01", "traps.calendar"},
    {"http://a.example/kalender/2020/05", "traps.calendar"},
    {"http://a.example/CALENDAR/2020/05", "traps.calendar"},
    {"http://a.example/my-calendar-x/2020/05", "traps.calendar"},
    {"http://a.example/?tribe-bar-date=2020-05", "traps.calendar"},
    {"http://a.example/calen/2020/05", NULL},
    {"http://a.example/?d=2020-05", NULL},
    /* numbers of sessions: sixteen characters, four of them digits, and at most four of another
       kind */
    {"http://a.example/?sid=0123456789abcdef", "traps.sessions"},
    {"http://a.example/?sid=123456789abcdef", NULL},
    {"http://a.example/?sid=1234abcdefghijkl", "traps.sessions"},
    {"http://a.example/?sid=123abcdefghijklm", NULL},
    {"http://a.example/?sid=1234abcdefgh----", "traps.sessions"},
    {"http://a.example/?sid=1234abcdefg-----", NULL},
    {"http://a.example/?a=1&sid=0123456789abcdef", "traps.sessions"},
    {"http://a.example/?sid=1&sid=0123456789abcdef", "traps.sessions"},
    {"http://a.example/?sids=0123456789abcdef", NULL},
    {"http://a.example/?a=0123456789abcdef", NULL},
    {"http://a.example/x;a=b;sid=0123456789abcdef/y", "traps.sessions"},
    {"http://a.example/x;sid=1;a=0123456789abcdef", NULL},
    {"http://a.example/sid=0123456789abcdef", NULL},
    {"http://a.example/a/x;sid=0123456789abcdef", "traps.sessions"},
    {"http://a.example/(S(0123456789ab)", "traps.sessions"},
    {"http://a.example/(S(0123456789a)", NULL},
    {"http://a.example/a/(s(0123456789ab)", "traps.sessions"},
    {"http://a.example/(R(0123456789ab)", NULL},
};

static void
expect(const struct trap_rules *by, const char *uri, const char *option)
{
    const char *refusal = trap_refusal(by, slice_string(uri));
    if ((refusal == NULL) != (option == NULL) ||
        (option != NULL && !slice_starts(slice_string(refusal), slice_string(option)))) {
        fail_msg("%s: %s, not %s", uri, refusal != NULL ? refusal : "no trap",
                 option != NULL ? option : "no trap");
    }
}

static void
traps_are_told_from_pages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        expect(&rules, expectations[i].uri, expectations[i].option);
    }
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        expect(&rules, bounds[i].uri, bounds[i].option);
    }
}

static void
names_of_sessions(void **state)
{
    static const char *const names[] = {"jsessionid", "phpsessid",    "sessionid", "session_id",
                                        "sid",        "aspsessionid", "cfid",      "cftoken",
                                        "zenid",      "oscsid",       "sessid",    "SESSION-ID"};
    char uri[96];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(uri, sizeof uri, "http://a.example/?%s=0123456789abcdef", names[i]);
        expect(&rules, uri, "traps.sessions");
    }
}

/* So many segments of a path or parameters of a query, each another one. */
static const char *
long_uri(const char *base, char separator, int count)
{
    static char uri[4096];
    int n = snprintf(uri, sizeof uri, "%s0", base);
    for (int i = 1; i < count; i++) {
        n += snprintf(uri + n, sizeof uri - (size_t)n, "%c%d", separator, i);
    }
    return uri;
}

static void
depths_are_counted(void **state)
{
    struct trap_rules deep = {.depth = 3, .year = 2026};
    (void)state;
    expect(&deep, "http://a.example//1//2/3/", NULL);
    expect(&deep, "http://a.example/1/2/3/4", "traps.depth");
    expect(&deep, "http://a.example/1/2/3?4/5/6", NULL);
    deep.depth = 1000;
    expect(&deep, long_uri("http://a.example/", '/', 256), NULL);
    expect(&deep, long_uri("http://a.example/", '/', 257),
           "traps.depth"); /* more are not counted */
    deep.depth = 0;
    expect(&deep, long_uri("http://a.example/", '/', 257), NULL);
    deep.cycles = 2;
    expect(&deep, "http://a.example/a/b/a/b", "traps.cycles");
    expect(&deep, "http://a.example/?a=1&a=1", "traps.cycles");
    expect(&deep, long_uri("http://a.example/?", '&', 256), NULL);
    expect(&deep, long_uri("http://a.example/?", '&', 257),
           "traps.cycles"); /* nobody means so many */
    deep.cycles = 1;
    expect(&deep, "http://a.example/a/b/a/b/a/b?a=1&a=1", NULL);
}

static void
rules_come_from_options(void **state)
{
    static const struct opt *const tables[] = {traps_options, NULL};
    static const char *const settings[] = {"traps.depth=7", "traps.cycles=8", "traps.calendar=9",
                                           "traps.sessions=no"};
    struct opt_set *options = opt_set_new(tables);
    struct trap_rules read;
    struct reason why = {""};
    const time_t before = time(NULL);
    (void)state;
    trap_rules_from(&read, options);
    const time_t after = time(NULL);
    assert_int_equal(read.depth, 32);
    assert_int_equal(read.cycles, 3);
    assert_int_equal(read.calendar, 5);
    assert_true(read.sessions);
    assert_in_range(read.year, gmtime(&before)->tm_year + 1900, gmtime(&after)->tm_year + 1900);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        assert_int_equal(opt_set_assign(options, settings[i], &why), STATUS_OK);
    }
    trap_rules_from(&read, options);
    assert_int_equal(read.depth, 7);
    assert_int_equal(read.cycles, 8);
    assert_int_equal(read.calendar, 9);
    assert_false(read.sessions);
    opt_set_free(options);
}

static void
options_turn_each_off(void **state)
{
    const struct trap_rules none = {.year = 2026};
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        expect(&none, expectations[i].uri, NULL);
    }
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        expect(&none, bounds[i].uri, NULL);
    }
}

static void
queries_have_a_budget_by_path(void **state)
{
    struct trap_budget *budget = trap_budget_new(3);
    char uri[64];
    unsigned taken = 0;
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        snprintf(uri, sizeof uri, "http://a.example/list?page=%u", i);
        taken += trap_budget_take(budget, slice_string(uri));
    }
    assert_int_equal(taken, 3);
    assert_true(trap_budget_take(budget, SLICE("http://a.example/other?page=1")));
    assert_true(trap_budget_take(budget, SLICE("http://a.example/list")));
    trap_budget_free(budget);
    budget = trap_budget_new(0);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(trap_budget_take(budget, SLICE("http://a.example/list?page=1")));
    }
    trap_budget_free(budget);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traps_are_told_from_pages),
        cmocka_unit_test(names_of_sessions),
        cmocka_unit_test(depths_are_counted),
        cmocka_unit_test(rules_come_from_options),
        cmocka_unit_test(options_turn_each_off),
        cmocka_unit_test(queries_have_a_budget_by_path),
    };
    if (argc > 1) { /* by hand: which of the URIs in a file are taken for traps */
        char line[9000];
        FILE *file = fopen(argv[1], "re");
        unsigned all = 0;
        unsigned refused = 0;
        while (file != NULL && fgets(line, sizeof line, file) != NULL) {
            const struct slice uri = slice_trim(slice_string(line));
            const char *refusal = trap_refusal(&rules, uri);
            all++;
            refused += refusal != NULL;
            if (refusal != NULL) {
                printf("%.*s\t%s\n", SLICE_PRINT(uri), refusal);
            }
        }
        printf("%u of %u\n", refused, all);
        return file == NULL || fclose(file) != 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
