/* Plans over one source: in which order patterns are joined and how, how many rows are thought to
 * come, and how many are read. So that a change of an estimate shows what it changes. */
#include "tests/unit/query_parts/parted_source.h"

/* All graphs are of one source, which asks nobody else. */
static int
open_one(void **state)
{
    const int failed = parted_open(state);
    here.source.share = NULL;
    return failed;
}

static void
check_plans(const struct shared_plan *plans, size_t count)
{
    const struct query_options options = {.now_ms = 1700000000000};
    for (size_t i = 0; i < count; i++) {
        parted_check(&plans[i], &options);
    }
}

#define CHECK_PLANS(plans) check_plans(plans, sizeof(plans) / sizeof *(plans))

/* The pattern with the fewest rows is first, then those that meet what is bound. */
static void
joins_are_ordered_by_what_is_bound(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * { ?s ?p ?o . ?o ?q ?x . ?x a :C1 }",
         "hash join ~42000; >hash join ~4200; >>scan ?x a :C1 ~420; >scan ?o ?q ?x ~5888; scan ?s "
         "?p ?o ~5888; ",
         "", 400, 12196, 3},
        {"SELECT * { ?s :knows ?t . ?t :knows ?u . ?u :size 3 }",
         "hash join ~36264; >scan ?s :knows ?t ~1260; merge join by ?u ~2086; >scan ?t :knows ?u "
         "~1260; scan ?u :size \"3\" ~120; ",
         "", 120, 2640, 3},
        {"SELECT * { ?s :knows ?t . ?t :knows ?s }",
         "hash join ~630; >scan ?t :knows ?s ~1260; scan ?s :knows ?t ~1260; ", "", 0, 2520, 2},
        {"SELECT * { :s1 :knows ?t . ?t :knows ?u . ?u :label ?l }",
         "listed of ?u ~2; scan ?u :label ?l ~2; listed of ?t ~2; scan ?t :knows ?u ~2; scan :s1 "
         ":knows ?t ~1; ",
         "", 1, 3, 3},
        {"SELECT * { :s1 ?p ?t . ?t ?p ?u }", "scan ?t ?p ?u ~6; scan :s1 ?p ?t ~4; ", "", 1, 5, 5},
        {"SELECT * { ?s ?p :s7 . ?p ?q ?r }", "scan ?p ?q ?r ~8; scan ?s ?p :s7 ~1; ", "", 0, 1, 2},
        {"SELECT * { ?s a :C1 ; a :C2 }",
         "merge join by ?s ~630; >scan ?s a :C2 ~420; scan ?s a :C1 ~420; ", "", 0, 840, 2},
        {"SELECT * { ?s :label '7' . ?t :label '8' }",
         "scan ?t :label \"8\" ~4; scan ?s :label \"7\" ~2; ", "", 4, 6, 3},
        {"SELECT * { ?s :size ?z . ?t :twice ?z }",
         "listed of ?z ~139; scan ?s :size ?z ~139; scan ?t :twice ?z ~8; ", "", 240, 248, 3},
        {"SELECT * { :t :twice ?z . ?s :size ?z ; :label ?l }",
         "hash join ~209; >listed of ?z ~139; >scan ?s :size ?z ~139; >scan :t :twice ?z ~8; scan "
         "?s :label ?l ~1260; ",
         "", 240, 1268, 2},
        {"SELECT * { ?s :none ?z . ?s :size ?y }",
         "listed of ?s ~0; scan ?s :size ?y ~0; scan ?s :none ?z ~0; ", "", 0, 0, 0},
        {"SELECT * { ?s :size ?z ; :size ?z }",
         "merge join by ?z ~630; >scan ?s :size ?z ~1260; scan ?s :size ?z ~1260; ", "", 1200, 2520,
         2},
        {"SELECT * { ?s :label '7' . ?t :label ?l . ?s :knows ?t }",
         "listed of ?t ~4; scan ?t :label ?l ~4; listed of ?s ~3; scan ?s :knows ?t ~3; scan ?s "
         ":label \"7\" ~2; ",
         "", 2, 7, 5},
        {"SELECT * { ?s :size 3 ; ?p 3 }",
         "merge join by ?s ~960; >scan ?s ?p \"3\" ~120; scan ?s :size \"3\" ~120; ", "", 120, 240,
         2},
        {"SELECT * { ?a :knows ?b . ?b :knows ?c . ?c :knows ?d . ?d a :C0 ; :size 2 }",
         "hash join ~945621; >scan ?a :knows ?b ~1260; hash join ~54396; >scan ?b :knows ?c ~1260; "
         "merge join by ?d ~3129; >scan ?c :knows ?d ~1260; merge join by ?d ~180; >scan ?d a :C0 "
         "~420; scan ?d :size \"2\" ~120; ",
         "", 40, 3924, 5},
    };
    (void)state;
    CHECK_PLANS(plans);
}

/* Paths come after what binds their ends. */
static void
paths_are_joined(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * { :s1 :knows+ ?t }", "path :s1 (path) ?t ~36; ", "", 200, 201, 8},
        {"SELECT * { ?s :knows* :s3 }", "path ?s (path) :s3 ~12; ", "", 200, 200, 200},
        {"SELECT * { ?s :size 3 ; :knows? ?t }",
         "path ?s (path) ?t ~3840; scan ?s :size \"3\" ~120; ", "", 240, 240, 8},
        {"SELECT * { :s1 (:knows|^:knows) ?t . ?t :label ?l }",
         "listed of ?t ~3; scan ?t :label ?l ~3; union 2 branches ~2; >scan :s1 :knows ?t ~1; "
         ">scan ?t :knows :s1 ~1; ",
         "", 2, 4, 4},
        {"SELECT * { :s1 !(:knows|:label) ?t }", "filter ~4; scan :s1 _:1 ?t ~4; ", "", 2, 4, 1},
        {"SELECT * { :s5 :knows/:knows/:label ?l }",
         "listed of ? ~2; scan _:1 :label ?l ~2; listed of ? ~2; scan _:2 :knows _:1 ~2; scan :s5 "
         ":knows _:2 ~1; ",
         "", 1, 3, 3},
        {"SELECT * { ?s :label '9' . ?s :knows+ ?t . ?t :size 9 }",
         "scan ?t :size \"9\" ~96; path ?s (path) ?t ~64; scan ?s :label \"9\" ~2; ", "", 40, 464,
         419},
    };
    (void)state;
    CHECK_PLANS(plans);
}

/* One graph is read by itself, several are with each of their triples. */
static void
graphs_are_named(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * FROM :g1 { ?s :size 3 ; :label ?l }",
         "scan ?s :label ?l ~90; scan ?s :size \"3\" ~60; ", "", 60, 120, 61},
        {"SELECT * FROM :g0 FROM :g2 { ?s :size 0 }", "scan ?s :size \"0\" ~180; ", "", 120, 180,
         2},
        {"SELECT * FROM :g0 FROM :g2 { ?s :knows ?t . ?t :size 4 }",
         "hash join ~2086; >scan ?t :size \"4\" ~120; scan ?s :knows ?t ~1260; ", "", 120, 780, 4},
        {"SELECT * FROM NAMED :g1 FROM NAMED :g2 { GRAPH ?g { ?s :size 3 ; :label ?l } }",
         "hash join ~120; >scan ?s :size \"3\" in ?g ~120; scan ?s :label ?l in ?g ~1260; ", "", 60,
         1380, 2},
        {"SELECT * FROM :none { ?s ?p ?o }", "scan ?s ?p ?o ~0; ", "", 0, 0, 0},
        {"SELECT * { GRAPH :g2 { ?s :size 0 ; :label ?l ; :knows ?t } }",
         "hash join ~270; >hash join ~180; >>scan ?s :size \"0\" ~120; >scan ?s :label ?l ~360; "
         "scan ?s :knows ?t ~360; ",
         "", 120, 840, 3},
        {"SELECT * { GRAPH :g2 { ?s :size 0 } GRAPH :g0 { ?s :label ?l } }",
         "hash join ~180; >scan ?s :label ?l ~300; scan ?s :size \"0\" ~120; ", "", 60, 420, 2},
        {"SELECT * { GRAPH :none { ?s :size 0 } }", "scan ?s :size \"0\" ~0; ", "", 0, 0, 0},
        {"SELECT * { GRAPH ?g { ?s :size 0 } GRAPH ?g { ?s :knows ?t } ?t :label ?l }",
         "hash join ~270; >hash join ~180; >>scan ?s :knows ?t in ?g ~1260; >scan ?s :size \"0\" "
         "in ?g ~180; scan ?t :label ?l ~1260; ",
         "", 180, 2700, 3},
        {"SELECT * { GRAPH ?g { :t :twice ?z } }", "scan :t :twice ?z in ?g ~8; ", "", 8, 8, 1},
        {"SELECT * { GRAPH ?g { } }", "graphs ~1000; ", "", 4, 5888, 1},
        {"SELECT * { ?s :size 3 GRAPH ?g { ?s a :C0 OPTIONAL { ?s :description ?d } } }",
         "hash optional ~840; >scan ?s :description ?d in ?g ~840; hash join ~180; >scan ?s a :C0 "
         "in ?g ~420; scan ?s :size \"3\" ~120; ",
         "", 40, 1380, 3},
        {"SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }",
         "distinct ~5888; scan ?s ?p ?o in ?g ~5888; ", "", 4, 5888, 1},
        {"SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s :size 4 } }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; counts by ?s, with graphs ~120; "
         "scan ?s :size \"4\" in ?g ~120; ",
         "", 1, 0, 1},
        {"SELECT ?g (COUNT(DISTINCT ?z) AS ?n) { GRAPH ?g { ?s :size ?z } } GROUP BY ?g",
         "bind 1 expressions ~127; group 1 keys, 1 aggregates ~127; scan ?s :size ?z in ?g ~1260; ",
         "", 4, 1260, 1},
    };
    (void)state;
    CHECK_PLANS(plans);
}

/* What is optional or taken away is looked up or read whole, whichever is less. */
static void
optional_and_minus_are_beside(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * { ?s :size 3 OPTIONAL { ?s :description ?d } }",
         "hash optional ~840; >scan ?s :description ?d ~840; scan ?s :size \"3\" ~120; ", "", 120,
         960, 2},
        {"SELECT * { ?s :size ?z OPTIONAL { ?s :description ?d } FILTER(!BOUND(?d)) }",
         "minus ~1260; >counts by ?s ~840; >scan ?s :description ?d ~840; scan ?s :size ?z ~1260; ",
         "", 400, 1260, 2},
        {"SELECT * { ?s :size ?z OPTIONAL { ?s :description ?d } FILTER(BOUND(?d)) }",
         "filter ~1260; hash optional ~1260; >scan ?s :description ?d ~840; scan ?s :size ?z "
         "~1260; ",
         "", 800, 2100, 2},
        {"SELECT * { ?s :size 3 OPTIONAL { ?s :description ?d } FILTER(!BOUND(?d)) }",
         "minus ~120; >counts by ?s ~840; >scan ?s :description ?d ~840; scan ?s :size \"3\" "
         "~120; ",
         "", 40, 120, 2},
        {"SELECT * { ?s :size ?z OPTIONAL { ?s :description ?d FILTER(?d != 'd3') } "
         "FILTER(!BOUND(?d)) }",
         "filter ~1890; optional ~1890; >filter ~1890; >hash join ~1890; >>scan ?s :description ?d "
         "~840; scan ?s :size ?z ~1260; ",
         "", 408, 2100, 2},
        {"SELECT * { ?s :size 3 OPTIONAL { ?s :description ?d } OPTIONAL { ?t :twice ?d } }",
         "optional ~1930; >scan ?t :twice ?d ~1930; hash optional ~840; >scan ?s :description ?d "
         "~840; scan ?s :size \"3\" ~120; ",
         "", 160, 1280, 122},
        {"SELECT * { ?s :size 3 OPTIONAL { ?t :twice ?u } }",
         "hash optional ~960; >scan ?t :twice ?u ~8; scan ?s :size \"3\" ~120; ", "", 240, 128, 2},
        {"SELECT * { OPTIONAL { ?s :size 3 } }", "optional ~120; >scan ?s :size \"3\" ~120; ", "",
         120, 120, 1},
        {"SELECT * { ?s :size 3 OPTIONAL { ?s :description ?d OPTIONAL { ?s :knows ?t } } }",
         "optional ~1260; >hash optional ~1260; >>scan ?s :knows ?t ~1260; >hash join ~180; >>scan "
         "?s :description ?d ~840; scan ?s :size \"3\" ~120; ",
         "", 120, 2220, 3},
        {"SELECT * { ?s :size 3 OPTIONAL { ?s :description ?d FILTER(?s != :s3 && ?d > 'd5') } }",
         "optional ~180; >filter ~180; >hash join ~180; >>scan ?s :description ?d ~840; scan ?s "
         ":size \"3\" ~120; ",
         "", 120, 960, 2},
        {"SELECT * { ?s :size 3 OPTIONAL { { ?s :description ?d } UNION { ?s :label ?d } } }",
         "optional ~360; >union 2 branches ~360; >>hash join ~180; >>>scan ?s :description ?d "
         "~840; >>hash join ~180; >>>scan ?s :label ?d ~1260; scan ?s :size \"3\" ~120; ",
         "", 200, 2220, 3},
        {"SELECT * { ?s :size 3 MINUS { ?s a :C1 } }",
         "minus ~120; >counts by ?s ~420; >scan ?s a :C1 ~420; scan ?s :size \"3\" ~120; ", "", 80,
         120, 2},
        {"SELECT * { ?s :size 3 MINUS { ?t a :C1 } }", "scan ?s :size \"3\" ~120; ", "", 120, 120,
         1},
        {"SELECT * { ?s :size ?z MINUS { ?s :size 3 } MINUS { ?s a :C2 } }",
         "minus ~1260; >counts by ?s ~420; >scan ?s a :C2 ~420; minus ~1260; >counts by ?s ~120; "
         ">scan ?s :size \"3\" ~120; scan ?s :size ?z ~1260; ",
         "", 720, 1260, 3},
        {"SELECT * { ?s :size 3 MINUS { ?s a :C1 ; :description ?d FILTER(?d < 'd5') } }",
         "minus ~120; >filter ~630; >hash join ~630; >>counts by ?s ~420; >>scan ?s a :C1 ~420; "
         ">counts by ?s, with objects ~840; >scan ?s :description ?d ~840; scan ?s :size \"3\" "
         "~120; ",
         "", 120, 120, 3},
        {"SELECT * { { ?s :size 3 } UNION { ?s :size 4 } UNION { ?s :size 5 } ?s a :C1 }",
         "hash join ~540; >union 3 branches ~360; >>scan ?s :size \"3\" ~120; >>scan ?s :size "
         "\"4\" ~120; >>scan ?s :size \"5\" ~120; scan ?s a :C1 ~420; ",
         "", 120, 780, 4},
        {"SELECT * { { ?s :size 3 } UNION { } }",
         "union 2 branches ~121; >scan ?s :size \"3\" ~120; ", "", 121, 120, 1},
        {"SELECT (COUNT(?d) AS ?n) { ?s :size ?z OPTIONAL { ?s :description ?d } }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; hash optional ~1260; >counts by ?s "
         "~840; >scan ?s :description ?d ~840; counts by ?s ~1260; scan ?s :size ?z ~1260; ",
         "", 1, 0, 2},
        {"SELECT (COUNT(*) AS ?n) { ?s :size ?z OPTIONAL { ?s :description ?d } FILTER(!BOUND(?d)) "
         "}",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; minus ~1260; >counts by ?s ~840; "
         ">scan ?s :description ?d ~840; counts by ?s ~1260; scan ?s :size ?z ~1260; ",
         "", 1, 0, 2},
        {"SELECT ?z (COUNT(?d) AS ?n) { ?s :size ?z OPTIONAL { ?s :description ?d FILTER(?d > "
         "'d5') } } GROUP BY ?z",
         "bind 1 expressions ~190; group 1 keys, 1 aggregates ~190; optional ~1890; >filter ~1890; "
         ">hash join ~1890; >>counts by ?s, with objects ~840; >>scan ?s :description ?d ~840; "
         "scan ?s :size ?z ~1260; ",
         "", 10, 1260, 2},
    };
    (void)state;
    CHECK_PLANS(plans);
}

/* A filter stands where its variables are bound. */
static void
filters_are_as_deep_as_they_can_be(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * { ?s :size ?z ; :label ?l FILTER(?z = 3) }",
         "hash join ~1890; >scan ?s :label ?l ~1260; filter ~1260; scan ?s :size ?z ~1260; ", "",
         120, 2520, 2},
        {"SELECT * { ?s :size ?z ; :label ?l FILTER(?z = 3 && ?l > '5') }",
         "filter ~1890; hash join ~1890; >scan ?s :label ?l ~1260; filter ~1260; scan ?s :size ?z "
         "~1260; ",
         "", 31, 2520, 2},
        {"SELECT * { ?s :size ?z ; :label ?l FILTER(?z = 3 || ?l > '598') }",
         "filter ~1890; hash join ~1890; >scan ?s :label ?l ~1260; scan ?s :size ?z ~1260; ", "",
         201, 2520, 2},
        {"SELECT * { ?s :size ?z FILTER(?z IN (1, 2)) }", "filter ~1260; scan ?s :size ?z ~1260; ",
         "", 240, 1260, 1},
        {"SELECT * { ?s :size ?z FILTER(?z NOT IN (1, 2, 3, 4, 5, 6, 7)) }",
         "filter ~1260; scan ?s :size ?z ~1260; ", "", 360, 1260, 1},
        {"SELECT * { ?s :label ?l FILTER(?s = :s5) }",
         "listed of ?s ~2; scan ?s :label ?l ~2; filter ~1; values 1 rows ~1; ", "", 1, 1, 1},
        {"SELECT * { ?s :label ?l FILTER(sameTerm(?s, :s5)) }",
         "listed of ?s ~2; scan ?s :label ?l ~2; filter ~1; values 1 rows ~1; ", "", 1, 0, 0},
        {"SELECT * { ?s :knows ?t FILTER(?s = ?t) }", "filter ~1260; scan ?s :knows ?t ~1260; ", "",
         0, 1260, 1},
        {"SELECT * { ?s ?p ?o FILTER(?p = :twice) }",
         "scan ?s ?p ?o ~435; filter ~1; values 1 rows ~1; ", "", 2, 8, 1},
        {"SELECT * { ?s ?p ?o FILTER(isIRI(?o)) }", "filter ~5888; scan ?s ?p ?o ~5888; ", "", 2400,
         5888, 1},
        {"SELECT * { ?s ?p ?o FILTER(isLiteral(?o) && ?p != :label) }",
         "filter ~5888; filter ~5888; scan ?s ?p ?o ~5888; ", "", 2002, 5888, 1},
        {"SELECT * { ?s :size ?z BIND(?z + 1 AS ?y) FILTER(?y > 9) }",
         "filter ~1260; bind 1 expressions ~1260; scan ?s :size ?z ~1260; ", "", 120, 1260, 1},
        {"SELECT * { ?s :size ?z BIND(?z + 1 AS ?y) ?t :twice ?y }",
         "hash join ~1260; >bind 1 expressions ~1260; >scan ?s :size ?z ~1260; scan ?t :twice ?y "
         "~8; ",
         "", 240, 1268, 2},
        {"SELECT * { ?s :size 3 FILTER EXISTS { ?s a :C1 } }",
         "semi-join ~120; >counts by ?s ~420; >scan ?s a :C1 ~420; scan ?s :size \"3\" ~120; ", "",
         40, 120, 2},
        {"SELECT * { ?s :size ?z FILTER NOT EXISTS { ?s a :C1 } FILTER NOT EXISTS { ?s a :C2 } }",
         "minus ~1260; >counts by ?s ~420; >scan ?s a :C2 ~420; minus ~1260; >counts by ?s ~420; "
         ">scan ?s a :C1 ~420; scan ?s :size ?z ~1260; ",
         "", 400, 1260, 3},
        {"SELECT * { ?s :size 3 FILTER(EXISTS { ?s a :C1 } || ?s = :s13) }",
         "filter ~120; >scan ?s a :C1 ~2; scan ?s :size \"3\" ~120; ", "", 40, 160, 121},
        {"SELECT * { ?s :size 3 FILTER EXISTS { ?s :knows ?t . ?t a :C0 FILTER(?t != ?s) } }",
         "semi-join ~120; >filter ~7301; >merge join by ?t ~7301; >>scan ?s :knows ?t ~1260; "
         ">counts by ?t ~7301; >scan ?t a :C0 ~420; scan ?s :size \"3\" ~120; ",
         "", 40, 1380, 3},
        {"SELECT * { ?s :size 3 FILTER(STRLEN(STR(?s)) > 100) }",
         "filter ~120; scan ?s :size \"3\" ~120; ", "", 0, 120, 1},
        {"SELECT * { FILTER(1 = 2) ?s :size ?z }", "filter ~1260; scan ?s :size ?z ~1260; ", "", 0,
         1260, 1},
        {"SELECT * { ?l q:matches '7' . ?s :label ?l ; :size ?z }",
         "hash join ~2608; >scan ?s :size ?z ~1260; hash join ~1738; >search \"7\" ~100; scan ?s "
         ":label ?l ~1260; ",
         "", 2, 2520, 2},
        {"SELECT * { ?l q:matches '7' ; q:score ?r . ?s :label ?l }",
         "hash join ~1738; >search \"7\" ~100; scan ?s :label ?l ~1260; ", "", 2, 1260, 1},
        {"SELECT * { ?s :size 3 ; :label ?l . ?l q:matches '6' }",
         "hash join ~2608; >scan ?s :size \"3\" ~120; hash join ~1738; >search \"6\" ~100; scan ?s "
         ":label ?l ~1260; ",
         "", 1, 1380, 2},
    };
    (void)state;
    CHECK_PLANS(plans);
}

/* What is selected within is planned by itself. */
static void
selections_stand_within_others(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * { { SELECT ?z { ?s :size ?z } ORDER BY ?s LIMIT 3 } ?t :size ?z ; :label '7' }",
         "hash join ~3; >slice offset 0, limit 3 ~3; >project ~1260; >order 1 keys ~1260; >scan ?s "
         ":size ?z ~1260; listed of ?t ~3; scan ?t :size ?z ~3; scan ?t :label \"7\" ~2; ",
         "", 0, 1264, 4},
        {"SELECT * { { SELECT DISTINCT ?z { :t :twice ?z } } ?s :size ?z }",
         "listed of ?z ~139; scan ?s :size ?z ~139; distinct ~8; project ~8; counts by ?z ~8; scan "
         ":t :twice ?z ~8; ",
         "", 240, 0, 1},
        {"SELECT * { { SELECT ?z (COUNT(*) AS ?n) { ?s :size ?z } GROUP BY ?z } :t :twice ?z }",
         "hash join ~127; >project ~127; >bind 1 expressions ~127; >group 1 keys, 1 aggregates "
         "~127; >counts by ?z ~1260; >scan ?s :size ?z ~1260; scan :t :twice ?z ~8; ",
         "", 2, 8, 2},
        {"SELECT * { ?s :label '7' { SELECT ?s (MAX(?z) AS ?m) { ?s :size ?z } GROUP BY ?s } }",
         "hash join ~127; >project ~127; >bind 1 expressions ~127; >group 1 keys, 1 aggregates "
         "~127; >scan ?s :size ?z ~1260; scan ?s :label \"7\" ~2; ",
         "", 2, 1262, 2},
        {"SELECT ?z { ?s :size ?z } GROUP BY ?z HAVING(COUNT(*) > 100) ORDER BY DESC(?z) LIMIT 2",
         "slice offset 0, limit 2 ~2; order 1 keys ~64; filter ~127; group 1 keys, 1 aggregates "
         "~127; counts by ?z ~1260; scan ?s :size ?z ~1260; ",
         "", 2, 0, 1},
        {"SELECT (SUM(?n) AS ?m) { { SELECT (COUNT(*) AS ?n) { ?s :size ?z } GROUP BY ?z } }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; project ~127; bind 1 expressions "
         "~127; group 1 keys, 1 aggregates ~127; counts by ?z ~1260; scan ?s :size ?z ~1260; ",
         "", 1, 0, 1},
        {"SELECT DISTINCT ?z { ?s :size ?z ; :label ?l } ORDER BY ?z",
         "order 1 keys ~1890; distinct ~1890; hash join ~1890; >counts by ?s ~1260; >scan ?s "
         ":label ?l ~1260; counts by ?s, with objects ~1260; scan ?s :size ?z ~1260; ",
         "", 10, 0, 2},
        {"SELECT ?s { ?s :size ?z } ORDER BY DESC(?z) ?s LIMIT 4",
         "slice offset 0, limit 4 ~4; order 2 keys ~1260; scan ?s :size ?z ~1260; ", "", 4, 1260,
         1},
        {"SELECT ?s { ?s :size ?z } ORDER BY ?z ?s OFFSET 1198 LIMIT 4",
         "slice offset 1198, limit 4 ~4; order 2 keys ~1260; scan ?s :size ?z ~1260; ", "", 2, 1260,
         1},
        {"SELECT * { VALUES (?s ?z) { (:s3 3) (UNDEF 4) (:s5 UNDEF) } ?s :size ?z }",
         "scan ?s :size ?z ~2; values 3 rows ~3; ", "", 122, 122, 3},
        {"SELECT * { VALUES ?z { 1 2 } VALUES ?c { :C1 :C2 } ?s a ?c ; :size ?z }",
         "hash join ~35; >values 2 rows ~70; >listed of ?z ~35; >scan ?s :size ?z ~35; >values 2 "
         "rows ~2; scan ?s a ?c ~1260; ",
         "", 160, 1260, 1},
        {"SELECT * { VALUES ?l { '7' '8' '9' 'none' } ?s :label ?l ; :size ?z ; a ?c }",
         "hash join ~156; >hash join ~104; >>listed of ?l ~70; >>scan ?s :label ?l ~70; >>values 4 "
         "rows ~4; >scan ?s :size ?z ~1260; scan ?s a ?c ~1260; ",
         "", 6, 2526, 5},
    };
    (void)state;
    CHECK_PLANS(plans);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_are_ordered_by_what_is_bound),
        cmocka_unit_test(paths_are_joined),
        cmocka_unit_test(graphs_are_named),
        cmocka_unit_test(optional_and_minus_are_beside),
        cmocka_unit_test(filters_are_as_deep_as_they_can_be),
        cmocka_unit_test(selections_stand_within_others),
    };
    return cmocka_run_group_tests(tests, open_one, parted_close);
}
