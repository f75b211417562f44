/* compare_extractors PEERS: our extractors beside independent ones.
 *
 * PEERS is what tests/differential/peers.mjs prints: for each page and syntax a line
 * "# file TAB url TAB syntax TAB outcome" and the peer's triples. The page is transformed, what the
 * transform of the syntax's name said is taken from the explanation, and both graphs are compared
 * after canonical labelling. Differences of known kinds (the table of
 * reductions) are counted; for each page and syntax that differ otherwise prints a line "file TAB
 * syntax TAB triples only ours TAB only the peer's TAB the peer's outcome", under it with -v the
 * triples; and at the end counts on standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/file.h"
#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"
#include "transforms/transform.h"

enum { FILE_MAXIMUM = 1 << 30, WORK = 1000000 };

static struct {
    struct transformer *transformer;
    struct transform_result result;
    struct buf page, mine;
    struct slice page_path; /* of `page` and result */
    struct graph ours, theirs;
    bool verbose;
    unsigned sections, with_triples, known, differing;
    unsigned explained[16]; /* pages that each reduction was needed for */
} run;

static bool
read_file(const char *path, struct buf *bytes)
{
    buf_reset(bytes);
    return file_read(path, bytes, NULL) == STATUS_OK;
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

/* ---- differences that are known, and why ---- */

/* Makes a triple the same on both sides; false: leaves it out. Strings may be put in the arena. */
typedef bool reduction_function(struct quad *quad, bool theirs, struct arena *arena);

static bool
reduce_role(struct quad *quad, bool theirs, struct arena *arena)
{
    (void)theirs, (void)arena;
    return !slice_is(quad->predicate.value, "http://www.w3.org/1999/xhtml/vocab#role");
}

static bool
reduce_prefix(struct quad *quad, bool theirs, struct arena *arena)
{
    (void)theirs, (void)arena;
    return slice_find_slice(quad->predicate.value, SLICE("//")) < quad->predicate.value.length;
}

static bool
reduce_language(struct quad *quad, bool theirs, struct arena *arena)
{
    (void)theirs, (void)arena;
    quad->object.language = (struct slice){0};
    return true;
}

static bool
reduce_language_type(struct quad *quad, bool theirs, struct arena *arena)
{
    (void)arena;
    if (theirs &&
        slice_is(quad->object.datatype, "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")) {
        quad->object.datatype = (struct slice){0};
    }
    return true;
}

/* Namespace declarations in markup literals. */
static bool
reduce_namespaces(struct quad *quad, bool theirs, struct arena *arena)
{
    (void)theirs;
    const struct slice text = quad->object.value;
    if (quad->object.kind != TERM_LITERAL || slice_find(text, '<') == text.length) {
        return true;
    }
    char *to = arena_alloc(arena, text.length + 1);
    size_t length = 0;
    for (size_t i = 0; to && i < text.length;) {
        const struct slice rest = slice_of(text.at + i, text.length - i);
        const size_t equals = slice_find(rest, '=');
        if (slice_starts(rest, SLICE(" xmlns")) && equals + 1 < rest.length &&
            rest.at[equals + 1] == '"') {
            const struct slice value = slice_of(rest.at + equals + 2, rest.length - equals - 2);
            i += equals + 3 + slice_find(value, '"');
            continue;
        }
        to[length++] = text.at[i++];
    }
    quad->object.value = slice_of(to, length);
    return true;
}

static bool
reduce_slash(struct quad *quad, bool theirs, struct arena *arena)
{
    (void)theirs, (void)arena;
    struct slice *iri = &quad->object.value;
    if (quad->object.kind == TERM_IRI && iri->length > 0 && iri->at[iri->length - 1] == '/') {
        iri->length--;
    }
    return true;
}

static bool
reduce_datatype(struct quad *quad, bool theirs, struct arena *arena)
{
    (void)theirs, (void)arena;
    quad->object.datatype = (struct slice){0};
    return true;
}

static const struct reduction {
    const char *syntax, *name;
    reduction_function *reduce;
} reductions[] = {
    {"rdfa", "role attributes, which are off here by default", reduce_role},
    {"rdfa", "names in meta elements whose prefix nobody declared: html has them", reduce_prefix},
    {"rdfa", "the peer's rdf:langString without a language", reduce_language_type},
    {"rdfa", "the peer's namespace declarations in HTML literals", reduce_namespaces},
    {"microdata", "languages: the peer does not inherit them", reduce_language},
    {"microdata", "URLs without a path: the URL standard gives them one", reduce_slash},
    {"microdata", "the peer's datatypes for numbers in value attributes", reduce_datatype},
};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };

struct taking {
    struct graph *graph;
    unsigned chosen; /* a bit for each reduction */
    bool theirs;
    struct arena arena;
};

static enum status
take(void *context, const struct quad *quad, struct reason *why)
{
    struct taking *taking = context;
    struct quad triple = *quad;
    triple.graph = (struct term){0};
    triple.source = 0;
    triple.line = 0;
    arena_reset(&taking->arena);
    for (unsigned i = 0; i < REDUCTIONS; i++) {
        if (taking->chosen >> i & 1 &&
            !reductions[i].reduce(&triple, taking->theirs, &taking->arena)) {
            return STATUS_OK;
        }
    }
    return graph_add(taking->graph, &triple, why);
}

static void
load(struct graph *graph, struct slice lines, bool theirs, unsigned chosen)
{
    struct reason why;
    struct taking taking = {.graph = graph, .chosen = chosen, .theirs = theirs};
    const struct quad_sink sink = {take, &taking};
    const struct parse_options options = {.lenient = true};
    arena_init(&taking.arena, 0);
    graph_reset(graph);
    if (nquads_parse(lines, &options, &sink, &why) != STATUS_OK ||
        graph_canonicalize(graph, CANONICAL_SHA256, WORK, &why) != STATUS_OK) {
        fprintf(stderr, "%.*s: %s\n", SLICE_PRINT(run.page_path), why.text);
    }
    arena_release(&taking.arena);
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

static bool
equal_with(struct slice triples, unsigned chosen)
{
    load(&run.ours, buf_slice(&run.mine), false, chosen);
    load(&run.theirs, triples, true, chosen);
    return count_missing(&run.ours, &run.theirs, 0) + count_missing(&run.theirs, &run.ours, 0) == 0;
}

static unsigned
reductions_of(struct slice syntax)
{
    unsigned all = 0;
    for (unsigned i = 0; i < REDUCTIONS; i++) {
        all |= (unsigned)slice_is(syntax, reductions[i].syntax) << i;
    }
    return all;
}

/* The fewest reductions, in the order of the table, that make both the same; 0: none do. */
static unsigned
explain(struct slice syntax, struct slice triples)
{
    unsigned all = reductions_of(syntax);
    if (all == 0 || !equal_with(triples, all)) {
        return 0;
    }
    for (unsigned i = 0; i < REDUCTIONS; i++) {
        if (all >> i & 1 && equal_with(triples, all & ~(1U << i))) {
            all &= ~(1U << i);
        }
    }
    return all;
}

static void
compare(struct slice head, struct slice triples)
{
    const struct slice path = next_field(&head), url = next_field(&head),
                       syntax = next_field(&head);
    transform_page(path, url);
    take_ours(syntax);
    run.sections++;
    if (equal_with(triples, 0)) {
        run.with_triples += run.ours.count > 0;
        return;
    }
    run.with_triples++;
    const unsigned chosen = explain(syntax, triples);
    for (unsigned i = 0; i < REDUCTIONS; i++) {
        run.explained[i] += chosen >> i & 1;
    }
    if (chosen != 0) {
        run.known++;
        return;
    }
    run.differing++;
    /* Prints what is left when the known differences are off. */
    (void)equal_with(triples, reductions_of(syntax));
    printf("%.*s\t%.*s\t%u\t%u\t%.*s\n", SLICE_PRINT(path), SLICE_PRINT(syntax),
           count_missing(&run.ours, &run.theirs, 0), count_missing(&run.theirs, &run.ours, 0),
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
    fprintf(stderr, "%u pages and syntaxes, %u with triples; %u differ as known, %u otherwise\n",
            run.sections, run.with_triples, run.known, run.differing);
    for (unsigned i = 0; i < REDUCTIONS; i++) {
        fprintf(stderr, "%6u  %s: %s\n", run.explained[i], reductions[i].syntax,
                reductions[i].name);
    }
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
