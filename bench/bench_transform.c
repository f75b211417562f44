/* bench_transform [worker|process] [FOLDER [SUFFIX [TYPE]]]: pages per second of transform over the
 * files of a folder whose names end in SUFFIX (default: the miniweb's .html files as text/html).
 *
 *   process   in this process: parse, extract, canonicalise, write
 *   worker    through a sandboxed worker, as the stage does it
 *
 * Prints TSV: how, files, mean bytes, quads, files per CPU second (worker: of both processes),
 * p50, p99 and maximum in microseconds. Both ways when none is named. */
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/memory.h"
#include "stages/document_worker.h"

enum { FILES_MAXIMUM = 50000, FILE_MAXIMUM = 16 << 20 };

struct file {
    char *uri;
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

static void
print(const char *how, uint64_t quads, double seconds, uint64_t *micros)
{
    qsort(micros, file_count, sizeof *micros, compare);
    printf("%s\t%zu\t%zu\t%lu\t%.0f\t%lu\t%lu\t%lu\n", how, file_count, total_bytes / file_count,
           (unsigned long)quads, (double)file_count / seconds,
           (unsigned long)micros[file_count / 2], (unsigned long)micros[file_count * 99 / 100],
           (unsigned long)micros[file_count - 1]);
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

static void
run_process(const struct opt_set *options, uint64_t *micros)
{
    struct reason why;
    struct registry *registry;
    struct transformer *transformer;
    struct transform_result result;
    const struct transform_limits limits = {.memory = 512 << 20, .output = 128 << 20};
    check(document_registry_open(&registry, options, NULL, &why), &why);
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
    print("process", quads, cpu_seconds(RUSAGE_SELF) - start, micros);
    transform_result_release(&result);
    transformer_free(transformer);
    registry_free(registry);
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

static void
run_worker(const struct opt_set *options, uint64_t *micros)
{
    struct reason why;
    struct document_workers *workers;
    struct buf header;
    struct counted counted = {.micros = micros};
    const double start = cpu_seconds(RUSAGE_SELF);
    struct worker_nursery *nursery = worker_nursery_fork(&document_worker_program);
    buf_init(&header, 64 << 10);
    check(document_workers_open(&workers, nursery, options, NULL, DOCUMENT_TRANSFORM, &why), &why);
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
    print("worker", counted.quads, cpu_seconds(RUSAGE_SELF) - start + busy, micros);
    document_workers_close(workers);
    worker_nursery_close(nursery);
    buf_release(&header);
}

int
main(int argc, char **argv)
{
    char folder[4096];
    const char *home = getenv("HOME"), *how = argc > 1 ? argv[1] : "";
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
    if (strcmp(how, "worker") != 0) {
        run_process(options, micros);
    }
    if (strcmp(how, "process") != 0) {
        run_worker(options, micros);
    }
    free(micros);
    opt_set_free(options);
    return 0;
}
