/* The parts of the queue, each alone: map, sorted map, lanes, seen, cluster, job records, batches,
 * store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "queue/client/job.h"
#include "queue/client/message.h"
#include "queue/cluster/cluster.h"
#include "queue/frontier/seen.h"
#include "queue/politeness/lanes.h"
#include "queue/storage/run_filter.h"
#include "queue/storage/sorted_map.h"
#include "queue/storage/store_batch.h"
#include "tests/unit/brief.h"
#include "tests/unit/queue/queue_suites.h"
#include "tests/unit/scratch.h"

/* ---- sorted map ---- */

/* Keys as those of fetch jobs: many begin alike, in and across nodes, and smaller ones come late.
 */
static void
test_ordered_against_an_array(void **state)
{
    enum { KEYS = 8192, STEPS = 60000, KEY = 12 };
    static char keys[KEYS][KEY];
    static int expected[KEYS];
    struct ordered map;
    unsigned seed = 3;
    size_t present = 0;
    (void)state;
    for (int i = 0; i < KEYS; i++) {
        memset(keys[i], 0, KEY);
        keys[i][0] = (char)(i % 11);
        keys[i][9] = (char)(i % 7);
        keys[i][10] = (char)(i >> 8);
        keys[i][11] = (char)i;
        expected[i] = -1;
    }
    ordered_init(&map);
    for (int step = 0; step < (int)brief(STEPS, STEPS / 4); step++) {
        const int i = rand_r(&seed) % KEYS;
        present += expected[i] < 0;
        expected[i] = step;
        ordered_put(&map, slice_of(keys[i], KEY), slice_of((char *)&step, sizeof step),
                    step % 3 == 0);
        const int look = rand_r(&seed) % KEYS;
        const struct ordered_record *found = ordered_find(&map, slice_of(keys[look], KEY));
        assert_int_equal(found == NULL, expected[look] < 0);
        if (found != NULL) {
            assert_memory_equal(ordered_value(found).at, &expected[look], sizeof(int));
            assert_int_equal(found->removed, expected[look] % 3 == 0);
        }
    }
    const struct ordered_record *last = NULL;
    size_t count = 0;
    for (struct ordered_cursor at = ordered_seek(&map, SLICE("")); at.record != NULL;
         ordered_next(&at), count++) {
        assert_true(last == NULL || slice_compare(ordered_key(last), ordered_key(at.record)) < 0);
        last = at.record;
    }
    assert_int_equal(count, present);
    assert_int_equal(map.count, present);
    ordered_release(&map);
}

/* ---- lanes ---- */

static bool
next(struct lanes *lanes, uint64_t now, uint64_t *lane)
{
    bool known;
    return lanes_next(lanes, now, lane, &known);
}

static void
test_lanes_by_due_time(void **state)
{
    struct lanes *lanes = lanes_new(0, 0, 1);
    uint64_t lane;
    (void)state;
    lanes_restore(lanes, 1, 300, 0);
    lanes_restore(lanes, 2, 100, 0);
    lanes_restore(lanes, 3, 200, 0);
    lanes_wake(lanes, 3);
    assert_int_equal(lanes_due(lanes), 100);
    assert_false(next(lanes, 99, &lane));
    assert_true(next(lanes, 250, &lane));
    assert_int_equal(lane, 2);
    assert_true(next(lanes, 250, &lane));
    assert_int_equal(lane, 3);
    assert_false(next(lanes, 250, &lane));
    assert_int_equal(lanes_busy(lanes), 2);
    lanes_rest(lanes, 2, 600, 0);
    lanes_forget(lanes, 3);
    assert_int_equal(lanes_count(lanes), 2);
    assert_true(next(lanes, 500, &lane));
    assert_int_equal(lane, 1);
    lanes_return(lanes, 1);
    assert_int_equal(lanes_due(lanes), 300);
    lanes_postpone(lanes, 1, 700);
    assert_int_equal(lanes_due(lanes), 600);
    assert_true(lanes_take(lanes, 1));
    assert_false(lanes_take(lanes, 1));
    lanes_free(lanes);
}

static void
test_lanes_not_known_at_first(void **state)
{
    struct lanes *lanes = lanes_new(1, 0, 1);
    uint64_t lane;
    bool known;
    (void)state;
    lanes_wake(lanes, 9);
    assert_true(lanes_next(lanes, 1, &lane, &known));
    assert_false(known);
    lanes_restore(lanes, 9, 50, 7);
    lanes_return(lanes, 9);
    assert_false(lanes_next(lanes, 49, &lane, &known));
    assert_true(lanes_next(lanes, 50, &lane, &known));
    assert_true(known);
    assert_int_equal(lanes_group(lanes, 9), 7);
    lanes_free(lanes);
}

static void
test_bursts_of_eased_lanes(void **state)
{
    struct lanes *lanes = lanes_new(1, 0, 3);
    uint64_t lane;
    (void)state;
    lanes_restore(lanes, 1, 0, 7);
    lanes_restore(lanes, 2, 0, 7);
    assert_true(next(lanes, 1, &lane));
    assert_false(lanes_more(lanes, lane)); /* not known to need no rest */
    lanes_set_eased(lanes, lane, true);
    assert_true(lanes_more(lanes, lane));
    assert_true(lanes_more(lanes, lane));
    assert_false(lanes_more(lanes, lane));
    lanes_no_more(lanes, lane);
    assert_true(lanes_take(lanes, lane)); /* a worker that announces what it holds */
    assert_false(lanes_take(lanes, lane));
    const uint64_t first = lane;
    lanes_rest(lanes, first, 0, 0);
    lanes_rest(lanes, first, 50, 0);
    assert_int_equal(lanes_busy(lanes), 1); /* one is still out */
    assert_false(next(lanes, 60, &lane));   /* and its group is full */
    lanes_rest(lanes, first, 40, 0);
    assert_int_equal(lanes_busy(lanes), 0);
    assert_true(next(lanes, 49, &lane)); /* the first rests until 50 */
    assert_int_not_equal(lane, first);
    lanes_free(lanes);

    lanes = lanes_new(0, 10, 3);
    lanes_restore(lanes, 1, 0, 7);
    assert_true(next(lanes, 1, &lane));
    lanes_set_eased(lanes, lane, true);
    assert_false(lanes_more(lanes, lane)); /* its address rests between requests */
    lanes_free(lanes);
}

/* Many lanes of few groups, at random: never more of a group than allowed, not sooner than
 * allowed, and every lane gets its turns. */
static void
test_groups_at_random(void **state)
{
    enum { LANES = 200, GROUPS = 5, PARALLEL = 3, TURNS = 20, DELAY = 4 };
    struct lanes *lanes = lanes_new(PARALLEL, DELAY, 1);
    int busy[GROUPS + 1] = {0};
    uint64_t last[GROUPS + 1] = {0};
    int turns[LANES + 1] = {0};
    uint64_t out[LANES];
    size_t count = 0;
    size_t ended = 0;
    unsigned seed = 3;
    (void)state;
    for (uint64_t lane = 1; lane <= LANES; lane++) {
        lanes_restore(lanes, lane, 0, lane % GROUPS + 1);
    }
    for (uint64_t now = 100; ended < LANES; now++) {
        uint64_t lane;
        assert_true(now < 100000);
        while (next(lanes, now, &lane)) {
            const uint64_t group = lane % GROUPS + 1;
            busy[group]++;
            assert_true(busy[group] <= PARALLEL);
            assert_true(now >= last[group] + DELAY || last[group] == 0);
            last[group] = now;
            out[count++] = lane;
        }
        for (size_t i = 0; i < count;) {
            if (rand_r(&seed) % 4 != 0) {
                i++;
                continue;
            }
            lane = out[i];
            out[i] = out[--count];
            busy[lane % GROUPS + 1]--;
            if (++turns[lane] == TURNS) {
                lanes_forget(lanes, lane);
                last[lane % GROUPS + 1] = 0; /* giving up a turn makes nobody wait */
                ended++;
            } else {
                lanes_rest(lanes, lane, now + (uint64_t)rand_r(&seed) % 10, lane % GROUPS + 1);
            }
        }
    }
    assert_int_equal(lanes_count(lanes), 0);
    assert_int_equal(lanes_busy(lanes), 0);
    lanes_free(lanes);
}

/* ---- seen ---- */

static void
test_seen_rule(void **state)
{
    static const struct {
        const char *what;
        struct seen_entry before;
        uint16_t depth;
        bool recrawl;
        unsigned actions;
        uint16_t depth_after;
        uint64_t generation_after;
    } cases[] = {
        {"unknown", {.exists = false}, 3, false, SEEN_QUEUE, 3, 1},
        {"unknown, recrawl", {.exists = false}, 3, true, SEEN_QUEUE, 3, 1},
        {"waiting",
         {.exists = true, .depth = 3, .generation = 1, .flags = SEEN_WAITING},
         3,
         false,
         0,
         3,
         1},
        {"waiting, smaller",
         {.exists = true, .depth = 3, .generation = 1, .flags = SEEN_WAITING},
         2,
         false,
         0,
         2,
         1},
        {"waiting, recrawl",
         {.exists = true, .depth = 3, .generation = 1, .flags = SEEN_WAITING},
         3,
         true,
         0,
         3,
         1},
        {"fetched, larger",
         {.exists = true, .depth = 3, .generation = 1, .flags = SEEN_FETCHED},
         4,
         false,
         0,
         3,
         1},
        {"fetched, smaller",
         {.exists = true, .depth = 3, .generation = 1, .flags = SEEN_FETCHED},
         1,
         false,
         SEEN_REVISIT,
         1,
         1},
        {"fetched, recrawl",
         {.exists = true, .depth = 3, .generation = 4, .flags = SEEN_FETCHED},
         3,
         true,
         SEEN_QUEUE,
         3,
         5},
        {"recrawl waits, smaller",
         {.exists = true, .depth = 3, .generation = 4, .flags = SEEN_FETCHED | SEEN_WAITING},
         1,
         true,
         SEEN_REVISIT,
         1,
         4},
        {"scheduled, recrawl",
         {.exists = true,
          .depth = 3,
          .generation = 4,
          .flags = SEEN_FETCHED | SEEN_WAITING | SEEN_SCHEDULED},
         3,
         true,
         SEEN_QUEUE,
         3,
         5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seen_entry entry = cases[i].before;
        const unsigned actions =
            seen_put(&entry, cases[i].depth, cases[i].recrawl ? SEEN_AGAIN : SEEN_NOT_AGAIN);
        if (actions != cases[i].actions || entry.depth != cases[i].depth_after ||
            entry.generation != cases[i].generation_after) {
            fail_msg("%s: actions %u, depth %u, generation %u", cases[i].what, actions, entry.depth,
                     (unsigned)entry.generation);
        }
    }
}

static void
test_seen_fetched(void **state)
{
    struct seen_entry entry = {.exists = true, .depth = 2, .generation = 2, .flags = SEEN_WAITING};
    (void)state;
    assert_int_equal(seen_fetched(&entry, 1, 5), 3); /* an older generation: still waiting */
    assert_int_equal(entry.flags, SEEN_FETCHED | SEEN_WAITING);
    assert_int_equal(seen_fetched(&entry, 2, 2), 0);
    assert_int_equal(entry.flags, SEEN_FETCHED);
}

/* ---- cluster ---- */

static struct cluster *
parse(const char *text, const char *self, struct reason *why)
{
    struct cluster *cluster;
    return cluster_parse(&cluster, slice_string(text), self, "/tmp", why) == STATUS_OK ? cluster
                                                                                       : NULL;
}

#define NODE(name, more) \
    "node " name " queue=tcp://10.0.0.1:1 metastore=tcp://10.0.0.1:2 " more "\n"

/* Shares that move: addresses stand in files, and who only asks is none of the nodes. */
static void
test_cluster_of_a_client(void **state)
{
    struct reason why = {""};
    struct cluster_services services;
    (void)state;
    struct cluster *cluster = parse("client\n"
                                    "node share-0 queue=at://addresses/0:1 metastore=at:///m:2\n"
                                    "node share-1 queue=at://addresses/1:1 metastore=at://m:2\n",
                                    NULL, &why);
    assert_non_null(cluster);
    assert_true(cluster_is_client(cluster));
    assert_false(cluster_serves(cluster, STAGE_INDEX));
    assert_string_equal(cluster_node(cluster, 1)->queue, "at:///tmp/addresses/1:1");
    assert_int_equal(cluster_metastore_services(cluster, NULL, &services, &why), STATUS_OK);
    assert_int_equal(services.count, 2);
    assert_string_equal(services.endpoints[0], "at:///m:2"); /* nothing of it is local */
    cluster_services_release(&services);
    cluster_close(cluster);
    cluster = parse("client\nnode share-0 queue=at://a:1\n", NULL, &why);
    assert_non_null(cluster);
    assert_int_equal(cluster_owner(cluster, STAGE_FETCH, SLICE("http://a.example/")), 0);
    cluster_close(cluster);
}

/* Whose processes work for a node without being on it owns what that node owns. */
static void
test_cluster_of_a_helper(void **state)
{
    struct reason why = {""};
    (void)state;
    struct cluster *cluster = parse(NODE("a", "") NODE("b", "") "helper delta-4\n", "b", &why);
    assert_non_null(cluster);
    assert_string_equal(cluster_helper(cluster), "delta-4");
    assert_int_equal(cluster_self(cluster), 1);
    assert_false(cluster_is_client(cluster));
    cluster_close(cluster);
    cluster = parse(NODE("a", "") NODE("b", ""), "b", &why);
    assert_null(cluster_helper(cluster));
    cluster_close(cluster);
    assert_null(parse(NODE("a", "") "helper\n", "a", &why));
    assert_null(parse(NODE("a", "") "helper no/name\n", "a", &why));
    assert_string_equal(why.text, "cluster.conf line 2: no name of a machine is \"no/name\"");
}

static void
test_cluster_shares_follow_weights(void **state)
{
    struct reason why = {""};
    struct cluster *cluster = parse(
        "# three\n" NODE("a", "weight=1") NODE("b", "weight=2") NODE("c", "weight=1"), "b", &why);
    size_t counts[3] = {0};
    char uri[64];
    (void)state;
    assert_non_null(cluster);
    assert_int_equal(cluster_self(cluster), 1);
    for (int i = 0; i < 40000; i++) {
        const int n = snprintf(uri, sizeof uri, "http://h%d.example/", i);
        counts[cluster_owner(cluster, STAGE_INDEX, slice_of(uri, (size_t)n))]++;
    }
    assert_in_range(counts[0], 9000, 11000);
    assert_in_range(counts[1], 19000, 21000);
    assert_in_range(counts[2], 9000, 11000);
    cluster_close(cluster);
}

static void
test_cluster_new_node_takes_only_its_share(void **state)
{
    struct reason why = {""};
    struct cluster *two = parse(NODE("a", "") NODE("b", ""), "a", &why);
    struct cluster *three = parse(NODE("a", "") NODE("b", "") NODE("c", ""), "a", &why);
    char uri[64];
    (void)state;
    for (int i = 0; i < (int)brief(5000, 500); i++) {
        const int n = snprintf(uri, sizeof uri, "http://h%d.example/", i);
        const struct slice text = {uri, (size_t)n};
        const size_t before = cluster_owner(two, STAGE_FETCH, text);
        const size_t after = cluster_owner(three, STAGE_FETCH, text);
        assert_true(after == before || after == 2);
    }
    cluster_close(two);
    cluster_close(three);
}

static void
test_cluster_one_owner_paces_a_host(void **state)
{
    struct reason why = {""};
    struct cluster *cluster =
        parse(NODE("a", "stages=fetch,detect") NODE("b", "stages=fetch,transform,index,extract"),
              "a", &why);
    (void)state;
    const size_t owner = cluster_owner(cluster, STAGE_FETCH, SLICE("http://x.example/1"));
    assert_int_equal(cluster_owner(cluster, STAGE_FETCH, SLICE("https://x.example:81/2")), owner);
    assert_int_equal(cluster_owner(cluster, STAGE_INDEX, SLICE("http://x.example/1")), 1);
    assert_int_equal(cluster_owner(cluster, STAGE_DETECT, SLICE("http://x.example/1")), 0);
    assert_true(cluster_serves(cluster, STAGE_DETECT));
    assert_false(cluster_serves(cluster, STAGE_EXTRACT));
    cluster_close(cluster);
}

static void
test_cluster_mistakes_are_named(void **state)
{
    static const struct {
        const char *text, *self, *why;
    } cases[] = {
        {"", NULL, "names no node"},
        {"nod a", NULL, "line 1: a line begins with node, curve, client or helper, not \"nod\""},
        {"\nnode a weight=0", NULL, "line 2: a weight is from 1 to 1000, not \"0\""},
        {"node a weight=x", NULL, "a weight is a number, not \"x\""},
        {"node a stages=fetch,fish", NULL, "no stage is called \"fish\""},
        {"node a b", NULL, "name=value is wanted, not \"b\""},
        {"node a colour=red", NULL, "a node has no setting \"colour\""},
        {"node a\nnode a", NULL, "line 2: a node's name"},
        {"node a/b", NULL, "a node's name"},
        {"node a\nnode b", NULL, "say which this is"},
        {"node a\nnode b", "c", "names no node c"},
        {"node a stages=fetch\nnode b stages=fetch", "a", "no node serves detect"},
        {"node a\nnode b", "a", "node a has no queue="},
        {"curve public=short", NULL, "curve has public=Z85"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reason why = {""};
        assert_null(parse(cases[i].text, cases[i].self, &why));
        if (strstr(why.text, cases[i].why) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", cases[i].why, why.text);
        }
    }
}

static void
test_cluster_secret_must_be_secret(void **state)
{
    static const char secret[] = "0123456789012345678901234567890123456789\n";
    struct reason why = {""};
    char path[SCRATCH_SIZE];
    char text[256];
    (void)state;
    const int file = scratch_file(path, "test_queue_parts");
    assert_int_equal(write(file, secret, sizeof secret - 1), (ssize_t)sizeof secret - 1);
    snprintf(text, sizeof text,
             "node a\ncurve public=9876543210987654321098765432109876543210 secret_file=%s\n",
             path);
    fchmod(file, 0644);
    assert_null(parse(text, NULL, &why));
    assert_non_null(strstr(why.text, "others may read the secret"));
    fchmod(file, 0600);
    struct cluster *cluster = parse(text, NULL, &why);
    assert_non_null(cluster);
    assert_string_equal(cluster_keys(cluster)->own_secret,
                        "0123456789012345678901234567890123456789");
    cluster_close(cluster);
    close(file);
    unlink(path);
}

static void
test_metadata_stores_are_numbered(void **state)
{
    struct reason why = {""};
    struct cluster *cluster =
        parse("node a queue=tcp://10.0.0.1:1\n" NODE("b", "") NODE("c", ""), "c", &why);
    struct cluster_services services;
    size_t counts[2] = {0};
    (void)state;
    assert_non_null(cluster);
    assert_int_equal(cluster_metastore_services(cluster, "ipc://here", &services, &why), STATUS_OK);
    assert_int_equal(services.count, 2);
    assert_string_equal(services.endpoints[0], "tcp://10.0.0.1:2");
    assert_string_equal(services.endpoints[1], "ipc://here");
    for (int i = 0; i < PARTITIONS; i++) {
        assert_true(services.owner_of_partition[i] < 2);
        counts[services.owner_of_partition[i]]++;
    }
    assert_in_range(counts[0], 1800, 2300);
    cluster_services_release(&services);
    cluster_close(cluster);
}

/* ---- job records ---- */

static void
test_job_record_bytes(void **state)
{
    static const uint8_t expected[] = {1,   4,   128, 2,   3,   1,   0,   0xac, 2,
                                       5,   6,   9,   'h', 't', 't', 'p', ':',  '/',
                                       '/', 'a', '/', 1,   'v', 2,   'd', 'e'};
    const struct job job = {.key.stage = STAGE_FETCH,
                            .uri = SLICE("http://a/"),
                            .via = SLICE("v"),
                            .data = SLICE("de"),
                            .flags = JOB_SEED,
                            .priority = 128,
                            .hops = 2,
                            .depth = 3,
                            .attempt = 1,
                            .generation = 300,
                            .due_ms = 5,
                            .queued_ms = 6};
    struct job back = {.key = {.stage = STAGE_FETCH, .id = 77}};
    struct buf bytes;
    (void)state;
    buf_init(&bytes, 4096);
    job_encode(&bytes, &job);
    assert_int_equal(bytes.length, sizeof expected);
    assert_memory_equal(bytes.data, expected, sizeof expected);
    struct codec_reader reader = codec_reader_of(buf_slice(&bytes));
    assert_true(job_decode(&reader, &back));
    assert_true(slice_is(back.lane_name, "http://a"));
    assert_int_equal(back.key.id, 77);
    assert_int_equal(back.generation, 300);
    for (size_t cut = 0; cut < bytes.length; cut++) {
        reader = codec_reader_of(slice_of(bytes.data, cut));
        assert_false(job_decode(&reader, &back));
        assert_int_equal(back.uri.length + back.via.length + back.data.length, 0);
        assert_int_equal(back.lane_name.length, 0); /* nobody reads what is cut */
    }
    bytes.data[0] = 2; /* a version that is not known */
    reader = codec_reader_of(buf_slice(&bytes));
    assert_false(job_decode(&reader, &back));
    buf_release(&bytes);
}

/* Hosts may have names of one letter, and no job is without a host. */
static void
test_new_jobs_have_hosts(void **state)
{
    static const struct {
        const char *uri, *lane;
        bool good;
    } cases[] = {
        {"http://a/", "http://a", true},
        {"https://a/", "https://a", true},
        {"mailto:a@a", "mailto:", false},
        {"ftp://a/x", "ftp://a", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct job job = {.key.stage = STAGE_FETCH,
                                .uri = slice_string(cases[i].uri),
                                .lane_name = slice_string(cases[i].lane)};
        struct job read;
        struct buf bytes;
        buf_init(&bytes, 1 << 12);
        message_put_new(&bytes, &job);
        struct codec_reader reader = codec_reader_of(buf_slice(&bytes));
        assert_int_equal(message_get_new(&reader, &read), cases[i].good);
        buf_release(&bytes);
    }
}

static void
test_key_bytes_sort_like_numbers(void **state)
{
    const struct job_key small = {1, 2, 3, 255};
    const struct job_key large = {1, 2, 3, 256};
    uint8_t a[JOB_KEY_SIZE];
    uint8_t b[JOB_KEY_SIZE];
    struct job_key back;
    (void)state;
    job_key_write(&small, a);
    job_key_write(&large, b);
    assert_true(memcmp(a, b, sizeof a) < 0);
    job_key_read(b, &back);
    assert_memory_equal(&back.id, &large.id, sizeof back.id);
}

/* ---- batches and the store ---- */

static bool
collect(void *context, struct slice key, struct slice value)
{
    struct buf *text = context;
    (void)buf_printf(text, "%.*s=%.*s ", SLICE_PRINT(key), SLICE_PRINT(value));
    return true;
}

static int
fail_second(void *context, enum store_point point)
{
    int *count = context;
    return point == STORE_BEFORE_COMMIT && ++*count == 2 ? 5 : 0;
}

static int
fail_checkpoint(void *context, enum store_point point)
{
    const bool *fails = context;
    return point == STORE_CHECKPOINT && *fails ? 5 : 0;
}

/* A checkpoint that failed is said; the next one is made. */
static void
test_store_tells_of_failed_checkpoints(void **state)
{
    bool fails = true;
    char folder[SCRATCH_SIZE];
    char command[SCRATCH_SIZE + 32];
    struct reason why = {""};
    struct store *store;
    struct store_batch batch;
    uint64_t wait_ms;
    (void)state;
    assert_true(scratch_folder(folder, "test_queue_parts"));
    const struct store_options options = {.folder = folder,
                                          .cache_bytes = 1 << 20,
                                          .checkpoint_bytes = 1 << 20,
                                          .checkpoint_ms = 0, /* each tick */
                                          .fault = fail_checkpoint,
                                          .fault_context = &fails};
    assert_int_equal(store_open(&store, &options, &why), STATUS_OK);
    store_batch_init(&batch);
    store_batch_put(&batch, TREE_LANES, SLICE("a"), SLICE("1"));
    store_batch_sort(&batch);
    assert_int_equal(store_apply(store, (const struct store_operation *const *)batch.operations,
                                 batch.count, &why),
                     STATUS_OK);
    store_batch_release(&batch);
    assert_int_not_equal(store_tick(store, &wait_ms, &why), STATUS_OK);
    assert_int_not_equal(why.text[0], '\0');
    fails = false;
    assert_int_equal(store_tick(store, &wait_ms, &why), STATUS_OK);
    store_close(store);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

/* The last operation of a key stands, and those of a tree come by their keys, however few. */
static void
test_batches_are_sorted(void **state)
{
    struct store_batch batch;
    (void)state;
    store_batch_init(&batch);
    store_batch_sort(&batch);
    assert_int_equal(batch.count, 0);
    store_batch_put(&batch, TREE_LANES, SLICE("b"), SLICE("1"));
    store_batch_sort(&batch);
    assert_int_equal(batch.count, 1);
    store_batch_put(&batch, TREE_LANES, SLICE("a"), SLICE("2"));
    store_batch_sort(&batch);
    assert_int_equal(batch.count, 2);
    assert_int_equal(batch.operations[0]->key[0], 'a');
    assert_int_equal(batch.operations[1]->key[0], 'b');
    store_batch_reset(&batch);
    store_batch_put(&batch, TREE_LANES, SLICE("b"), SLICE("1"));
    store_batch_remove(&batch, TREE_LANES, SLICE("b"));
    store_batch_sort(&batch);
    assert_int_equal(batch.count, 1);
    assert_true(batch.operations[0]->remove);
    store_batch_release(&batch);
}

static void
test_store_applies_batches_whole(void **state)
{
    int commits = 0;
    char folder[SCRATCH_SIZE];
    char command[SCRATCH_SIZE + 32];
    struct reason why = {""};
    struct store *store;
    struct store_batch batch;
    struct buf text;
    struct slice value;
    (void)state;
    assert_true(scratch_folder(folder, "test_queue_parts"));
    const struct store_options options = {.folder = folder,
                                          .cache_bytes = 1 << 20,
                                          .checkpoint_bytes = 1 << 20,
                                          .checkpoint_ms = 1000,
                                          .fault = fail_second,
                                          .fault_context = &commits};
    buf_init(&text, 4096);
    store_batch_init(&batch);
    assert_int_equal(store_open(&store, &options, &why), STATUS_OK);
    const uint64_t epoch = store_epoch(store);
    store_batch_put(&batch, TREE_LANES, SLICE("b"), SLICE("1"));
    store_batch_put(&batch, TREE_JOBS, SLICE("x"), SLICE("9"));
    store_batch_put(&batch, TREE_LANES, SLICE("a"), SLICE("1"));
    store_batch_put(&batch, TREE_LANES, SLICE("b"), SLICE("2"));
    store_batch_put(&batch, TREE_LANES, SLICE("c"), SLICE("1"));
    store_batch_remove(&batch, TREE_LANES, SLICE("c"));
    store_batch_sort(&batch);
    assert_int_equal(batch.count, 4);
#define APPLY() \
    store_apply(store, (const struct store_operation *const *)batch.operations, batch.count, &why)
    assert_int_equal(APPLY(), STATUS_OK);
    store_batch_reset(&batch);
    store_batch_remove(&batch, TREE_LANES, SLICE("a"));
    store_batch_put(&batch, TREE_LANES, SLICE("d"), SLICE("4"));
    store_batch_sort(&batch);
    assert_int_equal(APPLY(), STATUS_SYSTEM); /* the fault */
    assert_false(store_broken(store));
    store_close(store);
    assert_int_equal(store_open(&store, &options, &why), STATUS_OK);
    assert_int_equal(store_epoch(store), epoch + 1);
    assert_int_equal(store_scan(store, TREE_LANES, SLICE(""), collect, &text, &why), STATUS_OK);
    assert_string_equal(text.data, "a=1 b=2 ");
    assert_int_equal(store_get(store, TREE_JOBS, SLICE("x"), &value, &why), STATUS_OK);
    assert_true(slice_is(value, "9"));
    assert_int_equal(store_get(store, TREE_JOBS, SLICE("y"), &value, &why), STATUS_NOT_FOUND);
    store_close(store);
    store_batch_release(&batch);
    buf_release(&text);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

/* A filter has all that was added, and next to nothing else, wherever keys differ. */
static void
test_filters_tell_keys_apart(void **state)
{
    enum { KEYS = 1000, LENGTH = 13 };
    (void)state;
    for (size_t place = 0; place < LENGTH - 1; place++) {
        struct run_filter filter = {.count = run_filter_blocks(KEYS)};
        uint8_t key[LENGTH] = "a key, as is";
        unsigned wrong = 0;
        filter.blocks = calloc(filter.count, sizeof *filter.blocks);
        for (unsigned i = 0; i < 2 * KEYS; i++) {
            key[place] = (uint8_t)i;
            key[place + 1] = (uint8_t)(i >> 8);
            const uint64_t hash = run_filter_hash(key, LENGTH);
            if (i < KEYS) {
                run_filter_add(&filter, hash);
            }
            assert_true(run_filter_has(&filter, hash) || i >= KEYS);
            wrong += i >= KEYS && run_filter_has(&filter, hash);
        }
        assert_in_range(wrong, 0, KEYS / 20);
        free(filter.blocks);
    }
}

/* Ten bits for each prefix, in blocks of eight words, and a block more for what is left over. */
static void
test_filters_have_ten_bits_for_a_prefix(void **state)
{
    static const uint64_t cases[][2] = {{0, 1},      {25, 1},     {26, 2},        {51, 2},
                                        {52, 3},     {255, 10},   {256, 11},      {257, 11},
                                        {2559, 100}, {2560, 101}, {256000, 10001}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run_filter_blocks(cases[i][0]), cases[i][1]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordered_against_an_array),
        cmocka_unit_test(test_lanes_by_due_time),
        cmocka_unit_test(test_lanes_not_known_at_first),
        cmocka_unit_test(test_bursts_of_eased_lanes),
        cmocka_unit_test(test_groups_at_random),
        cmocka_unit_test(test_seen_rule),
        cmocka_unit_test(test_seen_fetched),
        cmocka_unit_test(test_cluster_shares_follow_weights),
        cmocka_unit_test(test_cluster_new_node_takes_only_its_share),
        cmocka_unit_test(test_cluster_one_owner_paces_a_host),
        cmocka_unit_test(test_cluster_mistakes_are_named),
        cmocka_unit_test(test_cluster_secret_must_be_secret),
        cmocka_unit_test(test_cluster_of_a_client),
        cmocka_unit_test(test_cluster_of_a_helper),
        cmocka_unit_test(test_metadata_stores_are_numbered),
        cmocka_unit_test(test_job_record_bytes),
        cmocka_unit_test(test_new_jobs_have_hosts),
        cmocka_unit_test(test_key_bytes_sort_like_numbers),
        cmocka_unit_test(test_batches_are_sorted),
        cmocka_unit_test(test_filters_tell_keys_apart),
        cmocka_unit_test(test_filters_have_ten_bits_for_a_prefix),
        cmocka_unit_test(test_store_applies_batches_whole),
        cmocka_unit_test(test_store_tells_of_failed_checkpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + lanes_alone_run() + cluster_lines_run() +
           freed_tables_run() + seen_alone_run() + small_tables_run() + queue_store_run();
}
