/* Which services a process opens (stages/skeleton/services.c), by the cluster that it is of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/digest.h"
#include "config/config.h"
#include "stages/skeleton/services.h"
#include "tests/unit/scratch.h"

enum { TEXT = 1024 };

static char folder[SCRATCH_SIZE];
static struct cluster *cluster;
static struct opt_set *options;
static struct cluster_services services;
static struct reason why;

static int
set_up(void **state)
{
    (void)state;
    assert_true(scratch_folder(folder, "test_services"));
    options = opt_set_new(config_tables);
    services = (struct cluster_services){0};
    return 0;
}

static int
tear_down(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    opt_set_free(options);
    return 0;
}

static void
read_cluster(const char *text, const char *self)
{
    cluster_close(cluster);
    cluster = NULL;
    if (cluster_parse(&cluster, slice_string(text), self, folder, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

static void
let_go(void)
{
    cluster_services_release(&services);
    cluster_close(cluster);
    cluster = NULL;
}

static void
set_partitions(int count)
{
    char text[64];
    snprintf(text, sizeof text, "index.partitions=%d", count);
    assert_int_equal(opt_set_assign(options, text, &why), STATUS_OK);
}

/* The endpoint of this node's own service. */
static void
assert_own(size_t at, const char *service)
{
    char wanted[TEXT];
    snprintf(wanted, sizeof wanted, "ipc://%s/run/%s.sock", folder, service);
    assert_true(at < services.count);
    assert_string_equal(services.endpoints[at], wanted);
}

#define NODE(name, port, more)                                                      \
    "node " name " queue=tcp://127.0.0.1:" port "1 metastore=tcp://127.0.0.1:" port \
    "2 index=tcp://127.0.0.1:" port "3" more "\n"

static void
stores_are_numbered_by_their_nodes(void **state)
{
    static const char three[] = NODE("a", "1", "") NODE("b", "2", "") NODE("c", "3", "");
    static const char *const names[] = {"a", "b", "c"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        read_cluster(three, names[i]);
        assert_int_equal(services_own_metastore(cluster), i);
        assert_int_equal(services_metastores(cluster, folder, &services, &why), STATUS_OK);
        assert_int_equal(services.count, 3);
        for (size_t k = 0; k < 3; k++) {
            char wanted[TEXT];
            snprintf(wanted, sizeof wanted, "tcp://127.0.0.1:%zu2", k + 1);
            if (k == i) {
                assert_own(k, "metastore");
            } else {
                assert_string_equal(services.endpoints[k], wanted);
            }
        }
        let_go();
    }
}

/* Neither a client nor a helper has a store in the folder that it is given. */
static void
who_is_elsewhere_has_no_store_of_its_own(void **state)
{
    static const char *const texts[] = {NODE("a", "1", "") "client\n",
                                        NODE("a", "1", "") "helper m2\n"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        read_cluster(texts[i], NULL);
        assert_int_equal(services_metastores(cluster, folder, &services, &why), STATUS_OK);
        assert_int_equal(services.count, 1);
        assert_string_equal(services.endpoints[0], "tcp://127.0.0.1:12");
        let_go();
    }
}

static void
queues_are_those_of_all_nodes(void **state)
{
    (void)state;
    read_cluster(NODE("a", "1", "") NODE("b", "2", "") NODE("c", "3", ""), "b");
    assert_int_equal(services_queues(cluster, folder, &services, &why), STATUS_OK);
    assert_int_equal(services.count, 3);
    assert_string_equal(services.endpoints[0], "tcp://127.0.0.1:11");
    assert_own(1, "queue");
    assert_string_equal(services.endpoints[2], "tcp://127.0.0.1:31");
    let_go();
}

static void
an_own_index_has_an_endpoint_for_each_partition(void **state)
{
    (void)state;
    for (int count = 1; count <= 3; count++) {
        set_partitions(count);
        assert_int_equal(services_own_indexes(folder, options, &services, &why), STATUS_OK);
        assert_int_equal(services.count, count);
        for (int k = 0; k < count; k++) {
            char name[16];
            snprintf(name, sizeof name, "index-%d", k);
            assert_own((size_t)k, name);
        }
        let_go();
    }
}

/* Own partitions come first, then those of others, at their ports in a row. */
static void
all_indexes_own_their_documents(void **state)
{
    static const char three[] = NODE("a", "1", "")
        NODE("b", "2", " stages=fetch,detect,transform,extract") NODE("c", "3", " weight=3");
    (void)state;
    set_partitions(2);
    for (int self = 0; self < 3; self++) {
        static const char *const names[] = {"a", "b", "c"};
        size_t first[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, seen[6] = {0};
        read_cluster(three, names[self]);
        services.count = 5; /* whatever was there before */
        assert_int_equal(services_all_indexes(cluster, folder, options, &services, &why),
                         STATUS_OK);
        assert_int_equal(services.count, 4);
        size_t at = 0;
        if (self != 1) { /* it serves index itself */
            first[self] = 0;
            assert_own(0, "index-0");
            assert_own(1, "index-1");
            at = 2;
        }
        for (int node = 0; node < 3; node += 2) {
            if (node == self) {
                continue;
            }
            first[node] = at;
            for (int k = 0; k < 2; k++) {
                char wanted[TEXT];
                snprintf(wanted, sizeof wanted, "tcp://127.0.0.1:%d", (node + 1) * 10 + 3 + k);
                assert_string_equal(services.endpoints[at++], wanted);
            }
        }
        for (unsigned i = 0; i < PARTITIONS; i++) {
            const size_t owner = cluster_owner_of(cluster, STAGE_INDEX, i);
            assert_int_not_equal(owner, 1);
            assert_int_equal(services.owner_of_partition[i],
                             first[owner] + (size_t)i * 2 / PARTITIONS);
            seen[services.owner_of_partition[i]]++;
        }
        for (size_t i = 0; i < 4; i++) {
            assert_true(seen[i] > 0);
        }
        let_go();
    }
}

/* Ports are counted up from any, the least, too; what goes between nodes is sealed by their keys.
 */
static void
services_of_other_nodes_are_sealed(void **state)
{
    static const char key[] = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";
    char path[SCRATCH_SIZE + 16], text[TEXT];
    (void)state;
    snprintf(path, sizeof path, "%s/curve.secret", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(key, file);
    assert_int_equal(fchmod(fileno(file), 0600), 0);
    fclose(file);
    snprintf(text, sizeof text,
             NODE("a", "1", "") "node b queue=tcp://127.0.0.1:21 metastore=tcp://127.0.0.1:22 "
                                "index=tcp://127.0.0.1:1\ncurve public=%s secret_file=%s\n",
             key, path);
    set_partitions(2);
    read_cluster(text, "a");
    const struct rpc_keys *const keys = cluster_keys(cluster);
    assert_non_null(keys);
    assert_int_equal(services_all_indexes(cluster, folder, options, &services, &why), STATUS_OK);
    assert_int_equal(services.count, 4);
    assert_string_equal(services.endpoints[2], "tcp://127.0.0.1:1");
    assert_string_equal(services.endpoints[3], "tcp://127.0.0.1:2");
    assert_ptr_equal(services.keys, keys);
    cluster_services_release(&services);
    assert_int_equal(services_queues(cluster, folder, &services, &why), STATUS_OK);
    assert_ptr_equal(services.keys, keys);
    cluster_services_release(&services);
    assert_int_equal(services_metastores(cluster, folder, &services, &why), STATUS_OK);
    assert_ptr_equal(services.keys, keys);
    let_go();
}

static void
what_is_not_given_is_named(void **state)
{
    static const struct {
        const char *text, *problem;
        bool queues;
    } cases[] = {
        {"node a queue=tcp://127.0.0.1:1\nnode b metastore=tcp://127.0.0.1:2\n",
         "node b has no queue=", true},
        {NODE("a", "1", "") "node b queue=tcp://127.0.0.1:1\n", "node b serves index", false},
        {NODE("a", "1", "") "node b index=tcp://127.0.0.1\n", "node b serves index", false},
        {NODE("a", "1", "") "node b index=tcp://127.0.0.1:0\n", "node b serves index", false},
    };
    (void)state;
    set_partitions(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cluster_parse(&cluster, slice_string(cases[i].text), "a", folder, &why) == STATUS_OK) {
            const enum status status =
                cases[i].queues ? services_queues(cluster, folder, &services, &why)
                                : services_all_indexes(cluster, folder, options, &services, &why);
            assert_int_equal(status, STATUS_MISUSE);
            assert_non_null(strstr(why.text, cases[i].problem));
            assert_int_equal(services.count, 0);
        }
        let_go();
    }
}

/* A cluster of one node needs no addresses, unless who asks is elsewhere. */
static void
a_node_alone_may_have_no_addresses(void **state)
{
    static const char *const elsewhere[] = {"node a\nclient\n", "node a\nhelper m2\n"};
    (void)state;
    read_cluster("node a\n", "a");
    services = (struct cluster_services){.count = 5}; /* whatever was there before */
    assert_int_equal(services_metastores(cluster, folder, &services, &why), STATUS_OK);
    assert_int_equal(services.count, 1);
    assert_own(0, "metastore");
    cluster_services_release(&services);
    services.count = 5;
    assert_int_equal(services_queues(cluster, folder, &services, &why), STATUS_OK);
    assert_int_equal(services.count, 1);
    assert_own(0, "queue");
    cluster_services_release(&services);
    services.count = 5;
    set_partitions(2);
    assert_int_equal(services_own_indexes(folder, options, &services, &why), STATUS_OK);
    assert_int_equal(services.count, 2);
    assert_own(1, "index-1");
    assert_null(services.keys);
    let_go();
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        read_cluster(elsewhere[i], NULL);
        assert_int_equal(services_metastores(cluster, folder, &services, &why), STATUS_MISUSE);
        assert_string_equal(why.text, "no address of a metadata store");
        assert_int_equal(services.count, 0);
        let_go();
    }
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(stores_are_numbered_by_their_nodes),
        CASE(who_is_elsewhere_has_no_store_of_its_own),
        CASE(queues_are_those_of_all_nodes),
        CASE(an_own_index_has_an_endpoint_for_each_partition),
        CASE(all_indexes_own_their_documents),
        CASE(services_of_other_nodes_are_sealed),
        CASE(what_is_not_given_is_named),
        CASE(a_node_alone_may_have_no_addresses),
    };
    return cmocka_run_group_tests_name("services", tests, NULL, NULL);
}
