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
        cmocka_unit_test(requests_are_kept_without_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
