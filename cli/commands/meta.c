/* quadrille meta: what is known of a URI or a host. */
#include <string.h>

#include "base/url/url.h"
#include "cli/shared/cli.h"
#include "datasets/execution.h"
#include "metastore/record_rdf.h"
#include "stages/skeleton/document.h"

enum { TEXT_MAXIMUM = 16 << 20 };

static enum status
print_record(struct metastore_client *metastore, struct slice key, bool *found, struct reason *why)
{
    struct buf record, text;
    buf_init(&record, TEXT_MAXIMUM);
    buf_init(&text, TEXT_MAXIMUM);
    enum status status = metastore_get_wait(metastore, key, &record, CLI_ANSWER_MS, why);
    *found = status == STATUS_OK && record.length > 0;
    if (*found) {
        status = meta_turtle(key, buf_slice(&record), &text, why);
    }
    if (status == STATUS_OK) {
        fwrite(text.data, 1, text.length, stdout);
    }
    buf_release(&record);
    buf_release(&text);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Returns the fragment of the record's key. A document that was fetched for another one, or as a
 * dump, has a record of its own; by FTP only dumps are fetched. */
static const char *
fragment_of(const char *uri)
{
    const char *fragment = strchr(uri, '#');
    if (url_is_ftp(slice_string(uri))) {
        return DUMP_FRAGMENT;
    }
    return fragment != NULL && (strcmp(fragment, RESOURCE_FRAGMENT) == 0 ||
                                strcmp(fragment, DUMP_FRAGMENT) == 0)
               ? fragment
               : "";
}

static enum status
print_meta(struct cli *cli, const char *uri, char kind, struct reason *why)
{
    struct metastore_client *metastore;
    struct buf crawl_key, key;
    bool found = false;
    TRY(cli_serve(cli, "metastore", why));
    TRY(cli_metastore(cli, &metastore, why));
    buf_init(&crawl_key, 2 * URL_MAXIMUM);
    buf_init(&key, 2 * URL_MAXIMUM);
    enum status status = cli_dump_key(uri, &crawl_key, why);
    if (status == STATUS_OK) {
        const struct slice document = buf_slice(&crawl_key);
        buf_append_char(&key, kind);
        buf_append_slice(&key, kind == 'h' ? url_origin(document) : document);
        buf_append_string(&key, kind == 'u' ? fragment_of(uri) : "");
        status = print_record(metastore, buf_slice(&key), &found, why);
    }
    if (status == STATUS_OK && !found) {
        status = status_fail(why, STATUS_NOT_FOUND, "nothing is known of %.*s", (int)key.length - 1,
                             key.data + 1);
    }
    buf_release(&crawl_key);
    buf_release(&key);
    metastore_client_close(metastore);
    return status;
}

int
command_meta(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct cli cli = {0};
    bool host = false, seen = false;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"host", 0, FLAG_SWITCH, NULL, &host,
         "What is known of the URI's host instead: robots.txt, sitemaps, delays, errors."},
        {"seen", 0, FLAG_SWITCH, NULL, &seen,
         "What sitemaps say of the URI instead, and when sitemaps and links first named it."},
        {0},
    };
    const struct program program = {
        .name = "quadrille meta",
        .synopsis = "--dir DIR [--host | --seen] URI...",
        .summary = "print what is known of a URI, as Turtle",
        .description =
            "Prints state, HTTP exchange, times, digests, detected type, place in the archive, "
            "transforms and counts of each URI, in the vocabularies HTTP in RDF, PROV-O, "
            "DCTERMS, DCAT, SPDX and VoID. What was fetched only because a document needs it, a "
            "JSON-LD context, has a record of its own: its URI with #resource.",
        .examples = "quadrille meta --dir DIR https://example.org/\n"
                    "quadrille meta --dir DIR --host https://example.org/",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK && n == 0) {
        status = status_fail(&why, STATUS_MISUSE, "which URI? See --help");
    }
    if (status == STATUS_OK) {
        status = cli_open_reading(&cli, &common, &why);
    }
    for (int i = 0; status == STATUS_OK && i < n; i++) {
        status = print_meta(&cli, operands[i], host ? 'h' : seen ? 's' : 'u', &why);
    }
    cli_close(&cli);
    return cli_end(&program, status, &why);
}
