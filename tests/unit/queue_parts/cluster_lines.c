/* Lines of cluster.conf (queue/cluster/cluster.c): each setting, each limit at its value, keys, and
 * the file in a data directory. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/url/url.h"
#include "config/config.h"
#include "queue/cluster/cluster.h"
#include "tests/unit/queue/queue_suites.h"
#include "tests/unit/scratch.h"

#define PUBLIC "9876543210987654321098765432109876543210"
#define SECRET "0123456789012345678901234567890123456789"

static char folder[SCRATCH_SIZE];

static int
begin(void **state)
{
    (void)state;
    return scratch_folder(folder, "cluster_lines") ? 0 : -1;
}

static int
end(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static struct cluster *
parse(const char *text, const char *self, struct reason *why)
{
    struct cluster *cluster;
    const enum status status = cluster_parse(&cluster, slice_string(text), self, folder, why);
    assert_int_equal(status == STATUS_OK, cluster != NULL);
    assert_true(status == STATUS_OK || status == STATUS_MISUSE || status == STATUS_SYSTEM);
    return cluster;
}

static void
refused(const char *text, const char *self, const char *because)
{
    struct reason why = {""};
    assert_null(parse(text, self, &why));
    if (strstr(why.text, because) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", because, why.text);
    }
}

/* ---- nodes ---- */

static void
test_settings_of_a_node(void **state)
{
    struct reason why = {""};
    (void)state;
    struct cluster *cluster =
        parse("\t# a comment\n \n  node\ta-Z_9.x  host=h  queue=q://1\tmetastore=at:// "
              "index=at:///i:3 web=at://w:4 weight=1000 stages=fetch,index\n",
              NULL, &why);
    assert_non_null(cluster);
    const struct cluster_node *node = cluster_node(cluster, 0);
    char web[SCRATCH_SIZE + 16];
    snprintf(web, sizeof web, "at://%s/w:4", folder);
    assert_string_equal(node->name, "a-Z_9.x");
    assert_string_equal(node->host, "h");
    assert_string_equal(node->queue, "q://1");
    assert_string_equal(node->metastore, "at://");
    assert_string_equal(node->index, "at:///i:3");
    assert_string_equal(node->web, web);
    assert_int_equal(node->weight, 1000);
    assert_int_equal(cluster_node_count(cluster), 1);
    assert_int_equal(cluster_self(cluster), 0);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        assert_int_equal(cluster_serves(cluster, (enum stage)stage),
                         stage == STAGE_FETCH || stage == STAGE_INDEX);
        assert_int_equal(cluster_owner(cluster, (enum stage)stage, SLICE("http://a/")), 0);
        assert_int_equal(cluster_worker(cluster, (enum stage)stage, SLICE("http://a/")), 0);
    }
    assert_int_equal(cluster_key_owner(cluster, SLICE("uhttp://a/")), 0);
    assert_null(cluster_keys(cluster));
    cluster_close(cluster);
    cluster_close(NULL);
    cluster = parse("node a weight=1\n", NULL, &why);
    assert_non_null(cluster);
    assert_int_equal(cluster_node(cluster, 0)->weight, 1);
    cluster_close(cluster);
    refused("node a weight=0", NULL, "a weight is from 1 to 1000, not \"0\"");
    refused("node a weight=1000x", NULL, "a weight is a number, not \"1000x\"");
    refused("node a weight=1001", NULL, "a weight is from 1 to 1000, not \"1001\"");
    refused("node a weight=", NULL, "a weight is from 1 to 1000, not \"\"");
    refused("node a weight=/", NULL, "a weight is a number");
    refused("node a weight=:", NULL, "a weight is a number");
    refused("node a weight=99999999999", NULL, "a weight is from 1 to 1000");
    refused("node a stages=fetch,", "b", "names no node b");
    refused("node a stages=fetch,x", NULL, "no stage is called \"x\"");
    refused("node a stages=x", NULL, "no stage is called \"x\"");
    refused("node a\nx", NULL, "line 2: a line begins with");
    refused("node a\n\n\nnode b =q\n#", NULL, "line 4: a node has no setting \"\"");
    refused("node a stages=,fetch", NULL, "no stage is called \"\"");
    refused("node", NULL, "a node's name");
    refused("node a=", NULL, "a node's name");
    refused("# only\n\n", NULL, "names no node");
    refused("client\n", NULL, "names no node");
}

static void
test_names_have_a_longest(void **state)
{
    struct reason why = {""};
    char text[80] = "node ";
    (void)state;
    for (size_t length = 64; length <= 65; length++) {
        memset(text + 5, 'n', length);
        text[5 + length] = '\0';
        struct cluster *cluster = parse(text, NULL, &why);
        assert_int_equal(cluster != NULL, length == 64);
        cluster_close(cluster);
    }
}

/* Each character that is no blank, at each place of a name. */
static void
test_names_have_certain_characters(void **state)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    (void)state;
    for (int c = '!'; c < 256; c++) {
        for (size_t at = 0; at < 3; at++) {
            struct reason why = {""};
            char text[] = "node aaa";
            text[5 + at] = (char)c;
            struct cluster *cluster = parse(text, NULL, &why);
            assert_int_equal(cluster != NULL, memchr(good, c, sizeof good - 1) != NULL);
            cluster_close(cluster);
        }
    }
}

static void
test_nodes_have_a_most(void **state)
{
    static char text[80 * (CLUSTER_NODES_MAXIMUM + 1)];
    struct reason why = {""};
    size_t length = 0;
    (void)state;
    for (int i = 0; i < CLUSTER_NODES_MAXIMUM; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "node n%d queue=tcp://127.0.0.1:1 metastore=ipc://%d\n", i, i);
    }
    struct cluster *cluster = parse(text, "n1", &why);
    assert_non_null(cluster);
    assert_int_equal(cluster_node_count(cluster), CLUSTER_NODES_MAXIMUM);
    cluster_close(cluster);
    snprintf(text + length, sizeof text - length, "node last\n");
    refused(text, "n1", "too many nodes at \"last\"");
}

/* ---- who owns what ---- */

static void
test_what_a_cluster_must_have(void **state)
{
    (void)state;
    refused("node a queue=q stages=fetch,detect,transform,index\nnode b queue=q "
            "stages=detect,transform,index\n",
            "a", "no node serves extract");
    refused("node a queue=q stages=detect,transform,index,extract\nnode b queue=q stages=index\n",
            "a", "no node serves fetch");
    refused("node a queue=q metastore=m\nnode b metastore=m\n", "a", "node b has no queue=");
    refused("node a queue=q\nnode b queue=q\n", "a", "no node has metastore=");
    refused("node a\nnode b\n", "", "say which this is");
}

/* The number in (0, 1) that a node draws for a partition. */
static double
drawn(const char *name, unsigned partition)
{
    char text[64];
    const int n = snprintf(text, sizeof text, "%s/%u", name, partition);
    const uint64_t number = fingerprint64(slice_of(text, (size_t)n)) >> 11; /* 53 bits */
    return ((double)number + 0.5) / (double)(UINT64_C(1) << 53);
}

/* All nodes, of every version, must agree: who draws the largest of -weight / ln(number) among
 * those that serve a stage, or have a metadata store, has the partition. */
static void
test_partitions_are_of_who_draws_the_largest(void **state)
{
    enum { NODES = 4 };
    static const char text[] = "node a queue=q stages=fetch,detect,transform,extract\n"
                               "node b queue=q metastore=m:b weight=3\n"
                               "node c queue=q weight=2\n"
                               "node d queue=q metastore=m:d stages=index,fetch\n";
    static const char *const names[NODES] = {"a", "b", "c", "d"};
    static const unsigned weights[NODES] = {1, 3, 2, 1};
    struct cluster_services services;
    struct reason why = {""};
    struct cluster *cluster = parse(text, "d", &why);
    (void)state;
    assert_non_null(cluster);
    assert_int_equal(cluster_metastore_services(cluster, "here", &services, &why), STATUS_OK);
    assert_int_equal(services.count, 2);
    assert_string_equal(services.endpoints[0], "m:b");
    assert_string_equal(services.endpoints[1], "here");
    for (unsigned partition = 0; partition < PARTITIONS; partition++) {
        size_t most[3] = {NODES, NODES, NODES}; /* for fetch, for the index, of the stores */
        double scores[NODES];
        for (size_t i = 0; i < NODES; i++) {
            const bool serves[3] = {true, i != 0, i == 1 || i == 3};
            scores[i] = -(double)weights[i] / log(drawn(names[i], partition));
            for (size_t what = 0; what < 3; what++) {
                if (serves[what] && (most[what] == NODES || scores[i] > scores[most[what]])) {
                    most[what] = i;
                }
            }
        }
        assert_int_equal(cluster_owner_of(cluster, STAGE_FETCH, partition), most[0]);
        assert_int_equal(cluster_owner_of(cluster, STAGE_INDEX, partition), most[1]);
        assert_int_equal(services.owner_of_partition[partition], most[2] == 3);
    }
    for (int i = 0; i < 100; i++) {
        char key[64];
        snprintf(key, sizeof key, "hhttp://h%d.example", i);
        const unsigned partition = cluster_key_partition(slice_string(key));
        assert_int_equal(cluster_key_owner(cluster, slice_string(key)),
                         services.owner_of_partition[partition] == 0 ? 1 : 3);
    }
    cluster_services_release(&services);
    cluster_close(cluster);
}

/* A URI's fetch and its host's record are of one node, and so are a document's record and those
 * of its host. */
static void
test_owners_of_keys(void **state)
{
    struct reason why = {""};
    struct cluster *cluster =
        parse("node a queue=q metastore=m\nnode b queue=q metastore=m\n", "a", &why);
    size_t owned[2] = {0};
    (void)state;
    assert_non_null(cluster);
    for (int i = 0; i < 200; i++) {
        char uri[64], key[80];
        snprintf(uri, sizeof uri, "http://h%d.example/x", i);
        const unsigned host = partition_of(url_host(slice_string(uri)));
        assert_int_equal(cluster_owner(cluster, STAGE_FETCH, slice_string(uri)),
                         cluster_owner_of(cluster, STAGE_FETCH, host));
        assert_int_equal(cluster_owner(cluster, STAGE_INDEX, slice_string(uri)),
                         cluster_owner_of(cluster, STAGE_INDEX, partition_of(slice_string(uri))));
        assert_int_equal(cluster_worker(cluster, STAGE_DETECT, slice_string(uri)), 0);
        assert_int_equal(cluster_worker(cluster, STAGE_TRANSFORM, slice_string(uri)), 0);
        assert_int_equal(cluster_worker(cluster, STAGE_INDEX, slice_string(uri)),
                         cluster_owner(cluster, STAGE_INDEX, slice_string(uri)));
        snprintf(key, sizeof key, "h%s", uri);
        assert_int_equal(cluster_key_partition(slice_string(key)), host);
        key[0] = 's';
        assert_int_equal(cluster_key_partition(slice_string(key)), host);
        key[0] = 'u';
        assert_int_equal(cluster_key_partition(slice_string(key)), partition_of(slice_string(uri)));
        owned[cluster_key_owner(cluster, slice_string(key))]++;
    }
    assert_int_equal(cluster_key_partition(SLICE("hno-host")), partition_of(SLICE("no-host")));
    assert_true(owned[0] > 50 && owned[1] > 50);
    cluster_close(cluster);
}

static void
test_addresses_of_metadata_stores(void **state)
{
    struct cluster_services services;
    struct reason why = {""};
    (void)state;
    struct cluster *cluster = parse("node a\n", NULL, &why);
    assert_int_equal(cluster_metastore_services(cluster, NULL, &services, &why), STATUS_MISUSE);
    assert_string_equal(why.text, "no address of a metadata store");
    assert_int_equal(services.count, 0);
    assert_null(services.endpoints);
    assert_int_equal(cluster_metastore_services(cluster, "ipc://here", &services, &why), STATUS_OK);
    assert_int_equal(services.count, 1);
    assert_string_equal(services.endpoints[0], "ipc://here");
    assert_null(services.owner_of_partition);
    assert_null(services.keys);
    cluster_services_release(&services);
    assert_int_equal(services.count, 0);
    cluster_close(cluster);
    cluster = parse("node a metastore=m\n", NULL, &why);
    assert_int_equal(cluster_metastore_services(cluster, NULL, &services, &why), STATUS_OK);
    assert_string_equal(services.endpoints[0], "m");
    cluster_services_release(&services);
    cluster_close(cluster);
    /* Who has no store itself asks those of others, and nothing of it is local. */
    cluster = parse("node a queue=q\nnode b queue=q metastore=m\n", "a", &why);
    assert_int_equal(cluster_metastore_services(cluster, "ipc://here", &services, &why), STATUS_OK);
    assert_int_equal(services.count, 1);
    assert_string_equal(services.endpoints[0], "m");
    cluster_services_release(&services);
    cluster_close(cluster);
}

/* ---- keys ---- */

static void
write_file(const char *name, const char *text, mode_t mode)
{
    char path[SCRATCH_SIZE + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fchmod(fileno(file), mode), 0);
    assert_int_equal(fclose(file), 0);
}

static void
test_secrets_stand_in_files(void **state)
{
    static const struct {
        const char *text;
        bool good;
    } cases[] = {{SECRET, true},
                 {SECRET "\n", true},
                 {SECRET "\nmore", true},
                 {SECRET "x", false},
                 {SECRET " ", false},
                 {"012345678901234567890123456789012345678", false},
                 {"", false}};
    static const char line[] = "node a\ncurve public=" PUBLIC " secret_file=secret\n";
    struct reason why = {""};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file("secret", cases[i].text, 0600); /* beside the file */
        if (!cases[i].good) {
            refused(line, NULL, "line 2: no Z85 key of 40 characters in \"secret\"");
            continue;
        }
        struct cluster *cluster = parse(line, NULL, &why);
        assert_non_null(cluster);
        assert_string_equal(cluster_keys(cluster)->own_secret, SECRET);
        assert_string_equal(cluster_keys(cluster)->own_public, PUBLIC);
        assert_string_equal(cluster_keys(cluster)->server_public, PUBLIC);
        cluster_close(cluster);
    }
    static const mode_t modes[] = {0640, 0620, 0610, 0604, 0602, 0601};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        write_file("secret", SECRET, modes[i]);
        refused(line, NULL, "others may read the secret in \"secret\"");
    }
    refused("curve public=" PUBLIC " secret_file=none", NULL, "line 1: cannot open none");
    refused("curve public=" PUBLIC, NULL, "both are needed");
    refused("curve public=" PUBLIC "0", NULL, "curve has public=Z85");
    refused("curve secret=x", NULL, "curve has public=Z85");
    write_file("secret", SECRET, 0600);
    refused("node a\ncurve secret_file=secret", NULL, "both are needed: public= and");
}

/* ---- the file ---- */

static void
test_the_file_of_a_directory(void **state)
{
    struct opt_set *options = NULL;
    struct cluster *cluster = NULL;
    struct flag_list assignments = {.count = 1, .items = {"cluster.node=b"}};
    struct reason why = {""};
    (void)state;
    assert_int_equal(config_load(folder, &assignments, &options, &why), STATUS_OK);
    assert_int_equal(cluster_open(&cluster, folder, options, &why), STATUS_OK);
    assert_int_equal(cluster_node_count(cluster), 1); /* without a file */
    assert_string_equal(cluster_node(cluster, 0)->name, "local");
    cluster_close(cluster);
    write_file("cluster.conf", "node a queue=q metastore=m\nnode b queue=q\n", 0600);
    assert_int_equal(cluster_open(&cluster, folder, options, &why), STATUS_OK);
    assert_int_equal(cluster_node_count(cluster), 2);
    assert_int_equal(cluster_self(cluster), 1);
    cluster_close(cluster);
    write_file("cluster.conf", "node\n", 0600);
    assert_int_equal(cluster_open(&cluster, folder, options, &why), STATUS_MISUSE);
    assert_null(cluster);
    char path[SCRATCH_SIZE + 32];
    snprintf(path, sizeof path, "%s/cluster.conf", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(cluster_open(&cluster, folder, options, &why), STATUS_SYSTEM);
    assert_null(cluster);
    opt_set_free(options);
}

int
cluster_lines_run(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_settings_of_a_node),
        TEST(test_names_have_a_longest),
        TEST(test_names_have_certain_characters),
        TEST(test_nodes_have_a_most),
        TEST(test_what_a_cluster_must_have),
        TEST(test_partitions_are_of_who_draws_the_largest),
        TEST(test_owners_of_keys),
        TEST(test_addresses_of_metadata_stores),
        TEST(test_secrets_stand_in_files),
        TEST(test_the_file_of_a_directory),
    };
    return cmocka_run_group_tests_name("cluster lines", tests, NULL, NULL);
}
