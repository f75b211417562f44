/* The algebra of https://www.w3.org/TR/sparql11-query/#sparqlQuery as a tree.
 *
 * Variables are slots: numbers of columns in a row of the whole query. A subquery has slots of
 * its own, and its ALGEBRA_PROJECT says which inner slot answers which outer one. Blank nodes of
 * patterns and computed columns without a name are slots as well. Constant terms are numbers in
 * the query's table, so that a run looks each up once.
 *
 * Every node knows its variables: `maybe` may be bound in a solution, `certain` are bound in all.
 * All memory is the query's arena. Read-only after query_prepare.
 */
#ifndef INDEX_QUERY_ALGEBRA_ALGEBRA_H
#define INDEX_QUERY_ALGEBRA_ALGEBRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "index/query/query.h"
#include "rdf/core/term.h"

/* NESTING bounds the parser's recursion, DEPTH that of everything which walks the trees. */
enum { SLOTS_MAXIMUM = 512, NESTING_MAXIMUM = 100, DEPTH_MAXIMUM = 1000 };
#define NUMBER_NONE UINT32_MAX

/* ---- sets of slots ---- */

struct slots {
    uint64_t words[SLOTS_MAXIMUM / 64];
};

static inline bool
slots_have(const struct slots *slots, uint32_t slot)
{
    return slots->words[slot / 64] >> (slot % 64) & 1;
}
static inline void
slots_add(struct slots *slots, uint32_t slot)
{
    slots->words[slot / 64] |= (uint64_t)1 << (slot % 64);
}
struct slots slots_union(const struct slots *a, const struct slots *b);
struct slots slots_both(const struct slots *a, const struct slots *b);
struct slots slots_without(const struct slots *a, const struct slots *b);
bool slots_within(const struct slots *part, const struct slots *whole);
bool slots_empty(const struct slots *slots);
bool slots_meet(const struct slots *a, const struct slots *b);
/* The first member at or after slot, SLOTS_MAXIMUM when there is none. */
uint32_t slots_next(const struct slots *slots, uint32_t slot);

/* ---- patterns ---- */

enum place_kind { PLACE_NONE, PLACE_SLOT, PLACE_CONSTANT, PLACE_BLANK };
struct place {
    enum place_kind kind;
    uint32_t number; /* slot; constant; blank node of a CONSTRUCT template */
};

enum path_kind {
    PATH_LINK,
    PATH_INVERSE,
    PATH_SEQUENCE,
    PATH_ALTERNATIVE,
    PATH_ZERO_OR_MORE,
    PATH_ONE_OR_MORE,
    PATH_ZERO_OR_ONE,
    PATH_NEGATED
};
struct path {
    enum path_kind kind;
    uint32_t constant;               /* LINK */
    const struct path *left, *right; /* operands; left alone of unary ones */
    uint32_t depth;
    /* NEGATED: constants that are excluded in each direction; whether that direction counts. */
    uint32_t *forward, *backward;
    size_t forward_count, backward_count;
};
/* Tells whether a negated set looks at edges of this direction at all. */
static inline bool
path_negates(const struct path *path, bool forward)
{
    return forward ? path->forward_count || !path->backward_count : path->backward_count > 0;
}

struct pattern {
    struct place subject, predicate, object;
    const struct path *path; /* not NULL: instead of the predicate */
};

/* ---- expressions ---- */

enum expression_kind {
    EXPRESSION_CONSTANT,
    EXPRESSION_VARIABLE,
    EXPRESSION_CALL,
    EXPRESSION_EXISTS
};
struct function; /* index/query/functions/function.h */
struct algebra;
struct expression {
    enum expression_kind kind;
    uint32_t number;                 /* constant or slot; EXISTS: its place in a run's plans */
    const struct function *function; /* CALL */
    const struct expression **arguments;
    size_t count;
    const struct algebra *pattern; /* EXISTS */
    struct slots slots;            /* all variables mentioned */
    uint32_t depth;                /* of the tree, at most DEPTH_MAXIMUM */
    bool exists;                   /* an EXISTS is somewhere inside */
    bool volatile_value;           /* RAND, UUID, BNODE: not the same at each call */
};

enum aggregate_kind {
    AGGREGATE_COUNT,
    AGGREGATE_SUM,
    AGGREGATE_MIN,
    AGGREGATE_MAX,
    AGGREGATE_AVG,
    AGGREGATE_SAMPLE,
    AGGREGATE_GROUP_CONCAT
};
struct aggregate {
    enum aggregate_kind kind;
    bool distinct;
    const struct expression *argument; /* NULL: COUNT(*) */
    /* The argument is a sum of so many values; NULL: one. */
    const struct expression *weight;
    struct slice separator;
    uint32_t slot;
};

/* ---- nodes ---- */

enum algebra_kind {
    ALGEBRA_UNIT, /* one solution without bindings */
    ALGEBRA_PATTERNS,
    ALGEBRA_JOIN,
    ALGEBRA_LEFT_JOIN, /* expression may be NULL */
    ALGEBRA_FILTER,
    ALGEBRA_UNION,
    ALGEBRA_MINUS,
    ALGEBRA_EXTEND,
    ALGEBRA_VALUES,
    ALGEBRA_GRAPH,
    ALGEBRA_SERVICE,
    ALGEBRA_GROUP,
    ALGEBRA_ORDER,
    ALGEBRA_PROJECT,
    ALGEBRA_DISTINCT,
    ALGEBRA_SLICE
};

struct slot_expression {
    uint32_t slot;
    const struct expression *expression; /* GROUP: NULL means the slot as it is */
};
struct order_key {
    const struct expression *expression;
    bool descending;
};
struct slot_pair {
    uint32_t inner, outer;
};

struct algebra {
    enum algebra_kind kind;
    struct algebra *left, *right;
    struct slots maybe, certain;
    uint32_t depth;                      /* of the tree, at most DEPTH_MAXIMUM */
    const struct expression *expression; /* FILTER, LEFT_JOIN, EXTEND */
    uint32_t slot;                       /* EXTEND */
    struct place graph;                  /* GRAPH, SERVICE */
    uint32_t inside;                     /* GRAPH ?g: slot of the graph within; see parse_graph */
    bool silent;                         /* SERVICE */
    struct pattern *patterns;            /* PATTERNS */
    size_t pattern_count, pattern_room;
    uint32_t *slots; /* VALUES: columns */
    size_t slot_count;
    uint32_t *constants; /* VALUES: rows times columns, NUMBER_NONE for UNDEF */
    size_t row_count;
    struct slot_expression *keys; /* GROUP */
    size_t key_count;
    bool partial;                 /* GROUP: without keys and rows there is no group */
    struct aggregate *aggregates; /* GROUP */
    size_t aggregate_count;
    struct order_key *order; /* ORDER */
    size_t order_count;
    struct slot_pair *pairs; /* PROJECT */
    size_t pair_count;
    uint64_t offset, limit; /* SLICE; limit UINT64_MAX: none */
};

/* One triple that CONSTRUCT makes, or an update adds or removes, for each solution. */
struct template_quad {
    struct pattern pattern;
    struct place graph; /* NONE: the default graph, and in CONSTRUCT */
    bool removal;
};

struct query {
    struct arena arena;
    enum query_form form;
    struct slice text, base;
    bool based; /* the text is not all: it was given a base */
    struct algebra *algebra;
    uint32_t slot_count;
    uint32_t exists_count;
    struct slice *slot_names; /* empty for those without a name */
    struct term *constants;
    size_t constant_count, constant_room;
    /* SELECT: columns. DESCRIBE: variables to describe. */
    struct slice *columns;
    uint32_t *column_slots;
    size_t column_count;
    struct place *described; /* DESCRIBE: IRIs and variables */
    size_t described_count;
    struct template_quad *template; /* CONSTRUCT and updates */
    size_t template_count, template_room;
    uint32_t template_blanks;
    uint32_t with; /* updates: constant, the default graph of the pattern */
    bool has_with;
    uint32_t *from, *from_named; /* constants */
    size_t from_count, from_named_count;
    bool has_dataset; /* FROM or FROM NAMED was there */
    bool ordered;
};

/* Constructors fill maybe and certain from their parts. NULL past the arena's maximum and past
 * DEPTH_MAXIMUM. */
struct algebra *algebra_new(struct arena *arena, enum algebra_kind kind);
struct algebra *algebra_binary(struct arena *arena, enum algebra_kind kind, struct algebra *left,
                               struct algebra *right, const struct expression *expression);
/* JOIN, but a UNIT on either side vanishes. */
struct algebra *algebra_join(struct arena *arena, struct algebra *left, struct algebra *right);
struct algebra *algebra_unary(struct arena *arena, enum algebra_kind kind, struct algebra *left);
struct algebra *algebra_extend(struct arena *arena, struct algebra *left, uint32_t slot,
                               const struct expression *expression);
/* Recomputes maybe and certain of one node after its parts were filled in. */
void algebra_update(struct algebra *node);
bool algebra_add_pattern(struct arena *arena, struct algebra *node, const struct pattern *pattern);
void slots_add_pattern(struct slots *slots, const struct pattern *pattern);

/* All slots that the node or anything below mentions, expressions included. */
struct slots algebra_mentioned(const struct algebra *node);

/* Returns whether joining the node with a solution is the same as evaluating it with that
 * solution's values, of slots in `left`, put in. unit: the solution is empty. */
bool algebra_takes_values(const struct algebra *node, const struct slots *left, bool unit);

#endif
