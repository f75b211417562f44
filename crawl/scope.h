/* Which URIs the crawl may enter: scope by host, registrable domain, prefix and regular
 * expression, and depth. Changeable while running: DIR/scope.conf (written by `quadrille
 * scope` and by `quadrille crawl`) overrides the configuration and is read again when it changes.
 *
 * A URI is in scope when it matches any of scope.hosts, scope.domains, scope.prefixes,
 * scope.include, or when all four are empty; and matches no scope.exclude; and its depth is
 * at most scope.depth; and it is no trap (crawl/traps.h). One thread per object.
 * Every change of the rules has a version, and the queue has what was filtered by an older one
 * considered again: docs/SCOPE.md.
 */
#ifndef CRAWL_SCOPE_H
#define CRAWL_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options/opt.h"
#include "base/slice.h"
#include "base/status.h"
#include "config/scope_file.h"

extern const struct opt scope_options[];

struct scope;

/* Reads the options and DIR/scope.conf (which need not exist). A wrong regular expression or
 * option is MISUSE and names itself. */
enum status scope_open(struct scope **scope, const struct opt_set *options, const char *directory,
                       struct reason *why);
void scope_close(struct scope *scope);

/* crawl_key: as url_crawl_key gives it. On false *because (may be NULL) names the rule. */
bool scope_allows(struct scope *scope, struct slice crawl_key, uint32_t depth,
                  const char **because);

/* Reads DIR/scope.conf again if it changed; a broken file keeps the old rules and is logged, and
 * one that an editor may still be writing is left alone for now. Call it about once a second. */
void scope_refresh(struct scope *scope);

/* Returns the version of the scope that what is filtered now counts as (config/scope_file.h; 0:
 * nobody has said): that of the rules, after a look whether there are any of version `least`, which
 * the queue says is in force. The rules may be newer than that, never older. */
uint64_t scope_at_least(struct scope *scope, uint64_t least);

/* Returns whether anything says which URIs are in scope. */
bool scope_is_said(const struct scope *scope);
/* Returns whether that is only hosts of this machine: localhost, addresses of loopback. */
bool scope_is_local(const struct scope *scope);

/* Changes DIR/scope.conf durably: lines "name = value" for those of the names given; lines of other
 * names stay. One of several programs that do so waits for the others. */
enum status scope_save(const char *directory, const char *const *assignments, size_t n,
                       struct reason *why);

#endif
