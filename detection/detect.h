/* The exact media type of a document. docs/DETECT.md states the order of evidence.
 *
 * All sniffing here is our own bounded scanning of the first bytes, so it needs no sandbox;
 * libmagic, the last and slowest resort, reads hostile bytes with a parser of its own and is
 * only ever called inside one (stages/parsing/document_worker.c).
 */
#ifndef DETECTION_DETECT_H
#define DETECTION_DETECT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

enum {
    DETECT_HEAD = 64 << 10, /* bytes looked at */
    DETECT_TYPE_SIZE = 128,
    DETECT_REASON_SIZE = 400
};

struct detect_input {
    struct slice bytes;        /* the content, or its first DETECT_HEAD bytes at least */
    struct slice content_type; /* header value; empty: none */
    struct slice uri;          /* or a file name: its extension is evidence; may be empty */
};

struct detection {
    char type[DETECT_TYPE_SIZE];     /* media type without parameters; "" when undecided */
    char reason[DETECT_REASON_SIZE]; /* the evidence that decided and what spoke against it */
    char root[DETECT_TYPE_SIZE];     /* XML: local name of the root element */
    char namespace[256];             /* and its namespace */
    bool undecided;                  /* libmagic should be asked, then detect_settle */
    bool by_signature;               /* a binary format */
};

/* Kept between documents for its memory; one thread. */
struct detector {
    struct buf type_memory, text_memory, peek_memory, unpacked;
};
void detector_init(struct detector *detector);
void detector_release(struct detector *detector);

void detect(struct detector *detector, const struct detect_input *input,
            struct detection *detection);
/* After libmagic: its answer ("" when it has none). Ends `undecided`. */
void detect_settle(struct slice magic, struct detection *detection);

/* All evidence and the verdict, a line each, for people: content alone, Content-Type alone, the
 * name alone. detection: what detect and perhaps detect_settle made of the same input. */
void detect_explain(struct detector *detector, const struct detect_input *input,
                    const struct detection *detection, struct buf *out);

/* ---- parts ---- */

/* Formats with a signature. NULL: none. */
const char *detect_signature(struct slice bytes);
/* The type for a root element; NULL: not known. doctype and public_id may be empty. */
const char *detect_root(struct slice root, struct slice namespace);
/* The type by the extension of a URI's path or of a file name; NULL: none known. */
const char *detect_extension(struct slice uri);
/* A name or URI's path without ".gz" and its like. */
struct slice detect_inner_name(struct slice uri);
/* Types of files that are zip files, or else compound files, inside. */
bool detect_is_kept_in(bool zip, struct slice type);
/* A "binary data byte" of the MIME Sniffing standard is among them. */
bool detect_binary(struct slice bytes);
/* UTF-16 to UTF-8 in memory, for looking only: surrogates are not joined. */
struct slice detect_narrow(struct slice bytes, bool big_endian, struct buf *memory);
/* "text/html" when the text begins as HTML does, by the MIME Sniffing standard; else NULL. */
const char *detect_html(struct slice text);
/* Turtle, N3, TriG, N-Triples, N-Quads, SPARQL or NULL, by the first statements of the text.
 * complete: the text is all of the document. */
const char *detect_rdf_text(struct slice text, bool complete);
/* JSON and the kinds of it: JSON-LD, GeoJSON, feeds, SPARQL results, RDF/JSON, lines of JSON.
 * NULL: none. *cut: it ends before it is complete. */
const char *detect_json(struct slice text, bool *cut);
/* Text that begins with a word of its own: calendars, scripts, mails, YAML. NULL: none known. */
const char *detect_text(struct slice text);
/* CSV and TSV, when the first lines have the same number of fields; else NULL. */
const char *detect_table(struct slice text);
/* Names that mean the same: "text/xml" for "application/xml". Returns its argument if none. */
struct slice detect_canonical_name(struct slice type);

#endif
