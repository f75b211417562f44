/* Tells where the crawl stands, in figures: sums over all nodes, for the page, JSON and
 * Prometheus. */
#ifndef WEB_PAGES_STATUS_FIGURES_H
#define WEB_PAGES_STATUS_FIGURES_H

#include "base/arena.h"
#include "queue/client/queue_client.h"
#include "web/web_service.h"

enum { STATUS_HOSTS = 50 };

struct status_now {
    struct queue_stats queue;
    struct index_stats index;
    bool has_queue, has_index;
    struct reason why; /* why one of them is missing */
    /* Jobs done and quads added a second since some seconds ago; not known at the first look. */
    bool has_rates;
    double done_rate[STAGE_COUNT];
    int bottleneck; /* the stage that would need longest for what waits; -1: none is known */
    /* Hosts in trouble, those that most jobs wait for; there may be more. */
    struct queue_host hosts[STATUS_HOSTS];
    size_t host_count;
    struct arena arena; /* of their texts */
};
void status_take(struct web_service *service, bool with_hosts, struct status_now *now);
void status_release(struct status_now *now);

/* One name and place for each figure of a stage: JSON, page, metrics. */
struct status_figure {
    const char *name, *title;
    size_t offset;
};
enum { STATUS_FIGURES = 9 };
extern const struct status_figure status_figures[STATUS_FIGURES];
uint64_t *status_figure_of(struct queue_stage_stats *stage, const struct status_figure *figure);

#endif
