#include "index/serve/publisher.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "index/serve/change_lines.h"

enum { MESSAGE = 64 << 10, TEXT_MAXIMUM = 1 << 30, NUMBER_MAXIMUM = 256 };

struct publisher {
    struct partition *partition;
    unsigned number; /* the partition's */
    struct rpc_publisher *socket;
    struct change_position position; /* published up to here */
    int event;
    pthread_t thread;
    bool runs;
    atomic_bool stopping;
    struct buf header; /* positions of the batch at hand */
    unsigned messages; /* of it, sent */
    struct buf topic, patch;
};

/* The message that waits; `last`: of its batch. */
static void
send_message(struct publisher *publisher, bool last)
{
    struct buf head;
    buf_init(&head, NUMBER_MAXIMUM);
    (void)buf_printf(&head, "%.*s %u %c", SLICE_PRINT(buf_slice(&publisher->header)),
                     ++publisher->messages, last ? '.' : '+');
    const struct slice frames[] = {buf_slice(&publisher->topic), buf_slice(&head),
                                   buf_slice(&publisher->patch)};
    rpc_publish(publisher->socket, frames, sizeof(frames) / sizeof(frames[0]));
    buf_reset(&publisher->patch);
    buf_release(&head);
}

static void
begin_batch(struct publisher *publisher, struct slice line)
{
    const size_t tab = slice_find(line, '\t');
    buf_reset(&publisher->header);
    (void)buf_printf(&publisher->header, "%u:%.*s %u:%.*s", publisher->number,
                     SLICE_PRINT(slice_of(line.at, tab)), publisher->number,
                     SLICE_PRINT(slice_of(line.at + tab + 1, line.length - tab - 1)));
    publisher->messages = 0;
    buf_reset(&publisher->topic);
    buf_reset(&publisher->patch);
}

/* A message has changes of one document, whose URI is its topic. */
static void
begin_document(struct publisher *publisher, struct slice line)
{
    const size_t tab = slice_find(line, '\t');
    if (publisher->patch.length > 0) {
        send_message(publisher, false);
    }
    buf_reset(&publisher->topic);
    (void)buf_append(&publisher->topic, line.at + tab + 1, line.length - tab - 1);
}

static void
take_line(struct publisher *publisher, struct slice line)
{
    const struct slice rest = slice_of(line.at + 2, line.length - 3);
    switch (line.at[0]) {
    case 'B':
        begin_batch(publisher, rest);
        break;
    case 'G':
        begin_document(publisher, rest);
        break;
    case 'C':
        send_message(publisher, true);
        break;
    default:
        if (publisher->patch.length > MESSAGE) {
            send_message(publisher, false);
        }
        (void)buf_append_slice(&publisher->patch, line);
        break;
    }
}

static enum status
take_lines(void *context, struct slice text, struct reason *why)
{
    struct publisher *publisher = context;
    while (text.length > 0) {
        const size_t end = slice_find(text, '\n') + 1;
        take_line(publisher, slice_of(text.at, end));
        text = slice_of(text.at + end, text.length - end);
    }
    return atomic_load(&publisher->stopping) ? status_fail(why, STATUS_CANCELLED, "stopping")
                                             : STATUS_OK;
}

/* Nobody is told of what happened while nobody was there, or what is not kept any more: a
 * subscriber sees from the positions that something is missing. */
static void
publish(struct publisher *publisher)
{
    struct reason why = {""};
    struct change_request request = {.since = publisher->position};
    enum status status = STATUS_STALE;
    if (rpc_publisher_wanted(publisher->socket)) {
        status = partition_changes(publisher->partition, &request, take_lines, publisher, &why);
    }
    if (status == STATUS_OK) {
        publisher->position = request.since;
        return;
    }
    if (status != STATUS_STALE && status != STATUS_CANCELLED) {
        log_warning("changes not published", "reason=%s", why.text);
    }
    partition_position(publisher->partition, &publisher->position, NULL);
}

static void *
run(void *argument)
{
    struct publisher *publisher = argument;
    while (!atomic_load(&publisher->stopping)) {
        struct pollfd wait[] = {
            {.fd = rpc_publisher_descriptor(publisher->socket), .events = POLLIN},
            {.fd = publisher->event, .events = POLLIN}};
        (void)poll(wait, 2, -1);
        uint64_t count;
        const ssize_t taken = read(publisher->event, &count, sizeof(count));
        (void)taken;
        publish(publisher);
    }
    return NULL;
}

enum status
publisher_start(struct publisher **result, struct partition *partition, unsigned number,
                const char *const *endpoints, const struct rpc_keys *keys, struct reason *why)
{
    struct publisher *publisher = memory_new(sizeof(*publisher));
    publisher->partition = partition;
    publisher->number = number;
    buf_init(&publisher->header, NUMBER_MAXIMUM);
    buf_init(&publisher->topic, TEXT_MAXIMUM);
    buf_init(&publisher->patch, TEXT_MAXIMUM);
    partition_position(partition, &publisher->position, NULL);
    publisher->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    enum status status = publisher->event >= 0
                             ? rpc_publisher_open(&publisher->socket, endpoints, keys, why)
                             : status_fail_errno(why, "cannot make an eventfd");
    if (status == STATUS_OK && pthread_create(&publisher->thread, NULL, run, publisher) != 0) {
        status = status_fail(why, STATUS_SYSTEM, "cannot start a thread");
    }
    publisher->runs = status == STATUS_OK;
    if (status != STATUS_OK) {
        publisher_stop(publisher);
        publisher = NULL;
    }
    *result = publisher;
    return status;
}

void
publisher_wake(struct publisher *publisher)
{
    if (publisher != NULL) {
        const uint64_t one = 1;
        const ssize_t written = write(publisher->event, &one, sizeof(one));
        (void)written;
    }
}

void
publisher_stop(struct publisher *publisher)
{
    if (publisher == NULL) {
        return;
    }
    if (publisher->runs) {
        atomic_store(&publisher->stopping, true);
        publisher_wake(publisher);
        pthread_join(publisher->thread, NULL);
    }
    rpc_publisher_close(publisher->socket);
    file_close(publisher->event);
    buf_release(&publisher->header);
    buf_release(&publisher->topic);
    buf_release(&publisher->patch);
    free(publisher);
}
