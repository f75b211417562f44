/* Whether the tree of words says what the literals of the lexicon say: all postings of both are
 * added up, each as a number that depends on all of it, so that neither can have one that the other
 * lacks. What the tree alone can tell (order, fences, heads) is looked at on the way, some blocks
 * at a time. Words that are written meanwhile are of greater numbers and are passed over; a head
 * then may say more than what was found of its word. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "index/words/literal_words.h"
#include "index/words/literals_index.h"

enum { MEMORY_AT_ONCE = 32 << 20, CANCEL_MASK = 1023 };

struct sums {
    uint64_t postings, literals, words;
    uint64_t sum[2];
};

static uint64_t
mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static void
add_posting(struct sums *sums, uint64_t word, unsigned class, uint64_t code)
{
    const uint64_t first = mix(word ^ mix(code) ^ (uint64_t) class << 56);
    sums->postings++;
    sums->sum[0] += first;
    sums->sum[1] += mix(first ^ word);
}

/* ---- what the lexicon says ---- */

struct reading {
    uint64_t next; /* numbers below */
    const atomic_bool *cancel;
    struct posting_memtable *memory;
    struct tokenizer *tokenizer;
    struct sums sums;
};

static enum status
check_cancelled(const atomic_bool *cancel, struct reason *why)
{
    return atomic_load(cancel) ? status_fail(why, STATUS_CANCELLED, "verifying was ended")
                               : STATUS_OK;
}

static void
add_memory(struct reading *r)
{
    size_t count;
    struct memory_head *heads = posting_memtable_sorted(r->memory, &count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = fingerprint64(heads[i].word);
        struct memory_postings postings;
        postings.codes = memory_alloc(heads[i].literals * sizeof(*postings.codes));
        memory_postings_read(&postings, &heads[i]);
        for (uint64_t left = heads[i].classes; left != 0; left &= left - 1) {
            const unsigned class = (unsigned)__builtin_ctzll(left);
            size_t n;
            const uint64_t *codes = memory_postings_of(&postings, class, &n);
            for (size_t at = 0; at < n; at++) {
                add_posting(&r->sums, word, class, codes[at]);
            }
        }
        free(postings.codes);
    }
    r->sums.literals += posting_memtable_literals(r->memory);
    r->sums.words += posting_memtable_words(r->memory);
    free(heads);
    posting_memtable_free(r->memory);
}

static enum status
read_term(void *context, oid id, const struct term *term, struct reason *why)
{
    struct reading *r = context;
    uint64_t stems = 0;
    if (oid_number(id) >= r->next) {
        return STATUS_END;
    }
    if ((oid_number(id) & CANCEL_MASK) == 0) {
        TRY(check_cancelled(r->cancel, why));
    }
    if (oid_kind(id) == OID_KIND_STRING || oid_kind(id) == OID_KIND_LANGUAGE) {
        const uint64_t length = literals_count_words(r->memory, r->tokenizer, term, &stems);
        posting_memtable_end_literal(r->memory, oid_number(id), oid_kind(id) == OID_KIND_LANGUAGE,
                                     length);
        if (posting_memtable_bytes(r->memory) > MEMORY_AT_ONCE) {
            add_memory(r);
            r->memory = posting_memtable_new();
        }
    }
    return STATUS_OK;
}

/* ---- what the tree says ---- */

struct walking {
    struct literals *literals;
    struct sums sums;
    uint64_t next;                  /* numbers below */
    uint8_t last[WORD_KEY_MAXIMUM]; /* key */
    size_t last_length;
    uint8_t word_bytes[WORD_MOST];
    struct slice word; /* under way, */
    uint64_t hash, literals_said, classes, found, found_classes;
    uint64_t writes; /* of words when its head was read */
};

static struct slice
key_slice(const uint8_t *key, size_t length)
{
    return slice_of((const char *)key, length);
}

/* The head said how many postings there are, and of which classes. */
static bool
end_word(const struct walking *w)
{
    const bool changed = w->writes % 2 != 0 || atomic_load(&w->literals->writes) != w->writes;
    return changed ? w->literals_said >= w->found && (w->found_classes & ~w->classes) == 0
                   : w->literals_said == w->found && w->classes == w->found_classes;
}

static bool
step(struct walking *w, const struct posting_run *run, bool head, uint64_t number)
{
    uint8_t key[WORD_KEY_MAXIMUM];
    const size_t length = word_key(run->word, head, run->class, number, key);
    if (slice_compare(key_slice(key, length), key_slice(w->last, w->last_length)) <= 0) {
        return false;
    }
    memcpy(w->last, key, length);
    w->last_length = length;
    return true;
}

static bool
check_head(struct walking *w, const struct posting_run *run)
{
    if (!end_word(w) || !step(w, run, true, 0)) {
        return false;
    }
    memcpy(w->word_bytes, run->word.at, run->word.length);
    w->word = key_slice(w->word_bytes, run->word.length);
    w->hash = fingerprint64(w->word);
    w->literals_said = run->literals;
    w->writes = atomic_load(&w->literals->writes);
    w->classes = run->classes;
    w->found = w->found_classes = 0;
    return true;
}

static bool
check_run(struct walking *w, const struct posting_run *run)
{
    struct posting_reader postings;
    posting_reader_open(&postings, run);
    if (!slice_equal(w->word, run->word)) {
        return false;
    }
    w->found_classes |= UINT64_C(1) << run->class;
    do {
        if (!step(w, run, false, postings.number)) {
            return false;
        }
        if (postings.number < w->next) {
            add_posting(&w->sums, w->hash, run->class, postings.number << 1 | postings.tagged);
        }
        w->found++;
    } while (posting_next(&postings));
    return postings.at == postings.end;
}

static bool
check_block(struct walking *w, const struct fence_cursor *cursor)
{
    struct posting_block_reader reader;
    posting_block_open(&reader, cursor->block, cursor->block_length);
    while (posting_block_next(&reader)) {
        if (!(reader.run.head ? check_head(w, &reader.run) : check_run(w, &reader.run))) {
            return false;
        }
    }
    const struct slice fence = key_slice(cursor->fence, cursor->fence_length);
    if (reader.bad || slice_compare(key_slice(w->last, w->last_length), fence) > 0) {
        return false;
    }
    if (fence.length > sizeof(w->last)) {
        return false;
    }
    memcpy(w->last, fence.at, fence.length);
    w->last_length = fence.length;
    return true;
}

/* Some blocks from after the last fence on; END at the end. */
static enum status
walk_some(struct walking *w, struct fence_cursor *cursor, struct reason *why)
{
    const bool first = w->last_length == 0;
    latch_enter_reading(tree_latch(w->literals->tree));
    enum status status =
        fence_seek(cursor, first ? SLICE("\1") : key_slice(w->last, w->last_length), why);
    if (status == STATUS_OK && !first) {
        status = fence_next(cursor, why);
    }
    for (int i = 0; status == STATUS_OK && i < LATCH_BLOCKS; i++) {
        status = !cursor->stored          ? STATUS_END
                 : check_block(w, cursor) ? fence_next(cursor, why)
                                          : literals_damaged(why, "words are not in order, or not "
                                                                  "as many as their head says");
    }
    fence_close(cursor);
    latch_leave(tree_latch(w->literals->tree));
    return status;
}

static enum status
walk_tree(struct walking *w, const atomic_bool *cancel, struct reason *why)
{
    struct fence_cursor *cursor = memory_alloc(sizeof(*cursor));
    fence_open(cursor, w->literals->tree, NULL);
    enum status status = STATUS_OK;
    while (status == STATUS_OK) {
        status = walk_some(w, cursor, why);
        if (status == STATUS_OK) {
            status = check_cancelled(cancel, why);
        }
    }
    free(cursor);
    TRY(status == STATUS_END ? STATUS_OK : status);
    return end_word(w) ? STATUS_OK
                       : literals_damaged(why, "the last word has other postings than "
                                               "its head says");
}

enum status
literals_check(struct literals *literals, struct nodes *nodes, const atomic_bool *cancel,
               uint64_t *count, struct reason *why)
{
    latch_enter_reading(&literals->memory_latch);
    const struct literals_state state = literals->state;
    latch_leave(&literals->memory_latch);
    *count = state.literals;
    struct reading r = {.next = state.next, .cancel = cancel};
    r.tokenizer = tokenizer_new();
    r.memory = posting_memtable_new();
    const enum status status = nodes_walk(nodes, 1, read_term, &r, why);
    add_memory(&r);
    tokenizer_free(r.tokenizer);
    TRY(status == STATUS_END ? STATUS_OK : status);
    struct walking w = {.literals = literals, .next = state.next};
    TRY(walk_tree(&w, cancel, why));
    if (w.sums.postings != r.sums.postings ||
        memcmp(w.sums.sum, r.sums.sum, sizeof(w.sums.sum)) != 0) {
        return status_fail(
            why, STATUS_CORRUPT, "tree words: %llu postings are not those of the literals (%llu)",
            (unsigned long long)w.sums.postings, (unsigned long long)r.sums.postings);
    }
    if (state.literals != r.sums.literals || state.words != r.sums.words) {
        return literals_damaged(why, "its count of literals or of their words is wrong");
    }
    return STATUS_OK;
}
