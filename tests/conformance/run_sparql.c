/* The suites sparql10 and sparql11, and any other whose folder's name begins with sparql: syntax,
 * evaluation, result formats, updates. Cases come from cases.tsv, else from the manifests in the
 * folder; what an update reads and leaves is in the manifests alone.
 *
 * Each case loads its files into a source in memory, runs its query through the writer of the
 * format that the expected result has, and compares what a reader makes of both. Solutions are
 * compared as bags (as lists with ORDER BY), graphs by canonicalisation.
 */
#include <dirent.h>
#include <strings.h>

#include "index/query/algebra/algebra.h"
#include "index/query/results/result.h"
#include "tests/conformance/row.h"
#include "tests/conformance/sparql_manifest.h"
#include "tests/conformance/sparql_results.h"
#include "tests/conformance/sparql_update.h"

static bool
load_graph(struct test *test, const char *file, const char *graph)
{
    char iri[PATH_MAX], prefix[32];
    test_file_iri(test, file, iri);
    snprintf(prefix, sizeof prefix, "f%u.", test->documents++);
    (void)memory_source_begin(test->source, slice_string(graph ? graph : iri), slice_string(prefix),
                              NULL);
    const struct quad_sink sink = memory_source_sink(test->source);
    return test_parse(test, file, iri, &sink);
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
compare_lines_of_graph(struct test *test, struct slice actual, struct graph *expected)
{
    struct graph graph;
    graph_init(&graph, 0);
    const struct quad_sink sink = graph_sink(&graph);
    const bool same = rdf_parse(RDF_FORMAT_NTRIPLES, actual, NULL, &sink, NULL) == STATUS_OK &&
                      test_compare_graphs(test, &graph, expected);
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
    const char *result = test->out_count ? test->out[0].file : "";
    const char *dot = strrchr(result, '.');
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
    bool same = test_load(result, &bytes);
    struct result *actual = result_new(), *expected = result_new();
    struct graph graph;
    graph_init(&graph, 0);
    if (!same) {
        snprintf(test->why, sizeof test->why, "no file %s", result);
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
            test_file_iri(test, result, iri);
            same = test_parse(test, result, iri, &sink);
        }
        if (same && graph_form) {
            same = compare_lines_of_graph(test, buf_slice(&out), &graph);
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
    if (!test_load(file, &bytes)) {
        snprintf(test->why, sizeof test->why, "no file %s", file);
    } else {
        test_file_iri(test, file, iri);
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
    for (size_t i = 0; loaded && i < test->in_count; i++) {
        const struct test_file *in = &test->in[i];
        if (strcmp(in->role, "query") == 0) {
            query_file = in->file;
        } else if (strcmp(in->role, "data") == 0) {
            loaded = load_graph(test, in->file, DEFAULT_GRAPH);
        } else if (strcmp(in->role, "graphData") == 0) {
            loaded = load_graph(test, in->file, in->label[0] ? in->label : NULL);
        }
    }
    struct query *query = loaded && query_file ? prepare(test, query_file) : NULL;
    bool good = query && (!query->has_dataset || load_dataset(test, query, query_file));
    good = good && check_result(test, query);
    query_free(query);
    memory_source_free(test->source);
    return good;
}

static bool
check_syntax(struct test *test, bool positive)
{
    const char *file = test->in_count ? test->in[0].file : "";
    bool accepted;
    if (strstr(test->type, "Update")) {
        struct update *update = test_prepare_update(test, file);
        accepted = update != NULL;
        update_free(update);
    } else {
        struct query *query = prepare(test, file);
        accepted = query != NULL;
        query_free(query);
    }
    if (accepted && !positive) {
        snprintf(test->why, sizeof test->why, "accepted although wrong");
    }
    return accepted == positive;
}

static void
run_test(struct row *row, struct test *test)
{
    const bool good = strstr(test->type, "Syntax")
                          ? check_syntax(test, strstr(test->type, "Positive") != NULL)
                      : strstr(test->type, "Update") ? test_evaluate_update(test)
                                                     : evaluate(test);
    row_case(row, test->id, good, "%s", test->why);
}

static void
run_line(struct row *row, char *line)
{
    char *fields[8] = {0};
    static struct test test;
    if (row_fields(line, fields, 8) < 7 || strcmp(fields[0], "id") == 0) {
        return;
    }
    test = (struct test){.id = fields[0], .type = fields[1], .base = fields[2]};
    const bool update = strstr(test.type, "UpdateEvaluation") != NULL;
    if (!update || !manifest_find(&test)) {
        test_read_columns(&test, fields[3], fields[4], fields[5]);
    }
    run_test(row, &test);
}

static void
run_suite(const char *suites, const char *name, const char *output)
{
    char folder[1024], cases[1040];
    struct row row;
    snprintf(folder, sizeof folder, "%.700s/%.300s", suites, name);
    snprintf(cases, sizeof cases, "%s/cases.tsv", folder);
    suite = folder;
    row_open(&row, name, output);
    if (access(cases, R_OK) == 0) {
        row_lines(&row, folder, "cases.tsv", run_line);
    } else {
        manifest_walk(&row, "", 0, run_test);
    }
    row_close(&row);
}

static int
is_suite(const struct dirent *entry)
{
    return strncmp(entry->d_name, "sparql", 6) == 0;
}

int
main(int argc, char **argv)
{
    struct dirent **names;
    if (argc != 3) {
        fprintf(stderr, "usage: run_sparql SUITES OUTPUT\n");
        return 100;
    }
    const int count = scandir(argv[1], &names, is_suite, alphasort);
    if (count < 0) {
        perror(argv[1]);
        return 111;
    }
    for (int i = 0; i < count; i++) {
        run_suite(argv[1], names[i]->d_name, argv[2]);
        free(names[i]);
    }
    free(names);
    return 0;
}
