#include "index/answer_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/oid.h"
#include "index/service_protocol.h"

enum {
    PLACES = 4,
    ROWS = 128,
    PIECE = 32 << 10,
    PIECE_MAXIMUM = 1 << 30,
    NAMES_MOST = 1 << 20, /* then they are forgotten */
    NAMES_FIRST = 256
};

/* Numbers of the identifiers that were sent; open addressing. */
struct names {
    struct name {
        oid id;
        uint32_t number;
    } *table;
    size_t places; /* a power of two */
    uint32_t count;
};

struct rows {
    const struct quad_source *source;
    struct cursor *cursor;
    struct buf out;
    struct names names;
    struct arena arena;
    bool graphs;
    uint64_t sent; /* number of the pattern of the last row */
};

/* ---- names ---- */

static struct name *
name_place(const struct names *names, oid id)
{
    size_t at = (size_t)(id * 0x9E3779B97F4A7C15u >> 20) & (names->places - 1);
    while (names->table[at].id != OID_NONE && names->table[at].id != id) {
        at = (at + 1) & (names->places - 1);
    }
    return &names->table[at];
}

static void
names_grow(struct names *names)
{
    const struct names old = *names;
    names->places = old.places > 0 ? 2 * old.places : NAMES_FIRST;
    names->table = memory_zero(names->places, sizeof(*names->table));
    for (size_t i = 0; i < old.places; i++) {
        if (old.table[i].id != OID_NONE) {
            *name_place(names, old.table[i].id) = old.table[i];
        }
    }
    free(old.table);
}

static enum status
put_name(struct rows *rows, oid id, struct reason *why)
{
    struct names *names = &rows->names;
    if (2 * (size_t)names->count >= names->places) {
        names_grow(names);
    }
    struct name *const name = name_place(names, id);
    if (name->id == id) {
        codec_put_varint(&rows->out, INDEX_NAME_FIRST + (uint64_t)name->number);
        return STATUS_OK;
    }
    *name = (struct name){id, names->count++};
    codec_put_varint(&rows->out, INDEX_NAME_NEW);
    codec_put_u64(&rows->out, id);
    if (!oid_is_stored(id)) {
        return STATUS_OK;
    }
    struct term term;
    arena_reset(&rows->arena);
    TRY(rows->source->resolve(rows->source->context, id, &rows->arena, &term, why));
    index_put_term(&rows->out, &term);
    return STATUS_OK;
}

/* ---- patterns ---- */

/* Reads a place as its identifier. *bound: it is not "any"; with OID_NONE no quad has the term. */
static enum status
get_place(const struct quad_source *source, struct codec_reader *in, oid *id, bool *bound,
          struct reason *why)
{
    struct term term;
    const uint8_t kind = in->at < in->end ? *in->at : 0;
    if (kind == INDEX_PLACE_AS_BEFORE) {
        in->at++;
        return STATUS_OK;
    }
    *id = OID_NONE;
    *bound = true;
    if (kind == INDEX_PLACE_OID) {
        in->at++;
        *id = codec_get_u64(in);
    } else if (index_get_term(in, &term)) {
        *bound = term.kind != TERM_NONE;
        return *bound ? source->lookup(source->context, &term, id, why) : STATUS_OK;
    }
    return in->bad || *id == OID_NONE || *id >= OID_LOCAL
               ? status_fail(why, STATUS_PROTOCOL, "a request for rows is malformed")
               : STATUS_OK;
}

static enum status
put_row(struct rows *rows, uint64_t number, const oid pattern[PLACES], const oid row[PLACES],
        struct reason *why)
{
    struct names *names = &rows->names;
    bool full = names->count + PLACES > NAMES_MOST;
    codec_put_varint(&rows->out, number - rows->sent);
    rows->sent = number;
    for (int place = 0; place < (rows->graphs ? PLACES : PLACES - 1); place++) {
        if (pattern[place] != OID_NONE) {
            continue;
        }
        if (full) {
            memset(names->table, 0, names->places * sizeof(*names->table));
            names->count = 0;
            codec_put_varint(&rows->out, INDEX_NAME_FORGET);
            full = false;
        }
        TRY(put_name(rows, row[place], why));
    }
    if (rows->out.overflowed) {
        return status_fail(why, STATUS_LIMIT, "a row of more than %d bytes", PIECE_MAXIMUM);
    }
    if (rows->out.length >= PIECE) {
        const enum status status = cursor_write(rows->cursor, buf_slice(&rows->out), why);
        buf_reset(&rows->out);
        return status;
    }
    return STATUS_OK;
}

/* Without graphs, the same triple of another graph is left out where it follows at once. */
static enum status
match(struct rows *rows, uint64_t number, const oid pattern[PLACES], struct reason *why)
{
    const struct quad_source *source = rows->source;
    const struct quad_oids wanted = {pattern[0], pattern[1], pattern[2], pattern[3]};
    struct quad_oids found[ROWS], last = {0};
    struct quad_scan *scan;
    TRY(source->scan(source->context, &wanted, ORDER_COUNT, &scan, why));
    enum status status = STATUS_OK;
    for (size_t n = 1; n > 0 && status == STATUS_OK;) {
        status = source->scan_next(scan, found, ROWS, &n, why);
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            const struct quad_oids *quad = &found[i];
            if (!rows->graphs && quad->subject == last.subject &&
                quad->predicate == last.predicate && quad->object == last.object) {
                continue;
            }
            last = *quad;
            const oid row[PLACES] = {quad->subject, quad->predicate, quad->object, quad->graph};
            status = put_row(rows, number, pattern, row, why);
        }
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
    oid pattern[PLACES] = {OID_NONE};
    bool bound[PLACES] = {false};
    const uint64_t count = codec_get_varint(in);
    for (uint64_t number = 0; number < count; number++) {
        bool possible = true;
        for (int place = 0; place < PLACES; place++) {
            TRY(get_place(rows->source, in, &pattern[place], &bound[place], why));
            possible = possible && (!bound[place] || pattern[place] != OID_NONE);
        }
        if (possible) {
            TRY(match(rows, number, pattern, why));
        }
    }
    return codec_at_end(in)
               ? STATUS_OK
               : status_fail(why, STATUS_PROTOCOL, "a request for rows is malformed");
}

enum status
answer_rows(const struct quad_source *source, struct slice request, struct cursor *cursor,
            struct reason *why)
{
    struct codec_reader in = codec_reader_of(request);
    struct rows rows = {.source = source, .cursor = cursor};
    rows.graphs = !(codec_get_u8(&in) & INDEX_ROWS_NO_GRAPHS);
    buf_init(&rows.out, PIECE_MAXIMUM);
    arena_init(&rows.arena, 0);
    enum status status = match_all(&rows, &in, why);
    if (status == STATUS_OK && rows.out.length > 0) {
        status = cursor_write_last(cursor, buf_slice(&rows.out), why);
    }
    buf_release(&rows.out);
    arena_release(&rows.arena);
    free(rows.names.table);
    return status;
}
