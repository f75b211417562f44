/* Inside of a federation: terms and life (federation.c), rows (federation_scan.c), keyword search
 * (federation_search.c). */
#ifndef INDEX_FEDERATION_PRIVATE_H
#define INDEX_FEDERATION_PRIVATE_H

#include "index/client_private.h"
#include "index/federation.h"
#include "index/term_set.h"

enum { FEDERATION_REQUEST_MAXIMUM = 8 << 20 };

/* Of one partition. */
struct member {
    bool begun; /* the session */
    oid *ids;   /* its identifiers of the federation's terms; OID_NONE: not known */
    size_t capacity;
};

struct federation {
    struct index_client *client;
    size_t memory, ids_memory;
    uint64_t session;
    struct term_set terms; /* identifier = index + 1; what can be inline is inline */
    struct member *members;
    struct known_estimate *estimates; /* the planner asks for the same again and again */
    size_t estimate_count;
    struct quad_source source;
};

enum status federation_id(struct federation *federation, const struct term *term, oid *id,
                          struct reason *why);
/* TERM_NONE for OID_NONE. text: for inline ones, living as long as the term. */
struct term federation_term(const struct federation *federation, oid id,
                            char text[OID_INLINE_TEXT]);
/* What the partition calls the term; OID_NONE: not known. */
oid federation_member_id(const struct federation *federation, size_t partition, oid id);
enum status federation_learn(struct federation *federation, size_t partition, oid id, oid its_id,
                             struct reason *why);
/* The only partition that can have quads of the graph; the number of partitions: all can. */
size_t federation_owner(const struct federation *federation, oid graph);

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

enum status federation_search(void *context, struct slice words, uint32_t most,
                              struct text_scan **scan, struct reason *why);
enum status federation_search_next(struct text_scan *scan, oid *literal, double *score, bool *end,
                                   struct reason *why);
void federation_search_close(struct text_scan *scan);

#endif
