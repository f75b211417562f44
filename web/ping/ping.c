#include "web/ping/ping.h"

#include <stdlib.h>

#include "base/memory.h"

enum { FILE_BYTES = 4 << 20, FILES = 32 };
static const uint64_t AGE_MS = 7ULL * 24 * 60 * 60 * 1000;

struct web_ping *
web_ping_open(struct web_service *service)
{
    static const struct receipts_limits limits = {
        .file_bytes = FILE_BYTES, .files = FILES, .age_ms = AGE_MS};
    struct web_ping *ping = memory_new(sizeof *ping);
    ping->service = service;
    ping->receipts = receipts_new(service->directory, &limits);
    ping->limits = ping_limits_new();
    (void)pthread_mutex_init(&ping->lock, NULL);
    ping->watch = key_watch_open(ping);
    return ping;
}

void
web_ping_close(struct web_ping *ping)
{
    if (ping == NULL) {
        return;
    }
    key_watch_close(ping->watch);
    receipts_free(ping->receipts);
    ping_limits_free(ping->limits);
    if (ping->rules_open) {
        url_rules_close(&ping->rules);
    }
    if (ping->scope != NULL) {
        scope_close(ping->scope);
    }
    (void)pthread_mutex_destroy(&ping->lock);
    free(ping);
}

bool
ping_allowed(struct web_service *service, const struct web_request *request,
             struct ping_sender *sender, struct web_reply *reply)
{
    *sender = (struct ping_sender){.trusted = web_has_token(service, request),
                                   .who = web_client(request)};
    web_address(request, sender->address, sizeof sender->address);
    if (sender->trusted) {
        return true;
    }
    if (opt_integer(service->options, "web.ping_limit") == 0) {
        web_reply_error(reply, 403, "Pings are not taken here: see web.ping_limit.");
        return false;
    }
    if (web_is_foreign(request)) {
        web_reply_error(reply, 403, "Pings are not taken from pages of other sites.");
        return false;
    }
    return true;
}
