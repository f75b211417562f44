/* bench_plans FOLDER: realistic queries over an index partition that has the quads of
 * $QUADRILLE_SHARED/bench/real1m.nq.xz, by the planner's order of joins and by every other one. A
 * line for each: name, rows, milliseconds by the planner's order, those by the best order, their
 * ratio, the best order as letters. Ends with 1 when a ratio is over ten.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "index/query/query.h"
#include "index/write/partition.h"

#define PREFIXES                                            \
    "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> " \
    "PREFIX skos: <http://www.w3.org/2004/02/skos/core#> "  \
    "PREFIX prov: <http://www.w3.org/ns/prov#> "            \
    "PREFIX foaf: <http://xmlns.com/foaf/0.1/> "            \
    "PREFIX schema: <https://schema.org/> "

/* items: of the join whose orders are tried. */
static const struct {
    const char *name, *text;
    unsigned items;
} queries[] = {
    {"provenance of concepts",
     PREFIXES "SELECT (COUNT(*) AS ?n) { ?x foaf:topic ?c . ?c skos:inScheme ?i . "
              "?x prov:wasGeneratedBy ?a . ?a prov:atTime ?t }",
     4},
    {"labels of a type",
     PREFIXES "SELECT ?c ?l ?d { ?c a skos:Concept ; skos:prefLabel ?l ; skos:definition ?d "
              "FILTER(LANG(?l) = 'en' && LANG(?d) = 'en') }",
     3},
    {"rare among many",
     PREFIXES
     "SELECT ?c ?o { ?c skos:prefLabel ?l ; skos:altLabel ?m ; skos:exactMatch ?o ; a ?t }",
     4},
    {"ancestors",
     PREFIXES "SELECT ?c ?l { ?c rdfs:subClassOf+ ?top . ?c rdfs:label ?l . ?top rdfs:label ?m "
              "FILTER(STRSTARTS(?m, 'Thing')) }",
     3},
    {"optional parts",
     PREFIXES "SELECT (COUNT(*) AS ?n) { ?c skos:inScheme ?s ; skos:exactMatch ?m ; skos:prefLabel "
              "?l OPTIONAL { ?c skos:definition ?d } OPTIONAL { ?c skos:altLabel ?a } }",
     3},
    {"counted by type",
     PREFIXES
     "SELECT ?t (COUNT(DISTINCT ?c) AS ?n) { ?c a ?t ; dct:isPartOf ?p . ?p rdfs:label ?l } "
     "GROUP BY ?t ORDER BY DESC(?n)",
     3},
    {"words and labels",
     PREFIXES "SELECT ?c ?score { ?l q:matches 'roman' ; q:score ?score . ?c skos:prefLabel ?l ; "
              "skos:inScheme ?s } ORDER BY DESC(?score) LIMIT 20",
     4},
    {"schema.org terms",
     PREFIXES "SELECT ?p ?d ?r { ?p schema:domainIncludes ?d ; schema:rangeIncludes ?r ; "
              "schema:isPartOf ?o ; rdfs:comment ?c }",
     4},
    {"same object",
     PREFIXES "SELECT (COUNT(*) AS ?n) { ?a skos:exactMatch ?x . ?b skos:closeMatch ?x . ?a "
              "skos:prefLabel ?l }",
     3},
    {"activities",
     PREFIXES "SELECT ?who (COUNT(*) AS ?n) (MIN(?t) AS ?first) { ?e prov:wasGeneratedBy ?a . ?a "
              "prov:atTime ?t ; prov:wasAssociatedWith ?who . ?e a ?type } GROUP BY ?who",
     4},
};

static void
must(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench_plans: %s\n", why->text);
        exit(EXIT_SYSTEM);
    }
}

/* Milliseconds, the better of two runs; -1 when it takes longer than limit_ms. */
static double
run(const struct query *query, const struct quad_source *source, const char *order,
    uint64_t limit_ms, uint64_t *rows)
{
    const struct query_options options = {.join_order = order, .timeout_ms = limit_ms};
    const struct query_sink sink = {0};
    double best = -1;
    for (int i = 0; i < 2; i++) {
        struct query_report report;
        struct reason why;
        const uint64_t start = clock_monotonic_us();
        if (query_run(query, source, &options, &sink, &report, &why) != STATUS_OK) {
            return -1;
        }
        const double taken = (double)(clock_monotonic_us() - start) / 1000;
        best = best < 0 || taken < best ? taken : best;
        *rows = report.rows;
    }
    return best;
}

struct search {
    const struct query *query;
    const struct quad_source *source;
    double best;
    char best_order[16];
};

static void
try_orders(struct search *search, char *order, size_t at, size_t count)
{
    if (at == count) {
        uint64_t rows;
        const double taken =
            run(search->query, search->source, order, (uint64_t)search->best + 2, &rows);
        if (taken >= 0 && taken < search->best) {
            search->best = taken;
            memcpy(search->best_order, order, count + 1);
        }
        return;
    }
    for (size_t i = at; i < count; i++) {
        const char first = order[at];
        order[at] = order[i];
        order[i] = first;
        try_orders(search, order, at + 1, count);
        order[i] = order[at];
        order[at] = first;
    }
}

static double
compare(size_t number, const struct quad_source *source)
{
    struct query *query;
    struct reason why;
    char order[16] = "abcdefghijklmno";
    uint64_t rows = 0;
    must(query_prepare(&query, slice_string(queries[number].text), (struct slice){NULL, 0}, &why),
         &why);
    const double own = run(query, source, NULL, 60000, &rows);
    struct search search = {query, source, own < 0 ? 60000 : own, "own"};
    order[queries[number].items] = '\0';
    try_orders(&search, order, 0, queries[number].items);
    query_free(query);
    const double ratio = (own < 0 ? 60000 : own) / search.best;
    printf("%s\t%llu\t%.2f\t%.2f\t%.1f\t%s\n", queries[number].name, (unsigned long long)rows, own,
           search.best, ratio, search.best_order);
    fflush(stdout);
    return ratio;
}

int
main(int argc, char **argv)
{
    struct partition *partition;
    struct partition_reader *reader;
    struct partition_options options;
    struct reason why;
    bool good = true;
    if (argc != 2) {
        fprintf(stderr, "usage: bench_plans FOLDER\n");
        return EXIT_MISUSE;
    }
    partition_options_default(&options, argv[1]);
    must(partition_open(&partition, &options, &why), &why);
    must(partition_reader_open(&reader, partition, &why), &why);
    printf("query\trows\tms\tms by the best order\tratio\tbest order\n");
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        good = compare(i, partition_reader_source(reader)) <= 10 && good;
    }
    partition_reader_close(reader);
    partition_close(partition);
    return good ? 0 : 1;
}
