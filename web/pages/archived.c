/* Shows what a document's server sent, as it is archived. It is told as plain text or given as a
 * file: nothing of it is shown as a page of ours. Who may not have the archive's files may not have
 * this. / */
#include "metastore/record.h"
#include "stages/skeleton/content.h"
#include "web/web_service.h"

enum { RECORD_BYTES = 32 << 20, ARCHIVED_BYTES = 64 << 20 };

static enum status
find_place(struct slice record, struct document_record *where, struct reason *why)
{
    *where = (struct document_record){.offset = 0};
    (void)meta_record_text(record, META_WARC_NODE, &where->node);
    (void)meta_record_text(record, META_WARC_FILE, &where->file);
    (void)meta_record_text(record, META_WARC_RECORD_ID, &where->id);
    if (where->file.length == 0 || !meta_record_number(record, META_WARC_OFFSET, &where->offset) ||
        !meta_record_number(record, META_WARC_LENGTH, &where->length)) {
        return status_fail(why, STATUS_NOT_FOUND, "nothing of it is archived");
    }
    return STATUS_OK;
}

static enum status
write_archived(struct web_service *service, struct slice record, bool file, struct web_reply *reply,
               struct reason *why)
{
    const struct warc_limits limits = {.record = ARCHIVED_BYTES, .body = ARCHIVED_BYTES};
    struct document_record where;
    struct content *content;
    struct warc_record archived;
    struct buf memory;
    TRY(find_place(record, &where, why));
    TRY(content_open(&content, service->directory, service->cluster, &limits, why));
    buf_init(&memory, 2 * (size_t)ARCHIVED_BYTES);
    const enum status status = content_read(content, &where, &memory, &archived, why);
    if (status == STATUS_OK) {
        reply->body.maximum = ARCHIVED_BYTES + WARC_HTTP_HEADER_MAXIMUM;
        (void)buf_append_slice(&reply->body, file ? archived.body : archived.http_header);
        (void)buf_append_slice(&reply->body, file ? slice_of(NULL, 0) : archived.body);
    }
    buf_release(&memory);
    content_close(content);
    return status;
}

void
web_archived(struct web_service *service, const struct web_request *request,
             struct web_reply *reply)
{
    const struct slice uri = slice_string(web_parameter(request, "uri", NULL));
    const char *as = web_parameter(request, "as", NULL);
    const bool file = as != NULL && strcmp(as, "file") == 0;
    struct buf key, record;
    struct reason why = {""};
    if (!web_gives_archive(service)) {
        web_reply_error(reply, 403, "The archive is not served here.");
        return;
    }
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    buf_init(&key, META_KEY_MAXIMUM);
    buf_init(&record, RECORD_BYTES);
    enum status status = web_document_fields(service, uri, &key, &record, &why);
    if (status == STATUS_OK) {
        status = write_archived(service, buf_slice(&record), file, reply, &why);
    }
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else {
        reply->content_type = file ? "application/octet-stream" : "text/plain; charset=utf-8";
        web_reply_header(reply, "Content-Disposition", file ? "attachment" : "inline");
    }
    buf_release(&record);
    buf_release(&key);
    web_query_give(service, query);
}
