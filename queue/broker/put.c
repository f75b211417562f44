/* Jobs come in: who owns them, whether they are new, where they wait. */
#include "queue/broker/broker_state.h"

/* Flags of what is put to fetch for its effect, whether or not its URI was put before. */
enum { NEVER_KNOWN = JOB_RECRAWL | JOB_SLICE | JOB_YIELD | JOB_REFILTER };

void
broker_prepare(struct broker *broker, struct incoming *incoming, bool ours)
{
    struct job *job = &incoming->job;
    const struct cluster *cluster = broker->options.cluster;
    const size_t self = cluster_self(cluster);
    struct slice key, fields;
    if (job_is_metadata(job) && job_metadata(job, &key, &fields)) {
        incoming->node = (uint32_t)(ours ? self : cluster_key_owner(cluster, key));
        return;
    }
    ours |= slice_starts(job->uri, SLICE(JOB_SWEEP_URI));
    incoming->node =
        (uint32_t)(ours ? self : cluster_worker(cluster, (enum stage)job->key.stage, job->uri));
    const bool here = incoming->node == self;
    if (job->flags & JOB_SEED && job->key.stage == STAGE_FETCH) {
        job->depth = 0;
    }
    if (job->key.stage != STAGE_FETCH && job->key.stage != STAGE_EXTRACT) {
        return;
    }
    fingerprint_of(job->uri, incoming->fingerprint);
    if (job->key.stage == STAGE_FETCH && !(job->flags & JOB_YIELD)) {
        seen_want(here ? broker->seen : broker->sent, incoming->fingerprint);
    } else if (here && broker->round.counters.revisits > 0) {
        seen_want(broker->revisits, incoming->fingerprint);
    }
}

/* ---- where a job waits ---- */

static uint64_t
rank_of(const struct broker *broker, const struct job *job, unsigned linking)
{
    return job->flags & JOB_SITEMAP     ? (uint64_t)RANK_SITEMAP + job->priority
           : job->priority < RANK_USUAL ? job->priority
                                        : priority_rank(broker->priorities, job, linking);
}

static uint8_t
speed_of(const struct broker *broker, const struct job *job)
{
    return job->key.stage != STAGE_FETCH
               ? 0
               : (uint8_t)(1 + priority_speed(broker->priorities, job->uri, broker->round.now_ms));
}

/* A new job of this node, with a place of its own. linking: see priority_rank. */
static void
add_linked_job(struct broker *broker, struct job *job, unsigned linking)
{
    const uint8_t stage = job->key.stage;
    job->key.id = broker->round.counters.next_id++;
    job->key.lane = 0;
    job->key.rank = 0;
    job->attempt = 1;
    job->deaths = 0;
    job->queued_ms = broker->round.now_ms;
    if (stage == STAGE_FETCH) {
        job->key.lane = fingerprint64(job->lane_name);
        job->key.rank = rank_of(broker, job, linking);
    } else if (stage == STAGE_INDEX && broker->options.index_partitions > 1) {
        job->key.lane =
            (uint64_t)partition_of(job->uri) * broker->options.index_partitions / PARTITIONS;
    }
    broker->round.counters.stages[stage].put++;
    broker_store_job(broker, job, job->flags & JOB_RECRAWL);
    if (job->due_ms <= broker->round.now_ms) {
        broker_effect(broker, &(struct effect){.key = job->key,
                                               .kind = EFFECT_APPEARED,
                                               .speed = speed_of(broker, job)});
    }
}

static void
add_job(struct broker *broker, struct job *job)
{
    add_linked_job(broker, job, 0);
}

/* ---- extract: the smallest depth counts ---- */

/* Depths of revisits of one URI only shrink, so the new one needs no look at the old. */
static void
note_revisit(struct broker *broker, const struct incoming *incoming)
{
    seen_want(broker->revisits, incoming->fingerprint);
    struct seen_entry *entry = seen_entry(broker->revisits, incoming->fingerprint);
    if (!entry->exists || incoming->job.depth < entry->depth) {
        entry->exists = entry->changed = true;
        entry->depth = incoming->job.depth;
        entry->generation = incoming->job.generation;
        broker->round.counters.revisits++;
    }
}

static void
enqueue_extract(struct broker *broker, const struct incoming *incoming)
{
    struct job job = incoming->job;
    if (job.flags & JOB_REVISIT && !(job.flags & JOB_REFILTER)) {
        note_revisit(broker, incoming);
    } else {
        const struct seen_entry *entry = seen_entry(broker->revisits, incoming->fingerprint);
        if (entry != NULL && entry->exists && entry->depth < job.depth) {
            job.depth = entry->depth;
        }
    }
    add_job(broker, &job);
}

void
broker_pass_on(struct broker *broker, const struct incoming *fetch, const struct job *job)
{
    struct incoming incoming = *fetch;
    const struct cluster *cluster = broker->options.cluster;
    incoming.job = *job;
    incoming.node = (uint32_t)cluster_owner(cluster, (enum stage)job->key.stage, job->uri);
    if (incoming.node != cluster_self(cluster)) {
        broker_to_node(broker, &incoming);
    } else if (job->key.stage == STAGE_EXTRACT) {
        enqueue_extract(broker, &incoming);
    } else {
        add_job(broker, &incoming.job);
    }
}

static void
revisit(struct broker *broker, const struct incoming *fetch, const struct seen_entry *entry)
{
    const struct job job = {
        .key.stage = STAGE_EXTRACT,
        .uri = fetch->job.uri,
        .via = fetch->job.via,
        .priority = fetch->job.priority,
        .flags = JOB_REVISIT,
        .depth = entry->depth,
        .generation = entry->generation,
    };
    broker_pass_on(broker, fetch, &job);
}

/* The job of a page that is ready and was never handed out. put: what is put of the same URI now.
 * As long as workers may hold jobs of which we do not know yet, all stay where they are. */
static bool
find_waiting(struct broker *broker, const struct job *put, const struct seen_entry *entry,
             struct job_key *key, struct job *job)
{
    struct reason why;
    *key = (struct job_key){
        .stage = STAGE_FETCH,
        .lane = fingerprint64(put->lane_name),
        .rank = entry->rank + (entry->flags & SEEN_LISTED ? (uint64_t)RANK_SITEMAP : 0),
        .id = entry->job,
    };
    return entry->flags & SEEN_WAITING && entry->rank != 0 && !broker_in_grace(broker) &&
           !broker_touched(broker, key->id) &&
           leases_find(broker->leases, key->id) == (uint32_t)LEASE_NONE &&
           broker_record(broker, key, job, &why) == STATUS_OK && job->attempt == 1 &&
           job->deaths == 0;
}

/* Takes the fetch of the same document out: what it would bring would be older than the slice. */
static void
spare_fetch(struct broker *broker, const struct job *slice, const struct seen_entry *entry)
{
    struct job job;
    struct job_key key;
    uint8_t bytes[JOB_KEY_SIZE];
    if (!entry->exists || !find_waiting(broker, slice, entry, &key, &job)) {
        return;
    }
    store_batch_remove(&broker->round.batch, TREE_FETCH, broker_key(bytes, &key));
    broker->round.counters.stages[STAGE_FETCH].jobs--;
    broker->round.counters.stages[STAGE_FETCH].done++;
    broker_touch(broker, key.id);
    broker_effect(broker, &(struct effect){.key = key, .kind = EFFECT_GONE});
}

/* A document out of a dump: its quads are archived, so it goes straight to the index. */
static void
enqueue_slice(struct broker *broker, const struct incoming *incoming)
{
    struct seen_entry *entry = seen_entry(broker->seen, incoming->fingerprint);
    broker->round.counters.seen += !entry->exists;
    spare_fetch(broker, &incoming->job, entry);
    seen_came(entry, incoming->job.depth);
    struct job job = incoming->job;
    job.key.stage = STAGE_INDEX;
    job.lane_name = (struct slice){0};
    job.flags = 0;
    job.depth = entry->depth;
    job.generation = entry->generation;
    broker_pass_on(broker, incoming, &job);
}

/* ---- fetch: new URIs only ---- */

/* A job that is ready and was never handed out goes sooner, since more domains link to its URI. */
static void
promote(struct broker *broker, const struct job *link, struct seen_entry *entry)
{
    struct job job;
    struct job_key from;
    uint8_t bytes[JOB_KEY_SIZE];
    if (entry->flags & SEEN_LISTED || !find_waiting(broker, link, entry, &from, &job)) {
        return;
    }
    const uint8_t rank = priority_rank(broker->priorities, &job, priority_linking(entry->domains));
    if (rank >= entry->rank) {
        return;
    }
    job.key.rank = entry->rank = rank;
    store_batch_remove(&broker->round.batch, TREE_FETCH, broker_key(bytes, &from));
    buf_reset(&broker->scratch);
    job_encode(&broker->scratch, &job);
    store_batch_put(&broker->round.batch, TREE_FETCH, broker_key(bytes, &job.key),
                    buf_slice(&broker->scratch));
    broker_touch(broker, from.id);
    broker_effect(broker, &(struct effect){.key = from, .kind = EFFECT_GONE});
    broker_effect(broker, &(struct effect){.key = job.key, .kind = EFFECT_APPEARED});
}

/* Notes which domain the link is from. The job moves at the first, second, fourth, eighth. */
static void
count_link(struct broker *broker, const struct job *link, struct seen_entry *entry)
{
    const uint16_t domain = priority_link(broker->priorities, link->uri, link->via);
    if ((entry->domains | domain) == entry->domains) {
        return;
    }
    entry->domains |= domain;
    entry->changed = true;
    const int count = __builtin_popcount(entry->domains);
    if ((count & (count - 1)) == 0) {
        promote(broker, link, entry);
    }
}

/* Put by a person; what a seed redirects to is not. */
static bool
is_asked_for(const struct broker *broker, const struct job *job)
{
    return job->flags & JOB_SEED && job->hops == 0 && job->due_ms <= broker->round.now_ms;
}

static void
enqueue_fetch(struct broker *broker, const struct incoming *incoming)
{
    struct job job = incoming->job;
    if (is_asked_for(broker, &job)) {
        broker_try_host(broker, fingerprint64(job.lane_name));
    }
    struct seen_entry *entry = seen_entry(broker->seen, incoming->fingerprint);
    broker->round.counters.seen += !entry->exists;
    const enum seen_again again = !(job.flags & JOB_RECRAWL)           ? SEEN_NOT_AGAIN
                                  : job.due_ms <= broker->round.now_ms ? SEEN_AGAIN
                                                                       : SEEN_LATER;
    const unsigned actions = seen_put(entry, job.depth, again);
    if (actions & SEEN_QUEUE) {
        entry->rank = 0; /* of the generation before */
    }
    count_link(broker, &job, entry);
    if (actions & SEEN_QUEUE) {
        job.generation = entry->generation;
        job.depth = entry->depth;
        add_linked_job(broker, &job, priority_linking(entry->domains));
        if (job.key.rank > RANK_USUAL) {
            const bool listed = job.key.rank >= RANK_SITEMAP;
            entry->rank = (uint8_t)(job.key.rank - (listed ? RANK_SITEMAP : 0));
            entry->flags |= listed ? SEEN_LISTED : 0;
            entry->job = job.key.id;
        }
    }
    if (actions & SEEN_REVISIT) {
        revisit(broker, incoming, entry);
    }
}

/* Its document's links are considered again, at the smallest depth that is known of it. */
static void
enqueue_refilter(struct broker *broker, const struct incoming *incoming)
{
    const struct seen_entry *entry = seen_entry(broker->seen, incoming->fingerprint);
    struct job job = incoming->job;
    job.key.stage = STAGE_EXTRACT;
    job.lane_name = (struct slice){0};
    job.flags = JOB_REVISIT | JOB_REFILTER;
    job.depth = entry->exists ? entry->depth : job.depth;
    broker_pass_on(broker, incoming, &job);
}

/* Tells whether the other node was told the URI already: it need not be told again, unless the
 * depth is smaller. */
static bool
was_sent(struct broker *broker, const struct incoming *incoming)
{
    const struct job *job = &incoming->job;
    if (job->key.stage != STAGE_FETCH || job->flags & NEVER_KNOWN || is_asked_for(broker, job)) {
        return false;
    }
    struct seen_entry *entry = seen_entry(broker->sent, incoming->fingerprint);
    if (entry->exists && entry->depth <= job->depth) {
        return true;
    }
    entry->exists = true;
    entry->depth = job->depth;
    return false;
}

void
broker_enqueue(struct broker *broker, const struct incoming *incoming)
{
    struct job job = incoming->job;
    if (incoming->node != cluster_self(broker->options.cluster)) {
        if (job_is_metadata(&job) || !was_sent(broker, incoming)) {
            broker_to_node(broker, incoming);
        }
    } else if (job_is_metadata(&job)) {
        return; /* the store had them before the request came here */
    } else if (job.key.stage == STAGE_FETCH && job.flags & JOB_YIELD) {
        struct codec_reader reader = codec_reader_of(job.data);
        priority_yielded(broker->priorities, job.uri, codec_get_varint(&reader));
    } else if (job.key.stage == STAGE_FETCH && job.flags & JOB_SLICE) {
        enqueue_slice(broker, incoming);
    } else if (job.key.stage == STAGE_FETCH && job.flags & JOB_REFILTER) {
        enqueue_refilter(broker, incoming);
    } else if (job.key.stage == STAGE_FETCH) {
        enqueue_fetch(broker, incoming);
    } else if (job.key.stage == STAGE_EXTRACT) {
        enqueue_extract(broker, incoming);
    } else {
        add_job(broker, &job);
    }
}
