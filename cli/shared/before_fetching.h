/* Checks that it is said, before anything is fetched, where the crawl may go and who crawls. */
#ifndef CLI_SHARED_BEFORE_FETCHING_H
#define CLI_SHARED_BEFORE_FETCHING_H

#include "cli/shared/cli.h"

/* MISUSE, with what to set, while nothing says where a crawl may go: it would be everywhere. */
enum status require_scope(const struct cli *cli, struct reason *why);
/* MISUSE, with what to set, while fetch.user_agent is the default. Not where all connections are
 * led to a host of the operator's (fetch.connect_to, fetch.hosts_file), or all that is in scope is
 * on loopback. */
enum status require_user_agent(const struct cli *cli, struct reason *why);

#endif
