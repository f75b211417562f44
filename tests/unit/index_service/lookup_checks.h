/* What lookups give, beside what searches, patterns and queries do. */
#ifndef TESTS_UNIT_INDEX_SERVICE_LOOKUP_CHECKS_H
#define TESTS_UNIT_INDEX_SERVICE_LOOKUP_CHECKS_H

#include "index/client/client_lookup.h"

/* The index has the documents of index_fixture.h. */
void lookup_checks(struct index_client *client);
/* Adds 1 to the size_t that is the context. */
index_statement_take lookup_count;

#endif
