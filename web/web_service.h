/* The state that the handlers work with. It is shared by all connections' threads: all that changes
 * is the pool of index clients, behind its lock, and threads that are kept. */
#ifndef WEB_WEB_SERVICE_H
#define WEB_WEB_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "index/client/index_client.h"
#include "queue/cluster/cluster.h"
#include "web/http/server.h"
#include "web/queries.h"

struct metastore_client;
struct web_ping;
struct status_recorder;

struct web_service {
    const char *directory;
    const struct opt_set *options;
    const struct cluster *cluster;
    struct cluster_services metastores, queues, indexes;
    int archive; /* DIR/warc; -1: there is none yet */
    pthread_mutex_t lock;
    struct index_client **idle; /* not in use at the moment */
    size_t idle_count;
    _Atomic uint64_t answered_ms; /* monotonic; when the index last answered */
    struct threads *threads;      /* in which answers are made while they are sent */
    size_t most;                  /* queries at a time */
    uint64_t result_most;         /* bytes of a result that waits until it is whole */
    struct web_queries *queries;
    struct web_ping *ping; /* what publishers tell */
    struct status_recorder *recorder;
    const struct web_route *routes; /* that it has, and describes */
};

enum status web_service_open(struct web_service **service, const char *directory,
                             const struct opt_set *options, const struct cluster *cluster,
                             struct reason *why);
void web_service_close(struct web_service *service);

/* AGAIN when a part ("index", "metastore", "queue") is one of this machine's and neither runs nor
 * is about to: nobody need wait for its answer. */
enum status web_check_part(const struct web_service *service, const char *part, struct reason *why);
/* Logs which are so. */
void web_tell_missing(const struct web_service *service);

/* A place among the queries under way, to be given back. NULL: all are taken; the reply says so. */
struct web_query *web_query_take(struct web_service *service, const struct web_request *request,
                                 struct web_reply *reply);
void web_query_give(struct web_service *service, struct web_query *query);

/* An index client to be given back; healthy false: it is closed instead. Needs a place. */
enum status web_index_take(struct web_service *service, struct index_client **client,
                           struct reason *why);
void web_index_give(struct web_service *service, struct index_client *client, bool healthy);

/* Reads what the request wants done about partitions that are down. Returns false when the request
 * has a wrong value, which the reply says. */
bool web_partial(const struct web_request *request, struct web_reply *reply, bool *warn);
/* A header Quadrille-Partial for each partition that the client's last call went without. */
void web_reply_missing(struct web_reply *reply, const struct index_client *client);

/* For web_parameters: appends the value and a newline to a struct buf. */
web_visit web_add_line;

/* The reply for a failed call: 400, 404, 503, 504 or 500. */
void web_reply_failure(struct web_reply *reply, enum status status, const struct reason *why);

/* Returns whether the request comes from a page of another site, as browsers say. */
bool web_is_foreign(const struct web_request *request);
/* Returns whether web.update lets the request change data: of who has the token, or programs on
 * this machine that are no page of another site.
 */
bool web_may_write(const struct web_service *service, const struct web_request *request);

/* Returns whether the request has the token of web.update_token. */
bool web_has_token(const struct web_service *service, const struct web_request *request);

/* Begins at once to wait for key files that receipts wait for (web/ping/). */
struct web_ping *web_ping_open(struct web_service *service);
void web_ping_close(struct web_ping *ping); /* NULL is allowed */

/* Begins to take the samples of the status page, and answers /health (web/pages/). */
struct status_recorder *status_recorder_open(struct web_service *service);
void status_recorder_close(struct status_recorder *recorder); /* NULL is allowed */

/* A client of the metadata store, to be closed. */
enum status web_metastore_open(struct web_service *service, struct metastore_client **client,
                               struct reason *why);
/* Tells whether what was archived is for everybody: not in a cluster with keys, nor with
 * web.archive=no. */
bool web_gives_archive(const struct web_service *service);
/* Finds what the metadata store knows of a document, or of a host by its origin: the record with
 * its key (metastore/record.h; both buf_init'ed), or Turtle. NOT_FOUND: nothing. */
enum status web_document_fields(struct web_service *service, struct slice uri, struct buf *key,
                                struct buf *record, struct reason *why);
enum status web_document_record(struct web_service *service, struct slice uri, struct buf *turtle,
                                struct reason *why);

extern const struct web_route web_routes[]; /* routes.c */

web_handle web_archive;        /* bytes of this node's WARC files, with ranges */
web_handle web_meta;           /* what is known of a URI or host, Turtle */
web_handle web_sparql;         /* the SPARQL 1.1 protocol */
web_handle web_graph;          /* the Graph Store Protocol */
web_handle web_search;         /* keyword search */
web_handle web_identity;       /* who is the same as a resource, and why */
web_handle web_validate;       /* whether properties and classes can be looked up */
web_handle web_report;         /* what was found on a site, and what to mend */
web_handle web_inspect;        /* what is found in one document, without indexing it */
web_handle web_resource;       /* what is said of a resource, and what links to it */
web_handle web_suggest;        /* words that begin so */
web_handle web_front;          /* where one begins */
web_handle web_query_page;     /* a query, and its answer as a table */
web_handle web_query_terms;    /* names that complete a query */
web_handle web_document;       /* a document: what it says, how it came, what became of it */
web_handle web_changes;        /* what its last change added and removed */
web_handle web_ping_page;      /* where people tell of pages */
web_handle web_archived;       /* what its server sent */
web_handle web_void;           /* the index in numbers, Turtle */
web_handle web_status;         /* where the crawl stands, a page */
web_handle web_status_json;    /* the same as JSON */
web_handle web_status_history; /* its figures over time */
web_handle web_metrics;        /* the same for Prometheus */
web_handle web_health;         /* whether the parts answer */
web_handle web_lookup;         /* who speaks of a URI, has a value, has words */
web_handle web_sindice_lookup, web_sindice_search2, web_sindice_search3, web_sindice_cache,
    web_sindice_live;
web_handle web_reconcile, web_reconcile_manifest, web_reconcile_match, web_reconcile_extend,
    web_reconcile_suggest, web_reconcile_properties, web_reconcile_preview;
web_handle web_mcp; /* the Model Context Protocol */
web_handle web_ping_post, web_ping_xmlrpc, web_indexnow, web_ping_receipt;
web_handle web_openapi; /* the table of routes as OpenAPI 3.1 */
/* POST of an update to /sparql. direct: it is the body, not a field of a form. */
void web_update(struct web_service *service, const struct web_request *request, bool direct,
                struct web_reply *reply);

#endif
