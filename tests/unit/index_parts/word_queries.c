/* Texts of searches (index/words/word_query.c), read and written down: items are joined by " & ",
 * one that is excluded begins with -; words of a phrase are joined by +; = stands before a phrase
 * that is meant as it is, * behind one whose last word only begins so. */
#include "tests/unit/index_parts/index_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "index/words/word_query.h"

enum { TEXT_MOST = 64 << 10 };

static void
write_items(const struct query_item *item, struct buf *out)
{
    for (; item != NULL; item = item->next) {
        buf_printf(out, "%s%s", out->length > 0 ? " & " : "", item->excluded ? "-" : "");
        if (item->phrase == NULL) {
            buf_printf(out, "lang:%.*s", SLICE_PRINT(item->tag));
        }
        for (const struct query_phrase *phrase = item->phrase; phrase != NULL;
             phrase = phrase->other) {
            buf_append_string(out, phrase->exact ? "=" : "");
            for (size_t i = 0; i < phrase->count; i++) {
                buf_printf(out, "%s%.*s", i > 0 ? "+" : "", SLICE_PRINT(phrase->words[i].word));
            }
            buf_printf(out, "%s%s", phrase->prefix ? "*" : "", phrase->other != NULL ? "|" : "");
        }
    }
}

static enum status
read_query(struct slice text, struct buf *out, struct reason *why)
{
    struct tokenizer *tokenizer = tokenizer_new();
    struct query_item *items;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const enum status status = word_query_parse(&items, text, tokenizer, &arena, why);
    buf_reset(out);
    write_items(items, out);
    buf_append_char(out, '\0');
    arena_release(&arena);
    tokenizer_free(tokenizer);
    return status;
}

void
searches_are_read(void **state)
{
    static const struct {
        const char *text, *items; /* NULL: there is no word to search for */
    } rows[] = {
        {"", NULL},
        {"  \t", NULL},
        {"!", NULL},
        {"\"\"", NULL},
        {"*", NULL},
        {"-", NULL},
        {"-red", NULL},
        {"lang:en", NULL},
        {"lang:en -red", NULL},
        {"red", "red"},
        {" Red  BLUE ", "red & blue"},
        {"red-blue", "=red+blue"},
        {"\"red\"", "=red"},
        {"\"red blue\"", "=red+blue"},
        {"\"red blue", "=red+blue"},
        {"\"red blue\" green", "=red+blue & green"},
        {"\"red\"green", "=red & green"},
        {"red*", "=red*"},
        {"\"red bl\"*", "=red+bl*"},
        {"\"red\"* blue", "=red* & blue"},
        {"\"red\" *", "=red"},
        {"red OR blue", "red|blue"},
        {"red OR \"blue green\" OR bl*", "red|=blue+green|=bl*"},
        {"red  OR  blue green", "red|blue & green"},
        {"red OR", "red & or"},
        {"red OR  ", "red & or"},
        {"OR red", "or & red"},
        {"red or blue", "red & or & blue"},
        {"red ORblue", "red & orblue"},
        {"red OR ! OR blue", "red|blue"},
        {"red -blue", "red & -blue"},
        {"red - blue", "red & blue"},
        {"red -\"blue green\"", "red & -=blue+green"},
        {"red -blue OR green", "red & -blue|green"},
        {"red -lang:de", "red & -lang:de"},
        {"red LANG:de-AT blue", "red & lang:de-AT & blue"},
        {"red lang:", "red"},
        {"red language:de", "red & =language+de"},
        {"red -!", "red"},
        {"red ! blue", "red & blue"},
        {"東京", "東京"},
        {"東京都", "=東京+京都"},
        {"東", "=東*"},
        {"a東", "=a+東*"},
        {"x-東", "=x+東*"},
    };
    static const char behind[] = {'\0', 'x', '*', '"',
                                  'R'}; /* what stands in memory there is no part */
    char memory[128];
    struct buf out;
    (void)state;
    buf_init(&out, 1 << 16);
    for (size_t k = 0; k < sizeof rows / sizeof *rows * sizeof behind; k++) {
        struct reason why = {""};
        const size_t i = k / sizeof behind, length = strlen(rows[i].text);
        memset(memory, behind[k % sizeof behind], sizeof memory);
        memcpy(memory, rows[i].text, length);
        const enum status status = read_query(slice_of(memory, length), &out, &why);
        if (status != (rows[i].items != NULL ? STATUS_OK : STATUS_BAD_INPUT)) {
            fail_msg("%s: %s", rows[i].text, status_name(status));
        }
        if (rows[i].items != NULL && strcmp(out.data, rows[i].items) != 0) {
            fail_msg("%s: %s, not %s", rows[i].text, out.data, rows[i].items);
        }
        assert_int_equal(why.text[0] != '\0', rows[i].items == NULL);
    }
    buf_release(&out);
}

void
searches_have_bounds(void **state)
{
    struct buf text, out;
    struct reason why = {""};
    (void)state;
    buf_init(&text, 2 * TEXT_MOST);
    buf_init(&out, 1 << 20);
    for (unsigned i = 0; i < QUERY_WORDS_MOST; i++) {
        buf_printf(&text, "w%u ", i);
    }
    assert_int_equal(read_query(buf_slice(&text), &out, &why), STATUS_OK);
    buf_append_string(&text, "w");
    assert_int_equal(read_query(buf_slice(&text), &out, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "64 words"));
    buf_reset(&text);
    buf_append_string(&text, "\"");
    for (unsigned i = 0; i <= QUERY_WORDS_MOST; i++) {
        buf_printf(&text, "w%u ", i);
    }
    assert_int_equal(read_query(buf_slice(&text), &out, &why), STATUS_LIMIT);
    buf_reset(&text);
    buf_append_string(&text, "red");
    while (text.length < TEXT_MOST) {
        buf_append_char(&text, ' ');
    }
    assert_int_equal(read_query(buf_slice(&text), &out, &why), STATUS_OK);
    buf_append_char(&text, ' ');
    assert_int_equal(read_query(buf_slice(&text), &out, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "65536 bytes"));
    buf_release(&text);
    buf_release(&out);
}
