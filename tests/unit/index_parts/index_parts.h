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

/* statistics_records.c */
int open_statistics(void **state);
int close_statistics(void **state);
void malformed_sets_are_refused(void **state);
void sets_change_by_differences(void **state);
void subjects_of_large_sets_are_only_counted(void **state);
void stars_are_estimated_by_sets_and_by_the_rest(void **state);
void sets_with_subjects_are_copied(void **state);
void sets_are_freed(void **state);
void counts_are_gone_through(void **state);
void hosts_are_gone_through(void **state);
void totals_come_back(void **state);

/* statistics_batches.c */
int open_batches(void **state);
int close_batches(void **state);
void statistics_of_this_format_are_opened(void **state);
void a_batch_changes_the_counts(void **state);
void without_a_type_there_are_no_classes(void **state);
void a_damaged_count_ends_the_batch(void **state);

/* verify_reports.c */
int open_verified(void **state);
int close_verified(void **state);
void what_is_well_is_reported(void **state);
void what_comes_between_is_counted(void **state);
void wrong_counts_are_named(void **state);
void wrong_sets_are_named(void **state);
void verifying_can_be_ended(void **state);
void a_backup_is_the_whole_partition(void **state);

/* memtable_model.c */
void words_in_memory_are_found(void **state);
void words_count_from_the_end_of_their_literal(void **state);
void words_in_memory_are_freed(void **state);
void tokenizers_are_freed(void **state);

/* word_queries.c */
void searches_are_read(void **state);
void searches_have_bounds(void **state);

#endif
