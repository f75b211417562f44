/* Many patterns at once over provenance: those of this graph, up to a thousand of which are opened
 * at a time so that their records are asked for in one go, and those of the other source, one after
 * the other. */
#ifndef INDEX_READ_PROVENANCE_MANY_H
#define INDEX_READ_PROVENANCE_MANY_H

#include "index/read/provenance.h"
#include "index/read/provenance_records.h"

struct provenance_many;
/* The patterns must live as long. */
struct provenance_many *provenance_many_new(struct provenance *provenance,
                                            const struct quad_oids *patterns, size_t count,
                                            bool graphs);
enum status provenance_many_next(struct provenance_many *many, struct quad_oids *rows,
                                 uint32_t *numbers, size_t most, size_t *n, struct reason *why);
void provenance_many_free(struct provenance_many *many); /* NULL is allowed */

/* ---- what it asks of provenance.c ---- */

static inline bool
provenance_owns(oid id)
{
    return id >= OID_OVERLAY && id < OID_LOCAL;
}
/* Returns whether the graph is that of the metadata's triples. */
bool provenance_is_graph(const struct provenance *provenance, oid graph);
/* Returns the source that has all other quads. */
const struct quad_source *provenance_inner(const struct provenance *provenance);
struct provenance_records *provenance_records_of(const struct provenance *provenance);

enum status provenance_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
                            struct quad_scan **scan, struct reason *why);
enum status provenance_scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most,
                                 size_t *n, struct reason *why);
void provenance_scan_close(struct quad_scan *scan);
/* Returns the key of the only record that the scan, which has not begun, reads; empty: it reads
 * none or many. */
struct slice provenance_scan_key(const struct quad_scan *scan);

#endif
