/* Questions that a search asks the index beside those that find statements: the classes of the
 * subjects of rows and the times at which their documents changed. One thread. */
#ifndef SEARCH_SELECT_H
#define SEARCH_SELECT_H

#include <jansson.h>
#include <stdbool.h>

#include "search/find.h"

enum { FIND_ROW_BYTES = 16 << 20, FIND_SUBJECTS = 500 };

/* Holds what has been asked for about the rows of a search, each once. */
struct row_facts {
    const struct find_access *access;
    json_t *classes; /* subject: [class]; NULL: not asked for yet */
    json_t *times;   /* document: [time of its last change]; NULL: not asked for yet */
    bool cut;        /* of more subjects or documents than FIND_SUBJECTS nothing is known */
};
enum status row_facts_read_classes(struct row_facts *facts, const struct find_results *results,
                                   struct reason *why);
enum status row_facts_read_times(struct row_facts *facts, const struct find_results *results,
                                 struct reason *why);
void row_facts_release(struct row_facts *facts);

/* Asks when documents last changed, as bindings of ?g and ?time: the last visit that found a
 * change, or the fetch of a document that is not visited again. documents: as find_put_iri writes
 * them. */
enum status find_ask_times(const struct find_access *access, struct slice documents,
                           json_t **bindings, struct reason *why);
/* Appends " <IRI>" for a query, when it is one. */
void find_put_iri(struct buf *text, struct slice iri);
/* Takes a piece of an answer into the struct buf that is the context; fails when that is full. */
enum status find_append(void *buffer, struct slice bytes, struct reason *why);

#endif
