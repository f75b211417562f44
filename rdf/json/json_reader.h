/* Declarations that the two halves of the JSON reader share. Private to this folder. */
#ifndef RDF_JSON_JSON_READER_H
#define RDF_JSON_JSON_READER_H

#include "rdf/json/json.h"

struct json_reader {
    const char *at, *start, *end;
    const char *line_start;
    uint64_t line;
    uint32_t depth, depth_limit;
    bool lenient;
    bool in_name;   /* of a member: ends at its first quote */
    bool truncated; /* the text ended inside a value */
    size_t memory;
    uint64_t *repairs;
    struct json_pool *pool;
    struct buf scratch;
    struct reason *why;
};

enum status json_fail(struct json_reader *reader, const char *text);
void json_repaired(struct json_reader *reader, enum json_repair repair);
/* Reads the inside of a string up to its quote; reader->at is behind the opening one. */
enum status json_read_string(struct json_reader *reader, char quote, struct slice *text);

/* ---- lenient only (json_lenient.c) ---- */

/* Comments, wrappers, odd characters at reader->at. False: none there. */
bool json_skip_odd(struct json_reader *reader);
/* Returns whether the quote at `at` ends its string. */
bool json_quote_ends(const struct json_reader *reader, const char *at, char quote);
/* A key that does not start with a quotation mark. */
enum status json_read_name(struct json_reader *reader, struct slice *text);
/* A value that starts as none does. */
enum status json_read_odd(struct json_reader *reader, struct json *node);
/* Returns whether a member starts at reader->at although no comma came. */
bool json_starts_member(const struct json_reader *reader);
/* Undoes HTML's references when all quotation marks are written as such. */
struct slice json_undo_entities(struct json_reader *reader, struct slice text);

#endif
