/* Following the changes of all partitions. Each partition's batches come in order from the stream
 * CHANGES; when all have been read, POSITION waits until one has more. The position is a vector:
 * one place for each partition. PROTOCOL.md. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/changes/change_position.h"
#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"

enum { LINE_MAXIMUM = 1 << 30, REQUEST_MAXIMUM = 8 << 20, OUTAGE_MS = 200 };

/* A POSITION under way. It outlives the call when nobody waits for it any more. */
struct news {
    bool posted, abandoned, come;
    enum status status;
    struct change_position position;
};

struct following {
    struct index_client *client;
    const struct index_follow_options *options;
    const struct index_follower *follower;
    struct change_position *positions; /* reached, of each partition */
    struct change_position next;       /* of the batch at hand */
    size_t partition;
    bool in_batch;
    bool alone;   /* one batch is asked for: it follows no other, and positions are its own */
    bool any;     /* a batch was complete */
    bool refused; /* the follower ended it, or the stream was malformed */
    struct buf rest, text, request;
    struct news **news;
};

/* ---- lines ---- */

static enum status
malformed(struct reason *why)
{
    return status_fail(why, STATUS_PROTOCOL, "the index sent malformed changes");
}

static void
put_own(struct following *f, const struct change_position *position)
{
    (void)buf_printf(&f->text, "%zu:", f->partition);
    change_position_put(&f->text, position);
}

static void
put_reached(struct following *f)
{
    if (f->alone) {
        put_own(f, &f->next);
    } else {
        change_positions_put(&f->text, f->positions, f->client->count);
    }
}

static enum status
begin_batch(struct following *f, struct slice line, struct reason *why)
{
    struct change_position previous;
    const size_t tab = slice_find(line, '\t');
    if (f->in_batch || tab == line.length ||
        !change_position_get(slice_of(line.at, tab), &f->next) ||
        !change_position_get(slice_of(line.at + tab + 1, line.length - tab - 1), &previous) ||
        (previous.batch != f->positions[f->partition].batch && !f->alone) || (f->alone && f->any)) {
        return malformed(why);
    }
    struct change_position reached = f->next;
    size_t ends[2];
    f->in_batch = true;
    buf_reset(&f->text);
    put_own(f, &f->next);
    ends[0] = f->text.length;
    put_own(f, &previous);
    ends[1] = f->text.length;
    const struct change_position before = f->positions[f->partition];
    f->positions[f->partition] = reached;
    put_reached(f);
    f->positions[f->partition] = before;
    const char *text = f->text.data;
    const struct index_changes_begin begin = {
        .partition = f->partition,
        .wall_ms = f->next.stamp,
        .position = slice_of(text, ends[0]),
        .previous = slice_of(text + ends[0], ends[1] - ends[0]),
        .reached = slice_of(text + ends[1], f->text.length - ends[1])};
    return f->follower->begin != NULL ? f->follower->begin(f->follower->context, &begin, why)
                                      : STATUS_OK;
}

static enum status
take_document(const struct following *f, struct slice line, struct reason *why)
{
    const size_t tab = slice_find(line, '\t');
    if (!f->in_batch || tab == line.length) {
        return malformed(why);
    }
    return f->follower->document != NULL
               ? f->follower->document(f->follower->context,
                                       slice_of(line.at + tab + 1, line.length - tab - 1),
                                       strtoull(line.at, NULL, 10), why)
               : STATUS_OK;
}

static enum status
end_batch(struct following *f, struct reason *why)
{
    if (!f->in_batch) {
        return malformed(why);
    }
    f->positions[f->partition] = f->next;
    f->in_batch = false;
    f->any = true;
    buf_reset(&f->text);
    put_reached(f);
    return f->follower->commit != NULL
               ? f->follower->commit(f->follower->context, buf_slice(&f->text), why)
               : STATUS_OK;
}

/* line: without its end. */
static enum status
take_line(struct following *f, struct slice line, struct reason *why)
{
    const char kind = line.length > 2 ? line.at[0] : '\0';
    const struct slice rest = line.length > 2 ? slice_of(line.at + 2, line.length - 2) : SLICE("");
    switch (kind) {
    case 'B':
        return begin_batch(f, rest, why);
    case 'G':
        return take_document(f, rest, why);
    case 'C':
        return end_batch(f, why);
    case '-':
    case '+':
        return !f->in_batch ? malformed(why)
               : f->follower->quad != NULL
                   ? f->follower->quad(f->follower->context, kind == '-',
                                       slice_of(line.at + 1, line.length - 1), why)
                   : STATUS_OK;
    default:
        return malformed(why);
    }
}

static bool
is_stopped(const struct following *f)
{
    return f->options->stopped != NULL && *f->options->stopped && !f->in_batch;
}

static enum status
take_bytes(struct following *f, struct slice bytes, struct reason *why)
{
    if (buf_append_slice(&f->rest, bytes) != STATUS_OK) {
        return status_fail(why, STATUS_LIMIT, "a change of more than %d bytes", LINE_MAXIMUM);
    }
    struct slice rest = buf_slice(&f->rest);
    enum status status = STATUS_OK;
    size_t end;
    while (status == STATUS_OK && !is_stopped(f) && (end = slice_find(rest, '\n')) < rest.length) {
        status = take_line(f, slice_of(rest.at, end), why);
        rest = slice_of(rest.at + end + 1, rest.length - end - 1);
    }
    memmove(f->rest.data, rest.at, rest.length);
    f->rest.length = rest.length;
    return status;
}

/* ---- one partition ---- */

/* Takes what the request gives. */
static enum status
read_stream(struct following *f, struct reason *why)
{
    struct index_stream_reader stream;
    struct slice bytes;
    stream_start(&stream, f->client, f->partition, buf_slice(&f->request));
    enum status status;
    while ((status = stream_next(&stream, &bytes, why)) == STATUS_OK) {
        status = take_bytes(f, bytes, why);
        f->refused = status != STATUS_OK;
        if (status != STATUS_OK || is_stopped(f)) {
            break;
        }
    }
    stream_close(&stream);
    return status == STATUS_END ? STATUS_OK : status;
}

static enum status
read_changes(struct following *f, struct reason *why)
{
    const struct change_position *since = &f->positions[f->partition];
    buf_reset(&f->request);
    codec_put_u8(&f->request, INDEX_STREAM_CHANGES);
    codec_put_varint(&f->request, since->batch);
    codec_put_varint(&f->request, since->stamp);
    codec_put_varint(&f->request, f->options->graph_count);
    for (size_t i = 0; i < f->options->graph_count; i++) {
        codec_put_slice(&f->request, f->options->graphs[i]);
    }
    if (f->request.overflowed) {
        f->refused = true;
        return status_fail(why, STATUS_LIMIT, "too many graphs");
    }
    client_begin(f->client, INDEX_PARTIAL_ERROR, 0, f->client->cancel);
    return read_stream(f, why);
}

/* Tells whether the failure may pass: the partition is down, or was started again meanwhile. */
static bool
is_outage(const struct following *f, enum status status)
{
    return !f->refused &&
           (status == STATUS_TIMEOUT || status == STATUS_NOT_FOUND || status == STATUS_AGAIN ||
            status == STATUS_SYSTEM || (status == STATUS_LIMIT && f->options->follow)) &&
           !client_ended(f->client);
}

/* All that the partition has committed by now. *outage: it is to be asked again. */
static enum status
read_partition(struct following *f, size_t partition, bool *outage, struct reason *why)
{
    f->partition = partition;
    f->in_batch = false;
    buf_reset(&f->rest);
    enum status status = read_changes(f, why);
    if (f->in_batch) {
        f->in_batch = false;
        if (!f->refused && f->follower->abort != NULL) {
            TRY(f->follower->abort(f->follower->context, why));
        }
        status = status == STATUS_OK ? malformed(why) : status;
    }
    *outage = status != STATUS_OK && f->options->follow && is_outage(f, status);
    return *outage ? STATUS_OK : status;
}

/* ---- waiting ---- */

static void
news_come(void *context, enum status status, struct slice payload, const struct reason *why)
{
    (void)why;
    struct news *news = context;
    if (news->abandoned) {
        free(news);
        return;
    }
    struct codec_reader in = codec_reader_of(payload);
    news->posted = false;
    news->come = true;
    news->status = status;
    news->position.batch = codec_get_u64(&in);
    news->position.stamp = codec_get_u64(&in);
}

static void
ask_for_news(struct following *f, size_t partition, bool wait)
{
    struct news *news = f->news[partition];
    struct buf request;
    news->posted = true;
    news->come = false;
    buf_init(&request, 64);
    codec_put_u8(&request, wait);
    codec_put_u64(&request, f->positions[partition].batch);
    rpc_client_post(f->client->partitions[partition].rpc, INDEX_VERB_POSITION, buf_slice(&request),
                    f->client->silence_ms, news_come, news);
    buf_release(&request);
}

/* Until a partition has committed more than is known, or was put back. */
static enum status
wait_for_news(struct following *f, struct reason *why)
{
    client_begin(f->client, INDEX_PARTIAL_ERROR, 0, f->client->cancel);
    for (;;) {
        for (size_t i = 0; i < f->client->count; i++) {
            struct news *news = f->news[i];
            if (news->come && news->status == STATUS_OK &&
                (news->position.batch != f->positions[i].batch ||
                 news->position.stamp != f->positions[i].stamp)) {
                news->come = false;
                return STATUS_OK;
            }
            if (!news->posted) {
                ask_for_news(f, i, true);
            }
        }
        if (is_stopped(f)) {
            return STATUS_OK;
        }
        TRY(client_wait(f->client, why));
    }
}

static enum status
follow(struct following *f, struct reason *why)
{
    for (;;) {
        bool outage = false;
        for (size_t i = 0; i < f->client->count && !is_stopped(f); i++) {
            bool down = false;
            TRY(read_partition(f, i, &down, why));
            outage = outage || down;
        }
        if (!f->options->follow || is_stopped(f)) {
            return STATUS_OK;
        }
        if (outage) {
            (void)poll(NULL, 0, OUTAGE_MS);
        } else {
            TRY(wait_for_news(f, why));
        }
    }
}

/* ---- calls ---- */

static void
following_release(struct following *f)
{
    for (size_t i = 0; i < f->client->count; i++) {
        if (f->news[i]->posted) {
            f->news[i]->abandoned = true;
        } else {
            free(f->news[i]);
        }
    }
    free(f->news);
    free(f->positions);
    buf_release(&f->rest);
    buf_release(&f->text);
    buf_release(&f->request);
}

static void
following_init(struct following *f, struct index_client *client)
{
    *f = (struct following){.client = client};
    f->positions = memory_zero(client->count, sizeof(*f->positions));
    f->news = memory_zero(client->count, sizeof(*f->news));
    for (size_t i = 0; i < client->count; i++) {
        f->news[i] = memory_new(sizeof(*f->news[i]));
    }
    buf_init(&f->rest, LINE_MAXIMUM);
    buf_init(&f->text, LINE_MAXIMUM);
    buf_init(&f->request, REQUEST_MAXIMUM);
}

enum status
index_changes(struct index_client *client, const struct index_follow_options *options,
              const struct index_follower *follower, struct reason *why)
{
    struct following f;
    following_init(&f, client);
    f.options = options;
    f.follower = follower;
    enum status status = options->since.length > 0
                             ? change_positions_get(options->since, f.positions, client->count, why)
                             : STATUS_OK;
    if (status == STATUS_OK) {
        status = follow(&f, why);
    }
    following_release(&f);
    return status;
}

enum status
index_last_change(struct index_client *client, struct slice uri, uint32_t timeout_ms,
                  const struct index_follower *follower, struct reason *why)
{
    static const struct index_follow_options no_options;
    struct following f;
    following_init(&f, client);
    f.options = &no_options;
    f.follower = follower;
    f.alone = true;
    f.partition = client_owner(client, uri);
    codec_put_u8(&f.request, INDEX_STREAM_LAST_CHANGE);
    codec_put_slice(&f.request, uri);
    client_begin(client, INDEX_PARTIAL_ERROR, timeout_ms, client->cancel);
    enum status status = f.request.overflowed
                             ? status_fail(why, STATUS_LIMIT, "the URI is too long")
                             : read_stream(&f, why);
    client->deadline_ms = 0;
    if (status == STATUS_OK && f.in_batch) {
        status = malformed(why);
    } else if (status == STATUS_OK && !f.any) {
        status =
            status_fail(why, STATUS_NOT_FOUND, "the index does not know %.*s", SLICE_PRINT(uri));
    }
    following_release(&f);
    return status;
}

enum status
index_position(struct index_client *client, struct buf *position, struct reason *why)
{
    struct following f;
    enum status status = STATUS_OK;
    following_init(&f, client);
    client_begin(client, INDEX_PARTIAL_ERROR, 0, client->cancel);
    for (size_t i = 0; i < client->count; i++) {
        ask_for_news(&f, i, false);
    }
    for (size_t i = 0; i < client->count && status == STATUS_OK; i++) {
        while (status == STATUS_OK && !f.news[i]->come) {
            status = client_wait(client, why);
        }
        if (status == STATUS_OK && f.news[i]->status != STATUS_OK) {
            const struct reason what = {"the partition does not answer"};
            status = client_fail(client, i, f.news[i]->status, &what, why);
        }
        f.positions[i] = f.news[i]->position;
    }
    if (status == STATUS_OK) {
        change_positions_put(position, f.positions, client->count);
    }
    following_release(&f);
    return status;
}
