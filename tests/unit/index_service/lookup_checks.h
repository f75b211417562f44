/* What lookups give, beside what searches, patterns and queries do. */
#ifndef TESTS_UNIT_INDEX_SERVICE_LOOKUP_CHECKS_H
#define TESTS_UNIT_INDEX_SERVICE_LOOKUP_CHECKS_H

#include "index/client/index_client.h"

/* The index has the documents of index_fixture.h. */
void lookup_checks(struct index_client *client);

#endif
