/* Where one transfer connects (stages/fetch/http/transfer_place.c) and how it ends
 * (transfer_end.c). */
#include "tests/unit/stages_http/transfer_ends.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/url/url.h"
#include "stages/fetch/http/address_limit.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/scratch.h"
#include "tests/unit/stages_http/transfer_steps.h"

/* ---- where it connects ---- */

/* libcurl hands out an address with room behind it for one of any family. */
union roomy_address {
    struct curl_sockaddr told;
    uint8_t room[sizeof(struct curl_sockaddr) + sizeof(struct sockaddr_storage)];
};

static curl_socket_t
connect_to(const char *text, unsigned port, union roomy_address *roomy)
{
    struct curl_sockaddr *address = &roomy->told;
    curl_opensocket_callback opens;
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&address->addr;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&address->addr;
    memset(roomy, 0, sizeof *roomy);
    address->family = AF_INET;
    address->socktype = SOCK_STREAM;
    if (inet_pton(AF_INET, text, &v4->sin_addr) != 1) {
        address->family = AF_INET6;
        assert_int_equal(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
    }
    address->addr.sa_family = (sa_family_t)address->family;
    v4->sin_port = htons((uint16_t)port); /* which is in the same place in both */
    memcpy(&opens, &TOLD(CURLOPT_OPENSOCKETFUNCTION).function, sizeof opens);
    assert_ptr_equal(TOLD(CURLOPT_OPENSOCKETDATA).pointer, transfer);
    return opens(transfer, CURLSOCKTYPE_IPCXN, address);
}

static bool
may_connect_at(const char *text, unsigned port)
{
    union roomy_address address;
    const curl_socket_t number = connect_to(text, port, &address);
    if (number != CURL_SOCKET_BAD) {
        close(number);
    }
    return number != CURL_SOCKET_BAD;
}

static bool
may_connect(const char *text)
{
    return may_connect_at(text, 80);
}

/* Each address is counted while it is connected to, or may be. */
static void
addresses_are_refused_and_counted(void **state)
{
    const uint64_t number = fingerprint64(SLICE("192.0.1.7"));
    (void)state;
    open_with((const char *const[]){"fetch.allow_address=127.0.0.0/8", NULL});
    prepare_url("http://a.example/");
    assert_int_equal(TOLD(CURLOPT_DNS_CACHE_TIMEOUT).number, 0);
    assert_false(may_connect("10.0.0.1"));
    assert_string_equal(transfer->place.refused, "private");
    assert_true(may_connect("127.0.0.1"));
    assert_int_equal(transfer->place.address, 0); /* who is exempt is not counted */
    assert_true(may_connect("192.0.1.7"));
    assert_int_equal(transfer->place.address, number);
    assert_false(address_limit_is_full(http.address_limit, number));
    address_limit_move(http.address_limit, 0, number);
    assert_true(address_limit_is_full(http.address_limit, number));
    assert_true(may_connect("192.0.1.7")); /* it has its place */
    assert_int_equal(transfer->place.at_limit, 0);
    place_leave(transfer);
    assert_int_equal(transfer->place.address, 0);
    assert_false(address_limit_is_full(http.address_limit, number));
    address_limit_move(http.address_limit, 0, number);
    assert_false(may_connect("192.0.1.7"));
    assert_int_equal(transfer->place.at_limit, number);
    transfer_reset(transfer);
    assert_int_equal(transfer->place.at_limit, 0);
    assert_null(transfer->place.refused);
    address_limit_move(http.address_limit, number, 0);
    address_limit_move(http.address_limit, number, 0);
    assert_false(address_limit_is_full(http.address_limit, number));
    prepare((struct fetch_request){.url = SLICE("http://a.example/"), .address = number});
    assert_int_equal(transfer->place.address, number); /* a kept connection may be used */
    place_leave(transfer);
    transfer_reset(transfer);
    close_all();
}

/* libcurl is told an alias that no host has, and connects to the address for it. */
static void
hosts_have_an_alias_for_their_address(void **state)
{
    static const struct {
        const char *host, *address;
    } cases[] = {{"http://a.example/", "192.0.1.7"}, {"http://b.example/", "2606:4700::7"}};
    (void)state;
    open_with(plain);
    for (size_t i = 0; i < 2; i++) {
        struct dns_answer found = {.count = 2};
        struct dns_address *good = &found.addresses[1];
        char alias[INET6_ADDRSTRLEN + 8] = "", is[INET6_ADDRSTRLEN];
        union roomy_address address;
        const bool v4 = i == 0;
        found.addresses[0].socket.v4.sin_family = AF_INET;
        inet_pton(AF_INET, "10.0.0.1", &found.addresses[0].socket.v4.sin_addr);
        good->socket.any.sa_family = v4 ? AF_INET : AF_INET6;
        assert_int_equal(
            inet_pton(v4 ? AF_INET : AF_INET6, cases[i].address,
                      v4 ? (void *)&good->socket.v4.sin_addr : (void *)&good->socket.v6.sin6_addr),
            1);
        prepare_url(cases[i].host);
        assert_true(place_needs_address(transfer, slice_string(cases[i].host)));
        assert_null(TOLD(CURLOPT_CONNECT_TO).pointer);
        assert_true(place_go_to(transfer, &found));
        assert_null(transfer->place.refused);
        const struct curl_slist *rule = TOLD(CURLOPT_CONNECT_TO).pointer;
        assert_non_null(rule);
        assert_null(rule->next);
        assert_int_equal(sscanf(rule->data, v4 ? "::%45[0-9.]:" : "::[%45[0-9a-f:]]:", alias), 1);
        if (v4) {
            assert_in_range(atoi(alias), 240, 255);
        } else {
            assert_int_equal(strncmp(alias, "100::", 5), 0);
        }
        const uint64_t digest = digest_local(url_host(slice_string(cases[i].host)));
        uint8_t wanted[16] = {v4 ? 0 : 1}, bytes[16] = {0};
        memcpy(wanted + (v4 ? 0 : 8), &digest, v4 ? 4 : 8);
        wanted[0] |= v4 ? 0xf0 : 0;
        assert_int_equal(inet_pton(v4 ? AF_INET : AF_INET6, alias, bytes), 1);
        assert_memory_equal(bytes, wanted, v4 ? 4 : 16);
        const curl_socket_t number = connect_to(alias, 80, &address);
        assert_true(number != CURL_SOCKET_BAD);
        close(number);
        inet_ntop(address.told.family,
                  v4 ? (void *)&((struct sockaddr_in *)(void *)&address.told.addr)->sin_addr
                     : (void *)&((struct sockaddr_in6 *)(void *)&address.told.addr)->sin6_addr,
                  is, sizeof is);
        assert_string_equal(is, cases[i].address);
        place_leave(transfer);
        transfer_reset(transfer);
        assert_null(transfer->place.connect);
        assert_false(may_connect(alias)); /* it stands for nothing any more */
    }
    prepare_url("http://a.example/");
    struct dns_answer forbidden = {.count = 1, .problem = "unsaid", .none = true};
    forbidden.addresses[0].socket.v4.sin_family = AF_INET;
    inet_pton(AF_INET, "10.0.0.1", &forbidden.addresses[0].socket.v4.sin_addr);
    assert_false(place_go_to(transfer, &forbidden));
    assert_string_equal(transfer->place.refused, "private");
    assert_string_equal(transfer->problem, "");
    assert_false(transfer->place.no_name);
    const struct dns_answer nobody = {.problem = "no such name", .none = true};
    assert_false(place_go_to(transfer, &nobody));
    assert_string_equal(transfer->problem, "no such name");
    assert_true(transfer->place.no_name);
    transfer_reset(transfer);
    assert_false(transfer->place.no_name);
    assert_string_equal(transfer->problem, "");
    close_all();
}

static void
go_and_leave(void)
{
    struct dns_answer found = {.count = 1};
    found.addresses[0].socket.v4.sin_family = AF_INET;
    inet_pton(AF_INET, "192.0.1.7", &found.addresses[0].socket.v4.sin_addr);
    prepare_url("http://a.example/");
    assert_true(place_go_to(transfer, &found));
    place_leave(transfer);
    transfer_reset(transfer);
}

/* A handle is used again and again, and keeps nothing of where it went before. */
static void
no_place_is_kept_in_memory(void **state)
{
    (void)state;
    open_with(plain);
    assert_true(leaves_no_memory(go_and_leave));
    close_all();
}

static void
who_is_directed_needs_no_address(void **state)
{
    char path[SCRATCH_SIZE], setting[SCRATCH_SIZE + 20];
    (void)state;
    FILE *file = fdopen(scratch_file(path, "test_transfer"), "w");
    fputs("192.0.1.9 named.example\n::1 six.example\n", file);
    fclose(file);
    snprintf(setting, sizeof setting, "fetch.hosts_file=%s", path);
    open_with((const char *const[]){setting, "fetch.connect_to=https=b.example:444", NULL});
    prepare_url("http://named.example/");
    assert_true(transfer->place.named);
    assert_false(place_needs_address(transfer, SLICE("http://named.example/")));
    assert_int_equal(transfer->place.target.family, AF_INET);
    assert_memory_equal(transfer->place.target.bytes, "\xc0\0\1\x9", 4);
    assert_ptr_equal(TOLD(CURLOPT_CONNECT_TO).pointer, transfer->place.connect);
    assert_int_equal(place_number(transfer, "192.0.1.9"), fingerprint64(SLICE("192.0.1.9")));
    transfer_reset(transfer);
    prepare_url("http://six.example/");
    assert_int_equal(transfer->place.target.family, AF_INET6);
    assert_memory_equal(transfer->place.target.bytes, &in6addr_loopback, sizeof in6addr_loopback);
    transfer_reset(transfer);
    prepare_url("https://a.example/");
    assert_false(transfer->place.named);
    assert_false(place_needs_address(transfer, SLICE("https://a.example/")));
    assert_string_equal(lines_of(TOLD(CURLOPT_CONNECT_TO).pointer), "::b.example:444\n");
    assert_int_equal(TOLD(CURLOPT_DNS_CACHE_TIMEOUT).number, 300);
    /* Where any is directed, addresses say nothing of hosts. */
    assert_int_equal(place_number(transfer, "192.0.1.9"), 0);
    assert_int_equal(place_number(transfer, "nonsense"), 0);
    transfer_reset(transfer);
    prepare_url("http://a.example/");
    assert_true(place_needs_address(transfer, SLICE("http://a.example/")));
    assert_null(TOLD(CURLOPT_CONNECT_TO).pointer);
    assert_int_equal(TOLD(CURLOPT_DNS_CACHE_TIMEOUT).number, 0);
    transfer_reset(transfer);
    close_all();
    open_with((const char *const[]){setting, "fetch.proxy=http://127.0.0.1:3128", NULL});
    unlink(path);
    prepare_url("http://a.example/");
    assert_true(transfer->place.proxied);
    assert_string_equal(TOLD(CURLOPT_PROXY).text, "http://127.0.0.1:3128");
    assert_string_equal(TOLD(CURLOPT_USERAGENT).text, http.settings.user_agent);
    assert_int_equal(TOLD(CURLOPT_DNS_CACHE_TIMEOUT).number, 300);
    assert_false(place_needs_address(transfer, SLICE("http://a.example/")));
    assert_true(place_needs_address(transfer, SLICE("http://192.0.1.1/"))); /* to be judged */
    assert_true(may_connect_at("127.0.0.1", 3128));
    assert_int_equal(transfer->place.address, 0);
    assert_false(may_connect_at("127.0.0.1", 80)); /* the proxy is at its port only */
    transfer_reset(transfer);
    prepare_url("http://named.example/");
    assert_false(transfer->place.proxied);
    assert_string_equal(TOLD(CURLOPT_PROXY).text, "");
    assert_string_equal(TOLD(CURLOPT_USERAGENT).text, "(none)");
    transfer_reset(transfer);
    close_all();
}

/* ---- how it ends ---- */

static const char url[] = "http://a.example/x";

static void
begin_ending(void)
{
    memset(&answers, 0, sizeof answers);
    answers.url = url;
    answers.ip = "192.0.1.7";
    answers.status = 200;
    unreachable[0] = '\0';
    handles_removed = 0;
    now_ms = STARTED_MS;
    prepare((struct fetch_request){.url = slice_string(url), .address = 5});
    assert_int_equal(transfer->place.address, 5);
}

static void
finish(CURLcode code)
{
    now_ms = STARTED_MS + 4000;
    transfer_finish(transfer, code);
    assert_int_equal(last.milliseconds, 4000);
    assert_int_equal(last.started_ms, WALL_MS);
    assert_int_equal(transfer->place.address, 0);
}

static void
ends_are_told_apart(void **state)
{
    enum {
        NOTHING = 0,
        MEMORY = 1,
        LONG_HEADER = 2,
        COMPLETE = 4,
        CROWDED = 8,
        REFUSED = 16,
        LONG_BODY = 32
    };
    static const struct {
        unsigned had;
        CURLcode code;
        enum fetch_end end;
        const char *problem; /* NULL: libcurl's words */
    } cases[] = {
        {COMPLETE, CURLE_OK, FETCH_ANSWERED, ""},
        {MEMORY | COMPLETE, CURLE_OK, FETCH_NO_MEMORY,
         "bodies in flight hold more than fetch.memory"},
        {LONG_HEADER | COMPLETE, CURLE_OK, FETCH_REFUSED_HEADER,
         "response header larger than 200 bytes, interim responses and trailers counted"},
        {NOTHING, CURLE_OUT_OF_MEMORY, FETCH_REFUSED_HEADER,
         "response header larger than 200 bytes, interim responses and trailers counted"},
        {COMPLETE, CURLE_OUT_OF_MEMORY, FETCH_CUT_CONNECTION, NULL},
        {NOTHING, CURLE_OK, FETCH_FAILED, "the server sent no response"},
        {NOTHING, CURLE_GOT_NOTHING, FETCH_FAILED, NULL},
        {CROWDED, CURLE_COULDNT_CONNECT, FETCH_CROWDED,
         "queue.group_parallel hosts of the address are being fetched from"},
        {CROWDED | COMPLETE, CURLE_OK, FETCH_ANSWERED, ""},
        {REFUSED, CURLE_COULDNT_CONNECT, FETCH_REFUSED_ADDRESS,
         "the host's address is not public (private) and not in fetch.allow_address"},
        {REFUSED | COMPLETE, CURLE_RECV_ERROR, FETCH_CUT_CONNECTION, NULL},
        {COMPLETE | LONG_BODY, CURLE_WRITE_ERROR, FETCH_CUT_LENGTH,
         "body larger than 33554432 bytes"},
        {COMPLETE, CURLE_OPERATION_TIMEDOUT, FETCH_CUT_TIME, NULL},
        {NOTHING, CURLE_OPERATION_TIMEDOUT, FETCH_FAILED, NULL},
    };
    (void)state;
    open_with(plain);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct transfer_exchange *exchange = &transfer->exchange;
        begin_ending();
        exchange->out_of_memory = cases[i].had & MEMORY;
        exchange->header_too_long = cases[i].had & LONG_HEADER;
        exchange->header_complete = cases[i].had & COMPLETE;
        exchange->too_long = cases[i].had & LONG_BODY;
        transfer->place.at_limit = cases[i].had & CROWDED ? 99 : 0;
        transfer->place.refused = cases[i].had & REFUSED ? "private" : NULL;
        finish(cases[i].code);
        assert_int_equal(last.end, cases[i].end);
        assert_string_equal(last_problem, cases[i].problem != NULL
                                              ? cases[i].problem
                                              : curl_easy_strerror(cases[i].code));
        assert_int_equal(last.status, cases[i].had & COMPLETE ? 200 : 0);
        assert_int_equal(last.reply, 0);
        assert_int_equal(last.address,
                         cases[i].had & CROWDED ? 99 : fingerprint64(SLICE("192.0.1.7")));
        assert_true(slice_is(last.ip, "192.0.1.7"));
        assert_int_equal(last.unsent, cases[i].end == FETCH_FAILED);
        assert_false(last.flowing);
        assert_int_equal(handles_removed, 1);
        assert_string_equal(unreachable, "");
        transfer_reset(transfer);
    }
    close_all();
}

/* Nobody refused: no answer of a name server, of the host, or of anything behind a proxy. */
static void
silence_is_told_from_refusal(void **state)
{
    static const struct {
        CURLcode code;
        long number;
        bool no_name, proxied, sent, silent;
    } cases[] = {
        {CURLE_COULDNT_RESOLVE_HOST, 0, false, false, false, true},
        {CURLE_COULDNT_RESOLVE_HOST, 0, true, false, false, false},
        {CURLE_COULDNT_CONNECT, ECONNREFUSED, false, false, false, false},
        {CURLE_COULDNT_CONNECT, ECONNREFUSED, false, true, false, true},
        {CURLE_COULDNT_CONNECT, EHOSTUNREACH, false, false, false, true},
        {CURLE_OPERATION_TIMEDOUT, 0, false, false, true, true},
        {CURLE_GOT_NOTHING, 0, false, false, true, false},
        {CURLE_GOT_NOTHING, 0, false, true, true, true},
    };
    (void)state;
    open_with(plain);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_ending();
        answers.number = cases[i].number;
        transfer->place.no_name = cases[i].no_name;
        transfer->place.proxied = cases[i].proxied;
        transfer->exchange.sent = cases[i].sent;
        finish(cases[i].code);
        assert_int_equal(last.end, FETCH_FAILED);
        assert_int_equal(last.silent, cases[i].silent);
        assert_int_equal(last.unsent, !cases[i].sent);
        assert_true(slice_is(last.ip, cases[i].proxied ? "" : "192.0.1.7"));
        transfer->place.proxied = false;
        transfer_reset(transfer);
    }
    close_all();
}

/* It is told by its address, and another is tried the next time; one of fetch.hosts_file stays. */
static void
an_address_that_does_not_answer_is_named(void **state)
{
    static const struct {
        long number;
        bool named;
        CURLcode code;
        const char *problem, *unreachable;
    } cases[] = {
        {ECONNREFUSED, false, CURLE_COULDNT_CONNECT,
         "cannot connect to 192.0.1.7: Connection refused", "a.example"},
        {0, false, CURLE_COULDNT_CONNECT, "cannot connect to 192.0.1.7: no connection",
         "a.example"},
        {ECONNREFUSED, true, CURLE_COULDNT_CONNECT,
         "cannot connect to 192.0.1.7: Connection refused", ""},
        {0, false, CURLE_SSL_CONNECT_ERROR, "libcurl's own words", "a.example"},
    };
    struct dns_answer found = {.count = 1};
    (void)state;
    found.addresses[0].socket.v4.sin_family = AF_INET;
    inet_pton(AF_INET, "192.0.1.7", &found.addresses[0].socket.v4.sin_addr);
    open_with(plain);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_ending();
        assert_true(place_go_to(transfer, &found));
        transfer->place.named = cases[i].named;
        strcpy(transfer->problem, "libcurl's own words");
        answers.number = cases[i].number;
        finish(cases[i].code);
        assert_string_equal(last_problem, cases[i].problem);
        assert_string_equal(unreachable, cases[i].unreachable);
        transfer_reset(transfer);
        /* Whoever answers is reached, however it ends. */
        begin_ending();
        assert_true(place_go_to(transfer, &found));
        transfer->exchange.header_complete = true;
        finish(CURLE_RECV_ERROR);
        assert_string_equal(unreachable, "");
        transfer_reset(transfer);
    }
    close_all();
}

static void
a_result_says_all_of_the_answer(void **state)
{
    static const struct {
        uint64_t piece_ms;
        bool flowing;
    } pieces[] = {{STARTED_MS, false}, {STARTED_MS + 2000, false}, {STARTED_MS + 2001, true}};
    (void)state;
    open_with(plain);
    for (int i = 0; i < 4; i++) {
        begin_ending();
        tell_request();
        tell_debug(CURLINFO_HEADER_OUT, "GET /x HTTP/1.1\r\nAuthorization: Basic bWU=\r\n\r\n");
        (void)tell_header("HTTP/1.1 503 Busy\r\n");
        (void)tell_header("\r\n");
        (void)tell_body("later");
        answers.status = 503;
        answers.version = i == 1 ? CURL_HTTP_VERSION_2_0 : CURL_HTTP_VERSION_1_1;
        answers.retry_after = i - 1;
        transfer->authorised = i == 2;
        transfer->place.proxied = i == 3;
        finish(CURLE_OK);
        assert_int_equal(last.end, FETCH_ANSWERED);
        assert_int_equal(last.status, 503);
        assert_true(slice_is(last.response_header, "HTTP/1.1 503 Busy\r\n\r\n"));
        assert_true(slice_is(last.body, "later"));
        assert_true(slice_is(last.protocol, i == 1 ? "h2" : ""));
        assert_int_equal(last.retry_after_ms, i > 1 ? 1000 * (i - 1) : 0);
        assert_string_equal(last_request,
                            i < 2 ? "GET /x HTTP/1.1\r\nAuthorization: Basic bWU=\r\n\r\n"
                                  : "GET /x HTTP/1.1\r\nAuthorization: [withheld]\r\n\r\n");
        assert_false(last.unsent || last.silent || last.flowing);
        transfer->place.proxied = transfer->authorised = false;
        transfer_reset(transfer);
    }
    for (size_t i = 0; i < 3; i++) {
        begin_ending();
        transfer->exchange.header_complete = true;
        transfer->exchange.piece_ms = pieces[i].piece_ms;
        finish(CURLE_OPERATION_TIMEDOUT);
        assert_int_equal(last.flowing, pieces[i].flowing);
        assert_true(last.body.at != NULL && last.body.length == 0);
        transfer_reset(transfer);
    }
    begin_ending(); /* libcurl never had it */
    transfer->resolving = true;
    answers.ip = NULL;
    finish(CURLE_COULDNT_RESOLVE_HOST);
    assert_int_equal(handles_removed, 0);
    assert_true(slice_is(last.ip, ""));
    assert_int_equal(last.address, 0);
    transfer_reset(transfer);
    assert_false(transfer->resolving);
    close_all();
}

/* A reply that says no is an answer, in HTTP's terms. */
static void
ftp_replies_are_answers(void **state)
{
    char words[FETCH_WORDS_SIZE];
    (void)state;
    open_with(plain);
    begin_ending();
    transfer->ftp.spoken = true;
    transfer->ftp.reply = 550;
    transfer->authorised = true; /* which the dialogue has withheld itself */
    finish(CURLE_REMOTE_FILE_NOT_FOUND);
    assert_int_equal(last.end, FETCH_ANSWERED);
    assert_int_equal(last.status, 404);
    assert_int_equal(last.reply, 550);
    assert_string_equal(last_problem, "the server replied 550");
    assert_int_equal(handles_removed, 0);
    transfer_reset(transfer);
    begin_ending();
    transfer->ftp.spoken = true;
    transfer->ftp.reply = 226;
    finish(CURLE_OK);
    assert_int_equal(last.end, FETCH_ANSWERED);
    assert_int_equal(last.status, 200);
    assert_string_equal(last_problem, "");
    transfer_reset(transfer);
    begin_ending();
    transfer->ftp.spoken = true;
    transfer->ftp.reply = 400;
    finish(CURLE_FTP_WEIRD_SERVER_REPLY);
    assert_int_equal(last.status, 503);
    assert_string_equal(last_problem, "the server replied 400");
    transfer_reset(transfer);
    begin_ending(); /* by HTTP a body that breaks is one, whatever the status */
    transfer->exchange.header_complete = true;
    answers.status = 404;
    finish(CURLE_RECV_ERROR);
    assert_int_equal(last.end, FETCH_CUT_CONNECTION);
    assert_int_equal(last.status, 404);
    transfer_reset(transfer);
    fetch_answer_words(503, 0, words);
    assert_string_equal(words, "the server answered 503");
    fetch_answer_words(503, 421, words);
    assert_string_equal(words, "the server replied 421");
    close_all();
}

int
transfer_ends_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_refused_and_counted),
        cmocka_unit_test(hosts_have_an_alias_for_their_address),
        cmocka_unit_test(no_place_is_kept_in_memory),
        cmocka_unit_test(who_is_directed_needs_no_address),
        cmocka_unit_test(ends_are_told_apart),
        cmocka_unit_test(silence_is_told_from_refusal),
        cmocka_unit_test(an_address_that_does_not_answer_is_named),
        cmocka_unit_test(a_result_says_all_of_the_answer),
        cmocka_unit_test(ftp_replies_are_answers),
    };
    return cmocka_run_group_tests_name("transfer ends", tests, NULL, NULL);
}
