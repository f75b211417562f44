#include "index/client/index_client.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/digest.h"
#include "base/memory.h"
#include "index/changes/change_position.h"
#include "index/client/federation/federation.h"
#include "index/client/partitions/client_calls.h"
#include "index/query/results/result.h"
#include "index/read/query_answer.h"

enum {
    TIMEOUT_MS = 60000,
    REQUEST_MAXIMUM = 8 << 20,
    REPLY_MAXIMUM = RPC_PAYLOAD_MAXIMUM,
    LINE_MAXIMUM = 1 << 30,
    PIECE = 256 << 10,
    GOODBYE_MS = 300,
    GRACE_MS = 1000
};
static const size_t federation_memory = (size_t)1 << 30;

/* ---- life ---- */

enum status
index_client_open(struct index_client **result, const struct index_client_options *options,
                  struct reason *why)
{
    struct index_client *client = memory_new(sizeof(*client));
    client->timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS;
    client->silence_ms = options->silence_ms ? options->silence_ms : TIMEOUT_MS;
    client->partitions = memory_zero(options->count, sizeof(*client->partitions));
    client->descriptors = memory_zero(options->count, sizeof(*client->descriptors));
    if (options->owner_of_partition != NULL) {
        client->owners = memory_zero(PARTITIONS, sizeof(*client->owners));
        memcpy(client->owners, options->owner_of_partition, PARTITIONS * sizeof(*client->owners));
    }
    if (options->metastore != NULL) {
        client->metastore = metastore_client_options_copy(options->metastore);
    }
    enum status status = getrandom(&client->last_session, sizeof(client->last_session), 0) ==
                                 sizeof(client->last_session)
                             ? STATUS_OK
                             : status_fail_errno(why, "no random bytes");
    for (size_t i = 0; i < options->count && status == STATUS_OK; i++) {
        struct partition_client *partition = &client->partitions[i];
        const struct rpc_client_options rpc = {
            .endpoint = options->endpoints[i],
            .name = options->name,
            .keys = strncmp(options->endpoints[i], "ipc:", 4) == 0 ? NULL : options->keys};
        status = rpc_client_open(&partition->rpc, &rpc, why);
        if (status == STATUS_OK) {
            partition->endpoint = memory_string(options->endpoints[i]);
            client->count++;
        }
    }
    if (status != STATUS_OK) {
        index_client_close(client);
        client = NULL;
    }
    *result = client;
    return status;
}

/* Waits a moment for the answers to CLOSE and END, which were posted last. */
static void
say_goodbye(struct index_client *client)
{
    client_begin(client, INDEX_PARTIAL_ERROR, GOODBYE_MS, NULL);
    for (size_t i = 0; i < client->count;) {
        if (rpc_client_outstanding(client->partitions[i].rpc) == 0) {
            i++;
        } else if (client_wait(client, NULL) != STATUS_OK) {
            return;
        }
    }
}

void
index_client_close(struct index_client *client)
{
    if (client == NULL) {
        return;
    }
    say_goodbye(client);
    for (size_t i = 0; i < client->count; i++) {
        rpc_client_close(client->partitions[i].rpc);
        client_links_cancel(client, i);
        free(client->partitions[i].endpoint);
    }
    free(client->partitions);
    free(client->descriptors);
    free(client->owners);
    repeated_cache_free(client->repeated);
    value_cache_free(client->values);
    for (size_t i = 0; i < KEY_PLACES; i++) {
        node_keys_free(client->keys[i]);
    }
    free(client->metastore);
    free(client);
}

void
index_client_manner(struct index_client *client, enum index_partial partial,
                    const atomic_bool *cancel)
{
    client_begin(client, partial, 0, cancel);
}

bool
index_client_missing(const struct index_client *client, size_t *partition, struct reason *which)
{
    for (; *partition < client->count; ++*partition) {
        const struct partition_client *missing = &client->partitions[*partition];
        if (missing->missing) {
            (void)status_fail(which, STATUS_OK, "index partition %zu (%s) is missing: %s",
                              *partition, missing->endpoint, missing->why.text);
            ++*partition;
            return true;
        }
    }
    return false;
}

static void
start_request(struct buf *request, enum index_stream stream)
{
    buf_init(request, REQUEST_MAXIMUM);
    codec_put_u8(request, (uint8_t)stream);
}

static enum status
check_request(const struct buf *request, struct reason *why)
{
    return request->overflowed
               ? status_fail(why, STATUS_LIMIT, "a request to the index is too long")
               : STATUS_OK;
}

/* ---- queries ---- */

static struct query_options
options_here(const struct index_client *client, const struct index_query_options *options)
{
    return (struct query_options){.timeout_ms = options->timeout_ms,
                                  .default_graph = options->default_graph,
                                  .graphs = options->graphs,
                                  .named_graphs = options->named_graphs,
                                  .cancel = client->cancel,
                                  .scratch_folder = options->scratch_folder};
}

static enum status
run_here(struct index_client *client, struct slice sparql, const char *format,
         const struct index_query_options *options, index_piece *piece, void *context,
         struct reason *why)
{
    const struct query_options how = options_here(client, options);
    struct federation *federation = federation_new(client, federation_memory);
    const enum status status =
        answer_query(federation_source(federation), client->metastore, sparql, slice_string(format),
                     &how, options->answer, piece, context, why);
    federation_free(federation);
    return status;
}

struct owning {
    const struct index_client *client;
    size_t owner; /* the number of partitions: none yet */
    bool several;
};

static void
see_graph(void *context, struct slice graph)
{
    struct owning *owning = context;
    const size_t owner = client_owner(owning->client, graph);
    owning->several =
        owning->several || (owning->owner < owning->client->count && owning->owner != owner);
    owning->owner = owner;
}

/* The partition that has every graph the query reads: it answers alone, as fast as if there were no
 * others. The number of partitions: there is none, or an answer without it is wanted. */
static enum status
find_owner(const struct index_client *client, struct slice sparql,
           const struct index_query_options *options, size_t *owner, struct reason *why)
{
    struct owning owning = {.client = client, .owner = client->count};
    const struct query_options how = options_here(client, options);
    struct query *query;
    *owner = client->count > 1 ? client->count : 0;
    if (client->count == 1 || client->partial != INDEX_PARTIAL_ERROR) {
        return STATUS_OK;
    }
    TRY(query_prepare(&query, sparql, slice_of(NULL, 0), why));
    if (query_graphs(query, &how, see_graph, &owning) && !owning.several) {
        *owner = owning.owner;
    }
    query_free(query);
    return STATUS_OK;
}

/* The partition's service evaluates it. */
static enum status
run_there(struct index_client *client, size_t partition, struct slice sparql, const char *format,
          const struct index_query_options *options, index_piece *piece, void *context,
          struct reason *why)
{
    struct buf request;
    struct reason what = {""};
    start_request(&request, INDEX_STREAM_QUERY);
    codec_put_slice(&request, sparql);
    codec_put_slice(&request, slice_string(format));
    codec_put_varint(&request, options->timeout_ms);
    codec_put_slice(&request, options->default_graph);
    codec_put_u8(&request, (uint8_t)options->answer);
    codec_put_slice(&request, options->graphs);
    codec_put_slice(&request, options->named_graphs);
    codec_put_u64(&request, options->client);
    enum status status = check_request(&request, why);
    if (status == STATUS_OK) {
        client->deadline_ms += client->deadline_ms > 0 ? GRACE_MS : 0; /* the service ends it */
        status = stream_pass_on(client, partition, buf_slice(&request), piece, context, &what);
        if (status != STATUS_OK && client->count > 1) {
            status = client_fail(client, partition, status, &what, why);
        } else if (status != STATUS_OK) {
            status = status_fail(why, status, "%s", what.text);
        }
    }
    buf_release(&request);
    return status;
}

enum status
index_query(struct index_client *client, struct slice sparql, const char *format,
            const struct index_query_options *options, index_piece *piece, void *context,
            struct reason *why)
{
    size_t owner;
    TRY(find_owner(client, sparql, options, &owner, why));
    client_begin(client, client->partial, options->timeout_ms, client->cancel);
    const enum status status =
        owner < client->count
            ? run_there(client, owner, sparql, format, options, piece, context, why)
            : run_here(client, sparql, format, options, piece, context, why);
    client->deadline_ms = 0;
    return status;
}

/* ---- lines of several partitions ---- */

/* Counts lines and stops after the limit. */
struct limited {
    index_piece *piece;
    void *context;
    uint64_t left;
};

static enum status
pass_lines(void *context, struct slice bytes, struct reason *why)
{
    struct limited *limited = context;
    size_t end = 0;
    while (end < bytes.length && limited->left > 0) {
        const struct slice rest = slice_of(bytes.at + end, bytes.length - end);
        const size_t line = slice_find(rest, '\n');
        limited->left -= line < rest.length;
        end += line < rest.length ? line + 1 : line;
    }
    TRY(limited->piece(limited->context, slice_of(bytes.at, end), why));
    return limited->left > 0 ? STATUS_OK : STATUS_END;
}

/* A line of a stream, with the stream. */
struct line_source {
    struct index_stream_reader stream;
    struct buf text;
    size_t at;
    struct slice line;
    bool ended;
};

/* The partitions' streams one after the other; all have begun before the first is read. */
enum status
index_pattern(struct index_client *client, const struct quad *pattern, uint64_t limit,
              index_piece *piece, void *context, struct reason *why)
{
    struct limited limited = {piece, context, limit > 0 ? limit : UINT64_MAX};
    struct buf request;
    start_request(&request, INDEX_STREAM_PATTERN);
    codec_put_varint(&request, limit);
    index_put_pattern(&request, pattern);
    enum status status = check_request(&request, why);
    client_begin(client, client->partial, 0, client->cancel);
    const bool one = pattern->graph.kind != TERM_NONE;
    const size_t first = one ? client_owner(client, pattern->graph.value) : 0;
    const size_t end = one ? first + 1 : client->count;
    struct index_stream_reader *streams = memory_zero(client->count, sizeof(*streams));
    size_t started = first;
    for (; started < end && status == STATUS_OK; started++) {
        stream_start(&streams[started], client, started, buf_slice(&request));
    }
    for (size_t i = first; i < started && status == STATUS_OK && limited.left > 0; i++) {
        struct slice bytes;
        while (status == STATUS_OK &&
               (status = client_next_bytes(&streams[i], &bytes, why)) == STATUS_OK) {
            status = pass_lines(&limited, bytes, why);
        }
        status = status == STATUS_END ? STATUS_OK : status;
    }
    for (size_t i = first; i < started; i++) {
        stream_close(&streams[i]);
    }
    free(streams);
    buf_release(&request);
    return status;
}

/* The next whole line in source->line; END. */
static enum status
next_line(struct line_source *source, struct reason *why)
{
    for (;;) {
        const size_t left = source->text.length - source->at;
        const struct slice rest =
            left > 0 ? slice_of(source->text.data + source->at, left) : SLICE("");
        const size_t line = slice_find(rest, '\n');
        if (line < rest.length) {
            source->line = slice_of(rest.at, line + 1);
            source->at += line + 1;
            return STATUS_OK;
        }
        if (source->ended) {
            return STATUS_END;
        }
        if (source->at > 0) {
            memmove(source->text.data, rest.at, rest.length);
            source->text.length = rest.length;
            source->at = 0;
        }
        struct slice bytes;
        const enum status status = client_next_bytes(&source->stream, &bytes, why);
        source->ended = status == STATUS_END;
        if (status == STATUS_OK) {
            (void)buf_append_slice(&source->text, bytes);
        } else if (status != STATUS_END) {
            return status;
        }
    }
}

/* Tells whether a's line goes out before b's. */
typedef bool line_before(struct slice a, struct slice b);

static bool
in_byte_order(struct slice a, struct slice b)
{
    return slice_compare(a, b) < 0;
}

static bool
in_score_order(struct slice a, struct slice b)
{
    char score[2][32];
    const struct slice lines[] = {a, b};
    for (int i = 0; i < 2; i++) {
        size_t n = slice_find(lines[i], '\t');
        n = n < sizeof(score[i]) ? n : sizeof(score[i]) - 1;
        memcpy(score[i], lines[i].at, n);
        score[i][n] = '\0';
    }
    return strtod(score[0], NULL) > strtod(score[1], NULL);
}

static enum status
merge_lines(struct line_source *sources, size_t count, line_before *before, struct limited *limited,
            struct reason *why)
{
    struct buf out;
    buf_init(&out, LINE_MAXIMUM);
    enum status status = STATUS_OK;
    while (status == STATUS_OK && limited->left > 0) {
        struct line_source *best = NULL;
        for (size_t i = 0; i < count; i++) {
            if (sources[i].line.length > 0 &&
                (best == NULL || before(sources[i].line, best->line))) {
                best = &sources[i];
            }
        }
        if (best == NULL) {
            break;
        }
        (void)buf_append_slice(&out, best->line);
        limited->left--;
        if (out.length >= PIECE) {
            status = limited->piece(limited->context, buf_slice(&out), why);
            buf_reset(&out);
        }
        best->line.length = 0;
        if (status == STATUS_OK) {
            status = next_line(best, why);
            status = status == STATUS_END ? STATUS_OK : status;
        }
    }
    if (status == STATUS_OK && out.length > 0) {
        status = limited->piece(limited->context, buf_slice(&out), why);
    }
    buf_release(&out);
    return status;
}

/* The first line of a dump says its position. */
static enum status
take_position(struct line_source *source, struct change_position *position, struct reason *why)
{
    const struct slice head = SLICE("position\t");
    struct slice line = source->line;
    source->line.length = 0;
    if (!slice_starts(line, head) ||
        !change_position_get(slice_of(line.at + head.length, line.length - head.length - 1),
                             position)) {
        return status_fail(why, STATUS_PROTOCOL, "partition %zu of the index sent no position",
                           source->stream.partition);
    }
    const enum status status = next_line(source, why);
    return status == STATUS_END ? STATUS_OK : status;
}

/* Opens the same stream on every partition and merges their lines. position: gets that of a
 * dump, whose streams begin with theirs; else NULL. */
static enum status
merge_streams(struct index_client *client, struct slice request, line_before *before,
              struct buf *position, struct limited *limited, struct reason *why)
{
    struct change_position *positions = memory_zero(client->count, sizeof(*positions));
    struct line_source *sources = memory_zero(client->count, sizeof(*sources));
    enum status status = STATUS_OK;
    for (size_t i = 0; i < client->count; i++) {
        buf_init(&sources[i].text, LINE_MAXIMUM);
        stream_start(&sources[i].stream, client, i, request);
    }
    for (size_t i = 0; i < client->count && status == STATUS_OK; i++) {
        status = next_line(&sources[i], why);
        status = status == STATUS_END ? STATUS_OK : status;
        if (status == STATUS_OK && position != NULL) {
            status = take_position(&sources[i], &positions[i], why);
        }
    }
    if (status == STATUS_OK && position != NULL) {
        change_positions_put(position, positions, client->count);
    }
    if (status == STATUS_OK) {
        status = merge_lines(sources, client->count, before, limited, why);
    }
    for (size_t i = 0; i < client->count; i++) {
        stream_close(&sources[i].stream);
        buf_release(&sources[i].text);
    }
    free(sources);
    free(positions);
    return status;
}

enum status
index_search(struct index_client *client, struct slice words, uint32_t limit, index_piece *piece,
             void *context, struct reason *why)
{
    struct limited limited = {piece, context, limit > 0 ? limit : UINT64_MAX};
    struct buf request;
    start_request(&request, INDEX_STREAM_SEARCH);
    codec_put_slice(&request, words);
    codec_put_varint(&request, limit);
    enum status status = check_request(&request, why);
    client_begin(client, client->partial, 0, client->cancel);
    if (status == STATUS_OK) {
        status = merge_streams(client, buf_slice(&request), in_score_order, NULL, &limited, why);
    }
    buf_release(&request);
    return status;
}

enum status
index_dump(struct index_client *client, struct buf *position, index_piece *piece, void *context,
           struct reason *why)
{
    struct limited all = {piece, context, UINT64_MAX};
    const char request[] = {INDEX_STREAM_DUMP, position != NULL};
    const struct slice bytes = slice_of(request, sizeof(request));
    client_begin(client, client->partial && position == NULL, 0, client->cancel);
    return client->count == 1 && position == NULL
               ? stream_pass_on(client, 0, bytes, piece, context, why)
               : merge_streams(client, bytes, in_byte_order, position, &all, why);
}

enum status
index_verify(struct index_client *client, index_piece *piece, void *context, struct reason *why)
{
    const char request = INDEX_STREAM_VERIFY;
    enum status result = STATUS_OK;
    for (size_t i = 0; i < client->count; i++) {
        struct reason what = {""};
        const enum status status =
            stream_pass_on(client, i, slice_of(&request, 1), piece, context, &what);
        if (status != STATUS_OK) {
            result = status_fail(why, status, "%s", what.text);
        }
        if (status != STATUS_OK && status != STATUS_CORRUPT) {
            break;
        }
    }
    return result;
}

enum status
index_stats_get(struct index_client *client, struct index_stats *stats, struct reason *why)
{
    struct buf reply;
    enum status status = STATUS_OK;
    *stats = (struct index_stats){0};
    buf_init(&reply, REPLY_MAXIMUM);
    for (size_t i = 0; i < client->count && status == STATUS_OK; i++) {
        buf_reset(&reply);
        status = rpc_call(client->partitions[i].rpc, INDEX_VERB_STATS, SLICE(""),
                          client->silence_ms, &reply, why);
        struct codec_reader in = codec_reader_of(buf_slice(&reply));
        stats->documents += codec_get_u64(&in);
        stats->quads += codec_get_u64(&in);
        stats->terms += codec_get_u64(&in);
        stats->literals += codec_get_u64(&in);
        stats->bytes_on_disk += codec_get_u64(&in);
        stats->batches += codec_get_u64(&in);
        const enum status writes = (enum status)codec_get_u64(&in);
        stats->full += writes == STATUS_FULL;
        stats->damaged += writes == STATUS_CORRUPT;
        if (status == STATUS_OK && in.bad) {
            status = status_fail(why, STATUS_PROTOCOL, "the index sent malformed statistics");
        }
    }
    buf_release(&reply);
    return status;
}
