/* An origin's number says in which set of places it may be: in place of the one that was not
 * looked for the longest. Numbers of a set lie together, so that looking for one reads little
 * memory; sets of eight lose few hosts while there are half as many as places. */
#include "stages/fetch/hosts/fetch_hosts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/url/url.h"
#include "datasets/execution.h"

enum { BYTES_MAXIMUM = 256 << 20, WAYS = 8 };

struct hosts {
    struct host *places;
    uint64_t *fingerprints; /* of their origins; 0: empty */
    size_t count, sets;
    size_t bytes;
    uint64_t clock; /* of looks */
};

struct hosts *
hosts_new(size_t places)
{
    struct hosts *hosts = memory_new(sizeof *hosts);
    hosts->sets = (places + WAYS - 1) / WAYS;
    hosts->count = hosts->sets * WAYS;
    hosts->places = memory_zero(hosts->count, sizeof *hosts->places);
    hosts->fingerprints = memory_zero(hosts->count, sizeof *hosts->fingerprints);
    return hosts;
}

static void
clear(struct hosts *hosts, struct host *host)
{
    hosts->bytes -= host->robots != NULL ? robots_size(host->robots) : 0;
    robots_free(host->robots);
    free(host->origin);
    free(host->cover);
    free(host->authorities);
    balance_free(host->balance);
    *host = (struct host){0};
    hosts->fingerprints[host - hosts->places] = 0;
}

/* Empty places are passed over, so that no page of the table is touched that holds none. */
static void
clear_all(struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        if (hosts->fingerprints[i] != 0) {
            clear(hosts, &hosts->places[i]);
        }
    }
}

void
hosts_free(struct hosts *hosts)
{
    if (hosts == NULL) {
        return;
    }
    clear_all(hosts);
    free(hosts->places);
    free(hosts->fingerprints);
    free(hosts);
}

/* NULL: it is not here. */
static struct host *
find(struct hosts *hosts, struct slice origin, uint64_t fingerprint)
{
    const size_t first = fingerprint % hosts->sets * WAYS;
    for (size_t i = first; i < first + WAYS; i++) {
        if (hosts->fingerprints[i] == fingerprint && slice_is(origin, hosts->places[i].origin)) {
            hosts->places[i].looked = ++hosts->clock;
            return &hosts->places[i];
        }
    }
    return NULL;
}

/* The one of its set that was not looked for the longest; empty ones never were. */
static struct host *
place_for(struct hosts *hosts, uint64_t fingerprint)
{
    struct host *oldest = &hosts->places[fingerprint % hosts->sets * WAYS];
    for (struct host *host = oldest + 1, *end = oldest + WAYS; host < end; host++) {
        oldest = host->looked < oldest->looked ? host : oldest;
    }
    return oldest;
}

struct host *
hosts_find(struct hosts *hosts, struct slice origin, uint64_t now_ms)
{
    struct host *host = find(hosts, origin, digest_local(origin));
    return host != NULL && host->expires_ms > now_ms ? host : NULL;
}

struct host *
hosts_put(struct hosts *hosts, struct slice origin, enum host_access access, struct robots *robots,
          uint64_t expires_ms, const char *reason)
{
    const uint64_t fingerprint = digest_local(origin);
    struct host *host = find(hosts, origin, fingerprint);
    const bool same = host != NULL;
    host = same ? host : place_for(hosts, fingerprint);
    /* All that is known of the host besides its rules stays. */
    struct host kept = {.sitemaps_depth = UINT32_MAX, .guess_depth = UINT32_MAX};
    if (same) {
        kept = *host;
        kept.void_asked = false;
        host->balance = NULL;
        host->cover = host->authorities = NULL;
    }
    clear(hosts, host);
    const size_t size = robots != NULL ? robots_size(robots) : 0;
    if (hosts->bytes + size > BYTES_MAXIMUM) {
        clear_all(hosts);
    }
    hosts->bytes += size;
    hosts->fingerprints[host - hosts->places] = fingerprint;
    *host = kept;
    host->looked = ++hosts->clock;
    host->origin = memory_string_n(origin.at, origin.length);
    host->access = access;
    host->robots = robots;
    host->expires_ms = expires_ms;
    snprintf(host->reason, sizeof host->reason, "%s", reason != NULL ? reason : "");
    return host;
}

/* ---- what a plan says ---- */

static bool
says(const char *text, struct slice other)
{
    return slice_equal(slice_string(text), other);
}

void
host_set_cover(struct host *host, struct slice cover, struct slice authorities, uint64_t now_ms)
{
    const bool calm = says(host->cover, cover) && says(host->authorities, authorities);
    host->cover_calm = !calm                                ? 0
                       : host->cover_calm < COVER_CALM_MOST ? host->cover_calm + 1
                                                            : COVER_CALM_MOST;
    free(host->cover);
    free(host->authorities);
    host->cover = cover.length > 0 ? memory_string_n(cover.at, cover.length) : NULL;
    host->authorities =
        authorities.length > 0 ? memory_string_n(authorities.at, authorities.length) : NULL;
    host->cover_read_ms = now_ms;
}

/* Returns what stands behind the longest prefix of the URL in lines of prefix and value. A word
 * that begins with "=" is a whole URL. */
static struct slice
value_of(const char *text, struct slice url)
{
    struct slice rest = slice_string(text != NULL ? text : ""), line, best = {0};
    size_t longest = 0;
    while (execution_line(&rest, &line)) {
        const struct slice word = slice_next_word(&line);
        const bool whole = word.length > 0 && word.at[0] == '=';
        const struct slice prefix = whole ? slice_of(word.at + 1, word.length - 1) : word;
        if (word.length > longest &&
            (whole ? slice_equal(url, prefix) : slice_starts(url, prefix))) {
            longest = word.length;
            best = slice_trim(line);
        }
    }
    return best;
}

struct slice
host_covering(const struct host *host, struct slice url)
{
    return value_of(host->cover, url);
}

struct slice
host_authority(const struct host *host, struct slice url)
{
    return value_of(host->authorities, url);
}

bool
host_allows(const struct host *host, struct slice url)
{
    return host->access != HOST_BY_RULES || robots_allows(host->robots, url_path_query(url));
}
