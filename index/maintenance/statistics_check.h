/* Part of verifying: hosts, sets of predicates and subjects as counted anew, against what is
 * recorded. */
#ifndef INDEX_MAINTENANCE_STATISTICS_CHECK_H
#define INDEX_MAINTENANCE_STATISTICS_CHECK_H

#include "index/write/partition_state.h"

/* Compares a census of all documents with the counts of hosts, sets of predicates and subjects that
 * are recorded. `say` gets a line for each difference and a last one when there is no more to
 * report. The caller keeps the writer away. */
typedef enum status statistics_say(void *context, bool wrong, const char *text, struct reason *why);
enum status statistics_compare(struct partition *partition, const struct census *census,
                               statistics_say *say, void *context, struct reason *why);

#endif
