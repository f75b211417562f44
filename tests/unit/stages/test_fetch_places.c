/* Where hosts are and when they may be asked: fetch.hosts_file, addresses under way, rests;
 * what is remembered of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "queue/cluster/queue_options.h"
#include "stages/fetch/hosts/fetch_hosts.h"
#include "stages/fetch/hosts/host_delays.h"
#include "stages/fetch/http/address_limit.h"
#include "stages/fetch/http/fetch_http.h"
#include "stages/fetch/http/hosts_file.h"
#include "stages/fetch/http/http_settings.h"
#include "stages/fetch/http/http_state.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/scratch.h"
#include "tests/unit/stages/fetch_proxies.h"

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
    address_limit_free(address_limit);
    address_limit_free(NULL);
}

/* The array of descriptors has a place for whichever number comes, and what it held stays. */
static void
each_descriptor_has_its_place(void **state)
{
    enum { NUMBERS = 40 };
    struct fetch_http http = {0};
    (void)state;
    for (int number = 0; number < NUMBERS; number++) {
        struct descriptor *descriptor = fetch_http_descriptor(&http, number);
        assert_true(http.descriptors.count > (size_t)number);
        assert_int_equal(descriptor->watched, 0);
        descriptor->watched = (uint32_t)number + 1;
    }
    for (int number = 0; number < NUMBERS; number++) {
        assert_int_equal(fetch_http_descriptor(&http, number)->watched, number + 1);
    }
    free(http.descriptors.all);
}

/* ---- open files ---- */

static uint64_t files_limit; /* 0: it cannot be raised */

enum status __wrap_file_raise_limit(uint64_t *limit, struct reason *why);
enum status
__wrap_file_raise_limit(uint64_t *limit, struct reason *why)
{
    *limit = files_limit;
    return files_limit > 0 ? STATUS_OK : status_fail(why, STATUS_SYSTEM, "no limit");
}

static void
watch_nothing(void *context, int descriptor, uint32_t events)
{
    (void)context, (void)descriptor, (void)events;
}

static void
set_no_timer(void *context, uint64_t delay_ms)
{
    (void)context, (void)delay_ms;
}

/* Returns how many handles there are of 128 idle connections; 0: it does not open, for this reason.
 */
static size_t
handles_with(uint64_t files, const char *window, const char *connections, struct reason *why)
{
    static const struct opt *const tables[] = {fetch_options, queue_options, NULL};
    const struct fetch_loop loop = {watch_nothing, set_no_timer, NULL};
    struct opt_set *options = opt_set_new(tables);
    struct fetch_http *http;
    assert_int_equal(opt_set_assign(options, window, NULL), STATUS_OK);
    assert_int_equal(opt_set_assign(options, connections, NULL), STATUS_OK);
    files_limit = files;
    why->text[0] = '\0';
    const enum status status = fetch_http_open(&http, options, &loop, why);
    const size_t count = http->multi_count;
    assert_int_equal(status, count > 0 ? STATUS_OK : files > 0 ? STATUS_MISUSE : STATUS_SYSTEM);
    fetch_http_close(http);
    opt_set_free(options);
    return count;
}

/* Requests come first, slow ones and 256 other files too; idle connections have the rest. */
static void
idle_connections_have_what_files_are_left(void **state)
{
    enum { OTHER = 256, SLOW_LEAST = 512 };
    struct reason why;
    (void)state;
    assert_int_equal(handles_with(0, "fetch.window=100", "fetch.connections=300", &why), 0);
    assert_string_equal(why.text, "no limit");
    const uint64_t busy = OTHER + 100 + SLOW_LEAST;
    assert_int_equal(handles_with(busy, "fetch.window=100", "fetch.connections=300", &why), 0);
    assert_string_equal(why.text,
                        "fetch.window needs 868 open files, and the limit is 868 (ulimit -Hn)");
    assert_int_equal(handles_with(busy + 1, "fetch.window=100", "fetch.connections=300", &why), 1);
    assert_int_equal(handles_with(busy + 255, "fetch.window=100", "fetch.connections=300", &why),
                     2);
    assert_int_equal(handles_with(busy + 256, "fetch.window=100", "fetch.connections=300", &why),
                     3);
    assert_int_equal(handles_with(1 << 20, "fetch.window=100", "fetch.connections=383", &why), 3);
    assert_int_equal(handles_with(1 << 20, "fetch.window=100", "fetch.connections=384", &why), 4);
    /* Half as many as the window may be slow, when that is more. */
    const uint64_t wide = OTHER + 2000 + 1000;
    assert_int_equal(handles_with(wide, "fetch.window=2000", "fetch.connections=9", &why), 0);
    assert_string_equal(why.text,
                        "fetch.window needs 3256 open files, and the limit is 3256 (ulimit -Hn)");
    assert_int_equal(handles_with(wide + 1, "fetch.window=2000", "fetch.connections=9", &why), 1);
    assert_int_equal(
        handles_with(OTHER + 1026 + 513, "fetch.window=1026", "fetch.connections=9", &why), 0);
    assert_int_equal(
        handles_with(OTHER + 1022 + 512, "fetch.window=1022", "fetch.connections=9", &why), 0);
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

/* ---- settings ---- */

static bool
has_line(const struct curl_slist *list, const char *line)
{
    for (; list != NULL; list = list->next) {
        if (strcmp(list->data, line) == 0) {
            return true;
        }
    }
    return false;
}

static size_t
length_of(const struct curl_slist *list)
{
    size_t n = 0;
    for (; list != NULL; list = list->next) {
        n++;
    }
    return n;
}

static void
open_settings(struct http_settings *settings, const char *const *assignments)
{
    static const struct opt *const tables[] = {fetch_options, NULL};
    struct opt_set *options = opt_set_new(tables);
    for (; *assignments != NULL; assignments++) {
        assert_int_equal(opt_set_assign(options, *assignments, NULL), STATUS_OK);
    }
    *settings = (struct http_settings){0};
    http_settings_open(settings, options);
    opt_set_free(options);
}

static void
requests_are_as_the_options_say(void **state)
{
    struct http_settings settings;
    (void)state;
    open_settings(&settings, (const char *const[]){"fetch.user_agent=bot/1",
                                                   "fetch.from=me@example.org", "fetch.ca_file=/ca",
                                                   "fetch.timeout=7", "fetch.connect_timeout=3",
                                                   "fetch.patience=2001ms", "fetch.size=5M",
                                                   "fetch.memory=90M", "fetch.http2=no", NULL});
    assert_true(has_line(settings.headers, "User-Agent: bot/1"));
    assert_true(has_line(settings.headers, "From: me@example.org"));
    assert_true(has_line(settings.headers, "Accept-Encoding: gzip, deflate, br, zstd"));
    assert_int_equal(length_of(settings.headers), 4);
    assert_int_equal(strncmp(settings.accept_resource, "Accept: ", 8), 0);
    assert_string_equal(settings.user_agent, "bot/1");
    assert_string_equal(settings.ca_file, "/ca");
    assert_string_equal(settings.anonymous, "anonymous:me@example.org");
    assert_int_equal(settings.timeout_ms, 7000);
    assert_int_equal(settings.connect_timeout_ms, 3000);
    assert_int_equal(settings.stall_seconds, 3); /* whole seconds, and not less */
    assert_int_equal(settings.size, 5 << 20);
    assert_int_equal(settings.memory, 90 << 20);
    assert_true(settings.header_size > 0);
    assert_false(settings.http2);
    for (int i = 0; i < SCHEME_COUNT; i++) {
        assert_null(settings.connect[i]);
    }
    http_settings_release(&settings);
    open_settings(&settings, (const char *const[]){"fetch.user_agent=", "fetch.from=",
                                                   "fetch.patience=2", "fetch.http2=yes", NULL});
    assert_int_equal(length_of(settings.headers), 2);
    assert_string_equal(settings.anonymous, "anonymous:anonymous@");
    assert_int_equal(settings.stall_seconds, 2);
    assert_true(settings.http2);
    http_settings_release(&settings);
}

/* What is said for one scheme goes before what is said for all. */
static void
connections_are_directed_by_scheme(void **state)
{
    static const char *const wanted[SCHEME_COUNT][3] = {
        [SCHEME_HTTP] = {"::all:1", "a:80:b:81", "::[::1]:2"},
        [SCHEME_HTTPS] = {"::secure:3", "::all:1", "a:80:b:81"},
        [SCHEME_FTP] = {"::[::9]:21", "::all:1", "a:80:b:81"},
    };
    struct http_settings settings;
    (void)state;
    open_settings(&settings,
                  (const char *const[]){"fetch.connect_to=all:1 a:80:b:81 [::1]:2 https=secure:3 "
                                        "ftp=[::9]:21",
                                        NULL});
    for (int i = 0; i < SCHEME_COUNT; i++) {
        const struct curl_slist *rule = settings.connect[i];
        for (size_t k = 0; k < 3; k++, rule = rule->next) {
            assert_non_null(rule);
            assert_string_equal(rule->data, wanted[i][k]);
        }
        assert_int_equal(length_of(settings.connect[i]), i == SCHEME_HTTP ? 3 : 4);
    }
    http_settings_release(&settings);
}

/* ---- rests ---- */

static void
note_failures(struct host_delays *host_delays, uint64_t host)
{
    const struct pace failing = {.failures = 7};
    host_delays_join(host_delays, host, &failing, 2000);
    host_delays_part(host_delays, host);
}

static unsigned
failures_of(struct host_delays *host_delays, uint64_t host)
{
    return host_delays_pace(host_delays, host)->failures;
}

/* Who has nothing to do is forgotten when the list is full: at first when 1024 hosts are known,
 * then when there are twice as many as were left. */
static void
hosts_of_long_ago_are_forgotten(void **state)
{
    enum { FULL = 1024 };
    struct host_delays *host_delays = host_delays_new();
    struct host_delays_turn turn;
    (void)state;
    note_failures(host_delays, 1);
    for (uint64_t host = 2; host <= FULL; host++) {
        host_delays_until(host_delays, host, 5000, 2000);
    }
    assert_int_equal(failures_of(host_delays, 1), 7); /* the list is just full */
    note_failures(host_delays, FULL + 1);
    note_failures(host_delays, FULL + 2);
    assert_int_equal(failures_of(host_delays, FULL + 1), 7); /* there is room again */
    assert_int_equal(failures_of(host_delays, 1), 0);
    host_delays_free(host_delays);
    /* Who is asked, who has jobs and who has a line is kept. */
    host_delays = host_delays_new();
    for (uint64_t host = 1; host <= 3; host++) {
        note_failures(host_delays, host);
    }
    host_delays_begin(host_delays, 1, 2000);
    host_delays_join(host_delays, 2, &(struct pace){.failures = 8}, 2000);
    host_delays_line_up(host_delays, 3, &turn);
    for (uint64_t host = 4; host <= FULL + 1; host++) {
        host_delays_end(host_delays, host, 2000);
    }
    assert_int_equal(failures_of(host_delays, 1), 7);
    assert_int_equal(failures_of(host_delays, 2), 8);
    assert_int_equal(failures_of(host_delays, 3), 7);
    assert_ptr_equal(host_delays_next(host_delays, 3), &turn);
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

static void
one_line_holds_what_stands_before_the_next(void **state)
{
    struct names *names;
    struct reason why;
    (void)state;
    assert_int_equal(open_names(&names,
                                "\t127.0.0.1\t\ta\t b#c d\n127.0.0.2 c\n#127.0.0.3 e\n"
                                "127.0.0.4\n127.0.0.5 A f",
                                &why),
                     STATUS_OK);
    assert_string_equal(names_find(names, SLICE("a")), "127.0.0.1"); /* the first that names it */
    assert_string_equal(names_find(names, SLICE("b")), "127.0.0.1");
    assert_string_equal(names_find(names, SLICE("c")), "127.0.0.2");
    assert_string_equal(names_find(names, SLICE("f")), "127.0.0.5");
    assert_null(names_find(names, SLICE("d")));
    assert_null(names_find(names, SLICE("e")));
    assert_null(names_find(names, SLICE("")));
    names_close(names);
    assert_int_equal(open_names(&names, "127.0.0.256 a", &why), STATUS_BAD_INPUT);
    assert_non_null(strstr(why.text, ":1: no address begins the line"));
    names_close(names);
    assert_int_equal(open_names(&names, "127.0.0.1 a\n\nx", &why), STATUS_BAD_INPUT);
    assert_non_null(strstr(why.text, ":3: no address begins the line"));
    names_close(names);
    assert_int_equal(open_names(&names, "", &why), STATUS_OK);
    names_close(names);
    assert_int_equal(names_open(&names, "/nonexistent/hosts", &why), STATUS_NOT_FOUND);
    names_close(names);
    names_close(NULL);
}

static void
only_addresses_are_counted_and_only_with_a_limit(void **state)
{
    struct address_limit *none = address_limit_new(0), *one = address_limit_new(1);
    (void)state;
    for (int i = 0; i < 3; i++) {
        address_limit_move(none, 0, 7);
    }
    assert_false(address_limit_is_full(none, 7));
    address_limit_move(one, 0, 7);
    address_limit_move(one, 0, 7);
    address_limit_move(one, 7, 8); /* from one to the other */
    assert_true(address_limit_is_full(one, 7));
    assert_true(address_limit_is_full(one, 8));
    address_limit_move(one, 7, 0);
    assert_false(address_limit_is_full(one, 7));
    address_limit_move(one, 7, 0); /* none is left */
    address_limit_move(one, 0, 7);
    assert_true(address_limit_is_full(one, 7));
    address_limit_move(one, 0, 0);
    assert_false(address_limit_is_full(one, 0));
    address_limit_free(none);
    address_limit_free(one);
    address_limit_free(NULL);
}

/* A look at hosts that rest no more comes when 1,024 are known, and drops none that is busy, rests
 * or has a line. */
static void
a_sweep_leaves_who_is_waited_for(void **state)
{
    enum { KNOWN = 3000 };
    struct host_delays *host_delays = host_delays_new();
    static struct host_delays_turn turns[KNOWN];
    (void)state;
    for (uint64_t i = 1; i <= KNOWN; i++) {
        switch (i % 4) {
        case 0:
            host_delays_begin(host_delays, i, 10);
            break;
        case 1:
            host_delays_until(host_delays, i, 1000 + i, 10);
            break;
        case 2:
            host_delays_until(host_delays, i, 5, 10); /* is over */
            host_delays_line_up(host_delays, i, &turns[i - 1]);
            break;
        default:
            host_delays_until(host_delays, i, 10, 10); /* is just over */
            break;
        }
    }
    for (uint64_t i = 1; i <= KNOWN; i++) {
        assert_int_equal(host_delays_is_busy(host_delays, i), i % 4 == 0);
        assert_int_equal(host_delays_wait_ms(host_delays, i, 10), i % 4 == 1 ? 990 + i : 0);
        assert_ptr_equal(host_delays_leave(host_delays, i), i % 4 == 2 ? &turns[i - 1] : NULL);
    }
    host_delays_free(host_delays);
    host_delays_free(NULL);
}

static void
a_line_goes_on_behind_who_left(void **state)
{
    struct host_delays *host_delays = host_delays_new();
    struct host_delays_turn turns[4];
    (void)state;
    assert_null(host_delays_leave(host_delays, 1)); /* it is not known */
    host_delays_begin(host_delays, 1, 0);
    assert_null(host_delays_leave(host_delays, 1));
    host_delays_line_up(host_delays, 1, &turns[0]);
    host_delays_line_up(host_delays, 1, &turns[1]);
    assert_ptr_equal(host_delays_leave(host_delays, 1), &turns[0]); /* although it is busy */
    host_delays_line_up(host_delays, 1, &turns[2]);
    assert_ptr_equal(host_delays_leave(host_delays, 1), &turns[1]);
    assert_ptr_equal(host_delays_leave(host_delays, 1), &turns[2]);
    assert_null(host_delays_leave(host_delays, 1));
    host_delays_line_up(host_delays, 1, &turns[3]); /* a line begins anew */
    assert_null(host_delays_next(host_delays, 1));
    host_delays_end(host_delays, 1, 0);
    assert_ptr_equal(host_delays_next(host_delays, 1), &turns[3]);
    host_delays_until(host_delays, 1, 100, 0);
    assert_int_equal(host_delays_wait_ms(host_delays, 1, 99), 1);
    assert_int_equal(host_delays_wait_ms(host_delays, 1, 100), 0);
    assert_int_equal(host_delays_wait_ms(host_delays, 1, 101), 0);
    host_delays_free(host_delays);
}

static size_t rules_bytes; /* of any host's rules; 0: as many as they are */
size_t __wrap_robots_size(const struct robots *robots);
size_t __real_robots_size(const struct robots *robots);

size_t
__wrap_robots_size(const struct robots *robots)
{
    return rules_bytes > 0 ? rules_bytes : __real_robots_size(robots);
}

static struct host *
put_host(struct hosts *hosts, const char *origin, const char *rules, const char *reason)
{
    const enum host_access access = rules != NULL    ? HOST_BY_RULES
                                    : reason != NULL ? HOST_UNREACHABLE
                                                     : HOST_OPEN;
    return hosts_put(hosts, slice_string(origin), access,
                     rules != NULL ? robots_parse(slice_string(rules), SLICE("quadrille")) : NULL,
                     1000, reason);
}

/* New rules of a host leave what else is known of it, but for what was asked under the old ones. */
static void
rules_are_replaced_and_the_rest_stays(void **state)
{
    struct hosts *hosts = hosts_new(1);
    struct host *host = put_host(hosts, "http://a", NULL, NULL);
    (void)state;
    assert_int_equal(host->sitemaps_depth, UINT32_MAX);
    assert_int_equal(host->guess_depth, UINT32_MAX);
    assert_string_equal(host->reason, "");
    assert_true(host_allows(host, SLICE("http://a/private/x")));
    host_set_cover(host, SLICE("http://a/ d"), SLICE("http://a/ n"), 7);
    host->sitemaps_depth = 3;
    host->void_asked = true;
    host->balance = balance_new(40);
    struct balance *const balance = host->balance;
    host = put_host(hosts, "http://a", "User-agent: *\nDisallow: /private\n", NULL);
    assert_ptr_equal(host->balance, balance);
    assert_int_equal(host->sitemaps_depth, 3);
    assert_false(host->void_asked);
    assert_int_equal(host->cover_read_ms, 7);
    assert_true(slice_is(host_covering(host, SLICE("http://a/x")), "d"));
    assert_true(slice_is(host_authority(host, SLICE("http://a/x")), "n"));
    assert_false(host_allows(host, SLICE("http://a/private/x")));
    assert_true(host_allows(host, SLICE("http://a/public")));
    host = put_host(hosts, "http://a", NULL, "it is away");
    assert_int_equal(host->access, HOST_UNREACHABLE);
    assert_string_equal(host->reason, "it is away");
    assert_int_equal(host->expires_ms, 1000);
    assert_ptr_equal(hosts_find(hosts, SLICE("http://a"), 999), host);
    assert_null(hosts_find(hosts, SLICE("http://a"), 1000));
    assert_null(hosts_find(hosts, SLICE("http://b"), 0));
    hosts_free(hosts);
    hosts_free(NULL);
}

/* When the rules of all hosts are too large together, what is known of hosts is forgotten, but for
 * the one that comes: here every third of 100 MiB. */
static void
the_rules_of_all_hosts_have_a_bound(void **state)
{
    struct hosts *hosts = hosts_new(8);
    char origin[] = "http://0";
    (void)state;
    rules_bytes = 100 << 20;
    for (char c = '0'; c < '6'; c++) {
        origin[7] = c;
        (void)put_host(hosts, origin, "User-agent: *\nDisallow: /private\n", NULL);
        for (char known = '0'; known <= c; known++) {
            origin[7] = known;
            assert_int_equal(hosts_find(hosts, slice_string(origin), 0) != NULL,
                             known / 2 == c / 2);
        }
    }
    rules_bytes = 0;
    hosts_free(hosts);
    hosts = hosts_new(8);
    rules_bytes = 128 << 20; /* of which two are just as large as allowed */
    for (char c = '0'; c < '3'; c++) {
        origin[7] = c;
        (void)put_host(hosts, origin, "User-agent: *\nDisallow: /private\n", NULL);
        assert_int_equal(hosts_find(hosts, SLICE("http://0"), 0) != NULL, c < '2');
    }
    rules_bytes = 0;
    hosts_free(hosts);
}

/* A single set has eight places; the ninth takes that of who was not looked for the longest. */
static void
the_ninth_of_a_set_takes_the_oldest_place(void **state)
{
    struct hosts *hosts = hosts_new(8);
    char origin[] = "http://0";
    (void)state;
    for (char c = '0'; c < '8'; c++) {
        origin[7] = c;
        (void)put_host(hosts, origin, NULL, NULL);
    }
    for (char c = '0'; c < '8'; c++) {
        origin[7] = c;
        assert_non_null(hosts_find(hosts, slice_string(origin), 0));
    }
    assert_non_null(hosts_find(hosts, SLICE("http://0"), 0));
    (void)put_host(hosts, "http://8", NULL, NULL); /* in the place of 1 */
    assert_non_null(hosts_find(hosts, SLICE("http://0"), 0));
    assert_null(hosts_find(hosts, SLICE("http://1"), 0));
    (void)put_host(hosts, "http://2", NULL, "again"); /* which has a place */
    for (char c = '2'; c <= '8'; c++) {
        origin[7] = c;
        assert_non_null(hosts_find(hosts, slice_string(origin), 0));
    }
    hosts_free(hosts);
}

static void
calm_is_counted_while_plans_say_the_same(void **state)
{
    static const struct {
        const char *cover, *authorities;
        unsigned calm;
    } cases[] = {{"", "", 1},   {"", "", 2},  {"", "", 3},   {"", "", 3},
                 {"c", "", 0},  {"c", "", 1}, {"c", "a", 0}, {"c", "a", 1},
                 {"d", "a", 0}, {"d", "", 0}, {"", "", 0},   {"", "", 1}};
    struct hosts *hosts = hosts_new(1);
    struct host *host = put_host(hosts, "http://a", NULL, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        host_set_cover(host, slice_string(cases[i].cover), slice_string(cases[i].authorities), i);
        assert_int_equal(host->cover_calm, cases[i].calm);
        assert_int_equal(host->cover_read_ms, i);
        assert_int_equal(host->cover == NULL, cases[i].cover[0] == '\0');
        assert_int_equal(host->authorities == NULL, cases[i].authorities[0] == '\0');
    }
    hosts_free(hosts);
}

/* The longest prefix says it; what begins with "=" is a whole URL. */
static void
the_longest_prefix_says_whose_a_document_is(void **state)
{
    static const struct {
        const char *url, *of;
    } cases[] = {{"http://a/", "all"},
                 {"http://a/d/", "longer"},
                 {"http://a/d/x", "longer"},
                 {"http://a/d/one", "alone"},
                 {"http://a/d/one/", "longer"},
                 {"http://b/", ""},
                 {"http://a", ""},
                 {"http://a/e", "all"}};
    struct hosts *hosts = hosts_new(1);
    struct host *host = put_host(hosts, "http://a", NULL, NULL);
    (void)state;
    assert_true(slice_is(host_covering(host, SLICE("http://a/")), ""));
    host_set_cover(host,
                   SLICE("http://a/ all\nhttp://a/d/  longer \nhttp://a/ late\n"
                         "=http://a/d/one alone\n"),
                   SLICE(""), 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(slice_is(host_covering(host, slice_string(cases[i].url)), cases[i].of));
        assert_true(slice_is(host_authority(host, slice_string(cases[i].url)), ""));
    }
    hosts_free(hosts);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_as_hosts_5_says),
        cmocka_unit_test(thousands_of_names_are_told_apart),
        cmocka_unit_test(an_address_takes_so_many_and_no_more),
        cmocka_unit_test(each_descriptor_has_its_place),
        cmocka_unit_test(idle_connections_have_what_files_are_left),
        cmocka_unit_test(a_host_rests_after_its_request),
        cmocka_unit_test(requests_are_as_the_options_say),
        cmocka_unit_test(connections_are_directed_by_scheme),
        cmocka_unit_test(hosts_of_long_ago_are_forgotten),
        cmocka_unit_test(jobs_of_a_host_stand_in_line),
        cmocka_unit_test(hosts_are_remembered),
        cmocka_unit_test(what_was_remembered_is_freed),
        cmocka_unit_test(one_line_holds_what_stands_before_the_next),
        cmocka_unit_test(only_addresses_are_counted_and_only_with_a_limit),
        cmocka_unit_test(a_sweep_leaves_who_is_waited_for),
        cmocka_unit_test(a_line_goes_on_behind_who_left),
        cmocka_unit_test(rules_are_replaced_and_the_rest_stays),
        cmocka_unit_test(the_rules_of_all_hosts_have_a_bound),
        cmocka_unit_test(the_ninth_of_a_set_takes_the_oldest_place),
        cmocka_unit_test(calm_is_counted_while_plans_say_the_same),
        cmocka_unit_test(the_longest_prefix_says_whose_a_document_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + fetch_proxies_run();
}
