/* Which names are looked up, what is kept of the answers and for how long
 * (stages/fetch/http/fetch_dns.c): on a clock that the test sets, with c-ares stood in for. Real
 * questions to a name server are in test_fetch_network.c. */
#include <ares.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include <cmocka.h>

#include "stages/fetch/http/fetch_dns.h"

/* ---- c-ares ---- */

enum { QUESTIONS_MOST = 16 };

struct question {
    char name[64];
    ares_addrinfo_callback callback;
    void *context;
    bool answered;
};

static struct {
    int at_library, at_channel, at_servers; /* what these calls give */
    int timeout, tries, mask;
    ares_sock_state_cb on_socket;
    void *of_socket;
    char servers[256];
    struct question questions[QUESTIONS_MOST];
    unsigned asked;
    struct timeval *next, next_is;    /* of ares_timeout; NULL: nothing is waited for */
    ares_socket_t readable, writable; /* of the last ares_process_fd */
    unsigned processed, freed, destroyed, cleaned;
} ares;

static int channel_place;

int __wrap_ares_library_init(int flags);
int
__wrap_ares_library_init(int flags)
{
    assert_int_equal(flags, ARES_LIB_INIT_ALL);
    return ares.at_library;
}

void __wrap_ares_library_cleanup(void);
void
__wrap_ares_library_cleanup(void)
{
    ares.cleaned++;
}

int __wrap_ares_init_options(ares_channel *channel, struct ares_options *options, int mask);
int
__wrap_ares_init_options(ares_channel *channel, struct ares_options *options, int mask)
{
    ares.timeout = options->timeout;
    ares.tries = options->tries;
    ares.on_socket = options->sock_state_cb;
    ares.of_socket = options->sock_state_cb_data;
    ares.mask = mask;
    *channel = (ares_channel)&channel_place;
    return ares.at_channel;
}

static void
answer(unsigned number, int code, struct ares_addrinfo *found)
{
    struct question *question = &ares.questions[number];
    assert_true(number < ares.asked && !question->answered);
    question->answered = true;
    question->callback(question->context, code, 0, found);
}

/* As c-ares does, it tells all that was asked that there will be no answer. */
void __wrap_ares_destroy(ares_channel channel);
void
__wrap_ares_destroy(ares_channel channel)
{
    assert_ptr_equal(channel, &channel_place);
    ares.destroyed++;
    for (unsigned i = 0; i < ares.asked; i++) {
        if (!ares.questions[i].answered) {
            answer(i, ARES_EDESTRUCTION, NULL);
        }
    }
}

int __wrap_ares_set_servers_ports_csv(ares_channel channel, const char *servers);
int
__wrap_ares_set_servers_ports_csv(ares_channel channel, const char *servers)
{
    assert_ptr_equal(channel, &channel_place);
    snprintf(ares.servers, sizeof ares.servers, "%s", servers);
    return ares.at_servers;
}

void __wrap_ares_getaddrinfo(ares_channel channel, const char *name, const char *service,
                             const struct ares_addrinfo_hints *hints,
                             ares_addrinfo_callback callback, void *context);
void
__wrap_ares_getaddrinfo(ares_channel channel, const char *name, const char *service,
                        const struct ares_addrinfo_hints *hints, ares_addrinfo_callback callback,
                        void *context)
{
    struct question *question = &ares.questions[ares.asked];
    assert_ptr_equal(channel, &channel_place);
    assert_true(ares.asked < QUESTIONS_MOST);
    assert_null(service);
    assert_int_equal(hints->ai_family, AF_UNSPEC);
    snprintf(question->name, sizeof question->name, "%s", name);
    question->callback = callback;
    question->context = context;
    ares.asked++;
}

void __wrap_ares_freeaddrinfo(struct ares_addrinfo *found);
void
__wrap_ares_freeaddrinfo(struct ares_addrinfo *found)
{
    (void)found;
    ares.freed++;
}

struct timeval *__wrap_ares_timeout(ares_channel channel, struct timeval *most,
                                    struct timeval *wait);
struct timeval *
__wrap_ares_timeout(ares_channel channel, struct timeval *most, struct timeval *wait)
{
    assert_ptr_equal(channel, &channel_place);
    assert_null(most);
    if (ares.next == NULL) {
        return NULL;
    }
    *wait = *ares.next;
    return wait;
}

void __wrap_ares_process_fd(ares_channel channel, ares_socket_t readable, ares_socket_t writable);
void
__wrap_ares_process_fd(ares_channel channel, ares_socket_t readable, ares_socket_t writable)
{
    assert_ptr_equal(channel, &channel_place);
    ares.readable = readable;
    ares.writable = writable;
    ares.processed++;
}

/* ---- the clock, the loop and who asks ---- */

static uint64_t now_ms;

uint64_t __wrap_clock_monotonic_ms(void);
uint64_t
__wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

static int watched;
static uint32_t watched_for;
static uint64_t timer_ms;
static unsigned told; /* how often an answer came */
static struct dns_answer last;

static void
watch(void *context, int descriptor, uint32_t events)
{
    assert_ptr_equal(context, &watched);
    watched = descriptor;
    watched_for = events;
}

static void
set_timer(void *context, uint64_t delay_ms)
{
    assert_ptr_equal(context, &watched);
    timer_ms = delay_ms;
}

static void
take(void *context, const struct dns_answer *found)
{
    assert_ptr_equal(context, &told);
    told++;
    last = *found;
}

static struct dns *dns;
static const char *const none[] = {NULL};

static enum status
open_with(const char *const *settings, struct reason *why)
{
    static const struct opt *const tables[] = {fetch_options, NULL};
    const struct fetch_loop loop = {watch, set_timer, &watched};
    struct opt_set *options = opt_set_new((const struct opt **)(uintptr_t)tables);
    for (size_t i = 0; settings[i] != NULL; i++) {
        assert_int_equal(opt_set_assign(options, settings[i], NULL), STATUS_OK);
    }
    told = 0;
    timer_ms = 12345;
    now_ms = 1000000;
    const enum status status = dns_open(&dns, options, &loop, why);
    opt_set_free(options);
    return status;
}

static int
forget_all(void **state)
{
    (void)state;
    memset(&ares, 0, sizeof ares);
    dns_limits = (struct dns_limits){.parallel = 4,
                                     .hosts = 1000,
                                     .timeout_ms = 2500,
                                     .least_ms = 60000,
                                     .most_ms = 3600000,
                                     .negative_ms = 60000};
    return 0;
}

static void
ask(const char *host)
{
    dns_ask(dns, slice_string(host), take, &told);
}

/* Tells whether it is known at once. */
static bool
is_known(const char *host)
{
    const unsigned before = told;
    ask(host);
    return told > before;
}

static struct sockaddr_in
address_of(const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    assert_int_equal(inet_pton(AF_INET, text, &address.sin_addr), 1);
    return address;
}

static struct ares_addrinfo_node
node_of(struct sockaddr_in *address, int seconds, struct ares_addrinfo_node *next)
{
    return (struct ares_addrinfo_node){.ai_ttl = seconds,
                                       .ai_family = AF_INET,
                                       .ai_addrlen = sizeof *address,
                                       .ai_addr = (struct sockaddr *)address,
                                       .ai_next = next};
}

/* Answers with one address that holds for so long. */
static void
answer_with(unsigned number, const char *text, int seconds)
{
    struct sockaddr_in address = address_of(text);
    struct ares_addrinfo_node node = node_of(&address, seconds, NULL);
    struct ares_addrinfo found = {.nodes = &node};
    const unsigned freed = ares.freed, before = told;
    answer(number, ARES_SUCCESS, &found);
    assert_int_equal(ares.freed, freed + 1);
    assert_int_equal(told, before + 1);
    assert_int_equal(last.count, 1);
    assert_string_equal(last.problem, "");
    assert_false(last.none);
}

static void
assert_address(size_t place, const char *text)
{
    char is[INET_ADDRSTRLEN] = "";
    assert_true(place < last.count);
    assert_int_equal(last.addresses[place].socket.any.sa_family, AF_INET);
    inet_ntop(AF_INET, &last.addresses[place].socket.v4.sin_addr, is, sizeof is);
    assert_string_equal(is, text);
}

/* ---- cases ---- */

static void
it_starts_as_it_is_told_to(void **state)
{
    static const char *const servers[] = {"fetch.dns_servers=192.0.2.1, 192.0.2.2:5353", NULL};
    struct reason why = {""};
    (void)state;
    assert_int_equal(open_with(none, &why), STATUS_OK);
    assert_int_equal(ares.timeout, 2500);
    assert_int_equal(ares.tries, 3);
    assert_int_equal(ares.mask, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
    assert_string_equal(ares.servers, ""); /* those of the system */
    dns_close(dns);
    assert_int_equal(ares.destroyed, 1);
    assert_int_equal(ares.cleaned, 1);
    assert_int_equal(open_with(servers, &why), STATUS_OK);
    assert_string_equal(ares.servers, "192.0.2.1,192.0.2.2:5353");
    dns_close(dns);
    dns_close(NULL);
    assert_int_equal(ares.destroyed, 2);
}

static void
what_keeps_it_from_starting_is_told(void **state)
{
    static const char *const wrong[] = {"fetch.dns_servers=nowhere", NULL};
    enum { LIST_BYTES = 4096 };
    char many[LIST_BYTES + 100] = "fetch.dns_servers=";
    const size_t option_bytes = strlen(many);
    const char *const too_many[] = {many, NULL};
    char text[200];
    struct reason why = {""};
    (void)state;
    ares.at_library = ARES_ENOTINITIALIZED;
    assert_int_equal(open_with(none, &why), STATUS_SYSTEM);
    snprintf(text, sizeof text, "c-ares could not start: %s", ares_strerror(ARES_ENOTINITIALIZED));
    assert_string_equal(why.text, text);
    assert_int_equal(ares.mask, 0); /* nothing was opened, so that nothing is closed */
    dns_close(dns);
    assert_int_equal(ares.destroyed + ares.cleaned, 0);
    ares.at_library = ARES_SUCCESS;
    ares.at_channel = ARES_ENOMEM;
    assert_int_equal(open_with(none, &why), STATUS_SYSTEM);
    snprintf(text, sizeof text, "c-ares could not start: %s", ares_strerror(ARES_ENOMEM));
    assert_string_equal(why.text, text);
    dns_close(dns);
    assert_int_equal(ares.destroyed, 0);
    ares.at_channel = ARES_SUCCESS;
    ares.at_servers = ARES_EBADSTR;
    assert_int_equal(open_with(wrong, &why), STATUS_MISUSE);
    snprintf(text, sizeof text, "fetch.dns_servers: %s", ares_strerror(ARES_EBADSTR));
    assert_string_equal(why.text, text);
    dns_close(dns);
    assert_int_equal(ares.destroyed, 1);
    ares.at_servers = ARES_SUCCESS;
    ares.servers[0] = '\0';
    memset(many + option_bytes, '1', LIST_BYTES);
    assert_int_equal(open_with(too_many, &why), STATUS_OK);
    dns_close(dns);
    many[option_bytes + LIST_BYTES] = '1';
    ares.servers[0] = '\0';
    why.text[0] = '\0';
    assert_int_equal(open_with(too_many, &why), STATUS_MISUSE);
    assert_string_equal(why.text, text);
    assert_string_equal(ares.servers, ""); /* not a part of them */
    dns_close(dns);
}

/* Nothing is asked, and nobody is told, before the loop has come back. */
static void
a_name_is_asked_for_when_the_loop_comes_back(void **state)
{
    (void)state;
    assert_int_equal(open_with(none, NULL), STATUS_OK);
    ask("a.example");
    ask("[2001:db8::1]");
    assert_int_equal(ares.asked, 0);
    assert_int_equal(timer_ms, 0);
    ares.next_is = (struct timeval){2, 5999};
    ares.next = &ares.next_is;
    dns_tick(dns);
    assert_int_equal(ares.processed, 1);
    assert_int_equal(ares.readable, ARES_SOCKET_BAD);
    assert_int_equal(ares.writable, ARES_SOCKET_BAD);
    assert_int_equal(ares.asked, 2);
    assert_string_equal(ares.questions[0].name, "a.example");
    assert_string_equal(ares.questions[1].name, "2001:db8::1");
    assert_int_equal(timer_ms, 2006); /* not before c-ares wants it */
    assert_int_equal(told, 0);
    answer_with(0, "192.0.2.7", 300);
    assert_address(0, "192.0.2.7");
    answer_with(1, "192.0.2.8", 300);
    ares.next = NULL;
    dns_tick(dns);
    assert_int_equal(timer_ms, UINT64_MAX);
    assert_int_equal(ares.asked, 2);
    ask("b.example"); /* what was asked meanwhile is behind nothing */
    dns_tick(dns);
    assert_int_equal(ares.asked, 3);
    assert_string_equal(ares.questions[2].name, "b.example");
    dns_close(dns);
}

static void
addresses_hold_as_long_as_their_records_say(void **state)
{
    static const struct {
        int seconds;
        uint64_t held_ms;
    } cases[] = {{300, 300000},   {61, 61000},     {60, 60000},      {59, 60000},
                 {1, 60000},      {0, 60000},      {-1, 60000},      {3599, 3599000},
                 {3600, 3600000}, {3601, 3600000}, {100000, 3600000}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forget_all(NULL);
        assert_int_equal(open_with(none, NULL), STATUS_OK);
        ask("a.example");
        dns_tick(dns);
        answer_with(0, "192.0.2.7", cases[i].seconds);
        memset(&last, 0, sizeof last);
        now_ms += cases[i].held_ms - 1;
        assert_true(is_known("a.example"));
        assert_int_equal(last.count, 1);
        assert_address(0, "192.0.2.7");
        assert_false(is_known("b.example"));
        now_ms++;
        assert_false(is_known("a.example"));
        dns_tick(dns);
        assert_int_equal(ares.asked, 3);
        assert_string_equal(ares.questions[2].name, "a.example");
        dns_close(dns);
    }
}

/* Six addresses are taken, those of other families and of other sizes not; what is taken holds as
 * long as the one that holds shortest. */
static void
the_first_addresses_are_taken(void **state)
{
    enum { NODES = 9 };
    struct sockaddr_in addresses[NODES];
    struct ares_addrinfo_node nodes[NODES];
    char text[32];
    (void)state;
    assert_int_equal(open_with(none, NULL), STATUS_OK);
    for (int i = 0; i < NODES; i++) {
        snprintf(text, sizeof text, "192.0.2.%d", i);
        addresses[i] = address_of(text);
        nodes[i] = node_of(&addresses[i], i == 3 ? 200 : 300, i < NODES - 1 ? &nodes[i + 1] : NULL);
    }
    nodes[0].ai_family = AF_UNIX;
    nodes[0].ai_ttl = 70;
    nodes[1].ai_addrlen = sizeof(struct sockaddr_in6) + 1;
    nodes[8].ai_ttl = 80; /* the seventh of those that could be taken */
    struct ares_addrinfo found = {.nodes = nodes};
    ask("a.example");
    dns_tick(dns);
    answer(0, ARES_SUCCESS, &found);
    assert_int_equal(told, 1);
    assert_int_equal(last.count, DNS_ADDRESSES);
    for (size_t i = 0; i < DNS_ADDRESSES; i++) {
        snprintf(text, sizeof text, "192.0.2.%zu", i + 2);
        assert_address(i, text);
    }
    now_ms += 199999;
    assert_true(is_known("a.example"));
    now_ms++;
    assert_false(is_known("a.example"));
    dns_close(dns);
}

static void
addresses_of_both_families_are_taken_whole(void **state)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = address_of("192.0.2.9");
    struct ares_addrinfo_node last_node = node_of(&v4, 300, NULL);
    struct ares_addrinfo_node first = {.ai_ttl = 300,
                                       .ai_family = AF_INET6,
                                       .ai_addrlen = sizeof v6,
                                       .ai_addr = (struct sockaddr *)&v6,
                                       .ai_next = &last_node};
    struct ares_addrinfo found = {.nodes = &first};
    (void)state;
    assert_int_equal(inet_pton(AF_INET6, "2001:db8::77", &v6.sin6_addr), 1);
    assert_int_equal(open_with(none, NULL), STATUS_OK);
    ask("a.example");
    dns_tick(dns);
    answer(0, ARES_SUCCESS, &found);
    assert_int_equal(last.count, 2);
    assert_memory_equal(&last.addresses[0].socket.v6, &v6, sizeof v6);
    assert_address(1, "192.0.2.9");
    dns_close(dns);
}

/* That there is none is believed for a minute, or until a host that failed may be tried again. It
 * is told when the loop comes back, as if it had been asked. */
static void
that_there_is_no_address_is_remembered_for_a_while(void **state)
{
    static const struct {
        const char *backoff;
        uint64_t held_ms;
    } rests[] = {{"fetch.backoff=2", 2000},
                 {"fetch.backoff=59.999", 59999},
                 {"fetch.backoff=60", 60000},
                 {"fetch.backoff=61", 60000},
                 {"fetch.backoff=1h", 60000}};
    static const struct {
        int code;
        const char *problem;
    } codes[] = {{ARES_ENOTFOUND, "the host's name does not exist"},
                 {ARES_ENODATA, "the host's name has no address"},
                 {ARES_SUCCESS, "the host's name has no address"}};
    struct ares_addrinfo empty = {.nodes = NULL};
    (void)state;
    for (size_t i = 0; i < 15; i++) {
        const char *const settings[] = {rests[i % 5].backoff, NULL};
        forget_all(NULL);
        assert_int_equal(open_with(settings, NULL), STATUS_OK);
        ask("a.example");
        dns_tick(dns);
        answer(0, codes[i / 5].code, codes[i / 5].code == ARES_SUCCESS ? &empty : NULL);
        assert_int_equal(told, 1);
        assert_int_equal(last.count, 0);
        assert_true(last.none);
        assert_string_equal(last.problem, codes[i / 5].problem);
        memset(&last, 0, sizeof last);
        now_ms += rests[i % 5].held_ms - 1;
        assert_false(is_known("a.example"));
        assert_int_equal(timer_ms, 0);
        dns_tick(dns);
        assert_int_equal(told, 2);
        assert_int_equal(ares.asked, 1);
        assert_true(last.none);
        assert_string_equal(last.problem, codes[i / 5].problem);
        now_ms++;
        ask("a.example");
        dns_tick(dns);
        assert_int_equal(told, 2);
        assert_int_equal(ares.asked, 2);
        dns_close(dns);
    }
}

/* A name server that did not answer said nothing of the name. */
static void
what_went_wrong_is_told_and_not_remembered(void **state)
{
    (void)state;
    assert_int_equal(open_with(none, NULL), STATUS_OK);
    ask("a.example");
    dns_tick(dns);
    answer(0, ARES_ETIMEOUT, NULL);
    assert_int_equal(told, 1);
    assert_int_equal(ares.freed, 1);
    assert_int_equal(last.count, 0);
    assert_false(last.none);
    assert_string_equal(last.problem, ares_strerror(ARES_ETIMEOUT));
    ask("a.example");
    dns_tick(dns);
    assert_int_equal(told, 1);
    assert_int_equal(ares.asked, 2);
    dns_close(dns);
}

static void
so_many_are_asked_at_a_time(void **state)
{
    (void)state;
    dns_limits.parallel = 2;
    assert_int_equal(open_with(none, NULL), STATUS_OK);
    ares.next_is = (struct timeval){0, 7000};
    ares.next = &ares.next_is;
    ask("a.example");
    ask("b.example");
    ask("a.example"); /* waits, until the first answer is there */
    dns_tick(dns);
    assert_int_equal(ares.asked, 2);
    assert_int_equal(timer_ms, 8);
    ask("c.example"); /* behind those that wait */
    answer_with(0, "192.0.2.7", 300);
    assert_int_equal(ares.asked, 2);
    dns_ready(dns, 9, EPOLLIN);
    assert_int_equal(told, 2);
    assert_address(0, "192.0.2.7");
    assert_int_equal(ares.asked, 3);
    assert_string_equal(ares.questions[2].name, "c.example");
    ask("d.example");
    assert_int_equal(timer_ms, 8); /* there is no room for it */
    answer_with(2, "192.0.2.8", 300);
    ask("e.example");
    assert_int_equal(timer_ms, 0);
    dns_tick(dns);
    assert_int_equal(ares.asked, 4);
    assert_string_equal(ares.questions[3].name, "d.example");
    dns_close(dns); /* two are under way, one waits */
    assert_int_equal(told, 3);
    assert_int_equal(ares.destroyed, 1);
}

static void
sockets_are_watched_and_told(void **state)
{
    static const struct {
        uint32_t events;
        bool readable, writable;
    } cases[] = {
        {EPOLLIN, true, false},           {EPOLLOUT, false, true}, {EPOLLERR, true, false},
        {EPOLLHUP, true, false},          {0, false, false},       {EPOLLIN | EPOLLOUT, true, true},
        {EPOLLERR | EPOLLOUT, true, true}};
    (void)state;
    assert_int_equal(open_with(none, NULL), STATUS_OK);
    for (int i = 0; i < 4; i++) {
        ares.on_socket(ares.of_socket, 20 + i, i & 1, i & 2);
        assert_int_equal(watched, 20 + i);
        assert_int_equal(watched_for, (i & 1 ? EPOLLIN : 0) | (i & 2 ? EPOLLOUT : 0));
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dns_ready(dns, 30, cases[i].events);
        assert_int_equal(ares.processed, i + 1);
        assert_int_equal(ares.readable, cases[i].readable ? 30 : ARES_SOCKET_BAD);
        assert_int_equal(ares.writable, cases[i].writable ? 30 : ARES_SOCKET_BAD);
    }
    dns_close(dns);
}

/* The address that was tried in vain becomes the last one, of this host only. */
static void
who_is_not_reached_is_tried_elsewhere(void **state)
{
    struct sockaddr_in addresses[3] = {address_of("192.0.2.1"), address_of("192.0.2.2"),
                                       address_of("192.0.2.3")};
    struct ares_addrinfo_node nodes[3];
    struct ares_addrinfo found = {.nodes = nodes};
    (void)state;
    dns_limits.hosts = 1;
    assert_int_equal(open_with(none, NULL), STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        nodes[i] = node_of(&addresses[i], 300, i < 2 ? &nodes[i + 1] : NULL);
    }
    ask("a.example");
    dns_tick(dns);
    answer(0, ARES_SUCCESS, &found);
    for (int i = 0; i < 4; i++) {
        char text[16];
        dns_unreachable(dns, SLICE("b.example")); /* it would be in the same place */
        assert_true(is_known("a.example"));
        assert_int_equal(last.count, 3);
        for (int k = 0; k < 3; k++) {
            snprintf(text, sizeof text, "192.0.2.%d", (i + k) % 3 + 1);
            assert_address((size_t)k, text);
        }
        dns_unreachable(dns, SLICE("a.example"));
    }
    /* The one that comes last has the place, and what holds for one address stays. */
    ask("b.example");
    dns_tick(dns);
    answer_with(1, "192.0.2.9", 300);
    dns_unreachable(dns, SLICE("b.example"));
    assert_true(is_known("b.example"));
    assert_int_equal(last.count, 1);
    assert_address(0, "192.0.2.9");
    assert_false(is_known("a.example"));
    dns_close(dns);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_starts_as_it_is_told_to, forget_all),
        cmocka_unit_test_setup(what_keeps_it_from_starting_is_told, forget_all),
        cmocka_unit_test_setup(a_name_is_asked_for_when_the_loop_comes_back, forget_all),
        cmocka_unit_test_setup(addresses_hold_as_long_as_their_records_say, forget_all),
        cmocka_unit_test_setup(the_first_addresses_are_taken, forget_all),
        cmocka_unit_test_setup(addresses_of_both_families_are_taken_whole, forget_all),
        cmocka_unit_test_setup(that_there_is_no_address_is_remembered_for_a_while, forget_all),
        cmocka_unit_test_setup(what_went_wrong_is_told_and_not_remembered, forget_all),
        cmocka_unit_test_setup(so_many_are_asked_at_a_time, forget_all),
        cmocka_unit_test_setup(sockets_are_watched_and_told, forget_all),
        cmocka_unit_test_setup(who_is_not_reached_is_tried_elsewhere, forget_all),
    };
    return cmocka_run_group_tests_name("fetch_names", tests, NULL, NULL);
}
