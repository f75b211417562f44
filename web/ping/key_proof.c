/* A key file, as fetch has it: under its URI as a resource, fetched by the rules for all documents.
 */
#include <stdio.h>
#include <string.h>

#include "base/system/clock.h"
#include "base/url/url.h"
#include "stages/skeleton/content.h"
#include "stages/skeleton/document_meta.h"
#include "web/ping/indexnow.h"
#include "web/ping/ping.h"

enum { HOPS = 5, FILE_MOST = 64 << 10, KEY_BYTES = URL_MAXIMUM + 16 };
static const uint64_t GIVEN_MS = 24ULL * 60 * 60 * 1000; /* so long a proof is believed */
static const uint64_t WRONG_MS = 5ULL * 60 * 1000;       /* so long that there is none */

struct reading {
    struct web_service *service;
    struct metastore_client *metastore;
    struct buf at;     /* the key of the metadata store */
    struct buf record; /* what it has of it */
    struct key_answer *answer;
};

static void
wrong(struct reading *reading, const char *what, struct slice more)
{
    reading->answer->proof = PROOF_WRONG;
    (void)snprintf(reading->answer->told.text, sizeof reading->answer->told.text, "%s%s%.*s", what,
                   more.length > 0 ? ": " : "", SLICE_PRINT(more));
}

static void
set_at(struct reading *reading, struct slice uri)
{
    buf_reset(&reading->at);
    (void)buf_printf(&reading->at, "u%.*s%s", SLICE_PRINT(uri), RESOURCE_FRAGMENT);
}

/* The file's bytes, compared with the key. */
static enum status
compare(struct reading *reading, struct slice key, struct reason *why)
{
    const struct document_record where = document_response(buf_slice(&reading->record));
    const struct warc_limits limits = {.record = FILE_MOST + (2 << 20), .body = FILE_MOST};
    struct content *content;
    struct warc_record archived;
    struct reason problem = {""};
    struct buf memory;
    TRY(content_open(&content, reading->service->directory, reading->service->cluster, &limits,
                     why));
    buf_init(&memory, 4 * FILE_MOST + (8 << 20));
    enum status end = STATUS_OK;
    const enum status status = content_read(content, &where, &memory, &archived, &problem);
    if (status == STATUS_TIMEOUT || status == STATUS_SYSTEM || status == STATUS_UNAVAILABLE) {
        end = status_fail(why, STATUS_AGAIN, "%s", problem.text);
    } else if (status != STATUS_OK) {
        wrong(reading, "the key file cannot be read", slice_string(problem.text));
    } else if (slice_equal(slice_trim(archived.body), key)) {
        reading->answer->proof = PROOF_GIVEN;
    } else {
        wrong(reading, "the key file has another key", slice_of(NULL, 0));
    }
    buf_release(&memory);
    content_close(content);
    return end;
}

/* The record at hand is of an end of fetch. */
static enum status
judge(struct reading *reading, struct slice key, struct slice state, bool *again,
      struct reason *why)
{
    const struct slice record = buf_slice(&reading->record);
    struct slice target = {0}, reason = {0};
    (void)meta_record_text(record, META_REASON, &reason);
    if (slice_is(state, "fetched")) {
        return compare(reading, key, why);
    }
    if (!slice_is(state, "redirected") || !meta_record_text(record, META_REDIRECT_TO, &target)) {
        wrong(reading, "the key file was not had", reason.length > 0 ? reason : state);
    } else if (!slice_equal(
                   indexnow_authority(target),
                   indexnow_authority(slice_of(reading->at.data + 1, reading->at.length - 1)))) {
        wrong(reading, "the key file is redirected to another host", target);
    } else {
        set_at(reading, target);
        *again = true;
    }
    return STATUS_OK;
}

static enum status
read_on(struct reading *reading, struct slice key, uint64_t since_ms, struct reason *why)
{
    bool again = true;
    uint64_t fetched_ms = 0;
    for (unsigned hop = 0; again && hop < HOPS; hop++) {
        struct slice state = {0};
        buf_reset(&reading->record);
        const enum status status = metastore_get_wait(reading->metastore, buf_slice(&reading->at),
                                                      &reading->record, PING_ANSWER_MS, why);
        if (status == STATUS_NOT_FOUND) {
            reading->answer->fetch = hop == 0;
            return STATUS_OK;
        }
        TRY(status);
        if (!meta_record_text(buf_slice(&reading->record), META_STATE, &state)) {
            return STATUS_OK; /* it is tried again */
        }
        if (hop == 0) {
            (void)meta_record_number(buf_slice(&reading->record), META_FETCHED, &fetched_ms);
        }
        again = false;
        TRY(judge(reading, key, state, &again, why));
    }
    if (again) {
        wrong(reading, "the key file is redirected too often", slice_of(NULL, 0));
    }
    const uint64_t fresh_ms = reading->answer->proof == PROOF_GIVEN ? GIVEN_MS : WRONG_MS;
    if (fetched_ms + fresh_ms < since_ms) {
        *reading->answer = (struct key_answer){.proof = PROOF_AWAITED, .fetch = true};
    }
    return STATUS_OK;
}

enum status
key_proof(struct web_service *service, struct slice key_file, struct slice key, uint64_t since_ms,
          struct key_answer *answer, struct reason *why)
{
    struct reading reading = {.service = service, .answer = answer};
    *answer = (struct key_answer){.proof = PROOF_AWAITED};
    TRY(web_metastore_open(service, &reading.metastore, why));
    buf_init(&reading.at, KEY_BYTES);
    buf_init(&reading.record, PING_RECORD_BYTES);
    set_at(&reading, key_file);
    const enum status status = read_on(&reading, key, since_ms, why);
    buf_release(&reading.at);
    buf_release(&reading.record);
    metastore_client_close(reading.metastore);
    return status;
}

enum status
key_fetch(struct web_service *service, struct slice key_file, struct reason *why)
{
    struct buf uri;
    buf_init(&uri, KEY_BYTES);
    (void)buf_append_slice(&uri, key_file);
    (void)buf_append_string(&uri, RESOURCE_FRAGMENT);
    const struct job job = {.key.stage = STAGE_FETCH,
                            .uri = buf_slice(&uri),
                            .lane_name = url_origin(key_file),
                            .priority = 100,
                            .flags = JOB_RESOURCE | JOB_RECRAWL};
    const enum status status =
        uri.overflowed ? status_fail(why, STATUS_BAD_INPUT, "the URL of the key file is too long")
                       : ping_put_jobs(service, &job, 1, why);
    buf_release(&uri);
    return status;
}
