/* Suggestions while typing, properties of classes, and previews, of the Reconciliation Service API.
 */
#include <stdlib.h>

#include "base/ascii.h"
#include "base/url/url.h"
#include "web/api/reconcile.h"
#include "web/html.h"

enum { TEXT_BYTES = 1 << 20, SUGGESTIONS = 10 };

static void
suggest_entities(struct web_service *service, const struct web_query *place, struct slice prefix,
                 json_t *result, enum status *status, struct reason *why)
{
    struct buf words;
    struct find_results results;
    buf_init(&words, TEXT_BYTES);
    for (size_t i = 0; i < prefix.length; i++) {
        const char c = prefix.at[i];
        const bool sign = (unsigned char)c < 0x80 && !ascii_is_letter(c) && !(c >= '0' && c <= '9');
        (void)buf_append_char(&words, sign ? ' ' : c);
    }
    while (words.length > 0 && words.data[words.length - 1] == ' ') {
        words.length--;
    }
    (void)buf_append_string(&words, words.length > 0 ? "*" : "");
    const struct find_request request = {.text = buf_slice(&words), .group = FIND_BY_RESOURCE};
    const struct find_page page = {.count = SUGGESTIONS};
    *status = find_for(service, place, &request, &page, NULL, &results, why);
    for (size_t i = 0; *status == STATUS_OK && i < results.count && i < SUGGESTIONS; i++) {
        const struct find_entry *entry = &results.entries[i];
        if (entry->resource.kind == TERM_IRI) {
            const struct slice name = entry->title.length > 0 ? entry->title : entry->object.value;
            (void)json_array_append_new(
                result,
                json_pack("{s:o,s:o,s:o}", "id", find_json_text(entry->resource.value), "name",
                          find_json_text(name), "description", find_json_text(entry->document)));
        }
    }
    find_release(&results);
    buf_release(&words);
}

static int
compare_counts(const void *a, const void *b)
{
    const struct index_count *const *left = a, *const *right = b;
    if ((*left)->numbers[0] != (*right)->numbers[0]) {
        return (*left)->numbers[0] < (*right)->numbers[0] ? 1 : -1;
    }
    return slice_compare((*left)->name, (*right)->name);
}

static bool
contains_nocase(struct slice text, struct slice part)
{
    for (size_t i = 0; i + part.length <= text.length; i++) {
        if (slice_equal_nocase(slice_of(text.at + i, part.length), part)) {
            return true;
        }
    }
    return false;
}

/* Classes or properties by a part of their names, the most used first. */
static enum status
suggest_names(struct web_service *service, char kind, struct slice prefix, json_t *result,
              struct reason *why)
{
    struct index_client *client;
    struct index_counts *counts = NULL;
    size_t count = 0, found = 0;
    TRY(web_index_take(service, &client, why));
    const enum status status = index_counts_get(client, false, &counts, why);
    web_index_give(service, client, status == STATUS_OK);
    TRY(status);
    const struct index_count *all = index_counts_of(counts, kind, &count);
    const struct index_count **chosen = calloc(count + 1, sizeof(struct index_count *));
    for (size_t i = 0; i < count && chosen != NULL; i++) {
        if (all[i].n > 0 && all[i].name.length > 2 && contains_nocase(all[i].name, prefix)) {
            chosen[found++] = &all[i];
        }
    }
    if (found > 0) {
        qsort(chosen, found, sizeof(struct index_count *), compare_counts);
    }
    for (size_t i = 0; i < found && i < SUGGESTIONS; i++) {
        const struct slice iri = slice_of(chosen[i]->name.at + 1, chosen[i]->name.length - 2);
        (void)json_array_append_new(result,
                                    json_pack("{s:o,s:o,s:o}", "id", find_json_text(iri), "name",
                                              find_json_text(reconcile_local_name(iri)),
                                              "description", find_json_text(iri)));
    }
    free(chosen);
    index_counts_free(counts);
    return STATUS_OK;
}

void
web_reconcile_suggest(struct web_service *service, const struct web_request *request,
                      struct web_reply *reply)
{
    const struct slice prefix = slice_string(web_parameter(request, "prefix", NULL));
    const char *kind = strrchr(request->path, '/');
    struct reason why = {""};
    enum status status = STATUS_OK;
    struct web_query *place = web_query_take(service, request, reply);
    if (place == NULL) {
        return;
    }
    json_t *result = json_array();
    if (strcmp(kind, "/entity") == 0) {
        suggest_entities(service, place, prefix, result, &status, &why);
    } else {
        const bool types = strcmp(kind, "/type") == 0;
        status = suggest_names(service, types ? INDEX_COUNT_CLASS : INDEX_COUNT_PREDICATE, prefix,
                               result, &why);
    }
    web_query_give(service, place);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else {
        reconcile_reply(reply, json_pack("{s:O}", "result", result));
    }
    json_decref(result);
}

/* The properties that resources of a class have, the most used first. */
void
web_reconcile_properties(struct web_service *service, const struct web_request *request,
                         struct web_reply *reply)
{
    const struct slice type = slice_string(web_parameter(request, "type", NULL));
    const char *limit = web_parameter(request, "limit", NULL);
    struct reason why = {""};
    struct buf text, memory;
    json_t *bindings = NULL, *properties = json_array();
    buf_init(&text, TEXT_BYTES);
    buf_init(&memory, URL_MAXIMUM);
    const struct slice iri = find_iri(type, &memory);
    struct web_query *place = NULL;
    if (iri.length == 0 || !iri_is_absolute(iri)) {
        web_reply_error(reply, 400, "type is no IRI.");
    } else {
        place = web_query_take(service, request, reply);
    }
    if (place != NULL) {
        const uint64_t wanted = limit != NULL ? slice_number(slice_string(limit)) : SUGGESTIONS;
        (void)buf_printf(&text,
                         "SELECT ?p (COUNT(*) AS ?n) { ?s a <%.*s> ; ?p ?o } GROUP BY ?p "
                         "ORDER BY DESC(?n) ?p LIMIT %u",
                         SLICE_PRINT(iri),
                         wanted > 0 && wanted < RECONCILE_LIMIT_MOST ? (unsigned)wanted
                                                                     : RECONCILE_LIMIT_MOST);
        const enum status status = find_select(service, place, buf_slice(&text), &bindings, &why);
        web_query_give(service, place);
        for (size_t i = 0; i < json_array_size(bindings); i++) {
            const struct slice found = find_value(json_array_get(bindings, i), "p");
            (void)json_array_append_new(properties,
                                        json_pack("{s:o,s:o}", "id", find_json_text(found), "name",
                                                  find_json_text(reconcile_local_name(found))));
        }
        if (status != STATUS_OK) {
            web_reply_failure(reply, status, &why);
        } else {
            reconcile_reply(reply, json_pack("{s:o,s:O}", "type", find_json_text(iri), "properties",
                                             properties));
        }
    }
    json_decref(properties);
    json_decref(bindings);
    buf_release(&text);
    buf_release(&memory);
}

/* ---- preview: a page that others show in a frame ---- */

void
web_reconcile_preview(struct web_service *service, const struct web_request *request,
                      struct web_reply *reply)
{
    const struct slice id = slice_string(web_parameter(request, "id", NULL));
    struct reason why = {""};
    struct buf text;
    json_t *bindings = NULL;
    if (!iri_is_absolute(id)) {
        web_reply_error(reply, 400, "id is no IRI.");
        return;
    }
    struct web_query *place = web_query_take(service, request, reply);
    if (place == NULL) {
        return;
    }
    buf_init(&text, TEXT_BYTES);
    (void)buf_printf(&text, "SELECT DISTINCT ?p ?o { <%.*s> ?p ?o FILTER(!isBlank(?o)) } LIMIT 12",
                     SLICE_PRINT(id));
    const enum status status = find_select(service, place, buf_slice(&text), &bindings, &why);
    web_query_give(service, place);
    buf_release(&text);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
        return;
    }
    struct buf *out = &reply->body;
    reply->framed = true;
    html_begin_bare(out, "Preview");
    (void)buf_append_string(out, "<p>");
    html_iri(out, id);
    (void)buf_append_string(out, "</p><table>");
    for (size_t i = 0; i < json_array_size(bindings); i++) {
        const json_t *binding = json_array_get(bindings, i);
        (void)buf_append_string(out, "<tr><td>");
        html_text(out, reconcile_local_name(find_value(binding, "p")));
        (void)buf_append_string(out, "</td><td>");
        const struct slice value = find_value(binding, "o");
        html_text(out, slice_of(value.at, value.length < 200 ? value.length : 200));
        (void)buf_append_string(out, "</td></tr>\n");
    }
    (void)buf_append_string(out, "</table>\n");
    html_end(out);
    json_decref(bindings);
}
