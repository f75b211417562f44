/* Provenance beside another source, and its records, apart from what queries see of them. */
#ifndef TESTS_UNIT_INDEX_PROVENANCE_PROVENANCE_CALLS_H
#define TESTS_UNIT_INDEX_PROVENANCE_PROVENANCE_CALLS_H

/* Both return how many tests failed. */
int provenance_calls(void); /* of other graphs, and of many patterns */
int provenance_store(void); /* of records, and of limits of a query */

#endif
