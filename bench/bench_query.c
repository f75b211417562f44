/* bench_query FILE.nq [FOLDER]: queries over N-Quads whose graphs come one after the other, held
 * in memory and, with an empty FOLDER, in an index partition there. A line for each query: name,
 * rows, quads read, and milliseconds (the best of five runs) over either.
 *
 * The queries suit $QUADRILLE_SHARED/bench/real1m.nq.xz.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/system/clock.h"
#include "index/query/query.h"
#include "index/write/partition.h"
#include "rdf/nquads/nquads.h"
#include "tests/support/memory_source.h"

#define SKOS "<http://www.w3.org/2004/02/skos/core#"
#define PROV "<http://www.w3.org/ns/prov#"
#define COUNT "SELECT (COUNT(*) AS ?n) "

static const struct {
    const char *name, *text;
} queries[] = {
    {"one subject", "SELECT * { <http://nomisma.org/id/epora> ?p ?o }"},
    {"first ten of a join",
     "SELECT ?s ?l { ?s a " SKOS "Concept> ; " SKOS "prefLabel> ?l FILTER(LANG(?l) = 'en') } "
     "LIMIT 10"},
    {"join of two", COUNT "{ ?s a " SKOS "Concept> ; " SKOS "prefLabel> ?l }"},
    {"join of four", COUNT "{ ?x <http://xmlns.com/foaf/0.1/topic> ?c . ?c " SKOS "inScheme> ?i . "
                           "?x " PROV "wasGeneratedBy> ?a . ?a " PROV "atTime> ?t }"},
    {"optional", COUNT "{ ?s a " SKOS "Concept> OPTIONAL { ?s " SKOS "definition> ?d "
                       "FILTER(LANG(?d) = 'en') } }"},
    {"not exists",
     COUNT "{ ?s a " SKOS "Concept> FILTER NOT EXISTS { ?s " SKOS "definition> ?d } }"},
    {"regex", COUNT "{ ?s " SKOS "prefLabel> ?l FILTER(REGEX(?l, '^A.*us$', 'i')) }"},
    {"path", COUNT "{ ?s " SKOS "broader>+ ?t }"},
    {"group by type",
     "SELECT ?t (COUNT(*) AS ?n) { ?s a ?t } GROUP BY ?t ORDER BY DESC(?n) LIMIT 10"},
    {"order, first ten", "SELECT ?s ?l { ?s " SKOS "prefLabel> ?l } ORDER BY ?l LIMIT 10"},
    {"distinct predicates", "SELECT DISTINCT ?p { ?s ?p ?o }"},
    {"count all", COUNT "{ ?s ?p ?o }"},
    {"keyword and subject",
     "SELECT ?s ?c { ?l q:matches 'roman republic' ; q:score ?c . ?s ?p ?l } ORDER BY DESC(?c) "
     "LIMIT 10"},
};

struct load {
    struct memory_source *memory;
    struct partition *partition;
    struct index_batch *batch;
    struct buf graph; /* URI of the open document */
};

static void
must(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench_query: %s\n", why->text);
        exit(EXIT_SYSTEM);
    }
}

static enum status
end_document(struct load *load, struct reason *why)
{
    enum { BATCH = 200000 };
    if (load->graph.length) {
        (void)index_batch_end(load->batch);
    }
    if (index_batch_quads(load->batch) >= BATCH) {
        TRY(index_batch_commit(load->batch, why));
        index_batch_reset(load->batch);
    }
    return STATUS_OK;
}

static enum status
load_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct load *load = context;
    TRY(memory_source_add(load->memory, quad, why));
    if (!load->partition) {
        return STATUS_OK;
    }
    if (!slice_equal(buf_slice(&load->graph), quad->graph.value)) {
        TRY(end_document(load, why));
        buf_reset(&load->graph);
        TRY(buf_append_slice(&load->graph, quad->graph.value));
        const struct index_document document = {.uri = buf_slice(&load->graph), .generation = 1};
        index_batch_begin(load->batch, &document);
    }
    return index_batch_quad(load->batch, quad, why);
}

static void
load_file(struct load *load, const char *path)
{
    struct buf bytes;
    struct reason why;
    buf_init(&bytes, (size_t)8 << 30);
    FILE *in = fopen(path, "rb");
    size_t n = 1;
    if (!in) {
        perror(path);
        exit(EXIT_SYSTEM);
    }
    while (n) {
        enum { PIECE = 1 << 20 };
        char *at = buf_reserve(&bytes, PIECE);
        n = at ? fread(at, 1, PIECE, in) : 0;
        buf_commit(&bytes, n);
    }
    fclose(in);
    const struct parse_options options = {.lenient = true};
    const struct quad_sink sink = {load_quad, load};
    must(nquads_parse(buf_slice(&bytes), &options, &sink, &why), &why);
    buf_release(&bytes);
    if (load->partition) {
        must(end_document(load, &why), &why);
        must(index_batch_commit(load->batch, &why), &why);
        index_batch_free(load->batch);
        must(partition_settle(load->partition, &why), &why);
    }
}

static double
run_best(const struct query *query, const struct quad_source *source, struct query_report *report)
{
    enum { RUNS = 5 };
    const struct query_options options = {0};
    const struct query_sink sink = {0};
    double best = 0;
    for (int i = 0; i < RUNS; i++) {
        struct reason why;
        const uint64_t start = clock_monotonic_us();
        must(query_run(query, source, &options, &sink, report, &why), &why);
        const double taken = (double)(clock_monotonic_us() - start) / 1000;
        best = i == 0 || taken < best ? taken : best;
    }
    return best;
}

static void
run_queries(const struct quad_source *memory, const struct quad_source *stored)
{
    printf("query\trows\tquads read\tms in memory%s\n", stored ? "\tms in the index" : "");
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct query *query;
        struct query_report report;
        struct reason why;
        must(query_prepare(&query, slice_string(queries[i].text), (struct slice){NULL, 0}, &why),
             &why);
        const double in_memory = run_best(query, memory, &report);
        printf("%s\t%llu\t%llu\t%.2f", queries[i].name, (unsigned long long)report.rows,
               (unsigned long long)report.scanned, in_memory);
        if (stored) {
            printf("\t%.2f", run_best(query, stored, &report));
        }
        printf("\n");
        fflush(stdout);
        query_free(query);
    }
}

int
main(int argc, char **argv)
{
    struct load load = {.memory = memory_source_new(0)};
    struct partition_reader *reader = NULL;
    struct reason why;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: bench_query FILE.nq [FOLDER]\n");
        return EXIT_MISUSE;
    }
    buf_init(&load.graph, 1 << 16);
    if (argc == 3) {
        struct partition_options options;
        partition_options_default(&options, argv[2]);
        options.no_sync = true;
        must(partition_open(&load.partition, &options, &why), &why);
        load.batch = index_batch_new(load.partition);
    }
    load_file(&load, argv[1]);
    if (load.partition) {
        must(partition_reader_open(&reader, load.partition, &why), &why);
    }
    (void)memory_source_quads(load.memory);
    run_queries(memory_source_table(load.memory), reader ? partition_reader_source(reader) : NULL);
    if (reader) {
        partition_reader_close(reader);
        partition_close(load.partition);
    }
    memory_source_free(load.memory);
    buf_release(&load.graph);
    return EXIT_DONE;
}
