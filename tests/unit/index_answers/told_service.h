/* A service without a network, threads and a partition: the linker puts told_service.c in the place
 * of what its loop calls. The test hands it requests, moves its clock, and says what cursors have;
 * what it does is written down. */
#ifndef TESTS_UNIT_INDEX_ANSWERS_TOLD_SERVICE_H
#define TESTS_UNIT_INDEX_ANSWERS_TOLD_SERVICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index/protocol/service_protocol.h"
#include "index/serve/cursor.h"
#include "index/serve/index_service.h"
#include "index/serve/work_pool.h"
#include "index/write/patch.h"
#include "tests/unit/stand_in.h"

enum { TOLD_CURSORS_MOST = 24, TOLD_REQUESTS_MOST = 300 };

/* What the service opened, in the order in which it did. */
struct told_cursor {
    /* What a read gives; and whether the producer has ended. */
    enum status status;
    bool end, ended;
    const char *bytes;
    /* How it is by now. */
    bool open, cancelled;
    struct cursor_settings settings;
};
extern uint64_t told_first_id; /* the id of the first; the others count on */
extern struct told_cursor told_cursors[TOLD_CURSORS_MOST];
extern size_t told_cursor_count;
extern enum status told_cursor_status; /* of opening one */

extern struct service *told_service;
extern uint64_t told_now_ms;
extern struct buf told_log;     /* what was called and replied, a line for each */
extern int told_wait_ms;        /* for which the loop waits at most */
extern size_t told_publishes;   /* how often the publisher was woken */
extern uint64_t told_tended_ms; /* when sessions were last looked at */
extern bool told_in_cache;      /* lookups are answered from what was kept */
extern uint64_t told_batch;     /* of the partition's position */
extern struct work *told_work;  /* that is done, and */
extern struct patch *told_patches;
extern struct turns *told_turns[2]; /* for queries, and for what takes long */
extern struct threads *told_threads;

/* Starts the service, which may have so many cursors; fails where `failing` is the function. */
enum status told_start(unsigned cursors, const char *failing, bool published, struct reason *why);
/* Stops it; all it had is given back. */
void told_stop(void);
void told_begin(unsigned cursors); /* nothing fails */
int told_tear_down(void **state);
struct told_cursor *told_cursor(size_t number);
/* The cursor has these bytes, its last or not. */
void told_says(size_t number, const char *bytes, bool end);
/* The loop goes round once. */
void told_round(void);
/* The next round receives a request with these bytes. */
void told_ask(uint8_t verb, uint64_t incarnation, uint64_t id, struct slice payload);
/* Asks for an answer of a kind that answer_new is told by its second byte, in a round of its own:
 * 'q' a query, 'm' one that takes long, 'c' one for client 77, '!' one that is wrong. */
void told_open(uint64_t incarnation, uint64_t id, enum index_stream stream, char kind);
/* Asks for a piece of a cursor, in a round of its own. */
void told_next(uint64_t id, size_t cursor, uint64_t offset);
/* What was written down since the last time; empties the log. */
void told_expect(const char *text);

/* ---- what told_service.c and told_parts.c share ---- */

extern max_align_t told_places[13]; /* where the parts of the service would be */
#define PLACE(type, number) ((struct type *)(void *)&told_places[number])
#define LOG(...) (void)buf_printf(&told_log, __VA_ARGS__)
extern const struct service_options *told_options;
extern unsigned told_made; /* things that are not given back */
extern int told_announced; /* descriptor that the partition announces to */
/* Fails when it is the call that is to. */
enum status told_fails(const char *call, struct reason *why);

#endif
