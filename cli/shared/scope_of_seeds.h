/* Tells where a crawl may go when nobody has said so: the hosts of its seeds. */
#ifndef CLI_SHARED_SCOPE_OF_SEEDS_H
#define CLI_SHARED_SCOPE_OF_SEEDS_H

#include "cli/shared/cli.h"
#include "cli/shared/seeds.h"

/* Adds the hosts of the seeds to DIR/scope.conf, unless the configuration or people have said
 * otherwise. It is durable, and in force for what is put afterwards. */
enum status scope_of_seeds(const struct cli *cli, const struct seeds *seeds, struct reason *why);

#endif
