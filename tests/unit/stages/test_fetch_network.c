/* Names, proxies and kept connections: transfers beside a name server and a server, each a thread
 * of the test. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "stages/fetch/http/fetch_dns.h"
#include "stages/fetch/http/fetch_proxy.h"
#include "tests/unit/scratch.h"
#include "tests/unit/stages/fetch_client.h"

static int names_socket, listener, listener_v6 = -1;
static unsigned names_port, port;
static atomic_uint questions, connections;
static atomic_uint gather_ms, most_names; /* see serve_names */

/* ---- a name server ---- */

struct name {
    const char *name;
    const char *addresses[2]; /* none: it does not exist */
    uint32_t ttl;
};
static const struct name names[] = {
    {"one.test", {"127.0.0.1"}, 300},
    {"short.test", {"127.0.0.1"}, 0},
    {"two.test", {"127.9.9.9", "127.0.0.1"}, 300}, /* at the first nobody listens */
    {"turned.test", {"127.0.0.1", "127.9.9.9"}, 300},
    {"private.test", {"10.1.2.3"}, 300},
    {"half.test", {"10.1.2.3", "127.0.0.1"}, 300},
};

static size_t
put16(uint8_t *at, unsigned number)
{
    at[0] = (uint8_t)(number >> 8);
    at[1] = (uint8_t)number;
    return 2;
}

/* The question's labels as text; returns where they end. */
static size_t
read_name(const uint8_t *packet, size_t length, char *text, size_t room)
{
    size_t at = 12;
    size_t n = 0;
    while (at < length && packet[at] != 0 && n + packet[at] + 2 < room) {
        memcpy(text + n, packet + at + 1, packet[at]);
        n += packet[at];
        text[n++] = '.';
        at += packet[at] + 1u;
    }
    text[n > 0 ? n - 1 : 0] = '\0';
    return at + 1;
}

static size_t
reply_to(uint8_t *packet, size_t length)
{
    char text[256];
    const size_t end = read_name(packet, length, text, sizeof text) + 4;
    const bool v4 = packet[end - 3] == 1;
    const struct name *name = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        name = strcmp(names[i].name, text) == 0 ? &names[i] : name;
    }
    size_t at = end;
    unsigned answers = 0;
    for (size_t i = 0; name != NULL && v4 && i < 2 && name->addresses[i] != NULL; i++) {
        at += put16(packet + at, 0xc00c);
        at += put16(packet + at, 1);
        at += put16(packet + at, 1);
        at += put16(packet + at, 0);
        at += put16(packet + at, name->ttl);
        at += put16(packet + at, 4);
        inet_pton(AF_INET, name->addresses[i], packet + at);
        at += 4;
        answers++;
    }
    put16(packet + 2, name != NULL ? 0x8180 : 0x8183);
    put16(packet + 6, answers);
    put16(packet + 8, 0);
    put16(packet + 10, 0);
    return at;
}

struct question {
    uint8_t packet[1024];
    size_t length;
    struct sockaddr_in from;
};

static size_t
count_names(const struct question *held, size_t n)
{
    char text[2][256];
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        bool first = true;
        (void)read_name(held[i].packet, held[i].length, text[0], sizeof text[0]);
        for (size_t k = 0; k < i && first; k++) {
            (void)read_name(held[k].packet, held[k].length, text[1], sizeof text[1]);
            first = strcmp(text[0], text[1]) != 0;
        }
        count += first;
    }
    return count;
}

/* Waits gather_ms for further questions before it answers; most_names: of so many different names
 * there were questions at a time. */
static void *
serve_names(void *context)
{
    enum { HELD = 16 };
    static struct question held[HELD];
    struct pollfd readable = {.fd = names_socket, .events = POLLIN};
    (void)context;
    for (;;) {
        size_t n = 0;
        do {
            struct question *question = &held[n];
            socklen_t size = sizeof question->from;
            const ssize_t got = recvfrom(names_socket, question->packet, 512, 0,
                                         (struct sockaddr *)&question->from, &size);
            if (got <= 16) {
                return NULL;
            }
            question->length = (size_t)got;
            atomic_fetch_add(&questions, 1);
        } while (++n < HELD && poll(&readable, 1, (int)atomic_load(&gather_ms)) > 0);
        const unsigned different = (unsigned)count_names(held, n);
        if (different > atomic_load(&most_names)) {
            atomic_store(&most_names, different);
        }
        for (size_t i = 0; i < n; i++) {
            const size_t length = reply_to(held[i].packet, held[i].length);
            sendto(names_socket, held[i].packet, length, 0, (struct sockaddr *)&held[i].from,
                   sizeof held[i].from);
        }
    }
}

/* ---- a server, HTTP proxy and SOCKS proxy: says what it was asked, and keeps connections ---- */

static bool
shake_hands(int peer)
{
    static const char answer[] = {5, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    char bytes[300];
    return send(peer, "\5\0", 2, MSG_NOSIGNAL) == 2 && recv(peer, bytes, sizeof bytes, 0) > 6 &&
           send(peer, answer, sizeof answer, MSG_NOSIGNAL) == sizeof answer;
}

static void *
serve_one(void *context)
{
    const int peer = (int)(intptr_t)context;
    char request[8192], line[200], answer[400];
    ssize_t n;
    while ((n = recv(peer, request, sizeof request - 1, 0)) > 0) {
        request[n] = '\0';
        if (request[0] == 5) {
            if (shake_hands(peer)) {
                continue;
            }
            break;
        }
        snprintf(line, sizeof line, "%.*s", (int)strcspn(request, "\r"), request);
        n = snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
                     strlen(line), line);
        (void)!send(peer, answer, (size_t)n, MSG_NOSIGNAL);
    }
    close(peer);
    return NULL;
}

static void *
serve(void *context)
{
    const int *from = context;
    for (;;) {
        pthread_t thread;
        const int peer = accept(*from, NULL, NULL);
        if (peer < 0) {
            return NULL;
        }
        atomic_fetch_add(&connections, 1);
        if (pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)peer) == 0) {
            pthread_detach(thread);
        }
    }
}

static int
start_on_loopback(int type, int *descriptor, unsigned *its_port, void *(*routine)(void *))
{
    pthread_t thread;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *descriptor = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (bind(*descriptor, (struct sockaddr *)&address, sizeof address) != 0 ||
        (type == SOCK_STREAM && listen(*descriptor, 64) != 0) ||
        getsockname(*descriptor, (struct sockaddr *)&address, &size) != 0) {
        return -1;
    }
    *its_port = ntohs(address.sin_port);
    return pthread_create(&thread, NULL, routine, descriptor);
}

/* Listens at the server's port, where there is IPv6. */
static void
start_v6(void)
{
    pthread_t thread;
    const struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                         .sin6_port = htons((uint16_t)port),
                                         .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const int descriptor = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(descriptor, (const struct sockaddr *)&address, sizeof address) == 0 &&
        listen(descriptor, 64) == 0) {
        listener_v6 = descriptor;
        pthread_create(&thread, NULL, serve, &listener_v6);
    }
}

static int
start(void **state)
{
    (void)state;
    dns_limits.least_ms = 0;
    dns_limits.timeout_ms = 20000; /* no question is asked twice */
    const int failed = start_on_loopback(SOCK_DGRAM, &names_socket, &names_port, serve_names) +
                       start_on_loopback(SOCK_STREAM, &listener, &port, serve);
    start_v6();
    return failed;
}

/* ---- cases ---- */

static struct client *
open_with(const char *first, const char *second)
{
    static char servers[100];
    const char *const settings[] = {
        "fetch.allow_address=127.0.0.0/8", "fetch.timeout=60", servers, first, second, NULL};
    snprintf(servers, sizeof servers, "fetch.dns_servers=127.0.0.1:%u", names_port);
    atomic_store(&questions, 0);
    atomic_store(&connections, 0);
    return open_client(settings);
}

static void
ask_host(struct client *client, const char *host)
{
    char url[200];
    snprintf(url, sizeof url, "http://%s:%u/x", host, port);
    get_url(client, url);
}

static void
assert_body(struct client *client, const char *text)
{
    assert_int_equal(client->end, FETCH_ANSWERED);
    assert_string_equal(client->body.data, text);
}

static void
names_are_looked_up_and_kept(void **state)
{
    struct client *client = open_with(NULL, NULL);
    (void)state;
    ask_host(client, "one.test");
    assert_body(client, "GET /x HTTP/1.1");
    assert_string_equal(client->ip, "127.0.0.1");
    const unsigned asked = atomic_load(&questions);
    assert_int_equal(asked, 2); /* A and AAAA */
    ask_host(client, "one.test");
    assert_int_equal(atomic_load(&questions), asked);
    ask_host(client, "short.test");
    ask_host(client, "short.test"); /* its record holds for no time */
    assert_int_equal(atomic_load(&questions), 3 * asked);
    close_client(client);
}

/* Whoever does not answer leaves the question to the next. */
static void
name_servers_are_asked_in_turn(void **state)
{
    char servers[100];
    (void)state;
    for (int place = 0; place < 3; place++) {
        snprintf(
            servers, sizeof servers, "fetch.dns_servers=127.0.0.1:%u,127.0.0.1:%u,127.0.0.1:%u",
            place == 0 ? names_port : 1, place == 1 ? names_port : 1, place == 2 ? names_port : 1);
        struct client *client = open_with(servers, NULL);
        ask_host(client, "one.test");
        assert_body(client, "GET /x HTTP/1.1");
        close_client(client);
    }
}

static void
what_does_not_exist_is_remembered(void **state)
{
    struct client *client = open_with(NULL, NULL);
    (void)state;
    ask_host(client, "none.test");
    assert_int_equal(client->end, FETCH_FAILED);
    assert_string_equal(client->problem, "the host's name does not exist");
    const unsigned asked = atomic_load(&questions);
    ask_host(client, "none.test");
    assert_int_equal(client->end, FETCH_FAILED);
    assert_int_equal(atomic_load(&questions), asked);
    assert_int_equal(atomic_load(&connections), 0);
    close_client(client);
}

/* Whichever of two addresses is taken first (that is c-ares's choice), for one of two names that
 * list them in either order it is the dead one: then the next request takes the other. */
static void
another_address_is_tried_the_next_time(void **state)
{
    static const char *const hosts[] = {"two.test", "turned.test"};
    unsigned failed = 0;
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct client *client = open_with(NULL, NULL);
        for (size_t i = 0; i < 3; i++) {
            ask_host(client, hosts[k]);
            failed += client->end == FETCH_FAILED;
            assert_true(i == 0 || client->end == FETCH_ANSWERED);
        }
        assert_string_equal(client->ip, "127.0.0.1");
        close_client(client);
    }
    assert_int_equal(failed, 1);
}

static void
private_addresses_behind_names_are_refused(void **state)
{
    struct client *client = open_with(NULL, NULL);
    (void)state;
    ask_host(client, "private.test");
    assert_int_equal(client->end, FETCH_REFUSED_ADDRESS);
    ask_host(client, "half.test"); /* the other address is allowed */
    assert_body(client, "GET /x HTTP/1.1");
    close_client(client);
}

/* Asks 40 times for four hosts; of how many names the server was asked at a time. */
static unsigned
names_at_a_time(size_t parallel)
{
    dns_limits.parallel = parallel;
    struct client *client = open_with(NULL, NULL);
    static const char *const hosts[] = {"one.test", "none.test", "short.test", "half.test"};
    char urls[4][100];
    atomic_store(&most_names, 0);
    atomic_store(&gather_ms, 50);
    for (size_t i = 0; i < 40; i++) {
        snprintf(urls[i % 4], sizeof urls[0], "http://%s:%u/x", hosts[i % 4], port);
        client->waiting++;
        fetch_http_start(client->http, &(struct fetch_request){.url = slice_string(urls[i % 4]),
                                                               .done = done,
                                                               .context = client});
    }
    run(client);
    assert_int_equal(client->waiting, 0);
    close_client(client);
    atomic_store(&gather_ms, 0);
    return atomic_load(&most_names);
}

static void
few_lookups_at_a_time_serve_many(void **state)
{
    unsigned most = 0;
    (void)state;
    assert_int_equal(names_at_a_time(1), 1);
    for (int i = 0; i < 20 && most < 2; i++) { /* a busy machine may send them one by one */
        most = names_at_a_time(8);
    }
    assert_in_range(most, 2, 4);
}

static void
lookups_under_way_end_with_the_client(void **state)
{
    struct client *client = open_with("fetch.dns_servers=127.0.0.1:1", NULL);
    char url[] = "http://one.test/";
    (void)state;
    fetch_http_start(client->http, &(struct fetch_request){
                                       .url = slice_string(url), .done = done, .context = client});
    fetch_http_tick(client->http);
    close_client(client);
}

static void
connections_are_used_again(void **state)
{
    struct client *client = open_with(NULL, NULL);
    (void)state;
    ask_host(client, "one.test");
    const unsigned watches = client->watches;
    for (size_t i = 0; i < 4; i++) {
        ask_host(client, "one.test");
    }
    assert_int_equal(atomic_load(&connections), 1);
    assert_int_equal(client->watches, watches); /* the loop keeps it, too */
    ask_host(client, "short.test");             /* another host has its own */
    assert_int_equal(atomic_load(&connections), 2);
    close_client(client);
}

/* Connections are kept by host also where hosts have one address, of either family. */
static void
hosts_of_one_address_have_connections_of_their_own(void **state)
{
    enum { HOSTS = 20 };
    char file[SCRATCH_SIZE];
    char setting[sizeof file + 20], host[20];
    (void)state;
    if (listener_v6 < 0) {
        skip(); /* no IPv6 here */
    }
    FILE *lines = fdopen(scratch_file(file, "test_fetch_network"), "w");
    for (size_t i = 0; i < HOSTS; i++) {
        fprintf(lines, "%s h%zu.test\n", i % 2 == 0 ? "127.0.0.1" : "::1", i);
    }
    fclose(lines);
    snprintf(setting, sizeof setting, "fetch.hosts_file=%s", file);
    struct client *client = open_with(setting, "fetch.allow_address=127.0.0.0/8, ::1/128");
    unlink(file);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < HOSTS; i++) {
            snprintf(host, sizeof host, "h%zu.test", i);
            ask_host(client, host);
            assert_body(client, "GET /x HTTP/1.1");
            assert_string_equal(client->ip, i % 2 == 0 ? "127.0.0.1" : "::1");
        }
    }
    assert_int_equal(atomic_load(&connections), HOSTS);
    close_client(client);
}

static void
requests_go_through_a_proxy(void **state)
{
    char proxy[100];
    (void)state;
    snprintf(proxy, sizeof proxy, "fetch.proxy=http://me:secret@127.0.0.1:%u", port);
    struct client *client = open_with(proxy, "fetch.no_proxy=one.test");
    get_url(client, "http://nowhere.example/y");
    assert_body(client, "GET http://nowhere.example/y HTTP/1.1");
    assert_string_equal(client->ip, ""); /* the host's is not known */
    assert_non_null(strstr(client->request.data, "Proxy-Authorization: [withheld]\r\n"));
    assert_int_equal(atomic_load(&questions), 0);
    ask_host(client, "one.test");
    assert_body(client, "GET /x HTTP/1.1");
    get_url(client, "http://127.0.0.1:1/z"); /* allowed, and asked for by way of the proxy, too */
    assert_body(client, "GET http://127.0.0.1:1/z HTTP/1.1");
    get_url(client, "http://10.1.2.3/");
    assert_int_equal(client->end, FETCH_REFUSED_ADDRESS);
    get_url(client, "http://[fd00::1]/");
    assert_int_equal(client->end, FETCH_REFUSED_ADDRESS);
    close_client(client);
}

/* What the environment names is nobody's wish: only fetch.proxy and fetch.no_proxy are. */
static void
the_environment_changes_no_way(void **state)
{
    char url[100], here[60], proxy[100];
    (void)state;
    snprintf(here, sizeof here, "http://127.0.0.1:%u", port);
    snprintf(proxy, sizeof proxy, "fetch.proxy=%s", here);
    static const char *const bypasses[] = {"NO_PROXY", "no_proxy"};
    static const char *const proxies[] = {"http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY",
                                          "all_proxy"};
    for (size_t i = 0; i < 2; i++) {
        setenv(bypasses[i], "*", 1);
    }
    struct client *client = open_with(proxy, NULL);
    snprintf(url, sizeof url, "http://private.test:%u/x", port);
    get_url(client, url);
    snprintf(url, sizeof url, "GET http://private.test:%u/x HTTP/1.1", port);
    assert_body(client, url);
    close_client(client);
    for (size_t i = 0; i < 2; i++) {
        unsetenv(bypasses[i]);
    }
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++) {
        setenv(proxies[i], here, 1);
    }
    client = open_with(NULL, NULL);
    ask_host(client, "private.test");
    assert_int_equal(client->end, FETCH_REFUSED_ADDRESS);
    ask_host(client, "one.test");
    assert_body(client, "GET /x HTTP/1.1");
    close_client(client);
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++) {
        unsetenv(proxies[i]);
    }
}

static void
only_the_proxys_own_address_is_trusted(void **state)
{
    static const struct opt *tables[] = {fetch_options, queue_options, NULL};
    static const struct {
        const char *proxy, *address;
        unsigned port;
        bool own;
    } cases[] = {
        {"http://127.0.0.1:3128", "127.0.0.1", 3128, true},
        {"http://127.0.0.1:3128", "127.0.0.1", 3129, false},
        {"http://127.0.0.1:3128", "127.0.0.2", 3128, false},
        {"http://me:secret@[::1]:3128", "::1", 3128, true},
        {"http://[::1]:3128", "::2", 3128, false},
        {"http://localhost:3128", "127.0.0.1", 3128, true},
        {"socks5://127.0.0.1", "127.0.0.1", 1080, true},
        {"https://127.0.0.1", "127.0.0.1", 443, true},
        {"", "127.0.0.1", 3128, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct opt_set *options = opt_set_new(tables);
        struct proxy proxy;
        struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)cases[i].port)};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                                  .sin6_port = htons((uint16_t)cases[i].port)};
        const bool is_v4 = inet_pton(AF_INET, cases[i].address, &v4.sin_addr) == 1;
        (void)inet_pton(AF_INET6, cases[i].address, &v6.sin6_addr);
        char setting[100];
        snprintf(setting, sizeof setting, "fetch.proxy=%s", cases[i].proxy);
        assert_int_equal(opt_set_assign(options, setting, NULL), STATUS_OK);
        assert_int_equal(proxy_from(&proxy, options, NULL), STATUS_OK);
        assert_int_equal(
            proxy_is_at(&proxy, is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6),
            cases[i].own);
        proxy_release(&proxy);
        opt_set_free(options);
    }
}

static void
requests_go_through_socks(void **state)
{
    char proxy[100];
    (void)state;
    snprintf(proxy, sizeof proxy, "fetch.proxy=socks5h://127.0.0.1:%u", port);
    struct client *client = open_with(proxy, NULL);
    get_url(client, "http://nowhere.example/y");
    assert_body(client, "GET /y HTTP/1.1");
    assert_int_equal(atomic_load(&questions), 0);
    close_client(client);
}

static void
proxies_of_other_kinds_are_refused(void **state)
{
    static const struct opt *tables[] = {fetch_options, queue_options, NULL};
    struct opt_set *options = opt_set_new(tables);
    struct fetch_http *http;
    struct reason why;
    (void)state;
    assert_int_equal(opt_set_assign(options, "fetch.proxy=ftp://x", &why), STATUS_OK);
    const struct fetch_loop loop = {watch, set_timer, NULL};
    assert_int_equal(fetch_http_open(&http, options, &loop, &why), STATUS_MISUSE);
    fetch_http_close(http);
    opt_set_free(options);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_looked_up_and_kept),
        cmocka_unit_test(name_servers_are_asked_in_turn),
        cmocka_unit_test(what_does_not_exist_is_remembered),
        cmocka_unit_test(another_address_is_tried_the_next_time),
        cmocka_unit_test(private_addresses_behind_names_are_refused),
        cmocka_unit_test(few_lookups_at_a_time_serve_many),
        cmocka_unit_test(lookups_under_way_end_with_the_client),
        cmocka_unit_test(connections_are_used_again),
        cmocka_unit_test(hosts_of_one_address_have_connections_of_their_own),
        cmocka_unit_test(requests_go_through_a_proxy),
        cmocka_unit_test(requests_go_through_socks),
        cmocka_unit_test(the_environment_changes_no_way),
        cmocka_unit_test(only_the_proxys_own_address_is_trusted),
        cmocka_unit_test(proxies_of_other_kinds_are_refused),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("fetch_network", tests, start, NULL);
}
