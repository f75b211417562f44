/* The links to other nodes' queues: what waits for them is sent, and who does not answer is known.
 * A node that has said nothing for a second is asked for a sign of life; for five, and it is down.
 */
#ifndef QUEUE_DAEMON_NODE_LINKS_H
#define QUEUE_DAEMON_NODE_LINKS_H

#include <poll.h>

#include "queue/broker/broker.h"

struct node_links;

enum status node_links_open(struct node_links **links, const struct cluster *cluster,
                            struct broker *broker, struct reason *why);
void node_links_close(struct node_links *links);
/* Takes answers, asks for signs of life. polls: of node_links_polls, after poll; those of a link at
 * which nobody has looked yet need not be set. */
void node_links_process(struct node_links *links, const struct pollfd *polls);
/* Sends the first jobs that wait for each node, unless some are under way. */
void node_links_send(struct node_links *links);
/* At most as many as cluster.conf has nodes; returns how many. */
size_t node_links_polls(const struct node_links *links, struct pollfd *polls);
uint64_t node_links_wait_ms(const struct node_links *links);

#endif
