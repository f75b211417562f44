#include "index/federation.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/client_private.h"
#include "index/term_set.h"
#include "rdf/nquads.h"

enum { REQUEST_MAXIMUM = 8 << 20, LITERALS_MAXIMUM = 1 << 28 };

struct federation {
    struct index_client *client;
    size_t memory;
    struct term_set terms; /* identifier = index + 1 */
    struct quad_source source;
};

/* Rows of one partition after the other, as their lines come in. */
struct quad_scan {
    struct federation *federation;
    struct buf request;
    size_t partition;
    bool open;
    struct index_stream_reader stream;
    struct nquads_reader *reader;
    struct quad_oids *rows;
    size_t count, capacity, at;
};

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

static enum status
identifier_of(struct federation *federation, const struct term *term, oid *id, struct reason *why)
{
    if (term_set_bytes(&federation->terms) > federation->memory) {
        return status_fail(why, STATUS_LIMIT, "the query touches too many terms");
    }
    *id = (oid)term_set_add(&federation->terms, term) + 1;
    return STATUS_OK;
}

static enum status
federation_lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    return identifier_of(context, term, id, why);
}

static enum status
federation_resolve(void *context, oid id, struct arena *arena, struct term *term,
                   struct reason *why)
{
    struct federation *federation = context;
    if (id == OID_NONE || id > federation->terms.count) {
        return status_fail(why, STATUS_CORRUPT, "no term has the identifier %llu",
                           (unsigned long long)id);
    }
    return term_copy(arena, &federation->terms.terms[id - 1].term, term)
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "a term does not fit in memory");
}

static struct term
term_of(const struct federation *federation, oid id)
{
    struct term any = {.kind = TERM_NONE};
    if (id == OID_NONE || id > federation->terms.count) {
        return any;
    }
    return federation->terms.terms[id - 1].term;
}

static struct quad
pattern_of(const struct federation *federation, const struct quad_oids *ids)
{
    return (struct quad){term_of(federation, ids->subject), term_of(federation, ids->predicate),
                         term_of(federation, ids->object), term_of(federation, ids->graph)};
}

/* ---- scans ---- */

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct quad_scan *scan = context;
    if (scan->count == scan->capacity) {
        scan->capacity = scan->capacity ? 2 * scan->capacity : 256;
        scan->rows = memory_resize(scan->rows, scan->capacity, sizeof(*scan->rows));
    }
    struct quad_oids *row = &scan->rows[scan->count];
    TRY(identifier_of(scan->federation, &quad->subject, &row->subject, why));
    TRY(identifier_of(scan->federation, &quad->predicate, &row->predicate, why));
    TRY(identifier_of(scan->federation, &quad->object, &row->object, why));
    TRY(identifier_of(scan->federation, &quad->graph, &row->graph, why));
    scan->count++;
    return STATUS_OK;
}

static enum status
federation_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
                struct quad_scan **result, struct reason *why)
{
    struct federation *federation = context;
    *result = NULL;
    if (order != ORDER_COUNT) {
        return status_fail(why, STATUS_UNSUPPORTED, "rows of several partitions have no order");
    }
    struct quad_scan *scan = memory_zero(1, sizeof(*scan));
    scan->federation = federation;
    buf_init(&scan->request, REQUEST_MAXIMUM);
    codec_put_u8(&scan->request, INDEX_STREAM_PATTERN);
    codec_put_varint(&scan->request, 0);
    const struct quad terms = pattern_of(federation, pattern);
    index_put_pattern(&scan->request, &terms);
    *result = scan;
    return STATUS_OK;
}

static void
end_partition(struct quad_scan *scan)
{
    if (scan->open) {
        stream_close(&scan->stream);
        nquads_reader_free(scan->reader);
        scan->open = false;
    }
}

/* The next bytes of the partition at hand; goes on to the next one at its end. */
static enum status
read_more(struct quad_scan *scan, struct reason *why)
{
    const struct quad_sink sink = {take_quad, scan};
    struct slice bytes;
    enum status status = STATUS_OK;
    if (!scan->open) {
        scan->reader = nquads_reader_new(NULL, false, &sink);
        scan->open = true;
        status = stream_open(&scan->stream, scan->federation->client, scan->partition,
                             buf_slice(&scan->request), why);
    }
    if (status == STATUS_OK) {
        status = stream_next(&scan->stream, &bytes, why);
    }
    if (status == STATUS_OK) {
        return nquads_reader_feed(scan->reader, bytes, why);
    }
    if (status == STATUS_END) {
        status = nquads_reader_finish(scan->reader, why);
        end_partition(scan);
        scan->partition++;
    }
    return status;
}

static enum status
federation_scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
                     struct reason *why)
{
    while (scan->at == scan->count && scan->partition < scan->federation->client->count) {
        scan->at = scan->count = 0;
        TRY(read_more(scan, why));
    }
    const size_t left = scan->count - scan->at;
    *n = left < most ? left : most;
    if (*n > 0) {
        memcpy(rows, scan->rows + scan->at, *n * sizeof(*rows));
    }
    scan->at += *n;
    return STATUS_OK;
}

static void
federation_scan_close(struct quad_scan *scan)
{
    if (scan != NULL) {
        end_partition(scan);
        buf_release(&scan->request);
        free(scan->rows);
        free(scan);
    }
}

static enum status
federation_estimate(void *context, const struct quad_oids *pattern, uint64_t *rows,
                    struct reason *why)
{
    struct federation *federation = context;
    const struct quad terms = pattern_of(federation, pattern);
    struct buf request, reply;
    buf_init(&request, REQUEST_MAXIMUM);
    buf_init(&reply, 64);
    index_put_pattern(&request, &terms);
    enum status status = STATUS_OK;
    *rows = 0;
    for (size_t i = 0; i < federation->client->count && status == STATUS_OK; i++) {
        buf_reset(&reply);
        status = rpc_call(federation->client->partitions[i], INDEX_VERB_ESTIMATE,
                          buf_slice(&request), federation->client->timeout_ms, &reply, why);
        struct codec_reader in = codec_reader_of(buf_slice(&reply));
        *rows += status == STATUS_OK ? codec_get_u64(&in) : 0;
    }
    buf_release(&request);
    buf_release(&reply);
    return status;
}

/* ---- search ---- */

/* A literal in N-Triples form is read as the object of a triple made up around it. */
static enum status
take_literal(void *context, const struct quad *quad, struct reason *why)
{
    struct text_scan *scan = context;
    oid id = OID_NONE;
    TRY(identifier_of(scan->federation, &quad->object, &id, why));
    if (scan->count == scan->capacity) {
        scan->capacity = scan->capacity ? 2 * scan->capacity : 64;
        scan->found = memory_resize(scan->found, scan->capacity, sizeof(*scan->found));
    }
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

static enum status
search_partition(struct text_scan *scan, size_t partition, struct slice request, struct reason *why)
{
    struct index_stream_reader stream;
    struct buf text;
    struct slice bytes;
    buf_init(&text, LITERALS_MAXIMUM);
    enum status status = stream_open(&stream, scan->federation->client, partition, request, why);
    while (status == STATUS_OK && (status = stream_next(&stream, &bytes, why)) == STATUS_OK) {
        status = buf_append_slice(&text, bytes) == STATUS_OK
                     ? STATUS_OK
                     : status_fail(why, STATUS_LIMIT, "the search finds too much text");
    }
    if (status == STATUS_END) {
        status = take_lines(scan, buf_slice(&text), why);
    }
    stream_close(&stream);
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

static void
federation_search_close(struct text_scan *scan)
{
    if (scan != NULL) {
        free(scan->found);
        free(scan);
    }
}

/* The same literal may be found in several partitions: it counts once, with its best score. */
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

static enum status
federation_search(void *context, struct slice words, uint32_t most, struct text_scan **result,
                  struct reason *why)
{
    struct text_scan *scan = memory_zero(1, sizeof(*scan));
    struct buf request;
    scan->federation = context;
    buf_init(&request, REQUEST_MAXIMUM);
    codec_put_u8(&request, INDEX_STREAM_LITERALS);
    codec_put_slice(&request, words);
    codec_put_varint(&request, most);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < scan->federation->client->count && status == STATUS_OK; i++) {
        status = search_partition(scan, i, buf_slice(&request), why);
    }
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

static enum status
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

/* ---- life ---- */

struct federation *
federation_new(struct index_client *client, size_t memory)
{
    struct federation *federation = memory_zero(1, sizeof(*federation));
    federation->client = client;
    federation->memory = memory;
    term_set_init(&federation->terms);
    federation->source = (struct quad_source){.context = federation,
                                              .lookup = federation_lookup,
                                              .resolve = federation_resolve,
                                              .scan = federation_scan,
                                              .scan_next = federation_scan_next,
                                              .scan_close = federation_scan_close,
                                              .estimate = federation_estimate,
                                              .search = federation_search,
                                              .search_next = federation_search_next,
                                              .search_close = federation_search_close};
    return federation;
}

void
federation_free(struct federation *federation)
{
    if (federation != NULL) {
        term_set_release(&federation->terms);
        free(federation);
    }
}

const struct quad_source *
federation_source(struct federation *federation)
{
    return &federation->source;
}
