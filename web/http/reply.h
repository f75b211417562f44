/* Tells how a reply leaves: whole, from a file, or as it is made; packed for who takes it. */
#ifndef WEB_HTTP_REPLY_H
#define WEB_HTTP_REPLY_H

#include <stdatomic.h>

#include "web/http/server.h"

struct MHD_Connection;
/* Takes what the reply holds, but for its body. busy counts replies that are made while they are
 * sent. False: it cannot be sent. */
bool web_reply_send(const struct web_server_options *options, atomic_uint *busy,
                    struct MHD_Connection *connection, struct web_reply *reply);

#endif
