/* Keeps what is known of hosts: the rows of lanes, and the paces that the reports of jobs make. */
#include "queue/broker/broker_state.h"

enum { LANE_ROW_MOST = 80, LANE_FLAG_ANSWERED = 1 };

/* ---- rows ---- */

enum status
broker_stored_lane(struct broker *broker, uint64_t lane, struct lane_row *row, struct reason *why)
{
    uint8_t key[8];
    struct slice value;
    codec_write_u64(key, lane);
    *row = (struct lane_row){0};
    const enum status status =
        frontier_get(broker->frontier, TREE_LANES, slice_of((char *)key, sizeof key), &value, why);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    TRY(status);
    struct codec_reader reader = codec_reader_of(value);
    row->due_ms = codec_get_u64(&reader);
    row->share = codec_get_u8(&reader);
    row->answered = codec_get_u8(&reader) & LANE_FLAG_ANSWERED;
    const struct slice pace = {(const char *)reader.at, (size_t)(reader.end - reader.at)};
    return !reader.bad && pace_decode(pace, 0, &row->pace)
               ? STATUS_OK
               : status_fail(why, STATUS_CORRUPT, "what is kept of a host is damaged");
}

void
broker_store_lane(struct broker *broker, uint64_t lane, const struct lane_row *row)
{
    uint8_t key[8];
    struct buf value;
    struct pace pace = row->pace;
    pace.address_troubles = 0;
    codec_write_u64(key, lane);
    buf_init(&value, LANE_ROW_MOST);
    codec_put_u64(&value, row->due_ms);
    codec_put_u8(&value, row->share);
    codec_put_u8(&value, row->answered ? LANE_FLAG_ANSWERED : 0);
    pace_encode(&value, &pace, 0);
    store_batch_put(&broker->round.batch, TREE_LANES, slice_of((char *)key, sizeof key),
                    buf_slice(&value));
    buf_release(&value);
}

/* ---- paces ---- */

/* Takes the pace that the row of the lane has, unless a later one is known. */
static void
take_pace(struct broker *broker, uint64_t lane, const struct pace *stored)
{
    if (paces_find(broker->paces, lane) == NULL) {
        struct known_pace *known = paces_add(broker->paces, lane);
        known->pace = known->written = *stored;
    }
}

enum status
broker_restore_lane(struct broker *broker, uint64_t lane, struct reason *why)
{
    struct lane_row row;
    const enum status status = broker_stored_lane(broker, lane, &row, why);
    lanes_restore(broker->lanes, lane, row.due_ms, row.pace.address);
    lanes_set_share(broker->lanes, lane, row.share);
    if (row.answered) {
        lanes_set_answered(broker->lanes, lane);
    }
    take_pace(broker, lane, &row.pace);
    return status;
}

static uint32_t
troubles_of(struct broker *broker, uint64_t address)
{
    const struct known_pace *known = address != 0 ? paces_find(broker->paces, address) : NULL;
    return known != NULL ? known->pace.address_troubles : 0;
}

enum status
broker_pace(struct broker *broker, uint64_t lane, struct pace *pace, struct reason *why)
{
    struct lane_row row;
    const struct known_pace *known = paces_find(broker->paces, lane);
    if (known != NULL) {
        *pace = known->pace;
    } else {
        TRY(broker_stored_lane(broker, lane, &row, why));
        take_pace(broker, lane, &row.pace);
        *pace = row.pace;
    }
    pace->address_troubles = troubles_of(broker, pace->address);
    return STATUS_OK;
}

enum status
broker_hear_of_host(struct broker *broker, uint64_t lane, const struct host_report *report,
                    uint64_t *rest_ms, struct reason *why)
{
    const struct pace_rules *rules = &broker->options.pace;
    struct pace pace;
    TRY(broker_pace(broker, lane, &pace, why));
    if (report->address != 0) {
        pace.address = report->address;
        pace.address_troubles = troubles_of(broker, report->address);
    }
    if (report->rules_known) {
        pace.crawl_delay_ms = report->crawl_delay_ms;
    }
    for (unsigned i = 0; i < report->count; i++) {
        pace_note(&pace, rules, &report->observations[i], broker->round.now_ms);
    }
    if (pace.address != 0 && pace.address_troubles != troubles_of(broker, pace.address)) {
        paces_add(broker->paces, pace.address)->pace.address_troubles = pace.address_troubles;
    }
    paces_add(broker->paces, lane)->pace = pace;
    *rest_ms = report->asked ? pace_rest_ms(&pace, rules, broker->round.now_ms) : 0;
    *rest_ms = *rest_ms > report->rest_ms ? *rest_ms : report->rest_ms;
    return STATUS_OK;
}

/* The lane's rest is stored with the completion, so that a restart does not make us impolite; and
 * the first time that its host answers. Of its pace what little changes waits for that. */
enum status
broker_keep_lane(struct broker *broker, const struct completion *completion,
                 const struct host_report *report, uint64_t rest_ms, struct effect *effect,
                 struct reason *why)
{
    const uint64_t lane = completion->key.lane;
    const struct trouble trouble = broker_trouble(broker, lane);
    const bool aside = trouble.flags & TROUBLE_ASIDE;
    const uint8_t share = lanes_share(broker->lanes, lane);
    const bool answered = lanes_answered(broker->lanes, lane);
    struct lane_row row = {.due_ms = broker->round.now_ms + rest_ms,
                           .share = completion->share != 0 ? completion->share : share,
                           .answered = answered || report->words & HOST_ANSWERED};
    TRY(broker_pace(broker, lane, &row.pace, why));
    struct known_pace *known = paces_add(broker->paces, lane);
    if (aside && trouble.next_ms > row.due_ms) {
        row.due_ms = trouble.next_ms;
    }
    effect->lane_due_ms = rest_ms > 0 || aside ? row.due_ms : 0;
    effect->group = report->address;
    effect->share = completion->share;
    effect->answered = row.answered;
    if (effect->lane_due_ms > 0 || row.share != share || row.answered != answered ||
        !pace_is_near(&row.pace, &known->written)) {
        known->written = row.pace;
        broker_store_lane(broker, lane, &row);
    }
    return STATUS_OK;
}
