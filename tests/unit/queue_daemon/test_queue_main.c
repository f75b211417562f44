/* quadrille-queue's main: options become those of the broker. */
#include "tests/unit/queue_daemon/daemon_mains.h"

#include "queue/daemon/queue_daemon.h"

static enum status loop_ends;
static void (*look)(const struct queue_daemon_options *options);

enum status __wrap_queue_daemon_run(const struct queue_daemon_options *options, struct reason *why);

enum status
__wrap_queue_daemon_run(const struct queue_daemon_options *options, struct reason *why)
{
    assert_socket(options->endpoints[0], "run/queue.sock");
    assert_null(options->endpoints[1]); /* the only node */
    assert_socket(options->metastore, "run/metastore.sock");
    assert_path(options->broker.store.folder, "queue");
    assert_string_equal(options->broker.directory, directory);
    assert_int_equal(cluster_node_count(options->broker.cluster), 1);
    assert_non_null(options->configured);
    assert_true(options->broker.store.sync);
    assert_true(options->broker.store.threads);
    tell_ready(options->ready_descriptor);
    assert_phase("queue", PROCESS_READY, "");
    if (look != NULL) {
        look(options);
    }
    return loop_ends == STATUS_OK ? STATUS_OK : status_fail(why, loop_ends, "the loop ended");
}

static void
ends_are_told(void **state)
{
    (void)state;
    check_ends("quadrille-queue", &loop_ends);
    check_ready("quadrille-queue");
    check_access("quadrille-queue");
}

static void
look_at_settings(const struct queue_daemon_options *options)
{
    const struct broker_options *broker = &options->broker;
    assert_int_equal(broker->index_partitions, 3);
    assert_int_equal(broker->attempts, 7 + 2); /* a process may die of a job, too */
    assert_int_equal(broker->group_delay_ms, 2000);
    assert_int_equal(broker->troubles.patience_ms, 120000);
    assert_int_equal(broker->troubles.failures, 5);
    assert_int_equal(broker->troubles.probe_ms, 300000);
    assert_int_equal(broker->troubles.probe_most_ms, 86400000);
    assert_int_equal(broker->high_water, 10000);
    assert_int_equal(broker->min_free, 256 << 20);
    assert_int_equal(broker->group_parallel, 16);
    assert_int_equal(broker->domain_budget, 100000);
}

/* The cache of one size is divided; so much log is written between checkpoints as is soon read. */
static void
look_at_small_cache(const struct queue_daemon_options *options)
{
    const struct broker_options *broker = &options->broker;
    assert_int_equal(broker->store.cache_bytes, 64 << 20);
    assert_int_equal(broker->store.checkpoint_bytes, 128 << 20);
    assert_int_equal(broker->store.recent_bytes, 32 << 20);
    assert_int_equal(broker->upcoming_bytes, 32 << 20);
    assert_int_equal(broker->seen_cache_bytes, 8 << 20);
}

static void
look_at_large_cache(const struct queue_daemon_options *options)
{
    assert_int_equal(options->broker.store.cache_bytes, 1 << 30);
    assert_int_equal(options->broker.store.checkpoint_bytes, 256 << 20);
}

static void
settings_reach_the_broker(void **state)
{
    static const struct {
        const char *arguments[ARGUMENTS_MOST];
        void (*look)(const struct queue_daemon_options *options);
    } cases[] = {
        {{"--dir", "DIR", "--set", "index.partitions=3", "--set", "fetch.attempts=7", "--set",
          "queue.group_delay=2s", "--set", "queue.host_patience=2m"},
         look_at_settings},
        {{"--dir", "DIR", "--set", "queue.cache=64M"}, look_at_small_cache},
        {{"--dir", "DIR", "--set", "queue.cache=1G"}, look_at_large_cache},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        look = cases[i].look;
        assert_int_equal(call_main("quadrille-queue", cases[i].arguments), EXIT_DONE);
    }
    look = NULL;
}

int
__wrap_main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ends_are_told, directory_make, directory_remove),
        cmocka_unit_test_setup_teardown(settings_reach_the_broker, directory_make,
                                        directory_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
