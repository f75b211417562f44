#include "rdf/turtle/turtle.h"

#include "tests/unit/brief.h"
#include "tests/unit/rdf/rdf_case.h"
#include "tests/unit/rdf/turtle_documents.h"

#define TYPE "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
#define FIRST "<http://www.w3.org/1999/02/22-rdf-syntax-ns#first>"
#define REST "<http://www.w3.org/1999/02/22-rdf-syntax-ns#rest>"
#define NIL "<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>"
#define XSD "http://www.w3.org/2001/XMLSchema#"

static void
test_iris_and_names(void **state)
{
    static const struct rdf_case cases[] = {
        {"", ""},
        {"<s> <#p> <> .", "<http://a.example/b/s> <http://a.example/b/d?q#p> "
                          "<http://a.example/b/d?q> .\n"},
        {"<../x> <a:p> <http://y.example/a/../b> .",
         "<http://a.example/x> <a:p> <http://y.example/b> .\n"},
        {"@base <http://z.example/1/> . BASE <2#f> PREFIX p: <#> <x> <a:p> <>, p:l .",
         "<http://z.example/1/x> <a:p> <http://z.example/1/2> .\n"
         "<http://z.example/1/x> <a:p> <http://z.example/1/2#l> .\n"},
        {"@prefix:<a:>.@prefix p.q:<b:>. :s a p.q:t.u,:1:2,:%41\\~\\.,: .",
         "<a:s> " TYPE " <b:t.u> .\n<a:s> " TYPE " <a:1:2> .\n<a:s> " TYPE " <a:%41~.> .\n"
         "<a:s> " TYPE " <a:> .\n"},
        {"PREFIX \xC3\xA9: <e:> \xC3\xA9:\xC3\xA9 <a:p> true,false.",
         "<e:\xC3\xA9> <a:p> \"true\"^^<" XSD "boolean> .\n"
         "<e:\xC3\xA9> <a:p> \"false\"^^<" XSD "boolean> .\n"},
        {"@prefix true: <t:> . true:x <a:p> true:y .", "<t:x> <a:p> <t:y> .\n"},
    };
    (void)state;
    RDF_CASES(turtle_parse, "http://a.example/b/d?q#f", false, cases);
}

static void
test_literals(void **state)
{
    static const struct rdf_case cases[] = {
        {"<a:s> <a:p> 'x', \"y\" , '''a'b''c\n''', \"\"\"\\\"\"\"\" .",
         "<a:s> <a:p> \"x\" .\n<a:s> <a:p> \"y\" .\n<a:s> <a:p> \"a'b''c\\n\" .\n"
         "<a:s> <a:p> \"\\\"\" .\n"},
        {"<a:s> <a:p> 'x'@EN-us, 'y' @de, \"1\"^^<a:t>, \"\" ^^ <" XSD "string> .",
         "<a:s> <a:p> \"x\"@en-us .\n<a:s> <a:p> \"y\"@de .\n<a:s> <a:p> \"1\"^^<a:t> .\n"
         "<a:s> <a:p> \"\" .\n"},
        {"<a:s> <a:p> 1, -2., +.5, 1.5e-3, 4E+2, 5.e0 .",
         "!line 1, column 19: expected a name with a prefix"},
        {"<a:s> <a:p> 1, +.5, 1.5e-3, 4E+2, 5.e0, -2.",
         "<a:s> <a:p> \"1\"^^<" XSD "integer> .\n<a:s> <a:p> \"+.5\"^^<" XSD "decimal> .\n"
         "<a:s> <a:p> \"1.5e-3\"^^<" XSD "double> .\n<a:s> <a:p> \"4E+2\"^^<" XSD "double> .\n"
         "<a:s> <a:p> \"5.e0\"^^<" XSD "double> .\n<a:s> <a:p> \"-2\"^^<" XSD "integer> .\n"},
    };
    (void)state;
    RDF_CASES(turtle_parse, "", false, cases);
}

static void
test_blank_nodes_and_collections(void **state)
{
    static const struct rdf_case cases[] = {
        {"_:b <a:p> _:g0, _:gx, [] .",
         "_:b <a:p> _:gxg0 .\n_:b <a:p> _:gxgx .\n_:b <a:p> _:g0 .\n"},
        {"[ <a:p> [ <a:q> 'x' ; ] ] .", "_:g1 <a:q> \"x\" .\n_:g0 <a:p> _:g1 .\n"},
        {"[] a <a:T> ; ; <a:p> () .", "_:g0 " TYPE " <a:T> .\n_:g0 <a:p> " NIL " .\n"},
        {"( 'x' (_:y) ) <a:p> 'z' .",
         "_:g0 " FIRST " \"x\" .\n_:g0 " REST " _:g1 .\n_:g2 " FIRST " _:y .\n"
         "_:g2 " REST " " NIL " .\n_:g1 " FIRST " _:g2 .\n_:g1 " REST " " NIL " .\n"
         "_:g0 <a:p> \"z\" .\n"},
    };
    (void)state;
    RDF_CASES(turtle_parse, "", false, cases);
}

static void
test_errors_name_line_and_column(void **state)
{
    static const struct rdf_case cases[] = {
        {"<a:s> <a:p> <o> .", "!line 1, column 14: relative IRI where no base is known"},
        {"\n<a:s> p:x <a:o> .", "!line 2, column 7: prefix is not declared"},
        {"<a:s> a <a:o>", "!line 1, column 14: expected '.', ';' or ','"},
        {"<a:s> <a:p> '\\uD800' .", "!line 1, column 14: bad escape in a string"},
        {"<a:s> <a:p> '\\u12' .", "!line 1, column 14: bad escape in a string"},
        {"<a:s> <a:p> <a:\\uDFFF> .", "!line 1, column 14: bad escape in an IRI"},
        {"<a:s> <a:p> 'x\n' .", "!line 1, column 14: string does not end"},
        {"<a:s> <a:p> '''x'' .", "!line 1, column 16: string does not end"},
        {"<a:s> <a:p> '\xFF' .", "!line 1, column 14: not UTF-8"},
        {"[] .", "!line 1, column 4: expected a name with a prefix"},
        {"<a:s> true 'x' .", "!line 1, column 11: expected a name with a prefix"},
        {"@PREFIX a: <a:> .", "!line 1, column 1: expected a name with a prefix"},
        {"PREFIX a: <a:> .", "!line 1, column 16: expected a name with a prefix"},
        {"@prefix a: <a:>", "!line 1, column 16: expected '.'"},
        {"<a:g> { <a:s> <a:p> <a:o> }", "!line 1, column 7: expected a name with a prefix"},
        {"<a:s> <a:p> ( 'x' ", "!line 1, column 19: expected an object"},
        {"<a:s> <a:p> 'x'@ .", "!line 1, column 17: bad language tag"},
        {"<a:s> <a:p> -a:o .", "!line 1, column 13: expected a number"},
    };
    (void)state;
    RDF_CASES(turtle_parse, "", false, cases);
}

static void
test_trig_graphs(void **state)
{
    static const struct rdf_case cases[] = {
        {"{ <a:s> <a:p> 1 }", "<a:s> <a:p> \"1\"^^<" XSD "integer> .\n"},
        {"<a:g>{<a:s><a:p>'x'.[<a:p>'y']}GRAPH _:g1 {} graph<a:h>{<a:s> a <a:o>.} <a:s> a <a:p>.",
         "<a:s> <a:p> \"x\" <a:g> .\n_:g0 <a:p> \"y\" <a:g> .\n"
         "<a:s> " TYPE " <a:o> <a:h> .\n<a:s> " TYPE " <a:p> .\n"},
        {"[] { [] a <a:T> }", "_:g1 " TYPE " <a:T> _:g0 .\n"},
        {"[ <a:p> 'x' ] { }", "!line 1, column 15: expected a name with a prefix"},
        {"() { }", "!line 1, column 4: expected a name with a prefix"},
        {"{ { } }", "!line 1, column 3: expected a name with a prefix"},
        {"{ @prefix a: <a:> . }", "!line 1, column 3: expected a name with a prefix"},
        {"{ <a:s> a <a:o>", "!line 1, column 16: expected '.', ';', ',' or '}'"},
        {"<a:g> { <a:s> a <a:o> .", "!line 1, column 24: expected '}'"},
        {"GRAPH <a:g> <a:p> <a:o> .", "!line 1, column 13: expected '{'"},
        {"{ [] }", "!line 1, column 6: expected a name with a prefix"},
    };
    (void)state;
    RDF_CASES(trig_parse, "", false, cases);
}

static void
test_lenient_goes_on_behind_the_next_stop(void **state)
{
    static const struct rdf_case cases[] = {
        {"<a:1> a <a:T> .\n<a:2> a <a T> ;\n  <a:p> 'x' .\n<a:3> a <a:T> .\n<a:4> a",
         "<a:1> " TYPE " <a:T> .\n! 2:11 character not allowed in an IRI\n"
         "<a:3> " TYPE " <a:T> .\n! 5:8 expected an object\n"},
        {"<a:1> a '\xFF' .\n<a:2> a <a:T> .\n",
         "! 1:10 not UTF-8\n! 1:10 string is not UTF-8\n<a:2> " TYPE " <a:T> .\n"},
        {"<a:1> a <a T> . \t\r\n<a:2> a <a:T> .\n",
         "! 1:11 character not allowed in an IRI\n<a:2> " TYPE " <a:T> .\n"},
        {"<a:1> a <a.\nT> .\n<a:2> a <a:T> .\n",
         "! 1:12 character not allowed in an IRI\n<a:2> " TYPE " <a:T> .\n"},
    };
    static const struct rdf_case graphs[] = {
        {"<a:g> {\n<a:1> a <a T> .\n<a:2> a <a:T> }\n<a:3> a <a:T> .\n",
         "! 2:11 character not allowed in an IRI\n<a:2> " TYPE " <a:T> <a:g> .\n"
         "<a:3> " TYPE " <a:T> .\n"},
        {"<a:g> {\n<a:1> a <a T> }\n<a:3> a <a:T> .\n{ <a:4> a <a:T> .",
         "! 2:11 character not allowed in an IRI\n<a:3> " TYPE " <a:T> .\n"
         "<a:4> " TYPE " <a:T> .\n! 4:18 expected '}'\n"},
    };
    (void)state;
    RDF_CASES(turtle_parse, "", true, cases);
    RDF_CASES(trig_parse, "", true, graphs);
}

static enum status
ignore(void *context, const struct quad *quad, struct reason *why)
{
    (void)context;
    (void)quad;
    (void)why;
    return STATUS_OK;
}

static void
test_nesting_is_bounded(void **state)
{
    static const char *const openings[] = {"[<a:p> ", "("};
    const struct quad_sink sink = {.quad = ignore};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct buf text;
        struct reason why;
        buf_init(&text, 16 << 20);
        buf_append_string(&text, "<a:s> <a:p> ");
        for (uint64_t depth = 0; depth < brief(1000000, 10000); depth++) {
            buf_append_string(&text, openings[i]);
        }
        const struct parse_options options = {.depth = UINT32_MAX};
        assert_int_equal(turtle_parse(buf_slice(&text), &options, &sink, &why), STATUS_LIMIT);
        assert_string_equal(why.text, "nesting is deeper than 2000 levels");
        buf_release(&text);
    }
}

static void
test_long_namespaces_are_refused(void **state)
{
    const struct quad_sink sink = {.quad = ignore};
    struct buf text;
    struct reason why;
    (void)state;
    buf_init(&text, 1 << 20);
    buf_append_string(&text, "@prefix p: <a:");
    for (int i = 0; i < 70000; i++) {
        buf_append_char(&text, 'x');
    }
    buf_append_string(&text, "> .");
    assert_int_equal(turtle_parse(buf_slice(&text), NULL, &sink, &why), STATUS_BAD_INPUT);
    assert_string_equal(why.text, "line 1, column 70016: namespace IRI is too long");
    buf_release(&text);
}

#define KNOWS "<http://a.example/d#knows>"

static void
test_n3_is_read_as_far_as_rdf_goes(void **state)
{
    static const struct rdf_case cases[] = {
        {":a = :b .", "<http://a.example/d#a> <http://www.w3.org/2002/07/owl#sameAs> "
                      "<http://a.example/d#b> .\n"},
        {":a => :b . :a <= :c .",
         "<http://a.example/d#a> <http://www.w3.org/2000/10/swap/log#implies> "
         "<http://a.example/d#b> .\n<http://a.example/d#c> "
         "<http://www.w3.org/2000/10/swap/log#implies> <http://a.example/d#a> .\n"},
        {":a is :knows of :b, :c; has :knows :d; @a :T .",
         "<http://a.example/d#b> " KNOWS " <http://a.example/d#a> .\n"
         "<http://a.example/d#c> " KNOWS " <http://a.example/d#a> .\n"
         "<http://a.example/d#a> " KNOWS " <http://a.example/d#d> .\n"
         "<http://a.example/d#a> " TYPE " <http://a.example/d#T> .\n"},
        {":a!:knows^:knows :knows 1 .",
         "<http://a.example/d#a> " KNOWS " _:g0 .\n_:g1 " KNOWS " _:g0 .\n"
         "_:g1 " KNOWS " \"1\"^^<" XSD "integer> .\n"},
        {"[ :p 1 ]!:q :knows :s .",
         "_:g0 <http://a.example/d#p> \"1\"^^<" XSD "integer> .\n"
         "_:g0 <http://a.example/d#q> _:g1 .\n_:g1 " KNOWS " <http://a.example/d#s> .\n"},
        {"[]!:q :knows :s .",
         "_:g0 <http://a.example/d#q> _:g1 .\n_:g1 " KNOWS " <http://a.example/d#s> .\n"},
        {"[ :p 1 ]!:q .", "_:g0 <http://a.example/d#p> \"1\"^^<" XSD "integer> .\n"
                          "_:g0 <http://a.example/d#q> _:g1 .\n"},
        {"@prefix : <x:> . @forAll <a.b>, :x . :a :b true .",
         "<x:a> <x:b> \"true\"^^<" XSD "boolean> .\n"},
        /* quoted, not asserted */
        {"{ :a :b \"}\" . # }\n :p {} } => { ?x :q 1 } . :c :says { :d :e :f }; :knows :g .",
         "<http://a.example/d#c> " KNOWS " <http://a.example/d#g> .\n"},
        {":a :b ?x . 'x' :knows :b . :a [] :c . :a 'p' :b .", ""},
        {"{ :a :b :c .", "!line 1, column 1: formula does not end"},
        {":a is :b :c .", "!line 1, column 10: expected 'of'"},
    };
    (void)state;
    RDF_CASES(n3_parse, "http://a.example/d#f", false, cases);
    static const struct rdf_case lenient[] = {
        {"@keywords a .\n:a :b ?x .\n:a :knows :b .",
         "! 1:1 a declaration of N3 was passed over\n"
         "! 2:10 a formula or variable, which RDF does not have: statement left out\n"
         "<http://a.example/d#a> " KNOWS " <http://a.example/d#b> .\n"},
    };
    RDF_CASES(n3_parse, "http://a.example/d", true, lenient);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iris_and_names),
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_blank_nodes_and_collections),
        cmocka_unit_test(test_errors_name_line_and_column),
        cmocka_unit_test(test_trig_graphs),
        cmocka_unit_test(test_lenient_goes_on_behind_the_next_stop),
        cmocka_unit_test(test_nesting_is_bounded),
        cmocka_unit_test(test_long_namespaces_are_refused),
        cmocka_unit_test(test_n3_is_read_as_far_as_rdf_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + turtle_documents_run();
}
