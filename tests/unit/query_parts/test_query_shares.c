/* What partitions are asked for (index/query/plan/plan_share.c): the plans, the requests and what
 * comes of them. Two partitions together say what one source of all graphs says. */
#include "tests/unit/query_parts/parted_source.h"

static void
check_plans(const struct shared_plan *plans, size_t count)
{
    const struct query_options options = {.now_ms = 1700000000000};
    for (size_t i = 0; i < count; i++) {
        parted_check(&plans[i], &options);
    }
}

#define CHECK_PLANS(plans) check_plans(plans, sizeof(plans) / sizeof *(plans))

/* Where a part's rows are those of all partitions together they are asked for, and scans are not.
 */
static void
rows_are_asked_for(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * { GRAPH ?g { ?s :label ?l } }",
         "partitions rows ~1260; >scan ?s :label ?l in ?g ~1260; ",
         "rows of 0, 3 columns: 660 and 600; ", 1260, 1260, 1},
        {"SELECT ?s ?l { GRAPH ?g { ?s :label ?l ; :size 3 } }",
         "partitions rows ~120; >hash join ~120; >>scan ?s :size \"3\" in ?g ~120; >scan ?s :label "
         "?l in ?g ~1260; ",
         "rows of 0, 2 columns: 0 and 120; ", 120, 120, 1},
        {"SELECT * { GRAPH ?g { ?s :label ?l } FILTER(?l > '5') BIND(STRLEN(?l) AS ?n) }",
         "partitions rows ~630; >bind 1 expressions ~1260; >filter ~1260; >scan ?s :label ?l in ?g "
         "~1260; ",
         "rows of 0, 4 columns: 169 and 154; ", 323, 323, 1},
        {"SELECT * { GRAPH ?g { ?s a :C1 OPTIONAL { ?s :description ?d } } }",
         "partitions rows ~840; >hash optional ~840; >>scan ?s :description ?d in ?g ~840; >scan "
         "?s a :C1 in ?g ~420; ",
         "rows of 0, 3 columns: 220 and 200; ", 420, 420, 1},
        {"SELECT DISTINCT ?g { GRAPH ?g { ?s :size 3 } }",
         "partitions rows ~120; >distinct ~120; >counts by ?s, with graphs ~120; >scan ?s :size "
         "\"3\" in ?g ~120; ",
         "rows of 0, 1 columns: 0 and 2; ", 2, 2, 1},
        {"SELECT DISTINCT ?z { GRAPH ?g { ?s :size ?z } }",
         "distinct ~1260; partitions rows ~1260; >distinct ~1260; >counts by ?z, quads ~1260; "
         ">scan ?s :size ?z in ?g ~1260; ",
         "rows of 0, 1 columns: 5 and 5; ", 10, 10, 1},
        {"SELECT DISTINCT ?z { ?s :size ?z }",
         "distinct ~1260; partitions rows ~1260; >distinct ~1260; >counts by ?z ~1260; >scan ?s "
         ":size ?z ~1260; ",
         "rows of 0, 1 columns: 5 and 5; ", 10, 10, 1},
        {"SELECT DISTINCT ?g ?z { GRAPH ?g { ?s :size ?z } }",
         "partitions rows ~1260; >distinct ~1260; >scan ?s :size ?z in ?g ~1260; ",
         "rows of 0, 2 columns: 10 and 10; ", 20, 20, 1},
        {"SELECT * { :t :twice ?o }", "scan :t :twice ?o ~8; ", "", 2, 8, 1},
        {"SELECT * { :t :twice ?o FILTER(?o > 1) }",
         "distinct ~4; partitions rows ~4; >filter ~8; >scan :t :twice ?o ~8; ",
         "rows of 1, 1 columns: 1 and 1; ", 1, 2, 1},
        {"SELECT ?o { :t ?p ?o FILTER(?o > 0) }",
         "distinct ~4; partitions rows ~4; >filter ~8; >scan :t ?p ?o ~8; ",
         "rows of 1, 2 columns: 2 and 2; ", 2, 4, 1},
        {"SELECT DISTINCT ?o { { :t :twice ?o } UNION { GRAPH ?g { :t :twice ?o } } }",
         "distinct ~16; partitions rows ~16; >distinct ~16; >union 2 branches ~16; >>counts by ?o "
         "~8; >>scan :t :twice ?o ~8; >>counts by ?o, quads ~8; >>scan :t :twice ?o in ?g ~8; ",
         "rows of 0, 1 columns: 2 and 2; ", 2, 4, 1},
        {"SELECT * { { GRAPH ?g { ?s :size 1 } } UNION { GRAPH ?h { ?s :size 2 } } }",
         "partitions rows ~240; >union 2 branches ~240; >>scan ?s :size \"1\" in ?g ~120; >>scan "
         "?s :size \"2\" in ?h ~120; ",
         "rows of 0, 3 columns: 120 and 120; ", 240, 240, 1},
        {"SELECT * { { ?s :size 1 } UNION { GRAPH ?h { ?s :size 2 } } }",
         "union 2 branches ~240; >scan ?s :size \"1\" ~120; >scan ?s :size \"2\" in ?h ~120; ", "",
         240, 244, 2},
        {"SELECT * { GRAPH ?g { ?s :size ?z } VALUES ?z { 1 2 } }",
         "partitions rows ~35; >scan ?s :size ?z in ?g ~35; >values 2 rows ~2; ",
         "rows of 0, 3 columns: 120 and 120; ", 240, 240, 1},
        {"SELECT * { GRAPH ?g { ?s :size 2 } GRAPH ?g { ?s :label ?l } }",
         "partitions rows ~120; >hash join ~120; >>scan ?s :label ?l in ?g ~1260; >scan ?s :size "
         "\"2\" in ?g ~120; ",
         "rows of 0, 3 columns: 120 and 0; ", 120, 120, 1},
        {"SELECT * { GRAPH ?g { ?s :size 2 } GRAPH ?h { ?s :label ?l } }",
         "hash join ~180; >scan ?s :label ?l in ?h ~1260; partitions rows ~120; >scan ?s :size "
         "\"2\" in ?g ~120; ",
         "rows of 2, 2 columns: 120 and 0; ", 120, 1380, 2},
        {"SELECT * { GRAPH ?g { ?s :size 2 } MINUS { GRAPH ?g { ?s :description ?d } } }",
         "partitions rows ~120; >minus ~120; >>counts by ?s, with graphs ~840; >>scan ?s "
         ":description ?d in ?g ~840; >scan ?s :size \"2\" in ?g ~120; ",
         "rows of 0, 2 columns: 40 and 0; ", 40, 40, 1},
        {"ASK { GRAPH ?g { ?s :size 77 } }",
         "partitions rows, at most 1 of each ~0; >slice offset 0, limit 1 ~0; >scan ?s :size "
         "\"77\" in ?g ~0; ",
         "rows of 0, 2 columns, at most 1: 0 and 0; ", 0, 0, 1},
    };
    (void)state;
    CHECK_PLANS(plans);
}

/* No partition gives more rows than are wanted. */
static void
first_rows_are_asked_for(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * { GRAPH ?g { ?s :label ?l } } LIMIT 7",
         "slice offset 0, limit 7 ~7; partitions rows, at most 7 of each ~7; >slice offset 0, "
         "limit 7 ~7; >scan ?s :label ?l in ?g ~1260; ",
         "rows of 1, 3 columns, at most 7: 7 and 7; ", 7, 7, 1},
        {"SELECT * { GRAPH ?g { ?s :label ?l } } LIMIT 1",
         "slice offset 0, limit 1 ~1; partitions rows, at most 1 of each ~1; >slice offset 0, "
         "limit 1 ~1; >scan ?s :label ?l in ?g ~1260; ",
         "rows of 1, 3 columns, at most 1: 1 and 1; ", 1, 1, 1},
        {"SELECT * { GRAPH ?g { ?s :label ?l } } LIMIT 0",
         "slice offset 0, limit 0 ~0; partitions rows, at most 0 of each ~0; >slice offset 0, "
         "limit 0 ~0; >scan ?s :label ?l in ?g ~1260; ",
         "", 0, 0, 0},
        {"SELECT * { GRAPH ?g { ?s :label ?l } } OFFSET 5 LIMIT 7",
         "slice offset 5, limit 7 ~7; partitions rows, at most 12 of each ~12; >slice offset 0, "
         "limit 12 ~12; >scan ?s :label ?l in ?g ~1260; ",
         "rows of 1, 3 columns, at most 12: 12 and 12; ", 7, 12, 1},
        {"SELECT * { GRAPH ?g { ?s :label ?l } } ORDER BY ?l ?s ?g LIMIT 7",
         "slice offset 0, limit 7 ~7; order 3 keys ~7; partitions rows, at most 7 of each ~7; "
         ">slice offset 0, limit 7 ~7; >order 3 keys ~1260; >scan ?s :label ?l in ?g ~1260; ",
         "rows of 2, 3 columns, at most 7: 7 and 7; ", 7, 14, 1},
        {"SELECT * { GRAPH ?g { ?s :label ?l } } ORDER BY ?l ?s ?g OFFSET 5 LIMIT 7",
         "slice offset 5, limit 7 ~7; order 3 keys ~12; partitions rows, at most 12 of each ~12; "
         ">slice offset 0, limit 12 ~12; >order 3 keys ~1260; >scan ?s :label ?l in ?g ~1260; ",
         "rows of 2, 3 columns, at most 12: 12 and 12; ", 7, 24, 1},
        {"SELECT * { GRAPH ?g { ?s :label ?l } } ORDER BY ?l ?s ?g",
         "order 3 keys ~1260; partitions rows ~1260; >scan ?s :label ?l in ?g ~1260; ",
         "rows of 2, 3 columns: 660 and 600; ", 1260, 1260, 1},
        {"SELECT * { ?s :label ?l } ORDER BY DESC(?l) ?s LIMIT 7",
         "slice offset 0, limit 7 ~7; order 2 keys ~7; distinct ~7; partitions rows, at most 7 of "
         "each ~7; >slice offset 0, limit 7 ~7; >order 2 keys ~1260; >scan ?s :label ?l ~1260; ",
         "rows of 2, 2 columns, at most 7: 7 and 7; ", 7, 14, 1},
        {"SELECT * { :t :twice ?o } ORDER BY ?o LIMIT 1",
         "slice offset 0, limit 1 ~1; order 1 keys ~1; distinct ~1; partitions rows, at most 1 of "
         "each ~1; >slice offset 0, limit 1 ~1; >order 1 keys ~8; >scan :t :twice ?o ~8; ",
         "rows of 2, 1 columns, at most 1: 1 and 1; ", 1, 2, 1},
        {"SELECT DISTINCT ?z { GRAPH ?g { ?s :size ?z } } ORDER BY DESC(?z) LIMIT 3",
         "slice offset 0, limit 3 ~3; order 1 keys ~1260; distinct ~1260; partitions rows ~1260; "
         ">counts by ?z, quads ~1260; >scan ?s :size ?z in ?g ~1260; ",
         "rows of 4, 3 columns: 660 and 600; ", 3, 1260, 1},
        {"SELECT DISTINCT ?z { ?s :size ?z } LIMIT 3",
         "slice offset 0, limit 3 ~3; distinct ~3; partitions rows, at most 3 of each ~3; >slice "
         "offset 0, limit 3 ~3; >distinct ~1260; >scan ?s :size ?z ~1260; ",
         "rows of 1, 1 columns, at most 3: 3 and 3; ", 3, 3, 1},
        {"SELECT ?s ?l ?d { ?s :label ?l ; :size ?d } ORDER BY DESC(?s) LIMIT 5",
         "slice offset 0, limit 5 ~5; order 1 keys ~5; partitions rows, of nodes of one partition, "
         "at most 5 of each ~5; >slice offset 0, limit 5 ~5; >order 1 keys ~1890; >hash join "
         "~1890; >>scan ?s :size ?d ~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 2, 3 columns, at most 5, by ?s as subjects: 5 and 5; ", 5, 10,
         1},
        {"SELECT ?s ?l ?d { ?s :label ?l ; :size ?d } ORDER BY DESC(?s)",
         "order 1 keys ~1890; partitions rows, of nodes of one partition ~1890; >hash join ~1890; "
         ">>scan ?s :size ?d ~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 2, 3 columns, by ?s as subjects: 600 and 600; ", 1200, 1200, 1},
        {"SELECT ?s ?l ?d { ?s :label ?l ; :size ?d } LIMIT 5",
         "slice offset 0, limit 5 ~5; partitions rows, of nodes of one partition, at most 5 of "
         "each ~5; >slice offset 0, limit 5 ~5; >scan ?s :size ?d ~1890; >scan ?s :label ?l "
         "~1260; ",
         "part by subjects; rows of 1, 3 columns, at most 5, by ?s as subjects: 5 and 5; ", 5, 5,
         1},
    };
    (void)state;
    CHECK_PLANS(plans);
}

/* Of groups partitions give their parts, or the different values that these are made of. */
static void
groups_are_asked_for(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s :label ?l } }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates of parts ~1; partitions parts of "
         "aggregates ~1; >group 0 keys, 1 aggregates ~1; >counts by all, quads ~1260; >scan ?s "
         ":label ?l in ?g ~1260; ",
         "parts of 2, 1 columns: 1 and 1; ", 1, 2, 1},
        {"SELECT ?z (COUNT(*) AS ?n) { GRAPH ?g { ?s :size ?z } } GROUP BY ?z",
         "bind 1 expressions ~127; group 1 keys, 1 aggregates of parts ~127; partitions parts of "
         "aggregates ~127; >group 1 keys, 1 aggregates ~127; >counts by ?z, quads ~1260; >scan ?s "
         ":size ?z in ?g ~1260; ",
         "parts of 2, 2 columns: 5 and 5; ", 10, 10, 1},
        {"SELECT ?c (SUM(?z) AS ?a) (AVG(?z) AS ?b) (MIN(?z) AS ?d) (MAX(?z) AS ?e) { GRAPH ?g { "
         "?s a ?c ; :size ?z } } GROUP BY ?c",
         "bind 4 expressions ~127; group 1 keys, 4 aggregates of parts ~127; partitions parts of "
         "aggregates ~127; >group 1 keys, 5 aggregates ~127; >hash join ~1260; >>scan ?s :size ?z "
         "in ?g ~1260; >scan ?s a ?c in ?g ~1260; ",
         "parts of 5, 6 columns: 3 and 3; ", 3, 6, 1},
        {"SELECT (AVG(?z) AS ?a) (AVG(?l) AS ?b) (COUNT(?z) AS ?n) { GRAPH ?g { ?s :label ?l ; "
         ":size ?z } }",
         "bind 3 expressions ~1; group 0 keys, 3 aggregates of parts ~1; partitions parts of "
         "aggregates ~1; >group 0 keys, 5 aggregates ~1; >hash join ~1260; >>scan ?s :size ?z in "
         "?g ~1260; >scan ?s :label ?l in ?g ~1260; ",
         "parts of 4, 5 columns: 1 and 1; ", 1, 2, 1},
        {"SELECT (COUNT(DISTINCT ?z) AS ?n) { ?s :size ?z }",
         "bind 1 expressions ~1260; group 0 keys, 1 aggregates ~1260; partitions different values "
         "~1260; >distinct ~1260; >counts by ?z ~1260; >scan ?s :size ?z ~1260; ",
         "values of 2, 1 columns: 5 and 5; ", 1, 10, 1},
        {"SELECT (COUNT(DISTINCT ?z) AS ?n) (SUM(DISTINCT ?z) AS ?m) { GRAPH ?g { ?s :size ?z } }",
         "bind 2 expressions ~1260; group 0 keys, 2 aggregates ~1260; partitions different values "
         "~1260; >distinct ~1260; >counts by ?z, quads ~1260; >scan ?s :size ?z in ?g ~1260; ",
         "values of 3, 1 columns: 5 and 5; ", 1, 10, 1},
        {"SELECT ?z (COUNT(DISTINCT ?l) AS ?n) { GRAPH ?g { ?s :size ?z ; :label ?l } } GROUP BY "
         "?z",
         "bind 1 expressions ~1260; group 1 keys, 1 aggregates ~1260; partitions different values "
         "~1260; >distinct ~1260; >hash join ~1260; >>scan ?s :label ?l in ?g ~1260; >scan ?s "
         ":size ?z in ?g ~1260; ",
         "values of 2, 2 columns: 600 and 600; ", 10, 1200, 1},
        {"SELECT (MAX(?z) AS ?n) (MIN(DISTINCT ?z) AS ?m) { ?s :size ?z }",
         "bind 2 expressions ~1; group 0 keys, 2 aggregates of parts ~1; partitions parts of "
         "aggregates ~1; >group 0 keys, 2 aggregates ~1; >counts by ?z ~1260; >scan ?s :size ?z "
         "~1260; ",
         "parts of 3, 2 columns: 1 and 1; ", 1, 2, 1},
        {"SELECT ?k (COUNT(*) AS ?n) { GRAPH ?g { ?s :label ?l } } GROUP BY (STRLEN(?l) AS ?k)",
         "bind 1 expressions ~127; group 1 keys, 1 aggregates of parts ~127; partitions parts of "
         "aggregates ~127; >group 1 keys, 1 aggregates ~127; >counts by ?l, quads ~1260; >scan ?s "
         ":label ?l in ?g ~1260; ",
         "parts of 2, 2 columns: 3 and 3; ", 3, 6, 1},
        {"SELECT ?k (COUNT(DISTINCT ?z) AS ?n) { GRAPH ?g { ?s :label ?l ; :size ?z } } GROUP BY "
         "(STRLEN(?l) AS ?k)",
         "bind 1 expressions ~1260; group 1 keys, 1 aggregates ~1260; partitions different values "
         "~1260; >distinct ~1260; >hash join ~1260; >>scan ?s :size ?z in ?g ~1260; >scan ?s "
         ":label ?l in ?g ~1260; ",
         "values of 2, 2 columns: 600 and 600; ", 3, 1200, 1},
        {"SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s :label ?l } } GROUP BY ?g",
         "partitions rows ~127; >bind 1 expressions ~127; >group 1 keys, 1 aggregates ~127; "
         ">counts by ?s, with graphs ~1260; >scan ?s :label ?l in ?g ~1260; ",
         "rows of 0, 2 columns: 2 and 2; ", 4, 4, 1},
        {"SELECT ?g (GROUP_CONCAT(?z) AS ?n) { GRAPH ?g { :s5 :size ?z } } GROUP BY ?g",
         "partitions rows ~1; >bind 1 expressions ~1; >group 1 keys, 1 aggregates ~1; >scan :s5 "
         ":size ?z in ?g ~1; ",
         "rows of 0, 2 columns: 0 and 1; ", 1, 1, 1},
        {"SELECT (COUNT(*) AS ?n) { ?s :label ?l }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; counts by all ~1260; scan ?s "
         ":label ?l ~1260; ",
         "", 1, 0, 1},
        {"SELECT (COUNT(*) AS ?n) { :t :twice ?o }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; counts by all ~8; scan :t :twice "
         "?o ~8; ",
         "", 1, 0, 1},
        {"SELECT (COUNT(DISTINCT *) AS ?n) { GRAPH ?g { :t :twice ?o } }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; partitions rows ~8; >scan :t "
         ":twice ?o in ?g ~8; ",
         "rows of 3, 2 columns: 4 and 4; ", 1, 8, 1},
        {"SELECT (SUM(?z + 1) AS ?n) (COUNT(?none) AS ?m) { GRAPH ?g { ?s :size ?z } }",
         "bind 2 expressions ~1; group 0 keys, 2 aggregates of parts ~1; partitions parts of "
         "aggregates ~1; >group 0 keys, 2 aggregates ~1; >counts by ?z, quads ~1260; >scan ?s "
         ":size ?z in ?g ~1260; ",
         "parts of 3, 2 columns: 1 and 1; ", 1, 2, 1},
        {"SELECT (SUM(RAND()) > 0 AS ?n) { GRAPH ?g { ?s :size ?z } }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; partitions rows ~1260; >scan ?s "
         ":size ?z in ?g ~1260; ",
         "rows of 3, 3 columns: 660 and 600; ", 1, 1260, 1},
        {"SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s :label 'none' } }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates of parts ~1; partitions parts of "
         "aggregates ~1; >group 0 keys, 1 aggregates ~1; >scan ?s :label \"none\" in ?g ~0; ",
         "parts of 2, 1 columns: 0 and 0; ", 1, 0, 1},
        {"SELECT ?z (COUNT(*) AS ?n) { GRAPH ?g { ?s :size ?z ; :label 'none' } } GROUP BY ?z",
         "bind 1 expressions ~1; group 1 keys, 1 aggregates of parts ~1; partitions parts of "
         "aggregates ~1; >group 1 keys, 1 aggregates ~1; >scan ?s :size ?z in ?g ~0; >scan ?s "
         ":label \"none\" in ?g ~0; ",
         "parts of 2, 2 columns: 0 and 0; ", 0, 0, 1},
        {"SELECT ?z (COUNT(*) AS ?n) { GRAPH ?g { ?s :size ?z } } GROUP BY ?z HAVING(COUNT(*) > "
         "100) ORDER BY ?z LIMIT 4",
         "slice offset 0, limit 4 ~4; order 1 keys ~64; bind 1 expressions ~64; filter ~127; group "
         "1 keys, 2 aggregates of parts ~127; partitions parts of aggregates ~127; >group 1 keys, "
         "2 aggregates ~127; >counts by ?z, quads ~1260; >scan ?s :size ?z in ?g ~1260; ",
         "parts of 5, 3 columns: 5 and 5; ", 4, 10, 1},
        {"SELECT * { { SELECT ?s (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?s } ?s :size "
         "3 }",
         "hash join ~590; >project ~590; >bind 1 expressions ~590; >group 1 keys, 1 aggregates of "
         "parts ~590; >partitions parts of aggregates ~590; >>group 1 keys, 1 aggregates ~590; "
         ">>counts by ?s, quads ~5888; >>scan ?s ?p ?o in ?g ~5888; scan ?s :size \"3\" ~120; ",
         "parts of 4, 2 columns: 601 and 601; ", 120, 1322, 2},
    };
    (void)state;
    CHECK_PLANS(plans);
}

/* Long joins are parted by the nodes of a variable, short ones are read. */
static void
joins_are_parted(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * { ?s :label ?l ; :size ?z }",
         "partitions rows, of nodes of one partition ~1890; >hash join ~1890; >>scan ?s :size ?z "
         "~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 0, 3 columns, by ?s as subjects: 600 and 600; ", 1200, 1200, 1},
        {"SELECT * { ?s :label ?l ; :size ?z ; :description ?d }",
         "hash join ~1890; >scan ?s :size ?z ~1260; hash join ~1260; >scan ?s :description ?d "
         "~840; scan ?s :label ?l ~1260; ",
         "", 800, 3360, 3},
        {"SELECT * { ?s :label ?l ; :size 3 }",
         "hash join ~180; >scan ?s :size \"3\" ~120; scan ?s :label ?l ~1260; ", "", 120, 1380, 2},
        {"SELECT * { ?s :label ?l OPTIONAL { ?s :description ?d } }",
         "partitions rows, of nodes of one partition ~1890; >optional ~1890; >>hash join ~1890; "
         ">>>scan ?s :description ?d ~840; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 0, 3 columns, by ?s as subjects: 600 and 600; ", 1200, 1200, 1},
        {"SELECT * { ?s :label ?l MINUS { ?s :description ?d } }",
         "partitions rows, of nodes of one partition ~1260; >minus ~1260; >>scan ?s :description "
         "?d ~840; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 0, 2 columns, by ?s as subjects: 200 and 200; ", 400, 400, 1},
        {"SELECT * { ?s :knows ?t . ?t :label ?l }",
         "partitions rows, of nodes of one partition ~1890; >hash join ~1890; >>scan ?t :label ?l "
         "~1260; >scan ?s :knows ?t ~1260; ",
         "part by nodes; rows of 0, 3 columns, by ?t as nodes: 600 and 600; ", 1200, 1200, 1},
        /* A triple of several graphs is one. */
        {"SELECT ?s { ?s :label ?l }",
         "partitions rows, of nodes of one partition ~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 0, 1 columns, by ?s as subjects: 600 and 600; ", 1200, 1200, 1},
        {"SELECT * { { ?s :label ?l } UNION { ?s :size ?l } }",
         "partitions rows, of nodes of one partition ~2520; >union 2 branches ~2520; >>scan ?s "
         ":label ?l ~1260; >>scan ?s :size ?l ~1260; ",
         "part by subjects; rows of 0, 2 columns, by ?s as subjects: 1200 and 1200; ", 2400, 2400,
         1},
        {"SELECT (COUNT(*) AS ?n) { { ?s :label ?l } UNION { ?s :size ?l } }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates of parts ~1; partitions parts of "
         "aggregates, of nodes of one partition ~1; "
         ">group 0 keys, 1 aggregates ~1; >union 2 branches ~2520; >>scan ?s :label ?l ~1260; "
         ">>scan ?s :size ?l ~1260; ",
         "part by subjects; parts of 2, 1 columns, by ?s as subjects: 1 and 1; ", 1, 2, 1},
        {"SELECT ?s { ?s :label ?l ; :size ?z }",
         "partitions rows, of nodes of one partition ~1890; >hash join ~1890; >>scan ?s :size ?z "
         "~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 0, 1 columns, by ?s as subjects: 600 and 600; ", 1200, 1200, 1},
        {"SELECT ?z { ?s :label ?l ; :size ?z }",
         "partitions rows, of nodes of one partition ~1890; >hash join ~1890; >>scan ?s :size ?z "
         "~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 1, 3 columns, by ?s as subjects: 600 and 600; ", 1200, 1200, 1},
        {"SELECT DISTINCT ?s ?z { ?s :label ?l ; :size ?z }",
         "partitions rows, of nodes of one partition ~1890; >distinct ~1890; >hash join ~1890; "
         ">>scan ?s :size ?z ~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 0, 2 columns, by ?s as subjects: 600 and 600; ", 1200, 1200, 1},
        {"SELECT DISTINCT ?z { ?s :label ?l ; :size ?z }",
         "distinct ~1890; partitions rows, of nodes of one partition ~1890; >hash join ~1890; "
         ">>scan ?s :size ?z ~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 2, 3 columns, by ?s as subjects: 600 and 600; ", 10, 1200, 1},
        {"SELECT * { ?s :label ?l ; :size ?z FILTER(?l > '5') }",
         "filter ~1890; partitions rows, of nodes of one partition ~1890; >hash join ~1890; >>scan "
         "?s :size ?z ~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 2, 3 columns, by ?s as subjects: 600 and 600; ", 308, 1200, 1},
        {"SELECT * { VALUES ?z { 1 2 3 4 5 6 7 8 9 } ?s :size ?z ; :label ?l }",
         "hash join ~235; >listed of ?z ~156; >scan ?s :size ?z ~156; >values 9 rows ~9; scan ?s "
         ":label ?l ~1260; ",
         "", 1080, 2340, 10},
        {"SELECT ?z (COUNT(*) AS ?n) (AVG(?l) AS ?a) { ?s :label ?l ; :size ?z } GROUP BY ?z",
         "bind 2 expressions ~190; group 1 keys, 2 aggregates of parts ~190; partitions parts of "
         "aggregates, of nodes of one partition ~190; >group 1 keys, 3 aggregates ~190; >hash join "
         "~1890; >>scan ?s :size ?z ~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; parts of 3, 4 columns, by ?s as subjects: 5 and 5; ", 10, 10, 1},
        {"SELECT ?s (COUNT(DISTINCT ?d) AS ?n) { ?s :size ?d ; :label ?z } GROUP BY ?s",
         "bind 1 expressions ~190; group 1 keys, 1 aggregates of parts ~190; partitions parts of "
         "aggregates, of nodes of one partition ~190; >group 1 keys, 1 aggregates ~190; >hash join "
         "~1890; >>scan ?s :label ?z ~1260; >scan ?s :size ?d ~1260; ",
         "part by subjects; parts of 2, 2 columns, by ?s as subjects: 600 and 600; ", 1200, 1200,
         1},
        {"SELECT (COUNT(DISTINCT ?d) AS ?n) { ?s :size ?d ; :label ?z }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; partitions rows, of nodes of one "
         "partition ~1890; >hash join ~1890; >>scan ?s :label ?z ~1260; >scan ?s :size ?d ~1260; ",
         "part by subjects; rows of 3, 3 columns, by ?s as subjects: 600 and 600; ", 1, 1200, 1},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :size ?d ; :label ?z }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates of parts ~1; partitions parts of "
         "aggregates, of nodes of one partition ~1; >group 0 keys, 1 aggregates ~1; >hash join "
         "~1890; >>scan ?s :label ?z ~1260; >scan ?s :size ?d ~1260; ",
         "part by subjects; parts of 2, 1 columns, by ?s as subjects: 1 and 1; ", 1, 2, 1},
        {"SELECT ?s (COUNT(*) AS ?n) { ?s :knows ?o } GROUP BY ?s",
         "bind 1 expressions ~127; group 1 keys, 1 aggregates of parts ~127; partitions parts of "
         "aggregates, of nodes of one partition ~127; >group 1 keys, 1 aggregates ~127; >scan ?s "
         ":knows ?o ~1260; ",
         "part by subjects; parts of 2, 2 columns, by ?s as subjects: 600 and 600; ", 1200, 1200,
         1},
        {"SELECT ?o (COUNT(*) AS ?n) { ?s a ?o } GROUP BY ?o",
         "bind 1 expressions ~127; group 1 keys, 1 aggregates ~127; counts by ?o ~1260; scan ?s a "
         "?o ~1260; ",
         "", 3, 0, 1},
        {"SELECT (GROUP_CONCAT(?z) AS ?n) { ?s :label '7' ; :size ?z }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; listed of ?s ~3; scan ?s :size ?z "
         "~3; scan ?s :label \"7\" ~2; ",
         "", 1, 4, 3},
        {"SELECT * { ?s :label ?l ; :size ?z ; :knows+ :s3 }",
         "listed of ?s ~27; scan ?s :size ?z ~27; listed of ?s ~18; scan ?s :label ?l ~18; path ?s "
         "(path) :s3 ~12; ",
         "", 200, 600, 600},
    };
    (void)state;
    CHECK_PLANS(plans);
}

/* Nodes that several partitions have are joined here, and their rows are beside the others. */
static void
nodes_of_several_partitions_are_joined_here(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * { ?s :label ?l ; :size ?z }",
         "union 2 branches ~1890; >partitions rows, of nodes of one partition ~1890; >>hash join "
         "~1890; >>>scan ?s :size ?z ~1260; >>scan ?s :label ?l ~1260; >hash join ~1890; >>scan ?s "
         ":size ?z ~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 0, 3 columns, by ?s as subjects: 600 and 600; ", 1200, 1200, 2},
        {"SELECT * { ?s :knows ?t . ?t :label ?l }",
         "union 2 branches ~1890; >partitions rows, of nodes of one partition ~1890; >>hash join "
         "~1890; >>>scan ?t :label ?l ~1260; >>scan ?s :knows ?t ~1260; >hash join ~1890; >>scan "
         "?t :label ?l ~1260; >scan ?s :knows ?t ~1260; ",
         "part by nodes; rows of 0, 3 columns, by ?t as nodes: 600 and 600; ", 1200, 1200, 2},
        {"SELECT ?s ?l ?d { ?s :label ?l ; :size ?d } ORDER BY DESC(?s) LIMIT 5",
         "slice offset 0, limit 5 ~5; order 1 keys ~5; union 2 branches ~5; >partitions rows, of "
         "nodes of one partition, at most 5 of each ~5; >>slice offset 0, limit 5 ~5; >>order 1 "
         "keys ~1890; >>hash join ~1890; >>>scan ?s :size ?d ~1260; >>scan ?s :label ?l ~1260; "
         ">hash join ~1890; >>scan ?s :size ?d ~1260; >scan ?s :label ?l ~1260; ",
         "part by subjects; rows of 2, 3 columns, at most 5, by ?s as subjects: 5 and 5; ", 5, 10,
         2},
        {"SELECT ?z (COUNT(*) AS ?n) (AVG(?l) AS ?a) { ?s :label ?l ; :size ?z } GROUP BY ?z",
         "bind 2 expressions ~190; group 1 keys, 2 aggregates of parts ~190; union 2 branches "
         "~190; >partitions parts of aggregates, of nodes of one partition ~190; >>group 1 keys, 3 "
         "aggregates ~190; >>hash join ~1890; >>>scan ?s :size ?z ~1260; >>scan ?s :label ?l "
         "~1260; >group 1 keys, 3 aggregates ~190; >hash join ~1890; >>scan ?s :size ?z ~1260; "
         ">scan ?s :label ?l ~1260; ",
         "part by subjects; parts of 3, 4 columns, by ?s as subjects: 5 and 5; ", 10, 10, 2},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :label ?l ; :size ?z }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates of parts ~1; union 2 branches ~1; "
         ">partitions parts of aggregates, of nodes of one partition ~1; >>group 0 keys, 1 "
         "aggregates ~1; >>hash join ~1890; >>>scan ?s :size ?z ~1260; >>scan ?s :label ?l ~1260; "
         ">group 0 keys, 1 aggregates ~1; >hash join ~1890; >>scan ?s :size ?z ~1260; >scan ?s "
         ":label ?l ~1260; ",
         "part by subjects; parts of 2, 1 columns, by ?s as subjects: 1 and 1; ", 1, 2, 2},
        {"SELECT * { GRAPH ?g { ?s :label ?l ; :size ?z } }",
         "partitions rows ~1260; >hash join ~1260; >>scan ?s :size ?z in ?g ~1260; >scan ?s :label "
         "?l in ?g ~1260; ",
         "rows of 0, 4 columns: 660 and 600; ", 1260, 1260, 1},
    };
    (void)state;
    here.part_any = true;
    CHECK_PLANS(plans);
    here.part_any = false;
}

/* Where it cannot be said which nodes these are nothing is parted; what fails, fails. */
static void
what_cannot_be_parted_is_read(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * { ?s :label ?l ; :size ?z }",
         "hash join ~1890; >scan ?s :size ?z ~1260; scan ?s :label ?l ~1260; ",
         "part by subjects; part by subjects; ", 1200, 2520, 2},
        {"SELECT ?z (COUNT(*) AS ?n) { ?s :label ?l ; :size ?z } GROUP BY ?z",
         "bind 1 expressions ~190; group 1 keys, 1 aggregates ~190; hash join ~1890; >counts by "
         "?s, with objects ~1260; >scan ?s :size ?z ~1260; counts by ?s ~1260; scan ?s :label ?l "
         "~1260; ",
         "part by subjects; part by subjects; ", 10, 0, 2},
        {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :label ?l ; :size ?z }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates ~1; hash join ~1890; >counts by ?s "
         "~1260; >scan ?s :size ?z ~1260; counts by ?s ~1260; scan ?s :label ?l ~1260; ",
         "part by subjects; part by subjects; ", 1, 0, 2},
    };
    static const enum status others[] = {STATUS_LIMIT, STATUS_UNSUPPORTED};
    const struct query_options options = {.now_ms = 1700000000000};
    struct reason why = {{0}};
    struct buf plan;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        here.part_status = others[i];
        CHECK_PLANS(plans);
    }
    here.part_status = STATUS_SYSTEM;
    buf_init(&plan, 1 << 16);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct query *query = parted_query(plans[i].query);
        assert_int_equal(query_explain(query, &here.source, &options, false, &plan, &why),
                         STATUS_SYSTEM);
        query_free(query);
    }
    here.part_status = STATUS_OK;
    here.source.part = NULL;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct query *query = parted_query(plans[i].query);
        buf_reset(&plan);
        assert_int_equal(query_explain(query, &here.source, &options, false, &plan, &why),
                         STATUS_OK);
        assert_null(strstr(plan.data, "of nodes of one partition"));
        query_free(query);
    }
    here.source.part = parted_part;
    buf_release(&plan);
}

/* A dataset is the partitions' too; one graph alone, or another default graph, is. */
static void
datasets_are_asked_for(void **state)
{
    static const struct shared_plan plans[] = {
        {"SELECT * FROM NAMED :g1 FROM NAMED :g2 { GRAPH ?g { ?s :size 3 } }",
         "partitions rows ~120; >scan ?s :size \"3\" in ?g ~120; ",
         "rows of 0, 2 columns: 0 and 60; ", 60, 60, 1},
        {"SELECT * FROM :g1 FROM :g3 { ?s :size 3 FILTER(?s != :s3) }",
         "distinct ~60; partitions rows ~60; >filter ~120; >scan ?s :size \"3\" ~120; ",
         "rows of 1, 1 columns: 0 and 119; ", 119, 119, 1},
        {"SELECT (COUNT(*) AS ?n) FROM NAMED :g1 { GRAPH ?g { ?s :size ?z } }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates of parts ~1; partitions parts of "
         "aggregates ~1; >group 0 keys, 1 aggregates ~1; >scan ?s :size ?z in ?g ~1260; ",
         "parts of 2, 1 columns: 0 and 1; ", 1, 1, 1},
        {"SELECT (MAX(?z) AS ?n) FROM :g1 FROM :g2 { ?s :size ?z }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates of parts ~1; partitions parts of "
         "aggregates ~1; >group 0 keys, 1 aggregates ~1; >scan ?s :size ?z ~1260; ",
         "parts of 2, 1 columns: 1 and 1; ", 1, 2, 1},
    };
    static const struct shared_plan given[] = {
        {"SELECT * { GRAPH ?g { ?s :size 3 } }",
         "partitions rows ~120; >scan ?s :size \"3\" in ?g ~120; ",
         "rows of 0, 2 columns: 0 and 60; ", 60, 60, 1},
        {"SELECT (MAX(?z) AS ?n) { ?s :size ?z }",
         "bind 1 expressions ~1; group 0 keys, 1 aggregates of parts ~1; partitions parts of "
         "aggregates ~1; >group 0 keys, 1 aggregates ~1; >scan ?s :size ?z ~300; ",
         "parts of 2, 1 columns: 1 and 0; ", 1, 1, 1},
    };
    const struct query_options one = {.only_graph = SLICE("http://example.org/g1")};
    const struct query_options some = {.graphs = SLICE("http://example.org/g0\n"),
                                       .named_graphs = SLICE("http://example.org/g3\n")};
    struct reason why = {{0}};
    struct buf plan;
    (void)state;
    CHECK_PLANS(plans);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        parted_check(&given[i], &some);
        struct query *query = parted_query(given[i].query);
        buf_init(&plan, 1 << 16);
        assert_int_equal(query_explain(query, &here.source, &one, false, &plan, &why), STATUS_OK);
        assert_null(strstr(plan.data, "partitions"));
        query_free(query);
        buf_release(&plan);
    }
}

/* A request that does not fit the query is refused, never read past what the query has. */
static void
requests_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        enum share_form form;
        uint32_t node;
        size_t columns;
        enum status status;
    } cases[] = {
        {SHARE_PARTS, 2, 2, STATUS_OK},          {SHARE_PARTS, 2, 1, STATUS_PROTOCOL},
        {SHARE_PARTS, 2, 3, STATUS_PROTOCOL},    {SHARE_PARTS, 1, 2, STATUS_PROTOCOL},
        {SHARE_PARTS, 3, 2, STATUS_PROTOCOL},    {SHARE_VALUES, 2, 1, STATUS_OK},
        {SHARE_VALUES, 2, 2, STATUS_PROTOCOL},   {SHARE_VALUES, 3, 1, STATUS_PROTOCOL},
        {SHARE_ROWS, 3, 3, STATUS_OK},           {SHARE_ROWS, 3, 2, STATUS_PROTOCOL},
        {SHARE_ROWS, 3, 4, STATUS_PROTOCOL},     {SHARE_ROWS, 1000, 3, STATUS_PROTOCOL},
        {SHARE_PARTS, 1000, 2, STATUS_PROTOCOL},
    };
    const struct query_options options = {.now_ms = 1};
    (void)state;
    struct query *query =
        parted_query("SELECT ?z (COUNT(*) AS ?n) { GRAPH ?g { ?s :size ?z } } GROUP BY ?z");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct share_scan scan = {.columns = cases[i].columns};
        const struct share_sink sink = {.context = &scan, .row = parted_take, .end = parted_end};
        const struct share_request request = {.form = cases[i].form,
                                              .node = cases[i].node,
                                              .most = UINT64_MAX,
                                              .columns = cases[i].columns};
        struct reason why = {{0}};
        scan.rows = calloc(PARTED_MOST * (scan.columns + 1), sizeof *scan.rows);
        const enum status status = share_run(query, memory_source_table(here.partitions[0]),
                                             &options, &request, &sink, &why);
        if (status != cases[i].status) {
            fail_msg("case %zu: %s", i, why.text);
        }
        assert_true((scan.count > 0) == (status == STATUS_OK));
        free(scan.rows);
    }
    query_free(query);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_asked_for),
        cmocka_unit_test(first_rows_are_asked_for),
        cmocka_unit_test(groups_are_asked_for),
        cmocka_unit_test(joins_are_parted),
        cmocka_unit_test(nodes_of_several_partitions_are_joined_here),
        cmocka_unit_test(what_cannot_be_parted_is_read),
        cmocka_unit_test(datasets_are_asked_for),
        cmocka_unit_test(requests_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, parted_open, parted_close);
}
