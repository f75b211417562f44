/* Links that partitions tell; a part of test_stream_reader, which has the messages. */
#ifndef TESTS_UNIT_INDEX_SERVICE_TOLD_LINKS_H
#define TESTS_UNIT_INDEX_SERVICE_TOLD_LINKS_H

#include "base/rpc/rpc.h"

/* Takes the message that asks for links. */
void told_links_posted(struct slice request, uint32_t timeout_ms, rpc_done *done, void *context);
int told_links_run(void);

#endif
