/* How a transfer ended, in words and numbers. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/system/clock.h"
#include "base/url/url.h"
#include "stages/fetch/http/fetch_credentials.h"
#include "stages/fetch/http/http_state.h"
#include "stages/fetch/http/transfer.h"

void
fetch_answer_words(uint16_t status, uint16_t reply, char words[FETCH_WORDS_SIZE])
{
    const unsigned code = reply > 0 ? reply : status;
    snprintf(words, FETCH_WORDS_SIZE, "the server %s %u", reply > 0 ? "replied" : "answered", code);
}

static enum fetch_end
end_of(const struct transfer *transfer, CURLcode code, long status)
{
    if (transfer->exchange.out_of_memory) {
        return FETCH_NO_MEMORY;
    }
    /* libcurl calls it out of memory when a single line passes its own limit of 100 KiB. */
    if (transfer->exchange.header_too_long ||
        (code == CURLE_OUT_OF_MEMORY && !transfer->exchange.header_complete)) {
        return FETCH_REFUSED_HEADER;
    }
    const bool refused = transfer->ftp.spoken && status >= 400;
    if ((code == CURLE_OK || refused) && transfer->exchange.header_complete) {
        return FETCH_ANSWERED;
    }
    if (!transfer->exchange.header_complete && transfer->place.at_limit != 0) {
        return FETCH_CROWDED;
    }
    if (!transfer->exchange.header_complete) {
        return transfer->place.refused != NULL ? FETCH_REFUSED_ADDRESS : FETCH_FAILED;
    }
    if (transfer->exchange.too_long) {
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
        return !transfer->place.no_name;
    case CURLE_COULDNT_CONNECT:
        curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &number);
        return transfer->place.proxied || number != ECONNREFUSED;
    case CURLE_OPERATION_TIMEDOUT:
        return true;
    default:
        return transfer->place.proxied;
    }
}

/* libcurl names the alias. */
static void
tell_unconnected(struct transfer *transfer)
{
    char ip[INET6_ADDRSTRLEN] = "";
    long number = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &number);
    inet_ntop(transfer->place.target.family, transfer->place.target.bytes, ip, sizeof ip);
    snprintf(transfer->problem, sizeof transfer->problem, "cannot connect to %s: %s", ip,
             number != 0 ? strerror((int)number) : "no connection");
}

static const char *
problem_of(struct transfer *transfer, CURLcode code, enum fetch_end end)
{
    switch (end) {
    case FETCH_ANSWERED:
        if (transfer->ftp.reply >= 400) {
            fetch_answer_words(0, transfer->ftp.reply, transfer->problem);
            return transfer->problem;
        }
        return "";
    case FETCH_NEEDLESS: /* no transfer was begun */
        return "";
    case FETCH_CUT_LENGTH:
        snprintf(transfer->problem, sizeof transfer->problem, "body larger than %zu bytes",
                 transfer->exchange.body_limit);
        break;
    case FETCH_REFUSED_HEADER:
        snprintf(transfer->problem, sizeof transfer->problem,
                 "response header larger than %zu bytes, interim responses and trailers counted",
                 transfer->exchange.header.maximum);
        break;
    case FETCH_REFUSED_ADDRESS:
        snprintf(transfer->problem, sizeof transfer->problem,
                 "the host's address is not public (%s) and not in fetch.allow_address",
                 transfer->place.refused);
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
        if (code == CURLE_COULDNT_CONNECT && transfer->place.alias.family != AF_UNSPEC) {
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
    if (transfer->ftp.spoken) {
        status = ftp_status(transfer, code);
    }
    curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_VERSION, &version);
    curl_easy_getinfo(transfer->easy, CURLINFO_PRIMARY_IP, &ip);
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after);
    curl_easy_getinfo(transfer->easy, CURLINFO_EFFECTIVE_URL, &url);
    ip = ip != NULL && !transfer->place.proxied ? ip : (char *)(uintptr_t) "";
    const enum fetch_end end = end_of(transfer, code, status);
    if (!transfer->ftp.spoken && (transfer->authorised || transfer->place.proxied)) {
        credentials_withhold(&transfer->exchange.request);
    }
    const uint64_t now_ms = clock_monotonic_ms();
    const uint64_t took_ms = now_ms - transfer->started_monotonic_ms;
    const struct fetch_result result = {
        .end = end,
        .status = transfer->exchange.header_complete ? (uint16_t)status : 0,
        .reply = transfer->ftp.reply,
        .request = buf_slice(&transfer->exchange.request),
        .response_header = buf_slice(&transfer->exchange.header),
        .body =
            transfer->exchange.body.length > 0 ? buf_slice(&transfer->exchange.body) : SLICE(""),
        .ip = slice_string(ip),
        .protocol = version == CURL_HTTP_VERSION_2_0 ? SLICE("h2") : SLICE(""),
        .started_ms = transfer->started_ms,
        .milliseconds = (uint32_t)took_ms,
        .retry_after_ms = retry_after > 0 ? (uint64_t)retry_after * 1000 : 0,
        .address =
            transfer->place.at_limit != 0 ? transfer->place.at_limit : place_number(transfer, ip),
        .problem = problem_of(transfer, code, end),
        .flowing = end == FETCH_CUT_TIME && now_ms - transfer->exchange.piece_ms < took_ms / 2,
        .unsent = end == FETCH_FAILED && !transfer->exchange.sent,
        .silent = end == FETCH_FAILED && is_silent(transfer, code),
    };
    if (!transfer->resolving && !transfer->ftp.spoken) {
        curl_multi_remove_handle(transfer->multi->handle, transfer->easy);
    }
    if (end == FETCH_FAILED && transfer->place.connect != NULL && !transfer->place.named) {
        dns_unreachable(http->dns, url_host(slice_string(url)));
    }
    place_leave(transfer);
    transfer->done(transfer->context, &result);
}
