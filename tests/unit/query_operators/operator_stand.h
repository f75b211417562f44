/* Operators alone, over rows that a test gives them, and what they answer. */
#ifndef TESTS_UNIT_QUERY_OPERATORS_OPERATOR_STAND_H
#define TESTS_UNIT_QUERY_OPERATORS_OPERATOR_STAND_H

#include "index/query/run/run.h"
#include "tests/unit/query/query_case.h"

/* Rows of the stand's width, one after the other. */
struct given {
    oid *cells;
    size_t width, count, room;
};
void given_init(struct given *given, size_t width);
/* Empties it. */
void given_release(struct given *given);
/* Adds a row with these cells first and OID_NONE behind them. */
void given_add(struct given *given, const oid *cells, size_t count);
#define GIVE(given, ...) \
    given_add(given, (const oid[]){__VA_ARGS__}, sizeof((const oid[]){__VA_ARGS__}) / sizeof(oid))
static inline oid *
given_row(const struct given *given, size_t at)
{
    return given->cells + at * given->width;
}
/* Sorts rows, whose order is not promised. */
void given_sort(struct given *given);
void assert_same_rows(const struct given *found, const struct given *wanted, const char *what);

/* A run without a plan. */
struct stand {
    struct query *query;
    struct query_options options;
    struct memory_source *memory;
    struct quad_source source;
    struct run run;
    atomic_bool cancel;
    unsigned checks, cancel_at; /* looks at the deadline; at which it is cancelled, 0: none */
};
/* memory 0: what is usual; else the bytes, with temporary files. */
void stand_open(struct stand *stand, const char *trig, const char *text, size_t width,
                size_t memory);
/* Closes the operators; they must have given back all that is in files. */
void stand_close(struct stand *stand);

/* An operator that gives so many of the rows at a time, and again after a reset. */
struct operator* give_rows(struct stand *stand, const struct given *rows, size_t piece);
/* How often it was reset. */
unsigned given_resets(const struct operator* operator);

/* All rows, in batches that are not larger than promised; at the end it stays. */
void take_rows(struct stand *stand, struct operator* operator, struct given * rows);
/* As many batches as until there is an error, which is returned. */
enum status take_failing(struct operator* operator, struct reason * why);

#endif
