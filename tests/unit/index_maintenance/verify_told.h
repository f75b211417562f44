/* Stores of a partition that say what a test tells them, for verifying. The linker puts them in the
 * place of the partition's. */
#ifndef TESTS_UNIT_INDEX_MAINTENANCE_VERIFY_TOLD_H
#define TESTS_UNIT_INDEX_MAINTENANCE_VERIFY_TOLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/maintenance/verify_rolling.h"
#include "index/write/partition_state.h"

enum { REPORT_MOST = 1 << 20, TREES = 2, DOCUMENTS_MOST = 600, LINES = 400 };

/* What can fail; those that CORRUPT does not end come first. */
enum call {
    MERGE_STAGED,
    COPY_PAGES,
    WORDS,
    NODES,
    FIND_STORED,
    KEYS,
    STEP,
    DOCUMENT,
    ROLLING_DOCUMENT,
    SUBJECTS,
    LINES_OF,
    CHANGE_LOG,
    COUNTS,
    COMPARISON,
    FOUND_CALLS,
    HEALTH = FOUND_CALLS,
    WRITE_WORDS,
    OPEN,
    LOCK,
    CALLS
};
extern const char *const names[CALLS]; /* a failure says */

struct document {
    oid graph;
    struct document_entry entry;
};

struct told {
    enum status ends;
    enum call call;
    unsigned at; /* the call of its kind that fails, from 1 on */
    unsigned calls[CALLS];
    struct partition_stats stats;
    uint64_t more_terms; /* that are committed after the first look */
    uint64_t stored;     /* terms */
    uint64_t gap;        /* a number that no term has */
    uint64_t lost;       /* a term that is not found */
    uint64_t twice;      /* a term that is as the one two before it */
    const char *text;    /* of each term, after its number; NULL: none */
    size_t sets[16];     /* how many terms were looked up at once */
    uint64_t keys, greatest;
    struct rolling_tree trees[ORDER_COUNT];
    uint64_t documents, document_quads;
    struct document stored_documents[DOCUMENTS_MOST];
    size_t document_count, lines;
    size_t counted;
    uint64_t predicate_quads[4], class_quads[4];
    size_t predicates, classes;
    int64_t tallied; /* of the first predicate and class */
    uint64_t searched, batches;
    unsigned refused, lines_reported; /* the report's line that is not taken */
    oid next_graph;                   /* when the writer was kept away last */
    bool cancelled;                   /* by the call that would fail */
    unsigned opened, locked;
};
extern struct told told;

extern struct partition partition;
extern struct buf report;
extern atomic_bool cancel;
extern struct reason why;

int begin_told(void **state);
int end_told(void **state);
/* The writer is free afterwards, and what was opened is closed. */
enum status verify_told(void);

#endif
