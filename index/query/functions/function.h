/* The table of operators and functions: section 17 of
 * https://www.w3.org/TR/sparql11-query/#expressions.
 */
#ifndef INDEX_QUERY_FUNCTIONS_FUNCTION_H
#define INDEX_QUERY_FUNCTIONS_FUNCTION_H

#include "index/quad_source.h"
#include "index/query/algebra/algebra.h"

struct evaluation; /* index/query/functions/expression.h */
struct value;      /* index/query/values/value.h */

/* Gets values, none of them an error. False: an error. */
typedef bool function_apply(struct evaluation *evaluation, const struct value *arguments,
                            size_t count, struct value *out);
/* Evaluates its arguments itself: functional forms. False: an error. */
typedef bool function_form(struct evaluation *evaluation, const struct expression *call,
                           const oid *row, struct value *out);

/* The identifier of what the form gives; OID_NONE: an error. */
typedef oid function_id(struct evaluation *evaluation, const struct expression *call,
                        const oid *row);

enum { FUNCTION_ANY = 255 }; /* arguments without a maximum */
enum function_relation {
    RELATION_LESS = 1,
    RELATION_EQUAL = 2,
    RELATION_GREATER = 4,
    RELATION_UNEQUAL = RELATION_LESS + RELATION_GREATER
};

struct function {
    const char *name; /* keyword in capitals, operator, or IRI */
    uint8_t least, most;
    bool volatile_value;
    bool numbers; /* of numbers and moments it takes nothing but the value, not how it is written */
    uint8_t relation; /* of a comparison: the sum of those of enum function_relation that it asks */
    function_apply *apply;
    function_form *form; /* either this or apply */
    /* Does what expression_id does, where that takes no value, or less work; or NULL. */
    function_id *id;
};

/* Finds a function by its keyword (any case) or operator; NULL when there is none. */
const struct function *function_find(struct slice name);
/* Finds a function by its IRI: the casts of section 17.5. */
const struct function *function_find_iri(struct slice iri);

#endif
