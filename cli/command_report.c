/* quadrille report: what publishers can learn about their pages from the crawl. */
#include <stdio.h>
#include <string.h>

#include "base/url.h"
#include "cli/cli.h"

static bool
print_page(void *context, struct slice key, struct slice record)
{
    struct slice state = {NULL, 0};
    FILE *out = context;
    (void)meta_record_text(record, META_STATE, &state);
    fprintf(out, "%.*s\t%.*s\n", (int)key.length - 1, key.at + 1, SLICE_PRINT(state));
    return true;
}

static enum status
report_site(struct metastore_client *metastore, const char *site, struct reason *why)
{
    struct buf uri, prefix;
    buf_init(&uri, 2 * URL_MAXIMUM);
    buf_init(&prefix, 2 * URL_MAXIMUM);
    enum status status = cli_document_key(site, &uri, why);
    if (status == STATUS_OK) {
        buf_append_char(&prefix, 'u');
        buf_append_slice(&prefix, buf_slice(&uri));
        status = metastore_scan(metastore, buf_slice(&prefix), slice_of(NULL, 0), UINT32_MAX,
                                print_page, stdout, CLI_ANSWER_MS, why);
    }
    buf_release(&uri);
    buf_release(&prefix);
    return status;
}

int
command_report(int argc, char **argv)
{
    struct cli_common common = {0};
    struct cli cli = {0};
    const struct flag flags[] = {CLI_COMMON_FLAGS(common), {0}};
    const struct program program = {
        .name = "quadrille report",
        .synopsis = "--dir DIR SITE...",
        .summary = "say what is good and what is to be mended on the pages of a site",
        .examples = "quadrille report --dir DIR example.org",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    struct metastore_client *metastore = NULL;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK && n == 0) {
        status = status_fail(&why, STATUS_MISUSE, "which site? See --help");
    }
    if (status == STATUS_OK) {
        status = cli_open(&cli, &common, &why);
    }
    if (status == STATUS_OK) {
        status = cli_serve(&cli, "metastore", &why);
    }
    if (status == STATUS_OK) {
        status = cli_metastore(&cli, &metastore, &why);
    }
    for (int i = 0; status == STATUS_OK && i < n; i++) {
        status = report_site(metastore, operands[i], &why);
    }
    if (metastore != NULL) {
        metastore_client_close(metastore);
    }
    cli_close(&cli);
    return cli_end(&program, status, &why);
}
