/* These tests are of what Turtle and TriG (rdf/turtle/turtle.c) refuse: what no production of the
 * grammars allows, nesting past its limit; and the memory that a statement may take. */
#include "tests/unit/rdf/turtle_limits.h"

#include "rdf/turtle/turtle.h"
#include "tests/unit/rdf/rdf_case.h"

enum { ROOM = 1 << 20 };

static void
what_no_production_allows_is_refused(void **state)
{
    static const struct rdf_case turtle[] = {
        {"<a:s> <a:p> <a:o>!<a:q> .", "!line 1, column 18: expected '.', ';' or ','"},
        {"<a:s> <a:p> {} .", "!line 1, column 13: expected a name with a prefix"},
        {"<a:s> <a:p> ?x .", "!line 1, column 13: expected a name with a prefix"},
        {"<a:s> <a:p> <a:o> <a:q> <a:r> .", "!line 1, column 19: expected '.', ';' or ','"},
        {"<a:s> <a:p> <a:o>, .", "!line 1, column 20: expected a number"},
        {"<a:s> ; <a:p> <a:o> .", "!line 1, column 7: expected a name with a prefix"},
        {"<a:s> <a:p> <a:o> ; ", "!line 1, column 21: expected '.', ';' or ','"},
        {"<a:s> <a:p> [ <a:q> 1 . ] .", "!line 1, column 23: expected ']'"},
        {"<a:s> <a:p> [ <a:q> 1 ; } .", "!line 1, column 25: expected ']'"},
        {"<a:s> <a:p> [ <a:q> 1 ; .", "!line 1, column 25: expected ']'"},
        {"<a:s> <a:p> [ <a:q> 1", "!line 1, column 22: expected ']'"},
        {"<a:s> <a:p> ( 1 ] .", "!line 1, column 17: expected a name with a prefix"},
        {"<a:s> .", "!line 1, column 7: expected a name with a prefix"},
        {"_:b .", "!line 1, column 5: expected a name with a prefix"},
        {"(1) .", "!line 1, column 5: expected a name with a prefix"},
        {"[ <a:p> 1 ] } .", "!line 1, column 13: expected '.', ';' or ','"},
        {"1 <a:p> 1 .", "!line 1, column 1: expected a name with a prefix"},
        {"'s' <a:p> 1 .", "!line 1, column 1: expected a name with a prefix"},
        {"<a:s> 'p' 1 .", "!line 1, column 7: expected a name with a prefix"},
        {"<a:s> _:p 1 .", "!line 1, column 7: expected a name with a prefix"},
        {"<a:s> [] 1 .", "!line 1, column 7: expected a name with a prefix"},
        {"<a:s> A <a:o> .", "!line 1, column 8: expected a name with a prefix"},
        {"<a:s> a:p <a:o> .", "!line 1, column 7: prefix is not declared"},
        {"<a:s> <a:p> True .", "!line 1, column 17: expected a name with a prefix"},
        {"<a:s> <a:p> truest .", "!line 1, column 19: expected a name with a prefix"},
        {"{ <a:s> <a:p> 1 }", "!line 1, column 1: expected a name with a prefix"},
        {"GRAPH <a:g> { }", "!line 1, column 6: expected a name with a prefix"},
        {"PREFIX p <a:> ", "!line 1, column 9: expected a name with a prefix"},
        {"PREFIX p: a:x ", "!line 1, column 11: expected an IRI in < >"},
        {"@prefix p: 'a:' .", "!line 1, column 12: expected an IRI in < >"},
        {"@base 'a:' .", "!line 1, column 7: expected an IRI in < >"},
        {"@base <a:> <a:s> a <a:t> .", "!line 1, column 12: expected '.'"},
        {"BASE <a:> . <a:s> a <a:t> .", "!line 1, column 11: expected a name with a prefix"},
        {"@Prefix p: <a:> .", "!line 1, column 1: expected a name with a prefix"},
        {"@forAll <a:x> .", "!line 1, column 1: expected a name with a prefix"},
    };
    static const struct rdf_case trig[] = {
        {"GRAPH (1) { }", "!line 1, column 7: expected the name of a graph"},
        {"GRAPH [ <a:p> 1 ] { }", "!line 1, column 7: expected the name of a graph"},
        {"GRAPH { }", "!line 1, column 7: expected a name with a prefix"},
        {"GRAPH 'g' { }", "!line 1, column 7: expected a name with a prefix"},
        {"GRAPH <a:g> .", "!line 1, column 13: expected '{'"},
        {"<a:g> { <a:s> <a:p> 1 . . }", "!line 1, column 25: expected a name with a prefix"},
        {"<a:g> { <a:s> <a:p> 1 ; } }", "!line 1, column 27: expected a name with a prefix"},
        {"<a:g> { GRAPH <a:h> { } }", "!line 1, column 14: expected a name with a prefix"},
        {"<a:g> { [ <a:p> 1 } }", "!line 1, column 19: expected ']'"},
        {"<a:g> { (1) }", "!line 1, column 13: expected a name with a prefix"},
        {"<a:g> { <a:s> <a:p> 1 <a:q> 2 }", "!line 1, column 23: expected '.', ';', ',' or '}'"},
        {"<a:g> { } .", "!line 1, column 11: expected a name with a prefix"},
        {"{ } }", "!line 1, column 5: expected a name with a prefix"},
        {"<a:s> <a:p> <a:g> { }", "!line 1, column 19: expected '.', ';' or ','"},
        {"[ <a:p> 1 ] <a:q> 2 }", "!line 1, column 21: expected '.', ';' or ','"},
    };
    (void)state;
    RDF_CASES(turtle_parse, "", false, turtle);
    RDF_CASES(trig_parse, "", false, trig);
}

/* ---- limits ---- */

static void
nested(struct buf *text, const char *before, const char *open, const char *inside,
       const char *close, unsigned depth)
{
    buf_append_string(text, before);
    for (unsigned i = 0; i < depth; i++) {
        buf_append_string(text, open);
    }
    buf_append_string(text, inside);
    for (unsigned i = 0; i < depth; i++) {
        buf_append_string(text, close);
    }
    buf_append_string(text, " .\n");
}

static enum status
count_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)quad;
    (void)why;
    ++*(size_t *)context;
    return STATUS_OK;
}

/* What was closed, or given up, nests nothing any more. */
static void
nesting_counts_what_is_open(void **state)
{
    static const struct {
        const char *before, *open, *inside, *close;
    } kinds[] = {
        {"<a:s> <a:p> ", "[<a:p> ", "1", "]"},
        {"<a:s> <a:p> ", "(", "1", ")"},
        {"<a:s> <a:p> ", "(2[<a:p> 3;<a:q>", "[]", "]3)"},
        {"", "[<a:p> ", "1", "]"},
        {"(", "[a ", "()", "]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const unsigned each = i == 2 ? 2 : 1, outer = i == 4, empty = i == 4;
        for (unsigned depth = 1; depth < 12; depth++) {
            struct buf text;
            struct reason why = {""};
            size_t quads = 0;
            const struct quad_sink sink = {count_quad, &quads};
            buf_init(&text, ROOM);
            for (unsigned again = 0; again < 3; again++) {
                nested(&text, kinds[i].before, kinds[i].open, kinds[i].inside, kinds[i].close,
                       depth);
                text.length -= outer ? 3 : 0; /* " .\n" */
                buf_append_string(&text, outer ? ") <a:p> 1 .\n" : "");
            }
            const unsigned levels = depth * each + outer + empty;
            struct parse_options options = {.depth = levels};
            assert_int_equal(turtle_parse(buf_slice(&text), &options, &sink, &why), STATUS_OK);
            assert_true(quads >= 3);
            options.depth = levels - 1;
            if (levels > 1) { /* 0 is the default */
                assert_int_equal(turtle_parse(buf_slice(&text), &options, &sink, &why),
                                 STATUS_LIMIT);
            }
            /* A fault within ends all of it. */
            quads = 0;
            buf_reset(&text);
            for (unsigned again = 0; again < 3; again++) {
                nested(&text, kinds[i].before, kinds[i].open, "bad", kinds[i].close, depth);
                nested(&text, "<a:s> <a:p> ", "(", "1", ")", levels);
            }
            options = (struct parse_options){.depth = levels, .lenient = true};
            assert_int_equal(turtle_parse(buf_slice(&text), &options, &sink, &why), STATUS_OK);
            assert_true(quads >= 3 * 2 * levels);
            buf_release(&text);
        }
    }
}

struct places {
    const char *first, *last; /* of the made terms */
    size_t count;
};

static void
note_place(struct places *places, struct slice value)
{
    if (slice_starts(value, SLICE("long:"))) {
        places->first =
            places->first == NULL || value.at < places->first ? value.at : places->first;
        places->last = places->last == NULL || value.at > places->last ? value.at : places->last;
        places->count++;
    }
}

static enum status
note_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)why;
    note_place(context, quad->subject.value);
    note_place(context, quad->predicate.value);
    note_place(context, quad->object.value);
    return STATUS_OK;
}

/* Terms that are made use the memory of those before them, however many a statement has. */
static void
memory_is_that_of_what_is_open(void **state)
{
    enum { MANY = 5000, NEAR = 4096 };
    static const char *const kinds[][3] = {
        {"<a:s> <a:p> <a:o>", ", p:x", " ."},
        {"<a:s> <a:p> <a:o>", "; p:x <a:o>", " ."},
        {"<a:s> <a:p> (", " p:x", ") ."},
        {"", "p:x p:x p:x .", ""},
        {"", "[ p:x p:x ] .", ""},
        {"<a:s> <a:p> [ <a:p> 1", "; <a:p> [ p:x p:x ]", "] ."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct buf text;
        struct reason why = {""};
        struct places places = {0};
        const struct quad_sink sink = {note_quad, &places};
        buf_init(&text, ROOM);
        buf_append_string(&text, "@prefix p: <long:namespace/of/some/bytes#> .\n");
        buf_append_string(&text, kinds[i][0]);
        for (size_t k = 0; k < MANY; k++) {
            buf_append_string(&text, kinds[i][1]);
        }
        buf_append_string(&text, kinds[i][2]);
        assert_int_equal(turtle_parse(buf_slice(&text), NULL, &sink, &why), STATUS_OK);
        assert_true(places.count >= MANY);
        assert_true(places.last - places.first < NEAR);
        buf_release(&text);
    }
}

static void
names_of_graphs_are_limited(void **state)
{
    struct buf out;
    (void)state;
    buf_init(&out, ROOM);
    const struct quad_sink sink = {rdf_case_quad, &out};
    for (size_t size = 3; size < 10; size++) {
        struct reason why = {""};
        const struct parse_options options = {.term_size = size};
        /* The name that a prefix gives is longer than each of its parts. */
        const enum status status = trig_parse(SLICE("@prefix p: <a:b> .\np:xyz { <a:> <a:> <a:> }"),
                                              &options, &sink, &why);
        assert_int_equal(status, size < 6 ? STATUS_BAD_INPUT : STATUS_OK);
        assert_string_equal(why.text, size < 6 ? "line 2, column 8: graph name is too long" : "");
    }
    buf_release(&out);
}

int
turtle_limits_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_production_allows_is_refused),
        cmocka_unit_test(nesting_counts_what_is_open),
        cmocka_unit_test(memory_is_that_of_what_is_open),
        cmocka_unit_test(names_of_graphs_are_limited),
    };
    return cmocka_run_group_tests_name("turtle limits", tests, NULL, NULL);
}
