/* Finds what pages say of the entries that they show. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/client/client_lookup.h"
#include "search/select.h"

#define RDF_TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

static struct find_entry *
end_of(const struct find_results *results, size_t from, size_t count)
{
    return results->entries + (from + count < results->count ? from + count : results->count);
}

struct describing {
    struct find_entry **entries; /* by the number of their resource in the question */
    unsigned *ranks;             /* of the properties that their titles are from */
};

/* A title by the property that is first in the list. */
static void
note(void *context, size_t resource, size_t predicate, const struct term *object)
{
    const struct describing *describing = context;
    struct find_entry *entry = describing->entries[resource];
    if (predicate == FIND_LABEL_PROPERTIES) {
        entry->type = object->value;
    } else if (predicate < describing->ranks[resource]) {
        entry->title = object->value;
        describing->ranks[resource] = (unsigned)predicate;
    }
}

/* Titles that were found by their words stay. */
static enum status
describe(const struct find_access *access, struct find_results *results, struct find_entry *first,
         const struct find_entry *end, struct reason *why)
{
    struct slice predicates[FIND_LABEL_PROPERTIES + 1];
    const size_t most = (size_t)(end - first);
    struct index_resource *resources = memory_alloc((most + 1) * sizeof *resources);
    struct describing describing = {.entries = memory_alloc((most + 1) * sizeof(void *)),
                                    .ranks = memory_zero(most + 1, sizeof(unsigned))};
    size_t count = 0;
    memcpy(predicates, find_label_properties, sizeof find_label_properties);
    predicates[FIND_LABEL_PROPERTIES] = SLICE(RDF_TYPE);
    for (struct find_entry *entry = first; entry < end; entry++) {
        if (find_is_label(entry->predicate.value)) {
            entry->title = entry->object.value;
        }
        if (entry->resource.kind == TERM_IRI) {
            describing.ranks[count] = entry->title.length > 0 ? 0 : FIND_LABEL_PROPERTIES;
            describing.entries[count] = entry;
            resources[count++] =
                (struct index_resource){entry->resource, term_iri(entry->document)};
        }
    }
    const enum status status =
        index_describe(access->index, resources, count, predicates, FIND_LABEL_PROPERTIES + 1,
                       access->timeout_ms, &results->arena, note, &describing, why);
    free(resources);
    free(describing.entries);
    free(describing.ranks);
    return status;
}

enum status
find_describe(const struct find_access *access, struct find_results *results, size_t from,
              size_t count, struct reason *why)
{
    return from >= results->count ? STATUS_OK
                                  : describe(access, results, results->entries + from,
                                             end_of(results, from, count), why);
}

/* ---- documents ---- */

static void
put_documents(struct buf *text, const struct find_entry *entry, const struct find_entry *end)
{
    for (; entry < end; entry++) {
        find_put_iri(text, entry->document);
    }
}

/* Notes documents from bindings of ?g with ?n or ?time, which are given back. */
static void
note_documents(struct find_results *results, size_t from, size_t count, json_t *bindings)
{
    struct find_entry *first = results->entries + from, *end = end_of(results, from, count);
    for (size_t i = 0; i < json_array_size(bindings); i++) {
        const json_t *binding = json_array_get(bindings, i);
        const struct slice document = find_value(binding, "g");
        const struct slice triples = find_value(binding, "n"), time = find_value(binding, "time");
        for (struct find_entry *entry = first; entry < end; entry++) {
            if (slice_equal(entry->document, document)) {
                entry->triples = triples.length > 0 ? slice_number(triples) : entry->triples;
                entry->changed =
                    time.length > 0 ? arena_copy(&results->arena, time) : entry->changed;
            }
        }
    }
    json_decref(bindings);
}

static enum status
read_times(const struct find_access *access, struct find_results *results, size_t from,
           size_t count, struct reason *why)
{
    struct buf documents;
    json_t *bindings = NULL;
    buf_init(&documents, FIND_ROW_BYTES);
    put_documents(&documents, results->entries + from, end_of(results, from, count));
    const enum status status = find_ask_times(access, buf_slice(&documents), &bindings, why);
    note_documents(results, from, count, bindings);
    buf_release(&documents);
    return status;
}

static enum status
read_sizes(const struct find_access *access, struct find_results *results, size_t from,
           size_t count, struct reason *why)
{
    struct buf text;
    json_t *bindings = NULL;
    buf_init(&text, FIND_ROW_BYTES);
    (void)buf_append_string(&text, "SELECT ?g (COUNT(*) AS ?n) { VALUES ?g {");
    put_documents(&text, results->entries + from, end_of(results, from, count));
    (void)buf_append_string(&text, " } GRAPH ?g { ?a ?b ?c } } GROUP BY ?g");
    const enum status status = find_ask(access, buf_slice(&text), &bindings, why);
    note_documents(results, from, count, bindings);
    buf_release(&text);
    return status;
}

enum status
find_describe_documents(const struct find_access *access, struct find_results *results, size_t from,
                        size_t count, struct reason *why)
{
    struct reason unknown; /* without the metadata store there are no times */
    if (from >= results->count) {
        return STATUS_OK;
    }
    TRY(read_sizes(access, results, from, count, why));
    (void)read_times(access, results, from, count, &unknown);
    return STATUS_OK;
}

static int
compare_times(const void *a, const void *b)
{
    const struct find_entry *left = a, *right = b;
    const int order = slice_compare(right->changed, left->changed);
    if (order != 0 || left->score == right->score) {
        return order != 0 ? order : slice_compare(left->document, right->document);
    }
    return left->score < right->score ? 1 : -1;
}

enum status
find_sort_by_date(const struct find_access *access, struct find_results *results,
                  struct reason *why)
{
    if (results->count == 0) {
        return STATUS_OK;
    }
    TRY(read_times(access, results, 0, results->count, why));
    qsort(results->entries, results->count, sizeof *results->entries, compare_times);
    return STATUS_OK;
}
