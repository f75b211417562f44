#include "metastore/archive_keep.h"

#include <stdlib.h>

#include "base/codec.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/system/log.h"
#include "metastore/protocol.h"

enum { LATEST = 1024 };

struct archive_keep {
    const char *folder;
    struct warc_writer_options options;
    struct warc_writer *writer; /* NULL: not yet, or the last one failed */
    bool full;                  /* what was appended last waits in memory for room */
    uint64_t fingerprints[LATEST];
    struct warc_location latest[LATEST]; /* a ring */
    size_t next;
};

struct archive_keep *
archive_keep_new(const char *folder, const struct warc_writer_options *options)
{
    struct archive_keep *keep = memory_new(sizeof *keep);
    keep->folder = folder;
    keep->options = *options;
    return keep;
}

/* After a failure nobody knows what of the file is on disk: what comes goes to another one, and
 * what is sent again is written again. */
static void
give_up(struct archive_keep *keep)
{
    struct reason why = {""};
    if (warc_writer_close(keep->writer, &why) != STATUS_OK) {
        log_warning("keep_failed", "reason=%s", why.text);
    }
    keep->writer = NULL;
    keep->full = false;
    for (size_t i = 0; i < LATEST; i++) {
        keep->fingerprints[i] = 0;
    }
}

void
archive_keep_free(struct archive_keep *keep)
{
    if (keep != NULL) {
        give_up(keep);
        free(keep);
    }
}

static const struct warc_location *
find(const struct archive_keep *keep, struct slice id)
{
    const uint64_t fingerprint = fingerprint64(id);
    for (size_t i = 0; i < LATEST; i++) {
        if (keep->fingerprints[i] == fingerprint && slice_is(id, keep->latest[i].id)) {
            return &keep->latest[i];
        }
    }
    return NULL;
}

static enum status
keep_one(struct archive_keep *keep, struct slice payload, struct warc_location *location,
         struct reason *why)
{
    struct codec_reader reader = codec_reader_of(payload);
    const struct slice id = codec_get_slice(&reader), member = codec_get_slice(&reader);
    if (!codec_at_end(&reader) || id.length == 0 || id.length >= WARC_ID_SIZE ||
        member.length > METASTORE_KEEP_MAXIMUM) {
        return status_fail(why, STATUS_PROTOCOL, "metastore: the keep request is malformed");
    }
    const struct warc_location *known = find(keep, id);
    if (known != NULL) {
        *location = *known;
        return STATUS_OK;
    }
    if (keep->writer == NULL) {
        TRY(warc_writer_open(&keep->writer, keep->folder, &keep->options, why));
    }
    const enum status status = warc_append_member(keep->writer, member, id, location, why);
    if (status == STATUS_OK) {
        keep->fingerprints[keep->next] = fingerprint64(id);
        keep->latest[keep->next] = *location;
        keep->next = (keep->next + 1) % LATEST;
    }
    return status == STATUS_CORRUPT ? STATUS_PROTOCOL : status;
}

static enum status
sync_all(struct archive_keep *keep, struct reason *why)
{
    const enum status status = keep->writer != NULL ? warc_sync(keep->writer, why) : STATUS_OK;
    keep->full = status == STATUS_FULL;
    return status;
}

void
archive_keep_all(struct archive_keep *keep, const struct slice *payloads, size_t n,
                 struct archive_kept *kept)
{
    struct reason why = {""};
    enum status status = keep->full ? sync_all(keep, &why) : STATUS_OK;
    bool failed = false;
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        kept[i] = (struct archive_kept){.status = STATUS_OK};
        kept[i].status = keep_one(keep, payloads[i], &kept[i].location, &kept[i].why);
        failed = failed || kept[i].status == STATUS_SYSTEM;
    }
    if (status == STATUS_OK) {
        status = sync_all(keep, &why);
    }
    for (size_t i = 0; i < n && status != STATUS_OK; i++) {
        kept[i] = (struct archive_kept){.status = status, .why = why};
    }
    if (status != STATUS_OK) {
        log_warning("keep_refused", "records=%zu reason=%s", n, why.text);
    }
    if (failed || (status != STATUS_OK && status != STATUS_FULL)) {
        give_up(keep);
    }
}
