/* Our HTML parser against Tidy on every HTML page of the test web, with all extractors of pages:
 * where no repair is called for, both ways must say the same. The pages listed below are those
 * where Tidy departs from the HTML standard. */
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
#include "rdf/canonical/canonical.h"
#include "rdf/core/graph.h"
#include "rdf/core/writer.h"
#include "tests/unit/brief.h"
#include "tests/unit/transforms/html_tidy.h"
#include "transforms/common/encoding.h"
#include "transforms/core/builtins.h"
#include "transforms/xml/xml.h"

static const struct known {
    const char *path, *why;
} known[] = {
    {"extruct-samples.example/songkick/Elysian Fields Brooklyn",
     "Tidy drops the blank between two inline elements"},
    {"greggkellogg.net/galleries/", "Tidy ends an anchor before a div inside it"},
    {"chardet-tests.example/UTF-32LE/", "UTF-32 is no encoding of HTML; Tidy drops its zeros"},
    {"microformats-tests.example/",
     "Tidy does not know data, drops area outside of a map and blanks at the ends of elements"},
    {"tidy-html5-tests.example/access/case-6_5_1_4.html", "Tidy drops an anchor in a frameset"},
    {"tidy-html5-tests.example/testbase/case-1632218.html", "Tidy mends &#X128: in a host"},
    {"tidy-html5-tests.example/testbase/case-427675.html", "Tidy drops a frame without frameset"},
    {"tidy-html5-tests.example/testbase/case-427676.html",
     "Tidy reads href-\"foo\" as href=\"foo\""},
    {"tidy-html5-tests.example/testbase/case-427811.html", "Tidy reads frames in noframes"},
    {"tidy-html5-tests.example/testbase/case-433012.html", "entities without semicolons"},
    {"tidy-html5-tests.example/testbase/case-678268.html", "Tidy reads markup inside a title"},
    {"tika-documents.example/big-preamble.html", "Tidy ends an anchor before a heading inside it"},
    {"extruct-samples.example/schema.org/product",
     "Tidy moves link and meta from the body to the head"},
    {"extruct-samples.example/schema.org/Event.00", "Tidy takes span apart around a block"},
    {"extruct-samples.example/websites/microdata-with-description.html",
     "Tidy moves link and meta from the body to the head"},
    {"extruct-samples.example/misc/product_microdata.html",
     "Tidy moves link and meta from the body to the head"},
    {"extruct-samples.example/w3c/microdata.4.2.data.html", "Tidy does not know data"},
    {"extruct-samples.example/w3c/microdata.4.2.strings.unclean.html",
     "Tidy moves style from the body to the head"},
    {"w3c.github.io/microdata-rdf/tests/0075.html", "Tidy does not know data"},
    {"w3c.github.io/microdata-rdf/tests/0076.html", "Tidy does not know data"},
    {"w3c.github.io/microdata-rdf/tests/0077.html", "Tidy does not know data"},
    {"w3c.github.io/microdata-rdf/tests/sdo_eg_md_27.html",
     "Tidy moves link and meta from the body to the head"},
    {"w3c.github.io/microdata-rdf/tests/sdo_eg_md_28.html",
     "Tidy moves link and meta from the body to the head"},
    {"json-ld.org/test-suite/vocab.html", "Tidy takes span apart around a block"},
    {"greggkellogg.net/2012/03/the-use-of-json-ld",
     "Tidy moves link and meta from the body to the head"},
    {"rdfa.info/test-suite/test-cases/rdfa1.1/html5/0283.html",
     "Tidy drops the blank at the start of an element"},
    {"w3c.github.io/microdata-rdf/tests/0013.html", "Tidy drops area outside of a map"},
};

static const char *const extractors[] = {"html", "jsonld", "microdata", "microformats", "rdfa"};

static struct {
    struct transformation transformation;
    struct transform_result result;
    struct transform transform;
    struct encodings *encodings;
    struct graph graph;
    struct buf text, lines[2];
    size_t folder, files, pages, repaired, differing, unexplained;
} run;

/* Tidy joins and drops white space, which literals of microdata and RDFa keep: it is left
 * out of the comparison. */
static struct slice
without_blanks(struct slice text, char *copy)
{
    size_t length = 0;
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        if ((unsigned char)c > ' ') {
            copy[length++] = c;
        }
    }
    return slice_of(copy, length);
}

typedef enum status tree_function(struct html_tree *tree, struct slice input, struct reason *why);

/* Writes what all extractors say of the page when it is read this way. */
static void
describe(const char *uri, struct slice text, tree_function *parse, struct buf *lines)
{
    struct reason why;
    struct transformation *transformation = &run.transformation;
    const struct transform_request request = {
        .uri = slice_string(uri), .type = SLICE("text/html"), .bytes = text};
    bool canonical;
    assert_int_equal(transformation_begin(transformation, &request, &run.result, &why), STATUS_OK);
    assert_int_equal(parse(&transformation->tree, text, &why), STATUS_OK);
    transformation->transform = &run.transform;
    transformation->has_tree = true;
    for (size_t i = 0; i < sizeof extractors / sizeof *extractors; i++) {
        if (builtin_exists(extractors[i])) {
            transformation->source = (uint16_t)(i + 1);
            (void)builtin_run(transformation, extractors[i], &why);
        }
    }
    graph_reset(&run.graph);
    const struct quad_sink sink = graph_sink(&run.graph);
    for (size_t i = 0; i < transformation->graph.count; i++) {
        struct quad quad = transformation->graph.quads[i];
        char *copy = memory_alloc(quad.object.value.length + 1);
        if (quad.object.kind == TERM_LITERAL) {
            quad.object.value = without_blanks(quad.object.value, copy);
        }
        assert_int_equal(sink.quad(sink.context, &quad, &why), STATUS_OK);
        free(copy);
    }
    assert_int_equal(
        graph_relabel(&run.graph, buf_slice(&transformation->iri), 20000, &canonical, &why),
        STATUS_OK);
    graph_sort_unique(&run.graph);
    buf_reset(lines);
    for (size_t i = 0; i < run.graph.count; i++) {
        nquads_write(lines, &run.graph.quads[i]);
    }
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
    describe(uri, text, html_parse, &run.lines[0]);
    if (run.transformation.tree.repair) {
        run.repaired++;
        return;
    }
    describe(uri, text, html_tidy, &run.lines[1]);
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
    if (run.files++ % brief(1, 4) != 0) {
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
    print_message("%zu pages: %zu need repair, %zu differ, %zu without known reason\n", run.pages,
                  run.repaired, run.differing, run.unexplained);
    assert_int_equal(run.unexplained, 0);
}

int
main(void)
{
    const struct transform_limits limits = {.memory = 256 << 20, .output = 256 << 20};
    xml_prepare();
    transformation_init(&run.transformation, &limits);
    transform_result_init(&run.result, limits.output);
    run.encodings = encodings_open();
    graph_init(&run.graph, 0);
    buf_init(&run.text, 256 << 20);
    buf_init(&run.lines[0], 256 << 20);
    buf_init(&run.lines[1], 256 << 20);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_ways_say_the_same)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    transformation_release(&run.transformation);
    transform_result_release(&run.result);
    encodings_close(run.encodings);
    graph_release(&run.graph);
    buf_release(&run.text);
    buf_release(&run.lines[0]);
    buf_release(&run.lines[1]);
    return failed;
}
