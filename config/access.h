/* Tells who may read what Quadrille writes in a data directory: its owner, unless files.readers
 * says more. Sockets, locks, settings, keys and logs are the owner's alone, whatever it says. */
#ifndef CONFIG_ACCESS_H
#define CONFIG_ACCESS_H

#include "base/options/opt.h"

extern const struct opt access_options[];

/* Sets this process's umask by files.readers: for programs that write in a data directory and
 * nothing of their user's. */
void access_restrict(const struct opt_set *options);

/* Takes rights away that others have from folders and settings of DIR beyond files.readers, which
 * may have said more before. What cannot be changed is logged. After access_restrict. */
void access_narrow(const char *directory);

#endif
