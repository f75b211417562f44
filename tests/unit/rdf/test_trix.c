#include "rdf/rdfxml/trix.h"

#include "tests/unit/rdf/rdf_case.h"

#define BASE "http://b.example/d"
#define OPEN "<TriX xmlns='http://www.w3.org/2004/03/trix/trix-1/'>"
#define CLOSE "</TriX>"
#define SP "<uri>http://e.example/s</uri><uri>http://e.example/p</uri>"
#define QUAD "<http://e.example/s> <http://e.example/p> "

static void
test_terms(void **state)
{
    static const struct rdf_case cases[] = {
        {OPEN CLOSE, ""},
        {OPEN "<graph><triple>" SP "<uri>o</uri></triple></graph>" CLOSE,
         QUAD "<http://b.example/o> .\n"},
        {OPEN "<graph><uri>g</uri><triple><id>x</id><uri>http://e.example/p</uri>"
              "<id>g1</id></triple></graph>" CLOSE,
         "_:x <http://e.example/p> _:gxg1 <http://b.example/g> .\n"},
        {OPEN "<graph><id>a b</id><triple>" SP "<plainLiteral xml:lang='EN'> a &amp; b "
              "</plainLiteral></triple></graph><graph><triple>" SP
              "<plainLiteral/></triple></graph>" CLOSE,
         QUAD "\" a & b \"@en _:gy612062 .\n" QUAD "\"\" .\n"},
        {OPEN "<graph><triple>" SP "<typedLiteral datatype='http://www.w3.org/2001/"
              "XMLSchema#string'>x</typedLiteral></triple><triple>" SP
              "<typedLiteral datatype='t'>1</typedLiteral></triple></graph>" CLOSE,
         QUAD "\"x\" .\n" QUAD "\"1\"^^<http://b.example/t> .\n"},
        {"<!DOCTYPE TriX [<!ENTITY e 'http://e.example/'>]>" OPEN
         "<graph><triple><uri>&e;s</uri><uri>&e;p</uri><uri>&e;o</uri></triple></graph>" CLOSE,
         QUAD "<http://e.example/o> .\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rdf_case_run(trix_parse, BASE, false, cases[i]);
        rdf_case_run(trix_parse, BASE, true, cases[i]);
    }
}

static void
test_faulty_triples_are_left_out(void **state)
{
    static const struct rdf_case cases[] = {
        {OPEN "\n<graph><triple>" SP "</triple>\n<triple><plainLiteral>s</plainLiteral>"
              "<uri>p</uri><uri>o</uri></triple><triple>" SP "<id>o</id></triple></graph>" CLOSE,
         "! 2:83 a triple has three terms\n"
         "! 3:39 the subject is not an IRI or blank node\n" QUAD "_:o .\n"},
        {OPEN "<graph><triple>" SP "<uri>a b</uri></triple><z><triple/></z></graph>" CLOSE,
         "! 1:141 the object is not an IRI, blank node or literal\n"
         "! 1:152 an element that TriX does not have here\n"},
        {OPEN "<graph><triple>" SP "<id>a</id><id>b</id></triple></graph>" CLOSE,
         "! 1:147 a triple has three terms\n"},
        {"<rdf/>", "! 1:5 the root element is not TriX\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rdf_case_run(trix_parse, BASE, true, cases[i]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_faulty_triples_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
