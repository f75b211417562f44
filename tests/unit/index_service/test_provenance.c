/* q:provenance over a graph in memory and daemons of the metadata store: what it says is what the
 * records say as Turtle, it joins with data, it keeps out of other graphs, and it ends in time. */
#include "index/read/provenance.h"
#include "tests/unit/metastore/metastore_fixture.h"
#include "tests/unit/query/query_case.h"

#include <poll.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "index/serve/answers.h"
#include "metastore/record_rdf.h"
#include "rdf/canonical/canonical.h"
#include "tests/unit/scratch.h"

enum { DOCUMENTS = 300, NODES = 2, TEXT = 1 << 26, WAIT_MS = 60000 };

#define PREFIXES                                                                             \
    "PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX http: <http://www.w3.org/2011/http#> " \
    "PREFIX dcterms: <http://purl.org/dc/terms/> PREFIX meta: <urn:x-quadrille:meta#> "      \
    "PREFIX oa: <http://www.w3.org/ns/oa#> PREFIX void: <http://rdfs.org/ns/void#> "         \
    "PREFIX ex: <http://ex.example/> "

/* Metadata of two nodes is divided between them as in a cluster. */
static char folder[SCRATCH_SIZE];
static char sockets[NODES][96];
static pid_t daemons[NODES];
static uint16_t owners[PARTITIONS];
static struct metastore_client_options metastore;
static struct memory_source *data;

static void
must(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fail_msg("%s", why->text);
    }
}

/* ---- records ---- */

struct stored {
    char key[64];
    struct meta_update update;
};

static void
set_number(struct stored *record, enum meta_field field, uint64_t value)
{
    meta_set_number(&record->update, field, value);
}

static void
set_text(struct stored *record, enum meta_field field, const char *value)
{
    meta_set_text(&record->update, field, slice_string(value));
}

static void
fill_document(struct stored *record, unsigned i)
{
    char text[96];
    snprintf(record->key, sizeof record->key, "uhttp://host%u.example/page/%u", i % 7, i);
    set_number(record, META_FETCHED, 1795228489500 + i);
    set_number(record, META_FETCH_MS, 250);
    set_number(record, META_HTTP_STATUS, i % 10 == 9 ? 404 : 200);
    set_text(record, META_RESPONSE_HEADERS, "HTTP/1.1 200 OK\r\nX-Odd: caf\xE9\r\nETag: \"a\"\r\n");
    set_number(record, META_DEPTH, i % 5);
    snprintf(text, sizeof text, "http://host%u.example/page/%u", (i - 1) % 7, i - 1);
    if (i > 0) {
        set_text(record, META_VIA, text);
    }
    if (i % 3 == 1) {
        set_text(record, META_REDIRECT_FROM, text);
    }
    snprintf(text, sizeof text, "urn:uuid:00000000-0000-4000-8000-%012u", i);
    set_text(record, META_WARC_RECORD_ID, text);
    set_text(record, META_WARC_FILE, "a.warc.gz");
    set_number(record, META_WARC_OFFSET, 1000 * i);
    set_number(record, META_WARC_LENGTH, 999);
    if (i % 10 != 9) {
        set_text(record, META_TRANSFORM, "html/3 jsonld/2");
        set_text(record, META_TRANSFORM_QUADS, "html 12 jsonld 30");
        set_number(record, META_TRANSFORMED, 1795228490500 + i);
        snprintf(text, sizeof text, "urn:uuid:00000000-0000-4000-9000-%012u", i);
        set_text(record, META_CONVERSION_RECORD_ID, text);
        set_text(record, META_CONVERSION_FILE, "b.warc.gz");
        set_number(record, META_QUADS, 42);
    }
}

static void
fill(struct stored *records)
{
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        meta_update_init(&records[i].update);
        fill_document(&records[i], i);
    }
    struct stored *host = &records[DOCUMENTS], *odd = &records[DOCUMENTS + 1];
    meta_update_init(&host->update);
    meta_update_init(&odd->update);
    snprintf(host->key, sizeof host->key, "hhttp://host1.example");
    set_number(host, META_ROBOTS_STATUS, 200);
    set_text(host, META_ROBOTS_BODY, "User-agent: *\n");
    snprintf(odd->key, sizeof odd->key, "uhttp://host1.example/no iri");
    set_number(odd, META_HTTP_STATUS, 200);
}

static void
put_done(void *context, enum status status, const struct reason *why)
{
    must(status, why);
    *(bool *)context = true;
}

/* Stores the records, and what `quadrille meta` prints of them as one graph. */
static void
store(struct graph *expected)
{
    static struct stored records[DOCUMENTS + 2];
    static struct meta_put puts[DOCUMENTS + 2];
    struct metastore_client *client;
    struct reason why = {""};
    struct buf turtle, record;
    struct memory_source *all = memory_source_new(0);
    bool done = false;
    buf_init(&turtle, TEXT);
    buf_init(&record, TEXT);
    fill(records);
    for (size_t i = 0; i < DOCUMENTS + 2; i++) {
        char prefix[24];
        puts[i] =
            (struct meta_put){slice_string(records[i].key), meta_update_fields(&records[i].update)};
        assert_int_equal(meta_merge(slice_of(NULL, 0), puts[i].fields, &record), META_MERGED);
        buf_reset(&turtle);
        if (meta_turtle(puts[i].key, buf_slice(&record), &turtle, &why) == STATUS_OK) {
            const struct quad_sink sink = memory_source_sink(all);
            snprintf(prefix, sizeof prefix, "r%zu", i);
            must(memory_source_begin(all, SLICE("urn:all"), slice_string(prefix), &why), &why);
            must(turtle_parse(buf_slice(&turtle), NULL, &sink, &why), &why);
        }
    }
    must(metastore_client_open(&client, &metastore, &why), &why);
    metastore_put(client, puts, DOCUMENTS + 2, put_done, &done);
    const uint64_t end = clock_monotonic_ms() + WAIT_MS;
    while (!done && clock_monotonic_ms() < end) {
        struct pollfd polls[NODES];
        int descriptors[NODES];
        const size_t n = metastore_descriptors(client, descriptors, NODES);
        for (size_t i = 0; i < n; i++) {
            polls[i] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
        }
        (void)poll(polls, n, 20);
        metastore_process(client);
    }
    assert_true(done);
    metastore_client_close(client);
    struct buf lines;
    buf_init(&lines, TEXT);
    (void)query_case_output(all, "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", "nt",
                            &(struct query_options){0}, &lines);
    const struct quad_sink sink = graph_sink(expected);
    must(turtle_parse(buf_slice(&lines), NULL, &sink, &why), &why);
    memory_source_free(all);
    buf_release(&lines);
    buf_release(&turtle);
    buf_release(&record);
    for (size_t i = 0; i < DOCUMENTS + 2; i++) {
        meta_update_release(&records[i].update);
    }
}

static struct graph expected;

static int
start(void **state)
{
    (void)state;
    static const char *endpoints[NODES];
    assert_true(scratch_folder(folder, "test_provenance"));
    for (size_t i = 0; i < NODES; i++) {
        char place[96];
        snprintf(sockets[i], sizeof sockets[i], "ipc://%s/socket%zu", folder, i);
        snprintf(place, sizeof place, "%s/store%zu", folder, i);
        daemons[i] = metastore_fixture_start(sockets[i], place, 0);
        endpoints[i] = sockets[i];
    }
    for (size_t i = 0; i < PARTITIONS; i++) {
        owners[i] = i % NODES;
    }
    metastore = (struct metastore_client_options){.endpoints = endpoints,
                                                  .endpoint_count = NODES,
                                                  .owner_of_partition = owners,
                                                  .name = "test"};
    graph_init(&expected, 0);
    store(&expected);
    data = query_case_source(
        "@prefix ex: <http://ex.example/> ."
        "<http://host1.example/page/1> { <http://ex.example/a> ex:title \"One\" ; ex:code 200 }"
        "<http://host2.example/page/9> { <http://ex.example/b> ex:title \"Nine\" ; ex:code 404 }"
        "<http://host0.example/unknown> { <http://ex.example/c> ex:title \"Unknown\" ."
        "  <http://ex.example/c> ex:from <urn:uuid:00000000-0000-4000-8000-000000000007> }");
    return 0;
}

static int
stop(void **state)
{
    (void)state;
    char command[128];
    for (size_t i = 0; i < NODES; i++) {
        assert_int_equal(metastore_fixture_stop(daemons[i], SIGTERM), 0);
    }
    memory_source_free(data);
    graph_release(&expected);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- queries ---- */

/* "!" and the reason on failure. */
static enum status
ask(const struct metastore_client_options *where, const char *sparql, const char *format,
    const struct query_options *options, struct buf *out)
{
    struct reason why = {""};
    char text[4096];
    snprintf(text, sizeof text, PREFIXES "%s", sparql);
    buf_reset(out);
    const enum status status =
        answer_query(memory_source_table(data), where, slice_string(text), slice_string(format),
                     options, INDEX_ANSWER_RESULT, query_case_piece, out, &why);
    if (status != STATUS_OK) {
        buf_printf(out, "!%s", why.text);
    }
    return status;
}

static void
answers(const char *sparql, const char *rows)
{
    struct buf out;
    buf_init(&out, TEXT);
    (void)ask(&metastore, sparql, "csv", &(struct query_options){0}, &out);
    const char *at = out.data[0] == '!' ? out.data : strstr(out.data, "\r\n") + 2;
    if (strcmp(at, rows) != 0) {
        fail_msg("%s\nexpected:\n%s\nfound:\n%s", sparql, rows, at);
    }
    buf_release(&out);
}

static void
test_says_what_turtle_says(void **state)
{
    (void)state;
    struct buf out;
    struct graph found;
    struct reason why = {""};
    buf_init(&out, TEXT);
    graph_init(&found, 0);
    must(ask(&metastore, "CONSTRUCT { ?s ?p ?o } { GRAPH q:provenance { ?s ?p ?o } }", "nt",
             &(struct query_options){0}, &out),
         &why);
    const struct quad_sink sink = graph_sink(&found);
    must(turtle_parse(buf_slice(&out), NULL, &sink, &why), &why);
    must(graph_canonicalize(&found, CANONICAL_SHA256, 100 * CANONICAL_WORK, &why), &why);
    must(graph_canonicalize(&expected, CANONICAL_SHA256, 100 * CANONICAL_WORK, &why), &why);
    assert_int_equal(found.count, expected.count);
    for (size_t i = 0; i < found.count; i++) {
        assert_int_equal(quad_compare(&found.quads[i], &expected.quads[i]), 0);
    }
    graph_release(&found);
    buf_release(&out);
}

static void
test_one_record(void **state)
{
    (void)state;
    answers("SELECT ?o { GRAPH q:provenance { <http://host1.example/page/1> "
            "prov:generatedAtTime ?o } }",
            "2026-11-21T02:34:49.501Z\r\n");
    answers("SELECT ?status ?when ?title ?start ?file { GRAPH q:provenance { "
            "<http://host1.example/page/8> http:statusCodeValue ?status ; "
            "prov:wasGeneratedBy ?fetch ; prov:alternateOf ?record . "
            "?fetch prov:startedAtTime ?when ; prov:wasAssociatedWith/dcterms:title ?title . "
            "?record oa:hasSelector/oa:start ?start ; oa:hasSource/dcterms:title ?file } }",
            "200,2026-11-21T02:34:49.508Z,quadrille-fetch,8000,a.warc.gz\r\n");
    answers("SELECT ?name ?n { GRAPH q:provenance { <http://host1.example/page/8> "
            "meta:activity/prov:generated/void:subset ?s . ?s void:triples ?n ; "
            "prov:wasAttributedTo/dcterms:title ?name } } ORDER BY ?name",
            "html,12\r\njsonld,30\r\n");
    answers("SELECT ?text { GRAPH q:provenance { <http://host1.example/page/8> "
            "dcterms:isPartOf/meta:robots/<http://www.w3.org/2011/content#chars> ?text } }",
            "\"User-agent: *\n\"\r\n");
    answers("SELECT ?p { GRAPH q:provenance { <http://host1.example/nothing> ?p ?o } }", "");
    answers("SELECT ?p { GRAPH q:provenance { <mailto:a@b.example> ?p ?o } }", "");
    answers("SELECT ?p { GRAPH q:provenance { <x> ?p ?o } }", "");
}

/* Patterns lead from what was archived, and from a blank node, back to the document. */
static void
test_backwards(void **state)
{
    (void)state;
    answers("SELECT ?doc { GRAPH q:provenance { "
            "?doc prov:alternateOf <urn:uuid:00000000-0000-4000-8000-000000000007> } }",
            "http://host0.example/page/7\r\n");
    answers("SELECT ?file { GRAPH q:provenance { "
            "<urn:uuid:00000000-0000-4000-8000-000000000007> oa:hasSource/dcterms:title ?file } }",
            "a.warc.gz\r\n");
    answers("SELECT ?back { GRAPH q:provenance { <http://host1.example/page/8> "
            "prov:wasGeneratedBy ?f . ?record prov:wasGeneratedBy ?f . "
            "?back prov:alternateOf ?record } }",
            "http://host1.example/page/8\r\n");
    answers("SELECT (COUNT(*) AS ?n) { GRAPH q:provenance { <http://host1.example/page/8> "
            "prov:wasGeneratedBy ?f . <http://host2.example/page/9> prov:wasGeneratedBy ?g . "
            "?f ?p ?g } }",
            "0\r\n");
    answers("SELECT ?before { GRAPH q:provenance { "
            "<http://host4.example/page/4> dcterms:replaces+ ?before } }",
            "http://host3.example/page/3\r\n");
}

static void
test_all_records(void **state)
{
    (void)state;
    answers("SELECT ?s (COUNT(?doc) AS ?n) { GRAPH q:provenance { "
            "?doc prov:generatedAtTime ?when ; http:statusCodeValue ?s } } GROUP BY ?s ORDER BY ?s",
            "200,270\r\n404,30\r\n");
    answers("SELECT (COUNT(*) AS ?n) { GRAPH q:provenance { "
            "?doc prov:generatedAtTime ?when "
            "FILTER (?when >= \"2026-11-21T02:34:49.790Z\"^^"
            "<http://www.w3.org/2001/XMLSchema#dateTime>) } }",
            "10\r\n");
    answers("SELECT ?host { GRAPH q:provenance { ?host meta:robots ?r } }",
            "http://host1.example\r\n");
    answers("SELECT (COUNT(DISTINCT ?p) > 20 AS ?many) { GRAPH q:provenance { ?s ?p ?o } }",
            "true\r\n");
}

static void
test_joins(void **state)
{
    (void)state;
    answers("SELECT ?title ?when { GRAPH ?doc { ?x ex:title ?title } GRAPH q:provenance { "
            "?doc prov:generatedAtTime ?when ; http:statusCodeValue 200 } }",
            "One,2026-11-21T02:34:49.501Z\r\n");
    answers("SELECT ?title { GRAPH ?doc { ?x ex:title ?title ; ex:code ?code } "
            "GRAPH q:provenance { ?doc http:statusCodeValue ?code } } ORDER BY ?title",
            "Nine\r\nOne\r\n");
    answers("SELECT ?x ?start { ?x ex:from ?record GRAPH q:provenance { "
            "?record oa:hasSelector/oa:start ?start } }",
            "http://ex.example/c,7000\r\n");
    answers("SELECT ?doc { BIND (IRI(CONCAT(\"http://host3.example/\", \"page/3\")) AS ?doc) "
            "GRAPH q:provenance { ?doc http:statusCodeValue 200 } }",
            "http://host3.example/page/3\r\n");
    answers(
        "SELECT ?other { GRAPH q:provenance { <http://host1.example/page/1> "
        "dcterms:isReferencedBy ?other } GRAPH q:provenance { ?other http:statusCodeValue 200 } }",
        "http://host0.example/page/0\r\n");
}

/* Nobody sees it who does not name it; who takes it as the only graph sees nothing else. */
static void
test_apart(void **state)
{
    (void)state;
    answers("SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER (true || ?g = q:provenance) }", "6\r\n");
    answers("SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s ?p ?o } "
            "FILTER (true || ?g = q:provenance) }",
            "3\r\n");
    answers("SELECT (COUNT(*) AS ?n) FROM q:provenance { ?s http:statusCodeValue ?o "
            "FILTER isIRI(?s) }",
            "300\r\n");
    answers("SELECT ?g FROM NAMED q:provenance FROM NAMED <http://host1.example/page/1> "
            "{ GRAPH ?g { } } ORDER BY ?g",
            "http://host1.example/page/1\r\nurn:x-quadrille:query#provenance\r\n");
}

static void
test_describe(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, TEXT);
    assert_int_equal(ask(&metastore, "DESCRIBE <http://host1.example/page/8> FROM q:provenance",
                         "nt", &(struct query_options){0}, &out),
                     STATUS_OK);
    assert_non_null(strstr(out.data, "quadrille-transform"));
    assert_non_null(strstr(out.data, "X-Odd"));
    assert_null(strstr(out.data, "page/9>"));
    buf_release(&out);
}

static void
test_ends(void **state)
{
    (void)state;
    static atomic_bool cancelled = true;
    struct buf out;
    buf_init(&out, TEXT);
    const char *all = "SELECT * { GRAPH q:provenance { ?s ?p \"nothing says this\" } }";
    const char *one =
        "SELECT * { GRAPH q:provenance { <http://host1.example/page/1> http:statusCodeValue ?s } }";
    assert_int_equal(ask(NULL, one, "csv", &(struct query_options){0}, &out), STATUS_UNSUPPORTED);
    assert_int_equal(
        ask(&metastore, all, "csv", &(struct query_options){.cancel = &cancelled}, &out),
        STATUS_CANCELLED);
    /* A store that hangs. */
    for (size_t i = 0; i < NODES; i++) {
        assert_int_equal(kill(daemons[i], SIGSTOP), 0);
    }
    const struct query_options soon = {.timeout_ms = 300};
    const uint64_t before = clock_monotonic_ms();
    assert_int_equal(ask(&metastore, all, "csv", &soon, &out), STATUS_TIMEOUT);
    assert_int_equal(ask(&metastore, one, "csv", &soon, &out), STATUS_TIMEOUT);
    assert_true(clock_monotonic_ms() - before < 60000);
    for (size_t i = 0; i < NODES; i++) {
        assert_int_equal(kill(daemons[i], SIGCONT), 0);
    }
    /* Terms that only metadata has, past the limit. */
    const struct query_options small = {.memory = 1 << 16};
    assert_int_equal(
        ask(&metastore, "SELECT ?s ?p ?o { GRAPH q:provenance { ?s ?p ?o } }", "csv", &small, &out),
        STATUS_LIMIT);
    buf_release(&out);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    provenance_free(NULL);
}

int
main(int argc, char **argv)
{
    int exit_code;
    if (metastore_fixture_serves(argc, argv, &exit_code)) {
        return exit_code;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_says_what_turtle_says),
        cmocka_unit_test(test_one_record),
        cmocka_unit_test(test_backwards),
        cmocka_unit_test(test_all_records),
        cmocka_unit_test(test_joins),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
