/* Credentials are for one origin, from a file of one's own, and stay out of what is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "stages/fetch/http/fetch_credentials.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/scratch.h"

static enum status
open_text(struct credentials **credentials, const char *text, mode_t mode, struct reason *why)
{
    char path[SCRATCH_SIZE];
    const int file = scratch_file(path, "test_fetch_credentials");
    assert_true(file >= 0);
    assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
    const enum status status = credentials_open(credentials, path, why);
    unlink(path);
    return status;
}

static void
an_origin_gets_its_own_only(void **state)
{
    struct credentials *credentials;
    struct reason why;
    (void)state;
    assert_int_equal(open_text(&credentials,
                               "# ours\nhttps://a.example basic me:se cret\n\n"
                               "http://b.example:81/ bearer abc\nftp://c.example basic you:pass\n",
                               0600, &why),
                     STATUS_OK);
    const struct credential *found = credentials_find(credentials, SLICE("https://a.example"));
    assert_string_equal(found->secret, "me:se cret");
    assert_false(found->bearer);
    found = credentials_find(credentials, SLICE("http://b.example:81"));
    assert_string_equal(found->secret, "abc");
    assert_true(found->bearer);
    found = credentials_find(credentials, SLICE("ftp://c.example"));
    assert_string_equal(found->secret, "you:pass");
    assert_null(credentials_find(credentials, SLICE("http://c.example")));
    assert_null(credentials_find(credentials, SLICE("http://a.example")));
    assert_null(credentials_find(credentials, SLICE("https://a.example:444")));
    assert_null(credentials_find(credentials, SLICE("https://x.a.example")));
    credentials_close(credentials);
}

static void
files_that_others_may_read_and_wrong_lines_are_refused(void **state)
{
    struct credentials *credentials;
    struct reason why;
    (void)state;
    assert_int_equal(open_text(&credentials, "https://a.example bearer abc\n", 0640, &why),
                     STATUS_MISUSE);
    credentials_close(credentials);
    assert_int_equal(open_text(&credentials, "https://a.example basic geheim\n", 0600, &why),
                     STATUS_MISUSE);
    assert_null(strstr(why.text, "geheim"));
    credentials_close(credentials);
    assert_int_equal(open_text(&credentials, "ftp://a.example bearer abc\n", 0600, &why),
                     STATUS_MISUSE);
    credentials_close(credentials);
    assert_int_equal(open_text(&credentials, "https://a.example bearer \n", 0600, &why),
                     STATUS_MISUSE);
    credentials_close(credentials);
    assert_int_equal(credentials_open(&credentials, "", &why), STATUS_OK);
    credentials_close(credentials);
}

static void
what_was_read_is_freed(void **state)
{
    enum { LENGTH = 30000, TIMES = 20 };
    static const char begin[] = "https://a.example bearer ";
    struct credentials *credentials;
    struct reason why;
    size_t before = 0;
    static char text[LENGTH];
    (void)state;
    if (!memory_is_counted()) {
        skip();
    }
    memset(text, 'x', LENGTH - 1);
    memcpy(text, begin, sizeof begin - 1);
    for (int i = 0; i < TIMES; i++) {
        before = i == 1 ? memory_in_use() : before;
        assert_int_equal(open_text(&credentials, text, 0600, &why), STATUS_OK);
        credentials_close(credentials);
    }
    assert_true(memory_in_use() < before + (TIMES - 2) * LENGTH);
    credentials_close(NULL);
}

/* What is wrong is told by the number of its line. */
static void
lines_are_counted(void **state)
{
    static const struct {
        const char *text, *place;
    } rows[] = {{"x\n", ":1:"},
                {"\n# a\n  \nhttps://a.example\n", ":4:"},
                {"https://a.example bearer t\nhttps://a.example token t\n", ":2:"},
                {"https://a.example basic :\nhttps://b.example basic p", ":2:"},
                {"mailto:a bearer t", ":1:"}};
    struct credentials *credentials;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reason why = {""};
        assert_int_equal(open_text(&credentials, rows[i].text, 0600, &why), STATUS_MISUSE);
        assert_non_null(strstr(why.text, rows[i].place));
        credentials_close(credentials);
    }
    assert_int_equal(
        open_text(&credentials, "https://a.example bearer t", 0604, &(struct reason){""}),
        STATUS_MISUSE);
    credentials_close(credentials);
    assert_int_equal(credentials_open(&credentials, "/nonexistent/c", &(struct reason){""}),
                     STATUS_SYSTEM);
    credentials_close(credentials);
}

static void
all_lines_of_a_request_are_looked_at(void **state)
{
    static const struct {
        const char *request, *kept;
    } rows[] = {{"", ""},
                {"GET / HTTP/1.1", "GET / HTTP/1.1"},
                {"Authorization: a\r\nProxy-authorization: b\r\n",
                 "Authorization: [withheld]\r\nProxy-authorization: [withheld]\r\n"},
                {"A: b\r\nAuthorization: a", "A: b\r\nAuthorization: [withheld]\r\n"},
                {"Authorizations: a\n", "Authorizations: a\n"},
                {"X: Authorization: a\n\nbody", "X: Authorization: a\n\nbody"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf request;
        buf_init(&request, 1000);
        buf_append_string(&request, rows[i].request);
        credentials_withhold(&request);
        assert_true(slice_is(buf_slice(&request), rows[i].kept));
        assert_int_equal(request.maximum, 1000);
        buf_release(&request);
    }
}

static void
requests_are_kept_without_them(void **state)
{
    struct buf request;
    (void)state;
    buf_init(&request, 1000);
    buf_append_string(&request, "GET / HTTP/1.1\r\nHost: a\r\nauthorization: Basic bWU6cw==\r\n"
                                "Accept: */*\r\n\r\n");
    credentials_withhold(&request);
    assert_string_equal(request.data, "GET / HTTP/1.1\r\nHost: a\r\nauthorization: [withheld]\r\n"
                                      "Accept: */*\r\n\r\n");
    buf_release(&request);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_origin_gets_its_own_only),
        cmocka_unit_test(files_that_others_may_read_and_wrong_lines_are_refused),
        cmocka_unit_test(what_was_read_is_freed),
        cmocka_unit_test(lines_are_counted),
        cmocka_unit_test(all_lines_of_a_request_are_looked_at),
        cmocka_unit_test(requests_are_kept_without_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
