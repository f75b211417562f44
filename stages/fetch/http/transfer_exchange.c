#include "stages/fetch/http/transfer_exchange.h"

#include "base/system/clock.h"
#include "stages/fetch/http/http_state.h"
#include "stages/fetch/http/transfer.h"

static int
on_debug(CURL *easy, curl_infotype type, char *data, size_t size, void *context)
{
    struct transfer *transfer = context;
    (void)easy;
    if (type != CURLINFO_HEADER_OUT || slice_starts(slice_of(data, size), SLICE("CONNECT "))) {
        return 0;
    }
    if (transfer->ftp.spoken) {
        ftp_command(transfer, slice_of(data, size));
    } else {
        buf_append(&transfer->exchange.request, data, size);
    }
    return 0;
}

/* Just before the request is sent. What libcurl sends it tells only while it tells everything, for
 * which it formats a dozen messages a transfer; so it is verbose until the answer begins. */
static int
on_request(void *context, char *ip, char *own_ip, int port, int own_port)
{
    struct transfer *transfer = context;
    struct transfer_exchange *exchange = &transfer->exchange;
    (void)ip;
    (void)own_ip;
    (void)port;
    (void)own_port;
    exchange->sent = true;
    /* A connection may have died, and the request is sent again. */
    buf_reset(&exchange->request);
    curl_easy_setopt(transfer->easy, CURLOPT_VERBOSE, 1L);
    return CURL_PREREQFUNC_OK;
}

static size_t
on_header(char *data, size_t size, size_t n, void *context)
{
    struct transfer *transfer = context;
    struct transfer_exchange *exchange = &transfer->exchange;
    const struct slice line = slice_of(data, size * n);
    if (transfer->ftp.spoken) {
        return ftp_reply(transfer, line) ? line.length : 0;
    }
    /* libcurl keeps every line until the transfer ends, those of trailers and of interim responses
     * too, of which a server may send as many as it likes. */
    exchange->header_bytes += line.length;
    if (exchange->header_bytes > exchange->header.maximum) {
        exchange->header_too_long = true;
        return 0;
    }
    if (slice_starts(line, SLICE("HTTP/"))) {
        /* An interim response came before, or a connection died and the request was sent again. */
        buf_reset(&exchange->header);
        exchange->header_complete = false;
        curl_easy_setopt(transfer->easy, CURLOPT_VERBOSE, 0L);
    }
    if (exchange->header_complete) {
        return line.length; /* trailers */
    }
    buf_append_slice(&exchange->header, line);
    exchange->header_complete = slice_is(line, "\r\n") || slice_is(line, "\n");
    return line.length;
}

static size_t
pour(struct transfer *transfer, struct slice bytes)
{
    struct transfer_exchange *exchange = &transfer->exchange;
    const struct fetch_sink *sink = &exchange->sink;
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (transfer->ftp.spoken) {
        status = ftp_begin(transfer);
    }
    if (exchange->sunk == 0 &&
        !sink->begin(sink->context, (uint16_t)status, buf_slice(&exchange->header))) {
        return 0;
    }
    exchange->sunk += bytes.length;
    if (exchange->sunk > exchange->body_limit) {
        exchange->too_long = true;
        return 0;
    }
    return sink->take(sink->context, bytes) ? bytes.length : 0;
}

static size_t
on_body(char *data, size_t size, size_t n, void *context)
{
    struct transfer *transfer = context;
    struct transfer_exchange *exchange = &transfer->exchange;
    struct fetch_http *http = transfer->http;
    const size_t length = size * n;
    exchange->piece_ms = clock_monotonic_ms();
    if (transfer->ftp.spoken && transfer->ftp.head) {
        return length; /* libcurl's own words, once more */
    }
    if (exchange->sink.take != NULL) {
        return pour(transfer, slice_of(data, length));
    }
    const size_t room = exchange->body_limit - exchange->body.length;
    const size_t taken = length < room ? length : room;
    const size_t before = exchange->body.capacity;
    if (transfer->ftp.spoken) { /* in its own thread; what is not poured is small */
        (void)ftp_begin(transfer);
    } else if (http->memory_used + taken > http->settings.memory) {
        exchange->out_of_memory = true;
        return 0;
    }
    buf_append(&exchange->body, data, taken);
    if (!transfer->ftp.spoken) {
        fetch_http_hold(http, exchange->body.capacity - before);
    }
    if (taken < length) {
        exchange->too_long = true;
        return 0;
    }
    return length;
}

void
exchange_constants(struct transfer *transfer)
{
    CURL *easy = transfer->easy;
    buf_init(&transfer->exchange.request, REQUEST_MAXIMUM);
    buf_init(&transfer->exchange.header, transfer->http->settings.header_size);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_request);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug);
    curl_easy_setopt(easy, CURLOPT_DEBUGDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
}

void
exchange_set(struct transfer *transfer, const struct fetch_request *request)
{
    struct transfer_exchange *exchange = &transfer->exchange;
    exchange->body_limit = request->size > 0 ? request->size : transfer->http->settings.size;
    exchange->sink = request->sink != NULL ? *request->sink : (struct fetch_sink){0};
    exchange->sunk = 0;
    exchange->piece_ms = clock_monotonic_ms();
    buf_init(&exchange->body, exchange->body_limit);
}

void
exchange_reset(struct transfer *transfer)
{
    struct transfer_exchange *exchange = &transfer->exchange;
    fetch_http_let_go(transfer->http, exchange->body.capacity);
    buf_release(&exchange->body);
    buf_reset(&exchange->request);
    buf_reset(&exchange->header);
    curl_easy_setopt(transfer->easy, CURLOPT_VERBOSE, 0L);
    exchange->header_bytes = 0;
    exchange->header_complete = exchange->too_long = exchange->header_too_long = false;
    exchange->out_of_memory = exchange->sent = false;
}

void
exchange_release(struct transfer_exchange *exchange)
{
    buf_release(&exchange->request);
    buf_release(&exchange->header);
    buf_release(&exchange->body);
}
