#ifndef TESTS_UNIT_QUERY_QUERY_CORNERS_H
#define TESTS_UNIT_QUERY_QUERY_CORNERS_H

/* What is rare in queries, and where they are too much; a part of test_query_answers. */
int query_corners_run(void);

#endif
