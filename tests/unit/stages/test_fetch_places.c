/* Where hosts are and when they may be asked: fetch.hosts_file, addresses under way, rests;
 * what is remembered of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "stages/fetch/hosts/fetch_hosts.h"
#include "stages/fetch/hosts/host_delays.h"
#include "stages/fetch/http/address_limit.h"
#include "stages/fetch/http/hosts_file.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/scratch.h"

static enum status
open_names(struct names **names, const char *text, struct reason *why)
{
    char path[SCRATCH_SIZE];
    FILE *file = fdopen(scratch_file(path, "test_fetch_places"), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    const enum status status = names_open(names, path, why);
    unlink(path);
    return status;
}

static void
names_are_read_as_hosts_5_says(void **state)
{
    struct names *names;
    struct reason why;
    (void)state;
    assert_int_equal(open_names(&names,
                                "# mirrors\n\n127.0.0.2\tone.example  Two.Example # here\n"
                                "::1 six.example\n 127.0.0.3 one.example last.example",
                                &why),
                     STATUS_OK);
    assert_string_equal(names_find(names, SLICE("one.example")), "127.0.0.2");
    assert_string_equal(names_find(names, SLICE("two.example")), "127.0.0.2");
    assert_string_equal(names_find(names, SLICE("six.example")), "[::1]");
    assert_string_equal(names_find(names, SLICE("last.example")), "127.0.0.3");
    assert_null(names_find(names, SLICE("other.example")));
    names_close(names);

    assert_int_equal(open_names(&names, "127.0.0.1 a\nhost 127.0.0.1\n", &why), STATUS_BAD_INPUT);
    assert_non_null(strstr(why.text, ":2:"));
    names_close(names);
    assert_int_equal(names_open(&names, "", &why), STATUS_OK);
    assert_null(names_find(names, SLICE("a")));
    names_close(names);
}

static void
thousands_of_names_are_told_apart(void **state)
{
    enum { COUNT = 5000 };
    static char text[COUNT * 40];
    struct names *names;
    struct reason why;
    char host[40], address[40];
    size_t at = 0;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        at += (size_t)sprintf(text + at, "127.1.%d.%d h%d.example\n", i / 250, i % 250, i);
    }
    assert_int_equal(open_names(&names, text, &why), STATUS_OK);
    for (int i = 0; i < COUNT; i++) {
        sprintf(host, "h%d.example", i);
        sprintf(address, "127.1.%d.%d", i / 250, i % 250);
        assert_string_equal(names_find(names, slice_string(host)), address);
    }
    names_close(names);
}

static void
an_address_takes_so_many_and_no_more(void **state)
{
    struct address_limit *address_limit = address_limit_new(2);
    (void)state;
    assert_false(address_limit_is_full(address_limit, 7));
    address_limit_move(address_limit, 0, 7);
    address_limit_move(address_limit, 0, 7);
    assert_true(address_limit_is_full(address_limit, 7));
    assert_false(address_limit_is_full(address_limit, 8));
    address_limit_move(address_limit, 7, 0);
    assert_false(address_limit_is_full(address_limit, 7));
    for (int i = 0; i < 5; i++) {
        address_limit_move(address_limit, 0, 0);
    }
    assert_false(address_limit_is_full(address_limit, 0));
    assert_int_equal(address_limit_address(address_limit, 1), 0);
    address_limit_learn(address_limit, 1, 7);
    assert_int_equal(address_limit_address(address_limit, 1), 7);
    address_limit_free(address_limit);
}

static void
a_host_rests_after_its_request(void **state)
{
    struct host_delays *host_delays = host_delays_new();
    (void)state;
    assert_int_equal(host_delays_wait_ms(host_delays, 1, 1000), 0);
    host_delays_begin(host_delays, 1, 1000);
    assert_true(host_delays_is_busy(host_delays, 1));
    assert_false(host_delays_is_busy(host_delays, 2));
    assert_int_equal(host_delays_wait_ms(host_delays, 2, 1000), 0);
    host_delays_end(host_delays, 1, 1100);
    host_delays_until(host_delays, 1, 1600, 1100);
    host_delays_until(host_delays, 1, 1500, 1100);
    assert_int_equal(host_delays_wait_ms(host_delays, 1, 1100), 500);
    assert_int_equal(host_delays_wait_ms(host_delays, 1, 1600), 0);
    /* Others come and go; who rests stays known. */
    host_delays_until(host_delays, 1, 900000, 1600);
    for (uint64_t i = 10; i < 100000; i++) {
        host_delays_begin(host_delays, i, 2000 + i);
        host_delays_end(host_delays, i, 2000 + i);
    }
    assert_int_equal(host_delays_wait_ms(host_delays, 1, 800000), 100000);
    host_delays_free(host_delays);
}

static void
jobs_of_a_host_stand_in_line(void **state)
{
    struct host_delays *host_delays = host_delays_new();
    struct host_delays_turn turns[3];
    (void)state;
    assert_null(host_delays_next(host_delays, 1));
    host_delays_begin(host_delays, 1, 1000);
    for (size_t i = 0; i < 3; i++) {
        host_delays_line_up(host_delays, 1, &turns[i]);
    }
    assert_null(host_delays_next(host_delays, 1)); /* it is busy */
    host_delays_end(host_delays, 1, 1000);
    assert_ptr_equal(host_delays_next(host_delays, 1), &turns[0]);
    for (uint64_t i = 10; i < 100000; i++) { /* the line outlasts what is forgotten */
        host_delays_until(host_delays, i, 1, 2000);
    }
    assert_ptr_equal(host_delays_next(host_delays, 1), &turns[1]);
    assert_ptr_equal(host_delays_next(host_delays, 1), &turns[2]);
    assert_null(host_delays_next(host_delays, 1));
    host_delays_free(host_delays);
}

/* Half as many as there are places; more than there are places; what is looked for stays. */
static void
hosts_are_remembered(void **state)
{
    enum { PLACES = 20000, COUNT = PLACES / 2 };
    struct hosts *hosts = hosts_new(PLACES);
    char origin[40];
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(origin, sizeof origin, "http://h%zu.example", i);
        hosts_put(hosts, slice_string(origin), HOST_OPEN, NULL, 1000, NULL);
    }
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(origin, sizeof origin, "http://h%zu.example", i);
        found += hosts_find(hosts, slice_string(origin), 1) != NULL;
    }
    assert_true(found > COUNT * 95 / 100);
    assert_null(hosts_find(hosts, SLICE("http://h0.example"), 1000)); /* expired */
    hosts_put(hosts, SLICE("http://known.example"), HOST_UNREACHABLE, NULL, 1000, "why");
    for (size_t i = COUNT; i < 10 * COUNT; i++) {
        snprintf(origin, sizeof origin, "http://h%zu.example", i);
        hosts_put(hosts, slice_string(origin), HOST_OPEN, NULL, 1000, NULL);
        const struct host *host = hosts_find(hosts, SLICE("http://known.example"), 1);
        assert_non_null(host);
        assert_string_equal(host->reason, "why");
    }
    hosts_free(hosts);
}

static void
what_was_remembered_is_freed(void **state)
{
    enum { PLACES = 256, COUNT = 5000, SOME = 4096 };
    static const char rules[] = "User-agent: *\nDisallow: /private\n";
    (void)state;
    if (!memory_is_counted()) {
        skip();
    }
    for (int round = 0; round < 2; round++) { /* the first fills what the library keeps */
        const size_t before = memory_in_use();
        struct hosts *hosts = hosts_new(PLACES);
        for (size_t i = 0; i < COUNT; i++) {
            char origin[64];
            snprintf(origin, sizeof origin, "http://h%zu.example", i);
            struct host *host =
                hosts_put(hosts, slice_string(origin), HOST_BY_RULES,
                          robots_parse(SLICE(rules), SLICE("quadrille")), 1000, NULL);
            host_set_cover(host, SLICE("http://d.example/"), SLICE("somebody"), 1);
            host->balance = balance_new(40);
        }
        hosts_free(hosts);
        if (round == 1) {
            assert_in_range(memory_in_use(), 0, before + SOME);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_as_hosts_5_says),
        cmocka_unit_test(thousands_of_names_are_told_apart),
        cmocka_unit_test(an_address_takes_so_many_and_no_more),
        cmocka_unit_test(a_host_rests_after_its_request),
        cmocka_unit_test(jobs_of_a_host_stand_in_line),
        cmocka_unit_test(hosts_are_remembered),
        cmocka_unit_test(what_was_remembered_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
