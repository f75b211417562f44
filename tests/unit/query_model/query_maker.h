/* Queries by chance, with what they say as a tree and as text. */
#ifndef TESTS_UNIT_QUERY_MODEL_QUERY_MAKER_H
#define TESTS_UNIT_QUERY_MODEL_QUERY_MAKER_H

#include "base/buf.h"
#include "tests/unit/query_model/algebra_model.h"

struct maker {
    struct arena *arena; /* of what it makes */
    unsigned seed;
    unsigned nodes;  /* that occur in the data */
    unsigned places; /* of a pattern are variables so often, of ten */
};

unsigned maker_chance(struct maker *maker, unsigned below);
place maker_term(struct maker *maker, unsigned position);
const struct group *maker_group(struct maker *maker, unsigned depth);

void print_place(struct buf *out, place at);
void print_group(struct buf *out, const struct group *group);
/* All variables that occur in it, a bit each. */
unsigned group_variables(const struct group *group);

#endif
