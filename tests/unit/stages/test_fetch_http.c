/* Transfers against a server that misbehaves, in a thread of the test. */
#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/system/clock.h"
#include "queue/cluster/queue_options.h"
#include "stages/fetch/http/fetch_http.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/scratch.h"
#include "tests/unit/stages/fetch_addresses.h"
#include "tests/unit/stages/fetch_client.h"

/* ---- the server: one thread a connection, one request a connection ---- */

static int listener;
static unsigned port;

static bool
say(int peer, const char *text)
{
    return send(peer, text, strlen(text), MSG_NOSIGNAL) > 0;
}

static void
say_repeatedly(int peer, const char *text, unsigned pause_ms)
{
    while (say(peer, text)) {
        usleep(pause_ms * 1000);
    }
}

/* Says nothing until the other side has given up. */
static void
await_end(int peer)
{
    char byte;
    while (recv(peer, &byte, 1, 0) > 0) {
    }
}

/* Many lines at once: a limit is reached long before the time that a transfer may take. */
static void
say_lines_without_end(int peer, const char *line)
{
    char lines[1 << 13] = "";
    for (size_t length = 0; length + strlen(line) < sizeof lines; length += strlen(line)) {
        strcpy(lines + length, line);
    }
    while (say(peer, lines)) {
    }
}

static _Atomic int left_unanswered;

static void
answer(int peer, const char *path, const char *request)
{
    static char kilobyte[1025];
    memset(kilobyte, 'x', 1024);
    if (strcmp(path, "/ok") == 0) {
        say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"1\"\r\n\r\nhello");
    } else if (strcmp(path, "/cookie") == 0) {
        say(peer, "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nContent-Length: 0\r\n\r\n");
    } else if (strcmp(path, "/chunked") == 0) {
        say(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    } else if (strcmp(path, "/gzip") == 0) {
        say(peer, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nGZIP");
    } else if (strcmp(path, "/endless") == 0) {
        say(peer, "HTTP/1.1 200 OK\r\n\r\n");
        say_repeatedly(peer, kilobyte, 0);
    } else if (strcmp(path, "/slow") == 0) {
        say(peer, "HTTP/1.1 200 OK\r\n\r\n");
        say_repeatedly(peer, kilobyte, 20);
    } else if (strcmp(path, "/stalls") == 0) {
        say(peer, "HTTP/1.1 200 OK\r\n\r\nhalf");
        await_end(peer);
    } else if (strcmp(path, "/silent") == 0) {
        await_end(peer);
    } else if (strcmp(path, "/header") == 0) {
        say(peer, "HTTP/1.1 200 OK\r\n");
        say_lines_without_end(peer, "X-Endless: yes yes yes yes yes yes yes yes yes\r\n");
    } else if (strcmp(path, "/trailers") == 0) {
        say(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n");
        say_lines_without_end(peer, "X-Endless: yes yes yes yes yes yes yes yes yes\r\n");
    } else if (strcmp(path, "/hints") == 0) {
        say_lines_without_end(peer, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
    } else if (strcmp(path, "/trailer") == 0) {
        say(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
                  "0\r\nX-Digest: 1\r\n\r\n");
    } else if (strcmp(path, "/split") == 0) {
        /* Says whether a line was smuggled in. No request comes while the connection is being
         * closed. */
        say(peer, strstr(request, "X-Smuggled") != NULL || strstr(request, "If-") != NULL
                      ? "HTTP/1.1 500 Split\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
                      : "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    } else if (strcmp(path, "/short") == 0) {
        say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    } else if (strcmp(path, "/redirect") == 0) {
        say(peer, "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n"
                  "Content-Length: 0\r\n\r\n");
    } else if (strcmp(path, "/kept") == 0) { /* the next request has no answer */
        char next[8192];
        say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nk");
        left_unanswered += recv(peer, next, sizeof next, 0) > 0;
    } else if (strcmp(path, "/busy") == 0) {
        say(peer, "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
    } else if (strcmp(path, "/basic") == 0) {
        const bool known = strstr(request, "Authorization: Basic bWU6c2VjcmV0\r\n") != NULL;
        say(peer, known ? "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nk"
                        : "HTTP/1.1 401 Who?\r\nContent-Length: 0\r\n\r\n");
    } else if (strcmp(path, "/early") == 0) {
        say(peer, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny");
    } else if (strcmp(path, "/conditional") == 0) {
        const bool asked = strstr(request, "If-None-Match: \"1\"\r\n") != NULL &&
                           strstr(request, "If-Modified-Since: yesterday\r\n") != NULL;
        say(peer, asked ? "HTTP/1.1 304 Not Modified\r\n\r\n"
                        : "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nn");
    }
}

static void *
serve_one(void *context)
{
    const int peer = (int)(intptr_t)context;
    char request[8192];
    char path[100] = "";
    size_t length = 0;
    while (length < sizeof request - 1) {
        const ssize_t n = recv(peer, request + length, sizeof request - 1 - length, 0);
        if (n <= 0) {
            break;
        }
        length += (size_t)n;
        request[length] = '\0';
        if (strstr(request, "\r\n\r\n") != NULL && sscanf(request, "GET %99s", path) == 1) {
            answer(peer, path, request);
            break;
        }
    }
    close(peer);
    return NULL;
}

static void *
serve(void *context)
{
    (void)context;
    for (;;) {
        pthread_t thread;
        const int peer = accept(listener, NULL, NULL);
        if (peer >= 0 && pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)peer) == 0) {
            pthread_detach(thread);
        }
    }
    return NULL;
}

static int
start_server(void **state)
{
    pthread_t thread;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    (void)state;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 64) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        return -1;
    }
    port = ntohs(address.sin_port);
    return pthread_create(&thread, NULL, serve, NULL);
}

static void
get(struct client *client, const char *path, struct fetch_request request)
{
    char url[200];
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", port, path);
    request.url = slice_string(url);
    request.done = done;
    request.context = client;
    client->waiting++;
    fetch_http_start(client->http, &request);
    run(client);
}

static const char *const allowed[] = {"fetch.allow_address=127.0.0.0/8", "fetch.timeout=60",
                                      "fetch.size=64K", "fetch.user_agent=tester/1", NULL};
static const char *const hasty[] = {"fetch.allow_address=127.0.0.0/8", "fetch.timeout=1", NULL};

#define assert_text(buf, text) assert_string_equal((buf).data != NULL ? (buf).data : "", text)

/* ---- cases ---- */

static void
a_page_comes_with_its_exact_bytes(void **state)
{
    struct client *client = open_client(allowed);
    (void)state;
    get(client, "/ok", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_ANSWERED);
    assert_int_equal(client->status, 200);
    assert_text(client->header, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"1\"\r\n\r\n");
    assert_text(client->body, "hello");
    assert_string_equal(client->ip, "127.0.0.1");
    assert_true(slice_starts(buf_slice(&client->request), SLICE("GET /ok HTTP/1.1\r\nHost: ")));
    assert_non_null(strstr(client->request.data, "User-Agent: tester/1\r\n"));
    assert_non_null(strstr(client->request.data, "text/turtle"));
    close_client(client);
}

static void
requests_say_who_asks_and_carry_no_cookies(void **state)
{
    const char *const settings[] = {"fetch.allow_address=127.0.0.0/8",
                                    "fetch.from=crawler@example.org", NULL};
    struct client *client = open_client(settings);
    (void)state;
    get(client, "/cookie", (struct fetch_request){0});
    assert_non_null(strstr(client->header.data, "Set-Cookie: a=1"));
    get(client, "/cookie", (struct fetch_request){0});
    assert_non_null(strstr(client->request.data, "From: crawler@example.org\r\n"));
    assert_non_null(strstr(client->request.data, "User-Agent: Quadrille/"));
    assert_non_null(strstr(client->request.data, "; +https://"));
    assert_null(strstr(client->request.data, "Cookie"));
    close_client(client);
}

/* Its descriptor stays in the loop after the answer; when the server has closed it, no longer. */
static void
connection_that_was_closed_leaves_the_loop(void **state)
{
    struct client *client = open_client(allowed);
    struct epoll_event event;
    (void)state;
    get(client, "/ok", (struct fetch_request){0});
    for (size_t i = 0; i < 5; i++) {
        step(client);
    }
    assert_int_equal(epoll_wait(client->epoll, &event, 1, 0), 0);
    get(client, "/ok", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_ANSWERED);
    close_client(client);
}

static void
transfer_coding_is_undone_and_content_coding_kept(void **state)
{
    struct client *client = open_client(allowed);
    (void)state;
    get(client, "/chunked", (struct fetch_request){0});
    assert_text(client->body, "abc");
    get(client, "/gzip", (struct fetch_request){0});
    assert_text(client->body, "GZIP");
    get(client, "/early", (struct fetch_request){0});
    assert_text(client->header, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
    assert_text(client->body, "y");
    close_client(client);
}

static void
conditions_are_sent(void **state)
{
    struct client *client = open_client(allowed);
    (void)state;
    const struct fetch_request request = {.etag = SLICE("\"1\""),
                                          .last_modified = SLICE("yesterday")};
    get(client, "/conditional", request);
    assert_int_equal(client->status, 304);
    get(client, "/conditional", (struct fetch_request){0});
    assert_int_equal(client->status, 200);
    close_client(client);
}

/* Requests go to 127.0.0.1 and not to localhost, by the same handle; the server knows them, the
 * archive not. */
static void
credentials_are_sent_to_their_origin_and_withheld(void **state)
{
    char path[SCRATCH_SIZE];
    char setting[100];
    char line[100];
    (void)state;
    const int file = scratch_file(path, "test_fetch_http");
    assert_true(file >= 0);
    const int n = snprintf(line, sizeof line, "http://127.0.0.1:%u basic me:secret\n", port);
    assert_int_equal(write(file, line, (size_t)n), n);
    close(file);
    snprintf(setting, sizeof setting, "fetch.credentials=%s", path);
    const char *const settings[] = {"fetch.allow_address=127.0.0.0/8", setting, NULL};
    struct client *client = open_client(settings);
    unlink(path);
    get(client, "/basic", (struct fetch_request){0});
    assert_int_equal(client->status, 200);
    assert_non_null(strstr(client->request.data, "Authorization: [withheld]\r\n"));
    assert_null(strstr(client->request.data, "bWU6"));
    char url[100];
    snprintf(url, sizeof url, "http://localhost:%u/basic", port);
    get_url(client, url);
    assert_int_equal(client->status, 401);
    assert_null(strstr(client->request.data, "Authorization"));
    close_client(client);
}

static void
a_request_that_is_sent_again_is_told_once(void **state)
{
    struct client *client = open_client(allowed);
    (void)state;
    get(client, "/kept", (struct fetch_request){0});
    get(client, "/ok", (struct fetch_request){0});
    assert_int_equal(left_unanswered, 1);
    assert_int_equal(client->status, 200);
    assert_text(client->body, "hello");
    assert_true(slice_starts(buf_slice(&client->request), SLICE("GET /ok HTTP/1.1\r\n")));
    assert_null(strstr(client->request.data + 1, "GET /ok"));
    close_client(client);
}

static void
redirects_are_answers(void **state)
{
    struct client *client = open_client(allowed);
    (void)state;
    get(client, "/redirect", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_ANSWERED);
    assert_int_equal(client->status, 302);
    get(client, "/busy", (struct fetch_request){0});
    assert_int_equal(client->retry_after_ms, 7000);
    close_client(client);
}

static void
an_endless_body_ends_at_the_limit(void **state)
{
    struct client *client = open_client(allowed);
    (void)state;
    get(client, "/endless", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_CUT_LENGTH);
    assert_int_equal(client->body.length, 64 << 10);
    assert_string_equal(client->problem, "body larger than 65536 bytes");
    get(client, "/endless", (struct fetch_request){.size = 1000});
    assert_int_equal(client->body.length, 1000);
    close_client(client);
}

static void
a_slow_body_ends_in_time(void **state)
{
    struct client *client = open_client(hasty);
    (void)state;
    get(client, "/slow", (struct fetch_request){.size = 1 << 20});
    assert_int_equal(client->end, FETCH_CUT_TIME);
    assert_true(client->flowing);
    assert_true(client->body.length > 0);
    get(client, "/stalls", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_CUT_TIME);
    assert_false(client->flowing);
    assert_text(client->body, "half");
    get(client, "/silent", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_FAILED);
    assert_non_null(strstr(client->problem, "timed out"));
    close_client(client);
}

/* Silence is measured from the request on, until the first byte of an answer. */
static void
a_silent_transfer_can_be_given_up(void **state)
{
    struct client *client = open_client(allowed);
    char url[64];
    (void)state;
    snprintf(url, sizeof url, "http://127.0.0.1:%u/silent", port);
    const struct fetch_request request = {
        .url = slice_string(url), .done = done, .context = client};
    client->waiting++;
    struct transfer *transfer = fetch_http_start(client->http, &request);
    assert_int_equal(fetch_http_silent_ms(transfer), 0);
    while (fetch_http_silent_ms(transfer) < 20) {
        assert_int_equal(client->waiting, 1);
        step(client);
    }
    fetch_http_give_up(client->http, transfer, "nothing came");
    assert_int_equal(client->waiting, 0);
    assert_int_equal(client->end, FETCH_FAILED);
    assert_string_equal(client->problem, "nothing came");
    get(client, "/ok", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_ANSWERED);
    close_client(client);
}

static void
a_broken_body_is_told(void **state)
{
    struct client *client = open_client(allowed);
    (void)state;
    get(client, "/short", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_CUT_CONNECTION);
    assert_text(client->body, "half");
    get(client, "/closes", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_FAILED);
    assert_true(client->problem[0] != '\0');
    close_client(client);
}

static void
an_endless_header_is_refused(void **state)
{
    struct client *client = open_client(allowed);
    (void)state;
    get(client, "/header", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_REFUSED_HEADER);
    close_client(client);
}

/* libcurl keeps the lines of all of them. Without a limit these end in time, and not by it. */
static void
endless_trailers_and_interim_responses_are_refused(void **state)
{
    struct client *client = open_client(allowed);
    (void)state;
    get(client, "/trailers", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_REFUSED_HEADER);
    get(client, "/hints", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_REFUSED_HEADER);
    get(client, "/trailer", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_ANSWERED);
    assert_string_equal(client->body.data, "abc");
    get(client, "/early", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_ANSWERED);
    close_client(client);
}

/* Validators are what a server said before. */
static void
validators_with_control_characters_are_not_sent(void **state)
{
    static const char *const wrong[] = {"\"a\rX-Smuggled: 1\"",
                                        "\"a\nX-Smuggled: 1\"",
                                        "\"a\r\nX-Smuggled: 1\"",
                                        "\"\x7f\"",
                                        "\"\x01\"",
                                        "\r"};
    struct client *client = open_client(allowed);
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct slice value = slice_string(wrong[i]);
        get(client, "/split", (struct fetch_request){.etag = value, .last_modified = value});
        assert_int_equal(client->status, 200);
        /* Nor is a part asked for that would be put behind what is not the same any more. */
        struct fetch_request part = {.accept = SLICE("*/*"), .range_from = 7, .if_range = value};
        get(client, "/split", part);
        assert_null(strstr(client->request.data, "Range"));
    }
    struct fetch_request part = {
        .accept = SLICE("*/*"), .range_from = 7, .if_range = SLICE("\"a\"")};
    get(client, "/split", part);
    assert_non_null(strstr(client->request.data, "If-Range: \"a\"\r\nRange: bytes=7-\r\n"));
    part.range_from = 0;
    get(client, "/split", part);
    assert_null(strstr(client->request.data, "Range"));
    get(client, "/split", (struct fetch_request){.etag = SLICE("\"\t\xe9\"")});
    assert_int_equal(client->status, 500); /* it was sent */
    close_client(client);
}

/* Each of the handles that share the idle connections is closed. The server, of this process too,
 * may still have connections of the last clients. */
static void
closing_leaves_no_descriptor(void **state)
{
    static const char *const many[] = {"fetch.allow_address=127.0.0.0/8", "fetch.connections=300",
                                       NULL};
    enum { CLIENTS = 12, OF_SERVER = 4 };
    size_t before = 0;
    (void)state;
    for (int i = 0; i < CLIENTS; i++) {
        struct client *client = open_client(many);
        get(client, "/ok", (struct fetch_request){0});
        close_client(client);
        before = i == 0 ? open_descriptors() : before;
    }
    assert_true(open_descriptors() < before + OF_SERVER);
}

static void
bodies_share_a_limit_of_memory(void **state)
{
    static const char *const assignments[] = {"fetch.allow_address=127.0.0.1", "fetch.memory=1M",
                                              "fetch.size=8M", NULL};
    struct client *client = open_client(assignments);
    (void)state;
    get(client, "/endless", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_NO_MEMORY);
    get(client, "/ok", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_ANSWERED);
    close_client(client);
}

static void
private_addresses_are_refused_when_connecting(void **state)
{
    static const char *const none[] = {NULL};
    struct client *client = open_client(none);
    (void)state;
    get(client, "/ok", (struct fetch_request){0});
    assert_int_equal(client->end, FETCH_REFUSED_ADDRESS);
    assert_non_null(strstr(client->problem, "loopback"));
    const char *const urls[] = {"http://localhost/", "http://[::1]/", "http://169.254.169.254/",
                                "http://10.1.2.3/", "http://[::ffff:127.0.0.1]/"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        get_url(client, urls[i]);
        assert_int_equal(client->end, FETCH_REFUSED_ADDRESS);
    }
    close_client(client);
}

static void
every_connection_can_be_directed(void **state)
{
    char rule[64];
    (void)state;
    snprintf(rule, sizeof rule, "fetch.connect_to=http=127.0.0.1:%u", port);
    const char *const assignments[] = {rule, "fetch.allow_address=127.0.0.1/32", NULL};
    struct client *client = open_client(assignments);
    get_url(client, "http://nowhere.example/ok");
    assert_int_equal(client->status, 200);
    assert_non_null(strstr(client->request.data, "Host: nowhere.example\r\n"));
    close_client(client);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    fetch_http_close(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_comes_with_its_exact_bytes),
        cmocka_unit_test(requests_say_who_asks_and_carry_no_cookies),
        cmocka_unit_test(connection_that_was_closed_leaves_the_loop),
        cmocka_unit_test(transfer_coding_is_undone_and_content_coding_kept),
        cmocka_unit_test(conditions_are_sent),
        cmocka_unit_test(credentials_are_sent_to_their_origin_and_withheld),
        cmocka_unit_test(a_request_that_is_sent_again_is_told_once),
        cmocka_unit_test(redirects_are_answers),
        cmocka_unit_test(an_endless_body_ends_at_the_limit),
        cmocka_unit_test(a_slow_body_ends_in_time),
        cmocka_unit_test(a_silent_transfer_can_be_given_up),
        cmocka_unit_test(a_broken_body_is_told),
        cmocka_unit_test(an_endless_header_is_refused),
        cmocka_unit_test(endless_trailers_and_interim_responses_are_refused),
        cmocka_unit_test(validators_with_control_characters_are_not_sent),
        cmocka_unit_test(closing_leaves_no_descriptor),
        cmocka_unit_test(bodies_share_a_limit_of_memory),
        cmocka_unit_test(private_addresses_are_refused_when_connecting),
        cmocka_unit_test(every_connection_can_be_directed),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("fetch_http", tests, start_server, NULL) +
           fetch_addresses_run();
}
