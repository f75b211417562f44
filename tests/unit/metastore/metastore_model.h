/* Parts of test_metastore that have files of their own. Each runs its tests and returns how many
 * failed. */
#ifndef TESTS_UNIT_METASTORE_METASTORE_MODEL_H
#define TESTS_UNIT_METASTORE_METASTORE_MODEL_H

#include "base/status.h"

/* Each put to the store is answered with this status; OK: it is done as well. */
extern enum status metastore_put_status;

/* The service beside a model (metastore_model.c). */
int metastore_model_run(void);
/* Berkeley DB and disks that fail (metastore_faults.c). */
int metastore_faults_run(void);
/* Turns: batches, and who is told what (metastore_turns.c). */
int metastore_turns_run(void);

#endif
