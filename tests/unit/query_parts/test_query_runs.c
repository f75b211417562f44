/* What a run does around its operators: what it reports, how a sink ends it, which graphs it may
 * read, which nodes DESCRIBE tells, and that it forgets the terms of rows that are handed out. */
#include <string.h>

#include "tests/unit/query/query_case.h"

#define PREFIXES "PREFIX : <http://example.org/> "
enum { LONG_TERM = 1 << 20, TERMS_KEPT = 8 << 20, LONG_TERMS = 40 };

/* ---- a source that counts what is asked of it ---- */

static struct {
    struct memory_source *memory;
    const struct quad_source *base;
    struct quad_source source;
    uint64_t scans, open, read, alone; /* alone: scans for all quads of a subject */
    bool long_terms;
    size_t highest; /* bytes of resolved terms that were kept */
} bed;

static enum status
scan(void *context, const struct quad_oids *pattern, enum quad_order order, struct quad_scan **made,
     struct reason *why)
{
    assert_true(quad_is_of_source(pattern));
    TRY(bed.base->scan(context, pattern, order, made, why));
    bed.scans += why != NULL; /* else the planner only asks whether there is such an order */
    bed.alone += pattern->subject && !pattern->predicate && !pattern->object;
    bed.open++;
    return STATUS_OK;
}

static enum status
scan_next(struct quad_scan *of, struct quad_oids *rows, size_t most, size_t *n, struct reason *why)
{
    TRY(bed.base->scan_next(of, rows, most, n, why));
    bed.read += *n;
    return STATUS_OK;
}

static void
scan_close(struct quad_scan *of)
{
    bed.open--;
    bed.base->scan_close(of);
}

static enum status
resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    if (bed.long_terms) {
        assert_non_null(arena_alloc(arena, LONG_TERM));
        bed.highest = arena->used > bed.highest ? arena->used : bed.highest;
    }
    return bed.base->resolve(context, id, arena, term, why);
}

static void
open_bed(const char *trig)
{
    memset(&bed, 0, sizeof bed);
    bed.memory = query_case_source(trig);
    bed.base = memory_source_table(bed.memory);
    bed.source = *bed.base;
    bed.source.scan = scan;
    bed.source.scan_next = scan_next;
    bed.source.scan_close = scan_close;
    bed.source.resolve = resolve;
}

static void
close_bed(void)
{
    assert_int_equal(bed.open, 0);
    memory_source_free(bed.memory);
}

/* ---- a sink that notes what it is called for, and ends the run at one of the calls ---- */

static struct {
    unsigned calls, end_at; /* 0: none */
    enum status end;
    atomic_bool cancel;
    unsigned cancel_at;
    struct buf text;
} taken;

static enum status
take(struct reason *why)
{
    taken.calls++;
    if (taken.calls == taken.cancel_at) {
        taken.cancel = true;
    }
    if (taken.calls == taken.end_at) {
        return taken.end == STATUS_END ? STATUS_END
                                       : status_fail(why, taken.end, "the sink is full");
    }
    return STATUS_OK;
}

static void
note(const struct term *term)
{
    static const char *const starts[] = {
        [TERM_NONE] = "-", [TERM_IRI] = "<", [TERM_BLANK] = "_:", [TERM_LITERAL] = "\""};
    const size_t base = strlen(CASE_BASE);
    struct slice value = term->value;
    if (term->kind == TERM_IRI && value.length > base && !memcmp(value.at, CASE_BASE, base)) {
        value = slice_of(value.at + base, value.length - base);
        (void)buf_printf(&taken.text, ":%.*s ", SLICE_PRINT(value));
        return;
    }
    (void)buf_printf(&taken.text, "%s%.*s ", starts[term->kind], SLICE_PRINT(value));
}

static enum status
take_columns(void *context, const struct slice *names, size_t n, struct reason *why)
{
    (void)context;
    for (size_t i = 0; i < n; i++) {
        (void)buf_printf(&taken.text, "?%.*s ", SLICE_PRINT(names[i]));
    }
    (void)buf_append_string(&taken.text, "| ");
    return take(why);
}

static enum status
take_row(void *context, const struct term *terms, size_t n, struct reason *why)
{
    (void)context;
    for (size_t i = 0; i < n; i++) {
        note(&terms[i]);
    }
    (void)buf_append_string(&taken.text, "| ");
    return take(why);
}

static enum status
take_boolean(void *context, bool answer, struct reason *why)
{
    (void)context;
    (void)buf_append_string(&taken.text, answer ? "true " : "false ");
    return take(why);
}

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)context;
    assert_int_equal(quad->graph.kind, TERM_NONE);
    const struct term terms[] = {quad->subject, quad->predicate, quad->object};
    return take_row(NULL, terms, 3, why);
}

static enum status
run_with(const char *text, struct query_options options, const struct query_sink *sink,
         struct query_report *report, struct reason *why)
{
    struct query *query;
    char whole[1024];
    assert_true(snprintf(whole, sizeof whole, PREFIXES "%s", text) < (int)sizeof whole);
    if (query_prepare(&query, slice_string(whole), SLICE(CASE_BASE), why) != STATUS_OK) {
        fail_msg("%s: %s", text, why->text);
    }
    buf_reset(&taken.text);
    taken.calls = 0;
    taken.cancel = false;
    bed.scans = bed.read = bed.alone = 0;
    options.now_ms = 1700000000000;
    options.cancel = &taken.cancel;
    const enum status status = query_run(query, &bed.source, &options, sink, report, why);
    query_free(query);
    assert_int_equal(bed.open, 0);
    return status;
}

static const struct query_sink all_taken = {NULL,         take_columns, take_row,
                                            take_boolean, take_quad,    NULL};

static enum status
run(const char *text, struct query_options options, struct query_report *report, struct reason *why)
{
    memset(report, 0xA5, sizeof *report);
    return run_with(text, options, &all_taken, report, why);
}

static const char *
answer(void)
{
    return taken.text.length ? taken.text.data : "";
}

static void
answers(const char *text, struct query_options options, const char *wanted)
{
    struct query_report report;
    struct reason why = {""};
    if (run(text, options, &report, &why) != STATUS_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    if (strcmp(answer(), wanted) != 0) {
        fail_msg("%s: %s\nand not %s", text, answer(), wanted);
    }
}

/* ---- reports ---- */

#define FOUR ":a :p 1, 2, 3, 4 . :a :q _:b . _:b :r 5 .\n"

/* Rows are counted as they are handed out, and their end by options.rows is told only where there
 * would have been more. */
static void
reports_tell_rows_and_their_end(void **state)
{
    static const struct {
        const char *text;
        uint64_t all;
        bool columns;
    } cases[] = {
        {"SELECT ?o { :a :p ?o }", 4, true},
        {"CONSTRUCT { ?o :of :a } { :a :p ?n BIND(IRI(STR(?n)) AS ?o) }", 4, false},
        {"CONSTRUCT { :a :has ?o . [] :new ?o } { :a :p ?o }", 8, false},
        {"DESCRIBE :a", 6, false},
        {"DESCRIBE ?x { ?x :r 5 }", 1, false},
    };
    (void)state;
    open_bed("@prefix : <" CASE_BASE "> .\n" FOUR);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint64_t rows = 0; rows < cases[i].all + 2; rows++) {
            const struct query_options options = {.rows = rows};
            const bool some = rows > 0 && rows < cases[i].all;
            const uint64_t wanted = some ? rows : cases[i].all;
            struct query_report report;
            struct reason why = {""};
            assert_int_equal(run(cases[i].text, options, &report, &why), STATUS_OK);
            assert_int_equal(report.rows, wanted);
            assert_int_equal(taken.calls, wanted + cases[i].columns);
            assert_int_equal(report.truncated, some);
            assert_int_equal(report.scans, bed.scans);
            assert_int_equal(report.scanned, bed.read);
            assert_true(bed.read > 0);
            assert_int_equal(report.disk, 0);
            /* Nobody has to take anything; without a report nothing is told. */
            const struct query_sink nobody = {0};
            struct query_report same;
            assert_int_equal(run_with(cases[i].text, options, &nobody, &same, &why), STATUS_OK);
            assert_int_equal(same.rows, wanted);
            assert_int_equal(same.truncated, some);
            assert_int_equal(run_with(cases[i].text, options, &nobody, NULL, &why), STATUS_OK);
        }
    }
    struct query_report report;
    struct reason why = {""};
    assert_int_equal(run("ASK { :a :p 4 }", (struct query_options){0}, &report, &why), STATUS_OK);
    assert_string_equal(answer(), "true ");
    assert_false(report.truncated);
    answers("ASK { :a :p 5 }", (struct query_options){0}, "false ");
    const struct query_sink nobody = {0};
    assert_int_equal(run_with("ASK { :a :p 5 }", (struct query_options){0}, &nobody, NULL, &why),
                     STATUS_OK);
    close_bed();
}

/* The run ends at the call that says so, with its status and reason; STATUS_END is no failure. */
static void
sinks_end_runs(void **state)
{
    static const char *const texts[] = {
        "SELECT ?o { :a :p ?o }",
        "ASK { :a :p 1 }",
        "CONSTRUCT { :a :has ?o } { :a :p ?o }",
        "DESCRIBE :a",
        "DESCRIBE ?o { :a :p ?n . :a :q ?o }",
    };
    (void)state;
    open_bed("@prefix : <" CASE_BASE "> .\n" FOUR);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct query_report report;
        struct reason why = {""};
        const struct query_options options = {0};
        const bool columns = texts[i][0] == 'S';
        const bool rows = columns || texts[i][0] != 'A';
        assert_int_equal(run(texts[i], options, &report, &why), STATUS_OK);
        const unsigned calls = taken.calls;
        assert_true(calls > 0);
        for (taken.end_at = 1; taken.end_at <= calls; taken.end_at++) {
            taken.end = STATUS_END;
            assert_int_equal(run(texts[i], options, &report, &why), STATUS_OK);
            assert_int_equal(taken.calls, taken.end_at);
            assert_int_equal(report.rows, rows ? taken.end_at - columns : 0);
            taken.end = STATUS_FULL;
            assert_int_equal(run(texts[i], options, &report, &why), STATUS_FULL);
            assert_string_equal(why.text, "the sink is full");
            assert_int_equal(taken.calls, taken.end_at);
            assert_int_equal(report.rows, rows ? taken.end_at - columns : 0);
            assert_false(report.truncated);
            assert_int_equal(report.scans, bed.scans);
        }
        taken.end_at = 0;
    }
    close_bed();
}

/* ---- memory ---- */

/* Terms of rows that are handed out are forgotten once they are 8 MiB, whatever the form. */
static void
terms_are_forgotten(void **state)
{
    static const char *const texts[] = {
        "SELECT * { ?s :p ?o }",
        "CONSTRUCT { ?s :p ?o } { ?s :p ?o }",
        "DESCRIBE ?s { ?s :p ?o }",
        "ASK { ?s :p ?o FILTER(STRLEN(STR(?s)) > 1000) }",
        "SELECT (COUNT(*) AS ?n) { ?s :p ?o FILTER(STR(?s) != STR(?o)) }",
    };
    struct buf trig;
    (void)state;
    buf_init(&trig, 1 << 16);
    (void)buf_append_string(&trig, "@prefix : <" CASE_BASE "> .\n");
    for (unsigned i = 0; i < LONG_TERMS; i++) {
        (void)buf_printf(&trig, ":s%u :p :o%u .\n", i, i);
    }
    open_bed(trig.data);
    bed.long_terms = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct query_report report;
        struct reason why = {""};
        bed.highest = 0;
        assert_int_equal(run(texts[i], (struct query_options){0}, &report, &why), STATUS_OK);
        /* A row's own terms are kept until it is handed out. */
        if (bed.highest < TERMS_KEPT || bed.highest > TERMS_KEPT + 4 * LONG_TERM) {
            fail_msg("%s: %zu bytes of terms", texts[i], bed.highest);
        }
    }
    close_bed();
    buf_release(&trig);
}

/* ---- DESCRIBE ---- */

#define KNOWN                                  \
    "@prefix : <http://example.org/> .\n"      \
    ":a :p :b ; :q [ :r [ :t \"deep\" ] ] .\n" \
    ":b :p \"x\" . :c :p :c .\n"               \
    ":g1 { :a :p :b . :a :in 1 . }\n"          \
    ":g2 { :a :in 2 . :b :in 2 . }\n"

/* Each node once, in the order in which they were found, and blank nodes that they lead to. */
static void
described_nodes_come_once(void **state)
{
    static const struct {
        const char *text;
        const char *from; /* lines of a dataset */
        const char *only_default;
        const char *wanted;
        unsigned alone; /* scans of a node */
    } cases[] = {
        {"DESCRIBE :c", "", "", ":c :p :c | ", 1},
        {"DESCRIBE :c :none :b :c", "", "", ":c :p :c | :b :p \"x | :b :in \"2 | ", 2},
        {"DESCRIBE ?x :c { :c :p ?x }", "", "", ":c :p :c | ", 1},
        /* What the query computes is known to nobody. */
        {"DESCRIBE ?x ?y { :c :p ?x BIND(IRI(\"new\") AS ?y) }", "", "", ":c :p :c | ", 1},
        {"DESCRIBE ?y ?x { :c :p ?x OPTIONAL { ?x :none ?y } }", "", "", ":c :p :c | ", 1},
        {"DESCRIBE ?x { :b :in ?x }", "", "", "", 1},
        {"DESCRIBE ?x { :none :p ?x }", "", "", "", 0},
        /* In a dataset each of its graphs is asked, but for those that are nowhere. */
        {"DESCRIBE :a FROM :g1", "", "", ":a :p :b | :a :in \"1 | ", 1},
        {"DESCRIBE :a FROM :g2 FROM :g1", "", "", ":a :in \"2 | :a :p :b | :a :in \"1 | ", 2},
        {"DESCRIBE :a FROM :g1 FROM :none FROM :g1", "", "", ":a :p :b | :a :in \"1 | ", 1},
        {"DESCRIBE :a FROM :g1 FROM :g2 FROM :g2", "", "", ":a :p :b | :a :in \"1 | :a :in \"2 | ",
         2},
        {"DESCRIBE :a", CASE_BASE "g1\n" CASE_BASE "g2\n" CASE_BASE "g2\n", "",
         ":a :p :b | :a :in \"1 | :a :in \"2 | ", 2},
        {"DESCRIBE :a FROM :none", "", "", "", 0},
        {"DESCRIBE :a FROM NAMED :g1", "", "", "", 0},
        {"DESCRIBE :a", CASE_BASE "g1\n", "", ":a :p :b | :a :in \"1 | ", 1},
        {"DESCRIBE :a", CASE_BASE "g2\n" CASE_BASE "none\n" CASE_BASE "g1\n", "",
         ":a :in \"2 | :a :p :b | :a :in \"1 | ", 2},
        {"DESCRIBE :a", CASE_BASE "g2\n" CASE_BASE "g2\n", "", ":a :in \"2 | ", 1},
        {"DESCRIBE :a", "", CASE_BASE "g2", ":a :in \"2 | ", 1},
        {"DESCRIBE :a", "", CASE_BASE "none", "", 0},
    };
    (void)state;
    open_bed(KNOWN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct query_options options = {.graphs = slice_string(cases[i].from),
                                              .default_graph = slice_string(cases[i].only_default)};
        answers(cases[i].text, options, cases[i].wanted);
        assert_int_equal(bed.alone, cases[i].alone);
    }
    /* Triples of several graphs come once, those of blank nodes behind the nodes that are asked
     * for. */
    struct query_report report;
    struct reason why = {""};
    assert_int_equal(run("DESCRIBE :a :c", (struct query_options){0}, &report, &why), STATUS_OK);
    assert_int_equal(report.rows, 7);
    assert_int_equal(bed.scans, 4);
    const char *found = strstr(answer(), ":c :p :c | ");
    assert_non_null(found);
    assert_non_null(strstr(answer(), ":a :p :b | "));
    assert_true(strstr(answer(), ":a :q _:") < found);
    assert_non_null(strstr(found, " :r _:"));
    assert_true(strstr(found, " :t \"deep | ") > strstr(found, " :r _:"));
    close_bed();
}

/* Nodes of which there are more quads than are read at once are described whole. */
static void
large_nodes_are_described(void **state)
{
    enum { QUADS = 1000 };
    struct query_report report;
    struct reason why = {""};
    struct buf trig;
    (void)state;
    buf_init(&trig, 1 << 20);
    (void)buf_append_string(&trig, "@prefix : <" CASE_BASE "> .\n");
    for (unsigned i = 0; i < QUADS; i++) {
        (void)buf_printf(&trig, ":a :p%u %u . :g { :a :p%u %u . }\n", i % 7, i, i % 7, i);
    }
    open_bed(trig.data);
    assert_int_equal(run("DESCRIBE :a", (struct query_options){0}, &report, &why), STATUS_OK);
    assert_int_equal(report.rows, QUADS);
    assert_int_equal(report.scanned, 2 * QUADS);
    assert_int_equal(report.scans, 1);
    assert_true(report.memory >= QUADS * 3 * sizeof(oid));
    const struct query_options little = {.memory = 16 << 10};
    assert_int_equal(run("DESCRIBE :a", little, &report, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "DESCRIBE"));
    assert_int_equal(taken.calls, 0);
    close_bed();
    buf_release(&trig);
}

/* A query that is cancelled meanwhile reads no further node. */
static void
descriptions_are_cancelled(void **state)
{
    struct query_report report;
    struct reason why = {""};
    (void)state;
    open_bed("@prefix : <" CASE_BASE "> . :a :p 1 . :b :p 2, 3 . :c :p 4 .");
    for (taken.cancel_at = 1; taken.cancel_at <= 3; taken.cancel_at++) {
        assert_int_equal(run("DESCRIBE :a :b :c", (struct query_options){0}, &report, &why),
                         STATUS_CANCELLED);
        assert_int_equal(taken.calls, taken.cancel_at == 1 ? 1 : 3);
        assert_int_equal(bed.scans, taken.cancel_at == 1 ? 1 : 2);
    }
    taken.cancel_at = 0;
    close_bed();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_tell_rows_and_their_end),
        cmocka_unit_test(sinks_end_runs),
        cmocka_unit_test(terms_are_forgotten),
        cmocka_unit_test(described_nodes_come_once),
        cmocka_unit_test(large_nodes_are_described),
        cmocka_unit_test(descriptions_are_cancelled),
    };
    buf_init(&taken.text, 1 << 20);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    buf_release(&taken.text);
    return failed;
}
