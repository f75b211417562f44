#ifndef TESTS_UNIT_BASE_OPT_TEXTS_H
#define TESTS_UNIT_BASE_OPT_TEXTS_H

void texts_are_printed_whole(void **state);

#endif
