#include "rdf/core/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rdf/format.h"
#include "rdf/nquads/nquads.h"
#include "rdf/turtle/turtle.h"
#include "rdf/turtle/turtle_writer.h"
#include "tests/support/nquads_writer.h"
#include "tests/unit/rdf/rdf_case.h"

static const struct quad sample = {.subject = {.kind = TERM_IRI, .value = {"a:s", 3}},
                                   .predicate = {.kind = TERM_IRI, .value = {"a:p", 3}},
                                   .object = {.kind = TERM_LITERAL, .value = {"o", 1}}};

static void
test_a_full_device_is_noticed(void **state)
{
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct nquads_writer writer;
    struct reason why;
    (void)state;
    assert_true(full >= 0);
    nquads_writer_init(&writer, full);
    const struct quad_sink sink = nquads_writer_sink(&writer);
    enum status status = STATUS_OK;
    for (int i = 0; i < 100000 && status == STATUS_OK; i++) {
        status = sink.quad(sink.context, &sample, &why);
    }
    assert_int_equal(status, STATUS_SYSTEM);
    assert_string_equal(why.text, "cannot write quads: No space left on device");
    assert_int_equal(nquads_writer_flush(&writer, &why), STATUS_SYSTEM);
    assert_int_equal(writer.bytes, 0);
    nquads_writer_release(&writer);
    close(full);
}

/* A pipe takes what fits: the writer has to go on where write stopped. */
static void
test_short_writes_are_continued(void **state)
{
    enum { QUADS = 50000 };
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct nquads_writer writer;
        close(ends[0]);
        nquads_writer_init(&writer, ends[1]);
        const struct quad_sink sink = nquads_writer_sink(&writer);
        for (int i = 0; i < QUADS; i++) {
            if (sink.quad(sink.context, &sample, NULL) != STATUS_OK) {
                _exit(1);
            }
        }
        _exit(nquads_writer_flush(&writer, NULL) == STATUS_OK && writer.quads == QUADS ? 0 : 1);
    }
    close(ends[1]);
    size_t total = 0;
    char bytes[1000];
    for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;) {
        total += (size_t)n;
    }
    close(ends[0]);
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_int_equal(total, QUADS * strlen("<a:s> <a:p> \"o\" .\n"));
}

static void
test_nothing_is_left_of_a_term_that_does_not_fit(void **state)
{
    struct buf out;
    struct term term = term_literal(SLICE("a\nb"));
    (void)state;
    buf_init(&out, 5);
    assert_int_equal(nquads_write_term(&out, &term), STATUS_LIMIT);
    assert_int_equal(out.length, 0);
    buf_release(&out);
    buf_init(&out, 6);
    assert_int_equal(nquads_write_term(&out, &term), STATUS_OK);
    assert_string_equal(out.data, "\"a\\nb\"");
    buf_release(&out);
}

static void
assert_turtle(const char *input, const char *expected)
{
    struct graph graph, again;
    struct buf out;
    struct reason why;
    buf_init(&out, 1 << 20);
    graph_init(&graph, 0);
    graph_init(&again, 0);
    const struct quad_sink sink = graph_sink(&graph), resink = graph_sink(&again);
    assert_int_equal(nquads_parse(slice_string(input), NULL, &sink, &why), STATUS_OK);
    assert_int_equal(turtle_write(&out, &graph, NULL, &why), STATUS_OK);
    assert_string_equal(out.data ? out.data : "", expected);
    /* What was written reads as as many triples. */
    assert_int_equal(turtle_parse(buf_slice(&out), NULL, &resink, &why), STATUS_OK);
    assert_int_equal(again.count, graph.count);
    graph_release(&graph);
    graph_release(&again);
    buf_release(&out);
}

static void
test_turtle_groups_and_shortens(void **state)
{
    (void)state;
    assert_turtle("", "");
    assert_turtle("<a:s> <http://purl.org/dc/terms/title> \"a\\\"b\"@en .\n"
                  "<a:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
                  "<http://www.w3.org/ns/prov#Agent> .\n"
                  "<a:s> <http://purl.org/dc/terms/extent> "
                  "\"-5\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"
                  "<a:s> <http://purl.org/dc/terms/extent> "
                  "\"x\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"
                  "<a:s> <http://purl.org/dc/terms/a/b> <a:o> .\n",
                  "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
                  "@prefix dcterms: <http://purl.org/dc/terms/> .\n"
                  "@prefix prov: <http://www.w3.org/ns/prov#> .\n"
                  "\n<a:s>\n"
                  "    a prov:Agent ;\n"
                  "    <http://purl.org/dc/terms/a/b> <a:o> ;\n"
                  "    dcterms:extent -5, \"x\"^^xsd:integer ;\n"
                  "    dcterms:title \"a\\\"b\"@en .\n");
}

static void
test_turtle_nests_blank_nodes(void **state)
{
    (void)state;
    assert_turtle("<a:s> <a:p> _:b .\n_:b <a:q> _:c .\n_:b <a:r> \"x\" .\n",
                  "\n<a:s>\n    <a:p> [\n        <a:q> [] ;\n        <a:r> \"x\"\n    ] .\n");
    assert_turtle("<a:s> <a:p> _:b .\n<a:t> <a:p> _:b .\n_:b <a:q> \"x\" .\n_:z <a:q> \"y\" .\n",
                  "\n<a:s>\n    <a:p> _:b .\n\n<a:t>\n    <a:p> _:b .\n"
                  "\n_:b\n    <a:q> \"x\" .\n\n[]\n    <a:q> \"y\" .\n");
    assert_turtle("_:a <a:p> _:b .\n_:b <a:p> _:a .\n_:c <a:p> _:c .\n",
                  "\n_:a\n    <a:p> [\n        <a:p> _:a\n    ] .\n\n_:c\n    <a:p> _:c .\n");
}

static void
test_formats_are_found_by_name_type_and_extension(void **state)
{
    (void)state;
    assert_int_equal(rdf_format_of_name(SLICE("TriG")), RDF_FORMAT_TRIG);
    assert_int_equal(rdf_format_of_media_type(SLICE("text/Turtle")), RDF_FORMAT_TURTLE);
    assert_int_equal(rdf_format_of_media_type(SLICE("application/rdf+xml")), RDF_FORMAT_XML);
    assert_int_equal(rdf_format_of_media_type(SLICE("text/html")), RDF_FORMAT_NONE);
    assert_int_equal(rdf_format_of_extension(SLICE("nt")), RDF_FORMAT_NTRIPLES);
    assert_int_equal(rdf_format_of_extension(SLICE("nq")), RDF_FORMAT_NQUADS);
    assert_null(rdf_syntax(RDF_FORMAT_NONE));
    assert_int_equal(rdf_parse(RDF_FORMAT_NONE, SLICE(""), NULL, NULL, NULL), STATUS_UNSUPPORTED);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_device_is_noticed),
        cmocka_unit_test(test_short_writes_are_continued),
        cmocka_unit_test(test_nothing_is_left_of_a_term_that_does_not_fit),
        cmocka_unit_test(test_turtle_groups_and_shortens),
        cmocka_unit_test(test_turtle_nests_blank_nodes),
        cmocka_unit_test(test_formats_are_found_by_name_type_and_extension),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
