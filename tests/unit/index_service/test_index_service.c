/* The query service as its clients see it, with one partition and with three. */
#include "tests/unit/index/index_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "index/client/index_client.h"
#include "index/protocol/service_protocol.h"
#include "index/serve/cursor.h"
#include "index/serve/index_service.h"
#include "tests/unit/index_service/lookup_checks.h"

enum { PARTITIONS_MOST = 3, DOCUMENTS = 40, ANSWER = 1 << 26 };

static char folder[SCRATCH_SIZE];
static struct buf documents[DOCUMENTS];
static struct links *links;

struct world {
    size_t count;
    struct partition *partitions[PARTITIONS_MOST];
    struct service *services[PARTITIONS_MOST];
    char endpoints[PARTITIONS_MOST][128];
    struct index_client *client;
};

static const char extra[] =
    "<http://s.example/a> <http://www.w3.org/2000/01/rdf-schema#seeAlso> <http://t.example/1> "
    "<http://host1.example/document/1> .\n"
    "<http://s.example/a> <http://purl.org/rss/1.0/link> \"http://t.example/2\" "
    "<http://host1.example/document/1> .\n"
    "<http://s.example/a> <http://own.example/link> <http://t.example/3> "
    "<http://host1.example/document/1> .\n"
    "<http://s.example/a> <http://own.example/link> \"a plain text\" "
    "<http://host1.example/document/1> .\n"
    "<http://s.example/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
    "<http://own.example/Thing> <http://host1.example/document/1> .\n";

static bool
owns(const struct world *world, size_t partition, unsigned document)
{
    char uri[64];
    fixture_uri(document, uri);
    return (size_t)partition_of(slice_string(uri)) * world->count / PARTITIONS == partition;
}

static void
start(struct world *world, size_t count)
{
    struct reason why = {""};
    *world = (struct world){.count = count};
    const char *endpoints[PARTITIONS_MOST];
    for (size_t i = 0; i < count; i++) {
        char name[96];
        snprintf(name, sizeof(name), "%s/%u-%u", folder, (unsigned)count, (unsigned)i);
        snprintf(world->endpoints[i], sizeof(world->endpoints[i]), "ipc://%s.sock", name);
        endpoints[i] = world->endpoints[i];
        world->partitions[i] = fixture_open(name, 4 << 20);
        const char *const own[] = {world->endpoints[i], NULL};
        const struct service_options options = {.endpoints = own,
                                                .scratch_folder = folder,
                                                .links = links,
                                                .query_threads = 2,
                                                .cursors = 64,
                                                .query_timeout_ms = 60000,
                                                .query_memory = 64 << 20,
                                                .answer_bytes = ANSWER,
                                                .sort_memory = 1 << 20,
                                                .answer_memory = 4 << 20};
        must(service_start(&world->services[i], world->partitions[i], &options, &why), &why);
    }
    const struct index_client_options options = {
        .endpoints = endpoints, .count = count, .name = "test"};
    must(index_client_open(&world->client, &options, &why), &why);
    for (size_t i = 0; i < count; i++) {
        struct index_batch *batch = index_batch_new(world->partitions[i]);
        for (unsigned d = 0; d < DOCUMENTS; d++) {
            if (owns(world, i, d)) {
                fixture_add(batch, d, 1, &documents[d]);
            }
        }
        must(index_batch_commit(batch, &why), &why);
        must(partition_settle(world->partitions[i], &why), &why);
        index_batch_free(batch);
    }
}

static void
stop(struct world *world)
{
    index_client_close(world->client);
    for (size_t i = 0; i < world->count; i++) {
        if (world->services[i] != NULL) {
            service_stop(world->services[i]);
        }
        partition_close(world->partitions[i]);
    }
}

static void
query(struct world *world, const char *sparql, const char *format, struct buf *out)
{
    struct reason why = {""};
    buf_reset(out);
    must(index_query(world->client, slice_string(sparql), format, &(struct index_query_options){0},
                     fixture_append, out, &why),
         &why);
}

static size_t
lines_of(const struct buf *text)
{
    size_t n = 0;
    for (size_t i = 0; i < text->length; i++) {
        n += text->data[i] == '\n';
    }
    return n;
}

/* The default graph may be one graph; a query may be explained. */
static void
check_options(struct world *world, struct buf *out)
{
    struct reason why = {""};
    struct index_query_options options = {.default_graph = SLICE("http://own.example/none")};
    buf_reset(out);
    must(index_query(world->client, SLICE("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"), "csv", &options,
                     fixture_append, out, &why),
         &why);
    assert_string_equal(out->data, "n\r\n0\r\n");
    options = (struct index_query_options){.answer = INDEX_ANSWER_PLAN};
    for (int measured = 0; measured < 2; measured++) {
        buf_reset(out);
        must(index_query(world->client, SLICE("SELECT * { ?s ?p ?o } LIMIT 3"), "", &options,
                         fixture_append, out, &why),
             &why);
        assert_non_null(strstr(out->data, "scan ?s ?p ?o"));
        assert_int_equal(strstr(out->data, "slice offset 0, limit 3 (about 3 rows; 3 rows") != NULL,
                         measured);
        options.answer = INDEX_ANSWER_MEASURED;
    }
}

static void
check_answers(size_t count)
{
    struct world world;
    struct buf out, expected;
    struct reason why = {""};
    buf_init(&out, ANSWER);
    buf_init(&expected, ANSWER);
    start(&world, count);

    fixture_canonical(documents, DOCUMENTS, &expected);
    must(index_dump(world.client, NULL, fixture_append, &out, &why), &why);
    assert_true(slice_equal(buf_slice(&out), buf_slice(&expected)));

    struct index_stats stats;
    must(index_stats_get(world.client, &stats, &why), &why);
    assert_int_equal(stats.documents, DOCUMENTS);
    assert_int_equal(stats.quads, lines_of(&expected));

    buf_reset(&out);
    must(index_verify(world.client, fixture_append, &out, &why), &why);

    const struct quad any = {.predicate = {.kind = TERM_NONE}};
    buf_reset(&out);
    must(index_pattern(world.client, &any, 0, fixture_append, &out, &why), &why);
    assert_int_equal(lines_of(&out), stats.quads);
    buf_reset(&out);
    must(index_pattern(world.client, &any, 17, fixture_append, &out, &why), &why);
    assert_int_equal(lines_of(&out), 17);
    const struct quad one = {.subject = term_iri(SLICE("http://s.example/a")),
                             .object = term_literal(SLICE("a plain text"))};
    buf_reset(&out);
    must(index_pattern(world.client, &one, 0, fixture_append, &out, &why), &why);
    assert_string_equal(out.data, "<http://s.example/a> <http://own.example/link> \"a plain text\" "
                                  "<http://host1.example/document/1> .\n");

    buf_reset(&out);
    must(index_search(world.client, SLICE("plain text"), 10, fixture_append, &out, &why), &why);
    assert_int_equal(lines_of(&out), 1);
    assert_non_null(strstr(out.data, "\t\"a plain text\"\t<http://s.example/a>\t"));
    buf_reset(&out);
    must(index_search(world.client, SLICE("number"), 5, fixture_append, &out, &why), &why);
    assert_int_equal(lines_of(&out), 5);

    lookup_checks(world.client);

    query(&world,
          "SELECT ?o WHERE { <http://s.example/a> <http://own.example/link> ?o }"
          " ORDER BY ?o",
          "csv", &out);
    assert_string_equal(out.data, "o\r\nhttp://t.example/3\r\na plain text\r\n");
    query(&world, "SELECT (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } }", "csv", &out);
    char text[64];
    snprintf(text, sizeof(text), "n\r\n%lu\r\n", (unsigned long)stats.quads);
    assert_string_equal(out.data, text);
    assert_int_equal(index_query(world.client, SLICE("SELECT nonsense"), "csv",
                                 &(struct index_query_options){0}, fixture_append, &out, &why),
                     STATUS_BAD_INPUT);
    query(&world, "SELECT * { <http://own.example/none> ?p ?o }", "csv", &out);
    assert_string_equal(out.data, "p,o\r\n");
    check_options(&world, &out);

    stop(&world);
    buf_release(&out);
    buf_release(&expected);
}

static void
one_partition_answers(void **state)
{
    (void)state;
    check_answers(1);
}

static void
three_partitions_answer_as_one(void **state)
{
    (void)state;
    check_answers(3);
}

static size_t
found(struct world *world)
{
    const struct index_find find = {.words = SLICE("fresh"), .limit = 1000};
    struct reason why = {""};
    struct arena arena;
    size_t count = 0;
    arena_init(&arena, 0);
    must(index_find(world->client, &find, &arena, lookup_count, &count, &why), &why);
    arena_release(&arena);
    return count;
}

static void
take_value(void *out, size_t resource, size_t predicate, const struct term *object)
{
    (void)buf_printf(out, "%zu %zu %.*s\n", resource, predicate, SLICE_PRINT(object->value));
}

/* The few statements that are wanted are given of many. */
static void
check_large_resource(struct world *world)
{
    static const struct slice predicates[] = {SLICE_INIT("http://p.example/first"),
                                              SLICE_INIT("http://p.example/last"),
                                              SLICE_INIT("http://p.example/none")};
    const struct term many = term_iri(SLICE("http://s.example/many")),
                      one = term_iri(SLICE("http://s.example/0")),
                      document = term_iri(SLICE("http://host1.example/document/1"));
    const struct index_resource resources[] = {{many, document}, {one, document}, {many, document}};
    struct reason why = {""};
    struct arena arena;
    struct buf said;
    arena_init(&arena, 0);
    buf_init(&said, ANSWER);
    must(index_describe(world->client, resources, 3, predicates, 3, 0, &arena, take_value, &said,
                        &why),
         &why);
    assert_string_equal(said.data,
                        "0 0 value 0\n0 1 end 199\n1 1 fresh 0\n2 0 value 0\n2 1 end 199\n");
    buf_release(&said);
    arena_release(&arena);
}

/* Answers are kept until something changes that they rest on, and no longer. */
static void
lookups_see_each_commit(void **state)
{
    (void)state;
    struct world world;
    struct reason why = {""};
    struct buf quads;
    start(&world, 1);
    buf_init(&quads, ANSWER);
    for (size_t i = 0; i < 200; i++) {
        const char *predicate = i == 0 ? "first" : i == 199 ? "last" : "middle";
        const char *value = i == 0 ? "value" : i == 199 ? "end" : "other";
        (void)buf_printf(&quads,
                         "<http://s.example/many> <http://p.example/%s> \"%s %zu\" "
                         "<http://host1.example/document/1> .\n",
                         predicate, value, i);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(found(&world), i);
        assert_int_equal(found(&world), i);
        struct index_batch *batch = index_batch_new(world.partitions[0]);
        (void)buf_printf(&quads,
                         "<http://s.example/%zu> <http://p.example/last> \"fresh %zu\" "
                         "<http://host1.example/document/1> .\n",
                         i, i);
        fixture_add(batch, 1, 2 + (uint32_t)i, &quads);
        must(index_batch_commit(batch, &why), &why);
        index_batch_free(batch);
        must(partition_settle(world.partitions[0], &why), &why);
    }
    check_large_resource(&world);
    lookup_checks_kept(world.client, world.partitions[0]);
    buf_release(&quads);
    stop(&world);
}

/* The linker puts these in the place of what an answer is written with: they note how much at
 * once. */
static atomic_size_t longest_write;
enum status __real_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status __real_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status __wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why);
enum status __wrap_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why);

static void
note_write(size_t length)
{
    if (length > atomic_load(&longest_write)) {
        atomic_store(&longest_write, length);
    }
}

enum status
__wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    note_write(bytes.length);
    return __real_cursor_write(cursor, bytes, why);
}

enum status
__wrap_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *why)
{
    note_write(bytes.length);
    return __real_cursor_write_last(cursor, bytes, why);
}

/* Few long literals are in the service's memory at once, however many are found. */
static void
long_literals_are_written_bit_by_bit(void **state)
{
    enum { STATEMENTS = 2000, LENGTH = 4096 };
    (void)state;
    struct world world;
    struct reason why = {""};
    struct buf quads;
    struct arena arena;
    size_t count = 0;
    start(&world, 1);
    buf_init(&quads, ANSWER);
    for (int i = 0; i < STATEMENTS; i++) {
        (void)buf_printf(&quads,
                         "<http://s.example/long> <http://p.example/text> \"%0*d\" "
                         "<http://host2.example/document/2> .\n",
                         LENGTH, i);
    }
    struct index_batch *batch = index_batch_new(world.partitions[0]);
    fixture_add(batch, 2, 2, &quads);
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    const struct quad pattern = {.subject = term_iri(SLICE("http://s.example/long"))};
    const struct index_find find = {.patterns = &pattern, .pattern_count = 1, .limit = UINT32_MAX};
    arena_init(&arena, 0);
    atomic_store(&longest_write, 0);
    must(index_find(world.client, &find, &arena, lookup_count, &count, &why), &why);
    assert_int_equal(count, STATEMENTS);
    assert_in_range(atomic_load(&longest_write), 1, STATEMENTS * LENGTH / 4);
    arena_release(&arena);
    buf_release(&quads);
    stop(&world);
}

/* Takes the lines of lists of nodes out of a plan. */
static void
leave_out_lists(struct buf *plan)
{
    struct buf all;
    buf_init(&all, ANSWER);
    buf_append_slice(&all, buf_slice(plan));
    buf_reset(plan);
    for (struct slice rest = buf_slice(&all); rest.length > 0;) {
        const struct slice line = slice_take(&rest, '\n');
        if (!slice_starts(line, SLICE("listed of"))) {
            (void)buf_printf(plan, "%.*s\n", SLICE_PRINT(line));
        }
    }
    buf_release(&all);
}

/* Several partitions estimate as if all were in one, which alone keeps lists of nodes. */
static void
partitions_estimate_stars(void **state)
{
    static const char join[] = "SELECT * { ?s <http://p.example/1> ?a ; <http://p.example/2> ?b ;"
                               " <http://p.example/3> ?c }";
    (void)state;
    struct buf plans[2];
    for (size_t i = 0; i < 2; i++) {
        struct world world;
        struct reason why = {""};
        buf_init(&plans[i], ANSWER);
        start(&world, i == 0 ? 1 : PARTITIONS_MOST);
        must(index_query(world.client, slice_string(join), "",
                         &(struct index_query_options){.answer = INDEX_ANSWER_PLAN}, fixture_append,
                         &plans[i], &why),
             &why);
        leave_out_lists(&plans[i]);
        stop(&world);
    }
    assert_string_equal(plans[1].data, plans[0].data);
    buf_release(&plans[0]);
    buf_release(&plans[1]);
}

/* ---- what partitions evaluate for themselves ---- */

static int
compare_lines(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static void
sort_lines(struct buf *text)
{
    struct slice *lines = calloc(text->length + 1, sizeof *lines);
    struct buf sorted;
    size_t count = 0;
    buf_init(&sorted, ANSWER);
    for (struct slice rest = buf_slice(text); rest.length > 0; count++) {
        const size_t end = slice_find(rest, '\n') + 1;
        lines[count] = slice_of(rest.at, end);
        rest = slice_of(rest.at + end, rest.length - end);
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        (void)buf_append_slice(&sorted, lines[i]);
    }
    free(lines);
    buf_release(text);
    *text = sorted;
}

#define P "<http://p.example/"
#define IN_GRAPHS "{ GRAPH ?g { ?s " P "1> ?a ; " P "2> ?b } }"

/* shared: words of the plan that say what partitions do; NULL: nothing. */
static const struct {
    const char *query, *shared;
} shared_queries[] = {
    {"SELECT (COUNT(*) AS ?n) " IN_GRAPHS, "parts of aggregates"},
    {"SELECT (COUNT(*) AS ?n) (SUM(?a) AS ?m) (MIN(?a) AS ?l) { GRAPH ?g { ?s <urn:none> ?a } }",
     "parts of aggregates"},
    {"SELECT ?a (COUNT(?b) AS ?n) (AVG(STRLEN(STR(?b))) AS ?m) " IN_GRAPHS " GROUP BY ?a",
     "parts of aggregates"},
    {"SELECT ?k (SUM(?o) AS ?n) (MAX(STR(?o)) AS ?m) { GRAPH ?g { ?s " P "3> ?o } } "
     "GROUP BY (isLITERAL(?o) AS ?k)",
     "parts of aggregates"},
    {"SELECT (SUM(?o) AS ?n) (AVG(?o) AS ?m) { GRAPH ?g { ?s ?p ?o FILTER(isNUMERIC(?o)) } }",
     "parts of aggregates"},
    {"SELECT ?g (COUNT(DISTINCT ?a) AS ?n) " IN_GRAPHS " GROUP BY ?g", "partitions rows"},
    {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o FILTER(isIRI(?s)) }", "different values"},
    /* Counted by digests of values. */
    {"SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }", "tally values of 1"},
    {"SELECT (COUNT(DISTINCT ?p) AS ?n) { ?s ?p ?o }", "tally values of 1"},
    {"SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o }", "tally values of 1"},
    {"SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s " P "1> ?o }", "tally values of 1"},
    {"SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s <urn:none> ?o }", "tally values of 1"},
    {"SELECT (COUNT(*) AS ?n) { ?s " P "1> ?a . ?x " P "2> ?a }", "tally values of 2"},
    {"SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?m) (COUNT(?b) AS ?l) "
     "{ ?s " P "1> ?a ; " P "2> ?b ; ?p ?c }",
     "tally values of 3"},
    {"SELECT (COUNT(*) AS ?n) { ?s ?p ?o . ?o ?q ?t }", "tally values of 2"},
    {"SELECT (COUNT(?b) AS ?n) { ?s " P "1> ?a OPTIONAL { ?s " P "2> ?b } }", "tally values of 2"},
    {"SELECT (?n + 1 AS ?m) { { SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o } } }",
     "tally values of 1"},
    {"SELECT ?p (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o } GROUP BY ?p", "different values"},
    {"SELECT (MAX(STR(?o)) AS ?m) { ?s ?p ?o }", "parts of aggregates"},
    {"SELECT DISTINCT ?p { ?s ?p ?o }", "partitions rows"},
    {"SELECT DISTINCT ?s { ?s " P "1> ?o FILTER(isLITERAL(?o)) }", "partitions rows"},
    {"SELECT ?s ?o { ?s " P "1> ?o FILTER(isLITERAL(?o)) }", "partitions rows"},
    {"SELECT ?s ?p ?o { ?s ?p ?o } ORDER BY ?o ?p ?s LIMIT 7 OFFSET 3",
     "partitions rows, at most 10 of each"},
    {"SELECT ?s ?a ?b ?g " IN_GRAPHS " ORDER BY ?b ?s ?a ?g LIMIT 9",
     "partitions rows, at most 9 of each"},
    {"SELECT * { GRAPH ?g { ?s " P "1> ?a OPTIONAL { ?s " P "2> ?b } "
     "FILTER NOT EXISTS { ?s " P "4> ?c } } }",
     "partitions rows"},
    {"SELECT * { GRAPH ?g { ?s " P "1> ?a } ?s " P "2> ?b }", "partitions rows"},
    {"SELECT * { GRAPH ?g { ?s " P "1> ?a OPTIONAL { ?s " P "2> ?g } } }", "partitions rows"},
    {"SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s " P "1> ?a FILTER(!BOUND(?g)) BIND(?g AS ?b) } }",
     "parts of aggregates"},
    {"SELECT * { GRAPH ?g { ?s " P "1> ?a OPTIONAL { ?g ?p ?b } } ?s " P "2> ?c }",
     "partitions rows"},
    {"SELECT * { GRAPH ?g { ?s " P "1> ?a OPTIONAL { ?s " P "2> ?g } } FILTER(?g != ?a) "
     "OPTIONAL { GRAPH ?g { ?s " P "3> ?b MINUS { ?s " P "4> ?g } } } }",
     "partitions rows"},
    {"ASK { GRAPH ?g { ?s " P "1> ?a ; " P "2> ?b } }", "partitions rows, at most 1 of each"},
    {"SELECT (NOW() - ?t AS ?d) { { SELECT (MAX(NOW()) AS ?t) { GRAPH ?g { ?s ?p ?o } } } }",
     "parts of aggregates"},
    /* Not: triples that lie apart, or are in several partitions. */
    {"SELECT * { ?s " P "1> ?a ; " P "2> ?b }", NULL},
    {"SELECT (SUM(?a) AS ?n) { ?s " P "1> ?a . ?x " P "2> ?a }", NULL},
    {"SELECT (COUNT(*) AS ?n) { ?s " P "1> ?a ; " P "2> ?a }", NULL},
    {"SELECT (COUNT(*) AS ?n) { ?s ?p ?s . ?s ?q ?o }", NULL},
    {"SELECT (COUNT(DISTINCT ?a) AS ?n) { ?s " P "1> ?a . ?s ?p ?b }", NULL},
    {"SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER EXISTS { ?s " P "2> ?b } }", NULL},
    {"SELECT (COUNT(DISTINCT ?b) AS ?n) { ?s " P "1> ?a . ?a ?p ?b }", NULL},
};

/* Three partitions answer what one does, whoever evaluates it. */
static void
partitions_evaluate_their_share(void **state)
{
    enum { COUNT = sizeof shared_queries / sizeof *shared_queries };
    (void)state;
    struct buf answers[2][COUNT], plan;
    buf_init(&plan, ANSWER);
    for (size_t i = 0; i < 2; i++) {
        struct world world;
        start(&world, i == 0 ? 1 : PARTITIONS_MOST);
        for (size_t k = 0; k < COUNT; k++) {
            struct reason why = {""};
            const struct index_query_options options = {.answer = INDEX_ANSWER_PLAN};
            const char *shared = shared_queries[k].shared;
            buf_init(&answers[i][k], ANSWER);
            query(&world, shared_queries[k].query, "csv", &answers[i][k]);
            sort_lines(&answers[i][k]);
            if (i == 0) {
                continue;
            }
            if (!slice_equal(buf_slice(&answers[1][k]), buf_slice(&answers[0][k]))) {
                fail_msg("%s\n%.*s\nnot\n%.*s", shared_queries[k].query,
                         SLICE_PRINT(buf_slice(&answers[1][k])),
                         SLICE_PRINT(buf_slice(&answers[0][k])));
            }
            buf_reset(&plan);
            must(index_query(world.client, slice_string(shared_queries[k].query), "", &options,
                             fixture_append, &plan, &why),
                 &why);
            if (shared ? !strstr(plan.data, shared) : strstr(plan.data, "partitions") != NULL) {
                fail_msg("%s\n%s", shared_queries[k].query, plan.data);
            }
        }
        stop(&world);
    }
    for (size_t k = 0; k < COUNT; k++) {
        buf_release(&answers[0][k]);
        buf_release(&answers[1][k]);
    }
    buf_release(&plan);
}

/* It needs no other: they may be down. */
static void
partition_of_the_graphs_answers_alone(void **state)
{
    enum { DOCUMENT = 3 };
    (void)state;
    struct world world;
    struct reason why = {""};
    struct buf out, expected;
    char uri[64], text[256];
    buf_init(&out, ANSWER);
    buf_init(&expected, ANSWER);
    fixture_uri(DOCUMENT, uri);
    fixture_canonical(&documents[DOCUMENT], 1, &expected);
    start(&world, PARTITIONS_MOST);
    for (size_t i = 0; i < world.count; i++) {
        if (!owns(&world, i, DOCUMENT)) {
            service_stop(world.services[i]);
            world.services[i] = NULL;
        }
    }
    snprintf(text, sizeof text, "SELECT ?s ?p ?o { GRAPH <%s> { ?s ?p ?o } }", uri);
    query(&world, text, "csv", &out);
    assert_int_equal(lines_of(&out), lines_of(&expected) + 1);
    snprintf(text, sizeof text, "SELECT ?s ?p ?o FROM <%s> { ?s ?p ?o FILTER EXISTS { ?s ?q ?n } }",
             uri);
    query(&world, text, "csv", &out);
    assert_int_equal(lines_of(&out), lines_of(&expected) + 1);
    snprintf(text, sizeof text, "SELECT * { GRAPH <%s> { ?s ?p ?o } ?s ?q ?n }", uri);
    assert_int_not_equal(index_query(world.client, slice_string(text), "csv",
                                     &(struct index_query_options){.timeout_ms = 1000},
                                     fixture_append, &out, &why),
                         STATUS_OK);
    stop(&world);
    buf_release(&out);
    buf_release(&expected);
}

struct linked {
    struct buf text;
    bool done;
};

static void
take_links(void *context, enum status status, const struct index_link *found, size_t n,
           const struct reason *why)
{
    struct linked *linked = context;
    must(status, why);
    for (size_t i = 0; i < n; i++) {
        (void)buf_printf(&linked->text, "%u %.*s\n", found[i].query, SLICE_PRINT(found[i].target));
    }
    linked->done = true;
}

static void
find_links(struct linked *linked)
{
    struct world world;
    start(&world, 2);
    index_links(world.client, SLICE("http://host1.example/document/1"), take_links, linked);
    const uint64_t deadline = clock_monotonic_ms() + 60000;
    while (!linked->done && clock_monotonic_ms() < deadline) {
        index_client_process(world.client);
        usleep(1000);
    }
    assert_true(linked->done);
    stop(&world);
}

static void
links_come_from_patterns_and_queries(void **state)
{
    (void)state;
    struct linked linked = {.done = false};
    buf_init(&linked.text, ANSWER);
    find_links(&linked);
    assert_non_null(strstr(linked.text.data, "0 http://t.example/1\n"));
    assert_non_null(strstr(linked.text.data, "1 http://t.example/2\n"));
    assert_non_null(strstr(linked.text.data, "2 http://t.example/3\n"));
    assert_null(strstr(linked.text.data, "plain"));
    buf_release(&linked.text);
}

static void
vocabularies_are_links(void **state)
{
    (void)state;
    struct links *usual = links;
    struct linked linked = {.done = false};
    struct reason why = {""};
    must(links_open(&links, SLICE("policy vocabularies\n"), &why), &why);
    buf_init(&linked.text, ANSWER);
    find_links(&linked);
    links_close(links);
    links = usual;
    assert_non_null(strstr(linked.text.data, "0 http://www.w3.org/2000/01/rdf-schema#seeAlso\n"));
    assert_non_null(strstr(linked.text.data, "0 http://own.example/Thing\n"));
    assert_null(strstr(linked.text.data, "http://t.example/"));
    buf_release(&linked.text);
}

enum { ASKED = 200, LONG_DOCUMENTS = 3, LONG_LINKS = 8000, LONG_FIRST = 1000 };

struct counted {
    size_t links, answers;
    enum status status;
};

static void
count_links(void *context, enum status status, const struct index_link *found, size_t n,
            const struct reason *why)
{
    (void)found;
    (void)why;
    struct counted *counted = context;
    counted->links += n;
    counted->answers++;
    counted->status = status;
}

/* Documents with more links than one answer takes. */
static void
add_long_documents(struct world *world)
{
    struct index_batch *batch = index_batch_new(world->partitions[0]);
    struct reason why = {""};
    for (unsigned d = LONG_FIRST; d < LONG_FIRST + LONG_DOCUMENTS; d++) {
        struct buf text;
        char uri[64];
        buf_init(&text, ANSWER);
        fixture_uri(d, uri);
        for (unsigned i = 0; i < LONG_LINKS; i++) {
            (void)buf_printf(&text,
                             "<%s> <http://own.example/link> <http://t.example/%0100u> <%s> .\n",
                             uri, d * LONG_LINKS + i, uri);
        }
        (void)fixture_add(batch, d, 1, &text);
        buf_release(&text);
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
}

static void
links_of_many_documents_come_to_whom_they_belong(void **state)
{
    (void)state;
    struct world world;
    static struct counted counted[ASKED];
    size_t answers = 0;
    start(&world, 1);
    add_long_documents(&world);
    for (unsigned i = 0; i < ASKED; i++) {
        char uri[64];
        fixture_uri(i % 10 == 3 ? LONG_FIRST + i % LONG_DOCUMENTS : i % 2, uri);
        counted[i] = (struct counted){.status = STATUS_AGAIN};
        index_links(world.client, i % 7 == 5 ? SLICE("http://own.example/none") : slice_string(uri),
                    count_links, &counted[i]);
    }
    const uint64_t deadline = clock_monotonic_ms() + 60000;
    while (answers < ASKED && clock_monotonic_ms() < deadline) {
        index_client_process(world.client);
        usleep(1000);
        answers = 0;
        for (unsigned i = 0; i < ASKED; i++) {
            answers += counted[i].answers;
        }
    }
    for (unsigned i = 0; i < ASKED; i++) {
        assert_int_equal(counted[i].answers, 1);
        assert_int_equal(counted[i].status, STATUS_OK);
        if (i % 7 == 5) {
            assert_int_equal(counted[i].links, 0);
        } else if (i % 10 == 3) {
            assert_int_equal(counted[i].links, LONG_LINKS);
        } else if (i % 2 == 1) {
            assert_in_range(counted[i].links, 3, LONG_LINKS - 1);
        }
    }
    struct counted last = {.status = STATUS_OK};
    index_links(world.client, SLICE("http://own.example/none"), count_links, &last);
    stop(&world);
    assert_int_equal(last.answers, 1);
    assert_int_equal(last.status, STATUS_CANCELLED);
}

/* ---- a reader never sees a document half replaced ---- */

struct race {
    struct partition *partition;
    bool stop;
    pthread_mutex_t mutex;
    atomic_uint_fast64_t looks;
};

static bool
stopped(struct race *race)
{
    pthread_mutex_lock(&race->mutex);
    const bool stop = race->stop;
    pthread_mutex_unlock(&race->mutex);
    return stop;
}

/* All objects of a document's graph carry the number of its version. */
static void *
look(void *argument)
{
    struct race *race = argument;
    struct reason why = {""};
    struct partition_reader *reader;
    must(partition_reader_open(&reader, race->partition, &why), &why);
    const struct quad_source *source = partition_reader_source(reader);
    while (!stopped(race)) {
        partition_reader_renew(reader);
        const struct term graph = term_iri(SLICE("http://host0.example/document/0"));
        struct quad_oids pattern = {0};
        struct quad_scan *scan;
        must(source->lookup(source->context, &graph, &pattern.graph, &why), &why);
        if (pattern.graph == OID_NONE) {
            continue;
        }
        for (int half = 0; half < 2; half++) {
            struct quad_oids row;
            oid object = OID_NONE;
            size_t count = 0;
            must(source->scan(source->context, &pattern, half ? ORDER_CPOS : ORDER_CSPO, &scan,
                              &why),
                 &why);
            for (size_t n = 1; n > 0; count += n) {
                must(source->scan_next(scan, &row, 1, &n, &why), &why);
                if (n > 0) {
                    object = object ? object : row.object;
                    assert_true(object == row.object);
                }
                if (count % 37 == 0) {
                    usleep(10);
                }
            }
            source->scan_close(scan);
            assert_true(count == 0 || count == 500);
        }
        race->looks++;
    }
    partition_reader_close(reader);
    return NULL;
}

static void
readers_see_old_or_new_never_a_mixture(void **state)
{
    (void)state;
    char where[SCRATCH_SIZE + 32];
    snprintf(where, sizeof(where), "%s/race", folder);
    struct race race = {.partition = fixture_open(where, 4 << 20)};
    pthread_mutex_init(&race.mutex, NULL);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, look, &race);
    }
    struct index_batch *batch = index_batch_new(race.partition);
    struct reason why = {""};
    for (unsigned version = 1; version <= 60; version++) {
        struct buf text;
        buf_init(&text, 1 << 22);
        for (int i = 0; i < 500; i++) {
            (void)buf_printf(&text, "<http://s/%d> <http://p/%d> \"version %u\" <http://g/> .\n", i,
                             i % 7, version);
        }
        index_batch_reset(batch);
        fixture_add(batch, 0, version, &text);
        for (unsigned other = 1; other < 30; other++) {
            struct buf noise;
            buf_init(&noise, 1 << 20);
            fixture_document(other, 30, &noise);
            fixture_add(batch, other, version, &noise);
            buf_release(&noise);
        }
        must(index_batch_commit(batch, &why), &why);
        buf_release(&text);
    }
    pthread_mutex_lock(&race.mutex);
    race.stop = true;
    pthread_mutex_unlock(&race.mutex);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    print_message("%lu looks\n", (unsigned long)atomic_load(&race.looks));
    assert_true(atomic_load(&race.looks) > 0);
    fixture_verify(race.partition, where);
    index_batch_free(batch);
    partition_close(race.partition);
    pthread_mutex_destroy(&race.mutex);
}

static int
setup(void **state)
{
    (void)state;
    static const char queries[] =
        "# links\nSELECT ?uri WHERE { ?s <http://www.w3.org/2000/01/rdf-schema#seeAlso> ?uri }\n"
        "\n"
        "select distinct ?uri { ?s <http://purl.org/rss/1.0/link> ?uri . }\n"
        "\n"
        "PREFIX own: <http://own.example/>\n"
        "SELECT ?uri WHERE { ?s own:link ?uri . FILTER(isIRI(?uri)) }\n";
    struct reason why = {""};
    must(links_open(&links, slice_string(queries), &why), &why);
    assert_int_equal(links_count(links), 3);
    assert_true(scratch_folder(folder, "test_index_service"));
    for (unsigned d = 0; d < DOCUMENTS; d++) {
        buf_init(&documents[d], 1 << 20);
        if (d == 1) {
            (void)buf_append_string(&documents[d], extra);
        }
        fixture_document(d, 30, &documents[d]);
    }
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    for (unsigned d = 0; d < DOCUMENTS; d++) {
        buf_release(&documents[d]);
    }
    links_close(links);
    fixture_run("rm -r %s%s", folder, "");
    return 0;
}

/* ---- cursors that nobody reads ---- */

/* Whoever opens all there are, and reads none to its end, keeps nobody else out. */
static void
unread_cursors_make_way(void **state)
{
    (void)state;
    struct world world;
    struct rpc_client *hoarder;
    struct reason why = {""};
    struct buf out;
    enum status status = STATUS_LIMIT;
    start(&world, 1);
    buf_init(&out, ANSWER);
    const struct rpc_client_options options = {.endpoint = world.endpoints[0], .name = "hoarder"};
    must(rpc_client_open(&hoarder, &options, &why), &why);
    const char dump[] = {INDEX_STREAM_DUMP, 0};
    for (int i = 0; i < 64; i++) {
        buf_reset(&out);
        must(rpc_call(hoarder, INDEX_VERB_OPEN, slice_of(dump, sizeof dump), 60000, &out, &why),
             &why);
        assert_int_equal(out.data[0], 0); /* there is more of it */
    }
    const uint64_t until = clock_monotonic_ms() + 30000; /* half of when they are dropped anyway */
    while (status != STATUS_OK && clock_monotonic_ms() < until) {
        buf_reset(&out);
        status = index_query(world.client, SLICE("SELECT * { ?s ?p ?o } LIMIT 3"), "csv",
                             &(struct index_query_options){0}, fixture_append, &out, &why);
        assert_true(status == STATUS_OK || strstr(why.text, "too many answers") != NULL);
    }
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(lines_of(&out), 4);
    rpc_client_close(hoarder);
    buf_release(&out);
    stop(&world);
}

/* ---- long queries, and short ones beside them ---- */

enum { LONG_QUERIES = 7 };

static atomic_uint long_ended;
static atomic_bool long_cancelled;

static void *
ask_at_length(void *argument)
{
    const char *const endpoints[] = {argument};
    const struct index_client_options options = {
        .endpoints = endpoints, .count = 1, .name = "long"};
    const struct index_query_options how = {.timeout_ms = 600000};
    struct index_client *client;
    struct reason why = {""};
    struct buf out;
    buf_init(&out, ANSWER);
    must(index_client_open(&client, &options, &why), &why);
    index_client_manner(client, INDEX_PARTIAL_ERROR, &long_cancelled);
    (void)index_query(client,
                      SLICE("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l "
                            "FILTER(?c > ?i && ?f > ?l) }"),
                      "csv", &how, fixture_append, &out, &why);
    (void)atomic_fetch_add(&long_ended, 1);
    index_client_close(client);
    buf_release(&out);
    return NULL;
}

static uint64_t
process_cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* More long ones than may run at a time are under way, and all of them still are when the short
 * ones of another client and of the same have been answered. */
static void
short_queries_pass_long_ones(void **state)
{
    (void)state;
    struct world world;
    struct buf out;
    pthread_t threads[LONG_QUERIES];
    start(&world, 1);
    buf_init(&out, ANSWER);
    atomic_store(&long_ended, 0);
    atomic_store(&long_cancelled, false);
    const uint64_t before = process_cpu_ms();
    for (size_t i = 0; i < LONG_QUERIES; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_at_length, world.endpoints[0]), 0);
    }
    while (process_cpu_ms() - before < 300) {
        (void)poll(NULL, 0, 10);
    }
    for (int i = 0; i < 10; i++) {
        query(&world, "SELECT (COUNT(*) AS ?n) { <http://s.example/a> ?p ?o }", "csv", &out);
        assert_string_equal(out.data, "n\r\n5\r\n");
        struct quad pattern = {0};
        struct reason why = {""};
        buf_reset(&out);
        must(index_pattern(world.client, &pattern, 5, fixture_append, &out, &why), &why);
        assert_int_equal(lines_of(&out), 5);
    }
    assert_int_equal(atomic_load(&long_ended), 0);
    atomic_store(&long_cancelled, true);
    for (size_t i = 0; i < LONG_QUERIES; i++) {
        pthread_join(threads[i], NULL);
    }
    buf_release(&out);
    stop(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_partition_answers),
        cmocka_unit_test(three_partitions_answer_as_one),
        cmocka_unit_test(partitions_estimate_stars),
        cmocka_unit_test(partitions_evaluate_their_share),
        cmocka_unit_test(partition_of_the_graphs_answers_alone),
        cmocka_unit_test(links_come_from_patterns_and_queries),
        cmocka_unit_test(vocabularies_are_links),
        cmocka_unit_test(links_of_many_documents_come_to_whom_they_belong),
        cmocka_unit_test(readers_see_old_or_new_never_a_mixture),
        cmocka_unit_test(short_queries_pass_long_ones),
        cmocka_unit_test(unread_cursors_make_way),
        /* last: these change the documents */
        cmocka_unit_test(lookups_see_each_commit),
        cmocka_unit_test(long_literals_are_written_bit_by_bit),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
