/* When each host may be asked again, as this process knows it. The lanes of the queue keep jobs of
 * a host apart; this keeps requests apart: robots.txt from the first page, and those robots.txt
 * that another host's redirects to this one. Hosts are fingerprints of their origin. Only those
 * that are being asked or rest are held. One thread. */
#ifndef STAGES_FETCH_HOSTS_HOST_DELAYS_H
#define STAGES_FETCH_HOSTS_HOST_DELAYS_H

#include <stdbool.h>
#include <stdint.h>

struct host_delays;

/* A place in the line of a host; belongs to who waits. */
struct host_delays_turn {
    struct host_delays_turn *next;
    void *context;
};

struct host_delays *host_delays_new(void);
void host_delays_free(struct host_delays *host_delays); /* NULL is allowed */
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
