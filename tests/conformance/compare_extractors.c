/* compare_extractors PEERS: our extractors beside independent ones.
 *
 * PEERS is what tests/differential/peers.mjs prints: for each page and syntax a line
 * "# file TAB url TAB syntax TAB outcome" and the peer's triples. The page is transformed, what the
 * transform of the syntax's name said is taken from the explanation, and both graphs are compared
 * after canonical labelling. Prints for each page and syntax that differ a line
 * "file TAB syntax TAB triples only ours TAB only the peer's TAB the peer's outcome", under it with
 * -v the triples; and at the end counts on standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rdf/canonical.h"
#include "rdf/nquads.h"
#include "rdf/writer.h"
#include "transforms/transform.h"

enum { FILE_MAXIMUM = 1 << 30, WORK = 1000000 };

static struct {
    struct transformer *transformer;
    struct transform_result result;
    struct buf page, mine;
    struct slice page_path; /* of `page` and result */
    struct graph ours, theirs;
    bool verbose;
    unsigned sections, with_triples, differing;
} run;

static bool
read_file(const char *path, struct buf *bytes)
{
    FILE *file = fopen(path, "rb");
    buf_reset(bytes);
    size_t n = file ? 1 : 0;
    while (n > 0) {
        char *room = buf_reserve(bytes, 65536);
        n = room ? fread(room, 1, 65536, file) : 0;
        if (n > 0) {
            buf_commit(bytes, n);
        }
    }
    if (file) {
        fclose(file);
    }
    return file != NULL;
}

static struct slice
next_line(struct slice *left)
{
    const size_t end = slice_find(*left, '\n');
    const struct slice line = slice_of(left->at, end);
    const size_t used = end < left->length ? end + 1 : end;
    *left = slice_of(left->at + used, left->length - used);
    return line;
}

static struct slice
next_field(struct slice *left)
{
    const size_t end = slice_find(*left, '\t');
    const struct slice field = slice_of(left->at, end);
    const size_t used = end < left->length ? end + 1 : end;
    *left = slice_of(left->at + used, left->length - used);
    return field;
}

static void
transform_page(struct slice path, struct slice url)
{
    struct reason why;
    if (slice_equal(path, run.page_path)) {
        return;
    }
    char name[4096];
    snprintf(name, sizeof name, "%.*s", SLICE_PRINT(path));
    if (!read_file(name, &run.page)) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(111);
    }
    const bool xhtml = path.length > 6 && memcmp(path.at + path.length - 6, ".xhtml", 6) == 0;
    const struct transform_request request = {.uri = url,
                                              .type = xhtml ? SLICE("application/xhtml+xml")
                                                            : SLICE("text/html"),
                                              .bytes = buf_slice(&run.page),
                                              .explain = true};
    if (transform_run(run.transformer, &request, &run.result, &why) != STATUS_OK) {
        fprintf(stderr, "%s: %s\n", name, why.text);
    }
    run.page_path = path;
}

static enum status
take(void *context, const struct quad *quad, struct reason *why)
{
    struct quad triple = *quad;
    triple.graph = (struct term){0};
    triple.source = 0;
    triple.line = 0;
    return graph_add(context, &triple, why);
}

static void
load(struct graph *graph, struct slice lines)
{
    struct reason why;
    const struct quad_sink sink = {take, graph};
    const struct parse_options options = {.lenient = true};
    graph_reset(graph);
    if (nquads_parse(lines, &options, &sink, &why) != STATUS_OK ||
        graph_canonicalize(graph, CANONICAL_SHA256, WORK, &why) != STATUS_OK) {
        fprintf(stderr, "%.*s: %s\n", SLICE_PRINT(run.page_path), why.text);
    }
}

/* Lines "transform/version TAB line TAB quad" of the syntax's transform. */
static void
take_ours(struct slice syntax)
{
    struct slice left = buf_slice(&run.result.explanation);
    buf_reset(&run.mine);
    while (left.length > 0) {
        struct slice line = next_line(&left);
        const struct slice name = next_field(&line);
        next_field(&line);
        if (slice_starts(name, syntax) && name.at[syntax.length] == '/') {
            buf_append_slice(&run.mine, line);
            buf_append_char(&run.mine, '\n');
        }
    }
    load(&run.ours, buf_slice(&run.mine));
}

/* Quads of a that b has not; both sorted. */
static unsigned
count_missing(const struct graph *a, const struct graph *b, char sign)
{
    unsigned missing = 0;
    size_t j = 0;
    struct buf line;
    buf_init(&line, FILE_MAXIMUM);
    for (size_t i = 0; i < a->count; i++) {
        while (j < b->count && quad_compare(&b->quads[j], &a->quads[i]) < 0) {
            j++;
        }
        if (j < b->count && quad_compare(&b->quads[j], &a->quads[i]) == 0) {
            continue;
        }
        missing++;
        if (sign != 0) {
            buf_reset(&line);
            nquads_write(&line, &a->quads[i]);
            printf("%c %.*s", sign, (int)line.length, line.data);
        }
    }
    buf_release(&line);
    return missing;
}

static void
compare(struct slice head, struct slice triples)
{
    const struct slice path = next_field(&head), url = next_field(&head),
                       syntax = next_field(&head);
    transform_page(path, url);
    take_ours(syntax);
    load(&run.theirs, triples);
    run.sections++;
    run.with_triples += run.ours.count + run.theirs.count > 0;
    const unsigned ours = count_missing(&run.ours, &run.theirs, 0),
                   theirs = count_missing(&run.theirs, &run.ours, 0);
    if (ours + theirs == 0) {
        return;
    }
    run.differing++;
    printf("%.*s\t%.*s\t%u\t%u\t%.*s\n", SLICE_PRINT(path), SLICE_PRINT(syntax), ours, theirs,
           SLICE_PRINT(head));
    if (run.verbose) {
        count_missing(&run.ours, &run.theirs, '+');
        count_missing(&run.theirs, &run.ours, '-');
    }
}

static void
compare_all(struct slice left)
{
    while (left.length > 0) {
        struct slice head = next_line(&left);
        const char *const from = left.at;
        while (left.length > 0 && left.at[0] != '#') {
            next_line(&left);
        }
        if (slice_starts(head, SLICE("# "))) {
            compare(slice_of(head.at + 2, head.length - 2),
                    slice_of(from, (size_t)(left.at - from)));
        }
    }
}

int
main(int argc, char **argv)
{
    struct reason why;
    struct buf peers;
    struct registry *registry = registry_new();
    const struct transform_limits limits = {.memory = 512 << 20, .output = 128 << 20};
    run.verbose = argc == 3 && strcmp(argv[1], "-v") == 0;
    buf_init(&peers, FILE_MAXIMUM);
    buf_init(&run.page, FILE_MAXIMUM);
    buf_init(&run.mine, FILE_MAXIMUM);
    if ((argc != 2 && !run.verbose) || !read_file(argv[argc - 1], &peers)) {
        fprintf(stderr, "usage: compare_extractors [-v] PEERS\n");
        return 100;
    }
    if (registry_read_default(registry, &why) != STATUS_OK ||
        transformer_new(&run.transformer, registry, &limits, &why) != STATUS_OK) {
        fprintf(stderr, "%s\n", why.text);
        return 111;
    }
    transform_result_init(&run.result, limits.output);
    graph_init(&run.ours, 0);
    graph_init(&run.theirs, 0);
    compare_all(buf_slice(&peers));
    fprintf(stderr, "%u pages and syntaxes, %u with triples, %u differ\n", run.sections,
            run.with_triples, run.differing);
    graph_release(&run.ours);
    graph_release(&run.theirs);
    transform_result_release(&run.result);
    transformer_free(run.transformer);
    registry_free(registry);
    buf_release(&run.mine);
    buf_release(&run.page);
    buf_release(&peers);
    return 0;
}
