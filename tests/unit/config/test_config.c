#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rpc/rpc.h"
#include "config/config.h"
#include "config/wanted_jobs.h"
#include "config/web_address.h"
#include "tests/unit/scratch.h"

static char folder[SCRATCH_SIZE];
static char path[PATH_MAX];

static int
folder_make(void **state)
{
    (void)state;
    return scratch_folder(folder, "test_config") ? 0 : -1;
}

static int
folder_remove(void **state)
{
    (void)state;
    char command[SCRATCH_SIZE + 16];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void
file_write(const char *name, const char *text)
{
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static void
folders_of_others_are_none(void **state)
{
    (void)state;
    static const char *const own[] = {"quadrille.conf", "fixed.conf", "cluster.conf"};
    struct reason why;
    assert_int_equal(config_check_directory("/nowhere", &why), STATUS_MISUSE);
    assert_int_equal(config_check_place("/nowhere", &why), STATUS_MISUSE);
    /* Nothing in it: a process may make its part there, a command has nothing to ask. */
    assert_int_equal(config_check_directory(folder, &why), STATUS_MISUSE);
    assert_non_null(strstr(why.text, "is no data directory; quadrille init"));
    assert_int_equal(config_check_place(folder, &why), STATUS_OK);
    file_write("scope.conf", "");
    assert_int_equal(config_check_place(folder, &why), STATUS_OK);
    file_write("theirs", "");
    assert_int_equal(config_check_place(folder, &why), STATUS_MISUSE);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        file_write(own[i], "");
        assert_int_equal(config_check_directory(folder, &why), STATUS_OK);
        assert_int_equal(config_check_place(folder, &why), STATUS_OK);
        (void)unlink(path);
    }
    file_write("theirs", "");
    assert_int_equal(config_check_directory(path, &why), STATUS_MISUSE); /* a file */
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/scope.conf", folder);
    (void)unlink(path);
}

static void
later_sources_win(void **state)
{
    (void)state;
    struct opt_set *options;
    struct reason why;
    struct flag_list assignments = {.items = {"log.level=error"}, .count = 1};
    assert_int_equal(config_load(folder, NULL, &options, &why), STATUS_OK); /* no file */
    assert_string_equal(opt_string(options, "log.level"), "info");
    opt_set_free(options);
    file_write("quadrille.conf", "log.level = debug\nlog.format = json\n");
    assert_int_equal(config_load(folder, NULL, &options, &why), STATUS_OK);
    assert_string_equal(opt_string(options, "log.level"), "debug");
    opt_set_free(options);
    assert_int_equal(config_load(folder, &assignments, &options, &why), STATUS_OK);
    assert_string_equal(opt_string(options, "log.level"), "error");
    assert_string_equal(opt_string(options, "log.format"), "json");
    opt_set_free(options);
    assert_int_equal(config_load(NULL, &assignments, &options, &why), STATUS_OK);
    opt_set_free(options);
}

static void
errors_name_file_and_line(void **state)
{
    (void)state;
    struct opt_set *options;
    struct reason why;
    char expected[SCRATCH_SIZE + 128];
    file_write("quadrille.conf", "# a comment\nlog.level = loud\n");
    assert_int_equal(config_load(folder, NULL, &options, &why), STATUS_MISUSE);
    assert_null(options);
    (void)snprintf(expected, sizeof expected,
                   "%s/quadrille.conf:2: log.level: \"loud\" is not one of "
                   "error|warning|info|debug",
                   folder);
    assert_string_equal(why.text, expected);
}

static void
endpoints_lie_in_the_run_folder(void **state)
{
    (void)state;
    struct buf endpoint;
    struct stat info;
    buf_init(&endpoint, 1000);
    (void)snprintf(path, sizeof path, "%s/.//", folder);
    config_endpoint(path, "queue", &endpoint);
    (void)snprintf(path, sizeof path, "ipc://%s/run/queue.sock", folder);
    assert_string_equal(endpoint.data, path);
    (void)snprintf(path, sizeof path, "%s/run", folder);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    buf_release(&endpoint);
}

/* A socket's path may have 107 bytes; the folder's here has more. */
static void
long_paths_serve_at_the_same_place(void **state)
{
    (void)state;
    char name[120];
    struct buf first, second;
    struct stat info;
    struct rpc_server *server;
    struct reason why;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    buf_init(&first, 1000);
    buf_init(&second, 1000);
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
    config_endpoint(path, "queue", &first);
    config_endpoint(path, "queue", &second);
    assert_true(first.length < 108);
    assert_string_equal(first.data, second.data); /* one descriptor, however often */
    const char *const endpoints[] = {first.data, NULL};
    assert_int_equal(rpc_server_open(&server, endpoints, NULL, &why), STATUS_OK);
    (void)snprintf(path, sizeof path, "%s/%s/run/queue.sock", folder, name);
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISSOCK(info.st_mode));
    rpc_server_close(server);
    buf_release(&first);
    buf_release(&second);
}

static void
what_the_data_were_made_with_stays(void **state)
{
    (void)state;
    struct opt_set *options;
    struct reason why;
    const struct flag_list four = {.items = {"index.partitions=4"}, .count = 1};
    const struct flag_list three = {.items = {"index.partitions=3"}, .count = 1};
    (void)snprintf(path, sizeof path, "%s/quadrille.conf", folder);
    (void)unlink(path);
    assert_int_equal(config_load(folder, &four, &options, &why), STATUS_OK);
    assert_int_equal(config_fix(folder, options, &why), STATUS_OK);
    assert_int_equal(config_fix(folder, options, &why), STATUS_OK); /* once is enough */
    opt_set_free(options);
    assert_int_equal(config_load(folder, NULL, &options, &why), STATUS_OK);
    assert_int_equal(opt_integer(options, "index.partitions"), 4);
    opt_set_free(options);
    assert_int_equal(config_load(folder, &three, &options, &why), STATUS_MISUSE);
    assert_non_null(strstr(why.text, "index.partitions is 4 for the data in"));
    (void)snprintf(path, sizeof path, "%s/fixed.conf", folder);
    (void)unlink(path);
}

static void
jobs_are_wanted_with_the_latest_settings(void **state)
{
    (void)state;
    struct wanted_jobs wanted;
    struct opt_set *options;
    struct reason why;
    struct flag_list first = {.items = {"log.level=debug", "log.format=json"}, .count = 2};
    int one, other;
    file_write("quadrille.conf", "log.level = error\n");
    assert_int_equal(wanted_jobs_open(&wanted, folder, &why), STATUS_OK);
    assert_false(wanted_jobs_any(&wanted));

    assert_int_equal(wanted_jobs_claim(folder, &first, &one, &why), STATUS_OK);
    assert_true(wanted_jobs_any(&wanted));
    assert_int_equal(wanted_jobs_settings(&wanted, &options, &why), STATUS_OK);
    assert_string_equal(opt_string(options, "log.level"), "debug");
    assert_string_equal(opt_string(options, "log.format"), "json");
    opt_set_free(options);
    assert_int_equal(wanted_jobs_settings(&wanted, &options, &why), STATUS_OK);
    assert_null(options); /* nothing new */

    assert_int_equal(wanted_jobs_claim(folder, NULL, &other, &why), STATUS_OK);
    assert_int_equal(wanted_jobs_settings(&wanted, &options, &why), STATUS_OK);
    assert_string_equal(opt_string(options, "log.level"), "error");
    opt_set_free(options);
    close(one);
    assert_true(wanted_jobs_any(&wanted)); /* the other one wants them still */
    close(other);
    assert_false(wanted_jobs_any(&wanted));

    file_write("run/settings", "log.level=loud");
    assert_int_equal(wanted_jobs_settings(&wanted, &options, &why), STATUS_MISUSE);
    wanted_jobs_close(&wanted);
}

static void
web_service_says_where_it_is(void **state)
{
    (void)state;
    static const struct {
        const char *listen, *url;
    } cases[] = {
        {"127.0.0.1:0", "http://127.0.0.1:5/"}, {"0.0.0.0:80", "http://localhost:5/"},
        {"[::]:80", "http://localhost:5/"},     {":80", "http://localhost:5/"},
        {"[::1]:80", "http://[::1]:5/"},        {"data.example:80", "http://data.example:5/"}};
    char url[WEB_ADDRESS_SIZE];
    struct reason why;
    assert_int_equal(web_address_read(folder, url, &why), STATUS_NOT_FOUND);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int claim = web_address_claim(folder);
        assert_true(claim >= 0);
        assert_int_equal(web_address_read(folder, url, &why), STATUS_NOT_FOUND); /* not yet */
        web_address_tell(claim, cases[i].listen, 5);
        assert_int_equal(web_address_read(folder, url, &why), STATUS_OK);
        assert_string_equal(url, cases[i].url);
        assert_int_equal(web_address_claim(folder), -1);
        close(claim); /* whatever ended it */
        assert_int_equal(web_address_read(folder, url, &why), STATUS_NOT_FOUND);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_of_others_are_none),
        cmocka_unit_test(later_sources_win),
        cmocka_unit_test(errors_name_file_and_line),
        cmocka_unit_test(what_the_data_were_made_with_stays),
        cmocka_unit_test(endpoints_lie_in_the_run_folder),
        cmocka_unit_test(long_paths_serve_at_the_same_place),
        cmocka_unit_test(web_service_says_where_it_is),
        cmocka_unit_test(jobs_are_wanted_with_the_latest_settings),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
