/* Records of the metadata store for one query: asked for in batches, remembered, or all read. */
#ifndef INDEX_READ_PROVENANCE_RECORDS_H
#define INDEX_READ_PROVENANCE_RECORDS_H

#include "index/read/provenance.h"

struct provenance_records;

struct provenance_records *provenance_records_new(const struct provenance_settings *settings);
void provenance_records_free(struct provenance_records *records);

/* Asks for those that are not remembered, in one go. */
enum status provenance_records_fetch(struct provenance_records *records, const struct slice *keys,
                                     size_t n, struct reason *why);
/* The record of a key that was fetched since the last fetch of others, or before; empty: nothing
 * is known. It lives until the next fetch. */
enum status provenance_records_get(struct provenance_records *records, struct slice key,
                                   struct slice *record, struct reason *why);

/* Records after the key, ascending within a prefix; visit false stops. */
enum status provenance_records_scan(struct provenance_records *records, struct slice prefix,
                                    struct slice after, metastore_visit *visit, void *context,
                                    struct reason *why);
/* TIMEOUT, CANCELLED. */
enum status provenance_records_check(const struct provenance_records *records, struct reason *why);

#endif
