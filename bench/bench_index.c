/* bench_index FOLDER FILE.nq [name=value]...: builds an index from N-Quads whose graphs come one
 * after the other, then replaces documents, looks up and searches; one line of figures each.
 *
 *   quads=N       quads per batch (default 200000)
 *   documents=N   documents per batch (default 10000)
 *   import=MIB    loads as `quadrille import` does, with so much memory (default 0: as documents)
 *   replace=N     documents to replace afterwards with one quad changed (default 0)
 *   cache=MIB     of pages (default 1024)
 *   lookups=N     subject lookups after a load (default 20000)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "index/write/partition.h"
#include "rdf/nquads/nquads.h"

struct settings {
    uint64_t quads, documents, import, replace, cache, lookups;
};

struct load {
    struct partition *partition;
    struct index_batch *batch;
    const struct settings *settings;
    struct buf graph; /* URI of the open document; empty: none */
    uint64_t quads, documents, generation;
    uint64_t limit; /* documents to take, 0: all */
    bool change;    /* leave out one quad of each document */
    uint64_t in_document;
};

static double
cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
           (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static void
must(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench_index: %s\n", why->text);
        exit(EXIT_SYSTEM);
    }
}

/* import=: once the batch has its memory. */
static enum status
commit_import(struct load *load, bool all, struct reason *why)
{
    const size_t memory = load->settings->import << 20;
    if (!all && !index_batch_is_full(load->batch, memory)) {
        return STATUS_OK;
    }
    TRY(index_batch_stage(load->batch, memory, why));
    index_batch_reset(load->batch);
    return all ? partition_merge_staged(load->partition, NULL, why) : STATUS_OK;
}

static bool
imports(const struct load *load)
{
    return load->settings->import > 0 && !load->change;
}

static enum status
end_document(struct load *load, struct reason *why)
{
    if (load->graph.length == 0) {
        return STATUS_OK;
    }
    buf_reset(&load->graph);
    (void)index_batch_end(load->batch);
    load->documents++;
    if (imports(load)) {
        TRY(commit_import(load, false, why));
    } else if (index_batch_quads(load->batch) >= load->settings->quads ||
               index_batch_documents(load->batch) >= load->settings->documents) {
        TRY(index_batch_commit(load->batch, why));
        index_batch_reset(load->batch);
    }
    return load->limit > 0 && load->documents >= load->limit ? STATUS_END : STATUS_OK;
}

static enum status
take(void *context, const struct quad *quad, struct reason *why)
{
    struct load *load = context;
    if (!slice_equal(buf_slice(&load->graph), quad->graph.value)) {
        TRY(end_document(load, why));
        (void)buf_append_slice(&load->graph, quad->graph.value);
        const struct index_document document = {.uri = quad->graph.value,
                                                .generation = load->generation};
        if (imports(load)) {
            index_batch_begin_patch(load->batch, quad->graph.value);
        } else {
            index_batch_begin(load->batch, &document);
        }
        load->in_document = 0;
    }
    load->quads++;
    if (load->change && load->in_document++ == 1) {
        return STATUS_OK;
    }
    return index_batch_quad(load->batch, quad, why);
}

static void
report(const char *what, double cpu, uint64_t wall_ms, uint64_t quads, uint64_t documents)
{
    printf("%-8s quads=%llu documents=%llu cpu_s=%.2f wall_s=%.2f quads_per_cpu_s=%.0f "
           "documents_per_s=%.0f\n",
           what, (unsigned long long)quads, (unsigned long long)documents, cpu,
           (double)wall_ms / 1e3, (double)quads / cpu, (double)documents / ((double)wall_ms / 1e3));
    fflush(stdout);
}

static void
load_file(struct partition *partition, const char *file, const struct settings *settings,
          const char *what, uint64_t generation, uint64_t limit)
{
    struct load load = {.partition = partition,
                        .batch = index_batch_new(partition),
                        .settings = settings,
                        .generation = generation,
                        .limit = limit,
                        .change = limit > 0};
    buf_init(&load.graph, 1 << 20);
    struct reason why = {""};
    const double cpu = cpu_seconds();
    const uint64_t wall = clock_monotonic_ms();
    const int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    const struct quad_sink sink = {take, &load};
    struct nquads_reader *reader = nquads_reader_new(NULL, false, &sink);
    enum status status = nquads_reader_descriptor(reader, descriptor, &why);
    nquads_reader_free(reader);
    close(descriptor);
    if (status == STATUS_OK) {
        status = end_document(&load, &why);
    }
    must(status == STATUS_END ? STATUS_OK : status, &why);
    must(imports(&load) ? commit_import(&load, true, &why) : index_batch_commit(load.batch, &why),
         &why);
    must(partition_settle(partition, &why), &why);
    report(what, cpu_seconds() - cpu, clock_monotonic_ms() - wall, load.quads, load.documents);
    index_batch_free(load.batch);
    buf_release(&load.graph);
}

static int
compare_numbers(const void *a, const void *b)
{
    const uint64_t *left = a;
    const uint64_t *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* Quads of random subjects, resolved: what a browser of the data asks. */
static void
look_up(struct partition *partition, uint64_t count)
{
    struct reason why = {""};
    struct partition_stats stats;
    partition_stats(partition, &stats);
    struct partition_reader *reader;
    must(partition_reader_open(&reader, partition, &why), &why);
    const struct quad_source *source = partition_reader_source(reader);
    uint64_t *times = memory_alloc((count + 1) * sizeof(*times));
    uint64_t rows = 0;
    struct arena arena;
    arena_init(&arena, 0);
    uint64_t number = 1;
    for (uint64_t i = 0; i < count; i++) {
        number = (number * 6364136223846793005u + 1442695040888963407u);
        const struct quad_oids pattern = {
            .subject = oid_stored(1 + (number >> 20) % stats.totals.terms, OID_KIND_IRI)};
        const uint64_t begin = clock_monotonic_us();
        struct quad_scan *scan;
        must(source->scan(source->context, &pattern, ORDER_COUNT, &scan, &why), &why);
        struct quad_oids quads[64];
        size_t n = 1;
        while (n > 0) {
            must(source->scan_next(scan, quads, 64, &n, &why), &why);
            for (size_t q = 0; q < n; q++) {
                struct term term;
                must(source->resolve(source->context, quads[q].object, &arena, &term, &why), &why);
            }
            rows += n;
        }
        source->scan_close(scan);
        arena_reset(&arena);
        times[i] = clock_monotonic_us() - begin;
    }
    qsort(times, count, sizeof(*times), compare_numbers);
    printf("lookup   count=%llu rows=%llu p50_us=%llu p99_us=%llu\n", (unsigned long long)count,
           (unsigned long long)rows, (unsigned long long)times[count / 2],
           (unsigned long long)times[count * 99 / 100]);
    free(times);
    arena_release(&arena);
    partition_reader_close(reader);
}

static void
set(struct settings *settings, const char *assignment)
{
    const struct {
        const char *name;
        uint64_t *value;
    } names[] = {{"quads=", &settings->quads},     {"documents=", &settings->documents},
                 {"replace=", &settings->replace}, {"cache=", &settings->cache},
                 {"lookups=", &settings->lookups}, {"import=", &settings->import}};
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
    struct settings settings = {
        .quads = 200000, .documents = 10000, .cache = 1024, .lookups = 20000};
    if (argc < 3) {
        fputs("usage: bench_index FOLDER FILE.nq [name=value]...\n", stderr);
        return EXIT_MISUSE;
    }
    for (int i = 3; i < argc; i++) {
        set(&settings, argv[i]);
    }
    struct reason why = {""};
    struct partition_options options;
    partition_options_default(&options, argv[1]);
    options.cache_bytes = settings.cache << 20;
    struct partition *partition;
    must(partition_open(&partition, &options, &why), &why);
    load_file(partition, argv[2], &settings, "load", 1, 0);
    if (settings.replace > 0) {
        load_file(partition, argv[2], &settings, "replace", 2, settings.replace);
    }
    if (settings.lookups > 0) {
        look_up(partition, settings.lookups);
    }
    partition_close(partition);
    must(partition_open(&partition, &options, &why), &why);
    struct partition_stats stats;
    partition_stats(partition, &stats);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("size     quads=%llu documents=%llu terms=%llu literals=%llu bytes_per_quad=%.1f "
           "peak_mib=%ld\n",
           (unsigned long long)stats.totals.quads, (unsigned long long)stats.totals.documents,
           (unsigned long long)stats.totals.terms, (unsigned long long)stats.totals.literals,
           (double)stats.bytes / (double)stats.totals.quads, usage.ru_maxrss / 1024);
    partition_close(partition);
    return 0;
}
