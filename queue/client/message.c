#include "queue/client/message.h"

#include "base/url/url.h"

enum { NEW_LEAST = 14, STAGE_NUMBERS = 12, NUMBERS = 11 };

void
message_put_new(struct buf *out, const struct job *job)
{
    codec_put_u8(out, job->key.stage);
    job_encode(out, job);
}

/* A lane without a host would be nobody's. */
static bool
has_origin(const struct job *job)
{
    return (slice_starts(job->uri, SLICE("http://")) || slice_starts(job->uri, SLICE("https://")) ||
            url_is_ftp(job->uri)) &&
           url_host(job->uri).length > 0 && job->lane_name.length > 0;
}

bool
message_get_new(struct codec_reader *reader, struct job *job)
{
    *job = (struct job){.key.stage = codec_get_u8(reader)};
    if (job->key.stage >= STAGE_COUNT) {
        reader->bad = true;
        job->key.stage = 0;
    }
    (void)job_decode(reader, job);
    if (!reader->bad && job_is_metadata(job)) {
        struct slice key, fields;
        reader->bad = !job_metadata(job, &key, &fields);
    } else if (!reader->bad && job->key.stage == STAGE_FETCH && !has_origin(job)) {
        reader->bad = true;
    }
    return !reader->bad;
}

size_t
message_get_count(struct codec_reader *reader, size_t least)
{
    const uint64_t count = codec_get_varint(reader);
    if (count > MESSAGE_ENTRIES_MAXIMUM || count * least > (size_t)(reader->end - reader->at)) {
        reader->bad = true;
    }
    return reader->bad ? 0 : (size_t)count;
}

static struct slice
cut(struct slice text)
{
    return slice_of(text.at,
                    text.length < MESSAGE_TEXT_MAXIMUM ? text.length : MESSAGE_TEXT_MAXIMUM);
}

void
message_put_completion(struct buf *out, const struct completion *completion, uint16_t attempt)
{
    job_key_encode(out, &completion->key);
    codec_put_varint(out, attempt);
    codec_put_u8(out, (uint8_t)completion->verdict);
    codec_put_u8(out, completion->no_attempt ? COMPLETION_NO_ATTEMPT : 0);
    codec_put_slice(out, cut(completion->reason));
    codec_put_slice(out, cut(completion->reproducer));
    codec_put_varint(out, completion->delay_ms);
    codec_put_slice(out, completion->report);
    codec_put_u8(out, completion->share);
    codec_put_u8(out, (uint8_t)completion->outcome);
    codec_put_varint(out, completion->scope);
    codec_put_varint(out, completion->output_count);
    for (size_t i = 0; i < completion->output_count; i++) {
        message_put_new(out, &completion->outputs[i]);
    }
}

bool
message_get_completion(struct codec_reader *reader, struct completion *completion,
                       uint16_t *attempt)
{
    *completion = (struct completion){0};
    (void)job_key_decode(reader, &completion->key);
    const uint64_t given = codec_get_varint(reader);
    const uint8_t verdict = codec_get_u8(reader);
    completion->no_attempt = codec_get_u8(reader) & COMPLETION_NO_ATTEMPT;
    completion->reason = cut(codec_get_slice(reader));
    completion->reproducer = cut(codec_get_slice(reader));
    completion->delay_ms = codec_get_varint(reader);
    completion->report = codec_get_slice(reader);
    completion->share = codec_get_u8(reader);
    const uint8_t outcome = codec_get_u8(reader);
    completion->outcome = (enum job_outcome)outcome;
    completion->scope = codec_get_varint(reader);
    completion->output_count = message_get_count(reader, NEW_LEAST);
    completion->verdict = (enum verdict)verdict;
    *attempt = (uint16_t)given;
    if (verdict > VERDICT_BURY || given > UINT16_MAX || outcome >= OUTCOME_COUNT) {
        reader->bad = true;
    }
    return !reader->bad;
}

/* ---- stats: one order for both directions ---- */

static void
stage_numbers(struct queue_stage_stats *stage, uint64_t *numbers[STAGE_NUMBERS])
{
    uint64_t *const order[STAGE_NUMBERS] = {&stage->ready,     &stage->leased,    &stage->delayed,
                                            &stage->scheduled, &stage->buried,    &stage->outbox,
                                            &stage->put,       &stage->done,      &stage->released,
                                            &stage->dead,      &stage->oldest_ms, &stage->aside};
    memcpy(numbers, order, sizeof order);
}

static void
numbers_of(struct queue_stats *stats, uint64_t *numbers[NUMBERS])
{
    uint64_t *const order[NUMBERS] = {&stats->seen,          &stats->lanes,     &stats->lanes_busy,
                                      &stats->sent,          &stats->received,  &stats->incarnation,
                                      &stats->disk_free,     &stats->workers,   &stats->hosts_aside,
                                      &stats->hosts_failing, &stats->network_ms};
    memcpy(numbers, order, sizeof order);
}

void
message_put_stats(struct buf *out, const struct queue_stats *given)
{
    struct queue_stats stats = *given;
    uint64_t *numbers[STAGE_NUMBERS];
    codec_put_u8(out, STAGE_COUNT);
    for (int i = 0; i < STAGE_COUNT; i++) {
        stage_numbers(&stats.stages[i], numbers);
        for (int n = 0; n < STAGE_NUMBERS; n++) {
            codec_put_varint(out, *numbers[n]);
        }
        codec_put_u8(out, stats.stages[i].throttled);
    }
    numbers_of(&stats, numbers);
    for (int n = 0; n < NUMBERS; n++) {
        codec_put_varint(out, *numbers[n]);
    }
    codec_put_u8(out, OUTCOME_COUNT);
    for (int n = 0; n < OUTCOME_COUNT; n++) {
        codec_put_varint(out, stats.outcomes[n]);
    }
    codec_put_u8(out, stats.intake_stopped);
    codec_put_u8(out, stats.cut_off);
}

bool
message_get_stats(struct slice bytes, struct queue_stats *stats)
{
    struct codec_reader reader = codec_reader_of(bytes);
    uint64_t *numbers[STAGE_NUMBERS];
    *stats = (struct queue_stats){0};
    if (codec_get_u8(&reader) != STAGE_COUNT) {
        return false;
    }
    for (int i = 0; i < STAGE_COUNT; i++) {
        stage_numbers(&stats->stages[i], numbers);
        for (int n = 0; n < STAGE_NUMBERS; n++) {
            *numbers[n] = codec_get_varint(&reader);
        }
        stats->stages[i].throttled = codec_get_u8(&reader) != 0;
    }
    numbers_of(stats, numbers);
    for (int n = 0; n < NUMBERS; n++) {
        *numbers[n] = codec_get_varint(&reader);
    }
    if (codec_get_u8(&reader) != OUTCOME_COUNT) {
        return false;
    }
    for (int n = 0; n < OUTCOME_COUNT; n++) {
        stats->outcomes[n] = codec_get_varint(&reader);
    }
    stats->intake_stopped = codec_get_u8(&reader) != 0;
    stats->cut_off = codec_get_u8(&reader) != 0;
    return codec_at_end(&reader);
}

/* ---- a host in trouble ---- */

enum { HOST_FLAG_ASIDE = 1, HOST_FLAG_SILENT = 2, HOST_FLAG_DOUBTED = 4, HOST_FLAG_COUNTED = 8 };

void
message_put_host(struct buf *out, const struct queue_host *host)
{
    codec_put_u64(out, host->lane);
    codec_put_u8(out, (uint8_t)((host->aside ? HOST_FLAG_ASIDE : 0) |
                                (host->silent ? HOST_FLAG_SILENT : 0) |
                                (host->doubted ? HOST_FLAG_DOUBTED : 0) |
                                (host->counted ? HOST_FLAG_COUNTED : 0)));
    codec_put_varint(out, host->failures);
    codec_put_varint(out, host->probes);
    codec_put_varint(out, host->since_ms);
    codec_put_varint(out, host->last_ms);
    codec_put_varint(out, host->aside_ms);
    codec_put_varint(out, host->next_ms);
    codec_put_varint(out, host->jobs);
    codec_put_slice(out, host->origin);
    codec_put_slice(out, host->cause);
}

bool
message_get_host(struct codec_reader *reader, struct queue_host *host)
{
    *host = (struct queue_host){.lane = codec_get_u64(reader)};
    const uint8_t flags = codec_get_u8(reader);
    host->aside = flags & HOST_FLAG_ASIDE;
    host->silent = flags & HOST_FLAG_SILENT;
    host->doubted = flags & HOST_FLAG_DOUBTED;
    host->counted = flags & HOST_FLAG_COUNTED;
    host->failures = codec_get_varint(reader);
    host->probes = codec_get_varint(reader);
    host->since_ms = codec_get_varint(reader);
    host->last_ms = codec_get_varint(reader);
    host->aside_ms = codec_get_varint(reader);
    host->next_ms = codec_get_varint(reader);
    host->jobs = codec_get_varint(reader);
    host->origin = codec_get_slice(reader);
    host->cause = codec_get_slice(reader);
    return !reader->bad;
}

/* ---- another node ---- */

enum { NODE_FLAG_DOWN = 1, NODE_FLAG_UNKNOWN = 2 };

void
message_put_node(struct buf *out, const struct queue_node *node)
{
    codec_put_slice(out, node->name);
    codec_put_u8(out, (uint8_t)((node->down ? NODE_FLAG_DOWN : 0) |
                                (node->unknown ? NODE_FLAG_UNKNOWN : 0)));
    codec_put_varint(out, node->since_ms);
    codec_put_varint(out, node->jobs);
    codec_put_slice(out, node->trouble);
}

bool
message_get_node(struct codec_reader *reader, struct queue_node *node)
{
    *node = (struct queue_node){.name = codec_get_slice(reader)};
    const uint8_t flags = codec_get_u8(reader);
    node->down = flags & NODE_FLAG_DOWN;
    node->unknown = flags & NODE_FLAG_UNKNOWN;
    node->since_ms = codec_get_varint(reader);
    node->jobs = codec_get_varint(reader);
    node->trouble = codec_get_slice(reader);
    return !reader->bad;
}

/* ---- look: the same ---- */

enum { LOOK_NUMBERS = sizeof(struct queue_explanation) / sizeof(uint64_t) };
_Static_assert(sizeof(struct queue_explanation) == LOOK_NUMBERS * sizeof(uint64_t), "numbers only");

void
message_put_explanation(struct buf *out, const struct queue_explanation *look)
{
    uint64_t numbers[LOOK_NUMBERS];
    memcpy(numbers, look, sizeof numbers);
    for (int i = 0; i < LOOK_NUMBERS; i++) {
        codec_put_varint(out, numbers[i]);
    }
}

bool
message_get_explanation(struct slice bytes, struct queue_explanation *look)
{
    struct codec_reader reader = codec_reader_of(bytes);
    uint64_t numbers[LOOK_NUMBERS] = {0};
    for (int i = 0; i < LOOK_NUMBERS; i++) {
        numbers[i] = codec_get_varint(&reader);
    }
    memcpy(look, numbers, sizeof numbers);
    return codec_at_end(&reader);
}
