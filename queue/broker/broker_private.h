/* Inside of the broker. A file calls what stands below it here, and itself:
 *
 *   open.c round.c submit.c  its life; the rounds; reading requests
 *   view.c explain_uri.c     people look; why a URI is where it is
 *   complete.c               jobs end
 *   node_receive.c           jobs come from other nodes
 *   scope_change.c           the scope changes
 *   put.c                    jobs come in
 *   reserve.c trouble.c      jobs go out; hosts that fail
 *   node_forget.c            nodes that are gone for good
 *   node_transfer.c          jobs for other nodes
 *   broker.c                 what all of them need
 *
 * A round: requests are decoded into `incoming` jobs and `endings`; what they need of `seen` is
 * loaded; then they are applied in order, which writes to the batch, to the counters and to the
 * lists of effects, and reads only what was committed before. When the batch has been committed
 * the effects reach leases, lanes and sequences; when it failed they are dropped, and the
 * counters restored. So memory never runs ahead of the disk.
 */
#ifndef QUEUE_BROKER_BROKER_PRIVATE_H
#define QUEUE_BROKER_BROKER_PRIVATE_H

#include "base/map.h"
#include "queue/broker/broker.h"
#include "queue/client/message.h"
#include "queue/frontier/lane_heads.h"
#include "queue/frontier/leases.h"
#include "queue/frontier/priority.h"
#include "queue/frontier/seen.h"
#include "queue/politeness/host_report.h"
#include "queue/politeness/lanes.h"
#include "queue/politeness/paces.h"
#include "queue/storage/store_batch.h"

enum { NODE_NAME_SIZE = 65 };

/* A job that comes in. */
struct incoming {
    struct job job;
    uint8_t fingerprint[FINGERPRINT_SIZE]; /* of the URI; only for fetch, extract */
    uint32_t node;                         /* owner */
};

/* A completion. */
struct ending {
    struct completion completion;
    uint16_t attempt;
    size_t first; /* of its outputs in incoming */
    /* of the job, from the lease or the record */
    bool known;
    uint8_t fingerprint[FINGERPRINT_SIZE];
    uint64_t generation;
    uint16_t depth;
};

struct transfer {
    uint64_t origin, epoch, first;
};

/* A request of this round. */
struct pending {
    struct broker_request request;
    uint32_t worker;
    size_t first_incoming, incoming_count;
    size_t first_ending, ending_count;
    struct transfer transfer;
    struct slice kick_uri;
    uint8_t kick_stage;
    enum status status;
    struct reason why;
    uint64_t number; /* answer of KICK, RETRY, TRANSFER, FORGET */
    uint64_t jobs;   /* and of RETRY; of FORGET: dropped */
    uint64_t left;   /* of FORGET */
};

/* A reserve that waits. */
struct parked {
    struct broker_request request;
    uint32_t worker;
    uint8_t stage;
    uint64_t lane;
    uint32_t most;
    uint64_t deadline_ms; /* monotonic */
};

enum effect_kind { EFFECT_APPEARED, EFFECT_GONE, EFFECT_BACK };
struct effect {
    struct job_key key;
    enum effect_kind kind;
    bool moved; /* BACK: the record is not in `jobs` any more */
    uint64_t lane_due_ms, group;
    uint8_t share; /* of the lane; 0: as before */
    uint8_t speed; /* of the lane and 1; 0: as before */
    bool answered; /* the lane's host; so it is stored now */
};

/* The row of a lane as it is stored. */
struct lane_row {
    uint64_t due_ms;
    uint8_t share;
    bool answered; /* for a document */
    struct pace pace;
};

/* The change of a host's row of trouble, which may end it. */
struct trouble_change {
    struct trouble trouble; /* as this round leaves it */
    bool tried;             /* a person asked for it */
};
struct round_troubles {
    struct trouble_change *changes;
    size_t count, capacity;
    struct map by_lane;
};

/* Jobs of a lane that is handed out in order, many at a time. */
struct sequence {
    struct job_key cursor; /* the last one handed out */
    uint64_t *returned;    /* a heap of ids before the cursor that are ready again */
    size_t returned_count, returned_capacity;
};

struct peer {
    uint64_t fingerprint;  /* of the node's name */
    uint64_t next;         /* sequence of the next job for it */
    uint64_t first;        /* sequence of the first that it has not yet committed */
    uint64_t flight_last;  /* last one under way; 0: nothing is */
    uint64_t delivered;    /* last one committed there and not yet deleted here; 0: none */
    uint64_t delivered_ms; /* monotonic; since when */
    uint64_t retry_ms;     /* monotonic */
    uint32_t flight_stages[STAGE_COUNT];
    uint64_t waiting[STAGE_COUNT]; /* in the outbox; fetch: metadata, too */
    uint64_t down_since_ms;        /* wall; 0: it answers */
    bool changed;                  /* the row has to be stored */
};

/* A node that the outbox has something for and that cluster.conf does not name, or that is this one
 * now. */
struct stranger {
    uint64_t fingerprint;
    uint64_t waiting[STAGE_COUNT];
    uint64_t leaving[STAGE_COUNT]; /* in this round */
    bool forgetting;               /* in this round */
    char name[NODE_NAME_SIZE];
};

struct origin {
    uint64_t origin, last, epoch;
    uint64_t gap;    /* jobs that it had sent and are not here; 0: none, or never heard of */
    bool accept_gap; /* a person has said so */
    char name[NODE_NAME_SIZE]; /* of the node, while there is a gap */
};

enum {
    IDENTITY_VERSION = 3,
    IDENTITY_SIZE = 9,
    ROUND_REQUESTS = 4096,
    ROUND_BYTES = 16 << 20,
    ROUND_JOBS = 50000,
    ROUND_MOVES = 5000, /* jobs that become due, or lose their worker */
    ROOM_CHECK_MS = 1000,
    FAILURE_PAUSE_MS = 1000,
    STALL_CHECK_MS = 500,
    OUTBOX_KEY_SIZE = 16,
    LANE_FLAG_ANSWERED = 1
};

struct broker {
    struct broker_options options;
    broker_answer *answer;
    void *context;
    struct frontier *frontier;
    uint64_t epoch, origin, incarnation;
    bool identity_stored;
    uint64_t scope, scope_committed, scope_told; /* versions: of this round; as stored; to be */
    struct buf scope_change;                     /* what other nodes will be told of scope_told */
    bool sweep_begun;                            /* in this round */

    struct counters counters, committed; /* of this round; of the last commit */
    struct store_batch batch;
    struct seen *seen, *revisits, *sent;
    struct lanes *lanes;
    struct lane_heads *lane_heads;
    struct priorities *priorities;
    struct leases *leases;
    struct troubles *troubles;
    struct paces *paces;
    struct sequence *sequences[STAGE_COUNT]; /* by lane */
    uint32_t sequence_counts[STAGE_COUNT];
    struct peer *peers; /* by node */
    struct peer *peers_committed;
    struct reason *peer_troubles; /* by node; empty: none */
    struct origin *origins;       /* those heard of, as stored */
    size_t origin_count;
    struct stranger *strangers;
    size_t stranger_count;

    /* this round */
    struct pending *pending;
    size_t pending_count, pending_capacity, pending_bytes;
    struct incoming *incoming;
    size_t incoming_count, incoming_capacity;
    struct ending *endings;
    size_t ending_count, ending_capacity;
    struct effect *effects;
    size_t effect_count, effect_capacity;
    struct round_troubles round_troubles;
    struct map touched; /* ids whose record was changed in this round */
    uint64_t now_ms;    /* wall */

    uint32_t *dying; /* workers whose older incarnation is dead */
    size_t dying_count, dying_capacity;
    struct parked *parked;
    size_t parked_count, parked_capacity;

    uint64_t later_due_ms;                  /* wall: of the first row of `later`; UINT64_MAX none */
    uint64_t grace_until_ms;                /* monotonic; 0: over */
    uint64_t stall_check_ms, room_check_ms; /* monotonic: the next */
    uint64_t disk_free;
    uint64_t failed_until_ms; /* monotonic: writing failed for lack of room */
    uint64_t tick_ms;         /* monotonic: housekeeping of the store */
    uint64_t malformed;       /* requests refused */
    bool intake_stopped;
    bool throttled[STAGE_COUNT];
    struct buf scratch, reply;
};

/* ---- broker.c ---- */

void broker_effect(struct broker *broker, const struct effect *effect);
/* Finds where records of jobs of the stage are: fetch has a tree of its own. */
enum store_tree broker_tree(uint8_t stage);
struct slice broker_key(uint8_t bytes[JOB_KEY_SIZE], const struct job_key *key);
/* The record in `jobs`; slices of *job live until the next call of the store. */
enum status broker_record(struct broker *broker, const struct job_key *key, struct job *job,
                          struct reason *why);
bool broker_touched(const struct broker *broker, uint64_t id);
void broker_touch(struct broker *broker, uint64_t id);
/* NULL: the stage has no such lane (fetch has none at all). */
struct sequence *broker_sequence(struct broker *broker, uint8_t stage, uint64_t lane);
/* A request that waited for jobs waits no more. */
void broker_unpark(struct broker *broker, size_t at);

/* ---- put.c ---- */

/* At decoding: finds the owner (ours: it is this node, whatever cluster.conf says), and wants
 * what applying will need of `seen`. */
void broker_prepare(struct broker *broker, struct incoming *incoming, bool ours);
void broker_enqueue(struct broker *broker, const struct incoming *incoming);
/* Puts the job that a fetch job becomes without being fetched, to this node's queue or to
 * another's. */
void broker_pass_on(struct broker *broker, const struct incoming *fetch, const struct job *job);
/* Moves jobs whose time has come from `later` to `jobs`. */
enum status broker_move_due(struct broker *broker, struct reason *why);
/* Writes a record where it belongs by its due time, and counts it. */
void broker_store_job(struct broker *broker, const struct job *job, bool scheduled);

/* ---- complete.c ---- */

enum status broker_prepare_ending(struct broker *broker, struct ending *ending, struct reason *why);
enum status broker_complete(struct broker *broker, uint32_t worker, const struct ending *ending,
                            struct reason *why);
/* Jobs of dead and stalled workers go back. */
enum status broker_bury_the_dead(struct broker *broker, struct reason *why);

/* ---- scope_change.c ---- */

enum status broker_scope_open(struct broker *broker, struct reason *why);
/* Puts the version that was told in force and has all documents considered again. */
void broker_adopt_scope(struct broker *broker);
void broker_scope_settle(struct broker *broker, bool committed);
/* Returns whether the job is a node's word that a version is in force there, as it comes from its
 * outbox.
 */
bool broker_is_scope_word(const struct job *job);
/* When a TRANSFER is read, puts what is new of the scope into this node's files. */
enum status broker_take_scope(struct broker *broker, const struct pending *pending,
                              struct reason *why);
/* Another node has a newer version in force: what it filtered before is considered again here. */
void broker_sweep(struct broker *broker);
/* Returns whether a job that has ended must be considered again: by rules that are not in force. */
bool broker_is_outdated(const struct broker *broker, const struct completion *completion);
/* Queues that, after such a job. lift: its document is by so much less deep than the job says. */
enum status broker_refilter(struct broker *broker, const struct ending *ending, uint16_t lift,
                            struct reason *why);

/* ---- reserve.c ---- */

void broker_apply_effects(struct broker *broker);
enum status broker_renew(struct broker *broker, const struct pending *pending, uint64_t *lost,
                         struct reason *why);
bool broker_is_throttled(struct broker *broker, uint8_t stage);
enum status broker_serve(struct broker *broker, struct reason *why);

/* ---- lane_rows.c ---- */

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

/* ---- view.c ---- */

void broker_view(struct broker *broker, const struct broker_request *request);
/* explain_uri.c: the answer, in broker->reply */
enum status broker_explain(struct broker *broker, struct slice payload, struct reason *why);
enum status broker_kick(struct broker *broker, struct pending *pending, struct reason *why);

/* ---- trouble.c ---- */

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
/* Some of the jobs of hosts that are set aside. */
enum status broker_count_aside(struct broker *broker, struct reason *why);
/* The answer, in broker->reply. */
enum status broker_view_hosts(struct broker *broker, struct slice payload, struct reason *why);

/* ---- node_transfer.c ---- */

enum status broker_nodes_open(struct broker *broker, struct reason *why);
void broker_to_node(struct broker *broker, const struct incoming *incoming);
/* Jobs of the stage that wait for nodes that answer. */
uint64_t broker_outbox_moving(const struct broker *broker, uint8_t stage);
/* Returns what is known of the outbox of a node; nothing of it is stored when it is new. */
struct origin *broker_origin(struct broker *broker, uint64_t origin);
/* Deletes what other nodes have committed, if there is a commit anyway or it has waited for one for
 * long enough; writes the sequences that changed. The last of a round. */
void broker_nodes_write(struct broker *broker);
/* When that has waited for long enough (monotonic; UINT64_MAX: nothing waits). */
uint64_t broker_outbox_due_ms(const struct broker *broker);
void broker_nodes_settle(struct broker *broker, bool committed);
/* Reads what is stored of another node: name may be NULL, else it gets NODE_NAME_SIZE bytes at
 * most. */
enum status broker_peer_row(struct broker *broker, uint64_t fingerprint, uint64_t *next, char *name,
                            uint64_t *waiting, struct reason *why);
struct slice broker_outbox_key(uint8_t bytes[OUTBOX_KEY_SIZE], uint64_t node, uint64_t sequence);

/* ---- node_set.c ---- */

/* A queue that was restored by itself gets a new origin: others know sequences of the old one that
 * it gives anew to other jobs, and would pass over these. */
enum status broker_origin_renew(struct broker *broker, struct reason *why);
/* MISUSE when cluster.conf names a node that was not there when the first job came. */
enum status broker_node_set_open(struct broker *broker, struct reason *why);
void broker_node_set_write(struct broker *broker);

/* ---- node_receive.c ---- */

enum status broker_receive(struct broker *broker, struct pending *pending, struct reason *why);

/* ---- node_forget.c ---- */

enum status broker_strangers_open(struct broker *broker, struct reason *why);
void broker_strangers_settle(struct broker *broker, bool committed);
enum status broker_read_forget(struct broker *broker, struct pending *pending,
                               struct codec_reader *reader, struct reason *why);
enum status broker_forget(struct broker *broker, struct pending *pending, struct reason *why);
/* The answer to NODES, in broker->reply. */
enum status broker_view_nodes(struct broker *broker, struct slice payload, struct reason *why);

#endif
