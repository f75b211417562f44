/* Addresses of hosts by a file of the operator's, in the format of hosts(5), instead of by DNS: for
 * mirrors and tests. One thread. */
#ifndef STAGES_FETCH_HTTP_HOSTS_FILE_H
#define STAGES_FETCH_HTTP_HOSTS_FILE_H

#include "base/slice.h"
#include "base/status.h"

struct names;

/* An empty path: no names. BAD_INPUT, with the line, when it is not in that format. */
enum status names_open(struct names **names, const char *path, struct reason *why);
void names_close(struct names *names); /* NULL is allowed */
/* host: as in a crawl key, in lower case. NULL: not in the file. An IPv6 address has brackets. The
 * first line that names a host counts. */
const char *names_find(const struct names *names, struct slice host);

#endif
