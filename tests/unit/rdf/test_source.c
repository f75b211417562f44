/* Reading in pieces gives what reading at once gives. */
#include "rdf/rdfxml/rdfxml.h"
#include "rdf/turtle/turtle.h"
#include "tests/unit/rdf/rdf_case.h"

struct pieces {
    struct slice rest;
    size_t size;
};

static enum status
next_piece(void *context, char *bytes, size_t size, size_t *length, struct reason *why)
{
    struct pieces *pieces = context;
    (void)why;
    size = size < pieces->size ? size : pieces->size;
    *length = size < pieces->rest.length ? size : pieces->rest.length;
    memcpy(bytes, pieces->rest.at, *length);
    pieces->rest = slice_of(pieces->rest.at + *length, pieces->rest.length - *length);
    return STATUS_OK;
}

static void
check(const char *text, parse_function *parse, rdf_read_function *read)
{
    static const size_t sizes[] = {1, 2, 3, 7, 64, 1 << 20};
    struct buf whole, parts;
    struct reason why = {""};
    buf_init(&whole, 1 << 24);
    buf_init(&parts, 1 << 24);
    const struct parse_options options = {.base = SLICE("http://b.example/a"), .lines = true};
    const struct quad_sink sink = {rdf_case_quad, &whole}, part_sink = {rdf_case_quad, &parts};
    const enum status expected = parse(slice_string(text), &options, &sink, &why);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pieces pieces = {slice_string(text), sizes[i]};
        const struct rdf_source source = {next_piece, &pieces};
        struct reason other = {""};
        buf_reset(&parts);
        assert_int_equal(read(&source, &options, &part_sink, &other), expected);
        assert_string_equal(other.text, why.text);
        assert_true(slice_equal(buf_slice(&whole), buf_slice(&parts)));
    }
    buf_release(&whole);
    buf_release(&parts);
}

static const char *const turtle[] = {
    "",
    "\xEF\xBB\xBF@prefix : <urn:x:> .\n:s :p :o .\n",
    ("@prefix : <urn:x#> . # a comment .\n:s :p 1. \n:s :p 1.5 , .5e3 , \"a.\\n\" .\n"
     ":s :p '''long.\n''quotes'.\n.\n''' , \"\"\"\\\"\"\" , \"\" , '' .\n:s :p ( 1 2 .\n"),
    "@prefix : <urn:x:> .\n:s :p [ :q 1 ;\n :r ( 1 2\n [] ) ] .\n[] :p [] .\n_:a :p\\.\n :o .\n",
    "PREFIX : <urn:x:>\nBASE <http://c.example/>\n<a> :p <b.> .\n<c.>\n:p 'x' .\n# end.",
    "@prefix : <urn:x:> .\n:s :p :o .\n:s :p bad .\n:s :p :o .\n",
    "@prefix : <urn:x:> .\n:s :p \"\"\"never.\n ends .\n",
    "<urn:s> <urn:p> \"\"\n.\n<urn:s> <urn:p> ''\n.\n<urn:s> <urn:p> \"\"\"\"\"\"\n.\n",
};

static const char *const trig[] = {
    ("@prefix : <urn:x:> .\n:g { :s :p :o .\n:s :p :o2 .\n:s :q :o }\n{ :d :p 1 .\n}\n"
     "GRAPH _:b\n{\n:s :p []\n}\n:s :p :o .\n"),
    "@prefix : <urn:x:> .\n:g { :s :p :o .\n:s :p :o2 .\n",
};

static void
turtle_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof turtle / sizeof *turtle; i++) {
        check(turtle[i], turtle_parse, turtle_read);
        check(turtle[i], trig_parse, trig_read);
    }
    for (size_t i = 0; i < sizeof trig / sizeof *trig; i++) {
        check(trig[i], trig_parse, trig_read);
    }
}

static void
rdfxml_in_pieces(void **state)
{
    (void)state;
    check("<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='urn:e:'>\n"
          "<rdf:Description rdf:ID='a'><e:p>text &amp; &#xE4;</e:p>\n<e:q rdf:parseType='Literal'>"
          "<b>x</b></e:q></rdf:Description></rdf:RDF>",
          rdfxml_parse, rdfxml_read);
}

static enum status
fails(void *context, char *bytes, size_t size, size_t *length, struct reason *why)
{
    (void)context;
    (void)bytes;
    (void)size;
    *length = 0;
    return status_fail(why, STATUS_SYSTEM, "the disk is gone");
}

static void
a_source_that_fails_is_told(void **state)
{
    const struct rdf_source source = {fails, NULL};
    struct buf out;
    (void)state;
    buf_init(&out, 1 << 10);
    const struct quad_sink sink = {rdf_case_quad, &out};
    rdf_read_function *const readers[] = {turtle_read, trig_read, rdfxml_read};
    for (size_t i = 0; i < 3; i++) {
        struct reason why = {""};
        assert_int_equal(readers[i](&source, NULL, &sink, &why), STATUS_SYSTEM);
        assert_string_equal(why.text, "the disk is gone");
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turtle_in_pieces),
        cmocka_unit_test(rdfxml_in_pieces),
        cmocka_unit_test(a_source_that_fails_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
