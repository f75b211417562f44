#include "queue/daemon/metadata_intake.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "metastore/metastore_client.h"
#include "queue/client/message.h"

enum {
    GATHER_MS = 250,         /* the most that a request waits for others */
    GATHER_BYTES = 256 << 10 /* they do not wait for more */
};

struct waiting {
    struct waiting *next;
    struct rpc_request *request;
};

/* Requests whose metadata are one message to the store. */
struct gathering {
    struct metadata_intake *intake;
    struct gathering *next;
    struct waiting *first, **end;
};

struct metadata_intake {
    char *endpoint;
    struct metastore_client *store; /* opened at first need */
    struct gathering *open;         /* not sent yet; NULL: nobody waits for others */
    size_t bytes;                   /* of its requests */
    uint64_t due_ms;                /* monotonic: it is not sent sooner, unless it is large */
    struct gathering *under_way;
    metadata_taken *taken;
    void *context;
};

struct metadata_intake *
metadata_intake_new(const char *endpoint, metadata_taken *taken, void *context)
{
    struct metadata_intake *intake = memory_new(sizeof *intake);
    intake->endpoint = endpoint != NULL ? memory_string(endpoint) : NULL;
    intake->taken = taken;
    intake->context = context;
    return intake;
}

static void
give_back(struct gathering *gathering, enum status status, const struct reason *why)
{
    const struct metadata_intake *intake = gathering->intake;
    for (struct waiting *waiting = gathering->first, *next; waiting != NULL; waiting = next) {
        next = waiting->next;
        intake->taken(intake->context, waiting->request, status, why);
        free(waiting);
    }
    free(gathering);
}

void
metadata_intake_free(struct metadata_intake *intake)
{
    struct reason why;
    if (intake == NULL) {
        return;
    }
    metastore_client_close(intake->store);
    if (intake->open != NULL) {
        give_back(intake->open, status_fail(&why, STATUS_CANCELLED, "the queue is closed"), &why);
    }
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
    struct gathering *gathering = context;
    struct gathering **at = &gathering->intake->under_way;
    while (*at != gathering) {
        at = &(*at)->next;
    }
    *at = gathering->next;
    give_back(gathering, status, why);
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

static bool
is_repeated(const struct rpc_request *older, const struct rpc_request *request)
{
    return older->id == request->id && older->incarnation == request->incarnation &&
           slice_equal(older->client, request->client);
}

/* Where it waits already: then the answer goes to whoever asks now. */
static struct waiting *
find_repeated(const struct gathering *gathering, const struct rpc_request *request)
{
    for (; gathering != NULL; gathering = gathering->next) {
        for (struct waiting *waiting = gathering->first; waiting != NULL; waiting = waiting->next) {
            if (is_repeated(waiting->request, request)) {
                return waiting;
            }
        }
    }
    return NULL;
}

static bool
replace(struct metadata_intake *intake, struct rpc_request *request)
{
    struct waiting *waiting = find_repeated(intake->open, request);
    waiting = waiting != NULL ? waiting : find_repeated(intake->under_way, request);
    if (waiting == NULL) {
        return false;
    }
    rpc_request_drop(waiting->request);
    free(waiting->request);
    waiting->request = request;
    return true;
}

/* Returns what the requests bring, until the bytes of those that do not bring it themselves are
 * reset. */
static struct meta_put *
puts_of_all(const struct gathering *gathering, struct broker *broker, struct buf *bytes, size_t *n)
{
    struct meta_put *puts = NULL;
    *n = 0;
    for (const struct waiting *waiting = gathering->first; waiting; waiting = waiting->next) {
        struct broker_metadata *list;
        const size_t count = broker_metadata_of(broker, waiting->request->verb,
                                                waiting->request->payload, &list, bytes);
        if (count > 0) {
            puts = memory_resize(puts, *n + count, sizeof *puts);
            *n += puts_of(list, count, puts + *n);
        }
        free(list);
    }
    return puts;
}

static void
send_to_store(struct metadata_intake *intake, struct gathering *gathering, struct broker *broker)
{
    struct buf bytes;
    struct reason why = {""};
    size_t n;
    buf_init(&bytes, (size_t)16 << 20);
    struct meta_put *puts = puts_of_all(gathering, broker, &bytes, &n);
    const enum status status = n > 0 ? open_store(intake, &why) : STATUS_OK;
    if (n == 0 || status != STATUS_OK) {
        give_back(gathering, status, &why);
    } else {
        gathering->next = intake->under_way;
        intake->under_way = gathering;
        metastore_put(intake->store, puts, n, put_done, gathering);
    }
    free(puts);
    buf_release(&bytes);
}

static void
send_gathered(struct metadata_intake *intake, struct broker *broker)
{
    struct gathering *gathering = intake->open;
    intake->open = NULL;
    intake->bytes = 0;
    intake->due_ms = clock_monotonic_ms() + GATHER_MS;
    send_to_store(intake, gathering, broker);
}

static struct gathering *
gathering_new(struct metadata_intake *intake)
{
    struct gathering *gathering = memory_new(sizeof *gathering);
    gathering->intake = intake;
    gathering->end = &gathering->first;
    return gathering;
}

static void
add_request(struct gathering *gathering, struct rpc_request *request)
{
    struct waiting *waiting = memory_new(sizeof *waiting);
    waiting->request = request;
    *gathering->end = waiting;
    gathering->end = &waiting->next;
}

/* FORGET is for a person, who waits. */
void
metadata_intake_hold(struct metadata_intake *intake, struct broker *broker,
                     struct rpc_request *request)
{
    if (replace(intake, request)) {
        return;
    }
    if (request->verb == QUEUE_FORGET) {
        struct gathering *alone = gathering_new(intake);
        add_request(alone, request);
        send_to_store(intake, alone, broker);
        return;
    }
    if (intake->open == NULL) {
        intake->open = gathering_new(intake);
    }
    intake->bytes += request->payload.length;
    add_request(intake->open, request);
    if (intake->bytes >= GATHER_BYTES || clock_monotonic_ms() >= intake->due_ms) {
        send_gathered(intake, broker);
    }
}

static bool
any_has_verb(const struct gathering *gathering, uint8_t verb)
{
    for (; gathering != NULL; gathering = gathering->next) {
        for (const struct waiting *waiting = gathering->first; waiting; waiting = waiting->next) {
            if (waiting->request->verb == verb) {
                return true;
            }
        }
    }
    return false;
}

bool
metadata_intake_holds(const struct metadata_intake *intake, uint8_t verb)
{
    return any_has_verb(intake->open, verb) || any_has_verb(intake->under_way, verb);
}

void
metadata_intake_process(struct metadata_intake *intake, struct broker *broker)
{
    if (intake->store != NULL) {
        metastore_process(intake->store);
    }
    if (intake->open != NULL && clock_monotonic_ms() >= intake->due_ms) {
        send_gathered(intake, broker);
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
    const int store = intake->store != NULL ? metastore_wait_ms(intake->store) : -1;
    if (intake->open == NULL) {
        return store;
    }
    const uint64_t now = clock_monotonic_ms();
    const int own = intake->due_ms > now ? (int)(intake->due_ms - now) : 0;
    return store >= 0 && store < own ? store : own;
}
