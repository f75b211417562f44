/* Reading the quads of an identity's source, and keeping what was read. */
#ifndef IDENTITY_READING_H
#define IDENTITY_READING_H

#include "identity/identity.h"

/* A growing array of rows. */
struct rows {
    struct quad_oids *at;
    size_t count, capacity;
    bool cut; /* there are more than were wanted */
};

/* Appends at most `most` rows in all. A pattern with no place bound reads nothing. */
enum status identity_rows(struct identity *identity, const struct quad_oids *pattern, size_t most,
                          struct rows *rows, struct reason *why);
/* Calls visit for the rows of many patterns of one graph, at most `most` in all, with the number of
 * the pattern; in one request where the source is far away. cut turns true when there are more. */
typedef enum status row_visit(void *state, uint32_t number, const struct quad_oids *row,
                              struct reason *why);
enum status identity_rows_many(struct identity *identity, const struct quad_oids *patterns,
                               size_t count, size_t most, row_visit *visit, void *state, bool *cut,
                               struct reason *why);
void rows_release(struct rows *rows);
/* Finds the term of an identifier; its bytes live as long as the identity. */
enum status identity_term(struct identity *identity, oid id, struct term *term, struct reason *why);
/* Copies into an arena; full says what does not fit. */
enum status keep_in(struct arena *arena, const void *from, size_t size, void *result,
                    const char *full, struct reason *why);
/* Copies into the identity's arena. */
enum status identity_keep(struct identity *identity, const void *from, size_t size, void *result,
                          struct reason *why);
/* Returns a place for one more at the end of the list that the pointer is of, NULL at first. */
void *list_add(void *list, size_t *count, size_t size);

#endif
