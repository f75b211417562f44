#include "index/serve/answer_lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/protocol/service_protocol.h"
#include "index/read/query_answer.h"
#include "index/serve/row_names.h"

enum {
    PLACES = 4,
    NUMBERS = 2,
    SCANNED = 64,
    RESOLVED = 256 /* rows whose terms are in memory at once: they may be long */
};

struct lookup_row {
    uint64_t numbers[NUMBERS];
    oid places[PLACES];
};

struct lookup {
    const struct quad_source *source;
    struct cursor *cursor;
    struct partition_needs *needs;
    struct row_names names;
    struct buf out;
    struct quad_scan *scan; /* used again for patterns of the same places; NULL: not yet */
    unsigned number_count, place_count; /* of a row */
    struct lookup_row *rows;            /* whose terms are to be resolved */
    size_t count, capacity;
};

static enum status
malformed(struct reason *why)
{
    return status_fail(why, STATUS_PROTOCOL, "a request for a lookup is malformed");
}

/* ---- rows ---- */

static void
lookup_init(struct lookup *lookup, struct partition_reader *reader, struct cursor *cursor,
            struct partition_needs *needs, unsigned numbers, unsigned places)
{
    *lookup = (struct lookup){.source = partition_reader_source(reader),
                              .cursor = cursor,
                              .needs = needs,
                              .number_count = numbers,
                              .place_count = places};
    row_names_init(&lookup->names, lookup->source);
    buf_init(&lookup->out, ROW_NAMES_PIECE);
}

/* Puts the rows that wait behind those that are to be sent. */
static enum status
put_rows(struct lookup *lookup, struct reason *why)
{
    for (size_t i = 0; i < lookup->count; i++) {
        for (unsigned place = 0; place < lookup->place_count; place++) {
            row_names_note(&lookup->names, lookup->rows[i].places[place]);
        }
    }
    TRY(row_names_prepare(&lookup->names, row_names_stored, &lookup->names, why));
    for (size_t i = 0; i < lookup->count; i++) {
        for (unsigned number = 0; number < lookup->number_count; number++) {
            codec_put_varint(&lookup->out, lookup->rows[i].numbers[number]);
        }
        for (unsigned place = 0; place < lookup->place_count; place++) {
            row_names_put(&lookup->names, lookup->rows[i].places[place], &lookup->out);
        }
    }
    lookup->count = 0;
    return STATUS_OK;
}

static enum status
send_rows(struct lookup *lookup, bool last, struct reason *why)
{
    size_t room = RESOLVED;
    return row_names_send(&lookup->names, &lookup->out, lookup->cursor, last, RESOLVED, &room, why);
}

/* Adds a row. An answer that fits into one piece leaves at the end, whole; more leaves as soon as a
 * piece is full, since the reader's pace limits only what is not written yet. */
static enum status
add_row(struct lookup *lookup, const struct lookup_row *row, struct reason *why)
{
    if (lookup->count == RESOLVED) {
        TRY(put_rows(lookup, why));
        TRY(lookup->out.length > INDEX_PIECE_BYTES ? send_rows(lookup, false, why) : STATUS_OK);
    }
    if (lookup->count == lookup->capacity) {
        lookup->capacity = lookup->capacity ? 4 * lookup->capacity : SCANNED;
        lookup->rows = memory_resize(lookup->rows, lookup->capacity, sizeof *lookup->rows);
    }
    lookup->rows[lookup->count++] = *row;
    return STATUS_OK;
}

/* Scans a pattern that has the same places bound as the one before. */
static enum status
scan_like(struct lookup *lookup, const struct quad_oids *pattern, struct reason *why)
{
    const struct quad_source *source = lookup->source;
    if (lookup->scan != NULL) {
        partition_scan_again(lookup->scan, pattern);
        return STATUS_OK;
    }
    return source->scan(source->context, pattern, ORDER_COUNT, &lookup->scan, why);
}

static void
end_scans(struct lookup *lookup)
{
    if (lookup->scan != NULL) {
        lookup->source->scan_close(lookup->scan);
        lookup->scan = NULL;
    }
}

static enum status
lookup_end(struct lookup *lookup, enum status status, struct reason *why)
{
    if (status == STATUS_OK && lookup->count > 0) {
        status = put_rows(lookup, why);
        status = status == STATUS_OK ? send_rows(lookup, true, why) : status;
    }
    end_scans(lookup);
    row_names_release(&lookup->names);
    buf_release(&lookup->out);
    free(lookup->rows);
    return status;
}

static enum status
check_cancelled(const struct lookup *lookup, struct reason *why)
{
    cursor_step(lookup->cursor);
    return atomic_load(cursor_cancelled(lookup->cursor))
               ? status_fail(why, STATUS_CANCELLED, "cancelled")
               : STATUS_OK;
}

/* ---- statements ---- */

/* A row with the number for each quad that matches, up to *left. */
static enum status
add_quads(struct lookup *lookup, const struct quad_oids *pattern, uint64_t number, uint64_t *left,
          struct reason *why)
{
    const struct quad_source *source = lookup->source;
    struct quad_oids found[SCANNED];
    enum status status = STATUS_OK;
    TRY(scan_like(lookup, pattern, why));
    for (size_t n = 1; n > 0 && *left > 0 && status == STATUS_OK;) {
        status = source->scan_next(lookup->scan, found, *left < SCANNED ? *left : SCANNED, &n, why);
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            const struct quad_oids *quad = &found[i];
            const struct lookup_row row = {
                .numbers = {number},
                .places = {quad->subject, quad->predicate, quad->object, quad->graph}};
            status = add_row(lookup, &row, why);
            --*left;
        }
        status = status == STATUS_OK ? check_cancelled(lookup, why) : status;
    }
    return status;
}

/* Notes what the answer rests on: what is said of a resource, or of what a document has, changes
 * seldom; all else often. */
static void
need_pattern(struct lookup *lookup, const struct quad_oids *ids, bool possible)
{
    if (!possible || (ids->subject == OID_NONE && ids->object == OID_NONE)) {
        partition_need(lookup->needs, PARTITION_GRAPH, possible ? ids->graph : OID_NONE);
    } else if (ids->subject != OID_NONE) {
        partition_need(lookup->needs, PARTITION_SUBJECT, ids->subject);
    } else {
        partition_need(lookup->needs, PARTITION_OBJECT, ids->object);
    }
}

static enum status
find_patterns(struct lookup *lookup, struct codec_reader *in, uint64_t limit, struct reason *why)
{
    const uint64_t count = codec_get_varint(in);
    for (uint64_t i = 0; i < count; i++) {
        struct quad pattern;
        struct quad_oids ids;
        bool possible;
        uint64_t left = limit;
        if (!index_get_pattern(in, &pattern)) {
            return malformed(why);
        }
        TRY(answer_pattern(lookup->source, &pattern, &ids, &possible, why));
        need_pattern(lookup, &ids, possible);
        TRY(possible ? add_quads(lookup, &ids, i, &left, why) : STATUS_OK);
        end_scans(lookup);
    }
    return codec_at_end(in) ? STATUS_OK : malformed(why);
}

static enum status
find_words(struct lookup *lookup, struct partition_reader *reader, struct codec_reader *in,
           uint64_t limit, struct reason *why)
{
    const struct quad_source *source = lookup->source;
    const struct slice words = codec_get_slice(in);
    struct text_scan *scan;
    uint64_t left = limit;
    if (!codec_at_end(in)) {
        return malformed(why);
    }
    TRY(partition_reader_search(reader, words, (uint32_t)(limit < UINT32_MAX ? limit : UINT32_MAX),
                                &scan, why));
    partition_need_words(lookup->needs, scan);
    enum status status = STATUS_OK;
    while (status == STATUS_OK && left > 0) {
        struct quad_oids pattern = {.object = OID_NONE};
        double score;
        bool end;
        status = source->search_next(scan, &pattern.object, &score, &end, why);
        if (status != STATUS_OK || end) {
            break;
        }
        partition_need(lookup->needs, PARTITION_OBJECT, pattern.object);
        status =
            add_quads(lookup, &pattern, (uint64_t)llround(score * INDEX_SCORE_PARTS), &left, why);
    }
    source->search_close(scan);
    return status;
}

enum status
answer_find(struct partition_reader *reader, struct slice request, struct cursor *cursor,
            struct partition_needs *needs, struct reason *why)
{
    struct codec_reader in = codec_reader_of(request);
    struct lookup lookup;
    const uint8_t kind = codec_get_u8(&in);
    const uint64_t limit = codec_get_varint(&in);
    lookup_init(&lookup, reader, cursor, needs, 1, PLACES);
    const enum status status = kind == INDEX_FIND_PATTERNS ? find_patterns(&lookup, &in, limit, why)
                               : kind == INDEX_FIND_WORDS
                                   ? find_words(&lookup, reader, &in, limit, why)
                                   : malformed(why);
    return lookup_end(&lookup, status, why);
}

/* ---- resources ---- */

/* Holds what is wanted of each resource, and the first object of each predicate of the present one.
 */
struct description {
    oid predicates[INDEX_DESCRIBED_PREDICATES], objects[INDEX_DESCRIBED_PREDICATES];
    size_t count;
};

static void
note_object(struct description *description, const struct quad_oids *quad)
{
    for (size_t i = 0; i < description->count; i++) {
        if (description->predicates[i] == quad->predicate && description->objects[i] == OID_NONE) {
            description->objects[i] = quad->object;
        }
    }
}

/* The first rows of a scan, up to most, which are all that most resources have. *all: there are no
 * more. */
static enum status
note_first(struct lookup *lookup, struct description *description, const struct quad_oids *pattern,
           size_t most, bool *all, struct reason *why)
{
    const struct quad_source *source = lookup->source;
    struct quad_oids found[SCANNED];
    enum status status = STATUS_OK;
    TRY(scan_like(lookup, pattern, why));
    for (size_t n = 1; n > 0 && most > 0 && status == STATUS_OK; most -= n) {
        status = source->scan_next(lookup->scan, found, most < SCANNED ? most : SCANNED, &n, why);
        for (size_t i = 0; i < n; i++) {
            note_object(description, &found[i]);
        }
        *all = n == 0;
    }
    return status;
}

/* The predicates that were not among the first rows, each by a scan of its own. */
static enum status
note_rest(struct lookup *lookup, struct description *description, const struct quad_oids *resource,
          struct reason *why)
{
    struct quad_oids pattern = *resource;
    bool all;
    end_scans(lookup);
    for (size_t i = 0; i < description->count; i++) {
        pattern.predicate = description->predicates[i];
        if (pattern.predicate != OID_NONE && description->objects[i] == OID_NONE) {
            TRY(note_first(lookup, description, &pattern, 1, &all, why));
        }
    }
    end_scans(lookup);
    return STATUS_OK;
}

static enum status
describe_one(struct lookup *lookup, struct description *description,
             const struct quad_oids *resource, uint64_t number, struct reason *why)
{
    bool all = false;
    memset(description->objects, 0, sizeof description->objects);
    TRY(note_first(lookup, description, resource, SCANNED, &all, why));
    TRY(all ? STATUS_OK : note_rest(lookup, description, resource, why));
    for (size_t i = 0; i < description->count; i++) {
        if (description->objects[i] != OID_NONE) {
            const struct lookup_row row = {.numbers = {number, i},
                                           .places = {description->objects[i]}};
            TRY(add_row(lookup, &row, why));
        }
    }
    return check_cancelled(lookup, why);
}

static enum status
describe_all(struct lookup *lookup, struct codec_reader *in, struct reason *why)
{
    const struct quad_source *source = lookup->source;
    struct description description = {.count = codec_get_varint(in)};
    struct quad pattern;
    if (description.count > INDEX_DESCRIBED_PREDICATES) {
        return malformed(why);
    }
    for (size_t i = 0; i < description.count; i++) {
        struct term term;
        if (!index_get_term(in, &term)) {
            return malformed(why);
        }
        TRY(source->lookup(source->context, &term, &description.predicates[i], why));
    }
    for (uint64_t number = 0; in->at < in->end; number++) {
        struct quad_oids ids;
        bool possible;
        pattern = (struct quad){.predicate = {.kind = TERM_NONE}};
        if (!index_get_term(in, &pattern.subject) || !index_get_term(in, &pattern.graph) ||
            pattern.subject.kind == TERM_NONE || pattern.graph.kind == TERM_NONE) {
            return malformed(why); /* one scan serves all resources, which bind the same places */
        }
        TRY(answer_pattern(source, &pattern, &ids, &possible, why));
        partition_need(lookup->needs, PARTITION_GRAPH, possible ? ids.graph : OID_NONE);
        TRY(possible ? describe_one(lookup, &description, &ids, number, why) : STATUS_OK);
    }
    return in->bad ? malformed(why) : STATUS_OK;
}

enum status
answer_describe(struct partition_reader *reader, struct slice request, struct cursor *cursor,
                struct partition_needs *needs, struct reason *why)
{
    struct codec_reader in = codec_reader_of(request);
    struct lookup lookup;
    lookup_init(&lookup, reader, cursor, needs, NUMBERS, 1);
    return lookup_end(&lookup, describe_all(&lookup, &in, why), why);
}
