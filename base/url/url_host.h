/* Hosts of URLs by the URL standard, section 3. Thread-safe. */
#ifndef BASE_URL_URL_HOST_H
#define BASE_URL_URL_HOST_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

/* Appends the serialised host; special: of a URL whose scheme is special (http, ftp, file …).
 * BAD_INPUT when it is no host. */
enum status url_host_parse(struct slice text, bool special, struct buf *out, struct reason *why);

#endif
