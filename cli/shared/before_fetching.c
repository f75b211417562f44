#include "cli/shared/before_fetching.h"

#include "crawl/scope.h"

enum status
require_scope(const struct cli *cli, struct reason *why)
{
    struct scope *scope;
    char place[CLI_PLACE_SIZE];
    cli_scope_place(cli, 0, place);
    TRY(scope_open(&scope, cli->options, place, why));
    const bool said = scope_is_said(scope);
    scope_close(scope);
    return said ? STATUS_OK
                : status_fail(why, STATUS_MISUSE,
                              "nothing says where the crawl may go; say it, for example: quadrille "
                              "scope --dir %s set scope.hosts=example.org (scope.hosts=* is "
                              "everywhere)",
                              cli->directory);
}

enum status
require_user_agent(const struct cli *cli, struct reason *why)
{
    static const char *const said_by[] = {"fetch.user_agent", "fetch.connect_to",
                                          "fetch.hosts_file"};
    struct scope *scope;
    for (size_t i = 0; i < sizeof said_by / sizeof said_by[0]; i++) {
        bool changed;
        (void)opt_text(cli->options, said_by[i], &changed);
        if (changed) {
            return STATUS_OK;
        }
    }
    char place[CLI_PLACE_SIZE];
    cli_scope_place(cli, 0, place);
    TRY(scope_open(&scope, cli->options, place, why));
    const bool local = scope_is_local(scope);
    scope_close(scope);
    return local ? STATUS_OK
                 : status_fail(why, STATUS_MISUSE,
                               "say who crawls, and how to reach you: fetch.user_agent in "
                               "%s/quadrille.conf, for example fetch.user_agent = MyCrawler/1.0 "
                               "(+https://example.org/crawler)",
                               cli->directory);
}
