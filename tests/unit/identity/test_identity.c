/* Who is the same: every rule, what documents and ontologies may not say of others, values that
 * identify nothing, limits, an operator's word, and what queries see of it. */
#include "tests/unit/query/query_case.h"

#include "identity/identity_write.h"
#include "identity/refused_values.h"
#include "index/read/query_answer.h"

enum { TEXT = 1 << 20, DOCUMENTS = 200 };

#define PREFIXES                                                                              \
    "PREFIX owl: <http://www.w3.org/2002/07/owl#> PREFIX foaf: <http://xmlns.com/foaf/0.1/> " \
    "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX o: <http://o.example/ns#> "  \
    "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> PREFIX e: "                    \
    "<http://evil.example/n#> "                                                               \
    "PREFIX a: <http://a.example/#> PREFIX b: <http://b.example/#> PREFIX c: "                \
    "<http://c.example/#> "                                                                   \
    "PREFIX q: <urn:x-quadrille:query#> "

#define FOAF_ONTOLOGY                                                                 \
    "GRAPH <http://xmlns.com/foaf/0.1/> { foaf:mbox a owl:InverseFunctionalProperty " \
    ". foaf:name rdfs:label 'name' } "
#define ONTOLOGY(text) "GRAPH <http://o.example/ns> { " text " } "
#define A(text) "GRAPH <http://a.example/> { " text " } "
#define B(text) "GRAPH <http://b.example/> { " text " } "
#define C(text) "GRAPH <http://c.example/> { " text " } "
#define DECISIONS(text) "GRAPH q:decisions { " text " } "

struct found {
    struct memory_source *source;
    struct identity *identity;
    struct identity_cluster cluster;
    struct arena arena;
};

static struct found
find(const char *trig, const char *iri, const struct identity_limits *limits)
{
    struct found found = {.source = query_case_source(trig)};
    struct identity_settings settings = {.source = memory_source_table(found.source)};
    const struct term term = term_iri(slice_string(iri));
    struct reason why = {""};
    oid id;
    if (limits != NULL) {
        settings.limits = *limits;
    }
    arena_init(&found.arena, 0);
    found.identity = identity_new(&settings);
    assert_int_equal(settings.source->lookup(settings.source->context, &term, &id, &why),
                     STATUS_OK);
    const enum status status =
        identity_find(found.identity, id, &found.arena, &found.cluster, &why);
    if (status != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    return found;
}

static void
release(struct found *found)
{
    arena_release(&found->arena);
    identity_free(found->identity);
    memory_source_free(found->source);
}

static void
append_terms(const struct found *found, const oid *ids, size_t n, struct buf *out)
{
    const struct quad_source *source = memory_source_table(found->source);
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < n; i++) {
        struct term term;
        assert_int_equal(source->resolve(source->context, ids[i], &arena, &term, NULL), STATUS_OK);
        buf_printf(out, "%s%.*s", i > 0 ? " " : "", SLICE_PRINT(term.value));
    }
    arena_release(&arena);
}

/* The members, in their order. */
static void
same(const char *trig, const char *iri, const char *expected)
{
    struct found found = find(trig, iri, NULL);
    struct buf out;
    buf_init(&out, TEXT);
    append_terms(&found, found.cluster.members, found.cluster.member_count, &out);
    if (strcmp(out.data, expected) != 0) {
        print_error("%s\n", trig);
    }
    assert_string_equal(out.data, expected);
    buf_release(&out);
    release(&found);
}

#define AX "http://a.example/#x"
#define BX "http://b.example/#x"
#define CX "http://c.example/#x"

static void
test_same_as(void **state)
{
    (void)state;
    const char *chain = PREFIXES A("a:x owl:sameAs b:x") C("b:x owl:sameAs c:x");
    same(chain, AX, AX " " BX " " CX);
    same(chain, BX, AX " " BX " " CX);
    same(chain, CX, AX " " BX " " CX);
    same(PREFIXES A("a:x owl:sameAs b:x, a:x, 'b'"), BX, AX " " BX);
    same(PREFIXES A("a:x owl:differentFrom b:x ; o:p b:x"), AX, AX);
    /* A property may say that it is a kind of owl:sameAs. */
    same(PREFIXES ONTOLOGY("o:is rdfs:subPropertyOf owl:sameAs") A("a:x o:is b:x"), BX, AX " " BX);
}

static void
test_rules(void **state)
{
    (void)state;
    static const struct {
        const char *ontology, *a, *b, *expected;
    } cases[] = {
        {"o:p a owl:InverseFunctionalProperty", "a:x o:p 'v'", "b:x o:p 'v'", AX " " BX},
        {"o:p a owl:InverseFunctionalProperty", "a:x o:p 'v'", "b:x o:p 'V'", AX},
        {"o:p a owl:InverseFunctionalProperty", "a:x o:p 'v'", "b:x o:p 'v'@en", AX},
        {"o:p a owl:FunctionalProperty", "a:x o:p 'v'", "b:x o:p 'v'", AX},
        {"o:p a owl:FunctionalProperty", "c:x o:p a:x", "c:x o:p b:x", AX " " BX},
        {"o:p a owl:FunctionalProperty", "a:x o:p c:x", "b:x o:p c:x", AX},
        {"o:p rdfs:subPropertyOf o:q . o:q a owl:InverseFunctionalProperty", "a:x o:p 'v'",
         "b:x o:q 'v'", AX " " BX},
        {"o:p rdfs:subPropertyOf o:q . o:p a owl:InverseFunctionalProperty", "a:x o:p 'v'",
         "b:x o:q 'v'", AX},
        {"o:p owl:equivalentProperty o:q . o:q a owl:InverseFunctionalProperty", "a:x o:p 'v'",
         "b:x o:q 'v'", AX " " BX},
        {"o:q owl:equivalentProperty o:p . o:q a owl:InverseFunctionalProperty", "a:x o:p 'v'",
         "b:x o:q 'v'", AX " " BX},
        {"o:p owl:inverseOf o:q . o:q a owl:FunctionalProperty", "a:x o:p c:x", "b:x o:p c:x",
         AX " " BX},
        {"o:q owl:inverseOf o:p . o:q a owl:InverseFunctionalProperty", "c:x o:p a:x",
         "c:x o:p b:x", AX " " BX},
        {"o:p a owl:SymmetricProperty, owl:FunctionalProperty", "a:x o:p c:x", "c:x o:p b:x",
         AX " " BX},
        /* Members of a class that have one value at most. */
        {"o:C rdfs:subClassOf [ owl:onProperty o:p ; owl:maxCardinality 1 ]", "c:x a o:C ; o:p a:x",
         "c:x a o:C ; o:p b:x", AX " " BX},
        {"o:C rdfs:subClassOf [ owl:onProperty o:p ; owl:cardinality 1 ]",
         "c:x a o:C ; o:p a:x, b:x", "", AX " " BX},
        {"o:C rdfs:subClassOf [ owl:onProperty o:p ; owl:cardinality 2 ]",
         "c:x a o:C ; o:p a:x, b:x", "", AX},
        {"o:C rdfs:subClassOf [ owl:onProperty o:p ; owl:maxCardinality 1 ]", "c:x a o:D ; o:p a:x",
         "c:x a o:C ; o:p b:x", AX},
        {"o:D owl:equivalentClass o:C . o:C owl:intersectionOf ( o:E [ owl:onProperty o:p ; "
         "owl:maxCardinality 1 ] )",
         "c:x a o:D ; o:p a:x", "c:x a o:C ; o:p b:x", AX " " BX},
        {"o:p rdfs:domain o:C . o:C rdfs:subClassOf [ owl:onProperty o:p ; owl:maxCardinality 1 ]",
         "c:x o:p a:x", "c:x o:p b:x", AX " " BX},
        {"o:p rdfs:range o:C . o:C rdfs:subClassOf [ owl:onProperty [ owl:inverseOf o:p ] ; "
         "owl:maxCardinality 1 ]",
         "a:x o:p c:x", "b:x o:p c:x", AX " " BX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char trig[4096];
        snprintf(trig, sizeof trig, PREFIXES ONTOLOGY("%s") A("%s") B("%s"), cases[i].ontology,
                 cases[i].a, cases[i].b);
        same(trig, AX, cases[i].expected);
    }
}

/* The document of a term: its address, its namespace, what these import. */
static void
test_ontologies(void **state)
{
    (void)state;
    const char *data = A("a:x foaf:mbox <mailto:v@v>") B("b:x foaf:mbox <mailto:v@v>");
    static const char *const right[] = {
        "GRAPH <http://xmlns.com/foaf/0.1/> { foaf:mbox a owl:InverseFunctionalProperty }",
        "GRAPH <http://xmlns.com/foaf/0.1> { foaf:mbox a owl:InverseFunctionalProperty }",
        "GRAPH <http://xmlns.com/foaf/0.1/mbox> { foaf:mbox a owl:InverseFunctionalProperty }",
        "GRAPH <http://xmlns.com/foaf/0.1/> { <> owl:imports <http://x.example/y#z> } "
        "GRAPH <http://x.example/y> { <> owl:imports <http://x.example/w> } "
        "GRAPH <http://x.example/w> { foaf:mbox a owl:InverseFunctionalProperty }"};
    static const char *const wrong[] = {
        "", "GRAPH <http://xmlns.com/foaf/> { foaf:mbox a owl:InverseFunctionalProperty }",
        "GRAPH <http://xmlns.com/foaf/0.1/name> { foaf:mbox a owl:InverseFunctionalProperty }",
        "GRAPH <http://evil.example/n> { foaf:mbox a owl:InverseFunctionalProperty }"};
    char trig[4096];
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        snprintf(trig, sizeof trig, PREFIXES "%s %s", right[i], data);
        same(trig, AX, AX " " BX);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(trig, sizeof trig, PREFIXES "%s %s", wrong[i], data);
        same(trig, AX, AX);
    }
    struct found found = find(PREFIXES A("a:x foaf:mbox <mailto:v@v> ; a foaf:Person"), AX, NULL);
    assert_int_equal(found.cluster.undefined_count, 1);
    release(&found);
}

/* What a document says of properties counts in it alone; what an ontology says of others' terms,
 * nowhere but where it is imported. */
static void
test_poison(void **state)
{
    (void)state;
    const char *poisoned = "GRAPH <http://evil.example/page> { foaf:name a "
                           "owl:InverseFunctionalProperty . e:me foaf:name 'Ann' } ";
    const char *people = FOAF_ONTOLOGY A("a:x foaf:name 'Ann'") B("b:x foaf:name 'Ann'");
    char trig[4096];
    snprintf(trig, sizeof trig, PREFIXES "%s %s", poisoned, people);
    same(trig, AX, AX);
    same(trig, "http://evil.example/n#me", "http://evil.example/n#me");
    static const char *const claims[] = {
        "foaf:name a owl:InverseFunctionalProperty",
        "foaf:name rdfs:subPropertyOf foaf:mbox",
        "foaf:name owl:equivalentProperty foaf:mbox",
        "foaf:mbox owl:equivalentProperty foaf:name",
        "foaf:name rdfs:subPropertyOf e:p . e:p a owl:InverseFunctionalProperty",
        ("foaf:name rdfs:domain e:C . e:C rdfs:subClassOf [ owl:onProperty [ owl:inverseOf "
         "foaf:name ] ; owl:maxCardinality 1 ]")};
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        /* The ontology is in use in both documents, and still says nothing of foaf:name. */
        snprintf(trig, sizeof trig,
                 PREFIXES FOAF_ONTOLOGY "GRAPH <http://evil.example/n> { %s . e:q a owl:Thing } " A(
                     "a:x foaf:name 'Ann' ; e:q 1") B("b:x foaf:name 'Ann' ; e:q 1"),
                 claims[i]);
        same(trig, AX, AX);
    }
    /* Who says so of the property in a document of their own is taken at their word, by each. */
    const char *own =
        PREFIXES FOAF_ONTOLOGY A("foaf:name a owl:InverseFunctionalProperty . a:x foaf:name 'Ann'")
            B("<> owl:imports <http://o.example/ns> . b:x foaf:name 'Ann'")
                ONTOLOGY("foaf:name a owl:InverseFunctionalProperty") C("c:x foaf:name 'Ann'");
    same(own, AX, AX " " BX);
    same(own, CX, CX);
    /* What the languages themselves mean is nobody's to say. */
    same(PREFIXES "GRAPH <http://www.w3.org/2000/01/rdf-schema> { rdfs:label a "
                  "owl:InverseFunctionalProperty } " A("a:x rdfs:label 'l'")
                      B("b:x rdfs:label 'l'"),
         AX, AX);
}

static void
test_refused(void **state)
{
    (void)state;
    struct found found =
        find(PREFIXES FOAF_ONTOLOGY A("a:x foaf:mbox <mailto:> , <mailto:ann@a.example>")
                 B("b:x foaf:mbox <mailto:>"),
             AX, NULL);
    assert_int_equal(found.cluster.member_count, 1);
    assert_int_equal(found.cluster.aside_count, 1);
    assert_int_equal(found.cluster.asides[0].reason, IDENTITY_ASIDE_REFUSED);
    assert_int_equal(found.cluster.asides[0].edge.rule, IDENTITY_INVERSE_FUNCTIONAL);
    release(&found);

    const struct term useful[] = {term_literal(SLICE("Nobody Atall")),
                                  term_iri(SLICE("mailto:none@a.example")),
                                  term_iri(SLICE("http://www.facebook.com/ann")),
                                  term_iri(SLICE("http://nullify.example/")),
                                  term_iri(SLICE("http://a.example/null")),
                                  term_literal(SLICE("mailto:"))};
    for (size_t i = 0; i < sizeof useful / sizeof useful[0]; i++) {
        assert_false(value_is_refused(SLICE("http://xmlns.com/foaf/0.1/mbox"), &useful[i]));
    }
    const struct term none = term_iri(SLICE("mailto:none"));
    assert_true(value_is_refused(SLICE("http://xmlns.com/foaf/0.1/mbox"), &none));
    assert_false(value_is_refused(SLICE("http://xmlns.com/foaf/0.1/homepage"), &none));
}

static void
test_limits(void **state)
{
    (void)state;
    const char *three = PREFIXES FOAF_ONTOLOGY A("a:x foaf:mbox <mailto:v@v>")
        B("b:x foaf:mbox <mailto:v@v>") C("c:x foaf:mbox <mailto:v@v> ; owl:sameAs b:x");
    same(three, AX, AX " " BX " " CX);

    struct found found = find(three, AX, &(struct identity_limits){.shared = 2});
    assert_int_equal(found.cluster.member_count, 1);
    assert_int_equal(found.cluster.aside_count, 1);
    assert_int_equal(found.cluster.asides[0].reason, IDENTITY_ASIDE_SHARED);
    assert_int_equal(found.cluster.asides[0].resources, 3);
    assert_false(found.cluster.too_large);
    release(&found);

    found = find(three, AX, &(struct identity_limits){.members = 2});
    assert_true(found.cluster.too_large);
    assert_int_equal(found.cluster.member_count, 1);
    assert_int_equal(found.cluster.edge_count, 1);
    assert_int_equal(found.cluster.reached, 3);
    release(&found);

    found = find(three, BX, &(struct identity_limits){.rows = 1});
    assert_true(found.cluster.cut);
    release(&found);
}

static void
test_cancelled(void **state)
{
    (void)state;
    static const atomic_bool cancelled = true;
    const struct query_options options = {.cancel = &cancelled};
    struct memory_source *source = query_case_source(PREFIXES A("a:x owl:sameAs b:x"));
    const struct identity_settings settings = {.source = memory_source_table(source),
                                               .options = &options};
    struct identity *identity = identity_new(&settings);
    struct identity_cluster cluster;
    struct arena arena;
    struct reason why = {""};
    arena_init(&arena, 0);
    assert_int_equal(identity_find(identity, 1, &arena, &cluster, &why), STATUS_CANCELLED);
    arena_release(&arena);
    identity_free(identity);
    memory_source_free(source);
}

static void
test_decisions(void **state)
{
    (void)state;
    const char *chain = A("a:x owl:sameAs b:x") C("b:x owl:sameAs c:x");
    char trig[4096];
    same(PREFIXES A("a:x foaf:name 'a'") DECISIONS("a:x owl:sameAs b:x"), BX, AX " " BX);
    /* A split reaches through others. The edge that comes first, by its terms, is followed. */
    snprintf(trig, sizeof trig, PREFIXES "%s" DECISIONS("c:x owl:differentFrom a:x"), chain);
    same(trig, AX, AX " " BX);
    same(trig, BX, AX " " BX);
    same(trig, CX, CX);
    struct found found = find(trig, AX, NULL);
    assert_int_equal(found.cluster.edge_count, 2);
    assert_false(found.cluster.edges[0].split);
    assert_true(found.cluster.edges[1].split);
    release(&found);
    /* An operator's join goes before what others say. */
    snprintf(trig, sizeof trig,
             PREFIXES "%s" DECISIONS("c:x owl:differentFrom a:x ; owl:sameAs b:x"), chain);
    same(trig, AX, AX);
    same(trig, CX, BX " " CX);
    /* Values are divided, too. */
    const char *shared = PREFIXES FOAF_ONTOLOGY A("a:x foaf:mbox <mailto:v@v>")
        B("b:x foaf:mbox <mailto:v@v>") DECISIONS("b:x owl:differentFrom a:x");
    same(shared, AX, AX);
    same(shared, BX, BX);
    /* Documents do not decide. */
    same(PREFIXES A("a:x owl:sameAs b:x") C("a:x owl:differentFrom b:x"), AX, AX " " BX);
}

static void
test_written(void **state)
{
    (void)state;
    struct found found = find(PREFIXES FOAF_ONTOLOGY ONTOLOGY("o:mail rdfs:subPropertyOf foaf:mbox")
                                  A("a:x foaf:mbox <mailto:v@v> ; o:\\,u 1")
                                      B("b:x o:mail <mailto:v@v>") C("c:x owl:sameAs b:x"),
                              AX, NULL);
    struct buf out;
    struct reason why = {""};
    buf_init(&out, TEXT);
    assert_int_equal(identity_write(found.identity, &found.cluster, IDENTITY_TEXT, &out, &why),
                     STATUS_OK);
    assert_string_equal(
        out.data, "<http://a.example/#x> is the same as\n"
                  "  <http://b.example/#x>\n"
                  "  <http://c.example/#x>\n"
                  "because\n"
                  "  <http://c.example/#x> sameAs <http://b.example/#x>\n"
                  "    in <http://c.example/>\n"
                  "  <http://a.example/#x> has inverseFunctional <http://xmlns.com/foaf/0.1/mbox> "
                  "<mailto:v@v>\n"
                  "    in <http://a.example/>, by <http://xmlns.com/foaf/0.1/>\n"
                  "  <http://b.example/#x> has inverseFunctional <http://xmlns.com/foaf/0.1/mbox> "
                  "<mailto:v@v>\n"
                  "    in <http://b.example/>, stated with <http://o.example/ns#mail>, by "
                  "<http://xmlns.com/foaf/0.1/>\n");
    buf_reset(&out);
    assert_int_equal(identity_write(found.identity, &found.cluster, IDENTITY_JSON, &out, &why),
                     STATUS_OK);
    const char *head = "{\"reached\":3,\"tooLarge\":false,\"cut\":false,\"resource\":"
                       "\"<http://a.example/#x>\",\"members\":[\"<http://a.example/#x>\","
                       "\"<http://b.example/#x>\",\"<http://c.example/#x>\"],\"reasons\":["
                       "{\"rule\":\"sameAs\",\"resource\":\"<http://c.example/#x>\",\"other\":"
                       "\"<http://b.example/#x>\",\"stated\":"
                       "\"<http://www.w3.org/2002/07/owl#sameAs>\",\"document\":"
                       "\"<http://c.example/>\"},";
    assert_memory_equal(out.data, head, strlen(head));
    buf_release(&out);
    release(&found);
}

/* Documents that use the same terms share what was found out; one with axioms of its own does
 * not, and one with the same axioms does again. */
static void
test_memory(void **state)
{
    (void)state;
    struct buf trig;
    buf_init(&trig, TEXT);
    buf_append_string(&trig, PREFIXES FOAF_ONTOLOGY);
    for (int i = 0; i < DOCUMENTS; i++) {
        buf_printf(&trig,
                   "GRAPH <http://d%d.example/> { <http://d%d.example/#i> foaf:mbox <mailto:v@v> ; "
                   "foaf:name 'n%d' %s } ",
                   i, i, i, i < 2 ? ". o:z a owl:FunctionalProperty" : "");
    }
    struct found found = find(trig.data, "http://d5.example/#i", NULL);
    const struct identity_counts counts = identity_counts(found.identity);
    assert_int_equal(found.cluster.member_count, DOCUMENTS);
    assert_int_equal(counts.contexts_made, 2);
    assert_int_equal(counts.meanings_made, 4);
    assert_true(counts.meanings_found >= 2 * DOCUMENTS);
    /* After some have been read one by one, those without axioms are known. */
    assert_in_range(counts.schemas_read, 2, DOCUMENTS / 2);
    buf_release(&trig);
    release(&found);
}

/* ---- queries ---- */

static enum status
piece(void *context, struct slice bytes, struct reason *why)
{
    (void)why;
    return buf_append_slice(context, bytes);
}

static void
answers(struct memory_source *source, const char *text, const char *expected)
{
    const struct query_options options = {.timeout_ms = 60000};
    struct reason why = {""};
    struct buf query, out;
    buf_init(&query, TEXT);
    buf_init(&out, TEXT);
    buf_printf(&query, PREFIXES "%s", text);
    if (answer_query(memory_source_table(source), NULL, buf_slice(&query), SLICE("csv"), &options,
                     INDEX_ANSWER_RESULT, piece, &out, &why) != STATUS_OK) {
        buf_printf(&out, "!%s", why.text);
    }
    const char *after = out.data != NULL ? strchr(out.data, '\n') : NULL;
    assert_string_equal(after != NULL ? after + 1 : out.data, expected);
    buf_release(&query);
    buf_release(&out);
}

static void
test_queries(void **state)
{
    (void)state;
    struct memory_source *source = query_case_source(
        PREFIXES FOAF_ONTOLOGY A("a:x foaf:mbox <mailto:v@v> ; foaf:name 'Ann'")
            B("b:x foaf:mbox <mailto:v@v> ; foaf:name 'Anne'") C("c:x foaf:name 'Bob'"));
    answers(source, "SELECT ?y { GRAPH q:identity { a:x owl:sameAs ?y } } ORDER BY ?y",
            AX "\r\n" BX "\r\n");
    answers(source, "SELECT ?y { GRAPH q:identity { ?y ?p b:x } } ORDER BY ?y",
            AX "\r\n" BX "\r\n");
    answers(source,
            "SELECT ?n { GRAPH q:identity { a:x owl:sameAs ?y } ?y foaf:name ?n } ORDER BY ?n",
            "Ann\r\nAnne\r\n");
    answers(source,
            "SELECT ?x ?y { ?x foaf:name ?n GRAPH q:identity { ?x owl:sameAs ?y } "
            "FILTER (?x != ?y) } ORDER BY ?x",
            AX "," BX "\r\n" BX "," AX "\r\n");
    answers(source, "SELECT ?p { GRAPH q:identity { a:x ?p b:x } }",
            "http://www.w3.org/2002/07/owl#sameAs\r\n");
    answers(source, "SELECT ?p { GRAPH q:identity { a:x ?p c:x } }", "");
    answers(source, "SELECT ?y { GRAPH q:identity { a:x foaf:name ?y } }", "");
    /* A term that no quad has is the same as itself. */
    answers(source, "SELECT ?y { GRAPH q:identity { <urn:new> owl:sameAs ?y } }", "urn:new\r\n");
    answers(source, "SELECT ?y { ?x foaf:name ?n GRAPH q:identity { ?n owl:sameAs ?y } }", "");
    answers(source, "SELECT ?y { GRAPH q:identity { ?x owl:sameAs ?y } }",
            "!in <urn:x-quadrille:query#identity> a subject or object has to be bound");
    /* Nobody sees it who does not name it. */
    answers(source,
            "SELECT (COUNT(*) AS ?n) { a:x owl:sameAs ?y FILTER (true || ?y = q:identity) }",
            "0\r\n");
    answers(source,
            "SELECT (COUNT(*) AS ?n) { GRAPH ?g { a:x owl:sameAs ?y } "
            "FILTER (true || ?y = q:identity) }",
            "0\r\n");
    memory_source_free(source);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as),    cmocka_unit_test(test_rules),
        cmocka_unit_test(test_ontologies), cmocka_unit_test(test_poison),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_limits),
        cmocka_unit_test(test_cancelled),  cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_written),    cmocka_unit_test(test_memory),
        cmocka_unit_test(test_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
