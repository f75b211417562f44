/* An index of two partitions that are asked within this process, each graph whole in one of them,
 * and a source over them: for the tests of what partitions are asked for. */
#ifndef TESTS_UNIT_QUERY_PARTS_PARTED_SOURCE_H
#define TESTS_UNIT_QUERY_PARTS_PARTED_SOURCE_H

#include "index/query/plan/share_parts.h"
#include "tests/unit/query/plan_case.h"

enum { PARTITIONS_ASKED = 2, PARTED_MOST = 8192, PARTED_ANSWER = 1 << 22 };

struct parted {
    struct memory_source *all, *partitions[PARTITIONS_ASKED];
    const struct quad_source *plain; /* of all */
    struct quad_source source;
    struct arena arena;
    struct term added[PARTED_MOST]; /* that no stored quad has */
    size_t added_count;
    struct buf requests;
    enum status part_status;
    bool part_any; /* there are nodes of several partitions, as far as is known */
};
extern struct parted here;

/* Rows of all partitions. */
struct share_scan {
    oid *rows;
    size_t columns, count, at;
    unsigned partition;
    size_t counts[PARTITIONS_ASKED];
};

/* Of the whole program. */
int parted_open(void **state);
int parted_close(void **state);
/* The source's own, for one that had another meanwhile. */
enum status parted_part(void *context, enum key_places places, bool *any, struct reason *why);
/* A share_sink's functions, whose context is a share_scan. */
enum status parted_take(void *context, struct dictionary *dictionary, const oid *row,
                        size_t columns, struct reason *why);
enum status parted_end(void *context, struct dictionary *dictionary, struct reason *why);

/* ---- parted_plans.c ---- */

struct shared_plan {
    const char *query, *plan, *requests;
    uint64_t rows, scanned, scans; /* as the run reports them */
};

struct query *parted_query(const char *text);
/* The plan, the requests and the numbers of its run are as they are wanted, and the answer is what
 * one source of all graphs says. */
void parted_check(const struct shared_plan *wanted, const struct query_options *options);

#endif
