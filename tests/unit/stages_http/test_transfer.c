/* One transfer, libcurl stood in for: what libcurl is told of a request (stages/fetch/http/
 * fetch_transfer.c, fetch_ftp.c), and what becomes of what it tells (transfer_exchange.c). With
 * libcurl and servers: test_fetch_http.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"
#include "tests/unit/stages_http/transfer_ends.h"
#include "tests/unit/stages_http/transfer_steps.h"

/* ---- what libcurl is told ---- */

static const struct curl_slist *
own_headers(void)
{
    return TOLD(CURLOPT_HTTPHEADER).pointer;
}

static void
each_handle_is_told_the_same(void **state)
{
    static const char *const other[] = {"fetch.http2=no", "fetch.ca_file=/ca",
                                        "fetch.connect_timeout=3", "fetch.patience=4", NULL};
    (void)state;
    open_with(plain);
    assert_ptr_equal(TOLD(CURLOPT_PRIVATE).pointer, transfer);
    assert_ptr_equal(TOLD(CURLOPT_ERRORBUFFER).pointer, transfer->problem);
    assert_ptr_equal(TOLD(CURLOPT_CLOSESOCKETDATA).pointer, &http);
    assert_int_equal(TOLD(CURLOPT_NOSIGNAL).number, 1);
    assert_string_equal(TOLD(CURLOPT_PROTOCOLS_STR).text, "http,https");
    assert_int_equal(TOLD(CURLOPT_FOLLOWLOCATION).times, 1);
    assert_int_equal(TOLD(CURLOPT_FOLLOWLOCATION).number, 0);
    assert_int_equal(TOLD(CURLOPT_SUPPRESS_CONNECT_HEADERS).number, 1);
    assert_int_equal(TOLD(CURLOPT_PATH_AS_IS).number, 1);
    assert_int_equal(TOLD(CURLOPT_PROXY).times, 1);
    assert_string_equal(TOLD(CURLOPT_PROXY).text, "");
    assert_int_equal(TOLD(CURLOPT_NOPROXY).times, 1);
    assert_string_equal(TOLD(CURLOPT_NOPROXY).text, "");
    assert_int_equal(TOLD(CURLOPT_NETRC).times, 1);
    assert_int_equal(TOLD(CURLOPT_NETRC).number, CURL_NETRC_IGNORED);
    assert_int_equal(TOLD(CURLOPT_HTTP_VERSION).number, CURL_HTTP_VERSION_2TLS);
    assert_int_equal(TOLD(CURLOPT_CONNECTTIMEOUT_MS).number, 15000);
    assert_int_equal(TOLD(CURLOPT_LOW_SPEED_TIME).number, 30);
    assert_int_equal(TOLD(CURLOPT_LOW_SPEED_LIMIT).number, 32);
    assert_int_equal(TOLD(CURLOPT_TCP_NODELAY).number, 1);
    assert_int_equal(TOLD(CURLOPT_CAINFO).times + TOLD(CURLOPT_CAPATH).times, 0);
    close_all();
    open_with(other);
    assert_int_equal(TOLD(CURLOPT_HTTP_VERSION).number, CURL_HTTP_VERSION_1_1);
    assert_int_equal(TOLD(CURLOPT_CONNECTTIMEOUT_MS).number, 3000);
    assert_int_equal(TOLD(CURLOPT_LOW_SPEED_TIME).number, 4);
    assert_string_equal(TOLD(CURLOPT_CAINFO).text, "/ca");
    assert_string_equal(TOLD(CURLOPT_CAPATH).text, "(none)");
    close_all();
}

/* What was made last, so that a process that ends in the middle still knows of it. */
static void *volatile made_last;

void *__real_memory_new(size_t size);
void *__wrap_memory_new(size_t size);

void *
__wrap_memory_new(size_t size)
{
    made_last = __real_memory_new(size);
    return made_last;
}

/* Nothing can be fetched any more, so that the process ends and is started anew. */
static void
without_a_handle_the_process_ends(void **state)
{
    int status = 0;
    (void)state;
    open_with(plain);
    const pid_t child = fork();
    if (child == 0) {
        no_handle = true;
        (void)transfer_new(&http);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_SYSTEM);
    close_all();
}

static bool
begin_sink(void *context, uint16_t status, struct slice header)
{
    (void)context, (void)status, (void)header;
    return true;
}

static bool
take_sink(void *context, struct slice bytes)
{
    (void)context, (void)bytes;
    return true;
}

/* A request without any wish of its own has the headers that all have; otherwise a list of its own,
 * with one Accept and what it asks for. */
static void
requests_have_the_headers_that_they_ask_for(void **state)
{
    static const struct fetch_sink sink = {begin_sink, take_sink, NULL};
    const struct slice url = SLICE("http://a.example/x");
    char wanted[2 * TEXT], accept[TEXT] = "", lines_of_all[TEXT];
    (void)state;
    open_with(plain);
    for (const struct curl_slist *one = http.settings.headers; one != NULL; one = one->next) {
        if (slice_starts(slice_string(one->data), SLICE("Accept:"))) {
            snprintf(accept, sizeof accept, "%s", one->data);
        }
    }
    snprintf(lines_of_all, sizeof lines_of_all, "%s", lines_of(http.settings.headers));
    prepare((struct fetch_request){.url = url});
    assert_string_equal(TOLD(CURLOPT_URL).text, "http://a.example/x");
    assert_ptr_equal(own_headers(), http.settings.headers);
    assert_int_equal(TOLD(CURLOPT_HTTPGET).number, 1);
    assert_int_equal(TOLD(CURLOPT_NOBODY).times, 0);
    assert_int_equal(TOLD(CURLOPT_POSTFIELDSIZE).times, 0);
    assert_int_equal(TOLD(CURLOPT_TIMEOUT_MS).number, 120000);
    assert_int_equal(transfer->started_ms, WALL_MS);
    assert_int_equal(transfer->started_monotonic_ms, STARTED_MS);
    transfer_reset(transfer);

    prepare((struct fetch_request){.url = url, .etag = SLICE("\"1\""), .head = true});
    assert_int_equal(TOLD(CURLOPT_NOBODY).number, 1);
    assert_int_equal(TOLD(CURLOPT_HTTPGET).times, 1); /* of the one before */
    snprintf(wanted, sizeof wanted, "%sIf-None-Match: \"1\"\n", lines_of(http.settings.headers));
    assert_string_equal(lines_of(own_headers()), wanted);
    transfer_reset(transfer);
    assert_null(transfer->headers);

    prepare((struct fetch_request){.url = url, .last_modified = SLICE("yesterday")});
    snprintf(wanted, sizeof wanted, "%sIf-Modified-Since: yesterday\n",
             lines_of(http.settings.headers));
    assert_string_equal(lines_of(own_headers()), wanted);
    transfer_reset(transfer);

    prepare((struct fetch_request){.url = url, .accept = SLICE("text/csv")});
    assert_string_equal(lines_of(own_headers()), "User-Agent: bot/1\n"
                                                 "Accept-Encoding: gzip, deflate, br, zstd\n"
                                                 "Accept: text/csv\n");
    transfer_reset(transfer);

    prepare((struct fetch_request){.url = url, .resource = true});
    assert_null(strstr(lines_of(own_headers()), accept));
    assert_non_null(strstr(lines_of(own_headers()), http.settings.accept_resource));
    transfer_reset(transfer);

    prepare((struct fetch_request){
        .url = url, .sink = &sink, .range_from = 7, .if_range = SLICE("\"2\"")});
    assert_int_equal(TOLD(CURLOPT_TIMEOUT_MS).number, 0); /* as long as it flows */
    assert_null(strstr(lines_of(own_headers()), "Accept-Encoding"));
    assert_non_null(strstr(lines_of(own_headers()), accept));
    assert_non_null(strstr(lines_of(own_headers()), "If-Range: \"2\"\nRange: bytes=7-\n"));
    transfer_reset(transfer);
    prepare((struct fetch_request){
        .url = url, .sink = &sink, .range_from = 1, .if_range = SLICE("a b\tc~\xff")});
    assert_non_null(strstr(lines_of(own_headers()), "If-Range: a b\tc~\xff\nRange: bytes=1-\n"));
    transfer_reset(transfer);
    prepare((struct fetch_request){.url = url, .sink = &sink, .range_from = 7});
    assert_null(strstr(lines_of(own_headers()), "Range")); /* of which version nobody knows */
    transfer_reset(transfer);

    static const char *const wrong[] = {"\"a\rb\"", "a\n", "\x1f", "\x7f", "b\x7f"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) { /* they could begin a line */
        prepare((struct fetch_request){
            .url = url, .etag = slice_string(wrong[i]), .last_modified = slice_string(wrong[i])});
        assert_string_equal(lines_of(own_headers()), lines_of_all);
        transfer_reset(transfer);
    }

    prepare((struct fetch_request){.url = url, .form = SLICE("query=1")});
    assert_int_equal(TOLD(CURLOPT_POSTFIELDSIZE).number, 7);
    assert_string_equal(TOLD(CURLOPT_COPYPOSTFIELDS).text, "query=1");
    transfer_reset(transfer);
    close_all();
}

/* A handle that has been elsewhere keeps nothing of what was for there. */
static void
credentials_are_for_their_origin(void **state)
{
    static const char lines[] = "http://a.example basic me:secret\nhttp://b.example bearer token\n"
                                "ftp://c.example basic you:hidden\n";
    char path[SCRATCH_SIZE], setting[SCRATCH_SIZE + 20];
    (void)state;
    const int file = scratch_file(path, "test_transfer");
    assert_int_equal(write(file, lines, sizeof lines - 1), sizeof lines - 1);
    close(file);
    snprintf(setting, sizeof setting, "fetch.credentials=%s", path);
    open_with((const char *const[]){setting, "fetch.from=me@x.example", NULL});
    unlink(path);
    prepare_url("http://d.example/");
    assert_false(transfer->authorised);
    assert_int_equal(TOLD(CURLOPT_USERPWD).times + TOLD(CURLOPT_XOAUTH2_BEARER).times, 0);
    prepare_url("http://a.example/");
    assert_true(transfer->authorised);
    assert_int_equal(TOLD(CURLOPT_HTTPAUTH).number, CURLAUTH_BASIC);
    assert_string_equal(TOLD(CURLOPT_USERPWD).text, "me:secret");
    assert_string_equal(TOLD(CURLOPT_XOAUTH2_BEARER).text, "(none)");
    prepare_url("http://b.example/");
    assert_int_equal(TOLD(CURLOPT_HTTPAUTH).number, CURLAUTH_BEARER);
    assert_string_equal(TOLD(CURLOPT_USERPWD).text, "(none)");
    assert_string_equal(TOLD(CURLOPT_XOAUTH2_BEARER).text, "token");
    prepare_url("http://d.example/");
    assert_false(transfer->authorised);
    assert_string_equal(TOLD(CURLOPT_USERPWD).text, "(none)");
    assert_string_equal(TOLD(CURLOPT_XOAUTH2_BEARER).text, "(none)");
    prepare_url("http://a.example/");
    prepare_url("http://d.example/");
    assert_string_equal(TOLD(CURLOPT_USERPWD).text, "(none)");
    prepare_url("ftp://d.example/");
    assert_string_equal(TOLD(CURLOPT_USERPWD).text, "anonymous:me@x.example");
    assert_false(transfer->authorised);
    prepare_url("ftp://c.example/");
    assert_string_equal(TOLD(CURLOPT_USERPWD).text, "you:hidden");
    assert_true(transfer->authorised);
    transfer_reset(transfer);
    close_all();
}

/* By FTP: one dialogue, one connection, one file, all of it told. */
static void
ftp_is_told_of_its_own(void **state)
{
    (void)state;
    open_with(plain);
    prepare(
        (struct fetch_request){.url = SLICE("ftp://a.example/x"), .range_from = 5, .head = true});
    assert_string_equal(TOLD(CURLOPT_PROTOCOLS_STR).text, "ftp,ftps");
    assert_int_equal(TOLD(CURLOPT_USE_SSL).number, CURLUSESSL_NONE);
    assert_int_equal(TOLD(CURLOPT_FTP_SKIP_PASV_IP).number, 1);
    assert_int_equal(TOLD(CURLOPT_SERVER_RESPONSE_TIMEOUT).number, 30);
    assert_int_equal(TOLD(CURLOPT_FILETIME).number, 1);
    assert_null(TOLD(CURLOPT_PREREQFUNCTION).function);
    assert_null(TOLD(CURLOPT_CLOSESOCKETFUNCTION).function);
    assert_int_equal(TOLD(CURLOPT_VERBOSE).number, 1);
    assert_int_equal(TOLD(CURLOPT_RESUME_FROM_LARGE).number, 5);
    assert_int_equal(TOLD(CURLOPT_FORBID_REUSE).number, 1);
    assert_int_equal(TOLD(CURLOPT_HTTPPROXYTUNNEL).number, 1);
    assert_int_equal(TOLD(CURLOPT_NOPROGRESS).times, 1);
    assert_int_equal(TOLD(CURLOPT_NOPROGRESS).number, 0);
    assert_ptr_equal(TOLD(CURLOPT_XFERINFODATA).pointer, transfer);
    assert_int_equal(TOLD(CURLOPT_HTTPHEADER).times, 0);
    assert_true(transfer->ftp.spoken && transfer->ftp.head);
    assert_int_equal(transfer->ftp.resumed_at, 5);
    curl_xferinfo_callback goes_on;
    memcpy(&goes_on, &TOLD(CURLOPT_XFERINFOFUNCTION).function, sizeof goes_on);
    assert_int_equal(goes_on(transfer, 1, 1, 1, 1), 0);
    atomic_store(&http.ftp.stop, true);
    assert_int_not_equal(goes_on(transfer, 0, 0, 0, 0), 0);
    prepare_url("ftps://a.example/x");
    assert_int_equal(TOLD(CURLOPT_USE_SSL).number, CURLUSESSL_ALL);
    assert_false(transfer->ftp.head);
    transfer_reset(transfer);
    close_all();
}

/* ---- what it tells ---- */

static void
assert_buf(const struct buf *buf, const char *text)
{
    assert_true(slice_is(buf_slice(buf), text));
}

/* The last request and the last response are kept, without what goes to a proxy only. */
static void
what_was_sent_and_received_last_is_kept(void **state)
{
    (void)state;
    open_with(plain);
    prepare_url("http://a.example/");
    assert_false(transfer->exchange.sent);
    tell_request();
    assert_true(transfer->exchange.sent);
    assert_int_equal(TOLD(CURLOPT_VERBOSE).number, 1);
    tell_debug(CURLINFO_HEADER_OUT, "CONNECT a.example:80 HTTP/1.1\r\n");
    tell_debug(CURLINFO_TEXT, "words");
    tell_debug(CURLINFO_HEADER_IN, "HTTP/1.1");
    tell_debug(CURLINFO_HEADER_OUT, "GET /1\r\n");
    assert_buf(&transfer->exchange.request, "GET /1\r\n");
    tell_request(); /* sent again */
    tell_debug(CURLINFO_HEADER_OUT, "GET /2\r\n");
    assert_buf(&transfer->exchange.request, "GET /2\r\n");
    assert_int_equal(tell_header("HTTP/1.1 103 Early\r\n"), 20);
    assert_int_equal(TOLD(CURLOPT_VERBOSE).number, 0);
    assert_false(transfer->exchange.header_complete);
    assert_int_equal(tell_header("\r\n"), 2);
    assert_true(transfer->exchange.header_complete);
    (void)tell_header("HTTP/1.1 200 OK\r\n");
    assert_false(transfer->exchange.header_complete);
    (void)tell_header("A: b\r\n");
    (void)tell_header("\n");
    assert_true(transfer->exchange.header_complete);
    assert_int_equal(tell_header("Trailer: c\r\n"), 12);
    assert_buf(&transfer->exchange.header, "HTTP/1.1 200 OK\r\nA: b\r\n\n");
    assert_int_equal(transfer->exchange.header_bytes, 20 + 2 + 17 + 6 + 1 + 12);
    assert_int_equal(transfer->exchange.piece_ms, STARTED_MS);
    now_ms = 2000;
    assert_int_equal(tell_body("hello"), 5);
    assert_int_equal(transfer->exchange.piece_ms, 2000);
    assert_buf(&transfer->exchange.body, "hello");
    assert_true(http.memory_used >= 5);
    assert_int_equal(http.memory_used, transfer->exchange.body.capacity);
    transfer_reset(transfer);
    assert_int_equal(http.memory_used, 0);
    assert_int_equal(transfer->exchange.header_bytes, 0);
    assert_int_equal(transfer->exchange.request.length + transfer->exchange.header.length, 0);
    assert_false(transfer->exchange.header_complete || transfer->exchange.sent);
    close_all();
}

/* All lines count, also those that are not kept. */
static void
headers_have_their_limit(void **state)
{
    char line[HEADER_SIZE + 1];
    (void)state;
    open_with(plain);
    for (int longer = 0; longer < 2; longer++) {
        prepare_url("http://a.example/");
        (void)tell_header("HTTP/1.1 103 Early\r\n");
        memset(line, 'a', sizeof line);
        line[HEADER_SIZE - 20 + longer] = '\0';
        assert_int_equal(tell_header(line), longer == 0 ? HEADER_SIZE - 20 : 0);
        assert_int_equal(transfer->exchange.header_too_long, longer);
        assert_int_equal(tell_header("\n"), 0);
        assert_true(transfer->exchange.header_too_long);
        transfer_reset(transfer);
        assert_false(transfer->exchange.header_too_long);
    }
    close_all();
}

static void
bodies_have_their_limits(void **state)
{
    (void)state;
    open_with(plain);
    prepare((struct fetch_request){.url = SLICE("http://a.example/"), .size = 5});
    assert_int_equal(tell_body("1234"), 4);
    assert_int_equal(tell_body("5"), 1);
    assert_false(transfer->exchange.too_long);
    assert_int_equal(tell_body("6"), 0);
    assert_true(transfer->exchange.too_long);
    assert_buf(&transfer->exchange.body, "12345");
    transfer_reset(transfer);
    assert_false(transfer->exchange.too_long);
    prepare((struct fetch_request){.url = SLICE("http://a.example/"), .size = 5});
    assert_int_equal(tell_body("1234567"), 0);
    assert_buf(&transfer->exchange.body, "12345"); /* its beginning */
    transfer_reset(transfer);
    prepare_url("http://a.example/");
    assert_int_equal(transfer->exchange.body_limit, 32 << 20);
    http.memory_used = http.settings.memory - 3;
    assert_int_equal(tell_body("1234"), 0);
    assert_true(transfer->exchange.out_of_memory);
    assert_int_equal(transfer->exchange.body.length, 0);
    transfer_reset(transfer);
    assert_false(transfer->exchange.out_of_memory);
    prepare_url("http://a.example/");
    assert_int_equal(tell_body("123"), 3);
    transfer_reset(transfer);
    close_all();
}

static struct {
    unsigned begun, status, taken;
    bool begins, takes;
    char header[100];
} sunk;

static bool
begin_counted(void *context, uint16_t status, struct slice header)
{
    assert_ptr_equal(context, &sunk);
    sunk.begun++;
    sunk.status = status;
    snprintf(sunk.header, sizeof sunk.header, "%.*s", SLICE_PRINT(header));
    return sunk.begins;
}

static bool
take_counted(void *context, struct slice bytes)
{
    assert_ptr_equal(context, &sunk);
    sunk.taken += (unsigned)bytes.length;
    return sunk.takes;
}

/* It is asked before the first piece whether it wants any, and at each whether it wants more. */
static void
a_sink_says_whether_to_go_on(void **state)
{
    static const struct fetch_sink sink = {begin_counted, take_counted, &sunk};
    const struct fetch_request request = {
        .url = SLICE("http://a.example/"), .sink = &sink, .size = 5};
    (void)state;
    open_with(plain);
    for (int i = 0; i < 3; i++) {
        memset(&sunk, 0, sizeof sunk);
        sunk.begins = i > 0;
        sunk.takes = i > 1;
        prepare(request);
        answers.status = 206;
        (void)tell_header("HTTP/1.1 206 x\r\n");
        assert_int_equal(tell_body("1234"), i > 1 ? 4 : 0);
        assert_int_equal(sunk.begun, 1);
        assert_int_equal(sunk.status, 206);
        assert_string_equal(sunk.header, "HTTP/1.1 206 x\r\n");
        assert_int_equal(sunk.taken, i > 0 ? 4 : 0);
        if (i == 2) {
            assert_int_equal(tell_body("5"), 1);
            assert_int_equal(sunk.begun, 1);
            assert_false(transfer->exchange.too_long);
            assert_int_equal(tell_body("6"), 0);
            assert_int_equal(sunk.taken, 5);
            assert_true(transfer->exchange.too_long);
        }
        assert_int_equal(transfer->exchange.body.length, 0);
        transfer_reset(transfer);
    }
    close_all();
}

/* By FTP the dialogue is the request, without its secrets; a header is made when the body begins,
 * which is in no memory that is counted. Of what is only looked at there is no body. */
static void
dialogues_are_kept_as_requests(void **state)
{
    static const struct fetch_sink sink = {begin_counted, take_counted, &sunk};
    struct fetch_request request = {.url = SLICE("ftp://a.example/x")};
    (void)state;
    open_with(plain);
    for (int i = 0; i < 3; i++) {
        request.head = i == 1;
        request.sink = i == 2 ? &sink : NULL;
        request.range_from = i == 2 ? 3 : 0;
        memset(&sunk, 0, sizeof sunk);
        sunk.begins = sunk.takes = true;
        prepare(request);
        transfer->authorised = i == 1;
        tell_debug(CURLINFO_HEADER_OUT, "PASS x\r\n");
        assert_int_equal(tell_header("230 come in\r\n"), 13);
        assert_buf(&transfer->exchange.request,
                   i == 1 ? "PASS [withheld]\r\n230 [withheld]\r\n" : "PASS x\r\n230 come in\r\n");
        assert_int_equal(transfer->ftp.reply, 230);
        assert_int_equal(tell_body("hello"), 5);
        assert_buf(&transfer->exchange.body, i == 0 ? "hello" : "");
        assert_int_equal(sunk.taken, i == 2 ? 5 : 0);
        assert_int_equal(sunk.status, i == 2 ? 206 : 0);
        assert_int_equal(transfer->exchange.header_complete, i != 1);
        assert_int_equal(http.memory_used, 0);
        buf_release(&transfer->exchange.body); /* one by FTP is used once, and not reset */
        transfer_free(transfer);
        transfer = transfer_new(&http);
    }
    prepare(request);
    char line[HEADER_SIZE + 1];
    memset(line, 'a', sizeof line);
    line[HEADER_SIZE] = '\0';
    assert_int_equal(tell_header(line), HEADER_SIZE);
    assert_int_equal(tell_header("b"), 0); /* a reply without end */
    assert_true(transfer->exchange.header_too_long);
    close_all();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_handle_is_told_the_same),
        cmocka_unit_test(without_a_handle_the_process_ends),
        cmocka_unit_test(requests_have_the_headers_that_they_ask_for),
        cmocka_unit_test(credentials_are_for_their_origin),
        cmocka_unit_test(ftp_is_told_of_its_own),
        cmocka_unit_test(what_was_sent_and_received_last_is_kept),
        cmocka_unit_test(headers_have_their_limit),
        cmocka_unit_test(bodies_have_their_limits),
        cmocka_unit_test(a_sink_says_whether_to_go_on),
        cmocka_unit_test(dialogues_are_kept_as_requests),
    };
    return cmocka_run_group_tests_name("transfer", tests, NULL, NULL) + transfer_ends_run();
}
