/* Finds what pages say of the entries that they show. */
#include <stdlib.h>

#include "base/url/url.h"
#include "search/find_private.h"

#define RDF_TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

enum { STATEMENTS_MOST = 2000 };

static struct find_entry *
end_of(const struct find_results *results, size_t from, size_t count)
{
    return results->entries + (from + count < results->count ? from + count : results->count);
}

/* One query gives all that entries say of their resources: names and classes are picked out here,
 * since a list of properties in the query would be joined with the list of entries. */
static void
put_pairs(struct buf *text, const struct find_entry *entry, const struct find_entry *end)
{
    for (; entry < end; entry++) {
        if (entry->resource.kind == TERM_IRI && iri_is_absolute(entry->resource.value) &&
            iri_is_absolute(entry->document)) {
            (void)buf_printf(text, " (<%.*s> <%.*s>)", SLICE_PRINT(entry->document),
                             SLICE_PRINT(entry->resource.value));
        }
    }
}

static void
note(struct find_results *results, struct find_entry *entry, const struct find_entry *end,
     const json_t *binding)
{
    const struct slice document = find_value(binding, "g"), subject = find_value(binding, "s"),
                       predicate = find_value(binding, "p"), object = find_value(binding, "o");
    const bool names = find_is_label(predicate), types = slice_is(predicate, RDF_TYPE);
    for (; (names || types) && entry < end; entry++) {
        struct slice *place = names ? &entry->title : &entry->type;
        if (place->length == 0 && slice_equal(entry->document, document) &&
            slice_equal(entry->resource.value, subject)) {
            *place = arena_copy(&results->arena, object);
        }
    }
}

enum status
find_describe(const struct find_access *access, struct find_results *results, size_t from,
              size_t count, struct reason *why)
{
    struct buf text;
    json_t *bindings = NULL;
    if (from >= results->count) {
        return STATUS_OK;
    }
    struct find_entry *first = results->entries + from, *end = end_of(results, from, count);
    buf_init(&text, FIND_ROW_BYTES);
    for (struct find_entry *entry = first; entry < end; entry++) {
        if (find_is_label(entry->predicate.value)) {
            entry->title = entry->object.value;
        }
    }
    (void)buf_append_string(&text, "SELECT ?g ?s ?p ?o { VALUES (?g ?s) {");
    put_pairs(&text, first, end);
    (void)buf_printf(&text, " } GRAPH ?g { ?s ?p ?o } } LIMIT %d", STATEMENTS_MOST);
    const enum status status = find_ask(access, buf_slice(&text), &bindings, why);
    for (size_t i = 0; i < json_array_size(bindings); i++) {
        note(results, first, end, json_array_get(bindings, i));
    }
    json_decref(bindings);
    buf_release(&text);
    return status;
}

/* ---- documents ---- */

static void
put_documents(struct buf *text, const struct find_entry *entry, const struct find_entry *end)
{
    (void)buf_append_string(text, " VALUES ?g {");
    for (; entry < end; entry++) {
        find_put_iri(text, entry->document);
    }
    (void)buf_append_string(text, " }");
}

static enum status
read_documents(const struct find_access *access, struct find_results *results, size_t from,
               size_t count, const char *head, const char *pattern, struct reason *why)
{
    struct buf text;
    json_t *bindings = NULL;
    struct find_entry *first = results->entries + from, *end = end_of(results, from, count);
    buf_init(&text, FIND_ROW_BYTES);
    (void)buf_append_string(&text, head);
    put_documents(&text, first, end);
    (void)buf_append_string(&text, pattern);
    const enum status status = find_ask(access, buf_slice(&text), &bindings, why);
    for (size_t i = 0; i < json_array_size(bindings); i++) {
        const json_t *binding = json_array_get(bindings, i);
        const struct slice document = find_value(binding, "g");
        const struct slice triples = find_value(binding, "n"), time = find_value(binding, "time");
        for (struct find_entry *entry = first; entry < end; entry++) {
            if (slice_equal(entry->document, document)) {
                entry->triples = triples.length > 0 ? slice_number(triples) : entry->triples;
                entry->fetched =
                    time.length > 0 ? arena_copy(&results->arena, time) : entry->fetched;
            }
        }
    }
    json_decref(bindings);
    buf_release(&text);
    return status;
}

static enum status
read_times(const struct find_access *access, struct find_results *results, size_t from,
           size_t count, struct reason *why)
{
    return read_documents(access, results, from, count, "SELECT ?g ?time {",
                          " GRAPH <urn:x-quadrille:query#provenance> { ?g "
                          "<http://www.w3.org/ns/prov#generatedAtTime> ?time } }",
                          why);
}

enum status
find_describe_documents(const struct find_access *access, struct find_results *results, size_t from,
                        size_t count, struct reason *why)
{
    struct reason unknown; /* without the metadata store there are no times */
    if (from >= results->count) {
        return STATUS_OK;
    }
    TRY(read_documents(access, results, from, count, "SELECT ?g (COUNT(*) AS ?n) {",
                       " GRAPH ?g { ?a ?b ?c } } GROUP BY ?g", why));
    (void)read_times(access, results, from, count, &unknown);
    return STATUS_OK;
}

static int
compare_times(const void *a, const void *b)
{
    const struct find_entry *left = a, *right = b;
    const int order = slice_compare(right->fetched, left->fetched);
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
