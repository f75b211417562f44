/* One transfer: what libcurl is told of it, what it calls back, how it ended. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "stages/fetch/http/address_limit.h"
#include "stages/fetch/http/address_rules.h"
#include "stages/fetch/http/fetch_credentials.h"
#include "stages/fetch/http/fetch_http_private.h"
#include "stages/fetch/http/hosts_file.h"

enum { STALL_BYTES = 32, DNS_SECONDS = 300 };

/* ---- callbacks of a transfer ---- */

static int
on_debug(CURL *easy, curl_infotype type, char *data, size_t size, void *context)
{
    struct transfer *transfer = context;
    (void)easy;
    if (type != CURLINFO_HEADER_OUT || slice_starts(slice_of(data, size), SLICE("CONNECT "))) {
        return 0;
    }
    if (transfer->ftp) {
        ftp_command(transfer, slice_of(data, size));
    } else {
        buf_append(&transfer->request, data, size);
    }
    return 0;
}

/* Just before the request is sent. What libcurl sends it tells only while it tells everything, for
 * which it formats a dozen messages a transfer; so it is verbose until the answer begins. */
static int
on_request(void *context, char *ip, char *own_ip, int port, int own_port)
{
    struct transfer *transfer = context;
    (void)ip;
    (void)own_ip;
    (void)port;
    (void)own_port;
    transfer->sent = true;
    buf_reset(&transfer->request); /* a connection may have died, and the request is sent again */
    curl_easy_setopt(transfer->easy, CURLOPT_VERBOSE, 1L);
    return CURL_PREREQFUNC_OK;
}

static size_t
on_header(char *data, size_t size, size_t n, void *context)
{
    struct transfer *transfer = context;
    const struct slice line = slice_of(data, size * n);
    if (transfer->ftp) {
        return ftp_reply(transfer, line) ? line.length : 0;
    }
    /* libcurl keeps every line until the transfer ends, those of trailers and of interim responses
     * too, of which a server may send as many as it likes. */
    transfer->header_bytes += line.length;
    if (transfer->header_bytes > transfer->header.maximum) {
        transfer->header_too_long = true;
        return 0;
    }
    if (slice_starts(line, SLICE("HTTP/"))) {
        /* An interim response came before, or a connection died and the request was sent again. */
        buf_reset(&transfer->header);
        transfer->header_complete = false;
        curl_easy_setopt(transfer->easy, CURLOPT_VERBOSE, 0L);
    }
    if (transfer->header_complete) {
        return line.length; /* trailers */
    }
    buf_append_slice(&transfer->header, line);
    transfer->header_complete = slice_is(line, "\r\n") || slice_is(line, "\n");
    return line.length;
}

static size_t
pour(struct transfer *transfer, struct slice bytes)
{
    const struct fetch_sink *sink = &transfer->sink;
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (transfer->ftp) {
        status = ftp_begin(transfer);
    }
    if (transfer->sunk == 0 &&
        !sink->begin(sink->context, (uint16_t)status, buf_slice(&transfer->header))) {
        return 0;
    }
    transfer->sunk += bytes.length;
    if (transfer->sunk > transfer->body_limit) {
        transfer->too_long = true;
        return 0;
    }
    return sink->take(sink->context, bytes) ? bytes.length : 0;
}

static size_t
on_body(char *data, size_t size, size_t n, void *context)
{
    struct transfer *transfer = context;
    struct fetch_http *http = transfer->http;
    const size_t length = size * n;
    transfer->piece_ms = clock_monotonic_ms();
    if (transfer->ftp && transfer->head) {
        return length; /* libcurl's own words, once more */
    }
    if (transfer->sink.take != NULL) {
        return pour(transfer, slice_of(data, length));
    }
    const size_t room = transfer->body_limit - transfer->body.length;
    const size_t taken = length < room ? length : room;
    const size_t before = transfer->body.capacity;
    if (transfer->ftp) { /* in its own thread; what is not poured is small */
        (void)ftp_begin(transfer);
    } else if (http->memory_used + taken > http->memory) {
        transfer->out_of_memory = true;
        return 0;
    }
    buf_append(&transfer->body, data, taken);
    http->memory_used += transfer->ftp ? 0 : transfer->body.capacity - before;
    if (taken < length) {
        transfer->too_long = true;
        return 0;
    }
    return length;
}

/* By which hosts of one address are grouped; 0: this one is not counted. */
static uint64_t
address_number(const struct fetch_http *http, const struct transfer *transfer, const char *ip)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    const bool is_v4 = inet_pton(AF_INET, ip, &v4.sin_addr) == 1;
    if (!is_v4 && inet_pton(AF_INET6, ip, &v6.sin6_addr) != 1) {
        return 0;
    }
    bool directed = false;
    for (int i = 0; i < SCHEME_COUNT; i++) {
        directed |= http->connect[i] != NULL;
    }
    const bool exempt =
        address_is_exempt(http->addresses, is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6);
    return transfer->named || (!directed && !exempt) ? fingerprint64(slice_string(ip)) : 0;
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
    return address_number(transfer->http, transfer, ip);
}

static void
count_at(struct transfer *transfer, uint64_t address)
{
    address_limit_move(transfer->http->address_limit, transfer->address, address);
    transfer->address = address;
}

/* The host's address in place of its alias. */
static void
take_target(const struct transfer *transfer, struct sockaddr *address)
{
    const struct host_address *alias = &transfer->alias;
    void *bytes = (void *)(uintptr_t)address_bytes(address);
    if (alias->family == address->sa_family &&
        memcmp(bytes, alias->bytes, address_size(alias->family)) == 0) {
        memcpy(bytes, transfer->target.bytes, address_size(alias->family));
    }
}

static curl_socket_t
on_open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *transfer = context;
    struct fetch_http *http = transfer->http;
    (void)purpose;
    if (transfer->proxied && proxy_is_at(&http->proxy, &address->addr)) {
        return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    }
    take_target(transfer, &address->addr);
    const char *refusal = address_refusal(http->addresses, &address->addr);
    if (refusal != NULL) {
        transfer->refused = refusal;
        return CURL_SOCKET_BAD;
    }
    const uint64_t number = number_of(transfer, &address->addr);
    if (number != transfer->address) {
        if (address_limit_is_full(http->address_limit, number)) {
            transfer->at_limit = number;
            return CURL_SOCKET_BAD;
        }
        count_at(transfer, number);
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int
on_close_socket(void *context, curl_socket_t descriptor)
{
    fetch_http_forget(context, descriptor);
    return close(descriptor);
}

/* ---- telling libcurl ---- */

/* Sets the options that are the same in every request of this process. */
static void
set_constants(struct fetch_http *http, struct transfer *transfer)
{
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    /* Said outright, or libcurl asks the environment: http_proxy, ALL_PROXY, NO_PROXY, NETRC. */
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     http->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, http->connect_timeout_ms);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, http->stall_seconds);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->problem);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_request);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug);
    curl_easy_setopt(easy, CURLOPT_DEBUGDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, http);
    if (http->ca_file[0] != '\0') {
        curl_easy_setopt(easy, CURLOPT_CAINFO, http->ca_file);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
}

static bool
is_header_value(struct slice value)
{
    for (size_t i = 0; i < value.length; i++) {
        const unsigned char c = (unsigned char)value.at[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return value.length > 0;
}

/* Values come from servers, by way of the metadata store: what holds a control character, such as a
 * bare CR, could begin another header line, and is not sent. */
static bool
append_header(struct transfer *transfer, const char *name, struct slice value)
{
    struct buf line;
    if (!is_header_value(value)) {
        return false;
    }
    buf_init(&line, REQUEST_MAXIMUM);
    buf_printf(&line, "%s: %.*s", name, SLICE_PRINT(value));
    transfer->headers = curl_slist_append(transfer->headers, line.data);
    buf_release(&line);
    return true;
}

/* The common headers and the conditions of this request. */
static void
set_headers(struct fetch_http *http, struct transfer *transfer, const struct fetch_request *request)
{
    if (request->etag.length == 0 && request->last_modified.length == 0 && !request->resource &&
        request->sink == NULL && request->accept.length == 0) {
        curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, http->headers);
        return;
    }
    for (const struct curl_slist *one = http->headers; one != NULL; one = one->next) {
        const bool accept = slice_starts(slice_string(one->data), SLICE("Accept:"));
        if (request->sink != NULL &&
            slice_starts(slice_string(one->data), SLICE("Accept-Encoding:"))) {
            continue;
        }
        if (accept && request->accept.length > 0) {
            continue;
        }
        transfer->headers = curl_slist_append(
            transfer->headers, accept && request->resource ? http->accept_resource : one->data);
    }
    append_header(transfer, "Accept", request->accept);
    append_header(transfer, "If-None-Match", request->etag);
    append_header(transfer, "If-Modified-Since", request->last_modified);
    if (request->range_from > 0 && append_header(transfer, "If-Range", request->if_range)) {
        char range[40];
        snprintf(range, sizeof range, "bytes=%llu-", (unsigned long long)request->range_from);
        append_header(transfer, "Range", slice_string(range));
    }
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
}

/* Returns where fetch.connect_to sends URLs like this one. */
static struct curl_slist *
directions(const struct fetch_http *http, struct slice url)
{
    return http->connect[url_is_ftp(url)                      ? SCHEME_FTP
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
    struct host_address *alias = &transfer->alias;
    transfer->target.family = family;
    memcpy(transfer->target.bytes, bytes, address_size(family));
    *alias = (struct host_address){.family = family, .bytes = {v4 ? 0 : 1}};
    memcpy(alias->bytes + (v4 ? 0 : 8), &transfer->host, v4 ? 4 : 8);
    alias->bytes[0] |= v4 ? 0xf0 : 0;
    inet_ntop(family, alias->bytes, text, sizeof text);
    snprintf(rule, sizeof rule, v4 ? "::%s:" : "::[%s]:", text);
    transfer->connect = curl_slist_append(NULL, rule);
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

/* Sets where the connection goes, and counts the transfers that are there. */
static void
set_place(struct fetch_http *http, struct transfer *transfer, struct slice url,
          uint64_t known_address)
{
    const struct slice host = url_host(url);
    const char *address = names_find(http->names, host);
    transfer->host = digest_local(host);
    transfer->multi = &http->multis[transfer->host % http->multi_count];
    struct curl_slist *directed = directions(http, url);
    transfer->named = address != NULL;
    if (address != NULL) {
        set_named_target(transfer, address);
    }
    const bool proxied = address == NULL && directed == NULL && proxy_takes(&http->proxy, host);
    if (proxied != transfer->proxied) {
        transfer->proxied = proxied;
        curl_easy_setopt(transfer->easy, CURLOPT_PROXY, proxied ? http->proxy.url : "");
        /* For CONNECT. The request has it among its headers, where libcurl formats it once instead
         * of twice. */
        curl_easy_setopt(transfer->easy, CURLOPT_USERAGENT, proxied ? http->user_agent : NULL);
    }
    /* libcurl looks up the proxy and what fetch.connect_to names. It walks over its whole cache of
     * names after each transfer, numbers included. */
    curl_easy_setopt(transfer->easy, CURLOPT_DNS_CACHE_TIMEOUT,
                     transfer->proxied || directed != NULL ? (long)DNS_SECONDS : 0L);
    count_at(transfer, known_address); /* a kept connection may be used: none is opened then */
    curl_easy_setopt(transfer->easy, CURLOPT_CONNECT_TO,
                     address != NULL ? transfer->connect : directed);
}

bool
transfer_needs_address(const struct transfer *transfer, struct slice url)
{
    const struct fetch_http *http = transfer->http;
    /* A number is looked up, which takes no request, to be judged before a proxy has it. */
    return !transfer->named && transfer->proxied == url_host_is_address(url_host(url)) &&
           directions(http, url) == NULL;
}

bool
transfer_go_to(struct transfer *transfer, const struct dns_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        const struct dns_address *address = &answer->addresses[i];
        const char *refusal = address_refusal(transfer->http->addresses, &address->socket.any);
        if (refusal != NULL) {
            transfer->refused = refusal;
            continue;
        }
        const struct sockaddr *any = &address->socket.any;
        transfer->refused = NULL;
        if (!transfer->proxied) {
            set_target(transfer, any->sa_family, address_bytes(any));
            curl_easy_setopt(transfer->easy, CURLOPT_CONNECT_TO, transfer->connect);
        }
        return true;
    }
    if (answer->count == 0) {
        transfer->no_name = answer->none;
        snprintf(transfer->problem, sizeof transfer->problem, "%s", answer->problem);
    }
    return false;
}

/* Only to the origin that they are for; handles are used again, so those of the last use are taken
 * away. */
static void
set_credentials(struct fetch_http *http, struct transfer *transfer, struct slice url)
{
    const struct credential *found = credentials_find(http->credentials, url_origin(url));
    const bool before = transfer->authorised;
    transfer->authorised = found != NULL;
    if (transfer->ftp) {
        curl_easy_setopt(transfer->easy, CURLOPT_USERPWD,
                         found != NULL ? found->secret : http->anonymous);
        return;
    }
    if (found != NULL) {
        curl_easy_setopt(transfer->easy, CURLOPT_HTTPAUTH,
                         (long)(found->bearer ? CURLAUTH_BEARER : CURLAUTH_BASIC));
        curl_easy_setopt(transfer->easy, CURLOPT_XOAUTH2_BEARER,
                         found->bearer ? found->secret : NULL);
        curl_easy_setopt(transfer->easy, CURLOPT_USERPWD, found->bearer ? NULL : found->secret);
    } else if (before) {
        curl_easy_setopt(transfer->easy, CURLOPT_XOAUTH2_BEARER, NULL);
        curl_easy_setopt(transfer->easy, CURLOPT_USERPWD, NULL);
    }
}

/* ---- life ---- */

struct transfer *
transfer_new(struct fetch_http *http)
{
    struct transfer *transfer = memory_zero(1, sizeof *transfer);
    transfer->http = http;
    transfer->easy = curl_easy_init();
    if (transfer->easy == NULL) {
        log_error("out_of_memory", "reason=%s", "libcurl gave no handle");
        _exit(EXIT_SYSTEM);
    }
    buf_init(&transfer->request, REQUEST_MAXIMUM);
    buf_init(&transfer->header, http->header_size);
    set_constants(http, transfer);
    return transfer;
}

void
transfer_free(struct transfer *transfer)
{
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    curl_slist_free_all(transfer->connect);
    buf_release(&transfer->request);
    buf_release(&transfer->header);
    buf_release(&transfer->body);
    free(transfer);
}

void
transfer_prepare(struct transfer *transfer, const struct fetch_request *request)
{
    struct fetch_http *http = transfer->http;
    char *url = memory_string_n(request->url.at, request->url.length);
    transfer->done = request->done;
    transfer->context = request->context;
    transfer->body_limit = request->size > 0 ? request->size : http->size;
    transfer->sink = request->sink != NULL ? *request->sink : (struct fetch_sink){0};
    transfer->sunk = 0;
    curl_easy_setopt(transfer->easy, CURLOPT_TIMEOUT_MS,
                     request->sink != NULL ? 0L : http->timeout_ms);
    buf_init(&transfer->body, transfer->body_limit);
    transfer->started_ms = clock_wall_ms();
    transfer->started_monotonic_ms = transfer->piece_ms = clock_monotonic_ms();
    curl_easy_setopt(transfer->easy, CURLOPT_URL, url);
    curl_easy_setopt(transfer->easy, request->head ? CURLOPT_NOBODY : CURLOPT_HTTPGET, 1L);
    if (request->form.length > 0) {
        curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE, (long)request->form.length);
        curl_easy_setopt(transfer->easy, CURLOPT_COPYPOSTFIELDS, request->form.at);
    }
    transfer->ftp = url_is_ftp(request->url);
    set_place(http, transfer, request->url, request->address);
    if (transfer->ftp) {
        ftp_prepare(transfer, request);
    } else {
        set_headers(http, transfer, request);
    }
    set_credentials(http, transfer, request->url);
    free(url);
}

void
transfer_reset(struct transfer *transfer)
{
    transfer->http->memory_used -= transfer->body.capacity;
    buf_release(&transfer->body);
    buf_reset(&transfer->request);
    buf_reset(&transfer->header);
    curl_easy_setopt(transfer->easy, CURLOPT_VERBOSE, 0L);
    curl_slist_free_all(transfer->headers);
    curl_slist_free_all(transfer->connect);
    transfer->headers = transfer->connect = NULL;
    transfer->alias.family = AF_UNSPEC;
    transfer->header_bytes = 0;
    transfer->header_complete = transfer->too_long = transfer->header_too_long = false;
    transfer->out_of_memory = transfer->resolving = false;
    transfer->at_limit = 0;
    transfer->sent = transfer->no_name = false;
    transfer->refused = NULL;
    transfer->problem[0] = '\0';
}

/* ---- ending ---- */

void
fetch_answer_words(uint16_t status, uint16_t reply, char words[FETCH_WORDS_SIZE])
{
    const unsigned code = reply > 0 ? reply : status;
    snprintf(words, FETCH_WORDS_SIZE, "the server %s %u", reply > 0 ? "replied" : "answered", code);
}

static enum fetch_end
end_of(const struct transfer *transfer, CURLcode code, long status)
{
    if (transfer->out_of_memory) {
        return FETCH_NO_MEMORY;
    }
    /* libcurl calls it out of memory when a single line passes its own limit of 100 KiB. */
    if (transfer->header_too_long || (code == CURLE_OUT_OF_MEMORY && !transfer->header_complete)) {
        return FETCH_REFUSED_HEADER;
    }
    const bool refused = transfer->ftp && status >= 400;
    if ((code == CURLE_OK || refused) && transfer->header_complete) {
        return FETCH_ANSWERED;
    }
    if (!transfer->header_complete && transfer->at_limit != 0) {
        return FETCH_CROWDED;
    }
    if (!transfer->header_complete) {
        return transfer->refused != NULL ? FETCH_REFUSED_ADDRESS : FETCH_FAILED;
    }
    if (transfer->too_long) {
        return FETCH_CUT_LENGTH;
    }
    return code == CURLE_OPERATION_TIMEDOUT ? FETCH_CUT_TIME : FETCH_CUT_CONNECTION;
}

/* Tells whether nobody said no. What fails behind a proxy cannot be told from the proxy's own
 * trouble. */
static bool
is_silent(const struct transfer *transfer, CURLcode code)
{
    long number = 0;
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return !transfer->no_name;
    case CURLE_COULDNT_CONNECT:
        curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &number);
        return transfer->proxied || number != ECONNREFUSED;
    case CURLE_OPERATION_TIMEDOUT:
        return true;
    default:
        return transfer->proxied;
    }
}

/* libcurl names the alias. */
static void
tell_unconnected(struct transfer *transfer)
{
    char ip[INET6_ADDRSTRLEN] = "";
    long number = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &number);
    inet_ntop(transfer->target.family, transfer->target.bytes, ip, sizeof ip);
    snprintf(transfer->problem, sizeof transfer->problem, "cannot connect to %s: %s", ip,
             number != 0 ? strerror((int)number) : "no connection");
}

static const char *
problem_of(struct transfer *transfer, CURLcode code, enum fetch_end end)
{
    switch (end) {
    case FETCH_ANSWERED:
        if (transfer->reply >= 400) {
            fetch_answer_words(0, transfer->reply, transfer->problem);
            return transfer->problem;
        }
        return "";
    case FETCH_NEEDLESS: /* no transfer was begun */
        return "";
    case FETCH_CUT_LENGTH:
        snprintf(transfer->problem, sizeof transfer->problem, "body larger than %zu bytes",
                 transfer->body_limit);
        break;
    case FETCH_REFUSED_HEADER:
        snprintf(transfer->problem, sizeof transfer->problem,
                 "response header larger than %zu bytes, interim responses and trailers counted",
                 transfer->header.maximum);
        break;
    case FETCH_REFUSED_ADDRESS:
        snprintf(transfer->problem, sizeof transfer->problem,
                 "the host's address is not public (%s) and not in fetch.allow_address",
                 transfer->refused);
        break;
    case FETCH_CROWDED:
        return "queue.group_parallel hosts of the address are being fetched from";
    case FETCH_NO_MEMORY:
        snprintf(transfer->problem, sizeof transfer->problem,
                 "bodies in flight hold more than fetch.memory");
        break;
    case FETCH_CUT_TIME:
    case FETCH_CUT_CONNECTION:
    case FETCH_FAILED:
        if (code == CURLE_COULDNT_CONNECT && transfer->alias.family != AF_UNSPEC) {
            tell_unconnected(transfer);
        } else if (transfer->problem[0] == '\0') {
            snprintf(transfer->problem, sizeof transfer->problem, "%s",
                     code == CURLE_OK ? "the server sent no response" : curl_easy_strerror(code));
        }
        break;
    }
    return transfer->problem;
}

void
transfer_finish(struct transfer *transfer, CURLcode code)
{
    struct fetch_http *http = transfer->http;
    long status = 0;
    long version = 0;
    char *ip = NULL;
    char *url = NULL;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (transfer->ftp) {
        status = ftp_status(transfer, code);
    }
    curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_VERSION, &version);
    curl_easy_getinfo(transfer->easy, CURLINFO_PRIMARY_IP, &ip);
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after);
    curl_easy_getinfo(transfer->easy, CURLINFO_EFFECTIVE_URL, &url);
    ip = ip != NULL && !transfer->proxied ? ip : (char *)(uintptr_t) "";
    const enum fetch_end end = end_of(transfer, code, status);
    if (!transfer->ftp && (transfer->authorised || transfer->proxied)) {
        credentials_withhold(&transfer->request);
    }
    const uint64_t now_ms = clock_monotonic_ms();
    const uint64_t took_ms = now_ms - transfer->started_monotonic_ms;
    const struct fetch_result result = {
        .end = end,
        .status = transfer->header_complete ? (uint16_t)status : 0,
        .reply = transfer->reply,
        .request = buf_slice(&transfer->request),
        .response_header = buf_slice(&transfer->header),
        .body = transfer->body.length > 0 ? buf_slice(&transfer->body) : SLICE(""),
        .ip = slice_string(ip),
        .protocol = version == CURL_HTTP_VERSION_2_0 ? SLICE("h2") : SLICE(""),
        .started_ms = transfer->started_ms,
        .milliseconds = (uint32_t)took_ms,
        .retry_after_ms = retry_after > 0 ? (uint64_t)retry_after * 1000 : 0,
        .address =
            transfer->at_limit != 0 ? transfer->at_limit : address_number(http, transfer, ip),
        .problem = problem_of(transfer, code, end),
        .flowing = end == FETCH_CUT_TIME && now_ms - transfer->piece_ms < took_ms / 2,
        .unsent = end == FETCH_FAILED && !transfer->sent,
        .silent = end == FETCH_FAILED && is_silent(transfer, code),
    };
    if (!transfer->resolving && !transfer->ftp) {
        curl_multi_remove_handle(transfer->multi->handle, transfer->easy);
    }
    if (end == FETCH_FAILED && transfer->connect != NULL && !transfer->named) {
        dns_unreachable(http->dns, url_host(slice_string(url)));
    }
    count_at(transfer, 0);
    transfer->done(transfer->context, &result);
}
