/* The one table of addresses: what answers, what it takes, and what the description of the service
 * says of it (api/openapi.c). */
#include "web/web_service.h"

enum { HITS_MOST = 1000 };

#define QUERY_TYPES                                                                    \
    "application/sparql-results+json application/sparql-results+xml text/csv "         \
    "text/tab-separated-values text/turtle application/n-triples application/n-quads " \
    "application/rdf+xml application/ld+json application/trig"
#define GRAPH_TYPES                                                              \
    "text/turtle application/n-triples application/n-quads application/rdf+xml " \
    "application/ld+json application/trig"
#define RDF_BODIES                                                               \
    "text/turtle application/n-triples application/rdf+xml application/ld+json " \
    "application/trig multipart/form-data"

static const struct web_parameter_row search_parameters[] = {
    {"q", WEB_VALUE_TEXT, false, 0, "The words."},
    {"limit", WEB_VALUE_NUMBER, false, HITS_MOST, "The most hits; 20 when it is not said."},
    {"format", WEB_VALUE_TEXT, false, 0, "html or json, in place of Accept."},
    {"partial", WEB_VALUE_TEXT, false, 0,
     "error, or warn: answer without partitions of the index that are down."},
    {0}};
static const struct web_parameter_row uri_parameter[] = {
    {"uri", WEB_VALUE_IRI, false, 0, "The URI of a document or the origin of a host."}, {0}};
static const struct web_parameter_row sparql_parameters[] = {
    {"query", WEB_VALUE_TEXT, false, 0, "A query; the service's description without one."},
    {"update", WEB_VALUE_TEXT, false, 0, "An update, in the form of a POST."},
    {"default-graph-uri", WEB_VALUE_IRI, false, 0, "A default graph; may be repeated."},
    {"named-graph-uri", WEB_VALUE_IRI, false, 0, "A named graph; may be repeated."},
    {"using-graph-uri", WEB_VALUE_IRI, false, 0, "Of an update; may be repeated."},
    {"using-named-graph-uri", WEB_VALUE_IRI, false, 0, "Of an update; may be repeated."},
    {"timeout", WEB_VALUE_NUMBER, false, UINT32_MAX, "Milliseconds."},
    {"format", WEB_VALUE_TEXT, false, 0,
     "json, xml, csv, tsv; ttl, nt, nq, trig, rdf, jsonld: in place of Accept."},
    {"partial", WEB_VALUE_TEXT, false, 0, "error or warn: see /search."},
    {0}};
static const struct web_parameter_row graph_parameters[] = {
    {"graph", WEB_VALUE_IRI, false, 0, "The graph."},
    {"default", WEB_VALUE_TEXT, false, 0, "In place of graph: the default graph."},
    {"format", WEB_VALUE_TEXT, false, 0, "As of /sparql."},
    {0}};

const struct web_route web_routes[] = {
    {"/", WEB_GET, web_status, "status", "Where the crawl stands", NULL, "text/html", NULL},
    {"/status", WEB_GET, web_status, "status", "Where the crawl stands", NULL, "text/html", NULL},
    {"/status.json", WEB_GET, web_status_json, "status", "The same as JSON", NULL,
     "application/json", NULL},
    {"/metrics", WEB_GET, web_metrics, "status", "Figures for Prometheus", NULL, "text/plain",
     NULL},
    {"/health", WEB_GET, web_health, "status", "Whether the index answers", NULL,
     "application/json", NULL},
    {"/openapi.json", WEB_GET, web_openapi, "status", "This description", NULL, "application/json",
     NULL},
    {"/search", WEB_GET, web_search, "search", "Literals with the words", search_parameters,
     "text/html application/json", NULL},
    {"/meta", WEB_GET, web_meta, "documents", "What is known of a document or host", uri_parameter,
     "text/turtle text/html", NULL},
    {"/void", WEB_GET, web_void, "documents", "The index in numbers", NULL, "text/turtle", NULL},
    {"/.well-known/void", WEB_GET, web_void, "documents", "The index in numbers", NULL,
     "text/turtle", NULL},
    {"/sparql", WEB_GET | WEB_POST, web_sparql, "sparql", "SPARQL 1.1 Protocol", sparql_parameters,
     QUERY_TYPES, "application/sparql-query application/sparql-update"},
    {"/graph", WEB_GET | WEB_POST | WEB_PUT | WEB_DELETE, web_graph, "sparql",
     "Graph Store Protocol", graph_parameters, GRAPH_TYPES, RDF_BODIES},
    {"/graph/", WEB_GET | WEB_POST | WEB_PUT | WEB_DELETE, web_graph, "sparql",
     "A graph that has this address as its URI", NULL, GRAPH_TYPES, RDF_BODIES},
    {"/warc/", WEB_GET, web_archive, "documents", "Bytes of the archive's files, with ranges", NULL,
     "application/warc", NULL},
    {0},
};
