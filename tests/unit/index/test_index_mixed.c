/* Readers look for a graph that is mixed of two versions while every document is replaced over and
 * over and the index is killed in between: through patterns and through SPARQL, with one partition
 * and with three, each a process of its own (this program, started with arguments).
 *
 * A version of a document is QUADS quads whose object is the version's number. So an answer about
 * one graph has one number; a reader never sees a number go back, since what is seen is durable;
 * and as a batch replaces all documents of a partition, all of them have one number at a time. */
#include "tests/unit/index/index_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/log.h"
#include "index/client/index_client.h"
#include "index/serve/index_service.h"
#include "tests/unit/scratch.h"

enum { PARTITIONS_MOST = 3, DOCUMENTS = 60, QUADS = 6, READERS = 3, KILLS = 5 };
enum { LIFE_MS = 350, CLIENT_MS = 5000, PATIENCE_MS = 60000, ANSWER = 1 << 24 };

extern char **environ;
static char *program;
static char folder[SCRATCH_SIZE];

/* ---- a partition's process ---- */

static bool
is_of(unsigned document, size_t partition, size_t partitions)
{
    char uri[64];
    fixture_uri(document, uri);
    return (size_t)partition_of(slice_string(uri)) * partitions / PARTITIONS == partition;
}

static void
write_version(struct index_batch *batch, unsigned document, uint64_t version)
{
    char uri[64];
    struct buf text;
    fixture_uri(document, uri);
    buf_init(&text, 1 << 16);
    for (unsigned i = 0; i < QUADS; i++) {
        (void)buf_printf(&text,
                         "<%s> <http://p.example/%u> "
                         "\"%llu\"^^<http://www.w3.org/2001/XMLSchema#integer> <%s> .\n",
                         uri, i, (unsigned long long)version, uri);
    }
    fixture_add(batch, document, version, &text);
    buf_release(&text);
}

static uint64_t
last_version(struct partition *partition)
{
    struct partition_reader *reader;
    struct reason why = {""};
    oid graph = OID_NONE;
    struct document_entry entry = {.generation = 0};
    must(partition_reader_open(&reader, partition, &why), &why);
    (void)partition_reader_document(reader, &graph, &entry, &why);
    partition_reader_close(reader);
    return entry.generation;
}

/* Writes versions until it is killed. */
static int
serve(const char *own_folder, const char *endpoint, size_t number, size_t count)
{
    struct reason why = {""};
    struct service *service;
    const char *const endpoints[] = {endpoint, NULL};
    const struct service_options options = {.endpoints = endpoints,
                                            .scratch_folder = own_folder,
                                            .query_threads = 2,
                                            .cursors = 32,
                                            .query_timeout_ms = 10000,
                                            .query_memory = 64 << 20,
                                            .answer_bytes = ANSWER,
                                            .sort_memory = 1 << 20};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    log_open("test", LOG_LEVEL_ERROR, false);
    struct partition *partition = fixture_open(own_folder, 1 << 20);
    uint64_t version = last_version(partition);
    must(service_start(&service, partition, &options, &why), &why);
    struct index_batch *batch = index_batch_new(partition);
    for (;;) {
        version++;
        index_batch_reset(batch);
        for (unsigned i = 0; i < DOCUMENTS; i++) {
            if (is_of(i, number, count)) {
                write_version(batch, i, version);
            }
        }
        if (index_batch_commit(batch, &why) != STATUS_OK) {
            return EXIT_SYSTEM;
        }
    }
}

/* ---- readers ---- */

struct world {
    size_t count;
    pid_t processes[PARTITIONS_MOST];
    char folders[PARTITIONS_MOST][SCRATCH_SIZE + 44], endpoints[PARTITIONS_MOST][SCRATCH_SIZE + 56];
    _Atomic uint64_t newest; /* version that was seen */
    atomic_bool stop;
};

struct reader {
    struct world *world;
    pthread_t thread;
    struct index_client *client;
    uint64_t random;
    struct buf answer;
    uint64_t seen[DOCUMENTS], answers, refused;
    char fault[512]; /* empty: none */
};

static uint64_t
next_random(struct reader *reader)
{
    reader->random ^= reader->random << 13;
    reader->random ^= reader->random >> 7;
    reader->random ^= reader->random << 17;
    return reader->random;
}

static void
fault(struct reader *reader, const char *what, unsigned document)
{
    if (reader->fault[0] == '\0') {
        snprintf(reader->fault, sizeof(reader->fault), "%s (document %u):\n%.300s", what, document,
                 reader->answer.data);
    }
}

/* The one number of an answer of `lines` lines, each with a number after every `mark`; 0 and a
 * fault when it is another. Before the first batch the answer is empty: 0. */
static uint64_t
only_version(struct reader *reader, const char *mark, unsigned numbers, unsigned document)
{
    uint64_t version = 0;
    unsigned found = 0;
    const char *answer = reader->answer.data;
    for (const char *at = answer ? strstr(answer, mark) : NULL; at != NULL; at = strstr(at, mark)) {
        at += strlen(mark);
        if (*at < '0' || *at > '9') {
            continue;
        }
        const uint64_t number = strtoull(at, NULL, 10);
        if (found++ > 0 && number != version) {
            fault(reader, "a mixed graph", document);
            return 0;
        }
        version = number;
    }
    if (found != numbers && found != 0) {
        fault(reader, "a part of a graph", document);
        return 0;
    }
    return version;
}

static void
notice(struct reader *reader, unsigned document, uint64_t version)
{
    if (version < reader->seen[document] && reader->fault[0] == '\0') {
        fault(reader, "a version went back", document);
    }
    reader->seen[document] = version;
    if (version > atomic_load(&reader->world->newest)) { /* two readers at once: one of theirs */
        atomic_store(&reader->world->newest, version);
    }
}

static enum status
query(struct reader *reader, const char *text, struct reason *why)
{
    const struct index_query_options options = {.timeout_ms = CLIENT_MS};
    return index_query(reader->client, slice_string(text), "tsv", &options, fixture_append,
                       &reader->answer, why);
}

static enum status
read_graph(struct reader *reader, unsigned document, struct reason *why)
{
    char uri[64];
    fixture_uri(document, uri);
    const struct quad pattern = {.graph = term_iri(slice_string(uri))};
    TRY(index_pattern(reader->client, &pattern, 0, fixture_append, &reader->answer, why));
    notice(reader, document, only_version(reader, "> \"", QUADS, document));
    return STATUS_OK;
}

static enum status
join_in_graph(struct reader *reader, unsigned document, struct reason *why)
{
    char uri[64], text[512];
    fixture_uri(document, uri);
    snprintf(text, sizeof(text),
             "SELECT ?a ?b { GRAPH <%s> { ?s <http://p.example/1> ?a ; <http://p.example/4> ?b } }",
             uri);
    TRY(query(reader, text, why));
    for (char *tab = reader->answer.data; tab && (tab = strpbrk(tab, "\t\n")) != NULL; tab++) {
        *tab = '#';
    }
    notice(reader, document, only_version(reader, "#", 2, document));
    return STATUS_OK;
}

/* Every graph gives one distinct number, as often as it has quads. */
static enum status
count_in_graphs(struct reader *reader, struct reason *why)
{
    TRY(query(reader,
              "SELECT ?g (COUNT(DISTINCT ?v) AS ?n) (COUNT(*) AS ?m) { GRAPH ?g { ?s ?p ?v } } "
              "GROUP BY ?g HAVING (COUNT(DISTINCT ?v) != 1 || COUNT(*) != 6)",
              why));
    if (strchr(reader->answer.data, '>') != NULL) {
        fault(reader, "graphs mixed or in part", 0);
    }
    return STATUS_OK;
}

/* All graphs of the only partition. */
static enum status
read_all(struct reader *reader, struct reason *why)
{
    const struct quad any = {.predicate = {.kind = TERM_NONE}};
    TRY(index_pattern(reader->client, &any, 0, fixture_append, &reader->answer, why));
    const uint64_t version = only_version(reader, "> \"", QUADS * DOCUMENTS, 0);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        notice(reader, i, version);
    }
    return STATUS_OK;
}

static void *
read_on(void *argument)
{
    struct reader *reader = argument;
    while (!atomic_load(&reader->world->stop) && reader->fault[0] == '\0') {
        struct reason why = {""};
        const unsigned document = (unsigned)(next_random(reader) % DOCUMENTS);
        enum status status;
        buf_reset(&reader->answer);
        (void)buf_append_string(&reader->answer, "");
        switch (next_random(reader) % 8) {
        case 0:
            status = count_in_graphs(reader, &why);
            break;
        case 1:
            status = reader->world->count == 1 ? read_all(reader, &why)
                                               : read_graph(reader, document, &why);
            break;
        case 2:
        case 3:
        case 4:
            status = join_in_graph(reader, document, &why);
            break;
        default:
            status = read_graph(reader, document, &why);
            break;
        }
        /* The index may have been killed meanwhile. */
        reader->answers += status == STATUS_OK;
        reader->refused += status != STATUS_OK;
    }
    return NULL;
}

/* ---- the whole ---- */

static void
start_partition(struct world *world, size_t i)
{
    char number[24], count[24];
    snprintf(number, sizeof(number), "%zu", i);
    snprintf(count, sizeof(count), "%zu", world->count);
    char *const arguments[] = {program, world->folders[i], world->endpoints[i], number, count,
                               NULL};
    assert_int_equal(posix_spawn(&world->processes[i], program, NULL, NULL, arguments, environ), 0);
}

static void
kill_partition(struct world *world, size_t i)
{
    int result;
    assert_int_equal(kill(world->processes[i], SIGKILL), 0);
    assert_int_equal(waitpid(world->processes[i], &result, 0), world->processes[i]);
    if (!WIFSIGNALED(result)) {
        fail_msg("a partition ended by itself with %d", WEXITSTATUS(result));
    }
}

static void
start_reader(struct reader *reader, struct world *world, unsigned number)
{
    struct reason why = {""};
    const char *endpoints[PARTITIONS_MOST];
    for (size_t i = 0; i < world->count; i++) {
        endpoints[i] = world->endpoints[i];
    }
    const struct index_client_options options = {
        .endpoints = endpoints, .count = world->count, .name = "test", .timeout_ms = CLIENT_MS};
    *reader = (struct reader){.world = world, .random = 0x9E3779B97F4A7C15u * (number + 1)};
    buf_init(&reader->answer, ANSWER);
    must(index_client_open(&reader->client, &options, &why), &why);
    assert_int_equal(pthread_create(&reader->thread, NULL, read_on, reader), 0);
}

/* Reads for a while, and until a version was seen that is newer than those before. */
static void
live(struct world *world, unsigned ms)
{
    const uint64_t newest = atomic_load(&world->newest), until = clock_monotonic_ms() + PATIENCE_MS;
    const struct timespec pause = {.tv_nsec = 5000000}, life = {.tv_nsec = ms * 1000000L};
    (void)nanosleep(&life, NULL);
    while (atomic_load(&world->newest) == newest && clock_monotonic_ms() < until) {
        (void)nanosleep(&pause, NULL);
    }
}

static void
look_for_mixed_graphs(size_t count)
{
    static struct reader readers[READERS];
    struct world world = {.count = count};
    for (size_t i = 0; i < count; i++) {
        snprintf(world.folders[i], sizeof(world.folders[i]), "%s/%zu-%zu", folder, count, i);
        snprintf(world.endpoints[i], sizeof(world.endpoints[i]), "ipc://%s.sock", world.folders[i]);
        start_partition(&world, i);
    }
    for (unsigned i = 0; i < READERS; i++) {
        start_reader(&readers[i], &world, i);
    }
    for (unsigned n = 0; n < KILLS; n++) {
        live(&world, LIFE_MS + 37 * n);
        const size_t one = n % count; /* the others go on */
        kill_partition(&world, one);
        start_partition(&world, one);
    }
    live(&world, LIFE_MS);
    atomic_store(&world.stop, true);
    uint64_t answers = 0, versions = 0;
    for (unsigned i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        index_client_close(readers[i].client);
        buf_release(&readers[i].answer);
        answers += readers[i].answers;
        for (unsigned d = 0; d < DOCUMENTS; d++) {
            versions = readers[i].seen[d] > versions ? readers[i].seen[d] : versions;
        }
    }
    for (size_t i = 0; i < count; i++) {
        kill_partition(&world, i);
        struct partition *partition = fixture_open(world.folders[i], 1 << 20);
        fixture_verify(partition, folder);
        partition_close(partition);
    }
    for (unsigned i = 0; i < READERS; i++) {
        if (readers[i].fault[0] != '\0') {
            fail_msg("%s", readers[i].fault);
        }
    }
    print_message("%llu answers of up to %llu versions\n", (unsigned long long)answers,
                  (unsigned long long)versions);
    assert_true(answers > READERS && versions > KILLS);
}

static void
one_partition_never_shows_a_mixed_graph(void **state)
{
    (void)state;
    look_for_mixed_graphs(1);
}

static void
three_partitions_never_show_a_mixed_graph(void **state)
{
    (void)state;
    look_for_mixed_graphs(3);
}

static int
make_folder(void **state)
{
    (void)state;
    return !scratch_folder(folder, "test_index_mixed");
}

static int
remove_folder(void **state)
{
    (void)state;
    fixture_run("rm -r %s%s", folder, "");
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc == 5) {
        return serve(argv[1], argv[2], strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
    }
    program = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_partition_never_shows_a_mixed_graph),
        cmocka_unit_test(three_partitions_never_show_a_mixed_graph),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
