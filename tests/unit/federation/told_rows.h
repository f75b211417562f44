/* Rows of several partitions; a part of test_federation_keys. */
#ifndef TESTS_UNIT_FEDERATION_TOLD_ROWS_H
#define TESTS_UNIT_FEDERATION_TOLD_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/codec.h"
#include "base/status.h"

/* Answers requests for rows and for parts of queries. */
enum status told_rows_answer(size_t partition, uint8_t kind, struct codec_reader *in,
                             struct buf *out);
int told_rows_run(void);

#endif
