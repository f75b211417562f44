/* libcurl's multi interface by sockets: libcurl says which descriptors and which timer it wants
 * (on_socket, on_timer), the owner's loop says what happened (fetch_http_ready, fetch_http_tick),
 * and after each of these finished transfers are collected. */
#include "stages/fetch/http/fetch_http.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "stages/fetch/http/address_limit.h"
#include "stages/fetch/http/address_rules.h"
#include "stages/fetch/http/fetch_credentials.h"
#include "stages/fetch/http/hosts_file.h"
#include "stages/fetch/http/http_state.h"
#include "stages/fetch/http/transfer.h"

enum { SHARE = 128, OTHER_FILES = 256 };
/* ---- callbacks of the multi handle ---- */

static int
on_socket(CURL *easy, curl_socket_t number, int what, void *context, void *assigned)
{
    struct multi *multi = context;
    struct fetch_http *http = multi->http;
    struct descriptor *descriptor = fetch_http_descriptor(http, number);
    uint32_t events = what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0;
    events |= what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0;
    (void)easy;
    (void)assigned;
    descriptor->wanted = what != CURL_POLL_REMOVE;
    if (descriptor->wanted) {
        descriptor->multi = multi;
        fetch_http_watch(http, number, events);
    }
    return 0;
}

/* The owner's one timer is for the first of all handles. */
static void
set_timer(struct fetch_http *http)
{
    uint64_t first_ms = http->dns_due_ms;
    for (size_t i = 0; i < http->multi_count; i++) {
        first_ms = http->multis[i].due_ms < first_ms ? http->multis[i].due_ms : first_ms;
    }
    if (first_ms != http->timer_ms) {
        const uint64_t now_ms = clock_monotonic_ms();
        http->timer_ms = first_ms;
        http->loop.timer(http->loop.context, first_ms == UINT64_MAX ? UINT64_MAX
                                             : first_ms > now_ms    ? first_ms - now_ms
                                                                    : 0);
    }
}

static int
on_timer(CURLM *handle, long delay_ms, void *context)
{
    struct multi *multi = context;
    (void)handle;
    const uint64_t before_ms = multi->due_ms;
    multi->due_ms = delay_ms < 0 ? UINT64_MAX : clock_monotonic_ms() + (uint64_t)delay_ms;
    if (multi->due_ms < multi->http->timer_ms || before_ms == multi->http->timer_ms) {
        set_timer(multi->http);
    }
    return 0;
}

static void
watch_dns(void *context, int descriptor, uint32_t epoll_events)
{
    struct fetch_http *http = context;
    fetch_http_descriptor(http, descriptor)->multi = NULL;
    fetch_http_watch(http, descriptor, epoll_events);
}

static void
time_dns(void *context, uint64_t delay_ms)
{
    struct fetch_http *http = context;
    http->dns_due_ms = delay_ms == UINT64_MAX ? UINT64_MAX : clock_monotonic_ms() + delay_ms;
    set_timer(http);
}

/* ---- opening ---- */

static enum status
open_multis(struct fetch_http *http, size_t connections, struct reason *why)
{
    const size_t count = connections / SHARE + 1;
    http->multis = memory_zero(count, sizeof *http->multis);
    bool opened = curl_global_init(CURL_GLOBAL_DEFAULT) == 0;
    while (opened && http->multi_count < count) {
        struct multi *multi = &http->multis[http->multi_count++];
        *multi = (struct multi){http, curl_multi_init(), UINT64_MAX};
        opened = multi->handle != NULL;
        curl_multi_setopt(multi->handle, CURLMOPT_SOCKETFUNCTION, on_socket);
        curl_multi_setopt(multi->handle, CURLMOPT_SOCKETDATA, multi);
        curl_multi_setopt(multi->handle, CURLMOPT_TIMERFUNCTION, on_timer);
        curl_multi_setopt(multi->handle, CURLMOPT_TIMERDATA, multi);
        curl_multi_setopt(multi->handle, CURLMOPT_MAXCONNECTS, (long)(connections / count + 1));
    }
    return opened ? STATUS_OK : status_fail(why, STATUS_SYSTEM, "libcurl could not start");
}

size_t
fetch_slow_places(const struct opt_set *options)
{
    enum { PLACES_LEAST = 512 }; /* also where few others are fetched at a time */
    const size_t places = (size_t)opt_integer(options, "fetch.window") / 2;
    return places > PLACES_LEAST ? places : PLACES_LEAST;
}

/* Idle connections have what requests and other files (archives, dumps, sockets) leave of the
 * process's limit of open files. */
static enum status
idle_connections(const struct opt_set *options, size_t *connections, struct reason *why)
{
    const uint64_t busy =
        OTHER_FILES + (uint64_t)opt_integer(options, "fetch.window") + fetch_slow_places(options);
    uint64_t limit;
    TRY(file_raise_limit(&limit, why));
    if (limit <= busy) {
        return status_fail(why, STATUS_MISUSE,
                           "fetch.window needs %" PRIu64 " open files, and the limit is %" PRIu64
                           " (ulimit -Hn)",
                           busy, limit);
    }
    *connections = (size_t)opt_integer(options, "fetch.connections");
    if (*connections > limit - busy) {
        log_warning("connections_cut", "wanted=%zu allowed=%" PRIu64, *connections, limit - busy);
        *connections = (size_t)(limit - busy);
    }
    return STATUS_OK;
}

enum status
fetch_http_open(struct fetch_http **result, const struct opt_set *options,
                const struct fetch_loop *loop, struct reason *why)
{
    const char *const *cidrs;
    size_t connections = 0;
    struct fetch_http *http = memory_new(sizeof *http);
    const struct fetch_loop dns_loop = {.watch = watch_dns, .timer = time_dns, .context = http};
    *result = http;
    http->loop = *loop;
    http->timer_ms = http->dns_due_ms = UINT64_MAX;
    http_settings_open(&http->settings, options);
    const size_t n = opt_list(options, "fetch.allow_address", &cidrs);
    TRY(address_rules_open(&http->addresses, cidrs, n, why));
    TRY(credentials_open(&http->credentials, opt_string(options, "fetch.credentials"), why));
    TRY(names_open(&http->names, opt_string(options, "fetch.hosts_file"), why));
    TRY(proxy_from(&http->proxy, options, why));
    TRY(dns_open(&http->dns, options, &dns_loop, why));
    TRY(ftp_open(http, why));
    http->address_limit = address_limit_new((uint32_t)opt_integer(options, "queue.group_parallel"));
    TRY(idle_connections(options, &connections, why));
    return open_multis(http, connections, why);
}

void
fetch_http_close(struct fetch_http *http)
{
    if (http == NULL) {
        return;
    }
    dns_close(http->dns);
    ftp_close(http);
    for (struct transfer *next, *one = http->running; one != NULL; one = next) {
        next = one->next;
        if (!one->resolving && !one->ftp.spoken) {
            curl_multi_remove_handle(one->multi->handle, one->easy);
        }
        transfer_free(one);
    }
    for (struct transfer *next, *one = http->idle; one != NULL; one = next) {
        next = one->next;
        transfer_free(one);
    }
    for (size_t i = 0; i < http->multi_count; i++) {
        curl_multi_cleanup(http->multis[i].handle);
    }
    free(http->multis);
    free(http->descriptors.all);
    address_rules_close(http->addresses);
    credentials_close(http->credentials);
    names_close(http->names);
    proxy_release(&http->proxy);
    address_limit_free(http->address_limit);
    http_settings_release(&http->settings);
    free(http);
}

/* ---- starting ---- */

static struct transfer *
take_transfer(struct fetch_http *http)
{
    struct transfer *transfer = http->idle;
    if (transfer != NULL) {
        http->idle = transfer->next;
    } else {
        transfer = transfer_new(http);
    }
    transfer->next = http->running;
    transfer->previous = NULL;
    if (http->running != NULL) {
        http->running->previous = transfer;
    }
    http->running = transfer;
    return transfer;
}

static void
give_back(struct fetch_http *http, struct transfer *transfer)
{
    if (transfer->next != NULL) {
        transfer->next->previous = transfer->previous;
    }
    if (transfer->previous != NULL) {
        transfer->previous->next = transfer->next;
    } else {
        http->running = transfer->next;
    }
    if (transfer->ftp.spoken) {
        transfer_free(transfer);
        return;
    }
    transfer_reset(transfer);
    transfer->next = http->idle;
    http->idle = transfer;
}

bool
fetch_http_at_limit(const struct fetch_http *http, uint64_t address)
{
    return address_limit_is_full(http->address_limit, address);
}

void
fetch_http_hold(struct fetch_http *http, size_t bytes)
{
    http->memory_used += bytes;
}

void
fetch_http_let_go(struct fetch_http *http, size_t bytes)
{
    http->memory_used -= bytes;
}

static void
end_transfer(struct transfer *transfer, CURLcode code)
{
    transfer_finish(transfer, code);
    give_back(transfer->http, transfer);
}

static void
perform(struct transfer *transfer)
{
    transfer->joined_ms = clock_monotonic_ms();
    if (transfer->ftp.spoken) {
        ftp_start(transfer);
    } else {
        curl_multi_add_handle(transfer->multi->handle, transfer->easy);
    }
}

static void
resolved(void *context, const struct dns_answer *answer)
{
    struct transfer *transfer = context;
    if (place_go_to(transfer, answer)) {
        transfer->resolving = false;
        perform(transfer);
    } else {
        end_transfer(transfer, CURLE_COULDNT_RESOLVE_HOST);
    }
}

struct transfer *
fetch_http_start(struct fetch_http *http, const struct fetch_request *request)
{
    struct transfer *transfer = take_transfer(http);
    transfer_prepare(transfer, request);
    if (place_needs_address(transfer, request->url)) {
        transfer->resolving = true;
        dns_ask(http->dns, url_host(request->url), resolved, transfer);
    } else {
        perform(transfer);
    }
    return transfer;
}

uint64_t
fetch_http_silent_ms(const struct transfer *transfer)
{
    curl_off_t ready_us = 0;
    if (transfer->ftp.spoken || transfer->resolving || transfer->exchange.header.length > 0 ||
        curl_easy_getinfo(transfer->easy, CURLINFO_PRETRANSFER_TIME_T, &ready_us) != CURLE_OK ||
        ready_us == 0) {
        return 0;
    }
    const uint64_t sent_ms = transfer->joined_ms + (uint64_t)ready_us / 1000;
    const uint64_t now_ms = clock_monotonic_ms();
    return now_ms > sent_ms ? now_ms - sent_ms : 0;
}

void
fetch_http_give_up(struct fetch_http *http, struct transfer *transfer, const char *problem)
{
    snprintf(transfer->problem, sizeof transfer->problem, "%s", problem);
    transfer_finish(transfer, CURLE_OPERATION_TIMEDOUT);
    give_back(http, transfer);
}

uint64_t
fetch_http_body_bytes(const struct transfer *transfer)
{
    return transfer->exchange.body.length;
}

/* ---- the loop ---- */

static void
collect(struct multi *multi)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi->handle, &left)) != NULL) {
        struct transfer *transfer = NULL;
        if (message->msg == CURLMSG_DONE) {
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
            end_transfer(transfer, message->data.result);
        }
    }
}

void
fetch_http_ready(struct fetch_http *http, int descriptor, uint32_t epoll_events)
{
    int running;
    if (descriptor == http->ftp.descriptor) {
        ftp_ready(http, end_transfer);
        return;
    }
    const struct descriptor *known = fetch_http_descriptor(http, descriptor);
    struct multi *multi = known->multi;
    if (multi == NULL) {
        dns_ready(http->dns, descriptor, epoll_events);
        return;
    }
    if (!known->wanted) { /* the server has closed it, most likely: libcurl looks before use */
        fetch_http_watch(http, descriptor, 0);
        return;
    }
    int events = epoll_events & EPOLLIN ? CURL_CSELECT_IN : 0;
    events |= epoll_events & EPOLLOUT ? CURL_CSELECT_OUT : 0;
    events |= epoll_events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0;
    curl_multi_socket_action(multi->handle, descriptor, events, &running);
    collect(multi);
}

void
fetch_http_tick(struct fetch_http *http)
{
    int running;
    const uint64_t now_ms = clock_monotonic_ms();
    http->timer_ms = UINT64_MAX; /* it has just gone off */
    for (size_t i = 0; i < http->multi_count; i++) {
        struct multi *multi = &http->multis[i];
        if (multi->due_ms <= now_ms) {
            multi->due_ms = UINT64_MAX; /* libcurl sets it again */
            curl_multi_socket_action(multi->handle, CURL_SOCKET_TIMEOUT, 0, &running);
            collect(multi);
        }
    }
    if (http->dns_due_ms <= now_ms) {
        http->dns_due_ms = UINT64_MAX;
        dns_tick(http->dns);
    }
    set_timer(http);
}
