/* The parser's parts among themselves: recursive descent, one function per production.
 *
 * Algebra is built while reading: a group keeps what it has so far, and each element joins,
 * extends or subtracts. Filters are collected and put on top at the end of their group.
 */
#ifndef INDEX_QUERY_PARSER_PARSER_H
#define INDEX_QUERY_PARSER_PARSER_H

#include "index/query/algebra/algebra.h"
#include "index/query/parser/lexer.h"

enum {
    PREFIXES_MAXIMUM = 1024,
    AGGREGATES_MAXIMUM = 256,
    LABELS_MAXIMUM = 1 << 20,
    LABEL_BUCKETS = 4096
};

struct prefix {
    struct slice name, iri;
};
/* A blank node label and the basic graph pattern that it belongs to. */
struct label {
    struct slice name;
    uint32_t number;
    uint32_t block;
    uint32_t next; /* in its bucket: index + 1 */
};
/* The variables and aggregates of one SELECT. */
struct scope {
    struct scope *outer;
    struct slice *names;
    uint32_t *slots;
    size_t count;
    struct aggregate *aggregates;
    size_t aggregate_count;
    bool aggregates_allowed;
    bool inside_aggregate;
};

struct parser {
    struct query *query;
    struct arena *arena;
    struct lexer lexer;
    struct reason *why;
    struct slice base;
    struct prefix *prefixes;
    size_t prefix_count;
    struct scope *scope;
    struct label *labels;
    size_t label_count, label_room;
    uint32_t label_buckets[LABEL_BUCKETS]; /* newest label: index + 1 */
    uint32_t block, last_block;            /* numbers of basic graph patterns */
    unsigned nesting;
    bool template;          /* inside a template: blank nodes are new ones */
    bool no_variables;      /* inside DATA */
    bool no_blanks;         /* inside what is deleted */
    struct algebra *unions; /* of alternative paths, waiting to be joined */
};

/* ---- helpers: parser_tokens.c, parser_term.c ---- */

bool parser_is(const struct parser *parser, const char *sign);   /* current token is this sign */
bool parser_word(const struct parser *parser, const char *word); /* any letter case */
enum status parser_next(struct parser *parser);
/* Goes on when the sign or word is there, else an error. */
enum status parser_take(struct parser *parser, const char *sign);
enum status parser_take_word(struct parser *parser, const char *word);
enum status parser_too_large(struct parser *parser);
enum status parser_enter(struct parser *parser); /* one more level of nesting; parser_leave */
void parser_leave(struct parser *parser);

enum status parser_new_slot(struct parser *parser, struct slice name, uint32_t *slot);
enum status parser_variable_slot(struct parser *parser, struct slice name, uint32_t *slot);
enum status parser_constant(struct parser *parser, const struct term *term, uint32_t *constant);
/* IRI or prefixed name: the current token. */
bool parser_at_iri(const struct parser *parser);
enum status parser_iri(struct parser *parser, struct slice *iri);
bool parser_at_literal(const struct parser *parser);
enum status parser_literal(struct parser *parser, struct term *term);

/* Resolves against the base in force. */
enum status parser_resolve(struct parser *parser, struct slice reference, struct slice *iri);

/* ---- productions ---- */

enum status parser_open_scope(struct parser *parser);
/* BASE and PREFIX. */
enum status parse_prologue(struct parser *parser);
/* word: FROM, or USING in updates. */
enum status parse_dataset(struct parser *parser, const char *word);
/* The text with its \u escapes decoded, in the arena. */
enum status parser_decode(struct arena *arena, struct slice text, struct slice *decoded,
                          struct reason *why);
/* The query forms, from their words on. */
enum status parse_select(struct parser *parser);
enum status parse_construct(struct parser *parser);
enum status parse_describe(struct parser *parser);
enum status parse_ask(struct parser *parser);

/* Reads a group with its braces. filter: of the group's own level, NULL pointer: put on top. */
enum status parse_group(struct parser *parser, struct algebra **group,
                        const struct expression **filter);
/* Inline data after VALUES. */
enum status parse_data(struct parser *parser, struct algebra **values);
/* SELECT from the word on, as a subquery. */
enum status parse_subselect(struct parser *parser, struct algebra **node);

/* Forgets the labels after the first `count`. */
void parser_forget_labels(struct parser *parser, size_t count);
bool parser_at_triples(const struct parser *parser);
enum status parse_triples_same_subject(struct parser *parser, struct algebra *into);
/* TriplesTemplate, up to what is no triple, into the query's template. */
enum status parse_template_triples(struct parser *parser, struct place graph, bool removal);
/* Variable, IRI, literal, blank node, [ ] or ( ): no property lists. */
enum status parse_place(struct parser *parser, struct place *place);

enum status parse_expression(struct parser *parser, const struct expression **expression);
/* ( expression ), built-in call or function call: after FILTER, HAVING, ORDER BY. */
enum status parse_constraint(struct parser *parser, const struct expression **expression);
bool parser_at_call(const struct parser *parser);
/* The variable is none of the constants. */
enum status parser_not_in(struct parser *parser, uint32_t slot, const uint32_t *constants,
                          size_t count, const struct expression **result);
/* The conjunction; either may be NULL. */
enum status parser_and(struct parser *parser, const struct expression *left,
                       const struct expression *right, const struct expression **both);
enum status parser_new_variable(struct parser *parser, uint32_t slot,
                                const struct expression **expression);

#endif
