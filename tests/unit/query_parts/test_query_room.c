/* Queries that get no memory: each piece of it is refused in its turn, to the parser, the plan, the
 * functions and the operators. Then the query ends and tells the reason. */
#include <string.h>

#include "index/query/algebra/algebra.h"
#include "index/query/update.h"
#include "store/memory_account.h"
#include "tests/unit/query/plan_case.h"

enum { PARSED = 64 << 20, UPDATED = 512 << 20, PLANNED = 256 << 20, STEPS = 40 };
enum { FIRST = 2 /* then a bound that grows begins; the names of variables are always there */ };

/* ---- what is refused ---- */

enum refused { NOTHING, OF_TEXT, OF_PLAN, OF_VALUES, OF_ACCOUNT };

static struct {
    enum refused what;
    unsigned calls, fail_at;  /* 0: none fails */
    bool inside;              /* a call of the arena's own, which is no piece more */
    const struct arena *plan; /* the first of its size in a run; the other is for values */
} room;

static bool
is_refused(enum refused what)
{
    return room.what == what && !room.inside && ++room.calls == room.fail_at;
}

static bool
refuses(const struct arena *arena)
{
    if (arena->maximum == PARSED || arena->maximum == UPDATED) {
        return is_refused(OF_TEXT);
    }
    if (arena->maximum != PLANNED) {
        return false;
    }
    room.plan = room.plan ? room.plan : arena;
    return is_refused(arena == room.plan ? OF_PLAN : OF_VALUES);
}

void *__real_arena_alloc(struct arena *arena, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t size);
void *
__wrap_arena_alloc(struct arena *arena, size_t size)
{
    return refuses(arena) ? NULL : __real_arena_alloc(arena, size);
}

void *__real_arena_zero(struct arena *arena, size_t size);
void *__wrap_arena_zero(struct arena *arena, size_t size);
void *
__wrap_arena_zero(struct arena *arena, size_t size)
{
    const bool refused = refuses(arena);
    room.inside = true;
    void *memory = refused ? NULL : __real_arena_zero(arena, size);
    room.inside = false;
    return memory;
}

struct slice __real_arena_copy(struct arena *arena, struct slice slice);
struct slice __wrap_arena_copy(struct arena *arena, struct slice slice);
struct slice
__wrap_arena_copy(struct arena *arena, struct slice slice)
{
    /* A base is copied before anything can have been used up. */
    const bool refused = !slice_is(slice, CASE_BASE) && refuses(arena);
    room.inside = true;
    const struct slice copy = refused ? (struct slice){NULL, 0} : __real_arena_copy(arena, slice);
    room.inside = false;
    return copy;
}

enum status __real_memory_take(struct memory_account *account, size_t bytes, const char *what,
                               struct reason *why);
enum status __wrap_memory_take(struct memory_account *account, size_t bytes, const char *what,
                               struct reason *why);
enum status
__wrap_memory_take(struct memory_account *account, size_t bytes, const char *what,
                   struct reason *why)
{
    if (is_refused(OF_ACCOUNT)) {
        return status_fail(why, STATUS_LIMIT, "refused to %s", what);
    }
    return __real_memory_take(account, bytes, what, why);
}

static void
refuse(enum refused what, unsigned at)
{
    room.what = what;
    room.calls = 0;
    room.fail_at = at;
    room.plan = NULL;
}

/* ---- the queries ---- */

#define START PREFIXES "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> BASE <http://b.example/> "

/* All that the grammar has, and more
 * constants and quads than any first room
 * is for. */
static const char *const texts[] = {
    "SELECT * { ?s :knows ?o }",
    "SELECT DISTINCT ?s (1 + 2 * -3 AS "
    "?x) (:a\\,b AS ?y) { ?s :name "
    "\"a\\tb\"@en-GB } LIMIT 5",
    "SELECT REDUCED ?s FROM :g1 FROM :g2 "
    "FROM NAMED :g1 FROM NAMED <x> { "
    "GRAPH :g1 { ?s ?p ?o } "
    "GRAPH ?g { ?s :likes ?l } } OFFSET 1",
    "SELECT ?s { ?s :knows/:knows* ?o . "
    "?s ^:knows|:likes+ ?p . ?s "
    "!(:a|^:b|a) ?q . ?s :knows? "
    ":bob . ?s !^:c ?r }",
    "SELECT * { VALUES (?x ?y) { (1 "
    "UNDEF) (\"b\"@en :c) } VALUES ?z { "
    "1.5 2e0 true } BIND(IF(?x "
    "= 1, ?y, COALESCE(?z, 1)) AS ?w) "
    "FILTER(?x IN (1, 2, 3) && ?z NOT IN "
    "(4) || !(?x < 2)) }",
    "SELECT * { { ?s :name ?n } UNION { "
    "?s :age ?n } UNION { ?s :likes ?n } "
    "MINUS { ?s :mail ?m } "
    "FILTER EXISTS { ?s :knows ?k FILTER "
    "NOT EXISTS { ?k :knows :dan } } }",
    "SELECT * { [ :name ?n ; :age ?a ] "
    ":knows ?k . (1 ?x [] \"z\") :of _:b "
    ". _:b :p _:c, _:d }",
    "SELECT (xsd:integer(\"5\") AS ?a) "
    "(<none>(1) AS ?b) (REPLACE(\"aXb\", "
    "\"x\", \"-\", 'i') AS "
    "?c) (SUBSTR(\"abc\", 2) AS ?d) {} "
    "VALUES ?v { 1 2 }",
    "SELECT * { ?l q:matches \"tea\" ; "
    "q:score ?s . ?x :likes ?l }",
    "ASK { ?s :age ?a FILTER(?a > 26 && "
    "?a <= 30 && REGEX(STR(?s), "
    "\"^http\")) }",
    "CONSTRUCT { ?s :is [ :of ?o ] . _:x "
    ":p ?s . ?s :q 1, 2, 3, 4, 5, 6, 7, "
    "8, 9, 10, 11, 12, 13, "
    "14, 15, 16, 17, 18 } { ?s :knows ?o "
    "}",
    "CONSTRUCT WHERE { ?s :knows ?o . ?o "
    ":name ?n }",
    "DESCRIBE :ann ?s <rel> FROM :g1 { ?s "
    ":knows :bob }",
    "DESCRIBE *  { ?s :mail ?o }",
    "SELECT * { GRAPH ?g { { SELECT ?s { "
    "?s :likes ?l } ORDER BY ?l LIMIT 2 } "
    "} GRAPH ?h {} }",
    "SELECT * { GRAPH ?g { ?s :likes ?l "
    "OPTIONAL { ?s :knows ?k FILTER(?k != "
    "?s) } } }",
    "SELECT * { ?s :name ?n ; :age ?a ; "
    ":knows ?k . ?k :name ?m OPTIONAL { "
    "?k :mail ?x } FILTER(?n "
    "!= ?m) } ORDER BY ?n LIMIT 2",
    "SELECT DISTINCT ?p { VALUES ?s { "
    ":ann :bob } ?s ?p ?o } ORDER BY ?p",
    "SELECT (COUNT(DISTINCT *) AS ?z) "
    "(GROUP_CONCAT(DISTINCT ?n; "
    "SEPARATOR=\"\\t\") AS ?t) "
    "(SUM(?a) AS ?u) (AVG(?a) AS ?v) "
    "(MIN(?a) AS ?i) (SAMPLE(?n) AS ?e) { "
    "?s :name ?n OPTIONAL { "
    "?s :age ?a } } GROUP BY ?s (STR(?n) "
    "AS ?k) STRLEN(?n) HAVING (COUNT(*) > "
    "0) (?k != 'x') "
    "ORDER BY DESC(?k) ?s LIMIT 3",
    "SELECT ?s { ?s :age ?a { SELECT ?s "
    "(MAX(?l) AS ?m) { ?s :likes ?l } "
    "GROUP BY ?s } SERVICE "
    "SILENT <http://none/> { ?s ?p ?o } }",
    "SELECT ?p (COUNT(*) AS ?n) { ?s ?p "
    "?o } GROUP BY ?p",
    "SELECT (COUNT(*) AS ?n) { ?s :knows "
    "?o ; :name ?m ; :age ?a }",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static const char *const updates[] = {
    "INSERT DATA { <a:s> <a:p> 1, "
    "\"x\\n\"@en . GRAPH <a:g> { <a:s> a "
    "<a:T> , [ <a:q> (1 2) ] } }",
    "DELETE DATA { GRAPH <a:g> { <a:s> "
    "<a:p> <a:o>, <rel> } }",
    "WITH <a:g> DELETE { ?s <a:p> ?v } "
    "INSERT { ?s <a:q> ?v . GRAPH ?g { "
    "_:n <a:r> ?v } } USING "
    "NAMED <a:h> WHERE { ?s <a:p> ?v "
    "GRAPH ?g { ?s <a:p>+ ?v } }",
    "DELETE WHERE { GRAPH ?g { ?s <a:p> "
    "?v } } ; LOAD SILENT <doc> INTO "
    "GRAPH <a:g> ; CLEAR ALL ; "
    "CREATE GRAPH <a:n> ; DROP NAMED ; "
    "COPY DEFAULT TO <a:x> ; MOVE <a:x> "
    "TO GRAPH <a:y> ; ADD "
    "<a:y> TO DEFAULT",
};

static enum status
prepare(const char *text, struct query **query, struct reason *why)
{
    char whole[1024];
    snprintf(whole, sizeof whole, START "%s", text);
    return query_prepare(query, slice_string(whole), SLICE(CASE_BASE), why);
}

static void
must_prepare(const char *text, struct query **query)
{
    struct reason why = {""};
    if (prepare(text, query, &why) != STATUS_OK) {
        fail_msg("%s: %s", text, why.text);
    }
}

static void
the_parser_tells_that_there_is_no_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        struct query *query;
        refuse(OF_TEXT, 0);
        must_prepare(texts[i], &query);
        query_free(query);
        const unsigned calls = room.calls;
        for (unsigned at = 1; at <= calls; at += at == 1 ? FIRST : 1) {
            struct reason because = {""};
            refuse(OF_TEXT, at);
            const enum status status = prepare(texts[i], &query, &because);
            if (status != STATUS_LIMIT || query || !strstr(because.text, "too large")) {
                fail_msg("%s: piece %u of %u: "
                         "%s %s",
                         texts[i], at, calls, status_name(status), because.text);
            }
        }
    }
}

static void
the_parser_of_updates_tells_it_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
        struct update *update;
        struct reason why = {""};
        refuse(OF_TEXT, 0);
        assert_int_equal(update_prepare(&update, slice_string(updates[i]), SLICE(CASE_BASE), &why),
                         STATUS_OK);
        update_free(update);
        const unsigned calls = room.calls;
        for (unsigned at = 1; at <= calls; at += at == 1 ? FIRST : 1) {
            struct reason because = {""};
            refuse(OF_TEXT, at);
            const enum status status =
                update_prepare(&update, slice_string(updates[i]), SLICE(CASE_BASE), &because);
            if (status != STATUS_LIMIT || update || !strstr(because.text, "too large")) {
                fail_msg("%s: piece %u of %u: "
                         "%s %s",
                         updates[i], at, calls, status_name(status), because.text);
            }
        }
    }
}

static enum status
run(const struct query *query, struct memory_source *source, const struct query_options *options,
    struct buf *out, struct reason *why)
{
    struct result_writer *writer;
    const bool rows = query_form_of(query) == QUERY_SELECT || query_form_of(query) == QUERY_ASK;
    buf_reset(out);
    result_writer_open(&writer, rows ? RESULT_TSV : RESULT_NTRIPLES, query_case_piece, out);
    enum status status = query_run(query, memory_source_table(source), options,
                                   result_writer_sink(writer), NULL, why);
    if (status == STATUS_OK) {
        status = result_writer_finish(writer, why);
    }
    result_writer_free(writer);
    return status;
}

/* Refuses one after the other of what the
 * query asks for, at most so many of them.
 */
static void
every_refusal_ends(const char *text, struct memory_source *source, enum refused what,
                   const struct query_options *options, unsigned most)
{
    struct query *query;
    struct reason why = {""};
    struct buf whole, out;
    buf_init(&whole, 64 << 20);
    buf_init(&out, 64 << 20);
    refuse(NOTHING, 0);
    must_prepare(text, &query);
    if (run(query, source, options, &whole, &why) != STATUS_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    refuse(what, 0);
    assert_int_equal(run(query, source, options, &whole, &why), STATUS_OK);
    const unsigned calls = room.calls;
    for (unsigned at = 1; at <= calls; at += 1 + calls / most) {
        struct reason because = {""};
        refuse(what, at);
        const enum status status = run(query, source, options, &out, &because);
        const bool told = status == STATUS_LIMIT && because.text[0] != '\0';
        const bool without =
            what == OF_ACCOUNT && status == STATUS_OK && out.length == whole.length;
        if (!told && !without) {
            fail_msg("%s: piece %u of %u: "
                     "%s %s",
                     text, at, calls, status_name(status), because.text);
        }
    }
    query_free(query);
    buf_release(&whole);
    buf_release(&out);
}

static void
the_plan_tells_that_there_is_no_room(void **state)
{
    struct memory_source *source = query_case_source(QUERY_PEOPLE);
    const struct query_options options = {.now_ms = 1700000000000};
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        every_refusal_ends(texts[i], source, OF_PLAN, &options, 1000);
    }
    /* Datasets from outside take room as well. */
    struct query_options outside = options;
    outside.default_graph = SLICE("http://example.org/g1");
    every_refusal_ends(texts[0], source, OF_PLAN, &outside, 1000);
    outside.graphs = SLICE("http://example.org/g1\nhttp://example.org/g2\n");
    outside.named_graphs = SLICE("http://example.org/g2\n");
    every_refusal_ends(texts[0], source, OF_PLAN, &outside, 1000);
    outside.only_graph = SLICE("http://example.org/g2");
    every_refusal_ends(texts[0], source, OF_PLAN, &outside, 1000);
    memory_source_free(source);
}

/* Larger data, of which some is joined,
 * sorted and grouped in files. */
static const char *const large[] = {
    "SELECT * { ?s :label ?l ; "
    ":description ?d ; :knows ?k }",
    "SELECT * { ?s :label ?l OPTIONAL { "
    "?s :knows ?k FILTER(?k != :hub) } }",
    "SELECT * { ?s a :C0 OPTIONAL { ?s "
    ":description ?d } } ORDER BY "
    "DESC(?d) ?s",
    "SELECT * { ?s :label ?l . ?t :label "
    "?l }",
    "SELECT * { ?s :label ?l MINUS { ?s "
    ":knows ?d } }",
    "SELECT * { ?s :label ?l FILTER "
    "EXISTS { ?s :knows ?d } } LIMIT 300",
    "SELECT ?s (COUNT(DISTINCT ?d) AS ?n) "
    "(GROUP_CONCAT(?l) AS ?t) { ?s :label "
    "?l ; :description "
    "?d } GROUP BY ?s",
    "SELECT ?c (COUNT(DISTINCT *) AS ?n) "
    "(MIN(?l) AS ?m) { ?s a ?c ; :label "
    "?l } GROUP BY ?c",
    "SELECT ?s { ?s :label ?l ; "
    ":description ?d } GROUP BY ?s",
    "SELECT DISTINCT ?s ?d { ?s :label ?l "
    "; :description ?d }",
    "CONSTRUCT { ?s :is ?l . ?l :of ?s } "
    "{ ?s :label ?l ; a :C1 }",
    "SELECT * { ?s :knows+ ?k . ?k :a 7 }",
    "SELECT * { :s0 (:knows|^:knows)* ?k "
    "} LIMIT 3000",
    "SELECT * { ?s !(:a|:b) :hub }",
    "SELECT (COUNT(*) AS ?n) { ?s :a ?x ; "
    ":b ?y ; :c ?z }",
    "SELECT ?p (COUNT(*) AS ?n) { VALUES "
    "?s { :s4 :hub } ?s ?p ?o } GROUP BY "
    "?p",
    "SELECT * { GRAPH ?g { { SELECT ?s { "
    "?s :label ?l } ORDER BY ?l LIMIT 300 "
    "} } }",
    "SELECT * { GRAPH ?g {} ?l q:matches "
    "\"d8\" }",
    "SELECT DISTINCT ?x { ?s :label ?l "
    "BIND(CONCAT(?l, '-', ?l) AS ?x) } "
    "ORDER BY ?x",
    "SELECT * { { SELECT ?s ?d { ?s "
    ":description ?d } } { SELECT ?s ?l { "
    "?s :label ?l } } }",
    "DESCRIBE :hub ?s { ?s :knows :hub } ",
};

static void
memory_that_is_used_up_ends_a_query(void **state)
{
    struct memory_source *source = plan_source();
    const struct query_options much = {.now_ms = 1700000000000},
                               little = {.memory = 384 << 10,
                                         .now_ms = 1700000000000,
                                         .scratch_folder = "/tmp"};
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        every_refusal_ends(large[i], source, OF_ACCOUNT, &much, STEPS / 8);
        every_refusal_ends(large[i], source, OF_ACCOUNT, &little, STEPS / 8);
    }
    memory_source_free(source);
    source = query_case_source(QUERY_PEOPLE);
    for (size_t i = 0; i < TEXTS; i++) {
        every_refusal_ends(texts[i], source, OF_ACCOUNT, &much, STEPS);
    }
    memory_source_free(source);
}

/* A value that is made in memory. */
static const char *const made[] = {
    "CONCAT(\"a\", \"b\", \"c\", \"d\")",
    "UCASE(\"a\")",
    "LCASE(\"A\"@en)",
    "ENCODE_FOR_URI(\"a b\")",
    "REPLACE(\"abc\", \"b\", \"x\")",
    "STRLANG(\"a\", \"EN\")",
    "STRDT(\"5\", xsd:integer) + 1.5",
    "MD5(\"a\")",
    "SHA512(\"a\")",
    "STRUUID()",
    "UUID()",
    "BNODE()",
    "BNODE(\"a\")",
    "IRI(\"rel\")",
    "STR(1 + 1)",
    "STR(1.5 + 1)",
    "1.5 + 1",
    "1e0 + 1",
    "xsd:string(1.50)",
    "xsd:string(1e0)",
    "xsd:string(1 + 1)",
    "xsd:string(xsd:float(\"1\"))",
    "xsd:decimal(\"1.5\")",
    "TIMEZONE(\"2011-01-10T14:45:13-05:"
    "00\"^^xsd:dateTime)",
    "SECONDS(\"2011-01-10T14:45:13.5Z\"^^"
    "xsd:dateTime)",
    "SAMETERM(1 + 1, 2)",
    "SUBSTR(UCASE(\"abc\"), 2)",
    "STRBEFORE(UCASE(\"abc\"), \"B\")",
    "STRLEN(UCASE(\"abc\"))",
};

/* Without room for it a value is an error,
 * and its variable is unbound. */
static void
functions_fail_without_room(void **state)
{
    struct memory_source *source = query_case_source("");
    const struct query_options options = {.now_ms = 1700000000000};
    struct buf out;
    (void)state;
    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        struct query *query;
        struct reason why = {""};
        char text[512];
        snprintf(text, sizeof text, "SELECT ?x { BIND(%s AS ?x) }", made[i]);
        refuse(NOTHING, 0);
        must_prepare(text, &query);
        refuse(OF_VALUES, 0);
        assert_int_equal(run(query, source, &options, &out, &why), STATUS_OK);
        assert_string_not_equal(out.data, "?x\n\n");
        const unsigned calls = room.calls;
        for (unsigned at = 1; at <= calls; at++) {
            refuse(OF_VALUES, at);
            assert_int_equal(run(query, source, &options, &out, &why), STATUS_OK);
            if (strcmp(out.data, "?x\n\n") != 0) {
                fail_msg("%s: piece %u of "
                         "%u: %s",
                         made[i], at, calls, out.data);
            }
        }
        if (calls == 0) {
            fail_msg("%s takes no room", made[i]);
        }
        query_free(query);
    }
    buf_release(&out);
    memory_source_free(source);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parser_tells_that_there_is_no_room),
        cmocka_unit_test(the_parser_of_updates_tells_it_too),
        cmocka_unit_test(the_plan_tells_that_there_is_no_room),
        cmocka_unit_test(memory_that_is_used_up_ends_a_query),
        cmocka_unit_test(functions_fail_without_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
