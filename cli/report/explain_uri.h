/* quadrille explain URI: what is known of a URI and its host, and what the rules say of it now. */
#ifndef CLI_REPORT_EXPLAIN_URI_H
#define CLI_REPORT_EXPLAIN_URI_H

#include "cli/shared/cli.h"

enum status explain_uri(const struct cli_common *common, const char *uri, bool json,
                        struct reason *why);

#endif
