/* The suites rdf11-* and rdf-canon. Graphs are compared by their RDFC-1.0 canonical form. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/file.h"
#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "rdf/format.h"
#include "tests/conformance/row.h"

/* Enough for every legitimate case, not for the cases made to be refused. */
enum { WORK = 1000000 };

struct suite {
    const char *name;
    enum rdf_format format, expected; /* of inputs; of results */
};

static const struct suite suites[] = {
    {"rdf11-ntriples", RDF_FORMAT_NTRIPLES, RDF_FORMAT_NTRIPLES},
    {"rdf11-nquads", RDF_FORMAT_NQUADS, RDF_FORMAT_NQUADS},
    {"rdf11-turtle", RDF_FORMAT_TURTLE, RDF_FORMAT_NTRIPLES},
    {"rdf11-trig", RDF_FORMAT_TRIG, RDF_FORMAT_NQUADS},
    {"rdf11-rdfxml", RDF_FORMAT_XML, RDF_FORMAT_NTRIPLES},
    {"rdf-canon", RDF_FORMAT_NQUADS, RDF_FORMAT_NQUADS},
};

static const struct suite *suite; /* the one that runs */
static char *folder;

static struct buf
read_file(const char *name)
{
    struct buf bytes;
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    buf_init(&bytes, 64 << 20);
    struct reason why;
    if (file_read(path, &bytes, &why) != STATUS_OK) {
        fprintf(stderr, "%s\n", why.text);
        exit(111);
    }
    return bytes;
}

static enum status
load(const char *name, const char *base, enum rdf_format format, struct graph *graph,
     struct reason *why)
{
    struct buf bytes = read_file(name);
    const struct parse_options options = {.base = slice_string(base)};
    const struct quad_sink sink = graph_sink(graph);
    const enum status status = rdf_parse(format, buf_slice(&bytes), &options, &sink, why);
    buf_release(&bytes);
    return status;
}

static struct buf
text_of(const struct graph *graph)
{
    struct buf text;
    buf_init(&text, 256 << 20);
    for (size_t i = 0; i < graph->count; i++) {
        nquads_write(&text, &graph->quads[i]);
    }
    return text;
}

/* Returns whether the graph is isomorphic to what the file says. */
static bool
equals_file(struct graph *graph, const char *file, struct reason *why)
{
    struct graph expected;
    graph_init(&expected, 0);
    bool equal = load(file, "", suite->expected, &expected, why) == STATUS_OK &&
                 graph_canonicalize(graph, CANONICAL_SHA256, WORK, why) == STATUS_OK &&
                 graph_canonicalize(&expected, CANONICAL_SHA256, WORK, why) == STATUS_OK;
    if (equal) {
        struct buf have = text_of(graph), want = text_of(&expected);
        equal = slice_equal(buf_slice(&have), buf_slice(&want));
        if (!equal) {
            const size_t first = strcspn(have.data ? have.data : "", "\n");
            status_fail(why, STATUS_BAD_INPUT, "graphs differ; ours begins %.*s",
                        first < 200 ? (int)first : 200, have.data ? have.data : "");
        }
        buf_release(&have);
        buf_release(&want);
    }
    graph_release(&expected);
    return equal;
}

static void
run_rdf11(struct row *row, char *line)
{
    char *fields[6];
    if (row_fields(line, fields, 6) < 5 || strcmp(fields[0], "id") == 0) {
        return;
    }
    const char *input = strchr(fields[3], '=') ? strchr(fields[3], '=') + 1 : fields[3];
    char base[PATH_MAX];
    snprintf(base, sizeof base, "%s%s", fields[2], input);
    struct graph graph;
    struct reason why = {{0}};
    graph_init(&graph, 0);
    const enum status status = load(input, base, suite->format, &graph, &why);
    if (strstr(fields[1], "Negative") != NULL) {
        row_case(row, fields[0], status == STATUS_BAD_INPUT, "accepted");
    } else if (status != STATUS_OK || fields[4][0] == '\0') {
        row_case(row, fields[0], status == STATUS_OK, "%s", why.text);
    } else {
        row_case(row, fields[0], equals_file(&graph, fields[4], &why), "%s", why.text);
    }
    graph_release(&graph);
}

/* ---- rdf-canon ---- */

static bool
map_is(const struct graph *graph, enum canonical_hash hash, const char *file, struct reason *why)
{
    struct canonical_map map;
    struct buf bytes = read_file(file);
    json_t *expected = json_loadb(bytes.data, bytes.length, 0, NULL);
    const enum status status = canonical_issue(graph, hash, WORK, &map, why);
    bool equal = status == STATUS_OK && json_object_size(expected) == map.count;
    for (size_t i = 0; equal && i < map.count; i++) {
        char label[256], number[32];
        snprintf(label, sizeof label, "%.*s", SLICE_PRINT(map.labels[i]));
        snprintf(number, sizeof number, "c14n%u", map.numbers[i]);
        const char *want = json_string_value(json_object_get(expected, label));
        equal = want != NULL && strcmp(want, number) == 0;
        if (!equal) {
            status_fail(why, STATUS_BAD_INPUT, "%s is %s, not %s", label, number,
                        want ? want : "anything");
        }
    }
    canonical_map_release(&map);
    json_decref(expected);
    buf_release(&bytes);
    return equal;
}

/* The expected file is compared byte by byte. */
static bool
form_is(struct graph *graph, enum canonical_hash hash, const char *file, struct reason *why)
{
    if (graph_canonicalize(graph, hash, WORK, why) != STATUS_OK) {
        return false;
    }
    struct buf want = read_file(file), have = text_of(graph);
    const bool equal = slice_equal(buf_slice(&have), buf_slice(&want));
    if (!equal) {
        status_fail(why, STATUS_BAD_INPUT, "canonical form differs");
    }
    buf_release(&have);
    buf_release(&want);
    return equal;
}

static void
run_canon(struct row *row, char *line)
{
    char *fields[7] = {NULL};
    if (row_fields(line, fields, 7) < 5 || strcmp(fields[0], "id") == 0) {
        return;
    }
    struct graph graph;
    struct reason why = {{0}};
    graph_init(&graph, 0);
    const bool is_sha384 = fields[5] != NULL && strstr(fields[5], "SHA384") != NULL;
    const enum canonical_hash hash = is_sha384 ? CANONICAL_SHA384 : CANONICAL_SHA256;
    bool good = load(fields[3], "", suite->format, &graph, &why) == STATUS_OK;
    if (good && strstr(fields[1], "Negative") != NULL) {
        good = graph_canonicalize(&graph, hash, WORK, &why) == STATUS_LIMIT;
    } else if (good && strstr(fields[1], "Map") != NULL) {
        good = map_is(&graph, hash, fields[4], &why);
    } else if (good) {
        good = form_is(&graph, hash, fields[4], &why);
    }
    row_case(row, fields[0], good, "%s", why.text);
    graph_release(&graph);
}

int
main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: run_rdf SUITES OUTPUT\n");
        return EXIT_MISUSE;
    }
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        struct row row;
        suite = &suites[i];
        if (asprintf(&folder, "%s/%s", argv[1], suite->name) < 0) {
            return EXIT_SYSTEM;
        }
        row_open(&row, suite->name, argv[2]);
        row_lines(&row, folder, "cases.tsv",
                  strcmp(suite->name, "rdf-canon") == 0 ? run_canon : run_rdf11);
        row_close(&row);
        free(folder);
    }
    return EXIT_DONE;
}
