#include "index/words/literals.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/words/literal_words.h"
#include "index/words/literals_index.h"
#include "index/words/posting_build.h"

enum { TERMS_AT_ONCE = 8192, BYTES_AT_ONCE = 1 << 20 };

/* ---- state ---- */

/* Languages that have stems in the tree. */
static enum status
find_stems(struct literals *literals, struct reason *why)
{
    struct fence_cursor *cursor = memory_alloc(sizeof(*cursor));
    fence_open(cursor, literals->tree, NULL);
    enum status status = STATUS_OK;
    for (int i = 0; stem_language_name(i) != NULL && status == STATUS_OK; i++) {
        uint8_t key[STEM_KEY_MOST];
        const struct slice prefix = literals_stem_key(i, SLICE(""), key);
        struct posting_block_reader reader;
        status = fence_seek(cursor, prefix, why);
        if (status != STATUS_OK) {
            break;
        }
        posting_block_open(&reader, cursor->block, cursor->block_length);
        bool found = false;
        while (
            !found && posting_block_next(&reader) &&
            (slice_compare(reader.run.word, prefix) < 0 || slice_starts(reader.run.word, prefix))) {
            found = slice_starts(reader.run.word, prefix);
        }
        /* A block that ends before the prefix: the next one, if any, begins after its fence. */
        if (!found && cursor->stored && reader.at == reader.end &&
            slice_starts(slice_of((const char *)cursor->fence, cursor->fence_length), prefix)) {
            found = true;
        }
        literals->stems |= found ? (uint64_t)1 << i : 0;
    }
    fence_close(cursor);
    free(cursor);
    return status;
}

enum status
literals_open(struct literals **result, struct environment *environment, uint64_t memory,
              size_t build_from, struct reason *why)
{
    struct literals *literals = memory_new(sizeof(*literals));
    literals->environment = environment;
    literals->memory = memory;
    literals->build_from = build_from;
    literals->tokenizer = tokenizer_new();
    literals->marks = change_marks_new();
    literals->active = posting_memtable_new();
    latch_init(&literals->memory_latch);
    enum status status = tree_open(&literals->tree, environment, "words", why);
    if (status == STATUS_OK) {
        status = literals_state_get(literals->tree, &literals->state, why);
    }
    if (status == STATUS_OK) {
        status = find_stems(literals, why);
    }
    if (status != STATUS_OK) {
        literals_close(literals);
        *result = NULL;
        return status;
    }
    literals->next = literals->state.next;
    literals->again_until = literals->state.until;
    *result = literals;
    return STATUS_OK;
}

void
literals_close(struct literals *literals)
{
    if (literals != NULL) {
        literals_build_drop(literals);
        tree_close(literals->tree);
        posting_memtable_free(literals->active);
        posting_memtable_free(literals->writing);
        free(literals->progress.sorted);
        tokenizer_free(literals->tokenizer);
        change_marks_free(literals->marks);
        latch_release(&literals->memory_latch);
        free(literals);
    }
}

uint64_t
literals_next(const struct literals *literals)
{
    return literals->next;
}

uint64_t
literals_written(const struct literals *literals)
{
    return literals->state.next;
}

const struct change_marks *
literals_marks(const struct literals *literals)
{
    return literals->marks;
}

/* ---- following the lexicon ---- */

struct catching_up {
    struct literals *literals;
    uint64_t limit;
    size_t terms, bytes;
    uint64_t time; /* of marks */
};

static void
mark_key(void *context, struct slice key)
{
    const struct catching_up *c = context;
    change_marks_set(c->literals->marks, literals_mark_of(key), c->time);
}

/* Before the literal can be found. The stems of a language are looked for from its first literal
 * on. */
static void
mark_literal(struct catching_up *c, uint64_t number, uint64_t stems)
{
    struct literals *literals = c->literals;
    c->time = number + 1;
    change_marks_set(literals->marks, LITERALS_ANY, c->time);
    posting_memtable_counted(literals->active, mark_key, c);
    if (stems != literals->stems) {
        change_marks_set_all(literals->marks, c->time);
    }
}

static enum status
take_term(void *context, oid id, const struct term *term, struct reason *why)
{
    (void)why;
    struct catching_up *c = context;
    struct literals *literals = c->literals;
    if (oid_number(id) >= c->limit || c->terms >= TERMS_AT_ONCE || c->bytes >= BYTES_AT_ONCE) {
        return STATUS_END;
    }
    c->terms++;
    if (oid_kind(id) == OID_KIND_STRING || oid_kind(id) == OID_KIND_LANGUAGE) {
        uint64_t stems = literals->stems;
        latch_enter_writing(&literals->memory_latch);
        const uint64_t length =
            literals_count_words(literals->active, literals->tokenizer, term, &stems);
        mark_literal(c, oid_number(id), stems);
        literals->stems = stems;
        posting_memtable_end_literal(literals->active, oid_number(id),
                                     oid_kind(id) == OID_KIND_LANGUAGE, length);
        latch_leave(&literals->memory_latch);
        c->bytes += term->value.length;
    }
    literals->next = oid_number(id) + 1;
    return STATUS_OK;
}

enum status
literals_catch_up(struct literals *literals, struct nodes *nodes, uint64_t limit,
                  struct reason *why)
{
    if (literals->next > limit || literals->again_until > limit) {
        return literals_damaged(why, "it has words of terms that are not there");
    }
    struct catching_up c = {.literals = literals, .limit = limit};
    if (literals->again_until > 0) {
        c.limit = literals->again_until;
    } else if (literals_is_full(literals)) {
        c.limit = literals->next;
    }
    return literals->next < c.limit ? nodes_walk(nodes, literals->next, take_term, &c, why)
                                    : STATUS_OK;
}
