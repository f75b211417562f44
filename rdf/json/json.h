/* JSON as a tree of nodes in an arena: https://www.rfc-editor.org/rfc/rfc8259
 *
 * Strict reading takes what the RFC takes. Lenient reading takes also what people paste into
 * <script> elements, when it can mean one thing only, and counts each repair by kind.
 * Keys, strings and numbers point into the text where nothing had to be decoded, so the text
 * must outlive the tree. Lone surrogates and bytes that are no UTF-8 become U+FFFD (bad UTF-8
 * in lenient reading only).
 * Of members with the same key the last one's value stays, at the place of the first.
 *
 * Not jansson, which the tests use: it knows no line of a value and no number as it was written,
 * mends nothing, and takes eight times as long (bench/bench_jsonld.c).
 */
#ifndef RDF_JSON_JSON_H
#define RDF_JSON_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json_index;
struct json {
    uint8_t kind;     /* enum json_kind */
    uint8_t tag;      /* free for the tree's user; 0 at first */
    uint32_t line;    /* 1-based, where the value starts; of objects' members: where the key does */
    uint32_t count;   /* children */
    uint32_t ordinal; /* place among the parent's children, from 0 */
    struct slice key; /* of an object's member */
    union {
        struct slice text; /* STRING: decoded; NUMBER: as written */
        struct {
            struct json *first, *last;
        };
    };
    struct json *next;
    struct json_index *index; /* large objects: by key */
};

/* Tells where nodes come from. The arena's maximum must be 0: whoever builds a tree watches
 * arena->used. */
struct json_pool {
    struct arena *arena;
    struct json *free;
    uint32_t left;
};

/* name, text */
#define JSON_REPAIR_MAP(X)                                      \
    X(CONTROL, "control character in a string")                 \
    X(UTF8, "bytes that are no UTF-8")                          \
    X(SURROGATE, "lone surrogate")                              \
    X(ESCAPE, "unknown escape")                                 \
    X(QUOTE, "quotation mark in a string not escaped")          \
    X(SINGLE_QUOTE, "single quotation marks")                   \
    X(NAME, "name without quotation marks")                     \
    X(COMMENT, "comment")                                       \
    X(WRAPPER, "HTML comment or CDATA around JSON")             \
    X(SPACE, "character that is no white space between values") \
    X(EXTRA_COMMA, "superfluous comma")                         \
    X(MISSING_COMMA, "missing comma")                           \
    X(MISSING_VALUE, "missing value")                           \
    X(NUMBER, "malformed number")                               \
    X(LITERAL, "literal of another language")                   \
    X(ENTITIES, "JSON escaped as HTML")                         \
    X(SEVERAL, "several values in one text")                    \
    X(SEMICOLON, "semicolon behind JSON")                       \
    X(TRUNCATED, "missing end")                                 \
    X(BRACKET, "closing bracket without an opening one")

enum json_repair {
#define X(name, text) JSON_REPAIR_##name,
    JSON_REPAIR_MAP(X)
#undef X
        JSON_REPAIR_COUNT
};
const char *json_repair_text(enum json_repair repair); /* "comment" */

enum { JSON_DEPTH = 500, JSON_DEPTH_MAXIMUM = 2000 };

struct json_options {
    bool lenient;
    uint32_t line;     /* of the text's first line; 0: 1 */
    uint32_t depth;    /* of nesting; 0: JSON_DEPTH */
    size_t memory;     /* arena->used at which to stop; 0: no limit */
    uint64_t *repairs; /* JSON_REPAIR_COUNT counters to be added to; may be NULL */
};

/* BAD_INPUT: "line L, column C: what is wrong" (column in bytes); LIMIT: depth or memory.
 * Lenient: several values come as an array of them. */
enum status json_read(struct slice text, const struct json_options *options, struct json_pool *pool,
                      struct json **tree, struct reason *why);

/* The member, or NULL. object may be NULL or something else. */
struct json *json_get(const struct json *object, struct slice key);
bool json_same(const struct json *a, const struct json *b); /* order of members matters */
/* Returns a hash of the value, not of its key. The hash is seeded anew in each process. */
uint64_t json_hash(const struct json *node);
uint64_t json_hash_text(struct slice text);

/* ---- building ---- */

struct json *json_new(struct json_pool *pool, enum json_kind kind, uint32_t line);
struct json *json_as_text(struct json_pool *pool, struct slice text, uint32_t line);
void json_append(struct json *parent, struct json *child); /* child->key set before, if any */
/* Appends a member with its key; one with the same key takes its value instead. */
void json_add(struct json_pool *pool, struct json *object, struct json *member);
/* Removes all children from `from` and appends them to `to`. */
void json_move(struct json *to, struct json *from);

/* ---- writing ---- */

/* RFC 8785, JSON Canonicalization Scheme. */
enum status json_write_canonical(struct buf *buf, const struct json *node);

#endif
