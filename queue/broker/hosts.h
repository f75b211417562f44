/* What the queue knows of hosts:
 *
 *   lane_rows.c   the rows of their lanes, and the paces that the reports of jobs make
 *   trouble.c     those in trouble */
#ifndef QUEUE_BROKER_HOSTS_H
#define QUEUE_BROKER_HOSTS_H

#include "base/map.h"
#include "queue/broker/requests.h"
#include "queue/broker/round_changes.h"
#include "queue/politeness/host_report.h"
#include "queue/politeness/host_troubles.h"
#include "queue/politeness/pace.h"

/* ---- lane_rows.c ---- */

/* The row of a lane as it is stored. */
struct lane_row {
    uint64_t due_ms;
    uint8_t share;
    bool answered; /* for a document */
    struct pace pace;
};

/* Reads the row of a lane; all is zero when nothing is stored. */
enum status broker_stored_lane(struct broker *broker, uint64_t lane, struct lane_row *row,
                               struct reason *why);
void broker_store_lane(struct broker *broker, uint64_t lane, const struct lane_row *row);
/* Tells the lane what its row has. */
enum status broker_restore_lane(struct broker *broker, uint64_t lane, struct reason *why);
/* The pace of a lane's host as far as this round has come. */
enum status broker_pace(struct broker *broker, uint64_t lane, struct pace *pace,
                        struct reason *why);
/* Applies what a job that ends reports of its host. *rest_ms: how long that rests now. */
enum status broker_hear_of_host(struct broker *broker, uint64_t lane,
                                const struct host_report *report, uint64_t *rest_ms,
                                struct reason *why);
/* Writes the row, if it has changed, and sets what the effect does to the lane. */
enum status broker_keep_lane(struct broker *broker, const struct completion *completion,
                             const struct host_report *report, uint64_t rest_ms,
                             struct effect *effect, struct reason *why);

/* ---- trouble.c ---- */

/* The change of a host's row of trouble, which may end it. */
struct trouble_change {
    struct trouble trouble; /* as this round leaves it */
    bool tried;             /* a person asked for it */
};
/* trouble.c changes it. */
struct round_troubles {
    struct trouble_change *changes;
    size_t count, capacity;
    struct map by_lane;
};
void round_troubles_init(struct round_troubles *round);
void round_troubles_release(struct round_troubles *round);

enum status broker_troubles_load(struct broker *broker, struct reason *why);
/* Returns the trouble of the lane's host as far as this round has come. One without failures means
 * that the host is in no trouble. */
struct trouble broker_trouble(const struct broker *broker, uint64_t lane);
/* Notes what a job that ends says of its host, which rests for so long by itself. */
enum status broker_note_host(struct broker *broker, const struct job_key *key,
                             const struct host_report *report, uint64_t rest_ms,
                             struct reason *why);
/* A person asks for the host: if it is set aside, it is tried at once. */
void broker_try_host(struct broker *broker, uint64_t lane);
void broker_retry(struct broker *broker, struct pending *pending);
enum status broker_troubles_write(struct broker *broker, struct reason *why);
void broker_troubles_settle(struct broker *broker, bool committed);
/* Counts some of the jobs of hosts that are set aside. */
enum status broker_count_aside(struct broker *broker, struct reason *why);
/* Puts the answer into broker->reply. */
enum status broker_view_hosts(struct broker *broker, struct slice payload, struct reason *why);

#endif
