/* The graphs that a run may read, however many and however they are told; what templates make of
 * solutions; and the text of plans. */
#include <string.h>

#include "tests/unit/query/query_case.h"
#include "tests/unit/scratch.h"

#define PREFIXES "PREFIX : <http://example.org/> "
enum { GRAPHS = 120, SPILLED = 12000, LONG_TERM = 64 << 10, TERMS_KEPT = 8 << 20 };

/* ---- datasets of many graphs ---- */

/* Graph gN has the number N, and a text that all of them have. */
static struct memory_source *
numbered_graphs(void)
{
    struct buf trig;
    buf_init(&trig, 1 << 20);
    (void)buf_append_string(&trig, "@prefix : <" CASE_BASE "> .\n");
    for (unsigned i = 0; i < GRAPHS; i++) {
        (void)buf_printf(&trig, ":g%u { :s :p %u . :s :p \"all\" . }\n", i, i);
    }
    struct memory_source *source = query_case_source(trig.data);
    buf_release(&trig);
    return source;
}

/* The graphs from the first on before the second, some twice, and some that are nowhere. */
struct graph_range {
    unsigned from, to;
};

static void
add_graphs(struct buf *text, const char *before, struct graph_range range, const char *after)
{
    for (unsigned i = range.from; i < range.to; i++) {
        (void)buf_printf(text, "%s" CASE_BASE "g%u%s", before, i, after);
        (void)buf_printf(text, "%s" CASE_BASE "g%u%s", before,
                         range.from + i * 7 % (range.to - range.from), after);
        (void)buf_printf(text, "%s" CASE_BASE "none%u%s", before, i % 2, after);
    }
    (void)buf_append_string(text, "");
}

struct numbers {
    unsigned of[GRAPHS], texts, rows;
};

static enum status
take_number(void *context, const struct term *terms, size_t n, struct reason *why)
{
    struct numbers *numbers = context;
    (void)why;
    assert_int_equal(n, 1);
    numbers->rows++;
    if (slice_is(terms[0].value, "all")) {
        numbers->texts++;
    } else {
        const unsigned long number = strtoul(terms[0].value.at, NULL, 10);
        assert_true(number < GRAPHS);
        numbers->of[number]++;
    }
    return STATUS_OK;
}

static void
ask_numbers(struct memory_source *source, const char *from, const char *pattern,
            const struct query_options *options, struct graph_range wanted, unsigned texts)
{
    struct buf text;
    struct query *query;
    struct reason why = {""};
    struct numbers numbers = {.rows = 0};
    const struct query_sink sink = {.context = &numbers, .row = take_number};
    buf_init(&text, 1 << 20);
    (void)buf_printf(&text, PREFIXES "SELECT ?o %s { %s }", from, pattern);
    assert_int_equal(query_prepare(&query, buf_slice(&text), SLICE(CASE_BASE), &why), STATUS_OK);
    assert_int_equal(query_run(query, memory_source_table(source), options, &sink, NULL, &why),
                     STATUS_OK);
    for (unsigned i = 0; i < GRAPHS; i++) {
        if (numbers.of[i] != (i >= wanted.from && i < wanted.to)) {
            fail_msg("%s: graph %u of %u to %u: %u", pattern, i, wanted.from, wanted.to,
                     numbers.of[i]);
        }
    }
    assert_int_equal(numbers.texts, texts);
    query_free(query);
    buf_release(&text);
}

static const char in_default[] = "?s :p ?o", in_named[] = "GRAPH ?g { ?s :p ?o }";

/* In the default graph a triple is there once, among the named ones in each. */
static void
ask_both(struct memory_source *source, const char *from, const struct query_options *options,
         struct graph_range in, struct graph_range named)
{
    ask_numbers(source, from, in_default, options, in, in.to > in.from);
    ask_numbers(source, from, in_named, options, named, named.to - named.from);
}

static void
datasets_have_their_graphs(void **state)
{
    static const struct {
        struct graph_range in, named;
    } cases[] = {
        {{0, GRAPHS}, {0, GRAPHS}}, {{5, 6}, {0, 0}},      {{0, 0}, {7, 8}},    {{3, 4}, {4, 5}},
        {{10, 12}, {9, 11}},        {{30, 95}, {20, 111}}, {{0, 64}, {60, 61}},
    };
    struct memory_source *source = numbered_graphs();
    const struct graph_range all = {0, GRAPHS};
    struct buf in, named, from;
    (void)state;
    buf_init(&in, 1 << 20);
    buf_init(&named, 1 << 20);
    buf_init(&from, 1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&in);
        buf_reset(&named);
        buf_reset(&from);
        add_graphs(&in, "", cases[i].in, "\n");
        add_graphs(&named, "", cases[i].named, "\n");
        add_graphs(&from, "FROM <", cases[i].in, "> ");
        add_graphs(&from, "FROM NAMED <", cases[i].named, "> ");
        struct query_options options = {.now_ms = 1};
        ask_both(source, from.data, &options, cases[i].in, cases[i].named);
        /* The query's own dataset stands before a default graph, one from outside before both. */
        options.default_graph = SLICE(CASE_BASE "g119");
        ask_both(source, from.data, &options, cases[i].in, cases[i].named);
        options.graphs = buf_slice(&in);
        options.named_graphs = buf_slice(&named);
        ask_both(source, "", &options, cases[i].in, cases[i].named);
        ask_both(source, "FROM :g118 FROM NAMED :g117", &options, cases[i].in, cases[i].named);
        /* One graph that is all there is stands before them all. */
        options.only_graph = SLICE(CASE_BASE "g2");
        const struct graph_range two = {2, 3};
        ask_both(source, "FROM :g118 FROM NAMED :g117", &options, two, two);
        options.only_graph = SLICE(CASE_BASE "none");
        const struct graph_range none = {0, 0};
        ask_both(source, from.data, &options, none, none);
    }
    const struct query_options plain = {.now_ms = 1};
    ask_both(source, "", &plain, all, all);
    /* GRAPH does not see the one that is the default. */
    const struct query_options last = {.default_graph = SLICE(CASE_BASE "g119")};
    const struct graph_range one = {119, GRAPHS}, others = {0, 119};
    ask_both(source, "", &last, one, others);
    const struct query_options nowhere = {.default_graph = SLICE(CASE_BASE "none")};
    const struct graph_range no_graph = {0, 0};
    ask_both(source, "", &nowhere, no_graph, all);
    buf_release(&in);
    buf_release(&named);
    buf_release(&from);
    memory_source_free(source);
}

/* ---- templates ---- */

/* Each triple once, in the order of solutions and templates; what is no triple is left out. */
static void
templates_make_triples(void **state)
{
#define E "http://example.org/"
    static const struct query_case cases[] = {
        {PREFIXES "CONSTRUCT { :x :has ?v } { VALUES ?v { 1 1 :y 1 } }",
         "<" E "x> <" E "has> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"
         "<" E "x> <" E "has> <" E "y> .\n"},
        /* Two templates of the same triple, and one of a triple that another solution made. */
        {PREFIXES "CONSTRUCT { ?a :p ?b . :x :p ?b . ?b :p ?a } "
                  "{ VALUES (?a ?b) { (:x :y) (:y :x) (:z :y) } }",
         "<" E "x> <" E "p> <" E "y> .\n<" E "y> <" E "p> <" E "x> .\n"
         "<" E "x> <" E "p> <" E "x> .\n<" E "z> <" E "p> <" E "y> .\n"
         "<" E "y> <" E "p> <" E "z> .\n"},
        /* A new node for each solution, the same within one. */
        {PREFIXES "CONSTRUCT { ?a :p ?b . _:n :p ?b . ?a :p _:n . _:n :q _:m . _:n :q _:m } "
                  "{ VALUES (?a ?b) { (:x :y) (:x :y) } }",
         "<" E "x> <" E "p> <" E "y> .\n_:new0x0 <" E "p> <" E "y> .\n"
         "<" E "x> <" E "p> _:new0x0 .\n_:new0x0 <" E "q> _:new0x1 .\n"
         "_:new0x0 <" E "q> _:new0x1 .\n"
         "_:new1x0 <" E "p> <" E "y> .\n<" E "x> <" E "p> _:new1x0 .\n"
         "_:new1x0 <" E "q> _:new1x1 .\n_:new1x0 <" E "q> _:new1x1 .\n"},
        /* No literal is a subject, only an IRI a predicate, and all three are bound. */
        {PREFIXES "CONSTRUCT { ?a ?b ?c } { VALUES (?a ?b ?c) { (1 :p :o) (:s 1 :o) (UNDEF :p :o) "
                  "(:s UNDEF :o) (:s :p UNDEF) (:s :p 'o') } }",
         "<" E "s> <" E "p> \"o\" .\n"},
        {PREFIXES "CONSTRUCT { ?s ?n ?s . ?n :p ?s . ?s :p ?n } { ?s :label ?n }",
         "_:b <" E "p> \"n\" .\n"},
        {PREFIXES "CONSTRUCT { ?s ?s ?n } { ?s :label ?n }", ""},
        {PREFIXES "CONSTRUCT { :a :p :b } { ?s :none ?n }", ""},
        {PREFIXES "CONSTRUCT { :a :p :b } {}", "<" E "a> <" E "p> <" E "b> .\n"},
        {PREFIXES "CONSTRUCT {} { ?s ?p ?o }", ""},
    };
    (void)state;
    QUERY_CASES("@prefix : <" CASE_BASE "> . _:b :label \"n\" .", NULL, cases);
    static const struct query_case named[] = {
        {"CONSTRUCT { _:a <e:p> _:b } { VALUES ?v { 1 2 } }",
         "_:of0x0 <e:p> _:of0x1 .\n_:of1x0 <e:p> _:of1x1 .\n"}};
    const struct query_options options = {.blank_prefix = SLICE("of"), .now_ms = 1};
    QUERY_CASES("", &options, named);
}

struct constructed {
    unsigned of[SPILLED], rows;
};

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct constructed *constructed = context;
    (void)why;
    constructed->rows++;
    assert_int_equal(quad->graph.kind, TERM_NONE);
    assert_true(slice_is(quad->predicate.value, CASE_BASE "is"));
    assert_true(slice_is(quad->subject.value, CASE_BASE "x"));
    constructed->of[strtoul(quad->object.value.at, NULL, 10)]++;
    return STATUS_OK;
}

/* So it is where it takes files to tell which triples have been there; and options.rows ends it
 * there, too. */
static void
templates_make_triples_in_little_memory(void **state)
{
    struct buf trig;
    struct query *query;
    struct reason why = {""};
    char folder[SCRATCH_SIZE];
    static struct constructed found;
    (void)state;
    assert_true(scratch_folder(folder, "test_query_datasets"));
    buf_init(&trig, 4 << 20);
    (void)buf_append_string(&trig, "@prefix : <" CASE_BASE "> .\n");
    for (unsigned i = 0; i < SPILLED; i++) {
        (void)buf_printf(&trig, ":s%u :p %u ; :q %u .\n", i, i, (i + 1) % SPILLED);
    }
    struct memory_source *source = query_case_source(trig.data);
    assert_int_equal(query_prepare(&query, SLICE(PREFIXES "CONSTRUCT { :x :is ?o } { ?s ?p ?o }"),
                                   SLICE(CASE_BASE), &why),
                     STATUS_OK);
    const struct query_sink sink = {.context = &found, .quad = take_quad};
    for (unsigned little = 0; little < 2; little++) {
        for (uint64_t rows = 0; rows <= SPILLED + 1; rows += rows ? SPILLED / 2 - 1 : 2) {
            struct query_report report;
            const struct query_options options = {
                .memory = little ? 512 << 10 : 0, .scratch_folder = folder, .rows = rows};
            memset(&found, 0, sizeof found);
            assert_int_equal(
                query_run(query, memory_source_table(source), &options, &sink, &report, &why),
                STATUS_OK);
            const unsigned wanted = rows > 0 && rows < SPILLED ? (unsigned)rows : SPILLED;
            assert_int_equal(found.rows, wanted);
            assert_int_equal(report.rows, wanted);
            assert_true(little && wanted == SPILLED ? report.disk > 0 : report.disk == 0 || little);
            for (unsigned i = 0; i < SPILLED; i++) {
                assert_true(found.of[i] == 1 || (found.of[i] == 0 && wanted < SPILLED));
            }
            if (rows > 0 && rows < SPILLED) {
                assert_true(report.truncated);
            }
        }
    }
    query_free(query);
    memory_source_free(source);
    buf_release(&trig);
    assert_int_equal(rmdir(folder), 0);
}

static const struct quad_source *resolving;
static size_t highest; /* bytes of resolved terms that were kept */

static enum status
resolve_long(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    assert_non_null(arena_alloc(arena, LONG_TERM));
    highest = arena->used > highest ? arena->used : highest;
    return resolving->resolve(context, id, arena, term, why);
}

/* Terms that are handed out are forgotten, those of triples that waited in files, too; and nobody
 * has to take them. */
static void
terms_of_triples_that_waited_are_forgotten(void **state)
{
    struct buf trig;
    struct query *query;
    struct reason why = {""};
    struct query_report report;
    static struct constructed found;
    (void)state;
    buf_init(&trig, 4 << 20);
    (void)buf_append_string(&trig, "@prefix : <" CASE_BASE "> .\n");
    for (unsigned i = 0; i < SPILLED; i++) {
        (void)buf_printf(&trig, ":s%u :p %u .\n", i, i);
    }
    struct memory_source *memory = query_case_source(trig.data);
    resolving = memory_source_table(memory);
    struct quad_source source = *resolving;
    source.resolve = resolve_long;
    assert_int_equal(query_prepare(&query, SLICE(PREFIXES "CONSTRUCT { :x :is ?o } { ?s ?p ?o }"),
                                   SLICE(CASE_BASE), &why),
                     STATUS_OK);
    for (unsigned taken = 0; taken < 2; taken++) {
        const struct query_sink sink = {.context = &found, .quad = taken ? take_quad : NULL};
        const struct query_options options = {.memory = 512 << 10, .scratch_folder = "/tmp"};
        memset(&found, 0, sizeof found);
        highest = 0;
        assert_int_equal(query_run(query, &source, &options, &sink, &report, &why), STATUS_OK);
        assert_int_equal(report.rows, SPILLED);
        assert_true(report.disk > 0);
        assert_int_equal(found.rows, taken ? SPILLED : 0);
        assert_in_range(highest, TERMS_KEPT, TERMS_KEPT + 4 * LONG_TERM);
    }
    query_free(query);
    memory_source_free(memory);
    buf_release(&trig);
}

/* ---- plans ---- */

/* A clock that goes on by a millisecond whenever it is looked at. */
uint64_t __wrap_clock_monotonic_us(void);
uint64_t
__wrap_clock_monotonic_us(void)
{
    static uint64_t now = 5000000;
    now += 1000;
    return now;
}

static unsigned failing_scans;

static enum status
fail_scan(void *context, const struct quad_oids *pattern, enum quad_order order,
          struct quad_scan **scan, struct reason *why)
{
    (void)context;
    (void)pattern;
    (void)order;
    *scan = NULL;
    failing_scans++;
    return status_fail(why, STATUS_SYSTEM, "a fault of the test");
}

static enum status
explain_text(const char *text, const struct quad_source *source, bool measured, struct buf *out,
             struct reason *why)
{
    struct query *query;
    const struct query_options options = {.now_ms = 1};
    char whole[512];
    snprintf(whole, sizeof whole, PREFIXES "%s", text);
    assert_int_equal(query_prepare(&query, slice_string(whole), SLICE(CASE_BASE), why), STATUS_OK);
    buf_reset(out);
    const enum status status = query_explain(query, source, &options, measured, out, why);
    query_free(query);
    return status;
}

/* One line for each step, the last one first, pipelines inside of others further right; with rows
 * and times where it was evaluated. */
static void
plans_are_explained(void **state)
{
    static const struct {
        const char *text;
        unsigned rows; /* of the last step */
        bool inside;   /* there are pipelines inside */
    } cases[] = {
        {"SELECT * { ?s :knows ?o }", 4, false},
        {"SELECT * { ?s :knows ?o } LIMIT 3", 3, false},
        {"SELECT * { ?s :name ?n OPTIONAL { ?s :mail ?m . ?s :age ?a FILTER(?a > 1) } }", 3, true},
        {"SELECT * { ?s :name ?n FILTER NOT EXISTS { ?s :knows/:mail ?m } }", 2, true},
        {"SELECT * { { ?s :name ?n } UNION { ?s :age ?n } }", 5, true},
        {"ASK { ?s :name ?n }", 1, false},
        {"SELECT (COUNT(*) AS ?all) { ?s :name ?n }", 1, false},
    };
    struct memory_source *source = query_case_source(QUERY_PEOPLE);
    struct buf out;
    struct reason why = {""};
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        const bool measured = i % 2;
        unsigned lines = 0, inside = 0;
        double all = -1, own = 0;
        buf_init(&out, 1 << 20);
        assert_int_equal(
            explain_text(cases[i / 2].text, memory_source_table(source), measured, &out, &why),
            STATUS_OK);
        char *next = NULL;
        for (char *line = strtok_r(out.data, "\n", &next); line;
             line = strtok_r(NULL, "\n", &next), lines++) {
            if (lines == 0) {
                assert_string_equal(line, "last step first");
                continue;
            }
            if (strncmp(line, "in all ", 7) == 0) {
                assert_true(measured);
                assert_null(strtok_r(NULL, "\n", &next));
                assert_int_equal(sscanf(line, "in all %lf ms, ", &all), 1);
                assert_in_range((unsigned)all, 2, 4999);
                assert_non_null(strstr(line, " quads read in "));
                lines++;
                break;
            }
            const size_t depth = strspn(line, " ");
            assert_int_equal(depth % 2, 0);
            inside += depth > 0;
            assert_true(strncmp(line + depth, "unit", 4) && strncmp(line + depth, "seed", 4));
            const char *about = strstr(line, " (about ");
            assert_non_null(about);
            unsigned rows = 0;
            double estimate = -1, ms = -1;
            char end = '\0';
            const int fields =
                sscanf(about, " (about %lf rows; %u rows, %lf ms%c", &estimate, &rows, &ms, &end);
            assert_int_equal(fields, measured ? 4 : 1);
            if (measured && !((ms >= 1 || (rows == 0 && ms >= 0)) && end == ')')) {
                fail_msg("%s: %s", cases[i / 2].text, line);
            }
            own += ms;
            assert_true(line[strlen(line) - 1] == ')');
            if (measured && lines == 1) {
                assert_int_equal(rows, cases[i / 2].rows);
            }
        }
        assert_true(lines >= 2U + measured);
        /* No step's time is another's, too. */
        assert_true(!measured || (own >= 1 && own < all));
        if ((inside > 0) != cases[i / 2].inside) {
            fail_msg("%s: %u lines inside", cases[i / 2].text, inside);
        }
        buf_release(&out);
    }
    memory_source_free(source);
}

static void
plans_that_fail_are_not_explained(void **state)
{
    struct memory_source *source = query_case_source(QUERY_PEOPLE);
    struct quad_source failing = *memory_source_table(source);
    struct buf out;
    struct reason why = {""};
    static const char text[] = "SELECT * { ?s :knows ?o . ?o :name ?n }";
    (void)state;
    failing.scan = fail_scan;
    buf_init(&out, 1 << 20);
    assert_int_equal(explain_text(text, &failing, true, &out, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "a fault of the test");
    assert_int_equal(out.length, 0);
    /* Without measuring nothing is read. */
    assert_int_equal(explain_text(text, &failing, false, &out, &why), STATUS_OK);
    assert_true(out.length > 0);
    const size_t length = out.length;
    buf_release(&out);
    for (size_t most = 16; most < length; most += length / 3) {
        buf_init(&out, most);
        assert_int_equal(explain_text(text, &failing, false, &out, &why), STATUS_LIMIT);
        assert_string_equal(why.text, "the plan's text is too long");
        buf_release(&out);
    }
    memory_source_free(source);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datasets_have_their_graphs),
        cmocka_unit_test(templates_make_triples),
        cmocka_unit_test(templates_make_triples_in_little_memory),
        cmocka_unit_test(terms_of_triples_that_waited_are_forgotten),
        cmocka_unit_test(plans_are_explained),
        cmocka_unit_test(plans_that_fail_are_not_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
