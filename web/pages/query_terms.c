/* Completes a query while it is written: predicates and classes of the index by how often they are
 * used, and prefixes that need no declaration. The counters are those that every batch keeps exact;
 * no quad is read. */
#include <stdlib.h>

#include "base/memory.h"
#include "index/query/parser/prefixes.h"
#include "web/pages/page_terms.h"

enum { TERMS = 1000, NAME_BYTES = 16 << 10 };

static int
most_first(const void *a, const void *b)
{
    const struct index_count *const *left = a, *const *right = b;
    if ((*left)->numbers[0] != (*right)->numbers[0]) {
        return (*left)->numbers[0] > (*right)->numbers[0] ? -1 : 1;
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

/* Tells whether a term's IRI, or its name with a prefix, has the part. */
static bool
fits(struct slice iri, struct slice part, struct buf *memory)
{
    return part.length == 0 || contains_nocase(iri, part) ||
           contains_nocase(page_name(iri, memory), part);
}

static void
put_terms(struct buf *out, const char *member, const struct index_counts *counts, char kind,
          struct slice part)
{
    size_t count, found = 0;
    struct buf memory;
    const struct index_count *all = index_counts_of(counts, kind, &count);
    const struct index_count **chosen = memory_alloc((count + 1) * sizeof *chosen);
    buf_init(&memory, NAME_BYTES);
    for (size_t i = 0; i < count; i++) {
        const struct slice name = all[i].name;
        if (all[i].n > 0 && all[i].numbers[0] > 0 && name.length > 2 && name.at[0] == '<' &&
            fits(slice_of(name.at + 1, name.length - 2), part, &memory)) {
            chosen[found++] = &all[i];
        }
    }
    qsort(chosen, found, sizeof *chosen, most_first);
    (void)buf_printf(out, "\"%s\":{\"more\":%s,\"terms\":[", member,
                     found > TERMS ? "true" : "false");
    for (size_t i = 0; i < found && i < TERMS; i++) {
        (void)buf_append_string(out, i > 0 ? ",\n[\"" : "\n[\"");
        (void)buf_append_json(out, slice_of(chosen[i]->name.at + 1, chosen[i]->name.length - 2));
        (void)buf_printf(out, "\",%llu]", (unsigned long long)chosen[i]->numbers[0]);
    }
    (void)buf_append_string(out, "]}");
    free(chosen);
    buf_release(&memory);
}

static void
put_prefixes(struct buf *out)
{
    (void)buf_append_string(out, "{\"prefixes\":{");
    for (const struct known_prefix *known = known_prefixes; known->prefix != NULL; known++) {
        (void)buf_printf(out, "%s\n\"%s\":\"%s\"", known == known_prefixes ? "" : ",",
                         known->prefix, known->iri);
    }
    (void)buf_append_string(out, "},\n");
}

void
web_query_terms(struct web_service *service, const struct web_request *request,
                struct web_reply *reply)
{
    const struct slice part = slice_string(web_parameter(request, "q", NULL));
    struct buf *out = &reply->body;
    struct reason why = {""};
    struct index_client *client;
    struct index_counts *counts = NULL;
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    enum status status = web_index_take(service, &client, &why);
    if (status == STATUS_OK) {
        index_client_manner(client, INDEX_PARTIAL_ERROR, &query->cancelled);
        status = index_counts_get(client, false, &counts, &why);
        index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
        web_index_give(service, client, status == STATUS_OK);
    }
    status = web_query_status(query, status, &why);
    web_query_give(service, query);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
        return;
    }
    put_prefixes(out);
    put_terms(out, "predicates", counts, INDEX_COUNT_PREDICATE, part);
    (void)buf_append_string(out, ",\n");
    put_terms(out, "classes", counts, INDEX_COUNT_CLASS, part);
    (void)buf_append_string(out, "}\n");
    reply->content_type = "application/json";
    index_counts_free(counts);
}
