#include <stdlib.h>

#include "rdf/core/writer.h"
#include "web/api/find.h"

void
find_quote(struct buf *out, struct slice text)
{
    const struct term literal = term_literal(text);
    struct buf quoted;
    buf_init(&quoted, WEB_BODY_MAXIMUM * 8);
    (void)nquads_write_term(&quoted, &literal);
    if (quoted.length >= 2) {
        (void)buf_append(out, quoted.data + 1, quoted.length - 2);
    }
    buf_release(&quoted);
}

/* ---- asking ---- */

static enum status
take_access(struct web_service *service, const struct web_query *query, bool partial,
            struct find_access *access, struct reason *why)
{
    *access = (struct find_access){
        .timeout_ms = (uint32_t)opt_duration_ms(service->options, "web.query_timeout"),
        .asker = query->client};
    TRY(web_index_take(service, &access->index, why));
    index_client_manner(access->index, partial ? INDEX_PARTIAL_WARN : INDEX_PARTIAL_ERROR,
                        &query->cancelled);
    return STATUS_OK;
}

static enum status
give_access(struct web_service *service, const struct web_query *query,
            const struct find_access *access, enum status status, struct reason *why)
{
    index_client_manner(access->index, INDEX_PARTIAL_ERROR, NULL);
    web_index_give(service, access->index, status == STATUS_OK || status == STATUS_BAD_INPUT);
    return web_query_status(query, status, why);
}

/* Reads more statements as long as there are, and they do not make enough entries for the page. */
static enum status
run_for_page(const struct find_access *access, const struct find_request *request,
             const struct find_page *page, struct find_results *results, struct reason *why)
{
    struct find_request wanted = *request;
    enum status status = find_run(access, &wanted, results, why);
    while (status == STATUS_OK && results->at_least && wanted.rows > 0 && wanted.rows < FIND_ROWS &&
           results->count < page->from + page->count) {
        wanted.rows =
            wanted.rows < FIND_ROWS / FIND_BAND_GROWTH ? FIND_BAND_GROWTH * wanted.rows : FIND_ROWS;
        find_release(results);
        status = find_run(access, &wanted, results, why);
    }
    return status;
}

enum status
find_for(struct web_service *service, const struct web_query *query,
         const struct find_request *request, const struct find_page *page, struct web_reply *reply,
         struct find_results *results, struct reason *why)
{
    struct find_access access;
    *results = (struct find_results){.count = 0};
    TRY(take_access(service, query, page->partial, &access, why));
    enum status status = run_for_page(&access, request, page, results, why);
    if (page->partial) {
        web_reply_missing(reply, access.index);
    }
    if (status == STATUS_OK && page->by_date) {
        status = find_sort_by_date(&access, results, why);
    }
    if (status == STATUS_OK) {
        status = find_describe(&access, results, page->from, page->count, why);
    }
    if (status == STATUS_OK && page->documents) {
        status = find_describe_documents(&access, results, page->from, page->count, why);
    }
    return give_access(service, query, &access, status, why);
}

enum status
find_select(struct web_service *service, const struct web_query *query, struct slice sparql,
            json_t **bindings, struct reason *why)
{
    struct find_access access;
    *bindings = NULL;
    TRY(take_access(service, query, false, &access, why));
    const enum status status = find_ask(&access, sparql, bindings, why);
    return give_access(service, query, &access, status, why);
}

/* ---- answers ---- */

json_t *
find_json_text(struct slice text)
{
    json_t *value = json_stringn(text.at != NULL ? text.at : "", text.length);
    return value != NULL ? value : json_string("");
}

void
find_put_json(struct buf *out, json_t *object, size_t flags)
{
    char *text = json_dumps(object, flags);
    (void)buf_append_string(out, text != NULL ? text : "{}");
    free(text);
    json_decref(object);
}
