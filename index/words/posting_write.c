/* Words from memory to the tree: one pass over both in order, some blocks at a time. What is in
 * memory of a class has greater numbers than what is in the tree, so runs are joined by writing
 * the new one's bytes behind the old one's. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/varint.h"
#include "index/terms/term_blocks.h"
#include "index/words/literals_index.h"
#include "index/words/posting_build.h"
#include "index/words/posting_runs.h"

enum {
    STEP_BLOCKS = 4 * LATCH_BLOCKS, /* of a transaction, about */
    RUNS_AT_ONCE = 1024,            /* from memory into one block of the tree */
    BYTES_AT_ONCE = 64 << 10,
    SLACK = 48
};

struct merging {
    struct literals *literals;
    struct transaction *transaction;
    struct fence_cursor cursor;
    struct arena arena;
    struct memtable_runs memory;
    struct posting_run *runs; /* of one block and what comes into it */
    size_t count, capacity;
    bool appended;   /* what came stands behind all there was */
    unsigned pieces; /* written in this step */
    uint8_t piece[BLOCK_MAXIMUM];
};

/* ---- one block ---- */

static struct posting_run *
add_run(struct merging *m, const struct posting_run *run)
{
    m->runs = array_grow(m->runs, m->count, &m->capacity, sizeof(*m->runs));
    m->runs[m->count] = *run;
    return &m->runs[m->count++];
}

/* old += new */
static void
join(struct merging *m, struct posting_run *old, const struct memory_head *head)
{
    if (old->head) {
        old->literals += head->literals;
        old->classes |= head->classes;
        return;
    }
    struct posting_run new = {.class = old->class};
    memtable_runs_copy(&m->memory, &new, &m->arena);
    const uint64_t gap = new.first - (posting_run_last(old) << 1);
    uint8_t *bytes = arena_alloc(&m->arena, old->gaps.length + VARINT_MAXIMUM + new.gaps.length);
    memcpy(bytes, old->gaps.at, old->gaps.length);
    uint8_t *at = varint_put(bytes + old->gaps.length, gap);
    memcpy(at, new.gaps.at, new.gaps.length);
    old->gaps = slice_of((const char *)bytes, (size_t)(at - bytes) + new.gaps.length);
}

/* The runs of the block under the cursor and those of memory that belong into it. */
static enum status
gather(struct merging *m, struct reason *why)
{
    const struct slice fence = slice_of((const char *)m->cursor.fence, m->cursor.fence_length);
    struct posting_block_reader reader;
    posting_block_open(&reader, m->cursor.block, m->cursor.block_length);
    bool old = posting_block_next(&reader);
    struct slice word = slice_of(NULL, 0);
    m->count = 0;
    m->appended = true;
    for (size_t new = 0;;) {
        struct posting_run run;
        uint8_t key[WORD_KEY_MAXIMUM];
        size_t length = 0;
        const struct memory_head *head = memtable_runs_word(&m->memory);
        const bool more =
            new < RUNS_AT_ONCE &&
            m->arena.used < BYTES_AT_ONCE &&memtable_runs_peek(&m->memory, &run, key, &length) &&
            slice_compare(slice_of((const char *)key, length), fence) <= 0;
        if (!old && !more) {
            break;
        }
        const int comparison = !more ? -1 : !old ? 1 : posting_runs_compare(&reader.run, &run);
        if (comparison <= 0) {
            if (!slice_equal(word, reader.run.word)) {
                word = arena_copy(&m->arena, reader.run.word);
            }
            struct posting_run *kept = add_run(m, &reader.run);
            kept->word = word;
            if (comparison == 0) {
                join(m, kept, head);
            }
            old = posting_block_next(&reader);
        } else {
            m->appended = m->appended && !old;
            if (!run.head) {
                memtable_runs_copy(&m->memory, &run, &m->arena);
            }
            (void)add_run(m, &run);
        }
        if (comparison >= 0) {
            new ++;
            memtable_runs_advance(&m->memory);
        }
    }
    return reader.bad ? literals_damaged(why, "a block is malformed") : STATUS_OK;
}

/* Returns how much goes into a block, as in index/quads/quads.c: full blocks where keys came at the
 * end, else even ones. */
static size_t
piece_size(const struct merging *m)
{
    if (m->appended) {
        return BLOCK_MAXIMUM;
    }
    size_t size = 0;
    for (size_t i = 0; i < m->count; i++) {
        size += posting_run_size(&m->runs[i]);
    }
    const size_t pieces = (size + BLOCK_MAXIMUM - 1) / BLOCK_MAXIMUM;
    const size_t even = size / (pieces > 0 ? pieces : 1) + SLACK;
    return pieces <= 1 || even > BLOCK_MAXIMUM ? BLOCK_MAXIMUM : even;
}

static enum status
write_pieces(struct merging *m, struct reason *why)
{
    const size_t size = piece_size(m);
    struct posting_block_writer writer;
    posting_block_begin(&writer, m->piece, size);
    for (size_t i = 0; i < m->count; i++) {
        struct posting_run *run = &m->runs[i];
        while (!posting_block_add(&writer, run)) {
            uint8_t key[WORD_KEY_MAXIMUM];
            const size_t length = word_key(run->word, run->head, run->class, run->first >> 1, key);
            const struct slice left =
                slice_of((const char *)writer.last_key, writer.last_key_length);
            const struct slice fence = term_fence(left, slice_of((const char *)key, length));
            m->pieces++;
            TRY(fence_emit(&m->cursor, fence,
                           slice_of((char *)m->piece, posting_block_length(&writer)), why));
            /* Pieces that are inside of one run do not change again. */
            const bool inside = !run->head && run->gaps.length > BLOCK_MAXIMUM;
            posting_block_begin(&writer, m->piece, inside ? BLOCK_MAXIMUM : size);
        }
    }
    m->pieces++;
    return fence_finish(&m->cursor, slice_of((char *)m->piece, posting_block_length(&writer)), why);
}

static enum status
merge_block(struct merging *m, struct reason *why)
{
    struct posting_run run;
    uint8_t key[WORD_KEY_MAXIMUM];
    size_t length;
    arena_reset(&m->arena);
    (void)memtable_runs_peek(&m->memory, &run, key, &length);
    TRY(fence_seek(&m->cursor, slice_of((const char *)key, length), why));
    TRY(gather(m, why));
    return write_pieces(m, why);
}

/* ---- steps ---- */

/* Tells whether the memory is full. One that holds no literal is not, however small its limit: it
 * has nothing to write. / */
bool
literals_is_full(const struct literals *literals)
{
    return posting_memtable_literals(literals->active) > 0 &&
           posting_memtable_bytes(literals->active) >= literals->memory / 2;
}

bool
literals_to_write(const struct literals *literals, bool all)
{
    if (literals->again_until > 0) {
        return literals->next == literals->again_until;
    }
    return literals->writing != NULL || literals_is_full(literals) ||
           (all && literals->next > literals->state.next);
}

static bool
is_after(const struct memory_head *head, const struct literals_state *state)
{
    return slice_compare(head->word, slice_of((const char *)state->done, state->done_length)) > 0;
}

/* Begins to write what has waited; new literals wait in a new memory. */
static void
begin_writing(struct literals *literals)
{
    latch_enter_writing(&literals->memory_latch);
    literals->writing = literals->active;
    literals->active = posting_memtable_new();
    literals->state.until = literals->next;
    latch_leave(&literals->memory_latch);
    literals->again_until = 0;
    literals->progress.sorted =
        posting_memtable_sorted(literals->writing, &literals->progress.sorted_count);
    literals->progress.written = 0;
    while (literals->state.done_length > 0 &&
           literals->progress.written < literals->progress.sorted_count &&
           !is_after(&literals->progress.sorted[literals->progress.written], &literals->state)) {
        literals->progress.written++;
    }
}

static void
end_step(struct literals *literals, const struct literals_state *state, size_t written)
{
    struct posting_memtable *done = NULL;
    literals->progress.written = written;
    latch_enter_writing(&literals->memory_latch);
    literals->state = *state;
    if (state->until == 0) {
        done = literals->writing;
        literals->writing = NULL;
    }
    latch_leave(&literals->memory_latch);
    if (done != NULL) {
        posting_memtable_free(done);
        free(literals->progress.sorted);
        literals->progress.sorted = NULL;
    }
}

static enum status
merge_some(struct merging *m, struct reason *why)
{
    enum status status = STATUS_OK;
    while (memtable_runs_word(&m->memory) != NULL && status == STATUS_OK &&
           (m->pieces < STEP_BLOCKS || m->memory.head_done)) {
        const unsigned most = m->pieces + LATCH_BLOCKS;
        latch_enter_writing(tree_latch(m->literals->tree));
        do {
            status = merge_block(m, why);
        } while (status == STATUS_OK && memtable_runs_word(&m->memory) != NULL && m->pieces < most);
        fence_close(&m->cursor);
        latch_leave(tree_latch(m->literals->tree));
    }
    return status;
}

static void
state_after(const struct merging *m, struct literals_state *state)
{
    const struct literals *literals = m->literals;
    *state = literals->state;
    if (memtable_runs_word(&m->memory) == NULL) {
        literals_state_finish(state, literals->writing);
        return;
    }
    const struct slice done = literals->progress.sorted[m->memory.word - 1].word;
    memcpy(state->done, done.at, done.length);
    state->done_length = done.length;
}

/* Into the tree as it is. */
static enum status
write_step(struct literals *literals, struct reason *why)
{
    struct transaction *transaction;
    TRY(transaction_begin(&transaction, literals->environment, 0, why));
    struct merging *m = memory_alloc(sizeof(*m));
    *m = (struct merging){.literals = literals, .transaction = transaction};
    arena_init(&m->arena, 0);
    fence_open(&m->cursor, literals->tree, transaction);
    memtable_runs_open(&m->memory, literals->progress.sorted, literals->progress.sorted_count,
                       literals->progress.written);
    atomic_fetch_add(&literals->writes, 1);
    enum status status = merge_some(m, why);
    struct literals_state state;
    latch_enter_writing(tree_latch(literals->tree));
    if (status == STATUS_OK) {
        state_after(m, &state);
        status = literals_state_put(literals->tree, transaction, &state, why);
    }
    if (status == STATUS_OK) {
        status = transaction_commit_unsynced(transaction, why);
    } else {
        transaction_abort(transaction);
    }
    atomic_fetch_add(&literals->writes, 1);
    latch_leave(tree_latch(literals->tree));
    if (status == STATUS_OK) {
        end_step(literals, &state, m->memory.word);
    }
    arena_release(&m->arena);
    free(m->runs);
    memtable_runs_close(&m->memory);
    free(m);
    return status;
}

/* The new tree is whole. */
static enum status
take_build(struct literals *literals, struct transaction *transaction, struct reason *why)
{
    struct literals_state state = literals->state;
    literals_state_finish(&state, literals->writing);
    atomic_fetch_add(&literals->writes, 1);
    enum status status = literals_build_end(literals, transaction, why);
    if (status == STATUS_OK) {
        status = transaction_commit_unsynced(transaction, why);
    } else {
        transaction_abort(transaction);
    }
    atomic_fetch_add(&literals->writes, 1);
    literals_build_drop(literals);
    if (status == STATUS_OK) {
        end_step(literals, &state, literals->progress.sorted_count);
    }
    return status;
}

static enum status
build_step(struct literals *literals, bool copying, struct reason *why)
{
    struct transaction *transaction;
    bool end;
    const enum status status = literals_build_some(literals, &end, why);
    if (status != STATUS_OK) {
        literals_build_drop(literals);
    }
    if (status != STATUS_OK || !end) {
        return status;
    }
    if (copying) {
        return status_fail(why, STATUS_AGAIN, "a copy is being made");
    }
    TRY(transaction_begin(&transaction, literals->environment, 0, why));
    return take_build(literals, transaction, why);
}

/* Room for a new tree beside the old one. */
static bool
has_room(const struct literals *literals)
{
    enum { GROWTH = 2 };
    struct transaction *transaction;
    struct reason why;
    const uint64_t bytes = GROWTH * tree_bytes(literals->tree);
    if (transaction_begin(&transaction, literals->environment, bytes, &why) != STATUS_OK) {
        return false;
    }
    transaction_abort(transaction);
    return true;
}

/* Begins to write what has waited, into a new tree if that pays. */
static enum status
begin(struct literals *literals, bool copying, struct reason *why)
{
    const bool again = literals->state.until > 0;
    bool pays = false;
    begin_writing(literals);
    if (!again && !copying) {
        TRY(literals_build_pays(literals, &pays, why));
    }
    if (!pays || !has_room(literals)) {
        return STATUS_OK;
    }
    const enum status status = literals_build_begin(literals, why);
    if (status != STATUS_OK) {
        literals_build_drop(literals);
    }
    return status;
}

enum status
literals_write_step(struct literals *literals, bool copying, struct reason *why)
{
    if (literals->writing == NULL) {
        TRY(begin(literals, copying, why));
    }
    return literals->progress.build != NULL ? build_step(literals, copying, why)
                                            : write_step(literals, why);
}
