/* Shared by provenance.c and provenance_many.c. */
#ifndef INDEX_READ_PROVENANCE_PRIVATE_H
#define INDEX_READ_PROVENANCE_PRIVATE_H

#include "base/buf.h"
#include "index/read/provenance.h"
#include "index/read/provenance_records.h"
#include "index/terms/term_set.h"

enum { PREDICATES = 64 };

/* Identifiers of nodes: OID_OVERLAY, NODE, number of the record, number of the label. */
#define NODE ((oid)1 << 58)
#define LABEL_BITS 20
#define LABEL_MASK (((oid)1 << LABEL_BITS) - 1)

/* Blank nodes are numbered by where they came from, so that a pattern with one bound knows its
 * record. `owners` does the same for records of the archive, which have IRIs that do not tell. */
struct provenance {
    struct provenance_settings settings;
    struct quad_source source;
    const struct quad_source *inner;
    struct provenance_records *records;
    oid graph;             /* OID_NONE: nobody has asked for it yet */
    struct term_set terms; /* that only records have */
    struct term_set keys;  /* of records with nodes, as IRIs */
    struct term_set labels;
    struct term_set owners; /* id: number of the key */
    struct {
        const char *at; /* predicates are constant strings */
        oid id;
    } predicates[PREDICATES];
};

struct provenance_many;
enum reading { READ_KEY, READ_HOSTS, READ_DOCUMENTS, READ_END };

struct quad_scan {
    struct provenance *provenance;
    struct quad_scan *inner; /* of the other source; else all of what follows */
    struct quad_oids ids;
    struct quad wanted; /* TERM_NONE: any. A node: its label */
    struct arena arena; /* of wanted */
    enum reading reading;
    struct buf key; /* of the record being read, or read last */
    oid record;     /* its number + 1, once a node of it was given out */
    size_t rows_wanted;
    unsigned looked; /* records since the last look at the clock */
    enum status status;
    struct reason *why;
    struct quad_oids *rows;
    size_t count, capacity, at;
    struct provenance_many *many; /* not NULL: of many patterns, and none of what is above */
};

static inline bool
provenance_owns(oid id)
{
    return id >= OID_OVERLAY && id < OID_LOCAL;
}

enum status provenance_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
                            struct quad_scan **scan, struct reason *why);
enum status provenance_scan_next(struct quad_scan *scan, struct quad_oids *rows, size_t most,
                                 size_t *n, struct reason *why);
void provenance_scan_close(struct quad_scan *scan);

/* These functions answer many patterns at once: provenance_many.c. */
bool provenance_rather_many(void *context, oid graph);
enum status provenance_scan_many(void *context, const struct quad_oids *patterns, size_t count,
                                 bool graphs, struct quad_scan **scan, struct reason *why);
enum status provenance_scan_many_next(struct quad_scan *scan, struct quad_oids *rows,
                                      uint32_t *numbers, size_t most, size_t *n,
                                      struct reason *why);
void provenance_many_free(const struct provenance *provenance, struct provenance_many *many);

#endif
