/* What is around a keeper (index/write/keeper.h) that runs in the thread of the test: the stores,
 * the clock and the threads. Each writes down what is asked of it; what comes while the keeper
 * waits is told before. */
#ifndef TESTS_UNIT_INDEX_WRITE_KEEPER_WORLD_H
#define TESTS_UNIT_INDEX_WRITE_KEEPER_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index/write/partition_state.h"

enum { PAUSE_S = 7, NOW_S = 5000, NOW_NS = 77, CALLS_ROOM = 2048 };

struct world {
    struct partition partition;
    pthread_mutex_t mutex, writer;
    char calls[CALLS_ROOM];
    const char *waits;     /* what each wait of the keeper ends with, by letters: come() */
    const char *fails;     /* the call that fails, with this status, so often */
    const char *meanwhile; /* a call, and the letter of what comes during the first one */
    enum status status;
    int times;
    uint64_t next, written, step; /* of the keyword index; literals that it takes at once */
    bool full, broken, missing;
    uint64_t staged, gathered;
    int pieces; /* of what is gathered */
    int paused; /* of the watchdog */
    int settling;
    void *(*run)(void *argument);
    void *argument;
    char things[3]; /* whose addresses stand for stores */
};
extern struct world world;

/* A keeper that is started; ten literals are found, eight of them are in the tree of words. */
void world_begin(void);
void world_end(void);

#endif
