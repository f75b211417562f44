/* Folders as sites: what a host and a path mean. Read once, then thread-safe. */
#ifndef EXAMPLES_SITE_H
#define EXAMPLES_SITE_H

#include <time.h>

#include "base/buf.h"
#include "base/status.h"

enum { SITE_HOST_SIZE = 256, SITE_PATH_SIZE = 2048, SITE_TEXT_MAXIMUM = 16 << 20 };

struct sites;
/* Reads the names of the hosts and their .serve files. MISUSE names file and line. */
enum status sites_open(struct sites **sites, const char *folder, struct reason *why);
void sites_close(struct sites *sites);
size_t sites_count(const struct sites *sites);

enum site_kind {
    SITE_FILE,     /* answer: file, size, modified, type */
    SITE_TEXT,     /* text: a page made here */
    SITE_REDIRECT, /* answer: status; text: the target */
    SITE_STATUS,   /* answer: status */
    SITE_ENDLESS
};
struct site_answer {
    int file; /* open; the caller closes it */
    uint64_t size;
    time_t modified;
    const char *type;     /* NULL: none; lives as long as sites */
    const char *encoding; /* Content-Encoding; the same */
    unsigned status;
};
/* path: percent-decoded, without the query. */
enum site_kind site_find(const struct sites *sites, const char *host, const char *path,
                         struct site_answer *answer, struct buf *text);

#endif
