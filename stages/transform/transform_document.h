/* Documents become canonical N-Quads: the work of quadrille-transform, and of quadrille-detect in
 * passing.
 *
 * The content is handed to a sandboxed worker (stages/sandbox/worker.h), and what comes back is
 * appended to this process's own WARC file as a conversion record or, on a machine that helps
 * another node, handed to that node's metadata daemon, which keeps it in its archive. This process
 * never parses a document.
 *
 * A document that is malformed and yields nothing has the state "broken", and an empty graph
 * goes on to index: what was known of an earlier version is not true any more. A document whose
 * worker dies or passes a limit is buried, with the reason and the command that repeats it.
 *
 * A document that needs others which are not at hand ends like any other, but its outputs are
 * jobs that fetch those and itself, at a later time: so a waiting document is in the queue and
 * nowhere else, and survives what the queue survives.
 *
 * A job of detect is only helped along: where one of transform would be released, put off or
 * buried, it ends with its document handed to transform. One thread per object.
 */
#ifndef STAGES_TRANSFORM_TRANSFORM_DOCUMENT_H
#define STAGES_TRANSFORM_TRANSFORM_DOCUMENT_H

#include "stages/parsing/document_worker.h"
#include "stages/skeleton/content.h"
#include "stages/skeleton/stage.h"

struct document_transforms;
/* work: enum document_work of the workers besides transforming. content and fork_server must
 * outlive *transforms, which is to be closed also after a failure. */
enum status document_transforms_open(struct document_transforms **transforms, struct stage_run *run,
                                     struct content *content, struct fork_server *fork_server,
                                     unsigned work, struct reason *why);
void document_transforms_close(struct document_transforms *transforms); /* NULL is allowed */

/* Ends the job later. job->document.type says what the body is, which lies in *memory. A long one
 * stays where it is: *memory is empty then. What is started in one round of the loop is given to
 * the workers together. */
void document_transforms_start(struct document_transforms *transforms, struct stage_job *job,
                               struct buf *memory, struct slice body);
/* Those that were started and have not ended. */
size_t document_transforms_in_hand(const struct document_transforms *transforms);
/* For other work of the same workers; their answers are taken here. */
struct document_workers *document_transforms_workers(struct document_transforms *transforms);
/* Makes the archived records durable. AGAIN: there is no room now. */
enum status document_transforms_flush(struct document_transforms *transforms, struct reason *why);

#endif
