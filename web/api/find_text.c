/* Text of queries, and their answers as values of JSON. */
#include <stdlib.h>

#include "base/url/url.h"
#include "rdf/core/writer.h"
#include "rdf/turtle/turtle_writer.h"
#include "web/api/find.h"

enum { ANSWER_BYTES = 16 << 20 };

static enum status
append(void *buffer, struct slice bytes, struct reason *why)
{
    const enum status status = buf_append_slice(buffer, bytes);
    return status == STATUS_OK
               ? status
               : status_fail(why, status, "the answer is longer than %d bytes", ANSWER_BYTES);
}

/* ---- names and text of queries ---- */

struct slice
find_iri(struct slice name, struct buf *memory)
{
    const size_t colon = slice_find(name, ':');
    const bool hierarchic = name.length > colon + 2 && memcmp(name.at + colon, "://", 3) == 0;
    buf_reset(memory);
    for (const struct turtle_prefix *row = turtle_prefixes; row->prefix != NULL && !hierarchic;
         row++) {
        if (slice_is(slice_of(name.at, colon), row->prefix) && colon < name.length) {
            (void)buf_printf(memory, "%s%.*s", row->iri,
                             SLICE_PRINT(slice_of(name.at + colon + 1, name.length - colon - 1)));
            return buf_slice(memory);
        }
    }
    if (name.length > 2 && name.at[0] == '<' && name.at[name.length - 1] == '>') {
        name = slice_of(name.at + 1, name.length - 2);
    }
    return iri_is_absolute(name) ? name : slice_of(NULL, 0);
}

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

/* ---- answers ---- */

enum status
find_select(struct web_service *service, const struct web_query *query, struct slice sparql,
            json_t **bindings, struct reason *why)
{
    const struct index_query_options options = {
        .timeout_ms = (uint32_t)opt_duration_ms(service->options, "web.query_timeout"),
        .client = query->client};
    struct index_client *client;
    struct buf answer;
    *bindings = NULL;
    TRY(web_index_take(service, &client, why));
    buf_init(&answer, ANSWER_BYTES);
    index_client_manner(client, INDEX_PARTIAL_ERROR, &query->cancelled);
    enum status status = index_query(client, sparql, "json", &options, append, &answer, why);
    index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
    web_index_give(service, client, status == STATUS_OK || status == STATUS_BAD_INPUT);
    if (status == STATUS_OK) {
        json_t *result = json_loadb(answer.data, answer.length, JSON_ALLOW_NUL, NULL);
        *bindings = json_incref(json_object_get(json_object_get(result, "results"), "bindings"));
        json_decref(result);
        if (*bindings == NULL) {
            status = status_fail(why, STATUS_UNSUPPORTED, "the query is no SELECT");
        }
    }
    buf_release(&answer);
    return web_query_status(query, status, why);
}

struct slice
find_value(const json_t *binding, const char *variable)
{
    const json_t *value = json_object_get(json_object_get(binding, variable), "value");
    return slice_of(json_string_value(value), json_string_length(value));
}

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
