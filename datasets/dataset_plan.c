#include "datasets/dataset_plan.h"

#include <string.h>

#include "base/system/clock.h"
#include "base/url/url.h"
#include "datasets/dump_key.h"

enum { DAY_MS = 86400000 };

const char *
plan_way_name(enum plan_way way)
{
    static const char *const names[] = {"dump", "endpoint", "linked data", "samples", "none"};
    return names[way];
}

void
plan_prefer(struct plan_assumptions *assumptions, const char *word)
{
    static const struct {
        const char *word;
        enum plan_way way;
    } words[] = {{"dump", WAY_DUMP}, {"endpoint", WAY_ENDPOINT}, {"pages", WAY_LINKED_DATA}};
    assumptions->prefer = WAY_COUNT;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i].word) == 0) {
            assumptions->prefer = words[i].way;
        }
    }
}

void
plan_assumptions_default(struct plan_assumptions *assumptions)
{
    *assumptions = (struct plan_assumptions){
        .request_bytes = 16 << 10,
        .page_triples = 10000,
        .triple_bytes = 150,
        .query_factor = 20,
        .document_bytes = 8 << 10,
        .document_triples = 20,
        .dataset_triples = 100000,
        .samples = 3,
        .now_ms = clock_wall_ms(),
        .prefer = WAY_COUNT,
    };
}

/* Returns how long a changed dataset may wait for its next dump, by its changefreq. */
static uint64_t
period_ms(struct slice frequency)
{
    static const struct {
        const char *name;
        uint64_t days;
    } periods[] = {{"always", 1},   {"hourly", 1},   {"daily", 2},    {"weekly", 8},
                   {"monthly", 32}, {"yearly", 366}, {"never", 36500}};
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        if (slice_is(frequency, periods[i].name)) {
            return periods[i].days * DAY_MS;
        }
    }
    return 32ull * DAY_MS;
}

static bool
is_of(const struct dataset_access *access, enum access_kind kind)
{
    return access->kind == kind && access->refused.length == 0;
}

static uint64_t
count_of(const struct dataset *dataset, enum access_kind kind)
{
    uint64_t count = 0;
    for (size_t i = 0; i < dataset->access_count; i++) {
        count += is_of(&dataset->accesses[i], kind) ? 1 : 0;
    }
    return count;
}

/* Documents of the dataset: counted by sitemaps, else as its publisher says, else guessed. */
static uint64_t
documents_of(const struct dataset *dataset, const struct plan_assumptions *assumptions)
{
    uint64_t listed = 0;
    for (size_t i = 0; i < dataset->access_count; i++) {
        if (is_of(&dataset->accesses[i], ACCESS_LINKED_DATA)) {
            listed += dataset->accesses[i].facts.count;
        }
    }
    return listed > 0               ? listed
           : dataset->documents > 0 ? dataset->documents
                                    : dataset->triples / assumptions->document_triples;
}

/* ---- the ways ---- */

/* Why no dump is fetched from there; empty: it is. */
static struct slice
unfetchable(struct slice uri, struct arena *arena)
{
    struct reason why = {""};
    struct buf key;
    buf_init(&key, URL_MAXIMUM);
    const enum status status = dump_key(uri, (struct slice){0}, &key, &why);
    buf_release(&key);
    return status == STATUS_OK ? (struct slice){0}
                               : arena_printf(arena, "%.*s: %s", SLICE_PRINT(uri), why.text);
}

static void
cost_dump(const struct dataset *dataset, const struct plan_assumptions *assumptions,
          struct arena *arena, struct way_cost *cost)
{
    uint64_t dumps = 0;
    cost->bytes_known = cost->whole = true;
    for (size_t i = 0; i < dataset->access_count; i++) {
        const struct dataset_access *access = &dataset->accesses[i];
        const struct access_facts *facts = &access->facts;
        if (!is_of(access, ACCESS_DUMP) && !is_of(access, ACCESS_FRAGMENT_DUMP)) {
            continue;
        }
        dumps++;
        cost->why = unfetchable(access->uri, arena);
        if (cost->why.length > 0) {
            return;
        }
        if (facts->asked && !facts->answered) {
            cost->why = arena_printf(arena, "%.*s: %.*s", SLICE_PRINT(access->uri),
                                     SLICE_PRINT(facts->problem));
            return;
        }
        if (facts->modified_ms > 0 && dataset->modified_ms > 0 &&
            facts->modified_ms + period_ms(dataset->change_frequency) < dataset->modified_ms) {
            cost->why = arena_printf(
                arena, "%.*s is older than the dataset by %llu days", SLICE_PRINT(access->uri),
                (unsigned long long)((dataset->modified_ms - facts->modified_ms) / DAY_MS));
            return;
        }
        cost->bytes += facts->bytes;
        cost->bytes_known &= facts->bytes > 0;
    }
    if (dumps == 0) {
        cost->why = SLICE("there is none");
        return;
    }
    const uint64_t samples = count_of(dataset, ACCESS_SAMPLE);
    cost->possible = true;
    cost->requests = dumps + (samples < assumptions->samples ? samples : assumptions->samples);
    if (!cost->bytes_known) {
        cost->bytes = dataset->triples * assumptions->triple_bytes;
    }
}

static void
cost_endpoint(const struct dataset *dataset, const struct plan_assumptions *assumptions,
              struct arena *arena, struct way_cost *cost)
{
    cost->why = SLICE("there is none");
    for (size_t i = 0; i < dataset->access_count && !cost->possible; i++) {
        const struct dataset_access *access = &dataset->accesses[i];
        const struct access_facts *facts = &access->facts;
        const uint64_t documents = documents_of(dataset, assumptions);
        const uint64_t triples = facts->count > 0       ? facts->count
                                 : dataset->triples > 0 ? dataset->triples
                                 : documents > 0        ? documents * assumptions->document_triples
                                                        : assumptions->dataset_triples;
        if (!is_of(access, ACCESS_SPARQL)) {
            continue;
        }
        if (facts->asked && !facts->answered) {
            cost->why = arena_printf(arena, "%.*s: %.*s", SLICE_PRINT(access->uri),
                                     SLICE_PRINT(facts->problem));
        } else {
            *cost = (struct way_cost){.possible = true,
                                      .whole = true,
                                      .requests = triples / assumptions->page_triples + 2,
                                      .bytes = triples * assumptions->triple_bytes};
        }
    }
}

static void
cost_linked_data(const struct dataset *dataset, const struct plan_assumptions *assumptions,
                 struct way_cost *cost)
{
    const uint64_t prefixes = count_of(dataset, ACCESS_LINKED_DATA);
    if (prefixes == 0) {
        cost->why = SLICE("no prefix is given, or none is believed");
        return;
    }
    const uint64_t documents = documents_of(dataset, assumptions);
    /* Links may miss parts of it: 2008, section 3.2, "Disconnected datasets". */
    *cost = (struct way_cost){.possible = true,
                              .requests = documents > 0 ? documents : 1,
                              .bytes = documents * assumptions->document_bytes};
    if (documents == 0) {
        cost->why = SLICE("how many documents there are is not known");
    }
}

static void
cost_samples(const struct dataset *dataset, const struct plan_assumptions *assumptions,
             struct way_cost *cost)
{
    const uint64_t samples = count_of(dataset, ACCESS_SAMPLE);
    if (samples == 0) {
        cost->why = SLICE("none are given");
        return;
    }
    *cost = (struct way_cost){
        .possible = true, .requests = samples, .bytes = samples * assumptions->document_bytes};
}

/* ---- choosing ---- */

static uint64_t
load_of(const struct way_cost *cost, enum plan_way way, const struct plan_assumptions *assumptions)
{
    const uint64_t factor = way == WAY_ENDPOINT ? assumptions->query_factor : 1;
    return cost->requests * factor * assumptions->request_bytes + cost->bytes;
}

/* Chooses the lightest of the ways that give all of the dataset, else its links, else samples. A
 * site that is smaller than its dump, or as far as is known, is crawled. */
void
plan_dataset(const struct dataset *dataset, const struct plan_assumptions *assumptions,
             struct arena *arena, struct dataset_plan *plan)
{
    *plan = (struct dataset_plan){.dataset = dataset, .way = WAY_COUNT};
    struct way_cost *costs = plan->costs;
    cost_dump(dataset, assumptions, arena, &costs[WAY_DUMP]);
    cost_endpoint(dataset, assumptions, arena, &costs[WAY_ENDPOINT]);
    cost_linked_data(dataset, assumptions, &costs[WAY_LINKED_DATA]);
    cost_samples(dataset, assumptions, &costs[WAY_SAMPLES]);
    for (enum plan_way way = 0; way < WAY_COUNT; way++) {
        if (costs[way].possible &&
            (plan->way == WAY_COUNT ||
             (costs[way].whole && load_of(&costs[way], way, assumptions) <
                                      load_of(&costs[plan->way], plan->way, assumptions)))) {
            plan->way = way;
        }
    }
    if (assumptions->prefer < WAY_COUNT && costs[assumptions->prefer].possible) {
        plan->way = assumptions->prefer;
        plan->why = SLICE("preferred");
        return;
    }
    const struct way_cost *links = &costs[WAY_LINKED_DATA];
    if (plan->way < WAY_LINKED_DATA && links->possible && links->bytes > 0 &&
        load_of(links, WAY_LINKED_DATA, assumptions) <
            load_of(&costs[plan->way], plan->way, assumptions)) {
        plan->way = WAY_LINKED_DATA;
        plan->why = SLICE("its documents together are less than any other way");
        return;
    }
    static const struct slice reasons[] = {
        [WAY_DUMP] = SLICE_INIT("all of it in the fewest requests"),
        [WAY_ENDPOINT] = SLICE_INIT("all of it, and no dump is to be had"),
        [WAY_LINKED_DATA] = SLICE_INIT("neither a dump nor an endpoint is to be had"),
        [WAY_SAMPLES] = SLICE_INIT("nothing but samples is to be had"),
        [WAY_COUNT] = SLICE_INIT("nothing of it is to be had"),
    };
    plan->why = reasons[plan->way];
}
