/* Servers of tests in processes of their own, so that they can be killed as real ones are. A fork
 * server, forked before there is any thread, forks them: a process that was forked beside ZeroMQ's
 * threads may find a lock of the sanitizers' allocator taken for ever. */
#ifndef TESTS_UNIT_BASE_RPC_SERVERS_H
#define TESTS_UNIT_BASE_RPC_SERVERS_H

#include <sys/types.h>

#include "base/rpc/rpc.h"
#include "tests/unit/scratch.h"

enum verb {
    VERB_ECHO = 1,  /* payload back */
    VERB_FAIL,      /* STATUS_FULL with the payload as the reason */
    VERB_SLOW,      /* echo after 300 ms, other requests meanwhile waiting */
    VERB_DIE,       /* the server kills itself before it answers, the first time */
    VERB_CLIENT,    /* client name */
    VERB_MUTE_ONCE, /* no answer to the first sending, echo to the second */
    VERB_LARGE,     /* more than an answer may have, when there is a payload; else as much */
};

/* Where they are: a scratch folder, their socket in it as an address and as a path, and a file that
 * tells what happens the first time. */
struct rpc_place {
    char folder[SCRATCH_SIZE], endpoint[SCRATCH_SIZE + 48];
    char socket[SCRATCH_SIZE + 32], marker[SCRATCH_SIZE + 32];
};
extern struct rpc_place rpc_place;

/* Set up and tear down of a group: folder and fork server. Before any thread. */
int rpc_place_make(void **state);
int rpc_place_remove(void **state);
/* Tear down of a test. */
int rpc_marker_remove(void **state);

/* Each server is to be stopped. keys: NULL for none. */
pid_t server_start(const char *address, const struct rpc_keys *keys);
/* One that serves only once the marker is there. */
pid_t server_start_after_marker(void);
void server_stop(pid_t server);

/* Groups of tests that have files of their own; each returns how many failed. */
int rpc_publishers_run(void);
int rpc_texts_run(void);
int rpc_faults_run(void);

#endif
