#ifndef TESTS_UNIT_QUERY_PATH_MODEL_H
#define TESTS_UNIT_QUERY_PATH_MODEL_H

void paths_reach_what_they_should(void **state);

#endif
