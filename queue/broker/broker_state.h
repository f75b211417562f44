/* The broker while it runs, for the files that make it up: its parts, each with the file that
 * changes it in the header that describes it.
 *
 * A file calls those of its line and what stands below it here:
 *
 *   open.c round.c              its life; the rounds
 *   submit.c                    requests are read
 *   view.c explain_uri.c        people look; why a URI is where it is
 *   complete.c                  jobs end
 *   reserve.c                   jobs go out
 *   node_forget.c               nodes that are gone for good
 *   node_receive.c              jobs come from other nodes
 *   scope_change.c              the scope changes
 *   put.c later.c               jobs come in
 *   trouble.c lane_rows.c       hosts
 *   workers.c parked.c          workers; their requests that wait for jobs
 *   node_transfer.c node_set.c  jobs for other nodes; which nodes there are
 *   disk_room.c                 room on the disk
 *   round_changes.c             what a round changes
 *
 * A round: requests are decoded into `incoming` jobs and `endings`; what they need of `seen` is
 * loaded; then they are applied in order, which writes to the batch, to the counters and to the
 * lists of effects, and reads only what was committed before. When the batch has been committed
 * the effects reach leases, lanes and sequences; when it failed they are dropped, and the
 * counters restored. So memory never runs ahead of the disk.
 */
#ifndef QUEUE_BROKER_BROKER_STATE_H
#define QUEUE_BROKER_BROKER_STATE_H

#include "queue/broker/disk_room.h"
#include "queue/broker/hosts.h"
#include "queue/broker/jobs.h"
#include "queue/broker/nodes.h"
#include "queue/broker/requests.h"
#include "queue/broker/round_changes.h"
#include "queue/broker/scope_change.h"
#include "queue/broker/workers.h"
#include "queue/frontier/leases.h"
#include "queue/frontier/priority.h"
#include "queue/frontier/seen.h"
#include "queue/frontier/sequences.h"
#include "queue/frontier/upcoming_jobs.h"
#include "queue/politeness/lanes.h"
#include "queue/politeness/paces.h"

struct broker {
    /* Constant once requests come. */
    struct broker_options options;
    broker_answer *answer;
    void *context;
    struct frontier *frontier;
    uint64_t epoch, incarnation;

    /* Tables of queue/frontier/ and queue/politeness/. */
    struct seen *seen, *revisits, *sent;
    struct lanes *lanes;
    struct upcoming_jobs *upcoming;
    struct priorities *priorities;
    struct leases *leases;
    struct sequences *sequences;
    struct troubles *troubles;
    struct paces *paces;

    struct round_changes round;
    struct requests requests;
    struct parked_list parked;
    struct worker_watch workers;
    struct later later;
    struct throttle throttle;
    struct round_troubles round_troubles;
    struct scope_versions scope;
    struct queue_identity identity;
    struct outbox outbox;
    struct origins origins;
    struct strangers strangers;
    struct disk_room room;

    uint64_t tick_ms;          /* round.c, monotonic: housekeeping of the store */
    struct buf scratch, reply; /* of whoever makes a row, or an answer */
};

#endif
