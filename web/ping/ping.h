/* Shared by the parts of this folder; not for others. docs/PING.md says what they do together.
 *
 *   ping.c           what is kept open; who may ping
 *   ping_jobs.c      URLs into the queue
 *   ping_batch.c     the URLs of one ping: their crawl keys, the scope, the limits
 *   ping_http.c      POST of URLs, XML-RPC
 *   indexnow_http.c  IndexNow
 *   key_proof.c      what the archive has of a key file
 *   key_watch.c      the thread that waits for key files
 *   finding.c        what became of a URL
 *   receipt_page.c   a receipt as JSON and as a page */
#ifndef WEB_PING_PING_H
#define WEB_PING_PING_H

#include <jansson.h>
#include <pthread.h>

#include "base/map.h"
#include "crawl/scope.h"
#include "crawl/url_rules.h"
#include "metastore/metastore_client.h"
#include "queue/client/queue_client.h"
#include "web/ping/ping_limits.h"
#include "web/ping/receipts.h"
#include "web/web_service.h"

enum { PING_ANSWER_MS = 5000, PING_RECORD_BYTES = 32 << 20, PING_SENDER_SIZE = 64 };

struct key_watch;

struct web_ping {
    struct web_service *service;
    struct receipts *receipts;
    struct key_watch *watch;
    pthread_mutex_t lock; /* of all that follows */
    struct ping_limits *limits;
    struct scope *scope; /* NULL: not opened yet */
    struct url_rules rules;
    bool rules_open;
    uint64_t refreshed_ms; /* monotonic: when the scope was last looked at */
};

/* Tells who pings: what the request says of him. */
struct ping_sender {
    bool trusted; /* he has the token */
    uint64_t who;
    char address[PING_SENDER_SIZE];
};
/* False: he may not; the reply says why. */
bool ping_allowed(struct web_service *service, const struct web_request *request,
                  struct ping_sender *sender, struct web_reply *reply);

/* ---- the URLs of one ping ---- */

struct ping_batch {
    struct web_ping *ping;
    struct buf uris; /* crawl keys that may be fetched, a line each */
    size_t count;
    struct ping_claim *hosts; /* how many of each */
    size_t host_count, host_capacity;
    struct map places; /* of hosts, by their hashes */
    json_t *refused;   /* objects with url and reason; the first of them */
    size_t refused_count;
    size_t malformed; /* of these */
};
/* AGAIN, MISUSE: where the crawl may go is not known. */
enum status ping_batch_open(struct ping_batch *batch, struct web_ping *ping, struct reason *why);
void ping_batch_release(struct ping_batch *batch);
/* Adds a URL, or what is wrong with it. LIMIT: there are RECEIPT_URIS_MOST already. */
enum status ping_batch_add(struct ping_batch *batch, struct slice url, struct reason *why);
/* Its crawl key, whatever the scope says. */
enum status ping_batch_key(struct ping_batch *batch, struct slice url, struct buf *key,
                           struct reason *why);
/* 0, or in how many seconds so many URLs may be pinged. proved: a hash of the key that was proved;
 * 0: none was. */
uint64_t ping_batch_claim(struct ping_batch *batch, const struct ping_sender *sender,
                          uint64_t proved);

/* ---- into the queue ---- */

/* Lines of crawl keys, to be fetched. */
enum status ping_put(struct web_service *service, struct slice uris, bool proved,
                     struct reason *why);
/* Jobs of any kind. */
enum status ping_put_jobs(struct web_service *service, const struct job *jobs, size_t n,
                          struct reason *why);

/* ---- keys ---- */

struct key_answer {
    enum receipt_proof proof; /* AWAITED, GIVEN or WRONG */
    bool fetch;               /* AWAITED, and nobody has asked for the file yet */
    struct reason told;       /* WRONG: why */
};
/* Returns what the archive has of a key file, if that is new enough for a ping of since_ms. */
enum status key_proof(struct web_service *service, struct slice key_file, struct slice key,
                      uint64_t since_ms, struct key_answer *answer, struct reason *why);
/* Has the key file fetched, by the rules that hold for all documents. */
enum status key_fetch(struct web_service *service, struct slice key_file, struct reason *why);

struct key_watch *key_watch_open(struct web_ping *ping);
void key_watch_close(struct key_watch *watch); /* NULL is allowed */
/* False: too many wait already. */
bool key_watch_has_room(struct key_watch *watch);
/* False: there is no place; the receipt is taken up when places are free. */
bool key_watch_add(struct key_watch *watch, const char *name);

/* ---- replies ---- */

/* 429. */
void ping_reply_wait(struct web_reply *reply, uint64_t seconds);
/* The receipt's address and what of the ping was refused. */
void ping_reply_taken(const struct web_request *request, const struct ping_batch *batch,
                      unsigned status, const char *name, const char *verified,
                      struct web_reply *reply);

#endif
