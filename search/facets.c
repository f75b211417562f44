#include "search/facets.h"

#include <stdlib.h>

#include "base/memory.h"

enum { VALUES_MOST = 16 }; /* of a row that a kind of filter looks at */

static size_t
take_listed(const json_t *lists, struct slice key, struct slice values[VALUES_MOST])
{
    const json_t *list = json_object_getn(lists, key.at, key.length);
    size_t count = 0;
    for (; count < json_array_size(list) && count < VALUES_MOST; count++) {
        const json_t *value = json_array_get(list, count);
        values[count] = slice_of(json_string_value(value), json_string_length(value));
    }
    return count;
}

static size_t
find_values_of(const struct row_facts *facts, const struct find_row *row,
               enum find_filter_kind kind, struct slice values[VALUES_MOST])
{
    const struct quad *quad = &row->quad;
    values[0] = slice_of(NULL, 0);
    switch (kind) {
    case FILTER_CLASS:
        return quad->subject.kind == TERM_IRI
                   ? take_listed(facts->classes, quad->subject.value, values)
                   : 0;
    case FILTER_DATE:
        return take_listed(facts->times, quad->graph.value, values);
    case FILTER_PREDICATE:
        values[0] = quad->predicate.value;
        break;
    case FILTER_DOMAIN:
        values[0] = find_host(quad->graph.value);
        break;
    case FILTER_LANGUAGE:
        if (quad->object.kind == TERM_LITERAL) {
            values[0] = quad->object.language.length > 0 ? quad->object.language : SLICE("none");
        }
        break;
    }
    return values[0].length > 0;
}

static void
keep(struct find_results *results, const struct find_filters *filters,
     const struct row_facts *facts, enum find_filter_kind kind)
{
    struct slice values[VALUES_MOST];
    size_t kept = 0;
    for (size_t i = 0; i < results->row_count; i++) {
        const size_t count = find_values_of(facts, &results->rows[i], kind, values);
        if (find_filters_pass(filters, kind, values, count)) {
            results->rows[kept++] = results->rows[i];
        }
    }
    results->row_count = kept;
}

/* Those first for which nothing need be asked. */
enum status
find_filter_rows(struct find_results *results, const struct find_filters *filters,
                 struct row_facts *facts, struct reason *why)
{
    static const enum find_filter_kind order[] = {FILTER_PREDICATE, FILTER_DOMAIN, FILTER_LANGUAGE,
                                                  FILTER_CLASS, FILTER_DATE};
    for (size_t i = 0; i < FILTER_KINDS; i++) {
        if (!find_filters_have(filters, order[i]) || results->row_count == 0) {
            continue;
        }
        if (order[i] == FILTER_CLASS) {
            TRY(row_facts_read_classes(facts, results, why));
        } else if (order[i] == FILTER_DATE) {
            TRY(row_facts_read_times(facts, results, why));
        }
        keep(results, filters, facts, order[i]);
    }
    return STATUS_OK;
}

/* ---- counting ---- */

struct occurrence {
    struct slice value;
    size_t entry;
};
struct counted {
    struct slice value;
    size_t count;
};

static int
compare_occurrences(const void *a, const void *b)
{
    const struct occurrence *left = a, *right = b;
    const int order = slice_compare(left->value, right->value);
    return order != 0 ? order : (left->entry > right->entry) - (left->entry < right->entry);
}

static int
compare_counts(const void *a, const void *b)
{
    const struct counted *left = a, *right = b;
    if (left->count != right->count) {
        return left->count < right->count ? 1 : -1;
    }
    return slice_compare(left->value, right->value);
}

/* Years, months, or days: the longest steps in which not all dates are the same. */
static void
shorten_dates(struct occurrence *found, size_t count)
{
    static const size_t lengths[] = {4, 7, 10};
    size_t length = 0;
    for (size_t i = 0; i < 3; i++) {
        bool differ = false;
        length = lengths[i];
        for (size_t k = 1; k < count && !differ; k++) {
            differ = found[k].value.length >= length && found[0].value.length >= length &&
                     memcmp(found[k].value.at, found[0].value.at, length) != 0;
        }
        if (differ) {
            break;
        }
    }
    for (size_t k = 0; k < count; k++) {
        found[k].value.length = found[k].value.length < length ? found[k].value.length : length;
    }
}

static void
count_values(struct find_results *results, enum find_filter_kind kind, struct occurrence *found,
             size_t count)
{
    struct find_facet *facet = &results->facets[results->facet_count];
    struct counted *counts = memory_zero(count + 1, sizeof *counts);
    size_t values = 0;
    qsort(found, count, sizeof *found, compare_occurrences);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !slice_equal(found[i].value, found[i - 1].value)) {
            counts[values++] = (struct counted){found[i].value, 1};
        } else if (found[i].entry != found[i - 1].entry) {
            counts[values - 1].count++;
        }
    }
    qsort(counts, values, sizeof *counts, compare_counts);
    *facet = (struct find_facet){.kind = kind, .more = values > FACET_VALUES};
    for (; facet->count < values && facet->count < FACET_VALUES; facet->count++) {
        facet->values[facet->count].value = arena_copy(&results->arena, counts[facet->count].value);
        facet->values[facet->count].count = counts[facet->count].count;
    }
    results->facet_count += facet->count > 0;
    free(counts);
}

enum status
find_count_facets(struct find_results *results, struct row_facts *facts, struct reason *why)
{
    struct reason unknown; /* without the metadata store there are no times */
    if (results->count == 0) {
        return STATUS_OK;
    }
    TRY(row_facts_read_classes(facts, results, why));
    (void)row_facts_read_times(facts, results, &unknown);
    struct occurrence *found = memory_zero(results->row_count * VALUES_MOST + 1, sizeof *found);
    for (unsigned kind = 0; kind < FILTER_KINDS; kind++) {
        size_t count = 0;
        for (size_t i = 0; i < results->count; i++) {
            const struct find_entry *entry = &results->entries[i];
            for (size_t k = 0; k < entry->statements; k++) {
                struct slice values[VALUES_MOST];
                const size_t n = find_values_of(facts, &results->rows[entry->first_row + k],
                                                (enum find_filter_kind)kind, values);
                for (size_t v = 0; v < n; v++) {
                    found[count++] = (struct occurrence){values[v], i};
                }
            }
        }
        if (kind == FILTER_DATE) {
            shorten_dates(found, count);
        }
        count_values(results, (enum find_filter_kind)kind, found, count);
    }
    free(found);
    return STATUS_OK;
}
