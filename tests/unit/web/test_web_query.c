/* SPARQL protocol and search over HTTP, with an index made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <curl/curl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/options/opt.h"
#include "base/system/clock.h"
#include "base/system/threads.h"
#include "index/client/client_lookup.h"
#include "index/serve/index_service.h"
#include "rdf/core/writer.h"
#include "tests/unit/scratch.h"
#include "web/web_options.h"
#include "web/web_service.h"

/* ---- an index: says what it was asked ---- */

struct index_client {
    int unused;
};

enum status
index_client_open(struct index_client **client, const struct index_client_options *options,
                  struct reason *why)
{
    (void)options;
    (void)why;
    *client = memory_new(sizeof **client);
    return STATUS_OK;
}

void
index_client_close(struct index_client *client)
{
    free(client);
}

static atomic_uint endless;                           /* queries under way */
static _Thread_local const atomic_bool *asked_cancel; /* of this thread's client */
static enum index_partial with_partial, searched_with;
static char with_graphs[64]; /* of the last update */

static bool list_is_late; /* of the values that several share */

enum { LONG_PIECES = 3000, PIECE_BYTES = 1024 };

enum status
index_query(struct index_client *client, struct slice sparql, const char *format,
            const struct index_query_options *options, index_piece *piece, void *context,
            struct reason *why)
{
    (void)client;
    static const char filler[PIECE_BYTES] = {'x'};
    char said[256];
    if (list_is_late &&
        slice_find_slice(sparql, SLICE("InverseFunctionalProperty")) < sparql.length) {
        return status_fail(why, STATUS_TIMEOUT, "too slow <b>");
    }
    /* Lookups ask this, and so does the list of values that several share. */
    if (slice_find_slice(sparql, SLICE(" VALUES ")) < sparql.length ||
        slice_find_slice(sparql, SLICE("InverseFunctionalProperty")) < sparql.length) {
        return piece(context, SLICE("{\"results\": {\"bindings\": []}}"), why);
    }
    if (slice_find_slice(sparql, SLICE("bad")) < sparql.length) {
        return status_fail(why, STATUS_BAD_INPUT, "line 1: bad");
    }
    if (slice_find_slice(sparql, SLICE("endless")) < sparql.length) {
        (void)atomic_fetch_add(&endless, 1);
        while (!atomic_load(asked_cancel)) {
            (void)poll(NULL, 0, 1);
        }
        (void)atomic_fetch_sub(&endless, 1);
        return status_fail(why, STATUS_CANCELLED, "cancelled");
    }
    if (slice_find_slice(sparql, SLICE("slow")) < sparql.length) {
        return status_fail(why, STATUS_TIMEOUT, "too slow");
    }
    if (slice_find_slice(sparql, SLICE("hostile")) < sparql.length) {
        return piece(context,
                     SLICE("?<a>\t?b\n"
                           "<javascript:alert(1)>\t\"</td><script>alert(2)</script>\"@en\n"
                           "<http://a/?b=%22onclick=&c>\t\"\xE2\x80\xAE\\\" autofocus x=\\\"\"\n"
                           "_:b1\t42\n"
                           "\ttrue\n"
                           "half a li"),
                     why);
    }
    const bool is_long = slice_find_slice(sparql, SLICE("long")) < sparql.length;
    for (int i = 0; is_long && i < LONG_PIECES; i++) {
        TRY(piece(context, slice_of(filler, sizeof filler), why));
    }
    const int length =
        snprintf(said, sizeof said, "%s %u %.*s", format, options->timeout_ms, SLICE_PRINT(sparql));
    return piece(context, slice_of(said, (size_t)length), why);
}

void
index_client_manner(struct index_client *client, enum index_partial partial,
                    const atomic_bool *cancel)
{
    (void)client;
    asked_cancel = cancel;
    with_partial = partial;
}

bool
index_client_missing(const struct index_client *client, size_t *partition, struct reason *which)
{
    (void)client;
    if (with_partial == INDEX_PARTIAL_ERROR || *partition > 0) {
        return false;
    }
    ++*partition;
    (void)status_fail(which, STATUS_OK, "index partition 0 is missing");
    return true;
}

enum status
index_update(struct index_client *client, struct slice text, const struct index_update_options *how,
             struct index_update_report *report, struct reason *why)
{
    (void)client, (void)text, (void)why;
    snprintf(with_graphs, sizeof with_graphs, "%.*s%.*s", SLICE_PRINT(how->graphs),
             SLICE_PRINT(how->named_graphs));
    *report = (struct index_update_report){.operations = 1, .added = 2};
    return STATUS_OK;
}

/* Says what it was asked; of a name with "slow" in it, nothing in time. */
enum status
index_identity(struct index_client *client, const struct term *resource, bool json,
               uint32_t timeout_ms, index_piece *piece, void *context, struct reason *why)
{
    char said[256];
    (void)client;
    if (slice_find_slice(resource->value, SLICE("slow")) < resource->value.length) {
        return status_fail(why, STATUS_TIMEOUT, "too slow");
    }
    const int length = snprintf(said, sizeof said, "%s %s <%.*s> %s", json ? "json" : "text",
                                resource->kind == TERM_BLANK ? "blank" : "IRI",
                                SLICE_PRINT(resource->value), timeout_ms > 0 ? "bounded" : "");
    return piece(context, slice_of(said, (size_t)length), why);
}

static char put_graph[512]; /* of the last put: its name, how, and its quads */

enum status
index_graph_put(struct index_client *client, struct slice graph, struct graph *wanted,
                enum index_graph_mode mode, size_t memory, struct index_graph_report *report,
                struct reason *why)
{
    (void)client, (void)memory, (void)why;
    struct buf lines;
    buf_init(&lines, sizeof put_graph);
    for (size_t i = 0; i < wanted->count; i++) {
        (void)nquads_write(&lines, &wanted->quads[i]);
    }
    snprintf(put_graph, sizeof put_graph, "%.*s %s %s", SLICE_PRINT(graph),
             mode == INDEX_GRAPH_ADD ? "add" : "replace", lines.data != NULL ? lines.data : "");
    buf_release(&lines);
    *report = (struct index_graph_report){.existed = slice_find_slice(graph, SLICE("none")) ==
                                                     graph.length};
    return STATUS_OK;
}

/* Gives the quads of a graph; there are none of one whose name has "none" in it. */
enum status
index_pattern(struct index_client *client, const struct quad *pattern, uint64_t limit,
              index_piece *piece, void *context, struct reason *why)
{
    (void)client, (void)limit;
    return slice_find_slice(pattern->graph.value, SLICE("none")) < pattern->graph.value.length
               ? STATUS_OK
               : piece(context, SLICE("<a:> <b:> <c:> <g:> .\n"), why);
}

enum status
index_search(struct index_client *client, struct slice words, uint32_t limit, index_piece *piece,
             void *context, struct reason *why)
{
    (void)client, (void)words, (void)limit, (void)piece, (void)context, (void)why;
    return STATUS_OK;
}

enum { CROWDED = 100 };

/* The words themselves, and one more. */
enum status
index_find(struct index_client *client, const struct index_find *find, struct arena *arena,
           index_statement_take *take, void *context, struct reason *why)
{
    (void)client;
    searched_with = with_partial;
    if (slice_is(find->words, "none")) {
        return STATUS_OK;
    }
    struct index_statement statement = {.score = 1.5};
    if (slice_is(find->words, "crowded")) { /* most in one document */
        statement.quad = (struct quad){.subject = term_iri(SLICE("http://s/")),
                                       .predicate = term_iri(SLICE("http://p/")),
                                       .object = term_literal(SLICE("crowded"))};
        for (unsigned i = 0; i < CROWDED + 10 && i < find->limit; i++) {
            statement.quad.graph =
                term_iri(arena_printf(arena, "http://d/%u", i < CROWDED ? 0 : i));
            TRY(take(context, &statement, why));
        }
        return STATUS_OK;
    }
    statement.quad = (struct quad){
        .subject = {.kind = TERM_BLANK, .value = SLICE("b")},
        .predicate = term_iri(SLICE("http://p/")),
        .object = {.kind = TERM_LITERAL,
                   .value = arena_printf(arena, "%.*s <b>\"\xC3\xA9", SLICE_PRINT(find->words)),
                   .language = SLICE("en")},
        .graph = term_iri(SLICE("http://d/?a&b"))};
    TRY(take(context, &statement, why));
    statement.score = find->limit;
    statement.quad.subject = term_iri(SLICE("http://s/"));
    statement.quad.object = term_literal(SLICE("two"));
    statement.quad.graph = term_iri(SLICE("http://d/"));
    return take(context, &statement, why);
}

enum status
index_describe(struct index_client *client, const struct index_resource *resources, size_t count,
               const struct slice *predicates, size_t predicate_count, uint32_t timeout_ms,
               struct arena *arena, index_object_take *take, void *context, struct reason *why)
{
    (void)client, (void)resources, (void)count, (void)predicates, (void)predicate_count;
    (void)timeout_ms;
    (void)arena, (void)take, (void)context, (void)why;
    return STATUS_OK;
}

enum status
index_stats_get(struct index_client *client, struct index_stats *stats, struct reason *why)
{
    (void)client;
    (void)why;
    *stats = (struct index_stats){.quads = 1};
    return STATUS_OK;
}

enum status
index_void(struct index_client *client, const struct index_void_options *void_options,
           struct buf *turtle, struct reason *why)
{
    (void)client, (void)void_options, (void)why;
    buf_append_string(turtle, "[] a <http://rdfs.org/ns/void#Dataset> .\n");
    return STATUS_OK;
}

enum { QUADS_ADDED = 600 };

/* Nothing is known of "none", and no more of "old"; else something was removed and much added. */
enum status
index_last_change(struct index_client *client, struct slice uri, uint32_t timeout_ms,
                  const struct index_follower *follower, struct reason *why)
{
    const struct index_changes_begin begin = {.wall_ms = 1795435200123};
    char line[100];
    (void)client, (void)timeout_ms;
    if (slice_is(uri, "http://none/") || slice_is(uri, "http://old/")) {
        return slice_is(uri, "http://none/") ? status_fail(why, STATUS_NOT_FOUND, "not known")
                                             : status_fail(why, STATUS_STALE, "<i>no longer kept");
    }
    TRY(follower->begin(follower->context, &begin, why));
    TRY(follower->document(follower->context, uri, 7, why));
    TRY(follower->quad(follower->context, true, SLICE("<s:> <p:> \"<b> c\" <http://d/> ."), why));
    for (int i = 0; i < QUADS_ADDED; i++) {
        snprintf(line, sizeof line, "<s:> <p:> \"added %d\" <http://d/> .", i);
        TRY(follower->quad(follower->context, false, slice_string(line), why));
    }
    return STATUS_OK;
}

/* It has no counters. */
enum status
index_counts_get(struct index_client *client, bool with_sets, struct index_counts **counts,
                 struct reason *why)
{
    (void)client, (void)with_sets;
    *counts = NULL;
    return status_fail(why, STATUS_UNSUPPORTED, "no counters");
}

const struct index_count *
index_counts_of(const struct index_counts *counts, char kind, size_t *count)
{
    (void)counts, (void)kind;
    *count = 0;
    return NULL;
}

void
index_counts_free(struct index_counts *counts)
{
    (void)counts;
}

/* ---- requests ---- */

static char folder[SCRATCH_SIZE];
static struct opt_set *options;
static struct web_service service;
static struct web_server *server;
static struct buf reply;
static char reply_type[128];
static const char *accepted_encoding; /* NULL: none is said */
static char reply_headers[2048];

static int
setup(void **state)
{
    (void)state;
    static const struct opt *const tables[] = {web_options, index_options, NULL};
    struct reason why = {""};
    char run[128];
    if (!scratch_folder(folder, "test_web_query")) {
        return 1;
    }
    snprintf(run, sizeof run, "%s/run", folder);
    (void)mkdir(run, 0700);
    options = opt_set_new(tables);
    service = (struct web_service){.directory = folder,
                                   .options = options,
                                   .archive = -1,
                                   .most = 2,
                                   .result_most = 4 << 20,
                                   .routes = web_routes};
    service.queries = web_queries_new(service.most);
    service.threads = threads_new(1, 0);
    service.idle = memory_zero(service.most, sizeof(struct index_client *));
    (void)pthread_mutex_init(&service.lock, NULL);
    buf_init(&reply, 16 << 20);
    const struct web_server_options web = {
        .listen = "127.0.0.1:0",
        .places = {.connections = 8, .of_address = 8, .request_ms = 60000},
        .idle_seconds = 5,
        .routes = service.routes,
        .service = &service};
    return web_server_open(&server, &web, &why) != STATUS_OK;
}

static int
teardown(void **state)
{
    (void)state;
    char command[128];
    const bool closed = web_server_close(server, 2000);
    for (size_t i = 0; i < service.idle_count; i++) {
        index_client_close(service.idle[i]);
    }
    (void)pthread_mutex_destroy(&service.lock);
    free(service.idle);
    web_queries_free(service.queries);
    threads_free(service.threads);
    opt_set_free(options);
    buf_release(&reply);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || !closed;
}

static size_t
take(char *bytes, size_t size, size_t count, void *context)
{
    (void)context;
    return buf_append(&reply, bytes, size * count) == STATUS_OK ? size * count : 0;
}

static size_t
take_header(char *bytes, size_t size, size_t count, void *context)
{
    (void)context;
    (void)strncat(reply_headers, bytes, sizeof reply_headers - strlen(reply_headers) - 1);
    return size * count;
}

/* body NULL: GET. type: of the body. Returns the HTTP status; fills reply and reply_type. */
static long
ask(const char *target, const char *accept, const char *body, const char *type)
{
    char url[512];
    char header[256];
    long status = 0;
    const char *content_type = NULL;
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = NULL;
    buf_reset(&reply);
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", web_server_port(server), target);
    snprintf(header, sizeof header, "Accept: %s", accept);
    headers = curl_slist_append(headers, header);
    if (type != NULL) {
        snprintf(header, sizeof header, "Content-Type: %s", type);
        headers = curl_slist_append(headers, header);
    }
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, accepted_encoding);
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
    reply_headers[0] = '\0';
    if (body != NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    }
    assert_int_equal(curl_easy_perform(easy), CURLE_OK);
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &content_type);
    snprintf(reply_type, sizeof reply_type, "%s", content_type != NULL ? content_type : "");
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    return status;
}

static size_t
take_bytes(char *bytes, size_t size, size_t count, void *context)
{
    return buf_append(context, bytes, size * count) == STATUS_OK ? size * count : 0;
}

#define FORM "application/x-www-form-urlencoded"

static void
test_sparql_requests(void **state)
{
    (void)state;
    static const struct {
        const char *target, *accept, *body, *body_type;
        long status;
        const char *type, *reply;
    } cases[] = {
        {"/sparql?query=ASK%20%7B%7D", "*/*", NULL, NULL, 200, "application/sparql-results+json",
         "json 30000 ASK {}"},
        {"/sparql?query=ASK", "text/csv", NULL, NULL, 200, "text/csv", "csv 30000 ASK"},
        {"/sparql?query=ASK&format=tsv&timeout=5000", "text/csv", NULL, NULL, 200,
         "text/tab-separated-values", "tsv 5000 ASK"},
        {"/sparql?query=ASK&timeout=99999999", "*/*", NULL, NULL, 200, NULL, "json 30000 ASK"},
        {"/sparql?query=ASK&timeout=1", "*/*", NULL, NULL, 200, NULL, "json 10 ASK"},
        {"/sparql", "*/*", "query=SELECT+%3Fa+%7B%7D&x=%", FORM, 200, NULL,
         "json 30000 SELECT ?a {}"},
        {"/sparql?timeout=70", "*/*", "ASK # &=%41", "application/sparql-query", 200, NULL,
         "json 70 ASK # &=%41"},
        {"/sparql?query=DESCRIBE", "*/*", NULL, NULL, 200, "text/turtle", "ttl 30000 DESCRIBE"},
        {"/sparql?query=CONSTRUCT", "application/n-quads", NULL, NULL, 200, "application/n-quads",
         "nq 30000 CONSTRUCT"},
        {"/sparql?query=ASK&format=", "text/html", NULL, NULL, 200, "text/csv", "csv 30000 ASK"},
        {"/sparql?query=CONSTRUCT&format=", "text/html", NULL, NULL, 200, "text/turtle",
         "ttl 30000 CONSTRUCT"},
        {"/sparql?query=CONSTRUCT", "text/csv", NULL, NULL, 406, NULL, NULL},
        {"/sparql?query=ASK&format=ttl", "*/*", NULL, NULL, 406, NULL, NULL},
        {"/sparql?query=ASK%20bad", "*/*", NULL, NULL, 400, "application/problem+json",
         "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
         "\"detail\":\"line 1: bad\"}\n"},
        {"/sparql?query=ASK%20slow", "*/*", NULL, NULL, 504, NULL,
         "{\"type\":\"about:blank\",\"title\":\"Gateway Timeout\",\"status\":504,"
         "\"detail\":\"too slow\"}\n"},
        {"/sparql?query=CONSTRUCT", "application/rdf+xml", NULL, NULL, 200, "application/rdf+xml",
         "rdf 30000 CONSTRUCT"},
        {"/sparql?query=CONSTRUCT&format=jsonld", "*/*", NULL, NULL, 200, "application/ld+json",
         "jsonld 30000 CONSTRUCT"},
        {"/sparql?update=CLEAR%20ALL", "*/*", NULL, NULL, 400, NULL, NULL},
        {"/sparql?query=ASK&timeout=soon", "*/*", NULL, NULL, 400, NULL, NULL},
        {"/search?q=a&per_page=101", "*/*", NULL, NULL, 400, NULL, NULL},
        {"/graph?graph=http://none/", "*/*", NULL, NULL, 404, NULL, NULL},
        {"/graph?graph=http://a/", "*/*", "<a> <b> <c> .", "text/turtle", 403, NULL, NULL},
        {"/sparql?query=ASK&query=ASK", "*/*", NULL, NULL, 400, NULL, NULL},
        {"/sparql?query=ASK&named-graph-uri=x", "*/*", NULL, NULL, 200, NULL, "json 30000 ASK"},
        {"/sparql?query=ASK&partial=warn", "*/*", NULL, NULL, 200, NULL, "json 30000 ASK"},
        {"/sparql?query=ASK&partial=maybe", "*/*", NULL, NULL, 400, NULL, NULL},
        {"/sparql", "text/turtle, text/html;q=0.5", NULL, NULL, 200, "text/turtle; charset=utf-8",
         NULL},
        {"/graph?graph=http://a/", "*/*", NULL, NULL, 200, "text/turtle",
         "ttl 30000 CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <http://a/> { ?s ?p ?o } }"},
        {"/graph?default", "application/n-triples", NULL, NULL, 200, "application/n-triples",
         "nt 30000 CONSTRUCT WHERE { ?s ?p ?o }"},
        {"/graph?graph=http://a/%3E", "*/*", NULL, NULL, 400, NULL, NULL},
        {"/graph?graph=http://a/&default", "*/*", NULL, NULL, 400, NULL, NULL},
        {"/graph", "*/*", NULL, NULL, 400, NULL, NULL},
        {"/sparql", "*/*", "update=CLEAR%20ALL", FORM, 403, NULL, NULL},
        {"/sparql", "*/*", "CLEAR ALL", "application/sparql-update", 403, NULL, NULL},
        {"/sparql?query=ASK", "*/*", "ASK", "application/sparql-query", 400, NULL, NULL},
        {"/sparql", "*/*", "x=y", FORM, 400, NULL, NULL},
        {"/sparql", "*/*", "ASK", "text/plain", 415, NULL, NULL},
        {"/sparql", "*/*", "query=INSERT%20DATA%7B%7D", FORM, 400, NULL, NULL},
        {"/sparql", "text/html", NULL, NULL, 200, "text/html; charset=utf-8", NULL},
        {"/nothing", "*/*", NULL, NULL, 404, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const long status =
            ask(cases[i].target, cases[i].accept, cases[i].body, cases[i].body_type);
        if (status != cases[i].status ||
            (cases[i].type != NULL && strcmp(reply_type, cases[i].type) != 0) ||
            (cases[i].reply != NULL && strcmp(reply.data, cases[i].reply) != 0)) {
            fail_msg("case %zu, %s: %ld %s %s", i, cases[i].target, status, reply_type, reply.data);
        }
    }
}

/* Results are sent as they are made. Those that wait until they are whole come from a file when
 * they have more than 1 MiB; beyond result_most they are refused. */
static void
test_long_results(void **state)
{
    (void)state;
    assert_int_equal(ask("/sparql?query=ASK%20long", "*/*", NULL, NULL), 200);
    assert_int_equal(reply.length, LONG_PIECES * PIECE_BYTES + strlen("json 30000 ASK long"));
    assert_string_equal(reply.data + LONG_PIECES * PIECE_BYTES, "json 30000 ASK long");
    assert_int_equal(ask("/sparql?query=ASK%20long&partial=warn", "*/*", NULL, NULL), 200);
    assert_int_equal(reply.length, LONG_PIECES * PIECE_BYTES + strlen("json 30000 ASK long"));
    service.result_most = 1 << 20;
    assert_int_equal(ask("/sparql?query=ASK%20long&partial=warn", "*/*", NULL, NULL), 413);
    assert_int_equal(ask("/sparql?query=ASK%20long", "*/*", NULL, NULL), 200);
}

/* Streams, too, are packed for who takes it; curl unpacks. */
static void
test_packed(void **state)
{
    (void)state;
    accepted_encoding = "gzip";
    assert_int_equal(ask("/sparql?query=ASK%20long", "*/*", NULL, NULL), 200);
    assert_non_null(strstr(reply_headers, "Content-Encoding: gzip"));
    assert_int_equal(reply.length, LONG_PIECES * PIECE_BYTES + strlen("json 30000 ASK long"));
    assert_string_equal(reply.data + LONG_PIECES * PIECE_BYTES, "json 30000 ASK long");
    assert_int_equal(ask("/openapi.json", "*/*", NULL, NULL), 200);
    assert_non_null(strstr(reply_headers, "Content-Encoding: gzip"));
    assert_non_null(strstr(reply.data, "\"openapi\": \"3.1.0\""));
    assert_int_equal(ask("/sparql?query=ASK", "*/*", NULL, NULL), 200); /* too short to gain */
    assert_null(strstr(reply_headers, "Content-Encoding"));
    accepted_encoding = NULL;
    assert_int_equal(ask("/openapi.json", "*/*", NULL, NULL), 200);
    assert_null(strstr(reply_headers, "Content-Encoding"));
}

/* Every address of the table is described, with each of its methods. */
static void
test_description(void **state)
{
    (void)state;
    assert_int_equal(ask("/openapi.json", "*/*", NULL, NULL), 200);
    for (const struct web_route *route = web_routes; route->path != NULL; route++) {
        char name[128];
        const bool prefix = strlen(route->path) > 1 && route->path[strlen(route->path) - 1] == '/';
        snprintf(name, sizeof name, "\"%s%s\": {", route->path, prefix ? "{name}" : "");
        assert_non_null(strstr(reply.data, name));
        assert_true(route->tag != NULL && route->summary != NULL && route->types != NULL);
    }
}

static void
test_graphs_are_put(void **state)
{
    (void)state;
    struct reason why;
    static const char form[] = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n"
                               "Content-Type: text/turtle\r\n\r\n<#a> <b:> 1 .\r\n--x--\r\n";
#define TURTLE "text/turtle; charset=utf-8"
    assert_int_equal(opt_set_assign(options, "web.update=loopback", &why), STATUS_OK);
    assert_int_equal(ask("/graph?graph=http://a/x", "*/*", "<> <b:> <c> .", TURTLE), 204);
    assert_string_equal(put_graph,
                        "http://a/x add <http://a/x> <b:> <http://a/c> <http://a/x> .\n");
    assert_int_equal(ask("/graph?graph=http://none/", "*/*", "<> <b:> <c> .", TURTLE), 201);
    assert_int_equal(ask("/graph?default", "*/*", "<a:> <b:> <c:> .", TURTLE), 204);
    assert_non_null(strstr(put_graph, "urn:x-quadrille:default add"));
    assert_int_equal(ask("/graph?graph=http://a/x", "*/*", form, "multipart/form-data; boundary=x"),
                     204);
    assert_non_null(strstr(put_graph, "add <http://a/x#a> <b:> \"1\"^^"));
    assert_int_equal(ask("/graph/n%20%3E", "*/*", "<> <b:> <c:> .", TURTLE), 204);
    assert_non_null(strstr(put_graph, "/graph/n%20%3E add"));
    assert_int_equal(ask("/graph", "*/*", "<> <b:> <c:> .", TURTLE), 201);
    assert_non_null(strstr(reply_headers, "Location: http://127.0.0.1:"));
    assert_int_equal(ask("/graph?graph=http://a/x", "*/*", "<> <b:", TURTLE), 400);
    assert_int_equal(ask("/graph?graph=http://a/x", "*/*", "x", "text/csv"), 415);
    assert_int_equal(
        ask("/graph?graph=http://a/x", "*/*", "--y", "multipart/form-data; boundary=x"), 400);
    assert_int_equal(
        ask("/graph?graph=http://a/x", "*/*", "<a:> <b:> <c:> <g:> .", "application/n-quads"), 400);
    assert_int_equal(opt_set_assign(options, "web.update=no", &why), STATUS_OK);
}

static void
test_updates(void **state)
{
    (void)state;
    struct reason why;
    assert_int_equal(opt_set_assign(options, "web.update=loopback", &why), STATUS_OK);
    assert_int_equal(ask("/sparql", "*/*", "update=CLEAR%20ALL", FORM), 200);
    assert_string_equal(reply.data, "1 operations done, 0 quads removed, 2 added\n");
    assert_int_equal(ask("/sparql", "*/*", "CLEAR ALL", "application/sparql-update"), 200);
    assert_int_equal(ask("/sparql", "*/*", "update=a&update=b", FORM), 400);
    assert_int_equal(ask("/sparql?using-graph-uri=x:&using-graph-uri=y:", "*/*",
                         "update=a&using-named-graph-uri=z:", FORM),
                     200);
    assert_string_equal(with_graphs, "x:\ny:\nz:\n");
    assert_int_equal(opt_set_assign(options, "web.update=token", &why), STATUS_OK);
    assert_int_equal(opt_set_assign(options, "web.update_token=secret", &why), STATUS_OK);
    assert_int_equal(ask("/sparql", "*/*", "update=CLEAR%20ALL", FORM), 403);
}

static void
test_places_are_bounded(void **state)
{
    (void)state;
    const uint64_t now = clock_monotonic_ms() + 60000; /* none has been long under way */
    struct web_query *taken[] = {web_queries_take(service.queries, 1, now),
                                 web_queries_take(service.queries, 2, now)};
    assert_int_equal(ask("/sparql?query=ASK", "*/*", NULL, NULL), 503);
    assert_int_equal(ask("/search?q=a", "*/*", NULL, NULL), 503);
    web_queries_give(service.queries, taken[0]);
    assert_int_equal(ask("/sparql?query=ASK", "*/*", NULL, NULL), 200);
    web_queries_give(service.queries, taken[1]);
    for (size_t i = 0; i < 2 * service.most; i++) { /* all are given back */
        assert_int_equal(ask("/sparql?query=ASK", "*/*", NULL, NULL), 200);
    }
}

/* One that never ends, and one more than there are places for. */
static void *
ask_endless(void *status)
{
    struct buf bytes;
    char url[64];
    CURL *easy = curl_easy_init();
    buf_init(&bytes, 1 << 20);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/sparql?query=endless", web_server_port(server));
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, &bytes);
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
    assert_int_equal(curl_easy_perform(easy), CURLE_OK);
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, (long *)status);
    assert_non_null(bytes.data);
    assert_non_null(strstr(bytes.data, "was cut off"));
    curl_easy_cleanup(easy);
    buf_release(&bytes);
    return NULL;
}

static void
test_long_queries_make_way(void **state)
{
    (void)state;
    pthread_t threads[2];
    long statuses[2] = {0, 0};
    atomic_store(&endless, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_endless, &statuses[i]), 0);
    }
    while (atomic_load(&endless) < 2) {
        (void)poll(NULL, 0, 1);
    }
    while (ask("/sparql?query=ASK", "*/*", NULL, NULL) != 200) { /* until one counts as long */
        (void)poll(NULL, 0, 10);
    }
    assert_true(atomic_load(&endless) >= 1); /* the other one goes on */
    struct web_query *taken = NULL; /* it makes way, too, when another client takes the places */
    while (atomic_load(&endless) > 0) {
        if (taken == NULL) {
            taken = web_queries_take(service.queries, 1, clock_monotonic_ms());
        }
        struct web_query *more = web_queries_take(service.queries, 1, clock_monotonic_ms());
        if (more != NULL) {
            web_queries_give(service.queries, more);
        }
        (void)poll(NULL, 0, 1);
    }
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(statuses[i], 503);
    }
    if (taken != NULL) {
        web_queries_give(service.queries, taken);
    }
}

/* Who has most loses the youngest of its long ones. */
static void
test_who_makes_way(void **state)
{
    (void)state;
    enum { LONG = WEB_QUERY_LONG_MS };
    struct web_queries *queries = web_queries_new(4);
    struct reason why = {""};
    struct web_query *one = web_queries_take(queries, 1, 10);
    struct web_query *first = web_queries_take(queries, 2, 0);
    struct web_query *second = web_queries_take(queries, 2, 5);
    struct web_query *third = web_queries_take(queries, 2, 500);
    assert_null(web_queries_take(queries, 3, LONG - 1)); /* none is long yet */
    struct web_query *newcomer = web_queries_take(queries, 3, LONG + 20);
    assert_non_null(newcomer);
    assert_true(atomic_load(&second->cut) && atomic_load(&second->cancelled));
    assert_false(atomic_load(&one->cut) || atomic_load(&first->cut) || atomic_load(&third->cut));
    assert_int_equal(web_query_status(second, STATUS_CANCELLED, &why), STATUS_AGAIN);
    assert_non_null(strstr(why.text, "cut off"));
    assert_int_equal(web_query_status(second, STATUS_OK, &why), STATUS_OK);
    assert_int_equal(web_query_status(first, STATUS_CANCELLED, &why), STATUS_CANCELLED);
    /* Those cut off, who take their time, have no others' places, but there is an end to it. */
    struct web_query *later[3];
    for (size_t i = 0; i < 3; i++) {
        later[i] = web_queries_take(queries, 3, 3 * LONG);
        assert_non_null(later[i]);
    }
    assert_null(web_queries_take(queries, 3, 9 * LONG));
    web_queries_give(queries, second);
    assert_non_null(web_queries_take(queries, 3, 9 * LONG));
    web_queries_free(queries);
}

static void
test_search(void **state)
{
    (void)state;
    assert_int_equal(ask("/search?q=%3Ci%3E", "text/html", NULL, NULL), 200);
    assert_non_null(
        strstr(reply.data, "lang=\"en\">&lt;<mark>i</mark>&gt; &lt;b&gt;&quot;\xC3\xA9<"));
    assert_non_null(strstr(reply.data, "href=\"http://d/?a&amp;b\""));
    assert_non_null(strstr(reply.data, "/document?uri=http%3A%2F%2Fd%2F%3Fa%26b"));
    assert_null(strstr(reply.data, "<i>"));
    /* Facets lead to the same words with a filter more; what is set can be taken off. */
    assert_non_null(
        strstr(reply.data, "/search?q=%3Ci%3E&amp;fq=predicate%3Ahttp%3A%2F%2Fp%2F&amp;page=1\""));
    assert_int_equal(ask("/search?q=a&fq=domain:d&fq=lang:en", "text/html", NULL, NULL), 200);
    assert_non_null(strstr(reply.data, "/search?q=a&amp;fq=lang%3Aen&amp;page=1\">\xC3\x97"));
    assert_non_null(strstr(reply.data, "<h1>1 found</h1>"));
    assert_int_equal(searched_with, INDEX_PARTIAL_ERROR);
    assert_int_equal(ask("/search?q=a&partial=warn", "text/html", NULL, NULL), 200);
    assert_int_equal(searched_with, INDEX_PARTIAL_WARN);
    assert_int_equal(ask("/search?q=a&partial=maybe", "text/html", NULL, NULL), 400);
    /* A page is full where there is enough for it. */
    assert_int_equal(ask("/search?q=crowded", "application/json", NULL, NULL), 200);
    assert_non_null(strstr(reply.data, "\"totalResults\": 11"));
    assert_non_null(strstr(reply.data, "\"totalIsAtLeast\": false"));
    assert_int_equal(ask("/search?q=none", "text/html", NULL, NULL), 200);
    assert_non_null(strstr(reply.data, "Nothing found"));
    assert_int_equal(ask("/search", "text/html", NULL, NULL), 200);
    assert_int_equal(ask("/search?q=a%20date:never", "text/html", NULL, NULL), 400);
    assert_int_equal(ask("/search?q=w&fq=size:3", "application/json", NULL, NULL), 400);
    assert_int_equal(ask("/search?q=w&facets=1", "application/json", NULL, NULL), 200);
    assert_string_equal(reply_type, "application/json");
    assert_non_null(strstr(reply.data, "\"totalResults\": 2"));
    assert_non_null(strstr(reply.data, "\"snippet\": \"w <b>\\\"\xC3\xA9\""));
    assert_non_null(strstr(reply.data, "\"facets\""));
}

static void
test_identity(void **state)
{
    (void)state;
    assert_int_equal(ask("/identity", "text/html", NULL, NULL), 200);
    assert_null(strstr(reply.data, "<pre>"));
    list_is_late = true;
    assert_int_equal(ask("/identity", "text/html", NULL, NULL), 200);
    assert_non_null(strstr(reply.data, "<form"));
    assert_non_null(strstr(reply.data, "is not known: too slow &lt;b&gt;"));
    assert_int_equal(ask("/identity?format=json", "text/html", NULL, NULL), 504);
    list_is_late = false;
    assert_int_equal(ask("/identity?uri=urn:a%26b", "text/html", NULL, NULL), 200);
    assert_non_null(strstr(reply.data, "<pre>text IRI &lt;urn:a&amp;b&gt; bounded</pre>"));
    assert_non_null(strstr(reply.data, "uri=urn%3Aa%26b\">The same as JSON"));
    assert_int_equal(ask("/identity?uri=_:x1&format=json", "text/html", NULL, NULL), 200);
    assert_string_equal(reply_type, "application/json");
    assert_string_equal(reply.data, "json blank <x1> bounded");
    assert_int_equal(ask("/identity?uri=relative", "text/html", NULL, NULL), 400);
    assert_int_equal(ask("/identity?uri=urn:%3Ca", "text/html", NULL, NULL), 400);
    assert_int_equal(ask("/identity?uri=urn:slow", "text/html", NULL, NULL), 504);
}

static void
assert_page_has(const char *text)
{
    if (strstr(reply.data, text) == NULL) {
        fail_msg("not on the page: %s\n%s", text, reply.data);
    }
}

/* What the index gives is text, whatever it says. */
static void
test_query_page(void **state)
{
    (void)state;
    assert_int_equal(
        ask("/sparql?query=SELECT%20hostile%3C/textarea%3E%3Cb%3E", "text/html", NULL, NULL), 200);
    assert_string_equal(reply_type, "text/html; charset=utf-8");
    assert_page_has("SELECT hostile&lt;/textarea&gt;&lt;b&gt;</textarea>");
    assert_page_has("<th scope=\"col\">&lt;a&gt;</th><th scope=\"col\">b</th>");
    assert_page_has("<td data-term=\"&lt;javascript:alert(1)&gt;\">"
                    "<a href=\"/resource?uri=javascript%3Aalert%281%29\"><bdi>javascript:alert(1)");
    assert_page_has("<bdi lang=\"en\">&lt;/td&gt;&lt;script&gt;alert(2)&lt;/script&gt;</bdi>");
    assert_page_has("<bdi>\xE2\x80\xAE&quot; autofocus x=&quot;</bdi>");
    assert_page_has("<td class=\"number\" data-term=\"42\"><bdi>42</bdi></td>");
    assert_page_has("<strong>4 rows</strong>");
    assert_null(strstr(reply.data, "<script>"));
    assert_null(strstr(reply.data, "href=\"javascript"));
    /* One that fails is told beside the form, which still has it. */
    assert_int_equal(ask("/sparql?query=SELECT%20bad", "text/html", NULL, NULL), 400);
    assert_page_has(">SELECT bad</textarea>");
    assert_page_has("role=\"alert\">line 1: bad</p>");
    assert_int_equal(ask("/sparql?query=SELECT%20slow&format=html", "*/*", NULL, NULL), 504);
    assert_int_equal(ask("/sparql?query=ASK%20long", "text/html", NULL, NULL), 200);
    assert_page_has("</main></body></html>");
    assert_int_equal(ask("/sparql?query=ASK", "text/html;q=0.5, text/csv", NULL, NULL), 200);
    assert_string_equal(reply_type, "text/csv");
}

static void
test_last_change(void **state)
{
    (void)state;
    assert_int_equal(ask("/changes?uri=http://d/&format=json", "*/*", NULL, NULL), 200);
    const char *begin = "{\"document\": \"http://d/\", \"known\": true, \"changed\": "
                        "\"2026-11-23T12:00:00.123Z\", \"generation\": 7, \"addedTotal\": 600, "
                        "\"added\": [\"<s:> <p:> \\\"added 0\\\" <http://d/> .\", ";
    assert_memory_equal(reply.data, begin, strlen(begin));
    assert_non_null(strstr(reply.data, "added 499"));
    assert_null(strstr(reply.data, "added 500"));
    assert_non_null(strstr(reply.data, "\"removedTotal\": 1, \"removed\": [\"<s:> <p:> "
                                       "\\\"<b> c\\\" <http://d/> .\"], \"cut\": true}"));
    assert_int_equal(ask("/changes?uri=http://d/", "text/html", NULL, NULL), 200);
    assert_non_null(strstr(reply.data, "added 600 statements and removed 1"));
    assert_non_null(strstr(reply.data, "There are 100 more."));
    assert_non_null(strstr(reply.data, "&lt;b&gt; c"));
    assert_int_equal(ask("/changes?uri=http://old/&format=json", "*/*", NULL, NULL), 200);
    assert_string_equal(reply.data, "{\"document\": \"http://old/\", \"known\": false, "
                                    "\"reason\": \"<i>no longer kept\"}\n");
    assert_int_equal(ask("/changes?uri=http://old/", "text/html", NULL, NULL), 200);
    assert_non_null(strstr(reply.data, "is not known: &lt;i&gt;no longer kept."));
    assert_int_equal(ask("/changes?uri=http://none/", "*/*", NULL, NULL), 404);
    assert_int_equal(ask("/changes?uri=http://d/&format=gif", "*/*", NULL, NULL), 400);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_sparql_requests),
                                       TEST(test_long_results),
                                       TEST(test_packed),
                                       TEST(test_description),
                                       TEST(test_graphs_are_put),
                                       TEST(test_updates),
                                       TEST(test_places_are_bounded),
                                       TEST(test_long_queries_make_way),
                                       cmocka_unit_test(test_who_makes_way),
                                       TEST(test_search),
                                       TEST(test_query_page),
                                       TEST(test_last_change),
                                       TEST(test_identity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
