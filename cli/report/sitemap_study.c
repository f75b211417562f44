#include "cli/report/sitemap_study.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { CHAIN = 8 }; /* candidates of a band that are compared */
static const double DAMPING = 0.85;

void
study_init(struct study *study, size_t most, uint64_t root)
{
    *study = (struct study){.most = most, .root = root};
    map_init(&study->by_fingerprint);
}

void
study_release(struct study *study)
{
    map_release(&study->by_fingerprint);
    free(study->urls);
    free(study->edges);
    *study = (struct study){0};
}

/* ---- URLs ---- */

static bool
is_kept(const struct study *study, uint64_t fingerprint)
{
    return (fingerprint & ((UINT64_C(1) << study->dropped_bits) - 1)) == 0;
}

static void
thin(struct study *study)
{
    size_t kept = 0;
    study->dropped_bits++;
    map_clear(&study->by_fingerprint);
    for (size_t i = 0; i < study->count; i++) {
        if (is_kept(study, study->urls[i].fingerprint)) {
            study->urls[kept] = study->urls[i];
            map_set(&study->by_fingerprint, study->urls[kept].fingerprint, (uint32_t)kept);
            kept++;
        }
    }
    study->count = kept;
}

struct study_url *
study_url(struct study *study, uint64_t fingerprint)
{
    const uint32_t at = map_get(&study->by_fingerprint, fingerprint);
    if (at != (uint32_t)MAP_NONE) {
        return &study->urls[at];
    }
    while (study->count >= study->most && is_kept(study, fingerprint)) {
        thin(study);
    }
    if (!is_kept(study, fingerprint)) {
        return NULL;
    }
    if (study->count == study->capacity) {
        study->capacity = study->capacity * 2 + 64;
        study->urls = memory_resize(study->urls, study->capacity, sizeof *study->urls);
    }
    map_set(&study->by_fingerprint, fingerprint, (uint32_t)study->count);
    study->urls[study->count] = (struct study_url){.fingerprint = fingerprint, .stated = 50};
    return &study->urls[study->count++];
}

void
study_link(struct study *study, uint64_t from, uint64_t to)
{
    const uint32_t source = map_get(&study->by_fingerprint, from),
                   target = map_get(&study->by_fingerprint, to);
    if (source == (uint32_t)MAP_NONE || target == (uint32_t)MAP_NONE || source == target) {
        return;
    }
    if (study->edge_count == study->edge_capacity) {
        study->edge_capacity = study->edge_capacity * 2 + 256;
        study->edges = memory_resize(study->edges, study->edge_capacity, sizeof *study->edges);
    }
    study->edges[study->edge_count++] = (struct rank_edge){source, target, 1};
}

/* ---- ranks ---- */

void
study_rank(struct study *study)
{
    const size_t n = study->count;
    const uint32_t root = map_get(&study->by_fingerprint, study->root);
    double *ranks = memory_zero(n + 1, sizeof *ranks);
    struct rank_edge *edges = memory_zero(study->edge_count + n + 1, sizeof *edges);
    size_t count = study->edge_count;
    rank_pages(study->edges, study->edge_count, n, DAMPING, ranks);
    if (count > 0) {
        memcpy(edges, study->edges, count * sizeof *edges);
    }
    if (root != (uint32_t)MAP_NONE) {
        edges[count++] = (struct rank_edge){root, (uint32_t)n, 1};
    }
    for (size_t i = 0; i < n; i++) {
        const struct study_url *url = &study->urls[i];
        study->urls[i].page_rank = ranks[i];
        if (url->sitemap_ms > 0) {
            const double weight = url->stated > 0 ? url->stated : 1;
            edges[count++] = (struct rank_edge){(uint32_t)n, (uint32_t)i, weight};
        }
    }
    rank_pages(edges, count, n + 1, DAMPING, ranks);
    for (size_t i = 0; i < n; i++) {
        study->urls[i].priority_rank = ranks[i];
    }
    free(edges);
    free(ranks);
}

/* ---- near duplicates ---- */

static uint32_t
find(struct study_url *urls, uint32_t at)
{
    while (urls[at].cluster != at) {
        urls[at].cluster = urls[urls[at].cluster].cluster;
        at = urls[at].cluster;
    }
    return at;
}

static void
join(struct study_url *urls, uint32_t a, uint32_t b)
{
    a = find(urls, a);
    b = find(urls, b);
    urls[a > b ? a : b].cluster = a < b ? a : b;
}

/* Every document is compared with those that last had one of its bands. */
static void
cluster(struct study *study)
{
    struct study_url *urls = study->urls;
    uint32_t *before = memory_zero(study->count + 1, sizeof *before); /* with the same band, + 1 */
    struct map last;
    for (uint32_t i = 0; i < study->count; i++) {
        urls[i].cluster = i;
    }
    map_init(&last);
    for (unsigned band = 0; band < MINHASH_BANDS; band++) {
        map_clear(&last);
        for (uint32_t i = 0; i < study->count; i++) {
            if (!urls[i].sketched) {
                continue;
            }
            const uint64_t fingerprint = minhash_band(&urls[i].minhash, band);
            const uint32_t previous = map_get(&last, fingerprint);
            before[i] = previous == (uint32_t)MAP_NONE ? 0 : previous + 1;
            uint32_t at = before[i];
            for (int step = 0; step < CHAIN && at > 0; step++, at = before[at - 1]) {
                if (minhash_agreement(&urls[at - 1].minhash, &urls[i].minhash) >= MINHASH_SAME) {
                    join(urls, at - 1, i);
                }
            }
            map_set(&last, fingerprint, i);
        }
    }
    map_release(&last);
    free(before);
}

/* ---- measures ---- */

static void
count_url(struct study_count *count, bool listed, bool linked)
{
    count->all++;
    count->listed += listed;
    count->linked += linked;
    count->both += listed && linked;
}

/* A cluster is listed when one of its URLs is. */
static void
count_clusters(struct study *study, struct study_count *unique)
{
    bool *listed = memory_zero(study->count + 1, sizeof *listed);
    bool *linked = memory_zero(study->count + 1, sizeof *linked);
    for (uint32_t i = 0; i < study->count; i++) {
        const struct study_url *url = &study->urls[i];
        if (url->sketched) {
            const uint32_t root = find(study->urls, i);
            listed[root] |= url->sitemap_ms > 0;
            linked[root] |= url->link_ms > 0;
        }
    }
    for (uint32_t i = 0; i < study->count; i++) {
        study->urls[i].cluster = find(study->urls, i);
        if (study->urls[i].sketched && study->urls[i].cluster == i) {
            count_url(unique, listed[i], linked[i]);
        }
    }
    free(listed);
    free(linked);
}

static int
compare_deltas(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void
measure_deltas(const struct study *study, struct study_measures *measures)
{
    double *deltas = memory_zero(study->count + 1, sizeof *deltas);
    size_t n = 0;
    for (size_t i = 0; i < study->count; i++) {
        const struct study_url *url = &study->urls[i];
        if (url->sitemap_ms == 0 || url->link_ms == 0) {
            continue;
        }
        deltas[n] = ((double)url->link_ms - (double)url->sitemap_ms) / 1000;
        measures->delta_sum += deltas[n];
        measures->sitemaps_first += deltas[n] > 0;
        measures->links_first += deltas[n] < 0;
        n++;
    }
    qsort(deltas, n, sizeof *deltas, compare_deltas);
    if (n > 0) {
        measures->delta_mean = measures->delta_sum / (double)n;
        measures->delta_median =
            n % 2 == 1 ? deltas[n / 2] : (deltas[n / 2 - 1] + deltas[n / 2]) / 2;
    }
    free(deltas);
}

static double
share(double part, double whole)
{
    return whole > 0 ? part / whole : -1;
}

void
study_measure(struct study *study, bool ranked, struct study_measures *measures)
{
    double rank = 0, listed_rank = 0;
    *measures = (struct study_measures){0};
    for (size_t i = 0; i < study->count; i++) {
        const struct study_url *url = &study->urls[i];
        const bool listed = url->sitemap_ms > 0, linked = url->link_ms > 0;
        count_url(&measures->seen, listed, linked);
        if (url->crawled) {
            count_url(&measures->crawled, listed, linked);
        }
        if (url->indexed) {
            count_url(&measures->indexed, listed, linked);
        }
        rank += url->page_rank;
        listed_rank += listed ? url->page_rank : 0;
    }
    cluster(study);
    count_clusters(study, &measures->unique);
    const struct study_count *seen = &measures->seen, *unique = &measures->unique;
    measures->coverage = share((double)measures->crawled.listed, (double)measures->crawled.all);
    measures->unique_coverage = share((double)unique->listed, (double)unique->all);
    measures->index_coverage =
        share((double)measures->indexed.listed, (double)measures->indexed.all);
    measures->page_rank_coverage = ranked ? share(listed_rank, rank) : -1;
    measures->signal_to_noise = share((double)unique->all, (double)seen->all);
    measures->signal_to_noise_listed = share((double)unique->listed, (double)seen->listed);
    measures->signal_to_noise_linked = share((double)unique->linked, (double)seen->linked);
    measure_deltas(study, measures);
}
