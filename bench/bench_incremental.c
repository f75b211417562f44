/* bench_incremental FOLDER [name=value]...: replaces documents of an index made by bench_index,
 * while readers ask its query service one question after the other, without a pause.
 *
 *   rate=N        documents per second that come in, 0: as fast as they are taken (default 1000)
 *   seconds=N     how long (default 30); the batch that is under way then is finished
 *   documents=N   of a batch (default 10000)
 *   quads=N       of a document (default 20)
 *   readers=N     (default 8), each with a client of its own
 *   cache=MIB     of pages (default 1024)
 *   blocks=MIB    of unpacked blocks of terms (default 64)
 *   threads=N     queries that the service runs at a time (default 2)
 *
 * Each version of a document names itself in the subject of all its quads, so all of them change,
 * and an answer that holds quads of two versions, or not all of one, is seen. The program fails
 * when there was such a one. Predicates and objects are the index's own, literals half of the time
 * with a new number at their end. Half of the questions are about documents of the present batch
 * and of the one before.
 *
 * Lines: "replace", then a line for each kind of question. Latencies are what a client sees.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "bench/sample.h"
#include "bench/scratch.h"
#include "index/client/index_client.h"
#include "index/serve/index_service.h"
#include "rdf/core/writer.h"

enum { READERS_MOST = 64, ANSWER_MAXIMUM = 64 << 20, QUERY_BYTES = 8192, VERSION_MARK = 3 };
enum question { QUESTION_DOCUMENT, QUESTION_SUBJECT, QUESTION_KEYWORD, QUESTION_JOIN, QUESTIONS };
static const char *const question_names[QUESTIONS] = {"document", "subject", "keyword", "join"};

struct settings {
    uint64_t rate, seconds, documents, quads, readers, cache, blocks, threads;
};

/* A predicate and an object of the index as N-Triples. */
struct statement {
    char *text;
    size_t length, quote; /* where a literal's text ends; 0: leave it as it is */
};

struct bench {
    struct settings settings;
    struct partition *partition;
    char endpoint[128];
    struct sample sample;
    struct statement *statements;
    size_t statement_count;
    uint32_t *order;  /* of replacement: documents shuffled */
    atomic_size_t at; /* in order: where the present batch begins */
    atomic_bool stop;
    atomic_ulong mixed;
};

struct times {
    uint64_t *us;
    size_t count, capacity;
};

struct reader {
    struct bench *bench;
    pthread_t thread;
    uint64_t random;
    struct index_client *client;
    struct buf answer;
    struct times times[QUESTIONS];
};

static void
must(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench_incremental: %s\n", why->text);
        exit(EXIT_SYSTEM);
    }
}

/* ---- documents ---- */

static int
compare_statements(const void *a, const void *b)
{
    const struct statement *left = a;
    const struct statement *right = b;
    return slice_compare(slice_of(left->text, left->length), slice_of(right->text, right->length));
}

static void
make_statements(struct bench *bench)
{
    struct statement *list = memory_alloc((bench->sample.quad_count + 1) * sizeof(*list));
    size_t n = 0;
    struct buf text;
    buf_init(&text, ANSWER_MAXIMUM);
    for (size_t i = 0; i < bench->sample.quad_count; i++) {
        const struct quad *quad = &bench->sample.quads[i];
        if (quad->object.kind == TERM_BLANK) {
            continue;
        }
        buf_reset(&text);
        (void)nquads_write_term(&text, &quad->predicate);
        (void)buf_append_char(&text, ' ');
        (void)nquads_write_term(&text, &quad->object);
        list[n] = (struct statement){memory_string_n(text.data, text.length), text.length, 0};
        if (quad->object.kind == TERM_LITERAL && quad->object.datatype.length == 0) {
            list[n].quote = (size_t)(strrchr(list[n].text, '"') - list[n].text);
        }
        n++;
    }
    buf_release(&text);
    qsort(list, n, sizeof(*list), compare_statements);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || compare_statements(&list[kept - 1], &list[i]) != 0) {
            list[kept++] = list[i];
        } else {
            free(list[i].text);
        }
    }
    bench->statements = list;
    bench->statement_count = kept;
}

static void
write_document(const struct bench *bench, struct slice uri, uint64_t version, uint64_t *random,
               struct buf *out)
{
    buf_reset(out);
    const size_t first = sample_random(random) % bench->statement_count;
    for (size_t i = 0; i < bench->settings.quads; i++) {
        /* Steps through the sorted list, so that no statement comes twice. */
        const size_t step = bench->statement_count / bench->settings.quads;
        const struct statement *s = &bench->statements[(first + i * step) % bench->statement_count];
        (void)buf_printf(out, "<%.*s#v%llu> ", SLICE_PRINT(uri), (unsigned long long)version);
        if (s->quote > 0 && sample_random(random) % 2 == 0) {
            (void)buf_append(out, s->text, s->quote);
            (void)buf_printf(out, " %u", (unsigned)(sample_random(random) >> 32));
            (void)buf_append(out, s->text + s->quote, s->length - s->quote);
        } else {
            (void)buf_append(out, s->text, s->length);
        }
        (void)buf_printf(out, " <%.*s> .\n", SLICE_PRINT(uri));
    }
}

/* ---- readers ---- */

static void
add_time(struct times *times, uint64_t us)
{
    if (times->count == times->capacity) {
        times->capacity = times->capacity > 0 ? 2 * times->capacity : 4096;
        times->us = memory_resize(times->us, times->capacity, sizeof(*times->us));
    }
    times->us[times->count++] = us;
}

static enum status
take_piece(void *context, struct slice bytes, struct reason *why)
{
    (void)why;
    return buf_append_slice(context, bytes);
}

/* Adds 1 for each IRI <...#vN> in the text, if they are all of one version; else returns false.
 * Texts of versions that came before the first replacement hold none. */
static bool
one_version(struct slice text, uint64_t *found)
{
    uint64_t version = 0;
    *found = 0;
    for (size_t at = 0; at + VERSION_MARK < text.length; at++) {
        if (text.at[at] != '#' || text.at[at + 1] != 'v') {
            continue;
        }
        char *end;
        const uint64_t number = strtoull(text.at + at + 2, &end, 10);
        if (number == 0 || *end != '>') {
            continue;
        }
        if (*found > 0 && number != version) {
            return false;
        }
        version = number;
        ++*found;
    }
    return true;
}

/* quads: in the answer when the document was replaced; 0: any number. */
static void
check(struct reader *reader, uint64_t quads)
{
    uint64_t found;
    const bool one = one_version(buf_slice(&reader->answer), &found);
    if (!one || (quads > 0 && found > 0 && found != quads)) {
        fprintf(stderr, "bench_incremental: a mixed graph:\n%.*s\n",
                SLICE_PRINT(buf_slice(&reader->answer)));
        atomic_fetch_add(&reader->bench->mixed, 1);
    }
}

static struct slice
some_document(struct reader *reader)
{
    const struct bench *bench = reader->bench;
    const size_t count = bench->sample.document_count;
    size_t i = sample_random(&reader->random) % count;
    if (sample_random(&reader->random) % 2 == 0) {
        const size_t batch = bench->settings.documents;
        const size_t at = atomic_load(&bench->at) + count - batch % count;
        i = bench->order[(at + sample_random(&reader->random) % (2 * batch)) % count];
    }
    return bench->sample.documents[i];
}

static enum status
ask_join(struct reader *reader, struct reason *why)
{
    const struct sample *sample = &reader->bench->sample;
    char query[QUERY_BYTES];
    int length;
    if (sample_random(&reader->random) % 2 == 0) {
        const struct slice uri = some_document(reader);
        length = snprintf(query, sizeof query,
                          "SELECT ?s ?t { GRAPH <%.*s> { ?s ?p ?o . ?t ?q ?o } } LIMIT 1000",
                          SLICE_PRINT(uri));
    } else {
        const struct quad *quad =
            &sample->quads[sample_random(&reader->random) % sample->quad_count];
        const struct quad *other =
            &sample->quads[sample_random(&reader->random) % sample->quad_count];
        length = snprintf(
            query, sizeof query, "SELECT ?o ?n { <%.*s> ?p ?o . ?o <%.*s> ?n } LIMIT 20",
            SLICE_PRINT(quad->subject.kind == TERM_IRI ? quad->subject.value : quad->graph.value),
            SLICE_PRINT(other->predicate.value));
    }
    if (length >= (int)sizeof query) {
        return STATUS_OK;
    }
    const struct index_query_options options = {.timeout_ms = 0};
    TRY(index_query(reader->client, slice_of(query, (size_t)length), "tsv", &options, take_piece,
                    &reader->answer, why));
    if (strncmp(query, "SELECT ?s", strlen("SELECT ?s")) == 0) {
        check(reader, 0);
    }
    return STATUS_OK;
}

static enum status
ask(struct reader *reader, enum question question, struct reason *why)
{
    const struct sample *sample = &reader->bench->sample;
    const struct quad *quad = &sample->quads[sample_random(&reader->random) % sample->quad_count];
    struct quad pattern = {.predicate = {.kind = TERM_NONE}};
    buf_reset(&reader->answer);
    switch (question) {
    case QUESTION_DOCUMENT:
        pattern.graph = term_iri(some_document(reader));
        TRY(index_pattern(reader->client, &pattern, 0, take_piece, &reader->answer, why));
        check(reader, reader->bench->settings.quads);
        return STATUS_OK;
    case QUESTION_SUBJECT:
        pattern.subject = quad->subject;
        return index_pattern(reader->client, &pattern, 100, take_piece, &reader->answer, why);
    case QUESTION_KEYWORD:
        return index_search(reader->client,
                            sample->words[sample_random(&reader->random) % sample->word_count], 10,
                            take_piece, &reader->answer, why);
    default:
        return ask_join(reader, why);
    }
}

static void *
read_on(void *argument)
{
    struct reader *reader = argument;
    struct reason why = {""};
    while (!atomic_load(&reader->bench->stop)) {
        const enum question question = (enum question)(sample_random(&reader->random) % QUESTIONS);
        const uint64_t start = clock_monotonic_us();
        must(ask(reader, question, &why), &why);
        add_time(&reader->times[question], clock_monotonic_us() - start);
    }
    return NULL;
}

static void
start_reader(struct bench *bench, struct reader *reader, unsigned number)
{
    struct reason why = {""};
    const char *const endpoints[] = {bench->endpoint};
    const struct index_client_options options = {
        .endpoints = endpoints, .count = 1, .name = "bench"};
    *reader = (struct reader){.bench = bench, .random = 0x9E3779B97F4A7C15u * (number + 1)};
    buf_init(&reader->answer, ANSWER_MAXIMUM);
    must(index_client_open(&reader->client, &options, &why), &why);
    if (pthread_create(&reader->thread, NULL, read_on, reader) != 0) {
        must(status_fail(&why, STATUS_SYSTEM, "cannot start a thread"), &why);
    }
}

/* ---- the writer ---- */

struct written {
    uint64_t documents, quads, batches, longest_us;
    uint64_t first_us, last_us; /* when the first and the last batch were durable */
};

static void
wait_until(uint64_t us)
{
    const uint64_t now = clock_monotonic_us();
    if (now < us) {
        const struct timespec pause = {.tv_sec = (time_t)((us - now) / 1000000),
                                       .tv_nsec = (long)((us - now) % 1000000) * 1000};
        (void)nanosleep(&pause, NULL);
    }
}

/* One batch, its documents coming in at the rate from `from_us` on. */
static void
write_batch(struct bench *bench, struct index_batch *batch, uint64_t version, uint64_t from_us,
            uint64_t *random, struct written *written)
{
    enum { PIECE = 100 };
    const struct settings *settings = &bench->settings;
    struct buf text;
    struct reason why = {""};
    size_t number;
    buf_init(&text, ANSWER_MAXIMUM);
    index_batch_reset(batch);
    for (size_t i = 0; i < settings->documents; i++) {
        if (settings->rate > 0 && i % PIECE == 0) {
            wait_until(from_us + i * 1000000 / settings->rate);
        }
        const size_t at = (atomic_load(&bench->at) + i) % bench->sample.document_count;
        const struct slice uri = bench->sample.documents[bench->order[at]];
        write_document(bench, uri, version, random, &text);
        const struct index_document document = {.uri = uri, .generation = version};
        must(index_batch_add(batch, &document, buf_slice(&text), &number, &why), &why);
    }
    buf_release(&text);
    const uint64_t start = clock_monotonic_us();
    must(index_batch_commit(batch, &why), &why);
    written->last_us = clock_monotonic_us();
    written->first_us = written->batches == 0 ? written->last_us : written->first_us;
    const uint64_t took = written->last_us - start;
    written->longest_us = took > written->longest_us ? took : written->longest_us;
    written->batches++;
    for (size_t i = 0; i < index_batch_documents(batch); i++) {
        const struct index_result *result = index_batch_result(batch, i);
        written->documents += result->outcome == DOCUMENT_CHANGED;
        written->quads += result->added + result->removed;
    }
}

static double
cpu_seconds(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void
write_on(struct bench *bench)
{
    const struct settings *settings = &bench->settings;
    struct written written = {0};
    struct index_batch *batch = index_batch_new(bench->partition);
    uint64_t random = 0x2545F4914F6CDD1Du;
    uint64_t version = clock_wall_ms(); /* after those of earlier runs */
    const double cpu = cpu_seconds(RUSAGE_SELF);
    const double own = cpu_seconds(RUSAGE_THREAD);
    const uint64_t start = clock_monotonic_us();
    while (clock_monotonic_us() - start < settings->seconds * 1000000) {
        const uint64_t due = settings->rate > 0
                                 ? written.batches * settings->documents * 1000000 / settings->rate
                                 : 0;
        write_batch(bench, batch, version++, start + due, &random, &written);
        atomic_store(&bench->at, (atomic_load(&bench->at) + settings->documents) %
                                     bench->sample.document_count);
    }
    const double seconds = (double)(written.last_us - start) / 1e6;
    /* From commit to commit; of a single batch from its first document on. */
    const double rate = written.batches > 1
                            ? (double)((written.batches - 1) * settings->documents) * 1e6 /
                                  (double)(written.last_us - written.first_us)
                            : (double)settings->documents / seconds;
    printf("replace  wanted_per_s=%llu documents_per_s=%.0f documents=%llu seconds=%.1f "
           "changes_per_document=%.1f writer_cpu_ms_per_document=%.3f longest_commit_ms=%.0f "
           "cpu_s=%.2f\n",
           (unsigned long long)settings->rate, rate, (unsigned long long)written.documents, seconds,
           (double)written.quads / (double)written.documents,
           (cpu_seconds(RUSAGE_THREAD) - own) * 1e3 / (double)written.documents,
           (double)written.longest_us / 1e3, cpu_seconds(RUSAGE_SELF) - cpu);
    index_batch_free(batch);
}

/* ---- the whole ---- */

static void
shuffle(struct bench *bench)
{
    const size_t count = bench->sample.document_count;
    uint64_t random = (uint64_t)clock_wall_ms() | 1;
    bench->order = memory_alloc(count * sizeof(*bench->order));
    for (size_t i = 0; i < count; i++) {
        const size_t other = sample_random(&random) % (i + 1);
        bench->order[i] = bench->order[other];
        bench->order[other] = (uint32_t)i;
    }
}

static void
report(struct reader *readers, size_t count, enum question question, const char *name,
       double seconds)
{
    struct times all = {0};
    for (size_t i = 0; i < count; i++) {
        for (enum question q = 0; q < QUESTIONS; q++) {
            for (size_t k = 0;
                 (q == question || question == QUESTIONS) && k < readers[i].times[q].count; k++) {
                add_time(&all, readers[i].times[q].us[k]);
            }
        }
    }
    printf("%-8s asked_per_s=%.0f p50_ms=%.2f p99_ms=%.2f p999_ms=%.2f max_ms=%.2f\n", name,
           (double)all.count / seconds, (double)sample_percentile(all.us, all.count, 0.5) / 1e3,
           (double)sample_percentile(all.us, all.count, 0.99) / 1e3,
           (double)sample_percentile(all.us, all.count, 0.999) / 1e3,
           (double)sample_percentile(all.us, all.count, 1) / 1e3);
    free(all.us);
}

static void
run(struct bench *bench)
{
    static struct reader readers[READERS_MOST];
    const size_t count = bench->settings.readers;
    for (unsigned i = 0; i < count; i++) {
        start_reader(bench, &readers[i], i);
    }
    const uint64_t start = clock_monotonic_us();
    write_on(bench);
    atomic_store(&bench->stop, true);
    for (size_t i = 0; i < count; i++) {
        pthread_join(readers[i].thread, NULL);
    }
    const double seconds = (double)(clock_monotonic_us() - start) / 1e6;
    for (enum question q = 0; q < QUESTIONS; q++) {
        report(readers, count, q, question_names[q], seconds);
    }
    report(readers, count, QUESTIONS, "readers", seconds);
    printf("mixed    graphs=%lu\n", atomic_load(&bench->mixed));
    for (size_t i = 0; i < count; i++) {
        index_client_close(readers[i].client);
        buf_release(&readers[i].answer);
        for (enum question q = 0; q < QUESTIONS; q++) {
            free(readers[i].times[q].us);
        }
    }
}

static void
set(struct settings *settings, const char *assignment)
{
    const struct {
        const char *name;
        uint64_t *value;
    } names[] = {{"rate=", &settings->rate},           {"seconds=", &settings->seconds},
                 {"documents=", &settings->documents}, {"quads=", &settings->quads},
                 {"readers=", &settings->readers},     {"cache=", &settings->cache},
                 {"blocks=", &settings->blocks},       {"threads=", &settings->threads}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const size_t length = strlen(names[i].name);
        if (strncmp(assignment, names[i].name, length) == 0) {
            *names[i].value = strtoull(assignment + length, NULL, 10);
        }
    }
}

static struct service *
serve(struct bench *bench, const char *folder, struct links *links)
{
    struct reason why = {""};
    struct service *service;
    struct service_options options = {.scratch_folder = folder, .links = links};
    const char *const endpoints[] = {bench->endpoint, NULL};
    options.endpoints = endpoints;
    options.query_threads = (unsigned)bench->settings.threads;
    options.cursors = READERS_MOST;
    options.query_timeout_ms = 60000;
    options.query_memory = 512 << 20;
    options.answer_bytes = ANSWER_MAXIMUM;
    options.sort_memory = 64 << 20;
    must(service_start(&service, bench->partition, &options, &why), &why);
    return service;
}

int
main(int argc, char **argv)
{
    enum { SAMPLED = 5000, EACH = 20 };
    static struct bench bench = {.settings = {.rate = 1000,
                                              .seconds = 30,
                                              .documents = 10000,
                                              .quads = 20,
                                              .readers = 8,
                                              .cache = 1024,
                                              .blocks = 64,
                                              .threads = 2}};
    if (argc < 2) {
        fputs("usage: bench_incremental FOLDER [name=value]...\n", stderr);
        return EXIT_MISUSE;
    }
    for (int i = 2; i < argc; i++) {
        set(&bench.settings, argv[i]);
    }
    struct reason why = {""};
    struct partition_options options;
    struct links *links;
    partition_options_default(&options, argv[1]);
    options.cache_bytes = bench.settings.cache << 20;
    options.block_memory = bench.settings.blocks << 20;
    must(partition_open(&bench.partition, &options, &why), &why);
    must(sample_take(&bench.sample, bench.partition, SAMPLED, EACH, &why), &why);
    must(links_open(&links, slice_string(links_default), &why), &why);
    make_statements(&bench);
    shuffle(&bench);
    char folder[BENCH_SCRATCH_SIZE];
    if (mkdtemp(bench_scratch(folder, "bench_incremental")) == NULL) {
        perror(folder);
        return EXIT_SYSTEM;
    }
    snprintf(bench.endpoint, sizeof bench.endpoint, "ipc://%s/socket", folder);
    struct service *service = serve(&bench, argv[1], links);
    run(&bench);
    service_stop(service);
    (void)unlink(bench.endpoint + strlen("ipc://"));
    (void)rmdir(folder);
    partition_close(bench.partition);
    links_close(links);
    for (size_t i = 0; i < bench.statement_count; i++) {
        free(bench.statements[i].text);
    }
    free(bench.statements);
    free(bench.order);
    sample_release(&bench.sample);
    return atomic_load(&bench.mixed) == 0 ? EXIT_DONE : EXIT_SYSTEM;
}
