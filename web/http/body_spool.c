#include "web/http/body_spool.h"
#include "base/system/file.h"

#include <unistd.h>

enum { MEMORY_BYTES = 1 << 20 };

void
web_spool_init(struct web_spool *spool, const char *folder, uint64_t maximum)
{
    *spool = (struct web_spool){.file = -1, .maximum = maximum, .folder = folder};
    buf_init(&spool->memory, MEMORY_BYTES);
}

void
web_spool_release(struct web_spool *spool)
{
    buf_release(&spool->memory);
    if (spool->file >= 0) {
        (void)close(spool->file);
        spool->file = -1;
    }
}

static enum status
write_all(struct web_spool *spool, struct slice bytes, struct reason *why)
{
    return file_write_all(spool->file, bytes)
               ? STATUS_OK
               : status_fail_errno(why, "cannot keep the result in %s", spool->folder);
}

static enum status
spill(struct web_spool *spool, struct reason *why)
{
    if (spool->file < 0) {
        TRY(file_open_unnamed(spool->folder, &spool->file, why));
    }
    TRY(write_all(spool, buf_slice(&spool->memory), why));
    buf_reset(&spool->memory);
    return STATUS_OK;
}

enum status
web_spool_piece(void *context, struct slice bytes, struct reason *why)
{
    struct web_spool *spool = context;
    spool->length += bytes.length;
    if (spool->length > spool->maximum) {
        return status_fail(why, STATUS_LIMIT,
                           "the result is too long to be kept until it is whole");
    }
    if (buf_append_slice(&spool->memory, bytes) == STATUS_OK) {
        return STATUS_OK;
    }
    TRY(spill(spool, why));
    return buf_append_slice(&spool->memory, bytes) == STATUS_OK ? STATUS_OK
                                                                : write_all(spool, bytes, why);
}

enum status
web_spool_finish(struct web_spool *spool, struct web_reply *reply, struct reason *why)
{
    if (spool->file < 0) {
        buf_release(&reply->body);
        reply->body = spool->memory;
        buf_init(&spool->memory, MEMORY_BYTES);
        return STATUS_OK;
    }
    TRY(spill(spool, why));
    reply->descriptor = spool->file;
    reply->offset = 0;
    reply->length = spool->length;
    spool->file = -1;
    return STATUS_OK;
}
