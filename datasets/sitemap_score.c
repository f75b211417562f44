#include "datasets/sitemap_score.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static const double CONVERGED = 1e-10;
enum { ROUNDS = 200 };

void
rank_pages(const struct rank_edge *edges, size_t edge_count, size_t n, double damping,
           double *ranks)
{
    double *weights = memory_zero(n + 1, sizeof *weights);
    double *next = memory_zero(n + 1, sizeof *next);
    double change = n > 0 ? 1 : 0;
    for (size_t i = 0; i < edge_count; i++) {
        weights[edges[i].from] += edges[i].weight;
    }
    for (size_t i = 0; i < n; i++) {
        ranks[i] = 1 / (double)n;
    }
    for (int round = 0; round < ROUNDS && change > CONVERGED; round++) {
        double dangling = 0;
        for (size_t i = 0; i < n; i++) {
            dangling += weights[i] > 0 ? 0 : ranks[i];
        }
        for (size_t i = 0; i < n; i++) {
            next[i] = (1 - damping + damping * dangling) / (double)n;
        }
        for (size_t i = 0; i < edge_count; i++) {
            const struct rank_edge *edge = &edges[i];
            next[edge->to] += damping * ranks[edge->from] * edge->weight / weights[edge->from];
        }
        change = 0;
        for (size_t i = 0; i < n; i++) {
            change += fabs(next[i] - ranks[i]);
            ranks[i] = next[i];
        }
    }
    free(weights);
    free(next);
}

void
queue_balance_init(struct queue_balance *balance, unsigned total)
{
    *balance = (struct queue_balance){.total = total, .step = total < 20 ? 1 : total / 10};
    balance->sitemaps = total / 2;
    balance->links = total - balance->sitemaps;
}

void
queue_balance_adjust(struct queue_balance *balance, double sitemaps, double links)
{
    unsigned *loser = sitemaps < links ? &balance->sitemaps : &balance->links;
    if (*loser >= 2 * balance->step) {
        *loser -= balance->step;
        balance->sitemaps = loser == &balance->sitemaps ? *loser : balance->total - *loser;
        balance->links = balance->total - balance->sitemaps;
    }
}

uint8_t
queue_balance_share(const struct queue_balance *balance)
{
    const unsigned share = balance->sitemaps * 256 / balance->total;
    return (uint8_t)(share < 1 ? 1 : share > 255 ? 255 : share);
}

void
queue_balance_set_share(struct queue_balance *balance, uint8_t share)
{
    const unsigned most = balance->total - balance->step;
    unsigned sitemaps = (share * balance->total + 128) / 256;
    sitemaps = sitemaps < balance->step ? balance->step : sitemaps;
    balance->sitemaps = sitemaps < most ? sitemaps : most;
    balance->links = balance->total - balance->sitemaps;
}

uint64_t
submission_allowance(uint64_t budget, uint64_t sampled, uint64_t useful)
{
    return (uint64_t)((double)budget * (double)(useful + 1) / (double)(sampled + 2));
}

uint8_t
listed_priority(double score)
{
    const double within = fmin(1, fmax(0, score));
    return (uint8_t)(LISTED_PRIORITY + (LISTED_STEPS - 1) -
                     (int)(within * (LISTED_STEPS - 1) + 0.5));
}
