#include "tests/unit/index_terms/words_world.h"

enum { MEMORY = 64 << 20 };

size_t words_build_from;

void
words_open(struct words_world *w, uint64_t cache)
{
    struct reason why = {""};
    const struct environment_options options = {
        .folder = w->folder, .cache_bytes = cache, .checkpoint_bytes = 1 << 20, .no_sync = true};
    must(environment_open(&w->environment, &options, &why), &why);
    must(nodes_open(&w->nodes, w->environment, 1 << 20, &why), &why);
    must(literals_open(&w->literals, w->environment, MEMORY, words_build_from, &why), &why);
}

void
words_close(struct words_world *w)
{
    literals_close(w->literals);
    nodes_close(w->nodes);
    environment_close(w->environment);
}

void
words_new(struct words_world *w)
{
    assert_true(scratch_folder(w->folder, "test_words"));
    words_open(w, WORDS_CACHE);
}

void
words_end(struct words_world *w)
{
    words_close(w);
    fixture_run("rm -r %s%s", w->folder, "");
}

static const struct term *
term_at(void *context, size_t i)
{
    return (const struct term *)context + i;
}

struct term
words_literal(struct slice text, const char *language)
{
    struct term term = term_literal(text);
    term.language = language ? slice_string(language) : term.language;
    return term;
}

void
words_commit(struct words_world *w, const struct term *terms, size_t count)
{
    struct reason why = {""};
    struct transaction *transaction;
    must(transaction_begin(&transaction, w->environment, 0, &why), &why);
    must(nodes_append(w->nodes, transaction, term_at, (void *)terms, count, &why), &why);
    must(transaction_commit(transaction, &why), &why);
}

void
words_follow(struct words_world *w)
{
    struct reason why = {""};
    const uint64_t limit = nodes_next(w->nodes);
    while (literals_next(w->literals) < limit) {
        must(literals_catch_up(w->literals, w->nodes, limit, &why), &why);
        if (literals_to_write(w->literals, false)) {
            must(literals_write_step(w->literals, false, &why), &why);
        }
    }
}

void
words_write_all(struct words_world *w)
{
    struct reason why = {""};
    while (literals_to_write(w->literals, true)) {
        must(literals_write_step(w->literals, false, &why), &why);
    }
    assert_int_equal(literals_written(w->literals), literals_next(w->literals));
}

uint64_t
words_check(struct words_world *w)
{
    struct reason why = {""};
    uint64_t count;
    const atomic_bool cancel = false;
    must(literals_check(w->literals, w->nodes, &cancel, &count, &why), &why);
    return count;
}

void
words_add(struct words_world *w, const char *text, const char *language)
{
    const struct term term = words_literal(slice_string(text), language);
    words_commit(w, &term, 1);
    words_follow(w);
}

void
words_search(struct words_world *w, const char *words, uint32_t most, struct words_found *found)
{
    struct reason why = {""};
    struct literals_search *search;
    oid literal;
    found->count = 0;
    must(literals_search_open(&search, w->literals, w->nodes, slice_string(words), most, &why),
         &why);
    while (found->count < most && found->count < WORDS_FOUND_MOST &&
           literals_search_next(search, &literal, &found->scores[found->count], &why) ==
               STATUS_OK) {
        const size_t i = found->count++;
        found->numbers[i] = oid_number(literal);
        assert_true(i == 0 || found->scores[i] < found->scores[i - 1] ||
                    (found->scores[i] == found->scores[i - 1] &&
                     found->numbers[i] > found->numbers[i - 1]));
    }
    literals_search_close(search);
}

void
words_assert_found(struct words_world *w, const char *words, const char *expected)
{
    static struct words_found found;
    char text[256] = "";
    size_t length = 0;
    words_search(w, words, 20, &found);
    for (size_t i = 0; i < found.count; i++) {
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%lu", i ? " " : "",
                                   (unsigned long)found.numbers[i]);
    }
    if (strcmp(text, expected) != 0) {
        fail_msg("%s: found %s, not %s", words, text, expected);
    }
}

void
words_assert_found_twice(struct words_world *w, const char *const queries[][2], size_t count)
{
    for (int written = 0; written < 2; written++) {
        for (size_t i = 0; i < count; i++) {
            words_assert_found(w, queries[i][0], queries[i][1]);
        }
        words_write_all(w);
        words_check(w);
    }
    words_close(w);
    words_open(w, WORDS_CACHE);
    for (size_t i = 0; i < count; i++) {
        words_assert_found(w, queries[i][0], queries[i][1]);
    }
}

void
words_add_many(struct words_world *w)
{
    static struct term terms[WORDS_MANY];
    static char texts[WORDS_MANY][200];
    for (size_t i = 0; i < WORDS_MANY; i++) {
        int at = 0;
        for (int n = 0; n < 12; n++) {
            const uint64_t word = i == 0 && n == 0 ? 77 : random_number() % 30000;
            at += sprintf(texts[i] + at, "w%lu ", (unsigned long)word);
        }
        terms[i] = term_literal(slice_of(texts[i], (size_t)at));
    }
    words_commit(w, terms, WORDS_MANY);
}
