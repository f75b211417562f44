/* Different triples counted over all partitions: the sum of what each counts, less the triples that
 * several have. PROTOCOL.md, "Counts of triples", says how those are found. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/client/federation_private.h"
#include "index/protocol/triples_request.h"

enum { REPEATED_MAXIMUM = 1 << 18, KEPT = 32, KEPT_BYTES = 8 << 20 };
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

struct totals {
    struct triple_count *list;
    size_t count, room;
};

/* By how much the sum of the partitions' counts is too high. The federation's identifiers mean
 * nothing to the next one, so terms are kept. */
struct repeated_counts {
    char *question;
    size_t length;
    uint64_t used;
    bool too_many; /* what is repeated has no room, so it is scanned each time */
    struct term_set terms;
    struct triple_count *list; /* values: index + 1 of a term, or inline, or OID_LOCAL */
    size_t count, bytes;
};

struct repeated_cache {
    struct repeated_counts kept[KEPT];
    uint64_t uses;
    size_t bytes;
};

struct counting {
    struct federation *federation;
    const struct count_request *request;
    struct row_stream *streams;
    struct buf question; /* the pattern, the place, and each partition's version */
    struct totals totals, repeated;
    struct candidate *candidates;
    size_t candidate_count, candidate_room;
    bool too_many;  /* candidates */
    size_t missing; /* partitions, when it began */
};

/* ---- streams ---- */

static void
close_streams(struct counting *counting)
{
    for (size_t i = 0; i < counting->federation->client->count; i++) {
        row_stream_release(&counting->streams[i]);
        row_stream_init(&counting->streams[i], counting->federation, i);
    }
}

static void
put_pattern(const struct counting *counting, struct buf *out)
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
    put_pattern(counting, &request);
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

static enum status
start_all(struct counting *counting, uint8_t form, struct reason *why)
{
    const struct index_client *client = counting->federation->client;
    close_streams(counting);
    for (size_t i = 0; i < client->count; i++) {
        if (!client->partitions[i].missing) {
            TRY(start(counting, i, form, why));
        }
    }
    return STATUS_OK;
}

/* Waits for more bytes, or the end. */
static enum status
read_more(struct row_stream *stream, struct reason *why)
{
    bool waits = true;
    while (stream->open) {
        TRY(row_stream_take(stream, &waits, why));
        if (!waits) {
            return STATUS_OK;
        }
        TRY(client_wait(stream->federation->client, why));
    }
    return STATUS_OK;
}

/* UNSUPPORTED when the partition cannot tell. */
static enum status
read_head(struct row_stream *stream, size_t bytes, struct codec_reader *in, struct reason *why)
{
    while (stream->open && stream->text.length - stream->at < bytes) {
        TRY(read_more(stream, why));
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

/* ---- sums ---- */

static void
add(struct totals *totals, oid value, uint64_t triples)
{
    if (totals->count == totals->room) {
        totals->room = totals->room ? 2 * totals->room : 64;
        totals->list = memory_resize(totals->list, totals->room, sizeof(*totals->list));
    }
    totals->list[totals->count++] = (struct triple_count){value, triples};
}

static int
compare_values(const void *a, const void *b)
{
    const oid left = ((const struct triple_count *)a)->value;
    const oid right = ((const struct triple_count *)b)->value;
    return (left > right) - (left < right);
}

static enum status
sum_up(struct totals *totals, struct reason *why)
{
    size_t kept = 0;
    if (totals->count > 0) {
        qsort(totals->list, totals->count, sizeof(*totals->list), compare_values);
    }
    for (size_t i = 0; i < totals->count; i++) {
        const struct triple_count one = totals->list[i];
        if (kept == 0 || totals->list[kept - 1].value != one.value) {
            totals->list[kept++] = one;
        } else if (__builtin_add_overflow(totals->list[kept - 1].triples, one.triples,
                                          &totals->list[kept - 1].triples)) {
            return row_stream_malformed(why);
        }
    }
    totals->count = kept;
    return STATUS_OK;
}

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
            add(&counting->totals, value, triples);
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
        TRY(read_more(stream, why));
    }
}

static enum status
ask_counts(struct counting *counting, struct reason *why)
{
    struct federation *federation = counting->federation;
    put_pattern(counting, &counting->question);
    codec_put_u8(&counting->question, (uint8_t)counting->request->by);
    TRY(start_all(counting, (uint8_t)counting->request->by, why));
    for (size_t i = 0; i < federation->client->count; i++) {
        struct codec_reader in;
        TRY(read_head(&counting->streams[i], 1 + 2 * sizeof(uint64_t), &in, why));
        codec_put_u64(&counting->question, codec_get_u64(&in));
        codec_put_u64(&counting->question, codec_get_u64(&in));
        TRY(read_counts(counting, &counting->streams[i], why));
    }
    return sum_up(&counting->totals, why);
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
        TRY(read_more(stream, why));
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
    if (counting->candidate_count == counting->candidate_room) {
        counting->candidate_room = counting->candidate_room ? 2 * counting->candidate_room : 256;
        counting->candidates = memory_resize(counting->candidates, counting->candidate_room,
                                             sizeof(*counting->candidates));
    }
    counting->candidates[counting->candidate_count++] =
        (struct candidate){.partition = (uint32_t)partition, .number = number};
    return STATUS_OK;
}

/* Takes the entries of the lowest fingerprint; they are candidates when they are of several
 * partitions. */
static enum status
take_lowest(struct counting *counting, struct entry *entries, bool *ended, struct reason *why)
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
            TRY(partitions > 1 ? add_candidate(counting, i, entries[i].number, why) : STATUS_OK);
            TRY(next_entry(&counting->streams[i], &entries[i], why));
        }
    }
    return STATUS_OK;
}

static enum status
merge_fingerprints(struct counting *counting, struct entry *entries, struct reason *why)
{
    const struct count_request *request = counting->request;
    TRY(start_all(counting, TRIPLES_FINGERPRINTS, why));
    for (size_t i = 0; i < counting->federation->client->count; i++) {
        struct codec_reader in;
        TRY(read_head(&counting->streams[i], 1, &in, why));
        TRY(next_entry(&counting->streams[i], &entries[i], why));
    }
    bool ended = false;
    for (uint64_t taken = 0; !ended; taken++) {
        TRY(taken % CHECKED == 0 ? request->check(request->check_context, why) : STATUS_OK);
        TRY(take_lowest(counting, entries, &ended, why));
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
        TRY(read_more(stream, why));
    }
}

static enum status
read_candidates(struct counting *counting, struct reason *why)
{
    if (counting->candidate_count == 0) {
        return STATUS_OK;
    }
    qsort(counting->candidates, counting->candidate_count, sizeof(*counting->candidates),
          compare_rows);
    TRY(start_all(counting, TRIPLES_ROWS, why));
    for (size_t i = 0; i < counting->candidate_count; i++) {
        struct candidate *candidate = &counting->candidates[i];
        const enum status status =
            read_triple(&counting->streams[candidate->partition], candidate, why);
        if (status == STATUS_END) {
            return status_fail(why, STATUS_UNSUPPORTED, "a partition went away");
        }
        TRY(status);
    }
    qsort(counting->candidates, counting->candidate_count, sizeof(*counting->candidates),
          compare_triples);
    return STATUS_OK;
}

static bool
same_triple(const struct candidate *a, const struct candidate *b)
{
    return a->subject == b->subject && a->predicate == b->predicate && a->object == b->object;
}

/* A triple counts once too often for each partition that has it but one. */
static enum status
find_repeated(struct counting *counting, struct reason *why)
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
            add(&counting->repeated,
                by == TRIPLE_ALL         ? OID_LOCAL
                : by == TRIPLE_PREDICATE ? one->predicate
                                         : one->object,
                1);
        }
    }
    return sum_up(&counting->repeated, why);
}

/* ---- what is kept ---- */

static void
forget(struct repeated_cache *cache, struct repeated_counts *kept)
{
    cache->bytes -= kept->bytes;
    if (kept->question != NULL) {
        term_set_release(&kept->terms);
    }
    free(kept->question);
    free(kept->list);
    *kept = (struct repeated_counts){.used = 0};
}

void
repeated_cache_free(struct repeated_cache *cache)
{
    for (size_t i = 0; cache != NULL && i < KEPT; i++) {
        forget(cache, &cache->kept[i]);
    }
    free(cache);
}

static struct repeated_counts *
find_kept(const struct counting *counting)
{
    struct repeated_cache *cache = counting->federation->client->repeated;
    for (size_t i = 0; cache != NULL && i < KEPT; i++) {
        struct repeated_counts *kept = &cache->kept[i];
        if (kept->used > 0 && kept->length == counting->question.length &&
            memcmp(kept->question, counting->question.data, kept->length) == 0) {
            return kept;
        }
    }
    return NULL;
}

/* The entry that was used least lately, or one that is free. */
static struct repeated_counts *
oldest(struct repeated_cache *cache)
{
    struct repeated_counts *found = &cache->kept[0];
    for (size_t i = 1; i < KEPT; i++) {
        found = cache->kept[i].used < found->used ? &cache->kept[i] : found;
    }
    return found;
}

/* Takes over what is repeated. False: it is too long to be kept. */
static bool
fill(struct repeated_counts *kept, const struct counting *counting)
{
    const struct totals *repeated = &counting->repeated;
    const size_t room = KEPT_BYTES / 2, list = (repeated->count + 1) * sizeof(*kept->list);
    kept->bytes = kept->length + list;
    if (kept->bytes > room) {
        return false;
    }
    kept->list = memory_alloc(list);
    for (; kept->count < repeated->count; kept->count++) {
        struct triple_count one = repeated->list[kept->count];
        char text[OID_INLINE_TEXT];
        if (federation_is_numbered(counting->federation, one.value)) {
            const struct term term = federation_term(counting->federation, one.value, text);
            one.value = (oid)term_set_add(&kept->terms, &term) + 1;
        }
        if (kept->bytes + term_set_bytes(&kept->terms) > room) {
            return false;
        }
        kept->list[kept->count] = one;
    }
    kept->bytes += term_set_bytes(&kept->terms);
    return true;
}

static void
keep(struct counting *counting)
{
    struct index_client *client = counting->federation->client;
    if (client->repeated == NULL) {
        client->repeated = memory_zero(1, sizeof(*client->repeated));
    }
    struct repeated_cache *cache = client->repeated;
    struct repeated_counts one = {.too_many = counting->too_many,
                                  .length = counting->question.length};
    one.question = memory_string_n(counting->question.data, one.length);
    term_set_init(&one.terms);
    const bool fits = fill(&one, counting);
    cache->bytes += one.bytes;
    if (!fits) {
        forget(cache, &one);
        return;
    }
    struct repeated_counts *kept = find_kept(counting);
    kept = kept == NULL ? oldest(cache) : kept;
    forget(cache, kept);
    one.used = ++cache->uses;
    *kept = one;
    for (size_t i = 0; i < KEPT && cache->bytes > KEPT_BYTES; i++) {
        struct repeated_counts *least = NULL;
        for (size_t k = 0; k < KEPT; k++) {
            struct repeated_counts *other = &cache->kept[k];
            least = other->used > 0 && (least == NULL || other->used < least->used) ? other : least;
        }
        forget(cache, least);
    }
}

/* Gives what was kept. */
static enum status
recall(struct counting *counting, struct repeated_counts *kept, struct reason *why)
{
    kept->used = ++counting->federation->client->repeated->uses;
    for (size_t i = 0; i < kept->count; i++) {
        oid value = kept->list[i].value;
        if (value <= kept->terms.count) {
            TRY(federation_id(counting->federation, &kept->terms.terms[value - 1].term, &value,
                              why));
        }
        add(&counting->repeated, value, kept->list[i].triples);
    }
    return sum_up(&counting->repeated, why);
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
static enum status
check_missing(const struct counting *counting, struct reason *why)
{
    return count_missing(counting) == counting->missing
               ? STATUS_OK
               : status_fail(why, STATUS_UNSUPPORTED, "a partition went away");
}

static enum status
settle(struct counting *counting, struct reason *why)
{
    struct repeated_counts *kept = find_kept(counting);
    if (kept != NULL) {
        return kept->too_many
                   ? status_fail(why, STATUS_LIMIT, "too many triples are in several partitions")
                   : recall(counting, kept, why);
    }
    const enum status status = find_repeated(counting, why);
    if (status == STATUS_OK) {
        TRY(check_missing(counting, why));
    }
    if (status == STATUS_OK || counting->too_many) {
        keep(counting);
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
    counting->missing = count_missing(counting);
    TRY(ask_counts(counting, why));
    TRY(check_missing(counting, why));
    TRY(settle(counting, why));
    return take_off(&counting->totals, &counting->repeated, why);
}

enum status
federation_count_triples(void *context, const struct count_request *request,
                         struct triple_count **counts, size_t *n, struct reason *why)
{
    struct counting counting = {.federation = context, .request = request};
    const size_t partitions = counting.federation->client->count;
    *counts = NULL;
    *n = 0;
    if (request->by == TRIPLE_SUBJECT) {
        return status_fail(why, STATUS_UNSUPPORTED, "subjects are too many to be counted so");
    }
    counting.streams = memory_zero(partitions, sizeof(*counting.streams));
    for (size_t i = 0; i < partitions; i++) {
        row_stream_init(&counting.streams[i], counting.federation, i);
    }
    buf_init(&counting.question, FEDERATION_REQUEST_MAXIMUM);
    const enum status status = count(&counting, why);
    close_streams(&counting);
    buf_release(&counting.question);
    free(counting.streams);
    free(counting.candidates);
    free(counting.repeated.list);
    if (status != STATUS_OK) {
        free(counting.totals.list);
        return status;
    }
    *counts = counting.totals.list;
    *n = counting.totals.count;
    return STATUS_OK;
}
