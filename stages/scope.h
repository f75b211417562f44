/* Which URIs the crawl may enter: scope by host, registrable domain, prefix and regular
 * expression, and depth. Changeable while running: DIR/scope.conf (written by `quadrille
 * scope` and by `quadrille crawl`) overrides the configuration and is read again when it changes.
 *
 * A URI is in scope when it matches any of scope.hosts, scope.domains, scope.prefixes,
 * scope.include, or when all four are empty; and matches no scope.exclude; and its depth is
 * at most scope.depth; and it is no trap (scope.repeats, stages/traps.h). One thread per object.
 */
#ifndef STAGES_SCOPE_H
#define STAGES_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "base/slice.h"
#include "base/status.h"

extern const struct opt scope_options[];

enum { SCOPE_TEXT_MAXIMUM = 48 << 20 }; /* of one option: the names of some two million hosts */

struct scope;

/* Reads the options and DIR/scope.conf (which need not exist). A wrong regular expression or
 * option is MISUSE and names itself. */
enum status scope_open(struct scope **scope, const struct opt_set *options, const char *directory,
                       struct reason *why);
void scope_close(struct scope *scope);

/* crawl_key: as url_crawl_key gives it. On false *because (may be NULL) names the rule. */
bool scope_allows(struct scope *scope, struct slice crawl_key, uint32_t depth,
                  const char **because);

/* Reads DIR/scope.conf again if it changed; a broken file keeps the old rules and is logged.
 * Call it about once a second. */
void scope_refresh(struct scope *scope);

/* Writes DIR/scope.conf durably (temporary file, rename): lines "name = value" for those of
 * the names given. Existing lines of other names stay. */
enum status scope_save(const char *directory, const char *const *assignments, size_t n,
                       struct reason *why);

#endif
