/* Graphs as RDF/XML and JSON-LD (index/query/results/result_graphs.c): the text of what is usual,
 * and that a parser reads from it the graph that was written, whatever terms there are and in
 * whatever order. */
#include "tests/unit/query/query_case.h"

#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "rdf/jsonld/jsonld.h"
#include "rdf/nquads/nquads.h"
#include "rdf/rdfxml/rdfxml.h"
#include "tests/unit/brief.h"

enum { TEXT_MOST = 1 << 24, WORK = 1 << 20, QUADS = 12 };

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

/* ---- writing ---- */

static enum status
write_graph(const struct graph *graph, enum result_format format, struct buf *out,
            struct reason *why)
{
    struct result_writer *writer;
    buf_reset(out);
    result_writer_open(&writer, format, query_case_piece, out);
    const struct query_sink *sink = result_writer_sink(writer);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < graph->count && status == STATUS_OK; i++) {
        status = sink->quad(sink->context, &graph->quads[i], why);
    }
    if (status == STATUS_OK) {
        status = result_writer_finish(writer, why);
    }
    result_writer_free(writer);
    return status;
}

static void
read_lines(const char *lines, struct graph *graph)
{
    const struct quad_sink sink = graph_sink(graph);
    struct reason why = {""};
    graph_init(graph, 0);
    assert_int_equal(nquads_parse(slice_string(lines), NULL, &sink, &why), STATUS_OK);
}

static void
writes(const char *lines, enum result_format format, const char *wanted)
{
    struct graph graph;
    struct buf out;
    struct reason why = {""};
    buf_init(&out, TEXT_MOST);
    read_lines(lines, &graph);
    assert_int_equal(write_graph(&graph, format, &out, &why), STATUS_OK);
    assert_string_equal(out.data, wanted);
    graph_release(&graph);
    buf_release(&out);
}

#define LINES                                                                      \
    "<http://a.example/s?x=1&y> <http://a.example/ns#p> <http://a.example/o&> .\n" \
    "<http://a.example/s?x=1&y> <http://a.example/ns#p> \"<b> & \\\"c\\\"\" .\n"   \
    "<http://a.example/s?x=1&y> <http://a.example/ns#q> \"d\"@en-GB .\n"           \
    "<http://a.example/s?x=1&y> <" RDF "type> <http://a.example/T> .\n"            \
    "<http://a.example/s?x=1&y> <" RDF "type> <http://a.example/U> .\n"            \
    "_:x <" RDF "type> \"no class\" .\n"                                           \
    "_:x <http://a.example/1-n> \"1\"^^<http://t.example/&int> .\n"                \
    "<http://a.example/x> <http://a.example/ns#r> _:y .\n"

static void
usual_graphs_have_their_text(void **state)
{
    (void)state;
    writes(
        LINES, RESULT_RDFXML,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<rdf:RDF xmlns:rdf=\"" RDF "\">\n"
        "<rdf:Description rdf:about=\"http://a.example/s?x=1&amp;y\">\n"
        "<n:p xmlns:n=\"http://a.example/ns#\" rdf:resource=\"http://a.example/o&amp;\"/>\n"
        "<n:p xmlns:n=\"http://a.example/ns#\">&lt;b&gt; &amp; &quot;c&quot;</n:p>\n"
        "<n:q xmlns:n=\"http://a.example/ns#\" xml:lang=\"en-gb\">d</n:q>\n"
        "<n:type xmlns:n=\"" RDF "\" rdf:resource=\"http://a.example/T\"/>\n"
        "<n:type xmlns:n=\"" RDF "\" rdf:resource=\"http://a.example/U\"/>\n"
        "</rdf:Description>\n"
        "<rdf:Description rdf:nodeID=\"bx\">\n"
        "<n:type xmlns:n=\"" RDF "\">no class</n:type>\n"
        "<n:n xmlns:n=\"http://a.example/1-\" rdf:datatype=\"http://t.example/&amp;int\">1</n:n>\n"
        "</rdf:Description>\n"
        "<rdf:Description rdf:about=\"http://a.example/x\">\n"
        "<n:r xmlns:n=\"http://a.example/ns#\" rdf:nodeID=\"by\"/>\n"
        "</rdf:Description>\n</rdf:RDF>\n");
    writes(LINES, RESULT_JSONLD,
           "[\n{\"@id\":\"http://a.example/s?x=1&y\",\"http://a.example/ns#p\":["
           "{\"@id\":\"http://a.example/o&\"},{\"@value\":\"<b> & \\\"c\\\"\"}]},\n"
           "{\"@id\":\"http://a.example/s?x=1&y\",\"http://a.example/ns#q\":["
           "{\"@value\":\"d\",\"@language\":\"en-gb\"}]},\n"
           "{\"@id\":\"http://a.example/s?x=1&y\",\"@type\":["
           "\"http://a.example/T\",\"http://a.example/U\"]},\n"
           "{\"@id\":\"_:x\",\"" RDF "type\":[{\"@value\":\"no class\"}]},\n"
           "{\"@id\":\"_:x\",\"http://a.example/1-n\":["
           "{\"@value\":\"1\",\"@type\":\"http://t.example/&int\"}]},\n"
           "{\"@id\":\"http://a.example/x\",\"http://a.example/ns#r\":[{\"@id\":\"_:y\"}]}\n]\n");
    writes("", RESULT_RDFXML,
           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rdf:RDF xmlns:rdf=\"" RDF "\">\n"
           "</rdf:RDF>\n");
    writes("", RESULT_JSONLD, "[]\n");
}

/* ---- what is read again ---- */

static void
put_canonical(const struct graph *graph, struct buf *out)
{
    struct graph sorted;
    struct reason why = {""};
    graph_init(&sorted, 0);
    for (size_t i = 0; i < graph->count; i++) {
        struct quad quad = graph->quads[i];
        quad.graph = (struct term){.kind = TERM_NONE};
        assert_int_equal(graph_add(&sorted, &quad, &why), STATUS_OK);
    }
    assert_int_equal(graph_canonicalize(&sorted, CANONICAL_SHA256, WORK, &why), STATUS_OK);
    graph_sort_unique(&sorted);
    buf_reset(out);
    for (size_t i = 0; i < sorted.count; i++) {
        (void)nquads_write(out, &sorted.quads[i]);
    }
    (void)buf_append_string(out, "");
    graph_release(&sorted);
}

static void
read_again(const struct graph *graph, enum result_format format, const char *wanted)
{
    struct graph read;
    struct buf out, canonical;
    struct reason why = {""};
    const struct quad_sink sink = graph_sink(&read);
    const struct parse_options options = {.base = SLICE("http://base.example/")};
    graph_init(&read, 0);
    buf_init(&out, TEXT_MOST);
    buf_init(&canonical, TEXT_MOST);
    assert_int_equal(write_graph(graph, format, &out, &why), STATUS_OK);
    const enum status status = format == RESULT_RDFXML
                                   ? rdfxml_parse(buf_slice(&out), &options, &sink, &why)
                                   : jsonld_parse(buf_slice(&out), &options, &sink, &why);
    if (status != STATUS_OK) {
        fail_msg("%s\n%s", why.text, out.data);
    }
    put_canonical(&read, &canonical);
    if (strcmp(canonical.data, wanted) != 0) {
        print_error("%s\n", out.data);
    }
    assert_string_equal(canonical.data, wanted);
    graph_release(&read);
    buf_release(&out);
    buf_release(&canonical);
}

static uint64_t seed = 1;

static size_t
one_of(size_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(seed >> 33) % n;
}

static const char *const subjects[] = {"<http://a.example/s>", "<http://a.example/&\xc3\xa9>",
                                       "_:x", "_:x.y", "_:0-x", "_:X_2d", "_:X-", "<urn:a:b>",
                                       /* An IRI and a blank node of one text. */
                                       "_:urn", "<urn:x>"};
static const char *const predicates[] = {"<http://a.example/p>",
                                         "<http://a.example/ns#p-q.r>",
                                         "<" RDF "type>",
                                         "<http://a.example/1st>",
                                         "<http://a.example/%C3%A9p>",
                                         "<http://a.example/&x=y>",
                                         "<" RDF "_1>",
                                         "<urn:a:-.0p>"};
static const char *const objects[] = {"<http://a.example/o>",
                                      "_:x",
                                      "_:X_2d",
                                      "_:X-",
                                      "\"\"",
                                      "\" a  b \\n\\t\\r c \"",
                                      "\"]]>&amp;<\\\\\"",
                                      "\"\\u0007\"",
                                      "\"caf\xc3\xa9\"@fr",
                                      "\"x\"@en-GB",
                                      "\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>",
                                      "\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>",
                                      "\"<a/>\"^^<http://t.example/&\xc3\xa9>",
                                      "\"https://a.example/\""};

#define ONE_OF(list) list[one_of(sizeof list / sizeof *list)]

static void
any_graph_is_read_as_it_was_written(void **state)
{
    (void)state;
    for (uint64_t round = brief(2000, 200); round > 0; round--) {
        struct graph graph;
        struct buf lines, wanted;
        const char *subject = ONE_OF(subjects), *predicate = ONE_OF(predicates);
        const bool xml = round % 2;
        buf_init(&lines, TEXT_MOST);
        buf_init(&wanted, TEXT_MOST);
        for (size_t n = one_of(QUADS) + 1; n > 0; n--) {
            const char *object = ONE_OF(objects);
            subject = one_of(3) == 0 ? ONE_OF(subjects) : subject;
            predicate = one_of(2) == 0 ? ONE_OF(predicates) : predicate;
            if (!(xml && strstr(object, "\\u0007") != NULL)) { /* XML has no such character */
                (void)buf_printf(&lines, "%s %s %s .\n", subject, predicate, object);
            }
        }
        read_lines(lines.length > 0 ? lines.data : "", &graph);
        put_canonical(&graph, &wanted);
        read_again(&graph, xml ? RESULT_RDFXML : RESULT_JSONLD, wanted.data);
        graph_release(&graph);
        buf_release(&lines);
        buf_release(&wanted);
    }
}

/* Characters that XML 1.0 has not are replaced, so that the document can be read. */
static void
what_xml_has_not_is_replaced(void **state)
{
    (void)state;
    static const char line[] = "<a:s> <a:p> \"1\\u0001\\u001F\\u000B2\\uFFFE\\uFFFF3\" .\n";
    struct graph graph;
    read_lines(line, &graph);
    read_again(&graph, RESULT_RDFXML,
               "<a:s> <a:p> \"1\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
               "2\xef\xbf\xbd\xef\xbf\xbd"
               "3\" .\n");
    graph_release(&graph);
}

/* RDF/XML can name no property that does not end in a name, nor one that is a name alone. */
static void
properties_without_a_name_are_refused(void **state)
{
    (void)state;
    static const char *const nameless[] = {
        "http://a.example/",      "http://a.example/123",        "http://a.example/x#-.9",
        "http://a.example/p?",    "http://a.example/%41",        "http://a.example/%4",
        "http://a.example/p%412", "http://a.example/caf\xc3\xa9"};
    for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++) {
        char line[128];
        struct graph graph;
        struct buf out;
        struct reason why = {""};
        buf_init(&out, TEXT_MOST);
        snprintf(line, sizeof line, "<a:s> <%s> <a:o> .\n", nameless[i]);
        read_lines(line, &graph);
        assert_int_equal(write_graph(&graph, RESULT_RDFXML, &out, &why), STATUS_UNSUPPORTED);
        assert_non_null(strstr(why.text, nameless[i]));
        assert_int_equal(write_graph(&graph, RESULT_JSONLD, &out, &why), STATUS_OK);
        assert_non_null(strstr(out.data, nameless[i]));
        graph_release(&graph);
        buf_release(&out);
    }
}

/* A long answer leaves in pieces; one term that does not fit fails. */
static void
long_graphs_leave_in_pieces(void **state)
{
    enum { LENGTH = 1 << 18 };
    (void)state;
    struct graph graph;
    struct buf lines, wanted;
    buf_init(&lines, TEXT_MOST);
    buf_init(&wanted, TEXT_MOST);
    for (unsigned i = 0; i < 4; i++) {
        (void)buf_printf(&lines, "<a:s%u> <a:p> \"%0*u\" .\n", i, LENGTH, i);
    }
    read_lines(lines.data, &graph);
    put_canonical(&graph, &wanted);
    read_again(&graph, RESULT_RDFXML, wanted.data);
    read_again(&graph, RESULT_JSONLD, wanted.data);
    graph_release(&graph);
    buf_release(&lines);
    buf_release(&wanted);
}

/* ---- terms that no parser gives ---- */

#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rdf:RDF xmlns:rdf=\"" RDF "\">\n"
#define QUAD(s, p, o)                             \
    {                                             \
        .subject = s, .predicate = p, .object = o \
    }
#define TAIL "</rdf:Description>\n</rdf:RDF>\n"

static void
writes_quads(const struct quad *quads, size_t count, enum result_format format, const char *wanted)
{
    struct graph graph;
    struct buf out;
    struct reason why = {""};
    graph_init(&graph, 0);
    buf_init(&out, TEXT_MOST);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(graph_add(&graph, &quads[i], &why), STATUS_OK);
    }
    assert_int_equal(write_graph(&graph, format, &out, &why), STATUS_OK);
    assert_string_equal(out.data, wanted);
    graph_release(&graph);
    buf_release(&out);
}

/* A property's local name is its longest end that can be one, whatever characters it has. */
static void
properties_are_cut_before_their_names(void **state)
{
    static const struct {
        const char *start, *local; /* no local name: the property is refused */
    } cases[] = {
        {"http://e/", "a"},
        {"http://e/", "z"},
        {"http://e/", "A"},
        {"http://e/", "Z"},
        {"http://e/", "_"},
        {"http://e/", "aAzZ09_-."},
        {"http://e/@", "p"},
        {"http://e/[", "p"},
        {"http://e/`", "p"},
        {"http://e/{", "p"},
        {"http://e/:", "p"},
        {"http://e/", "_0"},
        {"http://e/0", "a"},
        {"http://e/9-.", "a"},
        {"http://e/-", "a9-."},
        {"http://e/x\xc3\xa9", "p"},
        {"http://e/%41", "p"},
        {"http://e/%ab", "c"},
        {"http://e/%419-", "p"},
        {":", "p"},
        {"%ab", "p"},
        {"abc", ""},
        {"p", ""},
        {"", ""},
        {"http://e/%4", ""},
        {"http://e/%", ""},
        {"http://e/p%ab", ""},
        {"/", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char iri[64], wanted[256];
        struct buf out;
        struct reason why = {""};
        struct graph graph;
        graph_init(&graph, 0);
        buf_init(&out, TEXT_MOST);
        snprintf(iri, sizeof iri, "%s%s", cases[i].start, cases[i].local);
        const struct quad quad = {.subject = term_iri(SLICE("s")),
                                  .predicate = term_iri(slice_string(iri)),
                                  .object = term_iri(SLICE("o"))};
        assert_int_equal(graph_add(&graph, &quad, &why), STATUS_OK);
        const bool named = cases[i].local[0] != '\0';
        const enum status status = write_graph(&graph, RESULT_RDFXML, &out, &why);
        if (status != (named ? STATUS_OK : STATUS_UNSUPPORTED)) {
            fail_msg("%s: %s", iri, status_name(status));
        }
        if (named) {
            snprintf(wanted, sizeof wanted,
                     HEAD "<rdf:Description rdf:about=\"s\">\n"
                          "<n:%s xmlns:n=\"%s\" rdf:resource=\"o\"/>\n" TAIL,
                     cases[i].local, cases[i].start);
            assert_string_equal(out.data, wanted);
        }
        graph_release(&graph);
        buf_release(&out);
    }
}

/* Texts of no or one character, an IRI and a blank node of the same text, and labels that are no
 * names. */
static void
short_terms_have_their_text(void **state)
{
    const struct term p = term_iri(SLICE("e:p"));
    const struct term words = {.kind = TERM_LITERAL, .value = SLICE("v"), .language = SLICE("x")};
    const struct term typed = {.kind = TERM_LITERAL, .value = SLICE("w"), .datatype = SLICE("t")};
    const struct quad quads[] = {
        QUAD(term_iri(SLICE("")), p, words),
        QUAD(term_iri(SLICE("n")), p, typed),
        QUAD(term_blank(SLICE("n")), p, term_literal(SLICE(""))),
        QUAD(term_blank(SLICE("n")), p, term_blank(SLICE("a_\xc3\xa9.b-1"))),
        QUAD(term_iri(SLICE("n")), p, term_iri(SLICE(""))),
    };
    (void)state;
    writes_quads(quads, 5, RESULT_RDFXML,
                 HEAD "<rdf:Description rdf:about=\"\">\n"
                      "<n:p xmlns:n=\"e:\" xml:lang=\"x\">v</n:p>\n"
                      "</rdf:Description>\n<rdf:Description rdf:about=\"n\">\n"
                      "<n:p xmlns:n=\"e:\" rdf:datatype=\"t\">w</n:p>\n"
                      "</rdf:Description>\n<rdf:Description rdf:nodeID=\"bn\">\n"
                      "<n:p xmlns:n=\"e:\"></n:p>\n"
                      "<n:p xmlns:n=\"e:\" rdf:nodeID=\"ba_5f_c3_a9.b-1\"/>\n"
                      "</rdf:Description>\n<rdf:Description rdf:about=\"n\">\n"
                      "<n:p xmlns:n=\"e:\" rdf:resource=\"\"/>\n" TAIL);
    writes_quads(quads, 5, RESULT_JSONLD,
                 "[\n{\"@id\":\"\",\"e:p\":[{\"@value\":\"v\",\"@language\":\"x\"}]},\n"
                 "{\"@id\":\"n\",\"e:p\":[{\"@value\":\"w\",\"@type\":\"t\"}]},\n"
                 "{\"@id\":\"_:n\",\"e:p\":[{\"@value\":\"\"},"
                 "{\"@id\":\"_:a_\xc3\xa9.b-1\"}]},\n"
                 "{\"@id\":\"n\",\"e:p\":[{\"@id\":\"\"}]}\n]\n");
    /* What is a type of the node, and what only has that property. */
    const struct term type = term_iri(SLICE(RDF "type"));
    const struct quad types[] = {
        QUAD(term_iri(SLICE("n")), type, term_iri(SLICE("T"))),
        QUAD(term_iri(SLICE("n")), type, term_blank(SLICE("u"))),
        QUAD(term_iri(SLICE("n")), type, term_literal(SLICE("v"))),
        QUAD(term_iri(SLICE("n")), type, term_iri(SLICE("W"))),
        QUAD(term_iri(SLICE("m")), type, term_iri(SLICE("W"))),
    };
    writes_quads(types, 5, RESULT_JSONLD,
                 "[\n{\"@id\":\"n\",\"@type\":[\"T\"]},\n"
                 "{\"@id\":\"n\",\"" RDF "type\":[{\"@id\":\"_:u\"},{\"@value\":\"v\"}]},\n"
                 "{\"@id\":\"n\",\"@type\":[\"W\"]},\n"
                 "{\"@id\":\"m\",\"@type\":[\"W\"]}\n]\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_graphs_have_their_text),
        cmocka_unit_test(any_graph_is_read_as_it_was_written),
        cmocka_unit_test(what_xml_has_not_is_replaced),
        cmocka_unit_test(properties_without_a_name_are_refused),
        cmocka_unit_test(long_graphs_leave_in_pieces),
        cmocka_unit_test(properties_are_cut_before_their_names),
        cmocka_unit_test(short_terms_have_their_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
