/* What expressions are evaluated over in test_expression and its parts: a source of quads that has
 * no quads, but identifiers of which each tells what term it is of. */
#ifndef TESTS_UNIT_QUERY_PARTS_EXPRESSION_BED_H
#define TESTS_UNIT_QUERY_PARTS_EXPRESSION_BED_H

#include "index/query/functions/expression.h"

/* Identifiers below IRIS are of integers, those from there on of IRIs, but for two. */
enum { IRIS = 1000, A_DATE = 2000, A_MOMENT, FIRST_INTEGER = 5000 };

struct expression_bed {
    struct quad_source source;
    struct memory_account account;
    struct spill spill;
    struct dictionary dictionary;
    struct evaluation evaluation;
    unsigned resolved, looked_up;
    enum status failure; /* of both */
    const char *reason;
};
extern struct expression_bed bed;

/* Of each case. */
int begin(void **state);
int end(void **state);

/* For bed.source: what identifiers say, and an identifier of each integer but 8, from FIRST_INTEGER
 * on. */
bool value_said(oid id, struct oid_value *value);
enum term_kind kind_said(oid id);
oid id_of_integer(int64_t integer);

/* told_functions.c: runs its tests, returns how many failed. */
int told_functions_run(void);

#endif
