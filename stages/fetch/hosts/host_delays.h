/* When each host may be asked again, as this process knows it, and the pace of those whose tasks
 * are in hand. The lanes of the queue keep jobs of a host apart; this keeps requests apart:
 * robots.txt from the first page, and those robots.txt that another host's redirects to this one.
 * Hosts are fingerprints of their origin. Only those that have tasks, are being asked or rest are
 * held. One thread. */
#ifndef STAGES_FETCH_HOSTS_HOST_DELAYS_H
#define STAGES_FETCH_HOSTS_HOST_DELAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "queue/politeness/pace.h"

struct host_delays;

/* A place in the line of a host; belongs to who waits. */
struct host_delays_turn {
    struct host_delays_turn *next;
    void *context;
};

struct host_delays *host_delays_new(void);
void host_delays_free(struct host_delays *host_delays); /* NULL is allowed */
/* A task of the host begins. The first one brings the pace that the queue has handed out; until the
 * last one has ended, and reports what it was told, it is learned here. */
void host_delays_join(struct host_delays *host_delays, uint64_t host, const struct pace *handed,
                      uint64_t now_ms);
void host_delays_part(struct host_delays *host_delays, uint64_t host);
/* Valid until the next call. */
struct pace *host_delays_pace(struct host_delays *host_delays, uint64_t host);
/* Returns how long a host that is not busy still rests; 0 when it may be asked now. */
uint64_t host_delays_wait_ms(const struct host_delays *host_delays, uint64_t host, uint64_t now_ms);
bool host_delays_is_busy(const struct host_delays *host_delays, uint64_t host);
/* Waits for the end of the request to a busy host. */
void host_delays_line_up(struct host_delays *host_delays, uint64_t host,
                         struct host_delays_turn *turn);
/* The first in line leaves it. NULL: none, or the host is busy. */
struct host_delays_turn *host_delays_next(struct host_delays *host_delays, uint64_t host);
/* Takes the next turn out of the line of a host although the host is busy; NULL when there is none.
 */
struct host_delays_turn *host_delays_leave(struct host_delays *host_delays, uint64_t host);
void host_delays_begin(struct host_delays *host_delays, uint64_t host, uint64_t now_ms);
void host_delays_end(struct host_delays *host_delays, uint64_t host, uint64_t now_ms);
/* Not before due_ms; never earlier than was said before. */
void host_delays_until(struct host_delays *host_delays, uint64_t host, uint64_t due_ms,
                       uint64_t now_ms);

#endif
