/* quadrille explain: which documents a statement is from, how they were come by, and how it came
 * out of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "cli/report/explain.h"
#include "cli/report/explain_uri.h"
#include "cli/shared/cli.h"
#include "cli/shared/offline_transform.h"
#include "detection/media_type.h"
#include "index/terms/term_set.h"
#include "rdf/nquads/nquads.h"

enum { RECORD_MAXIMUM = 16 << 20, CONTENT_MAXIMUM = 1 << 30, LIMIT_MOST = 100000 };

struct explaining {
    struct cli cli;
    struct cli_pattern pattern;
    uint64_t offset, limit;
    bool extractor, json;
    struct metastore_client *metastore;
    struct offline_transform *hand;
    struct arena arena; /* of statements */
    struct explain_statement *statements;
    size_t count, capacity;
    struct term_set documents;
    struct nquads_reader *lines;
};

/* ---- the statements ---- */

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct explaining *explaining = context;
    if (!cli_pattern_fits(&explaining->pattern, quad)) {
        return STATUS_OK;
    }
    if (explaining->offset > 0) {
        explaining->offset--;
        return STATUS_OK;
    }
    explaining->statements = array_grow(explaining->statements, explaining->count,
                                        &explaining->capacity, sizeof *explaining->statements);
    struct explain_statement *statement = &explaining->statements[explaining->count];
    *statement =
        (struct explain_statement){.document = term_set_add(&explaining->documents, &quad->graph),
                                   .number = explaining->count};
    if (!term_copy(&explaining->arena, &quad->subject, &statement->quad.subject) ||
        !term_copy(&explaining->arena, &quad->predicate, &statement->quad.predicate) ||
        !term_copy(&explaining->arena, &quad->object, &statement->quad.object)) {
        return status_fail(why, STATUS_LIMIT, "the statements do not fit in memory");
    }
    return ++explaining->count < explaining->limit ? STATUS_OK : STATUS_END;
}

static enum status
take_lines(void *context, struct slice bytes, struct reason *why)
{
    struct explaining *explaining = context;
    return nquads_reader_feed(explaining->lines, bytes, why);
}

static int
by_document(const void *left, const void *right)
{
    const struct explain_statement *a = left, *b = right;
    return a->document != b->document ? (a->document < b->document ? -1 : 1)
                                      : (a->number < b->number ? -1 : a->number > b->number);
}

static enum status
find_statements(struct explaining *explaining, struct index_client *index, struct reason *why)
{
    const struct quad_sink sink = {take_quad, explaining};
    const uint64_t before = explaining->offset;
    explaining->lines = nquads_reader_new(NULL, false, &sink);
    enum status status =
        index_pattern(index, &explaining->pattern.quad, 0, take_lines, explaining, why);
    if (status == STATUS_OK && explaining->count < explaining->limit) {
        status = nquads_reader_finish(explaining->lines, why);
    }
    nquads_reader_free(explaining->lines);
    if (status == STATUS_END) {
        status = STATUS_OK;
    }
    if (status == STATUS_OK && explaining->count == 0) {
        status = status_fail(why, STATUS_NOT_FOUND,
                             explaining->offset < before ? "no more documents say that"
                                                         : "no document says that");
    }
    if (explaining->count > 0) {
        qsort(explaining->statements, explaining->count, sizeof *explaining->statements,
              by_document);
    }
    return status;
}

/* ---- how a document was come by ---- */

/* Empty when nothing is known. */
static enum status
known_of(struct explaining *explaining, struct slice uri, struct buf *record, struct reason *why)
{
    struct buf key;
    buf_init(&key, META_KEY_MAXIMUM);
    buf_append_char(&key, 'u');
    buf_append_slice(&key, uri);
    enum status status = STATUS_NOT_FOUND;
    buf_reset(record);
    if (!key.overflowed && meta_key_valid(buf_slice(&key))) {
        status =
            metastore_get_wait(explaining->metastore, buf_slice(&key), record, CLI_ANSWER_MS, why);
    }
    buf_release(&key);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static bool
ends_with(struct slice text, const char *end)
{
    const size_t length = strlen(end);
    return text.length >= length && memcmp(text.at + text.length - length, end, length) == 0;
}

/* The redirects before it, each from the record of the one after it. */
static enum status
follow_redirects(struct explaining *explaining, struct explain_document *document,
                 struct arena *arena, struct reason *why)
{
    struct slice from;
    struct buf record;
    enum status status = STATUS_OK;
    buf_init(&record, RECORD_MAXIMUM);
    buf_append_slice(&record, document->record);
    while (status == STATUS_OK && document->hop_count < EXPLAIN_HOPS &&
           meta_record_text(buf_slice(&record), META_REDIRECT_FROM, &from)) {
        struct explain_hop *hop = &document->hops[document->hop_count];
        *hop = (struct explain_hop){.uri = arena_copy(arena, from)};
        for (size_t i = 0; i < document->hop_count; i++) {
            if (slice_equal(document->hops[i].uri, hop->uri)) {
                buf_release(&record);
                return STATUS_OK; /* in a circle */
            }
        }
        document->hop_count++;
        status = known_of(explaining, hop->uri, &record, why);
        meta_record_number(buf_slice(&record), META_HTTP_STATUS, &hop->status);
    }
    buf_release(&record);
    return status;
}

static enum status
find_reason(struct explaining *explaining, struct explain_document *document, struct reason *why)
{
    struct slice redirected, type = {NULL, 0};
    document->reason = "seed";
    if (!meta_record_text(document->record, META_VIA, &document->from)) {
        return STATUS_OK;
    }
    if (meta_record_text(document->record, META_REDIRECT_FROM, &redirected) &&
        slice_equal(redirected, document->from)) {
        document->reason = "redirect";
        return STATUS_OK;
    }
    struct buf record;
    buf_init(&record, RECORD_MAXIMUM);
    const enum status status = known_of(explaining, document->from, &record, why);
    meta_record_text(buf_slice(&record), META_DETECTED_TYPE, &type);
    document->reason =
        slice_is(type, "application/x-sitemap+xml") || ends_with(document->from, "/robots.txt")
            ? "sitemap"
            : "link";
    buf_release(&record);
    return status;
}

/* ---- which transform, from which line ---- */

/* The statements that an explained quad is, get its transform and line. */
struct explained_line {
    struct explain_statement *statements;
    size_t count;
    struct slice name, number;
    struct arena *arena;
};

static enum status
give_line(void *context, const struct quad *quad, struct reason *why)
{
    struct explained_line *line = context;
    (void)why;
    for (size_t i = 0; i < line->count; i++) {
        const struct quad *said = &line->statements[i].quad;
        if (term_equal(&said->subject, &quad->subject) &&
            term_equal(&said->predicate, &quad->predicate) &&
            term_equal(&said->object, &quad->object)) {
            struct explain_transform **at = &line->statements[i].transforms;
            while (*at != NULL) {
                at = &(*at)->next;
            }
            *at = arena_zero(line->arena, sizeof **at);
            (*at)->name = arena_copy(line->arena, line->name);
            (*at)->line = arena_copy(line->arena, line->number);
        }
    }
    return STATUS_OK;
}

/* Lines "transform/version TAB line TAB quad". */
static void
give_lines(struct explained_line *line, struct slice explanation)
{
    const struct quad_sink sink = {give_line, line};
    while (explanation.length > 0) {
        const size_t end = slice_find(explanation, '\n');
        const size_t step = end < explanation.length ? end + 1 : end;
        const struct slice whole = slice_of(explanation.at, step);
        const size_t name = slice_find(whole, '\t');
        const struct slice rest =
            name < step ? slice_of(whole.at + name + 1, step - name - 1) : SLICE("");
        const size_t number = slice_find(rest, '\t');
        explanation = slice_of(explanation.at + step, explanation.length - step);
        if (number < rest.length) {
            line->name = slice_of(whole.at, name);
            line->number = slice_of(rest.at, number);
            (void)nquads_parse(slice_of(rest.at + number + 1, rest.length - number - 1), NULL,
                               &sink, NULL);
        }
    }
}

/* Transforms the archived bytes again, wherever they lie. */
static enum status
find_transforms(struct explaining *explaining, struct explain_document *document,
                struct explained_line *line, struct reason *why)
{
    struct buf bytes, said, memory;
    struct slice content = {NULL, 0}, type = {NULL, 0};
    struct media_type media = {0};
    struct document_outcome outcome;
    bool died = false;
    buf_init(&bytes, CONTENT_MAXIMUM);
    buf_init(&said, 4096);
    buf_init(&memory, 1 << 16);
    enum status status =
        cli_archived(&explaining->cli, document->uri, &bytes, &content, &said, why);
    if (status == STATUS_OK && meta_record_text(document->record, META_DETECTED_TYPE, &type)) {
        const bool has_type = media_type_parse(buf_slice(&said), &memory, &media);
        const struct transform_request request = {
            .uri = document->uri,
            .type = type,
            .charset = has_type ? media_type_parameter(&media, "charset") : (struct slice){NULL, 0},
            .bytes = content,
            .explain = true,
        };
        status = offline_transform_run(explaining->hand, &request, &outcome, &died, why);
        if (status == STATUS_OK) {
            give_lines(line, outcome.explanation);
            document->asked = true;
        }
    }
    if (status == STATUS_NOT_FOUND) {
        document->why = arena_copy(line->arena, slice_string(why->text));
        status = STATUS_OK;
    }
    buf_release(&bytes);
    buf_release(&said);
    buf_release(&memory);
    return status;
}

/* ---- the whole ---- */

static enum status
explain_document(struct explaining *explaining, struct explain_statement *statements, size_t count,
                 bool first, struct reason *why)
{
    struct arena arena;
    struct buf record;
    struct explain_document document = {
        .uri = explaining->documents.terms[statements->document].term.value,
        .statements = statements,
        .count = count};
    struct explained_line line = {.statements = statements, .count = count, .arena = &arena};
    arena_init(&arena, 0);
    buf_init(&record, RECORD_MAXIMUM);
    enum status status = known_of(explaining, document.uri, &record, why);
    document.record = buf_slice(&record);
    if (status == STATUS_OK && record.length > 0) {
        status = follow_redirects(explaining, &document, &arena, why);
        if (status == STATUS_OK) {
            status = find_reason(explaining, &document, why);
        }
        if (status == STATUS_OK && explaining->extractor) {
            status = find_transforms(explaining, &document, &line, why);
        }
    }
    if (status == STATUS_OK && explaining->json) {
        explain_print_json(&document, first);
    } else if (status == STATUS_OK) {
        explain_print_text(&document);
    }
    for (size_t i = 0; i < count; i++) {
        statements[i].transforms = NULL; /* they go with the arena */
    }
    buf_release(&record);
    arena_release(&arena);
    return status;
}

static enum status
explain_all(struct explaining *explaining, struct index_client *index, struct reason *why)
{
    const struct offline_settings settings = {.options = explaining->cli.options,
                                              .directory = explaining->cli.directory,
                                              .cli = &explaining->cli};
    TRY(find_statements(explaining, index, why));
    TRY(cli_metastore(&explaining->cli, &explaining->metastore, why));
    if (explaining->extractor) {
        TRY(offline_transform_open(&explaining->hand, &settings, why));
    }
    for (size_t i = 0, end; i < explaining->count; i = end) {
        struct explain_statement *statements = explaining->statements;
        for (end = i;
             end < explaining->count && statements[end].document == statements[i].document;) {
            end++;
        }
        TRY(explain_document(explaining, &statements[i], end - i, i == 0, why));
    }
    if (explaining->json) {
        puts("]");
    }
    return STATUS_OK;
}

/* A URI, and no pattern, which has blanks or brackets. */
static bool
is_uri(const char *text)
{
    const struct slice uri = slice_string(text);
    return (slice_starts(uri, SLICE("http:")) || slice_starts(uri, SLICE("https:")) ||
            url_is_ftp(uri)) &&
           strpbrk(text, " \t<>") == NULL;
}

static enum status
explain(struct explaining *explaining, const struct cli_common *common, const char *text,
        struct reason *why)
{
    struct cli *cli = &explaining->cli;
    struct index_client *index = NULL;
    struct arena arena;
    arena_init(&arena, 8 * CLI_TERM_MAXIMUM);
    arena_init(&explaining->arena, 0);
    term_set_init(&explaining->documents);
    enum status status = cli_parse_pattern(text, &arena, &explaining->pattern, why);
    if (status == STATUS_OK) {
        status = cli_open_reading(cli, common, why);
    }
    if (status == STATUS_OK) {
        status = cli_serve(cli, "index,metastore", why);
    }
    if (status == STATUS_OK) {
        status = cli_index(cli, &index, why);
    }
    if (status == STATUS_OK) {
        status = explain_all(explaining, index, why);
    }
    offline_transform_close(explaining->hand);
    metastore_client_close(explaining->metastore);
    index_client_close(index);
    cli_close(cli);
    free(explaining->statements);
    term_set_release(&explaining->documents);
    arena_release(&explaining->arena);
    arena_release(&arena);
    return status;
}

int
command_explain(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct explaining explaining = {0};
    int64_t limit = 20, offset = 0;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"limit", 'n', FLAG_INTEGER, "N", &limit, "At most N statements (20)."},
        {"offset", 0, FLAG_INTEGER, "N", &offset, "Passes over the first N: the next page."},
        {"extractor", 'x', FLAG_SWITCH, NULL, &explaining.extractor,
         "Transforms each document's archived content again and prints which transform said the "
         "statement, and from which line."},
        {"json", 'j', FLAG_SWITCH, NULL, &explaining.json, "Prints JSON."},
        {0},
    };
    const struct program program = {
        .name = "quadrille explain",
        .synopsis = "--dir DIR [--limit N] [--offset N] [--extractor] [--json] PATTERN|URI",
        .summary = "say which documents a statement is from, or what became of a URI",
        .description =
            "Finds the statements that match PATTERN and names the documents that say them. "
            "PATTERN is a statement as N-Triples or N-Quads has it, with ? or ?name in place of "
            "what may be anything; the same name is the same term; <> may be left out, and "
            "rdf, rdfs, xsd, owl, skos, dc, dcterms, foaf, schema, og, prov, void and other usual "
            "prefixes are known.\n\n"
            "For each document: when it was fetched, with which status, why (a seed, or the "
            "document whose link, sitemap or redirect led there) and over which redirects; where "
            "the response and its conversion lie in the archive; its type, the transforms with "
            "their versions and how many quads each said. Documents and statements come in the "
            "index's order, which stays as long as the index does not change.\n\n"
            "With a URI in place of PATTERN: why it is known, whether scope, traps and robots.txt "
            "let it in and by which rule, how fast its host may be asked, where it is in the "
            "queues, how its fetches ended, and what it yielded. Only the first 10000 jobs of "
            "each queue are looked at.",
        .examples = "quadrille explain --dir DIR '?s dcterms:title ?title'\n"
                    "quadrille explain --dir DIR --extractor --limit 1 '? "
                    "http://purl.org/dc/terms/title \"How to bake an apple pie\"@en'\n"
                    "quadrille explain --dir DIR http://example.org/data.ttl",
        .flags = flags,
    };
    struct reason why = {""};
    char *operand;
    enum status status = program_parse_one(
        &program, argc, argv, "one PATTERN or URI is needed; see --help", &operand, &why);
    if (status == STATUS_OK && (limit < 1 || limit > LIMIT_MOST || offset < 0)) {
        status =
            status_fail(&why, STATUS_MISUSE, "--limit is 1 to %d, --offset 0 or more", LIMIT_MOST);
    }
    if (status == STATUS_OK) {
        status = cli_check_directory(common.directory, &why);
    }
    if (status == STATUS_OK) {
        explaining.limit = (uint64_t)limit;
        explaining.offset = (uint64_t)offset;
        status = is_uri(operand) ? explain_uri(&common, operand, explaining.json, &why)
                                 : explain(&explaining, &common, operand, &why);
    }
    return cli_end(&program, status, &why);
}
