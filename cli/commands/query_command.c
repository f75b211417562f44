/* quadrille query, search, dump, verify: clients of the query service. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/system/file.h"

#include "cli/shared/cli.h"
#include "config/config.h"
#include "search/find.h"

enum { QUERY_MAXIMUM = 1 << 20, FOLDER_MAXIMUM = 4096 };

#define CLI_PARTIAL_HELP \
    "When an index partition does not answer: error fails, warn answers without it."
#define CLI_PARTIAL_EXIT                                                                        \
    "Exit status: 0, the answer is whole; 2, it is partial, with a line on standard error for " \
    "each "                                                                                     \
    "partition that is missing (only with --partial warn); 100, the query is wrong; 111, it "   \
    "failed, what came out is not the answer; 130, interrupted."

static enum status
open_index(struct cli *cli, const struct cli_common *common, const char *needed,
           struct index_client **index, struct reason *why)
{
    TRY(cli_open_reading(cli, common, why));
    TRY(cli_serve(cli, needed, why));
    return cli_index(cli, index, why);
}

static void
close_index(struct cli *cli, struct index_client *index)
{
    index_client_close(index);
    cli_close(cli);
}

/* ---- patterns ---- */

struct pattern_texts {
    const char *subject, *predicate, *object, *graph;
    int64_t limit;
};

static bool
is_pattern(const struct pattern_texts *texts)
{
    return texts->subject || texts->predicate || texts->object || texts->graph;
}

static enum status
print_pattern(struct index_client *index, const struct pattern_texts *texts, struct reason *why)
{
    struct quad pattern = {0};
    struct arena arena;
    arena_init(&arena, 8 * CLI_TERM_MAXIMUM);
    enum status status = cli_parse_term(texts->subject, &arena, &pattern.subject, why);
    if (status == STATUS_OK) {
        status = cli_parse_term(texts->predicate, &arena, &pattern.predicate, why);
    }
    if (status == STATUS_OK) {
        status = cli_parse_term(texts->object, &arena, &pattern.object, why);
    }
    if (status == STATUS_OK) {
        status = cli_parse_term(texts->graph, &arena, &pattern.graph, why);
    }
    if (status == STATUS_OK) {
        status =
            index_pattern(index, &pattern, (uint64_t)texts->limit, cli_print_piece, stdout, why);
    }
    arena_release(&arena);
    return status;
}

/* ---- SPARQL ---- */

/* A person's terminal has little room; whatever else reads a table wants all of it. */
static const char *
format_for(const char *format)
{
    const bool table = format[0] == '\0' || strcmp(format, "table") == 0;
    return table && isatty(STDOUT_FILENO) ? "terminal" : format;
}

int
command_query(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct cli cli = {0};
    struct index_client *index = NULL;
    struct pattern_texts texts = {0};
    const char *file = NULL, *format = "", *default_graph = "", *partial = NULL;
    bool explain = false, analyze = false, json = false;
    int64_t timeout = 60;
    struct buf text, folder;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"file", 'f', FLAG_STRING, "FILE", &file,
         "Reads the query from FILE; - for standard input."},
        {"format", 'o', FLAG_STRING, "FORMAT", &format,
         "table (the usual), json, xml, csv or tsv; for CONSTRUCT and DESCRIBE ttl (the usual), nt "
         "or "
         "nq. A table for a terminal is cut to what can be read; elsewhere it is whole."},
        {"json", 'j', FLAG_SWITCH, NULL, &json, "The same as --format json."},
        {"timeout", 0, FLAG_INTEGER, "SECONDS", &timeout, "Gives up after so long (60)."},
        {"default-graph", 0, FLAG_STRING, "IRI", &default_graph,
         "The one graph that is the default (the union of all)."},
        {"partial", 0, FLAG_STRING, "WHAT", &partial, CLI_PARTIAL_HELP},
        {"explain", 0, FLAG_SWITCH, NULL, &explain, "Prints the plan and what it expects."},
        {"analyze", 0, FLAG_SWITCH, NULL, &analyze,
         "Prints the plan with the rows and the time of each step of one evaluation."},
        {"subject", 0, FLAG_STRING, "TERM", &texts.subject, "Pattern: quads with this subject."},
        {"predicate", 0, FLAG_STRING, "TERM", &texts.predicate, "Pattern: with this predicate."},
        {"object", 0, FLAG_STRING, "TERM", &texts.object, "Pattern: with this object."},
        {"graph", 0, FLAG_STRING, "TERM", &texts.graph, "Pattern: of this document."},
        {"limit", 0, FLAG_INTEGER, "N", &texts.limit, "Pattern: at most N quads (all)."},
        {0},
    };
    const struct program program = {
        .name = "quadrille query",
        .synopsis = "--dir DIR [--format FORMAT] SPARQL",
        .summary = "answer a SPARQL query or a quad pattern",
        .description =
            "Answers a SPARQL 1.1 query. The default graph is the union of all documents, unless "
            "--default-graph names another; GRAPH "
            "?d binds the document a statement is from. ?literal <urn:x-quadrille:query#matches> "
            "\"words\" finds literals by keywords, and GRAPH "
            "<urn:x-quadrille:query#provenance> is what is known of documents: when and how each "
            "was fetched and transformed. Prefixes that `quadrille prefixes` lists need no "
            "declaration.\n\n"
            "With --subject, --predicate, --object or --graph it prints the quads that match, as "
            "N-Quads. Works while a crawl runs and after.\n\n"
            "Ctrl-C ends the query in all partitions. " CLI_PARTIAL_EXIT,
        .examples =
            "quadrille query --dir DIR 'SELECT ?type (COUNT(*) AS ?n) { ?s a ?type } GROUP BY "
            "?type ORDER BY DESC(?n)'\n"
            "quadrille query --dir DIR --json 'SELECT * { ?s ?p ?o } LIMIT 3'\n"
            "quadrille query --dir DIR 'CONSTRUCT { ?s foaf:name ?o } { ?s rdfs:label ?o }'\n"
            "quadrille query --dir DIR --predicate http://xmlns.com/foaf/0.1/name",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    buf_init(&text, QUERY_MAXIMUM);
    buf_init(&folder, FOLDER_MAXIMUM);
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK && timeout < 1) {
        status = status_fail(&why, STATUS_MISUSE, "--timeout is at least 1");
    }
    if (status == STATUS_OK && file != NULL) {
        status = file_read_or_input(file, &text, &why);
    } else if (status == STATUS_OK && n == 1) {
        buf_append_string(&text, operands[0]);
    } else if (status == STATUS_OK && !(n == 0 && is_pattern(&texts))) {
        status = status_fail(&why, STATUS_MISUSE, "one query is needed; see --help");
    }
    if (status == STATUS_OK) {
        status = open_index(&cli, &common, "index,metastore", &index, &why);
    }
    if (status == STATUS_OK) {
        status = cli_interruptible(partial, index, &why);
    }
    if (status == STATUS_OK && is_pattern(&texts)) {
        status = print_pattern(index, &texts, &why);
    } else if (status == STATUS_OK) {
        config_path(cli.directory, "tmp", &folder);
        format = json ? "json" : format_for(format);
        const struct index_query_options options = {.timeout_ms = (uint32_t)timeout * 1000,
                                                    .default_graph = slice_string(default_graph),
                                                    .answer = analyze   ? INDEX_ANSWER_MEASURED
                                                              : explain ? INDEX_ANSWER_PLAN
                                                                        : INDEX_ANSWER_RESULT,
                                                    .scratch_folder = folder.data};
        status =
            index_query(index, buf_slice(&text), format, &options, cli_print_piece, stdout, &why);
    }
    buf_release(&text);
    buf_release(&folder);
    const int code = cli_answered(&program, index, status, &why);
    close_index(&cli, index);
    return code;
}

/* ---- search ---- */

static enum status
print_hits(void *context, struct slice bytes, struct reason *why)
{
    bool *found = context;
    *found = *found || bytes.length > 0;
    return cli_print_piece(stdout, bytes, why);
}

int
command_search(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct cli cli = {0};
    struct index_client *index = NULL;
    int64_t limit = 10;
    const char *partial = NULL;
    bool found = false, cut;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"limit", 'n', FLAG_INTEGER, "N", &limit, "At most N hits (10)."},
        {"partial", 0, FLAG_STRING, "WHAT", &partial, CLI_PARTIAL_HELP},
        {0},
    };
    const struct program program = {
        .name = "quadrille search",
        .synopsis = "--dir DIR [--limit N] WORD...",
        .summary = "find literals by keywords",
        .description =
            "Finds literals with all the words, best first, and prints for each quad: score, "
            "literal, subject, predicate, document, separated by tabs. A word also stands for its "
            "stem in "
            "literals with a language; \"two words\" in quotes are a phrase as it is, word* is a "
            "prefix, `this OR that` one of both, -word none of it (after --), lang:de a "
            "language. class:foaf:Person, predicate:foaf:name, domain:example.org and date:2026-11 "
            "keep what has them, with a minus what has not.\n\n" CLI_PARTIAL_EXIT,
        .examples = "quadrille search --dir DIR apple\n"
                    "quadrille search --dir DIR 'apples OR pears -\"apple pie\" lang:en'\n"
                    "quadrille search --dir DIR apple class:schema:Recipe domain:example.org\n"
                    "quadrille search --dir DIR --limit 3 '\"apple pie\" bak*'",
        .flags = flags,
    };
    struct reason why = {""};
    struct buf words;
    char **operands;
    int n;
    buf_init(&words, QUERY_MAXIMUM);
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    for (int i = 0; status == STATUS_OK && i < n; i++) {
        buf_printf(&words, "%s%s", i > 0 ? " " : "", operands[i]);
    }
    if (status == STATUS_OK && (n == 0 || limit < 1 || limit > 1000000)) {
        status = status_fail(&why, STATUS_MISUSE, "words are needed, --limit is 1 to 1000000");
    }
    if (status == STATUS_OK) {
        status = open_index(&cli, &common, "index", &index, &why);
    }
    if (status == STATUS_OK) {
        status = cli_interruptible(partial, index, &why);
    }
    if (status == STATUS_OK) {
        const struct find_access access = {.index = index};
        status =
            find_lines(&access, buf_slice(&words), (uint32_t)limit, print_hits, &found, &cut, &why);
    }
    if (status == STATUS_OK && cut) {
        fprintf(stderr, "%s: the words are in more than was looked through for the filters\n",
                program.name);
    }
    if (status == STATUS_OK && !found) {
        fprintf(stderr, "%s: no literal has all of %.*s\n", program.name,
                SLICE_PRINT(buf_slice(&words)));
    }
    buf_release(&words);
    const int code = cli_answered(&program, index, status, &why);
    close_index(&cli, index);
    return code;
}

/* ---- dump, verify ---- */

static enum status
dump_to(struct index_client *index, struct buf *position, const char *path, struct reason *why)
{
    if (path == NULL) {
        return index_dump(index, position, cli_print_piece, stdout, why);
    }
    FILE *out = fopen(path, "we");
    if (out == NULL) {
        return status_fail_errno(why, "cannot write %s", path);
    }
    enum status status = index_dump(index, position, cli_print_piece, out, why);
    if (!file_close_synced(out, path) && status == STATUS_OK) {
        status = status_fail_errno(why, "cannot write %s", path);
    }
    return status;
}

static enum status
write_position(const char *path, const struct buf *position, struct reason *why)
{
    FILE *out = fopen(path, "we");
    if (out == NULL) {
        return status_fail_errno(why, "cannot write %s", path);
    }
    fprintf(out, "%.*s\n", SLICE_PRINT(buf_slice(position)));
    return file_close_synced(out, path) ? STATUS_OK
                                        : status_fail_errno(why, "cannot write %s", path);
}

int
command_dump(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct cli cli = {0};
    struct index_client *index = NULL;
    const char *path = NULL;
    const char *position_path = NULL;
    struct buf position;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"output", 'o', FLAG_STRING, "FILE", &path, "Writes to FILE instead of standard output."},
        {"position", 'p', FLAG_STRING, "FILE", &position_path,
         "Writes to FILE the position of the change stream that the dump is as of."},
        {0},
    };
    const struct program program = {
        .name = "quadrille dump",
        .synopsis = "--dir DIR [--output FILE] [--position FILE]",
        .summary = "write all documents as sorted canonical N-Quads",
        .description = "Writes all quads of all documents, of all nodes, in byte order of their "
                       "canonical N-Quads lines. The same web gives the same bytes, however it "
                       "was crawled.\n\n"
                       "Each partition is dumped as of one commit, while batches go on. Who goes "
                       "on from the position with `quadrille changes` has an exact mirror.",
        .examples = "quadrille dump --dir DIR --output all.nq\n"
                    "quadrille dump --dir DIR --output all.nq --position all.position",
        .flags = flags,
    };
    struct reason why = {""};
    buf_init(&position, QUERY_MAXIMUM);
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK) {
        status = open_index(&cli, &common, "index", &index, &why);
    }
    if (status == STATUS_OK) {
        status = dump_to(index, position_path != NULL ? &position : NULL, path, &why);
    }
    if (status == STATUS_OK && position_path != NULL) {
        status = write_position(position_path, &position, &why);
    }
    buf_release(&position);
    close_index(&cli, index);
    return cli_end(&program, status, &why);
}

int
command_verify(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct cli cli = {0};
    struct index_client *index = NULL;
    const struct flag flags[] = {CLI_COMMON_FLAGS(common), {0}};
    const struct program program = {
        .name = "quadrille verify",
        .synopsis = "--dir DIR",
        .summary = "check the index against itself",
        .description = "Checks that the six trees, the lexicon, the literals and the documents "
                       "agree with each other. Exit code 0: clean; 111: damage, which is named.",
        .examples = "quadrille verify --dir DIR",
        .flags = flags,
    };
    struct reason why = {""};
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK) {
        status = open_index(&cli, &common, "index", &index, &why);
    }
    if (status == STATUS_OK) {
        status = index_verify(index, cli_print_piece, stdout, &why);
    }
    close_index(&cli, index);
    return cli_end(&program, status, &why);
}
