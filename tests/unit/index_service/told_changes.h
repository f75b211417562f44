/* A follower that writes down what it is told of changes, and fails where a test wants it to. */
#ifndef TESTS_UNIT_INDEX_SERVICE_TOLD_CHANGES_H
#define TESTS_UNIT_INDEX_SERVICE_TOLD_CHANGES_H

#include "base/buf.h"
#include "index/client/index_client.h"

extern struct buf told_events;   /* a line for each event; the test initializes it */
extern const char *told_refused; /* the follower fails FULL at this kind of event; NULL: at none */
extern uint64_t told_began_ms;   /* of the latest batch */
extern const struct index_follower told_follower;

#endif
