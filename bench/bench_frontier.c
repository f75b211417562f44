/* bench_frontier FOLDER [name=value]... [SIZE]...: the frontier grown from size to size (URIs
 * known), in this process, without sockets: the broker, its store and the disk.
 *
 *   hosts=N       (a twentieth of the largest size) URIs fall on them by a power law
 *   known=N       (3) URIs put again for each new one, by a power law of age: popular ones are old
 *   reserved=N    (300000, a tenth of the size at most) jobs reserved and done at each size
 *   cache=MIB     (128) Berkeley DB's   recent=MIB (64)   heads=MIB (64)   seen=MIB (16)
 *   sync=0|1      (1)
 *
 * Jobs are reserved 1,000 at a time and end at the next step with a second's rest of their host;
 * the clock is simulated at 3,000 jobs per second, and it is checked that no host goes out before
 * its rest is over. Prints TSV; memory is the peak of the whole process, disk all that is in
 * FOLDER.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "queue/broker/broker.h"
#include "queue/client/message.h"
#include "queue/politeness/host_report.h"
#include "queue/storage/frontier_engine.h"

enum {
    SIZES = 16,
    MESSAGE_URIS = 1000,
    ROUND_MESSAGES = 10,
    RESERVED_AT_A_TIME = 1000,
    JOBS_PER_SECOND = 3000,
    REST_MS = 1000,
    URI_BYTES = 128
};

struct settings {
    uint64_t hosts, known, reserved, cache, recent, upcoming, seen, sync;
    uint64_t sizes[SIZES];
    size_t size_count;
};

struct bench {
    struct settings settings;
    struct broker *broker;
    struct buf payloads[ROUND_MESSAGES];
    size_t message_count;
    uint64_t last_id;
    struct buf answer; /* of the latest reserve */
    uint64_t uris;     /* known so far */
    uint64_t puts;
    struct map resting; /* lane -> milliseconds from the start, when it may go again */
    uint64_t reserved;
};

static uint64_t simulated_ms = 1000000000000;

static uint64_t
simulated_clock(void)
{
    return simulated_ms;
}

static void
fail(const char *what, const struct reason *why)
{
    fprintf(stderr, "bench_frontier: %s: %s\n", what, why != NULL ? why->text : "");
    exit(EXIT_SYSTEM);
}

/* ---- what is put ---- */

static uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* 0 .. n-1, the smaller the likelier: the density falls with the power 3/4. */
static uint64_t
by_power_law(uint64_t random, uint64_t n)
{
    const double u = (double)(random >> 11) / (double)(1ull << 53);
    return (uint64_t)(u * u * u * u * (double)n);
}

static size_t
write_uri(const struct bench *bench, uint64_t number, char text[URI_BYTES])
{
    const uint64_t host = by_power_law(mix(number), bench->settings.hosts);
    return (size_t)snprintf(text, URI_BYTES, "http://www.host%llx.example.org/articles/%llu.html",
                            (unsigned long long)host, (unsigned long long)number);
}

static void
answered(void *context, void *token, enum status status, struct slice payload,
         const struct reason *why)
{
    struct bench *bench = context;
    if (status != STATUS_OK) {
        fail("refused", why);
    }
    if (token != NULL) {
        buf_reset(&bench->answer);
        (void)buf_append_slice(&bench->answer, payload);
    }
}

static void
submit(struct bench *bench, uint8_t verb, struct slice payload, bool keep)
{
    const struct broker_request request = {
        .verb = verb,
        .id = ++bench->last_id,
        .incarnation = 1,
        .client = SLICE("bench"),
        .payload = payload,
        .token = keep ? bench : NULL,
    };
    broker_submit(bench->broker, &request);
}

static void
work(struct bench *bench)
{
    struct reason why = {""};
    if (broker_work(bench->broker, &why) != STATUS_OK) {
        fail("round", &why);
    }
    bench->message_count = 0;
}

/* New URIs, each after the known ones that the same page led to. */
static void
put_until(struct bench *bench, uint64_t size)
{
    char uri[URI_BYTES];
    char via[URI_BYTES];
    const uint64_t each = 1 + bench->settings.known;
    while (bench->uris < size) {
        struct buf *payload = &bench->payloads[bench->message_count++];
        buf_reset(payload);
        codec_put_varint(payload, MESSAGE_URIS);
        const size_t via_length =
            write_uri(bench, by_power_law(mix(~bench->puts), bench->uris + 1), via);
        for (size_t i = 0; i < MESSAGE_URIS; i++, bench->puts++) {
            const bool is_new = bench->puts % each == 0;
            const uint64_t number =
                is_new ? bench->uris++ : by_power_law(mix(bench->puts << 20), bench->uris);
            const struct job job = {.key.stage = STAGE_FETCH,
                                    .uri = slice_of(uri, write_uri(bench, number, uri)),
                                    .via = slice_of(via, via_length),
                                    .priority = 128,
                                    .depth = 5,
                                    .generation = 1};
            message_put_new(payload, &job);
        }
        submit(bench, QUEUE_PUT, buf_slice(payload), false);
        if (bench->message_count == ROUND_MESSAGES) {
            work(bench);
        }
    }
    work(bench);
}

/* ---- fetching ---- */

static void
check_rest(struct bench *bench, uint64_t lane)
{
    const uint32_t now = (uint32_t)(simulated_ms - 1000000000000);
    const uint32_t until = map_get(&bench->resting, lane);
    if (until != (uint32_t)MAP_NONE && until > now) {
        fail("a host went out in its rest", NULL);
    }
    map_set(&bench->resting, lane, now + REST_MS);
}

static uint64_t
reserve_and_end(struct bench *bench)
{
    struct buf *request = &bench->payloads[0];
    buf_reset(request);
    codec_put_u8(request, STAGE_FETCH);
    codec_put_u64(request, 0);
    codec_put_varint(request, RESERVED_AT_A_TIME);
    codec_put_varint(request, 0);
    codec_put_u64(request, 0);
    submit(bench, QUEUE_RESERVE, buf_slice(request), true);
    work(bench);
    struct codec_reader reader = codec_reader_of(buf_slice(&bench->answer));
    (void)codec_get_varint(&reader); /* lease_ms */
    (void)codec_get_varint(&reader); /* the scope in force */
    const uint32_t n = codec_get_u32(&reader);
    const struct host_report rests = {.rest_ms = REST_MS};
    struct buf report;
    buf_init(&report, 64);
    host_report_encode(&report, &rests);
    struct buf *completions = &bench->payloads[1];
    buf_reset(completions);
    codec_put_varint(completions, n);
    for (uint32_t i = 0; i < n; i++) {
        struct job job;
        if (!job_key_decode(&reader, &job.key) || !job_decode(&reader, &job)) {
            fail("a job was not understood", NULL);
        }
        (void)codec_get_slice(&reader); /* the pace of its host */
        check_rest(bench, job.key.lane);
        const struct completion completion = {.key = job.key, .report = buf_slice(&report)};
        message_put_completion(completions, &completion, job.attempt);
    }
    buf_release(&report);
    simulated_ms += 1000 * RESERVED_AT_A_TIME / JOBS_PER_SECOND;
    submit(bench, QUEUE_COMPLETE, buf_slice(completions), false);
    return n;
}

static uint64_t
fetch(struct bench *bench)
{
    const uint64_t tenth = bench->uris / 10;
    const uint64_t most = bench->settings.reserved < tenth ? bench->settings.reserved : tenth;
    uint64_t ended = 0;
    map_clear(&bench->resting);
    simulated_ms += 2 * REST_MS;
    while (ended < most) {
        ended += reserve_and_end(bench);
    }
    work(bench);
    return ended;
}

/* ---- measuring ---- */

struct moment {
    double wall, cpu;
};

static struct moment
now(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (struct moment){
        (double)clock_monotonic_us() / 1e6,
        (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
            (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
    };
}

static uint64_t disk_bytes;

static int
add_file(const char *path, const struct stat *file, int type)
{
    (void)path;
    disk_bytes += type == FTW_F ? (uint64_t)file->st_size : 0;
    return 0;
}

static double
peak_mib(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static void
measure(struct bench *bench, uint64_t size, const char *folder)
{
    const uint64_t puts = bench->puts;
    const uint64_t uris = bench->uris;
    const struct moment start = now();
    put_until(bench, size);
    const struct moment between = now();
    const uint64_t ended = fetch(bench);
    const struct moment end = now();
    const double n = (double)(bench->puts - puts);
    const struct counters *counters = broker_counters(bench->broker);
    const struct frontier_figures figures = frontier_figures(broker_frontier(bench->broker));
    disk_bytes = 0;
    (void)ftw(folder, add_file, 16);
    printf("%llu\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%.1f\t%.2f\t%llu\n",
           (unsigned long long)counters->seen, n / (between.wall - start.wall),
           n / (between.cpu - start.cpu), (double)(bench->uris - uris) / (between.cpu - start.cpu),
           (double)ended / (end.wall - between.wall), (double)ended / (end.cpu - between.cpu),
           peak_mib(), (double)disk_bytes / (double)counters->seen,
           (double)figures.written / (double)counters->seen,
           8 * (double)figures.run_memory / (double)counters->seen,
           (unsigned long long)figures.runs);
    fflush(stdout);
}

static bool
read_setting(struct settings *settings, const char *text)
{
    const struct {
        const char *name;
        uint64_t *place;
    } names[] = {{"hosts=", &settings->hosts},       {"known=", &settings->known},
                 {"reserved=", &settings->reserved}, {"cache=", &settings->cache},
                 {"recent=", &settings->recent},     {"heads=", &settings->upcoming},
                 {"seen=", &settings->seen},         {"sync=", &settings->sync}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t length = strlen(names[i].name);
        if (strncmp(text, names[i].name, length) == 0) {
            *names[i].place = strtoull(text + length, NULL, 10);
            return true;
        }
    }
    char *end;
    const uint64_t size = strtoull(text, &end, 10);
    if (*end != '\0' || size == 0 || settings->size_count == SIZES) {
        return false;
    }
    settings->sizes[settings->size_count++] = size;
    return true;
}

static void
open_broker(struct bench *bench, const char *folder, struct cluster *cluster)
{
    const struct settings *settings = &bench->settings;
    struct reason why = {""};
    const struct broker_options options = {
        .directory = folder,
        .store = {.folder = folder,
                  .cache_bytes = settings->cache << 20,
                  .checkpoint_bytes = 256 << 20,
                  .checkpoint_ms = 60000,
                  .sync = settings->sync != 0,
                  .lock_wait_ms = 1000,
                  .recent_bytes = settings->recent << 20,
                  .threads = true},
        .cluster = cluster,
        .index_partitions = 1,
        .lease_ms = 600000,
        .attempts = 5,
        .high_water = UINT64_MAX / 2,
        .seen_cache_bytes = settings->seen << 20,
        .upcoming_bytes = settings->upcoming << 20,
        .clock = simulated_clock,
    };
    if (broker_open(&bench->broker, &options, answered, bench, &why) != STATUS_OK) {
        fail("cannot open", &why);
    }
    broker_serve_as(bench->broker, 1);
}

int
main(int argc, char **argv)
{
    struct bench bench = {.settings = {.known = 3,
                                       .reserved = 300000,
                                       .cache = 128,
                                       .recent = 64,
                                       .upcoming = 64,
                                       .seen = 16,
                                       .sync = 1}};
    struct settings *settings = &bench.settings;
    struct cluster *cluster;
    struct reason why = {""};
    for (int i = 2; i < argc; i++) {
        if (!read_setting(settings, argv[i])) {
            fprintf(stderr, "bench_frontier: what is %s?\n", argv[i]);
            return EXIT_MISUSE;
        }
    }
    if (argc < 2 || settings->size_count == 0) {
        fprintf(stderr, "bench_frontier FOLDER [name=value]... SIZE...\n");
        return EXIT_MISUSE;
    }
    if (settings->hosts == 0) {
        settings->hosts = settings->sizes[settings->size_count - 1] / 20 + 1;
    }
    for (size_t i = 0; i < ROUND_MESSAGES; i++) {
        buf_init(&bench.payloads[i], 64 << 20);
    }
    buf_init(&bench.answer, 64 << 20);
    map_init(&bench.resting);
    log_open("bench_frontier", LOG_LEVEL_WARNING, false);
    (void)cluster_parse(&cluster, SLICE("node local"), NULL, argv[1], &why);
    open_broker(&bench, argv[1], cluster);
    printf(
        "uris\tputs_per_s\tputs_per_cpu_s\tnew_per_cpu_s\treserves_per_s\treserves_per_cpu_s\t"
        "peak_mib\tdisk_bytes_per_uri\trun_bytes_written_per_uri\trun_memory_bits_per_uri\truns\n");
    for (size_t i = 0; i < settings->size_count; i++) {
        measure(&bench, settings->sizes[i], argv[1]);
    }
    broker_close(bench.broker);
    cluster_close(cluster);
    for (size_t i = 0; i < ROUND_MESSAGES; i++) {
        buf_release(&bench.payloads[i]);
    }
    buf_release(&bench.answer);
    map_release(&bench.resting);
    return EXIT_DONE;
}
