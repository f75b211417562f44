/* Berkeley DB, a disk and locks whose calls fail when the test says so: for tests whose
 * test_x_PARTS names failing_database.o and whose test_x_WRAPS names db_env_create, db_create,
 * statvfs, flock. */
#ifndef TESTS_UNIT_METASTORE_FAILING_DATABASE_H
#define TESTS_UNIT_METASTORE_FAILING_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

struct failing_database {
    int calls; /* until one fails; below 0: none does */
    int error;
    bool no_disk;        /* statvfs fails */
    bool aborts_fail;    /* after what they do */
    uint64_t free;       /* bytes on the disk; 0: as it is */
    unsigned locks_fail; /* so many of the next, with lock_error */
    int lock_error;
    unsigned looks;       /* at the disk */
    unsigned checkpoints; /* asked for */
    uint32_t kilobytes;   /* of log that the latest was to wait for */
    /* how the latest environment and tree were opened */
    uint64_t cache_bytes;
    uint32_t log_file_bytes, log_buffer_bytes, page_bytes;
    bool removes_logs, writes_without_sync;
};
extern struct failing_database failing_database;

#endif
