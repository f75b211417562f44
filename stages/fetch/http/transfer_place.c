#include "stages/fetch/http/transfer_place.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/url/url.h"
#include "stages/fetch/http/address_limit.h"
#include "stages/fetch/http/address_rules.h"
#include "stages/fetch/http/hosts_file.h"
#include "stages/fetch/http/http_state.h"
#include "stages/fetch/http/transfer.h"

enum { DNS_SECONDS = 300 };

uint64_t
place_number(const struct transfer *transfer, const char *ip)
{
    const struct fetch_http *http = transfer->http;
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    const bool is_v4 = inet_pton(AF_INET, ip, &v4.sin_addr) == 1;
    if (!is_v4 && inet_pton(AF_INET6, ip, &v6.sin6_addr) != 1) {
        return 0;
    }
    bool directed = false;
    for (int i = 0; i < SCHEME_COUNT; i++) {
        directed |= http->settings.connect[i] != NULL;
    }
    const bool exempt =
        address_is_exempt(http->addresses, is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6);
    return transfer->place.named || (!directed && !exempt) ? fingerprint64(slice_string(ip)) : 0;
}

static size_t
address_size(int family)
{
    return family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
}

static const void *
address_bytes(const struct sockaddr *address)
{
    return address->sa_family == AF_INET
               ? (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
               : (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
}

static uint64_t
number_of(const struct transfer *transfer, const struct sockaddr *address)
{
    char ip[INET6_ADDRSTRLEN] = "";
    inet_ntop(address->sa_family, address_bytes(address), ip, sizeof ip);
    return place_number(transfer, ip);
}

static void
count_at(struct transfer *transfer, uint64_t address)
{
    address_limit_move(transfer->http->address_limit, transfer->place.address, address);
    transfer->place.address = address;
}

/* The host's address in place of its alias. */
static void
take_target(const struct transfer *transfer, struct sockaddr *address)
{
    const struct host_address *alias = &transfer->place.alias;
    void *bytes = (void *)(uintptr_t)address_bytes(address);
    if (alias->family == address->sa_family &&
        memcmp(bytes, alias->bytes, address_size(alias->family)) == 0) {
        memcpy(bytes, transfer->place.target.bytes, address_size(alias->family));
    }
}

static curl_socket_t
on_open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *transfer = context;
    struct fetch_http *http = transfer->http;
    (void)purpose;
    if (transfer->place.proxied && proxy_is_at(&http->proxy, &address->addr)) {
        return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    }
    take_target(transfer, &address->addr);
    const char *refusal = address_refusal(http->addresses, &address->addr);
    if (refusal != NULL) {
        transfer->place.refused = refusal;
        return CURL_SOCKET_BAD;
    }
    const uint64_t number = number_of(transfer, &address->addr);
    if (number != transfer->place.address) {
        if (address_limit_is_full(http->address_limit, number)) {
            transfer->place.at_limit = number;
            return CURL_SOCKET_BAD;
        }
        count_at(transfer, number);
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Returns where fetch.connect_to sends URLs like this one. */
static struct curl_slist *
directions(const struct fetch_http *http, struct slice url)
{
    return http->settings.connect[url_is_ftp(url)                      ? SCHEME_FTP
                                  : slice_starts(url, SLICE("https:")) ? SCHEME_HTTPS
                                                                       : SCHEME_HTTP];
}

/* The connection goes to that address. libcurl keeps connections in lists by where CONNECT_TO says
 * that they go, and asks the kernel about each idle one of a list until it finds the host's: many
 * hosts have one address. So it is told an alias, the host's own and one that no host has (of
 * 240.0.0.0/4 or 100::/64, RFC 6666), and on_open_socket puts the address in its place. */
static void
set_target(struct transfer *transfer, int family, const void *bytes)
{
    char text[INET6_ADDRSTRLEN] = "";
    char rule[INET6_ADDRSTRLEN + 8];
    const bool v4 = family == AF_INET;
    struct host_address *alias = &transfer->place.alias;
    transfer->place.target.family = family;
    memcpy(transfer->place.target.bytes, bytes, address_size(family));
    *alias = (struct host_address){.family = family, .bytes = {v4 ? 0 : 1}};
    memcpy(alias->bytes + (v4 ? 0 : 8), &transfer->place.host, v4 ? 4 : 8);
    alias->bytes[0] |= v4 ? 0xf0 : 0;
    inet_ntop(family, alias->bytes, text, sizeof text);
    snprintf(rule, sizeof rule, v4 ? "::%s:" : "::[%s]:", text);
    transfer->place.connect = curl_slist_append(NULL, rule);
}

/* Sets the address that names_find gives. */
static void
set_named_target(struct transfer *transfer, const char *address)
{
    char text[INET6_ADDRSTRLEN + 2];
    uint8_t bytes[sizeof(struct in6_addr)];
    const bool v6 = address[0] == '[';
    snprintf(text, sizeof text, "%s", address + v6);
    text[strcspn(text, "]")] = '\0';
    if (inet_pton(v6 ? AF_INET6 : AF_INET, text, bytes) == 1) {
        set_target(transfer, v6 ? AF_INET6 : AF_INET, bytes);
    }
}

void
place_set(struct transfer *transfer, struct slice url, uint64_t known_address)
{
    struct fetch_http *http = transfer->http;
    const struct slice host = url_host(url);
    const char *address = names_find(http->names, host);
    transfer->place.host = digest_local(host);
    transfer->multi = &http->multis[transfer->place.host % http->multi_count];
    struct curl_slist *directed = directions(http, url);
    transfer->place.named = address != NULL;
    if (address != NULL) {
        set_named_target(transfer, address);
    }
    const bool proxied = address == NULL && directed == NULL && proxy_takes(&http->proxy, host);
    if (proxied != transfer->place.proxied) {
        transfer->place.proxied = proxied;
        curl_easy_setopt(transfer->easy, CURLOPT_PROXY, proxied ? http->proxy.url : "");
        /* For CONNECT. The request has it among its headers, where libcurl formats it once instead
         * of twice. */
        curl_easy_setopt(transfer->easy, CURLOPT_USERAGENT,
                         proxied ? http->settings.user_agent : NULL);
    }
    /* libcurl looks up the proxy and what fetch.connect_to names. It walks over its whole cache of
     * names after each transfer, numbers included. */
    curl_easy_setopt(transfer->easy, CURLOPT_DNS_CACHE_TIMEOUT,
                     transfer->place.proxied || directed != NULL ? (long)DNS_SECONDS : 0L);
    count_at(transfer, known_address); /* a kept connection may be used: none is opened then */
    curl_easy_setopt(transfer->easy, CURLOPT_CONNECT_TO,
                     address != NULL ? transfer->place.connect : directed);
}

bool
place_needs_address(const struct transfer *transfer, struct slice url)
{
    const struct fetch_http *http = transfer->http;
    /* A number is looked up, which takes no request, to be judged before a proxy has it. */
    return !transfer->place.named &&
           transfer->place.proxied == url_host_is_address(url_host(url)) &&
           directions(http, url) == NULL;
}

bool
place_go_to(struct transfer *transfer, const struct dns_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        const struct dns_address *address = &answer->addresses[i];
        const char *refusal = address_refusal(transfer->http->addresses, &address->socket.any);
        if (refusal != NULL) {
            transfer->place.refused = refusal;
            continue;
        }
        const struct sockaddr *any = &address->socket.any;
        transfer->place.refused = NULL;
        if (!transfer->place.proxied) {
            set_target(transfer, any->sa_family, address_bytes(any));
            curl_easy_setopt(transfer->easy, CURLOPT_CONNECT_TO, transfer->place.connect);
        }
        return true;
    }
    if (answer->count == 0) {
        transfer->place.no_name = answer->none;
        snprintf(transfer->problem, sizeof transfer->problem, "%s", answer->problem);
    }
    return false;
}

void
place_constants(struct transfer *transfer)
{
    curl_easy_setopt(transfer->easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    curl_easy_setopt(transfer->easy, CURLOPT_OPENSOCKETDATA, transfer);
}

void
place_leave(struct transfer *transfer)
{
    count_at(transfer, 0);
}

void
place_reset(struct transfer *transfer)
{
    struct transfer_place *place = &transfer->place;
    curl_slist_free_all(place->connect);
    place->connect = NULL;
    place->alias.family = AF_UNSPEC;
    place->at_limit = 0;
    place->refused = NULL;
    place->no_name = false;
}
