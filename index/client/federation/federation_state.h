/* A federation: which file owns what of it, and the functions of its quad source that stand in
 * files of their own. federation.c has life and estimates; the client, the session and the source
 * are constant. */
#ifndef INDEX_CLIENT_FEDERATION_FEDERATION_STATE_H
#define INDEX_CLIENT_FEDERATION_FEDERATION_STATE_H

#include "index/client/federation/federation_stream.h"
#include "index/client/federation/federation_terms.h"

enum { FEDERATION_REQUEST_MAXIMUM = 8 << 20 };

struct federation {
    struct index_client *client;
    uint64_t session;
    struct quad_source source;
    struct federation_terms terms;
    bool *begun; /* the session, by partition: federation_stream.c */
    /* Says whether the nodes that several partitions have were asked for, and were too many;
     * federation_keys.c changes it. */
    struct nodes_asked {
        bool asked, limit;
    } nodes[KEY_PLACES];
    struct known_estimates *estimates; /* the planner asks for the same again and again */
};

/* federation_keys.c: sees which nodes several partitions have, once; the source's `part`. */
enum status federation_part(void *context, enum key_places places, bool *any, struct reason *why);
/* Appends those of the partition, after federation_part: `u64` epoch, `v` number, `v` places. */
void federation_put_shared(const struct federation *federation, enum key_places places,
                           size_t partition, struct buf *out);

/* federation_share.c */
enum status federation_share(void *context, const struct share_request *request,
                             struct share_scan **scan, struct reason *why);
enum status federation_share_next(struct share_scan *scan, oid *rows, size_t most, size_t *n,
                                  struct reason *why);
void federation_share_close(struct share_scan *scan);

/* federation_scan.c */
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

/* federation_counts.c */
enum status federation_count_triples(void *context, const struct count_request *request,
                                     struct triple_count **counts, size_t *n, struct reason *why);

/* federation_values.c */
enum status federation_count_values(void *context, const struct count_request *request,
                                    bool different, struct value_count **counts, size_t *count,
                                    struct reason *why);

/* federation_search.c */
enum status federation_search(void *context, struct slice words, uint32_t most,
                              struct text_scan **scan, struct reason *why);
enum status federation_search_next(struct text_scan *scan, oid *literal, double *score, bool *end,
                                   struct reason *why);
void federation_search_close(struct text_scan *scan);

#endif
