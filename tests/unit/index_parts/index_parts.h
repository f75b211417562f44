/* Suites of test_index_parts.c. */
#ifndef TESTS_UNIT_INDEX_PARTS_INDEX_PARTS_H
#define TESTS_UNIT_INDEX_PARTS_INDEX_PARTS_H

void words_have_classes_and_keys(void **state);
void postings_come_back(void **state);
void malformed_postings_are_bad(void **state);

void lists_of_links_are_read(void **state);
void links_are_found(void **state);

/* census_model.c */
void subjects_are_counted_by_their_predicates(void **state);
void a_subject_has_many_predicates(void **state);
void documents_are_counted_by_their_hosts(void **state);
void hosts_are_many(void **state);

/* word_queries.c */
void searches_are_read(void **state);
void searches_have_bounds(void **state);

#endif
