#include "cli/shared/offline_transform.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/outcome.h"
#include "base/system/file.h"
#include "stages/skeleton/resources.h"

enum { REPLY_MAXIMUM = 1 << 30, CONTEXT_MAXIMUM = 16 << 20, ROUNDS = 8, LONGEST_WAIT_MS = 100 };

struct given {
    struct slice url;
    struct buf bytes;
};

struct offline_transform {
    struct offline_settings settings;
    struct fork_server *fork_server;
    struct document_workers *workers;
    struct given given[FLAG_LIST_MAXIMUM];
    size_t given_count;
    struct buf reply;
    /* opened when a document first needs another */
    struct metastore_client *metastore;
    struct content *content;
    struct resources *resources;
};

static enum status
read_context(struct offline_transform *hand, const char *text, struct reason *why)
{
    const char *equal = strrchr(text, '=');
    if (equal == NULL || equal == text) {
        return status_fail(why, STATUS_MISUSE, "--context takes URL=FILE, not %.200s", text);
    }
    struct given *given = &hand->given[hand->given_count++];
    given->url = slice_of(text, (size_t)(equal - text));
    buf_init(&given->bytes, CONTEXT_MAXIMUM);
    return file_read(equal + 1, &given->bytes, why);
}

enum status
offline_transform_open(struct offline_transform **result, const struct offline_settings *settings,
                       struct reason *why)
{
    struct offline_transform *hand = memory_new(sizeof *hand);
    enum status status = STATUS_OK;
    hand->settings = *settings;
    hand->fork_server = fork_server_start(&document_worker_program);
    buf_init(&hand->reply, REPLY_MAXIMUM);
    for (size_t i = 0; status == STATUS_OK && settings->contexts && i < settings->contexts->count;
         i++) {
        status = read_context(hand, settings->contexts->items[i], why);
    }
    if (status == STATUS_OK) {
        status = document_workers_open(&hand->workers, hand->fork_server, settings->options,
                                       settings->directory, DOCUMENT_TRANSFORM, why);
    }
    if (status != STATUS_OK) {
        offline_transform_close(hand);
        hand = NULL;
    }
    *result = hand;
    return status;
}

void
offline_transform_close(struct offline_transform *hand)
{
    if (hand == NULL) {
        return;
    }
    document_workers_close(hand->workers);
    fork_server_close(hand->fork_server);
    resources_close(hand->resources);
    content_close(hand->content);
    metastore_client_close(hand->metastore);
    for (size_t i = 0; i < hand->given_count; i++) {
        buf_release(&hand->given[i].bytes);
    }
    buf_release(&hand->reply);
    free(hand);
}

/* ---- resources ---- */

static enum status
open_resources(struct offline_transform *hand, struct reason *why)
{
    struct cli *cli = hand->settings.cli;
    const size_t bytes = transform_resources_maximum(hand->settings.options);
    if (hand->resources != NULL) {
        return STATUS_OK;
    }
    if (cli != NULL) {
        const struct warc_limits limits = {.record = bytes + (2 << 20), .body = bytes};
        TRY(cli_serve(cli, "metastore", why));
        TRY(cli_metastore(cli, &hand->metastore, why));
        TRY(content_open(&hand->content, cli->directory, cli->cluster, &limits, why));
    }
    hand->resources = resources_open(&(struct resources_settings){
        .metastore = hand->metastore, .content = hand->content, .bytes = bytes});
    return STATUS_OK;
}

static enum status
gather(struct offline_transform *hand, struct resource_set *set, struct slice needs,
       struct reason *why)
{
    struct outcome gathered = {0};
    for (size_t i = 0; i < hand->given_count; i++) {
        resource_set_give(set, hand->given[i].url, SLICE("application/ld+json"),
                          buf_slice(&hand->given[i].bytes));
    }
    resource_set_gather(set, needs, outcome_take, &gathered);
    while (!gathered.given) {
        metastore_wait(hand->metastore, LONGEST_WAIT_MS);
    }
    TRY(outcome_status(&gathered, why));
    resource_set_give_up(set, hand->settings.cli != NULL
                                  ? "it is not in the archive; --context URL=FILE gives it by hand"
                                  : "nothing is fetched here; --context URL=FILE gives it by hand");
    return STATUS_OK;
}

enum status
offline_transform_run(struct offline_transform *hand, const struct transform_request *given,
                      struct document_outcome *outcome, bool *died, struct reason *why)
{
    struct transform_request request = *given;
    struct resource_set *set = NULL;
    enum status status = STATUS_OK;
    *died = false;
    for (unsigned round = 0; round <= ROUNDS && status == STATUS_OK; round++) {
        request.can_wait = round < ROUNDS;
        if (set != NULL) {
            request.resource_count = resource_set_list(set, &request.resources);
        }
        status = document_transform(hand->workers, &request, &hand->reply, outcome, died, why);
        if (status != STATUS_OK || outcome->state != TRANSFORM_WAITING) {
            break;
        }
        status = open_resources(hand, why);
        if (status == STATUS_OK) {
            set = set != NULL ? set : resource_set_new(hand->resources);
            status = gather(hand, set, outcome->needs, why);
        }
    }
    resource_set_free(set);
    return status;
}
