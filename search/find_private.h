/* The steps of find_run. */
#ifndef SEARCH_FIND_PRIVATE_H
#define SEARCH_FIND_PRIVATE_H

#include "index/client/client_lookup.h"
#include "search/find.h"

enum { FIND_ROW_BYTES = 16 << 20, FIND_SUBJECTS = 500 };

struct find_run {
    const struct find_access *access;
    const struct find_request *request;
    struct find_results *results;
    struct find_filters filters;
    size_t most;       /* rows */
    struct slice same; /* of the statements being read */
    bool full;
    json_t *classes; /* subject: [class]; NULL: not asked for yet */
    json_t *times;   /* document: of its last change */
};

/* Predicates of names and titles, the best first. */
enum { FIND_LABEL_PROPERTIES = 9 };
extern const struct slice find_label_properties[FIND_LABEL_PROPERTIES];

/* Ask for the classes of subjects and the times at which documents of the rows changed, once. */
enum status find_read_classes(struct find_run *run, struct reason *why);
enum status find_read_times(struct find_run *run, struct reason *why);
/* Keeps the rows that pass all filters. */
enum status find_filter_rows(struct find_run *run, struct reason *why);
void find_group_rows(struct find_run *run);
enum status find_count_facets(struct find_run *run, struct reason *why);

/* The values of a row that a kind of filter looks at; at most VALUES_MOST. */
enum { FIND_VALUES_MOST = 16 };
enum status find_append(void *buffer, struct slice bytes, struct reason *why);
/* When documents last changed, as bindings of ?g and ?time: the last visit that found a change, or
 * the fetch of a document that is not visited again. documents: as find_put_iri writes them. */
enum status find_ask_times(const struct find_access *access, struct slice documents,
                           json_t **bindings, struct reason *why);
/* "<IRI>" for a query, when it is one. */
void find_put_iri(struct buf *text, struct slice iri);

#endif
