/* Walks a WARC file of anybody: gzip members, one record each, or plain records. Tests check with
 * it that a file can be read from its start. */
#ifndef TESTS_SUPPORT_WARC_SCAN_H
#define TESTS_SUPPORT_WARC_SCAN_H

#include "warc/warc.h"

/* Walks a file from its start. Records larger than the limit are
 * passed over with `skipped` counted. visit returns false to stop. */
struct warc_scan_result {
    uint64_t records, skipped;
    uint64_t end; /* offset after the last whole record */
    bool torn;    /* bytes after it are no whole record */
};
typedef bool warc_visit(void *context, const struct warc_record *record, uint64_t offset,
                        uint64_t length);
enum status warc_scan(const char *path, const struct warc_limits *limits, warc_visit *visit,
                      void *context, struct warc_scan_result *result, struct reason *why);

#endif
