#include "rdf/nquads/nquads.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/unit/rdf/nquads_lines.h"
#include "tests/unit/rdf/rdf_case.h"

static void
test_terms_come_out_as_they_went_in(void **state)
{
    static const struct rdf_case cases[] = {
        {"", ""},
        {"# only a comment", ""},
        {"<a:s> <a:p> <a:o> .", "<a:s> <a:p> <a:o> .\n"},
        {"<a:s><a:p>\"o\"<a:g>.#c\n", "<a:s> <a:p> \"o\" <a:g> .\n"},
        {"\xEF\xBB\xBF<a:s> <a:p> _:b.1. _:g .\n",
         "!line 1, column 20: expected the end of the line"},
        {"_:a <a:p> _:b.1 _:g .\r\n\r\n_:1 <a:p> _:c.\n",
         "_:a <a:p> _:b.1 _:g .\n_:1 <a:p> _:c .\n"},
        {"<a:s> <a:p> \"x\"@en-GB .\r<a:s> <a:p> \"x\"@de .\r",
         "<a:s> <a:p> \"x\"@en-gb .\n<a:s> <a:p> \"x\"@de .\n"},
        {"<a:s> <a:p> \"1\"^^<a:int> .\n<a:s> <a:p> "
         "\"s\"^^<http://www.w3.org/2001/XMLSchema#string> .\n",
         "<a:s> <a:p> \"1\"^^<a:int> .\n<a:s> <a:p> \"s\" .\n"},
        {"<a:\\u00E9> <a:p> \"\\t\\b\\n\\r\\f\\\"\\'\\\\\\u0041\\U0001F30D\" .",
         "<a:\xC3\xA9> <a:p> \"\\t\\b\\n\\r\\f\\\"'\\\\A\xF0\x9F\x8C\x8D\" .\n"},
        {"<a:s> <a:p> \"\xEF\xBF\xBE\x7F\x01\" .", "<a:s> <a:p> \"\\uFFFE\\u007F\\u0001\" .\n"},
    };
    (void)state;
    RDF_CASES(nquads_parse, "", false, cases);
}

static void
test_errors_name_line_and_column(void **state)
{
    static const struct rdf_case cases[] = {
        {"<a:s> <a:p> <a:o>", "!line 1, column 18: expected a graph label or '.'"},
        {"\n<a:s> <p> <a:o> .", "!line 2, column 8: IRI is not absolute"},
        {"<a:s> <a:p> <a: o> .", "!line 1, column 16: character not allowed in an IRI"},
        {"<a:s> <a:p> <a:\\u0020> .", "!line 1, column 14: bad escape in an IRI"},
        {"<a:s> <a:p> <a:\\uD800> .", "!line 1, column 14: bad escape in an IRI"},
        {"<a:s> _:p <a:o> .", "!line 1, column 7: expected an IRI as predicate"},
        {"\"s\" <a:p> <a:o> .", "!line 1, column 1: expected an IRI or blank node as subject"},
        {"<a:s> <a:p> \"a\nb\" .", "!line 1, column 15: string does not end on its line"},
        {"<a:s> <a:p> \"\\x\" .", "!line 1, column 14: bad escape in a string"},
        {"<a:s> <a:p> \"\\uDC00\" .", "!line 1, column 14: bad escape in a string"},
        {"<a:s> <a:p> \"\\U00110000\" .", "!line 1, column 14: bad escape in a string"},
        {"<a:s> <a:p> \"x\"@1 .", "!line 1, column 17: bad language tag"},
        {"<a:s> <a:p> \"x\"^<a:t> .", "!line 1, column 16: expected '^^<'"},
        {"<a:s> <a:p> \"\xC3\" .", "!line 1, column 14: string is not UTF-8"},
        {"<a:s> <a:p> <a:\xED\xA0\x80> .", "!line 1, column 14: IRI is not UTF-8"},
        {"_::a <a:p> <a:o> .", "!line 1, column 3: bad blank node label"},
        {"<a:s> <a:p> <a:o> . <a:s> <a:p> <a:o> .",
         "!line 1, column 21: expected the end of the line"},
        {"@prefix a: <a:> .", "!line 1, column 1: expected an IRI or blank node as subject"},
    };
    (void)state;
    RDF_CASES(nquads_parse, "", false, cases);
}

static void
test_ntriples_has_no_graphs(void **state)
{
    static const struct rdf_case cases[] = {
        {"<a:s> <a:p> <a:o> .", "<a:s> <a:p> <a:o> .\n"},
        {"<a:s> <a:p> <a:o> <a:g> .", "!line 1, column 19: expected '.'"},
    };
    (void)state;
    RDF_CASES(ntriples_parse, "", false, cases);
}

static void
test_lenient_loses_only_the_bad_lines(void **state)
{
    static const struct rdf_case cases[] = {
        {"<a:1> <a:p> <a:o> .\n<bad <a:p> <a:o> .\r\n\n<a:2> <a:p> \"\\q\" .\n<a:3> <a:p> <a:o> .",
         "<a:1> <a:p> <a:o> .\n! 2:5 character not allowed in an IRI\n"
         "! 4:14 bad escape in a string\n<a:3> <a:p> <a:o> .\n"},
    };
    (void)state;
    RDF_CASES(nquads_parse, "", true, cases);
}

static const char cut_input[] = "<a:s> <a:p> \"\\u00e9t\xC3\xA9\"@FR <a:g> .\r\n# comment\n\n"
                                "_:x <a:p> _:y.z .\r<a:s> <a:p> <a:o> .";
static const char cut_output[] = "<a:s> <a:p> \"\xC3\xA9t\xC3\xA9\"@fr <a:g> .\n"
                                 "_:x <a:p> _:y.z .\n<a:s> <a:p> <a:o> .\n";

static void
test_pieces_may_be_cut_anywhere(void **state)
{
    (void)state;
    for (size_t size = 1; size < sizeof cut_input; size++) {
        struct buf out;
        buf_init(&out, 1 << 20);
        const struct quad_sink sink = {.quad = rdf_case_quad, .context = &out};
        struct nquads_reader *reader = nquads_reader_new(NULL, false, &sink);
        for (size_t at = 0; at < sizeof cut_input - 1; at += size) {
            const size_t left = sizeof cut_input - 1 - at;
            const struct slice piece = slice_of(cut_input + at, left < size ? left : size);
            assert_int_equal(nquads_reader_feed(reader, piece, NULL), STATUS_OK);
        }
        assert_int_equal(nquads_reader_finish(reader, NULL), STATUS_OK);
        assert_string_equal(out.data, cut_output);
        nquads_reader_free(reader);
        buf_release(&out);
    }
}

static void
test_a_pipe_is_read_to_its_end(void **state)
{
    int ends[2];
    struct buf out;
    (void)state;
    buf_init(&out, 1 << 20);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], cut_input, sizeof cut_input - 1), sizeof cut_input - 1);
    close(ends[1]);
    const struct quad_sink sink = {.quad = rdf_case_quad, .context = &out};
    struct nquads_reader *reader = nquads_reader_new(NULL, false, &sink);
    assert_int_equal(nquads_reader_descriptor(reader, ends[0], NULL), STATUS_OK);
    assert_string_equal(out.data, cut_output);
    nquads_reader_free(reader);
    buf_release(&out);
    close(ends[0]);
}

static int interrupted_pipe[2];

static void
write_and_close(int signal_number)
{
    (void)signal_number;
    (void)!write(interrupted_pipe[1], cut_input, sizeof cut_input - 1);
    close(interrupted_pipe[1]);
}

/* The bytes come in the very signal that interrupts the wait for them. */
static void
test_an_interrupted_read_goes_on(void **state)
{
    struct buf out;
    const struct sigaction action = {.sa_handler = write_and_close}; /* no SA_RESTART */
    const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    (void)state;
    buf_init(&out, 1 << 20);
    assert_int_equal(pipe(interrupted_pipe), 0);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    const struct quad_sink sink = {.quad = rdf_case_quad, .context = &out};
    struct nquads_reader *reader = nquads_reader_new(NULL, false, &sink);
    assert_int_equal(nquads_reader_descriptor(reader, interrupted_pipe[0], NULL), STATUS_OK);
    assert_string_equal(out.data, cut_output);
    nquads_reader_free(reader);
    buf_release(&out);
    close(interrupted_pipe[0]);
}

static void
test_what_cannot_be_read_is_an_error(void **state)
{
    struct reason why = {""};
    const struct quad_sink sink = {.quad = rdf_case_quad};
    const int folder = open("/", O_RDONLY | O_DIRECTORY);
    (void)state;
    struct nquads_reader *reader = nquads_reader_new(NULL, false, &sink);
    assert_int_equal(nquads_reader_descriptor(reader, folder, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot read quads: "));
    nquads_reader_free(reader);
    close(folder);
}

static void
test_a_line_past_the_limit_is_refused_or_skipped(void **state)
{
    const char *pieces[] = {"<a:s> <a:p> \"0123456789", "0123456789012345678901234567890123456789",
                            "\" .\n<a:s> <a:p> <a:o> .\n"};
    (void)state;
    for (int lenient = 0; lenient < 2; lenient++) {
        struct buf out;
        struct reason why = {{0}};
        buf_init(&out, 1 << 20);
        const struct parse_options options = {
            .term_size = 40,
            .lenient = lenient,
            .problems = {.problem = rdf_case_problem, .context = &out}};
        const struct quad_sink sink = {.quad = rdf_case_quad, .context = &out};
        struct nquads_reader *reader = nquads_reader_new(&options, false, &sink);
        enum status status = STATUS_OK;
        for (size_t i = 0; i < 3 && status == STATUS_OK; i++) {
            status = nquads_reader_feed(reader, slice_string(pieces[i]), &why);
        }
        assert_int_equal(status, lenient ? STATUS_OK : STATUS_LIMIT);
        assert_string_equal(lenient ? out.data : why.text,
                            lenient ? "! 1:0 line is too long\n<a:s> <a:p> <a:o> .\n"
                                    : "line 1 is longer than 40 bytes");
        nquads_reader_free(reader);
        buf_release(&out);
    }
}

static enum status
refuse(void *context, const struct quad *quad, struct reason *why)
{
    (void)context;
    (void)quad;
    return status_fail(why, STATUS_FULL, "no more");
}

static void
test_the_sinks_status_comes_back(void **state)
{
    struct reason why;
    const struct quad_sink sink = {.quad = refuse};
    (void)state;
    assert_int_equal(nquads_parse(SLICE("<a:s> <a:p> <a:o> .\nbad"), NULL, &sink, &why),
                     STATUS_FULL);
    assert_string_equal(why.text, "no more");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms_come_out_as_they_went_in),
        cmocka_unit_test(test_errors_name_line_and_column),
        cmocka_unit_test(test_ntriples_has_no_graphs),
        cmocka_unit_test(test_lenient_loses_only_the_bad_lines),
        cmocka_unit_test(test_pieces_may_be_cut_anywhere),
        cmocka_unit_test(test_a_pipe_is_read_to_its_end),
        cmocka_unit_test(test_an_interrupted_read_goes_on),
        cmocka_unit_test(test_what_cannot_be_read_is_an_error),
        cmocka_unit_test(test_a_line_past_the_limit_is_refused_or_skipped),
        cmocka_unit_test(test_the_sinks_status_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + nquads_lines_run();
}
