/* Queries with so little memory that they go on in files answer as they do with much; merge joins
 * as others. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/query/query_case.h"

enum { SUBJECTS = 5000, OUTPUT = 64 << 20, LITTLE = 1 << 19 };

#define PREFIX "PREFIX : <http://example.org/> "

/* Rows of the ordered ones are compared in their order, of others sorted. */
static const struct {
    const char *query;
    bool ordered, spills;
} cases[] = {
    {PREFIX "SELECT ?s ?t ?n { ?s :text ?t ; :number ?n } ORDER BY ?t DESC(?n) ?s", true, true},
    {PREFIX "SELECT ?s ?m { ?s :mixed ?m } ORDER BY DESC(?m) ?s", true, true},
    {PREFIX "SELECT ?s ?t { ?s :text ?t } ORDER BY ?t ?s OFFSET 100 LIMIT 3000", true, true},
    {PREFIX "SELECT ?s ?t { ?s :text ?t } ORDER BY ?t ?s LIMIT 10", true, false},
    {PREFIX "SELECT DISTINCT ?s ?t ?n { ?s :text ?t ; :number ?n ; :group ?g }", false, true},
    {PREFIX "SELECT DISTINCT ?t ?n { ?s :text ?t ; :number ?n ; :next/:number ?m } ORDER BY ?m ?t",
     true, true},
    {PREFIX "SELECT ?n (COUNT(*) AS ?c) (SUM(?g) AS ?u) (MIN(?t) AS ?i) (MAX(?t) AS ?a) "
            "(AVG(?g) AS ?v) { ?s :number ?n ; :group ?g ; :text ?t } GROUP BY ?n",
     false, true},
    {PREFIX "SELECT ?n (GROUP_CONCAT(?t; separator='|') AS ?x) (COUNT(DISTINCT ?g) AS ?y) "
            "{ SELECT ?n ?t ?g { ?s :number ?n ; :text ?t ; :group ?g } ORDER BY ?t } GROUP BY ?n",
     false, true},
    {PREFIX "SELECT ?g (COUNT(DISTINCT ?s) AS ?x) (SUM(DISTINCT ?n) AS ?y) "
            "{ ?s :group ?g ; :number ?n } GROUP BY ?g",
     false, true},
    {PREFIX "SELECT (COUNT(DISTINCT ?t) AS ?x) (COUNT(DISTINCT *) AS ?y) { ?s :text ?t ; :number "
            "?n }",
     false, true},
    {PREFIX "SELECT ?g (COUNT(DISTINCT *) AS ?y) { ?s :group ?g ; :next ?n } GROUP BY ?g", false,
     true},
    {PREFIX "SELECT ?n (COUNT(DISTINCT *) AS ?y) (SAMPLE(?r) AS ?z) (MIN(?r) AS ?m) { ?s :number "
            "?n ; :text ?t OPTIONAL { ?s :rare ?r } } GROUP BY ?n",
     false, true},
    {PREFIX "SELECT ?t ?n { ?s :text ?t ; :number ?n } GROUP BY ?t ?n", false, true},
    /* Triples of several graphs of a set, which are too many to be remembered. */
    {PREFIX "SELECT ?s ?p ?o FROM <urn:x-test:default> FROM :g0 FROM :g500 { ?s ?p ?o }", false,
     false},
    {PREFIX "SELECT ?s ?p ?o FROM :g1000 FROM <urn:x-test:default> FROM :g500 { ?s ?p ?o }", false,
     false},
    {PREFIX "SELECT ?s ?p ?o { ?s ?p ?o }", false, false},
    {PREFIX "SELECT DISTINCT ?n { ?s :number ?n }", false, false},
    {PREFIX "SELECT ?s ?o { { SELECT ?s ?n { ?s :number ?n } } { SELECT ?o ?n { ?o :other ?n } } }",
     false, true},
    {PREFIX "SELECT ?a ?b { { SELECT ?a ?g { ?a :group ?g FILTER(?g < 2) } } "
            "{ SELECT ?b ?g { ?b :group ?g FILTER(?g < 2) } } }",
     false, false},
    {PREFIX "SELECT ?s ?n ?o { ?s :number ?n OPTIONAL { SELECT ?o ?n { ?o :other ?n . ?o :text ?t "
            "} } }",
     false, true},
    {PREFIX "SELECT ?s ?n ?o { ?s :number ?n ; :group ?g OPTIONAL { { SELECT ?o ?n ?h { ?o :other "
            "?n ; :group ?h } } FILTER(?g > ?h) } }",
     false, true},
    {PREFIX "SELECT ?s { ?s :number ?n MINUS { ?o :other ?n . ?o :group 3 } }", false, false},
    {PREFIX "SELECT ?s ?n { ?s :number ?n MINUS { ?s :next ?x . ?x :number ?y ; :text ?z } }",
     false, true},
    {PREFIX "SELECT ?s ?o { { SELECT ?s ?x { ?s :number ?n OPTIONAL { ?s :rare ?x } } } "
            "{ SELECT ?o ?x { ?o :group 1 OPTIONAL { ?o :rare ?x } } } FILTER(BOUND(?x)) }",
     false, false},
    {PREFIX "CONSTRUCT { ?n :of ?g . ?t :in ?g . ?s :is ?t } { ?s :number ?n ; :group ?g ; :text "
            "?t }",
     false, true},
    {PREFIX "SELECT (COUNT(?x) AS ?n) { ?s :text ?t ; :number ?m BIND(CONCAT(?t, '-', STR(?m)) AS "
            "?x) }",
     false, false},
    {PREFIX "SELECT DISTINCT ?x { ?s :text ?t ; :number ?m BIND(CONCAT(?t, '-', STR(?m), '-', ?t, "
            "?t, ?t, ?t, ?t, ?t, ?t, ?t, ?t, ?t, ?t, ?t, ?t) AS ?x) }",
     false, true},
};

static struct memory_source *
fill(void)
{
    struct buf text;
    buf_init(&text, OUTPUT);
    buf_append_string(&text, "@prefix : <http://example.org/> .\n");
    for (unsigned i = 0; i < SUBJECTS; i++) {
        const unsigned mixed = i * 7919u % SUBJECTS;
        buf_printf(&text,
                   ":s%u :number %u ; :other %u ; :group %u ; :text \"text %05u\" ; :next :s%u ; "
                   ":mixed %s%u%s .\n",
                   i, i / 2, mixed / 3, i % 13, mixed, (i + 1) % SUBJECTS,
                   i % 3 == 0   ? "\""
                   : i % 3 == 1 ? ""
                                : ":m",
                   mixed, i % 3 == 0 ? "\"" : "");
        if (i % 500 == 0) {
            buf_printf(&text, ":s%u :rare %u . :g%u { :s%u :number %u ; :text \"text %05u\" }\n", i,
                       i, i, i, i / 2, mixed);
        }
    }
    struct memory_source *source = query_case_source(text.data);
    buf_release(&text);
    return source;
}

static int
compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
sort_lines(struct buf *text)
{
    char **lines = malloc((text->length + 1) * sizeof *lines);
    size_t count = 0;
    char *copy = strdup(text->data), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));) {
        lines[count++] = line;
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    buf_reset(text);
    for (size_t i = 0; i < count; i++) {
        buf_printf(text, "%s\n", lines[i]);
    }
    free(copy);
    free(lines);
}

static enum status
run(struct memory_source *source, const char *text, const struct query_options *options,
    struct buf *out, struct query_report *report, struct reason *why)
{
    struct query *query;
    struct result_writer *writer;
    TRY(query_prepare(&query, slice_string(text), SLICE(CASE_BASE), why));
    result_writer_open(&writer,
                       query_form_of(query) == QUERY_CONSTRUCT ? RESULT_NTRIPLES : RESULT_TSV,
                       query_case_piece, out);
    enum status status = query_run(query, memory_source_table(source), options,
                                   result_writer_sink(writer), report, why);
    if (status == STATUS_OK) {
        status = result_writer_finish(writer, why);
    }
    result_writer_free(writer);
    query_free(query);
    return status;
}

static void
test_same_answers(void **state)
{
    struct memory_source *source = fill();
    struct buf much, little;
    (void)state;
    buf_init(&much, OUTPUT);
    buf_init(&little, OUTPUT);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query_report report = {0};
        struct reason why = {""};
        const struct query_options options = {.memory = LITTLE, .scratch_folder = "/tmp"};
        buf_reset(&much);
        buf_reset(&little);
        assert_int_equal(run(source, cases[i].query, &(struct query_options){0}, &much, NULL, &why),
                         STATUS_OK);
        if (run(source, cases[i].query, &options, &little, &report, &why) != STATUS_OK) {
            fail_msg("%s: %s", cases[i].query, why.text);
        }
        if (!cases[i].ordered) {
            sort_lines(&much);
            sort_lines(&little);
        }
        if (strcmp(much.data, little.data) != 0 || (cases[i].spills && report.disk == 0)) {
            fail_msg("%s: %zu and %zu bytes, %llu of files", cases[i].query, much.length,
                     little.length, (unsigned long long)report.disk);
        }
        assert_true(report.memory <= LITTLE);
    }
    buf_release(&much);
    buf_release(&little);
    memory_source_free(source);
}

/* A query that merges, and one that means the same and cannot. */
static const struct {
    const char *merged, *other;
} merges[] = {
    {PREFIX "SELECT * { ?a :other ?x . ?b :number ?x }",
     PREFIX "SELECT * { { SELECT ?a ?x { ?a :other ?x } } { SELECT ?b ?x { ?b :number ?x } } }"},
    {PREFIX "SELECT ?a ?x { ?a :next ?x . ?x :group 3 }",
     PREFIX "SELECT ?a ?x { { SELECT ?a ?x { ?a :next ?x } } { SELECT ?x { ?x :group 3 } } }"},
    {PREFIX "SELECT ?a ?x FROM <urn:x-test:default> { ?a :next ?x . ?x :group 3 }",
     PREFIX "SELECT ?a ?x FROM <urn:x-test:default> { { SELECT ?a ?x { ?a :next ?x } } { SELECT ?x "
            "{ ?x :group 3 } } }"},
    {PREFIX "SELECT (COUNT(*) AS ?n) { ?a :group ?x . ?b :group ?x }", PREFIX
     "SELECT (SUM(?c * ?c) AS ?n) { { SELECT (COUNT(*) AS ?c) { ?a :group ?x } GROUP BY ?x } "
     "}"},
    {PREFIX "SELECT * { ?a :other ?y . ?b :number ?y . ?c :other ?y }",
     PREFIX "SELECT * { { SELECT ?a ?y { ?a :other ?y } } { SELECT ?b ?y { ?b :number ?y } } "
            "{ SELECT ?c ?y { ?c :other ?y } } }"},
};

static void
test_merge_joins(void **state)
{
    struct memory_source *source = fill();
    struct buf text[2];
    struct reason why = {""};
    (void)state;
    buf_init(&text[0], OUTPUT);
    buf_init(&text[1], OUTPUT);
    for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) {
        struct query *query;
        const struct query_options options = {.memory = LITTLE, .scratch_folder = "/tmp"};
        buf_reset(&text[0]);
        assert_int_equal(
            query_prepare(&query, slice_string(merges[i].merged), SLICE(CASE_BASE), &why),
            STATUS_OK);
        assert_int_equal(
            query_explain(query, memory_source_table(source), &options, false, &text[0], &why),
            STATUS_OK);
        query_free(query);
        if (!strstr(text[0].data, "merge join by ?")) {
            fail_msg("%s: %s", merges[i].merged, text[0].data);
        }
        for (int k = 0; k < 2; k++) {
            buf_reset(&text[k]);
            assert_int_equal(
                run(source, k ? merges[i].other : merges[i].merged, &options, &text[k], NULL, &why),
                STATUS_OK);
            sort_lines(&text[k]);
        }
        if (strcmp(text[0].data, text[1].data) != 0) {
            fail_msg("%s: %zu and %zu bytes", merges[i].merged, text[0].length, text[1].length);
        }
    }
    buf_release(&text[0]);
    buf_release(&text[1]);
    memory_source_free(source);
}

static void
test_limits(void **state)
{
    struct memory_source *source = fill();
    struct buf out;
    struct reason why = {""};
    atomic_bool cancel = false;
    struct query_options options = {
        .memory = LITTLE, .scratch_folder = "/tmp", .disk = 100000, .cancel = &cancel};
    (void)state;
    buf_init(&out, OUTPUT);
    assert_int_equal(run(source, cases[0].query, &options, &out, NULL, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "the query needs more than its 0 MiB of temporary files");
    options.disk = 0;
    options.scratch_folder = "/nowhere";
    assert_int_equal(run(source, cases[0].query, &options, &out, NULL, &why), STATUS_SYSTEM);
    options.scratch_folder = NULL;
    assert_int_equal(run(source, cases[0].query, &options, &out, NULL, &why), STATUS_LIMIT);
    options.scratch_folder = "/tmp";
    options.timeout_ms = 1;
    assert_int_equal(run(source, cases[0].query, &options, &out, NULL, &why), STATUS_TIMEOUT);
    cancel = true;
    assert_int_equal(run(source, cases[0].query, &options, &out, NULL, &why), STATUS_CANCELLED);
    buf_release(&out);
    memory_source_free(source);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_answers),
        cmocka_unit_test(test_merge_joins),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
