/* A document's bytes out of the archive, found by its metadata. */
#include "cli/shared/cli.h"
#include "stages/skeleton/content.h"

enum { RECORD_MAXIMUM = 1 << 30 };

static enum status
find(struct cli *cli, struct slice uri, struct buf *record, struct reason *why)
{
    struct metastore_client *metastore;
    struct buf key;
    TRY(cli_serve(cli, "metastore", why));
    TRY(cli_metastore(cli, &metastore, why));
    buf_init(&key, 1 << 16);
    buf_append_char(&key, 'u');
    buf_append_slice(&key, uri);
    const enum status status =
        metastore_get_wait(metastore, buf_slice(&key), record, CLI_ANSWER_MS, why);
    buf_release(&key);
    metastore_client_close(metastore);
    return status;
}

enum status
cli_archived(struct cli *cli, struct slice uri, struct buf *memory, struct slice *body,
             struct buf *content_type, struct reason *why)
{
    struct document_record where = {0};
    struct warc_record archived;
    struct content *content = NULL;
    struct buf record;
    struct slice said = {NULL, 0};
    buf_init(&record, RECORD_MAXIMUM);
    enum status status = find(cli, uri, &record, why);
    const struct slice known = buf_slice(&record);
    if (status == STATUS_OK && !meta_record_text(known, META_WARC_FILE, &where.file)) {
        status = status_fail(why, STATUS_NOT_FOUND, "%.*s is not in the archive", SLICE_PRINT(uri));
    }
    if (status == STATUS_OK) {
        const size_t most = (size_t)opt_integer(cli->options, "transform.input");
        const struct warc_limits limits = {.record = most + (2 << 20), .body = most};
        meta_record_text(known, META_WARC_NODE, &where.node);
        meta_record_number(known, META_WARC_OFFSET, &where.offset);
        meta_record_number(known, META_WARC_LENGTH, &where.length);
        status = content_open(&content, cli->directory, cli->cluster, &limits, why);
    }
    if (status == STATUS_OK) {
        status = content_read(content, &where, memory, &archived, why);
    }
    if (status == STATUS_OK && archived.body_truncated && archived.truncated.length == 0) {
        status = status_fail(why, STATUS_LIMIT, "%.*s: %.*s", SLICE_PRINT(uri),
                             SLICE_PRINT(archived.encoding_problem));
    }
    if (status == STATUS_OK) {
        *body = archived.body;
        if (content_type->length == 0 && meta_record_text(known, META_CONTENT_TYPE, &said)) {
            buf_append_slice(content_type, said);
        }
    }
    content_close(content);
    buf_release(&record);
    return status;
}
