#include "queue/politeness/host_report.h"

#include <string.h>

enum { WORDS = 31, FLAG_ASKED = 32, FLAG_RULES = 64, FLAG_ADDRESS = 128, OBSERVED = 7 };

void
host_report_add(struct host_report *report, const struct observation *observation)
{
    if (report->count == OBSERVATIONS_MOST) {
        report->count--;
        memmove(report->observations, report->observations + 1,
                report->count * sizeof *report->observations);
    }
    report->observations[report->count++] = *observation;
}

static struct slice
cut(struct slice cause)
{
    return slice_of(cause.at,
                    cause.length < HOST_CAUSE_MAXIMUM ? cause.length : HOST_CAUSE_MAXIMUM);
}

void
host_report_encode(struct buf *out, const struct host_report *report)
{
    const uint8_t flags = (uint8_t)(report->words | (report->asked ? FLAG_ASKED : 0) |
                                    (report->rules_known ? FLAG_RULES : 0) |
                                    (report->address != 0 ? FLAG_ADDRESS : 0));
    if (flags == 0 && report->rest_ms == 0 && report->count == 0) {
        return;
    }
    codec_put_u8(out, flags);
    codec_put_varint(out, report->rest_ms);
    if (report->rules_known) {
        codec_put_varint(out, report->crawl_delay_ms);
    }
    if (report->address != 0) {
        codec_put_u64(out, report->address);
    }
    codec_put_slice(out, cut(report->cause));
    codec_put_u8(out, (uint8_t)report->count);
    for (unsigned i = 0; i < report->count; i++) {
        codec_put_u8(out, report->observations[i].what);
        codec_put_varint(out, report->observations[i].milliseconds);
        codec_put_varint(out, report->observations[i].retry_after_ms);
    }
}

bool
host_report_decode(struct slice bytes, struct host_report *report)
{
    struct codec_reader reader = codec_reader_of(bytes);
    *report = (struct host_report){0};
    if (bytes.length == 0) {
        return true;
    }
    const uint8_t flags = codec_get_u8(&reader);
    report->words = flags & WORDS;
    report->asked = flags & FLAG_ASKED;
    report->rules_known = flags & FLAG_RULES;
    report->rest_ms = codec_get_varint(&reader);
    report->crawl_delay_ms = report->rules_known ? codec_get_varint32(&reader) : 0;
    report->address = flags & FLAG_ADDRESS ? codec_get_u64(&reader) : 0;
    report->cause = cut(codec_get_slice(&reader));
    report->count = codec_get_u8(&reader);
    reader.bad |= report->count > OBSERVATIONS_MOST;
    for (unsigned i = 0; i < report->count && !reader.bad; i++) {
        struct observation *observation = &report->observations[i];
        observation->what = codec_get_u8(&reader);
        observation->milliseconds = codec_get_varint32(&reader);
        observation->retry_after_ms = codec_get_varint(&reader);
        reader.bad |= observation->what > OBSERVED;
    }
    return codec_at_end(&reader);
}
