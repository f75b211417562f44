#include "search/spelling.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/edit_distance.h"
#include "base/memory.h"

enum {
    ONE_ERROR = 5,  /* letters from which one is borne */
    TWO_ERRORS = 9, /* and two */
    SURE_LETTERS = 4,
    CHOICES = 48, /* alternatives of one search, which takes 64 words */
    LITERALS = 64,
    PREFIX_LITERALS = 1000,
    TOKENS = 512,
    HITS_BYTES = 16 << 20
};

static struct slice
lowered(struct slice word, char text[EDIT_DISTANCE_MOST])
{
    for (size_t i = 0; i < word.length; i++) {
        text[i] = ascii_lower(word.at[i]);
    }
    return slice_of(text, word.length);
}

unsigned
spelling_errors_borne(size_t letters)
{
    return letters >= TWO_ERRORS ? 2 : letters >= ONE_ERROR;
}

unsigned
spelling_distance(struct slice a, struct slice b, unsigned most)
{
    char left[EDIT_DISTANCE_MOST], right[EDIT_DISTANCE_MOST];
    if (a.length > SPELLING_LETTERS || b.length > SPELLING_LETTERS + 2) {
        return most + 1;
    }
    const size_t distance = edit_distance(lowered(a, left), lowered(b, right));
    return distance <= most ? (unsigned)distance : most + 1;
}

/* ---- words of literals that were found ---- */

struct token {
    char text[SPELLING_LETTERS + 3];
    unsigned count;
};
struct choosing {
    struct slice word;
    unsigned most;  /* errors */
    bool completes; /* the word begins what is chosen, in place of being like it */
    struct token *tokens;
    size_t count;
};

static void
note_token(struct choosing *choosing, struct slice text)
{
    const unsigned most = choosing->most;
    const bool fits = choosing->completes ? slice_starts_nocase(text, choosing->word)
                                          : spelling_distance(choosing->word, text, most) <= most;
    if (!fits || text.length > SPELLING_LETTERS + 2) {
        return;
    }
    char known[SPELLING_LETTERS + 3] = "";
    for (size_t i = 0; i < text.length; i++) {
        known[i] = ascii_lower(text.at[i]);
    }
    size_t at = 0;
    while (at < choosing->count && strcmp(choosing->tokens[at].text, known) != 0) {
        at++;
    }
    if (at == TOKENS) {
        return;
    }
    if (at == choosing->count) {
        memcpy(choosing->tokens[at].text, known, sizeof known);
        choosing->count++;
    }
    choosing->tokens[at].count++;
}

static bool
is_of_word(char c)
{
    return ascii_is_letter(c) || (unsigned char)c >= 0x80;
}

/* All words of the literal's text that may be meant. Its tag and the line's other columns are none,
 * nor is the letter of an escape. */
static void
note_line(struct choosing *choosing, struct slice line)
{
    (void)slice_take(&line, '\t'); /* the score */
    const struct slice literal = slice_take(&line, '\t');
    for (size_t i = 1; i < literal.length && literal.at[i] != '"';) {
        size_t end = i;
        while (end < literal.length && is_of_word(literal.at[end])) {
            end++;
        }
        if (end > i) {
            note_token(choosing, slice_of(literal.at + i, end - i));
        } else {
            const bool escape = literal.at[i] == '\\' && i + 1 < literal.length;
            end += !escape ? 1 : literal.at[i + 1] == 'u' ? 6 : 2;
        }
        i = end;
    }
}

static enum status
append(void *buffer, struct slice bytes, struct reason *why)
{
    const enum status status = buf_append_slice(buffer, bytes);
    return status == STATUS_OK ? status : status_fail(why, status, "the hits are too long");
}

static enum status
search(struct index_client *client, struct choosing *choosing, struct slice words, uint32_t limit,
       struct reason *why)
{
    struct buf lines;
    buf_init(&lines, HITS_BYTES);
    const enum status status = index_search(client, words, limit, append, &lines, why);
    struct slice rest = buf_slice(&lines);
    while (status == STATUS_OK && rest.length > 0) {
        note_line(choosing, slice_take(&rest, '\n'));
    }
    buf_release(&lines);
    return status;
}

/* ---- what one error makes of a word ---- */

struct alternatives {
    struct index_client *client;
    struct choosing *choosing;
    struct buf words;
    size_t count; /* in words */
    enum status status;
    struct reason *why;
};

static void
send(struct alternatives *alternatives)
{
    if (alternatives->count > 0 && alternatives->status == STATUS_OK) {
        alternatives->status = search(alternatives->client, alternatives->choosing,
                                      buf_slice(&alternatives->words), LITERALS, alternatives->why);
    }
    buf_reset(&alternatives->words);
    alternatives->count = 0;
}

static void
add(struct alternatives *alternatives, struct slice head, const char *middle, size_t length,
    struct slice tail)
{
    if (alternatives->status != STATUS_OK) {
        return;
    }
    (void)buf_printf(&alternatives->words, "%s\"%.*s%.*s%.*s\"",
                     alternatives->count > 0 ? " OR " : "", SLICE_PRINT(head), (int)length, middle,
                     SLICE_PRINT(tail));
    if (++alternatives->count == CHOICES) {
        send(alternatives);
    }
}

static enum status
try_one_error(struct index_client *client, struct choosing *choosing, struct reason *why)
{
    struct alternatives all = {
        .client = client, .choosing = choosing, .status = STATUS_OK, .why = why};
    const struct slice word = choosing->word;
    buf_init(&all.words, HITS_BYTES);
    for (size_t i = 0; i <= word.length; i++) {
        const struct slice head = slice_of(word.at, i);
        const struct slice tail = slice_of(word.at + i, word.length - i);
        const struct slice after = tail.length > 0 ? slice_of(tail.at + 1, tail.length - 1) : tail;
        if (tail.length > 0) {
            add(&all, head, "", 0, after);
        }
        if (tail.length > 1) {
            const char exchanged[2] = {tail.at[1], tail.at[0]};
            add(&all, head, exchanged, 2, slice_of(tail.at + 2, tail.length - 2));
        }
        for (char c = 'a'; c <= 'z'; c++) {
            add(&all, head, &c, 1, tail);
            if (tail.length > 0 && ascii_lower(tail.at[0]) != c) {
                add(&all, head, &c, 1, after);
            }
        }
    }
    send(&all);
    buf_release(&all.words);
    return all.status;
}

static enum status
try_two_errors(struct index_client *client, struct choosing *choosing, struct reason *why)
{
    char prefix[SURE_LETTERS + 2];
    memcpy(prefix, choosing->word.at, SURE_LETTERS);
    memcpy(prefix + SURE_LETTERS, "*", 2);
    choosing->most = 2;
    return search(client, choosing, slice_string(prefix), PREFIX_LITERALS, why);
}

/* The most frequent first. */
static int
compare_tokens(const void *a, const void *b)
{
    const struct token *left = a, *right = b;
    if (left->count != right->count) {
        return left->count < right->count ? 1 : -1;
    }
    return strcmp(left->text, right->text);
}

static const struct token *
best_of(const struct choosing *choosing)
{
    const struct token *best = choosing->tokens;
    for (size_t i = 1; i < choosing->count; i++) {
        if (compare_tokens(&choosing->tokens[i], best) < 0) {
            best = &choosing->tokens[i];
        }
    }
    return choosing->count > 0 ? best : NULL;
}

static bool
is_plain(struct slice word)
{
    if (word.length < ONE_ERROR || word.length > SPELLING_LETTERS) {
        return false;
    }
    for (size_t i = 0; i < word.length; i++) {
        if (!ascii_is_letter(word.at[i])) {
            return false;
        }
    }
    return true;
}

static enum status
note_any(void *found, struct slice bytes, struct reason *why)
{
    (void)why;
    *(bool *)found |= bytes.length > 0;
    return STATUS_OK;
}

/* Appends the word, or the one that it is meant for. */
static enum status
correct_word(struct index_client *client, struct slice word, struct buf *corrected, bool *changed,
             struct reason *why)
{
    bool found = false;
    TRY(index_search(client, word, 1, note_any, &found, why));
    struct choosing choosing = {.word = word, .most = 1};
    enum status status = STATUS_OK;
    if (!found) {
        choosing.tokens = memory_zero(TOKENS, sizeof *choosing.tokens);
        status = try_one_error(client, &choosing, why);
        if (status == STATUS_OK && choosing.count == 0 && word.length >= TWO_ERRORS) {
            status = try_two_errors(client, &choosing, why);
        }
    }
    const struct token *best = best_of(&choosing);
    (void)(best != NULL ? buf_append_string(corrected, best->text)
                        : buf_append_slice(corrected, word));
    *changed |= best != NULL;
    free(choosing.tokens);
    return status;
}

enum status
spelling_correct(struct index_client *client, struct slice words, struct buf *corrected,
                 bool *changed, struct reason *why)
{
    size_t tried = 0;
    *changed = false;
    if (slice_find(words, '"') < words.length) {
        return buf_append_slice(corrected, words);
    }
    for (;;) {
        const struct slice word = slice_next_word(&words);
        if (word.length == 0) {
            return STATUS_OK;
        }
        (void)buf_append_string(corrected, corrected->length > 0 ? " " : "");
        if (is_plain(word) && tried < SPELLING_WORDS) {
            tried++;
            TRY(correct_word(client, word, corrected, changed, why));
        } else {
            (void)buf_append_slice(corrected, word);
        }
    }
}

enum status
spelling_complete(struct index_client *client, struct slice prefix, spelling_take *take,
                  void *context, struct reason *why)
{
    struct choosing choosing = {.word = prefix, .completes = true};
    struct buf words;
    for (size_t i = 0; i < prefix.length; i++) {
        if (!ascii_is_letter(prefix.at[i]) && (unsigned char)prefix.at[i] < 0x80) {
            return STATUS_OK;
        }
    }
    if (prefix.length == 0 || prefix.length > SPELLING_LETTERS) {
        return STATUS_OK;
    }
    choosing.tokens = memory_zero(TOKENS, sizeof *choosing.tokens);
    buf_init(&words, SPELLING_LETTERS + 2);
    (void)buf_printf(&words, "%.*s*", SLICE_PRINT(prefix));
    const enum status status = search(client, &choosing, buf_slice(&words), PREFIX_LITERALS, why);
    qsort(choosing.tokens, choosing.count, sizeof *choosing.tokens, compare_tokens);
    for (size_t i = 0; i < choosing.count && i < SPELLING_COMPLETIONS; i++) {
        take(context, slice_string(choosing.tokens[i].text));
    }
    buf_release(&words);
    free(choosing.tokens);
    return status;
}
