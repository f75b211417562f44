/* The suite rdfa: one row for each version and host language.
 *
 * The verdict on a case is the answer of its query over the triples that came out. With
 * RDFA_GRAPHS in the environment graphs that differ from the reference are printed as well:
 * queries ask for what must be there, so that more than that does not fail them.
 */
#include "base/buf.h"
#include "base/system/file.h"
#include "index/query/query.h"
#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "rdf/format.h"
#include "tests/conformance/row.h"
#include "tests/support/memory_source.h"
#include "transforms/rdfa/rdfa.h"
#include "transforms/xml/xml.h"

#define GRAPH "urn:x-test:graph"

enum { FILE_MAXIMUM = 16 << 20, ROWS_MAXIMUM = 64 };

static char folder[1024];
static const char *output;
static struct row rows[ROWS_MAXIMUM];
static char *row_names[ROWS_MAXIMUM];
static size_t row_count;

/* The vocabulary that cases of vocabulary expansion use, as far as they need it. */
static const char vocabulary[] =
    "@prefix : <http://rdfa.info/vocabs/rdfa-test#> .\n"
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    ":subProp rdfs:subPropertyOf :baseProp . :eqProp owl:equivalentProperty :baseProp .\n"
    ":SubClass rdfs:subClassOf :BaseClass . :EqClass owl:equivalentClass :BaseClass .\n";

static bool
load(const char *file, struct buf *bytes)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    buf_init(bytes, FILE_MAXIMUM);
    return file_read(path, bytes, NULL) == STATUS_OK;
}

static void
add_vocabulary(void *context, struct slice iri, struct graph *into)
{
    (void)context;
    struct reason why;
    const struct quad_sink sink = graph_sink(into);
    if (slice_is(iri, "http://rdfa.info/vocabs/rdfa-test#")) {
        (void)rdf_parse(RDF_FORMAT_TURTLE, SLICE(vocabulary), NULL, &sink, &why);
    }
}

/* Media types by the files' extensions. */
static struct slice
type_of(const char *file)
{
    const char *dot = strrchr(file, '.');
    return !dot                         ? SLICE("")
           : strcmp(dot, ".html") == 0  ? SLICE("text/html")
           : strcmp(dot, ".xhtml") == 0 ? SLICE("application/xhtml+xml")
           : strcmp(dot, ".svg") == 0   ? SLICE("image/svg+xml")
                                        : SLICE("application/xml");
}

static bool
extract(const char *file, const char *base, const char *parameter, const char *id,
        struct graph *graph, struct reason *why)
{
    struct buf bytes;
    struct arena arena;
    struct html_tree tree;
    const struct slice type = type_of(file);
    arena_init(&arena, 0);
    html_tree_init(&tree, &arena);
    enum status status = load(file, &bytes) ? STATUS_OK : STATUS_NOT_FOUND;
    if (status == STATUS_OK) {
        status = slice_is(type, "text/html") ? html_parse(&tree, buf_slice(&bytes), why)
                                             : xhtml_parse(&tree, buf_slice(&bytes), why);
    }
    if (status == STATUS_OK) {
        const struct rdfa_options options = {
            .host = rdfa_host_of(&tree, type),
            .base = slice_string(base),
            .roles = strstr(id, "lite") != NULL || strstr(id, "role") != NULL,
            .processor_graph = strstr(parameter, "rdfagraph=processor") != NULL,
            .vocabulary = strstr(parameter, "vocab_expansion") ? add_vocabulary : NULL};
        const struct quad_sink sink = graph_sink(graph);
        status = rdfa_extract(&tree, &options, &sink, why);
    }
    html_tree_release(&tree);
    arena_release(&arena);
    buf_release(&bytes);
    return status == STATUS_OK;
}

/* ---- verdicts ---- */

static enum status
take_answer(void *context, bool answer, struct reason *why)
{
    (void)why;
    *(bool *)context = answer;
    return STATUS_OK;
}

static bool
ask(const char *file, const char *base, const struct graph *graph, bool *answer, struct reason *why)
{
    struct buf bytes;
    struct query *query = NULL;
    struct memory_source *source = memory_source_new(0);
    const struct query_sink sink = {.context = answer, .boolean = take_answer};
    const struct query_options options = {.timeout_ms = 20000, .default_graph = SLICE(GRAPH)};
    (void)memory_source_begin(source, SLICE(GRAPH), SLICE(""), NULL);
    const struct quad_sink quads = memory_source_sink(source);
    bool good = load(file, &bytes) &&
                query_prepare(&query, buf_slice(&bytes), slice_string(base), why) == STATUS_OK &&
                graph_send(graph, &quads, why) == STATUS_OK;
    good = good &&
           query_run(query, memory_source_table(source), &options, &sink, NULL, why) == STATUS_OK;
    query_free(query);
    memory_source_free(source);
    buf_release(&bytes);
    return good;
}

static void
print_graph(const char *title, const struct graph *graph)
{
    struct buf text;
    buf_init(&text, FILE_MAXIMUM);
    for (size_t i = 0; i < graph->count; i++) {
        nquads_write(&text, &graph->quads[i]);
    }
    printf("---- %s\n%.*s", title, SLICE_PRINT(buf_slice(&text)));
    buf_release(&text);
}

static void
compare_reference(const char *id, const char *file, const char *base, struct graph *graph)
{
    struct buf bytes;
    struct graph reference;
    struct reason why;
    graph_init(&reference, 0);
    const struct quad_sink sink = graph_sink(&reference);
    const struct parse_options options = {.base = slice_string(base)};
    if (load(file, &bytes) &&
        rdf_parse(RDF_FORMAT_TURTLE, buf_slice(&bytes), &options, &sink, &why) == STATUS_OK &&
        graph_canonicalize(graph, CANONICAL_SHA256, 0, &why) == STATUS_OK &&
        graph_canonicalize(&reference, CANONICAL_SHA256, 0, &why) == STATUS_OK) {
        bool same = graph->count == reference.count;
        for (size_t i = 0; same && i < graph->count; i++) {
            same = quad_compare(&graph->quads[i], &reference.quads[i]) == 0;
        }
        if (!same) {
            print_graph(id, graph);
            print_graph("reference", &reference);
        }
    }
    buf_release(&bytes);
    graph_release(&reference);
}

/* ---- cases ---- */

static struct row *
find_row(const char *id)
{
    const char *slash = strrchr(id, '/');
    char name[256];
    snprintf(name, sizeof name, "%.*s", slash ? (int)(slash - id) : 4, id);
    for (char *at = name; *at; at++) {
        *at = *at == '/' ? '-' : *at;
    }
    for (size_t i = 0; i < row_count; i++) {
        if (strcmp(row_names[i], name) == 0) {
            return &rows[i];
        }
    }
    if (row_count == ROWS_MAXIMUM) {
        return &rows[0];
    }
    row_names[row_count] = strdup(name);
    row_open(&rows[row_count], row_names[row_count], output);
    return &rows[row_count++];
}

static void
run_case(struct row *unused, char *line)
{
    char *fields[7] = {NULL};
    (void)unused;
    if (row_fields(line, fields, 7) < 5 || strcmp(fields[0], "id") == 0) {
        return;
    }
    char *turtle = fields[4], *query = strchr(fields[4], ' ');
    if (query) {
        *query++ = 0;
    }
    struct reason why = {""};
    struct graph graph;
    bool answer = false;
    graph_init(&graph, 0);
    const bool positive = strcmp(fields[1], "positive") == 0;
    const char *parameter = fields[5] ? fields[5] : "";
    bool good = extract(fields[3], fields[2], parameter, fields[0], &graph, &why) &&
                ask(query ? query : turtle, fields[2], &graph, &answer, &why);
    if (good && answer != positive) {
        snprintf(why.text, sizeof why.text, "the answer is %s", answer ? "true" : "false");
        good = false;
    }
    row_case(find_row(fields[0]), fields[0], good, "%s", why.text);
    if (getenv("RDFA_GRAPHS")) {
        compare_reference(fields[0], turtle, fields[2], &graph);
    }
    graph_release(&graph);
}

int
main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: run_rdfa SUITES OUTPUT\n");
        return 100;
    }
    snprintf(folder, sizeof folder, "%s/rdfa", argv[1]);
    output = argv[2];
    xml_prepare();
    row_lines(NULL, folder, "cases.tsv", run_case);
    for (size_t i = 0; i < row_count; i++) {
        row_close(&rows[i]);
        free(row_names[i]);
    }
    return 0;
}
