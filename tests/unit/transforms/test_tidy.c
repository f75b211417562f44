/* Stylesheets on pages: as Tidy mends them (repair=tidy), beside what our own tree holds. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/system/file.h"
#include "tests/unit/scratch.h"
#include "transforms/transform.h"

enum { FILE_MAXIMUM = 16 << 20 };

static char folder[SCRATCH_SIZE];

/* One way to read pages for the stylesheet that comes with the program. */
struct way {
    struct registry *registry;
    struct transformer *transformer;
    struct transform_result result;
};

static struct way tidied, plain;

static void
open_way(struct way *way, const char *repair, struct transform_limits limits)
{
    struct reason why;
    char path[SCRATCH_SIZE + 16];
    struct registry *shipped = registry_new();
    assert_int_equal(registry_read_default(shipped, &why), STATUS_OK);
    snprintf(path, sizeof path, "%s/registry", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "transform outline 1 xslt %s/tidy/outline.xsl %s\n"
            "match text/html -> outline\nmatch application/xhtml+xml -> outline\n",
            registry_folder(shipped), repair);
    fclose(file);
    registry_free(shipped);
    way->registry = registry_new();
    assert_int_equal(registry_read(way->registry, path, &why), STATUS_OK);
    assert_int_equal(transformer_new(&way->transformer, way->registry, &limits, &why), STATUS_OK);
    transform_result_init(&way->result, limits.output);
}

static void
close_way(struct way *way)
{
    transform_result_release(&way->result);
    transformer_free(way->transformer);
    registry_free(way->registry);
}

static const struct transform_limits roomy = {.memory = 256 << 20, .output = 64 << 20};

static int
set_up(void **state)
{
    (void)state;
    assert_true(scratch_folder(folder, "test_tidy"));
    open_way(&tidied, "repair=tidy", roomy);
    open_way(&plain, "", roomy);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    char path[SCRATCH_SIZE + 16];
    close_way(&tidied);
    close_way(&plain);
    snprintf(path, sizeof path, "%s/registry", folder);
    unlink(path);
    return rmdir(folder);
}

static void
run_request(struct way *way, const struct transform_request *request)
{
    struct reason why = {""};
    if (transform_run(way->transformer, request, &way->result, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

static void
run(struct way *way, const char *page)
{
    const struct transform_request request = {
        .uri = SLICE("http://e.example/"), .type = SLICE("text/html"), .bytes = slice_string(page)};
    run_request(way, &request);
}

/* The literals of the graph, in its order, separated by "|". */
static const char *
literals(const struct way *way)
{
    static char text[4096];
    size_t length = 0;
    const char *at = way->result.graph.length > 0 ? way->result.graph.data : "";
    while ((at = strchr(at, '"')) != NULL) {
        const char *end = strchr(at + 1, '"');
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%.*s",
                                   length > 0 ? "|" : "", (int)(end - at - 1), at + 1);
        at = end + 1;
    }
    text[length] = 0;
    return text;
}

/* ---- broken pages, both ways ---- */

static const struct {
    const char *page, *tidied, *plain;
} broken[] = {
    {"<h1>One <p>two</h1><h2>Three</h2>", "One|Three", "One two|Three"},
    {"<h1>a<div>b</div></h1>", "a|b", "ab"},
    {"<h1>a</h2><h2>b", "a|b", "a|b"},
    {"<table><caption>c</caption><td>1<tr><td>2</table>", "c: 2 rows", "c: 0 rows"},
    {"<dt>term<dd>told", "term", ""},
    {"<h1><b>x<i>y</b>z</i></h1>", "xyz", "xyz"},
    {"<h1>caf\xC3\xA9 &amp; &eacute;&#8364; &lt;b></h1>", "caf\xC3\xA9 & \xC3\xA9\xE2\x82\xAC <b>",
     "caf\xC3\xA9 & \xC3\xA9\xE2\x82\xAC <b>"},
    {"<h1 id=1 id=2 <b>t</h1>", "t", "t"},
    {"<h1>un<unknown>known</h1><h2></h2>", "unknown", "unknown"},
    {"<script>if (a < b && c) {}</script><style>p > a {}</style><h1>t</h1>", "t", "t"},
    {"<!-- a -- b --><h1>t<!-- c --></h1>", "t", "t"},
    {"", "", ""},
    {"\x01 no markup < at all", "", ""},
};

static void
test_broken_pages_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        run(&tidied, broken[i].page);
        assert_string_equal(literals(&tidied), broken[i].tidied);
        assert_int_equal(tidied.result.state, TRANSFORM_WHOLE);
        run(&plain, broken[i].page);
        assert_string_equal(literals(&plain), broken[i].plain);
        assert_int_equal(plain.result.state, TRANSFORM_WHOLE);
    }
}

/* What another encoding means is told before Tidy sees the page, and it believes no meta. */
static void
test_encodings(void **state)
{
    (void)state;
    run(&tidied, "<meta charset=koi8-r><h1>\xC1</h1>");
    assert_string_equal(literals(&tidied), "\xD0\xB0");
    run(&plain, "<meta charset=koi8-r><h1>\xC1</h1>");
    assert_string_equal(literals(&plain), "\xD0\xB0");
}

/* Lines are those of the page, not of what Tidy writes. */
static void
test_lines(void **state)
{
    (void)state;
    const struct transform_request request = {.uri = SLICE("http://e.example/"),
                                              .type = SLICE("text/html"),
                                              .bytes = SLICE("<title>x</title>\n<p>a\n\n<h1>One\n"
                                                             "<p>b<p>c\n<h2>Two</h2><dt>d"),
                                              .explain = true};
    run_request(&tidied, &request);
    assert_non_null(strstr(tidied.result.explanation.data, "outline/1\t4\t"));
    assert_non_null(strstr(tidied.result.explanation.data, "outline/1\t6\t"));
    assert_non_null(strstr(tidied.result.explanation.data, "subject> \"d\""));
    assert_null(strstr(tidied.result.explanation.data, "outline/1\t0\t"));
}

/* ---- pages that take too much ---- */

/* The page is reported and said of it is what our own tree says. */
static void
expect_plain(struct way *way, const struct transform_request *request, const char *reason)
{
    run_request(way, request);
    assert_int_equal(way->result.state, TRANSFORM_PART);
    assert_int_equal(way->result.problem_count, 1);
    if (!strstr(way->result.problems.data, reason)) {
        fail_msg("%s is not %s", way->result.problems.data, reason);
    }
    run_request(&plain, request);
    assert_true(plain.result.quads > 0);
    assert_true(slice_equal(buf_slice(&way->result.graph), buf_slice(&plain.result.graph)));
}

static struct transform_request
repeated(struct buf *page, const char *piece, size_t count)
{
    buf_reset(page);
    buf_append_string(page, "<h1>One<div>two</div></h1>");
    for (size_t i = 0; i < count; i++) {
        buf_append_string(page, piece);
    }
    return (struct transform_request){
        .uri = SLICE("http://e.example/"), .type = SLICE("text/html"), .bytes = buf_slice(page)};
}

static void
test_bounds(void **state)
{
    (void)state;
    struct buf page;
    struct way small, hasty;
    struct transform_limits limits = roomy;
    buf_init(&page, FILE_MAXIMUM);
    limits.tidy = (struct tidy_limits){.memory = 2 << 20, .cpu_ms = 60000};
    open_way(&small, "repair=tidy", limits);
    limits.tidy = (struct tidy_limits){.memory = 1 << 30, .cpu_ms = 10};
    open_way(&hasty, "repair=tidy", limits);
    struct transform_request request = repeated(&page, "<p>b</p>", 200000);
    expect_plain(&small, &request, "more memory than an eighth of transform.memory");
    expect_plain(&hasty, &request, "more processor time than a tenth of transform.cpu");
    request = repeated(&page, "<p>b</p>", 10);
    run_request(&small, &request); /* and the next page has its own budget */
    assert_string_equal(literals(&small), "One|two");
    request = repeated(&page, "<div>", 600);
    expect_plain(&small, &request, "nested deeper than 512");
    request = repeated(&page, "<p>b</p>", 10);
    request.careful = true;
    expect_plain(&small, &request, "may have ended the process");
    buf_release(&page);
    close_way(&small);
    close_way(&hasty);
}

/* ---- the test web's pages that were broken on purpose ---- */

/* Where the two ways say something else. */
static const struct known {
    const char *path, *why;
} known[] = {
    {"access/case-5_", "Tidy leaves rows in their table, the standard gives them a tbody"},
    {"testbase/case-588061.html", "Tidy moves anchors around headings into them"},
    {"testbase/case-427811.html", "Tidy reads what noframes holds"},
    {"testbase/case-426885.html", "Tidy gives terms the list that they lack"},
    {"testbase/case-1423252.html", "Tidy gives terms the list that they lack"},
    {"unknown/case-540296.html", "Tidy drops an empty term"},
};

/* Where what Tidy writes is no XML: element names with a colon or none, text after the end, a
 * declaration that is not at the start. */
static const char *const malformed[] = {"testbase/case-431721.html",  "testbase/case-1067112.html",
                                        "testbase/case-1674502.html", "testbase/case-2085175.html",
                                        "testbase/case-678268.html",  "unknown/case-444394.html",
                                        "unknown/case-463066.html",   "unknown/case-570027.html"};

static struct {
    size_t folder, pages, different, malformed;
} web;

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

static bool
is_malformed(const char *path)
{
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        if (strcmp(path, malformed[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void
compare(const char *path, struct slice bytes)
{
    const struct transform_request request = {
        .uri = SLICE("http://e.example/"), .type = SLICE("text/html"), .bytes = bytes};
    run_request(&tidied, &request);
    run_request(&plain, &request);
    assert_int_equal(plain.result.problem_count, 0);
    web.pages++;
    const bool same = slice_equal(buf_slice(&tidied.result.graph), buf_slice(&plain.result.graph));
    const char *problems = tidied.result.problem_count > 0 ? tidied.result.problems.data : "";
    web.different += !same;
    web.malformed += is_malformed(path);
    if (!same && !is_known(path)) {
        fail_msg("%s says something else after Tidy", path);
    }
    if ((strstr(problems, "not well-formed") != NULL) != is_malformed(path) ||
        tidied.result.problem_count > 1) {
        fail_msg("%s: %s", path, problems);
    }
}

static int
take_file(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)place, (void)about;
    struct buf bytes;
    const char *dot = strrchr(path, '.');
    if (kind != FTW_F || !dot || strcmp(dot, ".html") != 0) {
        return 0;
    }
    buf_init(&bytes, FILE_MAXIMUM);
    assert_int_equal(file_read(path, &bytes, NULL), STATUS_OK);
    compare(path + web.folder + 1, buf_slice(&bytes));
    buf_release(&bytes);
    return 0;
}

static void
test_broken_pages_of_the_test_web(void **state)
{
    (void)state;
    const char *shared = getenv("QUADRILLE_SHARED");
    char command[4096], hosts[4000] = "", site[4096];
    snprintf(command, sizeof command, "%s/miniweb/serve unpack 2>/dev/null",
             shared ? shared : "../shared");
    FILE *unpack = popen(command, "r");
    if (!unpack || !fgets(hosts, sizeof hosts, unpack)) {
        hosts[0] = 0;
    }
    if (unpack) {
        pclose(unpack);
    }
    hosts[strcspn(hosts, "\n")] = 0;
    if (hosts[0] == 0) {
        print_message("skipped: no miniweb in $QUADRILLE_SHARED (default ../shared)\n");
        skip();
    }
    snprintf(site, sizeof site, "%s/tidy-html5-tests.example", hosts);
    web.folder = strlen(site);
    assert_int_equal(nftw(site, take_file, 16, FTW_PHYS), 0);
    print_message("%zu pages, %zu of them different, %zu not well-formed after Tidy\n", web.pages,
                  web.different, web.malformed);
    assert_true(web.pages > 300 && web.different > 0);
    assert_int_equal(web.malformed, sizeof malformed / sizeof *malformed);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_broken_pages_both_ways),
                                       cmocka_unit_test(test_encodings),
                                       cmocka_unit_test(test_lines), cmocka_unit_test(test_bounds),
                                       cmocka_unit_test(test_broken_pages_of_the_test_web)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
