/* Lines of N-Quads (rdf/nquads/nquads.c): made from terms of which it is known how they come out,
 * and cut into pieces anywhere. A second reader of lines, which has them whole, says where each
 * begins. */
#include "tests/unit/rdf/nquads_lines.h"
#include "tests/unit/brief.h"

#include <stdio.h>

#include "rdf/nquads/nquads.h"
#include "tests/unit/rdf/rdf_case.h"

#define XSD "http://www.w3.org/2001/XMLSchema#"

enum { STATEMENTS = 20000, TEXTS = 6000, LINES = 12, ROOM = 1 << 20 };

static uint64_t seed = 362436069362436069u;
static unsigned
random_below(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 16) % n;
}

/* ---- statements ---- */

struct made_term {
    const char *text, *out; /* as it may be written, and as it comes out */
};

static const struct made_term iris[] = {
    {"<a:x>", "<a:x>"},
    {"<http://a.example/?q#f>", "<http://a.example/?q#f>"},
    {"<a:\\u00E9>", "<a:\xC3\xA9>"},
    {"<b:\\U0001F30Dz>", "<b:\xF0\x9F\x8C\x8Dz>"},
    {"<c:\xC3\xBC>", "<c:\xC3\xBC>"},
    {"<d:\xC3\xBC\\u0041\xC3\xBC>", "<d:\xC3\xBC"
                                    "A\xC3\xBC>"},
};
static const struct made_term blanks[] = {
    {"_:b", "_:b"},
    {"_:0", "_:0"},
    {"_:x.y", "_:x.y"},
    {"_:\xC3\xA9-", "_:\xC3\xA9-"},
};
static const struct made_term strings[] = {
    {"\"\"", "\"\""},
    {"\"x\"", "\"x\""},
    {"\"\xC3\xA9 # . @\"", "\"\xC3\xA9 # . @\""},
    {"\"\\\"\\\\\"", "\"\\\"\\\\\""},
    {"\"\\u00e9\\t\\U00000041\"", "\"\xC3\xA9\\tA\""},
};
static const struct made_term tags[] = {
    {"@en", "@en"},
    {"@A", "@a"},
    {"@dZ-1a", "@dz-1a"},
    {"@de-Latn-AT-z9", "@de-latn-at-z9"},
};

#define ANY(table) (&(table)[random_below(sizeof(table) / sizeof *(table))])

static void
put_term(struct buf *text, struct buf *out, const struct made_term *term)
{
    buf_append_string(text, term->text);
    buf_append_string(out, term->out);
}

static void
put_node(struct buf *text, struct buf *out, bool blank)
{
    if (blank) {
        put_term(text, out, ANY(blanks));
        buf_append_char(text, ' '); /* what follows could be of the label */
    } else {
        put_term(text, out, ANY(iris));
    }
}

static void
put_space(struct buf *text)
{
    static const char *const spaces[] = {"", " ", "\t", "  \t "};
    buf_append_string(text, spaces[random_below(4)]);
}

static void
put_literal(struct buf *text, struct buf *out)
{
    put_term(text, out, ANY(strings));
    switch (random_below(4)) {
    case 0:
        put_term(text, out, ANY(tags));
        break;
    case 1:
        buf_append_string(text, "^^");
        buf_append_string(out, "^^");
        put_term(text, out, ANY(iris));
        break;
    case 2:
        buf_append_string(text, random_below(2) ? "^^<" XSD "string>" : "^^<" XSD "\\u0073tring>");
        break;
    default:
        break;
    }
}

/* A line without its end, and what comes of it. */
static void
put_statement(struct buf *text, struct buf *out, bool triple)
{
    put_space(text);
    put_node(text, out, random_below(3) == 0);
    buf_append_char(out, ' ');
    put_space(text);
    put_node(text, out, false);
    buf_append_char(out, ' ');
    put_space(text);
    const unsigned object = random_below(4);
    if (object < 2) {
        put_literal(text, out);
    } else {
        put_node(text, out, object == 3);
    }
    put_space(text);
    if (!triple && random_below(2) == 0) {
        buf_append_char(out, ' ');
        put_node(text, out, random_below(3) == 0);
        put_space(text);
    }
    buf_append_char(text, '.');
    buf_append_string(out, " .\n");
    put_space(text);
    buf_append_string(text, random_below(4) == 0 ? "# \xC3\xA9 ." : "");
}

static enum status
print_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)why;
    buf_printf(context, "%u ", quad->line);
    return nquads_write(context, quad);
}

static void
statements_come_out_as_they_went_in(void **state)
{
    struct buf text, out, expected;
    (void)state;
    buf_init(&text, ROOM);
    buf_init(&out, ROOM);
    buf_init(&expected, ROOM);
    const struct quad_sink sink = {print_quad, &out};
    for (unsigned i = 0; i < STATEMENTS; i++) {
        struct reason why = {""};
        buf_reset(&text);
        buf_reset(&out);
        buf_reset(&expected);
        buf_append_string(&expected, "1 ");
        put_statement(&text, &expected, i % 2 == 0);
        const enum status status =
            (i % 2 == 0 ? ntriples_parse : nquads_parse)(buf_slice(&text), NULL, &sink, &why);
        if (status != STATUS_OK || !slice_equal(buf_slice(&out), buf_slice(&expected))) {
            fail_msg("%.*s\nis %s %.*s\nnot %.*s", SLICE_PRINT(buf_slice(&text)), why.text,
                     SLICE_PRINT(buf_slice(&out)), SLICE_PRINT(buf_slice(&expected)));
        }
    }
    buf_release(&text);
    buf_release(&out);
    buf_release(&expected);
}

/* ---- refused ---- */

static void
what_the_grammar_has_not_is_refused(void **state)
{
    static const struct rdf_case cases[] = {
        {"<a:s> <a:p> <a:o> .\n<a:s> <a:p> \"x\\\n\" .",
         "!line 2, column 15: string does not end on its line"},
        {"<a:s> <a:p> \"x\\\r\" .", "!line 1, column 15: string does not end on its line"},
        {"<a:s> <a:p> \"x", "!line 1, column 15: string does not end on its line"},
        {"<a:s> <a:p> \"x\r\" .", "!line 1, column 15: string does not end on its line"},
        {"<a:s> <a:p> \"\\u0041\xFF\" .", "!line 1, column 14: string is not UTF-8"},
        {"<a:s> <a:p> <a:\\u0041\xFF> .", "!line 1, column 14: IRI is not UTF-8"},
        {"<a:s> <a:p> <a:\\u0041 > .", "!line 1, column 22: character not allowed in an IRI"},
        {"<a:s> <a:p> <a:\\u0041", "!line 1, column 22: character not allowed in an IRI"},
        {"<a:s> <a:p> <\\u0061> .", "!line 1, column 14: IRI is not absolute"},
        {"<a:s> <a:p> <> .", "!line 1, column 14: IRI is not absolute"},
        {"<a:s> <a:p> <a:o", "!line 1, column 17: character not allowed in an IRI"},
        {"<a:s> <a:p> _b .", "!line 1, column 13: expected '_:'"},
        {"<a:s> <a:p> _", "!line 1, column 13: expected '_:'"},
        {"<a:s> <a:p> _:", "!line 1, column 15: bad blank node label"},
        {"<a:s> <a:p> _:.", "!line 1, column 15: bad blank node label"},
        {"<a:s> <a:p> _:- .", "!line 1, column 15: bad blank node label"},
        {"<a:s> <a:p> \"x\"@ .", "!line 1, column 17: bad language tag"},
        {"<a:s> <a:p> \"x\"@en- .", "!line 1, column 17: bad language tag"},
        {"<a:s> <a:p> \"x\"@-en .", "!line 1, column 17: bad language tag"},
        {"<a:s> <a:p> \"x\"^^a:t .", "!line 1, column 16: expected '^^<'"},
        {"<a:s> <a:p> \"x\"^ ^<a:t> .", "!line 1, column 16: expected '^^<'"},
        {"<a:s> <a:p> \"x\"^^<t> .", "!line 1, column 19: IRI is not absolute"},
        {"<a:s> <a:p> x .", "!line 1, column 13: expected an object"},
        {"<a:s> <a:p> .", "!line 1, column 13: expected an object"},
        {"<a:s> <a:p> <a:o> \"g\" .", "!line 1, column 19: expected a graph label or '.'"},
        {"<a:s> <a:p> <a:o> <a:g> <a:h> .", "!line 1, column 25: expected '.'"},
        {"<a:s> <a:p> <a:o> <a:g>", "!line 1, column 24: expected '.'"},
        {"<a:s> <a:p> <a:o> <g> .", "!line 1, column 20: IRI is not absolute"},
        {"<a:s> <p> <a:o> .", "!line 1, column 8: IRI is not absolute"},
        {"<a:s> \"p\" <a:o> .", "!line 1, column 7: expected an IRI as predicate"},
        {"x <a:p> <a:o> .", "!line 1, column 1: expected an IRI or blank node as subject"},
        {"<a:s> <a:p> <a:o> .x", "!line 1, column 20: expected the end of the line"},
        {"<a:s> <a:p> <a:o> . # \xFF", "!line 1, column 21: comment is not UTF-8"},
        {"# \xFF\n", "!line 1, column 1: comment is not UTF-8"},
        {"\n\xEF\xBB\xBF<a:s> <a:p> <a:o> .",
         "!line 2, column 1: expected an IRI or blank node as subject"},
        {"\xEF\xBB\xBF\xEF\xBB\xBF<a:s> <a:p> <a:o> .",
         "!line 1, column 1: expected an IRI or blank node as subject"},
        {"\n \t\r\n\r# \xC3", "!line 4, column 1: comment is not UTF-8"},
    };
    static const struct rdf_case triples[] = {
        {"<a:s> <a:p> <a:o>", "!line 1, column 18: expected '.'"},
        {"<a:s> <a:p> \"o\" _:g .", "!line 1, column 17: expected '.'"},
    };
    (void)state;
    RDF_CASES(nquads_parse, "", false, cases);
    RDF_CASES(ntriples_parse, "", false, triples);
}

/* ---- lines ---- */

/* Some lines, some of them wrong; line ends of all kinds. */
static void
make_text(struct buf *text, struct buf *scratch)
{
    static const char *const lines[] = {"", " ", "# c", "x", "<a:s> <a:p> \"\\q\" .", "#\xFF", "<"};
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    const unsigned only = random_below(6); /* below 3: one kind of line end */
    buf_append_string(text, random_below(3) == 0 ? "\xEF\xBB\xBF" : "");
    for (unsigned n = random_below(LINES); n > 0; n--) {
        if (random_below(3) == 0) {
            buf_append_string(text, lines[random_below(sizeof lines / sizeof *lines)]);
        } else {
            put_statement(text, scratch, false);
        }
        buf_append_string(text,
                          n == 1 && random_below(2) ? "" : ends[only < 3 ? only : random_below(3)]);
    }
}

static void
note_problem(void *context, const struct parse_problem *problem)
{
    buf_printf(context, "%llu ! %llu %s\n", (unsigned long long)problem->line,
               (unsigned long long)problem->column, problem->text);
}

static const struct parse_options *
lenient(struct buf *out, size_t term_size)
{
    static struct parse_options options;
    options = (struct parse_options){.lenient = true,
                                     .term_size = term_size,
                                     .problems = {.problem = note_problem, .context = out}};
    return &options;
}

/* Each line by itself; its number is put before what comes out of it. */
static void
read_line_by_line(struct slice text, struct buf *out)
{
    struct buf one;
    buf_init(&one, ROOM);
    const struct quad_sink sink = {print_quad, &one};
    for (unsigned line = 1; text.length > 0; line++) {
        size_t n = 0;
        while (n < text.length && text.at[n] != '\n' && text.at[n] != '\r') {
            n++;
        }
        buf_reset(&one);
        assert_int_equal(nquads_parse(slice_of(text.at, n), lenient(&one, 0), &sink, NULL),
                         STATUS_OK);
        if (one.length > 0) {
            assert_int_equal(one.data[0], '1');
            buf_printf(out, "%u%s", line, one.data + 1);
        }
        n += n + 1 < text.length && text.at[n] == '\r' && text.at[n + 1] == '\n';
        n += n < text.length;
        text = slice_of(text.at + n, text.length - n);
    }
    buf_release(&one);
}

static void
feed_in_pieces(struct nquads_reader *reader, struct slice text, unsigned most)
{
    while (text.length > 0) {
        const size_t size = 1 + random_below(most), n = size < text.length ? size : text.length;
        char *piece = malloc(n); /* of its own, so that reading past its end is found */
        memcpy(piece, text.at, n);
        assert_int_equal(nquads_reader_feed(reader, slice_of(piece, n), NULL), STATUS_OK);
        free(piece);
        assert_int_equal(nquads_reader_feed(reader, SLICE(""), NULL), STATUS_OK);
        text = slice_of(text.at + n, text.length - n);
    }
    assert_int_equal(nquads_reader_finish(reader, NULL), STATUS_OK);
}

static void
assert_read(const struct buf *text, const struct buf *out, const struct buf *expected)
{
    if (!slice_equal(buf_slice(out), buf_slice(expected))) {
        fail_msg("%.*s\nis\n%.*s\nnot\n%.*s", SLICE_PRINT(buf_slice(text)),
                 SLICE_PRINT(buf_slice(out)), SLICE_PRINT(buf_slice(expected)));
    }
}

static void
lines_may_be_cut_anywhere(void **state)
{
    struct buf text, out, expected;
    (void)state;
    buf_init(&text, ROOM);
    buf_init(&out, ROOM);
    buf_init(&expected, ROOM);
    const struct quad_sink sink = {print_quad, &out};
    for (unsigned i = 0; i < brief(TEXTS, TEXTS / 10); i++) {
        static const unsigned sizes[] = {1, 3, 30, 100, 2000};
        buf_reset(&text);
        buf_reset(&expected);
        make_text(&text, &expected);
        buf_reset(&expected);
        read_line_by_line(buf_slice(&text), &expected);
        buf_reset(&out);
        struct nquads_reader *reader = nquads_reader_new(lenient(&out, 0), false, &sink);
        feed_in_pieces(reader, buf_slice(&text), sizes[i % 5]);
        assert_read(&text, &out, &expected);
        nquads_reader_free(reader);
    }
    buf_release(&text);
    buf_release(&out);
    buf_release(&expected);
}

/* A line, its end included, of one byte more than the limit is the first that is too long when it
 * comes byte by byte. It alone is lost, whatever ends it. */
static void
lines_are_limited(void **state)
{
    static const char *const ends[] = {"\n", "\r", "\r\n", ""};
    static const char start[] = "<a:s> <a:p> <a:o> .";
    struct buf text, out, expected;
    (void)state;
    buf_init(&text, ROOM);
    buf_init(&out, ROOM);
    buf_init(&expected, ROOM);
    const struct quad_sink sink = {print_quad, &out};
    for (size_t limit = sizeof start; limit < sizeof start + 40; limit++) {
        for (unsigned end = 0; end < 4; end++) {
            buf_reset(&text);
            buf_reset(&expected);
            for (unsigned line = 1; line <= 5; line++) {
                const size_t before = text.length;
                const size_t size = line % 2 == 1 ? limit + random_below(3) - 1 : sizeof start;
                buf_append_string(&text, start);
                while (text.length < before + size) {
                    buf_append_char(&text, ' ');
                }
                const bool last = line == 5 || end == 3;
                buf_append_string(&text, ends[end]);
                if (text.length - before > limit + !(last && end == 3)) {
                    buf_printf(&expected, "%u ! 0 line is too long\n", line);
                } else {
                    buf_printf(&expected, "%u <a:s> <a:p> <a:o> .\n", line);
                }
                if (last) {
                    break;
                }
            }
            buf_reset(&out);
            struct nquads_reader *reader = nquads_reader_new(lenient(&out, limit), false, &sink);
            feed_in_pieces(reader, buf_slice(&text), 1);
            assert_read(&text, &out, &expected);
            nquads_reader_free(reader);
            /* Strict: the first one ends it. */
            struct reason why = {""};
            struct parse_options strict = {.term_size = limit};
            reader = nquads_reader_new(&strict, false, &sink);
            enum status status = STATUS_OK;
            for (size_t i = 0; i < text.length && status == STATUS_OK; i++) {
                status = nquads_reader_feed(reader, slice_of(text.data + i, 1), &why);
            }
            status = status == STATUS_OK ? nquads_reader_finish(reader, &why) : status;
            const char *first = strstr(expected.data, " ! ");
            char reason[64] = "";
            if (first != NULL) {
                snprintf(reason, sizeof reason, "line %c is longer than %zu bytes", first[-1],
                         limit);
            }
            assert_int_equal(status, first != NULL ? STATUS_LIMIT : STATUS_OK);
            assert_string_equal(why.text, reason);
            nquads_reader_free(reader);
        }
    }
    buf_release(&text);
    buf_release(&out);
    buf_release(&expected);
}

/* A mark of the byte order is one before the first line only. */
static void
a_reader_begins_again_where_it_is_told(void **state)
{
    static const struct {
        uint64_t line;
        const char *before, *text, *expected;
    } cases[] = {
        {1, "", "\xEF\xBB\xBF<a:s> <a:p> <a:o> .", "1 <a:s> <a:p> <a:o> .\n"},
        {2, "", "\xEF\xBB\xBF<a:s> <a:p> <a:o> .",
         "2 ! 1 expected an IRI or blank node as subject\n"},
        {7, "", "\n<a:s> <a:p> <a:o> .", "8 <a:s> <a:p> <a:o> .\n"},
        {1, "<a:x> <a:", "\xEF\xBB\xBF<a:s> <a:p> <a:o> .", "1 <a:s> <a:p> <a:o> .\n"},
        {3, "<a:x> <a:", "<a:s> <a:p> <a:o> .", "3 <a:s> <a:p> <a:o> .\n"},
        {3, "<a:x> <a:yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy", "<a:s> <a:p> <a:o> .",
         "1 ! 0 line is too long\n3 <a:s> <a:p> <a:o> .\n"},
    };
    struct buf out;
    (void)state;
    buf_init(&out, ROOM);
    const struct quad_sink sink = {print_quad, &out};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&out);
        struct nquads_reader *reader = nquads_reader_new(lenient(&out, 30), false, &sink);
        assert_int_equal(nquads_reader_feed(reader, slice_string(cases[i].before), NULL),
                         STATUS_OK);
        nquads_reader_at_line(reader, cases[i].line);
        assert_int_equal(nquads_reader_feed(reader, slice_string(cases[i].text), NULL), STATUS_OK);
        assert_int_equal(nquads_reader_finish(reader, NULL), STATUS_OK);
        assert_int_equal(nquads_reader_finish(reader, NULL), STATUS_OK); /* nothing comes twice */
        assert_string_equal(out.data, cases[i].expected);
        nquads_reader_free(reader);
    }
    nquads_reader_free(NULL);
    buf_release(&out);
}

int
nquads_lines_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_come_out_as_they_went_in),
        cmocka_unit_test(what_the_grammar_has_not_is_refused),
        cmocka_unit_test(lines_may_be_cut_anywhere),
        cmocka_unit_test(lines_are_limited),
        cmocka_unit_test(a_reader_begins_again_where_it_is_told),
    };
    return cmocka_run_group_tests_name("lines of N-Quads", tests, NULL, NULL);
}
