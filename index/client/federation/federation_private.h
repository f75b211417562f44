/* Inside of a federation: life, source and estimates (federation.c), terms (federation_terms.c),
 * rows (federation_scan.c), parts of a query (federation_share.c), what both read
 * (federation_stream.c), counts of triples (federation_counts.h), values by their digests
 * (federation_values.h), nodes of several partitions
 * (federation_parting.c), keyword search (federation_search.c). */
#ifndef INDEX_CLIENT_FEDERATION_FEDERATION_PRIVATE_H
#define INDEX_CLIENT_FEDERATION_FEDERATION_PRIVATE_H

#include "index/client/federation/federation.h"
#include "index/client/partitions/client_calls.h"
#include "index/terms/term_set.h"

enum { FEDERATION_REQUEST_MAXIMUM = 8 << 20 };

/* One partition of the federation. */
struct member {
    bool begun; /* the session */
    oid *ids;   /* its identifiers of the federation's terms; OID_NONE: not known */
    size_t capacity;
};

/* The nodes that several partitions have, as of the session. */
struct parted {
    bool asked, limit;
};

struct federation {
    struct index_client *client;
    struct parted parted[KEY_PLACES];
    size_t memory, ids_memory;
    uint64_t session;
    struct term_set terms; /* identifier = index + 1; what can be inline is inline */
    struct member *members;
    struct known_estimate *estimates; /* the planner asks for the same again and again */
    size_t estimate_count;
    struct quad_source source;
};

/* Tells whether the identifier stands for one of the federation's terms: it is neither inline nor
 * local, and means something else in the next federation. */
bool federation_is_numbered(const struct federation *federation, oid id);
enum status federation_id(struct federation *federation, const struct term *term, oid *id,
                          struct reason *why);
/* TERM_NONE for OID_NONE. text: for inline ones, living as long as the term. */
struct term federation_term(const struct federation *federation, oid id,
                            char text[OID_INLINE_TEXT]);
/* Returns the identifier that the partition has for the term; OID_NONE when it has none. */
oid federation_member_id(const struct federation *federation, size_t partition, oid id);
enum status federation_learn(struct federation *federation, size_t partition, oid id, oid its_id,
                             struct reason *why);
/* The only partition that can have quads of the graph; the number of partitions: all can. */
size_t federation_owner(const struct federation *federation, oid graph);

/* ---- streams of rows ---- */

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

/* Sees which nodes several partitions have, once: the source's `part`. */
enum status federation_part(void *context, enum key_places places, bool *any, struct reason *why);
/* Appends those of the partition, after federation_part: `u64` epoch, `v` number, `v` places. */
void federation_put_shared(const struct federation *federation, enum key_places places,
                           size_t partition, struct buf *out);

enum status federation_share(void *context, const struct share_request *request,
                             struct share_scan **scan, struct reason *why);
enum status federation_share_next(struct share_scan *scan, oid *rows, size_t most, size_t *n,
                                  struct reason *why);
void federation_share_close(struct share_scan *scan);

enum status federation_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
                            struct quad_scan **scan, struct reason *why);
enum status federation_scan_many(void *context, const struct quad_oids *patterns, size_t count,
                                 bool graphs, struct quad_scan **scan, struct reason *why);
enum status federation_scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most,
                                 size_t *n, struct reason *why);
enum status federation_scan_many_next(struct quad_scan *scan, struct quad_oids *rows,
                                      uint32_t *numbers, size_t most, size_t *n,
                                      struct reason *why);
void federation_scan_close(struct quad_scan *scan);

enum status federation_count_triples(void *context, const struct count_request *request,
                                     struct triple_count **counts, size_t *n, struct reason *why);

enum status federation_count_values(void *context, const struct count_request *request,
                                    bool different, struct value_count **counts, size_t *count,
                                    struct reason *why);

enum status federation_search(void *context, struct slice words, uint32_t most,
                              struct text_scan **scan, struct reason *why);
enum status federation_search_next(struct text_scan *scan, oid *literal, double *score, bool *end,
                                   struct reason *why);
void federation_search_close(struct text_scan *scan);

#endif
