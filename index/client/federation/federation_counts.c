/* Different triples counted over all partitions: the sum of what each counts, less the triples that
 * several have. SEVERAL.md, "Counts of triples", says how those are found. */
#include "index/client/federation/federation_counts.h"

#include <stdlib.h>

#include "base/memory.h"

/* ---- what each partition counts ---- */

/* Reads a partition's counts, a name for each unless all are of one value. */
static enum status
read_counts(struct counting *counting, struct row_stream *stream, struct reason *why)
{
    for (;;) {
        struct codec_reader in = row_stream_reader(stream);
        const size_t names = stream->name_count;
        oid value = OID_LOCAL;
        const uint64_t triples = in.at < in.end ? codec_get_varint(&in) : 0;
        if (in.at < in.end && !in.bad && counting->request->by != TRIPLE_ALL) {
            TRY(row_stream_name(stream, &in, false, &value, why));
        } else if (counting->request->by != TRIPLE_ALL) {
            in.bad = true;
        }
        if (!in.bad && triples > 0) {
            stream->at = stream->text.length - (size_t)(in.end - in.at);
            totals_add(&counting->totals, value, triples);
            if (counting->totals.count * sizeof(struct triple_count) >
                counting->request->memory / 4) {
                return status_fail(why, STATUS_LIMIT, "there are too many values to count");
            }
            continue;
        }
        stream->name_count = names;
        if (!stream->open) {
            return STATUS_OK;
        }
        TRY(row_stream_more(stream, why));
    }
}

static enum status
ask_counts(struct counting *counting, struct reason *why)
{
    struct federation *federation = counting->federation;
    counting_put_pattern(counting, &counting->question);
    codec_put_u8(&counting->question, (uint8_t)counting->request->by);
    TRY(counting_start(counting, (uint8_t)counting->request->by, why));
    for (size_t i = 0; i < federation->client->count; i++) {
        struct codec_reader in;
        TRY(counting_head(&counting->streams[i], 1 + 2 * sizeof(uint64_t), &in, why));
        codec_put_u64(&counting->question, codec_get_u64(&in));
        codec_put_u64(&counting->question, codec_get_u64(&in));
        TRY(read_counts(counting, &counting->streams[i], why));
    }
    return totals_sum(&counting->totals, &counting->check, why);
}

/* ---- the count ---- */

static size_t
count_missing(const struct counting *counting)
{
    const struct index_client *client = counting->federation->client;
    size_t missing = 0;
    for (size_t i = 0; i < client->count; i++) {
        missing += client->partitions[i].missing;
    }
    return missing;
}

/* What a partition that went away said is not whole, and says nothing of what others have too. */
enum status
counting_check_missing(const struct counting *counting, struct reason *why)
{
    return count_missing(counting) == counting->missing
               ? STATUS_OK
               : status_fail(why, STATUS_UNSUPPORTED, "a partition went away");
}

static enum status
settle(struct counting *counting, struct reason *why)
{
    struct repeated_counts *kept = repeated_find(counting);
    if (kept != NULL) {
        return repeated_recall(counting, kept, why);
    }
    const enum status status = counting_find_repeated(counting, why);
    if (status == STATUS_OK) {
        TRY(counting_check_missing(counting, why));
    }
    if (status == STATUS_OK || counting->too_many) {
        repeated_keep(counting);
    }
    return status;
}

/* Each triple that several partitions have stays once, so something is left of every value. */
static enum status
take_off(struct totals *totals, const struct totals *repeated, struct reason *why)
{
    size_t at = 0;
    for (size_t i = 0; i < repeated->count; i++) {
        while (at < totals->count && totals->list[at].value != repeated->list[i].value) {
            at++;
        }
        if (at == totals->count || totals->list[at].triples <= repeated->list[i].triples) {
            return row_stream_malformed(why);
        }
        totals->list[at].triples -= repeated->list[i].triples;
    }
    return STATUS_OK;
}

static enum status
count(struct counting *counting, struct reason *why)
{
    TRY(ask_counts(counting, why));
    TRY(counting_check_missing(counting, why));
    TRY(settle(counting, why));
    return take_off(&counting->totals, &counting->repeated, why);
}

void
counting_init(struct counting *counting, struct federation *federation,
              const struct count_request *request)
{
    const size_t partitions = federation->client->count;
    *counting = (struct counting){.federation = federation,
                                  .request = request,
                                  .check = {request->check, request->check_context}};
    counting->streams = memory_zero(partitions, sizeof(*counting->streams));
    for (size_t i = 0; i < partitions; i++) {
        row_stream_init(&counting->streams[i], federation, i);
    }
    buf_init(&counting->question, FEDERATION_REQUEST_MAXIMUM);
    counting->missing = count_missing(counting);
}

void
counting_release(struct counting *counting)
{
    counting_close(counting);
    buf_release(&counting->question);
    free(counting->streams);
    free(counting->candidates);
    free(counting->repeated.list);
}

enum status
federation_count_triples(void *context, const struct count_request *request,
                         struct triple_count **counts, size_t *n, struct reason *why)
{
    struct counting counting;
    *counts = NULL;
    *n = 0;
    if (request->by == TRIPLE_SUBJECT || request->again || request->quads ||
        request->kind != TERM_NONE) {
        return status_fail(why, STATUS_UNSUPPORTED, "subjects are too many to be counted so");
    }
    counting_init(&counting, context, request);
    const enum status status = count(&counting, why);
    counting_release(&counting);
    if (status != STATUS_OK) {
        free(counting.totals.list);
        return status;
    }
    *counts = counting.totals.list;
    *n = counting.totals.count;
    return STATUS_OK;
}
