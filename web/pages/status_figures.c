#include "web/pages/status_figures.h"

#include <pthread.h>

#include "base/system/clock.h"

enum { ANSWER_MS = 3000, HOSTS_BYTES = 256 << 10, RATE_MS = 4000, LEAST_MS = 500, MOST_MS = 30000 };

#define FIGURE(field, title)                                     \
    {                                                            \
#field, title, offsetof(struct queue_stage_stats, field) \
    }
const struct status_figure status_figures[STATUS_FIGURES] = {
    FIGURE(ready, "waiting"),     FIGURE(leased, "at work"),       FIGURE(delayed, "retry"),
    FIGURE(scheduled, "recrawl"), FIGURE(outbox, "other node"),    FIGURE(done, "done"),
    FIGURE(buried, "set aside"),  FIGURE(released, "tried again"), FIGURE(oldest_ms, "oldest, ms")};

uint64_t *
status_figure_of(struct queue_stage_stats *stage, const struct status_figure *figure)
{
    return (uint64_t *)(void *)((char *)stage + figure->offset);
}

static void
add_queue(struct queue_stats *sum, struct queue_stats *one)
{
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        for (size_t i = 0; i < STATUS_FIGURES; i++) {
            uint64_t *total = status_figure_of(&sum->stages[stage], &status_figures[i]);
            const uint64_t value = *status_figure_of(&one->stages[stage], &status_figures[i]);
            if (status_figures[i].offset == offsetof(struct queue_stage_stats, oldest_ms)) {
                *total = value > *total ? value : *total;
            } else {
                *total += value;
            }
        }
        sum->stages[stage].throttled |= one->stages[stage].throttled;
    }
    for (size_t i = 0; i < OUTCOME_COUNT; i++) {
        sum->outcomes[i] += one->outcomes[i];
    }
    sum->hosts_aside += one->hosts_aside;
    sum->hosts_failing += one->hosts_failing;
    sum->seen += one->seen;
    sum->lanes += one->lanes;
    sum->lanes_busy += one->lanes_busy;
    sum->intake_stopped |= one->intake_stopped;
    sum->cut_off |= one->cut_off;
    sum->stages[STAGE_FETCH].aside += one->stages[STAGE_FETCH].aside;
    sum->disk_free =
        sum->disk_free == 0 || one->disk_free < sum->disk_free ? one->disk_free : sum->disk_free;
}

static bool
goes_before(const struct queue_host *host, const struct queue_host *other)
{
    return host->jobs != other->jobs ? host->jobs > other->jobs
                                     : slice_compare(host->origin, other->origin) < 0;
}

/* Keeps those that most jobs wait for, in this order. */
static bool
add_host(void *context, const struct queue_host *host)
{
    struct status_now *now = context;
    size_t at = now->host_count;
    if (at == STATUS_HOSTS && !goes_before(host, &now->hosts[at - 1])) {
        return true;
    }
    struct queue_host kept = *host;
    kept.origin = arena_copy(&now->arena, host->origin);
    kept.cause = arena_copy(&now->arena, host->cause);
    if (kept.origin.length == 0) {
        return false; /* too much is known of hosts */
    }
    at -= at == STATUS_HOSTS;
    while (at > 0 && goes_before(&kept, &now->hosts[at - 1])) {
        now->hosts[at] = now->hosts[at - 1];
        at--;
    }
    now->hosts[at] = kept;
    now->host_count += now->host_count < STATUS_HOSTS;
    return true;
}

static enum status
ask_queues(struct web_service *service, struct status_now *now, bool with_hosts, struct reason *why)
{
    TRY(web_check_part(service, "queue", why));
    for (size_t i = 0; i < service->queues.count; i++) {
        const struct queue_client_options options = {
            .endpoint = service->queues.endpoints[i], .name = "web", .keys = service->queues.keys};
        struct queue_client *client;
        struct queue_stats one = {.seen = 0};
        TRY(queue_client_open(&client, &options, why));
        const enum status status = queue_stats_get(client, &one, ANSWER_MS, why);
        if (status == STATUS_OK && with_hosts && one.hosts_aside + one.hosts_failing > 0) {
            struct reason untold; /* the figures stand without them */
            (void)queue_hosts(client, slice_of(NULL, 0), false, add_host, now, &untold);
        }
        queue_client_close(client);
        TRY(status);
        add_queue(&now->queue, &one);
    }
    return STATUS_OK;
}

/* ---- rates ---- */

struct sample {
    uint64_t ms, done[STAGE_COUNT];
};

/* Whoever looks takes samples some seconds apart, and rates are since the oldest that is no older
 * than half a minute; so a page without scripts has them from its second look on. */
static struct sample
exchange_samples(const struct sample *present)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct sample older, newer;
    struct sample base = {.ms = 0};
    (void)pthread_mutex_lock(&lock);
    const struct sample *const candidates[] = {&newer, &older};
    for (size_t i = 0; i < 2; i++) {
        const uint64_t age = present->ms - candidates[i]->ms;
        if (candidates[i]->ms > 0 && age >= LEAST_MS && age <= MOST_MS) {
            base = *candidates[i];
        }
    }
    if (present->ms >= newer.ms + RATE_MS) {
        older = newer;
        newer = *present;
    }
    (void)pthread_mutex_unlock(&lock);
    return base;
}

static double
rate(uint64_t before, uint64_t after, double seconds)
{
    return after > before ? (double)(after - before) / seconds : 0;
}

static void
find_rates(struct status_now *now)
{
    struct sample present = {.ms = clock_monotonic_ms()};
    for (int i = 0; i < STAGE_COUNT; i++) {
        present.done[i] = now->queue.stages[i].done;
    }
    const struct sample base = exchange_samples(&present);
    const double seconds = (double)(present.ms - base.ms) / 1000;
    now->has_rates = base.ms > 0;
    for (int i = 0; now->has_rates && i < STAGE_COUNT; i++) {
        now->done_rate[i] = rate(base.done[i], present.done[i], seconds);
    }
}

/* Finds the bottleneck as `quadrille status` does. */
static void
find_bottleneck(struct status_now *now)
{
    double longest = 0;
    now->bottleneck = -1;
    for (int i = 0; now->has_rates && i < STAGE_COUNT; i++) {
        const struct queue_stage_stats *stage = &now->queue.stages[i];
        const double waiting = (double)(stage->ready + stage->outbox + stage->leased);
        const double speed = now->done_rate[i] > 0.01 ? now->done_rate[i] : 0.01;
        if (waiting > 0 && waiting / speed > longest) {
            longest = waiting / speed;
            now->bottleneck = i;
        }
    }
}

void
status_take(struct web_service *service, bool with_hosts, struct status_now *now)
{
    struct index_client *client;
    *now = (struct status_now){.bottleneck = -1};
    arena_init(&now->arena, HOSTS_BYTES);
    now->has_queue = ask_queues(service, now, with_hosts, &now->why) == STATUS_OK;
    if (web_index_take(service, &client, &now->why) == STATUS_OK) {
        now->has_index = index_stats_get(client, &now->index, &now->why) == STATUS_OK;
        web_index_give(service, client, now->has_index);
    }
    if (now->has_queue && now->has_index) {
        find_rates(now);
        find_bottleneck(now);
    }
}

void
status_release(struct status_now *now)
{
    arena_release(&now->arena);
}
