/* The functions that each format of results implements: a table of functions over a writer.
 * result.c owns the writer and calls them; what one format keeps besides is in a part of its own.
 */
#ifndef INDEX_QUERY_RESULTS_RESULT_SYNTAX_H
#define INDEX_QUERY_RESULTS_RESULT_SYNTAX_H

#include "base/buf.h"
#include "index/query/results/result.h"
#include "rdf/core/graph.h"

struct result_syntax {
    enum status (*columns)(struct result_writer *writer, struct reason *why);
    enum status (*row)(struct result_writer *writer, const struct term *terms, struct reason *why);
    enum status (*boolean)(struct result_writer *writer, bool answer, struct reason *why);
    enum status (*quad)(struct result_writer *writer, const struct quad *quad, struct reason *why);
    enum status (*finish)(struct result_writer *writer, struct reason *why);
};

struct result_writer {
    const struct result_syntax *syntax;
    enum result_format format;
    result_piece *piece;
    void *context;
    struct buf buf; /* what has not been handed on */
    struct query_sink sink;
    struct slice *names; /* copies */
    size_t count;
    uint64_t rows;
    bool answered; /* boolean was called */
    char *name_bytes;
    struct result_table {
        struct buf cells; /* each with a NUL behind it */
        size_t *widths;
    } table;            /* result_text.c */
    struct graph graph; /* of Turtle: result_text.c */
    struct result_run {
        struct buf subject, property; /* of the last quad */
        enum term_kind subject_kind;
        bool open, typed; /* there was one; its property is @type */
    } run;                /* of RDF/XML and JSON-LD: result_graphs.c */
};

extern const struct result_syntax result_json, result_xml, result_csv, result_tsv, result_table,
    result_lines, result_turtle, result_rdfxml, result_jsonld;

/* Appends text as XML 1.0 has it in elements and attributes. */
void result_xml_text(struct buf *buf, struct slice text);
/* Hands the buffer on when it is large (or, with all, when it is not empty). */
enum status result_flush(struct result_writer *writer, bool all, struct reason *why);

#endif
