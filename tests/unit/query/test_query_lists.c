/* Lists of nodes that queries keep: what they give is what the triples give, the first time and
 * again, and the second time none of these is read. */
#include "tests/unit/query/query_case.h"

enum { NODES = 300, MANY = 2400 };
#define PREFIXES "PREFIX : <http://example.org/> "

/* Each node has one to three classes, most in two graphs, a name and a number, and is known by
 * others. :many has so many values that they become rows as they are read, :some more than are kept
 * for a node. */
static struct memory_source *
make_source(void)
{
    struct buf trig;
    buf_init(&trig, 1 << 22);
    (void)buf_append_string(&trig, "@prefix : <http://example.org/> .\n");
    for (int graph = 0; graph < 2; graph++) {
        (void)buf_printf(&trig, ":g%d {\n", graph);
        for (int i = graph; i < NODES; i += 1 + graph) {
            (void)buf_printf(&trig, ":n%d a :C%d , :C%d , :C%d ; :knows :n%d , :n%d .\n", i, i % 3,
                             i % 5, i % 2, (i + 1) % NODES, i % 7);
            (void)buf_printf(&trig, ":n%d :name \"%d\" ; :v %d .\n", i, i, i % 11);
        }
        (void)buf_append_string(&trig, "}\n");
    }
    for (int i = 0; i < MANY; i++) {
        (void)buf_printf(&trig, ":many a :Big ; :has %d . :n%d :of :many .\n", i, i);
        if (i % 2 == 0) {
            (void)buf_printf(&trig, ":g1 { :many :has %d . :n%d :of :many ; :to :many . }\n", i, i);
        }
    }
    for (int i = 0; i < MANY / 4; i++) {
        (void)buf_printf(&trig, ":some :has %d . :n%d :of :some .\n", i, i);
    }
    struct memory_source *source = query_case_source(trig.data);
    buf_release(&trig);
    return source;
}

/* A list is read where the rows before are few. */
#define FEW "VALUES ?a { :n0 :n1 :n2 :n1 :n77 :n250 :none 7 :many :some :many } "
static const struct {
    const char *text;
    bool anew; /* triples are read again */
} asked[] = {
    {"SELECT ?c (COUNT(*) AS ?n) { " FEW "?a a ?c } GROUP BY ?c ORDER BY ?c", false},
    {"SELECT ?c (COUNT(*) AS ?n) { " FEW "?a :knows ?b . ?b a ?c } GROUP BY ?c ORDER BY ?c", false},
    {"SELECT ?b ?c (COUNT(*) AS ?n) { " FEW "?a :knows ?b . ?b a ?c } GROUP BY ?b ?c "
     "ORDER BY ?b ?c",
     false},
    {"SELECT (COUNT(*) AS ?n) { " FEW "?a a ?c }", false},
    {"SELECT ?a (COUNT(?b) AS ?n) { " FEW "?b :knows ?a } GROUP BY ?a ORDER BY ?a", false},
    {"SELECT ?b (COUNT(*) AS ?n) { " FEW "?b :knows ?a } GROUP BY ?b ORDER BY ?b", false},
    {"SELECT ?a ?c { " FEW "?a a ?c } ORDER BY ?a ?c", false},
    {"SELECT ?c (SUM(?v) AS ?n) { " FEW "?a a ?c ; :v ?v } GROUP BY ?c ORDER BY ?c", false},
    {"SELECT DISTINCT ?c { " FEW "?a :knows/:knows ?b . ?b a ?c } ORDER BY ?c", false},
    {"SELECT ?p (COUNT(*) AS ?n) { " FEW "?a ?p ?o } GROUP BY ?p ORDER BY ?p", false},
    {"SELECT (COUNT(*) AS ?n) { " FEW "?a ?p ?o FILTER(isLiteral(?o)) }", false},
    {"SELECT ?p (COUNT(*) AS ?n) { " FEW "?a ?p ?o FILTER(isIRI(?o) && ?p != :knows) } GROUP BY ?p "
     "ORDER BY ?p",
     false},
    {"SELECT ?p (COUNT(*) AS ?n) { " FEW "?b ?p ?a FILTER(isBlank(?b)) } GROUP BY ?p", false},
    {"SELECT ?c (COUNT(*) AS ?n) { " FEW "?a :knows ?c FILTER(isURI(?c)) } GROUP BY ?c ORDER BY ?c",
     false},
    {"SELECT (COUNT(*) AS ?n) { " FEW "?a ?p ?o FILTER(!isLiteral(?o)) }", true},
    {"SELECT (COUNT(*) AS ?n) { " FEW "?a ?p ?o FILTER(isIRI(?o)) ?o a ?c }", true},
    {"SELECT (COUNT(*) AS ?n) { " FEW "?a ?p ?o FILTER(isIRI(?o)) FILTER(?o != :n1) }", true},
    {"SELECT (COUNT(*) AS ?n) { " FEW "?a :has ?c }", true},
    {"SELECT ?a (COUNT(*) AS ?n) { " FEW "?b :of ?a } GROUP BY ?a ORDER BY ?a", true},
    {"SELECT ?b (COUNT(*) AS ?n) { " FEW "?b :of ?a } GROUP BY ?b ORDER BY ?b", true},
    {"SELECT ?a ?v { " FEW "?a :has ?v } ORDER BY ?a ?v", true},
    {"SELECT (COUNT(*) AS ?n) { " FEW "?a :has ?v FILTER(isLiteral(?v)) }", true},
    {"SELECT (COUNT(*) AS ?n) { " FEW "?a :knows ?b . ?b :knows ?a }", true},
    {"SELECT ?a ?c { " FEW "OPTIONAL { ?a :knows ?b . ?b a ?c } } ORDER BY ?a ?c", false},
    {"SELECT ?a { " FEW "FILTER EXISTS { ?a :knows ?b . ?b a :C1 } } ORDER BY ?a", true},
    {"SELECT ?a ?c { " FEW "?a a ?c } LIMIT 1", true},
    {"SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { " FEW "?a a ?c } } GROUP BY ?g ORDER BY ?g", true},
};

static struct quad_source plain;

static enum term_kind
kind_of(oid id)
{
    struct arena arena;
    struct term term;
    arena_init(&arena, 0);
    assert_int_equal(plain.resolve(plain.context, id, &arena, &term, NULL), STATUS_OK);
    arena_release(&arena);
    return term.kind;
}

/* Returns how many quads were read. */
static uint64_t
ask(const struct quad_source *source, const char *text, struct buf *out)
{
    struct query *query;
    struct result_writer *writer;
    struct query_report report;
    const struct query_options options = {0};
    struct reason why = {{0}};
    char *whole = NULL;
    assert_true(asprintf(&whole, PREFIXES "%s", text) > 0);
    buf_reset(out);
    if (query_prepare(&query, slice_string(whole), SLICE(""), &why) != STATUS_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    result_writer_open(&writer, RESULT_TSV, query_case_piece, out);
    const enum status status =
        query_run(query, source, &options, result_writer_sink(writer), &report, &why);
    if (status != STATUS_OK || result_writer_finish(writer, &why) != STATUS_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    result_writer_free(writer);
    query_free(query);
    free(whole);
    return report.scanned;
}

static void
test_lists_say_what_triples_do(void **state)
{
    struct buf read, kept;
    (void)state;
    buf_init(&read, 1 << 20);
    buf_init(&kept, 1 << 20);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct memory_source *memory = make_source();
        plain = *memory_source_table(memory);
        struct quad_source keeping = plain;
        keeping.kind = kind_of;
        plain.recall_lists = NULL;
        (void)ask(&plain, asked[i].text, &read);
        for (int again = 0; again < 2; again++) {
            const uint64_t scanned = ask(&keeping, asked[i].text, &kept);
            if (strcmp(read.data, kept.data) != 0) {
                fail_msg("%s: %s, and not %s", asked[i].text, kept.data, read.data);
            }
            if (again && (scanned > 0) != asked[i].anew) {
                fail_msg("%s: %llu read again", asked[i].text, (unsigned long long)scanned);
            }
        }
        memory_source_free(memory);
    }
    buf_release(&read);
    buf_release(&kept);
}

/* Lists are of the state of the index that they were read of. */
static void
test_lists_end_with_a_change(void **state)
{
    const char *text = "SELECT (COUNT(*) AS ?n) { VALUES ?a { :n4 :n5 } ?a a ?c }";
    struct memory_source *memory = make_source();
    struct buf out;
    (void)state;
    buf_init(&out, 1 << 16);
    (void)ask(memory_source_table(memory), text, &out);
    assert_string_equal(out.data, "?n\n6\n");
    const struct quad more = {term_iri(SLICE("http://example.org/n4")),
                              term_iri(SLICE("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")),
                              term_iri(SLICE("http://example.org/D")),
                              term_iri(SLICE("http://example.org/g1"))};
    assert_int_equal(memory_source_add(memory, &more, NULL), STATUS_OK);
    assert_true(ask(memory_source_table(memory), text, &out) > 0);
    assert_string_equal(out.data, "?n\n7\n");
    buf_release(&out);
    memory_source_free(memory);
}

/* Where only its number is asked, a long list is read once, however many rows ask for it. */
static void
test_long_lists_are_counted_once(void **state)
{
    const char *text = "SELECT (COUNT(*) AS ?n) { ?b :of ?a OPTIONAL { ?a a :Big OPTIONAL "
                       "{ ?a :has ?v } } }";
    struct memory_source *memory = make_source();
    struct quad_source source = *memory_source_table(memory);
    struct buf out;
    (void)state;
    buf_init(&out, 1 << 16);
    source.count_triples = NULL;
    assert_in_range(ask(&source, text, &out), MANY, 20 * MANY);
    assert_string_equal(out.data, "?n\n5760600\n"); /* MANY * MANY + MANY / 4 */
    buf_release(&out);
    memory_source_free(memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_lists_are_counted_once),
                                       cmocka_unit_test(test_lists_say_what_triples_do),
                                       cmocka_unit_test(test_lists_end_with_a_change)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
