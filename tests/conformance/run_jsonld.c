/* The JSON-LD 1.1 suite: toRdf, expand, html, remote-doc. Documents and contexts come from the
 * suite's folder through a loader that does what HTTP would do. Datasets are compared by their
 * canonical form, expanded JSON as values with arrays in any order but for lists. */
#include <jansson.h>

#include "base/system/file.h"
#include "base/url/url.h"
#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "rdf/jsonld/jsonld.h"
#include "rdf/jsonld/jsonld_link.h"
#include "rdf/nquads/nquads.h"
#include "tests/conformance/row.h"
#include "tests/support/jsonld_text.h"
#include "transforms/embedded/jsonld_builtin.h"
#include "transforms/html/html.h"

enum { WORK = 1000000, FILE_MAXIMUM = 64 << 20, KEPT = 64 };

static char *folder;
static char *base_of_suite;
static struct buf kept[KEPT]; /* files that must live until the case ends */
static size_t kept_count;

static bool
read_file(const char *name, struct slice *bytes)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%.*s", folder, (int)strcspn(name, "#"), name);
    if (kept_count == KEPT) {
        return false;
    }
    struct buf *buf = &kept[kept_count++];
    buf_init(buf, FILE_MAXIMUM);
    const enum status status = file_read(path, buf, NULL);
    *bytes = buf_slice(buf);
    return status == STATUS_OK;
}

static void
forget_files(void)
{
    while (kept_count > 0) {
        buf_release(&kept[--kept_count]);
    }
}

static bool
ends_with(struct slice text, const char *end)
{
    const size_t length = strlen(end);
    return text.length >= length && memcmp(text.at + text.length - length, end, length) == 0;
}

static struct slice
content_type_of(struct slice name)
{
    return ends_with(name, ".jsonld") ? SLICE("application/ld+json")
           : ends_with(name, ".json") ? SLICE("application/json")
           : ends_with(name, ".html") ? SLICE("text/html")
                                      : SLICE("application/octet-stream");
}

/* ---- contexts ---- */

static enum status
load(void *context, struct slice url, struct jsonld_remote *remote, struct reason *why)
{
    (void)context;
    char name[PATH_MAX];
    const size_t base = strlen(base_of_suite);
    if (url.length < base || memcmp(url.at, base_of_suite, base) != 0) {
        return status_fail(why, STATUS_NOT_FOUND, "not of the suite");
    }
    snprintf(name, sizeof name, "%.*s", (int)(url.length - base), url.at + base);
    return read_file(name, &remote->bytes) ? STATUS_OK
                                           : status_fail(why, STATUS_NOT_FOUND, "no such file");
}

/* ---- one case ---- */

struct test {
    const char *id, *expected;
    char *input;
    const json_t *options;
    bool expand; /* else to RDF */
    bool negative, positive_syntax;
    bool only_rdf; /* compaction and flattening: compared as RDF */
};

static const char *
option(const struct test *test, const char *name)
{
    return json_string_value(json_object_get(test->options, name));
}

/* The document as HTTP would deliver it. */
struct document {
    struct slice bytes, type, link;
    char *url;
};

static enum status
fetch(const struct test *test, const char *name, struct document *document, struct reason *why)
{
    static char links[4096];
    const char *redirect = option(test, "redirectTo");
    const json_t *link = json_object_get(test->options, "httpLink");
    if (redirect != NULL && strcmp(name, test->input) == 0) {
        name = redirect;
    }
    document->type = option(test, "contentType") != NULL && strcmp(name, test->input) == 0
                         ? slice_string(option(test, "contentType"))
                         : content_type_of(slice_of(name, strcspn(name, "#")));
    links[0] = '\0';
    if (json_is_string(link)) {
        snprintf(links, sizeof links, "%s", json_string_value(link));
    }
    for (size_t i = 0; json_is_array(link) && i < json_array_size(link); i++) {
        const size_t length = strlen(links);
        snprintf(links + length, sizeof links - length, "%s%s", i > 0 ? ", " : "",
                 json_string_value(json_array_get(link, i)));
    }
    document->link = slice_string(links);
    if (asprintf(&document->url, "%s%s", base_of_suite, name) < 0) {
        exit(EXIT_SYSTEM);
    }
    return read_file(name, &document->bytes)
               ? STATUS_OK
               : status_fail(why, STATUS_BAD_INPUT, "loading document failed: no such file");
}

struct output {
    struct graph graph;
    struct buf text;
};

static enum status
process(const struct test *test, struct slice bytes, const struct jsonld_options *options,
        struct output *output, struct reason *why)
{
    if (!test->expand) {
        const struct quad_sink sink = graph_sink(&output->graph);
        return jsonld_read(bytes, options, &sink, why);
    }
    struct buf text;
    buf_init(&text, FILE_MAXIMUM);
    const enum status status = jsonld_expand(bytes, options, &text, why);
    if (status == STATUS_OK && output->text.length > 0 && text.length > 2) { /* joins arrays */
        const bool empty = output->text.length == 2;
        output->text.length--;
        buf_append_string(&output->text, empty ? "" : ",");
        buf_append(&output->text, text.data + 1, text.length - 1);
    } else if (output->text.length == 0) {
        buf_append_slice(&output->text, buf_slice(&text));
    }
    buf_release(&text);
    return status;
}

static bool
has_id(const struct html_tree *tree, uint32_t node, const char *id)
{
    struct slice value;
    return html_attribute(tree, node, "id", &value) && slice_is(value, id);
}

/* Scripts of the page: the one of the fragment, all, or the first. */
static enum status
process_scripts(const struct test *test, const struct html_tree *tree,
                struct jsonld_options *options, struct output *output, struct reason *why)
{
    const char *fragment = strchr(test->input, '#');
    const bool all = json_is_true(json_object_get(test->options, "extractAllScripts"));
    struct slice text;
    static uint64_t labels; /* counts on: cases are apart */
    bool found = false;
    options->labels = &labels;
    options->part = all && fragment == NULL;
    for (uint32_t node = jsonld_script(tree, 0, &text); node != UINT32_MAX;
         node = jsonld_script(tree, node + 1, &text)) {
        if (fragment != NULL && !has_id(tree, node, fragment + 1)) {
            continue;
        }
        found = true;
        const enum status status = process(test, text, options, output, why);
        if (status != STATUS_OK) {
            return strstr(why->text, ": ") != NULL && strstr(why->text, "column") == NULL
                       ? status
                       : status_prefix(why, status, "invalid script element");
        }
        if (!all || fragment != NULL) {
            return STATUS_OK;
        }
    }
    if (fragment != NULL && !found) {
        return status_fail(why, STATUS_BAD_INPUT, "loading document failed: no such script");
    }
    if (!found && !all) {
        return status_fail(why, STATUS_BAD_INPUT, "loading document failed: no script");
    }
    return STATUS_OK;
}

static enum status
process_html(const struct test *test, const struct document *document,
             struct jsonld_options *options, struct output *output, struct reason *why)
{
    struct arena arena;
    struct html_tree tree;
    struct buf base;
    arena_init(&arena, 0);
    html_tree_init(&tree, &arena);
    buf_init(&base, 64 << 10);
    enum status status = slice_is(document->type, "application/xhtml+xml")
                             ? xhtml_parse(&tree, document->bytes, why)
                             : html_parse(&tree, document->bytes, why);
    if (status == STATUS_OK) {
        options->parse.base = jsonld_page_base(&tree, options->parse.base, &base);
        status = process_scripts(test, &tree, options, output, why);
    }
    buf_release(&base);
    html_tree_release(&tree);
    arena_release(&arena);
    return status;
}

static enum status
process_document(const struct test *test, struct document *document, struct jsonld_options *options,
                 struct output *output, struct reason *why)
{
    const struct jsonld_links links = jsonld_links(document->link);
    struct buf url;
    buf_init(&url, 64 << 10);
    options->parse.base =
        slice_string(option(test, "base") != NULL ? option(test, "base") : document->url);
    enum status status = STATUS_OK;
    const bool html =
        slice_is(document->type, "text/html") || slice_is(document->type, "application/xhtml+xml");
    if (html && links.alternate.length > 0) {
        struct document other = {.url = NULL};
        iri_resolve(slice_string(document->url), links.alternate, &url, NULL);
        status = fetch(test, url.data + strlen(base_of_suite), &other, why);
        options->parse.base = slice_string(other.url);
        status = status == STATUS_OK ? process(test, other.bytes, options, output, why) : status;
        free(other.url);
    } else if (html) {
        status = process_html(test, document, options, output, why);
    } else if (jsonld_is_json_ld(document->type)) {
        status = process(test, document->bytes, options, output, why);
    } else if (!jsonld_is_plain_json(document->type)) {
        status = status_fail(why, STATUS_BAD_INPUT, "loading document failed: not JSON");
    } else if (links.several_contexts) {
        status = status_fail(why, STATUS_BAD_INPUT, "multiple context link headers");
    } else {
        options->context_url = links.context;
        status = process(test, document->bytes, options, output, why);
    }
    buf_release(&url);
    return status;
}

static enum status
run_test(const struct test *test, struct output *output, struct reason *why)
{
    struct document document = {.url = NULL};
    struct jsonld_options options = {.loader = {.load = load}};
    const char *mode = option(test, "processingMode"), *direction = option(test, "rdfDirection");
    const char *expand_context = option(test, "expandContext");
    options.mode_1_0 = mode != NULL && strcmp(mode, "json-ld-1.0") == 0;
    options.generalized = json_is_true(json_object_get(test->options, "produceGeneralizedRdf"));
    options.direction = direction == NULL                         ? JSONLD_DIRECTION_NONE
                        : strcmp(direction, "i18n-datatype") == 0 ? JSONLD_DIRECTION_I18N
                                                                  : JSONLD_DIRECTION_COMPOUND;
    if (expand_context != NULL && !read_file(expand_context, &options.expand_context)) {
        return status_fail(why, STATUS_BAD_INPUT, "no expandContext");
    }
    enum status status = fetch(test, test->input, &document, why);
    if (status == STATUS_OK) {
        status = process_document(test, &document, &options, output, why);
    }
    free(document.url);
    return status;
}

/* ---- comparing ---- */

static int
compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A text that is the same for values that mean the same. */
static char *
normal_form(const json_t *value, bool ordered)
{
    struct buf text;
    buf_init(&text, FILE_MAXIMUM);
    if (json_is_object(value) || json_is_array(value)) {
        const size_t count =
            json_is_object(value) ? json_object_size(value) : json_array_size(value);
        char **parts = calloc(count + 1, sizeof *parts);
        size_t n = 0;
        const char *key;
        json_t *member;
        if (json_is_object(value)) {
            json_object_foreach((json_t *)(uintptr_t)value, key, member)
            {
                char *inner = normal_form(member, ordered || strcmp(key, "@list") == 0 ||
                                                      strcmp(key, "@value") == 0);
                if (asprintf(&parts[n++], "\"%s\":%s", key, inner) < 0) {
                    exit(EXIT_SYSTEM);
                }
                free(inner);
            }
        } else {
            for (; n < count; n++) {
                parts[n] = normal_form(json_array_get(value, n), false);
            }
        }
        if (json_is_object(value) || !ordered) {
            qsort(parts, n, sizeof *parts, compare_texts);
        }
        buf_append_char(&text, json_is_object(value) ? '{' : '[');
        for (size_t i = 0; i < n; i++) {
            buf_printf(&text, "%s,", parts[i]);
            free(parts[i]);
        }
        buf_append_char(&text, json_is_object(value) ? '}' : ']');
        free(parts);
    } else if (json_is_number(value)) {
        buf_printf(&text, "%.17g", json_number_value(value));
    } else {
        char *dumped = json_dumps(value, JSON_ENCODE_ANY);
        buf_append_string(&text, dumped);
        free(dumped);
    }
    char *result = strdup(text.data);
    buf_release(&text);
    return result;
}

static bool
text_equals(const struct buf *text, const char *file, struct reason *why)
{
    struct slice bytes;
    json_t *have = json_loadb(text->data, text->length, JSON_DECODE_ANY, NULL);
    if (!read_file(file, &bytes)) {
        json_decref(have);
        return false;
    }
    json_t *want = json_loadb(bytes.at, bytes.length, JSON_DECODE_ANY, NULL);
    char *left = normal_form(have, false), *right = normal_form(want, false);
    const bool equal = strcmp(left, right) == 0;
    status_fail(why, STATUS_BAD_INPUT, "expected %.200s, is %.200s", right, left);
    free(left);
    free(right);
    json_decref(have);
    json_decref(want);
    return equal;
}

static struct buf
canonical_text(struct graph *graph, struct reason *why)
{
    struct buf text;
    buf_init(&text, FILE_MAXIMUM);
    graph_canonicalize(graph, CANONICAL_SHA256, WORK, why);
    for (size_t i = 0; i < graph->count; i++) {
        nquads_write(&text, &graph->quads[i]);
    }
    return text;
}

static bool
graph_equals(struct graph *graph, const struct test *test, struct reason *why)
{
    struct graph expected;
    struct slice bytes;
    graph_init(&expected, 0);
    const struct quad_sink sink = graph_sink(&expected);
    const struct jsonld_options options = {.loader = {.load = load},
                                           .parse = {.base = slice_string(base_of_suite)}};
    enum status status = read_file(test->expected, &bytes) ? STATUS_OK : STATUS_NOT_FOUND;
    if (status == STATUS_OK && ends_with(slice_string(test->expected), ".nq")) {
        const struct parse_options lenient = {.lenient = true};
        status = nquads_parse(bytes, &lenient, &sink, why);
    } else if (status == STATUS_OK) {
        status = jsonld_read(bytes, &options, &sink, why);
    }
    bool equal = status == STATUS_OK;
    if (equal) {
        struct buf have = canonical_text(graph, why), want = canonical_text(&expected, why);
        equal = slice_equal(buf_slice(&have), buf_slice(&want));
        status_fail(why, STATUS_BAD_INPUT, "%zu quads of %zu; begins %.200s", graph->count,
                    expected.count, have.length > 0 ? have.data : "");
        buf_release(&have);
        buf_release(&want);
    }
    graph_release(&expected);
    for (char *c = why->text; *c != '\0'; c++) {
        *c = *c == '\n' ? ' ' : *c;
    }
    return equal;
}

/* ---- the suite ---- */

static void
run_case(struct row *row, struct test *test)
{
    struct output output;
    struct reason why = {{0}};
    graph_init(&output.graph, 0);
    buf_init(&output.text, FILE_MAXIMUM);
    const enum status status = run_test(test, &output, &why);
    if (test->negative) {
        const char *wanted = test->expected;
        row_case(row, test->id, status == STATUS_BAD_INPUT && strstr(why.text, wanted) != NULL,
                 "%s, not %s", status == STATUS_OK ? "accepted" : why.text, wanted);
    } else if (status != STATUS_OK || test->positive_syntax) {
        row_case(row, test->id, status == STATUS_OK, "%s", why.text);
    } else if (test->expand) {
        row_case(row, test->id, text_equals(&output.text, test->expected, &why), "%s", why.text);
    } else {
        row_case(row, test->id, graph_equals(&output.graph, test, &why), "%s", why.text);
    }
    graph_release(&output.graph);
    buf_release(&output.text);
    forget_files();
}

static void
run_line(struct row *row, char *line)
{
    char *fields[7] = {NULL};
    const char *part = strchr(row->name, '-') + 1; /* "jsonld-expand" */
    if (row_fields(line, fields, 7) < 6 || strncmp(fields[0], part, strlen(part)) != 0 ||
        fields[0][strlen(part)] != '/') {
        return;
    }
    json_t *all = json_loads(row_unescape(fields[5]), 0, NULL);
    struct test test = {.id = fields[0],
                        .input = fields[3],
                        .expected = fields[4],
                        .options = json_object_get(all, "option"),
                        .negative = strstr(fields[1], "Negative") != NULL,
                        .positive_syntax = strstr(fields[1], "PositiveSyntax") != NULL,
                        .expand = strstr(fields[1], "ExpandTest") != NULL};
    const char *version = option(&test, "specVersion");
    base_of_suite = fields[2];
    if (version != NULL && strcmp(version, "json-ld-1.0") == 0) {
        row->skipped++;
    } else {
        run_case(row, &test);
    }
    json_decref(all);
}

int
main(int argc, char **argv)
{
    static const char *const names[] = {"jsonld-toRdf", "jsonld-expand", "jsonld-html",
                                        "jsonld-remote-doc"};
    if (argc != 3) {
        fprintf(stderr, "usage: run_jsonld SUITES OUTPUT\n");
        return EXIT_MISUSE;
    }
    if (asprintf(&folder, "%s/jsonld", argv[1]) < 0) {
        return EXIT_SYSTEM;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct row row;
        row_open(&row, names[i], argv[2]);
        row_lines(&row, folder, "cases.tsv", run_line);
        row_close(&row);
    }
    free(folder);
    return EXIT_DONE;
}
