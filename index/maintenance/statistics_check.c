#include "index/maintenance/statistics_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 400 };

struct comparison {
    struct partition *partition;
    const struct census *census;
    statistics_say *say;
    void *context;
    uint64_t hosts, subjects, sets;
};

__attribute__((format(printf, 4, 5))) static enum status
say_difference(const struct comparison *r, bool wrong, struct reason *why, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    return r->say(r->context, wrong, line, why);
}

/* ---- subjects ---- */

/* Sets that are held have the subjects counted; the others are counted together. */
static enum status
compare_sets_with(struct comparison *r, const struct predicate_sets *stored, struct reason *why)
{
    const struct predicate_sets *counted = &r->census->sets;
    struct characteristic_totals totals;
    uint64_t large = 0, other = 0;
    characteristic_sets_totals(r->partition->sets, &totals);
    for (size_t i = 0; i < counted->count; i++) {
        const struct predicate_set *set = &counted->sets[i];
        if (set->subjects == 0) {
            continue;
        }
        r->subjects += (uint64_t)set->subjects;
        const oid *predicates = counted->predicates + set->first;
        const struct predicate_set *held = predicate_sets_find(stored, predicates, set->count);
        if (set->count > SET_PREDICATES_MOST) {
            large += (uint64_t)set->subjects;
        } else if (held == NULL) {
            other += (uint64_t)set->subjects;
        } else {
            r->sets++;
            if (held->subjects != set->subjects ||
                memcmp(counted->rows + set->first, stored->rows + held->first,
                       set->count * sizeof(*stored->rows)) != 0) {
                TRY(say_difference(r, true, why,
                                   "a set of %zu predicates has %" PRId64
                                   " subjects or other rows, "
                                   "counted %" PRId64,
                                   set->count, set->subjects, held->subjects));
            }
        }
    }
    if (r->sets != stored->count) {
        TRY(say_difference(r, true, why,
                           "%" PRIu64 " sets of predicates have subjects, counted %zu", r->sets,
                           stored->count));
    }
    if (r->subjects != totals.subjects || large != totals.large || other != totals.other) {
        return say_difference(
            r, true, why,
            "%" PRIu64 " subjects, %" PRIu64 " and %" PRIu64 " of them in no set held; "
            "counted %" PRIu64 ", %" PRIu64 ", %" PRIu64,
            r->subjects, large, other, totals.subjects, totals.large, totals.other);
    }
    return STATUS_OK;
}

static enum status
compare_sets(struct comparison *r, struct reason *why)
{
    struct predicate_sets stored;
    characteristic_sets_copy(r->partition->sets, &stored);
    const enum status status = compare_sets_with(r, &stored, why);
    predicate_sets_release(&stored);
    return status;
}

static enum status
compare_predicates(const struct comparison *r, struct reason *why)
{
    for (size_t i = 0; i < r->census->predicates.count; i++) {
        const struct predicate_set *set = &r->census->predicates.sets[i];
        const oid predicate = r->census->predicates.predicates[set->first];
        struct statistic_count stored;
        TRY(statistics_count(r->partition->statistics, STATISTIC_PREDICATE, predicate, &stored,
                             why));
        if (stored.subjects != (uint64_t)set->subjects) {
            TRY(say_difference(r, true, why,
                               "%" PRId64 " subjects have predicate %" PRIu64 ", counted %" PRIu64,
                               set->subjects, oid_number(predicate), stored.subjects));
        }
    }
    return STATUS_OK;
}

/* ---- hosts ---- */

static enum status
compare_hosts(struct comparison *r, struct reason *why)
{
    struct host_entry entry = {.length = 0};
    uint64_t counted = 0;
    enum status status;
    for (size_t i = 0; i < r->census->hosts.count; i++) {
        counted += r->census->host_counts[i].documents != 0 || r->census->host_counts[i].quads != 0;
    }
    while ((status = statistics_next_host(r->partition->statistics, r->hosts == 0, &entry, why)) ==
           STATUS_OK) {
        const struct term name = term_iri(slice_of((const char *)entry.name, entry.length));
        const struct set_term *found = term_set_find(&r->census->hosts, &name, term_hash(&name));
        const struct host_count *count =
            found ? &r->census->host_counts[found - r->census->hosts.terms] : NULL;
        r->hosts++;
        if (count == NULL || (uint64_t)count->documents != entry.documents ||
            (uint64_t)count->quads != entry.quads) {
            TRY(say_difference(r, true, why,
                               "host %.*s has %" PRId64 " documents, %" PRId64
                               " quads, counted %" PRIu64 ", %" PRIu64,
                               SLICE_PRINT(name.value), count ? count->documents : 0,
                               count ? count->quads : 0, entry.documents, entry.quads));
        }
    }
    if (status == STATUS_END && counted != r->hosts) {
        return say_difference(r, true, why, "%" PRIu64 " hosts, counted %" PRIu64, counted,
                              r->hosts);
    }
    return status == STATUS_END ? STATUS_OK : status;
}

enum status
statistics_compare(struct partition *partition, const struct census *census, statistics_say *say,
                   void *context, struct reason *why)
{
    struct comparison r = {partition, census, say, context, 0, 0, 0};
    TRY(compare_sets(&r, why));
    TRY(compare_predicates(&r, why));
    TRY(compare_hosts(&r, why));
    return say_difference(&r, false, why,
                          "statistics: %" PRIu64 " hosts; %" PRIu64 " subjects in %" PRIu64
                          " sets of "
                          "predicates",
                          r.hosts, r.subjects, r.sets);
}
