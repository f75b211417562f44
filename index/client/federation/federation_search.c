/* Keyword search: all partitions are asked at once, what they find is put in one order. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/client/federation/federation_state.h"
#include "rdf/nquads/nquads.h"

enum { LITERALS_MAXIMUM = 1 << 28 };

struct scored {
    double score;
    oid literal;
};
struct text_scan {
    struct federation *federation;
    double score; /* of the line that is read */
    struct scored *found;
    size_t count, capacity, at;
};

/* A literal in N-Triples form is read as the object of a triple made up around it. */
static enum status
take_literal(void *context, const struct quad *quad, struct reason *why)
{
    struct text_scan *scan = context;
    oid id = OID_NONE;
    TRY(federation_id(scan->federation, &quad->object, &id, why));
    scan->found = array_grow(scan->found, scan->count, &scan->capacity, sizeof(*scan->found));
    scan->found[scan->count++] = (struct scored){scan->score, id};
    return STATUS_OK;
}

static enum status
take_lines(struct text_scan *scan, struct slice text, struct reason *why)
{
    const struct quad_sink sink = {take_literal, scan};
    struct buf triple;
    buf_init(&triple, LITERALS_MAXIMUM);
    enum status status = STATUS_OK;
    while (text.length > 0 && status == STATUS_OK) {
        const size_t end = slice_find(text, '\n');
        const size_t tab = slice_find(slice_of(text.at, end), '\t');
        char score[32] = "";
        memcpy(score, text.at, tab < sizeof(score) ? tab : sizeof(score) - 1);
        scan->score = strtod(score, NULL);
        buf_reset(&triple);
        (void)buf_append_string(&triple, "<x:s> <x:p> ");
        (void)buf_append(&triple, text.at + tab, end - tab);
        (void)buf_append_string(&triple, " .\n");
        status = nquads_parse(buf_slice(&triple), NULL, &sink, why);
        const size_t used = end < text.length ? end + 1 : end;
        text = slice_of(text.at + used, text.length - used);
    }
    buf_release(&triple);
    return status;
}

/* The rest of one partition's answer. */
static enum status
read_found(struct text_scan *scan, struct index_stream_reader *stream, struct reason *why)
{
    struct index_client *client = scan->federation->client;
    struct reason what = {""};
    struct buf text;
    struct slice bytes;
    enum status status;
    buf_init(&text, LITERALS_MAXIMUM);
    while ((status = stream_next(stream, &bytes, &what)) == STATUS_OK) {
        (void)buf_append_slice(&text, bytes);
    }
    if (status == STATUS_END && text.overflowed) {
        status = status_fail(why, STATUS_LIMIT, "the search finds too much text");
    } else if (status == STATUS_END) {
        status = take_lines(scan, buf_slice(&text), why);
    } else if (client_ended(client)) {
        status = status_fail(why, status, "%s", what.text);
    } else {
        status = client_miss(client, stream->partition, status, &what, why);
    }
    buf_release(&text);
    return status;
}

static int
best_first(const void *a, const void *b)
{
    const struct scored *left = a;
    const struct scored *right = b;
    return left->score > right->score ? -1 : left->score < right->score;
}

static int
by_literal(const void *a, const void *b)
{
    const struct scored *left = a;
    const struct scored *right = b;
    if (left->literal != right->literal) {
        return left->literal < right->literal ? -1 : 1;
    }
    return best_first(a, b);
}

void
federation_search_close(struct text_scan *scan)
{
    if (scan != NULL) {
        free(scan->found);
        free(scan);
    }
}

/* Orders the literals that were found. The same one may come from several partitions: it counts
 * once, with its best score. */
static void
order_found(struct text_scan *scan, uint32_t most)
{
    size_t kept = 0;
    if (scan->count == 0) {
        return;
    }
    qsort(scan->found, scan->count, sizeof(*scan->found), by_literal);
    for (size_t i = 0; i < scan->count; i++) {
        if (kept == 0 || scan->found[kept - 1].literal != scan->found[i].literal) {
            scan->found[kept++] = scan->found[i];
        }
    }
    qsort(scan->found, kept, sizeof(*scan->found), best_first);
    scan->count = kept < most ? kept : most;
}

enum status
federation_search(void *context, struct slice words, uint32_t most, struct text_scan **result,
                  struct reason *why)
{
    struct federation *federation = context;
    struct index_client *client = federation->client;
    struct text_scan *scan = memory_new(sizeof(*scan));
    struct index_stream_reader *streams = memory_zero(client->count, sizeof(*streams));
    struct buf request;
    enum status status = STATUS_OK;
    scan->federation = federation;
    buf_init(&request, FEDERATION_REQUEST_MAXIMUM);
    codec_put_u8(&request, INDEX_STREAM_LITERALS);
    codec_put_slice(&request, words);
    codec_put_varint(&request, most);
    for (size_t i = 0; i < client->count; i++) {
        if (!client->partitions[i].missing) {
            stream_start(&streams[i], client, i, buf_slice(&request));
        }
    }
    for (size_t i = 0; i < client->count; i++) {
        if (streams[i].client != NULL) {
            status = status == STATUS_OK ? read_found(scan, &streams[i], why) : status;
            stream_close(&streams[i]);
        }
    }
    free(streams);
    buf_release(&request);
    if (status != STATUS_OK) {
        federation_search_close(scan);
        *result = NULL;
        return status;
    }
    order_found(scan, most);
    *result = scan;
    return STATUS_OK;
}

enum status
federation_search_next(struct text_scan *scan, oid *literal, double *score, bool *end,
                       struct reason *why)
{
    (void)why;
    *end = scan->at == scan->count;
    if (!*end) {
        *literal = scan->found[scan->at].literal;
        *score = scan->found[scan->at].score;
        scan->at++;
    }
    return STATUS_OK;
}
