/* A result that arrives in pieces: in memory up to 1 MiB, then in an unnamed file. So the status
 * line is only chosen when the whole result is known to be good. */
#ifndef WEB_HTTP_BODY_SPOOL_H
#define WEB_HTTP_BODY_SPOOL_H

#include <stdint.h>

#include "base/status.h"
#include "web/http/server.h"

struct web_spool {
    struct buf memory;
    int file; /* -1: all in memory */
    uint64_t length, maximum;
    const char *folder; /* of the file */
};

void web_spool_init(struct web_spool *spool, const char *folder, uint64_t maximum);
void web_spool_release(struct web_spool *spool);
/* An index_piece; LIMIT past the maximum. */
enum status web_spool_piece(void *spool, struct slice bytes, struct reason *why);
/* Hands the result to the reply; the spool is empty then. */
enum status web_spool_finish(struct web_spool *spool, struct web_reply *reply, struct reason *why);

#endif
