/* quadrille report: for publishers: what was found in their pages, what was broken, how to mend it.
 *
 * All of it is in the metadata. They are scanned once for the totals and then once for each
 * severity that occurs: so the pages come by severity and URI, and memory does not grow with
 * them, however many they are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/url/url.h"
#include "cli/report/html_frame.h"
#include "cli/report/report_print.h"
#include "cli/report/report_sitemaps.h"
#include "cli/shared/cli.h"
#include "cli/validation/site_terms.h"
#include "cli/validation/validation_print.h"

enum {
    SCAN_MS = 60000,
    LIMIT_TEXT = 50,
    LIMIT_HTML = 200,
    PREFIXES_MOST = 64,
    LINE_MAXIMUM = 8 << 20
};

struct report {
    struct metastore_client *metastore;
    char **prefixes; /* of keys; sorted, none begins with another */
    size_t prefix_count;
    struct report_page page;
    struct report_totals totals;
    struct report_printer printer;
    uint64_t limit;
    enum report_severity severity; /* of the pages that are now to be printed */
};

struct report_options {
    const char *format;
    int64_t limit; /* -1: by format */
    bool problems, json, html;
    bool framed; /* the whole page of HTML */
};

/* ---- which pages ---- */

static enum status
add_prefix(struct report *report, const char *scheme, const char *site, struct reason *why)
{
    struct buf text;
    struct buf key;
    buf_init(&text, 2 * URL_MAXIMUM);
    buf_init(&key, 2 * URL_MAXIMUM);
    buf_append_char(&key, 'u');
    buf_printf(&text, "%s%s", scheme, site);
    const enum status status = text.overflowed ? status_fail(why, STATUS_MISUSE, "SITE is too long")
                                               : cli_document_key(text.data, &key, why);
    if (status == STATUS_OK) {
        report->prefixes =
            memory_resize(report->prefixes, report->prefix_count + 1, sizeof *report->prefixes);
        report->prefixes[report->prefix_count++] = memory_string_n(key.data, key.length);
    }
    buf_release(&text);
    buf_release(&key);
    return status;
}

static int
compare_prefixes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A site named without a scheme is looked for under both. */
static enum status
set_prefixes(struct report *report, char **sites, int n, struct reason *why)
{
    for (int i = 0; i < n; i++) {
        const bool whole = strstr(sites[i], "://") != NULL;
        TRY(add_prefix(report, whole ? "" : "http://", sites[i], why));
        if (!whole) {
            TRY(add_prefix(report, "https://", sites[i], why));
        }
    }
    qsort(report->prefixes, report->prefix_count, sizeof *report->prefixes, compare_prefixes);
    size_t kept = 0;
    for (size_t i = 0; i < report->prefix_count; i++) {
        const char *last = kept > 0 ? report->prefixes[kept - 1] : NULL;
        if (last != NULL && strncmp(report->prefixes[i], last, strlen(last)) == 0) {
            free(report->prefixes[i]);
        } else {
            report->prefixes[kept++] = report->prefixes[i];
        }
    }
    report->prefix_count = kept;
    return STATUS_OK;
}

/* ---- scans ---- */

static bool
count_page(void *context, struct slice key, struct slice record)
{
    struct report *report = context;
    if (report_page_read(&report->page, key, record)) {
        report_totals_add(&report->totals, &report->page);
    }
    return true;
}

static bool
is_full(const struct report *report)
{
    return (report->limit > 0 && report->printer.pages >= report->limit) ||
           ferror(report->printer.out) != 0;
}

static bool
print_page(void *context, struct slice key, struct slice record)
{
    struct report *report = context;
    if (report_page_read(&report->page, key, record) && report->page.severity == report->severity) {
        report_print_page(&report->printer, &report->page);
    }
    return !is_full(report);
}

static enum status
scan(struct report *report, metastore_visit *visit, struct reason *why)
{
    for (size_t i = 0; i < report->prefix_count && !is_full(report); i++) {
        TRY(metastore_scan(report->metastore, slice_string(report->prefixes[i]), slice_of(NULL, 0),
                           UINT32_MAX, visit, report, SCAN_MS, why));
    }
    return STATUS_OK;
}

/* Finds which of the properties and classes that the pages use cannot be looked up, and since
 * when. */
static enum status
print_terms(struct report *report, struct cli *cli, struct reason *why)
{
    const char *prefixes[PREFIXES_MOST];
    struct index_client *index;
    struct term_survey survey;
    const size_t count =
        report->prefix_count < PREFIXES_MOST ? report->prefix_count : PREFIXES_MOST;
    for (size_t i = 0; i < count; i++) {
        prefixes[i] = report->prefixes[i] + 1; /* without the begin of keys */
    }
    TRY(cli_index(cli, &index, why));
    term_survey_init(&survey, report->metastore, index);
    enum status status = term_survey_prefixes(&survey, prefixes, count, why);
    if (status == STATUS_OK) {
        status = term_survey_judge(&survey, why);
    }
    if (status == STATUS_OK) {
        validation_print_html(&survey, "these pages", false, stdout);
    }
    term_survey_release(&survey);
    index_client_close(index);
    return status;
}

static enum status
print_report(struct report *report, struct cli *cli, char **sites, int n,
             const struct report_options *options, struct reason *why)
{
    const bool problems = options->problems;
    const struct report_totals *totals = &report->totals;
    const bool good = !problems && report->printer.format != REPORT_TSV; /* rows are findings */
    const enum report_severity last = good ? REPORT_GOOD : REPORT_ADVICE;
    uint64_t wanted = 0;
    report_totals_sort(&report->totals);
    if (options->framed) {
        html_frame_begin(stdout, "Report");
    }
    report_print_begin(&report->printer, (const char *const *)sites, (size_t)n, totals);
    for (report->severity = REPORT_ERROR; report->severity <= last; report->severity++) {
        wanted += totals->by_severity[report->severity];
        if (totals->by_severity[report->severity] > 0) {
            TRY(scan(report, print_page, why));
        }
    }
    const uint64_t printed = report->printer.pages;
    report_print_end(&report->printer, wanted > printed ? wanted - printed : 0);
    if (report->printer.format == REPORT_HTML) {
        TRY(print_terms(report, cli, why));
    }
    if (options->framed) {
        html_frame_end(stdout);
    }
    return STATUS_OK;
}

static enum status
run(struct report *report, struct cli *cli, char **sites, int n,
    const struct report_options *options, struct reason *why)
{
    TRY(set_prefixes(report, sites, n, why));
    TRY(cli_serve(cli, report->printer.format == REPORT_HTML ? "index,metastore" : "metastore",
                  why));
    TRY(cli_metastore(cli, &report->metastore, why));
    TRY(scan(report, count_page, why));
    if (report->totals.pages == 0) {
        return status_fail(why, STATUS_NOT_FOUND, "nothing is known of %.200s", sites[0]);
    }
    return print_report(report, cli, sites, n, options, why);
}

static enum status
set_options(struct report *report, const struct report_options *options, struct reason *why)
{
    static const char *const names[] = {[REPORT_TEXT] = "text",
                                        [REPORT_TSV] = "tsv",
                                        [REPORT_JSON] = "json",
                                        [REPORT_HTML] = "content"};
    const char *name = options->framed ? names[REPORT_HTML] : options->format;
    size_t format = 0;
    while (format < sizeof names / sizeof *names && strcmp(names[format], name) != 0) {
        format++;
    }
    if (format == sizeof names / sizeof *names) {
        return status_fail(why, STATUS_MISUSE,
                           "%.100s is no format: text, tsv, json, html, content", options->format);
    }
    if (options->limit < -1) {
        return status_fail(why, STATUS_MISUSE, "--limit is a number of pages, 0 for all");
    }
    report->printer = (struct report_printer){.out = stdout, .format = (enum report_format)format};
    buf_init(&report->printer.memory, LINE_MAXIMUM);
    report->limit = options->limit >= 0     ? (uint64_t)options->limit
                    : format == REPORT_TEXT ? LIMIT_TEXT
                    : format == REPORT_HTML ? LIMIT_HTML
                                            : 0;
    return STATUS_OK;
}

static void
release(struct report *report)
{
    metastore_client_close(report->metastore);
    for (size_t i = 0; i < report->prefix_count; i++) {
        free(report->prefixes[i]);
    }
    free(report->prefixes);
    report_page_release(&report->page);
    report_totals_release(&report->totals);
    buf_release(&report->printer.memory);
    free(report);
}

static const char description[] =
    "SITE is a host, a URI, or the beginning of URIs; without a scheme http and https are meant. "
    "Prints totals, the most frequent problems, and then for each page, the worst first: state, "
    "HTTP status, detected type, what each transform said (quads) in what version, what it cost, "
    "which other documents it was made with, and what is to be mended, how, and in which line."
    "\n\n"
    "error: something could not be read. warning: it was read, but other programs will not be as "
    "patient. advice: the page could say more, or plainer.\n\n"
    "tsv: a row for each finding: URI, severity, transform or stage, line, text, advice. json: one "
    "object with \"severities\", \"states\", \"quads\", \"frequent\" and \"pages\".\n\n"
    "`quadrille report sitemaps [HOST]...` says what sitemaps are worth (--json, --plot FILE.svg); "
    "see "
    "its --help.";

int
command_report(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct cli cli = {0};
    struct report_options options = {.format = "text", .limit = -1};
    if (argc > 1 && strcmp(argv[1], "sitemaps") == 0) {
        return report_sitemaps(argc - 1, argv + 1);
    }
    struct report *report = memory_new(sizeof *report);
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"format", 'f', FLAG_STRING, "FORMAT", &options.format,
         "text, tsv, json, html (a page), or content: what html has within its frame (text)."},
        {"json", 'j', FLAG_SWITCH, NULL, &options.json, "The same as --format json."},
        {"html", 0, FLAG_SWITCH, NULL, &options.html, "The same as --format html."},
        {"limit", 'n', FLAG_INTEGER, "N", &options.limit,
         "At most N pages, 0: all (text: 50, html: 200, else all). Totals are always of all."},
        {"problems", 'p', FLAG_SWITCH, NULL, &options.problems,
         "Only pages with something to mend."},
        {0},
    };
    const struct program program = {
        .name = "quadrille report",
        .synopsis = "--dir DIR [--format FORMAT] [--limit N] [--problems] SITE...",
        .summary = "tell publishers what was found in their pages, and what to mend",
        .description = description,
        .examples = "quadrille report --dir DIR example.org\n"
                    "quadrille report --dir DIR --problems --limit 0 example.org example.net\n"
                    "quadrille report --dir DIR --format tsv https://example.org/\n"
                    "quadrille report --dir DIR --json http://example.org/\n"
                    "quadrille report --dir DIR --html example.org >report.html\n"
                    "quadrille report sitemaps --dir DIR --plot sitemaps.svg example.org",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    report_page_init(&report->page);
    buf_init(&report->printer.memory, 0);
    report->printer.out = stdout;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK && n == 0) {
        status = status_fail(&why, STATUS_MISUSE, "which site? See --help");
    }
    if (status == STATUS_OK) {
        options.format = options.json ? "json" : options.html ? "html" : options.format;
        options.framed = strcmp(options.format, "html") == 0;
        status = set_options(report, &options, &why);
    }
    if (status == STATUS_OK) {
        status = cli_open_reading(&cli, &common, &why);
    }
    if (status == STATUS_OK) {
        status = run(report, &cli, operands, n, &options, &why);
    }
    release(report);
    cli_close(&cli);
    return cli_end(&program, status, &why);
}
