#include "index/serve/answer_triples.h"

#include <stdlib.h>

#include "base/memory.h"
#include "index/protocol/service_protocol.h"
#include "index/protocol/triples_request.h"
#include "index/serve/row_names.h"
#include "index/sort/oid_sort.h"

enum { PLACES = 3, SCANNED = 1024, CHUNK = 16 << 10, PIECE = 128 << 10 };

/* The term that came last at a place: in the order of a scan the next one is often the same. */
struct last_term {
    oid id;
    uint64_t hash;
};

struct triples {
    struct partition_reader *reader;
    const struct quad_source *source;
    struct cursor *cursor;
    uint8_t form;
    struct quad_oids pattern;
    bool possible; /* all terms of the pattern are known here */
    struct codec_reader in;
    struct buf out;
    struct arena arena;
    struct row_names names;
    struct last_term last[PLACES];
};

/* ---- the request ---- */

static enum status
read_request(struct triples *triples, struct reason *why)
{
    oid *places[PLACES] = {&triples->pattern.subject, &triples->pattern.predicate,
                           &triples->pattern.object};
    triples->form = codec_get_u8(&triples->in);
    triples->possible = true;
    for (int i = 0; i < PLACES; i++) {
        struct term term;
        if (!index_get_term(&triples->in, &term)) {
            break;
        }
        if (term.kind != TERM_NONE) {
            TRY(triples->source->lookup(triples->source->context, &term, places[i], why));
            triples->possible = triples->possible && *places[i] != OID_NONE;
        }
    }
    const bool ends = triples->form >= TRIPLES_ROWS || codec_at_end(&triples->in);
    return triples->in.bad || !ends || triples->form > TRIPLES_OF_VALUES
               ? status_fail(why, STATUS_PROTOCOL, "a request for triples is malformed")
               : STATUS_OK;
}

static enum status
check(const void *context, struct reason *why)
{
    const struct triples *triples = context;
    cursor_step(triples->cursor);
    return atomic_load(cursor_cancelled(triples->cursor))
               ? status_fail(why, STATUS_CANCELLED, "cancelled")
               : STATUS_OK;
}

static enum status
send(struct triples *triples, struct reason *why)
{
    const enum status status = cursor_write(triples->cursor, buf_slice(&triples->out), why);
    buf_reset(&triples->out);
    return status;
}

/* ---- counts ---- */

static enum status
send_counts(struct triples *triples, const struct triple_count *counts, size_t count,
            struct reason *why)
{
    size_t room = CHUNK;
    for (size_t from = 0; from < count;) {
        const size_t end = count - from < room ? count : from + room;
        for (size_t i = from; i < end && triples->form != TRIPLE_ALL; i++) {
            row_names_note(&triples->names, counts[i].value);
        }
        TRY(row_names_prepare(&triples->names, row_names_stored, &triples->names, why));
        for (size_t i = from; i < end; i++) {
            codec_put_varint(&triples->out, counts[i].triples);
            if (triples->form != TRIPLE_ALL) {
                row_names_put(&triples->names, counts[i].value, &triples->out);
            }
        }
        TRY(row_names_send(&triples->names, &triples->out, triples->cursor, false, CHUNK, &room,
                           why));
        from = end;
    }
    return triples->out.length > 0 ? send(triples, why) : STATUS_OK;
}

static enum status
answer_counts(struct triples *triples, struct reason *why)
{
    const struct count_request request = {.pattern = triples->pattern,
                                          .by = (enum triple_place)triples->form,
                                          .memory = cursor_memory(triples->cursor),
                                          .check = check,
                                          .check_context = triples};
    struct triple_count *counts = NULL;
    size_t count = 0;
    uint64_t version[2];
    enum status status = STATUS_OK;
    if (triples->possible) {
        status = triples->source->count_triples(triples->source->context, &request, &counts, &count,
                                                why);
    }
    const bool known = status == STATUS_OK;
    if (!known && status != STATUS_LIMIT && status != STATUS_UNSUPPORTED) {
        return status;
    }
    codec_put_u8(&triples->out, known ? TRIPLES_KNOWN : TRIPLES_UNKNOWN);
    partition_reader_version(triples->reader, version);
    codec_put_u64(&triples->out, version[0]);
    codec_put_u64(&triples->out, version[1]);
    status = send_counts(triples, counts, count, why);
    quad_source_release_counts(triples->source, counts);
    return status;
}

/* ---- fingerprints ---- */

static uint64_t
mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* The same in every partition. */
static enum status
fingerprint(struct triples *triples, struct last_term *last, oid id, uint64_t *hash,
            struct reason *why)
{
    if (last->id != id) {
        struct term_digest digest;
        TRY(partition_reader_digest(triples->reader, id, &triples->arena, &digest, why));
        *last = (struct last_term){id, digest.high ^ digest.low};
    }
    *hash = last->hash;
    return STATUS_OK;
}

/* Fingerprints that were gathered, and as much room again for sorting them. */
struct gathered {
    struct sort_item *items;
    size_t count, room, most;
};

/* An estimate says how many may come, but not always exactly. */
static enum status
make_room(struct gathered *gathered, size_t more, struct reason *why)
{
    if (gathered->count + more > gathered->most) {
        return status_fail(why, STATUS_LIMIT, "there are too many triples");
    }
    if (gathered->count + more > gathered->room) {
        const size_t room = gathered->room + gathered->room / 2 + more;
        gathered->room = room < gathered->most ? room : gathered->most;
        gathered->items =
            memory_resize(gathered->items, 2 * gathered->room, sizeof(*gathered->items));
    }
    return STATUS_OK;
}

static enum status
gather_quad(struct triples *triples, const struct quad_oids *quad, struct gathered *gathered,
            struct reason *why)
{
    uint64_t subject, predicate, object;
    TRY(fingerprint(triples, &triples->last[0], quad->subject, &subject, why));
    TRY(fingerprint(triples, &triples->last[1], quad->predicate, &predicate, why));
    TRY(fingerprint(triples, &triples->last[2], quad->object, &object, why));
    gathered->items[gathered->count] =
        (struct sort_item){mix(mix(mix(0, subject), predicate), object), (uint32_t)gathered->count};
    gathered->count++;
    return STATUS_OK;
}

static enum status
gather(struct triples *triples, struct quad_scan *scan, struct gathered *gathered,
       struct reason *why)
{
    struct quad_oids rows[SCANNED];
    for (size_t n = 1; n > 0;) {
        TRY(check(triples, why));
        TRY(triples->source->scan_next(scan, rows, SCANNED, &n, why));
        TRY(make_room(gathered, n, why));
        for (size_t i = 0; i < n; i++) {
            TRY(gather_quad(triples, &rows[i], gathered, why));
        }
    }
    return STATUS_OK;
}

static enum status
send_fingerprints(struct triples *triples, const struct sort_item *items, size_t count,
                  struct reason *why)
{
    codec_put_u8(&triples->out, TRIPLES_KNOWN);
    for (size_t i = 0; i < count; i++) {
        codec_put_u64(&triples->out, items[i].key);
        codec_put_varint(&triples->out, items[i].index);
        if (triples->out.length >= PIECE) {
            TRY(send(triples, why));
        }
    }
    return triples->out.length > 0 ? send(triples, why) : STATUS_OK;
}

static enum status
answer_fingerprints(struct triples *triples, struct quad_scan *scan, uint64_t rows,
                    struct reason *why)
{
    const size_t memory = cursor_memory(triples->cursor) / (2 * sizeof(struct sort_item));
    struct gathered gathered = {.most = memory < UINT32_MAX ? memory : UINT32_MAX};
    enum status status = make_room(&gathered, rows + SCANNED, why);
    status = status == STATUS_OK ? gather(triples, scan, &gathered, why) : status;
    if (status == STATUS_OK) {
        const struct sort_check sort_check = {check, triples};
        struct sort_item *sorted;
        status = oid_sort_checked(gathered.items, gathered.items + gathered.room, gathered.count,
                                  &sort_check, &sorted, why);
        status =
            status == STATUS_OK ? send_fingerprints(triples, sorted, gathered.count, why) : status;
    } else if (status == STATUS_LIMIT) {
        codec_put_u8(&triples->out, TRIPLES_UNKNOWN);
        status = send(triples, why);
    }
    free(gathered.items);
    return status;
}

/* ---- rows ---- */

static enum status
send_rows(struct triples *triples, const oid *ids, size_t count, struct reason *why)
{
    size_t room = CHUNK;
    for (size_t i = 0; i < count; i++) {
        row_names_note(&triples->names, ids[i]);
    }
    TRY(row_names_prepare(&triples->names, row_names_stored, &triples->names, why));
    for (size_t i = 0; i < count; i++) {
        row_names_put(&triples->names, ids[i], &triples->out);
    }
    return row_names_send(&triples->names, &triples->out, triples->cursor, false, CHUNK, &room,
                          why);
}

/* The rows of the scan whose numbers follow in the request, ascending, each as the difference. */
static enum status
answer_numbered(struct triples *triples, struct quad_scan *scan, struct reason *why)
{
    struct quad_oids rows[SCANNED];
    oid ids[PLACES * SCANNED];
    uint64_t left = codec_get_varint(&triples->in), first = 0;
    uint64_t wanted = left ? codec_get_varint(&triples->in) : 0;
    for (size_t n = 1; n > 0 && left > 0 && !triples->in.bad; first += n) {
        size_t count = 0;
        TRY(check(triples, why));
        TRY(triples->source->scan_next(scan, rows, SCANNED, &n, why));
        while (left > 0 && wanted - first < n && !triples->in.bad) {
            const struct quad_oids *row = &rows[wanted - first];
            ids[count++] = row->subject;
            ids[count++] = row->predicate;
            ids[count++] = row->object;
            const uint64_t step = --left ? codec_get_varint(&triples->in) : 1;
            if (step == 0) {
                left = 1;
                break;
            }
            wanted += step;
        }
        TRY(count > 0 ? send_rows(triples, ids, count, why) : STATUS_OK);
    }
    return left > 0 || !codec_at_end(&triples->in)
               ? status_fail(why, STATUS_PROTOCOL, "a request for triples is malformed")
               : STATUS_OK;
}

/* An order that never changes, since rows are named by their numbers in it. */
static enum quad_order
order_of(const struct quad_oids *pattern)
{
    return pattern->subject && !(pattern->object && !pattern->predicate) ? ORDER_SPOC
           : pattern->predicate                                          ? ORDER_POCS
           : pattern->object                                             ? ORDER_OSPC
                                                                         : ORDER_SPOC;
}

static enum status
answer_scan(struct triples *triples, struct reason *why)
{
    const struct quad_source *source = triples->source;
    struct quad_scan *scan;
    uint64_t rows = 0;
    if (!triples->possible) {
        codec_put_u8(&triples->out, TRIPLES_KNOWN);
        return send(triples, why);
    }
    TRY(source->estimate(source->context, &triples->pattern, &rows, why));
    TRY(source->scan(source->context, &triples->pattern, order_of(&triples->pattern), &scan, why));
    const enum status status = triples->form == TRIPLES_ROWS
                                   ? answer_numbered(triples, scan, why)
                                   : answer_fingerprints(triples, scan, rows, why);
    source->scan_close(scan);
    return status;
}

static enum status
answer_by_value(struct triples *triples, struct reason *why)
{
    const struct values_request request = {.reader = triples->reader,
                                           .cursor = triples->cursor,
                                           .pattern = triples->pattern,
                                           .possible = triples->possible};
    return triples->form == TRIPLES_VALUES ? answer_values(&request, triples->in, why)
                                           : answer_triples_of_values(&request, triples->in, why);
}

enum status
answer_triples(struct partition_reader *reader, struct slice request, struct cursor *cursor,
               struct reason *why)
{
    struct triples triples = {.reader = reader,
                              .source = partition_reader_source(reader),
                              .cursor = cursor,
                              .in = codec_reader_of(request)};
    buf_init(&triples.out, ROW_NAMES_PIECE);
    arena_init(&triples.arena, 0);
    row_names_init(&triples.names, triples.source);
    enum status status = read_request(&triples, why);
    if (status == STATUS_OK) {
        status = triples.form >= TRIPLES_VALUES        ? answer_by_value(&triples, why)
                 : triples.form < TRIPLES_FINGERPRINTS ? answer_counts(&triples, why)
                                                       : answer_scan(&triples, why);
    }
    row_names_release(&triples.names);
    arena_release(&triples.arena);
    buf_release(&triples.out);
    return status;
}
