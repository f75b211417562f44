/* What plans ask of their source, and how soon they stop. */
#include <math.h>

#include "index/statistics/triple_counts.h"
#include "tests/unit/query/plan_case.h"

/* One query at least for each operator. */
static const char *const stopped[] = {
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p",
    "SELECT ?l (COUNT(DISTINCT ?s) AS ?n) { ?s :label ?l } GROUP BY ?l",
    "SELECT (SUM(?a) AS ?n) { ?s :label ?l BIND(STRLEN(?l) AS ?a) }",
    "SELECT * { ?s ?p ?o }",
    "SELECT * { ?s ?p ?o FILTER(?o = 7) }",
    "SELECT * { ?a :knows ?x . ?b :knows ?x FILTER(STR(?a) = 'x') }",
    "SELECT * { ?a :knows ?b . ?b a ?c }",
    "SELECT * { ?s a :C1 ; :label ?l ; :description ?d } LIMIT 300",
    "SELECT * { ?s a :C0 OPTIONAL { ?s :description ?d } }",
    "SELECT * { ?s :label ?l OPTIONAL { ?x :description ?l FILTER(?x != ?s) } }",
    "SELECT * { { ?s :label ?l } UNION { ?s :description ?l } }",
    "SELECT * { ?s :label ?l MINUS { ?s :description ?d } }",
    "SELECT * { ?s :label ?l FILTER NOT EXISTS { ?s :description ?d } }",
    "SELECT * { ?s :label ?l FILTER NOT EXISTS { ?x :description ?l FILTER(?x = ?s) } }",
    "SELECT * { ?a :knows+ ?b }",
    "SELECT * { GRAPH ?g { ?s :label ?l } }",
    "SELECT * { GRAPH ?g { { SELECT ?s { ?s :label ?l } LIMIT 1000 } } }",
    "SELECT * { ?l q:matches '7' . ?s :label ?l }",
    "SELECT * { { SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s } ?s :label ?l }",
    "SELECT DISTINCT ?s ?p { ?s ?p ?o }",
    "SELECT * { ?s :label ?l } ORDER BY ?l LIMIT 10",
    "SELECT * { ?s :label ?l } ORDER BY DESC(?l) ?s",
    "SELECT * { VALUES ?x { 1 2 3 4 5 } ?s :label ?l }",
    "SELECT ?p (COUNT(*) AS ?n) { VALUES ?s { :s1 :s2 :s3 :hub } ?s ?p ?o } GROUP BY ?p",
    ("SELECT ?k (COUNT(*) AS ?n) { VALUES ?s { :s0 :s3 :s6 } ?s :knows ?k . ?t :knows ?k } GROUP "
     "BY "
     "?k"),
};

/* Rows that were read between two looks at the flag. */
static struct {
    enum status (*scan_next)(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
                             struct reason *why);
    struct quad_source source;
    size_t rows, most;
    unsigned steps, stop_at; /* looks; the one at which the flag is set, 0: none */
    atomic_bool cancel;
} watched;

static enum status
watched_next(struct quad_scan *scan, struct quad_oids *rows, size_t most, size_t *n,
             struct reason *why)
{
    TRY(watched.scan_next(scan, rows, most, n, why));
    watched.rows += *n;
    watched.most = watched.rows > watched.most ? watched.rows : watched.most;
    return STATUS_OK;
}

static enum status
watched_counts(void *context, const struct count_request *request, struct triple_count **counts,
               size_t *count, struct reason *why)
{
    (void)context;
    return triple_counts_read(&watched.source, request, counts, count, why);
}

static size_t
recall_nothing(void *context, struct list_recall *recall)
{
    (void)context;
    memset(recall->known, 0, recall->count * sizeof *recall->known);
    memset(recall->ends, 0, recall->count * sizeof *recall->ends);
    return recall->count;
}

static void
watched_step(void *context)
{
    (void)context;
    watched.rows = 0;
    if (++watched.steps == watched.stop_at) {
        watched.cancel = true;
    }
}

static enum status
run_watched(const char *text, unsigned stop_at)
{
    const struct query_options options = {.step = watched_step, .cancel = &watched.cancel};
    const struct query_sink sink = {0};
    struct query *query;
    struct reason why = {{0}};
    char *whole = NULL;
    assert_true(asprintf(&whole, PREFIXES "%s", text) > 0);
    watched.rows = watched.most = watched.steps = 0;
    watched.stop_at = stop_at;
    watched.cancel = false;
    if (query_prepare(&query, slice_string(whole), SLICE(""), &why) != STATUS_OK) {
        fail_msg("%s: %s", whole, why.text);
    }
    const enum status status = query_run(query, &watched.source, &options, &sink, NULL, &why);
    query_free(query);
    free(whole);
    return status;
}

/* Wherever the flag is set, nothing goes on; and it is looked at before much was read. */
void
test_every_operator_stops(void **state)
{
    enum { ROWS_MOST = 4096, TRIED = 4 };
    struct memory_source *memory = plan_source();
    (void)state;
    watched.source = *memory_source_table(memory);
    watched.scan_next = watched.source.scan_next;
    watched.source.scan_next = watched_next;
    watched.source.count_triples = watched_counts;
    watched.source.release_counts = NULL;
    watched.source.recall_lists = recall_nothing;
    for (size_t i = 0; i < sizeof stopped / sizeof *stopped; i++) {
        assert_int_equal(run_watched(stopped[i], 0), STATUS_OK);
        const unsigned steps = watched.steps;
        if (steps < 3 || watched.most > ROWS_MOST) {
            fail_msg("%s: %u looks, %zu rows between two", stopped[i], steps, watched.most);
        }
        for (unsigned stop = 1; stop <= steps; stop += 1 + steps / TRIED) {
            if (run_watched(stopped[i], stop) != STATUS_CANCELLED || watched.steps != stop) {
                fail_msg("%s: stopped at %u of %u looks, and had %u", stopped[i], stop, steps,
                         watched.steps);
            }
        }
    }
    memory_source_free(memory);
}

static unsigned resolved;

static enum status
counted_resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    resolved++;
    return memory_source_table(context)->resolve(context, id, arena, term, why);
}

/* Identifiers that say what they are of, as those of this test's three terms. */
static oid said[3];

static enum term_kind
said_kind(oid id)
{
    return id == said[0] ? TERM_IRI : id == said[1] ? TERM_BLANK : TERM_LITERAL;
}

static long long
count_watched(const char *text)
{
    struct counted_answer answer = {0};
    const struct query_sink sink = {.context = &answer, .row = plan_take_row};
    const struct query_options options = {0};
    struct query *query;
    assert_int_equal(query_prepare(&query, slice_string(text), SLICE(""), NULL), STATUS_OK);
    assert_int_equal(query_run(query, &watched.source, &options, &sink, NULL, NULL), STATUS_OK);
    query_free(query);
    return answer.number;
}

/* What tells terms by their kind looks at none. */
void
test_kinds_are_told_by_identifiers(void **state)
{
    static const char *const told[] = {"isIRI(?o)", "isURI(?o)", "isBlank(?o)", "isLiteral(?o)",
                                       "!isIRI(?none)"};
    enum { TOLD = sizeof told / sizeof *told };
    struct memory_source *memory =
        query_case_source("@prefix : <http://example.org/> . :s :p :o , _:b , 'x' , 'y' .");
    const struct quad_oids all = {0};
    struct quad_oids quads[4];
    struct quad_scan *scan;
    struct arena arena;
    size_t n;
    (void)state;
    arena_init(&arena, 0);
    watched.source = *memory_source_table(memory);
    void *context = watched.source.context;
    assert_int_equal(watched.source.scan(context, &all, ORDER_SPOC, &scan, NULL), STATUS_OK);
    assert_int_equal(watched.source.scan_next(scan, quads, 4, &n, NULL), STATUS_OK);
    watched.source.scan_close(scan);
    for (size_t i = 0; i < n; i++) {
        struct term term;
        assert_int_equal(watched.source.resolve(context, quads[i].object, &arena, &term, NULL),
                         STATUS_OK);
        said[term.kind - TERM_IRI] = quads[i].object;
    }
    watched.source.resolve = counted_resolve;
    for (size_t i = 0; i < 2 * TOLD; i++) {
        static const long long counts[TOLD] = {1, 1, 1, 2, 0};
        char text[128];
        watched.source.kind = i < TOLD ? said_kind : NULL;
        resolved = 0;
        snprintf(text, sizeof text, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER(%s) }",
                 told[i % TOLD]);
        assert_int_equal(count_watched(text), counts[i % TOLD]);
        assert_true(i % TOLD + 1 == TOLD || (resolved == 0) == (i < TOLD));
    }
    arena_release(&arena);
    memory_source_free(memory);
}

static unsigned star_questions;

static enum status
answer_star(void *context, const oid *predicates, size_t count, double *subjects, double *rows,
            struct reason *why)
{
    (void)context, (void)predicates, (void)why;
    star_questions++;
    *subjects = 100.0 / (double)count;
    *rows = 200.0 / (double)count;
    return STATUS_OK;
}

/* A source goes through all it has on sets of predicates for each question about one. */
void
test_sets_of_predicates_are_asked_for_once(void **state)
{
    enum { PATTERNS = 4, SETS = (1 << PATTERNS) - 1 };
    struct memory_source *memory = plan_source();
    (void)state;
    watched.source = *memory_source_table(memory);
    watched.source.estimate_star = answer_star;
    star_questions = 0;
    assert_int_equal(
        run_watched("SELECT * { ?s a ?c ; :label ?l ; :description ?d ; :knows ?k }", 0),
        STATUS_OK);
    assert_in_range(star_questions, 1, SETS);
    memory_source_free(memory);
}

/* ---- orders of joins ---- */

/* The plan's lines without their numbers of rows, set apart by "; ". */
static void
plan_of(const char *text, const struct query_options *options, struct buf *out)
{
    struct query *query;
    struct reason why = {{0}};
    char whole[1024];
    struct buf plan;
    buf_init(&plan, 1 << 16);
    buf_reset(out);
    snprintf(whole, sizeof whole, PREFIXES "%s", text);
    if (query_prepare(&query, slice_string(whole), SLICE(""), &why) != STATUS_OK ||
        query_explain(query, &watched.source, options, false, &plan, &why) != STATUS_OK) {
        fail_msg("%s: %s", whole, why.text);
    }
    query_free(query);
    for (const char *line = strchr(plan.data, '\n') + 1; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        (void)buf_printf(out, "%.*s; ", (int)length, line);
        line += length + (line[length] == '\n');
    }
    (void)buf_append_char(out, '\0');
    buf_release(&plan);
}

static void
is_planned(const char *text, const char *order, const char *expected)
{
    const struct query_options options = {.join_order = order};
    struct buf plan;
    buf_init(&plan, 1 << 16);
    plan_of(text, &options, &plan);
    if (strcmp(plan.data, expected) != 0) {
        print_error("%s, %s\n", text, order ? order : "as the planner has it");
    }
    assert_string_equal(plan.data, expected);
    buf_release(&plan);
}

/* An order that is asked for is that of a join of so many items; letters that name none, or one
 * that was joined, leave the choice to the planner. */
void
test_orders_that_are_asked_for(void **state)
{
    static const char text[] = "SELECT * { ?s :label ?l ; :description ?d ; :self ?x }";
    static const struct {
        const char *order, *plan;
    } cases[] = {
        {NULL, "listed of ?s (about 9 rows); scan ?s <http://example.org/description> ?d (about 9 "
               "rows); listed of ?s (about 6 rows); scan ?s <http://example.org/label> ?l (about 6 "
               "rows); scan ?s <http://example.org/self> ?x (about 4 rows); "},
        {"abc", "hash join (about 13500 rows);   scan ?s <http://example.org/self> ?x (about 4 "
                "rows); hash join (about 9000 rows);   scan ?s <http://example.org/description> ?d "
                "(about 4000 rows); scan ?s <http://example.org/label> ?l (about 6000 rows); "},
        {"abd", "hash join (about 13500 rows);   scan ?s <http://example.org/self> ?x (about 4 "
                "rows); hash join (about 9000 rows);   scan ?s <http://example.org/description> ?d "
                "(about 4000 rows); scan ?s <http://example.org/label> ?l (about 6000 rows); "},
        {"cba", "listed of ?s (about 9 rows); scan ?s <http://example.org/label> ?l (about 9 "
                "rows); listed of ?s (about 6 rows); scan ?s <http://example.org/description> ?d "
                "(about 6 rows); scan ?s <http://example.org/self> ?x (about 4 rows); "},
        {"bca", "hash join (about 9000 rows);   scan ?s <http://example.org/label> ?l (about 6000 "
                "rows); hash join (about 6000 rows);   scan ?s <http://example.org/self> ?x (about "
                "4 rows); scan ?s <http://example.org/description> ?d (about 4000 rows); "},
        {"bac", "hash join (about 9000 rows);   scan ?s <http://example.org/self> ?x (about 4 "
                "rows); hash join (about 6000 rows);   scan ?s <http://example.org/description> ?d "
                "(about 4000 rows); scan ?s <http://example.org/label> ?l (about 6000 rows); "},
        {"ab", "listed of ?s (about 9 rows); scan ?s <http://example.org/description> ?d (about 9 "
               "rows); listed of ?s (about 6 rows); scan ?s <http://example.org/label> ?l (about 6 "
               "rows); scan ?s <http://example.org/self> ?x (about 4 rows); "},
        {"abcd", "listed of ?s (about 9 rows); scan ?s <http://example.org/description> ?d (about "
                 "9 rows); listed of ?s (about 6 rows); scan ?s <http://example.org/label> ?l "
                 "(about 6 rows); scan ?s <http://example.org/self> ?x (about 4 rows); "},
        {"azb", "hash join (about 13500 rows);   scan ?s <http://example.org/self> ?x (about 4 "
                "rows); hash join (about 9000 rows);   scan ?s <http://example.org/description> ?d "
                "(about 4000 rows); scan ?s <http://example.org/label> ?l (about 6000 rows); "},
        {"aab", "hash join (about 13500 rows);   scan ?s <http://example.org/self> ?x (about 4 "
                "rows); hash join (about 9000 rows);   scan ?s <http://example.org/description> ?d "
                "(about 4000 rows); scan ?s <http://example.org/label> ?l (about 6000 rows); "},
        {"zzz", "listed of ?s (about 9 rows); scan ?s <http://example.org/description> ?d (about 9 "
                "rows); listed of ?s (about 6 rows); scan ?s <http://example.org/label> ?l (about "
                "6 rows); scan ?s <http://example.org/self> ?x (about 4 rows); "},
        {"ca`", "listed of ?s (about 9 rows); scan ?s <http://example.org/description> ?d (about 9 "
                "rows); listed of ?s (about 6 rows); scan ?s <http://example.org/label> ?l (about "
                "6 rows); scan ?s <http://example.org/self> ?x (about 4 rows); "},
    };
    struct memory_source *memory = plan_source();
    (void)state;
    watched.source = *memory_source_table(memory);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        is_planned(text, cases[i].order, cases[i].plan);
    }
    memory_source_free(memory);
}

/* ---- sets of predicates ---- */

enum { KNOWN = 5 };
static oid known[KNOWN];

/* As the data has them: each subject has its predicates the same number of times. Of :self with
 * another nothing is known. */
static enum status
tell_star(void *context, const oid *predicates, size_t count, double *subjects, double *rows,
          struct reason *why)
{
    static const double subject_counts[KNOWN] = {4000, 4000, 2000, 1334, 1},
                        repeated[KNOWN] = {1.5, 1.5, 2, 2, 3};
    (void)context, (void)why;
    *subjects = 4000;
    *rows = 1;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < KNOWN && known[at] != predicates[i]) {
            at++;
        }
        if (i > 0 && predicates[i] < predicates[i - 1]) {
            fail_msg("the predicates do not ascend");
        }
        if (at == 4 && count > 1) {
            return STATUS_NOT_FOUND;
        }
        *subjects = at == KNOWN ? 0 : fmin(*subjects, subject_counts[at]);
        *rows *= at == KNOWN ? 0 : repeated[at];
    }
    *rows *= *subjects;
    return STATUS_OK;
}

/* How many rows a subject's other predicates make is known from those that were joined. */
void
test_rows_are_told_by_sets_of_predicates(void **state)
{
    static const char *const names[KNOWN] = {
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://example.org/label",
        "http://example.org/description", "http://example.org/knows", "http://example.org/self"};
    static const struct {
        const char *text, *plan;
    } cases[] = {
        {"SELECT * { ?s a ?c ; :label ?l }",
         "hash join (about 9000 rows);   scan ?s <http://example.org/label> ?l (about 6000 rows); "
         "scan ?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ?c (about 6000 rows); "},
        {"SELECT * { ?s a :C1 ; :label ?l }",
         "hash join (about 2998 rows);   scan ?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
         "<http://example.org/C1> (about 1999 rows); scan ?s <http://example.org/label> ?l (about "
         "6000 rows); "},
        {"SELECT * { ?s a :C0 ; :label ?l ; :description ?d }",
         "hash join (about 3002 rows);   hash join (about 2001 rows);     scan ?s "
         "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/C0> (about 2001 "
         "rows);   scan ?s <http://example.org/description> ?d (about 4000 rows); scan ?s "
         "<http://example.org/label> ?l (about 6000 rows); "},
        {"SELECT * { ?s a ?c ; :description ?d ; :knows ?k }",
         "hash join (about 8004 rows);   scan ?s <http://example.org/description> ?d (about 4000 "
         "rows); hash join (about 4002 rows);   scan ?s <http://example.org/knows> ?k (about 2668 "
         "rows); scan ?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ?c (about 6000 rows); "},
        {"SELECT * { ?s :self ?x . ?x :label ?l ; a :C1 }",
         "listed of ?x (about 3 rows); scan ?x <http://example.org/label> ?l (about 3 rows); scan "
         "?x <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/C1> (about 2 "
         "rows); scan ?s <http://example.org/self> ?x (about 4 rows); "},
        {"SELECT * { ?x :self ?s . ?s a :C1 ; :knows :hub }",
         "scan ?s <http://example.org/knows> <http://example.org/hub> (about 1 rows); scan ?s "
         "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/C1> (about 2 "
         "rows); scan ?x <http://example.org/self> ?s (about 4 rows); "},
        {"SELECT * { ?s :self ?x ; :label ?l }",
         "listed of ?s (about 6 rows); scan ?s <http://example.org/label> ?l (about 6 rows); scan "
         "?s <http://example.org/self> ?x (about 4 rows); "},
        {"SELECT * { ?s :nothing ?x ; :label ?l ; a ?c }",
         "listed of ?s (about 0 rows); scan ?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
         "?c (about 0 rows); listed of ?s (about 0 rows); scan ?s <http://example.org/label> ?l "
         "(about 0 rows); scan ?s <http://example.org/nothing> ?x (about 0 rows); "},
        {"SELECT * { VALUES ?s { :s1 :s2 } ?s :label ?l ; :nothing ?x }",
         "listed of ?s (about 0 rows); scan ?s <http://example.org/label> ?l (about 0 rows); "
         "values 2 rows (about 0 rows); scan ?s <http://example.org/nothing> ?x (about 0 rows); "},
        {"SELECT * { VALUES ?s { :s1 :s2 :s3 } ?s :knows ?k . ?k :description ?d ; :label ?l }",
         "listed of ?k (about 9 rows); scan ?k <http://example.org/description> ?d (about 9 rows); "
         "listed of ?k (about 9 rows); scan ?k <http://example.org/label> ?l (about 9 rows); "
         "listed of ?s (about 6 rows); scan ?s <http://example.org/knows> ?k (about 6 rows); "
         "values 3 rows (about 3 rows); "},
        {"SELECT * { ?s :label '5' ; a :C2 ; :description ?d }",
         "listed of ?s (about 0 rows); scan ?s <http://example.org/description> ?d (about 0 rows); "
         "scan ?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/C2> (about "
         "0 rows); scan ?s <http://example.org/label> \"5\" (about 1 rows); "},
        {"SELECT * { ?s :label ?l ; :knows/:label ?m }",
         "hash join (about 6003 rows);   hash join (about 4002 rows);     scan ?s "
         "<http://example.org/knows> _:3 (about 2668 rows);   scan ?s <http://example.org/label> "
         "?l (about 6000 rows); scan _:3 <http://example.org/label> ?m (about 6000 rows); "},
        {"SELECT * { ?s :label ?l ; :knows+ ?m ; ?p :hub }",
         "path ?s (path) ?m (about 64032 rows); hash join (about 2001 rows);   scan ?s ?p "
         "<http://example.org/hub> (about 1334 rows); scan ?s <http://example.org/label> ?l (about "
         "6000 rows); "},
        {"SELECT * { VALUES ?s { :s1 } ?s :none 5 ; a :C0 }",
         "scan ?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/C0> (about "
         "0 rows); values 1 rows (about 0 rows); scan ?s <http://example.org/none> "
         "\"5\"^^<http://www.w3.org/2001/XMLSchema#integer> (about 0 rows); "},
        {"SELECT * { ?s :label ?l OPTIONAL { ?s :description ?d ; :knows ?k } }",
         "optional (about 16008 rows);   hash join (about 16008 rows);     scan ?s "
         "<http://example.org/knows> ?k (about 2668 rows);   hash join (about 12000 rows);     "
         "scan ?s <http://example.org/description> ?d (about 4000 rows); scan ?s "
         "<http://example.org/label> ?l (about 6000 rows); "},
    };
    struct memory_source *memory = plan_source();
    (void)state;
    watched.source = *memory_source_table(memory);
    watched.source.estimate_star = tell_star;
    for (size_t i = 0; i < KNOWN; i++) {
        const struct term term = term_iri(slice_string(names[i]));
        assert_int_equal(watched.source.lookup(watched.source.context, &term, &known[i], NULL),
                         STATUS_OK);
        assert_true(known[i] != OID_NONE);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        is_planned(cases[i].text, NULL, cases[i].plan);
    }
    memory_source_free(memory);
}
