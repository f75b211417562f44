/* quadrille validate: whether the properties and classes of a document or site can be looked up. */
#include <stdlib.h>
#include <string.h>

#include "base/url/url.h"
#include "cli/inspection/inspection.h"
#include "cli/report/html_frame.h"
#include "cli/shared/before_fetching.h"
#include "cli/shared/seeds.h"
#include "cli/supervisor/supervisor.h"
#include "cli/validation/site_terms.h"
#include "cli/validation/validation_print.h"

struct validating {
    struct cli_common common;
    struct cli cli;
    struct metastore_client *metastore;
    struct index_client *index;
    const char *format;
    bool add, ask, good;
};

/* ---- which terms ---- */

/* With lines, from the archived bytes. NOT_FOUND: there are none. */
static enum status
survey_archived(struct validating *validating, struct term_survey *survey, struct slice document,
                struct reason *why)
{
    struct inspection inspection;
    const char *uri = arena_copy(&survey->arena, document).at; /* ended by NUL */
    const struct inspection_request request = {.place = uri, .archive = &validating->cli};
    const struct offline_settings settings = {.options = validating->cli.options,
                                              .directory = validating->cli.directory,
                                              .cli = &validating->cli};
    const enum status status = inspect(&inspection, &request, &settings, why);
    for (size_t i = 0; status == STATUS_OK && i < inspection.count; i++) {
        const struct inspected_statement *statement = &inspection.statements[i];
        term_survey_statement(survey, &statement->quad, document, statement->line, 0);
    }
    survey->documents += status == STATUS_OK;
    inspection_release(&inspection);
    return status;
}

/* Surveys a URI, which may be a document that uses terms, a term, or both. */
static enum status
survey_uri(struct validating *validating, struct term_survey *survey, struct slice uri,
           struct reason *why)
{
    const struct document_facts *facts;
    TRY(document_facts_of(&survey->reader, uri, &facts, why));
    const bool is_term = slice_find(uri, '#') < uri.length ||
                         (document_says_of(facts, uri) & (SAID_PROPERTY | SAID_CLASS)) != 0;
    if (is_term || !facts->known || !facts->indexed) {
        term_survey_add(survey, uri);
    }
    if (!facts->indexed) {
        return STATUS_OK;
    }
    const enum status status = survey_archived(validating, survey, facts->document, why);
    return status == STATUS_NOT_FOUND ? term_survey_document(survey, facts->document, 0, why)
                                      : status;
}

static enum status
survey_asked(struct validating *validating, struct term_survey *survey, const char *asked,
             struct reason *why)
{
    if (strstr(asked, "://") != NULL || strncmp(asked, "urn:", 4) == 0) {
        if (!iri_is_absolute(slice_string(asked))) {
            return status_fail(why, STATUS_MISUSE, "%.200s is no absolute URI", asked);
        }
        return survey_uri(validating, survey, slice_string(asked), why);
    }
    return term_survey_site(survey, asked, why);
}

/* ---- what is not known is asked for ---- */

static enum status
add_unknown(struct validating *validating, const struct term_survey *survey, struct reason *why)
{
    struct seeds seeds = {0};
    struct queue_client *queue = NULL;
    struct cli *cli = &validating->cli;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < survey->count && status == STATUS_OK; i++) {
        if (survey->terms[i].untold) {
            const struct slice document = survey->terms[i].facts.at->document;
            char *text = strndup(document.at, document.length);
            status = seeds_add(&seeds, text, why);
            free(text);
        }
    }
    if (status == STATUS_OK && seeds.count > 0) {
        status = supervisor_pid(cli->directory) == 0 ? require_scope(cli, why) : STATUS_OK;
    }
    if (status == STATUS_OK && seeds.count > 0) {
        status = seeds_apply_rules(&seeds, cli->options, why);
    }
    if (status == STATUS_OK && seeds.count > 0) {
        status = cli_serve(cli, "queue", why);
    }
    if (status == STATUS_OK && seeds.count > 0) {
        status = cli_queue(cli, &queue, why);
    }
    if (queue != NULL) {
        status = seeds_put(&seeds, queue, JOB_SEED, NULL, why);
        queue_client_close(queue);
    }
    seeds_release(&seeds);
    return status;
}

/* ---- the whole ---- */

static enum status
print(const struct validating *validating, const struct term_survey *survey, const char *asked,
      struct reason *why)
{
    const char *format = validating->format;
    const bool framed = strcmp(format, "html") == 0;
    if (framed || strcmp(format, "content") == 0) {
        if (framed) {
            html_frame_begin(stdout, "Validation");
        }
        validation_print_html(survey, asked, validating->good, stdout);
        if (framed) {
            html_frame_end(stdout);
        }
    } else if (strcmp(format, "text") == 0) {
        validation_print_text(survey, asked, validating->good, stdout);
    } else if (strcmp(format, "json") == 0) {
        validation_print_json(survey, asked, stdout);
    } else {
        return validation_print_earl(survey, format, stdout, why);
    }
    return STATUS_OK;
}

static enum status
run(struct validating *validating, const char *asked, struct reason *why)
{
    struct cli *cli = &validating->cli;
    struct term_survey survey;
    TRY(validating->add ? cli_open(cli, &validating->common, why)
                        : cli_open_reading(cli, &validating->common, why));
    TRY(cli_serve(cli, validating->add ? "index,metastore,queue" : "index,metastore", why));
    TRY(cli_metastore(cli, &validating->metastore, why));
    TRY(cli_index(cli, &validating->index, why));
    const struct offline_settings settings = {
        .options = cli->options, .directory = cli->directory, .cli = cli};
    term_survey_init(&survey, validating->metastore, validating->index);
    survey.settings = &settings;
    enum status status =
        validating->ask ? web_client_open(&survey.client, cli->options, why) : STATUS_OK;
    if (status == STATUS_OK) {
        status = survey_asked(validating, &survey, asked, why);
    }
    if (status == STATUS_OK) {
        status = term_survey_judge(&survey, why);
    }
    if (status == STATUS_OK && validating->add) {
        status = add_unknown(validating, &survey, why);
    }
    if (status == STATUS_OK) {
        status = print(validating, &survey, asked, why);
    }
    web_client_close(survey.client);
    term_survey_release(&survey);
    return status;
}

static const char description[] =
    "SITE is a host; URI a document, or a property or class. Looks at the properties and classes "
    "that are used there, at those that their vocabularies use, and so on, and says of each what "
    "is wrong with the way it is published, and how that is mended: whether its address leads to "
    "RDF that defines it, by 303 or with a hash; whether it is used as what it is; whether there "
    "are labels, descriptions and a page for people; whether Content-Type is right and all forms "
    "of its document say the same.\n\n"
    "All of it comes from what the crawl has seen, nothing is fetched. What it has not seen is "
    "told, and --add puts it into the queue. Of a site the first 1000 pages are looked at.\n\n"
    "With --ask the servers of the first 16 documents are asked for Turtle, RDF/XML, JSON-LD and "
    "HTML, with the manners of the fetch stage: whether each is what comes, and whether all of "
    "them say the same.";

int
command_validate(int argc, char **argv)
{
    struct validating validating = {.format = "text"};
    bool json = false;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(validating.common),
        {"format", 'f', FLAG_STRING, "FORMAT", &validating.format,
         "text, json, html, or EARL as ttl, nt, nq, rdf, jsonld; content: what html has within its "
         "frame (text)."},
        {"json", 'j', FLAG_SWITCH, NULL, &json, "The same as --format json."},
        {"all", 'a', FLAG_SWITCH, NULL, &validating.good,
         "In text and html also the terms with nothing to mend."},
        {"add", 0, FLAG_SWITCH, NULL, &validating.add,
         "Has the documents that are not known fetched, as `quadrille add` does."},
        {"ask", 0, FLAG_SWITCH, NULL, &validating.ask,
         "Asks servers for each form of their documents, and compares these."},
        {0},
    };
    const struct program program = {
        .name = "quadrille validate",
        .synopsis = "--dir DIR [--format FORMAT] [--all] [--add] [--ask] URI|SITE",
        .summary = "say whether properties and classes are published as linked data",
        .description = description,
        .examples = "quadrille validate --dir DIR http://example.org/card\n"
                    "quadrille validate --dir DIR http://xmlns.com/foaf/0.1/name\n"
                    "quadrille validate --dir DIR --format ttl example.org >report.ttl",
        .flags = flags,
    };
    struct reason why = {""};
    char *operand;
    enum status status = program_parse_one(&program, argc, argv,
                                           "one URI or SITE is needed; see --help", &operand, &why);
    if (status == STATUS_OK) {
        validating.format = json ? "json" : validating.format;
        status = run(&validating, operand, &why);
    }
    index_client_close(validating.index);
    metastore_client_close(validating.metastore);
    cli_close(&validating.cli);
    return cli_end(&program, status, &why);
}
