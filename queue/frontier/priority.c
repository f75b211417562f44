#include "queue/frontier/priority.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "queue/frontier/estimate_table.h"

enum {
    YIELDS = 1 << 17,
    SPENDINGS = 1 << 16,
    EVERYWHERE = 1, /* in place of a fingerprint: the mean of all fetches */
    UNIT = 16,      /* of yields: so many are a doubling */
    FETCHES_MOST = 1024,
    PRIOR = 8, /* a pattern begins like its host, a host like all, as if fetched so often */
    LEVEL_UNIT = 256,
    WRITE_MS = 250,
    WRITE_ROWS = 16,
    /* ranks */
    RANK_MIDDLE = 48, /* of what is worth as much as others, at depth 0 */
    DEPTH_MOST = 16,
    DEPTH_COST = 2,
    LINKING_MOST = 15,
    LINKING_GAIN = 6, /* for each doubling of domains */
    YIELD_GAIN = 8,   /* for each doubling of quads */
    YIELD_MOST = 32,
    /* speeds */
    POOR_FETCHES = 64, /* of a host, before it is called poor */
    POOR_DOUBLINGS = 2
};

struct priorities {
    uint64_t budget, period_ms;
    struct estimates *yields;    /* weight: fetches; value: sum of log2(1 + quads) */
    struct estimates *spendings; /* weight: level of a leaking bucket; value: second of its time */
    uint64_t write_ms;           /* monotonic: the next */
    struct buf linking_host;     /* of the latest priority_link: links come many from one page */
    struct slice linking_domain; /* in it */
    struct buf spending_host;    /* of the latest URI whose domain was asked for */
    uint64_t spending_print;     /* of its domain */
};

struct priorities *
priority_new(uint64_t budget, uint64_t period_ms)
{
    struct priorities *priorities = memory_new(sizeof *priorities);
    priorities->budget = budget;
    priorities->period_ms = period_ms;
    buf_init(&priorities->linking_host, URL_MAXIMUM);
    buf_init(&priorities->spending_host, URL_MAXIMUM);
    priorities->yields = estimates_new(YIELDS, 'y');
    priorities->spendings = estimates_new(SPENDINGS, 's');
    return priorities;
}

void
priority_free(struct priorities *priorities)
{
    if (priorities != NULL) {
        estimates_free(priorities->yields);
        estimates_free(priorities->spendings);
        buf_release(&priorities->linking_host);
        buf_release(&priorities->spending_host);
        free(priorities);
    }
}

/* ---- patterns ---- */

static void
append_without_numbers(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        const bool digit = text.at[i] >= '0' && text.at[i] <= '9';
        if (!digit) {
            buf_append_char(out, text.at[i]);
        } else if (i == 0 || text.at[i - 1] < '0' || text.at[i - 1] > '9') {
            buf_append_char(out, '0');
        }
    }
}

static void
append_parameter_names(struct buf *out, struct slice query)
{
    bool name = true;
    for (size_t i = 0; i < query.length; i++) {
        const char c = query.at[i];
        name = c == '&' || (name && c != '=');
        if (name) {
            buf_append_char(out, c);
        }
    }
}

static size_t
find_last(struct slice text, char c, size_t none)
{
    for (size_t i = text.length; i > 0; i--) {
        if (text.at[i - 1] == c) {
            return i - 1;
        }
    }
    return none;
}

void
priority_pattern(struct slice uri, struct buf *out)
{
    const struct slice origin = url_origin(uri);
    struct slice path = slice_of(uri.at + origin.length, uri.length - origin.length);
    struct slice query = {"", 0};
    const char *mark = path.length > 0 ? memchr(path.at, '?', path.length) : NULL;
    if (mark != NULL) {
        query = slice_of(mark, (size_t)(path.at + path.length - mark));
        path.length = (size_t)(mark - path.at);
    }
    const char *second = path.length > 1 ? memchr(path.at + 1, '/', path.length - 1) : NULL;
    const size_t slash = find_last(path, '/', 0);
    const struct slice last = slice_of(path.at + slash, path.length - slash);
    const size_t dot = find_last(last, '.', last.length);
    (void)buf_append_slice(out, origin);
    if (second != NULL) {
        append_without_numbers(out, slice_of(path.at, (size_t)(second - path.at)));
    }
    buf_append_string(out, "/*");
    append_without_numbers(out, slice_of(last.at + dot, last.length - dot));
    append_parameter_names(out, query);
}

static uint64_t
pattern_print(struct slice uri)
{
    struct buf pattern;
    buf_init(&pattern, 2 * URL_MAXIMUM);
    priority_pattern(uri, &pattern);
    const uint64_t fingerprint = fingerprint64(buf_slice(&pattern));
    buf_release(&pattern);
    return fingerprint;
}

/* ---- links ---- */

enum { DOMAIN_BITS = 16 };

/* Linear counting (Whang and others 1990). */
unsigned
priority_linking(uint16_t domains)
{
    const int set = __builtin_popcount(domains);
    const double free = set == DOMAIN_BITS ? 0.5 : DOMAIN_BITS - set;
    return (unsigned)lround(-DOMAIN_BITS * log(free / DOMAIN_BITS));
}

static struct slice
linking_domain(struct priorities *priorities, struct slice host)
{
    if (!slice_equal(host, buf_slice(&priorities->linking_host))) {
        buf_reset(&priorities->linking_host);
        (void)buf_append_slice(&priorities->linking_host, host);
        priorities->linking_domain = url_registrable_domain(buf_slice(&priorities->linking_host));
    }
    return priorities->linking_domain;
}

uint16_t
priority_link(struct priorities *priorities, struct slice uri, struct slice via)
{
    const struct slice host = url_host(uri);
    const struct slice other = url_host(via);
    if (via.length == 0 || other.length > URL_MAXIMUM || slice_equal(host, other)) {
        return 0;
    }
    const struct slice from = linking_domain(priorities, other);
    const bool within =
        from.length == 0 || /* it has none */
        (host.length >= from.length &&
         memcmp(host.at + host.length - from.length, from.at, from.length) == 0 &&
         (host.length == from.length || host.at[host.length - from.length - 1] == '.'));
    return within ? 0 : (uint16_t)(1u << (fingerprint64(from) % DOMAIN_BITS));
}

/* ---- yields ---- */

static void
add_yield(struct priorities *priorities, uint64_t fingerprint, uint32_t gain)
{
    struct estimate *estimate = estimates_change(priorities->yields, fingerprint);
    if (estimate->weight == FETCHES_MOST) {
        estimate->weight /= 2;
        estimate->value /= 2;
    }
    estimate->weight++;
    estimate->value += gain;
}

void
priority_yielded(struct priorities *priorities, struct slice uri, uint64_t quads)
{
    const uint32_t gain = (uint32_t)lround(UNIT * log2(1.0 + (double)quads));
    add_yield(priorities, EVERYWHERE, gain);
    add_yield(priorities, fingerprint64(url_origin(uri)), gain);
    add_yield(priorities, pattern_print(uri), gain);
}

static double
mean(const struct priorities *priorities, uint64_t fingerprint, double prior)
{
    const struct estimate *estimate = estimates_find(priorities->yields, fingerprint);
    return estimate == NULL ? prior
                            : (PRIOR * prior + estimate->value) / (PRIOR + estimate->weight);
}

static double
mean_everywhere(const struct priorities *priorities)
{
    const struct estimate *all = estimates_find(priorities->yields, EVERYWHERE);
    return all == NULL ? 0 : (double)all->value / all->weight;
}

static uint32_t
fetches(const struct priorities *priorities, uint64_t fingerprint)
{
    const struct estimate *estimate = estimates_find(priorities->yields, fingerprint);
    return estimate == NULL ? 0 : estimate->weight;
}

static struct priority_parts
parts_of_rank(const struct priorities *priorities, const struct job *job, unsigned linking)
{
    const double everywhere = mean_everywhere(priorities);
    const double host = mean(priorities, fingerprint64(url_origin(job->uri)), everywhere);
    const double here = mean(priorities, pattern_print(job->uri), host);
    struct priority_parts parts = {
        .depth_cost = DEPTH_COST * fmin(job->depth, DEPTH_MOST),
        .links_gain = LINKING_GAIN * log2(1 + fmin(linking, LINKING_MOST)),
        .yield_gain = fmax(-YIELD_MOST, fmin(YIELD_MOST, YIELD_GAIN * (here - everywhere) / UNIT)),
        .mean_all = everywhere / UNIT,
        .mean_host = host / UNIT,
        .mean_pattern = here / UNIT,
    };
    parts.rank =
        job->priority + RANK_MIDDLE + parts.depth_cost - parts.links_gain - parts.yield_gain;
    return parts;
}

struct priority_parts
priority_parts(const struct priorities *priorities, const struct job *job, unsigned linking)
{
    struct priority_parts parts = parts_of_rank(priorities, job, linking);
    parts.fetches_host = fetches(priorities, fingerprint64(url_origin(job->uri)));
    parts.fetches_pattern = fetches(priorities, pattern_print(job->uri));
    return parts;
}

uint8_t
priority_rank(const struct priorities *priorities, const struct job *job, unsigned linking)
{
    const double rank = parts_of_rank(priorities, job, linking).rank;
    return (uint8_t)fmax(RANK_USUAL, fmin(UINT8_MAX, round(rank)));
}

/* ---- budgets ---- */

/* Returns the fingerprint of the URI's domain. Finding the domain costs more than all else here,
 * and mostly the host is the one that was just asked for. */
static uint64_t
spending_print(struct priorities *priorities, struct slice uri)
{
    const struct slice host = url_host(uri);
    if (priorities->spending_print == 0 ||
        !slice_equal(host, buf_slice(&priorities->spending_host))) {
        buf_reset(&priorities->spending_host);
        (void)buf_append_slice(&priorities->spending_host, host);
        priorities->spending_print = fingerprint64(url_registrable_domain(host));
    }
    return priorities->spending_print;
}

/* Returns what is left of the level after the time that passed; a leak too small to count is left
 * for later. */
static uint32_t
level_at(const struct priorities *priorities, const struct estimate *estimate, uint64_t now_ms,
         bool *leaks)
{
    const uint64_t seconds = now_ms / 1000 > estimate->value ? now_ms / 1000 - estimate->value : 0;
    const double leak = (double)seconds * 1000 * (double)(priorities->budget * LEVEL_UNIT) /
                        (double)priorities->period_ms;
    *leaks = leak >= 1;
    return leak >= estimate->weight ? 0 : estimate->weight - (uint32_t)leak;
}

static uint8_t
speed_at(const struct priorities *priorities, uint32_t level)
{
    uint8_t speed = 0;
    uint64_t limit = priorities->budget * LEVEL_UNIT;
    while (speed < PRIORITY_SPEEDS - 1 && level >= limit) {
        speed++;
        limit *= 2;
    }
    return speed;
}

void
priority_spend(struct priorities *priorities, struct slice uri, uint64_t now_ms)
{
    if (priorities->budget == 0) {
        return;
    }
    struct estimate *estimate =
        estimates_change(priorities->spendings, spending_print(priorities, uri));
    bool leaks;
    const uint32_t level = level_at(priorities, estimate, now_ms, &leaks);
    if (leaks || estimate->weight == 0) {
        estimate->value = (uint32_t)(now_ms / 1000);
        estimate->weight = level;
    }
    estimate->weight += estimate->weight <= UINT32_MAX - LEVEL_UNIT ? LEVEL_UNIT : 0;
}

bool
priority_is_poor(const struct priorities *priorities, struct slice uri)
{
    const struct estimate *host =
        estimates_find(priorities->yields, fingerprint64(url_origin(uri)));
    return host != NULL && host->weight >= POOR_FETCHES &&
           (double)host->value / host->weight + POOR_DOUBLINGS * UNIT <=
               mean_everywhere(priorities);
}

static uint32_t
level_of(struct priorities *priorities, struct slice uri, uint64_t now_ms)
{
    const struct estimate *spent =
        priorities->budget == 0
            ? NULL
            : estimates_find(priorities->spendings, spending_print(priorities, uri));
    bool leaks;
    return spent == NULL ? 0 : level_at(priorities, spent, now_ms, &leaks);
}

double
priority_level(struct priorities *priorities, struct slice uri, uint64_t now_ms)
{
    return (double)level_of(priorities, uri, now_ms) / LEVEL_UNIT;
}

uint8_t
priority_speed(struct priorities *priorities, struct slice uri, uint64_t now_ms)
{
    const uint8_t speed =
        priorities->budget == 0 ? 0 : speed_at(priorities, level_of(priorities, uri, now_ms));
    return (uint8_t)(speed + (priority_is_poor(priorities, uri) && speed < PRIORITY_SPEEDS - 1));
}

/* ---- the store ---- */

void
priority_write(struct priorities *priorities, struct store_batch *batch, bool all)
{
    const uint64_t now = clock_monotonic_ms();
    if (all || now >= priorities->write_ms) {
        const uint32_t most = all ? UINT32_MAX : WRITE_ROWS;
        priorities->write_ms = now + WRITE_MS;
        estimates_write(priorities->yields, batch, most);
        estimates_write(priorities->spendings, batch, most);
    }
}

struct loading {
    struct priorities *priorities;
    bool damaged;
};

static bool
read_row(void *context, struct slice key, struct slice value)
{
    struct loading *loading = context;
    loading->damaged = !estimates_read(loading->priorities->yields, key, value) &&
                       !estimates_read(loading->priorities->spendings, key, value);
    return !loading->damaged;
}

enum status
priority_load(struct priorities *priorities, struct frontier *frontier, struct reason *why)
{
    struct loading loading = {.priorities = priorities};
    TRY(frontier_scan(frontier, TREE_ESTIMATES, (struct slice){"", 0}, read_row, &loading, why));
    return loading.damaged ? status_fail(why, STATUS_CORRUPT, "a row of estimates is damaged")
                           : STATUS_OK;
}
