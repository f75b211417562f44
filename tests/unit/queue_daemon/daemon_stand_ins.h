/* This stands in for broker, sockets, stores, files and clocks around the queue daemon. They tell
 * what was asked of them as lines of a trace, and answer as their variables say. */
#ifndef TESTS_UNIT_QUEUE_DAEMON_DAEMON_STAND_INS_H
#define TESTS_UNIT_QUEUE_DAEMON_DAEMON_STAND_INS_H

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "config/scope_change.h"
#include "config/scope_file.h"
#include "metastore/metastore_client.h"
#include "queue/client/message.h"
#include "queue/daemon/daemon_scope.h"
#include "queue/daemon/metadata_intake.h"
#include "queue/daemon/node_links.h"
#include "queue/daemon/queue_daemon.h"
#include "tests/unit/scratch.h"

enum {
    TRACE = 1 << 20,
    NODES = 3,
    NODES_MOST = 8,
    WALL_MS = 1000000,
    POSTS = 16,
    REQUESTS = 8,
    TEXT = 256
};

struct rpc_client {
    int node;
};
struct metastore_client {
    int descriptor;
};
struct stood_in_metadata {
    const char *key, *fields;
};
struct stood_in_files {
    uint64_t version;
    enum status read, told, write;
    bool whole;
};

extern struct stood_in_metadata metadata[4];
extern struct stood_in_files files;
extern struct buf trace;
extern uint64_t now_ms;
extern int client_wait_ms[NODES_MOST], client_fails;
extern int outgoing;          /* node for which something waits, */
extern size_t outgoing_bytes; /* and how much */
extern int processed[NODES_MOST];
extern uint64_t scope_in_force, broker_wait;
extern broker_answer *answers;
extern void *answers_context;
extern enum status open_status, work_status;
extern int work_left; /* calls until work_status */
extern size_t metadata_count;
extern void *submitted[REQUESTS];
extern size_t submitted_count;
extern size_t room;
extern struct metastore_client store;
extern enum status store_status;
extern int store_wait_ms;
extern size_t put_count;
extern char folder[SCRATCH_SIZE];
extern struct rpc_request *to_come;
extern size_t come, come_count;
extern enum status bind_status;
extern int bind_failures;
extern unsigned binds;
extern int polls_left; /* before a signal comes */
extern int readable;
extern struct cluster *cluster;
extern void (*between)(void);
extern int broker_there;
#define BROKER ((struct broker *)(void *)&broker_there)

/* Since the last of these calls. */
void assert_trace(const char *text);
/* Ends what was posted, or put, as the so-manieth. */
void answer_post(size_t at, enum status status, struct slice payload, const char *text);
void end_put(size_t at, enum status status);
/* Are run before and after each test. */
int set_up(void **state);
int tear_down(void **state);
/* Reads `cluster`: nodes n0, n1 ..., of which self is this one. */
void read_cluster(size_t nodes, const char *self);

#endif
