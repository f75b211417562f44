/* Plans as query_explain tells them: which way to join is taken, in which order, and how many rows
 * are thought to come; and what a run of them reads and answers. So that a change of an estimate
 * shows what it changes. */
#include "base/digest.h"
#include "rdf/core/writer.h"
#include "tests/unit/brief.h"
#include "tests/unit/query/plan_case.h"

enum { ROWS_MOST = 100000 };

/* A plan's last step comes first; > stands for a step further inside, ~ for how many rows it is
 * thought to give. */
struct shape {
    const char *query, *plan;
    uint64_t rows, scanned, scans; /* as the run reports them */
    size_t memory;                 /* the highest that it counts, in bytes */
    uint32_t answers;              /* the sum of the rows' digests, in whatever order they come */
};

static const struct shape shapes[] = {
    {"SELECT * { ?s :label ?l }", "scan ?s :label ?l ~6000", 4000, 6000, 1, 17688, 0x9a81f565},
    {"SELECT * { ?s a ?c }", "scan ?s a ?c ~6000", 4000, 6000, 1, 32024, 0x5e038478},
    {"SELECT * { ?s a :C1 ; :label ?l }",
     "hash join ~2998; >scan ?s a :C1 ~1999; scan ?s :label ?l ~6000", 1333, 7999, 2, 91440,
     0xd6a77af5},
    {"SELECT * { ?s a ?c ; :description ?d ; :label ?l }",
     "hash join ~9000; >scan ?s :label ?l ~6000; hash join ~6000; >scan ?s :description ?d ~4000; "
     "scan ?s a ?c ~6000",
     4000, 16000, 3, 523640, 0x06f7d5ae},
    {"SELECT * { ?s :a ?x ; :b ?y }", "listed of ?s ~90; scan ?s :b ?y ~90; scan ?s :a ?x ~60",
     3600, 120, 2, 34872, 0x640ca5f4},
    {"SELECT * { ?s :a ?x ; :b ?x }", "scan ?s :b ?x ~30; scan ?s :a ?x ~60", 60, 120, 61, 23832,
     0xe536b7de},
    {"SELECT * { ?a :knows ?b . ?b a ?c }",
     "hash join ~4002; >scan ?a :knows ?b ~2668; scan ?b a ?c ~6000", 1333, 8668, 2, 222528,
     0x655c1062},
    {"SELECT * { ?a :knows ?b . ?c :knows ?b . FILTER(?b != :hub) }",
     "merge join by ?b ~62612; >scan ?c :knows ?b ~2668; filter ~2668; scan ?a :knows ?b ~2668",
     1334, 5336, 2, 67136, 0xa5064b85},
    {"SELECT * { ?s a :C0 OPTIONAL { ?s :description ?d } }",
     "hash optional ~4000; >scan ?s :description ?d ~4000; scan ?s a :C0 ~2001", 2001, 6001, 2,
     177456, 0xfb3d3f62},
    {"SELECT * { ?s a :C0 OPTIONAL { ?s :knows ?k . ?k :a ?v } }",
     "optional ~4502; >hash join ~4502; >>scan ?k :a ?v ~60; >hash join ~3002; >>scan ?s :knows ?k "
     "~2668; scan ?s a :C0 ~2001",
     80040, 4729, 3, 249464, 0xa8b4afc5},
    {"SELECT * { ?s a :C0 OPTIONAL { ?s :description ?d } OPTIONAL { ?s :knows ?k } }",
     "hash optional ~4000; >scan ?s :knows ?k ~2668; hash optional ~4000; >scan ?s :description ?d "
     "~4000; scan ?s a :C0 ~2001",
     4002, 8669, 3, 363872, 0x6d4d9ca6},
    {"SELECT * { ?s a :C0 OPTIONAL { ?s :description ?d FILTER(?d > 'e3') } }",
     "optional ~3002; >filter ~3002; >hash join ~3002; >>scan ?s :description ?d ~4000; scan ?s a "
     ":C0 ~2001",
     1334, 6001, 2, 200000, 0xda2ff129},
    {"SELECT * { ?s :label ?l FILTER NOT EXISTS { ?s :description ?d } }",
     "minus ~6000; >counts by ?s ~4000; >scan ?s :description ?d ~4000; scan ?s :label ?l ~6000",
     2000, 6000, 2, 67130664, 0x5b2ac4b4},
    {"SELECT * { ?s :label ?l FILTER EXISTS { ?s :knows ?k } }",
     "semi-join ~6000; >counts by ?s ~2668; >scan ?s :knows ?k ~2668; scan ?s :label ?l ~6000",
     1334, 6000, 2, 67130664, 0x51fdf03c},
    {"SELECT * { ?s :label ?l FILTER EXISTS { ?s :description ?d FILTER(?d = CONCAT('d', ?l)) } }",
     "filter ~6000; >filter ~2; >scan ?s :description ?d ~2; scan ?s :label ?l ~6000", 2000, 8000,
     4001, 27968, 0x3f5730b1},
    {"SELECT * { ?s :label ?l OPTIONAL { ?s :knows ?k } FILTER NOT EXISTS { ?k :a ?v } }",
     "filter ~6000; >scan ?k :a ?v ~2; hash optional ~6000; >scan ?s :knows ?k ~2668; scan ?s "
     ":label ?l ~6000",
     1334, 12668, 5336, 216440, 0xd9c0e6e4},
    {"SELECT * { ?s a ?c FILTER NOT EXISTS { ?s :nothing ?k } }",
     "minus ~6000; >scan ?s :nothing ?k ~0; scan ?s a ?c ~6000", 4000, 6000, 1, 46416, 0x5e038478},
    {"SELECT * { { ?s :knows ?k } UNION { ?s :description ?k } }",
     "union 2 branches ~6668; >scan ?s :knows ?k ~2668; >scan ?s :description ?k ~4000", 6668, 6668,
     2, 52504, 0x4541dd6c},
    {"SELECT * { ?s a :C0 { ?s :knows ?k } UNION { ?s :description ?d } }",
     "union 2 branches ~6003; >hash join ~3002; >>scan ?s :knows ?k ~2668; >hash join ~3002; "
     ">>scan ?s :description ?d ~4000; scan ?s a :C0 ~2001",
     4002, 8669, 3, 380256, 0xe1c505b4},
    {"SELECT * { ?x :self ?y FILTER(?x = ?y) }", "filter ~4; scan ?x :self ?y ~4", 1, 4, 1, 17688,
     0x20ca28a3},
    {"SELECT * { ?s :label ?l BIND(STRLEN(?l) AS ?n) }",
     "bind 1 expressions ~6000; scan ?s :label ?l ~6000", 4000, 6000, 1, 412960, 0x63326c89},
    {"SELECT * { VALUES ?s { :s1 :s2 :s1 } ?s a ?c }",
     "listed of ?s ~4; scan ?s a ?c ~4; values 3 rows ~3", 3, 3, 2, 28712, 0xcb1cb7ee},
    {"SELECT * { GRAPH ?g { ?s a :C0 ; :label ?l } }",
     "hash join ~2001; >scan ?s a :C0 in ?g ~2001; scan ?s :label ?l in ?g ~6000", 2001, 8001, 2,
     111936, 0xc5d53444},
    {"SELECT * { { SELECT DISTINCT ?c { ?s a ?c } } ?t a ?c }",
     "hash join ~194721; >scan ?t a ?c ~6000; distinct ~6000; project ~6000; counts by ?c ~6000; "
     "scan ?s a ?c ~6000",
     4000, 6000, 2, 67130624, 0xb0d0c503},
    {"SELECT * { { SELECT ?c { ?s a ?c } LIMIT 7 } ?c ?p ?t }",
     "scan ?c ?p ?t ~56; slice offset 0, limit 7 ~7; project ~6000; scan ?s a ?c ~6000", 0, 7, 8,
     24240, 0x00000000},
    {"SELECT * { ?s :knows/:a ?v }",
     "listed of ? ~1408; scan ?s :knows _:2 ~1408; scan _:2 :a ?v ~60", 80040, 80100, 61, 177720,
     0xf5c15ba1},
    {"SELECT * { ?s :description ?d ; :knows ?k }",
     "hash join ~4002; >scan ?s :knows ?k ~2668; scan ?s :description ?d ~4000", 2668, 6668, 2,
     208192, 0x9bdc5007},
    {"SELECT * { ?s :knows ?k OPTIONAL { ?s :description ?d } }",
     "hash optional ~4000; >scan ?s :description ?d ~4000; scan ?s :knows ?k ~2668", 4002, 6668, 2,
     200000, 0x882fb85c},
    {"SELECT * { VALUES ?s { :s1 :s2 :hub :s1 :s6 :none 7 } ?s ?p ?o }",
     "scan ?s ?p ?o ~56; values 7 rows ~7", 200, 206, 6, 25888, 0x971958ba},
    {"SELECT * { VALUES ?s { :s1 :s2 :hub :s1 :s6 } ?s ?p ?o }",
     "scan ?s ?p ?o ~40; values 5 rows ~5", 200, 206, 5, 25888, 0x971958ba},
    {"SELECT * { VALUES (?s ?v) { (:s6 1) (:hub 1) (:s6 2) } ?s ?p ?o }",
     "scan ?s ?p ?o ~24; values 3 rows ~3", 192, 196, 3, 29992, 0x2eaee981},
    {"SELECT * { VALUES ?s { :s1 :s2 :hub } ?s ?p ?o FILTER(?p != :label) }",
     "filter ~24; scan ?s ?p ?o ~24; values 3 rows ~3", 187, 192, 3, 25888, 0xcf6ac663},
    {"SELECT * { ?x :self ?o . ?s ?p ?o . ?o ?t ?r }",
     "scan ?s ?p ?o ~320; scan ?o ?t ?r ~32; scan ?x :self ?o ~4", 13, 29, 13, 54584, 0x314c5f42},
    {"SELECT * { VALUES ?x { :s0 :s3 } ?x :knows ?s OPTIONAL { ?s ?p ?o } }",
     "optional ~24; >scan ?s ?p ?o ~24; listed of ?x ~3; scan ?x :knows ?s ~3; values 2 rows ~2",
     366, 372, 6, 77912, 0x3851773c},
    {"SELECT * { VALUES ?s { :s1 :hub } { ?s ?p ?o } UNION { ?o ?p ?s } }",
     "union 2 branches ~36; >scan ?s ?p ?o ~16; >scan ?o ?p ?s ~20; values 2 rows ~2", 1520, 1521,
     4, 50464, 0xd3b5553f},
    {"SELECT * { ?x :self ?s GRAPH ?g { ?s ?p ?o } }",
     "scan ?s ?p ?o in ?g ~32; scan ?x :self ?s ~4", 12, 16, 4, 36144, 0x89bf1102},
    {"SELECT * { GRAPH ?g { ?s :label ?l } GRAPH ?h { ?s a :C0 } }",
     "hash join ~3002; >scan ?s :label ?l in ?g ~6000; scan ?s a :C0 in ?h ~2001", 3335, 8001, 2,
     417104, 0xf12d6e2f},
    {"SELECT * { GRAPH ?g { ?s a :C0 } FILTER(?g = :g1) }",
     "scan ?s a :C0 in ?g ~1000; filter ~1; values 1 rows ~1", 1334, 1334, 1, 21784, 0xcb931558},
    {"SELECT * { GRAPH ?g { ?s a :C0 } OPTIONAL { GRAPH ?h { ?s :description ?d } } }",
     "optional ~3002; >hash join ~3002; >>scan ?s :description ?d in ?h ~4000; scan ?s a :C0 in ?g "
     "~2001",
     3335, 6001, 2, 251232, 0x81bc24aa},
    {"SELECT * { GRAPH ?g { ?s ?p ?g } }", "scan ?s ?p ?g in ?g ~18852", 1, 18852, 1, 8224,
     0x0efd36fc},
    {"SELECT * { ?s :knows ?o FILTER(isIRI(?s)) FILTER(?o != :hub) }",
     "filter ~2668; filter ~2668; scan ?s :knows ?o ~2668", 1334, 2668, 1, 32024, 0x69f3d25a},
    {"SELECT ?s (COUNT(*) AS ?q) { ?s :label ?l } GROUP BY ?s",
     "bind 1 expressions ~601; group 1 keys, 1 aggregates ~601; counts by ?s ~6000; scan ?s :label "
     "?l ~6000",
     4000, 0, 1, 67118336, 0x649d3873},
    {"SELECT ?c (COUNT(*) AS ?q) { ?s a ?c ; :description ?d ; :label ?l } GROUP BY ?c",
     "bind 1 expressions ~901; group 1 keys, 1 aggregates ~901; hash join ~9000; >counts by ?s "
     "~6000; >scan ?s :label ?l ~6000; hash join ~6000; >counts by ?s ~4000; >scan ?s :description "
     "?d ~4000; scan ?s a ?c ~6000",
     3, 6000, 3, 67336832, 0xcad9bbd9},
    {"SELECT ?x (COUNT(*) AS ?q) { ?s :a ?x ; :b ?x } GROUP BY ?x",
     "bind 1 expressions ~4; group 1 keys, 1 aggregates ~4; scan ?s :b ?x ~30; scan ?s :a ?x ~60",
     60, 120, 61, 62512, 0x44856be2},
    {"SELECT ?c (COUNT(*) AS ?q) { ?a :knows ?b . ?b a ?c } GROUP BY ?c",
     "bind 1 expressions ~401; group 1 keys, 1 aggregates ~401; hash join ~4002; >counts by ?b "
     "~2668; >scan ?a :knows ?b ~2668; counts by ?b, with objects ~6000; scan ?b a ?c ~6000",
     1, 0, 2, 67196728, 0xe399a9dd},
    {"SELECT ?d (COUNT(*) AS ?q) { ?s a :C0 OPTIONAL { ?s :description ?d } } GROUP BY ?d",
     "bind 1 expressions ~401; group 1 keys, 1 aggregates ~401; hash optional ~4000; >scan ?s "
     ":description ?d ~4000; counts by ?s ~2001; scan ?s a :C0 ~2001",
     1335, 4000, 2, 67130624, 0x69c2c4bd},
    {"SELECT ?s (COUNT(*) AS ?q) { ?s :label ?l FILTER NOT EXISTS { ?s :description ?d } } GROUP "
     "BY ?s",
     "bind 1 expressions ~301; group 1 keys, 1 aggregates ~301; minus ~6000; >counts by ?s ~4000; "
     ">scan ?s :description ?d ~4000; counts by ?s ~6000; scan ?s :label ?l ~6000",
     2000, 0, 2, 67215168, 0x2a81ae07},
    {"SELECT ?s (COUNT(*) AS ?q) { ?s :label ?l FILTER EXISTS { ?s :description ?d FILTER(?d = "
     "CONCAT('d', ?l)) } } GROUP BY ?s",
     "bind 1 expressions ~301; group 1 keys, 1 aggregates ~301; filter ~6000; >filter ~2; >scan ?s "
     ":description ?d ~2; scan ?s :label ?l ~6000",
     2000, 8000, 4001, 505200, 0x3a1b8a6c},
    {"SELECT ?c (COUNT(*) AS ?q) { ?s a ?c FILTER NOT EXISTS { ?s :nothing ?k } } GROUP BY ?c",
     "bind 1 expressions ~301; group 1 keys, 1 aggregates ~301; minus ~6000; >scan ?s :nothing ?k "
     "~0; scan ?s a ?c ~6000",
     3, 6000, 1, 80000, 0x5866449d},
    {"SELECT ?s (COUNT(*) AS ?q) { { ?s :knows ?k } UNION { ?s :description ?k } } GROUP BY ?s",
     "bind 1 expressions ~668; group 1 keys, 1 aggregates ~668; union 2 branches ~6668; >counts by "
     "?s ~2668; >scan ?s :knows ?k ~2668; >counts by ?s ~4000; >scan ?s :description ?k ~4000",
     2667, 0, 2, 67627152, 0xce471811},
    {"SELECT ?x (COUNT(*) AS ?q) { ?x :self ?x } GROUP BY ?x",
     "bind 1 expressions ~1; group 1 keys, 1 aggregates ~1; scan ?x :self ?x ~4", 1, 4, 1, 36904,
     0xef5ed317},
    {"SELECT ?n (COUNT(*) AS ?q) { ?s :label ?l BIND(STRLEN(?l) AS ?n) } GROUP BY ?n",
     "bind 1 expressions ~601; group 1 keys, 1 aggregates ~601; bind 1 expressions ~6000; counts "
     "by ?l ~6000; scan ?s :label ?l ~6000",
     4, 0, 1, 67118336, 0x7bd653c8},
    {"SELECT ?g (COUNT(*) AS ?q) { GRAPH ?g { ?s a :C0 ; :label ?l } } GROUP BY ?g",
     "bind 1 expressions ~201; group 1 keys, 1 aggregates ~201; hash join ~2001; >counts by ?s, "
     "with graphs ~2001; >scan ?s a :C0 in ?g ~2001; counts by ?s, with graphs ~6000; scan ?s "
     ":label ?l in ?g ~6000",
     2, 0, 2, 67228728, 0x7385b1d3},
    {"SELECT ?c (COUNT(*) AS ?q) { { SELECT DISTINCT ?c { ?s a ?c } } ?t a ?c } GROUP BY ?c",
     "bind 1 expressions ~19473; group 1 keys, 1 aggregates ~19473; hash join ~194721; >counts by "
     "?c ~6000; >scan ?t a ?c ~6000; distinct ~6000; project ~6000; counts by ?c ~6000; scan ?s a "
     "?c ~6000",
     3, 0, 2, 67138680, 0x5866449d},
    {"SELECT ?v (COUNT(*) AS ?q) { ?s :knows/:a ?v } GROUP BY ?v",
     "bind 1 expressions ~142; group 1 keys, 1 aggregates ~142; listed of ? ~1408; scan ?s :knows "
     "_:4 ~1408; scan _:4 :a ?v ~60",
     60, 80100, 61, 147048, 0x6575293a},
    {"SELECT ?k (COUNT(*) AS ?q) { ?s :description ?d ; :knows ?k } GROUP BY ?k",
     "bind 1 expressions ~401; group 1 keys, 1 aggregates ~401; hash join ~4002; >counts by ?s, "
     "with objects ~2668; >scan ?s :knows ?k ~2668; counts by ?s ~4000; scan ?s :description ?d "
     "~4000",
     668, 0, 2, 67179064, 0x44b0c4ec},
    {"SELECT ?k (COUNT(*) AS ?q) { ?s :knows ?k OPTIONAL { ?s :description ?d } } GROUP BY ?k",
     "bind 1 expressions ~401; group 1 keys, 1 aggregates ~401; hash optional ~4000; >counts by ?s "
     "~4000; >scan ?s :description ?d ~4000; scan ?s :knows ?k ~2668",
     1335, 2668, 2, 67134776, 0x2763abc6},
    {"SELECT ?s (COUNT(*) AS ?q) { VALUES ?s { :s1 :s2 :hub :s1 :s6 } ?s ?p ?o } GROUP BY ?s",
     "bind 1 expressions ~5; group 1 keys, 1 aggregates ~5; predicates of ?s ~40; scan ?s ?p ?o "
     "~40; values 5 rows ~5",
     4, 200, 4, 64360, 0xc83e0f95},
    {"SELECT ?p (COUNT(*) AS ?q) { VALUES ?s { :s1 :s2 :hub } ?s ?p ?o FILTER(?p != :label) } "
     "GROUP BY ?p",
     "bind 1 expressions ~2; group 1 keys, 1 aggregates ~2; filter ~24; predicates of ?s ~24; scan "
     "?s ?p ?o ~24; values 3 rows ~3",
     6, 0, 0, 62056, 0xb139ca80},
    {"SELECT ?t (COUNT(*) AS ?q) { ?x :self ?o . ?s ?p ?o . ?o ?t ?r } GROUP BY ?t",
     "bind 1 expressions ~33; group 1 keys, 1 aggregates ~33; predicates of ?o ~320; scan ?s ?p ?o "
     "~320; predicates of ?o ~32; scan ?o ?t ?r ~32; scan ?x :self ?o ~4",
     4, 7, 4, 110048, 0x2083ad12},
    {"SELECT ?p (COUNT(*) AS ?q) { VALUES ?s { :s1 :hub } { ?s ?p ?o } UNION { ?o ?p ?s } } GROUP "
     "BY ?p",
     "bind 1 expressions ~5; group 1 keys, 1 aggregates ~5; union 2 branches ~36; >predicates of "
     "?s ~16; >scan ?s ?p ?o ~16; >predicates of ?s ~20; >scan ?o ?p ?s ~20; values 2 rows ~2",
     7, 1334, 1, 112024, 0x59a3372b},
    {"SELECT ?s (COUNT(*) AS ?q) { GRAPH ?g { ?s :label ?l } GRAPH ?h { ?s a :C0 } } GROUP BY ?s",
     "bind 1 expressions ~301; group 1 keys, 1 aggregates ~301; hash join ~3002; >counts by ?s, "
     "quads ~6000; >scan ?s :label ?l in ?g ~6000; counts by ?s, quads ~2001; scan ?s a :C0 in ?h "
     "~2001",
     1334, 0, 2, 67172512, 0x0bba9c8b},
    {"SELECT ?s (COUNT(*) AS ?q) { GRAPH ?g { ?s a :C0 } FILTER(?g = :g1) } GROUP BY ?s",
     "bind 1 expressions ~51; group 1 keys, 1 aggregates ~51; scan ?s a :C0 in ?g ~1000; filter "
     "~1; values 1 rows ~1",
     1334, 1334, 1, 496944, 0xb587092f},
    {"SELECT ?p (COUNT(*) AS ?q) { ?s ?p ?o FILTER(isLiteral(?o)) } GROUP BY ?p",
     "bind 1 expressions ~944; group 1 keys, 1 aggregates ~944; filter ~18852; scan ?s ?p ?o "
     "~18852",
     5, 18852, 1, 43064, 0x46f278b3},
    {"SELECT ?o (COUNT(*) AS ?q) { ?s :knows ?o FILTER(isIRI(?s)) FILTER(?o != :hub) } GROUP BY ?o",
     "bind 1 expressions ~134; group 1 keys, 1 aggregates ~134; filter ~2668; filter ~2668; scan "
     "?s :knows ?o ~2668",
     1334, 2668, 1, 501040, 0x9044cf05},
    {"SELECT (COUNT(*) AS ?q) { ?s a ?c }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; counts by all ~6000; scan ?s a ?c "
     "~6000",
     1, 0, 1, 67118336, 0x0d914c52},
    {"SELECT (COUNT(*) AS ?q) { ?s a ?c ; :description ?d ; :label ?l }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; hash join ~9000; >counts by ?s ~6000; "
     ">scan ?s :label ?l ~6000; hash join ~6000; >counts by ?s ~4000; >scan ?s :description ?d "
     "~4000; counts by ?s ~6000; scan ?s a ?c ~6000",
     1, 0, 3, 67230784, 0x0d914c52},
    {"SELECT (COUNT(*) AS ?q) { ?a :knows ?b . ?b :a ?v }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; listed of ?b ~1408; scan ?a :knows ?b "
     "~1408; scan ?b :a ?v ~60",
     1, 1394, 2, 137320, 0x0b0f7817},
    {"SELECT (COUNT(*) AS ?q) { ?s a :C0 OPTIONAL { ?s :description ?d } }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; hash optional ~4000; >counts by ?s "
     "~4000; >scan ?s :description ?d ~4000; counts by ?s ~2001; scan ?s a :C0 ~2001",
     1, 0, 2, 67152016, 0x55d60647},
    {"SELECT (COUNT(*) AS ?q) { ?s a :C0 OPTIONAL { ?s :description ?d FILTER(?d > 'e3') } }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; optional ~3002; >filter ~3002; >hash "
     "join ~3002; >>counts by ?s, with objects ~4000; >>scan ?s :description ?d ~4000; counts by "
     "?s ~2001; scan ?s a :C0 ~2001",
     1, 0, 2, 67182744, 0xec0dd677},
    {"SELECT (COUNT(*) AS ?q) { ?s :label ?l FILTER EXISTS { ?s :description ?d FILTER(?d = "
     "CONCAT('d', ?l)) } }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; filter ~6000; >filter ~2; >scan ?s "
     ":description ?d ~2; scan ?s :label ?l ~6000",
     1, 8000, 4001, 58992, 0xe137d03c},
    {"SELECT (COUNT(*) AS ?q) { ?s :description ?d MINUS { ?s :knows ?k } }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; minus ~4000; >counts by ?s ~2668; "
     ">scan ?s :knows ?k ~2668; counts by ?s ~4000; scan ?s :description ?d ~4000",
     1, 0, 2, 67166784, 0xf50942c0},
    {"SELECT (COUNT(*) AS ?q) { ?x :self ?x }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; scan ?x :self ?x ~4", 1, 4, 1, 36392,
     0x3c81f6f5},
    {"SELECT (COUNT(*) AS ?q) { VALUES ?s { :s1 :s2 :s1 } ?s a ?c }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; listed of ?s ~4; scan ?s a ?c ~4; "
     "values 3 rows ~3",
     1, 0, 0, 55384, 0x23f46607},
    {"SELECT (COUNT(*) AS ?q) { { SELECT DISTINCT ?c { ?s a ?c } } ?t a ?c }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; hash join ~194721; >counts by ?c "
     "~6000; >scan ?t a ?c ~6000; distinct ~6000; project ~6000; counts by ?c ~6000; scan ?s a ?c "
     "~6000",
     1, 0, 2, 67138680, 0x0d914c52},
    {"SELECT (COUNT(*) AS ?q) { ?s :label ?l FILTER(RAND() < 2) }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; filter ~6000; scan ?s :label ?l ~6000",
     1, 6000, 1, 40496, 0x0d914c52},
    {"SELECT (COUNT(*) AS ?q) { ?s :knows ?k OPTIONAL { ?s :description ?d } }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; hash optional ~4000; >counts by ?s "
     "~4000; >scan ?s :description ?d ~4000; counts by ?s ~2668; scan ?s :knows ?k ~2668",
     1, 0, 2, 67154072, 0x93011208},
    {"SELECT (COUNT(*) AS ?q) { VALUES (?s ?v) { (:s6 1) (:hub 1) (:s6 2) } ?s ?p ?o }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; predicates of ?s ~24; scan ?s ?p ?o "
     "~24; values 3 rows ~3",
     1, 0, 0, 67704, 0xf33dbb70},
    {"SELECT (COUNT(*) AS ?q) { ?x :self ?o . ?s ?p ?o . ?o ?t ?r }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; predicates of ?o ~320; scan ?s ?p ?o "
     "~320; predicates of ?o ~32; scan ?o ?t ?r ~32; scan ?x :self ?o ~4",
     1, 4, 1, 107232, 0xec7e29d6},
    {"SELECT (COUNT(*) AS ?q) { ?x :self ?s GRAPH ?g { ?s ?p ?o } }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; scan ?s ?p ?o in ?g ~32; scan ?x :self "
     "?s ~4",
     1, 16, 4, 71240, 0xf1bdc6c3},
    {"SELECT (COUNT(*) AS ?q) { GRAPH ?g { ?s a :C0 } FILTER(?g = :g1) }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; scan ?s a :C0 in ?g ~1000; filter ~1; "
     "values 1 rows ~1",
     1, 1334, 1, 50736, 0xec0dd677},
    {"SELECT (COUNT(*) AS ?q) { GRAPH ?g { ?s ?p ?g } }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; scan ?s ?p ?g in ?g ~18852", 1, 18852,
     1, 42552, 0x3c81f6f5},
    {"SELECT (COUNT(*) AS ?q) { ?s :knows ?o FILTER(isIRI(?s)) FILTER(?o != :hub) }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; filter ~2668; filter ~2668; scan ?s "
     ":knows ?o ~2668",
     1, 2668, 1, 54832, 0xec0dd677},
    {"SELECT * { ?s :label ?l } LIMIT 10", "slice offset 0, limit 10 ~10; scan ?s :label ?l ~6000",
     10, 20, 1, 11808, 0xa89fee62},
    {"SELECT * { ?s a :C1 ; :label ?l } LIMIT 10",
     "slice offset 0, limit 10 ~10; scan ?s :label ?l ~2998; scan ?s a :C1 ~1999", 10, 35, 11,
     10000, 0x3095a2f6},
    {"SELECT * { ?s :a ?x ; :b ?x } LIMIT 10",
     "slice offset 0, limit 10 ~10; scan ?s :b ?x ~30; scan ?s :a ?x ~60", 10, 20, 11, 12048,
     0x3ee6178f},
    {"SELECT * { ?a :knows ?b . ?c :knows ?b . FILTER(?b != :hub) } LIMIT 10",
     "slice offset 0, limit 10 ~10; scan ?c :knows ?b ~62612; filter ~2668; scan ?a :knows ?b "
     "~2668",
     10, 1360, 11, 28608, 0x4c458c8a},
    {"SELECT * { ?s a :C0 OPTIONAL { ?s :description ?d } OPTIONAL { ?s :knows ?k } } LIMIT 10",
     "slice offset 0, limit 10 ~10; optional ~4502; >scan ?s :knows ?k ~4502; optional ~3002; "
     ">scan ?s :description ?d ~3002; scan ?s a :C0 ~2001",
     10, 40, 15, 35584, 0xb7e27771},
    {"SELECT * { ?s :label ?l FILTER EXISTS { ?s :knows ?k } } LIMIT 10",
     "slice offset 0, limit 10 ~10; filter ~6000; >scan ?s :knows ?k ~2; scan ?s :label ?l ~6000",
     10, 60, 31, 20128, 0xf933c52b},
    {"SELECT * { ?s a ?c FILTER NOT EXISTS { ?s :nothing ?k } } LIMIT 10",
     "slice offset 0, limit 10 ~10; filter ~6000; >scan ?s :nothing ?k ~0; scan ?s a ?c ~6000", 10,
     10, 1, 20128, 0x08b2285e},
    {"SELECT * { ?s a :C0 { ?s :knows ?k } UNION { ?s :description ?d } } LIMIT 10",
     "slice offset 0, limit 10 ~10; union 2 branches ~6003; >scan ?s :knows ?k ~3002; >scan ?s "
     ":description ?d ~3002; scan ?s a :C0 ~2001",
     10, 30, 6, 18368, 0xc800a9da},
    {"SELECT * { ?s :label ?l BIND(STRLEN(?l) AS ?n) } LIMIT 10",
     "slice offset 0, limit 10 ~10; bind 1 expressions ~6000; scan ?s :label ?l ~6000", 10, 20, 1,
     11904, 0xf7281f15},
    {"SELECT * { ?s :knows/:a ?v } LIMIT 10",
     "slice offset 0, limit 10 ~10; scan ?s :knows _:2 ~1408; scan _:2 :a ?v ~60", 10, 20, 2, 14272,
     0xdc6b4164},
    {"SELECT * { VALUES ?s { :s1 :s2 :hub :s1 :s6 } ?s ?p ?o } LIMIT 10",
     "slice offset 0, limit 10 ~10; scan ?s ?p ?o ~40; values 5 rows ~5", 10, 22, 3, 10176,
     0x3e448cf2},
    {"SELECT * { VALUES ?s { :s1 :hub } { ?s ?p ?o } UNION { ?o ?p ?s } } LIMIT 10",
     "slice offset 0, limit 10 ~10; union 2 branches ~36; >scan ?s ?p ?o ~16; >scan ?o ?p ?s ~20; "
     "values 2 rows ~2",
     10, 16, 2, 18368, 0xb44ee191},
    {"SELECT * { GRAPH ?g { ?a :knows ?b } GRAPH ?h { ?b a ?c } } LIMIT 10",
     "slice offset 0, limit 10 ~10; scan ?b a ?c in ?h ~4002; scan ?a :knows ?b in ?g ~2668", 10,
     1361, 1342, 10528, 0xc8d34be7},
    {"SELECT * { GRAPH ?g { ?s a :C0 } OPTIONAL { GRAPH ?h { ?s :description ?d } } } LIMIT 10",
     "slice offset 0, limit 10 ~10; optional ~3002; >scan ?s :description ?d in ?h ~3002; scan ?s "
     "a :C0 in ?g ~2001",
     10, 20, 10, 22816, 0x4feac32a},
    {"SELECT * { ?s ?p ?o FILTER(isIRI(?o)) } LIMIT 10",
     "slice offset 0, limit 10 ~10; filter ~18852; scan ?s ?p ?o ~18852", 10, 210, 1, 384,
     0x4a149016},
    {"SELECT DISTINCT ?p { ?s ?p ?o }",
     "distinct ~18852; counts by ?p ~18852; scan ?s ?p ?o ~18852", 8, 0, 1, 67108864, 0xfe97aa55},
    {"SELECT DISTINCT ?b { ?a :knows ?b . ?b :a ?v }",
     "distinct ~1408; listed of ?b ~1408; scan ?a :knows ?b ~1408; scan ?b :a ?v ~60", 1, 1394, 2,
     120392, 0x8cc515ad},
    {"SELECT DISTINCT ?k { ?s a :C0 OPTIONAL { ?s :description ?d } OPTIONAL { ?s :knows ?k } }",
     "distinct ~4000; hash optional ~4000; >scan ?s :knows ?k ~2668; hash optional ~4000; >counts "
     "by ?s ~4000; >scan ?s :description ?d ~4000; counts by ?s ~2001; scan ?s a :C0 ~2001",
     1335, 2668, 3, 67160200, 0x72d9f23d},
    {"SELECT DISTINCT ?k { ?s :label ?l OPTIONAL { ?s :knows ?k } FILTER NOT EXISTS { ?k :a ?v } }",
     "distinct ~3000; filter ~6000; >scan ?k :a ?v ~2; hash optional ~6000; >scan ?s :knows ?k "
     "~2668; counts by ?s ~6000; scan ?s :label ?l ~6000",
     1334, 6668, 5336, 67130624, 0xe614dc90},
    {"SELECT DISTINCT ?x { ?x :self ?x }", "distinct ~4; scan ?x :self ?x ~4", 1, 4, 1, 23576,
     0x09a0324d},
    {"SELECT DISTINCT ?s { GRAPH :g1 { ?s a :C0 ; :label ?l } }",
     "distinct ~2001; hash join ~2001; >scan ?s a :C0 ~1334; scan ?s :label ?l ~4000", 1334, 5334,
     2, 169280, 0x1aefe82c},
    {"SELECT DISTINCT ?k { ?s :description ?d ; :knows ?k }",
     "distinct ~4002; hash join ~4002; >counts by ?s, with objects ~2668; >scan ?s :knows ?k "
     "~2668; counts by ?s ~4000; scan ?s :description ?d ~4000",
     668, 0, 2, 67170856, 0xd9a7c2b4},
    {"SELECT DISTINCT ?v { VALUES (?s ?v) { (:s6 1) (:hub 1) (:s6 2) } ?s ?p ?o }",
     "distinct ~24; predicates of ?s ~24; scan ?s ?p ?o ~24; values 3 rows ~3", 2, 0, 0, 52824,
     0xfea6633e},
    {"SELECT DISTINCT ?p { VALUES ?s { :s1 :hub } { ?s ?p ?o } UNION { ?o ?p ?s } }",
     "distinct ~36; union 2 branches ~36; >predicates of ?s ~16; >scan ?s ?p ?o ~16; >predicates "
     "of ?s ~20; >scan ?o ?p ?s ~20; values 2 rows ~2",
     7, 0, 0, 82024, 0x69a8d3fd},
    {"SELECT DISTINCT ?l { GRAPH ?g { ?s a :C0 } GRAPH ?g { ?s :label ?l } }",
     "distinct ~2001; hash join ~2001; >scan ?s :label ?l in ?g ~6000; counts by ?s, with graphs "
     "~2001; scan ?s a :C0 in ?g ~2001",
     1334, 6000, 2, 67128576, 0x97769de3},
    {"SELECT DISTINCT ?o { ?s :knows ?o FILTER(isIRI(?s)) FILTER(?o != :hub) }",
     "distinct ~1334; filter ~2668; filter ~2668; scan ?s :knows ?o ~2668", 1334, 2668, 1, 83232,
     0xe614dc90},
    {"SELECT * { ?s a ?c } ORDER BY ?c LIMIT 7",
     "slice offset 0, limit 7 ~7; order 1 keys ~6000; scan ?s a ?c ~6000", 7, 6000, 1, 101992,
     0x34b1d845},
    {"SELECT * { ?a :knows ?b . ?b :a ?v } ORDER BY ?b LIMIT 7",
     "slice offset 0, limit 7 ~7; order 1 keys ~1408; listed of ?b ~1408; scan ?a :knows ?b ~1408; "
     "scan ?b :a ?v ~60",
     7, 80100, 61, 247768, 0x43a999d9},
    {"SELECT * { ?s a :C0 OPTIONAL { ?s :description ?d FILTER(?d > 'e3') } } ORDER BY ?s LIMIT 7",
     "slice offset 0, limit 7 ~7; order 1 keys ~3002; optional ~3002; >filter ~3002; >hash join "
     "~3002; >>scan ?s :description ?d ~4000; scan ?s a :C0 ~2001",
     7, 6001, 2, 270048, 0x0ff15558},
    {"SELECT * { ?s :description ?d MINUS { ?s :knows ?k } } ORDER BY ?s LIMIT 7",
     "slice offset 0, limit 7 ~7; order 1 keys ~4000; minus ~4000; >counts by ?s ~2668; >scan ?s "
     ":knows ?k ~2668; scan ?s :description ?d ~4000",
     7, 4000, 2, 67130664, 0xba45f19a},
    {"SELECT * { VALUES ?s { :s1 :s2 :s1 } ?s a ?c } ORDER BY ?s LIMIT 7",
     "slice offset 0, limit 7 ~4; order 1 keys ~4; listed of ?s ~4; scan ?s a ?c ~4; values 3 rows "
     "~3",
     3, 0, 0, 63584, 0xcb1cb7ee},
    {"SELECT * { ?s :label ?l FILTER(RAND() < 2) } ORDER BY ?s LIMIT 7",
     "slice offset 0, limit 7 ~7; order 1 keys ~3000; filter ~6000; scan ?s :label ?l ~6000", 7,
     6000, 1, 87656, 0x16972b40},
    {"SELECT * { VALUES (?s ?v) { (:s6 1) (:hub 1) (:s6 2) } ?s ?p ?o } ORDER BY ?v LIMIT 7",
     "slice offset 0, limit 7 ~7; order 1 keys ~24; scan ?s ?p ?o ~24; values 3 rows ~3", 7, 196, 3,
     67352, 0x262e3c01},
    {"SELECT * { ?x :self ?s GRAPH ?g { ?s ?p ?o } } ORDER BY ?p LIMIT 7",
     "slice offset 0, limit 7 ~7; order 1 keys ~32; scan ?s ?p ?o in ?g ~32; scan ?x :self ?s ~4",
     7, 16, 4, 73584, 0x9aeb536d},
    {"SELECT * { GRAPH ?g { ?s ?p ?g } } ORDER BY ?p LIMIT 7",
     "slice offset 0, limit 7 ~7; order 1 keys ~18852; scan ?s ?p ?g in ?g ~18852", 1, 18852, 1,
     45472, 0x0efd36fc},
    {"SELECT * { ?s :label ?l ; :description ?d ; :knows ?k }",
     "hash join ~6003; >scan ?s :description ?d ~4000; hash join ~4002; >scan ?s :knows ?k ~2668; "
     "scan ?s :label ?l ~6000",
     2668, 12668, 3, 384376, 0x36de9a96},
    {"SELECT * { ?s ?p :hub . ?s a :C0 }",
     "merge join by ?s ~2001; >scan ?s a :C0 ~2001; scan ?s ?p :hub ~1334", 1334, 3335, 2, 28080,
     0xb66404fd},
    {"SELECT * { ?s :knows+ ?k . ?k :a ?v }", "path ?s (path) ?k ~2400; scan ?k :a ?v ~60", 80040,
     80100, 80101, 216352, 0xa8b4afc5},
    {"SELECT * { :s0 :knows+ ?k }", "path :s0 (path) ?k ~68", 2, 2, 3, 17680, 0xe5cc5d0a},
    {"SELECT * { ?s :label ?l . ?t :label ?l }",
     "merge join by ?l ~194721; >scan ?t :label ?l ~6000; scan ?s :label ?l ~6000", 4000, 12000, 2,
     38464, 0x91c572e2},
    {"SELECT * { ?s :label ?l . ?t :description ?d } LIMIT 3",
     "slice offset 0, limit 3 ~3; lookups, then a table 526 rows looked up ~24000000; >scan ?s "
     ":label ?l ~4000; >hash join ~24000000; >>scan ?s :label ?l ~6000; scan ?t :description ?d "
     "~4000",
     3, 9, 2, 24128, 0xb1bb464a},
    {"SELECT * FROM NAMED :g1 { GRAPH ?g { ?s a :C0 } }", "scan ?s a :C0 in ?g ~2001", 1334, 2001,
     1, 15640, 0xcb931558},
    {"SELECT * { GRAPH :g1 { ?s a ?c } GRAPH ?h { ?s :label ?l } }",
     "hash join ~6000; >scan ?s :label ?l in ?h ~6000; scan ?s a ?c ~4000", 6000, 10000, 2, 417104,
     0x682a3031},
    {"SELECT * { { ?s a :C0 } UNION { ?s a :C1 } ?s :label ?l }",
     "hash join ~6000; >union 2 branches ~4000; >>scan ?s a :C0 ~2001; >>scan ?s a :C1 ~1999; scan "
     "?s :label ?l ~6000",
     2667, 10000, 3, 171312, 0x28a56b31},
    {"SELECT * { { SELECT ?s { ?s :label ?l } LIMIT 10 } ?s :knows ?k }",
     "listed of ?s ~15; scan ?s :knows ?k ~15; slice offset 0, limit 10 ~10; project ~6000; scan "
     "?s :label ?l ~6000",
     8, 24, 9, 29184, 0xa4147e9a},
    {"SELECT * { { SELECT ?s (COUNT(*) AS ?n) { ?s :knows ?k } GROUP BY ?s } ?s a :C0 }",
     "hash join ~402; >project ~268; >bind 1 expressions ~268; >group 1 keys, 1 aggregates ~268; "
     ">counts by ?s ~2668; >scan ?s :knows ?k ~2668; scan ?s a :C0 ~2001",
     1334, 2001, 2, 67169600, 0x4bb9497b},
    {"SELECT * { { SELECT (COUNT(*) AS ?n) { ?s :knows ?k } } ?s :label ?n }",
     "scan ?s :label ?n ~32; project ~1; bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; "
     "counts by all ~2668; scan ?s :knows ?k ~2668",
     0, 0, 1, 67134720, 0x00000000},
    {"SELECT * { ?s :label ?l ; :knows ?k FILTER(?l = STR(?k)) }",
     "filter ~4002; hash join ~4002; >scan ?s :knows ?k ~2668; scan ?s :label ?l ~6000", 0, 8668, 2,
     208192, 0x00000000},
    {"SELECT * { ?s :label ?l FILTER(?s IN (:s1, :s2)) }",
     "listed of ?s ~3; scan ?s :label ?l ~3; filter ~2; values 2 rows ~2", 2, 3, 2, 28712,
     0xe388063a},
    {"SELECT * { ?s ?p ?o FILTER(?p IN (:a, :b)) }",
     "scan ?s ?p ?o ~1967; filter ~2; values 2 rows ~2", 120, 120, 2, 27936, 0x98ce35d5},
    {"SELECT * { VALUES ?s { :s1 :s2 } ?s :knows ?k . ?k :a ?v }",
     "listed of ?k ~4; scan ?k :a ?v ~4; listed of ?s ~3; scan ?s :knows ?k ~3; values 2 rows ~2",
     0, 0, 0, 36432, 0x00000000},
    {"SELECT * { VALUES ?p { :label :a } ?s ?p ?o . ?s a :C0 }",
     "hash join ~2950; >scan ?s ?p ?o ~1967; >values 2 rows ~2; scan ?s a :C0 ~2001", 1334, 8061, 3,
     232768, 0x477c8515},
    {"SELECT * { VALUES (?s ?o) { (:s1 :C1) } ?s a ?o }", "scan ?s a ?o ~0; values 1 rows ~1", 1, 1,
     1, 21784, 0xe9728021},
    {"SELECT * { ?s a :C0 VALUES ?x { 1 2 } }", "scan ?s a :C0 ~4002; values 2 rows ~2", 2668, 4002,
     2, 38168, 0x014052aa},
    {"SELECT * { ?s a :C0 OPTIONAL { ?s :knows ?k OPTIONAL { ?k :a ?v } } }",
     "optional ~3002; >hash optional ~3002; >>scan ?k :a ?v ~60; >hash join ~3002; >>scan ?s "
     ":knows ?k ~2668; scan ?s a :C0 ~2001",
     81374, 4729, 3, 249464, 0xeb9fa1de},
    {"SELECT * { OPTIONAL { ?s :self ?k } }", "optional ~4; >scan ?s :self ?k ~4", 3, 4, 1, 36128,
     0x9a7ad99f},
    {"SELECT * { ?s a :C0 OPTIONAL { ?s :knows ?k } FILTER(!BOUND(?k)) }",
     "minus ~2001; >counts by ?s ~2668; >scan ?s :knows ?k ~2668; scan ?s a :C0 ~2001", 0, 2001, 2,
     67126560, 0x00000000},
    {"SELECT * { ?s :self ?k OPTIONAL { ?k :label ?l } FILTER(!BOUND(?l)) }",
     "filter ~6; optional ~6; >listed of ?k ~6; >scan ?k :label ?l ~6; scan ?s :self ?k ~4", 1, 4,
     2, 57160, 0x28ed3cb6},
    {"SELECT * { ?s :self ?x FILTER NOT EXISTS { ?x :label ?l } }",
     "filter ~4; >scan ?x :label ?l ~2; scan ?s :self ?x ~4", 1, 6, 4, 27968, 0xbca26d6d},
    {"SELECT * { ?s :label ?l FILTER EXISTS { ?s :knows ?k . ?k :a ?v } }",
     "semi-join ~6000; >listed of ?k ~1408; >scan ?s :knows ?k ~1408; >scan ?k :a ?v ~60; scan ?s "
     ":label ?l ~6000",
     1334, 7394, 3, 259720, 0x51fdf03c},
    {"SELECT * { ?l <urn:x-quadrille:query#matches> 'd1' . ?s :description ?l }",
     "listed of ?l ~2759; scan ?s :description ?l ~2759; search \"d1\" ~100", 0, 0, 0, 25912,
     0x00000000},
    {"SELECT * { ?s a :C0 . ?l <urn:x-quadrille:query#matches> 'd1' . ?s :description ?l ; :label "
     "?m }",
     "hash join ~6209; >hash join ~4139; >>scan ?s a :C0 ~2001; >listed of ?l ~2759; >scan ?s "
     ":description ?l ~2759; >search \"d1\" ~100; scan ?s :label ?m ~6000",
     0, 6000, 1, 357872, 0x00000000},
    {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; counts by ?s ~18852; scan ?s ?p ?o "
     "~18852",
     1, 0, 1, 67108864, 0xa306a750},
    {"SELECT (SAMPLE(?l) AS ?n) { ?s :label ?l ; a :C0 }",
     "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; hash join ~3002; >scan ?s a :C0 ~2001; "
     "scan ?s :label ?l ~6000",
     1, 8001, 2, 118352, 0x1381c916},
    {"SELECT ?p (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n) LIMIT 3",
     "slice offset 0, limit 3 ~3; order 1 keys ~1886; bind 1 expressions ~1886; group 1 keys, 1 "
     "aggregates ~1886; scan ?s ?p ?o ~18852",
     3, 18852, 1, 801256, 0xb482281b},
    {"SELECT DISTINCT ?p { ?s ?p ?o } ORDER BY ?p",
     "order 1 keys ~18852; distinct ~18852; counts by ?p ~18852; scan ?s ?p ?o ~18852", 8, 0, 1,
     67108864, 0xfe97aa55},
    {"SELECT ?s { ?s :knows ?k } OFFSET 5",
     "slice offset 5, limit -1 ~2668; scan ?s :knows ?k ~2668", 2663, 2668, 1, 32024, 0x15bf7dfe},
    {"SELECT * { ?s a 7 }", "scan ?s a \"7\"^^<http://www.w3.org/2001/XMLSchema#integer> ~0", 0, 0,
     1, 13584, 0x00000000},
    {"SELECT * { ?a :knows ?x . ?b :knows ?x . ?b :label ?l }",
     "hash join ~93919; >scan ?b :label ?l ~6000; merge join by ?x ~62612; >scan ?b :knows ?x "
     "~2668; scan ?a :knows ?x ~2668",
     100000, 7792, 3, 408952, 0xaa966cba},
    {"SELECT * { BIND(:s1 AS ?s) ?s :label ?l }", "scan ?s :label ?l ~2; bind 1 expressions ~1", 1,
     1, 1, 15640, 0xcf7f97bb},
    {"SELECT * { ?s :label ?l BIND(CONCAT(?l, 'x') AS ?x) ?t :label ?x }",
     "scan ?t :label ?x ~194721; bind 1 expressions ~6000; scan ?s :label ?l ~6000", 0, 6000, 1,
     895016, 0x00000000},
    {"SELECT * { ?s !(:a|:b) ?o }", "filter ~18852; scan ?s _:2 ?o ~18852", 14731, 18852, 1, 17696,
     0xbd78e8c6},
};

/* Writes the plan as above. */
static void
abridge(struct slice plan, struct buf *out)
{
    static const struct {
        const char *from, *to;
    } words[] = {{"last step first\n", ""},
                 {"<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "a"},
                 {"<urn:x-quadrille:query#matches>", "matches"},
                 {"<http://example.org/", ":"},
                 {" (about ", " ~"},
                 {" rows)\n", "; "},
                 {"\n", "; "},
                 {"  ", ">"}};
    bool in_iri = false;
    while (plan.length > 0) {
        size_t i = 0;
        while (i < sizeof words / sizeof *words &&
               !slice_starts(plan, slice_string(words[i].from))) {
            i++;
        }
        const bool word = i < sizeof words / sizeof *words;
        const size_t length = word ? strlen(words[i].from) : 1;
        if (word) {
            (void)buf_append_string(out, words[i].to);
            in_iri = in_iri || words[i].to[0] == ':';
        } else if (plan.at[0] == '>' && in_iri) {
            in_iri = false;
        } else {
            (void)buf_append_char(out, plan.at[0]);
        }
        plan = slice_of(plan.at + length, plan.length - length);
    }
}

static enum status
add_answer(void *context, const struct term *terms, size_t n, struct reason *why)
{
    uint32_t *sum = context;
    struct buf text;
    (void)why;
    buf_init(&text, 1 << 16);
    for (size_t i = 0; i < n; i++) {
        (void)nquads_write_term(&text, &terms[i]);
        (void)buf_append_char(&text, '\t');
    }
    *sum += (uint32_t)fingerprint64(buf_slice(&text));
    buf_release(&text);
    return STATUS_OK;
}

static void
check_work(const struct query *query, struct memory_source *source, const struct shape *shape)
{
    const struct query_options options = {.rows = ROWS_MOST};
    uint32_t answers = 0;
    const struct query_sink sink = {.context = &answers, .row = add_answer};
    struct query_report report;
    struct reason why = {""};
    assert_int_equal(query_run(query, memory_source_table(source), &options, &sink, &report, &why),
                     STATUS_OK);
    /* Counts that a query asks for are kept for the next ones, so work is as told where all are
     * run. */
    const bool all_are_run = !(BRIEF_SANITIZED && is_brief());
    if (report.rows != shape->rows || answers != shape->answers ||
        (all_are_run && (report.scanned != shape->scanned || report.scans != shape->scans ||
                         report.memory != shape->memory))) {
        fail_msg("%s: %llu rows, %llu quads of %llu scans, %zu bytes, answers 0x%08x", shape->query,
                 (unsigned long long)report.rows, (unsigned long long)report.scanned,
                 (unsigned long long)report.scans, report.memory, answers);
    }
}

void
plans_have_their_shapes(void **state)
{
    struct memory_source *source = plan_source();
    const struct query_options options = {0};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (brief_leaves_out(i, 5)) {
            continue;
        }
        struct reason why = {""};
        struct query *query;
        struct buf text, plan, abridged;
        buf_init(&text, 1 << 16);
        buf_init(&plan, 1 << 16);
        buf_init(&abridged, 1 << 16);
        (void)buf_printf(&text, PREFIXES "%s", shapes[i].query);
        assert_int_equal(query_prepare(&query, buf_slice(&text), SLICE(""), &why), STATUS_OK);
        assert_int_equal(
            query_explain(query, memory_source_table(source), &options, false, &plan, &why),
            STATUS_OK);
        abridge(buf_slice(&plan), &abridged);
        char expected[2048];
        snprintf(expected, sizeof expected, "%s; ", shapes[i].plan);
        if (strcmp(abridged.data, expected) != 0) {
            print_error("%s\n", shapes[i].query);
        }
        assert_string_equal(abridged.data, expected);
        check_work(query, source, &shapes[i]);
        query_free(query);
        buf_release(&text);
        buf_release(&plan);
        buf_release(&abridged);
    }
    memory_source_free(source);
}
