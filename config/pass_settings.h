/* The --set arguments of one program for another that it runs. A program's arguments are seen by
 * every user of the machine, and settings may be secrets: so they go through a file in memory,
 * which the other program is given as --set @FILE. */
#ifndef CONFIG_PASS_SETTINGS_H
#define CONFIG_PASS_SETTINGS_H

#include "base/buf.h"
#include "base/options/opt.h"
#include "base/status.h"

/* Appends lines as they stand in quadrille.conf; what "@FILE" names stands in its place. */
enum status settings_text(const struct flag_list *assignments, struct buf *text,
                          struct reason *why);

enum { SETTINGS_ARGUMENT_SIZE = 40 };
/* Makes, in a child before it executes the program, what that is given as --set. The file is the
 * program's from there on; config_load keeps it from what that program runs in turn. */
enum status settings_pass(const struct flag_list *assignments,
                          char argument[SETTINGS_ARGUMENT_SIZE], struct reason *why);

/* Takes an assignment of --set, "NAME=VALUE" or "@FILE", into the options. */
enum status settings_take(struct opt_set *options, const char *assignment, struct reason *why);

#endif
