/* The findings of `quadrille explain`, and how they are printed. */
#ifndef CLI_REPORT_EXPLAIN_H
#define CLI_REPORT_EXPLAIN_H

#include "metastore/record.h"
#include "rdf/core/term.h"

enum { EXPLAIN_HOPS = 16 };

/* A transform that says a statement. */
struct explain_transform {
    struct slice name; /* "html/2" */
    struct slice line; /* of the source document, in digits */
    struct explain_transform *next;
};

struct explain_statement {
    struct quad quad;
    size_t document; /* its number */
    size_t number;   /* of the statement, in the order found */
    struct explain_transform *transforms;
};

/* A redirect on the way to the document. */
struct explain_hop {
    struct slice uri;
    uint64_t status; /* 0: unknown */
};

struct explain_document {
    struct slice uri;
    struct slice record; /* of the metadata store; empty: it was not crawled */
    const struct explain_statement *statements;
    size_t count;
    bool asked;         /* transforms were run again */
    struct slice why;   /* they could not be; empty: they were */
    const char *reason; /* for which it was fetched: "seed", "link", "sitemap", "redirect" */
    struct slice from;  /* the document that led here; empty: none */
    struct explain_hop hops[EXPLAIN_HOPS]; /* the last one first */
    size_t hop_count;
};

void explain_print_text(const struct explain_document *document);
/* first: of the array. After the last one comes "]\n". */
void explain_print_json(const struct explain_document *document, bool first);

#endif
