/* Requests of fetch's parser, without a worker; a part of test_fetch_parser. */
#ifndef TESTS_UNIT_STAGES_PARSER_REQUESTS_H
#define TESTS_UNIT_STAGES_PARSER_REQUESTS_H

/* Returns how many tests failed. */
int parser_requests_run(void);

#endif
