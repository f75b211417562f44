#include "index/serve/answers.h"

#include <stdlib.h>

#include "base/memory.h"
#include "index/protocol/share_request.h"
#include "index/read/dump.h"
#include "index/read/provenance.h"
#include "index/read/quad_text.h"
#include "index/serve/answer_keys.h"
#include "index/serve/answer_lookup.h"
#include "index/serve/answer_rows.h"
#include "index/serve/answer_share.h"
#include "index/serve/answer_triples.h"
#include "index/serve/change_lines.h"
#include "index/write/partition_keys.h"
#include "rdf/core/writer.h"

enum { PIECE = 32 << 10, LINE_MAXIMUM = 1 << 28 };

struct answer {
    struct partition *partition;
    const struct service_options *options;
    char *request; /* the arguments point into it */
    enum index_stream stream;
    struct slice text; /* query, words */
    struct slice format;
    struct quad pattern;
    uint64_t limit;
    uint64_t timeout_ms;
    uint64_t client;
    struct slice default_graph, dataset, dataset_named;
    enum index_answer answer;
    bool with_sets, with_position;
    struct change_request changes;
    struct slice *graphs;
    struct share_request share;
    struct slice keys; /* of it */
    uint64_t session;  /* 0: none */
    bool begins;
    struct partition_reader *reader; /* of the session */
    struct partition_needs needs;    /* of a lookup */
};

/* ---- the request ---- */

static bool
read_change_request(struct answer *answer, struct codec_reader *in)
{
    answer->changes.since.batch = codec_get_varint(in);
    answer->changes.since.stamp = codec_get_varint(in);
    const uint64_t count = codec_get_varint(in);
    if (in->bad || count > (uint64_t)(in->end - in->at)) {
        return false;
    }
    answer->graphs = memory_alloc(count * sizeof(*answer->graphs));
    for (size_t i = 0; i < count; i++) {
        answer->graphs[i] = codec_get_slice(in);
    }
    answer->changes.graphs = answer->graphs;
    answer->changes.graph_count = count;
    return true;
}

static bool
read_arguments(struct answer *answer, struct codec_reader *in)
{
    switch (answer->stream) {
    case INDEX_STREAM_QUERY:
        answer->text = codec_get_slice(in);
        answer->format = codec_get_slice(in);
        answer->timeout_ms = codec_get_varint(in);
        answer->default_graph = codec_get_slice(in);
        answer->answer = (enum index_answer)codec_get_u8(in);
        answer->dataset = codec_get_slice(in);
        answer->dataset_named = codec_get_slice(in);
        answer->client = codec_get_u64(in);
        return answer->answer <= INDEX_ANSWER_MEASURED;
    case INDEX_STREAM_PATTERN:
        answer->limit = codec_get_varint(in);
        return index_get_pattern(in, &answer->pattern);
    case INDEX_STREAM_LAST_CHANGE:
        answer->text = codec_get_slice(in);
        return true;
    case INDEX_STREAM_SEARCH:
    case INDEX_STREAM_LITERALS:
        answer->text = codec_get_slice(in);
        answer->limit = codec_get_varint(in);
        return true;
    case INDEX_STREAM_FIND:
    case INDEX_STREAM_DESCRIBE:
        answer->text = slice_of((const char *)in->at, (size_t)(in->end - in->at));
        in->at = in->end;
        return true;
    case INDEX_STREAM_ROWS:
        answer->session = codec_get_u64(in);
        answer->text = slice_of((const char *)in->at, (size_t)(in->end - in->at));
        answer->begins = in->at < in->end && *in->at & INDEX_ROWS_BEGIN;
        in->at = in->end;
        return answer->text.length > 0;
    case INDEX_STREAM_TRIPLES:
    case INDEX_STREAM_KEYS:
        answer->session = codec_get_u64(in);
        answer->begins = codec_get_u8(in) & INDEX_ROWS_BEGIN;
        answer->text = slice_of((const char *)in->at, (size_t)(in->end - in->at));
        in->at = in->end;
        return true;
    case INDEX_STREAM_SHARE:
        answer->session = codec_get_u64(in);
        answer->begins = codec_get_u8(in) & INDEX_ROWS_BEGIN;
        return share_request_get(in, &answer->share, &answer->keys, &answer->timeout_ms);
    case INDEX_STREAM_DUMP:
        answer->with_position = codec_get_u8(in) != 0;
        return true;
    case INDEX_STREAM_CHANGES:
        return read_change_request(answer, in);
    case INDEX_STREAM_VERIFY:
    case INDEX_STREAM_BACKUP:
    case INDEX_STREAM_COMPACT:
        return true;
    case INDEX_STREAM_COUNTS:
        answer->with_sets = codec_get_u8(in) != 0;
        return true;
    }
    return false;
}

static enum status
join_session(struct answer *answer, struct sessions *sessions, struct reason *why)
{
    if (answer->session == 0) {
        return STATUS_OK;
    }
    return sessions_reader(sessions, answer->session, answer->begins, &answer->reader, why);
}

enum status
answer_new(struct answer **result, struct partition *partition,
           const struct service_options *options, struct sessions *sessions, struct slice request,
           struct reason *why)
{
    struct answer *answer = memory_new(sizeof(*answer));
    answer->partition = partition;
    answer->options = options;
    partition_needs_init(&answer->needs);
    answer->request = memory_string_n(request.at, request.length);
    struct codec_reader in = codec_reader_of(slice_of(answer->request, request.length));
    answer->stream = (enum index_stream)codec_get_u8(&in);
    if (!read_arguments(answer, &in) || !codec_at_end(&in)) {
        answer_free(answer);
        return status_fail(why, STATUS_PROTOCOL, "a request to the index is malformed");
    }
    const enum status status = join_session(answer, sessions, why);
    if (status != STATUS_OK) {
        answer_free(answer);
        return status;
    }
    *result = answer;
    return STATUS_OK;
}

bool
answer_is_query(const struct answer *answer)
{
    return answer->stream == INDEX_STREAM_QUERY;
}

const struct partition_needs *
answer_needs(const struct answer *answer)
{
    return &answer->needs;
}

bool
answer_is_maintenance(const struct answer *answer)
{
    return answer->stream == INDEX_STREAM_DUMP || answer->stream == INDEX_STREAM_VERIFY ||
           answer->stream == INDEX_STREAM_BACKUP || answer->stream == INDEX_STREAM_COMPACT;
}

uint64_t
answer_client(const struct answer *answer)
{
    return answer->client;
}

void
answer_free(void *context)
{
    struct answer *answer = context;
    if (answer != NULL) {
        partition_reader_close(answer->reader);
        free(answer->request);
        free(answer->graphs);
        partition_needs_release(&answer->needs);
        free(answer);
    }
}

/* ---- pieces ---- */

/* Lines gathered, so that the cursor is not entered for each. */
struct lines {
    struct cursor *cursor;
    struct buf text;
};

static void
lines_init(struct lines *lines, struct cursor *cursor)
{
    lines->cursor = cursor;
    buf_init(&lines->text, LINE_MAXIMUM);
}

typedef enum status write_piece(struct cursor *cursor, struct slice bytes, struct reason *why);

static enum status
lines_write(struct lines *lines, write_piece *write, struct reason *why)
{
    if (lines->text.overflowed) {
        return status_fail(why, STATUS_LIMIT, "a line of more than %d bytes", LINE_MAXIMUM);
    }
    const enum status status = write(lines->cursor, buf_slice(&lines->text), why);
    buf_reset(&lines->text);
    return status;
}

static enum status
lines_end(struct lines *lines, enum status status, struct reason *why)
{
    if (status == STATUS_OK && (lines->text.length > 0 || lines->text.overflowed)) {
        status = lines_write(lines, cursor_write_last, why);
    }
    buf_release(&lines->text);
    return status;
}

static enum status
take_line(void *context, struct slice line, struct reason *why)
{
    struct lines *lines = context;
    (void)buf_append_slice(&lines->text, line);
    return lines->text.length >= PIECE ? lines_write(lines, cursor_write, why) : STATUS_OK;
}

static enum status
take_piece(void *cursor, struct slice bytes, struct reason *why)
{
    return cursor_write(cursor, bytes, why);
}

/* ---- the second thread of a query: it runs as long as one of the turns is spare, over the same
 * version of the index ---- */

struct helper {
    struct query_helper functions; /* of which this is the context */
    struct turn *turn;
    struct partition_reader *reader; /* of the query, */
    struct partition_reader *own;    /* and of its version */
    struct threads *threads;
    struct thread *thread;
    query_help *help;
    void *argument;
};

/* To begin, and to put together what comes of it, takes a fraction of a millisecond. */
enum { ROWS_LEAST = 100000, US_LEAST = 8000, LATE_MOST = 25 };

static bool
helper_is_free(void *context)
{
    const struct helper *helper = context;
    return turn_may_lend(helper->turn);
}

static bool
helper_is_wanted(void *context)
{
    const struct helper *helper = context;
    return turn_is_wanted(helper->turn);
}

static void
run_helper(void *argument)
{
    struct helper *helper = argument;
    const uint64_t before_us = turn_cpu_us();
    helper->help(helper->argument, partition_reader_source(helper->own));
    turn_lent_back(helper->turn, turn_cpu_us() - before_us);
}

static bool
helper_begin(void *context, query_help *help, void *argument)
{
    struct helper *helper = context;
    if (!turn_lend(helper->turn)) {
        return false;
    }
    helper->help = help;
    helper->argument = argument;
    helper->own = partition_reader_share(helper->reader);
    helper->thread = threads_start(helper->threads, run_helper, helper);
    if (helper->thread == NULL) {
        partition_reader_close(helper->own);
        turn_lent_back(helper->turn, 0);
        return false;
    }
    return true;
}

static void
helper_end(void *context)
{
    struct helper *helper = context;
    threads_join(helper->thread);
    partition_reader_close(helper->own);
}

static void
helper_init(struct helper *helper, struct cursor *cursor, struct partition_reader *reader)
{
    *helper = (struct helper){.functions = {.context = helper,
                                            .rows_least = ROWS_LEAST,
                                            .us_least = US_LEAST,
                                            .late_most = LATE_MOST,
                                            .is_free = helper_is_free,
                                            .begin = helper_begin,
                                            .end = helper_end,
                                            .is_wanted = helper_is_wanted},
                              .turn = cursor_turn(cursor),
                              .threads = cursor_threads(cursor),
                              .reader = reader};
}

/* ---- streams ---- */

/* The limits of a query. */
static struct query_options
limits_of(const struct answer *answer, struct cursor *cursor)
{
    const uint64_t most = answer->options->query_timeout_ms;
    const uint64_t wanted = answer->timeout_ms;
    return (struct query_options){.timeout_ms =
                                      wanted == 0 || (most > 0 && wanted > most) ? most : wanted,
                                  .memory = cursor_memory(cursor),
                                  .scratch_folder = answer->options->scratch_folder,
                                  .disk = answer->options->query_disk,
                                  .cancel = cursor_cancelled(cursor),
                                  .step = cursor_step,
                                  .step_context = cursor};
}

static enum status
produce_query(struct answer *answer, struct partition_reader *reader, struct cursor *cursor,
              struct reason *why)
{
    struct query_options options = limits_of(answer, cursor);
    options.default_graph = answer->default_graph;
    options.graphs = answer->dataset;
    options.named_graphs = answer->dataset_named;
    struct helper helper;
    helper_init(&helper, cursor, reader);
    options.helper = &helper.functions;
    return answer_query(partition_reader_source(reader), answer->options->metastore, answer->text,
                        answer->format, &options, answer->answer, take_piece, cursor, why);
}

static enum status
produce_share(struct answer *answer, struct partition_reader *reader, struct cursor *cursor,
              struct reason *why)
{
    const struct query_options options = limits_of(answer, cursor);
    const struct quad_source *source = partition_reader_source(reader);
    if (!answer->share.partition_wise) {
        return answer_share(source, &answer->share, &options, cursor, why);
    }
    struct oid_set shared;
    TRY(partition_keys_set(answer->partition, answer->share.places, answer->keys, &shared, why));
    answer->share.shared = &shared;
    const enum status status = answer_share(source, &answer->share, &options, cursor, why);
    oid_set_release(&shared);
    return status;
}

static enum status
produce_pattern(struct answer *answer, struct partition_reader *reader, struct cursor *cursor,
                struct reason *why)
{
    const struct quad_source *source = partition_reader_source(reader);
    struct quad_oids ids;
    bool possible;
    TRY(answer_pattern(source, &answer->pattern, &ids, &possible, why));
    if (!possible) {
        return STATUS_OK;
    }
    struct lines lines;
    lines_init(&lines, cursor);
    return lines_end(
        &lines, quad_lines(source, &ids, ORDER_COUNT, answer->limit, take_line, &lines, why), why);
}

/* A line for each quad with the literal, up to the limit. */
static enum status
search_lines(const struct quad_source *source, oid literal, double score, uint64_t *left,
             struct lines *lines, struct reason *why)
{
    const struct quad_oids pattern = {.object = literal};
    struct quad_scan *scan;
    struct quad_oids rows[64];
    struct arena arena;
    arena_init(&arena, 0);
    TRY(source->scan(source->context, &pattern, ORDER_COUNT, &scan, why));
    enum status status = STATUS_OK;
    for (size_t n = 1; n > 0 && *left > 0 && status == STATUS_OK;) {
        status = source->scan_next(scan, rows, *left < 64 ? *left : 64, &n, why);
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            struct quad quad;
            status = quad_resolve(source, &rows[i], &arena, &quad, why);
            if (status == STATUS_OK) {
                (void)buf_printf(&lines->text, "%.4f\t", score);
                (void)nquads_write_term(&lines->text, &quad.object);
                (void)buf_append_char(&lines->text, '\t');
                (void)nquads_write_term(&lines->text, &quad.subject);
                (void)buf_append_char(&lines->text, '\t');
                (void)nquads_write_term(&lines->text, &quad.predicate);
                (void)buf_append_char(&lines->text, '\t');
                (void)nquads_write_term(&lines->text, &quad.graph);
                (void)buf_append_char(&lines->text, '\n');
                --*left;
            }
            arena_reset(&arena);
        }
        if (status == STATUS_OK && lines->text.length >= PIECE) {
            status = lines_write(lines, cursor_write, why);
        }
    }
    source->scan_close(scan);
    arena_release(&arena);
    return status;
}

static enum status
literal_line(const struct quad_source *source, oid literal, double score, uint64_t *left,
             struct lines *lines, struct reason *why)
{
    struct arena arena;
    struct term term;
    arena_init(&arena, 0);
    const enum status status = source->resolve(source->context, literal, &arena, &term, why);
    if (status == STATUS_OK) {
        (void)buf_printf(&lines->text, "%.9g\t", score);
        (void)nquads_write_term(&lines->text, &term);
        (void)buf_append_char(&lines->text, '\n');
        --*left;
    }
    arena_release(&arena);
    return status;
}

static enum status
produce_search(struct answer *answer, struct partition_reader *reader, struct cursor *cursor,
               struct reason *why)
{
    const struct quad_source *source = partition_reader_source(reader);
    uint64_t left = answer->limit > 0 ? answer->limit : UINT32_MAX;
    struct text_scan *scan;
    struct lines lines;
    TRY(source->search(source->context, answer->text,
                       (uint32_t)(left < UINT32_MAX ? left : UINT32_MAX), &scan, why));
    lines_init(&lines, cursor);
    enum status status = STATUS_OK;
    bool end = false;
    while (status == STATUS_OK && left > 0) {
        oid literal;
        double score;
        status = source->search_next(scan, &literal, &score, &end, why);
        if (status != STATUS_OK || end) {
            break;
        }
        status = answer->stream == INDEX_STREAM_SEARCH
                     ? search_lines(source, literal, score, &left, &lines, why)
                     : literal_line(source, literal, score, &left, &lines, why);
    }
    source->search_close(scan);
    return lines_end(&lines, status, why);
}

/* Produces an answer that needs a reader's snapshot. */
static enum status
produce_read(struct answer *answer, struct cursor *cursor, struct reason *why)
{
    struct partition_reader *reader = answer->reader;
    answer->reader = NULL;
    if (reader == NULL) {
        TRY(partition_reader_open(&reader, answer->partition, why));
    }
    enum status status;
    switch (answer->stream) {
    case INDEX_STREAM_QUERY:
        status = produce_query(answer, reader, cursor, why);
        break;
    case INDEX_STREAM_PATTERN:
        status = produce_pattern(answer, reader, cursor, why);
        break;
    case INDEX_STREAM_SHARE:
        status = produce_share(answer, reader, cursor, why);
        break;
    case INDEX_STREAM_ROWS:
        status = answer_rows(answer->partition, partition_reader_source(reader), answer->text,
                             cursor, why);
        break;
    case INDEX_STREAM_TRIPLES:
        status = answer_triples(reader, answer->text, cursor, why);
        break;
    case INDEX_STREAM_KEYS:
        status = answer_keys(answer->partition, answer->text, cursor, why);
        break;
    case INDEX_STREAM_FIND:
        status = answer_find(reader, answer->text, cursor, &answer->needs, why);
        break;
    case INDEX_STREAM_DESCRIBE:
        status = answer_describe(reader, answer->text, cursor, &answer->needs, why);
        break;
    default:
        status = produce_search(answer, reader, cursor, why);
        break;
    }
    partition_reader_close(reader);
    return status;
}

enum status
answer_produce(void *context, struct cursor *cursor, struct reason *why)
{
    struct answer *answer = context;
    struct partition *partition = answer->partition;
    const char *folder = answer->options->scratch_folder;
    const size_t memory = answer->options->sort_memory;
    switch (answer->stream) {
    case INDEX_STREAM_DUMP:
        return partition_dump(partition, answer->with_position, folder, memory, take_piece, cursor,
                              why);
    case INDEX_STREAM_CHANGES:
        return partition_changes(partition, &answer->changes, take_piece, cursor, why);
    case INDEX_STREAM_LAST_CHANGE:
        return partition_last_change(partition, answer->text, take_piece, cursor, why);
    case INDEX_STREAM_VERIFY:
        return partition_verify(partition, folder, memory, cursor_cancelled(cursor), take_piece,
                                cursor, why);
    case INDEX_STREAM_BACKUP:
        return partition_backup(partition, take_piece, cursor, why);
    case INDEX_STREAM_COMPACT:
        return partition_compact(partition, cursor_cancelled(cursor), take_piece, cursor, why);
    case INDEX_STREAM_COUNTS:
        return partition_counts(partition, answer->with_sets, take_piece, cursor, why);
    default:
        return produce_read(answer, cursor, why);
    }
}
