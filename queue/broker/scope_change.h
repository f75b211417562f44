/* The scope changes: what was filtered by older rules is considered again. docs/SCOPE.md. */
#ifndef QUEUE_BROKER_SCOPE_CHANGE_H
#define QUEUE_BROKER_SCOPE_CHANGE_H

#include "base/buf.h"
#include "queue/broker/requests.h"

/* scope_change.c changes it. */
struct scope_versions {
    uint64_t current, committed, told; /* of this round; as stored; to be */
    struct buf change;                 /* what other nodes will be told of it */
    bool sweep_begun;                  /* in this round */
};

void scope_versions_init(struct scope_versions *scope);
void scope_versions_release(struct scope_versions *scope);
enum status broker_scope_open(struct broker *broker, struct reason *why);
/* Puts the version that was told in force and has all documents considered again. */
void broker_adopt_scope(struct broker *broker);
void broker_scope_settle(struct broker *broker, bool committed);
/* Returns whether the job is a node's word that a version is in force there, as it comes from its
 * outbox.
 */
bool broker_is_scope_word(const struct job *job);
/* When a TRANSFER is read, puts what is new of the scope into this node's files; known: the last
 * sequence that came from there. */
enum status broker_take_scope(struct broker *broker, const struct pending *pending, uint64_t known,
                              struct reason *why);
/* Another node has a newer version in force: what it filtered before is considered again here. */
void broker_sweep(struct broker *broker);
/* Returns whether a job that has ended must be considered again: by rules that are not in force. */
bool broker_is_outdated(const struct broker *broker, const struct completion *completion);
/* Queues that, after such a job. lift: its document is by so much less deep than the job says. */
enum status broker_refilter(struct broker *broker, const struct ending *ending, uint16_t lift,
                            struct reason *why);

#endif
