/* Each formula against examples that were computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "datasets/sitemap_score.h"

static void
page_rank_of_two_and_three_pages(void **state)
{
    double ranks[3];
    (void)state;
    /* a -> b: with d = 0.5, and b dangling: a = 0.25 + 0.5 b / 2, b = 0.25 + 0.5 b / 2 + 0.5 a;
     * a + b = 1 gives b - a = 0.5 a, so a = 0.4, b = 0.6. */
    const struct rank_edge one[] = {{0, 1, 1}};
    rank_pages(one, 1, 2, 0.5, ranks);
    assert_true(fabs(ranks[0] - (0.4)) < 1e-9);
    assert_true(fabs(ranks[1] - (0.6)) < 1e-9);
    /* c -> a with weight 3, c -> b with weight 1; a -> c; b -> c. d = 0.8:
     * a = 1/15 + 0.6 c, b = 1/15 + 0.2 c, c = 1/15 + 0.8 (a + b) = 1/15 + 0.8 (1 - c);
     * 1.8 c = 13/15, c = 13/27; a = 1/15 + 7.8/27, b = 1/15 + 2.6/27. */
    const struct rank_edge weighted[] = {{2, 0, 3}, {2, 1, 1}, {0, 2, 1}, {1, 2, 1}};
    rank_pages(weighted, 4, 3, 0.8, ranks);
    assert_true(fabs(ranks[2] - (13.0 / 27)) < 1e-9);
    assert_true(fabs(ranks[0] - (1.0 / 15 + 7.8 / 27)) < 1e-9);
    assert_true(fabs(ranks[1] - (1.0 / 15 + 2.6 / 27)) < 1e-9);
    rank_pages(NULL, 0, 2, 0.85, ranks);
    assert_true(fabs(ranks[0] - (0.5)) < 1e-12);
    rank_pages(NULL, 0, 0, 0.85, ranks);
}

/* Figure 8 with N = 40 and delta = 4. */
static void
balance_follows_utility(void **state)
{
    struct queue_balance balance;
    (void)state;
    queue_balance_init(&balance, 40);
    assert_int_equal(balance.step, 4);
    assert_int_equal(queue_balance_share(&balance), 128);
    queue_balance_adjust(&balance, 0.25, 0.5);
    assert_int_equal(balance.sitemaps, 16);
    assert_int_equal(balance.links, 24);
    for (int i = 0; i < 20; i++) {
        queue_balance_adjust(&balance, 0, 1);
    }
    assert_int_equal(balance.sitemaps, 4); /* goes on being measured */
    assert_int_equal(queue_balance_share(&balance), 25);
    queue_balance_adjust(&balance, 0.5, 0.5);
    assert_int_equal(balance.sitemaps, 8);
    for (int i = 0; i < 20; i++) {
        queue_balance_adjust(&balance, 1, 0);
    }
    assert_int_equal(balance.sitemaps, 36);
    assert_int_equal(balance.links, 4);
    queue_balance_set_share(&balance, 128);
    assert_int_equal(balance.sitemaps, 20);
    queue_balance_set_share(&balance, 255);
    assert_int_equal(balance.sitemaps, 36);
    queue_balance_set_share(&balance, 0);
    assert_int_equal(balance.sitemaps, 4);
}

static void
what_may_be_submitted_follows_yield(void **state)
{
    (void)state;
    assert_int_equal(submission_allowance(100000, 0, 0), 50000);
    assert_int_equal(submission_allowance(100000, 98, 0), 1000);
    assert_int_equal(submission_allowance(100000, 98, 98), 99000);
}

static void
scores_become_priorities(void **state)
{
    (void)state;
    assert_int_equal(listed_priority(1), 128);
    assert_int_equal(listed_priority(0), 191);
    assert_int_equal(listed_priority(0.5), 159);
    assert_int_equal(listed_priority(7), 128);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_rank_of_two_and_three_pages),
        cmocka_unit_test(balance_follows_utility),
        cmocka_unit_test(what_may_be_submitted_follows_yield),
        cmocka_unit_test(scores_become_priorities),
    };
    return cmocka_run_group_tests_name("sitemap_score", tests, NULL, NULL);
}
