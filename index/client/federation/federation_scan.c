/* Rows of all partitions, merged by the number of their pattern.
 *
 * Each partition gets its patterns in one request and answers in their order. Patterns go out in
 * rounds, so that no request becomes too long. A partition whose next row is not there yet can
 * only have rows of its last row's pattern or of later ones: rows of earlier patterns do not wait
 * for it. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/client/federation/federation_state.h"

enum { PLACES = 4, ROUND_BYTES = 2 << 20 };

/* One partition's answer. */
struct share {
    struct row_stream rows;
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
    oid shared; /* of the patterns with any node that several partitions have; OID_NONE */
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

/* Any node that several partitions have. */
static bool
is_shared(oid place)
{
    return place >= OID_SHARED && place < OID_SHARED + KEY_PLACES;
}

static void
put_place(const struct federation *federation, size_t partition, oid id, oid before,
          struct buf *request)
{
    if (is_shared(id)) {
        codec_put_u8(request, INDEX_PLACE_SHARED);
        return;
    }
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
    share->numbers = array_grow(share->numbers, share->number_count, &share->number_capacity,
                                sizeof(*share->numbers));
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

static void
put_keys(const struct quad_scan *scan, size_t partition, struct buf *request)
{
    struct buf keys;
    if (scan->shared != OID_NONE) {
        buf_init(&keys, FEDERATION_REQUEST_MAXIMUM);
        federation_put_shared(scan->federation, (enum key_places)(scan->shared - OID_SHARED),
                              partition, &keys);
        codec_put_u8(request, (uint8_t)(scan->shared - OID_SHARED));
        codec_put_slice(request, buf_slice(&keys));
        buf_release(&keys);
    }
}

static enum status
start_share(struct quad_scan *scan, size_t partition, const struct buf *list, struct reason *why)
{
    struct share *share = &scan->shares[partition];
    struct buf request;
    buf_init(&request, FEDERATION_REQUEST_MAXIMUM);
    codec_put_u8(&request, INDEX_STREAM_ROWS);
    codec_put_u64(&request, scan->federation->session);
    codec_put_u8(&request, (uint8_t)(row_stream_flags(&share->rows) |
                                     (scan->graphs ? 0 : INDEX_ROWS_NO_GRAPHS) |
                                     (scan->shared != OID_NONE ? INDEX_ROWS_KEYS : 0)));
    put_keys(scan, partition, &request);
    codec_put_varint(&request, share->number_count);
    (void)buf_append_slice(&request, buf_slice(list));
    share->pattern = 0;
    const enum status status =
        list->overflowed ? status_fail(why, STATUS_LIMIT, "a request to the index is too long")
                         : row_stream_start(&share->rows, &request, why);
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
    struct quad_scan *scan = memory_new(sizeof(*scan));
    scan->federation = federation;
    scan->patterns = patterns;
    scan->count = count;
    scan->graphs = graphs;
    scan->shares = memory_zero(partitions, sizeof(*scan->shares));
    for (size_t i = 0; i < count; i++) {
        scan->shared = is_shared(patterns[i].subject)  ? patterns[i].subject
                       : is_shared(patterns[i].object) ? patterns[i].object
                                                       : scan->shared;
    }
    for (size_t i = 0; i < partitions; i++) {
        row_stream_init(&scan->shares[i].rows, federation, i);
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

/* Reads the next row if all its bytes are there. */
static enum status
read_row(struct quad_scan *scan, size_t partition, struct reason *why)
{
    struct share *share = &scan->shares[partition];
    if (share->rows.at == share->rows.text.length) {
        return STATUS_OK;
    }
    struct codec_reader in = row_stream_reader(&share->rows);
    const size_t names = share->rows.name_count;
    const uint64_t step = codec_get_varint(&in);
    if (step >= share->number_count - share->pattern) {
        return in.bad ? STATUS_OK : row_stream_malformed(why);
    }
    oid row[PLACES];
    places_of(&scan->patterns[share->numbers[share->pattern + step]], row);
    for (int i = 0; i < (scan->graphs ? PLACES : PLACES - 1) && !in.bad; i++) {
        if (row[i] == OID_NONE || is_shared(row[i])) {
            TRY(row_stream_name(&share->rows, &in, false, &row[i], why));
        }
    }
    if (in.bad) {
        share->rows.name_count = names; /* the row is read again when there is more of it */
        return STATUS_OK;
    }
    share->rows.at = share->rows.text.length - (size_t)(in.end - in.at);
    share->pattern += step;
    share->row = (struct quad_oids){row[0], row[1], row[2], row[3]};
    share->has_row = true;
    return STATUS_OK;
}

/* Makes the partition's next row ready if it is there. */
static enum status
ready_row(struct quad_scan *scan, size_t partition, struct reason *why)
{
    struct share *share = &scan->shares[partition];
    bool waits = false;
    while (share->rows.open && !share->has_row && !waits) {
        TRY(read_row(scan, partition, why));
        if (!share->has_row) {
            TRY(row_stream_take(&share->rows, &waits, why));
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
        TRY(ready_row(scan, i, why));
        if (!share->has_row && !share->rows.open) {
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
        row_stream_release(&share->rows);
        free(share->numbers);
    }
    free(scan->shares);
    free(scan);
}
