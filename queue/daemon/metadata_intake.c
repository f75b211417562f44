#include "queue/daemon/metadata_intake.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/log.h"
#include "metastore/metastore_client.h"

struct waiting {
    struct metadata_intake *intake;
    struct waiting *next;
    struct rpc_request *request;
};

struct metadata_intake {
    char *endpoint;
    struct metastore_client *store; /* opened at first need */
    struct waiting *first;
    metadata_taken *taken;
    void *context;
};

struct metadata_intake *
metadata_intake_new(const char *endpoint, metadata_taken *taken, void *context)
{
    struct metadata_intake *intake = memory_zero(1, sizeof *intake);
    intake->endpoint = endpoint != NULL ? memory_string(endpoint) : NULL;
    intake->taken = taken;
    intake->context = context;
    return intake;
}

void
metadata_intake_free(struct metadata_intake *intake)
{
    if (intake == NULL) {
        return;
    }
    metastore_client_close(intake->store);
    free(intake->endpoint);
    free(intake);
}

static enum status
open_store(struct metadata_intake *intake, struct reason *why)
{
    if (intake->store != NULL) {
        return STATUS_OK;
    }
    if (intake->endpoint == NULL) {
        return status_fail(why, STATUS_MISUSE, "this node has no metadata store");
    }
    const char *const endpoints[] = {intake->endpoint};
    const struct metastore_client_options options = {
        .endpoints = endpoints, .endpoint_count = 1, .name = "queue"};
    return metastore_client_open(&intake->store, &options, why);
}

static void
put_done(void *context, enum status status, const struct reason *why)
{
    struct waiting *waiting = context;
    struct metadata_intake *intake = waiting->intake;
    struct waiting **at = &intake->first;
    while (*at != waiting) {
        at = &(*at)->next;
    }
    *at = waiting->next;
    intake->taken(intake->context, waiting->request, status, why);
    free(waiting);
}

/* Malformed ones are dropped, since their sender would send them for ever. */
static size_t
puts_of(const struct broker_metadata *list, size_t n, struct meta_put *puts)
{
    size_t good = 0;
    for (size_t i = 0; i < n; i++) {
        if (meta_key_valid(list[i].key) && meta_update_valid(list[i].fields)) {
            puts[good++] = (struct meta_put){list[i].key, list[i].fields};
        } else {
            log_error("metadata_malformed", "key=%.*s", SLICE_PRINT(list[i].key));
        }
    }
    return good;
}

/* Whether it is under way already: then the answer goes to whoever asks now. */
static bool
replace(struct metadata_intake *intake, struct rpc_request *request)
{
    for (struct waiting *waiting = intake->first; waiting != NULL; waiting = waiting->next) {
        struct rpc_request *older = waiting->request;
        if (older->id == request->id && older->incarnation == request->incarnation &&
            slice_equal(older->client, request->client)) {
            const struct rpc_request kept = *older;
            *older = *request;
            *request = kept;
            return true;
        }
    }
    return false;
}

bool
metadata_intake_hold(struct metadata_intake *intake, struct broker *broker,
                     struct rpc_request *request)
{
    struct broker_metadata *list;
    struct buf bytes;
    struct reason why = {""};
    if (replace(intake, request)) {
        rpc_request_drop(request);
        free(request);
        return true;
    }
    buf_init(&bytes, (size_t)16 << 20);
    const size_t n = broker_metadata_of(broker, request->verb, request->payload, &list, &bytes);
    struct meta_put *puts = memory_zero(n + 1, sizeof *puts);
    const size_t good = puts_of(list, n, puts);
    const enum status status = good > 0 ? open_store(intake, &why) : STATUS_OK;
    if (status != STATUS_OK) {
        intake->taken(intake->context, request, status, &why);
    } else if (good > 0) {
        struct waiting *waiting = memory_zero(1, sizeof *waiting);
        *waiting = (struct waiting){.intake = intake, .next = intake->first, .request = request};
        intake->first = waiting;
        metastore_put(intake->store, puts, good, put_done, waiting);
    }
    free(puts);
    free(list);
    buf_release(&bytes);
    return good > 0;
}

bool
metadata_intake_holds(const struct metadata_intake *intake, uint8_t verb)
{
    const struct waiting *waiting = intake->first;
    while (waiting != NULL && waiting->request->verb != verb) {
        waiting = waiting->next;
    }
    return waiting != NULL;
}

void
metadata_intake_process(struct metadata_intake *intake)
{
    if (intake->store != NULL) {
        metastore_process(intake->store);
    }
}

int
metadata_intake_descriptor(const struct metadata_intake *intake)
{
    int descriptor = -1;
    if (intake->store != NULL) {
        (void)metastore_descriptors(intake->store, &descriptor, 1);
    }
    return descriptor;
}

int
metadata_intake_wait_ms(const struct metadata_intake *intake)
{
    return intake->store != NULL ? metastore_wait_ms(intake->store) : -1;
}
