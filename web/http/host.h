/* The names by which the service may be asked. A page of another site that has its own name lead to
 * this machine (DNS rebinding) is to a browser of the same origin as the service; its name in the
 * Host field is what tells it apart. */
#ifndef WEB_HTTP_HOST_H
#define WEB_HTTP_HOST_H

#include <stdbool.h>

#include "base/slice.h"

/* The host of a Host field, of an Origin or of a URL, without the port and the brackets of an IPv6
 * address; empty when there is none, or it is malformed. */
struct slice web_host_of(struct slice authority);
/* localhost, names below it, and addresses of loopback. */
bool web_host_is_loopback(struct slice host);
bool web_host_is_address(struct slice host);
/* Returns whether host is one of the names, which are separated by blanks or commas; * stands for
 * all.
 */
bool web_host_is_listed(struct slice host, const char *names);

#endif
