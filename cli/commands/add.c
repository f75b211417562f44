/* quadrille add: URIs into a crawl, running or not. */
#include "cli/shared/before_fetching.h"
#include "cli/shared/cli.h"
#include "cli/shared/seeds.h"
#include "cli/supervisor/supervisor.h"

static enum status
add(struct cli *cli, const struct seeds *seeds, bool again, struct reason *why)
{
    struct queue_client *queue;
    if (supervisor_pid(cli->directory) == 0) { /* else it has been said, perhaps by --set */
        TRY(require_scope(cli, why));
    }
    TRY(cli_serve(cli, "queue", why));
    TRY(cli_queue(cli, &queue, why));
    const enum status status =
        seeds_put(seeds, queue, (uint8_t)(JOB_SEED | (again ? JOB_RECRAWL : 0)), NULL, why);
    queue_client_close(queue);
    return status;
}

int
command_add(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct flag_list files = {0};
    struct seeds seeds = {0};
    struct cli cli = {0};
    bool again = false;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"seeds", 0, FLAG_REPEATED, "FILE", &files, "Reads URIs from FILE; - for standard input."},
        {"again", 'a', FLAG_SWITCH, NULL, &again,
         "Fetches also what was fetched before, with a conditional request."},
        {0},
    };
    const struct program program = {
        .name = "quadrille add",
        .synopsis = "--dir DIR [--again] URI...",
        .summary = "add URIs to the crawl",
        .description =
            "Puts URIs into the queue. They are durable when the command returns; a "
            "crawl that runs takes them at once, else the next one does. A URI that was "
            "ever put before is not "
            "fetched again, unless --again asks for it. Where the crawl may go must have "
            "been said before, by scope.* in quadrille.conf or by `quadrille scope`.",
        .examples = "quadrille add --dir DIR https://example.org/ https://example.net/\n"
                    "quadrille add --dir DIR --again https://example.org/",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    for (size_t i = 0; i < files.count && status == STATUS_OK; i++) {
        status = seeds_add_file(&seeds, files.items[i], &why);
    }
    for (int i = 0; status == STATUS_OK && i < n; i++) {
        status = seeds_add(&seeds, operands[i], &why);
    }
    if (status == STATUS_OK && seeds.count == 0) {
        status = status_fail(&why, STATUS_MISUSE, "which URI? See --help");
    }
    if (status == STATUS_OK) {
        status = cli_open(&cli, &common, &why);
    }
    if (status == STATUS_OK) {
        status = seeds_apply_rules(&seeds, cli.options, &why);
    }
    if (status == STATUS_OK) {
        status = add(&cli, &seeds, again, &why);
    }
    seeds_release(&seeds);
    cli_close(&cli);
    return cli_end(&program, status, &why);
}
