/* The daemon in a child process, spoken to through the client: transcript, several owners,
 * restarts by kill -9 at random moments, refusals, a full disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "metastore/metastore_client.h"
#include "metastore/metastore_service.h"
#include "metastore/protocol.h"
#include "tests/unit/metastore/metastore_fixture.h"
#include "tests/unit/metastore/metastore_model.h"
#include "tests/unit/scratch.h"

enum { KEYS = 200, KILLS = 12, WAIT_MS = 60000 };

static char folder[SCRATCH_SIZE];

static int
setup(void **state)
{
    (void)state;
    return !scratch_folder(folder, "test_metastore");
}

static int
teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Names of the endpoints; each daemon has a folder of its own. */
static const char *
endpoint(int which)
{
    static char names[2][128];
    snprintf(names[which], sizeof names[which], "ipc://%s/socket%d", folder, which);
    return names[which];
}

static pid_t
daemon_start(int which, uint64_t disk_reserve)
{
    char store[128];
    snprintf(store, sizeof store, "%s/store%d", folder, which);
    return metastore_fixture_start(endpoint(which), store, disk_reserve);
}

static struct metastore_client *
client_open(size_t count, const uint16_t *owners)
{
    const char *endpoints[2] = {endpoint(0), endpoint(1)};
    const struct metastore_client_options options = {.endpoints = endpoints,
                                                     .endpoint_count = count,
                                                     .owner_of_partition = owners,
                                                     .name = "test"};
    struct metastore_client *client;
    struct reason why;
    assert_int_equal(metastore_client_open(&client, &options, &why), STATUS_OK);
    return client;
}

static void
turn(struct metastore_client *client, int most_ms)
{
    int descriptors[2];
    struct pollfd polls[2];
    const size_t n = metastore_descriptors(client, descriptors, 2);
    for (size_t i = 0; i < n; i++) {
        polls[i] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
    }
    metastore_process(client);
    const int wait = metastore_wait_ms(client);
    (void)poll(polls, n, wait < 0 || wait > most_ms ? most_ms : wait);
    metastore_process(client);
}

struct waited {
    bool done;
    enum status status;
    char why[REASON_SIZE];
};

static void
put_done(void *context, enum status status, const struct reason *why)
{
    struct waited *waited = context;
    waited->done = true;
    waited->status = status;
    snprintf(waited->why, sizeof waited->why, "%s", status == STATUS_OK ? "" : why->text);
}

static void
wait_for(struct metastore_client *client, const bool *done)
{
    const uint64_t until = clock_monotonic_ms() + WAIT_MS;
    while (!*done && clock_monotonic_ms() < until) {
        turn(client, 100);
    }
    assert_true(*done);
}

/* One field of one key. */
static enum status
put_number(struct metastore_client *client, const char *key, enum meta_field field, uint64_t value)
{
    struct meta_update update;
    meta_update_init(&update);
    meta_set_number(&update, field, value);
    const struct meta_put put = {slice_string(key), meta_update_fields(&update)};
    struct waited waited = {0};
    metastore_put(client, &put, 1, put_done, &waited);
    wait_for(client, &waited.done);
    meta_update_release(&update);
    return waited.status;
}

static uint64_t
get_number(struct metastore_client *client, const char *key, enum meta_field field)
{
    struct buf record;
    struct reason why = {""};
    uint64_t value = UINT64_MAX;
    buf_init(&record, 1 << 20);
    const enum status status =
        metastore_get_wait(client, slice_string(key), &record, WAIT_MS, &why);
    if (status == STATUS_OK) {
        (void)meta_record_number(buf_slice(&record), field, &value);
    } else {
        assert_int_equal(status, STATUS_NOT_FOUND);
    }
    buf_release(&record);
    return value;
}

static void
test_put_get_restart(void **state)
{
    (void)state;
    pid_t pid = daemon_start(0, 0);
    struct metastore_client *client = client_open(1, NULL);
    assert_int_equal(get_number(client, "uhttp://a.example/", META_HTTP_STATUS), UINT64_MAX);
    assert_int_equal(put_number(client, "uhttp://a.example/", META_HTTP_STATUS, 200), STATUS_OK);
    assert_int_equal(put_number(client, "uhttp://a.example/", META_GENERATION, 2), STATUS_OK);
    assert_int_equal(get_number(client, "uhttp://a.example/", META_HTTP_STATUS), 200);
    assert_int_equal(metastore_fixture_stop(pid, SIGTERM), 0);
    pid = daemon_start(0, 0);
    assert_int_equal(get_number(client, "uhttp://a.example/", META_HTTP_STATUS), 200);
    assert_int_equal(get_number(client, "uhttp://a.example/", META_GENERATION), 2);
    metastore_client_close(client);
    assert_int_equal(metastore_fixture_stop(pid, SIGTERM), 0);
}

struct got {
    bool done;
    enum status status;
    size_t found, n;
    uint64_t sum;
};

static void
got_records(void *context, enum status status, const struct slice *records, size_t n,
            const struct reason *why)
{
    (void)why;
    struct got *got = context;
    got->done = true;
    got->status = status;
    got->n = n;
    for (size_t i = 0; i < n; i++) {
        uint64_t value = 0;
        got->found += records[i].length > 0;
        if (meta_record_number(records[i], META_DEPTH, &value)) {
            assert_int_equal(value, i);
            got->sum += value;
        }
    }
}

static bool
count_ascending(void *context, struct slice key, struct slice record)
{
    struct {
        struct buf last;
        size_t count;
    } *seen = context;
    assert_true(meta_record_valid(record));
    assert_true(slice_compare(buf_slice(&seen->last), key) < 0);
    buf_reset(&seen->last);
    (void)buf_append_slice(&seen->last, key);
    seen->count++;
    return true;
}

/* Puts KEYS keys in one call, every second one is asked for with one that is not there. */
static void
batches(struct metastore_client *client)
{
    static char names[KEYS][48];
    static struct meta_update updates[KEYS];
    static struct meta_put puts[KEYS];
    struct slice keys[KEYS * 2];
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(names[i], sizeof names[i], "uhttp://host%zu.example/", i);
        meta_update_init(&updates[i]);
        meta_set_number(&updates[i], META_DEPTH, i * 2);
        puts[i] = (struct meta_put){slice_string(names[i]), meta_update_fields(&updates[i])};
        keys[i * 2] = slice_string(names[i]);
        keys[i * 2 + 1] = SLICE("uhttp://nothing.example/");
    }
    struct waited waited = {0};
    metastore_put(client, puts, KEYS, put_done, &waited);
    wait_for(client, &waited.done);
    assert_int_equal(waited.status, STATUS_OK);
    struct got got = {0};
    metastore_get(client, keys, KEYS * 2, got_records, &got);
    wait_for(client, &got.done);
    assert_int_equal(got.status, STATUS_OK);
    assert_int_equal(got.n, KEYS * 2);
    assert_int_equal(got.found, KEYS);
    assert_int_equal(got.sum, KEYS * (KEYS - 1));
    struct {
        struct buf last;
        size_t count;
    } seen = {.count = 0};
    buf_init(&seen.last, 10000);
    struct reason why = {""};
    assert_int_equal(metastore_scan(client, SLICE("uhttp://host"), slice_of(NULL, 0), 100000,
                                    count_ascending, &seen, WAIT_MS, &why),
                     STATUS_OK);
    assert_int_equal(seen.count, KEYS);
    seen.count = 0;
    buf_reset(&seen.last);
    assert_int_equal(metastore_scan(client, SLICE("u"), SLICE("uhttp://host198.example/"), 3,
                                    count_ascending, &seen, WAIT_MS, &why),
                     STATUS_OK);
    assert_int_equal(seen.count, 3); /* host199, host2, host20 */
    assert_true(slice_is(buf_slice(&seen.last), "uhttp://host20.example/"));
    buf_release(&seen.last);
    for (size_t i = 0; i < KEYS; i++) {
        meta_update_release(&updates[i]);
    }
}

static void
test_batches(void **state)
{
    (void)state;
    const pid_t pid = daemon_start(0, 0);
    struct metastore_client *client = client_open(1, NULL);
    batches(client);
    struct waited empty = {0};
    metastore_put(client, NULL, 0, put_done, &empty);
    assert_false(empty.done);
    wait_for(client, &empty.done);
    metastore_client_close(client);
    assert_int_equal(metastore_fixture_stop(pid, SIGTERM), 0);
}

static void
test_two_owners(void **state)
{
    (void)state;
    static uint16_t owners[PARTITIONS];
    for (size_t i = 0; i < PARTITIONS; i++) {
        owners[i] = i % 2;
    }
    const pid_t first = daemon_start(0, 0);
    const pid_t second = daemon_start(1, 0);
    struct metastore_client *client = client_open(2, owners);
    batches(client);
    struct reason why = {""};
    uint64_t written[2];
    for (size_t i = 0; i < 2; i++) {
        struct buf lines;
        buf_init(&lines, 10000);
        assert_int_equal(metastore_stats(client, i, &lines, WAIT_MS, &why), STATUS_OK);
        const char *line = strstr(lines.data, "records_written ");
        assert_non_null(line);
        written[i] = strtoull(line + strlen("records_written "), NULL, 10);
        buf_release(&lines);
    }
    /* URIs are counted by their partition, as all nodes know it. */
    uint64_t expected[2] = {0};
    for (size_t i = 0; i < KEYS; i++) {
        char uri[48];
        snprintf(uri, sizeof uri, "http://host%zu.example/", i);
        expected[partition_of(slice_string(uri)) % 2]++;
    }
    assert_int_equal(written[0], expected[0]);
    assert_int_equal(written[1], expected[1]);
    assert_true(expected[0] > 0 && expected[1] > 0);
    struct buf none;
    buf_init(&none, 100);
    assert_int_equal(metastore_stats(client, 2, &none, WAIT_MS, &why), STATUS_END);
    assert_string_equal(why.text, "there are 2 metastores");
    assert_int_equal(none.length, 0);
    buf_release(&none);
    metastore_client_close(client);
    assert_int_equal(metastore_fixture_stop(first, SIGTERM), 0);
    assert_int_equal(metastore_fixture_stop(second, SIGTERM), 0);
}

static uint64_t
stat_of(struct metastore_client *client, const char *name)
{
    struct buf lines;
    struct reason why;
    buf_init(&lines, 10000);
    assert_int_equal(metastore_stats(client, 0, &lines, WAIT_MS, &why), STATUS_OK);
    const char *line = strstr(lines.data, name);
    assert_non_null(line);
    const uint64_t value = strtoull(line + strlen(name), NULL, 10);
    buf_release(&lines);
    return value;
}

struct single {
    struct metastore_client *client;
    struct slice key;
    uint64_t depth; /* expected; UINT64_MAX: nothing is known of the key */
    enum status status;
    size_t *answered;
    struct single *then; /* asked by the callback; NULL: none */
};

static void
got_single(void *context, enum status status, const struct slice *records, size_t n,
           const struct reason *why)
{
    (void)why;
    struct single *single = context;
    uint64_t depth = UINT64_MAX;
    assert_int_equal(n, 1);
    assert_int_equal(status, single->status);
    (void)meta_record_number(records[0], META_DEPTH, &depth);
    assert_int_equal(depth, single->depth);
    ++*single->answered;
    if (single->then != NULL) {
        metastore_get(single->client, &single->then->key, 1, got_single, single->then);
    }
}

/* Gets of one key each, all at once, another by each callback: each gets its own answer, in few
 * messages, of which full ones are cut; a key that is none harms no other. names: `count` keys
 * whose records have their number as DEPTH. */
static void
gets_at_once(struct metastore_client *client, const struct slice *keys, size_t count)
{
    static struct single singles[2 * KEYS + 2];
    size_t answered = 0;
    const uint64_t before = stat_of(client, "get_requests ");
    assert_true(count <= KEYS);
    for (size_t i = 0; i < count; i++) {
        singles[i] = (struct single){.client = client,
                                     .key = keys[i],
                                     .depth = i,
                                     .answered = &answered,
                                     .then = &singles[count + i]};
        singles[count + i] = (struct single){
            .key = SLICE("uhttp://nothing.example/"), .depth = UINT64_MAX, .answered = &answered};
        metastore_get(client, &singles[i].key, 1, got_single, &singles[i]);
    }
    const uint64_t until = clock_monotonic_ms() + WAIT_MS;
    while (answered < 2 * count && clock_monotonic_ms() < until) {
        turn(client, 100);
    }
    assert_int_equal(answered, 2 * count);
    assert_true(stat_of(client, "get_requests ") - before < count / 2);
    singles[count / 2].key = SLICE("none");
    singles[count / 2].depth = UINT64_MAX;
    singles[count / 2].status = STATUS_PROTOCOL;
    for (size_t i = 0; i < count; i++) {
        singles[i].then = NULL;
        metastore_get(client, &singles[i].key, 1, got_single, &singles[i]);
    }
    while (answered < 3 * count && clock_monotonic_ms() < until) {
        turn(client, 100);
    }
    assert_int_equal(answered, 3 * count);
}

/* Large records: the reply to a get is cut and asked for again. */
static void
test_large_records(void **state)
{
    (void)state;
    enum { LARGE = 40, BODY = 500 << 10 };
    const pid_t pid = daemon_start(0, 0);
    struct metastore_client *client = client_open(1, NULL);
    static char body[BODY];
    memset(body, 'x', sizeof body);
    char names[LARGE][48];
    struct slice keys[LARGE];
    for (uint64_t i = 0; i < LARGE; i++) {
        struct meta_update update;
        meta_update_init(&update);
        meta_set_text(&update, META_ROBOTS_BODY, slice_of(body, sizeof body));
        meta_set_number(&update, META_DEPTH, i);
        snprintf(names[i], sizeof names[i], "hhttp://host%lu.example", (unsigned long)i);
        keys[i] = slice_string(names[i]);
        const struct meta_put put = {keys[i], meta_update_fields(&update)};
        struct waited waited = {0};
        metastore_put(client, &put, 1, put_done, &waited);
        wait_for(client, &waited.done);
        assert_int_equal(waited.status, STATUS_OK);
        meta_update_release(&update);
    }
    struct got got = {0};
    metastore_get(client, keys, LARGE, got_records, &got);
    wait_for(client, &got.done);
    assert_int_equal(got.status, STATUS_OK);
    assert_int_equal(got.found, LARGE);
    gets_at_once(client, keys, LARGE);
    metastore_client_close(client);
    assert_int_equal(metastore_fixture_stop(pid, SIGTERM), 0);
}

/* Every answered put is there, whatever was killed; unanswered ones are sent again. */
static void
test_kill_loses_nothing(void **state)
{
    (void)state;
    static uint64_t confirmed[KEYS];
    memset(confirmed, 0, sizeof confirmed);
    srand(4);
    pid_t pid = daemon_start(0, 0);
    struct metastore_client *client = client_open(1, NULL);
    char names[KEYS][48];
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(names[i], sizeof names[i], "uhttp://host%zu.example/", i);
    }
    uint64_t generation = 0;
    for (int kills = 0; kills < KILLS; kills++) {
        const uint64_t until = clock_monotonic_ms() + (uint64_t)(rand() % 120);
        while (clock_monotonic_ms() < until) {
            const size_t i = (size_t)rand() % KEYS;
            assert_int_equal(put_number(client, names[i], META_GENERATION, ++generation),
                             STATUS_OK);
            confirmed[i] = generation;
        }
        /* Killed with a put under way, which then must be answered by the next daemon. */
        const size_t i = (size_t)rand() % KEYS;
        struct meta_update update;
        meta_update_init(&update);
        meta_set_number(&update, META_GENERATION, ++generation);
        const struct meta_put put = {slice_string(names[i]), meta_update_fields(&update)};
        struct waited waited = {0};
        metastore_put(client, &put, 1, put_done, &waited);
        metastore_process(client);
        usleep((unsigned)(rand() % 3000));
        (void)metastore_fixture_stop(pid, SIGKILL);
        pid = daemon_start(0, 0);
        wait_for(client, &waited.done);
        assert_int_equal(waited.status, STATUS_OK);
        meta_update_release(&update);
        confirmed[i] = generation;
        for (size_t k = 0; k < KEYS; k++) {
            if (confirmed[k] != 0) {
                assert_int_equal(get_number(client, names[k], META_GENERATION), confirmed[k]);
            }
        }
    }
    metastore_client_close(client);
    assert_int_equal(metastore_fixture_stop(pid, SIGTERM), 0);
}

/* Killed while it starts, again and again, from the empty folder on. */
static void
test_kill_while_starting(void **state)
{
    (void)state;
    for (unsigned delay = 0; delay < 20; delay++) {
        const pid_t pid = fork();
        if (pid == 0) {
            log_open("test_metastore", LOG_LEVEL_ERROR, false);
            (void)daemon_start(0, 0);
            pause();
            _exit(0);
        }
        usleep(delay * 700);
        (void)metastore_fixture_stop(pid, SIGKILL); /* its child, the daemon, dies with it */
    }
    const pid_t pid = daemon_start(0, 0);
    struct metastore_client *client = client_open(1, NULL);
    assert_int_equal(put_number(client, "uhttp://a.example/", META_DEPTH, 1), STATUS_OK);
    metastore_client_close(client);
    assert_int_equal(metastore_fixture_stop(pid, SIGTERM), 0);
}

/* The dictionary that packed records need is there after a kill, too. */
static void
test_packed_records_survive_kills(void **state)
{
    (void)state;
    enum { RECORDS = 1000 };
    pid_t pid = daemon_start(0, 0);
    struct metastore_client *client = client_open(1, NULL);
    static char headers[400];
    memset(headers, 'h', sizeof headers);
    char names[RECORDS][48];
    for (uint64_t i = 0; i < RECORDS; i++) {
        struct meta_update update;
        meta_update_init(&update);
        meta_set_number(&update, META_DEPTH, i);
        meta_set_text(&update, META_REQUEST_HEADERS, slice_of(headers, sizeof headers));
        snprintf(names[i], sizeof names[i], "uhttp://host%lu.example/", (unsigned long)i);
        const struct meta_put put = {slice_string(names[i]), meta_update_fields(&update)};
        struct waited waited = {0};
        metastore_put(client, &put, 1, put_done, &waited);
        wait_for(client, &waited.done);
        assert_int_equal(waited.status, STATUS_OK);
        meta_update_release(&update);
    }
    for (int kill = 0; kill < 2; kill++) {
        assert_int_equal(stat_of(client, "dictionaries "), 1);
        (void)metastore_fixture_stop(pid, SIGKILL);
        pid = daemon_start(0, 0);
        for (uint64_t i = 0; i < RECORDS; i += 7) {
            assert_int_equal(get_number(client, names[i], META_DEPTH), i);
        }
    }
    metastore_client_close(client);
    assert_int_equal(metastore_fixture_stop(pid, SIGTERM), 0);
}

/* A value that is not packed; and a dictionary that is damaged. */
static void
test_plain_values_and_damage(void **state)
{
    (void)state;
    char place[128];
    snprintf(place, sizeof place, "%s/store0", folder);
    const struct meta_store_options options = {
        .folder = place, .cache_bytes = 4 << 20, .checkpoint_bytes = 1 << 20, .checkpoint_ms = 50};
    struct meta_store *store;
    struct reason why;
    assert_int_equal(meta_store_open(&store, &options, &why), STATUS_OK);
    const struct meta_pair plain = {SLICE("uhttp://a.example/"), SLICE("\x01\x10\x07")};
    assert_int_equal(meta_store_put(store, &plain, 1, &why), STATUS_OK);
    meta_store_close(store);
    const pid_t pid = daemon_start(0, 0);
    struct metastore_client *client = client_open(1, NULL);
    assert_int_equal(get_number(client, "uhttp://a.example/", META_DEPTH), 7);
    metastore_client_close(client);
    assert_int_equal(metastore_fixture_stop(pid, SIGTERM), 0);

    assert_int_equal(meta_store_open(&store, &options, &why), STATUS_OK);
    const struct meta_pair second = {SLICE("mdictionary\x02"), SLICE("without a first")};
    assert_int_equal(meta_store_put(store, &second, 1, &why), STATUS_OK);
    struct meta_service *service;
    assert_int_equal(meta_service_open(&service, store, NULL, &why), STATUS_CORRUPT);
    assert_null(service);
    meta_store_close(store);
}

static void
test_full_disk_refuses_puts_only(void **state)
{
    (void)state;
    pid_t pid = daemon_start(0, 0);
    struct metastore_client *client = client_open(1, NULL);
    assert_int_equal(put_number(client, "uhttp://a.example/", META_DEPTH, 7), STATUS_OK);
    assert_int_equal(metastore_fixture_stop(pid, SIGTERM), 0);
    pid = daemon_start(0, 1ULL << 60);
    assert_int_equal(put_number(client, "uhttp://a.example/", META_DEPTH, 1), STATUS_FULL);
    assert_int_equal(get_number(client, "uhttp://a.example/", META_DEPTH), 7);
    metastore_client_close(client);
    assert_int_equal(metastore_fixture_stop(pid, SIGTERM), 0);
}

static void
test_malformed_requests_are_refused(void **state)
{
    (void)state;
    const struct {
        uint8_t verb;
        struct slice payload;
    } cases[] = {{METASTORE_PUT, SLICE("")},
                 {METASTORE_PUT, SLICE("\x01")},
                 {METASTORE_PUT, SLICE("\x01\x02ua\x01\x07")},
                 {METASTORE_PUT, SLICE("\x01\x06mepoch\x00")},
                 {METASTORE_PUT, SLICE("\x01\x02ua\x02\x10\x01+")},
                 {METASTORE_PUT, SLICE("\xff\xff\xff\xff\xff\x01")},
                 {METASTORE_GET, SLICE("\x02\x02ua")},
                 {METASTORE_GET, SLICE("\x01\x06mepoch")},
                 {METASTORE_SCAN, SLICE("")},
                 {METASTORE_SCAN, SLICE("\x01m\x00\x01")},
                 {METASTORE_STATS, SLICE("x")},
                 {99, SLICE("")}};
    const pid_t pid = daemon_start(0, 0);
    struct rpc_client *rpc;
    struct reason why;
    const struct rpc_client_options options = {.endpoint = endpoint(0), .name = "test"};
    assert_int_equal(rpc_client_open(&rpc, &options, &why), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        why.text[0] = 0;
        assert_int_equal(rpc_call(rpc, cases[i].verb, cases[i].payload, WAIT_MS, NULL, &why),
                         STATUS_PROTOCOL);
        assert_true(strlen(why.text) > 0);
    }
    assert_int_equal(
        rpc_call(rpc, METASTORE_PUT, SLICE("\x01\x02ua\x02\x10\x01"), WAIT_MS, NULL, &why),
        STATUS_OK);
    rpc_client_close(rpc);
    assert_int_equal(metastore_fixture_stop(pid, SIGTERM), 0);
}

static void
test_epoch_grows_and_a_second_owner_is_refused(void **state)
{
    (void)state;
    const struct meta_store_options options = {
        .folder = folder, .cache_bytes = 4 << 20, .checkpoint_bytes = 1 << 20, .checkpoint_ms = 50};
    struct meta_store *store;
    struct reason why;
    assert_int_equal(meta_store_open(&store, &options, &why), STATUS_OK);
    const uint64_t epoch = meta_store_epoch(store);
    meta_store_close(store);
    assert_int_equal(meta_store_open(&store, &options, &why), STATUS_OK);
    assert_int_equal(meta_store_epoch(store), epoch + 1);
    struct meta_store *second;
    assert_int_equal(meta_store_open(&second, &options, &why), STATUS_DENIED); /* held */
    meta_store_close(store);
}

/* A daemon that cannot listen says so at once, and leaves the store to the next. */
static void
test_a_daemon_that_cannot_listen_ends(void **state)
{
    char store[128], nowhere[160];
    sigset_t before;
    (void)state;
    snprintf(store, sizeof store, "%s/store0", folder);
    snprintf(nowhere, sizeof nowhere, "ipc://%s/none/socket", folder);
    const char *const endpoints[] = {nowhere, NULL};
    const struct meta_daemon_options options = {.store = {.folder = store,
                                                          .cache_bytes = 4 << 20,
                                                          .checkpoint_bytes = 1 << 20,
                                                          .checkpoint_ms = 50},
                                                .endpoints = endpoints,
                                                .ready_descriptor = -1};
    assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &before), 0);
    for (int i = 0; i < 2; i++) {
        struct reason why = {""};
        assert_int_equal(meta_daemon_run(&options, &why), STATUS_SYSTEM);
        assert_non_null(strstr(why.text, nowhere));
    }
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(int argc, char **argv)
{
    int exit_code;
    if (metastore_fixture_serves(argc, argv, &exit_code)) {
        return exit_code;
    }
    const struct CMUnitTest tests[] = {
        TEST(test_put_get_restart),
        TEST(test_batches),
        TEST(test_two_owners),
        TEST(test_large_records),
        TEST(test_kill_loses_nothing),
        TEST(test_kill_while_starting),
        TEST(test_packed_records_survive_kills),
        TEST(test_plain_values_and_damage),
        TEST(test_full_disk_refuses_puts_only),
        TEST(test_malformed_requests_are_refused),
        TEST(test_epoch_grows_and_a_second_owner_is_refused),
        TEST(test_a_daemon_that_cannot_listen_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + metastore_model_run() +
           metastore_faults_run() + metastore_turns_run();
}
