/* quadrille update: SPARQL 1.1 Update on the index, running or not. */
#include <stdlib.h>
#include <string.h>

#include "base/system/file.h"
#include "cli/shared/cli.h"
#include "cli/shared/seeds.h"

enum { UPDATE_MAXIMUM = 16 << 20 };

/* LOAD is a fetch: the document comes through the pipeline into the graph of its own URI. */
static enum status
load(void *context, struct slice document, struct slice graph, struct reason *why)
{
    struct cli *cli = context;
    struct queue_client *queue;
    struct seeds seeds = {0};
    if (graph.length > 0 && !slice_equal(graph, document)) {
        return status_fail(why, STATUS_UNSUPPORTED,
                           "LOAD INTO another graph: a document's quads are in the graph of its "
                           "URI; LOAD <%.*s> alone, then COPY",
                           SLICE_PRINT(document));
    }
    char *uri = strndup(document.at, document.length);
    enum status status = seeds_add(&seeds, uri ? uri : "", why);
    free(uri);
    if (status == STATUS_OK) {
        status = seeds_apply_rules(&seeds, cli->options, why);
    }
    if (status == STATUS_OK && (status = cli_queue(cli, &queue, why)) == STATUS_OK) {
        status = seeds_put(&seeds, queue, JOB_SEED | JOB_RECRAWL, NULL, why);
        queue_client_close(queue);
    }
    if (status == STATUS_OK) {
        printf("<%.*s> is queued: it is fetched when a crawl or quadrille up runs\n",
               SLICE_PRINT(document));
    }
    seeds_release(&seeds);
    return status;
}

static enum status
update(struct cli *cli, struct slice text, int64_t timeout, const char *default_graph,
       struct reason *why)
{
    struct index_client *index;
    struct index_update_report report = {0};
    const struct index_update_options options = {.default_graph = slice_string(default_graph),
                                                 .timeout_ms = (uint32_t)timeout * 1000,
                                                 .load = load,
                                                 .context = cli};
    TRY(cli_serve(cli, "queue,metastore,index", why));
    TRY(cli_index(cli, &index, why));
    const enum status status = index_update(index, text, &options, &report, why);
    index_client_close(index);
    printf("%llu operations done, %llu quads removed, %llu added\n",
           (unsigned long long)report.operations, (unsigned long long)report.removed,
           (unsigned long long)report.added);
    return status;
}

int
command_update(int argc, char **argv)
{
    struct cli_common common = {0};
    struct cli cli = {0};
    const char *file = NULL, *default_graph = "";
    int64_t timeout = 60;
    struct buf text;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"file", 'f', FLAG_STRING, "FILE", &file,
         "Reads the update from FILE; - for standard input."},
        {"default-graph", 0, FLAG_STRING, "IRI", &default_graph,
         "The one graph that is meant where none is named."},
        {"timeout", 0, FLAG_INTEGER, "SECONDS", &timeout,
         "Gives up an operation's WHERE after so long (60)."},
        {0},
    };
    const struct program program = {
        .name = "quadrille update",
        .synopsis = "--dir DIR [OPTION]... UPDATE",
        .summary = "change the index by SPARQL Update",
        .description =
            "Carries out a SPARQL 1.1 Update. What has no GRAPH is inserted into the graph "
            "<urn:x-quadrille:default>, and deleted from every graph that has it; --default-graph "
            "makes another one the only default graph. Each operation "
            "is durable before the next begins; in each partition it is done whole or not at all. "
            "LOAD puts the document into the fetch queue. When a document's content changes, the "
            "crawl replaces what an update made of its graph.",
        .examples = "quadrille update --dir DIR 'INSERT DATA { GRAPH <urn:mine> { <urn:a> "
                    "<urn:p> 1 } }'\n"
                    "quadrille update --dir DIR 'CLEAR GRAPH <urn:mine>'",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    buf_init(&text, UPDATE_MAXIMUM);
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK && (timeout < 1 || timeout > 86400)) {
        status = status_fail(&why, STATUS_MISUSE, "--timeout is 1 to 86400 seconds");
    }
    if (status == STATUS_OK && n + (file != NULL) != 1) {
        status = status_fail(&why, STATUS_MISUSE, "one update is needed; see --help");
    }
    if (status == STATUS_OK && file != NULL) {
        status = file_read_or_input(file, &text, &why);
    } else if (status == STATUS_OK) {
        buf_append_string(&text, operands[0]);
    }
    if (status == STATUS_OK) {
        status = cli_open(&cli, &common, &why);
    }
    if (status == STATUS_OK) {
        status = update(&cli, buf_slice(&text), timeout, default_graph, &why);
    }
    buf_release(&text);
    cli_close(&cli);
    return cli_end(&program, status, &why);
}
