#include "queue/politeness/pace.h"

enum {
    SMOOTHING = 4,
    TROUBLES_MAXIMUM = 32,
    WORTH_WRITING_MS = 50,
    PATIENCE_FACTOR = 16,
    HALVINGS_MOST = 3,
    FLAG_ANSWERED = 1
};

static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct pace_rules
pace_rules_from(const struct opt_set *options)
{
    return (struct pace_rules){
        .least_ms = opt_duration_ms(options, "fetch.delay"),
        .most_ms = opt_duration_ms(options, "fetch.delay_maximum"),
        .factor = (uint64_t)opt_integer(options, "fetch.delay_factor"),
        .crawl_delay_most_ms = opt_duration_ms(options, "fetch.crawl_delay_maximum"),
        .backoff_ms = opt_duration_ms(options, "fetch.backoff"),
        .backoff_most_ms = opt_duration_ms(options, "fetch.backoff_maximum"),
        .retry_after_most_ms = opt_duration_ms(options, "fetch.retry_maximum"),
    };
}

/* ---- what requests tell ---- */

static void
answered(struct pace *pace, uint32_t milliseconds)
{
    const uint64_t before = pace->response_ms;
    const uint64_t now = milliseconds > 0 ? milliseconds : 1;
    pace->response_ms =
        (uint32_t)(before == 0 ? now : (before * (SMOOTHING - 1) + now) / SMOOTHING);
    pace->troubles /= 2;
    if (pace->troubles == 0) {
        pace->until_ms = 0;
    }
}

void
pace_note(struct pace *pace, const struct pace_rules *rules, const struct observation *observation,
          uint64_t now_ms)
{
    const bool trouble = observation->what & OBSERVED_TROUBLE;
    const bool asked = observation->what & (OBSERVED_ANSWER | OBSERVED_SILENCE);
    if (observation->what & OBSERVED_ANSWER) {
        pace->failures = 0;
        pace->answered = true;
    } else if (observation->what & OBSERVED_SILENCE) {
        pace->failures += pace->failures < UINT32_MAX;
    }
    if (!trouble) {
        answered(pace, observation->milliseconds);
        pace->address_troubles /= 2;
        return;
    }
    pace->troubles += pace->troubles < TROUBLES_MAXIMUM;
    pace->address_troubles += asked && pace->address_troubles < TROUBLES_MAXIMUM;
    if (observation->retry_after_ms > 0) {
        const uint64_t wait_ms = smaller(observation->retry_after_ms, rules->retry_after_most_ms);
        pace->until_ms = larger(pace->until_ms, now_ms + wait_ms);
    }
}

/* ---- what follows ---- */

bool
pace_blames_document(const struct pace *pace, unsigned attempt)
{
    return pace->answered && attempt > 1 && pace->failures < attempt - 1;
}

static uint64_t
backoff_ms(uint32_t troubles, const struct pace_rules *rules)
{
    uint64_t rest_ms = troubles > 0 ? rules->backoff_ms : 0;
    for (uint32_t i = 1; i < troubles && rest_ms < rules->backoff_most_ms; i++) {
        rest_ms *= 2;
    }
    return smaller(rest_ms, rules->backoff_most_ms);
}

/* Response times of the hosts of an address differ for good reasons; their troubles are shared. */
uint64_t
pace_rest_ms(const struct pace *pace, const struct pace_rules *rules, uint64_t now_ms)
{
    const uint32_t troubles =
        pace->troubles > pace->address_troubles ? pace->troubles : pace->address_troubles;
    uint64_t rest_ms = rules->least_ms > 0 ? rules->factor * pace->response_ms : 0;
    rest_ms = larger(smaller(rest_ms, rules->most_ms), rules->least_ms);
    rest_ms = larger(rest_ms, smaller(pace->crawl_delay_ms, rules->crawl_delay_most_ms));
    rest_ms = larger(rest_ms, backoff_ms(troubles, rules));
    return larger(rest_ms, pace->until_ms > now_ms ? pace->until_ms - now_ms : 0);
}

uint64_t
pace_patience_ms(const struct pace *pace, uint64_t most_ms, unsigned attempt)
{
    if (pace->response_ms == 0) {
        return most_ms >> smaller(pace->troubles, HALVINGS_MOST);
    }
    uint64_t patience_ms = larger((uint64_t)PATIENCE_FACTOR * pace->response_ms, most_ms / 4);
    for (unsigned i = 1; i < attempt && patience_ms < most_ms; i++) {
        patience_ms *= 2;
    }
    return smaller(patience_ms, most_ms);
}

bool
pace_is_near(const struct pace *pace, const struct pace *written)
{
    const uint64_t now = pace->response_ms, before = written->response_ms;
    const uint64_t away = now > before ? now - before : before - now;
    return (away < WORTH_WRITING_MS || away * 4 < before) && pace->until_ms == written->until_ms &&
           pace->address == written->address && pace->crawl_delay_ms == written->crawl_delay_ms &&
           pace->troubles == written->troubles && pace->failures == written->failures &&
           pace->answered == written->answered;
}

/* ---- bytes ---- */

static bool
is_unknown(const struct pace *pace)
{
    return !pace->answered && pace->response_ms == 0 && pace->crawl_delay_ms == 0 &&
           pace->troubles == 0 && pace->failures == 0 && pace->until_ms == 0 &&
           pace->address == 0 && pace->address_troubles == 0;
}

void
pace_encode(struct buf *out, const struct pace *pace, uint64_t now_ms)
{
    if (is_unknown(pace)) {
        return;
    }
    codec_put_u8(out, pace->answered ? FLAG_ANSWERED : 0);
    codec_put_varint(out, pace->response_ms);
    codec_put_varint(out, pace->crawl_delay_ms);
    codec_put_varint(out, pace->troubles);
    codec_put_varint(out, pace->failures);
    codec_put_varint(out, pace->until_ms > now_ms ? pace->until_ms - now_ms : 0);
    codec_put_u64(out, pace->address);
    codec_put_varint(out, pace->address_troubles);
}

bool
pace_decode(struct slice bytes, uint64_t now_ms, struct pace *pace)
{
    struct codec_reader reader = codec_reader_of(bytes);
    *pace = (struct pace){0};
    if (bytes.length == 0) {
        return true;
    }
    pace->answered = codec_get_u8(&reader) & FLAG_ANSWERED;
    pace->response_ms = codec_get_varint32(&reader);
    pace->crawl_delay_ms = codec_get_varint32(&reader);
    pace->troubles = codec_get_varint32(&reader);
    pace->failures = codec_get_varint32(&reader);
    const uint64_t rest_ms = codec_get_varint(&reader);
    pace->until_ms = rest_ms > 0 ? now_ms + rest_ms : 0;
    pace->address = codec_get_u64(&reader);
    pace->address_troubles = codec_get_varint32(&reader);
    if (!codec_at_end(&reader)) {
        *pace = (struct pace){0};
        return false;
    }
    return true;
}
