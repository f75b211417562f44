/* A job: one URI waiting for one stage. PROTOCOL.md has its states, FORMAT.md its bytes. */
#ifndef QUEUE_CLIENT_JOB_H
#define QUEUE_CLIENT_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/codec.h"
#include "base/slice.h"

/* The order is the order of the pipeline. */
#define STAGE_MAP(X)  \
    X(FETCH, "fetch") \
    X(DETECT, "detect") X(TRANSFORM, "transform") X(INDEX, "index") X(EXTRACT, "extract")

enum stage {
#define X(name, text) STAGE_##name,
    STAGE_MAP(X)
#undef X
        STAGE_COUNT
};
const char *stage_name(enum stage stage);
bool stage_of_name(struct slice name, enum stage *stage);

/* Tells where a job stands in its queue: unique in a node, and stable while the job exists. */
enum { JOB_KEY_SIZE = 25 };
struct job_key {
    uint8_t stage;
    uint64_t lane; /* fetch: fingerprint64 of the origin; index: its partition; others 0 */
    uint64_t rank; /* order inside the lane: smaller first; of fetch's classes see RANK_SITEMAP */
    uint64_t id;
};

enum job_flags {
    JOB_RECRAWL = 1, /* put although the URI was seen; generation must be set by the queue */
    JOB_REVISIT = 2, /* extract only: links are read again because depth became smaller */
    JOB_SEED = 4,    /* put by a person: depth 0 */
    JOB_RESOURCE =
        8,          /* fetch only: another document needs it; URI with fragment, see PROTOCOL.md */
    JOB_SLICE = 16, /* put to fetch: needs no fetch, its data say where the document's quads are */
    JOB_SITEMAP = 32,  /* fetch only: a sitemap lists it; shares its lane with what links lead to */
    JOB_YIELD = 64,    /* put to fetch: no job, but word of how many new quads its URI brought */
    JOB_REFILTER = 128 /* the scope changed. Extract, with JOB_REVISIT: links are considered again
                          at the same depth; put to fetch: the queue makes it that, at the depth
                          that it knows */
};

/* Ranks of fetch: the priority; behind all of these, beginning at RANK_SITEMAP, those of
 * JOB_SITEMAP. Which of the two classes goes next is the lane's share (ORDER.md, "Lanes"); what is
 * more urgent than RANK_USUAL goes before both, and what is not has the place that
 * queue/frontier/priority.h finds. */
enum { RANK_USUAL = 128, RANK_SITEMAP = 256 };

struct job {
    struct job_key key;
    struct slice uri;
    struct slice lane_name; /* fetch: origin of the URI, derived from it; others empty */
    struct slice via;       /* the document that led here; empty for seeds */
    uint8_t priority;       /* 0 first .. 255 last; 128 usual */
    uint8_t flags;          /* enum job_flags */
    uint8_t hops;           /* redirects followed so far */
    uint16_t depth;         /* links from a seed; the smallest known */
    uint16_t attempt;       /* 1 for the first try */
    uint16_t deaths;        /* workers that died while they held it; set by the queue */
    uint64_t generation;    /* fetch-id: grows with every recrawl of the URI; 1 first */
    uint64_t due_ms;        /* wall time before which it must not run; 0: now */
    uint64_t queued_ms;     /* wall time at which it came into this queue; set by the queue */
    struct slice data; /* what the earlier stage hands on: stages/skeleton/document.h; <= 64 KiB */
    struct slice
        pace; /* fetch, reserved: its host's (queue/politeness/pace.h); not in the record */
};

enum { JOB_DATA_MAXIMUM = 64 << 10 };

/* Begins the URI of the extract job that goes through a node's documents after a change of the
 * scope (docs/SCOPE.md); behind it stands how far it has come. */
#define JOB_SWEEP_URI "scope:"

/* The URI of what is put to fetch and is no job: an update of another node's metadata store, which
 * goes through the outbox like jobs, before those that follow from it. Its data: s key, s fields.
 */
#define JOB_METADATA_URI "metadata:"
enum { JOB_METADATA_MAXIMUM = 2 << 20 };
bool job_is_metadata(const struct job *job);
/* False: its data are malformed. */
bool job_metadata(const struct job *job, struct slice *key, struct slice *fields);

/* Bytes in the order of the queue. */
void job_key_write(const struct job_key *key, uint8_t bytes[JOB_KEY_SIZE]);
void job_key_read(const uint8_t bytes[JOB_KEY_SIZE], struct job_key *key);
void job_key_encode(struct buf *out, const struct job_key *key);
/* A stage that does not exist is bad. */
bool job_key_decode(struct codec_reader *reader, struct job_key *key);

/* Versioned record, without the key; PROTOCOL.md, "Messages", has its bytes. */
void job_encode(struct buf *out, const struct job *job);
/* job->key must be set before (its stage decides lane_name) and stays. Slices of *job point
 * into the reader's bytes. An empty or overlong URI, or overlong data, is bad. */
bool job_decode(struct codec_reader *reader, struct job *job);

#endif
