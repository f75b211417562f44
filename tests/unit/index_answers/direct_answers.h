/* Answers of a partition's streams, byte by byte; a part of test_cursor. */
#ifndef TESTS_UNIT_INDEX_SERVICE_DIRECT_ANSWERS_H
#define TESTS_UNIT_INDEX_SERVICE_DIRECT_ANSWERS_H

#include "base/buf.h"
#include "base/codec.h"
#include "index/quad_source.h"
#include "index/serve/cursor.h"
#include "index/write/partition.h"

int direct_answers_run(void);

/* direct_lookups.c */
void quads_of_patterns_are_found(void **state);
void patterns_have_what_their_answers_rest_on(void **state);
void quads_of_words_are_found(void **state);
void resources_are_described(void **state);
void malformed_lookups_are_refused(void **state);

/* ---- what the files share ---- */

enum { DIRECT_QUADS_MOST = 4000 };

extern struct partition_reader *direct_reader; /* of a partition of documents made by chance */
extern const struct quad_source *direct_source;
extern struct buf direct_request, direct_answer;

/* Takes the whole answer to the request; it may use so much memory. */
enum status direct_ask(cursor_produce *producer, size_t memory);
/* A name stands for the term that it came with; direct_name_count is 0 before the first. */
oid direct_name(struct codec_reader *in);
extern size_t direct_name_count;
/* Fills direct_rows; returns how many quads match. */
size_t direct_scan(const struct quad_oids *pattern, enum quad_order order);
extern struct quad_oids direct_rows[DIRECT_QUADS_MOST];

#endif
