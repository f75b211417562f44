#include "stages/skeleton/document_meta.h"

#include "warc/warc.h"

void
document_join_links(struct slice header, struct buf *links)
{
    while (header.length > 0) {
        const size_t line = slice_find(header, '\n');
        const size_t n = line < header.length ? line + 1 : line;
        const struct slice value = warc_http_header(slice_of(header.at, n), "Link");
        if (value.length > 0 && links->length + value.length + 2 <= links->maximum) {
            buf_append_string(links, links->length > 0 ? ", " : "");
            buf_append_slice(links, value);
        }
        header = slice_of(header.at + n, header.length - n);
    }
}

struct slice
document_charset(struct slice content_type)
{
    while (content_type.length > 0) {
        const size_t end = slice_find(content_type, ';');
        const struct slice part = slice_trim(slice_of(content_type.at, end));
        const size_t next = end < content_type.length ? end + 1 : end;
        content_type = slice_of(content_type.at + next, content_type.length - next);
        if (part.length > 8 && slice_equal_nocase(slice_of(part.at, 8), SLICE("charset="))) {
            struct slice value = slice_trim(slice_of(part.at + 8, part.length - 8));
            if (value.length >= 2 && value.at[0] == '"' && value.at[value.length - 1] == '"') {
                value = slice_of(value.at + 1, value.length - 2);
            }
            return value;
        }
    }
    return (struct slice){0};
}

static struct document_record
record_at(struct slice record, enum meta_field first)
{
    struct document_record where = {0};
    meta_record_text(record, first, &where.node);
    meta_record_text(record, first + 1, &where.file);
    meta_record_number(record, first + 2, &where.offset);
    meta_record_number(record, first + 3, &where.length);
    meta_record_text(record, first + 4, &where.id);
    return where;
}

static bool
has_content(struct slice record)
{
    static const char *const states[] = {"fetched", "indexed", "broken", "unknown"};
    struct slice state;
    bool has = false;
    if (meta_record_text(record, META_STATE, &state)) {
        for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
            has = has || slice_is(state, states[i]);
        }
    }
    return has;
}

struct document_record
document_response(struct slice record)
{
    return record_at(record, META_WARC_NODE);
}

bool
document_of_meta(struct slice record, struct buf *links, struct document *document)
{
    uint64_t status = 0;
    struct slice header;
    *document = (struct document){.response = record_at(record, META_WARC_NODE),
                                  .conversion = record_at(record, META_CONVERSION_NODE)};
    if (!has_content(record) || document->response.file.length == 0 ||
        !meta_record_text(record, META_DETECTED_TYPE, &document->type)) {
        return false;
    }
    buf_reset(links);
    if (meta_record_text(record, META_RESPONSE_HEADERS, &header)) {
        document_join_links(header, links);
    }
    meta_record_number(record, META_HTTP_STATUS, &status);
    meta_record_number(record, META_FETCHED, &document->fetched_ms);
    meta_record_text(record, META_CONTENT_TYPE, &document->content_type);
    document->http_status = (uint16_t)status;
    document->charset = document_charset(document->content_type);
    document->link_header = buf_slice(links);
    return true;
}
