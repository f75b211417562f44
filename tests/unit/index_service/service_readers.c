/* Readers beside writers, and beside each other. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "index/protocol/service_protocol.h"
#include "tests/unit/index_service/service_world.h"

/* ---- a reader never sees a document half replaced ---- */

struct race {
    struct partition *partition;
    bool stop;
    pthread_mutex_t mutex;
    atomic_uint_fast64_t looks;
};

static bool
stopped(struct race *race)
{
    pthread_mutex_lock(&race->mutex);
    const bool stop = race->stop;
    pthread_mutex_unlock(&race->mutex);
    return stop;
}

/* All objects of a document's graph carry the number of its version. */
static void *
look(void *argument)
{
    struct race *race = argument;
    struct reason why = {""};
    struct partition_reader *reader;
    must(partition_reader_open(&reader, race->partition, &why), &why);
    const struct quad_source *source = partition_reader_source(reader);
    while (!stopped(race)) {
        partition_reader_renew(reader);
        const struct term graph = term_iri(SLICE("http://host0.example/document/0"));
        struct quad_oids pattern = {0};
        struct quad_scan *scan;
        must(source->lookup(source->context, &graph, &pattern.graph, &why), &why);
        if (pattern.graph == OID_NONE) {
            continue;
        }
        for (int half = 0; half < 2; half++) {
            struct quad_oids row;
            oid object = OID_NONE;
            size_t count = 0;
            must(source->scan(source->context, &pattern, half ? ORDER_CPOS : ORDER_CSPO, &scan,
                              &why),
                 &why);
            for (size_t n = 1; n > 0; count += n) {
                must(source->scan_next(scan, &row, 1, &n, &why), &why);
                if (n > 0) {
                    object = object ? object : row.object;
                    assert_true(object == row.object);
                }
                if (count % 37 == 0) {
                    usleep(10);
                }
            }
            source->scan_close(scan);
            assert_true(count == 0 || count == 500);
        }
        race->looks++;
    }
    partition_reader_close(reader);
    return NULL;
}

void
readers_see_old_or_new_never_a_mixture(void **state)
{
    (void)state;
    char where[SCRATCH_SIZE + 32];
    snprintf(where, sizeof(where), "%s/race", service_folder);
    struct race race = {.partition = fixture_open(where, 4 << 20)};
    pthread_mutex_init(&race.mutex, NULL);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, look, &race);
    }
    struct index_batch *batch = index_batch_new(race.partition);
    struct reason why = {""};
    for (unsigned version = 1; version <= 60; version++) {
        struct buf text;
        buf_init(&text, 1 << 22);
        for (int i = 0; i < 500; i++) {
            (void)buf_printf(&text, "<http://s/%d> <http://p/%d> \"version %u\" <http://g/> .\n", i,
                             i % 7, version);
        }
        index_batch_reset(batch);
        fixture_add(batch, 0, version, &text);
        for (unsigned other = 1; other < 30; other++) {
            struct buf noise;
            buf_init(&noise, 1 << 20);
            fixture_document(other, 30, &noise);
            fixture_add(batch, other, version, &noise);
            buf_release(&noise);
        }
        must(index_batch_commit(batch, &why), &why);
        buf_release(&text);
    }
    pthread_mutex_lock(&race.mutex);
    race.stop = true;
    pthread_mutex_unlock(&race.mutex);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    print_message("%lu looks\n", (unsigned long)atomic_load(&race.looks));
    assert_true(atomic_load(&race.looks) > 0);
    fixture_verify(race.partition, where);
    index_batch_free(batch);
    partition_close(race.partition);
    pthread_mutex_destroy(&race.mutex);
}

/* ---- cursors that nobody reads ---- */

/* Whoever opens all there are, and reads none to its end, keeps nobody else out. */
void
unread_cursors_make_way(void **state)
{
    (void)state;
    struct service_world world;
    struct rpc_client *hoarder;
    struct reason why = {""};
    struct buf out;
    enum status status = STATUS_LIMIT;
    service_world_start(&world, 1);
    buf_init(&out, SERVICE_ANSWER);
    const struct rpc_client_options options = {.endpoint = world.endpoints[0], .name = "hoarder"};
    must(rpc_client_open(&hoarder, &options, &why), &why);
    const char dump[] = {INDEX_STREAM_DUMP, 0};
    for (int i = 0; i < 64; i++) {
        buf_reset(&out);
        must(rpc_call(hoarder, INDEX_VERB_OPEN, slice_of(dump, sizeof dump), 60000, &out, &why),
             &why);
        assert_int_equal(out.data[0], 0); /* there is more of it */
    }
    const uint64_t until = clock_monotonic_ms() + 30000; /* half of when they are dropped anyway */
    while (status != STATUS_OK && clock_monotonic_ms() < until) {
        buf_reset(&out);
        status = index_query(world.client, SLICE("SELECT * { ?s ?p ?o } LIMIT 3"), "csv",
                             &(struct index_query_options){0}, fixture_append, &out, &why);
        assert_true(status == STATUS_OK || strstr(why.text, "too many answers") != NULL);
    }
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(service_lines(&out), 4);
    rpc_client_close(hoarder);
    buf_release(&out);
    service_world_stop(&world);
}

/* ---- long queries, and short ones beside them ---- */

enum { LONG_QUERIES = 7 };

static atomic_uint long_ended;
static atomic_bool long_cancelled;

static void *
ask_at_length(void *argument)
{
    const char *const endpoints[] = {argument};
    const struct index_client_options options = {
        .endpoints = endpoints, .count = 1, .name = "long"};
    const struct index_query_options how = {.timeout_ms = 600000};
    struct index_client *client;
    struct reason why = {""};
    struct buf out;
    buf_init(&out, SERVICE_ANSWER);
    must(index_client_open(&client, &options, &why), &why);
    index_client_manner(client, INDEX_PARTIAL_ERROR, &long_cancelled);
    (void)index_query(client,
                      SLICE("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l "
                            "FILTER(?c > ?i && ?f > ?l) }"),
                      "csv", &how, fixture_append, &out, &why);
    (void)atomic_fetch_add(&long_ended, 1);
    index_client_close(client);
    buf_release(&out);
    return NULL;
}

static uint64_t
process_cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* More long ones than may run at a time are under way, and all of them still are when the short
 * ones of another client and of the same have been answered. */
void
short_queries_pass_long_ones(void **state)
{
    (void)state;
    struct service_world world;
    struct buf out;
    pthread_t threads[LONG_QUERIES];
    service_world_start(&world, 1);
    buf_init(&out, SERVICE_ANSWER);
    atomic_store(&long_ended, 0);
    atomic_store(&long_cancelled, false);
    const uint64_t before = process_cpu_ms();
    for (size_t i = 0; i < LONG_QUERIES; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_at_length, world.endpoints[0]), 0);
    }
    while (process_cpu_ms() - before < 300) {
        (void)poll(NULL, 0, 10);
    }
    for (int i = 0; i < 10; i++) {
        service_world_query(&world, "SELECT (COUNT(*) AS ?n) { <http://s.example/a> ?p ?o }", "csv",
                            &out);
        assert_string_equal(out.data, "n\r\n5\r\n");
        struct quad pattern = {0};
        struct reason why = {""};
        buf_reset(&out);
        must(index_pattern(world.client, &pattern, 5, fixture_append, &out, &why), &why);
        assert_int_equal(service_lines(&out), 5);
    }
    assert_int_equal(atomic_load(&long_ended), 0);
    atomic_store(&long_cancelled, true);
    for (size_t i = 0; i < LONG_QUERIES; i++) {
        pthread_join(threads[i], NULL);
    }
    buf_release(&out);
    service_world_stop(&world);
}
