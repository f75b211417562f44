/* What IndexNow (https://www.indexnow.org/documentation) sends, and which URLs a key speaks for. */
#ifndef WEB_PING_INDEXNOW_H
#define WEB_PING_INDEXNOW_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

/* The body of a POST. Slices point into json, which the caller decrefs. */
struct indexnow_call {
    json_t *json;
    struct slice host, key, location; /* location empty: not said */
    const json_t *urls;               /* an array of strings */
};
/* BAD_INPUT: it is not as the protocol has it. */
enum status indexnow_read(struct indexnow_call *call, struct slice body, struct reason *why);

/* 8 to 128 letters, digits and hyphens. */
bool indexnow_key_is_valid(struct slice key);
/* Host and port of a crawl key. */
struct slice indexnow_authority(struct slice crawl_key);
/* Appends the crawl key of the key file: where it is said to be, or /KEY.txt of the host that the
 * URL is of. BAD_INPUT: it is on another host. */
enum status indexnow_key_file(struct slice url, struct slice key, struct slice location,
                              struct buf *out, struct reason *why);
/* A key file speaks for its host and, in a folder, for what is in that folder. */
bool indexnow_speaks_for(struct slice key_file, struct slice crawl_key);

#endif
