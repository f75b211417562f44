/* Words from memory to a new tree: a merge of all that the old one has with all of memory, for a
 * memory that touches most blocks. It goes in steps, between which batches and searches go on:
 * these find in the old tree and in memory what they did before. Only the last step has a
 * transaction; a crash before its commit leaves nothing of it. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/varint.h"
#include "index/terms/term_blocks.h"
#include "index/words/literals_index.h"
#include "index/words/posting_build.h"
#include "index/words/posting_runs.h"

enum { STEP_BLOCKS = 256, STEPS_OF_SYNC = 64 };

struct words_build {
    struct literals *literals;
    struct tree_build *build;
    struct memtable_runs memory;
    struct fence_cursor old; /* a copy of the block at hand; closed between blocks */
    struct posting_block_reader reader;
    bool has_old;  /* reader.run is the next of the old tree */
    bool has_part; /* what follows is a run, or a part of one that may go on: */
    struct posting_run part;
    uint8_t part_word[WORD_MOST];
    struct buf gaps; /* of part */
    uint64_t last;   /* its last number */
    struct posting_block_writer writer;
    uint8_t written_word[WORD_MOST];
    struct arena arena;
    unsigned pieces; /* in this step */
    uint64_t steps;
    uint8_t piece[BLOCK_MAXIMUM];
};

/* ---- whether it pays ---- */

struct place {
    uint32_t word, class;
};

struct placing {
    const struct literals *literals;
    const struct place *places;
    size_t count;
};

/* New postings stand behind the old ones of their class. */
static struct slice
place_key(const struct placing *p, size_t i, uint8_t key[WORD_KEY_MAXIMUM])
{
    const struct place *place = &p->places[i];
    const size_t length = word_key(p->literals->progress.sorted[place->word].word, false,
                                   place->class, p->literals->state.next, key);
    return slice_of((const char *)key, length);
}

static enum status
pass_block(void *context, struct fence_cursor *cursor, size_t *next, struct reason *why)
{
    const struct placing *p = context;
    uint8_t key[WORD_KEY_MAXIMUM];
    TRY(fence_seek(cursor, place_key(p, *next, key), why));
    const struct slice fence = slice_of((const char *)cursor->fence, cursor->fence_length);
    do {
        ++*next;
    } while (*next < p->count && slice_compare(place_key(p, *next, key), fence) <= 0);
    return STATUS_OK;
}

enum status
literals_build_pays(struct literals *literals, bool *pays, struct reason *why)
{
    size_t count = 0;
    *pays = false;
    for (size_t i = 0; i < literals->progress.sorted_count; i++) {
        count += (size_t)__builtin_popcountll(literals->progress.sorted[i].classes);
    }
    if (literals->build_from == 0 || count < literals->build_from) {
        return STATUS_OK;
    }
    struct place *places = memory_alloc(count * sizeof(*places));
    size_t n = 0;
    for (size_t i = 0; i < literals->progress.sorted_count; i++) {
        for (uint64_t left = literals->progress.sorted[i].classes; left != 0; left &= left - 1) {
            places[n++] = (struct place){(uint32_t)i, (uint32_t)__builtin_ctzll(left)};
        }
    }
    struct placing placing = {literals, places, count};
    const enum status status =
        fence_build_pays(literals->tree, count, pass_block, &placing, pays, why);
    free(places);
    return status;
}

/* ---- the old tree ---- */

/* The block after the one at hand. END. */
static enum status
next_block(struct words_build *b, struct reason *why)
{
    uint8_t key[FENCE_SIZE_MAXIMUM + 1]; /* the least one after the fence */
    memcpy(key, b->old.fence, b->old.fence_length);
    key[b->old.fence_length] = 0;
    TRY(fence_seek(&b->old, slice_of((char *)key, b->old.fence_length + 1), why));
    fence_close(&b->old);
    posting_block_open(&b->reader, b->old.block, b->old.block_length);
    return b->old.stored ? STATUS_OK : STATUS_END;
}

static enum status
next_old(struct words_build *b, struct reason *why)
{
    b->has_old = posting_block_next(&b->reader);
    while (!b->has_old && !b->reader.bad) {
        const enum status status = next_block(b, why);
        if (status != STATUS_OK) {
            return status == STATUS_END ? STATUS_OK : status;
        }
        b->has_old = posting_block_next(&b->reader);
    }
    return b->reader.bad ? literals_damaged(why, "a block is malformed") : STATUS_OK;
}

/* ---- the new tree ---- */

/* The block is full; part goes on behind it. */
static enum status
write_block(struct words_build *b, struct reason *why)
{
    uint8_t key[WORD_KEY_MAXIMUM];
    const struct posting_run *run = &b->part;
    const size_t length = word_key(run->word, run->head, run->class, run->first >> 1, key);
    const struct slice left = slice_of((const char *)b->writer.last_key, b->writer.last_key_length);
    const struct slice fence = term_fence(left, slice_of((const char *)key, length));
    const struct slice block = slice_of((char *)b->piece, posting_block_length(&b->writer));
    TRY(tree_build_add(b->build, fence, block, why));
    b->pieces++;
    posting_block_begin(&b->writer, b->piece, BLOCK_MAXIMUM);
    return STATUS_OK;
}

/* All of part. */
static enum status
write_part(struct words_build *b, struct reason *why)
{
    if (!b->has_part) {
        return STATUS_OK;
    }
    while (!posting_block_add(&b->writer, &b->part)) {
        TRY(write_block(b, why));
    }
    memcpy(b->written_word, b->part.word.at, b->part.word.length);
    b->writer.word = slice_of((const char *)b->written_word, b->part.word.length);
    b->has_part = false;
    return STATUS_OK;
}

/* Writes the blocks that a long run fills by itself, so that less than one block of it is kept. */
static enum status
write_full_blocks(struct words_build *b, struct reason *why)
{
    while (b->part.gaps.length > BLOCK_MAXIMUM) {
        (void)posting_block_add(&b->writer, &b->part);
        TRY(write_block(b, why));
    }
    const size_t rest = b->part.gaps.length;
    if (rest > 0) {
        memmove(b->gaps.data, b->part.gaps.at, rest);
    }
    b->gaps.length = rest;
    b->part.gaps = buf_slice(&b->gaps);
    return STATUS_OK;
}

static enum status
begin_part(struct words_build *b, const struct posting_run *run, struct reason *why)
{
    TRY(write_part(b, why));
    b->part = *run;
    memcpy(b->part_word, run->word.at, run->word.length);
    b->part.word = slice_of((const char *)b->part_word, run->word.length);
    buf_reset(&b->gaps);
    b->has_part = true;
    return STATUS_OK;
}

/* Takes what comes next in order: a head, a run, or a part of one. */
static enum status
take(struct words_build *b, const struct posting_run *run, struct reason *why)
{
    const bool same = b->has_part && posting_runs_compare(&b->part, run) == 0;
    if (!same) {
        TRY(begin_part(b, run, why));
    }
    if (run->head) {
        b->part.literals += same ? run->literals : 0;
        b->part.classes |= run->classes;
        return STATUS_OK;
    }
    if (same) {
        uint8_t gap[VARINT_MAXIMUM];
        const uint8_t *end = varint_put(gap, run->first - (b->last << 1));
        (void)buf_append(&b->gaps, gap, (size_t)(end - gap));
    }
    (void)buf_append_slice(&b->gaps, run->gaps);
    b->part.gaps = buf_slice(&b->gaps);
    b->last = posting_run_last(run);
    return write_full_blocks(b, why);
}

/* Takes the next one. Of a run that both have, all parts of the tree's come first. */
static enum status
take_next(struct words_build *b, bool *end, struct reason *why)
{
    struct posting_run run;
    uint8_t key[WORD_KEY_MAXIMUM];
    size_t length;
    const bool more = memtable_runs_peek(&b->memory, &run, key, &length);
    *end = !more && !b->has_old;
    if (*end) {
        return STATUS_OK;
    }
    if (!more || (b->has_old && posting_runs_compare(&b->reader.run, &run) <= 0)) {
        TRY(take(b, &b->reader.run, why));
        return next_old(b, why);
    }
    if (!run.head) {
        arena_reset(&b->arena);
        memtable_runs_copy(&b->memory, &run, &b->arena);
    }
    TRY(take(b, &run, why));
    memtable_runs_advance(&b->memory);
    return STATUS_OK;
}

/* ---- steps ---- */

enum status
literals_build_begin(struct literals *literals, struct reason *why)
{
    struct words_build *b = memory_new(sizeof(*b));
    literals->progress.build = b;
    b->literals = literals;
    memtable_runs_open(&b->memory, literals->progress.sorted, literals->progress.sorted_count, 0);
    buf_init(&b->gaps, SIZE_MAX / 2);
    arena_init(&b->arena, 0);
    posting_block_begin(&b->writer, b->piece, BLOCK_MAXIMUM);
    fence_open(&b->old, literals->tree, NULL);
    memcpy(b->old.fence, LITERALS_STATE_KEY.at, LITERALS_STATE_KEY.length);
    b->old.fence_length = LITERALS_STATE_KEY.length;
    posting_block_open(&b->reader, b->piece, 0);
    struct literals_state state = literals->state;
    struct buf record;
    literals_state_finish(&state, literals->writing);
    literals_state_encode(&state, &record);
    enum status status = tree_build_begin(&b->build, literals->tree, why);
    if (status == STATUS_OK) {
        status = tree_build_add(b->build, LITERALS_STATE_KEY, buf_slice(&record), why);
    }
    buf_release(&record);
    return status == STATUS_OK ? next_old(b, why) : status;
}

void
literals_build_drop(struct literals *literals)
{
    struct words_build *b = literals->progress.build;
    literals->progress.build = NULL;
    if (b != NULL) {
        tree_build_drop(b->build);
        memtable_runs_close(&b->memory);
        buf_release(&b->gaps);
        arena_release(&b->arena);
        free(b);
    }
}

enum status
literals_build_some(struct literals *literals, bool *end, struct reason *why)
{
    struct words_build *b = literals->progress.build;
    *end = false;
    for (b->pieces = 0; b->pieces < STEP_BLOCKS && !*end;) {
        TRY(take_next(b, end, why));
    }
    return ++b->steps % STEPS_OF_SYNC == 0 ? tree_build_sync(b->build, why) : STATUS_OK;
}

enum status
literals_build_end(struct literals *literals, struct transaction *transaction, struct reason *why)
{
    struct words_build *b = literals->progress.build;
    TRY(write_part(b, why));
    if (b->writer.any) {
        TRY(tree_build_add(b->build, FENCE_LAST,
                           slice_of((char *)b->piece, posting_block_length(&b->writer)), why));
    }
    struct tree_build *build = b->build;
    b->build = NULL;
    return tree_build_end(build, transaction, why);
}
