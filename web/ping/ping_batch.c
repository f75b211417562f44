/* The URLs of one ping. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "web/api/find.h"
#include "web/ping/indexnow.h"
#include "web/ping/ping.h"

enum { REFUSED_TOLD = 100, SCOPE_MS = 1000, PROVED_TIMES = 10, FOLDER_BYTES = 4096 };

/* Opens the scope; all shares of a cluster have the same rules. */
static enum status
open_scope(struct web_ping *ping, struct reason *why)
{
    const struct web_service *service = ping->service;
    if (!cluster_is_client(service->cluster)) {
        return scope_open(&ping->scope, service->options, service->directory, why);
    }
    const char *share = strrchr(cluster_node(service->cluster, 0)->name, '-');
    struct buf folder;
    buf_init(&folder, FOLDER_BYTES);
    buf_printf(&folder, "%s/shares/%s", service->directory, share != NULL ? share + 1 : "");
    const enum status status = scope_open(&ping->scope, service->options, folder.data, why);
    buf_release(&folder);
    return status;
}

/* With the lock. */
static enum status
look_at_scope(struct web_ping *ping, struct reason *why)
{
    const struct web_service *service = ping->service;
    const uint64_t now_ms = clock_monotonic_ms();
    if (!ping->rules_open) {
        TRY(url_rules_open(&ping->rules, service->options, why));
        ping->rules_open = true;
    }
    if (ping->scope == NULL) {
        TRY(open_scope(ping, why));
    } else if (ping->refreshed_ms + SCOPE_MS < now_ms) {
        scope_refresh(ping->scope);
        ping->refreshed_ms = now_ms;
    }
    return scope_is_said(ping->scope)
               ? STATUS_OK
               : status_fail(why, STATUS_AGAIN,
                             "Nobody has said yet where this crawl may go (quadrille scope).");
}

enum status
ping_batch_open(struct ping_batch *batch, struct web_ping *ping, struct reason *why)
{
    *batch = (struct ping_batch){.ping = ping, .refused = json_array()};
    buf_init(&batch->uris, WEB_BODY_MAXIMUM * 2);
    map_init(&batch->places);
    (void)pthread_mutex_lock(&ping->lock);
    const enum status status = look_at_scope(ping, why);
    (void)pthread_mutex_unlock(&ping->lock);
    return status;
}

void
ping_batch_release(struct ping_batch *batch)
{
    buf_release(&batch->uris);
    map_release(&batch->places);
    free(batch->hosts);
    json_decref(batch->refused);
}

enum status
ping_batch_key(struct ping_batch *batch, struct slice url, struct buf *key, struct reason *why)
{
    (void)pthread_mutex_lock(&batch->ping->lock);
    const enum status status = url_rules_key(&batch->ping->rules, url, slice_of(NULL, 0), key, why);
    (void)pthread_mutex_unlock(&batch->ping->lock);
    return status;
}

static void
refuse(struct ping_batch *batch, struct slice url, const char *reason)
{
    if (batch->refused_count++ < REFUSED_TOLD) {
        (void)json_array_append_new(batch->refused,
                                    json_pack("{s:o,s:o}", "url", find_json_text(url), "reason",
                                              find_json_text(slice_string(reason))));
    }
}

static void
count_host(struct ping_batch *batch, struct slice key)
{
    const uint64_t who = digest_local(indexnow_authority(key));
    uint32_t place = map_get(&batch->places, who);
    if (place == (uint32_t)MAP_NONE) {
        if (batch->host_count == batch->host_capacity) {
            batch->host_capacity = batch->host_capacity * 2 + 8;
            batch->hosts = memory_resize(batch->hosts, batch->host_capacity, sizeof *batch->hosts);
        }
        place = (uint32_t)batch->host_count++;
        batch->hosts[place] = (struct ping_claim){.who = who};
        map_set(&batch->places, who, place);
    }
    batch->hosts[place].n++;
}

enum status
ping_batch_add(struct ping_batch *batch, struct slice url, struct reason *why)
{
    struct buf key;
    struct reason problem = {""};
    const char *because = "";
    if (batch->count == RECEIPT_URIS_MOST) {
        return status_fail(why, STATUS_LIMIT, "a ping has at most %d URLs", RECEIPT_URIS_MOST);
    }
    buf_init(&key, 2 * URL_MAXIMUM);
    if (ping_batch_key(batch, url, &key, &problem) != STATUS_OK) {
        batch->malformed++;
        refuse(batch, url, problem.text);
        buf_release(&key);
        return STATUS_OK;
    }
    (void)pthread_mutex_lock(&batch->ping->lock);
    const bool allowed = scope_allows(batch->ping->scope, buf_slice(&key), 0, &because);
    (void)snprintf(problem.text, sizeof problem.text, "out of scope: %s", because);
    (void)pthread_mutex_unlock(&batch->ping->lock);
    if (!allowed) {
        refuse(batch, url, problem.text);
    } else {
        count_host(batch, buf_slice(&key));
        (void)buf_append_slice(&batch->uris, buf_slice(&key));
        (void)buf_append_char(&batch->uris, '\n');
        batch->count++;
    }
    buf_release(&key);
    return batch->uris.overflowed ? status_fail(why, STATUS_LIMIT, "the URLs are too long together")
                                  : STATUS_OK;
}

uint64_t
ping_batch_claim(struct ping_batch *batch, const struct ping_sender *sender, uint64_t proved)
{
    struct web_ping *ping = batch->ping;
    const uint64_t most = (uint64_t)opt_integer(ping->service->options, "web.ping_limit");
    if (sender->trusted || batch->count == 0) {
        return 0;
    }
    struct ping_claim *claims = memory_zero(batch->host_count + 1, sizeof *claims);
    size_t n = 0;
    if (proved != 0) {
        claims[n++] = (struct ping_claim){proved, PROVED_TIMES * most, batch->count};
    } else {
        claims[n++] = (struct ping_claim){sender->who, most, batch->count};
        for (size_t i = 0; i < batch->host_count; i++) {
            claims[n++] = (struct ping_claim){batch->hosts[i].who, most, batch->hosts[i].n};
        }
    }
    (void)pthread_mutex_lock(&ping->lock);
    const uint64_t wait = ping_limits_take(ping->limits, claims, n, clock_monotonic_ms());
    (void)pthread_mutex_unlock(&ping->lock);
    free(claims);
    return wait;
}
