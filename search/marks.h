/* Tells where the words of a search stand in a text: as they are, as beginnings (word*), and by
 * their stems in the text's language. One thread. */
#ifndef SEARCH_MARKS_H
#define SEARCH_MARKS_H

#include <stddef.h>

#include "base/slice.h"

struct find_mark {
    size_t at, length; /* bytes */
};
enum { FIND_MARKS_MOST = 32, FIND_SNIPPET_BYTES = 300 };
struct find_snippet {
    struct slice text; /* the part of the text around the first word; whole characters */
    bool cut_before, cut_after;
    struct find_mark marks[FIND_MARKS_MOST]; /* in it, in order, none touching another */
    size_t count;
};

struct find_marks;
/* Words as SEARCH.md has them, without filters; those with a minus do not count. */
struct find_marks *find_marks_new(struct slice words);
void find_marks_free(struct find_marks *marks); /* NULL is allowed */
/* marks may be NULL: nothing is marked. language: tag of the text, or empty. */
void find_marks_snippet(struct find_marks *marks, struct slice text, struct slice language,
                        struct find_snippet *snippet);

#endif
