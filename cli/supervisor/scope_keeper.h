/* The supervisor's part in docs/SCOPE.md: what people edit by hand, and what the options that it
 * was started with say, has a version, too. */
#ifndef CLI_SUPERVISOR_SCOPE_KEEPER_H
#define CLI_SUPERVISOR_SCOPE_KEEPER_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/options/opt.h"

struct scope_keeper {
    const char *directory; /* the caller's; NULL: nobody here filters */
    uint64_t configured;
    struct stat rules; /* scope.conf as it was seen last */
    bool looked;
};

void scope_keeper_open(struct scope_keeper *keeper, const char *directory,
                       const struct opt_set *options);
/* Is to be called once a second; it is cheap while nothing changes. */
void scope_keeper_look(struct scope_keeper *keeper);

#endif
