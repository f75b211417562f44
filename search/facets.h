/* Filters applied to the rows that were read, and the values that further filters could have. */
#ifndef SEARCH_FACETS_H
#define SEARCH_FACETS_H

#include "search/select.h"

/* Keeps the rows that pass all filters. */
enum status find_filter_rows(struct find_results *results, const struct find_filters *filters,
                             struct row_facts *facts, struct reason *why);
/* Fills the facets of results whose rows are grouped. */
enum status find_count_facets(struct find_results *results, struct row_facts *facts,
                              struct reason *why);

#endif
