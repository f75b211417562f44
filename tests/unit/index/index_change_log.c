/* The change log alone: which batches it keeps under each limit, to the byte, beside a model; what
 * its pieces are, by index/FORMAT.md; and that each call of the tree may fail. The linker puts the
 * functions below around those of the environment. */
#include "tests/unit/index/index_change_log.h"

#include "base/codec.h"
#include "base/memory.h"
#include "base/varint.h"
#include "index/statistics/statistics.h"
#include "tests/unit/index/index_fixture.h"

enum { BATCHES = 40, KEY = 12, PIECE_MOST = 960, GRAPHS = 400, CHANGES = 40000 };

/* ---- failures and stamps of the test ---- */

static int calls, failing; /* since they are counted; the one that fails, 0: none */
static uint64_t stamp_now; /* 0: the machine's clock */

uint64_t __real_clock_wall_ms(void);
uint64_t __wrap_clock_wall_ms(void);
uint64_t
__wrap_clock_wall_ms(void)
{
    return stamp_now != 0 ? stamp_now : __real_clock_wall_ms();
}

/* name(arguments) fails if its turn has come. */
#define STEP(name, parameters, arguments)                                  \
    enum status __real_##name parameters;                                  \
    enum status __wrap_##name parameters;                                  \
    enum status __wrap_##name parameters                                   \
    {                                                                      \
        return ++calls == failing ? status_fail(why, STATUS_SYSTEM, #name) \
                                  : __real_##name arguments;               \
    }

STEP(tree_get,
     (struct tree * tree, struct transaction *transaction, struct slice key, void *value,
      size_t *length, struct reason *why),
     (tree, transaction, key, value, length, why))
STEP(tree_put,
     (struct tree * tree, struct transaction *transaction, struct slice key, struct slice value,
      struct reason *why),
     (tree, transaction, key, value, why))
STEP(tree_cursor_open,
     (struct tree_cursor * *cursor, struct tree *tree, struct transaction *transaction,
      struct reason *why),
     (cursor, tree, transaction, why))
STEP(tree_cursor_move,
     (struct tree_cursor * cursor, enum tree_move move, void *key, size_t key_size,
      size_t *key_length, void *value, size_t value_size, size_t *value_length, struct reason *why),
     (cursor, move, key, key_size, key_length, value, value_size, value_length, why))
STEP(tree_cursor_delete, (struct tree_cursor * cursor, struct reason *why), (cursor, why))

/* ---- batches by chance ---- */

struct made {
    struct change_set set;
    struct graph_generation generations[GRAPHS];
    size_t graphs;
    uint64_t stamp, bytes, removed;
};
static struct made made[BATCHES + 1]; /* from 1 on */

static int
compare_changes(const void *a, const void *b)
{
    const struct row left = row_of(a, ORDER_CSPO), right = row_of(b, ORDER_CSPO);
    return row_compare(&left, &right);
}

/* Wide rows have inline values far apart in three places. */
static void
make_batch(struct made *batch, size_t count, bool wide)
{
    struct quad_change *changes = calloc(count + 1, sizeof *changes);
    for (size_t i = 0; i < count; i++) {
        const oid graph = oid_stored(1 + 3 * (i * (GRAPHS / 2) / (count + 1)), OID_KIND_IRI);
        const oid values[] = {random_number() & OID_INLINE_MASK, random_number() & OID_INLINE_MASK};
        struct quad_oids *quad = &changes[i].quad;
        *quad = (struct quad_oids){oid_stored(1 + i, OID_KIND_IRI),
                                   oid_stored(1 + random_number() % 9, OID_KIND_IRI),
                                   oid_stored(1 + random_number() % 5000, OID_KIND_STRING), graph};
        if (wide) {
            quad->subject = (oid)(1 + i % 40) << OID_INLINE_BITS | values[0];
            quad->predicate = (oid)1 << OID_INLINE_BITS | values[1];
            quad->object = (oid)2 << OID_INLINE_BITS | (values[0] ^ values[1]);
        }
        changes[i].removed = random_number() % 3 == 0;
        batch->removed += changes[i].removed;
    }
    qsort(changes, count, sizeof *changes, compare_changes);
    for (oid number = 1; number < 3 * GRAPHS / 2; number += 1 + number % 3) {
        batch->generations[batch->graphs++] = (struct graph_generation){
            oid_stored(number, OID_KIND_IRI), number * number * (number % 5)};
        assert_true(batch->graphs < GRAPHS);
    }
    batch->set = (struct change_set){.changes = changes, .count = count};
}

static uint64_t
generation_of(const struct made *batch, oid graph)
{
    for (size_t i = 0; i < batch->graphs; i++) {
        if (batch->generations[i].graph == graph) {
            return batch->generations[i].generation;
        }
    }
    fail_msg("graph %llu was not made", (unsigned long long)oid_number(graph));
    return 0;
}

/* ---- a log ---- */

static void
open_log(struct change_log_fixture *log, uint64_t limit)
{
    struct reason why = {""};
    const struct environment_options options = {
        .folder = log->folder, .cache_bytes = 4 << 20, .checkpoint_bytes = 8 << 20};
    must(environment_open(&log->environment, &options, &why), &why);
    must(tree_open(&log->statistics, log->environment, "statistics", &why), &why);
    must(change_log_open(&log->log, log->environment, log->statistics, limit, log->batches, &why),
         &why);
}

static void
close_log(struct change_log_fixture *log)
{
    change_log_close(log->log);
    tree_close(log->statistics);
    environment_close(log->environment);
}

static void
make_log(struct change_log_fixture *log, uint64_t limit)
{
    *log = (struct change_log_fixture){.batches = 0};
    assert_true(scratch_folder(log->folder, "test_index_change_log"));
    open_log(log, limit);
}

static void
remove_log(struct change_log_fixture *log)
{
    close_log(log);
    fixture_run("rm -r %s%s", log->folder, "");
}

static enum status
append(struct change_log_fixture *log, struct made *batch, bool commit, struct reason *why)
{
    struct transaction *transaction;
    must(transaction_begin(&transaction, log->environment, 1 << 20, why), why);
    stamp_now = batch->stamp;
    calls = 0;
    const enum status status = change_log_append(log->log, transaction, &batch->set,
                                                 batch->generations, batch->graphs, why);
    failing = 0;
    stamp_now = 0;
    if (commit && status == STATUS_OK) {
        must(transaction_commit(transaction, why), why);
        change_log_committed(log->log);
        log->batches++;
    } else {
        transaction_abort(transaction);
    }
    return status;
}

static struct tree *
changes_of(const struct change_log_fixture *log)
{
    struct tree *tree = environment_tree(log->environment, NULL);
    while (strcmp(tree_name(tree), "changes") != 0) {
        tree = environment_tree(log->environment, tree);
    }
    return tree;
}

/* ---- pieces ---- */

struct piece {
    uint64_t batch;
    uint32_t number;
    size_t length;
    uint8_t bytes[PIECE_MOST];
};

/* All of them, malloc'd. */
static struct piece *
pieces_of(const struct change_log_fixture *log, size_t *count)
{
    struct reason why = {""};
    struct tree_cursor *cursor;
    struct piece *pieces = NULL;
    uint8_t key[KEY];
    size_t key_length;
    *count = 0;
    latch_enter_reading(tree_latch(changes_of(log)));
    must(tree_cursor_open(&cursor, changes_of(log), NULL, &why), &why);
    for (enum tree_move move = TREE_FIRST;; move = TREE_NEXT) {
        pieces = memory_resize(pieces, *count + 1, sizeof *pieces);
        struct piece *piece = &pieces[*count];
        if (tree_cursor_move(cursor, move, key, sizeof key, &key_length, piece->bytes,
                             sizeof piece->bytes, &piece->length, &why) != STATUS_OK) {
            break;
        }
        assert_int_equal(key_length, KEY);
        struct codec_reader in = codec_reader_of(slice_of((char *)key, KEY));
        piece->batch = codec_get_u64(&in);
        piece->number = codec_get_u32(&in);
        ++*count;
    }
    tree_cursor_close(cursor);
    latch_leave(tree_latch(changes_of(log)));
    return pieces;
}

/* A piece of the batch's changes from *next on is as the format says, and has no room for one
 * more. */
static void
check_piece(const struct piece *piece, const struct made *batch, size_t *next)
{
    static struct row rows[ROWS_BLOCK_MOST];
    uint8_t room[PIECE_MOST + 2 * ROW_BYTES_MOST], number[VARINT_MAXIMUM];
    struct rows_writer writer;
    struct reason why = {""};
    struct codec_reader in = codec_reader_of(slice_of((const char *)piece->bytes, piece->length));
    assert_int_equal(codec_get_u8(&in), 1);
    const uint64_t size = codec_get_varint(&in);
    assert_ptr_equal(in.at, piece->bytes + 3);
    size_t count;
    must(rows_read(ORDER_CSPO, piece->bytes + 3, size, rows, &count, &why), &why);
    const uint8_t *signs = piece->bytes + 3 + size, *at = signs + (count + 7) / 8;
    rows_begin(&writer, ORDER_CSPO, room, PIECE_MOST + ROW_BYTES_MOST);
    for (size_t i = 0; i < count; i++, ++*next) {
        const struct row row = row_of(&batch->set.changes[*next].quad, ORDER_CSPO);
        assert_memory_equal(&row, &rows[i], sizeof row);
        assert_int_equal(signs[i / 8] >> i % 8 & 1, batch->set.changes[*next].removed);
        if (i == 0 || rows[i].place[0] != rows[i - 1].place[0]) {
            const uint8_t *end =
                varint_put(number, generation_of(batch, batch->set.changes[*next].quad.graph));
            assert_memory_equal(at, number, (size_t)(end - number));
            at += end - number;
        }
        assert_true(rows_add(&writer, &row));
    }
    assert_ptr_equal(at, piece->bytes + piece->length);
    if (*next < batch->set.count) {
        const struct row row = row_of(&batch->set.changes[*next].quad, ORDER_CSPO);
        const size_t more = row.place[0] != rows[count - 1].place[0]
                                ? varint_size(generation_of(batch, row.place[0]))
                                : 0;
        assert_true(rows_add(&writer, &row));
        assert_true(piece->length - size + rows_end(&writer) + (count % 8 == 0) + more >
                    PIECE_MOST);
    }
}

/* The log holds batches from `first` on, whole, and says so. */
static void
check_log(const struct change_log_fixture *log, uint64_t first)
{
    size_t count, at = 0;
    uint64_t bytes = 0, said, numbers[3] = {0};
    struct change_position last;
    struct reason why = {""};
    struct piece *pieces = pieces_of(log, &count);
    for (uint64_t number = first; number <= log->batches; number++) {
        const struct made *batch = &made[number];
        uint8_t head[PIECE_MOST] = {1};
        uint8_t *end = varint_put(head + 1, batch->stamp);
        end = varint_put(end, made[number - 1].stamp);
        end = varint_put(end, batch->removed);
        end = varint_put(end, batch->set.count - batch->removed);
        assert_true(at < count);
        assert_int_equal(pieces[at].length, end - head);
        assert_memory_equal(pieces[at].bytes, head, pieces[at].length);
        size_t next = 0;
        for (uint32_t piece = 0; at < count && pieces[at].batch == number; at++, piece++) {
            assert_int_equal(pieces[at].number, piece);
            bytes += KEY + pieces[at].length;
            if (piece > 0) {
                check_piece(&pieces[at], batch, &next);
            }
        }
        assert_int_equal(next, batch->set.count);
    }
    assert_int_equal(at, count);
    free(pieces);
    must(statistics_read(log->statistics, SLICE("L"), numbers, 3, &why), &why);
    assert_int_equal(numbers[0], first);
    assert_int_equal(numbers[1], bytes);
    assert_int_equal(numbers[2], made[log->batches].stamp);
    change_log_state(log->log, &last, &said);
    assert_int_equal(said, first - 1);
    assert_int_equal(last.batch, log->batches);
    assert_int_equal(last.stamp, made[log->batches].stamp);
}

/* Who goes on after batch `since` reads what the batches behind it did. */
static void
check_reading(const struct change_log_fixture *log, uint64_t since)
{
    static struct change_block block;
    struct reason why = {""};
    struct change_reader *reader;
    struct change_batch batch;
    const struct change_position from = {since, made[since].stamp};
    must(change_reader_open(&reader, log->log, &from, &why), &why);
    for (uint64_t number = since + 1; number <= log->batches; number++) {
        size_t next = 0;
        enum status status;
        must(change_reader_batch(reader, &batch, &why), &why);
        assert_int_equal(batch.position.batch, number);
        assert_int_equal(batch.position.stamp, made[number].stamp);
        assert_int_equal(batch.previous.batch, number - 1);
        assert_int_equal(batch.previous.stamp, made[number - 1].stamp);
        assert_int_equal(batch.removed, made[number].removed);
        assert_int_equal(batch.added, made[number].set.count - made[number].removed);
        while ((status = change_reader_block(reader, &block, &why)) == STATUS_OK) {
            for (size_t i = 0; i < block.count; i++, next++) {
                const struct quad_change *change = &made[number].set.changes[next];
                const struct row row = row_of(&change->quad, ORDER_CSPO);
                assert_memory_equal(&row, &block.rows[i], sizeof row);
                assert_int_equal(block.removed[i], change->removed);
                assert_int_equal(block.generations[i],
                                 generation_of(&made[number], change->quad.graph));
            }
        }
        assert_int_equal(status, STATUS_END);
        assert_int_equal(next, made[number].set.count);
    }
    assert_int_equal(change_reader_batch(reader, &batch, &why), STATUS_END);
    change_reader_close(reader);
}

/* ---- which batches are kept ---- */

/* A log without limit holds all; how many bytes each takes is counted there. */
static void
make_all(struct change_log_fixture *log)
{
    static const size_t counts[] = {1, 40, 0, 300, 7, 900, 120, 5000, 64, 250, 8000};
    struct reason why = {""};
    make_log(log, UINT64_C(1) << 40);
    for (uint64_t i = 1; i <= BATCHES; i++) {
        const size_t count = counts[i % (sizeof counts / sizeof *counts)];
        make_batch(&made[i], count, i % 4 == 1 && count < 1000);
        made[i].stamp = made[i - 1].stamp + 1 + random_number() % 1000000;
        must(append(log, &made[i], true, &why), &why);
    }
    size_t count;
    struct piece *pieces = pieces_of(log, &count);
    for (size_t i = 0; i < count; i++) {
        made[pieces[i].batch].bytes += KEY + pieces[i].length;
    }
    free(pieces);
}

static int
release_all(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= BATCHES; i++) {
        free(made[i].set.changes);
    }
    memset(made, 0, sizeof made);
    return 0;
}

static uint64_t
bytes_between(uint64_t first, uint64_t end)
{
    uint64_t bytes = 0;
    for (uint64_t i = first; i < end; i++) {
        bytes += made[i].bytes;
    }
    return bytes;
}

/* The oldest batch kept after `number`, when it was `first` before. */
static uint64_t
first_kept(uint64_t first, uint64_t number, uint64_t limit)
{
    enum { LARGE = 32, EXPECTED = 8 }; /* bytes of a row: see index/changes/change_log.c */
    const struct made *batch = &made[number];
    const bool small = limit > 0 && batch->set.count * LARGE <= limit;
    const bool fits = small || (limit > 0 && batch->bytes <= limit);
    const uint64_t expected = batch->set.count * EXPECTED;
    const uint64_t bound = fits && expected < limit ? limit - expected : 0;
    while (bytes_between(first, number) > bound) {
        first++;
    }
    if (!fits && first == number) {
        return number + 1;
    }
    while (bytes_between(first, number + 1) > limit) {
        first++;
    }
    return first;
}

static void
each_limit_keeps_the_batches_that_fit(void **state)
{
    struct change_log_fixture all;
    struct reason why = {""};
    unsigned dropped = 0, too_large = 0, exact = 0;
    (void)state;
    make_all(&all);
    check_log(&all, 1);
    check_reading(&all, 0);
    check_reading(&all, 17);
    /* Limits: of one batch to the byte, of some, and one less. */
    for (unsigned round = 0; round < 24; round++) {
        const uint64_t from = 1 + random_number() % (BATCHES - 4);
        const uint64_t sum = bytes_between(from, from + 1 + round % 3);
        const uint64_t limit = round == 0 ? 0 : round < 3 ? round : sum - round % 2;
        struct change_log_fixture log;
        uint64_t first = 1;
        make_log(&log, limit);
        for (uint64_t i = 1; i <= BATCHES; i++) {
            if (i % 9 == 4) { /* an aborted one leaves nothing */
                must(append(&log, &made[i % BATCHES + 1], false, &why), &why);
            }
            must(append(&log, &made[i], true, &why), &why);
            const uint64_t kept = first_kept(first, i, limit);
            dropped += kept > first;
            too_large += kept == i + 1;
            exact += bytes_between(kept, i + 1) == limit;
            first = kept;
            check_log(&log, first);
            if (i % 16 == 5) {
                close_log(&log);
                open_log(&log, limit);
                check_log(&log, first);
            }
            if (i % 8 == 0) {
                uint64_t batches;
                check_reading(&log, first - 1);
                must(change_log_check(log.log, &batches, &why), &why);
                assert_int_equal(batches, i + 1 - first);
            }
        }
        remove_log(&log);
    }
    assert_true(dropped > 50 && too_large > 50 && exact > 3);
    remove_log(&all);
}

static void
positions_are_of_this_history_or_refused(void **state)
{
    struct change_log_fixture log;
    struct reason why = {""};
    struct change_reader *reader;
    struct change_batch batch;
    struct change_position last;
    (void)state;
    make_log(&log, 0);
    struct change_position position = {0, 0};
    must(change_reader_open(&reader, log.log, &position, &why), &why);
    assert_int_equal(change_reader_batch(reader, &batch, &why), STATUS_END);
    change_reader_close(reader);
    remove_log(&log);
    make_all(&log);
    uint64_t limit = made[BATCHES].bytes + made[BATCHES - 1].bytes + made[BATCHES - 2].bytes;
    remove_log(&log);
    make_log(&log, limit + made[BATCHES].set.count * 8 + 1);
    for (uint64_t i = 1; i <= BATCHES; i++) {
        must(append(&log, &made[i], true, &why), &why);
    }
    uint64_t first;
    change_log_state(log.log, &last, &first);
    assert_true(first > 0 && first < BATCHES - 1);
    const struct {
        uint64_t batch, stamp;
        enum status opened, read;
        const char *why;
    } cases[] = {
        {BATCHES, made[BATCHES].stamp, STATUS_OK, STATUS_END, ""},
        {BATCHES, made[BATCHES].stamp + 1, STATUS_STALE, STATUS_OK, "history"},
        {BATCHES + 1, made[BATCHES].stamp, STATUS_STALE, STATUS_OK, "history"},
        {BATCHES - 1, made[BATCHES - 1].stamp, STATUS_OK, STATUS_OK, ""},
        {BATCHES - 1, made[BATCHES - 1].stamp - 1, STATUS_OK, STATUS_STALE, "history"},
        {first, made[first].stamp, STATUS_OK, STATUS_OK, ""},
        {first - 1, made[first - 1].stamp, STATUS_STALE, STATUS_OK, "no longer kept"},
        {0, 0, STATUS_STALE, STATUS_OK, "no longer kept"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct change_position since = {cases[i].batch, cases[i].stamp};
        why.text[0] = '\0';
        assert_int_equal(change_reader_open(&reader, log.log, &since, &why), cases[i].opened);
        if (cases[i].opened == STATUS_OK) {
            assert_int_equal(change_reader_batch(reader, &batch, &why), cases[i].read);
        } else {
            assert_null(reader);
        }
        assert_non_null(strstr(why.text, cases[i].why));
        change_reader_close(reader);
    }
    char numbers[64];
    position = (struct change_position){first - 1, 0};
    assert_int_equal(change_reader_open(&reader, log.log, &position, &why), STATUS_STALE);
    snprintf(numbers, sizeof numbers, "after batch %llu ", (unsigned long long)first - 1);
    assert_non_null(strstr(why.text, numbers));
    snprintf(numbers, sizeof numbers, "oldest after %llu ", (unsigned long long)first);
    assert_non_null(strstr(why.text, numbers));
    remove_log(&log);
}

/* ---- for the tests of damage ---- */

void
change_log_put_piece(const struct change_log_fixture *log, uint64_t batch, uint32_t piece,
                     struct slice bytes)
{
    struct reason why = {""};
    struct transaction *transaction;
    struct buf key;
    buf_init(&key, KEY);
    codec_put_u64(&key, batch);
    codec_put_u32(&key, piece);
    must(transaction_begin(&transaction, log->environment, 1 << 16, &why), &why);
    latch_enter_writing(tree_latch(changes_of(log)));
    must(bytes.length > 0 ? tree_put(changes_of(log), transaction, buf_slice(&key), bytes, &why)
                          : tree_delete(changes_of(log), transaction, buf_slice(&key), &why),
         &why);
    latch_leave(tree_latch(changes_of(log)));
    must(transaction_commit(transaction, &why), &why);
    buf_release(&key);
}

void
change_log_fixture_make(struct change_log_fixture *log, uint64_t batches)
{
    make_log(log, 1 << 20);
    for (uint64_t i = 1; i <= batches; i++) {
        struct reason why = {""};
        make_batch(&made[i], 3, false);
        made[i].stamp = i;
        must(append(log, &made[i], true, &why), &why);
    }
}

void
change_log_fixture_remove(struct change_log_fixture *log)
{
    remove_log(log);
    (void)release_all(NULL);
}

/* ---- failures ---- */

/* A batch that makes room and fills pieces: each of its calls fails once. */
static void
each_call_of_the_tree_may_fail(void **state)
{
    struct change_log_fixture log;
    struct reason why = {""};
    (void)state;
    make_log(&log, 8 << 10);
    for (uint64_t i = 1; i <= 4; i++) {
        make_batch(&made[i], 300, false);
        made[i].stamp = i;
    }
    for (uint64_t i = 1; i <= 3; i++) {
        must(append(&log, &made[i], true, &why), &why);
    }
    struct change_position last;
    uint64_t first;
    change_log_state(log.log, &last, &first);
    assert_true(first < 2);
    int step = 0;
    enum status status = STATUS_SYSTEM;
    while (status == STATUS_SYSTEM) {
        failing = ++step;
        status = append(&log, &made[4], true, &why);
        if (status == STATUS_SYSTEM) {
            assert_int_equal(calls, step); /* nothing goes on behind it */
            check_log(&log, first + 1);
        }
    }
    must(status, &why);
    assert_true(step > 10);
    change_log_state(log.log, &last, &first);
    assert_true(first >= 1);
    check_log(&log, first + 1);
    for (step = 1, status = STATUS_SYSTEM; status == STATUS_SYSTEM; step++) {
        uint64_t batches;
        calls = 0;
        failing = step;
        status = change_log_check(log.log, &batches, &why);
        failing = 0;
    }
    must(status, &why);
    assert_true(step > 3);
    remove_log(&log);
}

static void
a_damaged_state_is_refused(void **state)
{
    struct change_log_fixture log;
    struct reason why = {""};
    struct transaction *transaction;
    const uint64_t numbers[] = {1, 0};
    (void)state;
    make_log(&log, 1 << 20);
    must(transaction_begin(&transaction, log.environment, 1 << 16, &why), &why);
    latch_enter_writing(tree_latch(log.statistics));
    must(statistics_write(log.statistics, transaction, SLICE("L"), numbers, 2, &why), &why);
    latch_leave(tree_latch(log.statistics));
    must(transaction_commit(transaction, &why), &why);
    change_log_close(log.log);
    assert_int_equal(change_log_open(&log.log, log.environment, log.statistics, 1 << 20, 0, &why),
                     STATUS_CORRUPT);
    remove_log(&log);
}

int
index_change_log_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_limit_keeps_the_batches_that_fit, release_all),
        cmocka_unit_test_teardown(positions_are_of_this_history_or_refused, release_all),
        cmocka_unit_test_teardown(each_call_of_the_tree_may_fail, release_all),
        cmocka_unit_test(a_damaged_state_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + index_change_damage_run();
}
