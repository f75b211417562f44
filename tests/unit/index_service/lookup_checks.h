/* Tests what lookups give, beside what searches, patterns and queries do. */
#ifndef TESTS_UNIT_INDEX_SERVICE_LOOKUP_CHECKS_H
#define TESTS_UNIT_INDEX_SERVICE_LOOKUP_CHECKS_H

#include "index/client/client_lookup.h"
#include "index/write/partition.h"

/* The index has the documents of index_fixture.h. */
void lookup_checks(struct index_client *client);
/* Adds 1 to the size_t that is the context. */
index_statement_take lookup_count;

/* Batches of all kinds, with the same questions after each: what a kept answer rests on has changed
 * or not. The client's only partition. */
void lookup_checks_kept(struct index_client *client, struct partition *partition);

#endif
