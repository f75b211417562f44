/* bench_html [FOLDER]: the HTML tree alone, without extractors, beside libgumbo's where that is
 * installed: over the pages of a folder (default: the miniweb's), and over hostile pages, each in a
 * process of its own.
 *
 * Prints TSV: page, bytes, then for each parser CPU seconds with release and MB of memory; "-" for
 * one that needs more than the limit of time, or crashes. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_include(<gumbo.h>)
#include <gumbo.h>
#define WITH_GUMBO 1
#endif

#include "base/memory.h"
#include "base/system/file.h"
#include "transforms/html/html.h"

enum {
    FILES_MAXIMUM = 50000,
    FILE_MAXIMUM = 64 << 20,
    CPU_MOST = 20, /* seconds for one page */
    MEGABYTE = 1 << 20
};

/* ---- parsers ---- */

typedef bool parser(const struct slice *pages, size_t count);

static bool
parse_own(const struct slice *pages, size_t count)
{
    struct arena arena;
    struct html_tree tree;
    struct reason why;
    bool good = true;
    arena_init(&arena, 512 << 20);
    html_tree_init(&tree, &arena);
    for (size_t i = 0; i < count; i++) {
        good = html_parse(&tree, pages[i], &why) == STATUS_OK && good;
        arena_reset(&arena);
    }
    html_tree_release(&tree);
    arena_release(&arena);
    return good;
}

#ifdef WITH_GUMBO
static bool
parse_gumbo(const struct slice *pages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        GumboOutput *output =
            gumbo_parse_with_options(&kGumboDefaultOptions, pages[i].at, pages[i].length);
        gumbo_destroy_output(&kGumboDefaultOptions, output);
    }
    return true;
}
#endif

static const struct {
    const char *name;
    parser *parse;
} parsers[] = {
    {"own", parse_own},
#ifdef WITH_GUMBO
    {"gumbo", parse_gumbo},
#endif
};

/* ---- measuring ---- */

static void
measure(parser *parse, const struct slice *pages, size_t count)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit cpu = {CPU_MOST, CPU_MOST};
        struct rusage usage;
        setrlimit(RLIMIT_CPU, &cpu);
        getrusage(RUSAGE_SELF, &usage);
        const long before = usage.ru_maxrss;
        const bool good = parse(pages, count);
        getrusage(RUSAGE_SELF, &usage);
        const double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
        if (good) {
            printf("\t%.3f\t%.1f", seconds, (double)(usage.ru_maxrss - before) / 1024);
        }
        fflush(stdout);
        _exit(!good);
    }
    int state = 1;
    if (child < 0 || waitpid(child, &state, 0) != child || state != 0) {
        printf("\t-\t-");
    }
}

static void
measure_all(const char *name, const struct slice *pages, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += pages[i].length;
    }
    printf("%s\t%zu", name, bytes);
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++) {
        measure(parsers[i].parse, pages, count);
    }
    printf("\n");
}

/* ---- pages ---- */

static struct slice files[FILES_MAXIMUM];
static size_t file_count;

static int
take_file(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)place;
    const size_t length = strlen(path);
    struct buf bytes;
    if (kind != FTW_F || length < 5 || strcmp(path + length - 5, ".html") != 0 ||
        about->st_size == 0 || file_count == FILES_MAXIMUM) {
        return 0;
    }
    buf_init(&bytes, FILE_MAXIMUM);
    if (file_read(path, &bytes, NULL) == STATUS_OK) {
        files[file_count++] = buf_slice(&bytes); /* kept */
    }
    return 0;
}

static const struct {
    const char *name, *begin, *piece, *end;
    size_t count;
} hostile[] = {
    {"deep: div", "<body>", "<div>", "", 100000},
    {"deep: font, div", "<body>", "<font><div>", "", 20000},
    {"deep: svg", "<body>", "<svg>", "", 300000},
    {"formats: p b i u s", "<body>", "<p><b><i><u><s>", "", 20000},
    {"misnested: a, table", "<body>", "<a><table>", "", 50000},
    {"misnested: table a tr b", "<body>", "<table><a><tr><b>", "", 60000},
    {"attributes: 100,000", "<p", " a%zu=1", ">x", 100000},
    {"attribute of 40 MB", "<p a='", "0123456789abcdef", "'>x", 40 * MEGABYTE / 16},
    {"text of 40 MB", "<p>", "ten words of a text that has no tags at all but is", "", 800000},
    {"references", "<p>", "&amp;&#65;", "", MEGABYTE},
    {"titles", "<body>", "<title>", "", 500000},
    {"comments", "<body>", "<!--", "", 2 * MEGABYTE},
    {"NULs", "<p>", "%c", "", 10 * MEGABYTE},
    {"less-than signs", "<p>", "<", "", 10 * MEGABYTE},
};

static void
measure_hostile(void)
{
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct buf page;
        buf_init(&page, FILE_MAXIMUM);
        buf_append_string(&page, "<!DOCTYPE html><title>t</title>");
        buf_append_string(&page, hostile[i].begin);
        for (size_t n = 0; n < hostile[i].count; n++) {
            if (strcmp(hostile[i].piece, " a%zu=1") == 0) {
                buf_printf(&page, " a%zu=1", n);
            } else if (strcmp(hostile[i].piece, "%c") == 0) {
                buf_append_char(&page, 0);
            } else {
                buf_append_string(&page, hostile[i].piece);
            }
        }
        buf_append_string(&page, hostile[i].end);
        const struct slice bytes = buf_slice(&page);
        measure_all(hostile[i].name, &bytes, 1);
        buf_release(&page);
    }
}

int
main(int argc, char **argv)
{
    char folder[4096];
    const char *home = getenv("HOME");
    snprintf(folder, sizeof folder, "%s/.cache/quadrille-miniweb/hosts", home ? home : "");
    nftw(argc > 1 ? argv[1] : folder, take_file, 16, FTW_PHYS);
    printf("page\tbytes");
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++) {
        printf("\t%s s\t%s MB", parsers[i].name, parsers[i].name);
    }
    printf("\n");
    if (file_count > 0) {
        measure_all("the test web", files, file_count);
    }
    measure_hostile();
    return 0;
}
