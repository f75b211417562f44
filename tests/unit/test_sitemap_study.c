/* The study's equations against a host that was counted by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cli/sitemap_study.h"

/* number: what the document says; documents of the same number are duplicates. 0: it says nothing.
 */
static void
add(struct study *study, uint64_t print, uint64_t sitemap_ms, uint64_t link_ms, bool crawled,
    int number)
{
    char line[100];
    struct study_url *url = study_url(study, print);
    assert_non_null(url);
    url->sitemap_ms = sitemap_ms;
    url->link_ms = link_ms;
    url->crawled = crawled;
    url->indexed = number > 0;
    const int n = snprintf(line, sizeof line, "<http://e/x> <http://v/p> \"%d\" .\n", number);
    url->sketched =
        number > 0 && sketch_of(slice_of(line, (size_t)n), SLICE("http://e/x"), &url->sketch);
}

static bool
near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

/* Eight URLs: five listed (1, 2, 3, 4, 8), five linked (1, 2, 5, 6, 7), two by both. Seven are
 * crawled, four of them listed; six indexed, four of them listed. 2 and 5 say the same, as do 6 and
 * 7: four clusters of which 1, 2, 3 are listed, and 1, 2, 6 linked; 3 and 4 say the same, too. */
static void
equations_hold(void **state)
{
    struct study study;
    struct study_measures measures;
    (void)state;
    study_init(&study, STUDY_MOST, 1);
    add(&study, 1, 1000, 11000, true, 10);
    add(&study, 2, 5000, 3000, true, 20);
    add(&study, 3, 1000, 0, true, 30);
    add(&study, 4, 1000, 0, true, 30);
    add(&study, 5, 0, 2000, true, 20);
    add(&study, 6, 0, 2000, true, 40);
    add(&study, 7, 0, 2000, true, 0);
    add(&study, 8, 1000, 0, false, 0);
    study_measure(&study, false, &measures);
    assert_int_equal(measures.seen.all, 8);
    assert_int_equal(measures.seen.listed, 5);
    assert_int_equal(measures.seen.linked, 5);
    assert_int_equal(measures.seen.both, 2);
    assert_true(near(measures.coverage, 4.0 / 7));
    assert_true(near(measures.index_coverage, 4.0 / 6));
    assert_int_equal(measures.unique.all, 4);
    assert_int_equal(measures.unique.linked, 3);
    assert_true(near(measures.unique_coverage, 3.0 / 4));
    assert_true(near(measures.page_rank_coverage, -1));
    assert_true(near(measures.signal_to_noise, 4.0 / 8));
    assert_true(near(measures.signal_to_noise_listed, 3.0 / 5));
    assert_true(near(measures.signal_to_noise_linked, 3.0 / 5));
    assert_true(near(measures.delta_sum, 10 - 2)); /* URL 1: 11 - 1 s; URL 2: 3 - 5 s */
    assert_true(near(measures.delta_mean, 4));
    assert_true(near(measures.delta_median, 4));
    assert_int_equal(measures.sitemaps_first, 1);
    assert_int_equal(measures.links_first, 1);
    study_release(&study);
}

/* Root 1 links to 2; 2 and 3 are listed with priorities 0.75 and 0.25. PageRank, d = 0.85: 3 gets
 * as much as the root, r = 0.15 / 3 + 0.85 D / 3, D being what dangles, r + p for pages 2 (p) and
 * 3; p = r + 0.85 r. r (1 + 1 + 1.85) = 1: r = 1 / 3.85. In PriorityRank 3 has an incoming link and
 * 2 three times its weight, so 2 is before 3, and 3 before the root. */
static void
ranks_follow_links_and_priorities(void **state)
{
    struct study study;
    struct study_measures measures;
    (void)state;
    study_init(&study, STUDY_MOST, 1);
    add(&study, 1, 0, 5, true, 1);
    add(&study, 2, 5, 5, true, 2);
    add(&study, 3, 5, 0, true, 3);
    study_url(&study, 2)->stated = 75;
    study_url(&study, 3)->stated = 25;
    study_link(&study, 1, 2);
    study_link(&study, 1, 99); /* not of the host */
    study_link(&study, 2, 2);
    assert_int_equal(study.edge_count, 1);
    study_rank(&study);
    study_measure(&study, true, &measures);
    assert_true(near(study.urls[0].page_rank, 1 / 3.85));
    assert_true(near(study.urls[2].page_rank, 1 / 3.85));
    assert_true(near(study.urls[1].page_rank, 1.85 / 3.85));
    assert_true(near(measures.page_rank_coverage, 2.85 / 3.85));
    assert_true(study.urls[1].priority_rank > study.urls[2].priority_rank);
    assert_true(study.urls[2].priority_rank > study.urls[0].priority_rank);
    study_release(&study);
}

static void
of_too_many_a_sample_is_kept(void **state)
{
    struct study study;
    struct study_measures measures;
    (void)state;
    study_init(&study, 100, 0);
    for (uint64_t print = 1; print <= 1000; print++) {
        struct study_url *url = study_url(&study, print);
        if (url != NULL) {
            url->sitemap_ms = print % 8 == 0 ? 5 : 0;
        }
    }
    assert_int_equal(study.dropped_bits, 4);
    assert_int_equal(study.count, 1000 / 16);
    assert_null(study_url(&study, 3));
    study_measure(&study, false, &measures);
    assert_int_equal(measures.seen.listed, 1000 / 16);
    assert_true(near(measures.coverage, -1));
    study_release(&study);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations_hold),
        cmocka_unit_test(ranks_follow_links_and_priorities),
        cmocka_unit_test(of_too_many_a_sample_is_kept),
    };
    return cmocka_run_group_tests_name("sitemap_study", tests, NULL, NULL);
}
