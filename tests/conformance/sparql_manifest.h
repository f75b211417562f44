/* Cases as the manifests of the W3C describe them, or as the columns of cases.tsv do.
 * Sources: https://www.w3.org/2001/sw/DataAccess/tests/README,
 * https://www.w3.org/2009/sparql/docs/tests/README.html.
 */
#ifndef TESTS_CONFORMANCE_SPARQL_MANIFEST_H
#define TESTS_CONFORMANCE_SPARQL_MANIFEST_H

#include <dirent.h>
#include <jansson.h>
#include <unistd.h>

#include "tests/conformance/row.h"
#include "tests/conformance/sparql_case.h"

#define MANIFEST "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
#define MANIFEST_TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
#define MANIFEST_LABEL "http://www.w3.org/2000/01/rdf-schema#label"
/* Where the files of a manifest that came without cases.tsv have their IRIs. */
#define MANIFEST_BASE "https://w3c.github.io/rdf-tests/sparql/"

/* ---- columns ---- */

/* The label that extra_json gives a file: {"file": label}, {label: "file"}, or both in one object
 * as {"graph": "file", "label": label}. */
static inline const char *
manifest_json_label(const json_t *json, const char *file)
{
    const char *key;
    json_t *value;
    size_t at;
    const char *found = NULL;
    json_object_foreach((json_t *)json, key, value)
    {
        const char *text = json_string_value(value);
        if (text && strcmp(key, file) == 0) {
            return text;
        }
        if (text && strcmp(text, file) == 0) {
            const char *label = json_string_value(json_object_get(json, "label"));
            return label ? label : strchr(key, ':') ? key : NULL;
        }
        if ((found = manifest_json_label(value, file))) {
            return found;
        }
    }
    json_array_foreach(json, at, value)
    {
        if ((found = manifest_json_label(value, file))) {
            return found;
        }
    }
    return NULL;
}

/* "role=file", "role=file|label", "role=label=file" and the like; alone: `role`. */
static inline void
manifest_token(struct test_file *files, size_t *count, const char *role, char *token,
               const json_t *extra)
{
    char *value = strchr(token, '=');
    if (value && !memchr(token, ':', (size_t)(value - token))) {
        *value++ = 0;
        role = token;
    } else {
        value = token;
    }
    char *scheme = strstr(value, "://");
    scheme = scheme ? scheme : strstr(value, "urn:");
    struct slice file = slice_string(value), label = {0};
    const char *separators = "|,=@>";
    if (scheme && strncmp(value, "http", 4) != 0 && strncmp(value, "urn:", 4) != 0) {
        const size_t length = strcspn(value, separators);
        label = slice_string(value + length + (value[length] != 0));
        file = slice_of(value, length);
    } else if (scheme) {
        const size_t length = strcspn(value, separators);
        label = slice_of(value, length);
        file = slice_string(value + length + (value[length] != 0));
    }
    test_add_file(files, count, slice_string(role), file, label);
    struct test_file *added = &files[*count - 1];
    const char *named = manifest_json_label(extra, added->file);
    if (!label.length && named) {
        snprintf(added->label, sizeof added->label, "%s", named);
    }
}

static inline void
test_read_columns(struct test *test, char *inputs, char *results, const char *extra_json)
{
    json_t *extra = json_loads(extra_json && *extra_json ? extra_json : "{}", 0, NULL);
    for (char *token; (token = strsep(&inputs, " "));) {
        if (*token) {
            manifest_token(test->in, &test->in_count, "query", token, extra);
        }
    }
    for (char *token; (token = strsep(&results, " "));) {
        if (*token) {
            manifest_token(test->out, &test->out_count, "data", token, extra);
        }
    }
    json_decref(extra);
}

/* ---- manifests ---- */

static inline const struct term *
manifest_object(const struct graph *graph, const struct term *subject, const char *predicate)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct quad *quad = &graph->quads[i];
        if (term_equal(&quad->subject, subject) && slice_is(quad->predicate.value, predicate)) {
            return &quad->object;
        }
    }
    return NULL;
}

static inline struct slice
manifest_name(struct slice iri)
{
    size_t at = iri.length;
    while (at > 0 && iri.at[at - 1] != '#' && iri.at[at - 1] != '/') {
        at--;
    }
    return slice_of(iri.at + at, iri.length - at);
}

/* A file's path in the suite: the manifest's folder and what follows the base, else the last step.
 */
static inline void
manifest_file(struct test_file *files, size_t *count, const struct test *test, const char *folder,
              struct slice role, struct slice iri, struct slice label)
{
    char path[512];
    const struct slice base = slice_string(test->base);
    const struct slice rest = slice_starts(iri, base)
                                  ? slice_of(iri.at + base.length, iri.length - base.length)
                                  : manifest_name(iri);
    snprintf(path, sizeof path, "%s%s%.*s", folder, *folder ? "/" : "", SLICE_PRINT(rest));
    test_add_file(files, count, role, slice_string(path), label);
}

/* The files of an action or a result: an IRI, or a node whose properties they are. */
static inline void
manifest_files(const struct graph *graph, const struct test *test, const char *folder,
               const struct term *node, struct slice role, struct test_file *files, size_t *count)
{
    if (!node || node->kind == TERM_IRI) {
        if (node) {
            manifest_file(files, count, test, folder, role, node->value, SLICE(""));
        }
        return;
    }
    for (size_t i = 0; i < graph->count; i++) {
        const struct quad *quad = &graph->quads[i];
        if (!term_equal(&quad->subject, node)) {
            continue;
        }
        const struct slice property = manifest_name(quad->predicate.value);
        const struct term *label = NULL, *file = &quad->object;
        for (size_t k = 0; quad->object.kind == TERM_BLANK && k < graph->count; k++) {
            const struct quad *inner = &graph->quads[k];
            if (term_equal(&inner->subject, &quad->object)) {
                const bool is_label = slice_is(inner->predicate.value, MANIFEST_LABEL);
                label = is_label ? &inner->object : label;
                file = is_label ? file : &inner->object;
            }
        }
        if (file->kind == TERM_IRI && !slice_is(property, "result")) {
            manifest_file(files, count, test, folder, property, file->value,
                          label ? label->value : SLICE(""));
        }
    }
}

static inline bool
manifest_read(struct graph *graph, struct test *test, const char *folder)
{
    char file[600];
    graph_init(graph, 0);
    const struct quad_sink sink = graph_sink(graph);
    snprintf(file, sizeof file, "%s%smanifest.ttl", folder, *folder ? "/" : "");
    return test_parse(test, file, test->base, &sink);
}

static inline void
manifest_fill(const struct graph *graph, struct test *test, const char *folder,
              const struct term *subject)
{
    const char *role = strstr(test->type, "Update") ? "request" : "query";
    manifest_files(graph, test, folder, manifest_object(graph, subject, MANIFEST "action"),
                   slice_string(role), test->in, &test->in_count);
    manifest_files(graph, test, folder, manifest_object(graph, subject, MANIFEST "result"),
                   SLICE("data"), test->out, &test->out_count);
}

/* Fills in the files of the case whose id is the folder and the name in its manifest. */
static inline bool
manifest_find(struct test *test)
{
    char folder[512];
    const char *slash = strrchr(test->id, '/');
    const char *name = slash ? slash + 1 : test->id;
    struct graph graph;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - test->id) : 0, test->id);
    bool found = false;
    if (manifest_read(&graph, test, folder)) {
        for (size_t i = 0; i < graph.count && !found; i++) {
            const struct quad *quad = &graph.quads[i];
            found = slice_is(quad->predicate.value, MANIFEST "action") &&
                    slice_is(manifest_name(quad->subject.value), name);
            if (found) {
                manifest_fill(&graph, test, folder, &quad->subject);
            }
        }
    }
    graph_release(&graph);
    test->why[0] = 0;
    return found;
}

static inline void
manifest_run(struct row *row, const char *folder, void (*run)(struct row *row, struct test *test))
{
    static struct test test;
    char base[PATH_MAX], id[1024], type[256];
    const char *name = strrchr(suite, '/');
    struct graph graph;
    snprintf(base, sizeof base, MANIFEST_BASE "%s/%s%s", name ? name + 1 : suite, folder,
             *folder ? "/" : "");
    test = (struct test){.base = base};
    if (!manifest_read(&graph, &test, folder)) {
        row_case(row, folder, false, "%s", test.why);
    }
    for (size_t i = 0; i < graph.count; i++) {
        const struct quad *quad = &graph.quads[i];
        const struct term *kind = manifest_object(&graph, &quad->subject, MANIFEST_TYPE);
        if (!kind || !slice_is(quad->predicate.value, MANIFEST "action")) {
            continue;
        }
        snprintf(id, sizeof id, "%s%s%.*s", folder, *folder ? "/" : "",
                 SLICE_PRINT(manifest_name(quad->subject.value)));
        snprintf(type, sizeof type, "%.*s", SLICE_PRINT(manifest_name(kind->value)));
        test = (struct test){.id = id, .type = type, .base = base};
        manifest_fill(&graph, &test, folder, &quad->subject);
        run(row, &test);
    }
    graph_release(&graph);
}

/* Every manifest with cases below the suite's folder. */
static inline void
manifest_walk(struct row *row, const char *folder, unsigned depth,
              void (*run)(struct row *row, struct test *test))
{
    char path[PATH_MAX], manifest[PATH_MAX + 16];
    struct dirent **names;
    snprintf(path, sizeof path, "%s/%s", suite, folder);
    snprintf(manifest, sizeof manifest, "%s/manifest.ttl", path);
    if (access(manifest, R_OK) == 0) {
        manifest_run(row, folder, run);
    }
    const int count = depth < 4 ? scandir(path, &names, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        char below[512];
        if (names[i]->d_type == DT_DIR && names[i]->d_name[0] != '.') {
            snprintf(below, sizeof below, "%.250s%s%.250s", folder, *folder ? "/" : "",
                     names[i]->d_name);
            manifest_walk(row, below, depth + 1, run);
        }
        free(names[i]);
    }
    if (count >= 0 && depth < 4) {
        free(names);
    }
}

#endif
