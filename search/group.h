/* Rows made into groups, and groups that are one document in several syntaxes into one. */
#ifndef SEARCH_GROUP_H
#define SEARCH_GROUP_H

#include "search/find.h"

/* Sorts the rows and fills the entries, the best first. */
void find_group_rows(struct find_results *results, enum find_group group,
                     const struct find_weights *weights);

#endif
