#include "tests/unit/index_terms/word_layers.h"

/* ---- calls that fail ---- */

static bool counting;
static unsigned calls, fail_at;

static enum status
call(struct reason *why)
{
    if (!counting || ++calls != fail_at) {
        return STATUS_OK;
    }
    return status_fail(why, STATUS_SYSTEM, "a fault of the test");
}

void
calls_fail_at(unsigned at)
{
    counting = true;
    calls = 0;
    fail_at = at;
}

bool
calls_failed(void)
{
    counting = false;
    return calls >= fail_at;
}

enum status __real_fence_seek(struct fence_cursor *cursor, struct slice key, struct reason *why);
enum status __wrap_fence_seek(struct fence_cursor *cursor, struct slice key, struct reason *why);
enum status
__wrap_fence_seek(struct fence_cursor *cursor, struct slice key, struct reason *why)
{
    TRY(call(why));
    return __real_fence_seek(cursor, key, why);
}

enum status __real_fence_next(struct fence_cursor *cursor, struct reason *why);
enum status __wrap_fence_next(struct fence_cursor *cursor, struct reason *why);
enum status
__wrap_fence_next(struct fence_cursor *cursor, struct reason *why)
{
    TRY(call(why));
    return __real_fence_next(cursor, why);
}

enum status __real_tree_get(struct tree *tree, struct transaction *transaction, struct slice key,
                            void *value, size_t *length, struct reason *why);
enum status __wrap_tree_get(struct tree *tree, struct transaction *transaction, struct slice key,
                            void *value, size_t *length, struct reason *why);
enum status
__wrap_tree_get(struct tree *tree, struct transaction *transaction, struct slice key, void *value,
                size_t *length, struct reason *why)
{
    TRY(call(why));
    return __real_tree_get(tree, transaction, key, value, length, why);
}

enum status __real_tree_put(struct tree *tree, struct transaction *transaction, struct slice key,
                            struct slice value, struct reason *why);
enum status __wrap_tree_put(struct tree *tree, struct transaction *transaction, struct slice key,
                            struct slice value, struct reason *why);
enum status
__wrap_tree_put(struct tree *tree, struct transaction *transaction, struct slice key,
                struct slice value, struct reason *why)
{
    TRY(call(why));
    return __real_tree_put(tree, transaction, key, value, why);
}

enum status __real_fence_finish(struct fence_cursor *cursor, struct slice block,
                                struct reason *why);
enum status __wrap_fence_finish(struct fence_cursor *cursor, struct slice block,
                                struct reason *why);
enum status
__wrap_fence_finish(struct fence_cursor *cursor, struct slice block, struct reason *why)
{
    TRY(call(why));
    return __real_fence_finish(cursor, block, why);
}

enum status __real_fence_emit(struct fence_cursor *cursor, struct slice fence, struct slice block,
                              struct reason *why);
enum status __wrap_fence_emit(struct fence_cursor *cursor, struct slice fence, struct slice block,
                              struct reason *why);
enum status
__wrap_fence_emit(struct fence_cursor *cursor, struct slice fence, struct slice block,
                  struct reason *why)
{
    TRY(call(why));
    return __real_fence_emit(cursor, fence, block, why);
}

enum status __real_tree_build_begin(struct tree_build **build, struct tree *tree,
                                    struct reason *why);
enum status __wrap_tree_build_begin(struct tree_build **build, struct tree *tree,
                                    struct reason *why);
enum status
__wrap_tree_build_begin(struct tree_build **build, struct tree *tree, struct reason *why)
{
    TRY(call(why));
    return __real_tree_build_begin(build, tree, why);
}

enum status __real_tree_build_add(struct tree_build *build, struct slice key, struct slice value,
                                  struct reason *why);
enum status __wrap_tree_build_add(struct tree_build *build, struct slice key, struct slice value,
                                  struct reason *why);
enum status
__wrap_tree_build_add(struct tree_build *build, struct slice key, struct slice value,
                      struct reason *why)
{
    TRY(call(why));
    return __real_tree_build_add(build, key, value, why);
}

enum status __real_transaction_begin(struct transaction **transaction,
                                     struct environment *environment, uint64_t bytes,
                                     struct reason *why);
enum status __wrap_transaction_begin(struct transaction **transaction,
                                     struct environment *environment, uint64_t bytes,
                                     struct reason *why);
enum status
__wrap_transaction_begin(struct transaction **transaction, struct environment *environment,
                         uint64_t bytes, struct reason *why)
{
    /* Without a byte: for writing. With some: to see whether there is room for a new tree. */
    if (bytes == 0) {
        TRY(call(why));
    }
    return __real_transaction_begin(transaction, environment, bytes, why);
}

/* A commit that fails ends its transaction all the same. */
enum status __real_transaction_commit_unsynced(struct transaction *transaction, struct reason *why);
enum status __wrap_transaction_commit_unsynced(struct transaction *transaction, struct reason *why);
enum status
__wrap_transaction_commit_unsynced(struct transaction *transaction, struct reason *why)
{
    const enum status status = call(why);
    if (status != STATUS_OK) {
        transaction_abort(transaction);
        return status;
    }
    return __real_transaction_commit_unsynced(transaction, why);
}

/* ---- literals ---- */

const char *const common_words[COMMON_WORDS] = {"all", "odd", "few"};

unsigned
layers_times(size_t word, uint64_t number)
{
    return word == 0   ? 1 + (unsigned)(number % 4)
           : word == 1 ? (unsigned)(number % 2)
                       : (number % 97 == 5 ? 2 : 0);
}

bool
layers_tagged(uint64_t number)
{
    return number % 3 == 0;
}

unsigned long
layers_own(uint64_t number)
{
    return (unsigned long)(number * 7919 % 10007);
}

static unsigned
padding_of(uint64_t number)
{
    return (unsigned)(number * number % 29);
}

unsigned
layers_length(uint64_t number)
{
    unsigned length = 1 + padding_of(number);
    for (size_t word = 0; word < COMMON_WORDS; word++) {
        length += layers_times(word, number);
    }
    return length;
}

unsigned
layers_class(size_t word, uint64_t number)
{
    return word_class(layers_length(number), layers_times(word, number));
}

/* Literals with these numbers; each has a word of its own, too. */
void
layers_add(struct words_world *w, uint64_t from, uint64_t to)
{
    static struct term terms[LAYER_LITERALS];
    static char texts[LAYER_LITERALS][400];
    struct reason why = {""};
    size_t count = 0;
    for (uint64_t number = from; number < to; number++) {
        char *const text = texts[count];
        int at = sprintf(text, "u%lu", layers_own(number));
        for (size_t word = 0; word < COMMON_WORDS; word++) {
            for (unsigned i = 0; i < layers_times(word, number); i++) {
                at += sprintf(text + at, " %s", common_words[word]);
            }
        }
        for (unsigned i = 0; i < padding_of(number); i++) {
            at += sprintf(text + at, " pad");
        }
        terms[count] =
            words_literal(slice_of(text, (size_t)at), layers_tagged(number) ? "en" : NULL);
        count++;
    }
    assert_int_equal(nodes_next(w->nodes), from);
    words_commit(w, terms, count);
    while (literals_next(w->literals) < to) { /* nothing is written on the way */
        must(literals_catch_up(w->literals, w->nodes, to, &why), &why);
    }
}

/* Some in the tree, some that are being written, and some that wait. */
void
layers_open(struct words_world *w)
{
    struct reason why = {""};
    words_build_from = 0;
    words_new(w);
    layers_add(w, 1, 1 + LAYER_TREE);
    words_write_all(w);
    layers_add(w, 1 + LAYER_TREE, 1 + LAYER_TREE + LAYER_WRITING);
    calls_fail_at(1);
    assert_int_equal(literals_write_step(w->literals, true, &why), STATUS_SYSTEM);
    assert_true(calls_failed());
    layers_add(w, 1 + LAYER_TREE + LAYER_WRITING, 1 + LAYER_LITERALS);
    assert_non_null(w->literals->writing);
    assert_int_equal(literals_written(w->literals), 1 + LAYER_TREE);
    assert_int_equal(literals_next(w->literals), 1 + LAYER_LITERALS);
}

void
layers_put(struct words_world *w, struct slice fence, struct slice value)
{
    struct transaction *transaction;
    struct reason why = {""};
    must(transaction_begin(&transaction, w->environment, 0, &why), &why);
    must(value.length > 0 ? tree_put(w->literals->tree, transaction, fence, value, &why)
                          : tree_delete(w->literals->tree, transaction, fence, &why),
         &why);
    must(transaction_commit_unsynced(transaction, &why), &why);
}
