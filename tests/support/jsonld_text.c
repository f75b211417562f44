#include "tests/support/jsonld_text.h"

#include "rdf/json/json.h"
#include "rdf/jsonld/jsonld_processor.h"

static const char *const words[] = {
    [JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true"};

static void
write_quoted(struct buf *buf, struct slice text)
{
    buf_append_char(buf, '"');
    buf_append_json(buf, text);
    buf_append_char(buf, '"');
}

enum status
json_write(struct buf *buf, const struct json *node)
{
    if (node->kind < JSON_NUMBER) {
        return buf_append_string(buf, words[node->kind]);
    }
    if (node->kind == JSON_NUMBER) {
        return buf_append_slice(buf, node->text);
    }
    if (node->kind == JSON_STRING) {
        write_quoted(buf, node->text);
        return buf->overflowed ? STATUS_LIMIT : STATUS_OK;
    }
    buf_append_char(buf, node->kind == JSON_ARRAY ? '[' : '{');
    for (const struct json *child = node->first; child != NULL; child = child->next) {
        if (node->kind == JSON_OBJECT) {
            write_quoted(buf, child->key);
            buf_append_char(buf, ':');
        }
        TRY(json_write(buf, child));
        if (child->next != NULL) {
            buf_append_char(buf, ',');
        }
    }
    return buf_append_char(buf, node->kind == JSON_ARRAY ? ']' : '}');
}

static enum status
take_text(struct jsonld *jsonld, void *context, struct json *expanded)
{
    struct buf *text = context;
    (void)jsonld;
    const bool many = expanded->kind == JSON_ARRAY;
    for (const struct json *item = many ? expanded->first : expanded; item != NULL;
         item = many ? item->next : NULL) {
        buf_append_char(text, text->length == 0 ? '[' : ',');
        TRY(json_write(text, item));
    }
    return STATUS_OK;
}

enum status
jsonld_expand(struct slice bytes, const struct jsonld_options *options, struct buf *text,
              struct reason *why)
{
    buf_reset(text);
    TRY(jsonld_take(bytes, options, NULL, take_text, text, why));
    return buf_append_string(text, text->length == 0 ? "[]" : "]");
}
