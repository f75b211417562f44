/* Trees that are written in steps: with copies being made, with damage, and with crashes. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/brief.h"
#include "tests/unit/index_terms/words_world.h"

/* ---- a new tree ---- */

/* Words of a new tree are found in memory until it is in place; it waits for a copy's end. */
void
a_new_tree_waits_for_copies(void **state)
{
    (void)state;
    static struct words_found found;
    struct words_world w;
    struct reason why = {""};
    words_new(&w);
    words_add_many(&w);
    words_follow(&w);
    words_search(&w, "w77", 10, &found);
    const size_t count = found.count;
    assert_true(count > 0);
    must(literals_write_step(w.literals, false, &why), &why);
    assert_int_equal(w.literals->progress.build != NULL, words_build_from > 0);
    enum status status = STATUS_OK;
    while (w.literals->writing != NULL && status == STATUS_OK) {
        status = literals_write_step(w.literals, true, &why);
        words_search(&w, "w77", 10, &found);
        assert_int_equal(found.count, count);
    }
    assert_int_equal(status, words_build_from > 0 ? STATUS_AGAIN : STATUS_OK);
    words_check(&w);
    words_write_all(&w);
    words_search(&w, "w77", 10, &found);
    assert_int_equal(found.count, count);
    assert_int_equal(words_check(&w), WORDS_MANY);
    const atomic_bool cancel = true;
    uint64_t literals;
    assert_int_equal(literals_check(w.literals, w.nodes, &cancel, &literals, &why),
                     STATUS_CANCELLED);
    words_end(&w);
}

/* ---- what is wrong is found ---- */

static enum status
checked(struct words_world *w)
{
    struct reason why = {""};
    uint64_t count;
    const atomic_bool cancel = false;
    return literals_check(w->literals, w->nodes, &cancel, &count, &why);
}

static void
put_block(struct words_world *w, struct slice fence, struct slice block)
{
    struct reason why = {""};
    struct transaction *transaction;
    must(transaction_begin(&transaction, w->environment, 0, &why), &why);
    must(block.length > 0 ? tree_put(w->literals->tree, transaction, fence, block, &why)
                          : tree_delete(w->literals->tree, transaction, fence, &why),
         &why);
    must(transaction_commit_unsynced(transaction, &why), &why);
}

/* Each byte of the block in turn, and the block under other fences, without its end, and gone. */
static void
damage_block(struct words_world *w, struct slice fence, const uint8_t *block, size_t length)
{
    uint8_t bytes[BLOCK_MAXIMUM];
    char other[FENCE_SIZE_MAXIMUM];
    memcpy(bytes, block, length);
    for (size_t i = 0; i < length; i++) {
        bytes[i] ^= i % 3 == 0 ? 0x80 : 0x01;
        put_block(w, fence, slice_of((char *)bytes, length));
        if (checked(w) != STATUS_CORRUPT) {
            fail_msg("a change of byte %zu of %zu is not found", i, length);
        }
        for (int k = 0; i == 0 && k < 2; k++) { /* whoever searches is told */
            struct literals_search *search;
            assert_int_equal(literals_search_open(&search, w->literals, w->nodes,
                                                  k == 0 ? SLICE("zzz") : SLICE("zz*"), 10, NULL),
                             STATUS_CORRUPT);
        }
        bytes[i] = block[i];
        if (i % 16 == 15) {
            put_block(w, fence, slice_of((char *)bytes, i));
            assert_int_equal(checked(w), STATUS_CORRUPT);
        }
    }
    put_block(w, fence, slice_of(NULL, 0));
    assert_int_equal(checked(w), STATUS_CORRUPT);
    other[0] = 1; /* before all words */
    put_block(w, slice_of(other, 1), slice_of((char *)bytes, length));
    assert_int_equal(checked(w), STATUS_CORRUPT);
    put_block(w, slice_of(other, 1), slice_of(NULL, 0));
    put_block(w, fence, slice_of((char *)bytes, length));
    assert_int_equal(checked(w), STATUS_OK);
}

void
every_change_of_a_block_is_found(void **state)
{
    (void)state;
    struct words_world w;
    struct reason why = {""};
    words_new(&w);
    for (int i = 0; i < 12; i++) {
        char text[100];
        snprintf(text, sizeof text, "all words%d alpha beta%d gamma%d alpha", i % 9, i % 5, i);
        words_add(&w, text, i % 3 == 0 ? "en" : NULL);
    }
    words_add(&w, "", NULL);
    words_write_all(&w);
    assert_int_equal(words_check(&w), 13);
    struct fence_cursor cursor;
    unsigned blocks = 0;
    char fence[FENCE_SIZE_MAXIMUM] = "\1";
    size_t length = 1;
    for (bool last = false; !last; blocks++) {
        fence_open(&cursor, w.literals->tree, NULL);
        must(fence_seek(&cursor, slice_of(fence, length), &why), &why);
        if (blocks > 0) {
            must(fence_next(&cursor, &why), &why);
        }
        fence_close(&cursor);
        length = cursor.fence_length;
        memcpy(fence, cursor.fence, length);
        last = fence_is_last(&cursor);
        damage_block(&w, slice_of(fence, length), cursor.block, cursor.block_length);
    }
    words_end(&w);
}

/* ---- crashes ---- */

static void
child_writes(const struct words_world *parent, enum fault_action action, uint64_t at,
             unsigned steps)
{
    struct words_world w = *parent;
    struct reason why = {""};
    words_open(&w, action == FAULT_NONE ? WORDS_CACHE : 512 << 10);
    words_follow(&w);
    if (action != FAULT_NONE) {
        environment_fault(action, at);
    }
    for (unsigned i = 0; i < steps && literals_to_write(w.literals, true); i++) {
        if (literals_write_step(w.literals, false, &why) != STATUS_OK) {
            _exit(9);
        }
    }
    if (environment_checkpoint(w.environment, true, &why) != STATUS_OK) {
        _exit(9);
    }
    _exit(literals_to_write(w.literals, true) ? 1 : 0);
}

/* A crash in the child; then all is as it must be. The child's exit status, or -1: killed.
 * *halves: how often some words were written and others not. */
static int
crash(struct words_world *base, enum fault_action action, uint64_t at, unsigned steps,
      unsigned *halves)
{
    struct words_world w = *base;
    strcat(w.folder, ".copy");
    fixture_run("cp -r %s %s.copy", base->folder, base->folder);
    const pid_t child = fork();
    if (child == 0) {
        child_writes(&w, action, at, steps);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    words_open(&w, WORDS_CACHE);
    *halves += w.literals->state.until != 0;
    words_check(&w);
    words_follow(&w);
    words_write_all(&w);
    assert_int_equal(words_check(&w), WORDS_MANY);
    words_close(&w);
    fixture_run("rm -r %s.copy%s", base->folder, "");
    return WIFSIGNALED(result) ? -1 : WEXITSTATUS(result);
}

void
crashes_between_steps_lose_and_double_nothing(void **state)
{
    (void)state;
    if (brief_leaves_out(words_build_from, 2)) {
        return;
    }
    struct words_world w;
    words_new(&w);
    words_add_many(&w);
    words_close(&w);
    unsigned halves = 0;
    unsigned steps = 0;
    while (crash(&w, FAULT_NONE, 0, ++steps, &halves) != 0) {
    }
    print_message("%u steps; %u times in the middle of the words\n", steps, halves);
    assert_true(steps > 1 && (halves > 0) == (words_build_from == 0));
    halves = 0;
    uint64_t at = 1;
    while (crash(&w, FAULT_KILL, at, 1000, &halves) == -1) {
        at += brief(13, 97);
    }
    print_message("%lu writes; %u times in the middle of the words\n", (unsigned long)at, halves);
    assert_true(at > 50);
    words_open(&w, WORDS_CACHE);
    words_end(&w);
}
