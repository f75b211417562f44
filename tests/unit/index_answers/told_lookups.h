/* Lookups and counters of several partitions; a part of test_merged_streams, which has the streams.
 */
#ifndef TESTS_UNIT_INDEX_SERVICE_TOLD_LOOKUPS_H
#define TESTS_UNIT_INDEX_SERVICE_TOLD_LOOKUPS_H

#include "index/client/index_client.h"

enum { MERGED_COUNT = 3, REQUEST_MOST = 4096 };

/* What a partition's stream consists of, and how it ends. */
struct script {
    const char *text; /* in pieces of piece_bytes; NULL: the bytes */
    enum status end;
    struct slice bytes;
};
extern struct script scripts[MERGED_COUNT];
extern size_t piece_bytes;
extern uint8_t asked_stream;
extern unsigned asked;                  /* a bit for each partition */
extern char request_text[REQUEST_MOST]; /* of the last one, after the stream's kind */
extern size_t request_length;

struct index_client *merged_begin(enum index_partial partial);
void merged_finish(struct index_client *client);

int told_lookups_run(void);

#endif
