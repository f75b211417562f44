/* The sandboxed side of detect and transform: libmagic and all transforms, behind
 * stages/sandbox/worker.h. Stages and the command line submit documents here and never parse.
 */
#ifndef STAGES_PARSING_DOCUMENT_WORKER_H
#define STAGES_PARSING_DOCUMENT_WORKER_H

#include "base/options/opt.h"
#include "detection/detect.h"
#include "stages/sandbox/worker.h"
#include "transforms/transform.h"

extern const struct worker_program document_worker_program;

enum document_work { DOCUMENT_DETECTION = 1, DOCUMENT_TRANSFORM = 2 };

struct document_workers;
/* Opens a pool in the fork server. work is a set of enum document_work; directory may be NULL (no
 * DIR/transforms/registry). */
enum status document_workers_open(struct document_workers **workers,
                                  struct fork_server *fork_server, const struct opt_set *options,
                                  const char *directory, unsigned work, struct reason *why);
void document_workers_close(struct document_workers *workers); /* NULL is allowed */
/* Returns the pool, for its descriptor, processing and waiting. */
struct worker_pool *document_workers_pool(const struct document_workers *workers);

/* The registry as workers have it: transforms, matches; for stages that only ask what would
 * be done. */
enum status document_registry_open(struct registry **registry, const struct opt_set *options,
                                   const char *directory, struct reason *why);

/* libmagic's media type of the first bytes: the answer's reply; "" when it has none. */
void document_submit_magic(struct document_workers *workers, struct slice head, worker_done *done,
                           void *context);

struct document_outcome {
    enum transform_state state;
    bool canonical;
    uint64_t quads, problem_count;
    uint64_t memory; /* bytes that the worker had taken at the end */
    /* These are as in struct transform_result and point into the reply. */
    struct slice names, problems, counts, repairs, advice, needs, explanation, graph;
};
/* header (buf_init'ed) is filled here and must live, as the request's bytes must, until done. */
void document_submit_transform(struct document_workers *workers,
                               const struct transform_request *request, struct buf *header,
                               worker_done *done, void *context);
/* Submits and waits. *outcome points into reply (buf_init'ed, large; reset here). A worker that
 * died is reported by a status other than OK and *died. */
enum status document_transform(struct document_workers *workers,
                               const struct transform_request *request, struct buf *reply,
                               struct document_outcome *outcome, bool *died, struct reason *why);
/* False: the reply is malformed. */
bool document_outcome_decode(struct slice reply, struct document_outcome *outcome);

/* ---- one document by hand: the command line ---- */

/* Detects with all evidence, in a sandbox of its own. content_type may be empty; uri: URI or file
 * name. options: transforms_options among them. */
enum status detect_bytes(const struct opt_set *options, const struct detect_input *input,
                         struct detection *detection, struct reason *why);

#endif
