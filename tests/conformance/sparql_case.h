/* A case of a SPARQL suite: its files, and what queries and updates do with them alike. */
#ifndef TESTS_CONFORMANCE_SPARQL_CASE_H
#define TESTS_CONFORMANCE_SPARQL_CASE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/system/file.h"
#include "rdf/canonical/canonical.h"
#include "rdf/format.h"
#include "tests/support/memory_source.h"

#define DEFAULT_GRAPH "urn:x-test:default"

enum { FILE_MAXIMUM = 16 << 20, TEST_FILES = 16 };

static const char *suite; /* folder */

/* role: query, request, data, graphData, result; label: the graph's IRI where it is not the
 * file's. file: relative to the suite. */
struct test_file {
    char role[16], file[512], label[512];
};
struct test {
    const char *id, *type, *base;
    struct test_file in[TEST_FILES], out[TEST_FILES];
    size_t in_count, out_count;
    struct memory_source *source;
    unsigned documents;
    char why[1024];
};

static inline void
test_add_file(struct test_file *files, size_t *count, struct slice role, struct slice file,
              struct slice label)
{
    if (*count < TEST_FILES) {
        struct test_file *at = &files[(*count)++];
        snprintf(at->role, sizeof at->role, "%.*s", SLICE_PRINT(role));
        snprintf(at->file, sizeof at->file, "%.*s", SLICE_PRINT(file));
        snprintf(at->label, sizeof at->label, "%.*s", SLICE_PRINT(label));
    }
}

static inline bool
test_load(const char *file, struct buf *bytes)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%.*s/%.*s", PATH_MAX - 1, suite, PATH_MAX - 1, file);
    buf_init(bytes, FILE_MAXIMUM);
    return file_read(path, bytes, NULL) == STATUS_OK;
}

/* The IRI of a file: the case's base with its last step. */
static inline void
test_file_iri(const struct test *test, const char *file, char iri[PATH_MAX])
{
    const char *name = strrchr(file, '/');
    snprintf(iri, PATH_MAX, "%s%s", test->base, name ? name + 1 : file);
}

static inline bool
test_parse(struct test *test, const char *file, const char *iri, const struct quad_sink *sink)
{
    struct buf bytes;
    struct reason why = {""};
    const char *dot = strrchr(file, '.');
    const enum rdf_format format =
        dot ? rdf_format_of_extension(slice_string(dot + 1)) : RDF_FORMAT_NONE;
    const bool found = test_load(file, &bytes);
    const struct parse_options options = {.base = slice_string(iri)};
    const enum status status =
        found ? rdf_parse(format, buf_slice(&bytes), &options, sink, &why) : STATUS_NOT_FOUND;
    if (status != STATUS_OK) {
        snprintf(test->why, sizeof test->why, "%.500s: %s", file,
                 found ? why.text : "no such file");
    }
    buf_release(&bytes);
    return status == STATUS_OK;
}

/* Both become canonical. */
static inline bool
test_compare_graphs(struct test *test, struct graph *actual, struct graph *expected)
{
    struct reason why = {""};
    bool same = graph_canonicalize(actual, CANONICAL_SHA256, 0, &why) == STATUS_OK &&
                graph_canonicalize(expected, CANONICAL_SHA256, 0, &why) == STATUS_OK &&
                actual->count == expected->count;
    for (size_t i = 0; same && i < actual->count; i++) {
        same = quad_compare(&actual->quads[i], &expected->quads[i]) == 0;
    }
    if (!same) {
        snprintf(test->why, sizeof test->why, "another graph: %zu triples, expected %zu; %s",
                 actual->count, expected->count, why.text);
    }
    return same;
}

#endif
