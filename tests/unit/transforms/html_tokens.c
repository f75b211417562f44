/* Tokens of HTML (transforms/html/token.c), beside a second tokenizer that is the state machine of
 * the HTML standard, byte by byte. Pages are made of what the machine's states turn on. Each page
 * ends where memory ends, so that reading past it is seen. */
#include "tests/unit/transforms/html_tokens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/unit/brief.h"
#include "tests/unit/transforms/html_tokenizer_model.h"

enum { PAGES = 100000, PIECES = 16, ROOM = 1 << 16 };

static uint64_t seed = 88172645463325252u;
static uint64_t
random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* ---- the tokenizer ---- */

static bool
is_decoded(const struct html_tokenizer *tokenizer, struct slice text)
{
    return text.at < tokenizer->start || text.at > tokenizer->end;
}

static void
print_token(struct html_tokenizer *tokenizer, const struct html_token *token, struct buf *out)
{
    if (token->kind == HTML_TOKEN_TEXT) {
        print_text(out, token->offset, is_decoded(tokenizer, token->text), token->text);
        return;
    }
    if (token->kind == HTML_TOKEN_DOCTYPE) {
        buf_printf(out, "D%u'", token->offset);
        buf_append_slice(out, token->text);
        buf_append_string(out, "'\n");
        return;
    }
    print_name(out, token->kind, token->offset, token->name, token->self_closing);
    assert_int_equal(token->element, html_element_of(token->name));
    for (uint32_t i = 0; i < token->attribute_count; i++) {
        const struct html_attribute *a = &tokenizer->tree->attributes[token->attribute + i];
        print_attribute(out, is_decoded(tokenizer, a->name), a->name,
                        is_decoded(tokenizer, a->value), a->value);
    }
    assert_int_equal(token->attribute + token->attribute_count, tokenizer->tree->attribute_count);
    if (token->kind == HTML_TOKEN_START && is_raw_text(token->element)) {
        struct slice text;
        if (token->element == HTML_TEXTAREA) {
            html_token_skip_newline(tokenizer);
        }
        const size_t offset = (size_t)(tokenizer->at - tokenizer->start);
        html_token_raw(tokenizer, token, &text);
        print_text(out, offset, is_decoded(tokenizer, text), text);
        assert_int_equal(token->attribute + token->attribute_count,
                         tokenizer->tree->attribute_count);
    }
}

struct fixture {
    char *memory, *end; /* what stands before end, ends where memory ends */
    struct arena arena;
    struct html_tree tree;
    struct buf is, should;
};

/* The tokens of the page, in fixture->is. True: the arena was full. */
static bool
tokenize(struct fixture *f, struct slice page, bool cdata, size_t maximum)
{
    struct html_tokenizer tokenizer;
    struct html_token token = {0};
    uint32_t attributes = 0;
    buf_reset(&f->is);
    arena_reset(&f->arena);
    f->arena.maximum = maximum;
    html_tree_reset(&f->tree);
    html_tokenizer_init(&tokenizer, &f->tree, page);
    tokenizer.cdata = cdata;
    for (html_token_next(&tokenizer, &token); token.kind != HTML_TOKEN_END_OF_INPUT;
         html_token_next(&tokenizer, &token)) {
        print_token(&tokenizer, &token, &f->is);
        attributes = f->tree.attribute_count;
    }
    assert_int_equal(f->tree.attribute_count, attributes); /* of a tag without end: none */
    assert_ptr_equal(tokenizer.at, tokenizer.end);
    return tokenizer.full;
}

static void
check_page(struct fixture *f, struct slice page, bool cdata)
{
    buf_reset(&f->should);
    model_tokens(page, cdata, &f->should);
    assert_false(tokenize(f, page, cdata, ROOM));
    if (!slice_equal(buf_slice(&f->is), buf_slice(&f->should))) {
        fail_msg("%.*s\nis\n%.*s\nnot\n%.*s", SLICE_PRINT(page), SLICE_PRINT(buf_slice(&f->is)),
                 SLICE_PRINT(buf_slice(&f->should)));
    }
}

static int
setup(void **state)
{
    struct fixture *f = memory_new(sizeof *f);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    f->memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(f->memory, MAP_FAILED);
    f->end = f->memory + page;
    assert_int_equal(mprotect(f->end, page, PROT_NONE), 0);
    arena_init(&f->arena, ROOM);
    html_tree_init(&f->tree, &f->arena);
    buf_init(&f->is, ROOM);
    buf_init(&f->should, ROOM);
    *state = f;
    return 0;
}

static int
teardown(void **state)
{
    struct fixture *f = *state;
    munmap(f->memory, 2 * (size_t)sysconf(_SC_PAGESIZE));
    html_tree_release(&f->tree);
    arena_release(&f->arena);
    buf_release(&f->is);
    buf_release(&f->should);
    free(f);
    return 0;
}

/* ---- pages ---- */

#define PIECE(text) SLICE_INIT(text)

/* The pieces may stand anywhere: what turns scripts and comments on, and what tags do. */
static const struct slice pieces[] = {
    PIECE("<"),           PIECE("</"),      PIECE(">"),         PIECE("/"),   PIECE("="),
    PIECE("\""),          PIECE("'"),       PIECE(" "),         PIECE("\n"),  PIECE("\r"),
    PIECE("\0"),          PIECE("\f"),      PIECE("&amp;"),     PIECE("&lt"), PIECE("&nGt;"),
    PIECE("&#x41;"),      PIECE("&"),       PIECE("a"),         PIECE("Z"),   PIECE("\xC3\xA9"),
    PIECE("!"),           PIECE("?"),       PIECE("<?"),        PIECE("<!"),  PIECE("<!DocType"),
    PIECE("<!doctypE x"), PIECE("[CDATA["), PIECE("<![CDATA["), PIECE("]]>"), PIECE("]"),
};
static const struct slice script_pieces[] = {
    PIECE("<script"),  PIECE("</script"),   PIECE("<SCRIPT>"), PIECE("</Script>"), PIECE("<!--"),
    PIECE("-->"),      PIECE("--!>"),       PIECE("-"),        PIECE("--"),        PIECE("!"),
    PIECE(">"),        PIECE("<"),          PIECE("</"),       PIECE("x"),         PIECE(" "),
    PIECE("<script>"), PIECE("</scripts>"), PIECE("<!-"),      PIECE("<!"),        PIECE("/"),
};
static const struct slice tag_pieces[] = {
    PIECE("<a "),      PIECE("<B"),       PIECE("</a"),         PIECE("x"),
    PIECE("Y=1"),      PIECE("y='"),      PIECE("z=\""),        PIECE("/>"),
    PIECE("/"),        PIECE(">"),        PIECE(" "),           PIECE("="),
    PIECE("<title>"),  PIECE("</title"),  PIECE("<textarea>"),  PIECE("</TextArea>"),
    PIECE("<style\n"), PIECE("</style "), PIECE("<plaintext>"), PIECE("'"),
    PIECE("\""),       PIECE("<Title"),   PIECE("</titles"),    PIECE("</textarea"),
    PIECE("\r\n"),
};

static struct slice
random_page(struct fixture *f)
{
    static const struct {
        const struct slice *pieces;
        size_t count;
    } tables[] = {{pieces, sizeof pieces / sizeof *pieces},
                  {script_pieces, sizeof script_pieces / sizeof *script_pieces},
                  {tag_pieces, sizeof tag_pieces / sizeof *tag_pieces}};
    char text[PIECES * 16];
    size_t length = 0;
    const size_t kind = random_number() % 4; /* mostly of one kind, or of all */
    for (size_t n = random_number() % PIECES; n > 0; n--) {
        const size_t table = kind == 3 || random_number() % 8 == 0 ? random_number() % 3 : kind;
        const struct slice piece = tables[table].pieces[random_number() % tables[table].count];
        memcpy(text + length, piece.at, piece.length);
        length += piece.length;
    }
    memcpy(f->end - length, text, length);
    return slice_of(f->end - length, length);
}

static void
pages_have_the_tokens_of_the_standard(void **state)
{
    for (size_t i = 0; i < brief(PAGES, PAGES / 30); i++) {
        const struct slice page = random_page(*state);
        check_page(*state, page, random_number() % 4 == 0);
    }
}

/* What does not fit is missing, and said to be. */
static void
an_arena_that_is_full_is_told(void **state)
{
    struct fixture *f = *state;
    size_t told = 0;
    for (size_t i = 0; i < PAGES / 20; i++) {
        const struct slice page = random_page(f);
        check_page(f, page, false);
        for (size_t maximum = 1; maximum < 128; maximum += 1 + random_number() % 32) {
            const bool full = tokenize(f, page, false, maximum);
            assert_true(full || slice_equal(buf_slice(&f->is), buf_slice(&f->should)));
            told += full;
            assert_true(memchr(page.at, 0, page.length) ||
                        !memchr(f->is.data ? f->is.data : "", 0, f->is.length));
        }
    }
    assert_true(told > 1000);
}

static void
elements_have_so_many_attributes_at_most(void **state)
{
    struct fixture *f = *state;
    struct html_tokenizer tokenizer;
    struct html_token token;
    for (unsigned n = HTML_ATTRIBUTES - 1; n <= HTML_ATTRIBUTES + 1; n++) {
        struct buf page;
        buf_init(&page, ROOM);
        buf_append_string(&page, "<a");
        for (unsigned i = 0; i < n; i++) {
            buf_printf(&page, " n%u", i);
        }
        buf_append_string(&page, ">");
        html_tree_reset(&f->tree);
        html_tokenizer_init(&tokenizer, &f->tree, buf_slice(&page));
        html_token_next(&tokenizer, &token);
        assert_int_equal(token.attribute_count, n < HTML_ATTRIBUTES ? n : HTML_ATTRIBUTES);
        assert_int_equal(f->tree.attribute_count, token.attribute_count);
        buf_release(&page);
    }
}

/* Where one title has no end, none after it has: their ends are not searched, as a page of titles
 * would take time by the square of its length. Nothing else tells that in its tree. */
static void
ends_of_titles_are_searched_once(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *page;
        bool over;
        const char *text;
        unsigned repair;
    } cases[] = {
        {"<title>x<b>", false, "x", HTML_REPAIR_RAW},
        {"<title>x</title>", false, "x", 0},
        {"<title>x<b></title>", true, "x", HTML_REPAIR_RAW},
        {"<style>x<b></style>", true, "x<b>", 0},
        {"<style>x<b>", false, "x<b>", HTML_REPAIR_RAW},
        {"<script>x<b></script>", true, "x<b>", 0},
        {"<script>x<b>", false, "x<b>", HTML_REPAIR_RAW},
        {"<plaintext>x<b>", false, "x<b>", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct html_tokenizer tokenizer;
        struct html_token token;
        struct slice text;
        html_tree_reset(&f->tree);
        html_tokenizer_init(&tokenizer, &f->tree, slice_string(cases[i].page));
        tokenizer.titles_over = cases[i].over;
        html_token_next(&tokenizer, &token);
        html_token_raw(&tokenizer, &token, &text);
        assert_true(slice_is(text, cases[i].text));
        assert_int_equal(f->tree.repair, cases[i].repair);
        assert_int_equal(tokenizer.titles_over,
                         cases[i].over || (cases[i].repair && token.element == HTML_TITLE));
    }
}

/* The text of two references is longer than they are. */
static void
references_may_grow(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"&nGt;", "&nLt;"};
    static const char *const texts[] = {"\xE2\x89\xAB\xE2\x83\x92", "\xE2\x89\xAA\xE2\x83\x92"};
    for (size_t i = 0; i < 2; i++) {
        for (size_t n = 1; n < 200; n += n < 20 ? 1 : 50) {
            struct buf page, text;
            buf_init(&page, ROOM);
            buf_init(&text, ROOM);
            for (size_t k = 0; k < n; k++) {
                buf_append_string(&page, names[i]);
                buf_append_string(&text, texts[i]);
            }
            buf_reset(&f->should);
            print_text(&f->should, 0, true, buf_slice(&text));
            assert_false(tokenize(f, buf_slice(&page), false, ROOM));
            assert_string_equal(f->is.data, f->should.data);
            buf_release(&page);
            buf_release(&text);
        }
    }
}

int
html_tokens_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages_have_the_tokens_of_the_standard, setup, teardown),
        cmocka_unit_test_setup_teardown(an_arena_that_is_full_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(elements_have_so_many_attributes_at_most, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_of_titles_are_searched_once, setup, teardown),
        cmocka_unit_test_setup_teardown(references_may_grow, setup, teardown),
    };
    return cmocka_run_group_tests_name("html tokens", tests, NULL, NULL);
}
