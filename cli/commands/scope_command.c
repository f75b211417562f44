/* quadrille scope: which URIs may be crawled, also while running. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/url/url.h"
#include "cli/shared/cli.h"
#include "config/scope_file.h"
#include "crawl/scope.h"

static enum status
show(const struct cli *cli, struct reason *why)
{
    struct buf path;
    FILE *file;
    char line[4096];
    enum status status = STATUS_OK;
    puts("# configuration");
    for (const struct opt *o = scope_options; o->name != NULL; o++) {
        bool changed;
        const char *text = opt_text(cli->options, o->name, &changed);
        printf("%s = %s%s\n", o->name, text, changed ? "" : "   # default");
    }
    buf_init(&path, 1 << 16);
    char place[CLI_PLACE_SIZE];
    cli_scope_place(cli, 0, place);
    scope_file_path(place, &path);
    file = fopen(path.data, "re");
    if (file != NULL) {
        printf("# %s, which overrides it\n", path.data);
        while (fgets(line, sizeof line, file) != NULL) {
            fputs(line, stdout);
        }
        fclose(file);
    } else if (errno != ENOENT) {
        status = status_fail_errno(why, "cannot read %s", path.data);
    }
    buf_release(&path);
    return status;
}

static enum status
check(const struct cli *cli, char **uris, int n, int64_t depth, struct reason *why)
{
    struct scope *scope;
    struct buf key;
    char place[CLI_PLACE_SIZE];
    cli_scope_place(cli, 0, place);
    TRY(scope_open(&scope, cli->options, place, why));
    buf_init(&key, 2 * URL_MAXIMUM);
    enum status status = STATUS_OK;
    for (int i = 0; i < n && status == STATUS_OK; i++) {
        const char *because;
        buf_reset(&key);
        status = cli_document_key(uris[i], &key, why);
        if (status == STATUS_OK) {
            const bool allowed = scope_allows(scope, buf_slice(&key), (uint32_t)depth, &because);
            printf("%s\t%.*s\t%s\n", allowed ? "in" : "out", SLICE_PRINT(buf_slice(&key)),
                   allowed ? "" : because);
        }
    }
    buf_release(&key);
    scope_close(scope);
    return status;
}

static enum status
save(const struct cli *cli, const char *const *assignments, size_t n, struct reason *why)
{
    for (size_t i = 0; i < cli_scope_places(cli); i++) {
        char place[CLI_PLACE_SIZE];
        cli_scope_place(cli, i, place);
        TRY(scope_save(place, assignments, n, why));
    }
    return STATUS_OK;
}

static enum status
run(const struct cli *cli, char **operands, int n, int64_t depth, struct reason *why)
{
    if (n == 0 || (n == 1 && strcmp(operands[0], "show") == 0)) {
        return show(cli, why);
    }
    if (strcmp(operands[0], "check") == 0 && n > 1) {
        return check(cli, operands + 1, n - 1, depth, why);
    }
    if (strcmp(operands[0], "set") == 0 && n > 1) {
        return save(cli, (const char *const *)operands + 1, (size_t)(n - 1), why);
    }
    return status_fail(why, STATUS_MISUSE,
                       "say show, check URI..., or set NAME=VALUE...; see --help");
}

int
command_scope(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct cli cli = {0};
    int64_t depth = 0;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"depth", 0, FLAG_INTEGER, "N", &depth, "check: at this depth (0)."},
        {0},
    };
    const struct program program = {
        .name = "quadrille scope",
        .synopsis = "--dir DIR [show | check URI... | set NAME=VALUE...]",
        .summary = "show or change which URIs may be crawled, also while running",
        .description =
            "Shows the rules, checks URIs against them, or changes them: `set` writes "
            "DIR/scope.conf, which overrides quadrille.conf. It is in force for what is put "
            "afterwards, and for processes that run within a second. What was refused before is "
            "found again, without asking any host (docs/SCOPE.md).",
        .examples = "quadrille scope --dir DIR\n"
                    "quadrille scope --dir DIR set scope.domains=example.org scope.depth=5\n"
                    "quadrille scope --dir DIR check https://example.org/page",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK) {
        const bool writes = n > 0 && strcmp(operands[0], "set") == 0;
        status = (writes ? cli_open : cli_open_reading)(&cli, &common, &why);
    }
    if (status == STATUS_OK) {
        status = run(&cli, operands, n, depth, &why);
    }
    cli_close(&cli);
    return cli_end(&program, status, &why);
}
