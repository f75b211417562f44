#include "index/serve/answer_rows.h"

#include <stdlib.h>

#include "base/memory.h"
#include "index/protocol/service_protocol.h"
#include "index/serve/row_names.h"
#include "index/write/partition_keys.h"

/* The first chunk of a single pattern is small, as only the first rows may be wanted. */
enum {
    PLACES = 4,
    SCANNED = 128, /* rows of one call */
    CHUNK_FIRST = 16,
    CHUNK_MOST = 16 << 10
};

/* A place of a pattern: any term, or any of those that are shared, or the one with the identifier;
 * with OID_NONE no quad has that. */
struct wanted {
    oid id;
    bool bound, shared;
};

struct chunk_row {
    uint64_t number; /* of its pattern */
    oid places[PLACES];
    uint8_t wanted; /* bit i: places[i] is sent */
};

struct rows {
    const struct quad_source *source;
    struct cursor *cursor;
    struct buf out;
    struct row_names names;
    bool graphs;
    bool has_shared;
    struct oid_set shared; /* nodes that other partitions have too */
    uint64_t number;       /* of the pattern of the last row that was sent */
    struct chunk_row *chunk;
    size_t count, room;
};

/* ---- chunks ---- */

/* last: nothing comes after it. */
static enum status
send_chunk(struct rows *rows, bool last, struct reason *why)
{
    TRY(row_names_prepare(&rows->names, row_names_stored, &rows->names, why));
    for (size_t i = 0; i < rows->count; i++) {
        const struct chunk_row *row = &rows->chunk[i];
        codec_put_varint(&rows->out, row->number - rows->number);
        rows->number = row->number;
        for (int place = 0; place < PLACES; place++) {
            if (row->wanted & 1 << place) {
                row_names_put(&rows->names, row->places[place], &rows->out);
            }
        }
    }
    rows->count = 0;
    return row_names_send(&rows->names, &rows->out, rows->cursor, last, CHUNK_MOST, &rows->room,
                          why);
}

static enum status
take_row(struct rows *rows, uint64_t number, const struct wanted pattern[PLACES],
         const oid found[PLACES], struct reason *why)
{
    if (rows->count >= rows->room) {
        TRY(send_chunk(rows, false, why));
    }
    if (rows->chunk == NULL) {
        rows->chunk = memory_alloc(CHUNK_MOST * sizeof(*rows->chunk));
    }
    struct chunk_row *row = &rows->chunk[rows->count++];
    *row = (struct chunk_row){.number = number};
    for (int place = 0; place < (rows->graphs ? PLACES : PLACES - 1); place++) {
        if (!pattern[place].bound) {
            row->wanted |= (uint8_t)(1 << place);
            row->places[place] = found[place];
            row_names_note(&rows->names, found[place]);
        }
    }
    return STATUS_OK;
}

/* ---- patterns ---- */

static enum status
get_place(const struct rows *rows, struct codec_reader *in, struct wanted *wanted,
          struct reason *why)
{
    const struct quad_source *source = rows->source;
    struct term term;
    const uint8_t kind = in->at < in->end ? *in->at : 0;
    if (kind == INDEX_PLACE_AS_BEFORE) {
        in->at++;
        return STATUS_OK;
    }
    *wanted = (struct wanted){.bound = true};
    if (kind == INDEX_PLACE_SHARED && rows->has_shared) {
        in->at++;
        *wanted = (struct wanted){.shared = true};
        return STATUS_OK;
    }
    if (kind == INDEX_PLACE_OID) {
        in->at++;
        wanted->id = codec_get_u64(in);
    } else if (index_get_term(in, &term)) {
        wanted->bound = term.kind != TERM_NONE;
        return wanted->bound ? source->lookup(source->context, &term, &wanted->id, why) : STATUS_OK;
    }
    return in->bad || !oid_is_of_source(wanted->id)
               ? status_fail(why, STATUS_PROTOCOL, "a request for rows is malformed")
               : STATUS_OK;
}

static bool
are_shared(const struct rows *rows, const struct wanted pattern[PLACES], const oid row[PLACES])
{
    for (int place = 0; place < PLACES; place++) {
        if (pattern[place].shared && !oid_set_has(&rows->shared, row[place])) {
            return false;
        }
    }
    return true;
}

/* Without graphs, the same triple of another graph is left out where it follows at once. */
static enum status
match(struct rows *rows, uint64_t number, const struct wanted pattern[PLACES], struct reason *why)
{
    const struct quad_source *source = rows->source;
    const struct quad_oids wanted = {pattern[0].id, pattern[1].id, pattern[2].id, pattern[3].id};
    struct quad_oids found[SCANNED], last = {0};
    struct quad_scan *scan;
    TRY(source->scan(source->context, &wanted, ORDER_COUNT, &scan, why));
    enum status status = STATUS_OK;
    for (size_t n = 1; n > 0 && status == STATUS_OK;) {
        status = source->scan_next(scan, found, SCANNED, &n, why);
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            const struct quad_oids *quad = &found[i];
            if (!rows->graphs && quad->subject == last.subject &&
                quad->predicate == last.predicate && quad->object == last.object) {
                continue;
            }
            last = *quad;
            const oid row[PLACES] = {quad->subject, quad->predicate, quad->object, quad->graph};
            if (!rows->has_shared || are_shared(rows, pattern, row)) {
                status = take_row(rows, number, pattern, row, why);
            }
        }
        cursor_step(rows->cursor);
        if (status == STATUS_OK && atomic_load(cursor_cancelled(rows->cursor))) {
            status = status_fail(why, STATUS_CANCELLED, "cancelled");
        }
    }
    source->scan_close(scan);
    return status;
}

static enum status
match_all(struct rows *rows, struct codec_reader *in, struct reason *why)
{
    struct wanted pattern[PLACES] = {{OID_NONE, false, false}};
    const uint64_t count = codec_get_varint(in);
    rows->room = count == 1 ? CHUNK_FIRST : CHUNK_MOST;
    for (uint64_t number = 0; number < count; number++) {
        bool possible = true;
        for (int place = 0; place < PLACES; place++) {
            TRY(get_place(rows, in, &pattern[place], why));
            possible = possible && (!pattern[place].bound || pattern[place].id != OID_NONE);
        }
        if (possible) {
            TRY(match(rows, number, pattern, why));
        }
    }
    return codec_at_end(in) ? STATUS_OK
                            : status_fail(why, STATUS_PROTOCOL, "a request for rows is malformed");
}

static enum status
get_flags(struct partition *partition, struct codec_reader *in, struct rows *rows,
          struct reason *why)
{
    const uint8_t flags = codec_get_u8(in);
    rows->graphs = !(flags & INDEX_ROWS_NO_GRAPHS);
    rows->has_shared = flags & INDEX_ROWS_KEYS;
    if (!rows->has_shared) {
        return STATUS_OK;
    }
    const enum key_places places = (enum key_places)codec_get_u8(in);
    const struct slice list = codec_get_slice(in);
    return in->bad || places >= KEY_PLACES
               ? status_fail(why, STATUS_PROTOCOL, "a request for rows is malformed")
               : partition_keys_set(partition, places, list, &rows->shared, why);
}

enum status
answer_rows(struct partition *partition, const struct quad_source *source, struct slice request,
            struct cursor *cursor, struct reason *why)
{
    struct codec_reader in = codec_reader_of(request);
    struct rows rows = {.source = source, .cursor = cursor};
    TRY(get_flags(partition, &in, &rows, why));
    buf_init(&rows.out, ROW_NAMES_PIECE);
    row_names_init(&rows.names, source);
    enum status status = match_all(&rows, &in, why);
    if (status == STATUS_OK && rows.count > 0) {
        status = send_chunk(&rows, true, why);
    }
    buf_release(&rows.out);
    row_names_release(&rows.names);
    oid_set_release(&rows.shared);
    free(rows.chunk);
    return status;
}
