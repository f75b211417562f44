/* quadrille report: for publishers: what was found in their pages, what was broken, how to mend it.
 *
 * All of it is in the metadata of the pages, but for title and canonical link, which are looked
 * for in what the transforms said (the archived conversion).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/url.h"
#include "cli/cli.h"
#include "stages/content.h"
#include "stages/document_meta.h"
#include "stages/media_type.h"

enum {
    SCAN_MS = 60000,
    REPORT_MAXIMUM = 1 << 30,
    BODY_MAXIMUM = 64 << 20,
    NAMES = 64, /* transforms and states counted apart */
    NAME_BYTES = 80
};

enum format { FORMAT_TEXT, FORMAT_TSV, FORMAT_JSON };

struct tally {
    char name[NAME_BYTES];
    uint64_t pages, quads;
};

struct report {
    enum format format;
    struct cli cli;
    struct content *content;
    struct buf out, links, memory, types;
    struct tally states[NAMES], transforms[NAMES];
    size_t state_count, transform_count;
    uint64_t pages, with_data, with_problems, with_potential, problems, repairs;
    bool first_finding; /* of the page, for commas */
};

/* ---- one page ---- */

struct page {
    struct slice uri, state, reason, type, names, counts, problems, advice, repairs, said;
    uint64_t status, problem_count;
    struct slice graph; /* what the transforms said */
    bool has_graph;
    bool findings[4]; /* by kind: told of */
};

enum kind { KIND_REPAIR, KIND_PROBLEM, KIND_ADVICE, KIND_POTENTIAL };
static const char *const kind_names[] = {"repaired", "problem", "advice", "unused"};

/* What helps against the usual problems, by a word of their text. */
static const struct mending {
    const char *word, *mend;
} mendings[] = {
    {"remote context", "serve the context as application/ld+json at that URL, without robots.txt "
                       "forbidding it, or write its terms into the page"},
    {"is not at hand", "serve the context as application/ld+json at that URL, without robots.txt "
                       "forbidding it, or write its terms into the page"},
    {"was not fetched", "serve the context as application/ld+json at that URL, or write its terms "
                        "into the page"},
    {"denied", "robots.txt or a private address keeps the document away that this page needs"},
    {"context", "check the URL and content of the context; the usual one is https://schema.org"},
    {"mismatch", "close every element in the order in which they were opened"},
    {"tag", "close every element in the order in which they were opened"},
    {"ntity", "write & as &amp; and < as &lt; in text"},
    {"UTF-8", "save the file as UTF-8 and say so in Content-Type"},
    {"ncoding", "save the file as UTF-8 and say so in Content-Type"},
    {"prefix", "declare the prefix before it is used"},
    {"IRI", "write whole URLs, blanks and quotes in them percent-encoded"},
    {"relative", "write whole URLs"},
    {"date", "write dates as 2026-01-31 or 2026-01-31T12:00:00Z"},
    {"comma", "read the JSON with a validator: a comma or bracket is missing or too many"},
    {"JSON", "read the JSON with a validator before it is published"},
    {"string", "escape quotes and line ends in strings"},
};

static const char *
mend_of(struct slice problem)
{
    for (size_t i = 0; i < sizeof mendings / sizeof *mendings; i++) {
        if (slice_find_slice(problem, slice_string(mendings[i].word)) < problem.length) {
            return mendings[i].mend;
        }
    }
    return "";
}

/* Control characters would break a row. */
static void
append_plain(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        buf_append_char(out, (unsigned char)text.at[i] < 0x20 ? ' ' : text.at[i]);
    }
}

static void
json_member(struct buf *out, const char *name, struct slice value, bool last)
{
    buf_printf(out, "\"%s\":\"", name);
    buf_append_json(out, value);
    buf_append_string(out, last ? "\"" : "\",");
}

static void
finding(struct report *report, struct page *page, enum kind kind, struct slice what,
        const char *mend)
{
    struct buf *out = &report->out;
    page->findings[kind] = true;
    switch (report->format) {
    case FORMAT_TEXT:
        buf_printf(out, "  %s: ", kind_names[kind]);
        append_plain(out, what);
        buf_printf(out, "%s%s\n", mend[0] != '\0' ? "\n    mend: " : "", mend);
        break;
    case FORMAT_TSV:
        buf_printf(out, "%.*s\t%.*s\t%.*s\t%s\t", SLICE_PRINT(page->uri), SLICE_PRINT(page->state),
                   SLICE_PRINT(page->type), kind_names[kind]);
        append_plain(out, what);
        buf_printf(out, "\t%s\n", mend);
        break;
    case FORMAT_JSON:
        buf_append_string(out, report->first_finding ? "{" : ",{");
        json_member(out, "kind", slice_string(kind_names[kind]), false);
        json_member(out, "what", what, false);
        json_member(out, "mend", slice_string(mend), true);
        buf_append_char(out, '}');
        break;
    }
    report->first_finding = false;
}

static void
lines(struct report *report, struct page *page, enum kind kind, struct slice text)
{
    while (text.length > 0) {
        const size_t end = slice_find(text, '\n');
        const struct slice line = slice_trim(slice_of(text.at, end));
        if (line.length > 0) {
            finding(report, page, kind, line, kind == KIND_PROBLEM ? mend_of(line) : "");
        }
        const size_t used = end < text.length ? end + 1 : end;
        text = slice_of(text.at + used, text.length - used);
    }
}

/* ---- what could be more ---- */

/* Something says more than the page's own links and head. */
static bool
has_data(struct slice counts)
{
    bool data = false;
    while (counts.length > 0) {
        const size_t end = slice_find(counts, ' ');
        const struct slice name = slice_of(counts.at, end);
        data = data || !(slice_is(name, "html") || slice_is(name, "links"));
        for (int word = 0; word < 2; word++) { /* the name and its number */
            const size_t next = slice_find(counts, ' ');
            const size_t used = next < counts.length ? next + 1 : next;
            counts = slice_of(counts.at + used, counts.length - used);
        }
    }
    return data;
}

static bool
is_page(struct slice type)
{
    return slice_is(type, "text/html") || slice_is(type, "application/xhtml+xml");
}

static bool
says(const struct page *page, const char *text)
{
    return slice_find_slice(page->graph, slice_string(text)) < page->graph.length;
}

static void
type_potential(struct report *report, struct page *page)
{
    struct media_type said;
    char text[300];
    if (page->type.length == 0) {
        return;
    }
    if (!media_type_parse(page->said, &report->types, &said)) {
        snprintf(text, sizeof text, "no Content-Type is sent; the content is %.*s",
                 SLICE_PRINT(page->type));
    } else if (!slice_equal(page->type, said.essence)) {
        snprintf(text, sizeof text, "it is sent as %.*s, but is %.*s", SLICE_PRINT(said.essence),
                 SLICE_PRINT(page->type));
    } else {
        return;
    }
    char mend[200];
    snprintf(mend, sizeof mend, "send Content-Type: %.*s", SLICE_PRINT(page->type));
    finding(report, page, KIND_POTENTIAL, slice_string(text), mend);
}

static void
potential(struct report *report, struct page *page)
{
    type_potential(report, page);
    if (!is_page(page->type) || !page->has_graph) {
        return;
    }
    if (!has_data(page->counts) && !page->findings[KIND_PROBLEM]) {
        finding(report, page, KIND_POTENTIAL, SLICE("no structured data"),
                "describe what the page is about in a script of type application/ld+json, with "
                "\"@context\": \"https://schema.org\"");
    }
    if (!says(page, "/canonical> ")) {
        finding(report, page, KIND_POTENTIAL, SLICE("no canonical link"),
                "<link rel=\"canonical\" href=\"the URL that this page is to be known by\">");
    }
    if (!says(page, "<http://purl.org/dc/terms/title> ")) {
        finding(report, page, KIND_POTENTIAL, SLICE("no title"), "<title>What it is</title>");
    }
}

/* ---- totals ---- */

static void
count_in(struct tally *tallies, size_t *n, struct slice name, uint64_t quads)
{
    char text[NAME_BYTES];
    snprintf(text, sizeof text, "%.*s", SLICE_PRINT(name));
    size_t i = 0;
    while (i < *n && strcmp(tallies[i].name, text) != 0) {
        i++;
    }
    if (i == NAMES) {
        return;
    }
    if (i == *n) {
        memcpy(tallies[(*n)++].name, text, sizeof text);
    }
    tallies[i].pages++;
    tallies[i].quads += quads;
}

static void
count_transforms(struct report *report, struct slice counts)
{
    while (counts.length > 0) {
        struct slice words[2];
        for (int word = 0; word < 2; word++) {
            const size_t end = slice_find(counts, ' ');
            words[word] = slice_of(counts.at, end);
            const size_t used = end < counts.length ? end + 1 : end;
            counts = slice_of(counts.at + used, counts.length - used);
        }
        uint64_t quads = 0;
        for (size_t i = 0; i < words[1].length; i++) {
            quads = quads * 10 + (uint64_t)(words[1].at[i] - '0');
        }
        count_in(report->transforms, &report->transform_count, words[0], quads);
    }
}

/* ---- pages ---- */

static void
begin_page(struct report *report, const struct page *page)
{
    struct buf *out = &report->out;
    report->first_finding = true;
    if (report->format == FORMAT_TEXT) {
        buf_printf(out, "\n%.*s\n  %.*s", SLICE_PRINT(page->uri), SLICE_PRINT(page->state));
        if (page->reason.length > 0) {
            buf_append_string(out, ": ");
            append_plain(out, page->reason);
        }
        buf_printf(out, "%s%.*s\n", page->type.length > 0 ? ", " : "", SLICE_PRINT(page->type));
        if (page->names.length > 0) {
            buf_printf(out, "  by %.*s: quads %.*s\n", SLICE_PRINT(page->names),
                       SLICE_PRINT(page->counts.length > 0 ? page->counts : SLICE("none")));
        }
    } else if (report->format == FORMAT_TSV) {
        buf_printf(out, "%.*s\t%.*s\t%.*s\ttransforms\t%.*s\t%.*s\n", SLICE_PRINT(page->uri),
                   SLICE_PRINT(page->state), SLICE_PRINT(page->type), SLICE_PRINT(page->names),
                   SLICE_PRINT(page->counts));
    } else {
        buf_append_string(out, report->pages > 0 ? ",\n{" : "\n{");
        json_member(out, "uri", page->uri, false);
        json_member(out, "state", page->state, false);
        json_member(out, "reason", page->reason, false);
        json_member(out, "type", page->type, false);
        json_member(out, "transforms", page->names, false);
        json_member(out, "quads", page->counts, false);
        buf_append_string(out, "\"findings\":[");
    }
}

static void
read_graph(struct report *report, struct slice record, struct page *page)
{
    struct document document;
    struct warc_record archived;
    struct reason why;
    if (document_of_meta(record, &report->links, &document) &&
        document.conversion.file.length > 0 &&
        content_read(report->content, &document.conversion, &report->memory, &archived, &why) ==
            STATUS_OK) {
        page->graph = archived.body;
        page->has_graph = true;
    }
}

static uint64_t
count_lines(struct slice text)
{
    uint64_t n = 0;
    for (size_t i = 0; i < text.length; i++) {
        n += text.at[i] == '\n';
    }
    return n + (text.length > 0 && text.at[text.length - 1] != '\n');
}

/* A document that is not there. */
static void
absence(struct report *report, struct slice record, struct page *page)
{
    struct slice via;
    char text[URL_MAXIMUM + 64];
    if (!slice_is(page->state, "gone") && !slice_is(page->state, "failed")) {
        return;
    }
    if (!meta_record_text(record, META_VIA, &via)) {
        via = SLICE("a seed of the crawl");
    }
    snprintf(text, sizeof text, "it could not be had; the way to it is from %.*s",
             SLICE_PRINT(via));
    finding(report, page, KIND_PROBLEM, slice_string(text), "mend the link, or redirect it");
}

static void
report_page(struct report *report, struct slice record, struct page *page)
{
    begin_page(report, page);
    lines(report, page, KIND_REPAIR, page->repairs);
    lines(report, page, KIND_PROBLEM, page->problems);
    const uint64_t shown = count_lines(page->problems);
    if (page->problem_count > shown) {
        char more[64];
        snprintf(more, sizeof more, "%" PRIu64 " more problems", page->problem_count - shown);
        finding(report, page, KIND_PROBLEM, slice_string(more), "");
    }
    lines(report, page, KIND_ADVICE, page->advice);
    absence(report, record, page);
    read_graph(report, record, page);
    potential(report, page);
    if (report->format == FORMAT_JSON) {
        buf_append_string(&report->out, "]}");
    }
    report->pages++;
    report->with_data += has_data(page->counts);
    report->with_problems += page->findings[KIND_PROBLEM];
    report->with_potential += page->findings[KIND_POTENTIAL];
    report->problems += page->problem_count;
    report->repairs += count_lines(page->repairs);
    count_in(report->states, &report->state_count, page->state, 0);
    count_transforms(report, page->counts);
}

static bool
visit(void *context, struct slice key, struct slice record)
{
    struct report *report = context;
    struct page page = {.uri = slice_of(key.at + 1, key.length - 1)};
    if (slice_find(page.uri, '#') < page.uri.length ||
        !meta_record_text(record, META_STATE, &page.state)) {
        return true;
    }
    meta_record_text(record, META_REASON, &page.reason);
    meta_record_text(record, META_DETECTED_TYPE, &page.type);
    meta_record_text(record, META_TRANSFORM, &page.names);
    meta_record_text(record, META_TRANSFORM_QUADS, &page.counts);
    meta_record_text(record, META_TRANSFORM_PROBLEMS, &page.problems);
    meta_record_text(record, META_TRANSFORM_ADVICE, &page.advice);
    meta_record_text(record, META_TRANSFORM_REPAIRS, &page.repairs);
    meta_record_text(record, META_CONTENT_TYPE, &page.said);
    meta_record_number(record, META_TRANSFORM_PROBLEM_COUNT, &page.problem_count);
    report_page(report, record, &page);
    return !report->out.overflowed;
}

/* ---- the whole ---- */

static void
print_tallies(const char *title, const struct tally *tallies, size_t n, bool quads)
{
    printf("%s:", title);
    for (size_t i = 0; i < n; i++) {
        printf("%s %s %" PRIu64, i > 0 ? "," : "", tallies[i].name, tallies[i].pages);
        if (quads) {
            printf(" (%" PRIu64 " quads)", tallies[i].quads);
        }
    }
    puts(n > 0 ? "" : " none");
}

static void
print_report(const struct report *report, const char *site)
{
    if (report->format == FORMAT_TEXT) {
        printf("%s: %" PRIu64 " documents, %" PRIu64 " with structured data, %" PRIu64
               " with problems (%" PRIu64 "), %" PRIu64 " repairs, %" PRIu64
               " that could say more\n",
               site, report->pages, report->with_data, report->with_problems, report->problems,
               report->repairs, report->with_potential);
        print_tallies("states", report->states, report->state_count, false);
        print_tallies("documents by transform", report->transforms, report->transform_count, true);
    } else if (report->format == FORMAT_TSV) {
        puts("uri\tstate\ttype\tkind\twhat\tmend");
    } else {
        struct buf name;
        buf_init(&name, 1 << 16);
        buf_append_json(&name, slice_string(site));
        printf("{\"site\":\"%s\",\"documents\":%" PRIu64 ",\"withStructuredData\":%" PRIu64
               ",\"withProblems\":%" PRIu64 ",\"problems\":%" PRIu64 ",\"repairs\":%" PRIu64
               ",\"pages\":[",
               name.data ? name.data : "", report->pages, report->with_data, report->with_problems,
               report->problems, report->repairs);
        buf_release(&name);
    }
    fwrite(report->out.data, 1, report->out.length, stdout);
    if (report->format == FORMAT_JSON) {
        puts("\n]}");
    }
}

static enum status
scan(struct report *report, const char *site, struct reason *why)
{
    struct metastore_client *metastore;
    struct buf prefix;
    enum status status = STATUS_OK;
    static const char *const schemes[] = {"http://", "https://"};
    TRY(cli_serve(&report->cli, "metastore", why));
    TRY(cli_metastore(&report->cli, &metastore, why));
    buf_init(&prefix, 2 * URL_MAXIMUM);
    const bool whole = strstr(site, "://") != NULL;
    for (size_t i = 0; status == STATUS_OK && i < (whole ? 1u : 2u); i++) {
        buf_reset(&prefix);
        if (whole) {
            buf_printf(&prefix, "u%s", site);
        } else {
            const bool path = strchr(site, '/') != NULL;
            buf_printf(&prefix, "u%s%s%s", schemes[i], site, path ? "" : "/");
        }
        status = metastore_scan(metastore, buf_slice(&prefix), (struct slice){0}, UINT32_MAX, visit,
                                report, SCAN_MS, why);
    }
    buf_release(&prefix);
    metastore_client_close(metastore);
    if (status == STATUS_OK && report->out.overflowed) {
        status = status_fail(why, STATUS_LIMIT,
                             "the report is longer than %d bytes; name a part "
                             "of the site",
                             REPORT_MAXIMUM);
    }
    if (status == STATUS_OK && report->pages == 0) {
        status = status_fail(why, STATUS_NOT_FOUND, "nothing is known of %.200s", site);
    }
    return status;
}

static enum status
run(struct report *report, const struct cli_common *common, const char *site, struct reason *why)
{
    const struct warc_limits limits = {.record = BODY_MAXIMUM + (2 << 20), .body = BODY_MAXIMUM};
    enum status status = cli_open(&report->cli, common, why);
    buf_init(&report->out, REPORT_MAXIMUM);
    buf_init(&report->links, LINK_HEADER_MAXIMUM);
    buf_init(&report->memory, 3u * BODY_MAXIMUM + (8 << 20));
    buf_init(&report->types, 1 << 16);
    if (status == STATUS_OK) {
        status = content_open(&report->content, report->cli.directory, report->cli.cluster, &limits,
                              why);
    }
    if (status == STATUS_OK) {
        status = scan(report, site, why);
    }
    if (status == STATUS_OK) {
        print_report(report, site);
    }
    content_close(report->content);
    buf_release(&report->out);
    buf_release(&report->links);
    buf_release(&report->memory);
    buf_release(&report->types);
    cli_close(&report->cli);
    return status;
}

static bool
format_of(const char *name, enum format *format)
{
    static const char *const names[] = {"text", "tsv", "json"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], name) == 0) {
            *format = (enum format)i;
            return true;
        }
    }
    return false;
}

int
command_report(int argc, char **argv)
{
    struct cli_common common = {0};
    struct report *report = memory_zero(1, sizeof *report);
    const char *format = "text";
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"format", 'f', FLAG_STRING, "FORMAT", &format, "text, tsv or json (text)."},
        {0},
    };
    const struct program program = {
        .name = "quadrille report",
        .synopsis = "--dir DIR [--format FORMAT] SITE",
        .summary = "tell publishers what was found in their pages, and what to mend",
        .description =
            "SITE is a host, or the beginning of URIs. Prints totals and, for each document, its "
            "state, type and what each transform said; what was malformed but understood "
            "(repaired); problems with their lines and how to mend them; advice; and what could "
            "be said but is not (unused): no structured data, a Content-Type that does not fit, "
            "no canonical link. tsv has one row per finding: uri, state, type, kind, what, mend.",
        .examples = "quadrille report --dir DIR example.org\n"
                    "quadrille report --dir DIR --format json http://example.org/",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK && n != 1) {
        status = status_fail(&why, STATUS_MISUSE, "which site? See --help");
    }
    if (status == STATUS_OK && !format_of(format, &report->format)) {
        status = status_fail(&why, STATUS_MISUSE, "%.100s is no format: text, tsv, json", format);
    }
    if (status == STATUS_OK) {
        status = run(report, &common, operands[0], &why);
    }
    free(report);
    return cli_end(&program, status, &why);
}
