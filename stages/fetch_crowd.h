/* How many transfers are under way at each address. The queue holds the hosts of one address to
 * queue.group_parallel, but learns a host's address only from its first job's end; until then the
 * process that connects counts for itself, and sends back jobs that are too many. What was last
 * known of a host is kept in a table of fixed size; forgetting it costs at worst a job that is sent
 * back. Any thread.
 *
 * Addresses are fingerprints of their text, hosts numbers by digest_local; 0: not known, never
 * full. */
#ifndef STAGES_FETCH_CROWD_H
#define STAGES_FETCH_CROWD_H

#include <stdbool.h>
#include <stdint.h>

struct crowd;

struct crowd *crowd_new(uint32_t limit); /* 0: none */
void crowd_free(struct crowd *crowd);    /* NULL is allowed */
bool crowd_is_full(struct crowd *crowd, uint64_t address);
/* A transfer is counted at another address; 0: at none. */
void crowd_move(struct crowd *crowd, uint64_t from, uint64_t to);
void crowd_learn(struct crowd *crowd, uint64_t host, uint64_t address);
uint64_t crowd_address(struct crowd *crowd, uint64_t host); /* 0: not known */

#endif
