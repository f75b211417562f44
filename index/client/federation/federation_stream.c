#include "index/client/federation/federation_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/client/federation/federation_state.h"

enum { TEXT_MAXIMUM = 1 << 30 };

void
row_stream_init(struct row_stream *rows, struct federation *federation, size_t partition)
{
    *rows = (struct row_stream){.federation = federation, .partition = partition};
    buf_init(&rows->text, TEXT_MAXIMUM);
}

static void
row_stream_end(struct row_stream *rows)
{
    if (rows->open) {
        stream_close(&rows->stream);
        rows->open = false;
    }
}

void
row_stream_release(struct row_stream *rows)
{
    row_stream_end(rows);
    buf_release(&rows->text);
    free(rows->names);
}

enum status
row_stream_malformed(struct reason *why)
{
    return status_fail(why, STATUS_PROTOCOL, "the index sent malformed rows");
}

uint8_t
row_stream_flags(const struct row_stream *rows)
{
    return rows->federation->begun[rows->partition] ? 0 : INDEX_ROWS_BEGIN;
}

enum status
row_stream_start(struct row_stream *rows, const struct buf *request, struct reason *why)
{
    if (request->overflowed) {
        return status_fail(why, STATUS_LIMIT, "a request to the index is too long");
    }
    rows->federation->begun[rows->partition] = true;
    rows->open = true;
    rows->name_count = 0;
    stream_start(&rows->stream, rows->federation->client, rows->partition, buf_slice(request));
    return STATUS_OK;
}

/* The identifier here of one that came for the first time. */
static enum status
new_name(struct row_stream *rows, struct codec_reader *in, bool computed, oid *id,
         struct reason *why)
{
    const oid its_id = codec_get_u64(in);
    struct term term;
    char text[OID_INLINE_TEXT];
    *id = its_id;
    if (in->bad || (computed && its_id == OID_NONE)) {
        return STATUS_OK;
    }
    if (!index_name_has_term(its_id)) {
        return oid_inline_term(its_id, text, &term) ? STATUS_OK : row_stream_malformed(why);
    }
    if (!computed && its_id >= OID_LOCAL) {
        return row_stream_malformed(why);
    }
    if (!index_get_term(in, &term) || term.kind == TERM_NONE) {
        return in->bad ? STATUS_OK : row_stream_malformed(why);
    }
    TRY(federation_id(rows->federation, &term, id, why));
    return its_id < OID_LOCAL
               ? federation_learn(rows->federation, rows->partition, *id, its_id, why)
               : STATUS_OK;
}

enum status
row_stream_name(struct row_stream *rows, struct codec_reader *in, bool computed, oid *id,
                struct reason *why)
{
    uint64_t code = codec_get_varint(in);
    if (code == INDEX_NAME_FORGET) {
        rows->name_count = 0;
        code = codec_get_varint(in);
    }
    if (in->bad) {
        return STATUS_OK;
    }
    if (code >= INDEX_NAME_FIRST) {
        if (code - INDEX_NAME_FIRST >= rows->name_count) {
            return row_stream_malformed(why);
        }
        *id = rows->names[code - INDEX_NAME_FIRST];
        return STATUS_OK;
    }
    TRY(new_name(rows, in, computed, id, why));
    if (in->bad) {
        return STATUS_OK;
    }
    rows->names =
        array_grow(rows->names, rows->name_count, &rows->name_capacity, sizeof(*rows->names));
    rows->names[rows->name_count++] = *id;
    return STATUS_OK;
}

enum status
row_stream_take(struct row_stream *rows, bool *waits, struct reason *why)
{
    struct reason what = {""};
    struct slice bytes;
    enum status status = stream_take(&rows->stream, &bytes, &what);
    *waits = status == STATUS_AGAIN && stream_waits(&rows->stream);
    if (*waits) {
        return STATUS_OK;
    }
    const size_t left = rows->text.length - rows->at;
    if (status == STATUS_OK) {
        if (left > 0) {
            memmove(rows->text.data, rows->text.data + rows->at, left);
        }
        rows->text.length = left;
        rows->at = 0;
        return buf_append_slice(&rows->text, bytes) == STATUS_OK
                   ? STATUS_OK
                   : status_fail(why, STATUS_LIMIT, "a row is too long");
    }
    row_stream_end(rows);
    if (status == STATUS_END) {
        status = left > 0 ? row_stream_malformed(&what) : STATUS_OK;
    }
    rows->at = rows->text.length = 0;
    return status == STATUS_OK
               ? STATUS_OK
               : client_miss(rows->federation->client, rows->partition, status, &what, why);
}

enum status
row_stream_more(struct row_stream *rows, struct reason *why)
{
    bool waits = true;
    while (rows->open) {
        TRY(row_stream_take(rows, &waits, why));
        if (!waits) {
            return STATUS_OK;
        }
        TRY(client_wait(rows->federation->client, why));
    }
    return STATUS_OK;
}
