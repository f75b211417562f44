/* Part of verifying: hosts, sets of predicates and subjects counted anew, from documents and rows.
 *
 * Sets that the partition holds are counted in a table of the same sets, the others only by the
 * subjects they have together, so memory is bounded by the former; predicates by the subjects that
 * have them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/partition_private.h"

enum { LINE_SIZE = 400, ROWS_AT_ONCE = 1024 };

struct recount {
    struct partition *partition;
    struct partition_reader *reader;
    statistics_say *say;
    void *context;
    struct predicate_sets held;       /* recounted */
    struct predicate_sets predicates; /* sets of one */
    struct census hosts;              /* only those */
    struct arena arena;
    oid *distinct; /* predicates of the subject at hand, and their rows */
    int64_t *counts;
    size_t count, capacity;
    uint64_t subjects, large, other;
};

__attribute__((format(printf, 4, 5))) static enum status
tell(const struct recount *r, bool wrong, struct reason *why, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    return r->say(r->context, wrong, line, why);
}

/* ---- subjects ---- */

static void
end_subject(struct recount *r)
{
    const int64_t *stored;
    if (r->count == 0) {
        return;
    }
    r->subjects++;
    for (size_t i = 0; i < r->count; i++) {
        predicate_sets_add(&r->predicates, &r->distinct[i], 1)->subjects++;
    }
    if (r->count > SET_PREDICATES_MOST) {
        r->large++;
    } else if (characteristic_sets_held(r->partition->sets, r->distinct, r->count, &stored)) {
        struct predicate_set *set = predicate_sets_add(&r->held, r->distinct, r->count);
        set->subjects++;
        for (size_t i = 0; i < r->count; i++) {
            r->held.rows[set->first + i] += r->counts[i];
        }
    } else {
        r->other++;
    }
    r->count = 0;
}

static void
take_row(struct recount *r, const struct quad_oids *row)
{
    if (r->count > 0 && r->distinct[r->count - 1] == row->predicate) {
        r->counts[r->count - 1]++;
        return;
    }
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 64;
        r->distinct = memory_resize(r->distinct, r->capacity, sizeof(*r->distinct));
        r->counts = memory_resize(r->counts, r->capacity, sizeof(*r->counts));
    }
    r->distinct[r->count] = row->predicate;
    r->counts[r->count++] = 1;
}

static enum status
count_subjects(struct recount *r, struct reason *why)
{
    const struct quad_source *source = partition_reader_source(r->reader);
    const struct quad_oids all = {0};
    struct quad_oids rows[ROWS_AT_ONCE];
    struct quad_oids last = {0};
    struct quad_scan *scan;
    TRY(source->scan(source->context, &all, ORDER_CSPO, &scan, why));
    enum status status = STATUS_OK;
    for (size_t n = 1; n > 0 && status == STATUS_OK;) {
        status = source->scan_next(scan, rows, ROWS_AT_ONCE, &n, why);
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            if (rows[i].graph != last.graph || rows[i].subject != last.subject) {
                end_subject(r);
                last = rows[i];
            }
            take_row(r, &rows[i]);
        }
    }
    end_subject(r);
    source->scan_close(scan);
    return status;
}

static enum status
compare_sets(const struct recount *r, struct reason *why)
{
    struct predicate_sets stored;
    struct characteristic_totals totals;
    characteristic_sets_totals(r->partition->sets, &totals);
    characteristic_sets_copy(r->partition->sets, &stored);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < stored.count && status == STATUS_OK; i++) {
        const struct predicate_set *set = &stored.sets[i];
        const struct predicate_set *counted =
            predicate_sets_find(&r->held, stored.predicates + set->first, set->count);
        if (counted == NULL || counted->subjects != set->subjects ||
            memcmp(r->held.rows + counted->first, stored.rows + set->first,
                   set->count * sizeof(*stored.rows)) != 0) {
            status = tell(r, true, why,
                          "a set of %zu predicates has %" PRId64 " subjects or other rows, "
                          "counted %" PRId64,
                          set->count, counted ? counted->subjects : 0, set->subjects);
        }
    }
    if (status == STATUS_OK && r->held.count != stored.count) {
        status = tell(r, true, why, "%zu sets of predicates have subjects, counted %zu",
                      r->held.count, stored.count);
    }
    predicate_sets_release(&stored);
    TRY(status);
    if (r->subjects != totals.subjects || r->large != totals.large || r->other != totals.other) {
        return tell(r, true, why,
                    "%" PRIu64 " subjects, %" PRIu64 " and %" PRIu64 " of them in no set held; "
                    "counted %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                    r->subjects, r->large, r->other, totals.subjects, totals.large, totals.other);
    }
    return STATUS_OK;
}

static enum status
compare_predicates(const struct recount *r, struct reason *why)
{
    for (size_t i = 0; i < r->predicates.count; i++) {
        const struct predicate_set *set = &r->predicates.sets[i];
        const oid predicate = r->predicates.predicates[set->first];
        struct statistic_count stored;
        TRY(statistics_count(r->partition->statistics, STATISTIC_PREDICATE, predicate, &stored,
                             why));
        if (stored.subjects != (uint64_t)set->subjects) {
            TRY(tell(r, true, why,
                     "%" PRId64 " subjects have predicate %" PRIu64 ", counted %" PRIu64,
                     set->subjects, oid_number(predicate), stored.subjects));
        }
    }
    return STATUS_OK;
}

/* ---- hosts ---- */

static enum status
count_hosts(struct recount *r, struct reason *why)
{
    const struct quad_source *source = partition_reader_source(r->reader);
    struct document_entry entry;
    oid graph = OID_NONE;
    enum status status;
    while ((status = partition_reader_document(r->reader, &graph, &entry, why)) == STATUS_OK) {
        struct term uri;
        TRY(source->resolve(source->context, graph, &r->arena, &uri, why));
        census_document(&r->hosts, uri.value, !entry.removed, (int64_t)entry.quads);
        r->hosts.last_uri = slice_of(NULL, 0);
        arena_reset(&r->arena);
        graph++;
    }
    return status == STATUS_END ? STATUS_OK : status;
}

static enum status
compare_hosts(const struct recount *r, uint64_t *hosts, struct reason *why)
{
    struct host_entry entry = {.length = 0};
    uint64_t counted = 0;
    enum status status;
    for (size_t i = 0; i < r->hosts.hosts.count; i++) {
        counted += r->hosts.host_counts[i].documents != 0 || r->hosts.host_counts[i].quads != 0;
    }
    *hosts = 0;
    while ((status = statistics_next_host(r->partition->statistics, *hosts == 0, &entry, why)) ==
           STATUS_OK) {
        const struct term name = term_iri(slice_of((const char *)entry.name, entry.length));
        const struct set_term *found = term_set_find(&r->hosts.hosts, &name, term_hash(&name));
        const struct host_count *count =
            found ? &r->hosts.host_counts[found - r->hosts.hosts.terms] : NULL;
        ++*hosts;
        if (count == NULL || (uint64_t)count->documents != entry.documents ||
            (uint64_t)count->quads != entry.quads) {
            TRY(tell(r, true, why,
                     "host %.*s has %" PRId64 " documents, %" PRId64 " quads, counted %" PRIu64
                     ", %" PRIu64,
                     SLICE_PRINT(name.value), count ? count->documents : 0,
                     count ? count->quads : 0, entry.documents, entry.quads));
        }
    }
    if (status == STATUS_END && counted != *hosts) {
        return tell(r, true, why, "%" PRIu64 " hosts, counted %" PRIu64, counted, *hosts);
    }
    return status == STATUS_END ? STATUS_OK : status;
}

enum status
statistics_check(struct partition *partition, struct partition_reader *reader, statistics_say *say,
                 void *context, struct reason *why)
{
    struct recount r = {.partition = partition, .reader = reader, .say = say, .context = context};
    uint64_t hosts = 0;
    census_init(&r.hosts);
    arena_init(&r.arena, 0);
    enum status status = count_subjects(&r, why);
    if (status == STATUS_OK) {
        status = compare_sets(&r, why);
    }
    if (status == STATUS_OK) {
        status = compare_predicates(&r, why);
    }
    if (status == STATUS_OK) {
        status = count_hosts(&r, why);
    }
    if (status == STATUS_OK) {
        status = compare_hosts(&r, &hosts, why);
    }
    if (status == STATUS_OK) {
        status = tell(&r, false, why,
                      "statistics: %" PRIu64 " hosts; %" PRIu64 " subjects in %zu sets of "
                      "predicates",
                      hosts, r.subjects, r.held.count);
    }
    predicate_sets_release(&r.held);
    predicate_sets_release(&r.predicates);
    census_release(&r.hosts);
    arena_release(&r.arena);
    free(r.distinct);
    free(r.counts);
    return status;
}
