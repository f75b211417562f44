/* Turtle and TriG (rdf/turtle/turtle.c): documents are made by the grammars, production by
 * production, and the quads that they mean beside them, each with its line, in the order in which
 * parsers hand them on. */
#include "tests/unit/rdf/turtle_documents.h"

#include <stdio.h>

#include "rdf/turtle/turtle.h"
#include "tests/unit/brief.h"
#include "tests/unit/rdf/rdf_case.h"
#include "tests/unit/rdf/turtle_limits.h"

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define XSD "http://www.w3.org/2001/XMLSchema#"

enum { DOCUMENTS = 4000, STATEMENTS = 8, ROOM = 1 << 20, TERM = 128, DEPTH = 6 };

static uint64_t seed = 2463534242u;
static unsigned
random_below(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 16) % n;
}

/* ---- documents ---- */

static const char *const prefixes[] = {"",       "p", "a",      "ab",   "true",
                                       "falsey", "b", "prefix", "graph"};
enum { PREFIXES = sizeof prefixes / sizeof *prefixes };

struct writer {
    struct buf text, quads;
    unsigned line;
    unsigned made; /* blank nodes */
    unsigned depth;
    bool trig;
    unsigned spaces[PREFIXES]; /* number of each namespace, 0: not declared */
    unsigned base;
    char graph[TERM + 2]; /* with a blank before it */
};

static void
put(struct writer *w, const char *text)
{
    buf_append_string(&w->text, text);
    for (; *text != '\0'; text++) {
        w->line += *text == '\n';
    }
}

/* Blanks and comments; where none need be, there may be none. */
static void
put_space(struct writer *w, bool needed)
{
    static const char *const spaces[] = {" ", "\n", "\t", "\r\n", "# a . } ]\n", " #\n\n", "  "};
    if (!needed && random_below(2) == 0) {
        return;
    }
    put(w, spaces[random_below(sizeof spaces / sizeof *spaces)]);
}

static void
expect_quad(struct writer *w, unsigned line, const char *subject, const char *predicate,
            const char *object)
{
    buf_printf(&w->quads, "%u %s %s %s%s .\n", line, subject, predicate, object, w->graph);
}

static void
made_blank(struct writer *w, char term[TERM])
{
    snprintf(term, TERM, "_:g%u", w->made++);
}

/* What needs no blank behind it ends in '>', ']' or ')'. */
static void
put_iri(struct writer *w, char term[TERM])
{
    char text[TERM];
    const unsigned prefix = random_below(PREFIXES), number = random_below(50);
    if (w->spaces[prefix] > 0 && random_below(2) == 0) {
        snprintf(text, sizeof text, "%s:x%u ", prefixes[prefix], number);
        snprintf(term, TERM, "<n:%u#x%u>", w->spaces[prefix], number);
    } else if (random_below(4) == 0) {
        snprintf(text, sizeof text, "<../r%u>", number);
        snprintf(term, TERM, "<http://b.example/%u/r%u>", w->base, number);
    } else {
        snprintf(text, sizeof text, "<a:i%u>", number);
        snprintf(term, TERM, "%s", text);
    }
    put(w, text);
}

static void
put_label(struct writer *w, char term[TERM])
{
    snprintf(term, TERM, "_:b%u", random_below(50));
    put(w, term);
    put_space(w, true);
}

static void
put_literal(struct writer *w, char term[TERM])
{
    static const char *const literals[][2] = {
        {"'x'", "\"x\""},
        {"\"y\"@en", "\"y\"@en"},
        {"'''a\n'b'\n'''", "\"a\\n'b'\\n\""},
        {"\"\"\"\"c\"\"d\"\"\"@DE-at", "\"\\\"c\\\"\\\"d\"@de-at"},
        {"\"\\t\\u0041\"", "\"\\tA\""},
        {"'1'^^<a:t>", "\"1\"^^<a:t>"},
        {"12", "\"12\"^^<" XSD "integer>"},
        {"-1.5", "\"-1.5\"^^<" XSD "decimal>"},
        {"+.5e3", "\"+.5e3\"^^<" XSD "double>"},
        {".5", "\".5\"^^<" XSD "decimal>"},
        {"true", "\"true\"^^<" XSD "boolean>"},
        {"false", "\"false\"^^<" XSD "boolean>"},
    };
    const unsigned which = random_below(sizeof literals / sizeof *literals);
    put(w, literals[which][0]);
    put_space(w, true);
    snprintf(term, TERM, "%s", literals[which][1]);
}

static void put_object(struct writer *w, char term[TERM]);

static void
put_verb(struct writer *w, char term[TERM])
{
    if (random_below(4) == 0) {
        put(w, "a");
        put_space(w, true);
        snprintf(term, TERM, "<" RDF "type>");
    } else {
        put_iri(w, term);
        put_space(w, false);
    }
}

static void
put_predicates(struct writer *w, const char *subject)
{
    char verb[TERM], object[TERM];
    for (unsigned verbs = 1 + random_below(3); verbs > 0; verbs--) {
        put_verb(w, verb);
        for (unsigned objects = 1 + random_below(3); objects > 0; objects--) {
            put_space(w, false);
            const unsigned line = w->line;
            put_object(w, object);
            expect_quad(w, line, subject, verb, object);
            put_space(w, false);
            put(w, objects > 1 ? "," : "");
        }
        for (unsigned stops = verbs > 1 ? 1 + random_below(3) / 2 : random_below(4) / 3; stops > 0;
             stops--) {
            put(w, ";");
            put_space(w, false);
        }
    }
}

/* False: it has no content. */
static bool
put_property_list(struct writer *w, char term[TERM])
{
    const bool content = w->depth < DEPTH && random_below(2) == 0;
    made_blank(w, term);
    put(w, "[");
    put_space(w, false);
    if (content) {
        w->depth++;
        put_predicates(w, term);
        w->depth--;
    }
    put(w, "]");
    return content;
}

static void
put_collection(struct writer *w, char term[TERM])
{
    char cell[TERM], next[TERM], object[TERM];
    snprintf(term, TERM, "<" RDF "nil>");
    put(w, "(");
    put_space(w, false);
    const unsigned count = w->depth < DEPTH ? random_below(5) : 0;
    w->depth++;
    for (unsigned i = 0; i < count; i++) {
        const unsigned line = w->line;
        made_blank(w, next);
        if (i == 0) {
            snprintf(term, TERM, "%s", next);
        } else {
            expect_quad(w, line, cell, "<" RDF "rest>", next);
        }
        snprintf(cell, TERM, "%s", next);
        put_object(w, object);
        expect_quad(w, line, cell, "<" RDF "first>", object);
        put_space(w, false);
    }
    w->depth--;
    put(w, ")");
    if (count > 0) {
        expect_quad(w, w->line, cell, "<" RDF "rest>", "<" RDF "nil>");
    }
}

static void
put_object(struct writer *w, char term[TERM])
{
    switch (random_below(6)) {
    case 0:
        put_label(w, term);
        break;
    case 1:
        (void)put_property_list(w, term);
        break;
    case 2:
        put_collection(w, term);
        break;
    case 3:
        put_iri(w, term);
        break;
    default:
        put_literal(w, term);
        break;
    }
}

static void
put_triples(struct writer *w)
{
    char subject[TERM];
    bool complete = false;
    switch (random_below(4)) {
    case 0:
        put_label(w, subject);
        break;
    case 1:
        complete = put_property_list(w, subject) && random_below(2) == 0;
        break;
    case 2:
        put_collection(w, subject);
        break;
    default:
        put_iri(w, subject);
        break;
    }
    put_space(w, false);
    if (!complete) {
        put_predicates(w, subject);
    }
}

static void
put_directive(struct writer *w)
{
    static const char *const words[][2] = {
        {"@prefix", "@base"}, {"PREFIX", "BASE"}, {"prefix", "base"}, {"Prefix", "bAsE"}};
    static unsigned number;
    char text[TERM];
    const unsigned style = random_below(4), prefix = random_below(PREFIXES + 2);
    put(w, words[style][prefix >= PREFIXES]);
    put_space(w, true);
    number++;
    if (prefix < PREFIXES) {
        put(w, prefixes[prefix]);
        put(w, ":");
        put_space(w, false);
        snprintf(text, sizeof text, "<n:%u#>", number);
        w->spaces[prefix] = number;
    } else {
        snprintf(text, sizeof text, "<http://b.example/%u/d/>", number);
        w->base = number;
    }
    put(w, text);
    put_space(w, false);
    put(w, style == 0 ? "." : "");
}

static void
put_graph(struct writer *w)
{
    static const char *const words[] = {"", "GRAPH", "graph", "grAph"};
    char name[TERM];
    const unsigned word = random_below(4), kind = random_below(word == 0 ? 4 : 3);
    put(w, words[word]);
    put_space(w, word > 0);
    if (kind == 0) {
        put_label(w, name);
    } else if (kind == 1) {
        put(w, "[");
        put_space(w, false);
        put(w, "]");
        made_blank(w, name);
    } else if (kind == 2) {
        put_iri(w, name);
    }
    put_space(w, false);
    snprintf(w->graph, sizeof w->graph, "%s%s", kind < 3 ? " " : "", kind < 3 ? name : "");
    put(w, "{");
    put_space(w, false);
    for (unsigned i = random_below(4); i > 0; i--) {
        put_triples(w);
        put(w, i > 1 || random_below(2) == 0 ? "." : "");
        put_space(w, false);
    }
    put(w, "}");
    w->graph[0] = '\0';
}

static void
make_document(struct writer *w)
{
    for (unsigned n = random_below(STATEMENTS); n > 0; n--) {
        const unsigned kind = random_below(w->trig ? 4 : 3);
        put_space(w, false);
        if (kind == 0) {
            put_directive(w);
        } else if (kind == 3) {
            put_graph(w);
        } else {
            put_triples(w);
            put(w, ".");
        }
    }
    put_space(w, false);
}

/* ---- what is read ---- */

static enum status
print_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)why;
    assert_int_equal(quad->source, 0);
    buf_printf(context, "%u ", quad->line);
    return nquads_write(context, quad);
}

struct pieces {
    struct slice rest;
    size_t size;
};

static enum status
next_piece(void *context, char *bytes, size_t size, size_t *length, struct reason *why)
{
    struct pieces *pieces = context;
    (void)why;
    *length = pieces->rest.length < pieces->size ? pieces->rest.length : pieces->size;
    assert_true(*length <= size);
    if (*length == 0) {
        return STATUS_OK;
    }
    memcpy(bytes, pieces->rest.at, *length);
    pieces->rest = slice_of(pieces->rest.at + *length, pieces->rest.length - *length);
    return STATUS_OK;
}

static void
assert_same(const struct writer *w, const struct buf *out, enum status status,
            const struct reason *why)
{
    if (status != STATUS_OK || !slice_equal(buf_slice(out), buf_slice(&w->quads))) {
        fail_msg("%.*s\nis %s %s\n%.*s\nnot\n%.*s", SLICE_PRINT(buf_slice(&w->text)),
                 status_name(status), why->text, SLICE_PRINT(buf_slice(out)),
                 SLICE_PRINT(buf_slice(&w->quads)));
    }
}

static void
documents_mean_what_the_grammar_says(void **state)
{
    struct buf out;
    (void)state;
    buf_init(&out, ROOM);
    for (unsigned i = 0; i < brief(DOCUMENTS, DOCUMENTS / 50); i++) {
        struct writer w = {.line = 1, .trig = i % 2 == 1};
        buf_init(&w.text, ROOM);
        buf_init(&w.quads, ROOM);
        make_document(&w);
        struct parse_options options = {.base = SLICE("http://b.example/0/d/"), .lines = true};
        const struct quad_sink sink = {print_quad, &out};
        struct reason why = {""};
        /* A copy of its own, so that checkers of memory see what is read past its end. */
        char *copy = malloc(w.text.length + 1);
        memcpy(copy, w.text.length > 0 ? w.text.data : "", w.text.length);
        buf_reset(&out);
        const enum status status = (w.trig ? trig_parse : turtle_parse)(
            slice_of(copy, w.text.length), &options, &sink, &why);
        assert_same(&w, &out, status, &why);
        free(copy);
        struct pieces pieces = {buf_slice(&w.text), 1 + random_below(40)};
        const struct rdf_source source = {next_piece, &pieces};
        buf_reset(&out);
        const enum status read = (w.trig ? trig_read : turtle_read)(&source, &options, &sink, &why);
        assert_same(&w, &out, read, &why);
        buf_release(&w.text);
        buf_release(&w.quads);
    }
    buf_release(&out);
}

static void
lines_are_said_where_they_are_wanted(void **state)
{
    struct buf out;
    struct reason why = {""};
    const struct slice text = SLICE("\n<a:s>\na <a:t>\n;<a:p> (\n1)\n.");
    const struct quad_sink sink = {print_quad, &out};
    (void)state;
    buf_init(&out, ROOM);
    struct parse_options options = {.lines = true};
    assert_int_equal(turtle_parse(text, &options, &sink, &why), STATUS_OK);
    assert_string_equal(out.data, "3 <a:s> <" RDF "type> <a:t> .\n"
                                  "5 _:g0 <" RDF "first> \"1\"^^<" XSD "integer> .\n"
                                  "5 _:g0 <" RDF "rest> <" RDF "nil> .\n"
                                  "4 <a:s> <a:p> _:g0 .\n");
    buf_reset(&out);
    options.lines = false;
    assert_int_equal(turtle_parse(text, &options, &sink, &why), STATUS_OK);
    assert_int_equal(out.data[0], '0');
    assert_non_null(strstr(out.data, "\n0 <a:s> <a:p>"));
    buf_release(&out);
}

/* A fault that was seen before what stands in front of it was read does not spoil its lines. */
static void
lines_are_right_behind_faults(void **state)
{
    static const char text[] = "<a:1> a <a:T> .\n<a:2> a bad:x .\n<a:3> a <a:T> .\n\n\n"
                               "<a:4> a '\xFF' .\n<a:5> a <a:T> .\n<a:6> <a:p> .\n<a:7> a\n7 .\n";
    static const char expected[] = "! 6:10 not UTF-8\n"
                                   "1 <a:1> <" RDF "type> <a:T> .\n"
                                   "! 2:9 prefix is not declared\n"
                                   "3 <a:3> <" RDF "type> <a:T> .\n"
                                   "! 6:10 string is not UTF-8\n"
                                   "7 <a:5> <" RDF "type> <a:T> .\n"
                                   "! 8:13 expected a number\n"
                                   "10 <a:7> <" RDF "type> \"7\"^^<" XSD "integer> .\n";
    struct buf out;
    struct reason why = {""};
    (void)state;
    buf_init(&out, ROOM);
    const struct parse_options options = {
        .lines = true,
        .lenient = true,
        .problems = {.problem = rdf_case_problem, .context = &out},
    };
    const struct quad_sink sink = {print_quad, &out};
    assert_int_equal(turtle_parse(slice_string(text), &options, &sink, &why), STATUS_OK);
    assert_string_equal(out.data, expected);
    /* In pieces each is looked at before it is read. */
    struct pieces pieces = {slice_string(text), 1};
    const struct rdf_source source = {next_piece, &pieces};
    buf_reset(&out);
    assert_int_equal(turtle_read(&source, &options, &sink, &why), STATUS_OK);
    assert_non_null(strstr(out.data, "\n3 <a:3>"));
    assert_non_null(strstr(out.data, "! 6:10 not UTF-8\n! 6:10 string is not UTF-8\n7 <a:5>"));
    assert_non_null(strstr(out.data, "\n10 <a:7>"));
    buf_release(&out);
}

int
turtle_documents_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_mean_what_the_grammar_says),
        cmocka_unit_test(lines_are_said_where_they_are_wanted),
        cmocka_unit_test(lines_are_right_behind_faults),
    };
    return cmocka_run_group_tests_name("turtle documents", tests, NULL, NULL) + turtle_limits_run();
}
