/* The suite microdata-rdf. Graphs are compared by their RDFC-1.0 canonical form; what must be
 * refused must be told of. */
#include <jansson.h>

#include "base/system/file.h"
#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "rdf/format.h"
#include "tests/conformance/row.h"
#include "transforms/microdata/microdata.h"
#include "transforms/page/page_extract.h"

enum { WORK = 1000000, VOCABULARIES = 32, EXPANSIONS = 32 };

static const char *folder;
static const struct microdata_registry *registry;

static struct buf
read_file(const char *name)
{
    struct buf bytes;
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    buf_init(&bytes, 64 << 20);
    (void)file_read(path, &bytes, NULL);
    return bytes;
}

/* Our registry and what a file adds, in static memory; the JSON lives until the program ends. */
static const struct microdata_registry *
read_registry(const char *file)
{
    static struct microdata_vocabulary vocabularies[VOCABULARIES];
    static struct microdata_expansion expansions[EXPANSIONS];
    static struct microdata_registry all = {vocabularies, 0};
    size_t used = 0;
    struct buf bytes = read_file(file);
    json_t *json = json_loadb(bytes.data, bytes.length, 0, NULL), *vocabulary, *property, *also;
    const char *prefix, *name, *kind;
    all.count = microdata_registry.count;
    memcpy(vocabularies, microdata_registry.vocabularies, all.count * sizeof *vocabularies);
    json_object_foreach(json, prefix, vocabulary)
    {
        if (prefix[0] == '@' || all.count == VOCABULARIES) {
            continue;
        }
        struct microdata_vocabulary *to = &vocabularies[all.count++];
        *to = (struct microdata_vocabulary){slice_string(prefix), &expansions[used], 0};
        json_object_foreach(json_object_get(vocabulary, "properties"), name, property)
        {
            json_object_foreach(property, kind, also)
            {
                const char *iri = json_is_array(also) ? json_string_value(json_array_get(also, 0))
                                                      : json_string_value(also);
                if (iri && used < EXPANSIONS) {
                    expansions[used++] =
                        (struct microdata_expansion){slice_string(name), slice_string(iri)};
                    to->expansion_count++;
                }
            }
        }
    }
    buf_release(&bytes);
    return &all;
}

static void
count_problem(void *context, const struct parse_problem *problem)
{
    (void)problem;
    ++*(unsigned *)context;
}

static enum status
extract(const char *input, const char *base, struct graph *graph, unsigned *problems,
        struct reason *why)
{
    struct arena arena;
    struct html_tree tree;
    struct links links;
    struct buf bytes = read_file(input);
    arena_init(&arena, 64 << 20);
    html_tree_init(&tree, &arena);
    links_init(&links);
    links_begin(&links, slice_string(base));
    const struct quad_sink sink = graph_sink(graph);
    struct emitter emitter = {.sink = &sink, .why = why};
    const struct problem_sink problem_sink = {count_problem, problems};
    const struct microdata_options options = {
        .registry = registry, .problems = problem_sink, .advice = problem_sink};
    enum status status = html_parse(&tree, buf_slice(&bytes), why);
    if (status == STATUS_OK) {
        html_rebase(&tree, &links);
        status = microdata_extract(&tree, &links, &options, &emitter);
    }
    links_release(&links);
    html_tree_release(&tree);
    arena_release(&arena);
    buf_release(&bytes);
    return status;
}

static struct buf
lines_of(const struct graph *graph)
{
    struct buf text;
    buf_init(&text, 256 << 20);
    buf_append_char(&text, '\n');
    for (size_t i = 0; i < graph->count; i++) {
        nquads_write(&text, &graph->quads[i]);
    }
    return text;
}

static bool
equals_file(struct graph *graph, const char *file, const char *base, struct reason *why)
{
    struct graph expected;
    struct buf bytes = read_file(file);
    const struct parse_options options = {.base = slice_string(base)};
    graph_init(&expected, 0);
    const struct quad_sink sink = graph_sink(&expected);
    bool equal =
        rdf_parse(RDF_FORMAT_TURTLE, buf_slice(&bytes), &options, &sink, why) == STATUS_OK &&
        graph_canonicalize(graph, CANONICAL_SHA256, WORK, why) == STATUS_OK &&
        graph_canonicalize(&expected, CANONICAL_SHA256, WORK, why) == STATUS_OK;
    if (equal) {
        struct buf have = lines_of(graph), want = lines_of(&expected);
        const char *mine = have.data, *theirs = want.data;
        equal = strcmp(mine, theirs) == 0;
        while (*mine != '\0' && *mine == *theirs) {
            mine++, theirs++;
        }
        while (mine > have.data && mine[-1] != '\n') {
            mine--;
        }
        status_fail(why, STATUS_BAD_INPUT, "first difference in our %.*s", (int)strcspn(mine, "\n"),
                    mine);
        buf_release(&have);
        buf_release(&want);
    }
    buf_release(&bytes);
    graph_release(&expected);
    return equal;
}

static void
run_case(struct row *row, char *line)
{
    char *fields[7] = {NULL};
    if (row_fields(line, fields, 7) < 5 || strcmp(fields[0], "id") == 0) {
        return;
    }
    char base[PATH_MAX];
    snprintf(base, sizeof base, "%s%s", fields[2], fields[3]);
    struct graph graph;
    struct reason why = {{0}};
    unsigned problems = 0;
    graph_init(&graph, 0);
    const enum status status = extract(fields[3], base, &graph, &problems, &why);
    if (strstr(fields[1], "NegativeSyntax") != NULL) {
        row_case(row, fields[0], problems > 0, "no problem told");
    } else {
        row_case(row, fields[0], status == STATUS_OK && equals_file(&graph, fields[4], base, &why),
                 "%s", why.text);
    }
    graph_release(&graph);
}

int
main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: run_microdata SUITES OUTPUT\n");
        return EXIT_MISUSE;
    }
    struct row row;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/microdata-rdf", argv[1]);
    folder = path;
    registry = read_registry("test-registry.json");
    row_open(&row, "microdata-rdf", argv[2]);
    row_lines(&row, folder, "cases.tsv", run_case);
    row_close(&row);
    return EXIT_DONE;
}
