/* Tokens of HTML beside a second tokenizer; a part of test_html. */
#ifndef TESTS_UNIT_TRANSFORMS_HTML_TOKENS_H
#define TESTS_UNIT_TRANSFORMS_HTML_TOKENS_H

int html_tokens_run(void);

#endif
