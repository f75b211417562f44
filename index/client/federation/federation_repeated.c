/* The triples that several partitions have: their fingerprints are merged, and the rows of those
 * that came from several partitions are compared. */
#include "index/client/federation/federation_counts.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/protocol/triples_request.h"

enum { REPEATED_MAXIMUM = 1 << 18 };
enum { CHECKED = 4096 }; /* entries between two looks at the time */

/* A triple that is in several partitions may be one of these. */
struct candidate {
    oid subject, predicate, object;
    uint32_t partition, number; /* of its row */
};

/* One partition's fingerprint. */
struct entry {
    uint64_t fingerprint;
    uint32_t number;
    bool begun, ended;
};

/* ---- streams ---- */

void
counting_close(struct counting *counting)
{
    for (size_t i = 0; i < counting->federation->client->count; i++) {
        row_stream_release(&counting->streams[i]);
        row_stream_init(&counting->streams[i], counting->federation, i);
    }
}

void
counting_put_pattern(const struct counting *counting, struct buf *out)
{
    const struct quad_oids *pattern = &counting->request->pattern;
    const oid places[] = {pattern->subject, pattern->predicate, pattern->object};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        char text[OID_INLINE_TEXT];
        const struct term term = federation_term(counting->federation, places[i], text);
        index_put_term(out, &term);
    }
}

/* Asks a partition; the rows' numbers follow where the candidates' rows are wanted. */
static enum status
start(struct counting *counting, size_t partition, uint8_t form, struct reason *why)
{
    struct row_stream *stream = &counting->streams[partition];
    struct buf request;
    uint32_t last = 0;
    size_t count = 0;
    buf_init(&request, FEDERATION_REQUEST_MAXIMUM);
    codec_put_u8(&request, INDEX_STREAM_TRIPLES);
    codec_put_u64(&request, counting->federation->session);
    codec_put_u8(&request, row_stream_flags(stream));
    codec_put_u8(&request, form);
    counting_put_pattern(counting, &request);
    for (size_t i = 0; i < counting->candidate_count; i++) {
        count += counting->candidates[i].partition == partition;
    }
    if (form == TRIPLES_ROWS) {
        codec_put_varint(&request, count);
    }
    for (size_t i = 0; i < counting->candidate_count && form == TRIPLES_ROWS; i++) {
        if (counting->candidates[i].partition == partition) {
            codec_put_varint(&request, counting->candidates[i].number - last);
            last = counting->candidates[i].number;
        }
    }
    const enum status status =
        form == TRIPLES_ROWS && count == 0 ? STATUS_OK : row_stream_start(stream, &request, why);
    buf_release(&request);
    return status;
}

enum status
counting_start(struct counting *counting, uint8_t form, struct reason *why)
{
    const struct index_client *client = counting->federation->client;
    counting_close(counting);
    for (size_t i = 0; i < client->count; i++) {
        if (!client->partitions[i].missing) {
            TRY(start(counting, i, form, why));
        }
    }
    return STATUS_OK;
}

enum status
counting_head(struct row_stream *stream, size_t bytes, struct codec_reader *in, struct reason *why)
{
    while (stream->open && stream->text.length - stream->at < bytes) {
        TRY(row_stream_more(stream, why));
    }
    *in = row_stream_reader(stream);
    if (!stream->open && stream->text.length - stream->at < bytes) {
        *in = codec_reader_of(slice_of(NULL, 0));
        return stream->federation->client->partitions[stream->partition].missing
                   ? STATUS_OK
                   : row_stream_malformed(why);
    }
    stream->at += bytes;
    return codec_get_u8(in) == TRIPLES_KNOWN
               ? STATUS_OK
               : status_fail(why, STATUS_UNSUPPORTED, "a partition does not count these triples");
}

/* ---- which triples several partitions may have ---- */

static enum status
next_entry(struct row_stream *stream, struct entry *entry, struct reason *why)
{
    for (;;) {
        struct codec_reader in = row_stream_reader(stream);
        const uint64_t fingerprint = codec_get_u64(&in);
        const uint64_t number = codec_get_varint(&in);
        entry->ended = in.bad && !stream->open;
        if (!in.bad) {
            if ((entry->begun && fingerprint < entry->fingerprint) || number > UINT32_MAX) {
                return row_stream_malformed(why);
            }
            stream->at = stream->text.length - (size_t)(in.end - in.at);
            *entry = (struct entry){fingerprint, (uint32_t)number, .begun = true};
            return STATUS_OK;
        }
        if (entry->ended) {
            return STATUS_OK;
        }
        TRY(row_stream_more(stream, why));
    }
}

static enum status
add_candidate(struct counting *counting, size_t partition, uint32_t number, struct reason *why)
{
    const size_t room = counting->request->memory / 2 / sizeof(*counting->candidates);
    if (counting->candidate_count == REPEATED_MAXIMUM || counting->candidate_count >= room) {
        counting->too_many = true;
        return status_fail(why, STATUS_LIMIT, "too many triples are in several partitions");
    }
    counting->candidates = array_grow(counting->candidates, counting->candidate_count,
                                      &counting->candidate_room, sizeof(*counting->candidates));
    counting->candidates[counting->candidate_count++] =
        (struct candidate){.partition = (uint32_t)partition, .number = number};
    return STATUS_OK;
}

/* Asks now and then whether to go on. */
static enum status
check_sometimes(const struct counting *counting, uint64_t taken, struct reason *why)
{
    return taken % CHECKED == 0 ? counting->check.check(counting->check.context, why) : STATUS_OK;
}

/* Takes the entries of the lowest fingerprint; they are candidates when they are of several
 * partitions. */
static enum status
take_lowest(struct counting *counting, struct entry *entries, uint64_t *taken, bool *ended,
            struct reason *why)
{
    const size_t count = counting->federation->client->count;
    uint64_t lowest = UINT64_MAX;
    size_t partitions = 0;
    *ended = true;
    for (size_t i = 0; i < count; i++) {
        *ended = *ended && entries[i].ended;
        lowest =
            !entries[i].ended && entries[i].fingerprint < lowest ? entries[i].fingerprint : lowest;
    }
    for (size_t i = 0; i < count; i++) {
        partitions += !entries[i].ended && entries[i].fingerprint == lowest;
    }
    for (size_t i = 0; i < count; i++) {
        while (!entries[i].ended && entries[i].fingerprint == lowest) {
            TRY(check_sometimes(counting, (*taken)++, why));
            TRY(partitions > 1 ? add_candidate(counting, i, entries[i].number, why) : STATUS_OK);
            TRY(next_entry(&counting->streams[i], &entries[i], why));
        }
    }
    return STATUS_OK;
}

static enum status
merge_fingerprints(struct counting *counting, struct entry *entries, struct reason *why)
{
    TRY(counting_start(counting, TRIPLES_FINGERPRINTS, why));
    for (size_t i = 0; i < counting->federation->client->count; i++) {
        struct codec_reader in;
        TRY(counting_head(&counting->streams[i], 1, &in, why));
        TRY(next_entry(&counting->streams[i], &entries[i], why));
    }
    bool ended = false;
    for (uint64_t taken = 0; !ended;) {
        TRY(take_lowest(counting, entries, &taken, &ended, why));
    }
    return STATUS_OK;
}

/* ---- which they are ---- */

static int
compare_rows(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    return left->partition != right->partition
               ? (left->partition > right->partition) - (left->partition < right->partition)
               : (left->number > right->number) - (left->number < right->number);
}

static int
compare_triples(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    const oid one[] = {left->subject, left->predicate, left->object, left->partition};
    const oid two[] = {right->subject, right->predicate, right->object, right->partition};
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++) {
        if (one[i] != two[i]) {
            return one[i] > two[i] ? 1 : -1;
        }
    }
    return 0;
}

static enum status
read_triple(struct row_stream *stream, struct candidate *candidate, struct reason *why)
{
    oid *places[] = {&candidate->subject, &candidate->predicate, &candidate->object};
    for (;;) {
        struct codec_reader in = row_stream_reader(stream);
        const size_t names = stream->name_count;
        in.bad = in.at == in.end;
        for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !in.bad; i++) {
            TRY(row_stream_name(stream, &in, false, places[i], why));
        }
        if (!in.bad) {
            stream->at = stream->text.length - (size_t)(in.end - in.at);
            return STATUS_OK;
        }
        stream->name_count = names;
        if (!stream->open) {
            return STATUS_END;
        }
        TRY(row_stream_more(stream, why));
    }
}

static enum status
read_candidates(struct counting *counting, struct reason *why)
{
    TRY(checked_sort(counting->candidates, counting->candidate_count, sizeof(*counting->candidates),
                     compare_rows, &counting->check, why));
    TRY(counting_start(counting, TRIPLES_ROWS, why));
    for (size_t i = 0; i < counting->candidate_count; i++) {
        struct candidate *candidate = &counting->candidates[i];
        TRY(check_sometimes(counting, i, why));
        const enum status status =
            read_triple(&counting->streams[candidate->partition], candidate, why);
        if (status == STATUS_END) {
            return status_fail(why, STATUS_UNSUPPORTED, "a partition went away");
        }
        TRY(status);
    }
    return checked_sort(counting->candidates, counting->candidate_count,
                        sizeof(*counting->candidates), compare_triples, &counting->check, why);
}

static bool
same_triple(const struct candidate *a, const struct candidate *b)
{
    return a->subject == b->subject && a->predicate == b->predicate && a->object == b->object;
}

enum status
counting_find_repeated(struct counting *counting, struct reason *why)
{
    const enum triple_place by = counting->request->by;
    struct entry *entries = memory_zero(counting->federation->client->count, sizeof(struct entry));
    enum status status = merge_fingerprints(counting, entries, why);
    free(entries);
    TRY(status);
    TRY(read_candidates(counting, why));
    for (size_t i = 1; i < counting->candidate_count; i++) {
        const struct candidate *one = &counting->candidates[i];
        if (same_triple(one, one - 1) && one->partition != one[-1].partition) {
            totals_add(&counting->repeated,
                       by == TRIPLE_ALL         ? OID_LOCAL
                       : by == TRIPLE_PREDICATE ? one->predicate
                                                : one->object,
                       1);
        }
    }
    return totals_sum(&counting->repeated, &counting->check, why);
}
