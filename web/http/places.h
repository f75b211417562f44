/* Decides who may hold connections, and for how long.
 *
 * A place waits while its request has not come whole, and then answers until the reply has left.
 *
 *   waiting --whole request--> answering --reply sent--> waiting
 *
 * A place that waits longer than request_ms is ended, however many bytes come meanwhile; so is one
 * that takes a reply more slowly than reply_rate. Where all places are taken, or all of one
 * address, a newcomer is let in and the one that has waited longest makes way; the newcomer is
 * refused only while all of them are being answered. Nodes of the crawl have places of their own
 * when the others are taken, and no limit for each address.
 *
 * A connection is ended by shutting its socket down, which its own thread then sees. */
#ifndef WEB_HTTP_PLACES_H
#define WEB_HTTP_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/slice.h"

struct web_places_limits {
    unsigned connections; /* at a time */
    unsigned of_address;  /* of them, from one IPv4 address or one /64 of IPv6 */
    unsigned of_nodes;    /* beyond them, for nodes */
    uint64_t request_ms;  /* for a whole request */
    uint64_t reply_rate;  /* bytes each second that a client has to take; 0: any */
};

/* Tells who an address counts as. */
enum { WEB_ADDRESS_KEY = 16 };
void web_address_key(const struct sockaddr *address, unsigned char key[WEB_ADDRESS_KEY]);

struct web_places;
struct web_place;

struct web_places *web_places_new(const struct web_places_limits *limits);
void web_places_free(struct web_places *places);
/* Connections of this host are a node's. Before the first of them; a name is looked up once. */
void web_places_add_node(struct web_places *places, struct slice host);
/* Most that are open at a time, those included that were just ended. */
unsigned web_places_most(const struct web_places *places);

/* Returns whether a connection from there may be had; it may end another one. One thread admits. */
bool web_places_admit(struct web_places *places, const struct sockaddr *address);
/* The place of a connection that was admitted. NULL: there is none. */
struct web_place *web_places_enter(struct web_places *places, int socket,
                                   const struct sockaddr *address, uint64_t now_ms);
/* Before its socket is closed. */
void web_places_leave(struct web_places *places, struct web_place *place);
void web_places_asked(struct web_places *places, struct web_place *place, uint64_t now_ms);
void web_places_answered(struct web_places *places, struct web_place *place, uint64_t now_ms);
/* Ends what is overdue; to be called some times a second. The number of those ended. */
unsigned web_places_tend(struct web_places *places, uint64_t now_ms);

#endif
