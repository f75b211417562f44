/* Streams of rows: the answer of one partition, a piece at a time, with terms that are named once.
 * One thread. */
#ifndef INDEX_CLIENT_FEDERATION_FEDERATION_STREAM_H
#define INDEX_CLIENT_FEDERATION_FEDERATION_STREAM_H

#include "index/client/federation/federation.h"
#include "index/client/partitions/client_calls.h"

/* One partition's answer. */
struct row_stream {
    struct federation *federation;
    size_t partition;
    struct index_stream_reader stream;
    bool open;
    struct buf text; /* not yet read from `at` on */
    size_t at;
    oid *names; /* the terms that came, by their number in the stream */
    size_t name_count, name_capacity;
};

void row_stream_init(struct row_stream *rows, struct federation *federation, size_t partition);
void row_stream_release(struct row_stream *rows);
/* Begins the federation's session there if it is the first; a request has the flag for that. */
uint8_t row_stream_flags(const struct row_stream *rows);
enum status row_stream_start(struct row_stream *rows, const struct buf *request,
                             struct reason *why);
/* Returns a reader of the bytes that have come and were not read. */
static inline struct codec_reader
row_stream_reader(const struct row_stream *rows)
{
    return codec_reader_of(slice_of(rows->text.data + rows->at, rows->text.length - rows->at));
}
/* A term of a row; computed: it may also be nothing, or not stored. in->bad: its bytes are not all
 * there. */
enum status row_stream_name(struct row_stream *rows, struct codec_reader *in, bool computed,
                            oid *id, struct reason *why);
/* Takes a piece if one has come; the stream may end by it. */
enum status row_stream_take(struct row_stream *rows, bool *waits, struct reason *why);
/* Waits for more bytes, or the end. */
enum status row_stream_more(struct row_stream *rows, struct reason *why);
enum status row_stream_malformed(struct reason *why);

#endif
