/* quadrille inspect: what a crawl would find in one document, before anybody crawls it. */
#include <string.h>

#include "cli/inspection/inspection_print.h"
#include "cli/report/html_frame.h"
#include "cli/shared/cli.h"
#include "config/config.h"

struct inspect_flags {
    struct cli_common common;
    struct flag_list contexts;
    const char *uri, *content_type, *format;
    bool archived;
};

static void
print_json(const struct inspection *inspection)
{
    inspection_print_json(inspection, stdout);
}

static void
print_text(const struct inspection *inspection)
{
    inspection_print_text(inspection, stdout);
}

static void
print_svg(const struct inspection *inspection)
{
    inspection_print_svg(inspection, stdout);
}

static void
print_content(const struct inspection *inspection)
{
    inspection_print_html(inspection, stdout);
}

static void
print_html(const struct inspection *inspection)
{
    html_frame_begin(stdout, "Inspection");
    fputs("<h1>Inspection</h1>\n", stdout);
    print_content(inspection);
    html_frame_end(stdout);
}

static const struct {
    const char *name;
    void (*print)(const struct inspection *inspection);
} formats[] = {{"text", print_text},
               {"json", print_json},
               {"html", print_html},
               {"content", print_content},
               {"svg", print_svg}};

/* Those that are not here are syntaxes of RDF. */
static enum status
print(const struct inspection *inspection, const char *format, struct reason *why)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, format) == 0) {
            formats[i].print(inspection);
            return STATUS_OK;
        }
    }
    return inspection_print_rdf(inspection, format, stdout, why);
}

static enum status
run(const struct inspect_flags *flags, const char *place, struct reason *why)
{
    struct cli cli = {0};
    struct opt_set *options = NULL;
    struct inspection inspection;
    const bool of_crawl = flags->common.directory != NULL;
    const struct inspection_request request = {.place = place,
                                               .archive = flags->archived ? &cli : NULL,
                                               .uri = flags->uri,
                                               .content_type = flags->content_type};
    enum status status = STATUS_OK;
    if (flags->archived && (!of_crawl || flags->uri != NULL || flags->content_type != NULL)) {
        status = status_fail(why, STATUS_MISUSE,
                             "--archived needs --dir, and has no --uri and no --content-type");
    } else if (of_crawl) {
        status = cli_open_reading(&cli, &flags->common, why);
    } else {
        status = config_load(NULL, &flags->common.assignments, &options, why);
    }
    if (status == STATUS_OK) {
        const struct offline_settings settings = {.options = of_crawl ? cli.options : options,
                                                  .directory = flags->common.directory,
                                                  .cli = of_crawl ? &cli : NULL,
                                                  .contexts = &flags->contexts};
        config_open_log(settings.options, "quadrille");
        status = inspect(&inspection, &request, &settings, why);
        if (status == STATUS_OK) {
            status = print(&inspection, flags->format, why);
        }
        inspection_release(&inspection);
    }
    cli_close(&cli);
    opt_set_free(options);
    return status;
}

int
command_inspect(int argc, char **argv)
{
    struct inspect_flags inspecting = {.format = "text"};
    bool json = false;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(inspecting.common),
        {"format", 'f', FLAG_STRING, "FORMAT", &inspecting.format,
         "text, json, html, svg (the graph as a picture), or the graph as ttl, nt, nq, rdf, "
         "jsonld; content: what html has within its frame (text)."},
        {"json", 'j', FLAG_SWITCH, NULL, &json, "The same as --format json."},
        {"uri", 0, FLAG_STRING, "URI", &inspecting.uri,
         "The document's URI, when it is read from a file."},
        {"content-type", 0, FLAG_STRING, "TYPE", &inspecting.content_type,
         "What a server's Content-Type would say of the file."},
        {"archived", 0, FLAG_SWITCH, NULL, &inspecting.archived,
         "Takes what the crawl of --dir has archived of the URL, and fetches nothing."},
        {"context", 0, FLAG_REPEATED, "URL=FILE", &inspecting.contexts,
         "A document that this one needs, as of `quadrille transform`."},
        {0},
    };
    const struct program program = {
        .name = "quadrille inspect",
        .synopsis = "[--dir DIR [--archived]] [--format FORMAT] FILE|URL",
        .summary = "look at one document: what is found in it, line by line, and what to mend",
        .description =
            "Detects and transforms FILE (- is standard input), or what URL answers, as a crawl "
            "would, and prints how it was read, what is to be mended and how, and each statement "
            "with the transform and the line that it is from. Nothing is kept or indexed. A URL is "
            "asked for once, with the limits, addresses and manners of the fetch stage: robots.txt "
            "is obeyed. Of a document the first 8 MiB are looked at.\n\n"
            "With --dir the options, transforms and contexts of that crawl are used. With "
            "--archived, "
            "too, the document is the one that it last archived: this shows from which line each "
            "statement in the index is.",
        .examples = "quadrille inspect https://example.org/\n"
                    "quadrille inspect --format html page.html >inspection.html\n"
                    "quadrille inspect --dir DIR --archived https://example.org/\n"
                    "quadrille inspect --format ttl --uri http://example.org/ - <page.html",
        .flags = flags,
    };
    struct reason why = {""};
    char *operand;
    enum status status = program_parse_one(&program, argc, argv,
                                           "one FILE or URL is needed; see --help", &operand, &why);
    if (status == STATUS_OK) {
        inspecting.format = json ? "json" : inspecting.format;
        status = run(&inspecting, operand, &why);
    }
    return cli_end(&program, status, &why);
}
