/* Spaces without end are told from pages of real sites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

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

static void
traps_are_told_from_pages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        const char *refusal = trap_refusal(&rules, slice_string(expectations[i].uri));
        const char *option = expectations[i].option;
        if ((refusal == NULL) != (option == NULL) ||
            (option != NULL && !slice_starts(slice_string(refusal), slice_string(option)))) {
            fail_msg("%s: %s, not %s", expectations[i].uri, refusal != NULL ? refusal : "no trap",
                     option != NULL ? option : "no trap");
        }
    }
}

static void
options_turn_each_off(void **state)
{
    const struct trap_rules none = {.year = 2026};
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        assert_null(trap_refusal(&none, slice_string(expectations[i].uri)));
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
