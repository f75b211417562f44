/* When each host may be asked again, as this process knows it. The lanes of the queue keep jobs of
 * a host apart; this keeps requests apart: robots.txt from the first page, and those robots.txt
 * that another host's redirects to this one. Hosts are fingerprints of their origin. Only those
 * that are being asked or rest are held. One thread. */
#ifndef STAGES_FETCH_RESTS_H
#define STAGES_FETCH_RESTS_H

#include <stdbool.h>
#include <stdint.h>

struct rests;

/* A place in the line of a host; belongs to who waits. */
struct rests_turn {
    struct rests_turn *next;
    void *context;
};

struct rests *rests_new(void);
void rests_free(struct rests *rests); /* NULL is allowed */
/* Returns how long a host that is not busy still rests; 0 when it may be asked now. */
uint64_t rests_wait_ms(const struct rests *rests, uint64_t host, uint64_t now_ms);
bool rests_is_busy(const struct rests *rests, uint64_t host);
/* Waits for the end of the request to a busy host. */
void rests_line_up(struct rests *rests, uint64_t host, struct rests_turn *turn);
/* The first in line leaves it. NULL: none, or the host is busy. */
struct rests_turn *rests_next(struct rests *rests, uint64_t host);
/* Takes the next turn out of the line of a host although the host is busy; NULL when there is none.
 */
struct rests_turn *rests_leave(struct rests *rests, uint64_t host);
void rests_begin(struct rests *rests, uint64_t host, uint64_t now_ms);
void rests_end(struct rests *rests, uint64_t host, uint64_t now_ms);
/* Not before due_ms; never earlier than was said before. */
void rests_until(struct rests *rests, uint64_t host, uint64_t due_ms, uint64_t now_ms);

#endif
