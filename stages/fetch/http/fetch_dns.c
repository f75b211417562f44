#include "stages/fetch/http/fetch_dns.h"

#include <ares.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"

enum { TRIES = 3 };
struct dns_limits dns_limits = {.parallel = 100,
                                .hosts = 20000,
                                .timeout_ms = 2000,
                                .least_ms = 60000,
                                .most_ms = 3600000,
                                .negative_ms = 60000};

/* Holds what is known of a host. With no addresses it says that the host has none. */
struct entry {
    uint8_t fingerprint[FINGERPRINT_SIZE];
    uint64_t until_ms; /* monotonic; 0: nothing */
    struct dns_answer answer;
};

struct lookup {
    struct dns *dns;
    char *name;
    uint8_t fingerprint[FINGERPRINT_SIZE];
    dns_done *done;
    void *context;
    struct lookup *next;
};

struct dns {
    ares_channel channel;
    bool started, closing;
    struct fetch_loop loop;
    struct entry *entries;
    size_t entry_count;
    struct dns_limits limits;
    size_t under_way;
    struct lookup *first, **last; /* that wait for their turn, or for an answer that is at hand */
};

/* ---- the cache ---- */

static struct entry *
entry_of(struct dns *dns, const uint8_t fingerprint[FINGERPRINT_SIZE])
{
    uint64_t number;
    memcpy(&number, fingerprint, sizeof number);
    return &dns->entries[number % dns->entry_count];
}

static const struct dns_answer *
known(struct dns *dns, const uint8_t fingerprint[FINGERPRINT_SIZE])
{
    const struct entry *entry = entry_of(dns, fingerprint);
    const bool same = memcmp(entry->fingerprint, fingerprint, FINGERPRINT_SIZE) == 0;
    return same && entry->until_ms > clock_monotonic_ms() ? &entry->answer : NULL;
}

static void
keep(struct dns *dns, const struct lookup *lookup, const struct dns_answer *answer, uint64_t for_ms)
{
    struct entry *entry = entry_of(dns, lookup->fingerprint);
    memcpy(entry->fingerprint, lookup->fingerprint, FINGERPRINT_SIZE);
    entry->answer = *answer;
    entry->until_ms = clock_monotonic_ms() + for_ms;
}

void
dns_unreachable(struct dns *dns, struct slice host)
{
    uint8_t fingerprint[FINGERPRINT_SIZE];
    fingerprint_of(host, fingerprint);
    struct entry *entry = entry_of(dns, fingerprint);
    struct dns_answer *answer = &entry->answer;
    if (memcmp(entry->fingerprint, fingerprint, sizeof fingerprint) == 0 && answer->count > 1) {
        const struct dns_address first = answer->addresses[0];
        memmove(answer->addresses, answer->addresses + 1, (answer->count - 1) * sizeof first);
        answer->addresses[answer->count - 1] = first;
    }
}

/* ---- lookups ---- */

static void advance(struct dns *dns);

static void
end_lookup(struct lookup *lookup, const struct dns_answer *answer)
{
    lookup->done(lookup->context, answer);
    free(lookup->name);
    free(lookup);
}

/* Copies the addresses; returns how long they hold. */
static uint64_t
read_addresses(const struct dns *dns, const struct ares_addrinfo *found, struct dns_answer *answer)
{
    uint64_t ttl_ms = dns->limits.most_ms;
    for (const struct ares_addrinfo_node *node = found->nodes;
         node != NULL && answer->count < DNS_ADDRESSES; node = node->ai_next) {
        struct dns_address *address = &answer->addresses[answer->count];
        const bool fits = node->ai_addrlen <= sizeof address->socket;
        if (fits && (node->ai_family == AF_INET || node->ai_family == AF_INET6)) {
            memcpy(&address->socket, node->ai_addr, node->ai_addrlen);
            answer->count++;
            const uint64_t node_ms = node->ai_ttl > 0 ? (uint64_t)node->ai_ttl * 1000 : 0;
            ttl_ms = node_ms < ttl_ms ? node_ms : ttl_ms;
        }
    }
    return ttl_ms > dns->limits.least_ms ? ttl_ms : dns->limits.least_ms;
}

static void
looked_up(void *context, int code, int timeouts, struct ares_addrinfo *found)
{
    struct lookup *lookup = context;
    struct dns *dns = lookup->dns;
    struct dns_answer answer = {.problem = ""};
    (void)timeouts;
    dns->under_way--;
    if (dns->closing) {
        free(lookup->name);
        free(lookup);
        return;
    }
    if (code == ARES_SUCCESS) {
        const uint64_t ttl_ms = read_addresses(dns, found, &answer);
        if (answer.count > 0) {
            keep(dns, lookup, &answer, ttl_ms);
        } else {
            code = ARES_ENODATA;
        }
    }
    if (code != ARES_SUCCESS) {
        answer.problem = code == ARES_ENOTFOUND ? "the host's name does not exist"
                         : code == ARES_ENODATA ? "the host's name has no address"
                                                : ares_strerror(code);
        answer.none = code == ARES_ENOTFOUND || code == ARES_ENODATA;
        if (answer.none) {
            keep(dns, lookup, &answer, dns->limits.negative_ms);
        }
    }
    ares_freeaddrinfo(found);
    end_lookup(lookup, &answer);
}

/* Tells the owner when to come back. */
static void
set_timer(struct dns *dns)
{
    struct timeval wait;
    if (dns->first != NULL && dns->under_way < dns->limits.parallel) {
        dns->loop.timer(dns->loop.context, 0);
    } else if (ares_timeout(dns->channel, NULL, &wait) != NULL) {
        dns->loop.timer(dns->loop.context,
                        (uint64_t)wait.tv_sec * 1000 + (uint64_t)wait.tv_usec / 1000 + 1);
    } else {
        dns->loop.timer(dns->loop.context, UINT64_MAX);
    }
}

/* Starts what waits, as far as there is room. An earlier lookup may have answered meanwhile. */
static void
advance(struct dns *dns)
{
    const struct ares_addrinfo_hints hints = {.ai_family = AF_UNSPEC};
    while (dns->first != NULL && dns->under_way < dns->limits.parallel) {
        struct lookup *lookup = dns->first;
        dns->first = lookup->next;
        if (dns->first == NULL) {
            dns->last = &dns->first;
        }
        const struct dns_answer *answer = known(dns, lookup->fingerprint);
        if (answer != NULL) {
            const struct dns_answer copy = *answer;
            end_lookup(lookup, &copy);
        } else {
            dns->under_way++;
            ares_getaddrinfo(dns->channel, lookup->name, NULL, &hints, looked_up, lookup);
        }
    }
    set_timer(dns);
}

void
dns_ask(struct dns *dns, struct slice host, dns_done *done, void *context)
{
    uint8_t fingerprint[FINGERPRINT_SIZE];
    if (host.at[0] == '[') {
        host = slice_of(host.at + 1, host.length - 2);
    }
    fingerprint_of(host, fingerprint);
    const struct dns_answer *answer = known(dns, fingerprint);
    if (answer != NULL && answer->count > 0) {
        done(context, answer);
        return;
    }
    struct lookup *lookup = memory_new(sizeof *lookup);
    lookup->dns = dns;
    lookup->name = memory_string_n(host.at, host.length);
    memcpy(lookup->fingerprint, fingerprint, sizeof fingerprint);
    lookup->done = done;
    lookup->context = context;
    *dns->last = lookup;
    dns->last = &lookup->next;
    set_timer(dns); /* failures, too, are told later */
}

/* ---- the loop ---- */

static void
on_socket(void *context, ares_socket_t descriptor, int readable, int writable)
{
    const struct dns *dns = context;
    const uint32_t events =
        (readable ? (uint32_t)EPOLLIN : 0) | (writable ? (uint32_t)EPOLLOUT : 0);
    dns->loop.watch(dns->loop.context, descriptor, events);
}

void
dns_ready(struct dns *dns, int descriptor, uint32_t epoll_events)
{
    const bool broken = epoll_events & (EPOLLERR | EPOLLHUP);
    ares_process_fd(dns->channel, broken || epoll_events & EPOLLIN ? descriptor : ARES_SOCKET_BAD,
                    epoll_events & EPOLLOUT ? descriptor : ARES_SOCKET_BAD);
    advance(dns);
}

void
dns_tick(struct dns *dns)
{
    ares_process_fd(dns->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    advance(dns);
}

/* ---- life ---- */

static enum status
set_servers(struct dns *dns, const struct opt_set *options, struct reason *why)
{
    const char *const *servers;
    const size_t n = opt_list(options, "fetch.dns_servers", &servers);
    struct buf list;
    if (n == 0) {
        return STATUS_OK;
    }
    buf_init(&list, 4096);
    for (size_t i = 0; i < n; i++) {
        buf_printf(&list, "%s%s", i > 0 ? "," : "", servers[i]);
    }
    const int code =
        list.overflowed ? ARES_EBADSTR : ares_set_servers_ports_csv(dns->channel, list.data);
    buf_release(&list);
    return code == ARES_SUCCESS
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE, "fetch.dns_servers: %s", ares_strerror(code));
}

enum status
dns_open(struct dns **result, const struct opt_set *options, const struct fetch_loop *loop,
         struct reason *why)
{
    struct dns *dns = memory_new(sizeof *dns);
    *result = dns;
    dns->loop = *loop;
    dns->last = &dns->first;
    const uint64_t rest_ms = opt_duration_ms(options, "fetch.backoff");
    dns->limits = dns_limits;
    if (rest_ms < dns->limits.negative_ms) {
        dns->limits.negative_ms =
            rest_ms; /* a host that has rested is asked for anew: each failure counts */
    }
    dns->entry_count = dns_limits.hosts;
    dns->entries = memory_zero(dns->entry_count, sizeof *dns->entries);
    struct ares_options settings = {
        .timeout = dns_limits.timeout_ms,
        .tries = TRIES,
        .sock_state_cb = on_socket,
        .sock_state_cb_data = dns,
    };
    const int code = ares_library_init(ARES_LIB_INIT_ALL);
    const int opened =
        code != ARES_SUCCESS
            ? code
            : ares_init_options(&dns->channel, &settings,
                                ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
    dns->started = opened == ARES_SUCCESS;
    if (!dns->started) {
        return status_fail(why, STATUS_SYSTEM, "c-ares could not start: %s", ares_strerror(opened));
    }
    return set_servers(dns, options, why);
}

void
dns_close(struct dns *dns)
{
    if (dns == NULL) {
        return;
    }
    dns->closing = true;
    if (dns->started) {
        ares_destroy(dns->channel);
        ares_library_cleanup();
    }
    while (dns->first != NULL) {
        struct lookup *lookup = dns->first;
        dns->first = lookup->next;
        free(lookup->name);
        free(lookup);
    }
    free(dns->entries);
    free(dns);
}
