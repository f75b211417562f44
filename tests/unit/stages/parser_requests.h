/* Fetch's parser without a worker: its requests (a part of test_fetch_parser) and its replies (a
 * part of test_parser_pool). */
#ifndef TESTS_UNIT_STAGES_PARSER_REQUESTS_H
#define TESTS_UNIT_STAGES_PARSER_REQUESTS_H

/* Both return how many tests failed. */
int parser_requests_run(void);
int parser_replies_run(void);

#endif
