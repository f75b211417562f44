#include "rdf/rdfxml/rdfxml.h"

#include "tests/unit/rdf/rdf_case.h"

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define OPEN "<rdf:RDF xmlns:rdf='" RDF "' xmlns:e='http://e.example/' xmlns='http://d.example/'>"
#define CLOSE "</rdf:RDF>"
#define S "<http://b.example/s>"
#define E(name) "<http://e.example/" name ">"

static void
test_node_and_property_elements(void **state)
{
    static const struct rdf_case cases[] = {
        {OPEN CLOSE, ""},
        {OPEN "<rdf:Description rdf:about='s'><e:p>text &amp; <![CDATA[<more>]]></e:p>"
              "</rdf:Description>" CLOSE,
         S " " E("p") " \"text & <more>\" .\n"},
        {"<e:T xmlns:e='http://e.example/' xmlns:rdf='" RDF "' rdf:ID='i' e:q='v' rdf:type='t'/>",
         "<http://b.example/d#i> <" RDF
         "type> " E("T") " .\n"
                         "<http://b.example/d#i> " E("q") " \"v\" .\n"
                                                          "<http://b.example/d#i> <" RDF
                                                          "type> <http://b.example/t> .\n"},
        {OPEN "<rdf:Description rdf:nodeID='g1'><e:p><T><e:q rdf:nodeID='x'/></T></e:p>"
              "<e:r rdf:resource='#f'/></rdf:Description>" CLOSE,
         "_:gxg1 " E("p") " _:g0 .\n_:g0 <" RDF "type> <http://d.example/T> .\n"
                          "_:g0 " E("q") " _:x .\n_:gxg1 " E("r") " <http://b.example/d#f> .\n"},
        {OPEN
         "<rdf:Seq rdf:about='s'><rdf:li>a</rdf:li><rdf:_7>b</rdf:_7><rdf:li/></rdf:Seq>" CLOSE,
         S " <" RDF "type> <" RDF "Seq> .\n" S " <" RDF "_1> \"a\" .\n" S " <" RDF "_7> \"b\" .\n" S
           " <" RDF "_2> \"\" .\n"},
        {OPEN "<rdf:Description rdf:about='s'><e:p e:q='1' xml:lang='EN'/>"
              "<e:p rdf:datatype='http://e.example/t'>1</e:p></rdf:Description>" CLOSE,
         S " " E("p") " _:g0 .\n_:g0 " E("q") " \"1\"@en .\n" S
                                              " " E("p") " \"1\"^^" E("t") " .\n"},
        {OPEN "<rdf:Description xml:base='http://c.example/x/y' rdf:about='../s' xml:lang='de'>"
              "<e:p>a</e:p><e:p xml:lang=''>b</e:p></rdf:Description>" CLOSE,
         "<http://c.example/s> " E("p") " \"a\"@de .\n<http://c.example/s> " E("p") " \"b\" .\n"},
    };
    (void)state;
    RDF_CASES(rdfxml_parse, "http://b.example/d", false, cases);
}

static void
test_parse_types_and_reification(void **state)
{
    static const struct rdf_case cases[] = {
        {OPEN "<rdf:Description rdf:about='s'><e:p rdf:parseType='Resource'><e:q>x</e:q></e:p>"
              "</rdf:Description>" CLOSE,
         S " " E("p") " _:g0 .\n_:g0 " E("q") " \"x\" .\n"},
        {OPEN "<rdf:Description rdf:about='s'><e:p rdf:parseType='Collection'> <rdf:Description "
              "rdf:about='a'/><T/></e:p><e:p rdf:parseType='Collection'/></rdf:Description>" CLOSE,
         S " " E("p") " _:g0 .\n_:g0 <" RDF "first> <http://b.example/a> .\n"
                      "_:g0 <" RDF "rest> _:g2 .\n_:g2 <" RDF "first> _:g1 .\n"
                      "_:g1 <" RDF "type> <http://d.example/T> .\n_:g2 <" RDF "rest> <" RDF
                      "nil> .\n" S " " E("p") " <" RDF "nil> .\n"},
        {OPEN "<rdf:Description rdf:about='s'><e:p rdf:parseType='Literal'>a&lt;"
              "<e:b z='&quot;&#10;' e:y='2' a='1'><!--c--><?i d?></e:b><T xmlns=''/></e:p>"
              "</rdf:Description>" CLOSE,
         S " " E("p") " \"a&lt;<e:b xmlns:e=\\\"http://e.example/\\\" a=\\\"1\\\" "
                      "z=\\\"&quot;&#xA;\\\" e:y=\\\"2\\\"><!--c--><?i d?></e:b><T></T>\"^^<" RDF
                      "XMLLiteral> .\n"},
        {OPEN "<rdf:Description rdf:about='s'><e:p rdf:ID='r'>x</e:p></rdf:Description>" CLOSE,
         S " " E("p") " \"x\" .\n"
                      "<http://b.example/d#r> <" RDF "type> <" RDF "Statement> .\n"
                      "<http://b.example/d#r> <" RDF "subject> " S " .\n"
                      "<http://b.example/d#r> <" RDF
                      "predicate> " E("p") " .\n"
                                           "<http://b.example/d#r> <" RDF "object> \"x\" .\n"},
    };
    (void)state;
    RDF_CASES(rdfxml_parse, "http://b.example/d", false, cases);
}

static void
test_internal_entities_are_expanded_and_external_ones_empty(void **state)
{
    static const struct rdf_case cases[] = {
        {"<!DOCTYPE rdf:RDF [<!ENTITY e 'http://e.example/'><!ENTITY n 'a<e:q>b</e:q>'>"
         "<!ENTITY x SYSTEM 'file:///etc/passwd'><!ENTITY % y SYSTEM 'file:///etc/passwd'> %y;]>"
         "<rdf:RDF xmlns:rdf='" RDF "' xmlns:e='&e;'><rdf:Description rdf:about='&e;s'>"
         "<e:p>1&x;2</e:p><e:p rdf:parseType='Literal'>&n;&n;</e:p></rdf:Description></rdf:RDF>",
         E("s") " " E("p") " \"12\" .\n" E("s") " " E(
             "p") " \"a<e:q "
                  "xmlns:e=\\\"http://e.example/\\\">b</e:q>a<e:q "
                  "xmlns:e=\\\"http://e.example/\\\">b"
                  "</e:q>\"^^<" RDF "XMLLiteral> .\n"},
    };
    (void)state;
    RDF_CASES(rdfxml_parse, "", false, cases);
}

static void
test_errors_name_line_and_column(void **state)
{
    static const struct rdf_case cases[] = {
        {OPEN "\n<rdf:Description rdf:ID='a'/><e:T rdf:ID='a'/>" CLOSE,
         "!line 2, column 45: rdf:ID has been given before"},
        {OPEN "\n<rdf:li/>" CLOSE, "!line 2, column 8: not the name of a node element"},
        {OPEN "\n<T rdf:ID='1'/>" CLOSE, "!line 2, column 14: rdf:ID is not a name"},
        {OPEN "\n<T rdf:ID='a' rdf:about='b'/>" CLOSE,
         "!line 2, column 28: node element with attributes of RDF that exclude each other"},
        {OPEN "\n<T rdf:aboutEach='b'/>" CLOSE,
         "!line 2, column 21: name of RDF's that must not be an attribute"},
        {OPEN "\n<T x='b'/>" CLOSE, "!line 2, column 9: attribute without a namespace"},
        {OPEN "\n<T>text</T>" CLOSE, "!line 2, column 8: text where RDF/XML allows none"},
        {OPEN "\n<T rdf:about='a b'/>" CLOSE, "!line 2, column 19: not a valid IRI"},
        {OPEN "\n<T><e:p><T/><T/></e:p></T>" CLOSE,
         "!line 2, column 15: property element may not hold this node element"},
        {OPEN "\n<T><u:p/></T>" CLOSE, "!line 2, column 8: Namespace prefix u on p is not defined"},
        {OPEN "\n<T></e:T>" CLOSE,
         "!line 2, column 10: Opening and ending tag mismatch: T line 2 and e:T"},
        {"", "!line 1, column 1: Document is empty"},
    };
    (void)state;
    RDF_CASES(rdfxml_parse, "http://b.example/d", false, cases);
}

static void
test_lenient_skips_the_element_at_fault(void **state)
{
    static const struct rdf_case cases[] = {
        {OPEN "<T rdf:about='a b'><e:p><T/></e:p></T>\n<rdf:Description rdf:about='s' x='1'/>"
              "<rdf:Description rdf:about='s'><e:p rdf:resource='a b'/><e:p>x</e:p>"
              "<e:p xml:lang='a_b'>y</e:p></rdf:Description>" CLOSE,
         "! 1:138 not a valid IRI\n! 2:37 attribute without a namespace\n"
         "! 2:93 not a valid IRI\n" S " " E("p") " \"x\" .\n"
                                                 "! 2:126 xml:lang is not a language tag\n" S
                                                 " " E("p") " \"y\" .\n"},
        {OPEN "<rdf:Description rdf:about='s' x='1' e:q='v'/>" CLOSE,
         "! 1:164 attribute without a namespace\n" S " " E("q") " \"v\" .\n"},
    };
    (void)state;
    RDF_CASES(rdfxml_parse, "http://b.example/d", true, cases);
}

static enum status
ignore(void *context, const struct quad *quad, struct reason *why)
{
    (void)context;
    (void)quad;
    (void)why;
    return STATUS_OK;
}

static enum status
parse_status(const struct buf *text, struct reason *why)
{
    const struct quad_sink sink = {.quad = ignore};
    const struct parse_options options = {.base = SLICE("http://b.example/")};
    return rdfxml_parse(buf_slice(text), &options, &sink, why);
}

static void
test_depth_is_bounded(void **state)
{
    struct buf text;
    struct reason why;
    (void)state;
    buf_init(&text, 1 << 20);
    buf_append_string(&text, OPEN);
    for (int i = 0; i < 1000; i++) {
        buf_append_string(&text, "<T><e:p>");
    }
    assert_int_equal(parse_status(&text, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "elements are nested too deep");
    buf_release(&text);
}

static void
test_entities_cannot_multiply_a_document(void **state)
{
    struct buf text;
    struct reason why;
    (void)state;
    buf_init(&text, 1 << 20);
    buf_append_string(&text, "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'>");
    for (char c = 'b'; c <= 'k'; c++) {
        buf_printf(&text, "<!ENTITY %c '", c);
        for (int i = 0; i < 10; i++) {
            buf_printf(&text, "&%c;", c - 1);
        }
        buf_append_string(&text, "'>");
    }
    buf_append_string(&text, "]>" OPEN "<T><e:p>&k;</e:p></T>" CLOSE);
    const enum status status = parse_status(&text, &why);
    assert_true(status == STATUS_BAD_INPUT || status == STATUS_LIMIT);
    buf_release(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_and_property_elements),
        cmocka_unit_test(test_parse_types_and_reification),
        cmocka_unit_test(test_internal_entities_are_expanded_and_external_ones_empty),
        cmocka_unit_test(test_errors_name_line_and_column),
        cmocka_unit_test(test_lenient_skips_the_element_at_fault),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_entities_cannot_multiply_a_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
