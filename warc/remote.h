/* Records of WARC files that another node holds: one HTTP Range request to its quadrille-web.
 * The bytes are for warc_read_member. One thread per object; connections are kept. */
#ifndef WARC_REMOTE_H
#define WARC_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

struct warc_remote;
/* timeout_ms: of one request; 0: 30 s. */
enum status warc_remote_open(struct warc_remote **remote, uint32_t timeout_ms, struct reason *why);
void warc_remote_close(struct warc_remote *remote);

/* web: the node's web= URL. *member (buf_init'ed; reset here) gets exactly length bytes.
 * NOT_FOUND: no such file there; TIMEOUT, SYSTEM: not reached, worth another try;
 * CORRUPT: the file has no such range; LIMIT: more than the buffer's maximum. */
enum status warc_fetch_remote(struct warc_remote *remote, const char *web, struct slice file,
                              uint64_t offset, uint64_t length, struct buf *member,
                              struct reason *why);

/* Returns whether the name can be that of a WARC file in DIR/warc: letters, digits, "-", "_", "."
 * and no dot first. */
bool warc_file_name_valid(struct slice file);

#endif
