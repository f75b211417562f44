/* The three lookups: what speaks of a URI, what has a value of a property, what has words. All give
 * statements with weights; grouped by document or by resource, with the best first.
 *
 * A statement found by words has the score of its literal (BM25, index/KEYWORDS.md) times the
 * weight of its property: FIND_LABEL_WEIGHT for names and titles, 1 for all others. One found by a
 * URI or a value weighs what the thing that is shared is rare: log2(1 + FIND_ROWS / statements
 * found). A group weighs its best statement and, for each further one, half of what the one before
 * it added; half as much again when the document is on the host of the resource itself.
 *
 * At most FIND_ROWS statements are read; when there are more, totals are lower bounds. */
#ifndef WEB_API_FIND_H
#define WEB_API_FIND_H

#include <jansson.h>

#include "base/arena.h"
#include "web/web_service.h"

enum { FIND_ROWS = 1000 };
#define FIND_LABEL_WEIGHT 2.0

enum find_group { FIND_BY_DOCUMENT, FIND_BY_RESOURCE };

struct find_entry {
    struct slice document; /* of its best statement */
    struct term resource;  /* the subject of its best statement */
    struct term predicate, object;
    double score;
    uint32_t statements;
    /* Filled by find_describe. */
    struct slice title; /* empty: it has none */
    struct slice type;  /* IRI of a class of the resource; empty: it has none */
    uint64_t triples;   /* of the document */
    struct slice fetched;
};
struct find_results {
    struct find_entry *entries;
    size_t count;
    bool at_least;          /* there are more than count */
    struct slice corrected; /* words that were searched for in place of others; empty: none */
    struct arena arena;
};

/* class:, predicate: and domain: limit what is found, with IRIs, names with usual prefixes, hosts.
 * All of one kind are alternatives; all kinds are to hold. They stand among words or in filters. */
struct find_request {
    struct slice text;     /* words; or a URI; or a value */
    struct slice filters;  /* these alone */
    struct slice property; /* of a value; empty: else */
    bool is_uri;           /* text is a URI */
    enum find_group group;
    const struct web_query *query; /* for whom: cancels it */
};
enum status find_run(struct web_service *service, const struct find_request *request,
                     struct find_results *results, struct reason *why);
void find_release(struct find_results *results);

/* Titles, classes, sizes and times of entries; what cannot be had stays empty. */
enum status find_describe(struct web_service *service, const struct find_request *request,
                          struct find_results *results, size_t from, size_t count,
                          struct reason *why);

/* Newest first, by the time of the last fetch; those without one last. */
enum status find_sort_by_date(struct web_service *service, const struct find_request *request,
                              struct find_results *results, struct reason *why);

/* The bindings of a SELECT: an array of objects of {type, value, ...}. Bounded in bytes. */
enum status find_select(struct web_service *service, const struct web_query *query,
                        struct slice sparql, json_t **bindings, struct reason *why);
/* The value of a variable in one of them; empty: unbound. */
struct slice find_value(const json_t *binding, const char *variable);

/* Bytes that are no UTF-8 become an empty text. */
json_t *find_json_text(struct slice text);
/* Appends the object, which is taken; flags: of json_dumps. */
void find_put_json(struct buf *out, json_t *object, size_t flags);

/* "foaf:Person" by the usual prefixes, or the IRI itself; empty: neither. */
struct slice find_iri(struct slice name, struct buf *memory);
/* Appends text as the inside of a literal of SPARQL. */
void find_quote(struct buf *out, struct slice text);

#endif
