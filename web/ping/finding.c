#include "web/ping/finding.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/html_text.h"
#include "base/memory.h"
#include "base/url/url.h"

const char *const finding_names[FINDING_STATES] = {"queued",  "fetching", "fetched",
                                                   "indexed", "ended",    "lost"};

enum { KEY_BYTES = URL_MAXIMUM + 1 };

void
finding_release(struct finding *finding)
{
    buf_release(&finding->document);
}

static struct slice
text_of(struct slice record, enum meta_field field)
{
    struct slice text = {0};
    (void)meta_record_text(record, field, &text);
    return text;
}

/* A text that is cut stays UTF-8; otherwise JSON would not take it. */
static void
copy(char *to, size_t size, struct slice text)
{
    const struct slice start = html_text_start(text, size - 1);
    (void)snprintf(to, size, "%.*s", SLICE_PRINT(start));
}

/* ---- what the records say ---- */

/* Outcomes of states in META_STATE that say a document goes no further. */
static const struct {
    const char *state, *outcome;
} ends[] = {{"unknown", "unknown_type"}, {"broken", "broken"},
            {"noindex", "noindex"},      {"gone", "gone"},
            {"denied", "denied"},        {"failed", "failed"},
            {"covered", "covered"},      {"sliced", "unchanged"}};

static void
judge_indexed(struct finding *finding, struct slice record)
{
    const bool changed = meta_record_count(record, META_QUADS_ADDED) +
                             meta_record_count(record, META_QUADS_REMOVED) >
                         0;
    finding->state = FINDING_INDEXED;
    finding->final = true;
    copy(finding->outcome, sizeof finding->outcome,
         changed ? SLICE("indexed") : SLICE("unchanged"));
}

/* A stage has the content that the state tells of, and has not said what came of it. */
static bool
is_under_way(struct slice record)
{
    const uint64_t content = meta_record_count(record, META_CONTENT);
    return content > 0 && content >= meta_record_count(record, META_STATED) &&
           slice_is(text_of(record, META_STATE), "fetched");
}

static void
judge_record(struct finding *finding, struct slice record)
{
    const struct slice state = text_of(record, META_STATE);
    const bool unmodified = meta_record_count(record, META_HTTP_STATUS) == 304;
    finding->state = FINDING_FETCHED;
    copy(finding->reason, sizeof finding->reason, text_of(record, META_REASON));
    if (is_under_way(record)) {
        return;
    }
    if (unmodified && (slice_is(state, "fetched") || slice_is(state, "indexed"))) {
        finding->state =
            meta_record_count(record, META_INDEXED) > 0 ? FINDING_INDEXED : FINDING_ENDED;
        finding->final = true;
        copy(finding->outcome, sizeof finding->outcome, SLICE("not_modified"));
    } else if (slice_is(state, "indexed")) {
        judge_indexed(finding, record);
    } else if (slice_is(state, "fetched")) {
        finding->state = FINDING_ENDED; /* no stage hears of it */
        finding->final = true;
        copy(finding->outcome, sizeof finding->outcome, SLICE("fetched"));
    } else if (slice_is(state, "redirected")) {
        finding->state = FINDING_ENDED;
        finding->final = true;
        copy(finding->outcome, sizeof finding->outcome, SLICE("redirected"));
    }
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (slice_is(state, ends[i].state)) {
            finding->state = FINDING_ENDED;
            finding->final = true;
            copy(finding->outcome, sizeof finding->outcome, slice_string(ends[i].outcome));
        }
    }
}

/* Returns whether the record tells of a visit since the ping; else the frontier has to be asked. */
static bool
finding_is_told(struct slice record, uint64_t since_ms)
{
    return meta_record_count(record, META_FETCHED) >= since_ms ||
           meta_record_count(record, META_VISITED) >= since_ms;
}

/* The last line of its attempts: what it waits for. */
static struct slice
last_attempt(struct slice record)
{
    struct slice lines = text_of(record, META_ATTEMPTS), last = {0};
    while (lines.length > 0) {
        const struct slice line = slice_take(&lines, '\n');
        last = line.length > 0 ? line : last;
    }
    return last;
}

void
finding_judge(struct finding *finding, struct slice record, const struct finding_look *look)
{
    finding->fetched_ms = meta_record_count(record, META_FETCHED);
    finding->indexed_ms = meta_record_count(record, META_INDEXED);
    finding->status = meta_record_count(record, META_HTTP_STATUS);
    finding->quads = meta_record_count(record, META_QUADS);
    copy(finding->type, sizeof finding->type, text_of(record, META_DETECTED_TYPE));
    const bool current =
        look == NULL ||
        (record.length > 0 && meta_record_count(record, META_GENERATION) >= look->generation);
    const bool failed = current && slice_is(text_of(record, META_STATE), "failed");
    if (look != NULL && !look->known) {
        finding->state = FINDING_LOST;
        finding->final = true;
        copy(finding->reason, sizeof finding->reason, SLICE("the queue does not know it"));
    } else if (look != NULL && look->waiting && !look->scheduled && !(failed && !look->found)) {
        finding->state = look->leased ? FINDING_FETCHING : FINDING_QUEUED;
        if (current) {
            copy(finding->reason, sizeof finding->reason, last_attempt(record));
        }
    } else if (!current) { /* its record is on its way from another node */
        finding->state = FINDING_FETCHING;
    } else {
        judge_record(finding, record);
    }
}

/* ---- asking ---- */

enum status
finding_clients_open(struct finding_clients *clients, struct web_service *service,
                     struct reason *why)
{
    *clients = (struct finding_clients){.service = service};
    clients->queues = memory_zero(service->queues.count + 1, sizeof *clients->queues);
    return web_metastore_open(service, &clients->metastore, why);
}

void
finding_clients_close(struct finding_clients *clients)
{
    for (size_t i = 0; i < clients->service->queues.count; i++) {
        queue_client_close(clients->queues[i]);
    }
    free(clients->queues);
    metastore_client_close(clients->metastore);
}

static enum status
look_up(struct finding_clients *clients, struct slice uri, struct finding_look *look,
        struct reason *why)
{
    const struct web_service *service = clients->service;
    const size_t node = cluster_owner(service->cluster, STAGE_FETCH, uri);
    struct queue_explanation found = {0};
    TRY(web_check_part(service, "queue", why));
    if (clients->queues[node] == NULL) {
        const struct queue_client_options options = {.endpoint = service->queues.endpoints[node],
                                                     .name = "web",
                                                     .keys = service->queues.keys};
        TRY(queue_client_open(&clients->queues[node], &options, why));
    }
    TRY(queue_explanation(clients->queues[node], uri, &found, why));
    *look = (struct finding_look){.known = found.known,
                                  .waiting = found.waiting,
                                  .scheduled = found.scheduled,
                                  .found = found.found,
                                  .leased = found.leased,
                                  .generation = found.generation};
    return STATUS_OK;
}

static enum status
read_record(struct finding_clients *clients, struct slice uri, struct buf *record,
            struct reason *why)
{
    struct buf key;
    buf_init(&key, KEY_BYTES);
    (void)buf_append_char(&key, 'u');
    (void)buf_append_slice(&key, uri);
    buf_reset(record);
    const enum status status =
        metastore_get_wait(clients->metastore, buf_slice(&key), record, PING_ANSWER_MS, why);
    buf_release(&key);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status
read_one(struct finding_clients *clients, struct slice uri, uint64_t since_ms, struct buf *record,
         struct finding *finding, struct reason *why)
{
    struct finding_look look;
    TRY(read_record(clients, uri, record, why));
    if (finding_is_told(buf_slice(record), since_ms)) {
        finding_judge(finding, buf_slice(record), NULL);
        return STATUS_OK;
    }
    TRY(look_up(clients, uri, &look, why));
    if (!look.waiting) { /* it may have ended between the two */
        TRY(read_record(clients, uri, record, why));
    }
    finding_judge(finding, buf_slice(record), &look);
    return STATUS_OK;
}

enum status
finding_read(struct finding_clients *clients, struct slice uri, uint64_t since_ms,
             struct finding *finding, struct reason *why)
{
    struct buf record;
    enum status status = STATUS_OK;
    *finding = (struct finding){0};
    buf_init(&finding->document, URL_MAXIMUM);
    buf_init(&record, PING_RECORD_BYTES);
    for (unsigned hop = 0; hop <= FINDING_HOPS && status == STATUS_OK; hop++) {
        const struct slice at = hop > 0 ? buf_slice(&finding->document) : uri;
        finding->reason[0] = finding->outcome[0] = '\0';
        finding->final = false;
        /* A redirect's target may have been visited before, and is not visited for a ping then. */
        status = read_one(clients, at, hop > 0 ? 1 : since_ms, &record, finding, why);
        const struct slice target = text_of(buf_slice(&record), META_REDIRECT_TO);
        if (strcmp(finding->outcome, "redirected") != 0 || target.length == 0 ||
            finding->reason[0] != '\0') { /* with a reason: out of scope */
            break;
        }
        buf_reset(&finding->document);
        (void)buf_append_slice(&finding->document, target);
    }
    buf_release(&record);
    return status;
}
