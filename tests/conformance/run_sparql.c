/* The suites sparql10 and sparql11: syntax, evaluation, result formats.
 *
 * Each case loads its files into a source in memory, runs its query through the writer of the
 * format that the expected result has, and compares what a reader makes of both. Solutions are
 * compared as bags (as lists with ORDER BY), graphs by canonicalisation.
 */
#include <strings.h>

#include "base/buf.h"
#include "base/file.h"
#include "index/query/algebra.h"
#include "index/query/memory_source.h"
#include "index/query/result.h"
#include "rdf/canonical.h"
#include "rdf/format.h"
#include "tests/conformance/row.h"
#include "tests/conformance/sparql_results.h"

#define DEFAULT_GRAPH "urn:x-test:default"

enum { FILE_MAXIMUM = 16 << 20 };

static const char *suite; /* folder */

struct test {
    char *id, *type, *base, *inputs, *result;
    struct memory_source *source;
    unsigned documents;
    char why[1024];
};

static bool
load(const char *file, struct buf *bytes)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", suite, file);
    buf_init(bytes, FILE_MAXIMUM);
    return file_read(path, bytes, NULL) == STATUS_OK;
}

/* The IRI of a file: the case's base with its last step. */
static void
file_iri(const struct test *test, const char *file, char iri[PATH_MAX])
{
    const char *name = strrchr(file, '/');
    snprintf(iri, PATH_MAX, "%s%s", test->base, name ? name + 1 : file);
}

static enum rdf_format
format_of(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot ? rdf_format_of_extension(slice_string(dot + 1)) : RDF_FORMAT_NONE;
}

static bool
parse_into(struct test *test, const char *file, const char *iri, const struct quad_sink *sink)
{
    struct buf bytes;
    struct reason why = {""};
    const bool found = load(file, &bytes);
    const struct parse_options options = {.base = slice_string(iri)};
    const enum status status =
        found ? rdf_parse(format_of(file), buf_slice(&bytes), &options, sink, &why)
              : STATUS_NOT_FOUND;
    if (status != STATUS_OK) {
        snprintf(test->why, sizeof test->why, "%s: %s", file, found ? why.text : "no such file");
    }
    buf_release(&bytes);
    return status == STATUS_OK;
}

static bool
load_graph(struct test *test, const char *file, const char *graph)
{
    char iri[PATH_MAX], prefix[32];
    file_iri(test, file, iri);
    snprintf(prefix, sizeof prefix, "f%u.", test->documents++);
    (void)memory_source_begin(test->source, slice_string(graph ? graph : iri), slice_string(prefix),
                              NULL);
    const struct quad_sink sink = memory_source_sink(test->source);
    return parse_into(test, file, iri, &sink);
}

/* Files that FROM names lie beside the query. */
static bool
load_dataset(struct test *test, const struct query *query, const char *query_file)
{
    const char *slash = strrchr(query_file, '/');
    const int folder = slash ? (int)(slash - query_file) : 0;
    for (size_t i = 0; i < query->from_count + query->from_named_count; i++) {
        const uint32_t constant =
            i < query->from_count ? query->from[i] : query->from_named[i - query->from_count];
        char iri[1024], file[PATH_MAX];
        snprintf(iri, sizeof iri, "%.*s", SLICE_PRINT(query->constants[constant].value));
        const char *name = strrchr(iri, '/');
        snprintf(file, sizeof file, "%.*s%s", folder, query_file, name ? name : iri);
        if (!load_graph(test, file, iri)) {
            return false;
        }
    }
    return true;
}

static enum status
append(void *context, struct slice bytes, struct reason *why)
{
    (void)why;
    return buf_append_slice(context, bytes);
}

static bool
run_query(struct test *test, const struct query *query, enum result_format format, struct buf *out)
{
    struct result_writer *writer;
    struct reason why = {""};
    struct query_options options = {.timeout_ms = 20000};
    if (!query->has_dataset) {
        options.default_graph = SLICE(DEFAULT_GRAPH);
    }
    buf_init(out, FILE_MAXIMUM);
    result_writer_open(&writer, format, append, out);
    enum status status = query_run(query, memory_source_table(test->source), &options,
                                   result_writer_sink(writer), NULL, &why);
    if (status == STATUS_OK) {
        status = result_writer_finish(writer, &why);
    }
    result_writer_free(writer);
    if (status != STATUS_OK) {
        snprintf(test->why, sizeof test->why, "%s", why.text);
    }
    return status == STATUS_OK;
}

/* ---- comparing ---- */

static bool
compare_graphs(struct test *test, struct slice actual, struct graph *expected)
{
    struct graph graph;
    graph_init(&graph, 0);
    const struct quad_sink sink = graph_sink(&graph);
    struct reason why = {""};
    bool same = rdf_parse(RDF_FORMAT_NTRIPLES, actual, NULL, &sink, &why) == STATUS_OK &&
                graph_canonicalize(&graph, CANONICAL_SHA256, 0, &why) == STATUS_OK &&
                graph_canonicalize(expected, CANONICAL_SHA256, 0, &why) == STATUS_OK &&
                graph.count == expected->count;
    for (size_t i = 0; same && i < graph.count; i++) {
        same = quad_compare(&graph.quads[i], &expected->quads[i]) == 0;
    }
    if (!same) {
        snprintf(test->why, sizeof test->why, "another graph: %zu triples, expected %zu; %s",
                 graph.count, expected->count, why.text);
    }
    graph_release(&graph);
    return same;
}

/* Lines as bags, blank node labels left out. */
static int
compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t
sorted_lines(char *text, char **lines, size_t most)
{
    size_t count = 0;
    for (char *line; count < most && (line = strsep(&text, "\n"));) {
        char *to = line;
        for (char *from = line; *from; from++) {
            *to++ = *from;
            if (from[0] == '_' && from[1] == ':') {
                for (*to++ = ':'; from[1] && !strchr("\t,\r", from[1]);) {
                    from++;
                }
            }
        }
        if (to > line && to[-1] == '\r') {
            to--;
        }
        *to = 0;
        if (*line) {
            lines[count++] = line;
        }
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    return count;
}

static bool
compare_text(struct test *test, struct buf *actual, struct buf *expected)
{
    enum { LINES = 1024 };
    char *lines[2][LINES];
    const size_t a = sorted_lines(actual->data, lines[0], LINES);
    const size_t b = sorted_lines(expected->data, lines[1], LINES);
    bool same = a == b;
    for (size_t i = 0; same && i < a; i++) {
        same = strcmp(lines[0][i], lines[1][i]) == 0;
        if (!same) {
            snprintf(test->why, sizeof test->why, "line '%.200s', expected '%.200s'", lines[0][i],
                     lines[1][i]);
        }
    }
    return same;
}

static void
describe_difference(struct test *test, const struct query *query, const struct result *actual,
                    const struct result *expected)
{
    if (actual->is_boolean || expected->is_boolean) {
        snprintf(test->why, sizeof test->why, "answered %s", actual->boolean ? "true" : "false");
    } else {
        snprintf(test->why, sizeof test->why, "%zu rows of %zu columns, expected %zu of %zu%s",
                 actual->count, actual->columns, expected->count, expected->columns,
                 query_ordered(query) ? ", in order" : "");
    }
}

static bool
check_result(struct test *test, const struct query *query)
{
    const char *dot = strrchr(test->result, '.');
    const char *extension = dot ? dot + 1 : "";
    const bool graph_form =
        query_form_of(query) == QUERY_CONSTRUCT || query_form_of(query) == QUERY_DESCRIBE;
    const bool csv = strcmp(extension, "csv") == 0, tsv = strcmp(extension, "tsv") == 0;
    const bool xml = strcmp(extension, "srx") == 0, json = strcmp(extension, "srj") == 0;
    const enum result_format format = graph_form ? RESULT_NTRIPLES
                                      : csv      ? RESULT_CSV
                                      : tsv      ? RESULT_TSV
                                      : xml      ? RESULT_XML
                                                 : RESULT_JSON;
    struct buf out, bytes;
    if (!run_query(test, query, format, &out)) {
        buf_release(&out);
        return false;
    }
    bool same = load(test->result, &bytes);
    struct result *actual = result_new(), *expected = result_new();
    struct graph graph;
    graph_init(&graph, 0);
    if (!same) {
        snprintf(test->why, sizeof test->why, "no file %s", test->result);
    } else if (csv || tsv) {
        same = compare_text(test, &out, &bytes);
    } else {
        if (xml) {
            same = result_read_xml(expected, buf_slice(&bytes));
        } else if (json) {
            same = result_read_json(expected, buf_slice(&bytes));
        } else {
            char iri[PATH_MAX];
            const struct quad_sink sink = graph_sink(&graph);
            file_iri(test, test->result, iri);
            same = parse_into(test, test->result, iri, &sink);
        }
        if (same && graph_form) {
            same = compare_graphs(test, buf_slice(&out), &graph);
        } else if (same) {
            if (!xml && !json) {
                (void)result_read_graph(expected, &graph);
            }
            same = xml ? result_read_xml(actual, buf_slice(&out))
                       : result_read_json(actual, buf_slice(&out));
            same = same && results_match(actual, expected, query_ordered(query));
            if (!same) {
                describe_difference(test, query, actual, expected);
            }
        }
    }
    if (!same && getenv("SPARQL_VERBOSE")) {
        fprintf(stderr, "---- %s: %s\n%.*s\n", test->id, test->why, SLICE_PRINT(buf_slice(&out)));
    }
    graph_release(&graph);
    result_free(actual);
    result_free(expected);
    buf_release(&out);
    buf_release(&bytes);
    return same;
}

/* ---- cases ---- */

static struct query *
prepare(struct test *test, const char *file)
{
    struct buf bytes;
    struct query *query = NULL;
    struct reason why = {""};
    char iri[PATH_MAX];
    if (!load(file, &bytes)) {
        snprintf(test->why, sizeof test->why, "no file %s", file);
    } else {
        file_iri(test, file, iri);
        if (query_prepare(&query, buf_slice(&bytes), slice_string(iri), &why) != STATUS_OK) {
            snprintf(test->why, sizeof test->why, "%s", why.text);
        }
    }
    buf_release(&bytes);
    return query;
}

static bool
evaluate(struct test *test)
{
    const char *query_file = NULL;
    bool loaded = true;
    test->source = memory_source_new(0);
    for (char *input; loaded && (input = strsep(&test->inputs, " "));) {
        char *file = strchr(input, '=');
        if (!file) {
            continue;
        }
        *file++ = 0;
        if (strcmp(input, "query") == 0) {
            query_file = file;
        } else if (strcmp(input, "data") == 0) {
            loaded = load_graph(test, file, DEFAULT_GRAPH);
        } else if (strcmp(input, "graphData") == 0) {
            loaded = load_graph(test, file, NULL);
        }
    }
    struct query *query = loaded && query_file ? prepare(test, query_file) : NULL;
    bool good = query && (!query->has_dataset || load_dataset(test, query, query_file));
    good = good && check_result(test, query);
    query_free(query);
    memory_source_free(test->source);
    return good;
}

static void
run_case(struct row *row, char *line)
{
    char *fields[8];
    struct test test = {.why = ""};
    if (row_fields(line, fields, 8) < 7 || strcmp(fields[0], "id") == 0) {
        return;
    }
    test.id = fields[0];
    test.type = fields[1];
    test.base = fields[2];
    test.inputs = fields[3];
    test.result = fields[4];
    if (strstr(test.type, "SyntaxTest")) {
        const bool positive = strstr(test.type, "Positive") != NULL;
        const char *file = strchr(test.inputs, '=');
        struct query *query = prepare(&test, file ? file + 1 : test.inputs);
        row_case(row, test.id, (query != NULL) == positive, "%s",
                 positive ? test.why : "accepted although wrong");
        query_free(query);
    } else {
        const bool good = evaluate(&test);
        row_case(row, test.id, good, "%s", test.why);
    }
}

int
main(int argc, char **argv)
{
    static const char *const suites[] = {"sparql10", "sparql11"};
    if (argc != 3) {
        fprintf(stderr, "usage: run_sparql SUITES OUTPUT\n");
        return 100;
    }
    for (size_t i = 0; i < 2; i++) {
        char folder[1024];
        struct row row;
        snprintf(folder, sizeof folder, "%s/%s", argv[1], suites[i]);
        suite = folder;
        row_open(&row, suites[i], argv[2]);
        row_lines(&row, folder, "cases.tsv", run_case);
        row_close(&row);
    }
    return 0;
}
