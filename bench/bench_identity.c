/* bench_identity [PERSONS]: who is the same, over an index partition of its own.
 *
 * The first line is of documents whose terms are known by then: profiles with seven properties, two
 * of each person. The second asks the same with nothing remembered. Times are the process's CPU
 * time. PERSONS is the folder suites/identity/persons: two data sets and the pairs that are right;
 * a line for each property that is declared to identify has precision and recall. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/system/file.h"
#include "bench/scratch.h"
#include "identity/identity.h"
#include "index/write/partition.h"
#include "rdf/nquads/nquads.h"
#include "rdf/rdfxml/rdfxml.h"

#define FOAF "http://xmlns.com/foaf/0.1/"
#define PERSON1 "http://www.okkam.org/ontology_person1.owl"
#define PERSON2 "http://www.okkam.org/ontology_person2.owl"

enum { PROFILES = 20000, COLD = 500, TEXT_MAXIMUM = 1 << 28, PATH_SIZE = 4096, BATCH = 200000 };

static void
must(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench_identity: %s\n", why->text);
        exit(EXIT_SYSTEM);
    }
}

static double
cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- loading ---- */

struct load {
    struct index_batch *batch;
    struct term graph; /* of all quads */
};

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct load *load = context;
    struct quad stored = *quad;
    stored.graph = load->graph;
    return index_batch_quad(load->batch, &stored, why);
}

static void
add_document(struct index_batch *batch, const char *uri, struct slice text, parse_function *parse)
{
    struct reason why = {""};
    struct load load = {batch, term_iri(slice_string(uri))};
    const struct quad_sink sink = {take_quad, &load};
    const struct parse_options options = {.base = slice_string(uri), .lenient = true};
    const struct index_document document = {.uri = slice_string(uri), .generation = 1};
    index_batch_begin(batch, &document);
    must(parse(text, &options, &sink, &why), &why);
    (void)index_batch_end(batch);
    if (index_batch_quads(batch) >= BATCH) {
        must(index_batch_commit(batch, &why), &why);
        index_batch_reset(batch);
    }
}

static void
add_ontology(struct index_batch *batch, const char *uri, const char *property)
{
    struct buf text;
    buf_init(&text, TEXT_MAXIMUM);
    (void)buf_printf(&text,
                     "<%s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
                     "<http://www.w3.org/2002/07/owl#InverseFunctionalProperty> .\n",
                     property);
    add_document(batch, uri, buf_slice(&text), nquads_parse);
    buf_release(&text);
}

static void
profile_uri(unsigned i, char uri[64])
{
    snprintf(uri, 64, "http://host%u.example/profile/%u", i % 997, i);
}

static void
add_profile(struct index_batch *batch, unsigned i)
{
    struct buf text;
    char uri[64], friend[64];
    buf_init(&text, TEXT_MAXIMUM);
    profile_uri(i, uri);
    profile_uri((i + 7) % PROFILES, friend);
    (void)buf_printf(&text,
                     "<%s#me> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <" FOAF
                     "Person> .\n"
                     "<%s#me> <" FOAF "mbox> <mailto:person%u@mail.example> .\n"
                     "<%s#me> <" FOAF "name> \"Person %u\" .\n<%s#me> <" FOAF "nick> \"p%u\" .\n"
                     "<%s#me> <" FOAF "homepage> <%s> .\n<%s#me> <" FOAF "knows> <%s#me> .\n"
                     "<%s#me> <http://www.w3.org/2000/01/rdf-schema#seeAlso> <%s> .\n",
                     uri, uri, i / 2, uri, i, uri, i, uri, uri, uri, friend, uri, friend);
    add_document(batch, uri, buf_slice(&text), nquads_parse);
    buf_release(&text);
}

static void
add_file(struct index_batch *batch, const char *folder, const char *name, const char *uri)
{
    struct reason why = {""};
    struct buf text;
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    buf_init(&text, TEXT_MAXIMUM);
    must(file_read(path, &text, &why), &why);
    add_document(batch, uri, buf_slice(&text), rdfxml_parse);
    buf_release(&text);
}

static struct partition *
load(const char *folder, const char *persons)
{
    struct reason why = {""};
    struct partition *partition;
    struct partition_options options;
    partition_options_default(&options, folder);
    options.no_sync = true;
    must(partition_open(&partition, &options, &why), &why);
    struct index_batch *batch = index_batch_new(partition);
    add_ontology(batch, FOAF, FOAF "mbox");
    for (unsigned i = 0; i < PROFILES; i++) {
        add_profile(batch, i);
    }
    if (persons != NULL) {
        add_file(batch, persons, "person11.rdf", "http://a.example/person11.rdf");
        add_file(batch, persons, "person12.rdf", "http://b.example/person12.rdf");
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    must(partition_settle(partition, &why), &why);
    return partition;
}

/* ---- rates ---- */

static size_t
find(struct identity *identity, const struct quad_source *source, struct slice iri,
     struct identity_cluster *cluster, struct arena *arena)
{
    struct reason why = {""};
    const struct term term = term_iri(iri);
    oid id;
    must(source->lookup(source->context, &term, &id, &why), &why);
    must(identity_find(identity, id, arena, cluster, &why), &why);
    return cluster->member_count;
}

static void
measure(const struct quad_source *source, unsigned count, bool remember)
{
    const struct identity_settings settings = {.source = source};
    struct identity *identity = identity_new(&settings);
    struct identity_cluster cluster;
    struct arena arena;
    size_t members = 0;
    arena_init(&arena, 0);
    const double before = cpu_seconds();
    for (unsigned i = 0; i < count; i++) {
        char uri[64], iri[80];
        profile_uri(i, uri);
        snprintf(iri, sizeof iri, "%s#me", uri);
        if (!remember) {
            identity_free(identity);
            identity = identity_new(&settings);
        }
        members += find(identity, source, slice_string(iri), &cluster, &arena);
        arena_reset(&arena);
    }
    const double took = cpu_seconds() - before;
    const struct identity_counts counts = identity_counts(identity);
    printf("%s\tdocuments\t%u\tmembers\t%zu\tdocuments/s\t%.0f\tmeanings made\t%llu\tfound\t%llu\n",
           remember ? "remembered" : "anew", count, members, (double)count / took,
           (unsigned long long)counts.meanings_made, (unsigned long long)counts.meanings_found);
    arena_release(&arena);
    identity_free(identity);
}

/* ---- pairs that are right ---- */

static void
count_pairs(struct identity *identity, const struct quad_source *source, struct slice one,
            struct slice right, unsigned *told, unsigned *hits)
{
    struct reason why = {""};
    struct identity_cluster cluster;
    struct arena arena;
    arena_init(&arena, 0);
    (void)find(identity, source, one, &cluster, &arena);
    for (size_t i = 0; i < cluster.member_count; i++) {
        struct term member;
        must(source->resolve(source->context, cluster.members[i], &arena, &member, &why), &why);
        if (slice_starts(member.value, SLICE("http://www.okkam.org/oaie/person2-"))) {
            *told += 1;
            *hits += slice_equal(member.value, right);
        }
    }
    arena_release(&arena);
}

static void
measure_pairs(const struct quad_source *source, const char *persons, const char *name)
{
    const struct identity_settings settings = {.source = source};
    struct identity *identity = identity_new(&settings);
    struct reason why = {""};
    struct buf text;
    char path[PATH_SIZE];
    unsigned pairs = 0, told = 0, hits = 0;
    snprintf(path, sizeof path, "%s/gold.tsv", persons);
    buf_init(&text, TEXT_MAXIMUM);
    must(file_read(path, &text, &why), &why);
    struct slice left = buf_slice(&text);
    (void)slice_next_word(&left); /* the names of the columns */
    (void)slice_next_word(&left);
    for (struct slice one; (one = slice_next_word(&left)).length > 0; pairs++) {
        count_pairs(identity, source, one, slice_next_word(&left), &told, &hits);
    }
    printf("%s\tpairs\t%u\ttold\t%u\tright\t%u\tprecision\t%.3f\trecall\t%.3f\n", name, pairs, told,
           hits, told > 0 ? (double)hits / told : 0, (double)hits / pairs);
    buf_release(&text);
    identity_free(identity);
}

/* The ontologies of both data sets declare the one property and nothing else. */
static void
declare(struct partition *partition, const char *name, uint64_t generation)
{
    static const char *const ontologies[] = {PERSON1, PERSON2};
    struct reason why = {""};
    struct index_batch *batch = index_batch_new(partition);
    for (int i = 0; i < 2; i++) {
        char property[128];
        struct buf text;
        struct load load = {batch, term_iri(slice_string(ontologies[i]))};
        const struct quad_sink sink = {take_quad, &load};
        const struct index_document document = {.uri = load.graph.value, .generation = generation};
        snprintf(property, sizeof property, "%s#%s", ontologies[i], name);
        buf_init(&text, TEXT_MAXIMUM);
        (void)buf_printf(&text,
                         "<%s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
                         "<http://www.w3.org/2002/07/owl#InverseFunctionalProperty> .\n"
                         "<%s> <http://www.w3.org/2002/07/owl#equivalentProperty> <%s#%s> .\n",
                         property, property, ontologies[1 - i], name);
        index_batch_begin(batch, &document);
        must(nquads_parse(buf_slice(&text), NULL, &sink, &why), &why);
        (void)index_batch_end(batch);
        buf_release(&text);
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
}

int
main(int argc, char **argv)
{
    static const char *const properties[] = {"soc_sec_id", "phone_numer"};
    const char *persons = argc > 1 ? argv[1] : NULL;
    struct partition_reader *reader;
    struct reason why = {""};
    char folder[BENCH_SCRATCH_SIZE], command[BENCH_SCRATCH_SIZE + 16];
    if (mkdtemp(bench_scratch(folder, "identity")) == NULL) {
        perror(folder);
        return EXIT_SYSTEM;
    }
    struct partition *partition = load(folder, persons);
    must(partition_reader_open(&reader, partition, &why), &why);
    measure(partition_reader_source(reader), PROFILES, true);
    measure(partition_reader_source(reader), COLD, false);
    partition_reader_close(reader);
    for (int i = 0; persons != NULL && i < 2; i++) {
        declare(partition, properties[i], (uint64_t)i + 1);
        must(partition_reader_open(&reader, partition, &why), &why);
        measure_pairs(partition_reader_source(reader), persons, properties[i]);
        partition_reader_close(reader);
    }
    partition_close(partition);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? EXIT_DONE : EXIT_SYSTEM;
}
