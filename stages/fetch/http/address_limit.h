/* Counts how many transfers are under way at each address. The queue holds the hosts of one address
 * to queue.group_parallel, but learns a host's address only from its first job's end; until then
 * the process that connects counts for itself, and sends back jobs that are too many. Any thread.
 *
 * Addresses are fingerprints of their text; 0: not known, never full. */
#ifndef STAGES_FETCH_HTTP_ADDRESS_LIMIT_H
#define STAGES_FETCH_HTTP_ADDRESS_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct address_limit;

struct address_limit *address_limit_new(uint32_t limit);      /* 0: none */
void address_limit_free(struct address_limit *address_limit); /* NULL is allowed */
bool address_limit_is_full(struct address_limit *address_limit, uint64_t address);
/* A transfer is counted at another address; 0: at none. */
void address_limit_move(struct address_limit *address_limit, uint64_t from, uint64_t to);

#endif
