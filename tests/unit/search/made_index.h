/* An index made up by a test: it says for each question what the test has it answer. */
#ifndef TESTS_UNIT_SEARCH_MADE_INDEX_H
#define TESTS_UNIT_SEARCH_MADE_INDEX_H

#include "search/find.h"

enum { MADE_PATTERNS = 4, MADE_SAID = 4, MADE_TIMEOUT_MS = 1000, MADE_ASKER = 77 };

struct made_index {
    /* NULL: nothing. Lines of index_search, and lines of quads for each pattern that is asked for
     * in turn, of which those are given that match it. */
    const char *hits, *pattern_lines[MADE_PATTERNS];
    const char *hits_word; /* not NULL: only questions with it find the hits */
    /* Bindings of queries, parted by commas: classes of subjects, times and sizes of documents,
     * values that resources share. */
    const char *classes, *times, *sizes, *shared;
    const char *answer;  /* not NULL: that of all queries */
    const char *cluster; /* JSON of index_identity */
    struct {
        size_t resource;
        const char *predicate, *value;
    } said[MADE_SAID]; /* of resources, for index_describe */
    size_t said_count;
    size_t patterns_most;                 /* that may be asked for; 0: MADE_PATTERNS */
    enum status words_fail, queries_fail; /* how searches and queries end: STATUS_OK in truth */
    size_t fails_from;                    /* the search that fails first; 0: all */
    /* Counts of what was asked since find_made. */
    size_t patterns_asked, queries_asked, searches;
    uint32_t limit; /* of the last question for statements or lines */
    char words_asked[4096], query[8192];
};
extern struct made_index made;
extern const struct find_access made_access;

/* Made-up names. */
#define LABEL "<http://www.w3.org/2000/01/rdf-schema#label>"
#define P "http://a.org/p"

/* Sets a case up: nothing is there. */
int made_forget(void **state);

enum status find_made(struct find_request request, struct find_results *results);

#endif
