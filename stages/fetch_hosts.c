/* Every origin has one place, by its fingerprint; who comes later takes it over. */
#include "stages/fetch_hosts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/memory.h"

enum { BYTES_MAXIMUM = 256 << 20 };

struct hosts {
    struct host *places;
    size_t count;
    size_t bytes;
};

struct hosts *
hosts_new(size_t places)
{
    struct hosts *hosts = memory_zero(1, sizeof *hosts);
    hosts->count = places;
    hosts->places = memory_zero(places, sizeof *hosts->places);
    return hosts;
}

static void
clear(struct hosts *hosts, struct host *host)
{
    hosts->bytes -= host->robots != NULL ? robots_size(host->robots) : 0;
    robots_free(host->robots);
    free(host->origin);
    *host = (struct host){0};
}

void
hosts_free(struct hosts *hosts)
{
    if (hosts == NULL) {
        return;
    }
    for (size_t i = 0; i < hosts->count; i++) {
        clear(hosts, &hosts->places[i]);
    }
    free(hosts->places);
    free(hosts);
}

static struct host *
place_of(struct hosts *hosts, struct slice origin)
{
    return &hosts->places[fingerprint64(origin) % hosts->count];
}

struct host *
hosts_find(struct hosts *hosts, struct slice origin, uint64_t now_ms)
{
    struct host *host = place_of(hosts, origin);
    return host->origin != NULL && slice_is(origin, host->origin) && host->expires_ms > now_ms
               ? host
               : NULL;
}

struct host *
hosts_put(struct hosts *hosts, struct slice origin, enum host_access access, struct robots *robots,
          uint64_t expires_ms, const char *reason)
{
    struct host *host = place_of(hosts, origin);
    const bool same = host->origin != NULL && slice_is(origin, host->origin);
    const uint32_t sitemaps_depth = same ? host->sitemaps_depth : UINT32_MAX;
    clear(hosts, host);
    const size_t size = robots != NULL ? robots_size(robots) : 0;
    if (hosts->bytes + size > BYTES_MAXIMUM) {
        for (size_t i = 0; i < hosts->count; i++) {
            clear(hosts, &hosts->places[i]);
        }
    }
    hosts->bytes += size;
    host->origin = memory_string_n(origin.at, origin.length);
    host->access = access;
    host->robots = robots;
    host->expires_ms = expires_ms;
    host->sitemaps_depth = sitemaps_depth;
    snprintf(host->reason, sizeof host->reason, "%s", reason != NULL ? reason : "");
    return host;
}
