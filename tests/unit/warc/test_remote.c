/* Records that another node holds (warc/remote.c): what each way of an answer to go wrong is told
 * as. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/file.h"
#include "warc/remote.h"

enum { ROOM = 1 << 16, WANTED = 5, TIMEOUT_MS = 300 };

static int listener;
static unsigned port;
static const char *answer; /* NULL: none, and the connection stays open */
static char asked[ROOM];
static const char *behind_the_port = "";

static void *
serve_one(void *context)
{
    const int connection = accept(listener, NULL, NULL);
    size_t length = 0;
    ssize_t n = 1;
    (void)context;
    while (n > 0 && strstr(asked, "\r\n\r\n") == NULL) {
        n = read(connection, asked + length, sizeof asked - 1 - length);
        length += n > 0 ? (size_t)n : 0;
        asked[length] = '\0';
    }
    if (answer != NULL) {
        (void)file_write_all(connection, slice_string(answer));
    } else {
        (void)read(connection, asked, 1); /* until the client gives up */
    }
    (void)close(connection);
    return NULL;
}

static enum status
fetch(const char *with, struct buf *member, struct reason *why)
{
    struct warc_remote *remote;
    pthread_t thread;
    char web[64];
    answer = with;
    asked[0] = '\0';
    snprintf(web, sizeof web, "http://127.0.0.1:%u%s", port, behind_the_port);
    assert_int_equal(pthread_create(&thread, NULL, serve_one, NULL), 0);
    assert_int_equal(warc_remote_open(&remote, with == NULL ? TIMEOUT_MS : 0, why), STATUS_OK);
    const enum status status =
        warc_fetch_remote(remote, web, SLICE("a-1.warc.gz"), 7, WANTED, member, why);
    warc_remote_close(remote);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return status;
}

static void
answers_are_told_apart(void **state)
{
    static const struct {
        const char *answer;
        enum status status;
        const char *why;
    } cases[] = {
        {"HTTP/1.1 206 Partial\r\nContent-Length: 5\r\n\r\nabcde", STATUS_OK, ""},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde", STATUS_SYSTEM, "HTTP status 200"},
        {"HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n", STATUS_NOT_FOUND, "no such file"},
        {"HTTP/1.1 404 None\r\nContent-Length: 9\r\n\r\nNot found", STATUS_NOT_FOUND,
         "no such file"},
        {"HTTP/1.1 416 Range\r\nContent-Length: 0\r\n\r\n", STATUS_CORRUPT, "shorter"},
        {"HTTP/1.1 400 Bad\r\nContent-Length: 9\r\n\r\nNot today", STATUS_SYSTEM,
         "HTTP status 400"},
        {"HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nNot today", STATUS_SYSTEM,
         "HTTP status 503"},
        {"HTTP/1.1 206 Partial\r\nContent-Length: 6\r\n\r\nabcdef", STATUS_PROTOCOL, "more bytes"},
        {"HTTP/1.1 206 Partial\r\nContent-Length: 4\r\n\r\nabcd", STATUS_CORRUPT, "shorter"},
        {"HTTP/1.1 206 Partial\r\nContent-Length: 5\r\n\r\nabc", STATUS_UNAVAILABLE,
         ""}, /* cut off */
        {"", STATUS_UNAVAILABLE, ""},
        {NULL, STATUS_UNAVAILABLE, ""},
    };
    struct buf member;
    (void)state;
    buf_init(&member, ROOM);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        assert_int_equal(fetch(cases[i].answer, &member, &why), cases[i].status);
        assert_non_null(strstr(why.text, cases[i].why));
        assert_true(cases[i].status == STATUS_OK || strstr(why.text, "/a-1.warc.gz: ") != NULL);
        if (i == 0) {
            assert_true(slice_equal(buf_slice(&member), SLICE("abcde")));
            assert_non_null(strstr(asked, "Range: bytes=7-11\r\n"));
        }
    }
    buf_release(&member);
}

/* The address of the other node's web server may end with slashes. */
static void
files_are_asked_for_below_the_address(void **state)
{
    static const char *const ends[] = {"", "/", "//"};
    struct buf member;
    (void)state;
    buf_init(&member, ROOM);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct reason why = {""};
        behind_the_port = ends[i];
        assert_int_equal(
            fetch("HTTP/1.1 206 Partial\r\nContent-Length: 5\r\n\r\nabcde", &member, &why),
            STATUS_OK);
        assert_memory_equal(asked, "GET /warc/a-1.warc.gz HTTP/", 27);
    }
    behind_the_port = "";
    buf_release(&member);
}

static void
addresses_have_a_limit(void **state)
{
    enum { URL_BYTES = 1024 };
    static char web[URL_BYTES] = "ipc://"; /* of no scheme that is spoken */
    struct warc_remote *remote;
    struct buf member;
    struct reason why = {""};
    (void)state;
    buf_init(&member, ROOM);
    assert_int_equal(warc_remote_open(&remote, 0, &why), STATUS_OK);
    memset(web + 6, 'x', sizeof web - 7);
    for (size_t i = 0; i < 2; i++) {
        const size_t longest = URL_BYTES - 1 - strlen("/warc/a");
        web[longest + 1 - i] = '\0';
        assert_int_equal(warc_fetch_remote(remote, web, SLICE("a"), 0, 5, &member, &why),
                         i == 0 ? STATUS_MISUSE : STATUS_UNAVAILABLE);
    }
    warc_remote_close(remote);
    buf_release(&member);
}

static void
what_cannot_be_asked_for_is_not(void **state)
{
    static const struct {
        const char *file;
        uint64_t length;
        enum status status;
    } cases[] = {{"../a", 5, STATUS_MISUSE},    {".a", 5, STATUS_MISUSE},
                 {"", 5, STATUS_MISUSE},        {"a/b", 5, STATUS_MISUSE},
                 {"a b", 5, STATUS_MISUSE},     {"a", 0, STATUS_LIMIT},
                 {"a", ROOM + 1, STATUS_LIMIT}, {"aZ09-_.warc", 5, STATUS_UNAVAILABLE}};
    struct warc_remote *remote;
    struct buf member;
    struct reason why = {""};
    (void)state;
    buf_init(&member, ROOM);
    assert_int_equal(warc_remote_open(&remote, 0, &why), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) { /* nobody listens on port 1 */
        assert_int_equal(warc_fetch_remote(remote, "http://127.0.0.1:1",
                                           slice_string(cases[i].file), 0, cases[i].length, &member,
                                           &why),
                         cases[i].status);
    }
    warc_remote_close(remote);
    warc_remote_close(NULL);
    buf_release(&member);
}

static int
set_up(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    (void)state;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 8) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        return -1;
    }
    port = ntohs(address.sin_port);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    return close(listener);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_told_apart),
        cmocka_unit_test(files_are_asked_for_below_the_address),
        cmocka_unit_test(addresses_have_a_limit),
        cmocka_unit_test(what_cannot_be_asked_for_is_not),
    };
    return cmocka_run_group_tests_name("remote", tests, set_up, tear_down);
}
