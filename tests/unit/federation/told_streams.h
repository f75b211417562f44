/* Partitions without services: the linker puts told_streams.c in the place of the streams of
 * index/client/federation/, and the test says what each partition answers. */
#ifndef TESTS_UNIT_FEDERATION_TOLD_STREAMS_H
#define TESTS_UNIT_FEDERATION_TOLD_STREAMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/codec.h"
#include "index/client/federation/federation_stream.h"
#include "index/client/index_client.h"
#include "index/protocol/service_protocol.h"

enum { PARTITIONS_ASKED = 3, TOLD_ANSWER = 1 << 25 };

/* The client of the partitions. */
extern struct index_client client;
extern size_t piece;                      /* bytes that are handed out at once */
extern size_t sessions_ended;             /* requests for it */
extern size_t told_open;                  /* streams that are not closed */
extern uint8_t told_flags;                /* of the request that is answered */
extern bool told_waits[PARTITIONS_ASKED]; /* nothing of its answer has come yet */

/* As a program that has just begun; 5 bytes are handed out at once. */
void told_begin(void);

/* The test's own: appends the answer to a request of this kind (INDEX_STREAM_...), of which *in
 * still has the form. Returns what the stream ends with. */
enum status told_answer(size_t partition, uint8_t kind, struct codec_reader *in, struct buf *out);

#endif
