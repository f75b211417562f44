/* The lines that tell of changes (index/serve/change_lines.c): those of all batches, of some
 * graphs, and of the last batch that changed a document. The linker puts the functions below in the
 * place of the change log, the documents and the terms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "index/changes/change_log.h"
#include "index/quads/documents.h"
#include "index/serve/change_lines.h"
#include "index/write/partition_state.h"

enum {
    TEXT_MOST = 1 << 24,
    PIECE = 32 << 10,
    BATCHES_MOST = 8,
    BLOCKS_MOST = 4,
    WAS_MS = 86400000
};

/* ---- a log of the test ---- */

struct told_row {
    oid graph, subject, predicate, object;
    uint64_t generation;
    bool removed;
};

struct told_block {
    const struct told_row *rows;
    size_t count;
};

static struct told_batch {
    uint64_t number;
    struct told_block blocks[BLOCKS_MOST];
    enum status opens, begins, breaks; /* END: as usual; breaks: after its blocks */
} batches[BATCHES_MOST];
static size_t batch_count;
static struct change_position last_position;
static uint64_t first_kept, after_batch;
static enum status log_opens, after_status;
static unsigned open_readers, open_nodes;

struct change_reader {
    size_t batch, block;
    bool one; /* only one batch is read */
};

static max_align_t places[4]; /* where the partition's parts would be */
static struct partition the_partition;

static enum status
failure(enum status status, struct reason *why)
{
    return status == STATUS_OK || status == STATUS_END ? status
                                                       : status_fail(why, status, "it went wrong");
}

enum status __wrap_change_reader_open(struct change_reader **reader, struct change_log *log,
                                      const struct change_position *since, struct reason *why);
enum status
__wrap_change_reader_open(struct change_reader **reader, struct change_log *log,
                          const struct change_position *since, struct reason *why)
{
    assert_ptr_equal(log, the_partition.change_log);
    assert_int_equal(since->batch, 3);
    assert_int_equal(since->stamp, 30);
    TRY(failure(log_opens, why));
    *reader = memory_new(sizeof **reader);
    open_readers++;
    return STATUS_OK;
}

enum status __wrap_change_reader_open_at(struct change_reader **reader, struct change_log *log,
                                         uint64_t number, struct reason *why);
enum status
__wrap_change_reader_open_at(struct change_reader **reader, struct change_log *log, uint64_t number,
                             struct reason *why)
{
    size_t at = 0;
    assert_ptr_equal(log, the_partition.change_log);
    while (at < batch_count && batches[at].number != number) {
        at++;
    }
    if (at == batch_count) {
        fail_msg("batch %llu is not kept", (unsigned long long)number);
    }
    if (batches[at].opens == STATUS_STALE) {
        first_kept = number; /* it goes just now */
        return status_fail(why, STATUS_STALE, "it went");
    }
    TRY(failure(batches[at].opens, why));
    *reader = memory_new(sizeof **reader);
    (*reader)->batch = at;
    (*reader)->one = true;
    open_readers++;
    return STATUS_OK;
}

void __wrap_change_reader_close(struct change_reader *reader);
void
__wrap_change_reader_close(struct change_reader *reader)
{
    free(reader);
    open_readers--;
}

enum status __wrap_change_reader_batch(struct change_reader *reader, struct change_batch *batch,
                                       struct reason *why);
enum status
__wrap_change_reader_batch(struct change_reader *reader, struct change_batch *batch,
                           struct reason *why)
{
    if (reader->batch == batch_count) {
        return STATUS_END;
    }
    const struct told_batch *told = &batches[reader->batch++];
    TRY(failure(told->begins, why));
    reader->block = 0;
    *batch = (struct change_batch){.position = {told->number, 10 * told->number},
                                   .previous = {told->number - 1, 10 * (told->number - 1)}};
    return STATUS_OK;
}

enum status __wrap_change_reader_block(struct change_reader *reader, struct change_block *block,
                                       struct reason *why);
enum status
__wrap_change_reader_block(struct change_reader *reader, struct change_block *block,
                           struct reason *why)
{
    const struct told_batch *told = &batches[reader->batch - 1];
    if (reader->block == BLOCKS_MOST || told->blocks[reader->block].count == 0) {
        return told->breaks == STATUS_OK ? STATUS_END : failure(told->breaks, why);
    }
    const struct told_block *from = &told->blocks[reader->block++];
    for (size_t i = 0; i < from->count; i++) {
        const struct told_row *row = &from->rows[i];
        block->rows[i] = (struct row){{row->graph, row->subject, row->predicate, row->object}};
        block->generations[i] = row->generation;
        block->removed[i] = row->removed;
    }
    block->count = from->count;
    return STATUS_OK;
}

void __wrap_change_log_state(struct change_log *log, struct change_position *last, uint64_t *first);
void
__wrap_change_log_state(struct change_log *log, struct change_position *last, uint64_t *first)
{
    assert_ptr_equal(log, the_partition.change_log);
    *last = last_position;
    *first = first_kept;
}

enum status __wrap_change_log_after(struct change_log *log, uint64_t wall_ms, uint64_t *batch,
                                    struct reason *why);
enum status
__wrap_change_log_after(struct change_log *log, uint64_t wall_ms, uint64_t *batch,
                        struct reason *why)
{
    assert_ptr_equal(log, the_partition.change_log);
    assert_int_equal(wall_ms, WAS_MS);
    *batch = after_batch;
    return failure(after_status, why);
}

/* ---- terms and documents of the test: a term's identifier is in its text ---- */
static oid refused_term;
static unsigned resolved[100]; /* how often */
static enum status found_status, document_status;
static bool document_known;
static int latch_depth;

struct nodes *__wrap_lexicon_nodes(struct lexicon *lexicon);
struct nodes *
__wrap_lexicon_nodes(struct lexicon *lexicon)
{
    assert_ptr_equal(lexicon, the_partition.lexicon);
    return (struct nodes *)&places[3];
}

struct nodes_reader *__wrap_nodes_reader_new(struct nodes *nodes);
struct nodes_reader *
__wrap_nodes_reader_new(struct nodes *nodes)
{
    assert_ptr_equal(nodes, &places[3]);
    open_nodes++;
    return (struct nodes_reader *)&places[3];
}

void __wrap_nodes_reader_free(struct nodes_reader *reader);
void
__wrap_nodes_reader_free(struct nodes_reader *reader)
{
    assert_ptr_equal(reader, &places[3]);
    open_nodes--;
}

enum status __wrap_nodes_resolve(struct nodes_reader *reader, oid id, struct arena *arena,
                                 struct term *term, struct reason *why);
enum status
__wrap_nodes_resolve(struct nodes_reader *reader, oid id, struct arena *arena, struct term *term,
                     struct reason *why)
{
    char text[40];
    assert_ptr_equal(reader, &places[3]);
    assert_true(id < 100);
    resolved[id]++;
    if (id == refused_term) {
        return status_fail(why, STATUS_CORRUPT, "no such term");
    }
    const int length = snprintf(text, sizeof text, "u:%u", (unsigned)id);
    char *copy = arena_alloc(arena, (size_t)length);
    assert_non_null(copy);
    memcpy(copy, text, (size_t)length);
    *term = term_iri(slice_of(copy, (size_t)length));
    return STATUS_OK;
}

enum status __wrap_lexicon_find(struct lexicon *lexicon, const struct term *term, oid *id,
                                struct reason *why);
enum status
__wrap_lexicon_find(struct lexicon *lexicon, const struct term *term, oid *id, struct reason *why)
{
    assert_ptr_equal(lexicon, the_partition.lexicon);
    assert_int_equal(term->kind, TERM_IRI);
    *id = slice_is(term->value, "u:20") ? 20 : OID_NONE;
    return failure(found_status, why);
}

struct latch *__wrap_tree_latch(struct tree *tree);
struct latch *
__wrap_tree_latch(struct tree *tree)
{
    assert_ptr_equal(tree, the_partition.documents);
    return (struct latch *)&places[2];
}

void __wrap_latch_enter_reading(struct latch *latch);
void
__wrap_latch_enter_reading(struct latch *latch)
{
    assert_ptr_equal(latch, &places[2]);
    latch_depth++;
}

void __wrap_latch_leave(struct latch *latch);
void
__wrap_latch_leave(struct latch *latch)
{
    assert_ptr_equal(latch, &places[2]);
    latch_depth--;
}

enum status __wrap_documents_get(struct tree *documents, oid graph, struct document_entry *entry,
                                 struct reason *why);
enum status
__wrap_documents_get(struct tree *documents, oid graph, struct document_entry *entry,
                     struct reason *why)
{
    assert_ptr_equal(documents, the_partition.documents);
    assert_int_equal(graph, 20);
    assert_int_equal(latch_depth, 1);
    *entry = (struct document_entry){.indexed_ms = WAS_MS};
    TRY(failure(document_status, why));
    return document_known ? STATUS_OK : STATUS_NOT_FOUND;
}

/* ---- asking ---- */

static struct buf told;
static struct reason reason;
static size_t piece_count, refused_piece, longest;

static enum status
take_piece(void *context, struct slice piece, struct reason *why)
{
    assert_ptr_equal(context, &told);
    assert_true(piece.length > 0);
    if (piece_count++ == refused_piece) {
        return status_fail(why, STATUS_CANCELLED, "nobody reads on");
    }
    longest = piece.length > longest ? piece.length : longest;
    return buf_append_slice(&told, piece);
}

static void
begin(void)
{
    buf_reset(&told);
    piece_count = longest = 0;
    reason = (struct reason){""};
    memset(resolved, 0, sizeof resolved);
}

static void
end(void)
{
    assert_int_equal(buf_append(&told, "", 1), STATUS_OK);
    assert_int_equal(open_readers, 0);
    assert_int_equal(open_nodes, 0);
    assert_int_equal(latch_depth, 0);
}

static enum status
ask(struct change_request *request)
{
    request->since = (struct change_position){3, 30};
    begin();
    const enum status status =
        partition_changes(&the_partition, request, take_piece, &told, &reason);
    end();
    return status;
}

static enum status
ask_last(const char *uri)
{
    begin();
    const enum status status =
        partition_last_change(&the_partition, slice_string(uri), take_piece, &told, &reason);
    end();
    return status;
}

static const struct told_row rows_a[] = {{10, 1, 2, 3, 7, false},
                                         {10, 1, 2, 4, 7, true},
                                         {20, 1, 2, 4, 8, false}},
                             rows_b[] = {{20, 1, 5, 4, 8, true}, {30, 6, 5, 4, 9, false}},
                             rows_c[] = {{10, 1, 2, 3, 11, true}};

/* Batch 4 changes three graphs, in two blocks; 5 nothing; 6 one graph. */
static int
set_up(void **state)
{
    (void)state;
    memset(batches, 0, sizeof batches);
    batches[0] = (struct told_batch){.number = 4, .blocks = {{rows_a, 3}, {rows_b, 2}}};
    batches[1] = (struct told_batch){.number = 5};
    batches[2] = (struct told_batch){.number = 6, .blocks = {{rows_c, 1}}};
    batch_count = 3;
    last_position = (struct change_position){6, 60};
    first_kept = 3;
    after_batch = 7;
    log_opens = after_status = found_status = document_status = STATUS_OK;
    document_known = true;
    refused_term = OID_NONE;
    refused_piece = SIZE_MAX;
    the_partition.lexicon = (struct lexicon *)&places[0];
    the_partition.change_log = (struct change_log *)&places[1];
    the_partition.documents = (struct tree *)&places[2];
    buf_init(&told, TEXT_MOST);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&told);
    return 0;
}

/* ---- tests ---- */

static const char all_lines[] = "B\t4.28\t3.1e\n"
                                "G\t7\tu:10\n"
                                "+<u:1> <u:2> <u:3> <u:10> .\n"
                                "-<u:1> <u:2> <u:4> <u:10> .\n"
                                "G\t8\tu:20\n"
                                "+<u:1> <u:2> <u:4> <u:20> .\n"
                                "-<u:1> <u:5> <u:4> <u:20> .\n"
                                "G\t9\tu:30\n"
                                "+<u:6> <u:5> <u:4> <u:30> .\n"
                                "C\t4.28\n"
                                "B\t5.32\t4.28\n"
                                "C\t5.32\n"
                                "B\t6.3c\t5.32\n"
                                "G\t11\tu:10\n"
                                "-<u:1> <u:2> <u:3> <u:10> .\n"
                                "C\t6.3c\n";

static void
all_batches_are_told(void **state)
{
    struct change_request request = {.graph_count = 0};
    (void)state;
    assert_int_equal(ask(&request), STATUS_OK);
    assert_string_equal(told.data, all_lines);
    assert_int_equal(piece_count, 1); /* a short one is told at once */
    assert_int_equal(request.since.batch, 6);
    assert_int_equal(request.since.stamp, 60);
    /* A name that stays the same from row to row is looked up once. */
    assert_int_equal(resolved[1], 2); /* others come between */
    assert_int_equal(resolved[2], 2);
    assert_int_equal(resolved[20], 1);
    batch_count = 0;
    assert_int_equal(ask(&request), STATUS_OK);
    assert_int_equal(piece_count, 0);
    assert_int_equal(request.since.batch, 3);
}

static void
only_graphs_that_are_asked_for_are_told(void **state)
{
    const struct slice graphs[] = {SLICE("u:30"), SLICE("u:none"), SLICE("u:10")};
    struct change_request request = {.graphs = graphs, .graph_count = 3};
    (void)state;
    assert_int_equal(ask(&request), STATUS_OK);
    assert_string_equal(told.data, "B\t4.28\t3.1e\n"
                                   "G\t7\tu:10\n"
                                   "+<u:1> <u:2> <u:3> <u:10> .\n"
                                   "-<u:1> <u:2> <u:4> <u:10> .\n"
                                   "G\t9\tu:30\n"
                                   "+<u:6> <u:5> <u:4> <u:30> .\n"
                                   "C\t4.28\n"
                                   "B\t5.32\t4.28\n"
                                   "C\t5.32\n"
                                   "B\t6.3c\t5.32\n"
                                   "G\t11\tu:10\n"
                                   "-<u:1> <u:2> <u:3> <u:10> .\n"
                                   "C\t6.3c\n");
    request.graph_count = 2;
    assert_int_equal(ask(&request), STATUS_OK);
    assert_null(strstr(told.data, "u:10"));
    assert_non_null(strstr(told.data, "+<u:6> <u:5> <u:4> <u:30> .\n"));
}

/* The follower goes on after the last batch that it was told of wholly. */
static void
what_fails_is_told(void **state)
{
    struct change_request request = {.graph_count = 0};
    (void)state;
    log_opens = STATUS_STALE;
    assert_int_equal(ask(&request), STATUS_STALE);
    log_opens = STATUS_OK;
    batches[1].begins = STATUS_CORRUPT;
    assert_int_equal(ask(&request), STATUS_CORRUPT);
    assert_string_equal(reason.text, "it went wrong");
    assert_int_equal(request.since.batch, 4);
    batches[1].begins = STATUS_OK;
    batches[2].breaks = STATUS_STALE;
    assert_int_equal(ask(&request), STATUS_STALE);
    assert_int_equal(request.since.batch, 5);
    batches[2].breaks = STATUS_OK;
    static const oid terms[] = {10, 6, 5, 3};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        refused_term = terms[i];
        assert_int_equal(ask(&request), STATUS_CORRUPT);
        assert_string_equal(reason.text, "no such term");
        assert_int_equal(request.since.batch, 3);
    }
    refused_term = OID_NONE;
    refused_piece = 0;
    assert_int_equal(ask(&request), STATUS_CANCELLED);
    assert_string_equal(reason.text, "nobody reads on");
}

/* Pieces have some tens of kilobytes, however large a batch is. */
static void
long_changes_come_in_pieces(void **state)
{
    enum { LINE = sizeof "+<u:1> <u:2> <u:4> <u:20> .\n" - 1, ROWS = BLOCK_MAXIMUM };
    static struct told_row rows[BLOCK_MAXIMUM];
    struct change_request request = {.graph_count = 0};
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = (struct told_row){20, 1, 2, 4, 8, false};
    }
    for (size_t b = 0; b < BATCHES_MOST; b++) {
        batches[b] = (struct told_batch){.number = 4 + b};
        for (size_t k = 0; k < BLOCKS_MOST; k++) {
            batches[b].blocks[k] = (struct told_block){rows, ROWS};
        }
    }
    batch_count = BATCHES_MOST;
    assert_int_equal(ask(&request), STATUS_OK);
    assert_true(told.length > (size_t)BATCHES_MOST * BLOCKS_MOST * ROWS * LINE);
    assert_true(longest <= PIECE + 100);
    size_t graphs = 0; /* each batch names its graph anew */
    for (const char *at = told.data; (at = strstr(at, "G\t8\tu:20\n")) != NULL; at++) {
        graphs++;
    }
    assert_int_equal(graphs, BATCHES_MOST);
    assert_int_equal(piece_count, 1 + (told.length - 1) / (PIECE + LINE));
    refused_piece = piece_count - 1;
    const uint64_t whole = request.since.batch;
    assert_int_equal(ask(&request), STATUS_CANCELLED);
    assert_int_equal(request.since.batch, whole);
}

/* Batches are looked at from the moment on at which the document was indexed, back to the oldest
 * that is kept. */
static void
the_last_change_is_the_latest_batch_with_the_graph(void **state)
{
    static const char lines[] = "B\t4.28\t3.1e\n"
                                "G\t8\tu:20\n"
                                "+<u:1> <u:2> <u:4> <u:20> .\n"
                                "-<u:1> <u:5> <u:4> <u:20> .\n"
                                "C\t4.28\n";
    (void)state;
    for (after_batch = 4; after_batch <= 7; after_batch++) {
        assert_int_equal(ask_last("u:20"), STATUS_OK);
        assert_string_equal(told.data, lines);
        assert_int_equal(piece_count, 1);
        assert_int_equal(resolved[30], 0); /* other graphs are passed over */
    }
    /* The last rows of a batch may be the document's. */
    batches[2].blocks[0] = (struct told_block){rows_b, 1};
    assert_int_equal(ask_last("u:20"), STATUS_OK);
    assert_string_equal(told.data, "B\t6.3c\t5.32\n"
                                   "G\t8\tu:20\n"
                                   "-<u:1> <u:5> <u:4> <u:20> .\n"
                                   "C\t6.3c\n");
    /* A change that came after the moment is not the last one before it. */
    after_batch = 5;
    assert_int_equal(ask_last("u:20"), STATUS_OK);
    assert_string_equal(told.data, lines);
}

static void
documents_without_a_last_change(void **state)
{
    static const char gone[] = "its last change, of 1970-01-02";
    (void)state;
    assert_int_equal(ask_last("u:none"), STATUS_OK);
    assert_int_equal(piece_count, 0);
    document_known = false;
    assert_int_equal(ask_last("u:20"), STATUS_OK);
    assert_int_equal(piece_count, 0);
    document_known = true;
    first_kept = 4; /* so batch 4 itself is none to go on from */
    assert_int_equal(ask_last("u:20"), STATUS_STALE);
    assert_memory_equal(reason.text, gone, sizeof gone - 1);
    assert_non_null(strstr(reason.text, "is no longer kept"));
    assert_int_equal(piece_count, 0);
    first_kept = 6;
    assert_int_equal(ask_last("u:20"), STATUS_STALE);
    assert_memory_equal(reason.text, gone, sizeof gone - 1);
    first_kept = 3;
    batches[1].opens = STATUS_STALE; /* it goes while it is looked for */
    assert_int_equal(ask_last("u:20"), STATUS_STALE);
    assert_memory_equal(reason.text, gone, sizeof gone - 1);
}

static void
a_last_change_that_cannot_be_read_is_told(void **state)
{
    enum status *const fails[] = {&found_status,      &document_status,   &after_status,
                                  &batches[1].opens,  &batches[1].begins, &batches[1].breaks,
                                  &batches[0].breaks, &batches[0].begins, &batches[0].opens};
    static const oid terms[] = {20, 1, 2, 4};
    (void)state;
    for (size_t i = 0; i < sizeof fails / sizeof *fails; i++) {
        *fails[i] = STATUS_CORRUPT;
        if (fails[i] == &batches[0].breaks) { /* only where the graph's rows may go on */
            batches[0].blocks[1].count = 1;
        }
        assert_int_equal(ask_last("u:20"), STATUS_CORRUPT);
        assert_string_equal(reason.text, "it went wrong");
        assert_int_equal(piece_count, 0);
        *fails[i] = STATUS_OK;
    }
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        refused_term = terms[i];
        assert_int_equal(ask_last("u:20"), STATUS_CORRUPT);
        assert_string_equal(reason.text, "no such term");
        assert_int_equal(piece_count, 0);
    }
    refused_term = OID_NONE;
    refused_piece = 0;
    assert_int_equal(ask_last("u:20"), STATUS_CANCELLED);
    assert_string_equal(reason.text, "nobody reads on");
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(all_batches_are_told),
        CASE(only_graphs_that_are_asked_for_are_told),
        CASE(what_fails_is_told),
        CASE(long_changes_come_in_pieces),
        CASE(the_last_change_is_the_latest_batch_with_the_graph),
        CASE(documents_without_a_last_change),
        CASE(a_last_change_that_cannot_be_read_is_told),
    };
    return cmocka_run_group_tests_name("change_lines", tests, NULL, NULL);
}
