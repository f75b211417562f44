#include "index/serve/index_service.h"

#include <poll.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "index/read/answer_cache.h"
#include "index/serve/answers.h"
#include "index/serve/publisher.h"
#include "index/serve/work_pool.h"
#include "index/write/patch.h"

enum {
    WINDOW = 2 << 20,
    PARKED_MS = 300,  /* then a request is answered with an empty piece: below rpc's resend_ms */
    IDLE_MS = 60000,  /* a cursor nobody asks for any more is dropped */
    SPARED_MS = 1000, /* one that was asked for so lately makes way for no other */
    TICK_MS = 100,
    WAITING_MOST = 256,
    IDLE_THREADS = 4, /* two queries, each with one that helps it, as is usual */
    /* Answers take a processor half as often as who writes: readers ask again as soon as they are
     * answered, and would leave the writer no more than one part among theirs. */
    NICE = 3,
    REPLY_MAXIMUM = INDEX_PIECE_BYTES + 64
};

/* A cursor, and the request that waits for its next piece. */
struct slot {
    struct cursor *cursor;      /* NULL: free */
    uint64_t opener, opener_id; /* incarnation of the client, id of its request */
    uint64_t client;            /* for whom it is */
    struct rpc_request request;
    bool parked, opening, dying;
    uint64_t offset, since_ms;
    const struct answer *job;         /* the cursor's */
    bool kept;                        /* its answer is to be, if it is one piece */
    struct partition_version version; /* before it was begun */
};

/* A request that waits for a batch after the one it names. */
struct waiting {
    struct rpc_request request;
    uint64_t known, since_ms;
};

struct service {
    struct partition *partition;
    struct service_options options;
    struct rpc_server *rpc;
    struct work_pool *pool;
    struct patch_queue *patches;
    struct turns *turns, *maintenance_turns;
    struct threads *threads;
    struct sessions *sessions;
    struct answer_cache *answers;
    struct publisher *publisher;
    int event;
    struct slot *slots;
    unsigned slot_count; /* more than may be open: those that end take their time */
    struct waiting waiting[WAITING_MOST];
    size_t waiting_count;
    uint64_t last_batch; /* that was seen */
    uint64_t next_cursor;
    pthread_t thread;
    bool runs;
    atomic_bool stopping;
    struct buf reply;
};

/* ---- replies ---- */

static void
answer(struct service *service, struct rpc_request *request, enum status status,
       const struct reason *why)
{
    rpc_reply(service->rpc, request, status, buf_slice(&service->reply), why);
}

static void
refuse(struct service *service, struct rpc_request *request, enum status status, const char *text)
{
    struct reason why;
    status_fail(&why, status, "%s", text);
    buf_reset(&service->reply);
    answer(service, request, status, &why);
}

static void
answer_stats(struct service *service, struct rpc_request *request)
{
    struct partition_stats stats;
    partition_stats(service->partition, &stats);
    const uint64_t numbers[] = {stats.totals.documents,
                                stats.totals.quads,
                                stats.totals.terms,
                                stats.totals.literals,
                                stats.bytes,
                                stats.totals.batches,
                                stats.writes};
    buf_reset(&service->reply);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        codec_put_u64(&service->reply, numbers[i]);
    }
    answer(service, request, STATUS_OK, NULL);
}

/* ---- cursors ---- */

static void
let_die(struct slot *slot)
{
    cursor_cancel(slot->cursor);
    slot->dying = true;
}

/* Answers the waiting request if its piece is there, or it has waited long enough. */
static void
serve_slot(struct service *service, struct slot *slot, uint64_t now)
{
    struct reason why = {""};
    bool end;
    buf_reset(&service->reply);
    codec_put_u8(&service->reply, 0);
    codec_put_u64(&service->reply, cursor_id(slot->cursor));
    codec_put_u64(&service->reply, slot->offset);
    enum status status =
        cursor_read(slot->cursor, slot->offset, INDEX_PIECE_BYTES, &service->reply, &end, &why);
    if (status == STATUS_AGAIN) {
        if (now - slot->since_ms < PARKED_MS) {
            return;
        }
        status = STATUS_OK;
    }
    if (end) {
        service->reply.data[0] = INDEX_PIECE_END;
    }
    if (status != STATUS_OK) {
        buf_reset(&service->reply);
    }
    slot->parked = false;
    slot->since_ms = now;
    if (slot->kept && slot->opening && end) {
        answer_cache_put(service->answers, &slot->version, slot->request.payload,
                         buf_slice(&service->reply), answer_needs(slot->job));
    }
    answer(service, &slot->request, status, &why);
    if (slot->opening && (end || status != STATUS_OK)) {
        let_die(slot); /* all was said in one answer */
    }
    slot->opening = false;
}

static void
tend_slots(struct service *service)
{
    const uint64_t now = clock_monotonic_ms();
    for (unsigned i = 0; i < service->slot_count; i++) {
        struct slot *slot = &service->slots[i];
        if (slot->cursor == NULL) {
            continue;
        }
        if (slot->parked) {
            serve_slot(service, slot, now);
        } else if (!slot->dying && now - slot->since_ms > IDLE_MS) {
            let_die(slot);
        }
        if (slot->dying && cursor_ended(slot->cursor)) {
            cursor_close(slot->cursor);
            *slot = (struct slot){0};
        }
    }
}

static void
park(struct slot *slot, const struct rpc_request *request, uint64_t offset)
{
    if (slot->parked) {
        rpc_request_drop(&slot->request); /* a later one asks for the same */
    }
    slot->request = *request;
    slot->parked = true;
    slot->offset = offset;
    slot->since_ms = clock_monotonic_ms();
}

static struct slot *
find_slot(struct service *service, uint64_t id)
{
    for (unsigned i = 0; i < service->slot_count; i++) {
        struct slot *slot = &service->slots[i];
        if (slot->cursor != NULL && !slot->dying && cursor_id(slot->cursor) == id) {
            return slot;
        }
    }
    return NULL;
}

static bool
is_open(const struct slot *slot)
{
    return slot->cursor != NULL && !slot->dying;
}

static unsigned
slots_of(const struct service *service, uint64_t client)
{
    unsigned slots = 0;
    for (unsigned i = 0; i < service->slot_count; i++) {
        slots += is_open(&service->slots[i]) && service->slots[i].client == client;
    }
    return slots;
}

/* Tells whether a makes way rather than b: unread ones do first, from the longest unread on; then
 * the latest that was asked for. */
static bool
makes_way_before(const struct slot *a, const struct slot *b)
{
    if (a->parked != b->parked) {
        return !a->parked;
    }
    return a->parked ? a->since_ms > b->since_ms : a->since_ms < b->since_ms;
}

/* Ends a cursor of the client that has most: for one who has fewer, any; for itself, one that it
 * has not read for SPARED_MS. False: there is none such. */
static bool
make_room(struct service *service, uint64_t client)
{
    struct slot *found = NULL;
    unsigned most = 0;
    for (unsigned i = 0; i < service->slot_count; i++) {
        struct slot *slot = &service->slots[i];
        const unsigned slots = is_open(slot) ? slots_of(service, slot->client) : 0;
        if (slots > most || (slots > 0 && slots == most && makes_way_before(slot, found))) {
            found = slot;
            most = slots;
        }
    }
    const uint64_t unread_ms = found == NULL ? 0 : clock_monotonic_ms() - found->since_ms;
    if (found == NULL ||
        (most <= slots_of(service, client) + 1 && (found->parked || unread_ms < SPARED_MS))) {
        return false;
    }
    if (found->parked) {
        found->parked = false;
        refuse(service, &found->request, STATUS_AGAIN,
               "the answer was cut off, so that others are answered: too many are under way "
               "most of them for this client");
    }
    let_die(found);
    return true;
}

/* The slot that this very request opened before, or NULL. */
static struct slot *
opened_before(struct service *service, const struct rpc_request *request)
{
    for (unsigned i = 0; i < service->slot_count; i++) {
        struct slot *slot = &service->slots[i];
        if (is_open(slot) && slot->opener == request->incarnation &&
            slot->opener_id == request->id) {
            return slot;
        }
    }
    return NULL;
}

/* A free slot, or NULL. */
static struct slot *
slot_for(struct service *service, uint64_t client)
{
    struct slot *free_slot = NULL;
    unsigned open = 0;
    for (unsigned i = 0; i < service->slot_count; i++) {
        struct slot *slot = &service->slots[i];
        open += is_open(slot);
        free_slot = slot->cursor == NULL ? slot : free_slot;
    }
    const bool room =
        free_slot != NULL && (open < service->options.cursors || make_room(service, client));
    return room ? free_slot : NULL;
}

/* Takes job. */
static enum status
open_slot(struct service *service, const struct rpc_request *request, struct answer *job,
          struct slot **opened, struct reason *why)
{
    const struct cursor_settings settings = {
        .threads = service->threads,
        .event = service->event,
        .window = WINDOW,
        /* A request that takes long by its nature has turns of its own. */
        .turns = answer_is_maintenance(job) ? service->maintenance_turns : service->turns,
        .client = answer_client(job) != 0 ? answer_client(job) : request->incarnation,
        .bytes_most = answer_is_query(job) ? service->options.answer_bytes : 0};
    struct slot *slot = slot_for(service, settings.client);
    if (slot == NULL) {
        answer_free(job);
        return status_fail(why, STATUS_LIMIT, "too many answers are under way; try again");
    }
    TRY(cursor_open(&slot->cursor, service->next_cursor++, &settings, answer_produce, answer_free,
                    job, why));
    slot->job = job;
    slot->opener = request->incarnation;
    slot->client = settings.client;
    slot->opener_id = request->id;
    slot->opening = true;
    *opened = slot;
    return STATUS_OK;
}

/* Lookups are asked for again and again. False: the request is not answered. */
static bool
answer_kept(struct service *service, struct rpc_request *request, bool *kept,
            struct partition_version *version)
{
    const uint8_t stream = request->payload.length > 0 ? (uint8_t)request->payload.at[0] : 0;
    struct slice answer;
    *kept = stream == INDEX_STREAM_FIND || stream == INDEX_STREAM_DESCRIBE;
    if (!*kept) {
        return false;
    }
    partition_version(service->partition, version);
    if (!answer_cache_find(service->answers, request->payload, &answer)) {
        return false;
    }
    rpc_reply(service->rpc, request, STATUS_OK, answer, NULL);
    return true;
}

static void
open_cursor(struct service *service, struct rpc_request *request)
{
    struct slot *slot = opened_before(service, request);
    struct partition_version version = {0, 0};
    bool kept = false;
    if (slot == NULL && answer_kept(service, request, &kept, &version)) {
        return;
    }
    if (slot == NULL) {
        struct reason why = {""};
        struct answer *job;
        enum status status = answer_new(&job, service->partition, &service->options,
                                        service->sessions, request->payload, &why);
        if (status == STATUS_OK) {
            status = open_slot(service, request, job, &slot, &why);
        }
        if (status != STATUS_OK) {
            buf_reset(&service->reply);
            answer(service, request, status, &why);
            return;
        }
        slot->kept = kept;
        slot->version = version;
    }
    park(slot, request, 0);
}

static void
next_piece(struct service *service, struct rpc_request *request)
{
    struct codec_reader in = codec_reader_of(request->payload);
    const uint64_t id = codec_get_u64(&in);
    const uint64_t offset = codec_get_u64(&in);
    struct slot *slot = codec_at_end(&in) ? find_slot(service, id) : NULL;
    if (slot == NULL) {
        refuse(service, request, STATUS_NOT_FOUND, "the answer is no longer there");
        return;
    }
    park(slot, request, offset);
    serve_slot(service, slot, slot->since_ms);
}

static void
close_cursor(struct service *service, struct rpc_request *request)
{
    struct codec_reader in = codec_reader_of(request->payload);
    struct slot *slot = find_slot(service, codec_get_u64(&in));
    if (slot != NULL) {
        let_die(slot);
    }
    buf_reset(&service->reply);
    answer(service, request, STATUS_OK, NULL);
}

static void
end_session(struct service *service, struct rpc_request *request)
{
    struct codec_reader in = codec_reader_of(request->payload);
    sessions_end(service->sessions, codec_get_u64(&in));
    buf_reset(&service->reply);
    answer(service, request, STATUS_OK, NULL);
}

/* ---- positions ---- */

static void
answer_position(struct service *service, struct rpc_request *request)
{
    struct change_position position;
    uint64_t first;
    partition_position(service->partition, &position, &first);
    buf_reset(&service->reply);
    codec_put_u64(&service->reply, position.batch);
    codec_put_u64(&service->reply, position.stamp);
    codec_put_u64(&service->reply, first);
    answer(service, request, STATUS_OK, NULL);
}

/* Answered at once when there are batches after the one known, or nothing is to be waited for. */
static void
ask_position(struct service *service, struct rpc_request *request)
{
    struct codec_reader in = codec_reader_of(request->payload);
    const bool wait = codec_get_u8(&in) != 0;
    const uint64_t known = codec_get_u64(&in);
    if (!codec_at_end(&in)) {
        refuse(service, request, STATUS_PROTOCOL, "a request to the index is malformed");
    } else if (!wait || service->waiting_count == WAITING_MOST) {
        answer_position(service, request);
    } else {
        service->waiting[service->waiting_count++] =
            (struct waiting){*request, known, clock_monotonic_ms()};
    }
}

/* True when there are new batches. */
static bool
tend_waiting(struct service *service)
{
    const uint64_t now = clock_monotonic_ms();
    struct change_position position;
    size_t kept = 0;
    partition_position(service->partition, &position, NULL);
    for (size_t i = 0; i < service->waiting_count; i++) {
        struct waiting *waiting = &service->waiting[i];
        if (position.batch > waiting->known || now - waiting->since_ms >= PARKED_MS) {
            answer_position(service, &waiting->request);
        } else {
            service->waiting[kept++] = *waiting;
        }
    }
    service->waiting_count = kept;
    const bool news = position.batch != service->last_batch;
    service->last_batch = position.batch;
    return news;
}

/* ---- the loop ---- */

static void
handle(struct service *service, struct rpc_request *request)
{
    switch ((enum index_verb)request->verb) {
    case INDEX_VERB_STATS:
        answer_stats(service, request);
        return;
    case INDEX_VERB_LINKS:
    case INDEX_VERB_ESTIMATE:
    case INDEX_VERB_STAR:
        work_pool_add(service->pool, request);
        return;
    case INDEX_VERB_OPEN:
        open_cursor(service, request);
        return;
    case INDEX_VERB_NEXT:
        next_piece(service, request);
        return;
    case INDEX_VERB_CLOSE:
        close_cursor(service, request);
        return;
    case INDEX_VERB_END:
        end_session(service, request);
        return;
    case INDEX_VERB_POSITION:
        ask_position(service, request);
        return;
    case INDEX_VERB_CHANGE:
        patch_queue_add(service->patches, request);
        return;
    }
    refuse(service, request, STATUS_PROTOCOL, "the index does not know this verb");
}

static void
reply_to_work(struct service *service)
{
    struct work *work = work_pool_take(service->pool);
    while (work != NULL) {
        struct work *next = work->next;
        rpc_reply(service->rpc, &work->request, work->status, buf_slice(&work->reply), &work->why);
        work_free(work);
        work = next;
    }
}

static void
reply_to_patches(struct service *service)
{
    struct patch *patch = patch_queue_take(service->patches);
    while (patch != NULL) {
        struct patch *next = patch->next;
        buf_reset(&service->reply);
        codec_put_u64(&service->reply, patch->removed);
        codec_put_u64(&service->reply, patch->added);
        answer(service, &patch->request, patch->status, &patch->why);
        free(patch);
        patch = next;
    }
}

static bool
anybody_waits(const struct service *service)
{
    if (service->waiting_count > 0) {
        return true;
    }
    for (unsigned i = 0; i < service->slot_count; i++) {
        if (service->slots[i].cursor != NULL) {
            return true;
        }
    }
    return false;
}

static void *
run(void *argument)
{
    struct service *service = argument;
    while (!atomic_load(&service->stopping)) {
        struct pollfd wait[] = {{.fd = rpc_server_descriptor(service->rpc), .events = POLLIN},
                                {.fd = service->event, .events = POLLIN}};
        (void)poll(wait, 2, anybody_waits(service) ? TICK_MS : 10 * TICK_MS);
        uint64_t count;
        const ssize_t taken = read(service->event, &count, sizeof(count));
        (void)taken;
        reply_to_work(service);
        reply_to_patches(service);
        struct rpc_request request;
        while (rpc_server_receive(service->rpc, &request) == STATUS_OK) {
            handle(service, &request);
        }
        tend_slots(service);
        if (tend_waiting(service)) {
            publisher_wake(service->publisher);
        }
        sessions_tend(service->sessions, clock_monotonic_ms());
    }
    return NULL;
}

enum status
service_start(struct service **result, struct partition *partition,
              const struct service_options *options, struct reason *why)
{
    struct service *service = memory_new(sizeof(*service));
    service->partition = partition;
    service->options = *options;
    /* A client that asks on after a restart must not meet another one's cursor. */
    randombytes_buf(&service->next_cursor, sizeof(service->next_cursor));
    service->turns = turns_new(options->query_threads, options->query_memory);
    service->maintenance_turns = turns_new(options->query_threads, 0);
    service->threads = threads_new(IDLE_THREADS, NICE);
    service->sessions = sessions_new(partition, options->cursors);
    struct answer_marks marks;
    partition_marks(partition, &marks.commits, &marks.words);
    service->answers = answer_cache_new(options->answer_memory, &marks);
    service->slot_count = options->cursors + options->cursors / 4 + 1;
    service->slots = memory_zero(service->slot_count, sizeof(*service->slots));
    buf_init(&service->reply, REPLY_MAXIMUM);
    service->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    service->patches = patch_queue_new(service->event);
    partition_announce_to(partition, service->event);
    enum status status =
        service->event >= 0 ? rpc_server_open(&service->rpc, options->endpoints, options->keys, why)
                            : status_fail_errno(why, "cannot make an eventfd");
    if (status == STATUS_OK) {
        status = work_pool_start(&service->pool, partition, &service->options, service->event, why);
    }
    if (status == STATUS_OK && options->published != NULL) {
        status = publisher_start(&service->publisher, partition, options->partition_number,
                                 options->published, options->publish_keys, why);
    }
    if (status == STATUS_OK && pthread_create(&service->thread, NULL, run, service) != 0) {
        status = status_fail(why, STATUS_SYSTEM, "cannot start a thread");
    }
    service->runs = status == STATUS_OK;
    if (status != STATUS_OK) {
        service_stop(service);
        service = NULL;
    }
    *result = service;
    return status;
}

struct patch_queue *
service_patches(struct service *service)
{
    return service->patches;
}

void
service_stop(struct service *service)
{
    if (service == NULL) {
        return;
    }
    if (service->runs) {
        const uint64_t one = 1;
        atomic_store(&service->stopping, true);
        const ssize_t written = write(service->event, &one, sizeof(one));
        (void)written;
        pthread_join(service->thread, NULL);
    }
    partition_announce_to(service->partition, -1);
    for (size_t i = 0; i < service->waiting_count; i++) {
        rpc_request_drop(&service->waiting[i].request);
    }
    publisher_stop(service->publisher);
    work_pool_stop(service->pool);
    patch_queue_free(service->patches);
    for (unsigned i = 0; i < service->slot_count; i++) {
        struct slot *slot = &service->slots[i];
        if (slot->parked) {
            rpc_request_drop(&slot->request);
        }
        cursor_close(slot->cursor);
    }
    sessions_free(service->sessions);
    answer_cache_free(service->answers);
    rpc_server_close(service->rpc);
    threads_free(service->threads);
    turns_free(service->turns);
    turns_free(service->maintenance_turns);
    file_close(service->event);
    buf_release(&service->reply);
    free(service->slots);
    free(service);
}
