/* The steps of find_run. */
#ifndef SEARCH_FIND_PRIVATE_H
#define SEARCH_FIND_PRIVATE_H

#include "search/find.h"

enum { FIND_ROW_BYTES = 16 << 20, FIND_SUBJECTS = 500 };

struct find_run {
    const struct find_access *access;
    const struct find_request *request;
    struct find_results *results;
    struct find_filters filters;
    size_t most;  /* rows */
    double score; /* of the line being read */
    struct slice same;
    bool full;
    json_t *classes; /* subject: [class]; NULL: not asked for yet */
    json_t *times;   /* document: time */
};

/* Ask for the classes of subjects and the times of documents among the rows, once. */
enum status find_read_classes(struct find_run *run, struct reason *why);
enum status find_read_times(struct find_run *run, struct reason *why);
/* Keeps the rows that pass all filters. */
enum status find_filter_rows(struct find_run *run, struct reason *why);
void find_group_rows(struct find_run *run);
enum status find_count_facets(struct find_run *run, struct reason *why);

/* The values of a row that a kind of filter looks at; at most VALUES_MOST. */
enum { FIND_VALUES_MOST = 16 };
size_t find_values_of(const struct find_run *run, const struct find_row *row,
                      enum find_filter_kind kind, struct slice values[FIND_VALUES_MOST]);
enum status find_append(void *buffer, struct slice bytes, struct reason *why);
/* "<IRI>" for a query, when it is one. */
void find_put_iri(struct buf *text, struct slice iri);

#endif
