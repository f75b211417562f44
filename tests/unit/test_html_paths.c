/* Our HTML parser against Tidy on every HTML page of the test web: where no repair is called for,
 * both ways must say the same. The pages listed below are those where Tidy departs from the HTML
 * standard. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "rdf/graph.h"
#include "rdf/writer.h"
#include "transforms/encoding.h"
#include "transforms/html_extract.h"

static const struct known {
    const char *path, *why;
} known[] = {
    {"extruct-samples.example/songkick/Elysian Fields Brooklyn",
     "Tidy drops the blank between two inline elements"},
    {"greggkellogg.net/galleries/", "Tidy ends an anchor before a div inside it"},
    {"chardet-tests.example/UTF-32LE/", "UTF-32 is no encoding of HTML; Tidy drops its zeros"},
    {"tidy-html5-tests.example/access/case-6_5_1_4.html", "Tidy drops an anchor in a frameset"},
    {"tidy-html5-tests.example/testbase/case-1632218.html", "Tidy mends &#X128: in a host"},
    {"tidy-html5-tests.example/testbase/case-427675.html", "Tidy drops a frame without frameset"},
    {"tidy-html5-tests.example/testbase/case-427676.html",
     "Tidy reads href-\"foo\" as href=\"foo\""},
    {"tidy-html5-tests.example/testbase/case-427811.html", "Tidy reads frames in noframes"},
    {"tidy-html5-tests.example/testbase/case-433012.html", "entities without semicolons"},
    {"tidy-html5-tests.example/testbase/case-678268.html", "Tidy reads markup inside a title"},
    {"tika-documents.example/big-preamble.html", "Tidy ends an anchor before a heading inside it"},
    {"w3c.github.io/microdata-rdf/tests/0013.html", "Tidy drops area outside of a map"},
};

static struct {
    struct arena arena;
    struct html_tree tree;
    struct html_extractor extractor;
    struct encodings *encodings;
    struct buf text, lines[2];
    struct graph graph;
    size_t folder, pages, repaired, differing, unexplained;
} run;

static void
describe(const char *uri, struct buf *lines)
{
    struct reason why;
    struct buf iri;
    buf_init(&iri, 64 << 10);
    buf_reset(lines);
    graph_reset(&run.graph);
    assert_true(document_iri(slice_string(uri), &iri));
    const struct quad_sink sink = graph_sink(&run.graph);
    struct emitter emitter = {.sink = &sink, .document = term_iri(buf_slice(&iri)), .why = &why};
    assert_int_equal(html_extract(&run.extractor, &run.tree, slice_string(uri), &emitter),
                     STATUS_OK);
    graph_sort_unique(&run.graph);
    for (size_t i = 0; i < run.graph.count; i++) {
        nquads_write(lines, &run.graph.quads[i]);
    }
    buf_release(&iri);
}

static bool
is_known(const char *path)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strncmp(path, known[i].path, strlen(known[i].path)) == 0) {
            return true;
        }
    }
    return false;
}

static void
compare(const char *path, struct slice bytes)
{
    struct slice text;
    struct reason why;
    char uri[4096];
    snprintf(uri, sizeof uri, "http://%s", path);
    const char *encoding = encoding_of_html(bytes, (struct slice){0}, NULL);
    assert_int_equal(encoding_convert(run.encodings, encoding, bytes, &run.text, &text, &why),
                     STATUS_OK);
    run.pages++;
    arena_reset(&run.arena);
    assert_int_equal(html_parse(&run.tree, text, &why), STATUS_OK);
    if (run.tree.repair) {
        run.repaired++;
        return;
    }
    describe(uri, &run.lines[0]);
    arena_reset(&run.arena);
    assert_int_equal(html_tidy(&run.tree, text, &why), STATUS_OK);
    describe(uri, &run.lines[1]);
    if (!slice_equal(buf_slice(&run.lines[0]), buf_slice(&run.lines[1]))) {
        run.differing++;
        if (!is_known(path)) {
            run.unexplained++;
            print_error("differs: %s\n", path);
        }
    }
}

static int
take_file(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)place;
    const char *dot = strrchr(path, '.');
    if (kind != FTW_F || !dot || (strcmp(dot, ".html") != 0 && strcmp(dot, ".htm") != 0)) {
        return 0;
    }
    char *bytes = memory_alloc((size_t)about->st_size + 1);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    const size_t n = fread(bytes, 1, (size_t)about->st_size, in);
    fclose(in);
    compare(path + run.folder + 1, slice_of(bytes, n));
    free(bytes);
    return 0;
}

static void
test_both_ways_say_the_same(void **state)
{
    (void)state;
    const char *shared = getenv("QUADRILLE_SHARED");
    char command[4096], folder[4096] = "";
    snprintf(command, sizeof command, "%s/miniweb/serve unpack 2>/dev/null",
             shared ? shared : "../shared");
    FILE *unpack = popen(command, "r");
    if (!unpack || !fgets(folder, sizeof folder, unpack)) {
        folder[0] = 0;
    }
    if (unpack) {
        pclose(unpack);
    }
    folder[strcspn(folder, "\n")] = 0;
    if (folder[0] == 0) {
        print_message("skipped: no miniweb in $QUADRILLE_SHARED (default ../shared)\n");
        skip();
    }
    run.folder = strlen(folder);
    assert_int_equal(nftw(folder, take_file, 16, FTW_PHYS), 0);
    print_message("%zu pages: %zu repaired by Tidy, %zu differ, %zu without known reason\n",
                  run.pages, run.repaired, run.differing, run.unexplained);
    assert_int_equal(run.unexplained, 0);
}

int
main(void)
{
    arena_init(&run.arena, 256 << 20);
    html_tree_init(&run.tree, &run.arena);
    html_extractor_init(&run.extractor);
    run.encodings = encodings_open();
    buf_init(&run.text, 256 << 20);
    buf_init(&run.lines[0], 256 << 20);
    buf_init(&run.lines[1], 256 << 20);
    graph_init(&run.graph, 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_ways_say_the_same)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&run.arena);
    html_tree_release(&run.tree);
    html_extractor_release(&run.extractor);
    encodings_close(run.encodings);
    buf_release(&run.text);
    buf_release(&run.lines[0]);
    buf_release(&run.lines[1]);
    graph_release(&run.graph);
    return failed;
}
