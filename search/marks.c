#include "search/marks.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "index/words/tokenizer.h"
#include "search/filters.h"

enum { WORDS_MOST = 64, ARENA_BYTES = 1 << 20, TEXT_LOOKED_AT = 64 << 10 };

struct wanted {
    struct token token;
    bool begins, exact; /* word*; in quotation marks */
};
struct find_marks {
    struct tokenizer *tokenizer;
    struct arena arena;
    struct wanted words[WORDS_MOST];
    size_t count;
    bool exact; /* of the word that is read */

    struct slice text; /* that is marked */
    int language;
    struct find_mark found[FIND_MARKS_MOST];
    size_t found_count;
};

static bool
keep_word(void *context, const struct token *token)
{
    struct find_marks *marks = context;
    if (marks->count == WORDS_MOST) {
        return false;
    }
    struct wanted *wanted = &marks->words[marks->count++];
    *wanted = (struct wanted){.token = *token, .exact = marks->exact};
    wanted->token.word = arena_copy(&marks->arena, token->word);
    wanted->token.text = arena_copy(&marks->arena, token->text);
    return true;
}

struct find_marks *
find_marks_new(struct slice words)
{
    struct find_marks *marks = memory_new(sizeof *marks);
    marks->tokenizer = tokenizer_new();
    arena_init(&marks->arena, ARENA_BYTES);
    for (;;) {
        const struct slice word = find_next_word(&words);
        if (word.length == 0) {
            return marks;
        }
        if (word.at[0] == '-' || slice_is(word, "OR") || slice_starts(word, SLICE("lang:"))) {
            continue;
        }
        const size_t before = marks->count;
        marks->exact = word.at[0] == '"';
        tokenizer_split(marks->tokenizer, word, keep_word, marks);
        const size_t end =
            word.length - (marks->exact && word.length > 1 && word.at[word.length - 1] == '"');
        if (end > 0 && word.at[end - 1] == '*' && marks->count > before) {
            marks->words[marks->count - 1].begins = true;
        }
    }
}

void
find_marks_free(struct find_marks *marks)
{
    if (marks != NULL) {
        tokenizer_free(marks->tokenizer);
        arena_release(&marks->arena);
        free(marks);
    }
}

static bool
is_same_stem(struct find_marks *marks, const struct wanted *wanted, const struct token *token)
{
    char stem[WORD_MOST + 1];
    if (marks->language < 0 || wanted->exact) {
        return false;
    }
    const struct slice left = tokenizer_stem(marks->tokenizer, marks->language, &wanted->token);
    if (left.length == 0 || left.length > sizeof stem) {
        return false;
    }
    memcpy(stem, left.at, left.length);
    return slice_equal(slice_of(stem, left.length),
                       tokenizer_stem(marks->tokenizer, marks->language, token));
}

static bool
mark_word(void *context, const struct token *token)
{
    struct find_marks *marks = context;
    for (size_t i = 0; i < marks->count; i++) {
        const struct wanted *wanted = &marks->words[i];
        if (slice_equal(token->word, wanted->token.word) ||
            (wanted->begins && slice_starts(token->word, wanted->token.word)) ||
            is_same_stem(marks, wanted, token)) {
            const size_t at = (size_t)(token->text.at - marks->text.at);
            struct find_mark *last =
                marks->found_count > 0 ? &marks->found[marks->found_count - 1] : NULL;
            if (last != NULL && at <= last->at + last->length) { /* pairs of Han overlap */
                last->length = at + token->text.length - last->at;
            } else if (marks->found_count < FIND_MARKS_MOST) {
                marks->found[marks->found_count++] = (struct find_mark){at, token->text.length};
            }
            break;
        }
    }
    return marks->found_count < FIND_MARKS_MOST;
}

static bool
is_inside(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

void
find_marks_snippet(struct find_marks *marks, struct slice text, struct slice language,
                   struct find_snippet *snippet)
{
    enum { BEFORE = 80, BLANK = 20 };
    size_t start = 0;
    *snippet = (struct find_snippet){.count = 0};
    if (marks != NULL) {
        marks->text = text;
        marks->found_count = 0;
        marks->language = language.length > 0 ? stem_language(language) : -1;
        tokenizer_split(
            marks->tokenizer,
            slice_of(text.at, text.length < TEXT_LOOKED_AT ? text.length : TEXT_LOOKED_AT),
            mark_word, marks);
    }
    const size_t first = marks != NULL && marks->found_count > 0 ? marks->found[0].at : 0;
    if (text.length > FIND_SNIPPET_BYTES && first > BEFORE) {
        start = first - BEFORE;
        for (size_t i = start; i < start + BLANK; i++) { /* rather behind a blank */
            if (text.at[i] == ' ') {
                start = i + 1;
                break;
            }
        }
        while (is_inside(text.at[start])) {
            start++;
        }
    }
    size_t end =
        start + FIND_SNIPPET_BYTES < text.length ? start + FIND_SNIPPET_BYTES : text.length;
    while (end > start && end < text.length && is_inside(text.at[end])) {
        end--;
    }
    snippet->text = slice_of(text.at + start, end - start);
    snippet->cut_before = start > 0;
    snippet->cut_after = end < text.length;
    for (size_t i = 0; marks != NULL && i < marks->found_count; i++) {
        const struct find_mark *mark = &marks->found[i];
        if (mark->at >= start && mark->at + mark->length <= end) {
            snippet->marks[snippet->count++] = (struct find_mark){mark->at - start, mark->length};
        }
    }
}
