/* The life of a transfer, and what libcurl is told of its request. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "stages/fetch/http/fetch_credentials.h"
#include "stages/fetch/http/http_state.h"
#include "stages/fetch/http/transfer.h"

enum { STALL_BYTES = 32 };

/* ---- telling libcurl ---- */

static int
on_close_socket(void *context, curl_socket_t descriptor)
{
    fetch_http_forget(context, descriptor);
    return close(descriptor);
}

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
                     (long)(http->settings.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, http->settings.connect_timeout_ms);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, http->settings.stall_seconds);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->problem);
    exchange_constants(transfer);
    place_constants(transfer);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, http);
    if (http->settings.ca_file[0] != '\0') {
        curl_easy_setopt(easy, CURLOPT_CAINFO, http->settings.ca_file);
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
        curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, http->settings.headers);
        return;
    }
    for (const struct curl_slist *one = http->settings.headers; one != NULL; one = one->next) {
        const bool accept = slice_starts(slice_string(one->data), SLICE("Accept:"));
        if (request->sink != NULL &&
            slice_starts(slice_string(one->data), SLICE("Accept-Encoding:"))) {
            continue;
        }
        if (accept && request->accept.length > 0) {
            continue;
        }
        transfer->headers = curl_slist_append(
            transfer->headers,
            accept && request->resource ? http->settings.accept_resource : one->data);
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

/* Only to the origin that they are for; handles are used again, so those of the last use are taken
 * away. */
static void
set_credentials(struct fetch_http *http, struct transfer *transfer, struct slice url)
{
    const struct credential *found = credentials_find(http->credentials, url_origin(url));
    const bool before = transfer->authorised;
    transfer->authorised = found != NULL;
    if (transfer->ftp.spoken) {
        curl_easy_setopt(transfer->easy, CURLOPT_USERPWD,
                         found != NULL ? found->secret : http->settings.anonymous);
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
    struct transfer *transfer = memory_new(sizeof *transfer);
    transfer->http = http;
    transfer->easy = curl_easy_init();
    if (transfer->easy == NULL) {
        log_error("out_of_memory", "reason=%s", "libcurl gave no handle");
        _exit(EXIT_SYSTEM);
    }
    set_constants(http, transfer);
    return transfer;
}

void
transfer_free(struct transfer *transfer)
{
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    curl_slist_free_all(transfer->place.connect);
    exchange_release(&transfer->exchange);
    free(transfer);
}

void
transfer_prepare(struct transfer *transfer, const struct fetch_request *request)
{
    struct fetch_http *http = transfer->http;
    char *url = memory_string_n(request->url.at, request->url.length);
    transfer->done = request->done;
    transfer->context = request->context;
    exchange_set(transfer, request);
    curl_easy_setopt(transfer->easy, CURLOPT_TIMEOUT_MS,
                     request->sink != NULL ? 0L : http->settings.timeout_ms);
    transfer->started_ms = clock_wall_ms();
    transfer->started_monotonic_ms = transfer->exchange.piece_ms;
    curl_easy_setopt(transfer->easy, CURLOPT_URL, url);
    curl_easy_setopt(transfer->easy, request->head ? CURLOPT_NOBODY : CURLOPT_HTTPGET, 1L);
    if (request->form.length > 0) {
        curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE, (long)request->form.length);
        curl_easy_setopt(transfer->easy, CURLOPT_COPYPOSTFIELDS, request->form.at);
    }
    transfer->ftp.spoken = url_is_ftp(request->url);
    place_set(transfer, request->url, request->address);
    if (transfer->ftp.spoken) {
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
    exchange_reset(transfer);
    place_reset(transfer);
    curl_slist_free_all(transfer->headers);
    transfer->headers = NULL;
    transfer->resolving = false;
    transfer->problem[0] = '\0';
}
