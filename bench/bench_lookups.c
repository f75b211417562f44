/* bench_lookups FOLDER [name=value]...: how long the query service of an index made by bench_index
 * takes for one question, without the client and the socket: the request is read, a thread of the
 * service's kind looks it up in a snapshot of its own and writes the answer, which is taken out.
 *
 *   each=N     questions of each kind (default 1000)
 *   rows=N     of an answer at most (default 100)
 *   cache=MIB  of pages (default 1024)
 *   blocks=MIB of unpacked blocks of terms (default 64)
 *   cold=N     of the first questions after a start with nothing in memory; started anew for every
 *              16 of them, and for each kind (default 64, 0: none)
 *
 * A line for each of the 16 patterns, named by its bound places: their terms are those of quads of
 * the index taken at random. Then keywords: one word, two words, words of literals taken at random,
 * so the more common the more often. The ten best are asked for. Cold: the index is closed and its
 * files' pages are dropped from the system's memory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "bench/sample.h"
#include "index/serve/answers.h"

enum { SHAPES = 16, SUBJECT = 8, PREDICATE = 4, OBJECT = 2, GRAPH = 1, COLD_STRETCH = 16 };
enum { PATH_BYTES = 4096, ANSWER_MAXIMUM = 64 << 20, BEST = 10, NAME_BYTES = 32 };

struct settings {
    uint64_t each, rows, cache, blocks, cold;
};

struct bench {
    struct settings settings;
    const char *folder;
    struct partition *partition;
    struct sample sample;
    struct service_options service;
    struct turns *turns;
    struct threads *threads;
    int event;
    struct buf request, answer;
    uint64_t random;
};

static void
must(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench_lookups: %s\n", why->text);
        exit(EXIT_SYSTEM);
    }
}

static void
open_index(struct bench *bench)
{
    struct reason why = {""};
    struct partition_options options;
    partition_options_default(&options, bench->folder);
    options.cache_bytes = bench->settings.cache << 20;
    options.block_memory = bench->settings.blocks << 20;
    must(partition_open(&bench->partition, &options, &why), &why);
}

/* ---- one question ---- */

static enum status
take_answer(struct bench *bench, struct cursor *cursor, struct reason *why)
{
    enum { WAIT_MS = 60000, PIECE = 512 << 10 };
    bool end = false;
    while (!end) {
        enum status status =
            cursor_read(cursor, bench->answer.length, PIECE, &bench->answer, &end, why);
        if (status == STATUS_AGAIN) {
            struct pollfd wait = {.fd = bench->event, .events = POLLIN};
            uint64_t count;
            (void)poll(&wait, 1, WAIT_MS);
            status = read(bench->event, &count, sizeof(count)) < 0 && errno != EAGAIN
                         ? status_fail_errno(why, "cannot wait for an answer")
                         : STATUS_OK;
        }
        TRY(status);
    }
    return STATUS_OK;
}

/* Microseconds for the request that is in bench->request. */
static uint64_t
ask(struct bench *bench)
{
    struct reason why = {""};
    struct answer *job;
    struct cursor *cursor;
    const struct cursor_settings settings = {
        .threads = bench->threads, .turns = bench->turns, .event = bench->event, .window = 4 << 20};
    buf_reset(&bench->answer);
    const uint64_t start = clock_monotonic_us();
    must(
        answer_new(&job, bench->partition, &bench->service, NULL, buf_slice(&bench->request), &why),
        &why);
    must(cursor_open(&cursor, 1, &settings, answer_produce, answer_free, job, &why), &why);
    must(take_answer(bench, cursor, &why), &why);
    const uint64_t took = clock_monotonic_us() - start;
    cursor_close(cursor);
    return took;
}

static void
put_pattern(struct bench *bench, unsigned shape)
{
    const struct quad *quad =
        &bench->sample.quads[sample_random(&bench->random) % bench->sample.quad_count];
    struct quad pattern = {.predicate = {.kind = TERM_NONE}};
    pattern.subject = shape & SUBJECT ? quad->subject : pattern.subject;
    pattern.predicate = shape & PREDICATE ? quad->predicate : pattern.predicate;
    pattern.object = shape & OBJECT ? quad->object : pattern.object;
    pattern.graph = shape & GRAPH ? quad->graph : pattern.graph;
    buf_reset(&bench->request);
    codec_put_u8(&bench->request, INDEX_STREAM_PATTERN);
    codec_put_varint(&bench->request, bench->settings.rows);
    index_put_pattern(&bench->request, &pattern);
}

static void
put_words(struct bench *bench, unsigned count)
{
    char words[256] = "";
    for (unsigned i = 0; i < count; i++) {
        const struct slice word =
            bench->sample.words[sample_random(&bench->random) % bench->sample.word_count];
        const size_t length = strlen(words);
        snprintf(words + length, sizeof words - length, "%s%.*s", i > 0 ? " " : "",
                 SLICE_PRINT(word));
    }
    buf_reset(&bench->request);
    codec_put_u8(&bench->request, INDEX_STREAM_SEARCH);
    codec_put_slice(&bench->request, slice_string(words));
    codec_put_varint(&bench->request, BEST);
}

/* Kinds below SHAPES are patterns, above it so many words. */
static void
put_question(struct bench *bench, unsigned kind)
{
    if (kind < SHAPES) {
        put_pattern(bench, kind);
    } else {
        put_words(bench, kind - SHAPES);
    }
}

static const char *
kind_name(unsigned kind, char name[NAME_BYTES])
{
    if (kind < SHAPES) {
        snprintf(name, NAME_BYTES, "%c%c%c%c", kind & SUBJECT ? 'S' : '-',
                 kind & PREDICATE ? 'P' : '-', kind & OBJECT ? 'O' : '-', kind & GRAPH ? 'G' : '-');
    } else {
        snprintf(name, NAME_BYTES, "%u-word%s", kind - SHAPES, kind - SHAPES > 1 ? "s" : "");
    }
    return name;
}

/* ---- stretches of questions ---- */

static void
report(const char *state, unsigned kind, uint64_t *times, uint64_t count, uint64_t bytes)
{
    char name[NAME_BYTES];
    printf("%-6s kind=%-7s count=%llu p50_us=%llu p99_us=%llu max_us=%llu answer_bytes=%llu\n",
           state, kind_name(kind, name), (unsigned long long)count,
           (unsigned long long)sample_percentile(times, count, 0.5),
           (unsigned long long)sample_percentile(times, count, 0.99),
           (unsigned long long)sample_percentile(times, count, 1),
           (unsigned long long)(bytes / (count > 0 ? count : 1)));
    fflush(stdout);
}

static void
warm(struct bench *bench, unsigned kind)
{
    const uint64_t count = bench->settings.each;
    uint64_t *times = memory_alloc((count + 1) * sizeof(*times));
    uint64_t bytes = 0;
    const uint64_t begin = bench->random;
    for (int round = 0; round < 2; round++) { /* the first one warms up */
        bench->random = begin;
        bytes = 0;
        for (uint64_t i = 0; i < count; i++) {
            put_question(bench, kind);
            times[i] = ask(bench);
            bytes += bench->answer.length;
        }
    }
    report("warm", kind, times, count, bytes);
    free(times);
}

static void
drop_pages(const char *folder)
{
    DIR *files = opendir(folder);
    const struct dirent *entry;
    while (files != NULL && (entry = readdir(files)) != NULL) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (descriptor >= 0) {
            (void)fdatasync(descriptor); /* only clean pages are dropped */
            (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
            close(descriptor);
        }
    }
    if (files != NULL) {
        closedir(files);
    }
}

static void
cold(struct bench *bench, unsigned kind)
{
    const uint64_t count = bench->settings.cold;
    uint64_t *times = memory_alloc((count + 1) * sizeof(*times));
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (i % COLD_STRETCH == 0) {
            partition_close(bench->partition);
            drop_pages(bench->folder);
            open_index(bench);
        }
        put_question(bench, kind);
        times[i] = ask(bench);
        bytes += bench->answer.length;
    }
    report("cold", kind, times, count, bytes);
    free(times);
}

static void
set(struct settings *settings, const char *assignment)
{
    const struct {
        const char *name;
        uint64_t *value;
    } names[] = {{"each=", &settings->each},
                 {"rows=", &settings->rows},
                 {"cache=", &settings->cache},
                 {"blocks=", &settings->blocks},
                 {"cold=", &settings->cold}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const size_t length = strlen(names[i].name);
        if (strncmp(assignment, names[i].name, length) == 0) {
            *names[i].value = strtoull(assignment + length, NULL, 10);
        }
    }
}

int
main(int argc, char **argv)
{
    enum { SAMPLED = 20000, EACH = 8, ONE_WORD = SHAPES + 1, TWO_WORDS };
    static const unsigned cold_kinds[] = {
        SUBJECT, GRAPH, SUBJECT | PREDICATE, PREDICATE | OBJECT, ONE_WORD, TWO_WORDS};
    struct bench bench = {
        .settings = {.each = 1000, .rows = 100, .cache = 1024, .blocks = 64, .cold = 64},
        .random = 88172645463325252u};
    if (argc < 2) {
        fputs("usage: bench_lookups FOLDER [name=value]...\n", stderr);
        return EXIT_MISUSE;
    }
    for (int i = 2; i < argc; i++) {
        set(&bench.settings, argv[i]);
    }
    struct reason why = {""};
    bench.folder = argv[1];
    bench.service = (struct service_options){.scratch_folder = argv[1], .query_memory = 512 << 20};
    bench.turns = turns_new(2, 512 << 20);
    bench.threads = threads_new(2, 0);
    bench.event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    buf_init(&bench.request, ANSWER_MAXIMUM);
    buf_init(&bench.answer, ANSWER_MAXIMUM);
    open_index(&bench);
    must(sample_take(&bench.sample, bench.partition, SAMPLED, EACH, &why), &why);
    for (unsigned kind = 0; kind <= TWO_WORDS; kind++) {
        if (kind != SHAPES) {
            warm(&bench, kind);
        }
    }
    for (size_t i = 0; i < sizeof(cold_kinds) / sizeof(cold_kinds[0]); i++) {
        if (bench.settings.cold > 0) {
            cold(&bench, cold_kinds[i]);
        }
    }
    partition_close(bench.partition);
    sample_release(&bench.sample);
    threads_free(bench.threads);
    turns_free(bench.turns);
    buf_release(&bench.request);
    buf_release(&bench.answer);
    close(bench.event);
    return EXIT_DONE;
}
