/* quadrille-metastore's main: options become those of the store and of what it keeps for others. */
#include "tests/unit/queue_daemon/daemon_mains.h"

#include "metastore/metastore_daemon.h"

static enum status loop_ends;
static uint64_t cache_bytes = 128 << 20, checkpoint_bytes = 128 << 20, reserve = 128 << 20;
static uint64_t kept_size = 1 << 30;
static int kept_level = 1;
static const char *contact = "";

enum status __wrap_meta_daemon_run(const struct meta_daemon_options *options, struct reason *why);

enum status
__wrap_meta_daemon_run(const struct meta_daemon_options *options, struct reason *why)
{
    assert_socket(options->endpoints[0], "run/metastore.sock");
    assert_null(options->endpoints[1]); /* the only node */
    assert_null(options->keys);
    assert_path(options->archive, "warc");
    assert_path(options->store.folder, "metastore");
    assert_int_equal(options->store.cache_bytes, cache_bytes);
    assert_int_equal(options->store.checkpoint_bytes, checkpoint_bytes);
    assert_int_equal(options->store.disk_reserve, reserve);
    assert_true(options->store.sync);
    assert_string_equal(options->keep.node, "local");
    assert_string_equal(options->keep.process, "helpers");
    assert_int_equal(options->keep.size, kept_size);
    assert_int_equal(options->keep.level, kept_level);
    assert_string_equal(options->keep.prefix, "quadrille");
    assert_string_equal(options->keep.operator_contact, contact);
    tell_ready(options->ready_descriptor);
    assert_phase("metastore", PROCESS_READY, "");
    return loop_ends == STATUS_OK ? STATUS_OK : status_fail(why, loop_ends, "the loop ended");
}

static void
ends_are_told(void **state)
{
    (void)state;
    check_ends("quadrille-metastore", &loop_ends);
    check_ready("quadrille-metastore");
    check_access("quadrille-metastore");
}

static void
settings_reach_the_store(void **state)
{
    (void)state;
    cache_bytes = checkpoint_bytes = 64 << 20;
    reserve = 7 << 20;
    assert_int_equal(call_main("quadrille-metastore",
                               (const char *const[]){"--dir", "DIR", "--set", "metastore.cache=64M",
                                                     "--set", "metastore.disk_reserve=7M", NULL}),
                     EXIT_DONE);
    kept_size = 5 << 20;
    kept_level = 3;
    contact = "who@a.example";
    cache_bytes = 1 << 30;
    checkpoint_bytes = reserve = 128 << 20;
    assert_int_equal(
        call_main("quadrille-metastore",
                  (const char *const[]){"--dir", "DIR", "--set", "metastore.cache=1G", "--set",
                                        "warc.size=5M", "--set", "warc.level=3", "--set",
                                        "fetch.from=who@a.example", NULL}),
        EXIT_DONE);
}

int
__wrap_main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ends_are_told, directory_make, directory_remove),
        cmocka_unit_test_setup_teardown(settings_reach_the_store, directory_make, directory_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
