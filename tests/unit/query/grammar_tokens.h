#ifndef TESTS_UNIT_QUERY_GRAMMAR_TOKENS_H
#define TESTS_UNIT_QUERY_GRAMMAR_TOKENS_H

void no_token_is_read_over(void **state);

#endif
