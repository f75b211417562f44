/* Decides who of many threads may run. There are few turns and many who want one; a turn that
 * somebody waits for is given back after a slice of time.
 *
 * The next turn is for whoever has run for less than TURN_SHORT_MS in all, so that what is soon
 * done does not stand behind what takes long; among these, and among all others, for the client
 * that has had least, and then for the thread that has. Each eighth turn is for those who have run
 * long, however many short ones there are. What a client has had is processor time while it has
 * threads here; one that comes counts as if it had had as much as the least of those present.
 *
 * Memory is shared as well: each takes half of what is left, so that the first have much, all
 * together have a bound, and nobody none. */
#ifndef INDEX_SERVE_TURNS_H
#define INDEX_SERVE_TURNS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TURN_SHORT_MS = 100 };

struct turns;
struct turn_client;

/* The turn of one thread; other threads only look at `memory`. */
struct turn {
    size_t memory;   /* what this one may use */
    size_t borrowed; /* of it, from what is shared */
    struct turns *turns;
    struct turn_client *client;
    const atomic_bool *cancelled;
    pthread_cond_t granted;
    struct turn *next; /* of those who wait */
    atomic_bool waits;
    bool held;
    uint64_t used_us; /* processor time in its turns */
    uint64_t cpu_us;  /* of the thread, and */
    uint64_t wall_ms; /* the moment, when this turn began */
};

/* most: turns at a time. memory: bytes that one may have at most, and `most` of them together but
 * for what nobody is refused. */
struct turns *turns_new(unsigned most, size_t memory);
void turns_free(struct turns *turns);

/* Whoever opened a turn takes part; the same client's share one account. */
void turn_open(struct turn *turn, struct turns *turns, uint64_t client,
               const atomic_bool *cancelled);
void turn_close(struct turn *turn);

/* Are called by the thread itself. Taking waits; what is cancelled goes on at once, to end. */
void turn_take(struct turn *turn);
void turn_give(struct turn *turn);
/* Steps back if others have waited for a slice of time; cheap. */
void turn_step(struct turn *turn);
/* A turn that nobody has or waits for can be lent to a second thread that works for the turn's own;
 * what it has had counts for the client. False: there is none. It is given back at once when
 * somebody waits. */
bool turn_may_lend(struct turn *turn);
bool turn_lend(struct turn *turn);
void turn_lent_back(struct turn *turn, uint64_t used_us);
bool turn_is_wanted(const struct turn *turn);
/* Processor time of the calling thread. */
uint64_t turn_cpu_us(void);
/* Has those who were cancelled stop waiting. */
void turns_wake(struct turns *turns);

#endif
