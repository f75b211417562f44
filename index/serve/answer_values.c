#include "index/serve/answer_triples.h"

#include <stdlib.h>

#include "base/digest.h"
#include "base/memory.h"
#include "index/protocol/triples_request.h"
#include "index/sort/oid_sort.h"

enum { PLACES = 3, SCANNED = 1024, PIECE = 128 << 10, DIGEST_BYTES = 16, TABLE_LEAST = 64 };

struct values {
    const struct values_request *request;
    const struct quad_source *source;
    enum triple_place by;
    struct buf out;
    struct arena arena;
    struct value_count *list;   /* that is sent */
    struct term_digest *wanted; /* that was asked for, ascending */
    oid last;                   /* the value that was looked up last, and its number + 1 */
    uint32_t last_number;
    uint32_t *table;             /* their numbers + 1, by their digests; open addressing */
    size_t wanted_count, places; /* places: a power of two */
};

static enum status
check(const void *context, struct reason *why)
{
    const struct values *values = context;
    struct cursor *cursor = values->request->cursor;
    cursor_step(cursor);
    return atomic_load(cursor_cancelled(cursor)) ? status_fail(why, STATUS_CANCELLED, "cancelled")
                                                 : STATUS_OK;
}

static enum status
send_from(struct values *values, size_t least, struct reason *why)
{
    if (values->out.length < least) {
        return STATUS_OK;
    }
    const enum status status = cursor_write(values->request->cursor, buf_slice(&values->out), why);
    buf_reset(&values->out);
    return status;
}

static enum status
digest_of(struct values *values, oid id, struct term_digest *digest, struct reason *why)
{
    return partition_reader_digest(values->request->reader, id, &values->arena, digest, why);
}

static void
put_digest(struct buf *out, const struct term_digest *digest)
{
    codec_put_u64(out, digest->high);
    codec_put_u64(out, digest->low);
}

static enum status
malformed(struct reason *why)
{
    return status_fail(why, STATUS_PROTOCOL, "a request for triples is malformed");
}

static void
begin(struct values *values, const struct values_request *request)
{
    *values =
        (struct values){.request = request, .source = partition_reader_source(request->reader)};
    buf_init(&values->out, 2 * PIECE);
    arena_init(&values->arena, 0);
}

static void
end(struct values *values)
{
    free(values->list);
    free(values->wanted);
    free(values->table);
    arena_release(&values->arena);
    buf_release(&values->out);
}

/* ---- values ---- */

static int
compare_items(const void *a, const void *b)
{
    const uint64_t left = ((const struct sort_item *)a)->key;
    const uint64_t right = ((const struct sort_item *)b)->key;
    return (left > right) - (left < right);
}

/* The first halves of digests tell nearly all apart but inline identifiers. */
static void
sort_equals(const struct values *values, struct sort_item *sorted, size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].key == sorted[i].key; end++) {
        }
        for (size_t k = i; k < end && end - i > 1; k++) {
            sorted[k].key = values->list[sorted[k].index].value.low;
        }
        if (end - i > 1) {
            qsort(sorted + i, end - i, sizeof(*sorted), compare_items);
        }
    }
}

static enum status
sort_values(struct values *values, size_t count, struct sort_item *items, struct sort_item **sorted,
            struct reason *why)
{
    const struct sort_check sort_check = {check, values};
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct sort_item){values->list[i].value.high, (uint32_t)i};
    }
    TRY(oid_sort_checked(items, items + count, count, &sort_check, sorted, why));
    sort_equals(values, *sorted, count);
    return STATUS_OK;
}

static enum status
put_values(struct values *values, const struct sort_item *sorted, size_t count, struct reason *why)
{
    for (size_t i = 0; i < count; i++) {
        const struct value_count *one = &values->list[sorted[i].index];
        put_digest(&values->out, &one->value);
        codec_put_varint(&values->out, one->triples);
        TRY(send_from(values, PIECE, why));
    }
    return STATUS_OK;
}

static enum status
send_values(struct values *values, const struct triple_count *counts, size_t count,
            struct reason *why)
{
    struct sort_item *items, *sorted;
    values->list = memory_alloc(count * sizeof(*values->list));
    for (size_t i = 0; i < count; i++) {
        if (i % SCANNED == 0) {
            TRY(check(values, why));
        }
        TRY(digest_of(values, counts[i].value, &values->list[i].value, why));
        values->list[i].triples = counts[i].triples;
    }
    items = memory_alloc(2 * count * sizeof(*items));
    enum status status = sort_values(values, count, items, &sorted, why);
    status = status == STATUS_OK ? put_values(values, sorted, count, why) : status;
    free(items);
    return status;
}

/* What the client knows of this version needs no telling. */
static enum status
tell_values(struct values *values, const uint64_t known[2], struct reason *why)
{
    const struct values_request *request = values->request;
    const struct count_request wanted = {.pattern = request->pattern,
                                         .by = values->by,
                                         .memory = cursor_memory(request->cursor),
                                         .check = check,
                                         .check_context = values};
    struct triple_count *counts = NULL;
    size_t count = 0;
    uint64_t version[2];
    enum status status = STATUS_OK;
    partition_reader_version(request->reader, version);
    const bool same = known[0] == version[0] && known[1] == version[1];
    if (request->possible && !same) {
        status =
            values->source->count_triples(values->source->context, &wanted, &counts, &count, why);
    }
    const bool unknown = status == STATUS_LIMIT || status == STATUS_UNSUPPORTED;
    codec_put_u8(&values->out, unknown ? TRIPLES_UNKNOWN : TRIPLES_KNOWN);
    codec_put_u64(&values->out, version[0]);
    codec_put_u64(&values->out, version[1]);
    status = status == STATUS_OK ? send_values(values, counts, count, why) : status;
    quad_source_release_counts(values->source, counts);
    return unknown ? STATUS_OK : status;
}

enum status
answer_values(const struct values_request *request, struct codec_reader in, struct reason *why)
{
    struct values values;
    begin(&values, request);
    values.by = (enum triple_place)codec_get_u8(&in);
    uint64_t known[2];
    known[0] = codec_get_u64(&in);
    known[1] = codec_get_u64(&in);
    enum status status = !codec_at_end(&in) || values.by >= TRIPLE_ALL
                             ? malformed(why)
                             : tell_values(&values, known, why);
    status = status == STATUS_OK ? send_from(&values, 1, why) : status;
    end(&values);
    return status;
}

/* ---- triples of values ---- */

static uint32_t *
place_of(const struct values *values, const struct term_digest *digest)
{
    size_t at = digest->low & (values->places - 1);
    while (values->table[at] > 0 &&
           term_digest_compare(&values->wanted[values->table[at] - 1], digest) != 0) {
        at = (at + 1) & (values->places - 1);
    }
    return &values->table[at];
}

static enum status
read_wanted(struct values *values, struct codec_reader *in, struct reason *why)
{
    values->by = (enum triple_place)codec_get_u8(in);
    const uint64_t count = codec_get_varint(in);
    if (in->bad || values->by >= TRIPLE_ALL || count >= UINT32_MAX ||
        count * DIGEST_BYTES != (uint64_t)(in->end - in->at)) {
        return malformed(why);
    }
    values->wanted_count = count;
    values->wanted = memory_alloc(count * sizeof(*values->wanted));
    for (values->places = TABLE_LEAST; values->places < 2 * count; values->places *= 2) {
    }
    values->table = memory_zero(values->places, sizeof(*values->table));
    for (uint32_t i = 0; i < count; i++) {
        values->wanted[i].high = codec_get_u64(in);
        values->wanted[i].low = codec_get_u64(in);
        *place_of(values, &values->wanted[i]) = i + 1;
    }
    return STATUS_OK;
}

/* What tells triples with the same value apart: the digest of the place that is neither bound nor
 * the value's, or of both such places. */
static enum status
rest_of(struct values *values, const struct quad_oids *quad, struct term_digest *rest,
        struct reason *why)
{
    const oid ids[PLACES] = {quad->subject, quad->predicate, quad->object};
    const struct quad_oids *pattern = &values->request->pattern;
    const oid bound[PLACES] = {pattern->subject, pattern->predicate, pattern->object};
    uint8_t both[2 * DIGEST_BYTES], digest[FINGERPRINT_SIZE];
    size_t length = 0;
    *rest = (struct term_digest){0};
    for (int i = 0; i < PLACES; i++) {
        if (bound[i] == OID_NONE && i != (int)values->by) {
            TRY(digest_of(values, ids[i], rest, why));
            codec_write_u64(both + length, rest->high);
            codec_write_u64(both + length + sizeof(uint64_t), rest->low);
            length += DIGEST_BYTES;
        }
    }
    if (length > DIGEST_BYTES) {
        fingerprint_of(slice_of((const char *)both, length), digest);
        *rest =
            (struct term_digest){codec_read_u64(digest), codec_read_u64(digest + sizeof(uint64_t))};
    }
    return STATUS_OK;
}

static enum status
take_quad(struct values *values, const struct quad_oids *quad, struct reason *why)
{
    const oid ids[PLACES] = {quad->subject, quad->predicate, quad->object};
    struct term_digest digest, rest;
    if (ids[values->by] != values->last) {
        TRY(digest_of(values, ids[values->by], &digest, why));
        values->last_number = *place_of(values, &digest);
        values->last = ids[values->by];
    }
    const uint32_t number = values->last_number;
    if (number == 0) {
        return STATUS_OK;
    }
    TRY(rest_of(values, quad, &rest, why));
    codec_put_varint(&values->out, number - 1);
    put_digest(&values->out, &rest);
    return send_from(values, PIECE, why);
}

static enum status
send_triples(struct values *values, struct reason *why)
{
    const struct quad_source *source = values->source;
    struct quad_oids rows[SCANNED], last = {0};
    struct quad_scan *scan;
    TRY(source->scan(source->context, &values->request->pattern, ORDER_COUNT, &scan, why));
    enum status status = STATUS_OK;
    for (size_t n = 1; n > 0 && status == STATUS_OK;) {
        status = check(values, why);
        status = status == STATUS_OK ? source->scan_next(scan, rows, SCANNED, &n, why) : status;
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            const bool again = rows[i].subject == last.subject &&
                               rows[i].predicate == last.predicate && rows[i].object == last.object;
            last = rows[i];
            status = again ? STATUS_OK : take_quad(values, &rows[i], why);
        }
    }
    source->scan_close(scan);
    return status;
}

enum status
answer_triples_of_values(const struct values_request *request, struct codec_reader in,
                         struct reason *why)
{
    struct values values;
    begin(&values, request);
    enum status status = read_wanted(&values, &in, why);
    codec_put_u8(&values.out, TRIPLES_KNOWN);
    if (status == STATUS_OK && request->possible && values.wanted_count > 0) {
        status = send_triples(&values, why);
    }
    status = status == STATUS_OK ? send_from(&values, 1, why) : status;
    end(&values);
    return status;
}
