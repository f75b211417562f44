/* crawl/scope.h: which URIs may be crawled. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/url/url.h"
#include "crawl/scope.h"
#include "crawl/traps.h"
#include "tests/unit/scratch.h"

struct fixture {
    char directory[SCRATCH_SIZE];
    struct opt_set *options;
};

static int
set_up(void **state)
{
    static const struct opt *const tables[] = {scope_options, traps_options, NULL};
    struct fixture *fixture = test_calloc(1, sizeof *fixture);
    assert_true(scratch_folder(fixture->directory, "test_scope"));
    fixture->options = opt_set_new(tables);
    *state = fixture;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    static const char *const files[] = {"scope.conf", "scope.version", "run/scope.lock"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", fixture->directory, files[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/run", fixture->directory);
    rmdir(path);
    rmdir(fixture->directory);
    opt_set_free(fixture->options);
    test_free(fixture);
    return 0;
}

static void
forget_options(struct fixture *fixture)
{
    static const struct opt *const tables[] = {scope_options, traps_options, NULL};
    opt_set_free(fixture->options);
    fixture->options = opt_set_new(tables);
}

static struct scope *
scope_with(struct fixture *fixture, const char *assignment)
{
    struct scope *scope = NULL;
    struct reason why = {""};
    if (assignment != NULL) {
        assert_int_equal(opt_set_assign(fixture->options, assignment, &why), STATUS_OK);
    }
    assert_int_equal(scope_open(&scope, fixture->options, fixture->directory, &why), STATUS_OK);
    return scope;
}

static bool
allows(struct scope *scope, const char *key, unsigned depth)
{
    return scope_allows(scope, slice_string(key), depth, NULL);
}

static void
without_rules_everything_is_in(void **state)
{
    struct scope *scope = scope_with(*state, NULL);
    assert_true(allows(scope, "http://anywhere.example/", 0));
    scope_close(scope);
}

static void
hosts_match_whole_and_without_case(void **state)
{
    struct scope *scope = scope_with(*state, "scope.hosts=Example.org, b.example");
    assert_true(allows(scope, "http://example.org/x", 1));
    assert_true(allows(scope, "https://b.example:8443/x", 1));
    assert_false(allows(scope, "http://www.example.org/", 1));
    assert_false(allows(scope, "http://notexample.org/", 1));
    scope_close(scope);
}

static void
domains_match_themselves_and_what_is_below(void **state)
{
    struct scope *scope = scope_with(*state, "scope.domains=example.org");
    assert_true(allows(scope, "http://example.org/", 1));
    assert_true(allows(scope, "http://a.b.EXAMPLE.org/", 1));
    assert_false(allows(scope, "http://org/", 1));
    assert_false(allows(scope, "http://example.org.net/", 1));
    assert_false(allows(scope, "http://badexample.org/", 1));
    scope_close(scope);
}

static void
prefixes_and_expressions_add_and_exclude_takes_away(void **state)
{
    struct fixture *fixture = *state;
    struct reason why = {""};
    assert_int_equal(
        opt_set_assign(fixture->options, "scope.prefixes=http://a.example/data/", &why), STATUS_OK);
    assert_int_equal(opt_set_assign(fixture->options, "scope.exclude=[?&]page=", &why), STATUS_OK);
    struct scope *scope = scope_with(fixture, "scope.include=^https?://[a-z]+[.]net/");
    assert_true(allows(scope, "http://a.example/data/1", 1));
    assert_false(allows(scope, "http://a.example/other", 1));
    assert_true(allows(scope, "https://some.net/x", 1));
    assert_false(allows(scope, "https://some.net/x?page=2", 1));
    scope_close(scope);
}

static void
depth_and_repeating_paths_are_cut_and_named(void **state)
{
    const char *because = NULL;
    struct scope *scope = scope_with(*state, "scope.depth=3");
    assert_true(allows(scope, "http://a.example/", 3));
    assert_false(scope_allows(scope, SLICE("http://a.example/"), 4, &because));
    assert_string_equal(because, "scope.depth");
    assert_true(allows(scope, "http://a.example/x/y/z/x/y/x", 1));
    assert_false(scope_allows(scope, SLICE("http://a.example/x/y/x/y/x/y/x"), 1, &because));
    assert_string_equal(because, "traps.cycles: a segment stands too often");
    scope_close(scope);
}

static void
a_saved_scope_overrides_and_is_read_again(void **state)
{
    struct fixture *fixture = *state;
    struct reason why = {""};
    struct scope *scope = scope_with(fixture, "scope.hosts=a.example");
    const char *first[] = {"scope.hosts=b.example"};
    const char *second[] = {"scope.hosts=c.example,d.example", "scope.depth=1"};
    assert_int_equal(scope_save(fixture->directory, first, 1, &why), STATUS_OK);
    scope_refresh(scope);
    assert_false(allows(scope, "http://a.example/", 1));
    assert_true(allows(scope, "http://b.example/", 1));
    assert_int_equal(scope_save(fixture->directory, second, 2, &why), STATUS_OK);
    scope_refresh(scope);
    assert_false(allows(scope, "http://b.example/", 1));
    assert_true(allows(scope, "http://d.example/", 1));
    assert_false(allows(scope, "http://d.example/", 2));
    scope_close(scope);
}

static void
hosts_of_many_seeds_are_kept_and_found(void **state)
{
    enum { HOSTS = 20000 };
    struct fixture *fixture = *state;
    struct reason why = {""};
    struct buf hosts;
    buf_init(&hosts, SCOPE_TEXT_MAXIMUM);
    buf_append_string(&hosts, "scope.hosts=");
    for (int i = 0; i < HOSTS; i++) {
        buf_printf(&hosts, "%sh%d.web.example", i > 0 ? "," : "", i);
    }
    const char *saved[] = {hosts.data};
    assert_int_equal(scope_save(fixture->directory, saved, 1, &why), STATUS_OK);
    buf_release(&hosts);
    struct scope *scope = scope_with(fixture, NULL);
    char key[64];
    for (int i = -1; i <= HOSTS; i++) {
        snprintf(key, sizeof key, "http://h%d.web.example/", i);
        assert_int_equal(allows(scope, key, 1), i >= 0 && i < HOSTS);
    }
    scope_close(scope);
}

static void
a_wrong_rule_is_refused_and_named(void **state)
{
    struct fixture *fixture = *state;
    struct reason why = {""};
    const char *wrong[] = {"scope.exclude=([a-z"};
    const char *unknown[] = {"scope.colour=red"};
    assert_int_equal(scope_save(fixture->directory, wrong, 1, &why), STATUS_MISUSE);
    assert_non_null(strstr(why.text, "scope.exclude"));
    assert_int_equal(scope_save(fixture->directory, unknown, 1, &why), STATUS_MISUSE);
    assert_non_null(strstr(why.text, "scope.colour"));
}

/* ---- versions ---- */

static void
write_by_hand(const struct fixture *fixture, const char *text, bool long_ago)
{
    char path[128];
    snprintf(path, sizeof path, "%s/scope.conf", fixture->directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    if (long_ago) {
        const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
}

static void
settle(const struct fixture *fixture, uint64_t configured)
{
    struct reason why;
    int lock;
    assert_int_equal(scope_file_lock(fixture->directory, &lock, &why), STATUS_OK);
    assert_int_equal(scope_file_settle(fixture->directory, &configured, &why), STATUS_OK);
    close(lock);
}

static uint64_t
version_of(const struct fixture *fixture)
{
    struct scope_edition edition;
    (void)scope_edition_read(fixture->directory, &edition);
    return edition.version;
}

static void
every_change_has_a_larger_version(void **state)
{
    struct fixture *fixture = *state;
    struct reason why = {""};
    const char *line[] = {"scope.hosts=b.example"};
    assert_int_equal(version_of(fixture), 0);
    settle(fixture, 1);
    const uint64_t first = version_of(fixture);
    assert_true(first > 0);
    settle(fixture, 1);
    assert_int_equal(version_of(fixture), first);
    assert_int_equal(scope_save(fixture->directory, line, 1, &why), STATUS_OK);
    const uint64_t second = version_of(fixture);
    assert_true(second > first);
    assert_int_equal(scope_save(fixture->directory, line, 1, &why), STATUS_OK);
    assert_int_equal(version_of(fixture), second);
    settle(fixture, 2); /* other options */
    const uint64_t third = version_of(fixture);
    assert_true(third > second);
    write_by_hand(fixture, "scope.hosts = d.example\n", true);
    settle(fixture, 2);
    assert_true(version_of(fixture) > third);
}

static void
rules_are_never_older_than_their_version(void **state)
{
    struct fixture *fixture = *state;
    struct reason why = {""};
    const char *line[] = {"scope.hosts=b.example"};
    struct scope *scope = scope_with(fixture, "scope.hosts=a.example");
    assert_int_equal(scope_at_least(scope, 0), 0);
    assert_int_equal(scope_save(fixture->directory, line, 1, &why), STATUS_OK);
    assert_int_equal(scope_at_least(scope, 0), 0); /* nobody has asked for it */
    assert_false(allows(scope, "http://b.example/", 1));
    assert_int_equal(scope_at_least(scope, version_of(fixture)), version_of(fixture));
    assert_true(allows(scope, "http://b.example/", 1));
    scope_close(scope);
}

/* A file without rules lets everything in, and an editor may begin with one. */
static void
a_file_under_an_editor_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    struct scope *scope = scope_with(fixture, "scope.hosts=a.example");
    write_by_hand(fixture, "scope.hosts =\n", false);
    scope_refresh(scope);
    assert_false(allows(scope, "http://c.example/", 1));
    write_by_hand(fixture, "scope.hosts = c.example\n", true);
    scope_refresh(scope);
    assert_true(allows(scope, "http://c.example/", 1));
    scope_close(scope);
}

static void
programs_that_change_it_at_one_moment_wait_for_each_other(void **state)
{
    enum { NAMES = 4, ROUNDS = 25 };
    static const char *const names[NAMES] = {"scope.depth", "scope.prefixes", "scope.hosts",
                                             "scope.domains"};
    struct fixture *fixture = *state;
    pid_t children[NAMES];
    for (int i = 0; i < NAMES; i++) {
        children[i] = fork();
        for (int round = 1; children[i] == 0; round++) {
            char text[64];
            struct reason why;
            const char *line[1] = {text};
            snprintf(text, sizeof text, "%s=%d%s", names[i], round, i < 2 ? "" : ".example");
            if (scope_save(fixture->directory, line, 1, &why) != STATUS_OK || round == ROUNDS) {
                _exit(round == ROUNDS ? 0 : 1);
            }
        }
    }
    for (int i = 0; i < NAMES; i++) {
        int how;
        assert_int_equal(waitpid(children[i], &how, 0), children[i]);
        assert_int_equal(how, 0);
    }
    struct scope *scope = scope_with(fixture, NULL);
    assert_true(allows(scope, "http://25.example/", 25));
    assert_false(allows(scope, "http://24.example/", 25));
    assert_false(allows(scope, "http://25.example/", 26));
    assert_true(allows(scope, "http://sub.25.example/", 1));
    scope_close(scope);
}

/* Which the time and the size of the file tell. */
static void
a_file_that_did_not_change_is_not_read_again(void **state)
{
    struct fixture *fixture = *state;
    write_by_hand(fixture, "scope.hosts = a.example\n", true);
    struct scope *scope = scope_with(fixture, NULL);
    write_by_hand(fixture, "scope.hosts = b.example\n", true);
    scope_refresh(scope);
    assert_true(allows(scope, "http://a.example/", 1));
    write_by_hand(fixture, "scope.hosts = bb.example\n", true); /* longer */
    scope_refresh(scope);
    assert_true(allows(scope, "http://bb.example/", 1));
    assert_false(allows(scope, "http://a.example/", 1));
    write_by_hand(fixture, "scope.hosts = cc.example\n", true);
    scope_refresh(scope);
    assert_true(allows(scope, "http://bb.example/", 1));
    scope_close(scope);
}

/* A file that is broken changes nothing until it is mended, but for the version. */
static void
a_broken_file_keeps_the_rules(void **state)
{
    struct fixture *fixture = *state;
    struct reason why = {""};
    struct scope *scope = scope_with(fixture, "scope.hosts=a.example");
    write_by_hand(fixture, "scope.hosts = c.example\nscope.exclude = ([a-z\n", true);
    settle(fixture, 1);
    scope_refresh(scope);
    assert_true(allows(scope, "http://a.example/", 1));
    assert_false(allows(scope, "http://c.example/", 1));
    assert_int_equal(scope_at_least(scope, 0), version_of(fixture));
    assert_true(scope_at_least(scope, 0) > 0);
    /* It is not read again and again; mended it is. */
    write_by_hand(fixture, "scope.hosts = c.example\nscope.exclude = [a-z]\n", true);
    scope_refresh(scope);
    assert_true(allows(scope, "http://a.example/", 1));
    write_by_hand(fixture, "scope.hosts = c.example\n", true);
    scope_refresh(scope);
    assert_true(allows(scope, "http://c.example/", 1));
    scope_close(scope);
    /* A start refuses it, and so wrong options. */
    write_by_hand(fixture, "scope.include = ([a-z\n", true);
    assert_int_equal(scope_open(&scope, fixture->options, fixture->directory, &why), STATUS_MISUSE);
    assert_non_null(strstr(why.text, "scope.include"));
    write_by_hand(fixture, "scope.colour = red\n", true);
    assert_int_equal(scope_open(&scope, fixture->options, fixture->directory, &why), STATUS_MISUSE);
    assert_non_null(strstr(why.text, "scope.colour"));
}

static void
who_saves_waits_for_who_does(void **state)
{
    struct fixture *fixture = *state;
    struct reason why = {""};
    int lock, ends[2], how;
    char byte;
    assert_int_equal(scope_file_lock(fixture->directory, &lock, &why), STATUS_OK);
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const char *line[] = {"scope.hosts=b.example"};
        close(lock);
        const enum status status = scope_save(fixture->directory, line, 1, &why);
        _exit(write(ends[1], "x", 1) == 1 && status == STATUS_OK ? 0 : 1);
    }
    struct pollfd waits = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&waits, 1, 100), 0);
    close(lock);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    close(ends[0]);
    close(ends[1]);
    assert_true(version_of(fixture) > 0);
}

static void
scopes_that_are_local(void **state)
{
    static const struct {
        const char *assignments[3];
        bool said, local;
    } cases[] = {
        {{NULL}, false, false},
        {{"scope.hosts=localhost"}, true, true},
        {{"scope.hosts=LocalHost,127.0.0.1,127.9.9.9,::1,[::1]"}, true, true},
        {{"scope.hosts=localhost,a.example"}, true, false},
        {{"scope.hosts=a.example,localhost"}, true, false},
        {{"scope.hosts=128.0.0.1"}, true, false},
        {{"scope.hosts=*"}, true, false},
        {{"scope.domains=localhost"}, true, false},
        {{"scope.hosts=localhost", "scope.domains=a.example"}, true, false},
        {{"scope.hosts=localhost", "scope.prefixes=http://a.example/"}, true, false},
        {{"scope.hosts=localhost", "scope.include=a"}, true, false},
        {{"scope.hosts=localhost", "scope.exclude=a"}, true, true},
        {{"scope.exclude=a"}, false, false},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forget_options(fixture);
        for (size_t k = 0; k < 3 && cases[i].assignments[k] != NULL; k++) {
            struct reason why = {""};
            assert_int_equal(opt_set_assign(fixture->options, cases[i].assignments[k], &why),
                             STATUS_OK);
        }
        struct scope *scope = scope_with(fixture, NULL);
        assert_int_equal(scope_is_said(scope), cases[i].said);
        assert_int_equal(scope_is_local(scope), cases[i].local);
        scope_close(scope);
    }
}

static const char *
refused_by(struct scope *scope, const char *key, unsigned depth)
{
    const char *because = "not said";
    const bool allowed = scope_allows(scope, slice_string(key), depth, &because);
    assert_int_equal(allowed, because == NULL);
    return allowed ? "" : because;
}

static void
each_refusal_is_named(void **state)
{
    static const struct {
        const char *assignments[3], *key;
        unsigned depth;
        const char *because;
    } cases[] = {
        {{NULL}, "http://a.example/", 32, ""},
        {{NULL}, "http://a.example/", 33, "scope.depth"},
        {{"scope.depth=0"}, "http://a.example/", 0, ""},
        {{"scope.depth=0"}, "http://a.example/", 1, "scope.depth"},
        {{NULL}, "http://a.example/a/b/?/a/a/a/a/a", 0, ""},
        {{NULL}, "http://a.example//a//b//c//d//", 0, ""},
        {{NULL}, "http://a.example/a/1/a/2/a/3/b", 0, ""},
        {{NULL}, "http://a.example/a/1/a/2/a/3/a", 0, "traps.cycles: a segment stands too often"},
        {{NULL}, "http://a.example/a/aa/aaa/aaaa/aaaaa", 0, ""},
        {{"scope.include=(?i)^http://A[.]\\w+/\\d{2}$"}, "http://a.example/12", 0, ""},
        {{"scope.exclude=(a+)+[bc]"},
         "http://a.example/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         0,
         "scope.exclude"},
        {{NULL},
         "http://a.example/?PHPSESSID=0123456789abcdef0123456789abcdef",
         0,
         "traps.sessions"},
        {{"scope.hosts=*"}, "http://any.example/", 0, ""},
        {{"scope.hosts=b.example,a.example,c.example"}, "http://a.example/", 0, ""},
        {{"scope.hosts=a.example"}, "http://a.exampl/", 0, "outside"},
        {{"scope.hosts=a.example"}, "http://a.examplee/", 0, "outside"},
        {{"scope.domains=b.example,example.net"}, "http://x.y.example.net/", 0, ""},
        {{"scope.domains=example.net"}, "http://net/", 0, "outside"},
        {{"scope.prefixes=http://p.example/x,http://q.example/"}, "http://q.example/", 0, ""},
        {{"scope.prefixes=http://p.example/x"}, "http://p.example/", 0, "outside"},
        {{"scope.include=^http://x,^http://y"}, "http://y.example/", 0, ""},
        {{"scope.include=^http://x"}, "http://y.example/", 0, "outside"},
        {{"scope.include=^http://x", "scope.hosts=y.example"}, "http://y.example/", 0, ""},
        {{"scope.exclude=[.]pdf$,[.]gif$"}, "http://y.example/a.gif", 0, "scope.exclude"},
        {{"scope.exclude=[.]pdf$,[.]gif$"}, "http://y.example/a.html", 0, ""},
        {{"scope.exclude=secret", "scope.hosts=y.example"},
         "http://y.example/secret",
         0,
         "scope.exclude"},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forget_options(fixture);
        for (size_t k = 0; k < 3 && cases[i].assignments[k] != NULL; k++) {
            struct reason why = {""};
            assert_int_equal(opt_set_assign(fixture->options, cases[i].assignments[k], &why),
                             STATUS_OK);
        }
        struct scope *scope = scope_with(fixture, NULL);
        const char *because = refused_by(scope, cases[i].key, cases[i].depth);
        if (strncmp(because, cases[i].because, strlen(cases[i].because)) != 0 ||
            (because[0] == '\0') != (cases[i].because[0] == '\0')) {
            fail_msg("case %zu, %s: \"%s\"", i, cases[i].key, because);
        }
        assert_int_equal(allows(scope, cases[i].key, cases[i].depth), because[0] == '\0');
        scope_close(scope);
    }
    scope_close(NULL);
}

/* Only expressions need the URI in one piece; and a path has so many segments at most. */
static void
long_keys_have_limits(void **state)
{
    enum { SEGMENTS = 256 };
    struct fixture *fixture = *state;
    struct buf key, path;
    buf_init(&key, URL_MAXIMUM + 2);
    buf_init(&path, URL_MAXIMUM);
    buf_append_string(&key, "http://a.example/?");
    while (key.length < URL_MAXIMUM) {
        buf_append_char(&key, 'x');
    }
    struct reason why = {""};
    assert_int_equal(opt_set_assign(fixture->options, "traps.depth=0", &why), STATUS_OK);
    struct scope *any = scope_with(fixture, NULL);
    struct scope *some = scope_with(fixture, "scope.exclude=y$");
    assert_true(scope_allows(some, buf_slice(&key), 0, NULL));
    buf_append_char(&key, 'x');
    const char *because;
    assert_true(scope_allows(any, buf_slice(&key), 0, NULL));
    assert_false(scope_allows(some, buf_slice(&key), 0, &because));
    assert_string_equal(because, "length");
    buf_append_string(&path, "http://a.example");
    for (int i = 0; i < SEGMENTS; i++) {
        buf_printf(&path, "/%d", i);
    }
    assert_true(scope_allows(any, buf_slice(&path), 0, NULL));
    buf_append_string(&path, "/last");
    assert_false(scope_allows(any, buf_slice(&path), 0, &because));
    assert_string_equal(because, "traps.cycles: a segment stands too often");
    scope_close(any);
    scope_close(some);
    buf_release(&key);
    buf_release(&path);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(without_rules_everything_is_in),
        CASE(hosts_match_whole_and_without_case),
        CASE(domains_match_themselves_and_what_is_below),
        CASE(prefixes_and_expressions_add_and_exclude_takes_away),
        CASE(depth_and_repeating_paths_are_cut_and_named),
        CASE(a_saved_scope_overrides_and_is_read_again),
        CASE(every_change_has_a_larger_version),
        CASE(rules_are_never_older_than_their_version),
        CASE(a_file_under_an_editor_is_left_alone),
        CASE(a_file_that_did_not_change_is_not_read_again),
        CASE(a_broken_file_keeps_the_rules),
        CASE(who_saves_waits_for_who_does),
        CASE(scopes_that_are_local),
        CASE(programs_that_change_it_at_one_moment_wait_for_each_other),
        CASE(hosts_of_many_seeds_are_kept_and_found),
        CASE(a_wrong_rule_is_refused_and_named),
        CASE(each_refusal_is_named),
        CASE(long_keys_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
