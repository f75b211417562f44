/* The key is the URI that a dump is asked for by. Documents are crawled by HTTP; dumps also lie on
 * FTP servers. */
#ifndef DATASETS_DUMP_KEY_H
#define DATASETS_DUMP_KEY_H

#include "base/buf.h"
#include "base/status.h"

/* Appends a crawl key or, for ftp and ftps, what url_ftp_key gives, of one file (RFC 1738, section
 * 3.2.2: ";type=i" is left out). base: for relative ones; may be empty. UNSUPPORTED, with a reason
 * for people, for what no dump is fetched by: other protocols, directories, patterns, listings,
 * text transfers. */
enum status dump_key(struct slice uri, struct slice base, struct buf *key, struct reason *why);

#endif
