/* XML-RPC (http://xmlrpc.com/spec.md) as far as pings need it: a call with texts as parameters, and
 * the two replies. */
#ifndef WEB_PING_XMLRPC_H
#define WEB_PING_XMLRPC_H

#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

enum { XMLRPC_PARAMETERS = 8, XMLRPC_TEXT_BYTES = 16 << 10 };

struct xmlrpc_call {
    char *method;
    char *parameters[XMLRPC_PARAMETERS]; /* those that are no text: as empty ones */
    size_t count;
};

/* Reads a call. Entities of its own and anything beyond the limits are refused (BAD_INPUT). */
enum status xmlrpc_read(struct xmlrpc_call *call, struct slice body, struct reason *why);
void xmlrpc_release(struct xmlrpc_call *call);

/* Writes the answer of weblogUpdates: whether it failed, a message, and the address of the receipt,
 * which may be empty. */
void xmlrpc_ping_reply(struct buf *out, bool failed, const char *message, struct slice receipt);
void xmlrpc_fault(struct buf *out, int code, const char *message);

#endif
