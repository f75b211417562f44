/* Evaluates expressions over rows. An error (unbound, wrong type) is `false`: SPARQL's errors are
 * values of its logic. What must end the query (time, memory, storage) goes to `status`, and the
 * caller checks it after each row with evaluation_check.
 */
#ifndef INDEX_QUERY_FUNCTIONS_EXPRESSION_H
#define INDEX_QUERY_FUNCTIONS_EXPRESSION_H

#include "base/system/clock.h"
#include "index/query/algebra/algebra.h"
#include "index/query/functions/function.h"
#include "index/query/memory/dictionary.h"
#include "index/query/values/regex.h"
#include "index/query/values/value.h"

enum { BLANK_LABELS = 16 };

/* A result that an expression of one variable gave, with the value of the variable. */
struct known_result {
    const void *owner; /* struct remembered; NULL: free */
    oid value, id;
};
enum { KEPT_VALUES = 16 };
struct evaluation {
    const struct query *query;
    struct dictionary *dictionary;
    const oid *constants;       /* identifiers of the query's constants */
    const struct value *values; /* and their values */
    struct arena scratch;       /* computed text; emptied between rows */
    struct regex_cache regexes;
    struct term now;
    char now_text[CLOCK_TEXT_SIZE];
    uint64_t random[2];
    uint64_t blanks; /* blank nodes made so far */
    struct {         /* BNODE("label") of the present solution */
        struct slice label;
        uint64_t number;
    } labels[BLANK_LABELS];
    size_t label_count;
    struct known_result *results; /* NULL: none yet */
    struct {
        oid id;
        size_t trims; /* of the dictionary, whose terms the value has */
        struct value value;
    } kept[KEPT_VALUES];
    unsigned depth; /* of EXISTS inside EXISTS */
    enum status (*exists)(void *context, const struct expression *exists, const oid *row,
                          bool *answer, struct reason *why);
    void *exists_context;
    enum status status;
    struct reason reason;
};

void evaluation_init(struct evaluation *evaluation, const struct query *query,
                     struct dictionary *dictionary, const oid *constants,
                     const struct value *values, uint64_t now_ms);
void evaluation_release(struct evaluation *evaluation);
/* Before each row: forgets what earlier rows computed. */
void evaluation_next_row(struct evaluation *evaluation);
enum status evaluation_check(const struct evaluation *evaluation, struct reason *why);

bool expression_value(struct evaluation *evaluation, const struct expression *expression,
                      const oid *row, struct value *out);
/* Effective boolean value: 1, 0, or -1 for an error. */
int expression_test(struct evaluation *evaluation, const struct expression *expression,
                    const oid *row);
/* Does it by identifiers, where they say enough of two values that are compared; -1: they do not.
 */
int expression_test_identifiers(const struct evaluation *evaluation,
                                const struct expression *expression, const oid *row);
/* The identifier of the value; OID_NONE for an error. */
oid expression_id(struct evaluation *evaluation, const struct expression *expression,
                  const oid *row);
/* An expression with what it was for the row before, for rows that are equal in all that it
 * mentions and often come one after the other. What expression_id gave for one variable is kept
 * for longer (evaluation.results). Zeroed, then prepared. */
enum { REMEMBERED_SLOTS = 4 };
struct remembered {
    const struct expression *expression;
    bool steady; /* it is the same for such rows, and takes some work */
    uint32_t slots[REMEMBERED_SLOTS];
    oid seen[REMEMBERED_SLOTS];
    size_t count;
    unsigned asked; /* how often it was evaluated, at least */
    bool known;     /* for rows with what was seen: */
    int test;
    oid id;
};
void remembered_prepare(struct remembered *remembered, const struct expression *expression);
/* Do what expression_test and expression_id do. Of one expression only one of the two may be
 * called, since both remember the same row. */
int remembered_test(struct remembered *remembered, struct evaluation *evaluation, const oid *row);
oid remembered_id(struct remembered *remembered, struct evaluation *evaluation, const oid *row);
/* The identifier of an operand that is a variable or a constant; OID_NONE of others. */
oid operand_id(const struct evaluation *evaluation, const struct expression *operand,
               const oid *row);
/* Tells by identifiers whether two terms are equal: 1 or 0; -1: the terms have to be looked at. */
int identifiers_equal(const struct evaluation *evaluation, oid a, oid b);
/* Reads the value that an identifier says by itself; false: it says none. */
bool identifier_says(const struct evaluation *evaluation, oid id, struct oid_value *value);
/* identifier_value without its term, where the identifier says the value itself. */
bool identifier_number(struct evaluation *evaluation, oid id, struct value *out);
bool identifier_value(struct evaluation *evaluation, oid id, struct value *out);
/* Does the same; what is asked for again soon is not parsed again. */
bool identifier_kept_value(struct evaluation *evaluation, oid id, struct value *out);
oid value_id(struct evaluation *evaluation, const struct value *value);

/* For functions: text in the scratch arena; {NULL, 0} becomes an error. */
bool evaluation_text(struct evaluation *evaluation, struct slice text, struct value *out);

#endif
