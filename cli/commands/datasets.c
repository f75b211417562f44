/* quadrille datasets: what plans of hosts have done, what a plan would be, what sitemaps say. */
#include <string.h>

#include "base/url/url.h"
#include "cli/datasets/dataset_execute.h"
#include "cli/datasets/survey_print.h"
#include "cli/shared/cli.h"
#include "config/config.h"

enum { HOSTS_AT_A_TIME = 1000, RECORD_BYTES = 1 << 20, KEY_BYTES = 16 << 10 };

struct telling {
    struct metastore_client *metastore;
    uint64_t documents, requests, plans;
    struct reason why;
    enum status status;
    struct buf last; /* key */
    size_t seen;
};

static void
tell_dataset(struct telling *telling, struct slice uri)
{
    struct buf key, record;
    struct slice state = {0}, reason = {0}, text = {0};
    struct execution execution;
    struct arena arena;
    uint64_t documents = 0, requests = 0;
    buf_init(&key, KEY_BYTES);
    buf_init(&record, RECORD_BYTES);
    arena_init(&arena, RECORD_BYTES * 4);
    buf_printf(&key, "u%.*s", SLICE_PRINT(uri));
    if (metastore_get_wait(telling->metastore, buf_slice(&key), &record, CLI_ANSWER_MS,
                           &telling->why) == STATUS_OK &&
        meta_record_text(buf_slice(&record), META_EXECUTION, &text) &&
        execution_decode(text, &arena, &execution)) {
        meta_record_text(buf_slice(&record), META_STATE, &state);
        meta_record_text(buf_slice(&record), META_REASON, &reason);
        meta_record_number(buf_slice(&record), META_DATASET_DOCUMENTS, &documents);
        meta_record_number(buf_slice(&record), META_DATASET_REQUESTS, &requests);
        printf("  dataset %.*s <%.*s>: %s", SLICE_PRINT(execution.label),
               SLICE_PRINT(execution.dataset), state.length > 0 ? "" : "under way");
        printf("%.*s%s%.*s\n", SLICE_PRINT(state), reason.length > 0 ? ": " : "",
               SLICE_PRINT(reason));
        for (size_t i = 0; i < execution.dumps.count; i++) {
            printf("    dump %.*s\n", SLICE_PRINT(execution.dumps.items[i]));
        }
        for (size_t i = 0; i < execution.space_count; i++) {
            printf("    covers %.*s\n", SLICE_PRINT(execution.spaces[i].prefix));
        }
        telling->documents += documents;
        telling->requests += documents > 0 ? requests : 0;
    }
    arena_release(&arena);
    buf_release(&record);
    buf_release(&key);
}

static bool
tell_host(void *context, struct slice key, struct slice record)
{
    struct telling *telling = context;
    struct slice words = {0}, lines = {0}, line;
    telling->seen++;
    buf_reset(&telling->last);
    buf_append_slice(&telling->last, key);
    if (!meta_record_text(record, META_PLAN, &words)) {
        return true;
    }
    telling->plans++;
    printf("%.*s\n", (int)(key.length - 1), key.at + 1);
    while (execution_line(&words, &line)) {
        printf("  %.*s\n", SLICE_PRINT(line));
    }
    meta_record_text(record, META_DATASETS, &lines);
    while (execution_line(&lines, &line)) {
        tell_dataset(telling, line);
    }
    return true;
}

static enum status
tell_all(struct cli *cli, const char *host, struct reason *why)
{
    struct telling telling = {0};
    struct buf prefix, after;
    buf_init(&prefix, KEY_BYTES);
    buf_init(&after, KEY_BYTES);
    buf_init(&telling.last, KEY_BYTES);
    enum status status = cli_serve(cli, "metastore", why);
    if (status == STATUS_OK) {
        status = cli_metastore(cli, &telling.metastore, why);
    }
    buf_append_char(&prefix, 'h');
    if (status == STATUS_OK && host != NULL) {
        struct buf key;
        buf_init(&key, KEY_BYTES);
        status = cli_document_key(host, &key, why);
        buf_append_slice(&prefix, url_origin(buf_slice(&key)));
        buf_release(&key);
    }
    do {
        telling.seen = 0;
        buf_reset(&after);
        buf_append_slice(&after, buf_slice(&telling.last));
        if (status == STATUS_OK) {
            status = metastore_scan(telling.metastore, buf_slice(&prefix), buf_slice(&after),
                                    HOSTS_AT_A_TIME, tell_host, &telling, CLI_ANSWER_MS, why);
        }
    } while (status == STATUS_OK && telling.seen == HOSTS_AT_A_TIME);
    if (status == STATUS_OK && telling.plans == 0) {
        printf("no plan of datasets is known%s%s: no crawl has found a description of datasets "
               "there\n",
               host != NULL ? " of " : "", host != NULL ? host : "");
    }
    if (status == STATUS_OK && telling.requests > 0) {
        printf("%llu documents for %llu requests: %llu saved, %llu to one\n",
               (unsigned long long)telling.documents, (unsigned long long)telling.requests,
               (unsigned long long)(telling.documents > telling.requests
                                        ? telling.documents - telling.requests
                                        : 0),
               (unsigned long long)(telling.documents / telling.requests));
    }
    metastore_client_close(telling.metastore);
    buf_release(&telling.last);
    buf_release(&after);
    buf_release(&prefix);
    return status;
}

/* ---- a host or a sitemap is asked ---- */

struct asked {
    struct cli_common common;
    const char *execute, *withdraw;
    struct survey_printing printing;
};

typedef enum status survey_use(struct survey *survey, struct web_client *client, struct slice key,
                               const struct survey_printing *printing, struct reason *why);

static enum status
survey_operand(const struct asked *asked, const char *operand, survey_use *use, struct reason *why)
{
    struct opt_set *options = NULL;
    struct web_client *client = NULL;
    struct survey survey;
    struct buf key;
    if (asked->common.directory != NULL) {
        TRY(cli_check_directory(asked->common.directory, why));
    }
    TRY(config_load(asked->common.directory, &asked->common.assignments, &options, why));
    survey_init(&survey);
    buf_init(&key, URL_MAXIMUM);
    enum status status = cli_document_key(operand, &key, why);
    if (status == STATUS_OK) {
        status = web_client_open(&client, options, why);
    }
    if (status == STATUS_OK) {
        status = use(&survey, client, buf_slice(&key), &asked->printing, why);
    }
    web_client_close(client);
    survey_release(&survey);
    buf_release(&key);
    opt_set_free(options);
    return status;
}

/* ---- the command ---- */

static enum status
tell_or_execute(const struct asked *asked, const char *host, struct reason *why)
{
    struct cli cli = {0};
    const bool executes = asked->execute != NULL;
    enum status status = (executes ? cli_open : cli_open_reading)(&cli, &asked->common, why);
    if (status == STATUS_OK) {
        status = executes
                     ? dataset_execute(&cli, slice_string(asked->execute), asked->withdraw, why)
                     : tell_all(&cli, host, why);
    }
    cli_close(&cli);
    return status;
}

static enum status
answer(const struct asked *asked, char **operands, int n, struct reason *why)
{
    const bool plan = n > 0 && strcmp(operands[0], "plan") == 0;
    const bool validate = n > 0 && strcmp(operands[0], "validate") == 0;
    if ((asked->printing.json || asked->printing.prefer != NULL) && !plan) {
        return status_fail(why, STATUS_MISUSE, "--json and --prefer go with plan");
    }
    if (plan) {
        return n == 2 ? survey_operand(asked, operands[1], survey_print_plans, why)
                      : status_fail(why, STATUS_MISUSE, "it is plan HOST; see --help");
    }
    if (validate) {
        return n == 2 ? survey_operand(asked, operands[1], survey_print_faults, why)
                      : status_fail(why, STATUS_MISUSE, "it is validate URL; see --help");
    }
    return n <= 1 ? tell_or_execute(asked, n > 0 ? operands[0] : NULL, why)
                  : status_fail(why, STATUS_MISUSE, "one HOST at a time; see --help");
}

int
command_datasets(int argc, char **argv)
{
    struct asked asked = {0};
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(asked.common),
        {"json", 'j', FLAG_SWITCH, NULL, &asked.printing.json,
         "With plan: prints one JSON object for each dataset."},
        {"prefer", 0, FLAG_STRING, "WAY", &asked.printing.prefer,
         "With plan: dump, endpoint or pages, the way that is gone if it can be "
         "(datasets.prefer)."},
        {"execute", 0, FLAG_STRING, "URI", &asked.execute,
         "Proves and slices the dataset of this job; the fetch stage runs it so."},
        {"withdraw", 0, FLAG_STRING, "REASON", &asked.withdraw,
         "With --execute: gives the dumps up; the pages that they covered are fetched."},
        {0},
    };
    const struct program program = {
        .name = "quadrille datasets",
        .synopsis = "[OPTION]... [HOST | plan HOST | validate URL]",
        .summary = "say which datasets were or would be taken from dumps, and check sitemaps",
        .description =
            "Prints for every host with a plan, or for one: what was planned and what "
            "was refused, which dumps were taken, how many documents came out of them, "
            "whether samples proved them, and how many requests that saved.\n\n"
            "plan HOST asks the host for its robots.txt, its sitemaps and /.well-known/void, the "
            "heads of the dumps that they name, and its SPARQL endpoints for their descriptions "
            "and counts, and prints for every dataset what each way to it costs in requests and "
            "bytes, which way would be gone, and why. Claims that are not believed are listed with "
            "the reason.\n\n"
            "validate URL fetches the sitemap, those that it names, and the heads of the dumps of "
            "its datasets, and prints what is wrong: errors, which lose something, and quirks, "
            "which are understood all the same. Claims on other people's URIs are errors. Exit "
            "status 100 when there is anything to mend.\n\n"
            "plan and validate need no data directory; its configuration is used when given.",
        .examples = "quadrille datasets --dir DIR example.org\n"
                    "quadrille datasets plan --dir DIR example.org\n"
                    "quadrille datasets validate --dir DIR http://example.org/sitemap.xml",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK) {
        status = answer(&asked, operands, n, &why);
    }
    return cli_end(&program, status, &why);
}
