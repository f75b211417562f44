/* Why a URI is where it is in the frontier: what `seen`, its lane and queue/frontier/priority.h
 * know of it. */
#include "queue/broker/broker_state.h"

#include <math.h>

#include "base/url/url.h"

enum { LOOK_MOST = 20000 }; /* jobs of the lane */

struct finding {
    struct broker *broker;
    struct queue_explanation *look;
    struct slice uri;
    uint64_t lane, visited;
    uint64_t before[2]; /* jobs of each class that were met: of links, of sitemaps */
};

static uint64_t
thousandths(double number)
{
    return (uint64_t)(int64_t)lround(number * 1000);
}

/* Jobs come in order of rank and arrival; those that are out come with them. */
static bool
find_job(void *context, struct slice key_bytes, struct slice record)
{
    struct finding *finding = context;
    struct queue_explanation *look = finding->look;
    struct codec_reader reader = codec_reader_of(record);
    struct job job = {0};
    job_key_read((const uint8_t *)key_bytes.at, &job.key);
    if (job.key.stage != STAGE_FETCH || job.key.lane != finding->lane || look->found) {
        return false;
    }
    if (finding->visited++ == LOOK_MOST) {
        look->behind = 1;
        look->ahead = LOOK_MOST;
        return false;
    }
    const bool leased = leases_find(finding->broker->leases, job.key.id) != (uint32_t)LEASE_NONE;
    uint64_t *const before = &finding->before[job.key.rank >= RANK_SITEMAP];
    if (job_decode(&reader, &job) && slice_equal(job.uri, finding->uri)) {
        look->found = 1;
        look->leased = leased;
        look->rank = job.key.rank;
        look->priority = job.priority;
        look->ahead = *before;
    }
    *before += !leased;
    return true;
}

/* Rows that this round has not yet written are left out. */
static enum status
explain_uri_of(struct broker *broker, struct slice uri, struct queue_explanation *look,
               struct reason *why)
{
    uint8_t fingerprint[FINGERPRINT_SIZE], bytes[JOB_KEY_SIZE];
    struct seen_entry entry = {0};
    struct slice value;
    fingerprint_of(uri, fingerprint);
    const enum status status =
        frontier_get(broker->frontier, TREE_SEEN,
                     slice_of((const char *)fingerprint, sizeof fingerprint), &value, why);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    if (!seen_entry_decode(value, &entry)) {
        return status_fail(why, STATUS_CORRUPT, "what is known of a URI is damaged");
    }
    look->known = 1;
    look->fetched = (entry.flags & SEEN_FETCHED) != 0;
    look->waiting = (entry.flags & SEEN_WAITING) != 0;
    look->scheduled = (entry.flags & SEEN_SCHEDULED) != 0;
    look->depth = entry.depth;
    look->generation = entry.generation;
    look->linking = priority_linking(entry.domains);
    if (!look->waiting) {
        return STATUS_OK;
    }
    struct finding finding = {
        .broker = broker, .look = look, .uri = uri, .lane = fingerprint64(url_origin(uri))};
    const struct job_key from = {.stage = STAGE_FETCH, .lane = finding.lane};
    return frontier_scan(broker->frontier, TREE_FETCH, broker_key(bytes, &from), find_job, &finding,
                         why);
}

static void
explain_priority(struct broker *broker, struct slice uri, struct queue_explanation *look)
{
    const uint64_t now_ms = broker->options.clock();
    const struct job job = {.uri = uri,
                            .priority = look->found ? (uint8_t)look->priority : RANK_USUAL,
                            .depth = (uint16_t)look->depth};
    const struct priority_parts parts =
        priority_parts(broker->priorities, &job, (unsigned)look->linking);
    look->depth_cost = thousandths(parts.depth_cost);
    look->links_gain = thousandths(parts.links_gain);
    look->yield_gain = thousandths(parts.yield_gain);
    look->weight = thousandths(parts.rank);
    look->mean_all = thousandths(parts.mean_all);
    look->mean_host = thousandths(parts.mean_host);
    look->mean_pattern = thousandths(parts.mean_pattern);
    look->fetches_host = parts.fetches_host;
    look->fetches_pattern = parts.fetches_pattern;
    look->level = thousandths(priority_level(broker->priorities, uri, now_ms));
    look->budget = broker->options.domain_budget;
    look->period_ms = broker->options.domain_period_ms;
    look->poor = priority_is_poor(broker->priorities, uri);
    look->speed = priority_speed(broker->priorities, uri, now_ms);
}

static enum status
explain_lane(struct broker *broker, struct slice uri, struct queue_explanation *look,
             struct reason *why)
{
    const uint64_t id = fingerprint64(url_origin(uri));
    const struct lane_view lane = lanes_view(broker->lanes, id);
    struct lane_row row;
    struct pace pace;
    TRY(broker_stored_lane(broker, id, &row, why));
    TRY(broker_pace(broker, id, &pace, why));
    look->lane_state = lane.place;
    look->due_ms = lane.due_ms > row.due_ms ? lane.due_ms : row.due_ms;
    look->group = lane.group != 0 ? lane.group : row.pace.address;
    look->share = lane.share != 0 ? lane.share : row.share;
    look->jobs_out = lane.out;
    look->eased = lane.eased;
    look->listed = lane.listed;
    if (lane.place != LANE_NOT_HERE) {
        look->speed = lane.speed;
    }
    look->response_ms = pace.response_ms;
    look->crawl_delay_ms = pace.crawl_delay_ms;
    look->troubles = pace.troubles;
    look->failures = pace.failures;
    look->address_troubles = pace.address_troubles;
    look->quiet_until_ms = pace.until_ms;
    return STATUS_OK;
}

enum status
broker_explain(struct broker *broker, struct slice payload, struct reason *why)
{
    struct codec_reader reader = codec_reader_of(payload);
    const struct slice uri = codec_get_slice(&reader);
    const struct cluster *cluster = broker->options.cluster;
    struct queue_explanation look = {0};
    if (!codec_at_end(&reader) || url_host(uri).length == 0) {
        return status_fail(why, STATUS_BAD_INPUT, "a look at nothing");
    }
    const size_t owner = cluster_owner(cluster, STAGE_FETCH, uri);
    if (owner != cluster_self(cluster)) {
        look.node = owner + 1;
    } else {
        TRY(explain_uri_of(broker, uri, &look, why));
        explain_priority(broker, uri, &look);
        TRY(explain_lane(broker, uri, &look, why));
    }
    message_put_explanation(&broker->reply, &look);
    return STATUS_OK;
}
