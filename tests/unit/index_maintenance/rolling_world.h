/* A model of an index that is written to, for counts over it: the linker puts it in the place of
 * the index's snapshots, trees and readers. */
#ifndef TESTS_UNIT_INDEX_MAINTENANCE_ROLLING_WORLD_H
#define TESTS_UNIT_INDEX_MAINTENANCE_ROLLING_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/maintenance/verify_rolling.h"

enum {
    GRAPHS = 6,
    SUBJECTS = 4,
    PREDICATES = 3,
    OBJECTS = 3,
    QUADS = GRAPHS * SUBJECTS * PREDICATES * OBJECTS,
    BATCHES_MOST = 12,
    ROWS_AT_ONCE = 5
};

/* The first predicate is rdf:type. Quads are in the order CSPO. */
#define TYPE oid_stored(101, OID_KIND_IRI)

extern struct quad_oids universe[QUADS];
extern bool here[QUADS], written[QUADS]; /* as read; with all batches, too */
extern size_t first_batch, batch_count;
extern size_t late; /* batches that the writer commits before it is kept away */
extern struct partition partition;
extern size_t readers, scans, locks; /* open, open, in all */
extern size_t behind;                /* batches that were waiting when the writer was kept away */
extern enum failing { NOTHING, OPEN, FIND, RESOLVE, SCAN, READ, CHECK } failing;
extern uint64_t chance;

uint64_t next_chance(uint64_t below);
/* One batch more, which turns around some quads; a graph without quads is no document. */
void write_batch(size_t changes);
/* Reads the state after the next batch. */
void go_on(void);

#endif
