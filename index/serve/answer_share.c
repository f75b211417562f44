#include "index/serve/answer_share.h"

#include <stdlib.h>

#include "base/memory.h"
#include "index/query/plan/share_parts.h"
#include "index/serve/row_names.h"

enum {
    CHUNK_FIRST = 256, /* identifiers; few at first, as only the first rows may be wanted */
    CHUNK_MOST = 64 << 10
};

struct rows {
    struct dictionary *dictionary;
    struct cursor *cursor;
    struct buf out;
    struct row_names names;
    oid *chunk;
    size_t count, room, capacity; /* identifiers */
};

static enum status
resolve_name(void *context, oid id, struct term *term, struct reason *why)
{
    struct rows *rows = context;
    return id >= OID_LOCAL ? dictionary_term(rows->dictionary, id, term, why)
                           : row_names_stored(&rows->names, id, term, why);
}

static enum status
send_chunk(struct rows *rows, bool last, struct reason *why)
{
    TRY(row_names_prepare(&rows->names, resolve_name, rows, why));
    for (size_t i = 0; i < rows->count; i++) {
        row_names_put(&rows->names, rows->chunk[i], &rows->out);
    }
    rows->count = 0;
    const enum status status =
        row_names_send(&rows->names, &rows->out, rows->cursor, last, CHUNK_MOST, &rows->room, why);
    dictionary_trim(rows->dictionary);
    return status;
}

/* A row without columns still is one: it is sent as one that is unbound. */
static enum status
take_row(void *context, struct dictionary *dictionary, const oid *row, size_t columns,
         struct reason *why)
{
    static const oid nothing[] = {OID_NONE};
    struct rows *rows = context;
    if (columns == 0) {
        row = nothing;
        columns = 1;
    }
    rows->dictionary = dictionary;
    if (rows->count + columns > rows->room && rows->count > 0) {
        TRY(send_chunk(rows, false, why));
    }
    if (rows->count + columns > rows->capacity) {
        rows->capacity = rows->count + columns > CHUNK_MOST ? rows->count + columns : CHUNK_MOST;
        rows->chunk = memory_resize(rows->chunk, rows->capacity, sizeof(*rows->chunk));
    }
    for (size_t i = 0; i < columns; i++) {
        rows->chunk[rows->count++] = row[i];
        row_names_note(&rows->names, row[i]);
    }
    return STATUS_OK;
}

static enum status
end_rows(void *context, struct dictionary *dictionary, struct reason *why)
{
    struct rows *rows = context;
    rows->dictionary = dictionary;
    return rows->count > 0 ? send_chunk(rows, true, why) : STATUS_OK;
}

enum status
answer_share(const struct quad_source *source, const struct share_request *request,
             const struct query_options *options, struct cursor *cursor, struct reason *why)
{
    struct rows rows = {.cursor = cursor, .room = CHUNK_FIRST};
    const struct share_sink sink = {&rows, take_row, end_rows};
    struct query_options own = *options;
    struct query *query;
    own.default_graph = request->default_graph;
    own.graphs = request->graphs;
    own.named_graphs = request->named_graphs;
    own.now_ms = request->now_ms;
    TRY(query_prepare(&query, request->text, slice_of(NULL, 0), why));
    buf_init(&rows.out, ROW_NAMES_PIECE);
    row_names_init(&rows.names, source);
    const enum status status = share_run(query, source, &own, request, &sink, why);
    buf_release(&rows.out);
    row_names_release(&rows.names);
    free(rows.chunk);
    query_free(query);
    return status;
}
