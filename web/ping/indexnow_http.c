/* IndexNow: 200 the key is proved, 202 it is being fetched, 400, 403 it is wrong, 422 URLs of
 * another host or out of scope, 429. */
#include <string.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "web/ping/indexnow.h"
#include "web/ping/ping.h"

enum { PATIENCE_SECONDS = 60 };

struct submission {
    struct web_service *service;
    const struct web_request *request;
    struct ping_sender sender;
    struct ping_batch batch;
    struct slice host, key, location; /* host empty: that of the URL */
    struct buf key_file;
    struct web_reply *reply;
};

/* All URLs are of the host and of what the key file speaks for. False: the reply says so. */
static bool
check_hosts(const struct submission *submission)
{
    struct slice rest = buf_slice(&submission->batch.uris);
    while (rest.length > 0) {
        const struct slice uri = slice_take(&rest, '\n');
        const bool of_host = submission->host.length == 0 ||
                             slice_equal_nocase(indexnow_authority(uri), submission->host);
        if (!of_host || !indexnow_speaks_for(buf_slice(&submission->key_file), uri)) {
            web_reply_error(submission->reply, 422, "The key does not speak for %.*s.",
                            SLICE_PRINT(uri));
            return false;
        }
    }
    return true;
}

/* Durable first, then into the queue or to who waits for the key file. */
static enum status
keep(struct submission *submission, const struct key_answer *answer, char name[RECEIPT_NAME_SIZE],
     struct reason *why)
{
    struct web_service *service = submission->service;
    const bool proved = answer->proof == PROOF_GIVEN;
    const struct receipt receipt = {.time_ms = clock_wall_ms(),
                                    .way = RECEIPT_INDEXNOW,
                                    .proof = answer->proof,
                                    .sender = slice_string(submission->sender.address),
                                    .key = submission->key,
                                    .key_location = buf_slice(&submission->key_file),
                                    .uris = buf_slice(&submission->batch.uris),
                                    .count = submission->batch.count};
    TRY(web_check_part(service, "queue", why));
    if (answer->fetch) {
        TRY(key_fetch(service, receipt.key_location, why));
    }
    TRY(receipts_add(service->ping->receipts, &receipt, name, why));
    if (proved) {
        TRY(ping_put(service, receipt.uris, true, why));
    } else {
        (void)key_watch_add(service->ping->watch, name);
    }
    log_info("ping", "sender=%s urls=%zu refused=%zu receipt=%s", submission->sender.address,
             receipt.count, submission->batch.refused_count, name);
    return STATUS_OK;
}

static uint64_t
who_has(const struct submission *submission)
{
    return digest_local(buf_slice(&submission->key_file)) ^ digest_local(submission->key);
}

static void
decide(struct submission *submission)
{
    struct web_service *service = submission->service;
    struct web_reply *reply = submission->reply;
    struct key_answer answer;
    struct reason why = {""};
    char name[RECEIPT_NAME_SIZE];
    enum status status = key_proof(service, buf_slice(&submission->key_file), submission->key,
                                   clock_wall_ms(), &answer, &why);
    if (status == STATUS_OK && answer.proof == PROOF_WRONG) {
        web_reply_error(reply, 403, "The key is not valid: %s.", answer.told.text);
        return;
    }
    const bool proved = answer.proof == PROOF_GIVEN;
    if (status == STATUS_OK) {
        uint64_t wait = ping_batch_claim(&submission->batch, &submission->sender,
                                         proved ? who_has(submission) : 0);
        if (!proved && !key_watch_has_room(service->ping->watch)) {
            wait = PATIENCE_SECONDS;
        }
        if (wait > 0) {
            ping_reply_wait(reply, wait);
            return;
        }
        status = keep(submission, &answer, name, &why);
    }
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
        return;
    }
    ping_reply_taken(submission->request, &submission->batch, proved ? 200 : 202, name,
                     proved ? "yes" : "awaited", reply);
}

/* The URLs are in the batch; first: one of them, whatever the scope says. */
static void
answer(struct submission *submission, struct slice first)
{
    struct web_reply *reply = submission->reply;
    struct reason why = {""};
    struct buf url;
    buf_init(&url, 2 * URL_MAXIMUM);
    if (ping_batch_key(&submission->batch, first, &url, &why) != STATUS_OK) {
        web_reply_error(reply, 400, "%s.", why.text);
    } else if (!indexnow_key_is_valid(submission->key)) {
        web_reply_error(reply, 422, "A key has 8 to 128 letters, digits and hyphens.");
    } else if (indexnow_key_file(buf_slice(&url), submission->key, submission->location,
                                 &submission->key_file, &why) != STATUS_OK) {
        web_reply_error(reply, 422, "%s.", why.text);
    } else if (submission->batch.malformed > 0) {
        web_reply_error(reply, 400, "A URL is malformed.");
    } else if (check_hosts(submission)) {
        if (submission->batch.count == 0) {
            web_reply_error(reply, 422, "The URLs are out of scope of this crawl.");
        } else {
            decide(submission);
        }
    }
    buf_release(&url);
}

static bool
begin(struct submission *submission, struct web_service *service, const struct web_request *request,
      struct web_reply *reply)
{
    struct reason why = {""};
    *submission = (struct submission){.service = service, .request = request, .reply = reply};
    if (!ping_allowed(service, request, &submission->sender, reply)) {
        return false;
    }
    buf_init(&submission->key_file, 2 * URL_MAXIMUM);
    const enum status status = ping_batch_open(&submission->batch, service->ping, &why);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
        ping_batch_release(&submission->batch);
    }
    return status == STATUS_OK;
}

static void
end(struct submission *submission)
{
    ping_batch_release(&submission->batch);
    buf_release(&submission->key_file);
}

static void
indexnow_get(struct submission *submission)
{
    const struct web_request *request = submission->request;
    const struct slice url = slice_string(web_parameter(request, "url", NULL));
    struct reason why = {""};
    submission->key = slice_string(web_parameter(request, "key", NULL));
    submission->location = slice_string(web_parameter(request, "keyLocation", NULL));
    if (url.length == 0 || submission->key.length == 0) {
        web_reply_error(submission->reply, 400, "url and key have to be said.");
    } else if (ping_batch_add(&submission->batch, url, &why) != STATUS_OK) {
        web_reply_error(submission->reply, 400, "%s.", why.text);
    } else {
        answer(submission, url);
    }
}

static void
indexnow_post(struct submission *submission)
{
    struct indexnow_call call;
    struct reason why = {""};
    size_t i;
    const json_t *url;
    enum status status = indexnow_read(&call, submission->request->body, &why);
    if (status == STATUS_OK) {
        submission->host = call.host;
        submission->key = call.key;
        submission->location = call.location;
        json_array_foreach(call.urls, i, url)
        {
            if (status == STATUS_OK) {
                status =
                    ping_batch_add(&submission->batch, slice_string(json_string_value(url)), &why);
            }
        }
    }
    if (status != STATUS_OK) {
        web_reply_error(submission->reply, 400, "%s.", why.text);
    } else {
        answer(submission, slice_string(json_string_value(json_array_get(call.urls, 0))));
    }
    json_decref(call.json);
}

void
web_indexnow(struct web_service *service, const struct web_request *request,
             struct web_reply *reply)
{
    struct submission submission;
    if (!begin(&submission, service, request, reply)) {
        return;
    }
    (request->method == WEB_POST ? indexnow_post : indexnow_get)(&submission);
    end(&submission);
}
