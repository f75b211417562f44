/* A source for the parts of test_query_plans, and an answer that is counted. */
#ifndef TESTS_UNIT_QUERY_PLAN_CASE_H
#define TESTS_UNIT_QUERY_PLAN_CASE_H

#include "tests/unit/query/query_case.h"

enum { PLAN_SUBJECTS = 4000, PLAN_VALUES = 60 };
#define PREFIXES "PREFIX : <http://example.org/> "

/* :hub has PLAN_VALUES values of each of three predicates. Every subject has a class and a label,
 * in two graphs, each second one a description and each third one knows the next but one, and the
 * hub. */
struct memory_source *plan_source(void);

struct counted_answer {
    uint64_t rows;
    long long number; /* the last column of the last row */
};
/* A query_sink's row, whose context is a counted_answer. */
enum status plan_take_row(void *context, const struct term *terms, size_t n, struct reason *why);

/* ---- plan_shapes.c ---- */

void plans_have_their_shapes(void **state);

/* ---- plan_watched.c ---- */

void test_every_operator_stops(void **state);
void test_kinds_are_told_by_identifiers(void **state);
void test_sets_of_predicates_are_asked_for_once(void **state);
void test_orders_that_are_asked_for(void **state);
void test_rows_are_told_by_sets_of_predicates(void **state);

#endif
