/* Rows of all partitions, merged by the number of their pattern.
 *
 * Each partition gets its patterns in one request and answers in their order. Patterns go out in
 * rounds, so that no request becomes too long. A partition whose next row is not there yet can
 * only have rows of its last row's pattern or of later ones: rows of earlier patterns do not wait
 * for it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/federation_private.h"

enum { PLACES = 4, ROUND_BYTES = 2 << 20, TEXT_MAXIMUM = 1 << 30 };

/* One partition's answer. */
struct share {
    struct index_stream_reader stream;
    bool open;
    struct buf text; /* not yet read from `at` on */
    size_t at;
    oid *names; /* the terms that came, by their number in the stream */
    size_t name_count, name_capacity;
    uint32_t *numbers; /* of the patterns that were sent */
    size_t number_count, number_capacity;
    size_t pattern; /* of the last row: index of numbers */
    struct quad_oids row;
    bool has_row;
};

struct quad_scan {
    struct federation *federation;
    const struct quad_oids *patterns;
    size_t count, asked; /* patterns, and how many of them went out */
    bool graphs;
    struct quad_oids only; /* pattern of a scan of one */
    struct share *shares;  /* of each partition */
};

static void
places_of(const struct quad_oids *quad, oid places[PLACES])
{
    places[0] = quad->subject;
    places[1] = quad->predicate;
    places[2] = quad->object;
    places[3] = quad->graph;
}

/* ---- asking ---- */

static void
put_place(const struct federation *federation, size_t partition, oid id, oid before,
          struct buf *request)
{
    const oid its_id = federation_member_id(federation, partition, id);
    if (id != OID_NONE && id == before) {
        codec_put_u8(request, INDEX_PLACE_AS_BEFORE);
    } else if (its_id != OID_NONE) {
        codec_put_u8(request, INDEX_PLACE_OID);
        codec_put_u64(request, its_id);
    } else {
        char text[OID_INLINE_TEXT];
        const struct term term = federation_term(federation, id, text);
        index_put_term(request, &term);
    }
}

static void
put_pattern(const struct quad_scan *scan, size_t partition, size_t number, struct buf *request)
{
    struct share *share = &scan->shares[partition];
    oid places[PLACES], before[PLACES] = {OID_NONE};
    places_of(&scan->patterns[number], places);
    if (share->number_count > 0) {
        places_of(&scan->patterns[share->numbers[share->number_count - 1]], before);
    }
    for (int i = 0; i < PLACES; i++) {
        put_place(scan->federation, partition, places[i], before[i], request);
    }
    if (share->number_count == share->number_capacity) {
        share->number_capacity = share->number_capacity ? 2 * share->number_capacity : 16;
        share->numbers =
            memory_resize(share->numbers, share->number_capacity, sizeof(*share->numbers));
    }
    share->numbers[share->number_count++] = (uint32_t)number;
}

/* Fills each partition's list of patterns from the first that was not asked for. */
static void
put_patterns(struct quad_scan *scan, struct buf *lists)
{
    const struct federation *federation = scan->federation;
    const struct index_client *client = federation->client;
    bool room = true;
    while (scan->asked < scan->count && room) {
        const size_t owner = federation_owner(federation, scan->patterns[scan->asked].graph);
        for (size_t i = 0; i < client->count; i++) {
            if (!client->partitions[i].missing && (owner == client->count || owner == i)) {
                put_pattern(scan, i, scan->asked, &lists[i]);
                room = room && lists[i].length < ROUND_BYTES;
            }
        }
        scan->asked++;
    }
}

static enum status
start_share(struct quad_scan *scan, size_t partition, const struct buf *list, struct reason *why)
{
    struct federation *federation = scan->federation;
    struct member *member = &federation->members[partition];
    struct share *share = &scan->shares[partition];
    struct buf request;
    buf_init(&request, FEDERATION_REQUEST_MAXIMUM);
    codec_put_u8(&request, INDEX_STREAM_ROWS);
    codec_put_u64(&request, federation->session);
    codec_put_u8(&request, (uint8_t)((member->begun ? 0 : INDEX_ROWS_BEGIN) |
                                     (scan->graphs ? 0 : INDEX_ROWS_NO_GRAPHS)));
    codec_put_varint(&request, share->number_count);
    (void)buf_append_slice(&request, buf_slice(list));
    enum status status = STATUS_OK;
    if (list->overflowed || request.overflowed) {
        status = status_fail(why, STATUS_LIMIT, "a request to the index is too long");
    } else {
        member->begun = true;
        share->open = true;
        share->pattern = 0;
        share->name_count = 0;
        stream_start(&share->stream, federation->client, partition, buf_slice(&request));
    }
    buf_release(&request);
    return status;
}

static enum status
start_round(struct quad_scan *scan, struct reason *why)
{
    const size_t count = scan->federation->client->count;
    struct buf *lists = memory_zero(count, sizeof(*lists));
    for (size_t i = 0; i < count; i++) {
        buf_init(&lists[i], FEDERATION_REQUEST_MAXIMUM);
        scan->shares[i].number_count = 0;
    }
    put_patterns(scan, lists);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        if (scan->shares[i].number_count > 0 && status == STATUS_OK) {
            status = start_share(scan, i, &lists[i], why);
        }
        buf_release(&lists[i]);
    }
    free(lists);
    return status;
}

enum status
federation_scan_many(void *context, const struct quad_oids *patterns, size_t count, bool graphs,
                     struct quad_scan **result, struct reason *why)
{
    struct federation *federation = context;
    const size_t partitions = federation->client->count;
    struct quad_scan *scan = memory_zero(1, sizeof(*scan));
    scan->federation = federation;
    scan->patterns = patterns;
    scan->count = count;
    scan->graphs = graphs;
    scan->shares = memory_zero(partitions, sizeof(*scan->shares));
    for (size_t i = 0; i < partitions; i++) {
        buf_init(&scan->shares[i].text, TEXT_MAXIMUM);
    }
    const enum status status = start_round(scan, why);
    if (status != STATUS_OK) {
        federation_scan_close(scan);
        scan = NULL;
    }
    *result = scan;
    return status;
}

enum status
federation_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
                struct quad_scan **result, struct reason *why)
{
    *result = NULL;
    if (order != ORDER_COUNT) {
        return status_fail(why, STATUS_UNSUPPORTED, "rows of several partitions have no order");
    }
    TRY(federation_scan_many(context, pattern, 1, true, result, why));
    (*result)->only = *pattern;
    (*result)->patterns = &(*result)->only;
    return STATUS_OK;
}

/* ---- reading ---- */

static enum status
malformed(struct reason *why)
{
    return status_fail(why, STATUS_PROTOCOL, "the index sent malformed rows");
}

/* A term of a row. in->bad: its bytes are not all there. */
static enum status
read_name(struct quad_scan *scan, size_t partition, struct codec_reader *in, oid *id,
          struct reason *why)
{
    struct share *share = &scan->shares[partition];
    uint64_t code = codec_get_varint(in);
    if (code == INDEX_NAME_FORGET) {
        share->name_count = 0;
        code = codec_get_varint(in);
    }
    if (in->bad) {
        return STATUS_OK;
    }
    if (code >= INDEX_NAME_FIRST) {
        if (code - INDEX_NAME_FIRST >= share->name_count) {
            return malformed(why);
        }
        *id = share->names[code - INDEX_NAME_FIRST];
        return STATUS_OK;
    }
    const oid its_id = codec_get_u64(in);
    struct term term;
    char text[OID_INLINE_TEXT];
    if (in->bad) {
        return STATUS_OK;
    }
    *id = its_id;
    if (oid_is_stored(its_id)) {
        if (!index_get_term(in, &term) || term.kind == TERM_NONE) {
            return in->bad ? STATUS_OK : malformed(why);
        }
        TRY(federation_id(scan->federation, &term, id, why));
        TRY(federation_learn(scan->federation, partition, *id, its_id, why));
    } else if (!oid_inline_term(its_id, text, &term)) {
        return malformed(why);
    }
    if (share->name_count == share->name_capacity) {
        share->name_capacity = share->name_capacity ? 2 * share->name_capacity : 64;
        share->names = memory_resize(share->names, share->name_capacity, sizeof(*share->names));
    }
    share->names[share->name_count++] = *id;
    return STATUS_OK;
}

/* Reads the next row if all its bytes are there. */
static enum status
read_row(struct quad_scan *scan, size_t partition, struct reason *why)
{
    struct share *share = &scan->shares[partition];
    if (share->at == share->text.length) {
        return STATUS_OK;
    }
    struct codec_reader in =
        codec_reader_of(slice_of(share->text.data + share->at, share->text.length - share->at));
    const size_t names = share->name_count;
    const uint64_t step = codec_get_varint(&in);
    if (step >= share->number_count - share->pattern) {
        return in.bad ? STATUS_OK : malformed(why);
    }
    oid row[PLACES];
    places_of(&scan->patterns[share->numbers[share->pattern + step]], row);
    for (int i = 0; i < (scan->graphs ? PLACES : PLACES - 1) && !in.bad; i++) {
        if (row[i] == OID_NONE) {
            TRY(read_name(scan, partition, &in, &row[i], why));
        }
    }
    if (in.bad) {
        share->name_count = names; /* the row is read again when there is more of it */
        return STATUS_OK;
    }
    share->at = share->text.length - (size_t)(in.end - in.at);
    share->pattern += step;
    share->row = (struct quad_oids){row[0], row[1], row[2], row[3]};
    share->has_row = true;
    return STATUS_OK;
}

static void
end_share(struct share *share)
{
    if (share->open) {
        stream_close(&share->stream);
        share->open = false;
    }
}

/* Takes a piece if one has come; the share may end by it. */
static enum status
take_piece(struct quad_scan *scan, size_t partition, bool *waits, struct reason *why)
{
    struct share *share = &scan->shares[partition];
    struct index_client *client = scan->federation->client;
    struct reason what = {""};
    struct slice bytes;
    enum status status = stream_take(&share->stream, &bytes, &what);
    *waits = status == STATUS_AGAIN && stream_waits(&share->stream);
    if (*waits) {
        return STATUS_OK;
    }
    const size_t left = share->text.length - share->at;
    if (status == STATUS_OK) {
        if (left > 0) {
            memmove(share->text.data, share->text.data + share->at, left);
        }
        share->text.length = left;
        share->at = 0;
        return buf_append_slice(&share->text, bytes) == STATUS_OK
                   ? STATUS_OK
                   : status_fail(why, STATUS_LIMIT, "a row is too long");
    }
    end_share(share);
    if (status == STATUS_END) {
        status = left > 0 ? malformed(&what) : STATUS_OK;
    }
    share->at = share->text.length = 0;
    return status == STATUS_OK ? STATUS_OK : client_miss(client, partition, status, &what, why);
}

/* Makes the partition's next row ready if it is there. */
static enum status
look(struct quad_scan *scan, size_t partition, struct reason *why)
{
    struct share *share = &scan->shares[partition];
    bool waits = false;
    while (share->open && !share->has_row && !waits) {
        TRY(read_row(scan, partition, why));
        if (!share->has_row) {
            TRY(take_piece(scan, partition, &waits, why));
        }
    }
    return STATUS_OK;
}

/* The partition with the row that is next. *most: the last pattern of which all its rows may be
 * given before others are looked at. NULL: none is ready; *open tells whether one may be. */
static enum status
choose(struct quad_scan *scan, size_t *chosen, uint32_t *most, bool *open, struct reason *why)
{
    const size_t count = scan->federation->client->count;
    *chosen = count;
    *open = false;
    uint32_t first = UINT32_MAX, second = UINT32_MAX, waited = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        struct share *share = &scan->shares[i];
        TRY(look(scan, i, why));
        if (!share->has_row && !share->open) {
            continue;
        }
        *open = true;
        const uint32_t number = share->numbers[share->pattern];
        if (!share->has_row) {
            waited = number < waited ? number : waited;
        } else if (*chosen == count || number < first) {
            second = first;
            first = number;
            *chosen = i;
        } else if (number < second) {
            second = number;
        }
    }
    *most = second < waited ? second : waited;
    if (*chosen < count && first > waited) {
        *chosen = count;
    }
    return STATUS_OK;
}

static enum status
give(struct quad_scan *scan, size_t partition, uint32_t last, struct quad_oids *rows,
     uint32_t *numbers, size_t most, size_t *n, struct reason *why)
{
    struct share *share = &scan->shares[partition];
    while (*n < most && share->has_row && share->numbers[share->pattern] <= last) {
        rows[*n] = share->row;
        if (numbers != NULL) {
            numbers[*n] = share->numbers[share->pattern];
        }
        ++*n;
        share->has_row = false;
        TRY(read_row(scan, partition, why));
    }
    return STATUS_OK;
}

enum status
federation_scan_many_next(struct quad_scan *scan, struct quad_oids *rows, uint32_t *numbers,
                          size_t most, size_t *n, struct reason *why)
{
    const size_t count = scan->federation->client->count;
    *n = 0;
    while (*n < most) {
        size_t chosen;
        uint32_t last;
        bool open;
        TRY(choose(scan, &chosen, &last, &open, why));
        if (chosen < count) {
            TRY(give(scan, chosen, last, rows, numbers, most, n, why));
        } else if (*n > 0) {
            return STATUS_OK;
        } else if (open) {
            TRY(client_wait(scan->federation->client, why));
        } else if (scan->asked < scan->count) {
            TRY(start_round(scan, why));
        } else {
            return STATUS_OK;
        }
    }
    return STATUS_OK;
}

enum status
federation_scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
                     struct reason *why)
{
    return federation_scan_many_next(scan, rows, NULL, most, n, why);
}

void
federation_scan_close(struct quad_scan *scan)
{
    if (scan == NULL) {
        return;
    }
    for (size_t i = 0; i < scan->federation->client->count; i++) {
        struct share *share = &scan->shares[i];
        end_share(share);
        buf_release(&share->text);
        free(share->names);
        free(share->numbers);
    }
    free(scan->shares);
    free(scan);
}
