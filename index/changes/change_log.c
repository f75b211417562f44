#include "index/changes/change_log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/varint.h"
#include "index/statistics/statistics.h"

enum {
    CODEC = 1,
    KEY_SIZE = 12, /* batch, piece */
    VALUE_MOST = BLOCK_MAXIMUM,
    HEADER_MOST = 1 + 4 * VARINT_MAXIMUM,
    BLOCK_PREFIX = 3,  /* codec, bytes of rows in two bytes of varint */
    STATE_NUMBERS = 3, /* first batch in the log, bytes, stamp of the last batch */
    ROW_EXPECTED = 8,  /* bytes of a row, about */
    ROW_LARGE = 32     /* nearly no row takes more */
};

struct state {
    uint64_t first; /* the oldest batch in the log; after `last`: none is */
    uint64_t bytes;
    struct change_position last;
};

struct change_log {
    struct tree *tree, *statistics;
    uint64_t limit;
    uint64_t keep;         /* the first batch that may not go */
    struct state writing;  /* the writer's */
    pthread_mutex_t mutex; /* guards */
    struct state committed;
};

/* ---- life ---- */

enum status
change_log_open(struct change_log **result, struct environment *environment,
                struct tree *statistics, uint64_t limit, uint64_t batches, struct reason *why)
{
    struct change_log *log = memory_new(sizeof(*log));
    *result = log;
    pthread_mutex_init(&log->mutex, NULL);
    log->statistics = statistics;
    log->limit = limit;
    log->keep = UINT64_MAX;
    uint64_t numbers[STATE_NUMBERS] = {batches + 1, 0, 0};
    const enum status status = statistics_read(statistics, SLICE("L"), numbers, STATE_NUMBERS, why);
    TRY(status == STATUS_NOT_FOUND ? STATUS_OK : status);
    log->writing = (struct state){numbers[0], numbers[1], {batches, numbers[2]}};
    log->committed = log->writing;
    return tree_open(&log->tree, environment, "changes", why);
}

void
change_log_close(struct change_log *log)
{
    if (log != NULL) {
        tree_close(log->tree);
        pthread_mutex_destroy(&log->mutex);
        free(log);
    }
}

void
change_log_state(struct change_log *log, struct change_position *last, uint64_t *first)
{
    pthread_mutex_lock(&log->mutex);
    *last = log->committed.last;
    if (first != NULL) {
        *first = log->committed.first - 1;
    }
    pthread_mutex_unlock(&log->mutex);
}

static struct slice
piece_key(uint64_t batch, uint32_t piece, uint8_t key[KEY_SIZE])
{
    codec_write_u64(key, batch);
    codec_write_u32(key + 8, piece);
    return slice_of((const char *)key, KEY_SIZE);
}

bool
change_log_holds(const struct change_log *log, size_t changes)
{
    return changes * ROW_LARGE <= log->limit;
}

void
change_log_keep(struct change_log *log, uint64_t batch)
{
    log->keep = batch > 0 ? batch : UINT64_MAX;
}

/* ---- appending ---- */

struct appending {
    struct change_log *log;
    struct transaction *transaction;
    uint64_t batch;
    uint32_t piece;
    struct rows_writer rows;
    uint8_t value[BLOCK_PREFIX + VALUE_MOST + ROW_BYTES_MOST];
    uint8_t signs[VALUE_MOST / 8];
    uint8_t generations[VALUE_MOST];
    size_t generation_bytes;
    oid graph; /* of the last row in the block */
    unsigned puts;
    bool counting; /* bytes alone: nothing is written */
    uint64_t bytes;
};

static enum status
put_piece(struct appending *appending, const uint8_t *value, size_t length, struct reason *why)
{
    struct change_log *log = appending->log;
    uint8_t key[KEY_SIZE];
    appending->bytes += KEY_SIZE + length;
    if (appending->counting) {
        return STATUS_OK;
    }
    if (++appending->puts % LATCH_BLOCKS == 0) {
        latch_leave(tree_latch(log->tree));
        latch_enter_writing(tree_latch(log->tree));
    }
    log->writing.bytes += KEY_SIZE + length;
    return tree_put(log->tree, appending->transaction,
                    piece_key(appending->batch, appending->piece++, key),
                    slice_of((const char *)value, length), why);
}

static void
begin_block(struct appending *appending)
{
    rows_begin(&appending->rows, ORDER_CSPO, appending->value + BLOCK_PREFIX, VALUE_MOST);
    memset(appending->signs, 0, sizeof(appending->signs));
    appending->generation_bytes = 0;
    appending->graph = OID_NONE;
}

static enum status
end_block(struct appending *appending, struct reason *why)
{
    const size_t n = appending->rows.count;
    if (n == 0) {
        return STATUS_OK;
    }
    const size_t length = rows_end(&appending->rows);
    uint8_t *value = appending->value;
    value[0] = CODEC;
    value[1] = (uint8_t)(length & 0x7f) | 0x80; /* a varint of two bytes, however small */
    value[2] = (uint8_t)(length >> 7);
    uint8_t *at = value + BLOCK_PREFIX + length;
    memcpy(at, appending->signs, (n + 7) / 8);
    at += (n + 7) / 8;
    memcpy(at, appending->generations, appending->generation_bytes);
    at += appending->generation_bytes;
    TRY(put_piece(appending, value, (size_t)(at - value), why));
    begin_block(appending);
    return STATUS_OK;
}

/* False: the block is full. */
static bool
add_row(struct appending *appending, const struct row *row, bool removed, uint64_t generation)
{
    const size_t n = appending->rows.count;
    uint8_t bytes[VARINT_MAXIMUM];
    const bool new_graph = row->place[0] != appending->graph;
    const size_t more = new_graph ? (size_t)(varint_put(bytes, generation) - bytes) : 0;
    const size_t others = BLOCK_PREFIX + n / 8 + 1 + appending->generation_bytes + more;
    if (others + ROWS_HEADER >= VALUE_MOST) {
        return false;
    }
    appending->rows.limit = appending->rows.start + VALUE_MOST - others;
    if (!rows_add(&appending->rows, row)) {
        return false;
    }
    memcpy(appending->generations + appending->generation_bytes, bytes, more);
    appending->generation_bytes += more;
    appending->graph = row->place[0];
    appending->signs[n / 8] |= (uint8_t)(removed ? 1U << n % 8 : 0);
    return true;
}

static enum status
append_header(struct appending *appending, const struct change_set *set, uint64_t stamp,
              struct reason *why)
{
    uint8_t value[HEADER_MOST] = {CODEC};
    uint64_t removed = 0;
    for (size_t i = 0; i < set->count; i++) {
        removed += set->changes[i].removed;
    }
    uint8_t *at = varint_put(value + 1, stamp);
    at = varint_put(at, appending->log->writing.last.stamp);
    at = varint_put(at, removed);
    at = varint_put(at, set->count - removed);
    return put_piece(appending, value, (size_t)(at - value), why);
}

static enum status
append_rows(struct appending *appending, const struct change_set *set,
            const struct graph_generation *generations, size_t count, struct reason *why)
{
    size_t at = 0;
    begin_block(appending);
    for (size_t i = 0; i < set->count; i++) {
        const struct quad_change *change = &set->changes[i];
        const struct row row = row_of(&change->quad, ORDER_CSPO);
        while (at < count && generations[at].graph < row.place[0]) {
            at++;
        }
        const uint64_t generation = at < count ? generations[at].generation : 0;
        if (!add_row(appending, &row, change->removed, generation)) {
            TRY(end_block(appending, why));
            (void)add_row(appending, &row, change->removed, generation);
        }
        if (appending->counting && appending->bytes > appending->log->limit) {
            return STATUS_OK; /* it does not fit */
        }
    }
    return end_block(appending, why);
}

/* Takes out up to GATE_BLOCKS of the oldest pieces; *batch, *piece: of the first one left. */
static enum status
remove_some(struct change_log *log, struct transaction *transaction, uint64_t bound,
            uint64_t *batch, uint32_t *piece, struct reason *why)
{
    uint8_t key[KEY_SIZE] = {0};
    uint8_t value[VALUE_MOST];
    size_t key_length = KEY_SIZE;
    size_t length = 0;
    struct tree_cursor *cursor;
    TRY(tree_cursor_open(&cursor, log->tree, transaction, why));
    enum status status = STATUS_OK;
    enum tree_move move = TREE_FIRST;
    for (unsigned i = 0; status == STATUS_OK; i++, move = TREE_NEXT) {
        status = tree_cursor_move(cursor, move, key, sizeof(key), &key_length, value, sizeof(value),
                                  &length, why);
        if (status == STATUS_END) {
            *batch = UINT64_MAX;
            *piece = 0;
        } else if (status == STATUS_OK) {
            *batch = codec_read_u64(key);
            *piece = codec_read_u32(key + 8);
            if (i == LATCH_BLOCKS ||
                (*piece == 0 && (log->writing.bytes <= bound || *batch >= log->keep))) {
                break;
            }
            log->writing.bytes -= KEY_SIZE + length;
            status = tree_cursor_delete(cursor, why);
        }
    }
    tree_cursor_close(cursor);
    return status == STATUS_END ? STATUS_OK : status;
}

/* Whole batches go, the oldest first, until the rest is within the bound or has to be kept. */
static enum status
trim(struct change_log *log, struct transaction *transaction, uint64_t bound, struct reason *why)
{
    if (log->writing.bytes > bound && log->writing.first < log->keep) {
        uint64_t batch = 0;
        uint32_t piece = 1;
        while (piece != 0 || (log->writing.bytes > bound && batch < log->keep)) {
            TRY(remove_some(log, transaction, bound, &batch, &piece, why));
            latch_leave(tree_latch(log->tree));
            latch_enter_writing(tree_latch(log->tree));
        }
        log->writing.first = batch == UINT64_MAX ? log->writing.last.batch + 1 : batch;
    }
    return STATUS_OK;
}

/* Tells whether the batch can be in the log at all. Of those that may not, the bytes are counted
 * first: writing up to the limit and taking it out again fills four times as much of Berkeley DB's
 * log. */
static enum status
fits(struct appending *appending, const struct change_set *set,
     const struct graph_generation *generations, size_t count, bool *fitting, struct reason *why)
{
    const uint64_t limit = appending->log->limit;
    *fitting = limit > 0;
    if (set->count * ROW_LARGE <= limit || limit == 0) {
        return STATUS_OK;
    }
    appending->counting = true;
    TRY(append_header(appending, set, clock_wall_ms(), why));
    TRY(append_rows(appending, set, generations, count, why));
    *fitting = appending->bytes <= limit;
    appending->counting = false;
    appending->bytes = 0;
    return STATUS_OK;
}

static enum status
append(struct appending *appending, const struct change_set *set,
       const struct graph_generation *generations, size_t count, uint64_t stamp, struct reason *why)
{
    struct change_log *log = appending->log;
    bool fitting;
    TRY(fits(appending, set, generations, count, &fitting, why));
    /* Room first, about as much as will be needed: what goes gives its pages to what comes, else
     * the file would grow to the bound and a batch. */
    const uint64_t expected = set->count * ROW_EXPECTED;
    TRY(trim(log, appending->transaction,
             fitting && expected < log->limit ? log->limit - expected : 0, why));
    if (fitting) {
        TRY(append_header(appending, set, stamp, why));
        TRY(append_rows(appending, set, generations, count, why));
    }
    log->writing.last = (struct change_position){appending->batch, stamp};
    if (!fitting && log->writing.bytes == 0) {
        log->writing.first = appending->batch + 1;
    }
    return trim(log, appending->transaction, log->limit, why);
}

static enum status
write_state(const struct change_log *log, struct transaction *transaction, struct reason *why)
{
    const struct state *state = &log->writing;
    const uint64_t numbers[STATE_NUMBERS] = {state->first, state->bytes, state->last.stamp};
    struct latch *latch = tree_latch(log->statistics);
    latch_enter_writing(latch);
    const enum status status =
        statistics_write(log->statistics, transaction, SLICE("L"), numbers, STATE_NUMBERS, why);
    latch_leave(latch);
    return status;
}

enum status
change_log_append(struct change_log *log, struct transaction *transaction,
                  const struct change_set *set, const struct graph_generation *generations,
                  size_t count, struct reason *why)
{
    struct appending *appending = memory_alloc(sizeof(*appending));
    log->writing = log->committed; /* the last one may have been aborted */
    appending->log = log;
    appending->transaction = transaction;
    appending->batch = log->writing.last.batch + 1;
    appending->piece = 0;
    appending->puts = 0;
    appending->bytes = 0;
    appending->counting = false;
    latch_enter_writing(tree_latch(log->tree));
    enum status status = append(appending, set, generations, count, clock_wall_ms(), why);
    latch_leave(tree_latch(log->tree));
    free(appending);
    if (status == STATUS_OK) {
        status = write_state(log, transaction, why);
    }
    return status;
}

void
change_log_committed(struct change_log *log)
{
    pthread_mutex_lock(&log->mutex);
    log->committed = log->writing;
    pthread_mutex_unlock(&log->mutex);
}

/* ---- reading ---- */

struct change_reader {
    struct change_log *log;
    struct change_position at; /* the last batch that was begun */
    uint32_t piece;            /* the next one of it */
    uint64_t left;             /* rows of it */
    bool any_stamp;            /* where it began is not to be compared */
};

static enum status
fell_behind(struct change_log *log, uint64_t batch, struct reason *why)
{
    struct change_position last;
    uint64_t first;
    change_log_state(log, &last, &first);
    return status_fail(why, STATUS_STALE,
                       "the changes after batch %llu are no longer kept (option index.changes), "
                       "the oldest after %llu are: dump again and go on from the dump's position",
                       (unsigned long long)batch, (unsigned long long)first);
}

static enum status
read_piece(struct change_reader *reader, uint64_t batch, uint8_t *value, size_t *length,
           struct reason *why)
{
    uint8_t key[KEY_SIZE];
    *length = VALUE_MOST;
    latch_enter_reading(tree_latch(reader->log->tree));
    const enum status status =
        tree_get(reader->log->tree, NULL, piece_key(batch, reader->piece, key), value, length, why);
    latch_leave(tree_latch(reader->log->tree));
    if (status == STATUS_NOT_FOUND) {
        return fell_behind(reader->log, batch - 1, why);
    }
    TRY(status);
    reader->piece++;
    return *length > BLOCK_PREFIX && value[0] == CODEC
               ? STATUS_OK
               : status_fail(why, STATUS_CORRUPT, "change log: batch %llu, piece %u: bad codec",
                             (unsigned long long)batch, reader->piece - 1);
}

enum status
change_reader_open(struct change_reader **result, struct change_log *log,
                   const struct change_position *since, struct reason *why)
{
    struct change_position last;
    uint64_t first;
    *result = NULL;
    change_log_state(log, &last, &first);
    if (since->batch > last.batch || (since->batch == last.batch && since->stamp != last.stamp)) {
        return status_fail(why, STATUS_STALE,
                           "the position is not of this index's history: was it restored from a "
                           "copy? dump again and go on from the dump's position");
    }
    if (since->batch < first) {
        return fell_behind(log, since->batch, why);
    }
    struct change_reader *reader = memory_new(sizeof(*reader));
    reader->log = log;
    reader->at = *since;
    *result = reader;
    return STATUS_OK;
}

enum status
change_reader_open_at(struct change_reader **reader, struct change_log *log, uint64_t batch,
                      struct reason *why)
{
    struct change_position last;
    uint64_t first;
    *reader = NULL;
    change_log_state(log, &last, &first);
    if (batch <= first || batch > last.batch) {
        return status_fail(why, STATUS_CORRUPT, "change log: batch %llu is not there",
                           (unsigned long long)batch);
    }
    *reader = memory_new(sizeof(**reader));
    **reader = (struct change_reader){.log = log, .at = {batch - 1, 0}, .any_stamp = true};
    return STATUS_OK;
}

static enum status
read_stamp(struct change_log *log, uint64_t batch, uint64_t *stamp, struct reason *why)
{
    struct change_reader reader = {.log = log};
    uint8_t value[VALUE_MOST];
    size_t length;
    TRY(read_piece(&reader, batch, value, &length, why));
    struct codec_reader in = codec_reader_of(slice_of((const char *)value + 1, length - 1));
    *stamp = codec_get_varint(&in);
    return in.bad ? status_fail(why, STATUS_CORRUPT, "change log: batch %llu has no stamp",
                                (unsigned long long)batch)
                  : STATUS_OK;
}

enum status
change_log_after(struct change_log *log, uint64_t wall_ms, uint64_t *batch, struct reason *why)
{
    struct change_position last;
    uint64_t first;
    change_log_state(log, &last, &first);
    uint64_t low = first + 1, high = last.batch + 1;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        uint64_t stamp;
        TRY(read_stamp(log, middle, &stamp, why));
        if (stamp > wall_ms) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    *batch = low;
    return STATUS_OK;
}

void
change_reader_close(struct change_reader *reader)
{
    free(reader);
}

enum status
change_reader_batch(struct change_reader *reader, struct change_batch *batch, struct reason *why)
{
    struct change_position last;
    uint8_t value[VALUE_MOST];
    size_t length;
    change_log_state(reader->log, &last, NULL);
    if (reader->at.batch >= last.batch) {
        return STATUS_END;
    }
    const uint64_t number = reader->at.batch + 1;
    reader->piece = 0;
    TRY(read_piece(reader, number, value, &length, why));
    struct codec_reader in = codec_reader_of(slice_of((const char *)value + 1, length - 1));
    batch->position = (struct change_position){number, codec_get_varint(&in)};
    batch->previous = (struct change_position){number - 1, codec_get_varint(&in)};
    batch->removed = codec_get_varint(&in);
    batch->added = codec_get_varint(&in);
    if (!codec_at_end(&in)) {
        return status_fail(why, STATUS_CORRUPT, "change log: the head of batch %llu is malformed",
                           (unsigned long long)number);
    }
    if (batch->previous.stamp != reader->at.stamp && !reader->any_stamp) {
        return status_fail(why, STATUS_STALE,
                           "the position is not of this index's history: was it restored from a "
                           "copy? dump again and go on from the dump's position");
    }
    reader->any_stamp = false;
    reader->at = batch->position;
    reader->left = batch->removed + batch->added;
    return STATUS_OK;
}

static bool
decode_block(const uint8_t *value, size_t length, struct change_block *block, struct reason *why)
{
    const uint8_t *const end = value + length;
    uint64_t size = 0;
    const uint8_t *at = varint_get(value + 1, end, &size);
    if (at == NULL || size > (uint64_t)(end - at) ||
        rows_read(ORDER_CSPO, at, size, block->rows, &block->count, why) != STATUS_OK) {
        return false;
    }
    const uint8_t *const signs = at + size;
    if ((uint64_t)(end - signs) < (block->count + 7) / 8) {
        return false;
    }
    at = signs + (block->count + 7) / 8;
    for (size_t i = 0; i < block->count; i++) {
        const bool same = i > 0 && block->rows[i].place[0] == block->rows[i - 1].place[0];
        block->removed[i] = signs[i / 8] >> i % 8 & 1;
        block->generations[i] = same ? block->generations[i - 1] : 0;
        if (!same && (at = varint_get(at, end, &block->generations[i])) == NULL) {
            return false;
        }
    }
    return at == end && block->count > 0;
}

enum status
change_reader_block(struct change_reader *reader, struct change_block *block, struct reason *why)
{
    uint8_t value[VALUE_MOST];
    size_t length;
    if (reader->left == 0) {
        return STATUS_END;
    }
    TRY(read_piece(reader, reader->at.batch, value, &length, why));
    if (!decode_block(value, length, block, why) || block->count > reader->left) {
        return status_fail(why, STATUS_CORRUPT, "change log: batch %llu, piece %u: malformed",
                           (unsigned long long)reader->at.batch, reader->piece - 1);
    }
    reader->left -= block->count;
    return STATUS_OK;
}

/* ---- checking ---- */

static enum status
check_batch(struct change_reader *reader, const struct change_batch *batch,
            struct change_block *block, struct reason *why)
{
    uint64_t removed = 0;
    struct row last = {{0}};
    enum status status;
    while ((status = change_reader_block(reader, block, why)) == STATUS_OK) {
        for (size_t i = 0; i < block->count; i++) {
            removed += block->removed[i];
        }
        if (row_compare(&last, &block->rows[0]) >= 0) {
            return status_fail(why, STATUS_CORRUPT, "change log: rows of batch %llu do not ascend",
                               (unsigned long long)batch->position.batch);
        }
        last = block->rows[block->count - 1];
    }
    if (status == STATUS_END && removed != batch->removed) { /* as many rows as it says there are */
        return status_fail(why, STATUS_CORRUPT, "change log: batch %llu has other counts",
                           (unsigned long long)batch->position.batch);
    }
    return status == STATUS_END ? STATUS_OK : status;
}

enum status
change_log_check(struct change_log *log, uint64_t *batches, struct reason *why)
{
    struct change_block *block = memory_alloc(sizeof(*block));
    struct change_reader reader = {.log = log, .any_stamp = true};
    struct change_position last;
    struct change_batch batch = {0};
    enum status status;
    *batches = 0;
    change_log_state(log, &last, &reader.at.batch);
    while ((status = change_reader_batch(&reader, &batch, why)) == STATUS_OK &&
           (status = check_batch(&reader, &batch, block, why)) == STATUS_OK) {
        ++*batches;
    }
    free(block);
    return status == STATUS_END ? STATUS_OK : status;
}
