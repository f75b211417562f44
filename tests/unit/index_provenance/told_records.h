/* A metadata store and a source of quads that a test tells what to say. Calls are noted in `calls`
 * as lines. The linker puts the store's functions in the place of the client's, and a clock of the
 * test's own in the place of the system's. */
#ifndef TESTS_UNIT_INDEX_PROVENANCE_TOLD_RECORDS_H
#define TESTS_UNIT_INDEX_PROVENANCE_TOLD_RECORDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "index/read/provenance.h"

/* A record is lines "subject predicate object": "_:label", a word after a quote, or an IRI. One
 * that starts with "!" cannot be read: "!misuse", "!damaged". */
struct told_record {
    const char *key, *record;
};

struct told {
    struct buf calls;
    uint64_t now, ticks; /* of the clock, and by how much each look at it moves it */
    /* The store. */
    const struct told_record *records; /* ascending by key */
    size_t count;
    unsigned waits; /* before a get is answered; UINT32_MAX: never */
    unsigned waited;
    enum status opens, gets, scans; /* how these end */
    bool without_reason;            /* a get that fails gives none */
    size_t clients;                 /* open */
    metastore_got *done;            /* of the get that is under way */
    void *done_context;
    size_t asked; /* keys of it */
    struct slice keys[2048];
    atomic_bool cancel;
    size_t visits, cancel_at; /* visits of scans; the one at which the query is cancelled */
    /* The other source. Its terms are http://known.example/1 to 999. */
    enum status lookups, resolves, inner_scans, inner_reads, estimates;
    size_t open; /* scans */
    size_t rows; /* of each pattern */
    bool rather;
};
extern struct told told;

/* What it does; without scan_many. */
extern const struct quad_source told_source;

/* Nothing is stored, all goes well. */
int told_begin(void **state);
int told_end(void **state);
/* Compares the calls since the last comparison. */
void told_calls(const char *expected);
/* Answers the get that is under way. */
void told_answer(void);

enum status told_scan_many(void *context, const struct quad_oids *patterns, size_t count,
                           bool graphs, struct quad_scan **scan, struct reason *why);
enum status told_scan_many_next(struct quad_scan *scan, struct quad_oids *rows, uint32_t *numbers,
                                size_t most, size_t *n, struct reason *why);
bool told_rather_many(void *context, oid graph);
enum status told_estimate_star(void *context, const oid *predicates, size_t count, double *subjects,
                               double *rows, struct reason *why);

#endif
