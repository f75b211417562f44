/* Tells who we are to whom: credentials by origin, from a file that nobody else may read. Lines:
 *
 *   ORIGIN basic USER:PASSWORD
 *   ORIGIN bearer TOKEN
 *
 * such as "https://data.example.org basic me:secret" or "ftp://ftp.example.org basic me:secret";
 * empty lines and # comments are skipped. Read-only after opening. */
#ifndef STAGES_FETCH_HTTP_FETCH_CREDENTIALS_H
#define STAGES_FETCH_HTTP_FETCH_CREDENTIALS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

struct credential {
    char *origin;
    char *secret; /* "user:password" or the token */
    bool bearer;
};

struct credentials;

/* path "": there are none. MISUSE: a line that is not understood (named by its number, never
 * shown), or a file that group or others may read. */
enum status credentials_open(struct credentials **credentials, const char *path,
                             struct reason *why);
void credentials_close(struct credentials *credentials); /* NULL is allowed */
/* NULL: none for exactly this origin. */
const struct credential *credentials_find(const struct credentials *credentials,
                                          struct slice origin);

/* Puts "[withheld]" in place of the values of Authorization lines of a request's header. */
void credentials_withhold(struct buf *request);

#endif
