/* What documents' workers are asked and tell; a part of test_document_worker. */
#ifndef TESTS_UNIT_STAGES_WORK_DOCUMENT_ORDERS_H
#define TESTS_UNIT_STAGES_WORK_DOCUMENT_ORDERS_H

/* Returns how many tests failed. */
int document_orders_run(void);

#endif
