/* The study's equations against a host that was counted by hand, and against their definitions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cli/report/sitemap_study.h"

/* number: what the document says; documents of the same number are duplicates. 0: it says nothing.
 */
static void
add(struct study *study, uint64_t fingerprint, uint64_t sitemap_ms, uint64_t link_ms, bool crawled,
    int number)
{
    char line[100];
    struct study_url *url = study_url(study, fingerprint);
    assert_non_null(url);
    url->sitemap_ms = sitemap_ms;
    url->link_ms = link_ms;
    url->crawled = crawled;
    url->indexed = number > 0;
    const int n = snprintf(line, sizeof line, "<http://e/x> <http://v/p> \"%d\" .\n", number);
    url->sketched =
        number > 0 && minhash_of(slice_of(line, (size_t)n), SLICE("http://e/x"), &url->minhash);
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
    for (uint64_t fingerprint = 1; fingerprint <= 1000; fingerprint++) {
        struct study_url *url = study_url(&study, fingerprint);
        if (url != NULL) {
            url->sitemap_ms = fingerprint % 8 == 0 ? 5 : 0;
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

/* ---- the definitions, computed as they are read, over random hosts ---- */

enum { NAIVE_URLS = 240 };

struct naive {
    uint64_t random;
    struct study_url urls[NAIVE_URLS];
    unsigned cluster[NAIVE_URLS];
};

static unsigned
naive_random(struct naive *naive, unsigned below)
{
    naive->random = naive->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(naive->random >> 33) % below;
}

/* Documents are of families of up to six; those of one differ from its first in one place. */
static void
naive_make(struct naive *naive, uint64_t seed)
{
    struct minhash first = {{0}};
    *naive = (struct naive){.random = seed * 2654435761u + 1};
    for (unsigned i = 0; i < NAIVE_URLS; i++) {
        struct study_url *url = &naive->urls[i];
        url->fingerprint = (uint64_t)(i + 1) << 20 | naive_random(naive, 1 << 20);
        url->sitemap_ms = naive_random(naive, 2) ? 1000 * (1 + naive_random(naive, 500)) : 0;
        url->link_ms = naive_random(naive, 3) ? 1000 * (1 + naive_random(naive, 500)) : 0;
        url->crawled = naive_random(naive, 4) != 0;
        url->indexed = url->sketched = url->crawled && naive_random(naive, 4) != 0;
        for (unsigned place = 0; place < MINHASH_PLACES && i % 6 == 0; place++) {
            first.places[place] = naive_random(naive, UINT32_MAX);
        }
        url->minhash = first;
        if (naive_random(naive, 2)) {
            url->minhash.places[naive_random(naive, MINHASH_PLACES)] ^= 1;
        }
        naive->cluster[i] = i;
    }
}

/* Each with each, until nothing changes. */
static void
naive_cluster(struct naive *naive)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < NAIVE_URLS; i++) {
            for (unsigned k = 0; k < NAIVE_URLS; k++) {
                unsigned same = 0;
                for (unsigned place = 0; place < MINHASH_PLACES; place++) {
                    same += naive->urls[i].minhash.places[place] ==
                            naive->urls[k].minhash.places[place];
                }
                if (same >= MINHASH_SAME && naive->urls[i].sketched && naive->urls[k].sketched &&
                    naive->cluster[k] < naive->cluster[i]) {
                    naive->cluster[i] = naive->cluster[k];
                    again = true;
                }
            }
        }
    }
}

/* Clusters with a document of which either time is known, as asked for. */
static unsigned
naive_clusters(const struct naive *naive, bool listed, bool linked)
{
    unsigned count = 0;
    for (unsigned c = 0; c < NAIVE_URLS; c++) {
        bool any = false, any_listed = false, any_linked = false;
        for (unsigned i = 0; i < NAIVE_URLS; i++) {
            if (naive->urls[i].sketched && naive->cluster[i] == c) {
                any = true;
                any_listed |= naive->urls[i].sitemap_ms > 0;
                any_linked |= naive->urls[i].link_ms > 0;
            }
        }
        count += any && (!listed || any_listed) && (!linked || any_linked);
    }
    return count;
}

static unsigned
naive_count(const struct naive *naive, bool crawled, bool indexed, bool listed, bool linked)
{
    unsigned count = 0;
    for (unsigned i = 0; i < NAIVE_URLS; i++) {
        const struct study_url *url = &naive->urls[i];
        count += (!crawled || url->crawled) && (!indexed || url->indexed) &&
                 (!listed || url->sitemap_ms > 0) && (!linked || url->link_ms > 0);
    }
    return count;
}

/* The median by counting: as many deltas below as above. */
static void
check_deltas(const struct naive *naive, const struct study_measures *measures)
{
    double sum = 0;
    int n = 0, first = 0, below = 0, above = 0;
    for (unsigned i = 0; i < NAIVE_URLS; i++) {
        const struct study_url *url = &naive->urls[i];
        if (url->sitemap_ms > 0 && url->link_ms > 0) {
            const double delta = (double)url->link_ms / 1000 - (double)url->sitemap_ms / 1000;
            sum += delta;
            n++;
            first += delta > 0;
            below += delta < measures->delta_median;
            above += delta > measures->delta_median;
        }
    }
    assert_true(n > 50);
    assert_true(near(measures->delta_sum, sum));
    assert_true(near(measures->delta_mean, sum / n));
    assert_true(2 * below <= n && 2 * above <= n);
    assert_int_equal(measures->sitemaps_first, first);
}

static void
random_hosts_measure_as_defined(void **state)
{
    static struct naive naive;
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct study study;
        struct study_measures got;
        naive_make(&naive, seed);
        study_init(&study, STUDY_MOST, 0);
        for (unsigned i = 0; i < NAIVE_URLS; i++) {
            *study_url(&study, naive.urls[i].fingerprint) = naive.urls[i];
        }
        study_measure(&study, false, &got);
        naive_cluster(&naive);
        const double clusters = naive_clusters(&naive, false, false);
        const double listed = naive_clusters(&naive, true, false);
        const double linked = naive_clusters(&naive, false, true);
        assert_true(clusters > 10 && clusters < naive_count(&naive, false, true, false, false));
        assert_true(near(got.coverage, (double)naive_count(&naive, true, false, true, false) /
                                           naive_count(&naive, true, false, false, false)));
        assert_true(near(got.unique_coverage, listed / clusters));
        assert_true(near(got.index_coverage, (double)naive_count(&naive, false, true, true, false) /
                                                 naive_count(&naive, false, true, false, false)));
        assert_true(near(got.signal_to_noise, clusters / NAIVE_URLS));
        assert_true(near(got.signal_to_noise_listed,
                         listed / naive_count(&naive, false, false, true, false)));
        assert_true(near(got.signal_to_noise_linked,
                         linked / naive_count(&naive, false, false, false, true)));
        assert_int_equal(got.unique.both, naive_clusters(&naive, true, true));
        check_deltas(&naive, &got);
        study_release(&study);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations_hold),
        cmocka_unit_test(ranks_follow_links_and_priorities),
        cmocka_unit_test(random_hosts_measure_as_defined),
        cmocka_unit_test(of_too_many_a_sample_is_kept),
    };
    return cmocka_run_group_tests_name("sitemap_study", tests, NULL, NULL);
}
