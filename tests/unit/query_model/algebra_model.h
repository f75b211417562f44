/* The algebra of SPARQL as its specification defines it, over tables, without any thought of speed:
 * what the engine's answers are compared with. Source: https://www.w3.org/TR/sparql11-query/,
 * section 18.
 *
 * Terms are numbers whose order is that of ORDER BY; 0 is what is not bound.
 */
#ifndef TESTS_UNIT_QUERY_MODEL_ALGEBRA_MODEL_H
#define TESTS_UNIT_QUERY_MODEL_ALGEBRA_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { GRAPHS = 3, NODES = 80, PREDICATES = 3, NUMBERS = 100, VARIABLES = 7 };
enum { GRAPH_0 = 1, NODE_0 = GRAPH_0 + GRAPHS, PREDICATE_0 = NODE_0 + NODES };
enum { NUMBER_0 = PREDICATE_0 + PREDICATES, TERMS = NUMBER_0 + NUMBERS };
enum { ROWS_MOST = 3000, TRIPLES_MOST = 600 };

/* A term, or a variable: ~number. */
typedef int place;

struct pattern {
    place at[3];
};

struct group;

enum condition_kind {
    CONDITION_EQUAL,
    CONDITION_UNEQUAL,
    CONDITION_LESS,
    CONDITION_BOUND,
    CONDITION_IRI,
    CONDITION_IN, /* a is one of b and c */
    CONDITION_NOT,
    CONDITION_AND,
    CONDITION_OR,
    CONDITION_EXISTS,
    CONDITION_NOT_EXISTS,
    CONDITION_KINDS
};
struct condition {
    enum condition_kind kind;
    place a, b, c;
    const struct condition *left, *right;
    const struct group *group;
};

enum value_form { VALUE_PLACE, VALUE_PLUS, VALUE_IF, VALUE_COALESCE, VALUE_FORMS };

enum element_kind {
    ELEMENT_TRIPLES,
    ELEMENT_GROUP,
    ELEMENT_OPTIONAL,
    ELEMENT_UNION,
    ELEMENT_MINUS,
    ELEMENT_GRAPH,
    ELEMENT_FILTER,
    ELEMENT_BIND,
    ELEMENT_VALUES,
    ELEMENT_SELECT,
    ELEMENT_KINDS
};
struct element {
    enum element_kind kind;
    const struct group *groups[2];
    struct pattern patterns[3];
    size_t pattern_count;
    const struct condition *condition; /* of FILTER, and of BIND's IF */
    place graph;
    /* BIND */
    enum value_form form;
    unsigned variable;
    place a, b;
    /* VALUES: of two variables; and SELECT: which variables, whether different, how many at most,
     * the first of them in the order of all (0: all of them). */
    unsigned variables[2];
    unsigned values[4][2];
    size_t value_count;
    unsigned projected; /* a bit each */
    bool distinct;
    size_t limit;
};
enum { ELEMENTS_MOST = 5 };
struct group {
    struct element elements[ELEMENTS_MOST];
    size_t count;
};

struct row {
    uint16_t at[VARIABLES];
};
struct rows {
    struct row *list;
    size_t count, room;
};

struct triple {
    uint16_t at[3];
    unsigned graphs; /* a bit each */
};
struct model {
    struct triple triples[TRIPLES_MOST]; /* each once */
    size_t count;
    bool too_many; /* rows: nothing can be said of the query */
};

/* Computes the solutions of a group over the union of all graphs; free the list. */
void model_solve(struct model *model, const struct group *group, struct rows *out);
void model_add(struct model *model, struct rows *rows, const struct row *row);
void model_sort(struct rows *rows);
/* Sorts, and leaves each row once. */
void model_distinct(struct rows *rows);

#endif
