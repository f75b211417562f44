/* Finds what became of a URL that was pinged, from the records of queue and metadata store
 * alone. */
#ifndef WEB_PING_FINDING_H
#define WEB_PING_FINDING_H

#include "queue/client/queue_client.h"
#include "web/ping/ping.h"

enum finding_state {
    FINDING_QUEUED,   /* it waits to be fetched */
    FINDING_FETCHING, /* a fetch process has it */
    FINDING_FETCHED,  /* it is on its way to the index */
    FINDING_INDEXED,  /* the index has it */
    FINDING_ENDED,    /* it ended before the index; outcome and reason say how */
    FINDING_LOST,     /* the queue does not know it */
    FINDING_STATES
};
extern const char *const finding_names[FINDING_STATES];

enum { FINDING_HOPS = 10 };

struct finding {
    enum finding_state state;
    bool final;                              /* nothing more comes of this ping */
    char outcome[64];                        /* a word: "unchanged", "gone"; empty: none yet */
    char reason[REASON_SIZE];                /* for people; empty: none */
    struct buf document;                     /* where redirects led; empty: nowhere else */
    uint64_t fetched_ms, indexed_ms, status; /* 0: not known */
    uint64_t quads;                          /* in the document */
    char type[128];                          /* media type that was detected */
};
void finding_release(struct finding *finding);

/* Holds what is known of a URI, and where it stands in the frontier. */
struct finding_look {
    bool known, waiting, scheduled, found, leased;
    uint64_t generation;
};
/* Fills state, final, outcome, reason and the numbers. look NULL: the record tells. */
void finding_judge(struct finding *finding, struct slice record, const struct finding_look *look);

struct finding_clients {
    struct web_service *service;
    struct metastore_client *metastore;
    struct queue_client **queues; /* of each node; opened when first asked */
};
enum status finding_clients_open(struct finding_clients *clients, struct web_service *service,
                                 struct reason *why);
void finding_clients_close(struct finding_clients *clients);
/* Looks at a URI of a ping of since_ms. */
enum status finding_read(struct finding_clients *clients, struct slice uri, uint64_t since_ms,
                         struct finding *finding, struct reason *why);

#endif
