#ifndef TESTS_UNIT_QUERY_GRAMMAR_TOKENS_H
#define TESTS_UNIT_QUERY_GRAMMAR_TOKENS_H

void no_token_is_read_over(void **state);
void no_byte_is_read_past_the_end(void **state);

#endif
