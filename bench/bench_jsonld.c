/* bench_jsonld [FOLDER [CONTEXTS]]: JSON-LD read to quads, from memory: the .jsonld files of FOLDER
 * (default: the miniweb's) and the script elements of its pages, with pinned contexts.
 * Prints TSV: what, texts, bytes, quads, MB/s of the JSON reader alone, the same of jansson's,
 * texts that jansson refuses and our lenient reading takes, k quads per CPU second. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "bench/jansson_reader.h"
#include "rdf/json/json.h"
#include "rdf/jsonld/jsonld.h"
#include "transforms/common/contexts.h"
#include "transforms/embedded/jsonld_builtin.h"

enum { FILES_MAXIMUM = 50000, CPU_SECONDS = 2, TEXTS_LONGEST = 64 << 20 };

static struct texts {
    struct slice texts[FILES_MAXIMUM];
    size_t count, bytes;
} documents, scripts;

static void
add(struct texts *texts, struct slice text)
{
    if (texts->count < FILES_MAXIMUM) {
        texts->texts[texts->count++] = slice_of(memory_string_n(text.at, text.length), text.length);
        texts->bytes += text.length;
    }
}

static void
add_scripts(struct slice page)
{
    struct arena arena;
    struct html_tree tree;
    struct slice text;
    arena_init(&arena, 0);
    html_tree_init(&tree, &arena);
    if (html_parse(&tree, page, NULL) == STATUS_OK) {
        for (uint32_t i = jsonld_script(&tree, 0, &text); i != UINT32_MAX;
             i = jsonld_script(&tree, i + 1, &text)) {
            add(&scripts, text);
        }
    }
    html_tree_release(&tree);
    arena_release(&arena);
}

static bool
ends(const char *path, const char *extension)
{
    const size_t length = strlen(path), end = strlen(extension);
    return length > end && strcmp(path + length - end, extension) == 0;
}

static int
take_file(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)place;
    if (kind != FTW_F || about->st_size > TEXTS_LONGEST ||
        !(ends(path, ".jsonld") || ends(path, ".html"))) {
        return 0;
    }
    FILE *in = fopen(path, "rb");
    char *bytes = memory_alloc((size_t)about->st_size + 1);
    const size_t n = in ? fread(bytes, 1, (size_t)about->st_size, in) : 0;
    if (in) {
        fclose(in);
    }
    if (ends(path, ".html")) {
        add_scripts(slice_of(bytes, n));
    } else {
        add(&documents, slice_of(bytes, n));
    }
    free(bytes);
    return 0;
}

static enum status
load(void *context, struct slice url, struct jsonld_remote *remote, struct reason *why)
{
    (void)context;
    remote->fixed = true;
    return contexts_pinned(url, &remote->bytes) ? STATUS_OK
                                                : status_fail(why, STATUS_NOT_FOUND, "not pinned");
}

static enum status
count_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)quad;
    (void)why;
    ++*(uint64_t *)context;
    return STATUS_OK;
}

static double
now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool
read_json(struct slice text, bool lenient)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct json_pool pool = {.arena = &arena};
    struct json *tree;
    const struct json_options options = {.line = 1, .lenient = lenient};
    const enum status status = json_read(text, &options, &pool, &tree, NULL);
    arena_release(&arena);
    return status == STATUS_OK;
}

static bool
read_strictly(struct slice text)
{
    return read_json(text, false);
}

/* MB per CPU second. */
static double
rate(const struct texts *texts, bool (*read)(struct slice text))
{
    const double start = now();
    uint64_t bytes = 0;
    double seconds;
    for (seconds = 0; seconds < CPU_SECONDS; seconds = now() - start) {
        for (size_t i = 0; i < texts->count; i++) {
            read(texts->texts[i]);
        }
        bytes += texts->bytes;
    }
    return (double)bytes * 1e-6 / seconds;
}

static size_t
refused_by_jansson(const struct texts *texts)
{
    size_t count = 0;
    for (size_t i = 0; i < texts->count; i++) {
        count += !jansson_read(texts->texts[i]) && read_json(texts->texts[i], true);
    }
    return count;
}

static void
run(const char *what, const struct texts *texts)
{
    struct jsonld_contexts *contexts = jsonld_contexts_new();
    const struct jsonld_options options = {
        .parse = {.base = SLICE("http://a.example/"), .lenient = true},
        .loader = {.load = load},
        .contexts = contexts};
    uint64_t quads = 0, all = 0;
    const struct quad_sink sink = {.quad = count_quad, .context = &quads};
    const double own = rate(texts, read_strictly), jansson = rate(texts, jansson_read);
    const double start = now();
    double whole;
    for (whole = 0; whole < CPU_SECONDS; whole = now() - start) {
        quads = 0;
        for (size_t i = 0; i < texts->count; i++) {
            jsonld_read(texts->texts[i], &options, &sink, NULL);
        }
        all += quads;
    }
    printf("%s\t%zu\t%zu\t%llu\t%.0f\t%.0f\t%zu\t%.0f\n", what, texts->count, texts->bytes,
           (unsigned long long)quads, own, jansson, refused_by_jansson(texts),
           (double)all * 1e-3 / whole);
    jsonld_contexts_free(contexts);
}

int
main(int argc, char **argv)
{
    char folder[4096];
    struct reason why;
    const char *home = getenv("HOME");
    snprintf(folder, sizeof folder, "%s/.cache/quadrille-miniweb/hosts", home ? home : "");
    nftw(argc > 1 ? argv[1] : folder, take_file, 16, FTW_PHYS);
    if (documents.count + scripts.count == 0) {
        fprintf(stderr, "bench_jsonld: no files; run miniweb/serve unpack\n");
        return 77;
    }
    if (contexts_load(argc > 2 ? argv[2] : "transforms/data/contexts", &why) != STATUS_OK) {
        fprintf(stderr, "bench_jsonld: %s\n", why.text);
        return EXIT_SYSTEM;
    }
    run("documents", &documents);
    run("scripts", &scripts);
    contexts_release();
    return 0;
}
