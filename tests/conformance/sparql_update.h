/* Cases of updates: a dataset, a request, and the dataset that it leaves. */
#ifndef TESTS_CONFORMANCE_SPARQL_UPDATE_H
#define TESTS_CONFORMANCE_SPARQL_UPDATE_H

#include "tests/conformance/sparql_case.h"
#include "tests/update_store.h"

static inline struct update *
test_prepare_update(struct test *test, const char *file)
{
    struct buf bytes;
    struct update *update = NULL;
    struct reason why = {""};
    char iri[PATH_MAX];
    if (!test_load(file, &bytes)) {
        snprintf(test->why, sizeof test->why, "no file %s", file);
    } else {
        test_file_iri(test, file, iri);
        if (update_prepare(&update, buf_slice(&bytes), slice_string(iri), &why) != STATUS_OK) {
            snprintf(test->why, sizeof test->why, "%s", why.text);
        }
    }
    buf_release(&bytes);
    return update;
}

/* Gives triples their graph, and blank nodes of several files different labels. */
struct test_placing {
    struct graph *into;
    struct slice graph;
    unsigned document;
};

static inline enum status
test_place(void *context, const struct quad *quad, struct reason *why)
{
    const struct test_placing *placing = context;
    struct quad placed = *quad;
    char labels[2][256];
    struct term *const terms[] = {&placed.subject, &placed.object};
    for (int i = 0; i < 2; i++) {
        if (terms[i]->kind == TERM_BLANK) {
            snprintf(labels[i], sizeof labels[i], "f%u.%.*s", placing->document,
                     SLICE_PRINT(terms[i]->value));
            terms[i]->value = slice_string(labels[i]);
        }
    }
    if (placed.graph.kind == TERM_NONE) {
        placed.graph = term_iri(placing->graph);
    }
    return graph_add(placing->into, &placed, why);
}

static inline bool
test_load_dataset(struct test *test, const struct test_file *files, size_t count,
                  struct graph *into)
{
    for (size_t i = 0; i < count; i++) {
        char iri[PATH_MAX];
        const bool is_default = strcmp(files[i].role, "data") == 0;
        if (!is_default && strcmp(files[i].role, "graphData") != 0) {
            continue;
        }
        test_file_iri(test, files[i].file, iri);
        const char *graph = is_default ? DEFAULT_GRAPH : files[i].label[0] ? files[i].label : iri;
        struct test_placing placing = {into, slice_string(graph), test->documents++};
        const struct quad_sink sink = {test_place, &placing};
        if (!test_parse(test, files[i].file, iri, &sink)) {
            return false;
        }
    }
    return true;
}

static inline void
test_take_graph(const struct graph *from, struct slice name, struct graph *into)
{
    graph_init(into, 0);
    for (size_t i = 0; i < from->count; i++) {
        if (slice_equal(from->quads[i].graph.value, name)) {
            (void)graph_add(into, &from->quads[i], NULL);
        }
    }
}

/* Graph by graph: the files of what is expected cannot share blank nodes. */
static inline bool
test_compare_datasets(struct test *test, const struct graph *actual, const struct graph *expected)
{
    bool same = true;
    for (size_t i = 0; same && i < actual->count + expected->count; i++) {
        const struct quad *quad =
            i < actual->count ? &actual->quads[i] : &expected->quads[i - actual->count];
        struct graph one, other;
        test_take_graph(actual, quad->graph.value, &one);
        test_take_graph(expected, quad->graph.value, &other);
        same = test_compare_graphs(test, &one, &other);
        graph_release(&one);
        graph_release(&other);
    }
    return same;
}

static inline bool
test_run_update(struct test *test, struct update_store *store, const struct graph *expected)
{
    const char *request = "";
    struct reason why = {""};
    const struct update_target target = update_store_target(store, NULL);
    const struct update_options options = {
        .query = {.default_graph = SLICE(DEFAULT_GRAPH), .timeout_ms = 20000},
        .blank_prefix = SLICE("t")};
    for (size_t i = 0; i < test->in_count; i++) {
        request = strcmp(test->in[i].role, "request") == 0 ? test->in[i].file : request;
    }
    struct update *update = test_prepare_update(test, request);
    if (!update) {
        return false;
    }
    const enum status status = update_run(update, &target, &options, NULL, &why);
    update_free(update);
    if (status != STATUS_OK) {
        snprintf(test->why, sizeof test->why, "%s", why.text);
        return false;
    }
    return test_compare_datasets(test, &store->quads, expected);
}

static inline bool
test_evaluate_update(struct test *test)
{
    struct update_store store = {0};
    struct graph expected;
    graph_init(&store.quads, 0);
    graph_init(&expected, 0);
    const bool good = test_load_dataset(test, test->in, test->in_count, &store.quads) &&
                      test_load_dataset(test, test->out, test->out_count, &expected) &&
                      test_run_update(test, &store, &expected);
    graph_release(&expected);
    update_store_release(&store);
    return good;
}

#endif
