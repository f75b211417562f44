#include "index/statistics/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/url/url.h"

void
census_init(struct census *census)
{
    *census = (struct census){0};
    term_set_init(&census->hosts);
}

void
census_release(struct census *census)
{
    predicate_sets_release(&census->sets);
    predicate_sets_release(&census->predicates);
    term_set_release(&census->hosts);
    free(census->host_counts);
    free(census->old.predicates);
    free(census->old.rows);
    free(census->new.predicates);
    free(census->new.rows);
}

/* ---- subjects ---- */

static void
add_rows(struct predicate_counts *counts, oid predicate, int64_t rows)
{
    if (counts->count > 0 && counts->predicates[counts->count - 1] == predicate) {
        counts->rows[counts->count - 1] += rows;
        return;
    }
    if (counts->count == counts->capacity) {
        counts->capacity = counts->capacity ? 2 * counts->capacity : 64;
        counts->predicates =
            memory_resize(counts->predicates, counts->capacity, sizeof(*counts->predicates));
        counts->rows = memory_resize(counts->rows, counts->capacity, sizeof(*counts->rows));
    }
    counts->predicates[counts->count] = predicate;
    counts->rows[counts->count++] = rows;
}

/* counts = old ones and changes, without predicates that have no row left. */
static void
apply_changes(struct predicate_counts *counts, const struct predicate_counts *old,
              const struct quad_change *changes, size_t count)
{
    size_t at = 0;
    counts->count = 0;
    for (size_t i = 0; at < old->count || i < count;) {
        const oid left = at < old->count ? old->predicates[at] : UINT64_MAX;
        const oid right = i < count ? changes[i].quad.predicate : UINT64_MAX;
        const oid predicate = left < right ? left : right;
        int64_t rows = left == predicate ? old->rows[at++] : 0;
        for (; i < count && changes[i].quad.predicate == predicate; i++) {
            rows += changes[i].removed ? -1 : 1;
        }
        if (rows != 0) {
            add_rows(counts, predicate, rows);
        }
    }
}

static void
add_subject(struct census *census, const struct predicate_counts *counts, int sign)
{
    if (counts->count == 0) {
        return;
    }
    struct predicate_set *set =
        predicate_sets_add(&census->sets, counts->predicates, counts->count);
    set->subjects += sign;
    for (size_t i = 0; i < counts->count; i++) {
        census->sets.rows[set->first + i] += sign * counts->rows[i];
    }
}

void
census_subject(struct census *census, const struct row *old, size_t old_count,
               const struct quad_change *changes, size_t count)
{
    census->old.count = 0;
    for (size_t i = 0; i < old_count; i++) {
        add_rows(&census->old, old[i].place[2], 1);
    }
    apply_changes(&census->new, &census->old, changes, count);
    add_subject(census, &census->old, -1);
    add_subject(census, &census->new, 1);
}

void
census_finish(struct census *census)
{
    const struct predicate_sets *sets = &census->sets;
    for (size_t i = 0; i < sets->count; i++) {
        const struct predicate_set *set = &sets->sets[i];
        for (size_t k = 0; k < set->count && set->subjects != 0; k++) {
            predicate_sets_add(&census->predicates, &sets->predicates[set->first + k], 1)
                ->subjects += set->subjects;
        }
    }
}

/* ---- hosts ---- */

/* The registrable domain of the URI's host, or the host itself when it has none. Empty when there
 * is no host or it is longer than HOST_MAXIMUM. */
static struct slice
census_host(struct slice uri)
{
    struct iri_parts parts;
    iri_split(uri, &parts);
    struct slice host = parts.authority;
    for (size_t i = host.length; i > 0; i--) {
        if (host.at[i - 1] == '@') {
            host = slice_of(host.at + i, host.length - i);
            break;
        }
    }
    const bool brackets = host.length > 0 && host.at[0] == '[';
    host.length = brackets ? slice_find(host, ']') : slice_find(host, ':');
    if (brackets && host.at + host.length < parts.authority.at + parts.authority.length) {
        host.length++;
    }
    if (host.length == 0 || host.length > HOST_MAXIMUM) {
        return SLICE("");
    }
    return url_registrable_domain(host);
}

/* Up to and with the slash after the authority. */
static struct slice
origin_of(struct slice uri)
{
    size_t slashes = 0;
    size_t n = 0;
    while (n < uri.length && slashes < 3) {
        slashes += uri.at[n++] == '/';
    }
    return slice_of(uri.at, n);
}

void
census_document(struct census *census, struct slice uri, int64_t documents, int64_t quads)
{
    const struct slice origin = origin_of(uri);
    if (census->last_uri.at == NULL || !slice_equal(origin, census->last_uri)) {
        const struct term host = term_iri(census_host(uri));
        census->last_host = term_set_add(&census->hosts, &host);
        census->last_uri = origin;
    }
    if (census->hosts.count > census->host_capacity) {
        const size_t old = census->host_capacity;
        census->host_capacity = 2 * census->hosts.count;
        census->host_counts =
            memory_resize(census->host_counts, census->host_capacity, sizeof(*census->host_counts));
        memset(census->host_counts + old, 0,
               (census->host_capacity - old) * sizeof(*census->host_counts));
    }
    census->host_counts[census->last_host].documents += documents;
    census->host_counts[census->last_host].quads += quads;
}
