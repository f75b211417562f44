#include "queue/politeness/host_troubles.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

enum { DOUBLINGS_MOST = 24, FORBIDS_LEAST = 3 }; /* of the least probe_ms: two days */

/* ---- one lane ---- */

static uint64_t
probe_interval(const struct trouble *trouble, const struct trouble_rules *rules)
{
    const uint32_t doublings = trouble->probes < DOUBLINGS_MOST ? trouble->probes : DOUBLINGS_MOST;
    const uint64_t interval_ms = rules->probe_ms << doublings;
    return interval_ms < rules->probe_most_ms ? interval_ms : rules->probe_most_ms;
}

/* Tells whether the silence may be our own fault: there were answers before it, none since, and
 * others are silent, too. */
static bool
is_doubted(const struct trouble *trouble, const struct trouble_rules *rules,
           const struct trouble_failure *failure)
{
    return failure->silent && failure->network_ms != 0 && failure->network_ms < trouble->since_ms &&
           failure->silent_hosts + 1 >= rules->outage_hosts &&
           failure->now_ms < trouble->since_ms + rules->outage_patience_ms;
}

/* Who answers that nothing may be fetched is there, and means it: half as many answers are enough,
 * of three at least. */
static bool
is_enough(const struct trouble *trouble, const struct trouble_rules *rules,
          const struct trouble_failure *failure)
{
    const uint32_t half = (rules->failures + 1) / 2;
    const uint32_t few = half > FORBIDS_LEAST ? half : FORBIDS_LEAST;
    const uint32_t least = failure->forbids && few < rules->failures ? few : rules->failures;
    const uint64_t patience_ms = failure->answered_before ? rules->patience_ms : 0;
    return trouble->failures >= least && failure->now_ms >= trouble->since_ms + patience_ms;
}

void
trouble_fail(struct trouble *trouble, const struct trouble_rules *rules,
             const struct trouble_failure *failure)
{
    const uint64_t now_ms = failure->now_ms;
    if (trouble->failures > 0 && now_ms < trouble->rest_ms) {
        return;
    }
    const bool probed = trouble->flags & TROUBLE_ASIDE;
    trouble->since_ms = trouble->failures == 0 ? now_ms : trouble->since_ms;
    trouble->failures += trouble->failures < UINT32_MAX;
    trouble->last_ms = now_ms;
    trouble->rest_ms = now_ms + failure->rest_ms;
    trouble->flags = failure->silent ? TROUBLE_SILENT : 0;
    if (!probed && !is_enough(trouble, rules, failure)) {
        trouble->next_ms = trouble->rest_ms;
        return;
    }
    if (!probed && is_doubted(trouble, rules, failure)) {
        trouble->flags |= TROUBLE_DOUBTED;
        trouble->next_ms = trouble->rest_ms;
        return;
    }
    trouble->probes += probed;
    trouble->aside_ms = trouble->aside_ms == 0 ? now_ms : trouble->aside_ms;
    trouble->flags |= TROUBLE_ASIDE;
    const uint64_t probe_ms = now_ms + probe_interval(trouble, rules);
    trouble->next_ms = probe_ms > trouble->rest_ms ? probe_ms : trouble->rest_ms;
}

void
trouble_doubt(struct trouble *trouble)
{
    if (trouble->flags & TROUBLE_ASIDE) {
        *trouble = (struct trouble){.lane = trouble->lane, .probes = trouble->probes + 1};
    }
}

void
trouble_try(struct trouble *trouble, uint64_t now_ms)
{
    trouble->flags &= (uint8_t)~TROUBLE_ASIDE;
    trouble->rest_ms = 0;
    trouble->next_ms = now_ms;
}

void
trouble_encode(struct buf *out, const struct trouble *trouble, struct slice origin,
               struct slice cause)
{
    codec_put_u8(out, trouble->flags);
    codec_put_varint(out, trouble->failures);
    codec_put_varint(out, trouble->probes);
    codec_put_varint(out, trouble->since_ms);
    codec_put_varint(out, trouble->last_ms);
    codec_put_varint(out, trouble->rest_ms);
    codec_put_varint(out, trouble->aside_ms);
    codec_put_varint(out, trouble->next_ms);
    codec_put_slice(out, origin);
    codec_put_slice(out, cause);
}

bool
trouble_decode(struct slice bytes, struct trouble *trouble, struct slice *origin,
               struct slice *cause)
{
    struct codec_reader reader = codec_reader_of(bytes);
    *trouble = (struct trouble){.lane = trouble->lane, .flags = codec_get_u8(&reader)};
    const uint64_t failures = codec_get_varint(&reader);
    const uint64_t probes = codec_get_varint(&reader);
    trouble->since_ms = codec_get_varint(&reader);
    trouble->last_ms = codec_get_varint(&reader);
    trouble->rest_ms = codec_get_varint(&reader);
    trouble->aside_ms = codec_get_varint(&reader);
    trouble->next_ms = codec_get_varint(&reader);
    *origin = codec_get_slice(&reader);
    *cause = codec_get_slice(&reader);
    trouble->failures = (uint32_t)failures;
    trouble->probes = (uint32_t)probes;
    return codec_at_end(&reader) && failures > 0 && failures <= UINT32_MAX && probes <= UINT32_MAX;
}

/* ---- the table ---- */

struct troubles {
    struct trouble *all; /* without gaps */
    size_t count, capacity;
    struct map by_lane;
    uint64_t *uncounted; /* lanes; some may be so no more */
    size_t uncounted_count, uncounted_capacity;
    struct troubles_totals totals;
};

struct troubles *
troubles_new(void)
{
    struct troubles *troubles = memory_new(sizeof *troubles);
    map_init(&troubles->by_lane);
    return troubles;
}

void
troubles_free(struct troubles *troubles)
{
    if (troubles != NULL) {
        map_release(&troubles->by_lane);
        free(troubles->all);
        free(troubles->uncounted);
        free(troubles);
    }
}

static struct trouble *
find(const struct troubles *troubles, uint64_t lane)
{
    const uint32_t at = map_get(&troubles->by_lane, lane);
    return at == (uint32_t)MAP_NONE ? NULL : &troubles->all[at];
}

const struct trouble *
troubles_find(const struct troubles *troubles, uint64_t lane)
{
    return find(troubles, lane);
}

const struct trouble *
troubles_at(const struct troubles *troubles, size_t i)
{
    return i < troubles->count ? &troubles->all[i] : NULL;
}

bool
troubles_aside(const struct troubles *troubles, uint64_t lane)
{
    const struct trouble *trouble = find(troubles, lane);
    return trouble != NULL && trouble->flags & TROUBLE_ASIDE;
}

/* Takes it out of the totals, or adds it. */
static void
weigh(struct troubles_totals *totals, const struct trouble *trouble, bool add)
{
    const uint64_t one = add ? 1 : UINT64_MAX;
    if (trouble->failures == 0) {
        return;
    }
    if (trouble->flags & TROUBLE_ASIDE) {
        totals->aside += one;
        totals->jobs += add ? trouble->jobs : 0 - trouble->jobs;
        return;
    }
    totals->failing += one;
    totals->silent += (trouble->flags & TROUBLE_SILENT) != 0 ? (uint32_t)one : 0;
    totals->doubted += (trouble->flags & TROUBLE_DOUBTED) != 0 ? (uint32_t)one : 0;
}

static void
forget(struct troubles *troubles, uint64_t lane)
{
    const uint32_t at = map_get(&troubles->by_lane, lane);
    if (at == (uint32_t)MAP_NONE) {
        return;
    }
    map_remove(&troubles->by_lane, lane);
    if (at != --troubles->count) {
        troubles->all[at] = troubles->all[troubles->count];
        map_set(&troubles->by_lane, troubles->all[at].lane, at);
    }
}

static void
want_count(struct troubles *troubles, uint64_t lane)
{
    if (troubles->uncounted_count == troubles->uncounted_capacity) {
        troubles->uncounted_capacity =
            troubles->uncounted_capacity == 0 ? 16 : 2 * troubles->uncounted_capacity;
        troubles->uncounted = memory_resize(troubles->uncounted, troubles->uncounted_capacity,
                                            sizeof *troubles->uncounted);
    }
    troubles->uncounted[troubles->uncounted_count++] = lane;
}

static void
drop_counted(struct troubles *troubles)
{
    while (troubles->uncounted_count > 0) {
        const struct trouble *trouble =
            find(troubles, troubles->uncounted[troubles->uncounted_count - 1]);
        if (trouble != NULL && trouble->flags & TROUBLE_ASIDE && !trouble->counted) {
            return;
        }
        troubles->uncounted_count--;
    }
}

static struct trouble *
add(struct troubles *troubles, uint64_t lane)
{
    if (troubles->count == troubles->capacity) {
        troubles->capacity = troubles->capacity == 0 ? 16 : 2 * troubles->capacity;
        troubles->all = memory_resize(troubles->all, troubles->capacity, sizeof *troubles->all);
    }
    map_set(&troubles->by_lane, lane, (uint32_t)troubles->count);
    troubles->all[troubles->count] = (struct trouble){.lane = lane};
    return &troubles->all[troubles->count++];
}

void
troubles_set(struct troubles *troubles, const struct trouble *trouble)
{
    struct trouble *kept = find(troubles, trouble->lane);
    const bool was_aside = kept != NULL && kept->flags & TROUBLE_ASIDE;
    if (kept != NULL) {
        weigh(&troubles->totals, kept, false);
    }
    if (trouble->failures == 0) {
        forget(troubles, trouble->lane);
        drop_counted(troubles);
        return;
    }
    kept = kept != NULL ? kept : add(troubles, trouble->lane);
    const struct trouble before = *kept;
    *kept = *trouble;
    kept->counted = was_aside && before.counted;
    kept->jobs = was_aside ? before.jobs : 0;
    kept->rank = was_aside ? before.rank : 0;
    kept->id = was_aside ? before.id : 0;
    weigh(&troubles->totals, kept, true);
    if (!was_aside && kept->flags & TROUBLE_ASIDE) {
        want_count(troubles, trouble->lane);
    }
    drop_counted(troubles);
}

struct troubles_totals
troubles_totals(const struct troubles *troubles)
{
    return troubles->totals;
}

/* ---- jobs of lanes that are set aside ---- */

static bool
precedes(const struct job_key *key, uint64_t rank, uint64_t id)
{
    return key->rank < rank || (key->rank == rank && key->id < id);
}

/* Returns the trouble by which the job was, or would be, counted. */
static struct trouble *
counting(struct troubles *troubles, const struct job_key *key)
{
    struct trouble *trouble = find(troubles, key->lane);
    return trouble != NULL && trouble->flags & TROUBLE_ASIDE &&
                   (trouble->counted || precedes(key, trouble->rank, trouble->id))
               ? trouble
               : NULL;
}

void
troubles_came(struct troubles *troubles, const struct job_key *key)
{
    struct trouble *trouble = counting(troubles, key);
    if (trouble != NULL) {
        trouble->jobs++;
        troubles->totals.jobs++;
    }
}

void
troubles_left(struct troubles *troubles, const struct job_key *key)
{
    struct trouble *trouble = counting(troubles, key);
    if (trouble != NULL && trouble->jobs > 0) {
        trouble->jobs--;
        troubles->totals.jobs--;
    }
}

bool
troubles_uncounted(const struct troubles *troubles, struct job_key *from)
{
    if (troubles->uncounted_count == 0) {
        return false;
    }
    const struct trouble *trouble =
        find(troubles, troubles->uncounted[troubles->uncounted_count - 1]);
    *from = (struct job_key){
        .stage = STAGE_FETCH, .lane = trouble->lane, .rank = trouble->rank, .id = trouble->id};
    return true;
}

void
troubles_count(struct troubles *troubles, const struct job_key *next, uint64_t jobs, bool last)
{
    struct trouble *trouble = find(troubles, next->lane);
    if (trouble != NULL) {
        trouble->jobs += jobs;
        troubles->totals.jobs += jobs;
        trouble->rank = next->rank;
        trouble->id = next->id;
        trouble->counted = last;
        drop_counted(troubles);
    }
}
