/* When each host may be asked again, as this process knows it. The lanes of the queue keep jobs of
 * a host apart; this keeps requests apart: robots.txt from the first page, and those robots.txt
 * that another host's redirects to this one. Hosts are fingerprints of their origin. Only those
 * that are being asked or rest are held. One thread. */
#ifndef STAGES_FETCH_RESTS_H
#define STAGES_FETCH_RESTS_H

#include <stdbool.h>
#include <stdint.h>

struct rests;

struct rests *rests_new(void);
void rests_free(struct rests *rests); /* NULL is allowed */
/* 0: now. Else ms after which it is worth asking again. */
uint64_t rests_wait_ms(const struct rests *rests, uint64_t host, uint64_t now_ms);
void rests_begin(struct rests *rests, uint64_t host, uint64_t now_ms);
void rests_end(struct rests *rests, uint64_t host, uint64_t now_ms);
/* Not before due_ms; never earlier than was said before. */
void rests_until(struct rests *rests, uint64_t host, uint64_t due_ms, uint64_t now_ms);

#endif
