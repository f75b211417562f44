/* bench_detect [FOLDER]: documents per second through detection, from memory, with and without a
 * Content-Type of the kind servers send; all files of FOLDER (default: the miniweb's).
 * Prints TSV: how, documents, mean bytes, documents per CPU second, undecided (libmagic). */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "detection/detect.h"

enum { FILES_MAXIMUM = 50000 };

static struct file {
    char *uri;
    struct slice bytes;
} files[FILES_MAXIMUM];
static size_t file_count, total_bytes;

static int
take_file(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)place;
    if (kind != FTW_F || file_count == FILES_MAXIMUM) {
        return 0;
    }
    const size_t most = about->st_size > DETECT_HEAD ? DETECT_HEAD + 1 : (size_t)about->st_size;
    FILE *in = fopen(path, "rb");
    char *bytes = memory_alloc(most + 1);
    const size_t n = in ? fread(bytes, 1, most, in) : 0;
    if (in) {
        fclose(in);
    }
    files[file_count].uri = memory_string(path);
    files[file_count++].bytes = slice_of(bytes, n);
    total_bytes += n;
    return 0;
}

static void
run(const char *how, bool with_type)
{
    struct detector detector;
    struct timespec start, end;
    size_t undecided = 0;
    detector_init(&detector);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (size_t i = 0; i < file_count; i++) {
        const char *type = with_type ? detect_extension(slice_string(files[i].uri)) : NULL;
        const struct detect_input input = {.bytes = files[i].bytes,
                                           .content_type = slice_string(type),
                                           .uri = slice_string(files[i].uri)};
        struct detection detection;
        detect(&detector, &input, &detection);
        undecided += detection.undecided;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    const double seconds =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    printf("%s\t%zu\t%zu\t%.0f\t%zu\n", how, file_count, total_bytes / file_count,
           (double)file_count / seconds, undecided);
    detector_release(&detector);
}

int
main(int argc, char **argv)
{
    char folder[4096];
    const char *home = getenv("HOME");
    snprintf(folder, sizeof folder, "%s/.cache/quadrille-miniweb/hosts", home ? home : "");
    nftw(argc > 1 ? argv[1] : folder, take_file, 16, FTW_PHYS);
    if (file_count == 0) {
        fprintf(stderr, "bench_detect: no files; run miniweb/serve unpack\n");
        return 77;
    }
    run("no Content-Type", false);
    run("Content-Type by extension", true);
    return 0;
}
