/* DIR/scope.conf, where the crawl may go, and DIR/scope.version, which edition of it that is.
 *
 * scope.conf has lines "name = value". People may edit it; programs replace it whole, one at a
 * time. scope.version has one line, "VERSION RULES CONFIGURED": a number that grows with every
 * change, a fingerprint of scope.conf, and one of the options of quadrille.conf and --set that
 * filter, too. It is written after scope.conf. config_scope_folder (config/config.h) says where
 * both lie. Who filters reads the version first and the rules afterwards, so his rules are never
 * older than the version that he says he filtered by. */
#ifndef CONFIG_SCOPE_FILE_H
#define CONFIG_SCOPE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/options/opt.h"
#include "base/status.h"

#define SCOPE_RULES_FILE "scope.conf"
#define SCOPE_LOCK_FILE "scope.lock"
enum { SCOPE_TEXT_MAXIMUM = 48 << 20 }; /* of one option: the names of some two million hosts */
enum { SCOPE_SETTLE_MS = 1000 };        /* a file that an editor wrote is whole after so long */

struct scope_edition {
    uint64_t version; /* 0: nobody has said yet */
    uint64_t rules, configured;
};
/* False: there is none. */
bool scope_edition_read(const char *directory, struct scope_edition *edition);

/* Appends its path. */
void scope_edition_path(const char *directory, struct buf *out);
/* Appends the path of scope.conf. */
void scope_file_path(const char *directory, struct buf *out);

/* Appends scope.conf. NOT_FOUND: there is none. *whole: it is as a program wrote it, or nobody has
 * written to it for SCOPE_SETTLE_MS. */
enum status scope_file_read(const char *directory, struct buf *text, bool *whole,
                            struct reason *why);

/* Who changes something has the lock meanwhile; it goes with close(2). */
enum status scope_file_lock(const char *directory, int *lock, struct reason *why);
/* Puts the lines "name=value" in the place of those of the same names. The caller has the lock. */
enum status scope_file_set(const char *directory, const char *const *assignments, size_t n,
                           struct reason *why);
/* Appends the text `old` with the lines "name=value" in the place of those of the same names. */
void scope_text_set(struct slice old, const char *const *assignments, size_t n, struct buf *text);
/* Makes this text NAME beside scope.conf, durably, or leaves that as it was. The caller has the
 * lock. */
enum status scope_file_replace(const char *directory, const char *name, struct slice text,
                               struct reason *why);
/* Gives what is there now a version, unless it is that of the last one. The caller has the lock.
 * configured: NULL leaves that as it was. */
enum status scope_file_settle(const char *directory, const uint64_t *configured,
                              struct reason *why);

#endif
