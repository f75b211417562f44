/* Changes of DIR/scope.conf, in words by which other nodes change theirs (docs/SCOPE.md):
 *
 *   +NAME=ITEM,ITEM   entries of a list that came
 *   -NAME=ITEM,ITEM   entries that went
 *   =NAME=VALUE       a number that was set
 *
 * one a line, each ended. An option of which scope.conf says nothing any more is each node's own
 * affair: its configuration holds then. */
#ifndef CONFIG_SCOPE_CHANGE_H
#define CONFIG_SCOPE_CHANGE_H

#include "base/buf.h"
#include "base/options/opt.h"
#include "base/status.h"

/* Longest line of a change, with its end. What does not fit in one stays at its node. */
enum { SCOPE_CHANGE_LINE = 32 << 10 };

/* Appends what makes `after` of `before`, both texts as scope.conf has. */
void scope_change_between(struct slice before, struct slice after, struct buf *change);
/* Appends `text` with the change in it; what is there already, or is gone already, changes nothing,
 * so a change may be repeated. configured: holds for options that text does not set; NULL: nothing
 * does. LIMIT: it would be too long. */
enum status scope_change_apply(struct slice text, const struct opt_set *configured,
                               struct slice change, struct buf *out, struct reason *why);

/* DIR/scope.told: scope.conf as other nodes know it, by what they were told and what they told. An
 * empty text when there is none. */
enum status scope_told_read(const char *directory, struct buf *text, struct reason *why);
enum status scope_told_write(const char *directory, struct slice text, struct reason *why);

/* Another node's change into scope.told and scope.conf, which gets a version if that changes it.
 * AGAIN: somebody is writing to it. */
enum status scope_change_take(const char *directory, const struct opt_set *configured,
                              struct slice change, struct reason *why);

#endif
