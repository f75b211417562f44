/* The one table of addresses: what answers, what it takes, and what the description of the service
 * says of it (api/openapi.c). */
#include "web/assets/assets.h"
#include "web/web_service.h"

enum { HITS_MOST = 1000, PAGES_MOST = 100000, PER_PAGE_MOST = 100 };

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

static const struct web_parameter_row uri_parameter[] = {
    {"uri", WEB_VALUE_IRI, false, 0, "The URI of a document or the origin of a host."},
    {"format", WEB_VALUE_TEXT, false, 0, "html or ttl, in place of Accept."},
    {0}};
static const struct web_parameter_row document_page_parameters[] = {
    {"uri", WEB_VALUE_IRI, false, 0, "The URI of a document; a form without one."},
    {"format", WEB_VALUE_TEXT, false, 0, "html, or as of /sparql."},
    {0}};
static const struct web_parameter_row history_parameters[] = {
    {"span", WEB_VALUE_TEXT, false, 0, "hour, the usual one, day or month."}, {0}};
static const struct web_parameter_row changes_parameters[] = {
    {"uri", WEB_VALUE_IRI, true, 0, "The URI of a document."},
    {"format", WEB_VALUE_TEXT, false, 0, "html or json, in place of Accept."},
    {0}};
static const struct web_parameter_row archived_parameters[] = {
    {"uri", WEB_VALUE_IRI, true, 0, "The URI of a document."},
    {"as", WEB_VALUE_TEXT, false, 0, "file: the body alone, to keep; else header and body."},
    {0}};
static const struct web_parameter_row terms_parameters[] = {
    {"q", WEB_VALUE_TEXT, false, 0, "A part of their IRIs or names; all when it is not said."},
    {0}};
static const struct web_parameter_row identity_parameters[] = {
    {"uri", WEB_VALUE_TEXT, false, 0,
     "An IRI, or a blank node as _:label; without one, what several share."},
    {"format", WEB_VALUE_TEXT, false, 0, "html or json, in place of Accept."},
    {0}};
static const struct web_parameter_row validate_parameters[] = {
    {"uri", WEB_VALUE_TEXT, false, 0, "A document, property, class or host; a form without it."},
    {"format", WEB_VALUE_TEXT, false, 0,
     "html, json, or EARL as ttl, nt, nq, rdf, jsonld: in place of Accept."},
    {0}};
static const struct web_parameter_row report_parameters[] = {
    {"host", WEB_VALUE_TEXT, false, 0, "A host, or the begin of URIs; a form without it."},
    {"format", WEB_VALUE_TEXT, false, 0, "html, json or tsv, in place of Accept."},
    {0}};
static const struct web_parameter_row inspect_parameters[] = {
    {"url", WEB_VALUE_IRI, false, 0, "What is fetched, politely; a form without it."},
    {"archived", WEB_VALUE_IRI, false, 0, "What is taken out of the archive, as last fetched."},
    {"document", WEB_VALUE_TEXT, false, 0, "In a form, in place of url: the document."},
    {"uri", WEB_VALUE_IRI, false, 0, "The URI of a document that is not fetched."},
    {"type", WEB_VALUE_TEXT, false, 0, "Its Content-Type, where the body's is not meant."},
    {"format", WEB_VALUE_TEXT, false, 0,
     "html, json, ttl, nt, nq, rdf, jsonld, svg: in place of Accept."},
    {0}};
static const struct web_parameter_row sparql_parameters[] = {
    {"query", WEB_VALUE_TEXT, false, 0, "A query; the service's description without one."},
    {"update", WEB_VALUE_TEXT, false, 0, "An update, in the form of a POST."},
    {"default-graph-uri", WEB_VALUE_IRI, false, 0, "A default graph; may be repeated."},
    {"named-graph-uri", WEB_VALUE_IRI, false, 0, "A named graph; may be repeated."},
    {"using-graph-uri", WEB_VALUE_IRI, false, 0, "Of an update; may be repeated."},
    {"using-named-graph-uri", WEB_VALUE_IRI, false, 0, "Of an update; may be repeated."},
    {"timeout", WEB_VALUE_NUMBER, false, UINT32_MAX, "Milliseconds."},
    {"format", WEB_VALUE_TEXT, false, 0,
     "json, xml, csv, tsv; ttl, nt, nq, trig, rdf, jsonld; html: in place of Accept."},
    {"partial", WEB_VALUE_TEXT, false, 0, "error or warn: see /search."},
    {0}};
static const struct web_parameter_row graph_parameters[] = {
    {"graph", WEB_VALUE_IRI, false, 0, "The graph."},
    {"default", WEB_VALUE_TEXT, false, 0, "In place of graph: the default graph."},
    {"format", WEB_VALUE_TEXT, false, 0, "As of /sparql."},
    {0}};

#define PAGE_PARAMETERS                                                                  \
    {"page", WEB_VALUE_NUMBER, false, PAGES_MOST, "From 1 on."},                         \
        {"per_page", WEB_VALUE_NUMBER, false, PER_PAGE_MOST, "10 when it is not said."}, \
    {                                                                                    \
        "format", WEB_VALUE_TEXT, false, 0,                                              \
            "html, json, ttl, rdf, jsonld, nq, nt, atom, txt: in place of Accept."       \
    }
#define FILTER_TEXT                                                                              \
    "class:, predicate: (IRIs, names with usual prefixes, ends of IRIs), domain:, lang:, date:;" \
    " with a minus: without."
#define LOOKUP_PARAMETERS                                                                      \
    {"fq", WEB_VALUE_TEXT, false, 0, FILTER_TEXT " May be repeated."},                         \
        {"group", WEB_VALUE_TEXT, false, 0, "document, the usual way, or resource."},          \
        {"sortbydate", WEB_VALUE_TEXT, false, 0, "1: newest first."},                          \
        {"facets", WEB_VALUE_TEXT, false, 0, "1: counts of what would narrow it down."},       \
        {"documents", WEB_VALUE_TEXT, false, 0, "1: sizes of documents, and when they came."}, \
    {                                                                                          \
        "partial", WEB_VALUE_TEXT, false, 0,                                                   \
            "error, or warn: answer without partitions of the index that are down."            \
    }
#define LOOKUP_TYPES                                                                  \
    "text/html application/json text/turtle application/rdf+xml application/ld+json " \
    "application/n-quads application/n-triples application/atom+xml text/plain"
static const struct web_parameter_row lookup_parameters[] = {
    {"uri", WEB_VALUE_IRI, false, 0, "What speaks of this URI."},
    {"property", WEB_VALUE_IRI, false, 0, "With object: what has this value of the property."},
    {"object", WEB_VALUE_TEXT, false, 0, "An IRI or a text."},
    {"q", WEB_VALUE_TEXT, false, 0, "Words, with filters among them."},
    {"same", WEB_VALUE_TEXT, false, 0, "1: with uri, also what is the same by /identity."},
    LOOKUP_PARAMETERS,
    PAGE_PARAMETERS,
    {0}};
static const struct web_parameter_row search_parameters[] = {
    {"q", WEB_VALUE_TEXT, false, 0, "The words, with filters among them."},
    LOOKUP_PARAMETERS,
    PAGE_PARAMETERS,
    {0}};
static const struct web_parameter_row sindice1_parameters[] = {
    {"property", WEB_VALUE_IRI, false, 0, "With object."},
    {"object", WEB_VALUE_TEXT, false, 0, "An IRI or a text."},
    {"uri", WEB_VALUE_IRI, false, 0, "In place of both."},
    {"keyword", WEB_VALUE_TEXT, false, 0, "In place of all."},
    PAGE_PARAMETERS,
    {0}};
static const struct web_parameter_row sindice2_parameters[] = {
    {"q", WEB_VALUE_TEXT, true, 0, "Words, a URI, or a pattern."},
    {"qt", WEB_VALUE_TEXT, false, 0, "term, or advanced for a pattern."},
    {"sortbydate", WEB_VALUE_TEXT, false, 0, "1: newest first."},
    PAGE_PARAMETERS,
    {0}};
static const struct web_parameter_row sindice3_parameters[] = {
    {"q", WEB_VALUE_TEXT, false, 0, "Words or a URI."},
    {"nq", WEB_VALUE_TEXT, false, 0, "In place of q a pattern: * <property> \"value\"."},
    {"fq", WEB_VALUE_TEXT, false, 0, FILTER_TEXT " May be repeated."},
    {"field", WEB_VALUE_TEXT, false, 0, "Taken: all fields are given."},
    PAGE_PARAMETERS,
    {0}};
static const struct web_parameter_row reconcile_parameters[] = {
    {"queries", WEB_VALUE_TEXT, false, 0, "JSON: queries by their keys."},
    {"extend", WEB_VALUE_TEXT, false, 0, "JSON: ids and properties."},
    {0}};
static const struct web_parameter_row suggest_parameters[] = {
    {"prefix", WEB_VALUE_TEXT, true, 0, "What has been typed."}, {0}};
static const struct web_parameter_row resource_parameters[] = {
    {"uri", WEB_VALUE_IRI, true, 0, "The resource."},
    {"format", WEB_VALUE_TEXT, false, 0, "html, or as of /sparql."},
    {0}};
static const struct web_parameter_row suggest_words[] = {
    {"q", WEB_VALUE_TEXT, true, 0, "What has been typed."}, {0}};
static const struct web_parameter_row preview_parameters[] = {
    {"id", WEB_VALUE_IRI, true, 0, "The entity."}, {0}};
static const struct web_parameter_row type_parameters[] = {
    {"type", WEB_VALUE_IRI, true, 0, "A class."},
    {"limit", WEB_VALUE_NUMBER, false, HITS_MOST, "The most properties; 10 when it is not said."},
    {0}};
static const struct web_parameter_row document_parameters[] = {
    {"url", WEB_VALUE_IRI, true, 0, "Of the document."},
    {"field", WEB_VALUE_TEXT, false, 0, "Taken: all fields are given."},
    {"output", WEB_VALUE_TEXT, false, 0, "json."},
    {"pretty", WEB_VALUE_TEXT, false, 0, "With line ends."},
    {0}};

static const struct web_parameter_row ping_parameters[] = {
    {"url", WEB_VALUE_TEXT, false, 0, "URLs, a line each; may be repeated. Or they are the body."},
    {0}};
static const struct web_parameter_row receipt_parameters[] = {
    {"page", WEB_VALUE_NUMBER, false, PAGES_MOST, "From 1 on; 20 URLs on each."},
    {"format", WEB_VALUE_TEXT, false, 0, "html or json, in place of Accept."},
    {0}};
static const struct web_parameter_row indexnow_parameters[] = {
    {"url", WEB_VALUE_IRI, false, 0, "What was added, changed or removed."},
    {"key", WEB_VALUE_TEXT, false, 0, "8 to 128 letters, digits and hyphens."},
    {"keyLocation", WEB_VALUE_IRI, false, 0, "Where the key file is, when not at /KEY.txt."},
    {0}};

const struct web_route web_routes[] = {
    {"/", WEB_GET, web_front, "search", "Where one begins", NULL, "text/html", NULL},
    {"/status", WEB_GET, web_status, "status", "Where the crawl stands", NULL, "text/html", NULL},
    {"/status.json", WEB_GET, web_status_json, "status", "The same as JSON", NULL,
     "application/json", NULL},
    {"/status/history", WEB_GET, web_status_history, "status", "Its figures over time",
     history_parameters, "application/json", NULL},
    {"/metrics", WEB_GET, web_metrics, "status", "Figures for Prometheus", NULL, "text/plain",
     NULL},
    {"/health", WEB_GET, web_health, "status", "Whether the index answers", NULL,
     "application/json", NULL},
    {"/openapi.json", WEB_GET, web_openapi, "status", "This description", NULL, "application/json",
     NULL},
    {"/search", WEB_GET, web_search, "search", "What has the words, ranked", search_parameters,
     LOOKUP_TYPES, NULL},
    {"/resource", WEB_GET, web_resource, "search", "What is said of a resource, and by whom",
     resource_parameters, "text/html " GRAPH_TYPES, NULL},
    {"/suggest", WEB_GET, web_suggest, "search", "Completes the last word", suggest_words,
     "application/x-suggestions+json", NULL},
    {"/lookup", WEB_GET, web_lookup, "search", "Documents or resources, ranked", lookup_parameters,
     LOOKUP_TYPES, NULL},
    {"/query/v1/lookup", WEB_GET, web_sindice_lookup, "sindice", "Lookup by value, URI or word",
     sindice1_parameters, LOOKUP_TYPES, NULL},
    {"/v2/search", WEB_GET, web_sindice_search2, "sindice", "Search, version 2",
     sindice2_parameters, LOOKUP_TYPES, NULL},
    {"/v3/search", WEB_GET, web_sindice_search3, "sindice", "Search, version 3",
     sindice3_parameters, LOOKUP_TYPES, NULL},
    {"/v3/cache", WEB_GET, web_sindice_cache, "sindice", "The triples of a document",
     document_parameters, "application/json", NULL},
    {"/v2/live", WEB_GET, web_sindice_live, "sindice", "The same as bindings, from the index",
     document_parameters, "application/json", NULL},
    {"/reconcile", WEB_GET | WEB_POST, web_reconcile, "reconciliation",
     "Version 0.2: manifest, queries, extension", reconcile_parameters, "application/json", NULL},
    {"/reconcile/properties", WEB_GET, web_reconcile_properties, "reconciliation",
     "Version 0.2: properties of a class", type_parameters, "application/json", NULL},
    {"/reconcile/1.0", WEB_GET, web_reconcile_manifest, "reconciliation", "Version 1.0: manifest",
     NULL, "application/json", NULL},
    {"/reconcile/1.0/match", WEB_POST, web_reconcile_match, "reconciliation",
     "Version 1.0: queries", NULL, "application/json", "application/json"},
    {"/reconcile/1.0/extend", WEB_POST, web_reconcile_extend, "reconciliation",
     "Version 1.0: values of properties", NULL, "application/json", "application/json"},
    {"/reconcile/1.0/extend/propose", WEB_GET, web_reconcile_properties, "reconciliation",
     "Version 1.0: properties of a class", type_parameters, "application/json", NULL},
    {"/reconcile/suggest/entity", WEB_GET, web_reconcile_suggest, "reconciliation",
     "Suggests entities", suggest_parameters, "application/json", NULL},
    {"/reconcile/suggest/type", WEB_GET, web_reconcile_suggest, "reconciliation",
     "Suggests classes", suggest_parameters, "application/json", NULL},
    {"/reconcile/suggest/property", WEB_GET, web_reconcile_suggest, "reconciliation",
     "Suggests properties", suggest_parameters, "application/json", NULL},
    {"/reconcile/preview", WEB_GET, web_reconcile_preview, "reconciliation",
     "A small page of an entity", preview_parameters, "text/html", NULL},
    {"/reconcile/1.0/suggest/entity", WEB_GET, web_reconcile_suggest, "reconciliation",
     "Suggests entities", suggest_parameters, "application/json", NULL},
    {"/reconcile/1.0/suggest/type", WEB_GET, web_reconcile_suggest, "reconciliation",
     "Suggests classes", suggest_parameters, "application/json", NULL},
    {"/reconcile/1.0/suggest/property", WEB_GET, web_reconcile_suggest, "reconciliation",
     "Suggests properties", suggest_parameters, "application/json", NULL},
    {"/reconcile/1.0/preview", WEB_GET, web_reconcile_preview, "reconciliation",
     "A small page of an entity", preview_parameters, "text/html", NULL},
    {"/v2/ping", WEB_POST, web_ping_post, "publishing", "URLs that are to be fetched",
     ping_parameters, "application/json", "text/plain application/x-www-form-urlencoded"},
    {"/xmlrpc/api", WEB_POST, web_ping_xmlrpc, "publishing",
     "XML-RPC: weblogUpdates.ping, weblogUpdates.extendedPing", NULL, "text/xml", "text/xml"},
    {"/indexnow", WEB_GET | WEB_POST, web_indexnow, "publishing", "IndexNow", indexnow_parameters,
     "application/json", "application/json"},
    {"/ping", WEB_GET, web_ping_page, "ping", "Where people tell of pages", NULL, "text/html",
     NULL},
    {"/ping/", WEB_GET, web_ping_receipt, "publishing", "What became of a ping", receipt_parameters,
     "application/json text/html", NULL},
    {"/mcp", WEB_POST, web_mcp, "mcp", "Model Context Protocol", NULL, "application/json",
     "application/json"},
    {"/meta", WEB_GET, web_meta, "documents", "What is known of a document or host", uri_parameter,
     "text/turtle text/html", NULL},
    {"/identity", WEB_GET, web_identity, "search", "Who is the same as a resource, and why",
     identity_parameters, "text/html application/json", NULL},
    {"/document", WEB_GET, web_document, "documents",
     "What a document says, how it came and what became of it", document_page_parameters,
     "text/html " GRAPH_TYPES, NULL},
    {"/changes", WEB_GET, web_changes, "documents",
     "What a document's last change added and removed", changes_parameters,
     "text/html application/json", NULL},
    {"/archived", WEB_GET, web_archived, "documents", "What a document's server sent",
     archived_parameters, "text/plain application/octet-stream", NULL},
    {"/sparql/terms", WEB_GET, web_query_terms, "sparql",
     "Predicates, classes and prefixes that complete queries", terms_parameters, "application/json",
     NULL},
    {"/validate", WEB_GET | WEB_POST, web_validate, "documents",
     "Whether properties and classes are published as linked data; a POST has what is not known "
     "fetched",
     validate_parameters,
     "text/html application/json text/turtle application/n-triples application/n-quads "
     "application/rdf+xml application/ld+json",
     NULL},
    {"/report", WEB_GET, web_report, "documents",
     "What was found on a site's pages, and what to mend", report_parameters,
     "text/html application/json text/tab-separated-values", NULL},
    {"/inspect", WEB_GET | WEB_POST, web_inspect, "documents",
     "What is found in one document, and what to mend", inspect_parameters,
     "text/html application/json text/turtle application/n-triples application/n-quads "
     "application/rdf+xml application/ld+json image/svg+xml",
     "application/x-www-form-urlencoded text/turtle text/html application/ld+json "
     "application/rdf+xml application/octet-stream"},
    {"/void", WEB_GET, web_void, "documents", "The index in numbers", NULL, "text/turtle", NULL},
    {"/.well-known/void", WEB_GET, web_void, "documents", "The index in numbers", NULL,
     "text/turtle", NULL},
    {"/sparql", WEB_GET | WEB_POST, web_sparql, "sparql", "SPARQL 1.1 Protocol", sparql_parameters,
     QUERY_TYPES " text/html", "application/sparql-query application/sparql-update"},
    {"/graph", WEB_GET | WEB_POST | WEB_PUT | WEB_DELETE, web_graph, "sparql",
     "Graph Store Protocol", graph_parameters, GRAPH_TYPES, RDF_BODIES},
    {"/graph/", WEB_GET | WEB_POST | WEB_PUT | WEB_DELETE, web_graph, "sparql",
     "A graph that has this address as its URI", NULL, GRAPH_TYPES, RDF_BODIES},
    {"/assets/", WEB_GET, web_assets, "status", "Style sheet and scripts of the pages", NULL,
     "text/css text/javascript image/svg+xml", NULL},
    {"/favicon.ico", WEB_GET, web_assets, "status", "The icon", NULL, "image/svg+xml", NULL},
    {"/warc/", WEB_GET, web_archive, "documents", "Bytes of the archive's files, with ranges", NULL,
     "application/warc", NULL},
    {0},
};
