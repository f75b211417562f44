/* bench_transform [process|worker|tree|tidy|chain|programs|all] [FOLDER [SUFFIX [TYPE]]]: pages per
 * second of transform over the files of a folder whose names end in SUFFIX (default: the miniweb's
 * .html files as text/html), beside stock tools on the same pages.
 *
 *   process   in this process, all transforms of the registry: parse, extract, canonicalise, write
 *   worker    through a sandboxed worker, as the stage does it
 *   tree      in this process, the stylesheet outline.xsl alone, on our own tree
 *   tidy      the same stylesheet on what Tidy makes of the page: repair=tidy
 *   chain     in this process: libtidy to text, libxml2, a stylesheet for title and links
 *   programs  the same by the programs tidy and xsltproc, for some of the pages
 *
 * Prints TSV: how, files, mean bytes, quads (chain: titles and links), files per CPU second (with
 * children's), p50, p99 and maximum in microseconds; after `all`, how much faster process is. */
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libxml/parser.h>
#include <libxslt/transform.h>
#include <libxslt/xsltutils.h>
#include <tidy/tidy.h>
#include <tidy/tidybuffio.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "bench/scratch.h"
#include "stages/parsing/document_worker.h"
#include "transforms/transform.h"

enum { FILES_MAXIMUM = 50000, FILE_MAXIMUM = 16 << 20, PROGRAM_PAGES = 100 };

struct file {
    char *uri, *path;
    struct slice bytes;
};

static struct file files[FILES_MAXIMUM];
static size_t file_count, total_bytes, folder_length;
static const char *suffix = ".html", *media_type = "text/html";

static int
take_file(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)place;
    const size_t length = strlen(path), end = strlen(suffix);
    if (kind != FTW_F || length < end || strcmp(path + length - end, suffix) != 0 ||
        about->st_size > FILE_MAXIMUM || about->st_size == 0 || file_count == FILES_MAXIMUM) {
        return 0;
    }
    FILE *in = fopen(path, "rb");
    char *bytes = memory_alloc((size_t)about->st_size);
    const size_t n = in ? fread(bytes, 1, (size_t)about->st_size, in) : 0;
    if (in) {
        fclose(in);
    }
    struct file *file = &files[file_count++];
    file->bytes = slice_of(bytes, n);
    file->path = memory_string(path);
    file->uri = memory_alloc(length + 16);
    snprintf(file->uri, length + 16, "http://%s", path + folder_length + 1);
    total_bytes += n;
    return 0;
}

static int
compare(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static double
cpu_seconds(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Returns files per CPU second. */
static double
print(const char *how, size_t count, uint64_t quads, double seconds, uint64_t *micros)
{
    const double rate = (double)count / seconds;
    qsort(micros, count, sizeof *micros, compare);
    printf("%s\t%zu\t%zu\t%lu\t%.0f\t%lu\t%lu\t%lu\n", how, count, total_bytes / file_count,
           (unsigned long)quads, rate, (unsigned long)micros[count / 2],
           (unsigned long)micros[count * 99 / 100], (unsigned long)micros[count - 1]);
    fflush(stdout);
    return rate;
}

static void
check(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench_transform: %s\n", why->text);
        exit(EXIT_SYSTEM);
    }
}

static struct transform_request
request_of(const struct file *file)
{
    return (struct transform_request){
        .uri = slice_string(file->uri), .type = slice_string(media_type), .bytes = file->bytes};
}

/* Runs all pages through what the registry has for them; frees it. */
static double
run_registry(const char *how, struct registry *registry, uint64_t *micros)
{
    struct reason why;
    struct transformer *transformer;
    struct transform_result result;
    const struct transform_limits limits = {.memory = 512 << 20, .output = 128 << 20};
    check(transformer_new(&transformer, registry, &limits, &why), &why);
    transform_result_init(&result, limits.output);
    uint64_t quads = 0;
    const double start = cpu_seconds(RUSAGE_SELF);
    for (size_t i = 0; i < file_count; i++) {
        const struct transform_request request = request_of(&files[i]);
        const uint64_t before = clock_monotonic_us();
        (void)transform_run(transformer, &request, &result, &why);
        micros[i] = clock_monotonic_us() - before;
        quads += result.quads;
    }
    const double rate = print(how, file_count, quads, cpu_seconds(RUSAGE_SELF) - start, micros);
    transform_result_release(&result);
    transformer_free(transformer);
    registry_free(registry);
    return rate;
}

static double
run_process(const struct opt_set *options, uint64_t *micros)
{
    struct reason why;
    struct registry *registry;
    check(document_registry_open(&registry, options, NULL, &why), &why);
    return run_registry("process", registry, micros);
}

/* The stylesheet that comes for Tidy's pages, alone. */
static double
run_stylesheet(const char *how, const char *repair, uint64_t *micros)
{
    struct reason why;
    char path[BENCH_SCRATCH_SIZE];
    struct registry *shipped = registry_new(), *registry = registry_new();
    check(registry_read_default(shipped, &why), &why);
    const int file = mkstemp(bench_scratch(path, "bench_transform"));
    if (file < 0 || dprintf(file,
                            "transform outline 1 xslt %s/tidy/outline.xsl %s\n"
                            "match %s -> outline\n",
                            registry_folder(shipped), repair, media_type) < 0) {
        perror(path);
        exit(EXIT_SYSTEM);
    }
    close(file);
    check(registry_read(registry, path, &why), &why);
    unlink(path);
    registry_free(shipped);
    return run_registry(how, registry, micros);
}

struct counted {
    uint64_t quads, *micros;
    struct buf *header;
    size_t done;
};

static void
take_answer(void *context, const struct worker_answer *answer)
{
    struct counted *counted = context;
    struct document_outcome outcome;
    if (answer->status == STATUS_OK && document_outcome_decode(answer->reply, &outcome)) {
        counted->quads += outcome.quads;
    }
    counted->micros[counted->done++] = answer->cpu_us;
}

static double
run_worker(const struct opt_set *options, uint64_t *micros)
{
    struct reason why;
    struct document_workers *workers;
    struct buf header;
    struct counted counted = {.micros = micros};
    const double start = cpu_seconds(RUSAGE_SELF);
    struct fork_server *fork_server = fork_server_start(&document_worker_program);
    buf_init(&header, 64 << 10);
    check(document_workers_open(&workers, fork_server, options, NULL, DOCUMENT_TRANSFORM, &why),
          &why);
    struct worker_pool *pool = document_workers_pool(workers);
    for (size_t i = 0; i < file_count; i++) {
        const struct transform_request request = request_of(&files[i]);
        document_submit_transform(workers, &request, &header, take_answer, &counted);
        while (counted.done <= i) {
            struct pollfd wait = {.fd = worker_pool_descriptor(pool), .events = POLLIN};
            poll(&wait, 1, -1);
            check(worker_pool_process(pool, &why), &why);
        }
    }
    double busy = 0;
    for (size_t i = 0; i < file_count; i++) {
        busy += (double)micros[i] * 1e-6;
    }
    const double rate =
        print("worker", file_count, counted.quads, cpu_seconds(RUSAGE_SELF) - start + busy, micros);
    document_workers_close(workers);
    fork_server_close(fork_server);
    buf_release(&header);
    return rate;
}

/* ---- stock tools ---- */

static const char titles_and_links[] =
    "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'"
    " xmlns:h='http://www.w3.org/1999/xhtml'><xsl:output method='text'/><xsl:template match='/'>"
    "<xsl:value-of select='normalize-space(//h:title)'/><xsl:text>\n</xsl:text>"
    "<xsl:for-each select='//h:a[@href]'><xsl:value-of select='@href'/><xsl:text>\n</xsl:text>"
    "</xsl:for-each></xsl:template></xsl:stylesheet>";

/* The page as XHTML text. */
static void
tidy_text(struct slice bytes, TidyBuffer *text)
{
    TidyBuffer in;
    TidyDoc tidy = tidyCreate();
    tidyOptSetBool(tidy, TidyXhtmlOut, yes);
    tidyOptSetBool(tidy, TidyForceOutput, yes);
    tidyOptSetBool(tidy, TidyNumEntities, yes);
    tidyOptSetBool(tidy, TidyQuiet, yes);
    tidyOptSetBool(tidy, TidyShowWarnings, no);
    tidyOptSetInt(tidy, TidyShowErrors, 0);
    tidySetCharEncoding(tidy, "utf8");
    tidyBufInit(&in);
    tidyBufAttach(&in, (byte *)(uintptr_t)bytes.at, (uint)bytes.length);
    if (tidyParseBuffer(tidy, &in) >= 0 && tidyCleanAndRepair(tidy) >= 0) {
        tidySaveBuffer(tidy, text);
    }
    tidyBufDetach(&in);
    tidyRelease(tidy);
}

/* Returns how many lines the stylesheet wrote. */
static uint64_t
chain_page(struct slice bytes, xsltStylesheetPtr stylesheet)
{
    uint64_t lines = 0;
    TidyBuffer text;
    tidyBufInit(&text);
    tidy_text(bytes, &text);
    xmlDocPtr page = xmlReadMemory((const char *)text.bp, (int)text.size, NULL, "UTF-8",
                                   XML_PARSE_RECOVER | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                       XML_PARSE_NONET);
    xmlDocPtr result = page ? xsltApplyStylesheet(stylesheet, page, NULL) : NULL;
    xmlChar *out = NULL;
    int length = 0;
    if (result && xsltSaveResultToString(&out, &length, result, stylesheet) == 0) {
        for (int i = 0; i < length; i++) {
            lines += out[i] == '\n';
        }
    }
    xmlFree(out);
    xmlFreeDoc(result);
    xmlFreeDoc(page);
    tidyBufFree(&text);
    return lines;
}

static double
run_chain(uint64_t *micros)
{
    uint64_t lines = 0;
    xmlDocPtr source = xmlReadMemory(titles_and_links, sizeof titles_and_links - 1, NULL, NULL, 0);
    xsltStylesheetPtr stylesheet = xsltParseStylesheetDoc(source);
    const double start = cpu_seconds(RUSAGE_SELF);
    for (size_t i = 0; i < file_count; i++) {
        const uint64_t before = clock_monotonic_us();
        lines += chain_page(files[i].bytes, stylesheet);
        micros[i] = clock_monotonic_us() - before;
    }
    const double rate = print("chain", file_count, lines, cpu_seconds(RUSAGE_SELF) - start, micros);
    xsltFreeStylesheet(stylesheet);
    return rate;
}

static int
shell(const char *command)
{
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int state = 0;
    waitpid(child, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 127;
}

static double
run_programs(uint64_t *micros)
{
    char path[BENCH_SCRATCH_SIZE], command[9000];
    if (shell("command -v tidy >/dev/null && command -v xsltproc >/dev/null") != 0) {
        printf("programs\tnot installed: tidy, xsltproc\n");
        return 0;
    }
    const int file = mkstemp(bench_scratch(path, "bench_transform"));
    if (file < 0 || write(file, titles_and_links, sizeof titles_and_links - 1) < 0) {
        return 0;
    }
    close(file);
    const size_t step = file_count / PROGRAM_PAGES + 1;
    size_t pages = 0;
    const double start = cpu_seconds(RUSAGE_CHILDREN) + cpu_seconds(RUSAGE_SELF);
    for (size_t i = 0; i < file_count; i += step) {
        if (strchr(files[i].path, '\'')) {
            continue;
        }
        snprintf(command, sizeof command,
                 "tidy -q -n -utf8 -asxhtml --force-output yes --show-warnings no '%s' 2>/dev/null"
                 " | xsltproc --nonet --novalid '%s' - >/dev/null 2>&1",
                 files[i].path, path);
        const uint64_t before = clock_monotonic_us();
        shell(command);
        micros[pages++] = clock_monotonic_us() - before;
    }
    const double rate =
        print("programs", pages, 0, cpu_seconds(RUSAGE_CHILDREN) + cpu_seconds(RUSAGE_SELF) - start,
              micros);
    unlink(path);
    return rate;
}

int
main(int argc, char **argv)
{
    char folder[4096];
    const char *home = getenv("HOME"), *how = argc > 1 ? argv[1] : "all";
    snprintf(folder, sizeof folder, "%s/.cache/quadrille-miniweb/hosts", home ? home : "");
    if (argc > 2) {
        snprintf(folder, sizeof folder, "%s", argv[2]);
    }
    suffix = argc > 3 ? argv[3] : suffix;
    media_type = argc > 4 ? argv[4] : media_type;
    folder_length = strlen(folder);
    nftw(folder, take_file, 16, FTW_PHYS);
    if (file_count == 0) {
        fprintf(stderr, "bench_transform: no *%s in %s; run miniweb/serve unpack\n", suffix,
                folder);
        return 77;
    }
    struct opt_set *options = opt_set_new((const struct opt *const[]){transforms_options, NULL});
    uint64_t *micros = memory_zero(file_count, sizeof *micros);
    const bool all = strcmp(how, "all") == 0;
    double process = 0, tree = 0, tidy = 0, chain = 0, programs = 0;
    printf("how\tfiles\tmean bytes\tquads\tfiles/s\tp50 us\tp99 us\tmax us\n");
    if (all || strcmp(how, "process") == 0) {
        process = run_process(options, micros);
    }
    if (all || strcmp(how, "worker") == 0) {
        run_worker(options, micros);
    }
    if (all || strcmp(how, "tree") == 0) {
        tree = run_stylesheet("tree", "", micros);
    }
    if (all || strcmp(how, "tidy") == 0) {
        tidy = run_stylesheet("tidy", "repair=tidy", micros);
    }
    if (all || strcmp(how, "chain") == 0) {
        chain = run_chain(micros);
    }
    if (all || strcmp(how, "programs") == 0) {
        programs = run_programs(micros);
    }
    if (all) {
        printf("tree is %.1f times tidy; process is %.1f times chain", tree / tidy,
               process / chain);
        if (programs > 0) {
            printf(" and %.0f times programs", process / programs);
        }
        printf("\n");
    }
    free(micros);
    opt_set_free(options);
    return 0;
}
