/* Room on the disk: without any the queue takes in nothing new, and goes on with what it has. */
#ifndef QUEUE_BROKER_DISK_ROOM_H
#define QUEUE_BROKER_DISK_ROOM_H

#include "queue/broker/broker.h"

/* disk_room.c changes it. */
struct disk_room {
    uint64_t free;
    uint64_t check_ms;        /* monotonic: the next */
    uint64_t failed_until_ms; /* monotonic: writing failed for lack of room */
    bool stopped;             /* nothing new is taken in */
};

/* Looks whether there is enough; busy: requests wait. */
void broker_check_room(struct broker *broker, uint64_t now_ms, bool busy);
/* A full disk is waited for: what is written until then is refused, and OK is returned. Any other
 * status is returned as it is. */
enum status broker_wait_for_room(struct broker *broker, enum status status, uint64_t now_ms,
                                 struct reason *why);
/* Returns how long after such a failure nothing is written, by the monotonic clock. */
uint64_t broker_failed_until_ms(const struct broker *broker);
/* Returns whether there is room for something new. */
bool broker_takes_in(const struct broker *broker);
uint64_t broker_disk_free(const struct broker *broker);

#endif
