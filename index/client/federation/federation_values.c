/* Values of a place by their digests, over all partitions: each gives its own in ascending order,
 * and these are merged. Of values that came from several partitions the triples are asked for by
 * their digests, so that one which several have counts once (SEVERAL.md, "Values by their
 * digests"). */
#include "index/client/federation/federation_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/protocol/triples_request.h"
#include "index/sort/oid_sort.h"

enum { SHARED_MAXIMUM = 1 << 18, RECORDS_MAXIMUM = 1 << 21, CHECKED = 4096 };
enum { HEAD_BYTES = 1 + 2 * sizeof(uint64_t) };

/* A triple of a value that several partitions have. */
struct record {
    uint32_t number; /* of the value among those */
    struct term_digest rest;
};

struct gathering {
    struct counting counting;
    bool different;
    const struct kept_values *kept; /* of other versions, or of these; NULL: none */
    uint64_t *versions;             /* two of each partition */
    bool *same;                     /* a partition's is the one that is kept */
    struct value_count **lists;     /* of each partition, with their numbers of values */
    size_t *counts;
    struct value_count *merged;
    size_t merged_count;
    uint32_t *shared; /* places in merged of values that came from several partitions */
    size_t shared_count;
    struct record *records;
    size_t record_count, record_room;
};

static size_t
partitions_of(const struct gathering *gathering)
{
    return gathering->counting.federation->client->count;
}

/* ---- asking ---- */

static enum status
start(struct gathering *gathering, size_t partition, uint8_t form, struct reason *why)
{
    struct counting *counting = &gathering->counting;
    struct row_stream *stream = &counting->streams[partition];
    const struct kept_values *kept = gathering->same[partition] ? NULL : gathering->kept;
    struct buf request;
    buf_init(&request, FEDERATION_REQUEST_MAXIMUM);
    codec_put_u8(&request, INDEX_STREAM_TRIPLES);
    codec_put_u64(&request, counting->federation->session);
    codec_put_u8(&request, row_stream_flags(stream));
    codec_put_u8(&request, form);
    counting_put_pattern(counting, &request);
    codec_put_u8(&request, (uint8_t)counting->request->by);
    if (form == TRIPLES_VALUES) {
        codec_put_u64(&request, kept ? kept->versions[2 * partition] : 0);
        codec_put_u64(&request, kept ? kept->versions[2 * partition + 1] : 0);
    } else {
        codec_put_varint(&request, gathering->shared_count);
    }
    for (size_t i = 0; i < gathering->shared_count && form == TRIPLES_OF_VALUES; i++) {
        const struct term_digest value = gathering->merged[gathering->shared[i]].value;
        codec_put_u64(&request, value.high);
        codec_put_u64(&request, value.low);
    }
    row_stream_release(stream);
    row_stream_init(stream, counting->federation, partition);
    const enum status status = row_stream_start(stream, &request, why);
    buf_release(&request);
    return status;
}

/* Reads the next entry that is all there; false: the stream has ended. */
static enum status
next_entry(struct row_stream *stream, struct term_digest *digest, uint64_t *number,
           bool number_first, bool *some, struct reason *why)
{
    for (;;) {
        struct codec_reader in = row_stream_reader(stream);
        *number = number_first ? codec_get_varint(&in) : 0;
        digest->high = codec_get_u64(&in);
        digest->low = codec_get_u64(&in);
        *number = number_first ? *number : codec_get_varint(&in);
        *some = !in.bad;
        if (*some) {
            stream->at = stream->text.length - (size_t)(in.end - in.at);
            return STATUS_OK;
        }
        if (!stream->open) {
            return STATUS_OK;
        }
        TRY(row_stream_more(stream, why));
    }
}

/* ---- what each partition has ---- */

static enum status
read_head(struct gathering *gathering, size_t partition, bool *same, struct reason *why)
{
    struct codec_reader in;
    TRY(counting_head(&gathering->counting.streams[partition], HEAD_BYTES, &in, why));
    uint64_t *version = &gathering->versions[2 * partition];
    version[0] = codec_get_u64(&in);
    version[1] = codec_get_u64(&in);
    *same = gathering->kept != NULL &&
            memcmp(version, &gathering->kept->versions[2 * partition], 2 * sizeof(*version)) == 0;
    return STATUS_OK;
}

static enum status
read_list(struct gathering *gathering, size_t partition, struct reason *why)
{
    struct value_count one;
    size_t room = 0, *count = &gathering->counts[partition];
    const size_t most = gathering->counting.request->memory / (4 * sizeof(one));
    for (bool some = true; some;) {
        TRY(next_entry(&gathering->counting.streams[partition], &one.value, &one.triples, false,
                       &some, why));
        struct value_count **list = &gathering->lists[partition];
        if (!some) {
            break;
        }
        if (one.triples == 0 ||
            (*count > 0 && term_digest_compare(&(*list)[*count - 1].value, &one.value) >= 0)) {
            return row_stream_malformed(why);
        }
        if (*count == most) {
            return status_fail(why, STATUS_LIMIT, "there are too many values to count");
        }
        *list = array_grow(*list, *count, &room, sizeof(**list));
        (*list)[(*count)++] = one;
    }
    return STATUS_OK;
}

/* A partition whose version is the one that is kept sent nothing; when others' are not, it is asked
 * once more. *all: all are. */
static enum status
ask_values(struct gathering *gathering, bool *all, struct reason *why)
{
    const size_t count = partitions_of(gathering);
    bool same;
    *all = gathering->kept != NULL;
    for (size_t i = 0; i < count; i++) {
        TRY(start(gathering, i, TRIPLES_VALUES, why));
    }
    for (size_t i = 0; i < count; i++) {
        TRY(read_head(gathering, i, &gathering->same[i], why));
        *all = *all && gathering->same[i];
    }
    for (size_t i = 0; i < count && !*all; i++) {
        if (gathering->same[i]) {
            TRY(start(gathering, i, TRIPLES_VALUES, why));
        }
    }
    for (size_t i = 0; i < count && !*all; i++) {
        if (gathering->same[i]) {
            TRY(read_head(gathering, i, &same, why));
        }
        TRY(read_list(gathering, i, why));
    }
    return STATUS_OK;
}

/* ---- merging ---- */

/* The least of the values that are next. */
static const struct term_digest *
least_of(const struct gathering *gathering, const size_t *at)
{
    const struct term_digest *least = NULL;
    for (size_t i = 0; i < partitions_of(gathering); i++) {
        const struct term_digest *next =
            at[i] < gathering->counts[i] ? &gathering->lists[i][at[i]].value : NULL;
        if (next && (!least || term_digest_compare(next, least) < 0)) {
            least = next;
        }
    }
    return least;
}

static enum status
merge_value(struct gathering *gathering, const struct term_digest *least, size_t *at,
            struct reason *why)
{
    struct value_count one = {.value = *least};
    unsigned partitions = 0;
    for (size_t i = 0; i < partitions_of(gathering); i++) {
        const struct value_count *list = gathering->lists[i];
        if (at[i] < gathering->counts[i] &&
            term_digest_compare(&list[at[i]].value, &one.value) == 0) {
            if (__builtin_add_overflow(one.triples, list[at[i]++].triples, &one.triples)) {
                return row_stream_malformed(why);
            }
            partitions++;
        }
    }
    if (partitions > 1) {
        gathering->shared[gathering->shared_count++] = (uint32_t)gathering->merged_count;
    }
    gathering->merged[gathering->merged_count++] = one;
    return STATUS_OK;
}

static enum status
merge(struct gathering *gathering, struct reason *why)
{
    const struct sort_check *asked = &gathering->counting.check;
    const size_t partitions = partitions_of(gathering);
    size_t most = 1;
    for (size_t i = 0; i < partitions; i++) {
        most += gathering->counts[i];
    }
    if (most > UINT32_MAX) {
        return status_fail(why, STATUS_LIMIT, "there are too many values to count");
    }
    gathering->merged = memory_alloc(most * sizeof(*gathering->merged));
    gathering->shared = memory_alloc(most * sizeof(*gathering->shared));
    size_t *at = memory_zero(partitions, sizeof(*at));
    enum status status = asked->check(asked->context, why);
    for (const struct term_digest *least;
         status == STATUS_OK && (least = least_of(gathering, at)) != NULL;) {
        status = merge_value(gathering, least, at, why);
        if (status == STATUS_OK && gathering->merged_count % CHECKED == 0) {
            status = asked->check(asked->context, why);
        }
    }
    free(at);
    return status;
}

/* ---- triples that several partitions may have ---- */

static enum status
read_records(struct gathering *gathering, size_t partition, struct reason *why)
{
    struct row_stream *stream = &gathering->counting.streams[partition];
    struct codec_reader in;
    struct term_digest rest;
    uint64_t number;
    TRY(counting_head(stream, 1, &in, why));
    for (bool some = true; some;) {
        TRY(next_entry(stream, &rest, &number, true, &some, why));
        if (!some) {
            break;
        }
        if (number >= gathering->shared_count) {
            return row_stream_malformed(why);
        }
        if (gathering->record_count == RECORDS_MAXIMUM) {
            gathering->counting.too_many = true;
            return status_fail(why, STATUS_LIMIT, "too many triples are in several partitions");
        }
        gathering->records = array_grow(gathering->records, gathering->record_count,
                                        &gathering->record_room, sizeof(*gathering->records));
        gathering->records[gathering->record_count++] = (struct record){(uint32_t)number, rest};
    }
    return STATUS_OK;
}

static bool
same_record(const struct record *a, const struct record *b)
{
    return a->number == b->number && term_digest_compare(&a->rest, &b->rest) == 0;
}

/* Whether none of the records before it with its key, back to `first`, is the same. */
static bool
is_new(const struct record *records, const struct sort_item *first, const struct sort_item *item)
{
    for (const struct sort_item *other = item; other-- > first;) {
        if (same_record(&records[other->index], &records[item->index])) {
            return false;
        }
    }
    return true;
}

static enum status
sort_records(const struct gathering *gathering, struct sort_item *items, struct sort_item **sorted,
             struct reason *why)
{
    const size_t count = gathering->record_count;
    for (size_t i = 0; i < count; i++) {
        const struct record *record = &gathering->records[i];
        items[i] = (struct sort_item){record->rest.high + record->rest.low +
                                          record->number * UINT64_C(0x9E3779B97F4A7C15),
                                      (uint32_t)i};
    }
    return oid_sort_checked(items, items + count, count, &gathering->counting.check, sorted, why);
}

/* Values that several partitions have get the number of their different triples. */
static enum status
count_records(struct gathering *gathering, struct reason *why)
{
    const size_t count = gathering->record_count;
    struct sort_item *sorted, *items = memory_alloc((2 * count + 1) * sizeof(*items));
    enum status status = sort_records(gathering, items, &sorted, why);
    for (size_t i = 0; i < gathering->shared_count; i++) {
        gathering->merged[gathering->shared[i]].triples = 0;
    }
    for (size_t i = 0, first = 0; i < count && status == STATUS_OK; i++) {
        first = sorted[i].key == sorted[first].key ? first : i;
        if (is_new(gathering->records, sorted + first, sorted + i)) {
            gathering->merged[gathering->shared[gathering->records[sorted[i].index].number]]
                .triples++;
        }
    }
    free(items);
    TRY(status);
    for (size_t i = 0; i < gathering->shared_count; i++) {
        if (gathering->merged[gathering->shared[i]].triples == 0) {
            return row_stream_malformed(why);
        }
    }
    return STATUS_OK;
}

/* Whether a triple of the pattern is nothing but its value. */
static bool
is_value(const struct count_request *request)
{
    const struct quad_oids *pattern = &request->pattern;
    return (pattern->subject != OID_NONE) + (pattern->predicate != OID_NONE) +
               (pattern->object != OID_NONE) ==
           2;
}

static enum status
settle(struct gathering *gathering, struct reason *why)
{
    if (gathering->different || gathering->shared_count == 0) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < gathering->shared_count && is_value(gathering->counting.request); i++) {
        gathering->merged[gathering->shared[i]].triples = 1;
    }
    if (is_value(gathering->counting.request)) {
        return STATUS_OK;
    }
    if (gathering->shared_count > SHARED_MAXIMUM) {
        gathering->counting.too_many = true;
        return status_fail(why, STATUS_LIMIT, "too many values are in several partitions");
    }
    for (size_t i = 0; i < partitions_of(gathering); i++) {
        TRY(start(gathering, i, TRIPLES_OF_VALUES, why));
    }
    for (size_t i = 0; i < partitions_of(gathering); i++) {
        TRY(read_records(gathering, i, why));
    }
    return count_records(gathering, why);
}

/* ---- the whole ---- */

static enum status
gather(struct gathering *gathering, struct reason *why)
{
    bool all;
    TRY(counting_check_missing(&gathering->counting, why));
    TRY(ask_values(gathering, &all, why));
    TRY(counting_check_missing(&gathering->counting, why));
    if (all) {
        return STATUS_OK;
    }
    gathering->kept = NULL;
    TRY(merge(gathering, why));
    TRY(settle(gathering, why));
    return counting_check_missing(&gathering->counting, why);
}

static void
release(struct gathering *gathering)
{
    for (size_t i = 0; i < partitions_of(gathering); i++) {
        free(gathering->lists[i]);
    }
    free(gathering->lists);
    free(gathering->counts);
    free(gathering->versions);
    free(gathering->same);
    free(gathering->merged);
    free(gathering->shared);
    free(gathering->records);
    counting_release(&gathering->counting);
}

static enum status
give(const struct value_count *list, size_t n, const struct count_request *request,
     struct value_count **counts, size_t *count, struct reason *why)
{
    if (n > request->memory / (2 * sizeof(*list))) {
        return status_fail(why, STATUS_LIMIT, "there are too many values to count");
    }
    *counts = memory_alloc(n * sizeof(**counts));
    memcpy(*counts, list, n * sizeof(**counts));
    *count = n;
    return STATUS_OK;
}

enum status
federation_count_values(void *context, const struct count_request *request, bool different,
                        struct value_count **counts, size_t *count, struct reason *why)
{
    struct federation *federation = context;
    const size_t partitions = federation->client->count;
    struct gathering gathering = {.different = different};
    *counts = NULL;
    *count = 0;
    counting_init(&gathering.counting, federation, request);
    gathering.versions = memory_zero(2 * partitions, sizeof(*gathering.versions));
    gathering.same = memory_zero(partitions, sizeof(*gathering.same));
    gathering.lists = memory_zero(partitions, sizeof(*gathering.lists));
    gathering.counts = memory_zero(partitions, sizeof(*gathering.counts));
    struct buf *question = &gathering.counting.question;
    counting_put_pattern(&gathering.counting, question);
    codec_put_u8(question, (uint8_t)request->by);
    codec_put_u8(question, different);
    gathering.kept = value_cache_find(federation->client, buf_slice(question));
    enum status status = gathering.counting.missing > 0
                             ? status_fail(why, STATUS_UNSUPPORTED, "a partition is missing")
                             : gather(&gathering, why);
    const struct kept_values *kept = gathering.kept;
    if (status == STATUS_OK && kept != NULL) {
        status = kept->too_many
                     ? status_fail(why, STATUS_LIMIT, "too many triples are in several partitions")
                     : give(kept->list, kept->count, request, counts, count, why);
    } else if (status == STATUS_OK || gathering.counting.too_many) {
        const bool too_many = status != STATUS_OK;
        const struct value_count *list = gathering.merged;
        const size_t n = too_many ? 0 : gathering.merged_count;
        value_cache_keep(federation->client, buf_slice(question), gathering.versions, list, n,
                         too_many);
        status = too_many ? status : give(list, n, request, counts, count, why);
    }
    release(&gathering);
    return status;
}
