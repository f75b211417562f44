/* A part of test_metastore that has a file of its own: runs its tests, returns how many failed. */
#ifndef TESTS_UNIT_METASTORE_MODEL_H
#define TESTS_UNIT_METASTORE_MODEL_H

int metastore_model_run(void);

#endif
